#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Bloscpack files, and arrays and tables of BLZ with chunks by bloscpack, compared with the
arrays that were written.

Arrays of any type and shape, in both orders, with all compressors, levels and filters, sizes of
chunks, checksums, metadata, with or without offsets and spare room for chunks. bloscpack's own
reader must find the same array in a file. Options: cases.py.
"""
import collections
import collections.abc
import json
import random
import sys

from cases import need, problems_of_copy, run_cases

np, = need('numpy')
collections.MutableMapping = collections.abc.MutableMapping  # bloscpack 0.16 imports this name from there
collections.Mapping = collections.abc.Mapping
blosc, bloscpack = need('blosc', 'bloscpack')

from numpy_values import (  # noqa: E402
    problems_of_files, problems_of_rows, random_array, random_dtype, random_shape
)

CHECKSUMS = ['None', 'adler32', 'crc32', 'md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512']
BLOSCPACK_1 = b'blpk' + bytes([1, 0, 0, 0])


def compression(chooser, itemsize):
    return {'typesize': min(itemsize, 255), 'clevel': chooser.randint(0, 9),
            'shuffle': chooser.choice([0, 1, 2]),
            'cname': chooser.choice(blosc.compressor_list())}


def write_file(chooser, path):
    array = random_array(chooser, random_dtype(chooser), random_shape(chooser))
    if chooser.random() < 0.25:
        array = np.asfortranarray(array)
    options = compression(chooser, array.dtype.itemsize)
    offsets = chooser.random() < 0.8
    chunk = max(1, chooser.choice([512, 4096, 100_000,
                                   1 << 20]) // array.dtype.itemsize) * array.dtype.itemsize
    bloscpack.pack_ndarray_to_file(
        array, str(path), chunk_size=chunk, blosc_args=bloscpack.BloscArgs(**options),
        bloscpack_args=bloscpack.BloscpackArgs(offsets=offsets, checksum=chooser.choice(CHECKSUMS),
                                               max_app_chunks=chooser.choice([0, 3, 100]) if offsets else 0),
        metadata_args=bloscpack.MetadataArgs(meta_checksum=chooser.choice(CHECKSUMS),
                                             meta_codec=chooser.choice(['None', 'zlib']),
                                             meta_level=chooser.randint(1, 9),
                                             max_meta_size=chooser.choice([4000, 9000])))
    found = bloscpack.unpack_ndarray_from_file(str(path))
    assert found.dtype == array.dtype and found.tobytes() == array.tobytes(), 'bloscpack reads something else'
    return {'values': array}, f'{array.dtype} {array.shape} {options["cname"]}'


def write_array(chooser, path, array):
    """A directory as BLZ and bcolz write it: so many rows in each chunk, the last one as long as
    the others."""
    rows = chooser.choice([1, 3, 64, 5000]) if array.size < 3000 else 5000
    dtype = repr(array.dtype.descr) if array.dtype.names else str(array.dtype)
    for folder in 'meta', 'data':
        (path / folder).mkdir(parents=True)
    (path / 'meta/sizes').write_text(json.dumps({'shape': list(array.shape), 'nbytes': array.nbytes,
                                                 'cbytes': array.nbytes}))
    (path / 'meta/storage').write_text(json.dumps(
        {'dtype': dtype, 'bparams': {'clevel': 5, 'shuffle': True}, 'chunklen': rows,
         'expectedlen': len(array), 'dflt': 0}))
    (path / '__attrs__').write_text('{}')
    for number, first in enumerate(range(0, len(array), rows)):
        part = np.zeros((rows, *array.shape[1:]), array.dtype)
        part[:len(array) - first] = array[first:first + rows]
        if chooser.random() < 0.5:
            part = part[:len(array) - first]  # bcolz cuts the last one
        chunk = blosc.compress(part.tobytes(), **compression(chooser, array.dtype.itemsize))
        (path / f'data/__{number}.blp').write_bytes(BLOSCPACK_1 + (1).to_bytes(8, 'little') + chunk)


def write_directory(chooser, path):
    if chooser.random() < 0.6:
        shape = random_shape(chooser)
        array = random_array(chooser, random_dtype(chooser), shape)
        write_array(chooser, path, array)
        return {'values': array}, f'{array.dtype} {array.shape}'
    rows = chooser.choice([1, 10, 300])
    columns = {f'c{k}': random_array(chooser, random_dtype(chooser), (rows, *random_shape(chooser)[1:]))
               for k in range(chooser.randint(1, 5))}
    for name, array in columns.items():
        write_array(chooser, path / name, array)
    (path / '__rootdirs__').write_text(json.dumps({'names': list(columns),
                                                   'dirs': {name: name for name in columns}}))
    (path / '__attrs__').write_text('{}')
    return columns, f'table {" ".join(str(array.dtype) for array in columns.values())}'


arrays = {}


def write(seed, directory):
    chooser = random.Random(seed)
    path = directory / f'random_{seed}{".blp" if seed % 3 else ""}'
    arrays[path], reported = (write_file if seed % 3 else write_directory)(chooser, path)
    return [(path, reported)]


def problems(ntuple, path):
    def compare(tree):
        found = []
        for name, array in arrays.pop(path).items():
            found += [f'{name}: {problem}' for problem in problems_of_files(tree / path.stem / name, array)
                      + problems_of_rows(tree / path.stem / 'rows.jsonl', name, array)]
        return found

    return problems_of_copy(ntuple, path, compare)


if __name__ == '__main__':
    blosc.set_nthreads(1)
    sys.exit(run_cases(__doc__, write, problems))
