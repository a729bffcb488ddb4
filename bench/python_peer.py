#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""python_peer.py uproot|rdataframe|ntuple|ntuple-into FILE FIELD|* ROUNDS: print the seconds of
each round after a 0, without opening. ntuple reads into new arrays, ntuple-into reuses arrays."""
import sys
import time
import warnings

warnings.filterwarnings("ignore")


def fields_below(fields):
    for field in fields:
        yield field
        yield from fields_below(field.fields)


def read_all(data, paths, texts, out):
    """Columns and offsets, then the strings."""
    arrays = data.arrays(paths, out=out)
    return arrays, [(field.offsets, field.values) for field in texts]


peer, path, field, rounds = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
print(0, end="")
for _ in range(rounds):
    if peer == "uproot":
        import numpy
        import uproot
        data = uproot.open(path)["data"]
        start = time.perf_counter()
        result = data.arrays() if field == "*" else numpy.asarray(data[field].array())
    elif peer.startswith("ntuple"):
        import ntuple
        data = ntuple.open(path)["data"]
        fields = list(fields_below(data.fields)) if field == "*" else [data.field(field)]
        texts = [one for one in fields if "data" in one.streams and not one.is_plain]
        paths = [one.path for one in fields if one.is_plain or one.streams == ("offsets",)]
        result = read_all(data, paths, texts, None) if peer == "ntuple-into" else None
        start = time.perf_counter()
        result = read_all(data, paths, texts, result and result[0])
    else:
        import ROOT
        data = ROOT.RDataFrame("data", path)
        start = time.perf_counter()
        result = data.AsNumpy() if field == "*" else data.AsNumpy([field])
    print(" %.6f" % (time.perf_counter() - start), end="")
print()
