/* SPDX-License-Identifier: MIT
 *
 * Deduplicated table of decoders. Equal decoders share one row, and rows never move.
 */
#include "core/model/model.h"

_Static_assert(sizeof(struct nt_decoder) == 3 * sizeof(void *) + 6 * sizeof(uint32_t) + 2 * sizeof(double),
               "a decoder has no padding");
_Static_assert(sizeof(struct nt_page) == 48, "a page has no padding");

bool nt_decoders_init(struct nt_decoders *decoders)
{
    *decoders = (struct nt_decoders){.count = 0};
    return nt_hash_table_init(&decoders->table);
}

void nt_decoders_deinit(struct nt_decoders *decoders)
{
    nt_hash_table_deinit(&decoders->table);
}

/* All members except those in separate memory. */
static struct nt_decoder own_of(const struct nt_decoder *decoder)
{
    struct nt_decoder own = *decoder;
    own.state = NULL;
    own.dependencies = NULL;
    return own;
}

static size_t dependency_bytes(const struct nt_decoder *decoder)
{
    return decoder->dependency_count * sizeof(*decoder->dependencies);
}

static uint64_t hash_of(const struct nt_decoder *decoder, uint64_t seed)
{
    const struct nt_decoder own = own_of(decoder);
    uint64_t hash = nt_xxh3_seeded(&own, sizeof(own), seed);
    if (decoder->state_bytes)
        hash ^= nt_xxh3_seeded(decoder->state, decoder->state_bytes, seed);
    if (decoder->dependency_count)
        hash = hash * 3 + nt_xxh3_seeded(decoder->dependencies, dependency_bytes(decoder), seed);
    return hash;
}

static bool are_equal(const struct nt_decoder *a, const struct nt_decoder *b)
{
    const struct nt_decoder one = own_of(a), other = own_of(b);
    return !memcmp(&one, &other, sizeof(one)) &&
           (!a->state_bytes || !memcmp(a->state, b->state, a->state_bytes)) &&
           (!a->dependency_count || !memcmp(a->dependencies, b->dependencies, dependency_bytes(a)));
}

static const struct nt_decoder_row *find(const struct nt_decoders *decoders, const struct nt_decoder *decoder,
                                         uint64_t hash)
{
    for (struct nt_hash_link *link = nt_hash_table_find(&decoders->table, hash); link;
         link = nt_hash_table_next(link)) {
        const struct nt_decoder_row *row = NT_CONTAINER_OF(link, struct nt_decoder_row, link);
        if (are_equal(&row->decoder, decoder))
            return row;
    }
    return NULL;
}

/* Dependencies have none themselves, so there are no cycles. */
static enum nt_status check(const struct nt_decoders *decoders, const struct nt_decoder *decoder,
                            struct nt_error *error)
{
    const struct nt_decoder *dependencies[NT_DECODER_DEPENDENCIES];
    if (decoder->dependency_count > NT_DECODER_DEPENDENCIES)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "a page depends on too many other pages, %" PRIu32,
                       decoder->dependency_count);
    for (uint32_t i = 0; i < decoder->dependency_count; i++) {
        uint32_t number = decoder->dependencies[i].decoder;
        dependencies[i] = number < decoders->count ? nt_decoders_get(decoders, number) : NULL;
        if (!dependencies[i] || dependencies[i]->dependency_count)
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "a page that another page depends on %s",
                           dependencies[i] ? "has dependencies of its own" : "has no decoder");
    }
    return decoder->ops && decoder->ops->check ? decoder->ops->check(decoder, dependencies, error) : NT_OK;
}

/* Allocates the next row; NULL without memory. */
static struct nt_decoder_row *next_row(struct nt_decoders *decoders, struct nt_arena *arena)
{
    unsigned segment = nt_table_segment(decoders->count, NT_FIRST_DECODERS);
    struct nt_decoder_row **rows = &decoders->segments[segment];
    if (!*rows)
        *rows = nt_arena_alloc(arena, (size_t)NT_FIRST_DECODERS << segment, sizeof(**rows));
    return *rows ? *rows + (decoders->count - nt_table_segment_first(segment, NT_FIRST_DECODERS)) : NULL;
}

enum nt_status nt_decoders_add(struct nt_decoders *decoders, struct nt_arena *arena, struct nt_budget *budget,
                               const struct nt_decoder *decoder, uint32_t *number_ret, struct nt_error *error)
{
    NT_TRY(check(decoders, decoder, error));
    uint64_t hash = hash_of(decoder, decoders->table.seed);
    const struct nt_decoder_row *known = find(decoders, decoder, hash);
    if (known) {
        *number_ret = known->number;
        return NT_OK;
    }
    if (decoders->count >= UINT32_MAX - NT_FIRST_DECODERS)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the dataset has more than 2^32 decoders");
    if (decoder->state_bytes || decoder->dependency_count)
        NT_TRY(nt_budget_take(budget, NT_COST_STEP, 1 + decoder->dependency_count, NT_NO_OFFSET, error));
    struct nt_decoder copy = *decoder;
    if (decoder->state_bytes)
        copy.state = nt_arena_copy(arena, decoder->state, decoder->state_bytes);
    if (decoder->dependency_count)
        copy.dependencies = (void *)nt_arena_copy(arena, decoder->dependencies, dependency_bytes(decoder));
    struct nt_decoder_row *row = next_row(decoders, arena);
    if (!row || (decoder->state_bytes && !copy.state) || (decoder->dependency_count && !copy.dependencies))
        return nt_fail_memory(error);
    row->decoder = copy;
    row->number = *number_ret = decoders->count++;
    nt_hash_table_insert(&decoders->table, &row->link, hash);
    return NT_OK;
}
