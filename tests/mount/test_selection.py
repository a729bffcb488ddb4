#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Selected entries: rows, tables and columns are those of all entries without the others, for
every dataset of tests/data and every kind of selection. Invalid selections are refused with
their position."""
import functools
import io
import json
import os
import random
import struct
from pathlib import Path

import numpy as np

import harness
from harness import NTUPLE, case, command, data, mounted, need, output, run, same, scratch

ALL_FILES = sorted([*harness.DATA.glob('*.root'), *harness.DATA.glob('*.lance'), *harness.DATA.glob('*.blp'),
                    *(path for path in harness.DATA.glob('lance_datasets/*') if path.is_dir())])
# Every file has some of them, so that each is tried with every kind of file.
CHOICES = (
    ('none', lambda count, chance: []),
    ('all', lambda count, chance: range(count)),
    ('the last', lambda count, chance: range(max(count - 1, 0), count)),
    ('every second', lambda count, chance: range(0, count, 2)),
    ('some', lambda count, chance: [i for i in range(count) if chance.random() < 0.1]),
    ('all but some', lambda count, chance: [i for i in range(count) if chance.random() > 0.05]),
)


@functools.lru_cache(maxsize=None)
def datasets_of(source):
    """{path in the tree: entries} of those that open."""
    described = json.loads(output(NTUPLE, 'cat', source, 'file.json'))
    return {each['path']: each['entries'] for each in described['datasets'] if 'entries' in each}


def write_choice(path, numbers, count, number):
    """The same selection in one of its possible forms."""
    mask = np.zeros(count, bool)
    mask[list(numbers)] = True
    ways = (lambda: np.save(path, mask), lambda: np.save(path, np.array(numbers, 'i8')),
            lambda: np.save(path, np.array(numbers, '>u4')),
            lambda: path.write_text(' '.join(map(str, numbers))))
    ways[number % len(ways)]()


@functools.lru_cache(maxsize=None)
def rows(source, path, *options):
    result = command(NTUPLE, 'cat', '--rows=0:', *options, source, path)
    return result.returncode, result.stdout.decode().splitlines()


@functools.lru_cache(maxsize=None)
def table(source, path, *options):
    """Rows of table.arrow, None if there is none."""
    arrow = need('pyarrow.ipc')
    result = command(NTUPLE, 'cat', *options, source, f'{path}/table.arrow')
    return None if result.returncode else arrow.open_file(io.BytesIO(result.stdout)).read_all().to_pylist()


def check(source, path, count, way, numbers, directory, number):
    chosen = directory / f'chosen.{number}.npy'
    write_choice(chosen, numbers, count, number)
    option = f'--select={path}:{chosen}'
    status, whole = rows(source, path)
    if status:  # damaged parts: another test's
        return 0
    assert len(whole) == count
    status, found = rows(source, path, option)
    assert status == 0 and found == [whole[i] for i in numbers], f'{source.name}: {path}: {way}'
    whole, found = table(source, path), table(source, path, option)
    if whole is not None:
        # NaN equals NaN here
        assert repr(found) == repr([whole[i] for i in numbers]), f'{source.name}: {path}/table.arrow: {way}'
    return 1


@case
def rows_and_tables_are_those_of_all_entries_without_the_others():
    chance = random.Random(4711)
    number = checked = 0
    with scratch() as directory:
        for source in ALL_FILES:
            for path, count in datasets_of(source).items():
                way, choose = CHOICES[number % len(CHOICES)]
                checked += check(source, path, count, way, list(choose(count, chance)), directory, number)
                number += 1
    assert checked > 60, checked


@case
def every_sort_of_choice_holds_for_every_kind_of_field():
    chance = random.Random(3)
    with scratch() as directory:
        for number, (way, choose) in enumerate(CHOICES):
            for name in ('types.root', 'late_fields.root', 'lance_datasets/deletions_2.1'):
                source = data(name)
                found = datasets_of(source)
                path = next(iter(found))
                check(source, path, found[path], way, list(choose(found[path], chance)), directory, number)


# ---- through a mount ----

@case
def columns_are_what_numpy_picks_and_what_is_stored_stays():
    with scratch() as directory, mounted(data('example.root')) as whole:
        events = whole / 'Events'
        weight = np.load(events / 'weight' / 'data.npy')
        mask = weight > 1.2
        np.save(directory / 'mask.npy', mask)
        with mounted(data('example.root'), options=('-o', f'select=Events:{directory}/mask.npy')) as chosen:
            same(np.load(chosen / 'Events' / 'weight' / 'data.npy').tobytes(), weight[mask].tobytes())
            same(np.load(chosen / 'Events' / 'beam_spot' / 'data.npy').tobytes()
                 if (chosen / 'Events' / 'beam_spot' / 'data.npy').exists() else b'',
                 np.load(events / 'beam_spot' / 'data.npy')[mask].tobytes()
                 if (events / 'beam_spot' / 'data.npy').exists() else b'')
            offsets = np.fromfile(events / 'muons' / 'offsets.bin', '<i8')
            mine = np.fromfile(chosen / 'Events' / 'muons' / 'offsets.bin', '<i8')
            same(np.diff(mine).tolist(), np.diff(offsets)[mask].tolist())
            same(np.load(chosen / 'Events' / 'muons' / '_0' / 'pt' / 'data.npy').tobytes(),
                 np.load(events / 'muons' / '_0' / 'pt' / 'data.npy')[np.repeat(mask,
                         np.diff(offsets))].tobytes())
            about = json.loads((chosen / 'Events' / 'ntuple.json').read_text())
            same((about['entries'], about['stored_entries']), (int(mask.sum()), len(mask)))
            last = int(mask.sum()) - 1
            same(json.loads((chosen / 'Events' / 'rows.d' / f'{last}.json').read_text()),
                 json.loads((events / 'rows.d' / f'{np.flatnonzero(mask)[-1]}.json').read_text()))
            assert not (chosen / 'Events' / 'rows.d' / f'{last + 1}.json').exists()
            for stored in ('clusters.jsonl', 'weight/column.0/data.bin', 'weight/column.0/pages.jsonl',
                           'layout.jsonl'):
                path = stored if stored == 'layout.jsonl' else f'Events/{stored}'
                same((chosen / path).read_bytes(), (whole / path).read_bytes(), stored)
            assert 'stored_entries' not in (events / 'ntuple.json').read_text()


@case
def one_dataset_of_several_files_is_meant_by_its_path():
    with scratch() as directory:
        (directory / 'first').write_text('0')
        source = data('example.root').parent
        late = next(iter(datasets_of(data("late_fields.root"))))
        options = f'select=example.root/Events:{directory}/first,entries=late_fields.root/{late}:1:3'
        with mounted(data('example.root'), data('late_fields.root'), data('types.root'),
                     options=('-o', options)) as mountpoint:
            for name, count in (('example.root', 1), ('late_fields.root', 2), ('types.root', None)):
                path = next(iter(datasets_of(source / name))) if name != 'example.root' else 'Events'
                about = json.loads((mountpoint / name / path / 'ntuple.json').read_text())
                same(about.get('stored_entries') is not None, count is not None, name)
                same(about['entries'], count or about['entries'], name)


@case
def entries_of_a_chain_are_numbered_through_all_files():
    with scratch() as directory:
        for name in 'first', 'second':
            (directory / f'{name}.root').write_bytes(data('example.root').read_bytes())
        with mounted(data('example.root')) as alone:
            events = alone / 'Events'
            weight = np.tile(np.load(events / 'weight' / 'data.npy'), 2)
            items = np.tile(np.diff(np.fromfile(events / 'muons' / 'offsets.bin', '<i8')), 2)
            lines = 2 * (events / 'rows.jsonl').read_text().splitlines()
        mask = weight > 1.2
        mask[:len(mask) // 2 - 3] = False  # few of the first file
        np.save(directory / 'mask.npy', mask)
        with mounted(directory / '*.root', options=('-o',
                                                    f'chain,select=Events:{directory}/mask.npy')) as chosen:
            events = chosen / 'Events'
            same(np.load(events / 'weight' / 'data.npy').tobytes(), weight[mask].tobytes())
            same(np.diff(np.fromfile(events / 'muons' / 'offsets.bin', '<i8')).tolist(), items[mask].tolist())
            same((events / 'rows.jsonl').read_text().splitlines(), [lines[i] for i in np.flatnonzero(mask)])


# ---- what is refused ----

def npy(header, body=b'', version=1):
    text = header.encode('latin1')
    return b'\x93NUMPY' + bytes([version, 0]) + struct.pack('<H' if version == 1 else '<I',
                                                            len(text)) + text + body


def described(descr='<i8', shape='(1,)', order='False'):
    return f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n"


def run_of_numbers(descr, first, wrong=()):
    """10,000 numbers that ascend by one, but for the wrong ones. They are read in several pieces."""
    numbers = (np.arange(10000, dtype='<u8') + np.uint64(first)).astype(descr)
    for at, number in wrong:
        numbers[at] = number
    return npy(described(descr, '(10000,)'), numbers.tobytes())


ONE = struct.pack('<q', 1)
REFUSED = (
    (run_of_numbers('<u4', 0), 'element 1000: entry 1000 does not exist: the dataset has 1000'),
    (run_of_numbers('<u8', 7), 'element 993: entry 1000 does not exist: the dataset has 1000'),
    (run_of_numbers('<u4', 0, [(9000, 8998)]), 'element 9000: expected a number above 8999, found 8998'),
    (run_of_numbers('<u8', 5, [(9000, 9004)]), 'element 9000: expected a number above 9004, found 9004'),
    (run_of_numbers('<u4', 2**32 - 5000), 'element 5000: expected a number above 4294967295, found 0'),
    (run_of_numbers('<u8', 2**64 - 5000), f'element 5000: expected a number above {2**64 - 1}, found 0'),
    (b'3 2', 'element 1: expected a number above 3, found 2'),
    (b'3 3', 'element 1: expected a number above 3, found 3'),
    (b'1 2 1000', 'element 2: entry 1000 does not exist: the dataset has 1000'),
    (b'999 1000', 'element 1: entry 1000 does not exist: the dataset has 1000'),
    (b'18446744073709551616', 'element 0: the number has more than 64 bits'),
    (b'12 13 14 -3', 'line 1: element 3: expected entry numbers, found "-3"'),
    (b'1\n2\nabc\n', 'line 3: element 2: expected entry numbers, found "abc"'),
    (b'1 # one\n# two\n\n2.5', 'line 4: element 1: expected entry numbers, found "2.5"'),
    (b'-1\n', 'line 1: element 0: expected entry numbers, found "-1"'),
    (b'1 2\n2', 'line 2: element 2: expected a number above 2, found 2'),
    (b'1' + b'x' * 100, f'found "1{"x" * 39}"'),
    (b'nothing of the kind', 'a .npy file, a text with numbers, or a dataset'),
    (b'\x00\x01', 'a .npy file, a text with numbers, or a dataset'),
    (npy(described('<i8', '(2,)'), ONE + b'\xff' * 8), 'element 1: the number is below 0'),
    (npy(described('|i1', '(1,)'), b'\x80'), 'element 0: the number is below 0'),
    (npy(described('|b1', '(999,)'), b'\x01' * 999), '999 bools, but the dataset has 1000 entries'),
    (npy(described('|b1', '(1000,)'), b'\x02' * 1000), 'element 0: expected a bool, found 0x02'),
    (npy(described('<i8', '(2,)'), ONE), 'expected 2 elements, found 1'),
    (npy(described('<i8', '(99999999999999999999,)'), ONE), 'a shape of one dimension'),
    (npy(described('<i8', '(4611686018427387904,)'), ONE), 'expected 4611686018427387904 elements, found 1'),
    (npy(described('<i8', '(1, 1)'), ONE), 'a shape of one dimension'),
    (npy(described('<i8', '()'), ONE), 'a shape of one dimension'),
    (npy(described().replace("'descr'", "'descr\""), ONE), 'a name'),
    (npy(described().replace("'<i8'", "\"<i8'"), ONE), 'a type of integers or bools'),
    (npy(described().replace(', ', ',\t', 1), ONE), 'a name'),
    (npy(described('<f8'), ONE), 'expected an array of integers or bools, found type "<f8"'),
    (npy(described('<i3'), ONE), 'expected an array of integers or bools, found type "<i3"'),
    (npy(described('<U12'), ONE), 'found type "<U12"'),
    (npy(described('O'), ONE), 'found type "O"'),
    (npy("{'descr': [('a', '<i8')], 'shape': (1,)}", ONE), 'a type of integers or bools'),
    (npy("{'shape': (1,)}", ONE), 'descr and shape'),
    (npy("{'shape': (1,", ONE), 'a shape of one dimension'),
    (npy("{'shape", ONE), 'a name'),
    (npy("{'other': 1}", ONE), 'descr, fortran_order or shape'),
    (npy('', ONE), 'a dictionary'),
    (npy(described(), ONE, 4), 'version 4'),
    (npy(' ' * 9000), 'the header is too long: 9000 bytes'),
    (b'\x93NUMPY\x01\x00\xff\xff', 'the header ends past the end of the file'),
    (b'\x93NUMPY\x02\x00\xff', 'the header ends past the end of the file'),
    (b'\x93NUMPY', 'the header ends past the end of the file'),
)


@case
def choices_that_do_not_fit_are_refused_with_their_place():
    with scratch() as directory:
        path = directory / 'choice'
        for content, message in REFUSED:
            path.write_bytes(content)
            result = command(NTUPLE, 'ls', f'--select=Events:{path}', data('example.root'))
            assert result.returncode, content
            found = result.stderr.decode()
            assert message in found and str(path) in found, (content, found)
        path.write_text('1')
        for option, message in ((f'Else:{path}',
                                 'cannot select entries of the dataset Else: no such dataset'),
                                 (str(path), 'name the dataset'),
                                (f'Events/run:{path}', 'Events/run: not a dataset'),
                                (f'Events:{path}x', 'No such file')):
            result = command(NTUPLE, 'ls', f'--select={option}', data('example.root'))
            assert result.returncode and message in result.stderr.decode(), (option, result.stderr)
        os.mkfifo(directory / 'fifo')
        for no_file in '/dev/null', directory, directory / 'fifo':
            result = command(NTUPLE, 'ls', f'--select=Events:{no_file}', data('example.root'))
            same((result.returncode, result.stderr.decode()),
                 (1, f'ntuple: option "select": {no_file}: not a regular file\n'))
        for option in f'--select=Events:{path}', '--entries=Events:0:1':
            result = command(NTUPLE, 'ls', option, '--entries=Events:1:2', data('example.root'))
            same(result.returncode, 1, option)
            assert b'the dataset Events already has a selection of entries' in result.stderr, result.stderr


@case
def ranges_of_several_datasets_are_chosen():
    names = datasets_of(data('directories_by_uproot.root'))
    assert len(names) > 1, names
    options = [f'--entries={name}:1:3' for name in names]
    for name in names:
        whole, chosen = (rows(data('directories_by_uproot.root'), name, *given)[1] for given in ([], options))
        same(chosen, whole[1:3], name)


@case
def arrays_of_every_width_and_byte_order_are_read():
    with scratch() as directory:
        expected = rows(data('example.root'), 'Events', '--entries=Events:3:5')[1]
        same(len(expected), 2)
        for descr in ('|i1', '|u1', '<i2', '>i2', '<u2', '>u2', '<i4', '>i4', '<u4', '>u4', '<i8', '>i8',
                      '<u8', '>u8'):
            for version in (1, 2, 3) if descr == '<i8' else (1,):
                choice = directory / f'{ord(descr[0])}{descr[1:]}.{version}'
                choice.write_bytes(npy(described(descr, '(2,)', 'True'), np.array([3, 4], descr).tobytes(),
                                       version))
                same(rows(data('example.root'), 'Events', f'--select=Events:{choice}')[1], expected, descr)


@case
def a_roaring_bitmap_is_a_choice():
    shared = os.environ.get('NTUPLE_SHARED')
    bitmaps = sorted(Path(shared, 'data', 'roaring').glob('gen*/[abr]*.bin'))[:12] if shared else []
    if not bitmaps:
        raise harness.Skip('no bitmaps: NTUPLE_SHARED is not set')
    tried = 0
    whole = rows(data('example.root'), 'Events')[1]
    for bitmap in bitmaps:
        result = command(NTUPLE, 'cat', '--rows=0:2000', bitmap, '/')
        numbers = [json.loads(line)['values'] for line in result.stdout.decode().splitlines()]
        status, found = rows(data('example.root'), 'Events', f'--select=Events:{bitmap}')
        if max(numbers, default=0) >= len(whole):
            assert status, bitmap
            continue
        assert found == [whole[i] for i in numbers], bitmap
        tried += len(numbers) > 0
    assert tried


if __name__ == '__main__':
    run()
