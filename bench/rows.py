#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long a million entries take as text, beside other ways to JSON.

usage: rows.py NTUPLE NTUPLEFS [ENTRIES]        the programs, built; needs uproot and NumPy; peers that are missing are left out

Makes a flat data set of seven fields in ten clusters and times: wc -l of rows.jsonl on a mount (with the daemon's largest
memory), `ntuple cat`, head -n 5, jq over rows.jsonl, uproot's to_list with json.dumps, and pyarrow's to_pylist of table.arrow
with json.dumps. Prints a table for docs/performance.md: the median of three, in seconds, and MB of memory.
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 3

# In processes of their own, so that this one stays small: a child's memory begins with that of its parent.
MAKE = '''
import sys, numpy, uproot
random, entries = numpy.random.default_rng(1), int(sys.argv[2])
types = {'run': 'uint32', 'event': 'uint64', 'pt': 'float32', 'eta': 'float32', 'weight': 'float64', 'charge': 'int32', 'good': 'bool'}
with uproot.recreate(sys.argv[1]) as file:
    flat = file.mkrntuple('flat', types)
    for first in range(0, entries, 100000):
        part = min(100000, entries - first)
        flat.extend({'run': numpy.full(part, 360000 + first // 100000, 'u4'), 'event': numpy.arange(first, first + part, dtype='u8'),
                     'pt': random.exponential(30, part).astype('f4'), 'eta': random.normal(0, 2, part).astype('f4'),
                     'weight': random.normal(1, .1, part), 'charge': random.choice([-1, 1], part).astype('i4'),
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
    """(median seconds, MB of memory at most); the output goes nowhere."""
    seconds, memory = [], 0
    for _ in range(ROUNDS):
        start = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        seconds.append(time.monotonic() - start)
        memory = max(memory, usage.ru_maxrss / 1024)
        if status:
            raise SystemExit(f'rows.py: {command[0]} failed')
    return statistics.median(seconds), memory


def daemon_memory(process):
    [line] = [line for line in Path(f'/proc/{process}/status').read_text().splitlines() if line.startswith('VmHWM')]
    return int(line.split()[1]) / 1024


def report(what, seconds, memory):
    print(f'| {what} | {seconds:.2f} | {memory:.0f} |', flush=True)


def main():
    if len(sys.argv) < 3:
        print(__doc__)
        return 2
    ntuple, ntuplefs = sys.argv[1:3]
    directory = Path(tempfile.mkdtemp(prefix='ntuplefs-bench-'))
    mountpoint, source = directory / 'mnt', directory / 'flat.root'
    mountpoint.mkdir()
    subprocess.run([sys.executable, '-c', MAKE, source, sys.argv[3] if len(sys.argv) > 3 else '1000000'], check=True)
    with subprocess.Popen([ntuplefs, '-f', source, mountpoint]) as daemon:
        try:
            while not (mountpoint / 'file.json').exists():
                time.sleep(0.01)
            rows, table = mountpoint / 'flat/rows.jsonl', mountpoint / 'flat/table.arrow'
            print('| | seconds | MB of memory |\n|---|---|---|')
            report('`head -n 5 rows.jsonl`', timed(['head', '-n', '5', rows])[0], daemon_memory(daemon.pid))
            report('`wc -l rows.jsonl`', timed(['wc', '-l', rows])[0], daemon_memory(daemon.pid))
            report('`ntuple cat FILE flat/rows.jsonl`', *timed([ntuple, 'cat', source, 'flat/rows.jsonl']))
            report('`ntuple cat FILE flat/table.csv`', *timed([ntuple, 'cat', source, 'flat/table.csv']))
            if shutil.which('jq'):
                report('`jq -c .pt rows.jsonl`', *timed(['jq', '-c', '.pt', rows]))
            report('pyarrow: `table.arrow`, `to_pylist`, `json.dumps`', *timed([sys.executable, '-c', PYARROW, table]))
            report('uproot: `arrays().to_list()`, `json.dumps`', *timed([sys.executable, '-c', UPROOT, source]))
        finally:
            daemon.terminate()
    shutil.rmtree(directory)
    return 0


if __name__ == '__main__':
    sys.exit(main())
