# SPDX-License-Identifier: MIT
"""Read RNTuple files, and other columnar formats, as NumPy arrays and Arrow.

>>> import ntuple
>>> with ntuple.open('tests/data/example.root') as file:
...     events = file['Events']
...     pt = events['muons/_0/pt']               # a NumPy array: the values of all muons
...     offsets = events['muons'].offsets        # where the muons of each entry begin
"""
from ._errors import (ArgumentError, ChangedError, ChecksumError, CorruptError, Error, FormatError,
                      IncompatibleError, LimitError, MountError, NotFoundError, OutOfMemoryError,
                      ReadError, SourceNotFoundError, TruncatedError, UnreachableError,
                      UnsupportedError)
from ._field import Field
from ._file import Dataset, File, Schema, chain, counters, formats, open
from ._mount import mount, name_helper as _name_helper
from ._ntuple import library_version as _library_version
from ._parts import Partition
from ._view import View

__version__ = _library_version()
_name_helper()

__all__ = ['ArgumentError', 'ChangedError', 'ChecksumError', 'CorruptError', 'Dataset', 'Error', 'Field',
           'File', 'FormatError', 'IncompatibleError', 'LimitError', 'MountError', 'NotFoundError',
           'OutOfMemoryError', 'Partition', 'ReadError', 'Schema', 'SourceNotFoundError', 'TruncatedError',
           'UnreachableError', 'UnsupportedError', 'View', 'chain', 'counters', 'formats', 'mount', 'open']
