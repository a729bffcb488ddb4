#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Roaring bitmaps of 32 and 64 bits by pyroaring, compared with the values that it iterates
over.

Sparse and dense ones, runs, full containers, values at both ends of containers and of all
numbers, empty ones. Each container agrees with its line of pages.jsonl. Options: cases.py.
"""
import json
import random
import sys

from cases import need, problems_of_copy, run_cases

np, pyroaring = need('numpy', 'pyroaring')

CONTAINER = 1 << 16


def random_values(chooser, bits):
    """A few containers, each filled in a random way."""
    values = np.zeros(0, 'u8')
    keys = [0, 1, (1 << (bits - 16)) - 1, (1 << 16) - 1,
            *(chooser.randrange(1 << (bits - 16)) for _ in range(4))]
    for key in chooser.sample(keys, chooser.choice([0, 1, 2, 5])):
        low = chooser.choice([some, many, runs, full, ends])(chooser)
        values = np.union1d(values, np.asarray(low, 'u8') + np.uint64(key * CONTAINER))
    return values


def some(chooser):
    return chooser.sample(range(CONTAINER), chooser.choice([1, 2, 100, 4095, 4096]))


def many(chooser):
    return chooser.sample(range(CONTAINER), chooser.choice([4097, 20000, 65535]))


def runs(chooser):
    borders = sorted(chooser.sample(range(CONTAINER), 2 * chooser.choice([1, 3, 50, 2000])))
    return np.concatenate([np.arange(first, last) for first, last in zip(borders[::2], borders[1::2])])


def full(_):
    return np.arange(CONTAINER)


def ends(_):
    return [0, CONTAINER - 1]


def write(seed, directory):
    chooser = random.Random(seed)
    bits = chooser.choice([32, 64])
    bitmap = (pyroaring.BitMap if bits == 32 else pyroaring.BitMap64)(random_values(chooser, bits).tolist())
    optimized = chooser.random() < 0.6 and bitmap.run_optimize()
    path = directory / f'random_{seed}.roaring'
    path.write_bytes(bitmap.serialize())
    return [(path, f'{bits} bits, {len(bitmap)} values{", runs" if optimized else ""}')]


def problems(ntuple, path):
    content = path.read_bytes()
    try:
        bitmap, dtype = pyroaring.BitMap.deserialize(content), '<u4'
        assert bitmap.serialize() == content
    except Exception:
        bitmap, dtype = pyroaring.BitMap64.deserialize(content), '<u8'
    expected = np.array(list(bitmap), dtype)

    def compare(tree):
        field = tree / path.stem / 'values'
        found = np.load(field / 'data.npy')
        lines = [json.loads(line) for line in (field / 'column.0/pages.jsonl').read_text().splitlines()]
        rows = [json.loads(line)['values']
                for line in (tree / path.stem / 'rows.jsonl').read_text().splitlines()]
        keys, counts = np.unique(expected >> 16, return_counts=True)
        reported = {'data.npy': found.dtype == dtype and np.array_equal(found, expected),
                'data.bin': (field / 'data.bin').read_bytes() == expected.tobytes(),
                'rows.jsonl': rows == expected.tolist(),
                'pages.jsonl': [((line.get('bucket', 0) << 16) + line['key'], line['elements'])
                                for line in lines] == list(zip(keys.tolist(), counts.tolist()))}
        return [f'{name} is not what the bitmap is' for name, is_so in reported.items() if not is_so]

    return problems_of_copy(ntuple, path, compare)


if __name__ == '__main__':
    sys.exit(run_cases(__doc__, write, problems))
