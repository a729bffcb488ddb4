# SPDX-License-Identifier: MIT
"""An index of a chain's files: what it shows without opening them, and files that no longer
agree with it."""
import copy
import errno
import json
import os
import shutil
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'support'))
from bloscpack_file import write_bloscpack  # noqa: E402
from chains import chain  # noqa: E402
from json_rules import problems  # noqa: E402
from harness import (case, data, decoder_of, errors_of, fails, lines, mounted, need, ntuplefs, pread, run,
                     same, scratch, version_of, wait_until)

ITEMS = 1024  # 4096 bytes of each file: one page of the kernel's cache


def earlier(index):
    """The lines of an index as an earlier version writes them."""
    names = 'file', 'file_bytes', 'modified', 'inode', 'datasets'
    return [{**{name: line[name] for name in names},
             'datasets': [{name: dataset[name] for name in ('path', 'entries', 'clusters')}
                          for dataset in line['datasets']]} for line in lines(index)]


class Files:
    """Files of consecutive numbers, and the path of their index, which is as one of an earlier version:
    all of them open with the first rows."""

    def __init__(self, directory, count):
        self.folder, self.index = directory, directory / 'index.jsonl'
        self.paths = [directory / f'part{i:03}.blp' for i in range(count)]
        for i in range(count):
            self.write(i, np.arange(i * ITEMS, (i + 1) * ITEMS, dtype='<i4'))

    def write(self, number, values):
        write_bloscpack(self.paths[number], values)

    def mounted(self, *options):
        return chain(f'{self.folder}/part*.blp', options=('-o', f'index={self.index}', *options))

    def learn(self, *options):
        with self.mounted(*options) as whole:
            (whole / 'file.json').stat()
            wait_until(self.index.exists, 'the index')
        wait_until(lambda: not list(self.folder.glob('*.new')), 'the end of the program')
        self.index.write_text(''.join(json.dumps(line, separators=(',', ':')) + '\n'
                                      for line in earlier(self.index)))


def descriptors(whole):
    return len(os.listdir(f'/proc/{decoder_of(whole)}/fd'))


def piece(whole, number):
    """The chain's values for a file."""
    return np.frombuffer(pread(whole / 'part000/values/data.bin', 4096, 4096 * number), '<i4')


@case
def sizes_are_reported_without_opening_files():
    with scratch() as directory:
        count = 300  # more than files of which file.json would ask for the size
        files = Files(directory, count)
        files.learn()
        for line, path in zip(lines(files.index), files.paths, strict=True):
            same(list(problems(line)), [])
            status = path.stat()
            same((line['file'], line['file_bytes'], line['inode']),
                 (str(path), status.st_size, status.st_ino))
            same(np.datetime64(line['modified'].rstrip('Z'), 'ns').astype(int), status.st_mtime_ns)
            same(line['datasets'], [{'path': 'part000', 'entries': ITEMS, 'clusters': 1}])
        written = version_of(files.index)
        with files.mounted() as whole:
            before = descriptors(whole)
            values = whole / 'part000/values'
            same((values / 'data.bin').stat().st_size, count * 4096)
            same((values / 'data.npy').stat().st_size, count * 4096 + 128)
            same(os.getxattr(whole / 'part000', 'user.ntuplefs.entries'), b'%d' % (count * ITEMS))
            same(descriptors(whole), before, 'descriptors')
            same(np.load(values / 'data.npy').tolist(), list(range(count * ITEMS)))
            assert descriptors(whole) > before
            same(json.loads((whole / 'file.json').read_text())['file_bytes'],
                 sum(path.stat().st_size for path in files.paths))
        same(version_of(files.index), written, 'what is known is not written again')


@case
def a_file_that_is_another_one_is_looked_at_again():
    with scratch() as directory:
        files = Files(directory, 3)
        files.learn('-o', 'chain=check')
        files.write(1, np.arange(5, dtype='<i4'))
        with files.mounted() as whole:
            same((whole / 'part000/values/data.bin').stat().st_size, 2 * 4096 + 20)
            wait_until(lambda: lines(files.index)[1]['datasets'][0]['entries'] == 5, 'a new index')
            same(errors_of(whole), [])
        with files.mounted() as whole:
            same((whole / 'part000/values/data.bin').stat().st_size, 2 * 4096 + 20)
        files.paths[0].unlink()  # the dataset has the name of the first file
        files.learn()
        wait_until(lambda: [line['file'] for line in lines(files.index)] == [str(path)
                for path in files.paths[1:]], 'two files')


@case
def files_that_are_not_known_are_opened_alone():
    with scratch() as directory:
        files = Files(directory, 100)
        files.learn()
        known = lines(files.index)
        files.write(7, np.arange(5, dtype='<i4'))  # one changed, and one is new
        write_bloscpack(files.folder / 'part999.blp', np.arange(3, dtype='<i4'))
        with mounted(files.paths[0]) as single, files.mounted() as whole:
            same((whole / 'part000/values/data.bin').stat().st_size, 99 * 4096 + 20 + 12)
            assert descriptors(whole) - descriptors(single) < 10, descriptors(whole)
            wait_until(lambda: len(lines(files.index)) == 101, 'a new index')
            now = earlier(files.index)
            same([line['datasets'][0]['entries'] for line in (now[7], now[100])], [5, 3])
            same([line for number, line in enumerate(now) if number not in (7, 100)], known[:7] + known[8:])
            same(len((whole / 'part000/values/data.bin').read_bytes()), 99 * 4096 + 20 + 12)
        # a failure to open is reported when the file is read
        (files.folder / 'part998.blp').write_bytes(b'blpk')
        with files.mounted() as whole:
            fails(errno.EIO, os.stat, whole / 'part000/values/data.bin')
            (shown,) = errors_of(whole)
            assert 'part998.blp' in shown['what'], shown


@case
def a_file_that_changes_after_its_entries_were_reported_fails_on_its_rows():
    def replace(files):
        files.write(1, np.arange(5, dtype='<i4'))

    def remove(files):
        files.paths[1].unlink()

    for change, expected in ((replace, 'it was replaced or modified since the index was made'),
                             (remove, 'no longer exists')):
        with scratch() as directory:
            files = Files(directory, 3)
            files.learn()
            with files.mounted('-o', 'missing=skip') as whole:
                change(files)
                same((whole / 'part000/values/data.bin').stat().st_size, 3 * 4096)
                same(piece(whole, 0).tolist(), list(range(ITEMS)))
                fails(errno.EIO, piece, whole, 1)
                same(piece(whole, 2).tolist(), list(range(2 * ITEMS, 3 * ITEMS)))
                same(json.loads((whole / 'part000/ntuple.json').read_text())['entries'], 3 * ITEMS)
                (shown,) = errors_of(whole)
                assert shown['what'].startswith(f'{files.paths[1]}: {expected}'), shown
                if change is replace:
                    assert shown['expected'].startswith(
                            f'{lines(files.index)[1]["file_bytes"]} bytes of '), shown
                    assert shown['found'].startswith(f'{files.paths[1].stat().st_size} bytes of '), shown
                same({line['file'] for line in lines(whole / 'layout.jsonl')},
                     {str(files.paths[0]), str(files.paths[2])})


@case
def an_index_that_is_wrong_is_found_out():
    with scratch() as directory:
        files = Files(directory, 3)
        files.learn()
        wrong = lines(files.index)
        wrong[2]['datasets'][0]['entries'] = 7
        files.index.write_text(''.join(json.dumps(line) + '\n' for line in wrong))
        with files.mounted() as whole:
            same((whole / 'part000/values/data.bin').stat().st_size, 2 * 4096 + 28)  # as reported
            same(piece(whole, 1).tolist(), list(range(ITEMS, 2 * ITEMS)))
            fails(errno.EIO, piece, whole, 2)
            (shown,) = errors_of(whole)
            assert str(files.paths[2]) in shown['what'] and (shown['expected'], shown['found']) == ('7',
                    str(ITEMS)), shown
            wait_until(lambda: lines(files.index)[2]['datasets'][0]['entries'] == ITEMS, 'a right index')
        with files.mounted() as whole:
            same(piece(whole, 2).tolist(), list(range(2 * ITEMS, 3 * ITEMS)))


@case
def an_index_that_hides_entries_is_found_out():
    for part in 1, 2:
        with scratch() as directory:
            files = Files(directory, 3)
            files.learn()
            wrong = lines(files.index)
            wrong[part]['datasets'][0]['entries'] = 0
            files.index.write_text(''.join(json.dumps(line) + '\n' for line in wrong))
            with files.mounted() as whole:
                same((whole / 'part000/values/data.bin').stat().st_size, 2 * 4096)  # as in the index
                fails(errno.EIO, (whole / 'part000/values/data.bin').read_bytes)
                (shown,) = errors_of(whole)
                assert str(files.paths[part]) in shown['what'], shown
                same((shown['expected'], shown['found']), ('0', str(ITEMS)), shown)
                wait_until(lambda: not lines(files.index)[part]['datasets'],
                           'an index that knows nothing of the dataset')
            with files.mounted() as whole:
                same(np.load(whole / 'part000/values/data.npy').tolist(), list(range(3 * ITEMS)))


@case
def an_index_that_hides_the_entries_of_clusters_is_found_out():
    """It has all that saves opening the file, but no rows whose reads would open it."""
    with scratch() as directory:
        pattern, options = f'{directory}/part*.root', ('-o', f'index={directory}/index.jsonl')
        for number in range(3):
            shutil.copy(data('compression_zstd.root'), directory / f'part{number}.root')
        with chain(pattern, options=options) as whole:
            (whole / 'compressed/ramp/data.bin').stat()
        wait_until((directory / 'index.jsonl').exists, 'an index')
        good = lines(directory / 'index.jsonl')
        for part in 1, 2:
            wrong = copy.deepcopy(good)
            (dataset,) = wrong[part]['datasets']
            dataset['entries'], dataset['cluster_entries'] = 0, [0] * dataset['clusters']
            (directory / 'index.jsonl').write_text(''.join(json.dumps(line) + '\n' for line in wrong))
            with chain(pattern, options=options) as whole:
                fails(errno.EIO, (whole / 'compressed/ramp/data.bin').read_bytes)
                (shown,) = errors_of(whole)
                assert f'{directory}/part{part}.root' in shown['what'], shown
                same((shown['expected'], shown['found']), ('0', '1000'), shown)


@case
def a_file_without_entries_that_cannot_be_looked_at_fails():
    with scratch() as directory:
        files = Files(directory, 3)
        files.learn()
        wrong = lines(files.index)
        wrong[1]['datasets'][0]['entries'] = 0
        files.index.write_text(''.join(json.dumps(line) + '\n' for line in wrong))
        with files.mounted() as whole:
            files.paths[1].unlink()
            for _ in range(2):
                fails(errno.ESTALE, (whole / 'part000/values/data.bin').read_bytes)


@case
def an_index_that_others_may_write_is_refused():
    with scratch() as directory:
        files = Files(directory, 2)
        files.learn()
        for path, mode in (files.index, 0o666), (directory, 0o777):
            before = path.stat().st_mode
            path.chmod(mode)
            result = ntuplefs('-o', f'chain,index={files.index}', f'{directory}/part*.blp', directory / 'mnt')
            path.chmod(before & 0o7777)
            same(result.returncode, 1, path)
            assert f'{path}: expected user ' in result.stderr.decode(), result


@case
def what_is_no_index_is_refused_and_stays():
    with scratch() as directory:
        files = Files(directory, 2)
        files.learn()
        good = files.index.read_text()
        for text in ('no index', good + '{}\n', good.replace('"entries":1024', '"entries":-1'), good
                     + '{"file":"x"\n'):
            files.index.write_text(text)
            result = ntuplefs('-o', f'chain,index={files.index}', f'{directory}/part*.blp', directory / 'mnt')
            same(result.returncode, 1, text)
            message = f'option "index": {files.index}: is not an index of files: line '
            assert message in result.stderr.decode(), (text, result)
            same(files.index.read_text(), text)
        result = ntuplefs('-o', f'index={files.index}', files.paths[0], directory / 'mnt')
        assert result.returncode and b'needs option "chain"' in result.stderr, result
        assert b'nowhere' in ntuplefs('-o', f'chain,index={directory}/nowhere/index', files.paths[0],
                                      directory / 'mnt').stderr
        wait_until(lambda: not list(directory.glob('*.new')), 'nothing is left')


LISTS, LONGEST = 100_000, 3


def write_lists(writer, path, number):
    """Lists of numbers, which it returns: an uproot file with an RNTuple or a tree."""
    uproot, arrays = need('uproot'), need('awkward')
    random = np.random.default_rng(number)
    counts = random.integers(0, LONGEST + 1, LISTS)
    items = random.random(counts.sum())
    with uproot.recreate(path) as file:
        rows = arrays.unflatten(items, counts)
        getattr(file, writer)('data', {'list': 'var * float64'}).extend({'list': rows})
    return items


@case
def columns_below_lists_open_the_files_that_are_read():
    for writer, item in ('mkrntuple', '_0'), ('mktree', 'item'):
        with scratch() as directory:
            index, pattern = directory / 'index.jsonl', f'{directory}/part*.root'
            items = [write_lists(writer, directory / f'part{i}.root', i) for i in range(6)]
            options, column = ('-o', f'index={index}'), Path('data/list') / item
            for _ in range(2):  # the second mount adds what looking at a tree tells
                with chain(pattern, options=options) as whole:
                    (whole / column / 'data.bin').stat()
            wait_until(lambda: all('cluster_elements' in line['datasets'][0] for line in lines(index)),
                       'the elements')
            same([problem for line in lines(index) for problem in problems(line)], [])
            same([sum(map(int, line['datasets'][0]['cluster_elements'])) for line in lines(index)],
                 [len(part) for part in items])
            starts = np.cumsum([0] + [len(part) for part in items])
            with chain(pattern, options=options) as whole:
                before, data = descriptors(whole), whole / column / 'data.bin'
                same(data.stat().st_size, 8 * starts[-1])
                same(descriptors(whole), before, 'descriptors')
                middle = LISTS // 4
                found = pread(data, 8, 8 * (int(starts[3]) + middle))
                same(np.frombuffer(found, 'f8')[0], items[3][middle])
                same(descriptors(whole), before + 1, 'descriptors')
                assert np.array_equal(np.fromfile(data), np.concatenate(items)), writer
            wrong = lines(index)
            wrong[3]['datasets'][0]['cluster_elements'] = [str(len(items[3]) - 1)]
            index.write_text(''.join(json.dumps(line) + '\n' for line in wrong))
            with chain(pattern, options=options) as whole:
                data = whole / column / 'data.bin'
                same(data.stat().st_size, 8 * (starts[-1] - 1))  # as in the index
                same(np.frombuffer(pread(data, 8, 8 * int(starts[2])), 'f8')[0], items[2][0])
                fails(errno.EIO, pread, data, 8, 8 * (int(starts[3]) + middle))
                (shown,) = errors_of(whole)
                assert f'{directory}/part3.root' in shown['what'], shown
                same((shown['expected'], shown['found']), (str(len(items[3]) - 1), str(len(items[3]))))


@case
def what_needs_more_than_entries_opens_the_files():
    with scratch() as directory:
        files = Files(directory, 2)
        files.learn()
        with files.mounted() as whole, mounted(*files.paths) as singles:
            for path in ('values/column.0/data.bin', 'values/rows.jsonl', 'table.arrow'):
                found = [(singles / file.name / file.stem / path).stat().st_size for file in files.paths]
                assert found[0] < (whole / 'part000' / path).stat().st_size <= sum(found), path


run()
