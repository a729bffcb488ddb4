# SPDX-License-Identifier: MIT
"""Lance files have no checksums: what is damaged is noticed where it contradicts itself. Each thing that a file is made of
is damaged, one after the other; a mount tells in errors.jsonl and in the log what `ntuple verify` and `ntuple cat` say,
with the column, the page and the place."""
import json

from failures import TOLD, findings, read_everything
from harness import NTUPLE, Foreground, case, cat_lines, command, data, errors_of, output, run, same, scratch


def damaged(directory, name, owner, at, new, **wanted):
    """A copy of a file, other bytes in the first range of the layout that has the wanted members; the range."""
    source, copy = data(f'lance_{name}.lance'), directory / 'copy.lance'
    for item in cat_lines(source, 'layout.jsonl'):
        if item['owner'] == owner and all(item.get(key) == value for key, value in wanted.items()):
            content = bytearray(source.read_bytes())
            place = item['file_offset'] + at + (item['stored_bytes'] if at < 0 else 0)
            content[place:place + len(new)] = new
            copy.write_bytes(content)
            return copy, item
    raise AssertionError(f'{name} has no {owner} {wanted}')


def assert_told(copy, words, *beside):
    """The mount tells each cause that verify finds, once, but for what only verify looks at: levels beside a repetition index;
    cat says one of them. `beside`: a good file, where none opens."""
    found = findings(copy)
    assert any(all(word in finding['what'] for word in words) for finding in found), (words, found)
    with Foreground(copy, *beside) as mount:
        failed = read_everything(mount.mountpoint, False)
        errors, messages = errors_of(mount.mountpoint), mount.messages()
    same(len(errors), len(messages), (errors, messages))
    same(len({error['what'] for error in errors}), len(errors), errors)
    told = {tuple(error[key] for key in TOLD) for error in errors}
    same(told, {tuple(finding[key] for key in TOLD) for finding in found if "the chunk's levels tell" not in finding['what']})
    for error, message in zip(errors, messages):
        assert any(finding['what'].endswith(error['what'].removeprefix(f'{copy}: ')) for finding in found), (error, found)
        assert error['what'].removeprefix(f'{copy}: ') in message, (error, message)
    said = command(NTUPLE, 'cat', copy, 'file.json' if beside else failed[0]).stderr.decode()
    assert any(error['what'] in said or error['found'] and error['found'] in said for error in errors), (said, errors)
    return errors


METADATA = (('footer', 8, b'\xff' * 6, ()), ('column table', 0, b'\xff' * 4, ('metadata of column 0', 'does not lie between')),
            ('global buffer table', 0, b'\xff' * 4, ('global buffer 0', 'does not lie between')),
            ('schema', 0, b'\x0f', ('schema', 'FileDescriptor', 'no field')),
            ('column metadata', 0, b'\x0f', ('column 0', 'ColumnMetadata', 'no field')))

# What of which file, where in it, the new bytes, and what is said.
PAGES = (
    ('sizes of chunks', 'mini_blocks_2.1', 'sizes of chunks', 0, b'\xf0\xff', {}, ('column 0', 'page 0', 'chunk 0 of 1', '32768')),
    ('levels of a chunk', 'mini_blocks_2.1', 'page', 0, b'\xff\xff', {'field': 'flat'}, ('column 0', 'page 0', 'levels')),
    ('bytes of levels', 'mini_blocks_2.1', 'page', 2, b'\xff\xff', {'field': 'flat'}, ('column 0', 'page 0', '1784 bytes')),
    ('width of levels', 'nested_2.1', 'page', 8, b'\xff\xff', {'field': 'list'}, ('levels', '65535')),
    ('repetition', 'nested_2.1', 'page', 16, b'\xff\xff', {'field': 'list'}, ('column 0 (offsets)', 'page 0', 'lists that the levels', 'expected 40, found 41')),
    ('width of values', 'mini_blocks_2.1', 'page', 8, b'\x55\x00' * 4, {'field': 'inline_bits'}, ('inline_bits', 'page 0', '85')),
    ('offsets of strings', 'mini_blocks_2.1', 'page', 300, b'\xff' * 4, {'field': 'strings'},
     ('column 6', 'page 0', 'offsets of strings decrease')),
    ('numbers of items', 'mini_blocks_2.1', 'page', 600, b'\xff' * 8, {'field': 'dictionary'}, ('column 7', 'page 0', 'item 15')),
    ('a dictionary', 'mini_blocks_2.1', 'input', 4, b'\xff\xff', {}, ('column 7', 'page 0', '65535')),
    ('a repetition index', 'chunks_2.1', 'repetition index', 16, b'\xff' * 2, {},
     ('column 0', 'page 0', 'repetition index', '65535 rows', 'chunk 1 of 6')),
    ('levels of a constant', 'constants_2.2', 'page', 0, b'\xff' * 4, {}, ('of the file: page 0: unit 0', '65535')),
    ('end offsets of 2.0', 'texts_2.0', 'page', 0, b'\xff' * 7, {'field': 'string'}, ('column 0', 'page 0', 'decreases')),
)


@case
def metadata_of_every_kind():
    for owner, at, new, words in METADATA:
        with scratch() as directory:
            copy, _ = damaged(directory, 'mini_blocks_2.1', owner, at, new)
            assert_told(copy, words, data('lance_numbers_2.1.lance'))


@case
def what_pages_are_made_of():
    for _, name, owner, at, new, wanted, words in PAGES:
        with scratch() as directory:
            copy, item = damaged(directory, name, owner, at, new, **wanted)
            for error in assert_told(copy, words):
                assert error['file_offset'] is not None, error
                assert abs(error['file_offset'] - item['file_offset']) < 2048, (error, item)


@case
def verify_tells_of_an_index_that_only_other_readers_need():
    source = data('lance_chunks_2.1.lance')
    places = [item['file_offset'] for item in cat_lines(source, 'layout.jsonl') if item['owner'] == 'repetition index']
    for column, at in (0, 8), (0, 24), (2, 24), (2, 40):
        with scratch() as directory:
            copy, content = directory / 'copy.lance', bytearray(source.read_bytes())
            content[places[column] + at] += 1  # levels of a row that goes on in the next chunk
            copy.write_bytes(content)
            found, = findings(copy)
            for word in f'column {column} of the file: page 0', f'chunk {at // 16}', 'repetition index':
                assert word in found['what'], (word, found)
            same(found['file_offset'], places[column] + at // 16 * 16)
            same(output(NTUPLE, 'cat', copy, 'copy/rows.jsonl'), output(NTUPLE, 'cat', source, 'lance_chunks_2.1/rows.jsonl'))


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
