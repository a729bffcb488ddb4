# SPDX-License-Identifier: MIT
"""Arrow data for Awkward Array, which has no maps: they become lists of records."""
from __future__ import annotations

from typing import Any

from . import _lazy, _relabel


def _without_maps(field: Any) -> Any:
    """The bytes of a map are those of a list of records."""
    pyarrow = _lazy.module('pyarrow')
    of = _relabel.with_fields(field.type, _without_maps)
    if pyarrow.types.is_map(of):
        members = pyarrow.struct([of.key_field, of.item_field])
        of = pyarrow.list_(pyarrow.field('item', members, nullable=False))
    return field.with_type(of)


def schema(of: Any) -> Any:
    """The schema of a table as array() reads it."""
    return _relabel.schema(of, _without_maps)


def array(table: Any) -> Any:
    """An Awkward array of a pyarrow.Table. No values are copied."""
    return _lazy.module('awkward').from_arrow(_relabel.table(table.to_batches(), schema(table.schema)))
