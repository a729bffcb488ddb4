# SPDX-License-Identifier: MIT
"""Files of a random RNTuple: the problems of the tree of one, and the cases of a writer. Its own
reader writes the values into X.json next to X.root, or next to a list X.txt of files that form a
chain."""
import importlib.util
import json
import sys
from pathlib import Path

from cases import command, problems_of_copy, run_cases
from compare_tree import compare_tree

WRITING_SECONDS = 300


def problems(ntuple, path, *options):
    """The differences between the tree of a file and its writer's values."""
    (name, expected), = json.loads(path.with_suffix('.json').read_text())['datasets'].items()

    def compare(tree):
        found = []
        compare_tree(path.with_suffix('.json'), tree, lambda what, error: found.append(f'{what}: {error}')
                     if error else None)
        return found + rows_differ(tree / name, expected) + arrow_differs(tree / name / 'table.arrow',
                expected)

    return problems_of_copy(ntuple, path, compare, *options)


def plain(value):
    """A value in the form of rows.jsonl: NaN and infinities as text, records by their items,
    bools as numbers."""
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
                return [f'rows.jsonl: line {number + 1}: {field}: {value} instead of '
                        f'{expected["fields"][field]["values"][number]}']
    return []


def same_row(found, expected):
    """Numbers of 32 bits are written as short as possible: they are equal after conversion to 32
    bits."""
    import numpy as np
    if isinstance(expected, list):
        return isinstance(found, list) and len(found) == len(expected) and all(map(same_row, found, expected))
    if isinstance(expected, float) and isinstance(found, (int, float)):
        with np.errstate(over='ignore'):
            is_of_32_bits = np.float32(expected) == expected
            return found == expected or (is_of_32_bits and np.float32(found) == np.float32(expected))
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


def written(script, seed, directory, suffix):
    """In a process of its own: ROOT's interpreter cannot unload everything, and may hang."""
    run = command(sys.executable, script, '--write', seed, directory, timeout=WRITING_SECONDS)
    paths = sorted(directory.glob('*.json'))
    if not paths:
        raise RuntimeError(' '.join([line for line in run.stderr.splitlines() if 'error' in line.lower()
                                     or 'exception' in line.lower()][:1]))
    return [(path.with_suffix(suffix), '') for path in paths]


def run_writer(document, script, package, write, suffix='.root', options=(), problems=problems):
    """The cases of a script whose write(seed, directory) makes a schema's files, each with a
    reader's values. They are read with these options; problems(ntuple, path, *options) returns
    the problems."""
    if sys.argv[1:2] == ['--write']:
        write(int(sys.argv[2]), Path(sys.argv[3]))
        return 0
    if not importlib.util.find_spec(package):
        print(f'skip everything: there is no package {package}')
        return 77
    return run_cases(document, lambda seed, directory: written(script, seed, directory, suffix),
                     lambda ntuple, path: problems(ntuple, path, *options))
