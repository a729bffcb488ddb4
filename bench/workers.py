#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measure how much faster two workers of dask read a dataset than one: each reads partitions by the package
ntuple, without a mount, with one thread. The two clusters take turns; the result is the median of the
rounds and of their ratios. On a machine that others use, compare the processor time: where it is equal,
only the others are in the way.

usage: workers.py [--rounds N] FILE DATASET        PYTHONPATH has the package ntuple, or it is installed
"""
import argparse
import os
import statistics
import time

import numpy as np

WORKERS = 1, 2
PARTITION_BYTES = 4 << 20


def histograms(part):
    """Of each column of plain numbers; and the processor time that this takes."""
    start = time.process_time()
    counts = sum(np.histogram(values, bins=100, range=(0, 1000))[0]
                 for values in part.arrays().values() if values.dtype.kind in "iuf")
    return np.append(counts, time.process_time() - start)


def seconds(client, parts):
    """Of the clock and of processors, and the counts."""
    start = time.monotonic()
    *counts, processors = sum(client.gather(client.map(histograms, parts, pure=False))).tolist()
    return time.monotonic() - start, processors, counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("file")
    parser.add_argument("dataset")
    arguments = parser.parse_args()
    os.environ["NTUPLE_THREADS"] = "1"
    import distributed
    import ntuple
    dataset = ntuple.open(arguments.file)[arguments.dataset]
    columns = [field.path for field in dataset.fields if field.valued().is_plain]
    parts = dataset.partitions(PARTITION_BYTES, columns)
    clients = [distributed.Client(n_workers=count, threads_per_worker=1, dashboard_address=":0")
               for count in WORKERS]
    try:
        *_, expected = seconds(clients[0], parts)
        seconds(clients[1], parts)   # opens the files
        rounds = []
        for number in range(arguments.rounds):
            order = clients if number % 2 == 0 else clients[::-1]
            found = {client: seconds(client, parts) for client in order}
            assert all(counts == expected for *_, counts in found.values())
            rounds.append([found[client][part] for part in range(2) for client in clients])
    finally:
        for client in clients:
            client.shutdown()
    one, two, *processors = (statistics.median(column) for column in zip(*rounds))
    ratio = statistics.median(first / second for first, second, *_ in rounds)
    print(f"{len(parts)} partitions, {len(columns)} columns: 1 worker {one:.2f} s, 2 workers {two:.2f} s, "
          f"{ratio:.2f} times as fast (load {os.getloadavg()[0]:.1f}); of processors {processors[0]:.2f} "
          f"and {processors[1]:.2f} s")


if __name__ == "__main__":
    main()
