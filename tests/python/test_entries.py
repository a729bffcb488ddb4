# SPDX-License-Identifier: MIT
"""Selections of entries when a file is opened: compared with NumPy's indexing of all of them."""
import ntuple
import numpy as np
import pytest


@pytest.fixture
def weight(events):
    return events['weight']


CHOICES = {
    'none': lambda count: np.zeros(count, bool),
    'all': lambda count: np.ones(count, bool),
    'last': lambda count: np.arange(count) == count - 1,
    'every second': lambda count: np.arange(count) % 2 == 1,
    'by chance': lambda count: np.random.default_rng(5).random(count) < 0.1,
}


@pytest.mark.parametrize('choose', CHOICES.values(), ids=CHOICES)
@pytest.mark.parametrize('write', [lambda mask: mask, lambda mask: np.flatnonzero(mask),
                                   lambda mask: list(np.flatnonzero(mask)),
                                   lambda mask: np.flatnonzero(mask).astype('>u4')],
                                   ids=['bools', 'numbers', 'list', 'big'])
def test_columns_are_what_numpy_picks(example, events, choose, write):
    mask = choose(events.entries)
    with ntuple.open(example, entries={'Events': write(mask)}) as file:
        chosen = file['Events']
        assert (chosen.entries, chosen.stored_entries) == (mask.sum(), len(mask))
        assert np.array_equal(chosen['weight'], events['weight'][mask])
        assert np.array_equal(chosen['trigger_bits'], events['trigger_bits'][mask])
        sizes = np.diff(events['muons'].offsets)
        assert np.array_equal(np.diff(chosen['muons'].offsets), sizes[mask])
        assert np.array_equal(chosen['muons/_0/pt'], events['muons/_0/pt'][np.repeat(mask, sizes)])
        names = [name for name, is_selected in zip(events['stream'][:], mask) if is_selected]
        assert chosen['stream'][:] == names


def test_a_range_or_a_file_chooses_too(example, weight, tmp_path):
    np.save(tmp_path / 'mask.npy', weight > 1)
    for entries, expected in (((3, 9), weight[3:9]), (tmp_path / 'mask.npy', weight[weight > 1])):
        with ntuple.open(example, entries={'Events': entries}) as file:
            assert np.array_equal(file['Events']['weight'], expected)
    with ntuple.open(example.with_name('lance_nested_2.1.lance'), entries=[0, 2]) as file:
        assert file.only().entries == 2


@pytest.mark.parametrize('entries, error, message', [
    ([3, 2], ValueError, 'element 1 is not above'),
    ([3, 3], ValueError, 'element 1 is not above'),
    ([-1], ValueError, 'element 0 is below 0'),
    ([1.5], TypeError, 'integers or bools'),
    ([[1]], ValueError, 'one dimension'),
    (np.ones(3, bool), ValueError, '3 bools, but there are 1000'),
    ([1000], ntuple.ArgumentError, 'the dataset has 1000'),
    ((5, 2000), IndexError, 'there are 1000'),
])
def test_what_does_not_fit_is_refused(example, entries, error, message):
    with pytest.raises(error, match=message):
        ntuple.open(example, entries={'Events': entries})
