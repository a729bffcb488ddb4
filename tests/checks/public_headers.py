# SPDX-License-Identifier: MIT
"""The declarations of the public headers, parsed from their text, for other checks."""
import re

COMMENT = re.compile(r'/\*.*?\*/', re.DOTALL)
DIRECTIVE = re.compile(r'^#(?:.*\\\n)*.*\n', re.MULTILINE)
TYPEDEF = re.compile(r'^typedef .*?;', re.DOTALL | re.MULTILINE)
BODY = re.compile(r'\{[^{}]*\}', re.DOTALL)
FUNCTION = re.compile(r'\b(nt_\w+)\s*\(')
VARIABLE = re.compile(r'^extern .*?\b(nt_\w+)(?:\[\w*\])?;', re.MULTILINE)
TYPE = re.compile(r'^(?:struct|union|enum) (nt_\w+) \{', re.MULTILINE)


def headers(root):
    """Includes generated ones: version.h.in."""
    return sorted((root / 'include').rglob('*.h*'))


def _text(header):
    return DIRECTIVE.sub('', COMMENT.sub('', header.read_text()))


def functions(header):
    """The names that a header declares for the library to export."""
    text = TYPEDEF.sub('', _text(header))
    while (shorter := BODY.sub('', text)) != text:  # remove structures, whose members may be functions
        text = shorter
    return {*FUNCTION.findall(text), *VARIABLE.findall(text)}


def types(header):
    return set(TYPE.findall(_text(header)))
