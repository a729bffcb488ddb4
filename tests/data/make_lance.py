#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the test files of Lance, each with its expected values.

usage: make_lance.py [NAME...]      needs pylance and NumPy: pip install pylance

pylance writes X.lance. X.json has what pylance's own reader finds in it: for each node of the
schema the digests of the files of the mounted tree (tests/support/arrow_columns.py), some rows,
and the encodings of the columns. The script names the encodings, and writes nothing if pylance
reports others. The values are reproducible; FSST chooses symbols at random. Files of the legacy
version 0.2 are the only file of a dataset of that version, which pylance can read; it stored no
nulls, except those of strings. For files in OLD, an earlier pylance writes X.lance with the same
command, and this one writes X.json. lance_unread/ has files that pylance cannot read, or reads
wrongly: there, X.json has what was written.
"""
import datetime
import decimal
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import lance
import numpy as np
import pyarrow as pa
from lance.file import LanceFileReader, LanceFileWriter

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'support'))
from arrow_columns import describe, table_columns, table_rows  # noqa: E402
from compare_columns import ENCODINGS  # noqa: E402
from lance_columns import read_columns  # noqa: E402

ROWS_KEPT, LONG = 12, 2000  # rows, characters of one


def random_of(name):
    return np.random.default_rng(sum(name.encode()))


def every(step, values, start=0):
    """The same with nulls: each `step`th from `start`."""
    return [None if row % step == start else value for row, value in enumerate(values)]


def table_of(*columns):
    """Columns are (name, array) or (name, array, {options of the encoder})."""
    fields = [pa.field(name, array.type, metadata={f'lance-encoding:{key}': value for key,
                                                   value in (reported[0] if reported else {}).items()})
              for name, array, *reported in columns]
    return pa.table([array for _, array, *_ in columns], schema=pa.schema(fields))


# ---- every type ----

def numbers(rows=24):
    columns = []
    for name in 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64':
        limits = np.iinfo(name)
        values = [int(limits.max), int(limits.min), *range(rows - 2)]
        columns.append((name, pa.array(every(5, values, 4), getattr(pa, name)())))
    floats = [0.25 * row for row in range(rows - 4)] + [float('nan'), float('inf'), float('-inf'), -0.0]
    columns += [(name, pa.array(every(7, floats, 3), kind)) for name, kind in
                (('half', pa.float16()), ('float', pa.float32()), ('double', pa.float64()))]
    columns += [('bool', pa.array(every(6, [row % 3 == 0 for row in range(rows)], 5))),
                ('null', pa.nulls(rows))]
    return table_of(*columns)


def decimals_and_times(rows=20):
    decimal.getcontext().prec = 80
    def column(name, values, kind):
        return name, pa.array(every(6, values, 5), kind)
    columns = [
        column('decimal128', [decimal.Decimal(row * 37 - 100).scaleb(-3) for row in range(rows)],
               pa.decimal128(20, 3)),
        column('decimal256', [decimal.Decimal(row * 10 ** 45 - 7).scaleb(-5) for row in range(rows)],
               pa.decimal256(60, 5)),
        column('date32', [datetime.date(1969, 12, 25) + datetime.timedelta(row) for row in range(rows)],
               pa.date32()),
        column('date64', [datetime.date(1969, 12, 25) + datetime.timedelta(row) for row in range(rows)],
               pa.date64())]
    ticks = [row * 86_399 // rows - 5 for row in range(rows)]
    positive = [max(tick, 0) for tick in ticks]
    columns += [column(f'time_{unit}', positive, pa.time32(unit)) for unit in ('s', 'ms')]
    columns += [column(f'time_{unit}', positive, pa.time64(unit)) for unit in ('us', 'ns')]
    for unit in 's', 'ms', 'us', 'ns':
        columns += [column(f'timestamp_{unit}', ticks, pa.timestamp(unit)),
                    column(f'zoned_{unit}', ticks, pa.timestamp(unit, 'Europe/Berlin')),
                    column(f'duration_{unit}', ticks, pa.duration(unit))]
    return table_of(*columns)


def texts(rows=30):
    words = ['', 'a', 'größer', '你好', 'a longer text of some bytes']
    values = every(7, [words[row % 5] + str(row) * (row % 2) for row in range(rows)], 6)
    data = [None if value is None else value.encode() + b'\0\xff' for value in values]
    return table_of(
        ('string', pa.array(values)), ('large_string', pa.array(values, pa.large_string())),
        ('binary', pa.array(data)), ('large_binary', pa.array(data, pa.large_binary())),
        ('fixed', pa.array([None if value is None else value[:5].ljust(5, b'-') for value in data],
                           pa.binary(5))),
        ('dictionary', pa.array(values).dictionary_encode()),
        ('small_dictionary', pa.array(every(4, ['x', 'y', 'z', 'x',
                                                'y'] * (rows // 5))).cast(pa.dictionary(pa.int8(),
                                                        pa.string()))))


def nested(rows=40, has_null_structures=True, has_maps=False):
    lists = [None if row % 7 == 6 else [row * 10 + k if (row + k) % 5 else None for k in range(row % 4)]
             for row in range(rows)]
    deep = [None if row % 9 == 8 else [None if (row + k) % 4 == 3 else [
        {'x': row * k + j, 'words': [f'{row}.{k}.{j}'] * j} for j in range((row + k) % 3)]
        for k in range(row % 3)] for row in range(rows)]
    structures = [{'a': row, 'b': {'c': row / 4 if row % 3 else None, 'd': f'd{row}' if row % 4 else None}}
                  for row in range(rows)]
    if has_null_structures:
        structures = every(5, [{**s, 'b': None if row % 6 == 1 else s['b']} for row,
                               s in enumerate(structures)], 3)
        deep = [row and [each and [None if item['x'] % 5 == 4 else item for item in each] for each in row]
                for row in deep]
    inner = pa.struct([('x', pa.int32()), ('words', pa.list_(pa.string()))])
    vectors = every(6, [[[row, k, row + k] for k in range(2)] for row in range(rows)], 4)
    columns = [
        ('list', pa.array(lists, pa.list_(pa.int32()))),
        ('large_list', pa.array(lists, pa.large_list(pa.int64()))),
        ('deep', pa.array(deep, pa.list_(pa.large_list(inner)))),
        ('structure', pa.array(structures, pa.struct([('a', pa.int32()),
                                                      ('b', pa.struct([('c', pa.float64()),
                                                              ('d', pa.string())]))]))),
        ('vectors', pa.array(vectors, pa.list_(pa.list_(pa.int16(), 3), 2))),
        ('lists_of_vectors', pa.array([None if row % 8 == 5 else [[row, k] for k in range(row % 3)]
                                       for row in range(rows)],
                                      pa.list_(pa.list_(pa.float32(), 2))))]
    columns += [
        ('full_lists', pa.array([[row] * (row % 3 + 1) for row in range(rows)], pa.list_(pa.uint8()))),
        ('null_lists', pa.array(every(4, [[row] * (row % 3 + 1) for row in range(rows)]),
                                pa.list_(pa.uint8()))),
        ('empty_lists', pa.array([[row] * (row % 3) for row in range(rows)], pa.list_(pa.uint8())))]
    if has_maps:
        maps = every(5, [[(f'k{k}', row * k if (row + k) % 4 else None) for k in range(row % 4)]
                         for row in range(rows)], 2)
        columns.append(('map', pa.array(maps, pa.map_(pa.string(), pa.int32()))))
    return table_of(*columns)


# ---- encodings ----

def mini_blocks(rows=1100):
    random = random_of('mini_blocks')
    few = [int(value).to_bytes(16, 'big') for value in random.integers(0, 2 ** 62, 9)]
    return table_of(
        ('flat', pa.array(random.integers(-2 ** 31, 2 ** 31, 300).astype('i4').tolist()
                          + [None] * (rows - 300), pa.int32())),
        ('inline_bits', pa.array(random.integers(0, 13, rows).astype('u2'))),
        ('inline_bits_with_nulls', pa.array(every(11, random.integers(0, 7, rows).tolist(), 2), pa.int64())),
        ('runs', pa.array(np.repeat(np.arange(rows // 50, dtype='i4') * 70_001, 50)),
         {'rle-threshold': '1.0'}),
        ('byte_planes', pa.array(np.arange(rows, dtype='f4') / 8), {'bss': 'on', 'compression': 'lz4'}),
        ('zstd', pa.array((np.arange(rows, dtype='i8') // 3) * 1_000_003), {'compression': 'zstd'}),
        ('strings', pa.array(every(13, [f'{row * 7919:x}' for row in range(rows)], 5)),
         {'compression': 'none'}),
        ('dictionary', pa.array(every(8, [f'word {row % 11}' for row in range(rows)], 1))),
        ('fixed_dictionary', pa.array([few[row * row % 9] for row in range(rows)], pa.binary(16)),
         {'dict-divisor': '2'}),
        ('bools', pa.array(every(5, (random.integers(0, 2, rows) > 0).tolist(), 3))))


def symbols(rows=1100):
    paths = [f'https://example.org/path/{row % 97}/file-{row}' for row in range(rows)]
    return table_of(('symbols', pa.array(paths), {'compression': 'fsst'}))


def packed(rows=280):
    vectors = every(9, [[row % 50, None if row % 4 == 1 else row % 7, 3] for row in range(rows)], 7)
    mask = pa.array([row % 4 == 1 for row in range(rows)])
    flags = [[row % 3 == 0, None if row % 5 == 2 else row % 2 == 0] for row in range(rows)]
    members = [pa.array(np.arange(rows, dtype='i4')), pa.array(np.arange(rows, dtype='u1') % 5),
               pa.array(np.arange(rows) / 2)]
    return table_of(
        ('vectors', pa.array(vectors, pa.list_(pa.int16(), 3))),
        ('flags', pa.array(flags, pa.list_(pa.bool_(), 2))),
        ('packed', pa.StructArray.from_arrays(members, names=['a', 'b', 'c']), {'packed': 'true'}),
        ('packed_with_nulls', pa.StructArray.from_arrays(members, names=['a', 'b', 'c'], mask=mask),
         {'packed': 'true'}),
        ('packed_nulls', pa.nulls(rows, pa.struct([('x', pa.int32()), ('y', pa.string())])),
         {'packed': 'true'}))


def full_zip(rows=24):
    random = random_of('full_zip')
    zipped = {'structural-encoding': 'fullzip'}
    long = [f'{row}: ' + 'text ' * (row % 5) for row in range(rows)]
    longer = [f'{row}' + 'text and more ' * 3000 if row % 8 == 1 else value for row, value in enumerate(long)]
    lists = [None if row % 6 == 4 else [f'{row}.{k}' if k != 1 else None for k in range(row % 4)]
             for row in range(rows)]
    vectors = every(9, [[row / 4, None if row % 4 == 1 else 1.5, 3] for row in range(rows)], 7)
    columns = [
        ('fixed', pa.array(every(5, random.integers(0, 2 ** 40, rows).tolist(), 2), pa.int64()), zipped),
        ('strings', pa.array(every(7, long, 3)), {**zipped, 'compression': 'none'}),
        ('lz4', pa.array(every(7, longer, 3)), {**zipped, 'compression': 'lz4'}),
        ('zstd', pa.array([value.encode() for value in longer]), {**zipped, 'compression': 'zstd'}),
        ('lists', pa.array(lists), zipped),
        ('numbers', pa.array([row and [number, None, 2][:len(row)] for number, row in enumerate(lists)],
                             pa.list_(pa.int32())), zipped),
        ('vectors', pa.array(vectors, pa.list_(pa.float32(), 3)), zipped),
        ('bools', pa.array([row % 3 == 1 for row in range(rows)]), zipped)]
    return table_of(*columns)


def zipped_symbols(rows=110):
    paths = [f'https://example.org/a/path/that/is/long/{row % 97}/file-{row}?query={row * 7}' * 3
             for row in range(rows)]
    return table_of(('symbols', pa.array(paths), {'structural-encoding': 'fullzip', 'compression': 'fsst'}))


def packed_strings(rows=40):
    members = [pa.array(np.arange(rows, dtype='i4')), pa.array([f'text {row}' * (row % 3)
                                                                for row in range(rows)])]
    mask = pa.array([row % 4 == 1 for row in range(rows)])
    return table_of(
        ('packed', pa.StructArray.from_arrays(members, names=['number', 'text']), {'packed': 'true'}),
        ('packed_with_nulls', pa.StructArray.from_arrays(members, names=['number', 'text'], mask=mask),
         {'packed': 'true'}))


def packed_members(rows=1000):
    """Members with their own encodings, and rows that are zipped although all members have fixed
    width."""
    half = pa.array((np.arange(rows) % 2048).astype('f2'))
    codes = pa.array([f'{row:05}'.encode() for row in range(rows)], pa.binary(5))
    vectors = pa.array([[row, row / 4] for row in range(rows)], pa.list_(pa.float32(), 2))
    paths = pa.array([f'https://example.org/path/{row % 97}/file-{row}' for row in range(rows)])
    return table_of(
        ('symbols', pa.StructArray.from_arrays([paths, codes], names=['path', 'code']), {'packed': 'true'}),
        ('fixed', pa.StructArray.from_arrays([half, codes, vectors], names=['half', 'code', 'vector']),
         {'packed': 'true'}))


def constants(rows=300):
    lists = [None if row % 4 == 3 else [None] * (row % 3) for row in range(rows)]
    return table_of(
        ('nulls', pa.nulls(rows, pa.float64())), ('null_strings', pa.nulls(rows, pa.string())),
        ('null_vectors', pa.nulls(rows, pa.list_(pa.float32(), 3))),
        ('null_items', pa.array(lists, pa.list_(pa.int32()))),
        ('number', pa.array([7] * rows, pa.int32())), ('some',
                                                       pa.array(every(3, [2.5] * rows), pa.float64())),
        ('text', pa.array(['the same'] * rows)), ('flag', pa.array([True] * rows)),
        ('equal_items', pa.array([None if row % 4 == 3 else [9] * (row % 3) for row in range(rows)],
                                 pa.list_(pa.int64()))))


def arrays(rows=200):
    return table_of(
        ('flat', pa.array(np.arange(rows, dtype='i4') * 3)),
        ('nullable', pa.array(every(7, list(range(rows)), 2), pa.uint16())),
        ('nulls', pa.nulls(rows, pa.int64())),
        ('null_dictionary', pa.nulls(rows, pa.dictionary(pa.int32(), pa.int64()))),
        ('vectors_of_nulls', pa.array(every(5, [[None, None]] * rows, 3), pa.list_(pa.int32(), 2))),
        ('bools', pa.array(every(5, [row % 3 == 0 for row in range(rows)], 3))),
        ('binary', pa.array(every(6, [f'{row * 7919:x}'.encode() for row in range(rows)], 1))),
        ('dictionary', pa.array(every(4, [f'word {row % 5}' for row in range(rows)], 3))),
        ('zstd', pa.array(np.arange(rows, dtype='i8') * 1_000_003), {'compression': 'zstd'}),
        ('lz4', pa.array(np.arange(rows, dtype='f8') / 4), {'compression': 'lz4'}),
        ('symbols', pa.array([f'https://example.org/{row}/{row * row}' for row in range(rows)]),
         {'compression': 'fsst'}),
        ('vectors', pa.array(every(9, [[row, row + 1, None if row % 4 else 5] for row in range(rows)], 7),
                             pa.list_(pa.int16(), 3))),
        ('packed', pa.StructArray.from_arrays([pa.array(np.arange(rows, dtype='i4')),
                                               pa.array(np.arange(rows) / 2)], names=['a', 'b']),
         {'packed': 'true'}))


def blobs(rows=30):
    content = [None if row % 6 == 4 else bytes([row]) * (row * 17 % 90) for row in range(rows)]
    return table_of(('number', pa.array(range(rows))), ('blob', pa.array(content, pa.large_binary()),
                                                        {'blob': 'true'}))


def blob_structures(rows=30):
    """Nested structures whose nulls are at the rows of the blobs that are their first member."""
    member = pa.field('blob', pa.large_binary(), metadata={'lance-encoding:blob': 'true'})
    inner = pa.struct([member, ('number', pa.int32())])
    content = [None if row % 6 == 4 else bytes([row]) * (row * 17 % 90) for row in range(rows)]
    values = [None if row % 7 == 3 else {'inner': None if row % 5 == 2 else {'blob': blob, 'number': row}}
              for row, blob in enumerate(content)]
    return table_of(('outer', pa.array(values, pa.struct([('inner', inner)]))),
                    ('alone', pa.array([value and value['inner'] for value in values], inner)))


def pages(rows=260):
    return table_of(
        ('number', pa.array(every(7, [row * 11 for row in range(rows)], 3), pa.int32())),
        ('list', pa.array([None if row % 9 == 5 else [row] * (row % 5) for row in range(rows)],
                          pa.list_(pa.int16()))),
        ('text', pa.array(every(5, [f'row {row}' for row in range(rows)], 1))))


def chunks(rows=220):
    """Lists that cross chunks, one of them through several."""
    lists = [None if row % 11 == 5 else [(row + k) % 16 for k in range(3000 if row == 100 else row % 29)]
             for row in range(rows)]
    structures = [[{'a': row % 8, 'b': f'{k % 3}'} for k in range(1200 if row == 30 else row % 13)]
                  for row in range(rows)]
    deep = [None if row % 7 == 3 else [[k % 4] * (1500 if row == 60 else k % 5) for k in range(row % 6)]
            for row in range(rows)]
    return table_of(('list', pa.array(lists, pa.list_(pa.int32()))),
                    ('structures', pa.array(structures,
                                            pa.list_(pa.struct([('a', pa.int16()), ('b', pa.string())])))),
                    ('deep', pa.array(deep, pa.list_(pa.list_(pa.int16())))))


def declared(rows=30):
    """Type properties besides the values: fields that may not be null, names of items, maps,
    extension types."""
    def never(name, kind):
        return pa.field(name, kind, nullable=False)
    member = pa.struct([never('number', pa.int32()), pa.field('text', pa.string())])
    columns = [
        (never('number', pa.int64()), range(rows)),
        (never('text', pa.string()), [f'text {row}' for row in range(rows)]),
        (never('vector', pa.list_(pa.float32(), 2)), [[row, None if row % 4 == 1 else row / 2]
                                                      for row in range(rows)]),
        (pa.field('structure', member), every(4, [{'number': row, 'text': None if row % 3 else str(row)}
                                                  for row in range(rows)], 1)),
        (never('full_structure', member), [{'number': row, 'text': None if row % 3 else str(row)}
                                           for row in range(rows)]),
        (pa.field('elements', pa.list_(never('element', pa.int32()))),
         every(5, [[row] * (row % 3) for row in range(rows)], 2)),
        (never('members', pa.large_list(pa.field('member', member))),
         [[{'number': row, 'text': 'a'}, None][:row % 3] for row in range(rows)]),
        (never('map', pa.map_(pa.string(), pa.list_(pa.binary()))),
         [[(f'{row}.{k}', [b'a'] * k if k else None) for k in range(row % 4)] for row in range(rows)]),
        (pa.field('maps', pa.list_(pa.map_(pa.int16(), never('value', pa.int32())))),
         every(6, [[[(k, row)] * k for k in range(row % 3)] for row in range(rows)], 4)),
        (pa.field('uuid', pa.uuid()), every(7, [bytes([row]) * 16 for row in range(rows)], 3))]
    return pa.table([pa.array(values, field.type) for field, values in columns],
                    schema=pa.schema([field for field, _ in columns]))


def drifted(rows=10):
    """Fields of `declared` as a later file may have them: null, with other numbers, with other
    members; some removed, one added."""
    member = pa.struct([pa.field('extra', pa.list_(pa.string())), pa.field('number', pa.int64())])
    return table_of(
        ('full_structure', pa.array(every(4, [{'extra': ['x'] * (row % 3), 'number': row * 2**40 if row % 2
                                               else None} for row in range(rows)], 1), member)),
        ('text', pa.array(every(3, [f'late {row}' for row in range(rows)], 2))),
        ('number', pa.array(every(5, range(-5, rows - 5), 1), pa.int16())),
        ('added', pa.array(every(2, [row / 4 for row in range(rows)]), pa.float32())),
        ('members', pa.array(every(6, [[{'number': row, 'extra': None}, None][:row % 3]
                                       for row in range(rows)], 4),
                             pa.large_list(pa.field('member', member)))))


def struct_lists(rows=700):
    """Three items per row, so that rows cross chunks."""
    random = random_of('struct_lists')
    def item(row, k):
        return {'number': int(random.integers(-2 ** 60, 2 ** 60)), 'text': None if (row + k) % 5 == 1
                else f'{row}' * (k % 3),
                'list': None if row % 4 == k else [row, k][:row % 3], 'vector': None if row % 6 == 3
                else [row, None if k else 1]}
    def inner(row, k):
        return {'x': row if row % 3 else None, 'pairs': None if (row + k) % 4 == 2
                else [{'y': row}, None if row % 5 else {'y': None}]}
    members = pa.struct([('number', pa.int64()), ('text', pa.string()), ('list', pa.list_(pa.int32())),
                         ('vector', pa.list_(pa.int16(), 2))])
    pairs = pa.list_(pa.struct([('y', pa.int32())]), 2)
    def lists(make, step):
        return every(step, [[None if (row + k) % 7 == 2 else make(row, k) for k in range(3)]
                            for row in range(rows)], 4)
    return table_of(
        ('row', pa.array(range(rows), pa.int32())), ('lists', pa.array(lists(item, 6), pa.list_(members, 3))),
        ('deep', pa.array(lists(inner, 5), pa.list_(pa.struct([('x', pa.int16()), ('pairs', pairs)]), 3))),
        ('structure', pa.array(every(9, [{'pairs': None if row % 4 == 1 else [{'y': row}, None]}
                                         for row in range(rows)], 2),
                               pa.struct([('pairs', pairs)]))))


# ---- what pylance writes and cannot read ----

def unread_listed_struct_lists(rows=12):
    """Version 2.2: repetition levels do not distinguish items of the list from items of the
    fixed-size lists."""
    kept = [('before', pa.array(every(5, list(range(rows)), 2))),
            ('after', pa.array([f'{row}' for row in range(rows)]))]
    pairs = pa.list_(pa.struct([('x', pa.int32())]), 2)
    lost = 'listed', pa.array([[[{'x': row}, {'x': -row}]] * (row % 3 + 1) for row in range(rows)],
                              pa.list_(pairs))
    return table_of(kept[0], lost, kept[1]), table_of(*kept), ['listed', 'listed/item', 'listed/item/item',
                                                               'listed/item/item/x']


def unread_planar(rows=12):
    """Version 2.3, which is not final."""
    table = table_of(('number', pa.array(range(rows), pa.int32())),
                     ('list', pa.array([[row] * (row % 3) for row in range(rows)], pa.list_(pa.int8()))))
    return table, pa.table({}), ['list', 'list/item', 'number']


def unread_struct_lists(rows=12):
    """Version 2.0: one column of packed structures, which pylance expects in several."""
    pairs = pa.list_(pa.struct([('x', pa.int32()), ('y', pa.float64())]), 2)
    def pair(row):
        return [{'x': row, 'y': row / 4}, {'x': -row, 'y': 0.5}]
    kept = [('before', pa.array(every(5, list(range(rows)), 2))),
            ('after', pa.array([f'{row}' for row in range(rows)]))]
    lost = [('pairs', pa.array([pair(row) for row in range(rows)], pairs)),
            ('listed', pa.array([[pair(row)] * (row % 3) for row in range(rows)], pa.list_(pairs)))]
    paths = [f'{top}/{path}'.rstrip('/') for top in ('pairs', 'listed/item')
             for path in ('', 'item', 'item/x', 'item/y')]
    return table_of(kept[0], *lost, kept[1]), table_of(*kept), sorted(paths)


def unread_blob_lists(rows=12):
    """From 2.1 on: only the levels of other members store where the lists begin. In datasets of
    2.2, blobs become structures that describe them."""
    blob = pa.field('blob', pa.large_binary(), metadata={'lance-encoding:blob': 'true'})
    number, item = pa.field('number', pa.int32()), blob.with_name('item')
    def lists(has_blob):
        return [None if row % 5 == 4 else [{'number': row} | ({'blob': b'x' * row} if has_blob
                                                              else {})] * (row % 3) for row in range(rows)]
    counted = 'counted', pa.array(range(rows), pa.int64())
    table = table_of(
        ('blobs', pa.array([[b'x' * row] * (row % 3) for row in range(rows)], pa.list_(item))), counted,
        ('structures', pa.array(lists(True), pa.list_(pa.struct([blob, number])))))
    return table, table_of(counted, ('structures', pa.array(lists(False), pa.list_(pa.struct([number]))))), [
        'blobs', 'blobs/item', 'structures/item/blob']


def null_lists(has_null_structures=True, has_empty=False):
    """Columns whose fixed-size lists have only nulls, in the lists or in their place."""
    pair, triple = pa.list_(pa.int32(), 2), pa.list_(pa.bool_(), 3)
    pairs, nothing = pa.list_(pair, 2), pa.list_(pa.null(), 2)
    none, inside = [None, None], [None, [None, None]]
    structure = pa.struct([('pair', pair), ('x', pa.int8())])
    columns = [
        ('items', pa.array([none] * 6, pair)), ('some', pa.array([None, none, none] * 2, pair)),
        ('all', pa.array([None] * 6, pair)),
        ('bools', pa.array([[None] * 3] * 6, triple)), ('wide',
                                                        pa.array([[None] * 40] * 6,
                                                                 pa.list_(pa.float64(), 40))),
        ('lists', pa.array([none] * 6, pairs)), ('some_lists', pa.array([None, none] * 3, pairs)),
        ('items_of_lists', pa.array([[none, none]] * 6, pairs)),
        ('mixed', pa.array([inside, None, none] * 2, pairs)),
        ('deep', pa.array([[[none], None], none, None] * 2, pa.list_(pa.list_(pair, 1), 2))),
        ('bytes', pa.array([[None], None] * 3, pa.list_(pa.list_(pa.binary(3), 2), 1))),
        ('nothing', pa.array([none] * 6, nothing)), ('some_nothing', pa.array([None, none] * 3, nothing)),
        ('nothing_in_lists', pa.array([inside] * 6, pa.list_(nothing, 2))),
        ('listed', pa.array([inside, [], None, [none], [None], []], pa.list_(pair))),
        ('listed_items', pa.array([[none], [none, none]] * 3, pa.list_(pair))),
        ('listed_lists', pa.array([[[[none, None], []]], [[None]], [], None, [[[none]]], [None]],
                                  pa.list_(pa.list_(pa.list_(pair))))),
        ('listed_nothing', pa.array([[none], [], None, inside, [None], []], pa.list_(nothing))),
        ('member', pa.array([{'pair': none, 'x': 1}, {'pair': none, 'x': None}] * 3, structure)),
        ('listed_member', pa.array([[{'pair': none, 'x': 1}, {'pair': None, 'x': 2}], []] * 3,
                                   pa.list_(structure))),
    ]
    if has_null_structures:
        columns.append(('null_member', pa.array([{'pair': none, 'x': 1}, None] * 3, structure)))
    if has_empty:
        columns += [('empty', pa.array([b'', None] * 3, pa.binary(0))),
                    ('all_empty', pa.array([b''] * 6, pa.binary(0))),
                    ('listed_empty', pa.array([[b'', None], [], None, [b''], [None], []],
                                              pa.list_(pa.binary(0))))]
    return table_of(*columns)


def null_constants():
    """The same in several pages; writers up to pylance 11 mark nulls in them only with levels,
    if there are levels."""
    pair, none = pa.list_(pa.int32(), 2), [None, None]
    pairs = pa.list_(pair, 2)
    def column(kind, *pages):
        return pa.array([value for page in pages for value in page * 2], kind)
    return table_of(
        ('never_told', column(pair, [[1, 2], [3, None]], [none, none], [none, none])),
        ('told', column(pair, [[1, 2], None], [none, none], [none, none])),
        ('told_later', column(pair, [none, none], [none, none], [None, none])),
        ('wide', column(pa.list_(pa.float64(), 40), [[0.5] * 40, [None] * 40], [[None] * 40] * 2,
                        [[None] * 40, None])),
        ('lists', column(pairs, [[[1, 2], none], none], [none, none], [None, none])),
        ('mixed', column(pairs, [[none, None], none], [[None, none], None], [none, None])),
        ('nothing', column(pa.list_(pa.null(), 2), [none, none], [None, none], [None, None])),
        ('listed', column(pa.list_(pair), [[none], []], [[none, None], None], [[none, none], [none]])),
        ('listed_lists', column(pa.list_(pa.list_(pa.list_(pair))), [[[[none]]], []],
                                [[[[none, None], []], None], None], [[[[none]]]] * 2)),
        ('member', column(pa.struct([('pair', pair)]), [{'pair': none}] * 2, [{'pair': none}, None],
                          [{'pair': None}, {'pair': none}])))


def memberless(rows=12):
    """Structures without members. Next to other columns of 2.1 and 2.2, pylance reads them and
    all that follows as nulls."""
    empty = pa.struct([])
    def column(kind, value):
        return pa.array([value(row) for row in range(rows)], kind)
    table = table_of(
        ('alone', column(empty, lambda row: {})),
        ('first', column(pa.struct([('e', empty), ('x', pa.int32())]),
                         lambda row: {'e': {}, 'x': None if row % 3 == 1 else row})),
        ('last', column(pa.struct([('s', pa.string()), ('e', empty)]), lambda row: {'s': f'{row}', 'e': {}})),
        ('two', column(pa.struct([('e', empty), ('f', empty)]), lambda row: {'e': {}, 'f': {}})),
        ('deep', column(pa.struct([('a', pa.struct([('e', empty)])), ('list', pa.list_(pa.int8()))]),
                        lambda row: {'a': {'e': {}}, 'list': [row][:row % 2]})),
        ('no_items', column(pa.list_(pa.struct([('e', empty), ('x', pa.int32())])), lambda row: [] if row % 2
                            else None)),
        ('behind', column(pa.int64(), lambda row: row)))
    return table, table, []


def no_rows():
    return pa.table({'number': pa.array([], pa.int32()), 'text': pa.array([], pa.string()),
                     'list': pa.array([], pa.list_(pa.float32())),
                     'structure': pa.array([], pa.struct([('x', pa.int8()), ('y', pa.binary())]))})


def dictionaries(rows=40):
    words = pa.array(['', 'a', 'größer', 'a longer text'])
    numbers = pa.array([7, -3, 2 ** 40], pa.int64())
    def column(kind, values, step=1):
        return pa.DictionaryArray.from_arrays(pa.array([row * step % len(values) for row in range(rows)],
                                                       kind), values)
    return table_of(
        ('words', column(pa.int8(), words)), ('more_words', column(pa.uint16(), words.cast(pa.binary()), 3)),
        ('numbers', column(pa.int32(), numbers)), ('bytes',
                                                   column(pa.uint64(), pa.array([9, 8], pa.uint8()))))


def legacy_nested(rows=40):
    table = nested(rows, has_null_structures=False)
    return table.drop_columns(['vectors', 'lists_of_vectors']).append_column(
        'vectors', pa.array([[row, row + 1, row + 2] for row in range(rows)],
                            pa.list_(pa.int16(), 3))).append_column(
        'flags', pa.array([[row % 3 == 0, row % 2 == 0, True] for row in range(rows)],
                          pa.list_(pa.bool_(), 3))).append_column(
        'lists_of_vectors', pa.array([[[row, k] for k in range(row % 3)] for row in range(rows)],
                                     pa.list_(pa.list_(pa.float32(), 2))))


MINI_BLOCKS = ('mini_block_layout flat variable inline_bitpacking out_of_line_bitpacking rle '
               'byte_stream_split general dictionary '
               'COMPRESSION_ALGORITHM_LZ4 COMPRESSION_ALGORITHM_ZSTD REPDEF_ALL_VALID_ITEM '
               'REPDEF_NULLABLE_ITEM')
LISTS = ('REPDEF_ALL_VALID_LIST REPDEF_NULLABLE_LIST REPDEF_EMPTYABLE_LIST REPDEF_NULL_AND_EMPTY_LIST '
             'REPDEF_NULLABLE_ITEM')

LEGACY = '0.2'

# file -> (version, table, rows of a page or 0, encodings that it must have)
FILES = {
    'lance_numbers_2.0': ('2.0', numbers, 0, 'flat some_nulls all_nulls'),
    'lance_numbers_2.1': ('2.1', numbers, 0, 'mini_block_layout flat'),
    'lance_times_2.0': ('2.0', decimals_and_times, 0, 'flat some_nulls'),
    'lance_times_2.2': ('2.2', decimals_and_times, 0, 'mini_block_layout'),
    'lance_texts_2.0': ('2.0', texts, 0, 'binary dictionary'),
    'lance_texts_2.1': ('2.1', texts, 0, 'variable'),
    'lance_nested_2.0': ('2.0', lambda: nested(has_null_structures=False), 0, 'list struct fixed_size_list'),
    'lance_nested_2.1': ('2.1', nested, 0, LISTS),
    'lance_nested_2.2': ('2.2', lambda: nested(has_maps=True), 0, LISTS),
    'lance_mini_blocks_2.1': ('2.1', mini_blocks, 0, MINI_BLOCKS),
    'lance_mini_blocks_2.2': ('2.2', mini_blocks, 0, MINI_BLOCKS + ' has_large_chunk'),
    'lance_symbols_2.1': ('2.1', symbols, 0, 'mini_block_layout fsst'),
    'lance_packed_2.1': ('2.1', packed, 0, 'packed_struct fixed_size_list has_validity'),
    'lance_full_zip_2.1': ('2.1', full_zip, 0,
                           'full_zip_layout flat variable general fixed_size_list has_validity'),
    'lance_zipped_symbols_2.1': ('2.1', zipped_symbols, 0, 'full_zip_layout fsst'),
    'lance_packed_members_2.2': ('2.2', packed_members, 0, 'full_zip_layout variable_packed_struct fsst'),
    'lance_packed_strings_2.2': ('2.2', packed_strings, 0, 'full_zip_layout variable_packed_struct'),
    'lance_constants_2.1': ('2.1', constants, 0, 'constant_layout'),
    'lance_constants_2.2': ('2.2', constants, 0, 'constant_layout inline_value'),
    'lance_arrays_2.0': ('2.0', arrays, 0,
                         'flat no_nulls some_nulls all_nulls binary dictionary fsst fixed_size_list '
                         'packed_struct'),
    'lance_blobs_2.0': ('2.0', blobs, 0, ''),
    'lance_blobs_2.1': ('2.1', blobs, 0, 'blob_layout'),
    'lance_blob_structures_2.1': ('2.1', blob_structures, 0, 'blob_layout'),
    'lance_pages_2.0': ('2.0', pages, 100, ''),
    'lance_pages_2.1': ('2.1', pages, 100, ''),
    'lance_chunks_2.1': ('2.1', chunks, 0, 'mini_block_layout REPDEF_NULL_AND_EMPTY_LIST'),
    'lance_declared_2.2': ('2.2', declared, 0, ''),
    'lance_drifted_2.2': ('2.2', drifted, 0, ''),
    'lance_struct_lists_2.2': ('2.2', struct_lists, 0, 'REPDEF_NULLABLE_ITEM mini_block_layout'),
    'lance_null_lists_2.0': ('2.0', lambda: null_lists(has_null_structures=False), 0,
                             'fixed_size_list no_nulls some_nulls all_nulls'),
    'lance_null_lists_2.1': ('2.1', null_lists, 0,
                             'full_zip_layout constant fixed_size_list has_validity REPDEF_NULLABLE_ITEM'),
    'lance_null_lists_2.2': ('2.2', lambda: null_lists(has_empty=True), 0,
                             'full_zip_layout constant fixed_size_list has_validity inline_value'),
    'lance_null_constants_2.1': ('2.1', null_constants, 4,
                                 'full_zip_layout constant REPDEF_ALL_VALID_ITEM REPDEF_NULLABLE_ITEM'),
    'lance_no_rows_2.0': ('2.0', no_rows, 0, ''),
    'lance_no_rows_2.2': ('2.2', no_rows, 0, ''),
    'lance_numbers_0.2': (LEGACY, numbers, 0, ''),
    'lance_times_0.2': (LEGACY, decimals_and_times, 0, ''),
    'lance_texts_0.2': (LEGACY, texts, 0, ''),
    'lance_dictionaries_0.2': (LEGACY, dictionaries, 16, ''),
    'lance_nested_0.2': (LEGACY, legacy_nested, 0, ''),
    'lance_pages_0.2': (LEGACY, pages, 100, ''),
}


# file -> the major version of pylance that writes it
OLD = {'lance_null_constants_2.1': '9.'}

# In lance_unread/.
UNREAD = {
    'struct_lists_2.0': unread_struct_lists,
    'listed_struct_lists_2.2': unread_listed_struct_lists,
    'planar_2.3': unread_planar,
    'blob_lists_2.1': unread_blob_lists,
    'blob_lists_2.2': unread_blob_lists,
    'memberless_2.0': memberless,
    'memberless_2.1': memberless,
    'memberless_2.2': memberless,
}
DESCRIBED = 'blob_lists_2.2'  # its dataset has descriptions of blobs, which can be read


def named_as_in_the_format(name):
    """pylance prints names as in Rust."""
    if name in ('AllNulls', 'SomeNulls', 'NoNulls'):
        return re.sub('(?<=l)(?=N)|(?<=e)(?=N)|(?<=o)(?=N)', '_', name).lower()
    words = re.findall('[A-Z][a-z0-9]*', name)
    is_number = words[0] in ('Repdef', 'Compression') and len(words) > 2
    return ('_'.join(words).upper() if is_number else '_'.join(words).lower()) if words else name


def encodings_of(column):
    """The encodings that pylance reports for a column's pages."""
    found = set()
    for page in column.pages:
        found |= {named_as_in_the_format(name) for name in re.findall(r'\b([A-Z][A-Za-z0-9]+)\(',
                                                                      page.encoding)}
        found |= {named_as_in_the_format(name)
                  for name in re.findall(r'\b((?:Repdef|CompressionAlgorithm)\w+)', page.encoding)}
        found |= set(re.findall(r'\b([a-z_]+): (?:Some|true)\b', page.encoding))
    return sorted(found & set(ENCODINGS))


def line(value):
    return json.dumps(value, ensure_ascii=False)


def bounds_of(array):
    """Nulls, the minimum and the maximum in the form of rows, for columns with simple ones. NaN
    is no value, and a stored empty string is null."""
    kind = array.type
    if not any(is_one(kind) for is_one in (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean,
                                           pa.types.is_string,
                                           pa.types.is_large_string, pa.types.is_binary,
                                           pa.types.is_large_binary)):
        return None
    values = [value for value in array.to_pylist() if value is not None and value == value]
    found = table_rows(pa.table({'': pa.array([min(values), max(values)], kind)}))
    return [array.null_count, *(None if row[''] == '' else row[''] for row in found)]


def statistics_of(table, page_rows):
    """{column: [bounds of each batch]}"""
    starts = range(0, table.num_rows, page_rows or table.num_rows)
    found = {name: [bounds_of(column.slice(start, page_rows or None).combine_chunks()) for start in starts]
             for name, column in zip(table.column_names, table.columns)}
    return {name: bounds for name, bounds in found.items() if bounds[0]}


def save(name, table, metadata, statistics=None):
    """Indented, except columns and rows: a line for each. `metadata`: None if pylance reports
    none."""
    rows = table_rows(table)
    chosen = [row for row in range(len(rows)) if (row < ROWS_KEPT
                                                  or row in (len(rows) // 2, len(rows) - 1)) and
              len(line(rows[row])) < LONG]
    parts = {'columns': [line(column) for column in table_columns(table)]}
    head = {'writer': f'pylance {lance.__version__}', 'version': FILES[name][0], 'entries': table.num_rows,
            'types': {field.name: describe(field) for field in table.schema}}
    if metadata:
        head['pages'] = [len(column.pages) for column in metadata.columns]
        parts['encodings'] = [line(encodings_of(column)) for column in metadata.columns]
    else:
        page_rows = FILES[name][2] or len(rows)
        head['batches'] = [*range(0, len(rows), page_rows), len(rows)]
        parts['statistics'] = [line([column, bounds]) for column, bounds in statistics.items()]
    parts['rows'] = [f'[{row}, {line(rows[row])}]' for row in chosen]
    lines = [f' {line(key)}: {line(value)},' for key, value in head.items()]
    for key, members in parts.items():
        lines += [f' {line(key)}: [', ',\n'.join('  ' + member for member in members), ' ],']
    text = '\n'.join(['{', *(each for each in lines if each)])[:-1] + '\n}\n'
    json.loads(text)
    (HERE / f'{name}.json').write_text(text)


def make_legacy(name):
    _, make_table, page_rows, _ = FILES[name]
    with tempfile.TemporaryDirectory() as directory:
        options = {'max_rows_per_group': page_rows} if page_rows else {}
        table = make_table()
        lance.write_dataset(table, f'{directory}/{name}', data_storage_version='legacy', **options)
        [file] = Path(directory, name, 'data').iterdir()
        (HERE / f'{name}.lance').write_bytes(file.read_bytes())
        save(name, lance.dataset(f'{directory}/{name}').to_table(), None, statistics_of(table, page_rows))


def make(name):
    version, make_table, page_rows, encodings = FILES[name]
    if version == LEGACY:
        return make_legacy(name)
    table, path = make_table(), HERE / f'{name}.lance'
    options = {'data_cache_bytes': 1} if page_rows else {}
    if name not in OLD or lance.__version__.startswith(OLD[name]):
        with LanceFileWriter(str(path), table.schema, version=version, **options) as writer:
            for batch in table.to_batches(page_rows or None):
                writer.write_batch(batch)
    if name in OLD and lance.__version__.startswith(OLD[name]):
        return None
    reader = LanceFileReader(str(path))
    found = read_columns(path, table.column_names)
    if name not in OLD and table_columns(found) != table_columns(table):
        sys.exit(f'{name}: pylance reads something else than it wrote')
    reported = {encoding for column in reader.metadata().columns for encoding in encodings_of(column)}
    if missing := set(encodings.split()) - reported:
        sys.exit(f'{name}: no column has {", ".join(sorted(missing))}')
    save(name, found, reader.metadata())


def is_read(path, name):
    """pylance aborts the program for some."""
    words = [sys.executable, '-c',
             'import sys, lance.file; lance.file.LanceFileReader(sys.argv[1], '
             'columns=[sys.argv[2]]).read_all().to_table()']
    return subprocess.run([*words, str(path), name], stderr=subprocess.DEVNULL).returncode == 0


def make_unread(name):
    """A file, and a dataset of such a file, with the written values, except fields that cannot
    be read."""
    table, read, unreadable = UNREAD[name]()
    folder, version = HERE / 'lance_unread', name.rpartition('_')[2]
    path, dataset = folder / f'{name}.lance', folder / name
    with LanceFileWriter(str(path), table.schema, version=version) as writer:
        writer.write_batch(table)
    for top in {field.partition('/')[0] for field in unreadable} if version != '2.3' else ():
        if is_read(path, top):
            sys.exit(f'{name}: pylance reads {top}')
    shutil.rmtree(dataset, ignore_errors=True)
    lance.write_dataset(table, str(dataset), data_storage_version=version)
    parts = {'unreadable': unreadable, 'rows': [table.num_rows], 'columns': table_columns(read)}
    if name == DESCRIBED:
        parts['columns_in_dataset'] = table_columns(lance.dataset(str(dataset)).to_table())
    lines = [f' {line(key)}: [\n' + ',\n'.join('  ' + line(member) for member in members) + '\n ]' for key,
             members in parts.items()]
    (folder / f'{name}.json').write_text('{\n' + ',\n'.join(lines) + '\n}\n')


def main(names):
    if unknown := set(names) - set(FILES) - set(UNREAD):
        sys.exit(f'no such file: {", ".join(unknown)}; there are {", ".join([*FILES, *UNREAD])}')
    for name in names or [*FILES, *UNREAD]:
        (make if name in FILES else make_unread)(name)


if __name__ == '__main__':
    main(sys.argv[1:])
