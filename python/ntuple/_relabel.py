# SPDX-License-Identifier: MIT
"""Batches of pyarrow with another schema for the same bytes."""
from __future__ import annotations

from typing import Any, Callable, Tuple

from . import _lazy


def with_fields(of: Any, change: Callable[[Any], Any]) -> Any:
    """A type whose fields are what `change` makes of them."""
    pyarrow = _lazy.module('pyarrow')
    types = pyarrow.types
    if types.is_struct(of):
        return pyarrow.struct([change(member) for member in of])
    if types.is_list(of):
        return pyarrow.list_(change(of.value_field))
    if types.is_large_list(of):
        return pyarrow.large_list(change(of.value_field))
    if types.is_fixed_size_list(of):
        return pyarrow.list_(change(of.value_field), of.list_size)
    if types.is_map(of):
        return pyarrow.map_(change(of.key_field), change(of.item_field), of.keys_sorted)
    if types.is_union(of):
        return pyarrow.union([change(of.field(i)) for i in range(of.num_fields)], of.mode, of.type_codes)
    return of


def schema(of: Any, change: Callable[[Any], Any]) -> Any:
    """A schema whose fields are what `change` makes of them."""
    return _lazy.module('pyarrow').schema([change(field) for field in of], of.metadata)


class _Batch:
    def __init__(self, batch: Any, schema: Any) -> None:
        self._batch = batch
        self._schema = schema

    def __arrow_c_array__(self, requested_schema: object = None) -> Tuple[object, object]:
        return self._schema.__arrow_c_schema__(), self._batch.__arrow_c_array__()[1]


def table(batches: Any, schema: Any) -> Any:
    """A pyarrow.Table of batches, with another schema. No values are copied."""
    pyarrow = _lazy.module('pyarrow')
    return pyarrow.Table.from_batches([pyarrow.record_batch(_Batch(batch, schema)) for batch in batches],
                                      schema)
