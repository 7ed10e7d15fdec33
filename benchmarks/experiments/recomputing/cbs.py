"""Arnold and Grove 2005."""

import math
import random
import re

from . import sources
from .basics import Unknown, above_one, above_one_over, average, by_program, costs, flagged, having, least_squares, mean, mean_ratio, median, student
from .shapes import is_above_nothing, within

# The paper's ticks, in nanoseconds.
TICK = 10e6


def speedups(kind):
    """Cells that compare two inliners: by which calls each was told."""

    def is_of(cell):
        both = (cell.has("--inline-profile"), cell.has("--vs-inline-profile"))
        by_timer = "schedule=timer" in cell.commands
        return {
            "new over old": "--inline old:" not in cell.commands,
            "new over old with the same limits": "--inline old:" in cell.commands,
            "cbs over timer": both == (True, True),
            "cbs over static": both == (False, True) and not by_timer,
            "timer over static": both == (False, True) and by_timer,
        }[kind]

    def pick(cells):
        found = [cell for cell in cells if cell.kind == "overhead" and is_of(cell)]
        if not found:
            raise Unknown("no cell is of this check")
        return found

    return pick


def saved_time(cells):
    """By how many percent the base's time of compilation is below that of the other: over rounds where a program has one cell, else over its cells."""

    def logarithms(cell):
        return [math.log(one / other) for one, other in zip(cell.sample("base.compile_ns"), cell.sample("profiled.compile_ns"))]

    rounds = []
    for own in by_program(cells).values():
        each = [logarithms(cell) for cell in own]
        rounds.append(each[0] if len(each) == 1 else [mean(of) for of in each])
    value, interval = mean_ratio(rounds)
    return -value, interval and (-interval[1], -interval[0])


def saved_bytes(cells):
    """The same of the machine code, without an interval."""
    share = lambda cell: (1 - cell.number("base.code_bytes") / cell.number("profiled.code_bytes")) * 100
    return mean(mean(map(share, own)) for own in by_program(cells).values())


# The virtual machines of table 3: who samples in the base and with CBS, and what was measured of its cost.
MACHINES = {
    "Jikes RVM, CBS(3,16)": (
        ("cbs:schedule=timer,at=prologue", "cbs:samples=16,stride=3,schedule=arnold-grove,at=prologue"),
        "--profile cbs:samples=16,stride=3 --vs cbs:schedule=timer --tier o0",
    ),
    "J9, CBS(7,16)": (
        tuple(f"cbs:samples={of},schedule=arnold-grove,at=prologue" for of in ("1,stride=1", "16,stride=7")),
        "--profile cbs:samples=16,stride=7 --tier o0",
    ),
}


def rows_of_table3(machine, *ticks):
    """Accuracies of base and CBS, of all runs or of those with so many ticks."""
    words = [f"--ticks {of}" for of in ticks]

    def of(cells):
        own = [cell for cell in having(cells, *words) if cell.kind == "calls"]
        return [[cell.number(f"{name}.overlap") for name in MACHINES[machine][0]] for cell in own]

    return of


def table3(machine, *ticks):
    """The mean accuracy of CBS."""
    return lambda cells: mean(sampled for _, sampled in rows_of_table3(machine, *ticks)(cells))


def course(cells, *words):
    """The mean over programs of the overlap at each moment, up to the shortest, and at the end."""
    own = having(cells, *words)
    every = [
        list(zip(cell.sample("calls_over_time.sampled.ticks"), cell.sample("calls_over_time.sampled.overlap")))
        for cell in own
    ]
    common = min(len(of) - 1 for of in every)
    moments = [[of[at] for of in every] for at in range(common)] + [[of[-1] for of in every]]
    return [(mean(at for at, _ in of), 100 * mean(share for _, share in of)) for of in moments]


def reached(least):
    """The part of the run from which on the overlap stays at a level; `None` is that which the timer ends with."""

    def of(cells):
        ours = course(cells, "--profile cbs:samples=16,stride=3")
        level = least if least is not None else course(cells, "--profile cbs:schedule=timer")[-1][1]
        first = None
        for at, share in reversed(ours):
            if share < level:
                break
            first = at
        return 101.0 if first is None else 100 * first / ours[-1][0]

    return of


# A window of this is open nearly all the time.
ALWAYS = ("1048576", "31")


def windows(cells):
    """Of each configuration with ticks of 10 ms and each program: samples and skips for each nanosecond of the base, and the overhead."""
    points = {}
    for cell in having(cells, "--timer wall:10ms"):
        base = math.fsum(cell.sample("base.cpu_ns"))
        share = math.exp(mean(cell.rounds("overhead"))) - 1
        row = (cell.number("profiled.call_samples") / base, cell.number("profiled.call_skips") / base, share)
        points.setdefault(re.search(r"samples=(\d+),stride=(\d+)", cell.commands).groups(), []).append(row)
    return points


def observations(cells):
    """Means over programs, without the window that is always open."""
    return [tuple(map(mean, zip(*rows))) for point, rows in windows(cells).items() if point != ALWAYS]


def prices(cells):
    """Nanoseconds of a sample and of a skip, by least squares."""
    return least_squares(observations(cells))


def paid(cells):
    """What a point of the grid costs, in percent: a function of samples and stride."""
    sample, skip = prices(cells)
    rates = [samples + skips for samples, skips, _ in windows(cells)[ALWAYS]]

    def of_program(samples, stride, rate):
        cost = samples * (sample + (stride - 1) * skip)
        ticks = math.ceil((samples * stride / rate + cost) / TICK)
        return cost / (ticks * TICK - cost)

    return lambda samples, stride: 100 * mean(of_program(samples, stride, rate) for rate in rates)


def grid(cells, what="overlap"):
    """A number of each point of the grid and each program: the median of its trials."""
    found = {}
    for cell in (cell for cell in cells if cell.kind == "calls"):
        for name, value in cell.outcome["numbers"].items():
            point = re.fullmatch(rf"cbs:samples=(\d+),stride=(\d+),schedule=arnold-grove,at=prologue\.{what}", name)
            if point:
                found.setdefault(tuple(map(int, point.groups())), {}).setdefault(cell.program, []).append(value)
    return {point: {program: median(values) for program, values in own.items()} for point, own in found.items()}


def accuracies(cells):
    """The mean accuracy of each point of the grid."""
    return {point: mean(own.values()) for point, own in grid(cells).items()}


def affordable(percent):
    """The best mean accuracy of the grid that costs no more than so much."""

    def of(cells):
        cost = paid(cells)
        return max(value for point, value in accuracies(cells).items() if cost(*point) <= percent)

    return of


def closed(cells):
    """The points whose windows end before the next tick in three of four programs: nine of ten samples asked for are taken."""
    samples, ticks = grid(cells, "samples"), grid(cells, "ticks")
    full = lambda point: [taken >= 0.9 * point[0] * ticks[point][program] for program, taken in samples[point].items()]
    return {point for point in samples if 4 * sum(full(point)) >= 3 * len(samples[point])}


def as_accurate(table, are_closed):
    """Points of the paper's grid, of those that were measured, are not empty there, and have windows that end before the next tick or not: how many are as
    accurate as it, of how many."""

    def of(cells):
        theirs, ours, ending = sources.paper("cbs", table), accuracies(cells), closed(cells)
        points = {
            (samples, stride): printed
            for samples, row in zip(theirs["samples"], theirs["accuracy"])
            for stride, printed in zip(theirs["strides"], row)
            if printed is not None and (samples, stride) in ours and ((samples, stride) in ending) == are_closed
        }
        return sum(ours[point] >= printed for point, printed in points.items()), len(points)

    return of


def where_windows_go_on(table):
    """How many are where they do not end, in percent."""

    def of(cells):
        kept, points = as_accurate(table, False)(cells)
        return 100 * kept / points

    return of


def idle(cells):
    """How far the mean overhead without any tick is from nothing, either way."""
    value, interval = costs("--profile cbs --tier o0 --timer wall:1h")(cells)
    return (-value, interval and (-interval[1], -interval[0])) if value < 0 else (value, interval)


def program_of(kind, pick):
    """The program with the largest or least speed-up."""

    def of(cells):
        own = by_program(speedups(kind)(cells)).values()
        return above_one_over(pick(own, key=lambda cells: mean(mean(cell.rounds("overhead")) for cell in cells)))

    return of


# What each check is computed from: by the name of its experiment and its words.
RECIPES = {
    "cbs-fig1": {"accuracy of CBS(3,16)": average("calls.sampled", "--profile cbs:samples=16,stride=3")},
    "cbs-fig4-zero-idle-cost": {
        "time while nothing is sampled, either way (at most what the same machine measured twice may differ by)": idle
    },
    "cbs-tab2a": {
        "best accuracy for 0.5 %": affordable(0.5),
        "cost of a sample": lambda cells: prices(cells)[0],
        "cost of a skip": lambda cells: prices(cells)[1],
        "one sample, stride 1": lambda cells: accuracies(cells)[1, 1],
        "the most accurate cell, whatever it costs": lambda cells: max(accuracies(cells).values()),
        "of the cells in which windows are longer than ticks, as accurate as the paper": where_windows_go_on("table2a"),
        **{
            f"cells of {points} in which windows are longer than ticks": lambda cells: len(grid(cells)) - len(closed(cells))
            for points in (25, 162, 206)
        },
    },
    "cbs-tab3": {
        f"average {what}, {machine}": recipe
        for machine, (_, flags) in MACHINES.items()
        for what, recipe in (
            ("accuracy of all runs", table3(machine)),
            ("accuracy of small runs", table3(machine, 50)),
            ("accuracy of large runs", table3(machine, 500)),
            ("overhead", costs(flags)),
        )
    },
    "cbs-convergence": {
        "part of the run that CBS(3,16) needs for what the timer has in the end": reached(None),
        **{f"part of the run until CBS(3,16) stays at {level} %": reached(level) for level in (50, 60, 70)},
    },
    "cbs-sec3.1-pic-counters": {"overhead of counters": costs("--profile icache:sites=all --tier o0")},
    "cbs-sec5.1-new-inliner": {
        "average speed-up": lambda cells: above_one_over(speedups("new over old")(cells)),
        "average speed-up over the old one with the same limits": lambda cells: above_one_over(
            speedups("new over old with the same limits")(cells)
        ),
        **{
            f"speed-up of {program}": lambda cells, program=program: above_one_over(
                [cell for cell in speedups("new over old")(cells) if cell.program == program]
            )
            for program in ("richards", "deltablue")
        },
    },
    "cbs-fig5-left": {
        "largest speed-up by CBS over the timer": program_of("cbs over timer", max),
        "average speed-up over static heuristics": lambda cells: above_one_over(speedups("cbs over static")(cells)),
    },
    "cbs-fig5-right": {
        "largest speed-up by CBS": program_of("cbs over static", max),
        "the worst program by CBS": program_of("cbs over static", min),
    },
    "cbs-sec6.3-compile-time": {
        "less time of compilation, on average": saved_time,
        "less machine code, on average": saved_bytes,
    },
}
RECIPES["cbs-tab2b"] = {
    **RECIPES["cbs-tab2a"],
    "of the cells in which windows are longer than ticks, as accurate as the paper": where_windows_go_on("table2b"),
}


def by_timer(cells):
    """What the timer's samples miss."""
    share = average("calls.sampled", "--profile cbs:schedule=timer")(cells)
    return share <= 55, [share]


def is_surely_less(here, there):
    """Is all of the 95 % interval of the mean difference, over programs, below zero."""
    differences = [there[program] - here[program] for program in here]
    mean_of, freedom = mean(differences), len(differences) - 1
    if freedom < 1:
        return mean_of < 0
    error = math.sqrt(math.fsum((of - mean_of) ** 2 for of in differences) / freedom / len(differences))
    return mean_of + student(freedom) * error < 0


def not_falling(table):
    """Steps of the grid in which accuracy surely falls, by half a percent or more, where less than 100 % is paid and windows end before the next tick."""
    # Steps that fall and all steps of the paper's grid, of cells below 100 %: of the whole one, and of the subset.
    whole_grid, subset = {"cbs-tab2a": ((2, 205), (1, 40)), "cbs-tab2b": ((16, 311), (0, 40))}[table]

    def of(cells):
        cost, values, each = paid(cells), accuracies(cells), grid(cells)
        known = {point: values[point] for point in closed(cells) if cost(*point) < 100}
        rows, columns = (sorted({point[at] for point in values}) for at in (0, 1))
        along = [((of, one), (of, other)) for of in rows for one, other in zip(columns, columns[1:])]
        across = [((one, of), (other, of)) for of in columns for one, other in zip(rows, rows[1:])]
        parts = []
        for steps in (along, across):
            steps = [(one, other) for one, other in steps if one in known and other in known]
            falling = [(one, other) for one, other in steps if known[one] - known[other] >= 0.5]
            parts += [sum(is_surely_less(each[one], each[other]) for one, other in falling), len(steps)]
        wrong, all_steps = parts[0] + parts[2], parts[1] + parts[3]
        most, of_all = subset if len(values) == 25 else whole_grid
        return wrong * of_all <= most * all_steps, parts

    return of


def farthest(interval):
    """The end that is farther from 0."""
    return max(map(abs, interval))


# The loss that a check for none must be able to see, in percent.
MUST_SEE = 3


def loss(value, interval, band, must_see):
    """Is there one ("there"), none, or is it "unclear"; nobody knows if it hangs on random numbers."""
    if interval is None:
        return "unclear"
    (low, high), slack = interval, 0.15 * (interval[1] - interval[0] + band)
    if abs(high + band) <= slack or abs(low + must_see) <= slack and high >= -band:
        raise Unknown("a loss is so near to what must be seen that other random numbers decide")
    return "there" if high < -band else "none" if low >= -must_see else "unclear"


def fewer_slower(most):
    """Are no more programs than these slower with all of their intervals beyond noise, or not known well enough."""

    def of(cells):
        sure, maybe, programs = 0, 0, by_program(cells).values()
        for own in programs:
            value, interval = above_one_over(own)
            try:
                sure += loss(value, interval, farthest(above_one_over(own, "again")[1]), MUST_SEE) != "none"
            except Unknown:
                maybe += 1
        if sure <= most(len(programs)) < sure + maybe:
            raise Unknown("a program is so near to noise that other random numbers decide")
        return sure <= most(len(programs)), []

    return of


def helps_the_compiler(cells):
    """CBS over the timer, with all of its interval beyond noise."""
    own = [cell for cell in speedups("cbs over timer")(cells) if cell.program == "compiler"]
    (gain, (low, high)), noise = above_one_over(own), farthest(above_one_over(own, "again")[1])
    if abs(low - noise) <= 0.15 * (high - low + noise):
        raise Unknown("the interval begins so near to noise that other random numbers decide")
    return low > noise, [gain]


def timer_hurts(cells):
    """Programs that are slower by the timer's samples than by static heuristics."""
    own = by_program(speedups("timer over static")(cells)).values()
    hurt = sum(above_one_over(of)[0] < 0 for of in own)
    return 2 * hurt > len(own), [hurt, len(own)]


def helps(cells):
    """The mean speed-up by CBS over static heuristics."""
    gain = above_one_over(speedups("cbs over static")(cells))[0]
    return gain > 0, [gain]


def inliner(which):
    """By CBS instead of by the timer: the old inliner as fast to a percent, the new one no slower."""

    def of(cells):
        own = [cell for cell in cells if cell.kind == "overhead" and cell.has(f"--vs-inline {which}")]
        gain, interval = above_one_over(own)
        if which == "new":
            return loss(gain, interval, farthest(above_one_over(own, "again")[1]), 1) == "none", [gain]
        half = (interval[1] - interval[0]) / 2
        if abs(half - 1) <= 0.15 * half and abs(gain) <= 1:
            raise Unknown("it is so nearly known that other random numbers decide")
        return abs(gain) <= 1 and half <= 1, [gain]

    return of


def insensitive(program, small=0.0):
    """Whether speed-ups differ by more between parameters than between samples: the part of all ways to deal them out that are as far apart."""

    def of(cells):
        own, groups = [cell for cell in cells if cell.kind == "overhead" and cell.program == program], {}
        for cell in own:
            profiler = re.search(r"--profile (\S+)", cell.commands).group(1)
            groups.setdefault(profiler, []).append(100 * (math.exp(mean(cell.rounds("overhead"))) - 1))
        groups = list(groups.values())
        size, means = len(groups[0]), [mean(of) for of in groups]
        squares = lambda values, middle: math.fsum((value - middle) ** 2 for value in values)
        freedom = len(groups) * (size - 1)
        inside = math.fsum(squares(of, middle) for of, middle in zip(groups, means)) / freedom
        chance = student(freedom) * math.sqrt(inside * 2 / size)
        apart = lambda values: squares(parts := [mean(values[at : at + size]) for at in range(0, len(values), size)], mean(parts))
        values, drawn, deals = [value for of in groups for value in of], random.Random(1), 4000
        found = apart(values) * (1 - 1e-9)
        share = sum(apart(drawn.sample(values, len(values))) >= found for _ in range(deals)) / deals
        # Of all programs together, none is to differ by chance in 19 of 20 times.
        level = 0.05 / len({cell.program for cell in cells})
        if 0.7 * level < share < 1.3 * level:
            raise Unknown("they are so near to differing that other random numbers decide")
        spread = max(means) - min(means)
        return (share >= level or spread <= small) and within(chance, 2), [spread, chance]

    return of


def digests(profiler, is_same):
    """Of programs, those whose machine code with a profiler is that without, or is not."""

    def of(cells):
        names = ["code_digest.high", "code_digest.low"] + (["machine_code_bytes"] if is_same else [])
        number = lambda cell: [cell.number(name) for name in names]
        profilers = lambda cell: tuple(re.findall(r"--profile (\S+)", cell.commands))
        own = {(cell.program, profilers(cell)): cell for cell in cells if cell.kind == "statistics"}
        programs = sorted({program for program, _ in own})
        pairs = [(own[program, ()], own[program, (profiler,)]) for program in programs]
        right = sum((number(one) == number(other)) == is_same for one, other in pairs)
        return right == len(pairs), [right, len(pairs)]

    return of


def cell_by_cell(table):
    """Nine of ten points of the paper's grid are, where windows end."""

    def of(cells):
        kept, points = as_accurate(table, True)(cells)
        return 10 * kept >= 9 * points, [kept, points]

    return of


def explained(cells):
    """What two prices explain of what overheads vary by."""
    rows = observations(cells)
    sample, skip = least_squares(rows)
    middle = mean(row[2] for row in rows)
    left = sum((row[2] - sample * row[0] - skip * row[1]) ** 2 for row in rows)
    part = 1 - left / sum((row[2] - middle) ** 2 for row in rows)
    return sample > 0 and skip > 0 and part >= 0.9, [100 * part]


def budgets(cells):
    """The best accuracy for so many percent, beside the better of both of the paper's grids."""
    ours = [affordable(percent)(cells) for percent in (0.5, 1, 2, 5)]
    return all(one >= other for one, other in zip(ours, (72, 75, 79, 84))), ours


def seldom_worse(machine):
    """Runs in which CBS is less accurate than its base."""

    def of(cells):
        rows = rows_of_table3(machine)(cells)
        worse = sum(sampled < base for base, sampled in rows)
        return worse <= 2, [worse, len(rows)]

    return of


def nobody_pays(machine):
    """The dearest program of table 3."""

    def of(cells):
        most = max(above_one([cell])[0] for cell in flagged(cells, MACHINES[machine][1]))
        return most <= 3, [most]

    return of


def lasting(pick, least, most):
    """Programs whose run with the fewest or with the most iterations takes so many seconds: at least thirteen."""

    def of(cells):
        own = by_program([cell for cell in cells if cell.kind == "times"])
        iterations = lambda cell: int(re.search(r"--iterations (\d+)", cell.commands).group(1))
        if any(len(each) == 1 for each in own.values()):
            raise Unknown("a part of each run was made, and the store does not say how long the whole would be")
        seconds = [math.fsum(pick(each, key=iterations).sample("samples_ns")) / 1e9 for each in own.values()]
        good = sum(least <= of <= most for of in seconds)
        return good >= 13, [good, len(own)]

    return of


def many_methods(cells):
    """Programs that enter more than five hundred methods, in any size: at least four."""
    own = by_program([cell for cell in cells if cell.kind == "statistics"]).values()
    many = sum(max(cell.number("methods_entered") for cell in each) > 500 for each in own)
    return many >= 4, [many, len(own)]


def ends(cells):
    """Overlap in the end, of CBS and of the timer."""
    sampled, timer = (course(cells, f"--profile cbs:{of}")[-1][1] for of in ("samples=16,stride=3", "schedule=timer"))
    return sampled > timer, [sampled, timer]


def counters(cells):
    """Counters in inline caches against CBS."""
    most, (low, high) = costs("--profile icache:sites=all --vs cbs:samples=16,stride=7 --tier o0")(cells)
    return most >= 1.5 and is_above_nothing(low, high), [most]


def bursts(words):
    """Mean overlap of the first entries of each method, and of CBS."""

    def of(cells):
        own = having(cells, words)
        names = ("oneshot:burst=100,level=o0.overlap", "cbs:samples=16,stride=3,schedule=arnold-grove,at=prologue.overlap")
        once, sampled = (mean(cell.number(name) for cell in own) for name in names)
        return once < sampled, [once, sampled]

    return of


# Whether each shape holds, and the numbers of its text.
SHAPES = {
    "cbs-fig4-zero-idle-cost": {
        "machine code with CBS is that without": digests("cbs", True),
        "digests tell code apart": digests("icache:sites=all", False),
    },
    "cbs-tab1": {
        "small inputs": lasting(min, 0.5, 5),
        "large inputs": lasting(max, 5, 30),
        "programs of many methods": many_methods,
    },
    "cbs-fig1": {"samples by the timer miss a half": by_timer},
    "cbs-tab2a": {
        "as accurate as the paper, cell by cell": cell_by_cell("table2a"),
        "as accurate for as much as the better of both grids": budgets,
        "overhead follows from samples and skips": explained,
        "not falling with samples or strides": not_falling("cbs-tab2a"),
    },
    "cbs-patching": {
        "bursts are less accurate: programs with phases": bursts("--ticks 500"),
        "bursts are less accurate: short runs": bursts("--sync-compile"),
    },
    "cbs-sec5.1-old-inliner": {"the old inliner by CBS and by the timer": inliner("old"), "the new inliner is not worse by CBS": inliner("new")},
    "cbs-sec5.1-new-inliner": {"more programs gain than lose": fewer_slower(lambda programs: (programs - 1) // 2)},
    "cbs-fig5-left": {
        "CBS is nowhere worse than the timer": lambda cells: fewer_slower(lambda _: 0)(speedups("cbs over timer")(cells)),
        "CBS helps the compiler": helps_the_compiler,
    },
    "cbs-fig5-right": {"the timer's samples hurt": timer_hurts, "CBS helps on average": helps},
    "cbs-sec6.3-insensitivity": {
        f"between the best and the worst parameters, {program}": insensitive(program, small)
        for program, small in (("richards", 0.0), ("deltablue", 0.0), ("raytracer", 0.0), ("compiler", 2.0))
    },
    "cbs-tab3": {
        f"{what}, {machine}": recipe(machine)
        for machine in MACHINES
        for what, recipe in (("better than its base", seldom_worse), ("no program pays much", nobody_pays))
    },
    "cbs-convergence": {"more accurate in the end, too": ends},
    "cbs-sec3.1-pic-counters": {"counters cost far more than CBS": counters},
}
SHAPES["cbs-tab2b"] = {
    **SHAPES["cbs-tab2a"],
    "as accurate as the paper, cell by cell": cell_by_cell("table2b"),
    "not falling with samples or strides": not_falling("cbs-tab2b"),
}
