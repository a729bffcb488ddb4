# SPDX-License-Identifier: MIT
"""idle=SECONDS: an unused mount ends, a used one stays."""
import os
import subprocess
import time

from harness import (TIMEOUT, Foreground, Skip, case, command, data, is_mounted, mounted, mounts, ntuplefs,
                     output, run,
                     same, scratch, wait_until)

# An unused mount ends soon; one that must stay has time until the test uses it, on a busy machine, too.
IDLE, LATER = ['-o', 'idle=1'], ['-o', 'idle=3']


def stays(mountpoint, seconds=4.5):
    """Is it still mounted after more than the time, without being touched?"""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not is_mounted(mountpoint):
            return False
        time.sleep(0.05)
    return True


def goes(mount):
    wait_until(lambda: not is_mounted(mount.mountpoint), 'unmounted')
    same(mount.process.wait(TIMEOUT), 0)


@case
def an_unused_mount_ends_with_status_0_and_removes_its_mountpoint():
    for options in IDLE, [*IDLE, '-s'], [*IDLE, '-o', 'auto_unmount']:
        with Foreground(data('example.root'), options=options) as mount:
            goes(mount)
            assert not mount.mountpoint.exists()
            assert 'ntuplefs: unused for 1 s' in mount.log_lines(), mount.log_lines()
            same(mount.messages(), [])


@case
def a_mount_without_the_option_stays():
    with mounted(data('example.root')) as top:
        assert stays(top)


@case
def the_time_counts_from_the_last_request():
    with Foreground(data('example.root'), options=LATER) as mount:
        for number in range(8):
            time.sleep(0.5)
            # the kernel asks each time
            assert not os.path.lexists(mount.mountpoint / f'no such name {number}')
            assert is_mounted(mount.mountpoint), f'gone after {number + 1} requests'
        goes(mount)


@case
def an_open_file_keeps_it():
    with Foreground(data('example.root'), options=LATER) as mount:
        with open(mount.mountpoint / 'Events/event/data.bin', 'rb') as file:
            assert stays(mount.mountpoint)
            same(len(file.read()), 8000)
        goes(mount)


@case
def a_directory_in_use_keeps_the_mount():
    with Foreground(data('example.root'), options=LATER) as mount:
        process = subprocess.Popen(['sleep', '60'], cwd=mount.mountpoint / 'Events')
        try:
            assert stays(mount.mountpoint)
        finally:
            process.kill()
            process.wait(TIMEOUT)
        goes(mount)


@case
def asking_for_free_space_is_no_use():
    with Foreground(data('example.root'), options=IDLE) as mount:
        end = time.monotonic() + TIMEOUT
        while is_mounted(mount.mountpoint) and time.monotonic() < end:
            command('stat', '-f', mount.mountpoint)
            time.sleep(0.2)
        goes(mount)


@case
def a_mount_on_top_is_left_alone():
    if os.geteuid() != 0:
        raise Skip('only root can mount something on top')
    with Foreground(data('example.root'), options=LATER) as mount:
        output('mount', '-t', 'tmpfs', 'top', mount.mountpoint)
        try:
            time.sleep(4.5)
            same(mounts()[str(mount.mountpoint)][1], 'top')
        finally:
            output('umount', mount.mountpoint)
        goes(mount)


@case
def a_lookup_during_the_unmount_sees_the_tree_or_the_empty_directory():
    with scratch() as directory:
        mountpoint = directory / 'mnt'
        mountpoint.mkdir()
        for attempt in range(4):
            same(ntuplefs(*IDLE, data('example.root'), mountpoint).returncode, 0)
            time.sleep(0.9 + 0.03 * attempt)
            end = time.monotonic() + 0.25
            while time.monotonic() < end:
                try:
                    same((mountpoint / 'Events/run/data.bin').stat().st_size, 4000)
                except FileNotFoundError:
                    same(os.listdir(mountpoint), [])
            wait_until(lambda: not is_mounted(mountpoint), 'unmounted')
            same(os.listdir(mountpoint), [])


run(at_once=8)
