# SPDX-License-Identifier: MIT
"""Datasets as arrays of dask-awkward."""
from __future__ import annotations

from typing import Any, Dict, FrozenSet, List, Optional

from . import _awkward, _engines, _lazy
from ._engines import PARTITION_BYTES, Columns
from ._file import Dataset
from ._parts import Partition

_collections = _lazy.module('dask_awkward', 'dask-awkward')
_columnar = _lazy.module('dask_awkward.lib.io.columnar', 'dask-awkward')


class _Arrays(_columnar.ColumnProjectionMixin):  # type: ignore[misc, name-defined]
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
        return _lazy.module('awkward').from_arrow_schema(_awkward.schema(self._schema))

    def _path(self, name: str) -> str:
        """Parts of fields that have no names, as of variants, are read with the field around them."""
        while name not in self._paths:
            name = name.rpartition('.')[0]
        return self._paths[name]

    def project_columns(self, columns: FrozenSet[str]) -> Any:
        chosen = list(dict.fromkeys(self._path(name) for name in sorted(columns)))
        return _Arrays(self._schema, self._paths, chosen)

    def __call__(self, part: Partition) -> Any:
        awkward = _lazy.module('awkward')
        if self._chosen == []:   # only the number of entries is asked for
            return awkward.Array(awkward.contents.RecordArray([], [], length=len(part)))
        return _awkward.array(_engines.table(part, self._chosen))


def awkward(dataset: Dataset, columns: Columns = None, *, bytes: int = PARTITION_BYTES) -> Any:
    """An array of dask-awkward. The arguments are those of dataframe()."""
    chosen = None if columns is None else [columns] if isinstance(columns, str) else list(columns)
    reader = _Arrays(_engines.schema(dataset, columns), _engines.dotted_paths(dataset, columns), chosen)
    parts = dataset.partitions(bytes, columns)
    if not parts:   # the collections need one
        empty = _lazy.module('awkward').Array(reader.form.length_zero_array())
        return _collections.from_awkward(empty, 1)
    return _collections.from_map(reader, parts, label='ntuple', divisions=tuple(_engines.borders(parts)))
