//! Stores that were ended in the middle, that belong to others, and that are joined.

use super::*;
use crate::plan::Mode;

/// A folder that is empty, and goes away with the value.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("holloway-store-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Folder(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join(FILE)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn header() -> Header {
    // Not each system names its machine.
    Header { hosts: ["one".to_string()].into(), ..Header::here(7, Mode::Quick, 0) }
}

fn result(name: &str, number: f64) -> CellResult {
    let outcome = Outcome { numbers: BTreeMap::from([("n".to_string(), number)]), ..Outcome::default() };
    CellResult { cell: name.into(), seconds: 0.5, outcome: Some(outcome), error: None }
}

fn failed(name: &str) -> CellResult {
    CellResult { cell: name.into(), seconds: 0.5, outcome: None, error: Some("it failed".into()) }
}

fn filled(folder: &Folder, results: &[CellResult]) -> Store {
    let (mut store, _) = Store::open(&folder.0, &header()).expect("writable");
    results.iter().for_each(|result| store.add(result).expect("writable"));
    store
}

#[test]
fn whatever_is_cut_off_the_rest_is_there() {
    let folder = Folder::new("torn");
    drop(filled(&folder, &[result("a", 1.0), result("b", 2.0)]));
    let text = std::fs::read(folder.file()).expect("written");
    let ends: Vec<usize> =
        text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
    for length in 0..=text.len() {
        std::fs::write(folder.file(), &text[..length]).expect("writable");
        let whole = ends.iter().filter(|&&end| end <= length).count();
        let (mut store, stored) = Store::open(&folder.0, &header()).expect("readable");
        assert_eq!(stored.cells.len(), whole.saturating_sub(1), "{length} bytes");
        store.add(&result("c", 3.0)).expect("writable");
        drop(store);
        let again = read(&folder.0).expect("readable");
        assert_eq!(again.cells.len(), whole.saturating_sub(1) + 1, "{length} bytes");
        assert_eq!(again.cells["c"], result("c", 3.0));
    }
}

#[test]
fn a_damaged_line_in_the_middle_is_named() {
    let folder = Folder::new("damaged");
    drop(filled(&folder, &[result("a", 1.0), result("b", 2.0)]));
    let text =
        std::fs::read_to_string(folder.file()).expect("written").replacen("\"cell\":\"a\"", "\"cell\":", 1);
    std::fs::write(folder.file(), text).expect("writable");
    let why = Store::open(&folder.0, &header()).expect_err("damaged");
    assert!(why.contains("cells.jsonl:2: this line is no result"), "{why}");
}

#[test]
fn what_is_no_store_is_left_alone() {
    let folder = Folder::new("other");
    std::fs::create_dir_all(&folder.0).expect("writable");
    for text in ["my diary", "my diary\n", "{\"holloway_store\":1}\n"] {
        std::fs::write(folder.file(), text).expect("writable");
        let why = Store::open(&folder.0, &header()).expect_err("not a store");
        assert!(why.contains("is not a store of results"), "{why}");
        assert_eq!(std::fs::read_to_string(folder.file()).expect("there"), text);
    }
    assert!(read(&folder.0.join("none")).is_err_and(|why| why.contains("cannot read")));
}

#[test]
fn the_last_result_of_a_cell_counts() {
    let folder = Folder::new("last");
    drop(filled(&folder, &[failed("a"), result("a", 1.0)]));
    assert_eq!(read(&folder.0).expect("readable").cells["a"], result("a", 1.0));
}

#[test]
fn other_builds_machines_modes_and_seeds_are_refused() {
    let folder = Folder::new("others");
    drop(filled(&folder, &[result("a", 1.0)]));
    let others = [
        (Header { binary: "0".into(), ..header() }, "another build"),
        (Header { build: "0.0.1".into(), ..header() }, "another build"),
        (Header { machine: Vec::new(), ..header() }, "another machine"),
        (Header { hosts: ["another".to_string()].into(), ..header() }, "another machine of the same kind"),
        (Header { mode: Mode::Full, ..header() }, "--quick and not with --full"),
        (Header { seed: 1, ..header() }, "--seed 0"),
    ];
    for (other, part) in others {
        let why = Store::open(&folder.0, &other).expect_err("it differs");
        assert!(why.contains(part) && why.contains("another --store"), "{why}");
    }
    let later = Header { began: "2100-01-01 00:00".into(), ..header() };
    let (_, stored) = Store::open(&folder.0, &later).expect("only later");
    assert_eq!(stored.cells.len(), 1);
}

#[test]
fn one_process_writes_at_a_time() {
    let folder = Folder::new("locked");
    let store = filled(&folder, &[result("a", 1.0)]);
    let why = Store::open(&folder.0, &header()).expect_err("it is in use");
    assert!(why.contains("another process writes to"), "{why}");
    assert_eq!(read(&folder.0).expect("reading needs no lock").cells.len(), 1);
    drop(store);
    assert!(Store::open(&folder.0, &header()).is_ok());
}

#[test]
fn a_full_disk_is_told_and_what_was_there_stays() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let full = OpenOptions::new().write(true).open("/dev/full").expect("a device");
    let mut store = Store { path: PathBuf::from("cells.jsonl"), file: full, whole: 0, is_broken: false };
    let why = store.add(&result("a", 1.0)).expect_err("no space");
    assert!(why.contains("cannot write cells.jsonl") && why.contains("can be read"), "{why}");
}

#[test]
fn nothing_comes_behind_a_line_that_could_not_be_written() {
    let folder = Folder::new("broken");
    let mut store = filled(&folder, &[result("a", 1.0)]);
    let before = std::fs::read(folder.file()).expect("written");
    let writable = std::mem::replace(&mut store.file, File::open(folder.file()).expect("readable"));
    store.add(&result("b", 2.0)).expect_err("only for reading");
    store.file = writable;
    // The file can be written to again, as when space is free again; but who knows what is at its end.
    let why = store.add(&result("c", 3.0)).expect_err("a line is missing");
    assert!(why.contains("a line before could not be written"), "{why}");
    assert_eq!(std::fs::read(folder.file()).expect("written"), before);
}

#[test]
fn what_a_merge_left_behind_is_no_store() {
    let (one, out) = (Folder::new("whole"), Folder::new("half"));
    drop(filled(&one, &[result("a", 1.0)]));
    std::fs::create_dir_all(&out.0).expect("writable");
    let part = out.0.join(format!(".cells.jsonl.{}", std::process::id()));
    std::fs::write(&part, "{\"holloway_store\":1").expect("writable");
    assert!(read(&out.0).is_err());
    assert_eq!(merge(&out.0, std::slice::from_ref(&one.0)), Ok(1));
    assert_eq!(read(&out.0).expect("readable").cells, read(&one.0).expect("readable").cells);
    assert!(!part.exists());
}

#[test]
fn shards_are_joined_and_strangers_are_not() {
    let (one, other, out) = (Folder::new("one"), Folder::new("two"), Folder::new("out"));
    drop(filled(&one, &[result("a", 1.0), result("b", 2.0)]));
    drop(filled(&other, &[failed("b"), result("c", 3.0)]));
    let stores = [one.0.clone(), other.0.clone()];
    assert_eq!(merge(&out.0, &stores), Ok(3));
    let all = read(&out.0).expect("readable").cells;
    assert_eq!(
        all.values().cloned().collect::<Vec<_>>(),
        [result("a", 1.0), result("b", 2.0), result("c", 3.0)]
    );
    assert!(merge(&out.0, &stores).is_err_and(|why| why.contains("exists already")));
    let strange = Folder::new("strange");
    drop(Store::open(&strange.0, &Header { seed: 3, ..header() }).expect("writable"));
    let elsewhere = Folder::new("elsewhere");
    let why = merge(&elsewhere.0, &[one.0.clone(), strange.0.clone()]).expect_err("another seed");
    assert!(why.contains("cannot be joined") && !elsewhere.file().exists(), "{why}");
}

#[test]
fn machines_of_one_kind_share_the_work_and_are_named() {
    let (one, other, out) = (Folder::new("here"), Folder::new("there"), Folder::new("both"));
    drop(filled(&one, &[result("a", 1.0)]));
    let there = Header { hosts: ["two".to_string()].into(), ..header() };
    let (mut store, _) = Store::open(&other.0, &there).expect("writable");
    store.add(&result("b", 2.0)).expect("writable");
    drop(store);
    assert_eq!(merge(&out.0, &[one.0.clone(), other.0.clone()]), Ok(2));
    let joined = read(&out.0).expect("readable").header;
    assert_eq!(joined.hosts, ["one".to_string(), "two".to_string()].into());
    assert!(Store::open(&out.0, &there).is_ok(), "one of them goes on");
}

#[test]
fn what_the_system_calls_the_machine_is_not_told() {
    let Ok(name) = std::fs::read_to_string("/etc/machine-id") else { return };
    let (one, other) = (Header::here(7, Mode::Quick, 0), Header::here(7, Mode::Quick, 0));
    assert_eq!(one.hosts, other.hosts);
    assert!(!one.hosts.contains(name.trim()), "{:?}", one.hosts);
}
