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
    let why = match planned.why {
        Why::Entry => "entry",
        Why::FollowsOn => "follows on",
        Why::Traffic => "next by traffic",
        Why::Cold => "",
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
