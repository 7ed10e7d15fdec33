//! Every program below `cases/`, in every mode. `CASE=part-of-a-path` runs some of them, `BLESS=1` writes down what they do.

use holloway_tests::case::{Case, find};
use holloway_tests::parallel::check_all;
use holloway_tests::{run, text};

/// The folder of programs that `cli/` runs, with signals and limits that only a process has.
const FOR_CLI: &str = "/cases/cli/";

#[test]
fn cases() {
    let folder = text::root().join("tests/cases");
    let wanted = std::env::var("CASE").unwrap_or_default();
    let paths: Vec<_> = find(&folder)
        .into_iter()
        .filter(|path| {
            let path = path.to_string_lossy();
            !path.contains(FOR_CLI) && path.contains(&wanted)
        })
        .collect();
    assert!(!paths.is_empty(), "there is no case whose path contains '{wanted}'");
    let bless = std::env::var_os("BLESS").is_some();
    let name = |path: &std::path::PathBuf| path.strip_prefix(&folder).unwrap_or(path).display().to_string();
    check_all(&paths, name, |path| {
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
        let mut case = Case::parse(path, &text)?;
        if bless {
            let blessed = case.blessed(&run::bless(&case)?);
            if blessed != text {
                std::fs::write(path, &blessed).map_err(|error| error.to_string())?;
                case = Case::parse(path, &blessed)?;
            }
        }
        run::check(&case)
    });
}
