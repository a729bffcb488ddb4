#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""data.npy of fixed-size lists of numbers has a row for each row of the list, in each format,
against the values of other readers."""
import hashlib
import io
import json

import numpy as np

from harness import NTUPLE, case, command, data, output, run, same


def array(file, path):
    return np.load(io.BytesIO(output(NTUPLE, 'cat', data(file), path)))


def expected(name):
    return json.loads(data(name).read_text())


@case
def an_array_of_rntuple_has_the_values_of_root():
    found = array('example.root', 'Events/beam_spot/data.npy')
    same((found.shape, found.dtype.str), ((1000, 3), '<f4'))
    fields = expected('example.json')['datasets']['Events']['fields']
    for row, values in fields['beam_spot']['sample'].items():
        same(found[int(row)].tolist(), values, row)


@case
def an_array_of_a_branch_has_the_values_of_another_reader():
    branches = {branch['name']: branch['values']
                for branch in expected('trees/trees_leaves.json')['trees'][0]['branches']}
    for name, dtype in ('x_S3', '<i2'), ('x_I3', '<i4'), ('x_D3', '<f8'):
        found = array('trees/trees_leaves.root', f'leaves/{name}/data.npy')
        same((found.shape, found.dtype.str), ((30, 3), dtype))
        same(hashlib.sha256(found.tobytes()).hexdigest(), branches[name]['items']['data_sha256'], name)


@case
def of_lance_a_null_list_is_zeros_and_valid_says_which():
    found = array('lance_nested_2.1.lance', 'vectors/data.npy')
    valid = array('lance_nested_2.1.lance', 'vectors/valid.npy')
    same((found.shape, found.dtype.str), ((40, 2, 3), '<i2'))
    rows = dict(expected('lance_nested_2.1.json')['rows'])
    assert any(row['vectors'] is None for row in rows.values()), 'no null list'
    for number, row in rows.items():
        same((found[number].tolist(), bool(valid[number])),
             (row['vectors'] or [[0] * 3] * 2, row['vectors'] is not None), number)
    inner = array('lance_nested_2.1.lance', 'vectors/item/item/data.npy')
    same((inner.shape, inner.tobytes()), (found.shape, found.tobytes()), 'the item has the same bytes')


@case
def lists_of_records_and_texts_have_none():
    for file, path in (('lance_struct_lists_2.2.lance', 'lists'), ('example.root', 'Events/muons')):
        result = command(NTUPLE, 'ls', data(file), path)
        same((result.returncode, b'data.npy' in result.stdout.split()), (0, False), path)


@case
def within_lists_the_rows_are_those_of_the_items():
    found = array('lance_nested_2.1.lance', 'lists_of_vectors/item/data.npy')
    offsets = array('lance_nested_2.1.lance', 'lists_of_vectors/offsets.npy')
    for number, row in expected('lance_nested_2.1.json')['rows']:
        same(found[offsets[number]:offsets[number + 1]].tolist(), row['lists_of_vectors'] or [], number)


if __name__ == '__main__':
    run(needs_fuse=False)
