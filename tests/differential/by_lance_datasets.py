#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lance datasets with random histories by pylance, compared with what pylance reads from each
version.

A dataset begins with random columns. Rows are appended (also without some columns), deleted,
changed and merged; columns are added, dropped, renamed and cast; fragments are compacted;
versions are restored and tagged. For each version, NTUPLE's tree must equal pylance's table, and
`NTUPLE verify` reports nothing. Options: cases.py.
"""
import random
import sys

from cases import problems_of_copy, run_cases
from lance_values import NUMBERS, REALS, Values, blobs, problems_of_tree, random_type

import lance
import pyarrow as pa

DEPTH = 2
LEGACY = '0.1'
BLOB = blobs.BlobType()
LEGACY_TYPES = [*NUMBERS, *REALS, pa.bool_(), pa.string(), pa.binary(), pa.list_(pa.int16()),
                pa.list_(pa.float32(), 3)]


class History:
    """A dataset, and the changes that it may get. `key` identifies rows; it is never dropped."""

    def __init__(self, chooser, path):
        self.chooser, self.path, self.rows, self.names = chooser, str(path), 0, 0
        self.version = chooser.choice([LEGACY, '2.0', '2.1', '2.1', '2.2', '2.2'])
        self.happened = [self.version]
        stable = self.version != LEGACY and chooser.random() < 0.3
        lance.write_dataset(self.table(self.new_schema()), self.path, data_storage_version=self.version,
                            enable_stable_row_ids=stable, enable_v2_manifest_paths=chooser.random() < 0.7,
                            max_rows_per_file=chooser.choice([7, 50, 10_000]))

    def dataset(self):
        return lance.dataset(self.path)

    def new_name(self):
        self.names += 1
        return f'c{self.names}'

    def new_type(self):
        if self.version == '2.2' and self.chooser.random() < 0.15:
            return self.chooser.choice([BLOB, pa.list_(BLOB),
                                        pa.struct([('inner', BLOB), ('beside', pa.int8())])])
        return self.chooser.choice(LEGACY_TYPES) if self.version == LEGACY else random_type(self.chooser,
                DEPTH)

    def new_schema(self):
        fields = [pa.field(self.new_name(), self.new_type()) for _ in range(self.chooser.randint(1, 4))]
        return pa.schema([pa.field('key', pa.int64()), *fields])

    def table(self, schema, rows=None, keys=None):
        rows = rows or self.chooser.choice([1, 2, 60, 300, 1500])
        keys = keys if keys is not None else range(self.rows, self.rows + rows)
        self.rows = max(self.rows, *(key + 1 for key in keys))
        values = Values(self.chooser, self.version)
        if self.version == LEGACY:
            values.nulls = 0  # which its files lack
        columns = [pa.array(keys, pa.int64()) if field.name == 'key' else values.array(field.type, rows)
                   for field in schema]
        return pa.table(columns, schema=schema)

    def others(self):
        return [field for field in self.dataset().schema if field.name != 'key']

    # ---- what may happen ----

    def append(self):
        schema = self.dataset().schema
        if self.version != LEGACY and self.chooser.random() < 0.3:
            schema = pa.schema([field for field in schema if field.name == 'key'
                                or self.chooser.random() < 0.6])
        lance.write_dataset(self.table(schema), self.path, mode='append',
                            max_rows_per_file=self.chooser.choice([20, 10_000]))

    def delete(self):
        first = self.chooser.randrange(self.rows)
        self.dataset().delete(self.chooser.choice([
            f'key % {self.chooser.randint(2, 9)} = 1',
            f'key >= {first} and key < {first + self.chooser.choice([1, 30, 700])}']))

    def update(self):
        self.dataset().update({'key': 'key + 0'}, where=f'key % {self.chooser.randint(2, 9)} = 0')

    def merge(self):
        dataset = self.dataset()
        keys = sorted(self.chooser.sample(range(self.rows + 20), min(self.rows, 15)))
        rows = self.table(dataset.schema, len(keys), keys)
        dataset.merge_insert('key').when_matched_update_all().when_not_matched_insert_all().execute(rows)

    def merge_some_columns(self):
        dataset = self.dataset()
        keys = sorted(self.chooser.sample(range(self.rows), min(self.rows, 15)))
        fields = [field for field in dataset.schema if field.name == 'key' or self.chooser.random() < 0.5]
        rows = self.table(pa.schema(fields), len(keys), keys)
        dataset.merge_insert('key').when_matched_update_all().execute(rows)

    def add_column_of_values(self):
        self.dataset().add_columns({self.new_name(): self.chooser.choice(['key * 3',
                "concat('a ', cast(key as string))", 'key % 2 = 0'])})

    def add_column_of_nulls(self):
        self.dataset().add_columns(pa.schema([pa.field(self.new_name(), self.new_type())]))

    def join_column(self):
        keys = range(0, self.rows, self.chooser.choice([1, 2]))
        schema = pa.schema([pa.field('key', pa.int64()), pa.field(self.new_name(), self.new_type())])
        self.dataset().merge(self.table(schema, len(keys), keys), 'key')

    def drop(self):
        if len(self.others()) > 1:
            self.dataset().drop_columns([self.chooser.choice(self.others()).name])

    def rename(self):
        self.dataset().alter_columns({'path': self.chooser.choice(self.others()).name,
                                       'name': self.new_name()})

    def cast(self):
        numbers = [field for field in self.others() if field.type in (pa.int8(), pa.int16(), pa.int32())]
        if numbers:
            self.dataset().alter_columns({'path': self.chooser.choice(numbers).name,
                                           'data_type': pa.int64()})

    def compact(self):
        self.dataset().optimize.compact_files(target_rows_per_fragment=self.chooser.choice([100, 100_000]))

    def overwrite(self):
        lance.write_dataset(self.table(self.new_schema()), self.path, mode='overwrite',
                            data_storage_version=self.version)

    def restore(self):
        version = self.chooser.choice(self.dataset().versions())['version']
        lance.dataset(self.path, version=version).restore()

    def tag(self):
        self.dataset().tags.create(f'tag{self.new_name()}',
                                    self.chooser.choice(self.dataset().versions())['version'])

    def index(self):
        self.dataset().create_scalar_index('key', 'BTREE', replace=True)

    def resume_at(self):
        happens = self.chooser.choices(
            [self.append, self.delete, self.update, self.merge, self.merge_some_columns,
             self.add_column_of_values, self.add_column_of_nulls,
             self.join_column, self.drop, self.rename, self.cast, self.compact, self.overwrite, self.restore,
             self.tag, self.index],
            [4, 4, 2, 2, 2, 2, 2, 2, 2, 1, 1, 2, 1, 1, 1, 1])[0]
        happens()
        self.happened.append(happens.__name__)


def write(seed, directory):
    """The change that was made; None if the writer refuses it."""
    path = directory / f'random_{seed}'
    history = History(random.Random(seed), path)
    for _ in range(history.chooser.randint(1, 8)):
        try:
            history.resume_at()
        except BaseException as error:  # panics of pylance, too
            history.happened.append(f'(pylance: {type(error).__name__})')
    return [(path, f'{len(lance.dataset(str(path)).versions())} versions: {" ".join(history.happened)}')]


def problems(ntuple, path):
    """For each version that pylance can read; others have nothing to compare with."""
    found = []
    for version in lance.dataset(str(path)).versions():
        number = version['version']
        try:
            table = lance.dataset(str(path), version=number).to_table()
        except BaseException:
            continue
        of_version = problems_of_copy(ntuple, path, lambda tree: problems_of_tree(tree / path.name, table),
                                      f'--version={number}')
        found += [f'version {number}: {problem}' for problem in of_version]
    return found


if __name__ == '__main__':
    sys.exit(run_cases(__doc__, write, problems))
