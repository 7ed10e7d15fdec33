//! Many independent checks on all processors, and one report.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Calls `check` for every item and panics with all failures, each under the name of its item.
pub fn check_all<T: Sync>(
    items: &[T],
    name: impl Fn(&T) -> String,
    check: impl Fn(&T) -> Result<(), String> + Sync,
) {
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(items.len().max(1));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((index, item)) = {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    items.get(index).map(|item| (index, item))
                } {
                    if let Err(failure) = check(item) {
                        failures
                            .lock()
                            .unwrap_or_else(|poisoned| poisoned.into_inner())
                            .push((index, failure));
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    if failures.is_empty() {
        return;
    }
    failures.sort();
    for (index, failure) in &failures {
        eprintln!("\n==== {}\n{}", name(&items[*index]), failure.trim_end());
    }
    panic!("{} of {} failed", failures.len(), items.len());
}
