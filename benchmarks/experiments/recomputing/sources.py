"""What lies beside this script: lines of the benchmark programs, as results name places by file and line, and what the papers print."""

import json
import os

from .basics import Unknown

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS, PAPERS = os.path.join(HERE, "..", "..", "programs"), os.path.join(HERE, "..", "data", "papers.json")


def paper(name, part):
    """What a paper has of a table."""
    try:
        with open(PAPERS, encoding="utf-8") as text:
            return json.load(text)[name][part]
    except (OSError, ValueError, KeyError) as error:
        raise Unknown(f"cannot read the papers' numbers: {error!r}") from error


def line(file, comment):
    """The line of a program that ends with this comment, from 1."""
    try:
        with open(os.path.join(PROGRAMS, file), encoding="utf-8") as text:
            lines = [number for number, line in enumerate(text, 1) if line.rstrip().endswith(f"// {comment}")]
    except OSError as error:
        raise Unknown(f"cannot read the program {file}: {error.strerror}") from error
    if not lines:
        raise Unknown(f"{file} has no line with the comment {comment}")
    return lines[0]
