#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Small files that ask for much: the programs take less than two seconds and 256 MiB for each, or refuse it with the
limit's name. What is measured is time of a processor, which does not depend on what else the machine does."""
import json
import os
import subprocess
import tempfile
from pathlib import Path

from harness import (NTUPLE, TIMEOUT, Skip, case, command, decoder_of, fuse_problem, high_water, mounted, own_seconds, run)

SECONDS, BYTES = 2, 256 << 20
MOST_FILES_READ, BYTES_OF_A_FILE = 400, 1 << 20
IS_SANITIZED = bool(os.environ.get('ASAN_OPTIONS'))
EXIT_UNSUPPORTED = 4

directory = tempfile.TemporaryDirectory(prefix='ntuplefs-bombs-')
subprocess.run([os.environ['MAKE_BOMBS'], directory.name], check=True)


def write_json_bombs():
    """Bloscpack files without chunks of meaning, whose metadata is JSON of a million values; BLZ tables that hold
    themselves."""
    for name, directories in {'itself': {'a': '.', 'b': '.'}, 'empty': {'a': '', 'b': ''}}.items():
        table = Path(directory.name, f'table_of_{name}')
        table.mkdir()
        (table / '__rootdirs__').write_text(json.dumps({'dirs': directories, 'names': list(directories)}))
    link = Path(directory.name, 'table_of_links')
    link.mkdir()
    (link / '__rootdirs__').write_text(json.dumps({'dirs': {'a': 'a', 'b': 'b'}, 'names': ['a', 'b']}))
    for name in 'ab':
        (link / name).symlink_to('.')


write_json_bombs()


def files():
    """The project's own, and those of a directory of others where it is there."""
    yield from sorted(Path(directory.name).iterdir())
    shared = Path(os.environ.get('NTUPLE_SHARED', '/nowhere'), 'data', 'attack')
    if shared.is_dir():
        for path in sorted(shared.iterdir()):
            size = sum(part.stat().st_size for part in path.rglob('*')) if path.is_dir() else path.stat().st_size
            if path.suffix != '.md' and size < 1 << 20:
                yield path


def check_limits(what, seconds, peak):
    if IS_SANITIZED:
        return
    if seconds >= SECONDS:
        raise AssertionError(f'{what}: {seconds:.1f} s')
    if peak >= BYTES:
        raise AssertionError(f'{what}: {peak >> 20} MiB')


def measured(*arguments):
    """Run ntuple; its exit status and messages. Its time and memory are within the limits."""
    with tempfile.TemporaryFile() as messages:
        process = subprocess.Popen([NTUPLE, *map(str, arguments)], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=messages)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        messages.seek(0)
        text = messages.read().decode()
    if process.returncode < 0:
        raise AssertionError(f'{arguments}: signal {-process.returncode}')
    check_limits(arguments, usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10)
    return process.returncode, text


@case
def verifying_takes_little_or_says_why_not():
    for path in files():
        measured('verify', path)


@case
def listing_takes_little_or_says_why_not():
    for path in files():
        status, text = measured('ls', '-lR', path)
        if status == EXIT_UNSUPPORTED and 'limit' not in text:
            raise AssertionError(f'{path.name}: {text!r} names no limit')


@case
def the_first_rows_and_what_is_told_of_columns_take_little():
    for path in files():
        if path.suffix == '.lance':
            for name in 'head', 'inspect', 'stat':
                measured(name, path)


def read_some(top):
    number = 0
    for parent, _, names in os.walk(top):
        for name in names:
            if number == MOST_FILES_READ:
                return
            number += 1
            try:
                with open(Path(parent, name), 'rb') as file:
                    file.read(BYTES_OF_A_FILE)
            except OSError:
                pass  # is refused


@case
def a_mount_that_is_listed_and_read_takes_little():
    if problem := fuse_problem():
        raise Skip(problem)
    for path in files():
        if command(NTUPLE, 'stat', path).returncode:
            continue  # nothing that can be mounted
        with mounted(path, options=['-o', 'broken=show']) as top:
            process = decoder_of(top)
            command('ls', '-lR', top, timeout=TIMEOUT, env={'LC_ALL': 'C', 'PATH': os.environ['PATH']})
            seconds = own_seconds(process)
            check_limits(f'{path.name}: ls -lR', seconds, high_water(process))
            read_some(top)
            check_limits(f'{path.name}: reading', own_seconds(process) - seconds, high_water(process))


run(needs_fuse=False)
