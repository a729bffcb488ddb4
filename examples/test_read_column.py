#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_read_column.py PROGRAM DATA: the example program prints the values that ROOT wrote, and
parts of them."""
import json
import pathlib
import struct
import subprocess
import sys

program, data = sys.argv[1], pathlib.Path(sys.argv[2])


def read(file, dataset, field, *elements):
    command = [program, data / f"{file}.root", dataset, field, *map(str, elements)]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout


def expected(file):
    return json.loads((data / f"{file}.json").read_text())["datasets"].items()


def unpacked(kind, elements):
    return [value for value, in struct.iter_unpack(kind, elements)]


fields = dict(expected("example"))["Events"]["fields"]
for name, kind in (("weight", "<d"), ("run", "<I"), ("event", "<Q")):
    width = struct.calcsize(kind)
    whole = read("example", "Events", name)
    for row, value in fields[name]["sample"].items():
        assert unpacked(kind, whole)[int(row)] == value, (name, row)
    assert read("example", "Events", name, 10, 5) == whole[10 * width:15 * width], name
    assert read("example", "Events", name, 1000, 0) == b"", name
first = [muon["pt"] for row in ("0", "1", "2") for muon in fields["muons"]["sample"][row]]
for path in ("muons/_0/pt", "muons._0.pt"):
    assert unpacked("<f", read("example", "Events", path, 0, len(first))) == first, path
for path, dataset in expected("dirs_and_cycles"):
    elements = read("dirs_and_cycles", path, "number")
    kind = {"top;1": "<i", "top": "<i", "run 1.5/inner": "<f"}.get(path, "<d")
    assert unpacked(kind, elements) == dataset["fields"]["number"]["values"], path
for absent, message in ((("Events", "absent"), "no field"), (("absent", "weight"), "no dataset"),
                        (("Events", "muons"), "no data"),
                        (("Events", "weight", "x", "y"), "usage"), (("Events", "weight", "1", "-1"), "usage"),
                        (("Events", "weight", "2000", "3"), "the stream has 1000"),
                        (("Events", "weight", "0", "3000"), "the stream has 1000"),
                        (("Events", "weight", "1000", "1"), "the stream has 1000")):
    result = subprocess.run([program, data / "example.root", *absent], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)
    assert (result.returncode, result.stdout) == (1, b"") and message in result.stderr.decode(), (absent,
            result)
