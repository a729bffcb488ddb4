#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which directory of src/ may include which: compares the table of docs/architecture.md with the
#include lines of src/ and include/. Directories are ordered, so that no two can include each other.
Files of one directory may. A test may include what its directory may, and what docs/hacking.md lists.
No file repeats what a header includes for it.
No two types in src/ have the same name, so that a search finds the one that is meant.

usage: layering.py SOURCE_DIRECTORY        one case for each file and rule; exit status 1 if one failed
"""
import re
import sys
from functools import cache
from pathlib import Path

CORE = 'core/base core/io core/codec core/json core/model'
# Each directory with the directories that it may include, which must be above it in this list.
MAY_INCLUDE = {
    'core/base': '',
    'core/io': 'core/base',
    'core/codec': 'core/base',
    'core/json': 'core/base core/codec',
    'core/model': 'core/base core/io core/codec',
    'remote': '',
    'remote/client': 'core/base core/io remote',
    'container': CORE,
    'formats': 'core/base core/io core/codec core/model remote/client',
    'formats/ttree': f'{CORE} container formats',
    'formats/rntuple': f'{CORE} container formats formats/ttree',
    'formats/blz': f'{CORE} formats',
    'formats/roaring': f'{CORE} formats',
    'formats/lance/decode': 'core/base core/codec',
    'formats/lance/file': f'{CORE} formats/lance/decode',
    'formats/lance/legacy': f'{CORE} formats/lance/decode formats/lance/file',
    'formats/lance/dataset': f'{CORE} formats formats/lance/file',
    'formats/lance': 'core/base core/io core/model formats formats/lance/file formats/lance/legacy formats/'
                     'lance/dataset',
    'read': 'core/base core/io core/codec core/model formats',
    'chain': f'{CORE} remote/client formats',
    'render': f'{CORE} read',
    'render/arrow': 'core/base core/codec core/json core/model read render',
    'tools': f'{CORE} remote/client read chain render',
    'vfs': f'{CORE} remote/client formats read chain render render/arrow tools',
    'fuse': 'core/base vfs',
    'sandbox': 'core/base',
    'remote/helper': 'core/base remote sandbox',
    'cli': f'{CORE} remote/client formats read chain render render/arrow tools vfs fuse sandbox',
}
# Directories that may include only some headers of another.
ONLY = {
    ('read', 'formats'): {'ntuple/format.h'},
    ('chain', 'formats'): {'ntuple/format.h', 'formats/formats.h'},
    ('vfs', 'formats'): {'ntuple/format.h', 'formats/formats.h'},
    ('cli', 'formats'): {'ntuple/format.h', 'formats/formats.h'},
    ('formats/rntuple', 'formats'): {'formats/formats.h'},
    ('formats/blz', 'formats'): {'formats/formats.h'},
    ('cli', 'fuse'): {'fuse/mount.h'},
    ('fuse', 'vfs'): {'vfs/vfs.h', 'vfs/tree.h'},
    ('sandbox', 'core/base'): {'core/base/sanitizer.h'},
}
# The directory that implements a public header. ntuple.h includes all directories.
PUBLIC = {
    'api': 'core/base', 'error': 'core/base', 'text': 'core/base', 'version': 'core/base',
    'source': 'core/io', 'element': 'core/codec',
    'dataset': 'core/model', 'format': 'formats', 'read': 'read', 'selection': 'read',
    'arrow': 'render/arrow', 'document': 'tools',
    'ntuple': 'cli',
}
# A row of the table of stages in docs/architecture.md.
STAGE = re.compile(r'^\| `([\w/]+)` \| [^|]+ \| [^|]+\.h` \|$', re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[>"]', re.MULTILINE)
# A row of the list in docs/hacking.md: a directory with all below it, and a header of src/.
TEST_MAY_INCLUDE = re.compile(r'^\| `(tests/[\w/]+)` \| (?:`([\w/.]+)`|any) \|', re.MULTILINE)
TYPE = re.compile(r'^(?:struct|union|enum) (\w+)\s*\{', re.MULTILINE)
FUSE = re.compile(r'^(fuse3/)?(fuse|fuse_\w+|cuse_\w+)\.h$')


def folder_of(bracket, name):
    """The directory that a header belongs to; None for a header of the system."""
    if name.startswith('ntuple/'):
        return PUBLIC[Path(name).stem]
    return Path(name).parent.as_posix() if bracket == '"' else None


def table_problems(root):
    """The order is acyclic if each row names only rows above it. The documents have the same
    order."""
    documented = STAGE.findall((root / 'docs/architecture.md').read_text())
    if documented != list(MAY_INCLUDE):
        yield (f'docs/architecture.md has the stages {", ".join(documented)} '
               f'instead of {", ".join(MAY_INCLUDE)}')
    above = set()
    for folder, others in MAY_INCLUDE.items():
        for other in others.split():
            if other not in above:
                yield f'{folder} includes {other}, which is not above it'
        above.add(folder)


def include_problems(folder, text):
    may_include = MAY_INCLUDE.get(folder)
    if may_include is None:
        yield f'{folder} has no row in the table'
        return
    for bracket, name in INCLUDE.findall(text):
        if FUSE.match(name):
            if folder != 'fuse':
                yield f'includes {name}: only src/fuse includes the FUSE headers'
            continue
        target = folder_of(bracket, name)
        if target in (None, folder):
            continue
        if target not in may_include.split():
            yield f'includes {name}: {folder} may not include {target}'
        elif name not in ONLY.get((folder, target), {name}):
            yield f'includes {name}: {folder} may not include this header of {target}'


def unconditional(text):
    """The headers that a text includes outside of #if. The guard of a header is no condition."""
    depth = 0
    for line in text.splitlines():
        depth += bool(re.match(r'#if(?!ndef NT\w+_H$)', line)) - line.startswith('#endif')
        if depth <= 0:
            yield from (name for _, name in INCLUDE.findall(line))


@cache
def included(root, header):
    """What a header of ours includes, also through other headers. None for a header of the system."""
    for path in (root / 'src' / header, root / 'include' / header):
        if path.exists():
            names = set(unconditional(path.read_text()))
            return names.union(*(included(root, name) or () for name in names))


def repeated_problems(root, path, text):
    """A C file has what the private headers of its directory include. Every file has the headers of the
    system that its headers include."""
    folder = path.parent.relative_to(root / 'src').as_posix()
    names = list(unconditional(text))
    of_any = set().union(*(included(root, name) or () for name in names))
    of_private = set().union(*(included(root, name) or () for name in names
                               if path.suffix != '.h' and folder_of('"', name) == folder))
    for name in names:
        is_ours = included(root, name) is not None
        if folder_of('"', name) != folder and name in (of_private if is_ours else of_any):
            yield f'includes {name} again'


def public_problems(name, text):
    for bracket, other in INCLUDE.findall(text):
        if bracket == '"' or FUSE.match(other):
            yield f'includes {other}: a public header includes <ntuple/...> and headers of the system only'
    if name != 'ntuple':
        yield from include_problems(PUBLIC[name], text)


def test_problems(root, path, text, listed):
    folder = path.parent.relative_to(root / 'tests').as_posix()
    allowed = {folder, *MAY_INCLUDE.get(folder, '').split()}
    for bracket, name in INCLUDE.findall(text):
        if bracket == '<' or not (root / 'src' / name).exists() or folder_of(bracket, name) in allowed:
            continue
        if not any(f'tests/{folder}/'.startswith(f'{tests}/') and header in ('', name) for tests,
                   header in listed):
            yield f'includes {name}, which is not listed in docs/hacking.md'


def type_problems(root):
    defined = {}
    for path in sorted(path for path in (root / 'src').rglob('*') if path.suffix in ('.c', '.h')):
        for name in TYPE.findall(path.read_text()):
            first = defined.setdefault(name, path)
            if first != path:
                yield f'{name} is defined in {first.relative_to(root)} and {path.relative_to(root)}'


def main(root):
    cases = [('the table', list(table_problems(root))), ('names of types', list(type_problems(root)))]
    for path in sorted(path for path in (root / 'src').rglob('*') if path.suffix in ('.c', '.h', '.cc')):
        folder = path.parent.relative_to(root / 'src').as_posix()
        text = path.read_text()
        cases.append((path.relative_to(root), [*include_problems(folder, text),
                                               *repeated_problems(root, path, text)]))
    for path in sorted((root / 'include').rglob('*.h*')):
        cases.append((path.relative_to(root), list(public_problems(path.name.split('.')[0],
                                                                   path.read_text()))))
    listed = TEST_MAY_INCLUDE.findall((root / 'docs/hacking.md').read_text())
    for path in sorted(path for path in (root / 'tests').rglob('*') if path.suffix in ('.c', '.h')):
        cases.append((path.relative_to(root), list(test_problems(root, path, path.read_text(), listed))))
    for what, problems in cases:
        for problem in problems:
            print(f'{what}: {problem}')
    failed = sum(bool(problems) for _, problems in cases)
    print(f'{len(cases) - failed} passed, {failed} failed')
    return 1 if failed or len(cases) < 100 else 0


if __name__ == '__main__':
    sys.exit(main(Path(sys.argv[1])))
