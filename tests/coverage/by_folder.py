#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lines and branches that the tests reach, by directory of src/, from a summary by gcovr.

usage: by_folder.py SUMMARY.json      exit status 1 if a directory is below its goal
"""
import json
import sys
from collections import Counter

# Percent of lines and of branches: for code that reads bytes of files, and for the rest.
OF_BYTES = ('src/core/codec', 'src/container', 'src/formats', 'src/read')
GOALS = {True: (98, 92), False: (92, 80)}


def folder_of(name):
    """At most two levels below src/: the directories of Lance count as one."""
    return '/'.join(name.split('/')[:-1][:3])


def percent(covered, count):
    return 100 * covered / count if count else 100


def main():
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    with open(sys.argv[1]) as file:
        files = json.load(file)['files']
    folders = {}
    for each in files:
        counts = folders.setdefault(folder_of(each['filename']), Counter())
        counts.update({key: each[key] for key in ('line_covered', 'line_total', 'branch_covered',
                                                  'branch_total')})
    are_met = True
    print('| directory | lines | branches | goal | |\n|---|---|---|---|---|')
    for folder, counts in sorted(folders.items()):
        goal = GOALS[folder.startswith(OF_BYTES)]
        found = (percent(counts['line_covered'], counts['line_total']),
                 percent(counts['branch_covered'], counts['branch_total']))
        is_met = all(one >= least for one, least in zip(found, goal))
        are_met &= is_met
        print(f'| `{folder}` | {found[0]:.1f} % of {counts["line_total"]} | {found[1]:.1f} % of '
              f'{counts["branch_total"]} '
              f'| {goal[0]}, {goal[1]} | {"met" if is_met else "**not met**"} |')
    return 0 if are_met else 1


if __name__ == '__main__':
    sys.exit(main())
