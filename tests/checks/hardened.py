#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The built programs have the protections of compiler, linker and kernel against memory
corruption: random load addresses, no memory both writable and executable, read-only function
tables after the start, stack guards, bounds in calls of the C library, and, if the processor has
it, jumps only to marked places.

usage: hardened.py OPTIMISED(1|0) PROGRAM_OR_LIBRARY...        a line per property; exit status 1
                                                               if one is missing
"""
import re
import subprocess
import sys
from pathlib import Path

ENDBR64 = b'\xf3\x0f\x1e\xfa'


def readelf(path, *options):
    return subprocess.run(['readelf', '-W', *options, path], capture_output=True, text=True, check=True,
                          env={'LC_ALL': 'C', 'PATH': '/usr/bin:/bin'}).stdout


def properties(path, is_optimised):
    """Name of each property, and whether the file has it."""
    header = readelf(path, '-h')
    segments = readelf(path, '-l')
    dynamic = readelf(path, '-d')
    symbols = readelf(path, '--dyn-syms')
    yield 'position-independent', re.search(r'Type:\s+DYN', header)
    yield 'no segment both written and executed', not re.search(r'^\s+LOAD .* RWE ', segments, re.M)
    yield 'no executable stack', re.search(r'GNU_STACK .* RW ', segments)
    yield 'read-only relocations', 'GNU_RELRO' in segments
    yield 'bound at start', 'BIND_NOW' in dynamic or re.search(r'FLAGS_1.*\bNOW\b', dynamic)
    yield 'no relocations of code', 'TEXTREL' not in dynamic
    yield ('no search path of libraries outside of its own tree',
           not re.search(r'R(?:UN)?PATH.*\[(?!\$ORIGIN)', dynamic))
    yield 'stacks with guards', '__stack_chk_fail' in symbols
    if is_optimised:
        yield 'calls with bounds', re.search(r'__(?:snprintf|vsnprintf|memcpy|fprintf|read|pread64)_chk\b',
                                             symbols)
    if 'X86-64' in header:
        # The C library's start files decide whether a whole program has them. Here, our functions
        # have them.
        yield 'places that jumps may lead to', Path(path).read_bytes().count(ENDBR64) > 20


def main(is_optimised, paths):
    passed = failed = 0
    for path in paths:
        for name, holds in properties(path, is_optimised):
            print(f'{"ok  " if holds else "FAIL"} {Path(path).name}: {name}')
            passed += bool(holds)
            failed += not holds
    print(f'{passed} passed, {failed} failed')
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1] == '1', sys.argv[2:]))
