#!/usr/bin/env python3
"""Computes the numbers of a report again, from what its store has.

    python3 benchmarks/experiments/recompute.py STORE [REPORT.json]

It shares nothing with what made the report but the two files and docs/experiments.md, "From cells to a check", which says how each number
comes about. It prints a table of all checks that are numbers, and ends with 1 if one differs, with 2 if it cannot read what it is given.
"""

import json
import math
import os
import random
import re
import sys

REPLICATES = 2000
# Ends of intervals come from other random numbers than the report's: so far apart may they be, in parts of half the interval.
LOOSE = 0.3
STUDENT = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228]
NORMAL = 1.959964


class Bad(Exception):
    """What is wrong with the input."""


class Unknown(Exception):
    """Why a number is not recomputed."""


class Cell:
    """A line of the store, and what its name says."""

    def __init__(self, key, record):
        self.key = key
        self.kind, self.commands = key.split(": ", 1)
        self.outcome = record.get("outcome")
        self.seconds = record.get("seconds", 0.0)
        words = self.commands.split(" && ")[-1 if self.kind == "overhead" else 0].split()
        self.program = words[1] if len(words) > 1 else ""
        own = " ".join(words[2:])
        # What was asked of the machine, without how much was measured.
        self.flags = re.split(r" ?--(?:size|max-time|rounds|turns|order)\b", own)[0]

    def has(self, words):
        """Are these words of its commands, one after the other."""
        return f" {words} " in f" {self.commands} "

    def number(self, name):
        """A number of its outcome."""
        if name not in self.outcome["numbers"]:
            raise Unknown(f"a cell has no number '{name}'")
        return self.outcome["numbers"][name]

    def sample(self, name):
        """A list of its outcome."""
        values = self.outcome.get("samples", {}).get(name)
        if not values:
            raise Unknown(f"a cell has no samples '{name}'")
        return values

    def k(self):
        """How many iterations a forest's paths have."""
        return int(re.search(r"kblpp:k=(\d+)", self.commands).group(1))


def mean(values):
    """The mean of some numbers."""
    values = list(values)
    if not values:
        raise Unknown("no cell is of this check")
    return math.fsum(values) / len(values)


# Overheads, with intervals.


def student(freedom):
    """The quantile of Student's t distribution that leaves a fortieth above it."""
    if freedom <= 10:
        return STUDENT[max(freedom, 1) - 1]
    z, v = NORMAL, freedom
    return z + (z**3 + z) / (4 * v) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v * v)


def above_one(cells, name="overhead"):
    """The geometric mean of the ratios of cells, in percent above 1, with its interval."""
    rounds = [cell.sample(name) for cell in cells]
    value = mean(mean(of) for of in rounds)
    drawn = random.Random(1)
    freedom = sum(len(of) - 1 for of in rounds)
    percent = lambda log: (math.exp(log) - 1) * 100
    if freedom == 0:
        return percent(value), None

    def replicate(of):
        count = max(len(of) - 1, 1)
        return math.fsum(drawn.choices(of, k=count)) / count

    replicates = sorted(mean(replicate(of) for of in rounds) for _ in range(REPLICATES))
    stretch = student(freedom) / NORMAL
    end = lambda part: percent(value + (replicates[round((REPLICATES - 1) * part)] - value) * stretch)
    return percent(value), (end(0.025), end(0.975))


def costs(flags, name="overhead"):
    """The mean over all programs that were measured with these flags."""
    return lambda cells: above_one(flagged(cells, flags), name)


def flagged(cells, flags):
    """Cells of `overhead` with these flags and no others."""
    found = [cell for cell in cells if cell.kind == "overhead" and cell.flags == flags]
    if not found:
        raise Unknown(f"no cell has the flags {flags}")
    return found


def dearest(flags):
    """The program with the largest ratio."""
    return lambda cells: most_of(flagged(cells, flags), max)


def most_of(cells, pick):
    """The largest or least ratio of single cells."""
    return above_one([pick(cells, key=lambda cell: mean(cell.sample("overhead")))])


def speedups(kind):
    """Cells that compare two inliners: by which calls each was told."""

    def is_of(cell):
        both = ("@base.json" in cell.commands, "@choice.json" in cell.commands)
        by_cbs = any("@choice.json" in line and "schedule=timer" not in line for line in cell.commands.split(" && ")[:-1])
        return {
            "all": True,
            "cbs over timer": both == (True, True),
            "cbs over static": both == (False, True) and by_cbs,
        }[kind]

    def pick(cells):
        found = [cell for cell in cells if cell.kind == "overhead" and is_of(cell)]
        if not found:
            raise Unknown("no cell is of this check")
        return found

    return pick


def saved(name):
    """By how many percent the number of the base is below that of the other, on average."""

    def of(cells):
        return mean((1 - cell.number(f"base.{name}") / cell.number(f"profiled.{name}")) * 100 for cell in cells)

    return of


# Numbers that are exact.


def average(name, *words, scale=100.0):
    """The mean of a number over the cells that have these words."""
    return lambda cells: scale * mean(cell.number(name) for cell in having(cells, *words))


def having(cells, *words):
    """The cells that have these words; at least one."""
    found = [cell for cell in cells if all(cell.has(of) for of in words)]
    if not found:
        raise Unknown(f"no cell has {' and '.join(words)}")
    return found


def extreme(pick, of):
    """The largest or least over cells."""
    return lambda cells: pick(of(cell) for cell in cells)


def over(name, by):
    """A number over another; nothing where there is none of the other."""

    def of(cells):
        return [cell.number(name) / cell.number(by) for cell in cells if cell.number(by) > 0]

    return of


def crossing(programs):
    """The part of different traces that cross a call or return."""

    def of(cells):
        own = [cell for cell in cells if cell.program in programs]
        zero = lambda cell: cell.outcome["numbers"].get("crossings.0", 0.0)
        return 100 * mean(1 - zero(cell) / cell.number("traces") for cell in own)

    return of


def coldest(cells):
    """The share of cold sequences of the largest k, the least over programs whose chunks are half full."""
    largest = max(cell.k() for cell in cells)
    own = [cell for cell in cells if cell.k() == largest]
    looping = [cell for cell in own if cell.number("items") / cell.number("chunks") >= (largest - 1) / 2]
    return min(cell.number("forest.deepest_cold") / cell.number("forest.deepest") for cell in looping)


def found_by_ten(cells):
    """Paths that ten runs found, of those of thirty."""
    runs = lambda cell: len(re.findall(r"seed=\d+", cell.commands))
    by = {(cell.program, runs(cell)): cell.number("found") for cell in cells}
    programs = {cell.program for cell in cells}
    return mean(100 * by[(program, 10)] / by[(program, 30)] for program in programs)


def false_flow(cells):
    """The mean with expectation-maximisation over the mean with equal division."""
    own = [cell for cell in cells if cell.kind == "numbers"]
    em = [cell for cell in own if "weights=em" in cell.commands]
    equal = [cell for cell in own if cell not in em]
    return mean(cell.number("traces.count.false") for cell in em) / mean(cell.number("traces.count.false") for cell in equal)


def off_the_rate(cells):
    """How far samples are from what the rate says, in their standard deviations."""

    def of(cell):
        number = lambda name: cell.number(f"sample.{name}")
        expected = number("blocks") / (number("rate") + number("mean_length"))
        return abs(expected / number("left") - 1) * math.sqrt(number("left"))

    return max(of(cell) for cell in cells)


def visits(cells):
    """Entries visited by thinning, at most, of sampled blocks, in percent."""
    own = [cell for cell in cells if cell.kind == "subpaths"]
    number = lambda cell, name: cell.number(f"sample.{name}")
    visited = sum(number(cell, "thinnings") * number(cell, "entries") for cell in own)
    return 100 * visited / sum(number(cell, "taken") * number(cell, "mean_length") for cell in own)


def stops(pick):
    """Recall of the five hottest at each stop, in its order."""

    def of(cells):
        place = lambda cell: int(re.search(r"subpaths:until=(\d+)", cell.commands).group(1))
        return pick([100 * cell.number("subpaths.top5.recall") for cell in sorted(cells, key=place)])

    return of


def sampling_at_40(cells):
    """What sampling costs beyond counting blocks, which is what so seldom a sample leaves."""
    ratio = lambda rate: above_one(flagged(cells, f"--tier o2 --profile osp:rate={rate}"))[0]
    return ratio(40) - ratio(1000000)


def samples_needed(cells):
    """How often the most sampled is sampled, powers of two over any length."""
    most = lambda lengths: [cell.number("sample.most") for cell in cells if f"lengths={lengths}" in cell.commands][0]
    return most("powers") / max(most("arbitrary"), 1)


def relative_to_blpp(pick):
    """Overheads over that of Ball-Larus profiling, of programs that it makes at least 3 % slower."""

    def of(cells):
        ratio = lambda cell: math.exp(mean(cell.sample("overhead"))) - 1
        base = {cell.program: ratio(cell) for cell in flagged(cells, "--profile blpp:storage=hash")}
        others = [cell for cell in cells if "kblpp" in cell.flags and base[cell.program] >= 0.03]
        return pick(ratio(cell) / base[cell.program] for cell in others)

    return of


def beside_blpp(name):
    """Of a profiler with each k, the mean of its overhead over that of Ball-Larus profiling, without programs of which code is refused."""

    def of(cells):
        ratio = lambda cell: math.exp(mean(cell.sample("overhead"))) - 1
        base = {cell.program: ratio(cell) for cell in flagged(cells, "--profile blpp:storage=hash")}
        ratios = {}
        for cell in (cell for cell in cells if cell.kind == "overhead" and f"{name}:k=" in cell.flags):
            spec = cell.flags.split()[-1]
            told = [own for own in cells if own.kind == "windows" and own.program == cell.program and own.has(spec)]
            refused = name == "kroy" and told[0].number("windows.refused") > 0
            if base[cell.program] >= 0.03 and not refused:
                ratios.setdefault(int(spec.split("=")[1]), []).append(ratio(cell) / base[cell.program])
        return [mean(ratios[k]) for k in sorted(ratios)]

    return of


def refused(number):
    """Over programs, of the runs with windows of three paths and the smallest k of the forest."""

    def of(cells):
        own = having(cells, "--profile kroy:k=3")
        own = [cell for cell in own if cell.kind == "windows"]
        least = min(cell.k() for cell in own)
        return sum(cell.number(number) for cell in own if cell.k() == least)

    return of


def table3(which):
    """The better of two strides, on average, for runs of so few or so many ticks; or the mean of both."""
    name = "cbs:samples=16,stride={},schedule=arnold-grove,at=prologue.overlap"

    def best(cells, ticks):
        own = [cell for cell in having(cells, f"--ticks {ticks}") if cell.kind == "calls"]
        return max(mean(cell.number(name.format(stride)) for cell in own) for stride in (3, 7))

    return lambda cells: mean(best(cells, ticks) for ticks in which)


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


def lost(cells):
    """Points that relative overlap is lower by against counted edges, at least 0."""
    of = lambda reference: average(f"edges.sampled.{reference}.relative", f"--profile {PEP}")(cells)
    return max(of("exact_paths") - of("exact_edges"), 0.0)


def additions(cells):
    """Additions for each path that ends."""
    own = flagged(cells, "--profile blpp:storage=hash")
    number = lambda cell, name: cell.number(f"counts.profiled.{name}")
    return mean(number(cell, "additions_executed") / max(number(cell, "path_ends"), 1) for cell in own)


def as_ratio(of):
    """Percent above 1 as the ratio."""

    def ratio(cells):
        value, interval = of(cells)
        return 1 + value / 100, interval and tuple(1 + end / 100 for end in interval)

    return ratio


PEP = "pep:samples=64,stride=17"
ABSOLUTE = "edges.sampled.exact_paths.absolute"
CALLS = "richards json deltablue list queens havlak bounce cd".split()
LOOPS = "mandelbrot sieve nbody moldyn".split()
KERNELS = "fft heapsort moldyn raytracer".split()
HASH, ARRAY, EDGES = "--profile blpp:storage=hash", "--profile blpp:storage=array", "--profile edges"
OSP_OURS = "--profile osp:memory=32k,rate=100"

# What each check is computed from: by the name of its experiment and its words.
RECIPES = {
    "pep-sec2-comparisons": {"average overhead of PEP(64,17) on the programs of figure 6, against that of PPP": costs(f"--profile {PEP}")},
    "pep-sec3.1-blpp-cost": {
        "average cost of counting paths in arrays": costs(ARRAY),
        "average cost of counting edges": costs(EDGES),
    },
    "pep-sec3.2-step-split": {"additions for each path that ends, mean over programs": additions},
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
    "pep-fig8": {
        "average accuracy of PEP(64,17)": average("paths.branch.accuracy", f"--profile {PEP}"),
        "average accuracy of one sample for each tick": average("paths.branch.accuracy", "--profile pep:schedule=timer"),
    },
    "pep-fig9": {"average relative overlap of PEP(64,17)": average("edges.sampled.exact_paths.relative", f"--profile {PEP}")},
    "pep-sec6.4-instr-edge-reference": {"points of relative overlap lost against counted edges": lost},
    "pep-sec6.4-absolute-overlap": {
        f"average absolute overlap of PEP({samples},17)": average(ABSOLUTE, f"--profile pep:samples={samples},stride=17")
        for samples in (64, 256, 1024)
    },
    "cbs-fig1": {"accuracy of CBS(3,16)": average("calls.sampled", "--profile cbs:samples=16,stride=3")},
    "cbs-tab2a": {
        "one sample, stride 1": average("cbs:samples=1,stride=1,schedule=arnold-grove,at=prologue.overlap", "accuracy", scale=1.0)
    },
    "cbs-tab3": {
        "average accuracy over all runs": table3((50, 500)),
        "average accuracy of small runs": table3((50,)),
        "average accuracy of large runs": table3((500,)),
        "average overhead of CBS(7,16)": costs("--profile cbs:samples=16,stride=7 --tier o0"),
    },
    "cbs-convergence": {
        "part of the run that CBS(3,16) needs for what the timer has in the end": reached(None),
        **{f"part of the run until CBS(3,16) stays at {level} %": reached(level) for level in (50, 60, 70)},
    },
    "cbs-sec3.1-pic-counters": {"overhead of counters": costs("--profile icache:sites=all --tier o0")},
    "cbs-sec5.1-new-inliner": {
        "average speed-up": lambda cells: above_one(speedups("all")(cells)),
        **{
            f"speed-up of {program}": lambda cells, program=program: above_one([cell for cell in cells if cell.program == program])
            for program in ("richards", "deltablue")
        },
    },
    "cbs-fig5-left": {
        "largest speed-up by CBS over the timer": lambda cells: most_of(speedups("cbs over timer")(cells), max),
        "average speed-up over static heuristics": lambda cells: above_one(speedups("cbs over static")(cells)),
    },
    "cbs-fig5-right": {
        "largest speed-up by CBS": lambda cells: most_of(speedups("cbs over static")(cells), max),
        "the worst program by CBS": lambda cells: most_of(speedups("cbs over static")(cells), min),
    },
    "cbs-sec6.3-compile-time": {
        "less time of compilation, on average": saved("compile_ns"),
        "less machine code, on average": saved("code_bytes"),
    },
    "osp-jlex-top5": {
        "of ten runs, those that find all of the five hottest": lambda cells: sum(
            cell.number("subpaths.top5.recall") == 1 for cell in cells
        )
    },
    "osp-sec2.2-complexity": {"entries visited by thinning for each sampled block, at most, all programs": visits},
    "osp-sec3-encoding": {
        "executions that rotation merges falsely, the worst program": extreme(max, lambda cell: 100 * cell.number("exact.rotation.falsely")),
        "executions that the exclusive or merges falsely, average": average("exact.xor.falsely"),
    },
    "osp-tab1": {
        "blocks of the smallest of four kernels": lambda cells: min(
            cell.number("exact.blocks") for cell in cells if cell.program in KERNELS
        ),
        "counting all subpaths of the program that takes longest": extreme(max, lambda cell: cell.seconds),
    },
    "osp-tab2": {
        f"average overhead of {what}": costs(f"--tier o2 --profile osp:skip={skip}")
        for what, skip in (("bursts at ticks", "burst"), ("two versions of code", "versions"), ("a counter", "decrement"))
    },
    "osp-sec3.1-jgf-section1": {
        "additions with a counter in compiled code": as_ratio(
            lambda cells: above_one(
                [cell for cell in flagged(cells, "--tier o2 --profile osp:skip=decrement") if cell.program == "addition"]
            )
        )
    },
    "osp-tab3": {"blocks for each sample beside the rate, in standard deviations, the worst program": off_the_rate},
    "osp-sec3.1-f40": {
        "what a rate of 40 costs, sampling and counting": costs("--tier o2 --profile osp:rate=40"),
        "what sampling costs at 40": sampling_at_40,
    },
    "osp-tab4": {"bytes of the profiler, the program with most": extreme(max, lambda cell: cell.number("sample.bytes"))},
    "osp-tab5": {
        "mean error of the first five": average("subpaths.top5.error", OSP_OURS),
        "of the five hottest, found": average("subpaths.top5.recall", OSP_OURS),
    },
    "osp-tab6": {
        "of the five hottest, found at the worst of the first three stops, beside the paper's": stops(
            lambda all: min(ours - paper for ours, paper in zip(all, (100, 80, 60)))
        ),
        "of the five hottest, found at the worst stop from 24 % on": stops(lambda all: min(all[3:])),
    },
    "osp-sec3.1-arbitrary-length": {
        "how many times as many samples are needed for the same error of the hottest": samples_needed
    },
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
        "average overhead of a trace at each tick": costs("--tier o2 --profile btb:backend=burst,depth=16"),
        "average accuracy with 4 branches": lambda cells: by_depth(cells, 4),
    },
    "pmu-headline": {
        "average accuracy of a trace at each tick, by count flow": average("traces.count.accuracy", "accuracy"),
        "its average overhead": costs("--tier o2 --profile btb:backend=burst,depth=16"),
    },
    "pmu-sec4.6": {"false flow, expectation-maximisation relative to equal division, of the means": false_flow},
    "kblpp-fig13": {
        "roots, of all different paths, the program and k with fewest": lambda cells: min(over("roots", "forest.roots")(cells)),
        "paths that begin where a method is entered, of all different paths, the program with fewest": lambda cells: min(
            over("forest.entries", "forest.roots")(cells)
        ),
    },
    "kblpp-fig14": {
        "overhead relative to BLPP, the worst program and k": relative_to_blpp(lambda all: max([0.0, *all])),
        "overhead relative to BLPP, the best program and k": relative_to_blpp(min),
    },
    "kblpp-fig15": {
        "look-ups relative to BLPP, the program and k with most": lambda cells: max(over("chunks", "items")(cells)),
        "hash operations that are done, relative to BLPP, the program and k with most": lambda cells: max(
            over("hash_operations", "items")(cells)
        ),
    },
    "kblpp-eclipse-scan": {
        "children looked at in a search, on average, the worst program and k": lambda cells: 1
        + max(over("sibling_steps", "searches")(cells)),
        "look-ups in hash tables of nodes, for each path, the worst program and k": lambda cells: max(
            over("wide_lookups", "items")(cells)
        ),
    },
    "kblpp-fig17": {"bytes of the largest forest": extreme(max, lambda cell: cell.number("bytes"))},
    "kblpp-tab1": {
        "cost of numbers of k iterations relative to BLPP, the cheaper k": lambda cells: min(beside_blpp("kroy")(cells)),
        "cost of k-BLPP relative to BLPP, the mean over k": lambda cells: mean(beside_blpp("kblpp")(cells)),
        "cost of k-BLPP with the largest k relative to numbers of k iterations, the cheaper k": lambda cells: beside_blpp("kblpp")(cells)[-1]
        / min(beside_blpp("kroy")(cells)),
        "code whose numbers of 3 iterations do not fit 64 bits, of all that is numbered": refused("windows.refused"),
        "code with more than 60,000 paths over 3 iterations, if any path may follow any other": lambda cells: 100
        * refused("beyond")(cells)
        / refused("numbered")(cells),
    },
    "kblpp-sec6-discussion": {
        "cold of all sequences of the largest k, the loop-intensive program with fewest": coldest
    },
}
RECIPES["cbs-tab2b"] = RECIPES["cbs-tab2a"]


def by_depth(cells, depth):
    """Accuracy of traces of so many branches, weighted by expectation-maximisation."""
    own = [c for c in cells if c.kind == "numbers" and f"depth={depth}," in c.commands and "weights=em" in c.commands]
    return 100 * mean(cell.number("traces.count.accuracy") for cell in own)


# Files.


def lines_of(path):
    """The cells of a store by name: the last line of each counts."""
    if os.path.isdir(path):
        path = os.path.join(path, "cells.jsonl")
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise Bad(f"cannot read the store {path}: {error}") from error
    cells = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            if not isinstance(record, dict):
                raise ValueError("it is no object")
        except ValueError as error:
            if number == len(lines):
                print(f"{path}: the last line is torn, as a run that was killed leaves it; it is left out", file=sys.stderr)
                continue
            raise Bad(f"{path}, line {number}: {error}") from error
        if number == 1 and "holloway_store" not in record:
            raise Bad(f"{path} is no store: its first line has no 'holloway_store'")
        if "cell" in record:
            cells[record["cell"]] = Cell(record["cell"], record)
    if not cells:
        raise Bad(f"{path} has no results")
    return cells


def report_of(path):
    """The report's value."""
    try:
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        return [of for paper in report["papers"] for of in paper["experiments"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        hint = "; `holloway experiment report STORE` writes it" if isinstance(error, OSError) else ""
        raise Bad(f"cannot read the report {path}: {error!r}{hint}") from error


# Comparing.


def printed(text):
    """The number that a text begins with, and half of what its last digit is worth."""
    found = re.match(r"-?\d+(?:\.(\d+))?", text)
    return (float(found.group()), 0.5 * 10 ** -len(found.group(1) or "")) if found else None


def agrees(check, value, interval):
    """Is it what the report says, in its value, as it is printed, and with its interval."""
    measured = check["measured"]
    if not math.isclose(measured["value"], value, rel_tol=1e-6, abs_tol=1e-9):
        return False
    text = printed(check.get("shown", ""))
    if text and abs(text[0] - value) > text[1] * 1.001 + 1e-9 * abs(value):
        return False
    said = measured["interval"]
    if interval is None or said is None:
        # Of some numbers only the value is computed again, which `judged` tells; but what has an interval must have one in the report.
        return interval is None
    half = (interval[1] - interval[0]) / 2
    return all(abs(one - other) <= LOOSE * half + 1e-9 for one, other in zip(said, interval))


def judged(experiment, check, cells):
    """The value that was recomputed and what to say of it."""
    recipe = RECIPES.get(experiment["id"], {}).get(check["what"])
    if recipe is None:
        return None, "not recomputed: no recipe for it"
    names = dict.fromkeys(experiment.get("cells", []))
    own = [cells[name] for name in names if name in cells and cells[name].outcome]
    if len(own) < len(names) or not own:
        return None, f"not recomputed: {len(names) - len(own)} of its {len(names)} cells are not in the store"
    try:
        found = recipe(own)
        value, interval = found if isinstance(found, tuple) else (found, None)
    except (Unknown, KeyError, IndexError, ValueError, ZeroDivisionError) as error:
        return None, f"not recomputed: {error}"
    if not agrees(check, value, interval):
        return value, "differs"
    return value, "agrees" if interval or not check["measured"]["interval"] else "agrees in its value"


def main(arguments):
    """The table; the exit code."""
    if len(arguments) not in (1, 2) or arguments[0].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    store = arguments[0]
    folder = store if os.path.isdir(store) else os.path.dirname(store)
    try:
        cells = lines_of(store)
        experiments = report_of(arguments[1] if len(arguments) > 1 else os.path.join(folder, "report.json"))
    except Bad as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    counts = {"agrees": 0, "differs": 0, "not": 0}
    print(f"{'experiment':<32} {'reported':>16} {'recomputed':>16}  {'':<8} check")
    for experiment in experiments:
        for check in experiment["checks"]:
            if not check["measured"]:
                continue
            value, verdict = judged(experiment, check, cells)
            counts[verdict.split()[0]] += 1
            said, ours = f"{check['measured']['value']:.6g}", "-" if value is None else f"{value:.6g}"
            print(f"{experiment['id']:<32} {said:>16} {ours:>16}  {verdict:<8} {check['what']}")
    total = sum(counts.values())
    print(f"{total} numbers: {counts['agrees']} agree, {counts['differs']} differ, {counts['not']} are not recomputed")
    if total == 0:
        print("error: the report has no numbers", file=sys.stderr)
        return 2
    return 1 if counts["differs"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
