# SPDX-License-Identifier: MIT
"""Fields and their elements as NumPy arrays."""
from __future__ import annotations

import ast
import math
import operator
from typing import TYPE_CHECKING, Any, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _errors, _ntuple

if TYPE_CHECKING:
    from ._file import Dataset

Array = Any  # np.ndarray, whose type parameters differ between versions of NumPy


def dtype_of(text: str) -> 'np.dtype[Any]':
    """NumPy's type from its name, or from the description of a structure."""
    return np.dtype(ast.literal_eval(text) if text.startswith('[') else text)


class Stream(NamedTuple):
    """An open stream: one of a field's sequences of elements."""

    handle: _ntuple.Stream
    elements: int
    dtype: 'np.dtype[Any]'


class Span(NamedTuple):
    """A range of elements of a stream, and the array for them."""

    stream: Stream
    first: int
    count: int

    def array(self, out: Array = None) -> Array:
        """A new array, or `out` if it fits."""
        if out is None:
            return np.empty(self.count, self.stream.dtype)
        if out.dtype != self.stream.dtype or out.size != self.count or not out.flags.c_contiguous:
            raise ValueError(f'out: expected {self.count} contiguous elements of {self.stream.dtype}, '
                             f'found {out.size} of {out.dtype}')
        return out


def read(spans: Sequence[Span], out: Optional[Sequence[Optional[Array]]] = None) -> List[Array]:
    """The elements of all spans, decoded by all workers at once: into the arrays of `out`, or into
    new ones."""
    arrays = [span.array(array) for span, array in zip(spans, out or [None] * len(spans))]
    _ntuple.streams_read([(span.stream.handle, span.first, span.count, array)
                          for span, array in zip(spans, arrays)])
    return arrays


class Field:
    """A field of a dataset.

    `field[a:b]` has the values of rows a to b, and decodes only their pages (of an array in Fortran
    order, all pages). Plain values are an array, strings are a list of str, and binary data is a list
    of bytes.

    Collections, optionals, variants and records have no values of their own. They have streams
    that describe their structure (`offsets`, `valid`, `tags`, `index`), and sub-fields:
    `field['_0/pt']` is what the dataset has at the longer path. A row is an item of the nearest
    collection or variant around the field. Without one it is an entry.

    path         from the dataset: 'muons/_0/pt'
    name         from the writer; the second field 'x' beside another one is 'x~2'
    type         from the writer: a C++ type
    description  from the writer
    kind         'value', 'string', 'collection', 'optional', 'variant', 'record', ...
    streams      those of 'data', 'offsets', 'tags', 'index', 'valid' that exist
    unreadable   why there is no data, or None
    """

    def __init__(self, dataset: Dataset, number: int) -> None:
        info = _ntuple.field_info(dataset._handle, dataset._number, number)
        self.dataset = dataset
        self.path: str = info['path']
        self.name: str = info['name']
        self.type: str = info['type']
        self.description: str = info['description']
        self.kind: str = info['kind']
        self.streams: Tuple[str, ...] = tuple(info['streams'])
        self.unreadable: Optional[str] = info['unreadable']
        self._number = number
        self._parent: Optional[int] = info['parent'] if info['has_parent'] else None
        self._repetition: int = info['repetition']
        self._own_elements = math.prod(info['own_dimensions'])
        self._dimensions: Tuple[int, ...] = tuple(info['dimensions'])
        self._is_fortran_order: bool = info['is_fortran_order']

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self.dataset).field, (self.dataset, self.path)

    def __repr__(self) -> str:
        return f'<ntuple.Field {self.path!r}: {self.type or self.kind}>'

    # ---- what it is ----

    @property
    def is_plain(self) -> bool:
        """Are its rows elements of a NumPy array?"""
        return 'data' in self.streams and 'offsets' not in self.streams

    @property
    def fields(self) -> List[Field]:
        """The sub-fields."""
        handle = self.dataset._handle
        return [Field(self.dataset, number)
                for number in _ntuple.dataset_children(handle, self.dataset._number, self._number)]

    @property
    def rows(self) -> int:
        """The number of rows: the entries, or the items of the collections around the field."""
        return _ntuple.field_rows(self.dataset._handle, self.dataset._number, self._number)

    @property
    def dtype(self) -> Optional['np.dtype[Any]']:
        """The type of the elements, or None without data."""
        return self._stream('data').dtype if 'data' in self.streams else None

    @property
    def shape(self) -> Tuple[int, ...]:
        """The shape of the array of all values. Fields without such an array have (rows,)."""
        if not self.is_plain:
            return (self.rows,)
        size = math.prod(self._dimensions)
        return (self._stream('data').elements // size if size else self.rows, *self._dimensions)

    def __len__(self) -> int:
        return self.shape[0]

    def valued(self) -> Field:
        """The field that has the values: this one, or the one in an enum, an atomic or an array."""
        field = self
        while field.kind in ('wrapper', 'array') and len(field.fields) == 1:
            field = field.fields[0]
        return field if field.is_plain else self

    # ---- streams ----

    def _check_readable(self) -> None:
        if self.unreadable:
            raise _errors.new(_errors.UnreadableError, 'unsupported', f'{self.path}: {self.unreadable}')

    def _stream(self, kind: str) -> Stream:
        """A stream; the file keeps it open."""
        self._check_readable()
        if kind not in self.streams:
            raise _errors.MissingStreamError(f'{self.path} has no {kind}: its kind is {self.kind}')
        return self.dataset.file._stream(self.dataset._number, self._number, kind)

    def _whole(self, kind: str) -> Array:
        stream = self._stream(kind)
        return read([Span(stream, 0, stream.elements)])[0]

    @property
    def offsets(self) -> Array:
        """For collections, optionals and strings: row r has the items offsets[r] to offsets[r + 1]."""
        return self._whole('offsets')

    @property
    def valid(self) -> Array:
        """For nullable fields, and optionals in the dense form of drafts: has each row a value?"""
        return self._whole('valid')

    @property
    def tags(self) -> Array:
        """For variants: the alternative of each row, from 1 on. 0 means none."""
        return self._whole('tags')

    @property
    def index(self) -> Array:
        """For variants: for each row, its number within its alternative."""
        return self._whole('index')

    @property
    def values(self) -> Array:
        """All values. For strings: their bytes, concatenated."""
        return self[:] if self.is_plain else self._whole('data')

    # ---- values ----

    @property
    def _is_strided(self) -> bool:
        """Are the elements of a row apart from each other, among those of all rows?"""
        return self._is_fortran_order and len(self._dimensions) > 0

    def _span_of_rows(self, first: int, end: int) -> Span:
        """The elements that have those of rows, which are counted as in `shape`."""
        stream, size = self._stream('data'), math.prod(self._dimensions)
        if self._is_strided:
            return Span(stream, 0, stream.elements)
        return Span(stream, first * size, (end - first) * size)

    def _shaped(self, array: Array, first: int, end: int) -> Array:
        """The rows in an array of such a span."""
        if self._is_strided and array.size:
            return array.reshape(-1, *self._dimensions, order='F')[first:end]
        return array.reshape(end - first, *self._dimensions)

    def _texts(self, first: int, end: int) -> List[Union[str, bytes]]:
        if first == end:
            return []
        offsets = read([Span(self._stream('offsets'), first, end - first + 1)])[0]
        begin = int(offsets[0])
        data = read([Span(self._stream('data'), begin, int(offsets[-1]) - begin)])[0].tobytes()
        bounds = (offsets - begin).tolist()
        parts = [data[a:b] for a, b in zip(bounds, bounds[1:])]
        if self.kind == 'string':
            return [part.decode(errors='surrogateescape') for part in parts]
        return list(parts)

    def _range(self, first: int, end: int) -> Any:
        if self.is_plain:
            return self._shaped(read([self._span_of_rows(first, end)])[0], first, end)
        if 'data' in self.streams:
            return self._texts(first, end)
        self._check_readable()
        parts = ', '.join([*self.streams, *(repr(field.name) for field in self.fields)])
        raise TypeError(f'{self.path} has no values of its own: its kind is {self.kind}; '
                        f'its streams and sub-fields have: {parts}')

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self.dataset[f'{self.path}/{key}']
        if isinstance(key, slice):
            first, end, step = key.indices(len(self))
            if step != 1:
                raise ValueError('the step of a slice of rows must be 1')
            return self._range(first, max(first, end))
        row = operator.index(key)
        row += len(self) if row < 0 else 0
        if not 0 <= row < len(self):
            raise IndexError(f'{self.path} has {len(self)} rows')
        return self._range(row, row + 1)[0]

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Array:
        if copy is False:
            raise ValueError('cannot share the values without a copy: they must be decoded')
        return np.asarray(self[:], dtype=dtype)

    # ---- rows of entries ----

    def _around(self) -> Iterator[Field]:
        """The fields around this one, from inside out."""
        parent = self._parent
        while parent is not None:
            field = Field(self.dataset, parent)
            yield field
            parent = field._parent

    def _with_arrays(self) -> Iterator[Field]:
        """This field and those below it that have arrays: values, and offsets of collections. Those that
        cannot be read are among them."""
        valued = self.valued()
        if valued.is_plain or valued.streams or valued.unreadable:
            yield self
        if not valued.is_plain:
            for child in valued.fields:
                yield from child._with_arrays()

    def _rows_of_entries(self, first: int, end: int) -> Tuple[int, int]:
        """The rows of this field for a range of entries, by the offsets of the collections around it."""
        if self._parent is None:
            return first, end
        parent = Field(self.dataset, self._parent)
        first, end = parent._rows_of_entries(first, end)
        if parent.kind == 'variant':
            raise TypeError(f'{self.path}: cannot read an alternative of a variant by entries; '
                            f'{parent.path} has the index')
        if 'offsets' in parent.streams:
            offsets = parent._stream('offsets')
            ends = read([Span(offsets, first, 1), Span(offsets, end, 1)])
            return int(ends[0][0]), int(ends[1][0])
        return first * (parent._repetition or 1), end * (parent._repetition or 1)

    def _span_of_entries(self, first: int, end: int) -> Span:
        """Values or offsets for a range of entries. All entries need no look at offsets."""
        if 'data' in self.streams and not self.is_plain:
            raise TypeError(f"{self.path}: an array cannot hold strings: use library='ak' or 'pa', or "
                            f"dataset.field(path)[a:b]")
        stream = self._stream('data' if self.is_plain else 'offsets')
        if (first, end) == (0, self.dataset.entries) or (self.is_plain and self._is_strided):
            return Span(stream, 0, stream.elements)
        first, end = self._rows_of_entries(first, end)
        if self.is_plain:
            return Span(stream, first * self._own_elements, (end - first) * self._own_elements)
        return Span(stream, first, end - first + 1)

    def _array_of_span(self, array: Array, first: int, end: int) -> Array:
        """The array of the span of entries, in the shape of the field; offsets begin with 0."""
        if not self.is_plain:
            if array[0]:
                array -= array[0]
            return array
        if self._is_strided:
            return self._shaped(array, first, end)
        size = math.prod(self._dimensions)
        return array.reshape(array.size // size if size else 0, *self._dimensions)
