#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_cpp.py DATA PROGRAM...: in C++17 and C++20, ntuple.hpp reads what ROOT wrote, and fails
with the library's statuses."""
import json
import pathlib
import subprocess
import sys

data = pathlib.Path(sys.argv[1])
fields = json.loads((data / "example.json").read_text())["datasets"]["Events"]["fields"]


def sample(field):
    return {int(row): value for row, value in fields[field]["sample"].items()}


for program in sys.argv[2:]:
    found = json.loads(subprocess.run([program, data / "example.root"], capture_output=True, text=True,
                                      check=True).stdout)
    assert found["entries"] == found["size"] == len(found["event"]) == 1000 and found["name"] == "Events"
    for field in "event", "is_simulated":
        for row, value in sample(field).items():
            assert found[field][row] == value, (program, field, row)
    assert found["middle"] == [10000001500 + 3 * i
                               for i in range(3)] and found["middle"][0] == sample("event")[500]
    offsets = found["offsets"]
    assert offsets == found["same offsets"] and len(offsets) == 1001 and offsets[0] == 0
    for row, muons in sample("muons").items():
        assert found["pt"][offsets[row]:offsets[row + 1]] == [muon["pt"] for muon in muons], (program, row)
    assert found["copied"] == [sample("weight")[row] for row in (0, 1)]
    if "span" in found:
        assert found["span"][0] == sample("weight")[97]
    assert "span" in found or program == sys.argv[2]
    for name, status in {"no file": "not found", "no field": "not found", "no dataset": "not found",
                         "another type": "invalid argument",
                         "past the end": "invalid argument"}.items():
        assert found[name] == status, (program, name, found[name])
    assert found["type"] == "<f8"
