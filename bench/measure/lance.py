# SPDX-License-Identifier: MIT
"""Lance files and datasets compared with pylance, in turns: whole columns into memory, the first
numpy.fromfile through the mount, random reads, opening. The last pass of a reader counts. Reads
through the mount are first reads.
"""
import functools
import importlib.util
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

from .mount import Mount, timed, use_memory
from .peers import HERE
from .random_reads import READS, SIZE, read_at, touched
from .rounds import take_turns

KINDS = ["int64", "float64", "vectors", "fsst", "dictionary", "list", "nullable", "zipped"]
VERSIONS = ["2.1", "2.2"]
ARRAYS = {"int64": "value/data.bin", "float64": "value/data.bin", "vectors": "value/item/data.bin"}
COLUMNS = [10, 100, 1_000, 10_000]
FRAGMENTS, FRAGMENTS_READ, ROWS_READ = COLUMNS, 1_000, 10_000
RANDOM_ROWS = 10_000_000
PASSES = 3
LIBRARY, PYLANCE, MOUNT = "library", "pylance", "mount, numpy.fromfile"
OPEN, PYLANCE_OPEN = "library, open", "pylance, open"
PER_READ, PYLANCE_TAKE = "seconds per read", "pylance, take_rows of as many rows"
# The next pass reuses freed memory; the library's program allocates its memory before timing.
KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(1 << 40), "MALLOC_TRIM_THRESHOLD_": str(1 << 40)}


class LanceMount(Mount):
    """A mount of one Lance file."""

    def __init__(self, program, source, options=()):
        self.dataset = pathlib.Path(source).stem
        super().__init__(program, source, options)


def made(folder, name, *arguments):
    """The file, which is created if it is missing."""
    path = folder / f"{name}.lance"
    if not path.exists():
        with tempfile.TemporaryDirectory(dir=folder) as unfinished:
            output = pathlib.Path(unfinished) / path.name
            kind, version, *number = arguments
            subprocess.run([sys.executable, HERE / "make_lance.py", kind, version, output,
                            *map(str, number)], check=True)
            output.rename(path)
    return path


def last_pass(name, threads, *command):
    """{name: seconds} of a program that prints a number and the seconds of its passes."""
    environment = os.environ | KEEP_MEMORY | {"LANCE_CPU_THREADS": str(threads),
                                              "LANCE_IO_THREADS": str(threads)}
    result = subprocess.run([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env=environment,
                            stdin=subprocess.DEVNULL)
    if result.returncode:
        print(f"{name} fails: {result.stderr.splitlines()[-1:]}", file=sys.stderr)
        return {}
    return {name: float(result.stdout.split()[-1])}


def peer(arguments):
    """pylance's command; None if it is not installed or not requested."""
    is_there = arguments.peers and importlib.util.find_spec("lance")
    return [sys.executable, HERE / "lance_peer.py"] if is_there else None


# ---- whole columns ----

def from_file(build, path, below):
    """The array and the kernel's page cache of the file take new memory."""
    import numpy
    with LanceMount(build.ntuplefs, path) as mount:
        file = mount.point / path.stem / below
        use_memory(2 * os.path.getsize(file))
        return build.named({MOUNT: timed(numpy.fromfile, file, "<u1")})


def whole_groups(arguments, path, kind):
    groups = [[functools.partial(last_pass, build.prefix + LIBRARY, arguments.threads,
                                 build.tool("read_columns"), path, "*",
                                 arguments.threads, PASSES) for build in arguments.builds]]
    if kind in ARRAYS:
        groups.append([functools.partial(from_file, build, path, ARRAYS[kind]) for build in arguments.builds])
    if peer(arguments):
        groups.append([functools.partial(last_pass, PYLANCE, arguments.threads, *peer(arguments), "read",
                                         path, PASSES)])
    return groups


def size_of(arguments, path):
    """Bytes of all that the library reads."""
    command = [arguments.builds[0].tool("read_columns"), path, "*", "1", "1"]
    return int(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split()[0])


def measure_whole(arguments, path, kind):
    size = size_of(arguments, path)
    rounds = take_turns(whole_groups(arguments, path, kind), arguments.rounds)
    return [{what: size / seconds for what, seconds in found.items()} for found in rounds]


# ---- reads here and there ----

def read_twice(build, path, offsets):
    with LanceMount(build.ntuplefs, path) as mount:
        [file] = mount.files("value")
        seconds, decoded = [], [mount.pages_decoded()]
        for _ in range(2):
            seconds.append(read_at(file, offsets))
            decoded.append(mount.pages_decoded())
    return build.named({"decoded": decoded[1] - decoded[0], "decoded again": decoded[2] - decoded[1],
                        PER_READ: seconds[0],
                        "seconds per read again": seconds[1]})


def chunk_ranges(column, width=8):
    """The position in the decoded file of each chunk of a column of mini-blocks. The library
    decodes each chunk alone."""
    end, ranges = 0, []
    for page in sorted(column.glob("pages/*.chunks.jsonl"), key=lambda path: int(path.name.split(".")[0])):
        for line in page.read_text().splitlines():
            first, end = end, end + width * json.loads(line)["values"]
            ranges.append((first, end))
    return ranges


def rows_of(offsets):
    """The rows of eight bytes within the bytes that are read."""
    return sorted({row for offset in offsets for row in range(offset // 8, (offset + SIZE) // 8)})


def take_rows(arguments, path, rows):
    found = last_pass(PYLANCE_TAKE, arguments.threads, *peer(arguments), "take", path, PASSES, rows)
    return {what: seconds / READS for what, seconds in found.items()}


def measure_random(arguments, version, folder):
    import numpy
    path = made(arguments.data, f"random-{version}", "int64", version, RANDOM_ROWS)
    chance = random.Random(1)
    offsets = [8 * chance.randrange((RANDOM_ROWS * 8 - SIZE) // 8) for _ in range(READS)]
    with LanceMount(arguments.builds[0].ntuplefs, path) as mount:
        pages = chunk_ranges(mount.point / path.stem / "value/column.0")
    rows = folder / "rows"
    numpy.array(rows_of(offsets), "<i8").tofile(rows)
    groups = [[functools.partial(read_twice, build, path, offsets) for build in arguments.builds]]
    if peer(arguments):
        groups.append([functools.partial(take_rows, arguments, path, rows)])
    return {"pages": len(pages), "touched": touched(offsets, pages),
            "rounds": take_turns(groups, arguments.rounds)}


# ---- opening ----

def measure_open(arguments, path, count):
    groups = [[functools.partial(last_pass, build.prefix + OPEN, arguments.threads, build.tool("open_file"),
                                 path, PASSES)
               for build in arguments.builds]]
    if peer(arguments):
        groups.append([functools.partial(last_pass, PYLANCE_OPEN, arguments.threads, *peer(arguments),
                                         "open", path, PASSES)])
    return {"count": count, "rounds": take_turns(groups, arguments.rounds)}


# ---- all ----

def whole_cases():
    """(name in the results, kind, arguments of made)"""
    for version in VERSIONS:
        for kind in KINDS:
            yield f"{kind} {version}", kind, (f"{kind}-{version}", kind, version)
    yield (f"{FRAGMENTS_READ:,} fragments 2.1", "fragments",
           ("fragments-whole-2.1", "fragments", "2.1", FRAGMENTS_READ, ROWS_READ))


def open_cases():
    for version in VERSIONS:
        for count in COLUMNS:
            yield f"{count:,} columns, {version}", count, (f"columns{count}-{version}", "columns", version,
                                                           count)
    for count in FRAGMENTS:
        yield f"{count:,} fragments, 2.1", count, (f"fragments{count}-2.1", "fragments", "2.1", count, 10)


def measure(arguments, folder, results, save):
    found = results["lance"]
    found |= {"whole": {}, "random": {}, "open": {}}
    for name, kind, file in whole_cases():
        if arguments.only in file[0]:
            found["whole"][name] = measure_whole(arguments, made(arguments.data, *file), kind)
            save()
    for version in VERSIONS:
        if arguments.only in f"random-{version}":
            found["random"][version] = measure_random(arguments, version, folder)
            save()
    for name, count, file in open_cases():
        if arguments.only in file[0]:
            found["open"][name] = measure_open(arguments, made(arguments.data, *file), count)
            save()
