# SPDX-License-Identifier: MIT
"""Files without a dataset that opens can be inspected: their container, and their envelopes as
stored."""
import json
import os

from harness import (NTUPLE, Foreground, case, cat_lines, command, data, errors_of, flip, lines, mounted,
                     ntuplefs, output,
                     run, same, scratch)

GOOD = 'compression_zstd.root'
SHOW = '-o', 'broken=show'
CONTAINER = {'error.json', 'file.json', 'keys.jsonl', 'layout.jsonl', 'layout.svg', 'streamer_info.json'}


def range_of(owner):
    item = next(item for item in cat_lines(data(GOOD), 'layout.jsonl') if item['owner'] == owner)
    return item['file_offset'], item['stored_bytes']


def write_flipped(directory, offset):
    path = directory / 'broken.root'
    path.write_bytes(data(GOOD).read_bytes())
    flip(path, offset)
    return path, path.read_bytes()


def write_renamed(directory):
    """A ROOT file without a key of an anchor's class."""
    path = directory / 'other.root'
    path.write_bytes(data(GOOD).read_bytes().replace(b'ROOT::RNTuple', b'ROOT::RNothin'))
    return path


def listed(path):
    return set(os.listdir(path)) - {'.ntuplefs'}


@case
def envelopes_and_anchor_are_shown_as_stored_whichever_is_damaged():
    for owner in 'anchor', 'header', 'footer':
        with scratch() as directory:
            offset, stored_bytes = range_of(owner)
            # an anchor ends with its checksum
            at = stored_bytes - 1 if owner == 'anchor' else stored_bytes // 2
            path, content = write_flipped(directory, offset + at)
            with mounted(path, options=SHOW) as top:
                same(listed(top), CONTAINER | {'compressed'})
                same(listed(top / 'compressed'), {'error.json', 'anchor.raw', 'header.raw', 'footer.raw'})
                for kind in 'anchor', 'header', 'footer':
                    at, size = range_of(kind)
                    same((top / f'compressed/{kind}.raw').stat().st_size, size)
                    same((top / f'compressed/{kind}.raw').read_bytes(), content[at:at + size], kind)
                for error in 'error.json', 'compressed/error.json':
                    error = json.loads((top / error).read_text())
                    assert error['expected'] and error['found'] and error['expected'] != error['found'], error
                    same(error['file_offset'], offset, owner)
                same([item['name'] for item in json.loads((top / 'file.json').read_text())['datasets']],
                     ['compressed'])
                same(lines(top / 'keys.jsonl'), cat_lines(data(GOOD), 'keys.jsonl'))
                shown = [(item['file_offset'], item['stored_bytes']) for item in lines(top / 'layout.jsonl')]
                same(sum(size for _, size in shown), len(content))
                assert {range_of(kind) for kind in ('anchor', 'header', 'footer')} <= set(shown), shown


@case
def without_the_option_the_mount_is_refused_and_names_it():
    with scratch() as directory:
        path = write_flipped(directory, range_of('header')[0] + 20)[0]
        for refused, status in (path, 5), (write_renamed(directory), 3):
            for options in (), ('-o', 'broken=refuse'):
                result = ntuplefs(*options, refused, directory / 'mnt')
                same(result.returncode, status, result.stderr)
                assert result.stderr.decode().endswith(
                    '; -o broken=show shows what is stored\n'), result.stderr
                assert not (directory / 'mnt').exists()
        (directory / 'text').write_text('no container of anything')
        for options in (), SHOW:
            result = ntuplefs(*options, directory / 'text', directory / 'mnt')
            same(result.returncode, 3)
            assert b'broken=' not in result.stderr, result.stderr


@case
def what_is_broken_is_reported_once_when_it_is_mounted():
    with scratch() as directory:
        path = write_flipped(directory, range_of('footer')[0] + 20)[0]
        for source, word, where in (path, 'footer at offset', 'compressed'), (write_renamed(directory),
                'RNothin', ''):
            with Foreground(source, options=SHOW) as mount:
                for name in listed(mount.mountpoint):
                    os.stat(mount.mountpoint / name)
                messages, errors = mount.messages(), errors_of(mount.mountpoint)
            same((len(messages), len(errors)), (1, 1), f'{messages} {errors}')
            assert word in messages[0] and word in errors[0]['what'], (messages, errors)
            same(errors[0]['path'], where)


@case
def keys_of_a_file_without_an_rntuple_are_listed():
    with scratch() as directory:
        path = write_renamed(directory)
        with mounted(path, options=SHOW) as top:
            same(listed(top), CONTAINER)
            assert '1 ROOT::RNothin' in json.loads((top / 'error.json').read_text())['what']
            assert 'ROOT::RNothin' in {key.get('class') for key in lines(top / 'keys.jsonl')}
            same(json.loads((top / 'file.json').read_text())['datasets'], [])


@case
def of_a_file_that_was_cut_there_is_what_is_left():
    with scratch() as directory:
        path = directory / 'cut.root'
        content = data(GOOD).read_bytes()
        path.write_bytes(content[:8000])
        with mounted(path, options=SHOW) as top:
            same(listed(top), CONTAINER - {'streamer_info.json'})
            same(json.loads((top / 'file.json').read_text())['missing_bytes'], len(content) - 8000)
            assert 'is truncated' in json.loads((top / 'error.json').read_text())['what']
            whole = cat_lines(data(GOOD), 'keys.jsonl')
            left = [key for key in lines(top / 'keys.jsonl') if key['record'] == 'key']
            same(left, [key for key in whole if key['record'] == 'key' and key['file_offset']
                        + key['key_bytes'] <= 8000])
            assert len(left) > 2, left


@case
def a_folder_shows_its_broken_files_where_that_is_requested():
    with scratch() as directory:
        folder = directory / 'folder'
        folder.mkdir()
        write_flipped(folder, range_of('header')[0] + 20)
        write_renamed(folder)
        (folder / 'notes.txt').write_text('not shown')
        with mounted(folder) as top:
            same(listed(top), {'broken.root'})
            same(listed(top / 'broken.root'), {'error.json'})
        with mounted(folder, options=SHOW) as top:
            same(listed(top), {'broken.root', 'other.root'})
            same(listed(top / 'broken.root'), CONTAINER | {'compressed'})


@case
def the_tool_shows_them_always_and_says_what_is_broken():
    with scratch() as directory:
        offset, stored_bytes = range_of('header')
        path, content = write_flipped(directory, offset + 20)
        for arguments in ('ls', path), ('tree', path), ('stat', path, 'compressed'), ('cat', path,
                'compressed/header.raw'), \
                ('cp', '-r', path, '/', directory / 'copy'):
            result = command(NTUPLE, *arguments)
            same(result.returncode, 0, arguments)
            same(result.stderr.count(str(path).encode()), 1, result.stderr)
            assert b'header at offset' in result.stderr and result.stderr.count(b'\n') == 1, result.stderr
        same(output(NTUPLE, 'cat', path, 'compressed/header.raw'), content[offset:offset + stored_bytes])
        same((directory / 'copy/compressed/header.raw').read_bytes(), content[offset:offset + stored_bytes])
        for name in 'verify', 'inspect':
            same(command(NTUPLE, name, path).returncode, 5, name)
        for arguments in ((path, 'compressed/rows.jsonl'),
                          (directory, 'broken.root/compressed/rows.jsonl')):
            result = command(NTUPLE, 'cat', *arguments)
            same(result.returncode, 5, result.stderr)
            assert b'compressed/rows.jsonl: header at offset' in result.stderr, result.stderr
        for name in 'head', 'schema', 'describe', 'inspect':
            result = command(NTUPLE, name, directory, 'broken.root/compressed')
            same(result.returncode, 5, result.stderr)
            assert b'broken.root/compressed: header at offset' in result.stderr, result.stderr


run()
