//! What is wrong with a profile: references to what is not there, names that are there twice, counts of what cannot be, sums
//! that no number holds. A profile without problems can be looked at without further questions.

use holloway_profilers::VersionId;
use holloway_profilers::kblpp::{Gram, K, PathForest};
use holloway_profilers::osp::MAX_LENGTH;
use holloway_profilers::schedule::Counts;
use holloway_profilers::stream::Lost;
use holloway_vm::profiling::file::{
    CountRecord, ForestRecord, PathRecord, PlaceRecord, ProfileFile, SequenceRecord, TraceRecords,
    WindowRecord,
};
use holloway_vm::profiling::{CallRecords, ProfileSpec};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

/// Nothing has more ways to go: a file that says so would have us reserve the memory.
const MOST_ARMS: u32 = 1 << 20;

/// Nor have all branches together.
const MOST_ARMS_OF_ALL: u64 = 1 << 22;

/// No sum of counts, times the branches on a path, may be larger: all arithmetic on it is exact.
const MOST: u128 = 1 << 62;

/// Everything that is wrong, in the order of the file. Empty if nothing is.
pub fn problems(file: &ProfileFile) -> Vec<String> {
    let mut look = Look::new(file);
    look.tables();
    look.edges();
    look.paths();
    look.counts();
    if let Some(forest) = &file.iterated {
        look.forest("the forest", forest);
    }
    if let Some(windows) = &file.windowed {
        look.windows("the windows", windows);
    }
    look.calls("", &file.calls);
    look.over_time();
    look.traces();
    look.subpaths();
    look.profilers();
    look.threads();
    look.problems
}

/// What is known while looking.
struct Look<'f> {
    file: &'f ProfileFile,
    methods: BTreeSet<u32>,
    versions: BTreeMap<u32, u64>,
    paths: BTreeMap<(u32, u64), &'f PathRecord>,
    problems: Vec<String>,
}

impl<'f> Look<'f> {
    fn new(file: &'f ProfileFile) -> Look<'f> {
        Look {
            file,
            methods: file.methods.iter().map(|method| method.id).collect(),
            versions: file.versions.iter().map(|version| (version.id, version.paths)).collect(),
            paths: file.paths.iter().map(|path| ((path.version, path.number), path)).collect(),
            problems: Vec::new(),
        }
    }

    fn wrong(&mut self, what: impl Display) {
        self.problems.push(what.to_string());
    }

    fn place(&mut self, whose: &dyn Display, place: &PlaceRecord) {
        self.method(whose, place.method);
        if place.file as usize >= self.file.program.files.len() {
            let files = self.file.program.files.len();
            self.wrong(format_args!("{whose} refers to file {}, and there are {files}", place.file));
        }
    }

    fn tables(&mut self) {
        let file = self.file;
        let work = [file.work.hash_operations, file.work.hash_probes];
        self.sum(&"operations on tables", work.map(u128::from).into_iter().sum());
        if self.methods.len() < file.methods.len() {
            self.wrong("two methods have the same number");
        }
        for method in &file.methods {
            if let Some((at, _)) = method.begin.filter(|&(at, _)| at as usize >= file.program.files.len()) {
                self.wrong(format_args!("method {} begins in file {at}, which there is not", method.id));
            }
        }
        let mut known = BTreeSet::new();
        for (number, branch) in file.branches.iter().enumerate() {
            let whose = format!("branch {number}");
            self.place(&whose, &branch.place);
            if !known.insert((branch.place.method, branch.place.position)) {
                self.wrong(format_args!("{whose} is there twice"));
            }
            if !(2..=MOST_ARMS).contains(&branch.arms) {
                self.wrong(format_args!("{whose} has {} arms", branch.arms));
            }
        }
        let arms: u64 = file.branches.iter().map(|branch| u64::from(branch.arms)).sum();
        if arms > MOST_ARMS_OF_ALL {
            self.wrong(format_args!("all branches together have {arms} arms"));
        }
        if self.versions.len() < file.versions.len() {
            self.wrong("two versions have the same number");
        }
        for version in &file.versions {
            if !self.methods.contains(&version.method) {
                let (id, method) = (version.id, version.method);
                self.wrong(format_args!("version {id} refers to method {method}, which is not there"));
            }
        }
    }

    fn edges(&mut self) {
        let edges = &self.file.edges;
        let all = [
            ("baseline", Some(&edges.baseline)),
            ("exact", edges.exact.as_ref()),
            ("sampled", edges.sampled.as_ref()),
            ("subpath", edges.subpaths.as_ref()),
        ];
        for (name, rows) in all.into_iter().filter_map(|(name, rows)| Some((name, rows?))) {
            self.edges_of(&format!("{name} edges"), rows);
        }
    }

    fn edges_of(&mut self, name: &str, rows: &[(u32, Vec<u64>)]) {
        let mut known = BTreeSet::new();
        let mut sum = 0u128;
        for (number, arms) in rows {
            match self.file.branches.get(*number as usize) {
                None => {
                    let there = self.file.branches.len();
                    self.wrong(format_args!("{name} refer to branch {number}, and there are {there}"));
                }
                Some(branch) if arms.len() > branch.arms as usize => {
                    let (has, counts) = (branch.arms, arms.len());
                    self.wrong(format_args!(
                        "{name} have {counts} counts of branch {number}, which has {has} arms"
                    ));
                }
                Some(_) => {}
            }
            if !known.insert(number) {
                self.wrong(format_args!("{name} have branch {number} twice"));
            }
            sum += arms.iter().map(|&count| u128::from(count)).sum::<u128>();
        }
        self.sum(&name, sum);
    }

    fn traces(&mut self) {
        let Some(traces) = &self.file.traces else { return };
        self.sites(traces);
        let mut known = BTreeSet::new();
        let mut sum = 0u128;
        for (number, path) in traces.paths.iter().enumerate() {
            let whose = format!("path {number} of branch traces");
            self.method(&whose, path.owner());
            self.place(&whose, &path.begin);
            self.place(&whose, &path.end);
            let ends = [(path.blocks.first(), &path.begin), (path.blocks.last(), &path.end)];
            for (block, place) in ends.into_iter().filter_map(|(block, place)| Some((*block?, place))) {
                let (method, word) = traces.place_of(path.owner(), block);
                if (method, word) != (place.method, place.position) {
                    self.wrong(format_args!(
                        "{whose} has block {block}, which is word {word} of method {method}, and is said to be word {} of method {}",
                        place.position, place.method
                    ));
                }
            }
            if !known.insert((path.owner(), &path.blocks)) {
                self.wrong(format_args!("{whose} is there twice"));
            }
            if path.blocks.is_empty() {
                self.wrong(format_args!("{whose} has no block"));
            }
            if !(0.0..=MOST as f64).contains(&path.weight) {
                self.wrong(format_args!("{whose} has a weight of {}", path.weight));
            }
            self.arms(&whose, &path.branches);
            sum += u128::from(path.count.unwrap_or(0)) * (path.branches.len() as u128 + 1);
        }
        self.sum(&"the full paths of regions", sum);
        if traces.paths.iter().any(|path| path.count.is_some() != traces.paths[0].count.is_some()) {
            self.wrong("some paths of branch traces have exact counts, and others have none");
        }
        for (number, run) in traces.runs.iter().enumerate() {
            self.method(&format!("run {number} of branch traces"), run.method);
            if run.blocks.is_empty() {
                self.wrong(format_args!("run {number} of branch traces has no block"));
            }
        }
        let counts = traces.runs.iter().map(|run| run.count);
        let counts = counts.chain(traces.discarded.values().chain(traces.crossings.values()).copied());
        let counts = counts.chain(traces.crossing_samples.values().copied());
        let counts = counts.chain([traces.samples, traces.lost, traces.empty, traces.without_edge]);
        let counts = counts.chain([traces.flow, traces.partials, traces.matches]);
        self.sum(&"branch traces", counts.map(u128::from).sum());
        let lengths = [traces.initial_length, traces.extended_length, traces.repaired, traces.traces];
        let cut = traces.lengths.iter().flat_map(|of| [of.calls, of.loops, of.regions]);
        let cut = cut.flat_map(|of| [of.pieces, of.instructions]);
        self.sum(&"lengths of branch traces", lengths.into_iter().chain(cut).map(u128::from).sum());
    }

    /// Hot calls name a block each, and have words of their own for what they add to their method.
    fn sites(&mut self, traces: &TraceRecords) {
        let mut blocks = BTreeSet::new();
        let mut ends: BTreeMap<u32, u32> = BTreeMap::new();
        for site in &traces.sites {
            let end = ends.entry(site.method).or_insert(site.after);
            *end = site.after.min(*end);
        }
        for (number, site) in traces.sites.iter().enumerate() {
            let whose = format!("hot call {number} of branch traces");
            self.method(&whose, site.method);
            self.method(&whose, site.callee);
            if site.callee == site.method {
                self.wrong(format_args!("{whose} is of the method itself"));
            }
            if !blocks.insert((site.method, site.block)) {
                self.wrong(format_args!("{whose} is the second one of its block"));
            }
            let before = number.checked_sub(1).map(|before| traces.sites[before]);
            if before.is_some_and(|before| (before.method, before.after) >= (site.method, site.after)) {
                self.wrong(format_args!("{whose} is not behind the one before it"));
            }
            if let Some(first) = ends.get(&site.method).filter(|&&first| site.block >= first) {
                let block = site.block;
                self.wrong(format_args!(
                    "{whose} is in block {block}, and the method ends before word {first}"
                ));
            }
        }
    }

    fn subpaths(&mut self) {
        let Some(subpaths) = &self.file.subpaths else { return };
        let there = subpaths.blocks.len();
        let mut numbers = BTreeSet::new();
        for block in &subpaths.blocks {
            self.place(&"a block of subpaths", &block.place);
            if !numbers.insert(block.number) {
                self.wrong(format_args!("block {} of subpaths is there twice", block.number));
            }
        }
        let exact = subpaths.exact.iter().flat_map(|exact| &exact.paths).map(|path| &path.blocks);
        let sampled = subpaths.sampled.iter().flat_map(|sampled| &sampled.paths);
        for blocks in exact.chain(sampled.clone().filter_map(|path| path.blocks.as_ref())) {
            if !(1..=MAX_LENGTH as usize).contains(&blocks.len()) {
                self.wrong(format_args!("a subpath has {} blocks", blocks.len()));
            }
            if let Some(block) = blocks.iter().find(|&&block| block as usize >= there) {
                self.wrong(format_args!("a subpath refers to block {block}, and there are {there}"));
            }
        }
        let all = subpaths.exact.iter().flat_map(|exact| {
            let kept = exact.paths.iter().map(|path| path.count);
            let flows = exact.encodings.iter().map(|census| census.flow);
            kept.chain(exact.lengths.iter().map(|of| of.1)).chain(flows).chain([exact.blocks])
        });
        let samples = subpaths.sampled.iter().flat_map(|of| [of.taken, of.abandoned, of.blocks]);
        let sum = all.chain(samples).chain(sampled.clone().map(|path| path.count)).map(u128::from).sum();
        self.sum(&"subpaths", sum);
        let estimates = sampled.flat_map(|path| [path.estimate, path.low, path.high, path.surely]);
        let windows = subpaths.sampled.iter().flat_map(|of| of.lengths.iter().map(|of| of.windows));
        if let Some(value) = estimates.chain(windows).find(|value| !(0.0..=MOST as f64).contains(value)) {
            self.wrong(format_args!("subpaths were executed {value} times by estimate"));
        }
    }

    fn sum(&mut self, whose: &dyn Display, sum: u128) {
        if sum > MOST {
            self.wrong(format_args!("the counts of {whose} add up to more than can be: {sum}"));
        }
    }

    fn paths(&mut self) {
        if self.paths.len() < self.file.paths.len() {
            self.wrong("two paths of a version have the same number");
        }
        for path in &self.file.paths {
            let whose = format!("path {} of version {}", path.number, path.version);
            match self.versions.get(&path.version) {
                None => self.wrong(format_args!("{whose}: there is no such version")),
                Some(&paths) if path.number >= paths => {
                    self.wrong(format_args!("{whose}: the version has {paths} paths"));
                }
                Some(_) => {}
            }
            self.place(&whose, &path.begin);
            self.place(&whose, &path.end);
            for (what, word, allowed) in
                [("begins", &path.begins, ["entry", "cut"]), ("ends", &path.ends, ["exit", "cut"])]
            {
                if !allowed.contains(&&**word) {
                    self.wrong(format_args!("{whose} {what} in a way that is not known: {word:?}"));
                }
            }
            self.arms(&whose, &path.branches);
            if path.branches.len() > path.length as usize {
                let (branches, length) = (path.branches.len(), path.length);
                self.wrong(format_args!("{whose} has {branches} branches and a length of {length}"));
            }
        }
    }

    /// How much a count can add to a sum; 0 if it is of nothing.
    fn weight(&self, version: u32, number: u64, count: u64) -> u128 {
        self.paths
            .get(&(version, number))
            .map_or(0, |path| u128::from(count) * u128::from(path.length.max(1)))
    }

    fn counts(&mut self) {
        let exact = self.file.exact.as_deref().map(|counts| ("exact counts", counts));
        let sampled = self.file.sampled.as_ref().map(|sampled| ("samples", &*sampled.paths));
        for (name, counts) in [exact, sampled].into_iter().flatten() {
            self.counts_of(name, counts);
        }
        if let Some(sampled) = &self.file.sampled {
            self.window(&"the window", &sampled.window);
        }
        self.dropped("what was dropped", &self.file.dropped);
    }

    fn counts_of(&mut self, name: &str, counts: &[CountRecord]) {
        let mut known = BTreeSet::new();
        let mut sum = 0u128;
        for &CountRecord { version, number, count } in counts {
            if !self.paths.contains_key(&(version, number)) {
                self.wrong(format_args!(
                    "{name} refer to path {number} of version {version}, which is not there"
                ));
            }
            if !known.insert((version, number)) {
                self.wrong(format_args!("{name} have path {number} of version {version} twice"));
            }
            sum += self.weight(version, number, count);
        }
        self.sum(&name, sum);
    }

    fn dropped(&mut self, name: &str, dropped: &BTreeMap<String, u64>) {
        self.sum(&name, dropped.values().map(|&count| u128::from(count)).sum());
        for reason in dropped.keys() {
            if !Lost::ALL.iter().any(|known| known.name() == reason) {
                self.wrong(format_args!("paths were dropped for a reason that is not known: {reason:?}"));
            }
        }
    }

    /// Threads have no tables of their own: what they counted is as the counts of all, and each profiler that ran has its part.
    fn threads(&mut self) {
        let file = self.file;
        let Some(threads) = &file.threads else { return };
        let mut known = BTreeSet::new();
        for thread in threads {
            let name = thread.thread.map_or("the rest".to_string(), |number| format!("thread {number}"));
            if !known.insert(thread.thread) {
                self.wrong(format_args!("{name} is there twice"));
            }
            if thread.thread.is_some() && thread.threads != 1 {
                self.wrong(format_args!("{name} is {} threads", thread.threads));
            }
            if let Some(method) = thread.method.filter(|method| !self.methods.contains(method)) {
                self.wrong(format_args!("{name} refers to method {method}, which is not there"));
            }
            if let Some(edges) = &thread.edges {
                self.edges_of(&format!("edges of {name}"), edges);
            }
            if let Some(counts) = &thread.exact {
                self.counts_of(&format!("exact counts of {name}"), counts);
            }
            if let Some(samples) = &thread.sampled {
                self.counts_of(&format!("samples of {name}"), samples);
            }
            if let Some(forest) = &thread.iterated {
                self.forest(&format!("the forest of {name}"), forest);
            }
            if let Some(windows) = &thread.windowed {
                self.windows(&format!("the windows of {name}"), windows);
            }
            self.dropped(&format!("what {name} dropped"), &thread.dropped);
            self.calls(&format!(" of {name}"), &thread.calls);
            let parts = [
                ("exact edges", file.edges.exact.is_some(), thread.edges.is_some()),
                ("exact counts", file.exact.is_some(), thread.exact.is_some()),
                ("samples", file.sampled.is_some(), thread.sampled.is_some()),
                ("a forest", file.iterated.is_some(), thread.iterated.is_some()),
                ("windows", file.windowed.is_some(), thread.windowed.is_some()),
                ("exact counts of calls", file.calls.exact.is_some(), thread.calls.exact.is_some()),
                ("samples of calls", file.calls.sampled.is_some(), thread.calls.sampled.is_some()),
                ("heard calls", file.calls.heard.is_some(), thread.calls.heard.is_some()),
                ("inline caches", file.calls.cached.is_some(), thread.calls.cached.is_some()),
            ];
            for (part, of_all, its) in parts {
                match (of_all, its) {
                    (true, false) => self.wrong(format_args!("the profile has {part}, and {name} has none")),
                    (false, true) => self.wrong(format_args!("{name} has {part}, and the profile has none")),
                    _ => {}
                }
            }
        }
    }

    /// Each refers to paths that are there, is there once, and has as many paths as it may; and what is refused has none.
    fn windows(&mut self, name: &str, windows: &WindowRecord) {
        let mut known = BTreeSet::new();
        let mut sum = 0u128;
        for SequenceRecord { version, numbers, count } in &windows.sequences {
            if let Some(number) =
                numbers.iter().find(|&&number| !self.paths.contains_key(&(*version, number)))
            {
                self.wrong(format_args!(
                    "{name} refer to path {number} of version {version}, which is not there"
                ));
            }
            if !(1..=windows.k as usize).contains(&numbers.len()) {
                self.wrong(format_args!(
                    "{name} have one of {} paths, and k is {}",
                    numbers.len(),
                    windows.k
                ));
            }
            if !known.insert((version, numbers)) {
                self.wrong(format_args!("{name} have {numbers:?} of version {version} twice"));
            }
            if windows.refused.contains(version) {
                self.wrong(format_args!("{name} have one of version {version}, which is refused"));
            }
            let weight = numbers.iter().map(|&number| self.weight(*version, number, *count)).max();
            sum += weight.unwrap_or(0).max(u128::from(*count));
        }
        if let Some(version) = windows.refused.iter().find(|version| !self.versions.contains_key(version)) {
            self.wrong(format_args!("{name} refuse version {version}, which is not there"));
        }
        let of = &windows.statistics;
        let work = [of.hash_operations, of.hash_probes, of.entries, of.bytes];
        sum += work.into_iter().map(u128::from).sum::<u128>();
        self.sum(&name, sum);
    }

    fn forest(&mut self, name: &str, forest: &ForestRecord) {
        let k = match K::new(forest.k) {
            Ok(k) => k,
            Err(error) => return self.wrong(format_args!("{name} has {error}")),
        };
        let mut sum = 0u128;
        for sequence in &forest.sequences {
            let version = sequence.version;
            for &number in &sequence.numbers {
                if !self.paths.contains_key(&(version, number)) {
                    self.wrong(format_args!(
                        "{name} refers to path {number} of version {version}, which is not there"
                    ));
                }
            }
            let first = sequence.numbers.first().copied().unwrap_or_default();
            sum += self.weight(version, first, sequence.count).max(u128::from(sequence.count));
        }
        self.sum(&name, sum);
        let gram = |sequence: &SequenceRecord| Gram {
            version: VersionId(sequence.version),
            paths: sequence.numbers.clone(),
            count: sequence.count,
        };
        let grams: Vec<Gram> = forest.sequences.iter().map(gram).collect();
        if let Err(why) = PathForest::of_grams(k, &grams) {
            self.wrong(format_args!("{name} is out of order: {why}"));
        }
    }

    /// Calls of all, or of `owner`.
    fn calls(&mut self, owner: &str, calls: &CallRecords) {
        let samples = calls.sampled.as_ref();
        let credited = calls.credited.as_ref().map(|of| &of.calls);
        let all = [
            ("exact calls", calls.exact.as_ref()),
            ("sampled calls", samples.map(|of| &of.calls)),
            ("credited calls", credited),
            ("heard calls", calls.heard.as_ref().map(|of| &of.calls)),
            ("calls in caches", calls.cached.as_ref().map(|of| &of.calls)),
        ];
        for (name, records) in all.into_iter().filter_map(|(name, records)| Some((name, records?))) {
            let name = format!("{name}{owner}");
            let mut known = BTreeSet::new();
            for of in records {
                self.place(&name, &of.site);
                self.method(&name, of.callee);
                if !known.insert((of.site.method, of.site.position, of.callee)) {
                    self.wrong(format_args!("{name} have a call twice"));
                }
            }
            self.sum(&name, records.iter().map(|of| u128::from(of.count)).sum());
        }
        if let Some(heard) = &calls.heard {
            let name = format!("the bursts{owner}");
            let mut known = BTreeSet::new();
            for burst in &heard.bursts {
                self.method(&name, burst.method);
                if !known.insert(burst.method) {
                    self.wrong(format_args!("{name} have method {} twice", burst.method));
                }
            }
            let entries = heard.bursts.iter().map(|burst| u128::from(burst.entries)).sum::<u128>();
            self.sum(&name, entries + u128::from(heard.roots));
        }
        if let Some(cached) = &calls.cached {
            let name = format!("lost calls{owner}");
            let mut known = BTreeSet::new();
            for lost in &cached.lost {
                self.place(&name, &lost.site);
                if !known.insert((lost.site.method, lost.site.position)) {
                    self.wrong(format_args!("{name} have a site twice"));
                }
            }
            self.sum(&name, cached.lost.iter().map(|lost| u128::from(lost.count)).sum());
        }
        let Some(samples) = samples else { return };
        self.window(&format!("the window of calls{owner}"), &samples.window);
        for (at, of) in samples.contexts.iter().flatten().enumerate() {
            let whose = format!("context {at}{owner}");
            self.method(&whose, of.method);
            if of.parent.is_some_and(|parent| parent as usize >= at)
                || of.parent.is_some() != of.site.is_some()
            {
                self.wrong(format_args!("{whose} has no caller in front of it"));
            }
            if let Some(site) = &of.site {
                self.place(&whose, site);
            }
        }
        let contexts = samples.contexts.iter().flatten().map(|of| u128::from(of.count)).sum();
        self.sum(&format!("the contexts{owner}"), contexts);
    }

    fn over_time(&mut self) {
        let Some(record) = &self.file.calls.over_time else { return };
        for pair in &record.calls {
            self.place(&"a call over time", &pair.site);
            self.method(&"a call over time", pair.callee);
        }
        let mut before = None;
        for moment in &record.moments {
            if before.is_some_and(|before| before >= moment.ticks) {
                self.wrong(format_args!("the moment after {} ticks is out of order", moment.ticks));
            }
            before = Some(moment.ticks);
            for counts in [&moment.sampled, &moment.credited, &moment.heard].into_iter().flatten() {
                let known: BTreeSet<u32> = counts.iter().map(|&(call, _)| call).collect();
                if known.len() < counts.len() {
                    self.wrong(format_args!("the moment after {} ticks has a call twice", moment.ticks));
                }
                if let Some(call) = known.last().filter(|&&call| call as usize >= record.calls.len()) {
                    let there = record.calls.len();
                    self.wrong(format_args!("a moment refers to call {call}, and there are {there}"));
                }
                let sum = counts.iter().map(|&(_, count)| u128::from(count)).sum();
                self.sum(&"a moment", sum);
            }
        }
    }

    /// Branches of a path, by position in the table, with how they went.
    fn arms(&mut self, whose: &dyn Display, branches: &[(u32, u32)]) {
        for &(branch, arm) in branches {
            match self.file.branches.get(branch as usize) {
                None => {
                    let there = self.file.branches.len();
                    self.wrong(format_args!("{whose} refers to branch {branch}, and there are {there}"));
                }
                Some(known) if arm >= known.arms => {
                    let arms = known.arms;
                    self.wrong(format_args!("{whose} has arm {arm} of branch {branch}, which has {arms}"));
                }
                Some(_) => {}
            }
        }
    }

    fn method(&mut self, whose: &dyn Display, method: u32) {
        if !self.methods.contains(&method) {
            self.wrong(format_args!("{whose} refers to method {method}, which is not there"));
        }
    }

    fn window(&mut self, whose: &dyn Display, window: &Counts) {
        let all = [window.ticks, window.windows, window.taken, window.skipped];
        let all = all.into_iter().chain([window.ignored, window.restarted, window.cancelled]);
        self.sum(whose, all.map(u128::from).sum());
    }

    /// Each profiler leaves its part, and no other does.
    fn profilers(&mut self) {
        let file = self.file;
        let subpaths = file.subpaths.as_ref();
        let parts = [
            ("edges", "exact edges", file.edges.exact.is_some()),
            ("blpp", "exact counts of paths", file.exact.is_some()),
            ("pep", "samples", file.sampled.is_some()),
            ("pep", "sampled edges", file.edges.sampled.is_some()),
            ("kblpp", "a forest", file.iterated.is_some()),
            ("kroy", "windows", file.windowed.is_some()),
            ("calls", "exact counts of calls", file.calls.exact.is_some()),
            ("cbs", "samples of calls", file.calls.sampled.is_some()),
            ("oneshot", "heard calls", file.calls.heard.is_some()),
            ("icache", "inline caches", file.calls.cached.is_some()),
            ("subpaths", "exact counts of subpaths", subpaths.is_some_and(|of| of.exact.is_some())),
            ("osp", "samples of subpaths", subpaths.is_some_and(|of| of.sampled.is_some())),
        ];
        for text in &file.profilers {
            if let Err(why) = text.parse::<ProfileSpec>() {
                self.wrong(format_args!("a profiler is not known: {why}"));
            }
        }
        let ran = |name: &str| file.profilers.iter().any(|text| text.split(':').next() == Some(name));
        for (name, part, is_there) in parts {
            match (ran(name), is_there) {
                (true, false) => self.wrong(format_args!("`{name}` ran, but there are no {part}")),
                (false, true) => self.wrong(format_args!("there are {part}, but `{name}` did not run")),
                _ => {}
            }
        }
    }
}
