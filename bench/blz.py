#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare the speed of reading BLZ, bcolz and bloscpack arrays with c-blosc and their own
readers.

usage: blz.py BUILD [ROUNDS [MIB]]         a build with -Dbench=true; needs bloscpack and NumPy;
                                           skips bcolz if it is missing

Each file has MIB (128) of decoded bytes in chunks of 1 MiB. All readers take turns within each
round, in processes of their own. Each is timed in its third pass, into memory that was touched
before. The mount alone is timed in the first read of a fresh mount. Prints tables for
docs/performance-history.md: median, lowest and highest, in decoded GB per second.
"""
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure.mount import Mount, read_whole

PASSES = 3
THREADS = os.cpu_count()
PIECE = 4096

# bloscpack 0.16 imports names from collections that have moved.
IMPORT = '''
import collections, collections.abc, sys, time
collections.MutableMapping, collections.Mapping = collections.abc.MutableMapping, collections.abc.Mapping
import numpy
'''
MAKE = IMPORT + '''
import bloscpack
directory, items = sys.argv[1], int(sys.argv[2]) << 17
values = numpy.random.default_rng(1)
arrays = {'float64': numpy.round(numpy.cumsum(values.normal(0, 1, items)), 2),
          'int64': numpy.cumsum(values.integers(0, 1000, items))}
for kind, array in arrays.items():
    for codec in 'blosclz', 'lz4', 'zstd':
        bloscpack.pack_ndarray_to_file(array, f'{folder}/{kind} {codec}.blp',
                                       blosc_args=bloscpack.BloscArgs(cname=codec))
bloscpack.pack_ndarray_to_file(arrays['float64'], f'{folder}/large.blp', chunk_size='8M',
                               blosc_args=bloscpack.BloscArgs(cname='zstd'))
try:
    import bcolz
    bcolz.carray(arrays['float64'], cparams=bcolz.cparams(cname='lz4'),
                 rootdir=f'{folder}/float64 lz4 bcolz', mode='w').flush()
except ImportError:
    pass
'''
BLOSCPACK = IMPORT + '''
import blosc, bloscpack
blosc.set_nthreads(int(sys.argv[3]))
for _ in range(int(sys.argv[2])):
    start = time.perf_counter()
    bloscpack.unpack_ndarray_from_file(sys.argv[1])
    print(time.perf_counter() - start)
'''
BCOLZ = IMPORT + '''
import bcolz
bcolz.set_nthreads(int(sys.argv[3]))
for _ in range(int(sys.argv[2])):
    start = time.perf_counter()
    bcolz.carray(rootdir=sys.argv[1], mode='r')[:]
    print(time.perf_counter() - start)
'''
# The next pass reuses freed memory, whose pages are already mapped.
KEEP_MEMORY = {'MALLOC_MMAP_THRESHOLD_': str(1 << 40), 'MALLOC_TRIM_THRESHOLD_': str(1 << 40)}


def output(*command, **environment):
    return subprocess.run(list(map(str, command)), check=True, text=True, stdout=subprocess.PIPE,
                          env=os.environ | environment).stdout


class ArrayMount(Mount):
    """A mount of one array."""

    @property
    def data(self):
        [data] = self.point.glob('**/values/data.bin')
        return data


def by_mount(build, source):
    with ArrayMount(build / 'ntuplefs', source) as mount:
        return read_whole(mount.data)


def by_program(build, source):
    """{way: seconds}, and the decoded bytes."""
    lines = [line.split() for line in output(build / 'bench/blz_bench', source, THREADS, PASSES).splitlines()]
    return int(lines[0][1]), {way: float(passes[-1]) for way, *passes in lines[1:]}


def by_peer(program, source):
    return float(output(sys.executable, '-c', program, source, PASSES, THREADS, **KEEP_MEMORY).split()[-1])


def measure(build, source, rounds):
    """{way: [GB a second]}"""
    speeds = {}
    for _ in range(rounds):
        size, seconds = by_program(build, source)
        seconds['mount'] = by_mount(build, source)
        if source.suffix == '.blp':
            seconds['bloscpack'] = by_peer(BLOSCPACK, source)
        else:
            seconds['bcolz'] = by_peer(BCOLZ, source)
        for way, value in seconds.items():
            speeds.setdefault(way, []).append(size / value / 1e9)
    return speeds


NAMES = {'blosc': f'c-blosc, {THREADS} threads share the chunks',
         'internal': f'c-blosc, {THREADS} threads in each chunk',
         'verified': 'c-blosc with the digests verified', 'library': f'library, {THREADS} threads',
         'mount': 'mount, first read',
         'bloscpack': 'bloscpack', 'bcolz': 'bcolz'}


def show(results):
    print('| GB/s, median (lowest–highest) | ' + ' | '.join(results) + ' |\n|' + '---|' * (len(results) + 1))
    for way, name in NAMES.items():
        cells = [f'{statistics.median(s[way]):.2f} ({min(s[way]):.2f}–{max(s[way]):.2f})' if way in s else ''
                 for s in results.values()]
        print(f'| {name} | ' + ' | '.join(cells) + ' |')
    for way in 'library', 'mount':
        medians = [{key: statistics.median(rounds) for key, rounds in s.items()} for s in results.values()]
        ratios = [f"{m[way] / max(m['blosc'], m['internal']):.2f}" for m in medians]
        print(f'| {NAMES[way]} / c-blosc, the faster | ' + ' | '.join(ratios) + ' |')


def random_reads(build, source, reads=100):
    """Small reads at random offsets of large chunks, through a fresh mount."""
    with ArrayMount(build / 'ntuplefs', source) as mount, open(mount.data, 'rb', buffering=0) as file:
        chance = random.Random(1)
        blocks = os.path.getsize(mount.data) // PIECE
        offsets = [chance.randrange(blocks) * PIECE for _ in range(reads)]
        start = time.perf_counter()
        for offset in offsets:
            os.pread(file.fileno(), PIECE, offset)
        seconds = time.perf_counter() - start
        stats = mount.stats()
    print(f"\n{reads} random reads of 4 KiB in chunks of 8 MiB: {1e6 * seconds / reads:.0f} µs a read, "
          f"{stats['blocks_decoded']} blocks "
          f"and {stats['pages_decoded']} chunks decoded, {stats['decoded_bytes'] >> 20} MiB.")


def main():
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    build, rounds = Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    mebibytes = int(sys.argv[3]) if len(sys.argv) > 3 else 128
    folder = Path(tempfile.mkdtemp(prefix='ntuplefs-bench-'))
    try:
        output(sys.executable, '-c', MAKE, folder, mebibytes)
        print(f'load {os.getloadavg()[0]:.1f} before', end='')
        sources = sorted(path for path in folder.iterdir() if path.name != 'large.blp')
        results = {path.stem: measure(build, path, rounds) for path in sources}
        print(f', {os.getloadavg()[0]:.1f} after\n')
        show(results)
        random_reads(build, folder / 'large.blp')
    finally:
        shutil.rmtree(folder)
    return 0


if __name__ == '__main__':
    sys.exit(main())
