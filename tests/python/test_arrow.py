# SPDX-License-Identifier: MIT
"""Datasets as Arrow data in other programs."""
import ntuple
import numpy as np
import pytest
from conftest import DATA, NOT_BY_UPROOT, TYPES_NOT_BY_UPROOT

FILES = sorted(path for path in DATA.glob('*.root') if path.stem not in NOT_BY_UPROOT)

pyarrow = pytest.importorskip('pyarrow', reason='pyarrow is not installed')


@pytest.mark.parametrize('path', FILES, ids=lambda path: path.stem)
def test_tables_are_what_uproot_reads(path):
    uproot = pytest.importorskip('uproot', reason='uproot is not installed')
    from values import agrees
    compared = 0
    with ntuple.open(path) as file, uproot.open(path) as other:
        for dataset in file.values():
            try:
                peer = other[dataset.path]
                names = [name for name in dataset.keys() if name in peer.keys()]
            except Exception:  # of other generations
                continue
            table = pyarrow.table(dataset.select(names))
            assert table.num_rows == dataset.entries
            for name in table.column_names:
                if table.column(name).num_chunks > 1 and 'tag: uint32' in str(table.schema.field(name).type):
                    continue  # after the first cluster it takes other values for those of a variant
                if dataset.field(name).type.startswith(TYPES_NOT_BY_UPROOT):
                    continue
                try:
                    values = peer[name].array().to_list()
                except Exception:  # uproot raises anything for what it cannot read
                    continue
                found = table.column(name).to_pylist()
                assert all(agrees(one, value) for one, value in zip(found, values)), name
                compared += 1
    assert compared or path.stem == 'empty'


@pytest.mark.parametrize('variants', ['struct', 'union'])
def test_a_range_of_entries_is_a_part_of_the_table(events, variants):
    whole = pyarrow.table(events.select(variants=variants))
    for first, end in ((0, 1000), (0, 0), (1000, 1000), (1, 2), (249, 251), (250, 500), (123, 877)):
        part = pyarrow.table(events.select(entries=(first, end), variants=variants))
        assert part.to_pylist() == whole.slice(first, end - first).to_pylist(), (first, end)
        assert all(len(column.chunks) == events.select(entries=(first, end)).batches
                   for column in part.columns)


def test_columns_are_chosen(events):
    part = pyarrow.table(events.select(['muons/_0/pt', 'weight', 'vertex/x']))
    assert part.column_names == ['weight', 'muons', 'vertex']
    assert part.schema.field('vertex').type.num_fields == 1
    assert part.column('muons').combine_chunks().values.type.num_fields == 1
    assert np.array_equal(part.column('weight').to_numpy(), events['weight'])


def test_nothing_is_decoded_that_is_not_requested(data):
    with ntuple.open(data / 'many_pages.root') as file:
        dataset = file.only()
        name = dataset.keys()[0]
        before = ntuple.counters()['pages_decoded']
        view = dataset.select([name], (0, 1))
        assert view.batches == 1 and pyarrow.schema(view).names == [name]
        assert ntuple.counters()['pages_decoded'] == before
        assert pyarrow.table(view).num_rows == 1
        assert ntuple.counters()['pages_decoded'] == before + 1


def test_batches_come_one_by_one(events):
    before = ntuple.counters()['pages_decoded']
    reader = pyarrow.RecordBatchReader.from_stream(events.select(['weight']))
    assert ntuple.counters()['pages_decoded'] == before
    assert reader.read_next_batch().num_rows == 250
    assert ntuple.counters()['pages_decoded'] == before + 1
    assert sum(batch.num_rows for batch in reader) == 750


def test_what_is_chosen_is_checked(events):
    with pytest.raises(ntuple.NotFoundError):
        events.select(['nothing'])
    for entries in ((0, 1001), (-1, 5), (7, 3)):
        with pytest.raises(IndexError):
            events.select(entries=entries)
    with pytest.raises(TypeError):
        events.select(5)
    with pytest.raises(ValueError):
        events.select(strings='latin-1')
    with pytest.raises(ValueError):
        events.select(variants='sparse')


def test_what_arrow_cannot_express_is_reported(events):
    assert events.select().left_out == {}
    assert list(events.select(['comment', 'run'], variants='omit').left_out) == ['comment']


def test_strings_are_bytes_where_that_is_requested(events):
    text, binary = (pyarrow.table(events.select(['stream'], strings=kind)).column('stream')
                    for kind in ('text', 'binary'))
    assert text.type == pyarrow.large_string() and binary.type == pyarrow.large_binary()
    assert [value.encode() for value in text.to_pylist()] == binary.to_pylist()


# ---- programs ----

def test_polars_takes_a_dataset(events):
    polars = pytest.importorskip('polars', reason='polars is not installed')
    frame = polars.DataFrame(events.select(['run', 'weight']))
    assert frame.shape == (1000, 2) and frame['weight'].sum() == pytest.approx(events['weight'].sum())
    assert polars.DataFrame(events).height == 1000


def test_duckdb_takes_a_dataset_by_its_name(events):
    duckdb = pytest.importorskip('duckdb', reason='duckdb is not installed')
    rows = duckdb.sql('select run, count(*) from events group by run order by run').fetchall()
    runs, counts = np.unique(events['run'], return_counts=True)
    assert rows == list(zip(runs.tolist(), counts.tolist()))
    view = events.select(['muons/_0/pt'], (0, 10))
    assert duckdb.sql('select sum(len(muons)) from view').fetchall() == [(int(events['muons'].offsets[10]),)]


def with_records(value, of):
    """What pyarrow has for a value of a type, with a record for each pair of a map."""
    if value is None or of.num_fields == 0:
        return value
    if pyarrow.types.is_map(of):
        return [{'key': with_records(key, of.key_type), 'value': with_records(item, of.item_type)}
                for key, item in value]
    if pyarrow.types.is_struct(of):
        return {member.name: with_records(value[member.name], member.type) for member in of}
    return [with_records(item, of.value_type) for item in value]


@pytest.mark.parametrize('path, fields', [
    ('trees/trees_containers.root', ('map', 'map_of_vectors', 'map_of_maps')),
    ('trees/trees_arrays.root', ('split', 'whole')),
    ('trees/trees_enumerations.root', ('split', 'whole', 'items', 'whole_items')),
    ('lance_nested_2.2.lance', ('map',)),
    ('lance_declared_2.2.lance', ('map', 'maps'))])
def test_maps_at_every_depth_are_lists_of_records_for_awkward(path, fields):
    pytest.importorskip('awkward', reason='awkward is not installed')
    dataset = ntuple.open(DATA / path).only()
    for field in fields:
        table = pyarrow.table(dataset.select(field))
        assert 'map<' in str(table.schema.field(0).type)
        expected = [with_records(value, table.schema.field(0).type) for value in table[0].to_pylist()]
        assert dataset.awkward(field)[field].to_list() == expected
        assert dataset.arrays(field, (1, 9), library='ak')[field].to_list() == expected[1:9]
        parts = [part[field].to_list() for part in dataset.iterate(field, 7, library='ak')]
        assert sum(parts, []) == expected


def test_awkward_has_the_maps_that_uproot_reads():
    uproot = pytest.importorskip('uproot', reason='uproot is not installed')
    path = DATA / 'trees/trees_containers.root'
    for field in 'map', 'map_of_vectors':
        maps = uproot.open(path)['containers'][field].array(library='np')
        expected = [[{'key': key, 'value': np.asarray(value).tolist()} for key, value in item.items()]
                    for item in maps]
        assert ntuple.open(path).only().awkward(field)[field].to_list() == expected


def test_awkward_arrays_have_the_lists_of_the_entries(events):
    awkward = pytest.importorskip('awkward', reason='awkward is not installed')
    array = awkward.from_arrow(pyarrow.table(events.select(['muons'])))
    assert np.array_equal(awkward.to_numpy(awkward.flatten(array.muons.pt)), events['muons/_0/pt'])
    uproot = pytest.importorskip('uproot', reason='uproot is not installed')
    expected = uproot.open(DATA / 'example.root')['Events'].arrays(['muons', 'run'], entry_start=9,
                                                                   entry_stop=400)
    found = events.awkward(['mu*/p*', 'run'], (9, 400))
    assert found.fields == ['run', 'muons'] and found.muons.fields == ['pt', 'phi']
    assert found.run.to_list() == expected.run.to_list()
    assert found.muons.pt.to_list() == expected.muons.pt.to_list()
    assert np.array_equal(np.cumsum(awkward.num(array.muons)), events['muons'].offsets[1:])
    parts = list(events.iterate(['mu*/p*', 'run'], 100, (9, 400), library='ak'))
    assert awkward.concatenate(parts).to_list() == found.to_list() and len(parts) == 4
    assert events.arrays(['mu*/p*', 'run'], (9, 400), library='pa') == pyarrow.table(
        events.select(['mu*/p*', 'run'], (9, 400)))
    for arguments in {'library': 'pandas'}, {'library': 'ak', 'out': {}}:
        with pytest.raises(ValueError):
            events.arrays('run', **arguments)


def test_pandas_takes_a_table_of_it(events):
    pytest.importorskip('pandas', reason='pandas is not installed')
    frame = pyarrow.table(events.select(['run', 'stream'])).to_pandas()
    assert frame['stream'].tolist() == events['stream'][:]
