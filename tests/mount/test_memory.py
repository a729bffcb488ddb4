# SPDX-License-Identifier: MIT
"""The daemon's memory stays within its limit for any number of readers, and they read correct
values."""
import os
import random

from harness import IS_SANITIZED, Foreground, case, high_water, run, same, scratch
from soak import CACHE, COLUMNS, ELEMENT, ENTRIES, MEBIBYTE, promised, read_at_once, soak, values, write_large


def check(most, bound):
    if not IS_SANITIZED:  # allocators that keep freed memory
        assert most <= bound, f'{most / MEBIBYTE:.1f} MiB, {bound / MEBIBYTE:.1f} MiB are promised'


@case
def sixty_four_readers_stay_within_what_is_promised():
    with scratch() as directory:
        write_large(directory / 'large.root')
        for threads in 2, 16:
            check(*soak(directory / 'large.root', 5, options=['-o', f'direct_io=on,threads={threads}']))


def open_read_and_close(top, number, times):
    chance = random.Random(number)
    for _ in range(times):
        column, row = chance.randrange(COLUMNS), chance.randrange(ENTRIES)
        with open(top / f'Events/c{column}/data.bin', 'rb', buffering=0) as file:
            same(os.pread(file.fileno(), ELEMENT, ELEMENT * row), values(column, row, 1).tobytes(), column)


def peak_after(mount, times):
    """The daemon's peak memory after 64 readers have each opened and closed so many files."""
    read_at_once(mount, 64, open_read_and_close, times)
    return high_water(mount.decoder)


@case
def files_that_are_closed_leave_nothing_behind():
    """The kernel reports later that a file is closed. These reports must not fall behind more and more."""
    with scratch() as directory:
        write_large(directory / 'large.root')
        with Foreground(directory / 'large.root', options=['-o', 'direct_io=on,cachesize=1M']) as mount:
            before, after = peak_after(mount, 20), peak_after(mount, 120)
            check(after, before + 2 * MEBIBYTE)


@case
def many_texts_that_are_read_by_turns_are_right_and_within_what_is_promised():
    texts, size, rounds = 64, 128 << 10, 3
    with scratch() as directory:
        write_large(directory / 'large.root')
        with Foreground(directory / 'large.root', options=['-o', f'cachesize={CACHE}']) as mount:
            for name in 'rows.jsonl', 'table.csv':
                path = mount.mountpoint / 'Events' / name
                with open(path, 'rb') as file:
                    expected = file.read(size * rounds)
                files = [open(path, 'rb', buffering=0) for _ in range(texts)]
                for number in range(rounds):
                    for file in files:
                        found = b''
                        while len(found) < size:
                            found += file.read(size - len(found))
                        same(found, expected[size * number:size * (number + 1)], f'{name}, part {number}')
                for file in files:
                    file.close()
            check(high_water(mount.decoder), promised(mount.mountpoint))


run()
