#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the test files of bloscpack, each with its expected values.

usage: make_bloscpack.py        needs bloscpack and NumPy: pip install bloscpack

bloscpack writes X.blp. X.json has the values from bloscpack's own reader. The output is
reproducible.
"""
import collections
import collections.abc
import hashlib
import json
from pathlib import Path

import numpy as np

collections.MutableMapping = collections.abc.MutableMapping  # bloscpack 0.16 imports this name from there
collections.Mapping = collections.abc.Mapping
import blosc            # noqa: E402
import bloscpack        # noqa: E402

HERE = Path(__file__).resolve().parent
FEW = 100

numbers = np.arange(1 << 19, dtype='<i8') * 3
blosc.set_nthreads(1)  # several threads would write blocks in any order
structures = np.zeros((2, 3, 2), [('x', '<i4'), ('y', '<f8')])
structures['x'] = np.arange(12).reshape(2, 3, 2)
structures['y'] = structures['x'] / 4
large_chunks = {'chunk_size': 1 << 21, 'blosc_args': bloscpack.BloscArgs(cname='zstd', clevel=1)}

# file -> (array, options of the writer)
FILES = {
    'blocks': (numbers, {**large_chunks, 'bloscpack_args': bloscpack.BloscpackArgs(checksum='None')}),
    'blocks_with_digests': (numbers, {**large_chunks,
                                      'bloscpack_args': bloscpack.BloscpackArgs(checksum='sha256')}),
    'rows_of_nothing': (np.zeros((4, 2, 0, 3), '<f4'), {}),
    'structures': (structures, {}),
    'structures_in_fortran_order': (np.asfortranarray(structures), {}),
}


def plain(value):
    """As in JSON: structures are objects."""
    if isinstance(value, np.ndarray) and value.ndim:
        return [plain(item) for item in value]
    if isinstance(value, (np.void, np.ndarray)):
        return {name: value[name].item() for name in value.dtype.names}
    return value.item()


def main():
    for name, (array, options) in FILES.items():
        path = HERE / f'{name}.blp'
        bloscpack.pack_ndarray_to_file(array, str(path), **options)
        found = bloscpack.unpack_ndarray_from_file(str(path))
        np.testing.assert_array_equal(found, array)
        expected = {'writer': f'bloscpack {bloscpack.__version__}', 'shape': found.shape,
                    'dtype': found.dtype.descr
                    if found.dtype.names else found.dtype.str,
                    'sha256': hashlib.sha256(found.tobytes()).hexdigest()}
        if found.size <= FEW:
            expected['rows'] = plain(found)
        (HERE / f'{name}.json').write_text(json.dumps(expected) + '\n')


if __name__ == '__main__':
    main()
