# SPDX-License-Identifier: MIT
"""A damaged page gives EIO on the blocks that it touches, and one line in the log; all else
stays readable."""
import errno
import json
import os
import shutil

import numpy as np

from harness import (NTUPLE, Foreground, case, command, data, errors_of, fails, flip, lines, mounted,
                     ntuplefs, pread, run,
                     same, scratch)

BLOCK = 4096
EVENT = (10000000000 + 3 * np.arange(1000)).astype('<u8').tobytes()


def damaged_example(directory):
    """A copy of the example with a bit flipped in the last page of Events/event: the copy, and
    that page."""
    with mounted(data('example.root')) as top:
        page = lines(top / 'Events/event/column.0/pages.jsonl')[-1]
    copy = directory / 'damaged.root'
    shutil.copy(data('example.root'), copy)
    flip(copy, page['file_offset'] + page['stored_bytes'] // 2)
    return copy, page


@case
def only_the_blocks_of_the_page_fail():
    with scratch() as directory:
        copy, page = damaged_example(directory)
        first = page['first_element'] * 8 // BLOCK * BLOCK
        with mounted(copy) as top:
            path = top / 'Events/event/data.bin'
            same(path.stat().st_size, len(EVENT))
            for offset in range(0, len(EVENT), BLOCK):
                if offset < first:
                    same(pread(path, BLOCK, offset), EVENT[offset:offset + BLOCK])
                else:
                    fails(errno.EIO, pread, path, BLOCK, offset)


@case
def past_the_page_cache_only_the_bytes_of_the_page_fail():
    with scratch() as directory:
        copy, page = damaged_example(directory)
        first = page['first_element'] * 8
        with mounted(copy) as top:
            path = top / 'Events/event/data.bin'
            same(pread(path, first, 0, os.O_DIRECT), EVENT[:first])
            fails(errno.EIO, pread, path, 8, first, os.O_DIRECT)
            fails(errno.EIO, pread, path, first + 8, 0, os.O_DIRECT)


@case
def a_page_that_another_program_damaged_fails():
    expected = json.loads(data('damaged_page.json').read_text())['datasets']['compressed']['fields']
    first, last = expected['noise']['damaged']['rows']
    with mounted(data('damaged_page.root')) as top:
        path = top / 'compressed/noise/data.bin'
        fails(errno.EIO, pread, path, 8, 8 * first, os.O_DIRECT)
        fails(errno.EIO, pread, path, 8, 8 * (last - 1), os.O_DIRECT)
        rest = np.frombuffer(pread(path, 1 << 20, 8 * last, os.O_DIRECT), '<u8')
        for entry, value in expected['noise']['sample'].items():
            if int(entry) >= last:
                same(int(rest[int(entry) - last]), value, f'entry {entry}')


@case
def other_fields_and_the_stored_bytes_stay_readable():
    with scratch() as directory:
        copy, page = damaged_example(directory)
        with mounted(copy) as top:
            fails(errno.EIO, (top / 'Events/event/data.bin').read_bytes)
            same(len((top / 'Events/run/data.bin').read_bytes()), 4000)
            raw = (top / f'Events/event/column.0/pages/{page["page"]}.raw').read_bytes()
            same(raw, copy.read_bytes()[page['file_offset']:page['file_offset'] + page['stored_bytes']])


@case
def every_kind_of_read_fails_with_EIO():
    with scratch() as directory:
        copy, _ = damaged_example(directory)
        with mounted(copy) as top:
            for name in 'data.bin', 'data.npy', 'column.0/data.bin', 'column.0/data.npy', 'rows.jsonl':
                fails(errno.EIO, (top / 'Events/event' / name).read_bytes)


def read_until_it_fails(path):
    """All that can be read from the start, and the final error."""
    found = bytearray()
    with open(path, 'rb', buffering=0) as file:
        while True:
            try:
                piece = file.read(1 << 20)
            except OSError as problem:
                return bytes(found), problem.errno
            if not piece:
                return bytes(found), None
            found += piece


@case
def every_row_before_the_damage_is_given():
    with scratch() as directory:
        copy, page = damaged_example(directory)
        with mounted(data('example.root')) as top:
            rows = (top / 'Events/rows.jsonl').read_bytes().splitlines(keepends=True)
        with mounted(copy) as top:
            expected = b''.join(rows[:page['first_element']])
            same(read_until_it_fails(top / 'Events/rows.jsonl'), (expected, errno.EIO))
            same(read_until_it_fails(top / 'Events/rows.jsonl'), (expected, errno.EIO))
        result = command(NTUPLE, 'cat', copy, 'Events/rows.jsonl')
        same((result.returncode != 0, result.stdout), (True, expected))


@case
def verify_on_open_makes_the_open_fail():
    with scratch() as directory:
        copy, _ = damaged_example(directory)
        with mounted(copy, options=['-o', 'verify=open']) as top:
            for name in 'event/data.bin', 'event/data.npy', 'event/column.0/data.bin', 'table.arrow':
                fails(errno.EIO, open, top / 'Events' / name, 'rb')
            same(len((top / 'Events/run/data.bin').read_bytes()), 4000)
            constants = top / 'calibration/Constants/table.arrow'
            same(len(constants.read_bytes()), constants.stat().st_size)
            same((top / '.ntuplefs/errors.jsonl').read_bytes().count(b'\n'), 1)


@case
def a_bad_page_is_reported_once_on_one_line():
    with scratch() as directory:
        copy, page = damaged_example(directory)
        with Foreground(copy) as mount:
            for _ in range(10):
                fails(errno.EIO, (mount.mountpoint / 'Events/event/data.bin').read_bytes)
            records = errors_of(mount.mountpoint)
            same(len(records), 1)
            same((records[0]['file_offset'], records[0]['expected']), (page['file_offset'], page['checksum']))
            messages = mount.messages()
            same(len(messages), 1, messages)
            assert messages[0].startswith('ntuplefs: ') and 'event' in messages[0], messages


@case
def a_source_that_is_cut_while_mounted_gives_errors_and_never_fewer_bytes():
    with scratch() as directory:
        copy = directory / 'copy.root'
        shutil.copy(data('example.root'), copy)
        with mounted(copy) as top:
            path = top / 'Events/event/data.bin'
            same(path.stat().st_size, len(EVENT))
            os.truncate(copy, 1000)
            try:
                path.read_bytes()
            except OSError as error:
                assert error.errno in (errno.EIO, errno.ESTALE), error
            else:
                raise AssertionError('reading succeeded')


@case
def no_mount_comes_of_a_damaged_header():
    with scratch() as directory:
        copy = directory / 'copy.root'
        shutil.copy(data('example.root'), copy)
        with mounted(copy) as top:
            layout = lines(top / 'layout.jsonl')
        for record in layout:
            if record['owner'] == 'header':
                flip(copy, record['file_offset'] + record['stored_bytes'] // 2)
        result = ntuplefs(copy, directory / 'mnt')
        assert result.returncode in (0, 5), result
        if result.returncode == 5:
            same((os.path.exists(directory / 'mnt'), result.stderr.count(b'\n')), (False, 1))


run()
