#!/usr/bin/env python3
"""The tables of EXPERIMENTS.md, from the JSON form of a report, and of a second one beside it.

    python3 benchmarks/experiments/summarize.py REPORT.json [OTHER.json]

For each paper a table in Markdown: an experiment, its verdict, the check that decides it with what the paper says and what was measured, and the
verdict in the other report. What decides is the first check with the experiment's verdict; the number that is compared comes before a shape.
"""

import json
import sys

SHOWN = {"better": "**better**", "reproduced": "reproduced", "shape-only": "shape only", "not-reproduced": "*not reproduced*"}


def shown(verdict):
    return SHOWN.get(verdict, verdict.replace("-", " "))


def decides(experiment):
    """The check that a reader wants to know of."""
    own = [check for check in experiment["checks"] if check["verdict"] == experiment["verdict"]]
    numbers = [check for check in own if check["measured"]]
    return (numbers or own or experiment["checks"] or [None])[0]


def interval(check):
    ends = (check["measured"] or {}).get("interval")
    return f" ({ends[0]:.2g} to {ends[1]:.2g})" if ends else ""


def experiments(path):
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    return {own["id"]: (paper["id"], own) for paper in report["papers"] for own in paper["experiments"]}


def main(paths):
    first, *others = [experiments(path) for path in paths]
    other = others[0] if others else {}
    last = None
    for name, (paper, own) in first.items():
        if paper != last:
            more = " other |" if other else ""
            print(f"\n### {paper}\n\n| experiment | verdict | what decides | paper | measured |{more}")
            print("|---" * (6 if other else 5) + "|")
            last = paper
        check = decides(own)
        cells = [f"`{name}`", shown(own["verdict"])]
        cells += [check["what"], check["paper"], check["shown"] + interval(check)] if check else ["", "", ""]
        if other:
            cells.append(shown(other[name][1]["verdict"]) if name in other else "")
        print("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    main(sys.argv[1:])
