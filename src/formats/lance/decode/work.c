/* SPDX-License-Identifier: MIT
 *
 * Memory of a page that is taken apart: bounded by what a page may take, freed all together.
 */
#include "formats/lance/decode/work.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/overflow.h"

enum {
    ALIGNMENT = 16,
    LEAST_SCRATCH = 64 * 1024,
    MOST_SCRATCH =
        512 * 1024, /* that are kept: where pages are large, taking memory is little beside decoding them */
};

struct nt_work_block {
    struct nt_work_block *next;
    _Alignas(ALIGNMENT) uint8_t bytes[];
};

void nt_work_begin(struct nt_work *work, const struct nt_tree *tree, const struct nt_packed *packed)
{
    *work = (struct nt_work){.tree = tree, .packed = packed, .left = packed->limit};
#ifndef NT_HAS_SANITIZER /* which sees the ends of blocks, and not those of what lies side by side in one */
    if (packed->context)
        work->scratch = nt_codec_scratch(packed->context, NT_SCRATCH_TREE, LEAST_SCRATCH);
    if (work->scratch)
        work->scratch_left = nt_codec_scratch_bytes(packed->context, NT_SCRATCH_TREE);
#endif
}

/* NULL where there is not enough of it. */
static void *take_scratch(struct nt_work *work, size_t bytes)
{
    size_t padded = bytes + (ALIGNMENT - bytes % ALIGNMENT) % ALIGNMENT;
    work->scratch_wanted += padded; /* less than twice the limit of a page */
    if (!work->scratch || padded > work->scratch_left)
        return NULL;
    void *memory = work->scratch;
    work->scratch += padded;
    work->scratch_left -= padded;
    return memory;
}

enum nt_status nt_work_take(struct nt_work *work, uint64_t bytes, void *memory_ret, struct nt_error *error)
{
    if (bytes > work->left || bytes > SIZE_MAX - sizeof(struct nt_work_block) - ALIGNMENT)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET,
                       "decoding takes %" PRIu64 " bytes more, and %" PRIu64
                       " are left of the limit pagesize of %" PRIu64,
                       bytes, work->left, work->packed->limit);
    work->left -= bytes;
    if ((*(void **)memory_ret = take_scratch(work, (size_t)bytes)))
        return NT_OK;
    struct nt_work_block *block = malloc(sizeof(*block) + (size_t)bytes);
    if (!block)
        return nt_fail_memory(error);
    block->next = work->blocks;
    work->blocks = block;
    *(void **)memory_ret = block->bytes;
    return NT_OK;
}

void nt_work_free(struct nt_work *work)
{
    if (work->scratch && work->blocks && work->scratch_wanted <= MOST_SCRATCH)
        nt_codec_scratch(work->packed->context, NT_SCRATCH_TREE, work->scratch_wanted);
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
