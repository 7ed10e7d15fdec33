//! `holloway profile show`: a profile as text.

mod edges;
mod forest;
mod paths;
mod source;
mod summary;
mod threads;

use super::calls;
use super::load::load;
use super::subpaths;
use super::text::wanted;
use super::traces;
use crate::options::{ShowArguments, Topic};
use crate::report::Stop;
use holloway_profilers::kblpp::Pruning;

/// What is asked for, as text.
pub fn show(arguments: &ShowArguments) -> Result<String, Stop> {
    let &[parent, root] = &*arguments.prune else {
        return Err(Stop::usage("--prune takes two percentages: of the parent and of the root"));
    };
    let pruning = Pruning::new(parent.0, root.0).map_err(Stop::usage)?;
    let profile = load(&arguments.file, arguments.thread)?;
    let wanted = wanted(&profile, arguments.method.as_ref())?;
    let top = arguments.top;
    Ok(match arguments.kind {
        None => {
            let parts = [
                Some(summary::summary(&profile)),
                profile.file.threads.is_some().then(|| threads::threads(&profile, top)),
                (profile.best().is_some()
                    || profile.file.traces.is_none() && profile.file.subpaths.is_none())
                .then(|| paths::paths(&profile, top, &wanted)),
                profile.file.traces.is_some().then(|| traces::show(&profile, top, &wanted)),
                profile.file.subpaths.is_some().then(|| subpaths::show(&profile, top, &wanted)),
                Some(edges::edges(&profile, top, &wanted)),
                calls::best(&profile).map(|_| calls::calls(&profile, top, &wanted)),
            ];
            parts.into_iter().flatten().collect::<Vec<String>>().join("\n")
        }
        Some(Topic::Paths) => paths::paths(&profile, top, &wanted),
        Some(Topic::Edges) => edges::edges(&profile, top, &wanted),
        Some(Topic::Traces) => traces::show(&profile, top, &wanted),
        Some(Topic::Subpaths) => subpaths::show(&profile, top, &wanted),
        Some(Topic::Calls) => calls::calls(&profile, top, &wanted),
        Some(Topic::Source) => source::source(&profile, &wanted),
        Some(Topic::Threads) => threads::threads(&profile, top),
        Some(Topic::Forest) => forest::forest(&profile, top, pruning, &wanted),
    })
}
