#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""RNTuples in object stores: an anchor, and an object for each page, page list, header and
footer (ntpl+s3+https://)."""
import concurrent.futures
import contextlib
import errno
import json
import os
import struct
import sys
import time
from pathlib import Path

from chains import chain
from harness import (DATA, NTUPLE, case, command, errors_of, fails, lines, mounted, need, output, run, same,
                     scratch)
from trees import same_trees
from web import served

sys.path.insert(0, str(Path(__file__).parent.parent / 'support'))
from object_store import MULTI, Objects, locator, object64

DAMAGED, UNSUPPORTED, WRONG = 5, 4, 1
# Parts of the layout that differ from a file's: anchor, footer and page lists, and the location of
# pages.
OF_THE_STORE = ('anchor.raw', 'footer.bin', 'footer.json', 'footer.raw', 'footer.txt', 'ntuple.json',
                'pagelist.')
# A dataset in each file, and those that the layout omits.
ENTRIES = {'directories_by_uproot.root': 'a/b/two', 'example.root': 'Events',
           'compression_lz4.root': 'compressed', 'empty.root': 'no_fields',
           'encodings.root': 'encodings', 'late_fields.root': 'late',
           'multi_representation.root': 'representations', 'names.root': 'names;set',
           'projected.root': 'projected', 'types.root': 'types', 'without_checksums.root': 'unchecked',
           'many_pages.root': 'pages',
           'damaged_page.root': 'compressed'}


def objects_of(name, **options):
    digest = need('xxhash').xxh3_64_intdigest
    need('uproot')
    return Objects(DATA / name, ENTRIES[name], digest, **options)


def put(site, objects, name='bucket/set'):
    for number, content in objects.files.items():
        site.files[f'{name}/{number}'.rstrip('/')] = content, f'"{objects.digest(content):x}"', 1e9
    return site.url(name).replace('http://', 'ntpl+s3+http://')


@contextlib.contextmanager
def stored(objects):
    with served('/nonexistent') as site:
        yield site, put(site, objects)


def asked_for(site, number):
    return [path for path, _ in site.requests if path.endswith(f'/{number}')]


@case
def trees_are_those_of_the_files():
    def both(name):
        top = ENTRIES[name].rsplit('/', 1)[-1]
        address = put(site, objects_of(name), f'bucket/{name}')
        here, there = directory / f'{name}-here', directory / f'{name}-there'
        same(command(NTUPLE, 'cp', '-r', address, top, there).returncode,
             command(NTUPLE, 'cp', '-r', DATA / name, ENTRIES[name], here).returncode, name)
        different = [path.name for path in there.rglob('*')
                     if path.name.startswith(OF_THE_STORE)] + ['schema.txt']
        same_trees(here, there, different)

    with (scratch() as directory, served('/nonexistent') as site,
          concurrent.futures.ThreadPoolExecutor(2) as pool):
        list(pool.map(both, ENTRIES))


@case
def a_mount_says_objects():
    objects = objects_of('late_fields.root')
    with stored(objects) as (site, address), mounted(address + '//') as mountpoint:
        same((mountpoint / 'late/number/data.bin').read_bytes(),
             output(NTUPLE, 'cat', DATA / 'late_fields.root', 'late/number/data.bin'))
        document = json.loads((mountpoint / 'file.json').read_text())
        same((document['kind'], document['file'], document['file_bytes'], document['url_template']),
             ('object store', address, None, '${baseurl}/${objid}'))
        ntuple = json.loads((mountpoint / 'late/ntuple.json').read_text())['anchor']
        same((ntuple['footer']['object'], ntuple['footer']['file_offset'], ntuple['footer']['stored_bytes']),
             (objects.anchor['footerObjId'], 0, objects.anchor['nBytesFooter']))
        same((mountpoint / 'late/anchor.raw').read_bytes(), objects.files[''])
        same((mountpoint / 'late/header.raw').read_bytes(), objects.files['0'])
        reported = [(line['file'], line['file_offset'], line['stored_bytes'])
                for line in lines(mountpoint / 'layout.jsonl')]
        for number, content in objects.files.items():
            owned = [(offset, size) for file, offset, size in reported
                     if file == f'{address}/{number}'.rstrip('/')]
            same((owned[0][0], sum(size for _, size in owned)), (0, len(content)), number)
        pages = lines(mountpoint / 'late/number/column.0/pages.jsonl')
        same([(page['file'], page['file_offset']) for page in pages],
             [(f'{address}/3', 0), (f'{address}/7', 0)])
        same(os.getxattr(mountpoint, 'user.ntuplefs.validator').split()[0].decode(),
             f'"{objects.digest(objects.files[""]):x}"')
        assert '</svg>' in (mountpoint / 'layout.svg').read_text()
        same(json.loads(output(NTUPLE, 'inspect', '--json', address))['file_bytes'],
             sum(map(len, objects.files.values())))


@case
def each_object_is_requested_once():
    objects = objects_of('many_pages.root')
    with stored(objects) as (site, address), mounted(address) as mountpoint:
        for _ in range(2):
            for path in (mountpoint / 'pages').rglob('column.*/data.bin'):
                same(path.read_bytes(), output(NTUPLE, 'cat', DATA / 'many_pages.root',
                                               path.relative_to(mountpoint)))
        asked = [path for path, _ in site.requests if path != '/bucket/set']
        same((len(asked), len(set(asked))), (len(objects.files) - 1, len(objects.files) - 1))


@case
def an_object_that_is_not_there_is_named():
    objects = objects_of('late_fields.root')
    page, footer = '3', str(objects.anchor['footerObjId'])
    with stored(objects) as (site, address), mounted(address) as mountpoint:
        del site.files[f'bucket/set/{page}']
        fails(errno.EIO, (mountpoint / 'late/number/data.bin').read_bytes)
        same((mountpoint / 'late/first/data.bin').read_bytes(),
             output(NTUPLE, 'cat', DATA / 'late_fields.root', 'late/first/data.bin'))
        same({f'{address}/{page}: the server has no such file (404)' in line['what']
              for line in errors_of(mountpoint)}, {True})
        site.files[f'bucket/set/{page}'] = objects.files[page][:-1], '""', 1e9
        found = command(NTUPLE, 'verify', address)
        same((found.returncode,
              f'{address}/{page}: the object ends at byte {len(objects.files[page]) - 1}' in (found.stdout
                      + found.stderr).decode()),
             (DAMAGED, True), found.stderr)
        del site.files[f'bucket/set/{footer}']
        found = command(NTUPLE, 'verify', address)
        same(f'footer in object {footer}: {address}/{footer}: the server has no such file'
             in found.stderr.decode(), True, found.stderr)


@case
def damage_is_found_and_requested_twice():
    objects = objects_of('late_fields.root')
    objects.files['3'] = bytes([objects.files['3'][0] ^ 1]) + objects.files['3'][1:]
    with stored(objects) as (site, address):
        found = command(NTUPLE, 'cat', address, 'late/number/data.bin')
        same((found.returncode, f'{address}/3: xxh3-64: expected' in (found.stdout + found.stderr).decode()),
             (DAMAGED, True), found.stderr)
        same(len(asked_for(site, 3)), 2)
        number = str(objects.anchor['footerObjId'] - 1)
        content = objects.files[number]
        site.files[f'bucket/set/{number}'] = content[:40] + bytes([content[40] ^ 1]) + content[41:], '""', 1e9
        found = command(NTUPLE, 'verify', address)
        same((found.returncode, f'page list in object {number}: xxh3-64' in (found.stdout
                + found.stderr).decode()), (DAMAGED, True), found.stderr)


@case
def a_damaged_answer_is_requested_again():
    objects = objects_of('late_fields.root')
    with stored(objects) as (site, address):
        site.files['bucket/set/3'] = bytes(len(objects.files['3'])), '""', 1e9
        content, good = site.content, (objects.files['3'], '""', 1e9)

        def once(name):
            found = content(name)
            if name == 'bucket/set/3':
                site.files[name] = good
            return found

        site.content = once
        same(output(NTUPLE, 'cat', address, 'late/number/data.bin'),
             output(NTUPLE, 'cat', DATA / 'late_fields.root', 'late/number/data.bin'))
        same(len(asked_for(site, 3)), 2)


@case
def answers_that_break_off_are_continued_as_the_same_version():
    objects = objects_of('encodings.root')
    longest = max(objects.files, key=lambda number: len(objects.files[number]))
    with stored(objects) as (site, _):
        # each answer has 3,000 bytes
        address = site.url('short/bucket/set').replace('http://', 'ntpl+s3+http://')
        same(command(NTUPLE, 'verify', address).returncode, 0)
        asked = [headers for path, headers in site.requests if path.endswith(f'/{longest}')]
        tag, length = f'"{objects.digest(objects.files[longest]):x}"', len(objects.files[longest])
        same([(headers['Range'], headers.get('If-Match')) for headers in asked],
             [(f'bytes={first}-{length - 1}', tag if first else None) for first in range(0, length, 3000)])


@case
def a_dataset_that_is_written_anew_is_never_mixed():
    objects, others = objects_of('many_pages.root'), objects_of('late_fields.root')
    with stored(objects) as (site, address), mounted(address) as mountpoint:
        columns = sorted((mountpoint / 'pages').rglob('column.*/data.bin'))
        columns[0].read_bytes()
        content, tag, modified = site.files['bucket/set']
        site.files['bucket/set'] = content, '"another"', modified
        time.sleep(2.1)
        fails(errno.ESTALE, columns[-1].read_bytes)
        fails(errno.ESTALE, columns[-2].read_bytes)
    with stored(objects) as (site, address), mounted(address) as mountpoint:
        columns = sorted((mountpoint / 'pages').rglob('column.*/data.bin'))
        site.files.clear()
        put(site, others)
        fails(errno.ESTALE, columns[-1].read_bytes)  # at once, because there are fewer objects now


@case
def anchors_that_are_none_are_refused():
    objects = objects_of('late_fields.root')
    with stored(objects) as (site, address):
        for others, message in (({'anchorVersion': 1},
                                 'anchor: version in an object store: expected 0, found 1'),
                                ({'headerObjId': 2 ** 31},
                                 'header: cannot read 121 bytes at byte 0 of object 2147483648'),
                                ({'urlTemplate': 'http://other/${objid}'},
                                 'anchor: its objects are at http://other/${objid}'),
                                ({'formatVersionEpoch': 2}, 'anchor: unknown version 2.0.')):
            objects.put_anchor(**others)
            put(site, objects)
            found = command(NTUPLE, 'verify', address)
            same((found.returncode != 0, message in (found.stdout + found.stderr).decode()), (True, True),
                 found.stderr)
        objects.anchor.pop('cloneTemplate')
        objects.put_anchor(zoo={'b': [1, 'x y'], 'c': None}, Abc=2 ** 64 - 1)
        put(site, objects)
        same(command(NTUPLE, 'verify', address).returncode, 0)
        for damage, message in ((lambda text: text.replace(b'"lenHeader": ', b'"lenHeader": 1'),
                                 'anchor: xxh3-64: expected'),
                                (lambda text: text.replace(b'"lenHeader"', b'"lenheader"'),
                                 'anchor: it has no "lenHeader"'),
                                (lambda text: text[:-1], 'anchor: JSON'),
                                (lambda text: b'{"a": 1}', 'a text file, which is not a supported format')):
            site.files['bucket/set'] = damage(objects.files['']), '""', 1e9
            found = command(NTUPLE, 'verify', address)
            same((found.returncode != 0, message in (found.stdout + found.stderr).decode()), (True, True),
                 found.stderr)


@case
def locators_of_other_types_are_shown_and_not_read():
    multi = objects_of('late_fields.root', locator_of=lambda number,
                       size: locator(MULTI, struct.pack('<III', size, number, 0)))
    with stored(multi) as (site, address):
        found = command(NTUPLE, 'cat', address, 'late/number/data.bin')
        same((found.returncode, b'the page is not stored in this file' in found.stderr), (UNSUPPORTED, True),
             found.stderr)
        page = json.loads(output(NTUPLE, 'cat', address, 'late/number/column.0/pages.jsonl').splitlines()[0])
        same(page['locator'].startswith('Multi (type 3) '), True, page)
        for locator_of, message in ((lambda number, size: object64(number + 2 ** 31, size),
                                     'cannot read 40 bytes at byte 0 of object 2147483649'),
                                    (lambda number, size: struct.pack('<iQ', size, number),
                                     'page: is at byte 1 of a file, but the dataset is stored in objects')):
            put(site, objects_of('late_fields.root', locator_of=locator_of))
            found = command(NTUPLE, 'verify', address)
            same((found.returncode != 0, message in (found.stdout + found.stderr).decode()), (True, True),
                 found.stderr)
        put(site, objects_of('late_fields.root', locator_of=lambda number,
                             size: object64(number, size, is_wide=True)))
        same(command(NTUPLE, 'verify', address).returncode, 0)


@case
def addresses_are_those_of_datasets():
    objects = objects_of('late_fields.root')
    with stored(objects) as (site, address), scratch() as directory:
        for odd in '?a=secret', '#secret', '/@secret':
            found = command(NTUPLE, 'ls', address + odd)
            same((found.returncode, b'secret' in found.stderr,
                  b'must not contain @, ? or #' in found.stderr), (WRONG, False, True), odd)
        (directory / 'anchor.json').write_bytes(objects.files[''])
        for source in directory / 'anchor.json', address.removeprefix('ntpl+s3+'):
            found = command(NTUPLE, 'verify', source)
            same((found.returncode, b'begins with ntpl+s3+https://' in found.stdout + found.stderr),
                 (UNSUPPORTED, True), found.stderr)
        found = command(NTUPLE, 'ls', '--chain', address.replace('set', '*'))
        same((found.returncode != 0, b'it is the address of a dataset, not of a directory' in found.stderr),
             (True, True), found.stderr)


@case
def chains_are_made_of_stores():
    with served('/nonexistent') as site:
        addresses = [put(site, objects_of('example.root'), f'bucket/{name}') for name in 'ab']
        path = 'Events/weight/data.bin'
        with chain(*addresses) as whole:
            same((whole / path).read_bytes(), 2 * output(NTUPLE, 'cat', DATA / 'example.root', path))
            same(len(lines(whole / 'layout.jsonl')), 2 * len(output(NTUPLE, 'cat', addresses[0],
                                                                    'layout.jsonl').splitlines()))


if __name__ == '__main__':
    sys.exit(run(at_once=2))
