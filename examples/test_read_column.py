#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_read_column.py PROGRAM DATA: the example program gives the values that ROOT wrote, and parts of them."""
import json
import pathlib
import struct
import subprocess
import sys

program, data = sys.argv[1], pathlib.Path(sys.argv[2])
fields = json.loads((data / "example.json").read_text())["datasets"]["Events"]["fields"]


def read(field, *elements):
    command = [program, data / "example.root", "Events", field, *map(str, elements)]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout


for name, kind in (("weight", "<d"), ("run", "<I"), ("event", "<Q")):
    width = struct.calcsize(kind)
    whole = read(name)
    for row, value in fields[name]["sample"].items():
        found, = struct.unpack_from(kind, whole, int(row) * width)
        assert found == value, (name, row, found, value)
    assert read(name, 10, 5) == whole[10 * width:15 * width], name
    assert read(name, 1000, 5) == b"", name
assert subprocess.run([program, data / "example.root", "Events", "absent"], stderr=subprocess.DEVNULL).returncode == 1
