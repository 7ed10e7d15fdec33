//! D'Elia and Demetrescu 2013, figure 6: what the masked filter's profile says.

use super::places::{Mark, Version};
use super::tree::{figure, percent, trees};
use crate::catalogue::tables::{entry, table, text};
use crate::catalogue::{Experiment, Findings};
use crate::cell::{Cell, RESULT};
use crate::papers;
use crate::plan::Plan;
use crate::reduce::Reduction;
use crate::report::model::Unit;
use crate::results::{Results, exactly};
use crate::verdict::Bound;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "kblpp-fig6",
    place: "Section 3.1, figure 6",
    title: "Masked convolution: long runs in the profile",
    says: &[
        "A filter copies most pixels of a picture and convolves those that a mask names. Paths of ten iterations show what single ones do not: both come in long runs.",
        "`apps/masks` is that filter on a picture of the same size, 3114 by 2376, which is made, as is the mask: its runs have random lengths with the means that give the paper's percentages. The forest of ten iterations is compared with the paper, and with what the \
         mask is: it is made again, by another program, and its pixels are counted.",
    ],
    cells: |_| vec![cell()],
    conclude,
};

const FILE: &str = "apps/masks/filter.hol";
const LOOP: Mark = Mark(FILE, "filter: each pixel");
const BLURRED: Mark = Mark(FILE, "blurred: kept in a byte");
const K: usize = 10;
const ROWS: usize = 2376;
/// Points of percent.
const NEAR: f64 = 0.5;
/// Nearer is not better.
const NEVER: f64 = -1.0;

fn cell() -> Cell {
    let line = format!(
        "bench masks --size {ROWS} --iterations 1 --tier o2 --timer virtual:1000000 --profile kblpp:k={K} --profile-out {RESULT}"
    );
    Cell::counting(Reduction::Sequences, &[&line], 5.0)
}

/// Percentages: copied; nine more copied; convolved next; of convolved, nine more convolved; copied next.
type Percentages = [f64; 5];

const NAMES: [(&str, &str); 5] = [
    ("copied, of all pixels", "copy_share"),
    ("copied ten times, of copied", "copy_run_ge10"),
    ("convolved next, of copied", "copy_to_conv"),
    ("convolved ten times, of convolved", "conv_run_ge10"),
    ("copied next, of convolved", "conv_to_copy"),
];

/// The version that ran the loop, with the path that copies and the one that convolves.
fn filter<'a>(results: &Results<'a>) -> Option<(Version<'a>, u64, u64)> {
    let all = Version::all(results.outcome(&cell())?).into_iter().filter_map(|version| {
        let of = |convolves: bool| {
            let is =
                |&path: &u64| version.is_turn(path, LOOP) && version.branches_at(path, BLURRED) == convolves;
            version.paths().into_iter().find(is)
        };
        let (copy, convolve) = (of(false)?, of(true)?);
        Some((version, copy, convolve))
    });
    all.max_by_key(|(version, copy, _)| version.count(&[*copy]))
}

fn profiled((version, copy, convolve): &(Version<'_>, u64, u64)) -> Percentages {
    let share = |part: &[u64]| percent(&version.counts, part, &part[..1]);
    let (copied, convolved) = (version.count(&[*copy]) as f64, version.count(&[*convolve]) as f64);
    [
        copied * 100.0 / (copied + convolved),
        share(&[*copy; K]),
        share(&[*copy, *convolve]),
        share(&[*convolve; K]),
        share(&[*convolve, *copy]),
    ]
}

/// The generator of the program's mask, again: SplitMix64, runs within margins.
fn truth() -> Percentages {
    const WIDTH: usize = 3114;
    const MARGIN: usize = 2;
    let mut state = 11_u64;
    let mut next = move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let once = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let twice = (once ^ once >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        twice ^ twice >> 31
    };
    // The picture takes a number for eight pixels.
    (0..(ROWS * WIDTH).div_ceil(8)).for_each(|_| _ = next());
    let mut copies = vec![true; ROWS * WIDTH];
    let mut kind = true;
    for y in MARGIN..ROWS - MARGIN {
        for x in MARGIN..WIDTH - MARGIN {
            copies[y * WIDTH + x] = kind;
            kind ^= (next() >> 1).is_multiple_of(if kind { 860 } else { 190 });
        }
    }
    let count = |holds: &dyn Fn(&[bool]) -> bool, length: usize| {
        copies.windows(length).filter(|w| holds(w)).count() as f64
    };
    let of = |kind: bool| {
        let all = count(&|w| w[0] == kind, 1);
        let run = count(&|w| w.iter().all(|&of| of == kind), K);
        let next = count(&|w| w[0] == kind && w[1] != kind, 2);
        (all, run * 100.0 / all, next * 100.0 / all)
    };
    let ((copied, copied_run, to_convolve), (convolved, convolved_run, to_copy)) = (of(true), of(false));
    [copied * 100.0 / (copied + convolved), copied_run, to_convolve, convolved_run, to_copy]
}

fn conclude(_: &Plan, results: &Results<'_>, found: &mut Findings) {
    let filter = filter(results);
    let seen = filter.as_ref().map(profiled);
    let truth = seen.map(|_| truth());
    let paper = NAMES.map(|(_, key)| papers::number(&format!("kblpp.masked_filter.{key}")));
    let most =
        |a: Percentages, b: Percentages| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    found.checks.number(
        "how far percentages of the profile are from those of the mask, the worst of five",
        "not said",
        Bound::at_most(NEAR).stretch(NEVER),
        seen.zip(truth).map(|(seen, truth)| exactly(most(seen, truth), Unit::Percent)),
    );
    found.checks.number(
        "how far they are from the paper's, the worst of five",
        "81.7, 98.9, 0.1, 95 and 0.6 %",
        Bound::at_most(NEAR).stretch(NEVER),
        seen.map(|seen| exactly(most(seen, paper), Unit::Percent)),
    );
    found.checks.shape(
        "both come in long runs",
        "copied and convolved pixels are repeated nine times in 98.9 and 95 %, and followed by the other in 0.1 and 0.6 %",
        "in more than nine of ten, and less than one in a hundred",
        seen.map(|of| of[1] > 90.0 && of[3] > 90.0 && of[2] < 1.0 && of[4] < 1.0),
        seen.map_or("not measured".into(), |of| {
            format!("{:.1} and {:.1} %, {:.1} and {:.1} %", of[1], of[3], of[2], of[4])
        }),
    );
    let Some(((version, copy, convolve), (seen, truth))) = filter.zip(seen.zip(truth)) else { return };
    let name = |path: u64| match path {
        _ if path == copy => "copy".to_string(),
        _ if path == convolve => "convolve".to_string(),
        _ if version.enters(path, LOOP) => "enter".to_string(),
        _ => path.to_string(),
    };
    let enters = version.paths().into_iter().find(|&path| version.enters(path, LOOP));
    let roots: Vec<u64> = enters.into_iter().chain([copy, convolve]).collect();
    let drawn = trees(&version.counts, &roots, [0.01, 0.01], &name);
    let caption = "Figure 6: on each line the share of the parent and, in brackets, of the root. What has less than 0.01 % is left out.";
    found.figures.push(figure("forest", "The forest of ten iterations of the filter's loop", caption, drawn));
    let cell = |value: f64| entry(Some(value), Unit::Percent);
    let row = |at: usize| vec![text(NAMES[at].0), cell(paper[at]), cell(truth[at]), cell(seen[at])];
    found.figures.push(table(
        "percentages",
        "Percentages",
        "Of the paper's picture, of the mask as it was made, and as the forest has them.",
        &["", "paper", "the mask", "the profile"],
        (0..NAMES.len()).map(row).collect(),
    ));
}
