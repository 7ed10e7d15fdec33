"""Bond and McKinley 2005."""

import math
import re

from .basics import (
    Unknown,
    above_one,
    average,
    beside,
    by_program,
    costs,
    dearest,
    flagged,
    having,
    least_squares,
    mean,
    mean_ratio,
    median,
    most_of,
)
from .shapes import apart, half, ordered, shared, value, within

PEP = "pep:samples=64,stride=17"
OVERLAP = "edges.sampled.exact_paths"
HASH, ARRAY, EDGES = "--profile blpp:storage=hash", "--profile blpp:storage=array", "--profile edges"
ONLY = f"--profile {PEP} --timer wall:1h"
# The register alone, with additions where they are placed otherwise.
NAIVE, DEAR = (f"--profile {PEP},placement={of} --timer wall:1h" for of in ("naive", "hot"))
HOT = "paths.branch.accuracy"
ONE_TIME = "edges.one_time.exact_edges.relative"


def driven(ours, base, layout=True, inlining=True):
    """Flags by which code by one profile is set against code by another."""
    of = lambda versus, profile: " ".join(
        [f"--{versus}layout {profile}"] * layout + [f"--{versus}inline new --{versus}inline-profile {profile}"] * inlining
    )
    return f"{of('', ours)} {of('vs-', base)}"


BY_EXACT, BY_FLIPPED = ("one-time", "exact=@exact.json"), ("flipped=@exact.json", "one-time")
GAIN, FLIPPED = driven(*BY_EXACT), driven(*BY_FLIPPED)

# Of the programs with phases, those of which branches change, and the others. All other programs are steady.
CHANGING = "depot guests post sparse tokenizer".split()
OTHERS = "dispatcher orders shapes".split()


def group(name):
    """The programs of a group."""
    is_in = {
        "steady": lambda program: program not in CHANGING + OTHERS,
        "branches": lambda program: program in CHANGING,
        "others": lambda program: program in OTHERS,
    }
    return lambda cells: [cell for cell in cells if is_in[name](cell.program)]


def lost(cells):
    """Points that relative overlap is lower by against counted edges, at least 0."""
    of = lambda reference: average(f"edges.sampled.{reference}.relative", f"--profile {PEP}")(cells)
    return max(of("exact_paths") - of("exact_edges"), 0.0)


def additions(flags):
    """Additions for each path that ends: the mean over programs."""

    def of(cells):
        own = flagged(cells, flags, timed=False)
        number = lambda cell, name: cell.number(f"counts.profiled.{name}")
        return mean(number(cell, "additions_executed") / max(number(cell, "path_ends"), 1) for cell in own)

    return of


def placed(cells):
    """The same by placement: smart, naive and hot."""
    return [additions(f"--profile pep:placement={of}")(cells) for of in ("smart", "naive", "hot")]


def price(which):
    """Nanoseconds of a sample or a skip: least squares over what machines took longer, all samples of a cell together."""

    def of(cells):
        rows = []
        for cell in (cell for cell in having(cells, "--timer wall:1ms") if cell.kind == "overhead"):
            samples = cell.number("profiled.path_samples")
            taken = cell.number("profiled.yieldpoints_taken") - cell.number("base.yieldpoints_taken")
            longer = math.fsum(cell.sample("profiled.cpu_ns")) - math.fsum(cell.sample("base.cpu_ns"))
            rows.append((samples, taken - samples, longer))
        return least_squares(rows)[which]

    return of


def compiled(cell):
    """Seconds of compilation without PEP, of both machines that do, and with it."""
    base, again, with_pep = (cell.number(f"{arm}.compile_ns") / 1e9 for arm in ("base", "again", "profiled"))
    return [(base + again) / 2, with_pep]


def first_iteration(seconds, pick=None):
    """The overhead of so long a run after its compilation: of the dearest program, or of the mean overhead and mean times."""

    def whole(cells):
        own = flagged(cells, f"--profile {PEP}")
        alone, interval = mean_ratio([cell.rounds("overhead") for cell in own])
        compiling = flagged(cells, f"--profile {PEP}", fresh=True)
        without, with_pep = (mean(times) for times in zip(*map(compiled, compiling)))
        together = lambda percent: 100 * ((seconds * (1 + percent / 100) + with_pep) / (seconds + without) - 1)
        return together(alone), interval and tuple(map(together, interval))

    def dearest_of(cells):
        own = flagged(cells, f"--profile {PEP}") + flagged(cells, f"--profile {PEP}", fresh=True)
        return pick(map(whole, by_program(own).values()), key=lambda of: of[0])

    return dearest_of if pick else whole


def growth(cells):
    """The mean over programs of how much the time of compilation grows, in percent."""
    times = [compiled(cell) for cell in flagged(cells, f"--profile {PEP}", fresh=True)]
    return mean(100 * (with_pep / without - 1) for without, with_pep in times)


def compiling(which):
    """Seconds of compiling all programs once: without PEP, and with it."""
    return lambda cells: math.fsum(compiled(cell)[which] for cell in flagged(cells, f"--profile {PEP}", fresh=True))


def by_clock(profiler):
    """Medians over trials, averaged over programs, of runs with ticks of a clock."""

    def of(cells):
        own = [cell for cell in having(cells, f"--profile {profiler}") if "--timer wall:" in cell.commands]
        return 100 * mean(median(cell.number("paths.branch.accuracy") for cell in of) for of in by_program(own).values())

    return of


def virtual(profiler, score="paths.branch.accuracy"):
    """The mean of a score in runs with virtual ticks: how accurate paths are, by branch flow."""

    def of(cells):
        own = [cell for cell in having(cells, f"--profile {profiler}") if cell.kind == "numbers" and "--timer virtual:" in cell.commands]
        return 100 * mean(cell.number(score) for cell in own)

    return of


def one_time(of_group, pick=mean):
    """Relative overlap of one-time profiles: medians over trials, and of these the mean or the least."""

    def of(cells):
        own = by_program(group(of_group)(cells))
        return 100 * pick([median(cell.number(ONE_TIME) for cell in of) for of in own.values()])

    return of


def profiled(of_group, flags, name="overhead"):
    """The mean ratio of code by two profiles over the programs of a group."""
    return lambda cells: costs(flags, name)(group(of_group)(cells))


def whole_runs(cells, in_turns=True):
    """The cells of whole runs of steady programs, with PEP in turns or in all code."""
    own = [cell for cell in cells if cell.has("--whole-runs") and ("code=turns" in cell.flags) == in_turns]
    if not own:
        raise Unknown("no cell has whole runs")
    return own


def processes(cells):
    """The ratio of whole runs of programs with phases, of neighbours with the same trial."""
    times = {}
    for cell in (cell for cell in cells if cell.kind == "times"):
        trial = int(re.search(r"--seed (\d+)", cell.commands).group(1))
        times[(cell.program, trial, cell.has("--continuous"))] = math.fsum(cell.sample("samples_ns"))
    ratios = {}
    for (program, trial, driven_by_pep), time in sorted(times.items()):
        if not driven_by_pep:
            if (program, trial, True) not in times:
                raise Unknown(f"a run of {program} is missing")
            ratios.setdefault(program, []).append(math.log(times[(program, trial, True)] / time))
    return mean_ratio(list(ratios.values()))


# What each check is computed from: by the name of its experiment and its words.
RECIPES = {
    "pep-sec2-comparisons": {"average overhead of PEP(64,17) on the programs of figure 6, against that of PPP": costs(f"--profile {PEP}")},
    "pep-sec3.1-blpp-cost": {
        "average cost of counting paths in arrays": costs(ARRAY),
        "average cost of counting edges": costs(EDGES),
    },
    "pep-sec3.2-step-split": {"additions for each path that ends, mean over programs": additions(HASH)},
    "pep-sec3.4-placement": {"average overhead of the register with smart placement": costs(ONLY)},
    "pep-sec5.1-perfect-cost": {
        "average cost of counting paths": costs(HASH),
        "largest cost of counting paths": dearest(HASH),
        "average cost of counting edges": costs(EDGES),
        "largest cost of counting edges": dearest(EDGES),
    },
    "pep-fig6": {
        "average overhead of PEP(64,17)": costs(f"--profile {PEP}"),
        "overhead of PEP(64,17) for the dearest program": dearest(f"--profile {PEP}"),
        "the same machine twice": costs(f"--profile {PEP}", "again"),
    },
    "pep-fig7": {
        "average overhead of a run of 11 seconds with its compilation": first_iteration(11),
        "the same for the dearest program": first_iteration(11, max),
        "average overhead of a run of 4 s": first_iteration(4),
        "average overhead of a run of 1 s": first_iteration(1),
        "average growth of the time of compilation": growth,
        "processor time of the compiler, all programs once, without PEP": compiling(0),
        "processor time of the compiler, all programs once, with PEP(64,17)": compiling(1),
    },
    "pep-fig8": {
        "average accuracy of PEP(64,17)": virtual(PEP),
        "average accuracy of one sample for each tick": virtual("pep:schedule=timer"),
        "average accuracy of one sample for each tick of a clock": by_clock("pep:schedule=timer"),
    },
    "pep-fig9": {
        "average relative overlap of PEP(64,17)": virtual(PEP, f"{OVERLAP}.relative"),
        "the same where branches that were never sampled are those of the one-time profile": virtual(PEP, f"{OVERLAP}.with_fallback"),
        "executions of branches that were sampled": virtual(PEP, f"{OVERLAP}.coverage"),
    },
    "pep-sec6.4-instr-edge-reference": {"points of relative overlap lost against counted edges": lost},
    "pep-sec6.4-absolute-overlap": {
        f"average absolute overlap of PEP({samples},17)": average(f"{OVERLAP}.absolute", f"--profile pep:samples={samples},stride=17")
        for samples in (64, 256, 1024)
    },
    "pep-sec4.4-striding": {"cost of a sample": price(0), "cost of a skip": price(1)},
    "pep-sec6.5-onetime-accuracy": {
        "average relative overlap, steady programs": one_time("steady"),
        "relative overlap, worst of the steady programs": one_time("steady", min),
        "where something else changes than branches": one_time("others"),
    },
    "pep-fig10": {
        "average gain of exact continuous counts over the one-time profile, steady programs": beside(
            profiled("steady", GAIN), profiled("branches", GAIN)
        ),
        "average loss by flipped counts, steady programs": profiled("steady", FLIPPED),
        "average gain of exact counts, programs whose branches change": profiled("branches", GAIN),
        "the same machine twice": profiled("steady", GAIN, "again"),
        "average gain of exact counts: order of blocks alone": costs(driven(*BY_EXACT, inlining=False)),
        "average gain of exact counts: inlining alone": costs(driven(*BY_EXACT, layout=False)),
    },
    "pep-fig11": {
        "average overhead, steady programs": lambda cells: above_one(whole_runs(cells)),
        "overhead of the dearest steady program": lambda cells: most_of(whole_runs(cells), max),
        "average overhead, programs whose branches change": processes,
        "the same twice, steady programs": lambda cells: above_one(whole_runs(cells), "again"),
        "average overhead, steady programs, PEP in all code": lambda cells: above_one(whole_runs(cells, in_turns=False)),
    },
}


def small_part(cells):
    """What computing the number costs, of all; of nothing there is no part."""
    only, arrays, hashed = (value(flags)(cells) for flags in (ONLY, ARRAY, HASH))
    share = [100 * only / hashed] if hashed > 0 else []
    return bool(share) and share[0] <= 10, [*share, only, arrays, hashed]


def counted_dearer(cells):
    """PEP, arrays and hash tables, of the programs that have all: each costs more than the one before."""
    flags = [f"--profile {PEP}", ARRAY, HASH]
    own = shared(cells, *flags)
    values = [value(of)(own) for of in flags]
    return values[0] < values[1] < values[2], values


def beside_traces(cells):
    """By count flow: PEP, and traces of compiled code of four and of sixteen branches."""
    four, sixteen = (
        100 * mean(cell.number("traces.count.accuracy") for cell in cells if f"btb:backend=burst,{of}," in cell.commands)
        for of in ("depth=4,weights=equal", "depth=16,weights=em")
    )
    own = virtual(PEP, "paths.count.accuracy")(cells)
    return own >= four, [own, four, sixteen]


def smart_adds_least(cells):
    """Smart placement adds less than naive, and that less than hot."""
    smart, naive, hot = placed(cells)
    return smart < naive < hot, [smart, naive, hot]


def hot_adds_most(cells):
    """Hot placement adds five times what smart does."""
    smart, _, hot = placed(cells)
    return hot >= 5 * smart, [hot / max(smart, 1e-9)]


def smart_is_no_slower(cells):
    """Smart placement takes no longer than hot, but for noise, of the programs that have each."""
    own = shared(cells, ONLY, NAIVE, DEAR)
    (smart, first), (naive, _), (hot, last) = (costs(of)(own) for of in (ONLY, NAIVE, DEAR))
    return within(smart - hot, apart(first, last)), [smart, naive, hot]


def more_samples(cells):
    """The register alone, one sample, 64, 256 and 1024, of the programs that have all: none costs more than the next but for noise, and the last
    more than the third."""
    flags = [ONLY, *(f"--profile pep:samples={of}" for of in ("1,stride=1", "64,stride=17", "256,stride=17", "1024,stride=17"))]
    own = shared(cells, *flags)
    found = [costs(of)(own) for of in flags]
    values = [of[0] for of in found]
    steps = [within(one[0] - other[0], apart(one[1], other[1])) for one, other in zip(found, found[1:])]
    return all(steps) and values[2] < values[4], values


def finer(score, below):
    """A score of the timer and of 64, 256 and 1024 samples, not falling by more than half a point; the timer is below the next."""

    def of(cells):
        specs = ["pep:schedule=timer", *(f"pep:samples={samples},stride=17" for samples in (64, 256, 1024))]
        timer, *others = (virtual(spec, score)(cells) for spec in specs)
        rising = all(one <= other + 0.5 for one, other in zip(others, others[1:]))
        return below(timer, others[0]) and rising, [timer, *others]

    return of


def alike(cells):
    """Programs of which a run that counts and one that samples have the same digest of graphs and numbers."""
    own = by_program([cell for cell in cells if cell.kind == "statistics"]).values()
    digests = [{tuple(cell.number(f"path_digest.{half}") for half in ("high", "low")) for cell in both} for both in own]
    if any(len(both) != 2 for both in own) or any((0, 0) in of for of in digests):
        raise Unknown("a program has no two digests")
    same = sum(len(of) == 1 for of in digests)
    return same == len(digests), [same, len(digests)]


def finer_by_clock(cells):
    """The timer at least five points below, by a clock."""
    timer, usual = (by_clock(of)(cells) for of in ("pep:schedule=timer", PEP))
    return timer + 5 <= usual, [timer, usual]


def changing(cells):
    """One-time profiles where branches change."""
    steady, branches = (one_time(of)(cells) for of in ("steady", "branches"))
    return branches <= 80 and branches + 10 <= steady, [branches]


def in_between(cells):
    """Continuous, one-time, flipped: the first two but for noise."""
    gain, flipped = (profiled("steady", of)(cells)[0] for of in (GAIN, FLIPPED))
    noise = max(half(of)(group("steady")(cells)) for of in (GAIN, FLIPPED))
    return within(-gain, noise) and not within(flipped, noise), [gain, flipped]


class Schedules:
    """The grid of section 4.4: for samples, stride and whether it strides throughout, cost and accuracies."""

    def __init__(self, cells):
        prices = [price(which)(cells) for which in (0, 1)]
        grid = {}
        for cell in cells:
            found = re.search(r"--profile pep:samples=(\d+),stride=(\d+)(,schedule=arnold-grove)? --profile-out", cell.commands)
            if found and "--timer virtual:" in cell.commands:
                grid.setdefault((int(found.group(1)), int(found.group(2)), bool(found.group(3))), []).append(cell)
        self.points = {}
        for (samples, stride, throughout), own in grid.items():
            skips = (stride - 1) / 2 + ((samples - 1) * (stride - 1) if throughout else 0)
            scores = [100 * mean(cell.number(name) for cell in own) for name in (HOT, "edges.sampled.exact_paths.relative")]
            self.points[samples, stride, throughout] = (samples * prices[0] + skips * prices[1], *scores)

    def lead(self, score):
        """By how much one that strides throughout is better than the best that does not and costs no more, at most."""
        simple = [of for (_, _, throughout), of in self.points.items() if not throughout]
        return max(
            of[score] - max(other[score] for other in simple if other[0] <= of[0])
            for (_, _, throughout), of in self.points.items()
            if throughout
        )


def does_not_pay(score):
    """Striding after the first sample."""

    def of(cells):
        lead = Schedules(cells).lead(score)
        return lead <= 1, [lead]

    return of


def matters_most(cells):
    """What striding adds by the clock, before the first sample and afterwards, with one sample and with 64: after one there is nothing."""
    specs = ["schedule=timer", *(f"samples={of}" for of in ("1,stride=17", "64,stride=1", "64,stride=17", "64,stride=17,schedule=arnold-grove"))]
    one, one_stride, many, many_stride, throughout = (by_clock(f"pep:{of}")(cells) for of in specs)
    before, after = ((one_stride - one) + (many_stride - many)) / 2, (throughout - many_stride) / 2
    return before > after, [before, after]


def costs_most(cells):
    """Hash tables cost at least twice what edges do, and these twice what PEP does."""
    hashed, arrays, edges, own = (value(flags)(cells) for flags in (HASH, ARRAY, EDGES, f"--profile {PEP}"))
    return hashed >= 2 * edges > 0 and edges >= 2 * own, [hashed, arrays, edges, own]


def nobody_far_off(cells):
    """The dearest program, with samples and with instrumentation alone, beside twice the paper's largest."""
    own, only = (dearest(flags)(cells)[0] for flags in (f"--profile {PEP}", ONLY))
    return max(own, only) <= 10.8, [own]


def no_whole_run_far_off(cells):
    """The dearest steady program in whole runs, but for its interval or what the same twice differs by, beside twice the paper's largest."""
    cell = max(whole_runs(cells), key=lambda cell: mean(cell.rounds("overhead")))
    (share, ends), (again, _) = above_one([cell]), above_one([cell], "again")
    return min(ends[0] if ends else share, share - abs(again)) <= 6.4, [share]


def linear(name):
    """Time of a pass for each edge of the graphs: the median over programs, and that of the program with most edges."""

    def of(cells):
        own = [cell for cell in cells if cell.kind == "statistics" and "--profile pep" in cell.commands]
        edges = lambda cell: cell.number("path_edges")
        rate = lambda cell: cell.number(f"passes_ns.{name}") / edges(cell)
        usual, largest = median(map(rate, own)), rate(max(own, key=edges))
        return largest <= 1.5 * usual, [usual, largest]

    return of


def harder(cells):
    """Absolute overlap is not above relative."""
    of = lambda score: average(f"edges.sampled.exact_paths.{score}", f"--profile {PEP}")(cells)
    return of("absolute") <= of("relative"), [of("absolute")]


# Whether each shape holds, and the numbers of its text.
SHAPES = {
    "pep-sec2-comparisons": {
        "sampled paths cost less than counted ones": counted_dearer,
        "as accurate as branch traces, by the same measure": beside_traces,
    },
    "pep-sec3.4-placement": {
        "smart adds less than naive, and naive less than hot": smart_adds_least,
        "hot placement adds several times as much": hot_adds_most,
        "smart placement takes no longer than hot": smart_is_no_slower,
    },
    "pep-sec3.1-blpp-cost": {
        "storing costs more than the register, and hash tables more than arrays": ordered(value(HASH), value(ARRAY), value(ONLY)),
        "edges cost less than paths": lambda cells: (
            value(EDGES)(cells) < min(value(ARRAY)(cells), value(HASH)(cells)),
            [value(EDGES)(cells), value(ARRAY)(cells)],
        ),
    },
    "pep-sec3.2-step-split": {
        "computing the number is a small part of the cost": small_part,
        "a counter in an array is dearer than the register, too": ordered(value(ARRAY), value(ONLY), shown=(1, 0)),
    },
    "pep-sec4.4-striding": {
        "striding after the first sample does not pay: paths": does_not_pay(1),
        "striding after the first sample does not pay: edges": does_not_pay(2),
        "striding before the first sample matters most": matters_most,
    },
    "pep-sec5.1-perfect-cost": {"paths cost more than edges, and these more than PEP": costs_most},
    "pep-fig6": {"no program is far off": nobody_far_off, "more samples cost more": more_samples},
    "pep-fig7": {
        f"PEP's passes are linear: {words}": linear(name)
        for words, name in (
            ("the graph of paths (P-DAG)", "path-graph"),
            ("numbering", "path-numbering"),
            ("putting code in", "path-insertion"),
        )
    },
    "pep-sec6.4-absolute-overlap": {"harder than relative overlap": harder},
    "pep-fig8": {
        "more samples are more accurate": finer(HOT, lambda timer, usual: timer <= usual),
        "by a clock as well, more samples are more accurate": finer_by_clock,
        "a run that counts and one that samples number paths alike": alike,
    },
    "pep-fig9": {"more samples are more accurate": finer(f"{OVERLAP}.relative", lambda timer, usual: timer < usual)},
    "pep-sec6.5-onetime-accuracy": {"where branches change, one-time profiles are clearly worse": changing},
    "pep-fig10": {"continuous, one-time, flipped": in_between},
    "pep-fig11": {"no steady program is far off": no_whole_run_far_off},
}
