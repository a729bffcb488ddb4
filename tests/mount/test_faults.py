# SPDX-License-Identifier: MIT
"""Replies that the kernel refuses, and threads that cannot be started: every caller soon gets
the content or an error; the program continues, and ends on request."""
import errno
import os
import subprocess
import sys
import time

from harness import (NTUPLE, Foreground, Skip, case, command, data, detach, libfuse_lacks,
                     processor_seconds, run, same)

PRELOAD = os.environ.get('FAULT_PRELOAD')
READS, THREADS, WRITES, RECEIVES = 2, 4, 5, 6  # enum fault_site in tests/faults/faults.h
PATIENCE = 20

# One traversal of the tree, by a process that may have to wait: its contents, or the errno.
LOOK = '''
import os, sys
top = sys.argv[1]
try:
    size = os.stat(top + '/Events/run/data.bin').st_size
    names = sorted(os.listdir(top + '/Events'))
    with open(top + '/Events/run/data.bin', 'rb', buffering=0) as file:
        content = file.read(size)
    print(size, len(names), sum(content))
except OSError as error:
    print('errno', error.errno)
'''


class Faulty(Foreground):
    """A mount by a program with one failing call."""

    def __init__(self, site, error, number, lasts=False, options=()):
        super().__init__(data('example.root'), options=options)
        if not PRELOAD:
            raise Skip('no library of faults: a build with sanitizers')
        self.fault = f'{site}:{error}:{number}:{int(lasts)}'

    def __enter__(self):
        os.environ.update(LD_PRELOAD=PRELOAD, NTUPLE_FAULT=self.fault)
        try:
            return super().__enter__()
        finally:
            del os.environ['LD_PRELOAD'], os.environ['NTUPLE_FAULT']


def start_look(mount):
    return subprocess.Popen([sys.executable, '-c', LOOK, str(mount.mountpoint)], stdout=subprocess.PIPE,
                            text=True)


def look(mount):
    return start_look(mount).communicate(timeout=PATIENCE)[0].strip()


def usual():
    with Foreground(data('example.root')) as mount:
        return look(mount)


def descriptors(mount):
    return len(os.listdir(f'/proc/{mount.decoder}/fd'))


@case
def a_reply_that_fails_is_an_error_or_is_sent_again():
    if libfuse_lacks():
        raise Skip(libfuse_lacks())
    expected = usual()
    for error in errno.EIO, errno.ENOMEM, errno.EINTR, errno.ENOENT, errno.EINVAL:
        outcomes = set()
        for number in range(8, 13):  # those before are for the harness, those after it for later traversals
            with Faulty(WRITES, error, number) as mount:
                before = descriptors(mount)
                looks = [look(mount) for _ in range(3)]
                outcomes.update(looks)
                same(looks[-1], expected, f'{errno.errorcode[error]} of reply {number}, the last look')
                assert looks.count(expected) >= 2, looks  # one reply has failed
                assert descriptors(mount) <= before + 1, 'descriptors are left open'  # the source itself
                same(mount.end(), 0, f'{errno.errorcode[error]} of reply {number}')
        is_passing = error in (errno.ENOMEM, errno.EINTR)
        reported = errno.EINTR if error == errno.ENOENT else errno.EIO
        same(outcomes, {expected} if is_passing else {expected, f'errno {reported}'}, errno.errorcode[error])


@case
def a_kernel_that_takes_no_reply_does_not_keep_the_program():
    for error in errno.EIO, errno.ENOMEM, errno.EINTR:
        with Faulty(WRITES, error, 10, lasts=True) as mount:
            waiting = start_look(mount)
            time.sleep(1)
            used = processor_seconds(mount.decoder)
            time.sleep(1)
            assert processor_seconds(mount.decoder) - used < 0.5, 'an endless loop'
            same(waiting.poll(), None, 'a look without any reply')
            same(mount.end(), 0, errno.errorcode[error])
            message = waiting.communicate(timeout=PATIENCE)[0].strip()
            assert message in (f'errno {errno.ENOTCONN}', f'errno {errno.ECONNABORTED}'), message


@case
def a_device_without_a_mount_ends_the_program():
    """Kernels say so in several ways. Another failure of the device is an error."""
    for error in errno.ENODEV, errno.EPERM, errno.ECONNABORTED, errno.EIO:
        with Faulty(RECEIVES, error, 20, lasts=True) as mount:
            for _ in range(20):
                look(mount)
            status = mount.process.wait(PATIENCE)
            detach(mount.mountpoint)  # here the kernel has not ended the mount
            same(status, 6 if error == errno.EIO else 0, errno.errorcode[error])


@case
def threads_that_cannot_be_started_are_done_without():
    expected = usual()
    for number in 1, 2, 3:
        for lasts in False, True:
            with Faulty(THREADS, errno.EAGAIN, number, lasts) as mount:
                same(look(mount), expected, f'thread {number}, lasting: {lasts}')
                if lasts:
                    same(len(os.listdir(f'/proc/{mount.decoder}/task')), number, 'threads')
                same(mount.end(), 0, f'thread {number}')


@case
def a_version_that_the_machine_does_not_read_is_an_error_and_no_line():
    if not PRELOAD:
        raise Skip('no library of faults: a build with sanitizers')
    words = NTUPLE, 'cat', data('lance_datasets') / 'deletions_2.2', 'deletions_2.2/versions.jsonl'
    expected = command(*words).stdout
    failed = 0
    for number in range(1, 40):
        fault = {'LD_PRELOAD': PRELOAD, 'NTUPLE_FAULT': f'{READS}:{errno.EIO}:{number}:0'}
        found = command(*words, env=os.environ | fault)
        failed += found.returncode != 0
        if found.returncode:
            assert b'Input/output error' in found.stderr and b'"error"' not in found.stdout, (number, found)
        else:
            same(found.stdout, expected, number)
    assert failed, 'no read failed'


run()
