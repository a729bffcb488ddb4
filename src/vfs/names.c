/* SPDX-License-Identifier: MIT
 *
 * Turns names of fields, datasets and directories into unique, percent-encoded file names of at most
 * 255 bytes, and finds items by name in a hash table. Rule 1 of docs/tree.md.
 */

#include "vfs/inode.h"

enum {
    HASH_SUFFIX = 17,      /* "~" and 16 hex digits */
    CYCLE_SUFFIX = 11,     /* ";" and up to ten digits */
    DUPLICATE_SUFFIX = 11, /* "~" and up to ten digits */
};

/* ---- The index ---- */

struct name_entry {
    uint32_t parent;
    const char *name; /* NULL: none yet */
};

struct nt_names {
    struct name_entry *entries;
    uint32_t count;
    uint32_t *slots; /* item + 1; 0: free */
    size_t mask;
    uint64_t seed;
    struct nt_arena *arena;
};

static uint64_t hash_of(const struct nt_names *names, uint32_t parent, const char *name, size_t length)
{
    return nt_xxh3_seeded(name, length, names->seed + parent * UINT64_C(0x9E3779B97F4A7C15));
}

/* The slot with this name, or the free slot for it. */
static uint32_t *find_slot(const struct nt_names *names, uint32_t parent, const char *name, size_t length)
{
    size_t at = (size_t)hash_of(names, parent, name, length) & names->mask;
    for (; names->slots[at]; at = (at + 1) & names->mask) {
        const struct name_entry *entry = &names->entries[names->slots[at] - 1];
        if (entry->parent == parent && strncmp(entry->name, name, length) == 0 && entry->name[length] == '\0')
            break;
    }
    return &names->slots[at];
}

uint32_t nt_names_find(const struct nt_names *names, uint32_t parent, const char *name)
{
    return *find_slot(names, parent, name, strlen(name)) - 1; /* 0 - 1 is NT_NONE */
}

const char *nt_names_get(const struct nt_names *names, uint32_t item)
{
    return names->entries[item].name;
}

uint32_t nt_names_parent(const struct nt_names *names, uint32_t item)
{
    return names->entries[item].parent;
}

/* ---- Building ---- */

struct name_builder {
    struct nt_names *names;
    nt_name_ask *ask;
    const void *context;
    struct nt_buffer text; /* the current name */
    struct nt_hash_table stems;
    struct nt_arena *arena; /* of the stems */
};

/* Assigns the builder's name to the item if it is free. Does not copy a name that equals the text. */
static bool take(struct name_builder *builder, uint32_t item, struct nt_text text, struct nt_error *error)
{
    struct nt_names *names = builder->names;
    struct name_entry *entry = &names->entries[item];
    const char *name = builder->text.bytes;
    size_t length = builder->text.length;
    uint32_t *slot = find_slot(names, entry->parent, name, length);
    if (*slot)
        return false;
    bool is_text = length == text.length && memcmp(name, text.bytes, length + 1) == 0;
    entry->name = is_text ? text.bytes : nt_arena_copy(names->arena, name, length);
    if (entry->name)
        *slot = item + 1;
    else
        nt_fail_memory(error);
    return true;
}

static void encode_wish(struct name_builder *builder, const struct nt_name_request *request)
{
    nt_buffer_clear(&builder->text);
    nt_buffer_append_string(&builder->text, request->prefix);
    nt_name_encode(request->text, request->rule, &builder->text);
}

/* Truncates to `limit` bytes, never within a character or a %XX. */
static void cut(struct nt_buffer *text, size_t limit)
{
    size_t length = limit;
    while (length > 0 && ((uint8_t)text->bytes[length] & 0xC0) == 0x80)
        length--;
    for (size_t back = 1; back <= 2 && back <= length; back++)
        if (text->bytes[length - back] == '%')
            length -= back;
    text->length = length;
}

/* The first generated name: the requested one, truncated if necessary, with its cycle. */
static void first_choice(struct name_builder *builder, const struct nt_name_request *request)
{
    encode_wish(builder, request);
    struct nt_buffer *text = &builder->text;
    if (request->text.length == 0)
        nt_buffer_append_byte(text, '%');
    if (text->length > NT_NAME_BYTES - (request->cycle ? CYCLE_SUFFIX : 0)) {
        cut(text, NT_NAME_BYTES - HASH_SUFFIX - CYCLE_SUFFIX - DUPLICATE_SUFFIX);
        nt_buffer_append_format(text, "~%016llx",
                                (unsigned long long)nt_xxh3(request->text.bytes, request->text.length));
    }
    if (request->cycle)
        nt_buffer_append_format(text, ";%u", request->cycle);
}

/* ---- Duplicates: "name~2", "name~3", ... ---- */

/* The part before the number. Names with the same stem share the counter: many duplicates stay
 * cheap. */
struct stem {
    struct nt_hash_link link;
    uint32_t parent;
    uint32_t numbers; /* tried so far */
    struct nt_text text;
};

static struct stem *add_stem(struct name_builder *builder, uint32_t parent, struct nt_text text,
                             uint64_t hash)
{
    struct stem *stem = nt_arena_alloc(builder->arena, 1, sizeof(*stem));
    char *copy = stem ? nt_arena_copy(builder->arena, text.bytes, text.length) : NULL;
    if (!copy)
        return NULL;
    *stem = (struct stem){.parent = parent, .text = {copy, text.length}};
    nt_hash_table_insert(&builder->stems, &stem->link, hash);
    return stem;
}

/* NULL: out of memory. */
static struct stem *stem_of(struct name_builder *builder, uint32_t parent, struct nt_text text)
{
    uint64_t hash = hash_of(builder->names, parent, text.bytes, text.length);
    struct nt_hash_link *link = nt_hash_table_find(&builder->stems, hash);
    for (; link; link = nt_hash_table_next(link)) {
        struct stem *stem = NT_CONTAINER_OF(link, struct stem, link);
        if (stem->parent == parent && nt_texts_are_equal(stem->text, text))
            return stem;
    }
    return add_stem(builder, parent, text, hash);
}

static void take_duplicate(struct name_builder *builder, uint32_t item, struct nt_error *error)
{
    struct nt_buffer *text = &builder->text;
    if (text->length > NT_NAME_BYTES - DUPLICATE_SUFFIX)
        cut(text, NT_NAME_BYTES - DUPLICATE_SUFFIX);
    struct stem *stem =
        stem_of(builder, builder->names->entries[item].parent, (struct nt_text){text->bytes, text->length});
    if (!stem) {
        nt_fail_memory(error);
        return;
    }
    do {
        text->length = stem->text.length;
        nt_buffer_append_format(text, "~%u", ++stem->numbers + 1);
    } while (!text->failed && !take(builder, item, (struct nt_text){"", 0}, error));
}

/* ---- All names ---- */

static enum nt_status give_names(struct name_builder *builder, struct nt_error *error)
{
    struct nt_names *names = builder->names;
    struct nt_error failure = {0};
    struct nt_name_request request;
    for (uint32_t i = 0; i < names->count; i++) {
        request = (struct nt_name_request){.prefix = ""};
        builder->ask(builder->context, i, &request);
        names->entries[i].parent = request.parent;
        encode_wish(builder, &request);
        if (builder->text.failed) /* else a later item would get the name */
            nt_fail_memory(&failure);
        else if (request.text.length && !request.cycle && builder->text.length <= NT_NAME_BYTES)
            take(builder, i, request.text, &failure);
    }
    for (uint32_t i = 0; i < names->count && failure.status == NT_OK; i++) {
        if (names->entries[i].name)
            continue;
        request = (struct nt_name_request){.prefix = ""};
        builder->ask(builder->context, i, &request);
        first_choice(builder, &request);
        if (!builder->text.failed && !take(builder, i, (struct nt_text){"", 0}, &failure))
            take_duplicate(builder, i, &failure);
        if (builder->text.failed)
            nt_fail_memory(&failure);
    }
    return failure.status == NT_OK ? NT_OK : nt_fail_memory(error);
}

/* Allocates the tables. The caller frees the names on failure. */
static enum nt_status make_room(struct nt_names *names, struct nt_error *error)
{
    size_t slots = 16;
    while (slots < 2 * (size_t)names->count)
        slots *= 2;
    names->mask = slots - 1;
    names->seed = nt_hash_seed();
    names->arena = nt_arena_new();
    names->slots = calloc(slots, sizeof(*names->slots));
    names->entries = calloc(names->count ? names->count : 1, sizeof(*names->entries));
    return names->arena && names->slots && names->entries ? NT_OK : nt_fail_memory(error);
}

static enum nt_status build(struct name_builder *builder, struct nt_error *error)
{
    builder->arena = nt_arena_new();
    bool has_stems = nt_hash_table_init(&builder->stems);
    enum nt_status status = builder->arena && has_stems ? give_names(builder, error) : nt_fail_memory(error);
    nt_buffer_deinit(&builder->text);
    nt_hash_table_deinit(&builder->stems);
    nt_arena_free(builder->arena);
    return status;
}

enum nt_status nt_names_build(uint32_t count, nt_name_ask *ask, const void *context,
                              struct nt_names **names_ret, struct nt_error *error)
{
    NT_CLEANUP(nt_names_free_at) struct nt_names *names = calloc(1, sizeof(*names));
    NT_TRY(nt_check_memory(names, error));
    names->count = count;
    NT_TRY(make_room(names, error));
    NT_TRY(build(&(struct name_builder){.names = names, .ask = ask, .context = context}, error));
    *names_ret = names;
    names = NULL; /* the caller's now */
    return NT_OK;
}

void nt_names_free(struct nt_names *names)
{
    if (!names)
        return;
    nt_arena_free(names->arena);
    free(names->slots);
    free(names->entries);
    free(names);
}

bool nt_parse_between(const char *name, const char *prefix, const char *suffix, uint64_t *number_ret)
{
    size_t skip = strlen(prefix);
    if (strncmp(name, prefix, skip) != 0)
        return false;
    const char *at = name + skip, *first = at;
    uint64_t number = 0;
    for (; *at >= '0' && *at <= '9'; at++)
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(*at - '0'), &number))
            return false;
    *number_ret = number;
    bool has_zeros = *first == '0' && at - first > 1;
    return at > first && !has_zeros && strcmp(at, suffix) == 0;
}
