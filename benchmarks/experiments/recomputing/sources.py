"""Lines of the benchmark programs, which lie beside this script: results name places by file and line."""

import os

from .basics import Unknown

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "programs")


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
