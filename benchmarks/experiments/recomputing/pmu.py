"""Shye et al. 2005."""

import math
import re

from .basics import Unknown, average, beside, by_program, costs, having, mean
from .shapes import half, ordered, shared, value, within

CALLS = "richards json deltablue list queens havlak bounce cd".split()
LOOPS = "mandelbrot sieve nbody moldyn".split()
CLASSES = (("programs of many calls", CALLS), ("loops", LOOPS))
BURST = "--profile btb:backend=burst,depth=4"
# Branches and weights: the paper's, and those that decide only whether it is better.
PAPER, STRETCH = ("4", "equal"), ("16", "em")
# Weights in words.
IN_WORDS = {"equal": "equal shares", "em": "expectation-maximisation", "unique": "unambiguous pieces only"}
# The runs that the interpreter records, beside those of compiled code.
RECORDED = "--tier interp"
# Yieldpoints from tick to tick that give a run of ten million yieldpoints 10,000 bursts, each after sixteen ticks.
TICK = 1e7 / 1e4 / 16


def crossing(programs, name="crossings", total="traces"):
    """The part of different traces, or of their samples, that cross a call or return."""

    def of(cells):
        own = [cell for cell in cells if cell.program in programs]
        zero = lambda cell: cell.outcome["numbers"].get(f"{name}.0", 0.0)
        return 100 * mean(1 - zero(cell) / cell.number(total) for cell in own)

    return of


def sampled_crossing(programs):
    """The same of samples."""
    return crossing(programs, "crossing_samples", "samples")


def runs(cell):
    """How many runs a cell adds up."""
    return len(re.findall(r"seed=\d+", cell.commands))


def courses(cells):
    """Paths by how many runs found them, in their order: for each program."""
    own = by_program([cell for cell in cells if cell.kind == "traces"])
    return {program: sorted((runs(cell), cell.number("pieces")) for cell in each) for program, each in own.items()}


def found_by_ten(cells):
    """Paths that ten runs found, of those of thirty."""
    return mean(100 * found[10] / found[30] for found in map(dict, courses(cells).values()))


def of_runs(number):
    """The mean accuracy of the paths of so many runs together."""
    return lambda cells: 100 * mean(cell.number("traces.count.accuracy") for cell in cells if cell.kind == "numbers" and runs(cell) == number)


def recorded(cells, traces, more=""):
    """The cells in which the interpreter records traces of so many branches with these weights: for each program, by their distance."""
    words = re.compile(rf"--tier interp --profile btb:depth={traces[0]},weights={traces[1]},period=(\d+){more},exact=yes ")
    found = {}
    for cell in cells:
        said = words.search(cell.commands)
        if said:
            found.setdefault(cell.program, {})[int(said.group(1))] = cell
    return found


def distances(cells):
    """The distance that is ten million cycles: that of traces which are recorded at no other, or the only one that a program has."""
    found = {program: own for program, own in recorded(cells, PAPER).items() if len(own) == 1}
    found |= recorded(cells, ("4", "unique"))
    return {program: min(own) for program, own in found.items()}


def at_headline(traces, everybody=False):
    """The mean accuracy of recorded traces at ten million cycles: of the programs that have all of these, or of others as well."""

    def of(cells):
        own, usual, places = recorded(cells, traces), recorded(cells, ("4", "unique")), distances(cells)
        every = [each[places[program]] for program, each in own.items() if everybody or program in usual]
        return 100 * mean(cell.number("traces.count.accuracy") for cell in every)

    return of


def by_bursts(traces):
    """The mean accuracy of traces of compiled code at ten million cycles."""

    def of(cells):
        own = [cell for cell in cells if cell.kind == "numbers" and f"burst,depth={traces[0]},weights={traces[1]}," in cell.commands]
        tick = lambda cell: int(re.search(r"--timer virtual:(\d+)", cell.commands).group(1))
        return 100 * mean(cell.number("traces.count.accuracy") for cell in own if abs(tick(cell) - TICK) <= 1)

    return of


def with_records(score):
    """The cells with the processor's own records: those in which it has some, and, if asked for, a score."""

    def of(cells):
        own = [cell.outcome["numbers"] for cell in cells if "backend=lbr" in cell.commands]
        return sum("unavailable" not in numbers and (score is None or score in numbers) for numbers in own)

    return of


def false_flow(cells, weights, more=""):
    """The shares of false flow with some weights, by program."""
    own = recorded(cells, ("4", weights), more)
    return {program: cell.number("traces.count.false") for program, each in own.items() for cell in each.values()}


def relative(weights, more=""):
    """The mean of these over the mean with equal division."""
    return lambda cells: mean(false_flow(cells, weights, more).values()) / mean(false_flow(cells, "equal").values())


def noisy(percent, *names):
    """Of traces with so much noise: the mean over programs of a number of discarded or repaired ones over all."""

    def share(cell):
        discarded = sum(value for name, value in cell.outcome["numbers"].items() if name.startswith("discarded."))
        part = discarded if not names else sum(cell.number(name) for name in names)
        return part / (cell.number("samples") + discarded)

    def of(cells):
        own = [cell for cell in cells if cell.kind == "traces" and f"noise={percent} " in cell.commands]
        return 100 * mean(share(cell) for cell in own)

    return of


def despite(percent):
    """The mean accuracy of traces with so much noise, by count flow."""

    def of(cells):
        own = [cell for cell in cells if f"noise={percent},exact=yes" in cell.commands]
        return 100 * mean(cell.number("traces.count.accuracy") for cell in own)

    return of


def length(total, pieces="traces"):
    """The mean over programs of the mean length of partial paths, in instructions."""
    return lambda cells: mean(cell.number(total) / cell.number(pieces) for cell in cells)


def cut(where):
    """The same of pieces."""
    return length(f"lengths.{where}.instructions", f"lengths.{where}.pieces")


initial, extended = length("initial_length"), length("extended_length")


def of_machine_code(number):
    """A number of the traces of compiled code."""
    return lambda cells: number([cell for cell in cells if "backend=step" in cell.commands])


def of_bytecode(number):
    """The same of those that the interpreter recorded."""
    return lambda cells: number([cell for cell in cells if "backend=step" not in cell.commands])


def gained(cells):
    """What extension adds."""
    return 100 * (extended(cells) / initial(cells) - 1)


def lost(cells):
    """What cuts at calls and back edges take from extended paths."""
    return 100 * (1 - cut("loops")(cells) / extended(cells))


# What each check is computed from: by the name of its experiment and its words.
RECIPES = {
    "pmu-tab3": {
        "traces of programs of many calls that cross one, on average": of_bytecode(crossing(CALLS)),
        "traces of loops that cross a call, on average": of_bytecode(crossing(LOOPS)),
    }
    | {f"the same of samples, {name}": of_bytecode(sampled_crossing(programs)) for name, programs in CLASSES}
    | {
        f"{what} of machine code, with inlining, that cross one, {name}": of_machine_code(part(programs))
        for name, programs in CLASSES
        for what, part in (("traces", crossing), ("samples", sampled_crossing))
    },
    "pmu-fig5": {"of the paths of 30 runs, found by 10, on average": found_by_ten}
    | {f"average accuracy of the paths of {number} runs together, by count flow": of_runs(number) for number in (1, 10, 30)},
    "pmu-tab4": {
        "hot paths of the program with most": lambda cells: max(cell.number("traces.count.hot") for cell in having(cells, RECORDED)),
        "their part of the flow, on average": average("traces.count.covered", RECORDED),
        "the same by branch flow": average("traces.branch.covered", RECORDED),
        "the same of paths of Ball and Larus, by count flow": average("paths.count.covered", "--profile blpp"),
        "the same of these by branch flow": average("paths.branch.covered", "--profile blpp"),
    },
    "pmu-fig6": {
        "average accuracy with 4 branches and equal shares at 10 million cycles, by count flow": beside(
            at_headline(PAPER, everybody=True), at_headline(STRETCH)
        ),
        "average overhead of a trace of 4 branches at each tick": costs(f"--tier o2 {BURST}"),
        "the same of compiled code that is left for a trace (bursts)": by_bursts(PAPER),
        "programs with the processor's own records (lbr); 0 where the host does not permit them, and this is unavailable": with_records(
            "traces.count.accuracy"
        ),
    }
    | {
        f"average accuracy with {depth} branches, {words}": at_headline((depth, weights))
        for depth in ("4", "16", "32")
        for weights, words in IN_WORDS.items()
        if (depth, weights) != PAPER
    },
    "pmu-headline": {
        "average accuracy of 10,000 traces of 4 branches, shared equally, by count flow": beside(by_bursts(PAPER), by_bursts(STRETCH)),
        "its average overhead": costs(f"--tier o2 {BURST}"),
        "average overhead of a trace of 16 branches at each tick": costs("--tier o2 --profile btb:backend=burst,depth=16"),
    },
    "pmu-sec4.6": {
        "false flow, expectation-maximisation relative to equal division, of the means": relative("em"),
        "the same without paths of cold edges": relative("equal", ",cold=2"),
    },
    "pmu-sec3.2-discards": {
        "samples discarded at 5 % of noise": noisy(5),
        "samples in which a place was replaced, at 5 %": noisy(5, "repaired"),
        "accuracy without noise, by count flow": despite(0),
        "accuracy at 5 % of noise": despite(5),
    },
    "pmu-fig4": {
        "average overhead at 10 million cycles": costs(f"--tier o2 {BURST}"),
        "average overhead at 0.5 million cycles": costs(f"--tier o2 --timer wall:1ms {BURST}"),
        "average overhead at 0.05 million cycles": costs(f"--tier o2 --timer wall:100us {BURST}"),
        "points by the processor's own records (lbr); 0 where the host does not permit them, and this is unavailable": with_records(None),
    },
    "pmu-tab2": {
        "what extension adds": of_machine_code(gained),
        "what cuts at calls and back edges take from that": of_machine_code(lost),
        "length of pieces of regions, on average": of_machine_code(cut("regions")),
        "what extension adds, in bytecode": of_bytecode(gained),
        "what cuts take from that, in bytecode": of_bytecode(lost),
    },
}


def ticks(flags):
    """Microseconds from tick to tick."""
    said = re.search(r"--timer wall:(\d+)(us|ms|s) ", flags)
    return int(said.group(1)) * {"us": 1, "ms": 1000, "s": 1000000}[said.group(2)] if said else 20000


def dearer(cells):
    """Sampling more often costs more, but for noise, of the programs that have all periods; and most often more than most seldom."""
    flags = sorted({cell.flags for cell in cells if cell.kind == "overhead"}, key=ticks)
    own = shared(cells, *flags)
    noise = max(half(of)(own) for of in flags)
    values = [value(of)(own) for of in flags]
    steps = [within(other - one, noise) for one, other in zip(values, values[1:])]
    return all(steps) and values[0] > values[-1], values


def fewer_each(cells):
    """Programs in which each further run finds no more new paths, but by one, or two standard deviations of what two steps found."""
    level, every = 0, courses(cells).values()
    for points in every:
        steps = [(after - before, later - earlier) for (before, earlier), (after, later) in zip(points, points[1:])]
        chance = lambda last, found, more, new: 2 * math.sqrt(found / last**2 + new / more**2) + 1 / more
        level += all(new / more <= found / last + chance(last, found, more, new) for (last, found), (more, new) in zip(steps, steps[1:]))
    return level == len(every), [level, len(every)]


def flat_and_falling(cells):
    """The paper's traces, of the programs with several periods: up to 5 million cycles, which is all before ten, means are within five points;
    beyond, none rises by more than a point, and the last is below all of the flat part, and below its last in most programs in which it is not the same."""
    places = distances(cells)
    own = {program: sorted(each.items()) for program, each in recorded(cells, PAPER).items() if len(each) > 1}
    lines = [[100 * cell.number("traces.count.accuracy") for _, cell in each] for each in own.values()]
    knees = {sum(distance < places[program] for distance, _ in each) for program, each in own.items()}
    if len(knees) != 1 or len({len(line) for line in lines}) != 1 or not min(knees):
        raise Unknown("programs were not measured at the same periods")
    knee = knees.pop()
    means = list(map(mean, zip(*lines)))
    flat, beyond = means[:knee], means[knee - 1 :]
    steps = all(later <= earlier + 1 for earlier, later in zip(beyond, beyond[1:]))
    fallen = sum(line[-1] < line[knee - 1] for line in lines)
    differing = sum(line[-1] != line[knee - 1] for line in lines)
    falls = max(flat) - min(flat) <= 5 and steps and means[-1] < min(flat)
    return falls and 2 * fallen > differing, [*means, fallen, differing]


def more_matches(cells):
    """Spearman's correlation over programs: the paths that a piece fits, and the share of false flow by equal division."""
    fits = {cell.program: cell.number("matches") / cell.number("partials") for cell in having(cells, "--tier interp") if cell.kind == "traces"}
    wrong = false_flow(cells, "equal")
    if set(fits) != set(wrong):
        raise Unknown("programs are not the same in both")
    first, second = ([of[program] for program in fits] for of in (fits, wrong))
    found = pearson(ranks(first), ranks(second))
    return found > 0, [found, len(fits)]


def ranks(values):
    """The place of each in their order, from 1; equals have the mean of theirs."""
    order = sorted(values)
    return [order.index(value) + (order.count(value) + 1) / 2 for value in values]


def pearson(one, other):
    """The correlation of two lists."""
    first, second = mean(one), mean(other)
    product = lambda a, at, b, to: math.fsum((x - at) * (y - to) for x, y in zip(a, b))
    return product(one, first, other, second) / math.sqrt(product(one, first, one, first) * product(other, second, other, second))


def more_discarded(cells):
    """With more noise more is discarded, and less than has a disturbed record."""
    noises = sorted({int(of) for cell in cells for of in re.findall(r"noise=(\d+)", cell.commands)})
    shares = [noisy(noise)(cells) for noise in noises]
    most = [100 * (1 - (1 - noise / 100) ** 4) for noise in noises]
    rising = all(one < other for one, other in zip(shares, shares[1:]))
    return rising and all(share <= of + 1 for share, of in zip(shares, most)), [of for pair in zip(noises, shares) for of in pair]


def lengths(cells):
    """Partial paths: extended, as they were, cut at calls, and at back edges."""
    own = [of(cells) for of in (initial, extended, *map(cut, ("calls", "loops", "regions")))]
    return own[1] > own[0] > own[2] > own[3], own


def more_paths(backend):
    """Programs of which longer periods do not find more paths, but for one in fifty or a single one."""

    def of(cells):
        own = [cell for cell in cells if cell.kind == "traces" and ("backend=burst" if backend == "burst" else "--tier interp") in cell.commands]
        period = lambda cell: int(re.search(r"(?:virtual:|period=)(\d+)", cell.commands).group(1))
        falling = 0
        for each in by_program(own).values():
            found = [cell.number("traces") for cell in sorted(each, key=period)]
            falling += all(other <= one * 1.02 + 1 for one, other in zip(found, found[1:]))
        return falling == len(by_program(own)), [falling, len(by_program(own))]

    return of


# Whether each shape holds, and the numbers of its text.
SHAPES = {
    "pmu-sec3.2-discards": {
        "exact records are never discarded": lambda cells: (noisy(0)(cells) == 0, [noisy(0)(cells)]),
        "more noise, more discarded": more_discarded,
    },
    "pmu-tab2": {"the order of the means": of_machine_code(lengths)},
    "pmu-tab3": {"calls make the difference": of_bytecode(ordered(crossing(CALLS), crossing(LOOPS)))},
    "pmu-fig4": {
        "sampling more often costs more": dearer,
        **{f"sampling more often finds more paths: {backend}": more_paths(backend) for backend in ("recorder", "burst")},
    },
    "pmu-fig5": {"each further run finds fewer": fewer_each},
    "pmu-fig6": {"accuracy is flat, and then falls": flat_and_falling},
    "pmu-sec4.6": {"more matches, more false flow": more_matches},
}
