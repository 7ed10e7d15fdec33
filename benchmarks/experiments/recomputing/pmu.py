"""Shye et al. 2005."""

import math
import re

from .basics import average, by_program, costs, extreme, flagged, mean
from .shapes import half, ordered, value, within

CALLS = "richards json deltablue list queens havlak bounce cd".split()
LOOPS = "mandelbrot sieve nbody moldyn".split()
BURST = "--profile btb:backend=burst,depth=16"


def crossing(programs):
    """The part of different traces that cross a call or return."""

    def of(cells):
        own = [cell for cell in cells if cell.program in programs]
        zero = lambda cell: cell.outcome["numbers"].get("crossings.0", 0.0)
        return 100 * mean(1 - zero(cell) / cell.number("traces") for cell in own)

    return of


def runs(cell):
    """How many runs a cell adds up."""
    return len(re.findall(r"seed=\d+", cell.commands))


def found_by_ten(cells):
    """Paths that ten runs found, of those of thirty."""
    by = {(cell.program, runs(cell)): cell.number("pieces") for cell in cells}
    programs = {cell.program for cell in cells}
    return mean(100 * by[(program, 10)] / by[(program, 30)] for program in programs)


def false_flow(cells):
    """The mean with expectation-maximisation over the mean with equal division."""
    own = [cell for cell in cells if cell.kind == "numbers"]
    em = [cell for cell in own if "weights=em" in cell.commands]
    equal = [cell for cell in own if cell not in em]
    return mean(cell.number("traces.count.false") for cell in em) / mean(cell.number("traces.count.false") for cell in equal)


def by_depth(cells, depth):
    """Accuracy of traces of so many branches, weighted by expectation-maximisation."""
    own = [c for c in cells if c.kind == "numbers" and f"depth={depth}," in c.commands and "weights=em" in c.commands]
    return 100 * mean(cell.number("traces.count.accuracy") for cell in own)


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
        "traces of programs of many calls that cross one, on average": crossing(CALLS),
        "traces of loops that cross a call, on average": crossing(LOOPS),
    },
    "pmu-fig5": {"of the paths of 30 runs, found by 10, on average": found_by_ten},
    "pmu-tab4": {
        "hot paths of the program with most": extreme(max, lambda cell: cell.number("traces.count.hot")),
        "their part of the flow, on average": average("traces.count.covered"),
        "the same by branch flow": average("traces.branch.covered"),
    },
    "pmu-fig6": {
        "average accuracy with 16 branches, by count flow": lambda cells: by_depth(cells, 16),
        "average overhead of a trace at each tick": costs(f"--tier o2 {BURST}"),
        "average accuracy with 4 branches": lambda cells: by_depth(cells, 4),
    },
    "pmu-headline": {
        "average accuracy of a trace at each tick, by count flow": average("traces.count.accuracy", "accuracy"),
        "its average overhead": costs(f"--tier o2 {BURST}"),
    },
    "pmu-sec4.6": {"false flow, expectation-maximisation relative to equal division, of the means": false_flow},
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
        "points by the processor's own records (lbr); 0 where the host does not permit them, and this is unavailable": lambda cells: sum(
            "backend=lbr" in cell.commands and "unavailable" not in cell.outcome["numbers"] for cell in cells
        ),
    },
    "pmu-tab2": {
        "what extension adds": of_machine_code(gained),
        "what cuts at calls and back edges take from that": of_machine_code(lost),
        "length of pieces of regions, on average": of_machine_code(cut("regions")),
        "what extension adds, in bytecode": of_bytecode(gained),
        "what cuts take from that, in bytecode": of_bytecode(lost),
    },
}


def dearer(cells):
    """Sampling more often costs more, but for noise, of the programs that have all periods."""
    flags = [f"--tier o2 {of}{BURST}" for of in ("--timer wall:100us ", "--timer wall:1ms ", "")]
    names = {cell.program for cell in flagged(cells, flags[0])}
    own = [cell for cell in cells if cell.program in names]
    noise = max(half(of)(own) for of in {cell.flags for cell in own if cell.kind == "overhead"})
    values = [value(of)(own) for of in flags]
    return all(within(other - one, noise) for one, other in zip(values, values[1:])), values


def fewer_each(cells):
    """Programs in which each further run finds no more new paths, but by one, or two standard deviations of what two steps found."""
    level, every = 0, by_program(cells).values()
    for own in every:
        points = sorted((runs(cell), cell.number("pieces")) for cell in own)
        steps = [(after - before, later - earlier) for (before, earlier), (after, later) in zip(points, points[1:])]
        chance = lambda last, found, more, new: 2 * math.sqrt(found / last**2 + new / more**2) + 1 / more
        level += all(new / more <= found / last + chance(last, found, more, new) for (last, found), (more, new) in zip(steps, steps[1:]))
    return level == len(every), [level, len(every)]


def by_length(cells):
    """Four branches with equal weights, four, and sixteen: not falling by more than a point."""
    four, sixteen = by_depth(cells, 4), by_depth(cells, 16)
    equal = 100 * mean(cell.number("traces.count.accuracy") for cell in cells if cell.kind == "numbers" and "weights=em" not in cell.commands)
    return sixteen + 1 >= four and four + 1 >= equal, [equal, four, sixteen]


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
    "pmu-tab3": {"calls make the difference": ordered(crossing(CALLS), crossing(LOOPS))},
    "pmu-fig4": {
        "sampling more often costs more": dearer,
        **{f"sampling more often finds more paths: {backend}": more_paths(backend) for backend in ("recorder", "burst")},
    },
    "pmu-fig5": {"each further run finds fewer": fewer_each},
    "pmu-fig6": {"longer traces and better weights are more accurate": by_length},
}
