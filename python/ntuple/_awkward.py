# SPDX-License-Identifier: MIT
"""Arrow data for Awkward Array, which has no maps: they become lists of records."""
from __future__ import annotations

from typing import Any, Tuple

from . import _lazy


def _type(of: Any) -> Any:
    """A type with lists of records for the maps at every depth. The bytes of both are the same."""
    pyarrow = _lazy.module('pyarrow')
    types = pyarrow.types
    if types.is_map(of):
        members = pyarrow.struct([_field(of.key_field), _field(of.item_field)])
        return pyarrow.list_(pyarrow.field('item', members, nullable=False))
    if types.is_struct(of):
        return pyarrow.struct([_field(member) for member in of])
    if types.is_list(of):
        return pyarrow.list_(_field(of.value_field))
    if types.is_large_list(of):
        return pyarrow.large_list(_field(of.value_field))
    if types.is_fixed_size_list(of):
        return pyarrow.list_(_field(of.value_field), of.list_size)
    if types.is_union(of):
        return pyarrow.union([_field(of.field(i)) for i in range(of.num_fields)], of.mode, of.type_codes)
    return of


def _field(field: Any) -> Any:
    return field.with_type(_type(field.type))


def schema(of: Any) -> Any:
    """The schema of what table() returns for a table of this one."""
    return _lazy.module('pyarrow').schema([_field(field) for field in of], of.metadata)


class _Batch:
    """A batch with another schema for the same bytes."""

    def __init__(self, batch: Any, schema: Any) -> None:
        self._batch = batch
        self._schema = schema

    def __arrow_c_array__(self, requested_schema: object = None) -> Tuple[object, object]:
        return self._schema.__arrow_c_schema__(), self._batch.__arrow_c_array__()[1]


def array(table: Any) -> Any:
    """An Awkward array of a pyarrow.Table. No values are copied."""
    pyarrow = _lazy.module('pyarrow')
    changed = schema(table.schema)
    batches = [pyarrow.record_batch(_Batch(batch, changed)) for batch in table.to_batches()]
    return _lazy.module('awkward').from_arrow(pyarrow.Table.from_batches(batches, changed))
