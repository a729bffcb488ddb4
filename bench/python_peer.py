#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""python_peer.py uproot|rdataframe FILE FIELD|* ROUNDS: the seconds of each round behind a 0, opening not counted."""
import sys
import time
import warnings

warnings.filterwarnings("ignore")
peer, path, field, rounds = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
print(0, end="")
for _ in range(rounds):
    if peer == "uproot":
        import numpy
        import uproot
        data = uproot.open(path)["data"]
        start = time.perf_counter()
        result = data.arrays() if field == "*" else numpy.asarray(data[field].array())
    else:
        import ROOT
        data = ROOT.RDataFrame("data", path)
        start = time.perf_counter()
        result = data.AsNumpy() if field == "*" else data.AsNumpy([field])
    print(" %.6f" % (time.perf_counter() - start), end="")
print()
