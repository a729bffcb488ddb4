#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is said of the values of fields, compared with NumPy on what another program wrote into the files."""
import json
import math
import os
import shutil
import struct
import sys
from pathlib import Path

import numpy as np

from harness import DATA, NTUPLE, case, command, data, on_a_terminal, output, run, same, scratch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'support'))
from bloscpack_file import write_bloscpack  # noqa: E402

NANO = data('nano.root')
ENTRIES, BINS = 200, 20


def described(*arguments, status=0):
    result = command(NTUPLE, 'describe', '--json', *arguments)
    same(result.returncode, status, result.stderr)
    return {field['field']: field for field in json.loads(result.stdout)['datasets'][0]['fields']}


def check(field, values):
    """Of the finite ones: exact limits, the mean, and NumPy's histogram."""
    finite = values[np.isfinite(values)]
    same([field['values'], field['nans'], field['infinities']],
         [len(values), int(np.isnan(values).sum()), int(np.isinf(values).sum())], field['field'])
    same([np.float32(field['minimum']), np.float32(field['maximum'])], [finite.min(), finite.max()],
         field['field'])
    assert abs(field['mean'] - finite.astype('f8').mean()) < 1e-9, field
    same(sum(field['histogram']), len(finite), field['field'])
    if len(field['histogram']) == BINS:
        expected = np.histogram(finite.astype('f8'), BINS, (finite.min(), finite.max()))[0]
        # on the borders of bins
        assert np.abs(np.array(field['histogram']) - expected).max() <= 2, (field, expected)


def jagged(counts, value):
    return np.array([value(i, k) for i in range(ENTRIES) for k in range(counts(i))], 'f4')


@case
def values_are_those_that_were_written():
    def muons(i):
        return i * 7 % 5

    def jets(i):
        return i * 3 % 4

    def mass(i, k):
        return np.nan if (i + k) % 50 == 7 else np.inf if (i + k) % 60 == 9 else 5 + k
    found = described(NANO)
    check(found['MET_pt'], np.arange(ENTRIES, dtype='f4') / np.float32(3))
    check(found['Muon_pt/_0'], jagged(muons, lambda i, k: 3 + i / 8 + 10 * k))
    check(found['Jet_mass/_0'], jagged(jets, mass))
    check(found['nJet'], np.array([jets(i) for i in range(ENTRIES)], 'f4'))
    same(found['nJet']['histogram'], [50] * 4)
    same([found['event'][key] for key in ('minimum', 'maximum', 'mean')], [1000, 1000 + 3 * 199, 1298.5])
    same([name for name in found if name.startswith('_')], [])
    same(list(described(NANO, 'Muon_[pe]*')), ['Muon_pt/_0', 'Muon_eta/_0'])


@case
def a_damaged_page_is_named_and_its_values_are_counted():
    result = command(NTUPLE, 'describe', data('damaged_page.root'), 'noise')
    same(result.returncode, 5)
    message = result.stderr
    assert b'noise: column 1 (SplitUInt64) of field noise, page 0 of cluster 0' in message, message
    found = described(data('damaged_page.root'), 'noise', status=5)['noise']
    whole = np.frombuffer(output(NTUPLE, 'cat', data('compression_zstd.root'), 'noise/data.bin'), '<u8')[150:]
    same([found[key] for key in ('values', 'unread', 'minimum', 'maximum')],
         [1000, 150, int(whole.min()), int(whole.max())])
    same(sum(found['histogram']), 850)
    same(len(found['failures']), 1)


@case
def entries_that_no_page_has_are_counted_at_once():
    source, claimed = data('trees/trees_baskets.root'), 1 << 40
    tree = json.loads(output(NTUPLE, 'cat', source, 'baskets/tree.json'))
    with scratch() as directory:
        content = bytearray(source.read_bytes())
        place = content.index(struct.pack('>q', 50), tree['record_offset'])  # its first member is fEntries
        content[place:place + 8] = struct.pack('>q', 50 + claimed)
        copy = directory / 'claims.root'
        copy.write_bytes(content)
        sound, found = described(source, 'i'), described(copy, 'i', status=4)
    same([found['i'][key] for key in ('values', 'unread')], [50 + claimed, claimed])
    same([found['i'][key] for key in ('minimum', 'maximum', 'mean', 'histogram')],
         [sound['i'][key] for key in ('minimum', 'maximum', 'mean', 'histogram')])


@case
def fields_that_cannot_be_read_are_no_damage():
    source = data('trees/trees_own_streamers.root')
    found = command(NTUPLE, 'describe', source)
    same([found.returncode, command(NTUPLE, 'verify', source).returncode], [10, 10], found.stderr)


@case
def nulls_are_counted_apart():
    found = described(data('lance_packed_2.1.lance'), 'vectors')
    rows = [json.loads(line) for line in output(NTUPLE, 'cat', data('lance_packed_2.1.lance'),
                                                'vectors/rows.jsonl').splitlines()]
    values = [value for row in rows for value in (row or [None] * 3)]
    known = [value for value in values if value is not None]
    field = found['vectors/item']
    same([field[key] for key in ('values', 'nulls', 'minimum', 'maximum')],
         [len(values), values.count(None), min(known), max(known)])
    energies = described(data('example.root'), 'missing_energy')['missing_energy/_0']
    same([energies['values'], energies['nulls'], sum(energies['histogram'])], [1000, 334, 666])


@case
def values_that_are_no_numbers_are_counted():
    for name, fields in ('lance_times_2.0', ['decimal128', 'decimal256']), ('lance_texts_2.0', ['fixed']):
        columns = {column['path']: [column['rows'], column['nulls']]
                   for column in json.loads((DATA / f'{name}.json').read_text())['columns']}
        found = described(data(f'{name}.lance'))
        for field in fields:
            same([found[field][key] for key in ('values', 'nulls')], columns[field], field)
            assert 'minimum' not in found[field] and found[field]['histogram'] == [], found[field]
    found = described(data('lance_numbers_2.0.lance'), 'null')['null']
    same([found['values'], found['nulls']], [24, 24])
    found = described(data('lance_null_lists_2.2.lance'), 'all_empty', 'items', 'nothing_in_lists')
    same([[field[key] for key in ('values', 'nulls')] for field in found.values()],
         [[6, 0], [12, 12], [24, 24]])
    same([found['all_empty'][key] for key in ('is_of_lengths', 'minimum', 'maximum')], [True, 0, 0])


@case
def selected_entries_are_described_alone():
    energies = np.arange(ENTRIES, dtype='f4') / np.float32(3)
    check(described('--entries=Events:5:25', NANO)['MET_pt'], energies[5:25])
    one = described('--entries=Events:7:8', NANO, 'MET_pt')['MET_pt']
    check(one, energies[7:8])
    same(one['histogram'], [1] + [0] * 19)
    for name, fields in (('nano.root', ('MET_pt', 'Muon_pt')), ('trees/trees_baskets.root', ('text', 'i')),
                         ('lance_texts_2.1.lance', ()), ('rows_of_nothing.blp', ())):
        found = described('--entries=0:0', data(name), *fields)
        assert found, name
        for field in found.values():
            same([field['values'], field['nulls'], field['histogram']], [0, 0, []], name)
            assert 'minimum' not in field, field


@case
def datasets_without_entries_or_fields_have_a_heading():
    lines = output(NTUPLE, 'describe', data('empty.root')).decode().splitlines()
    same([line for line in lines if ' entries' in line],
         ['no_entries: 0 entries', 'no_fields: 5 entries', 'nothing: 0 entries'])
    for field in described(data('lance_no_rows_2.2.lance')).values():
        same([field['values'], field['histogram']], [0, []], field['field'])


@case
def arrays_of_every_type_are_described():
    with scratch() as directory:
        for dtype in ('<i1', '>i2', '>i4', '>i8', '>u2', '>u4', '>u8', '<u8', '>f4', '>f8', '<f2', '>f2',
                      '|b1'):
            values = np.arange(-40, 41).astype(np.dtype(dtype).newbyteorder('=')).astype(dtype)
            path = directory / 'array.blp'
            write_bloscpack(path, values)
            field, = described(path).values()
            same([field['values'], field['minimum'], field['maximum']],
                 [81, values.min().item(), values.max().item()], dtype)
            same(np.float64(field['mean']), values.astype('f8').mean(), dtype)
        write_bloscpack(path, np.array(['ab', 'c'], 'S2'))
        field, = described(path).values()
        same([field['values'], field['nulls'], field['histogram']], [2, 0, []])


@case
def a_roaring_bitmap_is_described():
    numbers = np.array([3, 5, 8, 13, 21], '<u2')
    with scratch() as directory:  # one array container, by the format's specification
        (directory / 'bitmap.roaring').write_bytes(
            struct.pack('<IIHHI', 12346, 1, 1, len(numbers) - 1, 16) + numbers.tobytes())
        field, = described(directory / 'bitmap.roaring').values()
        same([field[key] for key in ('values', 'minimum', 'maximum', 'mean')],
             [5, 65536 + 3, 65536 + 21, 65536 + 10])


@case
def a_chain_is_described_as_one_dataset():
    with scratch() as directory:
        for name in 'a.root', 'b.root':
            shutil.copy(NANO, directory / name)
        one, both = described(NANO), described('--chain', directory / '*.root')
        same(list(both), list(one))
        for name, field in both.items():
            same([field[key] for key in ('minimum', 'maximum')], [one[name][key] for key in ('minimum',
                 'maximum')], name)
            same(field['histogram'], [2 * count for count in one[name]['histogram']], name)
        lines = output(NTUPLE, 'describe', directory, 'a.root', 'b.root/event').decode().splitlines()
        same([line for line in lines if line.endswith('entries')], ['Events: 200 entries'] * 2)
        same([line.split()[0] for line in lines[-2:]], ['FIELD', 'event'])


@case
def texts_are_described_by_their_lengths():
    found = described(data('trees/trees_baskets.root'), 'text')['text']
    texts = [json.loads(line) for line in output(NTUPLE, 'cat', data('trees/trees_baskets.root'),
                                                 'text/rows.jsonl').splitlines()]
    lengths = [len(text.encode()) for text in texts]
    same([found[key] for key in ('is_of_lengths', 'values', 'minimum', 'maximum')],
         [True, 50, min(lengths), max(lengths)])


@case
def a_table_has_a_line_for_each_field():
    lines = output(NTUPLE, 'describe', NANO, 'nJet', 'Jet_mass').decode().splitlines()
    same(lines[0], 'Events: 200 entries')
    same(lines[1].split()[:4], ['FIELD', 'VALUES', 'NULL', 'NaN'])
    same(lines[2].split(), ['nJet', '200', '0', '0', '0', '0', '0', '1.5', '3', '████'])
    same(lines[3].split()[:6], ['Jet_mass', '300', '0', '8', '4', '0'])


@case
def a_narrow_terminal_gets_rounded_numbers_and_no_columns_of_zeros():
    found = described(data('example.root'), 'Events')
    for width, shown in (60, []), (80, ['HISTOGRAM']):
        os.environ.update(COLUMNS=str(width), NO_COLOR='1')
        lines = on_a_terminal(NTUPLE, 'describe', data('example.root'), 'Events').decode().splitlines()[1:]
        assert max(map(len, lines)) <= width, lines
        same(lines[0].split(), ['FIELD', 'NULL', 'MIN', 'MEAN', 'MAX', *shown])
        for name in 'run', 'event', 'weight':
            [cells] = [line.split() for line in lines if line.split()[0] == name]
            values = [found[name][key] for key in ('minimum', 'mean', 'maximum')]
            assert all(math.isclose(float(text), value, rel_tol=1e-5)
                       for text, value in zip(cells[2:5], values)), (cells, values)
            if name == 'event':
                same(cells[2:5:2], [str(values[0]), str(values[2])], 'integers are not rounded')


run(needs_fuse=False)
