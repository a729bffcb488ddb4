#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Arrow files of datasets in memory, read by pyarrow: nulls of every form, and types that say
more than their bytes.

Arguments: the program that writes the files into a directory."""
import sys
import tempfile
from datetime import date
from decimal import Decimal
from pathlib import Path

import harness
from harness import case, need, output, same

NULLS = {
    'number': [1, None, 3, None],
    'flag': [True, None, False, None],
    'text': ['a', None, '', 'bcd'],
    'bytes': [None, b'\xff', b'', None],
    'nothing': [None] * 4,
    'list': [[1, None], None, [], [4]],
    'structures': [[{'s': 'p'}, None], None, [{'s': None}], []],
    'nulls': [[None], [], [None, None], None],
    'record': [{'x': 1, 'y': 10}, None, {'x': None, 'y': 12}, {'x': 4, 'y': 13}],
    'pair': [None, {'first': 1}, None, {'first': 2}],
    'array': [[1, 2], None, [None, 6], [7, 8]],
    'vector': [[1, 2, 3], None, [7, 8, 9], None],
}


def table_of(pa, name, are_all_valid=True):
    with tempfile.TemporaryDirectory() as folder:
        output(sys.argv[1], folder)
        table = pa.ipc.open_file(pa.py_buffer((Path(folder) / f'{name}.arrow').read_bytes())).read_all()
    table.validate(full=are_all_valid)
    return table


@case
def pyarrow_finds_every_null():
    pa = need('pyarrow')
    table = table_of(pa, 'nulls')
    same(table.column_names, list(NULLS), 'fields')
    for name, values in NULLS.items():
        same(table.column(name).to_pylist(), values, name)
        same(table.column(name).null_count, values.count(None), f'nulls of {name}')
        same(table.schema.field(name).nullable, True, f'{name} is nullable')
    same(table.schema.field('nothing').type, pa.null(), 'type of nothing')


def types_of(pa):
    return {
        'tdD': pa.date32(), 'tdm': pa.date64(), 'tts': pa.time32('s'), 'ttm': pa.time32('ms'),
        'ttu': pa.time64('us'),
        'ttn': pa.time64('ns'), 'tss:': pa.timestamp('s'), 'tsm:UTC': pa.timestamp('ms', 'UTC'),
        'tsu:Europe/Rome': pa.timestamp('us', 'Europe/Rome'), 'tsn:': pa.timestamp('ns'),
        'tDs': pa.duration('s'),
        'tDm': pa.duration('ms'), 'tDu': pa.duration('us'), 'tDn': pa.duration('ns'),
        'd:10,2': pa.decimal128(10, 2),
        'd:38,0': pa.decimal128(38, 0), 'd:5,-3': pa.decimal128(5, -3), 'd:50,3,256': pa.decimal256(50, 3),
        'w:3': pa.binary(3),
    }


@case
def types_are_those_that_their_format_strings_name():
    pa = need('pyarrow')
    table = table_of(pa, 'types', are_all_valid=False).slice(1)  # no time of day is -1
    types = types_of(pa)
    same(table.column_names, list(types), 'fields')
    for name, expected in types.items():
        found = table.column(name)
        same(found.type, expected, name)
        if name[:2] in ('td', 'tt', 'ts', 'tD'):
            found = found.combine_chunks().view(pa.int32() if expected.bit_width == 32 else pa.int64())
            same(found.to_pylist(), [-1], name)
    values = {name: table.column(name).to_pylist()[0] for name in ('tdD', 'd:10,2', 'd:38,0', 'd:5,-3',
                                                                   'd:50,3,256', 'w:3')}
    same(values, {'tdD': date(1969, 12, 31), 'd:10,2': Decimal('-0.01'), 'd:38,0': Decimal(-1),
                  'd:5,-3': Decimal(-1000),
                  'd:50,3,256': Decimal('-0.001'), 'w:3': b'\xff' * 3}, 'values')


harness.run(needs_fuse=False)
