//! Writes the page of an invented reproduction, to look at: `cargo run -p holloway-experiments --example report > report.html`.
//! With `--markdown` or `--json` the other forms; behind `--from FILE` a report is read from its JSON form instead.

mod value;

use holloway_experiments::report::model::Report;
use holloway_experiments::report::{html, markdown};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut report: Option<Report> = None;
    let mut form = String::new();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--from" => {
                let file = arguments.next().ok_or("--from needs the name of a file")?;
                let text = std::fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
                report = Some(serde_json::from_str(&text).map_err(|error| format!("{file}: {error}"))?);
            }
            "--markdown" | "--json" => form = argument,
            other => return Err(format!("`{other}` is not known; try --from, --markdown or --json").into()),
        }
    }
    let report = report.unwrap_or_else(value::invented);
    let text = match form.as_str() {
        "--markdown" => markdown::render(&report),
        "--json" => serde_json::to_string_pretty(&report)?,
        _ => html::render(&report),
    };
    println!("{text}");
    Ok(())
}
