/* SPDX-License-Identifier: MIT
 *
 * In: where metadata lie in a source, as a file claims. Out: their bytes, as far as there are any: memory grows as they
 * are read.
 */
#include "core/model/metadata.h"

#include <stdlib.h>

/* What is smaller is not read by itself. */
enum { LEAST_PIECE = 1 << 16 };

/* How much is read next. */
static uint64_t piece_of(const struct nt_budget *budget, uint64_t rest)
{
    uint64_t left = nt_budget_left(budget);
    return rest <= left || left < LEAST_PIECE ? rest : left;
}

static enum nt_status read_piece(struct nt_budget *budget, struct nt_source *source,
                                 const struct nt_metadata_range *stretch, uint64_t done, uint64_t piece,
                                 uint8_t **bytes, struct nt_error *error)
{
    uint64_t offset = stretch->offset + done;
    enum nt_status status = nt_budget_take(budget, NT_COST_ENVELOPE_BYTE, piece, offset, error);
    if (status != NT_OK)
        return status;
    uint8_t *larger = realloc(*bytes, (size_t)(done + piece) + 1);
    if (larger)
        *bytes = larger;
    status =
        larger ? nt_source_read(source, offset, larger + done, (size_t)piece, error) : nt_fail_memory(error);
    if (status != NT_OK)
        nt_budget_give(budget, NT_COST_ENVELOPE_BYTE, piece);
    return status;
}

enum nt_status nt_metadata_read(struct nt_budget *budget, struct nt_source *source,
                                const struct nt_metadata_range *stretch, uint8_t **bytes_ret,
                                uint64_t *counted_ret, struct nt_error *error)
{
    uint8_t *bytes = NULL;
    uint64_t done = 0, counted = 0;
    enum nt_status status = NT_OK;
    do {
        uint64_t piece = piece_of(budget, stretch->bytes - done);
        status = read_piece(budget, source, stretch, done, piece, &bytes, error);
        if (status != NT_OK)
            break;
        counted += nt_budget_add_stored(budget, stretch->place + done, bytes + done, (size_t)piece,
                                        stretch->is_compressed);
        done += piece;
    } while (done < stretch->bytes);
    if (status != NT_OK) {
        nt_budget_give(budget, NT_COST_ENVELOPE_BYTE, done);
        nt_budget_withdraw(budget, counted);
        free(bytes);
        return status;
    }
    if (counted_ret)
        *counted_ret = counted;
    *bytes_ret = bytes;
    return NT_OK;
}
