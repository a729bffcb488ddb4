// SPDX-License-Identifier: MIT
//
// The peer: ROOT's bulk reader.  root_bulk FILE FIELD|* ROUNDS
// Prints decoded bytes (of one float field; 0 for all), then the seconds of each round, opening not counted.
#include <ROOT/RFieldBase.hxx>
#include <ROOT/RNTupleDescriptor.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

static double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static constexpr std::size_t kBatch = 1 << 18;

// Calls `use` with each batch of a field: first entry, count, values.
template <class Use>
static void read_bulk(ROOT::RNTupleReader &reader, const std::string &field, const bool *mask, Use use)
{
    auto bulk = reader.GetModel().CreateBulk(field);
    for (const auto &cluster : reader.GetDescriptor().GetClusterIterable()) {
        const std::size_t entries = cluster.GetNEntries();
        for (std::size_t first = 0; first < entries; first += kBatch) {
            const std::size_t count = std::min(kBatch, entries - first);
            use(cluster.GetFirstEntryIndex() + first, count,
                bulk.ReadBulk(ROOT::RNTupleLocalIndex(cluster.GetId(), first), mask, count));
        }
    }
}

int main(int argument_count, char **arguments)
{
    if (argument_count != 4)
        return 1;
    const std::string file = arguments[1], field = arguments[2];
    const std::unique_ptr<bool[]> mask(new bool[kBatch]);
    std::memset(mask.get(), 1, kBatch);
    std::vector<float> output;
    for (int round = std::stoi(arguments[3]); round > 0; --round) {
        double start;
        if (field == "*") {
            auto reader = ROOT::RNTupleReader::Open("data", file);
            std::vector<std::string> names;
            for (const auto *sub : reader->GetModel().GetConstFieldZero().GetConstSubfields())
                names.push_back(sub->GetFieldName());
            if (!output.capacity())
                std::printf("0");
            output.reserve(1);
            start = now();
            for (const auto &name : names)
                read_bulk(*reader, name, mask.get(), [](std::size_t, std::size_t, void *) {});
        } else {
            auto model = ROOT::RNTupleModel::Create();
            model->MakeField<float>(field);
            auto reader = ROOT::RNTupleReader::Open(std::move(model), "data", file);
            if (output.empty())
                std::printf("%zu", reader->GetNEntries() * sizeof(float));
            output.resize(reader->GetNEntries());
            start = now();
            read_bulk(*reader, field, mask.get(),
                      [&](std::size_t first, std::size_t count, const void *values) {
                          std::memcpy(&output[first], values, count * sizeof(float));
                      });
        }
        std::printf(" %.6f", now() - start);
    }
    std::puts("");
}
