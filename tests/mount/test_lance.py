#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files by pylance, of all types and encodings: the whole tree has what pylance's own reader
finds in them."""
import itertools
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import harness
from harness import case, data, lines, run, same

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'support'))
from compare_columns import check_column, encodings_of  # noqa: E402
from lance_editor import (  # noqa: E402
    FILES, FRAGMENTS, PATH, LanceEditor, ManifestEditor, items_of, member, message_of
)

NAMES = sorted(path.stem for path in harness.DATA.glob('lance_*.lance'))


def expected_of(name):
    return json.loads(harness.data(f'{name}.json').read_text())


def each_file(check):
    """A case that mounts all files at once and checks each; reports all that fail by name."""
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
def values_offsets_and_validity_are_what_pylance_reads(expected, dataset):
    same(json.loads((dataset / 'ntuple.json').read_text())['entries'], expected['entries'], 'entries')
    for column in expected['columns']:
        check_column(dataset / column['path'], column)


@each_file
def rows_as_text_are_what_pylance_reads(expected, dataset):
    found = lines(dataset / 'rows.jsonl')
    same(len(found), expected['entries'], 'rows')
    for row, values in expected['rows']:
        same(list(found[row]), list(values), f'names in row {row}')
        for name, value in values.items():
            same(found[row][name], value, f'row {row} of {name}')


@each_file
def metadata_has_the_encodings_that_pylance_reports(expected, dataset):
    metadata = json.loads((dataset / 'metadata.json').read_text())
    same((metadata['version'], metadata['entries']), (expected['version'], expected['entries']))
    if 'batches' in expected:       # a legacy file
        same(metadata['message']['batch_offsets'], expected['batches'], 'batches')
        same({len(column['pages']) for column in metadata['columns']}, {len(expected['batches']) - 1},
             'pages')
        return
    same([len(column['pages']) for column in metadata['columns']], expected['pages'], 'pages')
    for number, (found, shown) in enumerate(zip(encodings_of(metadata), expected['encodings'])):
        same(found, shown, f'encodings of column {number}')


@each_file
def statistics_bound_what_was_written(expected, dataset):
    """Legacy files; they do not store nulls. Lance writes no nulls of half floats."""
    if 'batches' not in expected:
        same((dataset / 'statistics.jsonl').exists(), False, 'statistics')
        return
    found = {}
    for line in lines(dataset / 'statistics.jsonl'):
        found.setdefault(line['field'], []).append([line['null_count'], line['minimum'], line['maximum']])
        same(line['file_page'], len(found[line['field']]) - 1, 'batch')
    expected = {name: bounds for name, bounds in expected['statistics'] if name != 'half'}
    same({name: found.get(name) for name in expected}, expected, 'statistics')


def type_in_tables(name):
    """Dictionaries are read as their values."""
    return re.sub(r'dictionary<values=(\w+), indices=\w+, ordered=\d>', r'\1', name)


@each_file
def arrow_tables_are_what_pylance_reads(expected, dataset):
    arrow = harness.need('pyarrow.ipc')
    from arrow_columns import describe, table_columns
    with arrow.open_file(dataset / 'table.arrow') as file:
        table = file.read_all()
    table.validate(full=True)
    same({field.name: describe(field) for field in table.schema},
         {name: type_in_tables(data_type) for name, data_type in expected['types'].items()}, 'types')
    same(table_columns(table), expected['columns'], 'columns')


@each_file
def every_byte_of_a_file_has_an_owner(expected, dataset):
    at = 0
    for row in lines(dataset.parent / 'layout.jsonl'):
        same(row['file_offset'], at, f'the range behind byte {at}')
        at += row['stored_bytes']
    same(at, os.stat(harness.data(f'{dataset.name}.lance')).st_size, 'the end')


def fields_of(tree):
    """{path: field.json}, without the file's physical columns."""
    found = {}
    for folder, below, names in os.walk(tree):
        below[:] = [name for name in below if not name.startswith('column.')]
        if 'field.json' in names:
            found[str(Path(folder).relative_to(tree))] = json.loads(Path(folder, 'field.json').read_text())
    return found


WORDS_OF_UNREAD = 'cannot read|does not know|unknown compression scheme 99'


def check_rest(source, tree, unreadable, columns):
    """Unsupported fields say why, and are missing in rows and tables, which have all others;
    `verify` counts them."""
    for column in columns:
        check_column(tree / column['path'], column)
    entries, found = json.loads((tree / 'ntuple.json').read_text())['entries'], lines(tree / 'rows.jsonl')
    tops = sorted(column['path'] for column in columns if '/' not in column['path'])
    same(([sorted(row) for row in found], len(found)), ([tops] * entries, entries), f'{source.name}: rows')
    same(sorted((tree / 'table.csv').read_text().split('\n')[0].split(',')), tops or [''],
         f'{source.name}: table.csv')
    with harness.need('pyarrow.ipc').open_file(tree / 'table.arrow') as file:
        same(sorted(file.schema.names), tops, f'{source.name}: table.arrow')
        same(file.read_all().num_rows, entries, f'{source.name}: rows of table.arrow')
    shown = fields_of(tree)  # rows loaded the page lists that show some fields
    same(sorted(path for path, field in shown.items() if 'unreadable' in field), unreadable, source.name)
    for path in unreadable:
        same(bool(re.search(WORDS_OF_UNREAD, shown[path]['unreadable'])), True, shown[path])
    verified = subprocess.run([harness.NTUPLE, 'verify', '--json', source], stdout=subprocess.PIPE,
                              check=False)
    *findings, summary = map(json.loads, verified.stdout.decode().splitlines())
    same(({finding['finding'] for finding in findings}, summary['unread'], summary['result'],
          verified.returncode),
         ({'unread'}, len(unreadable), 'unread', 10) if unreadable else (set(), 0, 'ok', 0),
         f'{source.name}: verify')
    same(sorted(finding['field'].replace('.', '/') for finding in findings), unreadable,
         f'{source.name}: findings')


@case
def what_pylance_writes_and_does_not_read_is_unreadable_and_all_else_is_served():
    folder = data('lance_unread')
    sources = sorted(path for path in folder.iterdir() if path.suffix != '.json')
    same(len(sources) >= 14, True, 'files and datasets')
    with harness.mounted(*sources) as mountpoint:
        for source in sources:
            name = source.name.removesuffix('.lance')
            expected, tree = json.loads(
                    (folder / f'{name}.json').read_text()), mountpoint / source.name / name
            described = expected.get('columns_in_dataset') if source.is_dir() else None
            check_rest(source, tree, [] if described else expected['unreadable'], described
                       or expected['columns'])
        same(harness.errors_of(mountpoint), [])


@case
def types_and_encodings_to_come_leave_all_else_served():
    content, columns = harness.data('lance_numbers_2.1.lance').read_bytes(), expected_of('lance_numbers_2.1')[
            'columns']
    first = columns[0]['path']
    damages = [('type', b'halffloat', b'halfghost', 'half'),
               ('encoding', b'encodings21.PageLayout', b'encodings29.PageLayout', first),
               ('array', b'/lance.encodings21.PageLayout', b'/lance.encodings21.PageLayouX', first)]
    with tempfile.TemporaryDirectory() as directory:
        for name, known, strange, _ in damages:
            Path(directory, f'{name}.lance').write_bytes(content.replace(known, strange, 1))
        with harness.mounted(directory) as mountpoint:
            for name, _, _, field in damages:
                check_rest(Path(directory, f'{name}.lance'), mountpoint / f'{name}.lance' / name, [field],
                           [column for column in columns if column['path'] != field])


# of a PageLayout, a MiniBlockLayout, a CompressiveEncoding
MINI_BLOCK, VALUE_COMPRESSION, GENERAL = 1, 3, 10

# Unknown parts of a page's layout: the layout itself, the encoding of its values, or their
# compression.
STRANGER = message_of([member(99, b'')])
STRANGE_SCHEME = message_of([member(GENERAL, message_of([member(1, message_of([member(1, 99)]))]))])
STRANGE = {'layout': ((), STRANGER), 'values': ((MINI_BLOCK, VALUE_COMPRESSION), STRANGER),
           'scheme': ((MINI_BLOCK, VALUE_COMPRESSION), STRANGE_SCHEME)}


def put_foreign_encoding(path, column, strange):
    editor = LanceEditor(path.read_bytes())
    editor.change_encoding(column, 0, *strange)
    path.write_bytes(editor.written())


@case
def what_is_not_known_within_a_page_leaves_all_else_of_a_file_served():
    columns = expected_of('lance_numbers_2.1')['columns']
    first = columns[0]['path']
    with tempfile.TemporaryDirectory() as directory:
        for name, strange in STRANGE.items():
            path = Path(shutil.copy(data('lance_numbers_2.1.lance'), Path(directory, f'{name}.lance')))
            put_foreign_encoding(path, 0, strange)
        with harness.mounted(directory) as mountpoint:
            for name in STRANGE:
                check_rest(Path(directory, f'{name}.lance'), mountpoint / f'{name}.lance' / name, [first],
                           [column for column in columns if column['path'] != first])


# Of a dataset: the unknown part, and the columns of its data files with the fields of each.
OF_VERSION_2_2 = {1: ['number'], 2: ['text'], 3: ['list', 'list/item'], 5: ['structure', 'structure/x']}
STRANGE_IN_DATASETS = [('fragments_2.2', 'layout', OF_VERSION_2_2),
                       ('fragments_2.2', 'values', OF_VERSION_2_2),
                       ('fragments_2.2', 'scheme', OF_VERSION_2_2),
                       ('fragments_2.0', 'layout', {1: ['number'], 2: ['text'], 4: ['list/item']})]


@case
def what_is_not_known_within_a_page_of_one_fragment_leaves_all_else_of_a_dataset_served():
    with tempfile.TemporaryDirectory() as directory:
        cases = []
        for source, what, columns in STRANGE_IN_DATASETS:
            files = sorted(harness.data(f'lance_datasets/{source}').glob('data/*'),
                           key=lambda path: path.stat().st_size)[1:]
            same(len(files), 2, 'fragments of more rows than one')
            for file, column in itertools.product(files, columns):
                copy = Path(shutil.copytree(harness.data(f'lance_datasets/{source}'),
                                            Path(directory, f'set_{len(cases)}')))
                put_foreign_encoding(copy / 'data' / file.name, column, STRANGE[what])
                cases.append((copy, source, columns[column]))
        with harness.mounted(directory) as mountpoint:
            for copy, source, unread in cases:
                shown = json.loads(harness.data(f'lance_datasets/{source}.json').read_text())['versions'][-1][
                        'columns']
                top = unread[0].split('/')[0]
                check_rest(copy, mountpoint / copy.name / copy.name, unread,
                           [column for column in shown if column['path'].split('/')[0] != top])


def with_fragments(directory, count, strange_one, column):
    """A dataset that repeats the first fragment of fragments_2.2; its last one is the changed
    one."""
    copy = Path(shutil.copytree(harness.data('lance_datasets/fragments_2.2'), directory))
    editor = ManifestEditor(copy)
    usual, *_, strange = [[item for item in items_of(message) if item[0] != 1] for message
                          in editor.all_of(FRAGMENTS)]
    file, = (item[2] for item in items_of(next(item[2] for item in strange if item[0] == FILES)) if item[0]
             == PATH)
    editor.message = message_of([item for item in items_of(editor.message) if item[0] != FRAGMENTS] + [
        member(FRAGMENTS, message_of([member(1, number), *(strange if number == strange_one else usual)]))
        for number in range(count)])
    editor.write()
    put_foreign_encoding(copy / 'data' / os.fsdecode(file), column, STRANGE['values'])
    return copy


@case
def of_many_fragments_the_first_one_says_what_is_not_known_or_all_that_are_needed_anyway():
    first_rows, last_rows = 40, 25
    shown = {1: 'number', 2: 'text', 3: 'list'}
    with tempfile.TemporaryDirectory() as directory:
        for number, (count, strange_one, column) in enumerate(((64, 63, 1), (65, 0, 1), (65, 64, 2),
                                                               (65, 64, 3), (65, 64, 1))):
            source = with_fragments(Path(directory, f'set_{number}'), count, strange_one, column)
            result = harness.command(harness.NTUPLE, 'cat', source, f'{source.name}/rows.jsonl')
            found = [json.loads(line) for line in result.stdout.splitlines()]
            is_left_out = number < 4  # else the rows before the changed fragment are shown
            same((result.returncode, len(found)), (0, (count - 1) * first_rows + last_rows) if is_left_out
                 else (4, 64 * first_rows), source.name)
            same({tuple(row) for row in found}, {tuple(name for name
                                                       in ('id', 'number', 'text', 'list', 'deep',
                                                           'structure', 'vector')
                                                        if not is_left_out or name != shown[column])},
                                                        source.name)


# ---- more rows than there is room for, in a file of a few hundred bytes, written by its definition ----

def varint(number):
    number &= 2 ** 64 - 1
    out = b''
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def number(field, value):
    return varint(field << 3) + varint(value)


def inside(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


def write_constant(path, rows, layout, logical_type=b'int64', value=b''):
    """One column x, whose only page has a ConstantLayout of these fields; the value is its
    buffer if it is not in them."""
    field = inside(2, b'x') + number(3, 0) + number(4, -1) + inside(5, logical_type) + number(6, 1)
    descriptor = inside(1, inside(1, field)) + number(2, rows)
    page_layout = inside(1, b'/lance.encodings21.PageLayout') + inside(2, inside(2, layout))
    buffer = inside(1, varint(0)) + inside(2, varint(len(value))) if value else b''
    page = buffer + number(3, rows) + inside(4, inside(2, inside(1, page_layout)))
    values = inside(1, b'/lance.encodings.ColumnEncoding') + inside(2, inside(1, b''))
    metadata = inside(1, inside(2, inside(1, values))) + inside(2, page)
    columns_start, tables = len(value) + len(descriptor), len(value) + len(descriptor) + len(metadata)
    path.write_bytes(value + descriptor + metadata + struct.pack('<QQ', columns_start, len(metadata)) +
                     struct.pack('<QQ', len(value), len(descriptor)) +
                     struct.pack('<QQQIIHH', columns_start, tables, tables + 16, 1, 1, 2, 2) + b'LANC')


@case
def a_value_that_is_the_same_in_2_to_the_40_rows_takes_no_memory():
    rows, value = 2 ** 40, struct.pack('<q', -5)
    with tempfile.TemporaryDirectory() as directory:
        valued, null = Path(directory, 'valued.lance'), Path(directory, 'null.lance')
        # an item that is always valid, and its value
        write_constant(valued, rows, inside(5, bytes([1])) + inside(6, value))
        write_constant(null, rows, inside(5, bytes([3])))                         # a nullable item, no value
        with harness.mounted(valued, null) as mountpoint:
            for path, element, is_valid in (mountpoint / 'valued.lance' / 'valued' / 'x', value, b'\1'), \
                                           (mountpoint / 'null.lance' / 'null' / 'x', bytes(8), b'\0'):
                same((path / 'column.0' / 'data.bin').read_bytes(), value if is_valid == b'\1' else b'',
                     'what is stored of it')
                for name, expected in ('data.bin', element), ('valid.bin', is_valid):
                    size = os.stat(path / name).st_size
                    same(size, rows * len(expected), name)
                    with open(path / name, 'rb', buffering=0) as file:
                        for at in 0, 8190 * len(expected), size // 3 // 4096 * 4096, size - 100_000 * len(
                                expected):
                            file.seek(at)
                            same(file.read(100_000 * len(expected)) == expected * 100_000, True,
                                 f'{path}: {name} from {at}')
                with open(path / 'rows.jsonl') as file:
                    same(file.readline(), '-5\n' if is_valid == b'\1' else 'null\n', 'the first row')
            same(harness.high_water(harness.decoder_of(mountpoint)) < 150 << 20, True, 'little memory')
            same(harness.errors_of(mountpoint), [])
        harness.output(harness.NTUPLE, 'verify', valued, null)


@case
def more_text_than_offsets_of_32_bits_count_is_cut_into_batches():
    arrow, pa = harness.need('pyarrow.ipc'), harness.need('pyarrow')
    rows, text = 2_200_000, 'text ' * 200
    # the buffers of a string array of one row
    value = struct.pack('<3I2i', 2, 8, len(text), 0, len(text)) + text.encode()
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, 'texts.lance')
        write_constant(path, rows, inside(5, bytes([1])), b'string', value)
        with harness.mounted(path) as mountpoint:
            table = mountpoint / 'texts' / 'table.arrow'
            same(os.stat(table).st_size > rows * (len(text) + 4), True, 'the size')
            with pa.memory_map(str(table)) as mapped:
                file = arrow.open_file(mapped)
                same(str(file.schema.field('x').type), 'string')
                batches = [file.get_batch(number) for number in range(file.num_record_batches)]
                same([batch.num_rows for batch in batches], [rows // 2, rows // 2], 'rows of batches')
                for batch in batches:
                    for row in 0, 700_001, rows // 2 - 1:
                        same(batch['x'][row].as_py(), text, f'row {row}')
                del batches, batch, file
            same(harness.errors_of(mountpoint), [])


# ---- the file's columns ----

def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def lists_of(levels, values):
    """Rows of a nullable list of nullable items, from the levels of Lance's documentation:
    definition 1 is a null item, 2 a null list, 3 an empty one; repetition 1 begins a list."""
    rows, left = [], iter(values)
    for repetition, definition in levels:
        if repetition:
            rows.append(None if definition == 2 else [])
        if definition < 2:
            value = next(left)
            rows[-1].append(None if definition else value)
    assert next(left, None) is None
    return rows


@case
def a_column_of_the_file_is_its_values_and_the_levels_around_them():
    for version in '2.1', '2.2':
        with harness.mounted(data(f'lance_nested_{version}.lance')) as mountpoint:
            dataset = mountpoint / f'lance_nested_{version}'
            column = dataset / 'list' / 'item' / 'column.0'
            levels, values = (np.load(column / f'{name}.npy') for name in ('levels', 'data'))
            same(levels.dtype.names, ('repetition', 'definition'))
            same(values.dtype.str, '<i4')
            same(lists_of(levels.tolist(), values.tolist()), lines_of(dataset / 'list' / 'rows.jsonl'),
                 version)
            same((column / 'levels.bin').read_bytes(), levels.tobytes())
            same((dataset / 'list' / 'column.0').exists(), False, 'a list has no column of its own')


@case
def pages_consist_of_buffers_and_chunks():
    source = data('lance_chunks_2.1.lance')
    content = source.read_bytes()
    with harness.mounted(source) as mountpoint:
        for column in sorted(mountpoint.glob('**/column.0')):
            pages = lines_of(column / 'pages.jsonl')
            same(sum(page['elements'] for page in pages),
                 json.loads((column / 'column.json').read_text())['elements'])
            for number, page in enumerate(pages):
                buffers = page['buffers']
                for k, buffer in enumerate(buffers):
                    begin = buffer['file_offset']
                    same((column / 'pages' / f'{number}.{k}.raw').read_bytes(),
                         content[begin:begin + buffer['stored_bytes']])
                same((column / 'pages' / f'{number}.{len(buffers)}.raw').exists(), False)
                begin, end = buffers[0]['file_offset'], buffers[-1]['file_offset'] + buffers[-1][
                        'stored_bytes']
                same((column / 'pages' / f'{number}.raw').read_bytes(), content[begin:end])
                layout = page['message'].get('mini_block_layout')
                chunks = column / 'pages' / f'{number}.chunks.jsonl'
                same(chunks.exists(), layout is not None, chunks)
                if layout:
                    chunks = lines_of(chunks)
                    same(sum(chunk['values'] for chunk in chunks), layout['num_items'])
                    same([chunk['first_value'] for chunk in chunks],
                         np.cumsum([0] + [chunk['values'] for chunk in chunks])[:-1].tolist())
                    same(chunks[0]['file_offset'], buffers[1]['file_offset'])
                    same(sum(chunk['stored_bytes'] for chunk in chunks), buffers[1]['stored_bytes'])
                    same({struct.unpack_from('<H', content, chunk['file_offset'])[0] for chunk in chunks},
                         {chunk['levels'] for chunk in chunks})
            names = os.listdir(column / 'pages')
            same(len(names), len(set(names)))
            same({name.split('.')[0] for name in names}, {str(number) for number in range(len(pages))})
        same(harness.errors_of(mountpoint), [])


def strings_of(ends, characters):
    begins = [0, *ends[:-1]]
    return [bytes(characters[begin:end]).decode() for begin, end in zip(begins, ends)]


@case
def strings_of_a_page_end_where_its_ends_say_and_dictionaries_are_beside_their_pages():
    for version in '2.1', '2.2':
        with harness.mounted(data(f'lance_mini_blocks_{version}.lance')) as mountpoint:
            dataset = mountpoint / f'lance_mini_blocks_{version}'
            for field in 'strings', 'dictionary':
                column, rows = dataset / field / 'column.0', lines_of(dataset / field / 'rows.jsonl')
                ends, characters = np.load(column / 'ends.npy'), (column / 'data.bin').read_bytes()
                same(len(lines_of(column / 'pages.jsonl')), 1)
                same([text or None for text in strings_of(ends.tolist(), characters)],
                     [row or None for row in rows], field)
            pages = dataset / 'dictionary' / 'column.0' / 'pages'
            items = strings_of(np.fromfile(pages / '0.dictionary.ends.bin', '<u8').tolist(),
                               (pages / '0.dictionary.bin').read_bytes())
            same(set(items) - {''}, {row for row in rows if row}, 'the dictionary')
            same(len(items), json.loads((dataset / 'dictionary' / 'column.0' / 'pages.jsonl').read_text())
                 ['message']['mini_block_layout']['num_dictionary_items'])
            same(harness.errors_of(mountpoint), [])


if __name__ == '__main__':
    run()
