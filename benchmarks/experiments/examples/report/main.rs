//! Writes the page of an invented reproduction, to look at: `cargo run -p holloway-experiments --example report > report.html`.
//! With `--markdown` or `--json` the other forms.

mod value;

use holloway_experiments::report::{html, markdown};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let report = value::invented();
    let text = match std::env::args().nth(1).as_deref() {
        None => html::render(&report),
        Some("--markdown") => markdown::render(&report),
        Some("--json") => serde_json::to_string_pretty(&report)?,
        Some(other) => return Err(format!("`{other}` is not known; try --markdown or --json").into()),
    };
    println!("{text}");
    Ok(())
}
