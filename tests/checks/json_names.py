#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every JSON name in the source, and every extended attribute, keeps the rules of docs/tree.md,
including those that no test file has. The table of attributes there has each attribute.

usage: json_names.py SOURCE_DIRECTORY        exit status 1 if a name breaks a rule or is missing
"""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / 'support'))
from json_rules import name_problem  # noqa: E402

CALL = re.compile(r'nt_json_(key|member_\w+)\(([^;]*?)\)\s*;')
NAME = re.compile(r'"([^"]*)"')
ATTRIBUTE = re.compile(r'^    \{(?:\.name = )?"(\w+)"', re.MULTILINE)
ATTRIBUTE_TABLE = re.compile(r'^\| attributes \| \|\n((?:\|.*\n)+)', re.MULTILINE)
# Functions that write values which only such a name may have.
BELONGS = {'member_bool': re.compile(r'(is|has|uses)_.*'), 'member_hex64': re.compile(r'(.*_)?checksum'),
           'member_hex32': re.compile(r'(.*_)?checksum')}


def names(path):
    """(function, name) of each call with a literal name."""
    for writer, arguments in CALL.findall(path.read_text()):
        first = arguments.split(',')[1] if ',' in arguments else ''
        for name in NAME.findall(first):
            yield writer, name


def described_attributes(page):
    """The names in the first column of the table of attributes."""
    rows = ATTRIBUTE_TABLE.search(page).group(1).splitlines()
    return {name for row in rows for name in re.findall(r'`(\w+)`', row.split('|')[1])}


def main(root):
    found = [(path, *pair) for path in sorted((root / 'src').rglob('*.c')) for pair in names(path)]
    attributes = root / 'src/vfs/xattr.c'
    attribute_names = set(ATTRIBUTE.findall(attributes.read_text()))
    found += [(attributes, 'attribute', name) for name in sorted(attribute_names)]
    difference = attribute_names ^ described_attributes((root / 'docs/tree.md').read_text())
    for name in sorted(difference):
        print(f'docs/tree.md: the table of attributes and src/vfs/xattr.c differ in "{name}"')
    failed = len(difference)
    for path, writer, name in found:
        reason = name_problem(name)
        if not reason and writer in BELONGS and not BELONGS[writer].fullmatch(name):
            reason = f'is not a name for nt_json_{writer}'
        if reason:
            failed += 1
            print(f'{path.relative_to(root)}: "{name}" {reason}')
    print(f'{len(found)} names, {failed} problems')
    return 1 if failed or len(found) < 200 or not attribute_names else 0


if __name__ == '__main__':
    sys.exit(main(Path(sys.argv[1])))
