# SPDX-License-Identifier: MIT
"""Turns, quartiles, ratios of pairs, and verdicts."""
import unittest

from measure.rounds import (MET, MISSED, UNDECIDED, are_decided, judge, names, quartiles, ratios,
                            series, take_turns,
                            turns)


class Turns(unittest.TestCase):
    groups = [["codec A", "codec B"], ["mount A", "mount B"], ["peer"]]

    def test_a_round_has_every_contender_once(self):
        for number in range(7):
            self.assertEqual(sorted(turns(self.groups, number)),
                             ["codec A", "codec B", "mount A", "mount B", "peer"])

    def test_members_of_a_group_follow_each_other(self):
        for number in range(7):
            order = turns(self.groups, number)
            self.assertEqual(abs(order.index("mount A") - order.index("mount B")), 1, order)

    def test_each_member_comes_first_equally_often(self):
        for group in self.groups[:2]:
            orders = [turns(self.groups, number) for number in range(6)]
            self.assertEqual(sum(order.index(group[0]) < order.index(group[1]) for order in orders), 3)

    def test_each_group_begins_in_turn(self):
        self.assertEqual([turns(self.groups, number)[0][:5] for number in range(4)],
                         ["codec", "mount", "peer", "codec"])

    def test_no_contenders_are_no_turns(self):
        self.assertEqual(turns([], 3), [])
        self.assertEqual(turns([[]], 3), [])

    def test_a_round_holds_what_its_contenders_found(self):
        count = iter(range(100))
        rounds = take_turns([[lambda: {"a": next(count)}, lambda: {}], [lambda: {"b": next(count)}]], 2)
        self.assertEqual(rounds, [{"a": 0, "b": 1}, {"b": 2, "a": 3}])


class Values(unittest.TestCase):
    rounds = [{"us": 6.0, "them": 2.0}, {"them": 5.0}, {"us": 8.0}, {"us": 10.0, "them": 4.0, "others": 1.0}]

    def test_quartiles_are_between_the_values_as_their_places_do(self):
        self.assertEqual(quartiles([5, 1, 3, 2, 4]), (2, 3, 4))
        self.assertEqual(quartiles([0, 10]), (2.5, 5, 7.5))
        self.assertEqual(quartiles([7]), (7, 7, 7))

    def test_ratios_are_those_of_rounds_that_have_both(self):
        self.assertEqual(ratios(self.rounds, "us", "them"), [3, 2.5])
        self.assertEqual(ratios(self.rounds, "us", "nobody"), [])

    def test_a_series_leaves_out_rounds_without_it(self):
        self.assertEqual(series(self.rounds, "us"), [6, 8, 10])
        self.assertEqual(names(self.rounds), ["us", "them", "others"])


class Verdicts(unittest.TestCase):
    def test_both_quartiles_on_one_side_are_met_or_missed(self):
        values = [0.1, 1.0, 1.1, 1.2, 9.0]  # quartiles 1.0 and 1.2
        for bound, threshold, expected in (("≥", 0.9, MET), ("≥", 1.0, MET), ("≥", 1.1, UNDECIDED),
                                           ("≥", 1.3, MISSED),
                                           ("≤", 0.9, MISSED), ("≤", 1.1, UNDECIDED), ("≤", 1.2, MET),
                                           ("≤", 1.3, MET)):
            self.assertEqual(judge(values, bound, threshold), expected, (bound, threshold))

    def test_few_values_say_nothing_unless_they_are_exact(self):
        self.assertEqual(judge([2, 2, 2, 2], "≥", 1), UNDECIDED)
        self.assertEqual(judge([2], "≥", 1, is_exact=True), MET)
        self.assertEqual(judge([2], "≤", 1, is_exact=True), MISSED)

    def test_two_things_differ_where_chance_would_not_put_so_many_on_one_side(self):
        for above, below, expected in ((5, 0, False), (6, 0, True), (0, 6, True), (7, 1, False),
                                       (8, 1, True), (1, 8, True),
                                       (11, 4, False), (12, 3, True), (0, 0, False)):
            self.assertEqual(are_decided([1.1] * above + [0.9] * below), expected, (above, below))
        self.assertFalse(are_decided([1.0] * 20))


if __name__ == "__main__":
    unittest.main()
