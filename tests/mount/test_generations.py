#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files of one schema, written over years in every generation of the format, as one chain: those
of NTUPLE_SHARED."""
import json
import os
import re
import sys
from pathlib import Path

from chains import chain, compare
from harness import NTUPLE, Skip, case, command, errors_of, mounted, run, same

SHARED = Path(os.environ.get('NTUPLE_SHARED', '/nonexistent')) / 'data/rntuple'
MOST_ENTRIES = 100_000  # of a file: more would take long
FIELD = re.compile(r'^(\s+)(.*?)(?:  \d+ items)?$')


def schema_of(path):
    """(fields with their types, entries, generation) of a file with one dataset, or None."""
    shown = command(NTUPLE, 'schema', path)
    datasets = re.findall(r'^(\S+): (\d+) entries, rntuple ([\d.]+)', shown.stdout.decode(), re.M)
    if shown.returncode or len(datasets) != 1:
        return None
    name, entries, version = datasets[0]
    fields = [FIELD.sub(r'\1\2', line) for line in shown.stdout.decode().splitlines() if line.startswith(' ')]
    return (name, *sorted(fields)), int(entries), version


def groups():
    """[[(path, version)]] of files with one schema, in at least two versions."""
    found = {}
    for path in sorted(SHARED.glob('*/*.root')):
        shown = schema_of(path)
        if shown and shown[1] <= MOST_ENTRIES:
            found.setdefault(shown[0], []).append((path, shown[2]))
    return [files for files in found.values() if len({version for _, version in files}) > 1]


@case
def generations_are_chained_in_any_order():
    if not SHARED.is_dir():
        raise Skip('NTUPLE_SHARED has no files')
    count, versions = 0, set()
    for files in groups():
        paths = [path for path, _ in files]
        versions |= {version for _, version in files}
        for order in (paths, paths[::-1]):
            with mounted(*order) as singles, chain(*order, options=('-o', 'chain=check')) as whole:
                count += compare([singles / path.name for path in order], whole)
                same(errors_of(whole), [], order)
                same(json.loads((whole / 'file.json').read_text())['files'], len(order), order)
    print(f'{count} logical files of {", ".join(sorted(versions))}')
    assert count and len(versions) > 2, (count, versions)


if __name__ == '__main__':
    sys.exit(run())
