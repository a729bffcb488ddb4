# SPDX-License-Identifier: MIT
"""Selected columns and entries of a dataset as Arrow."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple, Union

from . import _errors, _lazy, _ntuple

if TYPE_CHECKING:
    from ._field import Field
    from ._file import Dataset

Made = List[Tuple[int, Any]]   # one item: a process, and its table or None

VARIANTS = ('struct', 'union', 'omit')
_WITHOUT_MEMBERS = ('collection', 'optional', 'dense optional', 'array', 'wrapper', 'variant')


class View:
    """Columns and entries of a dataset, for every program with the Arrow PyCapsule interface:
    `pyarrow.table(view)`, `polars.DataFrame(view)`, DuckDB by the name of the variable. A batch is
    decoded when it is requested: `pyarrow.RecordBatchReader.from_stream(view)` holds one at a time.

    dataset   whose columns these are
    columns   paths or patterns of fields, or None: all
    entries   (first, end)
    """

    def __init__(self, dataset: Dataset, columns: Union[str, Sequence[str], None],
                 entries: Optional[Tuple[int, int]], strings: str, variants: str) -> None:
        if strings not in ('text', 'binary'):
            raise ValueError(f"strings: expected 'text' or 'binary', found {strings!r}")
        if variants not in VARIANTS:
            expected = ', '.join(map(repr, VARIANTS))
            raise ValueError(f'variants: expected one of {expected}, found {variants!r}')
        self.dataset = dataset
        self.entries = dataset._range(entries)
        self.columns: Optional[List[str]] = None
        self._fields: Optional[List[int]] = None
        self._named: List[Field] = []   # not by a pattern
        if columns is not None:
            self.columns = [columns] if isinstance(columns, str) else list(columns)
            fields = {path: dataset.match([path]) for path in self.columns}
            self._fields = list({field._number: None for found in fields.values() for field in found})
            self._named = [field for path, found in fields.items() if dataset._is_name(path)
                           for field in found]
        self._is_whole = entries is None
        self._options = strings == 'binary', VARIANTS.index(variants)
        self._made: Made = [(0, None)]

    def _restrict(self, fields: List[int]) -> None:
        """Keep only these of its fields, by their numbers."""
        self._fields = fields
        self._made = [(0, None)]

    def __reduce__(self) -> Tuple[Any, ...]:
        is_binary, variants = self._options
        entries = None if self._is_whole else self.entries
        strings = 'binary' if is_binary else 'text'
        return View, (self.dataset, self.columns, entries, strings, VARIANTS[variants])

    def __repr__(self) -> str:
        columns = 'all columns' if self.columns is None else ', '.join(self.columns)
        first, end = self.entries
        return f'<ntuple.View of {self.dataset.path!r}: {columns}, entries {first} to {end}>'

    def _table(self) -> _ntuple.Table:
        """The table, created once per process, because a forked process has its own reader. It may lack
        values that the file has; then _checked() raises."""
        handle = self.dataset._handle
        process, table = self._made[0]
        if table is None or process != os.getpid():
            first, end = self.entries
            table = _ntuple.table_new(handle, self.dataset._number, self._fields,
                                      None if self._is_whole else (first, end - first), *self._options)
            self._made[0] = os.getpid(), table
        return table

    def _checked(self) -> _ntuple.Table:
        """The table, if it lacks no field because of damage and no entry because of its size."""
        table = self._table()
        _ntuple.table_check(table)
        return table

    def _absent(self) -> Dict[int, str]:
        """The fields that the table lacks, with the reason: those that are omitted, and the lists and
        the like around them, which do not exist without their items."""
        absent: Dict[int, str] = {}
        is_struct = VARIANTS[self._options[1]] == 'struct'
        for number, reason in _ntuple.table_omitted_fields(self._checked()):
            field = self.dataset._field(number)
            absent[number] = reason
            for around in field._around():
                if around.kind not in _WITHOUT_MEMBERS or (around.kind == 'variant' and is_struct):
                    break
                absent[around._number] = reason
        return absent

    def _usable(self) -> _ntuple.Table:
        """The table, if it has what was named."""
        absent = self._absent()
        for field in self._named if absent else []:
            for around in (field, *field._around()):
                if around._number in absent:
                    raise _errors.new(_errors.UnsupportedError, 'unsupported',
                                      f'{field.path}: {absent[around._number]}')
        return self._table()

    def _warn(self) -> None:
        for path, reason in self.left_out.items():
            _errors.warn_omitted(path, reason)

    @property
    def batches(self) -> int:
        """The number of record batches: one for each cluster that has any of the entries."""
        return _ntuple.table_batches(self._checked())

    @property
    def left_out(self) -> Dict[str, str]:
        """Fields that Arrow cannot express or this version cannot read, with the reason."""
        return {self.dataset._field(number).path: reason
                for number, reason in _ntuple.table_omitted_fields(self._checked())}

    def scan(self) -> Any:
        """A pyarrow.RecordBatchReader of the batches."""
        return _lazy.module('pyarrow').RecordBatchReader.from_stream(self)

    def __arrow_c_schema__(self) -> object:
        """The schema as a PyCapsule."""
        return _ntuple.table_schema(self._usable())

    def __arrow_c_stream__(self, requested_schema: Any = None) -> object:
        """The batches as a PyCapsule. Their types are as stored, whatever is requested: the consumer
        casts. Warns of fields that are left out."""
        table = self._usable()
        self._warn()
        return _ntuple.table_stream(table)
