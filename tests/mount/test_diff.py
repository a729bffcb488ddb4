# SPDX-License-Identifier: MIT
"""ntuple diff: its output for two files, and its exit status."""
import json
import shutil
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'support'))
from bloscpack_file import write_bloscpack  # noqa: E402
from json_rules import problems  # noqa: E402
from harness import DATA, NTUPLE, case, cat_lines, command, data, flip, output, run, same, scratch

ALGORITHMS = 'none', 'lz4', 'lzma', 'zlib', 'zstd'


def diff(*arguments):
    """The exit status, lines and standard error."""
    result = command(NTUPLE, 'diff', *arguments)
    return result.returncode, result.stdout.decode().splitlines(), result.stderr.decode()


def document(*arguments):
    """The exit status and the JSON document, whose names keep the rules."""
    result = command(NTUPLE, 'diff', '--json', *arguments)
    found = json.loads(result.stdout)
    same(list(problems(found)), [], arguments)
    same(found['schema'], 'ntuplefs.diff/1')
    return result.returncode, found


def arrays(directory, *found):
    """Bloscpack files a and b, of two arrays."""
    paths = directory / 'a.blp', directory / 'b.blp'
    for path, array in zip(paths, found):
        write_bloscpack(path, array)
    return paths


def reported(directory, *found):
    """What is told of two arrays, without the summary, the conclusion and the layout."""
    status, lines, message = diff('--schema', '--values', *arrays(directory, *found))
    same((status, message), (1, ''))
    return [line for line in lines[:-1] if ' differ' not in line]


@case
def a_file_is_the_same_as_itself():
    names = sorted(path.name for path in DATA.iterdir() if path.suffix in ('.root', '.blp'))
    assert len(names) > 20, names
    for name in names:
        if name == 'damaged_page.root':
            continue
        path = data(name)
        same(diff(path, path), (0, [f'{path} and {path}: schema same, values same, layout same'], ''), name)
        same(diff('--layout', path, path)[0], 0, name)


@case
def another_compression_is_another_layout():
    for a, b in zip(ALGORITHMS, ALGORITHMS[1:] + ALGORITHMS[:1]):
        paths = data(f'compression_{a}.root'), data(f'compression_{b}.root')
        status, lines, message = diff(*paths)
        same((status, message), (0, ''))
        same(lines[-1], f'{paths[0]} and {paths[1]}: schema same, values same, layout differs')
        assert all(line.startswith('compressed: layout: ') for line in lines[:-1]), lines
        stored = [sum(column['stored_bytes'] for column in json.loads(output(NTUPLE, 'inspect', '--json',
                path))
                      ['datasets'][0]['columns']) for path in paths]
        assert f'compressed: layout: stored bytes: A {stored[0]}, B {stored[1]}' in lines, lines
        same(diff('--layout', *paths)[0], 1, 'a layout that was asked for counts')
        same(diff('--schema', '--values', *paths), (0,
                                                    [f'{paths[0]} and {paths[1]}: schema same, values same'],
                                                    ''))


def changed_copy(directory):
    """A file without checksums with a bit flipped in a page of `noise`: the copy, and the
    element."""
    copy = directory / 'copy.root'
    page = cat_lines(data('without_checksums.root'), 'unchecked/noise/column.0/pages.jsonl')[-1]
    same((page['stored_bytes'], page['packed_bytes']), (8 * page['elements'],) * 2,
         'the page is stored as it is')
    shutil.copy(data('without_checksums.root'), copy)
    flip(copy, page['file_offset'] + 3 * page['elements'] + 17)
    return copy, page['first_element'] + 17


@case
def a_changed_element_is_found():
    with scratch() as directory:
        copy, element = changed_copy(directory)
        values = [np.frombuffer(output(NTUPLE, 'cat', path, 'unchecked/noise/data.bin'), '<u8')
                  for path in (data('without_checksums.root'), copy)]
        same(list(np.flatnonzero(values[0] != values[1])), [element])
        a, b = int(values[0][element]), int(values[1][element])
        status, lines, message = diff(data('without_checksums.root'), copy)
        same((status, message), (1, ''))
        same(lines[:2], ['unchecked: 1 of 5 fields differs: values 1',
                         f'unchecked: values: noise[{element}]: A {a}, B {b}'])
        same(lines[2:],
             [f'{data("without_checksums.root")} and {copy}: schema same, values differ, layout same'])
        status, found = document(data('without_checksums.root'), copy)
        same((status, found['is_same'], found['failures']), (1, False, 0))
        same(found['differences'], {'schema': 0, 'values': 1, 'layout': 0})
        same(found['datasets'], [{'a': 'unchecked', 'b': 'unchecked', 'findings': [
            {'finding': 'values', 'field': 'noise', 'property': 'value', 'row': element, 'entry': element,
             'a': a,
             'b': b}], 'fields': 5, 'differing_fields': 1}])
        same([found[side]['file'] for side in 'ab'], [str(data('without_checksums.root')), str(copy)])


@case
def a_field_that_only_one_file_has_is_a_difference_of_all_parts():
    dtype = np.dtype([('both', '<i4'), ('only', '<f8')])
    with scratch() as directory:
        paths = arrays(directory, np.zeros(3, dtype), np.zeros(3, dtype[['both']]))
        for parts in (), ('--schema',), ('--values',), ('--layout',):
            status, lines, message = diff(*parts, *paths)
            same((status, message), (1, ''), parts)
            same([line for line in lines if ' only in ' in line],
                 ['a and b: schema: values/only: field only in A, <f8'], parts)
            assert 'schema differs' in lines[-1], lines


@case
def only_what_is_named_is_compared():
    with scratch() as directory:
        copy, _ = changed_copy(directory)
        good = data('without_checksums.root')
        same(diff('-q', good, copy, 'unchecked/ramp')[0], 0)
        same(diff('-q', good, copy, 'unchecked/noise')[0], 1)
        same(diff('-q', good, copy, 'unchecked')[0], 1)
        same(diff('--schema', good, copy)[0], 0)
    example = data('example.root')
    same(diff('-q', example, example, 'Events/muons/_0/pt', 'Events/muons/_0/pt')[0], 0)
    status, lines, _ = diff(example, example, 'Events/muons/_0/pt', 'Events/muons/_0/eta')
    same(status, 1)
    same(lines[0], 'Events: 1 of 1 field differs: values 1')
    assert lines[1].startswith('Events: values: muons/_0/pt and muons/_0/eta[0]: A '), lines
    status, lines, message = diff(example, example, 'Events/run', 'Events')
    same((status, lines), (2, []))
    assert 'a whole dataset' in message, message
    for paths in ('Nothing',), ('Events', 'Nothing'), ('.ntuplefs',):
        same(diff(example, example, *paths)[0], 2, paths)


@case
def datasets_are_matched_by_name_and_single_ones_whatever_their_names():
    status, lines, _ = diff(data('example.root'), data('dirs_and_cycles.root'))
    same(status, 1)
    for line in ('Events: schema: dataset only in A, rntuple',
                 'calibration/Constants: schema: dataset only in A, rntuple'):
        assert line in lines, lines
    assert any('dataset only in B' in line for line in lines), lines
    with scratch() as directory:
        paths = arrays(directory, np.arange(5), np.arange(5))
        status, found = document(*paths)
        same((status, found['is_same']), (0, True))
        same([(item['a'], item['b']) for item in found['datasets']], [('a', 'b')])
        write_bloscpack(paths[1], np.arange(1, 6))
        same(diff(*paths)[1][1], 'a and b: values: values[0]: A 0, B 1')


@case
def the_first_difference_is_exact_to_the_bit():
    with scratch() as directory:
        for a, b, line in [
                (np.float32([1, 0, 2]), np.float32([1, -0.0, 3]), 'values[1]: A 0.0, B -0.0'),
                (np.array([0x7ff8000000000001, 0x3ff0000000000000], '<u8').view('<f8'),
                 np.array([0x7ff8000000000002, 0x3ff0000000000000], '<u8').view('<f8'),
                 'values[0]: A "NaN" (0x7ff8000000000001), B "NaN" (0x7ff8000000000002)'),
                (np.array([[1, 2], [3, 4]]), np.array([[1, 2], [3, 5]]), 'values[1][1]: A 4, B 5'),
                (np.array([b'ab', b'c']), np.array([b'ab', b'd']), 'values[1]: A "c", B "d"'),
                (np.array([(1, 2.5)], [('x', '<i4'), ('y', '<f8')]),
                 np.array([(1, 3.5)], [('x', '<i4'), ('y', '<f8')]),
                 'values/y[0]: A 2.5, B 3.5')]:
            same(reported(directory, a, b), [f'a and b: values: {line}'])
            same(diff(directory / 'a.blp', directory / 'a.blp')[0], 0, 'the same NaN is the same')
        nan = np.array([0x7fc00001], '<u4').view('<f4')
        _, found = document(*arrays(directory, nan, -nan))
        finding = next(item for item in found['datasets'][0]['findings'] if item['finding'] == 'values')
        same([finding[key] for key in ('a', 'b', 'a_bits', 'b_bits')], ['NaN', 'NaN', '7fc00001', 'ffc00001'])


@case
def other_counts_types_and_members_are_reported():
    x = np.dtype([('x', '<i4')])
    with scratch() as directory:
        same(reported(directory, np.arange(5), np.arange(7)), ['a and b: values: entries: A 5, B 7'])
        same(reported(directory, np.arange(5), np.array([0, 1, 3])),
             ['a and b: values: entries: A 5, B 3', 'a and b: values: values[2]: A 2, B 3'])
        lines = reported(directory, np.arange(5, dtype='<f4'), np.arange(5, dtype='<f8'))
        same(lines[-1], 'a and b: values: values: not compared: dtype: A <f4, B <f8')
        paths = directory / 'a.blp', directory / 'b.blp'
        expected = [lines[-1], f'{paths[0]} and {paths[1]}: values not all compared']
        same(diff('--values', *paths), (2, expected, ''), 'nothing differs')
        same(diff('--schema', '--values', '-q', *paths)[:2],
             (1, [f'{paths[0]} and {paths[1]}: schema differs, values not all compared']))
        status, found = document('--values', *paths)
        same((status, found['differences'], found['is_same']), (2, {'values': 0}, False))
        same(found['not_compared'], 1)
        same([found['datasets'][0][key] for key in ('fields', 'differing_fields')], [1, 0])
        lines = reported(directory, np.zeros(3, x), np.zeros(3, [('x', '<i4'), ('y', '<f8')]))
        assert any(line.startswith('a and b: schema: values/y: field only in B, ') for line in lines), lines


@case
def integers_of_other_kinds_are_compared_by_their_values():
    with scratch() as directory:
        for other in '<i8', '<u2', '<i1':
            lines = reported(directory, np.arange(5, dtype='<i4'), np.arange(5, dtype=other))
            assert not any(line.startswith('a and b: values: ') for line in lines), lines
        lines = reported(directory, np.array([1, -1]), np.array([1, 2**64 - 1], '<u8'))
        same(lines[-1], 'a and b: values: values[1]: A -1, B 18446744073709551615')
        lines = reported(directory, np.array([3, 70000], '<i4'), np.array([3, 4464], '<u2'))
        same(lines[-1], 'a and b: values: values[1]: A 70000, B 4464')
        write_bloscpack(directory / 'b.blp', np.arange(40, dtype='<i8') % 4)
        names = data('projected.root'), directory / 'b.blp', 'projected/hit_count', 'b/values'
        same(diff('--values', '-q', *names)[0], 0)  # the number of items is no value of a column
        write_bloscpack(directory / 'b.blp', np.arange(40, dtype='<i8') % 5)
        status, lines, _ = diff('--values', *names)
        same((status, lines[1]), (1, 'projected and b: values: hit_count and values[4]: A 0, B 4'))


@case
def a_summary_comes_first():
    with scratch() as directory:
        copy, _ = changed_copy(directory)
        status, found = document(data('without_checksums.root'), copy)
        same([found['datasets'][0][key] for key in ('fields', 'differing_fields')], [5, 1])
        lines = diff('--layout', '--values', data('compression_lz4.root'), data('compression_zstd.root'))[1]
        same(lines[0], 'compressed: 4 of 5 fields differ: layout 4')
        same(diff(data('compression_lz4.root'), data('compression_lz4.root'))[1][0][-11:], 'layout same')


@case
def what_cannot_be_read_is_trouble():
    good, bad = data('compression_none.root'), data('damaged_page.root')
    for paths in (bad, bad), (bad, good), (good, bad):
        status, lines, message = diff(*paths)
        same(status, 2, paths)
        assert lines[-1].endswith(', some cannot be read'), lines
        assert message.count('noise') == paths.count(bad) and str(bad) in message, message
    status, found = document(bad, bad)
    failures = [item for item in found['datasets'][0]['findings'] if item['finding'] == 'failure']
    same((status, found['is_same'], found['failures'], [item['side'] for item in failures]),
         (2, False, 2, ['a', 'b']))
    same({item['field'] for item in failures} | {item['status'] for item in failures},
         {'noise', 'checksum mismatch'})
    with scratch() as directory:
        text = directory / 'text'
        text.write_text('no data')
        for paths in (good, directory / 'missing'), (directory / 'missing', good), (good, text), (good,
                directory):
            status, lines, message = diff(*paths)
            same((status, lines), (2, []), paths)
            assert any(path.name in message for path in paths), message


@case
def wrong_arguments_are_trouble_and_no_difference():
    good = data('empty.root')
    for arguments in [], [good], [good] * 5, [good, good, '--colour'], ['--layout=x', good, good]:
        same(diff(*arguments)[:2], (2, []), arguments)
    text = output(NTUPLE, 'help', 'diff').decode()
    assert '--values' in text and '0 same, 1 different, 2 ' in text, text


@case
def quiet_prints_one_line():
    paths = data('compression_none.root'), data('compression_zstd.root')
    same(diff('-q', *paths), (0, [f'{paths[0]} and {paths[1]}: schema same, values same, layout differs'],
                              ''))
    status, lines, _ = diff('-q', data('types.root'), data('empty.root'))
    same((status, len(lines)), (1, 1))


@case
def what_is_reported_does_not_depend_on_threads():
    for paths in (data('types.root'), data('encodings.root')), (data('damaged_page.root'),
                                                                data('compression_lz4.root')):
        expected = command(NTUPLE, 'diff', '--json', '--threads=1', *paths).stdout
        for threads in 2, 5:
            same(command(NTUPLE, 'diff', '--json', f'--threads={threads}', *paths).stdout, expected)


run(needs_fuse=False)
