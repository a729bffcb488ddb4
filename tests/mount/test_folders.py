#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Directories on servers that list their contents by WebDAV, datasets and others: they equal local
ones, with few requests."""
import contextlib
import errno
import json
import os
import shutil
import sys
import time

from blz_writer import blz_array
from harness import (DATA, NTUPLE, case, command, errors_of, fails, mounted, need, output, run, same,
                     scratch, stats)
from line import slow_line
from trees import same_trees, tree
from web import Nginx, apache, served

DATASETS = DATA / 'lance_datasets'
FRAGMENTS = int(os.environ.get('NTUPLE_FRAGMENTS', 100))
ROUND_TRIP = 20  # milliseconds
NOTHING, UNSUPPORTED = 2, 4
FRESH = 2  # seconds during which a listing is trusted


def put(server, name, path):
    shutil.copytree(path, server.directory / 'www' / path_of(name))


def path_of(name):
    return name.replace('%20', ' ')


@case
def datasets_by_webdav_have_the_tree_that_they_have_here():
    with scratch() as directory, apache(directory) as server:
        for name in ('fragments_2.2', 'deletions_2.1', 'columns_0.1'):
            put(server, f'of%20today/{name}', DATASETS / name)
            here, there = directory / f'{name}-here', directory / f'{name}-there'
            same(tree(server.url(f'of%20today/{name}/'), there), tree(DATASETS / name, here), name)
            same_trees(here, there)


@case
def blobs_by_webdav_are_what_they_are_here():
    with scratch() as directory, apache(directory) as server:
        for name, fields in ('blobs_2.2', ('blob', 'structure/blob', 'list/item')), ('managed_blobs_2.2',
                ('blob',)):
            put(server, name, DATASETS / name)
            for field in fields:
                for file in 'offsets.bin', 'data.bin', 'blob.d/7':
                    path = f'{name}/{field}/{file}'
                    there, here = command(NTUPLE, 'cat', server.url(f'{name}/'), path), command(NTUPLE,
                            'cat', DATASETS / name, path)
                    same((there.returncode, there.stdout), (here.returncode, here.stdout), path)
                    same(file == 'blob.d/7' or here.returncode == 0, True, path)
        same(any('.blob' in what for what, _ in server.requests()), True)
        # a missing file of blobs is reported, not taken for a stale listing of its directory
        for file in (server.directory / 'www' / 'managed_blobs_2.2' / '_blobs').iterdir():
            file.unlink()
        failed = command(NTUPLE, 'cat', server.url('managed_blobs_2.2/'), 'managed_blobs_2.2/blob/data.bin')
        same((failed.returncode != 0, '_blobs/' in failed.stderr.decode()), (True, True), failed.stderr)


@case
def few_requests_are_made():
    with scratch() as directory, apache(directory) as server:
        put(server, 'set', DATASETS / 'fragments_2.2')
        files = [path.name for path in (DATASETS / 'fragments_2.2' / 'data').iterdir()]
        same(command(NTUPLE, 'verify', server.url('set/')).returncode, 0)
        asked = [what for what, _ in server.requests()]
        same([what for what in asked if what.startswith('PROPFIND')],
             [f'PROPFIND {path}' for path in ('/set/', '/set/_versions/', '/set/data/')], 'each one once')
        same(sorted(what for what in asked if '/data/' in what and what.startswith('GET')),
             sorted(f'GET /set/data/{name}' for name in files),
             'each of these small files is read whole, and nothing is asked before')
        same(len(asked), 3 + 1 + len(files), asked)


@case
def a_folder_is_found_without_a_slash():
    with scratch() as directory, apache(directory) as server:
        put(server, 'set', DATASETS / 'fragments_2.2')
        for scheme in 'dav', 'http':
            found = command(NTUPLE, 'verify', server.url('set', scheme))
            same(found.returncode, 0, found.stderr)
            same(found.stdout.split(b': ', 1)[1], output(NTUPLE, 'verify',
                                                         DATASETS / 'fragments_2.2').split(b': ', 1)[1])


@case
def arrays_of_many_files_are_mounted():
    with scratch() as directory, apache(directory) as server:
        blz_array(server.directory / 'www' / 'array')
        with mounted(server.url('array/')) as there, mounted(server.directory / 'www' / 'array') as here:
            paths = [path.relative_to(here) for path in here.rglob('data.bin')]
            same(len(paths) > 0, True)
            for path in paths:
                same((there / path).read_bytes(), (here / path).read_bytes(), path)


@case
def files_that_are_replaced_after_the_list_are_not_mixed():
    with scratch() as directory, apache(directory) as server:
        array = blz_array(server.directory / 'www' / 'array')
        with mounted(server.url('array/')) as mountpoint:  # which has listed the chunks
            chunk = array / 'data' / '__1.blp'
            chunk.write_bytes(chunk.read_bytes())
            os.utime(chunk, (1, 1))
            fails(errno.ESTALE, next(mountpoint.rglob('data.bin')).read_bytes)


@case
def what_is_no_folder_is_reported():
    with scratch() as directory, apache(directory) as server, served(DATA) as site:
        for address, status, words in (
                (server.url('none/'), NOTHING, 'the server has no such directory (404)'),
                (server.url('none'), NOTHING, 'the server has no such file (404)'),
                (site.url(''), UNSUPPORTED,
                 "the server does not list directories (it answers 501 to WebDAV's PROPFIND)")):
            found = command(NTUPLE, 'ls', address)
            same((found.returncode, words in found.stderr.decode()), (status, True),
                 f'{address}: {found.stderr}')


# ---- versions ----

def reported(dataset):
    return json.loads((dataset / 'ntuple.json').read_text())


def lists(server):
    return [what for what, _ in server.requests() if what.startswith('PROPFIND')]


def asked(server, expected, start, since=0):
    """Each once; if it takes so long that a listing is old, measured from `start`, directories may
    be listed again."""
    found = [what for what, _ in server.requests()[since:]]
    same(found if time.monotonic() < start + FRESH else list(dict.fromkeys(found)), expected)


@case
def versions_are_those_that_pylance_reads():
    name = 'deletions_2.1'
    states = json.loads((DATASETS / f'{name}.json').read_text())['versions']
    with scratch() as directory, apache(directory) as server:
        put(server, name, DATASETS / name)
        with mounted(server.url(name)) as mountpoint:
            dataset = mountpoint / name
            same(reported(dataset)['dataset_version'], states[-1]['version'])
            found = [reported(dataset / 'versions.d' / str(state['version'])) for state in states]
            same([(version['dataset_version'], version['entries']) for version in found],
                 [(state['version'], state['rows']) for state in states])
            same([path for path in lists(server) if '_versions' not in path],
                 [f'PROPFIND /{name}/{folder}' for folder in ('', 'data/')],
                 'each one once, for all versions')
            same([json.loads(line)['version']
                  for line in (dataset / 'versions.jsonl').read_text().splitlines()],
                 [state['version'] for state in states])
            fails(errno.ENOENT, os.listdir, dataset / 'versions.d' / '99')
        first = states[0]
        with mounted(server.url(name), options=['-o', f'version={first["version"]}']) as mountpoint:
            same(reported(mountpoint / name)['entries'], first['rows'])


@case
def many_fragments_are_requested_together():
    lance, arrow = need('lance'), need('pyarrow')
    with scratch() as directory, apache(directory) as server:
        rows = range(4 * FRAGMENTS)
        lance.write_dataset(arrow.table({'x': rows}), str(server.directory / 'www' / 'set'),
                            max_rows_per_file=4)
        # One after the other, they would take a round trip each; how many are awaited depends on the load.
        with slow_line(server.port, rtt=ROUND_TRIP) as line, mounted(
                f'dav://127.0.0.1:{line.port}/set/') as mountpoint:
            found = (mountpoint / 'set' / 'x' / 'data.bin').read_bytes()
            same(found, b''.join(number.to_bytes(8, 'little') for number in rows))
            same(sum('GET /set/data/' in what for what, _ in server.requests()), FRAGMENTS,
                 'a request for each of these small files')
            reported = stats(mountpoint)
            same(reported['remote_wait_milliseconds'] <= 0.5 * FRAGMENTS * ROUND_TRIP, True, reported)


def ranges(server, folder):
    """[first, end) of the requests for each file of a directory."""
    found = {}
    for what, requested in server.requests():
        if f'GET /{folder}' in what:
            for part in requested.removeprefix('bytes=').split(','):
                first, last = part.split('-')
                found.setdefault(what, []).append((int(first), int(last) + 1))
    return {name: sorted(all_of) for name, all_of in found.items()}


@case
def columns_pages_and_fragments_are_requested_together():
    lance, arrow, numpy = need('lance'), need('pyarrow'), need('numpy')
    rows, fragments, columns = 50_000, 3, 4
    values = numpy.random.default_rng(1).standard_normal((columns, fragments * rows), numpy.float32)
    table = arrow.table({**{f'x{i}': values[i] for i in range(columns)},
                         'name': [f'name {i * 7919 % rows}' for i in range(fragments * rows)]})
    with scratch() as directory, apache(directory) as server:
        lance.write_dataset(table, str(server.directory / 'www' / 'set'), max_rows_per_file=rows)
        same(output(NTUPLE, 'cat', server.url('set/'), 'set/x1/data.bin'), values[1].tobytes())
        for name, found in ranges(server, 'set/data').items():
            same(len(found), 2, f'{name}: one request for the metadata, one for the page: {found}')
        asked_before = len(server.requests())
        found = arrow.ipc.open_file(output(NTUPLE, 'cat', server.url('set/'), 'set/table.arrow')).read_all()
        same(found.equals(table.cast(found.schema)), True)
        asked_for = [what for what, _ in server.requests()[asked_before:] if '/data/' in what]
        same(len(asked_for) <= fragments * (1 + columns + 4), True, asked_for)


@case
def no_byte_of_a_dataset_is_requested_twice():
    lance, arrow, numpy = need('lance'), need('pyarrow'), need('numpy')
    values = numpy.random.default_rng(1).standard_normal((4, 150_000), numpy.float32)
    table = arrow.table({**{f'x{i}': column for i, column in enumerate(values)},
                         'list': [list(range(i % 5)) for i in range(150_000)]})
    with scratch() as directory, apache(directory) as server:
        lance.write_dataset(table, str(server.directory / 'www' / 'set'), max_rows_per_file=50_000)
        same(command(NTUPLE, 'verify', server.url('set/')).returncode, 0)
        for name, found in ranges(server, 'set/data').items():
            twice = [pair for pair in zip(found, found[1:]) if pair[0][1] > pair[1][0]]
            same(twice, [], name)


# ---- servers without WebDAV ----

@contextlib.contextmanager
def indexed(style):
    """nginx that lists directories as JSON or as HTML."""
    with scratch() as directory:
        server, www = Nginx(directory), directory / 'www'
        www.mkdir()
        server.write('', f'location / {{ root {www}; autoindex on; autoindex_format {style}; }}')
        server.start()
        try:
            yield www, f'http://127.0.0.1:{server.port}/'
        finally:
            server.stop()


@case
def folders_of_plain_web_servers_are_what_they_are_here():
    for style in 'json', 'html':
        with indexed(style) as (www, url), scratch() as directory:
            fill(www / 'all')
            blz_array(www / 'all' / 'array')
            here, there = directory / 'here', directory / 'there'
            same(tree(f'{url}all/', there), tree(www / 'all', here), style)
            same_trees(here, there)
            same(output(NTUPLE, 'verify', f'{url}all/of%20today/set.lance/').split(b': ', 1)[1],
                 output(NTUPLE, 'verify', www / 'all/of today/set.lance').split(b': ', 1)[1])


@case
def a_folder_of_a_plain_web_server_is_found_without_a_slash():
    with indexed('json') as (www, url):
        shutil.copytree(DATASETS / 'fragments_2.2', www / 'set')
        same(command(NTUPLE, 'verify', f'{url}set').returncode, 0)


@case
def patterns_of_plain_web_servers_are_expanded():
    for style in 'json', 'html':
        with indexed(style) as (www, url):
            for name in 'a/1.root', 'a/2.root', 'b/3.root', 'b/other.txt':
                (www / name).parent.mkdir(exist_ok=True)
                shutil.copy(DATA / 'compression_zstd.root', www / name)
            with mounted(f'{url}*/*.root', options=['-o', 'chain']) as mountpoint:
                lines = next(mountpoint.glob('*/files.jsonl')).read_text().splitlines()
                same([json.loads(line)['path'] for line in lines],
                     [f'files.d/{number}.root' for number in range(1, 4)], style)


# ---- directories that are mirrored ----

NAMES = ('events.root', 'of today/a%2e b+c#?.root', 'of today/set.lance', 'of today/deep/er/events.root',
         '%2e%2e.root', 'ü;&=.root')


def fill(folder):
    for name in NAMES:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith('.lance'):
            shutil.copytree(DATASETS / 'fragments_2.2', path)
        else:
            shutil.copy(DATA / 'compression_zstd.root', path)


@contextlib.contextmanager
def mirrored(fill_folder=fill):
    with scratch() as directory, apache(directory) as server:
        folder = server.directory / 'www' / 'all'
        fill_folder(folder)
        with mounted(server.url('all/')) as mountpoint:
            yield mountpoint, folder, server


@case
def folders_are_mirrored_as_they_are_here():
    with scratch() as directory, apache(directory) as server:
        fill(server.directory / 'www' / 'all')
        same(tree(server.url('all/'), directory / 'there'),
             tree(server.directory / 'www' / 'all', directory / 'here'))
        same_trees(directory / 'here', directory / 'there')
        same(output(NTUPLE, 'ls', server.url('all', 'http')),
             output(NTUPLE, 'ls', server.directory / 'www' / 'all'))


@case
def nothing_is_requested_before_it_is_entered():
    start = time.monotonic()
    with mirrored() as (mountpoint, folder, server):
        asked(server, ['PROPFIND /all/'], start)
        for path in mountpoint, mountpoint / 'of today':
            entries = sorted(entry.name for entry in os.scandir(path) if entry.stat().st_mtime > 0
                             and entry.is_dir())
            same([name for name in entries if name != '.ntuplefs'],
                 sorted(name.replace('%2e', '%252e')
                        for name in os.listdir(folder / path.relative_to(mountpoint))))
        asked(server, ['PROPFIND /all/', 'PROPFIND /all/of today/'], start)
        os.listdir(mountpoint / 'events.root')
        asked(server, ['PROPFIND /all/', 'PROPFIND /all/of today/', 'GET /all/events.root'], start)


@case
def what_is_written_on_the_server_is_seen():
    states = json.loads((DATASETS / 'deletions_2.1.json').read_text())['versions']
    manifest = f'_versions/{2 ** 64 - 1 - states[-1]["version"]}.manifest'

    def with_history(folder):
        fill(folder)
        shutil.copytree(DATASETS / 'deletions_2.1', folder / 'history')
        (folder / 'history' / manifest).unlink()
    with mirrored(with_history) as (mountpoint, folder, server):
        names = os.listdir(mountpoint)
        old = (mountpoint / 'events.root' / 'file.json').read_text()
        history = mountpoint / 'history' / 'history'
        same(reported(history)['dataset_version'], states[-2]['version'])
        with open(history / 'ntuple.json') as before:
            shutil.copy(DATA / 'compression_zstd.root', folder / 'new.root')
            shutil.copy(DATA / 'example.root', folder / 'events.root.new')
            (folder / 'events.root.new').rename(folder / 'events.root')
            shutil.rmtree(folder / 'of today')
            shutil.copyfile(DATASETS / 'deletions_2.1' / manifest, folder / 'history' / manifest)
            asked_before = len(server.requests())
            time.sleep(FRESH + 0.1)
            start = time.monotonic()
            same(set(os.listdir(mountpoint)), set(names) - {'of today'} | {'new.root'})
            asked(server, ['PROPFIND /all/'], start, asked_before)  # a listing is one request
            same(reported(history)['dataset_version'], states[-1]['version'])
            same(json.load(before)['dataset_version'], states[-2]['version'], 'what is open stays')
        same(reported(history / 'versions.d' / str(states[-2]['version']))['entries'], states[-2]['rows'])
        same(os.path.isdir(mountpoint / 'of today'), False)
        same((mountpoint / 'events.root' / 'file.json').read_text() == old, False)
        same(sorted(path.name for path in (mountpoint / 'events.root').iterdir() if path.is_dir()),
             ['Events', 'calibration'])
        same(errors_of(mountpoint), [])


@case
def folders_are_verified_as_they_are_here():
    def with_others(folder):
        fill(folder)
        (folder / 'README').write_text('not data')
        shutil.copy(DATA / 'damaged_page.root', folder / 'of today')
    with scratch() as directory, apache(directory) as server:
        folder = server.directory / 'www' / 'all'
        with_others(folder)
        here, there = command(NTUPLE, 'verify', folder), command(NTUPLE, 'verify', server.url('all/'))
        same(there.returncode, here.returncode, there.stderr)
        same(sorted(there.stdout.replace(server.url('all').encode(), b'').splitlines()),
             sorted(here.stdout.replace(bytes(folder), b'').splitlines()))


@case
def files_that_are_none_of_ours_say_so():
    def with_text(folder):
        fill(folder)
        (folder / 'README').write_text('not data')
        (folder / '.hidden.root').write_text('')
    with mirrored(with_text) as (mountpoint, folder, server):
        same('README' in os.listdir(mountpoint), True)
        same('.hidden.root' in os.listdir(mountpoint), False)
        same(os.listdir(mountpoint / 'README'), ['error.json'])
        same(json.loads((mountpoint / 'README' / 'error.json').read_text())['status'], 'not this format')
        same((mountpoint / 'events.root' / 'file.json').exists(), True)


if __name__ == '__main__':
    sys.exit(run())
