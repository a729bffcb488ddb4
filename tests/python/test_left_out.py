# SPDX-License-Identifier: MIT
"""Fields that cannot be shown: damage raises, what this version or Arrow does not have is left out."""
import hashlib
import json
import os
import pickle

import ntuple
import numpy as np
import pytest
from conftest import DATA

pyarrow = pytest.importorskip('pyarrow', reason='pyarrow is not installed')
TREES = DATA / 'trees'


@pytest.fixture
def damaged(tmp_path):
    """A copy of a tree, in which one byte of the second basket of the strings `text` is another one."""
    source = TREES / 'trees_structure.root'
    pages = [item for item in ntuple.open(source)['clusters'].layout() if item.get('field') == 'text']
    contents = bytearray(source.read_bytes())
    contents[pages[1]['file_offset'] + pages[1]['stored_bytes'] // 2] ^= 0x55
    path = tmp_path / 'damaged.root'
    path.write_bytes(contents)
    return path


def uses(dataset, field, path):
    """All ways to a field as Arrow: by name, by a pattern, and with all others."""
    for columns in field, [field], f'{field[:-1]}?', '*', None:
        yield lambda: dataset.arrays(columns or '*', library='pa')
        yield lambda: dataset.to_parquet(path, columns)
        yield lambda: dataset.select(columns).left_out
        yield lambda: dataset.select(columns).batches
        yield lambda: pyarrow.schema(dataset.select(columns))
        yield lambda: pyarrow.RecordBatchReader.from_stream(dataset.select(columns))
        yield lambda: [pyarrow.table(part) for part in dataset.partitions(columns=columns)]
    yield lambda: pyarrow.table(dataset)
    yield lambda: pyarrow.schema(dataset)


def test_damage_raises_however_the_field_is_chosen(damaged, tmp_path):
    whole = TREES / 'trees_structure.root'
    for file in ntuple.open(damaged), ntuple.chain([whole, damaged]):
        dataset = file['clusters']
        with pytest.raises(ntuple.CorruptError) as expected:
            dataset['text'][:]
        reason = str(expected.value).partition('branch ')[2]
        for use in uses(dataset, 'text', tmp_path / 'out.parquet'):
            with pytest.raises(ntuple.CorruptError) as found:
                use()
            assert reason in str(found.value) and found.value.status == expected.value.status
        others = [name for name in dataset if name != 'text']
        assert pyarrow.table(dataset.select(others)).column_names == others
    assert os.listdir(tmp_path) == ['damaged.root']


def test_damage_raises_in_awkward_arrays(damaged):
    pytest.importorskip('awkward', reason='awkward is not installed')
    dataset = ntuple.open(damaged)['clusters']
    for use in (lambda: dataset.arrays(['text'], library='ak'), lambda: dataset.awkward('text'),
                lambda: dataset.awkward(), lambda: list(dataset.iterate('t*', library='ak'))):
        with pytest.raises(ntuple.CorruptError, match='branch text: '):
            use()



# File, dataset, fields that are not shown with those that cannot be read, and one that is shown.
UNREAD = [('trees/trees_other_file.root', 'split', {'i': 'i'}, 'text'),
          ('lance_unread/struct_lists_2.0', None, {'pairs': 'pairs', 'listed': 'listed/item'}, 'before'),
          ('lance_unread/planar_2.3', None, {'number': 'number', 'list': 'list'}, None)]


def opened(path, name):
    file = ntuple.open(DATA / path)
    return file[name] if name else file.only()


@pytest.mark.parametrize('path, name, unread, read', UNREAD)
def test_what_is_named_and_cannot_be_read_raises(tmp_path, path, name, unread, read):
    dataset = opened(path, name)
    for field, found in unread.items():
        reason = dataset.select().left_out[found]
        assert dataset.select(field).left_out == {found: reason}
        for use in (lambda: dataset.arrays(field, library='pa'),
                    lambda: dataset.to_parquet(tmp_path / 'out.parquet', field),
                    lambda: pyarrow.schema(dataset.select([field])),
                    lambda: pyarrow.RecordBatchReader.from_stream(dataset.select([field, '*'])),
                    lambda: pyarrow.table(dataset.partitions(columns=[field])[0]),
                    lambda: dataset.arrays(found)):
            with pytest.raises(ntuple.UnsupportedError) as caught:
                use()
            assert reason in str(caught.value)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize('path, name, unread, read', UNREAD)
def test_what_nobody_named_and_cannot_be_read_is_left_out_with_a_warning(tmp_path, path, name, unread, read):
    dataset = opened(path, name)
    for use in (lambda: dataset.arrays('*', library='pa').column_names,
                lambda: pyarrow.table(dataset).column_names,
                lambda: dataset.select('*').scan().schema.names,
                lambda: list(dataset.arrays(read and [read, '*'], library='pa').column_names)):
        with pytest.warns(UserWarning) as warned:
            names = use()
        assert [str(one.message) for one in warned] == \
            [f'{field}: omitted: {reason}' for field, reason in dataset.select().left_out.items()]
        assert {one.filename for one in warned} == {__file__}
        assert names == [name for name in dataset if name not in unread]


def test_arrays_of_numpy_follow_the_same_rule():
    tree = opened('trees/trees_other_file.root', 'split')
    with pytest.warns(UserWarning, match='^i: omitted: its data are in another file') as warned:
        assert list(tree.arrays(['i*', 'n*'])) == ['n'] and len(warned) == 1
    lance = opened('lance_unread/planar_2.3', None)
    with pytest.warns(UserWarning, match='^number: omitted: .*PlanarLayout'):
        assert lance.arrays() == {}


def test_a_variant_that_the_options_omit_was_not_named(events):
    with pytest.warns(UserWarning, match='^comment: omitted: a variant'):
        assert 'comment' not in pyarrow.table(events.select(variants='omit')).column_names
    with pytest.raises(ntuple.UnsupportedError, match='^comment: a variant'):
        pyarrow.table(events.select('comment', variants='omit'))


def test_a_file_without_any_field_is_not_written(tmp_path):
    uproot = pytest.importorskip('uproot', reason='uproot is not installed')
    for name, array in ('a', np.arange(3)), ('b', np.ones((3, 2))):
        with uproot.recreate(tmp_path / f'{name}.root') as file:
            file.mktree('tree', {'x': array.dtype if array.ndim == 1 else np.dtype((array.dtype, 2))})
            file['tree'].extend({'x': array})
    tree = ntuple.chain([tmp_path / 'a.root', tmp_path / 'b.root'], union=True)['tree']
    with pytest.warns(UserWarning, match='^x: omitted: not the same in all files'):
        assert pyarrow.table(tree).column_names == []
    with pytest.warns(UserWarning, match='^x: omitted: not the same in all files'), \
            pytest.raises(ntuple.UnsupportedError, match='^tree: no field is left to write'):
        tree.to_parquet(tmp_path / 'out.parquet')
    for use in (lambda: tree.to_parquet(tmp_path / 'out.parquet', 'x'), lambda: tree.arrays('x'),
                lambda: tree.arrays(['x'], library='pa'), lambda: tree['x'][:]):
        with pytest.raises(ntuple.UnsupportedError, match='^x: not the same in all files'):
            use()
    assert sorted(os.listdir(tmp_path)) == ['a.root', 'b.root']


def test_baskets_in_other_files_are_read_where_bases_allow_it(tmp_path):
    path = TREES / 'trees_other_file.root'
    trees = json.loads(path.with_suffix('.json').read_text())['trees']
    expected = next(branch['values'] for tree in trees if tree['path'] == 'split'
                    for branch in tree['branches'] if branch['name'] == 'i')
    numbers = ntuple.open(path, bases=TREES)['split']['i']
    assert hashlib.sha256(numbers.tobytes()).hexdigest() == expected['data_sha256']
    for bases in [TREES], (str(tmp_path), TREES):
        for file in ntuple.open(path, bases=bases), ntuple.chain(path, bases=bases), \
                pickle.loads(pickle.dumps(ntuple.open(path, bases=bases))):
            assert np.array_equal(file['split']['i'], numbers)
            assert sum(part.arrays('i')['i'].sum() for part in file['split'].partitions()) == numbers.sum()
    with pytest.raises(ntuple.UnsupportedError, match='not below any directory of the option bases'):
        ntuple.open(path, bases=tmp_path)['split'].arrays('i')
    with pytest.raises(ValueError, match='bases: only for a path'):
        ntuple.open(path.read_bytes(), bases=TREES)


@pytest.mark.filterwarnings('ignore:Running on a single-machine scheduler')
def test_engines_follow_the_same_rules(damaged):
    pytest.importorskip('polars', reason='polars is not installed')
    pytest.importorskip('dask_awkward', reason='dask-awkward is not installed')
    pytest.importorskip('dask.dataframe', reason='dask is not installed')
    import ntuple.dask
    import ntuple.polars

    def columns(dataset, chosen):
        yield lambda: ntuple.polars.scan(dataset, chosen).collect().columns
        yield lambda: list(ntuple.dask.dataframe(dataset, chosen).compute(scheduler='synchronous').columns)
        yield lambda: ntuple.dask.awkward(dataset, chosen).compute(scheduler='synchronous').fields

    tree = opened('trees/trees_other_file.root', 'split')
    for chosen in None, '*':
        for use in columns(tree, chosen):
            with pytest.warns(UserWarning, match='^i: omitted: its data are in another file'):
                assert use() == [name for name in tree if name != 'i']
    for use in columns(tree, ['n', 'i']):
        with pytest.raises(ntuple.UnsupportedError, match='^i: its data are in another file'):
            use()
    for use in columns(ntuple.open(damaged)['clusters'], None):
        with pytest.raises(ntuple.CorruptError, match='branch text: '):
            use()
