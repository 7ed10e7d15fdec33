"""Cells of a store, and how numbers of several of them become one."""

import math
import random
import re

REPLICATES = 2000
STUDENT = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228]
NORMAL = 1.959964
# With fewer degrees of freedom, ends are not read off replicates.
FEW = 8


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
        self.flags = re.split(r" ?--(?:size|no-counts|max-time|rounds|fresh|turns|order)\b", own)[0]
        # Does each of its rounds compile everything again.
        self.is_fresh = " --fresh " in own

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

    def rounds(self, name):
        """Of a cell of `overhead`: the logarithm that each round gives of a ratio, from the times of the machines."""
        base, profiled, again = (self.split(f"{arm}.cpu_ns") for arm in ("base", "profiled", "again"))
        flags = [self.split(f"{arm}.ticked") for arm in ("base", "profiled", "again")]
        ratio = lambda at, over, under, one, other: in_turns(over[at], under[at], list(zip(flags[one][at], flags[other][at])))
        if name == "again":
            return [ratio(at, again, base, 2, 0) for at in range(len(base))]
        return [(ratio(at, profiled, base, 1, 0) + ratio(at, profiled, again, 1, 2)) / 2 for at in range(len(base))]

    def split(self, name):
        """A list of its outcome, in parts of as many as each round had turns."""
        values, parts = iter(self.sample(name)), []
        for turns in self.sample("turns"):
            parts.append([next(values) for _ in range(int(turns))])
        return parts

    def k(self):
        """How many iterations a forest's paths have."""
        return int(re.search(r"kblpp:k=(\d+)", self.commands).group(1))


def in_turns(over, under, groups):
    """The logarithm of a ratio over the turns of a round: of groups by which of both machines worked at a tick, the mean without the fifth at
    each end counts by their sizes. Where only one did, it is the time that it took more, without the twentieth at each end."""
    logarithms = [math.log(one / other) for one, other in zip(over, under)]
    usual = inner(logarithms, 0.2)
    ratio, typical_over, typical_under = math.exp(usual), median(over), median(under)
    found = {}
    for turn, group in enumerate(groups):
        found.setdefault(tuple(map(bool, group)), []).append(turn)
    others = first = second = 0.0
    for group, own in found.items():
        if group == (True, False):
            first = len(own) * inner([(over[at] / ratio - under[at]) / typical_under for at in own], 0.05)
        elif group == (False, True):
            second = len(own) * inner([(under[at] * ratio - over[at]) / typical_over for at in own], 0.05)
        else:
            others += len(own) * inner([logarithms[at] - usual for at in own], 0.2)
    turns = len(logarithms)
    grown = lambda total: math.copysign(math.log1p(abs(total) / turns), total)
    return usual + others / turns + grown(first) - grown(second)


def inner(values, part):
    """The mean without a part at each end."""
    cut = math.floor(len(values) * part + 0.5)
    return mean(sorted(values)[cut : len(values) - cut])


def mean(values):
    """The mean of some numbers."""
    values = list(values)
    if not values:
        raise Unknown("no cell is of this check")
    return math.fsum(values) / len(values)


def median(values):
    """The middle of some numbers, or the mean of both that are in the middle."""
    values = sorted(values)
    if not values:
        raise Unknown("no cell is of this check")
    return (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2


def by_program(cells):
    """Lists of cells, by the name of their program."""
    found = {}
    for cell in cells:
        found.setdefault(cell.program, []).append(cell)
    return found


def least_squares(rows):
    """The two prices by which the first two columns come nearest to the third; what is nothing costs nothing."""
    if len(rows) < 2:
        raise Unknown("too few cells to fit two costs")
    total = lambda one, other: math.fsum(row[one] * row[other] for row in rows)
    both = total(0, 0) * total(1, 1) - total(0, 1) ** 2
    if both <= 1e-6 * total(0, 0) * total(1, 1):
        raise Unknown("the cells do not tell the two costs apart")
    first = (total(0, 2) * total(1, 1) - total(1, 2) * total(0, 1)) / both
    second = (total(1, 2) * total(0, 0) - total(0, 2) * total(0, 1)) / both
    return first, second


# Overheads, with intervals.


def student(freedom):
    """The quantile of Student's t distribution that leaves a fortieth above it."""
    z, v = NORMAL, max(freedom, 1)
    if v >= len(STUDENT):
        return z + (z**3 + z) / (4 * v) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v * v)
    below = int(v)
    part = (1 / below - 1 / v) / (1 / below - 1 / (below + 1))
    return STUDENT[below - 1] + part * (STUDENT[below] - STUDENT[below - 1])


def above_one(cells, name="overhead"):
    """The geometric mean of the ratios of cells, in percent above 1, with its interval."""
    return mean_ratio([cell.rounds(name) for cell in cells])


def above_one_over(cells, name="overhead"):
    """The same of cells of which several measure a program with what chance chose: of each the mean counts."""
    return mean_ratio([[mean(cell.rounds(name)) for cell in own] for own in by_program(cells).values()])


def mean_ratio(rounds):
    """The same of the logarithms that the rounds of each gave."""
    value = mean(mean(of) for of in rounds)
    percent = lambda log: (math.exp(log) - 1) * 100
    # How far off a program is that was measured once, nobody knows.
    if any(len(of) < 2 for of in rounds):
        return percent(value), None
    squares = lambda of: math.fsum((log - mean(of)) ** 2 for log in of)
    variances = [squares(of) / len(of) / (len(of) - 1) for of in rounds]
    known = math.fsum(variance**2 / (len(of) - 1) for variance, of in zip(variances, rounds))
    freedom = math.fsum(variances) ** 2 / known if known > 0 else sum(len(of) - 1 for of in rounds)
    if freedom < FEW:
        distance = student(freedom) * math.sqrt(math.fsum(variances)) / len(rounds)
        return percent(value), (percent(value - distance), percent(value + distance))
    drawn = random.Random(1)

    def replicate(of):
        count = len(of) - 1
        return math.fsum(drawn.choices(of, k=count)) / count

    replicates = sorted(mean(replicate(of) for of in rounds) for _ in range(REPLICATES))
    stretch = student(freedom) / NORMAL
    end = lambda part: percent(value + (replicates[round((REPLICATES - 1) * part)] - value) * stretch)
    return percent(value), (end(0.025), end(0.975))


def costs(flags, name="overhead"):
    """The mean over all programs that were measured with these flags."""
    return lambda cells: above_one(flagged(cells, flags), name)


def flagged(cells, flags, timed=True, fresh=False):
    """Cells of `overhead` with these flags and no others: in which times were measured, of execution or of compilation, or only was counted."""
    kind = lambda cell: (cell.kind, cell.flags, cell.has("--rounds 0"), cell.is_fresh)
    found = [cell for cell in cells if kind(cell) == ("overhead", flags, not timed, fresh)]
    if not found:
        raise Unknown(f"no cell has the flags {flags}")
    return found


def dearest(flags):
    """The program with the largest ratio."""
    return lambda cells: most_of(flagged(cells, flags), max)


def most_of(cells, pick):
    """The largest or least ratio of single cells."""
    return above_one([pick(cells, key=lambda cell: mean(cell.rounds("overhead")))])


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


def beside(own, variant):
    """A number, and that of a variant which stands behind it in brackets and decides only whether it is better."""
    pair = lambda found: found if isinstance(found, tuple) else (found, None)
    return lambda cells: (*pair(own(cells)), pair(variant(cells)))


def as_ratio(of):
    """Percent above 1 as the ratio."""

    def ratio(cells):
        value, interval = of(cells)
        return 1 + value / 100, interval and tuple(1 + end / 100 for end in interval)

    return ratio
