# SPDX-License-Identifier: MIT
"""Bloscpack files of NumPy arrays of any type, written without a compression library."""
import json
import struct


def write_bloscpack(path, array):
    """One uncompressed chunk (Bloscpack's and Blosc's formats, version 3 and 2), and NumPy's
    metadata."""
    text = json.dumps({'container': 'numpy', 'order': 'C', 'shape': list(array.shape),
                       'dtype': str(array.dtype.descr
                       if array.dtype.names else repr(array.dtype.str))}).encode()
    content = array.tobytes()
    metadata = struct.pack('<8sBBBBIII8x', b'JSON', 0, 0, 0, 0, len(text), len(text), len(text)) + text
    header = struct.pack('<4sBBBBiiqq', b'blpk', 3, 2, 0, 1, len(content), len(content), 1, 0)
    chunk = struct.pack('<BBBBIII', 2, 1, 2, 1, len(content), len(content), len(content) + 16) + content
    path.write_bytes(header + metadata + chunk)
