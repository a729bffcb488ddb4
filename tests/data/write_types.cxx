/* SPDX-License-Identifier: MIT
 *
 * types.root: every kind of field that the RNTuple specification names, alone and nested, in three clusters
 * of two cluster groups.
 */
#include "dataset.hxx"

#include <TBufferFile.h>
#include <TClass.h>
#include <TDictAttributeMap.h>

namespace types
{

enum class Color : std::int16_t { kNone = -300, kRed = 1, kBlue = 2 };

struct Point {
    float x = 0;
    std::int16_t y = 0;
    std::string json() const
    {
        return "{\"x\":" + json::of(x) + ",\"y\":" + json::of(y) + "}";
    }
};

struct Named {
    std::string label;
    std::vector<float> values;
    std::string json() const
    {
        return "{\"label\":" + json::of(label) + ",\"values\":" + json::of(values) + "}";
    }
};

struct Derived : public Point, public Named {
    double own = 0;
    std::int32_t grid[2][3] = {};
    std::string json() const
    {
        std::array<std::array<std::int32_t, 3>, 2> rows;
        for (int i = 0; i < 2; i++)
            for (int k = 0; k < 3; k++)
                rows[i][k] = grid[i][k];
        return "{\":_0\":" + Point::json() + ",\":_1\":" + Named::json() + ",\"own\":" + json::of(own) +
               ",\"grid\":" + json::of(rows) + "}";
    }
};

struct Empty {
    std::string json() const
    {
        return "{}";
    }
};

/* An object that only ROOT's streamers can write; shown as the streamed bytes, in hexadecimal digits. */
struct Streamed {
    std::int32_t number = 0;
    std::string text;
    std::string json() const
    {
        TBufferFile buffer(TBuffer::kWrite);
        TClass::GetClass("types::Streamed")->Streamer(const_cast<Streamed *>(this), buffer);
        std::string digits;
        for (int i = 0; i < buffer.Length(); i++) {
            char byte[3];
            snprintf(byte, sizeof(byte), "%02x", static_cast<unsigned char>(buffer.Buffer()[i]));
            digits += byte;
        }
        return "\"" + digits + "\"";
    }
};

const std::uint64_t kEntries = 30;

template <typename T> void add_integer(DataSet &set, const char *name)
{
    set.Add<T>(name, [](T &v, std::uint64_t i) {
        const T values[] = {std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), 0, 1,
                            static_cast<T>(-1)};
        v = i % 7 < 5 ? values[i % 7] : static_cast<T>(Random(i).Next());
    });
}

template <typename T> void add_real(DataSet &set, const char *name)
{
    set.Add<T>(name, [](T &v, std::uint64_t i) {
        using limits = std::numeric_limits<T>;
        const T values[] = {limits::min(),        limits::max(),       limits::lowest(),
                            limits::infinity(),   -limits::infinity(), limits::quiet_NaN(),
                            limits::denorm_min(), static_cast<T>(-0.0)};
        v = i % 11 < 8 ? values[i % 11] : static_cast<T>(Random(i).Uniform() - 0.5);
    });
}

std::string word(std::uint64_t i)
{
    const std::string words[] = {"",           "a", "two words", "na\u00efve", "\u65e5\u672c", "\"quoted\"\\",
                                 "line\nbreak"};
    return words[i % 7];
}

void add_plain(DataSet &set)
{
    set.Add<bool>("bool", [](auto &v, auto i) { v = i % 3 == 1; });
    set.Add<char>("char", [](auto &v, auto i) { v = static_cast<char>(i * 37); });
    set.Add<std::byte>("byte", [](auto &v, auto i) { v = static_cast<std::byte>(255 - i); });
    add_integer<std::int8_t>(set, "int8");
    add_integer<std::uint8_t>(set, "uint8");
    add_integer<std::int16_t>(set, "int16");
    add_integer<std::uint16_t>(set, "uint16");
    add_integer<std::int32_t>(set, "int32");
    add_integer<std::uint32_t>(set, "uint32");
    add_integer<std::int64_t>(set, "int64");
    add_integer<std::uint64_t>(set, "uint64");
    add_real<float>(set, "float");
    add_real<double>(set, "double");
    set.Add<std::string>("string", [](auto &v, auto i) { v = word(i); });
    set.Add<Color>("enum", [](auto &v, auto i) { v = i % 3 ? Color::kBlue : Color::kNone; });
    set.Add<std::atomic<std::int32_t>>("atomic",
                                       [](auto &v, auto i) { v = static_cast<std::int32_t>(i) - 5; });
}

void add_collections(DataSet &set)
{
    set.Add<std::vector<std::int32_t>>("vector_int32", [](auto &v, auto i) { v.assign(i % 4, i); });
    set.Add<std::vector<bool>>("vector_bool", [](auto &v, auto i) {
        v.clear();
        for (std::uint64_t k = 0; k < i % 5; k++)
            v.push_back((i + k) % 2);
    });
    set.Add<std::vector<std::string>>("vector_string", [](auto &v, auto i) {
        v.clear();
        for (std::uint64_t k = 0; k < i % 3; k++)
            v.push_back(word(i + k));
    });
    set.Add<std::vector<std::vector<std::vector<float>>>>("vector_3", [](auto &v, auto i) {
        v.assign(i % 3, std::vector<std::vector<float>>(i % 4, std::vector<float>(i % 2, i / 4.f)));
    });
    set.Add<ROOT::RVec<double>>("rvec_double", [](auto &v, auto i) { v.assign(i % 3, i / 3.0); });
    set.Add<std::set<std::int64_t>>("set_int64", [](auto &v, auto i) {
        v.clear();
        for (std::uint64_t k = 0; k < i % 4; k++)
            v.insert(static_cast<std::int64_t>(k) - 2);
    });
    /* Sets and maps for which ROOT ships compiled dictionaries: interpreted ones cannot be written. */
    set.Add<std::multiset<double>>("multiset", [](auto &v, auto i) { v = {i / 2.0, 1.0, i / 2.0}; });
    set.Add<std::map<std::string, std::string>>("map", [](auto &v, auto i) {
        v.clear();
        for (std::uint64_t k = 0; k < i % 3; k++)
            v["key " + std::to_string(k)] = word(i);
    });
    set.Add<std::unordered_map<std::string, std::int32_t>>("unordered_map", [](auto &v, auto i) {
        v.clear();
        if (i % 2)
            v[word(i)] = static_cast<std::int32_t>(i);
    });
    set.Add<std::vector<Derived>>("vector_class", [](auto &v, auto i) {
        v.resize(i % 3);
        for (auto &item : v) {
            item.x = i;
            item.label = word(i);
            item.values.assign(i % 2, 2.5f);
            item.grid[1][2] = static_cast<std::int32_t>(i);
        }
    });
    set.Add<std::vector<char>>("no_items", [](auto &, auto) {});
}

void add_arrays(DataSet &set)
{
    set.Add<std::array<std::int32_t, 3>>("array", [](auto &v, auto i) {
        v = {static_cast<std::int32_t>(i), -1, static_cast<std::int32_t>(2 * i)};
    });
    set.Add<std::array<std::array<float, 2>, 3>>("array_array", [](auto &v, auto i) {
        v = {{{i + 0.f, i + .25f}, {i + .5f, 0.f}, {-1.f, -2.f}}};
    });
    set.Add<std::array<std::string, 2>>("array_string", [](auto &v, auto i) { v = {word(i), word(i + 1)}; });
    set.Add<std::array<std::vector<std::uint8_t>, 2>>("array_vector", [](auto &v, auto i) {
        v[0].assign(i % 3, i);
        v[1].assign(i % 2, 7);
    });
    set.Add<std::array<Point, 2>>("array_record", [](auto &v, auto i) {
        v[0].x = i;
        v[1].y = static_cast<std::int16_t>(i);
    });
    set.Add<std::vector<std::array<std::int16_t, 2>>>("vector_array", [](auto &v, auto i) {
        v.assign(i % 3, {static_cast<std::int16_t>(i), -3});
    });
    set.Add<std::bitset<1>>("bitset_1", [](auto &v, auto i) { v = i % 2; });
    set.Add<std::bitset<65>>("bitset_65", [](auto &v, auto i) {
        v.reset();
        v[i] = v[64] = true;
    });
    set.Add<std::vector<std::bitset<9>>>("vector_bitset",
                                         [](auto &v, auto i) { v.assign(i % 3, i * 17 % 512); });
    set.Add<std::array<std::bitset<5>, 2>>("array_bitset", [](auto &v, auto i) {
        v = {i % 32, 31 - i % 32};
    });
}

void add_records(DataSet &set)
{
    set.Add<Point>("record", [](auto &v, auto i) {
        v.x = i / 2.f;
        v.y = static_cast<std::int16_t>(-static_cast<int>(i));
    });
    set.Add<Derived>("derived", [](auto &v, auto i) {
        v.x = i;
        v.label = word(i);
        v.values.assign(i % 3, 0.5f);
        v.own = i * 1e100;
        v.grid[0][1] = static_cast<std::int32_t>(i);
    });
    set.Add<Empty>("empty_record", [](auto &, auto) {});
    set.Add<std::pair<std::string, std::int32_t>>("pair", [](auto &v, auto i) {
        v = {word(i), static_cast<std::int32_t>(i)};
    });
    set.Add<std::tuple<std::int8_t, std::vector<float>, std::pair<bool, double>>>(
        "tuple", [](auto &v, auto i) {
            v = {static_cast<std::int8_t>(i), std::vector<float>(i % 2, 1.5f), {i % 2 == 0, i / 10.0}};
        });
}

void add_choices(DataSet &set)
{
    set.Add<std::variant<std::int32_t, std::string, std::vector<float>>>("variant", [](auto &v, auto i) {
        if (i % 3 == 0)
            v = static_cast<std::int32_t>(i);
        else if (i % 3 == 1)
            v = word(i);
        else
            v = std::vector<float>(i % 4, 0.125f);
    });
    set.Add<std::vector<std::variant<double, std::int8_t>>>("vector_variant", [](auto &v, auto i) {
        v.clear();
        for (std::uint64_t k = 0; k < i % 4; k++) {
            if ((i + k) % 2)
                v.push_back(k / 4.0);
            else
                v.push_back(static_cast<std::int8_t>(k));
        }
    });
    set.Add<std::variant<Point, std::optional<std::string>>>("variant_nested", [](auto &v, auto i) {
        if (i % 2)
            v = Point{static_cast<float>(i), 1};
        else if (i % 4)
            v = std::optional<std::string>(word(i));
        else
            v = std::optional<std::string>();
    });
    set.Add<std::optional<std::int32_t>>("optional", [](auto &v, auto i) {
        v.reset();
        if (i % 3)
            v = static_cast<std::int32_t>(i);
    });
    set.Add<std::optional<std::vector<std::string>>>("optional_vector", [](auto &v, auto i) {
        v.reset();
        if (i % 4)
            v = std::vector<std::string>(i % 3, word(i));
    });
    set.Add<std::vector<std::optional<Point>>>("vector_optional", [](auto &v, auto i) {
        v.assign(i % 3, std::nullopt);
        if (!v.empty())
            v.back() = Point{static_cast<float>(i), 2};
    });
    set.Add<std::unique_ptr<Named>>("unique_ptr", [](auto &v, auto i) {
        v.reset();
        if (i % 2) {
            v = std::make_unique<Named>();
            v->label = word(i);
            v->values.assign(i % 4, 3.f);
        }
    });
}

/* Records and collections without a C++ type: the schema is built by hand. */
struct UntypedPair {
    std::int32_t a = 0;
    float b = 0;
    std::string json() const
    {
        return "{\"a\":" + json::of(a) + ",\"b\":" + json::of(b) + "}";
    }
};

std::unique_ptr<ROOT::RFieldBase> untyped_record(const char *name)
{
    std::vector<std::unique_ptr<ROOT::RFieldBase>> items;
    items.push_back(std::make_unique<ROOT::RField<std::int32_t>>("a"));
    items.push_back(std::make_unique<ROOT::RField<float>>("b"));
    return std::make_unique<ROOT::RRecordField>(name, std::move(items));
}

void add_untyped(DataSet &set)
{
    set.AddUntyped<UntypedPair>(untyped_record("untyped_record"), [](auto &v, auto i) {
        v.a = static_cast<std::int32_t>(i);
        v.b = i / 8.f;
    });
    set.AddUntyped<std::vector<UntypedPair>>(
        ROOT::RVectorField::CreateUntyped("untyped_collection", untyped_record("_0")), [](auto &v, auto i) {
            v.resize(i % 3);
            for (auto &item : v)
                item.a = static_cast<std::int32_t>(i);
        });
}

void add_streamed(DataSet &set)
{
    TClass *description = TClass::GetClass("types::Streamed");
    description->CreateAttributeMap();
    description->GetAttributeMap()->AddProperty("rntuple.streamerMode", "true");
    set.AddUntyped<Streamed>(ROOT::RFieldBase::Create("streamed", "types::Streamed").Unwrap(),
                             [](auto &v, auto i) {
                                 v.number = static_cast<std::int32_t>(i);
                                 v.text = word(i);
                             });
}

void add_projected(DataSet &set)
{
    set.AddProjected<float>("projected_float", {{"projected_float", "float"}});
    set.AddProjected<std::vector<float>>(
        "projected_x", {{"projected_x", "vector_class"}, {"projected_x._0", "vector_class._0.:_0.x"}});
    set.AddProjected<ROOT::RNTupleCardinality<std::uint32_t>>("cardinality_32",
                                                              {{"cardinality_32", "vector_string"}});
    set.AddProjected<ROOT::RNTupleCardinality<std::uint64_t>>("cardinality_64",
                                                              {{"cardinality_64", "vector_3"}});
}

} // namespace types

std::string write_types(const std::string &path)
{
    DataSet set("types", "A field of every kind");
    types::add_plain(set);
    types::add_collections(set);
    types::add_arrays(set);
    types::add_records(set);
    types::add_choices(set);
    types::add_untyped(set);
    types::add_streamed(set);
    types::add_projected(set);
    {
        std::unique_ptr<TFile> file(TFile::Open(path.c_str(), "RECREATE", "", 505));
        set.Write(*file, types::kEntries, {7, 8}, {20});
    }
    return "{\"types\":" + set.Read(path, "types") + "}";
}
