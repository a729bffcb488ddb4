/* SPDX-License-Identifier: MIT
 *
 * For scripts that ROOT's interpreter runs: writes a dataset with one function per field, and prints as
 * JSON what ROOT's own reader then finds in it.
 */
#ifndef TESTS_DATA_DATASET_HXX
#define TESTS_DATA_DATASET_HXX

#include <ROOT/RField.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RNTupleUtil.hxx>
#include <ROOT/RNTupleWriteOptions.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <TFile.h>

#include <array>
#include <atomic>
#include <bitset>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

/* ---- values as JSON: what tests/support/compare_tree.py makes of a mounted field ---- */

namespace json
{

template <typename T> std::string of(const T &value);

inline std::string of_number(double value)
{
    char text[64];
    if (std::isnan(value))
        return "NaN";
    if (std::isinf(value))
        return value > 0 ? "Infinity" : "-Infinity";
    snprintf(text, sizeof(text), "%.17g", value);
    std::string result = text;
    return result.find_first_of(".en") == std::string::npos ? result + ".0" : result;
}

inline std::string of_text(const std::string &text)
{
    std::string result = "\"";
    for (unsigned char c : text) {
        char escaped[8];
        snprintf(escaped, sizeof(escaped), "\\u%04x", c);
        if (c < 0x20 || c == '"' || c == '\\')
            result += escaped;
        else
            result += static_cast<char>(c);
    }
    return result + "\"";
}

template <typename Range> std::string of_range(const Range &range)
{
    std::string result = "[";
    for (auto at = range.begin(); at != range.end(); ++at)
        result += (at == range.begin() ? "" : ",") + of(*at);
    return result + "]";
}

template <typename... Ts> std::string of_items(const Ts &...items)
{
    std::string result = "[";
    const char *separator = "";
    ((result += separator + of(items), separator = ","), ...);
    return result + "]";
}

/* Structures that the scripts declare are written by a member `json()`. */
template <typename T> struct writer {
    static std::string write(const T &value)
    {
        if constexpr (std::is_same_v<T, bool>)
            return value ? "true" : "false";
        else if constexpr (std::is_same_v<T, std::byte>)
            return std::to_string(static_cast<unsigned>(value));
        else if constexpr (std::is_same_v<T, char>)
            return std::to_string(static_cast<unsigned char>(value));
        else if constexpr (std::is_enum_v<T>)
            return of(static_cast<std::underlying_type_t<T>>(value));
        else if constexpr (std::is_floating_point_v<T>)
            return of_number(value);
        else if constexpr (std::is_integral_v<T>)
            return std::to_string(value);
        else
            return value.json();
    }
};
template <> struct writer<std::string> {
    static std::string write(const std::string &value)
    {
        return of_text(value);
    }
};
template <typename T> struct writer<std::vector<T>> {
    static std::string write(const std::vector<T> &value)
    {
        std::string result = "[";
        for (std::size_t i = 0; i < value.size(); i++)
            result += (i ? "," : "") + of(static_cast<T>(value[i]));
        return result + "]";
    }
};
template <typename T> struct writer<ROOT::RVec<T>> {
    static std::string write(const ROOT::RVec<T> &value)
    {
        return of_range(value);
    }
};
template <typename T, std::size_t N> struct writer<std::array<T, N>> {
    static std::string write(const std::array<T, N> &value)
    {
        return of_range(value);
    }
};
template <typename T> struct writer<std::set<T>> {
    static std::string write(const std::set<T> &value)
    {
        return of_range(value);
    }
};
template <typename T> struct writer<std::multiset<T>> {
    static std::string write(const std::multiset<T> &value)
    {
        return of_range(value);
    }
};
template <typename K, typename V> struct writer<std::unordered_map<K, V>> {
    static std::string write(const std::unordered_map<K, V> &value)
    {
        return of_range(value);
    }
};
template <typename K, typename V> struct writer<std::map<K, V>> {
    static std::string write(const std::map<K, V> &value)
    {
        return of_range(value);
    }
};
template <typename A, typename B> struct writer<std::pair<A, B>> {
    static std::string write(const std::pair<A, B> &value)
    {
        return of_items(value.first, value.second);
    }
};
template <typename... Ts> struct writer<std::tuple<Ts...>> {
    static std::string write(const std::tuple<Ts...> &value)
    {
        return std::apply([](const auto &...items) { return of_items(items...); }, value);
    }
};
template <typename T> struct writer<std::optional<T>> {
    static std::string write(const std::optional<T> &value)
    {
        return value ? of(*value) : "null";
    }
};
template <typename T> struct writer<std::unique_ptr<T>> {
    static std::string write(const std::unique_ptr<T> &value)
    {
        return value ? of(*value) : "null";
    }
};
template <typename T> struct writer<std::atomic<T>> {
    static std::string write(const std::atomic<T> &value)
    {
        return of(value.load());
    }
};
template <typename... Ts> struct writer<std::variant<Ts...>> {
    static std::string write(const std::variant<Ts...> &value)
    {
        return value.valueless_by_exception() ? "null"
                                              : std::visit([](const auto &v) { return of(v); }, value);
    }
};
template <typename T> struct writer<ROOT::RNTupleCardinality<T>> {
    static std::string write(const ROOT::RNTupleCardinality<T> &value)
    {
        return std::to_string(static_cast<T>(value));
    }
};
template <std::size_t N> struct writer<std::bitset<N>> {
    static std::string write(const std::bitset<N> &value)
    {
        std::string result = "[";
        for (std::size_t i = 0; i < N; i++)
            result += (i ? "," : "") + of(static_cast<bool>(value[i]));
        return result + "]";
    }
};

template <typename T> std::string of(const T &value)
{
    return writer<T>::write(value);
}

} // namespace json

/* ---- a data set: fields, each with the function that gives its value in an entry ---- */

class DataSet
{
  public:
    using Options = ROOT::RNTupleWriteOptions;

    explicit DataSet(std::string name, std::string description = "")
        : fName(std::move(name)), fModel(ROOT::RNTupleModel::CreateBare())
    {
        if (!description.empty())
            fModel->SetDescription(description);
    }

    ROOT::RNTupleModel &Model()
    {
        return *fModel;
    }
    Options &WriteOptions()
    {
        return fOptions;
    }

    /* A field of type T. `set` is called with the object and the number of the entry. */
    template <typename T>
    ROOT::RFieldBase &Add(const std::string &name, std::function<void(T &, std::uint64_t)> set)
    {
        return Add<T>(std::make_unique<ROOT::RField<T>>(name), set);
    }

    template <typename T>
    ROOT::RFieldBase &Add(std::unique_ptr<ROOT::RFieldBase> field,
                          std::function<void(T &, std::uint64_t)> set)
    {
        auto &added = *field;
        auto object = std::make_shared<T>();
        const std::string name = field->GetFieldName();
        fFields.push_back({name, [object, set](std::uint64_t entry) { set(*object, entry); },
                           [object] { return static_cast<void *>(object.get()); }, Viewer<T>(name)});
        fModel->AddField(std::move(field));
        return added;
    }

    /* A field without a C++ type of its own; ROOT's reader returns its bytes, which have the layout of T. */
    template <typename T>
    void AddUntyped(std::unique_ptr<ROOT::RFieldBase> field, std::function<void(T &, std::uint64_t)> set)
    {
        const std::string name = field->GetFieldName();
        Add<T>(std::move(field), set);
        fFields.back().view = [name](ROOT::RNTupleReader &reader) -> Value {
            auto view = std::make_shared<ROOT::RNTupleView<void>>(reader.GetView<void>(name));
            return [view](std::uint64_t entry) {
                (*view)(entry);
                return json::of(*static_cast<const T *>(view->GetValue().template GetPtr<void>().get()));
            };
        };
    }

    /* A projected field: nothing is written, but it can be read. */
    template <typename T>
    void AddProjected(const std::string &name, std::map<std::string, std::string> sources)
    {
        auto field = std::make_unique<ROOT::RField<T>>(name);
        fModel->AddProjectedField(std::move(field),
                                  [sources](const std::string &field) { return sources.at(field); });
        fProjected.push_back({name, nullptr, nullptr, Viewer<T>(name)});
    }

    /* Writes `entries` entries into `directory`; a cluster ends before each number of `clusters`, a cluster
     * group before each number of `groups`. Calls `before` with the writer before each entry. */
    void Write(TDirectory &directory, std::uint64_t entries, std::vector<std::uint64_t> clusters = {},
               std::vector<std::uint64_t> groups = {},
               std::function<void(ROOT::RNTupleWriter &, std::uint64_t)> before = nullptr)
    {
        auto writer = ROOT::RNTupleWriter::Append(fModel->Clone(), fName, directory, fOptions);
        Fill(*writer, entries, clusters, groups, before);
    }

    void Fill(ROOT::RNTupleWriter &writer, std::uint64_t entries, std::vector<std::uint64_t> clusters,
              std::vector<std::uint64_t> groups,
              std::function<void(ROOT::RNTupleWriter &, std::uint64_t)> before)
    {
        auto contains = [](const std::vector<std::uint64_t> &numbers, std::uint64_t number) {
            return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
        };
        auto entry = writer.GetModel().CreateBareEntry();
        for (const auto &field : fFields)
            entry->BindRawPtr(field.name, field.memory());
        for (std::uint64_t i = 0; i < entries; i++) {
            if (contains(groups, i))
                writer.CommitCluster(true);
            else if (contains(clusters, i))
                writer.CommitCluster();
            if (before)
                before(writer, i);
            for (const auto &field : fFields)
                field.set(i);
            writer.Fill(*entry);
        }
    }

    /* {"entries": n, "fields": {"field": [value, ...], ...}} from ROOT's reader. */
    std::string Read(const std::string &file, const std::string &path) const
    {
        auto reader = ROOT::RNTupleReader::Open(path, file);
        std::string result = "{\"entries\":" + std::to_string(reader->GetNEntries()) + ",\"fields\":{";
        const char *separator = "";
        auto add = [&](const Field &field) {
            auto value = field.view(*reader);
            result += separator + json::of_text(field.name) + ":[";
            separator = ",";
            for (std::uint64_t i = 0; i < reader->GetNEntries(); i++)
                result += (i ? "," : "") + value(i);
            result += "]";
        };
        for (const auto &field : fFields)
            add(field);
        for (const auto &field : fProjected)
            add(field);
        return result + "}}";
    }

  private:
    using Value = std::function<std::string(std::uint64_t)>;
    struct Field {
        std::string name;
        std::function<void(std::uint64_t)> set;
        std::function<void *()> memory;
        std::function<Value(ROOT::RNTupleReader &)> view;
    };

    template <typename T> static std::function<Value(ROOT::RNTupleReader &)> Viewer(const std::string &name)
    {
        return [name](ROOT::RNTupleReader &reader) -> Value {
            auto view = std::make_shared<ROOT::RNTupleView<T>>(reader.GetView<T>(name));
            return [view](std::uint64_t entry) { return json::of((*view)(entry)); };
        };
    }

    std::string fName;
    std::unique_ptr<ROOT::RNTupleModel> fModel;
    Options fOptions;
    std::vector<Field> fFields, fProjected;
};

/* Names and numbers that are the same on every machine: a small generator of our own. */
struct Random {
    std::uint64_t state;
    explicit Random(std::uint64_t seed) : state(seed * 0x9E3779B97F4A7C15u + 1)
    {
    }
    std::uint64_t Next()
    {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        return state * 0x2545F4914F6CDD1Du;
    }
    double Uniform()
    {
        return static_cast<double>(Next() >> 11) / 9007199254740992.0;
    }
    std::uint64_t Below(std::uint64_t bound)
    {
        return Next() % bound;
    }
};

#endif
