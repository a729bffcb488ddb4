#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every header compiles on its own: the public ones as strict C17, those of src/ as they are built.

usage: headers.py SOURCE_DIRECTORY CC...        one case per header; exit status 1 where one failed
"""
import subprocess
import sys
from pathlib import Path

STRICT = ['-Wall', '-Wextra', '-Wpedantic', '-Werror', '-fsyntax-only', '-D_GNU_SOURCE']


def compiles(compiler, language, include, directories):
    run = subprocess.run([*compiler, f'-x{language[0]}', f'-std={language[1]}', *STRICT,
                          *(f'-I{directory}' for directory in directories), '-'],
                         input=f'#include <{include}>\nextern int nothing_else;\n', capture_output=True, text=True)
    if run.returncode:
        print(f'{include} as {language[1]}:\n{run.stderr[:2000]}')
    return run.returncode == 0


def main(root, compiler):
    results = []
    for path in sorted((root / 'include').rglob('*.h')):
        include = path.relative_to(root / 'include')
        results.append(compiles(compiler, ('c', 'c17'), include, [root / 'include']))
    for path in sorted((root / 'src').rglob('*.h')):
        if path.relative_to(root / 'src').parts[0] != 'fuse':    # they need the FUSE headers
            include = path.relative_to(root / 'src')
            results.append(compiles(compiler, ('c', 'gnu17'), include, [root / 'src', root / 'include']))
    print(f'{results.count(True)} passed, {results.count(False)} failed')
    return 0 if results and all(results) else 1


if __name__ == '__main__':
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
