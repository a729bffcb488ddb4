/* SPDX-License-Identifier: MIT
 *
 * Memory of a page that is taken apart: bounded by what a page may take, freed all together.
 */
#include "codec/tree/work.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/overflow.h"

struct nt_work_block {
    struct nt_work_block *next;
    _Alignas(16) uint8_t bytes[];
};

enum nt_status nt_work_take(struct nt_work *work, uint64_t bytes, void *memory_ret, struct nt_error *error)
{
    if (bytes > work->left || bytes > SIZE_MAX - sizeof(struct nt_work_block))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET,
                       "decoding takes %" PRIu64 " bytes more, and %" PRIu64
                       " are left of the limit of a page",
                       bytes, work->left);
    struct nt_work_block *block = malloc(sizeof(*block) + (size_t)bytes);
    if (!block)
        return nt_fail_memory(error);
    work->left -= bytes;
    block->next = work->blocks;
    work->blocks = block;
    *(void **)memory_ret = block->bytes;
    return NT_OK;
}

void nt_work_free(struct nt_work *work)
{
    while (work->blocks) {
        struct nt_work_block *next = work->blocks->next;
        free(work->blocks);
        work->blocks = next;
    }
}

enum nt_status nt_work_part(const struct nt_work *work, uint32_t number, struct nt_part *part,
                            struct nt_error *error)
{
    const struct nt_tree_part *at = &work->tree->parts[number];
    if (at->offset > work->packed->bytes || at->bytes > work->packed->bytes - at->offset)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "buffer %" PRIu32 " lies outside of its page",
                       number);
    *part = (struct nt_part){work->packed->data + at->offset, at->bytes};
    return NT_OK;
}

enum nt_status nt_part_require(const struct nt_part *part, uint64_t bytes, const char *what,
                               struct nt_error *error)
{
    if (part->bytes >= bytes)
        return NT_OK;
    return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                   "%s: a buffer of at least %" PRIu64 " bytes was expected, found %" PRIu64, what, bytes,
                   part->bytes);
}

enum nt_status nt_bits_to_bytes(uint64_t count, uint64_t bits, uint64_t *bytes_ret, struct nt_error *error)
{
    uint64_t total;
    if (!nt_multiply(count, bits, &total) || !nt_add(total, 7, &total))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "%" PRIu64 " values of %" PRIu64 " bits overflow",
                       count, bits);
    *bytes_ret = total / 8;
    return NT_OK;
}
