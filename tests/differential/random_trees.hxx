/* SPDX-License-Identifier: MIT
 *
 * Random values of types that trees have and random_values.hxx does not, and trees of random schemas, for
 * ROOT's TTree::Branch and RDataFrame's Snapshot.
 */
#ifndef TESTS_DIFFERENTIAL_RANDOM_TREES_HXX
#define TESTS_DIFFERENTIAL_RANDOM_TREES_HXX

#include "random_values.hxx"
#include "tree.hxx"

#include <TArrayC.h>
#include <TArrayD.h>
#include <TArrayF.h>
#include <TArrayI.h>
#include <TArrayL.h>
#include <TArrayS.h>
#include <TFile.h>
#include <TObjArray.h>
#include <TObjString.h>
#include <TVirtualStreamerInfo.h>

#ifdef WITH_SNAPSHOT /* its headers take seconds */
#include <ROOT/RDataFrame.hxx>
#endif

/* What its places hold: none or one. */
template <typename T> std::vector<std::vector<T>> objects_of(const TObjArray &array)
{
    std::vector<std::vector<T>> result(static_cast<std::size_t>(array.GetLast() + 1));
    for (std::size_t i = 0; i < result.size(); i++)
        if (const TObject *object = array.At(static_cast<int>(i)))
            result[i].push_back(*static_cast<const T *>(object));
    return result;
}

/* ROOT's arrays of numbers are lists. */
#define IS_A_LIST(Array, Number)                                                                             \
    template <> struct json::writer<Array> {                                                                 \
        static std::string write(const Array &value)                                                         \
        {                                                                                                    \
            return of_pointer(value.GetArray(), static_cast<std::size_t>(value.GetSize()));                  \
        }                                                                                                    \
    };                                                                                                       \
    template <> struct shape::teller<Array> {                                                                \
        static std::string tell()                                                                            \
        {                                                                                                    \
            return "[\"list\"," + of<Number>() + "]";                                                        \
        }                                                                                                    \
    };                                                                                                       \
    template <> struct values::filler<Array> {                                                               \
        static void fill(Array &value, Random &random)                                                       \
        {                                                                                                    \
            value.Set(static_cast<int>(length(random)));                                                     \
            for (int i = 0; i < value.GetSize(); i++)                                                        \
                values::fill(value[i], random);                                                              \
        }                                                                                                    \
    };
IS_A_LIST(TArrayC, char)
IS_A_LIST(TArrayS, short)
IS_A_LIST(TArrayI, int)
IS_A_LIST(TArrayL, long)
IS_A_LIST(TArrayF, float)
IS_A_LIST(TArrayD, double)
#undef IS_A_LIST

template <> struct json::writer<TObjString> {
    static std::string write(const TObjString &value)
    {
        return "{\"fString\":" + of(value.GetString()) + "}";
    }
};
template <> struct shape::teller<TObjString> {
    static std::string tell()
    {
        return "{\"fString\":\"string\"}";
    }
};

namespace values
{

template <> struct filler<TObjString> {
    static void fill(TObjString &value, Random &random)
    {
        value.SetString(text(random).c_str());
    }
};
/* Nobody frees the old one. */
template <> struct filler<char *> {
    static void fill(char *&value, Random &random)
    {
        value = random.Below(4) ? strdup(text(random).c_str()) : nullptr;
    }
};
template <> struct filler<TString> {
    static void fill(TString &value, Random &random)
    {
        value = text(random).c_str();
    }
};
template <typename T, std::size_t N> struct filler<T[N]> {
    static void fill(T (&value)[N], Random &random)
    {
        for (auto &item : value)
            values::fill(item, random);
    }
};
template <typename Range> void fill_range(Range &value, Random &random)
{
    value.clear();
    value.resize(length(random));
    for (auto &item : value)
        values::fill(item, random);
}
template <typename T> struct filler<std::list<T>> {
    static void fill(std::list<T> &value, Random &random)
    {
        fill_range(value, random);
    }
};
template <typename T> struct filler<std::deque<T>> {
    static void fill(std::deque<T> &value, Random &random)
    {
        fill_range(value, random);
    }
};
template <typename T> struct filler<std::unordered_set<T>> {
    static void fill(std::unordered_set<T> &value, Random &random)
    {
        fill_set(value, random);
    }
};

/* A pointer to an object of its own, or null. Nobody frees the old one. */
template <typename T> struct filler<T *> {
    static void fill(T *&value, Random &random)
    {
        value = random.Below(3) ? new T() : nullptr;
        if (value)
            values::fill(*value, random);
    }
};

/* A TObjArray of objects of class T, the first of which is there: only it names the class. Nobody frees the
 * old ones. */
template <typename T> void fill_objects(TObjArray &array, Random &random)
{
    array.Clear();
    for (int i = 0, count = 1 + static_cast<int>(length(random)); i < count; i++) {
        if (i && !random.Below(3))
            continue;
        auto *object = new T();
        values::fill(*object, random);
        array.AddAtAndExpand(object, i);
    }
}

/* A member whose length another one stores. Nobody frees the old one, because copies may share it. */
template <typename Count, typename T> void fill_counted(Count &count, T *&items, Random &random)
{
    count = static_cast<Count>(length(random));
    items = count ? new T[count]() : nullptr;
    for (Count i = 0; i < count; i++)
        values::fill(items[i], random);
}

/* The numbers that `bits` bits of the range from `minimum` to `maximum` hold exactly; the width is a
 * power of two. */
inline double in_range(double minimum, double maximum, unsigned bits, Random &random)
{
    const double steps = static_cast<double>(1ull << bits);
    return minimum + static_cast<double>(random.Below((1ull << bits) + 1)) * ((maximum - minimum) / steps);
}

/* A number whose significand has three bits. */
inline double short_number(Random &random)
{
    const double sign = random.Below(2) ? -1 : 1;
    return random.Below(8) ? sign * std::ldexp(1 + static_cast<double>(random.Below(4)) / 4,
                                               static_cast<int>(random.Below(60)) - 30)
                           : 0;
}

} // namespace values

namespace random_trees
{

/* An entry of a branch has the same value however the tree is written. */
inline Random random_of(std::uint64_t seed, std::uint64_t branch, std::uint64_t entry)
{
    return Random(seed + branch * 1000003 + entry * 7919);
}

struct Options {
    std::uint64_t entries;
    int compression, auto_flush, basket_bytes;
    bool is_memberwise, generates_offsets, is_embedded;
};

inline std::string write(Tree &tree, const std::string &path, const Options &options)
{
    TVirtualStreamerInfo::SetStreamMemberWise(options.is_memberwise);
    TFile file(path.c_str(), "RECREATE", "", options.compression);
    auto ready = [&](TTree &made) {
        made.SetAutoFlush(options.auto_flush);
        if (options.basket_bytes)
            made.SetBasketSize("*", options.basket_bytes);
        if (options.generates_offsets) {
            ROOT::TIOFeatures features;
            features.Set(ROOT::Experimental::EIOFeatures::kGenerateOffsetMap);
            made.SetIOFeatures(features);
        }
    };
    return options.is_embedded ? tree.Embed(file, options.entries, ready)
                               : tree.Write(file, options.entries, ready);
}

#ifdef WITH_SNAPSHOT
/* The columns of a frame, and their descriptions. */
struct Snapshot {
    std::uint64_t seed, entries, columns = 0;
    ROOT::RDF::RNode node;
    std::vector<std::string> names;
    std::string told;

    Snapshot(std::uint64_t seed, std::uint64_t entries)
        : seed(seed), entries(entries), node(ROOT::RDataFrame(entries))
    {
    }

    template <typename T> void Add(const std::string &name)
    {
        auto value = [seed = seed, number = columns++](ULong64_t entry) {
            T made{};
            Random random = random_of(seed, number, entry);
            values::fill(made, random);
            return made;
        };
        told += (told.empty() ? "" : ",") + json::of_text(name) + ":{\"shape\":" + shape::of<T>() +
                ",\"values\":[";
        for (std::uint64_t entry = 0; entry < entries; entry++)
            told += (entry ? "," : "") + json::of(value(entry));
        told += "]}";
        node = node.Define(name, value, {"rdfentry_"});
        names.push_back(name);
    }

    std::string Write(const std::string &path, const Options &options, int split)
    {
        ROOT::RDF::RSnapshotOptions how;
        how.fCompressionAlgorithm =
            static_cast<decltype(how.fCompressionAlgorithm)>(options.compression / 100);
        how.fCompressionLevel = options.compression % 100;
        how.fAutoFlush = options.auto_flush;
        how.fSplitLevel = split;
        node.Snapshot("random", path, names, how);
        TFile file(path.c_str());
        auto *tree = file.Get<TTree>("random");
        return "{\"entries\":" + std::to_string(entries) +
               ",\"branches\":" + Tree::Branches(*tree->GetListOfBranches()) + ",\"columns\":{" + told + "}}";
    }
};
#endif

} // namespace random_trees

#endif
