# SPDX-License-Identifier: MIT
"""Many files as one: against uproot's values of each file, one after the other."""
import ntuple
import numpy as np
import pytest
from conftest import DATA

FILES = [DATA / f'compression_{name}.root' for name in ('lz4', 'none', 'zstd')]


def of_all(field):
    uproot = pytest.importorskip('uproot')
    return np.concatenate([uproot.open(path)['compressed'].arrays([field], library='np')[field] for path
                           in FILES])


def test_the_entries_follow_one_another():
    expected = of_all('ramp')
    for file in ntuple.chain(FILES), ntuple.open(FILES), ntuple.open([str(path) for path in FILES]):
        dataset = file['compressed']
        assert dataset.entries == len(expected)
        assert (dataset['ramp'] == expected).all()


def test_a_pattern_is_a_chain_unless_it_is_a_file(tmp_path):
    expected = of_all('noise')
    for path in FILES:
        (tmp_path / path.name).write_bytes(path.read_bytes())
    assert (ntuple.open(f'{tmp_path}/*.root')['compressed']['noise'] == expected).all()
    odd = tmp_path / 'run[1].root'
    odd.write_bytes(FILES[0].read_bytes())
    assert ntuple.open(odd)['compressed'].entries == 1000


def test_a_chain_has_no_versions(tmp_path):
    for source in FILES, f'{tmp_path}/*.root':
        with pytest.raises(ValueError, match='a chain has no versions'):
            ntuple.open(source, version=1)


def test_parts_are_the_whole():
    dataset = ntuple.chain(FILES)['compressed']
    parts = list(dataset.iterate(['ramp', 'values'], step=700))
    assert [len(part['ramp']) for part in parts] == [700, 700, 700, 700, 200]
    assert (np.concatenate([part['ramp'] for part in parts]) == of_all('ramp')).all()
    assert len(list(dataset.iterate(['ramp'], step=100, entries=(950, 1150)))) == 2
    with pytest.raises(ValueError, match='step: expected at least 1, found 0'):
        next(dataset.iterate(['ramp'], step=0))


def test_entries_are_chosen_over_all_files():
    file = ntuple.chain(FILES, entries=(999, 1001))
    assert (file['compressed']['ramp'] == of_all('ramp')[999:1001]).all()


def test_fields_that_differ_are_refused_or_united():
    pair = [DATA / 'lance_declared_2.2.lance', DATA / 'lance_drifted_2.2.lance']
    with pytest.raises(ntuple.IncompatibleError, match='field number differs'):
        ntuple.chain(pair)
    united = ntuple.chain(pair, union=True).only()
    assert 'added' in united and united.entries == sum(ntuple.open(path).only().entries for path in pair)


def test_what_does_not_open_is_refused_or_skipped(tmp_path):
    (tmp_path / 'a.root').write_bytes(FILES[0].read_bytes())
    (tmp_path / 'b.root').write_text('no columns')
    with pytest.raises(ntuple.FormatError, match='b.root'):
        ntuple.chain(f'{tmp_path}/*.root')
    assert ntuple.chain(f'{tmp_path}/*.root', missing='skip')['compressed'].entries == 1000
    with pytest.raises(ntuple.SourceNotFoundError):
        ntuple.open(f'{tmp_path}/none*.root')
    with pytest.raises(ValueError, match="'refuse' or 'skip'"):
        ntuple.chain(FILES, missing='maybe')
    with pytest.raises(ntuple.ArgumentError, match='at least one file'):
        ntuple.chain([])
