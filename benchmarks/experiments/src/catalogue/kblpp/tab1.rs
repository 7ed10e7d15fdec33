//! D'Elia and Demetrescu 2013, table 1: the k-iteration profiler beside others.

use super::fig14::{self, Reading, cell as cost};
use super::forest;
use super::relative::Relative;
use crate::catalogue::overheads::{Costs, bars, categories};
use crate::catalogue::tables::{entry, table, text};
use crate::catalogue::{Experiment, Findings, programs};
use crate::cell::{Cell, RESULT};
use crate::plan::Plan;
use crate::reduce::Reduction;
use crate::report::model::{Cell as Entry, Measured, Series, Unit};
use crate::results::{Results, exactly, mean};
use crate::verdict::{Bound, shown};

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "kblpp-tab1",
    place: "Table 1",
    title: "k-BLPP beside Ball-Larus profiling and numbers of paths over k iterations",
    says: &[
        "The table compares techniques by what they profile, what they cost relative to Ball-Larus profiling, how many variables they need, and whether they are fully accurate and cross calls. It has no numbers: \
         the costs are `larger` for Tallam et al., Roy and Srikant, Li et al. and Young, and `smaller` for k-BLPP alone. The text says why: numbers of paths over k iterations outgrow a word, tables become large, and \
         each path is looked up; Roy and Srikant give up at 60,000 paths over k iterations in a method.",
        "Here one competitor is built and measured, `--profile kroy:k=K`, after Roy and Srikant: the last k paths of an activation are one number, which is counted in a hash table wherever a path ends. It differs from theirs in that the number is made from \
         those of single paths, by a shift, an addition and a mask in the compiled code, where theirs adds to k staggered registers on edges; so it is the cheaper of the two, and needs one variable beside the path register where theirs needs k. \
         It is emitted by the same compiler, with the same path register, ends of paths and hash table as Ball-Larus profiling. Code whose numbers do not fit 64 bits is refused, and counted.",
        "Costs are overheads over that of Ball-Larus profiling in a hash table, the mean over programs with a 95 % interval, as in figure 14, over the classic programs, of which figure 14 has nine; beside it stand ratios of times, and both over Ball-Larus profiling in an array. A program with refused code is left out of its mean, for what is not counted costs nothing. \
         A hash operation is cheaper here than in the paper, where it is one of Java: a multiplication, and a comparison that mostly hits. So numbers of k iterations cost little more than those of one, and fewer hash operations save k-BLPP \
         little, while its step from node to node is searched for where not always the same path follows. How many operations there are does not depend on what they cost.",
        "Hash updates are counted in runs that all three profilers watch together, two iterations with everything compiled at once, and of k-BLPP as the paper counts them: one for each chunk. In the same runs accuracy is not claimed but looked at: \
         a sequence of up to k paths must have run as often as windows end with it, as often as the forest says, and a single path as often as Ball-Larus profiling says. Forest and windows are compared with lists of all paths in the tests of the two. That sequences end where activations do is seen in their paths, too.",
        "Variables are told as they are here, not measured. In full mode k is 2, 4, 8 and 16, in little time 2, 4 and 16.",
    ],
    cells: |plan| {
        let names = names(plan);
        let flags = techniques(plan).into_iter().map(Technique::flags).chain([fig14::ARRAY.to_string()]);
        let timed = flags
            .flat_map(|flags| names.iter().map(move |name| cost(plan, name, &flags)).collect::<Vec<_>>());
        timed
            .chain(
                counted_names(plan)
                    .into_iter()
                    .flat_map(|name| ks(plan).into_iter().map(move |k| counted(name, k))),
            )
            .collect()
    },
    conclude,
};

/// Of those of figure 14: two with long loops, and one with short activations.
const QUICK: &[&str] = &["queens", "list", "storage"];
/// What the competitor is measured with.
const WINDOWS: [u32; 2] = [2, 3];

fn names(plan: &Plan) -> Vec<&'static str> {
    plan.programs(QUICK, programs::CLASSIC)
}

/// Classic ones. Also of those whose cost is measured it must be known whether code is refused.
fn counted_names(plan: &Plan) -> Vec<&'static str> {
    let mut all = forest::names(plan);
    all.retain(|name| programs::CLASSIC.contains(name));
    let costed: Vec<&str> = names(plan).into_iter().filter(|name| !all.contains(name)).collect();
    all.extend(costed);
    all
}

/// Some of figure 14, so that their cells are shared.
fn ks(plan: &Plan) -> Vec<u32> {
    plan.pick(vec![2, 4, 16], vec![2, 4, 8, 16])
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Technique {
    Blpp,
    Forest(u32),
    Windows(u32),
}

impl Technique {
    fn flags(self) -> String {
        match self {
            Technique::Blpp => fig14::HASH.into(),
            Technique::Forest(k) => format!("--profile kblpp:k={k}"),
            Technique::Windows(k) => format!("--profile kroy:k={k}"),
        }
    }

    fn name(self) -> String {
        match self {
            Technique::Blpp => "BLPP".into(),
            Technique::Forest(k) => format!("k-BLPP, k={k}"),
            Technique::Windows(k) => format!("Roy and Srikant, k={k}"),
        }
    }
}

fn techniques(plan: &Plan) -> Vec<Technique> {
    let forests = ks(plan).into_iter().map(Technique::Forest);
    std::iter::once(Technique::Blpp).chain(forests).chain(WINDOWS.map(Technique::Windows)).collect()
}

/// All three in one run; windows are at most as long as the competitor's.
fn counted(program: &str, k: u32) -> Cell {
    let window = k.min(WINDOWS[1]);
    let (size, seconds) = forest::size(program);
    let line = format!(
        "bench {program}{size} --iterations 2 --tier o2 --timer virtual:1000000 --profile blpp:storage=hash --profile kblpp:k={k} --profile kroy:k={window} --profile-out {RESULT}"
    );
    Cell::counting(Reduction::Windows, &[&line], seconds)
}

/// Numbers of the run that tells of a technique, by program.
struct Counted<'a> {
    plan: &'a Plan,
    results: &'a Results<'a>,
}

impl Counted<'_> {
    /// The k of the runs in which it is.
    fn k(&self, technique: Technique) -> u32 {
        match technique {
            Technique::Forest(k) => k,
            Technique::Windows(k) => {
                ks(self.plan).into_iter().find(|&of| of.min(WINDOWS[1]) == k).unwrap_or(k)
            }
            Technique::Blpp => ks(self.plan)[0],
        }
    }

    fn of(&self, program: &str, technique: Technique, name: &str) -> Option<f64> {
        self.results.number(&counted(program, self.k(technique)), name)
    }

    fn each(&self, technique: Technique, name: &str) -> Option<Vec<f64>> {
        let names = counted_names(self.plan).into_iter();
        let all: Option<Vec<f64>> = names.map(|program| self.of(program, technique, name)).collect();
        all.filter(|all| !all.is_empty())
    }

    /// Over all programs.
    fn sum(&self, technique: Technique, name: &str) -> Option<f64> {
        Some(self.each(technique, name)?.into_iter().sum())
    }

    /// Updates of hash tables for each path of code that is not refused, by program.
    fn updates(&self, technique: Technique) -> Option<Vec<f64>> {
        let (updates, paths) = match technique {
            Technique::Blpp => ("paths.operations", "paths"),
            Technique::Forest(_) => ("forest.chunks", "forest.items"),
            Technique::Windows(_) => ("windows.hash_operations", "windows.paths"),
        };
        let (updates, paths) = (self.each(technique, updates)?, self.each(technique, paths)?);
        Some(updates.into_iter().zip(paths).map(|(updates, paths)| updates / paths.max(1.0)).collect())
    }

    fn mean_updates(&self, technique: Technique) -> Option<f64> {
        mean(&self.updates(technique)?)
    }
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let counted = Counted { plan, results };
    let average = |of: Technique| relative(&counted, of, fig14::HASH, Reading::Overheads);
    let all = |of: Vec<Option<Measured>>| of.into_iter().collect::<Option<Vec<Measured>>>();
    let windows = all(WINDOWS.map(|k| average(Technique::Windows(k))).to_vec());
    let least = |of: &[Measured]| of.iter().copied().min_by(|a, b| a.value.total_cmp(&b.value));
    found.checks.number(
        "cost of numbers of k iterations relative to BLPP, the cheaper k",
        "larger",
        Bound::at_least(1.0).resolution(0.25),
        windows.as_deref().and_then(least),
    );
    found.checks.number(
        "cost of k-BLPP relative to BLPP, the mean over k",
        "smaller",
        Bound::at_most(1.0).resolution(0.25),
        over_k(&counted, fig14::HASH, Reading::Overheads),
    );
    let largest = ks(plan).last().and_then(|&k| average(Technique::Forest(k)));
    let both = windows.as_deref().and_then(least).zip(largest);
    found.checks.number(
        "cost of k-BLPP with the largest k relative to numbers of k iterations, the cheaper k",
        "smaller than BLPP over larger",
        Bound::at_most(1.0),
        both.map(|(windows, largest)| exactly(largest.value / windows.value, Unit::Ratio)),
    );
    for (what, base, reading) in READINGS.into_iter().skip(1) {
        found.checks.told(
            &format!("{what}, k-BLPP, the mean over k"),
            "not said which is meant",
            over_k(&counted, base, reading),
        );
    }
    updates(&counted, found);
    exact(&counted, found);
    let row = |of: Technique| -> Vec<Entry> {
        let (profiled, variables, size, bytes, told) = match of {
            Technique::Blpp => ("BL paths", "1: path register", "paths.entries", None, "paths.entries"),
            Technique::Forest(_) => (
                "k-iteration paths",
                "1, and the place in the forest",
                "forest.nodes",
                Some("forest.bytes"),
                "forest.sequences",
            ),
            Technique::Windows(_) => (
                "k-iteration paths",
                "1, and the window",
                "windows.entries",
                Some("windows.bytes"),
                "windows.sequences",
            ),
        };
        let costs = READINGS.map(|(_, base, reading)| match relative(&counted, of, base, reading) {
            _ if of == Technique::Blpp && base == fig14::HASH => text("1"),
            Some(measured) => Entry::Number(measured),
            None => text("-"),
        });
        let [cost, others @ ..] = costs;
        let refused = match of {
            Technique::Windows(_) => counted.sum(of, "windows.refused"),
            _ => Some(0.0),
        };
        let sum = |name: &str, unit| entry(counted.sum(of, name), unit);
        let is_none = |name: &str, none: &str, some: &str| match counted.sum(of, name) {
            None => text("-"),
            Some(0.0) => text(none),
            Some(_) => text(some),
        };
        vec![
            text(&of.name()),
            text(profiled),
            cost,
            text(variables),
            entry(counted.mean_updates(of), Unit::Ratio),
            sum(size, Unit::Count),
            bytes.map_or_else(|| text("-"), |bytes| sum(bytes, Unit::Bytes)),
            sum(told, Unit::Count),
            entry(refused, Unit::Count),
            is_none("different", "yes", "no"),
            is_none("crossing", "no", "yes"),
        ]
        .into_iter()
        .chain(others)
        .collect()
    };
    found.figures.push(table(
        "techniques",
        "Techniques",
        "Cost is overhead relative to that of BLPP. Entries are of hash tables, or nodes of the forest, and like bytes and sequences they are of all programs together, without pieces of code that are refused.",
        &[
            "", "profiled paths", "cost", "variables", "hash updates per path", "entries", "memory",
            "different sequences", "refused", "fully accurate", "inter-procedural",
            "time over that with BLPP", "overhead over that of BLPP in an array", "time over that with BLPP in an array",
        ],
        techniques(plan).into_iter().map(row).collect(),
    ));
    let names = names(plan);
    let groups = categories(&names);
    let series = techniques(plan).into_iter().map(|of| {
        let costs = Costs::of(results, &names, |name| cost(plan, name, &of.flags()));
        costs.series(&of.name(), &groups)
    });
    let relative_to = |of: Technique| {
        let all: Vec<Option<Measured>> = names
            .iter()
            .map(|name| {
                let ratio =
                    fig14::relative(plan, results, name, [&of.flags(), fig14::HASH], Reading::Overheads);
                ratio.map(|ratio| ratio.measured)
            })
            .collect();
        Series {
            name: of.name(),
            is_paper: false,
            values: all.iter().map(|of| of.map(|of| of.value)).collect(),
            intervals: all.iter().map(|of| of.and_then(|of| of.interval)).collect(),
        }
    };
    let each: Vec<String> = names.iter().map(|name| name.to_string()).collect();
    let ratios = techniques(plan).into_iter().filter(|of| *of != Technique::Blpp).map(relative_to).collect();
    let told = "Overhead over that of BLPP in a hash table, with 95 % intervals, where that is at least 3 %.";
    found.figures.push(bars("relative", "Cost of each relative to BLPP", told, Unit::Ratio, each, ratios));
    let caption = "Time over time without a profiler, with 95 % intervals.";
    let series = series.collect();
    found.figures.push(bars("overhead", "Overhead of each", caption, Unit::Percent, groups, series));
}

/// What costs are divided by, and how; the first is what is checked.
const READINGS: [(&str, &str, Reading); 4] = [
    ("overhead over that of BLPP", fig14::HASH, Reading::Overheads),
    ("time over that with BLPP", fig14::HASH, Reading::Times),
    ("overhead over that of BLPP in an array", fig14::ARRAY, Reading::Overheads),
    ("time over that with BLPP in an array", fig14::ARRAY, Reading::Times),
];

/// The cost over that of Ball-Larus profiling, by program: of those where this is something to divide by, and nothing is refused,
/// for what is not counted costs nothing. `None` if something was not measured.
fn each(counted: &Counted<'_>, of: Technique, base: &str, reading: Reading) -> Option<Vec<Relative>> {
    let (plan, results) = (counted.plan, counted.results);
    let mut ratios = Vec::new();
    for name in names(plan) {
        let refused = match of {
            Technique::Windows(_) => counted.of(name, of, "windows.refused")?,
            _ => 0.0,
        };
        let is_divided = reading == Reading::Times || fig14::has_overhead(plan, results, name, base)?;
        if refused == 0.0 && is_divided {
            ratios.push(fig14::relative(plan, results, name, [&of.flags(), base], reading)?);
        }
    }
    Some(ratios)
}

/// The mean of these over programs.
fn relative(counted: &Counted<'_>, of: Technique, base: &str, reading: Reading) -> Option<Measured> {
    Relative::mean(&each(counted, of, base, reading)?)
}

/// The mean over programs and all k of k-BLPP.
fn over_k(counted: &Counted<'_>, base: &str, reading: Reading) -> Option<Measured> {
    let all = ks(counted.plan).into_iter().map(|k| each(counted, Technique::Forest(k), base, reading));
    let all: Vec<Vec<Relative>> = all.collect::<Option<_>>()?;
    Relative::mean(&all.concat())
}

/// Who looks up how often.
fn updates(counted: &Counted<'_>, found: &mut Findings) {
    let of_all = |of: Vec<Technique>| -> Option<Vec<(Technique, Vec<f64>)>> {
        of.into_iter().map(|of| Some((of, counted.updates(of)?))).collect()
    };
    let windows = of_all(WINDOWS.map(Technique::Windows).to_vec());
    let each = windows.map(|all| all.iter().all(|(_, updates)| updates.iter().all(|&of| of == 1.0)));
    let text = |of: Technique| {
        let mean = counted.mean_updates(of).map_or("-".into(), |mean| shown(mean, Unit::Ratio));
        format!("{}: {mean}", of.name())
    };
    found.checks.shape(
        "numbers of k iterations need a hash update for each path",
        "as BLPP does",
        "exactly one, in all programs, but for code that is refused",
        each,
        WINDOWS.map(|k| text(Technique::Windows(k))).join("; "),
    );
    let forests = of_all(ks(counted.plan).into_iter().map(Technique::Forest).collect());
    let bounded = forests.map(|all| {
        let falls = all.windows(2).all(|of| of[0].1.iter().zip(&of[1].1).all(|(one, next)| next <= one));
        // The last chunk of an activation may be short, none is longer.
        let least = |of: Technique| match of {
            Technique::Forest(k) => 0.999 / f64::from(k - 1),
            _ => 0.0,
        };
        falls && all.iter().all(|(of, updates)| updates.iter().all(|&n| n <= 1.0 && n >= least(*of)))
    });
    found.checks.shape(
        "k-BLPP needs one for each chunk",
        "1/(k-1) of them in long loops",
        "between 1/(k-1) and 1, never more with a larger k, in all programs",
        bounded,
        ks(counted.plan).into_iter().map(|k| text(Technique::Forest(k))).collect::<Vec<_>>().join("; "),
    );
}

/// Who is accurate, who crosses calls, and what is refused.
fn exact(counted: &Counted<'_>, found: &mut Findings) {
    let all = |name: &str| -> Option<f64> {
        ks(counted.plan).into_iter().map(|k| counted.sum(Technique::Forest(k), name)).sum()
    };
    let both = all("compared").zip(all("different"));
    found.checks.shape(
        "all three say the same of every sequence that two of them know",
        "fully accurate",
        "in all programs, with every k",
        both.map(|(compared, different)| compared > 0.0 && different == 0.0),
        both.map_or("not measured".into(), |(compared, different)| {
            format!("{different} of {compared} counts are different")
        }),
    );
    let both = all("crossing").zip(all("forest.sequences"));
    found.checks.shape(
        "no sequence goes on where an activation ends",
        "intra-procedural",
        "none in any program",
        both.map(|(crossing, sequences)| sequences > 0.0 && crossing == 0.0),
        both.map_or("not measured".into(), |(crossing, sequences)| format!("{crossing} of {sequences}")),
    );
    let longest = Technique::Windows(WINDOWS[1]);
    found.checks.told(
        "code whose numbers of 3 iterations do not fit 64 bits, of all that is numbered",
        "not said",
        counted.sum(longest, "windows.refused").map(|of| exactly(of, Unit::Count)),
    );
    let share = counted.sum(longest, "beyond").zip(counted.sum(longest, "numbered"));
    found.checks.told(
        "code with more than 60,000 paths over 3 iterations, if any path may follow any other",
        "in several small benchmarks, where Roy and Srikant give up",
        share.map(|(beyond, all)| exactly(beyond / all.max(1.0) * 100.0, Unit::Percent)),
    );
}
