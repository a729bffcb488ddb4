# SPDX-License-Identifier: MIT
"""Parts of datasets for different processes, and what these need to open them."""
from __future__ import annotations

import errno
import functools
import json
import os
import pickle
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _errors, _ntuple
from ._view import View

if TYPE_CHECKING:
    from ._file import Dataset, File

_OPEN_FILES = 32


# ---- how a file was opened ----

def _absolute(name: Any) -> Any:
    """A name that means the same in a process that works elsewhere."""
    if not isinstance(name, (str, os.PathLike)):
        return name
    path = os.fsdecode(name)
    return path if '://' in path else os.path.abspath(path)


class Origin(NamedTuple):
    """How a file was opened. Names are absolute."""

    sources: Tuple[Any, ...]
    chain: Optional[Dict[str, Any]]  # options that only chain() has; None: not a chain
    format: Optional[str]
    version: Union[int, str, None]
    friends: bool
    entries: Any
    bases: Tuple[Any, ...]

    def absolute(self) -> Origin:
        chain = self.chain and {**self.chain, 'index': _absolute(self.chain['index'])}
        entries = self.entries
        if isinstance(entries, Mapping):
            entries = {path: _absolute(chosen) for path, chosen in entries.items()}
        return self._replace(sources=tuple(map(_absolute, self.sources)), chain=chain,
                             entries=_absolute(entries), bases=tuple(map(_absolute, self.bases)))

    def pickled(self, states: Dict[str, Any]) -> Origin:
        """For another process, which opens the version of a dataset that is open here."""
        sources = tuple(source if isinstance(source, str) else bytes(source) for source in self.sources)
        return self._replace(sources=sources,
                             version=self.version if self.chain else _version(states, self.version))


def _version(states: Dict[str, Any], version: Union[int, str, None]) -> Union[int, str, None]:
    for state in states.values():
        if state and 'dataset_version' in state:
            number = state['dataset_version']
            return f'{state["branch"]}:{number}' if state['branch'] else number
    return version


def _in_words(state: Any) -> str:
    return ', '.join(f'{name} {value}' for name, value in (state or {}).items()) or 'a file that is not there'


def check(expected: Dict[str, Any], found: Dict[str, Any]) -> None:
    """ChangedError if a file is another one than in the process that sent it."""
    if len(expected) == len(found) == 1:  # one file has another name in messages: without its query
        expected = dict(zip(found, expected.values()))
    for path, state in expected.items():
        if found.get(path) != state:
            error = _errors.new(_errors.ChangedError, 'source changed',
                                f'{path}: was replaced or modified since it was opened elsewhere: '
                                f'expected {_in_words(state)}, found {_in_words(found.get(path))}',
                                errno.ESTALE)
            error.expected, error.found = _in_words(state), _in_words(found.get(path))
            raise error


@functools.lru_cache(maxsize=_OPEN_FILES)
def _opened(opening: bytes) -> File:
    """A file of partitions, which this process keeps open for the next ones."""
    from ._file import reopen
    return reopen(*pickle.loads(opening))


# ---- partitions ----

@dataclass(frozen=True)
class Partition:
    """Entries of a dataset for one process. A partition can be pickled: it opens its file where it is
    read. Programs with the Arrow PyCapsule interface read it like a dataset.

    file        the path or address of its file
    path        the path of the dataset in the file
    first, end  the first entry in the file, and the one after the last, as stored
    entries     how many of them are selected
    bytes       what is stored of them
    columns     paths or patterns of the fields, or None: all
    """

    file: str
    path: str
    first: int
    end: int
    entries: int
    bytes: int
    columns: Optional[Tuple[str, ...]]
    _begin: int = field(repr=False)       # the first of the entries in the opened dataset
    _opening: bytes = field(repr=False)   # what _opened() takes

    def __len__(self) -> int:
        return self.entries

    @property
    def dataset(self) -> Dataset:
        """The dataset, opened in this process. ChangedError if its file is another one by now."""
        return _opened(self._opening)[self.path]

    def arrays(self, paths: Union[str, Sequence[str], None] = None, *, library: str = 'np') -> Any:
        """Values of the entries, as Dataset.arrays() returns them. None: those of `columns`."""
        chosen = self.columns if paths is None else paths
        return self.dataset.arrays(chosen, (self._begin, self._begin + self.entries), library=library)

    def select(self, columns: Union[str, Sequence[str], None] = None, **options: str) -> View:
        """The entries as Arrow, as Dataset.select() returns them. None: the fields of `columns`."""
        chosen = self.columns if columns is None else columns
        return self.dataset.select(chosen, (self._begin, self._begin + self.entries), **options)

    def __arrow_c_schema__(self) -> object:
        """The schema as a PyCapsule."""
        return self.select().__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> object:
        """The batches as a PyCapsule."""
        return self.select().__arrow_c_stream__(requested_schema)


class _Piece(NamedTuple):
    """Clusters of one file."""

    file: Dict[str, Any]
    first: int     # of the dataset, as stored
    end: int
    before: int    # how many selected entries are before
    selected: int
    bytes: int


def _files(dataset: Dataset) -> List[Dict[str, Any]]:
    lines = _ntuple.dataset_files(dataset._handle, dataset._number).splitlines()
    files = [json.loads(line) for line in lines]
    for file in files:
        if 'error' in file:
            raise _errors.make(file['status'], file['error'], -1, 0, '', '')
    return files


def _clusters(dataset: Dataset, columns: Optional[Tuple[str, ...]]) -> Iterator[_Piece]:
    """Each cluster with any selected entry."""
    numbers = None if columns is None else [field._number for field in dataset.match(columns)]
    files = [file for file in _files(dataset) if 'friend' not in file]
    firsts = [file['first_entry'] for file in files]
    before = 0
    for line in _ntuple.dataset_clusters(dataset._handle, dataset._number, numbers).splitlines():
        cluster = json.loads(line)
        first, count = cluster['first_entry'], cluster['entries']
        selected = cluster.get('selected_entries', count)
        if selected:
            yield _Piece(files[bisect_right(firsts, first) - 1], first, first + count, before, selected,
                         cluster['stored_bytes'])
        before += selected


def _grouped(clusters: Iterator[_Piece], limit: int) -> Iterator[_Piece]:
    """Neighbours of one file together, up to so many bytes."""
    group: Optional[_Piece] = None
    for piece in clusters:
        if group and piece.file is group.file and group.bytes + piece.bytes <= limit:
            group = group._replace(end=piece.end, selected=group.selected + piece.selected,
                                   bytes=group.bytes + piece.bytes)
        else:
            if group:
                yield group
            group = piece
    if group:
        yield group


def divide(dataset: Dataset, limit: int, columns: Union[str, Sequence[str], None]) -> List[Partition]:
    """See Dataset.partitions()."""
    if limit < 1:
        raise ValueError(f'bytes: expected at least 1, found {limit}')
    chosen = None if columns is None else (columns,) if isinstance(columns, str) else tuple(columns)
    opening = functools.lru_cache(None)(lambda: pickle.dumps(dataset.file.__reduce__()[1]))
    return [_partition(dataset, piece, chosen, opening)
            for piece in _grouped(_clusters(dataset, chosen), limit)]


def _needs_chain(dataset: Dataset, file: Dict[str, Any]) -> bool:
    """Does the chain show the file in a way that the file alone does not?"""
    chain = dataset.file._origin.chain
    return chain is not None and (chain['union'] or 'sample' in file)


def _partition(dataset: Dataset, piece: _Piece, columns: Optional[Tuple[str, ...]],
               opening: Any) -> Partition:
    file, origin = piece.file, dataset.file._origin
    is_chain = origin.chain is not None
    name = file['file'] if is_chain or not isinstance(origin.sources[0], str) else origin.sources[0]
    is_whole = _needs_chain(dataset, file)
    path = dataset.path if is_whole else file['dataset']
    begin = piece.before if is_whole else piece.first - file['first_entry']
    if not is_whole:
        entries = None
        if dataset.entries != dataset.stored_entries:
            entries, begin = {path: _selected(dataset, piece) - file['first_entry']}, 0
        sources = (name,) if is_chain else origin.sources
        states = {name: file['state']}
        own = Origin(sources, None, origin.format, origin.version, origin.friends, entries, origin.bases)
        how = pickle.dumps((own.pickled(states), states))
    else:
        how = opening()
    return Partition(name, path, piece.first - file['first_entry'], piece.end - file['first_entry'],
                     piece.selected, piece.bytes, columns, begin, how)


def _selected(dataset: Dataset, piece: _Piece) -> Any:
    """The stored numbers of the selected entries."""
    numbers = np.empty(piece.selected, np.int64)
    _ntuple.dataset_selected(dataset._handle, dataset._number, piece.before, numbers)
    return numbers
