#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files that pylance wrote, of all types and encodings: the whole tree is what pylance's own reader finds in them."""
import json
import os
import re
import sys
from pathlib import Path

import harness
from harness import case, lines, run, same

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'support'))
from compare_columns import check_column, encodings_of  # noqa: E402

NAMES = sorted(path.stem for path in harness.DATA.glob('lance_*.lance'))


def expected_of(name):
    return json.loads(harness.data(f'{name}.json').read_text())


def each_file(check):
    """A case that mounts all files at once and checks each: those that fail are told by name, all of them."""
    def of_all():
        problems = []
        same(len(NAMES) >= 20, True, 'there are files')
        with harness.mounted(*(harness.data(f'{name}.lance') for name in NAMES)) as mountpoint:
            for name in NAMES:
                try:
                    check(expected_of(name), mountpoint / f'{name}.lance' / name)
                except (AssertionError, OSError, ValueError, KeyError) as error:
                    problems.append(f'{name}: {type(error).__name__}: {error}')
            errors = harness.errors_of(mountpoint)
        same((problems, errors), ([], []))
    of_all.__name__ = check.__name__
    return case(of_all)


@each_file
def values_offsets_and_validity_are_what_pylance_reads(expected, data_set):
    same(json.loads((data_set / 'ntuple.json').read_text())['entries'], expected['entries'], 'entries')
    for column in expected['columns']:
        check_column(data_set / column['path'], column)


@each_file
def rows_as_text_are_what_pylance_reads(expected, data_set):
    found = lines(data_set / 'rows.jsonl')
    same(len(found), expected['entries'], 'rows')
    for row, values in expected['rows']:
        same(list(found[row]), list(values), f'names in row {row}')
        for name, value in values.items():
            same(found[row][name], value, f'row {row} of {name}')


@each_file
def metadata_tells_the_encodings_that_pylance_tells(expected, data_set):
    metadata = json.loads((data_set / 'metadata.json').read_text())
    same((metadata['version'], metadata['entries']), (expected['version'], expected['entries']))
    same([len(column['pages']) for column in metadata['columns']], expected['pages'], 'pages')
    for number, (found, told) in enumerate(zip(encodings_of(metadata), expected['encodings'])):
        same(found, told, f'encodings of column {number}')


# How types of Lance differ from those of a table: offsets have 64 bits, dictionaries are values, maps are lists.
AS_IN_TABLES = (
    (r'dictionary<values=(\w+), indices=\w+, ordered=\d>', r'\1'), (r'map<(.*), (.*)>', r'list<item: struct<key: \1, value: \2>>'),
    (r'\b(?<!fixed_size_)(string|binary|list)\b', r'large_\1'))


def type_in_tables(name):
    for pattern, text in AS_IN_TABLES:
        name = re.sub(pattern, text, name)
    return name


@each_file
def arrow_tables_are_what_pylance_reads(expected, data_set):
    arrow = harness.need('pyarrow.ipc')
    from arrow_columns import table_columns
    with arrow.open_file(data_set / 'table.arrow') as file:
        table = file.read_all()
    table.validate(full=True)
    same({field.name: re.sub(' not null', '', str(field.type)) for field in table.schema},
         {name: type_in_tables(data_type) for name, data_type in expected['types'].items()}, 'types')
    same(table_columns(table), expected['columns'], 'columns')


@each_file
def every_byte_of_a_file_has_an_owner(expected, data_set):
    at = 0
    for row in lines(data_set.parent / 'layout.jsonl'):
        same(row['file_offset'], at, f'the range behind byte {at}')
        at += row['stored_bytes']
    same(at, os.stat(harness.data(f'{data_set.name}.lance')).st_size, 'the end')


if __name__ == '__main__':
    run()
