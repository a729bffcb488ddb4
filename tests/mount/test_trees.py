#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The TTrees of tests/data/trees/trees_*.root, compared with what other readers found; a case
for each file, through a mount, and through `ntuple cp`, which needs none."""
import errno
import json
import os
import re
import shutil
import sys
from pathlib import Path

import numpy as np

import harness
from harness import (DATA, NTUPLE, Foreground, case, cat_lines, command, data, fails, fuse_problem, mounted,
                     output, run, same, scratch)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'support'))
from tree_values import compare_trees  # noqa: E402

SOURCES = sorted(DATA.glob('trees/trees_*.root'))
# Branches that lack some of their rows in this file: cases below.
ROWS_ELSEWHERE = {'trees_short_branches': {f'short: {when}{suffix}' for when in ('early', 'never')
                                           for suffix in ('', '_list', '_words', '_x')},
                  'trees_other_file': {'split: i'}}
SHORT_ROWS = 12  # of trees_short_branches
UNREAD = 'trees_own_streamers'  # some branches cannot be read


def differences(source, top):
    """The differences from what other readers found."""
    found = []

    def report(what, error):
        if error and what not in ROWS_ELSEWHERE.get(source.stem, ()):
            found.append(f'{what}: {error}')

    compare_trees(source.with_suffix('.json'), top, report)
    return found


def declare_value_cases():
    def through_a_mount(source):
        def values():
            if problem := fuse_problem():
                raise harness.Skip(problem)
            with mounted(source) as top:
                same(differences(source, top), [], source.name)
                if source.stem != UNREAD:
                    check_sizes(top)
        values.__name__ = f'the_mount_of_{source.stem}_has_the_values'
        return values

    def through_a_copy(source):
        def values():
            with scratch() as directory:
                output(NTUPLE, 'cp', '-r', source, '/', directory / 'copy')
                same(differences(source, directory / 'copy'), [], source.name)
        values.__name__ = f'the_copy_of_{source.stem}_has_the_values'
        return values

    for source in SOURCES:
        case(through_a_mount(source))
        if source.stem not in (*ROWS_ELSEWHERE, UNREAD):
            case(through_a_copy(source))


def check_sizes(top):
    """`ls -lR` shows for each file with a size how many bytes it has."""
    for parent, _, names in os.walk(top):
        for name in names:
            path = Path(parent, name)
            size = path.stat().st_size
            if size and '.ntuplefs' not in path.parts:
                try:
                    same(len(path.read_bytes()), size, path)
                except OSError as error:  # of rows that are not in this file
                    same(error.errno, errno.EIO, path)


declare_value_cases()


@case
def there_is_a_file_of_each_kind():
    assert len(SOURCES) > 10, SOURCES


@case
def branches_have_their_own_leaves_beside_the_branches_below_them():
    with mounted(data('trees/trees_sub_branches.root')) as top:
        for path, dtype, row in (('single/value', '<i4', lambda i: 3 * i),
                                 ('single/below', '<f8', lambda i: i * i),
                                 ('pair/x', '<f4', lambda i: i / 2), ('pair/y', '<i4', lambda i: -i),
                                 ('pair/below', '<f8', lambda i: i * i)):
            found = np.fromfile(top / 'plain' / path / 'data.bin', dtype)
            same(found.tolist(), list(map(row, range(10))), path)


@case
def sound_files_are_verified():
    for source in SOURCES:
        if source.stem not in (*ROWS_ELSEWHERE, UNREAD):
            same(command(NTUPLE, 'verify', source).returncode, 0, source.name)


@case
def pointers_whose_objects_are_not_read_say_where_there_are_objects():
    for name, path, reason in (('objects', 'none', 'the first baskets have no object'),
                               ('pointers', 'node/item/next', 'contain objects of this class')):
        source = data(f'trees/trees_{name}.root')
        for branch in 'split', 'whole':
            field = f'{name}/{branch}/{path}'
            same(set(output(NTUPLE, 'cat', source, f'{field}/offsets.bin')), {0}, field)
            document = json.loads(output(NTUPLE, 'cat', source, f'{field}/item/field.json'))
            assert reason in document['unreadable'], document


@case
def classes_with_streamers_of_their_own_are_unreadable_and_not_damaged():
    source, reason = data('trees/trees_own_streamers.root'), 'has a streamer of its own'
    result = command(NTUPLE, 'verify', source)
    same(result.returncode, 10, result)
    with Foreground(source) as mount:
        for path in 'RooLinkedList/_size', 'TAttImage/fPalette/fPoints/item', 'TMixture/fA':
            fails(errno.EIO, (mount.mountpoint / 'own' / path / 'data.bin').read_bytes)
            field = json.loads((mount.mountpoint / 'own' / path / 'field.json').read_text())
            assert reason in field['unreadable'], field
            reported = f'unread: own: (page list of )?field {path}: '
            assert re.search(reported, result.stdout.decode()), result.stdout
    rows = output(NTUPLE, 'cat', '--rows=0:20', source, '/').decode()
    same([json.loads(row)['i'] for row in rows.splitlines()], [3 * row for row in range(20)])


@case
def rows_that_a_branch_does_not_have_are_errors_and_those_that_it_has_are_there():
    source = data('trees/trees_short_branches.root')
    with Foreground(source) as mount:
        early, never = (mount.mountpoint / 'short' / name / 'data.bin' for name in ('early', 'never'))
        same(harness.pread(early, 4 * SHORT_ROWS, 0, os.O_DIRECT),
             b''.join((row + 1).to_bytes(4, 'little') for row in range(SHORT_ROWS)))
        fails(errno.EIO, harness.pread, early, 4, 4 * SHORT_ROWS, os.O_DIRECT)
        fails(errno.EIO, never.read_bytes)
        same((early.stat().st_size, never.stat().st_size), (80, 80))
        assert any('field early' in message and f'entries from {SHORT_ROWS} on' in message
                   for message in mount.messages()), mount.messages()
        assert any('never' in message for message in mount.messages()), mount.messages()


@case
def missing_lists_are_errors_and_the_items_of_the_others_are_there():
    source, rows = data('trees/trees_short_branches.root'), range(SHORT_ROWS)
    expected = {'list': (np.float32, [row % 3 for row in rows], [row / 2 for row in rows]),
                'x': (np.float64, [row % 3 for row in rows], [row / 4 for row in rows])}
    with Foreground(source) as mount:
        def read(path, dtype, count):
            return np.frombuffer(harness.pread(mount.mountpoint / 'short' / path, count * dtype().itemsize, 0,
                                               os.O_DIRECT), dtype).tolist()

        for name, (dtype, sizes, values) in expected.items():
            ends, items = np.cumsum([0, *sizes]).tolist(), np.repeat(values, sizes).tolist()
            same(read(f'early_{name}/offsets.bin', np.int64, len(ends)), ends, name)
            same(read(f'early_{name}/item/data.bin', dtype, len(items) + 1), items, name)
        words = mount.mountpoint / 'short/early_words'
        same((words / 'item/data.bin').read_bytes(), b'word' * (SHORT_ROWS // 2))
        for name in 'list', 'words', 'x':
            for when, first in ('early', SHORT_ROWS), ('never', 0):
                offsets = mount.mountpoint / 'short' / f'{when}_{name}/offsets.bin'
                same(offsets.stat().st_size, 8 * (20 + 1), offsets)
                fails(errno.EIO, harness.pread, offsets, 8, 8 * (first + 1), os.O_DIRECT)
                assert any(f'field {when}_{name}' in message and f'entries from {first} on' in message
                           for message in mount.messages()), mount.messages()
    result = command(NTUPLE, 'verify', source)
    same((result.returncode, result.stdout.count(b' unsupported: '), b' damaged' in result.stdout),
         (4, 8, False), result.stdout)


@case
def where_lists_end_and_their_items_are_decoded_at_once():
    """A basket has both, and the files of a branch are read one after the other."""
    def decoded(*paths):
        before = harness.stats(mount.mountpoint)
        for path in paths:
            (mount.mountpoint / 'clusters' / path).read_bytes()
        after = harness.stats(mount.mountpoint)
        return [after[name] - before[name] for name in ('pages_decoded', 'pages_sibling')]

    with scratch() as chain:
        for name in 'a.root', 'b.root':
            shutil.copy(data('trees/trees_structure.root'), chain / name)
        for source, options, baskets in ((chain / 'a.root', (), 6),
                                         (chain / '*.root', ('-o', 'chain'), 2 * 6)):
            with Foreground(source, options=options) as mount:
                same(decoded('list/offsets.bin'), [2 * baskets, baskets], source)
                same(decoded('list/item/data.bin'), [0, 0], source)
                same(decoded('text/data.bin', 'text/offsets.bin'), [2 * baskets, baskets], source)
                same(decoded('i/data.bin'), [baskets, 0], source)


@case
def members_of_an_object_are_decoded_at_once_from_the_second_one_on():
    """The first may be the only one that is read."""
    hits = 'classes/level_1/hits/item'
    with Foreground(data('trees/trees_classes.root')) as mount:
        def decoded(path):
            before = harness.stats(mount.mountpoint)
            (mount.mountpoint / hits / path).read_bytes()
            after = harness.stats(mount.mountpoint)
            return [after[name] - before[name] for name in ('pages_decoded', 'pages_sibling')]

        same(decoded('id/data.bin'), [2, 1])      # where the list ends, too
        same(decoded('charge/data.bin'), [4, 3])  # id, and both columns of samples
        for path in 'id/data.bin', 'samples/offsets.bin', 'samples/item/data.bin':
            same(decoded(path), [0, 0], path)


@case
def texts_and_tables_of_rows_that_a_branch_does_not_have_fail():
    source = data('trees/trees_short_branches.root')
    for path in 'rows.jsonl', 'table.csv', 'table.arrow', 'early/rows.jsonl', 'early/data.npy':
        result = command(NTUPLE, 'cat', source, f'short/{path}')
        same((result.returncode != 0, b'has no basket for the entries from' in result.stderr), (True, True),
             (path, result.stderr))
    result = command(NTUPLE, 'head', '--rows=20', source, 'short')
    same((result.returncode != 0, b'of field never' in result.stderr
          and b'entries from 0 on' in result.stderr), (True, True), result.stderr)
    rows = command(NTUPLE, 'cat', source, 'short/early/rows.jsonl').stdout.split()
    same([int(row) for row in rows], list(range(1, SHORT_ROWS + 1)))


@case
def enumerations_in_maps_are_numbers_if_the_file_does_not_describe_the_pairs():
    source = data('trees/trees_enumerations.root')
    content = source.read_bytes()
    same((content.count(b'pair<Color,Flat>'), content.count(b'pair<int,Color>')), (1, 1))
    with scratch() as directory:
        copy = directory / source.name
        copy.write_bytes(content.replace(b'pair<', b'pear<'))
        shutil.copy(source.with_suffix('.json'), directory)
        with mounted(copy) as top:
            same(differences(copy, top), [])


@case
def a_branch_in_another_file_is_unreadable_and_names_it():
    with Foreground(data('trees/trees_other_file.root')) as mount:
        field = json.loads((mount.mountpoint / 'split/i/field.json').read_text())
        assert 'trees_other_file.baskets' in field['unreadable'], field
        branch = json.loads((mount.mountpoint / 'split/i/branch.json').read_text())
        assert 'trees_other_file.baskets' in json.dumps(branch), branch


@case
def a_basket_that_differs_from_those_before_it_is_damaged():
    source = data('trees/trees_unclosed.root')
    pages = output(NTUPLE, 'cat', source, 'unclosed/text/column.0/pages.jsonl').splitlines()
    place = json.loads(pages[1])['file_offset'] + 34
    content = bytearray(source.read_bytes())
    for _ in range(3):  # class, name and title
        place += 1 + content[place]
    same(content[place:place + 2], b'\0\3')  # version of the basket
    content[place] = 1
    with scratch() as directory:
        copy = directory / 'differs.root'
        copy.write_bytes(content)
        result = command(NTUPLE, 'verify', copy)
        same(result.returncode, 5, result.stderr)
        assert b'basket 1: version of a basket: expected 1 to 3, found 259' in result.stdout, result.stdout
        first = json.loads(pages[1])['first_entry']
        for rows, status in (first, 0), (first + 1, 5):
            result = command(NTUPLE, 'head', '-n', str(rows), copy)
            same(result.returncode, status, rows)


@case
def documents_describe_the_tree_of_a_dataset():
    def reported(source, path):
        return json.loads(output(NTUPLE, 'cat', data(source), f'{path}/ntuple.json'))

    document = reported('trees/trees_unclosed.root', 'unclosed')
    same((document['entries'], document['is_recovered']), (30, True))
    # of 15 entries, and from 50 on of 20
    same(reported('trees/trees_structure.root', 'clusters')['clusters'], 6)
    kept = reported('trees/trees_structure.root', 'kept')
    same(kept.get('is_recovered', False), False)
    assert any('inner/other' in json.dumps(friend) for friend in kept['friends']), kept
    tree = output(NTUPLE, 'cat', data('trees/trees_structure.root'), 'kept/tree.json')
    for word in b'twice', b'2 * i', b'calibration', b'of May':
        assert word in tree, word


@case
def columns_say_how_their_numbers_are_stored():
    for path, stored in (('i', ('BigInt32', 32, 'big-endian')), ('text', ('basket', 8, ''))):
        column = json.loads(output(NTUPLE, 'cat', data('trees/trees_baskets.root'),
                                   f'baskets/{path}/column.0/column.json'))
        same(tuple(column[key] for key in ('type', 'bits', 'encoding')), stored)


@case
def cycles_directories_and_names_of_trees():
    datasets = json.loads(output(NTUPLE, 'cat', data('trees/trees_structure.root'), 'file.json'))['datasets']
    same(len([dataset for dataset in datasets if dataset['name'].startswith('cycles')]), 2, datasets)
    listing = output(NTUPLE, 'ls', data('trees/trees_structure.root')).decode().split()
    for name in 'cycles', 'cycles;1', 'inner', 'no_branches', 'no_entries':
        assert name in listing, (name, listing)


@case
def a_page_is_a_basket():
    pages = cat_lines(data('trees/trees_baskets.root'), 'baskets/list/column.0/pages.jsonl')
    baskets = [page['basket'] for page in pages]
    same(baskets, list(range(len(baskets))))
    assert len(baskets) > 1, pages
    embedded = cat_lines(data('trees/trees_embedded.root'), 'last/list/column.0/pages.jsonl')
    same([page['is_embedded'] for page in embedded], [False] * (len(embedded) - 1) + [True])


@case
def sizes_and_places_of_baskets_are_those_of_the_file():
    """Of the basket that docs/formats/ttree.md takes apart, and of those within the record of a tree."""
    first = cat_lines(data('trees/trees_baskets.root'), 'baskets/list/column.0/pages.jsonl')[0]
    same([first[key] for key in ('file_offset', 'stored_bytes', 'packed_bytes')], [276, 970, 896])
    of_compressed = cat_lines(data('trees/trees_embedded.root'), 'last/list/column.0/pages.jsonl')[-1]
    same((of_compressed['file_offset'], 'object_offset' in of_compressed), (None, True))
    source = data('trees/trees_friends.root')
    page, = cat_lines(source, 'shorter/value/column.0/pages.jsonl')
    at, size = page['file_offset'], page['stored_bytes']
    same(source.read_bytes()[at:at + size], output(NTUPLE, 'cat', source,
                                                   'shorter/value/column.0/pages/0.raw'))
    same((page['is_embedded'], page['packed_bytes']), (True, 5 * 8))
    assert b'TBasket' in source.read_bytes()[at:at + size], at


@case
def the_layout_owns_every_byte():
    for source in SOURCES:
        ranges = sorted((item['file_offset'], item['stored_bytes'])
                        for item in cat_lines(source, 'layout.jsonl'))
        end = 0
        for offset, size in ranges:
            same(offset, end, source.name)
            end += size
        same(end, source.stat().st_size, source.name)


@case
def the_layout_of_a_chain_has_each_byte_once():
    with scratch() as directory:
        for name in 'a.root', 'b.root':
            shutil.copy(data('trees/trees_embedded.root'), directory / name)
        items = [json.loads(line) for line in output(NTUPLE, 'cat', '--chain', directory / '*.root',
                                                     'layout.jsonl').splitlines()]
        for name in 'a.root', 'b.root':
            ends = 0
            for item in (item for item in items if item['file'] == str(directory / name)):
                same(item['file_offset'], ends, name)
                ends += item['stored_bytes']
            same(ends, (directory / name).stat().st_size, name)


def specification(directory, *samples):
    path = directory / 'specification.json'
    path.write_text(json.dumps({'samples': {f's{number}': {'trees': [tree], 'files': [str(source)]}
                                            for number, (source, tree) in enumerate(samples)}}))
    return path


@case
def the_name_of_a_dataset_decides_what_a_chain_joins():
    """A file with RNTuples and trees joins one with trees only, in either order."""
    mixed, trees = data('trees/mixed.root'), data('trees/trees_structure.root')
    with scratch() as directory:
        for samples, name in ([(mixed, 'Tracks'), (trees, 'kept')],
                              'Tracks'), ([(trees, 'kept'), (mixed, 'Tracks')], 'kept'):
            chain = specification(directory, *samples)
            rows = [json.loads(line) for line in output(NTUPLE, 'cat', '--chain=union', chain,
                                                        f'{name}/rows.jsonl').splitlines()]
            numbers = {'Tracks': list(range(100)), 'kept': [i % 3 for i in range(20)]}
            same([row['n'] for row in rows], numbers[samples[0][1]] + numbers[samples[1][1]])


@case
def a_document_of_classes_is_there():
    for source in SOURCES:
        if source.stem != 'trees_unclosed':  # it was not closed, and has none
            assert b'TBranch' in output(NTUPLE, 'cat', source, 'streamer_info.json'), source


@case
def rows_and_tables_have_all_entries():
    for source in SOURCES:
        if source.stem in ROWS_ELSEWHERE:
            continue
        for tree in json.loads(source.with_suffix('.json').read_text())['trees']:
            rows = output(NTUPLE, 'cat', source, f'{tree["path"]}/rows.jsonl').splitlines()
            same(len(rows), tree['entries'], f'{source.name}: {tree["path"]}')


run(needs_fuse=False)
