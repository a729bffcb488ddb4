# SPDX-License-Identifier: MIT
"""Builds have distinct names, and show what they were built from."""
import os
import pathlib
import tempfile
import unittest

from measure.builds import Build, describe, labels, values_of

VERSIONS = """ntuplefs 0.1.0
commit 0123abcd-dirty
libfuse 3.14.0
libdeflate 1.14
liblzma 5.8.2
"""


class Labels(unittest.TestCase):
    def test_labels_have_as_many_parts_as_distinguish_directories(self):
        for paths, expected in ((["/a/build"], ["build"]), (["/a/build", "/a/other"], ["build", "other"]),
                                (["/a/build", "/b/build"], ["a/build", "b/build"]),
                                (["/x/a/build", "/y/a/build"], ["x/a/build", "y/a/build"])):
            self.assertEqual(labels([pathlib.Path(path) for path in paths]), expected)

    def test_what_other_builds_measure_has_their_name_before_it(self):
        for is_first, expected in ((True, {"mount": 1}), (False, {"other: mount": 1})):
            self.assertEqual(Build(pathlib.Path("/a/other"), "other", is_first).named({"mount": 1}), expected)


class Descriptions(unittest.TestCase):
    def build(self, folder, text):
        program = pathlib.Path(folder, "ntuplefs")
        program.write_text(f"#!/bin/sh\ncat <<'END'\n{text}END\n")
        os.chmod(program, 0o755)
        return Build(pathlib.Path(folder), "b", True)

    def test_the_program_itself_says_its_commit_and_libraries(self):
        with tempfile.TemporaryDirectory() as folder:
            found = describe(self.build(folder, VERSIONS))
        self.assertEqual((found["commit"], found["version"], found["liblzma"]),
                         ("0123abcd-dirty", "0.1.0", "5.8.2"))

    def test_a_program_that_does_not_say_is_what_it_was_made_of_or_unknown(self):
        with tempfile.TemporaryDirectory() as folder:
            build = self.build(folder, "ntuplefs 0.1.0\nlibfuse 3.14.0\n")
            self.assertEqual(describe(build, "76543210")["commit"], "76543210")
            self.assertEqual(describe(build)["commit"], "unknown")

    def test_lines_that_are_no_versions_say_nothing(self):
        self.assertEqual(values_of("ntuplefs 0.1.0\nlibfuse\nusing FUSE kernel interface 7\n"),
                         {"ntuplefs": "0.1.0"})


if __name__ == "__main__":
    unittest.main()
