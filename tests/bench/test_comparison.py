# SPDX-License-Identifier: MIT
"""Comparison of builds with the first one, and the whole report for results of every kind."""
import unittest

from measure.comparison import comparisons
from measure.report import markdown, svg

ROUNDS = 7
BUILDS = [{"label": "a", "commit": "1", "buildtype": "release"},
          {"label": "b", "commit": "2", "buildtype": "release"}]


def rounds(**values):
    """The same in each round, except b, which differs a little."""
    return [{what.replace("_", " ").replace(" b ", "b: "): value * (1 + number / 100 if "_b_" in what else 1)
             for what, value in values.items()} for number in range(ROUNDS)]


def results(**parts):
    empty = {part: {} for part in ("speed", "processors", "fields", "pages", "readers", "memory", "random",
                                   "rows", "arrow", "chains", "scale",
                                "python", "remote", "lance", "ttree")}
    machine = {"date": "2026-01-01", "processor": "p", "processors": 2, "kernel": "k", "load at start": [1],
               "threads": 2,
               "rounds": ROUNDS, "scheduling group": "own", "processors of others": 0.25, "builds": BUILDS}
    return {"machine": machine, **empty, **parts}


def line_of(lines, start):
    [line] = [line for line in lines if line.startswith(start)]
    return line


class Comparisons(unittest.TestCase):
    def test_more_bytes_a_second_are_faster_and_what_differs_is_bold(self):
        lines = comparisons(results(speed={"hits": rounds(mount=2.0, _b_mount=4.0, library=1.0,
                                                          _b_library=0.98)}))
        self.assertEqual(line_of(lines, "| mount"), "| mount | **2.06 (2.03–2.09)** |")
        self.assertEqual(line_of(lines, "| library"), "| library | 1.01 (0.99–1.02) |")
        self.assertEqual(line_of(lines, "| b / a"), "| b / a, times as fast | hits |")

    def test_fewer_seconds_are_faster(self):
        lines = comparisons(results(fields={"w": {"count": 2000,
                                                  "rounds": rounds(first_stat=6.0, _b_first_stat=2.0)}}))
        self.assertIn("**2.91 (2.87–2.96)**", line_of(lines, "| first stat"))

    def test_calls_are_compared_round_by_round(self):
        both = [{"calls": {"listdir": [4.0, 4.0]}, "b: calls": {"listdir": [2.0]}}] * ROUNDS
        for found in both:
            for calls in found.values():
                calls |= {what: [] for what in ("stat, new name", "stat, absent name", "getxattr")}
        self.assertIn("**2.00**", line_of(comparisons(results(readers=both)), "| listdir, median"))

    def test_one_build_is_compared_with_none(self):
        alone = results(speed={"hits": rounds(mount=2.0)})
        alone["machine"] |= {"builds": BUILDS[:1]}
        self.assertEqual(comparisons(alone), [])


class Reports(unittest.TestCase):
    every = results(
        speed={"hits-zstd px": rounds(**{"mount,_whole": 2e9, "_b_mount,_whole": 3e9, "ROOT_bulk": 1e9})},
        processors={"hits-zstd px": rounds(**{"mount,_whole": 0.5})},
        fields={"wide": {"count": 2000, "rounds": rounds(mount=0.004, mount_and_stat=0.005, memory=2 ** 20)}},
        memory={"hits": {"memory": 2 ** 20, "b: memory": 2 ** 21, "bound": 2 ** 22, "metadata": 0,
                         "largest page": 0,
                         "pages": 1}},
        random={"hits": {"pages": 3, "touched": 2, "rounds": rounds(decoded=2, _b_decoded=2, **{
            "decoded_again": 0, "seconds_per_read": 1e-4})}},
        rows=[{"`cat`": (1.5, 2e6), "b: `cat`": (1.0, 1e6)}] * ROUNDS,
        chains={"hits": rounds(chain=0.3, _b_chain=0.15, **{"its_files": 0.2, "all_entries:_pages": 9})},
        ttree={"whole": {"flat zlib": rounds(library=2e9, _b_library=1e9,
                                             **{"codec_alone": 4e9, "ROOT,_GetEntry": 5e8})},
               "column": {"flat zlib": rounds(**{"mount,_numpy.fromfile": 1e9, "ROOT,_GetBulkRead": 5e8})},
               "open": {"flat": rounds(library=0.002, _b_library=0.001, ROOT=0.008)},
               "remote": {"counted": rounds(library=0.1, uproot=0.2), "vectors": []}},
        scale={"a directory": rounds(mount=0.01, first_ls=7.3, memory=2 ** 22, **{"a_value:_requests": 3})},
        python={"events-zstd all": rounds(library=2e9, uproot=1e9, **{"ntuple,_arrays_that_are_there": 1.6e9,
                                                                      "ntuple,_new_arrays": 1.5e9})})

    def test_a_report_shows_what_was_measured_and_by_what(self):
        text = markdown(self.every)
        for line in ("- b: commit 2 (release), ", "| mount, whole | 2.00 |",
                     "| b: mount, whole | 3.09 (3.05–3.14) |",
                     "| mount, whole / ROOT bulk | 2.00 |", "| b: memory | 2.0 |", "| b: `cat` | 1.00 | 1 |",
                     "| mount, first read of zstd and lz4 / ROOT bulk | ≥ 1.4 | 2.00 |  | met |",
                     "| chain | 300.00 |", "| all entries: pages | 9 |",
                     "| first read: chain / its files | ≤ 1.05 | 1.50 |  | **not met** |",
                     "| chain | **1.94 (1.91–1.97)** |", "| ntuple, new arrays | 1.50 |",
                     "| Python: library / ntuple, arrays that are there | ≤ 1.05 | 1.25 |  | **not met** |",
                     "| Python: ntuple, new arrays / uproot | ≥ 2 | 1.50 |  | **not met** |",
                     "| TTree, one branch, GB/s | flat zlib |", "| library / codec alone | 0.50 |",
                     "| library / ROOT, the fastest way | 4.00 |",
                     "| mount, numpy.fromfile / ROOT, the fastest way | 2.00 |",
                     "| b: library | 1.03 (1.02–1.05) |", "| uproot | 200.00 |",
                     "| TTree: library / codec alone | ≥ 0.8 | 0.50 |  | **not met** |",
                     "| b / a, times as fast: TTree, open | flat |",
                     "| TTree: a branch by http, line of 20 ms, library / uproot | ≤ 0.4 | 0.50 |  | **not "
                     "met** |",
                     "| random reads: pages decoded / pages touched | ≤ 1 | 1.00 |  | met |",
                     "| the daemon's memory / what it may occupy | ≤ 1 | 0.25 |  | met |"):
            self.assertIn(line, text.splitlines())
        self.assertIn("others kept 0.2 processors busy; scheduling group: own", text)

    def test_the_picture_has_a_bar_for_each_build(self):
        self.assertEqual(svg(self.every).count("<rect x="), 3)

    def test_nothing_measured_is_a_report_too(self):
        self.assertIn("commit 1", markdown(results()))
        self.assertEqual(svg(results()), "")


if __name__ == "__main__":
    unittest.main()
