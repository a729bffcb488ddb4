# SPDX-License-Identifier: MIT
"""Fields of equal names beside one another. In paths and tables, the second field `x` is `x~2`, as in the
mounted tree."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Iterator, List, NamedTuple, Set, Tuple
from urllib.parse import unquote

from . import _lazy, _ntuple, _relabel

if TYPE_CHECKING:
    from ._field import Field
    from ._view import View


class Duplicates(NamedTuple):
    """What the fields of a dataset have after their names."""

    suffixes: Dict[int, str]   # of fields that have one
    parents: List[int]         # of all fields; -1: none

    def path(self, number: int, path: str) -> str:
        """The path of a field from that of the library, whose names have no suffixes."""
        names = []
        for name in reversed(path.split('/')) if self.suffixes else ():
            names.append(name + self.suffixes.get(number, ''))
            number = self.parents[number]
        return '/'.join(reversed(names)) or path


def names(path: str) -> Tuple[str, ...]:
    """The names of a path, which may be written with % or without."""
    return tuple(unquote(name, errors='surrogateescape') for name in path.split('/'))


def find(handle: _ntuple.File, dataset: int) -> Duplicates:
    """The first field of a name has no suffix. The others have the next number that gives a new name."""
    fields = _ntuple.dataset_names(handle, dataset)
    taken = set(fields)
    suffixes: Dict[int, str] = {}
    if len(taken) < len(fields):
        counts: Dict[Tuple[int, str], int] = {}
        for number, (parent, name) in enumerate(fields):
            count = counts.get((parent, name), 0) + 1
            while count > 1 and (parent, f'{name}~{count}') in taken:
                count += 1
            counts[parent, name] = count
            if count > 1:
                taken.add((parent, f'{name}~{count}'))
                suffixes[number] = f'~{count}'
    return Duplicates(suffixes, [parent for parent, _ in fields])


# ---- tables ----

_AROUND_MEMBERS = ('collection', 'optional', 'dense optional', 'array', 'wrapper')


class _Renaming:
    """Changes the names of a view's Arrow schema, whose fields are the library's in the same order."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._absent = view._absent()
        self._around: Set[int] = set()
        if view._fields is not None:
            self._around = {around._number for number in view._fields
                            for around in view.dataset._field(number)._around()}

    def _is_shown(self, field: Field) -> bool:
        chosen = self._view._fields
        return field._number not in self._absent and (
            chosen is None or field._number in self._around or field._number in chosen
            or any(around._number in chosen for around in field._around()))

    def members(self, arrow: Any, fields: List[Field]) -> List[Any]:
        """The members of a struct, which are the shown ones of these fields."""
        shown = [field for field in fields if self._is_shown(field)]
        return [self._member(member, shown) for member in arrow]

    def _member(self, arrow: Any, fields: List[Field]) -> Any:
        field = next((field for field in fields if field.name == arrow.name), None)
        if field is None:   # the tag of a variant, or a name that is not UTF-8
            return arrow
        fields.remove(field)
        return self._below(arrow, field).with_name(field.column)

    def _below(self, arrow: Any, field: Field) -> Any:
        """A part of a table with new names below it."""
        pyarrow = _lazy.module('pyarrow')
        while field.kind in _AROUND_MEMBERS and field.fields:
            field = field.fields[0]
        of = arrow.type
        if pyarrow.types.is_struct(of):
            return arrow.with_type(pyarrow.struct(self.members(of, field.fields)))
        if pyarrow.types.is_map(of):
            key, item = self.members((of.key_field, of.item_field), field.fields)
            return arrow.with_type(pyarrow.map_(key, item, of.keys_sorted))
        if pyarrow.types.is_union(of):
            return arrow
        return arrow.with_type(_relabel.with_fields(of, lambda item: self._below(item, field)))


class _Stream:
    def __init__(self, capsule: object) -> None:
        self._capsule = capsule

    def __arrow_c_stream__(self, requested_schema: Any = None) -> object:
        return self._capsule


def renamed(view: View, capsule: object) -> Any:
    """A pyarrow.RecordBatchReader of a stream of the library, with the names of the paths."""
    pyarrow = _lazy.module('pyarrow')
    batches = pyarrow.RecordBatchReader.from_stream(_Stream(capsule))
    schema = pyarrow.schema(_Renaming(view).members(batches.schema, view.dataset.fields),
                            batches.schema.metadata)

    def read() -> Iterator[Any]:
        for batch in batches:
            yield from _relabel.table([batch], schema).to_batches()
    return pyarrow.RecordBatchReader.from_batches(schema, read())
