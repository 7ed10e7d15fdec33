"""Ratios of two profilers with their intervals, as `How numbers come from cells` has them: of overheads (Fieller) and of times (Welch)."""

import math

from .basics import Unknown, mean, student


class Known:
    """A number that was measured in rounds: its value, the variance of that, and the degrees of freedom."""

    def __init__(self, rounds):
        rounds = list(rounds)
        self.value = mean(rounds)
        self.freedom = len(rounds) - 1
        squares = math.fsum((of - self.value) ** 2 for of in rounds)
        self.variance = squares / self.freedom / len(rounds) if self.freedom else math.inf

    def above_one(self):
        """From a logarithm to how much the ratio is above 1."""
        ratio = math.exp(self.value)
        self.value, self.variance = ratio - 1, self.variance * ratio**2
        return self


class Ratio:
    """A ratio, its interval or nothing, and what a mean over programs needs: the variance with its degrees of freedom."""

    def __init__(self, value, interval, variance, freedom):
        self.value, self.interval, self.variance, self.freedom = value, interval, variance, freedom


def freedoms(parts):
    """Welch's and Satterthwaite's degrees of freedom of a sum of variances."""
    known = math.fsum(variance**2 / freedom for variance, freedom in parts)
    return math.fsum(of[0] for of in parts) ** 2 / known if known > 0 else sum(of[1] for of in parts)


def of_overheads(one, other):
    """The overhead of one over that of the other, from the logarithms of their rounds."""
    over, under = Known(one).above_one(), Known(other).above_one()
    if under.value <= 0:
        raise Unknown("there is no overhead to divide by")
    value = over.value / under.value
    parts = [(over.variance, over.freedom), (under.variance * value**2, under.freedom)]
    variance = math.fsum(of[0] for of in parts) / under.value**2
    if math.isinf(variance):
        return Ratio(value, None, variance, 0)
    freedom = freedoms(parts)
    square = student(freedom) ** 2
    a = under.value**2 - square * under.variance
    b = over.value * under.value
    c = over.value**2 - square * over.variance
    if a <= 0:
        return Ratio(value, None, variance, freedom)
    root = math.sqrt(max(b * b - a * c, 0))
    return Ratio(value, ((b - root) / a, (b + root) / a), variance, freedom)


def of_times(one, other):
    """The time with one over the time with the other."""
    over, under = Known(one), Known(other)
    value, variance = math.exp(over.value - under.value), over.variance + under.variance
    if math.isinf(variance):
        return Ratio(value, None, variance, 0)
    freedom = freedoms([(over.variance, over.freedom), (under.variance, under.freedom)])
    half = math.exp(student(freedom) * math.sqrt(variance))
    return Ratio(value, (value / half, value * half), variance * value**2, freedom)


def is_more(one, other):
    """Does one take surely more time; what was measured once is compared as it is."""
    times = of_times(one, other)
    return (times.interval[0] if times.interval else times.value) > 1


def average(ratios):
    """The mean over programs with its interval."""
    value = mean(of.value for of in ratios)
    if any(of.interval is None for of in ratios):
        return value, None
    freedom = freedoms([(of.variance, of.freedom) for of in ratios])
    half = student(freedom) * math.sqrt(math.fsum(of.variance for of in ratios)) / len(ratios)
    return value, (value - half, value + half)
