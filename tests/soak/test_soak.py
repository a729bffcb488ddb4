#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The soak's checks find wrong bytes, mixtures of two states, short files, unexpected errors,
and growth. Directories of ordinary files replace mounts."""
import errno
import json
import time
import unittest.mock

from places import Place, harness
from reader import Reader, read_at
from report import MEBIBYTE, gather, growth, is_flat, is_good, of_histogram, over_time, text

case, same = harness.case, harness.same
OLD, NEW = b'old ' * 50_000, b'new ' * 50_000


def findings(found, *truths, errors=(), name='a/data.bin', is_there=True):
    """Of everything that a reader does with a file that returns `found`."""
    with harness.scratch() as directory:
        trees = [directory / f'truth{k}' for k in range(len(truths))]
        for tree, content in zip([directory / 'mnt', *trees], [found if is_there else None, *truths]):
            (tree / name).parent.mkdir(parents=True)
            if content is not None:
                (tree / name).write_bytes(content)
        place = Place('place', [directory], trees, errors=frozenset(errors), files=[name],
                      mountpoint=directory / 'mnt')
        reader = Reader(1, [place], time.monotonic() + 60, directory / 'reader-1.jsonl')
        reader.MANNERS = [Reader.read_whole, Reader.read_ranges, Reader.read_mapped]
        for _ in range(60):
            reader.read_something()
        reader.report_counts()
        reported = gather(directory)
        return {entry['finding'] for entry in reported['findings']}, set(reported['expected'])


@case
def what_is_right_is_no_finding():
    same(findings(OLD, OLD), (set(), set()))
    same(findings(NEW, OLD, NEW), (set(), set()))


@case
def one_wrong_byte_is_found():
    same(findings(OLD[:-1] + b'x', OLD)[0], {'wrong'})


@case
def a_mixture_of_two_states_is_found():
    same(findings(OLD[:100_000] + NEW[100_000:], OLD, NEW)[0], {'wrong'})


@case
def a_short_file_is_found():
    same(findings(OLD[:-4], OLD)[0], {'wrong'})


@case
def a_read_that_is_short_because_of_an_error_is_that_error():
    given = iter([b'ab', OSError(errno.ESTALE, 'changed')])

    def pread(descriptor, count, offset):
        what = next(given)
        if isinstance(what, OSError):
            raise what
        return what

    with unittest.mock.patch('os.pread', pread):
        try:
            same(read_at(3, 4, 0), 'an error')
        except OSError as error:
            same(error.errno, errno.ESTALE)


@case
def an_error_is_a_finding_where_it_was_not_requested():
    same(findings(OLD, OLD, is_there=False), ({'error'}, set()))
    same(findings(OLD, OLD, is_there=False, errors=[errno.ENOENT]), (set(), {'place ENOENT'}))


@case
def growth_is_that_of_the_line_through_the_samples():
    same(round(growth([0, 10, 20, 30], [5, 6, 7, 8]), 6), 3)
    same(round(growth([0, 10, 20, 30], [5, 8, 8, 5]), 6), 0)


@case
def what_comes_and_goes_is_no_growth_and_what_stays_is():
    times = range(0, 2400, 10)
    more_often = [8 if time % 70 < time / 60 else 0 for time in times]
    same(more_often.count(8) > 50, True)
    same(round(growth(times, more_often), 6), 0)
    same(round(growth(times, [also + 3 * time / 2390 for also, time in zip(more_often, times)]), 1), 3)


def grown(by, descriptors=0, deleted=0, threads=0):
    return over_time({'it': [(second, (60 + by * second / 2400) * MEBIBYTE, 10 + descriptors * second / 2400,
                              4 + threads * second // 2400, deleted)
                             for second in range(0, 3600, 10)]}, 3600)[0]


@case
def memory_and_descriptors_that_grow_are_found():
    same([is_flat(grown(by)) for by in (0, 1, 5)], [True, True, False])
    same(is_flat(grown(0, descriptors=10)), False)
    same(is_flat(grown(0, deleted=30)), False)
    same([is_flat(grown(0, threads=threads)) for threads in (3, 100)], [True, False])
    report = {'findings': [], 'done': {'read': 1}, 'over_time': [grown(5)]}
    same([is_good({**report, 'minutes': minutes}) for minutes in (1, 60)], [True, False])
    same(is_good({**report, 'minutes': 60, 'over_time': [], 'done': {}}), False)


@case
def the_last_line_says_all():
    report = {'minutes': 60.0, 'seed': 1, 'sources': 2, 'mounts': 1, 'files': 3,
              'done': {'read': 1500, 'list': 2}, 'bytes': 5.1e9, 'events': {},
              'expected': {}, 'latencies': {}, 'over_time': [grown(5), grown(0)],
              'findings': [{'finding': 'wrong', 'what': 'a byte'},
                                                                                         {'finding': 'stuck',
            'what': 'a reader'}]}
    same(list(text(report))[-1],
         '1,502 reads and listings of 5.1 GB, 1 wrong, 1 other findings, 1 growing processes')


@case
def latencies_are_those_of_the_steps():
    found = of_histogram({-60: 98, -40: 1, 0: 1})      # of 1, 10 and 1000 ms
    same([found['count'], found['median'] < 0.002, 0.009 < found['p99'] < 0.02, 0.9 < found['most'] < 1.2],
         [100, True, True, True])
    json.dumps(found)


harness.run(needs_fuse=False)
