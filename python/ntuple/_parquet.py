# SPDX-License-Identifier: MIT
"""Parquet files, written by pyarrow."""
from __future__ import annotations

import os
import uuid
from typing import TYPE_CHECKING, Any, Container, Dict, Iterator, List, Optional, Set

from . import _errors, _relabel

if TYPE_CHECKING:
    from ._field import Field
    from ._file import Dataset
    from ._view import View

_GROUP_BYTES = 64 << 20


def _paths(fields: List[Dict[str, Any]], above: str = '') -> Iterator[Any]:
    """Each field with its path."""
    for field in fields:
        path = above + field['name']
        yield path, field
        yield from _paths(field.get('fields', []), f'{path}/')


def columns_of(dataset: Dataset) -> Optional[List[str]]:
    """Without collections of which projected fields show everything, as in NanoAOD. None: all."""
    tops = dataset.schema.fields
    shown = {field['source'] for _, field in _paths(tops) if 'source' in field}
    hidden = {top['name'] for top in tops if not top['type'] and top['name'] in shown
              and all(path in shown for path, field in _paths([top]) if field['kind'] != 'record')}
    return [field.path for field in dataset.fields if field.name not in hidden] if hidden else None


_NO_MEMBERS = 'a record without members, which Parquet does not have'


def _storable(field: Field, absent: Container[int], omitted: List[Field]) -> List[int]:
    """The numbers of the parts of a field that Parquet has: of the field itself, if it has all of it."""
    members = [member for member in field.fields if member._number not in absent]
    if field.kind == 'record' and not members:
        omitted.append(field)
        return []
    before = len(omitted)
    parts = [number for member in members for number in _storable(member, absent, omitted)]
    return [field._number] if len(omitted) == before else parts


def restrict(view: View) -> None:
    """Omit records without members, or refuse those that were named."""
    absent = view._absent()
    omitted: List[Field] = []
    dataset = view.dataset
    fields = dataset.fields if view._fields is None else [dataset._field(number) for number in view._fields]
    parts = {field._number: _storable(field, absent, omitted)
             for field in fields if field._number not in absent}
    for field in view._named:
        if not parts.get(field._number, [field._number]):
            raise _errors.new(_errors.UnsupportedError, 'unsupported', f'{field.path}: {_NO_MEMBERS}')
    for field in omitted:
        _errors.warn_omitted(field.path, _NO_MEMBERS)
    if omitted:
        view._restrict([number for numbers in parts.values() for number in numbers])


def _readable(field: Any, is_below_null: bool = False) -> Any:
    """An array of a fixed size that cannot be null itself, in a record that can: pyarrow writes it and
    refuses to read it. It reads the array if that can be null, too."""
    from pyarrow import types
    below = is_below_null or field.nullable
    of = _relabel.with_fields(field.type, lambda member: _readable(member, below))
    is_nullable = field.nullable or (is_below_null and types.is_fixed_size_list(of))
    return field.with_type(of).with_nullable(is_nullable)


def _groups(batches: Any) -> Iterator[List[Any]]:
    """Batches that become one row group each."""
    group: List[Any] = []
    size = 0
    for batch in batches:
        group.append(batch)
        size += batch.nbytes
        if size >= _GROUP_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


def _add_not_utf8(table: Any, names: Set[str]) -> None:
    """Add the columns with strings that are not UTF-8, although their type promises it."""
    from pyarrow import ArrowInvalid
    for name, column in zip(table.schema.names, table.columns):
        if name not in names:
            try:
                column.validate(full=True)
            except ArrowInvalid as error:
                if 'UTF8' not in str(error):
                    raise
                names.add(name)


def write(view: View, path: str, compression: str) -> None:
    """The file has its name only when it is complete."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ImportError('to_parquet() needs pyarrow: pip install pyarrow') from None
    restrict(view)
    batches = pyarrow.RecordBatchReader.from_stream(view)
    if not batches.schema.names:
        raise _errors.new(_errors.UnsupportedError, 'unsupported',
                          f'{view.dataset.path}: no field is left to write')
    schema = _relabel.schema(batches.schema, _readable)
    not_utf8: Set[str] = set()
    beside = os.path.join(os.path.dirname(path), f'.ntuple-export-{uuid.uuid4().hex}.part')
    try:
        with open(beside, 'xb') as file, \
                parquet.ParquetWriter(file, schema, compression=compression) as writer:
            for group in _groups(batches):
                table = _relabel.table(group, schema)
                _add_not_utf8(table, not_utf8)
                writer.write_table(table, row_group_size=1 << 20)
        os.replace(beside, path)
    except BaseException:
        if os.path.exists(beside):
            os.unlink(beside)
        raise
    for name in sorted(not_utf8):
        _errors.warn(f"{name}: strings that are not UTF-8, which readers of Parquet may refuse; "
                     f"strings='binary' writes bytes")
