# SPDX-License-Identifier: MIT
"""Comparison of results with the targets, and its display."""
import unittest

from measure.targets import (Target, calls_of, codec_on_used, hundredth, lance_growth, lance_targets,
                             speed_targets, today,
                             ttree_targets, verdict)

FIVE = [1.0, 1.1, 1.2, 1.3, 1.4]  # quartiles 1.1 and 1.3


def results(case, *rounds, used=1.0):
    return {"machine": {"threads": 2}, "speed": {case: list(rounds)},
            "processors": {case: [{"mount, whole": used} for _ in rounds]}}


def values_of(found, name):
    return [target.values for target in speed_targets(found) if target.name == name]


class Verdicts(unittest.TestCase):
    def test_a_verdict_names_the_cases_that_are_not_met(self):
        for values, expected in (({"a": FIVE, "b": FIVE}, "met"),
                                 ({"a": FIVE, "b": [0.1] * 5}, "**not met** with b"),
                                 ({"a": [0.1] * 5, "b": [0.1] * 5}, "**not met**"),
                                 ({"a": [0.9, 0.9, 1, 2, 2], "b": [0.1] * 5, "c": FIVE},
                                  "**not met** with b; undecided with a"),
                                 ({"a": [0.9, 0.9, 1, 2, 2]}, "undecided")):
            self.assertEqual(verdict(Target("t", "≥", 1, values)), expected, values)

    def test_one_case_shows_its_quartiles_and_several_their_medians(self):
        self.assertEqual(today({"a": FIVE}), "1.20 (1.10–1.30)")
        self.assertEqual(today({"a": FIVE, "b": [7.0] * 5}), "1.20–7.00")
        self.assertEqual(today({"a": [0, 0]}), "0.00")
        self.assertEqual(today({}), "")

    def test_what_a_mount_that_does_nothing_misses_is_out_of_reach(self):
        for values, bare, expected in (([0.1] * 5, [0.9] * 5, "out of reach"),
                                       ([0.1] * 5, FIVE, "**not met**"),
                                       ([0.1] * 5, [0.9, 0.9, 1, 2, 2], "**not met**"),
                                       (FIVE, [0.9] * 5, "met"),
                                       ([0.9, 0.9, 1, 2, 2], [0.9] * 5, "undecided")):
            self.assertEqual(verdict(Target("t", "≥", 1, {"a": values}, bare={"a": bare})), expected,
                             (values, bare))
        self.assertEqual(verdict(Target("t", "≥", 1, {"a": [0.1] * 5, "b": [0.1] * 5},
                                        bare={"b": [0.9] * 5})),
                         "**not met** with a; out of reach with b")


class Speeds(unittest.TestCase):
    def test_ratios_are_those_of_each_round(self):
        found = results("hits-zstd px", {"mount, whole": 3.0, "ROOT bulk": 1.0},
                        {"mount, whole": 8.0, "ROOT bulk": 2.0})
        self.assertEqual(values_of(found, "mount, first read of zstd and lz4 / ROOT bulk"),
                         [{"hits-zstd px": [3, 4]}])
        self.assertEqual(values_of(found, "mount, first read of plain / ROOT bulk"), [{}])

    def test_a_bare_mount_is_compared_as_the_mount_is(self):
        found = results("hits-none px", {"mount, whole": 3.0, "bare mount, whole": 5.0,
                                         "mount direct, whole": 4.0,
                                         "bare mount direct, whole": 8.0, "ROOT bulk": 2.0})
        bare = {target.threshold: target.bare for target in speed_targets(found) if target.values
                and target.bare}
        self.assertEqual(bare, {0.8: {"hits-none px": [2.5]}, 1.2: {"hits-none px": [4.0]}})

    def test_the_median_over_files_is_taken_in_each_round(self):
        found = results("hits-zstd px", {"mount, whole again": 1.0, "tmpfs, whole": 2.0})
        for case, speed in (("hits-lz4 px", 3.0), ("hits-zlib px", 4.0)):
            found["speed"][case] = [{"mount, whole again": speed, "tmpfs, whole": 2.0}]
            found["processors"][case] = [{}]
        self.assertEqual(values_of(found, "mount, second read / tmpfs, median over files of 16 MB"),
                         [{"": [1.5]}])

    def test_the_codec_on_the_processors_used_is_between_one_and_all(self):
        speed = {"codec alone, 1 thread": 1.0, "codec alone, 4 threads": 3.0}
        for used, expected in ((0.5, 1), (1, 1), (2.5, 2), (4, 3), (9, 3)):
            self.assertEqual(codec_on_used(speed, used, 4), expected)


class Lance(unittest.TestCase):
    def values(self, found, name):
        return [target.values for target in lance_targets(found) if target.name == f"Lance: {name}"]

    def test_the_median_over_columns_is_taken_in_each_round(self):
        found = {"whole": {name: [{"library": speed, "pylance": 1.0}, {"library": 2 * speed, "pylance": 1.0}]
                           for name, speed in (("int64 2.1", 3.0), ("list 2.1", 5.0), ("fsst 2.1", 1.0))}}
        self.assertEqual(self.values(found, "the same, median over the columns"), [{"": [3, 6]}])
        self.assertEqual(self.values(found, "library / pylance, whole columns")[0]["list 2.1"], [5, 10])

    def test_what_was_not_measured_beside_pylance_has_no_values(self):
        found = {"whole": {"int64 2.1": [{"library": 3.0, "mount, numpy.fromfile": 1.0}]}}
        self.assertEqual(self.values(found, "library / pylance, whole columns"), [{"int64 2.1": []}])
        self.assertEqual(self.values(found, "mount, first numpy.fromfile of int64 and float64 / pylance"),
                         [{"int64 2.1": []}])
        self.assertEqual(self.values({}, "library's open / pylance's"), [{}])

    def test_opening_grows_beside_the_file_before_of_the_same_version(self):
        files = {name: {"count": count, "rounds": [{"library, open": seconds}]}
                 for name, count, seconds in (("10 2.1", 10, 1.0), ("100 2.1", 100, 5.0),
                                              ("10 2.2", 10, 1.0), ("100 2.2", 100, 20.0))}
        self.assertEqual(lance_growth(files), {"100 2.1": [0.5], "100 2.2": [2.0]})


class TTrees(unittest.TestCase):
    def test_the_fastest_way_of_root_is_that_of_each_round(self):
        found = {"whole": {"flat zlib": [{"library": 6.0, "ROOT, GetBulkRead": 2.0, "ROOT, TTreeReader": 1.0},
                                         {"library": 6.0, "ROOT, GetBulkRead": 1.0, "ROOT, GetEntry": 3.0}],
                           "vectors zlib": [{"library": 6.0, "uproot": 1.5}]}}
        [values] = [target.values for target in ttree_targets(found)
                    if target.name == "TTree: library / ROOT, the fastest way"]
        self.assertEqual(values, {"flat zlib": [3.0, 2.0], "vectors zlib": []})

    def test_the_first_read_of_a_mount_is_compared_with_the_first_and_the_last_pass_of_root(self):
        found = {"column": {"flat zlib": [{"mount, numpy.fromfile": 6.0, "ROOT, GetBulkRead": 4.0,
                                           "ROOT, GetBulkRead, first in a process": 2.0,
                                           "ROOT, TTreeReader, first in a process": 3.0}]}}
        self.assertEqual([target.values for target in ttree_targets(found)
                          if any(target.values.values())], [{"flat zlib": [2.0]}, {"flat zlib": [1.5]}])

    def test_of_opening_and_of_a_server_seconds_are_compared(self):
        found = {"open": {"flat": [{"library": 1.0, "ROOT": 4.0, "uproot": 20.0,
                                    "ROOT, first in a process": 100.0}]},
                 "remote": {"counted": [{"library": 0.1, "uproot": 0.4}], "vectors": []}}
        self.assertEqual({target.name: target.values for target in ttree_targets(found)
                          if any(target.values.values())},
                         {"TTree: 1,000 branches, from opening to the first value, library / uproot": {
                                 "flat": [0.05]},
                          "TTree: 1,000 branches, from opening to the first value, library / ROOT": {
                                  "flat": [0.25]},
                          "TTree: a branch by http, line of 20 ms, library / uproot": {"counted": [0.25],
                                  "vectors": []}})


class Calls(unittest.TestCase):
    def test_rounds_without_calls_are_left_out(self):
        rounds = [{"calls": {"stat": [1, 2], "list": []}}, {"calls": {"stat": [], "list": []}},
                  {"B: calls": {"stat": [3]}}]
        self.assertEqual(calls_of(rounds), {"stat": [[1, 2]]})
        self.assertEqual(calls_of(rounds, "B: "), {"stat": [[3]]})

    def test_one_of_a_hundred_is_longer(self):
        self.assertEqual(hundredth([*range(200)]), 198)
        self.assertEqual(hundredth([5]), 5)


if __name__ == "__main__":
    unittest.main()
