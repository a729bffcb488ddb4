# SPDX-License-Identifier: MIT
"""Compare a dataset that ntuplefs serves with the values of another reader: digests of the files
of each node (tests/data/make_lance.py writes them, tests/support/arrow_columns.py defines them),
rows, encodings. Needs NumPy."""
import hashlib
import json

import numpy as np

# Names of the format's messages, and numbers in a page's encodings, in all versions.
ENCODINGS = (
    'all_nulls', 'binary', 'blob_layout', 'byte_stream_split', 'constant', 'constant_layout', 'dictionary',
    'fixed_size_list',
    'flat', 'fsst', 'full_zip_layout', 'general', 'has_large_chunk', 'has_validity', 'inline_bitpacking',
    'inline_value', 'list', 'mini_block_layout', 'no_nulls', 'out_of_line_bitpacking', 'packed_struct', 'rle',
    'some_nulls', 'struct', 'variable', 'variable_packed_struct', 'COMPRESSION_ALGORITHM_LZ4',
    'COMPRESSION_ALGORITHM_ZSTD', 'REPDEF_ALL_VALID_ITEM', 'REPDEF_ALL_VALID_LIST', 'REPDEF_NULLABLE_ITEM',
    'REPDEF_NULLABLE_LIST', 'REPDEF_EMPTYABLE_LIST', 'REPDEF_NULL_AND_EMPTY_LIST')


def digest(content):
    return hashlib.sha256(content).hexdigest()


def same(found, expected, what):
    if found != expected:
        raise AssertionError(f'{what}: expected {expected!r}, found {found!r}')


def check_npy(directory, stem, content, what):
    """X.npy has the bytes of X.bin, with the type and shape of field.json."""
    array = np.load(directory / f'{stem}.npy', allow_pickle=False)
    same(digest(array.tobytes()), digest(content), f'{what}: {stem}.npy')
    if stem == 'data':
        field = json.loads((directory / 'field.json').read_text())
        same(array.dtype, np.dtype(field['dtype']), f'{what}: type of data.npy')
        if field['shape']:  # known without reading
            same(list(array.shape), field['shape'], f'{what}: shape of data.npy')


def check_column(directory, column):
    """The files of one node. If all slots are valid, there need not be a file that says so."""
    what = column['path']
    same(json.loads((directory / 'field.json').read_text())['name'], what.rsplit('/', 1)[-1], f'{what}: name')
    for stem in 'valid', 'offsets', 'data':
        path = directory / f'{stem}.bin'
        if stem not in column or (stem == 'valid' and not column['nulls'] and not path.exists()):
            continue
        content = path.read_bytes()
        same(path.stat().st_size, len(content), f'{what}: size of {stem}.bin')
        same(digest(content), column[stem], f'{what}: {stem}.bin of {len(content)} bytes')
        check_npy(directory, stem, content, what)
    if 'texts' in column:
        texts = [json.dumps(json.loads(line)) for line in (directory / 'rows.jsonl').read_text().splitlines()]
        same(digest('\n'.join(texts).encode()), column['texts'], f'{what}: texts in rows.jsonl')


def words_of(document):
    """Names and texts in a document, without false members."""
    if isinstance(document, dict):
        return {name.removesuffix('_hex') for name, value in document.items()
                if value is not False}.union(*map(words_of, document.values()))
    if isinstance(document, list):
        return set().union(*map(words_of, document))
    return {document} if isinstance(document, str) else set()


def encodings_of(metadata):
    """Of each column in metadata.json."""
    return [sorted(words_of([page['message'] for page in column['pages']]) & set(ENCODINGS))
            for column in metadata['columns']]
