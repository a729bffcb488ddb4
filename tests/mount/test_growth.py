# SPDX-License-Identifier: MIT
"""BLZ arrays and tables that grow and shrink while they are mounted, in bcolz's way: chunks
first, then sizes, which are written in place."""
import contextlib
import errno
import json
import os
import struct
from pathlib import Path

import numpy

from harness import case, errors_of, fails, mounted, run, same, scratch

CHUNK = 10


def chunk_file(first, count):
    """Rows from `first` on; row i is 3 i."""
    numbers = struct.pack(f'<{count}i', *(3 * i for i in range(first, first + count)))
    header = b'blpk' + struct.pack('<4Bq', 1, 0, 0, 0, 1)
    return header + struct.pack('<4BIII', 2, 1, 2, 4, len(numbers), len(numbers), len(numbers) + 16) + numbers


def resize(array, rows):
    """The chunks that change, and then the sizes."""
    sizes = array / 'meta/sizes'
    former = json.loads(sizes.read_text())['shape'][0] if sizes.exists() else 0
    for folder in 'meta', 'data':
        (array / folder).mkdir(parents=True, exist_ok=True)
    for number in range(max(former, rows) // CHUNK + 1):
        path, count = array / f'data/__{number}.blp', min(CHUNK, rows - number * CHUNK)
        if count <= 0:
            path.unlink(missing_ok=True)
        elif (number + 1) * CHUNK > min(former, rows):
            path.write_bytes(chunk_file(number * CHUNK, count))
    (array / 'meta/storage').write_text('{"dtype": "int32", "bparams": {}, "chunklen": 10, "dflt": 0}')
    sizes.write_text(json.dumps({'shape': [rows], 'nbytes': 4 * rows, 'cbytes': 4 * rows}))
    return array


def check(field, rows):
    same(numpy.load(field / 'data.npy').tolist(), [3 * i for i in range(rows)], f'{field} of {rows} rows')


@case
def rows_that_are_appended_are_there_at_the_next_look():
    with scratch() as directory:
        array = resize(directory / 'array', 25)
        (directory / 'folder').mkdir()
        inner = resize(directory / 'folder/inner', 25)
        with mounted(array, directory / 'folder') as mountpoint:
            fields = {array: mountpoint / 'array/array/values',
                      inner: mountpoint / 'folder/inner/inner/values'}
            for path, field in fields.items():
                check(field, 25)
                for rows in (26, 30, 31, 70, 20, 0, 45):
                    inode = os.stat(field).st_ino
                    resize(path, rows)
                    check(field, rows)
                    same(os.stat(field).st_ino != inode, True, 'inodes of its own')
                    same(json.loads((field.parent / 'ntuple.json').read_text())['entries'], rows)
            names = os.listdir(mountpoint / 'array/array')
            same([name for name in names if name.startswith('versions')], [], 'what has no versions')
            same(errors_of(mountpoint), [])


@case
def what_is_open_continues_where_its_chunks_are_as_they_were():
    with scratch() as directory:
        array = resize(directory / 'array', 25)
        with mounted(array) as mountpoint, open(mountpoint / 'array/values/data.bin', 'rb') as file:
            resize(array, 45)
            same(os.pread(file.fileno(), 80, 0), struct.pack('<20i', *(3 * i for i in range(20))),
                 'chunks that were not touched')
            same(os.fstat(file.fileno()).st_size, 100)
            check(mountpoint / 'array/values', 45)


@contextlib.contextmanager
def looked_at(array, rows):
    """A mount that has looked up the field and read nothing: its directory, and its values at
    that time."""
    with mounted(resize(array, rows)) as mountpoint:
        same(os.stat(mountpoint / 'array/values/data.bin').st_size, 4 * rows)
        former = os.open(mountpoint / 'array/values', os.O_RDONLY | os.O_DIRECTORY)
        try:
            yield mountpoint, Path(f'/proc/self/fd/{former}/data.bin')
        finally:
            os.close(former)


@case
def chunks_that_were_cut_are_stale_and_not_damaged():
    with scratch() as directory, looked_at(directory / 'array', 4096) as (mountpoint, former):
        resize(directory / 'array', 25)
        fails(errno.ESTALE, former.read_bytes)
        check(mountpoint / 'array/values', 25)
        same(['was modified since it was opened' in line['what'] for line in errors_of(mountpoint)], [True])


@case
def chunks_that_are_cut_while_they_are_read_are_stale():
    """Not all of 2,000 files stay open."""
    with scratch() as directory, looked_at(directory / 'array', 20000) as (mountpoint, former):
        with open(former, 'rb', buffering=0) as file:
            same(len(os.pread(file.fileno(), 40, 0)), 40)
            resize(directory / 'array', 25)
            fails(errno.ESTALE, os.pread, file.fileno(), 40, 40000)
        check(mountpoint / 'array/values', 25)


@case
def a_chunk_that_is_missing_from_what_did_not_change_is_damage():
    with scratch() as directory, looked_at(directory / 'array', 4096) as (mountpoint, former):
        (directory / 'array/data/__405.blp').unlink()
        fails(errno.EIO, former.read_bytes)
        same(["the chunk's file is missing" in line['what'] for line in errors_of(mountpoint)], [True])


@case
def a_table_grows_when_its_last_column_has():
    with scratch() as directory:
        table = directory / 'table'
        columns = [resize(table / name, 25) for name in ('first', 'inner/a', 'inner/b')]
        (table / '__rootdirs__').write_text('{"names": ["first", "inner"], "dirs": {"first": "first"}}')
        (table / 'inner/__rootdirs__').write_text('{"names": ["a", "b"]}')
        with mounted(table) as mountpoint:
            fields = [mountpoint / 'table' / name for name in ('first', 'inner/a', 'inner/b')]
            for field in fields:
                check(field, 25)
            for rows in (45, 70):
                for column in columns:
                    resize(column, rows)
                for field in fields:
                    check(field, rows)
            resize(table / 'more', 70)
            (table / '__rootdirs__').write_text('{"names": ["first", "inner", "more"], '
                                            '"dirs": {"first": '
                                                '"first"}}')
            check(mountpoint / 'table/more', 70)
            same(errors_of(mountpoint), [])


@case
def sizes_that_are_half_written_are_an_error_until_they_are_whole():
    with scratch() as directory:
        array = resize(directory / 'array', 25)
        with mounted(array) as mountpoint:
            check(mountpoint / 'array/values', 25)
            (array / 'meta/sizes').write_text('{"shape": [')
            same('error.json' in os.listdir(mountpoint), True)
            (array / 'meta/sizes').write_text('{"shape": [25], "nbytes": 100, "cbytes": 100}')
            check(mountpoint / 'array/values', 25)


run()
