/* SPDX-License-Identifier: MIT
 *
 * Random values of any type in a random schema. Extremes and empty values are as likely as others.
 * Structures that are declared elsewhere have a member `fill(Random &)`.
 */
#ifndef TESTS_DIFFERENTIAL_RANDOM_VALUES_HXX
#define TESTS_DIFFERENTIAL_RANDOM_VALUES_HXX

#include "dataset.hxx"

#include <limits>

namespace values
{

template <typename T> void fill(T &value, Random &random);

/* Mostly short, sometimes empty, rarely long. */
inline std::size_t length(Random &random)
{
    switch (random.Below(8)) {
    case 0:
    case 1:
        return 0;
    case 2:
        return random.Below(20);
    default:
        return 1 + random.Below(3);
    }
}

inline std::string text(Random &random)
{
    static const char *const pieces[] = {"a", "word ", "\xc3\xa9", "\xe6\x97\xa5", "\"", "\\", "\n", "0"};
    std::string result;
    for (std::size_t left = length(random); left > 0; left--)
        result += pieces[random.Below(std::size(pieces))];
    return result;
}

template <typename T> T real(Random &random)
{
    using limits = std::numeric_limits<T>;
    const T extremes[] = {limits::min(),        limits::max(),       limits::lowest(),
                          limits::infinity(),   -limits::infinity(), limits::quiet_NaN(),
                          limits::denorm_min(), static_cast<T>(-0.0)};
    return random.Below(4) ? static_cast<T>((random.Uniform() - 0.5) * 1000) : extremes[random.Below(8)];
}

template <typename T> T integer(Random &random)
{
    using limits = std::numeric_limits<T>;
    const T extremes[] = {limits::min(), limits::max(), 0, 1, static_cast<T>(-1)};
    return random.Below(4) ? static_cast<T>(random.Next() >> random.Below(64)) : extremes[random.Below(5)];
}

template <typename T> struct filler {
    static void fill(T &value, Random &random)
    {
        if constexpr (std::is_same_v<T, bool>)
            value = random.Below(2);
        else if constexpr (std::is_same_v<T, std::byte>)
            value = static_cast<std::byte>(random.Below(256));
        else if constexpr (std::is_floating_point_v<T>)
            value = real<T>(random);
        else if constexpr (std::is_integral_v<T>)
            value = integer<T>(random);
        else if constexpr (std::is_enum_v<T>)
            value = static_cast<T>(integer<std::underlying_type_t<T>>(random));
        else
            value.fill(random);
    }
};

template <> struct filler<std::string> {
    static void fill(std::string &value, Random &random)
    {
        value = text(random);
    }
};
template <typename T> struct filler<std::vector<T>> {
    static void fill(std::vector<T> &value, Random &random)
    {
        value.clear();
        value.resize(length(random));
        for (std::size_t i = 0; i < value.size(); i++) {
            if constexpr (std::is_same_v<T, bool>)
                value[i] = random.Below(2);
            else
                values::fill(value[i], random);
        }
    }
};
template <typename T> struct filler<ROOT::RVec<T>> {
    static void fill(ROOT::RVec<T> &value, Random &random)
    {
        value.clear();
        value.resize(length(random));
        for (auto &item : value)
            values::fill(item, random);
    }
};
template <typename T, std::size_t N> struct filler<std::array<T, N>> {
    static void fill(std::array<T, N> &value, Random &random)
    {
        for (auto &item : value)
            values::fill(item, random);
    }
};
template <typename Set> void fill_set(Set &value, Random &random)
{
    value.clear();
    for (std::size_t left = length(random); left > 0; left--) {
        typename Set::key_type key;
        values::fill(key, random);
        if (key == key) /* NaN cannot be ordered */
            value.insert(key);
    }
}
template <typename Map> void fill_map(Map &value, Random &random)
{
    value.clear();
    for (std::size_t left = length(random); left > 0; left--) {
        typename Map::key_type key;
        values::fill(key, random);
        values::fill(value[key], random);
    }
}
template <typename T> struct filler<std::set<T>> {
    static void fill(std::set<T> &value, Random &random)
    {
        fill_set(value, random);
    }
};
template <typename T> struct filler<std::multiset<T>> {
    static void fill(std::multiset<T> &value, Random &random)
    {
        fill_set(value, random);
    }
};
template <typename K, typename V> struct filler<std::map<K, V>> {
    static void fill(std::map<K, V> &value, Random &random)
    {
        fill_map(value, random);
    }
};
template <typename K, typename V> struct filler<std::unordered_map<K, V>> {
    static void fill(std::unordered_map<K, V> &value, Random &random)
    {
        fill_map(value, random);
    }
};
template <typename A, typename B> struct filler<std::pair<A, B>> {
    static void fill(std::pair<A, B> &value, Random &random)
    {
        values::fill(value.first, random);
        values::fill(value.second, random);
    }
};
template <typename... Ts> struct filler<std::tuple<Ts...>> {
    static void fill(std::tuple<Ts...> &value, Random &random)
    {
        std::apply([&random](auto &...items) { (values::fill(items, random), ...); }, value);
    }
};
template <typename T> struct filler<std::optional<T>> {
    static void fill(std::optional<T> &value, Random &random)
    {
        value.reset();
        if (random.Below(3))
            values::fill(value.emplace(), random);
    }
};
template <typename T> struct filler<std::unique_ptr<T>> {
    static void fill(std::unique_ptr<T> &value, Random &random)
    {
        value.reset();
        if (random.Below(3))
            values::fill(*(value = std::make_unique<T>()), random);
    }
};
template <typename T> struct filler<std::atomic<T>> {
    static void fill(std::atomic<T> &value, Random &random)
    {
        T plain;
        values::fill(plain, random);
        value = plain;
    }
};
template <typename... Ts> struct filler<std::variant<Ts...>> {
    template <std::size_t I>
    static void choose(std::variant<Ts...> &value, std::size_t chosen, Random &random)
    {
        if (chosen == I)
            values::fill(value.template emplace<I>(), random);
        else if constexpr (I + 1 < sizeof...(Ts))
            choose<I + 1>(value, chosen, random);
    }
    static void fill(std::variant<Ts...> &value, Random &random)
    {
        choose<0>(value, random.Below(sizeof...(Ts)), random);
    }
};
template <std::size_t N> struct filler<std::bitset<N>> {
    static void fill(std::bitset<N> &value, Random &random)
    {
        for (std::size_t i = 0; i < N; i++)
            value[i] = random.Below(2);
    }
};

template <typename T> void fill(T &value, Random &random)
{
    filler<T>::fill(value, random);
}

} // namespace values

#endif
