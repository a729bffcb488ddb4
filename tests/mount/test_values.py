#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The values of every file of tests/data, compared with what another reader found: through one
mount of all files, and through `ntuple cp`, which needs none. One case per field."""
import sys
from pathlib import Path

import harness

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'support'))
from compare_tree import compare_tree  # noqa: E402

counts = {True: 0, False: 0}


def report_for(way):
    def report(what, error):
        counts[error is None] += 1
        if error is not None:
            print(f'FAIL {way}: {what}: {error!r}', flush=True)
    return report


def main():
    sources = sorted(path for path in harness.DATA.glob('*.root') if path.with_suffix('.json').exists())
    if not sources:
        print(f'FAIL nothing to read in {harness.DATA}')
        counts[False] += 1
    problem = harness.fuse_problem()
    if problem:
        print(f'skip the mount: {problem}')
    elif sources:
        with harness.mounted(*sources) as mountpoint:
            for source in sources:
                compare_tree(source.with_suffix('.json'), mountpoint / source.name,
                             report_for(f'mount of {source.name}'))
    for source in sources:
        if source.stem.startswith('damaged'):
            continue  # the mount shows the position of the damage; a copy ends at it
        with harness.scratch() as directory:
            copy = directory / 'copy'
            result = harness.command(harness.NTUPLE, 'cp', '-r', source, '/', copy)
            if result.returncode:
                report_for('cp')(source.name, result.stderr.decode(errors='replace'))
                continue
            compare_tree(source.with_suffix('.json'), copy, report_for(f'copy of {source.name}'))
    print(f'{counts[True]} passed, {counts[False]} failed' + (', 1 skipped' if problem else ''))
    return 1 if counts[False] else 0


if __name__ == '__main__':
    sys.exit(main())
