# SPDX-License-Identifier: MIT
"""Does a value of rows.jsonl, or of table.arrow, equal that of another reader? The inverse of
the rules of docs/text.md. Values are Python objects from json.loads or pyarrow's to_pylist."""
import base64
import itertools
import math
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'mount'))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'support'))

try:
    import numpy
except ImportError:
    numpy = None

PLAIN = (int, float, str)
NOT_FINITE = {'NaN': math.nan, 'Infinity': math.inf, '-Infinity': -math.inf}


def same_bits(one, other):
    return struct.pack('<d', one) == struct.pack('<d', other) or (math.isnan(one) and math.isnan(other))


def single(value):
    try:
        return struct.unpack('<f', struct.pack('<f', value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def number(value):
    """A number that is written as text: hexadecimal digits, NaN, an infinity."""
    if isinstance(value, str):
        return NOT_FINITE[value] if value in NOT_FINITE else float.fromhex(value)
    return value


def agrees_real(found, expected):
    """A decimal of a 32-bit number reads back to it, and to no other, whichever of the two is
    the decimal. Hexadecimal digits are exact: each bit must agree."""
    may_be_decimal = not isinstance(expected, str)
    try:
        found, expected = float(number(found)), float(number(expected))
    except (ValueError, TypeError):
        return False
    return same_bits(found, expected) \
        or same_bits(single(found), expected) or (may_be_decimal and same_bits(found, single(expected)))


def is_tuple(value):
    return isinstance(value, dict) and value and list(value) == [f'_{i}' for i in range(len(value))]


def members(value):
    """[(name, value)] sorted: base classes are dissolved, as in other readers, which may prefix
    the name of a class to equal names of members."""
    flat = []
    for name, member in value.items():
        if name.startswith(':') and isinstance(member, dict):
            flat += members(member)
        else:
            flat.append((name.rpartition('::')[2], member))
    return sorted(flat, key=lambda item: (item[0], repr(item[1])))


def agrees_record(found, expected):
    if expected == ():  # uproot shows nothing of a class whose members are all in its bases
        return True
    if isinstance(expected, dict):
        found, expected = members(found), members(expected)
        return len(found) == len(expected) and all(
            name == other and agrees(one, value) for (name, one), (other, value) in zip(found, expected))
    return isinstance(expected, (list, tuple)) and agrees(list(found.values()), list(expected))


def agrees_list(found, expected):
    if isinstance(expected, dict):      # a map as an object; a tuple with names
        if is_tuple(expected):
            expected = list(expected.values())
        else:
            found = [list(pair.values()) if isinstance(pair, dict) else pair for pair in found]
            return agrees([[str(key), value] for key, value in found],
                          [[key, value] for key, value in expected.items()])
    return isinstance(expected, (list, tuple)) and len(found) == len(expected) \
        and all(agrees(one, other) for one, other in zip(found, expected))


def contents(value):
    """What the text of a streamed object may be: base64 in rows.jsonl, hexadecimal digits in
    tests/data."""
    if isinstance(value, bytes):
        return {value}
    meanings = set()
    for decode in lambda text: base64.b64decode(text, validate=True), bytes.fromhex:
        try:
            meanings.add(decode(value))
        except (ValueError, TypeError):
            pass
    return meanings


def agrees_bytes(found, expected):
    return not contents(found).isdisjoint(contents(expected))


def agrees(found, expected):
    if type(found) in PLAIN and type(found) is type(expected) and found == expected and found:
        return True  # most are, and zeros have signs
    if isinstance(found, dict):
        return agrees_record(found, expected)
    if isinstance(found, list):
        return agrees_list(found, expected)
    if found is None or expected is None:
        return found is expected
    if isinstance(found, bool) or isinstance(expected, bool):
        return int(found) == int(expected)
    if isinstance(found, int) and isinstance(expected, int):
        return found == expected
    if found == expected and isinstance(found, str):
        return True
    return agrees_real(found, expected) or agrees_bytes(found, expected)


def flat_pair(found, expected):
    """The items of lists in lists of equal lengths; None if lengths differ."""
    while any(isinstance(value, list) for value in found):
        if not all(isinstance(value, list) for value in itertools.chain(found, expected)) \
                or list(map(len, found)) != list(map(len, expected)):
            return None
        found, expected = (list(itertools.chain.from_iterable(values)) for values in (found, expected))
    return found, expected


def bits(reals):
    return numpy.array(reals, '<f8').view('<u8')


def single_bits(reals):
    with numpy.errstate(over='ignore'):
        return numpy.array(reals, '<f8').astype('<f4').astype('<f8').view('<u8')


def surely_agree(found, expected):
    """Do two lists agree, item by item? A quick answer for numbers and strings, also in lists; False if it
    takes a longer look."""
    if numpy is None or len(found) != len(expected) or not (pair := flat_pair(found, expected)):
        return False
    found, expected = pair
    kinds = {*map(type, found)}, {*map(type, expected)}
    if kinds[0] == kinds[1] and kinds[0] <= {int, str, bool}:
        return found == expected
    if not kinds[0] <= {int, float} or kinds[1] != {float}:
        return False
    exact, other = bits(found), bits(expected)
    return bool(((exact == other) | (single_bits(found) == other) | (exact == single_bits(expected))).all())


# ---- variants in tables ----

def values_of(column, field):
    """Python's values of a column of Arrow, where a variant is its value in any form."""
    values = column.to_pylist()
    return [plain_value(value, field) for value in values] if has_variant(field) else values


def has_variant(field):
    below = [field.type.field(i) for i in range(field.type.num_fields)]
    return is_variant(field) or any(has_variant(child) for child in below)


def is_variant(field):
    names = [field.type.field(i).name for i in range(field.type.num_fields)]
    return names == ['tag'] + [f'_{i}' for i in range(len(names) - 1)]


def alternative(value, field):
    """The value of the alternative that the tag names; all others are null."""
    name = f'_{value["tag"] - 1}'
    others = [other for other, found in value.items() if found is not None and other not in ('tag', name)]
    if others:
        raise ValueError(f'{value!r}: more than one alternative')
    return plain_value(value[name], field.type.field(name)) if value['tag'] else None


def plain_value(value, field):
    if 'union' in str(field.type).partition('<')[0]:
        return value  # pyarrow returns the value of the alternative
    if isinstance(value, dict) and is_variant(field):
        return alternative(value, field)
    if isinstance(value, dict):
        return {name: plain_value(member, field.type.field(name)) for name, member in value.items()}
    if isinstance(value, list):
        return [plain_value(item, field.type.value_field) for item in value]
    return value
