#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Concatenate the files of a dataset in the form of fuzz_lance_dataset: manifests first, data
last.

usage: pack_folder.py FOLDER OUTPUT
"""
import struct
import sys
from pathlib import Path

ORDER = ('_versions', '_deletions', '_transactions', '_refs', 'data')


def latest(manifest):
    number = int(manifest.stem)
    return 2**64 - 1 - number if len(manifest.stem) == 20 else number


def main(folder, output):
    folder = Path(folder)
    files = [max((folder / '_versions').glob('*.manifest'), key=latest)]
    for part in ORDER[1:]:
        files += sorted(path for path in (folder / part).rglob('*') if path.is_file())
    packed = bytearray()
    for path in files:
        name, content = str(path.relative_to(folder)).encode(), path.read_bytes()
        packed += bytes([len(name)]) + name + struct.pack('<I', len(content)) + content
    Path(output).write_bytes(packed)


if __name__ == '__main__':
    main(*sys.argv[1:])
