# SPDX-License-Identifier: MIT
"""Seconds to print a million entries as text, compared with other writers of JSON; needs uproot.

A flat dataset of seven fields in ten clusters; missing peers are skipped.
"""
import functools
import importlib.util
import shutil
import subprocess
import sys

from .mount import Mount
from .rounds import take_turns

ENTRIES = 1_000_000

# Starts a program from a small process: the peak memory that the kernel reports of a child begins
# with its parent's.
TIMED = '''
import os, subprocess, sys, time
start = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(time.perf_counter() - start, 1024 * usage.ru_maxrss)
sys.exit(status != 0)
'''
MAKE = '''
import sys, numpy, uproot
random, entries = numpy.random.default_rng(1), int(sys.argv[2])
types = {'run': 'uint32', 'event': 'uint64', 'pt': 'float32', 'eta': 'float32', 'weight': 'float64',
         'charge': 'int32', 'good': 'bool'}
with uproot.recreate(sys.argv[1]) as file:
    flat = file.mkrntuple('flat', types)
    for first in range(0, entries, 100000):
        part = min(100000, entries - first)
        flat.extend({'run': numpy.full(part, 360000 + first // 100000, 'u4'),
                     'event': numpy.arange(first, first + part, dtype='u8'),
                     'pt': random.exponential(30, part).astype('f4'),
                     'eta': random.normal(0, 2, part).astype('f4'),
                     'weight': random.normal(1, .1, part),
                     'charge': random.choice([-1, 1], part).astype('i4'),
                     'good': random.random(part) < .9})
'''
UPROOT = '''
import json, sys, uproot
with uproot.open(sys.argv[1]) as file:
    for part in file['flat'].arrays().to_list():
        sys.stdout.write(json.dumps(part) + '\\n')
'''
PYARROW = '''
import json, sys, pyarrow as pa
table = pa.ipc.open_file(pa.memory_map(sys.argv[1])).read_all()
for batch in table.to_batches():
    for row in batch.to_pylist():
        sys.stdout.write(json.dumps(row) + '\\n')
'''


def timed(command):
    """(seconds, peak memory in bytes) of a process; its output is discarded."""
    seconds, memory = subprocess.run([sys.executable, "-c", TIMED, *command], check=True,
                                     stdout=subprocess.PIPE,
                                     text=True).stdout.split()
    return float(seconds), int(memory)


def through_mount(build, source, peers):
    """Readers of the mount's files. For our texts, the daemon's peak memory counts; for peers,
    their own."""
    with Mount(build.ntuplefs, source) as mount:
        flat, found = mount.point / "flat", {}
        for what, command in (("`head -n 5 rows.jsonl`", ["head", "-n", "5"]),
                              ("`wc -l rows.jsonl`", ["wc", "-l"])):
            found[what] = timed([*command, flat / "rows.jsonl"])[0], mount.memory()
        if peers and shutil.which("jq"):
            found["`jq -c .pt rows.jsonl`"] = timed(["jq", "-c", ".pt", flat / "rows.jsonl"])
        if peers and importlib.util.find_spec("pyarrow"):
            found["pyarrow: `table.arrow`, `to_pylist`, `json.dumps`"] = timed(
                [sys.executable, "-c", PYARROW, flat / "table.arrow"])
    return build.named(found)


def printed(build, source, name):
    return build.named({f"`ntuple cat FILE {name}`": timed([build.ntuple, "cat", source, name])})


def by_uproot(source):
    return {"uproot: `arrays().to_list()`, `json.dumps`": timed([sys.executable, "-c", UPROOT, source])}


def groups(arguments, source):
    """Peers run with the first build only."""
    yield [functools.partial(through_mount, build, source, arguments.peers and not build.prefix)
           for build in arguments.builds]
    for name in "flat/rows.jsonl", "flat/table.csv":
        yield [functools.partial(printed, build, source, name) for build in arguments.builds]
    if arguments.peers:
        yield [functools.partial(by_uproot, source)]


def measure(arguments, folder, results, save):
    source = folder / "flat.root"
    if arguments.only not in source.name or not importlib.util.find_spec("uproot"):
        return
    subprocess.run([sys.executable, "-c", MAKE, source, str(ENTRIES)], check=True)
    results["rows"] = take_turns(list(groups(arguments, source)), arguments.rounds)
    save()
