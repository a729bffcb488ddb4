# SPDX-License-Identifier: MIT
"""One reader of a soak: reads random parts of all mounts in all ways, and compares."""
import errno
import json
import math
import mmap
import os
import random
import subprocess
import time
from collections import Counter, defaultdict
from pathlib import Path

from places import harness

STEPS = 20  # of a histogram, for each factor of ten
HIDDEN = {'.ntuplefs'}
LARGEST = 4 << 20


class Wrong(Exception):
    """Bytes that are not the expected ones."""


def read_at(descriptor, count, offset):
    """All of it: if the kernel has the first pages and fails for the others, a read is short,
    and the next one returns the error."""
    found = b''
    while len(found) < count and (part := os.pread(descriptor, count - len(found), offset + len(found))):
        found += part
    return found


class Reader:
    def __init__(self, number, places, ends, out):
        self.number, self.places, self.ends = number, places, ends
        self.chance = random.Random(f'{number} {time.time_ns()}')
        self.out = open(out, 'a', buffering=1)
        self.reported = time.monotonic()
        self.forget()

    def forget(self):
        self.done, self.expected = Counter(), Counter()
        self.latencies = defaultdict(Counter)
        self.bytes = 0

    def report(self, **what):
        self.out.write(json.dumps(what) + '\n')

    def report_counts(self):
        self.report(done=self.done, expected=self.expected, latencies=self.latencies, bytes=self.bytes)
        self.reported = time.monotonic()
        self.forget()

    def timed(self, what, function, *arguments):
        start = time.perf_counter()
        result = function(*arguments)
        taken = time.perf_counter() - start
        self.latencies[what][math.floor(STEPS * math.log10(max(taken, 1e-7)))] += 1
        return result

    # ---- what may stand in a file ----

    def truths(self, place, name):
        """The one content that the file has."""
        found = []
        for tree in place.truths:
            path = tree / name
            if path.is_file():
                found.append(path.read_bytes())
        return found

    def must_be_one(self, place, name, whats, parts, is_whole=False):
        """All parts [(offset, bytes)] come from one of the contents."""
        self.bytes += sum(len(part) for _, part in parts)
        for content in whats:
            if all(content[offset:offset + len(part)] == part for offset, part in parts) \
                    and (not is_whole or sum(len(part) for _, part in parts) == len(content)):
                return
        raise Wrong(f'{place.name}: {name}: {[(offset, len(part)) for offset, part in parts][:8]} is not '
                    f'what it must be')

    # ---- manners of reading ----

    def read_whole(self, place, name):
        whats = self.truths(place, name)
        step = self.chance.choice([4096, 65536, 1 << 20])
        parts, offset = [], 0
        descriptor = self.timed('open', os.open, place.mountpoint / name, os.O_RDONLY)
        try:
            while part := self.timed('read', os.read, descriptor, step):
                parts.append((offset, part))
                offset += len(part)
        finally:
            os.close(descriptor)
        self.must_be_one(place, name, whats, parts, is_whole=True)

    def read_ranges(self, place, name):
        whats = self.truths(place, name)
        descriptor = self.timed('open', os.open, place.mountpoint / name, os.O_RDONLY)
        try:
            size = os.fstat(descriptor).st_size
            parts = []
            for _ in range(self.chance.choice([1, 4, 16]) if size else 0):
                offset = self.chance.randrange(size)
                count = min(self.chance.choice([1, 100, 4096, 1 << 18]), size - offset)
                part = self.timed('read at random', read_at, descriptor, count, offset)
                if len(part) != count:
                    raise Wrong(f'{place.name}: {name}: {len(part)} of {count} bytes from {offset} on')
                parts.append((offset, part))
        finally:
            os.close(descriptor)
        self.must_be_one(place, name, whats, parts)

    def read_mapped(self, place, name):
        """Only valid files are mapped, because a mapping gets a signal for missing bytes;
        changing files cannot be mapped."""
        if not place.is_sound or name.endswith('versions.jsonl') or (
                place.mountpoint / name).stat().st_size == 0:
            return self.read_ranges(place, name)
        whats = self.truths(place, name)
        with open(place.mountpoint / name, 'rb') as file, mmap.mmap(file.fileno(), 0,
                                                                    prot=mmap.PROT_READ) as mapped:
            parts = []
            for _ in range(8):
                offset = self.chance.randrange(len(mapped))
                parts.append((offset, self.timed('mapped', mapped.__getitem__, slice(offset, offset + 5000))))
        self.must_be_one(place, name, whats, parts)

    def list_names(self, place, name):
        """All below the directory of a file, with attributes. Copies have no links to versions."""
        top = (place.mountpoint / name).parent
        for directory, folders, names in self.timed('walk', list, os.walk(top)):
            for child in names + folders:
                self.timed('stat', os.lstat, os.path.join(directory, child))
            is_copied = Path(directory).name != 'versions.d'
            for tree in place.truths if place.is_sound and is_copied and '--list=sized' not in place.options \
                    else ():
                expected = tree / Path(directory).relative_to(place.mountpoint)
                if place.name != 'single' and set(os.listdir(expected)) - HIDDEN != set(names
                        + folders) - HIDDEN:
                    raise Wrong(f'{place.name}: {directory}: '
                                f'{set(os.listdir(expected)) ^ set(names + folders)}')

    def list_by_program(self, place, name):
        top = (place.mountpoint / name).parent
        result = self.timed('ls -lR', lambda: subprocess.run(['ls', '-lR', top], capture_output=True,
                                                             errors='replace'))
        if result.returncode and place.is_sound:
            raise Wrong(f'{place.name}: ls -lR {top}: {result.stderr[:200]}')

    def read_attributes(self, place, name):
        for path in place.mountpoint / name, (place.mountpoint / name).parent:
            for attribute in self.timed('listxattr', os.listxattr, path):
                try:
                    self.timed('getxattr', os.getxattr, path, attribute)
                except OSError as error:
                    if error.errno != errno.ENODATA:
                        raise

    def compare_attributes(self, place, name):
        """The output of `ntuple stat` for a file, which uses no mount."""
        if not place.is_sound or len(place.sources) > 1:
            return self.read_attributes(place, name)
        reported = json.loads(harness.output(harness.NTUPLE, 'stat', '--json', place.sources[0], name))
        for attribute in os.listxattr(place.mountpoint / name):
            expected = reported.get(attribute.removeprefix('user.ntuplefs.'))
            if isinstance(expected, (str, int)):
                found = os.getxattr(place.mountpoint / name, attribute).decode(errors='replace')
                if found != str(expected):
                    raise Wrong(f'{place.name}: {name}: {attribute}: expected {expected!r}, found {found!r}')

    def read_rows(self, place, name):
        """Rows by their number equal the lines of rows.jsonl."""
        source = next((p for p in (place.truths[0] / name).parents if (p / 'ntuple.json').is_file()), None)
        if not source or not place.is_sound or not (source / 'rows.jsonl').is_file():
            return self.read_whole(place, name)
        dataset = source.relative_to(place.truths[0])
        lines = (source / 'rows.jsonl').read_bytes().splitlines()
        for _ in range(4 if lines else 0):
            row = self.chance.randrange(len(lines))
            path = dataset / f'rows.d/{row}.json'
            found = self.timed('row', (place.mountpoint / path).read_bytes)
            self.bytes += len(found)
            if json.loads(found) != json.loads(lines[row]):
                raise Wrong(f'{place.name}: {path} is not the line of rows.jsonl')

    def read_table(self, place, name):
        """Through Arrow's own reader, from both."""
        import pyarrow
        source = next((p for p in (place.truths[0] / name).parents if (p / 'table.arrow').is_file()), None)
        if not source or not place.is_sound:
            return self.read_ranges(place, name)
        path = source.relative_to(place.truths[0]) / 'table.arrow'

        def batch(top, which):
            with pyarrow.OSFile(str(top / path)) as file:
                table = pyarrow.ipc.open_file(file)
                return table.num_record_batches and table.get_batch(which % table.num_record_batches)

        which = self.chance.randrange(100)
        found, expected = self.timed('record batch', batch, place.mountpoint, which), batch(place.truths[0],
                which)
        # NaN differs from itself
        if found != expected and str(found.to_pydict()) != str(expected.to_pydict()):
            raise Wrong(f'{place.name}: {path}: batch {which}')

    def read_damaged(self, place, _):
        """Files whose content is unknown: reads some of it."""
        top = place.mountpoint
        for _ in range(12):
            names = self.timed('list', os.listdir, top)
            top = top / self.chance.choice(names or ['nothing'])
            if top.is_file():
                with open(top, 'rb', buffering=0) as file:
                    total = 0
                    while total < LARGEST and (part := self.timed('read damaged', file.read, 65536)):
                        total += len(part)
                return

    MANNERS = [read_whole] * 6 + [read_ranges] * 6 + [read_mapped] * 3 + [list_names, read_attributes] * 2 + \
        [read_rows, read_table] * 2 + [list_by_program, compare_attributes]

    def read_something(self):
        place = self.chance.choice(self.places)
        manner = self.chance.choice(self.MANNERS) if place.is_compared else Reader.read_damaged
        name = self.chance.choice(place.files) if place.files else ''
        if not place.is_sound and manner in (Reader.read_rows, Reader.read_table):
            manner = Reader.read_whole
        try:
            manner(self, place, name)
            self.done[manner.__name__] += 1
        except OSError as error:
            if error.errno in place.errors:
                self.expected[f'{place.name} {errno.errorcode[error.errno]}'] += 1
            else:
                self.report(finding='error', place=place.name, name=name, what=f'{manner.__name__}: {error}',
                          time=time.time())
        except Wrong as wrong:
            self.report(finding='wrong', place=place.name, name=name, what=f'{manner.__name__}: {wrong}',
                      time=time.time())
        except Exception as error:
            self.report(finding='failed', place=place.name, name=name, what=f'{manner.__name__}: {error!r}',
                      time=time.time())

    def run(self):
        while time.monotonic() < self.ends:
            self.read_something()
            if time.monotonic() - self.reported > 2:
                self.report_counts()
        self.report_counts()


def read_until(number, places, ends, out):
    os.nice(5)
    Reader(number, places, ends, out).run()


def visit(places, ends, out):
    """Open each file of steady/ once. The memory of a mount for each grows until then, which is
    no leak."""
    os.nice(5)
    reader = Reader('visitor', places, ends, out)
    for place in places:
        for name in place.files if place.is_sound else ():
            if time.monotonic() >= ends:
                return
            try:
                with open(place.mountpoint / name, 'rb') as file:
                    file.read(1)
            except OSError as error:
                reader.report(finding='error', what=f'{errno.errorcode[error.errno]} on a visit',
                            place=place.name, name=name)
