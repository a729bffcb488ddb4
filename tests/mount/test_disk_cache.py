# SPDX-License-Identifier: MIT
"""Bytes read from servers stay on disk for later readers of the same version: checked, bounded,
without secrets, and only in that directory."""
import errno
import json
import os
import re

from harness import DATA, NTUPLE, Skip, case, command, mounted, output, run, same, scratch, stats
from web import served

FILE = 'example.root'
OPENING = 2  # requests
PRELOAD = os.environ.get('ESCAPE_PRELOAD')


def options(directory):
    return '-o', f'diskcache={directory}/kept'


def columns(mountpoint):
    return {path.relative_to(mountpoint): path.read_bytes()
            for path in sorted(mountpoint.glob('Events/**/column.*/data.bin'))}


def expected():
    with mounted(DATA / FILE) as mountpoint:
        return columns(mountpoint)


@case
def a_second_mount_requests_nothing_that_is_on_disk():
    here = expected()
    with scratch() as directory, served(DATA) as site:
        for is_first in (True, False):
            before = len(site.requests)
            with mounted(site.url(FILE), options=options(directory)) as mountpoint:
                same(columns(mountpoint), here)
                reported = stats(mountpoint)
                same(reported['remote_disk_written_bytes'] > 0, is_first, reported)
                same(reported['remote_disk_read_bytes'] > 0, not is_first, reported)
                same(reported['remote_disk_bad_pieces'], 0)
            same(len(site.ranges(before)) == OPENING, not is_first)
        same({path.stat().st_mode & 0o777 for path in (directory / 'kept').iterdir()}, {0o600})
        output(NTUPLE, 'verify', f'--diskcache={directory}/kept', site.url(FILE))
        damage(directory / 'kept')
        with mounted(site.url(FILE), options=options(directory)) as mountpoint:
            same(columns(mountpoint), here)
            same(stats(mountpoint)['remote_disk_bad_pieces'] > 0, True)


def damage(folder):
    """A bit in the middle of the cached bytes of each file; and at their end."""
    for path in folder.iterdir():
        content = bytearray(path.read_bytes())
        for place in (len(content) // 2, len(content) - 100):
            content[place] ^= 1
        path.write_bytes(content)


@case
def two_mounts_share_what_is_on_disk():
    here = expected()
    with scratch() as directory, served(DATA) as site:
        with mounted(site.url(FILE), options=options(directory)) as one, mounted(site.url(FILE),
                options=options(directory)) as other:
            same(columns(one), here)
            same(columns(other), here)
        before = len(site.requests)
        with mounted(site.url(FILE), options=options(directory)) as mountpoint:
            same(columns(mountpoint), here)
        same(len(site.ranges(before)), OPENING)


@case
def another_version_is_another_file():
    with scratch() as directory, served(DATA) as site:
        for name, tag in ((FILE, '"1"'), ('attributes.root', '"2"'), (FILE, '"1"')):
            site.files['changing.root'] = ((DATA / name).read_bytes(), tag, 1000)
            reported = output(NTUPLE, 'cat', f'--diskcache={directory}/kept', site.url('changing.root'),
                          'layout.jsonl')
            same(reported, output(NTUPLE, 'cat', DATA / name, 'layout.jsonl'), name)


@case
def nothing_is_kept_without_a_version_or_of_what_may_be_secret():
    with scratch() as directory, served(DATA) as site:
        for source in (site.url(f'unnamed/{FILE}'), site.url(f'{FILE}?token=hidden-mnopqr')):
            with mounted(source, options=options(directory)) as mountpoint:
                same(columns(mountpoint), expected(), source)
                same(stats(mountpoint)['remote_disk_written_bytes'], 0, source)
            same(os.listdir(directory / 'kept'), [], source)
        with mounted(site.url(f'{FILE}#hidden-mnopqr'), options=options(directory)) as mountpoint:
            columns(mountpoint)
        kept = [path.read_bytes() for path in (directory / 'kept').iterdir()]
        same((len(kept), b'hidden-mnopqr' in kept[0]), (1, False), 'the fragment')


@case
def a_folder_of_others_is_refused():
    with scratch() as directory, served(DATA) as site:
        (directory / 'open').mkdir()
        (directory / 'open').chmod(0o777)
        result = command(NTUPLE, 'ls', f'--diskcache={directory}/open', site.url(FILE))
        same((result.returncode != 0, b'only the owner to have write permission' in result.stderr),
             (True, True), result.stderr)


@case
def the_sandbox_lets_that_folder_alone_be_written():
    if not PRELOAD:
        raise Skip('no library of attempts: a build with sanitizers')
    with scratch() as directory, served(DATA) as site:
        victim = directory / 'victim'
        victim.write_text('What nobody was given.\n')
        environment = {**os.environ, 'LD_PRELOAD': PRELOAD, 'NTUPLE_ESCAPE': f'-1:{victim}'}
        result = command(NTUPLE, 'cat', f'--diskcache={directory}/kept', site.url(FILE),
                         '.ntuplefs/version.json', env=environment)
        if not {'landlock', 'seccomp'} <= set(json.loads(result.stdout)['sandbox']):
            raise Skip('this kernel has no landlock or no seccomp')
        ended = {name: int(number) for name, number in re.findall(r'^escape (\w+) (\d+)$',
                                                                  result.stderr.decode(), re.M)}
        same({name for name, number in ended.items() if number not in (errno.EPERM, errno.EACCES,
                errno.ENOSYS)}, set())
        same(len(ended) > 20, True, result.stderr)
        same((sorted(os.listdir(directory)), victim.read_text()),
             (['kept', 'victim'], 'What nobody was given.\n'))


run()
