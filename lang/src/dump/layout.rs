//! S-expressions and how they are broken into lines: a list stands on one line if it fits, else its head and
//! the words directly behind it stay on the first line and every other element begins a line of its own. In
//! a block that does not fit every statement begins a line.

/// Lists longer than this are broken.
const WIDTH: usize = 100;

/// A word or a list.
pub(super) struct Tree {
    content: Content,
    /// How long it is on one line, in bytes.
    width: usize,
}

enum Content {
    Word(String),
    List(Vec<Tree>),
}

impl Tree {
    /// A word, which may contain blanks.
    pub(super) fn word(text: impl Into<String>) -> Tree {
        let text = text.into();
        Tree { width: text.len(), content: Content::Word(text) }
    }

    /// `(head elements…)`.
    pub(super) fn list(head: impl Into<String>, elements: impl IntoIterator<Item = Tree>) -> Tree {
        let elements: Vec<Tree> = std::iter::once(Tree::word(head)).chain(elements).collect();
        let width = 1 + elements.iter().map(|element| element.width + 1).sum::<usize>();
        Tree { width, content: Content::List(elements) }
    }

    /// Appends the tree to `output`; its lines after the first are indented by more than `indent`.
    pub(super) fn write(&self, indent: usize, output: &mut String) {
        match &self.content {
            Content::Word(text) => output.push_str(text),
            Content::List(elements) => {
                let broken = indent + self.width > WIDTH;
                let is_block = matches!(&elements[..], [Tree { content: Content::Word(head), .. }, ..] if head == "block");
                let mut leading = true;
                output.push('(');
                for (index, element) in elements.iter().enumerate() {
                    leading &= matches!(element.content, Content::Word(_));
                    if index > 0 && broken && (is_block || !leading) {
                        output.push('\n');
                        output.extend(std::iter::repeat_n(' ', indent + 2));
                    } else if index > 0 {
                        output.push(' ');
                    }
                    element.write(indent + 2, output);
                }
                output.push(')');
            }
        }
    }
}
