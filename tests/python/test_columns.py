# SPDX-License-Identifier: MIT
"""Columns as NumPy arrays: compared with another reader, and any part with the whole."""
import json
import os
import sys
from pathlib import Path

import ntuple
import numpy as np
import pytest
from conftest import DATA, NOT_BY_UPROOT, TESTS

FILES = sorted(path for path in DATA.glob('*.root') if path.stem not in NOT_BY_UPROOT)
SHARED = Path(os.environ.get('NTUPLE_SHARED', 'nothing')) / 'data/rntuple'
LARGEST = 20000  # entries
PASSED = ('record', 'tuple', 'wrapper')


def leaves(field):
    """[(field, steps)]: fields of plain values below records and collections; a step is a name,
    or None for the items."""
    if field.is_plain and not field.unreadable:
        yield field, []
    for child in field.fields:
        if field.kind in PASSED:
            step = child.name
        elif field.kind == 'collection':
            step = None
        else:
            continue
        for leaf, steps in leaves(child):
            yield leaf, [step, *steps]


def follow(array, field, steps):
    """The values of a leaf in uproot's array of a field."""
    import awkward as ak
    for step in steps:
        if step is None:
            array = ak.flatten(array, axis=1)
        elif ak.fields(array):
            names = ak.fields(array)
            array = array[step if step in names else names[int(step[1:])]]
    return ak.to_numpy(array)


def compare(dataset, peer):
    """The number of equal columns."""
    count = 0
    for top in dataset.fields:
        for leaf, steps in leaves(top):
            if leaf.dtype.kind not in 'biuf' or '.' in top.name:
                continue
            try:
                expected = follow(peer[top.name].array(), leaf, steps)
            except Exception:  # fields that uproot cannot read, or reads in another shape
                continue
            if expected.shape != leaf.shape:
                continue
            values = dataset.field(leaf.path)[:]
            assert np.array_equal(values.astype(expected.dtype), expected,
                                  equal_nan=expected.dtype.kind == 'f'), leaf.path
            count += 1
    return count


def compare_file(path):
    """The number of equal columns of a file."""
    uproot = pytest.importorskip('uproot', reason='uproot is not installed')
    compared = 0
    with ntuple.open(path) as file, uproot.open(path) as other:
        for dataset in file.values():
            if not dataset.version.startswith(
                    '1.') or dataset.entries > LARGEST or dataset.is_attribute_set:
                continue
            try:
                peer = other[dataset.path]
                peer.keys()
            except Exception:  # of other generations, of names that it does not find
                continue
            compared += compare(dataset, peer)
    return compared


@pytest.mark.parametrize('path', FILES, ids=lambda path: path.stem)
def test_columns_are_what_uproot_reads(path):
    assert compare_file(path) or path.stem == 'empty'


def test_columns_of_foreign_files_are_what_uproot_reads():
    if not SHARED.is_dir():
        pytest.skip('NTUPLE_SHARED has no files')
    compared = 0
    for path in (path for folder in ('gen', 'real') for path in sorted((SHARED / folder).glob('*.root'))):
        try:
            compared += compare_file(path)
        except ntuple.FormatError:  # without any RNTuple
            pass
    assert compared >= 100


# ---- any part ----

def test_a_slice_is_a_part_of_the_whole(events):
    for path in ('weight', 'trigger_bits', 'muons/_0/pt', 'beam_spot/_0'):
        field, whole = events.field(path), events[path]
        assert field.shape == whole.shape and field.dtype == whole.dtype
        rows = len(field)
        for key in (slice(None), slice(10, 20), slice(249, 251), slice(-3, None), slice(rows, None),
                    slice(7, 3)):
            assert np.array_equal(field[key], whole[key]), (path, key)
        assert np.array_equal(field[5], whole[5]) and np.array_equal(field[-1], whole[-1])
        with pytest.raises(IndexError):
            field[rows]
        with pytest.raises(ValueError):
            field[::2]


def test_offsets_say_the_values_of_an_entry(events):
    offsets, pt = events['muons'].offsets, events['muons/_0/pt']
    assert len(offsets) == events.entries + 1 and offsets[0] == 0 and offsets[-1] == len(pt)
    part = events.arrays(['muons', 'muons/_0/pt', 'weight'], entries=(300, 310))
    assert np.array_equal(part['muons'], offsets[300:311] - offsets[300])
    assert np.array_equal(part['muons/_0/pt'], pt[offsets[300]:offsets[310]])
    assert np.array_equal(part['weight'], events['weight'][300:310])


def test_collections_in_collections_are_cut_by_entries(events):
    outer, inner = events['jet_tracks'].offsets, events['jet_tracks/_0'].offsets
    values = events['jet_tracks/_0/_0']
    for first, end in ((0, 1000), (249, 252), (500, 500), (999, 1000)):
        part = events.arrays(['jet_tracks', 'jet_tracks/_0', 'jet_tracks/_0/_0'], (first, end))
        assert np.array_equal(part['jet_tracks/_0/_0'], values[inner[outer[first]]:inner[outer[end]]])
        assert len(part['jet_tracks/_0']) == outer[end] - outer[first] + 1


def test_all_columns_at_once_are_the_columns(events):
    paths = ['run', 'event', 'weight', 'muons/_0/eta', 'trigger_bits', 'beam_spot']
    for path, array in events.arrays(paths).items():
        assert np.array_equal(array, events[path]), path


def test_arrays_that_are_there_are_read_into(events):
    paths = ['weight', 'muons', 'muons/_0/pt', 'trigger_bits']
    there = events.arrays(paths, (250, 300))
    expected = {path: array.copy() for path, array in there.items()}
    for array in there.values():
        array[...] = 0
    found = events.arrays(paths, (250, 300), out=there)
    for path in paths:
        assert np.array_equal(there[path], expected[path]) and np.shares_memory(there[path], found[path])
    for wrong in (np.empty(51), np.empty(50, 'f4'), np.empty(100)[::2]):
        with pytest.raises(ValueError, match='out: expected 50 contiguous elements of float64'):
            events.arrays(['weight'], (250, 300), out={'weight': wrong})


def test_strings_are_texts(events):
    texts = events['stream'][:]
    assert len(texts) == events.entries and set(map(type, texts)) == {str}
    assert events['stream'][10:12] == texts[10:12] and events['stream'][-1] == texts[-1]
    assert ''.join(texts).encode() == events['stream'].values.tobytes()
    assert events['stream'][5:5] == []


def test_what_has_no_values_says_its_parts(events):
    with pytest.raises(TypeError, match="offsets, '_0'"):
        events['muons'][:]
    with pytest.raises(TypeError, match='has no offsets'):
        events.field('weight').offsets
    assert not hasattr(events.field('weight'), 'offsets') and hasattr(events.field('muons'), 'offsets')
    assert set(np.unique(events['comment'].tags)) <= {0, 1, 2}
    assert len(events['comment'].index) == events.entries
    assert events['muons']['_0/pt'][3] == events['muons/_0/pt'][3]
    assert [field.name for field in events['vertex'].fields] == ['x', 'y', 'z']


def test_wrappers_and_arrays_are_their_values(events):
    assert events['trigger'].dtype == np.uint8
    assert events['beam_spot'].shape == events.field('beam_spot/_0').shape


@pytest.mark.parametrize('name', ['structures', 'structures_in_fortran_order', 'blocks'])
def test_arrays_of_other_formats(data, name):
    with ntuple.open(data / f'{name}.blp') as file:
        dataset = file.only()
        for field in dataset.fields:
            values = dataset[field.path]
            assert values.shape == field.shape and len(values) == dataset.entries
            assert np.array_equal(field[1:], values[1:])


def test_arrays_have_their_values_whatever_their_order(data):
    expected = json.loads((data / 'structures.json').read_text())['rows']
    expected = np.array([[[tuple(value.values()) for value in line] for line in row] for row in expected],
                        [('x', '<i4'), ('y', '<f8')])
    for name in 'structures', 'structures_in_fortran_order':
        with ntuple.open(data / f'{name}.blp') as file:
            dataset = file.only()
            for path, values in (('values', expected), ('values/x', expected['x']),
                                 ('values/y', expected['y'])):
                field = dataset.field(path)
                for first, end in (0, 2), (0, 1), (1, 2), (1, 1):
                    for found in (field[first:end], dataset.arrays(path, entries=(first, end))[path]):
                        assert found.shape == values[first:end].shape, (name, path)
                        assert np.array_equal(found, values[first:end]), (name, path)
                assert np.array_equal(field[1], values[1]) and np.array_equal(dataset[path], values)
                again = dataset.arrays(path, out=dataset.arrays(path))[path]
                assert np.array_equal(again, values)


def test_bytes_are_files(example):
    content = example.read_bytes()
    for source in (content, bytearray(content), memoryview(content), np.frombuffer(content, np.uint8)):
        with ntuple.open(source) as file, ntuple.open(example) as other:
            assert list(file) == list(other)
            assert np.array_equal(file['Events']['weight'], other['Events']['weight'])


def test_names_lead_to_datasets(example):
    with ntuple.open(example) as file:
        assert list(file) == ['Events', 'calibration/Constants'] and len(file) == 2
        assert 'Events' in file and 'Nothing' not in file
        dataset = file['Events']
        assert (dataset.name, dataset.entries, dataset.format, dataset.cycle) == ('Events', 1000,
                'rntuple', 1)
        assert 'weight' in dataset and 'muons/_0/pt' in dataset and 'pt' not in dataset
        assert list(dataset)[:3] == dataset.keys()[:3] == ['run', 'event', 'weight']
    with ntuple.open(example.parent / 'types.root') as file:
        assert file.only().path in file


def test_a_pattern_names_columns(data):
    """NanoAOD-like: the values by another reader."""
    import json
    expected = json.loads((data / 'nano.json').read_text())['datasets']['Events']['fields']
    with ntuple.open(data / 'nano.root') as file:
        events = file['Events']
        assert [field.path for field in events.match('Muon_*')] == ['Muon_pt', 'Muon_eta', 'Muon_charge']
        arrays = events.arrays('Muon_*')
        assert list(arrays) == [path + end for path in ('Muon_pt', 'Muon_eta', 'Muon_charge') for end
                                in ('', '/_0')]
        for name in 'Muon_pt', 'Muon_eta', 'Muon_charge':
            offsets = arrays[name]
            for entry, values in expected[name]['sample'].items():
                found = arrays[f'{name}/_0'][offsets[int(entry)]:offsets[int(entry) + 1]]
                assert found.tolist() == np.array(values, found.dtype).tolist()
        assert list(events.arrays(['MET_pt', 'Jet_*'], (0, 10))) == ['MET_pt', 'Jet_pt', 'Jet_pt/_0',
                                                                     'Jet_mass', 'Jet_mass/_0']
        assert list(events.arrays('MET_pt')) == ['MET_pt']


def test_a_name_without_meaning_gets_a_similar_one(data):
    with ntuple.open(data / 'nano.root') as file:
        with pytest.raises(ntuple.NotFoundError, match='did you mean Muon_pt'):
            file['Events']['Muon_ptt']
        with pytest.raises(ntuple.NotFoundError, match='did you mean Events'):
            file['events']
        with pytest.raises(ntuple.NotFoundError, match='no field'):
            file['Events'].arrays('Electron_*')


def by_uproot(path, dataset, pattern):
    uproot = pytest.importorskip('uproot')
    arrays = uproot.open(path)[dataset].arrays(filter_name=pattern)
    return {name: arrays[name].to_list() for name in arrays.fields}


def by_pylance(path, dataset, pattern):
    from fnmatch import fnmatch
    table = pytest.importorskip('lance.file').LanceFileReader(str(path)).read_all().to_table()
    return {name: table[name].to_pylist() for name in table.column_names if fnmatch(name, pattern)}


def rows_of(arrays, name):
    """The rows of a number or of a list of numbers, from what arrays() returned."""
    [items] = [path for path in arrays if path.startswith(f'{name}/')] or [None]
    if not items:
        return arrays[name].tolist()
    values, offsets = arrays[items], arrays[name].tolist()
    return [values[a:b].tolist() for a, b in zip(offsets, offsets[1:])]


def without_nulls(rows):
    """In NumPy, null rows are zeros, and of lists they have no items."""
    if any(isinstance(row, list) for row in rows):
        return [[item or 0 for item in row or []] for row in rows]
    return [row or 0 for row in rows]


@pytest.mark.parametrize('file, dataset, pattern, names, read', [
    ('nano.root', 'Events', 'Muon_*', ['Muon_pt', 'Muon_eta', 'Muon_charge'], by_uproot),
    ('trees/trees_containers.root', 'containers', 'v_u*', ['v_uchar', 'v_ushort', 'v_uint', 'v_ulong'],
     by_uproot),
    ('lance_numbers_2.1.lance', 'lance_numbers_2.1', 'uint*', ['uint8', 'uint16', 'uint32', 'uint64'],
     by_pylance),
    ('lance_nested_2.1.lance', 'lance_nested_2.1', 'l*_*list', ['large_list'], by_pylance)])
def test_a_pattern_is_the_same_as_numpy_arrow_and_awkward(data, file, dataset, pattern, names, read):
    expected = read(data / file, dataset, pattern)
    assert set(names) <= set(expected)     # uproot adds the collection that projected fields show
    pyarrow, awkward = pytest.importorskip('pyarrow'), pytest.importorskip('awkward')
    columns = ntuple.open(data / file)[dataset]
    arrays = columns.arrays(pattern)
    assert [path for path in arrays if '/' not in path] == names
    table = pyarrow.table(columns.select(pattern))
    assert table.column_names == names
    jagged = awkward.from_arrow(table)
    for name in names:
        assert table[name].to_pylist() == jagged[name].to_list() == expected[name]
        assert rows_of(arrays, name) == without_nulls(expected[name])


def test_a_tree_beside_a_directory_of_its_name_has_the_name_of_the_mounted_tree(tmp_path):
    pytest.importorskip('uproot')
    sys.path.insert(0, str(TESTS / 'support'))
    from shared_name import write_shared_name
    write_shared_name(tmp_path / 'shared.root')
    with ntuple.open(tmp_path / 'shared.root') as file:
        assert list(file) == ['run~2', 'run/ev']
        assert [dataset.path for dataset in file.values()] == list(file)
        assert file['run~2']['x'].tolist() == [7] and file['run~2'].name == 'run'
        assert file['run/ev']['y'].tolist() == [8]
        assert file['run~2'].layout() and 'run' not in file
        with pytest.raises(KeyError, match="has no dataset 'run': did you mean run~2?"):
            file['run']
    with ntuple.open(tmp_path / 'shared.root', entries={'run~2': (0, 0)}) as file:
        assert file['run~2'].entries == 0


def test_what_cannot_be_read_says_why(data):
    field = ntuple.open(data / 'trees' / 'trees_other_file.root')['split']['i']
    assert not hasattr(field, 'offsets')
    for use in (lambda: field.offsets, lambda: field[:], lambda: field.values, lambda: field.valid):
        with pytest.raises(ntuple.UnsupportedError, match='^i: its data are in another file') as caught:
            use()
        assert caught.value.status == 'unsupported'


def test_paths_are_texts(events):
    for path in 0, ('run', 'event'), ['run', 'event'], None, b'run':
        with pytest.raises(TypeError, match=f'expected a path as str, found {type(path).__name__}'):
            events[path]
    for use in (lambda: events.arrays([0]), lambda: events.select([0]), lambda: events.file[0]):
        with pytest.raises(TypeError, match='expected a path as str, found int'):
            use()


def test_all_arrays_are_those_of_all_fields(data):
    dataset = ntuple.open(data / 'nano.root')['Events']
    found, expected = dataset.arrays(), dataset.arrays('*')
    assert list(found) == list(expected)
    assert all(np.array_equal(found[name], expected[name], equal_nan=True) for name in found)
    assert list(next(dataset.iterate())) == list(expected)


def test_strings_in_arrays_name_the_libraries_that_have_them(events):
    with pytest.raises(TypeError, match="^stream: an array cannot hold strings: use library='ak' or 'pa'"):
        events.arrays()


def test_a_pattern_without_fields_is_named_as_a_pattern(events):
    with pytest.raises(ntuple.NotFoundError, match=r"has no field that matches 'nope\*'"):
        events.arrays(['nope*'])
