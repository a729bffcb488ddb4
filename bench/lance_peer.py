#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Print the seconds of each round of pylance after a 0, for a file or a dataset:

  lance_peer.py read PATH ROUNDS         all columns to Arrow, without opening
  lance_peer.py open PATH ROUNDS         opening, and the number of rows of a file
  lance_peer.py take FILE ROUNDS ROWS    rows by one call; ROWS: a file of ascending row numbers as int64
"""
import os
import sys
import time

import lance
import numpy
from lance.file import LanceFileReader

BEST_BATCH = 65536  # with its default of 1,024 it reads a fifth as fast


def read_file(reader):
    return reader.read_all(batch_size=BEST_BATCH).to_table()


def read_dataset(dataset):
    return dataset.to_table(batch_size=BEST_BATCH)


def take(reader):
    return reader.take_rows(ROWS, batch_size=BEST_BATCH).to_table()


def open_file(path):
    reader = LanceFileReader(path)
    reader.num_rows()
    return reader


what, path, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
is_dataset = os.path.isdir(path)
opened_by, read = (lance.dataset, read_dataset) if is_dataset else (open_file, read_file)
WORK = {"read": read, "take": take}
ROWS = numpy.fromfile(sys.argv[4], "<i8").tolist() if what == "take" else None
print(0, end="")
dataset = lance.dataset(path) if is_dataset else None  # pylance keeps its cache of data files between passes
for _ in range(rounds):
    start = time.perf_counter()
    opened = dataset if dataset and what != "open" else opened_by(path)
    if what != "open":
        start = time.perf_counter()
        table = WORK[what](opened)
    print(f" {time.perf_counter() - start:.6f}", end="")
print()
