# SPDX-License-Identifier: MIT
"""Datasets of many fragments: each has a copy of one data file, with its own name."""
import hashlib
import json
import shutil
import sys
from pathlib import Path

from harness import DATA

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'support'))
from lance_editor import (  # noqa: E402
    BYTES, COLUMN_INDICES, FIELD_IDS, FIELDS, FILES, FRAGMENTS, PATH, ManifestEditor, changed, items_of,
    member, message_of
)

SOURCE = DATA / 'lance_datasets' / 'fragments_2.2'
FRAGMENT_ID = 1
NAME = 2  # of a field


def first_version():
    """What another reader found in the version that all fragments copy, which has one fragment."""
    return json.loads(SOURCE.with_name(SOURCE.name + '.json').read_text())['versions'][0]


def is_kept(item, names):
    """Does a member of the manifest stay? Of the fields, those that have no descendants and these names."""
    number, _, value = item
    if number != FIELDS or not names:
        return number != FRAGMENTS
    return next(text for field, _, text in items_of(value) if field == NAME) in names


def write_fragments(path, count, names=(), more_files=0, has_data=True):
    """A dataset of so many fragments; of all fields, or of those with these names. A fragment may have more
    files, of which no field is read. Without data, their files are missing."""
    manifest = f'{2 ** 64 - 1 - first_version()["version"]}.manifest'
    for folder in '_versions', 'data':
        (path / folder).mkdir(parents=True)
    shutil.copy(SOURCE / '_versions' / manifest, path / '_versions')
    editor = ManifestEditor(path)
    fragment, = editor.all_of(FRAGMENTS)
    file = next(value for field, _, value in items_of(fragment) if field == FILES)
    name = next(value for field, _, value in items_of(file) if field == PATH).decode()
    content = (SOURCE / 'data' / name).read_bytes()
    unread = changed(changed(file, (FIELD_IDS,), None), (COLUMN_INDICES,), None)
    items = [item for item in items_of(editor.message) if is_kept(item, names)]
    for number in range(count):
        copy = f'{number:08}.lance'
        if has_data:
            (path / 'data' / copy).write_bytes(content)
        message = changed(fragment, (FRAGMENT_ID,), number) if number else fragment
        message = changed(message, (FILES, PATH), copy.encode())
        for more in range(1, more_files + 1):
            copy = f'{number:08}_{more}.lance'
            (path / 'data' / copy).write_bytes(content)
            message = changed(message, ((FILES, more),), changed(unread, (PATH,), copy.encode()))
        items.append([FRAGMENTS, BYTES, message])
    editor.message = message_of(items)
    editor.write()


def add_empty_fragments(path, count):
    """Fragments without data files."""
    editor = ManifestEditor(path)
    for number in range(count):
        editor.add(FRAGMENTS, message_of([member(FRAGMENT_ID, 10**6 + number)]))
    editor.write()


def digests(data, count):
    """Of each of so many equal parts of a column."""
    size = len(data) // count
    return {hashlib.sha256(data[i * size:(i + 1) * size]).hexdigest() for i in range(count)}
