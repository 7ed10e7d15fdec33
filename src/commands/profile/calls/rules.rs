//! Rules of `check` about calls: what is wrong, or why a rule does not apply. Estimates are no more than what was called, and samplers have as
//! many calls as they say they took.

use super::super::model::Profile;
use super::{exact, graph, name, places, sampled};
use holloway_profilers::MethodId;
use holloway_profilers::calls::{CallGraph, CallSite};
use holloway_vm::profiling::{CallsAt, CbsOptions, ProfileSpec};
use std::collections::BTreeMap;

type Findings = Result<Vec<String>, &'static str>;

/// How calls were sampled.
fn options(profile: &Profile) -> Option<CbsOptions> {
    profile.file.profilers.iter().find_map(|text| match text.parse() {
        Ok(ProfileSpec::Cbs(options)) => Some(options),
        _ => None,
    })
}

/// The window of calls took the samples, unless some were forgotten.
pub fn window(profile: &Profile) -> Findings {
    let Some(samples) = &profile.file.calls.sampled else { return Err("needs `cbs`") };
    let decays = options(profile).is_some_and(|options| options.decay > 0);
    let sum = u128::from(graph(&samples.calls).total()) + u128::from(samples.roots);
    let taken = u128::from(samples.window.taken);
    let mut wrong = Vec::new();
    if sum > taken || sum < taken && !decays {
        wrong.push(format!("it took {taken}, and calls have {sum}"));
    }
    if samples.window.windows > samples.window.ticks {
        wrong.push(format!("{} windows after {} ticks", samples.window.windows, samples.window.ticks));
    }
    if let Some(contexts) = &samples.contexts {
        let sum = contexts.iter().map(|context| u128::from(context.count)).sum::<u128>();
        let sum = sum + u128::from(samples.roots);
        if sum > taken || sum < taken && !decays {
            wrong.push(format!("it took {taken}, and contexts have {sum}"));
        }
    }
    Ok(wrong)
}

/// What was sampled was called: at least as often where each call is one opportunity, at least half as often where its prologue and its epilogue
/// are two.
pub fn sampled_was_called(profile: &Profile) -> Findings {
    let (Some(sampled), Some(exact)) = (sampled(profile), exact(profile)) else {
        return Err("needs `calls` and `cbs`");
    };
    let places = places(profile);
    let opportunities = match options(profile) {
        Some(CbsOptions { at: CallsAt::Prologue, .. }) => 1,
        _ => 2,
    };
    let more =
        |&(edge, samples): &(_, u64)| u128::from(samples) > opportunities * u128::from(exact.weight(edge));
    let fault = |(edge, samples)| {
        let calls = exact.weight(edge);
        format!("{}: {samples} samples, called {calls} times", name(profile, &places, edge))
    };
    Ok(sampled.edges().into_iter().filter(more).map(fault).collect())
}

/// Calls of an estimate that are more than there were.
fn more_than_called(profile: &Profile, found: &CallGraph, exact: &CallGraph, what: &str) -> Vec<String> {
    let places = places(profile);
    let more = found.edges().into_iter().filter(|&(edge, count)| count > exact.weight(edge));
    let fault = |(edge, count)| {
        format!("{}: {count} times {what}, called {} times", name(profile, &places, edge), exact.weight(edge))
    };
    more.map(fault).collect()
}

/// What listeners heard are the calls of methods, and as many as they say.
pub fn heard(profile: &Profile) -> Findings {
    let Some(heard) = &profile.file.calls.heard else { return Err("needs `oneshot`") };
    let mut wrong = Vec::new();
    let mut calls: BTreeMap<u32, u128> = BTreeMap::new();
    for of in &heard.calls {
        *calls.entry(of.callee).or_default() += u128::from(of.count);
    }
    let entries: BTreeMap<u32, u64> = heard.bursts.iter().map(|of| (of.method, of.entries)).collect();
    for (&method, &count) in &calls {
        let entries = entries.get(&method).copied().unwrap_or_default();
        if count > u128::from(entries) {
            wrong.push(format!("{}: {count} calls, {entries} entries", profile.method(method)));
        }
    }
    let sum = calls.values().sum::<u128>() + u128::from(heard.roots);
    let all = entries.values().map(|&entries| u128::from(entries)).sum::<u128>();
    if sum != all {
        wrong.push(format!("bursts have {all} entries, and calls are {sum}"));
    }
    if let Some(exact) = exact(profile) {
        wrong.extend(more_than_called(profile, &graph(&heard.calls), &exact, "heard"));
    }
    Ok(wrong)
}

/// What inline caches counted was called.
pub fn cached(profile: &Profile) -> Findings {
    let (Some(cached), Some(exact)) = (&profile.file.calls.cached, exact(profile)) else {
        return Err("needs `calls` and `icache`");
    };
    let mut wrong = more_than_called(profile, &graph(&cached.calls), &exact, "in a cache");
    let mut sites: BTreeMap<CallSite, u128> = BTreeMap::new();
    let records = cached.calls.iter().map(|of| (of.site, of.count));
    for (place, count) in records.chain(cached.lost.iter().map(|of| (of.site, of.count))) {
        let site = CallSite { caller: MethodId(place.method), position: place.position };
        *sites.entry(site).or_default() += u128::from(count);
    }
    let called: BTreeMap<CallSite, u64> = exact.sites().into_iter().map(|of| (of.site, of.total)).collect();
    for (site, count) in sites {
        let called = called.get(&site).copied().unwrap_or_default();
        if count > u128::from(called) {
            let caller = profile.method(site.caller.0);
            wrong.push(format!("{caller}@{}: {count} times in its cache, {called} calls", site.position));
        }
    }
    Ok(wrong)
}
