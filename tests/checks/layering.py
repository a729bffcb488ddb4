#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Who may include whom: the table of docs/architecture.md, read off the #include lines of src/ and include/.

usage: layering.py SOURCE_DIRECTORY        one case per file; exit status 1 where one failed
"""
import re
import sys
from pathlib import Path

# A folder of src/ sees the folders behind it, and itself.
MAY_INCLUDE = {
    'base': '',
    'io': 'base',
    'codec': 'base',
    'json': 'base',
    'model': 'base io codec',
    'format': 'base io codec json model',
    'page': 'base io codec model',
    'view': 'base codec json model page',
    'vfs': 'base codec json model page view format',
    'fuse': 'base vfs',
    'cli': 'base io codec json model format page view vfs fuse',
}
# Which folder stands behind a public header.
PUBLIC = {'error': 'base', 'source': 'io', 'codec': 'codec', 'model': 'model', 'format': 'format', 'read': 'page',
          'arrow': 'view', 'version': 'base', 'ntuple': 'cli'}
# vfs opens files through the registry of formats and sees no more of them than its public header.
PUBLIC_ONLY = {('vfs', 'format')}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[>"]', re.MULTILINE)
FUSE = re.compile(r'^(fuse3/)?(fuse|fuse_\w+|cuse_\w+)\.h$')


def behind(bracket, name):
    """(folder that a header belongs to, is it public); None for one of the system."""
    if name.startswith('ntuple/'):
        return PUBLIC[Path(name).stem], True
    if bracket == '"':
        return name.split('/')[0], False
    return None


def source_problems(path, text):
    """`path` is relative to src/."""
    folder = path.parts[0]
    allowed = {folder, *MAY_INCLUDE[folder].split()}
    for bracket, name in INCLUDE.findall(text):
        if FUSE.match(name):
            if folder != 'fuse':
                yield f'includes {name}: only src/fuse sees the FUSE headers'
            continue
        found = behind(bracket, name)
        if found is None:
            continue
        target, is_public = found
        if target not in allowed:
            yield f'includes {name}: {folder} does not see {target}'
        elif (folder, target) in PUBLIC_ONLY and not is_public:
            yield f'includes {name}: {folder} sees only public headers of {target}'
        elif folder == 'format' and len(path.parts) > 2 and name.startswith('format/') and name.count('/') > 1:
            if name.split('/')[1] != path.parts[1]:
                yield f'includes {name}: a format does not see another'


def public_problems(text):
    for bracket, name in INCLUDE.findall(text):
        if bracket == '"' or FUSE.match(name):
            yield f'includes {name}: a public header includes <ntuple/...> and the system\'s headers only'


def main(root):
    passed = failed = 0
    for path in sorted([*(root / 'src').rglob('*.[ch]'), *(root / 'include').rglob('*.h')]):
        text = path.read_text()
        is_public = (root / 'include') in path.parents
        problems = list(public_problems(text) if is_public else source_problems(path.relative_to(root / 'src'), text))
        for problem in problems:
            print(f'{path.relative_to(root)}: {problem}')
        failed += bool(problems)
        passed += not problems
    print(f'{passed} passed, {failed} failed')
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(main(Path(sys.argv[1])))
