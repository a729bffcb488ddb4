# SPDX-License-Identifier: MIT
"""RNTuples of ROOT files in the form of ROOT's object stores: an anchor, and an object for each
page, page list, header and footer. Pages, their checksums and the header come from the file;
page lists and footers are written again, with locators of objects. uproot finds and decompresses
them."""
import json
import struct

OBJECT64, MULTI = 2, 3


class NotStorable(Exception):
    """Something that the layout cannot store; the text says what."""


class Cursor:
    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def take(self, count):
        self.at += count
        return self.data[self.at - count:self.at]

    def number(self, form):
        return struct.unpack('<' + form, self.take(struct.calcsize(form)))[0]

    def frame(self):
        """The contents of a frame, and the number of items of a list."""
        start, size = self.at, self.number('q')
        items = self.number('I') if size < 0 else None
        inner = Cursor(self.data[:start + abs(size)], self.at)
        self.at = start + abs(size)
        return inner, items

    def rest(self):
        return self.take(len(self.data) - self.at)


def record(content):
    return struct.pack('<q', len(content) + 8) + content


def listed(items, after=b''):
    content = b''.join(items) + after
    return struct.pack('<qI', -(len(content) + 12), len(items)) + content


def locator(kind, payload):
    return struct.pack('<i', -(kind << 24 | len(payload) + 4)) + payload


def object64(number, size, is_wide=False):
    return locator(OBJECT64, struct.pack('<QQ' if is_wide else '<IQ', size, number))


class Objects:
    """`files`: the files below the address by name, and the anchor as ''."""

    def __init__(self, file, entry, digest, locator_of=object64):
        import uproot
        self.data, self.digest, self.locator_of = file.read_bytes(), digest, locator_of
        self.files, self.at = {}, {}
        with uproot.open(file) as opened:
            anchor = opened[entry]
            members = anchor.all_members
            self.name = entry
            version = [members[f'fVersion{part}'] for part in ('Epoch', 'Major', 'Minor', 'Patch')]
            if version[0] < 1:
                raise NotStorable('a draft')
            self.longest = members.get('fMaxKeySize') or 1 << 62
            header = members['fSeekHeader'], members['fNBytesHeader']
            self.footer = self.plain(members['fSeekFooter'], members['fNBytesFooter'], members['fLenFooter'])
        self.put(self.data[header[0]:sum(header)])
        footer = self.rewritten_footer()
        number = self.put(footer)
        self.anchor = {'anchorVersion': 0, **dict(zip(('formatVersionEpoch', 'formatVersionMajor',
                                                       'formatVersionMinor', 'formatVersionPatch'), version)),
                       'urlTemplate': '${baseurl}/${objid}', 'cloneTemplate': '${baseurl}/_clone/${name}',
                       'headerObjId': 0, 'headerOffset': 0, 'nBytesHeader': header[1],
                       'lenHeader': members['fLenHeader'],
                       'footerObjId': number, 'footerOffset': 0, 'nBytesFooter': len(footer),
                       'lenFooter': len(footer)}
        self.put_anchor()

    def put(self, content):
        self.files[str(len(self.files))] = content
        return len(self.files) - 1

    def put_anchor(self, **others):
        self.files.pop('', None)
        self.files[''] = written(self.anchor | others, self.digest)

    def plain(self, offset, stored, length):
        """The uncompressed bytes of an envelope."""
        import uproot
        chunk = uproot.source.chunk.Chunk.wrap(None, self.data[offset:offset + stored])
        if stored == length:
            return self.data[offset:offset + stored]
        cursor = uproot.source.cursor.Cursor(0)
        return bytes(uproot.compression.decompress(chunk, cursor, {}, stored, length).raw_data)

    def envelope(self, kind, content):
        content = struct.pack('<Q', len(content) + 16 << 16 | kind) + content
        return content + struct.pack('<Q', self.digest(content))

    def place(self, cursor):
        size = cursor.number('i')
        if size < 0:
            raise NotStorable('a locator that is not of a file')
        if size + 8 > self.longest:
            raise NotStorable('a page in several keys')
        return cursor.number('Q'), size

    # ---- page lists ----

    def page(self, cursor):
        elements = cursor.number('i')
        offset, size = self.place(cursor)
        stored = self.data[offset:offset + size + (8 if elements < 0 else 0)]
        if (offset, len(stored)) not in self.at:
            self.at[offset, len(stored)] = self.put(stored)
        return struct.pack('<i', elements) + self.locator_of(self.at[offset, len(stored)], size)

    def column(self, cursor):
        pages, count = cursor.frame()
        return listed([self.page(pages) for _ in range(count)], pages.rest())

    def cluster(self, cursor):
        columns, count = cursor.frame()
        return listed([self.column(columns) for _ in range(count)], columns.rest())

    def page_list(self, content):
        cursor = Cursor(content[:-8], 8)
        start = cursor.take(8)  # the header's checksum
        at = cursor.at
        cursor.frame()
        summaries = content[at:cursor.at]
        clusters, count = cursor.frame()
        return self.envelope(3, start + summaries + listed([self.cluster(clusters) for _ in range(count)],
                                                           clusters.rest()))

    # ---- footer ----

    def group(self, cursor):
        fields, _ = cursor.frame()
        start = fields.take(20)
        length = fields.number('Q')
        content = self.page_list(self.plain(*self.place(fields), length))
        return record(start + struct.pack('<Q', len(content))
                      + object64(self.put(content), len(content), is_wide=True) + fields.rest())

    def rewritten_footer(self):
        cursor = Cursor(self.footer[:-8], 8)
        start = cursor.at
        while cursor.number('q') < 0:
            pass
        cursor.take(8)  # the header's checksum
        cursor.frame()
        before = self.footer[start:cursor.at]
        groups, count = cursor.frame()
        rewritten = listed([self.group(groups) for _ in range(count)], groups.rest())
        sets = Cursor(cursor.data, cursor.at)
        if cursor.at < len(cursor.data) and sets.frame()[1]:
            raise NotStorable('attribute sets')
        return self.envelope(2, before + rewritten + cursor.rest())


def written(anchor, digest):
    """As written by nlohmann's JSON library."""
    compact = json.dumps(anchor, sort_keys=True, separators=(',', ':'), ensure_ascii=False)
    return json.dumps(anchor | {'checksum': digest(compact.encode())}, sort_keys=True, indent=2,
                      ensure_ascii=False).encode()
