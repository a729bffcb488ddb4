# SPDX-License-Identifier: MIT
"""Arrays of BLZ for tests of mounts."""
import struct


def blosc_file(count):
    """A Bloscpack file of version 1 with one chunk of 32-bit numbers, not compressed."""
    numbers = struct.pack(f'<{count}i', *range(count))
    chunk = struct.pack('<4BIII', 2, 1, 2, 4, len(numbers), len(numbers), len(numbers) + 16) + numbers
    return b'blpk' + struct.pack('<4Bq', 1, 0, 0, 0, 1) + chunk


def blz_array(array):
    """An array of 30 rows in three chunks."""
    for folder in 'meta', 'data':
        (array / folder).mkdir(parents=True)
    (array / 'meta/sizes').write_text('{"shape": [30], "nbytes": 120, "cbytes": 120}')
    (array / 'meta/storage').write_text('{"dtype": "int32", "bparams": {}, "chunklen": 10, "dflt": 0}')
    for number in range(3):
        (array / f'data/__{number}.blp').write_bytes(blosc_file(10))
    return array
