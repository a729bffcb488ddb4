#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the test files of TTrees, each with its expected values.

usage: make_trees.py [NAME...]        (default: all)

ROOT writes trees_NAME.root, by the functions of write_trees.cxx, or uproot writes it.
trees_NAME.json has the values of each branch from ROOT's own reader (for uproot's file: the
written values), or from uproot if the script did not ask ROOT; the digests are those of
tests/support/tree_values.py. Branches that both read must agree, or nothing is written. Both
must be installed: pip install root uproot; and a C++ compiler, for ROOT's dictionaries.
"""
import hashlib
import json
import os
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'support'))
from tree_values import form, form_of_awkward, values_of  # noqa: E402

BY_ROOT = ('leaves', 'floats', 'containers', 'arrays', 'classes', 'memberwise', 'objectwise', 'pointers',
           'objects', 'counted', 'loops', 'items', 'enumerations', 'algorithms', 'baskets', 'embedded',
           'generated_offsets', 'structure', 'friends', 'short_branches', 'sub_branches', 'other_file',
           'big_entries', 'own_streamers', 'unclosed')

DICTIONARIES = (
    'Inner', 'Arrays', 'Base', 'Weighted', 'Hit', 'Flat', 'Event', 'Track', 'vector<Hit>',
    'vector<vector<Hit> >',
    'vector<Flat>', 'Jagged', 'vector<Jagged>', 'Loops', 'vector<Loops>', 'map<int,Inner>', 'Node', 'Shape',
    'Circle', 'Linked',
    'vector<Linked>',
    'Pointers', 'Bundle', 'Mark', 'vector<Shape*>', 'Objects', 'Grid', 'vector<Grid>', 'Points',
    'vector<Points>', 'vector<array<float,3> >', 'vector<array<Flat,2> >', 'vector<vector<array<Flat,2> > >',
    'map<int,array<short,2> >', 'Colors', 'vector<Colors>', 'vector<vector<Color> >', 'set<Color>',
    'vector<set<Color> >', 'map<int,vector<set<Color> > >', 'map<Color,Flat>', 'vector<map<Color,Flat> >',
    'map<int,Color>', 'vector<map<int,Color> >', 'LongMark',
    'map<int,double>', 'map<string,vector<int> >', 'map<int,map<int,string> >', 'pair<int,double>',
    'vector<pair<int,float> >',
    'vector<vector<int> >', 'vector<vector<bool> >', 'vector<vector<string> >',
    'vector<vector<vector<float> > >', 'set<int>', 'set<short>', 'set<string>',
    'multiset<double>', 'list<int>', 'deque<float>', 'vector<set<int> >', 'bitset<10>')

# What uproot 5.7 reads differently, by the name of the file or the branch.
UPROOT_DIFFERS = {
    'floats': 'without their ranges, where they are arrays or counted',
    'items': 'one object where an object that is not split has an array of them',
    'leaves: text': 'misses that empty ones have no bytes at all',
    'leaves: long_text': 'the same',
    'mapped': 'takes Double32_t for a float, whatever its range',
    'level_1/inner': 'the same',
    'inner': 'the same',
    'clones/clones.label': 'a string of an entry, not of each object',
}


def start_root(place):
    warnings.simplefilter('ignore')
    import ROOT
    os.chdir(place)  # ROOT compiles dictionaries here
    ROOT.gROOT.SetBatch(True)
    ROOT.gInterpreter.AddIncludePath(str(HERE))
    ROOT.gInterpreter.GenerateDictionary(';'.join(DICTIONARIES), str(HERE / 'tree_classes.hxx'))
    if not ROOT.gInterpreter.Declare(f'#include "{HERE / "write_trees.cxx"}"'):
        sys.exit('write_trees.cxx does not compile')
    return ROOT


def by_root(root, name):
    """{path of a tree: what the reader printed}; with the values of its branches."""
    text = getattr(root, f'write_{name}')(str(HERE / f'trees/trees_{name}.root'))
    reported = json.loads(str(text), strict=False)
    return {path: (tree['entries'], values_of(tree)) for path, tree in reported.items()}


def by_uproot():
    """Numbers, arrays, lists, strings, records of numbers: the types that uproot writes. Returns
    the written values."""
    import awkward as ak
    import uproot
    chance = np.random.default_rng(1)
    entries, dtypes = 50, ['?', 'i1', 'u2', 'i4', 'f8']
    plain = {f'x_{dtype.strip("?") or "bool"}': chance.integers(0, 100, entries).astype(dtype)
             for dtype in dtypes}
    counts = chance.integers(0, 4, entries)
    lists = {f'a_{dtype}': ak.unflatten(chance.integers(0, 100, counts.sum()).astype(dtype), counts)
             for dtype in ('i1', 'f4')}
    texts = [['', 'word', 'two words', 'x' * 300][i % 4] for i in range(entries)]
    jets = ak.zip({'pt': lists['a_f4'], 'charge': lists['a_i1']})
    matrix = chance.normal(size=(entries, 2, 3))
    with uproot.recreate(HERE / 'trees/trees_by_uproot.root', compression=uproot.ZSTD(3)) as file:
        file.mktree('numbers', {**{name: column.dtype for name, column in plain.items()},
                                'matrix': ('f8', (2, 3))})
        for part in slice(0, 20), slice(20, entries):
            file['numbers'].extend({**{name: column[part] for name, column in plain.items()},
                                    'matrix': matrix[part]})
        for path, columns in {'inner/lists': lists, 'texts': {'text': ak.Array(texts)},
                              'records': {'jets': jets}}.items():
            file.mktree(path, columns)
    numbers = {name: form_of_awkward(column) for name, column in {**plain, 'matrix': matrix}.items()}
    lists = {**{name: form_of_awkward(column) for name, column in lists.items()},
             **{f'n{name}': form('<i4', counts.tolist()) for name in lists}}
    jets = {'njets': form('<i4', counts.tolist()), **{f'jets_{name}': form_of_awkward(jets[name])
                                                      for name in jets.fields}}
    return {'numbers': (entries, numbers), 'inner/lists': (entries, lists),
            'texts': (entries, {'text': form('string', texts)}),
            'records': (entries, jets)}


def read_by_uproot(file):
    """{path: (class, title, entries, {branch: values})}, older cycles as PATH;CYCLE."""
    found = {}
    for key in sorted(file.keys(filter_classname=lambda name: name.startswith(('TTree', 'TNtuple')),
                                recursive=True)):
        tree, (path, cycle) = file[key], key.rsplit(';', 1)
        newest = max(int(other.rsplit(';', 1)[1]) for other in file.keys(recursive=True)
                     if other.rsplit(';', 1)[0] == path)
        branches = {}
        for name in tree.keys(full_paths=True):
            try:
                branches[name] = form_of_awkward(tree[name].array())
            except Exception:  # readers raise anything for what they cannot read
                continue
        found[path if int(cycle) == newest else key] = tree.classname, tree.title, tree.num_entries, branches
    return found


def merge(name, path, reported, theirs):
    """[branch] of a tree, from the readers' output."""
    branches = []
    for branch in [*reported, *(branch for branch in theirs if branch not in reported)]:
        readers = ['ROOT'] * (branch in reported) + ['uproot'] * (branch in theirs)
        if len(readers) == 2 and theirs[branch] != reported[branch]:
            if not UPROOT_DIFFERS.keys() & {name, branch, f'{name}: {branch}'}:
                raise ValueError(f'{name}: {path}: {branch}: uproot reads {theirs[branch]}, ROOT '
                                 f'{reported[branch]}')
            readers = ['ROOT']
        branches.append({'name': branch, **({} if len(readers) == 2 else {'reader': readers[0]}),
                         'values': reported.get(branch, theirs.get(branch))})
    return branches


def describe(name, reported):
    import uproot
    path = HERE / f'trees/trees_{name}.root'
    with uproot.open(path) as file:
        theirs = read_by_uproot(file)
    trees = []
    for tree in sorted({*reported, *theirs}):
        entries, values = reported.get(tree, (None, {}))
        kind, title, their_entries, their_values = theirs.get(tree, ('TTree', None, entries, {}))
        if entries not in (None, their_entries):
            sys.exit(f'{name}: {tree}: uproot finds {their_entries} entries, ROOT {entries}')
        trees.append({'path': tree, 'class': kind, 'title': title, 'entries': their_entries,
                      'branches': merge(name, tree, values, their_values)})
    return {'file_sha256': hashlib.sha256(path.read_bytes()).hexdigest(), 'trees': trees}


def save(name, document):
    """A line for each branch."""
    def compact(value):
        return json.dumps(value, separators=(',', ':'))

    text = compact({**document, 'trees': []})[:-2]
    for number, tree in enumerate(document['trees']):
        branches = ',\n'.join('  ' + compact(branch) for branch in tree['branches'])
        text += (',\n' if number else '\n') + ' ' + compact({**tree, 'branches': []})[:-2] + (f'\n{branches}'
                if branches else '') + ']}'
    (HERE / f'trees/trees_{name}.json').write_text(text + ']}\n')
    json.loads(text + ']}')


def main(names):
    names = names or [*BY_ROOT, 'by_uproot']
    if unknown := set(names) - {*BY_ROOT, 'by_uproot'}:
        sys.exit(f'no such file: {", ".join(sorted(unknown))}')
    with tempfile.TemporaryDirectory() as place:
        root = start_root(place)
        for name in names:
            save(name, describe(name, by_uproot() if name == 'by_uproot' else by_root(root, name)))
            print(name, flush=True)
        os.chdir('/')


if __name__ == '__main__':
    main(sys.argv[1:])
