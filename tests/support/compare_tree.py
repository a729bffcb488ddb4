#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare a tree that ntuplefs serves with the values of another reader.

usage: compare_tree.py [-v] EXPECTED.json TREE

TREE is a mountpoint, or the output of `ntuple cp FILE DIRECTORY`. tests/data/ORIGIN.md describes
EXPECTED.json. The values of every field are built from the logical files (data, offsets, tags,
index, valid) of the field and of its sub-fields, and compared entry by entry. One case per field
and dataset: prints a line for each that fails (with -v for each), then 'N passed, N failed';
exit status 1 if one failed, 2 for wrong usage. Needs NumPy.
"""
import argparse
import hashlib
import json
import os
import re
import sys
from pathlib import Path
from urllib.parse import unquote_to_bytes

import numpy as np

ARRAY = re.compile(r'^std::array<.*,\s*(\d+)>$')
BITSET = re.compile(r'^std::bitset<(\d+)>$')
ZERO_OR_ONE = ('std::optional<', 'std::unique_ptr<')
ITEMS_BY_NUMBER = ('std::pair<', 'std::tuple<')


class Different(Exception):
    """The tree is not as expected; the text says where."""


# ---- reading a field's rows from its files ----

def exact_name(document):
    if 'name_hex' in document:
        return bytes.fromhex(document['name_hex']).decode('utf-8', 'surrogateescape')
    return document['name']


def children(directory):
    """The field directories below one, as [(exact name, path)] in the order of the schema."""
    found = []
    for child in directory.iterdir():
        if '.' not in child.name and (child / 'field.json').exists():
            document = json.loads((child / 'field.json').read_text())
            found.append((document['id'], exact_name(document), child))
    return [(name, child) for _, name, child in sorted(found)]


def load(directory, stem):
    """X.npy, which must have the bytes of X.bin."""
    array = np.load(directory / f'{stem}.npy', allow_pickle=False)
    if array.tobytes() != (directory / f'{stem}.bin').read_bytes():
        raise Different(f'{directory.name}: {stem}.npy and {stem}.bin differ')
    return array


def load_rows(directory, stem, rows):
    array = load(directory, stem).reshape(-1)
    if len(array) != rows:
        raise Different(f'{directory.name}: {stem} has {len(array)} elements instead of {rows}')
    return array


def load_offsets(directory, rows):
    offsets = load_rows(directory, 'offsets', rows + 1)
    if offsets.dtype != np.dtype('<i8') or offsets[0] != 0 or np.any(offsets[1:] < offsets[:-1]):
        raise Different(f'{directory.name}: offsets are not ascending 64-bit numbers from 0')
    return offsets.tolist()


def plain_rows(directory, document, rows):
    bits = BITSET.match(document['type'])
    array = load(directory, 'data')
    width = int(bits[1]) if bits else 1
    if array.size != rows * width:
        raise Different(f'{directory.name}: data has {array.size} elements instead of {rows} * {width}')
    if bits:
        return array.reshape(rows, width).tolist()
    return array.reshape(-1).tolist()


def byte_rows(directory, document, rows):
    offsets = load_offsets(directory, rows)
    data = load_rows(directory, 'data', offsets[-1]).tobytes()
    pieces = [data[begin:end] for begin, end in zip(offsets, offsets[1:])]
    if document['role'] == 'streamed':
        return [piece.hex() for piece in pieces]
    return [piece.decode('utf-8', 'surrogateescape') for piece in pieces]


def collection_rows(directory, document, rows):
    offsets = load_offsets(directory, rows)
    [(_, item)] = children(directory)
    items = field_rows(item, offsets[-1])
    lists = [items[begin:end] for begin, end in zip(offsets, offsets[1:])]
    if not document['type'].startswith(ZERO_OR_ONE):
        return lists
    if any(len(one) > 1 for one in lists):
        raise Different(f'{directory.name}: more than one item in {document["type"]}')
    return [one[0] if one else None for one in lists]


def dense_optional_rows(directory, rows):
    valid = load_rows(directory, 'valid', rows)
    [(_, item)] = children(directory)
    return [value if is_valid else None for value, is_valid in zip(field_rows(item, rows), valid)]


def variant_rows(directory, rows):
    tags, index = load_rows(directory, 'tags', rows), load_rows(directory, 'index', rows)
    alternatives = [None]
    for number, (_, child) in enumerate(children(directory), 1):
        alternatives.append(field_rows(child, int(np.count_nonzero(tags == number))))
    return [alternatives[tag][at] if tag else None for tag, at in zip(tags.tolist(), index.tolist())]


def record_rows(directory, document, rows):
    members = [(name, field_rows(child, rows)) for name, child in children(directory)]
    if document['type'].startswith(ITEMS_BY_NUMBER):
        return [[values[row] for _, values in members] for row in range(rows)]
    return [{name: values[row] for name, values in members} for row in range(rows)]


def wrapper_rows(directory, document, rows):
    """Enums, atomics and arrays: one sub-field; a row of an array has several of its rows."""
    [(_, item)] = children(directory)
    array = ARRAY.match(document['type'])
    if not array:
        return field_rows(item, rows)
    width = int(array[1])
    items = field_rows(item, rows * width)
    return [items[row * width:(row + 1) * width] for row in range(rows)]


def field_rows(directory, rows):
    """The values of a field's rows, as lists, objects, numbers and texts."""
    document = json.loads((directory / 'field.json').read_text())
    has = {stem for stem in ('data', 'offsets', 'tags', 'valid') if (directory / f'{stem}.bin').exists()}
    if 'tags' in has:
        return variant_rows(directory, rows)
    if 'valid' in has:
        return dense_optional_rows(directory, rows)
    if {'offsets', 'data'} <= has:
        return byte_rows(directory, document, rows)
    if 'offsets' in has:
        return collection_rows(directory, document, rows)
    if 'data' in has:
        return plain_rows(directory, document, rows)
    if document['role'] == 'record':
        return record_rows(directory, document, rows)
    return wrapper_rows(directory, document, rows)


# ---- comparing ----

def text_of(value):
    """One text for one value: NaN equals NaN, -0.0 is not 0.0, 1 is not 1.0."""
    return json.dumps(value, ensure_ascii=False)


def digest(values):
    return hashlib.sha256(''.join(text_of(value) + '\n' for value in values).encode('utf-8',
            'surrogateescape')).hexdigest()


def compare_values(found, expected):
    samples = expected['sample'].items() if 'sample' in expected else enumerate(expected['values'])
    for row, value in samples:
        if text_of(found[int(row)]) != text_of(value):
            raise Different(
                    f'entry {row}: {text_of(found[int(row)])[:200]} instead of {text_of(value)[:200]}')
    if 'sha256' in expected and digest(found) != expected['sha256']:
        raise Different('the samples agree, but not all values: the digest differs')


def compare_damaged(directory, expected, damaged):
    """A page that cannot be read: its bytes give an error, those of other pages do not."""
    itemsize = np.dtype(json.loads((directory / 'field.json').read_text())['dtype']).itemsize
    first, end = (row * itemsize for row in damaged['rows'])
    file = os.open(directory / 'data.bin', os.O_RDONLY)
    try:
        try:
            os.pread(file, end - first, first)
            raise Different('the damaged page was read without an error')
        except OSError:
            pass
        for row, value in expected['sample'].items():
            position = int(row) * itemsize
            # in a block of the kernel's cache that the page does not touch
            if position // 4096 * 4096 >= end:
                found = int.from_bytes(os.pread(file, itemsize, position), 'little')
                if found != value:
                    raise Different(f'entry {row}: {found} instead of {value}')
    finally:
        os.close(file)


def entry(directory, name):
    """The directory of a dataset or of a parent directory; its name may be percent-encoded."""
    if name not in ('', '.', '..') and '\0' not in name and (directory / name).is_dir():
        return directory / name
    for child in directory.iterdir():
        if child.is_dir() and unquote_to_bytes(child.name) == name.encode('utf-8', 'surrogateescape'):
            return child
    raise Different(f'{directory}: nothing is called {name!r}')


def compare_dataset(tree, path, expected, report):
    try:
        directory = tree
        for part in path.split('/'):
            directory = entry(directory, part)
        document = json.loads((directory / 'ntuple.json').read_text())
        if document['entries'] != expected['entries']:
            raise Different(f'{document["entries"]} entries instead of {expected["entries"]}')
        fields = dict(children(directory))
        if set(fields) != set(expected['fields']):
            raise Different(f'the fields differ: {sorted(set(fields) ^ set(expected["fields"]))}')
        report(path, None)
    except (Different, OSError, ValueError, KeyError) as error:
        report(path, error)
        return
    for name, values in expected['fields'].items():
        try:
            if 'damaged' in values:
                compare_damaged(fields[name], values, values['damaged'])
            else:
                compare_values(field_rows(fields[name], expected['entries']), values)
            report(f'{path}/{name}', None)
        except (Different, OSError, ValueError, KeyError, IndexError) as error:
            report(f'{path}/{name}', error)


def compare_tree(expected_path, tree, report):
    """Calls report(what, error or None) for each dataset and each field."""
    expected = json.loads(Path(expected_path).read_text())
    for path, dataset in expected['datasets'].items():
        compare_dataset(Path(tree), path, dataset, report)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('-v', '--verbose', action='store_true', help='print a line for each case')
    parser.add_argument('expected', metavar='EXPECTED.json')
    parser.add_argument('tree', metavar='TREE')
    arguments = parser.parse_args()
    counts = {True: 0, False: 0}

    def report(what, error):
        counts[error is None] += 1
        if error is not None:
            print(f'FAIL {what}: {type(error).__name__}: {error}')
        elif arguments.verbose:
            print(f'ok   {what}')

    compare_tree(arguments.expected, arguments.tree, report)
    print(f'{counts[True]} passed, {counts[False]} failed')
    return 1 if counts[False] else 0


if __name__ == '__main__':
    sys.exit(main())
