# SPDX-License-Identifier: MIT
"""Files of the mounted tree, without a mount, as a filesystem of fsspec: fields with their streams,
`schema.txt` and `table.arrow`. docs/tree.md describes the files. Reads decode only what they touch.

>>> import fsspec, numpy
>>> with fsspec.open('ntuple://Events/run/data.npy::tests/data/example.root') as file:
...     runs = numpy.load(file)
"""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

from . import _file, _lazy
from ._tree_files import Content, openers

_spec = _lazy.module('fsspec.spec', 'fsspec')


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

    def _lookup(self, path: str) -> Tuple[Optional[Content], List[str]]:
        """The content of a file, or None, and what `ls` shows."""
        above, _, last = path.rpartition('/')
        files = openers(self._find(above))
        if last in files:
            return files[last](), [path]
        found, inside = self._find(path), f'{path}/' if path else ''
        names = [name[len(inside):].partition('/')[0] for name in self._file if name.startswith(inside)]
        if found is None and path and not names:
            raise FileNotFoundError(path)
        names += [field.path.rpartition('/')[2] for field in found.fields] if found is not None else []
        return None, [inside + name for name in dict.fromkeys([*names, *openers(found)])]

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
