#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lance files of random schemas and values by pylance, compared with what pylance reads in them.

usage: by_lance.py [-n FILES] [-s FIRST_SEED] [-k KEEP_DIRECTORY] NTUPLE

Of each file, NTUPLE's tree has to hold what Arrow's arrays hold, as docs/tree.md says it: data with zeros for nulls,
offsets from 0 on, validity with that of the structures around it; table.arrow has the same values, and `NTUPLE verify`
finds nothing. One case for each file. Needs pylance, pyarrow and NumPy; exit status 77 without them.
"""
import argparse
import datetime
import decimal
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
    import pyarrow as pa
    from lance.file import LanceFileReader, LanceFileWriter
except ImportError as error:
    print(f'skip everything: {error}')
    sys.exit(77)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'support'))
from arrow_columns import table_columns  # noqa: E402
from compare_columns import check_column  # noqa: E402

WORDS = ['', 'a', 'word', '\u00e9', '\u65e5\u672c', '"\\', 'line\nbreak', 'a longer word, of which there are many', 'x' * 300]
NUMBERS = [pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()]
REALS = [pa.float16(), pa.float32(), pa.float64()]
PLAIN = [*NUMBERS, *NUMBERS, *REALS, pa.bool_(), pa.string(), pa.string(), pa.binary(), pa.large_string(), pa.large_binary(),
         pa.binary(5), pa.date32(), pa.date64(), pa.timestamp('us'), pa.timestamp('ms', 'UTC'), pa.time32('s'), pa.time64('us'),
         pa.duration('s'), pa.decimal128(20, 2), pa.decimal256(50, 3)]
DEPTH = 3
METADATA = [{'lance-encoding:compression': 'zstd'}, {'lance-encoding:compression': 'lz4'}, {'lance-encoding:compression': 'fsst'},
            {'lance-encoding:compression': 'none'}, {'lance-encoding:structural-encoding': 'fullzip'},
            {'lance-encoding:structural-encoding': 'miniblock'}, {'lance-encoding:bss': 'on', 'lance-encoding:compression': 'lz4'},
            {'lance-encoding:rle-threshold': '0.9'}, {'lance-encoding:dict-divisor': '1'}]


def random_type(chooser, depth, version):
    choice = chooser.random()
    if depth == 0 or choice < 0.5:
        return chooser.choice(PLAIN)
    if choice < 0.62:
        return pa.list_(chooser.choice([*NUMBERS, *REALS, pa.bool_()]), chooser.choice([1, 3, 8, 70]))
    if choice < 0.82:
        make = chooser.choice([pa.list_, pa.list_, pa.large_list])
        return make(random_type(chooser, depth - 1, version))
    names = [f'm{k}' for k in range(chooser.randint(1, 3))]
    return pa.struct([pa.field(name, random_type(chooser, depth - 1, version)) for name in names])


class Values:
    """Random values, as a style has them: many nulls or none, few different ones or many, long runs, small numbers."""

    def __init__(self, chooser, version):
        self.chooser, self.version = chooser, version
        self.nulls = chooser.choice([0, 0, 0.1, 0.5, 1])
        self.style = chooser.choice(['any', 'small', 'runs', 'few', 'constant'])

    def scalars(self, of, length):
        pool = [self.scalar(of) for _ in range({'constant': 1, 'few': 4, 'runs': 12}.get(self.style, max(length, 1)))]
        if self.style == 'runs':
            made = []
            while len(made) < length:
                made += [self.chooser.choice(pool)] * self.chooser.randint(1, 60)
            return made[:length]
        return [self.chooser.choice(pool) for _ in range(length)] if self.style in ('few', 'constant') else pool[:length]

    def scalar(self, of):
        chooser = self.chooser
        if pa.types.is_boolean(of):
            return chooser.random() < 0.5
        if pa.types.is_integer(of):
            limits = np.iinfo(of.to_pandas_dtype())
            if self.style == 'small':
                return chooser.randint(0, 20)
            return chooser.choice([int(limits.min), int(limits.max), 0, chooser.randint(int(limits.min), int(limits.max))])
        if pa.types.is_floating(of):
            return of.to_pandas_dtype()(chooser.choice([chooser.uniform(-1000, 1000), float('inf'), -0.0, 1.5]))
        if pa.types.is_string(of) or pa.types.is_large_string(of):
            return chooser.choice(WORDS) + (str(chooser.randint(0, 9999)) if self.style == 'any' else '')
        if pa.types.is_fixed_size_binary(of):
            return bytes(chooser.randrange(256) for _ in range(of.byte_width))
        if pa.types.is_binary(of) or pa.types.is_large_binary(of):
            return bytes(chooser.randrange(256) for _ in range(chooser.choice([0, 1, 7, 200])))
        if pa.types.is_decimal(of):
            return decimal.Decimal(chooser.randint(-10**15, 10**15)).scaleb(-of.scale)
        if pa.types.is_date(of):
            return datetime.date(1970, 1, 1) + datetime.timedelta(days=chooser.randint(-9999, 30000))
        if pa.types.is_timestamp(of):
            zone = datetime.timezone.utc if of.tz else None
            return datetime.datetime(2000, 1, 1, tzinfo=zone) + datetime.timedelta(milliseconds=chooser.randint(-10**11, 10**11))
        if pa.types.is_time(of):
            return datetime.time(chooser.randrange(24), chooser.randrange(60), chooser.randrange(60))
        return datetime.timedelta(seconds=chooser.randint(-10**6, 10**6))

    def mask(self, length, may_be_null=True):
        chance = self.nulls if may_be_null else 0
        return np.array([self.chooser.random() < chance for _ in range(length)], dtype=bool)

    def array(self, of, length):
        mask = self.mask(length, not (pa.types.is_struct(of) and self.version == '2.0'))
        if pa.types.is_struct(of):
            children = [self.array(field.type, length) for field in of]
            return pa.StructArray.from_arrays(children, fields=list(of), mask=pa.array(mask))
        if pa.types.is_fixed_size_list(of):
            items = self.array_of_items(of.value_type, length * of.list_size)
            return pa.FixedSizeListArray.from_arrays(items, type=of, mask=pa.array(mask))
        if pa.types.is_list(of) or pa.types.is_large_list(of):
            counts = [0 if null else self.chooser.choice([0, 0, 1, 2, 3, 12, 40]) for null in mask]
            items = self.array(of.value_type, sum(counts))
            offsets = np.concatenate([[0], np.cumsum(counts)]).astype('i4' if pa.types.is_list(of) else 'i8')
            kind = pa.ListArray if pa.types.is_list(of) else pa.LargeListArray
            return kind.from_arrays(pa.array(offsets), items, type=of, mask=pa.array(mask))
        return pa.array(self.scalars(of, length), type=of, mask=mask)

    def array_of_items(self, of, length):
        keep, self.nulls = self.nulls, self.nulls if self.chooser.random() < 0.5 else 0
        made = pa.array(self.scalars(of, length), type=of, mask=self.mask(length))
        self.nulls = keep
        return made


def packed_type(chooser, version):
    """A structure that is stored row by row."""
    members = [*NUMBERS, *REALS, pa.binary(5), pa.list_(pa.float32(), 4), pa.list_(pa.uint8(), 3), pa.decimal128(20, 2)]
    if version == '2.2':
        members += [pa.string(), pa.binary()]
    return pa.struct([pa.field(f'm{k}', chooser.choice(members)) for k in range(chooser.randint(1, 4))])


def write(seed, path):
    chooser = random.Random(seed)
    version = chooser.choice(['2.0', '2.1', '2.1', '2.2', '2.2'])
    lengths = [chooser.choice([1, 2, 100, 1025, 3000]) for _ in range(chooser.randint(1, 2))]
    fields = []
    for k in range(chooser.randint(1, 5)):
        if chooser.random() < 0.15:
            fields.append(pa.field(f'f{k}', packed_type(chooser, version), metadata={'packed': 'true', 'lance-encoding:packed': 'true'}))
            continue
        of = random_type(chooser, DEPTH, version)
        fields.append(pa.field(f'f{k}', of, metadata=chooser.choice([None, None, *METADATA])))
    schema = pa.schema(fields)
    with LanceFileWriter(str(path), schema, version=version) as writer:
        for length in lengths:
            writer.write_batch(pa.record_batch([Values(chooser, version).array(field.type, length) for field in schema], schema=schema))
    return version


def plain(value):
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return 'NaN' if value != value else value


def problems(ntuple, path):
    found = []
    table = LanceFileReader(str(path)).read_all().to_table()
    with tempfile.TemporaryDirectory() as copy:
        tree = Path(copy, 'tree')
        run = subprocess.run([ntuple, 'cp', '-r', path, tree], capture_output=True, text=True, errors='replace')
        if run.returncode:
            return [f'cp -r: {run.returncode} {run.stderr.strip()[:400]}']
        for column in table_columns(table):
            try:
                check_column(tree / path.stem / column['path'], column)
            except (AssertionError, OSError, ValueError) as error:
                found.append(str(error))
        with pa.memory_map(str(tree / path.stem / 'table.arrow')) as file:
            arrow = pa.ipc.open_file(file).read_all()
            arrow.validate(full=True)
            for name in table.column_names:
                if not found and plain(arrow[name].to_pylist()) != plain(table[name].to_pylist()):
                    found.append(f'table.arrow: {name}: {arrow[name].type} for {table[name].type}')
    verified = subprocess.run([ntuple, 'verify', path], capture_output=True, text=True, errors='replace')
    if verified.returncode:
        found.append(f'verify: {verified.returncode} {verified.stderr.strip()[:300]}')
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('-n', '--files', type=int, default=20)
    parser.add_argument('-s', '--first-seed', type=int, default=1)
    parser.add_argument('-k', '--keep', type=Path)
    parser.add_argument('ntuple')
    arguments = parser.parse_args()
    passed = failed = 0
    for seed in range(arguments.first_seed, arguments.first_seed + arguments.files):
        with tempfile.TemporaryDirectory(prefix='random-ntuple-') as directory:
            path = Path(directory, f'random_{seed}.lance')
            try:
                version = write(seed, path)
                LanceFileReader(str(path)).read_all().to_table()
            except BaseException as error:  # the writer's or reader's own panics: nothing to compare with
                print(f'skip {seed}: pylance: {type(error).__name__} {str(error)[:150]}')
                continue
            found = problems(arguments.ntuple, path)
            print(f'{"FAIL" if found else "ok  "} {seed} {version}', *found[:3], sep='\n     ' if found else ' ', flush=True)
            passed, failed = passed + (not found), failed + bool(found)
            if found and arguments.keep:
                arguments.keep.mkdir(exist_ok=True)
                shutil.copy(path, arguments.keep)
    print(f'{passed} passed, {failed} failed')
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(main())
