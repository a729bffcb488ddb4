# SPDX-License-Identifier: MIT
"""Failures of the library as exceptions: one class for each status, derived from Error and the
matching exception of Python."""
from __future__ import annotations

import errno as _errno
import sys as _sys
import warnings as _warnings
from typing import Dict, Optional, Type


class Error(Exception):
    """Something could not be read. `str(error)` says where, what was expected and what was found.

    status    the kind of failure in one word or two: 'checksum mismatch', 'corrupt', ...
    offset    the position in the file, or None
    expected  the expected value, if it is a single one; else ''
    found     the value that was found
    """

    status: str = ''
    offset: Optional[int] = None
    expected: str = ''
    found: str = ''

    def __str__(self) -> str:
        """The message, without what others append to `args`. An OSError has its errno before it."""
        message = self.args[1:2] if isinstance(self, OSError) else self.args[:1]
        return str((message or self.args or (self.status,))[0])


class NotFoundError(Error, KeyError):
    """There is no such dataset or field."""


class SourceNotFoundError(Error, FileNotFoundError):
    """There is no such file."""


class FormatError(Error, ValueError):
    """The format of the file is unknown, or not the requested one."""


class UnsupportedError(Error, NotImplementedError):
    """The file uses a feature that this version cannot read."""


class UnreadableError(UnsupportedError, AttributeError):
    """This version cannot read the field, which therefore has no streams."""


class MissingStreamError(AttributeError, TypeError):
    """Fields of this kind have no such stream. `hasattr(field, 'offsets')` is False."""


class CorruptError(Error, ValueError):
    """The bytes contradict the specification or themselves."""


class ChecksumError(CorruptError):
    """A checksum does not match."""


class TruncatedError(CorruptError):
    """The file ends before its data does."""


class IncompatibleError(Error, ValueError):
    """A file of a chain is whole, but its schema differs from the first file's."""


class ChangedError(Error, OSError):
    """The file was modified while it was open."""


class ReadError(Error, OSError):
    """The operating system refused; `errno` says why."""


class UnreachableError(Error, OSError):
    """A server did not answer, or answered with an error; a later try may succeed."""


class OutOfMemoryError(Error, MemoryError):
    """There is not enough memory."""


class LimitError(Error, ValueError):
    """A size or count exceeds a limit that protects the reader."""


class ArgumentError(Error, ValueError):
    """The request is not valid."""


class MountError(Error, OSError):
    """The file could not be mounted: there is no FUSE, no program ntuplefs, or the program
    failed; the message says which."""


_CLASSES: Dict[str, Type[Error]] = {
    'not found': NotFoundError,
    'not this format': FormatError,
    'unsupported': UnsupportedError,
    'corrupt': CorruptError,
    'checksum mismatch': ChecksumError,
    'truncated': TruncatedError,
    'incompatible': IncompatibleError,
    'source changed': ChangedError,
    'input/output error': ReadError,
    'out of memory': OutOfMemoryError,
    'unreachable': UnreachableError,
    'over a limit': LimitError,
    'invalid argument': ArgumentError,
}


def new(kind: Type[Error], status: str, message: str, number: int = 0) -> Error:
    """An exception of the class; subclasses of OSError get an errno."""
    error = kind(number, message) if issubclass(kind, OSError) else kind(message)
    error.status = status
    return error


def make(status: str, message: str, offset: int, number: int, expected: str, found: str) -> Error:
    """The function that the module calls to raise an exception."""
    kind = _CLASSES.get(status, Error)
    error = new(kind, status, message, number or (_errno.ESTALE if kind is ChangedError else _errno.EIO))
    error.offset = None if offset < 0 else offset
    error.expected, error.found = expected, found
    return error


def warn_omitted(path: str, reason: str) -> None:
    """Warn of a field that is left out because nobody named it and it cannot be shown."""
    warn(f'{path}: omitted: {reason}')


def warn(message: str) -> None:
    """The warning has the line outside of this package, so that Python shows it once for each."""
    level, frame = 1, _sys._getframe()
    while frame.f_back and frame.f_globals.get('__package__') == __package__:
        level, frame = level + 1, frame.f_back
    _warnings.warn(message, stacklevel=level)
