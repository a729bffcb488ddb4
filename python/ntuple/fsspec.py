# SPDX-License-Identifier: MIT
"""Files of the mounted tree, without a mount, as a filesystem of fsspec: fields with their streams,
`schema.txt` and `table.arrow`. docs/tree.md describes the files. Reads decode only what they touch.

>>> import fsspec, numpy
>>> with fsspec.open('ntuple://Events/run/data.npy::tests/data/example.root') as file:
...     runs = numpy.load(file)
"""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple

from . import _errors, _file, _lazy, _ntuple
from ._field import Field, Span, read
from ._file import Dataset

_spec = _lazy.module('fsspec.spec', 'fsspec')
# A file: its size, and its bytes from a first place to before a second one.
_Content = Tuple[int, Callable[[int, int], bytes]]


def npy_header(dtype: Any, is_fortran_order: bool, shape: Tuple[int, ...]) -> bytes:
    """As in the tree: without NumPy's room for growth."""
    quoted = repr(dtype.descr if dtype.names else dtype.str)
    inner = ', '.join(map(str, shape)) + (',' if len(shape) == 1 else '')
    text = f"{{'descr': {quoted}, 'fortran_order': {is_fortran_order}, 'shape': ({inner}), }}"
    version, width = (2, 4) if len(text) + 74 > 0xffff else (1, 2)
    room = -(8 + width + len(text) + 1) % 64
    line = f'{text}{" " * room}\n'.encode('latin-1')
    return b'\x93NUMPY' + bytes([version, 0]) + len(line).to_bytes(width, 'little') + line


def _array(field: Field, kind: str, is_npy: bool) -> _Content:
    """A stream of a field, with NumPy's header or without."""
    stream = field._stream(kind)
    is_shaped = kind == 'data' and field.is_plain
    shape = field.shape if is_shaped else (stream.elements,)
    header = npy_header(stream.dtype, is_shaped and field._is_fortran_order, shape) if is_npy else b''
    width = stream.dtype.itemsize

    def read_bytes(start: int, end: int) -> bytes:
        head = header[start:end]
        start, end = max(start - len(header), 0), max(end - len(header), 0)
        first = start // width
        if start >= end:
            return head
        values = read([Span(stream, first, -(-end // width) - first)])[0]
        return head + values.view('u1').tobytes()[start - first * width:end - first * width]
    return len(header) + stream.elements * width, read_bytes


def _names(field: Optional[Field]) -> List[str]:
    """The files of a field, or of a dataset."""
    if field is None:
        return ['schema.txt', 'table.arrow']
    has_items = field.kind == 'array' and field.valued().is_plain
    return [f'{stream}.{ending}' for stream in field.streams for ending in ('bin', 'npy')] \
        + (['data.npy'] if has_items else [])


class _Opened(_spec.AbstractBufferedFile):  # type: ignore[misc, name-defined]
    def __init__(self, fs: Any, path: str, content: _Content) -> None:
        self._fetch_range = content[1]
        super().__init__(fs, path, cache_type='none', size=content[0])


class NtupleFileSystem(_spec.AbstractFileSystem):  # type: ignore[misc, name-defined]
    """The datasets of one file.

    fo               its path or address; in a chained URL what follows '::'
    target_protocol  of `fo`, if it is not part of it
    """

    protocol = 'ntuple'

    def __init__(self, fo: str = '', target_protocol: Optional[str] = None, target_options: Any = None,
                 **options: Any) -> None:
        super().__init__(**options)
        if not fo:
            raise ValueError("no file is named: 'ntuple://Events/run/data.npy::run.root'")
        is_whole = target_protocol in (None, '', 'file', 'local') or '://' in fo
        self._file = _file.open(fo if is_whole else f'{target_protocol}://{fo}')

    def _find(self, path: str) -> Tuple[Dataset, Optional[Field]]:
        """The dataset of a path, and the field."""
        name, below = path, ''
        while name and name not in self._file:
            name, _, last = name.rpartition('/')
            below = f'{last}/{below}' if below else last
        if not name:
            raise FileNotFoundError(path)
        try:
            return self._file[name], self._file[name].field(below) if below else None
        except _errors.NotFoundError:
            raise FileNotFoundError(path) from None

    def _content(self, path: str) -> _Content:
        above, _, name = path.rpartition('/')
        dataset, field = self._find(above)
        stem, _, ending = name.rpartition('.')
        if name not in _names(field):
            raise FileNotFoundError(path)
        if field is not None:
            return _array(field.valued() if stem == 'data' else field, stem, ending == 'npy')
        if name == 'schema.txt':
            text = f'{dataset.schema}\n'.encode()
            return len(text), lambda start, end: text[start:end]
        table = dataset._whole._table()
        return (_ntuple.table_file_bytes(table),
                lambda start, end: _ntuple.table_file_read(table, start, end - start))

    def _entries(self, path: str) -> Dict[str, bool]:
        """Paths in a directory, and whether they are directories."""
        inside = f'{path}/' if path else ''
        found = {inside + name[len(inside):].partition('/')[0]: True
                 for name in self._file if name.startswith(inside)}
        try:
            dataset, field = self._find(path)
        except FileNotFoundError:
            if path and not found:
                raise
            return found
        found.update((inside + child.path.rpartition('/')[2], True) for child in (field or dataset).fields)
        return {**found, **dict.fromkeys((inside + name for name in _names(field)), False)}

    def _info(self, path: str, is_folder: bool) -> Dict[str, Any]:
        size = 0 if is_folder else self._content(path)[0]
        return {'name': path, 'size': size, 'type': 'directory' if is_folder else 'file'}

    def info(self, path: str, **_: Any) -> Dict[str, Any]:
        path = self._strip_protocol(path)
        try:
            return self._info(path, False)
        except FileNotFoundError:
            self._entries(path)   # FileNotFoundError if there is none
            return self._info(path, True)

    def ls(self, path: str, detail: bool = True, **_: Any) -> List[Any]:
        path = self._strip_protocol(path)
        found = self._entries(path) if self.info(path)['type'] == 'directory' else {path: False}
        return [self._info(*entry) if detail else entry[0] for entry in found.items()]

    def _open(self, path: str, mode: str = 'rb', **_: Any) -> Any:
        if mode != 'rb':
            raise NotImplementedError('the files are read only')
        return _Opened(self, path, self._content(path))
