// SPDX-License-Identifier: MIT
//
// The peer: ROOT reads branches of a TTree: numbers, arrays that the branch n counts, and vectors.
//
//   root_ttree FILE WAY BRANCH,... THREADS ROUNDS
//
// WAY  bulk    TBranch::GetBulkRead; no vectors
//      reader  TTreeReader, a branch at a time
//      entry   TBranch::GetEntry, a branch at a time
//      open    opening, and the first entry of the branches
// Prints decoded bytes, then the seconds of each round, without opening (except for open). Each thread has
// its own file, and reads the same number of baskets of each branch: the numbers, and the offsets of each
// entry.
#include <TBranch.h>
#include <TBufferFile.h>
#include <TFile.h>
#include <TLeaf.h>
#include <TROOT.h>
#include <TTree.h>
#include <TTreeReader.h>
#include <TTreeReaderArray.h>
#include <TTreeReaderValue.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace
{

const int kMostItems = 30; // of an entry, in files of make_ttree.py

double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// What one thread reads of a branch. Memory is kept between rounds.
struct Output {
    std::vector<char> values;
    std::vector<std::int64_t> ends;
    std::size_t bytes = 0; // of `values` in use
    Long64_t first = 0, end = 0;

    template <class T> T *reserve(std::size_t count)
    {
        if (values.size() < bytes + count * sizeof(T))
            values.resize(2 * (bytes + count * sizeof(T)));
        return reinterpret_cast<T *>(&values[bytes]);
    }
    template <class T> void append(const T *items, std::size_t count)
    {
        std::memcpy(reserve<T>(count), items, count * sizeof(T));
        bytes += count * sizeof(T);
    }
    void start(bool has_ends)
    {
        bytes = 0;
        ends.resize(has_ends ? end - first : 0);
    }
    std::size_t size() const
    {
        return bytes + ends.size() * sizeof(ends[0]);
    }
};

enum class Shape { kNumber, kCounted, kVector };

Shape shape_of(TBranch *branch)
{
    if (std::strcmp(branch->ClassName(), "TBranchElement") == 0)
        return Shape::kVector;
    return static_cast<TLeaf *>(branch->GetListOfLeaves()->At(0))->GetLeafCount() ? Shape::kCounted
                                                                                  : Shape::kNumber;
}

void fail(const char *what, const TBranch *branch)
{
    std::fprintf(stderr, "%s: %s\n", branch->GetName(), what);
    std::exit(EXIT_FAILURE);
}

template <class T> T from_big_endian(const char *bytes)
{
    T value;
    std::memcpy(&value, bytes, sizeof(T));
    if constexpr (sizeof(T) == 4) {
        std::uint32_t swapped;
        std::memcpy(&swapped, &value, 4);
        swapped = __builtin_bswap32(swapped);
        std::memcpy(&value, &swapped, 4);
    } else if constexpr (sizeof(T) == 8) {
        std::uint64_t swapped;
        std::memcpy(&swapped, &value, 8);
        swapped = __builtin_bswap64(swapped);
        std::memcpy(&value, &swapped, 8);
    }
    return value;
}

// ---- bulk ----

template <class T> void bulk_numbers(TBranch *branch, TBufferFile &buffer, Output &output)
{
    for (Long64_t entry = output.first; entry < output.end;) {
        const Int_t count = branch->GetBulkRead().GetBulkEntries(entry, buffer);
        if (count <= 0)
            fail("no bulk read", branch);
        output.append(reinterpret_cast<const T *>(buffer.GetCurrent()), count);
        entry += count;
    }
}

// This entry is the first of a basket.
Long64_t start_of_basket(TBranch *branch, Long64_t entry)
{
    Long64_t start = 0;
    for (int i = 0; i <= branch->GetWriteBasket() && branch->GetBasketEntry()[i] <= entry; ++i)
        start = branch->GetBasketEntry()[i];
    return start;
}

// The ends of the items from a bulk read of the counter, whose baskets have other boundaries; then the items
// as stored.
template <class T> void bulk_counted(TBranch *branch, TBranch *counter, TBufferFile &buffer, Output &output)
{
    std::int64_t end = 0;
    for (Long64_t entry = start_of_basket(counter, output.first); entry < output.end;) {
        const Int_t count = counter->GetBulkRead().GetBulkEntries(entry, buffer);
        if (count <= 0)
            fail("no bulk read of the counter", branch);
        const Int_t *counts = reinterpret_cast<const Int_t *>(buffer.GetCurrent());
        const Long64_t from = std::max(entry, output.first), to = std::min(entry + count, output.end);
        for (Long64_t i = from; i < to; ++i)
            output.ends[i - output.first] = end += counts[i - entry];
        entry += count;
    }
    std::int64_t before = 0;
    for (Long64_t entry = output.first; entry < output.end;) {
        const Int_t count = branch->GetBulkRead().GetEntriesSerialized(entry, buffer);
        if (count <= 0)
            fail("no bulk read", branch);
        entry += count;
        const std::int64_t items = output.ends[entry - 1 - output.first] - before;
        const char *stored = buffer.GetCurrent();
        T *values = output.reserve<T>(items);
        for (std::int64_t i = 0; i < items; ++i)
            values[i] = from_big_endian<T>(stored + i * sizeof(T));
        output.bytes += items * sizeof(T);
        before += items;
    }
}

template <class T> void by_bulk(TTree *tree, TBranch *branch, Shape shape, Output &output)
{
    TBufferFile buffer(TBuffer::kWrite, 32 * 1024);
    if (shape == Shape::kNumber)
        bulk_numbers<T>(branch, buffer, output);
    else if (shape == Shape::kCounted)
        bulk_counted<T>(branch, tree->GetBranch("n"), buffer, output);
    else
        fail("no bulk read of vectors", branch);
}

// ---- TTreeReader ----

template <class T> void by_reader(TTree *tree, TBranch *branch, Shape shape, Output &output)
{
    TTreeReader reader(tree);
    if (shape == Shape::kNumber) {
        TTreeReaderValue<T> value(reader, branch->GetName());
        reader.SetEntriesRange(output.first, output.end);
        T *values = output.reserve<T>(output.end - output.first);
        while (reader.Next())
            *values++ = *value;
        output.bytes += (output.end - output.first) * sizeof(T);
        return;
    }
    TTreeReaderArray<T> array(reader, branch->GetName());
    std::int64_t end = 0, *ends = output.ends.data();
    reader.SetEntriesRange(output.first, output.end);
    while (reader.Next()) {
        const std::size_t count = array.GetSize();
        if (count)
            output.append(&array[0], count);
        *ends++ = end += count;
    }
}

// ---- TBranch::GetEntry ----

template <class T> void by_entry(TTree *tree, TBranch *branch, Shape shape, Output &output)
{
    T values[kMostItems];
    Int_t items = 1;
    std::vector<T> list, *list_pointer = &list;
    TBranch *counter = shape == Shape::kCounted ? tree->GetBranch("n") : nullptr;
    std::int64_t end = 0, *ends = output.ends.data();
    if (counter)
        counter->SetAddress(&items);
    branch->SetAddress(shape == Shape::kVector ? static_cast<void *>(&list_pointer) : values);
    for (Long64_t entry = output.first; entry < output.end; ++entry) {
        if (counter)
            counter->GetEntry(entry);
        branch->GetEntry(entry);
        if (shape == Shape::kVector)
            items = list.size();
        output.append(shape == Shape::kVector ? list.data() : values, items);
        if (shape != Shape::kNumber)
            *ends++ = end += items;
    }
    branch->ResetAddress();
    if (counter)
        counter->ResetAddress();
}

// ---- A round ----

template <class T> void read_as(const std::string &way, TTree *tree, TBranch *branch, Output &output)
{
    const Shape shape = shape_of(branch);
    output.start(shape != Shape::kNumber);
    (way == "bulk" ? by_bulk<T> : way == "reader" ? by_reader<T> : by_entry<T>)(tree, branch, shape, output);
}

void read(const std::string &way, TTree *tree, TBranch *branch, Output &output)
{
    EDataType type = kOther_t;
    TClass *type_class = nullptr;
    branch->GetExpectedType(type_class, type);
    const std::string name = type_class ? type_class->GetName() : "";
    if (type == kFloat_t || name == "vector<float>")
        read_as<Float_t>(way, tree, branch, output);
    else if (type == kInt_t || name == "vector<int>")
        read_as<Int_t>(way, tree, branch, output);
    else if (type == kDouble_t || name == "vector<double>")
        read_as<Double_t>(way, tree, branch, output);
    else if (type == kUChar_t || name == "vector<unsigned char>")
        read_as<UChar_t>(way, tree, branch, output);
    else
        fail("no branch of make_ttree.py", branch);
}

std::vector<std::string> parts_of(const std::string &text)
{
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, ',');)
        parts.push_back(part);
    return parts;
}

struct Reader {
    std::unique_ptr<TFile> file;
    TTree *tree;
    std::vector<TBranch *> branches;
    std::vector<Output> outputs;

    Reader(const char *path, const std::vector<std::string> &names)
        : file(TFile::Open(path)), outputs(names.size())
    {
        tree = file ? file->Get<TTree>("data") : nullptr;
        if (!tree)
            std::exit(EXIT_FAILURE);
        tree->SetCacheSize(0); // the file is in memory: readahead takes time
        for (const auto &name : names)
            branches.push_back(tree->GetBranch(name.c_str()));
    }
    // The entries of its share of the baskets.
    void share(int number, int count)
    {
        for (std::size_t i = 0; i < branches.size(); ++i) {
            const int baskets = branches[i]->GetWriteBasket();
            const auto border = [&](int k) {
                return k == count ? branches[i]->GetEntries()
                                  : branches[i]->GetBasketEntry()[baskets * k / count];
            };
            outputs[i].first = border(number);
            outputs[i].end = border(number + 1);
        }
    }
    void read_all(const std::string &way)
    {
        for (std::size_t i = 0; i < branches.size(); ++i)
            read(way, tree, branches[i], outputs[i]);
    }
};

double read_round(const std::string &way, std::vector<Reader> &readers)
{
    const double start = now();
    std::vector<std::thread> threads;
    for (std::size_t i = 1; i < readers.size(); ++i)
        threads.emplace_back([&, i] { readers[i].read_all(way); });
    readers[0].read_all(way);
    for (auto &thread : threads)
        thread.join();
    return now() - start;
}

double open_round(const char *path, const std::vector<std::string> &names)
{
    const double start = now();
    Reader reader(path, names);
    for (std::size_t i = 0; i < reader.branches.size(); ++i)
        reader.outputs[i].end = 1;
    reader.read_all("entry");
    return now() - start;
}

} // namespace

int main(int argument_count, char **arguments)
{
    if (argument_count != 6)
        return EXIT_FAILURE;
    const char *path = arguments[1];
    const std::string way = arguments[2];
    const auto names = parts_of(arguments[3]);
    const int threads = std::atoi(arguments[4]), rounds = std::atoi(arguments[5]);
    std::vector<double> seconds;
    std::size_t bytes = 0;
    ROOT::EnableThreadSafety();
    if (way == "open") {
        for (int round = 0; round < rounds; ++round)
            seconds.push_back(open_round(path, names));
    } else {
        std::vector<Reader> readers;
        for (int i = 0; i < threads; ++i) {
            readers.emplace_back(path, names);
            readers.back().share(i, threads);
        }
        for (int round = 0; round < rounds; ++round)
            seconds.push_back(read_round(way, readers));
        for (const auto &reader : readers)
            for (const auto &output : reader.outputs)
                bytes += output.size();
    }
    std::printf("%zu", bytes);
    for (const double each : seconds)
        std::printf(" %.6f", each);
    std::puts("");
}
