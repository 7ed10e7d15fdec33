//! Help, bad flags, colours.

use crate::process::{case, command, holloway};

#[test]
fn help_is_grouped_and_has_examples() {
    let seen = holloway(&["--help"]);
    assert_eq!((seen.code, &*seen.err), (Some(0), ""));
    for word in ["run", "check", "bench", "overhead", "dump", "profile", "Examples:", "Exit codes:"] {
        assert!(seen.out.contains(word), "{word}");
    }
    assert_eq!(holloway(&["help"]).code, Some(0));
    let seen = holloway(&["run", "--help"]);
    for heading in ["Execution:", "Limits:", "Timer:", "Stress:", "Output:", "Examples:"] {
        assert!(seen.out.contains(heading), "{heading}: {}", seen.out);
    }
    assert!(!seen.out.contains("--dispatch"), "a flag for developers is not shown");
    for name in ["check", "bench", "overhead", "dump"] {
        let seen = holloway(&[name, "--help"]);
        assert!(seen.code == Some(0) && seen.out.contains("Example"), "{name}: {}", seen.out);
    }
    assert!(holloway(&["--version"]).out.starts_with("holloway "));
}

#[test]
fn nothing_to_do_is_a_usage_error() {
    let seen = holloway(&[]);
    assert_eq!((seen.code, &*seen.out), (Some(2), ""));
    assert!(seen.err.contains("Usage:"), "{}", seen.err);
}

#[test]
fn bad_flags_say_what_would_be_right() {
    let path = case("greets.hol");
    for (flags, part) in [
        (&["--heap", "1m"][..], "the smallest heap is 2m"),
        (&["--heap", "lots"], "such as 64m"),
        (&["--heap", "2000g"], "the largest heap is"),
        (&["--stack-depth", "0"], "is not in 1..=10000000"),
        (&["--stack-depth", "-1"], "unexpected argument"),
        (&["--time-limit", "5"], "such as 500ms"),
        (&["--fuel", "1e9"], "invalid digit"),
        (&["--timer", "wall"], "such as wall:20ms"),
        (&["--timer", "virtual:0"], "at least 1"),
        (&["--tier", "o3"], "possible values: adaptive, interp, o0, o1, o2"),
        (&["--log", "everything"], "possible values: compile, inline, deopt, osr, gc"),
        (&["--stats=xml"], "possible values: text, json"),
        (&["--gc-stress=0"], "--gc-stress"),
        (&["--hepa", "64m"], "--heap"),
    ] {
        let seen = holloway(&[&["run"], flags, &[&path]].concat());
        assert_eq!((seen.code, &*seen.out), (Some(2), ""), "{flags:?}");
        assert!(seen.err.contains(part), "{flags:?}: {}", seen.err);
    }
    assert_eq!(holloway(&["run"]).code, Some(2));
    assert_eq!(holloway(&["walk", &path]).code, Some(2));
    assert_eq!(holloway(&["dump", "source", &path]).code, Some(2));
}

#[test]
fn every_good_flag_is_accepted() {
    let flags = "run --tier interp --seed -5 --heap 64m --stack-depth 100 --time-limit 1m --fuel 1000000 \
                 --timer virtual:100 --gc-stress=10 --dispatch loop";
    let path = case("greets.hol");
    let mut arguments: Vec<&str> = flags.split_whitespace().collect();
    arguments.extend([path.as_str(), "--", "Ada"]);
    let seen = holloway(&arguments);
    assert_eq!((seen.code, &*seen.out, &*seen.err), (Some(0), "Hello Ada\n", ""));
}

#[test]
fn pipes_get_no_colours() {
    for (variable, value) in [("NO_COLOR", "1"), ("TERM", "xterm-256color")] {
        for arguments in [
            &["run", "--nonsense"][..],
            &["check", &case("does_not_compile.hol")],
            &["run", &case("fails.hol")],
        ] {
            let output = command(arguments).env(variable, value).output().expect("the binary starts");
            let seen: crate::process::Seen = output.into();
            assert!(!seen.err.is_empty() && !seen.err.contains('\x1b'), "{arguments:?}: {}", seen.err);
        }
    }
}

#[test]
fn terminals_get_colours_unless_refused() {
    // `script` gives the binary a terminal; where there is none, there is nothing to see.
    let binary = env!("CARGO_BIN_EXE_holloway");
    let seen = |no_color: &str| {
        let line = format!("{no_color} TERM=xterm {binary} check {}", case("does_not_compile.hol"));
        let output = std::process::Command::new("script")
            .args(["-qec", &line, "/dev/null"])
            .env_remove("NO_COLOR")
            .output();
        output.ok().map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (Some(plain), Some(colored)) = (seen("NO_COLOR=1"), seen("")) else { return };
    if colored.contains("does_not_compile.hol") {
        assert!(colored.contains('\x1b'), "{colored}");
        assert!(!plain.contains('\x1b'), "{plain}");
    }
}
