#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rows and tables of foreign files, compared with values from other readers.

usage: check_foreign.py NTUPLE DIRECTORY...        NTUPLE: the built program; exit status 1 if a case failed

X.values.json next to X.root has the entries in the form of the validation suite of RNTuple:
rows.jsonl must agree line by line. If uproot and pyarrow are installed, table.arrow of every
file must equal rows.jsonl, and what uproot reads of it must equal table.arrow. A missing
directory is skipped.
"""
import json
import subprocess
import sys
from pathlib import Path

from values import agrees, surely_agree, values_of

try:
    import pyarrow
    import uproot
except ImportError:
    pyarrow = None

# Its entries are shown as attributes of ranges, not as the fields that store them.
RANGES = 'structure.attributes'

LARGEST = 5000  # entries; of longer datasets the first so many are compared with uproot's
counts = {'passed': 0, 'failed': 0, 'skipped': 0}


def report(name, error=None):
    counts['passed' if error is None else 'failed'] += 1
    if error is not None:
        print(f'FAIL {name}: {error}', flush=True)


def ntuple(program, command, *arguments):
    """Skips trees in the same files: other tests compare them."""
    result = subprocess.run([program, command, '--format=rntuple', *arguments], capture_output=True,
                            check=False)
    if result.returncode:
        raise ValueError(result.stderr.decode(errors='replace').strip())
    return result.stdout


def datasets(program, path):
    """Paths of the datasets in a file's tree, without attribute sets; empty if the file is
    refused."""
    found, waiting = [], ['']
    while waiting:
        directory = waiting.pop()
        names = ntuple(program, 'ls', path, directory or '/').decode().split('\n')[:-1]
        if 'ntuple.json' in names:
            found.append(directory.lstrip('/'))
            continue
        waiting += [f'{directory}/{name}' for name in names if '.' not in name]
    return found


def rows_of(program, path, dataset):
    text = ntuple(program, 'cat', path, f'{dataset}/rows.jsonl').decode()
    lines = text.split('\n')[:-1]
    rows = json.loads(f'[{",".join(lines)}]')  # one by one they take three times as long
    if len(rows) != len(lines):
        raise ValueError(f'{dataset}/rows.jsonl: {len(rows)} values in {len(lines)} lines')
    return rows


def check_values(program, path):
    """Entry by entry; an object instead of entries has sums over all."""
    expected = json.loads(path.with_suffix('.values.json').read_text())
    if 'error' in expected or path.stem == RANGES:
        counts['skipped'] += 1
        return
    rows = [row for dataset in datasets(program, path)[:1] for row in rows_of(program, path, dataset)]
    if isinstance(expected, dict):
        rows = [{name: sum(flatten([row[name] for row in rows])) for name in expected}]
        expected = [expected]
    if len(rows) != len(expected):
        raise ValueError(f'{len(rows)} lines instead of {len(expected)}')
    for number, (row, value) in enumerate(zip(rows, expected)):
        for name in row.keys() | value.keys():
            if not (agrees_unordered if 'unordered' in path.stem else agrees)(row[name], value[name]):
                raise ValueError(f'entry {number}: {name}: {row[name]!r} instead of {value[name]!r}')


def agrees_unordered(found, expected):
    """The items of a hash table may be in any order."""
    if not isinstance(found, list) or not isinstance(expected, list) or len(found) != len(expected):
        return agrees(found, expected)
    rest = list(expected)
    for one in found:
        match = next((i for i, other in enumerate(rest) if agrees_unordered(one, other)), None)
        if match is None:
            return False
        del rest[match]
    return True


def flatten(values):
    for value in values:
        if isinstance(value, list):
            yield from flatten(value)
        else:
            yield value


def read_table(program, path, dataset, unions):
    content = ntuple(program, 'cat', f'--arrow_unions={unions}', path, f'{dataset}/table.arrow')
    table = pyarrow.ipc.open_file(pyarrow.py_buffer(content)).read_all()
    table.validate(full=True)
    return table


def compare(name, found, expected, where):
    """A field's entries in two places."""
    if surely_agree(found, expected):
        return
    for number, (one, other) in enumerate(zip(found, expected)):
        if not agrees(one, other):
            raise ValueError(f'entry {number}: {name}: {one!r}, in {where} {other!r}')


def check_rows_against_table(rows, table):
    if len(rows) != table.num_rows:
        raise ValueError(f'{len(rows)} rows, {table.num_rows} in the table')
    if json.loads(table.schema.metadata[b'ntuple.left_out']):
        rows = [{name: row[name] for name in table.column_names} for row in rows]
    for i, (name, *found) in enumerate(zip(rows[0], *(row.values() for row in rows)) if rows else ()):
        compare(name, found, values_of(table.column(i), table.schema.field(i)), 'the table')


def is_shown_by_uproot(table, name):
    """After the first cluster it takes other values for those of a variant; it reads pointers as
    lists."""
    field = table.schema.field(name)
    return not (table.column(name).num_chunks > 1 and 'union' in str(field.type)) \
        and b'std::unique_ptr<' not in field.metadata[b'ntuple.type']


def check_table_against_uproot(path, dataset, table):
    with uproot.open(path) as file:
        peer = file[dataset]
        fields = dict(peer.items(recursive=False))  # peer[name] takes long
        for name in table.column_names:
            try:
                is_shown = name in fields and is_shown_by_uproot(table, name)
                values = fields[name].array(entry_stop=LARGEST).to_list() if is_shown else None
            except Exception:  # uproot raises anything for what it cannot read
                values = None
            if values is None:
                counts['skipped'] += 1
                continue
            compare(name, table.column(name)[:LARGEST].to_pylist(), values, 'uproot')


def check_table(program, path, dataset):
    """Generations before 1.0 are compared only with rows: uproot does not read them."""
    document = json.loads(ntuple(program, 'cat', path, f'{dataset}/ntuple.json'))
    if document['entries'] > 200000:
        counts['skipped'] += 1
        return
    rows = rows_of(program, path, dataset)
    table = read_table(program, path, dataset, 'struct')
    check_rows_against_table(rows, table)
    with_unions = read_table(program, path, dataset, 'union')
    if not with_unions.equals(table):  # without variants they mostly are, and NaN equals nothing
        check_rows_against_table(rows, with_unions)
    if document['version'].startswith('1.') and path.suffix == '.root':
        try:
            check_table_against_uproot(path, dataset, with_unions)
        except (KeyError, NotImplementedError, AttributeError, OSError):
            counts['skipped'] += 1


def check_file(program, path):
    try:
        found = datasets(program, path)
    except ValueError:
        counts['skipped'] += 1  # other tests cover refused files
        return
    for dataset in found:
        try:
            check_table(program, path, dataset)
            report(f'{path.name}: {dataset}')
        except (ValueError, KeyError, pyarrow.ArrowException) as error:
            report(f'{path.name}: {dataset}', error)


def main():
    if len(sys.argv) < 3:
        print(__doc__)
        return 2
    program = sys.argv[1]
    for directory in map(Path, sys.argv[2:]):
        if not directory.is_dir():
            print(f'skip {directory}: it is not there')
            continue
        for path in sorted(directory.glob('*.root')):
            if path.with_suffix('.values.json').exists():
                try:
                    check_values(program, path)
                    report(f'{path.name}: values')
                except (ValueError, KeyError) as error:
                    report(f'{path.name}: values', error)
            if pyarrow:
                check_file(program, path)
    if not pyarrow:
        print('skip tables: pyarrow and uproot are not installed')
    print(', '.join(f'{count} {what}' for what, count in counts.items()))
    return 1 if counts['failed'] else 0


if __name__ == '__main__':
    sys.exit(main())
