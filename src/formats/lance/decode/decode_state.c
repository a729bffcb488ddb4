/* SPDX-License-Identifier: MIT
 *
 * The state of one page while it is decoded: bounded scratch memory that is freed in one call, page
 * buffers and null masks.
 */
#include "formats/lance/decode/decode.h"

/* ---- Scratch memory ---- */

enum {
    ALIGNMENT = 16,
    MIN_SCRATCH = 64 * 1024,
    MAX_SCRATCH = 512 * 1024, /* kept; for large pages, allocation is cheap next to decoding */
};

struct nt_decode_block {
    struct nt_decode_block *next;
    _Alignas(ALIGNMENT) uint8_t bytes[];
};

struct nt_decode_arena nt_decode_arena_begin(const struct nt_encoding_tree *tree,
                                             const struct nt_packed *packed)
{
    struct nt_decode_arena arena = {.tree = tree, .packed = packed, .left = packed->limit};
#ifndef NT_HAS_SANITIZER /* a sanitizer detects overruns of separate blocks, not overruns within one */
    if (packed->context)
        arena.scratch = nt_codec_scratch(packed->context, NT_SCRATCH_TREE, MIN_SCRATCH);
    if (arena.scratch)
        arena.scratch_left = nt_codec_scratch_bytes(packed->context, NT_SCRATCH_TREE);
#endif
    return arena;
}

/* Returns NULL if the scratch memory is too small. */
static void *take_scratch(struct nt_decode_arena *arena, size_t bytes)
{
    size_t padded = bytes + (ALIGNMENT - bytes % ALIGNMENT) % ALIGNMENT;
    arena->scratch_requested += padded; /* less than twice the limit of a page */
    if (!arena->scratch || padded > arena->scratch_left)
        return NULL;
    void *memory = arena->scratch;
    arena->scratch += padded;
    arena->scratch_left -= padded;
    return memory;
}

enum nt_status nt_decode_alloc(struct nt_decode_arena *arena, uint64_t bytes, void *memory_ret,
                               struct nt_error *error)
{
    if (bytes > arena->left || bytes > SIZE_MAX - sizeof(struct nt_decode_block) - ALIGNMENT)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET,
                       "decoding needs %" PRIu64 " more bytes, but only %" PRIu64
                       " are left of the limit pagesize of %" PRIu64,
                       bytes, arena->left, arena->packed->limit);
    arena->left -= bytes;
    if ((*(void **)memory_ret = take_scratch(arena, (size_t)bytes)))
        return NT_OK;
    struct nt_decode_block *block = malloc(sizeof(*block) + (size_t)bytes);
    NT_TRY(nt_check_memory(block, error));
    block->next = arena->blocks;
    arena->blocks = block;
    *(void **)memory_ret = block->bytes;
    return NT_OK;
}

void nt_decode_arena_free(struct nt_decode_arena *arena)
{
    if (arena->scratch && arena->blocks && arena->scratch_requested <= MAX_SCRATCH)
        nt_codec_scratch(arena->packed->context, NT_SCRATCH_TREE, arena->scratch_requested);
    while (arena->blocks) {
        struct nt_decode_block *next = arena->blocks->next;
        free(arena->blocks);
        arena->blocks = next;
    }
}

enum nt_status nt_decode_buffer(const struct nt_decode_arena *arena, uint32_t number,
                                struct nt_buffer_slice *part, struct nt_error *error)
{
    const struct nt_lance_buffer *at = &arena->tree->parts[number];
    if (!nt_range_fits(at->offset, at->bytes, arena->packed->bytes))
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "buffer %" PRIu32 " is outside its page", number);
    *part = (struct nt_buffer_slice){arena->packed->data + at->offset, at->bytes};
    return NT_OK;
}

enum nt_status nt_buffer_slice_require(const struct nt_buffer_slice *part, uint64_t bytes, const char *what,
                                       struct nt_error *error)
{
    if (part->bytes >= bytes)
        return NT_OK;
    return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                   "%s: expected a buffer of at least %" PRIu64 " bytes, found %" PRIu64, what, bytes,
                   part->bytes);
}

enum nt_status nt_bits_to_bytes(uint64_t count, uint64_t bits, uint64_t *bytes_ret, struct nt_error *error)
{
    uint64_t total;
    if (!nt_checked_multiply(count, bits, &total) || !nt_checked_add(total, 7, &total))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET,
                       "the size of %" PRIu64 " values of %" PRIu64 " bits overflows", count, bits);
    *bytes_ret = total / 8;
    return NT_OK;
}

enum nt_status nt_decoded_array_add_list(struct nt_decoded_array *array, const struct nt_list_validity *list,
                                         struct nt_error *error)
{
    if (array->depth == NT_LANCE_DEPTH)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "fixed-size lists are nested deeper than %d",
                       NT_LANCE_DEPTH);
    memmove(&array->lists[1], &array->lists[0], array->depth * sizeof(array->lists[0]));
    array->lists[0] = *list;
    array->depth++;
    return NT_OK;
}

/* ---- Null rows ---- */

static inline bool is_valid(const struct nt_levels *levels, const struct nt_layer_rule *rule, uint64_t i)
{
    uint16_t definition = levels->definition ? levels->definition[i] : 0;
    return definition <= rule->valid || (rule->empty && definition == rule->empty);
}

enum nt_status nt_decode_check_rows(uint64_t expected, uint64_t found, struct nt_error *error)
{
    if (found == expected)
        return NT_OK;
    return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "rows in the levels of a page", expected, found);
}

/* Compilers vectorize this loop. */
static void compare_levels(const uint16_t *restrict definition, uint16_t most, uint64_t rows,
                           uint8_t *restrict valid)
{
    for (uint64_t i = 0; i < rows; i++)
        valid[i] = definition[i] <= most;
}

/* `rows`: the required number of rows. */
enum nt_status nt_decode_valid_rows(const struct nt_decode_state *state, uint32_t layer, uint64_t rows,
                                    uint8_t *valid, struct nt_error *error)
{
    const struct nt_levels levels = state->opened.levels;
    struct nt_layer_rule rule;
    nt_layer_rule(state->arena->tree, layer, &rule);
    NT_TRY(nt_decode_check_rows(rows, nt_levels_rows(&levels, &rule), error));
    const struct nt_layer_rule fixed = rule; /* a local copy stays in registers */
    if (!layer && nt_lance_is_null(state->arena->tree))
        memset(valid, 0, rows);
    else if (nt_layer_is_always_valid(state->arena->tree, layer))
        memset(valid, 1, rows);
    else if (rows == levels.count && levels.definition && !fixed.empty)
        compare_levels(levels.definition, fixed.valid, rows, valid);
    else
        for (uint64_t i = 0, done = 0; done < rows; i++) {
            valid[done] = is_valid(&levels, &fixed, i);
            done += nt_is_row(&levels, &fixed, i);
        }
    return NT_OK;
}

static enum nt_status spread_bits(struct nt_decode_arena *arena, const uint8_t *bits, uint64_t count,
                                  const uint8_t **bytes_ret, struct nt_error *error)
{
    uint8_t *bytes;
    NT_TRY(nt_decode_alloc(arena, count, &bytes, error));
    nt_unpack_bits(bits, count, bytes);
    *bytes_ret = bytes;
    return NT_OK;
}

/* Uses levels, or the validity that version 2.0 stores. */
enum nt_status nt_decode_find_nulls(struct nt_decode_state *state, struct nt_error *error)
{
    const struct nt_decoded_array *array = &state->opened.array;
    uint8_t *valid;
    if (state->is_shared && (state->valid || !nt_decode_has_nulls(state->arena->tree)))
        return NT_OK;
    if (array->valid)
        return spread_bits(state->arena, array->valid, state->rows, &state->valid, error);
    bool is_null = array->is_null || nt_lance_is_null(state->arena->tree);
    if (!is_null && !state->opened.levels.count)
        return NT_OK;
    NT_TRY(nt_decode_alloc(state->arena, state->rows, &valid, error));
    state->valid = valid;
    if (!is_null)
        return nt_decode_valid_rows(state, 0, state->rows, valid, error);
    memset(valid, 0, state->rows);
    return NT_OK;
}

/* Can levels mark a value as null? */
bool nt_decode_has_nulls(const struct nt_encoding_tree *tree)
{
    struct nt_layer_rule rule;
    if (tree->layout == NT_LANCE_BLOCK || tree->layout == NT_LANCE_ARRAY)
        return false;
    if (nt_lance_is_null(tree))
        return true;
    nt_layer_rule(tree, 0, &rule);
    for (uint32_t i = 0; rule.visible && i < tree->layer_count; i++)
        if (tree->layers[i] != NT_LAYER_ITEM && tree->layers[i] != NT_LAYER_LIST)
            return true;
    return false;
}
