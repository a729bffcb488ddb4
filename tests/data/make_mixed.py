#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write mixed.root: an RNTuple and TTrees in one file, two of them with the RNTuple's name.

Needs ROOT (pip install root).

usage: make_mixed.py [PATH]        (default: trees/mixed.root)

    Events;2      an RNTuple of 10 entries: float x = entry / 2
    Events;1 ;3   TTrees of 3 and 4 entries: int n = entry
    Tracks;1      a TTree of 100 entries: int n, in several baskets
    sub/Events;1  a TTree of 6 entries: int n
"""
import array
import os
import sys
from pathlib import Path

import ROOT


def write_tree(directory, name, entries, basket_bytes=32000):
    number = array.array('i', [0])
    tree = ROOT.TTree(name, 'numbers of entries')
    tree.SetDirectory(directory)
    tree.Branch('n', number, 'n/I', basket_bytes)
    for number[0] in range(entries):
        tree.Fill()
    directory.WriteTObject(tree)
    tree.SetDirectory(ROOT.nullptr)


def write_ntuple(file, name, entries):
    model = ROOT.RNTupleModel.Create()
    model.MakeField['float']('x')
    with ROOT.RNTupleWriter.Append(model, name, file) as writer:
        entry = writer.CreateEntry()
        for number in range(entries):
            entry['x'] = number / 2
            writer.Fill(entry)


def main(path):
    os.chdir(path.parent)  # the file keeps the path that opened it
    file = ROOT.TFile(path.name, 'RECREATE', '', 505)
    write_tree(file, 'Events', 3)
    write_ntuple(file, 'Events', 10)
    write_tree(file, 'Events', 4)
    write_tree(file, 'Tracks', 100, 200)
    write_tree(file.mkdir('sub'), 'Events', 6)
    file.Close()


if __name__ == '__main__':
    main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / 'trees/mixed.root').resolve())
