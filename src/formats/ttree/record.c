/* SPDX-License-Identifier: MIT
 *
 * The record of a tree: branches, leaves, baskets, cluster ranges and friends.
 */
#include "formats/ttree/ttree.h"

/* ---- Names of members ---- */

#define EACH_MEMBER(ROW)                                                                                     \
    ROW(OTHER, ""), ROW(NAME, "fName"), ROW(TITLE, "fTitle"), ROW(ENTRIES, "fEntries"),                      \
        ROW(FIRST_ENTRY, "fFirstEntry"), ROW(TOTAL_BYTES, "fTotBytes"), ROW(ZIP_BYTES, "fZipBytes"),         \
        ROW(AUTO_FLUSH, "fAutoFlush"), ROW(CLUSTER_ENDS, "fClusterRangeEnd"),                                \
        ROW(CLUSTER_SIZES, "fClusterSize"), ROW(IO_FEATURES, "fIOFeatures"), ROW(IO_BITS, "fIOBits"),        \
        ROW(BRANCHES, "fBranches"), ROW(LEAVES, "fLeaves"), ROW(BASKETS, "fBaskets"),                        \
        ROW(FRIENDS, "fFriends"), ROW(TREE_INDEX, "fTreeIndex"), ROW(BRANCH_REF, "fBranchRef"),              \
        ROW(TREE_NAME, "fTreeName"), ROW(COMPRESS, "fCompress"),                                             \
        ROW(ENTRY_OFFSET_LENGTH, "fEntryOffsetLen"), ROW(WRITE_BASKET, "fWriteBasket"),                      \
        ROW(BASKET_BYTES, "fBasketBytes"), ROW(BASKET_ENTRIES, "fBasketEntry"),                              \
        ROW(BASKET_SEEKS, "fBasketSeek"), ROW(FILE_NAME, "fFileName"), ROW(CLASS_NAME, "fClassName"),        \
        ROW(CONTAINER_NAME, "fContName"), ROW(CHECKSUM, "fCheckSum"),                                        \
        ROW(CONTAINER_CHECKSUM, "fClCheckSum"), ROW(CLASS_VERSION, "fClassVersion"), ROW(ID, "fID"),         \
        ROW(TYPE, "fType"), ROW(STREAMER_TYPE, "fStreamerType"), ROW(BRANCH_COUNT, "fBranchCount"),          \
        ROW(SECOND_BRANCH_COUNT, "fBranchCount2"), ROW(LENGTH, "fLen"), ROW(LENGTH_OF_TYPE, "fLenType"),     \
        ROW(OFFSET, "fOffset"), ROW(IS_RANGE, "fIsRange"), ROW(IS_UNSIGNED, "fIsUnsigned"),                  \
        ROW(LEAF_COUNT, "fLeafCount")
#define AS_NUMBER(member, name) member
#define AS_NAME(member, name) [member] = NT_TEXT_OF(name)

enum tree_member { EACH_MEMBER(AS_NUMBER), MEMBERS };
static const struct nt_text member_names[MEMBERS] = {EACH_MEMBER(AS_NAME)};

/* ---- The reader ---- */

enum context {
    IN_TREE,
    IN_BRANCHES,
    IN_LEAVES,
    IN_BASKETS,
    IN_FRIENDS,
    IN_BRANCH,
    IN_LEAF,
    IN_FRIEND,
    IN_FEATURES,
    CONTEXTS
};

/* What the walk is in. */
struct record_level {
    enum context context;
    uint32_t index; /* of the branch, leaf or friend; of lists: of the branch, NT_NONE: of the tree */
    uint32_t items; /* of a list, so far */
    bool has_branches, has_leaves, has_baskets; /* which lists were met, of a tree or branch */
};

/* A branch as it is met. Objects are known by their offsets, which ascend. */
struct met_branch {
    struct nt_ttree_branch branch;
    uint64_t entry_count, seek_count, size_count; /* of its arrays */
    int64_t write_basket;
    size_t counter, second_counter; /* offsets; SIZE_MAX: none */
    bool has_parent;
    uint32_t first_child, last_child, next; /* NT_NONE: none */
    uint32_t first_leaf, last_leaf;
    uint32_t number; /* in the tree; NT_NONE: no list has it */
};

struct met_leaf {
    struct nt_ttree_leaf leaf;
    size_t offset, counter;
    bool has_branch;
    uint32_t next, number;
};

/* An item of a list of branches or leaves: an object that was met, or will be. */
struct list_item {
    uint32_t parent; /* branch; NT_NONE: the tree */
    bool is_leaf;
    size_t offset;
};

enum { MAX_LEVELS = 160, NAME_CACHE_BITS = 10 };

struct tree_reader {
    struct nt_ttree *tree;
    struct nt_arena *arena;
    struct nt_budget *budget;
    uint64_t taken; /* from the budget, for what is freed at the end */
    struct met_branch *branches;
    struct met_leaf *leaves;
    struct list_item *items;
    struct nt_ttree_embedded *embedded;
    struct nt_ttree_friend *friends;
    size_t branch_count, leaf_count, item_count, embedded_count, friend_count;
    size_t branch_room, leaf_room, item_room, embedded_room, friend_room;
    struct nt_object_member ends, sizes; /* of cluster ranges */
    struct record_level levels[MAX_LEVELS];
    unsigned level_count;
    struct {
        struct nt_text name;
        enum tree_member member;
    } names[1 << NAME_CACHE_BITS]; /* by the address of the name: each is compared once */
};

static enum tree_member compare_names(struct nt_text name)
{
    for (int i = OTHER + 1; i < MEMBERS; i++)
        if (nt_texts_are_equal(name, member_names[i]))
            return (enum tree_member)i;
    return OTHER;
}

static enum tree_member member_of(struct tree_reader *reader, struct nt_text name)
{
    const unsigned tries = 4; /* buckets for names whose hashes collide */
    uint64_t hash = (uint64_t)(uintptr_t)name.bytes * UINT64_C(0x9e3779b97f4a7c15);
    hash >>= 64 - NAME_CACHE_BITS;
    uint64_t bucket = hash;
    for (unsigned i = 0; i < tries; i++) {
        bucket = (hash + i) % (1 << NAME_CACHE_BITS);
        const struct nt_text *known = &reader->names[bucket].name;
        if (known->bytes == name.bytes && known->length == name.length)
            return reader->names[bucket].member;
        if (!known->bytes)
            break;
    }
    reader->names[bucket].name = name;
    reader->names[bucket].member = compare_names(name);
    return reader->names[bucket].member;
}

static struct record_level *level_of(struct tree_reader *reader)
{
    return &reader->levels[reader->level_count - 1];
}

static enum nt_status enter(struct tree_reader *reader, enum context context, uint32_t index,
                            struct nt_error *error)
{
    if (reader->level_count == MAX_LEVELS)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "the tree has more than %d levels of branches",
                       MAX_LEVELS);
    reader->levels[reader->level_count++] = (struct record_level){.context = context, .index = index};
    return NT_OK;
}

/* Makes room for one item of an array of the reader, which is freed at the end, or of a copy of it. */
static enum nt_status grow(struct tree_reader *reader, void *items_at, size_t count, size_t *room,
                           size_t size, struct nt_error *error)
{
    NT_TRY(nt_budget_take(reader->budget, NT_COST_ENVELOPE_BYTE, size, reader->tree->record_offset, error));
    reader->taken += size;
    return nt_check_memory(count < *room || nt_array_enlarge(items_at, room, size), error);
}

/* ---- Numbers ---- */

static int64_t integer_of_real(double value)
{
    return value > -9e18 && value < 9e18 ? (int64_t)value : 0;
}

static int64_t integer(const struct nt_object_member *member)
{
    double value;
    uint64_t bits;
    switch (member->type) {
    case NT_STREAMER_CHAR:
    case NT_STREAMER_LEGACY_CHAR:
        return (int8_t)member->bytes[0];
    case NT_STREAMER_UCHAR:
    case NT_STREAMER_BOOL:
        return member->bytes[0];
    case NT_STREAMER_SHORT:
        return (int16_t)nt_load_be16(member->bytes);
    case NT_STREAMER_USHORT:
        return nt_load_be16(member->bytes);
    case NT_STREAMER_UINT:
        return nt_load_be32(member->bytes);
    case NT_STREAMER_INT:
    case NT_STREAMER_COUNTER:
        return (int32_t)nt_load_be32(member->bytes);
    case NT_STREAMER_LONG:
    case NT_STREAMER_ULONG:
    case NT_STREAMER_LONG64:
    case NT_STREAMER_ULONG64:
        return (int64_t)nt_load_be64(member->bytes);
    case NT_STREAMER_DOUBLE:
        bits = nt_load_be64(member->bytes);
        memcpy(&value, &bits, sizeof(value));
        return integer_of_real(value);
    default:
        return 0;
    }
}

/* A number that counts something: negative ones are 0. */
static uint32_t natural(const struct nt_object_member *member)
{
    int64_t value = integer(member);
    return value < 0 ? 0 : value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

/* The numbers of an array, if they have 4 or 8 bytes; else none. */
static const uint8_t *array(const struct nt_object_member *member, uint64_t *count_ret, uint8_t *width_ret)
{
    uint64_t width = member->count ? member->byte_count / member->count : 4;
    *count_ret = width == 4 || width == 8 ? member->count : 0;
    *width_ret = (uint8_t)width;
    return member->bytes;
}

/* ---- Objects begin ---- */

static enum nt_status add_item(struct tree_reader *reader, uint32_t parent, bool is_leaf, size_t offset,
                               struct nt_error *error)
{
    NT_TRY(
        grow(reader, &reader->items, reader->item_count, &reader->item_room, sizeof(*reader->items), error));
    reader->items[reader->item_count++] = (struct list_item){parent, is_leaf, offset};
    return NT_OK;
}

/* The bytes of an item of a list, which starts with its byte count. */
static size_t item_bytes(const struct nt_ttree *tree, size_t offset)
{
    const uint32_t mask = 0x40000000;
    struct nt_cursor cursor = nt_cursor(tree->object, tree->object_bytes);
    nt_cursor_skip(&cursor, offset);
    uint32_t count = nt_get_be32(&cursor) & ~mask;
    size_t left = nt_cursor_left(&cursor);
    return cursor.position - offset + nt_min(count, left);
}

static enum nt_status add_branch(struct tree_reader *reader, const struct nt_object_member *member,
                                 struct nt_error *error)
{
    NT_TRY(grow(reader, &reader->branches, reader->branch_count, &reader->branch_room,
                sizeof(*reader->branches), error));
    struct met_branch *met = &reader->branches[reader->branch_count];
    *met = (struct met_branch){.counter = SIZE_MAX, .second_counter = SIZE_MAX};
    met->first_child = met->last_child = met->next = met->number = NT_NONE;
    met->first_leaf = met->last_leaf = NT_NONE;
    met->branch = (struct nt_ttree_branch){.class_name = member->class_name, .offset = member->offset};
    met->branch.byte_count = item_bytes(reader->tree, member->offset);
    met->branch.parent = met->branch.counter = met->branch.second_counter = NT_NONE;
    met->branch.class_version = met->branch.id = met->branch.type = met->branch.streamer_type = -1;
    return enter(reader, IN_BRANCH, (uint32_t)reader->branch_count++, error);
}

static enum nt_status add_leaf(struct tree_reader *reader, const struct nt_object_member *member,
                               struct nt_error *error)
{
    NT_TRY(grow(reader, &reader->leaves, reader->leaf_count, &reader->leaf_room, sizeof(*reader->leaves),
                error));
    struct met_leaf *met = &reader->leaves[reader->leaf_count];
    *met = (struct met_leaf){.offset = member->offset, .counter = SIZE_MAX, .next = NT_NONE};
    met->number = NT_NONE;
    met->leaf = (struct nt_ttree_leaf){.class_name = member->class_name, .counter = NT_NONE};
    met->leaf.type = -1;
    return enter(reader, IN_LEAF, (uint32_t)reader->leaf_count++, error);
}

static enum nt_status add_friend(struct tree_reader *reader, struct nt_error *error)
{
    NT_TRY(grow(reader, &reader->friends, reader->friend_count, &reader->friend_room,
                sizeof(*reader->friends), error));
    reader->friends[reader->friend_count] = (struct nt_ttree_friend){0};
    return enter(reader, IN_FRIEND, (uint32_t)reader->friend_count++, error);
}

static enum nt_status begin_in_tree(struct tree_reader *reader, const struct nt_object_member *member,
                                    bool *skip_ret, struct nt_error *error)
{
    switch (member_of(reader, member->name)) {
    case BRANCHES:
        level_of(reader)->has_branches = true;
        return enter(reader, IN_BRANCHES, NT_NONE, error);
    case LEAVES:
        level_of(reader)->has_leaves = *skip_ret = true;
        return NT_OK;
    case FRIENDS:
        return enter(reader, IN_FRIENDS, NT_NONE, error);
    case TREE_INDEX:
        reader->tree->has_index = *skip_ret = true;
        return NT_OK;
    case BRANCH_REF:
        NT_TRY(add_item(reader, NT_NONE, false, member->offset, error));
        return add_branch(reader, member, error);
    default:
        *skip_ret = true;
        return NT_OK;
    }
}

/* The object that counts the items of a branch is often met there first. Only in a TBranchClones it has
 * no other place. */
static enum nt_status begin_counter(struct tree_reader *reader, uint32_t index,
                                    const struct nt_object_member *member, size_t *counter,
                                    struct nt_error *error)
{
    *counter = member->offset;
    if (nt_text_is(reader->branches[index].branch.class_name, "TBranchClones"))
        NT_TRY(add_item(reader, index, false, member->offset, error));
    return add_branch(reader, member, error);
}

static enum nt_status begin_in_branch(struct tree_reader *reader, uint32_t index,
                                      const struct nt_object_member *member, bool *skip_ret,
                                      struct nt_error *error)
{
    struct met_branch *met = &reader->branches[index];
    switch (member_of(reader, member->name)) {
    case BRANCHES:
        level_of(reader)->has_branches = true;
        return enter(reader, IN_BRANCHES, index, error);
    case LEAVES:
        level_of(reader)->has_leaves = true;
        return enter(reader, IN_LEAVES, index, error);
    case BASKETS:
        level_of(reader)->has_baskets = true;
        return enter(reader, IN_BASKETS, index, error);
    case IO_FEATURES:
        return enter(reader, IN_FEATURES, index, error);
    case BRANCH_COUNT:
        return begin_counter(reader, index, member, &met->counter, error);
    case SECOND_BRANCH_COUNT:
        return begin_counter(reader, index, member, &met->second_counter, error);
    default:
        *skip_ret = true;
        return NT_OK;
    }
}

static enum nt_status begin_in_leaf(struct tree_reader *reader, uint32_t index,
                                    const struct nt_object_member *member, bool *skip_ret,
                                    struct nt_error *error)
{
    if (member_of(reader, member->name) != LEAF_COUNT) {
        *skip_ret = true;
        return NT_OK;
    }
    reader->leaves[index].counter = member->offset;
    return add_leaf(reader, member, error);
}

static enum nt_status begin(void *context, const struct nt_object_member *member, bool *skip_ret,
                            struct nt_error *error)
{
    struct tree_reader *reader = context;
    if (reader->level_count == 0) {
        reader->tree->version = (uint32_t)member->version;
        return enter(reader, IN_TREE, 0, error);
    }
    struct record_level *level = level_of(reader);
    switch (level->context) {
    case IN_TREE:
        return begin_in_tree(reader, member, skip_ret, error);
    case IN_BRANCH:
        return begin_in_branch(reader, level->index, member, skip_ret, error);
    case IN_LEAF:
        return begin_in_leaf(reader, level->index, member, skip_ret, error);
    case IN_BRANCHES:
        NT_TRY(add_item(reader, level->index, false, member->offset, error));
        return add_branch(reader, member, error);
    case IN_LEAVES:
        NT_TRY(add_item(reader, level->index, true, member->offset, error));
        return add_leaf(reader, member, error);
    case IN_FRIENDS:
        return add_friend(reader, error);
    default:
        *skip_ret = true;
        level->items++;
        return NT_OK;
    }
}

/* A description without the lists, or one that ends before them, would make the tree look empty. */
static enum nt_status check_lists(const struct tree_reader *reader, const struct record_level *level,
                                  const struct nt_object_member *member, struct nt_error *error)
{
    bool is_clones = nt_text_is(member->class_name, "TBranchClones"); /* its branches have the others */
    const char *missing = !level->has_branches                                               ? "fBranches"
                          : !level->has_leaves && !is_clones                                 ? "fLeaves"
                          : !level->has_baskets && !is_clones && level->context == IN_BRANCH ? "fBaskets"
                                                                                             : NULL;
    if (!missing)
        return NT_OK;
    return nt_fail(error, NT_CORRUPT, reader->tree->record_offset,
                   "an object of class %.*s has no list %s: the file's description of version %" PRId32
                   " of the class does not have it, or has a member before it that cannot be read",
                   NT_FORMAT_TEXT(member->class_name, 80), missing, member->version);
}

static enum nt_status end(void *context, const struct nt_object_member *member, struct nt_error *error)
{
    struct tree_reader *reader = context;
    const struct record_level *level = level_of(reader);
    reader->level_count--;
    if (level->context == IN_TREE || level->context == IN_BRANCH)
        return check_lists(reader, level, member, error);
    return NT_OK;
}

/* ---- Members ---- */

/* Members that are copied as they are. */
static const struct copied {
    enum { NOT_COPIED, LONG, INT, NATURAL, BITS, FLAG, TEXT } as;
    size_t to; /* offset in the tree, branch, leaf or friend */
} copied[CONTEXTS][MEMBERS] = {
    [IN_TREE][NAME] = {TEXT, offsetof(struct nt_ttree, name)},
    [IN_TREE][TITLE] = {TEXT, offsetof(struct nt_ttree, title)},
    [IN_TREE][ENTRIES] = {LONG, offsetof(struct nt_ttree, entries)},
    [IN_TREE][TOTAL_BYTES] = {LONG, offsetof(struct nt_ttree, total_bytes)},
    [IN_TREE][ZIP_BYTES] = {LONG, offsetof(struct nt_ttree, stored_bytes)},
    [IN_TREE][AUTO_FLUSH] = {LONG, offsetof(struct nt_ttree, auto_flush)},
    [IN_FEATURES][IO_BITS] = {NATURAL, offsetof(struct met_branch, branch.io_features)},
    [IN_FRIEND][TREE_NAME] = {TEXT, offsetof(struct nt_ttree_friend, tree)},
    [IN_FRIEND][TITLE] = {TEXT, offsetof(struct nt_ttree_friend, file)},
    [IN_LEAF][NAME] = {TEXT, offsetof(struct met_leaf, leaf.name)},
    [IN_LEAF][TITLE] = {TEXT, offsetof(struct met_leaf, leaf.title)},
    [IN_LEAF][LENGTH] = {NATURAL, offsetof(struct met_leaf, leaf.length)},
    [IN_LEAF][LENGTH_OF_TYPE] = {NATURAL, offsetof(struct met_leaf, leaf.width)},
    [IN_LEAF][OFFSET] = {NATURAL, offsetof(struct met_leaf, leaf.offset)},
    [IN_LEAF][IS_RANGE] = {FLAG, offsetof(struct met_leaf, leaf.is_range)},
    [IN_LEAF][IS_UNSIGNED] = {FLAG, offsetof(struct met_leaf, leaf.is_unsigned)},
    [IN_LEAF][TYPE] = {INT, offsetof(struct met_leaf, leaf.type)},
    [IN_BRANCH][NAME] = {TEXT, offsetof(struct met_branch, branch.name)},
    [IN_BRANCH][TITLE] = {TEXT, offsetof(struct met_branch, branch.title)},
    [IN_BRANCH][FILE_NAME] = {TEXT, offsetof(struct met_branch, branch.file_name)},
    [IN_BRANCH][COMPRESS] = {INT, offsetof(struct met_branch, branch.compression)},
    [IN_BRANCH][ENTRY_OFFSET_LENGTH] = {NATURAL, offsetof(struct met_branch, branch.entry_offset_length)},
    [IN_BRANCH][WRITE_BASKET] = {LONG, offsetof(struct met_branch, write_basket)},
    [IN_BRANCH][ENTRIES] = {LONG, offsetof(struct met_branch, branch.entries)},
    [IN_BRANCH][FIRST_ENTRY] = {LONG, offsetof(struct met_branch, branch.first_entry)},
    [IN_BRANCH][TOTAL_BYTES] = {LONG, offsetof(struct met_branch, branch.total_bytes)},
    [IN_BRANCH][ZIP_BYTES] = {LONG, offsetof(struct met_branch, branch.stored_bytes)},
    [IN_BRANCH][CHECKSUM] = {BITS, offsetof(struct met_branch, branch.checksum)},
    [IN_BRANCH][CONTAINER_CHECKSUM] = {BITS, offsetof(struct met_branch, branch.checksum)},
    [IN_BRANCH][CLASS_VERSION] = {INT, offsetof(struct met_branch, branch.class_version)},
    [IN_BRANCH][ID] = {INT, offsetof(struct met_branch, branch.id)},
    [IN_BRANCH][TYPE] = {INT, offsetof(struct met_branch, branch.type)},
    [IN_BRANCH][STREAMER_TYPE] = {INT, offsetof(struct met_branch, branch.streamer_type)},
};

/* Where a member is copied to. */
static void *target_of(struct tree_reader *reader, const struct record_level *level, const struct copied *row)
{
    switch (level->context) {
    case IN_BRANCH:
    case IN_FEATURES:
        return (char *)&reader->branches[level->index] + row->to;
    case IN_LEAF:
        return (char *)&reader->leaves[level->index] + row->to;
    case IN_FRIEND:
        return (char *)&reader->friends[level->index] + row->to;
    default:
        return (char *)reader->tree + row->to;
    }
}

static void set_basket_array(struct met_branch *met, enum tree_member which,
                             const struct nt_object_member *member)
{
    struct nt_ttree_branch *branch = &met->branch;
    uint8_t width;
    if (which == BASKET_ENTRIES) {
        branch->basket_entries = array(member, &met->entry_count, &branch->entry_width);
    } else if (which == BASKET_SEEKS) {
        branch->basket_seeks = array(member, &met->seek_count, &branch->seek_width);
    } else if (which == BASKET_BYTES) {
        branch->basket_bytes = array(member, &met->size_count, &width);
        met->size_count = width == 4 ? met->size_count : 0;
    }
}

static enum nt_status numbers(void *context, const struct nt_object_member *member, struct nt_error *error)
{
    struct tree_reader *reader = context;
    if (reader->level_count == 0)
        return NT_OK;
    const struct record_level *level = level_of(reader);
    enum tree_member which = member_of(reader, member->name);
    const struct copied *row = &copied[level->context][which];
    void *target = target_of(reader, level, row);
    if (row->as == LONG)
        *(int64_t *)target = integer(member);
    else if (row->as == INT)
        *(int32_t *)target = (int32_t)integer(member);
    else if (row->as == BITS)
        *(uint32_t *)target = (uint32_t)integer(member);
    else if (row->as == NATURAL)
        *(uint32_t *)target = natural(member);
    else if (row->as == FLAG)
        *(bool *)target = integer(member) != 0;
    else if (level->context == IN_BRANCH)
        set_basket_array(&reader->branches[level->index], which, member);
    else if (level->context == IN_TREE && which == CLUSTER_ENDS)
        reader->ends = *member;
    else if (level->context == IN_TREE && which == CLUSTER_SIZES)
        reader->sizes = *member;
    return NT_OK;
}

/* The class of the objects of a branch: some classes of branches name another one as theirs. */
static void set_class_name(struct nt_ttree_branch *branch, enum tree_member which, struct nt_text text)
{
    bool is_clones = nt_text_is(branch->class_name, "TBranchClones");
    bool is_stl = nt_text_is(branch->class_name, "TBranchSTL");
    if (which == CONTAINER_NAME || (which == CLASS_NAME && !is_clones && !is_stl))
        branch->object_class = text;
}

static enum nt_status string(void *context, const struct nt_object_member *member, struct nt_error *error)
{
    struct tree_reader *reader = context;
    struct nt_text text = {(const char *)member->bytes, member->byte_count};
    enum tree_member which = member_of(reader, member->name);
    if (reader->level_count == 0)
        return NT_OK;
    const struct record_level *level = level_of(reader);
    const struct copied *row = &copied[level->context][which];
    if (row->as == TEXT)
        *(struct nt_text *)target_of(reader, level, row) = text;
    else if (level->context == IN_BRANCH)
        set_class_name(&reader->branches[level->index].branch, which, text);
    else if (level->context == IN_FRIEND && which == NAME)
        reader->friends[level->index].name = reader->friends[level->index].tree = text;
    return NT_OK;
}

static enum nt_status reference(void *context, const struct nt_object_member *member, size_t offset,
                                struct nt_error *error)
{
    struct tree_reader *reader = context;
    if (reader->level_count == 0)
        return NT_OK;
    struct record_level *level = level_of(reader);
    enum tree_member which = member_of(reader, member->name);
    level->items++;
    if (level->context == IN_LEAF && which == LEAF_COUNT)
        reader->leaves[level->index].counter = offset;
    else if (level->context == IN_BRANCH && which == BRANCH_COUNT)
        reader->branches[level->index].counter = offset;
    else if (level->context == IN_BRANCH && which == SECOND_BRANCH_COUNT)
        reader->branches[level->index].second_counter = offset;
    else if (offset != SIZE_MAX && (level->context == IN_BRANCHES || level->context == IN_LEAVES))
        return add_item(reader, level->index, level->context == IN_LEAVES, offset, error);
    return NT_OK;
}

static enum nt_status add_embedded(struct tree_reader *reader, struct record_level *level,
                                   const struct nt_object_member *member, struct nt_error *error)
{
    struct nt_ttree_branch *branch = &reader->branches[level->index].branch;
    NT_TRY(grow(reader, &reader->embedded, reader->embedded_count, &reader->embedded_room,
                sizeof(*reader->embedded), error));
    if (branch->embedded_count++ == 0)
        branch->first_embedded = (uint32_t)reader->embedded_count;
    reader->embedded[reader->embedded_count++] =
        (struct nt_ttree_embedded){.slot = level->items++,
                                   .bytes = (uint32_t)member->byte_count,
                                   .offset = (size_t)(member->bytes - reader->tree->object)};
    return NT_OK;
}

static enum nt_status fail_unknown(const struct tree_reader *reader, const struct nt_object_member *member,
                                   struct nt_error *error)
{
    return nt_fail(
        error, NT_UNSUPPORTED, reader->tree->record_offset,
        "the file does not describe version %" PRId32 " of class %.*s, an object at byte %zu of %zu",
        member->version, NT_FORMAT_TEXT(member->class_name, 80), member->offset, reader->tree->object_bytes);
}

static enum nt_status unknown(void *context, const struct nt_object_member *member, struct nt_error *error)
{
    struct tree_reader *reader = context;
    struct record_level *level = reader->level_count ? level_of(reader) : NULL;
    if (level && level->context == IN_BASKETS)
        return add_embedded(reader, level, member, error);
    if (level && level->context == IN_TREE && member_of(reader, member->name) == TREE_INDEX)
        reader->tree->has_index = true;
    bool is_needed = !level || level->context == IN_BRANCHES || level->context == IN_LEAVES ||
                     member_of(reader, member->name) == IO_FEATURES;
    return is_needed ? fail_unknown(reader, member, error) : NT_OK;
}

/* ---- Numbers for branches and leaves ---- */

/* The index of the object that was met at an offset, or NT_NONE. */
#define DEFINE_FIND(name, type, items, count, member)                                                        \
    static uint32_t name(const struct tree_reader *reader, size_t offset)                                    \
    {                                                                                                        \
        size_t low = 0, high = reader->count;                                                                \
        while (low < high) {                                                                                 \
            size_t middle = low + (high - low) / 2;                                                          \
            if (reader->items[middle].member < offset)                                                       \
                low = middle + 1;                                                                            \
            else                                                                                             \
                high = middle;                                                                               \
        }                                                                                                    \
        return low < reader->count && reader->items[low].member == offset ? (uint32_t)low : NT_NONE;         \
    }

DEFINE_FIND(find_branch, struct met_branch, branches, branch_count, branch.offset)
DEFINE_FIND(find_leaf, struct met_leaf, leaves, leaf_count, offset)

static enum nt_status fail_reference(const struct tree_reader *reader, const char *what, size_t offset,
                                     struct nt_error *error)
{
    return nt_fail(error, NT_CORRUPT, reader->tree->record_offset,
                   "the tree refers to a %s at byte %zu of its object, but none begins there", what, offset);
}

/* The lists of children and leaves of each branch, in order of the lists in the file. What is in several
 * lists belongs to the first. `root` is a branch that stands for the tree. */
static enum nt_status link_items(struct tree_reader *reader, struct met_branch *root, struct nt_error *error)
{
    for (size_t i = 0; i < reader->item_count; i++) {
        const struct list_item *item = &reader->items[i];
        struct met_branch *parent = item->parent == NT_NONE ? root : &reader->branches[item->parent];
        uint32_t found = item->is_leaf ? find_leaf(reader, item->offset) : find_branch(reader, item->offset);
        if (found == NT_NONE)
            return fail_reference(reader, item->is_leaf ? "leaf" : "branch", item->offset, error);
        if (item->is_leaf && !reader->leaves[found].has_branch) {
            reader->leaves[found].has_branch = true;
            if (parent->last_leaf == NT_NONE)
                parent->first_leaf = found;
            else
                reader->leaves[parent->last_leaf].next = found;
            parent->last_leaf = found;
        } else if (!item->is_leaf && !reader->branches[found].has_parent) {
            reader->branches[found].has_parent = true;
            reader->branches[found].branch.parent = item->parent;
            if (parent->last_child == NT_NONE)
                parent->first_child = found;
            else
                reader->branches[parent->last_child].next = found;
            parent->last_child = found;
        }
    }
    return NT_OK;
}

/* The next branch in depth-first order. */
static uint32_t next_branch(const struct tree_reader *reader, uint32_t index)
{
    if (reader->branches[index].first_child != NT_NONE)
        return reader->branches[index].first_child;
    while (index != NT_NONE && reader->branches[index].next == NT_NONE)
        index = reader->branches[index].branch.parent;
    return index == NT_NONE ? NT_NONE : reader->branches[index].next;
}

/* Numbers the branches and their leaves. */
static void number_all(struct tree_reader *reader, uint32_t first)
{
    struct nt_ttree *tree = reader->tree;
    for (uint32_t i = first; i != NT_NONE; i = next_branch(reader, i)) {
        struct met_branch *met = &reader->branches[i];
        met->number = tree->branch_count++;
        met->branch.first_leaf = tree->leaf_count;
        for (uint32_t leaf = met->first_leaf; leaf != NT_NONE; leaf = reader->leaves[leaf].next) {
            reader->leaves[leaf].leaf.branch = met->number;
            reader->leaves[leaf].number = tree->leaf_count++;
        }
        met->branch.leaf_count = tree->leaf_count - met->branch.first_leaf;
    }
}

static enum nt_status number_of_branch(const struct tree_reader *reader, size_t offset, uint32_t *number_ret,
                                       struct nt_error *error)
{
    if (offset == SIZE_MAX)
        return NT_OK;
    uint32_t found = find_branch(reader, offset);
    if (found == NT_NONE)
        return fail_reference(reader, "branch", offset, error);
    *number_ret = reader->branches[found].number;
    return NT_OK;
}

static uint32_t count_slots(const struct met_branch *met)
{
    uint64_t written = met->write_basket < 0 ? 0 : (uint64_t)met->write_basket + 1;
    uint64_t stored = nt_min(met->entry_count, nt_min(met->seek_count, met->size_count));
    return (uint32_t)nt_min(nt_min(written, stored), UINT32_MAX);
}

static enum nt_status finish_branch(struct tree_reader *reader, struct met_branch *met,
                                    struct nt_error *error)
{
    struct nt_ttree_branch *branch = &met->branch;
    if (branch->parent != NT_NONE)
        branch->parent = reader->branches[branch->parent].number;
    branch->slot_count = count_slots(met);
    branch->record = reader->tree;
    branch->file_source = NT_TTREE_FILE;
    branch->object_source = NT_TTREE_OBJECT;
    NT_TRY(number_of_branch(reader, met->counter, &branch->counter, error));
    NT_TRY(number_of_branch(reader, met->second_counter, &branch->second_counter, error));
    reader->tree->branches[met->number] = *branch;
    return NT_OK;
}

static enum nt_status finish_leaf(struct tree_reader *reader, struct met_leaf *met, struct nt_error *error)
{
    if (met->counter != SIZE_MAX) {
        uint32_t found = find_leaf(reader, met->counter);
        if (found == NT_NONE)
            return fail_reference(reader, "leaf", met->counter, error);
        met->leaf.counter = reader->leaves[found].number;
    }
    reader->tree->leaves[met->number] = met->leaf;
    return NT_OK;
}

/* ---- The tree ---- */

static enum nt_status allocate(struct tree_reader *reader, size_t count, size_t size, void *items_ret,
                               struct nt_error *error)
{
    void *items;
    NT_TRY(nt_budget_take(reader->budget, NT_COST_ENVELOPE_BYTE, count * size, reader->tree->record_offset,
                          error));
    items = nt_arena_alloc(reader->arena, count + 1, size);
    NT_TRY(nt_check_memory(items, error));
    memcpy(items_ret, &items, sizeof(items));
    return NT_OK;
}

static enum nt_status copy(struct tree_reader *reader, const void *from, size_t count, size_t size,
                           void *items_ret, struct nt_error *error)
{
    void *items;
    NT_TRY(allocate(reader, count, size, items_ret, error));
    if (count == 0)
        return NT_OK;
    memcpy(&items, items_ret, sizeof(items));
    memcpy(items, from, count * size);
    return NT_OK;
}

static enum nt_status finish_ranges(struct tree_reader *reader, struct nt_error *error)
{
    struct nt_ttree *tree = reader->tree;
    uint64_t ends, sizes;
    uint8_t end_width = 0, size_width = 0;
    const uint8_t *end_bytes = array(&reader->ends, &ends, &end_width);
    const uint8_t *size_bytes = array(&reader->sizes, &sizes, &size_width);
    uint64_t count = end_width == 8 && size_width == 8 ? nt_min(ends, sizes) : 0;
    NT_TRY(allocate(reader, count, sizeof(*tree->ranges), &tree->ranges, error));
    tree->range_count = (uint32_t)count;
    for (uint32_t i = 0; i < tree->range_count; i++) {
        tree->ranges[i].last_entry = (int64_t)nt_load_be64(end_bytes + 8 * (size_t)i);
        tree->ranges[i].size = (int64_t)nt_load_be64(size_bytes + 8 * (size_t)i);
    }
    return NT_OK;
}

static enum nt_status finish_lists(struct tree_reader *reader, struct nt_error *error)
{
    struct nt_ttree *tree = reader->tree;
    NT_TRY(allocate(reader, tree->branch_count, sizeof(*tree->branches), &tree->branches, error));
    NT_TRY(allocate(reader, tree->leaf_count, sizeof(*tree->leaves), &tree->leaves, error));
    for (size_t i = 0; i < reader->branch_count; i++)
        if (reader->branches[i].number != NT_NONE)
            NT_TRY(finish_branch(reader, &reader->branches[i], error));
    for (size_t i = 0; i < reader->leaf_count; i++)
        if (reader->leaves[i].number != NT_NONE)
            NT_TRY(finish_leaf(reader, &reader->leaves[i], error));
    return NT_OK;
}

static enum nt_status finish(struct tree_reader *reader, struct nt_error *error)
{
    struct nt_ttree *tree = reader->tree;
    struct met_branch root = {.first_child = NT_NONE, .last_child = NT_NONE};
    root.first_leaf = root.last_leaf = NT_NONE;
    NT_TRY(link_items(reader, &root, error));
    number_all(reader, root.first_child);
    NT_TRY(finish_lists(reader, error));
    NT_TRY(finish_ranges(reader, error));
    NT_TRY(copy(reader, reader->embedded, reader->embedded_count, sizeof(*reader->embedded), &tree->embedded,
                error));
    NT_TRY(
        copy(reader, reader->friends, reader->friend_count, sizeof(*reader->friends), &tree->friends, error));
    tree->embedded_count = (uint32_t)reader->embedded_count;
    tree->friend_count = (uint32_t)reader->friend_count;
    return NT_OK;
}

/* A TNtuple is a TTree with more members: the version of the TTree is in its second header. */
static void correct_version(struct nt_ttree *tree)
{
    enum { VERSION_OFFSET = 4, SECOND_OFFSET = 10 };
    if (!nt_text_is(tree->class_name, "TTree") && tree->object_bytes >= SECOND_OFFSET + 2)
        tree->version = nt_load_be16(tree->object + SECOND_OFFSET);
}

static void free_reader(struct tree_reader *reader)
{
    nt_budget_release(reader->budget, NT_COST_ENVELOPE_BYTE, reader->taken);
    free(reader->branches);
    free(reader->leaves);
    free(reader->items);
    free(reader->embedded);
    free(reader->friends);
    free(reader);
}
NT_DEFINE_CLEANUP(struct tree_reader, free_reader)

enum nt_status nt_ttree_read(struct nt_ttree *tree, const struct nt_streamer_info *info,
                             struct nt_text class_name, size_t key_bytes, struct nt_arena *arena,
                             struct nt_budget *budget, struct nt_error *error)
{
    NT_CLEANUP(free_reader_at) struct tree_reader *reader = calloc(1, sizeof(*reader));
    NT_TRY(nt_check_memory(reader, error));
    const struct nt_object_visitor visitor = {
        reader,           begin,     end,     numbers,
        string,           reference, unknown, .record_offset = tree->record_offset,
        .is_strict = true};
    reader->tree = tree;
    reader->arena = arena;
    reader->budget = budget;
    tree->own = tree;
    tree->info = info;
    tree->class_name = class_name;
    NT_TRY(nt_object_walk(info, class_name, tree->object, tree->object_bytes, key_bytes, &visitor, error));
    NT_TRY(finish(reader, error));
    correct_version(tree);
    return NT_OK;
}
