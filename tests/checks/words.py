#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Refuse words that only this project would know. words.txt lists each with the standard word to
use instead: a row is `OLD NEW` for an identifier, or `OLD<TAB>NEW` for a phrase in prose. Sources and
documents may contain none of them, and no markers of a merge.

usage: words.py SOURCE_DIRECTORY        one case per file; exit status 1 if one failed
"""
import re
import sys
from pathlib import Path

from source_files import check_files, source_files

# Between the words of a phrase: a space, or a line break with the beginning of a comment line.
GAP = r'\s+(?:\*\s+|#\s+)?'


def rows():
    for line in (Path(__file__).parent / 'words.txt').read_text().splitlines():
        if line and not line.startswith('#'):
            yield line.split('\t' if '\t' in line else ' ')


WORDS = dict(rows())
IDENTIFIERS = {old for old in WORDS if re.fullmatch(r'\w+', old)}
# The words of each phrase, of which few files have all, and its pattern, which takes long to search.
PHRASES = {old: (set(re.findall(r'\w+', old.lower())),
                 re.compile(r'\b' + GAP.join(map(re.escape, old.lower().split())) + r'(?!\w)'))
           for old in WORDS if old not in IDENTIFIERS}


def problems(text):
    for marker in re.findall(r'^(?:<{7}|>{7}) .*', text, flags=re.MULTILINE):
        yield f' "{marker}": a merge is not resolved'
    lower = text.lower()
    words = set(re.findall(r'\w+', lower))
    found = IDENTIFIERS.intersection(re.findall(r'\w+', text))
    found |= {old for old, (parts, pattern) in PHRASES.items() if parts <= words and pattern.search(lower)}
    for old in sorted(found):
        yield f' "{old}": write "{WORDS[old]}"'


def document_problems(text):
    """Names in backticks and blocks of commands may have the words."""
    prose = re.sub(r'^```.*?^```$|`[^`\n]*`', '', text, flags=re.MULTILINE | re.DOTALL)
    for old in re.findall(r'\bfolders?\b', prose.lower()):
        yield f' "{old}": write "directory"'


def files(root):
    """The values in tests/data belong to the files there."""
    for path in source_files(root, ['docs'], ['', '.1', '.map', '.md']):
        if root / 'tests/data' not in path.parents:
            yield path


if __name__ == '__main__':
    directory = Path(sys.argv[1])
    documents = [path for path in files(directory) if path.suffix in ('.md', '.1')]
    sys.exit(check_files(directory, files(directory), problems) or
             check_files(directory, documents, document_problems))
