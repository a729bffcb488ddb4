/* SPDX-License-Identifier: MIT
 *
 * Walks any object whose class is described, with bounded depth and counts.
 */
#include "formats/ttree/ttree.h"

#include "container/container.h"

/* ---- Classes with a streamer of their own ---- */

enum streamed_kind {
    DESCRIBED, /* by the streamer information */
    TOBJECT,
    TSTRING,
    TARRAY,
    TDATIME,
    TREF,
    TREFARRAY,
    TOBJARRAY,
    TLIST,
    TCLONESARRAY,
    OPAQUE, /* has no streamer here */
};

struct known_class {
    struct nt_text name;
    enum streamed_kind kind;
    enum nt_streamer_type type; /* of the numbers of a TARRAY */
};

static const struct known_class known_classes[] = {
    {NT_TEXT_OF("TObject"), TOBJECT, 0},
    {NT_TEXT_OF("TString"), TSTRING, 0},
    {NT_TEXT_OF("TArrayC"), TARRAY, NT_STREAMER_CHAR},
    {NT_TEXT_OF("TArrayS"), TARRAY, NT_STREAMER_SHORT},
    {NT_TEXT_OF("TArrayI"), TARRAY, NT_STREAMER_INT},
    {NT_TEXT_OF("TArrayL"), TARRAY, NT_STREAMER_LONG},
    {NT_TEXT_OF("TArrayL64"), TARRAY, NT_STREAMER_LONG64},
    {NT_TEXT_OF("TArrayF"), TARRAY, NT_STREAMER_FLOAT},
    {NT_TEXT_OF("TArrayD"), TARRAY, NT_STREAMER_DOUBLE},
    {NT_TEXT_OF("TDatime"), TDATIME, 0},
    {NT_TEXT_OF("TRef"), TREF, 0},
    {NT_TEXT_OF("TRefArray"), TREFARRAY, 0},
    {NT_TEXT_OF("TObjArray"), TOBJARRAY, 0},
    {NT_TEXT_OF("TList"), TLIST, 0},
    {NT_TEXT_OF("THashList"), TLIST, 0},
    {NT_TEXT_OF("TClonesArray"), TCLONESARRAY, 0},
    {NT_TEXT_OF("TBasket"), OPAQUE, 0},
    {NT_TEXT_OF("TKey"), OPAQUE, 0},
    {NT_TEXT_OF("TTreeIndex"), OPAQUE, 0},
    {NT_TEXT_OF("TMap"), OPAQUE, 0},
    {NT_TEXT_OF("TExMap"), OPAQUE, 0},
    {NT_TEXT_OF("THashTable"), OPAQUE, 0},
    {NT_TEXT_OF("TSortedList"), OPAQUE, 0},
    {NT_TEXT_OF("TOrdCollection"), OPAQUE, 0},
    {NT_TEXT_OF("TBtree"), OPAQUE, 0},
};

static const struct known_class described_class = {{NULL, 0}, DESCRIBED, 0};

static const struct known_class *find_known(struct nt_text name)
{
    for (size_t i = 0; i < sizeof(known_classes) / sizeof(known_classes[0]); i++)
        if (nt_texts_are_equal(name, known_classes[i].name))
            return &known_classes[i];
    return &described_class;
}

/* ---- The walk ---- */

enum {
    MAX_DEPTH = 128, /* of objects and base classes; a branch in a branch takes three */
    SELF_TAG = 1,
    MEMBERWISE = 0x4000,
    TREF_HAS_UUID = 1 << 5,
    CLONES_ARE_MEMBERWISE = 1 << 12,
    LONG_STRING = 255,
    CACHE_BITS = 7,
    COUNTERS = 8,
    STL_VECTOR = 1,
};

/* The classes that were met, by the address of the name: lookups by text would take most of the time. */
struct met_class {
    struct nt_text name;
    const struct known_class *known;
    int32_t version; /* of `described` */
    const struct nt_streamer_class *described;
};

struct object_walk {
    const struct nt_streamer_info *info;
    const struct nt_object_visitor *visitor;
    struct nt_cursor cursor; /* ends with the innermost object */
    size_t size, base;       /* of the buffer; of its first byte, for references */
    unsigned depth, bases;   /* objects within each other; base classes within those */
    unsigned muted;
    bool rest_is_unknown; /* the size of a member is not known, so neither is the rest of its object */
    struct met_class met[1 << CACHE_BITS];
};

/* Values of the members that count others, of an object with its base classes. */
struct frame {
    struct {
        struct nt_text name;
        uint32_t value;
    } counters[COUNTERS];
    unsigned counter_count;
};

static struct met_class *meet(struct object_walk *walk, struct nt_text name)
{
    uint64_t hash = (uint64_t)(uintptr_t)name.bytes * UINT64_C(0x9e3779b97f4a7c15);
    struct met_class *met = &walk->met[hash >> (64 - CACHE_BITS)];
    if (met->known && met->name.bytes != name.bytes) /* else two classes have this hash */
        met = &walk->met[(hash >> (64 - CACHE_BITS)) ^ 1];
    if (!met->known || met->name.bytes != name.bytes || met->name.length != name.length)
        *met = (struct met_class){.name = name, .known = find_known(name)};
    return met;
}

static const struct nt_streamer_class *find_class(struct object_walk *walk, struct nt_text name,
                                                  int32_t version)
{
    struct met_class *met = meet(walk, name);
    if (!met->described || met->version != version) {
        met->described = nt_streamer_find(walk->info, name, version);
        met->version = version;
    }
    return met->described;
}

enum { SHOWN = 80 }; /* bytes of a name */

static enum nt_status fail(const struct object_walk *walk, struct nt_text class_name, const char *what,
                           struct nt_error *error)
{
    return nt_fail(error, NT_CORRUPT, walk->visitor->record_offset, "an object%s%.*s, byte %zu of %zu: %s",
                   class_name.length ? " of class " : "", NT_FORMAT_TEXT(class_name, SHOWN),
                   walk->cursor.position, walk->size, what);
}

static enum nt_status fail_unsupported(const struct object_walk *walk, struct nt_text class_name,
                                       struct nt_text member, struct nt_error *error)
{
    return nt_fail(
        error, NT_UNSUPPORTED, walk->visitor->record_offset,
        "an object of class %.*s%s%.*s, byte %zu of %zu: the file does not describe it, and it has no byte "
        "count to skip it",
        NT_FORMAT_TEXT(class_name, SHOWN), member.length ? ", member " : "", NT_FORMAT_TEXT(member, SHOWN),
        walk->cursor.position, walk->size);
}

static enum nt_status check(const struct object_walk *walk, struct nt_text class_name, struct nt_error *error)
{
    return walk->cursor.failed ? fail(walk, class_name, "a member extends past the end", error) : NT_OK;
}

static struct nt_text without_star(struct nt_text type_name)
{
    while (type_name.length && type_name.bytes[type_name.length - 1] == '*')
        type_name.length--;
    return type_name;
}

/* ---- What the visitor gets ---- */

static enum nt_status begin(struct object_walk *walk, const struct nt_object_member *member, bool *skip_ret,
                            struct nt_error *error)
{
    *skip_ret = false;
    return walk->muted ? NT_OK : walk->visitor->begin(walk->visitor->context, member, skip_ret, error);
}

static enum nt_status end(struct object_walk *walk, const struct nt_object_member *member,
                          struct nt_error *error)
{
    return walk->muted ? NT_OK : walk->visitor->end(walk->visitor->context, member, error);
}

static enum nt_status unknown(struct object_walk *walk, const struct nt_object_member *member,
                              struct nt_error *error)
{
    return walk->muted ? NT_OK : walk->visitor->unknown(walk->visitor->context, member, error);
}

/* Shows the bytes up to `end` as unknown. */
static enum nt_status skip_to(struct object_walk *walk, struct nt_object_member *member, size_t position,
                              struct nt_error *error)
{
    member->bytes = walk->cursor.bytes + walk->cursor.position;
    member->byte_count = position - walk->cursor.position;
    walk->cursor.position = position;
    return unknown(walk, member, error);
}

/* Reads `count` numbers of `width` bytes. */
static enum nt_status numbers(struct object_walk *walk, struct nt_object_member *member, unsigned width,
                              struct nt_error *error)
{
    uint64_t byte_count;
    member->offset = walk->cursor.position;
    if (!nt_checked_multiply(member->count, width, &byte_count) || byte_count > nt_cursor_left(&walk->cursor))
        walk->cursor.failed = true;
    else
        member->bytes = nt_get_bytes(&walk->cursor, byte_count);
    if (walk->cursor.failed)
        return fail(walk, member->class_name, "the numbers extend past the end", error);
    member->byte_count = byte_count;
    member->depth = walk->depth;
    return walk->muted ? NT_OK : walk->visitor->numbers(walk->visitor->context, member, error);
}

/* Reads the characters of a string. */
static enum nt_status characters(struct object_walk *walk, struct nt_object_member *member, uint32_t length,
                                 struct nt_error *error)
{
    member->offset = walk->cursor.position;
    member->bytes = nt_get_bytes(&walk->cursor, length);
    if (!member->bytes)
        return fail(walk, member->class_name, "a string extends past the end", error);
    member->byte_count = member->count = length;
    member->depth = walk->depth;
    return walk->muted ? NT_OK : walk->visitor->string(walk->visitor->context, member, error);
}

static uint32_t get_length(struct nt_cursor *cursor)
{
    uint32_t length = nt_get_u8(cursor);
    return length == LONG_STRING ? nt_get_be32(cursor) : length;
}

static enum nt_status string(struct object_walk *walk, struct nt_object_member *member,
                             struct nt_error *error)
{
    return characters(walk, member, get_length(&walk->cursor), error);
}

static enum nt_status reference(struct object_walk *walk, struct nt_object_member *member, uint32_t tag,
                                struct nt_error *error)
{
    size_t offset = SIZE_MAX;
    if (tag == SELF_TAG)
        offset = 0;
    else if (tag != 0 && tag >= walk->base + NT_TFILE_MAP_OFFSET)
        offset = tag - NT_TFILE_MAP_OFFSET - walk->base;
    else if (tag != 0)
        return fail(walk, member->class_name, "a reference to a byte before the object", error);
    if (offset != SIZE_MAX && offset >= walk->size)
        return fail(walk, member->class_name, "a reference past the end", error);
    member->depth = walk->depth;
    return walk->muted ? NT_OK : walk->visitor->reference(walk->visitor->context, member, offset, error);
}

/* ---- Headers ---- */

/* The byte count, if there is one, and the version at the start of an object. */
struct object_header {
    int32_t version;
    bool is_counted, is_memberwise;
    size_t end;
};

static enum nt_status get_header(struct object_walk *walk, struct nt_text class_name,
                                 struct object_header *header_ret, struct nt_error *error)
{
    struct nt_cursor *cursor = &walk->cursor, ahead = *cursor;
    struct object_header header = {.end = cursor->end};
    uint32_t byte_count = nt_get_be32(&ahead);
    if (!ahead.failed && byte_count & NT_TFILE_BYTE_COUNT_MASK) {
        byte_count &= ~NT_TFILE_BYTE_COUNT_MASK;
        if (byte_count < 2 || byte_count > nt_cursor_left(&ahead))
            return fail(walk, class_name, "its byte count extends past the end", error);
        *cursor = ahead;
        header.is_counted = true;
        header.end = cursor->position + byte_count;
    }
    uint16_t version = nt_get_be16(cursor);
    header.is_memberwise = version & MEMBERWISE && version <= INT16_MAX;
    header.version = header.is_memberwise ? version & ~MEMBERWISE : (int16_t)version;
    *header_ret = header;
    return check(walk, class_name, error);
}

/* Continues after an object. */
static enum nt_status leave(struct object_walk *walk, struct nt_text class_name,
                            const struct object_header *header, struct nt_error *error)
{
    size_t position = walk->cursor.position;
    if (!header->is_counted || position == header->end)
        return NT_OK;
    walk->cursor.position = header->end;
    if (walk->muted || !walk->visitor->is_strict)
        return NT_OK;
    return nt_fail(
        error, NT_CORRUPT, walk->visitor->record_offset,
        "an object of class %.*s, byte %zu of %zu: its members end here, but its byte count ends at "
        "byte %zu",
        NT_FORMAT_TEXT(class_name, SHOWN), position, walk->size, header->end);
}

/* The class of an item: its name stands where it was used first. */
static enum nt_status get_class(struct object_walk *walk, struct nt_text *name_ret, struct nt_error *error)
{
    struct nt_cursor *cursor = &walk->cursor, named = *cursor;
    uint32_t tag = nt_get_be32(cursor);
    if (tag == NT_TFILE_NEW_CLASS_TAG) {
        named.position = cursor->position;
    } else {
        uint64_t offset = (uint64_t)(tag & ~NT_TFILE_CLASS_MASK);
        named = nt_cursor(cursor->bytes, cursor->position);
        if (offset < walk->base + NT_TFILE_MAP_OFFSET ||
            !nt_cursor_skip(&named, offset - NT_TFILE_MAP_OFFSET - walk->base) ||
            nt_get_be32(&named) != NT_TFILE_NEW_CLASS_TAG)
            return fail(walk, *name_ret, "the reference to its class does not lead to a class", error);
    }
    struct nt_text name = nt_tfile_get_class_name(&named);
    if (named.failed)
        return fail(walk, *name_ret, "the name of its class has no end", error);
    *name_ret = name;
    if (tag == NT_TFILE_NEW_CLASS_TAG)
        *cursor = named;
    return NT_OK;
}

/* ---- Objects ---- */

static enum nt_status walk_object(struct object_walk *walk, struct nt_text name, struct nt_text class_name,
                                  size_t offset, bool is_bounded, struct frame *derived,
                                  struct nt_error *error);

/* A pointer: nothing, a reference, or an object with its class. */
static enum nt_status walk_pointer(struct object_walk *walk, struct nt_text name, struct nt_text class_name,
                                   struct nt_error *error)
{
    struct nt_object_member member = {
        .name = name, .class_name = class_name, .offset = walk->cursor.position};
    uint32_t word = nt_get_be32(&walk->cursor);
    if (walk->cursor.failed)
        return check(walk, class_name, error);
    if (!(word & NT_TFILE_BYTE_COUNT_MASK) && !(word & NT_TFILE_CLASS_MASK))
        return reference(walk, &member, word, error);
    if (!(word & NT_TFILE_BYTE_COUNT_MASK) || word == NT_TFILE_NEW_CLASS_TAG)
        return fail_unsupported(walk, class_name, name, error);
    word &= ~NT_TFILE_BYTE_COUNT_MASK;
    if (word < 4 || word > nt_cursor_left(&walk->cursor))
        return fail(walk, class_name, "the byte count of an item extends past the end", error);
    size_t outer_end = walk->cursor.end, item_end = walk->cursor.position + word;
    walk->cursor.end = item_end;
    uint32_t tag = nt_load_be32(walk->cursor.bytes + walk->cursor.position);
    if (tag & NT_TFILE_CLASS_MASK) {
        NT_TRY(get_class(walk, &class_name, error));
        NT_TRY(walk_object(walk, name, class_name, member.offset, true, NULL, error));
    } else {
        NT_TRY(reference(walk, &member, tag, error));
    }
    walk->cursor.position = item_end;
    walk->cursor.end = outer_end;
    return NT_OK;
}

uint32_t nt_tobject_skip(struct nt_cursor *cursor)
{
    if (nt_get_be16(cursor) & (NT_TFILE_BYTE_COUNT_MASK >> 16))
        nt_cursor_skip(cursor, 4);
    nt_cursor_skip(cursor, 4); /* fUniqueID */
    uint32_t bits = nt_get_be32(cursor);
    if (bits & NT_TOBJECT_IS_REFERENCED)
        nt_cursor_skip(cursor, 2);
    return bits;
}

static const struct nt_text id_name = {"fUniqueID", 9}, bits_name = {"fBits", 5}, uint_name = {"UInt_t", 6};

/* The members of TObject: a version, usually without byte count, and two numbers. */
static enum nt_status walk_tobject(struct object_walk *walk, struct nt_error *error)
{
    struct nt_object_member id = {
        .name = id_name, .class_name = uint_name, .type = NT_STREAMER_UINT, .count = 1};
    struct nt_object_member bits = id;
    bits.name = bits_name;
    if (nt_get_be16(&walk->cursor) & (NT_TFILE_BYTE_COUNT_MASK >> 16))
        nt_cursor_skip(&walk->cursor, 4);
    NT_TRY(numbers(walk, &id, 4, error));
    NT_TRY(numbers(walk, &bits, 4, error));
    if (nt_load_be32(bits.bytes) & NT_TOBJECT_IS_REFERENCED)
        nt_cursor_skip(&walk->cursor, 2);
    return NT_OK;
}

static unsigned width_of(int32_t type)
{
    static const uint8_t widths[] = {
        [NT_STREAMER_CHAR] = 1,    [NT_STREAMER_SHORT] = 2,    [NT_STREAMER_INT] = 4,
        [NT_STREAMER_LONG] = 8,    [NT_STREAMER_FLOAT] = 4,    [NT_STREAMER_COUNTER] = 4,
        [NT_STREAMER_DOUBLE] = 8,  [NT_STREAMER_DOUBLE32] = 4, [NT_STREAMER_LEGACY_CHAR] = 1,
        [NT_STREAMER_UCHAR] = 1,   [NT_STREAMER_USHORT] = 2,   [NT_STREAMER_UINT] = 4,
        [NT_STREAMER_ULONG] = 8,   [NT_STREAMER_BITS] = 4,     [NT_STREAMER_LONG64] = 8,
        [NT_STREAMER_ULONG64] = 8, [NT_STREAMER_BOOL] = 1,     [NT_STREAMER_FLOAT16] = 3,
    };
    return type >= 0 && type < (int32_t)sizeof(widths) ? widths[type] : 0;
}

/* A number of items that take at least `bytes` each. */
static uint32_t get_count(struct object_walk *walk, unsigned bytes)
{
    uint32_t count = nt_get_be32(&walk->cursor);
    if (count > nt_cursor_left(&walk->cursor) / bytes)
        walk->cursor.failed = true;
    return walk->cursor.failed ? 0 : count;
}

/* Objects that are shown as numbers. */
static enum nt_status walk_numbers(struct object_walk *walk, struct nt_object_member *member,
                                   const struct known_class *known, struct nt_error *error)
{
    struct nt_cursor *cursor = &walk->cursor;
    member->type = NT_STREAMER_UINT;
    member->count = 1;
    member->is_list = known->kind == TARRAY || known->kind == TREFARRAY;
    if (known->kind == TARRAY) {
        member->type = (int32_t)known->type;
        member->count = get_count(walk, width_of(member->type));
    } else if (known->kind == TREFARRAY) {
        nt_tobject_skip(cursor);
        nt_cursor_skip(cursor, get_length(cursor));
        member->count = get_count(walk, 4);
        nt_cursor_skip(cursor, 4 + 2); /* lower bound, number of the process */
    } else if (known->kind == TREF) {
        struct nt_cursor ahead = *cursor;
        nt_cursor_skip(&ahead, 2 + 4);
        uint32_t ahead_bits = nt_get_be32(&ahead);
        nt_cursor_skip(cursor, 2);
        enum nt_status status = numbers(walk, member, 4, error);
        nt_cursor_skip(cursor, ahead_bits & NT_TOBJECT_IS_REFERENCED ? 6 : 4);
        nt_cursor_skip(cursor, ahead_bits & TREF_HAS_UUID ? get_length(cursor) : 2);
        return status;
    }
    if (cursor->failed)
        return fail(walk, member->class_name, "the items extend past the end", error);
    return numbers(walk, member, width_of(member->type), error);
}

/* Items of a TClonesArray: a byte that is 0 for none, then the object, of one class for all. */
static enum nt_status walk_clones(struct object_walk *walk, struct nt_object_member *list,
                                  struct nt_text item_class, struct nt_error *error)
{
    for (uint64_t i = 0; i < list->count; i++) {
        struct nt_object_member none = {.class_name = item_class, .offset = walk->cursor.position};
        if (nt_get_u8(&walk->cursor))
            NT_TRY(walk_object(walk, none.name, item_class, walk->cursor.position, false, NULL, error));
        else if (!walk->cursor.failed)
            NT_TRY(reference(walk, &none, 0, error));
        NT_TRY(check(walk, list->class_name, error));
    }
    return NT_OK;
}

static enum nt_status walk_items(struct object_walk *walk, struct nt_object_member *list,
                                 enum streamed_kind kind, struct nt_error *error)
{
    enum { FIRST_WITH_OPTIONS = 4, FIRST_WITH_LONG_OPTIONS = 5 };
    for (uint64_t i = 0; i < list->count; i++) {
        NT_TRY(walk_pointer(walk, (struct nt_text){0}, (struct nt_text){0}, error));
        if (kind == TLIST && list->version >= FIRST_WITH_OPTIONS)
            nt_cursor_skip(&walk->cursor, list->version < FIRST_WITH_LONG_OPTIONS
                                              ? nt_get_u8(&walk->cursor)
                                              : get_length(&walk->cursor));
        NT_TRY(check(walk, list->class_name, error));
    }
    return NT_OK;
}

/* The start of a list: what all collections have, and the number of items. */
static enum nt_status walk_list(struct object_walk *walk, struct nt_object_member *list,
                                enum streamed_kind kind, const struct object_header *header,
                                struct nt_error *error)
{
    struct nt_cursor *cursor = &walk->cursor;
    uint32_t bits = 0;
    struct nt_text item_class = {0};
    bool skip;
    if (list->version > 2)
        bits = nt_tobject_skip(cursor);
    if (list->version > 1)
        nt_cursor_skip(cursor, get_length(cursor));
    if (kind == TCLONESARRAY) {
        item_class.length = get_length(cursor);
        item_class.bytes = (const char *)nt_get_bytes(cursor, item_class.length);
        const char *semicolon =
            item_class.length && item_class.bytes ? memchr(item_class.bytes, ';', item_class.length) : NULL;
        if (semicolon)
            item_class.length = (size_t)(semicolon - item_class.bytes);
    }
    if (kind == TCLONESARRAY && bits & CLONES_ARE_MEMBERWISE && header->is_counted && !cursor->failed)
        return skip_to(walk, list, header->end, error);
    list->is_list = true;
    list->count = get_count(walk, kind == TCLONESARRAY ? 1 : 4);
    if (kind != TLIST)
        nt_cursor_skip(cursor, 4); /* lower bound */
    if (cursor->failed)
        return fail(walk, list->class_name, "the items extend past the end", error);
    NT_TRY(begin(walk, list, &skip, error));
    if (skip && header->is_counted) {
        cursor->position = header->end;
        return NT_OK;
    }
    walk->muted += skip;
    NT_TRY(kind == TCLONESARRAY ? walk_clones(walk, list, item_class, error)
                                : walk_items(walk, list, kind, error));
    walk->muted -= skip;
    return skip ? NT_OK : end(walk, list, error);
}

static enum nt_status walk_members(struct object_walk *walk, const struct nt_streamer_class *described,
                                   struct frame *frame, const struct object_header *header, bool is_bounded,
                                   struct nt_error *error);

/* Finds the description of an object from its version; classes without versions have a checksum. */
static const struct nt_streamer_class *describe(struct object_walk *walk, struct nt_text class_name,
                                                const struct object_header *header)
{
    if (header->is_memberwise)
        return NULL;
    if (header->version > 0)
        return find_class(walk, class_name, header->version);
    struct nt_cursor ahead = walk->cursor;
    uint32_t checksum = nt_get_be32(&ahead);
    const struct nt_streamer_class *described =
        ahead.failed ? NULL : nt_streamer_find_checksum(walk->info, class_name, checksum);
    if (described)
        walk->cursor = ahead;
    return described;
}

static enum nt_status walk_described(struct object_walk *walk, struct nt_object_member *object,
                                     const struct object_header *header, bool is_bounded,
                                     struct frame *derived, struct nt_error *error)
{
    struct frame own; /* large; most objects count nothing, so that not all of it is set */
    own.counter_count = 0;
    bool skip, ends = header->is_counted || is_bounded;
    const struct nt_streamer_class *described = describe(walk, object->class_name, header);
    if (!described && ends)
        return skip_to(walk, object, header->end, error);
    if (!described)
        return fail_unsupported(walk, object->class_name, object->name, error);
    if (derived)
        return walk_members(walk, described, derived, header, is_bounded, error);
    NT_TRY(begin(walk, object, &skip, error));
    if (skip && ends) {
        walk->cursor.position = header->end;
        return NT_OK;
    }
    walk->muted += skip;
    NT_TRY(walk_members(walk, described, &own, header, is_bounded, error));
    walk->muted -= skip;
    return skip ? NT_OK : end(walk, object, error);
}

/* An object that starts with a header. */
static enum nt_status walk_headed(struct object_walk *walk, struct nt_object_member *object,
                                  enum streamed_kind kind, bool is_bounded, struct frame *derived,
                                  struct nt_error *error)
{
    struct object_header header;
    size_t outer_end = walk->cursor.end;
    NT_TRY(get_header(walk, object->class_name, &header, error));
    enum nt_status status;
    walk->cursor.end = header.end;
    object->version = header.version;
    if (kind == OPAQUE && !header.is_counted)
        status = fail_unsupported(walk, object->class_name, object->name, error);
    else if (kind == OPAQUE)
        status = skip_to(walk, object, header.end, error);
    else if (kind == TREFARRAY)
        status = walk_numbers(walk, object, meet(walk, object->class_name)->known, error);
    else if (kind == DESCRIBED)
        status = walk_described(walk, object, &header, is_bounded, derived, error);
    else
        status = walk_list(walk, object, kind, &header, error);
    if (status == NT_OK)
        status = leave(walk, object->class_name, &header, error);
    walk->cursor.end = outer_end;
    return status;
}

/* TObject on its own. */
static enum nt_status walk_bare_tobject(struct object_walk *walk, struct nt_object_member *object,
                                        struct nt_error *error)
{
    bool skip;
    NT_TRY(begin(walk, object, &skip, error));
    walk->muted += skip;
    NT_TRY(walk_tobject(walk, error));
    walk->muted -= skip;
    return skip ? NT_OK : end(walk, object, error);
}

/* `is_bounded`: the cursor ends with the object. `derived`: the object whose base class this is, which
 * has its members. */
static enum nt_status walk_object(struct object_walk *walk, struct nt_text name, struct nt_text class_name,
                                  size_t offset, bool is_bounded, struct frame *derived,
                                  struct nt_error *error)
{
    struct nt_object_member object = {.name = name, .class_name = class_name, .offset = offset};
    const struct known_class *known = meet(walk, class_name)->known;
    enum nt_status status;
    object.depth = walk->depth;
    if (walk->depth + walk->bases >= MAX_DEPTH)
        return nt_fail(error, NT_CORRUPT, walk->cursor.position,
                       "an object of class %.*s, byte %zu: objects are nested more than %d deep",
                       NT_FORMAT_TEXT(class_name, SHOWN), walk->cursor.position, MAX_DEPTH);
    unsigned *level = derived ? &walk->bases : &walk->depth;
    ++*level;
    if (known->kind == TOBJECT)
        status = derived ? walk_tobject(walk, error) : walk_bare_tobject(walk, &object, error);
    else if (known->kind == TSTRING)
        status = string(walk, &object, error);
    else if (known->kind == TARRAY || known->kind == TDATIME || known->kind == TREF)
        status = walk_numbers(walk, &object, known, error);
    else if (known->kind == OPAQUE && is_bounded)
        status = skip_to(walk, &object, walk->cursor.end, error);
    else
        status = walk_headed(walk, &object, known->kind, is_bounded, derived, error);
    --*level;
    return status == NT_OK ? check(walk, class_name, error) : status;
}

/* ---- Members ---- */

/* A range and a number of bits in the comment on a member, "[0,100,12]", which change how it is stored. */
static bool has_range(struct nt_text title)
{
    bool is_inside = false;
    for (size_t i = 0; i < title.length; i++) {
        if (title.bytes[i] == '[')
            is_inside = true;
        else if (title.bytes[i] == ']')
            is_inside = false;
        else if (title.bytes[i] == ',' && is_inside)
            return true;
    }
    return false;
}

static void keep_counter(struct frame *frame, const struct nt_object_member *member)
{
    unsigned slot = frame->counter_count++ % COUNTERS;
    frame->counters[slot].name = member->name;
    frame->counters[slot].value = nt_load_be32(member->bytes);
}

static bool find_counter(const struct frame *frame, struct nt_text name, uint32_t *value_ret)
{
    for (unsigned i = 0; i < frame->counter_count && i < COUNTERS; i++) {
        if (nt_texts_are_equal(frame->counters[i].name, name)) {
            *value_ret = frame->counters[i].value;
            return true;
        }
    }
    return false;
}

/* The number of items of a counted array, after a byte that is 0 if there are none. */
static void get_counted(struct object_walk *walk, const struct nt_streamer_class *described,
                        const struct nt_streamer_element *element, const struct frame *frame,
                        struct nt_object_member *member)
{
    enum { WIDE = 2, LAST_BY_FLAG = 9 };
    static const struct nt_text branch = {"TBranch", 7}, seek = {"fBasketSeek", 11};
    uint32_t count = 0;
    uint8_t flag = nt_get_u8(&walk->cursor);
    if (flag && !find_counter(frame, element->counter, &count))
        walk->rest_is_unknown = true;
    member->count = count;
    /* In old versions of TBranch the flag gives the width, whatever the description says. */
    if (described->version <= LAST_BY_FLAG && nt_texts_are_equal(described->name, branch) &&
        nt_texts_are_equal(element->name, seek))
        member->type = flag == WIDE ? NT_STREAMER_LONG64 : NT_STREAMER_INT;
}

static enum nt_status walk_element_numbers(struct object_walk *walk,
                                           const struct nt_streamer_class *described,
                                           const struct nt_streamer_element *element, struct frame *frame,
                                           struct nt_error *error)
{
    struct nt_object_member member = {
        .name = element->name, .class_name = element->type_name, .type = element->type, .count = 1};
    if (member.type > NT_STREAMER_OFFSET_P) {
        member.type -= NT_STREAMER_OFFSET_P;
        member.is_list = true;
        get_counted(walk, described, element, frame, &member);
    } else if (member.type > NT_STREAMER_OFFSET_L) {
        member.type -= NT_STREAMER_OFFSET_L;
        member.count = element->length;
        member.is_list = true;
    }
    unsigned width = width_of(member.type);
    bool is_short_real = member.type == NT_STREAMER_DOUBLE32 || member.type == NT_STREAMER_FLOAT16;
    bool is_empty_array = element->type < NT_STREAMER_OFFSET_P && member.count == 0;
    if (width == 0 || is_empty_array || (is_short_real && has_range(element->title)))
        walk->rest_is_unknown = true;
    if (walk->rest_is_unknown)
        return NT_OK;
    NT_TRY(numbers(walk, &member, width, error));
    if (element->type == NT_STREAMER_COUNTER)
        keep_counter(frame, &member);
    if (element->type == NT_STREAMER_BITS && nt_load_be32(member.bytes) & NT_TOBJECT_IS_REFERENCED)
        nt_cursor_skip(&walk->cursor, 2);
    return NT_OK;
}

/* An STL member or another one with a byte count: numbers and strings are shown. */
static enum nt_status walk_counted(struct object_walk *walk, const struct nt_streamer_element *element,
                                   struct nt_error *error)
{
    struct nt_object_member member = {
        .name = element->name, .class_name = element->type_name, .offset = walk->cursor.position};
    bool is_string = element->type == NT_STREAMER_STL_STRING;
    bool is_vector = element->type == NT_STREAMER_STL && element->stl_type == STL_VECTOR;
    int32_t type = element->content_type;
    bool is_number =
        is_vector && width_of(type) && type != NT_STREAMER_DOUBLE32 && type != NT_STREAMER_FLOAT16;
    size_t outer_end = walk->cursor.end;
    struct object_header header;
    NT_TRY(get_header(walk, element->type_name, &header, error));
    if (!header.is_counted) {
        walk->rest_is_unknown = true;
        return NT_OK;
    }
    walk->cursor.end = header.end;
    member.version = header.version;
    member.depth = walk->depth;
    if (is_string) {
        NT_TRY(string(walk, &member, error));
    } else if (is_number && !header.is_memberwise) {
        member.type = type;
        member.is_list = true;
        member.count = nt_get_be32(&walk->cursor);
        NT_TRY(numbers(walk, &member, width_of(type), error));
    } else {
        NT_TRY(skip_to(walk, &member, header.end, error));
    }
    NT_TRY(leave(walk, element->type_name, &header, error));
    walk->cursor.end = outer_end;
    return NT_OK;
}

/* One object, pointer or string that is a member or an item of one. */
static enum nt_status walk_element_object(struct object_walk *walk, const struct nt_streamer_element *element,
                                          int32_t type, struct nt_text name, struct nt_error *error)
{
    struct nt_text class_name = without_star(element->type_name);
    struct nt_object_member member = {.name = name, .class_name = class_name};
    switch (type) {
    case NT_STREAMER_OBJECT_P:
    case NT_STREAMER_ANY_P:
        return walk_pointer(walk, name, class_name, error);
    case NT_STREAMER_TSTRING:
        return string(walk, &member, error);
    default:
        return walk_object(walk, name, class_name, walk->cursor.position, false, NULL, error);
    }
}

static bool is_object(int32_t type)
{
    return type >= NT_STREAMER_OBJECT && type <= NT_STREAMER_ANY_P;
}

/* An array of fixed length of objects is shown as a list. */
static enum nt_status walk_element_objects(struct object_walk *walk,
                                           const struct nt_streamer_element *element, struct nt_error *error)
{
    bool skip;
    struct nt_object_member list = {.name = element->name,
                                    .class_name = element->type_name,
                                    .count = element->length,
                                    .is_list = true,
                                    .offset = walk->cursor.position,
                                    .depth = walk->depth};
    if (list.count > nt_cursor_left(&walk->cursor))
        return fail(walk, list.class_name, "the items extend past the end", error);
    NT_TRY(begin(walk, &list, &skip, error));
    walk->muted += skip;
    for (uint64_t i = 0; i < list.count; i++) {
        NT_TRY(walk_element_object(walk, element, element->type - NT_STREAMER_OFFSET_L, (struct nt_text){0},
                                   error));
        NT_TRY(check(walk, list.class_name, error));
    }
    walk->muted -= skip;
    return skip ? NT_OK : end(walk, &list, error);
}

static enum nt_status walk_element(struct object_walk *walk, const struct nt_streamer_class *described,
                                   const struct nt_streamer_element *element, struct frame *frame,
                                   struct nt_error *error)
{
    static const struct nt_text base = {"BASE", 4};
    int32_t type = element->type;
    bool is_base = type == NT_STREAMER_BASE || ((type == NT_STREAMER_TOBJECT || type == NT_STREAMER_TNAMED) &&
                                                nt_texts_are_equal(element->type_name, base));
    if (is_base)
        return walk_object(walk, element->name, element->name, walk->cursor.position, false, frame, error);
    if (type == NT_STREAMER_CHAR_STAR) {
        struct nt_object_member member = {.name = element->name, .class_name = element->type_name};
        return characters(walk, &member, nt_get_be32(&walk->cursor), error);
    }
    if (type > NT_STREAMER_BASE && type < NT_STREAMER_OBJECT)
        return walk_element_numbers(walk, described, element, frame, error);
    if (is_object(type))
        return walk_element_object(walk, element, type, element->name, error);
    if (type > NT_STREAMER_OFFSET_L && is_object(type - NT_STREAMER_OFFSET_L))
        return walk_element_objects(walk, element, error);
    return walk_counted(walk, element, error);
}

/* Skips the members from `element` on. */
static enum nt_status walk_rest(struct object_walk *walk, const struct nt_streamer_class *described,
                                const struct nt_streamer_element *element, const struct object_header *header,
                                bool is_bounded, struct nt_error *error)
{
    struct nt_object_member rest = {
        .name = element->name, .class_name = element->type_name, .offset = walk->cursor.position};
    return header->is_counted || is_bounded ? skip_to(walk, &rest, header->end, error)
                                            : fail_unsupported(walk, described->name, element->name, error);
}

static enum nt_status walk_members(struct object_walk *walk, const struct nt_streamer_class *described,
                                   struct frame *frame, const struct object_header *header, bool is_bounded,
                                   struct nt_error *error)
{
    for (uint32_t i = 0; i < described->element_count; i++) {
        const struct nt_streamer_element *element = &described->elements[i];
        size_t start = walk->cursor.position;
        NT_TRY(walk_element(walk, described, element, frame, error));
        if (walk->rest_is_unknown) {
            walk->rest_is_unknown = false;
            walk->cursor.position = start;
            return walk_rest(walk, described, element, header, is_bounded, error);
        }
        if (walk->cursor.failed)
            return check(walk, described->name, error);
    }
    return NT_OK;
}

/* ---- The functions of the interface ---- */

static void init(struct object_walk *walk, const struct nt_streamer_info *info, const uint8_t *bytes,
                 size_t byte_count, size_t buffer_base, const struct nt_object_visitor *visitor)
{
    *walk = (struct object_walk){.info = info, .visitor = visitor, .size = byte_count, .base = buffer_base};
    walk->cursor = nt_cursor(bytes, byte_count);
}

enum nt_status nt_object_walk(const struct nt_streamer_info *info, struct nt_text class_name,
                              const uint8_t *bytes, size_t byte_count, size_t buffer_base,
                              const struct nt_object_visitor *visitor, struct nt_error *error)
{
    struct object_walk walk;
    init(&walk, info, bytes, byte_count, buffer_base, visitor);
    return walk_object(&walk, (struct nt_text){0}, class_name, 0, true, NULL, error);
}

enum nt_status nt_object_walk_item(const struct nt_streamer_info *info, const uint8_t *bytes,
                                   size_t byte_count, size_t buffer_base, size_t offset,
                                   const struct nt_object_visitor *visitor, struct nt_error *error)
{
    struct object_walk walk;
    init(&walk, info, bytes, byte_count, buffer_base, visitor);
    nt_cursor_skip(&walk.cursor, offset);
    return walk_pointer(&walk, (struct nt_text){0}, (struct nt_text){0}, error);
}
