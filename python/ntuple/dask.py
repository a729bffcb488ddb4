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

import itertools
from typing import Any, Dict, FrozenSet, List, Optional, Sequence

from . import _engines, _lazy
from ._engines import PARTITION_BYTES, Columns
from ._file import Dataset
from ._parts import Partition

_lazy.module('dask')


def _borders(parts: Sequence[Partition]) -> List[int]:
    """The first entry of each partition, and the number of entries."""
    return [0, *itertools.accumulate(map(len, parts))]


# ---- data frames ----

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
    borders = _borders(parts)
    meta = frames.convert(_engines.schema(dataset, columns).empty_table())
    if not parts:   # the collections need one
        return _lazy.module('dask.dataframe').from_pandas(meta, npartitions=1)
    divisions = (*borders[:-1], borders[-1] - 1)
    return _lazy.module('dask.dataframe').from_map(frames, parts, borders[:-1], meta=meta,
                                                   divisions=divisions, label='ntuple')


# ---- Awkward arrays ----

class _Arrays:
    """Reads a partition as an Awkward array: dask-awkward's protocol for functions whose columns it
    chooses."""

    behavior = None
    attrs = None
    use_optimization = True

    def __init__(self, schema: Any, paths: Dict[str, str], chosen: Optional[List[str]]) -> None:
        self._schema = schema
        self._paths = paths
        self._chosen = chosen   # None: all

    @property
    def form(self) -> Any:
        return _lazy.module('awkward').from_arrow_schema(self._schema)

    def _path(self, name: str) -> str:
        """Parts of fields that have no names, as of variants, are read with the field around them."""
        while name not in self._paths:
            name = name.rpartition('.')[0]
        return self._paths[name]

    def project_columns(self, columns: FrozenSet[str]) -> Any:
        chosen = list(dict.fromkeys(self._path(name) for name in sorted(columns)))
        return _arrays(self._schema, self._paths, chosen)

    def __call__(self, part: Partition) -> Any:
        awkward = _lazy.module('awkward')
        if self._chosen == []:   # only the number of entries is asked for
            return awkward.Array(awkward.contents.RecordArray([], [], length=len(part)))
        return awkward.from_arrow(_engines.table(part, self._chosen))


def _arrays(*arguments: Any) -> Any:
    """A reader, which is pickled by this function, as its class exists only where dask-awkward does."""
    mixin = _lazy.module('dask_awkward.lib.io.columnar', 'dask-awkward').ColumnProjectionMixin
    reader = type('Arrays', (_Reducible, _Arrays, mixin), {})(*arguments)
    reader.arguments = arguments
    return reader


class _Reducible:
    arguments: Any

    def __reduce__(self) -> Any:
        return _arrays, self.arguments


def awkward(dataset: Dataset, columns: Columns = None, *, bytes: int = PARTITION_BYTES) -> Any:
    """An array of dask-awkward. The arguments are those of dataframe()."""
    collections = _lazy.module('dask_awkward', 'dask-awkward')
    chosen = None if columns is None else [columns] if isinstance(columns, str) else list(columns)
    reader = _arrays(_engines.schema(dataset, columns), _engines.dotted_paths(dataset, columns), chosen)
    parts = dataset.partitions(bytes, columns)
    if not parts:   # the collections need one
        empty = _lazy.module('awkward').Array(reader.form.length_zero_array())
        return collections.from_awkward(empty, 1)
    return collections.from_map(reader, parts, label='ntuple', divisions=tuple(_borders(parts)))


# ---- mounts on workers ----

def __getattr__(name: str) -> Any:
    """Mount, a plugin of distributed, which the rest of this module does not need."""
    if name == 'Mount':
        from ._dask_mount import Mount
        return Mount
    raise AttributeError(name)
