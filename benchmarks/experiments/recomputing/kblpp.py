"""D'Elia and Demetrescu 2013."""

import collections
import math
import re

from . import masks, relative, sequences
from .basics import Cell, extreme, flagged, having, mean, mean_ratio, over

OUTLIERS = "heapsort moldyn lzw montecarlo".split()
HASH = "--profile blpp:storage=hash"
ARRAY = "--profile blpp:storage=array"
# The paper's percentages of the masked filter, as `sequences.masked` has them.
MASKED = (81.7, 98.9, 0.1, 95.0, 0.6)


def logarithms(cells, flags):
    """What each round of a program's cell with these flags gave, by program."""
    return {cell.program: cell.rounds("overhead") for cell in flagged(cells, flags)}


def specs(cells, name):
    """The flags of cells of overhead with such a profiler, by its k."""
    found = {cell.flags for cell in cells if cell.kind == "overhead" and f"{name}:k=" in cell.flags}
    return {int(of.rsplit("=", 1)[1]): of for of in sorted(found)}


def is_divisor(rounds):
    """Is there an overhead to divide by."""
    return math.exp(mean(rounds)) - 1 >= 0.03


def ratios(cells, base, times=False, name="kblpp"):
    """By k and program: time or overhead of a profiler over that of Ball-Larus profiling."""
    under, found = logarithms(cells, base), {}
    for k, flags in specs(cells, name).items():
        for program, rounds in logarithms(cells, flags).items():
            if times or is_divisor(under[program]):
                divide = relative.of_times if times else relative.of_overheads
                found.setdefault(k, {})[program] = divide(rounds, under[program])
    return found


def farthest(pick, base=HASH, times=False):
    """The largest or least of these, with its interval."""

    def of(cells):
        every = [ratio for programs in ratios(cells, base, times).values() for ratio in programs.values()]
        found = pick(every, key=lambda ratio: ratio.value)
        return found.value, found.interval

    return of


def below(cells):
    """Programs that take no more time with the largest k than with Ball-Larus profiling."""
    found = ratios(cells, HASH, True)
    last = found[max(found)].values()
    return 100 * sum(ratio.value <= 1 for ratio in last) / len(last)


def beside_blpp(name, base=HASH, times=False):
    """Of a profiler with each k, these ratios, without programs of which code is refused."""

    def of(cells):
        every = {}
        for k, programs in ratios(cells, base, times, name).items():
            for program, ratio in programs.items():
                told = [own for own in cells if own.kind == "windows" and own.program == program and own.has(f"--profile {name}:k={k}")]
                if name != "kroy" or told[0].number("windows.refused") == 0:
                    every.setdefault(k, []).append(ratio)
        return [every[k] for k in sorted(every)]

    return of


def cheaper(cells):
    """The mean over programs of numbers of k iterations, of the k with which it is less."""
    return min((relative.average(of) for of in beside_blpp("kroy")(cells)), key=lambda of: of[0])


def over_every_k(base=HASH, times=False):
    """The mean over programs and k of the forest's."""
    return lambda cells: relative.average([ratio for of in beside_blpp("kblpp", base, times)(cells) for ratio in of])


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
    """By how much the second program is faster, over processes whose code lies in the same way."""

    def of(cells):
        found = {}
        for cell in having(cells, f"--size {rows}"):
            place = int(re.search(r"--scatter (\d+)", cell.commands).group(1))
            found[(cell.program, place)] = time(cell.sample("samples_ns"))
        one, eight = programs
        places = sorted(place for program, place in found if program == one)
        return mean_ratio([[math.log(found[(one, place)] / found[(eight, place)]) for place in places]])

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
    each = [cell.number(f"{layout}.{k}.unforeseen_misses") / cell.number(f"{layout}.{k}.paths") for k in (ks[0], ks[-1])]
    return each[1] - each[0]


def rise(cells):
    """The rise with nodes in arrays over that with nodes as objects, the worst of the outliers."""
    # `experiment nodes PROGRAM`.
    own = [cell for cell in cells if cell.commands.split()[2] in OUTLIERS]
    return max(0.0, *(more_misses(cell, "arena") / more_misses(cell, "linked") for cell in own))


def masked(other):
    """How far the five percentages of the filter's forest are from others, at most."""
    return lambda cells: max(abs(one - two) for one, two in zip(sequences.masked(cells[0]), other()))


def widest(k):
    """The average degree of nodes that have children, of the program where it is largest."""
    return lambda cells: max(cell.number("forest.degree") for cell in cells if cell.k() == k)


def of_forests(cells):
    """Those of whole programs whose forests are kept as numbers."""
    return [cell for cell in cells if cell.kind == "forest"]


def deepest(cells):
    """Programs of two iterations that have sequences of the largest k."""
    largest = max(cell.k() for cell in cells)
    return sum(cell.sample("levels.nodes")[largest - 1] > 0 for cell in having(cells, "--iterations 2") if cell.k() == largest)


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
        "overhead relative to BLPP, the worst program and k": farthest(max),
        "overhead relative to BLPP, the best program and k": farthest(min),
        "programs at or below BLPP with the largest k": below,
        "time relative to BLPP's, the worst program and k": farthest(max, times=True),
        "overhead relative to that of BLPP in arrays, the worst program and k": farthest(max, ARRAY),
        "time relative to that of BLPP in arrays, the worst program and k": farthest(max, ARRAY, True),
    },
    "kblpp-fig15": {
        "look-ups relative to BLPP, the program and k with most": lambda cells: max(over("chunks", "items")(of_forests(cells))),
        "hash operations that are done, relative to BLPP, the program and k with most": lambda cells: max(
            over("hash_operations", "items")(of_forests(cells))
        ),
    },
    "kblpp-eclipse-scan": {
        "children looked at in a search, on average, the worst program and k": lambda cells: 1
        + max(over("sibling_steps", "searches")(cells)),
        "look-ups in hash tables of nodes, for each path, the worst program and k": lambda cells: max(
            over("wide_lookups", "items")(cells)
        ),
    }
    | {
        f"children of a node that has any, on average, the program with most, k={k}": widest(k) for k in (2, 16)
    },
    "kblpp-fig17": {
        "bytes of the largest forest": extreme(max, lambda cell: cell.number("bytes")),
        "bytes for a node of that forest, with its tables": lambda cells: (lambda cell: cell.number("bytes") / cell.number("nodes"))(
            max(cells, key=lambda cell: cell.number("bytes"))
        ),
    },
    "kblpp-fig18": {
        "its nodes, of those of the k-slab forest, the program and k with fewest": lambda cells: min(over("forest.nodes", "nodes")(cells)),
        "the same, with most": lambda cells: max(over("forest.nodes", "nodes")(cells)),
    },
    "kblpp-tab1": {
        "cost of numbers of k iterations relative to BLPP, the cheaper k": cheaper,
        "cost of k-BLPP relative to BLPP, the mean over k": over_every_k(),
        "cost of k-BLPP with the largest k relative to numbers of k iterations, the cheaper k": lambda cells: relative.average(
            beside_blpp("kblpp")(cells)[-1]
        )[0]
        / cheaper(cells)[0],
        "time over that with BLPP, k-BLPP, the mean over k": over_every_k(times=True),
        "overhead over that of BLPP in an array, k-BLPP, the mean over k": over_every_k(ARRAY),
        "time over that with BLPP in an array, k-BLPP, the mean over k": over_every_k(ARRAY, True),
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
    "kblpp-fig20": {"programs that run sequences of the largest k": deepest},
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
    """Programs that take surely no more time with any k than with the one before, and with the largest than with the least: three quarters of them."""
    by_program = collections.defaultdict(list)
    for _, flags in sorted(specs(cells, "kblpp").items()):
        for program, rounds in logarithms(cells, flags).items():
            by_program[program].append(rounds)
    rises = lambda of: any(relative.is_more(other, one) for one, other in [*zip(of, of[1:]), (of[0], of[-1])])
    falling = sum(not rises(of) for of in by_program.values())
    return falling >= 0.75 * len(by_program), [falling, len(by_program)]


def follows_from_traces(cells):
    """Runs of which a trace of every step says as many paths and chunks as the profiler counted."""
    same = every = 0
    for cell in having(cells, "experiment lookups"):
        for k in sorted({name.split(".")[0] for name in cell.outcome["numbers"]}, key=int):
            paths, chunks = ([cell.number(f"{k}.{who}.{what}") for who in ("traced", "counted")] for what in ("paths", "chunks"))
            every += 1
            same += paths[0] == paths[1] > 0 and chunks[0] == chunks[1]
    return same == every, [same, every]


def counted(cells, k):
    """Cells of three profilers in one run, in which the forest's paths are of so many iterations."""
    return [cell for cell in cells if cell.kind == "windows" and cell.k() == k]


def all_ks(cells):
    """The k of their forests."""
    return sorted({cell.k() for cell in cells if cell.kind == "windows"})


def updates(cells, number, paths):
    """Updates of hash tables for each path, by program."""
    return [cell.number(number) / max(cell.number(paths), 1) for cell in cells]


def each_path(cells):
    """One update for each path that windows number, with either length."""
    shown, right = [], True
    for window in (2, 3):
        # The run with the least k of the forest that is as long.
        k = min(of for of in all_ks(cells) if min(of, 3) == window)
        own = updates(counted(cells, k), "windows.hash_operations", "windows.paths")
        right &= all(of == 1 for of in own)
        # Names of the text have their k.
        shown += [window, mean(own)]
    return right, shown


def each_chunk(cells):
    """Between one for k-1 paths and one for each, and never more with a larger k."""
    ks = all_ks(cells)
    every = {k: {cell.program: cell.number("forest.chunks") / max(cell.number("forest.items"), 1) for cell in counted(cells, k)} for k in ks}
    falls = all(every[other][name] <= every[one][name] for one, other in zip(ks, ks[1:]) for name in every[one])
    bounded = all(0.999 / (k - 1) <= of <= 1 for k in ks for of in every[k].values())
    return falls and bounded, [of for k in ks for of in (k, mean(every[k].values()))]


def no_difference(cells):
    """Counts that two of the profilers say different, of those that they both know."""
    own = [cell for cell in cells if cell.kind == "windows"]
    different, compared = (sum(cell.number(of) for cell in own) for of in ("different", "compared"))
    return compared > 0 and different == 0, [different, compared]


def no_crossing(cells):
    """Sequences that go on where an activation ends."""
    own = [cell for cell in cells if cell.kind == "windows"]
    crossing, told = (sum(cell.number(of) for cell in own) for of in ("crossing", "forest.sequences"))
    return told > 0 and crossing == 0, [crossing, told]


def surer(cells):
    """Programs with no more children on the last level that has any than on the first: three quarters of them."""
    largest = max(cell.k() for cell in cells)
    own = [cell for cell in cells if cell.k() == largest]
    falling = 0
    for cell in own:
        levels = zip(cell.outcome["samples"]["levels.children"], cell.outcome["samples"]["levels.internal"])
        degrees = [children / internal for children, internal in levels if internal > 0]
        falling += not degrees or degrees[-1] <= degrees[0]
    return falling >= 0.75 * len(own), [falling, len(own)]


def colder(cells):
    """The share of cold sequences by level, of loop-intensive programs together, which falls nowhere by more than a hundredth."""
    own = loop_intensive(cells)
    total = lambda name, level: sum(cell.outcome["samples"][f"levels.{name}"][level] for cell in own)
    shares = [total("cold", level) / total("nodes", level) for level in range(own[0].k())]
    return all(other >= one - 0.01 for one, other in zip(shares, shares[1:])), shares


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


def stream_of_the_run(cells):
    """The numbers of paths that are run: those of which the forests are made."""
    seen = next(cell.sample("back edges.ids") for cell in cells if "back edges.ids" in cell.outcome.get("samples", {}))
    return seen == of_stream(having(cells, "forest --k 4")[0])[0], seen


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
        "the stream of path numbers of the run": stream_of_the_run,
        "figure 3: the 4-iteration path forest": running_example,
        "⟨2, 0, 0, 2⟩": hot_path,
        "0 after 0 in the 4-slab forest": zeros,
    },
    "kblpp-fig8": {
        "counts of both streams": both_streams,
        "pairs of iterations": sequences.next_turns,
        "what is unrolled": sequences.unrolled,
    },
    "kblpp-fig9": {"paths of the cycle": sequences.kinds_of_paths},
    "kblpp-fig6": {"both come in long runs": long_runs},
    "kblpp-fig7": {"the small picture gains, and a black mask does not": gains},
    "kblpp-fig13": {"only paths that begin a chunk are roots": roots},
    "kblpp-fig14": {"it falls with k in most programs": falls_with_k},
    "kblpp-fig15": {
        "between 1/(k-1) and 1, falling with k": bounded,
        "look-ups that follow from a trace of every step": follows_from_traces,
    },
    "kblpp-tab1": {
        "numbers of k iterations need a hash update for each path": each_path,
        "k-BLPP needs one for each chunk": each_chunk,
        "all three say the same of every sequence that two of them know": no_difference,
        "no sequence goes on where an activation ends": no_crossing,
    },
    "kblpp-sec6-discussion": {"the farther from the root, the more are cold": colder},
    "kblpp-fig16": {
        "misses rise with k where the paper's programs become slower, nodes being objects": misses,
        "nodes lying in arrays, they do not": in_arrays,
    },
    "kblpp-fig17": {"nodes grow with k": over_k(forests("nodes"), True, 0.5)},
    "kblpp-fig18": {"more paths with every k": over_k(forests("forest.nodes"), True, 1)},
    "kblpp-fig19": {
        "it falls with k": over_k(forests("forest.degree"), False, 0.75),
        "the longer a sequence is, the surer is what follows": surer,
    },
    "kblpp-fig20": {"it does not fall with k": over_k(forests("forest.leaf_depth"), True, 1)},
}
