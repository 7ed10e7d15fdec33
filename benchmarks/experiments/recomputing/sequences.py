"""Sequences of path numbers that forests counted, with where in the source their paths are."""

from . import sources
from .basics import Unknown

FILTER, ODDEVEN, TAGS = "apps/masks/filter.hol", "probes/oddeven.hol", "apps/tags.hol"
# Paths of a cycle have at least this part of all turns.
FREQUENT = 0.05
RUN = 10


def counts(cell, prefix):
    """How often each sequence was executed: from numbers called like `trees.3.2-0-0`."""
    names = [name for name in cell.outcome["numbers"] if name.startswith(f"{prefix}.")]
    if not names:
        raise Unknown(f"a cell has no numbers '{prefix}'")
    return {tuple(map(int, name[len(prefix) + 1 :].split("-"))): cell.number(name) for name in names}


class Version:
    """A version of the code of a method: its sequences, and the places of its paths."""

    def __init__(self, cell, number):
        self.cell = cell
        self.number = number
        self.counts = counts(cell, f"trees.{number}")
        self.paths = sorted((key[0] for key in self.counts if len(key) == 1), key=lambda path: -self.counts[(path,)])

    def places(self, path):
        """Where a path begins, branches and ends: file and line."""
        flat = self.cell.outcome["samples"].get(f"paths.{self.number}.{path}", [])
        return list(zip(flat[::2], flat[1::2]))

    def ends(self, path):
        """Where it begins and where it ends."""
        places = self.places(path)
        return (places[0], places[-1]) if places else (None, None)

    def count(self, *path):
        """How often a sequence was executed."""
        return self.counts.get(path, 0.0)

    def share(self, path):
        """Of what begins as it does, in percent."""
        whole = self.count(path[0])
        return 100 * self.count(*path) / whole if whole else 0.0


def versions(cell):
    """All versions of a cell."""
    numbers = {int(name.split(".")[1]) for name in cell.outcome["numbers"] if name.startswith("trees.")}
    return [Version(cell, number) for number in sorted(numbers)]


def place(cell, file, comment):
    """A line with a comment, as results name it."""
    return cell.number(f"files.{file}"), float(sources.line(file, comment))


def masked(cell):
    """The filter's percentages, as `masks.percentages` has them, of its version that ran most."""
    head, branch = place(cell, FILTER, "filter: each pixel"), place(cell, FILTER, "blurred: kept in a byte")
    found = []
    for version in versions(cell):
        turns = [path for path in version.paths if version.ends(path) == (head, head)]
        kinds = [[path for path in turns if (branch in version.places(path)[1:-1]) == convolves] for convolves in (False, True)]
        if all(kinds):
            found.append((version, kinds[0][0], kinds[1][0]))
    if not found:
        raise Unknown("no version ran the filter's loop")
    version, copy, convolve = max(found, key=lambda of: of[0].count(of[1]))
    copied, convolved = version.count(copy), version.count(convolve)
    shares = [version.share(path) for path in ((copy,) * RUN, (copy, convolve), (convolve,) * RUN, (convolve, copy))]
    return (100 * copied / (copied + convolved), *shares)


def loops(cells):
    """Of the loop that alternates and the one with phases: the version that ran most, and both ways of a turn."""
    cell = next(cell for cell in cells if cell.program == "oddeven")

    def of(comment):
        head = place(cell, ODDEVEN, comment)
        found = []
        for version in versions(cell):
            ends = {path: version.ends(path) for path in version.paths}
            closed = [path for path in version.paths if ends[path][0] is not None and ends[path][0] == ends[path][1]]
            turns = [path for path in closed if head in version.places(path)[1:-1]][:2]
            if len(turns) == 2:
                found.append((version, turns))
        return max(found, key=lambda of: sum(map(of[0].count, of[1])))

    return [of(f"{name}: each turn") for name in ("alternating", "phased")]


def apart(cells):
    """How far the shares of both ways of a turn are apart in both loops."""
    shares = [[100 * version.count(way) / sum(map(version.count, ways)) for way in ways] for version, ways in loops(cells)]
    return max(abs(one - other) for one, other in zip(*shares))


def pairs(ways):
    """How often two turns came one after the other: of a way with itself, and of one with the other."""
    return [(way, way) for way in ways], [tuple(ways), tuple(ways[::-1])]


def next_turns(cells):
    """Of all pairs of turns, those of different ways in the loop that alternates, and of the same in that with phases."""
    shares = []
    for (version, ways), which in zip(loops(cells), (1, 0)):
        kinds = [sum(version.count(*pair) for pair in kind) for kind in pairs(ways)]
        shares.append(100 * kinds[which] / sum(kinds))
    return all(share >= 99.8 for share in shares), shares


def unrolled(cells):
    """The most frequent pair of turns: different in the loop that alternates, the same in that with phases; of what begins as it does."""
    most = []
    for version, ways in loops(cells):
        same, different = pairs(ways)
        most.append((version, max(same + different, key=lambda pair: version.count(*pair))))
    mixed = [first != second for _, (first, second) in most]
    return mixed == [True, False], [version.share(pair) for version, pair in most]


def is_cycle(path):
    """Is this a cycle of two or more that is run twice and begun a third time, and no shorter one."""
    period = next((of for of in range(1, len(path)) if path[of:] == path[:-of]), 0)
    return period >= 2 and len(path) == 2 * period + 1


def cycle(cell):
    """The share of the most frequent cycle of what begins as it does, that of the most frequent path after its first, and its paths."""
    head = place(cell, TAGS, "checkTags: each tag")
    best = (0.0, None, ())
    for version in versions(cell):
        # What begins in the loop or enters it.
        turns = [path for path in version.paths if version.ends(path)[1] == head]
        least = FREQUENT * sum(version.count(path) for path in turns)
        roots = {path for path in turns if version.count(path) >= least}
        for path in version.counts:
            if path[0] in roots and is_cycle(path) and version.share(path) > best[0]:
                after = [key for key in version.counts if len(key) == 2 and key[0] == path[0]]
                best = (version.share(path), max(version.share(key) for key in after), path[: len(path) // 2])
    if best[1] is None:
        raise Unknown("there is no cycle")
    return best


def kinds_of_paths(cells):
    """The paths of that cycle: three or more, and some more than once."""
    paths = cycle(cells[0])[2]
    return len(paths) >= 3 and 1 < len(set(paths)) < len(paths), list(paths)
