#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Data sets that are folders, on servers that tell what is in them by WebDAV: they are what they are here, by few requests."""
import errno
import os
import shutil
import sys

from blz_writer import blz_array
from harness import DATA, NTUPLE, case, command, fails, mounted, output, run, same, scratch
from trees import same_trees, tree
from web import apache, served

DATASETS = DATA / 'lance_datasets'
NOTHING, NO_FORMAT, UNSUPPORTED = 2, 3, 4


def put(server, name, path):
    shutil.copytree(path, server.directory / 'www' / path_of(name))


def path_of(name):
    return name.replace('%20', ' ')


@case
def data_sets_by_webdav_have_the_tree_that_they_have_here():
    with scratch() as directory, apache(directory) as server:
        for name in ('fragments_2.2', 'deletions_2.1', 'columns_0.1'):
            put(server, f'of%20today/{name}', DATASETS / name)
            here, there = directory / f'{name}-here', directory / f'{name}-there'
            same(tree(server.url(f'of%20today/{name}/'), there), tree(DATASETS / name, here), name)
            same_trees(here, there, but=('versions.d',))


@case
def few_requests_are_made():
    with scratch() as directory, apache(directory) as server:
        put(server, 'set', DATASETS / 'fragments_2.2')
        files = [path.name for path in (DATASETS / 'fragments_2.2' / 'data').iterdir()]
        same(command(NTUPLE, 'verify', server.url('set/')).returncode, 0)
        asked = [what for what, _ in server.requests()]
        same([what for what in asked if what.startswith('PROPFIND')],
             [f'PROPFIND {path}' for path in ('/set/', '/set/_versions/', '/set/data/')], 'each folder once')
        same(sorted(what for what in asked if '/data/' in what and what.startswith('GET')),
             sorted(f'GET /set/data/{name}' for name in files), 'each of these small files is read whole, and nothing is asked before')
        same(len(asked), 3 + 1 + len(files), asked)


@case
def a_folder_is_found_without_a_slash():
    with scratch() as directory, apache(directory) as server:
        put(server, 'set', DATASETS / 'fragments_2.2')
        for scheme in 'dav', 'http':
            found = command(NTUPLE, 'verify', server.url('set', scheme))
            same(found.returncode, 0, found.stderr)
            same(found.stdout.split(b': ', 1)[1], output(NTUPLE, 'verify', DATASETS / 'fragments_2.2').split(b': ', 1)[1])


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
def what_is_no_folder_is_told():
    with scratch() as directory, apache(directory) as server, served(DATA) as site:
        put(server, 'empty/inner', DATASETS / 'fragments_2.2' / 'data')
        for address, status, words in (
                (server.url('none/'), NOTHING, 'the server has no such folder (404)'),
                (server.url('none'), NOTHING, 'the server has no such file (404)'),
                (server.url('empty/'), NO_FORMAT, 'not a Lance data set'),
                (site.url(''), UNSUPPORTED, "the server does not tell what is in folders (it answers 501 to WebDAV's PROPFIND)")):
            found = command(NTUPLE, 'ls', address)
            same((found.returncode, words in found.stderr.decode()), (status, True), f'{address}: {found.stderr}')


if __name__ == '__main__':
    sys.exit(run())
