# SPDX-License-Identifier: MIT
"""What it costs to look at a file on a server: `ls -lR` and `du` request no page, and the start of
a column no other page than its first."""
import errno
import json
import os
import shutil
import sys

from harness import NTUPLE, case, data, fails, lines, mounted, need, output, run, same, scratch, stats
from web import BEGINNING, BEFORE_END, END, misbehaviour, served

OF_PAGES = {'rows.jsonl', 'head.jsonl', 'table.csv', 'pages.jsonl', 'schema.txt', 'layout.jsonl',
            'keys.jsonl'}


def sizes(top):
    """{path: size} of all files of a tree, without those of the mount itself."""
    named_after_the_file = 'file.json', 'table.arrow'  # their contents are
    return {os.path.relpath(os.path.join(folder, name), top): os.stat(os.path.join(folder, name)).st_size
            for folder, _, names in os.walk(top) for name in names
            if '.ntuplefs' not in folder and name not in named_after_the_file}


@case
def looking_at_a_file_requests_no_page():
    with scratch() as folder:
        output(os.environ['WRITE_LARGE'], folder / 'large.root')
        shutil.copy(data('encodings.root'), folder)
        for name in 'large.root', 'encodings.root':
            with served(folder) as site, mounted(site.url(name)) as there, mounted(folder / name) as here:
                output('ls', '-lR', there)
                output('du', '-s', there)
                asked = [part for part in site.ranges() if part not in (BEGINNING, END)]
                same(len(asked) <= 2, True, f'{name}: beside the ends of the file {asked}')
                columns = [path for path in sizes(here) if path.endswith('column.json')]
                same(len(columns) > 40, True, len(columns))
                found = sizes(there)
                for path, size in sizes(here).items():
                    expected = 0 if os.path.basename(path) in OF_PAGES else size
                    is_schema = path.endswith('schema.txt')  # without collections, it needs no page
                    same(found[path] == expected or (is_schema and found[path] == size), True,
                         f'{path}: {found[path]} of {size} bytes')
                same(len(site.ranges()) <= 10, True, site.ranges())
                for path in columns[0], 'layout.jsonl', f'{os.path.dirname(columns[0])}/pages.jsonl':
                    same((there / path).read_bytes() == (here / path).read_bytes(), True, path)


def write_lists(path, branches, items, baskets=1):
    """A TTree of lists, whose sizes are in the baskets: their number, and that of items in each."""
    uproot, ak, np = need('uproot'), need('awkward'), need('numpy')
    lists = ak.unflatten(np.arange(items, dtype=np.int32), np.tile(np.arange(5), items // 10))
    with uproot.recreate(path, compression=None) as file:
        file.mktree('Events', {f'b{number}': 'var * int32' for number in range(branches)})
        for _ in range(baskets):
            file['Events'].extend({f'b{number}': lists for number in range(branches)})


def sizes_of_arrays(path):
    with mounted(path) as here:
        return {name: size for name, size in sizes(here).items() if name.endswith('.bin')}


@case
def sizes_of_many_lists_are_requested_together():
    with scratch() as folder:
        write_lists(folder / 'lists.root', 200, 1280)
        expected = sizes_of_arrays(folder / 'lists.root')
        with served(folder) as site, mounted(site.url('lists.root')) as there:
            found = {path: size for path, size in sizes(there).items() if path.endswith('.bin')}
            same(found, expected, 'sizes')
            asked = site.ranges()
            same(len(found) > 600 and len(asked) <= 25, True, f'{len(asked)} requests: {asked}')
            same(sum(map(bytes_of, asked)) < 500_000, True, f'the baskets themselves: {asked}')


@case
def headers_of_large_baskets_are_requested_together():
    with scratch() as folder:
        write_lists(folder / 'lists.root', 30, 20000, 3)
        expected = sizes_of_arrays(folder / 'lists.root')
        for way in '', 'one-range/':
            with served(folder) as site, mounted(site.url(f'{way}lists.root')) as there:
                before = len(site.requests)
                same({path: size for path, size in sizes(there).items() if path in expected}, expected, way)
                together = [part for part in site.ranges(before) if ',' in part]
                others = [part for part in site.ranges(before) if ',' not in part]
                if way:  # a server that refuses several ranges is not asked again; others may be under way
                    same((1 <= len(together) <= 4, len(others) >= 90), (True, True), site.ranges(before))
                else:
                    same(len(together) + len(others) <= 8, True, site.ranges(before))


@case
def looking_at_sixty_lists_takes_few_requests():
    with scratch() as folder:
        write_lists(folder / 'lists.root', 60, 1280, 4)
        expected = sizes_of_arrays(folder / 'lists.root')
        for way in '', 'one-range/':
            with served(folder) as site, mounted(site.url(f'{way}lists.root')) as there:
                output('ls', '-lR', there)
                output('du', '-s', there)
                asked = site.ranges()
                same({path: size for path, size in sizes(there).items() if path in expected}, expected, way)
                if not way:
                    # 6, and more where a busy client is slower than the helper waits for the next range.
                    same(len(asked) <= 10, True, f'{len(asked)} requests, opening included: {asked}')
                    same(sum(map(bytes_of, asked)) < 400_000, True, f'the baskets themselves: {asked}')


@case
def looking_at_lists_of_lance_requests_no_page():
    lance, arrow, np = need('lance.file'), need('pyarrow'), need('numpy')
    offsets = np.arange(0, 80_001, 4, dtype=np.int32)
    lists = arrow.ListArray.from_arrays(offsets, np.random.default_rng(1).integers(0, 1 << 40, 80_000))
    in_pages = 'levels.bin', 'levels.npy'
    with scratch() as folder:
        table = arrow.table({f'c{number}': lists for number in range(20)})
        with lance.LanceFileWriter(str(folder / 'lists.lance'), table.schema, version='2.1') as writer:
            writer.write_batch(table)
        with mounted(folder / 'lists.lance') as here:
            expected = {path: size for path, size in sizes(here).items() if '.bin' in path or '.npy' in path}
            levels = next(path for path in expected if path.endswith('levels.npy'))
            content = (here / levels).read_bytes()
        for way in '', 'one-range/':
            with served(folder) as site, mounted(site.url(f'{way}lists.lance')) as there:
                output('ls', '-lR', there)
                output('du', '-s', there)
                asked = site.ranges()
                if not way:
                    same(len(asked) <= 6, True, f'{len(asked)} requests, opening included: {asked}')
                    same(sum(map(bytes_of, asked)) < 400_000, True, f'pages of {expected}: {asked}')
                found = sizes(there)
                same({path: found[path] for path in expected},
                     {path: 0 if path.endswith(in_pages) else size for path, size in expected.items()}, way)
                same((there / levels).read_bytes() == content, True, 'levels')
                with open(there / levels, 'rb', buffering=0) as file:
                    fails(errno.ESPIPE, file.seek, 0, os.SEEK_END)
        with served(folder) as site, mounted(site.url('lists.lance'), options=('-o', 'text=sized')) as there:
            same((there / levels).stat().st_size, len(content), 'of text=sized')


READ_LISTS = """
import sys, ntuple
arrays = ntuple.open(sys.argv[1])['lists'].arrays('c*')
print([int(array.sum()) for array in arrays.values()])
"""


@case
def columns_of_lists_of_lance_come_with_what_says_where_they_end():
    """Also where a server answers one range at a time."""
    lance, arrow, np = need('lance.file'), need('pyarrow'), need('numpy')
    need('ntuple')
    offsets = np.arange(0, 400_001, 4, dtype=np.int32)
    lists = arrow.ListArray.from_arrays(offsets, np.random.default_rng(1).integers(0, 1 << 40, 400_000))
    with scratch() as folder:
        table = arrow.table({f'c{number}': lists for number in range(20)})
        with lance.LanceFileWriter(str(folder / 'lists.lance'), table.schema, version='2.1') as writer:
            writer.write_batch(table)
        with served(folder) as site:
            url = site.url('one-range/lists.lance')
            found = output(sys.executable, '-c', READ_LISTS, url)
            same(found, output(sys.executable, '-c', READ_LISTS, folder / 'lists.lance'), 'values')
            asked = [part for part in site.ranges() if part not in (BEGINNING, END, *BEFORE_END)]
            short = [part for part in asked if bytes_of(part) < 100_000]
            same(len(short) <= 1, True, f'{len(short)} short requests: {short}')  # the file's metadata
            same(sum(map(bytes_of, asked)) < 1.01 * (folder / 'lists.lance').stat().st_size, True, 'bytes')


TOGETHER = 4


@misbehaviour
def together(handler, answer):
    """Answers nothing but the ends of the file before so many requests wait."""
    site, requested = handler.server.site, handler.headers['Range']
    if requested in (BEGINNING, END, *BEFORE_END) or last_of([requested]) >= site.metadata:
        return
    with site.lock:
        site.waiting += 1
    if site.waiting >= TOGETHER:
        site.hangs.set()
    site.were_together &= site.hangs.wait(10)
    site.hangs.set()  # what comes later is answered at once


@case
def first_rows_of_columns_of_lance_are_requested_together():
    """Also where a server answers one range at a time."""
    lance, arrow, np = need('lance.file'), need('pyarrow'), need('numpy')
    flat = np.random.default_rng(1).integers(0, 1 << 60, 20_000)  # no range has the lists of two columns
    lists = arrow.ListArray.from_arrays(np.arange(0, 20_001, 4, dtype=np.int32), flat)
    nested = arrow.ListArray.from_arrays(np.arange(0, 5_001, 5, dtype=np.int32), lists)
    texts = arrow.array([f'{number:>40}' for number in flat])
    with scratch() as folder:
        for kind, column in ('flat', flat), ('lists', lists), ('nested', nested), ('texts', texts):
            name = f'{kind}.lance'
            table = arrow.table({f'c{number}': column for number in range(2 * TOGETHER)})
            with lance.LanceFileWriter(str(folder / name), table.schema, version='2.1') as writer:
                writer.write_batch(table)
            with served(folder) as site:
                site.waiting, site.were_together = 0, True
                site.metadata = (folder / name).stat().st_size - 40_000
                found = output(NTUPLE, 'head', '-n', '1', site.url(f'together/one-range/{name}'))
                same(found, output(NTUPLE, 'head', '-n', '1', folder / name), kind)
                same((site.waiting >= TOGETHER, site.were_together), (True, True), kind)


@case
def a_column_of_small_baskets_is_read_in_one_round_trip():
    with scratch() as folder:
        write_lists(folder / 'lists.root', 20, 1280)  # baskets of 15 KB
        with mounted(folder / 'lists.root') as here, served(folder) as site, mounted(
                site.url('lists.root')) as there:
            for number in 3, 11, 17, 6:
                before, path = stats(there)['remote_waits'], f'Events/b{number}/item/data.bin'
                same((there / path).read_bytes() == (here / path).read_bytes(), True, path)
                waits = stats(there)['remote_waits'] - before
                same(waits <= 1, True, f'{waits} waits for {path}')  # 0: the answer was there first


@case
def texts_have_sizes_if_they_shall():
    with served(data('example.root').parent) as site, mounted(
            site.url('example.root'), options=('-o', 'text=sized')) as there, mounted(
            data('example.root'), options=('-o', 'text=sized')) as here:
        found = sizes(there)
        same([path for path, size in sizes(here).items() if found.get(path) != size], [], 'other sizes')


def bytes_of(header):
    parts = [part.split('-') for part in header.removeprefix('bytes=').split(',')]
    return sum(int(last) - int(first or 1) + 1 for first, last in parts)


def last_of(parts):
    """The last byte of ranges."""
    return max(int(part.split('-')[1]) for part in parts)


@case
def the_head_of_a_column_is_its_first_page():
    with scratch() as folder:
        output(os.environ['WRITE_LARGE'], folder / 'large.root')
        with mounted(folder / 'large.root') as here:
            head = (here / 'Events/head.jsonl').read_bytes()
            pages = lines(here / 'Events/c0/column.0/pages.jsonl')
            beyond = next(page['file_offset'] for page in pages if page['cluster'] == 1)
        with served(folder) as site, mounted(site.url('large.root')) as there:
            for name in 'c5/head.jsonl', 'c30/head.jsonl', 'head.jsonl':
                before = len(site.requests)
                content = (there / 'Events' / name).read_bytes()
                asked = [part for part in site.ranges(before) if part not in (BEGINNING, END)]
                same(name != 'head.jsonl' or content == head, True, 'its text')
                same(last_of(asked) < beyond, True, f'{name}: {asked}')
            before = len(site.requests)
            (there / 'Events/c7/column.0/pages.jsonl').read_bytes()
            same(len(site.ranges(before)) <= 4, True, 'a request for each cluster')


@case
def a_row_is_requested_at_once():
    with served(data('trees').parent) as site:
        for name, path in ('example.root', 'Events/rows.d/2.json'), ('nano.root', 'Events/rows.d/5.json'):
            found = output(NTUPLE, 'cat', site.url(name), path)
            same(json.loads(found), json.loads(output(NTUPLE, 'cat', data(name), path)))


run(at_once=3)
