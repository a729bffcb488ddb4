# SPDX-License-Identifier: MIT
"""Files of the mounted tree, without a mount, as a filesystem of fsspec: fields with their streams,
`schema.txt` and `table.arrow`. docs/tree.md describes the files. Reads decode only what they touch.

>>> import fsspec, numpy
>>> with fsspec.open('ntuple://Events/run/data.npy::tests/data/example.root') as file:
...     runs = numpy.load(file)
"""
from __future__ import annotations

from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

from . import _errors, _file, _lazy, _ntuple
from ._field import Field, Span, read
from ._file import Dataset, File

_spec = _lazy.module('fsspec.spec', 'fsspec')
_LOCAL = (None, '', 'file', 'local')


def npy_header(dtype: Any, is_fortran_order: bool, shape: Tuple[int, ...]) -> bytes:
    """As in the tree: without NumPy's room for growth."""
    quoted = repr(dtype.descr if dtype.names else dtype.str)
    inner = ', '.join(map(str, shape)) + (',' if len(shape) == 1 else '')
    text = f"{{'descr': {quoted}, 'fortran_order': {is_fortran_order}, 'shape': ({inner}), }}"
    version, width = (2, 4) if len(text) + 74 > 0xffff else (1, 2)
    room = -(8 + width + len(text) + 1) % 64
    line = f'{text}{" " * room}\n'.encode('latin-1')
    return b'\x93NUMPY' + bytes([version, 0]) + len(line).to_bytes(width, 'little') + line


class _Content(NamedTuple):
    """The bytes of a file."""

    size: int
    read: Callable[[int, int], bytes]   # from the first to before the second


def _text(text: bytes) -> _Content:
    return _Content(len(text), lambda start, end: text[start:end])


def _table(dataset: Dataset) -> _Content:
    table = dataset._whole._table()
    return _Content(_ntuple.table_file_bytes(table),
                    lambda start, end: _ntuple.table_file_read(table, start, end - start))


def _array(field: Field, kind: str, is_npy: bool) -> _Content:
    """A stream of a field, with NumPy's header or without."""
    stream = field._stream(kind)
    is_shaped = kind == 'data' and field.is_plain
    shape = field.shape if is_shaped else (stream.elements,)
    is_fortran_order = is_shaped and field._is_fortran_order
    header = npy_header(stream.dtype, is_fortran_order, shape) if is_npy else b''
    width = stream.dtype.itemsize

    def read_bytes(start: int, end: int) -> bytes:
        head = header[start:end]
        start, end = max(start - len(header), 0), max(end - len(header), 0)
        if start >= end:
            return head
        first = start // width
        values = read([Span(stream, first, -(-end // width) - first)])[0]
        return head + values.view('u1').tobytes()[start - first * width:end - first * width]
    return _Content(len(header) + stream.elements * width, read_bytes)


class _Opened(_spec.AbstractBufferedFile):  # type: ignore[misc, name-defined]
    def __init__(self, fs: Any, path: str, content: _Content, **options: Any) -> None:
        self._content = content
        super().__init__(fs, path, 'rb', cache_type='none', size=content.size, **options)

    def _fetch_range(self, start: int, end: int) -> bytes:
        return self._content.read(start, end)


class NtupleFileSystem(_spec.AbstractFileSystem):  # type: ignore[misc, name-defined]
    """The datasets of one file.

    fo               its path or address; in a chained URL what follows '::'
    target_protocol  of `fo`, if it is not part of it
    """

    protocol = 'ntuple'
    root_marker = ''

    def __init__(self, fo: str = '', target_protocol: Optional[str] = None, target_options: Any = None,
                 **options: Any) -> None:
        super().__init__(**options)
        if not fo:
            raise ValueError("no file is named: 'ntuple://Events/run/data.npy::run.root'")
        is_whole = target_protocol in _LOCAL or '://' in fo
        self._file: File = _file.open(fo if is_whole else f'{target_protocol}://{fo}')

    # ---- names ----

    def _dataset(self, path: str) -> Tuple[Dataset, List[str]]:
        """The dataset that a path leads to, and the names behind it."""
        names = path.split('/')
        for count in range(len(names), 0, -1):
            if '/'.join(names[:count]) in self._file:
                return self._file['/'.join(names[:count])], names[count:]
        raise FileNotFoundError(path)

    def _find(self, path: str) -> Tuple[Dataset, Optional[Field]]:
        dataset, names = self._dataset(path)
        try:
            return dataset, dataset.field('/'.join(names)) if names else None
        except _errors.NotFoundError:
            raise FileNotFoundError(path) from None

    def _content(self, path: str) -> _Content:
        above, _, name = path.rpartition('/')
        dataset, field = self._find(above)
        stem, _, ending = name.rpartition('.')
        if field is None and name == 'schema.txt':
            return _text(f'{dataset.schema}\n'.encode())
        if field is None and name == 'table.arrow':
            return _table(dataset)
        if field is not None and name in _names(field):
            return _array(field.valued() if stem == 'data' else field, stem, ending == 'npy')
        raise FileNotFoundError(path)

    def _entries(self, path: str) -> Iterator[Tuple[str, bool]]:
        """Names in a directory, and whether they are directories."""
        below = [name for name in self._file if not path or name.startswith(f'{path}/')]
        yield from dict.fromkeys((name[len(path):].lstrip('/').partition('/')[0], True) for name in below)
        if not path:
            return
        try:
            dataset, field = self._find(path)
        except FileNotFoundError:
            if below:
                return
            raise
        yield from ((child.path.rpartition('/')[2], True) for child in (field or dataset).fields)
        yield from ((name, False) for name in (_names(field) if field else ('schema.txt', 'table.arrow')))

    # ---- fsspec ----

    def ls(self, path: str, detail: bool = True, **_: Any) -> List[Any]:
        path = self._strip_protocol(path)
        try:
            self._content(path)
            found = [(path, False)]
        except (FileNotFoundError, _errors.Error):
            found = [(f'{path}/{name}'.lstrip('/'), is_folder) for name, is_folder in self._entries(path)]
        return [self._info(name, is_folder) if detail else name for name, is_folder in found]

    def _info(self, path: str, is_folder: bool) -> Dict[str, Any]:
        size = 0 if is_folder else self._content(path).size
        return {'name': path, 'size': size, 'type': 'directory' if is_folder else 'file'}

    def info(self, path: str, **_: Any) -> Dict[str, Any]:
        path = self._strip_protocol(path)
        try:
            return self._info(path, False)
        except FileNotFoundError:
            list(self._entries(path))   # FileNotFoundError if there is none
            return self._info(path, True)

    def _open(self, path: str, mode: str = 'rb', block_size: Any = None, autocommit: bool = True,
              cache_options: Any = None, **_: Any) -> Any:
        if mode != 'rb':
            raise NotImplementedError('the files are read only')
        return _Opened(self, path, self._content(path))


def _names(field: Field) -> List[str]:
    """The files of a field."""
    has_items = field.kind == 'array' and field.valued().is_plain
    return [f'{stream}.{ending}' for stream in field.streams for ending in ('bin', 'npy')] \
        + (['data.npy'] if has_items else [])
