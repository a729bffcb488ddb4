# SPDX-License-Identifier: MIT
"""Pages that random reads of 4 KiB decode: each page once, and none the second time."""
import functools
import json
import os
import random
import time

from .mount import Mount
from .rounds import take_turns

FILES = {"hits-zstd": "px", "pages1000000-zstd": "field0"}
READS, SIZE = 1000, 4096


def touched(offsets, pages):
    """The number of pages within the 4 KiB blocks that the kernel requests."""
    blocks = {block for offset in offsets for block in range(offset // SIZE, (offset + SIZE - 1) // SIZE + 1)}
    return sum(any(block in blocks for block in range(first // SIZE, (end - 1) // SIZE + 1)) for first,
               end in pages)


def page_ranges(column):
    """The position of each page of a column in its decoded file."""
    end, ranges = 0, []
    with open(column / "pages.jsonl") as lines:
        for line in lines:
            first, end = end, end + json.loads(line)["decoded_bytes"]
            ranges.append((first, end))
    return ranges


def read_at(path, offsets):
    """Seconds of a read."""
    with open(path, "rb", buffering=0) as reader:
        os.posix_fadvise(reader.fileno(), 0, 0, os.POSIX_FADV_RANDOM)  # without the kernel's readahead
        start = time.perf_counter()
        for offset in offsets:
            os.pread(reader.fileno(), SIZE, offset)
        return (time.perf_counter() - start) / len(offsets)


def read_twice(build, path, field, offsets):
    with Mount(build.ntuplefs, path) as mount:
        [file] = mount.files(field)
        seconds, decoded = [], [mount.pages_decoded()]
        for _ in range(2):
            seconds.append(read_at(file, offsets))
            decoded.append(mount.pages_decoded())
    return build.named({"decoded": decoded[1] - decoded[0], "decoded again": decoded[2] - decoded[1],
                        "seconds per read": seconds[0], "seconds per read again": seconds[1]})


def measure_file(path, field, arguments):
    chance = random.Random(1)
    with Mount(arguments.builds[0].ntuplefs, path) as mount:
        [file] = mount.files(field)
        offsets = [chance.randrange(os.path.getsize(file) - SIZE) for _ in range(READS)]
        pages = page_ranges(file.parent / "column.0")
    group = [functools.partial(read_twice, build, path, field, offsets) for build in arguments.builds]
    return {"pages": len(pages), "touched": touched(offsets, pages),
            "rounds": take_turns([group], arguments.rounds)}


def measure(arguments, folder, results, save):
    for name, field in FILES.items():
        if arguments.only in name:
            results["random"][name] = measure_file(arguments.data / f"{name}.root", field, arguments)
            save()
