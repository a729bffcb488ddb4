#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The columns of the data files of a dataset: those that each file shows when it is mounted
alone, one fragment after the other, with deleted rows; and the owner of every byte of the
dataset's files."""
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

import harness
from harness import case, lines, run, same

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'support'))
from lance_editor import FILES, FRAGMENTS, ManifestEditor, items_of  # noqa: E402

DATASETS = harness.DATA / 'lance_datasets'
NAMES = ['columns_2.0', 'columns_2.2', 'deletions_2.1', 'fragments_2.2']
OF_DATA_SETS = 'page', 'cluster', 'first_element', 'file', 'fragment', 'file_column', 'file_page'
STREAMS = 'data', 'ends', 'levels'


def columns_of(dataset):
    """{number in the file: directory} of a file that is mounted alone."""
    return {json.loads((column / 'column.json').read_text())['file_column']: column
            for column in dataset.glob('**/column.0')}


def check_pages(column, files):
    """Everything but the numbers that continue from file to file is equal."""
    streams = {name: b'' for name in STREAMS}
    for page in lines(column / 'pages.jsonl'):
        alone = files[Path(page['file']).stem][page['file_column']]
        expected = lines(alone / 'pages.jsonl')[page['file_page']]
        for name in set(page) - set(OF_DATA_SETS):
            same(page[name], expected[name], f'{column}: {name} of page {page["page"]}')
        for number in range(len(page['buffers'])):
            found, expected = (of / 'pages' / f'{n}.{number}.raw' for of,
                               n in ((column, page['page']), (alone, page['file_page'])))
            same(found.read_bytes(), expected.read_bytes(), found)
        if page['file_page'] == 0:
            for name in STREAMS:
                streams[name] += (alone / f'{name}.bin').read_bytes() if (
                        alone / f'{name}.bin').exists() else b''
    for name in STREAMS:
        found = column / f'{name}.bin'
        same(found.read_bytes() if found.exists() else b'', streams[name], found)


@case
def a_column_is_those_of_the_data_files_one_after_the_other():
    for name in NAMES:
        with (harness.mounted(DATASETS / name) as mountpoint,
              harness.mounted(DATASETS / name / 'data') as data):
            files = {path.stem: columns_of(path / path.stem) for path in data.glob('*.lance')}
            columns = sorted((mountpoint / name).glob('**/column.[0-9]'))
            same(len(columns) > 3, True, 'there are columns')
            for column in columns:
                check_pages(column, files)
            same(harness.errors_of(mountpoint), [])


@case
def deleted_rows_are_in_the_columns_of_the_files():
    for name in 'deletions_2.0', 'deletions_2.2':
        state = json.loads((DATASETS / f'{name}.json').read_text())['versions'][-1]
        with harness.mounted(DATASETS / name) as mountpoint:
            identifiers = mountpoint / name / 'id'
            physical = sum(fragment[1] for fragment in state['fragments'])
            same(physical > state['rows'], True, 'rows are deleted')
            same((identifiers / 'column.0' / 'data.bin').stat().st_size, 8 * physical)
            same((identifiers / 'data.bin').stat().st_size, 8 * state['rows'])


@case
def every_byte_of_the_files_of_a_version_has_an_owner():
    for name in NAMES:
        source = DATASETS / name
        with harness.mounted(source) as mountpoint:
            owned = {}
            for line in lines(mountpoint / 'layout.jsonl'):
                same(line['file_offset'], owned.get(line['file'], 0), 'each byte once')
                owned[line['file']] = line['file_offset'] + line['stored_bytes']
                same(line['owner'] == 'gap', False, line)
            same(owned, {path: os.stat(path).st_size for path in owned}, 'sizes')
            same(json.loads((mountpoint / 'file.json').read_text())['file_bytes'], sum(owned.values()))
            dataset = mountpoint / name
            expected = {str(source / 'data' / file['path']) for row in lines(dataset / 'fragments.jsonl')
                        for file in row['message']['files']}
            expected.add(json.loads((dataset / 'manifest.json').read_text())['file'])
            same({path for path in owned if '/_deletions/' not in path}, expected, name)
            same(any('/_deletions/' in path for path in owned), name.startswith('deletions'), name)


@case
def many_data_files_are_not_opened_for_a_look():
    """None is shown but the first one, which gives the first rows."""
    name, copies = 'blocks_2.1', 400
    with tempfile.TemporaryDirectory() as directory:
        source = Path(shutil.copytree(DATASETS / name, Path(directory, name)))
        editor = ManifestEditor(source)
        first, second, _ = editor.all_of(FRAGMENTS)
        for number in range(1, copies):
            editor.change(((FRAGMENTS, number),), second)
        editor.write()
        kept = next(value for field, _, value in items_of(first) if field == FILES)
        for path in (source / 'data').iterdir():
            if path.name.encode() not in kept:
                path.unlink()
        with harness.mounted(source) as mountpoint:
            for path in (*mountpoint.iterdir(), *(mountpoint / name / other
                                                  for other in ('ntuple.json', 'clusters.jsonl',
                                                                'sizes.svg'))):
                os.stat(path)
            same(sorted(path.name for path in (mountpoint / name / 'id').glob('column.*')), ['column.0'])
            same((mountpoint / name / 'id' / 'data.bin').stat().st_size, copies * 2000 * 8)
            same(json.loads((mountpoint / 'file.json').read_text())['file_bytes'], None)
            same(harness.errors_of(mountpoint), [])


if __name__ == '__main__':
    run()
