#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Read files in a process and in its forked children, with threads, all at once: all values are
as written. Exit status 1 with the reason if not, or if a process does not end.

usage: forking.py fork|pool METHOD SECONDS ADDRESS...        files of write_large, and arrays of
                                                             blz_array that count on; for others,
                                                             ADDRESS=PATH: the contents are those
                                                             of PATH

METHOD: fork, forkserver, spawn: how multiprocessing starts the processes of a pool
"""
import faulthandler
import multiprocessing
import os
import random
import signal
import sys
import threading
import time
import traceback

import numpy as np

import ntuple

IN_TIME = 100  # seconds for one process, on a busy machine, too
THREADS, READS, PROCESSES, PARTS = 3, 8, 3, 40
OPENED = []


def limit(seconds):
    """The stack of this process, which then prints its state and ends."""
    faulthandler.register(signal.SIGALRM, chain=True)
    signal.alarm(seconds)


class Opened:
    """A file, and the one with the expected values, if these are not known."""

    def __init__(self, address):
        address, _, path = address.partition('=')
        self.file, self.expected = ntuple.open(address), ntuple.open(path).only() if path else None


def open_all(addresses):
    OPENED[:] = [Opened(address) for address in addresses]


def read(opened, chance):
    """Some entries of some columns: are they as expected?"""
    dataset = opened.file.only()
    if opened.expected:
        return read_column(dataset, opened.expected, chance)
    count = chance.choice((10, 1000, 30000))
    first = chance.randrange(dataset.entries - count)
    numbers = np.arange(first, first + count)
    if dataset.fields[0].path == 'values':
        expected = {'values': numbers.astype('int32')}
    else:
        expected = {f'c{c}': (c * 1000003 + 7 * numbers).astype('uint32')
                    for c in chance.sample(range(48), 3)}
    found = dataset.arrays(list(expected), entries=(first, first + count))
    for name, values in expected.items():
        if not np.array_equal(found[name], values):
            raise AssertionError(f'wrong values: {dataset}, {name} from {first}: {found[name][:5]}')
    return 1


def columns_of(fields):
    for field in fields:
        if 'data' in field.streams and field.dtype is not None:
            yield field.path
        yield from columns_of(field.fields)


def read_column(dataset, expected, chance):
    path = chance.choice(list(columns_of(expected.fields)))
    found = dataset.field(path)[:], expected.field(path)[:]
    if not np.array_equal(*found):
        raise AssertionError(f'wrong values: {dataset}, {path}: {found}')
    return 1


def read_by_threads(files, is_enough):
    """All failures, as texts; they are also printed where they happen."""
    failures = []

    def work(number):
        chance, reads = random.Random(), 0
        try:
            while not is_enough(reads):
                reads += read(chance.choice(files), chance)
        except BaseException:
            failures.append(traceback.format_exc())
            sys.stderr.write(failures[-1])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    return threads, failures


def read_in_child(depth):
    """Does not return. Some children fork, too."""
    limit(IN_TIME)
    random.seed()
    children = [child(depth - 1) for _ in range(depth)]
    threads, failures = read_by_threads(OPENED, lambda reads: reads == READS)
    for thread in threads:
        thread.join()
    os._exit(1 if failures or not all(ended_well(process) for process in children) else 0)


def child(depth):
    process = os.fork()
    if process == 0:
        read_in_child(depth)
    return process


def ended_well(process):
    return os.waitpid(process, 0)[1] == 0


def fork_once(addresses):
    """While threads read. Killing a child harms no other process, and children close files
    before they end."""
    open_all(addresses)
    stop = threading.Event()
    threads, failures = read_by_threads(OPENED, lambda _: stop.is_set())
    children = []
    for _ in range(PROCESSES):
        time.sleep(random.random() * 0.05)
        children.append(child(random.choice((0, 0, 1))))
    killed = child(0)
    time.sleep(random.random() * 0.05)
    os.kill(killed, signal.SIGKILL)
    os.waitpid(killed, 0)
    if random.random() < 0.5:
        stop.set()
        for thread in threads:
            thread.join()
        for opened in OPENED:
            opened.file.close()
    is_good = all([ended_well(process) for process in children])
    stop.set()
    for thread in threads:
        thread.join()
    if failures or not is_good:
        sys.exit('a process has failed')
    return len(children)


# ---- pools ----

def begin(addresses):
    """In a process of a pool: a forked one has the files."""
    limit(IN_TIME)
    if not OPENED:
        open_all(addresses)


def part(number):
    chance = random.Random(number)
    return read(OPENED[number % len(OPENED)], chance)


def use_pool(method, addresses):
    open_all(addresses)
    stop = threading.Event()
    threads, failures = read_by_threads(OPENED, lambda _: stop.is_set())
    with multiprocessing.get_context(method).Pool(PROCESSES, begin, (addresses,)) as pool:
        count = sum(pool.map_async(part, range(PARTS)).get(IN_TIME))
    stop.set()
    for thread in threads:
        thread.join()
    if failures or count != PARTS:
        sys.exit('a process has failed')
    return PROCESSES


def main(way, method, seconds, *addresses):
    end, processes, longest = time.monotonic() + float(seconds), 0, 0
    while not processes or time.monotonic() < end:
        limit(2 * IN_TIME)
        start = time.monotonic()
        processes += fork_once(addresses) if way == 'fork' else use_pool(method, addresses)
        longest = max(longest, time.monotonic() - start)
    print(f'{processes} processes, {longest:.1f} s at most')


if __name__ == '__main__':
    main(*sys.argv[1:])
