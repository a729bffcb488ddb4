# SPDX-License-Identifier: MIT
"""What another user can see: with allow_other as much as of the source, without it nothing."""
import errno
import os
import shutil
import stat

from harness import Skip, case, command, data, mounted, mounts, run, same, scratch

NOBODY = {'user': 65534, 'group': 65534, 'extra_groups': []}
PATH = 'Events/run/data.bin'


def needs_root():
    if os.geteuid() != 0:
        raise Skip('only root can become another user')


def as_nobody(*arguments):
    result = command(*arguments, **NOBODY)
    return result.returncode, os.strerror(errno.EACCES) in result.stderr.decode()


def source_with_mode(directory, mode):
    path = directory / 'source.root'
    shutil.copy(data('example.root'), path)
    path.chmod(mode)
    return path


@case
def without_allow_other_nobody_else_gets_in():
    needs_root()
    with scratch() as directory, mounted(source_with_mode(directory, 0o644)) as top:
        same(as_nobody('ls', top), (2, True))


@case
def with_allow_other_a_private_source_stays_private():
    needs_root()
    with scratch() as directory, mounted(source_with_mode(directory, 0o600), options=['-o', 'allow_other']) as top:
        assert {'allow_other', 'default_permissions'} <= set(mounts()[str(top)][2])
        same(as_nobody('cat', top / PATH), (1, True))
        same(as_nobody('ls', top), (2, True))
        same(len((top / PATH).read_bytes()), 4000, 'the owner still reads')


@case
def with_allow_other_a_public_source_is_public():
    needs_root()
    with scratch() as directory, mounted(source_with_mode(directory, 0o644), options=['-o', 'allow_other']) as top:
        same(as_nobody('cat', top / PATH), (0, False))
        same(as_nobody('cat', top / 'Events/head.jsonl'), (0, False))


@case
def modes_and_owner_are_those_of_the_source():
    needs_root()
    for mode, file_mode, directory_mode in (0o640, 0o440, 0o550), (0o600, 0o400, 0o500), (0o777, 0o444, 0o555):
        with scratch() as directory:
            source = source_with_mode(directory, mode)
            os.chown(source, 1234, 5678)
            os.utime(source, (1600000000, 1500000000))
            with mounted(source) as top:
                for path, expected in (top / PATH, file_mode), (top / 'Events', directory_mode):
                    found = path.stat()
                    same(oct(stat.S_IMODE(found.st_mode)), oct(expected))
                    same((found.st_uid, found.st_gid, int(found.st_mtime)), (1234, 5678, 1500000000))


run()
