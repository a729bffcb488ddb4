#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""TTrees of random schemas by uproot, compared with what was written into them: numbers, arrays
of fixed size, lists of numbers with their counts, strings, records of numbers, lists of records.
Options: cases.py."""
import random
import sys
import warnings

from by_uproot import NUMBERS, WORDS, number
from cases import need
from rntuple_files import run_writer
from tree_files import problems, save
from tree_values import form, form_of_awkward

np, = need('numpy')

MAX_BRANCHES, MOST_MEMBERS, VARIANTS = 6, 3, 3


def kind(chooser):
    """A random type: a dtype, 'text', (dtype, shape), [dtype], {name: dtype}, [{name: dtype}]."""
    def members():
        return {f'm{k}': chooser.choice(NUMBERS) for k in range(chooser.randint(1, MOST_MEMBERS))}

    choice = chooser.random()
    if choice < 0.4:
        return chooser.choice(NUMBERS)
    if choice < 0.5:
        return chooser.choice(NUMBERS), tuple(chooser.randint(1, 3) for _ in range(chooser.randint(1, 2)))
    if choice < 0.7:
        return [chooser.choice(NUMBERS)]
    if choice < 0.8:
        return 'text'
    return members() if choice < 0.9 else [members()]


def column(chooser, of, length):
    """An array of so many values of a type."""
    import awkward as ak
    if of == 'text':
        return ak.Array(['', *(chooser.choice([*WORDS, 'x' * 254, 'y' * 255, 'z' * 700])
                               for _ in range(length))])[1:]
    if isinstance(of, str):
        return np.array([number(chooser, of) for _ in range(length)], dtype=of)
    if isinstance(of, tuple):
        return column(chooser, of[0], length * int(np.prod(of[1]))).reshape(length, *of[1])
    if isinstance(of, dict):
        return ak.zip({name: column(chooser, member, length) for name, member in of.items()})
    counts = np.array([chooser.choice([0, 0, 1, 2, 3, 12]) for _ in range(length)], dtype='i8')
    return ak.unflatten(column(chooser, of[0], int(counts.sum())), counts)


def declared(of):
    """A type for mktree."""
    if of == 'text':
        return 'string'
    if isinstance(of, list):
        return 'var * ' + (f'{{{", ".join(f"{name}: {plain(member)}" for name, member in of[0].items())}}}'
                           if isinstance(of[0], dict) else plain(of[0]))
    if isinstance(of, dict):
        return '{' + ', '.join(f'{name}: {plain(member)}' for name, member in of.items()) + '}'
    return np.dtype(of)


def plain(dtype):
    return np.dtype(dtype).name


def branches(name, of, array):
    """{branch: values} that uproot writes for a column."""
    import awkward as ak
    if isinstance(of, dict):
        return {f'{name}_{member}': form_of_awkward(array[member]) for member in of}
    if isinstance(of, list):
        counts = {f'n{name}': form('<i4', ak.num(array).to_list())}
        parts = {f'{name}_{member}': array[member] for member in of[0]} if isinstance(of[0],
                dict) else {name: array}
        return {**counts, **{part: form_of_awkward(values) for part, values in parts.items()}}
    return {name: form_of_awkward(array)}


def write(seed, directory):
    warnings.simplefilter('ignore')
    import awkward as ak
    import uproot
    chooser = random.Random(seed)
    schema = {f'b{k}': kind(chooser) for k in range(chooser.randint(1, MAX_BRANCHES))}
    compressions = [None, uproot.ZLIB(1), uproot.LZMA(1), uproot.LZ4(1), uproot.ZSTD(3)]
    for variant in range(VARIANTS):
        chooser = random.Random(seed * 1000 + variant)
        path, place = directory / f'{seed}_{variant}.root', chooser.choice(['random', 'in/a/random'])
        parts = [{name: column(chooser, of, length) for name, of in schema.items()}
                 for length in (chooser.choice([1, 2, 50, 300])
                                for _ in range(chooser.choice([0, 1, 2, 3, 12])))]
        with uproot.recreate(path, compression=chooser.choice(compressions)) as file:
            tree = file.mktree(place, {name: declared(of) for name, of in schema.items()})
            for part in parts:
                tree.extend(part)
        values = {}
        for name, of in schema.items():
            whole = ak.concatenate([part[name] for part in parts]) if parts else column(chooser, of, 0)
            values.update(branches(name, of, whole))
        save(path, {place: (sum(len(part['b0']) for part in parts), values)})


if __name__ == '__main__':
    sys.exit(run_writer(__doc__, __file__, 'uproot', write, problems=problems))
