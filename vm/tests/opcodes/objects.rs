//! Fields, globals, boxes, and what classes decide: random class trees with interfaces, in which the ranges of subtrees
//! and the places of interface methods collide if the loader makes a mistake.

use super::Case;
use crate::common::{Random, lines};
use std::collections::BTreeSet;
use std::fmt::Write;

pub(crate) fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = (0..4).map(|seed| Tree::random(seed).case()).collect();
    cases.extend([fields(), large(), globals(), boxes()]);
    cases
}

/// A random program of classes and interfaces.
struct Tree {
    parents: Vec<Option<usize>>,
    abstracts: Vec<bool>,
    /// All interfaces of each class, inherited ones included.
    implemented: Vec<BTreeSet<usize>>,
    /// All that each interface extends.
    extends: Vec<BTreeSet<usize>>,
    /// How many methods each interface has.
    methods: Vec<usize>,
    /// For each class the slots: (interface, method).
    slots: Vec<Vec<(usize, usize)>>,
}

impl Tree {
    fn random(seed: u64) -> Tree {
        let mut random = Random(seed);
        let mut extends: Vec<BTreeSet<usize>> = Vec::new();
        for i in 0..9 {
            let mut all = BTreeSet::new();
            for _ in 0..random.below(3) {
                if i > 0 {
                    let base = random.below(i);
                    all.extend(extends[base].iter().copied().chain([base]));
                }
            }
            extends.push(all);
        }
        let methods = (0..9).map(|_| random.below(4)).collect();
        let mut tree =
            Tree { parents: vec![], abstracts: vec![], implemented: vec![], extends, methods, slots: vec![] };
        for c in 0..14 {
            let parent = (c > 0 && random.below(4) > 0).then(|| random.below(c));
            let mut implemented = parent.map_or_else(BTreeSet::new, |p| tree.implemented[p].clone());
            for _ in 0..random.below(3) {
                let i = random.below(9);
                implemented.extend(tree.extends[i].iter().copied().chain([i]));
            }
            let mut slots = parent.map_or_else(Vec::new, |p| tree.slots[p].clone());
            for &i in &implemented {
                slots.extend(
                    (0..tree.methods[i]).map(|m| (i, m)).filter(|s| !slots.contains(s)).collect::<Vec<_>>(),
                );
            }
            tree.parents.push(parent);
            tree.abstracts.push(random.below(6) == 0);
            tree.implemented.push(implemented);
            tree.slots.push(slots);
        }
        tree
    }

    fn is_subclass(&self, class: usize, of: usize) -> bool {
        class == of || self.parents[class].is_some_and(|p| self.is_subclass(p, of))
    }

    /// What the method in `slot` of `class` gives: every third inherits its superclass's function.
    fn owner(&self, class: usize, slot: usize) -> usize {
        match self.parents[class] {
            Some(parent) if slot < self.slots[parent].len() && (class + slot).is_multiple_of(3) => {
                self.owner(parent, slot)
            }
            _ => class,
        }
    }

    fn declarations(&self) -> String {
        let mut text = String::new();
        for (i, extends) in self.extends.iter().enumerate() {
            let list: Vec<String> = extends.iter().map(|e| format!("I{e}")).collect();
            let colon = if list.is_empty() { "" } else { ": " };
            writeln!(text, "interface I{i} {colon}{} {{", list.join(", ")).unwrap();
            (0..self.methods[i]).for_each(|m| writeln!(text, "method i{i}m{m}(int) -> int").unwrap());
            text += "}\n";
        }
        for c in 0..self.parents.len() {
            let colon = self.parents[c].map_or(String::new(), |p| format!(": C{p}"));
            let word = if self.abstracts[c] { "abstract " } else { "" };
            writeln!(text, "{word}class C{c} {colon} {{").unwrap();
            for (slot, (i, m)) in self.slots[c].iter().enumerate() {
                let owner = self.owner(c, slot);
                writeln!(text, "method i{i}m{m}(int) -> int = C{owner}.i{i}m{m}").unwrap();
            }
            for &i in &self.implemented[c] {
                let list: Vec<String> = (0..self.methods[i]).map(|m| format!("i{i}m{m}")).collect();
                writeln!(text, "implements I{i} [{}]", list.join(", ")).unwrap();
            }
            text += "}\n";
            for (slot, (i, m)) in self.slots[c].iter().enumerate().filter(|(s, _)| self.owner(c, *s) == c) {
                writeln!(text, "function C{c}.i{i}m{m}(r0: C{c}, r1: int) -> int {{\nregisters r2: int")
                    .unwrap();
                writeln!(text, "ldi r2, {}\nadd r2, r2, r1\nret r2\n}}", (c * 100 + slot) * 10).unwrap();
            }
        }
        text
    }

    fn case(&self) -> Case {
        let (classes, interfaces) = (self.parents.len(), self.extends.len());
        // r0: the object; r1: true or false; r2: a result; r3: an argument; then one register for each type.
        let class_register = |c: usize| 4 + c;
        let interface_register = |i: usize| 4 + classes + i;
        let mut registers = String::from("r0: any?, r1: bool, r2..r3: int");
        (0..classes).for_each(|c| write!(registers, ", r{}: C{c}", class_register(c)).unwrap());
        (0..interfaces).for_each(|i| write!(registers, ", r{}: I{i}", interface_register(i)).unwrap());
        let mut body = String::from(
            "ldi r3, 7\nldnull r0\nis r1, r0, C0\ncall -, showBool(r1)\nisi r1, r0, I0\ncall -, showBool(r1)\n",
        );
        let mut expected = vec![0, 0];
        for c in (0..classes).filter(|&c| !self.abstracts[c]) {
            writeln!(body, "new r{0}, C{c}\nmov r0, r{0}", class_register(c)).unwrap();
            for target in 0..classes {
                writeln!(body, "is r1, r0, C{target}\ncall -, showBool(r1)").unwrap();
                expected.push(self.is_subclass(c, target) as usize);
                if !self.is_subclass(c, target) {
                    continue;
                }
                writeln!(body, "cast r{}, r0, C{target}", class_register(target)).unwrap();
                for (slot, (i, m)) in self.slots[target].iter().enumerate() {
                    let receiver = class_register(target);
                    writeln!(body, "callv r2, i{i}m{m}(r{receiver}, r3)\ncall -, show(r2)").unwrap();
                    expected.push((self.owner(c, slot) * 100 + slot) * 10 + 7);
                }
            }
            for target in 0..interfaces {
                writeln!(body, "isi r1, r0, I{target}\ncall -, showBool(r1)").unwrap();
                expected.push(self.implemented[c].contains(&target) as usize);
                if !self.implemented[c].contains(&target) {
                    continue;
                }
                let receiver = interface_register(target);
                writeln!(body, "casti r{receiver}, r0, I{target}").unwrap();
                for i in self.extends[target].iter().copied().chain([target]) {
                    for m in 0..self.methods[i] {
                        writeln!(body, "calli r2, I{i}::i{i}m{m}(r{receiver}, r3)\ncall -, show(r2)")
                            .unwrap();
                        let slot = self.slots[c].iter().position(|&s| s == (i, m)).expect("it implements it");
                        expected.push((self.owner(c, slot) * 100 + slot) * 10 + 7);
                    }
                }
            }
        }
        let text =
            format!("{}\nfunction main() {{\nregisters {registers}\n{body}\nretu\n}}", self.declarations());
        Case::new("class tree", &text, lines(expected))
    }
}

fn fields() -> Case {
    let text = r#"
class Base {
    field number: int
    field next: Base?
}
class Derived : Base {
    field number: int
    field next: Base?
    field float: float
    field flag: bool
    field text: String
}
function main() {
    registers r0: Derived, r1: Base, r2: Base?, r3: int, r4: float, r5: bool, r6: String, r7: Base
    new r0, Derived
    getf r3, r0.number
    call -, show(r3)
    getf r2, r0.next
    setnull r5, r2
    call -, showBool(r5)
    getf r4, r0.float
    call -, showFloat(r4)
    getf r5, r0.flag
    call -, showBool(r5)
    ldi64 r3, -9223372036854775808
    putf r3, r0.number
    putr r0, r0.next
    ldf r4, -0.0
    putf r4, r0.float
    ldb r5, true
    putf r5, r0.flag
    ldstr r6, "text"
    putr r6, r0.text
    mov r1, r0
    ; The object is old now: the stores below are recorded.
    calln -, collectGarbage()
    new r7, Base
    ldi r3, 5
    putf r3, r7.number
    putr r7, r1.next
    calln -, collectGarbage()
    getf r3, r1.number
    call -, show(r3)
    getf r2, r0.next
    nonnull r7, r2
    getf r3, r7.number
    call -, show(r3)
    getf r4, r0.float
    call -, showFloat(r4)
    getf r5, r0.flag
    call -, showBool(r5)
    getf r6, r0.text
    call -, showText(r6)
    ldnull r2
    putr r2, r0.next
    getf r2, r1.next
    setnull r5, r2
    call -, showBool(r5)
    retu
}
"#;
    let expected = format!("0\n1\n0\n0\n{}\n5\n{}\n1\ntext\n1\n", i64::MIN, (-0.0f64).to_bits() as i64);
    Case::new("fields", text, expected)
}

/// A class too large for any cell.
fn large() -> Case {
    let fields: String =
        (0..3000).map(|i| format!("field f{i}: {}\n", if i % 2 == 0 { "int" } else { "Large?" })).collect();
    let text = format!(
        "class Large {{\n{fields}}}\nfunction main() {{\nregisters r0..r1: Large, r2: int, r3: Large?\n\
         new r0, Large\nldi r2, 9\nputf r2, r0.f2998\ncalln -, collectGarbage()\nnew r1, Large\nputr r1, r0.f2999\n\
         putf r2, r1.f0\nnew r1, Large\ncalln -, collectGarbage()\ngetf r2, r0.f2998\ncall -, show(r2)\ngetf r2, r0.f0\n\
         call -, show(r2)\ngetf r3, r0.f2999\nnonnull r1, r3\ngetf r2, r1.f0\ncall -, show(r2)\nretu\n}}"
    );
    Case::new("large objects", &text, lines([9, 0, 9]))
}

fn globals() -> Case {
    let text = r#"
global integer: int
global float: float
global flag: bool
global text: String
global other: String?
function main() {
    registers r0: int, r1: float, r2: bool, r3: String, r4: String?
    ldg r0, integer
    call -, show(r0)
    ldg r1, float
    call -, showFloat(r1)
    ldg r2, flag
    call -, showBool(r2)
    ldg r4, other
    setnull r2, r4
    call -, showBool(r2)
    ldi r0, -1
    stg r0, integer
    ldf r1, 1.5
    stg r1, float
    stg r2, flag
    calln r3, intToString(r0)
    stg r3, text
    stg r3, other
    ldstr r3, ""
    calln -, collectGarbage()
    ldg r0, integer
    call -, show(r0)
    ldg r1, float
    call -, showFloat(r1)
    ldg r2, flag
    call -, showBool(r2)
    ldg r3, text
    call -, showText(r3)
    ldg r4, other
    rseteq r2, r3, r4
    call -, showBool(r2)
    retu
}
"#;
    Case::new("globals", text, format!("0\n0\n0\n1\n-1\n{}\n1\n-1\n1\n", 1.5f64.to_bits()))
}

fn boxes() -> Case {
    let body = r#"
    ldi64 r0, -9223372036854775808
    boxint r3, r0
    ldf r1, nan
    boxfloat r4, r1
    ldb r2, true
    boxbool r5, r2
    ldb r2, false
    boxbool r6, r2
    getf r0, r3.value
    call -, show(r0)
    getf r1, r4.value
    call -, showFloat(r1)
    getf r2, r5.value
    call -, showBool(r2)
    getf r2, r6.value
    call -, showBool(r2)
    is r2, r3, Int
    call -, showBool(r2)
    is r2, r3, Float
    call -, showBool(r2)
    is r2, r6, Bool
    call -, showBool(r2)
"#;
    let registers = "r0: int, r1: float, r2: bool, r3: Int, r4: Float, r5..r6: Bool";
    let expected = format!("{}\n{}\n1\n0\n1\n0\n1\n", i64::MIN, 0x7ff8_0000_0000_0000u64);
    Case::main("boxes", registers, body, expected)
}
