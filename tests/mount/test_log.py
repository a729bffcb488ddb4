# SPDX-License-Identifier: MIT
"""The log: mounts, unmounts and signals; on stderr in the foreground, in syslog in the
background."""
import os
import re
import signal
import socket
import stat

from harness import (NTUPLEFS, TIMEOUT, Foreground, Skip, case, command, data, enter_namespace, output, run,
                     same, scratch,
                     unmount)

PAGE = 1800  # in the first page of example.root's Events/weight


def version():
    return output(NTUPLEFS, '--version').decode().split()[1]


@case
def a_mount_says_what_is_mounted_where_and_how():
    with Foreground(data('example.root'), data('types.root'),
                    options=['-o', 'verify=open,idle=600,rw,nofail']) as mount:
        same(mount.log_lines(),
             [f'ntuplefs: mounted {data("example.root").resolve()} and 1 more on {mount.mountpoint}, '
                                 f'version {version()}: idle=600, verify=open'])
        unmount(mount.mountpoint)
        same(mount.process.wait(TIMEOUT), 0)
        same(mount.log_lines()[1:], [f'ntuplefs: unmounted {mount.mountpoint}'])


@case
def signals_are_named():
    for number, name in (signal.SIGTERM, '15 (Terminated)'), (signal.SIGINT,
                                                              '2 (Interrupt)'), (signal.SIGHUP, '1 (Hangup)'):
        with Foreground(data('example.root')) as mount:
            same(mount.end(number), 0)
            same(mount.log_lines()[1:], [f'ntuplefs: got signal {name}',
                                         f'ntuplefs: unmounted {mount.mountpoint}'])


def devices(directory):
    """A /dev of our own with what the programs need."""
    output('mount', '-t', 'tmpfs', 'dev', directory)
    for name in 'fuse', 'null', 'zero', 'urandom':
        os.mknod(directory / name, 0o666 | stat.S_IFCHR, os.stat(f'/dev/{name}').st_rdev)
    (directory / 'fd').symlink_to('/proc/self/fd')


def priority(name):
    return 8 * 3 + {'error': 3, 'note': 6}[name]  # the facility is daemon


@case
def in_the_background_the_lines_go_to_syslog():
    if problem:
        raise Skip(problem)
    # TMPDIR may be below /dev.
    with scratch('/tmp') as directory, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as log:
        source, shown = directory / 'damaged.root', directory / 'dev'
        content = bytearray(data('example.root').read_bytes())
        content[PAGE] ^= 1
        source.write_bytes(content)
        shown.mkdir()
        devices(shown)
        log.bind(str(shown / 'log'))
        log.settimeout(TIMEOUT)
        output('mount', '--move', shown, '/dev')
        try:
            same(command(NTUPLEFS, source, directory / 'mnt').stderr, b'')
            assert command('cat', directory / 'mnt/Events/weight/data.bin').returncode != 0
            unmount(directory / 'mnt')
            lines = [log.recv(65536).decode().rstrip('\n\0') for _ in range(3)]
        finally:
            output('umount', '--lazy', '/dev')
    found = [(re.match(r'<(\d+)>', line).group(1), line.split(']: ', 1)[1].split(' ')[0]) for line in lines]
    same(found, [(str(priority('note')), 'mounted'), (str(priority('error')), f'{source}:'),
                 (str(priority('note')), 'unmounted')], lines)


problem = enter_namespace(__file__)
run()
