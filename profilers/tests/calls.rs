//! Call profiles: the vectors D-1, I-1 and I-2, and call graphs and contexts against naive twins.

use holloway_profilers::MethodId;
use holloway_profilers::calls::{
    AgeingCallGraph, CallEdge, CallGraph, Candidate, ContextTree, Convergence, Frame, Limits, PassedCall,
    Policy, Reason, SampledPath, Scale, Share, context_overlap, credit, overlap,
};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use std::collections::BTreeMap;

fn edge(caller: u32, position: u32, callee: u32) -> CallEdge {
    CallEdge::new(MethodId(caller), position, MethodId(callee))
}

fn graph(edges: &[(CallEdge, u64)]) -> CallGraph {
    edges.iter().copied().collect()
}

fn random_edge(random: &mut SmallRng) -> CallEdge {
    edge(random.random_range(0..6), random.random_range(0..3), random.random_range(0..6))
}

/// D-1: M calls f and g, g calls h; a timer sees one edge only, samples by counters all three.
#[test]
fn d_1_overlap() {
    let (f, g, h) = (edge(0, 1, 1), edge(0, 2, 2), edge(2, 3, 3));
    let perfect = graph(&[(f, 500), (g, 500), (h, 250)]);
    assert!((overlap(&graph(&[(f, 90), (h, 10)]), &perfect) - 50.0).abs() < 1e-9);
    assert!((overlap(&graph(&[(f, 41), (g, 38), (h, 21)]), &perfect) - 98.0).abs() < 1e-9);
    assert!((overlap(&perfect, &perfect) - 100.0).abs() < 1e-9);
    assert_eq!(overlap(&perfect, &graph(&[(edge(9, 9, 9), 1)])), 0.0);
    assert_eq!(overlap(&perfect, &CallGraph::new()), 0.0);
    assert_eq!(overlap(&CallGraph::new(), &CallGraph::new()), 100.0);
}

/// A graph of 400 random calls against maps and sorting.
#[test]
fn call_graphs_agree_with_maps() {
    for seed in 0..100 {
        let mut random = SmallRng::seed_from_u64(seed);
        let mut graph = CallGraph::new();
        let mut parts = [CallGraph::new(), CallGraph::new()];
        let mut map: BTreeMap<CallEdge, u64> = BTreeMap::new();
        for round in 0..random.random_range(1..400) {
            let (edge, weight) = (random_edge(&mut random), random.random_range(0..9));
            graph.add(edge, weight);
            parts[round % 2].add(edge, weight);
            if weight > 0 {
                *map.entry(edge).or_default() += weight;
            }
        }
        let [mut merged, second] = parts;
        merged.merge(&second);
        assert_eq!(merged, graph);
        let total: u64 = map.values().sum();
        assert_eq!((graph.total(), graph.len(), graph.is_empty()), (total, map.len(), map.is_empty()));
        assert_eq!(graph.edges(), map.clone().into_iter().collect::<Vec<_>>());

        let hot: BTreeMap<_, _> =
            map.iter().filter(|&(_, &weight)| weight * 100 > total).map(|(&e, &w)| (e, w)).collect();
        let found = graph.hot(Share::percent(1));
        assert!(found.is_sorted_by_key(|&(edge, weight)| (std::cmp::Reverse(weight), edge)));
        assert_eq!(found.into_iter().collect::<BTreeMap<_, _>>(), hot);

        for site in graph.sites() {
            let of_site = map.iter().filter(|(edge, _)| edge.site == site.site);
            let expected: BTreeMap<_, _> = of_site.map(|(edge, &weight)| (edge.callee, weight)).collect();
            assert_eq!(site.total, expected.values().sum::<u64>());
            assert!(site.targets.is_sorted_by_key(|&(callee, weight)| (std::cmp::Reverse(weight), callee)));
            assert_eq!(site.targets.into_iter().collect::<BTreeMap<_, _>>(), expected);
        }
        assert_eq!(graph.sites().iter().map(|site| site.targets.len()).sum::<usize>(), map.len());

        let calls = |callee: MethodId| {
            map.iter().filter(|(edge, _)| edge.callee == callee).map(|(_, w)| w).sum::<u64>()
        };
        let top = graph.top_callees(3);
        assert!(top.iter().all(|&(callee, weight)| calls(callee) == weight));
        let least = top.last().map_or(0, |row| row.1);
        let others = (0..6).map(MethodId).filter(|&method| top.iter().all(|row| row.0 != method));
        assert!(others.map(calls).all(|weight| weight <= least || top.len() < 3));

        graph.decay(Share::HALF);
        let halved: Vec<_> = map.iter().map(|(&e, &w)| (e, w / 2)).filter(|row| row.1 > 0).collect();
        assert_eq!(graph.edges(), halved);
        assert_eq!(graph.total(), halved.iter().map(|row| row.1).sum::<u64>());
    }
}

/// Halved after each hundred: the total settles, and what is no longer called is forgotten.
#[test]
fn old_calls_are_forgotten() {
    let pass = |ageing: &mut AgeingCallGraph, times: usize, edge: CallEdge| {
        let decays = (0..times).filter(|_| ageing.add(edge, 1)).count();
        assert_eq!(decays, times / 100, "it says when it forgets");
    };
    let mut ageing = AgeingCallGraph::new(100, Share::HALF).unwrap();
    pass(&mut ageing, 1000, edge(0, 0, 1));
    // x = (x + 100) / 2, rounded down: 50, 75, 87, ... 99.
    assert_eq!(ageing.graph().weight(edge(0, 0, 1)), 99);
    pass(&mut ageing, 600, edge(0, 0, 2));
    assert_eq!(ageing.graph().weight(edge(0, 0, 1)), 1);
    pass(&mut ageing, 100, edge(0, 0, 2));
    assert_eq!((ageing.graph().weight(edge(0, 0, 1)), ageing.graph().len()), (0, 1));
    let error = AgeingCallGraph::new(0, Share::HALF).unwrap_err().to_string();
    assert_eq!(error, "calls: period cannot be 0; valid: 1..=18446744073709551615 samples");
    let error = Share::millionths(1_000_001).unwrap_err().to_string();
    assert_eq!(error, "calls: share cannot be 1000001; valid: 0..=1000000 millionths");
}

fn random_stack(random: &mut SmallRng) -> Vec<Frame> {
    let frame = |random: &mut SmallRng| Frame {
        method: MethodId(random.random_range(0..4)),
        position: random.random_range(0..3),
    };
    (0..random.random_range(0..7)).map(|_| frame(random)).collect()
}

/// A tree against a map from stacks to weights: contexts, limits, merging, the call graph, folded stacks.
#[test]
fn context_trees_agree_with_maps() {
    for seed in 0..100 {
        let mut random = SmallRng::seed_from_u64(seed);
        let depth = random.random_range(1..8);
        let mut parts = [ContextTree::limited(depth).unwrap(), ContextTree::limited(depth).unwrap()];
        let mut whole = ContextTree::limited(depth).unwrap();
        let mut map: BTreeMap<Vec<Frame>, u64> = BTreeMap::new();
        let mut calls = CallGraph::new();
        for round in 0..200 {
            let (stack, weight) = (random_stack(&mut random), random.random_range(1..5));
            whole.add(&stack, weight);
            parts[round % 2].add(&stack, weight);
            let mut kept = stack[stack.len().saturating_sub(depth)..].to_vec();
            let Some(leaf) = kept.last_mut() else { continue };
            leaf.position = 0;
            if let [.., caller, leaf] = kept[..] {
                calls.add(CallEdge::new(caller.method, caller.position, leaf.method), weight);
            }
            *map.entry(kept).or_default() += weight;
        }
        let expected: Vec<_> = map.clone().into_iter().collect();
        assert_eq!(whole.contexts(), expected);
        assert_eq!(whole.total(), map.values().sum::<u64>());
        assert_eq!(whole.call_graph(), calls);
        let [mut merged, second] = parts;
        merged.merge(&second);
        assert_eq!(merged, whole);
        assert!((context_overlap(&merged, &whole) - 100.0).abs() < 1e-9);

        let mut lines: BTreeMap<String, u64> = BTreeMap::new();
        for (stack, weight) in &map {
            let names: Vec<String> = stack.iter().map(|frame| format!("m_{}", frame.method.0)).collect();
            *lines.entry(names.join(";")).or_default() += weight;
        }
        let folded = whole.folded(|method| format!("m;{}", method.0));
        let read = |line: &str| {
            line.rsplit_once(' ').map(|(names, n)| (names.to_owned(), n.parse::<u64>().unwrap()))
        };
        assert_eq!(folded.lines().map(|line| read(line).unwrap()).collect::<BTreeMap<_, _>>(), lines);
        assert_eq!(folded.lines().count(), lines.len());

        // The overlap of the second half with the whole, by its definition.
        let of_second: BTreeMap<_, _> = second.contexts().into_iter().collect();
        let percent = |map: &BTreeMap<Vec<Frame>, u64>, stack: &Vec<Frame>| {
            map.get(stack).map_or(0.0, |&w| w as f64 * 100.0 / map.values().sum::<u64>() as f64)
        };
        let by_definition: f64 = map.keys().map(|s| percent(&map, s).min(percent(&of_second, s))).sum();
        assert!((context_overlap(&second, &whole) - by_definition).abs() < 1e-9);
        assert!((context_overlap(&whole, &second) - by_definition).abs() < 1e-9);
    }
    assert!(ContextTree::limited(0).is_err());
    assert!(ContextTree::new().is_empty());
}

/// A growing sample of a skewed profile: overlaps rise, and the moment is found from which they stay.
#[test]
fn convergence_is_a_series() {
    let perfect: CallGraph = (0..20).map(|n| (edge(0, n, n), 1000 / u64::from(n + 1))).collect();
    let pool: Vec<CallEdge> = perfect.edges().into_iter().flat_map(|(e, w)| vec![e; w as usize]).collect();
    let mut random = SmallRng::seed_from_u64(3);
    let (mut sample, mut series) = (CallGraph::new(), Convergence::new(&perfect));
    for at in 1..=4000 {
        sample.add(pool[random.random_range(0..pool.len())], 1);
        if at % 100 == 0 {
            let observed = series.observe(at, &sample);
            assert_eq!(observed, overlap(&sample, &perfect));
        }
    }
    let moments = series.moments();
    assert_eq!((moments.len(), moments[0].at, moments[39].at), (40, 100, 4000));
    assert!(moments[39].overlap > 95.0 && moments[39].overlap > moments[0].overlap);
    let ninety = series.reaches(90.0).unwrap();
    assert!(moments.iter().all(|moment| moment.at < ninety || moment.overlap >= 90.0));
    assert!(
        moments.iter().rev().find(|moment| moment.at < ninety).is_none_or(|moment| moment.overlap < 90.0)
    );
    assert_eq!(series.reaches(100.1), None);
}

/// A program in which one call was inlined: credited with the right scale, the profile is the perfect one again.
#[test]
fn inlined_calls_get_credit() {
    let (seen, gone) = (edge(0, 1, 1), edge(0, 2, 2));
    let path = |calls: &[(CallEdge, bool)], count| SampledPath {
        calls: calls.iter().map(|&(edge, inlined)| PassedCall { edge, inlined }).collect(),
        count,
    };
    // 3000 path executions, one sample for 10; of these, 2000 pass both calls, the inlined one twice, 1000 pass the inlined
    // one. One call sample for 4 calls.
    let paths = [path(&[(seen, false), (gone, true), (gone, true)], 200), path(&[(gone, true)], 100)];
    let calls = graph(&[(seen, 2000 / 4)]);
    for scale in [Scale::Estimated, Scale::Known { numerator: 10, denominator: 4 }] {
        let mut credited = calls.clone();
        let credit = credit(&mut credited, &paths, scale).unwrap();
        assert_eq!((credit.edges, credit.weight), (1, 5000 / 4));
        let perfect = graph(&[(seen, 2000), (gone, 5000)]);
        assert!((overlap(&credited, &perfect) - 100.0).abs() < 1e-9);
    }
    // A call that is inlined here and called there says nothing about the scale.
    let both = [path(&[(seen, false)], 5), path(&[(seen, true)], 5)];
    let mut untouched = calls.clone();
    assert!(credit(&mut untouched, &both, Scale::Estimated).is_err());
    assert!(credit(&mut untouched, &both, Scale::Known { numerator: 0, denominator: 1 }).is_err());
    assert_eq!(untouched, calls);
    // By windows of 64 paths and 16 calls: 300 samples of paths that pass 500 inlined calls are worth 75 of calls.
    let windows = Scale::Known { numerator: 300 * 16, denominator: 500 * 64 };
    assert_eq!(credit(&mut CallGraph::new(), &paths, windows).unwrap().weight, 75);
    // Rounded once for each edge: 5 * 1/2 is 3.
    let half = Scale::Known { numerator: 1, denominator: 2 };
    assert_eq!(credit(&mut untouched, &both, half).unwrap().weight, 3);
}

fn candidate(weight: u64, site_weight: u64, total: u64, size: u32, is_static: bool) -> Candidate {
    let (inside, makes, given, has_few) = (0, 0, 0, true);
    let edge = edge(1, 2, 3);
    Candidate { edge, weight, site_weight, inside, makes, given, total, size, is_static, has_few }
}

/// One of many targets.
fn many(weight: u64, site_weight: u64, total: u64, size: u32) -> Candidate {
    Candidate { has_few: false, ..candidate(weight, site_weight, total, size, false) }
}

/// The new policy with the limits of the vectors.
const LINE: Policy = Policy::New { limits: Limits::DEFAULT, guard: Share::percent(40), trusted: 1 };

/// I-1: the limit is a line up to the control point.
#[test]
fn i_1_limits() {
    for (permille, limit) in [(0, 20), (4, 40), (10, 70), (20, 120), (100, 120)] {
        assert_eq!(Limits::DEFAULT.limit(permille, 1000), limit);
        for (size, inlined) in [(limit, true), (limit + 1, false)] {
            let decision = LINE.decide(&candidate(permille, permille, 1000, size, true));
            assert_eq!(decision.is_inlined(), inlined, "{decision}");
        }
    }
    assert_eq!(Limits::DEFAULT.limit(0, 0), 20);
    assert!(Limits::new(20, 20, Share::percent(2)).is_err());
    assert!(Limits::new(20, 21, Share::percent(0)).is_err());
    assert_eq!(Limits::new(20, 120, Share::percent(2)), Ok(Limits::DEFAULT));
}

/// I-2: guards for more than 40 % of a site's samples.
#[test]
fn i_2_guards() {
    for (weights, guarded) in [
        (vec![55, 41, 4], vec![true, true, false]),
        (vec![45, 35, 20], vec![true, false, false]),
        (vec![39, 31, 30], vec![false, false, false]),
        (vec![40, 40, 20], vec![false, false, false]),
    ] {
        let candidates: Vec<_> =
            weights.iter().map(|&weight| candidate(weight, 100, 1000, 20, false)).collect();
        let decisions: Vec<_> = candidates.iter().map(|candidate| LINE.decide(candidate)).collect();
        assert_eq!(decisions.iter().map(|d| d.is_guarded()).collect::<Vec<_>>(), guarded, "{weights:?}");
        assert_eq!(decisions.iter().map(|d| d.is_inlined()).collect::<Vec<_>>(), guarded);
    }
}

/// The line and its inverse say the same, at every size and weight.
#[test]
fn limits_and_requirements_are_one_line() {
    let limits = Limits::DEFAULT;
    for size in 0..130 {
        for permille in 0..30 {
            let within = size <= limits.limit(permille, 1000);
            let required = limits
                .required(size)
                .is_some_and(|share| permille * 1000 >= u64::from(share.as_millionths()));
            assert_eq!(within, required, "size {size}, {permille} per mille");
        }
    }
}

/// A call that is seldom made is not cold for J9's policy if the callee makes many; for the others that changes nothing.
#[test]
fn what_makes_many_calls_is_not_cold() {
    let limits = Limits::new(60, 70, Share::percent(2)).unwrap();
    let policy = Policy::J9 { limits, cold: Policy::J9_COLD, guard: Share::percent(50) };
    for (inside, inlined) in [(0, false), (2, false), (3, true), (1000, true)] {
        for (weight, site_weight) in [(0, 0), (1, 1)] {
            let candidate = Candidate { inside, ..candidate(weight, site_weight, 10_000, 60, true) };
            let decision = policy.decide(&candidate);
            assert_eq!(decision.is_inlined(), inlined, "{candidate:?}");
            assert_eq!(matches!(decision.reason, Reason::MakesCalls { .. }), inlined, "{candidate:?}");
            assert!(!LINE.decide(&candidate).is_inlined());
            assert!(!Policy::OLD.decide(&candidate).is_inlined());
        }
    }
    // A callee that is larger than static heuristics allow must be called often itself, and so must one with a guard.
    for (size, is_static) in [(61, true), (60, false)] {
        let candidate = Candidate { inside: 5000, ..candidate(1, 1, 10_000, size, is_static) };
        assert!(!policy.decide(&candidate).is_inlined());
    }
}

/// What makes objects, or is given some, is inlined by J9's policy where the code around their making is not cold, however seldom the call
/// is made: by the same line, so that a larger callee needs more. Under a guard only what makes some, where all targets get one.
#[test]
fn what_has_to_do_with_objects_is_inlined_where_much_happens() {
    // Of 10,000: 3 are not cold, and what has 33 words needs 6.
    for (around, size, is_static, has_few, made, given) in [
        (3, 20, true, true, true, true),
        (5000, 20, true, true, true, true),
        (2, 20, true, true, false, false),
        (0, 20, true, true, false, false),
        (6, 33, true, true, true, true),
        (5, 33, true, true, false, false),
        (5000, 76, true, true, false, false),
        (5000, 20, false, true, true, false),
        (5000, 20, false, false, false, false),
    ] {
        for (weight, site_weight) in [(0, 0), (1, 1)] {
            let seldom = Candidate { has_few, ..candidate(weight, site_weight, 10_000, size, is_static) };
            assert!(!Policy::J9.decide(&seldom).is_inlined(), "{seldom:?}");
            let makes = Candidate { makes: around, ..seldom };
            let is_given = Candidate { given: around, ..seldom };
            for (candidate, is_inlined) in [(makes, made), (is_given, given)] {
                let decision = Policy::J9.decide(&candidate);
                assert_eq!(decision.is_inlined(), is_inlined, "{candidate:?}");
                if is_inlined && is_static {
                    let is_given = candidate.given > 0;
                    assert_eq!(matches!(decision.reason, Reason::GivenObjects { .. }), is_given);
                    assert_eq!(matches!(decision.reason, Reason::MakesObjects { .. }), !is_given);
                }
                for policy in [Policy::OLD, Policy::NEW, LINE] {
                    assert_eq!(policy.decide(&candidate).reason, policy.decide(&seldom).reason);
                }
            }
        }
    }
}

/// Where all targets are tested for, J9's policy judges the site: what was seldom seen there, or never, is inlined with the others. Not so where
/// there are more, and not in the paper's way.
#[test]
fn few_targets_are_judged_together() {
    for (site_weight, size, is_inlined) in
        [(2, 20, false), (3, 20, true), (5, 33, false), (6, 33, true), (5000, 33, true), (5000, 76, false)]
    {
        for weight in [0, 1, site_weight] {
            let few = candidate(weight, site_weight, 10_000, size, false);
            assert_eq!(Policy::J9.decide(&few).is_inlined(), is_inlined, "{few:?}");
            let alone = is_inlined && weight == site_weight;
            let many = many(weight, site_weight, 10_000, size);
            assert_eq!(Policy::J9.decide(&many).is_inlined(), alone, "{many:?}");
            assert_eq!(Policy::J9_PLAIN.decide(&few).is_inlined(), alone, "{few:?}");
        }
    }
}

/// J9's policy as in the paper against the rule as it is written there: a cold site is not inlined, and the weight that is required grows
/// linearly with the size. What was added to it here changes nothing.
#[test]
fn j9_as_in_the_paper() {
    let mut random = SmallRng::seed_from_u64(9);
    let mut differs = 0;
    for _ in 0..20_000 {
        let total = 1_000_000;
        let site_weight = random.random_range(0..6_000);
        let weight = random.random_range(0..=site_weight);
        let (size, is_static) = (random.random_range(0..100), random.random_bool(0.5));
        let plain = candidate(weight, site_weight, total, size, is_static);
        // 0.03 % of a million are 300 calls; from 23 to 75 words, the requirement goes from 0 to 0.3 %.
        let required = (f64::from(size) - 23.0) / 52.0 * 3000.0;
        let (is_cold, is_heavy) =
            (weight == 0 || site_weight < 300, weight >= 300 && weight as f64 >= required);
        let expected = !is_cold && is_heavy && size <= 75;
        let decision = Policy::J9_PLAIN.decide(&plain);
        assert_eq!(decision.is_inlined(), expected, "{decision}");
        let more = random.random_range(0..total);
        for beside in [
            Candidate { inside: more, ..plain },
            Candidate { makes: more, ..plain },
            Candidate { given: more, ..plain },
            Candidate { has_few: true, ..plain },
        ] {
            assert_eq!(Policy::J9_PLAIN.decide(&beside).reason, decision.reason, "{beside:?}");
            differs += usize::from(Policy::J9.decide(&beside).is_inlined() != expected);
        }
    }
    assert!(differs > 1000, "{differs}");
}

/// What each policy does, with the reason that it prints.
#[test]
fn decisions_have_reasons() {
    let trust = Policy::New { limits: Limits::DEFAULT, guard: Share::percent(40), trusted: 10 };
    for (policy, candidate, reason) in [
        (Policy::OLD, candidate(10, 10, 1000, 20, true), "within the limit of 20 bytecodes"),
        (Policy::OLD, candidate(10, 10, 1000, 21, true), "beyond the limit of 20 bytecodes"),
        (Policy::OLD, candidate(11, 90, 1000, 120, false), "within the limit of 120 bytecodes"),
        (
            Policy::OLD,
            candidate(10, 10, 1000, 5, false),
            "several targets, and the edge has no more than 1 % of all weight",
        ),
        (LINE, candidate(0, 0, 1000, 5, false), "several targets, and no samples of this one"),
        (LINE, candidate(0, 0, 1000, 5, true), "within the limit of 20 bytecodes"),
        (LINE, candidate(1, 1, 1000, 25, false), "within the limit of 25 bytecodes"),
        (LINE, candidate(40, 100, 1000, 5, false), "no more than 40 % of the samples of its site"),
        (trust, candidate(9, 9, 100, 21, true), "beyond the limit of 20 bytecodes"),
        (trust, candidate(9, 9, 100, 5, false), "several targets, and no samples of this one"),
        (Policy::J9, candidate(0, 0, 1000, 5, true), "the site has less than 0.03 % of all weight"),
        (Policy::J9, candidate(1, 1, 1000, 20, true), "within the limit of 75 bytecodes"),
        (Policy::J9, candidate(1, 1, 1000, 42, true), "for its size the edge needs 0.1097 % of all weight"),
        (Policy::J9, candidate(2, 2, 1000, 42, true), "within the limit of 75 bytecodes"),
        (Policy::J9, candidate(500, 500, 1000, 76, false), "beyond the limit of 75 bytecodes"),
        (Policy::J9, candidate(20, 200, 1000, 20, false), "within the limit of 75 bytecodes"),
        (Policy::J9, many(120, 200, 1000, 20), "no more than 60 % of the samples of its site"),
        (Policy::J9, many(121, 200, 1000, 20), "within the limit of 75 bytecodes"),
        // How many targets there are is no matter where there is only one, or for the other policies.
        (
            Policy::J9,
            Candidate { is_static: true, ..many(100, 200, 1000, 20) },
            "within the limit of 75 bytecodes",
        ),
        (LINE, many(90, 200, 1000, 20), "within the limit of 120 bytecodes"),
        (Policy::OLD, many(20, 200, 1000, 20), "within the limit of 120 bytecodes"),
    ] {
        let decision = policy.decide(&candidate);
        assert_eq!(decision.reason.to_string(), reason, "{}", policy.name());
        let inlined = matches!(decision.reason, Reason::Fits { .. } | Reason::FitsGuarded { .. });
        assert_eq!(decision.is_inlined(), inlined);
    }
    let shown = LINE.decide(&candidate(1, 1, 1000, 25, false)).to_string();
    let expected = "m1@2 -> m3 (25 bytecodes, weight 1 of 1 of 1000): inlined under a guard: within the limit of 25 bytecodes";
    assert_eq!(shown, expected);
    let shown = LINE.decide(&candidate(0, 0, 1000, 25, false)).to_string();
    assert!(shown.ends_with("not inlined: several targets, and no samples of this one"), "{shown}");
}
