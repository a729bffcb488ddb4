#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a TTree has elsewhere: friends, which are other trees, and baskets in another file
(TBranch::SetFile). Values are those that ROOT found."""
import errno
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

import harness
from harness import DATA, NTUPLE, Foreground, case, command, output, run, same, scratch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'support'))
from tree_values import compare_trees  # noqa: E402

FRIENDS, SPLIT = DATA / 'trees/trees_friends.root', DATA / 'trees/trees_other_file.root'
EXIT_UNREAD = 10


def document(*arguments):
    return json.loads(output(NTUPLE, 'cat', *arguments))


# ---- friends ----

@case
def a_friend_is_a_field_only_on_request():
    fields = output(NTUPLE, 'ls', FRIENDS, 'events').decode().split()
    same({'calibration', 'more', 'i~2'} & {*fields}, set())
    same([friend['is_shown'] for friend in document(FRIENDS, 'events/ntuple.json')['friends']], [False] * 6)
    fields = output(NTUPLE, 'ls', '--friends', FRIENDS, 'events').decode().split()
    same({'calibration', 'more', 'i~2', 'shorter', 'indexed', 'far'} & {*fields},
         {'calibration', 'more', 'i~2'})


@case
def fields_of_a_friend_have_the_values_of_its_tree():
    """Entry by entry, as ROOT reads them: here of numbers, lists, strings and what has an alias or
    a name that a branch has."""
    values = {tree['path']: tree['branches'] for tree
              in json.loads(FRIENDS.with_suffix('.json').read_text())['trees']}
    with scratch() as directory:
        output(NTUPLE, 'cp', '-r', '--friends', FRIENDS, 'events', directory)
        rows = [json.loads(line) for line in (directory / 'events/rows.jsonl').read_text().splitlines()]
        same([(row['more']['value'], row['i~2']['value']) for row in rows],
             [(i / 2, i * 2) for i in range(20)])
        for field, tree in ('calibration', 'calibration'), ('more', 'deep/extra'), ('i~2', 'rival'):
            shutil.copy(directory / 'events/ntuple.json', directory / 'events' / field)
            reported, found = directory / 'told.json', []
            reported.write_text(json.dumps({'trees': [{'path': f'events/{field}', 'entries': 20,
                                                   'branches': values[tree]}]}))
            compare_trees(reported, directory, lambda what, error: found.append((what, error)))
            same([(what, error) for what, error in found if error], [])
            same(len(found) > 0, True)

@case
def a_friend_that_is_not_joined_is_named_with_the_reason():
    reasons = {'shorter': '5 entries', 'indexed': 'index', 'far': 'another file'}
    result = command(NTUPLE, 'schema', '--friends', FRIENDS, 'events')
    same(result.returncode, 0)
    for path in 'events/ntuple.json', 'events/tree.json':
        reported = {friend['name']: friend.get('reason', '') for friend
                in document('--friends', FRIENDS, path)['friends']}
        for name, reason in reasons.items():
            assert reason in reported[name], (path, reported)
            assert any(f'friend {name}' in line and reason in line for line
                       in result.stderr.decode().splitlines()), result.stderr
        same([reported[name] for name in ('calibration', 'more', 'i')], [''] * 3)
    with Foreground(FRIENDS, '-o', 'friends') as mount:
        (mount.mountpoint / 'events/ntuple.json').read_bytes()
        for name in reasons:
            assert any(f'friend {name}' in message for message in mount.messages()), mount.messages()


@case
def documents_of_a_friends_fields():
    def documents(path):
        return output(NTUPLE, 'ls', '--friends', FRIENDS, path).decode().split()

    same('branch.json' in documents('events/more'), False)
    same('branch.json' in documents('events/more/value'), True)
    same(document('--friends', FRIENDS, 'events/more/field.json')['friend'], 'deep/extra')
    for path, alone in ('events/more/value', 'deep/extra/value'), ('events/calibration/list',
                                                                   'calibration/list'):
        branch, own = (document('--friends', FRIENDS, f'{path}/branch.json') for path in (path, alone))
        same(branch, own, path)
    pages, own = (json.loads(output(NTUPLE, 'cat', '--friends', FRIENDS, f'{path}/column.0/pages.jsonl'))
                  for path in ('events/more/value', 'deep/extra/value'))
    same({**pages, 'cluster': 0}, own)


@case
def the_layout_with_friends_owns_every_byte_once():
    ranges = [json.loads(line) for line in output(NTUPLE, 'cat', '--friends', FRIENDS,
                                                  'layout.jsonl').splitlines()]
    end = 0
    for item in ranges:
        same(item['file_offset'], end)
        end += item['stored_bytes']
    same(end, FRIENDS.stat().st_size)
    same(command(NTUPLE, 'verify', '--friends', FRIENDS).returncode, 0)


@case
def a_file_by_another_name_still_is_the_file_of_its_friends():
    """ROOT stored the name by which the file was made for the friend of a pointer."""
    with scratch() as directory:
        shutil.copy(FRIENDS, directory / 'renamed.root')
        same([friend['is_shown'] for friend in document('--friends', directory / 'renamed.root',
                                                         'events/ntuple.json')['friends']],
             [True] * 3 + [False] * 3)


@case
def friends_of_the_files_of_a_chain_are_joined():
    with scratch() as directory:
        for name in 'a.root', 'b.root':
            shutil.copy(FRIENDS, directory / name)
        rows = [json.loads(line) for line in output(NTUPLE, 'cat', '--chain', '--friends',
                                                    directory / '*.root', 'events/rows.jsonl').splitlines()]
        same([row['more']['value'] for row in rows], [i / 2 for i in range(20)] * 2)


# ---- baskets in another file ----

def message_of(field, source, *options):
    return document(*options, source, f'split/{field}/field.json').get('unreadable', '')


@case
def baskets_in_another_file_are_read_below_a_base():
    for base in DATA, f'{DATA}/trees/':
        with scratch() as directory:
            output(NTUPLE, 'cp', '-r', f'--bases={base}', SPLIT, '/', directory / 'copy')
            found = []
            compare_trees(SPLIT.with_suffix('.json'), directory / 'copy', lambda what,
                          error: found.append((what, error)))
            same([(what, error) for what, error in found if error], [], base)
            assert found
    same(command(NTUPLE, 'verify', f'--bases={DATA}', SPLIT).returncode, 0)
    page, *_ = [json.loads(line) for line in output(NTUPLE, 'cat', f'--bases={DATA}', SPLIT,
                                                    'split/i/column.0/pages.jsonl').splitlines()]
    same(Path(page['file']).name, 'trees_other_file.baskets')
    assert 'bases' in message_of('i', SPLIT), message_of('i', SPLIT)
    same(command(NTUPLE, 'verify', SPLIT).returncode, EXIT_UNREAD)


@case
def a_mount_reads_the_other_file_and_notices_that_it_changes():
    with scratch() as directory:
        source, other = (Path(shutil.copy(path, directory)) for path
                         in (SPLIT, SPLIT.with_suffix('.baskets')))
        with Foreground(source, '-o', f'bases={directory},direct_io=on') as mount:
            values = mount.mountpoint / 'split/i/data.bin'
            same(harness.pread(values, 4, 4 * 10), (30).to_bytes(4, 'little'))
            with open(other, 'r+b') as file:
                file.write(b'x')
            os.utime(other, (1, 1))
            harness.fails(errno.ESTALE, harness.pread, values, 4, 4 * 10)
            same(harness.pread(mount.mountpoint / 'split/n/data.bin', 4, 4 * 10), (1).to_bytes(4, 'little'))


def renamed(directory, name):
    """A copy whose branch names another file, with as many bytes."""
    content, old = SPLIT.read_bytes(), b'trees_other_file.baskets'
    assert len(name) == len(old), name
    (directory / 'main').mkdir()
    copy = directory / 'main/copy.root'
    copy.write_bytes(content.replace(old, name.encode()))
    return copy


@case
def names_are_relative_to_the_file_and_lead_out_of_no_base():
    # (name, where the file is, the base, what is told: empty if it is read)
    def tried(name, place, base, words, link=None):
        with scratch() as directory:
            directory = directory.resolve()
            source = renamed(directory, name)
            for made in directory / base, (directory / place).parent:
                made.mkdir(parents=True, exist_ok=True)
            shutil.copy(SPLIT.with_suffix('.baskets'), directory / place)
            if link:
                (directory / link).parent.mkdir(parents=True, exist_ok=True)
                (directory / link).symlink_to(directory / place)
            reported = message_of('i', source, f'--bases={directory / base}')
            same(words in reported if words else reported, True if words else '', (name, reported))

    other = '../other/a_file.baskets_'
    tried(other, 'other/a_file.baskets_', 'other', '')
    tried(other, 'other/a_file.baskets_', '', '')
    tried(other, 'other/a_file.baskets_', 'main', 'not below')
    tried(other, 'other/a_file.baskets_', 'oth', 'not below')
    tried('../missing/file.baskets_', 'other/a_file.baskets_', '', 'No such file')
    tried('root://host/file.baskets', 'other/a_file.baskets_', '', 'local')
    tried(other, 'secret/a_file', 'other', 'not below', link='other/a_file.baskets_')
    tried(other, 'other/inner/a_file', 'other', '', link='other/a_file.baskets_')


@case
def an_absolute_name_is_read_below_a_base():
    with tempfile.TemporaryDirectory(prefix='', dir='/tmp') as directory:  # the name in the file is short
        place = Path(directory).resolve()
        name = 'b' * (len('trees_other_file.baskets') - len(os.fspath(place)) - 1)
        if not name:
            raise harness.Skip('the path of temporary directories is too long for the name in the file')
        source = renamed(place, f'{place}/{name}')
        shutil.copy(SPLIT.with_suffix('.baskets'), place / name)
        same(message_of('i', source, f'--bases={place}'), '')
        assert 'not below' in message_of('i', source, f'--bases={place}/main')


run(needs_fuse=False)
