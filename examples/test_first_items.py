#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_first_items.py PROGRAM DATA: the example program prints the values that ROOT wrote, and
says what is wrong."""
import json
import pathlib
import subprocess
import sys

program, data = sys.argv[1], pathlib.Path(sys.argv[2])
events = json.loads((data / 'example.json').read_text())['datasets']['Events']['fields']


def run(*arguments):
    result = subprocess.run([program, data / 'example.root', *arguments], capture_output=True, text=True)
    return result.returncode, result.stdout, result.stderr


lines = [f'entry {row}:' + ''.join(f' {muon["pt"]:.2f}' for muon in events['muons']['sample'][str(row)])
         for row in range(3)]
assert run('Events', 'muons', 'muons/_0/pt') == (0, '\n'.join(lines) + '\n', ''), lines
for arguments, message in ((('absent', 'muons', 'muons/_0/pt'), 'no dataset'),
                           (('Events', 'absent', 'muons/_0/pt'), 'no field'),
                           (('Events', 'weight', 'muons/_0/pt'), 'no offsets'),
                           (('Events', 'muons', 'muons/_0/charge'), 'expected floats (<f4), found |i1'),
                           (('Events',), 'usage')):
    status, printed, said = run(*arguments)
    assert (status, printed) == (1, '') and message in said, (arguments, said)
