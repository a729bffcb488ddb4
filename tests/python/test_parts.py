# SPDX-License-Identifier: MIT
"""Parts of datasets for other processes: against uproot's clusters and values. What is pickled is
read by processes that share nothing with this one."""
import multiprocessing
import os
import pickle
import shutil

import ntuple
import numpy as np
import pytest
from conftest import DATA

FILES = [DATA / f'compression_{name}.root' for name in ('lz4', 'none', 'zstd')]
PICKLED = [DATA / name for name in ('example.root', 'lance_nested_2.1.lance')]


def ramp_of_all():
    uproot = pytest.importorskip('uproot')
    return np.concatenate([uproot.open(path)['compressed'].arrays(['ramp'], library='np')['ramp']
                           for path in FILES])


def ramp_of(part):
    return part.arrays(['ramp'])['ramp']


@pytest.fixture(scope='module')
def workers():
    """Processes that are started, not forked."""
    with multiprocessing.get_context('spawn').Pool(2) as pool:
        yield pool


def test_parts_are_the_clusters(events, example):
    uproot = pytest.importorskip('uproot')
    clusters = [(cluster.num_first_entry, cluster.num_entries)
                for cluster in uproot.open(example)['Events'].cluster_summaries]
    parts = events.partitions(1)
    assert [(part.first, len(part)) for part in parts] == clusters
    assert {(part.file, part.path, part.columns) for part in parts} == {(str(example), 'Events', None)}
    total = sum(part.bytes for part in parts)
    assert 0 < total < example.stat().st_size
    assert [len(part) for part in events.partitions()] == [1000]
    assert [len(part) for part in events.partitions(total - 1)] == [750, 250]
    with pytest.raises(ValueError, match='bytes: expected at least 1, found 0'):
        events.partitions(0)


def test_parts_have_the_columns_that_they_are_made_with(events):
    """8 bytes of weight for each entry, before compression."""
    weights = events.partitions(columns='weight')
    assert weights[0].bytes <= 8 * 1000 < sum(part.bytes for part in events.partitions())
    assert list(weights[0].arrays()) == ['weight'] and weights[0].select().columns == ['weight']
    assert (weights[0].arrays()['weight'] == events['weight']).all()
    assert list(weights[0].arrays(['run'])) == ['run']
    with pytest.raises(ntuple.NotFoundError):
        events.partitions(columns=['nothing'])


def test_parts_of_a_chain_are_of_one_file_each(workers):
    expected = ramp_of_all()
    dataset = ntuple.chain(FILES)['compressed']
    parts = dataset.partitions()
    assert [(part.file, part.first, part.end) for part in parts] == [(str(path), 0, 1000) for path in FILES]
    assert (np.concatenate(workers.map(ramp_of, parts)) == expected).all()
    small = dataset.partitions(1)
    assert [(part.first, part.end) for part in small] == 3 * [(0, 150), (150, 1000)]
    assert (np.concatenate(workers.map(ramp_of, small)) == expected).all()


@pytest.mark.parametrize('options', [{}, {'union': True}])
def test_parts_have_the_selected_entries(workers, tmp_path, options):
    expected = ramp_of_all()
    chosen = np.flatnonzero(np.arange(len(expected)) % 7 == 3)
    np.save(tmp_path / 'chosen.npy', chosen)
    for entries in chosen, (990, 1010), tmp_path / 'chosen.npy':
        dataset = ntuple.chain(FILES, entries=entries, **options)['compressed']
        parts = dataset.partitions(1)
        assert sum(len(part) for part in parts) == dataset.entries
        found = np.concatenate(workers.map(ramp_of, parts))
        assert (found == (expected[990:1010] if isinstance(entries, tuple) else expected[chosen])).all()


def test_parts_of_a_specification_have_the_datasets_that_it_names(workers, tmp_path):
    uproot = pytest.importorskip('uproot')
    specification = tmp_path / 'all.json'
    specification.write_text('{"samples": {"a": {"trees": ["compressed"], "files": ["%s"]}}}' % FILES[0])
    parts = ntuple.chain(specification).only().partitions(1)
    assert (np.concatenate(workers.map(ramp_of, parts))
            == uproot.open(FILES[0])['compressed'].arrays(['ramp'], library='np')['ramp']).all()


def test_fields_that_only_some_files_have_are_in_all_parts(workers):
    pair = [DATA / 'lance_declared_2.2.lance', DATA / 'lance_drifted_2.2.lance']
    dataset = ntuple.chain(pair, union=True).only()
    parts = dataset.partitions(columns=['added'])
    assert len(parts) == 2
    assert np.array_equal(np.concatenate([part['added'] for part in workers.map(_arrays, parts)]),
                          dataset['added'])


def _arrays(part):
    return part.arrays()


def test_files_datasets_fields_and_views_are_pickled(workers):
    for path in PICKLED:
        file = ntuple.open(path)
        dataset = file[next(iter(file))]
        field = next(field for field in dataset.fields if field.valued().is_plain)
        for it in dataset.file, dataset, field, dataset.select([field.path], (1, 5)):
            twin = pickle.loads(pickle.dumps(it))
            assert repr(twin) == repr(it)
        assert np.array_equal(workers.apply(_values, (field.valued(),)), field.valued()[:])
    with ntuple.open(DATA.joinpath('example.root').read_bytes(), entries={'Events': (3, 7)}) as file:
        assert np.array_equal(workers.apply(_weights, (file,)), file['Events']['weight'])


def _values(field):
    return field[:]


def _weights(file):
    return file['Events']['weight']


def test_names_mean_the_same_elsewhere(workers, monkeypatch):
    monkeypatch.chdir(DATA)
    for source in 'compression_zstd.root', ['compression_zstd.root'], 'compression_zst*.root':
        file = ntuple.open(source)
        monkeypatch.chdir('/')
        part, = file['compressed'].partitions()
        assert len(ramp_of(part)) == len(ramp_of(pickle.loads(pickle.dumps(part)))) == 1000
        assert part.file == str(DATA / 'compression_zstd.root')
        assert workers.apply(_total, (file,)) == 1000
        monkeypatch.chdir(DATA)


def _total(file):
    return file['compressed'].entries


def test_another_file_is_refused_by_its_name(workers, tmp_path):
    path = tmp_path / 'run.root'
    shutil.copy(FILES[0], path)
    dataset = ntuple.open(path)['compressed']
    part, = dataset.partitions()
    whole = pickle.dumps(dataset)
    status = path.stat()
    (tmp_path / 'new').write_bytes(FILES[1].read_bytes())
    os.replace(tmp_path / 'new', path)
    for read in lambda: workers.apply(ramp_of, (part,)), lambda: pickle.loads(whole):
        with pytest.raises(ntuple.ChangedError, match='run.root: was replaced or modified') as caught:
            read()
        assert str(status.st_size) in caught.value.expected and caught.value.status == 'source changed'
        assert str(path.stat().st_size) in caught.value.found
    path.unlink()
    with pytest.raises(ntuple.SourceNotFoundError):
        pickle.loads(whole)


def test_a_dataset_that_grew_is_opened_in_its_version(tmp_path):
    lance = pytest.importorskip('lance')
    pyarrow = pytest.importorskip('pyarrow')
    where = str(tmp_path / 'set.lance')
    lance.write_dataset(pyarrow.table({'x': [1, 2]}), where)
    first = ntuple.open(where).only()
    pickled, parts = pickle.dumps(first), first.partitions()
    lance.write_dataset(pyarrow.table({'x': [3]}), where, mode='append')
    assert pickle.loads(pickled)['x'].tolist() == [1, 2] == parts[0].arrays()['x'].tolist()
    assert ntuple.open(where).only()['x'].tolist() == [1, 2, 3]


def test_a_file_that_is_not_readable_is_named(tmp_path):
    for path in FILES:
        shutil.copy(path, tmp_path)
    pattern, index = f'{tmp_path}/*.root', tmp_path / 'index'
    ntuple.chain(pattern, index=index)
    path = tmp_path / FILES[1].name
    status = path.stat()
    path.write_bytes(b'ruined' + path.read_bytes()[6:])
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(ntuple.Error, match=path.name):
        ntuple.chain(pattern, index=index)['compressed'].partitions()


def test_parts_of_every_format_are_the_whole():
    """What the whole has is what other readers have (test_columns.py)."""
    divided = 0
    for path in sorted([*DATA.glob('*.root'), *DATA.glob('trees/*.root'), *DATA.glob('lance_datasets/*')]):
        try:
            file = ntuple.open(path)
        except ntuple.Error:
            continue
        for dataset in (file[name] for name in file):
            parts = dataset.partitions(1)
            assert sum(map(len, parts)) == dataset.entries, path
            plain = [field.path for field in dataset.fields if field.valued().is_plain][:4]
            if len(parts) < 2 or path.stem == 'damaged_page':
                continue
            divided += 1
            whole, pieces = dataset.arrays(plain), [part.arrays(plain) for part in parts]
            for name in plain:
                assert np.concatenate([piece[name] for piece in pieces]).tobytes() == whole[name].tobytes()
    assert divided > 20


def test_arrow_reads_parts(events):
    pyarrow = pytest.importorskip('pyarrow')
    parts = events.partitions(1, columns=['weight', 'muons/pt'])
    tables = [pyarrow.table(part) for part in parts]
    assert pyarrow.concat_tables(tables).equals(pyarrow.table(events.select(['weight', 'muons/pt'])))
    assert pyarrow.schema(parts[0]) == tables[0].schema
    reader = events.scan('weight', (240, 260))
    assert isinstance(reader, pyarrow.RecordBatchReader)
    assert [batch.num_rows for batch in reader] == [10, 10]
