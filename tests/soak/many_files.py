#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A directory of 10,000 files: all are listed, each has its values, and the resources of the mount
do not grow with their number.

usage: many_files.py [FILES]
"""
import os
import struct
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'mount'))
from harness import Foreground, errors_of, fuse_problem, high_water, same, scratch  # noqa: E402

FOLDERS = 100
# bytes: of the cache, of the program, of the metadata of each file
CACHE, BASE, FILE = 16 << 20, 48 << 20, 2048
MAX_DESCRIPTORS = 256


def bitmap(number):
    """A Roaring bitmap of one array container: two integers, which identify the file."""
    return struct.pack('<IIHHIHH', 12346, 1, number >> 15, 1, 16, number & 0x7fff, 0xffff)


def values(number):
    high = (number >> 15) << 16
    return struct.pack('<II', high | number & 0x7fff, high | 0xffff)


def place(number):
    return f'{number % FOLDERS}/{number}.roaring'


def main():
    if problem := fuse_problem():
        print(f'skip everything: {problem}')
        return 77
    files = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with scratch() as directory:
        for number in range(files):
            path = directory / 'source' / place(number)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(bitmap(number))
        with Foreground(directory / 'source', options=['-o', f'cachesize={CACHE}']) as mount:
            start = time.monotonic()
            listed = sum(len(os.listdir(mount.mountpoint / str(folder))) for folder in range(FOLDERS))
            same(listed, files, 'files that are listed')
            listing = time.monotonic() - start
            for number in range(files):
                same((mount.mountpoint / place(number) / f'{number}/values/data.bin').read_bytes(),
                     values(number), place(number))
            same(errors_of(mount.mountpoint), [], 'errors')
            most, descriptors = high_water(mount.decoder), len(os.listdir(f'/proc/{mount.decoder}/fd'))
            print(f'{files} files listed in {listing:.1f} s and read in {time.monotonic() - start:.0f} s, '
                  f'{most / (1 << 20):.1f} MiB and {descriptors} descriptors at most')
            return int(most > CACHE + BASE + FILE * files or descriptors > MAX_DESCRIPTORS)


if __name__ == '__main__':
    sys.exit(main())
