"""Oren, Matias and Sagiv 2002."""

import math
import re

from . import sources
from .basics import above_one, as_ratio, average, costs, extreme, flagged, having, mean
from .shapes import value

KERNELS = "fft heapsort moldyn raytracer".split()
# Different subpaths of the kernels in the paper's table 1.
DIFFERENT = {"fft": 870, "heapsort": 1095, "moldyn": 6316, "raytracer": 6800}
OSP_OURS = "--profile osp:memory=32k,rate=100"

# The subpaths of figure 1 after the first, and of how many visits one goes through them.
SUBPATHS = {("4", "5", "6", "7b"): 3, ("4", "5", "6", "7a"): 6, ("1", "2b", "3", "4"): 24, ("2b", "3", "4", "5"): 24}


def farthest(name):
    """How many different subpaths a kernel has, of the paper's table 1, where these are farthest apart."""
    times = lambda cell: cell.number(f"exact.{name}") / DIFFERENT[cell.program]
    return lambda cells: max((times(cell) for cell in cells if cell.program in KERNELS), key=lambda times: abs(math.log(times)))


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


def stops(pick, score="recall"):
    """A score of the five hottest at each stop, in its order."""

    def of(cells):
        place = lambda cell: int(re.search(r"subpaths:until=(\d+)", cell.commands).group(1))
        return pick([100 * cell.number(f"subpaths.top5.{score}") for cell in sorted(cells, key=place)])

    return of


def sampling_at_40(cells):
    """What sampling costs beyond counting blocks, which is what so seldom a sample leaves."""
    ratio = lambda rate: above_one(flagged(cells, f"--tier o2 --profile osp:rate={rate}"))[0]
    return ratio(40) - ratio(1000000)


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
        "different subpaths, by the exclusive or of their blocks, of the paper's, the kernel farthest off": farthest("randomxor.classes"),
        "different subpaths, of the paper's, the kernel farthest off": farthest("distinct"),
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
        "of the five hottest, or as hot but for a hundredth, found at the worst stop from 24 % on": stops(
            lambda all: min(all[3:]), "as_good"
        ),
        "the same, of the five hottest alone": stops(lambda all: min(all[3:])),
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
    """As many subpaths as the formula says."""
    own = [cell for cell in cells if "exact.formula" in cell.outcome["numbers"]]
    right = sum(cell.number("exact.subpaths") == cell.number("exact.formula") for cell in own)
    return right == len(own), [right, len(own)]


def sampling(cells, rate):
    """What sampling costs beyond counting blocks."""
    ratio = lambda rate: above_one(flagged(cells, f"--tier o2 --profile osp:rate={rate}"))[0]
    return ratio(rate) - ratio(1000000)


def in_proportion(cells):
    """What sampling costs at 40 and at 160."""
    often, seldom = sampling(cells, 40), sampling(cells, 160)
    return 2.5 <= often / seldom <= 6.5, [often, seldom, often / seldom]


def by_block(cells):
    """Less by more than half."""
    often, seldom = sampling(cells, 40), sampling(cells, 160)
    return seldom < often / 2, [often, seldom]


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


# Whether each shape holds, and the numbers of its text.
SHAPES = {
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
    "osp-sec3.1-arbitrary-length": {"counts are too low to be accurate": too_low},
    "osp-tab1": {"as many subpaths as the formula says": formula},
}
