# SPDX-License-Identifier: MIT
"""Many readers of one mount at once: they read correct values, and the daemon's memory stays
within its limit.

For a long time, in a group with a memory limit:

    NTUPLEFS=build/ntuplefs WRITE_LARGE=build/tests/mount/write_large tests/mount/soak.py 1800
    --group 100
"""
import argparse
import json
import multiprocessing
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from harness import Foreground, high_water, processes_of, same, scratch, wait_until

COLUMNS, ENTRIES, ELEMENT = 48, 4 * 160 * 1024, 4  # as in write_large.c
LARGEST_READ = 1 << 20
MEBIBYTE = 1 << 20
CACHE = 32 * MEBIBYTE
BASE, PAGE = 32 * MEBIBYTE, 64  # docs/reliability.md
GROUPS = Path('/sys/fs/cgroup/memory')


def write_large(path):
    subprocess.run([os.environ['WRITE_LARGE'], path], check=True)


def values(column, first, count):
    return (column * 1000003 + 7 * np.arange(first, first + count)).astype('<u4')


def read_numbers(top, chance, ends):
    """Parts of columns in random order, and sometimes a whole one."""
    while time.monotonic() < ends:
        column = chance.randrange(COLUMNS)
        descriptor = os.open(top / f'Events/c{column}/data.bin', os.O_RDONLY)
        for _ in range(chance.choice([1, 20])):
            count = chance.choice([1, 1000, LARGEST_READ // ELEMENT])
            first = chance.randrange(ENTRIES - count)
            found = os.pread(descriptor, count * ELEMENT, first * ELEMENT)
            same(found, values(column, first, count).tobytes(), f'column {column} from {first} on')
        os.close(descriptor)


def read_columns(top, chance, ends):
    while time.monotonic() < ends:
        column = chance.randrange(COLUMNS)
        found = (top / f'Events/c{column}/data.bin').read_bytes()
        same(found, values(column, 0, ENTRIES).tobytes(), f'column {column}')


def read_rows(top, chance, ends):
    """Texts from the start, some of them slowly."""
    while time.monotonic() < ends:
        row, pause = 0, chance.choice([0, 0.01])
        with open(top / 'Events/rows.jsonl') as lines:
            for line in lines:
                same(json.loads(line)['c47'], 47 * 1000003 + 7 * row, f'row {row}')
                row += 1
                if time.monotonic() > ends:
                    break
                time.sleep(pause if row % 1000 == 0 else 0)


def read_table(top, chance, ends):
    with open(top / 'Events/table.arrow', 'rb', buffering=0) as table:
        size = os.fstat(table.fileno()).st_size
        first = os.pread(table.fileno(), 6, 0)
        same(first, b'ARROW1', 'the beginning of the table')
        while time.monotonic() < ends:
            count = chance.choice([100, 10000, LARGEST_READ])
            offset = chance.randrange(size - count)
            same(len(os.pread(table.fileno(), count, offset)), count, f'bytes of the table from {offset} on')


KINDS = [read_numbers, read_numbers, read_rows, read_table, read_columns]


def read_until(top, number, ends):
    os.nice(5)
    KINDS[number % len(KINDS)](top, random.Random(number), ends)


def promised(top):
    pages = json.loads((top / 'Events/ntuple.json').read_text())['pages']
    return CACHE + BASE + PAGE * pages


class Group:
    """A group of processes with a memory limit, which includes the kernel's cache of the files
    that they read. Needs root and version 1 of control groups."""

    def __init__(self, size):
        own = re.search(r':memory:/?(.*)', Path('/proc/self/cgroup').read_text())[1]
        self.path = GROUPS / own / f'ntuplefs-soak-{os.getpid()}'
        self.path.mkdir()
        (self.path / 'memory.limit_in_bytes').write_text(str(size))

    def add(self, process):
        (self.path / 'cgroup.procs').write_text(str(process))

    def most(self):
        return int((self.path / 'memory.max_usage_in_bytes').read_text())

    def remove(self):
        wait_until(lambda: not (self.path / 'cgroup.procs').read_text(),
                   'all processes of the group have ended')
        self.path.rmdir()


def read_at_once(mount, readers, read, argument):
    """So many processes call read(directory, number, argument), all without an error."""
    processes = [multiprocessing.Process(target=read, args=(mount.mountpoint, number, argument))
                 for number in range(readers)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    same([process.exitcode for process in processes], [0] * readers, 'exit status of the readers')


def soak(source, seconds, readers=64, options=(), group=None):
    """The daemon's peak memory, and its limit; AssertionError if a reader read wrong values."""
    with Foreground(source, options=['-o', f'cachesize={CACHE}', *options]) as mount:
        if group:
            for process in processes_of(mount.mountpoint):
                group.add(process)
        bound = promised(mount.mountpoint)
        read_at_once(mount, readers, read_until, time.monotonic() + seconds)
        same(mount.process.poll(), None, 'the daemon has ended')
        return high_water(mount.decoder), bound


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('seconds', type=float)
    parser.add_argument('--readers', type=int, default=64)
    parser.add_argument('--cached', action='store_true', help='let the kernel keep what was read')
    parser.add_argument('--threads', type=int, help="of the daemon's")
    parser.add_argument('--group', type=int, metavar='MIB', help='kill the daemon where it needs more')
    return parser.parse_args()


def main():
    arguments = parse()
    options = [] if arguments.cached else ['-o', 'direct_io=on']
    if arguments.threads:
        options += ['-o', f'threads={arguments.threads}']
    group = Group(arguments.group * MEBIBYTE) if arguments.group else None
    with scratch() as directory:
        write_large(directory / 'large.root')
        most, bound = soak(directory / 'large.root', arguments.seconds, arguments.readers, options, group)
    reported = f'{most / MEBIBYTE:.1f} MiB at most, {bound / MEBIBYTE:.1f} MiB promised'
    if group:
        reported += f'; {group.most() / MEBIBYTE:.1f} MiB at most in the group, files included'
        group.remove()
    print(reported)
    sys.exit(most > bound)


if __name__ == '__main__':
    main()
