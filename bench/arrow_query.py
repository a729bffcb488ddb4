#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""arrow_query.py pyarrow|polars|duckdb FILE COLUMN,...: sum columns of an Arrow file and print the
seconds."""
import sys
import time

program, path, columns = sys.argv[1], sys.argv[2], sys.argv[3].split(",")
if program == "pyarrow":
    import pyarrow
    import pyarrow.compute
    start = time.perf_counter()
    with pyarrow.memory_map(path) as mapped:
        schema = pyarrow.ipc.open_file(mapped).schema
        only = pyarrow.ipc.IpcReadOptions(included_fields=[schema.get_field_index(name) for name in columns])
        table = pyarrow.ipc.open_file(mapped, options=only).read_all()
        sums = [pyarrow.compute.sum(table[name]).as_py() for name in columns]
elif program == "polars":
    import polars
    start = time.perf_counter()
    sums = polars.scan_ipc(path).select(polars.col(name).sum() for name in columns).collect().row(0)
else:
    import duckdb
    import pyarrow.dataset
    start = time.perf_counter()
    rows = pyarrow.dataset.dataset(path, format="ipc")
    sums = duckdb.sql(f"select {', '.join(f'sum({name})' for name in columns)} from rows").fetchall()
print("%.6f" % (time.perf_counter() - start))
