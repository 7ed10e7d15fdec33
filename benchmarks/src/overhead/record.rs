//! What is kept of a measurement: every sample of every arm, besides the ratios that were computed from them.

use super::arm::Failure;
use super::counts::Counts;
use super::report::Overview;
use super::results::{Clock, ProgramResult, Ratios};
use super::rounds::{ArmRound, Round};
use super::statistics::Summary;
use crate::against::statistics::Interval;
use crate::machine::Machine;
use serde::Serialize;
use std::collections::BTreeMap;

/// Changes when a reader of such files would have to.
const FORMAT: u32 = 1;

/// A whole file.
#[derive(Serialize)]
pub struct Record {
    format: u32,
    /// What kind of file this is: `overhead`.
    kind: &'static str,
    machine: Machine,
    options: BTreeMap<&'static str, String>,
    /// The configuration whose cost is wanted, and that with which it is compared.
    profile: Vec<String>,
    versus: Vec<String>,
    programs: Vec<ProgramRecord>,
    /// Over all programs, by clock.
    cpu: MeanRecord,
    wall: MeanRecord,
}

#[derive(Serialize)]
struct ProgramRecord {
    name: String,
    size: Option<u64>,
    /// Iterations of a sample.
    iterations: f64,
    /// Why it has no rounds, or not all.
    failure: Option<String>,
    cpu: Option<RatiosRecord>,
    wall: Option<RatiosRecord>,
    /// Of the profiled configuration, and of the base.
    counts: Option<CountsRecord>,
    rounds: Vec<RoundRecord>,
}

#[derive(Serialize)]
struct CountsRecord {
    profiled: Counts,
    base: Counts,
}

#[derive(Serialize)]
struct RatiosRecord {
    overhead: IntervalRecord,
    again: IntervalRecord,
    of_medians: IntervalRecord,
    of_minima: IntervalRecord,
    of_sums: IntervalRecord,
}

#[derive(Serialize)]
struct MeanRecord {
    overhead: Option<IntervalRecord>,
    again: Option<IntervalRecord>,
    /// The interval for programs like these.
    over_programs: Option<IntervalRecord>,
}

#[derive(Serialize)]
struct IntervalRecord {
    value: f64,
    low: Option<f64>,
    high: Option<f64>,
}

#[derive(Serialize)]
struct RoundRecord {
    warm_up: usize,
    restless: bool,
    base: ArmRecord,
    profiled: ArmRecord,
    again: ArmRecord,
}

#[derive(Serialize)]
struct ArmRecord {
    cpu_ns: Vec<u64>,
    wall_ns: Vec<u64>,
    /// Was there a tick in it.
    ticked: Vec<bool>,
    yieldpoints_taken: u64,
    ticks: u64,
    path_samples: u64,
    call_samples: u64,
    call_skips: u64,
    heard: u64,
    compilations: u64,
    method_orders: u64,
    compile_ns: u64,
    code_bytes: u64,
}

impl From<Interval> for IntervalRecord {
    fn from(Interval { value, ends }: Interval) -> IntervalRecord {
        IntervalRecord { value, low: ends.map(|(low, _)| low), high: ends.map(|(_, high)| high) }
    }
}

impl From<&ArmRound> for ArmRecord {
    fn from(arm: &ArmRound) -> ArmRecord {
        ArmRecord {
            cpu_ns: arm.cpu.clone(),
            wall_ns: arm.wall.clone(),
            ticked: arm.ticked.clone(),
            yieldpoints_taken: arm.yieldpoints_taken,
            ticks: arm.ticks,
            path_samples: arm.looks.path_samples,
            call_samples: arm.looks.call_samples,
            call_skips: arm.looks.call_skips,
            heard: arm.looks.heard,
            compilations: arm.compilations,
            method_orders: arm.method_orders,
            compile_ns: arm.compile_time.as_nanos() as u64,
            code_bytes: arm.code_bytes,
        }
    }
}

impl From<&Round> for RoundRecord {
    fn from(round: &Round) -> RoundRecord {
        let [base, profiled, again] = round.arms.each_ref().map(ArmRecord::from);
        RoundRecord { warm_up: round.warm_up, restless: round.restless, base, profiled, again }
    }
}

impl Record {
    /// The record of a measurement.
    pub fn new(
        machine: Machine,
        options: BTreeMap<&'static str, String>,
        profile: Vec<String>,
        versus: Vec<String>,
        results: &[ProgramResult],
    ) -> Record {
        let mean = |clock| {
            let overview = Overview::new(results, clock);
            MeanRecord {
                overhead: overview.overhead.map(IntervalRecord::from),
                again: overview.again.map(IntervalRecord::from),
                over_programs: overview.over_programs.map(IntervalRecord::from),
            }
        };
        Record {
            format: FORMAT,
            kind: "overhead",
            machine,
            options,
            profile,
            versus,
            programs: results.iter().map(program).collect(),
            cpu: mean(Clock::Cpu),
            wall: mean(Clock::Wall),
        }
    }
}

fn program(result: &ProgramResult) -> ProgramRecord {
    let ratios = |clock| -> Option<RatiosRecord> {
        let of = |summary| result.ratios(clock, summary, 0);
        let Ratios { overhead, again } = of(result.summary)?;
        Some(RatiosRecord {
            overhead: overhead.interval().into(),
            again: again.interval().into(),
            of_medians: of(Summary::Medians)?.overhead.interval().into(),
            of_minima: of(Summary::Minima)?.overhead.interval().into(),
            of_sums: of(Summary::Sums)?.overhead.interval().into(),
        })
    };
    ProgramRecord {
        name: result.name.clone(),
        size: result.size,
        iterations: result.iterations,
        failure: result.failure.as_ref().map(|failure| match failure {
            Failure::Failed(reason) => reason.clone(),
            Failure::Stopped => "interrupted".into(),
        }),
        cpu: ratios(Clock::Cpu),
        wall: ratios(Clock::Wall),
        counts: result.counts.map(|[profiled, base]| CountsRecord { profiled, base }),
        rounds: result.rounds.iter().map(RoundRecord::from).collect(),
    }
}
