# SPDX-License-Identifier: MIT
"""The files of the mounted tree, without a mount: streams of a field, `schema.txt` and `table.arrow`.
docs/tree.md describes them. A read decodes only what it touches."""
from __future__ import annotations

from functools import partial
from typing import Any, Callable, Dict, Tuple

from . import _file, _ntuple
from ._field import Field, Span, read

# A file: its size, and its bytes from a first place to before a second one.
Content = Tuple[int, Callable[[int, int], bytes]]


def _npy_header(dtype: Any, is_fortran_order: bool, shape: Tuple[int, ...]) -> bytes:
    """As in the tree: without NumPy's room for growth."""
    descr = dtype.descr if dtype.names else dtype.str
    text = f"{{'descr': {descr!r}, 'fortran_order': {is_fortran_order}, 'shape': {shape}, }}"
    version, width = (2, 4) if len(text) + 74 > 0xffff else (1, 2)
    line = f'{text}{" " * (-(9 + width + len(text)) % 64)}\n'.encode('latin-1')
    return b'\x93NUMPY' + bytes([version, 0]) + len(line).to_bytes(width, 'little') + line


def _array(field: Field, kind: str, is_npy: bool) -> Content:
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


def _document(dataset: _file.Dataset, name: str) -> Content:
    if name == 'schema.txt':
        text = f'{dataset.schema}\n'.encode()
        return len(text), lambda start, end: text[start:end]
    table = dataset._whole._table()
    size = _ntuple.table_file_bytes(table)
    return size, lambda start, end: _ntuple.table_file_read(table, start, end - start)


def openers(found: Any) -> Dict[str, Callable[[], Content]]:
    """What opens each file of a dataset, of a field, or of a directory around these (None)."""
    if not isinstance(found, Field):
        return {name: partial(_document, found, name) for name in ('schema.txt', 'table.arrow') if found}
    valued = found.valued()
    names = [f'{kind}.{ending}' for kind in found.streams for ending in ('bin', 'npy')]
    names += ['data.npy'] if found.kind == 'array' and valued.is_plain else []
    return {name: partial(_array, valued if name[:-4] == 'data' else found, name[:-4], name.endswith('npy'))
            for name in names}
