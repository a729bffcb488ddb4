# SPDX-License-Identifier: MIT
"""Lance files have no checksums: damage is noticed if the file contradicts itself. Each part of
a file is damaged in turn. A mount reports in errors.jsonl and in the log what `ntuple verify`
and `ntuple cat` report, with the column, the page and the position."""
import json
import struct
import sys
from pathlib import Path

from failures import TOLD, findings, read_everything
from harness import NTUPLE, Foreground, case, cat_lines, command, data, errors_of, output, run, same, scratch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'support'))
from lance_editor import PAGE_LENGTH, PAGE_OFFSETS, PAGE_SIZES, LanceEditor, message_of, varint  # noqa: E402


def damaged(directory, name, owner, at, new, **criteria):
    """A copy of a file with other bytes in the first range of the layout that has the given
    members; the range."""
    source, copy = data(f'lance_{name}.lance'), directory / 'copy.lance'
    for item in cat_lines(source, 'layout.jsonl'):
        if item['owner'] == owner and all(item.get(key) == value for key, value in criteria.items()):
            content = bytearray(source.read_bytes())
            place = item['file_offset'] + at + (item['stored_bytes'] if at < 0 else 0)
            content[place:place + len(new)] = new
            copy.write_bytes(content)
            return copy, item
    raise AssertionError(f'{name} has no {owner} {criteria}')


def assert_reported(copy, words, *beside):
    """For each field, the mount reports each cause that verify finds, once, except what only
    verify checks: levels next to a repetition index. cat reports one of them. `beside`: a valid
    file, if none opens."""
    found = findings(copy)
    assert any(all(word in finding['what'] for word in words) for finding in found), (words, found)
    with Foreground(copy, *beside) as mount:
        failed = read_everything(mount.mountpoint, False, without='column.')
        errors, messages = errors_of(mount.mountpoint), mount.messages()
    same(len(errors), len(messages), (errors, messages))
    same(len({error['what'] for error in errors}), len(errors), errors)
    reported = {tuple(error[key] for key in TOLD) for error in errors}
    same(reported, {tuple(finding[key] for key in TOLD) for finding in found
                if "the chunk's levels have" not in finding['what']})
    for error, message in zip(errors, messages):
        assert any(finding['what'].endswith(error['what'].removeprefix(f'{copy}: '))
                   for finding in found), (error, found)
        assert error['what'].removeprefix(f'{copy}: ') in message, (error, message)
    message = command(NTUPLE, 'cat', copy, 'file.json' if beside else failed[0]).stderr.decode()
    assert any(error['what'] in message or error['found'] and error['found'] in message
               for error in errors), (message, errors)
    return errors


METADATA = (('footer', 8, b'\xff' * 6, ()), ('column table', 0, b'\xff' * 4,
                                             ('metadata of column 0', 'is not between')),
            ('global buffer table', 0, b'\xff' * 4, ('global buffer 0', 'is not between')),
            ('schema', 0, b'\x0f', ('schema', 'FileDescriptor', 'no valid field')),
            ('column metadata', 0, b'\x0f', ('column 0', 'ColumnMetadata', 'no valid field')))

# File, position in it, new bytes, expected message.
PAGES = (
    ('sizes of chunks', 'mini_blocks_2.1', 'sizes of chunks', 0, b'\xf0\xff', {},
     ('column 0', 'page 0', 'chunk 0 of 1', '32768')),
    ('levels of a chunk', 'mini_blocks_2.1', 'page', 0, b'\xff\xff', {'field': 'flat'},
     ('column 0', 'page 0', 'levels')),
    ('bytes of levels', 'mini_blocks_2.1', 'page', 2, b'\xff\xff', {'field': 'flat'},
     ('column 0', 'page 0', '1784 bytes')),
    ('width of levels', 'nested_2.1', 'page', 8, b'\xff\xff', {'field': 'list/item'}, ('levels', '65535')),
    ('repetition', 'nested_2.1', 'page', 16, b'\xff\xff', {'field': 'list/item'},
     ('column 0 (offsets)', 'page 0', 'lists in the levels', 'expected 40, found 41')),
    ('width of values', 'mini_blocks_2.1', 'page', 8, b'\x55\x00' * 4, {'field': 'inline_bits'},
     ('inline_bits', 'page 0', '85')),
    ('offsets of strings', 'mini_blocks_2.1', 'page', 300, b'\xff' * 4, {'field': 'strings'},
     ('column 6', 'page 0', 'offsets of strings decrease')),
    ('numbers of items', 'mini_blocks_2.1', 'page', 600, b'\xff' * 8, {'field': 'dictionary'},
     ('column 7', 'page 0', 'item 15')),
    ('a dictionary', 'mini_blocks_2.1', 'dictionary', 4, b'\xff\xff', {}, ('column 7', 'page 0', '65535')),
    ('a repetition index', 'chunks_2.1', 'repetition index', 16, b'\xff' * 2, {},
     ('column 0', 'page 0', 'repetition index', '65535 rows', 'chunk 1 of 6')),
    ('levels of a constant', 'constants_2.2', 'page', 0, b'\xff' * 4, {},
     ('of the file: page 0: chunk 0', '65535')),
    ('end offsets of 2.0', 'texts_2.0', 'page', 0, b'\xff' * 7, {'field': 'string'},
     ('column 0', 'page 0', 'decreases')),
)


MINI_BLOCK, CONSTANT, FULL_ZIP, BLOB = 1, 2, 3, 4  # of a PageLayout
HUGE, MOST = 1 << 40, (1 << 64) - 1


def numbers(*values):
    return b''.join(map(varint, values))


def nested_lists(depth):
    encoding = message_of([[1, 2, message_of([[1, 0, 8]])]])
    for _ in range(depth):
        encoding = message_of([[11, 2, message_of([[1, 0, 1], [2, 2, encoding]])]])
    return encoding


# Changes of a message that describes a page's encoding: file, column of the file, field numbers,
# new value, expected message.
MESSAGES = (
    ('items of a dictionary', 'mini_blocks_2.1', 7, (MINI_BLOCK, 5), HUGE,
     ('column 7', 'page 0', 'a dictionary has 1099511627776 items')),
    ('fewer items of it', 'mini_blocks_2.1', 7, (MINI_BLOCK, 5), 2,
     ('column 7', 'page 0', 'item 2, but the dictionary has 2')),
    ('items of values', 'mini_blocks_2.1', 8, (MINI_BLOCK, 5), HUGE,
     ('column 8', 'page 0', 'a dictionary has 1099511627776 items')),
    ('more of them', 'mini_blocks_2.1', 8, (MINI_BLOCK, 5), 5,
     ('fixed_dictionary', 'page 0', 'at least 80 bytes')),
    ('no dictionary', 'mini_blocks_2.1', 7, (MINI_BLOCK, 4), None,
     ('column 7', 'page 0', 'values of fixed width')),
    ('an unknown layer', 'mini_blocks_2.1', 1, (MINI_BLOCK, 6), numbers(9),
     ('column 1', 'page 0', 'layer 9')),
    ('65 layers', 'mini_blocks_2.1', 1, (MINI_BLOCK, 6), numbers(*[1] * 65),
     ('column 1', 'page 0', 'more than 64 layers')),
    ('no layers', 'mini_blocks_2.1', 1, (MINI_BLOCK, 6), None, ('column 1', 'page 0', 'has no layers')),
    ('layers without nulls', 'mini_blocks_2.1', 0, (MINI_BLOCK, 6), numbers(1),
     ('flat', 'page 0', 'largest definition level')),
    ('buffers of a chunk', 'mini_blocks_2.1', 0, (MINI_BLOCK, 7), 1 << 32,
     ('column 0', 'page 0', 'expected 2, found 4294967296')),
    ('items of a page', 'mini_blocks_2.1', 1, (MINI_BLOCK, 9), HUGE,
     ('column 1', 'page 0', 'rows of the page: expected 1100')),
    ('fewer of them', 'mini_blocks_2.1', 1, (MINI_BLOCK, 9), 1000,
     ('column 1', 'page 0', 'chunk 0 has 1024 values')),
    ('no width', 'blobs_2.1', 0, (MINI_BLOCK, 3, 1, 1), 0, ('column 0', 'page 0', 'flat values of 0 bits')),
    ('an odd width', 'blobs_2.1', 0, (MINI_BLOCK, 3, 1, 1), 63,
     ('column 0', 'page 0', 'flat values of 63 bits')),
    ('a huge width', 'blobs_2.1', 0, (MINI_BLOCK, 3, 1, 1), 1 << 33,
     ('column 0', 'page 0', 'flat values of 8589934592 bits')),
    ('half the width', 'blobs_2.1', 0, (MINI_BLOCK, 3, 1, 1), 32,
     ('number', 'page 0', 'expected 64, found 32')),
    ('twice the width', 'blobs_2.1', 0, (MINI_BLOCK, 3, 1, 1), 128,
     ('number', 'page 0', 'at least 480 bytes')),
    ('words of 24 bits', 'mini_blocks_2.1', 1, (MINI_BLOCK, 3, 5, 1), 24,
     ('column 1', 'page 0', 'values of 24 bits')),
    ('other words', 'mini_blocks_2.1', 1, (MINI_BLOCK, 3, 5, 1), 64,
     ('inline_bits', 'page 0', 'expected at most 64')),
    ('packed into more', 'mini_blocks_2.1', 0, (MINI_BLOCK, 2, 4, 3, 1, 1), 17,
     ('column 0', 'page 0', '16 bits cannot be packed into 17')),
    ('packed into nothing', 'mini_blocks_2.1', 0, (MINI_BLOCK, 2, 4, 3, 1, 1), 0,
     ('flat', 'page 0', 'levels', 'bit-packed blocks')),
    ('an unknown compression', 'mini_blocks_2.1', 4, (MINI_BLOCK, 3, 10, 1, 1), 9,
     ('column 4', 'page 0', 'unknown compression scheme 9')),
    ('another compression', 'mini_blocks_2.1', 5, (MINI_BLOCK, 3, 10, 1, 1), 1, ('zstd', 'page 0')),
    ('2^31 items', 'packed_2.1', 0, (MINI_BLOCK, 3, 11, 1), 1 << 31,
     ('vectors/item', 'page 0', 'lists of 2147483648')),
    ('2^64 items', 'packed_2.1', 0, (MINI_BLOCK, 3, 11, 1), MOST,
     ('vectors/item', 'page 0', 'lists of 18446744073709551615')),
    ('no items', 'packed_2.1', 0, (MINI_BLOCK, 3, 11, 1), 0, ('vectors/item', 'page 0', 'lists of 0')),
    ('other items', 'packed_2.1', 0, (MINI_BLOCK, 3, 11, 1), 4,
     ('vectors/item', 'page 0', 'expected 210, found 280')),
    ('lists in lists', 'packed_2.1', 0, (MINI_BLOCK, 3), nested_lists(12),
     ('column 0', 'page 0', 'buffers of a chunk')),
    ('a table of symbols', 'symbols_2.1', 0, (MINI_BLOCK, 3, 6, 1), b'\xff\x00\x2e\x01TSSF',
     ('column 0', 'page 0', 'symbol table: expected at least 2303')),
    ('no table', 'symbols_2.1', 0, (MINI_BLOCK, 3, 6, 1), None,
     ('column 0', 'page 0', 'bytes of a symbol table: expected at least 8, found 0')),
    ('another table', 'symbols_2.1', 0, (MINI_BLOCK, 3, 6, 1), b'\xff' * 2312,
     ('column 0', 'page 0', 'symbol table begins with')),
    ('no encoding of values', 'mini_blocks_2.1', 1, (MINI_BLOCK, 3), None,
     ('column 1', 'page 0', 'value encoding 0')),
    ('an index of 2^40 layers', 'nested_2.1', 0, (MINI_BLOCK, 8), HUGE,
     ('column 0', 'page 0', 'index of depth 1099511627776')),
    ('bits of repetition', 'full_zip_2.1', 5, (FULL_ZIP, 1), 17,
     ('column 5', 'page 0', '17 and 2 for levels')),
    ('bits of definition', 'full_zip_2.1', 0, (FULL_ZIP, 2), 9,
     ('column 0', 'page 0', '24 rows of 10 bytes do not fill 216 bytes')),
    ('rows of no bits', 'full_zip_2.1', 0, (FULL_ZIP, 3), 0, ('column 0', 'page 0', '0 for values')),
    ('rows of 2^31 bits', 'full_zip_2.1', 0, (FULL_ZIP, 3), 1 << 31,
     ('column 0', 'page 0', '2147483648 for values')),
    ('lengths of 24 bits', 'full_zip_2.1', 1, (FULL_ZIP, 4), 24, ('column 1', 'page 0', '24 for lengths')),
    ('other lengths', 'full_zip_2.1', 1, (FULL_ZIP, 4), 64,
     ('column 1', 'page 0', 'row 0 of a full-zip page ends past')),
    ('rows', 'full_zip_2.1', 0, (FULL_ZIP, 6), HUGE, ('column 0', 'page 0', '1099511627776 rows of 9 bytes')),
    ('lists in a row', 'full_zip_2.1', 6, (FULL_ZIP, 7, 11, 1), 1 << 31,
     ('vectors', 'page 0', 'bytes of a value: expected at least 268435456, found 13')),
    ('half a value', 'constants_2.2', 4, (CONSTANT, 6), b'\x07',
     ('number', 'page 0', 'the value of a constant page')),
    ('no value', 'constants_2.2', 4, (CONSTANT, 6), None,
     ('number', 'page 0', '300 rows of a constant page are valid, but the page has no value')),
    ('levels of a constant', 'constants_2.2', 3, (CONSTANT, 9), HUGE,
     ('column 3', 'page 0', 'left of the limit pagesize of')),
    ('fewer levels', 'constants_2.2', 3, (CONSTANT, 10), 374,
     ('column 3', 'page 0', 'definition levels: expected 375, found 374')),
    ('places of blobs', 'blobs_2.1', 1, (BLOB, 1, MINI_BLOCK, 3, 12, 2, 1, 1), 64,
     ('column 1', 'page 0', 'expected at least 128, found 64')),
    ('blobs of blobs', 'blobs_2.1', 1, (BLOB, 1), message_of([[4, 2, b'']]),
     ('column 1', 'page 0', 'layout 4')),
    ('no layout', 'blobs_2.1', 0, (MINI_BLOCK,), None, ('column 0', 'page 0', 'layout 0')),
    ('width of 2.0', 'arrays_2.0', 0, (2, 1, 1, 1, 1), 64,
     ('column 0', 'page 0', '200 rows of 8 bytes do not fill 800 bytes')),
    ('a buffer of 2.0', 'arrays_2.0', 0, (2, 1, 1, 1, 2, 1), 9,
     ('column 0', 'page 0', 'buffers of a page: expected at least 10')),
    ('a buffer elsewhere', 'arrays_2.0', 0, (2, 1, 1, 1, 2, 2), 2,
     ('column 0', 'page 0', 'buffer 0 of a column or of the file')),
    ('width of validity', 'arrays_2.0', 1, (2, 2, 1, 1, 1), 8, ('nullable', 'page 0', 'at least 200 bytes')),
    ('items of 2.0', 'arrays_2.0', 7, (7, 3), HUGE, ('column 7', 'page 0', 'found 40')),
    ('fewer items of 2.0', 'arrays_2.0', 7, (7, 3), 2, ('column 7', 'page 0',
                                                        'item 2, but the dictionary has 2')),
    ('what is added to null ends', 'arrays_2.0', 6, (6, 3), 5,
     ('column 6', 'page 0', 'end offset 2 of a page decreases')),
    ('dimension', 'arrays_2.0', 11, (2, 2, 2, 3, 1), HUGE,
     ('vectors/item', 'page 0', 'lists of 1099511627776')),
    ('symbols of 2.0', 'arrays_2.0', 10, (8, 2), b'abc', ('column 10', 'page 0', 'bytes of a symbol table')),
    ('items of lists', 'nested_2.0', 0, (4, 3), 51, ('list', 'page 0',
                                                     "items of a page's lists: expected 51, found 52")),
    ('null lists', 'nested_2.0', 0, (4, 2), 1, ('list', 'page 0', 'list 2 of a page is null, but has items')),
    ('nulls of no kind', 'arrays_2.0', 0, (2, 1), None, ('column 0', 'page 0', 'nulls of kind 0')),
)

# The same for a page's message, which prevents opening.
PAGE_MESSAGES = (
    ('rows', 'mini_blocks_2.1', 3, PAGE_LENGTH, HUGE, ('column 3', 'rows of its pages: expected 1100')),
    ('places', 'mini_blocks_2.1', 3, PAGE_OFFSETS, numbers(4160),
     ('column 3', 'page 0', 'sizes of buffers: expected 1, found 2')),
    ('sizes', 'mini_blocks_2.1', 3, PAGE_SIZES, numbers(2, MOST),
     ('column 3', 'page 0', 'buffer 1, 18446744073709551615 bytes at 4224')),
    ('places beyond', 'mini_blocks_2.1', 3, PAGE_OFFSETS, numbers(4160, HUGE),
     ('column 3', 'page 0', 'buffer 1, 120 bytes at 1099511627776')),
    ('no encoding', 'mini_blocks_2.1', 3, 4, None, ('column 3', 'page 0', 'no encoding')),
    ('encodings in one another', 'packed_2.1', 0, (4, 2, 1, 2, MINI_BLOCK, 3), nested_lists(40),
     ('column 0', 'page 0', 'than the limit of 32')),
)

# Position and size of the first blob, by file; buffers with the descriptions.
BLOBS = (
    ('behind the file', 'blobs_2.1', 1, 2304 + 8, HUGE, 5, 'blob 0, 5 bytes at 1099511627776'),
    ('up to the footer', 'blobs_2.1', 1, 2304 + 8, 0, None, 'blob 0, '),
    ('in the metadata', 'blobs_2.0', 1, 2176, None, 8, 'blob 0, 8 bytes at '),
    ('larger than all', 'blobs_2.0', 1, 2176, 64, MOST, 'blob 0, 18446744073709551615 bytes at 64'),
)


@case
def messages_that_are_false():
    for what, name, column, path, value, words in MESSAGES:
        with scratch() as directory:
            copy, editor = directory / 'copy.lance', LanceEditor(data(f'lance_{name}.lance').read_bytes())
            editor.change_encoding(column, 0, path, value)
            copy.write_bytes(editor.written())
            found = findings(copy)
            assert any(all(word in finding['what'] for word in words) for finding in found), (what, words,
                    found)
            for finding in found:
                assert finding['file_offset'] is not None, (what, finding)
                assert 'column' in finding['what'] and 'page' in finding['what'], (what, finding)


@case
def pages_whose_messages_are_false():
    for what, name, column, path, value, words in PAGE_MESSAGES:
        with scratch() as directory:
            copy, editor = directory / 'copy.lance', LanceEditor(data(f'lance_{name}.lance').read_bytes())
            editor.change_page(column, 0, path if isinstance(path, tuple) else (path,), value)
            copy.write_bytes(editor.written())
            error, = assert_reported(copy, words, data('lance_numbers_2.1.lance'))
            assert editor.start <= error['file_offset'] < copy.stat().st_size, (what, error)


@case
def blobs_that_are_elsewhere():
    for what, name, column, at, position, size, words in BLOBS:
        with scratch() as directory:
            copy, content = directory / 'copy.lance', bytearray(data(f'lance_{name}.lance').read_bytes())
            start = LanceEditor(bytes(content)).start
            place = struct.pack('<QQ', start if position is None else position, start + 1 if size is None
                                else size)
            content[at:at + len(place)] = place
            copy.write_bytes(content)
            for error in assert_reported(copy, (f'column {column} of the file', 'page 0', words,
                                            f'the metadata at byte {start}')):
                assert abs(error['file_offset'] - at) < 128, (what, error)


@case
def metadata_of_every_kind():
    for owner, at, new, words in METADATA:
        with scratch() as directory:
            copy, _ = damaged(directory, 'mini_blocks_2.1', owner, at, new)
            assert_reported(copy, words, data('lance_numbers_2.1.lance'))


@case
def what_pages_are_made_of():
    for _, name, owner, at, new, criteria, words in PAGES:
        with scratch() as directory:
            copy, item = damaged(directory, name, owner, at, new, **criteria)
            for error in assert_reported(copy, words):
                assert error['file_offset'] is not None, error
                assert abs(error['file_offset'] - item['file_offset']) < 2048, (error, item)


@case
def verify_describes_an_index_that_only_other_readers_need():
    source = data('lance_chunks_2.1.lance')
    places = [item['file_offset'] for item in cat_lines(source, 'layout.jsonl')
              if item['owner'] == 'repetition index']
    for column, at in (0, 8), (0, 24), (2, 24), (2, 40):
        with scratch() as directory:
            copy, content = directory / 'copy.lance', bytearray(source.read_bytes())
            content[places[column] + at] += 1  # levels of a row that continues in the next chunk
            copy.write_bytes(content)
            found, = findings(copy)
            for word in f'column {column} of the file: page 0', f'chunk {at // 16}', 'repetition index':
                assert word in found['what'], (word, found)
            same(found['file_offset'], places[column] + at // 16 * 16)
            same(output(NTUPLE, 'cat', copy, 'copy/rows.jsonl'),
                 output(NTUPLE, 'cat', source, 'lance_chunks_2.1/rows.jsonl'))


@case
def what_is_beside_a_damaged_page_stays_readable():
    with scratch() as directory:
        copy, _ = damaged(directory, 'mini_blocks_2.1', 'page', 300, b'\xff' * 4, field='strings')
        name = data('lance_mini_blocks_2.1.lance')
        for field in 'flat', 'dictionary', 'bools':
            whole = output(NTUPLE, 'cat', name, f'lance_mini_blocks_2.1/{field}/field.json')
            assert json.loads(whole), field
            for kind in 'valid.bin', 'data.bin':
                same(output(NTUPLE, 'cat', copy, f'copy/{field}/{kind}'),
                     output(NTUPLE, 'cat', name, f'lance_mini_blocks_2.1/{field}/{kind}'), (field, kind))


run()
