# SPDX-License-Identifier: MIT
"""Whole trees, copied without a mount, and compared."""
import concurrent.futures
import filecmp
from pathlib import Path

from harness import DATA, NTUPLE, command, same, scratch

# Documents that contain the path of the file.
OF_THE_PLACE = {'file.json', 'table.arrow', 'pages.jsonl', 'layout.jsonl', 'layout.svg', 'fields.json',
                'schema.json',
                'manifest.json', 'fragments.jsonl', 'transaction.json', 'versions.jsonl', 'deletions.jsonl'}


def tree(source, directory, *switches, **options):
    """The exit status: not all of a damaged file can be copied."""
    return command(NTUPLE, 'cp', '-r', *switches, source, '/', directory, **options).returncode


def same_trees(left, right, but=()):
    """`but`: what only one of them may have."""
    comparison = filecmp.dircmp(left, right, ignore=list(but))
    same((comparison.left_only, comparison.right_only, comparison.funny_files), ([], [], []),
         f'{left}, {right}')
    for name in comparison.common_files:
        same((left / name).read_bytes() == (right / name).read_bytes() or name in OF_THE_PLACE, True,
             left / name)
    for name in comparison.common_dirs:
        if name != '.ntuplefs':
            same_trees(left / name, right / name, but)


def files_have_their_trees(address):
    """The `address` of a file in DATA, by its name."""
    names = 'example.root', 'damaged_page.root', 'empty.root'

    def both(name):
        here, there = directory / f'{name}-here', directory / f'{name}-there'
        same(tree(address(name), there), tree(DATA / name, here), name)
        same_trees(here, there)

    with scratch() as directory, concurrent.futures.ThreadPoolExecutor(len(names)) as pool:
        list(pool.map(both, names))


def files_of_every_format_are_verified(address, first):
    """A quarter of those in DATA, from one of the first four on."""
    names = sorted(path.name for path in DATA.iterdir()
                   if path.suffix in ('.root', '.roaring', '.lance', '.blp') and path.is_file())[first::4]

    def both(name):
        here, there = (command(NTUPLE, 'verify', '--json', source) for source in (DATA / name, address(name)))
        same(there.returncode, here.returncode, f'{name}: {there.stderr}')
        same(there.stdout.replace(address(name).encode(), b''),
             here.stdout.replace(str(DATA / name).encode(), b''), name)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(both, names))
    same({Path(name).suffix for name in names} >= {'.root', '.lance'}, True, names)
