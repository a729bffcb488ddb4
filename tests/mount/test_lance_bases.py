#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Datasets whose manifest has base paths: files in other directories. Files below the dataset are
read, others only if `bases` allows it; links and names cannot leave the allowed directories."""
import contextlib
import errno
import json
import os
import shutil
import sys
from pathlib import Path

import harness
from harness import NTUPLE, case, command, lines, run, same, scratch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'support'))
from compare_columns import check_column  # noqa: E402
from lance_editor import (  # noqa: E402
    BASE_PATHS, DELETION_FILE, FILES, FRAGMENTS, ManifestEditor, items_of, member, message_of
)

NAME = 'deletions_2.1'
DATASETS = harness.DATA / 'lance_datasets'
STATE = json.loads((DATASETS / f'{NAME}.json').read_text())['versions'][-1]
# BasePath.id, …; DataFile.base_id, with the number of DeletionFile's
BASE, IS_ROOT, PATH, FILE_BASE = 1, 3, 4, 7


def put_elsewhere(source, place, path, is_root=True, base=1):
    """Move the files of the first fragment to a directory, which the manifest calls `path`."""
    editor = ManifestEditor(source)
    parts = items_of(editor.all_of(FRAGMENTS)[0])
    for item in parts:
        if item[0] not in (FILES, DELETION_FILE) or (item[0] == DELETION_FILE and not is_root):
            continue
        item[2] += message_of([member(FILE_BASE, base)])
        if item[0] == FILES:
            name = Path('data', os.fsdecode(items_of(item[2])[0][2]))
            to = place / (name if is_root else name.name)
        else:
            # written from this version on
            name, = Path(source, '_deletions').glob(f'0-{items_of(item[2])[0][2]}-*')
            name = name.relative_to(source)
            to = place / name
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(source / name, to)
    editor.change(((FRAGMENTS, 0),), message_of(parts))
    editor.add(BASE_PATHS, message_of([member(BASE, 1), member(IS_ROOT, int(is_root)),
                                       member(PATH, os.fsencode(str(path)))]))
    editor.write()


@contextlib.contextmanager
def copied():
    with scratch() as directory:
        directory = directory.resolve()
        yield directory, Path(shutil.copytree(DATASETS / NAME, directory / 'set'))


def check_read(source, *bases):
    with harness.mounted(source, options=[f'--bases={base}' for base in bases]) as mountpoint:
        for column in STATE['columns']:
            check_column(mountpoint / 'set' / column['path'], column)
        page = lines(mountpoint / 'set' / 'id' / 'column.0' / 'pages.jsonl')[0]
        same(Path(page['file']).is_file(), True, page['file'])
        same(harness.errors_of(mountpoint), [])


def check_refused(source, words, *bases):
    """For the first fragment, which cannot be read; the others can."""
    options = ['--direct_io=on', *(f'--bases={base}' for base in bases)]
    with harness.mounted(source, options=options) as mountpoint:
        data = mountpoint / 'set' / 'id' / 'data.bin'
        rows = lines(mountpoint / 'set' / 'fragments.jsonl')[0]['entries']
        same(os.stat(data).st_size, STATE['rows'] * 8)
        harness.fails(errno.EIO, harness.pread, data, 8, 0)
        same(len(harness.pread(data, 8, 8 * rows)), 8)
        error = harness.errors_of(mountpoint)[0]
        same([word for word in ('fragment 0: ', *words) if word not in error['what']], [], error['what'])


@case
def what_is_beneath_the_dataset_is_followed():
    for path in 'inner', '{set}/inner', '{set}/inner/', 'file://{set}/inner':
        with copied() as (_, source):
            put_elsewhere(source, source / 'inner', path.format(set=source))
            check_read(source)
    with copied() as (directory, source):
        put_elsewhere(source, source / 'inner', source / 'inner')
        os.symlink(source, directory / 'link')  # reported paths are without links
        same(len(harness.output(NTUPLE, 'cat', directory / 'link', 'set/id/data.bin')), STATE['rows'] * 8)


@case
def a_base_that_is_no_dataset_has_its_files_in_itself():
    with copied() as (_, source):
        put_elsewhere(source, source / 'files', source / 'files', is_root=False)
        check_read(source)


@case
def what_is_elsewhere_is_read_only_where_it_is_allowed():
    with copied() as (directory, source):
        other = directory / 'other'
        put_elsewhere(source, other, other)
        check_refused(source, ['base path 1', str(other), 'option bases'])
        (directory / 'another').mkdir()
        check_refused(source, ['base path 1', str(other)], directory / 'another')
        for bases in [other], [f'{other}/'], [directory], [directory / 'another', other]:
            check_read(source, *bases)
        # a name that only begins like that of the base
        (directory / 'oth').mkdir()
        check_refused(source, ['base path 1'], directory / 'oth')


@case
def relative_paths_are_looked_for_beneath_what_is_allowed():
    with copied() as (directory, source):
        put_elsewhere(source, directory / 'other', 'other')
        check_refused(source, ["base path 1, 'other'"])
        check_read(source, directory)
        check_read(source, directory / 'other')


@case
def nothing_leads_out_of_what_is_allowed():
    for path in '{set}/inner/../../other', '{allowed}/../other', '../other', 's3://other', '':
        with copied() as (directory, source):
            (directory / 'allowed').mkdir()
            (source / 'inner').mkdir()
            put_elsewhere(source, directory / 'other', path.format(set=source, allowed=directory / 'allowed'))
            check_refused(source, ["base path 1, '"], directory / 'allowed')
    for place in 'set', 'allowed':
        with copied() as (directory, source):
            (directory / 'allowed').mkdir()
            put_elsewhere(source, directory / 'other', directory / place / 'link')
            os.symlink(directory / 'other', directory / place / 'link')
            with harness.mounted(source, options=[f'--bases={directory}/allowed']) as mountpoint:
                harness.fails(errno.EACCES, harness.pread, mountpoint / 'set' / 'id' / 'data.bin', 8, 0)
                error = harness.errors_of(mountpoint)[0]
                same('a link out of the directory' in error['what'], True, error['what'])


@case
def a_path_that_no_allowed_directory_ends_with_is_refused():
    for path in 'x' * 300, 'abc', 'abcowed':  # longer than they are; as long as the last part of each
        with copied() as (directory, source):
            (directory / 'allowed').mkdir()
            put_elsewhere(source, directory / 'other', path)
            check_refused(source, [f"base path 1, '{path}'"], directory / 'allowed')


def with_another(source, number):
    editor = ManifestEditor(source)
    editor.add(BASE_PATHS, message_of([member(BASE, number), member(IS_ROOT, 1), member(PATH, b'another')]))
    editor.write()


@case
def a_base_is_found_among_several_by_its_number():
    for others in [0], [2], [9, 0, 5]:
        with copied() as (_, source):
            put_elsewhere(source, source / 'inner', source / 'inner')
            for other in others:
                with_another(source, other)
            check_read(source)


@case
def two_bases_of_one_number_are_reported():
    with copied() as (_, source):
        put_elsewhere(source, source / 'inner', source / 'inner')
        with_another(source, 1)
        result = command(NTUPLE, 'cat', source, 'set/id/data.bin')
        same(result.returncode != 0 and b'.manifest: base paths: two base paths have the id 1'
             in result.stderr, True, result.stderr)


@case
def a_deletion_file_is_in_a_dataset():
    with copied() as (_, source):
        put_elsewhere(source, source / 'files', source / 'files', is_root=False)
        editor = ManifestEditor(source)
        editor.change(((FRAGMENTS, 0), DELETION_FILE, FILE_BASE), 1)
        editor.write()
        check_refused(source, ['deletion file: ', "base path 1 does not belong to a dataset"])


@case
def a_base_that_the_manifest_does_not_have_is_reported():
    with copied() as (_, source):
        put_elsewhere(source, source / 'inner', source / 'inner', base=2)
        check_refused(source, ['the manifest has no base path 2'])


@case
def an_allowed_directory_has_to_be_there():
    with copied() as (directory, source):
        for path in directory / 'none', source / 'none' / 'below', Path(NTUPLE):
            result = command(NTUPLE, 'ls', f'--bases={path}', source)
            same((result.returncode != 0, b'option "bases"' in result.stderr), (True, True), result.stderr)


@case
def a_branch_has_files_of_the_dataset_that_it_was_made_of():
    """Its base path may be relative, if its writer opened the dataset by a relative path."""
    for path in '{set}', 'set', '{set}/tree/../../set':
        with copied() as (directory, source):
            (source / 'tree' / 'side').mkdir(parents=True)
            for name in '_versions', '_deletions', 'data':
                shutil.copytree(source / name, source / 'tree' / 'side' / name)
            (source / '_refs' / 'branches').mkdir(parents=True)
            (source / '_refs' / 'branches' / 'side.json').write_text('{"parentVersion":1}')
            put_elsewhere(source / 'tree' / 'side', directory / 'lost', path.format(set=source))
            with harness.mounted(source, options=['-o', 'version=side']) as mountpoint:
                if '..' in path:
                    harness.fails(errno.EIO, (mountpoint / 'set' / 'id' / 'data.bin').read_bytes)
                    continue
                for column in STATE['columns']:
                    check_column(mountpoint / 'set' / column['path'], column)


@case
def a_shallow_clone_of_pylance_is_read():
    lance = harness.need('lance')
    with scratch() as directory:
        source = directory.resolve() / 'source'
        shutil.copytree(DATASETS / NAME, source)
        lance.dataset(str(source)).shallow_clone(str(directory / 'set'), STATE['version'])
        check_read(directory / 'set', source)


if __name__ == '__main__':
    run()
