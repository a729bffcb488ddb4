# SPDX-License-Identifier: MIT
"""dask, polars, DuckDB, pyarrow and fsspec read datasets without a mount, in processes of their own where
they have such: what they find is what uproot reads. Ray and Spark are in test_clusters.py."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

import ntuple
import numpy as np
import pytest
from conftest import CHAIN, DATA

sys.path.insert(0, str(DATA.parent / 'mount'))


@pytest.fixture(scope='module')
def chain():
    return ntuple.chain(CHAIN)['compressed']


@pytest.fixture(scope='module')
def client():
    """Two processes."""
    distributed = pytest.importorskip('distributed')
    pytest.importorskip('dask.dataframe')
    with distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=':0') as client:
        yield client


def pages(client):
    """How many pages the workers have decoded."""
    return sum(counters['pages_decoded'] for counters in client.run(ntuple.counters).values())


# ---- dask ----

def test_data_frames_of_dask_have_what_uproot_reads(client, chain, expected):
    import ntuple.dask
    frame = ntuple.dask.dataframe(chain, bytes=1)
    assert (frame.npartitions, list(frame.columns)) == (6, ['ramp', 'noise', 'values', 'text'])
    assert int(frame['noise'].max().compute()) == max(expected['noise'].tolist())
    means = frame.groupby('ramp').noise.count().compute()
    assert means.sum() == len(expected) == len(frame)
    some = frame.loc[995:1005][['text', 'ramp', 'values']].compute()
    assert list(some.index) == list(range(995, 1006)) and list(some.columns) == ['text', 'ramp', 'values']
    assert some['text'].tolist() == expected['text'][995:1006].tolist()
    assert [list(row) for row in some['values']] == expected['values'][995:1006].tolist()


def test_columns_that_dask_does_not_use_are_not_decoded(client, chain, expected):
    import ntuple.dask
    before = pages(client)
    frame = ntuple.dask.dataframe(chain)
    assert int(frame[frame.ramp > 100]['ramp'].sum().compute()) \
        == int(sum(expected['ramp'][expected['ramp'] > 100]))
    of_one = pages(client) - before
    assert 0 < of_one <= sum(1 for part in chain.partitions(1)) * 2
    assert frame['text'].count().compute() == len(expected)
    assert pages(client) - before > of_one


def test_arrays_of_dask_awkward_have_what_uproot_reads(client, chain, expected):
    dask_awkward, awkward = pytest.importorskip('dask_awkward'), pytest.importorskip('awkward')
    import ntuple.dask
    array = ntuple.dask.awkward(chain, bytes=1)
    assert (array.npartitions, array.divisions[-1]) == (6, len(expected))
    counts = dask_awkward.num(array['values'])
    assert awkward.array_equal(counts.compute(), awkward.num(expected['values']))
    name, = dask_awkward.report_necessary_columns(array.ramp).values()
    assert name == {'ramp'}
    before = pages(client)
    assert awkward.array_equal(array.ramp[array.ramp > 7].compute(), expected.ramp[expected.ramp > 7])
    assert pages(client) - before <= 12
    assert awkward.array_equal(array.compute(), expected)
    assert dask_awkward.num(array, axis=0).compute() == len(expected)


def test_members_of_records_are_columns_of_their_own(client):
    dask_awkward, awkward = pytest.importorskip('dask_awkward'), pytest.importorskip('awkward')
    uproot = pytest.importorskip('uproot')
    import ntuple.dask
    events = ntuple.open(DATA / 'example.root')['Events']
    array = ntuple.dask.awkward(events, ['muons', 'vertex', 'comment', 'missing_energy'])
    muons = uproot.open(DATA / 'example.root')['Events'].arrays(['muons'])['muons']
    hard = array.muons.pt[array.muons.pt > 30]
    name, = dask_awkward.report_necessary_columns(hard).values()
    assert name == {'muons.pt'}
    assert awkward.array_equal(hard.compute(), muons.pt[muons.pt > 30])
    assert len(array.comment['_1'].compute()) == len(array.vertex.x.compute()) == events.entries
    few = ntuple.dask.awkward(events, 'muons/pt')
    assert few.fields == ['muons'] and few.muons.fields == ['pt']


def test_maps_are_lists_of_records_for_dask_awkward(client):
    pytest.importorskip('dask_awkward')
    pyarrow = pytest.importorskip('pyarrow')
    import ntuple.dask
    dataset = ntuple.open(DATA / 'trees/trees_containers.root').only()
    array = ntuple.dask.awkward(dataset, ['map', 'map_of_vectors', 'v_int'])
    assert array.map_of_vectors.value.compute().to_list() == \
        [[items for _, items in pairs] for pairs in pyarrow.table(dataset)['map_of_vectors'].to_pylist()]
    assert array.compute().to_list() == dataset.awkward(['map', 'map_of_vectors', 'v_int']).to_list()


def test_a_task_whose_file_was_replaced_says_so(client, tmp_path):
    import ntuple.dask
    path = tmp_path / 'run.root'
    shutil.copy(CHAIN[0], path)
    frame = ntuple.dask.dataframe(ntuple.open(path)['compressed'])
    (tmp_path / 'new').write_bytes(CHAIN[1].read_bytes())
    os.replace(tmp_path / 'new', path)
    with pytest.raises(ntuple.ChangedError, match='run.root: was replaced'):
        frame['ramp'].sum().compute()


@pytest.mark.parametrize('path, entries', [('no_entries', 0), ('no_fields', 5), ('nothing', 0)])
def test_engines_read_datasets_without_entries_or_fields(path, entries):
    """As many as ROOT wrote. No process of dask's is needed."""
    for module in 'dask.dataframe', 'dask_awkward', 'polars':
        pytest.importorskip(module)
    import ntuple.dask
    import ntuple.polars
    dataset = ntuple.open(DATA / 'empty.root')[path]
    names = [field.name for field in dataset.fields]
    frame = ntuple.dask.dataframe(dataset).compute(scheduler='synchronous')
    assert (len(frame), list(frame.columns)) == (entries, names)
    array = ntuple.dask.awkward(dataset).compute(scheduler='synchronous')
    assert (len(array), array.fields) == (entries, names)
    assert ntuple.polars.scan(dataset).collect().shape == (entries, len(names))
    assert dataset.scan().read_all().shape == (entries, len(names))


def test_workers_mount_and_unmount(client, expected):
    import ntuple.dask
    try:
        with ntuple.mount(CHAIN[0]):
            pass
    except ntuple.MountError as error:
        pytest.skip(str(error))

    def read(number):
        import distributed
        path = distributed.get_worker().plugins['ntuple'].path
        return str(path), np.fromfile(path / 'compressed/ramp/data.bin', '<i4')[number]
    client.register_plugin(ntuple.dask.Mount(str(CHAIN[0])))
    found = client.gather([client.submit(read, number, workers=[worker], pure=False)
                           for worker in client.scheduler_info()['workers'] for number in (0, 999)])
    paths = {path for path, _ in found}
    assert len(paths) == 2
    assert [value for _, value in found] == 2 * [expected['ramp'][0], expected['ramp'][999]]
    client.unregister_worker_plugin('ntuple')
    assert not any(Path(path).exists() for path in paths)


# ---- engines of one machine ----

def test_lazy_frames_of_polars_have_what_uproot_reads(chain, expected):
    polars = pytest.importorskip('polars')
    import ntuple.polars
    frame = ntuple.polars.scan(chain)
    assert frame.collect_schema().names() == ['ramp', 'noise', 'values', 'text']
    thirds = frame.group_by(polars.col('ramp') % 3).agg(polars.col('noise').max()).sort('ramp').collect()
    assert thirds.rows() == [(k, int(max(expected['noise'][expected['ramp'] % 3 == k]))) for k in range(3)]
    chosen = frame.filter(polars.col('ramp') > 240).select('text').collect()
    assert chosen['text'].to_list() == expected['text'][expected['ramp'] > 240].tolist()
    assert frame.slice(1998, 4).select('values').collect()['values'].to_list() \
        == expected['values'][1998:2002].tolist()
    assert frame.select(polars.len()).collect().item() == len(expected)


def test_polars_decodes_the_columns_and_clusters_that_it_needs():
    polars = pytest.importorskip('polars')
    import ntuple.polars

    def decoded(query):
        with ntuple.open(CHAIN[0]) as file:
            before = ntuple.counters()['pages_decoded']
            query(ntuple.polars.scan(file['compressed'])).collect()
            return ntuple.counters()['pages_decoded'] - before
    assert decoded(lambda frame: frame.head(100).select('ramp')) == 1
    assert 1 < decoded(lambda frame: frame.select(polars.col('ramp').sum())) \
        < decoded(lambda frame: frame)


def test_duckdb_reads_streams(chain, expected):
    duckdb, pyarrow = pytest.importorskip('duckdb'), pytest.importorskip('pyarrow')
    stream = chain.scan(['ramp', 'values'])
    assert isinstance(stream, pyarrow.RecordBatchReader)
    found = duckdb.sql('select ramp % 3 as third, sum(len(values)) from stream group by third order by third')
    counts = pytest.importorskip('awkward').num(expected['values'])
    assert found.fetchall() == [(k, int(sum(counts[expected['ramp'] % 3 == k]))) for k in range(3)]


# ---- fsspec ----

@pytest.fixture
def spec():
    fsspec = pytest.importorskip('fsspec')
    fsspec.register_implementation('ntuple', 'ntuple.fsspec.NtupleFileSystem', clobber=True)
    return fsspec


@pytest.mark.skipif('NTUPLE' not in os.environ, reason='no program ntuple to compare with')
@pytest.mark.parametrize('name', ['example.root', 'lance_nested_2.1.lance'])
def test_files_are_those_of_the_tree(spec, tmp_path, name):
    """`ntuple cp` writes what a mount shows."""
    files = spec.filesystem('ntuple', fo=str(DATA / name), skip_instance_cache=True)
    dataset, = [found for found in files.ls('', detail=False) if found != 'calibration']
    tree = tmp_path / 'tree'
    subprocess.run([os.environ['NTUPLE'], 'cp', '-r', DATA / name, dataset, tree], check=True)
    found = {path.removeprefix(f'{dataset}/') for path in files.find(dataset)}
    fields = {str(path.relative_to(tree)) for path in tree.rglob('*.*')
              if path.parent != tree and path.suffix in ('.bin', '.npy') and 'column.' not in str(path)}
    assert found == fields | {'schema.txt', 'table.arrow'}
    for path in fields | {'schema.txt'}:
        assert files.cat(f'{dataset}/{path}') == (tree / path).read_bytes(), path
    assert files.info(f'{dataset}/table.arrow')['type'] == 'file' and files.isdir(dataset)
    for wrong in 'nothing', f'{dataset}/nothing', f'{dataset}/schema.txt/x', f'{dataset}/data.npy':
        assert not files.exists(wrong)
        with pytest.raises(FileNotFoundError):
            files.open(wrong)


def test_addresses_are_chained(spec, events, example):
    pyarrow = pytest.importorskip('pyarrow')
    with spec.open(f'ntuple://Events/weight/data.npy::file://{example}') as file:
        assert np.array_equal(np.load(file), events['weight'])
    with spec.open(f'ntuple://Events/run/data.bin::{example}') as file:
        file.seek(4 * 500 + 1)
        assert file.read(6) == events['run'].tobytes()[2001:2007]
    with spec.open(f'ntuple://Events/table.arrow::{example}') as file:
        assert pyarrow.ipc.open_file(file).read_all().select(['run', 'muons']).equals(
            pyarrow.table(events.select(['run', 'muons'])))


# ---- servers ----

def test_engines_read_from_a_server(client, spec, expected):
    """Each worker asks the server itself; a file that is another one by then is refused."""
    import ntuple.dask
    from web import served
    with served(DATA) as site:
        address = site.url(CHAIN[0].name)
        try:
            dataset = ntuple.open(address)['compressed']
        except ntuple.UnsupportedError as error:
            pytest.skip(str(error))
        frame = ntuple.dask.dataframe(dataset, bytes=1)
        assert int(frame['ramp'].sum().compute()) == int(sum(expected['ramp'][:1000]))
        assert {part.file for part in dataset.partitions()} == {address}
        files = spec.filesystem('ntuple', fo=address)
        assert files.cat('compressed/ramp/data.bin') == dataset['ramp'].tobytes()
