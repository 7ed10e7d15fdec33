//! Looking into the optimizing tier: `dump ir|clif|plan|asm`, `--show`, `--log`, `--stats`, `--perf-map`.

use crate::process::{Seen, case, file, folder, holloway, start};
use serde_json::Value;

/// A program with a hot method in a hot loop in a hot loop.
fn wears() -> String {
    case("wears.hol")
}

/// Runs it with its machine code made at once, so that what is seen does not depend on time.
fn run(flags: &[&str]) -> Seen {
    let seen = holloway(&[&["run", &wears(), "--sync-compile"], flags].concat());
    assert_eq!((seen.code, &*seen.out), (Some(0), "Hell Lane: 26728436952532500\n"), "{}", seen.err);
    seen
}

/// Compiled loops are entered at once, and left again and again: whatever is decided by time does not matter then.
#[cfg(target_arch = "x86_64")]
const STRESS: &[&str] = &["--osr-every-backedge", "--deopt-every", "100"];

#[cfg(target_arch = "x86_64")]
fn dump(arguments: &[&str]) -> String {
    let seen = holloway(&[&["dump"], arguments].concat());
    assert_eq!((seen.code, &*seen.err), (Some(0), ""), "{arguments:?}");
    seen.out
}

/// Numbers that look like addresses of this kind of system: 12 digits, beginning with 5 or 7f.
fn addresses(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let is_address = |word: &&str| {
        let digits = word.trim_start_matches("0x").replace('_', "");
        word.starts_with("0x") && digits.len() == 12 && (digits.starts_with('5') || digits.starts_with("7f"))
    };
    words.filter(is_address).collect()
}

#[test]
#[cfg(target_arch = "x86_64")]
fn stages_are_shown_and_repeat() {
    let path = wears();
    for (stage, parts) in [
        ("ir", &["region wear", "load Lane::depth", "after all passes"][..]),
        ("ir:build", &["call Lane.walk", "after build"]),
        ("ir:gvn", &["after gvn", "after gvn (run 2)"]),
        ("clif", &["function u0", "imul", "context.control", "context.yieldpoint", "Lane.walk:0 in wear:5"]),
        ("plan", &["the order of its blocks", "for each entry", "block0   b0", "entry", "---- cold ----"]),
        (
            "asm",
            &[
                "push rbp",
                "; block0 x1.00",
                "<helper deoptimize>",
                "cold",
                "Lane.walk:0 in wear:5",
                "leaves at",
                "line 8 | for day",
            ],
        ),
    ] {
        let text = dump(&[stage, &path, "--function", "wear"]);
        for part in parts {
            assert!(text.contains(part), "{stage}: no {part} in\n{text}");
        }
        assert!(addresses(&text).is_empty(), "{stage}: {:?}", addresses(&text));
        assert_eq!(text, dump(&[stage, &path, "--function", "wear"]), "{stage}");
    }
}

/// The library has allocations, constants, switches, native functions: all that could have an address.
#[test]
#[cfg(target_arch = "x86_64")]
fn listings_of_a_large_program_repeat() {
    let folder = folder("compiled_listings");
    let program = file(
        &folder,
        "many.hol",
        "enum Way { North, East, South, West, Up, Down }\n\
         fn way(w: Way) -> Float { match w { Way.North => 1.5, Way.East => 2.5, Way.South => 3.25,\n\
         Way.West => 4.5, Way.Up => 5.0, Way.Down => 2.0.sqrt() } }\n\
         fn main() {\n\
         let map: Map<String, Array<Int>> = Map()\n\
         for i in 0..10 { map.put(\"key ${i}\", [i, i * i]) }\n\
         let text = \"one character\"\n\
         for i in 0..text.length { map.put(text.substring(i, i + 1), [i]) }\n\
         println(\"${map.length()} ${way(Way.South)}\")\n}\n",
    );
    let ran = holloway(&["run", &program]);
    assert_eq!((ran.code, &*ran.err), (Some(0), ""), "the program is good");
    for stage in ["clif", "plan", "asm"] {
        let text = dump(&[stage, &program]);
        assert!(text.lines().count() > 1000, "{stage} shows all methods");
        assert_eq!(addresses(&text), Vec::<&str>::new(), "{stage}");
        assert!(text == dump(&[stage, &program]), "{stage} differs from run to run");
        assert!(!text.contains("stays interpreted"), "{stage}");
    }
    let text = dump(&["asm", &program, "--function", "way"]);
    assert_eq!(text.matches("  case L").count(), 7, "six cases and the default\n{text}");
}

/// What is alive across a call that preserves few registers wants one of these wherever it is used.
#[test]
#[cfg(target_arch = "x86_64")]
fn natives_that_are_called_seldom_preserve_registers() {
    let program = case("natives.hol");
    let interpreted = holloway(&["run", &program, "--tier", "interp"]);
    let (stub, helper) = ("; context.native", "; helper native");
    for (method, called, other) in [("seldom", stub, helper), ("often", helper, stub)] {
        let seen = holloway(&["run", &program, "--sync-compile", "--show", &format!("clif={method}")]);
        let calls = |comment: &str| seen.err.lines().filter(|line| line.ends_with(comment)).count();
        assert!(calls(called) > 0 && calls(other) == 0, "{method}\n{}", seen.err);
        assert_eq!((seen.code, seen.out), (Some(0), interpreted.out.clone()), "{method}");
    }
}

/// Nobody enters the method of a loop that runs to the end: samples of the loop are for the loop's own code.
#[test]
#[cfg(target_arch = "x86_64")]
fn code_of_a_loop_is_made_again_at_a_higher_level() {
    let ifs: String =
        (0..200).map(|at| format!("    if n == {} {{ println(\"{at}\") }}\n", at + 5)).collect();
    let loops = "    for i in 0..3000000 { sum += i ^ (sum >> 3) }\n    println(\"${sum}\")\n";
    let text = format!("fn main() {{\n    var sum = 0\n    let n = args().length\n{ifs}{loops}}}\n");
    let program = file(&folder("compiled_loop_level"), "program.hol", text);
    let seen = holloway(&["run", "--sync-compile", "--timer", "virtual:5000", "--log", "compile", &program]);
    assert_eq!(seen.code, Some(0), "{}", seen.err);
    let of_loop = |level: &str| {
        let made = format!(": {level} #");
        seen.err.lines().any(|line| line.contains("main loop@") && line.contains(&made))
    };
    assert!(of_loop("o1") && of_loop("o2"), "{}", seen.err);
    assert!(!seen.err.contains("main: o"), "the method was compiled, which nobody enters: {}", seen.err);
}

#[test]
#[cfg(target_arch = "x86_64")]
fn the_first_form_of_a_method_is_known() {
    let expected = case("wears.ir");
    let text = dump(&["ir:build", &wears(), "--function", "Lane.walk"]);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&expected, &text).expect("the file can be written");
    }
    assert_eq!(text, std::fs::read_to_string(expected).expect("the file with what is expected"));
}

#[test]
#[cfg(target_arch = "x86_64")]
fn every_pass_has_its_time() {
    let text = dump(&["ir:all", &wears(), "--function", "Lane.walk"]);
    let heads: Vec<&str> = text.lines().filter(|line| line.starts_with("; Lane.walk [o2], after ")).collect();
    assert!(heads[0].contains("after build, ") && heads.len() > 10, "{heads:?}");
    assert!(heads.iter().all(|head| head.ends_with(" ms")), "{heads:?}");
}

#[test]
#[cfg(target_arch = "x86_64")]
fn levels_and_loops_can_be_chosen() {
    let path = wears();
    assert!(dump(&["ir", &path, "--function", "wear", "--level", "o0"]).starts_with("; wear [o0], "));
    let text = dump(&["ir", &path, "--function", "wear", "--loop", "4"]);
    assert!(text.contains("region wear at loop 4") && text.starts_with("; wear loop@4 [o2], "), "{text}");
}

#[test]
fn what_is_wrong_is_said() {
    let path = wears();
    for (arguments, parts) in [
        (&["dump", "ir:gnv", &path][..], &["there is no pass 'gnv'", "build", "gvn", "licm", "all"][..]),
        (&["dump", "machine", &path], &["no such stage", "bytecode", "clif", "asm"]),
        (&["dump", "ir", &path, "--function", "Lane.wakl"], &["'Lane.wakl'", "there are Lane.walk"]),
        (&["dump", "ir", &path, "--function", "x*"], &["no function's name matches 'x*'"]),
        (&["dump", "ir", &path, "--function", "*", "--loop", "4"], &["--loop is about one method"]),
        (&["dump", "ir", &path, "--function", "wear", "--loop", "3"], &["no loop at 3", "4 (line 8)"]),
        (&["dump", "ir", &path, "--function", "walk", "--loop", "0"], &["Lane.walk has no loops"]),
        (&["dump", "ir", &path, "--loop", "4"], &["--function"]),
        (&["dump", "bytecode", &path, "--function", "wear", "--loop", "4"], &["ir, clif, plan and asm"]),
        (&["dump", "ir", &path, "--level", "o3"], &["o0, o1, o2"]),
        (&["run", &path, "--show", "ir:gnv"], &["there is no pass 'gnv'"]),
        (&["run", &path, "--show", "asm="], &["a pattern is"]),
        (&["run", &path, "--show", "asm", "--tier", "interp"], &["--tier interp"]),
        (&["run", &path, "--show", "asm", "--show-to", "/none/at/all"], &["cannot write /none/at/all"]),
        (&["run", &path, "--show-to", "x"], &["--show"]),
    ] {
        let seen = holloway(arguments);
        assert_eq!((seen.code, &*seen.out), (Some(2), ""), "{arguments:?}");
        for part in parts {
            assert!(seen.err.contains(part), "{arguments:?}: no {part} in {}", seen.err);
        }
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn a_run_shows_what_it_compiles() {
    let to = folder("compiled_show").join("shown.txt");
    let flags = ["--show", "ir=wear", "--show", "asm=Lane.*", "--show-to", &to.to_string_lossy()];
    assert_eq!(run(&flags).err, "");
    let text = std::fs::read_to_string(&to).expect("it was written");
    assert!(text.contains("region wear") && text.contains("; Lane.walk [o"), "{text}");
    // With the profile of the run: the loop was seen to go on.
    assert!(text.contains(" x") && text.contains("push rbp") && !text.contains("region Lane.walk"), "{text}");
    assert!(addresses(&text).is_empty(), "{:?}", addresses(&text));
    let seen = run(&["--show", "clif=walk"]);
    assert!(seen.err.contains("], as Cranelift gets it"), "{}", seen.err);
}

#[test]
#[cfg(target_arch = "x86_64")]
fn every_kind_of_event_is_logged_with_its_reason() {
    let assert_logged = |seen: &Seen, parts: [&str; 2]| {
        let found = seen.err.lines().any(|line| line.starts_with(parts[0]) && line.contains(parts[1]));
        assert!(found, "{parts:?}: {}", seen.err);
    };
    let seen = run(&["--log", "compile"]);
    assert_logged(&seen, ["compile: Lane.walk: o", " is asked for: the interpreter entered it "]);
    assert_logged(&seen, ["compile: Lane.walk: o", " ms ("]);
    let seen = run(&[&["--log", "compile,inline,deopt,osr"], STRESS].concat());
    for parts in [
        ["compile: wear loop@4: o", " is asked for: every back edge "],
        ["inline: wear@5 -> Lane.walk: inlined (", ")"],
        ["osr: wear loop@4 o", " entered from the interpreter at the back edge to line 8"],
        ["deopt: wear o", " left: yieldpoint in wear:9 (line 8)"],
    ] {
        assert_logged(&seen, parts);
    }
    let seen = run(&[&["--log", "osr"], STRESS].concat());
    assert!(!seen.err.is_empty() && seen.err.lines().all(|line| line.starts_with("osr: ")), "{}", seen.err);
}

/// Code of a loop that was compiled while it ran is left where the loop ends, for no count says that it does. What is compiled after that knows.
#[test]
#[cfg(target_arch = "x86_64")]
fn a_way_by_which_code_was_left_is_known_afterwards() {
    let seen = holloway(&["run", &case("rounds.hol"), "--sync-compile", "--log", "compile,deopt"]);
    assert_eq!((seen.code, &*seen.out), (Some(0), "1802640\n"), "{}", seen.err);
    let lines = |part: &str| seen.err.lines().filter(|line| line.contains(part)).count();
    assert_eq!(lines("deopt: turn o2 #1 left: untaken in turn:18 (line 12)"), 1, "{}", seen.err);
    assert_eq!((lines(" left: untaken"), lines("is invalid")), (1, 0), "{}", seen.err);
    assert_eq!(lines("compile: turn: o2 #2, "), 1, "{}", seen.err);
}

#[test]
#[cfg(target_arch = "x86_64")]
fn the_statistics_are_complete() {
    let seen = run(&[&["--stats=json"], STRESS].concat());
    let json: Value = serde_json::from_str(&seen.err).expect("one JSON object");
    let number = |key: &str| json[key].as_u64().unwrap_or_else(|| panic!("{key}: {}", seen.err));
    for key in ["refused_compilations", "invalidations", "evictions"] {
        assert_eq!(number(key), 0, "{key}");
    }
    for key in ["optimizing_ns", "compiled_words", "machine_code_bytes", "code_in_use_bytes", "loop_entries"]
    {
        assert!(number(key) > 0, "{key}");
    }
    let compilations = json["compilations"].as_object().expect("an object");
    assert_eq!(compilations.keys().collect::<Vec<_>>(), ["o0", "o1", "o2"]);
    assert!(json["compilations"]["o2"].as_u64() > Some(0));
    let passes = json["passes_ns"].as_object().expect("an object");
    for step in ["build", "gvn", "lower", "cranelift"] {
        assert!(passes[step].as_u64() > Some(0), "{step}: {}", seen.err);
    }
    assert!(json["exits"]["yieldpoint"].as_u64() > Some(0), "{}", seen.err);
    let seen = holloway(&["run", &wears(), "--stats=json", "--tier", "interp"]);
    let json: Value = serde_json::from_str(&seen.err).expect("one JSON object");
    assert!(json["exits"].as_object().is_some_and(|exits| exits.is_empty()) && json["optimizing_ns"] == 0);
    let text = run(&[&["--stats"], STRESS].concat()).err;
    for part in ["compiled o2 ", "optimizing compiler: gvn ", "left compiled code: ", "machine code in use "]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn perf_learns_the_names_of_code() {
    let child = start(&["run", &wears(), "--tier", "o0", "--osr-every-backedge", "--perf-map"]);
    let map = format!("/tmp/perf-{}.map", child.id());
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success());
    let text = std::fs::read_to_string(&map).expect("the map was written");
    std::fs::remove_file(&map).expect("it is ours");
    let mut names = Vec::new();
    for line in text.lines() {
        let mut parts = line.splitn(3, ' ');
        let mut number = || u64::from_str_radix(parts.next().unwrap_or(""), 16);
        let (address, bytes) = (number(), number());
        assert!(address.is_ok_and(|at| at > 0) && bytes.is_ok_and(|bytes| bytes > 0), "{line}");
        names.push(parts.next().expect("a name"));
    }
    for beginning in ["Lane.walk [thunk]", "main [thunk]", "Lane.walk [o", "wear loop@4 [o"] {
        assert!(names.iter().any(|name| name.starts_with(beginning)), "{beginning}: {text}");
    }
}
