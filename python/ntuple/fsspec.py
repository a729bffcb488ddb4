# SPDX-License-Identifier: MIT
"""Files of the mounted tree, without a mount, as a filesystem of fsspec: fields with their streams,
`schema.txt` and `table.arrow`. docs/tree.md describes the files. Reads decode only what they touch.

>>> import fsspec, numpy
>>> with fsspec.open('ntuple://Events/run/data.npy::tests/data/example.root') as file:
...     runs = numpy.load(file)
"""
from __future__ import annotations

from functools import partial
from typing import Any, Callable, Dict, List, Optional, Tuple

from . import _file, _lazy, _ntuple
from ._field import Field, Span, read

_spec = _lazy.module('fsspec.spec', 'fsspec')
# A file: its size, and its bytes from a first place to before a second one.
_Content = Tuple[int, Callable[[int, int], bytes]]


def _npy_header(dtype: Any, is_fortran_order: bool, shape: Tuple[int, ...]) -> bytes:
    """As in the tree: without NumPy's room for growth."""
    descr = dtype.descr if dtype.names else dtype.str
    text = f"{{'descr': {descr!r}, 'fortran_order': {is_fortran_order}, 'shape': {shape}, }}"
    version, width = (2, 4) if len(text) + 74 > 0xffff else (1, 2)
    line = f'{text}{" " * (-(9 + width + len(text)) % 64)}\n'.encode('latin-1')
    return b'\x93NUMPY' + bytes([version, 0]) + len(line).to_bytes(width, 'little') + line


def _array(field: Field, kind: str, is_npy: bool) -> _Content:
    """A stream of a field, with NumPy's header or without."""
    stream = field._stream(kind)
    is_shaped = kind == 'data' and field.is_plain
    shape = field.shape if is_shaped else (stream.elements,)
    header = _npy_header(stream.dtype, is_shaped and field._is_fortran_order, shape) if is_npy else b''
    width = stream.dtype.itemsize

    def read_bytes(start: int, end: int) -> bytes:
        head = header[start:end]
        start, end = max(start - len(header), 0), max(end - len(header), 0)
        first = start // width
        values = read([Span(stream, first, -(-end // width) - first)])[0]
        return head + values.view('u1')[start - first * width:end - first * width].tobytes()
    return len(header) + stream.elements * width, read_bytes


def _document(dataset: _file.Dataset, name: str) -> _Content:
    if name == 'schema.txt':
        text = f'{dataset.schema}\n'.encode()
        return len(text), lambda start, end: text[start:end]
    table = dataset._whole._table()
    size = _ntuple.table_file_bytes(table)
    return size, lambda start, end: _ntuple.table_file_read(table, start, end - start)


def _openers(found: Any) -> Dict[str, Callable[[], _Content]]:
    """What opens each file of a dataset, of a field, or of a directory around these (None)."""
    if not isinstance(found, Field):
        return {name: partial(_document, found, name) for name in ('schema.txt', 'table.arrow') if found}
    valued = found.valued()
    names = [f'{kind}.{ending}' for kind in found.streams for ending in ('bin', 'npy')]
    names += ['data.npy'] if found.kind == 'array' and valued.is_plain else []
    return {name: partial(_array, valued if name[:-4] == 'data' else found, name[:-4], name.endswith('npy'))
            for name in names}


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

    def _find(self, path: str) -> Any:
        """The dataset or field of a directory; None: it has neither."""
        name = max((name for name in self._file if f'{path}/'.startswith(f'{name}/')), key=len, default=path)
        try:
            return self._file[name] if name == path else self._file[name].field(path[len(name) + 1:])
        except KeyError:
            return None

    def _lookup(self, path: str) -> Tuple[Optional[_Content], List[str]]:
        """The content of a file, or None, and what `ls` shows."""
        above, _, last = path.rpartition('/')
        openers = _openers(self._find(above))
        if last in openers:
            return openers[last](), [path]
        found, inside = self._find(path), f'{path}/' if path else ''
        names = [name[len(inside):].partition('/')[0] for name in self._file if name.startswith(inside)]
        if found is None and path and not names:
            raise FileNotFoundError(path)
        names += [field.path.rpartition('/')[2] for field in found.fields] if found is not None else []
        return None, [inside + name for name in dict.fromkeys([*names, *_openers(found)])]

    def info(self, path: str, **_: Any) -> Dict[str, Any]:
        path = self._strip_protocol(path)
        content, _ = self._lookup(path)
        size, kind = (content[0], 'file') if content else (0, 'directory')
        return {'name': path, 'size': size, 'type': kind}

    def ls(self, path: str, detail: bool = True, **_: Any) -> List[Any]:
        _, names = self._lookup(self._strip_protocol(path))
        return [self.info(name) for name in names] if detail else names

    def _open(self, path: str, mode: str = 'rb', **_: Any) -> Any:
        if mode != 'rb':
            raise NotImplementedError('the files are read only')
        content, _ = self._lookup(path)
        if not content:
            raise FileNotFoundError(path)
        file = _spec.AbstractBufferedFile(self, path, cache_type='none', size=content[0])
        file.cache.fetcher = content[1]
        return file
