# SPDX-License-Identifier: MIT
"""Datasets as data frames of Spark 4. Each partition has whole clusters of one file, and opens the file
by its address in the executor.

>>> import ntuple.spark
>>> spark.dataSource.register(ntuple.spark.NtupleDataSource)
>>> events = spark.read.format('ntuple').option('dataset', 'Events').load('https://host/run.root')
"""
from __future__ import annotations

from typing import Any, Iterator, List, Optional

from . import _engines, _file, _lazy
from ._engines import PARTITION_BYTES
from ._file import Dataset

_source = _lazy.module('pyspark.sql.datasource', "'pyspark[sql]>=4'")
_types = _lazy.module('pyspark.sql.pandas.types', "'pyspark[sql]>=4'")


def _widened(kind: Any) -> Any:
    """The Arrow type of values that Spark has: signed numbers only, and lists with short offsets."""
    arrow = _lazy.module('pyarrow')
    types = arrow.types
    plain = {arrow.uint8(): arrow.int16(), arrow.uint16(): arrow.int32(), arrow.uint32(): arrow.int64(),
             arrow.uint64(): arrow.decimal128(20), arrow.float16(): arrow.float32(),
             arrow.large_string(): arrow.string(), arrow.large_binary(): arrow.binary()}
    if types.is_struct(kind):
        return arrow.struct([_widened_field(field) for field in kind])
    if types.is_map(kind):
        return arrow.map_(_widened(kind.key_type), _widened_field(kind.item_field))
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return arrow.list_(_widened_field(kind.value_field))
    return plain.get(kind, kind)


def _widened_field(field: Any) -> Any:
    return _lazy.module('pyarrow').field(field.name, _widened(field.type), field.nullable)


def _schema(schema: Any) -> Any:
    return _lazy.module('pyarrow').schema([_widened_field(field) for field in schema])


class NtupleDataSource(_source.DataSource):  # type: ignore[misc, name-defined]
    """The format 'ntuple'. Options, besides the path, which may be a pattern:

    dataset  its path in the file; without it the only one
    columns  paths or patterns of fields, separated by commas; a schema that is given to Spark, such as
             'run long', restricts them further
    bytes    most stored bytes of a partition, if a cluster is not larger
    """

    @classmethod
    def name(cls) -> str:
        return 'ntuple'

    def _dataset(self) -> Dataset:
        file = _file.open(self.options['path'])
        return file[self.options['dataset']] if 'dataset' in self.options else file.only()

    def _columns(self) -> Optional[List[str]]:
        columns = self.options.get('columns')
        return columns.split(',') if columns else None

    def schema(self) -> Any:
        return _types.from_arrow_schema(_schema(_engines.schema(self._dataset(), self._columns())))

    def reader(self, schema: Any) -> NtupleReader:
        return NtupleReader(self._dataset(), self._columns(), _types.to_arrow_schema(schema),
                            int(self.options.get('bytes', PARTITION_BYTES)))


class NtupleReader(_source.DataSourceReader):  # type: ignore[misc, name-defined]
    """Reads the columns of an Arrow schema."""

    def __init__(self, dataset: Dataset, columns: Optional[List[str]], schema: Any, max_bytes: int) -> None:
        self._paths = _engines.paths_of(_engines.paths_by_name(dataset, columns), schema.names)
        self._parts = dataset.partitions(max_bytes, self._paths)
        self._schema = schema

    def partitions(self) -> List[Any]:
        return [_source.InputPartition(part) for part in self._parts]

    def read(self, partition: Any) -> Iterator[Any]:
        table = _engines.table(partition.value, self._paths).select(self._schema.names)
        yield from table.cast(self._schema).to_batches()
