/* SPDX-License-Identifier: MIT
 *
 * In: pages of a column in their order. Out: what is known of each. A slot for each hash: a page takes the
 * place of the one before it there, which bounds the memory whatever the file.
 */
#include "tools/known_pages.h"

#include <stdlib.h>

enum { SLOT_BITS = 10 };

void nt_known_pages_init(struct nt_known_pages *known)
{
    known->slots = calloc((size_t)1 << SLOT_BITS, sizeof(*known->slots));
}

void nt_known_pages_deinit(struct nt_known_pages *known)
{
    free(known->slots);
    known->slots = NULL;
}

static bool is_same(const struct nt_page *a, const struct nt_page *b)
{
    if (a->is_missing || b->is_missing)
        return a == b; /* equal to no other */
    return a->offset == b->offset && a->stored_bytes == b->stored_bytes && a->elements == b->elements &&
           a->parameter == b->parameter && a->decoder == b->decoder && a->source == b->source &&
           a->checksum == b->checksum && a->checksum_covers == b->checksum_covers &&
           a->compression == b->compression;
}

struct nt_known_page *nt_known_pages_find(struct nt_known_pages *known, const struct nt_page *page)
{
    if (!known->slots)
        return NULL;
    uint64_t hash = (page->offset ^ (uint64_t)page->elements << 40) * UINT64_C(0x9e3779b97f4a7c15);
    struct nt_known_page *slot = &known->slots[hash >> (64 - SLOT_BITS)];
    if (!slot->page || !is_same(slot->page, page))
        *slot = (struct nt_known_page){0};
    return slot;
}

bool nt_page_conditions_equal(const struct nt_page_conditions *left, const struct nt_page_conditions *right)
{
    return left->is_compared == right->is_compared && left->is_cluster_end == right->is_cluster_end &&
           left->has_previous == right->has_previous && left->previous == right->previous &&
           left->limit == right->limit;
}
