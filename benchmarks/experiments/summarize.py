#!/usr/bin/env python3
"""The tables of EXPERIMENTS.md, from the JSON form of reports, and of another one beside them.

    python3 benchmarks/experiments/summarize.py [--beside OTHER.json] REPORT.json...

First how many experiments of each paper have which verdict, and with what they were measured; then the headline targets; then for each paper a
table in Markdown: an experiment, its verdict, the check that decides it with what the paper says and what was measured, and the verdict in the
other report. What decides is the first check with the experiment's verdict; a number comes before a shape. Of an experiment that several reports
have, the last counts.
"""

import argparse
import json

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


def row(*cells):
    print("| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |")


def head(*names):
    row(*names)
    print("|---" * len(names) + "|")


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def experiments(reports):
    """Of each paper its experiments, by name."""
    found = {}
    for report in reports:
        for paper in report["papers"]:
            found.setdefault(paper["id"], {}).update({own["id"]: own for own in paper["experiments"]})
    return found


def count(papers):
    """How many have which verdict."""
    head("paper", *SHOWN, "of")
    counts = {name: [own["verdict"] for own in paper.values()] for name, paper in papers.items()}
    for name, verdicts in [*counts.items(), ("all", sum(counts.values(), []))]:
        row(name, *(verdicts.count(verdict) for verdict in SHOWN), len(verdicts))


def targets(reports):
    """The headline targets of which all parts were measured."""
    print()
    head("target", "paper", "asked for", "measured", "met", "stretch", "met")
    answer = {True: "yes", False: "**no**", None: ""}
    for target in (target for report in reports for target in report["targets"]):
        if all(part["shown"] != "not in this report" for part in target["parts"]):
            parts = "; ".join(f"{part['what']}: {part['shown']}" for part in target["parts"])
            row(target["id"], target["paper"], target["target"], parts, answer[target["met"]], target["stretch"], answer[target["stretch_met"]])


def main(paths, beside):
    reports = [read(path) for path in paths]
    for report in reports:
        of = report["provenance"]
        print(f"{of['command']}: {of['build']}, {of['began']}, {of['seconds'] / 60:.0f} minutes; {'; '.join(' '.join(fact) for fact in of['machine'])}\n")
    papers = experiments(reports)
    others = {name: own for paper in experiments([read(beside)]).values() for name, own in paper.items()} if beside else {}
    count(papers)
    targets(reports)
    for paper, own_experiments in papers.items():
        print(f"\n### {paper}\n")
        head("experiment", "verdict", "what decides", "paper", "measured", *(["other"] if beside else []))
        for name, own in own_experiments.items():
            check = decides(own)
            cells = [check["what"], check["paper"], check["shown"] + interval(check)] if check else ["", "", ""]
            other = [shown(others[name]["verdict"]) if name in others else ""] if beside else []
            row(f"`{name}`", shown(own["verdict"]), *cells, *other)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--beside", metavar="OTHER.json")
    arguments.add_argument("report", nargs="+", metavar="REPORT.json")
    given = arguments.parse_args()
    main(given.report, given.beside)
