#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the test datasets of Lance, each with the expected values of its versions.

usage: make_lance_datasets.py [NAME...]      needs pylance and NumPy: pip install pylance

X/ is a dataset of several versions that pylance wrote. X.json has what pylance finds in each of
them: the number of rows, and for each node of the schema the digests of the files of the mounted
tree (tests/support/arrow_columns.py). The values are reproducible; names of files are random.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import lance
import pyarrow as pa

HERE = Path(__file__).resolve().parent / 'lance_datasets'
sys.path.insert(0, str(HERE.parent.parent / 'support'))
from arrow_columns import field_metadata, table_columns  # noqa: E402
from lance_editor import FRAGMENTS, ManifestEditor, changed  # noqa: E402


def table_of(first, rows):
    """One of each kind: numbers, strings, lists, structures, vectors, some of them null."""
    at = range(first, first + rows)
    structures = [{'x': row, 'words': [f'{row}.{k}' for k in range(row % 3)]} for row in at]
    return pa.table({
        'id': pa.array(at, pa.int64()),
        'number': pa.array([None if row % 7 == 3 else row * 11 for row in at], pa.int32()),
        'text': pa.array([None if row % 5 == 2 else f'text {row}' * (row % 3) for row in at]),
        'list': pa.array([None if row % 6 == 4 else [row * 10 + k for k in range(row % 4)] for row in at],
                         pa.list_(pa.int16())),
        'deep': pa.array([[None if (row + k) % 4 == 3 else [f'{row}.{k}.{j}' for j in range((row + k) % 3)]
                           for k in range(row % 3)]
                          for row in at], pa.list_(pa.list_(pa.string()))),
        'structure': pa.array(structures, pa.struct([('x', pa.int32()), ('words', pa.list_(pa.string()))])),
        'vector': pa.array([[row, row + 0.5, -row] for row in at], pa.list_(pa.float32(), 3)),
    })


def written(path, version, fragments):
    """A dataset with so many rows in each fragment."""
    first = 0
    for number, rows in enumerate(fragments):
        lance.write_dataset(table_of(first, rows), path, mode='append' if number else 'create',
                            data_storage_version=version)
        first += rows
    return lance.dataset(path)


def fragments(path, version):
    written(path, version, [40, 1, 25])


def columns(path, version):
    """Columns that are added with values, added as nulls, dropped, renamed, cast to another
    type."""
    dataset = written(path, version, [30, 20])
    dataset.add_columns({'double': 'id * 2', 'again': "concat('again ', cast(id as string))"})
    dataset.drop_columns(['number', 'vector'])
    dataset.alter_columns({'path': 'text', 'name': 'renamed'}, {'path': 'double', 'data_type': pa.int32()})
    dataset.add_columns(pa.schema([pa.field('new_number', pa.int16()), pa.field('new_text', pa.string()),
                                    pa.field('new_list', pa.list_(pa.list_(pa.int32()))),
                                    pa.field('new_structure',
                                             pa.struct([('a', pa.int8()), ('b', pa.string())])),
                                    pa.field('new_vector', pa.list_(pa.float64(), 2))]))
    # a fragment that has all but one, after those that lack several
    table = lance.dataset(path).to_table().slice(0, 7)
    table = table.set_column(table.column_names.index('new_number'), 'new_number',
                             pa.array(range(7), pa.int16()))
    lance.write_dataset(table.drop_columns(['new_structure']), path, mode='append')


def deletions(path, version):
    """Rows deleted at the ends and in the middle of fragments, single ones and many, a whole
    fragment, and again in another version."""
    dataset = written(path, version, [60, 40, 30, 5])
    dataset.delete('id < 2 or id = 30 or (id >= 50 and id < 70)')
    dataset.delete('id % 7 = 3')
    dataset.delete('id >= 100 and id < 130')
    lance.write_dataset(table_of(135, 10), path, mode='append')
    lance.dataset(path).add_columns(pa.schema([pa.field('late', pa.list_(pa.int32()))]))
    lance.dataset(path).delete('id = 140')


def dropped_items(path, version):
    """No row with items is left, and no row with deeper items."""
    lists = [[[]], None, [['a', 'b'], ['c']], [[]]]
    table = pa.table({'id': pa.array(range(4)), 'list': pa.array([[], None, [1, 2, None], []],
                                                                 pa.list_(pa.int32())),
                      'deep': pa.array(lists, pa.list_(pa.list_(pa.string())))})
    lance.write_dataset(table, path, data_storage_version=version)
    lance.write_dataset(table, path, mode='append')
    lance.dataset(path).delete('id = 2')


def many_deletions(path, version):
    """So many that they are a bitmap."""
    rows = 12_000
    table = pa.table({'id': pa.array(range(rows)), 'text': pa.array([f'{row}' * (row % 3)
                                                                     for row in range(rows)]),
                      'list': pa.array([[row] * (row % 4) for row in range(rows)], pa.list_(pa.int32()))})
    lance.write_dataset(table, path, data_storage_version=version)
    lance.dataset(path).delete('id % 2 = 1 or id > 11000')


def blocks(path, version):
    """Fragments larger than one block of the kernel's reads."""
    for first in 0, 2000, 4000:
        table = pa.table({'id': pa.array(range(first, first + 2000)),
                          'text': pa.array([f'{row}' for row in range(first, first + 2000)])})
        lance.write_dataset(table, path, mode='append' if first else 'create', data_storage_version=version)


def legacy_fragments(path, version):
    """All that legacy files can store. Their nulls are empty strings: none of the other strings
    is empty."""
    items = [f'item {k}' for k in range(4)]  # equal in all fragments, as Lance requires
    for first, end in (0, 40), (40, 41), (41, 90):
        at = range(first, end)
        table = pa.table({
            'id': pa.array(at, pa.int64()),
            'number': pa.array([row * 11 for row in at], pa.int32()),
            'flag': pa.array([row % 3 == 1 for row in at]),
            'text': pa.array([None if row % 5 == 2 else f'text {row}' for row in at]),
            'list': pa.array([[row * 10 + k for k in range(row % 4)] for row in at], pa.list_(pa.int16())),
            'words': pa.array([[f'{row}.{k}' for k in range(row % 3)] for row in at], pa.list_(pa.string())),
            'structure': pa.array([{'x': row, 'word': f'{row}'} for row in at],
                                  pa.struct([('x', pa.int32()), ('word', pa.string())])),
            'vector': pa.array([[row, row + 0.5, -row] for row in at], pa.list_(pa.float32(), 3)),
            'dictionary': pa.DictionaryArray.from_arrays(pa.array([row % 4 for row in at], pa.int8()), items),
        })
        lance.write_dataset(table, path, mode='append' if first else 'create', data_storage_version=version,
                            max_rows_per_group=16)
    return lance.dataset(path)


def legacy_columns(path, version):
    """Columns added in files of their own, dropped, renamed; deleted rows."""
    dataset = legacy_fragments(path, version)
    dataset.add_columns({'double': 'id * 2', 'again': "concat('again ', cast(id as string))"})
    dataset.drop_columns(['number', 'vector'])
    dataset.alter_columns({'path': 'text', 'name': 'renamed'})
    dataset.delete('id < 2 or id = 30 or (id >= 50 and id < 70)')


def mixed(path, version):
    """Fragments of legacy files, then of later ones, as writers of 0.16 made them: the latter
    have nulls."""
    for first, kind in (0, version), (20, '2.0'):
        at = range(first, first + 20)
        is_null = [kind != version and row % 4 == 1 for row in at]
        pairs = [{'x': row, 'word': f'{row}'} for row in at]
        table = pa.table({
            'number': pa.array([None if null else row for row, null in zip(at, is_null)], pa.int32()),
            'text': pa.array([None if row % 5 == 2 else f'text {row}' for row in at]),
            'list': pa.array([None if null else [row] * (row % 4) for row, null in zip(at, is_null)],
                             pa.list_(pa.int16())),
            'pairs': pa.array([pairs[:row % 3] for row in at],
                              pa.list_(pa.struct([('x', pa.int32()), ('word', pa.string())]))),
            'structure': pa.array(pairs),
            'vector': pa.array([None if null else [row, row + 0.5] for row, null in zip(at, is_null)],
                               pa.list_(pa.float32(), 2)),
        })
        if kind == version:
            lance.write_dataset(table, path, data_storage_version=version, max_rows_per_group=16)
            continue
        with tempfile.TemporaryDirectory() as directory:
            lance.write_dataset(table, directory, data_storage_version=kind)
            shutil.copytree(Path(directory, 'data'), Path(path, 'data'), dirs_exist_ok=True)
            fragment, = ManifestEditor(directory).all_of(FRAGMENTS)
    editor = ManifestEditor(path)
    editor.add(FRAGMENTS, changed(fragment, (1,), 1))    # its id
    editor.write()


def stable(path, version):
    """Rows with ids of their own, an index, tags, and all metadata of a version."""
    table = pa.table({'id': pa.array(range(30), pa.int64()), 'text': [f'text {row}' for row in range(30)]})
    dataset = lance.write_dataset(table.slice(0, 20), path, data_storage_version=version,
                                   enable_stable_row_ids=True)
    dataset.tags.create('first', 1)
    dataset.create_scalar_index('id', 'BTREE')
    dataset.tags.create('with-index.2', 2)
    dataset.delete('id % 7 = 3')
    dataset.update_config({'a key': 'a value', 'another': ''})
    dataset.update_metadata({'owner': 'nobody'})
    dataset.update_schema_metadata({'unit': 'm'})
    lance.dataset(path).update({'id': 'id + 100'}, where='id < 5')
    lance.write_dataset(table.slice(20), path, mode='append')


# Replaced by tests, because the dataset cannot contain them: a base path, and a file named by a URI
# of so many bytes.
OUTSIDE = bytes(range(256)) * 2
URI_BYTES = 160
ABSENT_BASE, ABSENT_URI = '/absent/absent/a/base', 'file:///absent/a%20'.ljust(URI_BYTES, 'b')


def outside(places):
    """Blobs in other files: whole files and a part, by URI and below a base path; an empty one;
    null."""
    base, uri = places
    whole = lance.Blob.from_uri
    return lance.blob_array([whole(uri), whole(uri, 3, 50), whole(f'file://{base}/a%20b'),
                             whole(f'file://{base}/a%20b', 100, 20),
                             whole(f'file://{base}/deep/empty'), None] * 4)


def make_outside(directory):
    """The base path and the URI during writing."""
    base = directory / 'base'
    (base / 'deep').mkdir(parents=True)
    (base / 'deep' / 'empty').touch()
    uri = f'file://{directory}/a%20'.ljust(URI_BYTES, 'b')
    for path in base / 'a b', Path(uri.removeprefix('file://').replace('%20', ' ')):
        path.write_bytes(OUTSIDE)
    return str(base), uri


def forget_outside(path, places):
    base, uri = places
    assert len(base) == len(ABSENT_BASE), base
    for file in filter(Path.is_file, Path(path).rglob('*')):
        file.write_bytes(file.read_bytes().replace(base.encode(), ABSENT_BASE.encode()).replace(uri.encode(),
                ABSENT_URI.encode()))


def values_of_blobs(first, rows):
    sizes = [0, 5, 50, 500]
    return [None if row % 7 == 3 else lance.Blob.empty() if row % 5 == 1
            else bytes([row % 256]) * sizes[row % 4] for row in range(first, first + rows)]


def blobs(path, version, places):
    """Blobs in the data file, several in a file next to it, in a file of their own, elsewhere;
    null, empty, in structures and in lists."""
    named = lance.blob_field('blob', inline_size_threshold=20, dedicated_size_threshold=400)
    elsewhere = outside(places)
    def table(first, rows):
        array, limits = lance.blob_array(values_of_blobs(first, rows)), pa.array([row * 2
                for row in range(rows // 2)] + [rows], pa.int32())
        structures = pa.StructArray.from_arrays([array, pa.array(range(rows), pa.int16())],
                                                fields=[named, pa.field('number', pa.int16())],
                                                mask=pa.array([row % 4 == 1 for row in range(rows)]))
        lists = pa.ListArray.from_arrays(limits, array)
        return pa.table({'id': pa.array(range(rows // 2), pa.int64()), 'blob': array.slice(0, rows // 2),
                         'structure': structures.slice(0, rows // 2),
                         'list': lists.slice(0, rows // 2), 'elsewhere': elsewhere.slice(0, rows // 2)},
                        schema=pa.schema([pa.field('id', pa.int64()), named,
                                          pa.field('structure', structures.type),
                                          pa.field('list', lists.type),
                                          lance.blob_field('elsewhere')]))
    for first, rows in ((0, 40), (40, 20)):
        lance.write_dataset(table(first, rows), path, mode='append' if first else 'create',
                            data_storage_version=version,
                            initial_bases=None if first else [lance.DatasetBasePath(places[0], name='base')],
                            allow_external_blob_outside_bases=True)
    lance.dataset(path).delete('id = 2')


def several_versions(path, version):
    """Data files of later versions: by appending, updating, merging; a column in a file of its
    own, deleted rows."""
    written(path, version, [20, 15])
    others = [other for other in ('2.0', '2.1', '2.2') if other != version]
    for number, other in enumerate(others):
        lance.write_dataset(table_of(35 + 10 * number, 10), path, mode='append', data_storage_version=other)
        lance.dataset(path).delete(f'id % 8 = {number}')
    lance.dataset(path).update({'text': "'updated'", 'number': 'id * 3'}, where='id % 9 = 4',
                               data_storage_version=others[-1])
    (lance.dataset(path).merge_insert('id').when_matched_update_all().when_not_matched_insert_all()
        .data_storage_version(others[0]).execute(table_of(50, 12)))
    lance.dataset(path).add_columns({'double': 'id * 2'})
    lance.write_dataset(lance.dataset(path).to_table().slice(3, 7), path, mode='append',
                        data_storage_version=version)


def row_lineage(path, version):
    """Row ids and row versions in hidden columns of data files."""
    dataset = lance.write_dataset(table_of(0, 20), path, data_storage_version=version,
                                   enable_stable_row_ids=True)
    dataset.update_config({'lance.row_lineage.spill': 'true', 'lance.row_lineage.inline_max_bytes': '0'})
    lance.write_dataset(table_of(20, 15), path, mode='append')
    lance.dataset(path).delete('id % 7 = 3')
    lance.dataset(path).update({'text': "'updated'"}, where='id % 5 = 1')
    lance.dataset(path).optimize.compact_files(target_rows_per_fragment=100)


# Written by the Python of pylance 0.13: each string is a list, and its bytes are in a separate
# column.
PREVIEW = """
import sys
import lance, pyarrow as pa

def table(first, rows):
    at = range(first, first + rows)
    text = [None if row % 5 == 2 else f'text {row}' * (row % 3) for row in at]
    whole = [each or '' for each in text]
    return pa.table({
        'id': pa.array(at, pa.int64()),
        'text': text,
        'binary': pa.array([None if each is None else each.encode() for each in text], pa.large_binary()),
        'list': pa.array([[each] * (row % 4) for row, each in zip(at, whole)], pa.list_(pa.string())),
        'structures': pa.array([[{'x': row, 'word': each}] * (row % 3) for row, each in zip(at, whole)]),
        'number': pa.array([row * 11 for row in at], pa.int32()),
        'empty': pa.array([''] * rows),
        'nothing': pa.array([None] * rows, pa.string()),
    })

for first, rows in (0, 40), (40, 25):
    mode = 'append' if first else 'create'
    lance.write_dataset(table(first, rows), sys.argv[1], mode=mode, use_legacy_format=False)
lance.dataset(sys.argv[1]).delete('id % 7 = 3')
"""


def preview_strings(path, version):
    """Written by pylance 0.13, whose Python is PYLANCE_0_13."""
    subprocess.run([os.environ['PYLANCE_0_13'], '-c', PREVIEW, path], check=True)


JSON = pa.json_()


def json_texts(path, version):
    """JSON texts: all kinds, equal ones, nulls, in structures and in lists; deleted rows."""
    def texts_of(row):
        return [None, '{"b":1.5,"a":[null,true,{}]}', f'{row}', f'-{row}.25e-{row}',
                '"\\u00e9\\n\\u0001\\\\"', '[]', f'{{"k{row}":{{"nested":[{row}]}}}}'][row % 7]

    def texts(values):
        return pa.ExtensionArray.from_storage(JSON, pa.array(values, pa.string()))
    for first, rows in (0, 40), (40, 25):
        at = range(first, first + rows)
        limits = [0]
        for row in at:
            limits.append(limits[-1] + row % 3)
        fields = {
            'id': pa.array(at, pa.int64()),
            'text': texts([texts_of(row) for row in at]),
            'equal': texts(['{"equal":[1,2]}'] * rows),
            'nothing': texts([None] * rows),
        }
        if version != '0.1':  # pylance reads no others
            mask = None if version == '2.0' else pa.array([row % 5 == 1 for row in at])
            fields['structure'] = pa.StructArray.from_arrays([texts([texts_of(row + 1) for row in at]),
                                                              pa.array(at, pa.int16())],
                                                             fields=[pa.field('text', JSON),
                                                                     pa.field('x', pa.int16())], mask=mask)
            fields['list'] = pa.ListArray.from_arrays(pa.array(limits, pa.int32()),
                                                      texts([texts_of(item) for item in range(limits[-1])]),
                                                      type=pa.list_(pa.field('item', JSON)))
        schema = pa.schema([pa.field(name, array.type, metadata={'unit': 'none'} if name == 'text' else None)
                            for name, array in fields.items()])
        lance.write_dataset(pa.table(list(fields.values()), schema=schema), path, mode='append' if first
                            else 'create', data_storage_version=version)
    lance.dataset(path).delete('id % 9 = 4')


def managed_blobs(path, version):
    """Blobs in files of the dataset with names of their own, some of them in one file; a part of
    such a file."""
    named = lance.blob_field('blob', inline_size_threshold=3, dedicated_size_threshold=400)
    schema = pa.schema([pa.field('id', pa.int64()), named], metadata={'lance.blob.managed': 'true'})
    for first, rows in ((0, 20), (20, 10)):
        lance.write_dataset(pa.table({'id': range(first, first + rows),
                                      'blob': lance.blob_array(values_of_blobs(first, rows))}, schema=schema),
                            path, mode='append' if first else 'create', data_storage_version=version)
    file = min((file for file in Path(path, '_blobs').iterdir() if file.stat().st_size >= 110),
               key=Path.read_bytes)
    parts = lance.blob.BlobDescriptorArrayBuilder('blob')
    parts.append_managed(f'_blobs/{file.name}', 2, 100)
    parts.append_null()
    parts.append_managed(f'_blobs/{file.name}', 7, 0)
    lance.write_dataset(pa.table([pa.array(range(30, 33), pa.int64()), parts.finish()],
                                 schema=pa.schema([pa.field('id', pa.int64()), parts.field])), path,
                                 mode='append')
    lance.dataset(path).delete('id % 5 = 2')


DATASETS = {
    'json_0.1': (json_texts, '0.1'),
    'json_2.0': (json_texts, '2.0'),
    'json_2.2': (json_texts, '2.2'),
    'preview_strings_2.0': (preview_strings, '2.0'),
    'versions_2.0': (several_versions, '2.0'),
    'versions_2.2': (several_versions, '2.2'),
    'row_lineage_2.2': (row_lineage, '2.2'),
    'blobs_2.2': (blobs, '2.2'),
    'managed_blobs_2.2': (managed_blobs, '2.2'),
    'stable_2.2': (stable, '2.2'),
    'mixed_0.1': (mixed, '0.1'),
    'fragments_0.1': (legacy_fragments, '0.1'),
    'columns_0.1': (legacy_columns, '0.1'),
    'blocks_2.1': (blocks, '2.1'),
    'deletions_2.0': (deletions, '2.0'),
    'deletions_2.1': (deletions, '2.1'),
    'deletions_2.2': (deletions, '2.2'),
    'dropped_items_2.2': (dropped_items, '2.2'),
    'many_deletions_2.0': (many_deletions, '2.0'),
    'many_deletions_2.2': (many_deletions, '2.2'),
    'fragments_2.0': (fragments, '2.0'),
    'fragments_2.2': (fragments, '2.2'),
    'columns_2.0': (columns, '2.0'),
    'columns_2.1': (columns, '2.1'),
    'columns_2.2': (columns, '2.2'),
}


def line(value):
    return json.dumps(value, ensure_ascii=False)


def bytes_of_blobs(dataset):
    """What pylance reads for nodes that are descriptions of blobs: a line for each."""
    described = {column['path'].removesuffix('/blob_uri') for column in table_columns(dataset.to_table())
                 if column['path'].endswith('/blob_uri')}
    if not described:
        return ''
    read = table_columns(dataset.scanner(blob_handling='all_binary').to_table())
    return ', "blobs": [\n' + ',\n'.join('   ' + line(column) for column in read
                                         if column['path'] in described) + ']'


def state_of(dataset, blobs):
    """The expected values of a version: a line for each column."""
    table = dataset.to_table()
    reported = {'version': dataset.version, 'rows': table.num_rows,
            'fragments': [[fragment.fragment_id, fragment.physical_rows, fragment.num_deletions]
                          for fragment in dataset.get_fragments()]}
    columns = ',\n'.join('   ' + line(column) for column in table_columns(table))
    return f'  {{{line(reported)[1:-1]}, "columns": [\n{columns}]{blobs}}}'


def properties_of(dataset):
    """The expected values of the latest version besides its rows."""
    transaction = dataset.read_transaction(dataset.version)
    return {'config': dataset.config(), 'table_metadata': dataset.metadata,
            'schema_metadata': {key.decode(): value.decode() for key,
                                value in (dataset.schema.metadata or {}).items()},
            'indices': [[index['name'], index['uuid'].replace('-', ''), index['fields'],
                         sorted(index['fragment_ids'])]
                        for index in dataset.list_indices()],
            'tags': {name: tag['version'] for name, tag in dataset.tags.list().items()},
            'transaction': [transaction.uuid, transaction.read_version, type(transaction.operation).__name__],
            'row_ids': dataset.to_table(columns=[], with_row_id=True)['_rowid'].to_pylist()}


def make(name):
    make_versions, version = DATASETS[name]
    path = HERE / name
    if path.exists():
        shutil.rmtree(path)
    with tempfile.TemporaryDirectory() as directory:
        places = [make_outside(Path(directory))] if make_versions is blobs else []
        make_versions(str(path), version, *places)
        bytes_of = [bytes_of_blobs(dataset) for dataset in versions_of(path)]
    for outside_places in places:
        forget_outside(path, outside_places)
    states = ',\n'.join(map(state_of, versions_of(path), bytes_of))
    properties = line(properties_of(lance.dataset(str(path)))) if make_versions is stable else ''
    reported = f' "told": {properties},\n' if properties else ''
    if metadata := field_metadata(lance.dataset(str(path)).to_table().schema):
        reported += f' "metadata": {line(metadata)},\n'
    text = (f'{{\n "writer": {line("pylance " + lance.__version__)},\n'
            f' "data_storage_version": {line(version)},\n'
            f'{reported}'
            f' "versions": [\n{states}\n ]\n}}\n')
    json.loads(text)
    (HERE / f'{name}.json').write_text(text)


def versions_of(path):
    return [lance.dataset(str(path), version=each['version']) for each in lance.dataset(str(path)).versions()]


def main(names):
    HERE.mkdir(exist_ok=True)
    if unknown := set(names) - set(DATASETS):
        sys.exit(f'no such data set: {", ".join(unknown)}; there are {", ".join(DATASETS)}')
    for name in names or DATASETS:
        make(name)


if __name__ == '__main__':
    main(sys.argv[1:])
