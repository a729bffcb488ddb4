# SPDX-License-Identifier: MIT
"""Rounds of measurements: whose turn it is, quartiles, ratios of pairs, and whether a target is met.

What a busy machine does meets all that is measured within a round alike, so values are compared with others of their
round. A round is {what: value}; what failed in it is missing.
"""
import collections
import math
import statistics

median = statistics.median
Quartiles = collections.namedtuple("Quartiles", "low median high")

MET, MISSED, NOT_TOLD_APART = "met", "not met", "not told apart"
FEWEST = 5  # values of which quartiles say something
ONE_IN_TWENTY = 0.05


def turns(groups, number):
    """The contenders of a round. The next group begins in the next round, and in each group its next member: whoever is
    compared closely, as two builds, is in a group, and follows and precedes the other equally often."""
    def rotated(items):
        first = number % len(items) if items else 0
        return [*items[first:], *items[:first]]
    return [contender for group in rotated(groups) for contender in rotated(group)]


def take_turns(groups, count):
    """What the contenders found, functions to {what: value}, in each round."""
    rounds = []
    for number in range(count):
        found = {}
        for contender in turns(groups, number):
            found.update(contender())
        rounds.append(found)
    return rounds


def names(rounds):
    """All that was measured, in the order of the first round."""
    return list(dict.fromkeys(what for found in rounds for what in found))


def series(rounds, what):
    return [found[what] for found in rounds if what in found]


def ratios(rounds, above, below):
    """The ratio of each round that has both."""
    return [found[above] / found[below] for found in rounds if above in found and below in found]


def quartiles(values):
    if len(values) < 2:
        return Quartiles(*3 * values)
    return Quartiles(*statistics.quantiles(values, method="inclusive"))


def judge(values, bound, threshold, is_exact=False):
    """Met, missed, or not told apart where the quartiles lie on both sides of the threshold or the values are too few. An
    exact value, as a count, needs no others. The bound is "≥" or "≤"."""
    found = quartiles(values)
    sides = {value >= threshold if bound == "≥" else value <= threshold for value in (found.low, found.high)}
    if len(sides) == 2 or not is_exact and len(values) < FEWEST:
        return NOT_TOLD_APART
    return MET if True in sides else MISSED


def are_told_apart(found):
    """Whether ratios say that two things differ: were they alike, so few on one side of 1 would come less than one time in
    twenty. Six rounds are the fewest that can say so; quartiles would find a difference in a third of what is alike."""
    above, below = sum(value > 1 for value in found), sum(value < 1 for value in found)
    as_one_sided = 2 * sum(math.comb(above + below, count) for count in range(min(above, below) + 1))
    return as_one_sided < ONE_IN_TWENTY * 2 ** (above + below)
