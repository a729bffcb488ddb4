/* SPDX-License-Identifier: MIT
 *
 * encodings.root: every column encoding that ROOT writes, all widths of the packed floating-point numbers
 * among them, in small pages and two clusters. SplitReal16 is in the specification, but no writer makes it.
 */
#include "dataset.hxx"

#include <type_traits>

namespace encodings
{

using Type = ROOT::ENTupleColumnType;
const std::uint64_t kEntries = 150;

template <typename T> T value(std::uint64_t i)
{
    Random random(i + 1);
    if constexpr (std::is_floating_point_v<T>) {
        /* Numbers that 16 bits can hold, and some that need more. */
        return static_cast<T>(i % 10 ? 4 * random.Uniform() - 2 : std::ldexp(random.Uniform(), i % 40 - 30));
    } else {
        const T extremes[] = {std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), 0};
        return i % 16 < 3 ? extremes[i % 16] : static_cast<T>(random.Next() >> random.Below(64));
    }
}

template <typename T> std::unique_ptr<ROOT::RField<T>> field(const std::string &name, std::vector<Type> types)
{
    auto result = std::make_unique<ROOT::RField<T>>(name);
    result->SetColumnRepresentatives({types});
    return result;
}

template <typename T> void add_number(DataSet &set, const char *name, Type type)
{
    auto fill = [](T &v, std::uint64_t i) { v = value<T>(i); };
    set.Add<T>(field<T>(name, {type}), fill);
}

void add_integers(DataSet &set)
{
    set.Add<bool>(field<bool>("bool_Bit", {Type::kBit}), [](auto &v, auto i) { v = Random(i).Below(2); });
    set.Add<char>(field<char>("char_Char", {Type::kChar}), [](auto &v, auto i) { v = static_cast<char>(i); });
    set.Add<std::byte>(field<std::byte>("byte_Byte", {Type::kByte}),
                       [](auto &v, auto i) { v = static_cast<std::byte>(255 - i); });
    add_number<std::int8_t>(set, "int8_Int8", Type::kInt8);
    add_number<std::uint8_t>(set, "uint8_UInt8", Type::kUInt8);
    add_number<std::int16_t>(set, "int16_Int16", Type::kInt16);
    add_number<std::int16_t>(set, "int16_SplitInt16", Type::kSplitInt16);
    add_number<std::uint16_t>(set, "uint16_UInt16", Type::kUInt16);
    add_number<std::uint16_t>(set, "uint16_SplitUInt16", Type::kSplitUInt16);
    add_number<std::int32_t>(set, "int32_Int32", Type::kInt32);
    add_number<std::int32_t>(set, "int32_SplitInt32", Type::kSplitInt32);
    add_number<std::uint32_t>(set, "uint32_UInt32", Type::kUInt32);
    add_number<std::uint32_t>(set, "uint32_SplitUInt32", Type::kSplitUInt32);
    add_number<std::int64_t>(set, "int64_Int64", Type::kInt64);
    add_number<std::int64_t>(set, "int64_SplitInt64", Type::kSplitInt64);
    add_number<std::uint64_t>(set, "uint64_UInt64", Type::kUInt64);
    add_number<std::uint64_t>(set, "uint64_SplitUInt64", Type::kSplitUInt64);
}

void add_reals(DataSet &set)
{
    add_number<float>(set, "float_Real16", Type::kReal16);
    add_number<float>(set, "float_Real32", Type::kReal32);
    add_number<float>(set, "float_SplitReal32", Type::kSplitReal32);
    add_number<double>(set, "double_Real16", Type::kReal16);
    add_number<double>(set, "double_Real32", Type::kReal32);
    add_number<double>(set, "double_SplitReal32", Type::kSplitReal32);
    add_number<double>(set, "double_Real64", Type::kReal64);
    add_number<double>(set, "double_SplitReal64", Type::kSplitReal64);
}

template <typename T> void add_packed(DataSet &set, const std::string &type, unsigned first, unsigned step)
{
    auto fill = [](T &v, std::uint64_t i) { v = value<T>(i); };
    for (unsigned bits = first; bits <= 31; bits += step) {
        auto truncated = std::make_unique<ROOT::RField<T>>(type + "_Real32Trunc_" + std::to_string(bits));
        truncated->SetTruncated(bits);
        set.Add<T>(std::move(truncated), fill);
    }
    auto fill_in_range = [](T &v, std::uint64_t i) {
        v = static_cast<T>(i == 0 ? -3.5 : i == 1 ? 7.25 : 10.75 * Random(i).Uniform() - 3.5);
    };
    for (unsigned bits = first == 10 ? 1 : first; bits <= 32; bits += step) {
        auto quantized = std::make_unique<ROOT::RField<T>>(type + "_Real32Quant_" + std::to_string(bits));
        quantized->SetQuantized(bits, {static_cast<T>(-3.5), static_cast<T>(7.25)});
        set.Add<T>(std::move(quantized), fill_in_range);
    }
}

void add_indices(DataSet &set)
{
    const std::pair<const char *, Type> types[] = {{"Index32", Type::kIndex32},
                                                   {"Index64", Type::kIndex64},
                                                   {"SplitIndex32", Type::kSplitIndex32},
                                                   {"SplitIndex64", Type::kSplitIndex64}};
    for (const auto &[name, type] : types) {
        set.Add<std::vector<std::uint8_t>>(
            field<std::vector<std::uint8_t>>(std::string("vector_") + name, {type}),
            [](auto &v, auto i) { v.assign(Random(i).Below(4), i); });
        set.Add<std::string>(
            field<std::string>(std::string("string_") + name, {type, Type::kChar}),
            [](auto &v, auto i) { v = std::string(i % 3, static_cast<char>('a' + i % 26)); });
    }
    set.Add<std::variant<bool, std::uint8_t>>("variant_Switch", [](auto &v, auto i) {
        if (Random(i).Below(2))
            v = i % 3 == 0;
        else
            v = static_cast<std::uint8_t>(i);
    });
}

} // namespace encodings

std::string write_encodings(const std::string &path)
{
    DataSet set("encodings", "A field for each column encoding");
    encodings::add_integers(set);
    encodings::add_reals(set);
    encodings::add_packed<float>(set, "float", 10, 1);
    encodings::add_packed<double>(set, "double", 11, 10);
    encodings::add_indices(set);
    set.WriteOptions().SetInitialUnzippedPageSize(64);
    set.WriteOptions().SetMaxUnzippedPageSize(256);
    {
        std::unique_ptr<TFile> file(TFile::Open(path.c_str(), "RECREATE", "", 505));
        set.Write(*file, encodings::kEntries, {77});
    }
    return "{\"encodings\":" + set.Read(path, "encodings") + "}";
}
