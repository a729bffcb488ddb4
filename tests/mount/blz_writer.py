# SPDX-License-Identifier: MIT
"""Arrays of BLZ for tests of mounts."""
import struct


def blosc_file(count, first=0):
    """A Bloscpack file of version 1 with one uncompressed chunk of 32-bit numbers."""
    numbers = struct.pack(f'<{count}i', *range(first, first + count))
    chunk = struct.pack('<4BIII', 2, 1, 2, 4, len(numbers), len(numbers), len(numbers) + 16) + numbers
    return b'blpk' + struct.pack('<4Bq', 1, 0, 0, 0, 1) + chunk


def blz_array(array, chunks=3, rows=10, counts_on=False):
    """An array of 30 rows in three chunks, or of other numbers. `counts_on`: each row has its
    own number, else that of its chunk."""
    for folder in 'meta', 'data':
        (array / folder).mkdir(parents=True)
    (array / 'meta/sizes').write_text(
            f'{{"shape": [{chunks * rows}], "nbytes": {4 * chunks * rows}, "cbytes": {4 * chunks * rows}}}')
    (array / 'meta/storage').write_text(
            f'{{"dtype": "int32", "bparams": {{}}, "chunklen": {rows}, "dflt": 0}}')
    for number in range(chunks):
        (array / f'data/__{number}.blp').write_bytes(blosc_file(rows, number * rows if counts_on else 0))
    return array
