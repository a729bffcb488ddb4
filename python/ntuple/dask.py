# SPDX-License-Identifier: MIT
"""Datasets as collections of dask: arrays of dask-awkward and data frames. Each partition has whole
clusters of one file. Workers open it by its address, need no mount, and read the columns that the
computation uses.

>>> import ntuple, ntuple.dask
>>> events = ntuple.open('tests/data/example.root')['Events']
>>> muons = ntuple.dask.awkward(events).muons
>>> hard = muons.pt[muons.pt > 30].compute()
>>> frame = ntuple.dask.dataframe(events, ['run', 'weight'])
"""
from __future__ import annotations

import importlib
from typing import Any, Dict, List, Optional, Sequence

from . import _engines, _lazy
from ._engines import PARTITION_BYTES, Columns
from ._file import Dataset
from ._parts import Partition

_lazy.module('dask')


class _Frames:
    """Reads a partition as a data frame. Numbers that cannot be null are NumPy's, all else Arrow's."""

    def __init__(self, paths: Dict[str, List[str]]) -> None:
        self._paths = paths

    def convert(self, table: Any) -> Any:
        pandas, arrow = _lazy.module('pandas'), _lazy.module('pyarrow')
        frame = {}
        for field, column in zip(table.schema, table.columns):
            is_plain = not field.nullable and (arrow.types.is_primitive(field.type))
            mapper = None if is_plain else pandas.ArrowDtype
            frame[field.name] = column.to_pandas(types_mapper=mapper)
        return pandas.DataFrame(frame, copy=False)

    def __call__(self, part: Partition, first: int, columns: Optional[Sequence[str]] = None) -> Any:
        names = list(self._paths) if columns is None else list(columns)
        paths = _engines.paths_of(self._paths, names)
        pandas = _lazy.module('pandas')
        index = pandas.RangeIndex(first, first + len(part))
        frame = self.convert(_engines.table(part, paths)) if paths else pandas.DataFrame(index=index)
        frame = frame.reindex(columns=names, copy=False) if list(frame.columns) != names else frame
        return frame.set_index(index)


def dataframe(dataset: Dataset, columns: Columns = None, *, bytes: int = PARTITION_BYTES) -> Any:
    """A data frame of dask, whose index counts the entries.

    columns  paths or patterns of fields; None: all. Only columns that are used are read
    bytes    most stored bytes of a partition, if a cluster is not larger
    """
    frames = _Frames(_engines.paths_by_name(dataset, columns))
    parts = dataset.partitions(bytes, columns)
    borders = _engines.borders(parts)
    meta = frames.convert(_engines.schema(dataset, columns).empty_table())
    if not parts:   # the collections need one
        return _lazy.module('dask.dataframe').from_pandas(meta, npartitions=1)
    divisions = (*borders[:-1], borders[-1] - 1)
    return _lazy.module('dask.dataframe').from_map(frames, parts, borders[:-1], meta=meta,
                                                   divisions=divisions, label='ntuple')


# ---- what needs other packages ----

_ELSEWHERE = {'awkward': '_dask_awkward', 'Mount': '_dask_mount'}


def __getattr__(name: str) -> Any:
    if name in _ELSEWHERE:
        return getattr(importlib.import_module(f'ntuple.{_ELSEWHERE[name]}'), name)
    raise AttributeError(name)
