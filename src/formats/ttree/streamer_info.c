/* SPDX-License-Identifier: MIT
 *
 * The classes that a ROOT file describes: reads the record of the streamer information.
 */
#include "formats/ttree/ttree.h"

#include "container/container.h"

/* ---- Built-in classes, after the class definitions that ROOT publishes ---- */

#define MEMBER(type_, name_, type_name_)                                                                     \
    {                                                                                                        \
        .name = NT_TEXT_OF(name_), .type_name = NT_TEXT_OF(type_name_), .type = (type_)                      \
    }
#define BOOL(name) MEMBER(NT_STREAMER_BOOL, name, "bool")
#define SHORT(name) MEMBER(NT_STREAMER_SHORT, name, "short")
#define INT(name) MEMBER(NT_STREAMER_INT, name, "int")
#define UINT(name) MEMBER(NT_STREAMER_UINT, name, "unsigned int")
#define LONG64(name) MEMBER(NT_STREAMER_LONG64, name, "Long64_t")
#define FLOAT(name) MEMBER(NT_STREAMER_FLOAT, name, "float")
#define DOUBLE(name) MEMBER(NT_STREAMER_DOUBLE, name, "double")
#define COUNTER(name) MEMBER(NT_STREAMER_COUNTER, name, "int")
#define STRING(name) MEMBER(NT_STREAMER_TSTRING, name, "TString")
#define OBJECT(name, class_name) MEMBER(NT_STREAMER_OBJECT, name, class_name)
#define ANY(name, class_name) MEMBER(NT_STREAMER_ANY, name, class_name)
#define POINTER(name, class_name) MEMBER(NT_STREAMER_OBJECT_P, name, class_name "*")
#define BASE(class_name) MEMBER(NT_STREAMER_BASE, class_name, "BASE")
#define TOBJECT MEMBER(NT_STREAMER_TOBJECT, "TObject", "BASE")
#define TNAMED MEMBER(NT_STREAMER_TNAMED, "TNamed", "BASE")
#define ARRAY(type_, name_, type_name_, counter_)                                                            \
    {                                                                                                        \
        .name = NT_TEXT_OF(name_), .type_name = NT_TEXT_OF(type_name_ "*"),                                  \
        .type = NT_STREAMER_OFFSET_P + (type_), .counter = NT_TEXT_OF(counter_)                              \
    }
#define INTS(name, counter) ARRAY(NT_STREAMER_INT, name, "int", counter)
#define LONG64S(name, counter) ARRAY(NT_STREAMER_LONG64, name, "Long64_t", counter)
#define ELEMENTS(name) static const struct nt_streamer_element name[]

#define TREE_BASES TNAMED, BASE("TAttLine"), BASE("TAttFill"), BASE("TAttMarker")
#define TREE_LISTS OBJECT("fBranches", "TObjArray"), OBJECT("fLeaves", "TObjArray")
#define TREE_OLD                                                                                             \
    TREE_BASES, INT("fScanField"), INT("fMaxEntryLoop"), INT("fMaxVirtualSize"), DOUBLE("fEntries"),         \
        DOUBLE("fTotBytes"), DOUBLE("fZipBytes"), INT("fAutoSave"), INT("fEstimate"), TREE_LISTS
#define TREE_INDEX_VALUES ANY("fIndexValues", "TArrayD")
#define TREE_INDEX TREE_INDEX_VALUES, ANY("fIndex", "TArrayI")
#define TREE_TOTALS LONG64("fEntries"), LONG64("fTotBytes"), LONG64("fZipBytes"), LONG64("fSavedBytes")
#define TREE_UPDATES DOUBLE("fWeight"), INT("fTimerInterval"), INT("fScanField"), INT("fUpdate")
#define TREE_LIMITS                                                                                          \
    LONG64("fMaxEntries"), LONG64("fMaxEntryLoop"), LONG64("fMaxVirtualSize"), LONG64("fAutoSave")
#define TREE_CLUSTERS LONG64S("fClusterRangeEnd", "fNClusterRange"), LONG64S("fClusterSize", "fNClusterRange")
#define TREE_END                                                                                             \
    TREE_LISTS, POINTER("fAliases", "TList"), TREE_INDEX, POINTER("fTreeIndex", "TVirtualIndex"),            \
        POINTER("fFriends", "TList"), POINTER("fUserInfo", "TList"), POINTER("fBranchRef", "TBranchRef")

#define TREE_START_19                                                                                        \
    TREE_BASES, TREE_TOTALS, LONG64("fFlushedBytes"), TREE_UPDATES, INT("fDefaultEntryOffsetLen"),           \
        COUNTER("fNClusterRange"), TREE_LIMITS, LONG64("fAutoFlush"), LONG64("fEstimate"), TREE_CLUSTERS

#define BRANCH_SIZES INT("fCompress"), INT("fBasketSize"), INT("fEntryOffsetLen")
#define BRANCH_LISTS                                                                                         \
    OBJECT("fBranches", "TObjArray"), OBJECT("fLeaves", "TObjArray"), OBJECT("fBaskets", "TObjArray")
#define BRANCH_OLD_ENTRIES DOUBLE("fEntries"), DOUBLE("fTotBytes"), DOUBLE("fZipBytes")
#define BRANCH_OLD_START                                                                                     \
    BRANCH_SIZES, INT("fWriteBasket"), INT("fEntryNumber"), INT("fOffset"), COUNTER("fMaxBaskets")
#define BRANCH_OLD_END                                                                                       \
    BRANCH_OLD_ENTRIES, BRANCH_LISTS, INTS("fBasketBytes", "fMaxBaskets"),                                   \
        INTS("fBasketEntry", "fMaxBaskets"), INTS("fBasketSeek", "fMaxBaskets"), STRING("fFileName")
#define BRANCH_BYTES LONG64("fTotBytes"), LONG64("fZipBytes")
#define BRANCH_START TNAMED, BASE("TAttFill"), BRANCH_SIZES, INT("fWriteBasket"), LONG64("fEntryNumber")
#define BRANCH_MIDDLE INT("fOffset"), COUNTER("fMaxBaskets"), INT("fSplitLevel"), LONG64("fEntries")
#define BRANCH_END                                                                                           \
    BRANCH_BYTES, BRANCH_LISTS, INTS("fBasketBytes", "fMaxBaskets"), LONG64S("fBasketEntry", "fMaxBaskets"), \
        LONG64S("fBasketSeek", "fMaxBaskets"), STRING("fFileName")

#define BRANCH_ELEMENT(class_version)                                                                        \
    BASE("TBranch"), STRING("fClassName"), STRING("fParentName"), STRING("fClonesName"), UINT("fCheckSum"),  \
        class_version, INT("fID"), INT("fType"), INT("fStreamerType"), INT("fMaximum"),                      \
        POINTER("fBranchCount", "TBranchElement"), POINTER("fBranchCount2", "TBranchElement")

#define CLONES_START TNAMED, BRANCH_SIZES, INT("fMaxBaskets"), INT("fWriteBasket")
#define CLONES_END                                                                                           \
    INT("fOffset"), POINTER("fBranchCount", "TBranch"), STRING("fClassName"), OBJECT("fBranches", "TObjArray")
ELEMENTS(branch_clones_old) = {CLONES_START, INT("fEntryNumber"), BRANCH_OLD_ENTRIES, CLONES_END};
ELEMENTS(branch_clones) = {CLONES_START, LONG64("fEntryNumber"), LONG64("fEntries"), BRANCH_BYTES,
                           CLONES_END};

struct built_in {
    struct nt_text name;
    int32_t first, last; /* versions */
    const struct nt_streamer_element *elements;
    uint32_t element_count;
    uint32_t checksum;
};

#define CLASS_OF(name, first, last, checksum, ...)                                                           \
    {                                                                                                        \
        NT_TEXT_OF(name), first, last, (const struct nt_streamer_element[]){__VA_ARGS__},                    \
            sizeof((const struct nt_streamer_element[]){__VA_ARGS__}) / sizeof(struct nt_streamer_element),  \
            checksum                                                                                         \
    }
#define CLASS(name, first, last, ...) CLASS_OF(name, first, last, 0, __VA_ARGS__)
#define LEAF_UP_TO(version, name, type, type_name)                                                           \
    CLASS(name, 1, version, BASE("TLeaf"), MEMBER(type, "fMinimum", type_name),                              \
          MEMBER(type, "fMaximum", type_name))
#define LEAF(name, type, type_name) LEAF_UP_TO(1, name, type, type_name)

static const struct built_in built_ins[] = {
    CLASS("TNamed", 1, 1, TOBJECT, STRING("fName"), STRING("fTitle")),
    CLASS("TObjString", 1, 1, TOBJECT, STRING("fString")),
    CLASS("TAttLine", 1, 2, SHORT("fLineColor"), SHORT("fLineStyle"), SHORT("fLineWidth")),
    CLASS("TAttFill", 1, 2, SHORT("fFillColor"), SHORT("fFillStyle")),
    CLASS("TAttMarker", 1, 3, SHORT("fMarkerColor"), SHORT("fMarkerStyle"), FLOAT("fMarkerSize")),
    CLASS_OF("ROOT::TIOFeatures", 1, 1, 0x1aa12f10, MEMBER(NT_STREAMER_UCHAR, "fIOBits", "unsigned char")),
    CLASS("TFriendElement", 2, 2, TNAMED, STRING("fTreeName"), BOOL("fOwnFile")),
    CLASS("TNtuple", 1, 2, BASE("TTree"), INT("fNvar")),
    CLASS("TNtupleD", 1, 1, BASE("TTree"), INT("fNvar")),
    CLASS("TTree", 1, 1, TREE_OLD),
    CLASS("TTree", 2, 2, TREE_OLD, TREE_INDEX_VALUES),
    CLASS("TTree", 3, 3, TREE_OLD, TREE_INDEX),
    CLASS("TTree", 4, 4, TREE_OLD, TREE_INDEX, OBJECT("fUserInfo", "TList")),
    CLASS("TTree", 5, 5, TREE_BASES, DOUBLE("fEntries"), DOUBLE("fTotBytes"), DOUBLE("fZipBytes"),
          DOUBLE("fSavedBytes"), INT("fTimerInterval"), INT("fScanField"), INT("fUpdate"),
          INT("fMaxEntryLoop"), INT("fMaxVirtualSize"), INT("fAutoSave"), INT("fEstimate"), TREE_LISTS,
          TREE_INDEX),
    CLASS("TTree", 16, 16, TREE_BASES, TREE_TOTALS, TREE_UPDATES, TREE_LIMITS, LONG64("fEstimate"), TREE_END),
    CLASS("TTree", 17, 17, TREE_BASES, TREE_TOTALS, TREE_UPDATES, INT("fDefaultEntryOffsetLen"), TREE_LIMITS,
          LONG64("fEstimate"), TREE_END),
    CLASS("TTree", 18, 18, TREE_BASES, TREE_TOTALS, LONG64("fFlushedBytes"), TREE_UPDATES,
          INT("fDefaultEntryOffsetLen"), TREE_LIMITS, LONG64("fAutoFlush"), LONG64("fEstimate"), TREE_END),
    CLASS("TTree", 19, 19, TREE_START_19, TREE_END),
    CLASS("TTree", 20, 20, TREE_START_19, ANY("fIOFeatures", "ROOT::TIOFeatures"), TREE_END),
    CLASS("TBranch", 5, 5, TNAMED, BRANCH_SIZES, INT("fMaxBaskets"), INT("fWriteBasket"), INT("fEntryNumber"),
          BRANCH_OLD_ENTRIES, INT("fOffset"), BRANCH_LISTS, ANY("fBasketEntry", "TArrayI"),
          ANY("fBasketBytes", "TArrayI"), ANY("fBasketSeek", "TArrayI"), STRING("fFileName")),
    CLASS("TBranch", 6, 6, TNAMED, BRANCH_OLD_START, BRANCH_OLD_END),
    CLASS("TBranch", 7, 7, TNAMED, BRANCH_OLD_START, INT("fSplitLevel"), BRANCH_OLD_END),
    CLASS("TBranch", 8, 9, TNAMED, BASE("TAttFill"), BRANCH_OLD_START, INT("fSplitLevel"), BRANCH_OLD_END),
    CLASS("TBranch", 10, 10, BRANCH_START, BRANCH_MIDDLE, BRANCH_END),
    CLASS("TBranch", 11, 12, BRANCH_START, BRANCH_MIDDLE, LONG64("fFirstEntry"), BRANCH_END),
    CLASS("TBranch", 13, 13, BRANCH_START, ANY("fIOFeatures", "ROOT::TIOFeatures"), BRANCH_MIDDLE,
          LONG64("fFirstEntry"), BRANCH_END),
    CLASS("TBranchElement", 8, 9, BRANCH_ELEMENT(INT("fClassVersion"))),
    CLASS("TBranchElement", 10, 10, BRANCH_ELEMENT(SHORT("fClassVersion"))),
    CLASS("TBranchObject", 1, 1, BASE("TBranch"), STRING("fClassName")),
    CLASS("TBranchRef", 1, 1, BASE("TBranch"), POINTER("fRefTable", "TRefTable")),
    CLASS("TBranchSTL", 1, 1, BASE("TBranch"), STRING("fContName"), STRING("fClassName"),
          INT("fClassVersion"), UINT("fClCheckSum"), INT("fID")),
    CLASS("TLeaf", 1, 2, TNAMED, INT("fLen"), INT("fLenType"), INT("fOffset"), BOOL("fIsRange"),
          BOOL("fIsUnsigned"), POINTER("fLeafCount", "TLeaf")),
    LEAF("TLeafB", NT_STREAMER_CHAR, "char"),
    LEAF("TLeafC", NT_STREAMER_INT, "int"),
    LEAF("TLeafD", NT_STREAMER_DOUBLE, "double"),
    LEAF_UP_TO(2, "TLeafD32", NT_STREAMER_DOUBLE32, "Double32_t"),
    CLASS("TLeafElement", 1, 1, BASE("TLeaf"), INT("fID"), INT("fType")),
    LEAF("TLeafF", NT_STREAMER_FLOAT, "float"),
    LEAF_UP_TO(2, "TLeafF16", NT_STREAMER_FLOAT16, "Float16_t"),
    LEAF("TLeafG", NT_STREAMER_LONG, "long"),
    LEAF("TLeafI", NT_STREAMER_INT, "int"),
    LEAF("TLeafL", NT_STREAMER_LONG64, "Long64_t"),
    LEAF("TLeafO", NT_STREAMER_BOOL, "bool"),
    CLASS("TLeafObject", 1, 1, BASE("TLeaf")),
    CLASS("TLeafObject", 3, 4, BASE("TLeaf"), BOOL("fVirtual")),
    LEAF("TLeafS", NT_STREAMER_SHORT, "short"),
};

enum { BUILT_INS = sizeof(built_ins) / sizeof(built_ins[0]), CLONES_LAST_VERSION = 2 };

static const struct nt_text clones_name = NT_TEXT_OF("TBranchClones"), branch_name = NT_TEXT_OF("TBranch");

/* ---- The record ---- */

struct streamer_info_reader {
    struct nt_cursor cursor;
    uint32_t key_bytes; /* references count from the start of the key */
    struct nt_arena *arena;
    struct nt_budget *budget;
    uint64_t offset; /* of the record in the file */
};

static enum nt_status fail(const struct streamer_info_reader *reader, const char *what,
                           struct nt_error *error)
{
    return nt_fail(error, NT_CORRUPT, reader->offset, "the streamer information, byte %zu of its object: %s",
                   reader->cursor.position, what);
}

/* Zeroed memory of the arena. `count` is at most the number of bytes of the object. */
static enum nt_status allocate(const struct streamer_info_reader *reader, uint64_t count, size_t size,
                               void **items_ret, struct nt_error *error)
{
    NT_TRY(nt_budget_take(reader->budget, NT_COST_ENVELOPE_BYTE, count * size, reader->offset, error));
    *items_ret = nt_arena_alloc(reader->arena, count, size);
    return nt_check_memory(*items_ret, error);
}

/* The version of an object, and a cursor over the rest of it, which is skipped. */
static struct nt_cursor get_object(struct nt_cursor *cursor, uint16_t *version_ret)
{
    uint32_t byte_count = nt_get_be32(cursor);
    if (!(byte_count & NT_TFILE_BYTE_COUNT_MASK))
        cursor->failed = true;
    struct nt_cursor object = nt_get_cursor(cursor, byte_count & ~NT_TFILE_BYTE_COUNT_MASK);
    *version_ret = nt_get_be16(&object);
    return object;
}

/* Reads the class of an item of a list; `item_ret` is a cursor over the object, which is skipped. */
static struct nt_text get_item(struct streamer_info_reader *reader, struct nt_cursor *cursor,
                               struct nt_cursor *item_ret)
{
    uint32_t byte_count = nt_get_be32(cursor);
    if (!(byte_count & NT_TFILE_BYTE_COUNT_MASK) || byte_count == NT_TFILE_NEW_CLASS_TAG)
        cursor->failed = true;
    *item_ret = nt_get_cursor(cursor, byte_count & ~NT_TFILE_BYTE_COUNT_MASK);
    uint32_t tag = nt_get_be32(item_ret);
    if (tag == NT_TFILE_NEW_CLASS_TAG)
        return nt_tfile_get_class_name(item_ret);
    uint64_t offset = (uint64_t)(tag & ~NT_TFILE_CLASS_MASK);
    struct nt_cursor named = reader->cursor;
    named.position = 0;
    if (!(tag & NT_TFILE_CLASS_MASK) || offset < reader->key_bytes + NT_TFILE_MAP_OFFSET ||
        !nt_cursor_skip(&named, offset - NT_TFILE_MAP_OFFSET - reader->key_bytes) ||
        nt_get_be32(&named) != NT_TFILE_NEW_CLASS_TAG) {
        cursor->failed = true;
        return (struct nt_text){0};
    }
    struct nt_text name = nt_tfile_get_class_name(&named);
    cursor->failed |= named.failed;
    return name;
}

/* ---- Elements ---- */

enum element_class {
    PLAIN,
    BASE_CLASS,
    COUNTED, /* has the name of its counter */
    STL,
    STL_STRING,
};

static enum element_class element_class_of(struct nt_text name)
{
    static const struct {
        const char *name;
        enum element_class element_class;
    } rows[] = {
        {"TStreamerBase", BASE_CLASS}, {"TStreamerBasicPointer", COUNTED}, {"TStreamerLoop", COUNTED},
        {"TStreamerSTL", STL},         {"TStreamerSTLstring", STL_STRING},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (nt_text_is(name, rows[i].name))
            return rows[i].element_class;
    return PLAIN;
}

static void get_named(struct nt_cursor *cursor, struct nt_text *name_ret, struct nt_text *title_ret)
{
    uint16_t version;
    struct nt_cursor named = get_object(cursor, &version);
    nt_tobject_skip(&named);
    *name_ret = nt_tfile_get_string(&named);
    *title_ret = nt_tfile_get_string(&named);
    cursor->failed |= named.failed;
}

/* The dimensions: at least NT_STREAMER_DIMENSIONS numbers. False if they are impossible. */
static bool get_dimensions(struct nt_cursor *cursor, uint16_t version, struct nt_streamer_element *element)
{
    uint32_t stored = version == 1 ? nt_get_be32(cursor) : NT_STREAMER_DIMENSIONS;
    struct nt_cursor numbers = nt_get_cursor(cursor, (uint64_t)stored * 4);
    if (element->length > INT32_MAX || element->dimension_count > NT_STREAMER_DIMENSIONS ||
        element->dimension_count > stored)
        return false;
    for (uint32_t i = 0; i < element->dimension_count; i++) {
        element->dimensions[i] = nt_get_be32(&numbers);
        if (element->dimensions[i] > INT32_MAX)
            return false;
    }
    return !numbers.failed;
}

/* Older files have the type of an unsigned character for truth values. */
static void correct_type(struct nt_streamer_element *element)
{
    bool is_uchar = element->type == NT_STREAMER_UCHAR ||
                    element->type == NT_STREAMER_OFFSET_L + NT_STREAMER_UCHAR ||
                    element->type == NT_STREAMER_OFFSET_P + NT_STREAMER_UCHAR;
    struct nt_text name = element->type_name;
    if (name.length && name.bytes[name.length - 1] == '*')
        name.length--;
    if (is_uchar && (nt_text_is(name, "Bool_t") || nt_text_is(name, "bool")))
        element->type += NT_STREAMER_BOOL - NT_STREAMER_UCHAR;
}

/* Members of the class TStreamerElement. False if they are impossible. */
static bool get_element_members(struct nt_cursor *cursor, struct nt_streamer_element *element)
{
    uint16_t version;
    struct nt_cursor members = get_object(cursor, &version);
    get_named(&members, &element->name, &element->title);
    element->type = (int32_t)nt_get_be32(&members);
    nt_cursor_skip(&members, 4); /* fSize */
    element->length = nt_get_be32(&members);
    element->dimension_count = nt_get_be32(&members);
    bool is_possible = get_dimensions(&members, version, element);
    element->type_name = nt_tfile_get_string(&members);
    cursor->failed |= members.failed;
    correct_type(element);
    return is_possible;
}

/* Files have the type NT_STREAMER_STREAMER for all STL members, so that old versions can read them; and
 * the numbers of sets and multimaps were once exchanged. */
static void correct_stl(struct nt_streamer_element *element, bool is_string)
{
    struct nt_text name = element->type_name;
    bool is_pointer = name.length && name.bytes[name.length - 1] == '*';
    element->type = is_pointer ? NT_STREAMER_STL_P : is_string ? NT_STREAMER_STL_STRING : NT_STREAMER_STL;
    if (element->length > 0)
        element->type += NT_STREAMER_OFFSET_L;
    nt_text_skip(&name, "std::");
    if (element->stl_type == NT_STL_MULTIMAP && nt_text_skip(&name, "set<"))
        element->stl_type = NT_STL_SET;
    else if (element->stl_type == NT_STL_SET && nt_text_skip(&name, "multimap<"))
        element->stl_type = NT_STL_MULTIMAP;
}

static bool get_stl(struct nt_cursor *cursor, bool is_string, struct nt_streamer_element *element)
{
    bool is_possible = get_element_members(cursor, element);
    element->stl_type = (int32_t)nt_get_be32(cursor);
    element->content_type = (int32_t)nt_get_be32(cursor);
    correct_stl(element, is_string);
    return is_possible;
}

static bool get_element(struct nt_cursor *item, enum element_class element_class,
                        struct nt_streamer_element *element)
{
    uint16_t version;
    struct nt_cursor object = get_object(item, &version), base;
    bool is_possible;
    if (element_class == STL_STRING) {
        base = get_object(&object, &version);
        is_possible = get_stl(&base, true, element);
        object.failed |= base.failed;
    } else if (element_class == STL) {
        is_possible = get_stl(&object, false, element);
    } else {
        is_possible = get_element_members(&object, element);
    }
    if (element_class == BASE_CLASS && nt_cursor_left(&object) >= 4)
        element->base_version = (int32_t)nt_get_be32(&object);
    if (element_class == COUNTED) {
        nt_cursor_skip(&object, 4); /* fCountVersion */
        element->counter = nt_tfile_get_string(&object);
    }
    item->failed |= object.failed;
    return is_possible;
}

/* ---- Classes ---- */

/* The start of a TObjArray or TList: the number of items, each of at least 4 bytes. */
static uint32_t get_list(struct nt_cursor *list, bool is_array)
{
    nt_tobject_skip(list);
    nt_tfile_get_string(list);
    uint32_t count = nt_get_be32(list);
    if (is_array)
        nt_cursor_skip(list, 4); /* fLowerBound */
    if (count > nt_cursor_left(list) / 4)
        list->failed = true;
    return list->failed ? 0 : count;
}

/* A pointer to no object: some writers store the unused places of an array, too. */
static bool skip_null(struct nt_cursor *array)
{
    struct nt_cursor pointer = *array;
    bool is_null = nt_get_be32(&pointer) == 0 && !pointer.failed;
    if (is_null)
        *array = pointer;
    return is_null;
}

static enum nt_status read_elements(struct streamer_info_reader *reader, struct nt_cursor *array,
                                    struct nt_streamer_class *described, struct nt_error *error)
{
    uint32_t count = get_list(array, true);
    struct nt_streamer_element *elements;
    NT_TRY(allocate(reader, count + 1, sizeof(*elements), (void **)&elements, error));
    described->elements = elements;
    for (uint32_t i = 0; i < count && !array->failed; i++) {
        if (skip_null(array))
            continue;
        struct nt_cursor item;
        struct nt_text name = get_item(reader, array, &item);
        bool is_possible = get_element(&item, element_class_of(name), &elements[described->element_count++]);
        array->failed |= item.failed;
        if (!array->failed && !is_possible)
            return nt_fail(error, NT_CORRUPT, reader->offset,
                           "the streamer information: class %.*s: element %" PRIu32
                           " has impossible dimensions",
                           NT_FORMAT_TEXT(described->name, 80), i);
    }
    return NT_OK;
}

/* Reads a TStreamerInfo. */
static enum nt_status read_class(struct streamer_info_reader *reader, struct nt_cursor *item,
                                 struct nt_streamer_class *described, struct nt_error *error)
{
    uint16_t version;
    struct nt_text title;
    struct nt_cursor object = get_object(item, &version), elements;
    get_named(&object, &described->name, &title);
    described->checksum = nt_get_be32(&object);
    described->version = (int32_t)nt_get_be32(&object);
    struct nt_text list_class = get_item(reader, &object, &elements);
    struct nt_cursor array = get_object(&elements, &version);
    item->failed |= object.failed || elements.failed || !nt_text_is(list_class, "TObjArray");
    if (item->failed)
        return NT_OK;
    enum nt_status status = read_elements(reader, &array, described, error);
    item->failed |= array.failed;
    return status;
}

/* For so many classes of the file, and the built-in ones. */
static enum nt_status make_room(const struct streamer_info_reader *reader, struct nt_streamer_info *info,
                                uint32_t count, struct nt_error *error)
{
    uint64_t all = (uint64_t)count + CLONES_LAST_VERSION;
    for (unsigned i = 0; i < BUILT_INS; i++)
        all += (uint32_t)(built_ins[i].last - built_ins[i].first + 1);
    NT_TRY(allocate(reader, all, sizeof(*info->by_name), (void **)&info->by_name, error));
    return allocate(reader, all, sizeof(*info->classes), (void **)&info->classes, error);
}

/* The list has the classes, and may have a list of rules, which is skipped. */
static enum nt_status read_list(struct streamer_info_reader *reader, struct nt_streamer_info *info,
                                struct nt_error *error)
{
    uint16_t version;
    struct nt_cursor list = get_object(&reader->cursor, &version);
    uint32_t count = get_list(&list, false);
    if (list.failed)
        return fail(reader, "no list of classes", error);
    NT_TRY(make_room(reader, info, count, error));
    for (uint32_t i = 0; i < count; i++) {
        struct nt_cursor item;
        struct nt_text name = get_item(reader, &list, &item);
        if (nt_text_is(name, "TStreamerInfo"))
            NT_TRY(read_class(reader, &item, &info->classes[info->class_count++], error));
        nt_tfile_get_string(&list); /* its option */
        reader->cursor.position = list.position;
        if (list.failed || item.failed)
            return fail(reader, "a class has no name, or extends past its end", error);
    }
    return NT_OK;
}

/* ---- Built-in classes after those of the file ---- */

static int compare_classes(const void *left, const void *right)
{
    const struct nt_streamer_class *a = *(const struct nt_streamer_class *const *)left;
    const struct nt_streamer_class *b = *(const struct nt_streamer_class *const *)right;
    int order = nt_texts_compare(a->name, b->name);
    if (order == 0)
        order = (a->version > b->version) - (a->version < b->version);
    return order != 0 ? order : (a > b) - (a < b); /* as in the file */
}

static void sort_classes(struct nt_streamer_info *info)
{
    for (uint32_t i = 0; i < info->class_count; i++)
        info->by_name[i] = &info->classes[i];
    qsort(info->by_name, info->class_count, sizeof(*info->by_name), compare_classes);
}

/* Adds one class after `count`, unless the file describes it. */
static void add_class(const struct nt_streamer_info *info, const struct nt_streamer_class *added,
                      uint32_t *count)
{
    if (!nt_streamer_find(info, added->name, added->version)) {
        info->classes[*count] = *added;
        info->classes[*count].is_built_in = true;
        ++*count;
    }
}

/* The streamer of TBranchClones is its own: what files describe is not what it writes. Its numbers of
 * entries are as wide as those of the TBranch of its time, which files do describe. */
static void add_clones(struct nt_streamer_info *info, uint32_t *count)
{
    enum { FIRST_WIDE_VERSION = 10 };
    const struct nt_streamer_class *branch = nt_streamer_find(info, branch_name, NT_STREAMER_NEWEST);
    bool is_wide = !branch || branch->version >= FIRST_WIDE_VERSION;
    struct nt_streamer_class clones = {.name = clones_name,
                                       .elements = is_wide ? branch_clones : branch_clones_old,
                                       .element_count = sizeof(branch_clones) / sizeof(branch_clones[0])};
    for (uint32_t i = 0; i < info->class_count; i++) {
        if (nt_texts_are_equal(info->classes[i].name, clones_name)) {
            info->classes[i].elements = clones.elements;
            info->classes[i].element_count = clones.element_count;
            info->classes[i].is_built_in = true;
        }
    }
    for (clones.version = 1; clones.version <= CLONES_LAST_VERSION; clones.version++)
        add_class(info, &clones, count);
}

/* The classes of the file are sorted. */
static void add_built_ins(struct nt_streamer_info *info)
{
    uint32_t count = info->class_count;
    for (unsigned i = 0; i < BUILT_INS; i++) {
        const struct built_in *row = &built_ins[i];
        struct nt_streamer_class added = {.name = row->name,
                                          .checksum = row->checksum,
                                          .elements = row->elements,
                                          .element_count = row->element_count};
        for (added.version = row->first; added.version <= row->last; added.version++)
            add_class(info, &added, &count);
    }
    add_clones(info, &count);
    info->class_count = count;
}

/* ---- Base classes ---- */

/* The first sorted class that is not before (name, version). */
static uint32_t lower_bound(const struct nt_streamer_info *info, struct nt_text name, int64_t version)
{
    uint32_t low = 0, high = info->class_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = nt_texts_compare(info->by_name[middle]->name, name);
        if (order < 0 || (order == 0 && info->by_name[middle]->version < version))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void mark_bases_of(struct nt_streamer_info *info, const struct nt_streamer_class *derived)
{
    for (uint32_t i = 0; i < derived->element_count; i++) {
        const struct nt_streamer_element *element = &derived->elements[i];
        if (element->type != NT_STREAMER_BASE && !nt_text_is(element->type_name, "BASE"))
            continue;
        for (uint32_t at = lower_bound(info, element->name, INT32_MIN);
             at < info->class_count && nt_texts_are_equal(info->by_name[at]->name, element->name); at++)
            info->classes[info->by_name[at] - info->classes].is_base = true;
    }
}

/* ---- Read it ---- */

static enum nt_status read_object(struct nt_file *file, struct streamer_info_reader *reader,
                                  const struct nt_tfile_key *key, struct nt_streamer_info *info,
                                  struct nt_error *error)
{
    const struct nt_tfile_object object = {.offset = key->offset,
                                           .key_bytes = key->key_bytes,
                                           .bytes = key->bytes,
                                           .object_bytes = key->object_bytes};
    NT_TRY(nt_tfile_read_object(file, &object, &info->bytes, &info->byte_count, error));
    reader->cursor = nt_cursor(info->bytes, info->byte_count);
    reader->key_bytes = key->key_bytes;
    return NT_OK;
}

static enum nt_status read_key(struct nt_file *file, uint64_t offset, struct nt_tfile_key *key_ret,
                               struct nt_error *error)
{
    NT_TRY(nt_tfile_read_bare_key(file->source, offset, key_ret, error));
    if (!nt_range_fits(offset, key_ret->bytes, file->source->size))
        return nt_fail(error, NT_TRUNCATED, offset,
                       "the streamer information: its %" PRIu32
                       " bytes extend past the end of the file (%" PRIu64 " bytes)",
                       key_ret->bytes, file->source->size);
    return NT_OK;
}

enum nt_status nt_streamer_info_read(struct nt_file *file, uint64_t offset, uint64_t bytes,
                                     struct nt_streamer_info *info_ret, struct nt_error *error)
{
    struct nt_streamer_info info = {0};
    struct streamer_info_reader reader = {.arena = file->arena, .budget = &file->budget, .offset = offset};
    struct nt_tfile_key key;
    if (offset == 0 || bytes == 0) {
        NT_TRY(make_room(&reader, &info, 0, error));
    } else {
        NT_TRY(read_key(file, offset, &key, error));
        NT_TRY(read_object(file, &reader, &key, &info, error));
        NT_TRY(read_list(&reader, &info, error));
    }
    sort_classes(&info);
    add_built_ins(&info);
    sort_classes(&info);
    for (uint32_t i = 0; i < info.class_count; i++)
        mark_bases_of(&info, &info.classes[i]);
    *info_ret = info;
    return NT_OK;
}

/* ---- Find a class ---- */

const struct nt_streamer_class *nt_streamer_find(const struct nt_streamer_info *info, struct nt_text name,
                                                 int32_t version)
{
    bool is_newest = version == NT_STREAMER_NEWEST;
    uint32_t at = lower_bound(info, name, is_newest ? (int64_t)INT32_MAX + 1 : version);
    if (is_newest && at-- == 0)
        return NULL;
    if (at >= info->class_count)
        return NULL;
    const struct nt_streamer_class *found = info->by_name[at];
    return nt_texts_are_equal(found->name, name) && (is_newest || found->version == version) ? found : NULL;
}

const struct nt_streamer_class *nt_streamer_find_checksum(const struct nt_streamer_info *info,
                                                          struct nt_text name, uint32_t checksum)
{
    for (uint32_t i = lower_bound(info, name, INT32_MIN); i < info->class_count; i++) {
        const struct nt_streamer_class *found = info->by_name[i];
        if (!nt_texts_are_equal(found->name, name))
            break;
        if (found->checksum == checksum)
            return found;
    }
    return NULL;
}
