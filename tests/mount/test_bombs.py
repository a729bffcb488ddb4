#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files that demand much: the programs take less than two seconds and 256 MiB for each, or
refuse it with the limit's name; for files of more than 1 MB on disk, less than 0.3 s per
megabyte, and 256 MiB plus their size. Each is tried unchanged, with a hole of 1 TiB after it,
and from a server that claims that it has 10^12 bytes; stored padding is no way around, either.
Time is CPU time of a machine that compresses 16 MB a second with zlib; on a slower or busier
one, a run may take as much longer as compressing does, or as sorting texts does: neighbors slow
down programs that use much memory the most."""
import contextlib
import http.server
import itertools
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from pathlib import Path

from harness import (NTUPLE, Skip, case, command, decoder_of, fuse_problem, high_water, mounted,
                     own_seconds, run)
from many_fragments import FRAGMENT_ID, write_fragments

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'support'))
from lance_editor import FIELDS, FRAGMENTS, ManifestEditor, items_of, member, message_of  # noqa: E402

SECONDS, BYTES = 2, 256 << 20
SECONDS_A_MEGABYTE, MEGABYTE = 0.3, 10**6
LARGE = 'large_and_dense.root'
HOLE, CLAIM, PADDING = 1 << 40, 10**12, 100 * MEGABYTE
TRIES = 6
MOST_FILES_READ, BYTES_OF_A_FILE = 100, 1 << 20
MOST_AGAIN = 40  # of them, with a hole or by a server
# `ntuple ls -lR` lists all; an entry of a mount takes no more, but many calls of the kernel.
MAX_LINES = 20_000
# Numbers as text, and the time in which the machine of the limits compresses them; and in which it makes and
# sorts so many texts.
WORK, WORK_SECONDS = ' '.join(map(str, range(0, 2**31, 14321))).encode(), 0.1
TEXTS, TEXTS_SECONDS = 150000, 0.082
IS_SANITIZED = bool(os.environ.get('ASAN_OPTIONS'))
EXIT_UNSUPPORTED = 4
VERSIONS, MANIFEST_VERSION = 65000, 3

directory = tempfile.TemporaryDirectory(prefix='ntuplefs-bombs-')
subprocess.run([os.environ['MAKE_BOMBS'], directory.name], check=True)


def write_json_bombs():
    """Bloscpack files with meaningless chunks, whose metadata is JSON of a million values; BLZ
    tables that contain themselves."""
    for name, directories in {'itself': {'a': '.', 'b': '.'}, 'empty': {'a': '', 'b': ''}}.items():
        table = Path(directory.name, f'table_of_{name}')
        table.mkdir()
        (table / '__rootdirs__').write_text(json.dumps({'dirs': directories, 'names': list(directories)}))
    link = Path(directory.name, 'table_of_links')
    link.mkdir()
    (link / '__rootdirs__').write_text(json.dumps({'dirs': {'a': 'a', 'b': 'b'}, 'names': ['a', 'b']}))
    for name in 'ab':
        (link / name).symlink_to('.')


def write_dense(directory):
    """A megabyte of descriptions only: buckets of 64-bit Roaring bitmaps, containers of a 32-bit
    one, chunks of Bloscpack."""
    chance = random.Random(1)
    buckets = b''.join(struct.pack('<IIIHHIH', i * 90000 + chance.randrange(90000), 12346, 1,
                                   chance.randrange(1 << 16), 0, 16, chance.randrange(1 << 16))
                       for i in range(45000))
    Path(directory, 'dense_buckets.roaring').write_bytes(struct.pack('<Q', 45000) + buckets)
    keys = b''.join(struct.pack('<HH', key, 0) for key in range(1 << 16))
    offsets = b''.join(struct.pack('<I', 8 + (8 << 16) + 2 * key) for key in range(1 << 16))
    Path(directory, 'dense_containers.roaring').write_bytes(struct.pack('<II', 12346, 1 << 16) + keys
                                                            + offsets + chance.randbytes(2 << 16))
    count = 36000
    text = json.dumps({'container': 'numpy', 'order': 'C', 'shape': [count], 'dtype': "'<i4'"}).encode()
    head = struct.pack('<4sBBBBiiqq', b'blpk', 3, 3, 0, 4, 4, 4, count, 0) + struct.pack('<8sBBBBIII8x',
            b'JSON', 0, 0, 0, 0, *[len(text)] * 3) + text
    offsets = b''.join(struct.pack('<q', len(head) + 8 * count + 20 * i) for i in range(count))
    chunks = b''.join(struct.pack('<BBBBIII', 2, 1, 2, 4, 4, 4, 20) + chance.randbytes(4)
                      for _ in range(count))
    Path(directory, 'dense_chunks.blp').write_bytes(head + offsets + chunks)


def write_field(number, parent):
    members = [2, f'f{number}'.encode()], [3, number], [4, parent], [5, b'struct' if parent + 1 else b'int32']
    return member(FIELDS, message_of([member(*each) for each in members]))


def write_dataset(name, numbers, change):
    """A dataset of Lance whose manifest has other members with these numbers."""
    write_fragments(Path(directory.name, name), 1)
    editor = ManifestEditor(Path(directory.name, name))
    items = [item for item in items_of(editor.message) if item[0] not in numbers]
    editor.message = message_of([*change, *items])
    editor.write()


def write_datasets():
    """Datasets of Lance with a million empty fragments, 40,000 fields side by side and within one another,
    and 65,000 versions, of which only the first and the last one are good."""
    write_dataset('empty_fragments', [FRAGMENTS],
                  [member(FRAGMENTS, message_of([member(FRAGMENT_ID, i)])) for i in range(10**6)])
    write_dataset('flat_fields', [FIELDS, FRAGMENTS], [write_field(i, 2**64 - 1) for i in range(40000)])
    write_dataset('nested_fields', [FIELDS, FRAGMENTS],
                  [write_field(i, i - 1 if i else 2**64 - 1) for i in range(40000)])
    write_fragments(Path(directory.name, 'versions'), 1)
    editor = ManifestEditor(Path(directory.name, 'versions'))
    first = editor.path
    editor.path = first.with_name(f'{2 ** 64 - 1 - VERSIONS}.manifest')
    editor.change((MANIFEST_VERSION,), VERSIONS)
    editor.write()
    for number in range(2, VERSIONS):
        os.link(first, first.with_name(f'{2 ** 64 - 1 - number}.manifest'))


write_json_bombs()
write_dense(directory.name)
write_datasets()


def files():
    """The project's own, and those of another directory if it exists."""
    yield from sorted(Path(directory.name).iterdir())
    shared = Path(os.environ.get('NTUPLE_SHARED', '/nowhere'), 'data', 'attack')
    if shared.is_dir():
        for path in sorted(shared.iterdir()):
            size = sum(part.stat().st_size
                       for part in path.rglob('*')) if path.is_dir() else path.stat().st_size
            if path.suffix != '.md' and size < 1 << 20:
                yield path


def most_seconds(size):
    """`size`: of a file, on the disk."""
    return max(SECONDS, SECONDS_A_MEGABYTE * size / MEGABYTE if size > MEGABYTE else 0)


def slowness():
    """How many times the time of the limits' machine this one needs now; at least 1. The
    highest of five samples counts, because other programs slow down only some of them."""
    def once():
        start = time.thread_time()
        zlib.compress(WORK)
        compressed = time.thread_time()
        sorted(f'{number:>12} {number * 7919}' for number in range(TEXTS))
        return max((compressed - start) / WORK_SECONDS, (time.thread_time() - compressed) / TEXTS_SECONDS)
    return max(1, *(once() for _ in range(5)))


def takes_too_long(seconds, size):
    return seconds >= most_seconds(size) and seconds >= most_seconds(size) * slowness()


def check_limits(what, seconds, peak, size=0):
    is_large = size > MEGABYTE
    if IS_SANITIZED:
        return
    if takes_too_long(seconds, size):
        raise AssertionError(f'{what}: {seconds:.1f} s on a machine {slowness():.1f} times as slow')
    if peak >= BYTES + (size if is_large else 0):
        raise AssertionError(f'{what}: {peak >> 20} MiB')


def measured(*arguments, size=0):
    """Run ntuple; returns its exit status and messages. Checks its time and memory. `size`: of
    the file, if it is large. Other processes make a run up to half as long again: one that took
    too long is repeated, after a longer pause each time."""
    for pause in range(TRIES):
        time.sleep(pause)
        code, text, seconds, peak = run_once(*arguments)
        if not takes_too_long(seconds, size):
            break
    check_limits(arguments, seconds, peak, size)
    return code, text


def run_once(*arguments):
    with tempfile.TemporaryFile() as messages:
        process = subprocess.Popen([NTUPLE, *map(str, arguments)], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=messages)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        messages.seek(0)
        text = messages.read().decode()
    if process.returncode < 0:
        raise AssertionError(f'{arguments}: signal {-process.returncode}')
    return process.returncode, text, usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10


def size_of(path):
    """Of a large file, or of the metadata of a large dataset."""
    if path.is_dir():
        return sum({file.stat().st_ino: file.stat().st_size for file in path.rglob('*.manifest')}.values())
    return path.stat().st_size if path.name == LARGE else 0


def single_files():
    """Those that a hole or a server changes."""
    return [path for path in files() if path.is_file()]


# Their pages are damaged, and each is requested twice: so many requests take minutes, though hardly
# any CPU time.
DAMAGED = 'dense_clusters.root', 'dense_pages.root', 'many_damaged_objects.root'


def mounted_files(paths):
    """All but the large one: listing it takes the kernel minutes."""
    return [path for path in paths if path.name != LARGE]


@contextlib.contextmanager
def copied(path, change):
    """A changed copy; None if this file system cannot store it."""
    with tempfile.TemporaryDirectory(prefix='ntuplefs-bomb-') as place:
        copy = Path(place, path.name)
        shutil.copy(path, copy)
        copy.chmod(0o600)
        try:
            change(copy)
        except OSError as error:
            raise Skip(f'{path.name}: {error.strerror}') from error
        yield copy


def add_hole(path):
    os.truncate(path, HOLE)


def add_padding(path):
    with open(path, 'r+b') as file:
        os.posix_fallocate(file.fileno(), path.stat().st_size, PADDING)


class Claiming(http.server.BaseHTTPRequestHandler):
    """A file, followed by zeros without end."""
    protocol_version = 'HTTP/1.1'
    disable_nagle_algorithm = True  # else each answer waits 40 ms for an acknowledgement

    def log_message(self, *_):
        pass

    def do_GET(self):
        first, last = re.fullmatch(r'bytes=(\d*)-(\d*)', self.headers['Range']).groups()
        if first:
            first, last = int(first), min(int(last or CLAIM), CLAIM - 1)
        else:
            first, last = CLAIM - int(last), CLAIM - 1
        part = self.server.content[first:last + 1].ljust(last + 1 - first, b'\0')
        self.send_response(206)
        for name, value in {'ETag': '"1"', 'Content-Range': f'bytes {first}-{last}/{CLAIM}',
                            'Content-Length': len(part)}.items():
            self.send_header(name, str(value))
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(part)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """Clients that close the connection."""


@contextlib.contextmanager
def claimed(path):
    """The address of a server that claims that a file is much longer."""
    with Server(('127.0.0.1', 0), Claiming) as server:
        server.content = path.read_bytes()
        threading.Thread(target=server.serve_forever, args=[0.02], daemon=True).start()
        yield f'http://127.0.0.1:{server.server_port}/{path.name}'
        server.shutdown()


def listed_and_read(path):
    with mounted(path, options=['-o', 'broken=show']) as top:
        process = decoder_of(top)
        with subprocess.Popen(['ls', '-lR', top], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              env={'LC_ALL': 'C', 'PATH': os.environ['PATH']}) as listing:
            for _ in itertools.islice(listing.stdout, MAX_LINES):
                pass
            listing.kill()
        seconds = own_seconds(process)
        check_limits(f'{path}: ls -lR', seconds, high_water(process))
        read_some(top)
        check_limits(f'{path}: reading', own_seconds(process) - seconds, high_water(process))


def looked_at_and_read(path):
    """Only what a hole or a claim changes: `ntuple ls -lR` has listed all of it, and the kernel lists it as
    it does without."""
    with mounted(path, options=['-o', 'broken=show']) as top:
        process = decoder_of(top)
        read_some(top, MOST_AGAIN)
        check_limits(f'{path}: reading', own_seconds(process), high_water(process))


def read_some(top, most=MOST_FILES_READ):
    number = 0
    for parent, _, names in os.walk(top):
        for name in names:
            if number == most:
                return
            number += 1
            try:
                with open(Path(parent, name), 'rb') as file:
                    file.read(BYTES_OF_A_FILE)
            except OSError:
                pass  # is refused


# Many of one thing: fields, clusters, pages of a field in a cluster.
HONEST = {'fields': (100000, 1, 1), 'clusters': (4, 100000, 1), 'pages': (10, 250, 100),
          'pages_of_a_cluster': (1, 1, 1000000), 'a_wide_skim': (6000, 1, 1)}
# A layout sorts ranges in windows, of which the others have many, too: of a million pages it takes half as
# long as all the rest.
LAYOUTS = {'pages_of_a_cluster': [], 'pages': ['layout.jsonl', 'layout.svg']}
READ_FROM_SERVER = 'fields', 'pages'
# The model's memory for so many, and that of the programs.
HONEST_BYTES = 192 << 20


def honest_files(place):
    for name, counts in HONEST.items():
        path = Path(place, name + '.root')
        subprocess.run([os.environ['WRITE_MANY'], path, *map(str, counts)], check=True)
        yield path


def check_honest(*arguments):
    process = subprocess.Popen([NTUPLE, *map(str, arguments)], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise AssertionError(f'{arguments}: exit status {process.returncode}')
    if usage.ru_maxrss << 10 >= HONEST_BYTES and not IS_SANITIZED:
        raise AssertionError(f'{arguments}: {usage.ru_maxrss >> 10} MiB')


# ---- The cases: those that take longest begin first ----

@case
def a_mount_that_is_listed_and_read_takes_little():
    if problem := fuse_problem():
        raise Skip(problem)
    for path in mounted_files(files()):
        if not command(NTUPLE, 'stat', path).returncode:  # else nothing can be mounted
            listed_and_read(path)


@case
def a_mount_from_a_server_that_claims_takes_no_more():
    if problem := fuse_problem():
        raise Skip(problem)
    if 'NTUPLE_FETCH' not in os.environ:
        raise Skip('built without libcurl')
    for path in mounted_files(single_files())[::2]:  # the others have a hole
        with claimed(path) as address:
            if not command(NTUPLE, 'stat', address).returncode:
                looked_at_and_read(address)


@case
def honest_files_that_have_many_of_something_are_read_without_an_option():
    with tempfile.TemporaryDirectory(prefix='ntuplefs-honest-') as place:
        for path in honest_files(place):
            check_honest('verify', path)
            for name in LAYOUTS.get(path.stem, ['layout.jsonl']):
                check_honest('cat', path, name)
            if 'NTUPLE_FETCH' in os.environ and path.stem in READ_FROM_SERVER:
                with claimed(path) as address:
                    check_honest('verify', address)


@case
def a_mount_with_a_hole_after_the_file_takes_no_more():
    if problem := fuse_problem():
        raise Skip(problem)
    for path in mounted_files(single_files())[1::2]:  # the others are claimed to be longer
        with copied(path, add_hole) as copy:
            if not command(NTUPLE, 'stat', copy).returncode:
                looked_at_and_read(copy)


@case
def listing_takes_little_or_says_why_not():
    for path in files():
        status, text = measured('ls', '-lR', path, size=size_of(path))
        if status == EXIT_UNSUPPORTED and 'limit' not in text:
            raise AssertionError(f'{path.name}: {text!r} names no limit')


@case
def a_hole_after_a_file_changes_nothing():
    for path in single_files():
        with copied(path, add_hole) as copy:
            arguments = ['verify'] if path.name == LARGE else ['ls', '-lR']  # listing it takes seconds
            measured(*arguments, copy, size=size_of(path))


@case
def a_server_that_claims_changes_nothing():
    if 'NTUPLE_FETCH' not in os.environ:
        raise Skip('built without libcurl')
    for path in single_files():
        with claimed(path) as address:
            arguments = ['ls', '-lR'] if path.name in DAMAGED else ['verify']
            measured(*arguments, address, size=size_of(path))


@case
def verifying_takes_little_or_says_why_not():
    for path in files():
        measured('verify', path, size=size_of(path))


@case
def padding_that_is_there_is_no_way_around():
    for path in single_files()[::3]:
        with copied(path, add_padding) as copy:
            measured('verify', copy, size=0 if path.suffix == '.lance' else PADDING + size_of(path))


@case
def the_first_rows_and_what_is_reported_of_columns_take_little():
    for path in files():
        if path.suffix == '.lance':
            for name in 'head', 'inspect', 'stat':
                measured(name, path)


run(needs_fuse=False, at_once=2)  # each process is measured: more at once would disturb one another
