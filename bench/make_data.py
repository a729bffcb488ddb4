#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make_data.py KIND COMPRESSION OUTPUT [ENTRIES]: write an RNTuple file to measure with.

KIND         hits    a flat table: floats with full mantissas, doubles, integers, a flag
             events  collections of different lengths whose floats keep a part of their mantissa, flags, texts
             deep    lists of lists of structures
             wide    N fields of one float or integer, with N as in "wide2000"
             columns N floats that are all alike
             clusters 60 floats that keep a part of their mantissa and a list of such, in 8 clusters
             pages   one field of integers in N pages of 256 bytes and clusters of 10,000 pages
COMPRESSION  zstd, lz4, zlib, lzma or none

The same arguments always give the same values. Needs ROOT (the package "root").
"""
import re
import sys
import warnings

warnings.filterwarnings("ignore")

COMPRESSIONS = {"zstd": 505, "lz4": 404, "zlib": 101, "lzma": 207, "none": 0}
ENTRIES = {"hits": 4_000_000, "events": 150_000, "deep": 60_000, "wide": 1_000, "columns": 4_000_000,
           "clusters": 1_000_000}
PAGE_ENTRIES = 64

# Values that compress as those of experiments do, for all generators.
RANDOM = r"""
// The 64-bit mixer of SplitMix: the same numbers everywhere.
struct Random {
   std::uint64_t state = 20260101;
   std::uint64_t bits() {
      std::uint64_t x = (state += 0x9e3779b97f4a7c15);
      x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
      x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
      return x ^ (x >> 31);
   }
   double uniform() { return (bits() >> 11) / 9007199254740992.0; }
   double falling(double mean) { return -mean * std::log(1 - uniform()); }
   double bell(double mean, double width) {
      double sum = 0;
      for (int i = 0; i < 12; ++i) sum += uniform();
      return mean + width * (sum - 6);
   }
   int number(double mean) { return int(falling(mean)); }
};

// A float that keeps 11 bits of its mantissa.
float short_float(double value) {
   float given = value;
   std::uint32_t bits;
   std::memcpy(&bits, &given, 4);
   bits &= 0xfffff000;
   std::memcpy(&given, &bits, 4);
   return given;
}
"""

GENERATOR = r"""
#pragma cling optimize(2)
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <ROOT/RNTupleWriteOptions.hxx>
#include <cmath>
#include <cstring>

namespace make_data {

struct Cell { float energy; float time; std::int32_t id; std::uint8_t flags; };

""" + RANDOM + r"""
struct Job { std::string path; int compression; std::uint64_t entries; int fields; };

template <class Fill> void write(const Job &job, std::unique_ptr<ROOT::RNTupleModel> model, Fill fill,
                                 std::size_t page_bytes = 0, std::uint64_t cluster_entries = 0) {
   ROOT::RNTupleWriteOptions options;
   options.SetCompression(job.compression);
   if (page_bytes) {
      options.SetInitialUnzippedPageSize(page_bytes);
      options.SetMaxUnzippedPageSize(page_bytes);
   }
   auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "data", job.path, options);
   for (std::uint64_t i = 0; i < job.entries; ++i) {
      fill(i);
      writer->Fill();
      if (cluster_entries && (i + 1) % cluster_entries == 0) writer->CommitCluster();
   }
}

void hits(const Job &job) {
   auto model = ROOT::RNTupleModel::Create();
   Random random;
   std::vector<std::shared_ptr<float>> momenta;
   for (auto name : {"px", "py", "pz", "energy"}) momenta.push_back(model->MakeField<float>(name));
   auto mass = model->MakeField<double>("mass"), distance = model->MakeField<double>("distance");
   auto charge = model->MakeField<std::int32_t>("charge");
   auto run = model->MakeField<std::uint32_t>("run");
   auto event = model->MakeField<std::uint64_t>("event");
   auto good = model->MakeField<bool>("good");
   write(job, std::move(model), [&](std::uint64_t i) {
      for (auto &p : momenta) *p = random.bell(0, 2500);
      *mass = random.bell(5279, 25);
      *distance = random.falling(40);
      *charge = random.bits() & 1 ? 1 : -1;
      *run = 1000 + i / 50000;
      *event = 3 * i + (random.bits() & 1);
      *good = random.uniform() < 0.9;
   });
}

void events(const Job &job) {
   auto model = ROOT::RNTupleModel::Create();
   Random random;
   struct Collection { double mean; std::vector<std::shared_ptr<std::vector<float>>> floats;
                       std::shared_ptr<std::vector<std::int32_t>> index; };
   std::vector<Collection> collections;
   for (auto [name, mean] : {std::pair{"jet", 6.}, {"muon", 1.}, {"electron", 1.}, {"photon", 1.5},
                             {"tau", 1.},
                             {"particle", 12.}, {"vertex", 1.}, {"trigger", 8.}}) {
      Collection collection{mean, {},
                            model->MakeField<std::vector<std::int32_t>>(std::string(name) + "_index")};
      for (auto part : {"_pt", "_eta", "_phi", "_mass", "_quality"})
         collection.floats.push_back(model->MakeField<std::vector<float>>(std::string(name) + part));
      collections.push_back(std::move(collection));
   }
   std::vector<std::shared_ptr<bool>> paths;
   for (int i = 0; i < 30; ++i) paths.push_back(model->MakeField<bool>("path" + std::to_string(i)));
   auto event = model->MakeField<std::uint64_t>("event");
   auto period = model->MakeField<std::string>("period");
   write(job, std::move(model), [&](std::uint64_t i) {
      for (auto &collection : collections) {
         int count = std::min(random.number(collection.mean), 60);
         collection.index->resize(count);
         for (int k = 0; k < count; ++k) (*collection.index)[k] = k - 1;
         for (auto &values : collection.floats) {
            values->resize(count);
            for (auto &value : *values) value = short_float(random.falling(20));
         }
      }
      for (std::size_t k = 0; k < paths.size(); ++k) *paths[k] = random.uniform() < 0.4 / (1 + k);
      *event = i;
      *period = std::string("2026") + char('A' + i / 20000 % 6);
   });
}

void deep(const Job &job) {
   auto model = ROOT::RNTupleModel::Create();
   Random random;
   auto showers = model->MakeField<std::vector<std::vector<Cell>>>("showers");
   write(job, std::move(model), [&](std::uint64_t) {
      showers->resize(std::min(random.number(8), 50));
      for (auto &cells : *showers) {
         cells.resize(std::min(random.number(12), 80));
         for (auto &cell : cells)
            cell = {short_float(random.falling(3)), float(random.bell(25, 4)), int(random.bits() % 20000),
                    std::uint8_t(random.bits() & 7)};
      }
   });
}

void wide(const Job &job) {
   auto model = ROOT::RNTupleModel::Create();
   Random random;
   std::vector<std::shared_ptr<float>> floats;
   std::vector<std::shared_ptr<std::int32_t>> integers;
   for (int i = 0; i < job.fields; ++i) {
      auto name = "field" + std::to_string(i);
      if (i % 2) integers.push_back(model->MakeField<std::int32_t>(name));
      else floats.push_back(model->MakeField<float>(name));
   }
   write(job, std::move(model), [&](std::uint64_t) {
      for (auto &value : floats) *value = random.bell(0, 1);
      for (auto &value : integers) *value = random.bits() % 1000;
   });
}

void columns(const Job &job) {
   auto model = ROOT::RNTupleModel::Create();
   Random random;
   std::vector<std::shared_ptr<float>> floats;
   for (int i = 0; i < job.fields; ++i)
      floats.push_back(model->MakeField<float>("field" + std::to_string(i)));
   write(job, std::move(model), [&](std::uint64_t) {
      for (auto &value : floats) *value = short_float(random.bits() >> 40);
   });
}

void clusters(const Job &job) {
   auto model = ROOT::RNTupleModel::Create();
   Random random;
   std::vector<std::shared_ptr<float>> floats;
   for (int i = 0; i < 60; ++i) floats.push_back(model->MakeField<float>("field" + std::to_string(i)));
   auto list = model->MakeField<std::vector<float>>("list");
   write(job, std::move(model), [&](std::uint64_t) {
      for (auto &value : floats) *value = short_float(random.falling(20));
      list->resize(random.number(3));
      for (auto &value : *list) value = short_float(random.falling(20));
   }, 0, job.entries / 8);
}

void pages(const Job &job) {
   auto model = ROOT::RNTupleModel::Create();
   Random random;
   auto value = model->MakeField<std::int32_t>("field0");
   write(job, std::move(model), [&](std::uint64_t) { *value = random.bits() % 1000; },
         PAGE_ENTRIES * sizeof(*value),
         10000 * PAGE_ENTRIES);
}

} // namespace make_data
"""


def make(kind, compression, output, entries=None):
    import ROOT

    generator = GENERATOR.replace("PAGE_ENTRIES", str(PAGE_ENTRIES))
    if not hasattr(make, "is_declared") and not ROOT.gInterpreter.Declare(generator):
        sys.exit("the generator does not compile")
    make.is_declared = True
    name, fields = re.fullmatch(r"([a-z]+)(\d*)", kind).groups()
    count = int(fields or 0)
    entries = entries or (PAGE_ENTRIES * count if name == "pages" else ENTRIES[name])
    job = ROOT.make_data.Job(str(output), COMPRESSIONS[compression], entries, count)
    getattr(ROOT.make_data, name)(job)


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    make(*sys.argv[1:4], *map(int, sys.argv[4:]))
