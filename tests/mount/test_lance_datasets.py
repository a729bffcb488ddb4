#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Datasets by pylance with several fragments and versions: the tree has what pylance's own
reader finds in them."""
import contextlib
import errno
import json
import os
import resource
import shutil
import struct
import sys
import tempfile
from pathlib import Path

import harness
from harness import case, lines, run, same

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'support'))
from compare_columns import check_column  # noqa: E402
from lance_editor import (  # noqa: E402
    DELETED_ROWS, DELETION_FILE, FILES, FRAGMENTS, PHYSICAL_ROWS, ManifestEditor, items_of, member,
    message_of
)

DATASETS = harness.DATA / 'lance_datasets'
NAMES = sorted(path.stem for path in DATASETS.glob('*.json'))


def expected_of(name):
    return json.loads((DATASETS / f'{name}.json').read_text())


def check_state(state, dataset):
    same(json.loads((dataset / 'ntuple.json').read_text())['entries'], state['rows'], 'entries')
    for column in state['columns']:
        check_column(dataset / column['path'], column)


def each_dataset(check):
    """A case that mounts all datasets at once and checks each; reports all that fail by name."""
    def of_all():
        problems = []
        same(len(NAMES) >= 5, True, 'there are datasets')
        with harness.mounted(DATASETS) as mountpoint:
            for name in NAMES:
                try:
                    check(expected_of(name), mountpoint / name / name, DATASETS / name)
                except (AssertionError, OSError, ValueError, KeyError) as error:
                    problems.append(f'{name}: {type(error).__name__}: {error}')
            errors = harness.errors_of(mountpoint)
        same((problems, errors), ([], []))
    of_all.__name__ = check.__name__
    return case(of_all)


@each_dataset
def the_latest_version_is_what_pylance_reads(expected, dataset, _source):
    check_state(expected['versions'][-1], dataset)


@each_dataset
def arrow_tables_are_what_pylance_reads(expected, dataset, _source):
    arrow = harness.need('pyarrow.ipc')
    from arrow_columns import table_columns
    state = expected['versions'][-1]
    with arrow.open_file(dataset / 'table.arrow') as file:
        same(file.num_record_batches, len(state['fragments']), 'batches')
        table = file.read_all()
    table.validate(full=True)
    same(table_columns(table), state['columns'], 'columns')


@each_dataset
def fields_of_arrow_tables_have_the_metadata_that_pylance_gives(expected, dataset, _source):
    arrow = harness.need('pyarrow.ipc')
    from arrow_columns import field_metadata
    with arrow.open_file(dataset / 'table.arrow') as file:
        found = field_metadata(file.schema, left_out='ntuple.')
    reported = expected.get('metadata', {})
    same({path: found.get(path) for path in reported}, reported)


@each_dataset
def verification_finds_nothing(_expected, _dataset, source):
    result = harness.command(harness.NTUPLE, 'verify', source)
    same((result.returncode, result.stderr), (0, b''))


@each_dataset
def documents_have_the_version_and_its_fragments(expected, dataset, source):
    state = expected['versions'][-1]
    ntuple = json.loads((dataset / 'ntuple.json').read_text())
    same((ntuple['dataset_version'], ntuple['fragments'], ntuple['version']),
         (state['version'], len(state['fragments']), expected['data_storage_version']))
    same(ntuple['timestamp'].endswith('Z'), True)
    manifest = json.loads((dataset / 'manifest.json').read_text())
    same((manifest['message']['version'], os.path.dirname(manifest['file'])),
         (state['version'], str(source / '_versions')))
    with open(manifest['file'], 'rb') as file:
        file.seek(manifest['file_offset'])
        same(file.read(manifest['stored_bytes']), (dataset / 'manifest.bin').read_bytes())
    found = [[row['fragment'], row['message']['physical_rows']] for row
             in lines(dataset / 'fragments.jsonl')]
    same(found, [each[:2] for each in state['fragments']], 'fragments')
    same([row['deleted_rows'] for row in lines(dataset / 'fragments.jsonl')],
         [each[2] for each in state['fragments']], 'deleted rows')
    reported = {}
    for each in lines(dataset / 'deletions.jsonl'):
        reported[each['fragment']] = reported.get(each['fragment'], 0) + each['rows']
    same(reported, {each[0]: each[2] for each in state['fragments'] if each[2]}, 'rows in deletions.jsonl')
    same(sum(row['entries'] for row in lines(dataset / 'fragments.jsonl')), state['rows'], 'entries')
    files = {each['path'] for row in lines(dataset / 'fragments.jsonl') for each in row['message']['files']}
    same(files <= set(os.listdir(source / 'data')), True, 'data files')


@each_dataset
def the_transaction_is_what_its_file_has(_expected, dataset, source):
    document = json.loads((dataset / 'transaction.json').read_text())
    stored = (dataset / 'transaction.bin').read_bytes()
    message = json.loads((dataset / 'manifest.json').read_text())['message']
    file, = (source / '_transactions').glob(message['transaction_file'])
    same(stored, file.read_bytes())
    same(file.name, f"{document['message']['read_version']}-{document['message']['uuid']}.txn")
    content = Path(document['file']).read_bytes()
    same(content[document['file_offset']:][:document['stored_bytes']], stored)
    same('unknown_bytes' in document['message'], False, document['message'])
    schema = json.loads((dataset / 'schema.json').read_text())['message']
    same(schema, {'fields': message['fields'], 'metadata': message['schema_metadata']})


@case
def texts_of_json_are_jsonb_in_the_files_of_their_fields():
    with harness.mounted(DATASETS / 'json_2.2') as mountpoint:
        equal = mountpoint / 'json_2.2' / 'equal'
        value = bytes.fromhex('400000011000000550000010' + b'equal'.hex()
                              + '80000002200000022000000250015002')
        rows = json.loads((equal / 'field.json').read_text())['streams']['valid']['shape'][0]
        same((equal / 'data.bin').read_bytes(), value * rows)
        same(json.loads((equal / 'field.json').read_text())['kind'], 'json')
        same((mountpoint / 'json_2.2' / 'table.csv').read_text().splitlines()[1],
             '0,,"{""equal"":[1,2]}",,"{""text"":""{\\""a\\"":[null,true,{}],\\""b\\"":1.5}"",""x"":0}",[]')


@case
def arrow_tables_have_texts_of_json_at_any_place():
    arrow = harness.need('pyarrow.ipc')
    with harness.mounted(DATASETS / 'json_2.2') as mountpoint:
        path = mountpoint / 'json_2.2' / 'table.arrow'
        whole = path.read_bytes()
        with open(path, 'rb', buffering=0) as file:
            for at in range(0, len(whole), 611):
                same(os.pread(file.fileno(), 97, at), whole[at:at + 97], at)
        same(str(arrow.open_file(path).schema.field('text').type), 'extension<arrow.json>')


@case
def datasets_of_several_versions_have_files_of_each():
    with harness.mounted(DATASETS) as mountpoint:
        for name in 'versions_2.0', 'versions_2.2':
            reported = [row['message'] for row in lines(mountpoint / name / name / 'fragments.jsonl')]
            same({each['file_minor_version'] for row in reported for each in row['files']}, {0, 1, 2}, name)
            manifest = json.loads((mountpoint / name / name / 'manifest.json').read_text())['message']
            same(manifest['reader_feature_flags'] & 256, 256, name)


@case
def fragments_say_that_row_ids_are_in_data_files():
    name = 'row_lineage_2.2'
    with harness.mounted(DATASETS / name) as mountpoint:
        for row in lines(mountpoint / name / 'fragments.jsonl'):
            same(row['message']['column_row_ids'], {})
            same('unknown_bytes' in row['message'], False, row)
            same({-3, -4, -5} & set(row['message']['files'][0]['fields']) != set(), True, row)


@case
def a_file_of_a_preview_has_its_strings_alone_too():
    name = 'preview_strings_2.0'
    state = expected_of(name)['versions'][0]
    with harness.mounted(DATASETS / name, '-o', 'version=1') as mountpoint:
        row, = lines(mountpoint / name / 'fragments.jsonl')
    source = DATASETS / name / 'data' / row['message']['files'][0]['path']
    with harness.mounted(source) as mountpoint:
        dataset = mountpoint / source.stem
        check_state(state, dataset)
        same([row for row in lines(mountpoint / 'layout.jsonl') if row['owner'] == 'gap'], [])
        ends = [int(each) for each in (dataset / 'text' / 'column.0' / 'ends.npy').read_bytes()[-40 * 8::8]]
        same(ends[:3], [0, 6, 6], 'bytes of the first rows, the lowest 8 bits')
        same((dataset / 'text' / 'column.0' / 'data.bin').read_bytes(), b'')
    same([row for row in lines_of_layout(DATASETS / name) if row['owner'] == 'gap'], [])


def lines_of_layout(source):
    with harness.mounted(source) as mountpoint:
        return lines(mountpoint / 'layout.jsonl')


def row_ids_of(segment):
    """The row ids of a U64Segment of rowids.proto."""
    (kind, reported), = segment.items()
    ids = range(reported['start'], reported['end'])
    if kind == 'range_with_bitmap':
        bits = bytes.fromhex(reported['bitmap_hex'])
        return [row for at, row in enumerate(ids) if bits[at // 8] >> at % 8 & 1]
    same(kind, 'range')
    return list(ids)


@case
def what_is_beside_the_rows_is_what_pylance_says():
    name = 'stable_2.2'
    reported = expected_of(name)['told']
    with harness.mounted(DATASETS / name) as mountpoint:
        dataset = mountpoint / name

        def document(part):
            return json.loads((dataset / f'{part}.json').read_text())

        def entries(key):
            return {entry['key']: entry['value'] for entry in document('manifest')['message'][key]}
        same([entries(key) for key in ('config', 'table_metadata', 'schema_metadata')],
             [reported[key] for key in ('config', 'table_metadata', 'schema_metadata')])
        name_of = {field['id']: field['name'] for field in document('schema')['message']['fields']}
        indices = document('indices')['message']['indices']
        same([[index['name'], index['uuid']['uuid_hex'], [name_of[field] for field in index['fields']]]
              for index in indices],
             [index[:3] for index in reported['indices']])
        same(len((dataset / 'indices.bin').read_bytes()), document('indices')['stored_bytes'])
        refs = document('refs')
        same(({tag['name']: tag['content']['version'] for tag in refs['tags']}, refs['branches']),
             (reported['tags'], []))
        uuid, read_version, operation = reported['transaction']
        transaction = document('transaction')['message']
        same((transaction['uuid'], transaction['read_version'], operation.lower() in transaction),
             (uuid, read_version, True))
        gone = {(run['fragment'], row) for run in lines(dataset / 'deletions.jsonl')
                for row in range(run['first_row'], run['first_row'] + run['rows'])}
        found = []
        for fragment in lines(dataset / 'fragments.jsonl'):
            ids = [row for segment in fragment['message']['inline_row_ids']['segments'] for row
                   in row_ids_of(segment)]
            found += [row for at, row in enumerate(ids) if (fragment['fragment'], at) not in gone]
        same(found, reported['row_ids'])
        same(document('manifest')['message']['next_row_id'], max(found) + 1)


@case
def unreadable_tags_and_branches_are_reported_with_the_others():
    name = 'stable_2.2'
    with tempfile.TemporaryDirectory() as directory:
        source = Path(shutil.copytree(DATASETS / name, Path(directory, name)))
        (source / '_refs' / 'tags' / 'half.json').write_text('{"version":')
        (source / '_refs' / 'branches').mkdir()
        (source / '_refs' / 'branches' / 'a%2Fb.json').write_text(
                '{"parentVersion":2,"nested":{"x":[1,null]}}')
        with harness.mounted(source) as mountpoint:
            refs = json.loads((mountpoint / name / 'refs.json').read_text())
        same(refs['branches'], [{'name': 'a/b', 'content': {'parentVersion': 2, 'nested': {'x': [1, None]}}}])
        half, = (tag for tag in refs['tags'] if tag['name'] == 'half')
        same(('half.json' in half['unreadable'], len(refs['tags'])), (True, 3), half)


@case
def a_data_file_is_opened_when_something_of_it_is_read():
    name, rows = 'blocks_2.1', 2000
    with tempfile.TemporaryDirectory() as directory:
        source = Path(shutil.copytree(DATASETS / name, Path(directory, name)))
        with harness.mounted(source) as mountpoint:
            fragments = lines(mountpoint / name / 'fragments.jsonl')
            lost = fragments[1]['message']['files'][0]['path']
            os.unlink(source / 'data' / lost)
            path = mountpoint / name / 'id' / 'data.bin'
            same(os.stat(path).st_size, 3 * rows * 8, 'the size is known')
            for first in 0, 2 * rows:
                # in blocks that contain nothing else
                found = harness.pread(path, 8 * 1300, 8 * (first + 100))
                same(found == struct.pack('<1300q', *range(first + 100, first + 1400)), True,
                     f'rows from {first} on')
            harness.fails(errno.ESTALE, harness.pread, path, 8 * 100, 8 * (rows + 700))
            error, = harness.errors_of(mountpoint)
            same(('fragment 1:' in error['what'], f'data/{lost}:' in error['what']), (True, True),
                 error['what'])
            # the length of its texts is stored nowhere else
            harness.fails(errno.ESTALE, os.stat, mountpoint / name / 'text' / 'data.bin')


@case
def pages_of_legacy_files_say_their_batches():
    """Files of 16 rows each, as they were written."""
    name = 'fragments_0.1'
    with harness.mounted(DATASETS / name) as mountpoint:
        dataset = mountpoint / name
        id_of = {field['name']: field['id'] for field
                 in json.loads((dataset / 'manifest.json').read_text())['message']['fields']}
        for field in 'id', 'text':
            found = [[page[key] for key in ('fragment', 'file_page', 'elements', 'file_column')]
                     for page in lines(dataset / field / 'column.0' / 'pages.jsonl')]
            expected = [[0, 0, 16], [0, 1, 16], [0, 2, 8], [1, 0, 1], [2, 0, 16], [2, 1, 16], [2, 2, 16],
                        [2, 3, 1]]
            same(found, [[*page, id_of[field]] for page in expected], field)


@contextlib.contextmanager
def edited(name, edit):
    """A copy of a dataset whose latest manifest a function of a ManifestEditor has changed;
    mounted."""
    with tempfile.TemporaryDirectory() as directory:
        source = Path(shutil.copytree(DATASETS / name, Path(directory, name)))
        editor = ManifestEditor(source)
        edit(editor)
        editor.write()
        with harness.mounted(source) as mountpoint:
            yield mountpoint / name


def untold(fragment_path):
    """All fragments without a number."""
    def edit(editor):
        for number in range(len(editor.all_of(FRAGMENTS))):
            editor.change(((FRAGMENTS, number), *fragment_path), 0)
    return edit


@case
def a_legacy_data_file_says_the_rows_that_its_manifest_does_not():
    name = 'fragments_0.1'
    state = expected_of(name)['versions'][-1]
    with edited(name, untold([PHYSICAL_ROWS])) as dataset:
        check_state(state, dataset)
        same([row['entries'] for row in lines(dataset / 'fragments.jsonl')],
             [rows for _, rows, _ in state['fragments']])


@case
def a_deletion_file_says_the_rows_that_its_manifest_does_not():
    def edit(editor):
        for number, fragment in enumerate(editor.all_of(FRAGMENTS)):
            if any(field == DELETION_FILE for field, _, _ in items_of(fragment)):
                editor.change(((FRAGMENTS, number), DELETION_FILE, DELETED_ROWS), 0)
    for name in 'columns_0.1', 'deletions_2.1', 'many_deletions_2.2':
        state = expected_of(name)['versions'][-1]
        with edited(name, edit) as dataset:
            check_state(state, dataset)
            same([row['deleted_rows'] for row in lines(dataset / 'fragments.jsonl')],
                 [each[2] for each in state['fragments']], name)
            same(json.loads((dataset / 'ntuple.json').read_text())['deleted_rows'],
                 sum(each[2] for each in state['fragments']), name)


@case
def of_two_files_that_have_a_field_the_first_one_counts():
    rows = 2000

    def edit(editor):
        files = [next(value for field, _, value in items_of(fragment) if field == FILES) for fragment
                 in editor.all_of(FRAGMENTS)]
        editor.change(((FRAGMENTS, 0), (FILES, 1)), files[2])
        last = items_of(editor.all_of(FRAGMENTS)[2])
        editor.change(((FRAGMENTS, 2),), message_of([member(FILES, files[1]), *last]))
    with edited('blocks_2.1', edit) as dataset:
        found = struct.unpack(f'<{3 * rows}q', (dataset / 'id' / 'data.bin').read_bytes())
        same(found, (*range(2 * rows), *range(rows, 2 * rows)))


@case
def a_file_that_has_a_field_twice_is_refused_where_it_is_looked_at():
    def edit(editor):
        path = (FRAGMENTS, 1), FILES, 2
        ids, = editor.all_of(FRAGMENTS, FILES, 2)
        editor.change(path, ids[:1] + ids[:-1])
    with edited('blocks_2.1', edit) as dataset:
        path = dataset / 'id' / 'data.bin'
        same(harness.pread(path, 8, 0), bytes(8))
        harness.fails(errno.EIO, harness.pread, path, 8, 8 * 2500)
        error, = harness.errors_of(dataset.parent)
        same(all(words in error['what'] for words in ('fragment 1:', 'data file',
                                                      'field 0 has two columns')), True, error)


@case
def many_datasets_share_the_descriptors_of_the_process():
    """Together they have more files than may be open."""
    name, (soft, hard) = 'deletions_2.2', resource.getrlimit(resource.RLIMIT_NOFILE)
    with harness.scratch() as folder:
        for number in range(20):
            shutil.copytree(DATASETS / name, folder / f'{number}.lance')
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
        try:
            with harness.mounted(folder) as mountpoint:
                for number in range(20):
                    dataset, = (mountpoint / f'{number}.lance').glob('*/ntuple.json')
                    check_state(expected_of(name)['versions'][-1], dataset.parent)
                same(harness.errors_of(mountpoint), [])
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


if __name__ == '__main__':
    run()
