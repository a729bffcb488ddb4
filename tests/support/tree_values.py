# SPDX-License-Identifier: MIT
"""Values of a TTree's branches as digests of the files that a mount has for them. Needs NumPy.

A shape is a dtype, 'string', ['list', S], ['array', N, S], ['map', K, V], or {member: S}. The
values of a branch are

    {"rows", "dtype", "shape": [], "elements", "data_sha256"}           numbers: little endian,
                                                                        one row after the other
    {"rows", "offsets_sha256", "string": true, "elements", "data_sha256"}    strings
    {"rows", "offsets_sha256", "items"}     lists; offsets are int64 and begin with 0
    {"rows", "size", "items"}               arrays of fixed size
    {"rows", "members": {name: values}}     records
"""
import hashlib
import json
from pathlib import Path
from urllib.parse import quote, unquote_to_bytes

import numpy as np


def digest(content):
    return hashlib.sha256(content).hexdigest()


# ---- from lists of Python's ----

def form(shape, rows):
    """The files of a list of values, one per row."""
    if shape == 'string':
        return of_strings([row.encode('utf-8', 'surrogateescape') for row in rows])
    if isinstance(shape, str):
        return of_numbers(numbers(shape, rows))
    if isinstance(shape, dict):
        return {'rows': len(rows), 'members': {name: form(shape[name], column(rows, name)) for name in shape}}
    kind, *rest = shape
    if kind == 'map':  # whose members have these names if it is not split
        return form(['list', dict(zip('01', rest))], [[dict(zip('01', pair)) for pair in row]
                                                      for row in rows])
    items = [item for row in rows for item in row]
    if kind == 'array':
        return {'rows': len(rows), 'size': rest[0], 'items': form(rest[1], items)}
    return of_lists([len(row) for row in rows], form(rest[0], items))


def column(rows, name):
    """A member of records; pairs are written as lists."""
    return [row[name] if isinstance(row, dict) else row[('first', 'second').index(name)] for row in rows]


def numbers(dtype, rows):
    """ROOT's char is signed, as on the platforms of ROOT; its JSON is not."""
    if dtype == '|i1':
        return np.array([(row + 128) % 256 - 128 for row in rows], dtype)
    return np.array(rows, dtype)


def offsets(counts):
    return np.concatenate([[0], np.cumsum(counts)]).astype('<i8')


def of_numbers(array):
    array = np.ascontiguousarray(array, array.dtype.newbyteorder('<'))
    return {'rows': array.size, 'dtype': array.dtype.str, 'shape': [], 'elements': array.size,
            'data_sha256': digest(array.tobytes())}


def of_strings(texts):
    return {'rows': len(texts), 'offsets_sha256': digest(offsets([len(text) for text in texts]).tobytes()),
            'string': True,
            'dtype': '|u1', 'elements': sum(map(len, texts)), 'data_sha256': digest(b''.join(texts))}


def of_lists(counts, items):
    return {'rows': len(counts), 'offsets_sha256': digest(offsets(counts).tobytes()), 'items': items}


# ---- from what uproot gives ----

def form_of_awkward(array):
    import awkward as ak
    return of_layout(ak.to_layout(ak.to_packed(array)))


def of_layout(layout):
    parameter = layout.parameter('__array__')
    if layout.is_indexed and not layout.is_option:
        return of_layout(layout.project())
    if layout.is_record:
        return {'rows': layout.length, 'members': {name: of_layout(layout.content(name))
                                                   for name in layout.fields}}
    if layout.is_numpy:
        return of_array(np.asarray(layout.data))
    if layout.is_list:
        listed = layout.to_ListOffsetArray64(True)
        counts, items = np.diff(np.asarray(listed.offsets)), listed.content[:listed.offsets[-1]]
        if parameter in ('string', 'bytestring'):
            content = np.asarray(items.data).tobytes()
            ends = np.cumsum(counts).tolist()
            return of_strings([content[end - count:end] for end, count in zip(ends, counts.tolist())])
        if layout.is_regular:
            return {'rows': layout.length, 'size': layout.size, 'items': of_layout(items)}
        return of_lists(counts, of_layout(items))
    raise TypeError(f'no form for {type(layout).__name__}')


def of_array(array):
    if array.ndim > 1:
        return {'rows': len(array), 'size': array.shape[1],
                'items': of_array(array.reshape(-1, *array.shape[2:]))}
    return of_numbers(array)


# ---- split branches, of what tests/data/tree.hxx tells ----

def find(shape, rows, names):
    """A member of a member, (shape, rows), through lists and maps; None: there is no such
    member."""
    if isinstance(shape, list) and shape[0] == 'map':
        shape = ['list', {'first': shape[1], 'second': shape[2]}]
    if isinstance(shape, list) and shape[0] == 'list':
        counts = [len(row) for row in rows]
        found = find(shape[1], [item for row in rows for item in row], names)
        if found is None:
            return None
        items = iter(found[1])
        return ['list', found[0]], [[next(items) for _ in range(count)] for count in counts]
    if not names:
        return shape, rows
    if not isinstance(shape, dict) or names[0] not in shape:
        return None
    member = shape[names[0]], column(rows, names[0])
    return find(*member, names[1:]) if len(names) > 1 else member


def expand(branch, shape, rows, path=''):
    """(path, shape, rows) of a branch without sub-branches, or of its sub-branches."""
    here = f'{path}/{branch["name"]}' if path else branch['name']
    if not branch['children']:
        yield here, shape, rows
        return
    for child in branch['children']:
        if child['type'] == 1:  # a base class, whose members are among those of the object
            yield from expand(child, shape, rows, here)
            continue
        names = child['name'].split('[')[0].rstrip('.').split('.')
        found = next(filter(None, (find(shape, rows, names[first:]) for first in range(len(names)))), None)
        if found:  # except those that a structure does not show, such as fBits
            yield from expand(child, *found, here)


def values_of(reported):
    """{path: values} of all branches of a printed tree."""
    found = {}
    for branch in reported['branches']:
        if branch['name'] in reported['columns']:
            whole = reported['columns'][branch['name']]
            for path, shape, rows in expand(branch, whole['shape'], whole['values']):
                found[path] = form(shape, rows)
    return found


# ---- comparing with what a mount has ----

class Different(Exception):
    """The tree is not as expected; the text says where."""


def child(directory, name):
    """A directory by its exact name, which may be percent-encoded."""
    for path in directory / name, directory / quote(name).replace('.', '%2E'):
        if name and '/' not in name and name not in ('.', '..') and path.is_dir():
            return path
    for path in directory.iterdir():
        if path.is_dir() and unquote_to_bytes(path.name) == name.encode('utf-8', 'surrogateescape'):
            return path
    raise Different(f'nothing is called {name!r} in {directory}')


def check_file(directory, stem, expected, dtype, *shapes):
    """X.bin has these bytes, X.npy the same with dtype and one of the shapes, and both have the
    size of their attributes."""
    content = (directory / f'{stem}.bin').read_bytes()
    if (directory / f'{stem}.bin').stat().st_size != len(content):
        raise Different(f'{stem}.bin: {len(content)} bytes instead of the size')
    if digest(content) != expected:
        raise Different(f'{stem}.bin of {len(content)} bytes has another content')
    array = np.load(directory / f'{stem}.npy', allow_pickle=False)
    if array.dtype != np.dtype(dtype) or list(array.shape) not in shapes or array.tobytes() != content:
        raise Different(f'{stem}.npy: {array.dtype.str} {list(array.shape)} instead of {dtype} {shapes}')
    if stem == 'data':
        field = json.loads((directory / 'field.json').read_text())
        if np.dtype(field['dtype']) != np.dtype(dtype) or field['shape'] not in (None, [], list(array.shape)):
            raise Different(f'field.json: {field["dtype"]} {field["shape"]} instead of {dtype} '
                            f'{list(array.shape)}')


def check_array(directory, values, rows):
    """`rows`: the number of rows, or their sizes in arrays around it."""
    while 'size' in values:
        directory = child(directory, 'item') if (directory / 'item').is_dir() else directory
        rows = [*rows, values['size']]
        values = values['items']
    check_values(directory, values, rows)


def check_numbers(directory, values, rows):
    """In arrays of fixed size the shape has the sizes; leading ones may be joined with the rows."""
    shapes = [[int(np.prod(rows[:count])), *rows[count:]] for count in range(1, len(rows) + 1)]
    check_file(directory, 'data', values['data_sha256'], values['dtype'], *shapes)


# Reasons of fields whose classes only objects would name or describe.
OBJECTS_DESCRIBE = 'the first baskets have no object', 'the file does not describe the class'


def check_values(directory, values, rows=None):
    """Raises Different if a field does not have these values. `rows`: their sizes in arrays."""
    unreadable = json.loads((directory / 'field.json').read_text()).get('unreadable')
    if unreadable and (values['rows'] or not unreadable.startswith(OBJECTS_DESCRIBE)):
        raise Different(f'unreadable: {unreadable}')
    if unreadable:
        return
    rows = rows or [values['rows']]
    if 'members' in values:
        for name, member in values['members'].items():
            check_values(child(directory, name), member, rows)
    elif 'size' in values:
        check_array(directory, values, rows)
    elif 'offsets_sha256' in values:
        check_file(directory, 'offsets', values['offsets_sha256'], '<i8', [values['rows'] + 1])
        if values.get('string'):
            check_file(directory, 'data', values['data_sha256'], '|u1', [values['elements']])
        elif 'items' in values:
            check_values(child(directory, 'item'), values['items'])
    else:
        check_numbers(directory, values, rows)


def check_branch(dataset, path, values):
    """The difference of a branch of a dataset, or None."""
    try:
        directory = dataset
        for name in path.split('/'):
            directory = child(directory, name)
        check_values(directory, values)
    except (Different, OSError, ValueError, KeyError) as error:
        return f'{type(error).__name__}: {error}'
    return None


def dataset_of(top, path):
    for name in path.split('/'):
        top = child(top, name)
    return top


def compare_trees(expected_path, top, report):
    """Calls report(what, error or None) for each tree and each branch of X.json in a mount of X.root,
    or a copy."""
    for tree in json.loads(Path(expected_path).read_text())['trees']:
        try:
            dataset = dataset_of(Path(top), tree['path'])
            document = json.loads((dataset / 'ntuple.json').read_text())
            report(tree['path'], None if document['entries'] == tree['entries'] else
                   f'{document["entries"]} entries instead of {tree["entries"]}')
        except (Different, OSError, ValueError, KeyError) as error:
            report(tree['path'], f'{type(error).__name__}: {error}')
            continue
        for branch in tree['branches']:
            report(f'{tree["path"]}: {branch["name"]}',
                   check_branch(dataset, branch['name'], branch['values']))
