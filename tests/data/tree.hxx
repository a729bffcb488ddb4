/* SPDX-License-Identifier: MIT
 *
 * For scripts that ROOT's interpreter runs: writes TTrees with one function per branch, and prints as JSON
 * what was written, its shape, and what ROOT's own reader then finds.
 */
#ifndef TESTS_DATA_TREE_HXX
#define TESTS_DATA_TREE_HXX

#include "dataset.hxx"

#include <TBranchElement.h>
#include <TClonesArray.h>
#include <TLeaf.h>
#include <TTree.h>

#include <deque>
#include <list>
#include <unordered_set>

/* ---- values as JSON: what dataset.hxx lacks ---- */

/* A member whose length another one stores: `counted(values, count)`. */
template <typename T> struct Counted {
    const T *items;
    std::size_t count;
};
template <typename T> Counted<T> counted(const T *items, std::size_t count)
{
    return {items, count};
}

/* Several arrays of the same length: `both(arrays, count)`. */
template <typename T, std::size_t N> std::array<Counted<T>, N> both(T *const (&items)[N], std::size_t count)
{
    std::array<Counted<T>, N> result{};
    for (std::size_t i = 0; i < N; i++)
        result[i] = {items[i], items[0] ? count : 0};
    return result;
}

/* What dataset.hxx writes as null: `pointer(owner)`. */
template <typename T> T *pointer(const std::unique_ptr<T> &owner)
{
    return owner.get();
}

/* Such a length, which other readers take for unsigned: `counter(count)`. */
inline unsigned counter(int count)
{
    return static_cast<unsigned>(count);
}

namespace json
{

template <typename T> std::string of_pointer(const T *items, std::size_t count)
{
    std::string result = "[";
    for (std::size_t i = 0; i < count; i++)
        result += (i ? "," : "") + of(items[i]);
    return result + "]";
}

template <typename T, std::size_t N> struct writer<T[N]> {
    static std::string write(const T (&value)[N])
    {
        return of_pointer(value, N);
    }
};
template <typename T> struct writer<Counted<T>> {
    static std::string write(const Counted<T> &value)
    {
        return of_pointer(value.items, value.count);
    }
};
/* A pointer to an object: a list of none or one, as an optional. */
template <typename T> struct writer<T *> {
    static std::string write(const T *value)
    {
        return of_pointer(value, value != nullptr);
    }
};
template <> struct writer<TString> {
    static std::string write(const TString &value)
    {
        return of_text(std::string(value.Data(), value.Length()));
    }
};
template <> struct writer<char *> {
    static std::string write(const char *value)
    {
        return of_text(value ? value : "");
    }
};
#define WRITES_A_RANGE(Range)                                                                                \
    template <typename T> struct writer<Range<T>> {                                                          \
        static std::string write(const Range<T> &value)                                                      \
        {                                                                                                    \
            return of_range(value);                                                                          \
        }                                                                                                    \
    };
WRITES_A_RANGE(std::list)
WRITES_A_RANGE(std::deque)
WRITES_A_RANGE(std::unordered_set)
#undef WRITES_A_RANGE
template <typename K, typename V> struct writer<std::multimap<K, V>> {
    static std::string write(const std::multimap<K, V> &value)
    {
        return of_range(value);
    }
};

} // namespace json

/* ---- shapes as JSON: a dtype, "string", ["list", S], ["array", N, S], ["map", K, V], or an object of
 * members ---- */

namespace shape
{

template <typename T> std::string of();

template <typename T> struct teller {
    static std::string tell()
    {
        if constexpr (std::is_same_v<T, bool>)
            return "\"|b1\"";
        else if constexpr (std::is_floating_point_v<T>)
            return "\"<f" + std::to_string(sizeof(T)) + "\"";
        else if constexpr (std::is_enum_v<T>)
            return "\"<i" + std::to_string(sizeof(T)) + "\"";
        else if constexpr (std::is_integral_v<T>)
            return std::string(sizeof(T) == 1 ? "\"|" : "\"<") + (std::is_signed_v<T> ? "i" : "u") +
                   std::to_string(sizeof(T)) + "\"";
        else
            return T().shape();
    }
};
#define TELLS_A_STRING(Type)                                                                                 \
    template <> struct teller<Type> {                                                                        \
        static std::string tell()                                                                            \
        {                                                                                                    \
            return "\"string\"";                                                                             \
        }                                                                                                    \
    };
TELLS_A_STRING(std::string)
TELLS_A_STRING(TString)
TELLS_A_STRING(char *)
#undef TELLS_A_STRING
#define TELLS_A_LIST(Range)                                                                                  \
    template <typename T> struct teller<Range<T>> {                                                          \
        static std::string tell()                                                                            \
        {                                                                                                    \
            return "[\"list\"," + of<T>() + "]";                                                             \
        }                                                                                                    \
    };
TELLS_A_LIST(std::vector)
TELLS_A_LIST(ROOT::RVec)
TELLS_A_LIST(std::list)
TELLS_A_LIST(std::deque)
TELLS_A_LIST(std::set)
TELLS_A_LIST(std::multiset)
TELLS_A_LIST(std::unordered_set)
TELLS_A_LIST(Counted)
#undef TELLS_A_LIST
#define TELLS_A_MAP(Range)                                                                                   \
    template <typename K, typename V> struct teller<Range<K, V>> {                                           \
        static std::string tell()                                                                            \
        {                                                                                                    \
            return "[\"map\"," + of<K>() + "," + of<V>() + "]";                                              \
        }                                                                                                    \
    };
TELLS_A_MAP(std::map)
TELLS_A_MAP(std::multimap)
TELLS_A_MAP(std::unordered_map)
#undef TELLS_A_MAP
template <typename A, typename B> struct teller<std::pair<A, B>> {
    static std::string tell()
    {
        return "{\"first\":" + of<A>() + ",\"second\":" + of<B>() + "}";
    }
};
template <typename T, std::size_t N> struct teller<std::array<T, N>> {
    static std::string tell()
    {
        return "[\"array\"," + std::to_string(N) + "," + of<T>() + "]";
    }
};
template <typename T, std::size_t N> struct teller<T[N]> {
    static std::string tell()
    {
        return "[\"array\"," + std::to_string(N) + "," + of<T>() + "]";
    }
};
template <typename T> struct teller<T *> {
    static std::string tell()
    {
        return "[\"list\"," + of<T>() + "]";
    }
};
template <std::size_t N> struct teller<std::bitset<N>> {
    static std::string tell()
    {
        return "[\"list\",\"|b1\"]";
    }
};

template <typename T> std::string of()
{
    return teller<T>::tell();
}

} // namespace shape

/* ---- structures: TELLS(a, b, counted(c, b)) makes json() and shape() of the members ---- */

namespace members
{

/* "a, counted(b, a)" as {"a", "b"}. */
inline std::vector<std::string> names(const std::string &text)
{
    std::vector<std::string> result(1);
    int depth = 0;
    for (char c : text) {
        depth += (c == '(') - (c == ')');
        if (c == '(')
            result.back().clear();
        else if (c == ',' && depth == 0)
            result.emplace_back();
        else if (c == ',')
            result.back() += '|';
        else if (c != ' ' && c != '*' && c != ')')
            result.back() += c;
    }
    for (auto &name : result)
        name = name.substr(0, name.find('|'));
    return result;
}

inline std::string object(const std::string &text, const std::vector<std::string> &values)
{
    const auto keys = names(text);
    std::string result = "{";
    for (std::size_t i = 0; i < values.size(); i++)
        result += (i ? ",\"" : "\"") + keys.at(i) + "\":" + values[i];
    return result + "}";
}

/* Joins the members of two objects. */
inline std::string joined(const std::string &first, const std::string &second)
{
    return first.size() == 2    ? second
           : second.size() == 2 ? first
                                : first.substr(0, first.size() - 1) + "," + second.substr(1);
}

template <typename... Ts> std::string json(const char *text, const Ts &...values)
{
    return object(text, {::json::of(values)...});
}

template <typename... Ts> std::string shape(const char *text, const Ts &...)
{
    return object(text, {::shape::of<Ts>()...});
}

} // namespace members

#define TELLS(...)                                                                                           \
    std::string json() const                                                                                 \
    {                                                                                                        \
        return members::json(#__VA_ARGS__, __VA_ARGS__);                                                     \
    }                                                                                                        \
    std::string shape() const                                                                                \
    {                                                                                                        \
        return members::shape(#__VA_ARGS__, __VA_ARGS__);                                                    \
    }

/* The same for a structure whose base class also has names. */
#define TELLS_WITH(Base, ...)                                                                                \
    std::string json() const                                                                                 \
    {                                                                                                        \
        return members::joined(Base::json(), members::json(#__VA_ARGS__, __VA_ARGS__));                      \
    }                                                                                                        \
    std::string shape() const                                                                                \
    {                                                                                                        \
        return members::joined(Base::shape(), members::shape(#__VA_ARGS__, __VA_ARGS__));                    \
    }

/* ---- a tree: branches, each with the function that gives its value in an entry ---- */

class Tree
{
  public:
    template <typename T> using Set = std::function<void(T &, std::uint64_t)>;

    Tree(std::string name, std::string title = "") : fName(std::move(name)), fTitle(std::move(title))
    {
    }

    /* An object of any class, by TTree::Branch(name, pointer, ...). `Base`: a branch of this class has it. */
    template <typename T, typename Base = T>
    Tree &Object(const std::string &name, Set<T> set, int split = 99, int buffer = 32000)
    {
        auto memory = std::make_shared<Base *>(new T());
        Column column;
        column.name = name, column.shape = shape::of<T>();
        column.set = [memory, set](std::uint64_t entry) { set(static_cast<T &>(**memory), entry); };
        column.tell = [memory] { return json::of(static_cast<T &>(**memory)); };
        column.make = [=](TTree &tree) {
            if constexpr (std::is_same_v<T, Base>)
                tree.Branch(name.c_str(), memory.get(), buffer, split);
            else
                tree.Branch(name.c_str(), Base::Class()->GetName(), memory.get(), buffer, split);
        };
        column.read = [=](TTree &tree) {
            *memory = new T();
            tree.SetBranchAddress(name.c_str(), memory.get());
        };
        fColumns.push_back(column);
        return *this;
    }

    /* Objects of class T in a TClonesArray; `count` returns their number for an entry. */
    template <typename T>
    Tree &Clones(const std::string &name, std::function<unsigned(std::uint64_t)> count, Set<T> set,
                 int split = 99, int buffer = 32000)
    {
        auto memory = std::make_shared<TClonesArray *>(new TClonesArray(T::Class()));
        Column column;
        column.name = name, column.shape = "[\"list\"," + shape::of<T>() + "]";
        column.set = [=](std::uint64_t entry) {
            (*memory)->Clear("C");
            for (unsigned i = 0; i < count(entry); i++)
                set(*static_cast<T *>((*memory)->ConstructedAt(i)), entry * 1000 + i);
        };
        column.tell = [memory] {
            std::string result = "[";
            for (int i = 0; i < (*memory)->GetEntriesFast(); i++)
                result += (i ? "," : "") + json::of(*static_cast<T *>((*memory)->At(i)));
            return result + "]";
        };
        column.make = [=](TTree &tree) { tree.Branch(name.c_str(), memory.get(), buffer, split); };
        column.read = [=](TTree &tree) {
            *memory = new TClonesArray(T::Class());
            tree.SetBranchAddress(name.c_str(), memory.get());
        };
        fColumns.push_back(column);
        return *this;
    }

    /* A leaf list over a number, an array, or a structure with consecutive members. */
    template <typename T>
    Tree &Leaves(const std::string &name, const std::string &list, Set<T> set, int buffer = 32000)
    {
        auto memory = std::make_shared<T>();
        Column column = InPlace(name, list, memory.get(), buffer);
        column.shape = shape::of<T>();
        column.set = [memory, set](std::uint64_t entry) { set(*memory, entry); };
        column.tell = [memory] { return json::of(*memory); };
        fColumns.push_back(column);
        return *this;
    }

    /* At most `most` items, whose number another branch stores; added after that branch. */
    template <typename T, typename Count>
    Tree &Items(const std::string &name, const std::string &list, std::shared_ptr<Count> count,
                std::size_t most, Set<T> set, int buffer = 32000)
    {
        std::shared_ptr<T[]> memory(new T[most]());
        Column column = InPlace(name, list, memory.get(), buffer);
        column.shape = shape::of<std::vector<T>>();
        column.set = [=](std::uint64_t entry) {
            for (std::size_t i = 0; i < static_cast<std::size_t>(*count); i++)
                set(memory[i], entry * 1000 + i);
        };
        column.tell = [=] { return json::of_pointer(memory.get(), static_cast<std::size_t>(*count)); };
        fColumns.push_back(column);
        return *this;
    }

    /* The counter of Items. */
    template <typename Count>
    std::shared_ptr<Count> Counter(const std::string &name, const std::string &list, Set<Count> set)
    {
        auto memory = std::make_shared<Count>();
        Column column = InPlace(name, list, memory.get(), 32000);
        column.shape = shape::of<Count>();
        column.set = [memory, set](std::uint64_t entry) { set(*memory, entry); };
        column.tell = [memory] { return json::of(*memory); };
        fColumns.push_back(column);
        return memory;
    }

    /* Characters up to a zero: a leaf of type C. */
    Tree &Text(const std::string &name, Set<std::string> set, std::size_t most = 4096)
    {
        auto memory = std::make_shared<std::vector<char>>(most);
        Column column = InPlace(name, name + "/C", memory->data(), 32000);
        column.shape = "\"string\"";
        column.set = [=](std::uint64_t entry) {
            std::string text;
            set(text, entry);
            strcpy(memory->data(), text.substr(0, most - 1).c_str());
        };
        column.tell = [=] { return json::of_text(memory->data()); };
        fColumns.push_back(column);
        return *this;
    }

    /* Writes into a directory. Calls `ready` with the tree when its branches exist, `before` before each
     * entry, and `after` before the last write. Returns what Told() does. */
    std::string Write(TDirectory &directory, std::uint64_t entries,
                      std::function<void(TTree &)> ready = nullptr,
                      std::function<void(TTree &, std::uint64_t)> before = nullptr,
                      std::function<void(TTree &)> after = nullptr, bool is_embedded = false)
    {
        directory.cd();
        auto *tree = new TTree(fName.c_str(), fTitle.c_str());
        for (auto &column : fColumns)
            column.make(*tree), column.values = "";
        if (ready)
            ready(*tree);
        for (std::uint64_t i = 0; i < entries; i++) {
            if (before)
                before(*tree, i);
            for (auto &column : fColumns) {
                column.set(i);
                column.values += (i ? "," : "") + column.tell();
            }
            tree->Fill();
        }
        if (after)
            after(*tree);
        if (is_embedded)
            directory.WriteTObject(tree, fName.c_str());
        else
            tree->Write();
        std::string result = Told(*tree);
        delete tree;
        return result;
    }

    /* The same without flushing: the last baskets are stored within the tree. */
    std::string Embed(TDirectory &directory, std::uint64_t entries, std::function<void(TTree &)> ready)
    {
        return Write(directory, entries, ready, nullptr, nullptr, true);
    }

    /* What ROOT's reader finds in a tree that was written. */
    std::string Read(TDirectory &directory, const std::string &path)
    {
        auto *tree = directory.Get<TTree>(path.c_str());
        for (auto &column : fColumns)
            column.read(*tree), column.values = "";
        for (std::int64_t i = 0; i < tree->GetEntries(); i++) {
            tree->GetEntry(i);
            for (auto &column : fColumns)
                column.values += (i ? "," : "") + column.tell();
        }
        std::string result = Told(*tree);
        delete tree;
        return result;
    }

    static std::string Branches(TObjArray &branches)
    {
        std::string result = "[";
        for (TObject *item : branches) {
            auto *branch = static_cast<TBranch *>(item);
            auto *element = dynamic_cast<TBranchElement *>(branch);
            result += (result.size() > 1 ? ",{\"name\":" : "{\"name\":") + json::of_text(branch->GetName()) +
                      ",\"type\":" + std::to_string(element ? element->GetType() : -1) +
                      ",\"entries\":" + std::to_string(branch->GetEntries()) +
                      ",\"children\":" + Branches(*branch->GetListOfBranches()) + "}";
        }
        return result + "]";
    }

  private:
    struct Column {
        std::string name, shape, values;
        std::function<void(std::uint64_t)> set;
        std::function<std::string()> tell;
        std::function<void(TTree &)> make, read;
    };

    static Column InPlace(const std::string &name, const std::string &list, void *memory, int buffer)
    {
        Column column;
        column.name = name;
        column.make = [=](TTree &tree) { tree.Branch(name.c_str(), memory, list.c_str(), buffer); };
        column.read = [=](TTree &tree) { tree.SetBranchAddress(name.c_str(), memory); };
        return column;
    }

    /* {"entries": n, "branches": [{"name", "type", "children"}], "columns": {name: {"shape", "values"}}} */
    std::string Told(TTree &tree) const
    {
        std::string result = "{\"entries\":" + std::to_string(tree.GetEntries()) +
                             ",\"branches\":" + Branches(*tree.GetListOfBranches()) + ",\"columns\":{";
        for (const auto &column : fColumns)
            result += (&column == &fColumns[0] ? "" : ",") + json::of_text(column.name) +
                      ":{\"shape\":" + column.shape + ",\"values\":[" + column.values + "]}";
        return result + "}}";
    }

    std::string fName, fTitle;
    std::vector<Column> fColumns;
};

#endif
