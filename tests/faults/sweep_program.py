# SPDX-License-Identifier: MIT
"""Fail each allocation in a whole program, one at a time, including those of libraries. The
program succeeds with the usual output, or ends with the status for "out of memory". It never
calls a source damaged, and never crashes or hangs.

usage: sweep_program.py [-n POINTS]        so many points of each command, spread evenly; default: all
"""
import argparse
import errno
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

NTUPLE, PRELOAD, DATA = os.environ['NTUPLE'], os.environ.get('FAULT_PRELOAD'), Path(
        os.environ['NTUPLE_TEST_DATA'])
ALLOCATION = 1  # enum fault_site in tests/faults/faults.h
OUT_OF_MEMORY = 8  # enum nt_exit_status in src/cli/cli.h
SECONDS = 20
# A source of each format, compression and metadata library.
VERIFIED = ('compression_zstd.root', 'compression_lzma.root', 'compression_zlib.root',
            'compression_lz4.root', 'types.root', 'trees/trees_embedded.root', 'trees/trees_friends.root',
            'lance_datasets/deletions_2.2', 'lance_nested_2.1.lance', 'lance_nested_0.2.lance',
            '../fuzz/seeds/run.roaring')
SANDBOX = '--sandbox=off'  # whose setup is not swept here


def commands():
    sources = [DATA / name for name in VERIFIED] + sorted(DATA.glob('*.blp'))
    for source in sources:
        yield [NTUPLE, 'verify', SANDBOX, str(source)]
    yield [NTUPLE, 'cat', SANDBOX, str(DATA / 'types.root'), 'file.json']


def call(words, number, count=None):
    """The result if allocation `number` fails; 0: none does."""
    environment = os.environ | {'LD_PRELOAD': PRELOAD,
                                'NTUPLE_FAULT': f'{ALLOCATION}:{errno.ENOMEM}:{number}:0',
                                'NTUPLE_FAULT_COUNT': count or ''}
    return subprocess.run(words, capture_output=True, env=environment, timeout=SECONDS)


def count_allocations(words):
    with tempfile.NamedTemporaryFile() as file:
        usual = call(words, 0, file.name)
        return usual, int(file.read())


def problem(usual, found):
    if found.returncode < 0:
        return f'ended by {signal.Signals(-found.returncode).name}'
    if found.returncode == OUT_OF_MEMORY:
        return None if b'emory' in found.stderr else 'the message does not name memory'
    # c-blosc itself prints this.
    if found.returncode == usual.returncode and found.stdout.replace(b'Error allocating memory!',
                                                                     b'') == usual.stdout:
        return None
    return f'exit status {found.returncode}'


def sweep(words, points):
    usual, allocations = count_allocations(words)
    step = max(1, allocations // points) if points else 1
    failures = 0
    for number in range(1, allocations + 1, step):
        try:
            found = call(words, number)
            reported = problem(usual, found)
        except subprocess.TimeoutExpired:
            reported, found = f'no end within {SECONDS} s', None
        if reported:
            failures += 1
            print(f'FAIL {" ".join(words[1:])}: allocation {number} of {allocations}: {reported}', found
                  and found.stderr[-300:])
    print(f'{" ".join(words[1:])}: {len(range(1, allocations + 1, step))} of {allocations} allocations, '
          f'{failures} failures')
    assert allocations > 20, 'the allocations are not counted'
    return failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('-n', type=int)
    arguments = parser.parse_args()
    if not PRELOAD:
        print('SKIP no library of faults: a build with sanitizers')
        return 77
    return 1 if sum([sweep(words, arguments.n) for words in commands()]) else 0


sys.exit(main())
