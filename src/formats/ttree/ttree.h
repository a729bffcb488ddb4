/* SPDX-License-Identifier: MIT
 *
 * TTree: reads the streamer information of a ROOT file, the records of a tree, its branches, leaves and
 * baskets, and how the bytes of an entry become columns.
 */
#pragma once

#include <ntuple/format.h>

#include "core/base/text.h"
#include "core/codec/codec.h"
#include "core/model/builder.h"
#include "core/model/model.h"

/* The start of a text of a file, for "%.*s" in messages. */
#define NT_FORMAT_TEXT(text, most) (int)nt_min((text).length, most), (text).bytes ? (text).bytes : ""

/* ---- streamer_info.c: the classes that a file describes ---- */

/* TStreamerElement::fType. Arrays of a fixed length add OFFSET_L to the type of an item, arrays whose
 * length is another member OFFSET_P. */
enum nt_streamer_type {
    NT_STREAMER_BASE = 0,
    NT_STREAMER_CHAR = 1,
    NT_STREAMER_SHORT = 2,
    NT_STREAMER_INT = 3,
    NT_STREAMER_LONG = 4, /* 8 bytes in a file */
    NT_STREAMER_FLOAT = 5,
    NT_STREAMER_COUNTER = 6, /* an Int_t that counts another member */
    NT_STREAMER_CHAR_STAR = 7,
    NT_STREAMER_DOUBLE = 8,
    NT_STREAMER_DOUBLE32 = 9,
    NT_STREAMER_LEGACY_CHAR = 10,
    NT_STREAMER_UCHAR = 11,
    NT_STREAMER_USHORT = 12,
    NT_STREAMER_UINT = 13,
    NT_STREAMER_ULONG = 14,
    NT_STREAMER_BITS = 15, /* fBits of TObject */
    NT_STREAMER_LONG64 = 16,
    NT_STREAMER_ULONG64 = 17,
    NT_STREAMER_BOOL = 18,
    NT_STREAMER_FLOAT16 = 19,
    NT_STREAMER_OFFSET_L = 20,
    NT_STREAMER_OFFSET_P = 40,
    NT_STREAMER_OBJECT = 61,        /* of a class derived from TObject */
    NT_STREAMER_ANY = 62,           /* of another class */
    NT_STREAMER_OBJECT_P_FULL = 63, /* a pointer that is never null: "->" */
    NT_STREAMER_OBJECT_P = 64,      /* a pointer */
    NT_STREAMER_TSTRING = 65,
    NT_STREAMER_TOBJECT = 66,
    NT_STREAMER_TNAMED = 67,
    NT_STREAMER_ANY_P_FULL = 68,
    NT_STREAMER_ANY_P = 69,
    NT_STREAMER_STL_P = 71,
    NT_STREAMER_STL = 300,
    NT_STREAMER_STL_STRING = 365,
    NT_STREAMER_STREAMER = 500, /* its class has a custom streamer */
    NT_STREAMER_STREAM_LOOP = 501,
};

/* Some values of fSTLtype. */
enum { NT_STL_MAP = 4, NT_STL_MULTIMAP = 5, NT_STL_SET = 6 };

enum { NT_STREAMER_DIMENSIONS = 5 };

struct nt_streamer_element {
    struct nt_text name, title, type_name; /* "fEntries", "Number of entries", "Long64_t" */
    int32_t type;                          /* enum nt_streamer_type; of STL members not the stored 500 */
    uint32_t length;                       /* items of an array of fixed length: the product; else 0 */
    uint32_t dimension_count;
    uint32_t dimensions[NT_STREAMER_DIMENSIONS];
    int32_t stl_type, content_type; /* fSTLtype, fCtype */
    int32_t base_version;           /* of a base class */
    struct nt_text counter;         /* fCountName: the member that is the length */
};

struct nt_streamer_class {
    struct nt_text name;
    int32_t version;
    uint32_t checksum;
    const struct nt_streamer_element *elements;
    uint32_t element_count;
    bool is_built_in; /* from our own table: the file does not describe it */
    bool is_base;     /* of another class of the file */
};

/* The classes of a file. Texts point into `bytes`. */
struct nt_streamer_info {
    struct nt_streamer_class *classes; /* as in the file, then the built-in ones */
    uint32_t class_count;
    const struct nt_streamer_class **by_name; /* by name and version, for nt_streamer_find */
    const uint8_t *bytes;                     /* the record's object, decompressed */
    size_t byte_count;
    uint32_t root_version; /* that wrote the file: 51508 for 5.15/08; 0: unknown, as a recent one */
};

enum {
    NT_STREAMER_NEWEST = -1,
    NT_STREAMER_NO_OBJECTS = -2, /* a class that the file does not describe: an object of it is an error */
    NT_STREAMER_VERSION_0 = -3,  /* the class has version 0, and no checksum follows that */
};

/* Reads the record of the streamer information into the file's arena, within its budget; adds built-in
 * classes for what the file does not describe. A file without a record has only those. Classes with
 * impossible counts or types are NT_CORRUPT. */
enum nt_status nt_streamer_info_read(struct nt_file *file, uint64_t offset, uint64_t bytes,
                                     struct nt_streamer_info *info_ret, struct nt_error *error);
/* NULL: the class, or this version of it, is not described. */
const struct nt_streamer_class *nt_streamer_find(const struct nt_streamer_info *info, struct nt_text name,
                                                 int32_t version);
const struct nt_streamer_class *nt_streamer_find_checksum(const struct nt_streamer_info *info,
                                                          struct nt_text name, uint32_t checksum);

/* Writes streamer_info.json: each class with its elements. */
enum nt_status nt_streamer_info_describe(const struct nt_streamer_info *info, struct nt_buffer *out,
                                         struct nt_error *error);

/* ---- object.c: one bounded reader for any object whose class is described ---- */

/* What the walk is at. */
struct nt_object_member {
    struct nt_text name;       /* of the member; empty for items of a list */
    struct nt_text class_name; /* of an object, else the type: "Long64_t" */
    int32_t version;           /* of the object's class */
    bool is_list;         /* of an object: its members are `count` items without names; numbers: an array */
    int32_t type;         /* enum nt_streamer_type, of numbers: the type of one */
    uint64_t count;       /* of numbers and items */
    const uint8_t *bytes; /* big-endian numbers, or the characters of a string */
    size_t byte_count;
    size_t offset; /* of the object or value in the buffer; of an item, of its tag */
    unsigned depth;
};

/* Called in storage order. A status other than NT_OK ends the walk. */
struct nt_object_visitor {
    void *context;
    /* An object or a list of objects begins; it ends after all its members. With *skip_ret = true the
     * walk continues after it, and `end` is not called. */
    enum nt_status (*begin)(void *context, const struct nt_object_member *member, bool *skip_ret,
                            struct nt_error *error);
    enum nt_status (*end)(void *context, const struct nt_object_member *member, struct nt_error *error);
    enum nt_status (*numbers)(void *context, const struct nt_object_member *member, struct nt_error *error);
    enum nt_status (*string)(void *context, const struct nt_object_member *member, struct nt_error *error);
    /* A pointer: to an object that began at `offset` of the buffer, or nothing (SIZE_MAX). */
    enum nt_status (*reference)(void *context, const struct nt_object_member *member, size_t offset,
                                struct nt_error *error);
    /* Bytes that no description covers: a class with a custom streamer, skipped by its byte count. */
    enum nt_status (*unknown)(void *context, const struct nt_object_member *member, struct nt_error *error);
    uint64_t record_offset; /* of the record in the file, for errors */
    bool is_strict; /* an object that does not fill its byte count is corrupt; else the rest is skipped */
};

/* Skips the members of a TObject; returns its bits. */
uint32_t nt_tobject_skip(struct nt_cursor *cursor);

/* Walks the object of a class at the start of a buffer. `buffer_base`: what references are relative to:
 * the length of the key in front of the object. Depth and the number of objects are bounded.
 * NT_CORRUPT: the message has the place in the buffer. */
enum nt_status nt_object_walk(const struct nt_streamer_info *info, struct nt_text class_name,
                              const uint8_t *bytes, size_t byte_count, size_t buffer_base,
                              const struct nt_object_visitor *visitor, struct nt_error *error);
/* The same for one item of a list in the buffer, at its `offset`: its class is named there. */
enum nt_status nt_object_walk_item(const struct nt_streamer_info *info, const uint8_t *bytes,
                                   size_t byte_count, size_t buffer_base, size_t offset,
                                   const struct nt_object_visitor *visitor, struct nt_error *error);

/* ---- record.c: the record of a tree ---- */

/* Index into the sources of a dataset. Others follow: objects of friends, and other files. */
enum { NT_TTREE_FILE, NT_TTREE_OBJECT, NT_TTREE_SOURCES };

/* Numbers are indices into the arrays of nt_ttree; texts point into its object. */
struct nt_ttree_leaf {
    struct nt_text name, title, class_name; /* "x", "x[n][3]", "TLeafF" */
    uint32_t branch;
    uint32_t length;  /* fLen: items of an entry, or of each item of a counted leaf */
    uint32_t width;   /* fLenType: bytes of an item */
    uint32_t offset;  /* fOffset */
    uint32_t counter; /* the leaf that counts this one; NT_NONE */
    bool is_unsigned, is_range;
    int32_t type; /* of a TLeafElement: fType */
};

/* TBranchElement::fType. */
enum nt_branch_type {
    NT_BRANCH_PLAIN = 0,      /* an unsplit object, or a member of a split one */
    NT_BRANCH_BASE = 1,       /* a base class of a split object */
    NT_BRANCH_OBJECT = 2,     /* a split object */
    NT_BRANCH_CLONES = 3,     /* a split TClonesArray */
    NT_BRANCH_COLLECTION = 4, /* a split STL collection */
    NT_BRANCH_CLONES_MEMBER = 31,
    NT_BRANCH_COLLECTION_MEMBER = 41,
};

struct nt_ttree_branch {
    uint32_t parent;                                   /* NT_NONE: of the tree */
    struct nt_text name, title, class_name, file_name; /* class: "TBranch", "TBranchElement", ... */
    uint32_t first_leaf, leaf_count;                   /* its own leaves; those of one branch in a row */
    int64_t entries, first_entry;                      /* fEntries, fFirstEntry */
    int64_t total_bytes, stored_bytes;                 /* fTotBytes, fZipBytes */
    int32_t compression;                               /* fCompress */
    uint32_t entry_offset_length;                      /* fEntryOffsetLen; 0: entries of a fixed size */
    uint32_t io_features;                              /* bit 0: offsets are generated */
    /* Of a TBranchElement, else empty, 0 or -1. TBranchObject: the class only. */
    struct nt_text object_class;
    uint32_t checksum;
    int32_t class_version, id, type, streamer_type;
    uint32_t counter, second_counter; /* fBranchCount, fBranchCount2: branches; NT_NONE */
    /* Its baskets: slots of fBasketEntry, fBasketSeek, fBasketBytes up to and with fWriteBasket, as
     * stored: big-endian, `entry_width` and `seek_width` bytes (4 or 8) each, and 4. */
    uint32_t slot_count;
    uint8_t entry_width, seek_width;
    const uint8_t *basket_entries, *basket_seeks, *basket_bytes;
    const struct nt_ttree *record; /* the tree whose object has it: a friend's branch, that of the friend */
    uint32_t first_embedded, embedded_count; /* in its `embedded` */
    size_t offset, byte_count;               /* of its record in the object */
    struct nt_ttree_overlap {
        uint32_t slot, branch, other_slot; /* the other branch is of `record` */
        uint64_t offset;                   /* 0: none */
    } overlap;                             /* with a basket of another branch, see nt_ttree_find_overlaps */
    /* Index into the sources of the dataset: of baskets in a file, and of embedded ones. */
    uint32_t file_source, object_source;
    const char *refusal; /* its baskets are in another file that is not read: the reason; else NULL */
    /* What only the first baskets name, in the order of the members: the class of a TClonesArray, "Track;3";
     * the classes of pointers' objects, "TNamed\nTH1F"; the class of a TBranchObject's; "int" if items are
     * such an enumeration. Empty: not found. */
    const struct nt_text *samples;
    uint32_t sample_count;
    struct nt_ttree_friend *friend; /* it is no branch, but holds those of a friend; else NULL */
};

/* A basket that is stored within the object of the tree. */
struct nt_ttree_embedded {
    uint32_t slot;
    uint32_t bytes; /* of its record: key, members and buffer */
    size_t offset;  /* in the object */
};

struct nt_ttree_cluster_range {
    int64_t last_entry, size; /* fClusterRangeEnd, fClusterSize */
};

struct nt_ttree_friend {
    struct nt_text name, tree, file; /* alias, or name of the tree; its path; empty: in the same file */
    const struct nt_ttree *joined;   /* its record, if its branches are among those of the tree */
    struct nt_text field;            /* the name of the field that then has them */
    const char *refusal;             /* why they are not, although an option requested it; else NULL */
};

/* The record of a tree, as nt_dataset.format_data. */
struct nt_ttree {
    const struct nt_streamer_info *info;
    struct nt_text class_name, name, title; /* "TTree" */
    uint32_t version;                       /* of class TTree */
    int64_t entries, total_bytes, stored_bytes, auto_flush;
    struct nt_ttree_branch *branches; /* in depth-first order: a parent before its children */
    uint32_t branch_count;
    struct nt_ttree_leaf *leaves;
    uint32_t leaf_count;
    const struct nt_ttree *own; /* the tree without the branches of friends */
    struct nt_ttree_embedded *embedded;
    uint32_t embedded_count;
    struct nt_ttree_cluster_range *ranges;
    uint32_t range_count;
    struct nt_ttree_friend *friends;
    uint32_t friend_count;
    bool has_index; /* entries of this tree, as a friend, are found by fTreeIndex */
    /* The object, decompressed. `object_offset`, `stored_bytes_of_object`: where it is in the file. */
    const uint8_t *object;
    size_t object_bytes;
    uint64_t record_offset; /* of the key */
    uint32_t key_bytes, record_bytes;
    bool is_recovered;          /* found without a list of keys */
    uint32_t object_source_end; /* sources of the dataset before it, from NT_TTREE_OBJECT on, are objects */
    struct nt_ttree_map *map;   /* of branches to fields and columns: see page_list.c */
};

static inline const struct nt_ttree *nt_ttree_of(const struct nt_dataset *dataset)
{
    return dataset->format_data;
}

/* Does the branch have sub-branches? They follow it. */
static inline bool nt_ttree_has_branches(const struct nt_ttree *tree, uint32_t branch)
{
    return branch + 1 < tree->branch_count && tree->branches[branch + 1].parent == branch;
}

/* Its baskets may lack the offsets of entries that follow from the lengths of arrays. */
static inline bool nt_ttree_generates_offsets(const struct nt_ttree_branch *branch)
{
    return branch->io_features & 1;
}

/* The data of a split collection are the numbers of its items; its sub-branches have the members. */
static inline bool nt_ttree_has_counts(const struct nt_ttree_branch *branch)
{
    return branch->type == NT_BRANCH_CLONES || branch->type == NT_BRANCH_COLLECTION;
}

/* Has the recorded counter the lengths of this branch? ROOT looks for it by its name alone. So if the branch
 * is a member of an object that is not in a collection, the counter may be a member of another one. */
static inline bool nt_ttree_is_own_counter(const struct nt_ttree_branch *branch,
                                           const struct nt_ttree_branch *counter)
{
    return branch->type != NT_BRANCH_PLAIN ||
           (counter->parent == branch->parent &&
            nt_texts_are_equal(counter->object_class, branch->object_class));
}

/* Reads the record of a tree from its decompressed object, which must live as long as the arena; takes
 * what it allocates from the budget. Counts and depths are bounded. */
enum nt_status nt_ttree_read(struct nt_ttree *tree, const struct nt_streamer_info *info,
                             struct nt_text class_name, size_t key_bytes, struct nt_arena *arena,
                             struct nt_budget *budget, struct nt_error *error);

/* A basket as the branch's record lists it. */
struct nt_basket_location {
    uint64_t first_entry, end_entry; /* of the branch */
    uint64_t offset;                 /* in the file, or in the object */
    uint32_t bytes;                  /* of the record, with its key */
    bool is_embedded;
    uint32_t slot;
};
/* Marks branches whose baskets overlap those of other branches: lists of them fail. `disk_bytes` are known to
 * be there: if all baskets together have no more, nothing is looked for, as the file cannot cost more than
 * an honest one. */
enum nt_status nt_ttree_find_overlaps(struct nt_ttree *tree, uint64_t file_bytes, uint64_t disk_bytes,
                                      struct nt_budget *budget, struct nt_error *error);
/* The baskets of a branch in order of entries, from malloc; slots without data are left out. NT_CORRUPT
 * if entries do not ascend, a place is outside of the file's `file_bytes`, or two places overlap. */
enum nt_status nt_ttree_list_baskets(const struct nt_ttree_branch *branch, uint64_t file_bytes,
                                     struct nt_basket_location **baskets_ret, uint32_t *count_ret,
                                     struct nt_error *error);
/* Are baskets of the branch in a file of its own? Those in the tree's object never are. */
bool nt_ttree_is_elsewhere(const struct nt_ttree_branch *branch);

/* tree.json: all members of the tree's object but its branches; branch.json: those of one branch, with
 * its leaves, without the branches below it. Long arrays are shown whole. */
enum nt_status nt_ttree_describe_tree(const struct nt_ttree *tree, struct nt_buffer *out,
                                      struct nt_error *error);
enum nt_status nt_ttree_describe_branch(const struct nt_ttree *tree, const struct nt_ttree_branch *branch,
                                        struct nt_buffer *out, struct nt_error *error);

/* ---- Shapes and steps: what an entry of a branch has, and how it is stored ---- */

enum nt_ttree_shape_kind {
    NT_SHAPE_VALUE, /* numbers: one, or those of its dimensions */
    NT_SHAPE_STRING,
    NT_SHAPE_LIST,     /* any number of the only shape below it, which is called "item" */
    NT_SHAPE_ARRAY,    /* `dimensions[0]` of the only shape below it, which is called "item" */
    NT_SHAPE_OPTIONAL, /* one or none of the only shape below it, which is called "item" */
    NT_SHAPE_RECORD,   /* the shapes below it */
    NT_SHAPE_UNREADABLE,
};

struct nt_ttree_shape {
    enum nt_ttree_shape_kind kind;
    struct nt_text name, type; /* of the field, and its C++ type as in the file */
    uint32_t parent;           /* index; NT_NONE for the branch's own */
    enum nt_element element;   /* of a value */
    uint32_t dimension_count;  /* of a value in an array: all but the first, which the array has */
    const uint64_t *dimensions;
    uint32_t output;        /* of a value: its elements; of a list, an optional and a string: its end offsets,
                             * and of a string, `output` + 1: its bytes. NT_NONE: none */
    bool is_map;            /* a list of records of a key and a value */
    const char *unreadable; /* the reason */
};

enum nt_step_kind {
    NT_STEP_VALUES,  /* `count` numbers side by side, by `encoding` */
    NT_STEP_SKIP,    /* `count` bytes */
    NT_STEP_NAME,    /* the name of the class of the object that follows: a length of one byte, the name, a
                      * zero byte. A class other than class_names[`count`] is an error */
    NT_STEP_HEADER,  /* the byte count and version of an object or collection, then the body. Without a
                      * byte count, the version is all there is. A version of 0 is followed by a
                      * checksum, unless the class has version 0 itself. After the body, bytes up to the
                      * end that the byte count gives are skipped. If the version says that members are
                      * stored one after the other, the body is that of `other`. `bits`: enum
                      * nt_header_bits */
    NT_STEP_CLASS,   /* of such a collection: the version of the items' class, and its checksum if the
                      * version is 0 or less. Absent if the version of the header is below 8. No body */
    NT_STEP_LIST,    /* an Int_t number of items; the body for each; its end offsets are `output` */
    NT_STEP_MEMBERS, /* the same, but each step of the body for all items, then the next step. Without
                      * items, nothing follows the number. A COUNTED step uses the value of its item */
    NT_STEP_REST,    /* the body until the end of the entry or of the nearest header. `bits`: enum
                      * nt_rest_bits */
    NT_STEP_COUNTED, /* the body as often as the value of the nearest earlier VALUES step with `counter`
                      * says, or, if `counter` is 0, the next number of the branch with the lengths. If
                      * `bits` say so: n (n + 1) / 2 times, the triangle of a symmetric matrix. If `count`
                      * is not 0: so many such lists. `bits`: enum nt_counted_bits */
    NT_STEP_REPEAT,  /* the body `count` times */
    NT_STEP_STRING,  /* a length of one byte, or 255 and an Int_t; then the bytes. If `count` is 4, the
                      * length is an Int_t */
    NT_STEP_COUNTER, /* a number, by `encoding`: how many items a list has that other branches store;
                      * its end offsets are `output` */
    NT_STEP_WHEN,    /* the body, if the value of the nearest earlier VALUES step with `counter` has any
                      * bit of `count`; else the body of `other`, as in HEADER */
    NT_STEP_POINTER, /* a pointer to an object: its byte count, its class, its content; or 4 bytes: null, or
                      * the place of an object before it. The body are CASE steps; an object of a class that
                      * none has is an error of the outputs in them. Without body, the object is skipped; the
                      * name of its class, empty if there is none, is the string `output` */
    NT_STEP_CASE,    /* the body for objects of the class class_names[`count`], or (NT_NONE) of any class,
                      * without body; end offsets of none or one object are `output` */
    NT_STEP_CLONES,  /* of a TClonesArray after its name: the class of the objects, their number, that of the
                      * first; then for each a byte and the body, or, if the bits that `counter` has say so,
                      * the other body as in MEMBERS. A class other than class_names[`count`], and a byte that
                      * is 0, are errors of the outputs here. If `count` is NT_NONE, objects of any class are
                      * skipped. End offsets are `output` */
    NT_STEP_OBJECTS, /* of a list of pointers, after its name: their number, and the body for each. `count`:
                      * enum nt_list_form. Other versions of these classes are errors of the outputs here.
                      * End offsets are `output` */
};

enum nt_list_form {
    NT_LIST_OF_PLACES,  /* TObjArray: the index of the first one follows the number */
    NT_LIST_OF_OPTIONS, /* TList: a string follows each */
    NT_LIST_OF_PAIRS,   /* TMap */
};

enum nt_rest_bits {
    NT_REST_MEMBERS = 1, /* as in MEMBERS, each step of the body for all items, which have a fixed size */
};

enum nt_counted_bits {
    NT_COUNTED_TRIANGLE = 1,
    NT_COUNTED_FLAG = 2, /* a byte first: if it is 0, the lists are empty */
};

enum nt_header_bits {
    NT_HEADER_SHARED = 1,   /* in the body of MEMBERS: one header for all items; then, as in MEMBERS, each
                             * step of its body for all items, but CLASS once */
    NT_HEADER_OPTIONAL = 2, /* absent if the entry has no bytes; the body is run nevertheless */
    NT_HEADER_SIZED = 4,    /* the byte count must be there: what it covers is skipped */
    NT_HEADER_WHOLE = 8,    /* the byte count covers nothing but the body */
    NT_HEADER_TOBJECT = 16, /* of a TObject: mostly a version without a byte count */
};

/* Steps are in one array; the body of a step are those up to its `end`, at most 31 within each other. A plain
 * structure without pointers: equal steps are equal bytes. */
struct nt_step {
    uint8_t kind;     /* enum nt_step_kind */
    uint8_t encoding; /* enum nt_encoding_kind, of numbers */
    uint8_t bits;     /* as in nt_decoder */
    uint8_t counter;  /* VALUES: its number, from 1; COUNTED, WHEN, CLONES: whose value counts; else 0 */
    uint32_t output;  /* NT_NONE: skipped */
    /* HEADER, CLASS: the checksum that the body reads; 0: any. NAME, CASE, CLONES: index of the class's
     * name. */
    uint32_t count;
    uint32_t end; /* index of the step after the body */
    /* HEADER, WHEN, CLONES: index of the first step of the other body, which ends at `end`; the first body
     * ends here. 0: there is none; for HEADER and CLONES, such data is unsupported. */
    uint32_t other;
    int32_t version;         /* HEADER, CLASS, MEMBERS: that of the class that the body reads; -1: any; or
                              * another of NT_STREAMER_... */
    double minimum, maximum; /* as in nt_decoder */
};

/* How the number of elements of the outputs in a basket is known. */
enum nt_count_by {
    NT_COUNT_BY_ENTRIES, /* each output has `fixed_items` elements for each entry */
    NT_COUNT_BY_BYTES,   /* one list of items of `item_bytes`, with `header_bytes` in each entry */
    NT_COUNT_BY_CONTENT, /* by running the steps */
};

struct nt_output {
    enum nt_element element;
    bool is_offsets;      /* end offsets: u64 */
    uint32_t fixed_items; /* elements for each entry; 0: within lists */
};

/* What a branch without branches that hold its data stores. */
struct nt_interpretation {
    struct nt_ttree_shape *shapes; /* depth first; [0] is the branch's own */
    uint32_t shape_count;
    struct nt_step *steps;
    uint32_t step_count;
    struct nt_output *outputs;
    uint32_t output_count;
    struct nt_text *class_names; /* of cases, TClonesArrays and names */
    uint32_t class_name_count;
    uint32_t sample; /* the output, + 1, that has the next of nt_ttree_branch.samples: to be read before the
                      * branch is interpreted again; 0: none */
    bool samples_several; /* of pointers */
    uint32_t lengths;     /* the branch, + 1, that has the lengths of arrays: see NT_STEP_COUNTED; 0: none */
    enum nt_count_by count_by;
    uint32_t item_bytes, header_bytes;
};

/* ---- interpret.c, cpp_type.c: from leaves, streamer elements and C++ types to shapes and steps ---- */

/* Finds what a branch stores. A branch that only holds others has one RECORD without outputs; what
 * cannot be read is one UNREADABLE with its reason. All memory is the arena's. NT_LIMIT, NT_NO_MEMORY. */
enum nt_status nt_ttree_interpret(const struct nt_ttree *tree, uint32_t branch, struct nt_arena *arena,
                                  struct nt_interpretation *interpretation_ret, struct nt_error *error);
/* The C++ type of the branch's data; empty: the file does not describe the member. */
struct nt_text nt_ttree_branch_type(const struct nt_ttree *tree, const struct nt_ttree_branch *branch);
/* One shape without data: a RECORD of the branches below, or UNREADABLE for a reason. */
enum nt_status nt_ttree_make_only_shape(const struct nt_ttree_branch *branch, enum nt_ttree_shape_kind kind,
                                        struct nt_text type, const char *reason, struct nt_arena *arena,
                                        struct nt_interpretation *interpretation_ret, struct nt_error *error);

/* ---- samples.c ---- */

enum { NT_SAMPLE_LIMIT = 16 }; /* members of a branch whose classes are looked for, and classes of one */

/* Interprets a branch; finds the classes of its TClonesArrays and pointers in its first baskets. */
enum nt_status nt_ttree_interpret_with_samples(struct nt_dataset *dataset, struct nt_ttree *tree,
                                               uint32_t branch, struct nt_interpretation *interpretation_ret,
                                               struct nt_error *error);

/* ---- basket.c: the record of a basket, and its content ---- */

struct nt_basket {
    uint32_t bytes, key_bytes, object_bytes; /* of the record; of its key; uncompressed, without key */
    uint16_t version, cycle;
    uint32_t entry_bytes; /* fNevBufSize: of an entry of a fixed size, or the length of the offsets */
    uint32_t entries;     /* fNevBuf */
    uint32_t last;        /* fLast: end of the values, from the start of the key */
    uint8_t flag, io_bits;
    bool is_embedded;        /* `bytes` and `object_bytes` are then computed: values and offsets */
    bool has_sizes;          /* the offsets are stored as the sizes of entries */
    bool is_without_offsets; /* they are left out, and follow from the values of another branch */
    uint32_t value_bytes;    /* last - key_bytes */
    uint32_t offset_bytes;   /* stored after the values, or before them if it is embedded; 0: none */
    uint32_t header_end;     /* in the record: what follows the members */
};

/* Bytes that suffice for the key and members of any basket whose names have usual lengths. */
enum { NT_BASKET_HEADER_BYTES = 512 };

/* Parses key and members. NT_TRUNCATED if `count` bytes do not suffice; NT_CORRUPT. */
enum nt_status nt_basket_parse(const uint8_t *bytes, size_t count, struct nt_basket *basket_ret,
                               struct nt_error *error);

/* The content of a basket. */
struct nt_basket_content {
    struct nt_basket basket;
    const uint8_t *values;  /* value_bytes */
    const uint8_t *offsets; /* big-endian i32: where each entry begins, from the start of the key; NULL:
                             * entries have a fixed size, or the offsets are left out */
    uint32_t fixed_bytes;   /* of each entry, if they are cut so; else 0 */
    bool is_cut;            /* into entries, by offsets or by their size; else only one after the other */
};

/* Where an entry of a cut basket begins in the values; of the number of entries, where the last one ends. */
static inline size_t nt_basket_entry_start(const struct nt_basket_content *content, uint32_t entry)
{
    const struct nt_basket *basket = &content->basket;
    if (entry == basket->entries)
        return basket->value_bytes;
    return content->offsets ? nt_load_be32(content->offsets + sizeof(uint32_t) * entry) - basket->key_bytes
                            : (size_t)entry * content->fixed_bytes;
}

/* Decompresses the record of a basket, at most `limit` bytes, into scratch memory of the context
 * (NT_SCRATCH_TREE); checks sizes and offsets. What is stored uncompressed stays in the record. */
enum nt_status nt_basket_open(const uint8_t *record, size_t count, uint64_t limit,
                              struct nt_codec_context *context, struct nt_basket_content *content_ret,
                              struct nt_error *error);

/* Replaces a record, which `limit` bounds, by one with the same content that is not compressed. */
enum nt_status nt_basket_unpack(struct nt_buffer *record, uint64_t limit, struct nt_codec_context *context,
                                struct nt_error *error);

/* ---- decode.c: outputs of a branch as decoders ---- */

/* What an output has of a basket. */
struct nt_output_count {
    uint64_t elements;
    uint64_t items; /* of end offsets: the items, or bytes, of all their lists */
};

/* Numbers of another branch that are lengths of arrays: the elements of its pages, from `first` on. */
struct nt_basket_lengths {
    const struct nt_value *values;
    uint32_t count;
    uint64_t first;
};

/* Counts each output in a basket's first `entries` entries; `counts` has one item per output. Reads the
 * header alone (`record` may be cut after it) if count_by is BYTES and the basket has no more entries;
 * otherwise the whole record. `lengths`: NULL if the interpretation has none. */
enum nt_status nt_basket_count(const struct nt_interpretation *interpretation, const uint8_t *record,
                               size_t count, uint32_t entries, const struct nt_basket_lengths *lengths,
                               uint64_t limit, struct nt_codec_context *context,
                               struct nt_output_count *counts, struct nt_error *error);

/* Decodes the first elements of an output of a basket into memory from malloc. */
enum nt_status nt_basket_decode(const struct nt_interpretation *interpretation, uint32_t output,
                                const uint8_t *record, size_t count, uint64_t elements, uint64_t limit,
                                struct nt_codec_context *context, void **elements_ret,
                                struct nt_error *error);

#define NT_OUTPUT_RAW UINT32_MAX /* the uncompressed bytes: values and offsets */

/* Makes the decoder of an output (or of NT_OUTPUT_RAW), for nt_builder_add_column. Its state is copied
 * there; `state_ret` is its memory until then (free it). A page is the whole record of a basket; its
 * parameter is added to each end offset; for other outputs it has no meaning. Decodes the first `elements`
 * elements of the output. If the interpretation has lengths, each page needs a decoder of its own: see
 * nt_basket_set_lengths. */
enum nt_status nt_basket_decoder(const struct nt_interpretation *interpretation, uint32_t output,
                                 struct nt_decoder *decoder_ret, void **state_ret, struct nt_error *error);
/* Of the numbers on the pages that the decoder depends on, those from `first` on are lengths of arrays. */
void nt_basket_set_lengths(void *state, uint64_t first);
/* The output of a branch that can be lengths of arrays: one integer of 32 bits for each entry or item; else
 * NT_NONE. */
uint32_t nt_basket_lengths_output(const struct nt_interpretation *interpretation);

/* ---- ttree.c: the trees of a file ---- */

/* Call it once for a ROOT file that was opened by its container: adds the document streamer_info.json,
 * and what its trees share. Sets the file's `close`. */
enum nt_status nt_ttree_prepare(struct nt_file *file, struct nt_error *error);
/* Adds a dataset for each tree of the container, after all others; one that does not open has its
 * failure. With `has_rntuples`, RNTuples keep their names and count as the file's datasets. */
enum nt_status nt_ttree_add_all(struct nt_file *file, const struct nt_open_options *options,
                                bool has_rntuples, struct nt_error *error);
/* Counts what looking for classes costs beyond the usual, while the file is opened: see samples.c. */
uint64_t *nt_ttree_sampled_bytes(const struct nt_file *file);
/* The classes that the file describes: read on first use, and shared by its trees. */
enum nt_status nt_ttree_streamer_info(const struct nt_file *file, const struct nt_streamer_info **info_ret,
                                      struct nt_error *error);
/* nt_file.layout: the ranges of the container and of the trees' records. Records of baskets that are
 * pages are left out. */
enum nt_status nt_ttree_layout(const struct nt_file *file, nt_layout_emit *emit, void *context,
                               struct nt_error *error);

/* ---- dataset.c, schema.c: a tree as a dataset ---- */

/* Where the elements of a column are: an output of a branch. */
struct nt_ttree_column {
    uint32_t branch; /* index into nt_ttree_map.branches */
    uint32_t output; /* or NT_OUTPUT_RAW */
};

/* How columns read a branch. */
struct nt_branch_map {
    uint32_t branch;
    struct nt_interpretation interpretation;
    uint32_t field;      /* that holds its sub-branches */
    uint32_t data;       /* that has its own data: usually the same */
    uint32_t as_counter; /* the map that reads its values as end offsets of another branch; NT_NONE */
    struct nt_basket_location *baskets; /* in order of entries, from malloc; NULL until first use */
    uint32_t basket_count;
    /* [part], then the counts of its baskets, [basket][output]; from malloc, NULL until first use */
    struct nt_output_count **parts;
    /* Entries before it are in baskets that were requested: to count them [0], as they are [1]. */
    uint64_t prefetched_end[2];
    uint32_t announced;         /* its place among announced branches, from 1 on; 0: none */
    atomic_uint decoded_column; /* from 1 on; NT_NONE: several were decoded; 0: none */
};

struct nt_ttree_map {
    struct nt_branch_map *branches; /* one for each branch, then those that are read as counters */
    uint32_t branch_count;
    const struct nt_ttree_column *columns, *physical_columns; /* [column] of both datasets */
    uint32_t part_count;
    uint32_t *announced; /* branches whose items will be counted, in this order; from malloc, or NULL */
    uint32_t announced_count;
    uint32_t plans_again; /* the first announced branch that plans to request those after it again */
};

/* The output of a branch that a column of either dataset has. */
const struct nt_ttree_column *nt_ttree_column_source(const struct nt_dataset *dataset, uint32_t column);
/* Adds the fields and columns of all branches. */
enum nt_status nt_ttree_build_schema(struct nt_dataset *dataset, struct nt_ttree *tree,
                                     struct nt_error *error);
/* nt_dataset_ops.repeated_lengths: the lists of x[n] have their lengths in n, too. */
struct nt_repeated_lengths nt_ttree_repeated_lengths(const struct nt_dataset *dataset, uint32_t column);
/* nt_dataset_ops.add_physical: a column for each branch that has baskets. */
enum nt_status nt_ttree_add_physical(struct nt_dataset *dataset, struct nt_error *error);

struct nt_tfile_object;
/* Reads the record of a tree's key into a structure that is zero. */
enum nt_status nt_ttree_read_object(struct nt_file *file, struct nt_arena *arena,
                                    const struct nt_tfile_object *object, struct nt_ttree *tree,
                                    struct nt_error *error);
/* Opens the tree of a key: reads its record, and makes fields, columns and clusters. */
enum nt_status nt_ttree_add(struct nt_dataset *dataset, const struct nt_tfile_object *object,
                            const struct nt_open_options *options, struct nt_error *error);
/* "friends" of ntuple.json and tree.json. */
void nt_ttree_describe_friends(const struct nt_ttree *tree, struct nt_json *json);
void nt_ttree_describe_column(const struct nt_dataset *dataset, uint32_t column, struct nt_json *json);
enum nt_status nt_ttree_describe_page(const struct nt_dataset *dataset, uint32_t column,
                                      const struct nt_page *page, struct nt_json *json);
enum nt_status nt_ttree_fail_elsewhere(const struct nt_dataset *dataset, const struct nt_page *page,
                                       struct nt_error *error);

/* ---- friends.c ---- */

/* Appends the branches of each friend that is in the same file, has as many entries and no index, below
 * a branch with the friend's name. Others get their `refusal`. `directory`: of the tree. */
enum nt_status nt_ttree_join_friends(struct nt_dataset *dataset, struct nt_ttree *tree, uint32_t directory,
                                     struct nt_error *error);

/* ---- other_files.c: baskets in other files ---- */

struct nt_ttree_other_file {
    struct nt_text name;      /* as in the branch */
    struct nt_source *source; /* or NULL, with the reason: */
    const char *refusal;
};

/* The other files that branches of any tree of a file name. */
struct nt_ttree_other_files {
    struct nt_ttree_other_file *items;
    uint32_t count;
};

enum nt_status nt_ttree_other_files_init(struct nt_ttree_other_files *others, struct nt_file *file,
                                         struct nt_error *error);
void nt_ttree_other_files_close(struct nt_ttree_other_files *others);
struct nt_ttree_other_files *nt_ttree_other_files_of(const struct nt_file *file); /* in ttree.c */

/* Adds the other files of the tree's branches to the sources of the dataset. A branch whose file is not
 * opened gets its `refusal`. */
enum nt_status nt_ttree_open_other_files(struct nt_dataset *dataset, struct nt_ttree *tree,
                                         const struct nt_open_options *options, struct nt_error *error);

/* ---- page_list.c: clusters, and baskets as pages ---- */

/* Divides the entries into clusters, where the baskets of all branches end. */
enum nt_status nt_ttree_add_clusters(struct nt_dataset *dataset, struct nt_ttree *tree,
                                     struct nt_error *error);
/* nt_dataset_ops.load_group, of both datasets. */
enum nt_status nt_ttree_load_group(struct nt_dataset *dataset, uint32_t group, struct nt_error *error);
/* nt_dataset_ops.plan_groups of the physical dataset. */
bool nt_ttree_plan_groups(struct nt_dataset *physical, struct nt_groups groups, bool with_pages,
                          struct nt_prefetch *prefetch);
void nt_ttree_announce_fields(struct nt_dataset *dataset, const uint32_t *fields, size_t count);
void nt_ttree_free_page_lists(struct nt_ttree *tree);
