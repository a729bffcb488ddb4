#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every header compiles on its own: the public ones as strict C11 and as C++17, those of src/
with the build's options.

usage: headers.py SOURCE_DIRECTORY BUILD_DIRECTORY CC... [--cxx CXX...]        one case per
                                                                               header and
                                                                               language; exit
                                                                               status 1 if one
                                                                               failed. Without a
                                                                               C++ compiler its
                                                                               cases are skipped.
"""
import subprocess
import sys
from pathlib import Path

from public_headers import functions, headers, types

STRICT = ['-Wall', '-Wextra', '-Wpedantic', '-Werror', '-fsyntax-only']
PUBLIC_C = ['-xc', '-std=c11']
PUBLIC_CXX = ['-xc++', '-std=c++17', '-Wold-style-cast', '-Wzero-as-null-pointer-constant']
PRIVATE_C = ['-xc', '-std=gnu17', '-D_GNU_SOURCE']


def compiles(compiler, language, include, directories):
    run = subprocess.run([*compiler, *language, *STRICT, *(f'-I{directory}' for directory in directories),
                          '-'],
                         input=f'#include <{include}>\nextern int nothing_else;\n', capture_output=True,
                         text=True)
    if run.returncode:
        print(f'{include} with {" ".join(language)}:\n{run.stderr[:2000]}')
    return run.returncode == 0


def names_are_distinct(root):
    """No structure or enumeration has the name of a function: C++ would hide it."""
    declared = [(types(header), functions(header)) for header in headers(root)]
    both = set().union(*(kinds for kinds, _ in declared)) & set().union(*(called for _, called in declared))
    for name in sorted(both):
        print(f'{name} is a type and a function')
    return not both


def main(root, build, cc, cxx):
    results = [names_are_distinct(root)]
    public, private = root / 'include', root / 'src'
    directories = [public, build / 'include']  # some are generated: version.h
    for path in headers(root):
        include = str(path.relative_to(public)).removesuffix('.in')
        if path.suffix != '.hpp':
            results.append(compiles(cc, PUBLIC_C, include, directories))
        if cxx:
            results.append(compiles(cxx, PUBLIC_CXX, include, directories))
    for path in sorted(private.rglob('*.h')):
        if path.relative_to(private).parts[0] != 'fuse':  # they need the FUSE headers
            results.append(compiles(cc, PRIVATE_C, path.relative_to(private), [private, *directories]))
    print(f'{results.count(True)} passed, {results.count(False)} failed')
    return 0 if results and all(results) else 1


if __name__ == '__main__':
    compilers = sys.argv[3:]
    at = compilers.index('--cxx') if '--cxx' in compilers else len(compilers)
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), compilers[:at], compilers[at + 1:]))
