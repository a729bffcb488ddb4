#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Chains of files on servers: patterns that the servers' listings resolve, addresses in lists
and next to local files, an index of them. Reads equal those of the same local files."""
import errno
import json
import os
import shutil
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'support'))
from bloscpack_file import write_bloscpack  # noqa: E402
from chains import chain, refusal  # noqa: E402
from harness import (DATA, NTUPLE, Foreground, case, command, data, errors_of, fails, lines,  # noqa: E402
                     mounted, need, output, pread, run, same, scratch, stats, version_of, wait_until)
from trees import same_trees, tree  # noqa: E402
from web import apache, fetchers, own_program, served, unused_port  # noqa: E402

NAMES = ['a/run1.root', 'a/run2.root', 'of today/deep/run0.root', 'of today/.hidden/run9.root', 'run3.root',
         'other.txt']
NOTHING, NO_FORMAT, UNSUPPORTED, UNREACHABLE = 2, 3, 4, 9
ITEMS = 1024  # 4096 bytes of each file


def put(folder, names=NAMES, source='example.root'):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(data(source), folder / name)


def files_of(source, **options):
    """What is reported of the files, without their addresses."""
    shown = output(NTUPLE, 'cat', '--chain', source, 'Events/files.jsonl', **options).decode().splitlines()
    return [{**json.loads(line), 'file': None} for line in shown]


def asked(server, method='GET', since=0):
    return [what.split(' ', 1)[1] for what, _ in server.requests()[since:] if what.startswith(method)]


@case
def a_pattern_has_the_tree_that_it_has_here():
    with scratch() as directory, apache(directory) as server:
        here = directory / 'www'
        put(here)
        for pattern, encoded in (('**/run*.root', '**/run*.root'), ('of today/**/r*', 'of%20today/**/r*'),
                                 ('?/run[12].root', '[a-z]/run[12].root')):
            same(files_of(server.url(encoded)), files_of(here / pattern), pattern)
        same(tree(server.url('**/run[12].root'), directory / 'there', '--chain'), 0)
        same(tree(here / '**/run[12].root', directory / 'here', '--chain'), 0)
        same_trees(directory / 'here', directory / 'there',
                   but=('.ntuplefs', 'clusters.jsonl', 'files.jsonl'))


def value(path, offset):
    """Four bytes, without the kernel's readahead."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)
        return os.pread(file, 4, offset)
    finally:
        os.close(file)


@case
def with_an_index_a_value_requests_one_file():
    """A file has 1,000 entries: 4,000 bytes of the column. The kernel requests 4,096, of two files, and
    the one that follows is opened, too."""
    count = 40
    with scratch() as directory, served(directory / 'www') as site:
        put(directory / 'www', [f'run{number:02}.root' for number in range(count)])
        listed = directory / 'list.txt'
        listed.write_text(''.join(site.url(f'run{number:02}.root') + '\n' for number in range(count)))
        options = '-o', f'index={directory / "index.jsonl"}'
        expected = output(NTUPLE, 'cat', data('example.root'), 'Events/run/data.bin')
        with chain(listed, options=options) as whole:
            same((whole / 'Events/run/data.bin').read_bytes(), expected * count)
            wait_until((directory / 'index.jsonl').exists, 'the index')
        before, path = len(site.requests), 'Events/run/data.bin'
        with chain(listed, options=options) as whole:
            same((whole / path).stat().st_size, 4000 * count, path)
            same({name for name, _ in site.requests[before:]}, {'/run00.root'}, 'whose schema is shown')
            same(value(whole / path, 4096 * 20), expected[1920:1924], path)
            names = {name for name, _ in site.requests[before:]}
            same(names - {'/run00.root', '/run20.root', '/run21.root', '/run22.root'}, set(), 'others')
            same([line['clusters'] for line in lines(whole / 'Events/files.jsonl')], [4] * count)
            for path in path, 'Events/muons/_0/pt/data.bin':
                of_one = output(NTUPLE, 'cat', data('example.root'), path)
                same((whole / path).read_bytes() == of_one * count, True, path)
            column = json.loads((whole / 'Events/run/column.0/column.json').read_text())
            same(column['elements'], 1000 * count)
            same(errors_of(whole), [])
        before, path = len(site.requests), 'Events/muons/_0/pt/data.bin'
        of_one = output(NTUPLE, 'cat', data('example.root'), path)
        with chain(listed, options=options) as whole:
            same((whole / path).stat().st_size, len(of_one) * count)
            same({name for name, _ in site.requests[before:]}, {'/run00.root'}, 'no size of a list')
            same(value(whole / path, len(of_one) * 20 + 28), of_one[28:32])
            names = {name for name, _ in site.requests[before:]}
            same(names - {'/run00.root', *(f'/run{number}.root' for number in range(19, 23))}, set())
        before, entries = len(site.requests), directory / 'entries.txt'
        entries.write_text(f'{5 * 1000 + 7}\n{5 * 1000 + 900}\n{31 * 1000}\n')
        with chain(listed, options=[*options, '-o', f'select=Events:{entries}']) as whole:
            same((whole / 'Events/run/data.bin').read_bytes(),
                 b''.join(expected[4 * entry:4 * entry + 4] for entry in (7, 900, 0)))
            rows = output(NTUPLE, 'cat', data('example.root'), 'Events/rows.jsonl').splitlines()
            muons = [muon for entry in (7, 900, 0) for muon in json.loads(rows[entry])['muons']]
            same(np.fromfile(whole / path, '<f4').tolist(),
                 np.array([muon['pt'] for muon in muons], 'f4').tolist())
            same({name for name, _ in site.requests[before:]}, {'/run00.root', '/run05.root', '/run31.root'})
            same(errors_of(whole), [])


@case
def files_on_servers_and_here_are_one():
    with scratch() as directory, apache(directory) as server, served(DATA) as site:
        put(directory / 'www')
        put(directory / 'here', ['run8.root', 'run9.root'])
        text = directory / 'here' / 'list.txt'
        text.write_text(f'{server.url("a/*.root")}\nrun9.root\n{site.url("example.root")}?token=secret\n')
        spec = directory / 'here' / 'spec.json'
        spec.write_text(json.dumps({'samples': {
            's': {'trees': ['Events'], 'files': [server.url('a/*.root'), 'run9.root']},
            'data': {'trees': ['Events'], 'files': [site.url('example.root?token=secret')],
                     'metadata': {'year': 2026}}}}))
        expected = output(NTUPLE, 'cat', data('example.root'), 'Events/weight/data.bin') * 4
        names = [server.url('a/run1.root'), server.url('a/run2.root'), str(directory / 'here/run9.root'),
                 site.url('example.root')]
        for sources in ([text], [spec], [server.url('a/*.root'), directory / 'here/run9.root',
                                         f'{site.url("example.root")}?token=secret']):
            with own_program() as environment, chain(*sources, env=environment) as whole:
                same((whole / 'Events/weight/data.bin').read_bytes(), expected)
                shown = lines(whole / 'Events/files.jsonl')
                same([line['file'] for line in shown], names)
                same([line['file_bytes'] for line in shown], [data('example.root').stat().st_size] * 4)
                for line in shown:
                    same((whole / line['path'] / 'Events/weight/data.bin').read_bytes(),
                         expected[:len(expected) // 4], line)
                same([line.get('metadata') for line in shown], [None] * 3
                     + [{'year': 2026} if sources == [spec] else None])
                mine = fetchers(environment)
                same(len([process for process, parent in mine.items() if parent in mine]), 1,
                     'network helpers')
                same('secret' in (whole / 'file.json').read_text() + (whole / 'layout.jsonl').read_text(),
                     False)




@case
def nothing_but_the_first_file_is_opened_by_mounting():
    with scratch() as directory, apache(directory) as server:
        put(directory / 'www', [f'run{i:02}.root' for i in range(20)])
        with chain(server.url('run*.root')) as whole:
            same(set(asked(server)), {'/run00.root'})
            same(asked(server, 'PROPFIND'), ['/'])
            os.listdir(whole / 'Events')
            same(set(asked(server)), {'/run00.root'})
            same((whole / 'Events/weight/data.bin').stat().st_size % 20, 0)
            wait_until(lambda: len(set(asked(server))) == 20, 'the others are asked for')
            fetched = stats(whole)['remote_requests']
            same(fetched <= 1 + 20 * 4, True, f'{fetched} requests')


@case
def datasets_that_are_folders_are_chained():
    with scratch() as directory, apache(directory) as server:
        for i in range(2):
            shutil.copytree(DATA / 'lance_datasets/fragments_2.2',
                            directory / 'www' / 'sets' / f'part{i}.lance')
        for name in ('declared', 'drifted'):
            shutil.copy(data(f'lance_{name}_2.2.lance'), directory / 'www')
        for pattern, path, options in (('**/part*.lance', 'part0/rows.jsonl', ['--chain']),
                                       ('sets/part[01].lance/', 'part0/rows.jsonl', ['--chain']),
                                       ('lance_d*.lance', 'lance_declared_2.2/rows.jsonl',
                                        ['--chain=union'])):
            found = [output(NTUPLE, 'cat', *options, source, path)
                     for source in (server.url(pattern), directory / 'www' / pattern)]
            same((found[0] == found[1], len(found[0]) > 1000), (True, True), pattern)
        message = refusal(server.url('lance_d*.lance'), options=('-o', 'chain=check'))
        same(server.url('lance_drifted_2.2.lance') in message, True, message)


class Numbers:
    """Files of consecutive numbers on a server, and the location of their index."""

    def __init__(self, directory, server, count=3):
        self.folder, self.index, self.server = directory / 'www', directory / 'index.jsonl', server
        self.paths = [self.folder / f'part{i}.blp' for i in range(count)]
        for i in range(count):
            self.write(i, np.arange(i * ITEMS, (i + 1) * ITEMS, dtype='<i4'))

    def write(self, number, values):
        write_bloscpack(self.paths[number], values)
        os.utime(self.paths[number], (number + 1, number + 1 + len(values)))

    def sources(self):
        """By a pattern, and one by one."""
        return [self.server.url('part*.blp')], [self.server.url(path.name) for path in self.paths]

    def mounted(self, sources):
        return chain(*sources, options=('-o', f'index={self.index}'))


@case
def an_index_is_checked_by_what_the_server_says_versions_by():
    with scratch() as directory, apache(directory) as server:
        files = Numbers(directory, server)
        for sources in files.sources():
            files.index.unlink(missing_ok=True)
            with files.mounted(sources) as whole:
                (whole / 'file.json').stat()
                wait_until(files.index.exists, 'the index')
            known = lines(files.index)
            same([line['file'] for line in known], [server.url(path.name) for path in files.paths])
            same([(line['file_bytes'], 'inode' in line, bool(line['validator'])) for line in known],
                 [(path.stat().st_size, False, True) for path in files.paths])
            written = version_of(files.index)
            count = len(server.requests())
            with files.mounted(sources) as whole:
                values = whole / 'part0/values/data.bin'
                same(values.stat().st_size, 3 * 4096)
                same(set(asked(server, since=count)), {'/part0.blp'})
                same(np.frombuffer(values.read_bytes(), '<i4').tolist(), list(range(3 * ITEMS)))
            same(version_of(files.index), written, 'what is known is not written again')


@case
def a_value_of_a_tree_opens_only_its_file_with_an_index():
    count, entries = 6, 50
    with scratch() as directory, apache(directory) as server:
        paths = [directory / 'www' / f'run{i}.root' for i in range(count)]
        for path in paths:
            shutil.copy(data('trees/trees_baskets.root'), path)
        options = '-o', f'direct_io=on,index={directory / "index.jsonl"}'
        with chain(server.url('run*.root'), options=options) as whole:
            expected = (whole / 'baskets/i/data.bin').read_bytes()
            same(json.loads((whole / 'file.json').read_text())['file_bytes'], count * paths[0].stat().st_size)
            wait_until((directory / 'index.jsonl').exists, 'the index')
        same(expected, count * expected[:4 * entries])
        before = len(server.requests())
        with chain(server.url('run*.root'), options=options) as whole:
            values = whole / 'baskets/i/data.bin'
            same(values.stat().st_size, len(expected))
            same(pread(values, 4, 4 * (4 * entries + 7)), expected[28:32])
            same(set(asked(server, since=before)), {'/run0.root', '/run4.root'})
            same(values.read_bytes(), expected)


@case
def a_file_that_changed_since_the_index_was_made_fails_on_its_rows_and_is_forgotten():
    with scratch() as directory, apache(directory) as server:
        files = Numbers(directory, server)
        _, sources = files.sources()
        with files.mounted(sources) as whole:
            (whole / 'file.json').stat()
            wait_until(files.index.exists, 'the index')
        files.write(1, np.arange(5, dtype='<i4'))
        with files.mounted(sources) as whole:
            values = whole / 'part0/values/data.bin'
            same(values.stat().st_size, 3 * 4096)  # as reported
            same(pread(values, 4096, 8192), np.arange(2 * ITEMS, 3 * ITEMS, dtype='<i4').tobytes())
            fails(errno.ESTALE, pread, values, 4096, 4096)
            (shown,) = errors_of(whole)
            same(shown['what'].startswith(
                    f'{sources[1]}: it was replaced or modified since the index was made'), True, shown)
            wait_until(lambda: [line['file'] for line in lines(files.index)] == [sources[0], sources[2]],
                       'what is known no more')
        with files.mounted(sources) as whole:
            same((whole / 'part0/values/data.bin').stat().st_size, 2 * 4096 + 20)
        # listings report it at once
        files.write(2, np.arange(7, dtype='<i4'))
        with files.mounted([server.url('part*.blp')]) as whole:
            same((whole / 'part0/values/data.bin').stat().st_size, 4096 + 48)


@case
def a_dataset_that_changed_since_the_index_was_made_is_looked_at_again():
    lance, arrow = need('lance'), need('pyarrow')

    def write(number, ids, mode):
        table = arrow.table({'id': arrow.array(ids, arrow.int64())})
        lance.write_dataset(table, str(paths[number]), mode=mode)

    def check(sources, middle, change=None):
        with chain(*sources, options=('-o', f'index={index}')) as whole:
            ids, expected = whole / 'part0/id/data.bin', [*range(10), *middle, *range(20, 30)]
            same(ids.stat().st_size, 8 * len(expected))
            if change:
                change()
            same(np.fromfile(ids, '<i8').tolist(), expected)
            same(errors_of(whole), [])
            wait_until(index.exists, 'the index')
        same([(line['file'].rstrip('/'), 'inode' in line, bool(line['validator']),
               line['datasets'][0]['entries']) for line in lines(index)],
             [(server.url(path.name), False, True, rows)
              for path, rows in zip(paths, (10, len(middle), 10), strict=True)])

    with scratch() as directory, apache(directory) as server:
        paths, index = [directory / 'www' / f'part{i}.lance' for i in range(3)], directory / 'index.jsonl'
        for sources in [server.url('part*.lance')], [server.url(path.name) for path in paths]:
            index.unlink(missing_ok=True)
            for number, path in enumerate(paths):
                shutil.rmtree(path, ignore_errors=True)
                write(number, range(10 * number, 10 * number + 10), 'create')
            check(sources, range(10, 20))
            write(1, range(100, 105), 'append')
            check(sources, [*range(10, 20), *range(100, 105)])
            write(1, range(200, 215), 'overwrite')  # as many rows
            check(sources, range(200, 215))
            # after mounting, before the file is opened
            check(sources, range(200, 215), lambda: lance.dataset(str(paths[1])).delete('id = 201'))
            check(sources, [200, *range(202, 215)])


@case
def a_dataset_on_a_server_is_requested_for_its_version_and_its_rows():
    """The index says that these are directories, which a server tells by several answers if the address does
    not. What the look at a version took is not requested again."""
    lance, arrow = need('lance'), need('pyarrow')
    count, rows = 5, 1000
    with scratch() as directory, apache(directory) as server:
        paths = [directory / 'www' / f'part{i}.lance' for i in range(count)]
        for number, path in enumerate(paths):
            ids = arrow.array(range(number * rows, number * rows + rows), arrow.int64())
            lance.write_dataset(arrow.table({'id': ids}), str(path))
            for file in path.rglob('*'):
                os.utime(file, (1, 1))  # a server does not vouch for files of the last second
        with mounted(server.url('part0.lance/')) as single:
            np.load(single / 'part0/id/data.npy')
            of_one = len(server.requests())
        for ending in '/', '':
            sources = [server.url(path.name) + ending for path in paths]
            index = directory / f'index{len(ending)}.jsonl'
            options = '-o', f'direct_io=on,index={index}'
            with chain(*sources, options=options) as whole:
                (whole / 'file.json').stat()
                wait_until(index.exists, 'the index')
            before = len(server.requests())
            with chain(*sources, options=options) as whole:
                data = whole / 'part0/id/data.bin'
                same(data.stat().st_size, 8 * count * rows)
                of_sizes = server.requests()[before:]
                same((len(of_sizes), len(asked(server, since=before))), (2 * count + 1, 1),
                     f'two lists of each, and the manifest of the first: {of_sizes}')
                same(pread(data, 8, 8 * (3 * rows + 500)), np.int64(3 * rows + 500).tobytes())
                of_rows = server.requests()[before + len(of_sizes):]
                same(len(of_rows) <= of_one - 2 and all('/part3.lance/' in what for what, _ in of_rows), True,
                     of_rows)
                same(np.fromfile(data, '<i8').tolist(), list(range(count * rows)))
                same(errors_of(whole), [])


@case
def a_file_that_is_replaced_after_the_list_is_not_mixed_in():
    with scratch() as directory, apache(directory) as server:
        files = Numbers(directory, server)
        with chain(server.url('part*.blp')) as whole:
            files.write(1, np.arange(ITEMS, dtype='<i4'))
            os.utime(files.paths[1], (9, 9))
            fails(errno.ESTALE, os.stat, whole / 'part0/values/data.bin')


@case
def what_is_wrong_is_reported_by_name():
    with scratch() as directory, apache(directory) as server, served(DATA) as site:
        put(directory / 'www')
        (directory / 'list.txt').write_text(f'{server.url("run3.root")}\n{server.url("run*.root")}\n')
        for source, status, words in (
                (server.url('none*.root'), NOTHING, f'{server.url("none*.root")}: matches no file'),
                (server.url('none/*.root?token=secret'), NOTHING,
                 f'{server.url("none/")}: the server has no such directory (404)'),
                (site.url('*.root'), UNSUPPORTED, f'{site.url("")}: the server does not list directories'),
                ('dav://127.0.0.1:9/**/*.root', UNREACHABLE,
                 'dav://127.0.0.1:9/**/*.root: dav://127.0.0.1:9/: '),
                (directory / 'list.txt', 1,
                 f'{directory}/list.txt, line 2: {server.url("run3.root")}: is named twice'),
                ('https://me:secret@127.0.0.1/*.root', 1, 'contains a user')):
            found = command(NTUPLE, 'ls', '--chain', '--timeout=1', source)
            same((found.returncode, words in found.stderr.decode(), b'secret' in found.stderr),
                 (status, True, False), f'{source}: {found.stderr}')
        message = refusal(server.url('none/*.root?token=secret'))
        begin = f'ntuplefs: {server.url("none/*.root")}: '
        same((message.startswith(begin), 'secret' in message), (True, False), message)
        # directories among the files
        message = command(NTUPLE, 'cat', '--chain', server.url('[ar]*'), 'Events/weight/data.bin')
        words = f'{server.url("a")}: a directory of an unknown kind'
        same((message.returncode, words.encode() in message.stderr), (NO_FORMAT, True), message)
        with chain(server.url('run3.root'), server.url('a'), server.url('none.root'),
                   options=('-o', 'missing=skip')) as whole:
            shown = lines(whole / 'Events/files.jsonl')
            same([line['is_left_out'] for line in shown], [False, True, True])
            same([line.get('error', '').split(': ')[0] for line in shown],
                 ['', server.url('a'), server.url('none.root')])


@case
def few_of_many_files_stay_open():
    count, most = 1040, 1024
    kinds = [np.frombuffer(np.random.default_rng(i).bytes(2048), '<i8') for i in range(5)]
    with scratch() as directory, apache(directory) as server:
        for i, values in enumerate(kinds):
            write_bloscpack(directory / f'{i}.blp', values)
        for i in range(count):
            os.link(directory / f'{i % 5}.blp', directory / 'www' / f'part{i:04}.blp')
        for i in range(5):
            os.utime(directory / f'{i}.blp', (1, 1))
        text = directory / 'list.txt'
        text.write_text(''.join(f'{server.url(f"part{i:04}.blp")}\n' for i in range(count)))
        with chain(text, options=('-o', 'remotecache=1M')) as whole:  # without room for the bytes of opening
            values = whole / 'part0000/values/data.bin'
            same(values.stat().st_size, 2048 * count)
            same(stats(whole)['remote_open_files'], most)
            np.testing.assert_array_equal(np.frombuffer(values.read_bytes(), '<i8'),
                                          np.concatenate(kinds * (count // 5)))
            same(stats(whole)['remote_open_files'], most)


@case
def a_server_that_is_away_is_no_reason_to_leave_a_file_out():
    with scratch() as directory, apache(directory) as server:
        files = Numbers(directory, server, 2)
        away = f'dav://127.0.0.1:{unused_port()}/part.blp'
        with chain(files.paths[0], away, files.paths[1], options=('-o', 'missing=skip,timeout=1')) as whole:
            fails(errno.EIO, os.stat, whole / 'part0/values/data.bin')
            (shown,) = errors_of(whole)
            same((shown['what'].startswith(f'{away}: '), shown['status']), (True, 'unreachable'), shown)


@case
def a_file_that_a_server_refuses_is_not_skipped_and_a_missing_one_is_named():
    with scratch() as directory, served(DATA) as site:
        good, text = site.url('compression_lz4.root'), directory / 'list.txt'
        refused, skipped = '1 of 2 files cannot be used: ', '1 of 2 files is skipped: '
        for bad, expected in ((site.url('forbidden/compression_none.root'), refused),
                              (site.url('unauthorized/compression_none.root'), refused),
                              (site.url('none.root'), skipped)):
            text.write_text(f'{good}\n{bad}\n')
            result = command(NTUPLE, 'cat', '--chain', '--missing=skip', text, 'compressed/ramp/data.bin')
            message = result.stderr.decode()
            same((f'{expected}{bad}: ' in message, bool(result.stdout)), (True, expected == skipped),
                 message)
            with Foreground(text, options=('-o', 'chain,missing=skip')) as mount:
                try:
                    (mount.mountpoint / 'compressed/ramp/data.bin').stat()
                except OSError as error:
                    same((error.errno, expected), (errno.EACCES, refused))
                mount.end()
                assert any(expected in line for line in mount.messages()), mount.messages()


if __name__ == '__main__':
    sys.exit(run())
