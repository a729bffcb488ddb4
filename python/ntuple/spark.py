# SPDX-License-Identifier: MIT
"""Datasets as data frames of Spark 4. Each partition has whole clusters of one file, and opens the file
by its address in the executor.

>>> import ntuple.spark
>>> spark.dataSource.register(ntuple.spark.NtupleDataSource)
>>> events = spark.read.format('ntuple').option('dataset', 'Events').load('https://host/run.root')
"""
from __future__ import annotations

from typing import Any, Iterator, List

from . import _engines, _file, _lazy
from ._engines import PARTITION_BYTES

_source = _lazy.module('pyspark.sql.datasource', "'pyspark[sql]>=4'")
_types = _lazy.module('pyspark.sql.pandas.types', "'pyspark[sql]>=4'")


def _widened(kind: Any) -> Any:
    """The Arrow type of values that Spark has: no unsigned numbers and no halves."""
    arrow = _lazy.module('pyarrow')
    wider = {arrow.uint8(): arrow.int16(), arrow.uint16(): arrow.int32(), arrow.uint32(): arrow.int64(),
             arrow.uint64(): arrow.decimal128(20), arrow.float16(): arrow.float32()}
    if arrow.types.is_struct(kind):
        return arrow.struct([field.with_type(_widened(field.type)) for field in kind])
    if arrow.types.is_map(kind):
        return arrow.map_(_widened(kind.key_type), kind.item_field.with_type(_widened(kind.item_type)))
    if hasattr(kind, 'value_field'):   # lists of all sorts
        return arrow.list_(kind.value_field.with_type(_widened(kind.value_type)))
    return wider.get(kind, kind)


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

    def _chosen(self) -> Any:
        """The dataset and the columns."""
        file, columns = _file.open(self.options['path']), self.options.get('columns')
        dataset = file[self.options['dataset']] if 'dataset' in self.options else file.only()
        return dataset, columns.split(',') if columns else None

    def schema(self) -> Any:
        fields = list(_engines.schema(*self._chosen()))
        return _types.from_arrow_type(_widened(_lazy.module('pyarrow').struct(fields)))

    def reader(self, schema: Any) -> NtupleReader:
        dataset, columns = self._chosen()
        paths = _engines.paths_of(_engines.paths_by_name(dataset, columns), schema.names)
        parts = dataset.partitions(int(self.options.get('bytes', PARTITION_BYTES)), paths)
        return NtupleReader(parts, paths, _types.to_arrow_schema(schema))


class NtupleReader(_source.DataSourceReader):  # type: ignore[misc, name-defined]
    """Reads the columns of an Arrow schema."""

    def __init__(self, parts: List[Any], paths: List[str], schema: Any) -> None:
        self._parts, self._paths, self._schema = parts, paths, schema

    def partitions(self) -> List[Any]:
        return [_source.InputPartition(part) for part in self._parts]

    def read(self, partition: Any) -> Iterator[Any]:
        table = _engines.table(partition.value, self._paths).select(self._schema.names)
        yield from table.cast(self._schema).to_batches()
