# SPDX-License-Identifier: MIT
"""mount(8), fstab(5) and their callers: the real programs and helpers, in a mount namespace of
this test."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from harness import (MANUALS, NTUPLEFS, case, command, daemon_of, data, enter_namespace, is_running, mounts,
                     output, run, same, scratch,
                     wait_until)

HELPER = Path('/sbin/mount.fuse3')
EXAMPLES = MANUALS.parent.parent / 'examples' / 'mount'

# Options that mount(8) and fstab(5) of util-linux know for every file system, and those that
# mount.fuse3 and autofs add.
OPTIONS = ['defaults', 'rw', 'ro', 'dev', 'nodev', 'suid', 'nosuid', 'exec', 'noexec', 'sync', 'async',
           'dirsync', 'mand',
           'nomand', 'atime', 'noatime', 'diratime', 'nodiratime', 'relatime', 'norelatime', 'strictatime',
           'nostrictatime',
           'lazytime', 'nolazytime', 'iversion', 'noiversion', 'silent', 'loud', 'nosymfollow', 'auto',
           'noauto', 'user',
           'nouser', 'users', 'nousers', 'owner', 'noowner', 'group', 'nogroup', 'nofail', '_netdev',
           'comment=events',
           'x-systemd.automount', 'x-systemd.idle-timeout=60', 'X-mount.mkdir', 'uhelper=udisks2',
           'user=root', 'uid=1,gid=2']


def install(directory):
    """Links with both names of the program next to the helpers; /usr itself does not change."""
    sbin, real, shown = HELPER.parent.resolve(), directory / 'real', directory / 'sbin'
    for path in real, shown:
        path.mkdir()
    output('mount', '--bind', sbin, real)
    for path in real.iterdir():
        (shown / path.name).symlink_to(path)
    for name in 'ntuplefs', 'mount.ntuplefs':
        (shown / name).unlink(missing_ok=True)
        (shown / name).symlink_to(Path(shutil.which(NTUPLEFS)).resolve())
    output('mount', '--bind', shown, sbin)


def mount(*arguments):
    return command('mount', *arguments)


def end(mountpoint):
    daemon = daemon_of(mountpoint)
    output('umount', mountpoint)
    if daemon:
        wait_until(lambda: not is_running(daemon), 'daemon ended')


def check(mountpoint, expected=('ro', 'nosuid', 'nodev')):
    kind, _, options = mounts()[str(mountpoint)]
    same(kind, 'fuse.ntuplefs')
    same(set(expected) - set(options), set(), f'options {options}')
    assert 'Events' in os.listdir(mountpoint), os.listdir(mountpoint)


def mount_and_end(*arguments, expected=('ro', 'nosuid', 'nodev')):
    with scratch() as directory:
        result = mount(*arguments[:-1], data('example.root'), directory, *arguments[-1:])
        same((result.returncode, result.stderr), (0, b''), arguments)
        check(directory, expected)
        end(directory)


@case
def mount_needs_no_options():
    mount_and_end('-t', 'fuse.ntuplefs', '-v')


@case
def each_option_that_mount_hands_over_is_accepted():
    for option in OPTIONS:
        mount_and_end('-t', 'fuse.ntuplefs', f'-o{option}')
    mount_and_end('-t', 'fuse.ntuplefs', f'-o{",".join(OPTIONS)}')


@case
def options_that_mean_something_reach_the_mount():
    mount_and_end('-t', 'fuse.ntuplefs', '-onoexec,noatime,cachesize=1M',
                  expected=['noexec', 'noatime', 'nosuid', 'nodev'])
    mount_and_end('-t', 'fuse.ntuplefs', '-oallow_other', expected=['allow_other', 'default_permissions'])


@case
def files_have_the_owner_that_was_given():
    with scratch() as directory:
        same(mount('-t', 'fuse.ntuplefs', '-o', 'uid=1234,gid=0', data('example.root'),
                   directory).returncode, 0)
        for name in '.', 'Events', 'Events/run/data.bin', '.ntuplefs/stats.json':
            found = os.stat(directory / name)
            same((found.st_uid, found.st_gid), (1234, 0), name)
        end(directory)


@case
def what_is_wrong_is_said_by_mount():
    for source, option, status, named in [('/nowhere/at.root', 'ro', 2, '/nowhere/at.root'),
                                          (data('example.root'), 'sparkling', 1, '"sparkling"'),
                                          (data('example.root'), 'uid=me', 1, '"me"')]:
        with scratch() as directory:
            result = mount('-t', 'fuse.ntuplefs', '-o', option, source, directory)
            same(result.returncode, status, result.stderr)
            assert named in result.stderr.decode(), result.stderr


@case
def mount_ntuplefs_is_a_helper_of_its_own():
    for switches in ['-v'], ['-r'], ['-n', '-s'], ['-w', '-onofail,user,noexec,_netdev,x-gvfs-show']:
        mount_and_end('-t', 'ntuplefs', *switches)
    with scratch() as directory:
        same(mount('-f', '-t', 'ntuplefs', data('example.root'), directory).returncode, 0)
        assert str(directory) not in mounts()
        assert mount('-f', '-t', 'ntuplefs', '/nowhere/at.root', directory).returncode != 0


def lines_of_fstab(text):
    return re.findall(r'^(/\S+)\s+(/\S+)\s+((?:fuse\.)?ntuplefs)\s+(\S+)\s+0 0$', text, re.M)


@case
def the_documented_lines_of_fstab_mount_and_unmount():
    for document in MANUALS / 'ntuplefs.1', EXAMPLES / 'fstab':
        lines = lines_of_fstab(document.read_text())
        assert lines, f'{document} has no line for fstab'
        for _, _, kind, options in lines:
            with scratch() as directory:
                table, mountpoint = directory / 'fstab', directory / 'mnt'
                mountpoint.mkdir()
                options = options.replace('noauto,', '')
                table.write_text(f'{data("example.root").resolve()} {mountpoint} {kind} {options} 0 0\n')
                for _ in 1, 2:  # the second time it exists
                    result = mount('-a', '-T', table)
                    same((result.returncode, result.stderr), (0, b''), f'{document}: {options}')
                same([path for path in mounts() if path.startswith(str(mountpoint))], [str(mountpoint)])
                check(mountpoint)
                end(mountpoint)


@case
def the_examples_for_systemd_and_autofs_have_a_type_and_options_that_mount():
    unit = (EXAMPLES / 'mnt-events.mount').read_text()
    entry = (EXAMPLES / 'auto.ntuple').read_text()
    for pattern, text in [(r'^Type=(\S+)$[\s\S]*^Options=(\S+)$', unit), (r'-fstype=([\w.]+),(\S+)', entry)]:
        kind, options = re.search(pattern, text, re.M).groups()
        mount_and_end('-s', '-t', kind, f'-o{options}')  # autofs calls mount with -s
    where = re.search(r'^Where=(\S+)$', unit, re.M).group(1)
    assert f'Where={where}\n' in (EXAMPLES / 'mnt-events.automount').read_text()
    same(where.strip('/').replace('/', '-'), 'mnt-events', 'the name of the units')


if not HELPER.exists():
    print(f'skip everything: there is no {HELPER}')
    sys.exit(77)
problem = enter_namespace(__file__)
if problem:
    print(f'skip everything: {problem}')
    sys.exit(77)
with scratch() as place:
    install(place)
    try:
        run()
    finally:
        subprocess.run(['umount', HELPER.parent.resolve()], check=False)
        subprocess.run(['umount', place / 'real'], check=False)
