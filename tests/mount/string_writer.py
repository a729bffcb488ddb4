# SPDX-License-Identifier: MIT
"""RNTuples of strings that may have any bytes."""
import numpy as np

from harness import need


def strings(values):
    arrays = need('awkward')
    characters = arrays.contents.NumpyArray(np.frombuffer(b''.join(values), 'u1'),
                                            parameters={'__array__': 'char'})
    offsets = arrays.index.Index64(np.cumsum([0] + [len(value) for value in values]))
    return arrays.Array(arrays.contents.ListOffsetArray(offsets, characters,
                                                        parameters={'__array__': 'string'}))


def write_strings(path, columns):
    """A dataset `texts` of fields with these bytes."""
    with need('uproot').recreate(path) as file:
        file.mkrntuple('texts', {name: strings(values) for name, values in columns.items()})
    return path
