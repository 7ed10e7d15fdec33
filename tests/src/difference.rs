//! Two texts side by side, where they differ.

/// Lines shown before and after the first difference.
const AROUND: usize = 3;
/// Lines shown of each text from the first difference on.
const SHOWN: usize = 20;

/// Shows where `actual` first departs from `expected`.
pub fn difference(expected: &[String], actual: &[String]) -> String {
    let same = expected.iter().zip(actual).take_while(|(a, b)| a == b).count();
    let mut text = format!("different from line {} of the expectations on\n", same + 1);
    for line in &expected[same.saturating_sub(AROUND)..same] {
        text += &format!("    {line}\n");
    }
    for (sign, lines) in [('-', expected), ('+', actual)] {
        for line in lines[same..].iter().take(SHOWN) {
            text += &format!("  {sign} {line}\n");
        }
        if lines.len() > same + SHOWN {
            text += &format!("  {sign} … {} more lines\n", lines.len() - same - SHOWN);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_shown() {
        let lines = |text: &str| -> Vec<String> { text.split(' ').map(str::to_string).collect() };
        let shown = difference(&lines("a b c"), &lines("a x"));
        assert_eq!(shown, "different from line 2 of the expectations on\n    a\n  - b\n  - c\n  + x\n");
    }
}
