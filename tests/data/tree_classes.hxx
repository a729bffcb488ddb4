/* SPDX-License-Identifier: MIT
 *
 * Classes that the trees of write_trees.cxx store; ROOT compiles dictionaries of them.
 */
#ifndef TESTS_DATA_TREE_CLASSES_HXX
#define TESTS_DATA_TREE_CLASSES_HXX

#include "tree.hxx"

#include <THashList.h>
#include <TMap.h>
#include <TObjArray.h>
#include <TObjString.h>
#include <TObject.h>
#include <TString.h>

struct Inner {
    int x = 0;
    float y[3] = {};
    Double32_t d = 0; //[-8,8,12]
    TELLS(x, y, d)
};

struct Base {
    int id = 0;
    TELLS(id)
};

struct Weighted {
    double weight = 0;
    TELLS(weight)
};

struct Hit : Base {
    float charge = 0;
    std::vector<short> samples;
    TELLS(id, charge, samples)
};

struct Flat {
    char a = 0;
    unsigned short b = 0;
    double c = 0;
    TELLS(a, b, c)
};

enum Color { red, green = 7, blue = -1 };

struct Event : Base, Weighted {
    short kind = 0;
    bool flags[4] = {};
    unsigned long long big = 0;
    float matrix[2][3] = {};
    Color color = red;
    std::string title;
    TString other;
    int n = 0;
    float *values = nullptr; //[n]
    std::vector<int> numbers;
    std::vector<std::string> words;
    Inner inner;
    std::vector<Hit> hits;
    std::map<std::string, std::vector<int>> groups;
    std::array<short, 3> shorts = {};
    double transient = 0; //!
    TELLS(id, weight, kind, flags, big, matrix, color, title, other, counter(n), counted(values, n), numbers,
          words, inner, hits, groups, shorts)
};

struct Arrays {
    std::array<std::vector<int>, 3> vectors;
    std::array<std::map<int, double>, 2> maps;
    std::array<std::set<short>, 2> sets;
    std::array<std::string, 2> words;
    TELLS(vectors, maps, sets, words)
};

/* Arrays of objects, which the items of split collections have, too; and arrays in a list. */
class Grid : public TObject
{
  public:
    short id = 0;
    Flat flats[2] = {};
    Weighted weights[2][2] = {};
    std::array<Flat, 2> both = {};
    std::array<float, 3> point = {};
    std::array<std::array<int, 2>, 2> matrix = {};
    TELLS(id, flats, weights, both, point, matrix)
    ClassDef(Grid, 1)
};

struct Points {
    std::vector<std::array<float, 3>> points;
    std::vector<std::vector<std::array<Flat, 2>>> flats;
    std::map<int, std::array<short, 2>> shorts;
    TELLS(points, flats, shorts)
};

/* Enumerations, which files do not describe, in nested collections, and in maps. */
struct Colors {
    std::vector<std::vector<Color>> lists;
    std::map<int, std::vector<std::set<Color>>> sets;
    std::vector<std::map<Color, Flat>> keys;
    std::vector<std::map<int, Color>> values;
    TELLS(lists, sets, keys, values)
};

class Track : public TObject
{
  public:
    float px = 0, py = 0;
    int n = 0;
    short *hits = nullptr; //[n]
    Float16_t slope = 0;   //[-4,4,10]
    TString label;
    TELLS(px, py, counter(n), counted(hits, n), slope, label)
    ClassDef(Track, 3)
};

/* Arrays whose lengths are another member: one, and a fixed number of them. A null pointer is an empty array.
 */
struct Jagged {
    int n = 0;
    float *x = nullptr;      //[n]
    Double32_t *d = nullptr; //[n]
    short *pair[2] = {};     //[n]
    TELLS(counter(n), counted(x, x ? n : 0), counted(d, n), both(pair, n))
};

struct Linked {
    short id = 0;
    Flat *flat = nullptr;
    TELLS(id, flat)
};

/* The same of objects, and of pointers to them. */
struct Loops {
    int n = 0;
    Flat *flats = nullptr;     //[n]
    Flat *pair[2] = {};        //[n]
    Linked **linked = nullptr; //[n]
    TELLS(counter(n), counted(flats, n), both(pair, n), counted(linked, n))
};

/* Contains, by way of a pointer, itself. */
struct Node {
    int value = 0;
    Node *next = nullptr;
    TELLS(value)
};

struct Shape {
    virtual ~Shape() = default;
    int sides = 0;
    TELLS(sides)
};

struct Circle : Shape {
    float radius = 0;
    TELLS(sides, radius)
};

/* Pointers to objects of one class, which may be null; and to objects of several classes. */
struct Pointers {
    int before = 0;
    Inner *inner = nullptr;
    Track *track = nullptr;
    std::unique_ptr<Linked> linked;
    Inner *pair[2] = {};
    std::vector<Flat *> flats;
    Node *node = nullptr;
    Shape *any = nullptr;
    int after = 0;
    TELLS(before, inner, track, pointer(linked), pair, flats, after)
};

/* An object of one of several classes, as a record of optionals that are called like the classes. */
struct AnyShape {
    std::vector<::Circle> Circle;
    std::vector<::Shape> Shape;
    TELLS(Circle, Shape)
};

inline AnyShape shape_of(const Shape *pointer)
{
    AnyShape any;
    if (auto *circle = dynamic_cast<const Circle *>(pointer))
        any.Circle.push_back(*circle);
    else if (pointer)
        any.Shape.push_back(*pointer);
    return any;
}

inline std::vector<AnyShape> shapes_of(const std::vector<Shape *> &pointers)
{
    std::vector<AnyShape> result;
    for (const Shape *pointer : pointers)
        result.push_back(shape_of(pointer));
    return result;
}

class Mark : public TObject
{
  public:
    short kind = 0;
    std::vector<int> points;
    TELLS(kind, points)
    ClassDef(Mark, 1)
};

class LongMark : public Mark
{
  public:
    float length = 0;
    TELLS(kind, points, length)
    ClassDef(LongMark, 2)
};

struct AnyObject {
    std::vector<::Track> Track;
    std::vector<::Mark> Mark;
    TELLS(Track, Mark)
};

inline AnyObject object_of(const TObject *object)
{
    AnyObject any;
    if (auto *track = dynamic_cast<const Track *>(object))
        any.Track.push_back(*track);
    if (auto *mark = dynamic_cast<const Mark *>(object))
        any.Mark.push_back(*mark);
    return any;
}

/* Those of a TObjArray with its empty places. */
inline std::vector<AnyObject> objects_of(const TSeqCollection &list)
{
    std::vector<AnyObject> result;
    for (int i = 0; i <= list.GetLast(); i++)
        result.push_back(object_of(list.At(i)));
    return result;
}

inline std::vector<std::vector<AnyObject>> lists_of(const TSeqCollection *list)
{
    return std::vector<std::vector<AnyObject>>(list ? 1 : 0,
                                               list ? objects_of(*list) : std::vector<AnyObject>());
}

/* The key of a TMap, whose pairs are told in their own order. */
struct Key {
    TString fString;
    TELLS(fString)
    friend bool operator<(const Key &, const Key &)
    {
        return false;
    }
};

inline std::vector<std::multimap<std::vector<Key>, AnyObject>> pairs_of(const TMap *map)
{
    std::vector<std::multimap<std::vector<Key>, AnyObject>> result(map != nullptr);
    TIter next(map);
    while (const TObject *key = next()) {
        Key told;
        told.fString = static_cast<const TObjString *>(key)->GetString();
        result[0].emplace(std::vector<Key>{told}, object_of(map->GetValue(key)));
    }
    return result;
}

/* Lists and pointers whose objects are of several classes. Lists share some of them. */
struct Objects {
    int before = 0;
    TObjArray array;
    TList *list = new TList(); //->
    THashList *hashed = nullptr;
    TMap *map = nullptr;
    Shape *none = nullptr; /* in all entries */
    Shape *one = nullptr;
    std::vector<Shape *> several;
    int after = 0;
    TELLS(before, objects_of(array), objects_of(*list), lists_of(hashed), pairs_of(map), shape_of(one),
          shapes_of(several), after)
};

inline std::vector<Track> tracks_of(const TClonesArray &array)
{
    std::vector<Track> result;
    for (int i = 0; i < array.GetEntriesFast(); i++)
        result.push_back(*static_cast<Track *>(array.At(i)));
    return result;
}

/* TClonesArrays as members. */
struct Bundle {
    int before = 0;
    TClonesArray inside{"Track"};
    TClonesArray *beside = new TClonesArray("Track"); //->
    int after = 0;
    TELLS(before, tracks_of(inside), tracks_of(*beside), after)
};

#endif
