#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No line of a source has more than 110 columns: C, C++, Meson, Python, shell.

usage: columns.py SOURCE_DIRECTORY        one case per file; exit status 1 if one failed
"""
import sys
from pathlib import Path

COLUMNS = 110
FOLDERS = 'src', 'include', 'tests', 'python', 'bench', 'examples', 'scripts', 'packaging'
ENDINGS = {'.c', '.h', '.hpp', '.cc', '.cxx', '.hxx', '.py', '.pyi', '.build', '.in', '.sh'}


def is_source(path):
    """Scripts have no ending, but a first line that names their interpreter."""
    if path.suffix in ENDINGS:
        return True
    if path.suffix or not path.is_file():
        return False
    with open(path, 'rb') as file:
        return file.read(2) == b'#!'


def sources(root):
    for folder in FOLDERS:
        yield from (path for path in sorted((root / folder).rglob('*')) if path.is_file() and is_source(path))
    yield from sorted(root.glob('meson*'))


def main(root):
    passed = failed = 0
    for path in sources(root):
        name = str(path.relative_to(root))
        lines = path.read_text().split('\n')
        long_lines = [number for number, line in enumerate(lines, 1) if len(line) > COLUMNS]
        for number in long_lines:
            print(f'{name}:{number}: more than {COLUMNS} columns')
        failed += bool(long_lines)
        passed += not long_lines
    print(f'{passed} passed, {failed} failed')
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(main(Path(sys.argv[1])))
