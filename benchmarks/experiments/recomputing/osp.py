"""Oren, Matias and Sagiv 2002."""

import math
import re

from . import sources
from .basics import Unknown, above_one, as_ratio, average, costs, dearest, extreme, flagged, having, mean
from .shapes import NEAR, value

KERNELS = "fft heapsort moldyn raytracer".split()
# Different subpaths of the kernels in the paper's table 1.
DIFFERENT = {"fft": 870, "heapsort": 1095, "moldyn": 6316, "raytracer": 6800}
# Samples of the paper's runs at their end (its table 3), and what they gained, from the most to the least.
SAMPLES = {"lexgen": 2183, "fft": 168885, "heapsort": 10217, "moldyn": 2530, "raytracer": 5276, "compiler": 281}
GAINED = "fft heapsort raytracer moldyn lexgen compiler".split()
# Further off is no chance, in standard deviations.
CHANCE = 3
# The largest error of the paper's table 5, but for its fifth.
LARGEST = 4.11

# The subpaths of figure 1 after the first, and of how many visits one goes through them.
SUBPATHS = {("4", "5", "6", "7b"): 3, ("4", "5", "6", "7a"): 6, ("1", "2b", "3", "4"): 24, ("2b", "3", "4", "5"): 24}


def farthest(name):
    """How many different subpaths a kernel has, of the paper's table 1, where these are farthest apart."""
    times = lambda cell: cell.number(f"exact.{name}") / DIFFERENT[cell.program]
    return lambda cells: max((times(cell) for cell in cells if cell.program in KERNELS), key=lambda times: abs(math.log(times)))


def as_often(cells):
    """The runs that are sampled as often as the paper's."""
    return [cell for cell in cells if "osp:memory=128k," in cell.commands]


def thinned(cells):
    """Those in little memory, from the paper's first rate on, with the first random numbers."""
    return [cell for cell in thinned_often(cells) if ",seed=" not in cell.commands]


def thinned_often(cells):
    """The same with all random numbers."""
    return [cell for cell in cells if "osp:memory=32k,rate=1000,list=concise" in cell.commands]


def off(samples, expected):
    """How far samples are from what is expected, in their standard deviations."""
    return abs(expected / samples - 1) * math.sqrt(samples)


def off_the_rate(choose):
    """How far all samples of a program are from what the rates say, the worst program."""

    def expected(cell):
        number = lambda name: cell.number(f"sample.{name}")
        return number("blocks") / (number("rate") + number("mean_length"))

    def by_rate(cells):
        return off(sum(cell.number("sample.left") for cell in cells), sum(map(expected, cells)))

    def worst(cells):
        chosen = choose(cells)
        programs = {cell.program for cell in chosen}
        return max(by_rate([cell for cell in chosen if cell.program == program]) for program in programs)

    return worst


def off_the_paper(cells):
    """The same from the paper's numbers of samples."""
    return max(off(cell.number("sample.left"), SAMPLES[cell.program]) for cell in as_often(cells))


def visits(cells):
    """Entries visited by thinning, at most, of sampled blocks, in percent."""
    number = lambda cell, name: cell.number(f"sample.{name}")
    visited = sum(number(cell, "thinnings") * number(cell, "entries") for cell in thinned(cells))
    return 100 * visited / sum(number(cell, "taken") * number(cell, "mean_length") for cell in thinned(cells))


def hottest(cells, program="fft", encoding="rotation"):
    """The cell with the ten hottest of a sample."""
    own = [cell for cell in cells if cell.program == program and f"encoding={encoding}" in re.split("[ ,]", cell.commands)]
    if not own:
        raise Unknown(f"no cell samples {program} with {encoding}")
    return own[0]


def errors(cell, estimator="by_share"):
    """How far estimates of the ten hottest are off, in percent."""
    both = zip(cell.sample(f"hottest_subpaths.{estimator}"), cell.sample("hottest_subpaths.run"))
    return [100 * abs(estimate / run - 1) for estimate, run in both]


def over_allowed(cells):
    """The largest error over the paper's largest, or three standard deviations if they are more."""
    cell = hottest(cells)
    offs = cell.sample("hottest_subpaths.off_by_share")
    chance = lambda error, off: error / abs(off) if off else 0
    return max(error / max(LARGEST, CHANCE * chance(error, off)) for error, off in zip(errors(cell), offs))


def worst_z(program):
    """How far counts of samples are from what is expected, in standard deviations, the worst of ten."""
    return lambda cells: max(map(abs, hottest(cells, program).sample("hottest_subpaths.off_by_share")))


def often(cells):
    """The runs of the lexer generator with a sample in one of a hundred blocks."""
    return [cell for cell in cells if "rate=100," in cell.commands]


def as_few(cells):
    """Those with as many samples as the paper's."""
    return [cell for cell in cells if "rate=100," not in cell.commands]


def stops(pick, score="recall", rate=56):
    """A score of the five hottest at each stop, in its order, with a sample in one of so many blocks."""

    def of(cells):
        cells = [cell for cell in cells if f"rate={rate}," in cell.commands]
        place = lambda cell: int(re.search(r"subpaths:until=(\d+)", cell.commands).group(1))
        return pick([100 * cell.number(f"subpaths.top5.{score}") for cell in sorted(cells, key=place)])

    return of


def total(cells, rate):
    """What FFT costs with samples at a rate."""
    return above_one(flagged(cells, f"--tier o2 --profile osp:rate={rate}"))[0]


def sampling(cells, rate):
    """What sampling costs beyond counting blocks, which is what so seldom a sample leaves."""
    return total(cells, rate) - total(cells, 1000000)


def alone(cells, skip):
    """The same of programs with a way to skip, which are also measured at a rate that has hardly any."""
    cost = lambda flags: {cell.program: above_one([cell])[0] for cell in flagged(cells, flags)}
    whole, skipping = (cost(f"--tier o2 --profile osp:skip={skip}{rate}") for rate in ("", ",rate=1000000"))
    return [whole[program] - skipping[program] for program in skipping]


def samples_needed(cells):
    """How often the most sampled is sampled, powers of two over any length."""
    most = lambda lengths: [cell.number("sample.most") for cell in cells if f"lengths={lengths}" in cell.commands][0]
    return most("powers") / max(most("arbitrary"), 1)


def figure1(cells, what):
    """Samples or executions in each run: of 3 4 5 6, and of the other subpaths."""
    runs = []
    for cell in (cell for cell in cells if cell.kind == "subpaths"):
        paths = [[sources.line("probes/subpath.hol", f"block {block}") for block in path] for path in (("3", "4", "5", "6"), *SUBPATHS)]
        runs.append([cell.outcome["numbers"].get(f"{what}." + "-".join(map(str, lines)), 0.0) for lines in paths])
    return runs


def deviations(counts):
    """How far counts of the others are from their parts of the first, in standard deviations."""
    far = []
    for count, one_in in zip(counts[1:], SUBPATHS.values()):
        expected = counts[0] / one_in
        far.append(abs(count - expected) / max(math.sqrt(expected + expected / one_in), 1))
    return far


def within_two(cells):
    """Of the ratios of samples in each run, those within two standard deviations of what executions are."""
    return 100 * mean(far <= 2 for counts in figure1(cells, "samples") for far in deviations(counts))


# What each check is computed from: by the name of its experiment and its words.
RECIPES = {
    "osp-jlex-top5": {
        "of ten runs, those that find all of the five hottest": lambda cells: sum(
            cell.number("subpaths.top5.recall") == 1 for cell in often(cells)
        ),
        "of the five hottest, found with as many samples as the paper's, on average": lambda cells: 100
        * mean(cell.number("subpaths.top5.recall") for cell in as_few(cells)),
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
        "counting all subpaths of the program that takes longest": lambda cells: max(
            cell.seconds for cell in cells if cell.program != "tracer"
        ),
        "different subpaths, by the exclusive or of their blocks, of the paper's, the kernel farthest off": farthest("randomxor.classes"),
        "different subpaths, of the paper's, the kernel farthest off": farthest("distinct"),
    },
    "osp-tab2": {
        f"average overhead of {what}": costs(f"--tier o2 --profile osp:skip={skip}")
        for what, skip in (
            ("bursts at ticks", "burst"),
            ("two versions of code", "versions"),
            ("a counter", "decrement"),
            ("a call for each block", "call"),
        )
    }
    | {
        f"overhead of {what}, the dearest program": dearest(f"--tier o2 --profile osp:skip={skip}")
        for what, skip in (("bursts at ticks", "burst"), ("two versions of code", "versions"))
    }
    | {
        "what sampling alone takes beside a counter, on average": lambda cells: mean(alone(cells, "decrement")),
        "the same of the dearest program": lambda cells: max(alone(cells, "decrement")),
        "what sampling alone takes beside a call for each block, on average": lambda cells: mean(alone(cells, "call")),
    }
    | {
        f"what samples know of branches, relative overlap, {what}": average(
            "edges.subpath.exact_edges.relative", f"--profile osp:skip={skip} --profile-out"
        )
        for what, skip in (("a counter", "decrement"), ("two versions of code", "versions"), ("bursts at ticks", "burst"))
    },
    "osp-sec3.1-jgf-section1": {
        "additions with a counter in compiled code": as_ratio(
            lambda cells: above_one(
                [cell for cell in flagged(cells, "--tier o2 --profile osp:skip=decrement") if cell.program == "addition"]
            )
        )
    },
    "osp-tab3": {
        "blocks for each sample beside the rate, in standard deviations, the worst program": off_the_rate(as_often),
        "the same where the list is thinned": off_the_rate(thinned_often),
        "samples beside the paper's, in standard deviations, the program farthest off": off_the_paper,
    },
    "osp-sec3.1-f40": {
        "what a rate of 40 costs, sampling and counting": costs("--tier o2 --profile osp:rate=40"),
        "what sampling costs at 40": lambda cells: sampling(cells, 40),
        "what a rate of 40 costs, of what one of 1000 does": lambda cells: total(cells, 40) / total(cells, 1000),
    },
    "osp-tab4": {"bytes of the profiler, the program with most": extreme(max, lambda cell: cell.number("sample.bytes"))},
    "osp-tab5": {
        "mean error of the first ten": lambda cells: mean(errors(hottest(cells))),
        "of the five hottest, found": lambda cells: 100 * hottest(cells).number("subpaths.top5.recall"),
        "the largest error, of what it may be: the paper's largest, or three standard deviations": over_allowed,
        "counts of samples beside what is expected, in standard deviations, the worst of ten": worst_z("fft"),
        "the same of the lexer generator": worst_z("lexgen"),
        "the paper's way: mean error by rate, with the exclusive or": lambda cells: mean(errors(hottest(cells, encoding="xor"), "by_rate")),
    },
    "osp-tab6": {
        "of the five hottest, or as hot but for a hundredth, found at the worst of the first three stops, beside the paper's": stops(
            lambda all: min(ours - paper for ours, paper in zip(all, (100, 80, 60))), "as_good"
        ),
        "of the five hottest, or as hot but for a hundredth, found at the worst stop from 24 % on": stops(
            lambda all: min(all[3:]), "as_good"
        ),
        "of the five hottest alone, found at the worst of all stops": stops(min),
        "with as many samples as the paper's, found or as hot at the worst stop from 24 % on": stops(
            lambda all: min(all[3:]), "as_good", 603
        ),
    },
    "osp-sec3.1-arbitrary-length": {
        "how many times as many samples are needed for the same error of the hottest": samples_needed
    },
    "osp-fig1": {
        "ratios of samples in a run that are within two standard deviations of those of executions": within_two
    },
}


def too_low(cells):
    """Samples of the most sampled, over any length and over powers of two."""
    most = [max(cell.number("sample.most") for cell in cells if f"lengths={of}" in cell.commands) for of in ("arbitrary", "powers")]
    return 5 * most[0] <= most[1], most


def steps(path):
    """From the line of each block to that of the next."""
    return set(zip(path, path[1:]))


def ranked(cell, most):
    """The hottest of a sample by the lines of their blocks, as far as there are so many."""
    found = cell.outcome.get("samples", {})
    return [found[f"hottest.{rank}"] for rank in range(1, most + 1) if f"hottest.{rank}" in found]


def same_steps(cells):
    """Of the ten hottest of any length, those that have only steps of the twenty hottest with powers of two."""
    first = lambda lengths, most: ranked([cell for cell in cells if f"lengths={lengths}," in cell.commands][0], most)
    known = set().union(*map(steps, first("powers", 20)))
    same = sum(bool(path) and steps(path) <= known for path in first("arbitrary", 10))
    return same >= 8, [same, 10]


def through_both(*comments):
    """The rank of the first of the twenty hottest that goes through both lines; nothing if none does."""

    def of(cells):
        both = {sources.line("probes/oddeven.hol", comment) for comment in comments}
        return next((rank for rank, path in enumerate(ranked(cells[0], 20), 1) if both <= set(path)), None)

    return of


def alternating(cells):
    """An odd turn and an even one, among the five hottest."""
    rank = through_both("alternating: even", "alternating: odd")(cells)
    return rank is not None and rank <= 5, [rank or 20]


def phased(cells):
    """Both ways where one comes first: not among the twenty hottest."""
    rank = through_both("phased: first", "phased: second")(cells)
    return rank is None, [rank or 20]


def together(cells):
    """Ratios of samples of all runs."""
    counts = figure1(cells, "samples")
    whole = [sum(of) for of in zip(*counts)]
    most = max(deviations(whole))
    return most <= 2, [most]


def visited(cells):
    """Executions of the subpaths, exactly; of the first, one for each visit."""
    whole = [sum(of) for of in zip(*figure1(cells, "run"))]
    right = sum(count * one_in == whole[0] for count, one_in in zip(whole, (1, *SUBPATHS.values())))
    rounds = int(re.search(r"--size (\d+)", cells[0].commands).group(1))
    visits = 576 * rounds * len(figure1(cells, "run"))
    return right == 5 and whole[0] == visits, [right, 5]


def hundred_and_fifty(cells):
    """Samples of the hot subpath in a run."""
    own = [of[0] for of in figure1(cells, "samples")]
    return abs(mean(own) - 150) <= 2 * (150 / len(own)) ** 0.5, [mean(own)]


def cold_paths(cells):
    """Whole paths with more than two hundredths of the flow."""
    hot = having(cells, "--hot 2")[0].number("paths.count.hot")
    return hot <= 1, [hot]


def formula(cells):
    """As many subpaths as the formula says, of programs on one thread."""
    own = [cell for cell in cells if cell.program != "tracer"]
    right = sum(cell.number("exact.subpaths") == cell.number("exact.formula") for cell in own)
    return right == len(own), [right, len(own)]


def by_rates(cells):
    """What sampling costs, by rate, of those with samples worth the name."""
    rates = {int(of) for cell in cells if cell.kind == "overhead" for of in re.findall(r"osp:rate=(\d+)", cell.flags)}
    return {rate: sampling(cells, rate) for rate in sorted(rates) if rate <= 1000}


def in_proportion(cells):
    """Less at each longer rate, and at 40 as many times as much as at 1000 as samples are, but for what the paper is off."""
    costs_of = by_rates(cells)
    length = 5 / (1 - 1 / 32)
    many, paper = (1000 + length) / (40 + length), 102 / 10
    every, ratio = list(costs_of.values()), costs_of[40] / costs_of[1000]
    return paper <= ratio <= many * many / paper and falls(every), [*every, ratio]


def by_block(cells):
    """Less the more seldom samples are, and at 1000 less than a quarter of what it is at 40."""
    costs_of = by_rates(cells)
    shown = [of for rate, cost in costs_of.items() for of in (cost, rate)]
    return falls(costs_of.values()) and 4 * costs_of[1000] < costs_of[40], shown


def falls(values):
    """Is each less than the one before."""
    values = list(values)
    return all(one > other for one, other in zip(values, values[1:]))


def down_to_the_knee(cells):
    """Of the five hottest those found, by rate."""
    found = {}
    for cell in (cell for cell in cells if "subpaths.top5.recall" in cell.outcome["numbers"]):
        found[int(re.search(r"osp:\S*rate=(\d+)", cell.commands).group(1))] = 100 * cell.number("subpaths.top5.recall")
    kept = all(recall >= 80 for rate, recall in found.items() if rate <= 1000)
    return kept and found[1000] >= found[40], [of for pair in sorted(found.items()) for of in pair]


def kept(cells):
    """Bytes, at most those asked for, and less by an entry."""
    every = [cell.number("sample.bytes") for cell in cells]
    return all(32768 - 64 <= of <= 32768 for of in every), [max(every)]


def described(cells):
    """Subpaths that are not described."""
    lost = sum(cell.number("sample.distinct") - cell.number("sample.described") for cell in cells)
    return lost == 0, [lost]


def skipping(cells):
    """A call for each block, a counter, two versions, and bursts."""
    call, counter, versions, bursts = (value(f"--tier o2 --profile osp:skip={of}")(cells) for of in ("call", "decrement", "versions", "burst"))
    return call > 3 * counter and counter > max(versions, bursts), [call, counter, versions, bursts]


def of_threads(cells):
    """As many as of each thread by itself, and less than of one thread with all blocks."""
    cell = having(cells, "bench tracer")[0]
    threads, subpaths, apart, together = (cell.number(f"exact.{of}") for of in ("threads", "subpaths", "formula", "formula.together"))
    return threads > 1 and subpaths == apart < together, [threads, subpaths, apart, together - subpaths]


def short_blocks(cells):
    """Loops of additions, of divisions and of new arrays, with a call for each block: times of those without."""
    own = {cell.program: above_one([cell]) for cell in flagged(cells, "--tier o2 --profile osp:skip=call")}
    (add, _), (divide, divisions), (create, arrays) = (own[name] for name in ("addition", "division", "creation"))
    high, low = divisions[1] if divisions else divide, arrays[0] if arrays else create
    if divisions and arrays and abs(high - low) <= NEAR * (high - divisions[0] + arrays[1] - low) / 2:
        raise Unknown("both intervals end so near to each other that other random numbers decide")
    return 1 + add / 100 >= 3 and high >= low and max(divide, create) < 100, [1 + of / 100 for of in (add, divide, create)]


def all_in_the_list(cells):
    """Samples that were taken and are not there at the end."""
    lost = sum(cell.number("sample.taken") - cell.number("sample.left") for cell in as_often(cells))
    return lost == 0, [lost]


def order_of_gains(cells):
    """What programs gain, in the paper's order, and the first by far."""
    gain = {cell.program: cell.number("sample.left") / max(cell.number("sample.distinct"), 1) for cell in as_often(cells)}
    gains = [gain[name] for name in GAINED]
    return falls(gains) and gains[0] > 3 * gains[1], gains


def in_order(cells):
    """How many of the first have their right rank, before one has not."""
    ranks = hottest(cells).sample("hottest_subpaths.rank")
    right = next((at for at, rank in enumerate(ranks) if rank != at + 1), len(ranks))
    return right >= 4, [right]


def missing(program):
    """Of those that chance cannot take for the eleventh, those that are not among the first ten."""

    def of(cells):
        lost, apart = (hottest(cells, program).number(f"hottest_subpaths.{of}") for of in ("lost", "apart"))
        return lost == 0, [lost, apart]

    return of


def nothing_lost(cells):
    """Runs with few samples of which nothing is missing: nine of ten."""
    nothing = sum(cell.number("hottest_subpaths.lost") == 0 for cell in as_few(cells))
    return 10 * nothing >= 9 * len(as_few(cells)), [nothing, len(as_few(cells))]


def near(cells):
    """Of the five hottest, found at each stop, those found or as hot but for a hundredth, and those found or not to be told from one of them."""
    recalls, goods, nears = (stops(list, score)(cells) for score in ("recall", "as_good", "near"))
    return all(100 in of for of in zip(goods, nears)), [*recalls, *goods, *nears]


def collisions(cells):
    """Executions merged falsely: less with random numbers on average, none as they are; the worst program of each."""
    share = lambda encoding: [100 * cell.number(f"exact.{encoding}.falsely") for cell in cells]
    xor, random, rolling = map(share, ("xor", "randomxor", "rolling"))
    return mean(xor) >= mean(random) > 0 and max(rolling) == 0, [max(xor), max(random), max(rolling)]


# Whether each shape holds, and the numbers of its text.
SHAPES = {
    "osp-jlex-top5": {"with as many samples as the paper's, nothing is missing that is surely hot": nothing_lost},
    "osp-tab3": {"each sample that is taken is in the list at the end": all_in_the_list, "which programs gain": order_of_gains},
    "osp-tab5": {
        "the first four have their right ranks": in_order,
        "of the ten hottest, missing": missing("fft"),
        "of its ten hottest, missing": missing("lexgen"),
    },
    "osp-tab6": {"the sample has the five hottest, or what it cannot tell from them": near},
    "osp-sec3-encoding": {"numbers of blocks are what collides": collisions},
    "osp-fig1": {
        "how often the subpaths are run": visited,
        "the same of all ten runs together": together,
        "samples of 3 4 5 6 in a run": hundred_and_fifty,
        "whole paths are cold": cold_paths,
    },
    "osp-sec2.2-complexity": {"time for a block without its skip": by_block},
    "osp-sec3.1-f40": {
        "what sampling costs is in proportion to 1/f": in_proportion,
        "as many of the hottest are found down to the knee": down_to_the_knee,
    },
    "osp-tab2": {"skipping is what costs": skipping},
    "osp-tab4": {"what was asked for is kept": kept, "descriptions are in these bytes": described},
    "osp-sec3.1-jgf-section1": {"a call for each block is dear where blocks are short": short_blocks},
    "osp-sec3.1-arbitrary-length": {"counts are too low to be accurate": too_low, "the hottest are made of the same": same_steps},
    "osp-sec5-odd-even": {
        "an odd and an even turn, one after the other": alternating,
        "both ways where one comes first and then the other": phased,
    },
    "osp-tab1": {"as many subpaths as the formula says": formula, "of each of several threads as many": of_threads},
}
