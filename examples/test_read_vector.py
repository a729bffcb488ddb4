#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_read_vector.py PROGRAM DATA: the C++ program prints what ROOT wrote, and the reason if it
cannot."""
import json
import pathlib
import subprocess
import sys

program, data = sys.argv[1], pathlib.Path(sys.argv[2])
fields = json.loads((data / "example.json").read_text())["datasets"]["Events"]["fields"]


def run(*arguments):
    return subprocess.run([program, data / "example.root", *arguments], capture_output=True, text=True)


for path, part in (("weight", None), ("vertex/x", "x"), ("vertex.z", "z")):
    found = [float(line) for line in run("Events", path).stdout.split()]
    assert len(found) == 1000, path
    for row, value in fields[path.partition("/")[0].partition(".")[0]]["sample"].items():
        assert found[int(row)] == (value[part] if part else value), (path, row)
for arguments, message in ((("Events", "absent"), "no field 'absent'"),
                           (("Event", "weight"), "no dataset 'Event'"),
                           (("Events", "run"), "elements of another type"),
                           (("Events", "vertex"), "no data")):
    failed = run(*arguments)
    assert failed.returncode == 1 and message in failed.stderr, (arguments, failed.stderr)
