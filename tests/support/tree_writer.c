/* SPDX-License-Identifier: MIT
 *
 * The records of a tree: streamer information, baskets, the tree's object.
 */
#include "tree_writer.h"

#include <string.h>
#include <zlib.h>

#include "demand.h"
#include "root_buffer.h"
#include "tfile_writer.h"

enum {
    TREE_KEY_BYTES = 18 + 8 + 6 + 2 + 1,
    INFO_KEY_BYTES = 18 + 8 + 6 + 13 + 1,
    LARGEST_BLOCK = (1 << 24) - 1
};
enum { HEADER_INFO = 37, HEADER_INFO_BYTES = 41, BASKET_MEMBERS = 19, DATE = 0 };
enum { COUNTERS = 16 };

struct state {
    struct tfile_writer file;
    const struct tree_description *description;
    struct nt_buffer object;
    /* Where leaves that may be counters begin in the object. */
    struct {
        const char *branch;
        size_t offset;
    } leaves[COUNTERS];
    uint32_t leaf_count;
    uint64_t basket_offset; /* of the last branch */
    uint32_t basket_bytes;
};

/* ---- Records ---- */

static void put_little24(struct nt_buffer *out, size_t value)
{
    for (unsigned i = 0; i < 3; i++)
        put_u8(out, (uint8_t)(value >> 8 * i));
}

static void compress_block(const void *bytes, size_t count, struct nt_buffer *out)
{
    uLongf size = compressBound(count);
    struct nt_buffer room = {0};
    uint8_t *start = nt_buffer_extend(&room, size);
    demand(compress2(start, &size, bytes, count, 6) == Z_OK);
    nt_buffer_append(out, "ZL\x08", 3);
    put_little24(out, size);
    put_little24(out, count);
    nt_buffer_append(out, start, size);
    nt_buffer_deinit(&room);
}

static void compress_object(const struct nt_buffer *object, struct nt_buffer *out)
{
    for (size_t at = 0; at < object->length; at += LARGEST_BLOCK) {
        size_t left = object->length - at;
        compress_block(object->bytes + at, left < LARGEST_BLOCK ? left : LARGEST_BLOCK, out);
    }
}

/* A record that its directory lists; its offset. */
static uint64_t put_record(struct state *state, const char *class_name, const char *name,
                           const struct nt_buffer *object)
{
    struct nt_buffer stored = {0};
    if (state->description->is_compressed)
        compress_object(object, &stored);
    bool is_smaller = stored.length > 0 && stored.length < object->length;
    const struct nt_buffer *bytes = is_smaller ? &stored : object;
    uint64_t offset = tfile_writer_stored(&state->file, 0, class_name, name, 1, bytes->bytes, bytes->length,
                                          object->length);
    nt_buffer_deinit(&stored);
    return offset;
}

/* ---- The classes ---- */

static void put_element(struct nt_buffer *out, const struct tree_element *element)
{
    size_t item = put_item(out, element->kind), own = put_begin(out, 2), base = put_begin(out, 4);
    put_named(out, element->name, "");
    put_u32(out, (uint32_t)element->type);
    put_u32(out, 4);
    put_u32(out, element->length);
    put_u32(out, element->length ? 1 : 0);
    put_u32(out, element->length);
    for (unsigned i = 1; i < 5; i++)
        put_u32(out, 0);
    put_text(out, element->type_name);
    put_end(out, base);
    if (strcmp(element->kind, "TStreamerBase") == 0)
        put_u32(out, 1);
    if (strcmp(element->kind, "TStreamerSTL") == 0) {
        put_u32(out, (uint32_t)element->stl_type);
        put_u32(out, (uint32_t)element->content_type);
    }
    put_end(out, own);
    put_end(out, item);
}

static void put_class(struct nt_buffer *out, const struct tree_class *class)
{
    size_t item = put_item(out, "TStreamerInfo"), own = put_begin(out, 9);
    put_named(out, class->name, "");
    put_u32(out, 1); /* fCheckSum */
    put_u32(out, 1); /* fClassVersion */
    size_t list = put_item(out, "TObjArray"), array = put_array(out, class->element_count);
    for (uint32_t i = 0; i < class->element_count; i++)
        put_element(out, &class->elements[i]);
    put_end(out, array);
    put_end(out, list);
    put_end(out, own);
    put_end(out, item);
    put_u8(out, 0); /* the option of a TList's item */
}

static void put_classes(struct state *state)
{
    const struct tree_description *description = state->description;
    struct nt_buffer object = {0};
    size_t list = put_list(&object, description->class_count);
    for (uint32_t i = 0; i < description->class_count; i++)
        put_class(&object, &description->classes[i]);
    put_end(&object, list);
    uint64_t offset = put_record(state, "TList", "StreamerInfo", &object), end = state->file.out.length;
    nt_buffer_deinit(&object);
    tfile_writer_finish(&state->file);
    tfile_writer_put32(&state->file, HEADER_INFO, (uint32_t)offset);
    tfile_writer_put32(&state->file, HEADER_INFO_BYTES, (uint32_t)(end - offset));
}

/* ---- Baskets ---- */

/* The record; its offset. */
static uint64_t put_basket(struct nt_buffer *out, const char *branch, const struct tree_basket *basket,
                           uint32_t *bytes_ret)
{
    static const char class_name[] = "TBasket", tree[] = "t";
    uint64_t start = out->length;
    size_t texts = 1 + strlen(class_name) + 1 + strlen(branch) + 1 + strlen(tree);
    uint32_t key_bytes = (uint32_t)(18 + 8 + texts + BASKET_MEMBERS);
    uint32_t offset_bytes = basket->offsets ? 4 * (basket->entries + 2) : 0;
    *bytes_ret = key_bytes + basket->stored_bytes + offset_bytes;
    put_u32(out, *bytes_ret);
    put_u16(out, 4);
    put_u32(out, basket->object_bytes + offset_bytes);
    put_u32(out, DATE);
    put_u16(out, (uint16_t)(basket->key_length ? basket->key_length : key_bytes));
    put_u16(out, 1);
    put_u32(out, (uint32_t)start);
    put_u32(out, 100);
    put_text(out, class_name);
    put_text(out, branch);
    put_text(out, tree);
    put_u16(out, 3);
    put_u32(out, 32000);
    put_u32(out, basket->entry_bytes);
    put_u32(out, basket->entries);
    put_u32(out, key_bytes + (basket->last ? basket->last : basket->object_bytes));
    put_u8(out, 0); /* the header only */
    nt_buffer_append(out, basket->values, basket->stored_bytes);
    if (basket->offsets) {
        put_u32(out, basket->entries + 1);
        for (uint32_t i = 0; i <= basket->entries; i++)
            put_u32(out, key_bytes + (uint32_t)basket->offsets[i]);
    }
    return start;
}

/* ---- The tree ---- */

static void put_leaf(struct state *state, const struct tree_branch *branch)
{
    struct nt_buffer *out = &state->object;
    size_t item = put_item(out, branch->object_class ? "TLeafElement" : "TLeafI");
    if (state->leaf_count < COUNTERS) {
        state->leaves[state->leaf_count].branch = branch->name;
        state->leaves[state->leaf_count++].offset = item;
    }
    size_t own = put_begin(out, 1), base = put_begin(out, 2);
    put_named(out, branch->name, branch->title);
    put_u32(out, branch->leaf_length ? branch->leaf_length : 1);
    put_u32(out, branch->object_class ? 0 : 4);
    put_u32(out, 0);
    put_u16(out, 0);
    uint32_t counter = 0;
    for (uint32_t i = 0; branch->counter && i < state->leaf_count; i++)
        if (strcmp(state->leaves[i].branch, branch->counter) == 0)
            counter = (uint32_t)state->leaves[i].offset + TREE_KEY_BYTES + 2;
    put_u32(out, counter);
    put_end(out, base);
    put_u32(out, branch->object_class ? UINT32_MAX : 0);
    put_u32(out, branch->object_class ? UINT32_MAX : 0);
    put_end(out, own);
    put_end(out, item);
}

static void put_empty_array(struct nt_buffer *out)
{
    put_end(out, put_array(out, 0));
}

static void put_baskets(struct state *state, const struct tree_branch *branch, uint64_t offset,
                        uint32_t bytes)
{
    struct nt_buffer *out = &state->object;
    uint32_t records = branch->records ? branch->records : 1;
    put_u8(out, 1);
    for (uint32_t i = 0; i < branch->baskets; i++)
        put_u32(out, bytes);
    put_u8(out, 1);
    for (uint32_t i = 0; i < branch->baskets; i++)
        put_u64(out, (uint64_t)i * (branch->basket ? branch->basket->entries : 1));
    put_u8(out, 1);
    for (uint32_t i = 0; i < branch->baskets; i++)
        put_u64(out, offset + (uint64_t)bytes * (i % records));
    put_text(out, ""); /* fFileName */
}

static void put_branches(struct state *state, const struct tree_branch *branches, uint32_t count,
                         uint32_t claimed);

static void put_records(struct state *state, const struct tree_branch *branch)
{
    if (branch->is_shared)
        return;
    state->basket_offset = state->basket_bytes = 0;
    for (uint32_t i = 0; branch->basket && i < (branch->records ? branch->records : 1); i++) {
        uint64_t offset = put_basket(&state->file.out, branch->name, branch->basket, &state->basket_bytes);
        state->basket_offset = i ? state->basket_offset : offset;
    }
}

static void put_branch_members(struct state *state, const struct tree_branch *branch)
{
    struct nt_buffer *out = &state->object;
    put_records(state, branch);
    uint64_t offset = state->basket_offset;
    uint32_t bytes = state->basket_bytes;
    size_t own = put_begin(out, 12);
    put_named(out, branch->name, branch->title);
    size_t fill = put_begin(out, 2);
    put_u32(out, 0);
    put_end(out, fill);
    put_u32(out, 0);
    put_u32(out, 32000);
    put_u32(out, branch->has_offsets ? 1000 : 0);
    put_u32(out, branch->baskets); /* fWriteBasket */
    put_u64(out, (uint64_t)state->description->entries);
    put_u32(out, 0);
    put_u32(out, branch->claimed_baskets ? branch->claimed_baskets : branch->baskets);
    put_u32(out, 0);
    put_u64(out, (uint64_t)(branch->entries ? branch->entries : state->description->entries));
    for (unsigned i = 0; i < 3; i++)
        put_u64(out, 0); /* fFirstEntry, fTotBytes, fZipBytes */
    put_branches(state, branch->children, branch->child_count, branch->child_count);
    size_t leaves = put_array(out, 1);
    put_leaf(state, branch);
    put_end(out, leaves);
    put_empty_array(out);
    put_baskets(state, branch, offset, bytes);
    put_end(out, own);
}

static void put_branch(struct state *state, const struct tree_branch *branch)
{
    struct nt_buffer *out = &state->object;
    size_t item = put_item(out, branch->object_class ? "TBranchElement" : "TBranch");
    if (!branch->object_class) {
        put_branch_members(state, branch);
        put_end(out, item);
        return;
    }
    size_t own = put_begin(out, 10);
    put_branch_members(state, branch);
    put_text(out, branch->object_class);
    put_text(out, "");
    put_text(out, "");
    put_u32(out, 1);
    put_u16(out, 1);
    put_u32(out, UINT32_MAX); /* fID */
    put_u32(out, (uint32_t)branch->type);
    put_u32(out, UINT32_MAX);
    put_u32(out, 0);
    put_u32(out, 0);
    put_u32(out, 0);
    put_end(out, own);
    put_end(out, item);
}

static void put_branches(struct state *state, const struct tree_branch *branches, uint32_t count,
                         uint32_t claimed)
{
    size_t array = put_array(&state->object, claimed);
    for (uint32_t i = 0; i < count; i++)
        put_branch(state, &branches[i]);
    put_end(&state->object, array);
}

static void put_attributes(struct nt_buffer *out)
{
    static const struct {
        uint16_t version;
        uint32_t bytes;
    } bases[] = {{2, 6}, {2, 4}, {2, 8}}; /* TAttLine, TAttFill, TAttMarker */
    for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
        size_t base = put_begin(out, bases[i].version);
        memset(nt_buffer_extend(out, bases[i].bytes), 0, bases[i].bytes);
        put_end(out, base);
    }
}

static void put_tree(struct state *state)
{
    const struct tree_description *description = state->description;
    struct nt_buffer *out = &state->object;
    size_t own = put_begin(out, 19);
    put_named(out, "t", "");
    put_attributes(out);
    put_u64(out, (uint64_t)description->entries);
    for (unsigned i = 0; i < 4 + 1; i++)
        put_u64(out, 0); /* three totals, fFlushedBytes, fWeight */
    for (unsigned i = 0; i < 3 + 1 + 1; i++)
        put_u32(out, 0); /* fTimerInterval, fScanField, fUpdate, fDefaultEntryOffsetLen, fNClusterRange */
    for (unsigned i = 0; i < 4 + 2; i++)
        put_u64(out, 0); /* four limits, fAutoFlush, fEstimate */
    put_u16(out, 0);     /* no fClusterRangeEnd, no fClusterSize */
    put_branches(state, description->branches, description->branch_count,
                 description->claimed_branches ? description->claimed_branches : description->branch_count);
    put_empty_array(out); /* fLeaves */
    for (unsigned i = 0; i < 7; i++)
        put_u32(out, 0); /* fAliases, fIndexValues, fIndex, fTreeIndex, fFriends, fUserInfo, fBranchRef */
    put_end(out, own);
}

void tree_write(const struct tree_description *description, struct nt_buffer *out)
{
    struct state state = {.description = description};
    tfile_writer_init(&state.file, TFILE_SMALL);
    put_tree(&state);
    put_record(&state, "TTree", "t", &state.object);
    nt_buffer_deinit(&state.object);
    put_classes(&state);
    nt_buffer_append(out, state.file.out.bytes, state.file.out.length);
    tfile_writer_deinit(&state.file);
}
