# SPDX-License-Identifier: MIT
"""An attacker in the worker can do nothing: each harmful call fails, and none of them fails
without the sandbox, which proves that this test can fail. The worker can still do what it needs."""
import errno
import json
import os
import re
import shutil
import tempfile
from pathlib import Path

from harness import (DATA, NTUPLE, Foreground, Skip, case, command, data, decoder_of, mounted, needs,
                     ntuplefs, parts_of, run, same, scratch, wait_until)
from web import served

PRELOAD = os.environ.get('ESCAPE_PRELOAD')
REFUSED = {errno.EPERM, errno.EACCES, errno.ENOSYS}
FETCH = os.environ.get('NTUPLE_FETCH')
ATTEMPTS = 35
PARTS = ['no_new_privs', 'capabilities', 'landlock', 'not_dumpable', 'seccomp']
# Without the sandbox, too, for users other than root or on some machines.
OF_ROOT = {'read_other', 'mount', 'unmount', 'change_root', 'load_program', 'look_at_events', 'add_key',
           'control_device', 'trace_other',
           'make_process_anew', 'make_ping_socket'}


class TakenOver(Foreground):
    """A mount whose process makes every attempt of tests/sandbox/escape.c, with a source that is
    alone in its directory."""

    def __init__(self, directory, source, *options):
        super().__init__(source, options=options)
        self.victim = directory / 'elsewhere/victim'
        self.victim.parent.mkdir(exist_ok=True)
        self.victim.write_text('What nobody was given.\n')

    def __enter__(self):
        if not PRELOAD:
            raise Skip('no library of attempts: a build with sanitizers')
        os.environ.update(LD_PRELOAD=PRELOAD, NTUPLE_ESCAPE=f'6:{self.victim}')
        try:
            return super().__enter__()
        finally:
            del os.environ['LD_PRELOAD'], os.environ['NTUPLE_ESCAPE']

    def attempts(self):
        for name in 'a', 'b', 'c', 'd', 'e', 'f':
            os.path.lexists(self.mountpoint / name)
        wait_until(lambda: 'control_device' in Path(self.log.name).read_text(), 'all was tried')
        return {name: int(number) for name, number in re.findall(r'^escape (\w+) (\d+)$',
                                                                 Path(self.log.name).read_text(), re.M)}


def sources(directory):
    """A file, and a directory with one."""
    folder = directory / 'folder'
    folder.mkdir()
    shutil.copy(data('example.root'), folder)
    return folder / 'example.root', folder


@case
def a_compromised_worker_gains_nothing():
    needs('seccomp')
    with scratch() as directory:
        for source in sources(directory):
            indexed = [['-o', f'chain,index={directory}/index']] if source.is_file() else []
            for options in [], ['-o', 'text=sized'], ['-s'], *indexed:
                with TakenOver(directory, source, *options) as mount:
                    ended = mount.attempts()
                    has_landlock = 'landlock' in parts_of(mount.mountpoint)
                    assert list(mount.mountpoint.rglob('data.bin')), 'it goes on'
                    same(mount.end(), 0)
                same(len(ended), ATTEMPTS)
                allowed = {name for name, number in ended.items() if number not in REFUSED}
                if not has_landlock:
                    allowed -= {'read_file', 'write_file', 'make_file'}
                same(allowed, set(), f'{source.name} {options}')
                same(os.listdir(mount.victim.parent), ['victim'])


@case
def without_the_sandbox_every_attempt_succeeds():
    with scratch() as directory:
        with TakenOver(directory, sources(directory)[0], '-o', 'sandbox=off') as mount:
            ended = mount.attempts()
            same(parts_of(mount.mountpoint), [])
            same(mount.end(), 0)
        refused = {name for name, number in ended.items() if number in REFUSED}
        same(refused - OF_ROOT, set())


@case
def a_compromised_tool_gains_nothing():
    """While it writes its output; a copy can write to the target's directory, and to nothing else."""
    if not PRELOAD:
        raise Skip('no library of attempts: a build with sanitizers')
    needs('seccomp', 'landlock')
    with scratch() as directory:
        source = sources(directory)[0]
        victim = directory / 'elsewhere/victim'
        victim.parent.mkdir()
        environment = {**os.environ, 'LD_PRELOAD': PRELOAD, 'NTUPLE_ESCAPE': f'-1:{victim}'}
        for words in (['cat', '{}', source, 'Events/run/data.bin'],
                      ['cp', '{}', source, 'Events/run/data.bin', directory / 'folder/copy'],
                      ['complete', '--', 'ntuple', 'ls', '{}', source, 'Ev']):
            for option in '--sandbox=strict', '--sandbox=off':
                for path in victim.parent.iterdir():
                    path.unlink()
                victim.write_text('What nobody was given.\n')
                result = command(NTUPLE, *(str(word).format(option) for word in words), env=environment)
                same(result.returncode, 0, result.stderr)
                ended = dict(re.findall(r'^escape (\w+) (\d+)$', result.stderr.decode(), re.M))
                same(len(ended), ATTEMPTS)
                refused = {name for name, number in ended.items() if int(number) in REFUSED}
                if option == '--sandbox=strict':
                    same(set(ended) - refused, set(), words[0])
                    same((os.listdir(victim.parent), victim.read_text()),
                         (['victim'], 'What nobody was given.\n'))
                else:
                    same(refused - OF_ROOT, set(), words[0])
                (directory / 'folder/copy').unlink(missing_ok=True)


def taken_over_fetching(directory, victim, **variables):
    """What an attacker in the network helper can do while it answers: it has access to the
    network."""
    shown, program = directory / 'told', directory / 'fetch'
    program.write_text(f'#!/bin/sh\nLD_PRELOAD={PRELOAD} NTUPLE_ESCAPE=3:{victim} exec {FETCH} 2>>{shown}\n')
    program.chmod(0o700)
    environment = {**os.environ, 'NTUPLE_FETCH': str(program),
                   **{name: str(value) for name, value in variables.items()}}
    with served(DATA) as site:
        result = command(NTUPLE, 'cat', site.url('example.root'), '.ntuplefs/version.json', env=environment)
    same(result.returncode, 0, result.stderr)
    holds = json.loads(result.stdout)['fetch_sandbox']
    if 'seccomp' not in holds:
        raise Skip('this kernel has no seccomp')
    ended = {name: int(number) for name, number in re.findall(r'^escape (\w+) (\d+)$', shown.read_text(),
                                                              re.M)}
    same(len(ended), ATTEMPTS)
    allowed = {name for name, number in ended.items() if number not in REFUSED}
    return allowed - ({'read_file'} if 'landlock' not in holds else set())


@case
def a_compromised_helper_has_only_connections():
    if not PRELOAD or not FETCH:
        raise Skip('no library of attempts, or no program that fetches')
    with scratch() as directory, tempfile.TemporaryDirectory(dir='.') as elsewhere:
        for place in Path(elsewhere).resolve(), directory / 'empty':
            place.mkdir(exist_ok=True)
            victim = place / 'victim'
            victim.write_text('What nobody was given.\n')
            same(taken_over_fetching(directory, victim), {'make_socket'})
            same(os.listdir(place), ['victim'])


@case
def files_next_to_credentials_are_unreachable():
    """The files as well: it has copies."""
    if not PRELOAD or not FETCH:
        raise Skip('no library of attempts, or no program that fetches')
    with scratch() as directory:
        home, run_directory = directory / 'home', directory / 'run'
        for folder in home, home / '.aws', home / '.ssh', home / '.globus', run_directory:
            folder.mkdir()
        files = {'NETRC': home / '.netrc', 'BEARER_TOKEN_FILE': home / 'token',
                 'X509_USER_PROXY': home / 'proxy', 'AWS_CONFIG_FILE': home / '.aws/config',
                 'KRB5CCNAME': home / 'tickets'}
        victims = [*files.values(), home / '.aws/cli', home / '.ssh/key', home / '.globus/other',
                   home / 'neighbour', run_directory / 'neighbour']
        for path in victims:
            path.write_text('')
        for victim in victims:
            (directory / 'told').unlink(missing_ok=True)
            same(taken_over_fetching(directory, victim, HOME=home, XDG_RUNTIME_DIR=run_directory, **files),
                 {'make_socket'}, victim)


def status_fields(process):
    lines = Path(f'/proc/{process}/status').read_text().splitlines()
    return dict(line.split(':\t', 1) for line in lines if ':\t' in line)


@case
def what_holds_is_reported_and_is_what_the_kernel_says():
    with mounted(data('example.root')) as top:
        shown, found = parts_of(top), status_fields(decoder_of(top))
        same([part for part in PARTS if part in shown], shown)
        same(int(found['NoNewPrivs']), int('no_new_privs' in shown))
        same(found['Seccomp'], '2' if 'seccomp' in shown else '0')
        same({int(found[name], 16) for name in ('CapPrm', 'CapEff', 'CapInh', 'CapAmb')}, {0})
        for task in Path(f'/proc/{decoder_of(top)}/task').iterdir():
            same(status_fields(task.name)['Seccomp'], found['Seccomp'], 'each thread')


@case
def the_tool_says_the_same_of_itself():
    needs(*PARTS)
    for option, expected in ('--sandbox=on', PARTS), ('--sandbox=off', []):
        shown = json.loads(command(NTUPLE, 'cat', option, data('example.root'),
                                  '.ntuplefs/version.json').stdout)
        same(shown['sandbox'], expected)


@case
def root_keeps_the_right_to_read_where_it_needs_it_and_no_other():
    if os.geteuid() != 0:
        raise Skip('only root has it')
    search = 1 << 2
    with scratch() as directory:
        file, folder = sources(directory)
        for path in file, folder:
            os.chown(path, 65534, 65534)
        file.chmod(0o600)
        for source, mode, capabilities in (file, 0o600, search), (file, 0o644, 0), (folder, 0o600, search):
            file.chmod(mode)
            with mounted(source) as top:
                same(int(status_fields(decoder_of(top))['CapEff'], 16), capabilities,
                     f'{source.name} {mode:o}')
                assert list(top.rglob('data.bin')), source


@case
def strict_mounts_where_everything_holds_and_nowhere_else():
    with mounted(data('example.root')) as top:
        missing = set(PARTS) - set(parts_of(top))
    with scratch() as directory:
        result = ntuplefs('-o', 'sandbox=strict', data('example.root'), directory / 'mnt')
        same(result.returncode, 6 if missing else 0, result.stderr)
        for part in missing:
            assert part in result.stderr.decode(), result.stderr
        assert missing or list((directory / 'mnt').rglob('data.bin'))


@case
def a_link_out_of_a_folder_is_refused_by_name_unless_links_are_followed():
    with scratch() as directory:
        _, folder = sources(directory)
        (folder / 'below').mkdir()
        (folder / 'below/within.root').symlink_to('../example.root')
        (folder / 'out.root').symlink_to(data('types.root').resolve())
        with Foreground(folder) as mount:
            assert 'Events' in os.listdir(mount.mountpoint / 'below/within.root')
            command('ls', '-R', mount.mountpoint)
            shown = [line for line in mount.messages() if 'out.root' in line]
            assert len(shown) == 1 and 'a link out of the directory, to ' + str(
                    data('types.root').resolve()) in shown[0], shown
        for options in ['-o', 'links=follow'], ['-o', 'links=follow,sandbox=off']:
            with Foreground(folder, options=options) as mount:
                assert list((mount.mountpoint / 'out.root').rglob('data.bin'))
                same(mount.messages(), [])


run()
