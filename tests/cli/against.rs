//! `bench --against`, with a checkout and tools that only pretend: what is tested is ours, not theirs.

use crate::process::{Seen, command, end, file, folder, holloway, signal};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Prints times as the originals do, faster with every iteration; gives a wrong result for Queens and none for Towers.
const NODE: &str = "\
#!/bin/sh
if [ \"$1\" = --version ]; then echo v99.0; exit 0; fi
if [ \"$1\" != harness.js ] || [ ! -f harness.js ]; then echo \"Error: started in $PWD with $*\" >&2; exit 1; fi
if [ \"$2\" = Queens ]; then echo 'harness.js:1'; echo 'Error: incorrect result' >&2; exit 1; fi
if [ \"$2\" = Towers ]; then exec /bin/sleep 600; fi
iteration=0
while [ $iteration -lt $3 ]; do
    iteration=$((iteration + 1))
    echo \"$2: iterations=1 runtime: $((9000 / iteration))us\"
done
echo \"$2: iterations=$3 average: 1us total: 1us\"
";

/// A folder with a checkout, and tools that are the only ones there are.
struct Stage {
    folder: PathBuf,
}

impl Stage {
    fn new(name: &str, harnesses: &[&str], tools: &[(&str, &str)]) -> Stage {
        let folder = folder(name);
        for harness in harnesses {
            file(&folder.join("checkout"), harness, "");
        }
        for sub in ["tools", "cache", "temporary"] {
            std::fs::create_dir_all(folder.join(sub)).expect("a folder");
        }
        for (tool, script) in tools {
            let path = file(&folder.join("tools"), tool, script);
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("it is ours");
        }
        Stage { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let checkout = self.path("checkout");
        let mut command = command(&["bench", "--against", &checkout.to_string_lossy()]);
        command.args(arguments).env("PATH", self.path("tools"));
        command.env("XDG_CACHE_HOME", self.path("cache")).env("TMPDIR", self.path("temporary"));
        command
    }

    fn bench(&self, arguments: &[&str]) -> Seen {
        self.command(arguments).output().expect("the binary starts").into()
    }

    fn nothing_is_left(&self) {
        assert_eq!(std::fs::read_dir(self.path("temporary")).expect("it is there").count(), 0);
    }
}

fn node(name: &str) -> Stage {
    Stage::new(name, &["benchmarks/JavaScript/harness.js"], &[("node", NODE)])
}

#[test]
fn mistakes_are_reported_before_anything_is_compared() {
    let empty = folder("against_empty");
    let empty = empty.to_string_lossy();
    for (arguments, part) in [
        (&["--against", &empty][..], "is no checkout of Are We Fast Yet: it has no benchmarks/Java"),
        (&["--against", &empty], "git clone https://"),
        (&["--against", "/no/such/folder"], "cannot open /no/such/folder"),
        (&["--against", &empty, "fft"], "Java Grande"),
        (&["--against", &empty, "seive"], "did you mean sieve?"),
        (&["--against", &empty, "--peers", "perl"], "possible values: java, node, lua, luajit-interp, cpp"),
        (&["--against", &empty, "--first", "--iterations", "2"], "cannot be used with"),
        (&["--against", &empty, "--samples"], "cannot be used with"),
        (&["--against", &empty, "--rounds", "0"], "1..=1000"),
        (&["--peers", "java"], "--against"),
        (&["--first"], "--against"),
    ] {
        let seen = holloway(&[&["bench"], arguments].concat());
        assert_eq!((seen.code, &*seen.out), (Some(2), ""), "{arguments:?}");
        assert!(seen.err.contains(part), "{arguments:?}: {}", seen.err);
    }
}

#[test]
fn ours_and_theirs_are_compared_and_who_fails_is_named() {
    let stage = node("against_node");
    let json = stage.path("times.json");
    let seen = stage.bench(&[
        "sieve",
        "queens",
        "--peers=node",
        "--size=quick",
        "--rounds=2",
        "--iterations=3",
        "--seed=7",
        "--json",
        &json.to_string_lossy(),
    ]);
    assert_eq!((seen.code, &*seen.err), (Some(1), ""), "{}", seen.out);
    let lines: Vec<&str> = seen.out.lines().collect();
    let words = |line: usize| lines[line].split_whitespace().collect::<Vec<&str>>();
    assert_eq!(words(0), ["program", "size", "ours", "ms", "A/A", "node", "ms", "ours/node"]);
    // The median of the last two of 9, 4.5 and 3 ms.
    assert!(lines[1].starts_with("sieve") && words(1).contains(&"3.750"), "{}", seen.out);
    assert!(lines[2].starts_with("queens") && lines[2].contains("FAILED"), "{}", seen.out);
    assert!(lines[3].starts_with("geometric mean"), "{}", seen.out);
    for part in
        ["node: node v99.0 (mean of 1 of 2 programs)", "queens, node: exit status: 1: Error: incorrect"]
    {
        assert!(seen.out.contains(part), "{part}: {}", seen.out);
    }
    let text = std::fs::read_to_string(&json).expect("it was written");
    for part in ["\"kind\": \"against\"", "9000000", "\"phase\": \"steady\"", "\"seed\": \"7\""] {
        assert!(text.contains(part), "{part}: {text}");
    }
    stage.nothing_is_left();
}

#[test]
fn first_iterations_are_compared() {
    let stage = node("against_first");
    let seen = stage.bench(&["sieve", "--size=quick", "--rounds=3", "--first"]);
    assert_eq!(seen.code, Some(0), "{}{}", seen.out, seen.err);
    assert!(seen.out.contains("9.000") && seen.out.contains("the first iteration"), "{}", seen.out);
    assert!(
        seen.err.contains("without java: the checkout has no benchmarks/Java/src/Harness.java"),
        "{}",
        seen.err
    );
}

#[test]
fn what_is_missing_is_named_with_a_way_to_get_it() {
    let harnesses = [
        "benchmarks/JavaScript/harness.js",
        "benchmarks/Java/src/Harness.java",
        "benchmarks/Lua/harness.lua",
    ];
    let lua = "#!/bin/sh\nexit 3\n";
    let stage = Stage::new("against_missing", &harnesses, &[("node", NODE), ("lua", lua)]);
    let seen = stage.bench(&["sieve", "--size=quick", "--rounds=1", "--iterations=1"]);
    assert_eq!(seen.code, Some(0), "{}{}", seen.out, seen.err);
    let lines: Vec<&str> = seen.err.lines().collect();
    assert!(
        lines[0].starts_with("without java: there is no `javac`; a Java development kit"),
        "{}",
        seen.err
    );
    assert!(lines[1].starts_with("without lua: `lua -v` fails with exit status: 3;"), "{}", seen.err);
    assert!(
        lines[2].starts_with("without cpp: the checkout has no benchmarks/C++/src/harness.cpp"),
        "{}",
        seen.err
    );
    let seen = stage.bench(&["sieve", "--peers=node,java"]);
    assert_eq!((seen.code, &*seen.out), (Some(1), ""));
    assert!(seen.err.contains("cannot compare with java: there is no `javac`"), "{}", seen.err);
    stage.nothing_is_left();
}

#[test]
fn originals_are_compiled_outside_of_the_checkout() {
    // A compiler that refuses, and then one that writes where it is told to.
    let java = "#!/bin/sh\necho \"$4: iterations=1 runtime: 77us\"\n";
    let refuses = "#!/bin/sh\n[ \"$1\" = -version ] || { echo 'Harness.java:1: error: no' >&2; exit 1; }\n";
    let harness = ["benchmarks/Java/src/Harness.java"];
    let stage = Stage::new("against_java", &harness, &[("java", java), ("javac", refuses)]);
    let arguments = ["sieve", "--peers=java", "--size=quick", "--rounds=1", "--first"];
    let seen = stage.bench(&arguments);
    assert_eq!((seen.code, &*seen.out), (Some(1), ""));
    let part = "`javac` cannot compile the originals: exit status: 1: Harness.java:1: error: no";
    assert!(seen.err.contains(part), "{}", seen.err);
    let compiles = "#!/bin/sh\n[ \"$1\" = -version ] || echo built >\"$5/Harness.class\"\n";
    file(&stage.path("tools"), "javac", compiles);
    let seen = stage.bench(&arguments);
    assert_eq!((seen.code, &*seen.err), (Some(0), ""), "{}", seen.out);
    assert!(seen.out.contains("0.077"), "{}", seen.out);
    let builds = std::fs::read_dir(stage.path("cache/holloway")).expect("it was made");
    let builds: Vec<PathBuf> = builds.map(|entry| entry.expect("a folder").path()).collect();
    assert!(builds.len() == 1 && builds[0].join("Harness.class").exists(), "{builds:?}");
    let files = |path: &Path| std::fs::read_dir(path).expect("it is there").count();
    assert_eq!(files(&stage.path("checkout/benchmarks/Java")), 1);
    assert_eq!(files(&stage.path("checkout/benchmarks/Java/src")), 1);
    stage.nothing_is_left();
}

#[test]
fn who_takes_too_long_is_ended() {
    let stage = node("against_slow");
    let seen =
        stage.bench(&["towers", "--peers=node", "--size=quick", "--rounds=1", "--first", "--time-limit=1s"]);
    assert_eq!(seen.code, Some(1), "{}", seen.err);
    assert!(seen.out.contains("towers, node: it took longer than the limit of 1s"), "{}", seen.out);
    stage.nothing_is_left();
}

#[test]
fn an_interrupt_ends_the_process_that_runs() {
    let stage = node("against_interrupted");
    let mut command =
        stage.command(&["sieve", "towers", "--peers=node", "--size=quick", "--rounds=1", "--first"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
    // Signals are listened for before the folder is made, so that any time from then on will do.
    while std::fs::read_dir(stage.path("temporary")).expect("it is there").count() == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    signal(&child, "INT");
    let (seen, _) = end(child, Duration::from_secs(60));
    assert_eq!(seen.code, Some(1));
    assert!(seen.err.contains("interrupted"), "{}", seen.err);
    stage.nothing_is_left();
}
