//! Which checks leave at which place: the files in `tests/sharing`. Section `leaves` has a line for each check, and each end that
//! leaves: its state, and the one at which it leaves; a second section is there if it is another one where edges are counted.

mod support;

use holloway_jit::ir::{self, Region, Terminator};
use holloway_jit::lower::sharing::Sharing;
use support::{Sections, check_files, lines, program};

#[test]
fn checks_leave_where_expected() {
    check_files("sharing", |sections| {
        let (leaves, counted) = (run(sections, false)?, run(sections, true)?);
        sections.set("leaves", Some(&leaves));
        sections.set("leaves where edges are counted", Some(&*counted).filter(|counted| *counted != leaves));
        Ok(())
    });
}

fn run(sections: &Sections, counts_edges: bool) -> Result<String, String> {
    let program = program(sections)?;
    let text = sections.get("region").ok_or("there is no section `region`")?;
    let region = ir::parse(text, &program).map_err(|error| format!("region: {error}"))?;
    ir::verify(&region, &program).map_err(|errors| lines("region", &errors))?;
    Ok(leaves(&region, counts_edges))
}

fn leaves(region: &Region, counts_edges: bool) -> String {
    let sharing = Sharing::of(region, &region.shape(), counts_edges);
    let mut text = String::new();
    let mut line = |what: String, state: ir::StateId, reason: ir::Reason| {
        let at = sharing.of_exit(state, reason);
        text += &format!("{what}: {} at s{} leaves at s{}\n", reason.name(), state.0, at.0);
    };
    for block in region.block_ids() {
        for &value in &region.block(block).nodes {
            let node = region.node(value);
            if let (Some(state), Some(reason)) = (node.state, node.op.reason()) {
                line(format!("v{}", value.0), state, reason);
            }
        }
        if let Terminator::Deopt(reason, state) = region.block(block).end {
            line(format!("b{}", block.0), state, reason);
        }
    }
    text
}
