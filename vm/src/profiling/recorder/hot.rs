//! The calls that regions span (`calls=hot`): the hot ones of an earlier run, found in this program's bytecode.

use super::blocks::region_graphs;
use crate::compiled::GivenCalls;
use crate::profiling::spec::BtbOptions;
use holloway_bytecode::cfg::Cfg;
use holloway_bytecode::code::decode;
use holloway_bytecode::ops::OpShape;
use holloway_bytecode::{Op, Program};
use holloway_profilers::btb::{HotRule, Seat, Spans, hot_calls};
use holloway_profilers::calls::{CallSite, Share};
use holloway_profilers::{BlockId, MethodId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What regions are to span; `None` if nothing. `Err` if the calls are missing, or are of another program.
pub(super) fn spans(
    options: Option<BtbOptions>,
    program: &Program,
    calls: Option<&GivenCalls>,
) -> Result<Option<Arc<Spans>>, String> {
    let (percent, calls) = match (options.and_then(|btb| btb.hot), calls) {
        (None, _) => return Ok(None),
        (Some(_), None) => return Err("btb:calls=hot needs the calls of an earlier run".into()),
        (Some(percent), Some(calls)) => (percent, calls),
    };
    calls.check(program).map_err(|why| format!("hot calls cannot be chosen by the profile: {why}"))?;
    let graph = calls.graph();
    let mut flow: BTreeMap<MethodId, Cfg> = BTreeMap::new();
    for site in graph.sites() {
        if let Some(function) = program.functions.get(site.site.caller.index()) {
            flow.entry(site.site.caller).or_insert_with(|| Cfg::of_function(function));
        }
    }
    let seat = |site: CallSite| {
        let block = flow.get(&site.caller)?.block_at(site.position)?;
        let code = &program.functions.get(site.caller.index())?.code;
        let call = decode(code, site.position as usize)?;
        let calls_method = call.op.shape() == OpShape::Call && call.op != Op::CallNative;
        calls_method.then_some(Seat { block: BlockId(block.0), only: call.op == Op::Call })
    };
    let rule = HotRule { share: Share::percent(percent.min(100)), ..HotRule::default() };
    let graphs = region_graphs(program);
    let hot = hot_calls(graph, &graphs, rule, seat);
    Spans::new(&graphs, &hot)
        .map(|spans| Some(Arc::new(spans)))
        .map_err(|why| format!("btb:calls=hot: {why}"))
}
