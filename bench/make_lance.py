#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the Lance files and datasets that the benchmarks read. Needs pylance, pyarrow and NumPy.

usage: make_lance.py KIND VERSION FILE [NUMBER [ROWS]]

KIND int64, float64, vectors, fsst, dictionary, list, nullable or zipped (lists in full-zip
pages): the file has a column `value` of NUMBER rows, about 256 MB of values (64 of zipped). Only
nullable has nulls. KIND columns: NUMBER columns field0, field1, ... of 10 rows. KIND fragments:
a dataset of NUMBER fragments, each with ROWS rows of an int64, a float64 and a string. KIND
wide: the same with 60 float32, field0, field1, ...
"""
import sys

import numpy
import pyarrow

MEBIBYTE = 1 << 20
SIZE = 256 * MEBIBYTE
BATCH_ROWS = 1 << 20
VECTOR, WORDS = 768, 4096
ROWS = {"int64": SIZE // 8, "float64": SIZE // 8, "nullable": SIZE // 8, "vectors": SIZE // (4 * VECTOR),
        "fsst": SIZE // 40, "dictionary": SIZE // 24, "list": SIZE // 24, "zipped": SIZE // 96}
ENCODINGS = {"zipped": {"lance-encoding:structural-encoding": "fullzip"}}


def integers(random, rows):
    return pyarrow.array(random.integers(0, 1 << 20, rows))


def nullable(random, rows):
    return pyarrow.array(random.integers(0, 1 << 20, rows), mask=random.random(rows) < 0.1)


def item(kind):
    return pyarrow.field("item", kind, nullable=False)


def vectors(random, rows):
    return pyarrow.FixedSizeListArray.from_arrays(random.standard_normal(rows * VECTOR, numpy.float32),
                                                  type=pyarrow.list_(item(pyarrow.float32()), VECTOR))


def words():
    """Words of 2 to 9 letters, the same each time."""
    random = numpy.random.default_rng(2)
    letters = random.choice(list("etaoinshrdlucmfwypvbgkjqxz"), (WORDS, 9), p=frequencies())
    return ["".join(row[:length]) for row, length in zip(letters, random.integers(2, 10, WORDS))]


def frequencies():
    falling = 1 / numpy.arange(2, 28)
    return falling / falling.sum()


def sentences(random, rows):
    """Five words, some more frequent than others, and a number: about 36 bytes, nearly all
    different."""
    known = numpy.array(words(), object)
    chosen = known[(WORDS ** random.random((rows, 5))).astype(int) - 1]
    return pyarrow.array([f"{' '.join(row)} {number}" for row,
                          number in zip(chosen, random.integers(0, 10_000, rows))])


def names(random, rows):
    """One of a hundred words of 17 bytes on average. For a thousand, the writer makes no
    dictionary."""
    known = words()
    items = pyarrow.array([f"{known[i]}-{known[i + 1]}-{i:04}" for i in range(100)])
    return items.take(pyarrow.array(random.integers(0, len(items), rows)))


def lists(random, rows):
    """0 to 7 items each."""
    ends = numpy.concatenate([[0], numpy.cumsum(random.integers(0, 8, rows))]).astype(numpy.int32)
    return pyarrow.ListArray.from_arrays(ends, random.integers(0, 1 << 30, ends[-1], numpy.int32),
                                         type=pyarrow.list_(item(pyarrow.int32())))


KINDS = {"int64": integers, "float64": lambda random, rows: pyarrow.array(random.standard_normal(rows)),
         "vectors": vectors,
         "fsst": sentences, "dictionary": names, "list": lists, "nullable": nullable, "zipped": lists}


def batches(kind, number):
    random = numpy.random.default_rng(1)
    if kind == "columns":
        yield pyarrow.table({f"field{i}": numpy.arange(i, i + 10) for i in range(number)})
        return
    for first in range(0, number, BATCH_ROWS):
        values = KINDS[kind](random, min(BATCH_ROWS, number - first))
        field = pyarrow.field("value", values.type, nullable=kind == "nullable", metadata=ENCODINGS.get(kind))
        yield pyarrow.table([values], pyarrow.schema([field]))


WIDE = 60


def write_fragments(kind, path, version, number, rows):
    import lance
    random = numpy.random.default_rng(1)
    if kind == "wide":
        table = pyarrow.table({f"field{i}": random.standard_normal(number * rows, numpy.float32)
                               for i in range(WIDE)})
    else:
        table = pyarrow.table({"id": numpy.arange(number * rows),
                               "value": random.standard_normal(number * rows),
                               "name": names(random, number * rows)})
    lance.write_dataset(table, path, max_rows_per_file=rows, max_rows_per_group=rows,
                        data_storage_version=version)


def main():
    kind, version, path = sys.argv[1:4]
    if kind in ("fragments", "wide"):
        write_fragments(kind, path, version, int(sys.argv[4]), int(sys.argv[5]))
        return
    number = int(sys.argv[4]) if len(sys.argv) > 4 else ROWS[kind]
    from lance.file import LanceFileWriter
    writer = None
    for table in batches(kind, number):
        writer = writer or LanceFileWriter(path, table.schema, version=version)
        for batch in table.to_batches():
            writer.write_batch(batch)
    writer.close()


if __name__ == "__main__":
    main()
