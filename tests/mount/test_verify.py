# SPDX-License-Identifier: MIT
"""ntuple verify and inspect: their output, its form, and their exit status."""
import json
import os
import pty
import shutil
import subprocess
import time

from harness import NTUPLE, case, cat_lines, command, data, flip, need, output, run, same, scratch
from string_writer import write_strings


def verify(*arguments):
    return command(NTUPLE, 'verify', *arguments)


def lines_of(result):
    return [json.loads(line) for line in result.stdout.splitlines()]


def inspect(*arguments):
    return json.loads(output(NTUPLE, 'inspect', '--json', *arguments))


def column_of(path, field, position=0):
    columns = [column for column in inspect(path)['datasets'][0]['columns'] if column['field'] == field]
    return columns[position]


def flipped(directory, name, owner, field=None, column=None):
    """A copy with a bit flipped in the first range of an owner (and a field's column), and that
    range."""
    for item in cat_lines(data(name), 'layout.jsonl'):
        if (item['owner'], item.get('field'), item.get('column')) == (owner, field, column):
            break
    else:
        raise AssertionError(f'{name} has no {owner} of {field}')
    copy = directory / f'{owner.replace(" ", "-")}.root'
    shutil.copy(data(name), copy)
    flip(copy, item['file_offset'] + item['stored_bytes'] // 2, 0x01)
    return copy, item


@case
def clean_files_are_ok_a_line_each():
    names = ['example.root', 'types.root', 'empty.root', 'encodings.root', 'multi_representation.root']
    result = verify(*[data(name) for name in names])
    same((result.returncode, result.stderr), (0, b''))
    lines = result.stdout.decode().splitlines()
    same(len(lines), len(names))
    for name, line in zip(names, lines):
        assert line.startswith(f'{data(name)}: ') and line.endswith(' bytes: ok'), line


@case
def lists_of_which_nothing_is_stored_are_not_damaged():
    """As a member of CMS's PackedCandidate: its branch has no bytes, but its counter counts."""
    uproot, awkward, numpy = need('uproot'), need('awkward'), need('numpy')
    with scratch() as directory:
        path = directory / 'lists.root'
        with uproot.recreate(path, compression=None) as file:
            file.mktree('tree', {'x': 'var * float64'})
            file['tree'].extend({'x': awkward.unflatten(numpy.zeros(0), [0] * 5)})
        counter = uproot.open(path)['tree/nx']
        basket = counter.member('fBasketSeek')[0] + counter.basket(0).member('fKeylen')
        flip(path, basket + 4 * 2 + 3, 0x07)  # entry 2
        result = verify(path)
        line = result.stdout.decode()
        same((result.returncode, 'warning: ' in line, 'no entry has items: ' in line,
              'entry 2 has a list of length 0, but field nx says 7' in line, ': ok, 1 warning' in line),
             (0, True, True, True, True), line)


@case
def pages_without_a_checksum_are_reported():
    """ROOT writes page checksums by default, uproot writes none."""
    for name, pages, unchecked in ('without_checksums.root', 12, 12), ('names_by_uproot.root', 13,
            13), ('example.root', 163, 0):
        summary, = lines_of(verify('--json', data(name)))
        same((summary['result'], summary['pages'], summary['unchecked']), ('ok', pages, unchecked), name)
        shown = f'{pages} pages, '
        if unchecked:
            shown += f'{unchecked} of them without a checksum, '
        line = verify(data(name)).stdout.decode()
        assert line.startswith(f'{data(name)}: {shown}') and line.endswith(' bytes: ok\n'), line


@case
def a_damaged_page_and_a_damaged_checksum_are_one_finding_each():
    for owner in 'page', 'checksum':
        with scratch() as directory:
            column = column_of(data('example.root'), 'event')['column']
            copy, item = flipped(directory, 'example.root', owner, 'event', column)
            result = verify('--json', copy)
            same(result.returncode, 5)
            finding, summary = lines_of(result)
            same((finding['finding'], finding['status']), ('damaged', 'checksum mismatch'))
            same([finding[key] for key in ('file', 'dataset', 'field', 'column', 'cluster', 'page', 'count')],
                 [str(copy), 'Events', 'event', column, item['cluster'], item['page'], 1])
            assert finding['expected'] != finding['found'], finding
            if owner == 'page':
                same(finding['file_offset'], item['file_offset'])
            same((summary['result'], summary['damaged'], summary['pages']), ('damaged', 1, 163))


@case
def messages_have_place_expected_and_found_on_one_line():
    with scratch() as directory:
        column = column_of(data('example.root'), 'event')['column']
        copy, item = flipped(directory, 'example.root', 'page', 'event', column)
        result = verify(copy)
        finding, summary = result.stdout.decode().splitlines()
        for part in (f'{copy}: damaged: Events: ', 'field event', f'column {column}',
                     f'page {item["page"]} of',
                     'expected ', 'found ', f'byte {item["file_offset"]}'):
            assert part in finding, (part, finding)
        assert summary.endswith('1 damaged'), summary
        same(result.stderr, b'')


@case
def warnings_are_counted_and_leave_the_status():
    with scratch() as directory:
        for count, columns in (1, {'one': [b'\xff', b'a']}), (2, {'one': [b'\xff'], 'two': [b'a\xff']}):
            source = write_strings(directory / f'{count}.root', columns)
            result = verify(source)
            shown = result.stdout.decode().splitlines()[-1]
            same((result.returncode, shown.split(' bytes: ')[1]),
                 (0, f'ok, {count} warning{"s" * (count > 1)}'))


@case
def a_damaged_page_list_is_one_finding():
    with scratch() as directory:
        copy = flipped(directory, 'example.root', 'page list')[0]
        result = verify('--json', copy)
        finding, summary = lines_of(result)
        same((result.returncode, summary['damaged'], finding['finding']), (5, 1, 'damaged'))
        same((finding['dataset'], 'cluster_group' in finding, 'column' in finding), ('Events', True, False))
        assert 0 < summary['pages'] < 163, summary


@case
def datasets_that_vanish_from_a_list_of_keys_are_reported():
    """In verify, in file.json and in directories of the tree: the list's count says two, of four
    keys."""
    with scratch() as directory:
        good = data('dirs_and_cycles.root')
        container = json.loads(output(NTUPLE, 'cat', good, 'file.json'))
        content = bytearray(good.read_bytes())
        place = container['directories'][0]['key_list']['file_offset']
        place += content[place + 15]  # after the key before the list
        same(int.from_bytes(content[place:place + 4], 'big'), len(container['directories'][0]['keys']),
             'the count')
        content[place:place + 4] = (2).to_bytes(4, 'big')
        copy = directory / 'copy.root'
        copy.write_bytes(content)
        expected = sorted((item['name'], item['cycle']) for item in container['datasets'])
        expected.remove(('top', 2))  # which is listed before the older cycle
        result = verify('--json', copy)
        same(result.returncode, 5)  # datasets outside of any list have no directory
        same(sorted(line['dataset'] for line in lines_of(result)[:-1]), ['inner', 'inner~2', 'top;1'])
        shown = json.loads(output(NTUPLE, 'cat', copy, 'file.json'))['datasets']
        same(sorted((item['name'], item['cycle']) for item in shown if 'error' in item), expected)


@case
def datasets_of_one_name_are_distinguished():
    """By their directories and cycles, also in layout.jsonl and in diff."""
    with scratch() as directory:
        good, copy = data('dirs_and_cycles.root'), directory / 'copy.root'
        shutil.copy(good, copy)
        expected = [item['path'] for item in json.loads(output(NTUPLE, 'cat', good, 'file.json'))['datasets']]
        same(expected, ['top', 'top;1', 'run 1.5/inner', 'run 1.5/deeper/inner'])
        pages = {line['file_offset']: line for line in cat_lines(good, 'layout.jsonl')
                 if line['owner'] == 'page'}
        for path in expected:
            page = cat_lines(good, f'{path}/number/column.0/pages.jsonl')[0]
            same(pages[page['file_offset']]['dataset'], path)
            flip(copy, page['file_offset'], 0x01)
        damaged = [line['dataset'] for line in lines_of(verify('--json', copy))
                   if line.get('finding') == 'damaged']
        same(sorted(damaged), sorted(expected))
        shown, message = verify(copy).stdout.decode(), command(NTUPLE, 'diff', good, copy).stderr.decode()
        for path in expected:
            same(shown.count(f'{copy}: damaged: {path}: '), 1, shown)
            same(message.count(f'{copy}: {path}: '), 1, message)


@case
def the_exit_status_distinguishes_damaged_unreadable_and_unknown():
    with scratch() as directory:
        cut = directory / 'cut.root'
        cut.write_bytes(data('example.root').read_bytes()[:40000])
        text = directory / 'text.root'
        text.write_text('no RNTuple')
        for path, status, word in (cut, 5, 'damaged'), (text, 3, 'unknown format'), \
                (directory / 'missing', 2, 'unreadable'):
            result = verify('--json', path)
            same(result.returncode, status, path)
            same([line['result'] for line in lines_of(result)], [word])
            same(result.stderr.count(b'\n'), 1)
        result = verify(text, data('empty.root'), cut)
        same((result.returncode, result.stdout.count(b'\n')), (3, 1),
             'the first failure decides, the others are tried')


@case
def quiet_prints_nothing():
    result = verify('-q', data('damaged_page.root'), data('example.root'))
    same((result.returncode, result.stdout, result.stderr), (5, b'', b''))


@case
def findings_are_the_same_with_any_number_of_threads():
    expected = verify('--json', '--threads=1', data('damaged_page.root'), data('types.root')).stdout
    for threads in 2, 3, 8:
        same(verify('--json', f'--threads={threads}', data('damaged_page.root'), data('types.root')).stdout,
             expected)


def on_a_terminal(*arguments):
    """Standard output, and what a terminal at standard error shows."""
    master, slave = pty.openpty()
    process = subprocess.Popen([NTUPLE, *map(str, arguments)], stdout=subprocess.PIPE, stderr=slave,
                               stdin=subprocess.DEVNULL)
    os.close(slave)
    text = process.communicate()[0]
    shown = b''
    try:
        while block := os.read(master, 4096):
            shown += block
    except OSError:
        pass
    os.close(master)
    return text, shown


@case
def a_short_check_draws_no_bar():
    """test_ntuple.py tests that of a long one."""
    began = time.monotonic()
    text, shown = on_a_terminal('verify', data('types.root'))
    same(text, verify(data('types.root')).stdout)
    if time.monotonic() - began < 1:
        same(shown, b'')
    same(on_a_terminal('verify', '-q', data('types.root')), (b'', b''))


def a_folder(directory):
    """Two valid files, a truncated one, one of no known format, and a link to a parent."""
    (directory / 'below').mkdir()
    shutil.copy(data('example.root'), directory)
    shutil.copy(data('types.root'), directory / 'below')
    (directory / 'below' / 'cut.root').write_bytes(data('example.root').read_bytes()[:5000])
    (directory / 'notes.txt').write_text('Nothing of interest.\n')
    (directory / 'below' / 'loop').symlink_to(directory)
    return directory


@case
def a_folder_is_verified_with_all_that_is_in_it():
    with scratch() as directory:
        folder = a_folder(directory)
        result = command(NTUPLE, 'verify', folder)
        same(result.returncode, 5, result.stderr)
        same([line.split(': ')[0] for line in result.stdout.decode().splitlines()],
             [f'{folder}/below/types.root', f'{folder}/example.root'])
        message = result.stderr.decode()
        assert message.startswith(f'ntuple: {folder}/below/cut.root: ') and message.count(
                'cut.root') == 1, message
        (folder / 'below' / 'cut.root').unlink()
        same(command(NTUPLE, 'verify', '-q', folder).returncode, 0)
        for path in folder / 'example.root', folder / 'below' / 'types.root':
            path.unlink()
        result = command(NTUPLE, 'verify', folder)
        same(result.returncode, 3)
        same(result.stderr.decode(), f'ntuple: {folder}: this directory has no file of a known format\n')


@case
def a_folder_is_inspected_file_by_file():
    with scratch() as directory:
        folder = a_folder(directory)
        result = command(NTUPLE, 'inspect', folder)
        same(result.returncode, 5, result.stderr)
        files = [line.split(maxsplit=1)[1] for line in result.stdout.decode().splitlines()
                 if line.startswith('file ')]
        same(sorted(files), [f'{folder}/below/types.root', f'{folder}/example.root'])
        assert 'below/cut.root: ' in result.stderr.decode(), result.stderr
        one = output(NTUPLE, 'inspect', folder / 'example.root').decode()
        assert one in result.stdout.decode(), 'what is said of a file is the same'
        result = command(NTUPLE, 'inspect', '--json', folder, 'below')
        same(json.loads(result.stdout)['file'], f'{folder}/below/types.root')


@case
def inspect_describes_every_column():
    document = inspect(data('example.root'))
    same((document['schema'], document['file_bytes']), ('ntuplefs.inspect/1',
                                                        data('example.root').stat().st_size))
    events = document['datasets'][0]
    same([events[key] for key in ('name', 'entries', 'clusters', 'pages')], ['Events', 1000, 4, 160])
    for column in events['columns']:
        path = f'Events/{column["field"]}'
        index = sum(other['field'] == column['field'] and other['column'] < column['column']
                    for other in events['columns'])
        pages = cat_lines(data('example.root'), f'{path}/column.{index}/pages.jsonl')
        for key in 'elements', 'stored_bytes', 'packed_bytes', 'decoded_bytes':
            same(column[key], sum(page[key] for page in pages), f'{path} {key}')
        same(column['pages'], len(pages))
    for key in 'stored_bytes', 'packed_bytes', 'pages', 'elements':
        same(events[key], sum(column[key] for column in events['columns']), key)


@case
def inspect_counts_pages_that_columns_share_once_where_it_says_so():
    for name in 'types.root', 'compression_none.root':
        dataset, = inspect(data(name))['datasets']
        ranges = cat_lines(data(name), 'layout.jsonl')
        once = sum(item['stored_bytes'] for item in ranges if item['owner'] == 'page')
        same(dataset['stored_once_bytes'], once, name)
        same(dataset['stored_once_bytes'] < dataset['stored_bytes'], name == 'types.root', name)
        text = output(NTUPLE, 'inspect', data(name)).decode().splitlines()
        share = 100 * once / data(name).stat().st_size
        expected = [f'stored once {once}, counting each shared page once'.split()][:name == 'types.root']
        expected.append(f'share {share:.1f}% of the file'.split())
        same([line.split() for line in text if 'stored once' in line or line.startswith('share')], expected)


@case
def inspect_sorts_by_any_key():
    unsorted = inspect(data('example.root'), 'Events')['datasets'][0]['columns']
    for key in unsorted[0]:
        columns = inspect(f'--sort={key}', data('example.root'), 'Events')['datasets'][0]['columns']
        values = [column[key] for column in columns]
        downwards = not isinstance(values[0], str) and key != 'column'
        same(values, sorted(values, reverse=downwards), key)
        same(sorted(column['column'] for column in columns), [column['column'] for column in unsorted])
    same(inspect('--sort=stored', data('example.root')), inspect('--sort=stored_bytes', data('example.root')))
    result = command(NTUPLE, 'inspect', '--sort=colour', data('example.root'))
    same((result.returncode, b'stored, packed, decoded' in result.stderr), (1, True))


@case
def inspect_prints_aligned_columns():
    text = output(NTUPLE, 'inspect', data('example.root'), 'Events').decode().splitlines()
    start = text.index('') + 1
    table = text[start:]
    place = table[0].index('STORED') + len('STORED')
    same(len(table), 1 + 40 + 1)
    for line in table[1:]:
        assert line[place - 1].isdigit() and line[place] == ' ', line
    same(table[1 + 1].split()[1:3], ['event', 'SplitUInt64'])


@case
def inspect_of_a_field_is_of_what_is_below():
    columns = inspect(data('example.root'), 'Events/muons')['datasets'][0]['columns']
    same([column['field'] for column in columns],
         ['muons', 'muons/_0/pt', 'muons/_0/eta', 'muons/_0/phi', 'muons/_0/charge'])


run(needs_fuse=False)
