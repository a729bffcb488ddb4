#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lance files of random schemas and values by pylance, compared with what pylance reads from
them.

For each file, NTUPLE's tree must equal Arrow's arrays as docs/tree.md says: data with zeros for
nulls, offsets that begin with 0, validity combined with that of surrounding structures.
table.arrow has the same values, and `NTUPLE verify` reports nothing. Options: cases.py.
"""
import random
import sys

from cases import problems_of_copy, run_cases
from lance_values import NUMBERS, REALS, Values, problems_of_tree, random_type

import pyarrow as pa
from lance.file import LanceFileReader, LanceFileWriter
from lance_columns import read_columns

METADATA = [{'lance-encoding:compression': 'zstd'}, {'lance-encoding:compression': 'lz4'},
            {'lance-encoding:compression': 'fsst'},
            {'lance-encoding:compression': 'none'}, {'lance-encoding:structural-encoding': 'fullzip'},
            {'lance-encoding:structural-encoding': 'miniblock'},
            {'lance-encoding:bss': 'on', 'lance-encoding:compression': 'lz4'},
            {'lance-encoding:rle-threshold': '0.9'}, {'lance-encoding:dict-divisor': '1'}]
DEPTH = 3


def packed_type(chooser, version):
    """A structure that is stored row by row."""
    members = [*NUMBERS, *REALS, pa.binary(5), pa.list_(pa.float32(), 4), pa.list_(pa.uint8(), 3),
               pa.decimal128(20, 2)]
    if version == '2.2':
        members += [pa.string(), pa.binary()]
    return pa.struct([pa.field(f'm{k}', chooser.choice(members)) for k in range(chooser.randint(1, 4))])


def struct_list_type(chooser):
    """A fixed-size list of structures, perhaps within a structure, or with nested ones."""
    names = [f'm{k}' for k in range(chooser.randint(1, 3))]
    item = pa.struct([pa.field(name, struct_list_type(chooser) if chooser.random() < 0.15
                               else random_type(chooser, DEPTH - 1))
                      for name in names])
    of = pa.list_(item, chooser.choice([1, 2, 3, 7]))
    return pa.struct([pa.field('only', of)]) if chooser.random() < 0.2 else of


def write(seed, directory):
    chooser = random.Random(seed)
    path = directory / f'random_{seed}.lance'
    version = chooser.choice(['2.0', '2.1', '2.1', '2.2', '2.2'])
    lengths = [chooser.choice([1, 2, 100, 1025, 3000]) for _ in range(chooser.randint(1, 2))]
    fields = []
    for k in range(chooser.randint(1, 5)):
        if chooser.random() < 0.15:
            fields.append(pa.field(f'f{k}', packed_type(chooser, version),
                                   metadata={'packed': 'true', 'lance-encoding:packed': 'true'}))
            continue
        of = struct_list_type(chooser) if version == '2.2' and chooser.random() < 0.2 else random_type(
                chooser, DEPTH)
        fields.append(pa.field(f'f{k}', of, metadata=chooser.choice([None, None, *METADATA])))
    schema = pa.schema(fields)
    with LanceFileWriter(str(path), schema, version=version) as writer:
        for length in lengths:
            writer.write_batch(pa.record_batch([Values(chooser, version).array(field.type, length)
                                                for field in schema], schema=schema))
    read_columns(path, schema.names)
    return [(path, version)]


def problems(ntuple, path):
    table = read_columns(path, [field.name for field in LanceFileReader(str(path)).metadata().schema])
    return problems_of_copy(ntuple, path, lambda tree: problems_of_tree(tree / path.stem, table))


if __name__ == '__main__':
    sys.exit(run_cases(__doc__, write, problems))
