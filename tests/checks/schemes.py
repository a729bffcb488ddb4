#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The table of URL schemes in docs/remote.md equals that of the source, and the man page names
each scheme.

usage: schemes.py SOURCE_DIRECTORY        exit status 1 if they differ
"""
import re
import sys
from pathlib import Path

# The words of a row of core/base/scheme.c, and the matching cell of the document.
SERVICES = {'WEB': 'HTTP, WebDAV', 'STORE': 'S3', '.service = NT_SERVICE_S3': 'S3', 'XROOTD': 'XRootD'}
ROW = re.compile(r'^    \{"([^"]+)", (WEB|STORE|XROOTD|\.service = NT_SERVICE_S3)\b([^}]*)\}', re.MULTILINE)
DOCUMENTED = re.compile(r'^\| `([^`]+)://` \| ([^|]+) \| (yes|no) \| (yes|no)[^|]*\|$', re.MULTILINE)


def main(root):
    source = (root / 'src/core/base/scheme.c').read_text()
    expected = {name: (SERVICES[service], 'yes' if 'TLS' in rest else 'no', 'no' if service == 'STORE'
                       else 'yes')
                for name, service, rest in ROW.findall(source)}
    documented = {name: tuple(cells) for name,
                  *cells in DOCUMENTED.findall((root / 'docs/remote.md').read_text())}
    manual = set(re.findall(r'[\w+]+(?=://)', (root / 'docs/man/ntuplefs.1').read_text()))
    problems = [f'docs/remote.md: {name}:// is {documented.get(name)}, in the source {expected.get(name)}'
                for name in sorted({*expected, *documented}) if documented.get(name) != expected.get(name)]
    problems += [f'docs/man/ntuplefs.1: does not name {name}://' for name in sorted(expected.keys() - manual)]
    print(*problems, sep='\n')
    return 1 if problems or not expected else 0


if __name__ == '__main__':
    sys.exit(main(Path(sys.argv[1])))
