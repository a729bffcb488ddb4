# SPDX-License-Identifier: MIT
"""Names that programs rely on: of files, of JSON members and of extended attributes, in every
document of the project's files of all formats (and of NTUPLE_SHARED). The rules are tables in
tests/support/json_rules.py."""
import json
import os
import re
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / 'support'))
from harness import DATA, NTUPLE, Skip, case, command, data, output, run, same, scratch  # noqa: E402
from json_rules import name_problem, problems  # noqa: E402

SHARED = Path(os.environ.get('NTUPLE_SHARED', '/nonexistent')) / 'data'
CONTRACT = (Path(__file__).parent.parent.parent / 'docs/tree.md').read_text()
# Stored JSON of BLZ files is shown unchanged, under these names; Lance's messages are shown with
# the names of their members, and with the values of its statistics.
OF_FILES = ('attributes', 'metadata', 'rootdirs', 'sizes', 'storage', 'message')
VERBATIM = {'tree.json': ('object',), 'branch.json': ('object',), 'metadata.json': OF_FILES,
            'manifest.json': OF_FILES, 'transaction.json': OF_FILES, 'indices.json': OF_FILES,
            'refs.json': ('content',),
            'fragments.jsonl': OF_FILES, 'schema.json': OF_FILES, 'pages.jsonl': OF_FILES,
            'statistics.jsonl': ('minimum', 'maximum')}


# ---- sources of the other formats ----

def roaring(directory):
    """The values 1, 2, 3 and 65536 + 7 as a bitmap of 32 bits, and as the first bucket of one of 64."""
    bitmap = struct.pack('<IIHHHHII', 12346, 2, 0, 2, 1, 0, 24, 30) + struct.pack('<HHHH', 1, 2, 3, 7)
    (directory / 'bits32.roaring').write_bytes(bitmap)
    (directory / 'bits64.roaring').write_bytes(struct.pack('<QI', 1, 5) + bitmap)
    return [directory / 'bits32.roaring', directory / 'bits64.roaring']


def blz(directory):
    """A table with one column of three integers, in an uncompressed chunk."""
    column = directory / 'table/column'
    (column / 'meta').mkdir(parents=True)
    (column / 'data').mkdir()
    (directory / 'table/__rootdirs__').write_text('{"names": ["column"], "dirs": {"column": "column"}}')
    (directory / 'table/__attrs__').write_text('{"length": {"offset": true}}')
    (column / 'meta/sizes').write_text('{"shape": [3], "nbytes": 24, "cbytes": 72}')
    (column / 'meta/storage').write_text('{"dtype": "int64", "bparams": {}, "chunklen": 3, "dflt": 0}')
    header = struct.pack('<4sBBBBiiqq', b'blpk', 1, 0, 0, 8, 24, 24, 1, 0)
    chunk = struct.pack('<BBBBIIIqqq', 2, 1, 2, 8, 24, 24, 40, 1, 2, 3)
    (column / 'data/__0.blp').write_bytes(header + chunk)
    return [directory / 'table']


def foreign():
    """Every tenth small file of each directory; tables of BLZ are directories."""
    for folder in 'rntuple/gen', 'rntuple/validation', 'rntuple/real', 'roaring/gen64', 'blz/blz', 'blz/blp':
        described = [path for path in sorted((SHARED / folder).glob('*.json'))
                     if path.stat().st_size < 100_000]
        for path in described[::10]:
            stem = path.name.removesuffix('.json').removesuffix('.expect')
            yield from (source for source in (path.with_name(stem), path.with_suffix('.root'))
                        if source.exists() and source.stat().st_size < 50_000)


# ---- what is looked at ----

def copied(source, directory):
    """The tree of a source as files, without those that cannot be read; empty if it is refused."""
    top = directory / re.sub(r'\W', '_', str(source))
    command(NTUPLE, 'cp', '-r', source, top)
    return top


def documents(top):
    """(path, value) of each document and of each line of the tree, without values of rows."""
    for path in sorted(top.rglob('*.json*')):
        if path.name in ('rows.jsonl', 'head.jsonl') or path.parent.name == 'rows.d':
            continue
        text = path.read_text(errors='surrogateescape')
        for value in map(json.loads, text.splitlines() if path.suffix == '.jsonl' else [text]):
            yield path.relative_to(top), value


def check_names(top, what):
    found = [f'{path}: {problem}' for path, value in documents(top)
             for problem in problems(value, VERBATIM.get(path.name, ()))]
    same(sorted(set(found)), [], what)


def check_files(top, what):
    """docs/tree.md names every kind of file; numbers and stems depend on the source."""
    for name in {path.name for path in top.rglob('*') if path.is_file()}:
        generic = re.sub(r'^\d+\.', 'N.', re.sub(r'\.\d+\.', '.N.', name))
        pattern = re.escape(generic).replace('N', r'(\d+|<n>)')
        if not re.search(rf'(?<![\w.]){pattern}(?!\w)', CONTRACT) and Path(name).suffix not in ('.bin',
                '.npy'):
            raise AssertionError(f'{what}: docs/tree.md does not name {name}')


def check_paths(top, what):
    """file.json gives the path of each dataset, and there is no other."""
    reported = json.loads((top / 'file.json').read_text())['datasets']
    found = {path.parent.relative_to(top): json.loads(path.read_text())
             for name in ('ntuple.json', 'error.json')
             for path in top.rglob(name)}
    same(sorted(entry['path'] for entry in reported), sorted(map(str, found)), f'{what}: paths of datasets')
    for entry in reported:
        document = found[Path(entry['path'])]
        for key in {'name', 'cycle', 'entries'} & entry.keys() if 'name' in document else ():
            same(document[key], entry[key], f'{what}: {key} of {entry["path"]}')


def check_source(source):
    with scratch() as directory:
        top = copied(source, directory)
        if not (top / 'file.json').exists():
            return False
        for check in check_names, check_files, check_paths:
            check(top, str(source))
    return True


# ---- cases ----

@case
def the_rules_refuse_what_they_say():
    for name in ('size_bytes', 'file_offset', 'checksum', 'datasets', 'has_offsets', 'ntuplefs',
                 'first_element'):
        same(name_problem(name), None, name)
    for name in ('length', 'bytes', 'size', 'chunk_size', 'offset', 'seek_directory', 'element_offset',
                 'ntuple', 'ntuples',
                 'data_sets', 'nchunks_', 'max', 'min_value', 'camelCase', 'nbytes'):
        assert name_problem(name), name
    for value in ({'a_bytes': 'x'}, {'a_offset': -1}, {'checksum': '0x12345678'}, {'checksum': 'xxh3-64'},
                  {'done': True},
                  {'is_done': 1}, {'a': [{'b': {'size': 1}}]}):
        assert list(problems(value)), value
    same(list(problems({'storage': {'nbytes': True}}, ('storage',))), [])


@case
def every_document_of_every_test_file_keeps_the_rules():
    sources = [path for path in sorted(DATA.iterdir()) if path.suffix in ('.root', '.blp', '.lance')]
    same([source.name for source in sources if not check_source(source)], [], 'refused')
    if len(sources) < 20:
        raise AssertionError(f'only {len(sources)} files')


@case
def so_does_every_document_of_the_other_formats():
    with scratch() as directory:
        for source in roaring(directory) + blz(directory):
            assert check_source(source), source


@case
def so_does_every_document_of_foreign_files():
    sources = list(foreign())
    if not sources:
        raise Skip('NTUPLE_SHARED has no files')
    if sum(map(check_source, sources)) < 20:
        raise AssertionError('few of them open')


@case
def so_do_reports_and_failures():
    source, page = data('damaged_page.root'), 'compressed/noise/column.0/pages/0.bin'
    found = [json.loads(output(NTUPLE, 'inspect', '--json', source))]
    for words in ('verify', '--json', source), ('cat', source, page, '.ntuplefs/errors.jsonl'):
        lines = command(NTUPLE, *words).stdout.splitlines()
        assert lines, words
        found += map(json.loads, lines)
    for document in found:
        same(list(problems(document)), [], str(document))


@case
def inspect_says_the_same_paths_as_the_file():
    for name in 'dirs_and_cycles.root', 'attributes.root', 'names.root':
        reported = json.loads(output(NTUPLE, 'cat', data(name), 'file.json'))['datasets']
        found = json.loads(output(NTUPLE, 'inspect', '--json', data(name)))['datasets']
        same([entry['path'] for entry in found], [entry['path'] for entry in reported], name)


@case
def a_page_has_its_digest_as_an_attribute():
    """It follows the page in the file, as a little-endian number."""
    content = data('example.root').read_bytes()
    column = 'Events/run/column.0'
    for line in output(NTUPLE, 'cat', data('example.root'), f'{column}/pages.jsonl').splitlines():
        page = json.loads(line)
        digest = content[page['file_offset'] + page['stored_bytes']:][:8][::-1].hex()
        text = output(NTUPLE, 'stat', data('example.root'), f'{column}/pages/{page["page"]}.raw').decode()
        attributes = dict(line.split(': ', 1) for line in text.splitlines())
        same((attributes['checksum_kind'], attributes['checksum'], page['checksum_kind'], page['checksum']),
             ('xxh3-64', digest, 'xxh3-64', digest), line)
    whole = output(NTUPLE, 'stat', data('example.root'), column).decode()
    assert '\nchecksum_kind: xxh3-64\n' in whole and '\nchecksum: ' not in whole, whole


if __name__ == '__main__':
    sys.exit(run(needs_fuse=False))
