#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A dataset of many fragments: reads are correct, and take little memory for each, however often
they repeat."""
import collections
import hashlib
import json
import os
import shutil
import threading
from pathlib import Path

from harness import IS_SANITIZED, NTUPLE, Foreground, case, command, high_water, run, same, scratch
from many_fragments import add_empty_fragments, digests, first_version, write_fragments

FRAGMENTS = int(os.environ.get('NTUPLE_FRAGMENTS', 1000 if IS_SANITIZED else 3000))
FEW = 30 if IS_SANITIZED else 60
EXIT_UNSUPPORTED = 4
FRAGMENTS_LAID_OUT = 300  # in batches of files, of which one would end within a fragment
FEW_LIMIT = FEW * 512 // 100 << 10  # page lists of all columns alone take more
COLUMN = 'id'
LIMIT = FRAGMENTS * 5 << 10 if FRAGMENTS <= 3000 else 0  # of metadata, which would take more; 0: the default
# For each fragment of nine columns of which one was read, and the memory of the programs; without a
# limit also open files.
FRAGMENT_BYTES, BASE = 2600, (24 if LIMIT else 256) << 20


def expected(name):
    return {column['path']: column for column in first_version()['columns']}[name]['data']


def read(path):
    with open(path, 'rb') as file:
        return file.read()


def read_at_once(paths):
    """Several threads read, each its own file."""
    found = {}
    threads = [threading.Thread(target=lambda path=path: found.update({path: read(path)})) for path in paths]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [found[path] for path in paths]


@case
def columns_are_right_and_fragments_take_little():
    with scratch() as directory:
        write_fragments(directory / 'many', FRAGMENTS)
        options = ['-o', f'metadatasize={LIMIT}'] if LIMIT else []
        with Foreground(directory / 'many', options=options) as mount:
            top = mount.mountpoint / 'many'
            for _ in range(2):
                same(digests(read(top / COLUMN / 'data.bin'), FRAGMENTS), {expected(COLUMN)})
            pages = read(top / COLUMN / 'column.0' / 'pages.jsonl').splitlines()
            same(len(pages), FRAGMENTS)
            again, data = read_at_once([top / COLUMN / 'column.0' / 'pages.jsonl', top / COLUMN / 'data.bin'])
            same((again.splitlines() == pages, digests(data, FRAGMENTS)), (True, {expected(COLUMN)}))
            same(read(mount.mountpoint / '.ntuplefs' / 'errors.jsonl'), b'')
            most = high_water(mount.decoder)
            same(IS_SANITIZED or most < BASE + FRAGMENT_BYTES * FRAGMENTS, True,
                 f'{most / FRAGMENTS:.0f} bytes a fragment, all in all')


@case
def all_columns_are_read_together():
    with scratch() as directory:
        write_fragments(directory / 'one', 1)
        write_fragments(directory / 'many', FRAGMENTS)
        line = command(NTUPLE, 'cat', directory / 'one', 'one/rows.jsonl').stdout
        table = command(NTUPLE, 'cat', directory / 'one', 'one/table.csv').stdout.split(b'\r\n', 1)
        options = ['-o', f'metadatasize={LIMIT},cachesize=8M'] if LIMIT else []
        with Foreground(directory / 'many', options=options) as mount:
            top = mount.mountpoint / 'many'
            same(digests(read(top / 'rows.jsonl'), FRAGMENTS), {hashlib.sha256(line).hexdigest()})
            header, rows = read(top / 'table.csv').split(b'\r\n', 1)
            same((header, digests(rows, FRAGMENTS)), (table[0], {hashlib.sha256(table[1]).hexdigest()}))
            arrow = read(top / 'table.arrow')
            same((arrow[:6], arrow[-6:]), (b'ARROW1', b'ARROW1'))
            same(read(mount.mountpoint / '.ntuplefs' / 'errors.jsonl'), b'')
            most = high_water(mount.decoder)
            same(IS_SANITIZED or most < BASE + LIMIT + FRAGMENT_BYTES * FRAGMENTS, True,
                 f'{most / FRAGMENTS:.0f} bytes a fragment, all in all')


@case
def the_layout_has_each_byte_of_each_file_and_numbers_pages_through_all():
    with scratch() as directory:
        write_fragments(directory / 'many', FRAGMENTS_LAID_OUT, more_files=2)
        with Foreground(directory / 'many') as mount:
            lines = [json.loads(line) for line in read(mount.mountpoint / 'layout.jsonl').splitlines()]
        sizes, pages = collections.Counter(), collections.defaultdict(dict)
        for line in lines:
            sizes[Path(line['file']).name] += line['stored_bytes']
            if 'page' in line:
                pages[line['field'], line['column']].setdefault(line['page'], Path(line['file']).name)
        same(sizes, {path.name: path.stat().st_size for path in (directory / 'many').glob('*/*')})
        files = sorted(name for name in sizes if name.endswith('.lance') and '_' not in name)
        numbers = list(range(FRAGMENTS_LAID_OUT))
        same([list(by_number) for by_number in pages.values()], [numbers] * len(pages))
        same([list(by_number.values()) for by_number in pages.values()], [files] * len(pages))


def stored_once(*arguments):
    dataset, = json.loads(command(NTUPLE, 'inspect', '--json', *arguments).stdout)['datasets']
    return dataset['stored_once_bytes']


@case
def bytes_of_chosen_columns_are_those_of_all_fragments():
    with scratch() as directory:
        for name, count in ('one', 1), ('few', FEW):
            write_fragments(directory / name, count)
        for fields in [COLUMN], []:
            same(stored_once(directory / 'few', *fields), FEW * stored_once(directory / 'one', *fields))


def contents(top):
    return {path.relative_to(top): read(path) for path in top.rglob('*') if path.is_file()}


@case
def page_lists_are_read_again_if_they_do_not_fit():
    with scratch() as directory:
        write_fragments(directory / 'many', FEW)
        same(command(NTUPLE, 'cp', '-r', directory / 'many', directory / 'whole').returncode, 0)
        with Foreground(directory / 'many', options=['-o', f'metadatasize={FEW_LIMIT}']) as mount:
            shutil.copytree(mount.mountpoint / 'many', directory / 'bounded', symlinks=True)
            same(read(mount.mountpoint / '.ntuplefs' / 'errors.jsonl'), b'')
        whole, bounded = contents(directory / 'whole' / 'many'), contents(directory / 'bounded')
        same(sorted(whole), sorted(bounded))
        same([path for path, content in whole.items() if bounded[path] != content], [])
        for column in first_version()['columns']:
            if 'data' in column:
                found = read(directory / 'bounded' / column['path'] / 'data.bin')
                same(digests(found, FEW), {column['data']}, column['path'])


@case
def a_few_fragments_may_have_no_files():
    for count, outcome in (FEW, 0), (20000, EXIT_UNSUPPORTED):
        with scratch() as directory:
            dataset = directory / 'many'
            write_fragments(dataset, 2)
            before = command(NTUPLE, 'cat', dataset, 'rows.jsonl').stdout
            same(len(before.splitlines()), 2 * first_version()['rows'])
            add_empty_fragments(dataset, count)
            result = command(NTUPLE, 'verify', dataset)
            same(result.returncode, outcome, result)
            if outcome:
                same('fields of fragments without data files' in result.stderr.decode(), True, result)
                continue
            same(command(NTUPLE, 'cat', dataset, 'rows.jsonl').stdout, before)
            lines = command(NTUPLE, 'cat', dataset, 'fragments.jsonl').stdout.splitlines()
            same(len(lines), 2 + count)


@case
def a_file_that_is_gone_is_reported_when_it_is_read_again():
    with scratch() as directory:
        write_fragments(directory / 'many', FEW)
        same(command(NTUPLE, 'verify', directory / 'many').returncode, 0)
        (directory / 'many' / 'data' / f'{FEW - 1:08}.lance').unlink()
        result = command(NTUPLE, 'verify', directory / 'many')
        same((result.returncode != 0, f'{FEW - 1:08}.lance' in (result.stdout + result.stderr).decode()),
             (True, True), result)


run()
