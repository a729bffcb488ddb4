# SPDX-License-Identifier: MIT
"""What the modules for engines share: the columns by the names that engines have for them, and the
partitions as tables."""
from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union

from . import _lazy

if TYPE_CHECKING:
    from ._field import Field
    from ._file import Dataset
    from ._parts import Partition

Columns = Union[str, Sequence[str], None]
PARTITION_BYTES = 64 << 20
_WITH_MEMBERS = ('record', 'tuple', 'split collection')


def paths_by_name(dataset: Dataset, columns: Columns) -> Dict[str, List[str]]:
    """The paths below each Arrow column: {'muons': ['muons/_0/pt']}. Fields that Arrow cannot express
    have none."""
    fields = dataset.fields if columns is None else dataset.match(columns)
    absent = dataset.select(columns)._absent()
    paths: Dict[str, List[str]] = {}
    for field in fields:
        if field._number in absent:
            continue
        top = dataset.field(field.path.partition('/')[0])
        paths.setdefault(top.name, []).append(field.path)
    return paths


def paths_of(paths: Dict[str, List[str]], names: Sequence[str]) -> List[str]:
    """The paths of some Arrow columns."""
    return [path for name in names for path in paths[name]]


def _members(field: Field, name: str) -> Iterator[Tuple[str, Field]]:
    """The members of the records of a field. Lists, arrays and optionals around these have no names."""
    if field.kind in _WITH_MEMBERS:
        for member in field.fields:
            yield from _with_members(member, f'{name}.{member.name}')
    elif field.kind != 'variant' and len(field.fields) == 1:
        yield from _members(field.fields[0], name)


def _with_members(field: Field, name: str) -> Iterator[Tuple[str, Field]]:
    yield name, field
    yield from _members(field, name)


def dotted_paths(dataset: Dataset, columns: Columns) -> Dict[str, str]:
    """Paths by the names of Awkward Array: {'muons.pt': 'muons/_0/pt'}."""
    return {name: field.path for top in paths_by_name(dataset, columns)
            for name, field in _with_members(_top(dataset, top), top)}


def _top(dataset: Dataset, name: str) -> Field:
    return next(field for field in dataset.fields if field.name == name)


def schema(dataset: Dataset, columns: Columns) -> Any:
    """The Arrow schema. Nothing is decoded."""
    view = dataset.select(columns)
    view._warn()
    return _lazy.module('pyarrow').schema(view)


def borders(parts: Sequence[Partition]) -> List[int]:
    """The first entry of each partition, and the number of entries."""
    return [0, *itertools.accumulate(map(len, parts))]


def table(part: Partition, columns: Optional[Sequence[str]]) -> Any:
    """A pyarrow.Table of a partition."""
    return _lazy.module('pyarrow').table(part.select(columns))
