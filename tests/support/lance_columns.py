# SPDX-License-Identifier: MIT
"""The columns of a Lance file, read by pylance. Needs pylance and pyarrow."""
import pyarrow as pa
from lance.file import LanceFileReader

BATCH = 65536


def read_columns(path, names):
    """A table of them, each read alone: pylance does not read columns of different lengths
    together, which occur within fixed-size lists of structures."""
    tables = [LanceFileReader(str(path), columns=[name]).read_all(batch_size=BATCH).to_table()
              for name in names]
    return pa.table([table.column(0) for table in tables],
                    schema=pa.schema([table.schema.field(0) for table in tables]))
