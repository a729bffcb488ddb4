#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Nulls of every form in an Arrow file, as pyarrow sees them. Arguments: the program that writes the file."""
import sys
import tempfile
from pathlib import Path

import harness
from harness import case, need, output, same

VALUES = {
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


@case
def pyarrow_finds_every_null():
    pa = need('pyarrow')
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'table.arrow'
        output(sys.argv[1], path)
        table = pa.ipc.open_file(pa.py_buffer(path.read_bytes())).read_all()
    table.validate(full=True)
    same(table.column_names, list(VALUES), 'fields')
    for name, values in VALUES.items():
        same(table.column(name).to_pylist(), values, name)
        same(table.column(name).null_count, values.count(None), f'nulls of {name}')
        same(table.schema.field(name).nullable, True, f'{name} is nullable')
    same(table.schema.field('nothing').type, pa.null(), 'type of nothing')


harness.run(needs_fuse=False)
