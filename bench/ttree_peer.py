#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Print the seconds of each round of uproot after a 0, for the tree "data" of a file:

  ttree_peer.py read FILE BRANCH,... THREADS ROUNDS   numbers to NumPy, lists to Awkward Array,
                                                      without opening
  ttree_peer.py open FILE BRANCH ROUNDS               opening, and the first entry of the branch
  ttree_peer.py remote URL BRANCH                     opening and the branch, once
"""
import concurrent.futures
import sys
import time

import uproot


def open_tree(path):
    return uproot.open(path, array_cache=None)["data"]


def is_list(tree, name):
    return isinstance(tree[name].interpretation, uproot.AsJagged)


def read(path, names, threads, rounds):
    names, executor = names.split(","), concurrent.futures.ThreadPoolExecutor(int(threads))
    for _ in range(int(rounds)):
        tree = open_tree(path)
        library = "ak" if is_list(tree, names[0]) else "np"
        start = time.perf_counter()
        arrays = tree.arrays(names, library=library, decompression_executor=executor,
                             interpretation_executor=executor)
        yield time.perf_counter() - start
        del arrays


def first_value(path, name, rounds):
    for _ in range(int(rounds)):
        start = time.perf_counter()
        open_tree(path)[name].array(entry_stop=1)
        yield time.perf_counter() - start


def remote(url, name):
    import awkward  # imports are not timed
    import fsspec.implementations.http
    del awkward, fsspec
    start = time.perf_counter()
    open_tree(url)[name].array()
    yield time.perf_counter() - start


print(0, *(f"{seconds:.6f}" for seconds in {"read": read, "open": first_value,
                                            "remote": remote}[sys.argv[1]](*sys.argv[2:])))
