# SPDX-License-Identifier: MIT
"""What other users can see: with allow_other as much as of the source, without it nothing."""
import errno
import os
import shutil
import stat

from blz_writer import blz_array
from harness import (NTUPLE, NTUPLEFS, Skip, case, command, data, errors_of, mounted, mounts, run, same,
                     scratch)

NOBODY = {'user': 65534, 'group': 65534, 'extra_groups': []}
PATH = 'Events/run/data.bin'


def needs_root():
    if os.geteuid() != 0:
        raise Skip('only root can become another user')


def as_other_user(*arguments):
    result = command(*arguments, **NOBODY)
    return result.returncode, os.strerror(errno.EACCES) in result.stderr.decode()


def source_with_mode(directory, mode):
    path = directory / 'source.root'
    shutil.copy(data('example.root'), path)
    path.chmod(mode)
    return path


@case
def without_allow_other_no_other_user_gets_in():
    needs_root()
    with scratch() as directory, mounted(source_with_mode(directory, 0o644)) as top:
        same(as_other_user('ls', top), (2, True))


@case
def with_allow_other_a_private_source_stays_private():
    needs_root()
    with scratch() as directory, mounted(source_with_mode(directory, 0o600),
                                         options=['-o', 'allow_other']) as top:
        assert {'allow_other', 'default_permissions'} <= set(mounts()[str(top)][2])
        same(as_other_user('cat', top / PATH), (1, True))
        same(as_other_user('ls', top), (2, True))
        same(len((top / PATH).read_bytes()), 4000, 'the owner still reads')


@case
def with_allow_other_a_public_source_is_public():
    needs_root()
    with scratch() as directory, mounted(source_with_mode(directory, 0o644),
                                         options=['-o', 'allow_other']) as top:
        same(as_other_user('cat', top / PATH), (0, False))
        same(as_other_user('cat', top / 'Events/head.jsonl'), (0, False))


@case
def modes_and_owner_are_those_of_the_source():
    needs_root()
    for mode, file_mode, directory_mode in (0o640, 0o440, 0o550), (0o600, 0o400, 0o500), (0o777, 0o444,
            0o555):
        with scratch() as directory:
            source = source_with_mode(directory, mode)
            os.chown(source, 1234, 5678)
            os.utime(source, (1600000000, 1500000000))
            with mounted(source) as top:
                for path, expected in (top / PATH, file_mode), (top / 'Events', directory_mode):
                    found = path.stat()
                    same(oct(stat.S_IMODE(found.st_mode)), oct(expected))
                    same((found.st_uid, found.st_gid, int(found.st_mtime)), (1234, 5678, 1500000000))


def array_with_modes(directory, modes, usual=0o644):
    """An array of BLZ in a directory of 0755, with other modes for some of its files."""
    array = blz_array(directory / 'array')
    for path in array.rglob('*'):
        path.chmod(0o755 if path.is_dir() else usual)
    array.chmod(0o755)
    for name, mode in modes.items():
        (array / name).chmod(mode)
    return array


@case
def a_part_that_others_may_not_read_is_refused_where_they_look_on():
    """The first chunk of three; a parent directory that others may not enter applies to all."""
    needs_root()
    for modes, readable in ({'data/__0.blp': 0o600}, [False, True, True]), ({'data': 0o700}, [False] * 3):
        with scratch() as directory, mounted(array_with_modes(directory, modes),
                                             options=['-o', 'allow_other']) as top:
            data_bin = top / 'array/values/data.bin'
            same(oct(stat.S_IMODE(data_bin.stat().st_mode)), '0o444')
            for user in NOBODY, {}:
                for k, is_readable in enumerate(readable):
                    result = command('dd', f'if={data_bin}', 'bs=40', f'skip={k}', 'count=1', 'status=none',
                                     'iflag=direct', **user)
                    same(len(result.stdout), 40 if is_readable else 0, (modes, k))
                    same('Permission denied' in result.stderr.decode(), not is_readable, (modes, k))
            whats = [error['what'] for error in errors_of(top)]
            assert all(name in what for name, what in zip(modes, whats)) and whats, whats


@case
def metadata_that_others_may_not_read_closes_the_dataset_to_them():
    needs_root()
    with scratch() as directory:
        array = array_with_modes(directory, {'meta/storage': 0o600})
        with mounted(array, options=['-o', 'allow_other']) as top:
            same(as_other_user('cat', top / 'array/metadata.json'), (1, True))
            same(len((top / 'array/values/data.bin').read_bytes()), 120, 'the owner still reads')


@case
def without_other_users_every_part_is_read_that_can_be():
    with scratch() as directory, mounted(array_with_modes(directory, {'data/__0.blp': 0o600})) as top:
        same(len((top / 'array/values/data.bin').read_bytes()), 120)


@case
def a_link_out_of_a_dataset_does_not_show_its_target():
    needs_root()
    with scratch() as directory:
        array = array_with_modes(directory, {})
        secret = directory / 'secret'
        secret.write_text('{"token": "hidden"}')
        secret.chmod(0o600)
        (array / '__attrs__').symlink_to(secret)
        with mounted(array, options=['-o', 'allow_other']) as top:
            for user in NOBODY, {}:
                text = command('cat', top / 'array/metadata.json', **user).stdout.decode()
                assert 'hidden' not in text and '__attrs__: is a link out of the directory' in text, text


@case
def without_fusermount3_the_package_that_has_it_is_named():
    needs_root()
    with scratch() as directory:
        source = source_with_mode(directory, 0o644)
        mountpoint = directory / 'mnt'
        mountpoint.mkdir()
        os.chown(mountpoint, NOBODY['user'], NOBODY['group'])
        result = command(shutil.which(NTUPLEFS), source, mountpoint, env={'PATH': str(directory)}, **NOBODY)
        same((result.returncode, b'fusermount3 is missing; install the package fuse3' in result.stderr),
             (6, True), result.stderr)


@case
def a_folder_that_may_not_be_searched_is_named():
    needs_root()
    with scratch() as directory:
        closed = directory / 'closed'
        closed.mkdir(mode=0o700)
        for words in [NTUPLEFS, closed, directory / 'mnt'], [NTUPLE, 'ls', closed]:
            result = command(shutil.which(words[0]), *words[1:], **NOBODY)
            same(result.stderr.decode().partition(': ')[2], f'{closed}: Permission denied\n')


run()
