"""D'Elia and Demetrescu 2013."""

import collections
import math
import re

from . import masks, sequences
from .basics import Cell, above_one, extreme, flagged, having, mean, mean_ratio, over

OUTLIERS = "heapsort moldyn lzw".split()
HASH = "--profile blpp:storage=hash"
# The paper's percentages of the masked filter, as `sequences.masked` has them.
MASKED = (81.7, 98.9, 0.1, 95.0, 0.6)


def by_k(cells):
    """By k, overheads over that of Ball-Larus profiling, of programs that it makes at least 3 % slower."""
    ratio = lambda cell: math.exp(mean(cell.rounds("overhead"))) - 1
    base = {cell.program: ratio(cell) for cell in flagged(cells, HASH)}
    lines = {}
    for cell in cells:
        if "kblpp" in cell.flags and base[cell.program] >= 0.03:
            lines.setdefault(cell.program, {})[cell.k()] = ratio(cell) / base[cell.program]
    return list(lines.values())


def relative_to_blpp(pick):
    """The largest or least of these."""
    return lambda cells: pick(value for line in by_k(cells) for value in line.values())


def beside_blpp(name):
    """Of a profiler with each k, the mean of its overhead over that of Ball-Larus profiling, without programs of which code is refused."""

    def of(cells):
        ratio = lambda cell: math.exp(mean(cell.rounds("overhead"))) - 1
        base = {cell.program: ratio(cell) for cell in flagged(cells, HASH)}
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


def loop_intensive(cells):
    """The cells of the largest k whose chunks are at least half full on average."""
    largest = max(cell.k() for cell in cells)
    own = [cell for cell in cells if cell.k() == largest]
    return [cell for cell in own if cell.number("items") / cell.number("chunks") >= (largest - 1) / 2]


def cold(cells):
    """Of all sequences of the largest k in loop-intensive programs, the cold ones."""
    own = loop_intensive(cells)
    return sum(cell.number("forest.deepest_cold") for cell in own) / sum(cell.number("forest.deepest") for cell in own)


def coldest(cells):
    """The same of each classic program, the least; these run twice."""
    own = loop_intensive(having(cells, "--iterations 2"))
    return min(cell.number("forest.deepest_cold") / cell.number("forest.deepest") for cell in own)


def eights(programs, rows, time):
    """By how much the second program is faster, over processes with the same seed."""

    def of(cells):
        found = {}
        for cell in having(cells, f"--size {rows}"):
            seed = int(re.search(r"--seed (\d+)", cell.commands).group(1))
            found[(cell.program, seed)] = time(cell.sample("samples_ns"))
        one, eight = programs
        seeds = sorted(seed for program, seed in found if program == one)
        return mean_ratio([[math.log(found[(one, seed)] / found[(eight, seed)]) for seed in seeds]])

    return of


def steady(samples):
    """The median of the last half of the iterations; of an even number the upper one."""
    last = sorted(samples[len(samples) // 2 :])
    return last[len(last) // 2]


def black(time):
    """The same of the black picture, which has fewer rows in little time."""

    def of(cells):
        rows = {re.search(r"--size (\d+)", cell.commands).group(1) for cell in having(cells, "bench black")}
        return eights(("black", "black8"), rows.pop(), time)(cells)

    return of


def more_misses(cell, layout):
    """How much misses of the large cache for each path rise from the least k to the largest."""
    ks = sorted(int(name.split(".")[1]) for name in cell.outcome["numbers"] if re.fullmatch(layout + r"\.\d+\.paths", name))
    each = [cell.number(f"{layout}.{k}.large_misses") / cell.number(f"{layout}.{k}.paths") for k in (ks[0], ks[-1])]
    return each[1] - each[0]


def rise(cells):
    """The rise with nodes in arrays over that with nodes as objects, the worst of the outliers."""
    # `experiment nodes PROGRAM`.
    own = [cell for cell in cells if cell.commands.split()[2] in OUTLIERS]
    return max(0.0, *(more_misses(cell, "arena") / more_misses(cell, "linked") for cell in own))


def masked(other):
    """How far the five percentages of the filter's forest are from others, at most."""
    return lambda cells: max(abs(one - two) for one, two in zip(sequences.masked(cells[0]), other()))


def figure13(cells, is_figure):
    """The cells of the figure's routine, or those of whole programs."""
    return [cell for cell in cells if (cell.program == "sorter") == is_figure]


# What each check is computed from: by the name of its experiment and its words.
RECIPES = {
    "kblpp-fig13": {
        "roots, of all different paths, in the figure's routine with the largest k": lambda cells: max(
            over("roots", "forest.roots")([max(figure13(cells, True), key=Cell.k)])
        ),
        "roots, of all different paths, the program and k with fewest": lambda cells: min(
            over("roots", "forest.roots")(figure13(cells, False))
        ),
        "paths that begin where a method is entered, of all different paths, the program with fewest": lambda cells: min(
            over("forest.entries", "forest.roots")(figure13(cells, False))
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
        "cold of all sequences of the largest k in loop-intensive programs": cold,
        "the same of the classic program with fewest": coldest,
    },
    "kblpp-fig3": {
        "sum of all counters: the length of the stream": lambda cells: sum(sequences.counts(having(cells, "--k 4")[0], "slabs").values())
    },
    "kblpp-fig6": {
        "how far percentages of the profile are from those of the mask, the worst of five": masked(masks.percentages),
        "how far they are from the paper's, the worst of five": masked(lambda: MASKED),
    },
    "kblpp-fig7": {
        "faster by eights, 3114×2376": eights(("masks", "masks8"), 2376, min),
        "faster by eights, as 9265×7549": eights(("masks", "masks8"), 22460, min),
        "the same in the steady state, 3114×2376": eights(("masks", "masks8"), 2376, steady),
        "the same in the steady state, as 9265×7549": eights(("masks", "masks8"), 22460, steady),
        "the same in the steady state, black mask": black(steady),
    },
    "kblpp-fig8": {"how far shares of paths of one iteration are apart in the two loops of the program": sequences.apart},
    "kblpp-fig9": {
        "a cycle, run twice and begun again, of what begins as it does": lambda cells: sequences.cycle(cells[0])[0],
        "the most frequent path after the first of the cycle": lambda cells: sequences.cycle(cells[0])[1],
    },
    "kblpp-fig16": {"the rise in arrays, of that with objects, the worst of these programs": rise},
}


def forests(name, by=None):
    """Of each program a number (over another) by k."""

    def of(cells):
        found = {}
        for cell in (cell for cell in cells if cell.kind == "forest" and cell.has("--iterations 2")):
            found.setdefault(cell.program, {})[cell.k()] = cell.number(name) / (cell.number(by) if by else 1)
        return [sorted(of.items()) for of in found.values()]

    return of


def over_k(lines, rising, enough):
    """Programs of which a number does not fall with k (or rise), but for a hundredth, and whether they are enough."""

    def of(cells):
        every = [[value for _, value in line] for line in lines(cells)]
        step = (lambda one, other: other >= 0.99 * one) if rising else (lambda one, other: other <= 1.01 * one)
        count = sum(all(map(step, line, line[1:])) for line in every)
        return count >= enough * len(every), [count, len(every)]

    return of


def bounded(cells):
    """Look-ups fall with k, and are not below 1/(k-1), but for rounding."""
    lines = forests("chunks", "items")(cells)
    falling, counts = over_k(lambda _: lines, False, 1)(cells)
    return falling and all(value >= 0.999 / (k - 1) for line in lines for k, value in line), counts


def roots(cells):
    """Forests whose roots are all different paths (k is 2), or no more than these."""
    points = [point for line in forests("roots", "forest.roots")(cells) for point in line]
    right = sum(value == 1 if k == 2 else 0 < value <= 1 for k, value in points)
    return right == len(points), [right, len(points)]


def misses(cells):
    """Misses of the large cache for each path, nodes as objects: the least rise of outliers, and the largest of the others."""
    rises = {True: [], False: []}
    for cell in cells:
        rises[cell.commands.split()[2] in OUTLIERS].append(more_misses(cell, "linked"))
    least, most = min(rises[True]), max(0.0, *rises[False])
    return least > 0.1 and least > most, [least, most]


def in_arrays(cells):
    """The same of nodes in arrays, of outliers."""
    rises = [more_misses(cell, "arena") for cell in cells if cell.commands.split()[2] in OUTLIERS]
    return max(rises) <= 0.1, [min(rises), max(rises)]


def long_runs(cells):
    """Of copied and of convolved: ten times, and the other next."""
    _, copied, convolve, convolved, copy = sequences.masked(cells[0])
    return min(copied, convolved) > 90 and max(convolve, copy) < 1, [copied, convolved, convolve, copy]


def gains(cells):
    """The small picture gains more than a twentieth, the black one less."""
    small, other = eights(("masks", "masks8"), 2376, min)(cells)[0], black(min)(cells)[0]
    return small > 5 >= abs(other), [small, other]


def falls_with_k(cells):
    """Programs whose overhead is no more with the largest k than with the least, but for half of both intervals: three quarters of them."""
    base = {cell.program: math.exp(mean(cell.rounds("overhead"))) - 1 for cell in flagged(cells, HASH)}
    of_program = collections.defaultdict(dict)
    for cell in cells:
        if "kblpp" in cell.flags and base[cell.program] >= 0.03:
            of_program[cell.program][cell.k()] = above_one([cell])

    def falls(by_k):
        (first, first_ends), (last, last_ends) = by_k[min(by_k)], by_k[max(by_k)]
        half = lambda ends: (ends[1] - ends[0]) / 2 if ends else 0.0
        return last - first <= math.hypot(half(first_ends), half(last_ends))

    falling = sum(map(falls, of_program.values()))
    return falling >= 0.75 * len(of_program), [falling, len(of_program)]


def subsequences(stream, k):
    """How often each sequence of up to k numbers comes in a stream."""
    every = (stream[at : at + length] for length in range(1, k + 1) for at in range(len(stream) - length + 1))
    return collections.Counter(tuple(of) for of in every)


def of_stream(cell):
    """The stream and k of a cell of `experiment forest`."""
    words = cell.commands.split()
    return [int(of) for of in words[4].split(",")], int(words[3])


def running_example(cells):
    """Nodes of the 4-iteration path forest; those that are different, and those that are not there."""
    cell = having(cells, "forest --k 4")[0]
    right, made = subsequences(*of_stream(cell)), sequences.counts(cell, "sequences")
    differ = sum(right[path] != count for path, count in made.items())
    lacks = sum(path not in made for path in right)
    return differ == lacks == 0, [len(made), differ, lacks]


def hot_path(cells):
    """How often 2, 0, 0, 2 is counted."""
    count = sequences.counts(having(cells, "forest --k 4")[0], "sequences")[2, 0, 0, 2]
    return count == 3, [count]


def zeros(cells):
    """Places of the 4-slab forest at which 0 follows 0, and those that are counted."""
    found = [count for path, count in sequences.counts(having(cells, "forest --k 4")[0], "slabs").items() if path[-2:] == (0, 0)]
    counted = sum(count > 0 for count in found)
    return (len(found), counted) == (5, 3), [len(found), counted]


def both_streams(cells):
    """All sequences of the phased and the alternating stream, counted."""
    own = [cell for cell in cells if "experiment forest" in cell.commands]
    return len(own) == 2 and all(sequences.counts(cell, "sequences") == subsequences(*of_stream(cell)) for cell in own), []


# Whether each shape holds, and the numbers of its text.
SHAPES = {
    "kblpp-fig3": {
        "figure 3: the 4-iteration path forest": running_example,
        "⟨2, 0, 0, 2⟩": hot_path,
        "0 after 0 in the 4-slab forest": zeros,
    },
    "kblpp-fig8": {"counts of both streams": both_streams},
    "kblpp-fig6": {"both come in long runs": long_runs},
    "kblpp-fig7": {"the small picture gains, and a black mask does not": gains},
    "kblpp-fig13": {"only paths that begin a chunk are roots": roots},
    "kblpp-fig14": {"it falls with k in most programs": falls_with_k},
    "kblpp-fig15": {"between 1/(k-1) and 1, falling with k": bounded},
    "kblpp-fig16": {
        "misses rise with k where the paper's programs become slower, nodes being objects": misses,
        "nodes lying in arrays, they do not": in_arrays,
    },
    "kblpp-fig17": {"nodes grow with k": over_k(forests("nodes"), True, 0.5)},
    "kblpp-fig18": {"more paths with every k": over_k(forests("forest.nodes"), True, 1)},
    "kblpp-fig19": {"it falls with k": over_k(forests("forest.degree"), False, 0.75)},
    "kblpp-fig20": {"it does not fall with k": over_k(forests("forest.leaf_depth"), True, 1)},
}
