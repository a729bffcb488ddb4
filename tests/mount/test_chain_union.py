#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files with different fields as one dataset: a field that a file lacks reads as zeros, nothing
or null, numbers get a type that holds those of all files, and fields that cannot be joined fail
alone."""
import itertools
import json
import re
import shutil
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'support'))
from bloscpack_file import write_bloscpack  # noqa: E402
from json_rules import problems  # noqa: E402
from harness import (  # noqa: E402
    NTUPLE, case, command, data, errors_of, lines, mounted, need, output, run, same, scratch
)

UNREAD = 10  # src/cli/cli.h
UNION = '--chain=union'


def filled(value, like):
    """A field in the chain for a file with `value`, where None is a part that the file lacks.
    `like`: a sample row of the field, with one item for lists and a tuple for nullable parts."""
    if isinstance(like, tuple):
        return None if value is None else filled(value, like[0])
    if isinstance(like, dict):
        return {name: filled((value or {}).get(name), of) for name, of in like.items()}
    if isinstance(like, list):
        return [filled(item, like[0]) for item in value or []]
    return type(like)() if value is None else value


def rows(*sources, options=()):
    """Of the only dataset."""
    path = next(each['path'] for each in json.loads(output(NTUPLE, 'cat', *options, *sources,
                                                           'file.json'))['datasets'] if 'entries' in each)
    return [json.loads(line) for line in output(NTUPLE, 'cat', '--rows=0:', *options, *sources,
                                                f'{path}/rows.jsonl').splitlines()]


def union_of(directory, order, options=()):
    """The rows of a chain of these files in this order."""
    listed = directory / 'files.txt'
    listed.write_text(''.join(f'{path}\n' for path in order))
    return rows(listed, options=(UNION, *options))


def by_uproot(path, **fields):
    """One cluster; numbers as they are, lists and records in the form of Awkward Array."""
    uproot, arrays = need('uproot'), need('awkward')
    with uproot.recreate(path) as file:
        file.mkrntuple('data', {name: values if isinstance(values, np.ndarray) else arrays.Array(values)
                                for name, values in fields.items()})
    return path


def read_by_uproot(path):
    return need('uproot').open(path)['data'].arrays().to_list()


def drifting_files(directory):
    """Fields that appear, disappear, move and grow; a file without entries; a sample row in all
    of them."""
    particle = {'pt': 1.5, 'charge': 1, 'hits': [1, 2]}
    first = by_uproot(directory / 'first.root', count=np.arange(5, dtype='i2') - 3,
                      weight=np.arange(5, dtype='f4') / 3,
                      text=['a', 'bb', '', 'dddd', 'e'], point=[{'x': i} for i in range(5)],
                      maybe=[1, None, 3, None, 5],
                      particles=[[{'pt': .5 + i, 'charge': -1}] * (i % 3) for i in range(5)])
    second = by_uproot(directory / 'second.root', other=['x', '', 'zz'], weight=np.array([.1, 1e300, -.2]),
                       point=[{'y': .25, 'x': 7}] * 3, count=np.array([-2**31, 0, 2**31 - 1], 'i4'),
                       lists=[[[1], []], [], [[2, 3]]],
                       particles=[[particle, {**particle, 'hits': []}], [], [particle]])
    third = by_uproot(directory / 'third.root', count=np.array([0, 2**32 - 1], 'u4'),
                      flag=np.array([True, False]))
    empty = by_uproot(directory / 'empty.root', late=np.zeros(0, 'f8'), count=np.zeros(0, 'u1'))
    like = {'count': 1, 'weight': 1.5, 'text': '', 'point': {'x': 1, 'y': 1.5}, 'maybe': (1,),
            'particles': [particle], 'other': '',
            'lists': [[1]], 'flag': True, 'late': 1.5}
    return [first, second, third, empty], like


@case
def a_field_that_a_file_does_not_have_reads_as_nothing():
    with scratch() as directory:
        files, like = drifting_files(directory)
        of = {path: [filled(row, like) for row in read_by_uproot(path)] for path in files}
        for order in itertools.permutations(files):
            same(union_of(directory, order), [row for path in order for row in of[path]], order)
        result = command(NTUPLE, 'verify', UNION, directory / 'files.txt')
        same((result.returncode, result.stdout.count(b': ok')), (0, 1), result)


def migrated_files(directory):
    """An RNTuple, a tree, and an RNTuple, with the same fields; the tree also counts its lists."""
    uproot, arrays = need('uproot'), need('awkward')

    def fields(count):
        return {'energy': np.arange(count, dtype='f4') / 4, 'run': np.arange(count, dtype='i8') - 2,
                'hits': [[count, each] * (each % 3) for each in range(count)]}
    old = directory / 'old.root'
    with uproot.recreate(old) as file:
        file.mktree('data', {'energy': 'f4', 'run': 'i8', 'hits': 'var * int64'})
        file['data'].extend({name: arrays.Array(values) for name, values in fields(7).items()})
    return [by_uproot(directory / 'new.root', **fields(5)), old,
            by_uproot(directory / 'newer.root', **fields(4))]


@case
def a_tree_and_an_rntuple_of_one_name_are_one_dataset():
    with scratch() as directory:
        files = migrated_files(directory)
        of = {path: read_by_uproot(path) for path in files}
        for order in itertools.permutations(files):
            expected = [{'nhits': 0, **row} for path in order for row in of[path]]
            same(union_of(directory, order), expected, order)
            index = directory / 'index'
            for _ in range(2):  # the second knows the entries of the files
                with mounted(directory / 'files.txt', options=('-o', f'chain=union,index={index}')) as mount:
                    same([row['hits'] for row in lines(mount / 'data/rows.jsonl')],
                         [row['hits'] for row in expected], order)
                    same(np.fromfile(mount / 'data/run/data.bin', '<i8').tolist(),
                         [row['run'] for row in expected], order)
            index.unlink()
        same(command(NTUPLE, 'verify', UNION, directory / 'files.txt').returncode, 0)
        same(rows(*files[:1], options=('--chain',)), of[files[0]])
        result = command(NTUPLE, 'cat', '--chain', directory / 'files.txt', 'data/run/data.bin')
        assert b'field nhits differs between files' in result.stderr, result


@case
def chosen_entries_are_those_of_all_files():
    with scratch() as directory:
        files, like = drifting_files(directory)
        whole = [filled(row, like) for path in files for row in read_by_uproot(path)]
        for first, end in ((0, 0), (3, 6), (4, 10), (9, 10)):
            same(union_of(directory, files, [f'--entries={first}:{end}']), whole[first:end], (first, end))


@case
def files_of_columns_have_one_type():
    with scratch() as directory:
        files, like = drifting_files(directory)
        with mounted(*files) as singles, mounted(*files, options=('-o', 'chain=union')) as mount:
            trees, whole = [singles / path.name / 'data' for path in files], mount / 'data'
            for name, dtype in (('count', 'i8'), ('weight', 'f8'), ('flag', '?'), ('late', 'f8'),
                                ('point/y', 'f8')):
                parts = [np.load(tree / name / 'data.npy') if (tree / name).exists()
                         else np.zeros(len(lines(tree / 'rows.jsonl')), dtype)
                         for tree in trees]
                found = np.load(whole / name / 'data.npy')
                same(found.dtype, np.dtype(dtype), name)
                np.testing.assert_array_equal(found, np.concatenate([part.astype(dtype) for part in parts]))
                same(np.fromfile(whole / name / 'data.bin', dtype).tolist(), found.tolist(), name)
            # as each file stores it
            for number, (tree, dtype) in enumerate(zip(trees, ('<i2', '<i4', '<u4', '|u1'))):
                column = np.load(whole / f'count/column.{number}/data.npy')
                same((column.dtype.str, column.tolist()),
                     (dtype, np.load(tree / 'count/column.0/data.npy').tolist()))
            offsets = np.load(whole / 'particles/_0/hits/offsets.npy')
            same(np.diff(offsets).tolist(), [len(p['hits']) for path in files for row in read_by_uproot(path)
                                             for p in filled(row, like)['particles']])
            for path in whole.rglob('*.json'):
                same(list(problems(json.loads(path.read_text()))), [], path)
            same(errors_of(mount), [])


@case
def tables_are_as_arrow_concatenates_them():
    arrow = need('pyarrow')
    with scratch() as directory:
        files, like = drifting_files(directory)
        with mounted(*files) as singles, mounted(*files, options=('-o', 'chain=union')) as mount:
            tables = [arrow.ipc.open_file(str(singles / path.name / 'data/table.arrow')).read_all() for path
                      in files]
            found = arrow.ipc.open_file(str(mount / 'data/table.arrow')).read_all()
            nested = {'point', 'particles'}  # Arrow adds no members
            tables = [table.drop_columns(nested & {*table.column_names}) for table in tables]
            same({*found.column_names}, {*like})
            found = found.drop_columns(nested)
            expected = arrow.concat_tables(tables, promote_options='permissive')
            same(found.schema.names, expected.schema.names)
            same(found.schema.types, expected.schema.types)
            same(found.to_pylist(), [filled(row, {key: like[key] for key in found.column_names}) for row
                                     in expected.to_pylist()])


def exact_type(types):
    """The type to which NumPy promotes types, None if a number of one of them might change."""
    wide = np.result_type(*types)
    exact = all(np.can_cast(t, wide, 'safe') and (t.kind == wide.kind or wide.kind != 'f'
                                                  or np.iinfo(t).bits <= np.finfo(wide).nmant + 1)
                for t in types)
    return wide if exact else None


def extremes(dtype):
    limits = np.finfo(dtype) if dtype.kind == 'f' else np.iinfo(dtype)
    return np.array([limits.min, 0, 1, limits.max, 100], dtype)


@case
def numbers_widen_without_loss_or_not_at_all():
    types = [np.dtype(f'<{name}') for name in ('i1', 'i2', 'i4', 'i8', 'u1', 'u2', 'u4', 'u8', 'f2', 'f4',
                                               'f8')]
    sets = [*itertools.permutations(types, 2), *itertools.permutations([types[2], types[6], types[9]])]
    with scratch() as directory:
        paths = [directory / f'part{i}.blp' for i in range(3)]
        for each in sets:
            for path in paths:
                path.unlink(missing_ok=True)
            for path, dtype in zip(paths, each):
                write_bloscpack(path, extremes(dtype))
            wide = exact_type(each)
            field = json.loads(output(NTUPLE, 'cat', UNION, directory / 'part*.blp',
                                      'part0/values/field.json'))
            same(field['dtype'], wide and wide.str, each)
            if wide:
                found = np.frombuffer(output(NTUPLE, 'cat', UNION, directory / 'part*.blp',
                                             'part0/values/data.bin'), wide)
                np.testing.assert_array_equal(found, np.concatenate([extremes(dtype) for dtype
                                                                     in each]).astype(wide), str(each))
            else:
                assert 'no type holds the numbers' in field['unreadable'], field


@case
def what_cannot_be_one_is_an_error_of_that_field_alone():
    with scratch() as directory:
        cases = {'number': (np.arange(3), ['a', 'b', 'c']), 'truth': (np.array([True] * 3), np.arange(3)),
                 'shape': ([{'x': 1}] * 3, [[1]] * 3), 'large': (np.arange(3), np.arange(3) * .5)}
        inner = [[{'other': other, 'same': same}] * 3 for other, same in ((2, 1), ('text', 5))]
        one, two = (by_uproot(directory / f'{name}.root', good=np.arange(3), inner=inner[k],
                              items=[inner[k][:1], [], inner[k]],
                              **{field: both[k] for field, both in cases.items()})
                    for k, name in enumerate(('one', 'two')))
        with mounted(one, two, options=('-o', 'chain=union')) as mount:
            whole = mount / 'data'
            for name in (*cases, 'inner/other', 'items/_0/other', 'shape/x'):
                field = json.loads((whole / name / 'field.json').read_text())
                assert all(str(path) in field['unreadable'] for path in (one, two)), field
                assert not list((whole / name).glob('data.*')), name
            same(lines(whole / 'rows.jsonl'),
                 [{'good': i, 'inner': {'same': k}, 'items': [{'same': k}] * count} for k in (1, 5) for i,
                  count in enumerate((1, 0, 3))])
            same(errors_of(mount), [])
            # what they store is still shown and checked
            same([np.load(whole / f'number/column.{k}/data.npy').tolist() for k in range(3)],
                 [[0, 1, 2], [1, 2, 3], list(b'abc')])
            ranges = [{key: line.get(key) for key in ('file', 'file_offset', 'stored_bytes', 'owner')}
                      for line in lines(mount / 'layout.jsonl')]
            same(ranges, [{**line, 'file': str(path)} for path in (one, two) for line in (
                {key: line.get(key) for key in ranges[0]} for line
                in map(json.loads, output(NTUPLE, 'cat', path, 'layout.jsonl').splitlines()))])
        results = [command(NTUPLE, 'verify', *sources) for sources
                   in ([UNION, directory / '*.root'], [one], [two])]
        same([result.returncode for result in results], [UNREAD, 0, 0])
        verified = [re.search(r'(\d+) pages', result.stdout.decode()) for result in results]
        same(int(verified[0][1]), int(verified[1][1]) + int(verified[2][1]))


@case
def fields_that_were_added_late_and_those_that_show_others():
    """Complicated parts of a file work: deferred columns, several representations, projected
    fields."""
    for name, added in (('late_fields', 'late'), ('projected', None),
                        ('multi_representation', 'representations'), ('types', None)):
        with scratch() as directory:
            old = directory / 'old.root'
            shutil.copy(data(f'{name}.root'), old)
            described = json.loads(output(NTUPLE, 'cat', old, 'file.json'))['datasets']
            dataset = next(each['path'] for each in described if 'entries' in each)
            uproot, arrays = need('uproot'), need('awkward')
            with uproot.recreate(directory / 'new.root') as file:
                file.mkrntuple(dataset, {'brand_new': arrays.Array([1, 2, 3])})
            before = rows(old)
            zeros = None
            for order in ((old, directory / 'new.root'), (directory / 'new.root', old)):
                found = union_of(directory, order)
                at = 0 if order[0] == old else 3
                for row, expected in zip(found[at:at + len(before)], before):
                    same(row.pop('brand_new'), 0)
                    same({key: row[key] for key in expected}, expected, name)
                rest = found[len(before):] if order[0] == old else found[:3]
                same([row.pop('brand_new') for row in rest], [1, 2, 3])
                zeros = zeros or rest[0]
                assert all(not any(leaves(row)) and row == zeros for row in rest), (name, rest)
            same(command(NTUPLE, 'verify', UNION, directory / '*.root').returncode, 0)


def leaves(value):
    """A row of nothing: arrays of a fixed length have items, and optional ones none."""
    if isinstance(value, dict):
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item)
    else:
        yield value


@case
def files_and_datasets_of_lance():
    """Rows that a file lacks are null, also next to rows that were deleted."""
    groups = [('lance_nested_2.1.lance', 'lance_texts_2.0.lance', 'lance_numbers_2.1.lance'),
              ('lance_datasets/deletions_2.1', 'lance_datasets/columns_2.1',
               'lance_datasets/many_deletions_2.2')]
    for names in groups:
        with scratch() as directory:
            paths = [data(name) for name in names]
            singles = [rows(path) for path in paths]
            found = union_of(directory, paths)
            same(len(found), sum(map(len, singles)))
            expected = [row for each in singles for row in each]
            keys = list(dict.fromkeys(key for row in expected for key in row))
            for row, known in zip(found, expected):
                same(list(row), keys)
                same({key: row[key] for key in known}, known)
                assert all(row[key] in (None, 0, []) for key in keys if key not in known), row
            same(command(NTUPLE, 'verify', UNION, *paths[:1]).returncode, 0)


@case
def what_may_be_null_in_a_file_may_be_null_in_all():
    """Rows of a file whose fields are never null are valid, and rows of fields that it lacks are
    null."""
    names = ['lance_declared_2.2', 'lance_drifted_2.2']
    member = ({'number': (1,), 'text': ('',), 'extra': ([('',)],)},)
    without = {'vector': [None, None], 'structure': None, 'elements': None, 'map': [], 'maps': None,
               'uuid': None, 'added': None}
    reported = [json.loads(data(f'{name}.json').read_text()) for name in names]
    with scratch() as directory:
        for order in ((0, 1), (1, 0)):
            found = union_of(directory, [data(f'{names[k]}.lance') for k in order])
            same(len(found), sum(each['entries'] for each in reported))
            start = 0
            for k in order:
                for number, row in reported[k]['rows']:
                    nested = {'full_structure': filled(row['full_structure'], member),
                              'members': filled(row['members'], ([member],))}
                    same(found[start + number], {**without, **row, **nested}, (order, number))
                valid = output(NTUPLE, 'cat', UNION, directory / 'files.txt', f'{names[order[0]]}/number/'
                                                                              f'valid.bin')[start:]
                same([bool(valid[number]) for number, row in reported[k]['rows']],
                     [row['number'] is not None for _, row in reported[k]['rows']])
                start += reported[k]['entries']
            same(command(NTUPLE, 'verify', UNION, directory / 'files.txt').returncode, 0)


run()
