#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No line of a source has more than 110 columns: C, C++, Meson, Python, shell.

usage: columns.py SOURCE_DIRECTORY        one case per file; exit status 1 if one failed
"""
import sys
from pathlib import Path

from source_files import check_files, source_files

COLUMNS = 110


def problems(text):
    for number, line in enumerate(text.split('\n'), 1):
        if len(line) > COLUMNS:
            yield f'{number}: more than {COLUMNS} columns'


if __name__ == '__main__':
    directory = Path(sys.argv[1])
    sys.exit(check_files(directory, source_files(directory), problems))
