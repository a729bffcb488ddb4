# SPDX-License-Identifier: MIT
"""Selections of entries for opening a file."""
from __future__ import annotations

import os
from typing import Any, Tuple, Union

import numpy as np

from . import _ntuple

Entries = Union[str, 'os.PathLike[str]', Tuple[int, int], Any]


def _runs(entries: Any, count: int) -> Any:
    """The runs of consecutive entries, each as a pair of first entry and number of entries."""
    array = np.asarray(entries)
    if array.ndim != 1:
        raise ValueError(f'entries: expected an array of one dimension, found {array.ndim}')
    if array.dtype == np.bool_:
        if len(array) != count:
            raise ValueError(f'entries: {len(array)} bools, but there are {count} entries')
        array = np.flatnonzero(array)
    if len(array) == 0:
        return np.empty((0, 2), np.uint64)
    if array.dtype.kind not in 'iu':
        raise TypeError(f'entries: expected integers or bools, found {array.dtype}')
    if array.dtype.kind == 'i' and array.min() < 0:
        raise ValueError(f'entries: element {int(np.argmax(array < 0))} is below 0')
    numbers = array.astype(np.uint64)
    wrong = numbers[1:] <= numbers[:-1]
    if wrong.any():
        raise ValueError(f'entries: element {int(np.argmax(wrong)) + 1} is not above the previous one: '
                         f'list entries in ascending order, each only once')
    begins = np.concatenate(([0], np.flatnonzero(np.diff(numbers) != 1) + 1))
    return np.stack((numbers[begins], np.diff(np.append(begins, len(numbers))).astype(np.uint64)), axis=1)


def select(file: _ntuple.File, dataset: int, entries: Entries) -> None:
    """Select entries. `entries` is a file that lists them, (first, end), an array of their numbers,
    or an array with a bool for each."""
    if isinstance(entries, (str, os.PathLike)):
        _ntuple.dataset_select_by_file(file, dataset, os.fsencode(entries))
        return
    count = _ntuple.dataset_info(file, dataset)['stored_entries']
    if isinstance(entries, tuple):
        first, end = entries
        if not 0 <= first <= end <= count:
            raise IndexError(f'entries {first} to {end} do not exist: there are {count}')
        runs = np.array([[first, end - first]], np.uint64)
    else:
        runs = _runs(entries, count)
    _ntuple.dataset_select(file, dataset, np.ascontiguousarray(runs))
