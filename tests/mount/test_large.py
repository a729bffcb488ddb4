# SPDX-License-Identifier: MIT
"""Large pages from start to end, with and without replies from the pages of the cache: the same
bytes for any kind of request."""
import ctypes
import errno
import os
import platform
import struct
import threading
import time
from contextlib import suppress

import numpy as np

from harness import (Skip, case, cat_lines, decoder_of, errors_of, flip, libfuse_lacks, mounted, run, same,
                     scratch, stats)
from soak import COLUMNS, ENTRIES, values, write_large

COLUMN = COLUMNS - 1  # with the largest pages
LEAST_PINNED = 32 * 1024


def read_pieces(path, piece):
    descriptor = os.open(path, os.O_RDONLY)
    pieces = []
    while pieces == [] or pieces[-1]:
        pieces.append(os.read(descriptor, piece))
    os.close(descriptor)
    return b''.join(pieces)


def check_column(top, column, can_be_mapped):
    expected = values(column, 0, ENTRIES)
    folder = top / f'Events/c{column}'
    for piece in 1 << 20, 1 << 17, 100000, expected.nbytes:
        same(read_pieces(folder / 'data.bin', piece), expected.tobytes(),
             f'column {column} in pieces of {piece}')
    same(np.load(folder / 'data.npy').tobytes(), expected.tobytes(), f'column {column}, data.npy')
    if can_be_mapped:
        same(np.load(folder / 'data.npy', mmap_mode='r').tobytes(), expected.tobytes(),
             f'column {column}, mapped')


@case
def large_pages_are_served_alike_in_all_ways():
    with scratch() as directory:
        write_large(directory / 'large.root')
        for options in ['direct_io=on'], ['direct_io=off'], ['direct_io=on,threads=1'], [
                'direct_io=on,cachesize=2M'], \
                ['direct_io=on,cachesize=17M,threads=8']:
            with mounted(directory / 'large.root', options=['-o', *options]) as top:
                for column in 0, COLUMN:
                    check_column(top, column, 'direct_io=off' in options or not libfuse_lacks())
                same((top / '.ntuplefs/errors.jsonl').read_bytes(), b'')


@case
def with_direct_io_replies_come_from_the_pages_themselves():
    with scratch() as directory:
        write_large(directory / 'large.root')
        with mounted(directory / 'large.root', options=['-o', 'direct_io=on']) as top:
            read_pieces(top / f'Events/c{COLUMN}/data.bin', 1 << 20)
            pinned = stats(top)['pinned_bytes']
            same(ENTRIES * 4 - pinned < LEAST_PINNED, True, f'{pinned} bytes of {ENTRIES * 4}')
            same(stats(top)['decoded_bytes'], ENTRIES * 4)
            read_pieces(top / f'Events/c{COLUMN}/data.bin', 4096)
            same(stats(top)['pinned_bytes'], pinned)


SCHED_GETATTR = {'x86_64': 315, 'aarch64': 275}


def slice_of(thread):
    """The time slice of a thread, in nanoseconds; 0 if the kernel does not support it."""
    size = 48
    attributes = ctypes.create_string_buffer(size)
    number = SCHED_GETATTR.get(platform.machine())
    if number is None:
        raise Skip(f'the number of sched_getattr on {platform.machine()} is not known here')
    if ctypes.CDLL(None, use_errno=True).syscall(number, thread, attributes, size, 0):
        raise OSError(ctypes.get_errno(), 'sched_getattr')
    return struct.unpack_from('<Q', attributes, 24)[0]


@case
def with_many_readers_receivers_get_short_slices():
    if not slice_of(0):
        raise Skip('the kernel does not have a slice for each thread (Linux 6.12)')
    with scratch() as directory:
        write_large(directory / 'large.root')
        with mounted(directory / 'large.root', options=['-o', 'direct_io=on,threads=2']) as top:
            process = decoder_of(top)

            def slices():
                found = set()
                for thread in os.listdir(f'/proc/{process}/task'):
                    with suppress(ProcessLookupError):  # it may end meanwhile
                        found.add(slice_of(int(thread)))
                return found
            read_pieces(top / f'Events/c{COLUMN}/data.bin', 1 << 17)
            same(slices(), {slice_of(0)}, 'one reader')
            seen = set()
            deadline = time.monotonic() + 20

            def look():
                # During the read. After they close their files, one thread waits for requests
                # again, with the usual time slice.
                seen.update(slices())
                if min(seen) < slice_of(0) or time.monotonic() > deadline:
                    enough.set()
            enough = threading.Event()
            turn = threading.Barrier(16, action=look)

            def read_in_turns():
                descriptor = os.open(top / f'Events/c{COLUMN}/data.bin', os.O_RDONLY)
                while not enough.is_set():
                    os.pread(descriptor, 1 << 17, 0)
                    turn.wait()
                os.close(descriptor)
            threads = [threading.Thread(target=read_in_turns) for _ in range(turn.parties)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            same(min(seen) < slice_of(0), True, f'{seen} of sixteen readers')


def failure_of(source, options):
    """How reading a column ends, and its lines in errors.jsonl."""
    with mounted(source, options=['-o', options]) as top:
        try:
            read_pieces(top / f'Events/c{COLUMN}/data.bin', 1 << 20)
        except OSError as problem:
            return problem.errno, [(line['path'], line['status'], line['found']) for line in errors_of(top)]
    raise AssertionError(f'{options}: no error')


@case
def a_damaged_page_fails_the_same_with_each_reply_path():
    with scratch() as directory:
        source = directory / 'large.root'
        write_large(source)
        pages = cat_lines(source, f'Events/c{COLUMN}/column.0/pages.jsonl')
        flip(source, pages[3]['file_offset'] + 100)
        found = failure_of(source, 'direct_io=on')
        same(found, failure_of(source, 'direct_io=off'))
        same((found[0], len(found[1])), (errno.EIO, 1))


run()
