# SPDX-License-Identifier: MIT
"""Files on a web server: reads give the file's contents, with few requests. Whatever a server
does, a read ends in time, with the file's bytes or an error that distinguishes the server from
the file."""
import contextlib
import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from harness import (DATA, IN_TIME, NTUPLE, Skip, case, cat_lines, command, daemon_of, data, errors_of,
                     fails, is_answered, is_mounted, is_running,
                     libfuse_lacks, mounted, need, ntuplefs, output, run, same, scratch, stats, unmount,
                     wait_until)
from trees import files_have_their_trees, files_of_every_format_are_verified, same_trees, tree
from web import BEGINNING, EDGE, END, fetchers, nginx, own_program, served, unused_port

FILE = 'example.root'
UNREACHABLE = 9
NOTHING, UNSUPPORTED, USAGE = 2, 4, 1
STANDS = 1.2  # seconds without a retry after a failure, and a little more


def fails_with(status, source, *words, seconds=10, options=('--timeout=2',)):
    """The message names the source and these words, and never says damaged."""
    start = time.monotonic()
    result = command(NTUPLE, 'cat', *options, source, '.ntuplefs/version.json')
    message = result.stderr.decode()
    same(result.returncode, status, f'{source}: {message}')
    for word in (source.split('?')[0], *words):
        same(word in message, True, f'{word!r} in {message!r}')
    same(re.search('damage|corrupt|checksum', message), None, message)
    same(time.monotonic() - start < seconds, True, f'{source}: {time.monotonic() - start} s')
    return message


# ---- what good servers hold ----

@case
def files_by_http_have_the_tree_of_the_file():
    with served(DATA) as site:
        files_have_their_trees(site.url)


@case
def files_of_every_format_by_http_are_verified():
    with served(DATA) as site:
        files_of_every_format_are_verified(site.url, 0)


@case
def few_requests_are_made():
    with served(DATA) as site:
        output(NTUPLE, 'ls', site.url(FILE))
        ranges = site.ranges()
        same({BEGINNING, END} <= set(ranges), True, 'opening')
        same(len(ranges) <= 4, True, ranges)
        same({headers['Accept-Encoding'] for _, headers in site.requests}, {'identity'}, 'compression')
        with mounted(site.url(FILE)) as mountpoint:
            column = next(mountpoint.glob('**/column.0/data.bin'))
            content = column.read_bytes()
            count = len(site.ranges())
            same(column.read_bytes(), content, 'read again')
            same(len(site.ranges()), count, 'requests of a second read')


@case
def a_column_takes_a_request_for_each_cluster_and_three():
    with scratch() as directory, served(directory) as site:
        output(os.environ['WRITE_LARGE'], directory / 'large.root')
        for column in ('c0', 'c47'):  # the smallest pages, the largest ones
            count = len(site.requests)
            same(output(NTUPLE, 'cat', site.url('large.root'), f'Events/{column}/data.bin'),
                 output(NTUPLE, 'cat', directory / 'large.root', f'Events/{column}/data.bin'), column)
            ranges = site.ranges(count)
            same(len(ranges) <= LARGE_CLUSTERS + 3, True, f'{column}: {ranges}')


@case
def baskets_are_requested_as_a_whole_if_they_are_read_next():
    uproot, awkward, numpy = need('uproot'), need('awkward'), need('numpy')
    header_bytes, path = 512, 'tree/x/item/data.bin'
    with scratch() as directory, served(directory) as site:
        with uproot.recreate(directory / 'lists.root', compression=None) as file:
            tree = file.mktree('tree', {'x': 'var * float64'})
            for count in range(3):
                values = numpy.full(30_000, count / 3)  # 240 KB
                tree.extend({'x': awkward.unflatten(values, numpy.full(3_000, 10))})

        def headers(count):
            ends = [map(int, part.removeprefix('bytes=').split('-')) for part in site.ranges(count)
                    if part != END]
            return sum(last + 1 - first == header_bytes for first, last in ends)

        content = output(NTUPLE, 'cat', directory / 'lists.root', path)
        same(output(NTUPLE, 'cat', site.url('lists.root'), path) == content, True, 'values')
        same(headers(0), 0, 'headers before values')
        count = len(site.requests)
        with mounted(site.url('lists.root')) as mountpoint:
            same((mountpoint / path).stat().st_size, len(content), 'size')
            same(headers(count), 3, 'headers for a size')


@case
def fields_that_are_copied_one_after_the_other_are_requested_together():
    uproot, awkward, numpy = need('uproot'), need('awkward'), need('numpy')
    fields, rows = 200, 200
    with scratch() as directory, served(directory) as site:
        with uproot.recreate(directory / 'wide.root', compression=None) as file:
            lists = awkward.unflatten(numpy.arange(8.0 * rows), numpy.full(rows, 8))  # 13 KB
            names = [f'x{number}' for number in range(fields)]
            tree = file.mktree('tree', {name: 'var * float64' for name in names})
            tree.extend({name: lists + number for number, name in enumerate(names)})
        for name, source in ('local', directory / 'wide.root'), ('remote', site.url('wide.root')):
            output(NTUPLE, 'cp', '-r', '--data', source, directory / name)
        same_trees(directory / 'local', directory / 'remote')
        requests = len(site.ranges())
        same(requests < fields / 2, True, f'{requests} requests')


LARGE_CLUSTERS = 4
CONNECTIONS = 16


@case
def the_first_rows_are_fetched_together():
    with scratch() as directory, served(directory) as site:
        output(os.environ['WRITE_LARGE'], directory / 'large.root')

        def ranges(*arguments):
            count = len(site.requests)
            same(output(NTUPLE, 'head', '-n3', *arguments, site.url('large.root')),
                 output(NTUPLE, 'head', '-n3', *arguments, directory / 'large.root'), arguments)
            return len(site.ranges(count))
        columns = 48
        lines, table = ranges('--json'), ranges('--table')
        same([lines < columns, table < columns], [True, True], f'{lines} and {table} requests')


@case
def values_on_a_server_are_described():
    with served(DATA) as site:
        for name in ('nano.root', 'trees/trees_baskets.root', 'lance_null_lists_2.2.lance',
                     'structures.blp'):
            same(output(NTUPLE, 'describe', site.url(name)), output(NTUPLE, 'describe', DATA / name), name)


def large_file_in(folder):
    output(os.environ['WRITE_LARGE'], folder / 'large.root')
    return folder / 'large.root'


def openings(site):
    return sum(headers['Range'] in (BEGINNING, END) for _, headers in site.requests)


def reads_over_many(folder, name, most):
    """Does a command that reads a file make more than the two connections that open it? Asks a server of its
    own: one that was asked before may still receive what that command sent."""
    with served(folder) as site:
        output(NTUPLE, 'cat', site.url(name), 'file.json')
        made = openings(site)
    same(made <= most, True, made)
    return made > 2


@case
def connections_are_made_for_the_first_file_of_a_server_by_its_size():
    """Two of them open the file. Who reads columns at once has all of them before its size is known."""
    with scratch() as folder:
        size = large_file_in(folder).stat().st_size
        shutil.copy(DATA / FILE, folder)
        worth = (size - 2 * EDGE) // (256 * 1024)
        same(2 < worth < CONNECTIONS, True, size)
        for name, reader, expected in (('large.root', 'mount', worth), (FILE, 'mount', 2), (FILE, 'ls', 2),
                                       (FILE, 'verify', 2), (FILE, 'cat', CONNECTIONS)):
            if reader == 'cat':  # on a busy machine it may end before the others exist
                wait_until(lambda: reads_over_many(folder, name, expected), 'connections')
                continue
            with served(folder) as site:
                if reader == 'mount':
                    with mounted(site.url(name)):
                        wait_until(lambda: openings(site) >= expected, 'connections')
                        time.sleep(0.1)  # there are no more
                    same(openings(site), expected, name)
                else:
                    output(NTUPLE, reader, site.url(name))
                    same(openings(site), expected, reader)


@case
def stats_say_what_was_asked_of_servers():
    with served(DATA) as site, mounted(site.url(f'short/{FILE}')) as mountpoint:
        column = next(mountpoint.glob('Events/**/column.*/data.bin'))
        column.read_bytes()
        reported = stats(mountpoint)
        wait_until(lambda: len(site.requests) == reported['remote_requests'], 'requests')
        same((reported['remote_retries'] >= 1, reported['remote_failures']), (True, 0), reported)
        same(2 * EDGE <= reported['remote_bytes'] <= (DATA / FILE).stat().st_size, True, reported)
        same(reported['remote_kept_bytes'], reported['remote_bytes'], 'nothing had to go')
        same(reported['remote_wait_milliseconds'] < 60000, True, reported)
        column.read_bytes()
        same(stats(mountpoint)['remote_requests'], reported['remote_requests'], 'read again')
    with mounted(DATA / FILE) as mountpoint:
        same([name for name in stats(mountpoint) if name.startswith('remote_')], [], 'of a file here')




@case
def a_server_without_versions_is_told_when_it_is_mounted():
    with served(DATA) as site:
        server = site.url('').rstrip('/')
        with mounted(site.url(f'unnamed/{FILE}'), reported=f'{server} reports no versions of files'):
            pass
        with mounted(site.url(FILE), reported=''):
            pass


@case
def stat_says_server_validator_and_what_opening_costs():
    with served(DATA) as site:
        server = site.url('').rstrip('/')
        for way, validated, round_trips in ('', True, 1), ('weak/', True, 1), ('unnamed/', False,
                1), ('no-suffix/', True, 2), ('elsewhere/', True, 1):
            result = command(NTUPLE, 'stat', '--json', site.url(f'{way}{FILE}?token=abcdef'))
            reported = json.loads(result.stdout)
            same((reported['server'], b'abcdef' in result.stdout), (server, False), way)
            tag = f'"{(DATA / FILE).stat().st_mtime_ns:x}" '
            same(reported['validator'] is not None and reported['validator'].startswith(tag), validated,
                 reported['validator'])
            # each is created twice there; some connections may not exist yet when it ends
            if way != 'elsewhere/':
                asked = sum(path.startswith(f'/{way}{FILE}') for path, _ in site.requests)
                same(2 <= asked <= reported['open_requests'] < CONNECTIONS + round_trips, True,
                     f'{way}: {asked}, {reported}')
            same(2 * EDGE <= reported['open_bytes'] <= (DATA / FILE).stat().st_size, True, reported)
            same(reported['open_round_trips'], round_trips, reported)
            same(0 <= reported['open_milliseconds'] < 60000, True, reported)
        text = output(NTUPLE, 'stat', site.url(FILE)).decode()
        for name in ('server', 'validator', 'open_requests', 'open_round_trips', 'open_bytes',
                     'open_milliseconds'):
            same(f'\n{name}: ' in text, True, text)
        with mounted(site.url(FILE)) as mountpoint:
            same(os.getxattr(mountpoint, 'user.ntuplefs.server').decode(), server, 'of a mount')
            same('user.ntuplefs.server' in os.listxattr(mountpoint / 'Events'), False, 'of a dataset')
    reported = json.loads(output(NTUPLE, 'stat', '--json', DATA / FILE))
    same([name for name in reported if name.startswith('open_') or name in ('server', 'validator')], [],
         'of a file here')


@case
def what_is_damaged_on_the_way_is_fetched_once_more():
    size = (DATA / FILE).stat().st_size
    with served(DATA) as site:
        for owner in ('page', 'page list'):
            places = [line['file_offset'] for line in cat_lines(DATA / FILE, 'layout.jsonl')
                      if line['owner'] == owner and EDGE < line['file_offset'] < size - EDGE]
            site.damage_at, site.damaged = places[len(places) // 2], 0
            reported = output(NTUPLE, 'verify', '--json', site.url(f'damaged-once/{FILE}')).splitlines()[-1]
            same(json.loads(reported)['result'], 'ok', owner)
            same(site.damaged, 1, 'one answer was damaged')
        result = command(NTUPLE, 'verify', site.url('damaged_page.root'))
        same(result.returncode, command(NTUPLE, 'verify', DATA / 'damaged_page.root').returncode,
             result.stderr)


@case
def many_small_pages_take_few_requests():
    with scratch() as directory, served(directory) as site:
        subprocess.run([os.environ['WRITE_MANY'], directory / 'many.root', '20000', '1', '1'], check=True)
        same(command(NTUPLE, 'verify', site.url('many.root')).returncode, 0)
        same(len(site.requests) < 200, True, f'{len(site.requests)} requests for 20,000 pages')


@case
def servers_that_are_odd_but_right_are_read():
    here = output(NTUPLE, 'verify', '--json', DATA / FILE)
    with served(DATA) as site:
        for way in ('no-suffix', 'unnamed', 'weak', 'short', 'elsewhere', 'elsewhere/elsewhere',
                    'busy-at-first'):
            there = output(NTUPLE, 'verify', '--json', site.url(f'{way}/{FILE}'))
            for reported in (here, there):
                same(json.loads(reported.splitlines()[-1])['result'], 'ok', way)
        output(NTUPLE, 'cat', site.url(FILE + '?key=1#part'), '.ntuplefs/version.json')
        same(site.requests[-1][0], f'/{FILE}?key=1', 'without the fragment')


@case
def files_on_servers_and_files_here_are_shown_together():
    with served(DATA) as site, mounted(site.url(FILE), DATA / 'empty.root',
                                       site.url('damaged_page.root')) as mountpoint:
        names = {'example.root': FILE, 'empty.root': 'empty.root', 'damaged_page.root': 'damaged_page.root'}
        same(set(os.listdir(mountpoint)) >= set(names), True, os.listdir(mountpoint))
        for name, source in names.items():
            same((mountpoint / name / 'layout.jsonl').read_bytes(),
                 output(NTUPLE, 'cat', DATA / source, 'layout.jsonl'), name)


@case
def an_address_gives_the_mountpoint_its_name():
    with served(DATA) as site, scratch() as directory:
        result = ntuplefs(site.url(FILE + '?token=secret'), cwd=directory)
        same((result.returncode, result.stdout.decode()),
             (0, 'mounted on example; unmount with: fusermount3 -u example\n'))
        assert 'Events' in os.listdir(directory / 'example')
        unmount(directory / 'example')


@case
def nginx_is_read():
    with scratch() as directory, nginx(directory, 'gzip on; gzip_types *; gzip_min_length 1;',
                                       f'location / {{ root {DATA}; }}') as server:
        tree(f'http://127.0.0.1:{server.port}/{FILE}', directory / 'there')
        tree(DATA / FILE, directory / 'here')
        same_trees(directory / 'here', directory / 'there')


# ---- failures ----

@case
def what_servers_do_wrong_is_reported():
    ways = [('whole', UNSUPPORTED, 'whole files'), ('compressed', UNSUPPORTED, 'Content-Encoding'),
            ('other-part', UNREACHABLE, 'but the server sends bytes'),
            ('no-content-range', UNREACHABLE, 'Content-Range'), ('loop', UNREACHABLE, 'redirects'),
            ('forbidden', NOTHING, '403'), ('unauthorized', NOTHING, '401'),
            ('busy', UNREACHABLE, '503', 'tries'), ('busy-for-long', UNREACHABLE, '429', '3600 s'),
            ('silent', UNREACHABLE, 'timed out after 2 s'),
            ('endless-headers', UNREACHABLE, 'headers'), ('garbage', UNREACHABLE)]
    with served(DATA) as site:
        threads = []
        problems = []

        def attempt(source, status, words):
            try:  # all at once, so that an answer may take longer than alone
                seconds = 2 if '/silent/' in source else 5
                message = fails_with(status, source, *words, options=(f'--timeout={seconds}',))
                same('secret' in message, False, message)
            except Exception as problem:
                problems.append(problem)

        sources = [(site.url(f'{way}/{FILE}'), status, words) for way, status, *words in ways]
        sources += [(site.url('nothing.root'), NOTHING, ['404']),
                    (f'http://127.0.0.1:{unused_port()}/{FILE}', UNREACHABLE, ['connect']),
                    ('http://does-not-exist.invalid/file.root', UNREACHABLE, ['resolve'])]
        for source in sources:
            threads.append(threading.Thread(target=attempt, args=source))
            threads[-1].start()
        for thread in threads:
            thread.join()
        for problem in problems:
            raise problem


def command_lines():
    """Those of all processes."""
    for path in Path('/proc').glob('[0-9]*/cmdline'):
        with contextlib.suppress(OSError):
            yield path.read_bytes()


@case
def addresses_do_not_say_secrets():
    with served(DATA) as site:
        message = fails_with(UNREACHABLE, site.url(f'busy/{FILE}?token=abcdef#abcdef'),
                             options=('--timeout=1',))
        same('abcdef' in message, False, message)
        result = command(NTUPLE, 'ls', f'http://user:abcdef@127.0.0.1:{site.port}/{FILE}')
        same((result.returncode, b'abcdef' in result.stderr, b'netrc' in result.stderr),
             (USAGE, False, True), result.stderr)
        with mounted(site.url(f'{FILE}?token=abcdef')) as mountpoint:
            same('abcdef' in Path('/proc/self/mounts').read_text(), False, 'mounts')
            same('abcdef' in (mountpoint / 'file.json').read_text(), False, 'file.json')
            reported = [line for line in command_lines() if b'abcdef' in line]
            same(reported, [], 'command lines')
            assert any(site.url(FILE).encode() in line
                       for line in command_lines()), 'the address without its query'
        same(site.requests[-1][0], f'/{FILE}?token=abcdef', 'asked for')


@case
def without_the_program_that_fetches_it_is_named():
    result = command(NTUPLE, 'ls', 'https://server/file.root',
                     env={**os.environ, 'NTUPLE_FETCH': '/nonexistent/fetch'})
    same((result.returncode, b'/nonexistent/fetch' in result.stderr), (UNSUPPORTED, True), result.stderr)


@case
def the_program_that_fetches_is_found_beside_the_others():
    environment = {name: value for name, value in os.environ.items() if name != 'NTUPLE_FETCH'}
    with scratch() as folder, served(DATA) as site:
        program = shutil.copy(NTUPLE, folder / 'ntuple')
        shutil.copy(os.environ['NTUPLE_FETCH'], folder / 'ntuplefs-fetch')
        listed = command(program, 'ls', site.url(FILE), env=environment)
        same((listed.returncode, listed.stdout), (0, output(NTUPLE, 'ls', DATA / FILE)), listed.stderr)


# ---- what happens in between ----

def data_files(mountpoint):
    return sorted(mountpoint.glob('Events/**/column.*/data.bin')) or sorted(
            mountpoint.glob('**/column.*/data.bin'))


def large_file():
    """Columns of which opening reads nothing."""
    return (DATA / FILE).read_bytes()


@case
def another_version_is_never_mixed_in():
    content = large_file()
    changed = bytearray(content)
    changed[20000:60000] = bytes(40000)
    for headers in (('"1"', 1000), ('"2"', 1000)), (('', 1000), ('', 2000)):
        with served(DATA) as site:
            site.files[FILE] = (content, *headers[0])
            with mounted(site.url(FILE)) as mountpoint:
                files = data_files(mountpoint)
                site.files[FILE] = (bytes(changed), *headers[1])
                good, stale = 0, 0
                for path in files:
                    try:
                        found = path.read_bytes()
                        local = output(NTUPLE, 'cat', DATA / FILE, path.relative_to(mountpoint))
                        same(found, local, path)
                        good += 1
                    except OSError as error:
                        same(error.errno, errno.ESTALE, path)
                        stale += 1
                same(stale > 0, True, f'{good} read')
                same([line['status'] for line in errors_of(mountpoint)], ['source changed'], 'errors.jsonl')


@case
def a_silent_server_is_an_error_in_time_and_no_damage():
    with served(DATA) as site, mounted(site.url(f'silent-later/{FILE}'),
                                       options=('-o', 'timeout=1')) as mountpoint:
        path = data_files(mountpoint)[0]
        expected = output(NTUPLE, 'cat', DATA / FILE, path.relative_to(mountpoint))
        site.is_good = None
        start = time.monotonic()
        fails(errno.EIO, path.read_bytes)
        same(time.monotonic() - start < IN_TIME, True, time.monotonic() - start)
        same({line['status'] for line in errors_of(mountpoint)}, {'unreachable'}, 'errors.jsonl')
        same((mountpoint / 'file.json').read_bytes() != b'', True, 'what is in memory')
        site.is_good = True
        wait_until(lambda: is_answered(path), 'it answers again')
        same(path.read_bytes(), expected, 'when it answers again')


# Prints names of extended attributes, which the kernel does not cache.
ATTRIBUTES = sys.executable, '-c', 'import os, sys; print([os.listxattr(path) for path in sys.argv[1:]])'


@case
def readers_that_wait_for_a_server_delay_no_metadata():
    """More of them than the mount has threads."""
    with served(DATA) as site, mounted(site.url(f'silent-later/{FILE}'),
                                       options=('-o', 'direct_io=on')) as mountpoint:
        files = data_files(mountpoint)
        expected = output(*ATTRIBUTES, *files)
        site.is_good = None
        readers = [subprocess.Popen(['cat', files[number % len(files)]], stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL) for number in range(40)]
        count = len(site.requests)
        try:
            wait_until(lambda: len(site.requests) > count, 'they read')
            found = subprocess.run([*ATTRIBUTES, *files], capture_output=True, timeout=IN_TIME)
            same(found.stdout, expected, found.stderr)
            same([reader.poll() for reader in readers], [None] * len(readers), 'the readers wait')
        finally:
            site.is_good = True
            for reader in readers:
                reader.kill()
                reader.wait()


@case
def a_server_that_is_started_anew_is_waited_for():
    with scratch() as directory, nginx(directory, '', f'location / {{ root {DATA}; }}') as server:
        with mounted(f'http://127.0.0.1:{server.port}/{FILE}') as mountpoint:
            path = data_files(mountpoint)[-1]
            server.stop()
            threading.Timer(0.7, server.start).start()
            same(path.read_bytes(), output(NTUPLE, 'cat', DATA / FILE, path.relative_to(mountpoint)),
                 'read meanwhile')
            same(stats(mountpoint)['remote_retries'] > 0, True, 'it was not there')


@case
def a_mount_ends_while_a_server_is_silent():
    with served(DATA) as site, mounted(site.url(f'silent-later/{FILE}')) as mountpoint:
        path = data_files(mountpoint)[0]
        site.is_good = None
        count = len(site.requests)
        reader = subprocess.Popen(['cat', path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: len(site.requests) > count, 'it reads')
        daemon = daemon_of(mountpoint)
        start = time.monotonic()
        os.kill(daemon, signal.SIGTERM)
        wait_until(lambda: not is_mounted(mountpoint) and not is_running(daemon), 'unmounted', IN_TIME)
        same(reader.wait(IN_TIME) != 0, True, 'the reader')
        same(time.monotonic() - start < IN_TIME, True)


@case
def an_interrupted_reader_leaves_a_silent_server():
    with served(DATA) as site, mounted(site.url(f'silent-later/{FILE}')) as mountpoint:
        files, daemon = data_files(mountpoint), daemon_of(mountpoint)
        site.is_good = None
        count = len(site.requests)
        for path, interrupt in zip(files, (signal.SIGINT, signal.SIGKILL)):
            reader = subprocess.Popen(['cat', path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            wait_until(lambda: len(site.requests) > count, 'it is asked')
            time.sleep(STANDS)  # the second waits for the same request
            same(reader.poll(), None, 'it waits')
            reader.send_signal(interrupt)
            same(reader.wait(IN_TIME), -interrupt, 'the reader')
        same((mountpoint / 'file.json').read_bytes() != b'', True, 'others are answered')
        subprocess.run(['fusermount3', '-u', mountpoint], check=True)  # no file is open any more
        wait_until(lambda: not is_running(daemon), 'it ends, although reads are under way', IN_TIME)


@case
def names_beside_one_that_a_silent_server_has_are_answered():
    """By default the kernel allows only one lookup at a time in a directory."""
    if libfuse_lacks():
        raise Skip(libfuse_lacks())
    with served(DATA) as site, mounted(data('empty.root'), site.url(f'silent/{FILE}'),
                                       options=('-o', 'timeout=4')) as mountpoint:
        time.sleep(STANDS)
        count = len(site.requests)
        waiting = subprocess.Popen(['stat', mountpoint / FILE], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        wait_until(lambda: len(site.requests) > count, 'it is asked')
        for name in 'empty.root', 'none':
            subprocess.run(['stat', mountpoint / name], capture_output=True, check=False, timeout=IN_TIME)
        same(waiting.poll(), None, 'who looks up the silent one')
        waiting.kill()
        waiting.wait(IN_TIME)


@case
def one_request_of_a_program_waits_once_for_a_silent_server():
    with served(DATA) as site, mounted(data('empty.root'), site.url(f'silent/{FILE}'),
                                       options=('-o', 'timeout=1')) as mountpoint:
        of_a_try = len(site.requests)
        time.sleep(STANDS)
        output('ls', '-l', mountpoint / FILE)
        same(len(site.requests), 2 * of_a_try, 'what was asked for')


@case
def what_could_not_be_opened_is_there_once_it_can():
    with scratch() as directory, served(directory) as site, mounted(data('empty.root'),
                                                                    site.url(FILE)) as mountpoint:
        folder = mountpoint / FILE
        same(os.listdir(folder), ['error.json'])
        reported = json.loads((folder / 'error.json').read_text())
        same('404' in reported['what'], True, reported)
        time_of_failure = os.stat(folder).st_mtime_ns
        shutil.copy(DATA / FILE, directory / FILE)
        same('file.json' in os.listdir(folder), True, os.listdir(folder))
        same(os.path.exists(folder / 'error.json'), False, 'why it failed')
        same(os.stat(folder).st_mtime_ns != time_of_failure, True, 'its time')


@case
def the_sandbox_of_the_process_that_fetches_is_reported():
    with served(DATA) as site, own_program() as environment, mounted(site.url(FILE),
                                                                     env=environment) as mountpoint:
        reported = json.loads((mountpoint / '.ntuplefs/version.json').read_text())
        same(reported['fetch_sandbox'], reported['sandbox'], 'both have all that the kernel has')
        mine = fetchers(environment)
        worker = next(process for process, parent in mine.items() if parent in mine)
        status = dict(line.split(':\t', 1)
                      for line in Path(f'/proc/{worker}/status').read_text().splitlines() if ':\t' in line)
        same(status['Seccomp'], '2' if 'seccomp' in reported['fetch_sandbox'] else '0', 'as the kernel says')
        same({int(status[name], 16) for name in ('CapPrm', 'CapEff', 'CapInh', 'CapAmb')}, {0},
             'nor has root any')
    with mounted(DATA / FILE) as mountpoint:
        same('fetch_sandbox' in json.loads((mountpoint / '.ntuplefs/version.json').read_text()), False,
             'nothing is fetched')


@case
def a_new_process_follows_one_that_was_killed():
    with served(DATA) as site, own_program() as environment, mounted(site.url(FILE),
                                                                     env=environment) as mountpoint:
        paths = data_files(mountpoint)
        mine = fetchers(environment)
        same(len(mine), 2, mine)
        worker = next(process for process, parent in mine.items() if parent in mine)
        os.kill(worker, signal.SIGKILL)
        expected = {path: output(NTUPLE, 'cat', DATA / FILE, path.relative_to(mountpoint)) for path in paths}

        def is_read():
            try:
                return all(path.read_bytes() == expected[path] for path in paths)
            except OSError as error:
                same(error.errno, errno.EIO, 'under way')
                return False

        wait_until(is_read, 'read again')
    wait_until(lambda: not fetchers(environment), 'nobody is left')


@case
def a_program_that_cannot_fetch_ends_and_says_so_at_once():
    """With so few descriptors it has no connections."""
    with served(DATA) as site, own_program() as environment:
        start = time.monotonic()
        result = subprocess.run(['sh', '-c', 'ulimit -n 12; exec "$@"', 'sh', NTUPLE, 'cat', site.url(FILE),
                                 'file.json'], env=environment, capture_output=True, text=True)
        same((result.returncode, 'the network helper exited at its start' in result.stderr),
             (UNREACHABLE, True), result.stderr)
        assert time.monotonic() - start < 20, 'no timeout'
        wait_until(lambda: not fetchers(environment), 'nobody is left')


run(at_once=3)
