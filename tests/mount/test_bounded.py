# SPDX-License-Identifier: MIT
"""Honest files that have many of one thing, in a control group whose memory is bounded: everything is read,
and a file is opened once. NTUPLE_BOUNDED=full: two million pages, 100,000 fields and 300,000 fragments in 256
MiB, all bytes of all files, where one column of each dataset stands for the pages of all; and a copy of the
pages of all columns."""
import concurrent.futures
import hashlib
import math
import os
import shutil
import subprocess

import harness
from harness import Foreground, Skip, case, errors_of, high_water, own_seconds, run, same, scratch
from many_fragments import write_fragments
from soak import GROUPS, MEBIBYTE, Group

IS_FULL = os.environ.get('NTUPLE_BOUNDED') == 'full'
LIMIT = (256 if IS_FULL else 64) * MEBIBYTE
MANY_LIMIT = (256 if IS_FULL else 48) * MEBIBYTE  # of pages and fragments; leaves 100 bytes for each page
# Fields, clusters, pages of a field in a cluster.
FILES = {'fields.root': (100000, 1, 1), 'pages.root': (20, 1000, 100)} if IS_FULL else \
    {'fields.root': (20000, 1, 1), 'pages.root': (20, 100, 100)}
FRAGMENTS, NAMES = (300000, [b'id', b'number', b'text']) if IS_FULL else (1000, [])
COPIED = 3000 if IS_FULL else 100  # fragments, of all fields
# A group of 256 MiB has this for a fragment if there are 300,000; fields and one file take the rest.
FRAGMENT_BYTES, OTHER_BYTES = 160 * MEBIBYTE // 300000, 128 << 10
LISTED = 100000 if IS_FULL else 40000  # fragments whose data nothing reads
SLOW = ['layout.svg', 'keys.jsonl']
MAX_LISTED = 100000  # files of pages in a directory
MAX_DIRECTORIES, MAX_BYTES = (1 << 30, 1 << 40) if IS_FULL else (40, 1 << 20)
SECONDS = 10  # to open the small file anew for each request takes a hundred times as long
PIECE = 1 << 20


def read_file(path):
    left = MAX_BYTES
    try:
        with open(path, 'rb', buffering=0) as file:
            while left > 0 and (piece := file.read(PIECE)):
                left -= len(piece)
    except OSError as error:
        raise AssertionError(f'{path}: {error}') from None


def reraise(error):
    """os.walk omits directories that cannot be listed."""
    raise error


def read_some(top):
    """Files at the top of directories, of so many directories."""
    number, has_pages = 0, not IS_FULL
    for parent, directories, names in os.walk(top, onerror=reraise):
        if has_pages:
            directories[:] = [name for name in directories if name != 'pages']
        has_pages |= 'pages' in directories
        directories.sort()
        for name in names if IS_FULL else sorted(set(names).difference(SLOW)):
            read_file(os.path.join(parent, name))
        number += 1
        if number == MAX_DIRECTORIES:
            return


def write_entering(path, group):
    """A program that enters the group and becomes ntuplefs."""
    path.write_text(f'#!/bin/sh\necho $$ >{group.path}/cgroup.procs\nexec {harness.NTUPLEFS} "$@"\n')
    path.chmod(0o700)
    return path


def read_mounted(path):
    with Foreground(path) as mount:
        try:
            read_some(mount.mountpoint)
        except AssertionError as error:
            raise AssertionError(f'{error}: {errors_of(mount.mountpoint)}') from None
        same((mount.mountpoint / '.ntuplefs/errors.jsonl').read_bytes(), b'', path)
        seconds = own_seconds(mount.decoder)
        same(IS_FULL or seconds < SECONDS, True, f'{path}: {seconds} s')


def in_group(read, limit=LIMIT):
    """With ntuplefs in a group, and a directory."""
    if not os.access(GROUPS / 'cgroup.procs', os.W_OK):
        raise Skip('no control groups of version 1, or none that this user may make')
    program, group = harness.NTUPLEFS, Group(limit)
    try:
        with scratch() as directory:
            harness.NTUPLEFS = write_entering(directory / 'ntuplefs', group)
            read(directory)
    finally:
        harness.NTUPLEFS = program
        group.remove()


def write_many(path, counts):
    subprocess.run([os.environ['WRITE_MANY'], path, *map(str, counts)], check=True)


@case
def files_that_have_much_are_read_in_little_memory():
    for name, limit in ('fields.root', LIMIT), ('pages.root', MANY_LIMIT):
        def read(directory):
            write_many(directory / name, FILES[name])
            read_mounted(directory / name)
        in_group(read, limit)


@case
def all_pages_are_copied_in_little_memory():
    """Into an archive that no disk stores; column by column, as that of two million files is large."""
    def read(directory):
        counts = FILES['pages.root'] if IS_FULL else (2, 30, 100)
        write_many(directory / 'pages.root', counts)
        with Foreground(directory / 'pages.root') as mount:
            for column in sorted((mount.mountpoint / 'Events').glob('*/column.0')):
                with subprocess.Popen(['tar', '-c', '.'], cwd=column, stdout=subprocess.PIPE) as copying:
                    listed = harness.output('tar', '-t', stdin=copying.stdout, timeout=None).splitlines()
                same(copying.returncode, 0, column)
                files = sum(not name.endswith(b'/') for name in listed)
                same(files >= min(2 * math.prod(counts[1:]), MAX_LISTED), True, files)
            same((mount.mountpoint / '.ntuplefs/errors.jsonl').read_bytes(), b'')
    in_group(read)


@case
def a_dataset_of_many_fragments_is_read_in_little_memory():
    def read(directory):
        write_fragments(directory / 'many', FRAGMENTS, NAMES)
        read_mounted(directory / 'many')
    in_group(read, MANY_LIMIT)


@case
def one_dataset_is_in_memory_at_a_time():
    """The version that is shown is not opened again for versions.d, and an idle file closes before another
    one opens."""
    def read(directory):
        many = directory / 'data/many'
        write_fragments(many, LISTED, [b'id'], has_data=False)
        shutil.copytree(many, directory / 'data/other')
        peaks = []
        for mounted, paths in [(many, ['many']), (many, ['many', 'many/versions.d/v1']),
                               (directory / 'data', ['many/many', 'other/other', 'many/many/versions.d/1'])]:
            with Foreground(mounted) as mount:
                for path in paths:
                    listed = os.listdir(mount.mountpoint / path)
                    same('ntuple.json' in listed, True, f'{path}: {listed}')
                peaks.append(high_water(mount.decoder))
        same(max(peaks) < peaks[0] * 5 // 4, True, peaks)
    in_group(read)


def contents(top):
    """All files, and what they contain; in the short test, the pages of one column only."""
    found, has_pages = {}, False
    for parent, directories, names in os.walk(top, onerror=reraise):
        directories.sort()
        if has_pages and not IS_FULL:
            directories[:] = [name for name in directories if name != 'pages']
        has_pages |= 'pages' in directories
        for path in (os.path.join(parent, name) for name in names):
            with open(path, 'rb') as file:
                found[os.path.relpath(path, top)] = hashlib.sha256(file.read()).digest()
    return found


@case
def little_memory_changes_nothing_of_a_dataset_of_many_fragments_and_fields():
    with scratch() as directory:
        write_fragments(directory / 'many', COPIED)
        found = []
        for options in ['-o', f'metadatasize={COPIED * FRAGMENT_BYTES + OTHER_BYTES}'], []:
            with Foreground(directory / 'many', options=options) as mount:
                found.append(contents(mount.mountpoint / 'many'))
                same((mount.mountpoint / '.ntuplefs/errors.jsonl').read_bytes(), b'')
        same(len(found[1]) > 5 * COPIED, True)
        same(found[0], found[1])


# 10,000 pages: their list takes 0.6 MB of the limit, and pagelist.0.txt 1 MB while it is open.
TEXTS = ['pagelist.0.txt', 'pagelist.0.json', 'pagelist.0.raw', 'header.txt', 'header.json',
         '../layout.jsonl']
TEXT_LIMIT = 1800000
HELD = 4  # times that each text is open


def rest_of(file, first):
    with file:
        return first + file.read()


@case
def texts_that_are_open_leave_each_other_the_memory():
    """A program may close a file long before the kernel tells the daemon, and others read the same files."""
    with scratch() as directory:
        write_many(directory / 'pages.root', (20, 5, 100))
        with Foreground(directory / 'pages.root') as mount:
            expected = {name: (mount.mountpoint / 'Events' / name).read_bytes() for name in TEXTS}
        options = ['-o', f'metadatasize={TEXT_LIMIT},cachesize=1M']
        with Foreground(directory / 'pages.root', options=options) as mount:
            top = mount.mountpoint / 'Events'
            left_open = [(name, file, file.read(4096)) for name in TEXTS
                         for file in [open(top / name, 'rb', buffering=0)]]
            for name in TEXTS:
                same((top / name).read_bytes() == expected[name], True, name)
            for name, file, first in left_open:
                same(rest_of(file, first) == expected[name], True, f'the rest of {name}')
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                for name, found in pool.map(lambda name: (name, (top / name).read_bytes()), 3 * TEXTS):
                    same(found == expected[name], True, f'{name}, with others')
            same((mount.mountpoint / '.ntuplefs/errors.jsonl').read_bytes(), b'')


@case
def texts_that_are_held_open_take_little_memory():
    """All texts, each several times, some bytes read of each."""
    def read(directory):
        write_many(directory / 'pages.root', (20, 50, 100))  # a window of a layout takes most of its memory
        with Foreground(directory / 'pages.root') as mount:
            dataset = mount.mountpoint / 'Events'
            field = next(dataset.glob('Jet*'))
            names = [path for top in (mount.mountpoint, dataset, field, field / 'column.0')
                     for path in sorted(top.iterdir())
                     if path.suffix in ['.json', '.jsonl', '.txt', '.csv', '.svg'] and path.name != SLOW[0]]
            names = HELD * names + 6 * HELD * [mount.mountpoint / 'layout.jsonl']
            held = [open(path, 'rb', buffering=0) for path in names]
            same([len(file.read(4096)) > 0 for file in held], len(held) * [True])
            same((mount.mountpoint / '.ntuplefs/errors.jsonl').read_bytes(), b'')
            for file in held:
                file.close()
    in_group(read)


@case
def files_of_a_folder_that_have_much_are_closed_for_others():
    """Together they would take more than the group has."""
    def read(directory):
        folder = directory / 'folder'
        folder.mkdir()
        write_many(folder / '0.root', FILES['fields.root'])
        for number in range(1, 12):
            shutil.copy(folder / '0.root', folder / f'{number}.root')
        with Foreground(folder) as mount:
            for _ in range(2):
                for path in sorted(mount.mountpoint.glob('*.root')):
                    same(len(os.listdir(next(path.glob('*/')))) > FILES['fields.root'][0], True, path)
            same((mount.mountpoint / '.ntuplefs/errors.jsonl').read_bytes(), b'')
    in_group(read)


run()
