# SPDX-License-Identifier: MIT
"""Files and datasets."""
from __future__ import annotations

import contextlib
import errno
import json
import os
import threading
from collections.abc import Mapping
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _awkward, _errors, _lazy, _ntuple, _parquet
from ._field import Array, Field, Span, Stream, dtype_of, read
from ._parts import Origin, Partition, check, divide
from ._selection import Entries, select
from ._view import Made, View

Path = Union[str, 'os.PathLike[str]']
Source = Union[Path, bytes, bytearray, memoryview, Array]
Columns = Union[str, Sequence[str], None]
Selection = Union[Entries, Mapping[str, Entries], None]

_MAX_STREAMS = 4096

_lock = threading.Lock()
_readers: List[_ntuple.Reader] = []


def _reader() -> _ntuple.Reader:
    """The reader: one cache and one set of workers for all files. The workers and the calling thread
    are one thread for each processor, or as many as NTUPLE_THREADS says."""
    with _lock:
        if not _readers:
            threads = int(os.environ.get('NTUPLE_THREADS') or len(os.sched_getaffinity(0)))
            _readers.append(_ntuple.reader_new(0, max(0, threads - 1)))
        return _readers[0]


def _encoded(path: str) -> bytes:
    if not isinstance(path, str):
        hint = '; arrays() takes several paths' if isinstance(path, (list, tuple)) else ''
        raise TypeError(f'expected a path as str, found {type(path).__name__}{hint}')
    return path.encode('utf-8', 'surrogateescape')


def counters() -> Dict[str, int]:
    """Counters over all files: bytes read, pages decoded and more. docs/tree.md describes the names
    (stats.json)."""
    return _ntuple.reader_counters(_reader())


def formats() -> Dict[str, str]:
    """The supported formats with their descriptions."""
    return dict(_ntuple.format_rows())


def open(source: Union[Source, Sequence[Path]], *, format: Optional[str] = None,
         version: Union[int, str, None] = None, entries: Selection = None, friends: bool = False,
         bases: Union[Path, Sequence[Path]] = ()) -> File:
    """Open a file of any format. This reads its metadata and nothing else.

    source   a path, an address, a bytes-like object with the bytes of a file, or a directory (a Lance
             dataset, a BLZ array or table); a list of files, or a pattern that is not the name of a
             file, opens a chain
    format   one of `formats()`; no other is tried
    version  the number, the tag or the branch of a version of a Lance dataset; else the latest
    entries  select these entries: an array with a bool for each entry, an array of ascending entry
             numbers, (first, end), or the path of a file that lists them (.npy, a Roaring bitmap or
             a text); a file of several datasets needs a mapping from their paths to these
    friends  show the branches of a TTree's friends in the same file as fields below the friend's
             name
    bases    a directory, or several, that may contain other files with data of this one: baskets of
             a TTree, files at the base paths of a Lance dataset, and its blobs
    """
    if isinstance(source, (list, tuple)) or _is_pattern(source):
        if version is not None:
            raise ValueError('a chain has no versions')
        return chain(source, format=format, entries=entries, friends=friends,  # type: ignore[arg-type]
                     bases=bases)
    origin = Origin((source,), None, format, version, friends, entries, _names(bases))
    return _selected(_open(origin), entries)


def chain(sources: Union[Path, Sequence[Path]], *, union: bool = False, missing: str = 'refuse',
          index: Optional[Path] = None, format: Optional[str] = None, entries: Selection = None,
          friends: bool = False, bases: Union[Path, Sequence[Path]] = ()) -> File:
    """Open many files as one. Its datasets have the entries of all files, one after the other.

    sources  a file, an address, a pattern ('run*.root'; '**' means any directories), a text file that
             lists names, or a specification of RDataFrame; or several of these
    union    the datasets have the fields of all files; a field is null in the entries of files that
             lack it. Without `union`, different fields raise IncompatibleError
    missing  'skip' omits files that cannot be opened or have none of the datasets, and warns of
             them; 'refuse' raises an exception
    index    a file that keeps the number of entries of each file. The chain writes it. The next
             chain opens the other files only when it reads their values; rows of a file that has
             other fields, or that has changed, then raise an exception

    `format`, `entries`, `friends` and `bases` are those of open().
    """
    if missing not in ('refuse', 'skip'):
        raise ValueError(f"missing: expected 'refuse' or 'skip', found {missing!r}")
    names = _names(sources)
    paths = tuple(os.fsencode(name) for name in names)
    options = {'union': union, 'missing': missing, 'index': index}
    origin = Origin(names, options, format, None, friends, entries, _names(bases))
    with _missing_source():
        index_path = None if index is None else os.fsencode(index)
        handle = _ntuple.file_open_chain(_reader(), paths, format, index_path, union, missing == 'skip',
                                         friends, tuple(map(os.fsencode, origin.bases)))
    skipped = _ntuple.file_skipped(handle)
    if skipped:
        _errors.warn(skipped)
    return _selected(File(handle, origin), entries)


def _names(paths: Union[Path, Sequence[Path]]) -> Tuple[Path, ...]:
    return (paths,) if isinstance(paths, (str, os.PathLike)) else tuple(paths)


def _has_wildcard(text: str) -> bool:
    return any(wildcard in text for wildcard in '*?[')


def _is_pattern(source: object) -> bool:
    if not isinstance(source, (str, os.PathLike)):
        return False
    name = os.fsdecode(source)
    if '://' in name:
        name = name.partition('?')[0]   # an address may have a query
    return _has_wildcard(name) and not os.path.exists(name)


@contextlib.contextmanager
def _missing_source() -> Iterator[None]:
    """Only a file can be missing here, no dataset and no field."""
    try:
        yield
    except _errors.NotFoundError as error:
        raise _errors.new(_errors.SourceNotFoundError, error.status, str(error), errno.ENOENT) from None


def _selected(file: File, entries: Selection) -> File:
    """Select entries of a file; close it if that fails."""
    try:
        if isinstance(entries, Mapping):
            for path, selected in entries.items():
                select(file._handle, _ntuple.file_find(file._handle, _encoded(path)), selected)
        elif entries is not None:
            select(file._handle, _ntuple.file_find(file._handle, None), entries)
    except BaseException:
        file.close()
        raise
    return file


def _open(origin: Origin) -> File:
    source, format, version, friends = origin.sources[0], origin.format, origin.version, origin.friends
    if isinstance(source, (str, os.PathLike)):
        requested = None if version is None else str(version)
        with _missing_source():
            handle = _ntuple.file_open(_reader(), os.fsencode(source), format, requested, friends,
                                       tuple(map(os.fsencode, origin.bases)))
        return File(handle, origin)
    if version is not None:
        raise ValueError('a bytes-like object has no versions')
    if friends:
        raise ValueError('friends are read from a path')
    if origin.bases:
        raise ValueError('bases: only for a path')
    try:
        memoryview(source)
    except TypeError:
        raise TypeError(f'expected a path or a bytes-like object, found {type(source).__name__}') from None
    memory = np.frombuffer(source, np.uint8) if len(memoryview(source)) else np.empty(0, np.uint8)
    return File(_ntuple.file_open_memory(_reader(), memory, b'memory', format), origin)


def reopen(origin: Origin, states: Dict[str, Any]) -> File:
    """The file of another process, in the same version."""
    options = {'format': origin.format, 'entries': origin.entries, 'friends': origin.friends,
               'bases': origin.bases}
    file = open(origin.sources[0], version=origin.version, **options) if origin.chain is None else \
        chain(origin.sources, **origin.chain, **options)
    try:
        check(states, file._states())
    except BaseException:
        file.close()
        raise
    return file


class File(Mapping):  # type: ignore[type-arg]
    """An open file: a mapping from paths to datasets.

    `close()` or the end of a `with` block closes it. Arrays and tables that were read stay valid.
    Reads in progress, in another thread or through Arrow, finish first.

    A pickled file is opened again where it is unpickled. ChangedError if that is not the same
    version.
    """

    def __init__(self, handle: _ntuple.File, origin: Origin) -> None:
        self._opened: Optional[_ntuple.File] = handle
        self._origin = origin.absolute()
        self._streams: Dict[Tuple[int, int, int, str], Stream] = {}

    @property
    def _handle(self) -> _ntuple.File:
        if self._opened is None:
            raise ValueError('the file is closed')
        return self._opened

    @property
    def closed(self) -> bool:
        return self._opened is None

    def close(self) -> None:
        self._opened = None
        self._streams = {}

    def __enter__(self) -> File:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def __getitem__(self, path: str) -> Dataset:
        return Dataset(self, _ntuple.file_find(self._handle, _encoded(path)))

    def __iter__(self) -> Iterator[str]:
        handle = self._handle
        numbers = range(_ntuple.file_dataset_count(handle))
        return iter(dict.fromkeys(_ntuple.dataset_info(handle, number)['path'] for number in numbers))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _states(self) -> Dict[str, Any]:
        """What tells the version of each file: the same for all datasets of which some were opened."""
        for number in range(_ntuple.file_dataset_count(self._handle)):
            try:
                lines = _ntuple.dataset_files(self._handle, number).splitlines()
            except _errors.Error:
                continue
            return {line['file']: line.get('state') for line in map(json.loads, lines)}
        return {}

    def __reduce__(self) -> Tuple[Any, ...]:
        states = self._states()
        return reopen, (self._origin.pickled(states), states)

    def _stream(self, dataset: int, field: int, kind: str) -> Stream:
        """A stream, opened once per process, because a forked process has its own reader. The file
        keeps streams open, and closes them all when there are too many."""
        handle, key = self._handle, (os.getpid(), dataset, field, kind)
        stream = self._streams.get(key)
        if stream is None:
            opened = _ntuple.stream_open(handle, dataset, field, kind)
            elements, dtype, _ = _ntuple.stream_info(opened)
            stream = Stream(opened, elements, dtype_of(dtype))
            if len(self._streams) >= _MAX_STREAMS:
                self._streams = {}
            self._streams[key] = stream
        return stream

    def __repr__(self) -> str:
        return '<ntuple.File, closed>' if self.closed else f'<ntuple.File: {", ".join(self)}>'

    def only(self) -> Dataset:
        """The only dataset. Older cycles and attribute sets do not count. ArgumentError if there are
        several."""
        return Dataset(self, _ntuple.file_find(self._handle, None))

    def layout(self) -> List[Dict[str, Any]]:
        """Every byte of the file with its owner, in order, as in `layout.jsonl`. This reads all page
        lists."""
        return [json.loads(line) for line in _ntuple.file_layout(self._handle).splitlines()]


class Schema:
    """The fields of a dataset. `str(schema)` has a line for each. `schema.fields` is what
    `ntuple schema --json` prints: dictionaries with name, type, kind, number of items, and sub-fields
    as `fields`."""

    def __init__(self, lines: str, fields: List[Dict[str, Any]]) -> None:
        self._lines = lines
        self.fields = fields

    def __str__(self) -> str:
        return self._lines

    __repr__ = __str__


class Dataset:
    """A dataset: columns by the paths of their fields.

    For fields of plain values, including enums and arrays, `dataset[path]` is a NumPy array of all
    values. All workers decode it. `dataset['muons/_0/pt']` has the values of all muons, one after
    the other. For other fields, `dataset[path]` is the Field: `dataset['muons'].offsets` says which
    items belong to which entry, and `dataset['stream'][a:b]` is a list of strings.

    Every program with the Arrow PyCapsule interface reads the dataset, or a part of it by `select()`,
    as Arrow data: `pyarrow.table(dataset)`, `polars.DataFrame(dataset)`,
    `duckdb.sql('select ... from dataset')`.

    path, file        the path within the file, and the file
    name, title, description, writer, format, version, generation, cycle
                      as stored
    entries           the number of selected entries
    stored_entries    the number of all entries
    """

    def __init__(self, file: File, number: int) -> None:
        info = _ntuple.dataset_info(file._handle, number)
        self.file = file
        self.path: str = info['path']
        self.name: str = info['name']
        self.title: str = info['title']
        self.description: str = info['description']
        self.writer: str = info['writer']
        self.format: str = info['format']
        self.version: str = info['version']
        self.generation: str = info['generation']
        self.cycle: int = info['cycle']
        self.entries: int = info['entries']
        self.stored_entries: int = info['stored_entries']
        self.is_attribute_set: bool = info['is_attribute_set']
        self._number = number
        self._made: Made = [(0, None)]

    @property
    def _whole(self) -> View:
        """All of it. The views share a table, and the dataset has none of them: in a cycle, only the
        garbage collector would close the file."""
        view = self.select()
        view._made = self._made
        return view

    @property
    def _handle(self) -> _ntuple.File:
        return self.file._handle

    def __reduce__(self) -> Tuple[Any, ...]:
        return File.__getitem__, (self.file, self.path)

    def __repr__(self) -> str:
        return f'<ntuple.Dataset {self.path!r}: {self.entries} entries>'

    # ---- fields ----

    def _find(self, path: str) -> int:
        return _ntuple.dataset_find(self._handle, self._number, _encoded(path))

    def _field(self, number: int) -> Field:
        return Field(self, number)

    @property
    def fields(self) -> List[Field]:
        """The top-level fields."""
        return [Field(self, number) for number in _ntuple.dataset_children(self._handle, self._number, None)]

    def keys(self) -> List[str]:
        """The paths of the top-level fields."""
        return [field.path for field in self.fields]

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __contains__(self, path: object) -> bool:
        try:
            return isinstance(path, str) and self._find(path) >= 0
        except _errors.NotFoundError:
            return False

    def field(self, path: str) -> Field:
        """The field at a path: 'weight', 'muons/_0/pt'. Names are written as in the mounted tree."""
        return Field(self, self._find(path))

    def match(self, pattern: Union[str, Sequence[str]]) -> List[Field]:
        """The fields that match a path or pattern, or several: 'Muon_*', 'muons/_0/p?', '**/pt'. The
        items of collections may be omitted: 'muons/pt'. NotFoundError if one matches no field."""
        patterns = [pattern] if isinstance(pattern, str) else pattern
        numbers = [number for path in patterns for number in self._match(path)]
        return [Field(self, number) for number in dict.fromkeys(numbers)]

    def _match(self, pattern: str) -> List[int]:
        return _ntuple.dataset_match(self._handle, self._number, _encoded(pattern))

    def __getitem__(self, path: str) -> Union[Array, Field]:
        field = self.field(path)
        valued = field.valued()
        return valued[:] if valued.is_plain else field

    @property
    def schema(self) -> Schema:
        """The fields with their types, items and descriptions."""
        document = json.loads(_ntuple.dataset_schema(self._handle, self._number, False))
        lines = _ntuple.dataset_schema(self._handle, self._number, True).decode()
        return Schema(lines.rstrip('\n'), document['fields'])

    def layout(self) -> List[Dict[str, Any]]:
        """The bytes of the file that belong to this dataset, as in File.layout()."""
        return [item for item in self.file.layout() if item.get('dataset') == self.path]

    # ---- values ----

    def _range(self, entries: Optional[Tuple[int, int]]) -> Tuple[int, int]:
        if entries is None:
            return 0, self.entries
        first, end = entries
        if not 0 <= first <= end <= self.entries:
            raise IndexError(f'entries {first} to {end} do not exist: there are {self.entries}')
        return first, end

    def _is_name(self, path: str) -> bool:
        """Does it name a field? A pattern does not."""
        return not _has_wildcard(path) or path in self

    def _requested(self, paths: Columns) -> Dict[str, Tuple[Field, bool]]:
        """The requested fields, each under the path that requested it, and whether this is its name. A
        pattern requests all fields with arrays at or below those that it matches, each under its own
        path; None requests all."""
        fields: Dict[str, Tuple[Field, bool]] = {}
        for path in [paths] if isinstance(paths, str) or paths is None else paths:
            if path is not None and path in self:
                fields[path] = self.field(path), True
                continue
            tops = self.fields if path is None else self.match([path])
            is_name = path is not None and self._is_name(path)
            for top in tops:
                for field in top._with_arrays():
                    fields[field.path] = field, is_name or fields.get(field.path, (field, False))[1]
        return fields

    def _spans(self, requested: Dict[str, Tuple[Field, bool]], first: int, end: int) -> Dict[str, Span]:
        """The elements for a range of entries, without what cannot be read and was not named."""
        spans = {}
        for path, (field, is_name) in requested.items():
            try:
                spans[path] = field._span_of_entries(first, end)
            except _errors.UnsupportedError as error:
                if is_name:
                    raise
                _errors.warn_omitted(path, field.unreadable or str(error))
        return spans

    def arrays(self, paths: Columns = None, entries: Optional[Tuple[int, int]] = None, *,
               out: Optional[Mapping[str, Array]] = None, library: str = 'np') -> Any:
        """Several columns in one call, which keeps all processors busy even if each is small. Returns
        a dictionary from paths to arrays, in the order of `paths`. The array of a collection is its
        offsets, which begin with 0.

        paths    a path or a pattern, or several; a pattern ('Muon_*') means the fields that it
                 matches with everything below them; None: all
        entries  only the values of entries (first, end)
        out      the arrays of an earlier call for as many values: they are read into, so the system
                 need not provide new memory
        library  'np' as described; 'ak': what awkward() returns; 'pa': a pyarrow.Table
        """
        if library not in ('np', 'ak', 'pa'):
            raise ValueError(f"library: expected 'np', 'ak' or 'pa', found {library!r}")
        if library != 'np':
            if out is not None:
                raise ValueError("out: only with library='np'")
            return self.awkward(paths, entries) if library == 'ak' else self._arrow(paths, entries)
        requested = {path: (field.valued(), is_name)
                     for path, (field, is_name) in self._requested(paths).items()}
        _ntuple.fields_announce(self.file._handle, self._number,
                                [field._number for field, _ in requested.values()])
        first, end = self._range(entries)
        spans = self._spans(requested, first, end)
        outputs = None if out is None else [
            None if requested[path][0]._is_strided else out[path] for path in spans]
        arrays = read(list(spans.values()), outputs)
        return {path: requested[path][0]._array_of_span(array, first, end)
                for path, array in zip(spans, arrays)}

    def iterate(self, paths: Columns = None, step: int = 100_000,
                entries: Optional[Tuple[int, int]] = None, *, library: str = 'np') -> Iterator[Any]:
        """What arrays() returns, for `step` entries at a time. Memory holds only these."""
        if step < 1:
            raise ValueError(f'step: expected at least 1, found {step}')
        first, end = self._range(entries)
        for start in range(first, end, step):
            yield self.arrays(paths, (start, min(start + step, end)), library=library)

    # ---- parts ----

    def partitions(self, bytes: int = 64 << 20,
                   columns: Union[str, Sequence[str], None] = None) -> List[Partition]:
        """Parts of the dataset for different processes, in the order of the entries. Each has whole
        clusters of one file, as many as have at most so many stored bytes in total, but at least one.
        This reads the page lists.

        columns  paths or patterns of fields: the parts have these, and only these bytes count; None:
                 all
        """
        return divide(self, bytes, columns)

    # ---- Arrow ----

    def select(self, columns: Union[str, Sequence[str], None] = None,
               entries: Optional[Tuple[int, int]] = None, *,
               strings: str = 'text', variants: str = 'struct') -> View:
        """Some columns and entries as Arrow. Nothing else is decoded. docs/arrow.md has the types.

        columns   paths or patterns of fields, each with everything below it; None: all
        entries   (first, end)
        strings   'text', or 'binary' for strings that may not be UTF-8
        variants  'struct', 'union' or 'omit'
        """
        return View(self, columns, entries, strings, variants)

    def scan(self, columns: Union[str, Sequence[str], None] = None,
             entries: Optional[Tuple[int, int]] = None) -> Any:
        """What select() returns as a pyarrow.RecordBatchReader, for engines that take one: DuckDB.
        It reads once, a cluster at a time."""
        return self.select(columns, entries).scan()

    def awkward(self, columns: Union[str, Sequence[str], None] = None,
                entries: Optional[Tuple[int, int]] = None) -> Any:
        """What select() returns as an Awkward array, by awkward and pyarrow. Maps are lists of
        records."""
        return _awkward.array(self._arrow(columns, entries))

    def _arrow(self, columns: Union[str, Sequence[str], None], entries: Optional[Tuple[int, int]]) -> Any:
        return _lazy.module('pyarrow').table(self.select(columns, entries))

    def to_parquet(self, path: Path, columns: Union[str, Sequence[str], None] = None,
                   entries: Optional[Tuple[int, int]] = None, *, compression: str = 'zstd',
                   strings: str = 'text') -> None:
        """Write columns and entries, as for select(), to a Parquet file, by pyarrow and batch by batch.
        The file has its name only when it is complete; it replaces another one. `columns` None: all,
        without collections whose fields all have a projected field, as in NanoAOD. `strings` 'binary':
        as bytes, if they may not be UTF-8."""
        view = self.select(_parquet.columns_of(self) if columns is None else columns, entries,
                           strings=strings)
        if columns is None:
            view._named = []   # by the caller
        _parquet.write(view, os.fsdecode(path), compression)

    def __arrow_c_schema__(self) -> object:
        """The schema as a PyCapsule."""
        return self._whole.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> object:
        """All batches as a PyCapsule."""
        return self._whole.__arrow_c_stream__(requested_schema)
