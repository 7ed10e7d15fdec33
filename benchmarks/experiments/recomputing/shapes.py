"""What shapes have in common: whether they hold, and the numbers that the report says of them, in its order.

A report has no value of a shape, so a recipe gives what its target asks for, and what is to stand in its text.
"""

import math

from .basics import Unknown, costs, flagged

# Noise comes from ends of intervals, which other random numbers move by so much of it.
NEAR = 0.15


def within(value, noise):
    """Is it no more than noise; nobody knows if it is too near to it."""
    if abs(value - noise) <= NEAR * noise:
        raise Unknown("it is so near to noise that other random numbers decide")
    return value <= noise


def is_above_nothing(low, high):
    """Is an interval above 0; nobody knows if it begins too near to that."""
    if abs(low) <= NEAR * (high - low) / 2:
        raise Unknown("the interval begins so near to 0 that other random numbers decide")
    return low > 0


def value(flags):
    """The mean overhead by these flags."""
    return lambda cells: costs(flags)(cells)[0]


def half(flags):
    """Half the interval of the same machine measured twice; nothing if a program was measured in one round, as the report has it."""

    def of(cells):
        ends = costs(flags, "again")(cells)[1]
        return (ends[1] - ends[0]) / 2 if ends else 0.0

    return of


def apart(*intervals):
    """What of a difference between means is noise: the root of the sum of the squares of half their intervals; what has none adds nothing."""
    return math.hypot(*((high - low) / 2 for low, high in filter(None, intervals)))


def shared(cells, *flags):
    """The cells of those programs that were measured with each of these flags."""
    programs = set.intersection(*({cell.program for cell in flagged(cells, of)} for of in flags))
    return [cell for cell in cells if cell.program in programs]


def ordered(*recipes, shown=None):
    """Each is larger than the next. The text has them in the order of `shown`."""

    def of(cells):
        values = [recipe(cells) for recipe in recipes]
        return all(one > other for one, other in zip(values, values[1:])), [values[at] for at in shown or range(len(values))]

    return of
