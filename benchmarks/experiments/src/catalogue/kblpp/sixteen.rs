//! The programs of figure 14 and table 1: sixteen, as in the paper, of which it names eight.
//!
//! Its programs are of SPEC JVM2008, DaCapo and Java Grande, and others; each that it names has one of ours of the same kind. The others are the largest that we have
//! beside them, and those that quick runs measure.

use crate::plan::Plan;

/// A program, the paper's that it stands for, and the size of which sequences are counted, if it is not the default: a tenth of a second or so.
pub struct Program {
    /// Its name.
    pub name: &'static str,
    /// Which program of the paper is of this kind; nothing for those that it does not name.
    pub paper: Option<&'static str>,
    /// See above.
    pub size: Option<u32>,
    /// Seconds that it takes to be compiled with all its methods, before anything is measured.
    pub begins_after: f64,
}

const fn program(
    name: &'static str,
    paper: Option<&'static str>,
    size: Option<u32>,
    begins_after: f64,
) -> Program {
    Program { name, paper, size, begins_after }
}

/// All of them.
pub const PROGRAMS: [Program; 16] = [
    program("lzw", Some("compress"), Some(1), 0.5),
    program("montecarlo", Some("scimark.monte_carlo"), Some(100), 0.5),
    program("heapsort", Some("heapsort"), None, 0.4),
    program("moldyn", Some("md"), None, 0.4),
    program("raytracer", Some("sunflow"), None, 0.4),
    program("machine", Some("avrora"), None, 4.0),
    program("sqldb", Some("hsqldb"), None, 6.0),
    program("tags", Some("eclipse"), Some(10), 0.5),
    program("compiler", None, Some(140), 2.0),
    program("rules", None, Some(2), 1.0),
    program("richards", None, None, 0.4),
    program("json", None, None, 0.4),
    program("list", None, None, 0.4),
    program("storage", None, None, 0.4),
    program("queens", None, None, 0.4),
    program("mandelbrot", None, None, 0.4),
];

/// For little time, those that differ most.
const QUICK: &[&str] = &["richards", "json", "list", "storage", "queens", "mandelbrot"];

/// Their names.
pub fn names(plan: &Plan) -> Vec<&'static str> {
    let all = PROGRAMS.map(|of| of.name);
    plan.programs(QUICK, &all)
}

/// The program of this name.
pub fn find(name: &str) -> Option<&'static Program> {
    PROGRAMS.iter().find(|of| of.name == name)
}

/// Its name, and which program of the paper is of its kind.
pub fn label(name: &str) -> String {
    match find(name).and_then(|of| of.paper) {
        Some(paper) if paper != name => format!("{name} ({paper})"),
        _ => name.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers;
    use crate::plan::Mode;

    #[test]
    fn each_that_the_paper_names_has_one_of_its_kind() {
        let named: std::collections::BTreeSet<&str> = PROGRAMS.iter().filter_map(|of| of.paper).collect();
        let theirs = papers::at("kblpp.benchmarks_named").as_array().expect("a list");
        let theirs: std::collections::BTreeSet<&str> =
            theirs.iter().filter_map(|name| name.as_str()).collect();
        assert_eq!(named, theirs);
        assert_eq!(PROGRAMS.len() as f64, papers::number("kblpp.benchmarks_total"));
        assert!(names(&Plan::new(Mode::Quick)).iter().all(|name| find(name).is_some()));
    }
}
