//! Doing cells: what the store has is not done again; each result is kept before the next begins. Cells that measure time have the
//! machine for themselves; those that count take turns on all processors.

use super::Ended;
use super::arguments::MeasureArguments;
use super::child::{Failure, is_scratch, perform};
use crate::interrupt::Interrupt;
use crate::report::{Stop, bar, say};
use holloway_experiments::catalogue::{self, Experiment};
use holloway_experiments::cell::Cell;
use holloway_experiments::store::{CellResult, Header, Store};
use indicatif::{HumanDuration, ProgressBar};
use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Does what is not done yet.
pub fn run(experiments: &[&Experiment], arguments: &MeasureArguments) -> Result<Ended, Stop> {
    let (plan, folder) = (arguments.plan(), arguments.folder());
    let header = Header::here(binary().map_err(Stop::failure)?, plan.mode, plan.seed);
    let (store, stored) = Store::open(&folder, &header).map_err(Stop::usage)?;
    remove_left_over(&folder);
    let mut cells = catalogue::cells(experiments, &plan);
    cells.retain(|cell| arguments.shard.is_none_or(|shard| cell.is_of(shard)));
    let of_all = cells.len();
    let is_known = |cell: &Cell| {
        stored.cells.get(&cell.key()).is_some_and(|of| of.outcome.is_some() || !arguments.retry)
    };
    let failed =
        cells.iter().filter(|cell| is_known(cell) && stored.cells[&cell.key()].outcome.is_none()).count();
    cells.retain(|cell| !is_known(cell));
    let time = expected(&cells);
    if cells.len() < of_all {
        say(format_args!(
            "{} of {of_all} results are in {} already\n",
            of_all - cells.len(),
            folder.display()
        ));
    }
    if !cells.is_empty() {
        say(format_args!("{} to be measured, about {}\n", cells.len(), HumanDuration(time)));
    }
    let interrupt = Interrupt::new();
    interrupt.listen();
    let bar = bar(cells.len() as u64, "{wide_msg}");
    if !bar.is_hidden() {
        bar.enable_steady_tick(Duration::from_millis(500));
    }
    let desk = Desk {
        folder: &folder,
        store: Mutex::new(store),
        interrupt,
        failed: AtomicUsize::new(failed),
        broken: Mutex::new(None),
        bar,
        left: Mutex::new(time),
    };
    let (timed, counting): (Vec<&Cell>, Vec<&Cell>) = cells.iter().partition(|cell| cell.is_timed);
    desk.work(&timed, 1);
    desk.work(&counting, std::thread::available_parallelism().map_or(1, usize::from));
    desk.bar.finish_and_clear();
    if let Some(why) = desk.broken.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(Stop::failure(why));
    }
    let interrupted = desk.interrupt.was_pressed();
    if interrupted {
        say(format_args!("interrupted; the same command goes on from here\n"));
    }
    let failed = desk.failed.into_inner();
    if failed > 0 {
        say(format_args!("{failed} of {of_all} failed; --retry does these again\n"));
    }
    Ok(Ended { folder, plan, failed, interrupted })
}

/// How long cells take together.
fn expected(cells: &[Cell]) -> Duration {
    let sum =
        |timed: bool| cells.iter().filter(|of| of.is_timed == timed).map(|of| of.estimate).sum::<Duration>();
    sum(true) + sum(false) / std::thread::available_parallelism().map_or(1, |n| n.get() as u32)
}

/// What those who do cells share.
struct Desk<'a> {
    folder: &'a Path,
    store: Mutex<Store>,
    interrupt: Arc<Interrupt>,
    failed: AtomicUsize,
    /// Why nothing more can be done.
    broken: Mutex<Option<String>>,
    bar: ProgressBar,
    /// Estimated time of what is not done yet.
    left: Mutex<Duration>,
}

impl Desk<'_> {
    /// Does the cells, so many at once.
    fn work(&self, cells: &[&Cell], workers: usize) {
        let next = AtomicUsize::new(0);
        let worker = || {
            while let Some(&cell) = cells.get(next.fetch_add(1, Ordering::SeqCst)) {
                if self.is_over() {
                    break;
                }
                self.one(cell, workers);
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..workers.min(cells.len()) {
                scope.spawn(worker);
            }
        });
    }

    fn is_over(&self) -> bool {
        self.interrupt.was_pressed() || lock(&self.broken).is_some()
    }

    fn one(&self, cell: &Cell, workers: usize) {
        let start = Instant::now();
        let key = cell.key();
        self.bar.set_message(format!("about {} left: {key}", HumanDuration(*lock(&self.left))));
        let performed = perform(cell, self.folder, &|| self.is_over());
        let (outcome, error) = match performed {
            // JSON has no such numbers: the line could not be read again.
            Ok(outcome) if !outcome.is_finite() => {
                (None, Some("a number of its output is not finite".into()))
            }
            Ok(outcome) => (Some(outcome), None),
            Err(Failure::Failed(why)) => (None, Some(why)),
            Err(Failure::Stopped) => return,
            Err(Failure::Impossible(why)) => return self.break_off(why),
        };
        if let Some(why) = &error {
            self.failed.fetch_add(1, Ordering::SeqCst);
            self.bar.suspend(|| say(format_args!("failed: {key}: {why}\n")));
        }
        let result = CellResult { cell: key, seconds: start.elapsed().as_secs_f64(), outcome, error };
        if let Err(why) = lock(&self.store).add(&result) {
            return self.break_off(why);
        }
        let mut left = lock(&self.left);
        *left = left.saturating_sub(if cell.is_timed {
            cell.estimate
        } else {
            cell.estimate / workers.max(1) as u32
        });
        self.bar.inc(1);
    }

    fn break_off(&self, why: String) {
        lock(&self.broken).get_or_insert(why);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Folders of cells that were being done when a process was killed. The lock on the store says that nobody uses them.
fn remove_left_over(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_folder = entry.file_type().is_ok_and(|of| of.is_dir());
        if is_folder && is_scratch(&entry.file_name().to_string_lossy()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// A digest of this binary.
fn binary() -> Result<u64, String> {
    let cannot = |error: std::io::Error| format!("cannot read this binary: {error}");
    let mut file = std::env::current_exe().and_then(std::fs::File::open).map_err(cannot)?;
    let (mut digest, mut buffer) = (0xcbf2_9ce4_8422_2325_u64, vec![0; 1 << 20]);
    loop {
        let read = file.read(&mut buffer).map_err(cannot)?;
        if read == 0 {
            return Ok(digest);
        }
        for word in buffer[..read].chunks(8) {
            let mut bytes = [0; 8];
            bytes[..word.len()].copy_from_slice(word);
            digest = (digest ^ u64::from_le_bytes(bytes)).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
        }
    }
}
