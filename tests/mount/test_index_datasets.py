#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An index of a chain of datasets that are folders: whatever changes in a folder, rows are those
that another reader finds."""
import errno
import json
import os
import shutil
from datetime import timedelta

import numpy as np

from blz_writer import blosc_file, blz_array
from chains import chain
from harness import (case, errors_of, fails, lines, need, run, same, scratch, version_of,
                     wait_until)

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
            (path / 'data').rename(path / 'elsewhere')  # the folder changes, its version does not
        with sets.mounted() as whole:
            same((whole / 'part0/id/data.bin').stat().st_size, 8 * len(expected))
            same(errors_of(whole), [])
        same(version_of(sets.index), written, 'what is known is not written again')


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
                fails(errno.EIO, os.pread, data.fileno(), 8, 8 * ROWS)
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
    """As earlier versions wrote it: with the attributes of the folder."""
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
                    same([version_of(array) for array in arrays], folders, 'the folders stay')
                for _ in range(2):
                    with chain(*arrays, options=('-o', f'index={index}')) as whole:
                        same((whole / path).stat().st_size, 4 * sum(rows))
                        same(np.fromfile(whole / path, '<i4').tolist(),
                             list(range(rows[0])) + list(range(rows[1])))
                        same(errors_of(whole), [])
                same([line['datasets'][0]['entries'] for line in lines(index)], rows)
            known = lines(index)
            same(known[0]['state'] != known[1]['state'], True, known)


run()
