#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The bytes of Lance's blobs of version 2, which are in many places: as `data` and `offsets` of
the field that describes them, and as a file for each in blob.d. Expected values are those of
pylance (X.json, `blobs`)."""
import contextlib
import errno
import json
import os
import shutil
import sys
from pathlib import Path

import harness
from harness import NTUPLE, case, command, fails, lines, mounted, run, same, scratch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'support'))
from compare_columns import check_column  # noqa: E402
from lance_editor import BASE_PATHS, LanceEditor, ManifestEditor  # noqa: E402

DATASETS = harness.DATA / 'lance_datasets'
NAMES = 'blobs_2.2', 'managed_blobs_2.2'
EXPECTED = {name: json.loads((DATASETS / f'{name}.json').read_text()) for name in NAMES}
INLINE, PACKED, DEDICATED, EXTERNAL, MANAGED = range(5)

# Omitted by make_lance_datasets.py: files elsewhere. A URI has a fixed length.
OUTSIDE = bytes(range(256)) * 2
ABSENT_URI = 'file:///absent/a%20'.ljust(160, 'b')
BASE_PATH = 4    # of a BasePath
FULL_ZIP, LAYERS, ALL_VALID_ITEM, NULLABLE_ITEM = 3, 8, 1, 3    # of a PageLayout, a FullZipLayout


@contextlib.contextmanager
def with_outside():
    """A dataset with its external blobs in place, and their directories: below the base path,
    and at the URI."""
    with scratch() as directory:
        directory = directory.resolve()
        source = Path(shutil.copytree(DATASETS / 'blobs_2.2', directory / 'set'))
        base = directory / 'base'
        (base / 'deep').mkdir(parents=True)
        (base / 'deep' / 'empty').touch()
        elsewhere = directory / 'e'
        elsewhere.mkdir()
        uri = f'file://{elsewhere}/a%20'.ljust(len(ABSENT_URI), 'b')
        for path in base / 'a b', Path(uri.removeprefix('file://').replace('%20', ' ')):
            path.write_bytes(OUTSIDE)
        for file in (source / 'data').glob('*.lance'):
            file.write_bytes(file.read_bytes().replace(ABSENT_URI.encode(), uri.encode()))
        for file in (source / '_versions').glob('*.manifest'):
            editor = ManifestEditor(source, file)
            editor.change(((BASE_PATHS, 0), BASE_PATH), os.fsencode(base))
            editor.write()
        yield source, base, elsewhere, uri


def offsets_of(field):
    return [int.from_bytes(field[at:at + 8], 'little') for at in range(0, len(field), 8)]


def values_of(field):
    """The values of data and offsets for each row, None for nulls."""
    offsets, data = offsets_of((field / 'offsets.bin').read_bytes()), (field / 'data.bin').read_bytes()
    valid = (field / 'valid.bin').read_bytes()
    return [data[first:end] if is_valid else None for first, end,
            is_valid in zip(offsets, offsets[1:], valid)]


def check_files(field):
    """blob.d equals the field, and has nothing for rows that are null or missing. It lists none."""
    values = values_of(field)
    same(list((field / 'blob.d').iterdir()), [])
    for row, value in enumerate(values):
        path = field / 'blob.d' / str(row)
        if value is None:
            fails(errno.ENOENT, path.stat)
            continue
        same((path.stat().st_size, path.read_bytes()), (len(value), value), path)
    for name in len(values), 2**30, 2**40, '01', '-1', 'x', '0.bin':
        fails(errno.ENOENT, (field / 'blob.d' / str(name)).stat)
    return values


def check_blobs(state, dataset):
    for column in state['columns'] + state['blobs']:
        if column['path'] != 'elsewhere/blob_uri':  # they are this test's
            check_column(dataset / column['path'], column)
    for column in state['blobs']:
        check_files(dataset / column['path'])


@case
def blobs_are_what_pylance_reads_in_each_version():
    with with_outside() as (source, base, elsewhere, _):
        for path, name in (source, 'blobs_2.2'), (DATASETS / 'managed_blobs_2.2', 'managed_blobs_2.2'):
            with mounted(path, options=[f'--bases={base}', f'--bases={elsewhere}']) as mountpoint:
                dataset = mountpoint / path.name
                states = EXPECTED[name]['versions']
                check_blobs(states[-1], dataset)
                for state in states:
                    check_blobs(state, dataset / 'versions.d' / str(state['version']))
                same(harness.errors_of(mountpoint), [])


@case
def every_kind_is_among_them_and_null_both_ways():
    kinds = set()
    with with_outside() as (source, base, elsewhere, _), mounted(source, DATASETS / 'managed_blobs_2.2',
                                                                 options=[f'--bases={base}',
                                                                         f'--bases={elsewhere}']) as top:
        for field in 'set/set/blob', 'set/set/elsewhere', 'managed_blobs_2.2/managed_blobs_2.2/blob':
            valid, kind = (top / field / 'valid.bin').read_bytes(), (
                    top / field / 'kind' / 'data.bin').read_bytes()
            kinds |= {each for each, is_valid in zip(kind, valid) if is_valid}
        same(kinds, {INLINE, PACKED, DEDICATED, EXTERNAL, MANAGED})
        structure = top / 'set/set/structure'
        around, own = (structure / 'valid.bin').read_bytes(), (structure / 'blob' / 'valid.bin').read_bytes()
        same({(a, b) for a, b in zip(around, own)}, {(0, 0), (1, 0), (1, 1)},
             'null as the structure is, and by itself')
        for row, is_valid in enumerate(own):
            same((structure / 'blob' / 'blob.d' / str(row)).exists(), bool(is_valid), row)


@case
def null_is_reported_by_the_kind_or_by_what_is_around_it():
    """The layers around the members of a description are those of `kind`, of the description and
    of what surrounds it: any of them may have nulls."""
    name = 'managed_blobs_2.2'
    expected, = EXPECTED[name]['versions'][-1]['blobs']
    for layers in ((NULLABLE_ITEM,), (NULLABLE_ITEM, ALL_VALID_ITEM), (ALL_VALID_ITEM, NULLABLE_ITEM)):
        with scratch() as directory:
            source = Path(shutil.copytree(DATASETS / name, directory / 'set'))
            for file in (source / 'data').glob('*.lance'):
                editor = LanceEditor(file.read_bytes())
                editor.change_encoding(1, 0, (FULL_ZIP, LAYERS), bytes(layers))
                file.write_bytes(editor.written())
            with mounted(source) as mountpoint:
                check_column(mountpoint / 'set' / 'blob', expected)
                values = check_files(mountpoint / 'set' / 'blob')
                same(values.count(None), expected['nulls'], layers)
                same([row is None for row in lines(mountpoint / 'set' / 'blob' / 'rows.jsonl')],
                     [value is None for value in values], layers)


@case
def a_listing_opens_no_file_and_a_size_takes_the_descriptions_alone():
    with scratch() as directory:
        source = Path(shutil.copytree(DATASETS / 'blobs_2.2', directory / 'set'))
        for file in (source / 'data').glob('*/*.blob'):
            file.unlink()
        with mounted(source) as mountpoint:
            blob = mountpoint / 'set' / 'blob'
            same({'data.bin', 'data.npy', 'offsets.bin', 'offsets.npy', 'blob.d', 'kind',
                  'valid.bin'} <= set(os.listdir(blob)), True)
            expected = next(column for column in EXPECTED['blobs_2.2']['versions'][-1]['blobs']
                            if column['path'] == 'blob')
            offsets = (blob / 'offsets.bin').read_bytes()
            check_column(blob, {key: value for key, value in expected.items() if key != 'data'})
            same((blob / 'data.bin').stat().st_size, offsets_of(offsets)[-1])
            sizes = (blob / 'size' / 'data.bin').read_bytes()
            for row, is_valid in enumerate((blob / 'valid.bin').read_bytes()):
                if is_valid:
                    same((blob / 'blob.d' / str(row)).stat().st_size,
                         int.from_bytes(sizes[8 * row:8 * row + 8], 'little'), row)
            same(harness.errors_of(mountpoint), [])


def sidecar_of(source, kind):
    """A row of `blob` of the first fragment with its bytes in a file next to its data file, and
    that file."""
    rows = [json.loads(line) for line in harness.output(NTUPLE, 'cat', source,
                                                        f'{source.name}/blob/rows.jsonl').splitlines()]
    first = lines_of(source, 'fragments.jsonl')[0]
    row, description = next((row, each) for row, each in enumerate(rows[:first['entries']]) if each
                            and each['kind'] == kind)
    name = ''.join(reversed(f'{description["blob_id"]:032b}'))
    stem = first['message']['files'][0]['path'].removesuffix('.lance')
    return row, description, source / 'data' / stem / f'{name}.blob'


def lines_of(source, document):
    return harness.cat_lines(source, f'{source.name}/{document}')


@case
def a_file_that_is_missing_or_short_fails_its_rows_by_name():
    for kind, damage, words in ((PACKED, 'missing', ['is missing']), (DEDICATED, 'missing', ['is missing']),
                                (PACKED, 'short', ['bytes of the file', 'found']),
                                (DEDICATED, 'short', ['expected at least 500, found 499'])):
        with scratch() as directory:
            source = Path(shutil.copytree(DATASETS / 'blobs_2.2', directory / 'set'))
            row, description, file = sidecar_of(source, kind)
            end = description['position'] + description['size']
            if damage == 'missing':
                file.unlink()
                os.utime(file.parent, (1, 1))  # long before the mount
            else:
                os.truncate(file, end - 1)
            with mounted(source, options=['--direct_io=on']) as mountpoint:
                blob = mountpoint / 'set' / 'blob'
                path = blob / 'blob.d' / str(row)
                same(path.stat().st_size, description['size'])
                fails(errno.EIO, path.read_bytes)
                error, = harness.errors_of(mountpoint)
                same([word for word in ('dataset set', f'row {row} ', 'field blob', file.name, *words)
                      if word not in error['what']], [], error)
                same(error['path'], f'set/blob/blob.d/{row}')
                # the rows, what precedes it, and other files
                same(len(lines(blob / 'rows.jsonl')), EXPECTED['blobs_2.2']['versions'][-1]['rows'])
                begin = offsets_of((blob / 'offsets.bin').read_bytes())[row]
                fails(errno.EIO, harness.pread, blob / 'data.bin', 1, begin)
                others = [each for each in range(20) if each != row
                          and (blob / 'blob.d' / str(each)).exists()]
                same(any(readable(blob / 'blob.d' / str(each)) for each in others), True)
            result = command(NTUPLE, 'cat', source, f'set/blob/blob.d/{row}')
            same((result.returncode != 0, file.name in result.stderr.decode()), (True, True))


def readable(path):
    try:
        path.read_bytes()
    except OSError:
        return False
    return True


@case
def a_file_that_goes_while_it_is_mounted_is_stale():
    with scratch() as directory:
        source = Path(shutil.copytree(DATASETS / 'blobs_2.2', directory / 'set'))
        row, _, file = sidecar_of(source, DEDICATED)
        with mounted(source, options=['--direct_io=on']) as mountpoint:
            path = mountpoint / 'set' / 'blob' / 'blob.d' / str(row)
            same(len(path.read_bytes()), 500)
            file.unlink()
            fails(errno.ESTALE, path.read_bytes)
            shutil.rmtree(file.parent)
            fails(errno.ESTALE, path.read_bytes)


@case
def what_is_elsewhere_is_read_only_where_it_is_allowed():
    with with_outside() as (source, base, elsewhere, uri):
        with mounted(source, options=['--direct_io=on']) as mountpoint:
            field = mountpoint / 'set' / 'elsewhere'
            whole, part, in_base = 0, 1, 2
            fails(errno.EIO, (field / 'blob.d' / str(whole)).stat)  # its size is the file's
            same((field / 'blob.d' / str(part)).stat().st_size, 50)
            for row in part, in_base:
                fails(errno.EIO, (field / 'blob.d' / str(row)).read_bytes)
            fails(errno.EIO, (field / 'data.bin').stat)
            reported = [error['what'] for error in harness.errors_of(mountpoint)]
            same([what for what in reported if 'option bases' not in what], [])
            same(any(uri in what for what in reported) and any("'a b'" in what and str(base) in what
                                                           for what in reported), True, reported)
            same(len(lines(field / 'rows.jsonl')), EXPECTED['blobs_2.2']['versions'][-1]['rows'])
            check_files(mountpoint / 'set' / 'blob')
        with mounted(source, options=['--direct_io=on', f'--bases={base}']) as mountpoint:
            field = mountpoint / 'set' / 'elsewhere'
            same((field / 'blob.d' / '1').stat().st_size, 50)
            fails(errno.EIO, (field / 'blob.d' / '1').read_bytes)
        # neither links nor names leave the allowed directories
        outer = base.parent / 'outer'
        (base / 'a b').rename(outer)
        (base / 'a b').symlink_to(outer)
        with mounted(source, options=['--direct_io=on', f'--bases={base}',
                                      f'--bases={elsewhere}']) as mountpoint:
            field = mountpoint / 'set' / 'elsewhere'
            rows = [row and row['blob_uri'] for row in lines(field / 'rows.jsonl')]
            fails(errno.EACCES, (field / 'blob.d' / str(rows.index('a b', rows.index('a b') + 1))).read_bytes)
            same((field / 'blob.d' / '0').read_bytes(), OUTSIDE)
            same((field / 'blob.d' / '1').read_bytes(), OUTSIDE[3:53])


@case
def a_uri_that_is_no_path_is_refused_by_its_name():
    for uri in 's3://bucket/b', 'file://host/b', 'relative/b', 'http://[/b', 'file:///absent/../etc/b':
        with scratch() as directory:
            source = Path(shutil.copytree(DATASETS / 'blobs_2.2', directory / 'set'))
            uri = uri.ljust(len(ABSENT_URI), 'b')
            for file in (source / 'data').glob('*.lance'):
                file.write_bytes(file.read_bytes().replace(ABSENT_URI.encode(), uri.encode()))
            with mounted(source, options=['--direct_io=on', '--bases=/etc']) as mountpoint:
                fails(errno.EIO, (mountpoint / 'set' / 'elsewhere' / 'blob.d' / '1').read_bytes)
                error, = harness.errors_of(mountpoint)
                same(uri in error['what'], True, error)


@case
def chosen_rows_and_chains_have_theirs():
    managed = DATASETS / 'managed_blobs_2.2'
    with mounted(managed) as mountpoint:
        field = mountpoint / managed.name / 'blob'
        values = values_of(field)
        ids = (mountpoint / managed.name / 'id' / 'data.bin').read_bytes()
    with scratch() as directory:
        chosen = directory / 'chosen.txt'
        rows = [1, 2, 3, 9, 17, 20, 21, 24, 25]
        chosen.write_text(''.join(f'{row}\n' for row in rows))
        with mounted(managed, options=['-o', f'select={chosen}']) as mountpoint:
            same(check_files(mountpoint / managed.name / 'blob'), [values[row] for row in rows])
        copy = Path(shutil.copytree(managed, directory / 'second'))
        with mounted(managed, copy, options=['-o', 'chain']) as mountpoint:
            dataset = mountpoint / managed.name
            same((dataset / 'id' / 'data.bin').read_bytes(), ids * 2)
            same(check_files(dataset / 'blob'), values * 2)
        for file in (copy / '_blobs').iterdir():
            file.unlink()
        os.utime(copy / '_blobs', (1, 1))
        with mounted(managed, copy, options=['-o', 'chain', '--direct_io=on']) as mountpoint:
            field = mountpoint / managed.name / 'blob' / 'blob.d'
            row = next(row for row, value in enumerate(values) if value and len(value) >= 50)
            same((field / str(row)).read_bytes(), values[row])
            fails(errno.EIO, (field / str(row + len(values))).read_bytes)
            same(str(copy) in harness.errors_of(mountpoint)[0]['what'], True)


@case
def a_data_file_alone_has_the_descriptions():
    source = min((DATASETS / 'blobs_2.2' / 'data').glob('*.lance'))
    with mounted(source) as mountpoint:
        blob = mountpoint / source.stem / 'blob'
        same({'data.bin', 'offsets.bin', 'blob.d'} & set(os.listdir(blob)), set())
        same((blob / 'kind' / 'data.bin').exists(), True)


if __name__ == '__main__':
    run(at_once=3)
