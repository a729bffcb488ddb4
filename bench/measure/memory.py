# SPDX-License-Identifier: MIT
"""The daemon's peak memory while every column is read, and its limit.

Reads bypass the kernel's page cache, in parts of pages and in random order, so that pages stay
in the daemon's own cache.
"""
import json
import os
import random
import re

from .mount import MEBIBYTE, Mount

FILES = ("hits-zstd", "hits-none", "events-zstd", "columns16-zstd", "wide20000-zstd", "pages1000000-zstd")
PIECE = 100_000
CACHE = 64 * MEBIBYTE
BASE, PAGE = 32 * MEBIBYTE, 64
DECODED_BYTES = re.compile(r'"decoded_bytes":(\d+)')


def read_shuffled(path, chance):
    file = os.open(path, os.O_RDONLY)
    offsets = list(range(0, os.fstat(file).st_size, PIECE))
    chance.shuffle(offsets)
    for offset in offsets:
        os.pread(file, PIECE, offset)
    os.close(file)


def largest_page(data):
    """Decoded bytes of the largest page of all columns."""
    largest = 0
    for path in data.rglob("column.*/pages.jsonl"):
        with open(path) as lines:
            largest = max([largest, *(int(DECODED_BYTES.search(line)[1]) for line in lines)])
    return largest


def measure_file(path, ntuplefs):
    chance = random.Random(1)
    with Mount(ntuplefs, path, ["-o", f"cachesize={CACHE},direct_io=on"]) as mount:
        files = mount.files("*")
        for file in files:
            read_shuffled(file, chance)
        memory = mount.memory()
        data = mount.point / "data"
        pages = json.loads((data / "ntuple.json").read_text())["pages"]
        metadata = sum(file.stat().st_size for file in data.glob("*.bin"))
        page = largest_page(data)
    bound = CACHE + BASE + PAGE * pages + metadata
    return {"memory": memory, "bound": bound, "pages": pages, "metadata": metadata, "largest page": page,
            "files": len(files)}


def measure(arguments, folder, results, save):
    for name in FILES:
        if arguments.only in name:
            path = arguments.data / f"{name}.root"
            results["memory"][name] = {what: value for build in arguments.builds
                                       for what, value in build.named(measure_file(path,
                                               build.ntuplefs)).items()}
            save()
