# SPDX-License-Identifier: MIT
"""What a soak reads: copies of all sources, trees of ordinary files with the expected contents,
and mounts."""
import errno
import json
import os
import random
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / 'mount'), str(TESTS / 'support')]
import harness  # noqa: E402
from compare_columns import check_column  # noqa: E402
from compare_tree import compare_tree  # noqa: E402

NO_SOURCE = {'.json', '.md', '.py', '.cxx', '.hxx', '.txt'}
LARGEST_COPY = 64 << 20  # of files that are read whole in a tree of ordinary files
VALUES = re.compile(
        r'(?:data|offsets|valid|tags|index)\.(?:bin|npy)$|(?:rows|head)\.jsonl$|table\.(?:csv|arrow)$')
GONE = {errno.ENOENT, errno.ENOTDIR}
DAMAGE = {errno.EIO, errno.ENODATA, errno.ESPIPE, *GONE}  # a text that ends early is read like a pipe
CHANGE = {errno.ESTALE, *DAMAGE}
END = {errno.ENOTCONN, errno.ECONNABORTED, errno.EINTR, *CHANGE}


@dataclass
class Place:
    """A mount, the trees of which one gives each file's contents, and the errors that may
    replace it."""
    name: str
    sources: list
    truths: list
    options: tuple = ()
    errors: frozenset = frozenset()
    files: list = field(default_factory=list)    # paths below the mountpoint
    is_compared: bool = True
    mountpoint: Path = None
    process: subprocess.Popen = None

    @property
    def is_sound(self):
        return not self.errors

    def mount(self, top):
        self.mountpoint = top / 'mounts' / self.name
        self.log = open(top / f'{self.name}.log', 'ab')
        self.process = subprocess.Popen([harness.NTUPLEFS, '-f', *self.options, *map(str, self.sources),
                                         str(self.mountpoint)],
                                        stderr=self.log, stdin=subprocess.DEVNULL)
        harness.wait_until(lambda: harness.is_mounted(self.mountpoint) or self.process.poll() is not None,
                           f'{self.name} mounted', 60)
        os.listdir(self.mountpoint)

    def messages(self, top):
        lines = (top / f'{self.name}.log').read_text(errors='replace').splitlines()
        return [line for line in lines if not harness.NOTE.match(line)]


def sources_below(folder):
    return sorted(path for path in folder.iterdir()
                  if path.suffix not in NO_SOURCE) if folder.is_dir() else []


def all_sources():
    """{path below the mounted directory: source}"""
    found = {}
    for path in sources_below(harness.DATA):
        if path.name != 'lance_datasets':
            found[path.name] = path
    for path in sources_below(harness.DATA / 'lance_datasets'):
        found[f'datasets/{path.name}'] = path
    shared = Path(os.environ.get('NTUPLE_SHARED', '/nothing')) / 'data'
    for kind in 'rntuple', 'roaring', 'blz', 'lance', 'attack':
        for folder in [shared / kind, *(p for p in sources_below(shared / kind) if p.is_dir())]:
            for path in sources_below(folder):
                if path.is_file() or folder != shared / kind:
                    found[f'{kind}_{folder.name}/{path.name}'] = path
    return found


def copy(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True)
    else:
        shutil.copyfile(source, target)


def write_out(source, target):
    """The tree of a source as ordinary files, made without a mount; was all of it made, and is
    nothing damaged?"""
    target.parent.mkdir(parents=True, exist_ok=True)
    limit = f'ulimit -f {LARGEST_COPY // 1024}; exec "$@"'
    result = subprocess.run(['bash', '-c', limit, 'bash', harness.NTUPLE, 'cp', '-r', str(source),
                             str(target)],
                            capture_output=True, timeout=600)
    return result.returncode == 0 and not any(target.rglob('error.json'))


def differs_from_other_reader(tree, expected):
    """The parts of a tree that differ from another reader's values."""
    wrong = []
    if not expected.exists() or expected.parent != harness.DATA:
        return wrong
    found = json.loads(expected.read_text())
    if 'datasets' in found:
        compare_tree(expected, tree, lambda what, error: error is not None
                     and wrong.append(f'{what}: {error}'))
    for column in found.get('columns', []):
        try:
            check_column(tree / expected.stem / column['path'], column)
        except AssertionError as error:
            wrong.append(f'{expected.stem}: {error}')
    return wrong


def files_below(tree):
    return sorted(str(Path(directory, name).relative_to(tree))
                  for directory, _, names in os.walk(tree) for name in names
                  if '.ntuplefs' not in Path(directory).parts)


def flip_bits(path, chance):
    size = path.stat().st_size
    for _ in range(chance.choice([1, 1, 3])):
        harness.flip(path, chance.randrange(size), 1 << chance.randrange(8))


def has_checksums(path):
    """Does each page have one, and are there pages? Some writers write none."""
    reported = subprocess.run([harness.NTUPLE, 'verify', '--json', path], stdout=subprocess.PIPE,
                          check=False).stdout.splitlines()
    summary = json.loads(reported[-1])
    return summary['result'] == 'ok' and summary['pages'] > 0 and summary['unchecked'] == 0


class Material:
    """The directories of a soak: steady/ never changes, changing/ and damaged/ do; truth/ has the
    expected contents."""

    def __init__(self, top, seed):
        self.top, self.chance = top, random.Random(seed)
        self.steady, self.changing, self.damaged = top / 'steady', top / 'changing', top / 'damaged'
        self.truth, self.wrong = top / 'truth', []
        self.failing = []
        for name, source in all_sources().items():
            self.add(name, source)
        self.add_damaged()
        self.slots = self.add_slots()

    def add(self, name, source):
        copy(source, self.steady / name)
        if write_out(self.steady / name, self.truth / 'steady' / name):
            self.wrong += differs_from_other_reader(self.truth / 'steady' / name, source.with_suffix('.json'))
            return
        self.failing.append(name)
        shutil.rmtree(self.truth / 'steady' / name, ignore_errors=True)
        (self.damaged / name).parent.mkdir(parents=True, exist_ok=True)
        (self.steady / name).rename(self.damaged / name)

    def add_damaged(self):
        """Copies with flipped bits: for ROOT files, whose pages have checksums, each value is
        right or an error."""
        for path in sorted(self.steady.glob('*.root')):
            if path.stem != 'dirs_and_cycles' and has_checksums(path):
                copy(path, self.damaged / 'flipped' / path.name)
                flip_bits(self.damaged / 'flipped' / path.name, self.chance)
        for path in sorted(self.steady.glob('*.*')):
            if path.suffix != '.root' and path.is_file():
                copy(path, self.damaged / 'unchecked' / path.name)
                flip_bits(self.damaged / 'unchecked' / path.name, self.chance)

    def add_slots(self):
        """Paths in changing/ where two sources of a kind take turns: {name: the two}."""
        slots = {}
        for kind, pattern in {'rntuple.root': 'compression_z*.root',
                              'numbers.lance': 'lance_numbers_2.[01].lance',
                              'blocks.blp': 'blocks*.blp', 'example.root': '[et][xy][ap]*.root',
                              'columns': 'datasets/columns_2.[12]', 'table': 'blz_*/t_[bo]*',
                              'bits.roaring': 'roaring_*/*.*'}.items():
            found = sorted(self.steady.glob(pattern))
            if len(found) >= 2:
                slots[kind] = found[0], found[-1]
                for turn, path in enumerate(slots[kind]):
                    self.put(kind, path)
                    if not write_out(self.changing / kind, self.truth / f'changing.{turn}' / kind):
                        self.wrong.append(f'{kind}: {path} cannot be written out')
        return slots

    def put(self, kind, path):
        """A whole source replaces another in one step, as far as a directory can."""
        place, fresh, old = self.changing / kind, self.top / 'fresh', self.top / 'old'
        copy(path, fresh)
        if place.is_dir():
            place.rename(old)
        place.parent.mkdir(exist_ok=True)
        fresh.rename(place)
        shutil.rmtree(old, ignore_errors=True)

    def remove(self, kind):
        """Also in one step: a half-removed dataset would be another one."""
        place, old = self.changing / kind, self.top / 'old'
        if place.is_dir():
            place.rename(old)
        place.unlink(missing_ok=True)
        shutil.rmtree(old, ignore_errors=True)

    def change(self):
        """Changes a slot; returns the kind of change in a word."""
        kind = self.chance.choice(sorted(self.slots))
        place, other = self.changing / kind, self.chance.choice(self.slots[kind])
        how = self.chance.choice(['replaced', 'replaced', 'rewritten', 'cut', 'removed', 'damaged'])
        if how == 'removed':
            self.remove(kind)
        elif how == 'replaced' or not place.is_file():
            self.put(kind, other)
            how = 'replaced'
        elif how == 'rewritten':
            with open(place, 'r+b') as file:
                file.write(other.read_bytes())
                file.truncate()
        elif how == 'cut':
            os.truncate(place, self.chance.randrange(place.stat().st_size + 1))
        elif place.suffix == '.root' and place.stat().st_size:
            flip_bits(place, self.chance)
        else:
            os.truncate(place, 0)
            how = 'cut'
        return f'{kind} {how}'

    def places(self):
        steady, truth = self.steady, self.truth / 'steady'
        alone = {name: steady / name for name in ('example.root', 'datasets/deletions_2.2',
                                                  'blz_blz/t_basic',
                                                  'blocks_with_digests.blp', 'lance_nested_2.2.lance')}
        alone = {name: path for name, path in alone.items() if path.exists()}
        files = [path for path in sorted(steady.iterdir()) if path.is_file()]
        # Caches are small, so that they are full when the warm-up ends: filling one looks like
        # growth.
        places = [
            Place('folder', [steady], [truth], ('-o', 'cachesize=16M,allow_other')),
            Place('files', files, [truth], ('-o', 'cachesize=4M,direct_io=on')),
            Place('sized', [steady], [truth], ('-o', 'cachesize=16M,text=sized,threads=1')),
            Place('single', [steady], [truth], ('-s', '-o', 'cachesize=4M,list=sized,verify=open')),
            *(Place(f'alone_{Path(name).name}', [path], [truth / name], ('-o', 'cachesize=8M')) for name,
              path in alone.items()),
            Place('changing', [self.changing], [self.truth / 'changing.0', self.truth / 'changing.1'],
                  ('-o', 'cachesize=4M'),
                  frozenset(CHANGE)),
            Place('damaged', [self.damaged], [truth], ('-o', 'broken=show,cachesize=4M'),
                  frozenset({errno.ENOMEM, errno.EFBIG, *CHANGE}), is_compared=False),
            Place('flipped', [self.damaged / 'flipped'], [truth],
                  ('-o', 'broken=show,direct_io=on,cachesize=8M'), frozenset(DAMAGE)),
            Place('killed', [steady], [truth], ('-o', 'auto_unmount'), frozenset(END)),
        ]
        for place in places:
            place.files = sorted({name for tree in place.truths for name in files_below(tree)
                                  if place.is_sound or place.name == 'killed' or VALUES.search(name)})
        by_name = {place.name: place for place in places}
        top_level = {path.name for path in files}
        by_name['files'].files = [name for name in by_name['files'].files if name.split('/')[0] in top_level]
        flipped = {path.name for path in (self.damaged / 'flipped').iterdir()}
        by_name['flipped'].files = [name for name in by_name['flipped'].files
                                    # these contain the path of the file
                                    if name.split('/')[0] in flipped and not name.endswith('.arrow')]
        return places
