#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files of random schemas and values, compared with what their writer's own reader finds in them.

usage: random_files.py [-w root|uproot] [-n SCHEMAS] [-v VARIANTS] [-s FIRST_SEED] [-k KEEP_DIRECTORY] NTUPLE

Each seed is a schema, each variant of it a file. `NTUPLE cp -r` writes its tree, in which every field is compared entry by
entry; rows.jsonl, table.arrow and `NTUPLE verify` have to agree with it. One case for each file; one that fails stays
in KEEP_DIRECTORY with what its writer found. Needs the packages of requirements.txt beside this file; exit status 77
(which meson shows as skipped) without the writer's.
"""
import argparse
import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
WRITING_SECONDS = 300
sys.path.insert(0, str(HERE.parent / 'support'))
from compare_tree import compare_tree  # noqa: E402

def command(*arguments, timeout=None):
    return subprocess.run([str(argument) for argument in arguments], capture_output=True, text=True, errors='replace',
                          timeout=timeout)


def problems(ntuple, path):
    """What differs in the tree of a file from what ROOT found in it."""
    found = []
    with tempfile.TemporaryDirectory() as copy:
        tree = Path(copy, 'tree')
        run = command(ntuple, 'cp', '-r', path, tree)
        if run.returncode:
            return [f'cp -r: {run.returncode} {run.stderr.strip()}']
        compare_tree(path.with_suffix('.json'), tree, lambda what, error: found.append(f'{what}: {error}') if error else None)
        expected = json.loads(path.with_suffix('.json').read_text())['datasets']['random']
        found += rows_differ(tree / 'random', expected)
        found += arrow_differs(tree / 'random' / 'table.arrow', expected)
    verified = command(ntuple, 'verify', path)
    if verified.returncode:
        found.append(f'verify: {verified.returncode} {verified.stderr.strip()}')
    return found


def plain(value):
    """A value without what rows.jsonl tells otherwise: NaN and its like as text, records by their items, bools as numbers."""
    if isinstance(value, dict):
        return [plain(item) for item in value.values()]
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return {'nan': 'NaN', 'inf': 'Infinity', '-inf': '-Infinity'}.get(repr(value), value)
    return int(value) if isinstance(value, bool) else value


def rows_differ(dataset, expected):
    lines = (dataset / 'rows.jsonl').read_text(errors='surrogateescape').split('\n')[:-1]
    if len(lines) != expected['entries']:
        return [f'rows.jsonl: {len(lines)} lines instead of {expected["entries"]}']
    for number, line in enumerate(lines):
        for field, value in json.loads(line).items():
            if not same_row(plain(value), plain(expected['fields'][field]['values'][number])):
                return [f'rows.jsonl: line {number + 1}: {field}: {value} instead of {expected["fields"][field]["values"][number]}']
    return []


def same_row(found, expected):
    """Numbers of 32 bits are written as short as they can be: they are the same once they are stored with 32 bits."""
    import numpy as np
    if isinstance(expected, list):
        return isinstance(found, list) and len(found) == len(expected) and all(map(same_row, found, expected))
    if isinstance(expected, float) and isinstance(found, (int, float)):
        with np.errstate(over='ignore'):
            return found == expected or np.float32(found) == np.float32(expected)
    return found == expected


def arrow_differs(path, expected):
    try:
        import pyarrow
    except ImportError:
        return []
    with pyarrow.memory_map(str(path)) as file:
        table = pyarrow.ipc.open_file(file).read_all()
        table.validate(full=False)
        return [] if table.num_rows == expected['entries'] else [f'table.arrow: {table.num_rows} rows']


def written(writer, seed, variants, directory):
    """In a process of its own: ROOT's interpreter cannot take everything back, and may wait for ever."""
    try:
        run = command(sys.executable, __file__, '-w', writer, '-s', seed, '-v', variants, '--write', directory,
                      timeout=WRITING_SECONDS)
        reasons = [line for line in run.stderr.splitlines() if 'error' in line.lower()]
    except subprocess.TimeoutExpired:
        reasons = [f'not within {WRITING_SECONDS} seconds']
    paths = sorted(Path(directory).glob('*.json'))
    if not paths:
        print(f'skip schema {seed}: {writer} does not write it: {" ".join(reasons[:1])}')
    return paths


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('-w', '--writer', choices=['root', 'uproot'], default='root')
    parser.add_argument('-n', '--schemas', type=int, default=5)
    parser.add_argument('-v', '--variants', type=int, default=10)
    parser.add_argument('-s', '--first-seed', type=int, default=1)
    parser.add_argument('-k', '--keep', type=Path)
    parser.add_argument('--write', type=Path, help=argparse.SUPPRESS)
    parser.add_argument('ntuple', nargs='?')
    arguments = parser.parse_args()
    if arguments.write:
        importlib.import_module(f'by_{arguments.writer}').write(arguments.first_seed, arguments.variants, arguments.write)
        return 0
    if not importlib.util.find_spec({'root': 'ROOT', 'uproot': 'uproot'}[arguments.writer]):
        print(f'skip everything: there is no package {arguments.writer}')
        return 77
    passed = failed = 0
    for seed in range(arguments.first_seed, arguments.first_seed + arguments.schemas):
        with tempfile.TemporaryDirectory(prefix='random-ntuple-') as directory:
            for path in written(arguments.writer, seed, arguments.variants, directory):
                found = problems(arguments.ntuple, path.with_suffix('.root'))
                print(f'{"FAIL" if found else "ok  "} {arguments.writer} {path.stem}', *found[:3],
                      sep='\n     ' if found else '', flush=True)
                passed, failed = passed + (not found), failed + bool(found)
                if found and arguments.keep:
                    shutil.copytree(directory, arguments.keep / f'{arguments.writer}_{seed}', dirs_exist_ok=True)
    print(f'{passed} passed, {failed} failed')
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(main())
