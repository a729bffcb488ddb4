#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make_ttree.py COMPRESSION OUTPUT ENTRIES FLAT COUNTED VECTORS: write a ROOT file with a TTree
to measure with.

The tree is called "data". FLAT, COUNTED and VECTORS are the numbers of its branches with numbers
(flat0, flat1, ...), with arrays that the branch n counts (counted0, ...), and with std::vector
(vector0, ...). Two of five branches have floats whose mantissas are partly zero; the others have
int32, double and unsigned bytes. Baskets and clusters are ROOT's defaults.

COMPRESSION  zstd, lz4, zlib or lzma

The same arguments always give the same values. Needs ROOT (the package "root").
"""
import sys
import warnings

from make_data import COMPRESSIONS, RANDOM

warnings.filterwarnings("ignore")

GENERATOR = r"""
#pragma cling optimize(2)
#include <TFile.h>
#include <TTree.h>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace make_ttree {

enum { kMostItems = 30 };

""" + RANDOM + r"""
template <class T> T make(Random &random);
template <> Float_t make<Float_t>(Random &random) { return short_float(random.falling(20)); }
template <> Double_t make<Double_t>(Random &random) { return short_float(random.falling(40)); }
template <> Int_t make<Int_t>(Random &random) { return random.falling(100); }
template <> UChar_t make<UChar_t>(Random &random) { return random.falling(3); }

struct Branch {
   virtual ~Branch() = default;
   virtual void fill(Random &random, int items) = 0;
};

template <class T> struct Numbers : Branch {
   T values[kMostItems];
   Numbers(TTree &tree, const std::string &name, const char *type, bool is_counted) {
      tree.Branch(name.c_str(), values, (name + (is_counted ? "[n]/" : "/") + type).c_str());
   }
   void fill(Random &random, int items) override {
      for (int i = 0; i < items; ++i) values[i] = make<T>(random);
   }
};

template <class T> struct Vector : Branch {
   std::vector<T> values;
   Vector(TTree &tree, const std::string &name) { tree.Branch(name.c_str(), &values); }
   void fill(Random &random, int items) override {
      values.resize(items);
      for (auto &value : values) value = make<T>(random);
   }
};

using Branches = std::vector<std::unique_ptr<Branch>>;

void add_numbers(TTree &tree, Branches &branches, const std::string &kind, int count, bool are_counted) {
   for (int i = 0; i < count; ++i) {
      const auto name = kind + std::to_string(i);
      switch (i % 5) {
      case 2: branches.push_back(std::make_unique<Numbers<Int_t>>(tree, name, "I", are_counted)); break;
      case 3: branches.push_back(std::make_unique<Numbers<Double_t>>(tree, name, "D", are_counted)); break;
      case 4: branches.push_back(std::make_unique<Numbers<UChar_t>>(tree, name, "b", are_counted)); break;
      default: branches.push_back(std::make_unique<Numbers<Float_t>>(tree, name, "F", are_counted));
      }
   }
}

void add_vectors(TTree &tree, Branches &branches, int count) {
   for (int i = 0; i < count; ++i) {
      const auto name = "vector" + std::to_string(i);
      switch (i % 5) {
      case 2: branches.push_back(std::make_unique<Vector<Int_t>>(tree, name)); break;
      case 3: branches.push_back(std::make_unique<Vector<Double_t>>(tree, name)); break;
      case 4: branches.push_back(std::make_unique<Vector<UChar_t>>(tree, name)); break;
      default: branches.push_back(std::make_unique<Vector<Float_t>>(tree, name));
      }
   }
}

void write(const std::string &path, int compression, long entries, int flat, int counted, int vectors) {
   TFile file(path.c_str(), "RECREATE", "", compression);
   TTree *tree = new TTree("data", "data"); // the file's
   tree->SetAutoSave(0); // one cycle
   Random random;
   Branches numbers, arrays, lists;
   int n;
   add_numbers(*tree, numbers, "flat", flat, false);
   tree->Branch("n", &n, "n/I");
   add_numbers(*tree, arrays, "counted", counted, true);
   add_vectors(*tree, lists, vectors);
   for (long entry = 0; entry < entries; ++entry) {
      for (auto &branch : numbers) branch->fill(random, 1);
      n = std::min<int>(random.falling(2), kMostItems);
      for (auto &branch : arrays) branch->fill(random, n);
      for (auto &branch : lists) branch->fill(random, std::min<int>(random.falling(2), kMostItems));
      tree->Fill();
   }
   file.Write();
}

} // namespace make_ttree
"""


def main():
    import ROOT

    compression, output, *numbers = sys.argv[1:]
    if not ROOT.gInterpreter.Declare(GENERATOR):
        sys.exit("the generator does not compile")
    ROOT.make_ttree.write(output, COMPRESSIONS[compression], *map(int, numbers))


if __name__ == "__main__":
    if len(sys.argv) != 7:
        sys.exit(__doc__)
    main()
