# SPDX-License-Identifier: MIT
"""Which requests the kernel sends for programs, as reported by libfuse, and that many at once
are answered."""
import collections
import ctypes
import errno
import os
import re
import shutil
import sys
import threading
import time

from harness import (NTUPLE, Foreground, case, data, decoder_of, errors_of, fails, flip, mounted, output,
                     lines,
                     processor_seconds, run, same, scratch)

SMALL = 'Events/run/data.bin'


def requests(mount, function):
    """The result of a function, and the number of requests of each kind that it caused."""
    before = len(mount.log_lines())
    result = function()
    os.statvfs(mount.mountpoint)  # earlier ones have been reported
    lines = mount.log_lines()[before:]
    return result, collections.Counter(match[1] for line in lines
                                       if (match := re.search(r'opcode: (\w+)', line)))


def read(path):
    with open(path, 'rb', buffering=0) as file:
        return file.readall()


@case
def a_small_file_is_there_when_it_is_open():
    expected = output(NTUPLE, 'cat', data('example.root'), SMALL)
    with Foreground(data('example.root'), options=['-d']) as mount:
        path = mount.mountpoint / SMALL
        for _ in range(2):
            content, sent = requests(mount, lambda: read(path))
            same(content, expected)
            same((sent['OPEN'], sent['READ']), (1, 0))


@case
def documents_are_small_files_too():
    with Foreground(data('example.root'), options=['-d']) as mount:
        content, sent = requests(mount, lambda: read(mount.mountpoint / 'Events/run/field.json'))
        same(content, output(NTUPLE, 'cat', data('example.root'), 'Events/run/field.json'))
        same((sent['OPEN'], sent['READ']), (1, 0))


@case
def what_is_read_past_the_page_cache_is_requested():
    expected = output(NTUPLE, 'cat', data('example.root'), SMALL)
    for options, flags in (['-o', 'direct_io=on'], 0), ([], os.O_DIRECT):
        with Foreground(data('example.root'), options=['-d', *options]) as mount:
            def read_past():
                descriptor = os.open(mount.mountpoint / SMALL, os.O_RDONLY | flags)
                try:
                    return os.pread(descriptor, len(expected), 0)
                finally:
                    os.close(descriptor)
            content, sent = requests(mount, read_past)
            same(content, expected)
            assert sent['READ'] >= 1, sent


@case
def what_changes_is_requested_each_time():
    with Foreground(data('example.root'), options=['-d']) as mount:
        path = mount.mountpoint / '.ntuplefs/stats.json'
        first = read(path)
        read(mount.mountpoint / SMALL)
        second, sent = requests(mount, lambda: read(path))
        assert sent['READ'] >= 1, sent
        assert second != first


def names_in(path):
    """The names of a directory, a few at a time, so that it takes several requests."""
    libc, room = ctypes.CDLL(None, use_errno=True), ctypes.create_string_buffer(1024)
    names, descriptor = [], os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        while (count := libc.getdents64(descriptor, room, len(room))) > 0:
            at = 0
            while at < count:
                length = int.from_bytes(room[at + 16:at + 18], sys.byteorder)
                names.append(os.fsdecode(room[at + 19:at + length].split(b'\0')[0]))
                at += length
    finally:
        os.close(descriptor)
    return names


@case
def attributes_come_with_the_listing():
    with Foreground(data('encodings.root'), options=['-d']) as mount:
        [top] = [entry.path for entry in os.scandir(mount.mountpoint)
                 if entry.is_dir() and not entry.name.startswith('.')]
        names, sent = requests(mount, lambda: names_in(top))
        assert sent['READDIRPLUS'] > 3, sent
        same(sent['READDIR'], 0)
        folders = [name for name in names if '.' not in name]
        assert len(folders) > 50, names
        _, sent = requests(mount, lambda: [os.stat(os.path.join(top, name)) for name in folders])
        same((sent['LOOKUP'], sent['GETATTR']), (0, 0))


@case
def a_damaged_small_file_opens_and_fails_where_it_is_read():
    with scratch() as directory:
        source = directory / 'damaged.root'
        shutil.copy(data('example.root'), source)
        with mounted(source) as top:
            page = lines(top / 'Events/run/column.0/pages.jsonl')[0]
        flip(source, page['file_offset'] + page['stored_bytes'] // 2)
        with mounted(source) as top:
            for _ in range(2):
                descriptor = os.open(top / SMALL, os.O_RDONLY)
                try:
                    fails(errno.EIO, os.pread, descriptor, 4096, 0)
                finally:
                    os.close(descriptor)
            same(len(errors_of(top)), 1)


@case
def many_open_the_same_small_files_for_the_first_time_at_once():
    paths = [f'Events/{name}' for name in ('run/data.bin', 'event/data.bin', 'run/field.json',
                                           'event/field.json',
                                           'is_simulated/data.bin', 'run/data.npy')]
    expected = {path: output(NTUPLE, 'cat', data('example.root'), path) for path in paths}
    for options in ['-s'], ['-o', 'threads=1'], [], ['-o', 'threads=16']:
        for _ in range(3):
            with mounted(data('example.root'), options=options) as top:
                failures = []
                begin = threading.Barrier(16)

                def read_all(number):
                    begin.wait()
                    for step in range(len(paths)):
                        path = paths[(number // 4 + step) % len(paths)]
                        if read(top / path) != expected[path]:
                            failures.append(path)
                threads = [threading.Thread(target=read_all, args=(number,)) for number in range(16)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                same(failures, [])


@case
def an_idle_mount_takes_no_processor():
    with mounted(data('example.root')) as mountpoint:
        for _ in range(1000):
            os.statvfs(mountpoint)
        before = processor_seconds(decoder_of(mountpoint))
        time.sleep(0.3)
        assert processor_seconds(
                decoder_of(mountpoint)) - before < 0.1, 'it looks out for the next request for ever'


run()
