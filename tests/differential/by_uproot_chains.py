#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Chains of up to 100 files of one random schema, compared with the result of
uproot.concatenate.

Files have clusters of any length, no clusters, or no entries, with every compression. Two of the
schemas also have files by ROOT, whose fields begin late or have several representations (their
values: tests/data). Options: cases.py.
"""
import json
import random
import shutil
import sys
import warnings
from pathlib import Path

from by_uproot import DEPTH, MAX_FIELDS, array, kind
from cases import need
from rntuple_files import run_writer

np, = need('numpy')

DATA = Path(__file__).resolve().parent.parent / 'data'
# Files by ROOT: file, dataset and its fields as uproot writes them.
BY_ROOT = [('late_fields', 'late', {'first': 'i4', 'list': ['f4'], 'number': 'i4'}),
           ('multi_representation', 'representations', {'number': 'f8', 'text': 'text'})]
EVERY_NTH_IS_LONG = 10


def write_file(chooser, path, name, schema):
    """Written by uproot; returns what it reads."""
    import uproot
    compressions = [None, uproot.ZLIB(1), uproot.LZMA(1), uproot.LZ4(1), uproot.ZSTD(3)]
    with uproot.recreate(path, compression=chooser.choice(compressions)) as file:
        ntuple = file.mkrntuple(name, {field: array(chooser, of, 1).type.content for field,
                                       of in schema.items()})
        for length in [chooser.choice([0, 0, 1, 2, 60]) for _ in range(chooser.randint(0, 3))]:
            ntuple.extend({field: array(chooser, of, length) for field, of in schema.items()})
    with uproot.open(path) as file:
        return file[name].arrays()


def write(seed, directory):
    warnings.simplefilter('ignore')
    import uproot
    chooser = random.Random(seed)
    count = 100 if seed % EVERY_NTH_IS_LONG == 0 else chooser.choice([2, 5, 20])
    source, name, schema = chooser.choice(
        [*BY_ROOT, (None, 'random', {f'f{k}': kind(chooser, DEPTH)
                                     for k in range(chooser.randint(1, MAX_FIELDS))})])
    known = source and json.loads((DATA / f'{source}.json').read_text())['datasets'][name]
    fields, entries, paths = {field: [] for field in schema}, 0, []
    for i in range(count):
        paths.append(directory / f'{i:02}.root')
        if source and chooser.random() < 0.3:
            shutil.copy(DATA / f'{source}.root', paths[-1])
            found = {field: known['fields'][field]['values'] for field in schema}
            entries += known['entries']
        else:
            part = write_file(chooser, paths[-1], name, schema)
            found = {field: part[field].to_list() for field in schema}
            entries += len(part)
        for field in schema:
            fields[field] += found[field]
    if not source and entries:  # it makes no array of no files
        whole = uproot.concatenate({path: name for path in paths})
        assert all(json.dumps(whole[field].to_list()) == json.dumps(fields[field]) for field in schema)
    (directory / f'{seed}.txt').write_text(''.join(f'{path.name}\n' for path in paths))
    document = {'datasets': {name: {'entries': entries,
                                    'fields': {field: {'values': values} for field,
                                               values in fields.items()}}}}
    (directory / f'{seed}.json').write_text(json.dumps(document))


if __name__ == '__main__':
    sys.exit(run_writer(__doc__, __file__, 'uproot', write, '.txt', ['--chain']))
