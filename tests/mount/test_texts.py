# SPDX-License-Identifier: MIT
"""Texts read by programs that rely on the size, that seek, or that just read: short texts, long
ones, and long ones with text=sized. The expected text comes from the formulas that filled the
file."""
import contextlib
import errno
import gzip
import hashlib
import json
import lzma
import os
import shutil
import sys
from pathlib import Path

from harness import Skip, case, command, data, fails, mounted, need, output, run, same, scratch, stats

SHORT, LONG = 2000, 200_000  # rows: of 40 kB, and of 4 MB


def values(rows):
    return {'a': list(range(rows)), 'b': [i * i for i in range(rows)], 'c': [i % 13 for i in range(rows)]}


def csv_of(rows):
    return ('a,b,c\r\n' + ''.join(f'{i},{i * i},{i % 13}\r\n' for i in range(rows))).encode()


def json_of(rows):
    return ''.join(f'{{"a":{i},"b":{i * i},"c":{i % 13}}}\n' for i in range(rows)).encode()


def write(path, rows):
    uproot, numpy = need('uproot'), need('numpy')
    columns = {name: numpy.array(column, 'i4' if name == 'c' else 'i8') for name,
               column in values(rows).items()}
    with uproot.recreate(path) as file:
        file.mkrntuple('Events', columns)


@contextlib.contextmanager
def mounted_rows(rows, *options):
    with scratch() as directory:
        write(directory / 'rows.root', rows)
        with mounted(directory / 'rows.root', options=options) as top:
            yield top / 'Events', directory


# ---- the programs: how each is run, on which file, and what it must say ----

class Place:
    def __init__(self, events, directory, rows):
        self.csv, self.json = events / 'table.csv', events / 'rows.jsonl'
        self.directory, self.rows = directory, rows
        self.copy, self.text, self.lines = directory / 'copy', csv_of(rows), json_of(rows)
        self.sum = str(sum(range(rows)))


RIGHT, MESSAGE, ERROR, EMPTY = 'right', 'right, perhaps with a message', 'an error', 'nothing'
programs = []


def program(name, arguments, found, expected, long=RIGHT, module=None):
    """`found` and `expected` are functions of the result and path, `long` is the result for a
    long text; None: not tried."""
    programs.append((name, arguments, found, expected, long, module))


def text(result, place):
    return result.stdout


def copied(result, place):
    return place.copy.read_bytes() if place.copy.exists() else b''


def whole(place):
    return place.text


def total(place):
    return (place.sum + '\n').encode()


def count(place):
    return f'{place.rows}\n'.encode()


def script(source):
    """A program for this Python: p.csv, p.json, p.copy are replaced."""
    return lambda p: [sys.executable, '-c', source.format(csv=str(p.csv), json=str(p.json), copy=str(p.copy))]


def shell(source):
    return lambda p: ['sh', '-c', source.format(csv=p.csv, json=p.json, copy=p.copy, directory=p.directory)]


for name in 'cat', 'less':
    program(name, lambda p, name=name: [name, p.csv], text, whole)
for name in 'cp', 'cp -a', 'install':
    program(name, lambda p, name=name: [*name.split(), p.csv, p.copy], copied, whole)
program('dd', lambda p: ['dd', f'if={p.csv}', f'of={p.copy}', 'status=none'], copied, whole)
program('dd skip', lambda p: ['dd', f'if={p.csv}', 'bs=1000', 'skip=3', 'count=2', 'status=none'], text,
        lambda p: p.text[3000:5000])
program('head', lambda p: ['head', '-n', 2, p.csv], text, lambda p: b'a,b,c\r\n0,0,0\r\n', MESSAGE)
program('head -n -', lambda p: ['head', '-n', -1, p.csv], text,
        lambda p: b''.join(p.text.splitlines(True)[:-1]), ERROR)
program('head -c -', lambda p: ['head', '-c', -5, p.csv], text, lambda p: p.text[:-5], ERROR)
program('tail', lambda p: ['tail', '-n', 2, p.csv], text, lambda p: b''.join(p.text.splitlines(True)[-2:]))
program('tail -c', lambda p: ['tail', '-c', 100, p.csv], text, lambda p: p.text[-100:])
program('tail -c +', lambda p: ['tail', '-c', '+5', p.csv], text, lambda p: p.text[4:], ERROR)
# It waits for more until it is stopped.
program('tail -f', shell('timeout 2 tail -n 1 -f {csv} || [ $? = 124 ]'), text,
        lambda p: p.text.splitlines(True)[-1], ERROR)
program('tac', lambda p: ['tac', p.csv], text, lambda p: b''.join(p.text.splitlines(True)[::-1]))
program('wc', lambda p: ['wc', p.csv], lambda r, p: r.stdout.split()[2], lambda p: b'%d' % len(p.text))
program('wc -c', lambda p: ['wc', '-c', p.csv], lambda r, p: r.stdout.split()[0],
        lambda p: b'%d' % len(p.text))
program('grep', lambda p: ['grep', '-c', ',', p.csv], text, lambda p: b'%d\n' % (p.rows + 1))
program('awk', lambda p: ['awk', '-F,', 'NR > 1 {s += $1} END {printf "%.0f\\n", s}', p.csv], text, total)
program('sed', lambda p: ['sed', '-n', '$p', p.csv], text, lambda p: p.text.splitlines(True)[-1])
def lines(result, place):
    return sorted(result.stdout.splitlines())


def all_lines(place):
    return sorted(place.text.splitlines())


# sort takes its memory from the size, and needs minutes if that is 0
program('sort', lambda p: ['sort', p.csv], lines, all_lines, None)
program('sort of a pipe', shell('cat {csv} | sort'), lines, all_lines)
program('shuf', lambda p: ['shuf', p.csv], lines, all_lines)
program('split -l', shell('cd {directory} && split -l 1000 {csv} part. && cat part.*'), text, whole)
program('split -n', shell('cd {directory} && split -n l/3 {csv} part. && cat part.*'), text, whole, ERROR)
program('md5sum', lambda p: ['md5sum', p.csv], lambda r, p: r.stdout.split()[0].decode(),
        lambda p: hashlib.md5(p.text).hexdigest())
program('gzip', lambda p: ['gzip', '-kc', p.csv], lambda r, p: gzip.decompress(r.stdout), whole, MESSAGE)
program('xz', lambda p: ['xz', '-0kc', p.csv], lambda r, p: lzma.decompress(r.stdout), whole)
program('zstd', shell('zstd -qf {csv} -o {copy} && zstd -dc {copy}'), text, whole, ERROR)
program('zstd of a pipe', shell('zstd -qc <{csv} | zstd -dc'), text, whole)
program('cmp', shell('cat {csv} > {copy}; cmp {csv} {copy} && cat {copy}'), text, whole)
program('diff', shell('cat {csv} > {copy}; diff {csv} {copy} && cat {copy}'), text, whole)
program('jq', lambda p: ['jq', '-n', 'reduce inputs.a as $a (0; . + $a)', p.json], text, total)
program('vim', shell("vim -es -u NONE -c 'w! {copy}' -c q {csv}"), copied, whole)
program('zip', shell('cd {directory} && zip -q a.zip {csv} && unzip -p a.zip'), text, whole)
program('curl', lambda p: ['curl', '-sS', f'file://{p.csv}'], text, whole)
program('git diff', lambda p: ['git', 'diff', '--no-index', '--numstat', '/dev/null', p.csv], lambda r,
        p: r.stdout.split()[:1],
        lambda p: [b'%d' % (p.rows + 1)], EMPTY)
program('tar', shell('cd $(dirname {csv}) && tar c table.csv > {copy} && tar xOf {copy}'), text, whole, EMPTY)
program('rsync', shell('rsync -a {csv} {copy}'), copied, whole, EMPTY)
program('node', lambda p: ['node', '-e', f'process.stdout.write(require("fs").readFileSync("{p.csv}"))'],
        text, whole)
program('node copyFile', lambda p: ['node', '-e', f'require("fs").copyFileSync("{p.csv}", "{p.copy}")'],
        copied, whole, EMPTY)
program('Python read', script('import sys; sys.stdout.buffer.write(open("{csv}", "rb").read())'), text, whole)
program('Python shutil.copy', script('import shutil; shutil.copy("{csv}", "{copy}")'), copied, whole)
program('Python zipfile', script('''
import sys, zipfile
with zipfile.ZipFile("{copy}", "w") as archive:
    archive.write("{csv}", "a")
sys.stdout.buffer.write(zipfile.ZipFile("{copy}").read("a"))'''), text, whole)
program('Python tarfile', script('''
import sys, tarfile
with tarfile.open("{copy}", "w") as archive:
    archive.add("{csv}", "a")
sys.stdout.buffer.write(tarfile.open("{copy}").extractfile("a").read())'''), text, whole, EMPTY)
program('Python http.server', script('''
import functools, http.server, os, sys, threading, urllib.request
http.server.SimpleHTTPRequestHandler.log_message = lambda *_: None
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=os.path.dirname("{csv}"))
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{{server.server_port}}/table.csv"
sys.stdout.buffer.write(urllib.request.urlopen(address).read())'''), text, whole, EMPTY)
program('mmap',
        script('import mmap, os; os.write(1, mmap.mmap(os.open("{csv}", 0), 0, prot=mmap.PROT_READ)[:5])'),
        text, lambda p: b'a,b,c', ERROR)
program('pread', script('import os; os.write(1, os.pread(os.open("{csv}", 0), 5, 0))'), text,
        lambda p: b'a,b,c', ERROR)
program('sendfile',
        script('import os; os.sendfile(os.open("{copy}", 65, 420), os.open("{csv}", 0), None, 5)'), copied,
        lambda p: b'a,b,c', ERROR)
program('DuckDB csv',
        script("import duckdb; print(duckdb.sql('select count(*) from read_csv(\"{csv}\")'.replace('\"', "
               "chr(39))).fetchall()[0][0])"),
        text, count, ERROR, 'duckdb')
program('DuckDB json',
        script("import duckdb; print(duckdb.sql('select sum(a) from read_json(\"{json}\")'.replace('\"', "
               "chr(39))).fetchall()[0][0])"),
        text, total, ERROR, 'duckdb')
program('DuckDB count',
        script("import duckdb; print(duckdb.sql('select count(*) from \"{json}\"'.replace('\"', "
               "chr(39))).fetchall()[0][0])"),
        text, count, ERROR, 'duckdb')
program('polars csv', script('import polars as p; print(p.read_csv("{csv}")["a"].sum())'), text, total,
        ERROR, 'polars')
program('polars scan',
        script('import polars as p; print(p.scan_csv("{csv}").select(p.col("a").sum()).collect().item())'),
        text, total,
        ERROR, 'polars')
program('polars json', script('import polars as p; print(p.read_ndjson("{json}")["a"].sum())'), text, total,
        ERROR, 'polars')
program('polars of a file object',
        script('import polars as p; print(p.read_csv(open("{csv}", "rb"))["a"].sum())'), text, total, RIGHT,
        'polars')
program('pandas csv', script('import pandas as p; print(p.read_csv("{csv}")["a"].sum())'), text, total,
        RIGHT, 'pandas')
program('pandas json', script('import pandas as p; print(p.read_json("{json}", lines=True)["a"].sum())'),
        text, total, RIGHT, 'pandas')
program('pyarrow csv', script('import pyarrow.csv as c; print(c.read_csv("{csv}")["a"].to_numpy().sum())'),
        text, total, ERROR, 'pyarrow')
program('NumPy loadtxt',
        script('import numpy as n; print(int(n.loadtxt("{csv}", delimiter=",", skiprows=1)[:, 0].sum()))'),
        text, total,
        RIGHT, 'numpy')


def missing(arguments, module):
    if module:
        try:
            need(module)
        except Skip as reason:
            return str(reason)
    name = str(arguments[2]).split()[0] if arguments[0] == 'sh' else arguments[0]
    return None if name in ('cd', 'cat') or shutil.which(name) else f'{name} is not installed'


def came_of_it(result, found, expected, place):
    """What a user of the program has."""
    ends_well = result.returncode == 0 or result.args[0] == 'git'  # git diff exits with 1 for a difference
    try:
        if ends_well and found(result, place) == expected(place):
            return MESSAGE if result.stderr else RIGHT
    except (OSError, EOFError, IndexError):
        pass
    return EMPTY if ends_well else ERROR


def try_programs(rows, *options, outcomes):
    problems = []
    with mounted_rows(rows, *options) as (events, directory):
        place = Place(events, directory / 'work', rows)
        for name, arguments, found, expected, long, module in programs:
            shutil.rmtree(place.directory, True)
            place.directory.mkdir()
            reason = missing(arguments(place), module)
            if reason:
                print(f'     without {name}: {reason}')
            if reason or not outcomes(long):
                continue
            outcome = came_of_it(command(*arguments(place)), found, expected, place)
            if outcome != outcomes(long) and (outcome, outcomes(long)) != (RIGHT, MESSAGE):
                problems.append(f'{name}: {outcome} instead of {outcomes(long)}')
    same(problems, [])


@case
def every_program_reads_a_short_text():
    try_programs(SHORT, outcomes=lambda long: RIGHT)


@case
def every_program_reads_a_long_text_where_texts_are_sized():
    try_programs(LONG, '-o', 'text=sized', outcomes=lambda long: RIGHT)


@case
def of_a_long_text_programs_read_all_or_say_an_error_but_those_that_open_nothing_of_size_0():
    try_programs(LONG, outcomes=lambda long: long)


# ---- sizes ----

@case
def a_short_text_has_its_size_and_a_long_one_none():
    with mounted_rows(SHORT) as (events, _):
        same((events / 'table.csv').stat().st_size, len(csv_of(SHORT)))
        same((events / 'rows.jsonl').stat().st_size, len(json_of(SHORT)))
        same((events / 'rows.d/5.json').stat().st_size, len(json_of(6)) - len(json_of(5)))
    with mounted_rows(LONG) as (events, _):
        same((events / 'table.csv').stat().st_size, 0)
        same((events / 'clusters.jsonl').stat().st_size > 0, True)
    with mounted_rows(LONG, '-o', 'text=sized') as (events, _):
        same((events / 'table.csv').stat().st_size, len(csv_of(LONG)))


@case
def every_text_of_the_example_has_the_size_that_is_read():
    with mounted(data('example.root')) as top:
        for directory, _, names in os.walk(top):
            for name in names:
                path = os.path.join(directory, name)
                with open(path, 'rb') as file:
                    content = file.read()
                same(os.stat(path).st_size, len(content), path)


# Of each format; with arrays and lists, whose items are more than the entries; deletions; failures; nothing.
HEADS = ('example.root', 'types.root', 'damaged_page.root', 'empty.root', 'trees/trees_arrays.root',
         'trees/trees_items.root', 'trees/trees_short_branches.root', 'lance_nested_2.1.lance',
         'lance_no_rows_2.2.lance', 'lance_datasets/deletions_2.2', 'structures.blp')
HEAD = 100


def content_or_error(path):
    """The rows before an error, and its number."""
    rows = b''
    try:
        with open(path, 'rb', buffering=0) as file:
            while piece := file.read(1 << 16):
                rows += piece
    except OSError as error:
        return rows, error.errno
    return rows, None


def check_heads(top, *, first):
    """Each head is the start of the rows, whichever of the two is generated first. Returns the rows
    of each directory."""
    counts = {}
    for directory, _, names in os.walk(top):
        if 'head.jsonl' not in names:
            continue
        path = Path(directory)
        for name in (first, *({'rows.jsonl', 'head.jsonl'} - {first})):
            os.stat(path / name)
        rows, error = content_or_error(path / 'rows.jsonl')
        rows = rows.splitlines(True)
        same(content_or_error(path / 'head.jsonl'),
             (b''.join(rows[:HEAD]), error if len(rows) < HEAD else None), path)
        counts[str(path.relative_to(top))] = len(rows)
    return counts


@case
def a_head_is_the_start_of_the_rows():
    for name in HEADS:
        for first in 'rows.jsonl', 'head.jsonl':
            with mounted(data(name)) as top:
                same(len(check_heads(top, first=first)) > 0, True, name)


@case
def a_head_ends_after_100_rows_of_a_file_or_of_several():
    for count in HEAD - 1, HEAD, HEAD + 1:
        with mounted_rows(count) as (events, _):
            same(check_heads(events, first='rows.jsonl'), dict.fromkeys(('.', 'a', 'b', 'c'), count))
    with scratch() as directory:
        for number in range(2):
            write(directory / f'{number}.root', 60)
        with mounted(directory / '*.root', options=['-o', 'chain']) as top:
            same(set(check_heads(top, first='head.jsonl').values()), {120})
        need('numpy').save(directory / 'mask.npy', need('numpy').arange(60) % 2 == 0)
        with mounted(directory / '0.root', options=['-o', f'select=Events:{directory}/mask.npy']) as top:
            same(set(check_heads(top, first='rows.jsonl').values()), {30})


@case
def a_listing_makes_no_text():
    with mounted(data('example.root')) as top:
        before = stats(top)
        output('ls', '-R', top)
        output('find', top, '-type', 'f')
        after = stats(top)
        for name in 'documents_made', 'pages_decoded':
            same(after[name], before[name], name)
        output('ls', '-l', top / 'Events/run')
        same(stats(top)['documents_made'] > before['documents_made'], True)


@case
def a_listing_of_what_has_a_size_has_short_texts_and_no_long_ones():
    for rows, is_listed in (SHORT, True), (LONG, False):
        with mounted_rows(rows, '-o', 'list=sized') as (events, directory):
            same('table.csv' in os.listdir(events), is_listed)
            same((events / 'table.csv').read_bytes(), csv_of(rows))
            output('tar', '-C', events, '-cf', directory / 'archive.tar', '.')
            output('tar', '-C', directory, '-xf', directory / 'archive.tar', './clusters.jsonl')
            same((directory / 'clusters.jsonl').read_bytes(), (events / 'clusters.jsonl').read_bytes())


@case
def rsync_copies_a_field_with_its_texts():
    if not shutil.which('rsync'):
        raise Skip('rsync is not installed')
    with mounted(data('example.root')) as top, scratch() as directory:
        output('rsync', '-rc', f'{top}/Events/event', directory)
        same((directory / 'event/rows.jsonl').read_bytes(), (top / 'Events/event/rows.jsonl').read_bytes())


@case
def overlayfs_copies_a_text_up():
    if os.geteuid() != 0:
        raise Skip('needs root')
    with mounted_rows(SHORT) as (events, directory):
        for name in 'upper', 'work', 'merged':
            (directory / name).mkdir()
        made = command('mount', '-t', 'overlay', 'overlay', '-o',
                       f'lowerdir={events},upperdir={directory}/upper,workdir={directory}/work',
                       directory / 'merged')
        if made.returncode:
            raise Skip(made.stderr.decode().strip())
        try:
            (directory / 'merged/table.csv').chmod(0o644)
            same((directory / 'upper/table.csv').read_bytes(), csv_of(SHORT))
        finally:
            output('umount', directory / 'merged')


# ---- bounds, damage, patience ----

@case
def a_long_text_is_on_disk_without_a_name_and_within_its_bound():
    with scratch() as directory:
        os.environ['TMPDIR'] = str(directory)
        try:
            with mounted_rows(LONG, '-o', 'text=sized,textsize=12M') as (events, _):
                same((events / 'table.csv').read_bytes(), csv_of(LONG))
                same((events / 'rows.jsonl').read_bytes(), json_of(LONG))
                kept = stats(events.parent)['documents_disk_bytes']
                same(0 < kept <= 12 << 20, True, f'{kept} bytes on disk')
                same([path.name for path in directory.iterdir() if 'text' in path.name], [])
            with mounted_rows(LONG, '-o', 'text=sized,textsize=4M') as (events, _):
                fails(errno.EIO, os.stat, events / 'rows.jsonl')
                assert 'textsize' in (events.parent / '.ntuplefs/errors.jsonl').read_text()
        finally:
            del os.environ['TMPDIR']


@case
def a_long_text_has_all_rows_before_the_damage():
    with scratch() as directory:
        write(directory / 'good.root', LONG)
        with mounted(directory / 'good.root') as top:
            pages = [json.loads(line)
                     for line in (top / 'Events/a/column.0/pages.jsonl').read_text().splitlines()]
            page = pages[len(pages) // 2]
        content = bytearray((directory / 'good.root').read_bytes())
        content[page['file_offset'] + page['stored_bytes'] // 2] ^= 0xFF
        (directory / 'bad.root').write_bytes(content)
        expected = json_of(page['first_element'])
        for options in (), ('-o', 'text=sized'):
            with mounted(directory / 'bad.root', options=options) as top:
                result = command('cat', top / 'Events/rows.jsonl')
                same((result.returncode, result.stdout), (1, expected))
                if options:
                    same((top / 'Events/rows.jsonl').stat().st_size, len(expected) + 1)


run()
