# SPDX-License-Identifier: MIT
"""Datasets as datasets of Ray. Each read task has whole clusters of one file, and opens the file by its
address where it runs.

>>> import ntuple, ntuple.ray, ray
>>> events = ntuple.open('tests/data/example.root')['Events']
>>> total = ray.data.read_datasource(ntuple.ray.NtupleDatasource(events)).sum('weight')
"""
from __future__ import annotations

import functools
from typing import Any, Dict, Iterator, List, Optional

from . import _engines, _lazy
from ._engines import PARTITION_BYTES, Columns
from ._file import Dataset
from ._parts import Partition

_source = _lazy.module('ray.data.datasource', "'ray[data]'")
_block = _lazy.module('ray.data.block', "'ray[data]'")


def _read(part: Partition, paths: List[str], limit: Optional[int]) -> Iterator[Any]:
    table = _engines.table(part, paths)
    yield table if limit is None else table.slice(0, limit)


class NtupleDatasource(_source.Datasource):  # type: ignore[misc, name-defined]
    """A source for ray.data.read_datasource().

    columns  paths or patterns of fields; None: all. select_columns() restricts them further, before
             anything is read
    bytes    most stored bytes of a read task, if a cluster is not larger
    """

    def __init__(self, dataset: Dataset, columns: Columns = None, *, bytes: int = PARTITION_BYTES) -> None:
        super().__init__()
        self._projection_map: Optional[Dict[str, str]] = None   # of Ray, which sets it in a copy
        self._parts = dataset.partitions(bytes, columns)
        self._paths: Dict[str, List[str]] = _engines.paths_by_name(dataset, columns)
        self._schema = _engines.schema(dataset, columns)

    def get_name(self) -> str:
        return 'ntuple'

    def supports_projection_pushdown(self) -> bool:
        return True

    def estimate_inmemory_data_size(self) -> Optional[int]:
        return sum(part.bytes for part in self._parts)

    def get_read_tasks(self, parallelism: int, per_task_row_limit: Optional[int] = None,
                       data_context: Any = None) -> List[Any]:
        chosen = None if self._projection_map is None else list(self._projection_map)
        # No column at all is asked for by count(), which still needs rows.
        names = chosen or list(self._paths)[:None if chosen is None else 1]
        paths = _engines.paths_of(self._paths, names)
        schema = _lazy.module('pyarrow').schema([self._schema.field(name) for name in names])
        return [_source.ReadTask(functools.partial(_read, part, paths, per_task_row_limit),
                                 _metadata(part), schema) for part in self._parts]


def _metadata(part: Partition) -> Any:
    return _block.BlockMetadata(num_rows=len(part), size_bytes=part.bytes, input_files=[part.file],
                                exec_stats=None)
