# SPDX-License-Identifier: MIT
"""Rounds of measurements: order of turns, quartiles, ratios of pairs, and whether a target is
met.

Other load of the machine affects all measurements of a round alike, so values are compared
within a round. A round is {what: value}; failed measurements are missing.
"""
import collections
import math
import statistics

median = statistics.median
Quartiles = collections.namedtuple("Quartiles", "low median high")

MET, MISSED, UNDECIDED = "met", "not met", "undecided"
FEWEST = 5  # the fewest values for quartiles
ONE_IN_TWENTY = 0.05


def turns(groups, number):
    """The contenders of a round. The next round begins with the next group, and in each group
    with its next member. Contenders that are compared closely, such as two builds, form a group,
    so that each runs before and after the other equally often."""
    def rotated(items):
        first = number % len(items) if items else 0
        return [*items[first:], *items[:first]]
    return [contender for group in rotated(groups) for contender in rotated(group)]


def take_turns(groups, count):
    """The results of the contenders, which are functions to {what: value}, in each round."""
    rounds = []
    for number in range(count):
        found = {}
        for contender in turns(groups, number):
            found.update(contender())
        rounds.append(found)
    return rounds


def names(rounds):
    """The names of all measurements, in the order of the first round."""
    return list(dict.fromkeys(what for found in rounds for what in found))


def series(rounds, what):
    return [found[what] for found in rounds if what in found]


def ratios(rounds, above, below):
    """The ratio of each round that has both values."""
    return [found[above] / found[below] for found in rounds if above in found and below in found]


def quartiles(values):
    if len(values) < 2:
        return Quartiles(*3 * values)
    return Quartiles(*statistics.quantiles(values, method="inclusive"))


def judge(values, bound, threshold, is_exact=False):
    """Met, missed, or undecided: the quartiles lie on both sides of the threshold, or there are
    too few values. An exact value, such as a count, needs only one. The bound is "≥" or "≤"."""
    found = quartiles(values)
    sides = {value >= threshold if bound == "≥" else value <= threshold for value in (found.low, found.high)}
    if len(sides) == 2 or not is_exact and len(values) < FEWEST:
        return UNDECIDED
    return MET if True in sides else MISSED


def are_decided(found):
    """Do the ratios show that two things differ? If they were equal, so few ratios on one side
    of 1 would occur in less than one case of twenty. That takes at least six rounds. Quartiles
    would report a difference for a third of equal things."""
    above, below = sum(value > 1 for value in found), sum(value < 1 for value in found)
    as_one_sided = 2 * sum(math.comb(above + below, count) for count in range(min(above, below) + 1))
    return as_one_sided < ONE_IN_TWENTY * 2 ** (above + below)
