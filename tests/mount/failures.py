# SPDX-License-Identifier: MIT
"""Reading all files of a mount, some of which fail, and what `ntuple verify` finds in the same
source."""
import errno
import json
import os

from harness import NTUPLE, command

TOLD = 'status', 'file_offset', 'expected', 'found'  # in errors.jsonl and verify alike, besides `what`


# ---- reading everything ----

def files_of(top, is_reversed, without):
    """All files in one order or the other; of a column's pages the first few. Skips directories
    whose names begin with `without`."""
    for base, directories, files in os.walk(top):
        directories[:] = sorted((name for name in directories if name != '.ntuplefs'
                                 and not (without and name.startswith(without))),
                                reverse=is_reversed)
        files = sorted(files, key=lambda name: (len(name), name))
        if base.endswith('/pages'):
            files = files[:8]
        yield from (os.path.join(base, name) for name in (reversed(files) if is_reversed else files))


def request(function, *arguments):
    """Did a request fail because something is damaged?"""
    try:
        function(*arguments)
    except OSError as problem:
        assert problem.errno in (errno.EIO, errno.ESTALE, errno.ENODATA), problem
        return problem.errno != errno.ENODATA
    return False


def read(path):
    with open(path, 'rb', buffering=0) as file:
        while file.read(1 << 20):
            pass


def read_everything(top, is_reversed, without=None):
    """Every file twice, and its messages. Returns the paths that fail."""
    failed = []
    for path in files_of(top, is_reversed, without):
        results = [request(read, path), request(os.listxattr, path), request(read, path)]
        results += [request(os.getxattr, path, f'user.ntuplefs.{name}')
                    for name in ('compression', 'shape', 'pages')]
        if results[0]:
            failed.append(os.path.relpath(path, top))
    return failed


# ---- what is told ----

def findings(path):
    """What verify finds: in what can be opened, or why nothing can."""
    result = command(NTUPLE, 'verify', '--json', path)
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    return [line for line in lines if line.get('finding') == 'damaged' or 'what' in line]
