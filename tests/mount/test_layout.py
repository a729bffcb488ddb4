#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every byte of a file has an owner, and the shown pages are the bytes of the file:
layout.jsonl, keys.jsonl, pages.jsonl, pages/, the pictures. For the project's own files, and for
the foreign ones of NTUPLE_SHARED."""
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from harness import DATA, NTUPLE, Skip, case, command, data, lines, mounted, run, same, scratch

SHARED = Path(os.environ.get('NTUPLE_SHARED', '/nonexistent')) / 'data'


def sound(name):
    """A file without damage and without branches that lack entries: all its pages can be read."""
    return not name.startswith(('damaged', 'bad_'))


def check_layout(top, source, what):
    """The ranges follow one another from 0 to the file's size; the pages' ranges agree with
    pages.jsonl."""
    at = 0
    for line in lines(top / 'layout.jsonl'):
        same(line['file_offset'], at, f'{what}: layout.jsonl: a hole or an overlap before {line}')
        if line['stored_bytes'] <= 0 or not line['owner']:
            raise AssertionError(f'{what}: layout.jsonl: {line}')
        at += line['stored_bytes']
    same(at, source.stat().st_size, f'{what}: bytes in layout.jsonl')


def check_pictures(top, what):
    for picture in [top / 'layout.svg', *top.rglob('sizes.svg')]:
        root = ElementTree.fromstring(picture.read_text())
        text = picture.read_text()
        if 'script' in text or 'href' in text or root.tag != '{http://www.w3.org/2000/svg}svg':
            raise AssertionError(f'{what}: {picture.name} is not a self-contained picture')


def stored_bytes(page, content):
    extents = [content[extent['file_offset']:][:extent['stored_bytes']]
               for extent in page.get('extents', [page])]
    return b''.join(extents)[:page['stored_bytes']]


def check_column(column, content, what):
    pages = lines(column / 'pages.jsonl')
    same(sorted(os.listdir(column / 'pages')), sorted(f'{n}.{kind}' for n in range(len(pages))
                                                      for kind in ('raw', 'bin')),
         f'{what}: pages/')
    joined = b''
    for number, page in enumerate(pages):
        same(page['page'], number, f'{what}: pages.jsonl')
        raw = (column / 'pages' / f'{number}.raw').read_bytes()
        decoded = (column / 'pages' / f'{number}.bin').read_bytes()
        if not page.get('is_embedded'):  # in the record of a TTree, which is compressed
            same(raw, stored_bytes(page, content), f'{what}: pages/{number}.raw')
        same(len(decoded), page['decoded_bytes'], f'{what}: pages/{number}.bin')
        joined += decoded
    same(joined, (column / 'data.bin').read_bytes(), f'{what}: the pages joined')


def check_annotated(top, what):
    """The bytes of the text are those of the envelope, and all of them were read."""
    texts = [path for path in top.rglob('*.txt') if path.name != 'schema.txt']
    has_envelopes = any(top.rglob('anchor.raw'))    # TTrees have none
    if has_envelopes and not texts:
        raise AssertionError(f'{what}: no annotated envelope')
    for text in texts:
        content = text.read_text().splitlines()
        reported = b''.join(bytes.fromhex(line[9:9 + 3 * 16]) for line in content)
        same(reported, text.with_suffix('.bin').read_bytes(), f'{what}: {text.name}')
        same([line for line in content if line.endswith('not read')], [], f'{what}: {text.name}')


def check_file(source):
    content = source.read_bytes()
    with mounted(source) as top:
        check_annotated(top, source.name)
        check_layout(top, source, source.name)
        check_pictures(top, source.name)
        for column in top.rglob('column.*'):
            if (column / 'data.bin').exists():
                check_column(column, content, f'{source.name}: {column.relative_to(top)}')


def check_keys(source):
    """Records and gaps follow one another from fBEGIN to the end."""
    with mounted(source) as top:
        at = 100
        for line in lines(top / 'keys.jsonl'):
            same(line['file_offset'], at, f'{source.name}: keys.jsonl before {line}')
            at += line['stored_bytes']
        same(at, source.stat().st_size, f'{source.name}: bytes in keys.jsonl')


def add_case(name, function, *arguments):
    def try_it():
        function(*arguments)
    try_it.__name__ = name
    case(try_it)


@case
def a_page_that_two_columns_share_is_named_with_both():
    with mounted(data('example.root')) as top:
        owners = [line for line in lines(top / 'layout.jsonl') if line.get('owners', 1) > 1]
        for line in owners:
            same(len(line['shared_with']), min(line['owners'] - 1, 16), 'shared_with')


@case
def a_page_list_without_room_in_memory_fails_the_layout():
    """Without its pages, the layout would look complete."""
    with scratch() as directory:
        path = directory / 'pages.root'
        subprocess.run([os.environ['WRITE_MANY'], path, '20', '15', '100'], check=True)
        for name in 'layout.jsonl', 'layout.svg':
            result = command(NTUPLE, 'cat', '--metadatasize=2M', path, name)
            same((result.returncode, b'metadatasize' in result.stderr), (4, True), f'{name}: {result.stderr}')
        text = command(NTUPLE, 'cat', '--metadatasize=3M', path, 'layout.jsonl').stdout
        same(text.count(b'"owner":"page"'), 30000)


# Files of all formats. Some have a dataset for which there is no room: error.json or a message names the
# limit.
SMALL = ['example.root', 'encodings.root', 'attributes.root', 'trees/trees_containers.root',
         'trees/trees_counted.root', 'blocks.blp', 'lance_nested_2.1.lance', 'lance_nested_0.2.lance',
         'lance_datasets/json_0.1', 'lance_datasets/stable_2.2', 'lance_datasets/dropped_items_2.2']


@case
def with_little_memory_a_layout_is_whole_or_the_limit_is_named():
    def documents(name, *options):
        found = command(NTUPLE, 'cat', *options, data(name), 'layout.jsonl')
        reports = command(NTUPLE, 'ls', '-R', *options, data(name))
        return found.stdout, b'metadatasize' in found.stderr or b'error.json' in reports.stdout
    tried = 0
    for name in SMALL:
        whole, _ = documents(name)
        for size in range(12, 100, 8):
            text, is_said = documents(name, f'--metadatasize={size}K')
            same(text == whole or is_said, True, f'{name}: {size}K')
            tried += is_said
    assert tried >= len(SMALL), f'{tried} of them have too little memory'


@case
def documents_are_the_same_from_run_to_run():
    def documents(top):
        return {path.relative_to(top): path.read_bytes() for path in sorted(top.rglob('*'))
                if path.suffix in ('.json', '.jsonl', '.svg') and path.is_file()
                and '.ntuplefs' not in path.parts}
    with mounted(data('example.root')) as top:
        first = documents(top)
    with mounted(data('example.root')) as top:
        again = documents(top)
    if len(first) < 50:
        raise AssertionError(f'only {len(first)} documents')
    same(sorted(again), sorted(first), 'documents')
    for path, text in first.items():
        same(again[path], text, str(path))


@case
def every_extended_attribute_that_is_listed_has_a_value_without_pages_too():
    with mounted(data('empty.root')) as top:
        for path in (path for path in top.rglob('*') if 'pages' not in path.parts):
            for name in os.listxattr(path):
                os.getxattr(path, name)
        column = next(top.rglob('column.0'))
        if 'user.ntuplefs.compression' in os.listxattr(column):
            raise AssertionError('a column without pages has a compression')


@case
def the_picture_says_the_ratio_of_each_page():
    with mounted(data('compression_zstd.root')) as top:
        ratios = {page['file_offset']: page['ratio'] for path in top.rglob('pages.jsonl')
                  for page in lines(path)}
        titles = re.findall(r'<title>page [^<]* bytes at (\d+), ratio ([\d.]+)</title>',
                            (top / 'layout.svg').read_text())
        if len(titles) < 5:
            raise AssertionError(f'only {len(titles)} titles of pages')
        for offset, ratio in titles:
            same(ratio, f'{ratios[int(offset)]:.2f}', f'the page at {offset}')


@case
def a_number_without_a_page_is_no_file():
    with mounted(data('example.root')) as top:
        pages = top / 'Events/event/column.0/pages'
        for name in ('4.raw', '-1.raw', '00.raw', '0.txt', '99999999999999999999.bin', '1e0.bin'):
            if (pages / name).exists():
                raise AssertionError(f'{name} exists')


for path in sorted(DATA.glob('*.root')):
    if sound(path.name):
        add_case(f'{path.name}: every byte and every page', check_file, path)
    add_case(f'{path.name}: every record', check_keys, path)


@case
def foreign_files_every_byte_and_every_page():
    folders = [SHARED / 'rntuple' / name for name in ('gen', 'validation', 'real')]
    sources = [path for folder in folders for path in sorted(folder.glob('*.root'))
               if path.stat().st_size < 20_000]
    if not sources:
        raise Skip('NTUPLE_SHARED has no files')
    for source in sources[::5]:  # a fifth of them, from every directory: one case must not take a minute
        if json.loads(source.with_suffix('.json').read_text()).get('expect', 'accept') == 'accept':
            check_file(source)


if __name__ == '__main__':
    sys.exit(run())
