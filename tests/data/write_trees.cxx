/* SPDX-License-Identifier: MIT
 *
 * Small files of TTrees, each for one part of the format. Each function writes a file and returns what
 * ROOT's own reader finds in it: {PATH of the tree: result of Tree::Read}.
 */
#include "tree_classes.hxx"

#include <TFile.h>
#include <TNtuple.h>
#include <TNtupleD.h>
#include <TParameter.h>
#include <TVirtualStreamerInfo.h>

namespace trees
{

using Number = std::uint64_t;

std::unique_ptr<TFile> create(const std::string &path, int compression = 207)
{
    return std::unique_ptr<TFile>(TFile::Open(path.c_str(), "RECREATE", "", compression));
}

std::string result(const std::string &path, std::vector<std::pair<Tree *, std::string>> list)
{
    TFile file(path.c_str());
    std::string text = "{";
    for (auto &[tree, name] : list)
        text += (text.size() > 1 ? "," : "") + json::of_text(name) + ":" + tree->Read(file, name);
    return text + "}";
}

/* Extreme values first, then random ones. */
template <typename T> void extreme(T &value, Number i)
{
    using limits = std::numeric_limits<T>;
    const T values[] = {limits::min(), limits::max(), limits::lowest(), T(0), T(1)};
    if (i < 5)
        value = values[i];
    else if (std::is_floating_point_v<T>)
        value = static_cast<T>((Random(i).Uniform() - 0.5) * 1e4);
    else
        value = static_cast<T>(Random(i).Next());
}

template <typename T> void add_leaf(Tree &tree, char letter)
{
    const std::string name = std::string("x_") + letter, type = std::string("/") + letter;
    tree.Leaves<T>(name, name + type, extreme<T>);
    tree.Leaves<std::array<T, 3>>(name + "3", name + "3[3]" + type, [](auto &v, Number i) {
        for (auto &item : v)
            extreme(item, i++);
    });
}

template <typename T> void add_counted(Tree &tree, std::shared_ptr<int> count, char letter)
{
    const std::string name = std::string("a_") + letter;
    tree.Items<T, int>(name, name + "[n]/" + letter, count, 8, [](T &v, Number i) { extreme(v, i % 997); });
}

std::string word(Number i)
{
    const std::string words[] = {"",           "a", "word", "two words", "\xc3\xa9t\xc3\xa9", "\"quoted\\\"",
                                 "line\nbreak"};
    return words[i % 7];
}

/* The maximum length that one byte can count, and more. */
std::string long_text(Number i)
{
    const std::size_t lengths[] = {0, 1, 253, 254, 255, 256, 300, 1000};
    return std::string(lengths[i % 8], static_cast<char>('a' + i % 26));
}

} // namespace trees

using trees::Number;

/* Every type of leaf: alone, in arrays, counted, and several in one branch. */
std::string write_leaves(const std::string &path)
{
    struct Row {
        double d;
        int i;
        float f;
        short s;
        unsigned char b;
        TELLS(d, i, f, s, b)
    };
    struct Arrays {
        double d[2];
        int i[2][3];
        short s;
        TELLS(d, i, s)
    };
    Tree tree("leaves", "every type of leaf");
    trees::add_leaf<signed char>(tree, 'B'), trees::add_leaf<unsigned char>(tree, 'b');
    trees::add_leaf<short>(tree, 'S'), trees::add_leaf<unsigned short>(tree, 's');
    trees::add_leaf<int>(tree, 'I'), trees::add_leaf<unsigned>(tree, 'i');
    trees::add_leaf<long long>(tree, 'L'), trees::add_leaf<unsigned long long>(tree, 'l');
    trees::add_leaf<long>(tree, 'G'), trees::add_leaf<unsigned long>(tree, 'g');
    trees::add_leaf<float>(tree, 'F'), trees::add_leaf<double>(tree, 'D'), trees::add_leaf<bool>(tree, 'O');
    tree.Text("text", [](auto &v, Number i) { v = trees::word(i); });
    tree.Text("long_text", [](auto &v, Number i) { v = trees::long_text(i); });
    tree.Leaves<std::array<std::array<int, 3>, 2>>("matrix", "matrix[2][3]/I", [](auto &v, Number i) {
        for (int k = 0; k < 6; k++)
            v[k / 3][k % 3] = static_cast<int>(10 * i) + k;
    });
    auto count = tree.Counter<int>("n", "n/I", [](auto &v, Number i) { v = static_cast<int>(i * 7 % 5); });
    trees::add_counted<signed char>(tree, count, 'B'), trees::add_counted<unsigned short>(tree, count, 's');
    trees::add_counted<int>(tree, count, 'I'), trees::add_counted<unsigned long long>(tree, count, 'l');
    trees::add_counted<float>(tree, count, 'F'), trees::add_counted<double>(tree, count, 'D');
    trees::add_counted<bool>(tree, count, 'O');
    tree.Items<std::array<float, 3>, int>("points", "points[n][3]/F", count, 8, [](auto &v, Number i) {
        v = {i + 0.25f, i + 0.5f, -1.f * i};
    });
    auto few = tree.Counter<unsigned char>("few", "few/b", [](auto &v, Number i) { v = i % 3; });
    tree.Items<short, unsigned char>("of_few", "of_few[few]/S", few, 8,
                                     [](auto &v, Number i) { v = static_cast<short>(i); });
    tree.Leaves<Row>("row", "d/D:i/I:f/F:s/S:b/b", [](auto &v, Number i) {
        v = {i / 3., static_cast<int>(i), i / 4.f, static_cast<short>(-i), static_cast<unsigned char>(i)};
    });
    tree.Leaves<Arrays>("arrays", "d[2]/D:i[2][3]/I:s/S", [](auto &v, Number i) {
        v = {{i / 7., i / 9.}, {{1, 2, 3}, {4, 5, static_cast<int>(i)}}, static_cast<short>(i)};
    });
    {
        auto file = trees::create(path);
        tree.Write(*file, 30, [](TTree &tree) { tree.SetAutoFlush(20); });
    }
    return trees::result(path, {{&tree, "leaves"}});
}

/* Float16_t and Double32_t with every kind of range. */
std::string write_floats(const std::string &path)
{
    Tree tree("floats", "Float16_t and Double32_t");
    const std::pair<const char *, const char *> forms[] = {{"plain", ""},
                                                           {"range", "[-8,8,10]"},
                                                           {"range_of_32", "[-8,8,32]"},
                                                           {"range_of_2", "[0,1,2]"},
                                                           {"range_only", "[0,3]"},
                                                           {"bits", "[0,0,8]"},
                                                           {"most_bits", "[0,0,14]"},
                                                           {"pi", "[-pi,pi,16]"},
                                                           {"twopi", "[0,2*pi]"},
                                                           {"negative", "[-1e3,-1,20]"}};
    auto count = tree.Counter<int>("n", "n/I", [](auto &v, Number i) { v = static_cast<int>(i % 4); });
    for (const auto &[form, range] : forms) {
        const std::string text = range, d = std::string("d_") + form, f = std::string("f_") + form;
        auto set = [](auto &v, Number i) { v = (Random(i).Uniform() - (i % 3) / 2.) * (i % 5 ? 4 : 1000); };
        tree.Leaves<double>(d, d + "/d" + text, [=](auto &v, Number i) { set(v, i); });
        tree.Leaves<float>(f, f + "/f" + text, [=](auto &v, Number i) { set(v, i + 99); });
        tree.Leaves<std::array<double, 2>>(d + "_2", d + "_2[2]/d" + text,
                                           [=](auto &v, Number i) { set(v[0], i), set(v[1], i + 1); });
        tree.Items<float, int>(f + "_n", f + "_n[n]/f" + text, count, 4,
                               [=](auto &v, Number i) { set(v, i); });
        tree.Items<double, int>(d + "_n", d + "_n[n]/d" + text, count, 4,
                                [=](auto &v, Number i) { set(v, i); });
    }
    {
        auto file = trees::create(path);
        tree.Write(*file, 30);
    }
    return trees::result(path, {{&tree, "floats"}});
}

template <typename List> static void set_numbers(List &list, Number i)
{
    list.clear();
    for (Number k = 0; k < i * 5 % 7; k++)
        list.push_back(static_cast<typename List::value_type>(Random(i * 10 + k).Next() % 1000));
}

/* What the library's containers hold. */
std::string write_containers(const std::string &path)
{
    Tree tree("containers");
    auto set = [](auto &v, Number i) { set_numbers(v, i); };
    auto set_words = [](auto &v, Number i) {
        v.clear();
        for (Number k = 0; k < i % 4; k++)
            v.push_back(k ? trees::word(i + k) : trees::long_text(i));
    };
    tree.Object<std::vector<bool>>("v_bool", set).Object<std::vector<char>>("v_char", set);
    tree.Object<std::vector<unsigned char>>("v_uchar", set).Object<std::vector<short>>("v_short", set);
    tree.Object<std::vector<unsigned short>>("v_ushort", set).Object<std::vector<int>>("v_int", set);
    tree.Object<std::vector<unsigned>>("v_uint", set).Object<std::vector<long long>>("v_long64", set);
    tree.Object<std::vector<unsigned long>>("v_ulong", set).Object<std::vector<float>>("v_float", set);
    tree.Object<std::vector<double>>("v_double", set);
    tree.Object<std::string>("string", [](auto &v, Number i) { v = trees::word(i); });
    tree.Object<std::string>("long_string", [](auto &v, Number i) { v = trees::long_text(i); });
    tree.Object<TString>("tstring", [](auto &v, Number i) { v = trees::long_text(i + 1).c_str(); });
    tree.Object<std::vector<std::string>>("v_string", set_words);
    tree.Object<std::vector<std::vector<int>>>("v_v_int", [](auto &v, Number i) {
        v.resize(i % 4);
        for (auto &item : v)
            set_numbers(item, i++);
    });
    tree.Object<std::vector<std::vector<bool>>>("v_v_bool", [](auto &v, Number i) {
        v.resize(i % 3);
        for (auto &item : v)
            item.assign(i % 5, i % 2), i++;
    });
    tree.Object<std::vector<std::vector<std::string>>>("v_v_string", [=](auto &v, Number i) {
        v.resize(i % 3);
        for (auto &item : v)
            set_words(item, i++);
    });
    tree.Object<std::vector<std::vector<std::vector<float>>>>("v_v_v_float", [](auto &v, Number i) {
        v.assign(i % 3, {});
        for (auto &outer : v) {
            outer.resize(i % 4);
            for (auto &inner : outer)
                set_numbers(inner, i++);
        }
    });
    tree.Object<std::set<int>>("s_int", [](auto &v, Number i) { v = {0, static_cast<int>(i), -1}; });
    tree.Object<std::set<std::string>>("s_string", [](auto &v, Number i) {
        v = {trees::word(i), trees::word(i + 2)};
    });
    tree.Object<std::multiset<double>>("m_double",
                                       [](auto &v, Number i) { v.insert(i / 2.), v.insert(i / 2.); });
    tree.Object<std::list<int>>("l_int", set).Object<std::deque<float>>("d_float", set);
    tree.Object<std::vector<std::set<int>>>("v_s_int", [](auto &v, Number i) {
        v.assign(i % 3, {static_cast<int>(i), 5});
    });
    tree.Object<std::bitset<10>>("bits", [](auto &v, Number i) { v = i * 37; });
    auto set_map = [](auto &v, Number i) {
        v.clear();
        for (Number k = 0; k < i % 4; k++)
            v[static_cast<int>(k)] = i / 2.;
    };
    tree.Object<std::map<int, double>>("map_split", set_map).Object<std::map<int, double>>("map", set_map, 0);
    tree.Object<std::map<std::string, std::vector<int>>>(
        "map_of_vectors", [](auto &v, Number i) { set_numbers(v[trees::word(i)], i); }, 0);
    tree.Object<std::map<int, std::map<int, std::string>>>(
        "map_of_maps", [](auto &v, Number i) { v[i % 3][i % 2] = trees::word(i); }, 0);
    tree.Object<std::pair<int, double>>("pair", [](auto &v, Number i) { v = {static_cast<int>(i), i / 2.}; });
    tree.Object<std::vector<std::pair<int, float>>>("v_pair", [](auto &v, Number i) {
        v.assign(i % 3, {1, i / 4.f});
    });
    tree.Object<std::vector<std::pair<int, float>>>(
        "v_pair_unsplit",
        [](auto &v, Number i) {
            v.assign(i % 3, {1, i / 4.f});
        },
        0);
    {
        auto file = trees::create(path);
        tree.Write(*file, 20, [](TTree &tree) { tree.SetAutoFlush(12); });
    }
    return trees::result(path, {{&tree, "containers"}});
}

static void set_arrays(Arrays &v, Number i)
{
    for (auto &vector : v.vectors)
        set_numbers(vector, i++);
    for (auto &map : v.maps) {
        map.clear();
        for (Number k = 0; k < i % 3; k++)
            map[static_cast<int>(k)] = i / 4.;
        i++;
    }
    for (auto &set : v.sets)
        set = {static_cast<short>(i), static_cast<short>(i / 2)}, i++;
    v.words = {trees::word(i), trees::long_text(i)};
}

/* Members that are arrays of containers. */
std::string write_arrays(const std::string &path)
{
    Tree tree("arrays");
    tree.Object<Arrays>("split", set_arrays).Object<Arrays>("whole", set_arrays, 0);
    {
        auto file = trees::create(path);
        tree.Write(*file, 20, [](TTree &tree) { tree.SetAutoFlush(12); });
    }
    return trees::result(path, {{&tree, "arrays"}});
}

static void set_inner(Inner &v, Number i)
{
    v = {static_cast<int>(i), {i / 2.f, i / 3.f, i / 5.f}, static_cast<double>(i % 16) - 8};
}

static void set_hit(Hit &v, Number i)
{
    v.id = static_cast<int>(i), v.charge = i / 8.f;
    set_numbers(v.samples, i);
}

static void set_hits(std::vector<Hit> &v, Number i)
{
    v.resize(i % 4);
    for (auto &hit : v)
        set_hit(hit, i++);
}

static void set_event(Event &v, Number i)
{
    const Color colors[] = {red, green, blue};
    v.id = static_cast<int>(i), v.weight = i / 7., v.kind = static_cast<short>(-i), v.big = Random(i).Next();
    for (Number k = 0; k < 4; k++)
        v.flags[k] = i >> k & 1;
    for (Number k = 0; k < 6; k++)
        v.matrix[k / 3][k % 3] = i + k / 8.f;
    v.color = colors[i % 3], v.title = trees::word(i), v.other = trees::long_text(i).c_str();
    v.n = static_cast<int>(i % 5);
    delete[] v.values;
    v.values = v.n ? new float[v.n] : nullptr;
    for (int k = 0; k < v.n; k++)
        v.values[k] = k + i / 2.f;
    set_numbers(v.numbers, i);
    v.words.assign(i % 3, trees::word(i + 1));
    set_inner(v.inner, i);
    set_hits(v.hits, i);
    v.groups.clear();
    set_numbers(v.groups[trees::word(i + 3)], i + 1);
    v.shorts = {1, static_cast<short>(i), 3};
}

static void set_track(Track &v, Number i)
{
    v.px = i / 2.f, v.py = -v.px, v.slope = static_cast<float>(i % 8) - 4, v.label = trees::word(i).c_str();
    v.n = static_cast<int>(i % 3);
    delete[] v.hits;
    v.hits = v.n ? new short[v.n] : nullptr;
    for (int k = 0; k < v.n; k++)
        v.hits[k] = static_cast<short>(i + k);
}

static unsigned few(Number i)
{
    return i * 3 % 4;
}

static void add_whole(Tree &tree)
{
    tree.Object<Event>("whole", set_event, 0).Object<Inner>("inner", set_inner, 0);
    tree.Object<Track>("whole_track", set_track, 0).Object<std::vector<Hit>>("whole_hits", set_hits, 0);
    tree.Object<std::vector<Flat>>(
        "flat",
        [](auto &v, Number i) {
            v.assign(i % 4, {'a', 7, i / 2.});
        },
        0);
    tree.Object<std::vector<std::vector<Hit>>>("nested", [](auto &v, Number i) {
        v.resize(i % 3);
        for (auto &item : v)
            set_hits(item, i++);
    });
    tree.Object<std::map<int, Inner>>(
        "mapped", [](auto &v, Number i) { v.clear(), set_inner(v[i % 5], i); }, 0);
    tree.Clones<Track>("whole_clones", few, set_track, 0);
}

/* Objects that are not split, and collections of them: memberwise, or object by object. */
static std::string write_whole(const std::string &path, bool is_memberwise)
{
    TVirtualStreamerInfo::SetStreamMemberWise(is_memberwise);
    Tree tree("whole");
    add_whole(tree);
    {
        auto file = trees::create(path);
        tree.Write(*file, 12, [](TTree &tree) { tree.SetAutoFlush(5); });
    }
    TVirtualStreamerInfo::SetStreamMemberWise(true);
    return trees::result(path, {{&tree, "whole"}});
}

std::string write_memberwise(const std::string &path)
{
    return write_whole(path, true);
}

std::string write_objectwise(const std::string &path)
{
    return write_whole(path, false);
}

/* Objects that are split, and collections of them. */
std::string write_classes(const std::string &path)
{
    Tree tree("classes");
    tree.Object<Event>("event", set_event)
        .Object<Event>("dotted.", set_event)
        .Object<Event>("level_1", set_event, 1);
    tree.Object<Track>("track", set_track).Object<std::vector<Hit>>("hits", set_hits);
    tree.Clones<Track>("clones", few, set_track);
    {
        auto file = trees::create(path);
        tree.Write(*file, 12);
    }
    return trees::result(path, {{&tree, "classes"}});
}

static void set_jagged(Jagged &v, Number i)
{
    v.n = static_cast<int>(i * 5 % 4);
    delete[] v.x, delete[] v.d;
    v.x = i % 3 && v.n ? new float[v.n] : nullptr, v.d = v.n ? new Double32_t[v.n] : nullptr;
    for (auto &array : v.pair)
        delete[] array, array = v.n ? new short[v.n] : nullptr;
    for (int k = 0; k < v.n; k++) {
        v.d[k] = i + k, v.pair[0][k] = static_cast<short>(i), v.pair[1][k] = static_cast<short>(-k);
        if (v.x)
            v.x[k] = i / 2.f + k;
    }
}

static void set_items(std::vector<Jagged> &v, Number i)
{
    v.resize(i * 7 % 5);
    for (auto &item : v)
        set_jagged(item, i++);
}

/* Arrays whose lengths other members store: of an object, and of the items of collections. Baskets of the
 * lengths and of the arrays end at different entries. */
std::string write_counted(const std::string &path)
{
    Tree tree("counted");
    tree.Object<Jagged>("split", set_jagged).Object<Jagged>("whole", set_jagged, 0);
    tree.Object<std::vector<Jagged>>("items", set_items).Object<std::vector<Jagged>>("list", set_items, 0);
    tree.Clones<Track>("clones", few, set_track);
    {
        auto file = trees::create(path);
        tree.Write(*file, 150, [](TTree &tree) {
            tree.SetAutoFlush(0);
            tree.SetBasketSize("*", 4000);
            for (const char *name : {"items.n", "items.d", "items.pair*", "clones.n"})
                tree.SetBasketSize(name, 300);
        });
    }
    return trees::result(path, {{&tree, "counted"}});
}

/* A new object for some entries, and no object for others. */
template <typename T, typename F> static void set_pointer(T *&pointer, F set, Number i)
{
    delete pointer;
    pointer = i % 3 ? new T() : nullptr;
    if (pointer)
        set(*pointer, i);
}

static void set_flat(Flat &v, Number i)
{
    v = {static_cast<char>('a' + i % 20), static_cast<unsigned short>(i), i / 2.};
}

static void set_linked(Linked &v, Number i)
{
    v.id = static_cast<short>(i);
    set_pointer(v.flat, set_flat, i + 1);
}

static void set_loops(Loops &v, Number i)
{
    v.n = static_cast<int>(i * 5 % 4);
    v.flats = v.n ? new Flat[v.n] : nullptr;
    v.linked = v.n ? new Linked *[v.n]() : nullptr;
    for (auto &array : v.pair)
        array = v.n ? new Flat[v.n] : nullptr;
    for (int k = 0; k < v.n; k++) {
        set_flat(v.flats[k], i + k), set_flat(v.pair[0][k], i - k), set_flat(v.pair[1][k], i * k);
        set_pointer(v.linked[k], set_linked, i + k);
    }
}

static void set_loop_items(std::vector<Loops> &v, Number i)
{
    v.resize(i * 7 % 5);
    for (auto &item : v)
        set_loops(item, i++);
}

/* Arrays of objects and of pointers whose lengths other members store. */
std::string write_loops(const std::string &path)
{
    Tree tree("loops");
    tree.Object<Loops>("split", set_loops).Object<Loops>("whole", set_loops, 0);
    tree.Object<std::vector<Loops>>("list", set_loop_items, 0);
    {
        auto file = trees::create(path);
        tree.Write(*file, 50, [](TTree &tree) {
            tree.SetAutoFlush(0);
            tree.SetBasketSize("*", 4000);
            tree.SetBasketSize("split.n", 300);
        });
    }
    return trees::result(path, {{&tree, "loops"}});
}

static void set_grid(Grid &v, Number i)
{
    v.id = static_cast<short>(i);
    for (int k = 0; k < 2; k++) {
        set_flat(v.flats[k], i + k), set_flat(v.both[k], i * k);
        v.weights[k][0].weight = i / 4., v.weights[k][1].weight = -k;
        v.matrix[k] = {static_cast<int>(i), k};
    }
    v.point = {i / 2.f, -1.f, static_cast<float>(i)};
}

static void set_grids(std::vector<Grid> &v, Number i)
{
    v.resize(i * 7 % 5);
    for (auto &item : v)
        set_grid(item, i++);
}

static void set_points(std::vector<Points> &v, Number i)
{
    v.clear(), v.resize(i % 3);
    for (auto &item : v) {
        item.points.resize(i % 4), item.flats.resize(i % 3);
        for (auto &point : item.points)
            point = {i / 2.f, -1.f, static_cast<float>(i++)};
        for (auto &list : item.flats) {
            list.resize(i++ % 3);
            for (auto &pair : list)
                set_flat(pair[0], i), set_flat(pair[1], i + 1);
        }
        item.shorts[static_cast<int>(i)] = {static_cast<short>(i), -1};
    }
}

/* The first entries have no items. */
static void set_color_lists(std::vector<std::vector<Color>> &v, Number i)
{
    static const Color colors[] = {red, green, blue};
    v.clear(), v.resize(i % 4);
    for (auto &list : v)
        for (Number k = 0; i > 5 && k < i % 3; k++)
            list.push_back(colors[(i + k) % 3]);
}

static void set_colors(Colors &v, Number i)
{
    set_color_lists(v.lists, i);
    v.sets = {{static_cast<int>(i), {{red, blue}, {}, {green}}}, {-1, {}}};
    v.keys.clear(), v.keys.resize(i % 3), v.values.assign(i % 2, {{-2, green}, {static_cast<int>(i), blue}});
    for (auto &map : v.keys)
        set_flat(map[i % 2 ? red : green], i), set_flat(map[blue], i + 1);
}

static void set_color_items(std::vector<Colors> &v, Number i)
{
    v.resize(i % 3);
    for (auto &item : v)
        set_colors(item, i++);
}

/* Enumerations in collections and maps. The records are not compressed, so that a test can change the names
 * of classes that they describe. */
std::string write_enumerations(const std::string &path)
{
    Tree tree("colors");
    tree.Object<Colors>("split", set_colors).Object<Colors>("whole", set_colors, 0);
    tree.Object<std::vector<Colors>>("items", set_color_items)
        .Object<std::vector<Colors>>("whole_items", set_color_items, 0);
    tree.Object<std::vector<std::vector<Color>>>("lists", set_color_lists);
    {
        auto file = trees::create(path, 0);
        tree.Write(*file, 30, [](TTree &tree) { tree.SetAutoFlush(10); });
    }
    return trees::result(path, {{&tree, "colors"}});
}

/* Arrays in items of collections; and objects of a class that is derived from that of their branch. */
std::string write_items(const std::string &path)
{
    Tree tree("items");
    tree.Object<Grid>("grid", set_grid).Object<Grid>("whole_grid", set_grid, 0);
    tree.Object<std::vector<Grid>>("grids", set_grids).Object<std::vector<Grid>>("whole_grids", set_grids, 0);
    tree.Clones<Grid>("clones", few, set_grid).Clones<Grid>("whole_clones", few, set_grid, 0);
    tree.Object<std::vector<Points>>("points", set_points)
        .Object<std::vector<Points>>("whole_points", set_points, 0);
    tree.Object<LongMark, Mark>(
        "derived",
        [](LongMark &v, Number i) {
            v.kind = static_cast<short>(i), v.length = i / 2.f;
            v.points.assign(i % 3, static_cast<int>(i));
        },
        -1);
    {
        auto file = trees::create(path);
        tree.Write(*file, 30, [](TTree &tree) { tree.SetAutoFlush(10); });
    }
    return trees::result(path, {{&tree, "items"}});
}

static void set_pointers(Pointers &v, Number i)
{
    v.before = static_cast<int>(i), v.after = -v.before;
    set_pointer(v.inner, set_inner, i), set_pointer(v.track, set_track, i + 1);
    v.linked.reset(i % 2 ? new Linked() : nullptr);
    if (v.linked)
        set_linked(*v.linked, i);
    for (Number k = 0; k < 2; k++)
        set_pointer(v.pair[k], set_inner, i + k);
    v.flats.resize(i % 4);
    for (auto &flat : v.flats)
        flat = nullptr, set_pointer(flat, set_flat, i++);
    set_pointer(
        v.node, [](Node &node, Number k) { node.value = static_cast<int>(k); }, i);
    delete v.any;
    v.any = i % 3 ? new Shape() : i % 2 ? nullptr : new Circle();
}

static void set_tracks(TClonesArray &array, Number count, Number i)
{
    array.Clear("C");
    for (Number k = 0; k < count; k++)
        set_track(*static_cast<Track *>(array.ConstructedAt(static_cast<int>(k))), i + k);
}

static void set_bundle(Bundle &v, Number i)
{
    v.before = static_cast<int>(i), v.after = -v.before;
    v.beside->BypassStreamer(i % 5 > 1);
    set_tracks(v.inside, i % 3, i), set_tracks(*v.beside, i % 4, i + 1);
}

/* Pointers to objects: of an object that is split and not split, and of the items of lists. */
std::string write_pointers(const std::string &path)
{
    Tree tree("pointers");
    auto set_list = [](auto &v, Number i) {
        v.resize(i % 4);
        for (auto &item : v)
            set_linked(item, i++);
    };
    tree.Object<Pointers>("split", set_pointers).Object<Pointers>("whole", set_pointers, 0);
    tree.Object<Bundle>("bundle", set_bundle, 0);
    tree.Object<std::vector<Linked>>("list", set_list).Object<std::vector<Linked>>("whole_list", set_list, 0);
    {
        auto file = trees::create(path);
        tree.Write(*file, 20, [](TTree &tree) { tree.SetAutoFlush(12); });
    }
    return trees::result(path, {{&tree, "pointers"}});
}

static TObject *new_object(Number i)
{
    if (i % 3 == 2)
        return nullptr;
    if (i % 3 == 0) {
        auto *track = new Track();
        set_track(*track, i);
        return track;
    }
    auto *mark = new Mark();
    mark->kind = static_cast<short>(i);
    set_numbers(mark->points, i);
    return mark;
}

static Shape *new_shape(Number i)
{
    Shape *shape = i % 3 == 0 ? nullptr : i % 3 == 1 ? new Shape() : new Circle();
    if (auto *circle = dynamic_cast<Circle *>(shape))
        circle->radius = i / 2.f;
    if (shape)
        shape->sides = static_cast<int>(i);
    return shape;
}

static void set_list(TList &list, Number count, Number i)
{
    list.Clear("nodelete");
    for (Number k = 0; k < count; k++)
        if (TObject *object = new_object(i + k))
            list.Add(object, trees::word(i + k).c_str());
}

static void set_objects(Objects &v, Number i)
{
    v.before = static_cast<int>(i), v.after = -v.before;
    v.array.Clear();
    for (Number k = 0; k < i % 5; k++)
        if (TObject *object = k == 3 ? v.array.At(0) : new_object(i + k))
            v.array.AddAtAndExpand(object, static_cast<int>(k));
    set_list(*v.list, i % 4, i);
    v.hashed = i % 3 ? new THashList() : nullptr;
    if (v.hashed)
        set_list(*v.hashed, i % 5, i + 1);
    v.map = i % 4 ? new TMap() : nullptr;
    for (Number k = 0; v.map && k < i % 3; k++)
        v.map->Add(new TObjString(trees::word(i + k).c_str()), k ? new_object(i + k) : v.list->First());
    v.one = new_shape(i);
    v.several.assign(i % 4, nullptr);
    for (auto &shape : v.several)
        shape = new_shape(i++);
}

/* TObjArrays, TLists, TMaps, and pointers to objects of several classes. */
std::string write_objects(const std::string &path)
{
    Tree tree("objects");
    tree.Object<Objects>("split", set_objects).Object<Objects>("whole", set_objects, 0);
    {
        auto file = trees::create(path);
        tree.Write(*file, 20, [](TTree &tree) { tree.SetAutoFlush(12); });
    }
    return trees::result(path, {{&tree, "objects"}});
}

/* The same branches by every algorithm. */
std::string write_algorithms(const std::string &path)
{
    const std::pair<const char *, int> settings[] = {{"none", 0},  {"zlib", 101}, {"lzma", 207},
                                                     {"old", 301}, {"lz4", 404},  {"zstd", 505}};
    Tree tree("compressed");
    for (const auto &[name, setting] : settings) {
        tree.Object<std::vector<int>>(std::string("list_") + name,
                                      [](auto &v, Number i) { v.assign(20, static_cast<int>(i / 10)); });
        tree.Leaves<double>(std::string("noise_") + name, "x/D",
                            [](auto &v, Number i) { v = Random(i / 2).Uniform(); });
    }
    {
        auto file = trees::create(path);
        tree.Write(*file, 120, [&](TTree &tree) {
            for (const auto &[name, setting] : settings)
                for (const char *part : {"list_", "noise_"})
                    tree.GetBranch((std::string(part) + name).c_str())->SetCompressionSettings(setting);
        });
    }
    return trees::result(path, {{&tree, "compressed"}});
}

static void add_some(Tree &tree)
{
    tree.Leaves<int>("i", "i/I", [](auto &v, Number i) { v = static_cast<int>(i) * 3; });
    tree.Object<std::vector<float>>("list", [](auto &v, Number i) { set_numbers(v, i); });
    tree.Object<std::string>("text", [](auto &v, Number i) { v = trees::word(i); });
    auto count = tree.Counter<int>("n", "n/I", [](auto &v, Number i) { v = static_cast<int>(i % 3); });
    tree.Items<double, int>("x", "x[n]/D", count, 4, [](auto &v, Number i) { v = i / 2.; });
}

/* Many baskets, with buffers of a few entries. */
std::string write_baskets(const std::string &path)
{
    Tree tree("baskets");
    add_some(tree);
    {
        auto file = trees::create(path, 0);
        tree.Write(*file, 50, [](TTree &tree) {
            tree.SetAutoFlush(0);
            tree.SetBasketSize("*", 512);
        });
    }
    return trees::result(path, {{&tree, "baskets"}});
}

/* Baskets stored within the tree's object: the last ones, and all of a small tree. */
std::string write_embedded(const std::string &path)
{
    Tree all("all"), last("last");
    add_some(all), add_some(last);
    {
        auto file = trees::create(path);
        auto ready = [](TTree &tree) { tree.SetAutoFlush(0), tree.SetBasketSize("*", 600); };
        all.Embed(*file, 20, ready), last.Embed(*file, 150, ready);
    }
    return trees::result(path, {{&all, "all"}, {&last, "last"}});
}

/* Offsets that are not stored. */
std::string write_generated_offsets(const std::string &path)
{
    Tree tree("generated");
    add_some(tree);
    auto few = tree.Counter<unsigned char>("few", "few/b", [](auto &v, Number i) { v = i % 5; });
    tree.Items<std::array<short, 2>, unsigned char>("pairs", "pairs[few][2]/S", few, 8,
                                                    [](auto &v, Number i) {
                                                        v = {1, static_cast<short>(i)};
                                                    });
    {
        auto file = trees::create(path);
        tree.Write(*file, 60, [](TTree &tree) {
            ROOT::TIOFeatures features;
            features.Set(ROOT::Experimental::EIOFeatures::kGenerateOffsetMap);
            tree.SetIOFeatures(features);
            tree.SetAutoFlush(25);
        });
    }
    return trees::result(path, {{&tree, "generated"}});
}

static void fill_ntuples(TDirectory &directory)
{
    directory.cd();
    TNtuple floats("floats", "a TNtuple", "x:y:z");
    TNtupleD doubles("doubles", "a TNtupleD", "a:b");
    for (int i = 0; i < 30; i++)
        floats.Fill(i, i / 2.f, -i), doubles.Fill(i / 3., i);
    floats.Write(), doubles.Write();
}

static void add_metadata(TTree &tree)
{
    tree.SetAlias("twice", "2 * i");
    tree.SetAlias("sum", "i + n");
    tree.BuildIndex("i", "n");
    tree.GetUserInfo()->Add(new TNamed("calibration", "of May"));
    tree.GetUserInfo()->Add(new TParameter<double>("luminosity", 4.5));
    tree.AddFriend("inner/other");
    tree.AddFriend("elsewhere", "another.root");
}

/* Several trees: in directories, with several cycles, without entries, without branches, with branches
 * of fewer entries, with what else a tree keeps. */
std::string write_structure(const std::string &path)
{
    Tree first("cycles", "first"), second("cycles", "second"), other("other"), none("no_entries"),
        clusters("clusters");
    for (Tree *tree : {&first, &second, &other, &none, &clusters})
        add_some(*tree);
    Tree nothing("no_branches"), kept("kept");
    add_some(kept);
    {
        auto file = trees::create(path);
        first.Write(*file, 10), second.Write(*file, 15);
        auto *inner = file->mkdir("inner");
        other.Write(*inner, 20);
        fill_ntuples(*inner->mkdir("deep"));
        none.Write(*file, 0), nothing.Write(*file, 0);
        clusters.Write(
            *file, 100, [](TTree &tree) { tree.SetAutoFlush(15); },
            [](TTree &tree, Number i) {
                if (i == 50)
                    tree.SetAutoFlush(20);
            });
        kept.Write(*file, 20, nullptr, nullptr, add_metadata);
    }
    return trees::result(path, {{&first, "cycles;1"},
                                {&second, "cycles"},
                                {&other, "inner/other"},
                                {&none, "no_entries"},
                                {&nothing, "no_branches"},
                                {&clusters, "clusters"},
                                {&kept, "kept"}});
}

/* Branches that ended early, and some that never began. Prints only the others. */
std::string write_short_branches(const std::string &path)
{
    Tree tree("short");
    add_some(tree);
    static int early, never;
    static double values[4];
    static std::vector<float> list;
    static std::vector<std::string> words;
    {
        auto file = trees::create(path);
        tree.Write(
            *file, 20,
            [](TTree &tree) {
                tree.Branch("early", &early, "early/I"), tree.Branch("never", &never, "never/I");
                for (const std::string name : {"early", "never"}) {
                    tree.Branch((name + "_list").c_str(), &list);
                    tree.Branch((name + "_words").c_str(), &words);
                    tree.Branch((name + "_x").c_str(), values, (name + "_x[n]/D").c_str());
                }
            },
            [](TTree &tree, Number i) {
                early = static_cast<int>(i) + 1;
                list.assign(i % 3, i / 2.f);
                words.assign(i % 2, "word");
                std::fill(std::begin(values), std::end(values), i / 4.);
                tree.SetBranchStatus("never*", false);
                tree.SetBranchStatus("early*", i < 12);
            });
    }
    return trees::result(path, {{&tree, "short"}});
}

/* Branches with leaves of their own that also have a branch below them, which TTree::Fill() does not fill. */
std::string write_sub_branches(const std::string &path)
{
    static int number;
    static double below;
    static struct {
        float x;
        int y;
    } pair;
    {
        auto file = trees::create(path);
        TTree tree("plain", "");
        std::vector<TBranch *> lower;
        for (TBranch *upper :
             {tree.Branch("single", &number, "value/I"), tree.Branch("pair", &pair, "x/F:y/I")}) {
            lower.push_back(new TBranch(upper, "below", &below, "below/D"));
            upper->GetListOfBranches()->Add(lower.back());
        }
        for (int i = 0; i < 10; i++) {
            number = 3 * i, below = i * i, pair.x = i / 2.f, pair.y = -i;
            tree.Fill();
            for (TBranch *branch : lower)
                branch->Fill();
        }
        tree.Write();
    }
    return "{}";
}

/* A branch whose full baskets are in another file, while the last one is within the tree; and a branch that
 * has all of them in the tree, though it names the other file, too. The records are not compressed, so that
 * a test can change the name. */
std::string write_other_file(const std::string &path)
{
    Tree tree("split"), embedded("embedded");
    const auto slash = path.rfind('/') + 1;
    const std::string name = path.substr(slash), beside = name.substr(0, name.size() - 5) + ".baskets";
    gSystem->ChangeDirectory(path.substr(0, slash).c_str());
    add_some(tree), add_some(embedded);
    {
        auto file = trees::create(name, 0);
        tree.Write(*file, 300, [&](TTree &tree) {
            tree.SetBasketSize("i", 500);
            tree.GetBranch("i")->SetFile(beside.c_str());
        });
        embedded.Embed(*file, 20, [&](TTree &tree) {
            tree.SetAutoFlush(0);
            tree.GetBranch("i")->SetFile(beside.c_str());
        });
    }
    return trees::result(name, {{&tree, "split"}, {&embedded, "embedded"}});
}

static void add_value(Tree &tree, double factor)
{
    tree.Leaves<double>("value", "value/D", [=](auto &v, Number i) { v = i * factor; });
}

/* A tree with friends: in the same file, of an alias, of a directory, with the name of a branch, of fewer
 * entries (whose baskets its record has, uncompressed), with an index; and in another file, which is removed.
 * The file keeps the names it is opened by. */
std::string write_friends(const std::string &path)
{
    Tree events("events"), calibration("calibration"), extra("extra"), rival("rival"), shorter("shorter"),
        indexed("indexed"), far("far");
    const auto slash = path.rfind('/') + 1;
    const std::string name = path.substr(slash), elsewhere = "elsewhere.root";
    gSystem->ChangeDirectory(path.substr(0, slash).c_str());
    add_some(events), add_some(calibration);
    add_value(extra, 0.5), add_value(rival, 2), add_value(shorter, 3), add_value(indexed, 4),
        add_value(far, 5);
    far.Write(*trees::create(elsewhere), 20);
    {
        auto file = trees::create(name);
        calibration.Write(*file, 20), extra.Write(*file->mkdir("deep"), 20), rival.Write(*file, 20);
        file->SetCompressionSettings(0); /* of the record, which has the basket */
        shorter.Embed(*file, 5, nullptr);
        file->SetCompressionSettings(207);
        indexed.Write(*file, 20, nullptr, nullptr, [](TTree &tree) { tree.BuildIndex("value"); });
        events.Write(
            *file, 20, [](TTree &tree) { tree.SetAutoFlush(8); }, nullptr,
            [&](TTree &tree) {
                tree.AddFriend("calibration");
                tree.AddFriend("more = deep/extra");
                tree.AddFriend(file->Get<TTree>("rival"), "i");
                tree.AddFriend("shorter");
                tree.AddFriend("indexed");
                tree.AddFriend("far", elsewhere.c_str());
            });
    }
    std::string told = trees::result(name, {{&events, "events"},
                                            {&calibration, "calibration"},
                                            {&extra, "deep/extra"},
                                            {&rival, "rival"},
                                            {&shorter, "shorter"},
                                            {&indexed, "indexed"}});
    gSystem->Unlink(elsewhere.c_str());
    return told;
}

/* Entries of many bytes. */
std::string write_big_entries(const std::string &path)
{
    Tree tree("big");
    tree.Object<std::vector<int>>(
        "numbers", [](auto &v, Number i) { v.assign(i == 1 ? 100000 : 3, static_cast<int>(i)); });
    tree.Object<std::string>(
        "text", [](auto &v, Number i) { v.assign(i == 2 ? 70000 : 5, static_cast<char>('a' + i)); });
    {
        auto file = trees::create(path, 505);
        tree.Write(*file, 4);
    }
    return trees::result(path, {{&tree, "big"}});
}

/* Objects of classes of ROOT whose streamers write other bytes than the file describes: fewer members without
 * byte counts, more members, and members in headers of their own. */
static void add_own_streamers(TTree &tree)
{
    for (const char *name : {"RooLinkedList", "TAttImage", "TMixture"}) {
        auto **object = new void *(TClass::GetClass(name)->New());
        tree.Branch(name, name, object, 32000, 0);
    }
}

std::string write_own_streamers(const std::string &path)
{
    Tree tree("own");
    add_some(tree);
    {
        auto file = trees::create(path);
        tree.Write(*file, 20, add_own_streamers);
    }
    return trees::result(path, {{&tree, "own"}});
}

/* The contents of the disk after the tree was saved, and before its file is closed. The branch of an
 * object that is split has no baskets. */
std::string write_unclosed(const std::string &path)
{
    Tree tree("unclosed");
    add_some(tree);
    tree.Object<Hit>("hit", set_hit);
    const std::string whole = path + ".whole";
    {
        auto file = trees::create(whole);
        tree.Write(
            *file, 50, [](TTree &tree) { tree.SetAutoFlush(10); },
            [&](TTree &tree, Number i) {
                if (i == 30) {
                    tree.AutoSave();
                    file->Flush();
                }
                if (i == 40)
                    gSystem->CopyFile(whole.c_str(), path.c_str(), true);
            });
    }
    gSystem->Unlink(whole.c_str());
    return trees::result(path, {{&tree, "unclosed"}});
}
