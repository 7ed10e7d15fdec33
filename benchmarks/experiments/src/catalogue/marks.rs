//! Where in the source of a program something is: lines are found by the comments that they end with.

use holloway_benchmarks::embedded::FILES;

/// The line of a program's main file that ends with this comment, from 1.
pub(super) fn line(file: &str, comment: &str) -> f64 {
    let (_, text) =
        FILES.iter().find(|(path, _)| *path == file).unwrap_or_else(|| panic!("{file} is no program"));
    let ends = format!("// {comment}");
    let at = text.lines().position(|line| line.trim_end().ends_with(&ends));
    at.unwrap_or_else(|| panic!("{file} has no line with the comment {comment}")) as f64 + 1.0
}
