#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files of random schemas by ROOT, compared with what ROOT's own reader finds in them.

A schema is C++ source that ROOT's interpreter runs: fields of random types, nested, in random
column encodings. Its variants differ in values, compression, clusters, cluster groups, sizes of
pages, and checksums. Every field is compared entry by entry, and rows.jsonl and table.arrow with
it. Options: cases.py.
"""
import json
import random
import sys
import warnings
from pathlib import Path

from rntuple_files import run_writer

HERE = Path(__file__).resolve().parent

INTEGERS = [f'std::{sign}int{bits}_t' for sign in ('', 'u') for bits in (8, 16, 32, 64)]
REALS = ['float', 'double']
LEAVES = ['bool', 'char', 'std::byte', 'std::string', *INTEGERS, *REALS]
# Sets and maps for which ROOT ships compiled dictionaries; unordered ones are read in another
# order.
READY = ['std::set<std::int64_t>', 'std::multiset<double>', 'std::map<std::string, std::string>']
DEPTH, MAX_FIELDS, MAX_ITEMS = 3, 8, 4
VARIANTS = 10



class Schema:
    """The C++ source of a random dataset."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.structures, self.fields = [], []
        for number in range(self.random.randint(1, MAX_FIELDS)):
            self.fields.append(self.field(number))

    def type(self, depth, copied=False):
        """`copied`: the value must be copyable."""
        make = self.random.choice([self.leaf, self.leaf, self.vector, self.array, self.optional, self.pair,
                                   self.tuple,
                                   self.variant, self.structure, self.ready, self.bits, self.pointer,
                                   self.rvec])
        if depth == 0 or make in (self.leaf, self.ready, self.bits, self.rvec):
            return (self.leaf if depth == 0 else make)()
        if make == self.pointer and copied:
            make = self.optional
        return make(depth - 1, copied)

    def leaf(self):
        return self.random.choice(LEAVES)

    def ready(self):
        return self.random.choice(READY)

    def bits(self):
        return f'std::bitset<{self.random.choice([1, 7, 8, 9, 64, 65, 130])}>'

    def rvec(self):
        return f'ROOT::RVec<{self.random.choice([*INTEGERS, *REALS])}>'

    def vector(self, depth, copied):
        return f'std::vector<{self.type(depth, copied)}>'

    def array(self, depth, copied):
        return f'std::array<{self.type(depth, copied)}, {self.random.randint(1, 5)}>'

    def optional(self, depth, copied):
        return f'std::optional<{self.type(depth, True)}>'

    def pointer(self, depth, copied):
        return f'std::unique_ptr<{self.type(depth, True)}>'

    def pair(self, depth, copied):
        return f'std::pair<{self.type(depth, True)}, {self.type(depth, True)}>'

    def tuple(self, depth, copied):
        items = [self.type(depth, True) for _ in range(self.random.randint(1, MAX_ITEMS))]
        return f'std::tuple<{", ".join(items)}>'

    def variant(self, depth, copied):
        kinds = {self.type(depth, True) for _ in range(self.random.randint(1, MAX_ITEMS))}
        return f'std::variant<{", ".join(sorted(kinds))}>'

    def structure(self, depth, copied):
        members = [(f'm{k}', self.type(depth, True)) for k in range(self.random.randint(1, MAX_ITEMS))]
        name = f'S{len(self.structures)}'
        texts = ' + "," + '.join(f'"\\"{member}\\":" + json::of({member})' for member, _ in members)
        self.structures.append(
            f'struct {name} {{\n' + ''.join(f'    {kind} {member};\n' for member, kind in members) +
            f'    std::string json() const {{ return std::string("{{") + {texts} + "}}"; }}\n'
            f'    void fill(Random &random) '
            f'{{ {"".join(f"values::fill({member}, random); " for member, _ in members)}}}\n'
            f'}};\n')
        return f'schema::{name}'

    def field(self, number):
        kind, name = self.type(DEPTH), f'f{number}'
        if kind in REALS and self.random.random() < 0.5:
            return self.packed(kind, name)
        types = self.encoding(kind)
        value = (f'[](auto &value, auto entry) '
                 f'{{ Random random(seed + {number + 1} * 1000003 + entry * 7919); '
                 f'values::fill(value, random); }}')
        if types:
            return f'set.Add<{kind}>(encoded<{kind}>("{name}", {types}), {value});'
        return f'set.Add<{kind}>("{name}", {value});'

    def encoding(self, kind):
        """Column types that the writer would not choose by itself, or ''."""
        if self.random.random() < 0.4:
            return ''
        bits = ''.join(c for c in kind if c.isdigit())
        if kind in INTEGERS and bits != '8':
            sign = 'UInt' if 'uint' in kind else 'Int'
            return self.random.choice([f'{{Type::k{sign}{bits}}}', f'{{Type::kSplit{sign}{bits}}}'])
        if kind == 'double':
            return self.random.choice(['{Type::kReal64}', '{Type::kSplitReal64}'])
        if kind.startswith('std::vector<') and not kind.startswith('std::vector<bool'):
            return f'{{Type::k{self.random.choice(["Index32", "SplitIndex32", "Index64", "SplitIndex64"])}}}'
        if kind == 'std::string':
            offsets = self.random.choice(["Index32", "SplitIndex32", "Index64", "SplitIndex64"])
            return f'{{Type::k{offsets}, Type::kChar}}'
        return ''

    def packed(self, kind, name):
        """Floating-point numbers that are stored with fewer bits."""
        how = self.random.choice([f'SetTruncated({self.random.randint(10, 31)})', 'SetHalfPrecision()',
                                  f'SetQuantized(-8.0, 8.0, {self.random.randint(1, 32)})'])
        return (f'{{ auto field = std::make_unique<ROOT::RField<{kind}>>("{name}"); field->{how};\n'
                f'      set.Add<{kind}>(std::move(field), [](auto &value, auto entry) '
                f'{{ Random random(seed + entry); '
                f'value = static_cast<{kind}>((random.Uniform() - 0.5) * 15); }}); }}')

    def source(self):
        return '\n'.join([
            '#include "random_values.hxx"',
            'using Type = ROOT::ENTupleColumnType;',
            'namespace schema', '{', *self.structures, 'std::uint64_t seed;',
            'template <typename T> std::unique_ptr<ROOT::RField<T>> encoded(const char *name, '
            'std::vector<Type> types)',
            '{', '    auto result = std::make_unique<ROOT::RField<T>>(name);',
            '    result->SetColumnRepresentatives({types});', '    return result;', '}', '',
            'std::string write(const char *path, std::uint64_t number, std::uint64_t entries, int '
            'compression, std::uint64_t page,',
            '                  bool has_checksums, bool merges, std::vector<std::uint64_t> clusters,',
            '                  std::vector<std::uint64_t> groups)', '{',
            '    seed = number * 104729;', '    {',
            '        DataSet set("random", "of a random schema");',
            *('        ' + field for field in self.fields),
            '        set.WriteOptions().SetCompression(compression);',
            '        set.WriteOptions().SetInitialUnzippedPageSize(page < 256 ? page : 256);',
            '        set.WriteOptions().SetMaxUnzippedPageSize(page);',
            '        set.WriteOptions().SetEnablePageChecksums(has_checksums);',
            '        set.WriteOptions().SetEnableSamePageMerging(merges && has_checksums);',
            '        TFile file(path, "RECREATE", "", compression);',
            '        set.Write(file, entries, clusters, groups);', '        file.Close();',
            '        return "{\\"random\\":" + set.Read(path, "random") + "}";', '    }', '}', '}', ''])


def borders(chooser, entries, most):
    return sorted(chooser.sample(range(1, entries), min(entries - 1,
                                                        chooser.randint(0, most)))) if entries > 1 else []


def write(seed, directory):
    """In a process of its own: ROOT's interpreter cannot unload everything."""
    warnings.simplefilter('ignore')
    import ROOT
    source = directory / f'schema_{seed}.cxx'
    source.write_text(Schema(seed).source())
    for folder in (HERE, HERE.parent / 'data'):
        ROOT.gInterpreter.AddIncludePath(str(folder))
    if not ROOT.gInterpreter.Declare(f'#include "{source}"'):
        sys.exit(f'{source} does not compile')
    for number in range(VARIANTS):
        chooser = random.Random(seed * 1000 + number)
        entries = chooser.choice([0, 1, 2, 33, 200, 900])
        options = (chooser.choice([0, 101, 207, 404, 505]), chooser.choice([64, 200, 4096, 1 << 20]),
                   chooser.random() < 0.9, chooser.random() < 0.5)
        text = ROOT.schema.write(str(directory / f'{seed}_{number}.root'), seed * 1000 + number, entries,
                                 *options,
                                 borders(chooser, entries, 5), borders(chooser, entries, 2))
        datasets = {path: {'entries': found['entries'],
                           'fields': {field: {'values': rows} for field, rows in found['fields'].items()}}
                    for path, found in json.loads(str(text)).items()}
        (directory / f'{seed}_{number}.json').write_text(json.dumps({'datasets': datasets}))


if __name__ == '__main__':
    sys.exit(run_writer(__doc__, __file__, 'ROOT', write))
