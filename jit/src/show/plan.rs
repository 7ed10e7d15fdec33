//! The planned order of blocks as text: a line for each, with how often it runs and why it stands where it does.

use crate::lower::order::{Explained, Planned, Why};
use std::fmt::Write;

/// Where the reasons begin.
const WHY_COLUMN: usize = 28;

/// A plan, or that there is none.
pub fn print(plan: Option<&Explained>) -> String {
    let Some(plan) = plan else { return "; not planned: the order of the program\n".into() };
    let cost = |[taken, jumps]: [f64; 2]| format!("{} taken, {} jumps", times(taken), times(jumps));
    let mut out = match plan.is_default {
        true => format!("; Cranelift's order, which costs no more: {} for each entry\n", cost(plan.cost)),
        false => format!(
            "; {} for each entry; in Cranelift's order {}\n",
            cost(plan.cost),
            cost(plan.default_cost)
        ),
    };
    let mut is_cold = false;
    for planned in &plan.blocks {
        if planned.why == Why::Cold && !std::mem::replace(&mut is_cold, true) {
            out.push_str("; ---- cold ----\n");
        }
        let _ = writeln!(out, "{}", line(planned).trim_end());
    }
    out
}

fn line(planned: &Planned) -> String {
    let region = planned.region.map(|block| format!("b{}", block.0)).unwrap_or_default();
    let start = format!("{:<9}{region:<6}x{}", planned.block.to_string(), times(planned.frequency));
    let why = match (planned.why, planned.follows) {
        (Why::Entry, _) => "begins a chain: the entry".to_string(),
        (Why::FollowsOn, Some((from, share))) => {
            format!("follows {from}, which goes on here in {:.0} %", 100.0 * share)
        }
        (Why::FollowsOn, None) => "follows the one in front".to_string(),
        (Why::Traffic, _) => {
            "begins a chain: of those left, the most traffic with what stands in front".to_string()
        }
        (Why::Program, _) => "next in Cranelift's order".to_string(),
        (Why::Cold, _) => "cold".to_string(),
    };
    let edge = planned.edge.map(|[from, to]| format!("  on the edge {from} -> {to}")).unwrap_or_default();
    format!("{start:<WHY_COLUMN$}{why}{edge}")
}

/// A frequency, with as many digits as say something.
pub fn times(frequency: f64) -> String {
    match frequency {
        f if f >= 100.0 => format!("{f:.0}"),
        f if f >= 1.0 => format!("{f:.2}"),
        f => format!("{f:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cranelift_codegen::ir::Block;

    #[test]
    fn who_reads_a_plan_sees_where_chains_begin_and_why_others_follow() {
        let block = Block::from_u32;
        let planned = |number, why, follows| Planned {
            block: block(number),
            frequency: 2.0,
            region: None,
            edge: None,
            why,
            follows,
        };
        let blocks = vec![
            planned(0, Why::Entry, None),
            planned(3, Why::FollowsOn, Some((block(0), 0.984))),
            planned(1, Why::Traffic, None),
            planned(2, Why::Program, None),
            planned(4, Why::Cold, None),
        ];
        let plan = Explained { blocks, is_default: false, cost: [1.0, 0.0], default_cost: [2.0, 0.5] };
        let lines: Vec<String> = print(Some(&plan)).lines().map(str::to_string).collect();
        assert_eq!(
            lines[0],
            "; 1.00 taken, 0.0000 jumps for each entry; in Cranelift's order 2.00 taken, 0.5000 jumps"
        );
        let why = |line: usize| lines[line][WHY_COLUMN..].to_string();
        assert_eq!(why(1), "begins a chain: the entry");
        assert_eq!(why(2), "follows block0, which goes on here in 98 %");
        assert_eq!(why(3), "begins a chain: of those left, the most traffic with what stands in front");
        assert_eq!(why(4), "next in Cranelift's order");
        assert_eq!((&*lines[5], &*why(6)), ("; ---- cold ----", "cold"));
        assert_eq!(lines.len(), 7);
    }
}
