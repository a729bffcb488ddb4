# SPDX-License-Identifier: MIT
"""Mounting with the program ntuplefs."""
from __future__ import annotations

import contextlib
import errno
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any, Iterator, List, Optional

from . import _errors


def _failure(number: int, message: str) -> _errors.Error:
    return _errors.new(_errors.MountError, 'mount', message, number)


def _script(name: str) -> Optional[str]:
    """The path of a program in the directories where a wheel has its programs."""
    folders = [sysconfig.get_path('scripts'), os.path.dirname(sys.executable),
               sysconfig.get_path('scripts', 'posix_user')]
    return shutil.which(name, path=os.pathsep.join(folders))


def name_helper() -> None:
    """Tell the library where the network helper of a wheel is; other installations know. The helper of
    a wheel knows where most systems have their certificate authorities; certifi's are for the others."""
    helper = _script('ntuplefs-fetch')
    if not helper:
        return
    os.environ.setdefault('NTUPLE_FETCH', helper)
    certifi = importlib.util.find_spec('certifi')
    if certifi and certifi.origin:
        bundle = os.path.join(os.path.dirname(certifi.origin), 'cacert.pem')
        os.environ.setdefault('NTUPLE_CA_BUNDLE', bundle)


def program(name: str) -> str:
    """The path of a program of this project: of a wheel, or on PATH."""
    found = _script(name) or shutil.which(name)
    if not found:
        raise _failure(errno.ENOENT, f'the program {name} is not installed')
    return found


def _problem() -> Optional[str]:
    """Why mounting is impossible here, if that is known."""
    try:
        os.close(os.open('/dev/fuse', os.O_RDWR))
    except OSError as error:
        return f'/dev/fuse: {error.strerror}'
    if os.geteuid() != 0 and not shutil.which('fusermount3'):
        return 'the program fusermount3 is not installed'
    return None


def _options(options: Any) -> List[str]:
    words = []
    for name, value in options.items():
        if value is False or value is None:
            continue
        words += ['-o', name if value is True else f'{name}={value}']
    return words


def _unmount(path: Path) -> None:
    """Unmount lazily: a program that has a file open can read it until it closes it."""
    command = ['fusermount3', '-u', '-z'] if shutil.which('fusermount3') else ['umount', '-l']
    subprocess.run([*command, str(path)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=False)


@contextlib.contextmanager
def mount(source: 'os.PathLike[str] | str', **options: Any) -> Iterator[Path]:
    """Mount a file or a directory of files for a `with` block, which gets the path of the tree.

    `options` are those of `ntuplefs -o`: `mount(path, text='sized', cachesize='1G')`. Raises
    MountError if mounting is impossible here. `ntuple.open` needs no mount.
    """
    mounter = program('ntuplefs')
    problem = _problem()
    if problem:
        raise _failure(errno.EPERM, f'cannot mount here: {problem}')
    folder = Path(tempfile.mkdtemp(prefix='ntuple-'))
    try:
        result = subprocess.run([mounter, *_options(options), os.fspath(source), str(folder)],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                check=False)
        if result.returncode:
            raise _failure(errno.EIO, result.stderr.decode(errors='replace').strip() or f'{mounter} failed')
        try:
            yield folder
        finally:
            _unmount(folder)
    finally:
        with contextlib.suppress(OSError):
            folder.rmdir()
