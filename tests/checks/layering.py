#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Who may include whom: the table of docs/architecture.md, read off the #include lines of src/ and include/. And
that the files of a folder can be read one after the other: no circles.

A header counts with the .c of the same name. It depends on what it includes, and a .c on those files, too, that
define the functions and tables that it uses, whatever header declares them.

usage: layering.py SOURCE_DIRECTORY        one case per file and folder; exit status 1 where one failed
"""
import re
import sys
from collections import deque
from pathlib import Path

# A folder of src/ sees the folders behind it, and itself.
MAY_INCLUDE = {
    'base': '',
    'io': 'base',
    'codec': 'base',
    'json': 'base codec',
    'model': 'base io codec',
    'format': 'base io codec json model',
    'chain': 'base io codec json model format',
    'page': 'base io codec model',
    'choice': 'base io model format page',
    'view': 'base codec json model page',
    'vfs': 'base io codec json model page choice view format chain',
    'fuse': 'base vfs',
    'sandbox': 'base',
    'fetch': 'base io sandbox',
    'cli': 'base io codec json model format chain page choice view vfs fuse sandbox',
}
# Which folder stands behind a public header.
PUBLIC = {'error': 'base', 'text': 'base', 'element': 'base', 'source': 'io', 'dataset': 'model', 'format': 'format', 'read': 'page', 'choice': 'choice',
          'arrow': 'view', 'document': 'view', 'version': 'base', 'ntuple': 'cli'}
# Where a folder sees only some headers of another: vfs mirrors folders and opens files through the table of formats, pages
# are read through <ntuple/read.h> and page/page.h, and views that verify or count what is in them look into how that is done.
ONLY = {
    ('chain', 'format'): {'ntuple/format.h', 'format/format.h'},
    ('vfs', 'chain'): {'chain/chain.h', 'chain/files.h'},
    ('cli', 'chain'): {'chain/chain.h', 'chain/index.h', 'chain/list.h'},
    ('vfs', 'io'): {'io/fetcher.h', 'io/folder.h', 'io/refusal.h', 'io/remote.h'},
    ('fetch', 'io'): {'io/fetch.h'},
    ('vfs', 'format'): {'ntuple/format.h', 'format/format.h'},
    ('vfs', 'page'): {'ntuple/read.h', 'page/page.h'},
    ('choice', 'format'): {'ntuple/format.h'},
    ('choice', 'page'): {'ntuple/read.h'},
    ('vfs', 'choice'): {'ntuple/choice.h'},
    ('cli', 'choice'): {'ntuple/choice.h'},
    ('cli', 'page'): {'ntuple/read.h'},
    ('view', 'page'): {'ntuple/read.h', 'page/clusters.h', 'page/load.h', 'page/neighbours.h', 'page/page.h', 'page/pages.h', 'page/reader.h',
                       'page/rows.h', 'page/stream.h', 'page/wanted.h', 'page/workers.h'},
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[>"]', re.MULTILINE)
FUSE = re.compile(r'^(fuse3/)?(fuse|fuse_\w+|cuse_\w+)\.h$')
COMMENT_OR_TEXT = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
# What stands at the beginning of a line: "type name(arguments)" and a body, or "type name[] =".
DEFINITION = re.compile(r'^(?!static\b|typedef\b|extern\b)[a-z][\w\s*]*?\b(\w+)(?:\([^;{}]*\)\n\{|(?:\[\w*\])?\s*=)',
                        re.MULTILINE)
NAME = re.compile(r'(\b(?:struct|enum|union)\s+)?\b([a-z]\w*)')


def behind(bracket, name):
    """The folder that a header belongs to; None for one of the system."""
    if name.startswith('ntuple/'):
        return PUBLIC[Path(name).stem]
    if bracket == '"':
        return name.split('/')[0]
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
        target = behind(bracket, name)
        if target is None:
            continue
        if target not in allowed:
            yield f'includes {name}: {folder} does not see {target}'
        elif name not in ONLY.get((folder, target), {name}):
            yield f'includes {name}: {folder} does not see this header of {target}'
        elif folder == 'format' and len(path.parts) > 2 and name.startswith('format/') and name.count('/') > 1:
            if name.split('/')[1] != path.parts[1]:
                yield f'includes {name}: a format does not see another'


def public_problems(text):
    for bracket, name in INCLUDE.findall(text):
        if bracket == '"' or FUSE.match(name):
            yield f'includes {name}: a public header includes <ntuple/...> and the system\'s headers only'


# ---- circles ----

class Folder:
    """The files of a folder without their endings, and for each of them: {file it depends on: why}."""

    def __init__(self, root, path):
        self.path = path.relative_to(root).as_posix()
        texts = {file: file.read_text() for file in sorted(path.glob('*.[ch]'))}
        self.edges = {file.stem: {} for file in texts}
        codes = {file: COMMENT_OR_TEXT.sub(' ', text) for file, text in texts.items() if file.suffix == '.c'}
        homes = {name: file.stem for file, code in codes.items() for name in DEFINITION.findall(code)}
        for file, text in texts.items():
            for bracket, name in INCLUDE.findall(text):
                if bracket == '"' and Path(name).parent.as_posix() == self.path:
                    self.add(file.stem, Path(name).stem, name)
        for file, code in codes.items():
            for tag, name in NAME.findall(code):
                if not tag and name in homes:
                    self.add(file.stem, homes[name], name)

    def add(self, file, other, why):
        if other != file:
            self.edges[file].setdefault(other, why)

    def way(self, start, end):
        """The shortest way from one file to another: [file]; None where there is none."""
        ways = deque([[start]])
        seen = set()
        while ways:
            way = ways.popleft()
            for following in sorted(self.edges.get(way[-1], {})):
                if following == end:
                    return way
                if following not in seen:
                    seen.add(following)
                    ways.append([*way, following])
        return None

    def circle(self):
        """The shortest of all circles as text; None."""
        ways = [way for file in self.edges if (way := self.way(file, file))]
        if not ways:
            return None
        way = min(ways, key=len)
        steps = zip(way, [*way[1:], way[0]])
        return ', '.join(f'{file} needs {other} ({self.edges[file][other]})' for file, other in steps)


def main(root):
    passed = failed = 0
    for path in sorted({path.parent for path in (root / 'src').rglob('*.c')}):
        folder = Folder(root / 'src', path)
        circle = folder.circle()
        if circle:
            print(f'src/{folder.path}: a circle of files: {circle}')
        failed += bool(circle)
        passed += not circle
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
