#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Datasets of Lance that contradict themselves in one thing: messages name the file, the
fragment and the position, and unrelated parts are still readable."""
import contextlib
import json
import os
import shutil
import struct
import sys
from pathlib import Path

from harness import DATA, NTUPLE, case, command, need, run, same, scratch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'support'))
from lance_editor import (COLUMN_INDICES, DELETED_ROWS, DELETION_FILE, FIELD_IDS, FIELDS, FILES, FRAGMENTS,
                          MAJOR_VERSION,  # noqa: E402
                          MINOR_VERSION, PATH, PHYSICAL_ROWS, READER_FLAGS, WRITER_FLAGS, ManifestEditor,
                          items_of)

DATASETS = DATA / 'lance_datasets'
ROWS = 2000  # of each of three fragments of blocks_2.1, where the field id counts them
ID, PARENT_ID, DELETION_TYPE, DELETION_VERSION = 3, 4, 1, 2


@contextlib.contextmanager
def copied(name):
    with scratch() as directory:
        yield Path(shutil.copytree(DATASETS / name, directory / 'set'))


def cat(source, path, *options):
    """The content of a file of the tree, or why it cannot be read."""
    result = command(NTUPLE, 'cat', *options, source, f'set/{path}')
    return result.stdout if result.returncode == 0 else result.stderr.decode()


def assert_reported(message, words):
    same(isinstance(message, str), True, f'{words}: it was read')
    same([word for word in words if word not in message], [], message)


def each(table):
    """A case that tries all rows of a table, and reports all that fail."""
    def decorated(function):
        def of_all():
            problems = []
            same(len(table) > 0, True)
            for row in table:
                try:
                    function(*row)
                except (AssertionError, OSError, ValueError) as error:
                    problems.append(f'{row[0]}: {error}')
            same(problems, [])
        of_all.__name__ = function.__name__
        return case(of_all)
    return decorated


def changing(path, value):
    """Set a value at a path of the manifest; a function computes it from the old one. The last
    part of the path comes first."""
    def edit(editor):
        editor.change(path, value)
        editor.write()
    return edit


def data_file(*path):
    return (FRAGMENTS, 1), FILES, *path


def without_data_file(editor):
    fragment = items_of(editor.all_of(FRAGMENTS)[1])
    name = items_of(next(value for field, _, value in fragment if field == FILES))[0][2]
    os.unlink(editor.path.parent.parent / 'data' / os.fsdecode(name))


def with_cut_data_file(editor):
    fragment = items_of(editor.all_of(FRAGMENTS)[1])
    name = items_of(next(value for field, _, value in fragment if field == FILES))[0][2]
    os.truncate(editor.path.parent.parent / 'data' / os.fsdecode(name), 100)


# Changes of the second of three fragments, and the expected messages.
OF_A_FRAGMENT = [
    ('missing', without_data_file, ('data/', 'the data file is missing')),
    ('cut off', with_cut_data_file, ('data/', 'LANC')),
    ('above', changing(data_file(PATH), b'../data/x.lance'),
     ("data file '../data/x.lance'", 'is not inside data/')),
    ('absolute', changing(data_file(PATH), b'/etc/passwd'),
     ("data file '/etc/passwd'", 'is not inside data/')),
    ('nowhere', changing(data_file(PATH), b''), ("data file ''", 'is not inside data/')),
    ('with a zero', changing(data_file(PATH), b'x\0y'), ('data file', 'is not inside data/')),
    ('a directory', changing(data_file(PATH), b'../data'), ('is not inside data/',)),
    ('column beyond', changing(data_file(COLUMN_INDICES), b'\x07\x01'),
     ('data/', 'column 7 does not exist: the file has 2')),
    ('fewer columns', changing(data_file(COLUMN_INDICES), b'\x00'),
     ('.manifest', "data file '", 'column indices (one for each field id)', 'expected 2, found 1')),
    ('field twice', changing(data_file(FIELD_IDS), b'\x00\x00'),
     ('.manifest', "data file '", 'field 0 has two columns')),
    ('column of many', changing(data_file(COLUMN_INDICES), b'\x00\x80\x80\x80\x80\x10'),
     ('.manifest', "data file '", 'field 1 has the impossible column 4294967296')),
    ('rows', changing(((FRAGMENTS, 1), PHYSICAL_ROWS), 1999),
     ('data/', 'rows that the manifest declares', 'expected 1999, found 2000')),
    ('overlays', changing(((FRAGMENTS, 1), 11), b''), ('.manifest', 'cannot read overlays')),
    ('legacy', lambda editor: (editor.change(data_file(MAJOR_VERSION), 0),
                               editor.change(data_file(COLUMN_INDICES), None),
                               editor.change(data_file(MINOR_VERSION), 2), editor.write()),
     ('data/', 'version 2.1, but the manifest declares a legacy file')),
]


@each(OF_A_FRAGMENT)
def failures_of_a_fragment_affect_its_rows(_, edit, words):
    with copied('blocks_2.1') as source:
        edit(ManifestEditor(source))
        assert_reported(cat(source, 'id/data.bin'), ('fragment 1: ', *words))
        fragments = [json.loads(line) for line in cat(source, 'fragments.jsonl').splitlines()]
        for number, first in (0, 0), (2, 2 * ROWS):
            at = fragments[number]['first_entry']
            rows = command(NTUPLE, 'cat', f'--rows={at}:{at + ROWS}', source, 'set/id')
            same(rows.stdout.split() == [str(row).encode() for row in range(first, first + ROWS)], True,
                 rows.stderr)


@case
def rows_of_a_fragment_of_which_no_field_is_read_fail():
    """Rows without any field would hide it."""
    with copied('blocks_2.1') as source:
        changing(((FRAGMENTS, 1), 11), b'')(ManifestEditor(source))
        for path in 'rows.jsonl', 'table.csv':
            assert_reported(cat(source, path), ('fragment 1: ', 'cannot read overlays'))


@case
def a_column_that_is_not_there_leaves_the_others():
    with copied('blocks_2.1') as source:
        changing(data_file(COLUMN_INDICES), b'\x07\x01')(ManifestEditor(source))
        same(cat(source, 'text/data.bin'), ''.join(map(str, range(3 * ROWS))).encode())


def lengthen_pages(path, field_id, batches):
    """A legacy file whose page table gives a field one row more, as writers of slices of
    structures did."""
    content = bytearray(path.read_bytes())
    at, = struct.unpack_from('<Q', content, len(content) - 16)
    size, = struct.unpack_from('<I', content, at)
    table = next(value for number, _, value in items_of(bytes(content[at + 4:at + 4 + size])) if number == 3)
    for batch in range(batches):
        length_at = table + (field_id * batches + batch) * 16 + 8
        length, = struct.unpack_from('<Q', content, length_at)
        content[length_at:length_at + 8] = struct.pack('<Q', length + 1)
    path.write_bytes(content)


@case
def a_slice_of_structures_takes_its_field_and_no_other():
    with copied('fragments_0.1') as source:
        before = [json.loads(line) for line in cat(source, 'rows.jsonl').splitlines()]
        fields = json.loads(cat(source, 'schema.json'))['message']['fields']
        structure, members = next(each['id'] for each in fields if each['name'] == 'structure'), ('x', 'word')
        editor = ManifestEditor(source)
        name = items_of(next(value for number, _, value in items_of(editor.all_of(FRAGMENTS)[1])
                             if number == FILES))[0][2]
        for each in fields:
            if each['parent_id'] == structure:
                same(each['name'] in members, True)
                lengthen_pages(source / 'data' / os.fsdecode(name), each['id'], 1)
        shown = json.loads(cat(source, 'structure/field.json'))
        same(shown['kind'], 'unreadable')
        assert_reported(shown['unreadable'], ('fragment 1: data/',
                                         'batch 0 has 1 rows, but the members of this sliced structure '
                                         'have 2,'))
        rows = [json.loads(line) for line in cat(source, 'rows.jsonl').splitlines()]
        same(rows, [{name: value for name, value in row.items() if name != 'structure'} for row in before])


def field(number, *path):
    return (FIELDS, number), *path


def cut(size):
    def edit(editor):
        os.truncate(editor.path, size if size >= 0 else editor.path.stat().st_size + size)
    return edit


def patched(at, new):
    """Bytes after the manifest's message, or the length before it."""
    def edit(editor):
        content = bytearray(editor.path.read_bytes())
        at_byte = at if at >= 0 else len(content) + at
        content[at_byte:at_byte + len(new)] = new
        editor.path.write_bytes(content)
    return edit


def renamed(editor):
    shutil.copy(editor.path, editor.path.with_name(f'{2**64 - 1 - 77}.manifest'))


def with_length(editor):
    patched(editor.at, struct.pack('<I', 1 << 30))(editor)


# Changes of the manifest, and the expected messages for the dataset.
OF_A_MANIFEST = [
    ('empty', cut(0), ('too few for a manifest',)),
    ('half', cut(200), ('LANC',)),
    ('no end', cut(-1), ('LANC',)),
    ('place', patched(-16, struct.pack('<Q', 1 << 40)),
     ('the position of the manifest, 1099511627776, is outside the file',)),
    ('length', with_length, ('1073741824 bytes does not end before',)),
    ('message', lambda editor: patched(editor.at + 4, b'\x0f')(editor), ('Manifest',)),
    ('number', renamed, ("version in the manifest's name", 'expected 77, found 3')),
    ('overlays', changing((READER_FLAGS,), 64 | 256),
     ('cannot read files with the reader feature flag 64 (bit 6, data overlay files)',)),
    ('fragment tree', changing((READER_FLAGS,), 4096),
     ('cannot read files with the reader feature flag 4096 (bit 12, fragment tree)',)),
    ('independent columns', changing((READER_FLAGS,), 8192),
     ('feature flag 8192 (bit 13, independent covering columns of indices)',)),
    ('statistics', changing((READER_FLAGS,), 65536),
     ('feature flag 65536 (bit 16, statistics seeds of zones)',)),
    ('unknown flag', changing((READER_FLAGS,), 1 << 18), ('feature flag 262144 (bit 18)', 'does not know')),
    ('the last flag', changing((READER_FLAGS,), 1 << 63),
     ('feature flag 9223372036854775808 (bit 63)', 'does not know')),
    ('fragments elsewhere', changing((22,), b'x'), ('cannot read its tree of fragments',)),
    ('id twice', changing(field(1, ID), 0), ('schema', 'field 1 has the id 0, like another field')),
    ('its own parent', changing(field(1, PARENT_ID), 1),
     ('schema', 'field 1: no field before it has the id of its parent, 1')),
    ('parent behind', changing(field(0, PARENT_ID), 1),
     ('schema', 'field 0: no field before it has the id of its parent, 1')),
    ('more rows than there can be', changing(((FRAGMENTS, 1), PHYSICAL_ROWS), 2**64 - 1),
     ('more than 2^63 - 1 entries',)),
]


@each(OF_A_MANIFEST)
def failures_of_a_manifest_have_its_name(_, edit, words):
    with copied('blocks_2.1') as source:
        editor = ManifestEditor(source)
        edit(editor)
        assert_reported(cat(source, 'id/data.bin'), ('.manifest', *words))
        same(len(cat(source, 'id/data.bin', '--version=2')), 2 * ROWS * 8, 'the version before it')


@each([(flags,) for flags in (1, 2, 4, 8, 16, 32, 128, 256, 512, 1024, 2048, 16384,
                              1 | 128 | 256 | 512 | 1024 | 2048 | 16384)])
def a_flag_that_changes_no_value_is_read_as_before(flags):
    """Includes those that Lance sets for indices, files of several versions, row lineage and
    managed blobs."""
    with copied('blocks_2.1') as source:
        expected = cat(source, 'rows.jsonl')
        same(expected.count(b'\n'), 3 * ROWS)
        editor = ManifestEditor(source)
        changing((READER_FLAGS,), flags)(editor)
        changing((WRITER_FLAGS,), flags)(editor)
        same(cat(source, 'rows.jsonl'), expected)


@each([('a hint to nothing', 'latest_version_hint.json', b'{"version":999}'),
       ('half a hint', 'latest_version_hint.json', b'{"ver'),
       ('no hint', 'latest_version_hint.json', None), ('what a writer left behind',
                                                       f'{2**64 - 10}.manifest_tmp', b'half'),
       ('another', '.tmp_99.manifest', b''), ('no number', 'x9.manifest', b''),
       ('a number with zeros', '099.manifest', b'')])
def what_is_no_version_changes_nothing(_, name, content):
    with copied('blocks_2.1') as source:
        path = source / '_versions' / name
        path.unlink() if content is None else path.write_bytes(content)
        same(len(cat(source, 'id/data.bin')), 3 * ROWS * 8)


TIMESTAMP, SECONDS, NANOSECONDS = 7, 1, 2


@each([('nanoseconds', (TIMESTAMP, NANOSECONDS), 10**9), ('seconds', (TIMESTAMP, SECONDS), 2**63 - 1),
       ('none', (TIMESTAMP,), None)])
def a_time_that_is_none_is_null(_, path, value):
    with copied('blocks_2.1') as source:
        same(json.loads(cat(source, 'versions.jsonl').splitlines()[-1])['timestamp'].startswith('20'), True,
             'as it was written')
        changing(path, value)(ManifestEditor(source))
        same(json.loads(cat(source, 'versions.jsonl').splitlines()[-1])['timestamp'], None)
        same(len(cat(source, 'id/data.bin')), 3 * ROWS * 8)


SECTION, TRANSACTION_FILE = 23, 12

# Messages for the transaction; everything else is unchanged.
OF_A_TRANSACTION = [
    ('beyond', changing((SECTION,), 1 << 40), ('.manifest',
                                               'the position of the transaction, 1099511627776, is outside '
                                               'the file')),
    ('no length', changing((SECTION,), 1), ('.manifest', 'transaction')),
    ('another message', lambda editor: (editor.change((SECTION,), None),
                                        editor.change((TRANSACTION_FILE,), b'x'), editor.write(),
                                        (editor.path.parent.parent / '_transactions' / 'x').write_bytes(
                                                b'\x0f')),
     ('_transactions/x', 'Transaction')),
    ('missing', lambda editor: (editor.change((SECTION,), None), editor.change((TRANSACTION_FILE,), b'y'),
                                editor.write()),
     ('_transactions/y', 'the transaction is missing')),
    ('a path', lambda editor: (editor.change((SECTION,), None),
                               editor.change((TRANSACTION_FILE,), b'../../x'), editor.write()),
     ('.manifest', "'../../x'")),
]


@each(OF_A_TRANSACTION)
def failures_of_a_transaction_are_reported_when_it_is_read(_, edit, words):
    with copied('blocks_2.1') as source:
        edit(ManifestEditor(source))
        assert_reported(cat(source, 'transaction.json'), words)
        assert_reported(cat(source, 'transaction.bin'), words)
        same(len(cat(source, 'id/data.bin')), 3 * ROWS * 8)


@case
def a_version_without_a_transaction_or_indices_has_none():
    with copied('blocks_2.1') as source:
        editor = ManifestEditor(source)
        editor.change((SECTION,), None)
        editor.change((TRANSACTION_FILE,), None)
        editor.write()
        for part in 'transaction', 'indices':
            same(json.loads(cat(source, f'{part}.json')),
                 {'schema': f'ntuplefs.lance_{part}/1', 'message': None})
            same(cat(source, f'{part}.bin'), b'')


@case
def flags_for_writers_change_nothing():
    with copied('blocks_2.1') as source:
        changing((WRITER_FLAGS,), 1 << 40)(ManifestEditor(source))
        same(len(cat(source, 'id/data.bin')), 3 * ROWS * 8)


def deletion_file(source, editor):
    """Of the first fragment."""
    shown = dict((field, value) for field, _, value in items_of(editor.all_of(FRAGMENTS, DELETION_FILE)[0]))
    path, = source.glob(f'_deletions/0-{shown[DELETION_VERSION]}-*')
    return path


def of_deletion_file(change):
    def edit(source, editor):
        path = deletion_file(source, editor)
        content = change(bytearray(path.read_bytes()))
        path.unlink() if content is None else path.write_bytes(content)
    return edit


def of_manifest(path, value):
    return lambda source, editor: changing(((FRAGMENTS, 0), DELETION_FILE, *path), value)(editor)


OF_DELETIONS = [
    ('missing', 'deletions_2.1', of_deletion_file(lambda content: None),
     ('_deletions/0-', 'the deletion file is missing')),
    ('half', 'deletions_2.1', of_deletion_file(lambda content: content[:len(content) // 2]),
     ('_deletions/0-', 'ARROW1')),
    ('empty', 'deletions_2.1', of_deletion_file(lambda content: b''), ('_deletions/0-', 'ARROW1')),
    ('beyond', 'deletions_2.1', lambda source, editor: changing(((FRAGMENTS, 0), PHYSICAL_ROWS), 59)(editor),
     ('_deletions/0-', 'row 59 is deleted, but there are only 59')),
    ('count', 'deletions_2.1', of_manifest([DELETED_ROWS], 31),
     ('_deletions/0-', 'deleted rows that the manifest declares', 'expected 31, found')),
    ('kind', 'deletions_2.1', of_manifest([DELETION_TYPE], 2),
     ('.manifest', 'deletion file: ', 'unknown kind 2')),
    ('half a bitmap', 'many_deletions_2.2', of_deletion_file(lambda content: content[:1000]),
     ('_deletions/0-',)),
    ('no bitmap', 'many_deletions_2.2', of_deletion_file(lambda content: b'\0' * 64), ('_deletions/0-',)),
    ('counted bitmap', 'many_deletions_2.2', of_manifest([DELETED_ROWS], 31),
     ('_deletions/0-', 'that the manifest declares', 'expected 31, found')),
]


@each(OF_DELETIONS)
def failures_of_deletions_have_their_fragment(_, name, edit, words):
    with copied(name) as source:
        edit(source, ManifestEditor(source))
        assert_reported(cat(source, 'id/data.bin'), ('fragment 0: ', *words))
        fragments = [json.loads(line) for line in cat(source, 'fragments.jsonl').splitlines()]
        if len(fragments) > 1:
            at = fragments[1]['first_entry']
            rows = command(NTUPLE, 'cat', f'--rows={at}:{at + 1}', source, 'set/id')
            same(len(rows.stdout.split()), 1, rows.stderr)


@case
def a_row_that_is_deleted_twice_is_reported():
    pa, ipc = need('pyarrow'), need('pyarrow.ipc')
    with copied('deletions_2.1') as source:
        editor = ManifestEditor(source)
        of_manifest([DELETED_ROWS], 3)(source, editor)
        column = pa.record_batch([pa.array([7, 3, 7], pa.uint32())], names=['row_id'])
        with ipc.new_file(str(deletion_file(source, editor)), column.schema) as file:
            file.write(column)
        assert_reported(cat(source, 'id/data.bin'),
                        ('fragment 0: ', '_deletions/0-', 'row 7 is deleted twice'))


@case
def more_deleted_rows_than_there_are_are_reported_of_the_manifest():
    with copied('deletions_2.1') as source:
        of_manifest([DELETED_ROWS], 61)(source, ManifestEditor(source))
        assert_reported(cat(source, 'id/data.bin'), ('.manifest', 'fragment 0: ',
                                                 '61 rows are deleted, but there are only 60'))


if __name__ == '__main__':
    run()
