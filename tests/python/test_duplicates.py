# SPDX-License-Identifier: MIT
"""Fields of equal names beside one another have the names of the mounted tree."""
import json
import os
import pickle
import subprocess

import ntuple
import numpy as np
import pytest
from conftest import DATA

NUMBERS, NESTED = DATA / 'lance_numbers_2.1.lance', DATA / 'lance_nested_2.1.lance'


@pytest.fixture
def numbers(tmp_path):
    """A copy whose field `int32` is a second field `int16`."""
    contents = NUMBERS.read_bytes().replace(b'\x12\x05int32', b'\x12\x05int16')
    path = tmp_path / 'numbers.lance'
    path.write_bytes(contents)
    return ntuple.open(path).only()


@pytest.fixture
def nested(tmp_path):
    """A copy whose structure `b` has two members `c`."""
    contents = NESTED.read_bytes()
    assert contents.count(b'\x12\x01d') == 1
    path = tmp_path / 'nested.lance'
    path.write_bytes(contents.replace(b'\x12\x01d', b'\x12\x01c'))
    return ntuple.open(path).only()


def cat(dataset, path):
    """A file in the tree of the dataset."""
    command = [os.environ.get('NTUPLE', 'ntuple'), 'cat', dataset.file._origin.sources[0],
               f'{dataset.path}/{path}']
    return subprocess.run(command, capture_output=True, check=True).stdout


def rows(dataset, field):
    return cat(dataset, f'{field}/rows.jsonl')


def test_the_tree_has_the_same_names(numbers):
    assert cat(numbers, 'table.csv').split(b'\r\n')[0].decode().split(',') == numbers.keys()
    assert list(json.loads(cat(numbers, 'rows.jsonl').split(b'\n')[0])) == numbers.keys()
    assert json.loads(cat(numbers, 'int16~2/field.json'))['name'] == 'int16~2'
    arrow = pytest.importorskip('pyarrow', reason='pyarrow is not installed')
    assert arrow.ipc.open_file(cat(numbers, 'table.arrow')).schema.names == numbers.keys()


def test_paths_are_unique_and_lead_to_the_field(numbers):
    assert numbers.keys()[:4] == ['int8', 'int16', 'int16~2', 'int64']
    second = numbers.field('int16~2')
    assert (second.path, second.name) == ('int16~2', 'int16~2')
    assert numbers.match('int16*')[1].path == numbers.match('int16~2')[0].path == 'int16~2'
    assert pickle.loads(pickle.dumps(second)).path == 'int16~2' and 'int16~3' not in numbers
    of = ntuple.open(NUMBERS).only()
    for name, original in ('int16', 'int16'), ('int16~2', 'int32'):
        assert numbers[name].dtype == original and np.array_equal(numbers[name], of[original])
        assert np.array_equal(numbers.arrays('int*')[name], of[original])
    assert rows(numbers, 'int16~2') == rows(of, 'int32') != rows(numbers, 'int16') == rows(of, 'int16')


def test_tables_have_the_names_of_the_paths(numbers):
    pyarrow = pytest.importorskip('pyarrow', reason='pyarrow is not installed')
    original = pyarrow.table(ntuple.open(NUMBERS).only())
    for table in pyarrow.table(numbers), numbers.scan().read_all(), numbers.arrays('*', library='pa'):
        assert table.column_names == numbers.keys() == pyarrow.schema(numbers).names
        assert table['int16'].equals(original['int16']) and table['int16~2'].equals(original['int32'])
    for part in pickle.loads(pickle.dumps(numbers.partitions(columns='int16~2'))):
        assert pyarrow.table(part).column_names == list(part.arrays()) == ['int16~2']
    with pytest.raises(ntuple.NotFoundError):
        numbers.select('int16~3')


def test_members_of_records_are_unique(nested, tmp_path):
    parquet = pytest.importorskip('pyarrow.parquet', reason='pyarrow is not installed')
    import pyarrow
    of = ntuple.open(NESTED).only()
    members = [field.path for field in nested.field('structure/b').fields]
    assert members == ['structure/b/c', 'structure/b/c~2']
    expected = [row and row['b'] and row['b']['d'] for row in pyarrow.table(of)['structure'].to_pylist()]
    nested.to_parquet(tmp_path / 'out.parquet')
    for table in pyarrow.table(nested), parquet.read_table(tmp_path / 'out.parquet'), \
            pyarrow.table(nested.select(['structure/b/c~2', 'list'])):
        rows = table['structure'].to_pylist()
        assert [row and row['b'] and row['b']['c~2'] for row in rows] == expected
        assert table['list'].equals(pyarrow.table(of)['list'])
    awkward = pytest.importorskip('awkward', reason='awkward is not installed')
    found = nested.awkward('structure').structure.b
    assert awkward.fields(found) == ['c', 'c~2'] and awkward.to_list(found['c~2']) == expected
