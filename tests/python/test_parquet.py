# SPDX-License-Identifier: MIT
"""Parquet files, which pyarrow writes and reads; the values are those that uproot reads."""
import os
import subprocess
import sys

import ntuple
import pytest
from conftest import DATA

parquet = pytest.importorskip('pyarrow.parquet', reason='pyarrow is not installed')
EXAMPLE = DATA / 'example.root'
NAMES = ['run', 'weight', 'muon_pt', 'stream']


def values(path):
    return parquet.read_table(path).to_pydict()


@pytest.fixture(scope='module')
def expected():
    uproot = pytest.importorskip('uproot', reason='uproot is not installed')
    arrays = uproot.open(EXAMPLE)['Events'].arrays(NAMES)
    return {name: arrays[name].to_list() for name in NAMES}


def test_parquet_files_have_the_values_that_uproot_reads(tmp_path, expected):
    events = ntuple.open(EXAMPLE)['Events']
    events.to_parquet(tmp_path / 'all.parquet')
    found = values(tmp_path / 'all.parquet')
    assert {name: found[name] for name in NAMES} == expected
    assert list(found) == events.keys()
    events.to_parquet(tmp_path / 'some.parquet', columns=NAMES, entries=(100, 600), compression='snappy')
    assert values(tmp_path / 'some.parquet') == {name: column[100:600] for name, column in expected.items()}
    events.to_parquet(str(tmp_path / 'none.parquet'), columns='run', entries=(7, 7))
    assert values(tmp_path / 'none.parquet') == {'run': []}


def test_strings_that_are_not_utf8_give_a_warning(tmp_path, recwarn):
    original = (DATA / 'trees/trees_baskets.root').read_bytes()
    (tmp_path / 'bytes.root').write_bytes(original.replace(b'two words', b'two w\xffrds'))
    tree = ntuple.open(tmp_path / 'bytes.root')['baskets']
    with pytest.warns(UserWarning, match="^text: strings that are not UTF-8.*strings='binary'") as warned:
        tree.to_parquet(tmp_path / 'text.parquet')
    assert [warning.filename for warning in warned] == [__file__]
    recwarn.clear()
    tree.to_parquet(tmp_path / 'binary.parquet', strings='binary')
    assert not recwarn.list
    assert b'two w\xffrds' in values(tmp_path / 'binary.parquet')['text']


def test_projected_fields_stand_for_their_collections(tmp_path):
    for name, hidden in ('nano.root', ['_collection0', '_collection1']), ('projected.root', []):
        dataset = ntuple.open(DATA / name).only()
        dataset.to_parquet(tmp_path / 'out.parquet')
        assert list(values(tmp_path / 'out.parquet')) == [key for key in dataset.keys() if key not in hidden]


def test_a_file_replaces_another_one_when_it_is_complete(tmp_path, expected):
    path = tmp_path / 'out.parquet'
    path.write_text('mine')
    with pytest.raises(OSError, match='page 0 of cluster 0'):
        ntuple.open(DATA / 'damaged_page.root').only().to_parquet(path)
    assert path.read_text() == 'mine' and os.listdir(tmp_path) == ['out.parquet']
    ntuple.open(EXAMPLE)['Events'].to_parquet(path, 'run')
    assert values(path) == {'run': expected['run']} and os.listdir(tmp_path) == ['out.parquet']


def test_clusters_become_row_groups_of_a_size(tmp_path):
    events = ntuple.open(EXAMPLE)['Events']
    assert events.select('run').batches == 4
    events.to_parquet(tmp_path / 'out.parquet', 'run')
    assert parquet.ParquetFile(tmp_path / 'out.parquet').num_row_groups == 1


@pytest.mark.filterwarnings('ignore:.*omitted')   # of a class that contains itself
@pytest.mark.parametrize('path, fields, below', [
    ('trees/trees_pointers.root', ('split', 'whole'), '[3] not null'),
    ('lance_null_lists_2.1.lance', ('deep', 'null_member', 'listed_member'), '[2]'),
    ('trees/trees_containers.root', ('map_of_vectors', 'map_of_maps'), 'map<')])
def test_arrays_below_nulls_are_read_by_pyarrow(tmp_path, path, fields, below):
    import pyarrow
    dataset = ntuple.open(DATA / path).only()
    for field in fields:
        table = pyarrow.table(dataset.select(field))
        assert below in str(table.schema.field(0).type)
        dataset.to_parquet(tmp_path / 'nulls.parquet', columns=field)
        found = parquet.read_table(tmp_path / 'nulls.parquet')
        assert found.to_pylist() == table.to_pylist()
        assert found.schema.metadata == table.schema.metadata


def test_omitted_fields_are_named(tmp_path):
    tree = ntuple.open(DATA / 'trees/trees_other_file.root')['split']
    with pytest.warns(UserWarning, match=r'\bi: omitted: '):
        tree.to_parquet(tmp_path / 'out.parquet')
    assert 'i' not in values(tmp_path / 'out.parquet')


def test_without_pyarrow_the_message_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, 'pyarrow', None)
    with pytest.raises(ImportError, match='pip install pyarrow'):
        ntuple.open(EXAMPLE)['Events'].to_parquet(tmp_path / 'out.parquet')
    assert os.listdir(tmp_path) == []


def test_the_line_that_the_command_names_writes_the_file(tmp_path, expected):
    path = tmp_path / 'out.parquet'
    result = subprocess.run([os.environ.get('NTUPLE', 'ntuple'), 'export', '--columns=run,muon_pt', EXAMPLE,
                             'Events', path], capture_output=True, text=True)
    assert result.returncode == 1
    exec(result.stderr.splitlines()[-1], {})
    assert values(path) == {name: expected[name] for name in ('run', 'muon_pt')}


def test_records_without_members_are_left_out_or_refused(tmp_path):
    """Parquet cannot store them."""
    types = ntuple.open(DATA / 'types.root').only()
    with pytest.warns(UserWarning, match='^empty_record: omitted: a record without members'):
        types.to_parquet(tmp_path / 'out.parquet', ['empty_rec*', 'int32'])
    assert parquet.read_table(tmp_path / 'out.parquet').column_names == ['int32']
    with pytest.raises(ntuple.UnsupportedError, match='^empty_record: a record without members'):
        types.to_parquet(tmp_path / 'refused.parquet', ['int32', 'empty_record'])
    assert not (tmp_path / 'refused.parquet').exists()
