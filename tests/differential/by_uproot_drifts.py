#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Chains of random files with different schemas, with `chain=union`: compared with what uproot
reads from each of them, and nulls for fields that a file lacks.

From file to file, fields and members appear and disappear, change their order, and numbers
change their types if one type holds them all. Options: cases.py.
"""
import json
import random
import sys
import warnings

from by_uproot import DEPTH, MAX_FIELDS, array, kind
from cases import need
from rntuple_files import run_writer

np, = need('numpy')

MAX_FILES = 6
# Number types that another type can hold.
FAMILIES = [['i1', 'i2', 'i4', 'i8'], ['u1', 'u2', 'u4', 'u8'], ['i1', 'u1', 'i2', 'u2', 'i4', 'u4'],
            ['f4', 'f8'],
            ['i1', 'u2', 'f4', 'i4', 'f8'], ['bool'], ['i8'], ['u8']]


def families(chooser, of):
    """A type with a family in place of each number."""
    if isinstance(of, list):
        return [families(chooser, of[0])]
    if isinstance(of, dict):
        return {name: families(chooser, member) for name, member in of.items()}
    return of if of == 'text' else tuple(chooser.choice(FAMILIES))


def drifted(chooser, of):
    """The type in one of the files."""
    if isinstance(of, list):
        return [drifted(chooser, of[0])]
    if isinstance(of, dict):
        names = [name for name in of if chooser.random() < 0.7] or [chooser.choice([*of])]
        chooser.shuffle(names)
        return {name: drifted(chooser, of[name]) for name in names}
    return of if of == 'text' else chooser.choice(of)


def united(types):
    """Members in the order of their first file, numbers of the type to which NumPy promotes
    theirs."""
    if isinstance(types[0], list):
        return [united([of[0] for of in types])]
    if isinstance(types[0], dict):
        names = dict.fromkeys(name for of in types for name in of)
        return {name: united([of[name] for of in types if name in of]) for name in names}
    return types[0] if types[0] == 'text' else np.result_type(*types)


def filled(value, of):
    """A value with all members that its file lacks; None: the file has none of it."""
    if isinstance(of, list):
        return [filled(item, of[0]) for item in value or []]
    if isinstance(of, dict):
        return {name: filled((value or {}).get(name), member) for name, member in of.items()}
    return value or '' if of == 'text' else of.type(0 if value is None else value).item()


def write_file(chooser, path, schema):
    """Written by uproot; returns what it reads."""
    import uproot
    with uproot.recreate(path, compression=chooser.choice([None, uproot.ZLIB(1), uproot.ZSTD(3)])) as file:
        ntuple = file.mkrntuple('random', {field: array(chooser, of, 1).type.content for field,
                                           of in schema.items()})
        for length in [chooser.choice([0, 1, 2, 60]) for _ in range(chooser.randint(0, 3))]:
            ntuple.extend({field: array(chooser, of, length) for field, of in schema.items()})
    with uproot.open(path) as file:
        return file['random'].arrays().to_list()


def write(seed, directory):
    warnings.simplefilter('ignore')
    chooser = random.Random(seed)
    schema = families(chooser, {f'f{k}': kind(chooser, DEPTH) for k in range(chooser.randint(1, MAX_FIELDS))})
    types = [drifted(chooser, schema) for _ in range(chooser.randint(2, MAX_FILES))]
    rows = [row for i, of in enumerate(types) for row in write_file(chooser, directory / f'{i:02}.root', of)]
    whole = united(types)
    rows = [filled(row, whole) for row in rows]
    fields = {name: {'values': [row[name] for row in rows]} for name in whole}
    (directory / f'{seed}.txt').write_text(''.join(f'{i:02}.root\n' for i in range(len(types))))
    (directory / f'{seed}.json').write_text(json.dumps({'datasets': {'random': {'entries': len(rows),
            'fields': fields}}}))


if __name__ == '__main__':
    sys.exit(run_writer(__doc__, __file__, 'uproot', write, '.txt', ['--chain=union']))
