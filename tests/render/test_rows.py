#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rows as text, of every file of tests/data: rows.jsonl, head.jsonl, rows.d and table.csv,
compared with the values of another reader. One case per file, and some others."""
import csv
import io
import json
import re
import struct
import sys

from bloscpack_file import write_bloscpack
from values import agrees

import harness
from compare_tree import children, compare_values, field_rows
from harness import case, data, need, output, same


def cat(source, path):
    return output(harness.NTUPLE, 'cat', source, path)


def lines(source, path):
    text = cat(source, path).decode()
    same(text == '' or text.endswith('\n'), True, f'{path} ends with a newline')
    return [json.loads(line) for line in text.split('\n')[:-1]]


def check_rows(source, tree, path, expected):
    """Values that were written down; for large files those of the logical files, which have the
    digest."""
    rows = lines(source, f'{path}/rows.jsonl')
    same(len(rows), expected['entries'], f'{path}: lines of rows.jsonl')
    directories = dict(children(tree / path))
    for name, values in expected['fields'].items():
        if name not in directories:
            continue
        found = values.get('values')
        if found is None:
            found = field_rows(directories[name], expected['entries'])
            compare_values(found, values)
        for entry, (row, value) in enumerate(zip(rows, found)):
            if not agrees(row[name], value):
                raise AssertionError(f'{path}: entry {entry}: {name}: {row[name]!r} instead of {value!r}')
        one_field = directories[name].relative_to(tree)
        same(lines(source, f'{one_field}/rows.jsonl'), [row[name] for row in rows], f'{one_field}/rows.jsonl')
    return rows


def check_parts(source, path, rows):
    text = cat(source, f'{path}/rows.jsonl')
    same(cat(source, f'{path}/head.jsonl'), b''.join(text.splitlines(True)[:100]), f'{path}/head.jsonl')
    for number in {0, len(rows) // 2, len(rows) - 1} if rows else ():
        same(cat(source, f'{path}/rows.d/{number}.json'), text.splitlines(True)[number],
             f'{path}: row {number}')
    result = harness.command(harness.NTUPLE, 'cat', source, f'{path}/rows.d/{len(rows)}.json')
    same(result.returncode, 2, f'{path}: a row that is not there')


def is_plain(field):
    """Does field.json call it a number, a bool, a string, or an optional of one?"""
    description = json.loads((field / 'field.json').read_text())
    kind = description['kind']
    below = [path for path in field.iterdir() if (path / 'field.json').exists()]
    if kind in ('optional', 'dense optional', 'wrapper'):
        return len(below) == 1 and is_plain(below[0])
    return kind in ('string', 'cardinality') or (kind == 'value' and not below
                                                 and description['dtype'] is not None
                                                 and len(description['shape'] or [0]) == 1)


def texts_of(line):
    """{field: its value's own characters in a line of rows.jsonl}"""
    decoder, found, at = json.JSONDecoder(), {}, 1
    while line[at] != '}':
        name, at = decoder.raw_decode(line, at + (line[at] == ','))
        _, end = decoder.raw_decode(line, at + 1)
        found[name] = line[at + 1:end]
        at = end
    return found


def cell(text, plain):
    """The expected cell of table.csv for a value of rows.jsonl."""
    if not plain:
        return text
    value = json.loads(text, parse_int=str, parse_float=str)
    if value is None:
        return ''
    return value if isinstance(value, str) else json.dumps(value)


def check_csv(source, tree, path):
    """Cells agree with rows.jsonl: plain fields by value, numbers digit by digit, all others
    character by character."""
    text = cat(source, f'{path}/table.csv').decode('utf-8', 'surrogateescape')
    found = list(csv.reader(io.StringIO(text, newline=''), strict=True))
    rows = [texts_of(line) for line in cat(source, f'{path}/rows.jsonl').decode().split('\n')[:-1]]
    plain = {name: is_plain(field) for name, field in children(tree / path)}
    same(len(found) - 1, len(rows), f'{path}/table.csv: lines')
    for line, row in zip(found[1:], rows):
        same(found[0], list(row), f'{path}/table.csv: names')
        same(line, [cell(value, plain[name]) for name, value in row.items()], f'{path}/table.csv')


def check_file(source):
    expected = json.loads(source.with_suffix('.json').read_text())
    with harness.scratch() as directory:
        tree = directory / 'copy'
        harness.command(harness.NTUPLE, 'cp', '-r', source, '/', tree)
        for path, dataset in expected['datasets'].items():
            if not (tree / path / 'rows.jsonl').exists():
                raise AssertionError(f'{path}/rows.jsonl is not there')
            rows = check_rows(source, tree, path, dataset)
            check_parts(source, path, rows)
            check_csv(source, tree, path)


def plain_names():
    for source in sorted(harness.DATA.glob('*.root')):
        if source.with_suffix('.json').exists() and not source.stem.startswith(('damaged', 'names')):
            yield source


def add_case(source):
    def function():
        check_file(source)
    function.__name__ = f'rows_of_{source.stem}'
    case(function)


for found_source in plain_names():
    add_case(found_source)


def check_table_of(source, path):
    with harness.scratch() as directory:
        harness.command(harness.NTUPLE, 'cp', '-r', source, '/', directory / 'copy')
        check_csv(source, directory / 'copy', path)


def roaring(values):
    """A bitmap of one container, an array, without runs."""
    return struct.pack(f'<IIHHI{len(values)}H', 12346, 1, 3, len(values) - 1, 16, *values)


@case
def bitmaps_and_arrays_have_tables():
    with harness.scratch() as directory:
        (directory / 'map.roaring').write_bytes(roaring([1, 2, 600]))
        check_table_of(directory / 'map.roaring', 'map')
        same(cat(directory / 'map.roaring', 'map/table.csv'), b'values\r\n196609\r\n196610\r\n197208\r\n',
             'the bitmap')
    for source in sorted(harness.DATA.glob('*.blp')):
        check_table_of(source, source.stem)


@case
def attribute_sets_have_tables():
    source = data('attributes.root')
    with harness.scratch() as directory:
        harness.command(harness.NTUPLE, 'cp', '-r', source, '/', directory / 'copy')
        sets = [path.parent.relative_to(directory / 'copy')
                for path in directory.glob('copy/**/attribute.*/table.csv')]
        same(len(sets) > 0, True, 'there are attribute sets')
        for path in sets:
            check_csv(source, directory / 'copy', path)


@case
def other_programs_read_the_table_with_its_cells_of_json():
    """README's example, whose table has vectors, records, a variant and an optional."""
    source, path = data('example.root'), 'Events'
    rows = lines(source, f'{path}/rows.jsonl')
    with harness.scratch() as directory:
        table = directory / 'table.csv'
        table.write_bytes(cat(source, f'{path}/table.csv'))
        readers = {'pandas': lambda pandas: pandas.read_csv(table).to_dict('records'),
                   'polars': lambda polars: polars.read_csv(table).to_dicts(),
                   'duckdb': lambda duckdb: duckdb.sql(f"select * from read_csv('{table}')").df().to_dict(
                           'records')}
        for name, read in readers.items():
            need('pandas')
            for entry, (found, row) in enumerate(zip(read(need(name)), rows, strict=True)):
                same(list(found), list(row), f'{name}: names')
                same((found['run'], found['weight']), (row['run'], row['weight']), f'{name}: entry {entry}')
                for field in 'muons', 'jet_tracks', 'vertex', 'quality', 'comment':
                    same(json.loads(found[field]), row[field], f'{name}: entry {entry}: {field}')


@case
def rows_before_and_after_a_damaged_page_are_readable():
    """rows.jsonl ends with an error there; an entry by its number is right, or an error."""
    good, path = harness.data('compression_zstd.root'), 'compressed'
    page = lines(good, f'{path}/noise/column.0/pages.jsonl')[1]
    first, end = page['first_element'], page['first_element'] + page['elements']
    rows = cat(good, f'{path}/rows.jsonl').splitlines(True)
    with harness.scratch() as directory:
        content = bytearray(good.read_bytes())
        content[page['file_offset'] + page['stored_bytes'] // 2] ^= 1
        damaged = directory / 'damaged.root'
        damaged.write_bytes(content)
        for row in first, end - 1:
            result = harness.command(harness.NTUPLE, 'cat', damaged, f'{path}/rows.d/{row}.json')
            same((result.returncode, result.stdout), (5, b''), f'row {row} of the damaged page')
        for row in (0, first - 1, *range(end, len(rows), 97)):
            same(cat(damaged, f'{path}/rows.d/{row}.json'), rows[row], f'row {row}')
        result = harness.command(harness.NTUPLE, 'cat', damaged, f'{path}/rows.jsonl')
        same(result.returncode, 5, 'rows.jsonl')
        same(b''.join(rows[:first]).startswith(result.stdout), True, 'rows.jsonl up to the damaged page')


@case
def control_characters_and_odd_bytes_never_appear_in_a_document():
    for source in sorted(harness.DATA.glob('names*.root')):
        for path in json.loads(source.with_suffix('.json').read_text())['datasets']:
            text = harness.command(harness.NTUPLE, 'cat', source, f'{path}/rows.jsonl').stdout
            same(re.findall(rb'[\x00-\x09\x0b-\x1f\x7f]', text), [], f'{source.name}: {path}')
            for line in text.decode('utf-8').splitlines():
                json.loads(line)


@case
def structures_in_structures_are_objects_in_objects():
    try:
        import numpy
    except ImportError:
        raise harness.Skip('numpy is not installed') from None
    rows = numpy.zeros(50, [('a', '<i4'), ('in', [('x', '>u2'), ('deep', [('s', 'S3'), ('u', '<U2')])])])
    rows['a'] = numpy.arange(50)
    rows['in']['x'] = numpy.arange(50) * 1000
    rows['in']['deep']['s'] = [f'{i}'.encode() for i in range(50)]
    rows['in']['deep']['u'] = [chr(0x3b1 + i) for i in range(50)]
    expected = [{'a': int(row['a']), 'in': {'x': int(row['in']['x']), 'deep': {
        's': row['in']['deep']['s'].decode(), 'u': str(row['in']['deep']['u'])}}} for row in rows]
    with harness.scratch() as directory:
        write_bloscpack(directory / 'rows.blp', rows)
        same(lines(directory / 'rows.blp', 'rows/rows.jsonl'), [{'values': row} for row in expected], 'rows')
        same(lines(directory / 'rows.blp', 'rows/values/in/rows.jsonl'), [row['in'] for row in expected],
             'a member')


if __name__ == '__main__':
    if len(sys.argv) > 1:
        sys.exit('usage: test_rows.py (NTUPLE names the program, NTUPLE_TEST_DATA the files)')
    harness.run(needs_fuse=False)
