#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Versions of Lance datasets: all of them at once, a chosen one, one that is committed or
removed while it is mounted."""
import concurrent.futures
import contextlib
import errno
import json
import os
import random
import shutil
import sys
import tempfile
from datetime import datetime, timedelta, timezone
from pathlib import Path

import harness
from harness import case, fails, lines, mounted, run, same

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'support'))
from compare_columns import check_column  # noqa: E402

DATASETS = harness.DATA / 'lance_datasets'
NAMES = sorted(path.stem for path in DATASETS.glob('*.json'))
NAME = 'deletions_2.1'
# whose columns are compared in all versions
WHOLE = (NAME, 'columns_2.0', 'versions_2.0', 'versions_2.2', 'row_lineage_2.2')
HIGHEST = 2 ** 64 - 1


def versions_of(name):
    return json.loads((DATASETS / f'{name}.json').read_text())['versions']


def check_state(state, dataset, most_columns=1000):
    shown = json.loads((dataset / 'ntuple.json').read_text())
    same((shown['entries'], shown['dataset_version']), (state['rows'], state['version']),
         'entries and version')
    for column in state['columns'][:most_columns]:
        check_column(dataset / column['path'], column)


def manifest_of(source, number):
    return source / '_versions' / f'{HIGHEST - number}.manifest'


def shown_version(dataset):
    return json.loads((dataset / 'ntuple.json').read_text())['dataset_version']


@contextlib.contextmanager
def copied(name=NAME):
    with tempfile.TemporaryDirectory() as directory:
        yield Path(shutil.copytree(DATASETS / name, Path(directory, name)))


def tag(source, name, version, branch=None):
    path = source / '_refs' / 'tags' / f'{name}.json'
    path.parent.mkdir(parents=True, exist_ok=True)
    (path.parent / 'new').write_text(json.dumps({'branch': branch, 'version': version}))
    os.rename(path.parent / 'new', path)


def tags_of(source, version):
    shown = {path.stem: json.loads(path.read_text()) for path in source.glob('_refs/tags/*.json')}
    return sorted(name for name, tag in shown.items() if (tag['branch'], tag['version']) == (None, version))


def branch(source, name, latest):
    """A branch with files of its own: those of the dataset, up to a version."""
    tree = source / 'tree' / name
    for folder in 'data', '_deletions', '_versions':
        shutil.copytree(source / folder, tree / folder)
    for path in (tree / '_versions').glob('*.manifest'):
        if int(path.stem) < HIGHEST - latest:
            path.unlink()
    path = source / '_refs' / 'branches' / (name.replace('/', '%2F') + '.json')
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({'parentBranch': None, 'parentVersion': latest}))


@case
def each_version_is_what_pylance_reads():
    problems = []
    with mounted(DATASETS) as mountpoint:
        for name in NAMES:
            dataset = mountpoint / name / name
            same(sorted(os.listdir(dataset / 'versions.d')),
                 sorted(f'v{state["version"]}' for state in versions_of(name)), 'links to them are listed')
            for state in versions_of(name):
                version = dataset / 'versions.d' / str(state['version'])
                try:
                    check_state(state, version, 1000 if name in WHOLE else 2)
                    same('versions.d' in os.listdir(version), False, 'versions of a version')
                except (AssertionError, OSError, ValueError, KeyError) as error:
                    problems.append(f'{version}: {type(error).__name__}: {error}')
            for other in '0', '999', '01', 'x', '..x', '18446744073709551615':
                fails(errno.ENOENT, os.stat, dataset / 'versions.d' / other)
        same((problems, harness.errors_of(mountpoint)), ([], []))


@case
def versions_are_read_by_many_at_once():
    """The version that is shown and its number have one open file. Of so many datasets, idle ones close."""
    states, copies = versions_of(NAME), 30
    with tempfile.TemporaryDirectory() as directory:
        for number in range(copies):
            shutil.copytree(DATASETS / NAME, Path(directory, f'copy{number}'))
        with mounted(directory) as top:
            def read(number):
                dataset = top / f'copy{number % copies}' / f'copy{number % copies}'
                for place in random.Random(number).sample(range(len(states)), 2):
                    check_state(states[place], dataset / 'versions.d' / str(states[place]['version']), 2)
                check_state(states[-1], dataset, 2)

            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                list(pool.map(read, range(3 * copies)))


@case
def a_version_has_inodes_of_its_own_and_its_manifest_s_time():
    states = versions_of(NAME)
    with mounted(DATASETS / NAME) as mountpoint:
        dataset = mountpoint / NAME
        places = [dataset, *(dataset / 'versions.d' / str(state['version']) for state in states)]
        same(len({os.stat(place / 'id').st_ino for place in places}), len(places), 'inodes')
        for place, state in zip(places[1:], states):
            same(os.stat(place / 'id' / 'data.bin').st_mtime_ns,
                 os.stat(manifest_of(DATASETS / NAME, state['version'])).st_mtime_ns, 'time')
        os.chdir(places[1] / 'id')
        same((os.path.samefile('../..', dataset / 'versions.d'), os.path.samefile('../../..', dataset)),
             (True, True))
        os.chdir('/')


@case
def versions_jsonl_has_a_line_for_each_with_what_its_manifest_says():
    with mounted(DATASETS) as mountpoint:
        for name in NAMES:
            found = lines(mountpoint / name / name / 'versions.jsonl')
            same([line['version'] for line in found], [state['version'] for state in versions_of(name)], name)
            for line, state in zip(found, versions_of(name)):
                counts = [(rows, deleted) for _, rows, deleted in state['fragments']]
                same((line['entries'], line['fragments'], line['physical_rows'], line['deleted_rows'],
                      line['deletion_files']),
                     (state['rows'], len(counts), sum(rows for rows, _ in counts),
                      sum(deleted for _, deleted in counts),
                      sum(deleted > 0 for _, deleted in counts)), f"{name}, version {state['version']}")
                same((line['file_bytes'], line['branch'], line['tags'], line['timestamp'][-1]),
                     (os.path.getsize(line['file']), None, tags_of(DATASETS / name, state['version']), 'Z'),
                     name)


@case
def versions_jsonl_is_as_new_as_the_look_at_it():
    with copied() as source:
        branch(source, 'exp/one', 4)
        with mounted(source) as mountpoint, mounted(source, options=('-o', 'version=exp/one')) as of_branch:
            path = mountpoint / NAME / 'versions.jsonl'
            same([line['tags'] for line in lines(path)[:3]], [[], [], []])
            for name, *named in ('b', 2), ('a', 2), ('gone', 77), ('there', 2, 'exp/one'), ('out', 1,
                    '../..'):
                tag(source, name, *named)
            same([line['tags'] for line in lines(path)[:3]], [[], ['a', 'b'], []])
            same([(line['version'], line['branch'], line['tags'])
                  for line in lines(of_branch / NAME / 'versions.jsonl')],
                 [(number, 'exp/one', ['there'] if number == 2 else []) for number in (1, 2, 3, 4)])
            same(os.stat(path).st_size, len(path.read_bytes()), 'its size')
            with open(manifest_of(source, 3), 'r+b') as file:
                file.truncate(50)
            failed = lines(path)[2]
            same((failed['version'], manifest_of(source, 3).name in failed['error']), (3, True), failed)


@case
def a_number_a_tag_or_a_branch_chooses_what_is_shown():
    states = {state['version']: state for state in versions_of(NAME)}
    with copied() as source:
        branch(source, 'exp/one', 4)
        tag(source, 'first', 1)
        tag(source, 'there', 3, 'exp/one')
        for requested, version in {'2': 2, 'first': 1, 'exp/one': 4, 'exp/one:2': 2, 'there': 3}.items():
            with mounted(source, options=('-o', f'version={requested}')) as mountpoint:
                check_state(states[version], mountpoint / NAME)
                in_branch = 'exp' in requested or requested == 'there'
                manifest = json.loads((mountpoint / NAME / 'manifest.json').read_text())['file']
                same(f'{source}/tree/exp/one/' in manifest, in_branch, f'{requested}: in the branch')
                check_state(states[2], mountpoint / NAME / 'versions.d' / '2')
                fails(errno.ENOENT, os.stat, mountpoint / NAME / 'versions.d' / ('5' if in_branch else '99'))
            shown = json.loads(harness.output(harness.NTUPLE, 'cat', f'--version={requested}', source,
                                             f'{NAME}/ntuple.json'))
            same(shown['dataset_version'], version, requested)


@case
def what_is_no_version_is_refused_by_name():
    with copied() as source:
        tag(source, 'first', 1)
        tag(source, 'out', 1, '../../elsewhere')
        for requested, shown in {'77': 'from 1 to', 'none': 'tags: ', '../first': 'is a path',
                             'out': '../../elsewhere'}.items():
            for result in (harness.ntuplefs('-o', f'version={requested}', source, source.parent / 'mnt'),
                           harness.command(harness.NTUPLE, 'ls', f'--version={requested}', source)):
                same((result.returncode != 0, shown in result.stderr.decode()), (True, True), result.stderr)
    result = harness.ntuplefs('-o', 'version=1', DATASETS.parent / 'lance_nested_2.1.lance', '/tmp/none')
    same((result.returncode != 0, 'has no versions' in result.stderr.decode()), (True, True), result.stderr)


@case
def a_version_that_is_committed_while_mounted_is_there_at_the_next_look():
    states = versions_of(NAME)
    with copied() as source, tempfile.TemporaryDirectory(dir=source.parent) as aside:
        later = [manifest_of(source, state['version']) for state in states[1:]]
        for path in later:
            os.rename(path, Path(aside, path.name))
        with mounted(source) as mountpoint:
            dataset = mountpoint / NAME
            old = os.open(dataset, os.O_RDONLY | os.O_DIRECTORY)
            for before, state, path in zip(states, states[1:], later):
                check_state(before, dataset, 2)
                inode, time = os.stat(dataset).st_ino, os.stat(mountpoint).st_mtime_ns
                with open(dataset / 'id' / 'data.bin', 'rb') as file:
                    os.utime(Path(aside, path.name), (0, 1_700_000_000 + state['version']))
                    os.rename(Path(aside, path.name), path)
                    same(shown_version(dataset), state['version'], 'the version at the next look')
                    same(len(file.read()), before['rows'] * 8, 'an open file goes on')
                same((os.stat(dataset).st_ino != inode, os.stat(mountpoint).st_mtime_ns != time),
                     (True, True), 'another one')
                same(json.loads((mountpoint / 'file.json').read_text())['datasets'][0]['entries'],
                     state['rows'], 'file.json')
            check_state(states[-1], dataset)
            check_state(states[0], Path(f'/proc/self/fd/{old}'))
            os.close(old)
            same(harness.errors_of(mountpoint), [])


@case
def a_tag_and_a_branch_are_followed():
    with copied() as source:
        branch(source, 'exp', 3)
        tag(source, 'moving', 1)
        with mounted(source, options=('-o', 'version=moving')) as by_tag, mounted(source,
                options=('-o', 'version=exp')) as by_branch:
            same((shown_version(by_tag / NAME), shown_version(by_branch / NAME)), (1, 3))
            tag(source, 'moving', 2)
            shutil.copy(manifest_of(source, 4), source / 'tree' / 'exp' / '_versions' / 'new')
            os.rename(source / 'tree' / 'exp' / '_versions' / 'new', manifest_of(source / 'tree' / 'exp', 4))
            same((shown_version(by_tag / NAME), shown_version(by_branch / NAME)), (2, 4))


@case
def versions_are_listed_as_links_that_no_walk_follows():
    numbers = [state['version'] for state in versions_of(NAME)]
    with copied() as source, mounted(source) as mountpoint:
        versions = mountpoint / NAME / 'versions.d'
        for number in numbers:
            same(os.readlink(versions / f'v{number}'), str(number))
            same(os.stat(versions / f'v{number}').st_ino, os.stat(versions / str(number)).st_ino)
            same(shown_version(versions / f'v{number}'), number)
        below = [path for path, _, _ in os.walk(mountpoint) if Path(path).parent.name == 'versions.d']
        same(below, [])
        same(len(list(os.scandir(versions))), len(numbers))
        copy = source.parent / 'copy'
        same(harness.command('cp', '-r', mountpoint / NAME / 'versions.d', copy).returncode, 0)
        same(sorted(os.readlink(path) for path in copy.iterdir()), sorted(map(str, numbers)))
        fails(errno.ENOENT, os.lstat, versions / 'v99')
        fails(errno.EROFS, os.unlink, versions / f'v{numbers[0]}')
        manifest_of(source, numbers[0]).unlink()
        fails(errno.ENOENT, os.stat, versions / f'v{numbers[0]}')
    listed = harness.output(harness.NTUPLE, 'ls', '-l', DATASETS / NAME, f'{NAME}/versions.d').decode()
    same([line.split()[-3:] for line in listed.splitlines()],
         [[f'v{number}', '->', str(number)] for number in numbers])
    same(harness.output(harness.NTUPLE, 'ls', DATASETS / NAME, f'{NAME}/versions.d/v1'),
         harness.output(harness.NTUPLE, 'ls', DATASETS / NAME, f'{NAME}/versions.d/1'))


@case
def a_listing_opens_no_version_and_has_the_latest_ten_thousand():
    latest = versions_of(NAME)[-1]['version']
    with copied() as source:
        for number in range(latest + 1, latest + 10_101):
            manifest_of(source, number).touch()     # damaged: it has no bytes
        with mounted(source, options=('-o', f'version={latest}')) as mountpoint:
            versions = mountpoint / NAME / 'versions.d'
            same(sorted(os.listdir(versions)),
                 sorted(f'v{number}' for number in range(latest + 101, latest + 10_101)))
            same(harness.errors_of(mountpoint), [])
            same(shown_version(versions / '1'), 1)
            same(os.listdir(versions / f'v{latest + 10_100}/'), ['error.json'])


@case
def a_bad_version_leaves_the_others_readable():
    states = versions_of(NAME)
    latest = states[-1]['version']
    with copied() as source:
        half = manifest_of(source, latest + 1)
        half.write_bytes(manifest_of(source, latest).read_bytes()[:100])
        shutil.copy(manifest_of(source, 1), manifest_of(source, 40))  # with another number than in its name
        (source / '_versions' / 'latest_version_hint.json').write_text('{"version": 1000}')
        with mounted(source, options=('-o', f'version={latest}')) as mountpoint:
            for bad, shown in (latest + 1, half.name), (40, 'version'):
                directory = mountpoint / NAME / 'versions.d' / str(bad)
                same(os.listdir(directory), ['error.json'])
                same(shown in json.loads((directory / 'error.json').read_text())['what'], True, shown)
            for state in states:
                check_state(state, mountpoint / NAME / 'versions.d' / str(state['version']), 2)
            same(len(harness.errors_of(mountpoint)), 2)
        result = harness.ntuplefs(source, source.parent / 'mnt')
        same((result.returncode != 0, manifest_of(source, 40).name in result.stderr.decode()), (True, True),
             result.stderr)
        with mounted(source, options=('-o', 'broken=show')) as mountpoint:
            same(sorted(os.listdir(mountpoint / NAME)), ['error.json', 'versions.d'])
            check_state(states[0], mountpoint / NAME / 'versions.d' / '1')
        shown = json.loads(harness.output(harness.NTUPLE, 'cat', source, f'{NAME}/versions.d/1/ntuple.json'))
        same(shown['dataset_version'], 1)
        # below versions.d it says why; valid parts are below it
        with mounted(source.parent) as mountpoint:
            same(sorted(os.listdir(mountpoint / NAME)), ['error.json', 'versions.d'])
            check_state(states[0], mountpoint / NAME / 'versions.d' / '1')
            manifest_of(source, 40).unlink()
            half.unlink()
            check_state(states[-1], mountpoint / NAME / NAME)


@case
def what_a_removed_version_has_not_read_is_stale():
    with copied('blocks_2.1') as source:
        with mounted(source) as mountpoint:
            dataset = mountpoint / source.name
            second = dataset / 'versions.d' / '2'
            with open(second / 'id' / 'data.bin', 'rb') as file, open(dataset / 'id' / 'data.bin',
                                                                      'rb') as latest:
                same(len(os.pread(latest.fileno(), 8, 0)), 8)
                manifest_of(source, 2).unlink()
                for path in (source / 'data').iterdir():
                    path.unlink()
                fails(errno.ESTALE, os.pread, file.fileno(), 8, 0)
                fails(errno.ESTALE, os.pread, latest.fileno(), 8, 8 * 5000)
            fails(errno.ENOENT, os.stat, second)
            for error in harness.errors_of(mountpoint):
                same(error['status'], 'source changed', error)


@case
def pylance_writes_while_it_is_mounted():
    lance, arrow = harness.need('lance'), harness.need('pyarrow')
    with tempfile.TemporaryDirectory() as directory:
        source = Path(directory, 'table.lance')
        lance.write_dataset(arrow.table({'id': range(1000)}), source)
        with mounted(source) as mountpoint:
            dataset = mountpoint / 'table'
            same(shown_version(dataset), 1)
            old = os.open(dataset / 'id', os.O_RDONLY | os.O_DIRECTORY)
            with open(dataset / 'id' / 'data.bin', 'rb') as file:
                lance.write_dataset(arrow.table({'id': range(7)}), source, mode='overwrite')
                same(os.stat(dataset / 'id' / 'data.bin').st_size, 7 * 8)
                same(len(file.read()), 1000 * 8, 'an open file goes on')
            lance.dataset(source).delete('id = 3')
            lance.dataset(source).tags.create('last', 3)
            same([line['tags'] for line in lines(dataset / 'versions.jsonl')], [[], [], ['last']])
            keys = {'total_rows': 'entries', 'total_fragments': 'fragments',
                    'total_data_files': 'data_files', 'total_files_size': 'data_file_bytes',
                    'total_deletion_files': 'deletion_files', 'total_data_file_rows': 'physical_rows',
                    'total_deletion_file_rows': 'deleted_rows'}
            shown, found = lance.dataset(source).versions(), lines(dataset / 'versions.jsonl')
            same([{**{key: line[ours] for key, ours in keys.items()}, 'version': line['version']}
                  for line in found],
                 [{**{key: int(version['metadata'][key]) for key in keys}, 'version': version['version']}
                  for version in shown])
            for line, version in zip(found, shown):  # whose microseconds are rounded
                timestamp = datetime.fromisoformat(line['timestamp'][:26] + '+00:00')
                same(abs(version['timestamp'].astimezone(timezone.utc) - timestamp) <= timedelta(
                        microseconds=1), True, 'timestamp')
            same((shown_version(dataset), os.stat(dataset / 'id' / 'data.bin').st_size), (3, 6 * 8))
            lance.dataset(source).cleanup_old_versions(timedelta(0))
            fails(errno.ENOENT, os.stat, dataset / 'versions.d' / '1')
            same((dataset / 'id' / 'data.bin').read_bytes(),
                 b''.join(k.to_bytes(8, 'little') for k in (0, 1, 2, 4, 5, 6)))
            os.close(old)


@case
def what_pylance_cleans_up_is_stale_where_it_was_not_read():
    lance, arrow = harness.need('lance'), harness.need('pyarrow')
    rows = 10_000
    with tempfile.TemporaryDirectory() as directory:
        source = Path(directory, 'table.lance')
        for first in 0, rows:
            lance.write_dataset(arrow.table({'id': range(first, first + rows)}), source, mode='append'
                                if first else 'create')
        with mounted(source) as mountpoint:
            with open(mountpoint / 'table' / 'id' / 'data.bin', 'rb', buffering=0) as file:
                lance.write_dataset(arrow.table({'id': range(7)}), source, mode='overwrite')
                lance.dataset(source).cleanup_old_versions(timedelta(0))
                same(shown_version(mountpoint / 'table'), 3)
                fails(errno.ESTALE, os.pread, file.fileno(), 8, 8 * (rows + 5000))
            fails(errno.ENOENT, os.stat, mountpoint / 'table' / 'versions.d' / '2')


@case
def branches_and_tags_of_pylance_are_shown():
    lance, arrow = harness.need('lance'), harness.need('pyarrow')
    with tempfile.TemporaryDirectory() as directory:
        source = Path(directory, 'table.lance')
        lance.write_dataset(arrow.table({'id': [1, 2, 3]}), source)
        dataset = lance.dataset(source)
        if not hasattr(dataset, 'create_branch'):
            raise harness.Skip('pylance is too old for branches')
        branch_of = dataset.create_branch('exp/one', 1)
        lance.write_dataset(arrow.table({'id': [40]}), branch_of, mode='append')
        lance.write_dataset(arrow.table({'id': [5]}), source, mode='append')
        dataset.tags.create('first', 1)
        dataset.tags.create('there', ('exp/one', 2))
        for requested, expected in {'first': [1, 2, 3], 'exp/one': [1, 2, 3, 40], 'there': [1, 2, 3, 40],
                                 '2': [1, 2, 3, 5]}.items():
            found = harness.output(harness.NTUPLE, 'cat', f'--version={requested}', source,
                                   'table/id/rows.jsonl')
            same([json.loads(line) for line in found.splitlines()], expected, requested)


@case
def a_version_apart_from_the_history_is_shown_by_its_number():
    try:
        import lance
        import pyarrow
        from lance.fragment import write_fragments
    except ImportError as problem:
        raise harness.Skip(f'{problem.name} is not installed')
    with tempfile.TemporaryDirectory() as directory:
        source = Path(directory, 'set')
        lance.write_dataset(pyarrow.table({'k': [1, 2]}), source)
        fragments = write_fragments(pyarrow.table({'k': [3]}), source)
        apart = lance.LanceDataset.commit(source, lance.LanceOperation.Append(fragments), read_version=1,
                                          detached=True)
        with mounted(source) as mountpoint:
            dataset = mountpoint / 'set'
            same((dataset / 'k/rows.jsonl').read_text().split(), ['1', '2'], 'the latest')
            same((dataset / f'versions.d/{apart.version}/k/rows.jsonl').read_text().split(),
                 ['1', '2', '3'], 'the other')
            same([line['version'] for line in lines(dataset / 'versions.jsonl')], [1], 'the history')
        with mounted(source, options=('-o', f'version={apart.version}')) as mountpoint:
            same(shown_version(mountpoint / 'set'), apart.version)


if __name__ == '__main__':
    run()
