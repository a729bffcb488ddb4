#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""TTrees of random schemas by ROOT, compared with what was written into them.

A schema is C++ source that ROOT's interpreter runs, with dictionaries that ROOT compiles:
branches of every kind that TTree::Branch makes, or, for every fourth, the columns of
RDataFrame's Snapshot. Its variants differ in values, number of entries, compression, baskets,
clusters, memberwise streaming, and whether the last baskets are within the tree's object.
Options: cases.py.
"""
import json
import os
import random
import sys
import warnings
from pathlib import Path

from rntuple_files import run_writer
from tree_files import problems, save
from tree_values import values_of

HERE = Path(__file__).resolve().parent
HEADERS = HERE, HERE.parent / 'data'

LEAVES = {'B': 'signed char', 'b': 'unsigned char', 'S': 'short', 's': 'unsigned short', 'I': 'int',
          'i': 'unsigned', 'L': 'long long',
          'l': 'unsigned long long', 'G': 'long', 'g': 'unsigned long', 'F': 'float', 'D': 'double',
          'O': 'bool'}
WIDTHS = {'B': 1, 'b': 1, 'O': 1, 'S': 2, 's': 2, 'I': 4, 'i': 4, 'F': 4}   # others have 8 bytes
NUMBERS = ['bool', 'char', 'signed char', 'unsigned char', 'short', 'unsigned short', 'int', 'unsigned',
           'long long', 'unsigned long long',
           'long', 'float', 'double']
# ROOT has no dictionary for an RVec of signed char.
IN_RVEC = [kind for kind in NUMBERS if kind not in ('bool', 'signed char')]
KEYS = ['int', 'short', 'unsigned', 'long long', 'string']
ROOT_ARRAYS = ['TArrayC', 'TArrayS', 'TArrayI', 'TArrayL', 'TArrayF', 'TArrayD']
VARIANTS, MAX_BRANCHES, MAX_MEMBERS, DEPTH = 10, 8, 5, 2


class Schema:
    """The C++ source of a random tree."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.seed, self.structures, self.types, self.counts, self.has_template = seed, [], set(), 0, False
        self.is_snapshot = seed % 4 == 0
        self.branches = [self.column(k) if self.is_snapshot else self.branch(k)
                         for k in range(self.random.randint(1, MAX_BRANCHES))]

    # ---- C++ types ----

    def listed(self, text):
        """A type that needs a dictionary."""
        self.types.add(text)
        return text

    def number(self):
        return self.random.choice(NUMBERS)

    def leaf(self):
        if self.random.random() < 0.1:
            return self.enumeration()
        return self.random.choice([*NUMBERS, 'string', 'string'])

    def key(self):
        return self.enumeration() if self.random.random() < 0.2 else self.random.choice(KEYS)

    def enumeration(self):
        """ROOT garbles those of other sizes in collections."""
        name = f'E{self.seed}_{len(self.structures)}'
        self.structures.append(f'enum {self.random.choice(["", "class "])}{name} : int {{ {name}_a, '
                               f'{name}_b = -7 }};\n')
        return name

    def type(self, depth):
        """A type for a member or an item of a container."""
        if depth == 0 or self.random.random() < 0.4:
            return self.leaf()
        make = self.random.choice([self.range, self.range, self.range, self.set, self.map, self.pair,
                                   self.arrays, self.structure])
        return make(depth - 1)

    def range(self, depth):
        kind = self.random.choice(['vector', 'vector', 'vector', 'vector', 'list', 'deque'])
        return self.listed(f'{kind}<{self.type(depth)} >')

    def array(self, kind, sizes):
        for size in reversed(sizes):
            kind = f'std::array<{kind}, {size}>'
        return kind

    def arrays(self, depth):
        """In a list, where ROOT describes an array as a class."""
        return self.listed(f'vector<array<{self.number()},{self.random.randint(1, 3)}> >')

    def set(self, depth):
        """ROOT loses the items of a multiset of enumerations in a map."""
        kind = self.random.choice(['set', 'multiset', 'unordered_set'])
        key = self.random.choice(KEYS) if kind == 'multiset' else self.key()
        return self.listed(f'{kind}<{key} >')

    def map(self, depth):
        kind = self.random.choice(['map', 'map', 'unordered_map'])
        key, value = self.key(), self.type(depth)
        self.listed(f'pair<const {key},{value} >')
        return self.listed(f'{kind}<{key},{value} >')

    def pair(self, depth):
        return self.listed(f'pair<{self.leaf()},{self.leaf()} >')

    def structure(self, depth, base='', is_alone=False):
        """`base`: its base class, for items of a TClonesArray. `is_alone`: it is not in a list.
        Arrays that another member counts cannot be read in a split list."""
        name = f'S{self.seed}_{len(self.structures)}'
        self.structures.append('')  # it is declared after those of its members
        bases = [base] if base else []
        members = [self.member(k, depth, is_alone) for k in range(self.random.randint(1, MAX_MEMBERS))]
        if depth and self.random.random() < 0.3:
            bases.append(self.structure(0))
        declared, reported, filled = zip(*members)
        text = (f'struct {name}{" : " * bool(bases)}{", ".join("public " + kind for kind in bases)} {{\n' +
                ''.join(f'    {line}\n' for line in declared) +
                f'    TELLS({", ".join(reported)})\n' +
                f'    void fill(Random &random) '
                f'{{ {" ".join(f"{kind}::fill(random);" for kind in bases if kind != "TObject")} '
                f'{" ".join(filled)} }}\n' +
                (f'    ClassDef({name}, 1)\n' if base == 'TObject' else '') + '};\n')
        if bases and bases[-1] != 'TObject':  # whose members are printed beside its own
            text = text.replace('TELLS(', f'TELLS_WITH({bases[-1]}, ')
        self.structures.append(text)
        return self.listed(name)

    def member(self, number, depth, is_alone):
        """(declaration, name for TELLS, statement that fills it)"""
        name = f'm{self.counts}_{number}'
        self.counts += 1
        choice = self.random.random()
        if choice < 0.3:
            return f'{self.number()} {name} = {{}};', name, f'values::fill({name}, random);'
        if choice < 0.4:
            kind = self.number()
            sizes = [self.random.randint(1, 3) for _ in range(self.random.choice([1, 1, 2]))]
            declared = f'{kind} {name}{"".join(f"[{size}]" for size in sizes)}'
            if self.random.random() < 0.4:
                declared = f'{self.array(kind, sizes)} {name}'
            return f'{declared} = {{}};', name, f'values::fill({name}, random);'
        if choice < 0.5 and is_alone:
            kind = self.random.choice([kind for kind in NUMBERS if kind != 'bool'])
            return (f'int n{name} = 0; {kind} *{name} = nullptr; //[n{name}]',
                    f'counter(n{name}), counted({name}, n{name})',
                    f'values::fill_counted(n{name}, {name}, random);')
        if choice < 0.6:
            return self.packed_member(name)
        if choice < 0.65:
            kind = self.random.choice(['TString', 'TObjString', 'char *', 'bitset<9>', *ROOT_ARRAYS,
                                       self.enumeration(),
                                       self.template()])
            return f'{kind} {name}{{}};', name, f'values::fill({name}, random);'
        if choice < 0.68 and is_alone:
            kind = self.structure(0, 'TObject')
            return (f'TObjArray {name};', f'objects_of<{kind}>({name})',
                    f'values::fill_objects<{kind}>({name}, random);')
        if choice < 0.78 and depth:
            kind, size = self.structure(depth - 1), self.random.randint(1, 3)
            declared = self.random.choice([f'{kind} {name}[{size}]', f'{kind} {name}[2][{size}]',
                                           f'std::array<{kind}, {size}> {name}'])
            return f'{declared};', name, f'values::fill({name}, random);'
        if choice < 0.8:  # not stored
            return (f'int t{name} = 7; //! of the program\n    int {name} = 0;', name,
                    f'values::fill({name}, random);')
        if choice < 0.86 and depth:
            return (f'{self.structure(depth - 1)} *{name} = nullptr;', name,
                    f'values::fill({name}, random);')
        return f'{self.type(depth)} {name} = {{}};', name, f'values::fill({name}, random);'

    def template(self):
        """An instance of a class template."""
        if not self.has_template:
            self.structures.append(f'template <typename T> struct T{self.seed} {{\n    T one{{}};\n    T '
                                   f'both[2]{{}};\n    vector<T> all;\n    TELLS(one, both, all)\n    void '
                                   f'fill(Random &random) {{ values::fill(one, random); '
                                   f'values::fill(both, random); values::fill(all, random); }}\n}};\n')
        self.has_template = True
        return self.listed(f'T{self.seed}<{self.random.choice(["int", "float", "string"])} >')

    def packed_member(self, name):
        kind = self.random.choice(['Double32_t', 'Float16_t'])
        form, value = self.packing()
        if self.random.random() < 0.3:
            return (f'{kind} {name}[2][2]{{}}; //{form} of each', name,
                    f'for (auto &row : {name}) for (auto &item : row) item = static_cast<{kind}>({value});')
        return f'{kind} {name} = 0; //{form}', name, f'{name} = static_cast<{kind}>({value});'

    def packing(self):
        choice = self.random.random()
        if choice < 0.3:
            return '', 'values::short_number(random)'
        if choice < 0.6:
            return f'[0,0,{self.random.randint(4, 14)}]', 'values::short_number(random)'
        bits = self.random.randint(2, 20)
        minimum, maximum = self.random.choice([(-8, 8), (0, 1), (-1, 3), (16, 48)])
        return f'[{minimum},{maximum},{bits}]', f'values::in_range({minimum}, {maximum}, {bits}, random)'

    # ---- branches ----

    def branch(self, number):
        make = self.random.choice([self.leaf_branch, self.leaf_branch, self.counted_branch, self.list_branch,
                                   self.text_branch, self.packed_branch,
                                   self.object_branch, self.object_branch, self.object_branch,
                                   self.object_branch, self.objects_branch,
                                   self.clones_branch, self.whole_branch])
        return make(f'b{number}',
                    f'[](auto &value, auto entry) '
                    f'{{ Random random = random_trees::random_of(seed, {number}, entry); ',
                    'values::fill(value, random); }')

    def leaf_branch(self, name, begin, fill):
        letter = self.random.choice([*LEAVES])
        kind, size = LEAVES[letter], [self.random.randint(1, 4)
                                      for _ in range(self.random.choice([0, 0, 1, 2]))]
        kind = self.array(kind, size)
        lengths = "".join(f"[{width}]" for width in size)
        return f'tree.Leaves<{kind}>("{name}", "{name}{lengths}/{letter}", {begin}{fill});'

    def counted_branch(self, name, begin, fill):
        count, counter = self.random.choice([('I', 'int'), ('I', 'int'), ('i', 'unsigned'),
                                             ('b', 'unsigned char'), ('S', 'short')])
        letter = self.random.choice([*LEAVES])
        kind, size = LEAVES[letter], self.random.choice(['', '', '[2]'])
        items = f'std::array<{kind}, 2>' if size else kind
        return (f'auto count_{name} = tree.Counter<{counter}>("n{name}", "n{name}/{count}", {begin}value = '
                f'static_cast<{counter}>(random.Below(6)); }});\n'
                f'    tree.Items<{items}, {counter}>("{name}", "{name}[n{name}]{size}/{letter}", '
                f'count_{name}, 8, {begin}{fill});')

    def list_branch(self, name, begin, fill):
        """Widest first, so that there is no padding."""
        letters = sorted((self.random.choice([*LEAVES]) for _ in range(self.random.randint(2, 5))),
                         key=lambda letter: -WIDTHS.get(letter, 8))
        structure = f'Row{self.seed}_{name}'
        sizes = [self.random.choice(['', '', '[2]', '[3]']) for _ in letters]
        self.structures.append(f'struct {structure} {{\n'
                               + ''.join(f'    {LEAVES[letter]} l{k}{sizes[k]};\n' for k,
                                         letter in enumerate(letters)) +
                               f'    TELLS({", ".join(f"l{k}" for k in range(len(letters)))})\n    void '
                               f'fill(Random &random) {{ ' +
                               ' '.join(f'values::fill(l{k}, random);' for k in range(len(letters)))
                               + ' }\n};\n')
        leaves = ':'.join(f'l{k}{sizes[k]}/{letter}' for k, letter in enumerate(letters))
        return f'tree.Leaves<{structure}>("{name}", "{leaves}", {begin}{fill});'

    def text_branch(self, name, begin, fill):
        return f'tree.Text("{name}", {begin}{fill});'

    def packed_branch(self, name, begin, fill):
        letter, kind = self.random.choice([('d', 'double'), ('f', 'float')])
        form, value = self.packing()
        size = self.random.choice(['', '[3]'])
        items = f'std::array<{kind}, 3>' if size else kind
        statement = (f'for (auto &item : value) item = static_cast<{kind}>({value});' if size
                     else f'value = static_cast<{kind}>({value});')
        return f'tree.Leaves<{items}>("{name}", "{name}{size}/{letter}{form}", {begin}{statement} }});'

    def split(self):
        return self.random.choice([0, 1, 2, 99, 99])

    def object_branch(self, name, begin, fill):
        kind = self.random.choice([self.range, self.range, self.set, self.map,
                                   *[lambda depth: self.structure(depth, is_alone=True)] * 3])(DEPTH)
        dot = '.' if kind.startswith('S') and self.random.random() < 0.3 else ''
        return f'tree.Object<{kind}>("{name}{dot}", {begin}{fill}, {self.split()});'

    def objects_branch(self, name, begin, fill):
        kind = self.listed(f'vector<{self.structure(1)} >')
        return f'tree.Object<{kind}>("{name}", {begin}{fill}, {self.split()});'

    def whole_branch(self, name, begin, fill):
        """A TBranchObject."""
        kind = self.structure(1, 'TObject', is_alone=True)
        return f'tree.Object<{kind}>("{name}", {begin}{fill}, -1);'

    def clones_branch(self, name, begin, fill):
        kind = self.structure(1, 'TObject')
        split = self.random.choice([0, 1, 2, 99])
        count = '[](auto entry) { return entry * 7 % 4; }'
        return f'tree.Clones<{kind}>("{name}", {count}, {begin}{fill}, {split});'

    def column(self, number):
        """The branches of a frame that Snapshot writes."""
        kind = self.random.choice([self.number, self.leaf, lambda: self.range(1), lambda: self.range(1),
                                   lambda: f'RVec<{self.random.choice(IN_RVEC)} >',
                                   lambda: self.structure(1)])()
        return f'snapshot.Add<{kind}>("b{number}");'

    # ---- all ----

    def header(self):
        return '\n'.join(['#define WITH_SNAPSHOT' if self.is_snapshot else '', '#include "random_trees.hxx"',
                          'using namespace std;', 'using ROOT::RVec;',
                          *self.structures])

    def source(self):
        lines = [f'std::string write_{self.seed}(const char *path, std::uint64_t seed_, '
                 f'random_trees::Options options, int split)', '{',
                 '    static std::uint64_t seed;', '    seed = seed_;']
        if self.is_snapshot:
            lines += ['    random_trees::Snapshot snapshot(seed, options.entries);',
                      *('    ' + branch for branch in self.branches),
                      '    return snapshot.Write(path, options, split);']
        else:
            lines += ['    Tree tree("random", "of a random schema");',
                      *('    ' + branch for branch in self.branches),
                      '    return random_trees::write(tree, path, options);']
        return '\n'.join([*lines, '}', ''])


def write(seed, directory):
    """In a process of its own: ROOT's interpreter cannot unload everything."""
    warnings.simplefilter('ignore')
    import ROOT
    ROOT.gROOT.SetBatch(True)
    schema = Schema(seed)
    header, source = directory / f'schema_{seed}.hxx', directory / f'schema_{seed}.cxx'
    header.write_text('#ifndef RANDOM_SCHEMA\n#define RANDOM_SCHEMA\n' + schema.header() + '\n#endif\n')
    source.write_text(f'#include "{header}"\n' + schema.source())
    for folder in HEADERS:
        ROOT.gInterpreter.AddIncludePath(str(folder))
    os.chdir(directory)  # ROOT compiles dictionaries here
    if schema.types and not ROOT.gInterpreter.GenerateDictionary(';'.join(sorted(schema.types)), str(header)):
        sys.exit(f'{header}: no dictionaries')
    if not ROOT.gInterpreter.Declare(f'#include "{source}"'):
        sys.exit(f'{source} does not compile')
    for number in range(VARIANTS):
        chooser = random.Random(seed * 1000 + number)
        options = ROOT.random_trees.Options()
        options.entries = chooser.choice([0, 1, 2, 33, 200])
        options.compression = chooser.choice([0, 101, 207, 404, 505])
        options.auto_flush = chooser.choice([0, 7, 50, -30000000])
        options.basket_bytes = chooser.choice([0, 0, 600, 4000])
        options.is_memberwise = chooser.random() < 0.7
        options.generates_offsets = chooser.random() < 0.2
        options.is_embedded = chooser.random() < 0.2
        path = directory / f'{seed}_{number}.root'
        text = getattr(ROOT, f'write_{seed}')(str(path), seed * 1000 + number, options,
                                              chooser.choice([0, 1, 99]))
        reported = json.loads(str(text))
        save(path, {'random': (reported['entries'], values_of(reported))})


if __name__ == '__main__':
    sys.exit(run_writer(__doc__, __file__, 'ROOT', write, problems=problems))
