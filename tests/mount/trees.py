# SPDX-License-Identifier: MIT
"""Whole trees, copied without a mount, and compared."""
import filecmp

from harness import NTUPLE, command, same

# Documents that tell where the file is.
OF_THE_PLACE = {'file.json', 'table.arrow', 'pages.jsonl', 'layout.jsonl', 'layout.svg', 'fields.json', 'schema.json',
                'manifest.json', 'fragments.jsonl', 'transaction.json', 'versions.jsonl', 'deletions.jsonl'}


def tree(source, directory, *switches, **options):
    """The exit status: of damaged files not all can be copied."""
    return command(NTUPLE, 'cp', '-r', *switches, source, '/', directory, **options).returncode


def same_trees(left, right, but=()):
    """`but`: what only one of them may have."""
    comparison = filecmp.dircmp(left, right, ignore=list(but))
    same((comparison.left_only, comparison.right_only, comparison.funny_files), ([], [], []), f'{left}, {right}')
    for name in comparison.common_files:
        same((left / name).read_bytes() == (right / name).read_bytes() or name in OF_THE_PLACE, True, left / name)
    for name in comparison.common_dirs:
        if name != '.ntuplefs':
            same_trees(left / name, right / name, but)
