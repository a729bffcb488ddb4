#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An index of a chain of datasets that are directories: whatever changes in a directory, rows are those
that another reader finds."""
import errno
import json
import os
import shutil
from datetime import timedelta
from pathlib import Path

import numpy as np

from blz_writer import blosc_file, blz_array
from chains import chain, files_below
from harness import (DATA, case, decoder_of, errors_of, fails, lines, need, pread, run, same, scratch,
                     version_of, wait_until)

ROWS = 10  # of each dataset


class Datasets:
    """Lance datasets of consecutive numbers, and the path of their index."""

    def __init__(self, directory, count=3):
        self.lance, self.arrow = need('lance'), need('pyarrow')
        self.index = directory / 'index.jsonl'
        self.paths = [directory / f'part{number}.lance' for number in range(count)]
        for number, path in enumerate(self.paths):
            self.write(path, range(number * ROWS, (number + 1) * ROWS), 'create')

    def write(self, path, ids, mode, **where):
        table = self.arrow.table({'id': self.arrow.array(ids, self.arrow.int64())})
        return self.lance.write_dataset(table, str(path), mode=mode, **where)

    def open(self, path):
        return self.lance.dataset(str(path))

    def ids(self, version=None):
        """What Lance's own reader finds."""
        found = [self.lance.dataset(str(path), version=version).to_table()['id'].to_pylist()
                 for path in self.paths]
        return [number for ids in found for number in ids]

    def mounted(self, *options):
        return chain(*self.paths, options=('-o', f'index={self.index}', *options))

    def known(self):
        return [(line['state'], line['datasets'][0]['entries']) for line in lines(self.index)]

    def learn(self, *options):
        with self.mounted(*options) as whole:
            (whole / 'file.json').stat()
            wait_until(self.index.exists, 'the index')


def ids_of(whole):
    data = whole / 'part0/id/data.bin'
    size = data.stat().st_size
    found = np.fromfile(data, '<i8')
    same(size, 8 * len(found), 'size')
    same([json.loads(line)['id'] for line in (whole / 'part0/rows.jsonl').read_text().splitlines()],
         found.tolist(), 'rows')
    return found.tolist()


def opened(whole, paths):
    """The numbers of the datasets of which a file or the directory is open."""
    folder, targets = Path(f'/proc/{decoder_of(whole)}/fd'), []
    for name in os.listdir(folder):
        try:
            targets.append(os.readlink(folder / name) + '/')
        except FileNotFoundError:
            pass  # it was closed meanwhile
    return [number for number, path in enumerate(paths)
            if any(target.startswith(f'{path}/') for target in targets)]


def append(sets, path):
    sets.write(path, range(100, 105), 'append')


def overwrite(sets, path):
    sets.write(path, range(200, 200 + ROWS), 'overwrite')


def delete(sets, path):
    sets.open(path).delete('id % 3 = 1')


def compact(sets, path):
    append(sets, path)
    delete(sets, path)
    sets.learn()
    same(sets.open(path).optimize.compact_files().fragments_removed > 0, True)


def restore(sets, path):
    """The first rows again, in a version of their own."""
    append(sets, path)
    sets.learn()
    sets.lance.dataset(str(path), version=1).restore()


def write_again(sets, path):
    """A version of the same number, with as many rows."""
    shutil.rmtree(path)
    sets.write(path, range(300, 300 + ROWS), 'create')


@case
def a_dataset_that_changed_is_looked_at_again():
    for change in append, overwrite, delete, compact, restore, write_again:
        for number in 0, 1:  # the first one is opened in any case
            with scratch() as directory:
                sets = Datasets(directory)
                sets.learn()
                change(sets, sets.paths[number])
                for _ in range(2):  # the second mount knows all of them
                    with sets.mounted() as whole:
                        same(ids_of(whole), sets.ids(), change.__name__)
                        same(errors_of(whole), [], change.__name__)
                    same(sets.known(), [(str(sets.open(path).version), sets.open(path).count_rows())
                                        for path in sets.paths], change.__name__)


@case
def nothing_is_opened_for_what_is_known():
    with scratch() as directory:
        sets = Datasets(directory)
        sets.learn()
        append(sets, sets.paths[2])
        sets.learn()
        written = version_of(sets.index)
        expected = sets.ids()
        for path in sets.paths[1:]:
            (path / 'data').rename(path / 'elsewhere')  # the directory changes, its version does not
        with sets.mounted() as whole:
            same((whole / 'part0/id/data.bin').stat().st_size, 8 * len(expected))
            same(errors_of(whole), [])
        same(version_of(sets.index), written, 'what is known is not written again')


@case
def rows_open_only_their_dataset():
    for change, of in (None, 0), (delete, 0), (delete, 4), (delete, 5):
        with scratch() as directory:
            sets = Datasets(directory, 6)
            if change:
                change(sets, sets.paths[of])
            sets.learn()
            expected = sets.ids()
            with sets.mounted('-o', 'direct_io=on') as whole:
                data = whole / 'part0/id/data.bin'
                same(data.stat().st_size, 8 * len(expected))
                os.listdir(whole / 'part0/id')
                same(opened(whole, sets.paths), [0], 'whose schema is shown')
                wanted = 4 * ROWS + 4  # stays
                found = pread(data, 8, 8 * expected.index(wanted))
                same(np.frombuffer(found, '<i8').tolist(), [wanted])
                same(opened(whole, sets.paths), [0, 4], change)
                same(ids_of(whole), expected)
                same(opened(whole, sets.paths), list(range(6)))
                same(errors_of(whole), [])


def rich_table(arrow, first, count):
    ids = range(first, first + count)
    return arrow.table({
            'id': arrow.array(ids, arrow.int64()),
            'may_be_null': arrow.array([i if i % 3 else None for i in ids], arrow.int32()),
            'text': arrow.array(['t' * (i % 7) for i in ids]),
            'word': arrow.array([('red', 'green', 'blue')[i % 3] for i in ids]).dictionary_encode(),
            'list': arrow.array([[k / 2 for k in range(i % 4)] for i in ids], arrow.list_(arrow.float32())),
            'record': arrow.array([{'a': i, 'b': str(i)} for i in ids])})


@case
def values_of_every_kind_are_those_of_another_reader():
    """Datasets of several fragments, each with two data files; one has deleted rows."""
    with scratch() as directory:
        sets, expected = Datasets(directory, 0), []
        sets.paths = [directory / f'part{number}.lance' for number in range(4)]
        for number, path in enumerate(sets.paths):
            table = rich_table(sets.arrow, 1000 * number, 90)
            sets.lance.write_dataset(table, str(path), max_rows_per_file=40)
            sets.open(path).add_columns({'twice': 'id * 2'})
        sets.open(sets.paths[3]).delete('id % 5 = 1')
        sets.learn()
        same([line.get('files') for line in lines(sets.index)], [7, 7, 7, 10])
        same(['schema' in line['datasets'][0] for line in lines(sets.index)], [True] * 4)
        same([line['datasets'][0].get('has_deletions') for line in lines(sets.index)], [None] * 3 + [True])
        for path in sets.paths:
            expected += sets.open(path).to_table().to_pylist()
        for _ in range(2):  # the second mount knows the numbers of elements, too
            with sets.mounted('-o', 'direct_io=on') as whole:
                twice = whole / 'part0/twice/data.bin'
                same(twice.stat().st_size, 8 * len(expected))
                same(opened(whole, sets.paths), [0])
                same(np.frombuffer(pread(twice, 8, 8), '<i8').tolist(), [2])
                same(opened(whole, sets.paths), [0])
                (end,) = np.frombuffer(pread(twice, 8, 8 * len(expected) - 8), '<i8').tolist()
                same(end, expected[-1]['twice'])
                same(opened(whole, sets.paths), [0, 3], 'deleted rows')
                same(lines(whole / 'part0/rows.jsonl'), expected)
                same(np.fromfile(whole / 'part0/list/item/data.bin', '<f4').tolist(),
                     [item for row in expected for item in row['list']])
                same(np.fromfile(twice, '<i8').tolist(), [row['twice'] for row in expected])
                same(errors_of(whole), [])
        sets.paths.pop()
        expected = expected[:sum(sets.open(path).count_rows() for path in sets.paths)]
        with sets.mounted() as whole:
            same((whole / 'part0/text/data.bin').stat().st_size, sum(len(row['text']) for row in expected))
            same(opened(whole, sets.paths), [0], 'numbers of elements are known')


def content(path):
    try:
        return path.read_bytes()
    except OSError as error:
        return error.errno  # blobs that are elsewhere


def contents(whole):
    paths = [path for path in files_below(whole, '*') if path.parts[0] not in ('.ntuplefs', 'files.d')]
    found = {path: content(whole / path) for path in paths}
    return found, {line['what'] for line in errors_of(whole)}


@case
def an_index_changes_nothing_in_the_tree():
    for name in ('fragments_2.2', 'columns_2.0', 'columns_0.1', 'mixed_0.1', 'blobs_2.2',
                 'managed_blobs_2.2'):
        with scratch() as directory:
            sets = Datasets(directory, 0)
            sets.paths = [directory / f'part{number}.lance' for number in range(3)]
            for path in sets.paths:
                shutil.copytree(DATA / 'lance_datasets' / name, path)
            sets.learn()
            with chain(*sets.paths) as whole:
                expected, errors = contents(whole)
            with sets.mounted() as whole:
                found, found_errors = contents(whole)
            same(found_errors, errors, name)
            same(sorted(found), sorted(expected), name)
            same([path for path in found if found[path] != expected[path]], [], name)
            for path in 'file.json', 'layout.jsonl', 'part0/files.jsonl':  # asked for first
                with sets.mounted() as whole:
                    same((whole / path).read_bytes() == expected[Path(path)], True, (name, path))


@case
def files_of_datasets_open_when_they_are_read():
    """A data file alone."""
    with scratch() as directory:
        sets = Datasets(directory, 5)
        files = [directory / f'file{number}.lance' for number in range(5)]
        for path, file in zip(sets.paths, files, strict=True):
            (found,) = (path / 'data').iterdir()
            found.rename(file)
        sets.paths = files
        sets.learn()
        with sets.mounted('-o', 'direct_io=on') as whole:
            data = whole / 'file0/id/data.bin'
            same(data.stat().st_size, 8 * 5 * ROWS)
            same(opened(whole, files), [0])
            same(np.frombuffer(pread(data, 8, 8 * 3 * ROWS), '<i8').tolist(), [3 * ROWS])
            same(opened(whole, files), [0, 3])
            same(np.fromfile(data, '<i8').tolist(), list(range(5 * ROWS)))
            same(errors_of(whole), [])


@case
def a_dataset_with_another_schema_is_opened_with_the_first():
    with scratch() as directory:
        sets = Datasets(directory, 4)
        table = sets.arrow.table({'id': sets.arrow.array(range(ROWS), sets.arrow.float64())})
        sets.lance.write_dataset(table, str(sets.paths[2]), mode='overwrite')
        sets.learn()
        with sets.mounted('-o', 'direct_io=on') as whole:
            data = whole / 'part0/id/data.bin'
            same(data.stat().st_size, 8 * 4 * ROWS)
            same(opened(whole, sets.paths), [0])
            same(np.frombuffer(pread(data, 8, 8 * 3 * ROWS), '<i8').tolist(), [3 * ROWS])
            same(opened(whole, sets.paths), [0, 2, 3])
            fails(errno.EIO, pread, data, 8, 8 * 2 * ROWS)
            (shown,) = errors_of(whole)
            same('differs between files' in shown['what'], True, shown)


@case
def a_wrong_number_of_files_is_found_out():
    for files, what in (3, 'files according to the index'), (2 ** 31, 'metadatasize'):
        with scratch() as directory:
            sets = Datasets(directory)
            sets.learn()
            wrong = lines(sets.index)
            same(wrong[1]['files'], 2)  # a data file and the manifest
            wrong[1]['files'] = files
            sets.index.write_text(''.join(json.dumps(line) + '\n' for line in wrong))
            with sets.mounted('-o', 'direct_io=on') as whole:
                data = whole / 'part0/id/data.bin'
                fails(errno.EIO, pread, data, 8, 8 * ROWS)
                (shown,) = errors_of(whole)
                same(what in shown['what'], True, shown)


@case
def an_index_that_hides_deleted_rows_is_found_out():
    with scratch() as directory:
        sets = Datasets(directory)
        sets.learn()
        delete(sets, sets.paths[1])
        sets.learn()
        wrong = lines(sets.index)
        same(wrong[1]['datasets'][0].pop('has_deletions'), True)
        sets.index.write_text(''.join(json.dumps(line) + '\n' for line in wrong))
        with sets.mounted('-o', 'direct_io=on') as whole:
            fails(errno.EIO, pread, whole / 'part0/id/data.bin', 8, 8 * ROWS)
            (shown,) = errors_of(whole)
            same('its columns differ from those in the index' in shown['what'], True, shown)


@case
def rows_are_those_of_the_version_that_was_mounted():
    for number in 0, 1:
        with scratch() as directory:
            sets = Datasets(directory)
            sets.learn()
            before = sets.ids()
            with sets.mounted() as whole:
                append(sets, sets.paths[number])
                same(ids_of(whole), before)
                same(errors_of(whole), [])
            with sets.mounted() as whole:
                same(ids_of(whole), sets.ids())


@case
def a_version_that_is_gone_fails_on_its_rows():
    with scratch() as directory:
        sets = Datasets(directory)
        sets.learn()
        with sets.mounted('-o', 'direct_io=on') as whole:
            append(sets, sets.paths[1])
            sets.open(sets.paths[1]).cleanup_old_versions(older_than=timedelta(0))
            same([version['version'] for version in sets.open(sets.paths[1]).versions()], [2])
            with open(whole / 'part0/id/data.bin', 'rb', buffering=0) as data:
                fails(errno.ESTALE, os.pread, data.fileno(), 8, 8 * ROWS)
                for first in 0, 2 * ROWS:
                    found = os.pread(data.fileno(), 8 * ROWS, 8 * first)
                    same(np.frombuffer(found, '<i8').tolist(), list(range(first, first + ROWS)))
            (shown,) = errors_of(whole)
            same(shown['what'].startswith(
                    f'{sets.paths[1]}: it was replaced or modified since the index was made'), True, shown)
            same((shown['expected'].split(',')[0], shown['found'].split(',')[0]), ('state 1', 'state 2'))
        with sets.mounted() as whole:
            same(ids_of(whole), sets.ids())


@case
def a_version_that_is_selected_stays_known():
    with scratch() as directory:
        sets = Datasets(directory)
        for path in sets.paths:
            sets.open(path).tags.create('good', 1)
        for name in '1', 'good':
            sets.index.unlink(missing_ok=True)
            sets.learn('-o', f'version={name}')
            written = version_of(sets.index)
            append(sets, sets.paths[1])
            with sets.mounted('-o', f'version={name}') as whole:
                same(ids_of(whole), sets.ids(1), name)
            same(version_of(sets.index), written, 'what is known is not written again')
        latest = sets.open(sets.paths[1]).version
        sets.open(sets.paths[1]).tags.update('good', latest)
        with sets.mounted('-o', 'version=good') as whole:
            same(ids_of(whole), sets.ids())
        same([state for state, _ in sets.known()], ['1', str(latest), '1'])
        with sets.mounted('-o', 'version=1') as whole:
            same(ids_of(whole), sets.ids(1))


@case
def branches_have_versions_of_their_own():
    with scratch() as directory:
        sets = Datasets(directory, 2)
        for path in sets.paths:
            sets.open(path).create_branch('dev')
        sets.learn('-o', 'version=dev')
        same([state for state, _ in sets.known()], ['dev:1', 'dev:1'])
        append(sets, sets.paths[1])  # to the dataset, not to the branch
        written = version_of(sets.index)
        with sets.mounted('-o', 'version=dev') as whole:
            same(ids_of(whole), list(range(2 * ROWS)))
        same(version_of(sets.index), written, 'what is known is not written again')
        with sets.mounted() as whole:
            same(ids_of(whole), sets.ids())


@case
def an_index_without_versions_is_not_used():
    """As earlier versions wrote it: with the attributes of the directory."""
    with scratch() as directory:
        sets = Datasets(directory)
        sets.learn()
        former = lines(sets.index)
        for line, path in zip(former, sets.paths, strict=True):
            status = path.stat()
            line.pop('state')
            line.update(file_bytes=status.st_size, inode=status.st_ino, modified=str(
                    np.datetime64(status.st_mtime_ns, 'ns')) + 'Z')
        append(sets, sets.paths[1])
        same(sets.paths[1].stat().st_ino, former[1]['inode'])
        sets.index.write_text(''.join(json.dumps(line) + '\n' for line in former))
        with sets.mounted() as whole:
            same(ids_of(whole), sets.ids())
            same(errors_of(whole), [])
        same([state for state, _ in sets.known()], ['1', '2', '1'])


def grow(array, rows=5):
    """As writers do it: the chunk, then the sizes."""
    (array / 'data/__3.blp').write_bytes(blosc_file(rows, 30))
    size = array / 'meta/sizes'
    size.write_text(f'{{"shape": [{30 + rows}], "nbytes": {4 * (30 + rows)}, "cbytes": 140}}')


@case
def arrays_of_blz_that_grow_are_looked_at_again():
    for number in 0, 1:
        with scratch() as directory:
            index = directory / 'index.jsonl'
            arrays = [blz_array(directory / f'part{i}', counts_on=True) for i in range(2)]
            rows, path = [30, 30], 'part0/values/data.bin'
            for changes in False, True:
                folders = [version_of(array) for array in arrays]
                if changes:
                    grow(arrays[number])
                    rows[number] += 5
                    same([version_of(array) for array in arrays], folders, 'the directories stay')
                for _ in range(2):
                    with chain(*arrays, options=('-o', f'index={index}')) as whole:
                        same((whole / path).stat().st_size, 4 * sum(rows))
                        same(np.fromfile(whole / path, '<i4').tolist(),
                             list(range(rows[0])) + list(range(rows[1])))
                        same(errors_of(whole), [])
                same([line['datasets'][0]['entries'] for line in lines(index)], rows)
            known = lines(index)
            same(known[0]['state'] != known[1]['state'], True, known)


def blosc_array(path):
    path.write_bytes(blosc_file(30, 0))
    return path


@case
def arrays_of_blz_open_when_they_are_read():
    for write, suffix in (lambda path: blz_array(path, counts_on=True), ''), (blosc_array, '.blp'):
        with scratch() as directory:
            index = directory / 'index.jsonl'
            arrays = [write(directory / f'part{i}{suffix}') for i in range(5)]
            with chain(*arrays) as whole:
                expected, _ = contents(whole)
            with chain(*arrays, options=('-o', f'index={index}')) as whole:
                (whole / 'file.json').stat()
                wait_until(index.exists, 'the index')
            same(['schema' in line['datasets'][0] for line in lines(index)], [True] * 5)
            with chain(*arrays, options=('-o', f'index={index},direct_io=on')) as whole:
                data = whole / 'part0/values/data.bin'
                same(data.stat().st_size, 4 * 150)
                same(opened(whole, arrays), [0])
                same(np.frombuffer(pread(data, 4, 4 * 107), '<i4').tolist(), [17])
                same(opened(whole, arrays), [0, 3])
                found, _ = contents(whole)
                same([path for path in expected if found.get(path) != expected[path]], [], suffix)
                same(errors_of(whole), [])


run()
