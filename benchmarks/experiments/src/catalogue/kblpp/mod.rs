//! D'Elia and Demetrescu: paths over several iterations.

mod eclipse_scan;
mod fig13;
mod fig14;
mod fig15;
mod fig16;
mod fig17;
mod fig18;
mod fig19;
mod fig20;
mod fig3;
mod fig6;
mod fig7;
mod fig8;
mod fig9;
mod forest;
mod places;
mod relative;
mod sec6;
mod sixteen;
mod tab1;
mod tree;

use super::{Experiment, Paper};

pub(super) const PAPER: Paper = Paper {
    id: "kblpp",
    title: "Ball-Larus Path Profiling Across Multiple Loop Iterations",
    source: "D'Elia, Demetrescu; OOPSLA 2013",
    says: "A forest of the paths of k iterations is grown beside the program, with one look-up in a hash table for every k-1 paths: it tells more than profiles of single iterations and often costs less.",
    headlines: &[("kblpp-fig14", 0), ("kblpp-fig14", 1), ("kblpp-fig15", 0)],
};

pub(super) const EXPERIMENTS: &[&Experiment] = &[
    &fig3::EXPERIMENT,
    &fig6::EXPERIMENT,
    &fig7::EXPERIMENT,
    &fig8::EXPERIMENT,
    &fig9::EXPERIMENT,
    &fig13::EXPERIMENT,
    &fig14::EXPERIMENT,
    &fig15::EXPERIMENT,
    &eclipse_scan::EXPERIMENT,
    &fig16::EXPERIMENT,
    &fig17::EXPERIMENT,
    &fig18::EXPERIMENT,
    &fig19::EXPERIMENT,
    &fig20::EXPERIMENT,
    &tab1::EXPERIMENT,
    &sec6::EXPERIMENT,
];
