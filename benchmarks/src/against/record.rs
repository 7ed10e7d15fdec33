//! What is kept of a comparison: every sample of every process, besides the ratios that were computed from them.

use crate::against::ratios::Ratios;
use crate::against::report::PeerName;
use crate::against::rounds::{Arm, Compared, Phase, Plan};
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
    /// What kind of file this is: `against`.
    kind: &'static str,
    machine: Machine,
    options: BTreeMap<&'static str, String>,
    /// `first` or `steady`.
    phase: &'static str,
    rounds: u64,
    peers: Vec<PeerRecord>,
    programs: Vec<ProgramRecord>,
    /// Our second arm to our first, over all programs.
    own: Option<RatioRecord>,
}

#[derive(Serialize)]
struct PeerRecord {
    name: String,
    version: String,
    /// The geometric mean of our ratios to it, over so many programs.
    mean: Option<RatioRecord>,
    programs: usize,
}

#[derive(Serialize)]
struct ProgramRecord {
    name: &'static str,
    size: u64,
    own: Option<RatioRecord>,
    arms: Vec<ArmRecord>,
}

#[derive(Serialize)]
struct ArmRecord {
    /// `ours`, twice, or the name of the peer.
    name: String,
    iterations: u64,
    failure: Option<String>,
    /// Nanoseconds of each iteration of the process of each round.
    samples_ns: Vec<Vec<u64>>,
    /// Our ratio to it.
    ratio: Option<RatioRecord>,
}

#[derive(Serialize)]
struct RatioRecord {
    value: f64,
    low: Option<f64>,
    high: Option<f64>,
}

impl From<Interval> for RatioRecord {
    fn from(Interval { value, ends }: Interval) -> RatioRecord {
        RatioRecord { value, low: ends.map(|(low, _)| low), high: ends.map(|(_, high)| high) }
    }
}

impl Record {
    /// The record of a comparison.
    pub fn new(
        machine: Machine,
        options: BTreeMap<&'static str, String>,
        plan: Plan,
        compared: &[Compared],
        ratios: &Ratios,
        peers: &[PeerName],
    ) -> Record {
        let peer = |(peer, mean): (&PeerName, &Option<(Interval, usize)>)| PeerRecord {
            name: peer.name.clone(),
            version: peer.version.clone(),
            mean: mean.map(|(mean, _)| mean.into()),
            programs: mean.map_or(0, |(_, programs)| programs),
        };
        let program = |(compared, ratios): (&Compared, &super::ratios::ProgramRatios)| {
            let ours = compared.ours.iter().map(|ours| arm("ours", ours, None));
            let theirs =
                compared.peers.iter().zip(&ratios.peers).zip(peers).map(|((theirs, ratio), peer)| {
                    arm(&peer.name, theirs, ratio.as_ref().map(|(_, ratio)| ratio.interval().into()))
                });
            ProgramRecord {
                name: compared.program.name,
                size: compared.size,
                own: ratios.own.as_ref().map(|own| own.interval().into()),
                arms: ours.chain(theirs).collect(),
            }
        };
        Record {
            format: FORMAT,
            kind: "against",
            machine,
            options,
            phase: if plan.phase == Phase::First { "first" } else { "steady" },
            rounds: plan.rounds,
            peers: peers.iter().zip(&ratios.peers).map(peer).collect(),
            programs: compared.iter().zip(&ratios.programs).map(program).collect(),
            own: ratios.own.map(RatioRecord::from),
        }
    }
}

fn arm(name: &str, arm: &Arm, ratio: Option<RatioRecord>) -> ArmRecord {
    ArmRecord {
        name: name.to_string(),
        iterations: arm.iterations,
        failure: arm.failure.clone(),
        samples_ns: arm.rounds.clone(),
        ratio,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::against::ratios::tests::two_programs;

    #[test]
    fn all_samples_are_kept() {
        let compared = two_programs();
        let peer = |name: &str| PeerName { name: name.to_string(), version: String::new() };
        let record = Record::new(
            Machine::describe(),
            BTreeMap::new(),
            Plan { rounds: 2, phase: Phase::Steady(None) },
            &compared,
            &Ratios::new(&compared, 2),
            &[peer("a"), peer("b")],
        );
        let value = serde_json::to_value(&record).expect("it is plain data");
        let arms = &value["programs"][0]["arms"];
        assert_eq!(arms[0]["samples_ns"], serde_json::json!([[2_000_000], [2_000_000]]));
        assert_eq!((&arms[2]["name"], &arms[3]["failure"]), (&"a".into(), &"wrong result".into()));
        assert!((arms[2]["ratio"]["value"].as_f64().expect("a number") - 2.0).abs() < 1e-9);
        assert_eq!((&value["phase"], &value["peers"][1]["programs"]), (&"steady".into(), &1.into()));
    }
}
