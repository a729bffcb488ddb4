#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Arrays by bloscpack: the values that its own reader finds, and how much of a chunk a small
read decodes."""
import contextlib
import errno
import hashlib
import json
import os
import struct

import numpy as np

import harness
from blz_writer import blosc_file, blz_array
from harness import case, pread, run, same, stats

PIECE, BLOCK, CHUNK = 4096, 1 << 15, 1 << 21


def expected_of(name):
    return json.loads(harness.data(f'{name}.json').read_text())


@contextlib.contextmanager
def mounted(name, source=None):
    """The mountpoint of one file's mount, and the directory of its field."""
    with harness.mounted(source or harness.data(f'{name}.blp')) as mountpoint:
        yield mountpoint, mountpoint / name / 'values'


@case
def arrays_are_what_bloscpack_reads():
    names = sorted(path.stem for path in harness.DATA.glob('*.blp'))
    same(len(names), 5, 'files')
    for name in names:
        expected = expected_of(name)
        with mounted(name) as (mountpoint, field):
            array = np.load(field / 'data.npy')
            same(list(array.shape), expected['shape'], name)
            same(json.loads(json.dumps(array.dtype.descr if array.dtype.names else array.dtype.str)),
                 expected['dtype'], name)
            same(hashlib.sha256(array.tobytes()).hexdigest(), expected['sha256'], name)
            if 'rows' in expected:
                rows = [json.loads(line)['values']
                        for line in (mountpoint / name / 'rows.jsonl').read_text().splitlines()]
                same(rows, expected['rows'], name)
            for member in array.dtype.names or ():
                np.testing.assert_array_equal(np.load(field / member / 'data.npy'), array[member])


def numpy_file(array):
    """Like bloscpack writes an array, without compression, digests and spare room."""
    metadata = json.dumps({'container': 'numpy', 'dtype': f"'{array.dtype.str}'", 'shape': array.shape,
                           'order': 'C'}).encode()
    plain = array.tobytes()
    chunk = struct.pack('<4BIII', 2, 1, 2, array.itemsize, len(plain), len(plain), len(plain) + 16) + plain
    return (b'blpk' + struct.pack('<4Biiqq', 3, 2, 0, array.itemsize, len(plain), len(plain), 1, 0)
            + struct.pack('<8s4BIII8s', b'JSON', 0, 0, 0, 0, len(metadata), len(metadata), len(metadata),
                          b'') + metadata + chunk)


@case
def an_array_of_no_dimensions_has_none():
    """NumPy's own file of it is the expected one."""
    with harness.scratch() as directory:
        for array in np.array(2.5), np.array([2.5]), np.array([[2.5]]):
            np.save(directory / 'expected.npy', array)
            (directory / 'number.blp').write_bytes(numpy_file(array))
            with mounted('number', directory / 'number.blp') as (mountpoint, field):
                same((field / 'data.npy').read_bytes(), (directory / 'expected.npy').read_bytes(),
                     array.shape)
                same(json.loads((field / 'field.json').read_text())['shape'], list(array.shape))
                same(json.loads((mountpoint / 'number/rows.jsonl').read_text()),
                     {'values': [2.5] if array.ndim == 2 else 2.5})
        with harness.mounted('-o', 'entries=0:0', directory / 'number.blp') as mountpoint:
            same(np.load(mountpoint / 'number/values/data.npy').shape, (0, 1), 'of no entries')


@case
def an_array_of_blz_without_dimensions_has_none():
    with harness.scratch() as directory:
        array = blz_array(directory / 'array')
        (array / 'meta/sizes').write_text('{"shape": [], "nbytes": 4, "cbytes": 4}')
        (array / 'data/__0.blp').write_bytes(blosc_file(1))
        with harness.mounted(array) as mountpoint:
            same(np.load(mountpoint / 'array/values/data.npy').tolist(), 0)
            same(np.load(mountpoint / 'array/values/data.npy').shape, ())


@case
def a_columns_type_is_the_dtype_without_quotes():
    for name, text in ('blocks', '<i8'), ('structures', "[('x', '<i4'), ('y', '<f8')]"):
        with mounted(name) as (_, field):
            same(os.getxattr(field / 'column.0', 'user.ntuplefs.column_type').decode(), text)


@case
def small_reads_at_random_places_decode_only_the_blocks_that_they_touch():
    for name in 'blocks', 'blocks_with_digests':
        array = np.arange(expected_of(name)['shape'][0], dtype='<i8') * 3
        with mounted(name) as (mountpoint, field):
            offsets = [CHUNK + 5 * BLOCK, 40 * BLOCK + 2 * PIECE, CHUNK + 60 * BLOCK + PIECE, 20 * BLOCK]
            for i, offset in enumerate(offsets, 1):
                same(pread(field / 'data.bin', PIECE, offset), array.tobytes()[offset:offset + PIECE],
                     (name, offset))
                found = stats(mountpoint)
                same((found['blocks_decoded'], found['pages_decoded'], found['decoded_bytes']),
                     (i, 0, i * BLOCK), name)
            for offset in offsets:
                place = offset + 3 * PIECE
                same(pread(field / 'data.bin', PIECE, place), array.tobytes()[place:place + PIECE],
                     (name, place))
            same(stats(mountpoint)['blocks_decoded'], len(offsets), f'{name}: each block once')
            same(hashlib.sha256((field / 'data.bin').read_bytes()).hexdigest(), expected_of(name)['sha256'],
                 name)


def damaged(name, directory, block):
    """A copy whose first chunk has a block with an invalid offset."""
    content = bytearray(harness.data(f'{name}.blp').read_bytes())
    with harness.mounted(harness.data(f'{name}.blp')) as mountpoint:
        page = json.loads((mountpoint / name / 'values/column.0/pages.jsonl').read_text().splitlines()[0])
    place = page['file_offset'] + 16 + 4 * block
    content[place:place + 4] = b'\xff' * 4
    copy = directory / f'{name}.blp'
    copy.write_bytes(content)
    return copy


@case
def a_damaged_block_is_an_error_and_with_a_digest_so_is_its_chunk():
    for name, is_covered in ('blocks', False), ('blocks_with_digests', True):
        array = np.arange(expected_of(name)['shape'][0], dtype='<i8') * 3
        with harness.scratch() as directory, mounted(name, damaged(name, directory, 7)) as (mountpoint,
                field):
            harness.fails(errno.EIO, pread, field / 'data.bin', PIECE, 7 * BLOCK + PIECE)
            if is_covered:
                harness.fails(errno.EIO, pread, field / 'data.bin', PIECE, 40 * BLOCK)
            else:
                same(pread(field / 'data.bin', PIECE, 40 * BLOCK),
                     array.tobytes()[40 * BLOCK:40 * BLOCK + PIECE])
            same(pread(field / 'data.bin', PIECE, CHUNK + 9 * BLOCK),
                 array.tobytes()[CHUNK + 9 * BLOCK:][:PIECE])
            same(len((mountpoint / '.ntuplefs/errors.jsonl').read_text().splitlines()), 1, 'errors')


if __name__ == '__main__':
    run()
