#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Refuse words that only this project would know. words.txt lists each with the standard word to
use instead.

A row is `OLD NEW` for an identifier, or `OLD<TAB>NEW` for a phrase in prose. None may occur in
src/, include/, tests/, python/, examples/, docs/, scripts/ or packaging/.

usage: words.py SOURCE_DIRECTORY        one case per file; exit status 1 if one failed
"""
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
FOLDERS = 'src', 'include', 'tests', 'python', 'bench', 'examples', 'docs', 'scripts', 'packaging'
ENDINGS = {'', '.c', '.h', '.hpp', '.cc', '.cxx', '.in', '.py', '.md', '.build', '.map'}


def rows():
    for line in (HERE / 'words.txt').read_text().splitlines():
        if line and not line.startswith('#'):
            old, new = line.split('\t') if '\t' in line else line.split(' ')
            yield old, new


def main(root):
    words = dict(rows())
    identifiers = {old for old in words if re.fullmatch(r'\w+', old)}
    phrases = {old: re.compile(r'(?<!\w)' + r'\s+(?:\*\s+|#\s+)?'.join(map(re.escape, old.split()))
                               + r'(?!\w)', re.I)
               for old in words if old not in identifiers}
    passed = failed = 0
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob('*')):
            if (not path.is_file() or path.suffix not in ENDINGS or HERE in path.parents
                    or (root / 'tests/data') in path.parents):
                continue
            text = path.read_text(errors='replace')
            found = {word for word in re.findall(r'\w+', text) if word in identifiers}
            found |= {old for old, pattern in phrases.items() if pattern.search(text)}
            for word in sorted(found):
                print(f'{path.relative_to(root)}: "{word}": write "{words[word]}"')
            failed += bool(found)
            passed += not found
    print(f'{passed} passed, {failed} failed')
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(main(Path(sys.argv[1])))
