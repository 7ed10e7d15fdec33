//! The `holloway` command. All of it is in the library beside this file, so that tests can use its parts.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    holloway::main()
}
