# SPDX-License-Identifier: MIT
"""The tool shows the same tree as the mount."""
import itertools
import json
import os
import pty
import re
import select
import shutil
import signal
import stat
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'support'))
from bloscpack_file import write_bloscpack  # noqa: E402
from json_rules import problems  # noqa: E402
from harness import (DATA, NTUPLE, Skip, case, command, data, fuse_problem, mounted, on_a_terminal, output,
                     run, same, scratch)

EVENT = (10000000000 + 3 * np.arange(1000)).astype('<u8').tobytes()


def ntuple(*arguments):
    return output(NTUPLE, *arguments)


def held_up(arguments, begun, status=0, **options):
    """What a program writes to its terminal if it is stopped for more than a second, once
    `begun` sees in the terminal's text that it works."""
    master, slave = pty.openpty()
    process = subprocess.Popen([str(a) for a in (NTUPLE, *arguments)], stderr=slave, stdin=subprocess.DEVNULL,
                               **{'stdout': slave, **options})
    os.close(slave)
    text, is_stopped = b'', False
    while True:
        if not is_stopped and (begun(text) or process.poll() is not None):
            is_stopped = True
            process.send_signal(signal.SIGSTOP)
            time.sleep(1.2)
            process.send_signal(signal.SIGCONT)
        if not is_stopped and not select.select([master], [], [], 0.001)[0]:
            continue
        try:
            block = os.read(master, 4096)
        except OSError:
            break
        text += block
    os.close(master)
    same(process.wait(), status, arguments)
    return text


def shown_while_held_up(arguments, begun, prepare, what=b'B/s'):
    """The same if the program was stopped before its end. It may end before it is seen working."""
    for _ in range(10):
        text = held_up(arguments, begun, **prepare())
        if what in text:
            return text
    raise AssertionError(f'{arguments}: no progress is shown: {text!r}')


SIZE = rb'[\d.]+ (?:B|[KM]iB)'


def bytes_of(size):
    number, unit = size.split()
    return float(number) * {b'B': 1, b'KiB': 1 << 10, b'MiB': 1 << 20}[unit]


def check_what_is_left(text, copy):
    """Compares with what was copied: the bytes that were known before, and the files that were
    not counted there."""
    files = [path for path in copy.rglob('*') if path.is_file()]
    total = sum(path.stat().st_size for path in files)
    known = sum(path.stat().st_size for path in files if path.suffix in ('.npy', '.arrow'))
    texts = [path for path in files if path.suffix not in ('.npy', '.arrow', '.bin', '.raw')]
    found = re.findall(rb' of (?:about )?(%s), [^\r]* (\d+) texts? left' % SIZE, text)
    for size, left in found:
        assert 0.95 * known < bytes_of(size) < 1.05 * total and 0 < int(left) <= len(texts) + 10, (size,
                left, known, total, len(texts))
    assert found, text


@case
def cp_says_how_far_it_is():
    with scratch() as directory:
        for flags in ['-r'], ['-rq']:
            copy = directory / flags[0]
            arguments = ['cp', *flags, data('types.root'), copy]
            def begun(_):
                return copy.exists()
            def again():
                shutil.rmtree(copy, ignore_errors=True)
                return {}
            if flags == ['-rq']:
                same(held_up(arguments, begun, **again()), b'')
            else:
                text = shown_while_held_up(arguments, begun, again, b' left')
                line = (rb'\r%s(?: of (?:about )?%s)?, %s/s'
                        rb'(?:, (?:[\d:]+|[\d:]+ and \d+ texts?|\d+ texts?) left)?\x1b\[K'
                        % (SIZE, SIZE, SIZE))
                assert re.fullmatch(rb'(%s)+\r\x1b\[K' % line, text), text
                check_what_is_left(text, copy)


@case
def export_says_how_far_it_is():
    with scratch() as directory:
        copy = directory / 'rows.jsonl'
        def begun(_):
            return any(name.endswith('.part') for name in os.listdir(directory))
        text = shown_while_held_up(['export', '-f', data('blocks.blp'), copy], begun, dict, b' left')
        size = copy.stat().st_size
        line = rb' %%, %s of about (%s), %s/s, [\d:]+ left\x1b\[K' % (SIZE, SIZE, SIZE)
        for shown in re.findall(line, text):
            assert 0.8 * size < bytes_of(shown) < 1.2 * size, (shown, size)
        assert text.endswith(b'\r\x1b[K'), text
        same(held_up(['export', '-fq', data('blocks.blp'), copy], begun), b'')


@case
def cat_into_a_file_says_how_far_it_is():
    with scratch() as directory:
        copy = directory / 'rows'
        arguments = ['cat', data('blocks.blp'), *['blocks/rows.jsonl'] * 4]
        def begun(_):
            return copy.stat().st_size > 0
        def again():
            return {'stdout': open(copy, 'wb')}
        text = shown_while_held_up(arguments, begun, again, b' left')
        size = copy.stat().st_size / 4
        for shown in re.findall(rb' %%, %s of about (%s), %s/s, [\d:]+ left\x1b\[K' % (SIZE, SIZE, SIZE),
                                text):
            assert 0.8 * size < bytes_of(shown) < 1.2 * size, (shown, size)
        assert text.startswith(b'\r') and text.endswith(b'\x1b[K\r\x1b[K'), text
        same(held_up([*arguments, '-q'], begun, **again()), b'')


@case
def verify_says_how_far_it_is():
    with scratch() as directory:
        for number in range(50):
            shutil.copy(data('types.root'), directory / f'{number}.root')
        arguments = ['verify', directory]
        def begun(text):
            return b'ok' in text
        text = shown_while_held_up(arguments, begun, dict, b' left\x1b[K')
        lines = re.sub(rb'(\r[^\r\n]+\x1b\[K)+\r\x1b\[K', b'', text).split(b'\r\n')
        same((len(lines), lines[-1]), (51, b''), text)
        assert all(line.endswith(b': ok') and b'\x1b' not in line for line in lines[:-1]), text


@case
def diff_says_how_far_it_is():
    """A structure of another type is compared by its common parts. Nothing is printed before the summary, so
    that only time says when it works."""
    with scratch() as directory:
        paths = directory / 'a.blp', directory / 'b.blp'
        for path, kind in zip(paths, ('<i4', '<i8')):
            write_bloscpack(path, np.zeros(2000000, [('x', '<f8'), ('y', kind), ('z', '<f8')]))
        arguments = ['diff', '--schema', '--values', *paths]
        delays, stop_at = itertools.count(0.02, 0.01), [0.0]
        def again():
            stop_at[0] = time.monotonic() + next(delays)
            return {'status': 1}
        text = shown_while_held_up(arguments, lambda _: time.monotonic() > stop_at[0], again)
        assert text.endswith(b'schema differs, values not all compared\r\n'), text[-200:]
        same(held_up([*arguments, '-q'], lambda _: False, 1).count(b'\n'), 1)


@case
def cat_writes_a_column():
    same(ntuple('cat', data('example.root'), 'Events/event/data.bin'), EVENT)
    same(ntuple('cat', data('example.root'), '/Events/event/data.bin', 'Events/event/data.bin'), EVENT
         + EVENT)


@case
def rows_are_chosen_by_their_numbers():
    lines = ntuple('cat', data('example.root'), 'Events/rows.jsonl').splitlines()
    values = ntuple('cat', data('example.root'), 'Events/muons/_0/pt/rows.jsonl').splitlines()
    same(len(lines), 1000)
    for text, rows in {'3:6': slice(3, 6), '998:': slice(998, None), ':2': slice(2), '7': slice(7, 8),
                       '0:0': slice(0), '990:2000': slice(990, None), '5:5': slice(0),
                       '2000:': slice(0)}.items():
        same(ntuple('cat', data('example.root'), 'Events', f'--rows={text}').splitlines(), lines[rows], text)
        same(ntuple('cat', data('example.root'), 'Events/muons/_0/pt', '--rows', text).splitlines(),
             values[rows], text)
    for text in '', 'x', '1-2', '-1:2', '1:-2', ' 1:2', '1:2:3', '5:3', '18446744073709551616:':
        result = command(NTUPLE, 'cat', data('example.root'), 'Events', f'--rows={text}')
        same((result.returncode, result.stdout), (1, b''), text)
        assert b'option "rows": expected FIRST:END' in result.stderr, result.stderr
    for path, rows in ('Events', 1000), ('Events/muons/_0/pt', len(values)):
        result = command(NTUPLE, 'cat', data('example.root'), path, f'--rows={rows}')
        same((result.returncode, result.stdout), (2, b''), path)
        assert f'row {rows} does not exist: there are {rows} rows' in result.stderr.decode(), result.stderr


@case
def head_shows_the_first_rows():
    lines = ntuple('cat', data('types.root'), 'types/rows.jsonl').splitlines()
    same(ntuple('head', data('types.root')).splitlines(), lines[:10])
    same(ntuple('head', data('types.root'), 'types', '-n', 25).splitlines(), lines[:25])
    same(ntuple('head', '-n', 2, data('example.root'), 'Events/run', 'Events/stream').splitlines(),
         [b'362104', b'362104', b'"physics_Main"', b'"express"'])
    result = command(NTUPLE, 'head', data('example.root'))
    same((result.returncode, result.stdout), (1, b''))
    assert result.stderr.endswith(
            b': 2 datasets here; name one: Events, calibration/Constants\n'), result.stderr
    same(ntuple('head', '-n', 1, data('example.root'), 'calibration/Constants').count(b'\n'), 1)


@case
def the_schema_says_types_and_items():
    text = ntuple('schema', data('example.root'), 'Events')
    same(text, ntuple('cat', data('example.root'), 'Events/schema.txt'))
    lines = [line.split() for line in text.decode().splitlines()]
    same(lines[0][:3], ['Events:', '1000', 'entries,'])
    for line in (['run', 'std::uint32_t'], ['muons', 'std::vector<Muon>', '1536', 'items'], ['pt', 'float'],
                 ['jet_tracks', 'std::vector<std::vector<std::int32_t>>', '2549', '/', '3813', 'items'],
                 ['missing_energy', 'std::optional<float>', '666', 'items']):
        assert line in lines, line
    same(ntuple('schema', data('example.root'), 'Events/muons/_0/pt').decode().splitlines()[1].split(),
         ['pt', 'float'])
    assert len(ntuple('schema', data('example.root')).decode().split('\n\n')) == 2, 'a part for each dataset'


@case
def the_schema_as_json_has_every_field():
    def count(fields):
        return sum(1 + count(field.get('fields', [])) for field in fields)
    for name in 'example.root', 'types.root', 'projected.root', 'structures.blp':
        document = json.loads(ntuple('schema', '--json', data(name)))
        same(document['schema'], 'ntuplefs.schema/1')
        for dataset in document['datasets']:
            ours = json.loads(ntuple('cat', data(name), f'{dataset["path"]}/ntuple.json'))
            same((count(dataset['fields']), dataset['entries']), (ours['fields'], ours['entries']),
                 dataset['path'])


@case
def cat_ends_quietly_when_the_reader_does():
    script = f'set -o pipefail; "{NTUPLE}" cat "{data("example.root")}" Events/rows.jsonl | head -n 1'
    for _ in range(10):
        result = command('bash', '-c', script)
        same((result.returncode, result.stdout.count(b'\n'), result.stderr), (0, 1, b''))


@case
def output_that_cannot_be_written_is_reported():
    if not os.path.exists('/dev/full'):
        raise Skip('there is no /dev/full')
    for arguments in ['cat', data('example.root'), 'Events/event/data.bin'], ['ls', data('example.root')]:
        with open('/dev/full', 'wb') as full:
            result = subprocess.run([NTUPLE, *map(str, arguments)], stdout=full, stderr=subprocess.PIPE)
        same((result.returncode, result.stderr.count(b'\n')), (7, 1), result.stderr)


@case
def what_is_read_does_not_take_the_place_of_a_closed_stream():
    for closed, status in {'<&-': 0, '>&-': 7, '2>&-': 0, '<&- >&- 2>&-': 7}.items():
        result = command('sh', '-c', f'exec "$0" "$@" {closed}', NTUPLE, 'cat', data('example.root'),
                         'Events/event/data.bin')
        same((result.returncode, result.stdout), (status, EVENT if status == 0 else b''), closed)


@case
def ls_lists_names_and_long_lines():
    same(ntuple('ls', data('types.root')).splitlines(),
         [line for line in ntuple('ls', '-a', data('types.root')).splitlines() if not line.startswith(b'.')])
    line = ntuple('ls', '-l', data('example.root'), 'Events/event/data.bin').decode().split()
    same((line[0], line[4], line[-1]), ('-r--r--r--', '8000', 'Events/event/data.bin'))


@case
def ls_sorts_by_size_and_time():
    with scratch() as directory:
        folder = directory / 'folder'
        folder.mkdir()
        for age, name in enumerate(['types.root', 'example.root', 'empty.root']):
            shutil.copy(data(name), folder)
            os.utime(folder / name, (10**9 - age, 10**9 - age))
        same(ntuple('ls', '-1', folder), b'empty.root\nexample.root\ntypes.root\n')
        same(ntuple('ls', '-t', folder), b'types.root\nexample.root\nempty.root\n')
    lines = ntuple('ls', '-lS', data('example.root'), 'Events/run').decode().splitlines()
    sizes = [int(line.split()[4]) for line in lines]
    same(sizes, sorted(sizes, reverse=True))
    assert sizes[0] > sizes[-1] and len({line.rindex(line.split()[5]) for line in lines}) == 1, lines
    plain = ntuple('ls', data('example.root'), 'Events/run').decode().split()
    same(sorted(line.split()[-1] for line in lines), sorted(plain))
    ties = [line.split()[-1] for line in lines if line.split()[4] == '0']
    same(ties, [name for name in plain if name in ties], 'equal ones as in the file')


@case
def sizes_for_people_are_those_of_ls():
    with mounted(data('example.root')) as top:
        for path in 'Events', 'Events/run', 'Events/weight/column.0':
            ours = {line.split()[-1]: line.split()[4] for line in
                    ntuple('ls', '-lh', data('example.root'), path).decode().splitlines()}
            theirs = {line.split()[-1]: line.split()[4] for line in
                      output('ls', '-lh', top / path).decode().splitlines()[1:]}
            same(ours, {name: theirs[name] for name in ours}, path)
            assert any(size.endswith('K') for size in ours.values()) or path != 'Events', ours


@case
def help_of_a_command_is_short_and_its_own():
    whole = ntuple('help')
    same(whole, ntuple('--help'))
    for name in 'ls', 'tree', 'cat', 'stat', 'cp', 'verify', 'inspect', 'help':
        text = ntuple('help', name)
        same(text, ntuple(name, '--help'), name)
        assert text.startswith(b'usage: ntuple %s ' % name.encode()) and text.count(b'\n') <= 20, text
        assert b'cachesize' in whole and b'cachesize' not in text and b'Exit status:' not in text, text
    assert b'  -h, --human' in ntuple('help', 'ls') and b'      --help' in ntuple('help', 'ls')
    assert b'  -h, --help' in ntuple('cat', '-h')


@case
def ls_of_several_paths_has_headings():
    text = ntuple('ls', data('example.root'), 'Events/run', 'Events/event').decode()
    same([part.splitlines()[0] for part in text.split('\n\n')], ['Events/run:', 'Events/event:'])


@case
def ls_names_paths_that_do_not_exist_and_lists_the_others():
    result = command(NTUPLE, 'ls', data('example.root'), 'Events/nothing', 'Events/run')
    same((result.returncode, b'Events/nothing' in result.stderr, b'data.bin' in result.stdout),
         (2, True, True))


@case
def tree_draws_what_ls_lists():
    text = ntuple('tree', '-L', 1, data('example.root'), 'Events').decode().splitlines()
    names = ntuple('ls', data('example.root'), 'Events').decode().splitlines()
    same([line[4:].rstrip('/') for line in text[1:-2]], names)
    assert text[-3].startswith('└── ') and all(line.startswith('├── ') for line in text[1:-3]), text


@case
def stat_prints_attributes_and_extended_attributes():
    text = ntuple('stat', data('example.root'), 'Events/event').decode()
    found = dict(line.split(': ', 1) for line in text.splitlines())
    same((found['path'], found['class'], found['type']), ('Events/event', 'directory', 'std::uint64_t'))
    found = dict(line.split(': ', 1) for line in
                 ntuple('stat', data('example.root'), 'Events/event/data.bin').decode().splitlines())
    same((found['class'], found['size'], found['dtype']), ('sized', '8000', '<u8'))


def listed(*arguments):
    return [json.loads(line) for line in ntuple('ls', '--json', *arguments).splitlines()]


@case
def ls_as_json_says_what_a_look_at_the_mount_does():
    if fuse_problem():
        raise Skip(fuse_problem())
    with mounted(data('types.root')) as top:
        entries = listed('-aR', data('types.root'))
        same(len({entry['path'] for entry in entries}), len(entries), 'each entry once')
        paths = [os.path.relpath(os.path.join(root, name), top) for root, folders, names in os.walk(top)
                 for name in folders + names]
        same(sorted(entry['path'] for entry in entries if '.ntuplefs' not in entry['path']),
             sorted(path for path in paths if not path.startswith('.ntuplefs')))
        for entry in entries:
            if '.ntuplefs' in entry['path']:
                continue
            found = os.stat(top / entry['path'])
            modified = datetime.fromisoformat(entry['modified'].replace('Z', '+00:00')).timestamp()
            same((entry['name'], entry['inode'], entry['mode'], entry['uid'], entry['gid'], modified),
                 (os.path.basename(entry['path']), found.st_ino, stat.filemode(found.st_mode), found.st_uid,
                  found.st_gid, int(found.st_mtime)), entry['path'])
            same(entry['size_bytes'], None if entry['class'] == 'streamed' else found.st_size, entry['path'])


@case
def ls_as_json_keeps_the_order_and_has_lines_only():
    names = ntuple('ls', data('example.root'), 'Events').decode().split()
    same([entry['name'] for entry in listed(data('example.root'), 'Events')], names)
    same([entry['path'] for entry in listed(data('example.root'), 'Events')],
         [f'Events/{name}' for name in names])
    entries = listed('-lh', data('example.root'), 'Events/run', 'Events/event/data.bin')
    same((entries[-1]['path'], entries[-1]['class'], entries[-1]['size_bytes']),
         ('Events/event/data.bin', 'sized', 8000))
    sizes = [entry['size_bytes'] or 0 for entry in listed('-S', data('example.root'), 'Events/run')]
    same(sizes, sorted(sizes, reverse=True))
    assert list(problems(entries)) == [], entries


@case
def sizes_that_are_not_known_are_null():
    entries = listed('-R', data('blocks.blp'))
    long = [entry['name'] for entry in entries if entry['class'] == 'streamed']
    assert 'rows.jsonl' in long, long
    same(sorted(entry['name'] for entry in entries if entry['size_bytes'] is None), sorted(long))


@case
def names_that_are_no_text_are_so_in_json_too():
    with scratch() as directory:
        shutil.copy(data('empty.root'), os.fsencode(directory) + b'/odd\xff\x1b.root')
        same([(entry['path'], entry['name']) for entry in listed(directory)], [('odd%FF%1B.root',) * 2])
        same(json.loads(ntuple('stat', '--json', directory, 'odd%FF%1B.root'))['file_hex'],
             (os.fsencode(directory) + b'/odd\xff\x1b.root').hex())


@case
def stat_as_json_has_the_attributes_with_their_types():
    document = json.loads(ntuple('stat', '--json', data('example.root'), 'Events/event/data.npy'))
    expected = {'schema': 'ntuplefs.stat/1', 'path': 'Events/event/data.npy', 'class': 'sized',
                'size_bytes': 8128,
                'mode': '-r--r--r--', 'name': 'event', 'type': 'std::uint64_t', 'dtype': '<u8',
                'shape': [1000],
                'entries': 1000, 'elements': 1000, 'bits': 64, 'decoded_bytes': 8000}
    same({key: document.get(key) for key in expected}, expected)
    column = json.loads(ntuple('cat', data('example.root'), 'Events/event/column.0/column.json'))
    for key in 'pages', 'stored_bytes', 'packed_bytes', 'ratio':
        same(document[key], column[key], key)
    assert list(problems(document)) == [], document
    lines = dict(line.split(': ', 1) for line in
                 ntuple('stat', data('example.root'), 'Events/event/data.npy').decode().splitlines())
    same(lines.keys() - {'size'}, document.keys() - {'schema', 'size_bytes'})


@case
def stat_continues_where_a_page_has_no_digest():
    path = 'unchecked/noise/column.0/pages/0.raw'
    assert 'checksum' not in dict(line.split(': ', 1) for line in
                                  ntuple('stat', data('without_checksums.root'), path).decode().splitlines())
    document = json.loads(ntuple('stat', '--json', data('without_checksums.root'), path))
    same((document['checksum'], document['checksum_kind']), (None, 'none'))


@case
def cp_copies_a_file_and_refuses_to_overwrite_it():
    with scratch() as directory:
        arguments = data('example.root'), 'Events/event/data.bin', directory / 'copy'
        ntuple('cp', *arguments)
        same((directory / 'copy').read_bytes(), EVENT)
        (directory / 'copy').write_bytes(b'mine')
        result = command(NTUPLE, 'cp', *arguments)
        same((result.returncode, (directory / 'copy').read_bytes()), (7, b'mine'))
        assert result.stderr.endswith(b': cannot create without -f: File exists\n'), result.stderr
        ntuple('cp', '-f', *arguments)
        same((directory / 'copy').read_bytes(), EVENT)


@case
def cp_into_a_directory_keeps_the_name():
    with scratch() as directory:
        ntuple('cp', data('example.root'), 'Events/event/data.bin', directory)
        same((directory / 'data.bin').read_bytes(), EVENT)
        ntuple('cp', '-r', data('example.root'), 'Events/event', directory)
        same((directory / 'event/data.bin').read_bytes(), EVENT)


def refused(*arguments):
    """The message for a copy over its own source."""
    result = command(NTUPLE, 'cp', *arguments)
    message = result.stderr.decode()
    same((result.returncode, message.count('\n')), (7, 1), f'{arguments}: {message}')
    return message


def files_of(folder):
    return {path: path.read_bytes() for path in folder.rglob('*') if path.is_file()}


@case
def cp_does_not_replace_what_it_reads():
    path = 'Events/event/data.bin'
    with scratch() as directory:
        source, other = directory / 'source.root', directory / 'other.root'
        for copy in source, other:
            shutil.copy(data('example.root'), copy)
        os.link(source, directory / 'hard')
        (directory / 'soft').symlink_to('source.root')
        (directory / 'folder').symlink_to('.')
        (directory / 'list').write_text(f'{source}\n{other}\n')
        np.save(directory / 'chosen.npy', [1, 2])
        before = files_of(directory)
        refused('-f', '--chain', directory / 'list', path, directory / 'list')
        refused('-f', f'--select=Events:{directory}/chosen.npy', source, path, directory / 'chosen.npy')
        for name in source, directory / 'hard', directory / 'soft', directory / 'folder/source.root':
            assert f'{name}: is the source {source} itself\n' in refused('-f', source, path, name)
            refused('-f', directory / 'soft', path, name)
            refused('-f', '--chain', directory / '*.root', path, name)
        for shown in directory, directory / 'folder':
            refused('-f', shown, f'source.root/{path}', other)
        same(files_of(directory), before)
        for _ in range(2):
            ntuple('cp', '-f', directory, f'source.root/{path}', directory / 'beside.bin')
            ntuple('cp', '-f', source, path, directory / 'beside.bin')
            ntuple('cp', '-rf', directory, 'source.root/Events/event', directory / 'below')
        same((directory / 'beside.bin').read_bytes(), EVENT)
        same((directory / 'below/data.bin').read_bytes(), EVENT)
        ntuple('cp', '-f', source, path, other)
        same(other.read_bytes(), EVENT)


@case
def cp_does_not_write_into_what_it_reads():
    with scratch() as directory:
        whole = directory / 'whole'
        shutil.copytree(data('lance_datasets/deletions_2.2'), whole)
        (directory / 'link').symlink_to('whole')
        before = files_of(directory)
        for destination in '.', 'whole', 'whole/', 'whole/new', 'whole/new/', 'link', 'link/_versions':
            message = refused('-r', whole, directory / destination)
            assert message.endswith(f'is the source {whole} itself, or inside it\n'), message
            refused('-r', directory, 'whole', directory / destination)
        refused('-r', directory, directory / 'new')
        refused('-r', '--chain', whole, whole / 'new')
        (directory / 'new').mkdir()
        (directory / 'new/whole').symlink_to(whole)
        refused('-r', whole, directory / 'new')
        same(files_of(directory), before)
        ntuple('cp', '-r', whole, directory / 'whole.copy')
        assert files_of(directory / 'whole.copy')


def kinds(copy):
    """A file of each name, anywhere; digits are numbers of pages, columns and versions."""
    found = {}
    for path in sorted(path.relative_to(copy) for path in copy.rglob('*') if path.is_file()):
        found.setdefault(re.sub(r'\d+', 'N', path.name), path)
    return found


def copies_alone(directory, number, arguments, unlisted):
    """Is each kind of file of a source copied alone, with and without -r, as within the whole
    tree?"""
    whole, alone = directory / f'whole.{number}', directory / f'alone.{number}'
    ntuple('cp', '-r', *arguments, whole)
    found = kinds(whole)
    for path in found.values():
        for flags in (), ('-r',):
            ntuple('cp', '-f', *flags, *arguments, path, alone)
            if '.ntuplefs' not in path.parts:
                same(alone.read_bytes() == (whole / path).read_bytes(), True, f'{arguments}: {path}')
    for path in unlisted:
        ntuple('cp', '-f', *arguments, path, alone)
        same(alone.read_bytes(), ntuple('cat', *arguments, path), f'{arguments}: {path}')
    return set(found)


@case
def cp_copies_a_file_of_every_kind_alone_and_within_its_tree():
    with scratch() as directory:
        folder = directory / 'folder'
        folder.mkdir()
        shutil.copy(data('attributes.root'), folder)
        shutil.copytree(data('lance_datasets/deletions_2.2'), folder / 'rows.lance')
        sources = [
            ([data('example.root')], ['Events/rows.d/7.json', 'Events/muons/_0/pt/column.0/pages/1.bin']),
            ([data('lance_datasets/deletions_2.2')], ['deletions_2.2/versions.d/1/table.arrow',
                                                      'deletions_2.2/versions.d/1/ntuple.json']),
            ([data('lance_nested_2.1.lance')], []),
            ([data('blocks.blp')], []),
            (['--chain', DATA / 'compression_*.root'], ['files.d/compression_lz4.root/file.json',
            'files.d/compression_lz4.root/compressed/table.arrow']),
            ([folder], ['attributes.root/file.json']),
        ]
        found = set()
        for number, (arguments, unlisted) in enumerate(sources):
            found |= copies_alone(directory, number, arguments, unlisted)
        for name in ('data.npy', 'data.bin', 'offsets.npy', 'table.arrow', 'table.csv', 'rows.jsonl',
                     'head.jsonl', 'schema.txt',
                     'field.json', 'column.json', 'pages.jsonl', 'N.raw', 'N.bin', 'header.bin',
                     'footer.json', 'pagelist.N.json',
                     'header.txt', 'layout.svg', 'sizes.svg', 'files.jsonl', 'versions.jsonl',
                     'manifest.json', 'fragments.jsonl'):
            assert name in found, (name, sorted(found))


@case
def cp_of_a_directory_needs_r():
    with scratch() as directory:
        result = command(NTUPLE, 'cp', data('example.root'), 'Events', directory / 'copy')
        same((result.returncode, os.listdir(directory)), (1, []))


@case
def cp_writes_the_whole_tree_as_the_mount_shows_it():
    if fuse_problem():
        raise Skip(fuse_problem())
    with scratch() as directory, mounted(data('types.root')) as top:
        ntuple('cp', '-r', data('types.root'), directory / 'copy')
        compared = 0
        for root, _, names in os.walk(top):
            for name in names:
                path = os.path.relpath(os.path.join(root, name), top)
                if not path.startswith('.ntuplefs'):
                    with open(top / path, 'rb') as file:
                        same((directory / 'copy' / path).read_bytes(), file.read(), path)
                    compared += 1
        assert compared > 100, compared


@case
def cp_of_a_damaged_file_names_and_removes_what_failed_and_copies_the_rest():
    with scratch() as directory:
        result = command(NTUPLE, 'cp', '-r', data('damaged_page.root'), 'compressed', directory / 'copy')
        same(result.returncode, 5)
        assert b'compressed/noise/data.bin' in result.stderr, result.stderr
        assert not (directory / 'copy/noise/data.bin').exists()
        assert (directory / 'copy/ramp/data.bin').stat().st_size > 0


@case
def names_are_escaped_on_terminals_only():
    with scratch() as directory:
        odd = directory / 'odd\x1b[31m'
        odd.mkdir()
        shutil.copy(data('example.root'), odd / 'example.root')
        piped = ntuple('tree', '-L', 1, odd / 'example.root')
        assert b'\x1b' in piped.splitlines()[0], piped
        shown = on_a_terminal(NTUPLE, 'tree', '-L', '1', odd / 'example.root')
        assert b'\x1b[31m' not in shown and b'\\x1b[31m' in shown, shown


@case
def a_reader_that_hangs_up_a_listing_is_no_failure():
    script = f'set -o pipefail; "{NTUPLE}" ls -R "{data("example.root")}" | head -n 1'
    result = command('bash', '-c', script)
    same((result.returncode, result.stderr), (0, b''))


run(needs_fuse=False)
