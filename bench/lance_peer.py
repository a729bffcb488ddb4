#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What pylance takes, in seconds of each round behind a 0:

  lance_peer.py read FILE ROUNDS         all columns to Arrow, opening not counted
  lance_peer.py open FILE ROUNDS         opening, and the number of rows
  lance_peer.py take FILE ROUNDS ROWS    rows by one call; ROWS: a file of their numbers, ascending, as int64
"""
import sys
import time

import numpy
from lance.file import LanceFileReader

BEST_BATCH = 65536  # of its own default, 1,024, it reads a fifth as fast


def read(reader):
    return reader.read_all(batch_size=BEST_BATCH).to_table()


def take(reader):
    return reader.take_rows(ROWS, batch_size=BEST_BATCH).to_table()


WORK = {"read": read, "take": take}
what, path, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
ROWS = numpy.fromfile(sys.argv[4], "<i8").tolist() if what == "take" else None
print(0, end="")
for _ in range(rounds):
    start = time.perf_counter()
    reader = LanceFileReader(path)
    rows = reader.num_rows()
    if what != "open":
        start = time.perf_counter()
        table = WORK[what](reader)
    print(f" {time.perf_counter() - start:.6f}", end="")
print()
