# SPDX-License-Identifier: MIT
"""Files on XRootD servers: reads give the file's contents, with few requests. If a server is
killed, stopped, or has another file with the same name, readers wait, fail in time, or get
ESTALE, and never a mixture."""
import concurrent.futures
import errno
import json
import os
import pwd
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

from blz_writer import blz_array
from certificates import make_certificates
from harness import (DATA, IN_TIME, NTUPLE, case, command, daemon_of, errors_of, fails, is_answered,
                     is_mounted, is_running, lines, mounted, output, run,
                     same, scratch, stats, wait_until)
from trees import files_have_their_trees, files_of_every_format_are_verified, same_trees, tree
from web import served, unused_port
from xrootd_server import xrootd

FILE = 'example.root'
DATASETS = DATA / 'lance_datasets'
UNREACHABLE, NOTHING, UNSUPPORTED, USAGE = 9, 2, 4, 1
CHECKED = 1.1  # seconds after which a file is revalidated


def data_files(mountpoint):
    return sorted(mountpoint.glob('Events/**/column.*/data.bin'))


def local(path, mountpoint):
    return output(NTUPLE, 'cat', DATA / FILE, path.relative_to(mountpoint))


# ---- what good servers hold ----

@case
def files_have_the_tree_of_the_file():
    with scratch() as directory, xrootd(directory, DATA) as server:
        files_have_their_trees(server.url)


@case
def files_of_every_format_on_its_servers_are_verified():
    with scratch() as directory, xrootd(directory, DATA) as server:
        files_of_every_format_are_verified(server.url, 1)


@case
def a_column_takes_a_request_for_each_cluster_and_three():
    with scratch() as directory, xrootd(directory, directory) as server:
        output(os.environ['WRITE_LARGE'], directory / 'large.root')
        with mounted(server.url('large.root')) as mountpoint:
            same(stats(mountpoint)['remote_requests'] <= OPENING, True, stats(mountpoint))
            for column in ('c0', 'c47'):  # the smallest pages, the largest ones
                count = stats(mountpoint)['remote_requests']
                path = mountpoint / f'Events/{column}/data.bin'
                same(path.read_bytes(), output(NTUPLE, 'cat', directory / 'large.root',
                                               f'Events/{column}/data.bin'), column)
                requests = stats(mountpoint)['remote_requests'] - count
                same(requests <= LARGE_CLUSTERS + 3, True, f'{column}: {requests}')


LARGE_CLUSTERS = 4
OPENING = 4  # open, both ends, and the missing parts of header and footer


@case
def stat_says_server_and_validator():
    with scratch() as directory, xrootd(directory, DATA) as server:
        reported = json.loads(output(NTUPLE, 'stat', '--json', server.url(f'{FILE}?authz=abcdef')))
        same((reported['server'], reported['validator']), (server.url('').rstrip('/'),
                                                   str(int((DATA / FILE).stat().st_mtime))), reported)
        same((reported['open_requests'] <= OPENING, reported['open_round_trips']), (True, 2), reported)


@case
def files_on_servers_of_all_kinds_and_files_here_are_shown_together():
    with scratch() as directory, xrootd(directory, DATA) as server, served(DATA) as site:
        with mounted(server.url(FILE), DATA / 'empty.root', site.url('damaged_page.root')) as mountpoint:
            for name in (FILE, 'empty.root', 'damaged_page.root'):
                same((mountpoint / name / 'layout.jsonl').read_bytes(),
                     output(NTUPLE, 'cat', DATA / name, 'layout.jsonl'), name)


def encrypted(directory, more=''):
    """A server by TLS."""
    make_certificates(directory)
    if os.geteuid() == 0:
        os.chown(directory / 'server.key', pwd.getpwnam('nobody').pw_uid, -1)
    return xrootd(directory, DATA, f"""
            xrd.tls {directory}/server.pem {directory}/server.key
            xrd.tlsca certdir {directory}/authorities
            xrootd.tls capable all
            {more}""")


@case
def an_encrypted_connection_is_never_redirected_to_a_plain_one():
    with scratch() as directory, scratch() as other, xrootd(other, DATA) as plain, encrypted(
            directory, f'xrootd.redirect 127.0.0.1:{plain.port} /') as server:
        environment = {**os.environ, 'X509_CERT_DIR': str(directory / 'authorities')}
        output(NTUPLE, 'ls', server.url(FILE), env=environment)
        found = command(NTUPLE, 'ls', '--timeout=3', server.url(FILE, 'roots'), env=environment)
        same(found.returncode, UNREACHABLE, found.stderr)


@case
def servers_with_a_trusted_certificate_are_read_by_tls():
    with scratch() as directory:
        with encrypted(directory) as server:
            for address in (server.url(FILE, 'roots'), server.url(FILE, 'xroots')):
                output(NTUPLE, 'verify', address, env={**os.environ,
                                                       'X509_CERT_DIR': str(directory / 'authorities')})
            result = command(NTUPLE, 'ls', server.url(FILE, 'roots'),
                             env={**os.environ, 'X509_CERT_DIR': str(directory)})
            same((result.returncode, b'X509_CERT_DIR' in result.stderr), (UNREACHABLE, True), result.stderr)


# ---- directories ----

@case
def datasets_that_are_folders_have_the_tree_that_they_have_here():
    with scratch() as directory, xrootd(directory, DATASETS) as server:
        for name in ('fragments_2.2', 'columns_0.1'):
            here, there = directory / f'{name}-here', directory / f'{name}-there'
            same(tree(server.url(f'{name}/'), there), tree(DATASETS / name, here), name)
            same_trees(here, there)


@case
def folders_are_mirrored_as_they_are_here():
    with scratch() as directory:
        folder = directory / 'files' / 'all'
        for name in ('events.root', 'of today/a%2e b+c#.root', 'of today/deep/er/events.root',
                     '%2e%2e.root', 'ü;&=.root', 'no_metalink.meta4'):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(DATA / 'compression_zstd.root', folder / name)
        shutil.copytree(DATASETS / 'deletions_2.1', folder / 'of today' / 'set.lance')
        with xrootd(directory, directory / 'files') as server:
            same(tree(server.url('all/'), directory / 'there'), tree(folder, directory / 'here'))
        same_trees(directory / 'here', directory / 'there')


@case
def a_folder_is_found_without_a_slash():
    with scratch() as directory:
        folder = directory / 'files' / 'of today'
        blz_array(folder / 'array')
        shutil.copytree(DATASETS / 'deletions_2.1', folder / 'set')
        with xrootd(directory, directory / 'files') as server:
            for name in ('array', 'set'):
                found = output(NTUPLE, 'verify', server.url(f'of today/{name}'))
                same(found.split(b': ', 1)[1], output(NTUPLE, 'verify', folder / name).split(b': ', 1)[1],
                     name)


@case
def patterns_are_what_they_are_here():
    with scratch() as directory:
        folder = directory / 'files'
        for name in ('of today/a/run1.root', 'of today/a/run2.root', 'run0.root',
                     'of today/.hidden/run9.root'):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(DATA / FILE, folder / name)
        with xrootd(directory, folder) as server:
            for pattern in ('**/run*.root', 'of*/a/run[0-9].root', 'run0.roo*'):
                with mounted(server.url(pattern), options=('-o',
                                                           'chain')) as there, mounted(folder / pattern,
                                                                   options=('-o', 'chain')) as here:
                    reported = lines(there / 'Events/files.jsonl')
                    same([line['file'] for line in reported],
                         [server.url(Path(line['file']).relative_to(folder))
                          for line in lines(here / 'Events/files.jsonl')], pattern)
                    same((there / 'Events/weight/data.bin').read_bytes(),
                         (here / 'Events/weight/data.bin').read_bytes(), pattern)
                    same((there / reported[0]['path'] / 'Events/event/data.bin').read_bytes(),
                         local(here / 'Events/event/data.bin', here), pattern)


@case
def a_listed_file_that_is_another_one_is_never_mixed_in():
    with scratch() as directory:
        array = blz_array(directory / 'files' / 'array')
        # which has listed the chunks
        with xrootd(directory, directory / 'files') as server, mounted(server.url('array/')) as mountpoint:
            os.utime(array / 'data' / '__1.blp', (1, 1))
            fails(errno.ESTALE, next(mountpoint.rglob('data.bin')).read_bytes)


# ---- failures ----

@case
def what_servers_refuse_is_reported():
    with scratch() as directory:
        folder = directory / 'files'
        (folder / 'folder').mkdir(parents=True)
        shutil.copy(DATA / FILE, folder / 'closed.root')
        (folder / 'closed.root').chmod(0)
        with xrootd(directory, folder) as server:
            sources = [(server.url('nothing.root'), NOTHING, '3011'),
                       (server.url('closed.root'), NOTHING, '3010'),
                       (f'root://127.0.0.1:{server.port}/{FILE}', NOTHING, 'two slashes: root://HOST//PATH'),
                       (server.url('closed.root', 'roots'), UNREACHABLE, 'X509_CERT_DIR'),
                       (f'xroot://127.0.0.1:{unused_port()}//{FILE}', UNREACHABLE, 'tries'),
                       ('root://does-not-exist.invalid//file.root', UNREACHABLE, 'tries')]

            def attempt(source):
                address, status, _ = source
                start = time.monotonic()
                limit = ('--timeout=2',) if status == UNREACHABLE else ()
                return command(NTUPLE, 'ls', *limit, f'{address}?authz=abcdef'), time.monotonic() - start

            with concurrent.futures.ThreadPoolExecutor(len(sources)) as pool:
                for (source, status, word), (result, seconds) in zip(sources, pool.map(attempt, sources)):
                    message = result.stderr.decode()
                    same(result.returncode, status, f'{source}: {message}')
                    same((word in message, source in message, 'abcdef' in message, seconds < IN_TIME),
                         (True, True, False, True), f'{message} {seconds} s')


@case
def addresses_do_not_say_secrets():
    with scratch() as directory, xrootd(directory, DATA) as server:
        with mounted(server.url(f'{FILE}?authz=abcdef')) as mountpoint:
            same('abcdef' in Path('/proc/self/mounts').read_text(), False, 'mounts')
            same('abcdef' in (mountpoint / 'file.json').read_text(), False, 'file.json')
        result = command(NTUPLE, 'ls', server.url(FILE).replace('//', '//me:abcdef@', 1))
        same((result.returncode, b'abcdef' in result.stderr, b'password' in result.stderr),
             (USAGE, False, True), result.stderr)
        output(NTUPLE, 'ls', server.url(FILE).replace('//', '//me@', 1))


@case
def without_the_client_it_is_named():
    with scratch() as directory, served(DATA) as site:
        program = shutil.copy(os.environ['NTUPLE_FETCH'], directory)
        environment = {**os.environ, 'NTUPLE_FETCH': program}
        result = command(NTUPLE, 'ls', 'root://127.0.0.1//file.root', env=environment)
        same((result.returncode, b'-Dxrootd' in result.stderr), (UNSUPPORTED, True), result.stderr)
        output(NTUPLE, 'ls', site.url(FILE), env=environment)


# ---- what happens in between ----


@case
def a_server_that_is_started_anew_is_waited_for():
    with scratch() as directory, xrootd(directory, DATA) as server, mounted(server.url(FILE)) as mountpoint:
        first, *_, last = data_files(mountpoint)
        for path, is_read_meanwhile in ((first, True), (last, False)):
            server.kill()
            if is_read_meanwhile:
                threading.Timer(0.7, server.start).start()
            else:
                server.start()
            same(path.read_bytes(), local(path, mountpoint), 'after it was killed')
        same(stats(mountpoint)['remote_retries'] > 0, True, 'it was not there')
        same(errors_of(mountpoint), [], 'errors.jsonl')


def replaced(how, is_restarted):
    """Read the columns of a file that was replaced; returns how many are stale."""
    with scratch() as directory:
        (directory / 'files').mkdir()
        path = directory / 'files' / FILE
        shutil.copy(DATA / FILE, path)
        with xrootd(directory, directory / 'files') as server, mounted(server.url(FILE)) as mountpoint:
            files = data_files(mountpoint)[::3]
            how(path)
            if is_restarted:
                server.kill()
                server.start()
            else:
                time.sleep(CHECKED)
            stale = 0
            for file in files:
                try:
                    same(file.read_bytes(), local(file, mountpoint), file)
                except OSError as error:
                    same(error.errno, errno.ESTALE, file)
                    stale += 1
            same([line['status'] for line in errors_of(mountpoint)], ['source changed'] if stale else [],
                 'errors.jsonl')
            return stale


def other_bytes(path):
    content = bytearray((DATA / FILE).read_bytes())
    content[20000:60000] = bytes(40000)
    return bytes(content)


def write_another(path):
    times = path.stat()
    other = path.with_name('other')
    other.write_bytes(other_bytes(path))
    os.utime(other, ns=(times.st_atime_ns, times.st_mtime_ns))  # as in the same second
    other.rename(path)


def write_in_place(path):
    path.write_bytes(other_bytes(path))
    os.utime(path, (1, 1))


@case
def another_file_is_never_mixed_in():
    ways = [('found out when it is opened anew', write_another, True, True),
            ('the server has the first one open', write_another, False, False),
            ('found out while it is read', write_in_place, False, True),
            ('shorter', lambda path: os.truncate(path, 30000), False, True),
            ('no longer there', Path.unlink, True, True)]
    with concurrent.futures.ThreadPoolExecutor(len(ways)) as pool:
        for (what, _, _, is_stale), stale in zip(ways, pool.map(lambda way: replaced(*way[1:3]), ways)):
            same(stale > 0, is_stale, what)


@case
def a_silent_server_is_an_error_in_time_and_no_damage():
    with scratch() as directory, xrootd(directory, DATA) as server, mounted(server.url(FILE),
            options=('-o', 'timeout=1')) as mountpoint:
        path = data_files(mountpoint)[0]
        server.pause()
        start = time.monotonic()
        fails(errno.EIO, path.read_bytes)
        same(time.monotonic() - start < IN_TIME, True, time.monotonic() - start)
        same({line['status'] for line in errors_of(mountpoint)}, {'unreachable'}, 'errors.jsonl')
        server.resume()
        wait_until(lambda: is_answered(path), 'it answers again')
        same(path.read_bytes(), local(path, mountpoint), 'when it answers again')


@case
def a_mount_ends_while_a_server_is_silent():
    with scratch() as directory, xrootd(directory, DATA) as server, mounted(server.url(FILE)) as mountpoint:
        paths = data_files(mountpoint)
        server.pause()
        reader = subprocess.Popen(['cat', paths[0]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.3)
        same(reader.poll(), None, 'it waits')
        daemon = daemon_of(mountpoint)
        start = time.monotonic()
        os.kill(daemon, signal.SIGTERM)
        wait_until(lambda: not is_mounted(mountpoint) and not is_running(daemon), 'unmounted', IN_TIME)
        same(reader.wait(IN_TIME) != 0, True, 'the reader')
        same(time.monotonic() - start < IN_TIME, True)


run(at_once=3)
