#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A chain of 10,000 files: mounting and lookups cost as much as for one file, sizes open all
files once, and none with an index. Every file's values are correct, and the number of
descriptors does not grow. Columns of 10,000 files of 2,000 fields are read in 1 GiB,
of RNTuples and of trees.

usage: many_chained.py [FILES]
"""
import os
import struct
import sys
import time
from pathlib import Path

import numpy as np
import uproot

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'mount'))
from chains import by_uproot  # noqa: E402
from harness import (  # noqa: E402
    Foreground, data, errors_of, fuse_problem, high_water, same, scratch, wait_until
)

ITEMS = 1000
# the "ramp" of each file, from its writer
VALUES = struct.pack(f'<{ITEMS}i', *(i // 4 for i in range(ITEMS)))
PIECE = 250 * len(VALUES)
# bytes: of the program, and of each file before and after it is opened
BASE, FILE, OPENED = 48 << 20, 2048, 96 << 10
MAX_DESCRIPTORS = 192
FIELDS, WIDE_BYTES = 2000, 1 << 30


def timed(function, *arguments):
    start = time.monotonic()
    result = function(*arguments)
    return result, time.monotonic() - start


class Look:
    """A mount, with the CPU time that it used so far."""

    def __init__(self, files, mount):
        self.files, self.mount, self.values = files, mount, mount.mountpoint / 'compressed/ramp/data.bin'

    def descriptors(self):
        return len(os.listdir(f'/proc/{self.mount.decoder}/fd'))

    def report(self, what, seconds):
        print(f'{what}: {seconds:.2f} s, {high_water(self.mount.decoder) / (1 << 20):.0f} MiB and '
              f'{self.descriptors()} descriptors')

    def names(self):
        assert 'ramp' in os.listdir(self.mount.mountpoint / 'compressed')
        assert high_water(self.mount.decoder) < BASE + FILE * self.files, high_water(self.mount.decoder)

    def size(self):
        size, seconds = timed(lambda: self.values.stat().st_size)
        same(size, self.files * len(VALUES))
        return seconds

    def all_values(self):
        count = 0
        with open(self.values, 'rb', buffering=0) as file:
            while piece := file.read(PIECE):
                same(piece, VALUES * (len(piece) // len(VALUES)), count)
                count += len(piece)
        same(count, self.files * len(VALUES))
        same(errors_of(self.mount.mountpoint), [], 'errors')
        assert high_water(self.mount.decoder) < BASE + OPENED * self.files + (256 << 20), high_water(
                self.mount.decoder)
        assert self.descriptors() <= MAX_DESCRIPTORS, self.descriptors()


def tree_by_uproot(path, name, kinds, values):
    with uproot.recreate(path) as file:
        file.mktree(name, kinds).extend(values)


def read_wide(files, write, *options):
    names = [f'field{i}' for i in range(FIELDS)]
    values = {name: np.arange(3, dtype='i4') + i for i, name in enumerate(names)}
    with scratch() as directory:
        write(directory / 'first', 'wide', dict.fromkeys(names, 'int32'), values)
        content = (directory / 'first').read_bytes()
        for number in range(files):
            (directory / f'run{number:05}.root').write_bytes(content)
        with Foreground(directory / 'run*.root', options=['-o', ','.join(['chain', *options])]) as mount:
            for name in names[0], names[-1]:
                path = mount.mountpoint / 'wide' / name / 'data.bin'
                found, seconds = timed(path.read_bytes)
                same(found == values[name].tobytes() * files, True, name)
                most = high_water(mount.decoder)
                print(f'{name} of {files} files: {seconds:.2f} s, {most / (1 << 20):.0f} MiB')
            same(errors_of(mount.mountpoint), [], 'errors')
            assert most < WIDE_BYTES, most


def main():
    if problem := fuse_problem():
        print(f'skip everything: {problem}')
        return 77
    files = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    content = data('compression_zstd.root').read_bytes()
    with scratch() as directory:
        index = directory / 'index.jsonl'
        for number in range(files):
            (directory / f'run{number:05}.root').write_bytes(content)
        for what, options in (('', []), (', learning', ['-o', f'index={index}']),
                              (', known', ['-o', f'index={index}'])):
            start = time.monotonic()
            with Foreground(directory / 'run*.root', options=['-o', 'chain', *options]) as mount:
                seconds = time.monotonic() - start
                look = Look(files, mount)
                look.names()
                before = look.descriptors()
                look.report(f'{files} files mounted{what}', seconds)
                look.report('first size', look.size())
                assert (look.descriptors() == before) == (what == ', known'), (before, look.descriptors())
                _, seconds = timed(look.all_values)
                look.report('all values', seconds)
                if options:
                    wait_until(index.exists, 'the index')
    read_wide(files, by_uproot)
    with scratch() as directory:
        read_wide(files, tree_by_uproot, f'index={directory / "trees.jsonl"}')
    print('1 passed, 0 failed')
    return 0


if __name__ == '__main__':
    sys.exit(main())
