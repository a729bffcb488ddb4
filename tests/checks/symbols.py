#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""libntuple exports exactly the functions that its public headers declare, and all names begin
with nt_. Debian's list of symbols has the same, without which no package is built.

usage: symbols.py SOURCE_DIRECTORY LIBRARY NM...        one case per symbol; exit status 1 if one failed
"""
import re
import subprocess
import sys
from pathlib import Path

from public_headers import functions, headers


def main(root, library, nm):
    run = subprocess.run([*nm, '-D', '--defined-only', '--format=posix', library], capture_output=True,
                         text=True, check=True)
    exported = {line.split()[0].split('@')[0] for line in run.stdout.splitlines()}
    exported = {name for name in exported if not name.startswith('__odr_asan')}  # symbols of the sanitizer
    expected = set().union(*(functions(header) for header in headers(root)))
    for name in sorted(exported - expected):
        print(f'{name} is exported, but no public header declares it')
    for name in sorted(expected - exported):
        print(f'{name} is declared by a public header, but not exported')
    listed = (root / 'packaging/debian/libntuple0.1.symbols').read_text()
    packaged = set(re.findall(r'^ (\w+)@Base ', listed, re.M))
    for name in sorted(expected ^ packaged):
        print(f'{name}: packaging/debian/libntuple0.1.symbols and the public headers differ')
    without_prefix = sum(not name.startswith('nt_') for name in exported & expected)
    failed = len(exported ^ expected) + len(expected ^ packaged) + without_prefix
    print(f'{len(exported & expected)} passed, {failed} failed')
    return 1 if failed or not exported else 0


if __name__ == '__main__':
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:]))
