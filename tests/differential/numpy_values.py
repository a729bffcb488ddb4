# SPDX-License-Identifier: MIT
"""Random NumPy arrays, and the problems of the directory of a field that must equal one."""
import json

import numpy as np

NUMBERS = ['b1', *(f'{order}{kind}' for order in '<>' for kind in ('i2', 'u2', 'i4', 'u4', 'i8', 'u8', 'f2',
                                                                   'f4', 'f8')), 'i1', 'u1']
OTHERS = ['<c8', '<c16', '>c16', 'S1', 'S7', '<U3', '>U5', '<M8[s]', '<M8[ns]', '<m8[us]', '<M8[D]']


def random_dtype(chooser, may_be_structure=True):
    if may_be_structure and chooser.random() < 0.15:
        return np.dtype([(f'm{k}', chooser.choice([*NUMBERS, *OTHERS]))
                         for k in range(chooser.randint(1, 4))])
    return np.dtype(chooser.choice([*NUMBERS, *NUMBERS, *OTHERS]))


def random_shape(chooser, most=20000):
    dimensions = chooser.choice([1, 1, 1, 2, 3, 4])
    if dimensions == 1:
        return (chooser.choice([0, 1, 2, 7, 255, 1000, most]),)
    return tuple(chooser.choice([1, 2, 3, 5, 17]) for _ in range(dimensions))


def random_array(chooser, dtype, shape):
    """Random bits, few distinct values, or ascending numbers: data that compresses, and data
    that does not."""
    count = int(np.prod(shape, dtype=np.int64))
    if dtype.names:
        made = np.zeros(shape, dtype)
        for name in dtype.names:
            made[name] = random_array(chooser, dtype[name], shape)
        return made
    if dtype.kind == 'U':
        words = ['', 'a', '\u00e9', '\u65e5\u672c', 'xyz', 'longer']
        return np.array([chooser.choice(words) for _ in range(count)], dtype).reshape(shape)
    style = chooser.choice(['any', 'few', 'rising'])
    if style == 'rising' and dtype.kind in 'iufc':
        with np.errstate(over='ignore'):
            return (np.arange(count) * chooser.randint(1, 9)).astype(dtype).reshape(shape)
    bits = np.frombuffer(chooser.randbytes(count * dtype.itemsize), dtype)
    if dtype.kind == 'b':
        bits = np.frombuffer(chooser.randbytes(count), 'u1') % 2 == 1
    return (bits[:4].repeat(count // 4 + 1)[:count] if style == 'few' and count > 4 else bits).reshape(shape)


def problems_of_files(directory, array):
    """The problems of data.bin and data.npy, and of the members of structures below them."""
    found = []
    loaded = np.load(directory / 'data.npy', allow_pickle=False)
    if (loaded.dtype, loaded.shape) != (array.dtype, array.shape):
        found.append(f'data.npy: {loaded.dtype} {loaded.shape} for {array.dtype} {array.shape}')
    elif loaded.tobytes() != array.tobytes():
        found.append('data.npy has other values')
    order = 'F' if loaded.flags.f_contiguous and not loaded.flags.c_contiguous else 'C'
    if (directory / 'data.bin').read_bytes() != array.tobytes(order):
        found.append(f'data.bin is not what the array is, in the order {order}')
    for name in array.dtype.names or ():
        member = np.load(directory / name / 'data.npy', allow_pickle=False)
        if member.dtype != array.dtype[name] or member.tobytes() != array[name].tobytes():
            found.append(f'{name}/data.npy has other values')
    return found


def problems_of_rows(path, name, array):
    """The problems of the lines of rows.jsonl, for numbers that JSON can represent."""
    lines = path.read_bytes().splitlines()
    if len(lines) != len(array):
        return [f'{path.name}: {len(lines)} lines for {len(array)}']
    if array.dtype.kind not in 'iub' or not array.size:
        return []
    for number, line in enumerate(lines):
        if json.loads(line)[name] != array[number].tolist():
            return [f'{path.name}: line {number + 1}: {line[:80]} for {str(array[number])[:80]}']
    return []
