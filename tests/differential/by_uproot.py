#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files of random schemas by uproot, compared with what uproot reads from them, as in
by_root.py. Options: cases.py."""
import json
import random
import sys
import warnings

from cases import need
from rntuple_files import run_writer

np, = need('numpy')

NUMBERS = ['bool', 'i1', 'u1', 'i2', 'u2', 'i4', 'u4', 'i8', 'u8', 'f4', 'f8']
WORDS = ['', 'a', 'word', '\u00e9', '\u65e5\u672c', '"\\', 'line\nbreak']
DEPTH, MAX_FIELDS, MOST_MEMBERS = 3, 6, 3
VARIANTS = 3


def kind(chooser, depth):
    """A random type: a number's dtype, 'text', [type] for lists, {name: type} for records."""
    choice = chooser.random()
    if depth == 0 or choice < 0.5:
        return chooser.choice([*NUMBERS, 'text'])
    if choice < 0.8:
        return [kind(chooser, depth - 1)]
    return {f'm{k}': kind(chooser, depth - 1) for k in range(chooser.randint(1, MOST_MEMBERS))}


def number(chooser, dtype):
    dtype = np.dtype(dtype)
    if dtype.kind == 'b':
        return chooser.random() < 0.5
    if dtype.kind == 'f':
        return dtype.type(chooser.choice([chooser.uniform(-1000, 1000), float('inf'), -float('inf'), -0.0,
                                          1e-45]))
    limits = np.iinfo(dtype)
    return chooser.choice([limits.min, limits.max, 0, 1, chooser.randint(int(limits.min), int(limits.max))])


def array(chooser, of, length):
    """An awkward array of so many values of a type."""
    import awkward as ak
    if of == 'text':
        return ak.Array(ak.contents.ListOffsetArray(*text_parts(chooser, length),
                                                    parameters={'__array__': 'string'}))
    if isinstance(of, str):
        return ak.Array(np.array([number(chooser, of) for _ in range(length)], dtype=of))
    if isinstance(of, list):
        counts = [chooser.choice([0, 0, 1, 2, 3, 12]) for _ in range(length)]
        items = array(chooser, of[0], sum(counts))
        return ak.unflatten(items, np.array(counts, dtype='i8'))
    members = {name: array(chooser, member, length) for name, member in of.items()}
    return ak.zip(members, depth_limit=1)


def text_parts(chooser, length):
    import awkward as ak
    pieces = [chooser.choice(WORDS).encode() for _ in range(length)]
    offsets = np.concatenate([[0], np.cumsum([len(piece) for piece in pieces])]).astype('i8')
    characters = np.frombuffer(b''.join(pieces), dtype='u1')
    return ak.index.Index64(offsets), ak.contents.NumpyArray(characters, parameters={'__array__': 'char'})


def write(seed, directory):
    warnings.simplefilter('ignore')
    import awkward as ak
    import uproot
    chooser = random.Random(seed)
    schema = {f'f{k}': kind(chooser, DEPTH) for k in range(chooser.randint(1, MAX_FIELDS))}
    compressions = [None, uproot.ZLIB(1), uproot.LZMA(1), uproot.LZ4(1), uproot.ZSTD(3)]
    for variant in range(VARIANTS):
        chooser = random.Random(seed * 1000 + variant)
        path = directory / f'{seed}_{variant}.root'
        with uproot.recreate(path, compression=chooser.choice(compressions)) as file:
            parts = [{name: array(chooser, of, length) for name, of in schema.items()}
                     for length in (chooser.choice([1, 2, 50, 300]) for _ in range(chooser.randint(1, 3)))]
            ntuple = file.mkrntuple('random', parts[0])
            for part in parts[1:]:
                ntuple.extend(part)
        with uproot.open(path) as file:
            found = file['random'].arrays()
        for name in schema:  # it reads what was written
            given = ak.concatenate([part[name] for part in parts])
            assert json.dumps(given.to_list()) == json.dumps(found[name].to_list()), name
        fields = {name: {'values': found[name].to_list()} for name in schema}
        document = {'datasets': {'random': {'entries': len(found), 'fields': fields}}}
        path.with_suffix('.json').write_text(json.dumps(document))


if __name__ == '__main__':
    sys.exit(run_writer(__doc__, __file__, 'uproot', write))
