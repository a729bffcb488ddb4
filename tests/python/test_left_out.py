# SPDX-License-Identifier: MIT
"""Fields that cannot be shown: damage raises, what this version or Arrow does not have is left out."""
import os

import ntuple
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

