# SPDX-License-Identifier: MIT
"""A mount from start to end: background and foreground, the mountpoint, signals, dead mounts."""
import errno
import os
import resource
import select
import shutil
import signal
import subprocess
import time

from harness import (NTUPLEFS, TIMEOUT, Foreground, case, command, daemon_of, data, detach, fails, is_mounted,
                     is_running, mounted, mounts, ntuplefs, open_in, processes_of, run, same, scratch,
                     unmount, wait_until)


@case
def the_mount_works_when_the_program_has_gone_to_the_background():
    with mounted(data('example.root')) as top:
        assert (top / 'Events' / 'field.json').exists() or (top / 'Events' / 'ntuple.json').exists()
        assert 'run' in os.listdir(top / 'Events')


@case
def nothing_is_printed_in_the_background():
    with scratch() as directory:
        result = ntuplefs(data('example.root'), directory / 'mnt')
        same((result.returncode, result.stdout, result.stderr), (0, b'', b''))
        unmount(directory / 'mnt')


@case
def the_daemon_has_left_terminal_and_directory():
    with mounted(data('example.root')) as top:
        daemon = daemon_of(top)
        for descriptor in 0, 1, 2:
            same(os.readlink(f'/proc/{daemon}/fd/{descriptor}'), '/dev/null')
        same(os.readlink(f'/proc/{daemon}/cwd'), '/')
        same(os.getsid(daemon), daemon, 'session')


@case
def a_caller_may_have_closed_its_standard_streams():
    for closed in '<&-', '>&-', '2>&-', '<&- >&-', '<&- 2>&-', '>&- 2>&-', '<&- >&- 2>&-':
        with scratch() as directory:
            result = command('sh', '-c', f'exec "$0" "$@" {closed}', NTUPLEFS, data('example.root'),
                             directory / 'mnt')
            same((result.returncode, result.stdout, result.stderr), (0, b'', b''), closed)
            same(len((directory / 'mnt/Events/event/data.bin').read_bytes()), 8000, closed)
            for process in processes_of(directory / 'mnt'):
                same([os.readlink(f'/proc/{process}/fd/{stream}') for stream in range(3)], ['/dev/null'] * 3,
                     closed)
            unmount(directory / 'mnt')
            failed = command('sh', '-c', f'exec "$0" "$@" {closed}', NTUPLEFS, '/nowhere/at.root',
                             directory / 'mnt')
            same((failed.returncode, b'/nowhere/at.root' in failed.stderr), (2, '2>' not in closed), closed)


def pipes_of(process):
    return [name for name in open_in(process) if name.startswith('pipe:')]


@case
def descriptors_of_the_caller_are_not_kept():
    # One below the soft limit, one above it: the limit may have been lowered after it was opened.
    reading, writing = os.pipe()
    high = os.dup2(writing, 200)
    limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE,
                                       (100, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    with scratch() as directory:
        for options in [], ['-o', 'allow_other']:
            result = ntuplefs(*options, data('example.root'), directory / 'mnt', pass_fds=(writing, high),
                              preexec_fn=limit)
            same(result.returncode, 0, result.stderr.decode())
            daemon = daemon_of(directory / 'mnt')
            # The program's own descriptor is closed just after its end.
            wait_until(lambda: not pipes_of(daemon), 'no pipe is left')
            unmount(directory / 'mnt')
            wait_until(lambda: not is_running(daemon), 'daemon ended')
        same(ntuplefs(data('example.root'), directory / 'mnt', pass_fds=(writing,)).returncode, 0)
        os.close(writing)
        os.close(high)
        same(select.select([reading], [], [], TIMEOUT)[0], [reading],
             'the end of what the caller says is told')
        same(os.read(reading, 1), b'')
        unmount(directory / 'mnt')
    os.close(reading)


@case
def a_descriptor_can_be_named_as_the_source():
    with scratch() as directory:
        descriptor = os.open(data('example.root'), os.O_RDONLY)
        for name in f'/dev/fd/{descriptor}', f'/proc/self/fd/{descriptor}':
            result = ntuplefs(name, directory / 'mnt', pass_fds=(descriptor,))
            same(result.returncode, 0, result.stderr.decode())
            same(len((directory / 'mnt/Events/event/data.bin').read_bytes()), 8000)
            daemon = daemon_of(directory / 'mnt')
            unmount(directory / 'mnt')
            wait_until(lambda: not is_running(daemon), 'daemon ended')
        os.close(descriptor)


@case
def a_descriptor_can_be_named_by_an_option():
    with scratch() as directory:
        (directory / 'chosen').write_text('3\n5\n')
        descriptor = os.open(directory / 'chosen', os.O_RDONLY)
        for words in (['-o', f'select=Events:/dev/fd/{descriptor}'],
                      [f'--select=Events:/proc/self/fd/{descriptor}']):
            result = ntuplefs(*words, data('example.root'), directory / 'mnt', pass_fds=(descriptor,))
            same(result.returncode, 0, result.stderr.decode())
            same(len((directory / 'mnt/Events/event/data.bin').read_bytes()), 16)
            unmount(directory / 'mnt')
            wait_until(lambda: not (directory / 'mnt').exists(), 'mountpoint removed')
        os.close(descriptor)


@case
def relative_paths_survive_the_change_of_directory():
    with scratch() as directory:
        shutil.copy(data('example.root'), directory / 'here.root')
        same(ntuplefs('here.root', 'mnt', cwd=directory).returncode, 0)
        assert len((directory / 'mnt/Events/event/data.bin').read_bytes()) == 8000
        unmount(directory / 'mnt')
        wait_until(lambda: not (directory / 'mnt').exists(), 'mountpoint removed')


@case
def mount_shows_source_type_and_read_only():
    with mounted(data('example.root')) as top:
        kind, source, options = mounts()[str(top)]
        same((kind, source), ('fuse.ntuplefs', str(data('example.root').resolve())))
        assert 'ro' in options and 'default_permissions' not in options, options


@case
def odd_characters_in_the_source_are_shown_as_they_are():
    with scratch() as directory:
        odd = directory / 'a,b\\c d.root'
        shutil.copy(data('example.root'), odd)
        with mounted(odd) as top:
            same(mounts()[str(top)][1], str(odd.resolve()))


@case
def the_source_of_a_chain_is_absolute():
    """Also patterns and lists, which are relative to the directory of the start."""
    with scratch() as directory:
        for name in 'run1.root', 'run2.root':
            shutil.copy(data('example.root'), directory / name)
        (directory / 'list.txt').write_text('run1.root\nrun2.root\n')
        folder = directory.resolve()
        for sources, shown in ((['run*.root'], f'{folder}/run*.root'), (['list.txt'], f'{folder}/list.txt'),
                               (['./run1.root', 'run2.root'], f'{folder}/run1.root and 1 more'),
                               ([f'{directory}/run?.root'], f'{directory}/run?.root')):
            mountpoint = directory / 'mnt'
            result = ntuplefs('-o', 'chain', *sources, mountpoint, cwd=directory)
            same(result.returncode, 0, result.stderr.decode())
            same(mounts()[str(mountpoint)][1], shown)
            unmount(mountpoint)


@case
def fsname_and_subtype_can_be_chosen():
    with mounted(data('example.root'), options=['-o', 'fsname=ev\\,ents,subtype=columns']) as top:
        same(mounts()[str(top)][:2], ('fuse.columns', 'ev,ents'))


@case
def options_may_be_after_the_operands_as_mount_passes_them():
    with scratch() as directory:
        result = ntuplefs(data('example.root'), directory / 'mnt', '-o', 'rw,nosuid,nodev,noatime')
        same(result.returncode, 0, result.stderr.decode())
        assert 'ro' in mounts()[str(directory / 'mnt')][2]
        unmount(directory / 'mnt')


@case
def several_sources_are_a_directory_each():
    with mounted(data('example.root'), data('types.root')) as top:
        names = set(os.listdir(top))
        assert len([name for name in names if name.startswith(('example', 'types'))]) == 2, names


@case
def a_directory_is_mirrored_with_what_is_added_to_it():
    with scratch() as directory:
        source = directory / 'source'
        (source / 'year').mkdir(parents=True)
        shutil.copy(data('example.root'), source / 'one.root')
        with mounted(source) as top:
            same(sorted(name for name in os.listdir(top) if not name.startswith('.')), ['one.root', 'year'])
            same(os.listdir(top / 'year'), [])
            shutil.copy(data('example.root'), source / 'year' / 'two.root')
            shutil.copy(data('types.root'), source / 'three.root')
            same(os.listdir(top / 'year'), ['two.root'])
            assert 'three.root' in os.listdir(top), os.listdir(top)
            assert 'Events' in os.listdir(top / 'year' / 'two.root')
            (source / 'one.root').unlink()
            assert 'one.root' not in os.listdir(top), os.listdir(top)


@case
def a_missing_mountpoint_is_made_and_removed_again():
    with scratch() as directory:
        same(ntuplefs(data('example.root'), directory / 'mnt').returncode, 0)
        daemon = daemon_of(directory / 'mnt')
        unmount(directory / 'mnt')
        wait_until(lambda: not is_running(daemon), 'daemon ended')
        assert not (directory / 'mnt').exists()


@case
def without_a_mountpoint_the_source_gives_it_a_name():
    with scratch() as directory:
        result = ntuplefs(data('example.root'), cwd=directory)
        same((result.returncode, result.stdout.decode()),
             (0, 'mounted on example; unmount with: fusermount3 -u example\n'))
        daemon = daemon_of(directory / 'example')
        assert 'Events' in os.listdir(directory / 'example')
        unmount(directory / 'example')
        wait_until(lambda: not is_running(daemon), 'daemon ended')
        wait_until(lambda: not os.listdir(directory), 'mountpoint removed')
        (directory / 'example').mkdir()
        (directory / 'example' / 'notes').write_text('x')
        result = ntuplefs(data('example.root'), cwd=directory)
        same(result.returncode, 6, result.stderr.decode())
        assert 'example: exists and is not empty' in result.stderr.decode()


NAMED_AFTER = [  # the source, options, and the mountpoint
    ('run.root', (), 'run'),
    ('below/run.root', (), 'run'),
    ('run.1.root', (), 'run.1'),
    ('.run.root', (), '.run'),
    ('run[1].root', (), 'run[1]'),
    ('two words.root', (), 'two words'),
    ('set.lance', (), 'set'),
    ('set.lance/', (), 'set'),
    ('list.txt', ('-o', 'chain'), 'list')]
WITHOUT_A_NAME = {  # why a source gives no name
    'has no extension': ('plain', 'below', '.hidden'),
    'is a pattern': ('run*.root', 'r?n.root', 'http://localhost/*.root'),
    'has no path': ('http://localhost', 'http://localhost/', 'https://some.host/')}


@case
def sources_of_every_kind_give_their_name_or_are_refused():
    with scratch() as directory:
        (directory / 'below').mkdir()
        for name in [name for name, _, _ in NAMED_AFTER if name.endswith('.root')] + ['plain', '.hidden']:
            shutil.copy(data('example.root'), directory / name)
        shutil.copytree(data('lance_datasets/stable_2.2'), directory / 'set.lance')
        (directory / 'list.txt').write_text('run.root\nrun.1.root\n')
        for name, options, mountpoint in NAMED_AFTER:
            result = ntuplefs(*options, name, cwd=directory)
            same((result.returncode, result.stderr), (0, b''), name)
            assert 'file.json' in os.listdir(directory / mountpoint), name
            unmount(directory / mountpoint)
            wait_until(lambda: not (directory / mountpoint).exists(), 'mountpoint removed')
        for name, problem in [(name, problem) for problem, names in WITHOUT_A_NAME.items() for name in names]:
            result = ntuplefs(name, cwd=directory)
            same((result.returncode, result.stderr.decode()),
                 (1, f'ntuplefs: missing MOUNTPOINT, and no name for it: {name} {problem}; '
                  'see ntuplefs --help\n'), name)
        (directory / 'run').write_text('in the way')
        result = ntuplefs('run.root', cwd=directory)
        same(result.returncode, 6)
        assert 'run: not a directory; give a mountpoint as the last argument' in result.stderr.decode()


@case
def a_mountpoint_that_was_there_stays():
    with scratch() as directory:
        (directory / 'mnt').mkdir()
        same(ntuplefs(data('example.root'), directory / 'mnt').returncode, 0)
        daemon = daemon_of(directory / 'mnt')
        unmount(directory / 'mnt')
        wait_until(lambda: not is_running(daemon), 'daemon ended')
        assert (directory / 'mnt').is_dir()


@case
def a_mountpoint_that_cannot_be_made_is_refused():
    with scratch() as directory:
        (directory / 'file').write_text('x')
        for place in directory / 'missing' / 'deeper', directory / 'file':
            result = ntuplefs(data('example.root'), place)
            same(result.returncode, 6, result.stderr.decode())
            assert str(place) in result.stderr.decode()
        same(sorted(os.listdir(directory)), ['file'])


@case
def source_and_mountpoint_may_not_overlap():
    with scratch() as directory:
        shutil.copy(data('example.root'), directory / 'here.root')
        same(ntuplefs(directory / 'here.root', directory).returncode, 6)
        same(ntuplefs(directory, directory / 'mnt').returncode, 6)
        assert not (directory / 'mnt').exists()


@case
def a_second_mount_at_the_same_place_is_refused():
    with mounted(data('example.root')) as top:
        result = ntuplefs(data('types.root'), top)
        same(result.returncode, 6)
        assert 'already mounted' in result.stderr.decode()
        assert 'Events' in os.listdir(top)


@case
def signals_end_the_mount_with_status_0():
    for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT:
        for options in [], ['-s']:
            with Foreground(data('example.root'), options=options) as mount:
                same(mount.end(number), 0, number)
                assert not is_mounted(mount.mountpoint) and not mount.mountpoint.exists()
                same(mount.messages(), [])


@case
def unmounting_ends_the_foreground_program_with_status_0():
    with Foreground(data('example.root')) as mount:
        unmount(mount.mountpoint)
        same(mount.process.wait(TIMEOUT), 0)


def is_dead(mountpoint):
    try:
        os.statvfs(mountpoint)
    except OSError as error:
        return error.errno == errno.ENOTCONN
    return False


@case
def a_dead_mount_is_reported_and_cleaned_with_force():
    with Foreground(data('example.root')) as mount:
        os.listdir(mount.mountpoint)
        mount.end(signal.SIGKILL)
        wait_until(lambda: is_dead(mount.mountpoint), 'both ended')
        result = ntuplefs(data('example.root'), mount.mountpoint)
        same(result.returncode, 6)
        assert 'dead' in result.stderr.decode() and 'force' in result.stderr.decode(), result.stderr
        same(ntuplefs('-o', 'force', data('example.root'), mount.mountpoint).returncode, 0)
        assert 'Events' in os.listdir(mount.mountpoint)
        unmount(mount.mountpoint)


@case
def force_without_a_dead_mount_changes_nothing():
    with mounted(data('example.root'), options=['-o', 'force']) as top:
        same(ntuplefs('-o', 'force', data('example.root'), top).returncode, 6)


@case
def auto_unmount_cleans_up_after_each_of_the_two_processes():
    for which in 0, 1:
        with Foreground(data('example.root'), options=['-o', 'auto_unmount']) as mount:
            os.kill(processes_of(mount.mountpoint)[which], signal.SIGKILL)
            wait_until(lambda: not is_mounted(mount.mountpoint), 'unmounted')


@case
def where_the_process_that_decodes_dies_the_mount_goes_and_the_log_says_of_what():
    for number, name in (signal.SIGABRT, '6 (Aborted)'), (signal.SIGKILL, '9 (Killed)'):
        with Foreground(data('example.root')) as mount:
            descriptor = os.open(mount.mountpoint / 'Events/event/data.bin', os.O_RDONLY)
            os.kill(mount.decoder, number)
            same(mount.process.wait(TIMEOUT), 8)
            fails(errno.ENOTCONN, os.close, descriptor)
            assert not is_mounted(mount.mountpoint) and not mount.mountpoint.exists()
            same(mount.log_lines()[1:], [f'ntuplefs: signal {name} ended the worker',
                                         f'ntuplefs: unmounted {mount.mountpoint}'])


@case
def a_mount_that_follows_another_at_the_same_place_stays():
    with scratch() as directory:
        mountpoint = directory / 'mnt'
        mountpoint.mkdir()
        for number in range(24):
            same(ntuplefs(data('example.root'), mountpoint).returncode, 0, f'mount {number}')
            time.sleep(0.02 * (number % 2))
            assert is_mounted(mountpoint), f'mount {number} is gone'
            unmount(mountpoint)


@case
def ending_the_worker_leaves_no_dead_mount():
    with Foreground(data('example.root')) as mount:
        os.kill(mount.decoder, signal.SIGTERM)
        same(mount.process.wait(TIMEOUT), 0)
        assert not is_mounted(mount.mountpoint) and not mount.mountpoint.exists()


@case
def the_process_that_decodes_dies_with_the_other():
    with Foreground(data('example.root')) as mount:
        decoder = mount.decoder
        mount.end(signal.SIGKILL)
        wait_until(lambda: not is_running(decoder), 'both ended')


@case
def a_mount_that_ends_while_it_starts_leaves_nothing():
    for delay in range(12):
        with scratch() as directory:
            process = subprocess.Popen([NTUPLEFS, '-f', str(data('example.root')), str(directory / 'mnt')],
                                       stderr=subprocess.DEVNULL)
            time.sleep(delay / 2000)
            process.terminate()
            assert process.wait(TIMEOUT) in (0, 6, -signal.SIGTERM), process.returncode
            same(os.listdir(directory), [], f'after {delay / 2} ms')


@case
def an_open_file_keeps_the_mount_busy_but_a_signal_ends_it():
    with Foreground(data('example.root')) as mount:
        descriptor = os.open(mount.mountpoint / 'Events/event/data.bin', os.O_RDONLY | os.O_DIRECT)
        try:
            assert command('fusermount3', '-u', mount.mountpoint).returncode != 0
            same(mount.end(signal.SIGTERM), 0)
            assert not is_mounted(mount.mountpoint)
            fails(errno.ENOTCONN, os.pread, descriptor, 1, 4096)
        finally:
            os.close(descriptor)


@case
def unmounting_while_reading_ends_the_readers_and_the_program():
    reader = 'import sys\nwhile True:\n    open(sys.argv[1], "rb").read(65536)\n'
    with Foreground(data('example.root')) as mount:
        path = str(mount.mountpoint / 'Events/rows.jsonl')
        readers = [subprocess.Popen(['python3', '-c', reader, path], stderr=subprocess.DEVNULL)
                   for _ in range(4)]
        wait_until(lambda: all(r.poll() is None for r in readers), 'readers run')
        detach(mount.mountpoint)
        for process in readers:
            assert process.wait(TIMEOUT) > 0
        same(mount.process.wait(TIMEOUT), 0)


@case
def the_program_that_was_started_ends_with_the_status_of_the_daemon():
    with scratch() as directory:
        process = subprocess.Popen([NTUPLEFS, str(directory / 'nothing.root'), str(directory / 'mnt')],
                                   stderr=subprocess.PIPE)
        same((process.wait(TIMEOUT), process.stderr.read().count(b'\n')), (2, 1))
        process.stderr.close()


run()
