#!/usr/bin/env python3
"""Computes the numbers of a report again, from what its store has.

    python3 benchmarks/experiments/recompute.py STORE [REPORT.json]

It shares nothing with what made the report but the two files, the sources of the benchmark programs, what the papers print (data/papers.json) and
docs/experiments.md, "How numbers come from cells", which says how each number comes about. It prints a table of all checks, numbers and shapes,
what of them differs, and what is not recomputed and why; of checks that were not measured, those that could not be recomputed either.
It ends with 1 if one differs, with 2 if it cannot read what it is given.
"""

import json
import math
import os
import re
import sys

# Nothing is left beside the sources.
sys.dont_write_bytecode = True

from recomputing import cbs, kblpp, osp, pep, pmu
from recomputing.basics import Cell, Unknown

PAPERS = (pep, cbs, osp, pmu, kblpp)
RECIPES = {name: own for paper in PAPERS for name, own in paper.RECIPES.items()}
SHAPES = {name: own for paper in PAPERS for name, own in paper.SHAPES.items()}

# Ends of intervals come from other random numbers than the report's: so far apart may they be, in parts of half the interval.
LOOSE = 0.3


class Bad(Exception):
    """What is wrong with the input."""


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
            try:
                cells[record["cell"]] = Cell(record["cell"], record)
            except (ValueError, AttributeError, TypeError) as error:
                raise Bad(f"{path}, line {number}: no cell has such a name") from error
    if not cells:
        raise Bad(f"{path} has no results")
    return cells


def report_of(path):
    """The report's value."""
    try:
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        experiments = [of for paper in report["papers"] for of in paper["experiments"]]
        for check in (check for of in experiments for check in of["checks"]):
            if check["measured"] and not isinstance(check["measured"]["value"], (int, float)):
                raise ValueError(f"'{check['what']}' has no value")
        return experiments
    except (OSError, ValueError, KeyError, TypeError) as error:
        hint = "; `holloway experiment report STORE` writes it" if isinstance(error, OSError) else ""
        raise Bad(f"cannot read the report {path}: {error!r}{hint}") from error


# Comparing.


def printed(text):
    """The number that a text begins with, and half of what its last digit is worth."""
    found = re.match(r"-?\d+(?:\.(\d+))?", text)
    return (float(found.group()), 0.5 * 10 ** -len(found.group(1) or "")) if found else None


def difference(check, value, interval, variant=None):
    """What is not as the report says: its value, that as it is printed, its interval, or the verdict; nothing if all agrees.
    A variant, a value with its interval, stands in brackets behind the value, and may make it better."""
    measured = check["measured"]
    if not math.isclose(measured["value"], value, rel_tol=1e-6, abs_tol=1e-9):
        return "value"
    shown = check.get("shown", "")
    # What is less than the same machine measured twice differs by is printed as no more than that.
    if shown.startswith("≤ "):
        band = printed(shown[2:])
        if not band or abs(value) > band[0] + band[1]:
            return "text"
        shown = ""
    text = printed(shown)
    if text and abs(text[0] - value) > text[1] * 1.001 + 1e-9 * abs(value):
        return "text"
    if variant:
        behind = re.search(r" \(.*: ([^:()]+)\)$", shown)
        text = behind and printed(behind.group(1))
        if not text or abs(text[0] - variant[0]) > text[1] * 1.001 + 1e-9 * abs(variant[0]):
            return "text"
    said = measured["interval"]
    # What must be known to a distance, and has none, is not known.
    exact = (-math.inf, math.inf) if "known to" in check.get("target", "") else (value, value)
    # Of some numbers only the value is computed again; but what has an interval must have one in the report.
    if interval is not None:
        half = (interval[1] - interval[0]) / 2
        if said is None or any(abs(one - other) > LOOSE * half + 1e-9 for one, other in zip(said, interval)):
            return "interval"
    variants = (variant[1] or (variant[0], variant[0])) if variant else None
    return None if follows(check, said or exact, value, variants) else "verdict"


def follows(check, interval, value, variant=None):
    """Does the verdict follow from value, interval and target, as far as the rounded target says it."""
    target, verdict = check.get("target", ""), check.get("verdict", "")
    passed = verdict in ("better", "reproduced")
    if target == "only told":
        return verdict == "not-comparable"
    bound = re.match(r"(at most|at least) (-?[\d.]+)[^,]*(?:, known to ±([\d.]+))?", target)
    if not bound:
        return False
    sign = 1 if bound.group(1) == "at most" else -1
    limit, half_digit = printed(bound.group(2))
    keeps = lambda of, slack: sign * of <= sign * limit + slack
    uncertain = "too uncertain" in check.get("shown", "")
    if uncertain and passed:
        return False
    wide = bool(bound.group(3)) and (interval[1] - interval[0]) / 2 > float(bound.group(3))
    # The target is rounded: where an end is next to it, both are right.
    over = [wide and keeps(interval[0], slack) != keeps(interval[1], slack) for slack in (half_digit, -half_digit)]
    if uncertain and not any(over) or all(over) and not uncertain:
        return False
    if verdict == "better":
        beyond = [ends for ends in (interval, variant) if ends and all(keeps(end, half_digit) for end in ends)]
        return keeps(value, half_digit) and bool(beyond)
    if passed:
        return keeps(value, half_digit)
    return verdict in ("shape-only", "not-reproduced") and (uncertain or not keeps(value, -half_digit))


def fits(check, holds, numbers):
    """What of a shape is not as the report says: whether it holds, or a number of its text, in which they stand in this order."""
    if check["verdict"] != ("reproduced" if holds else "not-reproduced"):
        return "verdict"
    said = [printed(of) for of in re.findall(r"-?\d+(?:\.\d+)?", check["shown"])]
    for number in numbers:
        while said and abs(said[0][0] - number) > said[0][1] * 1.001 + 1e-9 * abs(number):
            said.pop(0)
        if not said:
            return "text"
        said.pop(0)
    return None


def recipe_of(experiment, check):
    """How a check is computed, if it is known. What was not measured may be a number or a shape."""
    kinds = [RECIPES] if check["measured"] else [RECIPES, SHAPES] if check["verdict"] == "missing" else [SHAPES]
    found = (kind.get(experiment["id"], {}).get(check["what"]) for kind in kinds)
    return next((recipe for recipe in found if recipe), None)


def judged(experiment, check, cells):
    """The value that was recomputed, and what to say of it: a word, and why."""
    recipe = recipe_of(experiment, check)
    if recipe is None:
        return None, "not recomputed", "no recipe for it"
    names = dict.fromkeys(experiment.get("cells", []))
    own = [cells[name] for name in names if name in cells and cells[name].outcome]
    if len(own) < len(names) or not own:
        return None, "not recomputed", f"{len(names) - len(own)} of its {len(names)} cells are not in the store"
    try:
        found = recipe(own)
    except (Unknown, KeyError, IndexError, ValueError, ZeroDivisionError, StopIteration, TypeError, AttributeError) as error:
        return None, "not recomputed", str(error) if isinstance(error, Unknown) else repr(error)
    if not check["measured"]:
        what = fits(check, *found)
        return ("holds" if found[0] else "does not"), "differs" if what else "agrees", what or ""
    value, interval, *variant = found if isinstance(found, tuple) else (found, None)
    what = difference(check, value, interval, *variant)
    return f"{value:.6g}", "differs" if what else "agrees", what or ""


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
    counts = {kind: {"agrees": 0, "differs": 0, "not recomputed": 0} for kind in ("numbers", "shapes")}
    missing, told = 0, {}
    print(f"{'experiment':<32} {'reported':>16} {'recomputed':>16}  {'':<14} check")
    for experiment in experiments:
        for check in experiment["checks"]:
            if check["verdict"] == "missing":
                missing += 1
                if recipe_of(experiment, check) is None:
                    told.setdefault("not measured, and no recipe for it", []).append(f"{experiment['id']}: {check['what']}")
                continue
            value, word, why = judged(experiment, check, cells)
            counts["numbers" if check["measured"] else "shapes"][word] += 1
            said = f"{check['measured']['value']:.6g}" if check["measured"] else "holds" if check["verdict"] == "reproduced" else "does not"
            print(f"{experiment['id']:<32} {said:>16} {value or '-':>16}  {word:<14} {check['what']}")
            if word != "agrees":
                told.setdefault(f"{word}: {why}", []).append(f"{experiment['id']}: {check['what']}")
    for why, checks in told.items():
        print(f"\n{why}")
        print("\n".join(f"  {check}" for check in checks))
    print()
    for kind, of in counts.items():
        print(f"{sum(of.values())} {kind}: {of['agrees']} agree, {of['differs']} differ, {of['not recomputed']} are not recomputed")
    print(f"{missing} checks were not measured")
    total = sum(counts["numbers"].values())
    if total == 0:
        print("error: the report has no numbers", file=sys.stderr)
        return 2
    return 1 if any(of["differs"] for of in counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
