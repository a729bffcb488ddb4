# SPDX-License-Identifier: MIT
"""The nodes of an Arrow table, as digests of the files that a mounted tree has for them. Needs
pyarrow.

A node is a path of names; items of lists are `item`, entries of maps `item/key` and
`item/value`. Its validity is a byte for each slot, combined with that of the structures and
fixed-size lists around it; offsets begin with 0, null lists have length 0; null values are
zeros, a bool is a byte. Dictionaries are read as their values.
"""
import base64
import hashlib
import json

import numpy as np
import pyarrow as pa
import pyarrow.types as types

ADJACENT_IN_UNITS = (types.is_timestamp, types.is_date, types.is_time, types.is_duration)


def digest(content):
    return hashlib.sha256(content).hexdigest()


def texts_digest(texts):
    """Of texts, one a line, as strings of JSON."""
    return digest('\n'.join(map(json.dumps, texts)).encode())


def validity(array, around):
    valid = array.is_valid().to_numpy(zero_copy_only=False)
    return valid if around is None else valid & around


def whole(array):
    """Removes offsets into buffers; replaces dictionaries by their values, and extension types
    by their storage types."""
    if isinstance(array, pa.ExtensionArray):
        return array.storage
    if types.is_dictionary(array.type):
        return array.cast(array.type.value_type)
    return array


def value_bits(data_type):
    return data_type.byte_width * 8 if types.is_fixed_size_binary(data_type) else data_type.bit_width


def fixed_bytes(array, valid):
    """The values of a column of fixed width, zeros for nulls."""
    if types.is_boolean(array.type):
        return (array.fill_null(False).to_numpy(zero_copy_only=False) & valid).astype('u1').tobytes()
    width = value_bits(array.type) // 8
    buffer = array.buffers()[1]
    content = np.frombuffer(buffer, 'u1') if buffer else np.zeros(0, 'u1')
    values = content[array.offset * width:(array.offset + len(array)) * width].reshape(len(array),
            width).copy()
    values[~valid] = 0
    return values.tobytes()


def offsets_of(lengths):
    return np.concatenate([[0], np.cumsum(lengths)]).astype('<i8').tobytes()


def string_columns(array, valid):
    values = [value if is_valid else b'' for value,
              is_valid in zip(array.cast(pa.large_binary()).fill_null(b'').to_pylist(), valid)]
    return {'offsets': digest(offsets_of([len(value) for value in values])), 'data': digest(b''.join(values))}


def list_items(array, valid):
    """Lengths of the lists, and the items of the valid ones, one after the other."""
    lengths = np.where(valid, array.value_lengths().fill_null(0).to_numpy(zero_copy_only=False), 0) \
        if not types.is_map(array.type) else np.where(valid, np.diff(array.offsets.to_numpy()), 0)
    starts = array.offsets.to_numpy()[:-1]
    numbers = np.concatenate([np.zeros(0, 'i8'), *(np.arange(start, start + length) for start,
                                                   length in zip(starts, lengths))])
    if types.is_map(array.type):
        names = 'key', 'value'
        items = pa.StructArray.from_arrays([array.keys, array.items], names=names)
    else:
        items = array.values
    return lengths, items.take(pa.array(numbers.astype('i8')))


def columns(path, array, around=None):
    """[{path, rows, nulls, and digests of valid, offsets, data}] of a node and of those below
    it."""
    is_json = isinstance(array, pa.ExtensionArray) and array.type.extension_name == 'arrow.json'
    array = whole(array)
    valid = validity(array, around)
    data_type = array.type
    if is_json:  # the tree has JSONB in its files, and texts in its rows
        texts = [text if is_valid else None for text, is_valid in zip(array.to_pylist(), valid)]
        return [{'path': path, 'rows': len(array), 'nulls': int((~valid).sum()),
                 'valid': digest(valid.astype('u1').tobytes()),
                 'texts': texts_digest(texts)}]
    node, below = {'path': path, 'rows': len(array), 'nulls': int((~valid).sum())}, []
    if types.is_null(data_type):  # there is nothing to store
        return [node]
    node['valid'] = digest(valid.astype('u1').tobytes())
    if types.is_struct(data_type):
        for number, field in enumerate(data_type):
            below += columns(f'{path}/{field.name}', array.field(number), valid)
    elif types.is_fixed_size_list(data_type):
        size = data_type.list_size
        items = array.values.slice(array.offset * size, len(array) * size)
        below += columns(f'{path}/item', items, np.repeat(valid, size))
    elif types.is_list(data_type) or types.is_large_list(data_type) or types.is_map(data_type):
        lengths, items = list_items(array, valid)
        node['offsets'] = digest(offsets_of(lengths))
        below += columns(f'{path}/item', items)
    elif types.is_string(data_type) or types.is_large_string(data_type) or types.is_binary(data_type) or \
            types.is_large_binary(data_type):
        node.update(string_columns(array, valid))
    elif data_type.bit_width:  # without bytes there is no file
        node['data'] = digest(fixed_bytes(array, valid))
    return [node, *below]


def without_dictionaries(data_type):
    if types.is_dictionary(data_type):
        return data_type.value_type
    if types.is_map(data_type):
        return pa.map_(without_dictionaries(data_type.key_type), without_dictionaries(data_type.item_type))
    if types.is_struct(data_type):
        return pa.struct([field.with_type(without_dictionaries(field.type)) for field in data_type])
    if types.is_fixed_size_list(data_type):
        return pa.list_(without_dictionaries(data_type.value_type), data_type.list_size)
    for is_one, make in (types.is_list, pa.list_), (types.is_large_list, pa.large_list):
        if is_one(data_type):
            return make(without_dictionaries(data_type.value_type))
    return data_type


def one_array(column):
    """All chunks of a column as one. Arrow does not join dictionaries with nulls, so their
    values are joined."""
    if column.num_chunks == 1:
        return column.chunk(0)
    try:
        return column.combine_chunks()
    except pa.ArrowInvalid:
        return pa.array(column.to_pylist(), without_dictionaries(column.type))


def table_columns(table):
    """Of all columns of a table, structures before their members."""
    found = []
    for name, column in zip(table.column_names, table.columns):
        found += columns(name, one_array(column))
    return found


def describe(field):
    """The type of a field, and whether it may be null."""
    return str(field.type) + ('' if field.nullable else ' not null')


# ---- rows as text ----

def plain_float(value):
    if value != value:
        return 'NaN'
    return value if abs(value) != float('inf') else 'Infinity' if value > 0 else '-Infinity'


def plain_value(value, data_type):
    """A type without nested values."""
    if types.is_float16(data_type) or types.is_float32(data_type):
        return plain_float(float(str(np.float32(value))))
    if types.is_float64(data_type):
        return plain_float(value)
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def values_of(array):
    """The values of a column without nested values; dates and times as numbers in their units,
    decimals as text."""
    data_type = array.type
    if any(is_one(data_type) for is_one in ADJACENT_IN_UNITS):
        return array.view(pa.int64() if data_type.bit_width == 64 else pa.int32()).to_pylist()
    if types.is_decimal(data_type):
        return [None if value is None else format(value, 'f') for value in array.to_pylist()]
    return [None if value is None else plain_value(value, data_type) for value in array.to_pylist()]


def rows(array):
    """Values in the form of rows.jsonl."""
    array = whole(array)
    data_type, valid = array.type, array.is_valid().to_pylist()
    if types.is_struct(data_type):
        members = [(field.name, rows(array.field(number))) for number, field in enumerate(data_type)]
        return [{name: values[row] for name, values in members} if valid[row] else None
                for row in range(len(array))]
    if types.is_fixed_size_list(data_type):
        size = data_type.list_size
        items = rows(array.values.slice(array.offset * size, len(array) * size))
        return [items[row * size:(row + 1) * size] if valid[row] else None for row in range(len(array))]
    if types.is_list(data_type) or types.is_large_list(data_type) or types.is_map(data_type):
        lengths, chosen = list_items(array, np.array(valid, bool))
        items, ends = rows(chosen), np.cumsum(lengths).tolist()
        return [items[end - length:end] if valid[row] else None for row,
                (end, length) in enumerate(zip(ends, lengths))]
    return values_of(array)


def table_rows(table):
    members = [(name, rows(one_array(column)))
               for name, column in zip(table.column_names, table.columns)]
    return [{name: values[row] for name, values in members} for row in range(table.num_rows)]


def field_metadata(fields, left_out=None):
    """The metadata of each field that has some, by path, without items of lists."""
    reported = {}
    for field in fields:
        entries = {key.decode(): value.decode() for key, value in sorted((field.metadata or {}).items())}
        entries = {key: value for key, value in entries.items() if not left_out
                   or not key.startswith(left_out)}
        if entries:
            reported[field.name] = entries
        if types.is_struct(field.type):
            reported |= {f'{field.name}/{path}': each for path,
                     each in field_metadata(field.type, left_out).items()}
    return reported
