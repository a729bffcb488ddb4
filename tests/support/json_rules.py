# SPDX-License-Identifier: MIT
"""The rules of docs/tree.md for names in JSON and extended attributes, as two tables."""
import re

# Names that are not allowed, each with the right one.
REFUSED = [(re.compile(pattern), reason) for pattern, reason in [
    (r'.*[^a-z0-9_].*|[^a-z].*|.*__.*|.*_', 'is not snake_case'),
    (r'(.*_)?(sizes?|length|len|[a-z]?bytes_of_.*|nbytes|cbytes)', 'is a size: …_bytes'),
    (r'bytes', 'does not say of what: …_bytes'),
    (r'(.*_)?(position|pos|address|seek)(_.*)?', 'is a position: …_offset'),
    (r'offset', 'does not say in what: …_offset'),
    (r'element_offset|entry_offset', 'counts no bytes: first_…'),
    (r'(.*_)?(ntuples?|data_sets?)(_.*)?', 'is a dataset: dataset'),
    (r'(min|max|n|num|nr|typ)(_.*)?|.*_(min|max|idx|num)', 'is an abbreviation'),
    (r'.*_?(digest|hash|crc|crc32|xxh3|md5)', 'is a digest: checksum'),
]]


def is_text(value, pattern):
    return isinstance(value, str) and re.fullmatch(pattern, value)


# The allowed values of a name: those of the first matching row.
VALUES = [(re.compile(pattern), is_right, what) for pattern, is_right, what in [
    (r'(is|has|uses)_.*', lambda value: type(value) is bool, 'true or false'),
    (r'.*_bytes', lambda value: value is None or type(value) is int and value >= 0, 'a number of bytes'),
    (r'.*_offset', lambda value: value is None or type(value) is int and value >= 0, 'an offset'),
    (r'checksum_kind', lambda value: is_text(value, r'[a-z][a-z0-9-]*'), 'the name of a checksum'),
    (r'(.*_)?checksum', lambda value: value is None or is_text(value, r'([0-9a-f]{8})+'),
     'hexadecimal digits'),
    (r'.*', lambda value: type(value) is not bool, 'no truth value, or is_…, has_…, uses_…'),
]]


def name_problem(name):
    return next((reason for pattern, reason in REFUSED if pattern.fullmatch(name)), None)


def value_problem(name, value):
    is_right, what = next(row[1:] for row in VALUES if row[0].fullmatch(name))
    return None if is_right(value) else f'{value!r} is not {what}'


def problems(value, verbatim=(), where=''):
    """All names in a document that break a rule, with the reason. Values of names in `verbatim`
    come from a file."""
    if isinstance(value, list):
        for item in value:
            yield from problems(item, verbatim, where)
    elif isinstance(value, dict):
        for name, member in value.items():
            if name in verbatim:
                continue
            reason = name_problem(name) or value_problem(name, member)
            if reason:
                yield f'{where}{name}: {reason}'
            yield from problems(member, verbatim, f'{where}{name}.')
