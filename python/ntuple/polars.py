# SPDX-License-Identifier: MIT
"""Datasets as lazy frames of polars.

>>> import ntuple, ntuple.polars, polars
>>> events = ntuple.polars.scan(ntuple.open('tests/data/example.root')['Events'])
>>> runs = events.filter(polars.col('weight') > 1.2).select('run').collect()
"""
from __future__ import annotations

from typing import Any, Iterator, List, Optional

from . import _engines, _lazy
from ._engines import Columns
from ._file import Dataset

_polars = _lazy.module('polars')


def scan(dataset: Dataset, columns: Columns = None) -> Any:
    """A polars.LazyFrame. It decodes the columns that a query uses, a cluster at a time, and for
    head() only the first clusters.

    columns  paths or patterns of fields; None: all
    """
    paths = _engines.paths_by_name(dataset, columns)
    empty = _polars.from_arrow(_engines.schema(dataset, columns).empty_table())

    def read(names: Optional[List[str]], predicate: Any, rows: Optional[int],
             batch_size: Optional[int]) -> Iterator[Any]:
        end = dataset.entries if rows is None else min(rows, dataset.entries)
        chosen = list(paths) if names is None else names
        if not chosen:
            yield _polars.DataFrame(height=end)
            return
        for batch in dataset.scan(_engines.paths_of(paths, chosen), (0, end)):
            frame = _polars.from_arrow(batch).select(chosen)
            yield frame if predicate is None else frame.filter(predicate)

    return _lazy.module('polars.io.plugins').register_io_source(read, schema=empty.schema)
