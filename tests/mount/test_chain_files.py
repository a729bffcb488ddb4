# SPDX-License-Identifier: MIT
"""The files of a chain: their lines in files.jsonl, and their own trees in files.d."""
import contextlib
import errno
import json
import os
import shutil
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'support'))
from bloscpack_file import write_bloscpack  # noqa: E402
from chains import chain, copies, refusal  # noqa: E402
from json_rules import problems  # noqa: E402
from harness import (DATA, NTUPLE, case, data, decoder_of, errors_of, fails, lines, mounted, output,
                     pread, run, same,  # noqa: E402
                     scratch)


def contents(tree):
    """{path: bytes, or the errno} of everything that a tree lists, without files about the mount
    itself."""
    found = {}
    for folder, folders, files in os.walk(tree):
        folders[:] = [name for name in folders if name != '.ntuplefs']
        for name in files:
            path = Path(folder, name)
            with contextlib.suppress(OSError):
                found[path.relative_to(tree)] = path.read_bytes()
    return found


@case
def the_tree_of_a_file_is_that_of_a_mount_of_it_alone():
    for name in ('example', 'dirs_and_cycles', 'attributes', 'late_fields'):
        with scratch() as directory:
            paths = copies(directory, f'{name}.root', 2)
            with mounted(paths[1]) as single, chain(directory / 'run*.root') as whole:
                expected, found = contents(single), contents(whole / 'files.d/run1.root')
                same(sorted(found), sorted(expected), name)
                assert len(found) > 5
                for path, content in expected.items():
                    assert found[path] == content, (name, path)
                same(errors_of(whole), [], name)


@case
def files_open_by_name_and_are_not_listed():
    with scratch() as directory:
        paths = copies(directory, 'example.root')
        with chain(directory / 'run*.root') as whole:
            assert 'files.d' in os.listdir(whole)
            same(os.listdir(whole / 'files.d'), [])
            for wrong in ('run3.root', 'run0', '0', 'run0.root~2', ''):
                assert not wrong or not (whole / 'files.d' / wrong).exists(), wrong
            below = whole / 'files.d/run0.root/Events/run'
            same(os.path.realpath(below / '../../../..'), str(whole))
            inodes = {os.stat(path / 'data.bin').st_ino
                      for path in (below, whole / 'files.d/run1.root/Events/run', whole / 'Events/run')}
            same(len(inodes), 3)
            same((below / 'data.bin').stat().st_mtime, paths[0].stat().st_mtime)
            assert 'files.d' not in os.listdir(whole / 'files.d/run0.root')
            assert 'files.jsonl' not in os.listdir(whole / 'files.d/run0.root/Events')
        listed = output(NTUPLE, 'ls', '--chain', directory / 'run*.root',
                        'files.d/run1.root/Events/..').decode()
        assert 'Events' in listed.split() and 'files.d' not in listed.split(), listed
        with mounted(*paths) as singles:
            assert not (singles / 'files.d').exists() and not (singles / 'run0.root/files.d').exists()


@case
def names_are_those_of_sources():
    with scratch() as directory:
        names = ['a/x.root', 'b/x.root', 'c/x.root', 'x.root~2', '.hidden', 'files.d', '50%25', 'new\nline',
                 b'\xff.root', '0']
        for name in names:
            path = directory / os.fsdecode(name)
            path.parent.mkdir(exist_ok=True)
            shutil.copy(data('example.root'), path)
        paths = [directory / os.fsdecode(name) for name in names]
        expected = ['x.root', 'x.root~3', 'x.root~4', 'x.root~2', '%2Ehidden', 'files.d', '50%2525',
                    'new%0Aline', '%FF.root', '0']
        with chain(*paths) as whole:
            shown = lines(whole / 'Events/files.jsonl')
            same([line['number'] for line in shown], list(range(len(names))))
            for line, path, name in zip(shown, paths, expected):
                same(line['path'], f'files.d/{name}')
                same(line.get('file') or os.fsdecode(bytes.fromhex(line['file_hex'])), str(path))
                document = json.loads((whole / line['path'] / 'file.json').read_text())
                same(document.get('file', document.get('file_hex')), line.get('file', line.get('file_hex')))


@case
def lines_say_the_dataset_of_a_file_with_its_directories():
    with scratch() as directory:
        paths = [directory / f'{i}.root' for i in range(2)]
        for path in paths:
            shutil.copy(data('dirs_and_cycles.root'), path)
        with chain(*paths) as whole:
            for name in 'top', 'run 1.5/inner', 'run 1.5/deeper/inner':
                same([line['dataset'] for line in lines(whole / name / 'files.jsonl')], [name] * 2)


@case
def lines_say_where_the_entries_of_a_file_are():
    with scratch() as directory:
        paths = [directory / f'{i}.root' for i in range(4)]
        for path, name in zip(paths, ('example.root', 'example.root', 'empty.root', 'example.root')):
            shutil.copy(data(name), path)
        pattern = [path for path in paths if path != paths[2]]
        with chain(*pattern) as whole:
            shown, clusters = lines(whole / 'Events/files.jsonl'), lines(whole / 'Events/clusters.jsonl')
            same([line['first_entry'] for line in shown], [0, 1000, 2000])
            for line in shown:
                same(list(problems(line)), [])
                same((line['file_bytes'], line['entries'], line['dataset'], line['is_left_out']),
                     (Path(line['file']).stat().st_size, 1000, 'Events', False))
                own = [cluster for cluster in clusters if cluster['file'] == line['file']]
                same([cluster['cluster'] for cluster in own],
                     list(range(line['first_cluster'], line['first_cluster'] + line['clusters'])))
                same((own[0]['first_entry'], sum(cluster['entries'] for cluster in own)),
                     (line['first_entry'], line['entries']))
                assert 'sample' not in line and 'error' not in line
            size = (whole / 'Events/files.jsonl').stat().st_size
            same(size, len((whole / 'Events/files.jsonl').read_bytes()))


@case
def samples_are_reported_with_their_metadata():
    metadata = {'weight': 0.1, 'year': 2018, 'kind': 'Monte Carlo "ä"', 'large': 2 ** 53 + 1}
    with scratch() as directory:
        copies(directory, 'example.root')
        text = directory / 'text.json'
        text.write_text(json.dumps({'samples': {'z z': {'trees': ['Events'], 'files': ['run2.root'],
                                                        'metadata': metadata},
                                                'a': {'trees': ['Events'], 'files': ['run[01].root']}}}))
        with chain(text) as whole:
            shown = lines(whole / 'Events/files.jsonl')
            same([(line['sample'], line['metadata'], line['path']) for line in shown],
                 [('z z', metadata, 'files.d/run2.root'), ('a', None, 'files.d/run0.root'),
                  ('a', None, 'files.d/run1.root')])
            same([name for line in shown for name in problems(line, ('metadata',))], [])


@case
def files_that_fail_say_why():
    with scratch() as directory:
        for i, dtype in enumerate(('<i4', '<f8', '<i4')):
            write_bloscpack(directory / f'part{i}.blp', np.arange(1024).astype(dtype))
        for name in ('part.blp', 'part1x.blp'):
            (directory / name).write_bytes(b'blpk')
        with chain(directory / 'part*.blp', options=('-o', 'missing=skip'),
                   reported='3 of 5 files cannot be used; the first: ') as whole:
            shown = lines(next(whole.rglob('files.jsonl')))
            same([line['is_left_out'] for line in shown], [True, False, False, True, False])
            same([line.get('entries') for line in shown], [None, 1024, 1024, None, 1024])
            same([line.get('first_entry') for line in shown], [None, 0, 1024, None, 2048])
            errors = [line.get('error') for line in shown]
            assert 'part.blp' in errors[0] and '<f8' in errors[2] and 'part1x.blp' in errors[3], shown
            assert 'error' not in shown[1] and 'error' not in shown[4], shown
            # all can be inspected uncombined
            same(os.listdir(whole / shown[3]['path']), ['error.json'])
            assert json.loads((whole / shown[3]['path'] / 'error.json').read_text())['what'] in shown[3][
                    'error']
            same(np.load(whole / shown[2]['path'] / 'part1/values/data.npy').tolist(), list(range(1024)))


@case
def files_of_a_list_may_not_be_there():
    with scratch() as directory:
        copies(directory, 'example.root', 2)
        text = directory / 'list.txt'
        text.write_text('gone.root\nrun0.root\nnowhere/run1.root\nrun1.root\n')
        assert f'list.txt, line 1: {directory}/gone.root: No such file' in refusal(text)
        with chain(text, options=('-o', 'missing=skip'),
                   reported='2 of 4 files cannot be used; the first: ') as whole:
            shown = lines(whole / 'Events/files.jsonl')
            same([(line['is_left_out'], line['file_bytes'] is None, line['modified'] is None)
                  for line in shown],
                 [(True, True, True), (False, False, False)] * 2)
            assert 'No such file' in shown[0]['error'] and 'nowhere/run1.root' in shown[2]['error'], shown
            same(json.loads((whole / 'Events/ntuple.json').read_text())['entries'], 2000)
            same([(whole / line['path']).exists() for line in shown], [False, True, False, True])
        for name in ('gone.root', 'gone*.root'):  # given by the user
            assert name in refusal(directory / 'run0.root', directory / name, options=('-o', 'missing=skip'))


@case
def a_file_that_has_changed_is_not_shown():
    with scratch() as directory:
        paths = copies(directory, 'example.root')
        with chain(directory / 'run*.root') as whole:
            opened = whole / 'files.d/run1.root/Events'
            same(len(pread(opened / 'weight/data.bin', 4096, 0)), 4096)
            with open(paths[1], 'ab') as file:
                file.write(b'more')
            shutil.copy(data('example.root'), directory / 'new')
            os.rename(directory / 'new', paths[2])
            fails(errno.ESTALE, pread, opened / 'event/data.bin', 4096, 4096)
            same(os.listdir(whole / 'files.d/run2.root'), ['error.json'])
            assert 'was replaced or modified' in (whole / 'files.d/run2.root/error.json').read_text()
            same(len(pread(whole / 'files.d/run0.root/Events/weight/data.bin', 4096, 0)), 4096)


@case
def versions_of_a_file_are_in_its_tree():
    source = DATA / 'lance_datasets/columns_2.1'
    with scratch() as directory:
        for i in range(2):
            shutil.copytree(source, directory / f'part{i}.lance')
        with mounted(source) as single, chain(directory / 'part?.lance') as whole:
            own = whole / 'files.d/part1.lance/part1'
            version = json.loads((single / source.name / 'ntuple.json').read_text())['dataset_version']
            same(lines(own / 'versions.jsonl')[-1]['version'], version)
            for path in ('rows.jsonl', f'versions.d/{version}/rows.jsonl', 'versions.d/1/schema.txt'):
                same((own / path).read_text().replace('part1', source.name),
                     (single / source.name / path).read_text(), path)
            shown = lines(whole / 'part0/files.jsonl')
            same([(line['file_bytes'], line['first_cluster'], line['clusters']) for line in shown],
                 [(None, None, None)] * 2)


@case
def choices_are_of_the_chain_alone():
    with scratch() as directory:
        copies(directory, 'example.root', 2)
        with chain(directory / 'run*.root', options=('-o', 'entries=Events:10:20')) as whole:
            entries = [json.loads((path / 'Events/ntuple.json').read_text())['entries']
                       for path in (whole, whole / 'files.d/run0.root')]
            same(entries, [10, 1000])
            same([line['entries'] for line in lines(whole / 'Events/files.jsonl')], [1000, 1000])


@case
def few_of_many_files_stay_open():
    with scratch() as directory:
        for i in range(400):
            write_bloscpack(directory / f'part{i:03}.blp', np.array([i], '<i8'))
        with chain(directory / 'part*.blp') as whole:
            shown = lines(whole / 'part000/files.jsonl')
            for line in shown:
                stem = Path(line['file']).stem
                same(int.from_bytes((whole / line['path'] / stem / 'values/data.bin').read_bytes(),
                                    'little'), line['number'])
            descriptors = len(os.listdir(f'/proc/{decoder_of(whole)}/fd'))
            assert descriptors < 300, descriptors
            np.testing.assert_array_equal(np.load(whole / 'part000/values/data.npy'), np.arange(400))


run()
