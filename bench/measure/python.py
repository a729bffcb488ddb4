# SPDX-License-Identifier: MIT
"""The speed of the Python package compared with the library's own program and uproot. A reader's
third pass counts, as in speed. New arrays need new memory, which the library's program does not;
that program is compared with arrays that exist already.
"""
import functools
import os
import subprocess
import sys

from .peers import HERE, python_peer
from .rounds import take_turns
from .speed import PASSES, title

CASES = [("events-zstd", "*"), ("events-zlib", "*"), ("hits-zstd", "px")]
LIBRARY, INTO, NEW, UPROOT = "library", "ntuple, arrays that are there", "ntuple, new arrays", "uproot"


def timed(name, command, path, field, *arguments, modules=None):
    """{name: (bytes or 0, seconds)}"""
    environment = os.environ | ({"PYTHONPATH": str(modules)} if modules else {})
    result = subprocess.run([*map(str, command), path, field, *map(str, arguments)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env=environment)
    if result.returncode:
        print(f"{name} does not read {path}: {result.stderr.splitlines()[-1:]}", file=sys.stderr)
        return {}
    size, *seconds = result.stdout.split()
    return {name: (int(size), float(seconds[-1]))}


def groups(arguments, path, field):
    """Readers that are compared closely form one group."""
    close = []
    for build in arguments.builds:
        close.append(functools.partial(timed, build.prefix + LIBRARY, [build.tool("read_columns")], path,
                                       field,
                                       arguments.threads, PASSES))
        for name, peer in ((INTO, "ntuple-into"), (NEW, "ntuple")):
            close.append(functools.partial(timed, build.prefix + name,
                                           [sys.executable, HERE / "python_peer.py", peer], path,
                                           field, PASSES, modules=build.directory / "python"))
    uproot = python_peer("uproot") if arguments.peers else None
    return [close, [functools.partial(timed, UPROOT, uproot, path, field, PASSES)] if uproot else []]


def speeds(rounds):
    """Bytes per second. The bytes of all fields are those that the library's program prints."""
    size = max((size for found in rounds for size, _ in found.values()), default=0)
    return [{what: size / seconds for what, (_, seconds) in found.items()} for found in rounds]


def measure(arguments, folder, results, save):
    for case, field in CASES:
        if arguments.only in case:
            path = str(arguments.data / f"{case}.root")
            results["python"][title(case, field)] = speeds(take_turns(groups(arguments, path, field),
                                                                      arguments.rounds))
            save()
