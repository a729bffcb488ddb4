# SPDX-License-Identifier: MIT
"""Many files as one: against uproot's values of each file, one after the other."""
import json
import os

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


def test_fields_that_differ_are_refused_or_merged():
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
    with pytest.warns(UserWarning, match='1 of 2 files is skipped: .*b.root: '):
        assert ntuple.chain(f'{tmp_path}/*.root', missing='skip')['compressed'].entries == 1000
    with pytest.raises(ntuple.SourceNotFoundError):
        ntuple.open(f'{tmp_path}/none*.root')
    with pytest.raises(ValueError, match="'refuse' or 'skip'"):
        ntuple.chain(FILES, missing='maybe')
    with pytest.raises(ntuple.ArgumentError, match='at least one file'):
        ntuple.chain([])


# ---- an index of the entries ----

def copied(folder):
    for path in FILES:
        (folder / path.name).write_bytes(path.read_bytes())
    return f'{folder}/*.root', folder / 'index.jsonl'


def ruin(path):
    """Other bytes of the same file, with the same times: only opening it shows this."""
    status = path.stat()
    with open(path, 'r+b') as file:
        file.write(b'ruined')
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_with_an_index_files_are_opened_when_values_are_read(tmp_path):
    pattern, index = copied(tmp_path)
    assert ntuple.chain(pattern, index=index)['compressed'].entries == 3000
    assert [json.loads(line)['datasets'][0]['entries'] for line in open(index)] == [1000] * 3
    expected = of_all('ramp')
    dataset = ntuple.chain(pattern, index=index)['compressed']
    assert dataset.entries == 3000 and list(dataset) == ['ramp', 'noise', 'values', 'text']
    assert (dataset['ramp'] == expected).all()
    for read in (lambda it: len(it.arrays('values')['values']), lambda it: it.field('ramp').shape[0] + 1,
                 lambda it: sum(len(part['values']) - 1 for part in it.iterate('values', 700)) + 1):
        assert read(ntuple.chain(pattern, index=str(index))['compressed']) == 3001
    ruin(tmp_path / FILES[-1].name)
    dataset = ntuple.chain(pattern, index=index)['compressed']
    assert dataset.entries == 3000
    assert (dataset.arrays('ramp', (0, 2000))['ramp'] == expected[:2000]).all()
    with pytest.raises(ntuple.Error, match=FILES[-1].name):
        dataset['ramp']
    with pytest.raises(ntuple.Error, match=FILES[-1].name):
        ntuple.chain(pattern, index=index, union=True)


def test_with_an_index_all_else_is_as_without(tmp_path):
    pattern, index = copied(tmp_path)
    assert ntuple.chain(pattern, index=index).only().entries == 3000

    def again(**options):
        return ntuple.chain(pattern, index=index, **options)['compressed']
    expected = of_all('ramp')
    assert (again(entries=(999, 1001))['ramp'] == expected[999:1001]).all()
    assert again(entries=expected > 100).entries == (expected > 100).sum()
    assert len(again().file.layout()) == len(ntuple.chain(pattern).layout())
    assert again().schema.fields == ntuple.chain(pattern)['compressed'].schema.fields
    pyarrow = pytest.importorskip('pyarrow')
    assert (pyarrow.table(again())['ramp'].to_numpy() == expected).all()
    assert pyarrow.table(again().select('ramp', (5, 9))).num_rows == 4


def test_an_index_that_others_may_write_is_refused(tmp_path):
    pattern, index = copied(tmp_path)
    ntuple.chain(pattern, index=index)
    index.chmod(0o666)
    with pytest.raises(ntuple.ArgumentError, match='index.jsonl'):
        ntuple.chain(pattern, index=index)
    index.chmod(0o644)
    index.write_text('a letter\n')
    with pytest.raises(ntuple.ArgumentError, match='is not an index of files'):
        ntuple.chain(pattern, index=index)
    assert index.read_text() == 'a letter\n'
