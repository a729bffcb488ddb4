# SPDX-License-Identifier: MIT
"""Changing the metadata of a Lance file or dataset: Protocol Buffers messages, decoded and
encoded again, and the tables and the footer after them. Field numbers are those of Lance's
protos (file2, encodings_v2_0, encodings_v2_1, table)."""
import struct
from pathlib import Path

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
FOOTER = struct.Struct('<QQQIIHH4s')
ENTRY = struct.Struct('<QQ')

# From a ColumnMetadata to the ArrayEncoding or PageLayout of a page, and to its members.
PAGES, PAGE_OFFSETS, PAGE_SIZES, PAGE_LENGTH, PAGE_ENCODING = 2, 1, 2, 3, 4
ENCODING = PAGE_ENCODING, 2, 1, 2  # direct, Any, value


def get_varint(message, at):
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 0x7f) << shift
        shift, at = shift + 7, at + 1
        if byte < 0x80:
            return value, at


SHORT = [bytes([value]) for value in range(0x80)]


def varint(value):
    if value < 0x80:
        return SHORT[value]
    out = bytearray()
    while value > 0x7f:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def items_of(message):
    """[[field, wire type, number or bytes]]"""
    items, at = [], 0
    while at < len(message):
        tag, at = get_varint(message, at)
        wire = tag & 7
        if wire == VARINT:
            value, at = get_varint(message, at)
        else:
            size, at = (8, at) if wire == FIXED64 else (4, at) if wire == FIXED32 else get_varint(message, at)
            value, at = message[at:at + size], at + size
        items.append([tag >> 3, wire, value])
    return items


def message_of(items):
    out = bytearray()
    for field, wire, value in items:
        out += varint(field << 3 | wire)
        out += varint(value) if wire == VARINT else varint(len(value)) + value if wire == BYTES else value
    return bytes(out)


def member(field, value):
    return [field, VARINT if isinstance(value, int) else BYTES, value]


def changed(message, path, value):
    """A message with another number, bytes or nothing (None) in the member at a path of field
    numbers, with (number, index) for repeated ones. Missing members are added."""
    field, index = path[0] if isinstance(path[0], tuple) else (path[0], 0)
    items = items_of(message)
    places = [place for place, item in enumerate(items) if item[0] == field]
    old = items[places[index]][2] if index < len(places) else b''
    new = changed(old, path[1:], value) if len(path) > 1 else value
    if index < len(places):
        items[places[index]:places[index] + 1] = [] if new is None else [member(field, new)]
    elif new is not None:
        items.append(member(field, new))
    return message_of(items)


class LanceEditor:
    """A file with changed messages. `columns`: their ColumnMetadata; `schema`: the
    FileDescriptor."""

    def __init__(self, content):
        self.content = content
        (self.start, columns_at, globals_at, self.global_count, count, self.major, self.minor,
         self.magic) = FOOTER.unpack(content[-FOOTER.size:])
        self.columns = [content[at:at + size] for at, size in ENTRY.iter_unpack(content[columns_at:columns_at
                + ENTRY.size * count])]
        self.globals = [ENTRY.unpack_from(content, globals_at + ENTRY.size * i)
                        for i in range(self.global_count)]
        at, size = self.globals[0]
        self.schema = content[at:at + size]

    def change_page(self, column, page, path, value):
        self.columns[column] = changed(self.columns[column], ((PAGES, page), *path), value)

    def change_encoding(self, column, page, path, value):
        self.change_page(column, page, (*ENCODING, *path), value)

    def written(self):
        """All buffers stay in place; the schema follows them."""
        out = bytearray(self.content[:self.start])
        entries = [(len(out), len(self.schema)), *self.globals[1:]]
        out += self.schema
        start, table = len(out), bytearray()
        for column in self.columns:
            table += ENTRY.pack(len(out), len(column))
            out += column
        columns_at = len(out)
        out += table
        globals_at = len(out)
        for entry in entries:
            out += ENTRY.pack(*entry)
        return bytes(out + FOOTER.pack(start, columns_at, globals_at, self.global_count, len(self.columns),
                                       self.major, self.minor,
                                       self.magic))


# From a Manifest to its fields, fragments, their files; base paths.
FIELDS, FRAGMENTS, FILES, DELETION_FILE, PHYSICAL_ROWS, DELETED_ROWS, BASE_PATHS = 1, 2, 2, 3, 4, 4, 18
READER_FLAGS, WRITER_FLAGS = 9, 10
PATH, FIELD_IDS, COLUMN_INDICES, MAJOR_VERSION, MINOR_VERSION = 1, 2, 3, 4, 5    # of a DataFile
MANIFEST_TAIL = struct.Struct('<QHH4s')


class ManifestEditor:
    """The manifest of a dataset's latest version, or of another one, whose `message` is changed."""

    def __init__(self, dataset, path=None):
        self.path = path or max(Path(dataset, '_versions').glob('*.manifest'), key=self.version_of)
        content = self.path.read_bytes()
        self.at, self.major, self.minor, self.magic = MANIFEST_TAIL.unpack(content[-MANIFEST_TAIL.size:])
        self.before = content[:self.at]
        size, = struct.unpack_from('<I', content, self.at)
        self.message = content[self.at + 4:self.at + 4 + size]

    @staticmethod
    def version_of(path):
        return 2**64 - 1 - int(path.stem) if len(path.stem) == 20 else int(path.stem)

    def all_of(self, *path):
        """The values of a member, for each occurrence; a longer path leads into the first ones."""
        message = self.message
        for number in path[:-1]:
            message = next(value for field, _, value in items_of(message) if field == number)
        return [value for field, _, value in items_of(message) if field == path[-1]]

    def change(self, path, value):
        self.message = changed(self.message, path, value)

    def add(self, number, value):
        self.message += message_of([member(number, value)])

    def write(self):
        self.path.write_bytes(self.before + struct.pack('<I', len(self.message)) + self.message
                              + MANIFEST_TAIL.pack(self.at, self.major, self.minor, self.magic))
