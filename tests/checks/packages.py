#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Debian's names of what a build needs are the same in all places: packaging/meson.build, which
says what is missing, scripts/install-dependencies, docs/install.md and packaging/debian/control.
The scripts of scripts/ and packaging/ are valid, and the steps of scripts/release are explained.

usage: packages.py SOURCE_DIRECTORY        one case per question; exit status 1 if one failed
"""
import re
import subprocess
import sys
from pathlib import Path

FOR_TESTS = {'check', 'libroaring-dev'}
FOR_XROOTD = {'g++', 'libxrootd-client-dev'}
# What only a fresh system lacks, and what a block installs to be used.
TOOLS = {'gcc', 'libc6-dev', 'pkgconf', 'meson', 'ninja-build'}


def named_by_meson(root):
    text = (root / 'packaging/meson.build').read_text()
    rows = set(re.findall(r"^  \['[\w+]+', '([\w+.-]+)', '\w+', (?:'.*'|\w+), '.*'\],$", text, re.M))
    return rows | set(re.findall(r"'((?:lib[\w+-]+|python3|zlib1g)-dev|g\+\+|gcc|pkgconf)'", text))


def installed_by_script(root):
    text = (root / 'scripts/install-dependencies').read_text()
    return set(' '.join(re.findall(r"^(?:build|test)='([^']*)'", text, re.M)).split())


def blocks(root):
    """The packages of each block of docs/install.md that installs some, by the command after."""
    text = (root / 'docs/install.md').read_text()
    for block in re.findall(r'^```\n(sudo apt install .*?)^```$', text, re.M | re.S):
        lines = block.replace('\\\n', ' ').splitlines()
        yield ' '.join(lines[1:]), set(lines[0].split()[3:])


def build_dependencies(root):
    text = (root / 'packaging/debian/control').read_text().split('\n\n')[0]
    return set(re.findall(r'^ ([a-z][\w+.-]+)', text.partition('Build-Depends:')[2], re.M))


def same(found, expected, where):
    if found != expected:
        print(f'{where}: lacks {sorted(expected - found)}, has {sorted(found - expected)} too much')
    return found == expected


def valid(path):
    shell = path.read_text(errors='replace').startswith('#!/bin/sh')
    return not shell or subprocess.run(['sh', '-n', path]).returncode == 0


def cases(root):
    needed = named_by_meson(root)
    yield 'meson names some', len(needed) > 15
    missing = needed - installed_by_script(root) - {'python3-dev'}
    yield 'scripts/install-dependencies has all of them', not missing or print(missing)
    missing = needed - build_dependencies(root) - TOOLS - {'g++'}
    yield 'packaging/debian/control has all of them', not missing or print(missing)
    found = dict(blocks(root))
    by = {word: packages for command, packages in found.items()
          for word in ('build-portable', 'build-wheels', 'pip install .', 'meson install') if word in command}
    source = needed - FOR_TESTS - FOR_XROOTD - {'python3-dev'}
    yield 'docs/install.md: from source', same(by['meson install'], source | {'meson', 'fuse3'}, 'meson')
    yield 'docs/install.md: Python', same(by['pip install .'],
                                          source | {'python3-dev', 'python3-venv', 'fuse3'}, 'pip')
    tools = (root / 'packaging/portable/check-tools').read_text()
    portable = set(re.findall(r'\b[\w.-]+:([\w-]+)', re.search(r'for pair in (.*?); do', tools, re.S)[1]))
    portable = portable - {'ninja-build', 'python3'} | {'python3-venv'}  # meson and venv depend on them
    yield 'docs/install.md: archive', same(by['build-portable'], portable, 'archive')
    yield 'docs/install.md: wheel', same(by['build-wheels'], portable | {'python3-dev'}, 'wheel')
    for path in sorted([*root.glob('scripts/*'), *root.glob('packaging/**/*')]):
        if path.is_file() and not path.suffix:
            yield f'{path.relative_to(root)} is valid', valid(path)
    release = (root / 'scripts/release').read_text()
    steps = re.search(r"^steps='(.*)'$", release, re.M)[1].split()
    yield 'steps of scripts/release', all(
            f'\nstep_{name}() {{' in release and re.search(f'^#   {name}  ', release, re.M) for name in steps)


def main(root):
    results = []
    for name, good in cases(root):
        results.append(bool(good))
        if not good:
            print(f'FAIL {name}')
    print(f'{results.count(True)} passed, {results.count(False)} failed')
    return 0 if all(results) else 1


if __name__ == '__main__':
    sys.exit(main(Path(sys.argv[1]).resolve()))
