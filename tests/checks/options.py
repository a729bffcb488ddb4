#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/building.md describes the options correctly: the smallest build needs little and says
what it lacks; each feature may be absent alone.

usage: options.py [--build] SOURCE_DIRECTORY        one case per question; exit status 1 if one
                                                    failed. Without --build the smallest build is
                                                    only configured. With it, that build and each
                                                    build without one feature are built and
                                                    tested.
"""
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SMALLEST = {'fuse3', 'jansson', 'libxxhash', 'libzstd', 'liblz4', 'liblzma', 'zlib', 'libdeflate', 'threads',
            'm', 'dl'}
# A command for a build without this feature, and the expected answer.
REFUSED = {
    'lance': (['ls', 'tests/data/lance_numbers_2.0.lance'],
              'a Lance file: format lance is not built in (-Dlance=enabled)'),
    'blz': (['ls', 'tests/data/blocks.blp'], 'a Bloscpack file: format blz is not built in (-Dblz=enabled)'),
    'roaring': (['ls', 'tests/fuzz/seeds/run.roaring'],
                'a Roaring bitmap: format roaring is not built in (-Droaring=enabled)'),
    'chain': (['ls', '--chain', 'tests/data/example.root'], 'chains are not built in (-Dchain=enabled)'),
    'arrow': (['stat', 'tests/data/example.root', 'Events/table.arrow'], 'table.arrow'),
}
OTHERS = ['fuse', 'http', 's3', 'xrootd', 'python']


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, errors='replace')
    if done.returncode:
        print(f'{" ".join(map(str, command))}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}')
    return done.returncode == 0, done.stdout


def needs(build):
    found = {at['name'] for at in json.loads(run('meson', 'introspect', '--dependencies', build)[1])}
    return found <= SMALLEST or print(f'needs {found - SMALLEST}')


def documented(root):
    options = set(re.findall(r"^option\('(\w+)'", (root / 'meson_options.txt').read_text(), re.M))
    rows = set(re.findall(r'^\| `(\w+)` \|', (root / 'docs/building.md').read_text(), re.M))
    return options == rows or print(f'not in both: {options ^ rows}')


def answers(build, root, left_out):
    """It reads RNTuples, and names exactly the features that are absent."""
    tried = subprocess.run([build / 'ntuple', 'ls', 'tests/data/example.root', 'Events'], cwd=root,
                           capture_output=True, text=True)
    good = 'ntuple.json' in tried.stdout.split() or print('Events is not listed')
    for name, (words, expected) in REFUSED.items():
        tried = subprocess.run([build / 'ntuple', *words], cwd=root, capture_output=True, text=True)
        is_refused = tried.returncode != 0 and expected in tried.stderr
        good &= is_refused == (name in left_out) or bool(print(f'{name}: {tried.stderr or "is there"}'))
    return bool(good)


def smallest(root, folder, is_built):
    yield 'smallest: is configured', run('meson', 'setup', folder, root, '-Dauto_features=disabled',
                                         '-Dfuse=auto')[0]
    yield 'smallest: needs no other libraries', needs(folder)
    if is_built:
        yield 'smallest: is made', run('ninja', '-C', folder)[0]
        yield 'smallest: answers', answers(folder, root, REFUSED)


def each(root, folder):
    yield 'all but tests: is configured', run('meson', 'setup', folder, root, '-Dtests=disabled')[0]
    for name in [*REFUSED, *OTHERS]:
        made = run('meson', 'configure', folder, f'-D{name}=disabled')[0] and run('ninja', '-C', folder)[0]
        yield f'without {name}: is made', made
        yield f'without {name}: answers', made and answers(folder, root, {name} & set(REFUSED))
        run('meson', 'configure', folder, f'-D{name}=auto')


def cases(root, is_built):
    yield 'options are documented', documented(root)
    with tempfile.TemporaryDirectory() as folder:
        yield from smallest(root, Path(folder) / 'smallest', is_built)
        yield from each(root, Path(folder) / 'each') if is_built else []


def main(arguments):
    is_built = arguments[:1] == ['--build']
    results = []
    for name, good in cases(Path(arguments[-1]).resolve(), is_built):
        print(f'{"ok" if good else "FAIL"} {name}', flush=True)
        results.append(bool(good))
    print(f'{results.count(True)} of {len(results)} passed')
    sys.exit(not all(results))


main(sys.argv[1:])
