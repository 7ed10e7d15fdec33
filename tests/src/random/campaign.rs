//! Many programs: which ran, which were left out, and what is left of those that failed.
//!
//! While a program runs, it lies in the folder of failures as `running-SEED.hol`. If a mode brings the whole process down,
//! that file is what remains, and `examples/random.rs` can make it smaller with a process for every attempt.

use super::differ::{Difference, Verdict, check};
use super::minimize::minimize;
use super::{Generated, generate};
use crate::difference::difference;
use crate::modes::Mode;
use crate::parallel::check_all;
use crate::text::root;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Failures that are made smaller. The others have most likely the same reasons.
const MINIMIZED: usize = 6;
/// After so many failures, the rest of the programs is not looked at.
const MOST_FAILURES: usize = 30;
/// How long one failure may be made smaller.
pub const PATIENCE: Duration = Duration::from_secs(40);
/// Programs that run however long they take.
const FEWEST: usize = 40;
/// Of a hundred programs, so many may be ended by a limit.
const DISCARDED_PERCENT: usize = 2;

/// Programs to run.
pub struct Campaign<'a> {
    /// The seed of the first one; the others follow.
    pub first_seed: u64,
    /// How many.
    pub count: usize,
    /// In which modes. The first is the reference.
    pub modes: &'a [&'a Mode],
    /// In how many modes besides the reference each program runs. They take turns, so that many programs run in every mode.
    pub each: usize,
    /// After this time no more programs are begun, if enough were run.
    pub time: Option<Duration>,
    /// Where failures are written.
    pub folder: PathBuf,
}

/// What a campaign without failures did.
#[derive(Clone, Copy, Debug)]
pub struct Summary {
    /// Programs that ran.
    pub ran: usize,
    /// Those that a limit ended, so that nothing was compared.
    pub discarded: usize,
}

/// The folder of failures, unless somebody wants another one.
pub fn failures_folder() -> PathBuf {
    root().join("target").join("random-failures")
}

impl Campaign<'_> {
    /// Runs all, and panics with a report if modes differ, programs do not compile, or too many are left out.
    pub fn run(&self) -> Summary {
        let folder_error = std::fs::create_dir_all(&self.folder).err();
        assert!(folder_error.is_none(), "cannot make {}: {folder_error:?}", self.folder.display());
        self.forget_running();
        let started = Instant::now();
        let (ran, failed, discarded) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        let seeds: Vec<u64> =
            (0..self.count as u64).map(|number| self.first_seed.wrapping_add(number)).collect();
        let name = |seed: &u64| format!("RANDOM_SEED={seed} RANDOM_PROGRAMS=1");
        check_all(&seeds, name, |&seed| {
            let late = self.time.is_some_and(|time| started.elapsed() > time);
            if failed.load(Ordering::Relaxed) >= MOST_FAILURES
                || (late && ran.load(Ordering::Relaxed) >= FEWEST)
            {
                return Ok(());
            }
            ran.fetch_add(1, Ordering::Relaxed);
            let generated = generate(seed);
            let text = generated.tree.program_text();
            let running = self.folder.join(format!("running-{seed}.hol"));
            std::fs::write(&running, &text).map_err(|error| error.to_string())?;
            let verdict = check(&text, &self.modes_of(seed));
            std::fs::remove_file(&running).map_err(|error| error.to_string())?;
            match verdict {
                Verdict::Same => Ok(()),
                Verdict::Discarded(_) => {
                    discarded.fetch_add(1, Ordering::Relaxed);
                    Ok(())
                }
                Verdict::DoesNotCompile(errors) => {
                    failed.fetch_add(1, Ordering::Relaxed);
                    let path = self.write(seed, &text)?;
                    Err(format!("{path} does not compile:\n{errors}"))
                }
                Verdict::Different(difference) => {
                    let shrinks = failed.fetch_add(1, Ordering::Relaxed) < MINIMIZED;
                    Err(self.report(&generated, &difference, shrinks)?)
                }
            }
        });
        let summary = Summary { ran: ran.into_inner(), discarded: discarded.into_inner() };
        assert!(
            summary.discarded * 100 <= summary.ran * DISCARDED_PERCENT,
            "{} of {} programs were ended by a limit: the generator makes too much work",
            summary.discarded,
            summary.ran
        );
        summary
    }

    /// The reference, and the modes whose turn it is.
    fn modes_of(&self, seed: u64) -> Vec<&Mode> {
        let others = &self.modes[1..];
        let first = (seed as usize).wrapping_mul(self.each) % others.len().max(1);
        let turn = others.iter().cycle().skip(first).take(self.each.min(others.len()));
        self.modes[..1].iter().chain(turn).copied().collect()
    }

    /// Removes what an earlier process left that did not come to its end: somebody has seen it, or does not care.
    fn forget_running(&self) {
        for entry in std::fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with("running-") {
                // What cannot be removed is only confusing.
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }

    fn write(&self, seed: u64, text: &str) -> Result<String, String> {
        let path = self.folder.join(format!("{seed}.hol"));
        std::fs::write(&path, text).map_err(|error| error.to_string())?;
        Ok(path.display().to_string())
    }

    /// Makes a program smaller, writes it down, and says what is wrong with it.
    fn report(&self, generated: &Generated, found: &Difference, shrinks: bool) -> Result<String, String> {
        let modes: Vec<&Mode> = match self.modes.iter().find(|mode| mode.name == found.mode) {
            Some(mode) => vec![self.modes[0], mode],
            None => vec![self.modes[0]],
        };
        let mut smallest = found.clone();
        let mut tree = generated.tree.clone();
        if shrinks {
            tree = minimize(&tree, PATIENCE, &mut |text| match check(text, &modes) {
                Verdict::Different(now) if now.mode == found.mode && now.kind == found.kind => {
                    smallest = now;
                    true
                }
                _ => false,
            });
        }
        let path =
            self.write(generated.seed, &with_comments(generated.seed, &tree.program_text(), &smallest))?;
        let shown = difference(&smallest.expected, &smallest.actual);
        let (mode, kind) = (found.mode, found.kind);
        Ok(format!("{mode} differs from {} ({kind:?}); see {path}\n{shown}", self.modes[0].name))
    }
}

/// The text of a program with what is wrong about it.
pub fn with_comments(seed: u64, text: &str, difference: &Difference) -> String {
    let mut all =
        format!("// Random program {seed}: {} differs ({:?}).\n{text}", difference.mode, difference.kind);
    for (title, lines) in [("the reference", &difference.expected), (difference.mode, &difference.actual)] {
        all += &format!("\n// {title}:\n");
        for line in lines.iter().take(200) {
            all += &format!("//   {line}\n");
        }
    }
    all
}
