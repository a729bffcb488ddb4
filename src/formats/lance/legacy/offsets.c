/* SPDX-License-Identifier: MIT
 *
 * In: where offsets lie. Out: the first and the last of them, which tell what they lead to.
 */
#include "formats/lance/legacy/offsets.h"

#include <inttypes.h>

#include "core/base/bytes.h"

enum { STRING_BITS = 64 };

static enum nt_status read_offset(const struct nt_lance *lance, uint64_t offset, uint32_t bits,
                                  uint64_t *value_ret, struct nt_error *error)
{
    uint8_t bytes[sizeof(uint64_t)] = {0};
    enum nt_status status = nt_source_read(lance->source, offset, bytes, bits / 8, error);
    *value_ret = nt_load_le64(bytes);
    return status;
}

enum nt_status nt_lance_read_bounds(const struct nt_lance *lance, uint64_t offset, uint64_t count,
                                    uint32_t bits, uint64_t *first_ret, uint64_t *last_ret,
                                    struct nt_error *error)
{
    enum nt_status status = read_offset(lance, offset, bits, first_ret, error);
    if (status == NT_OK)
        status = read_offset(lance, offset + count * (bits / 8), bits, last_ret, error);
    if (status == NT_OK && *last_ret < *first_ret)
        status =
            nt_fail(error, NT_CORRUPT, offset, "offsets of %" PRIu64 " rows go from %" PRIu64 " to %" PRIu64,
                    count, *first_ret, *last_ret);
    return status;
}

enum nt_status nt_lance_read_strings(const struct nt_lance *lance, uint64_t offset, uint64_t count,
                                     uint64_t *begin_ret, uint64_t *bytes_ret, struct nt_error *error)
{
    uint64_t begin, end;
    enum nt_status status = nt_lance_read_bounds(lance, offset, count, STRING_BITS, &begin, &end, error);
    if (status != NT_OK)
        return status;
    if (end > lance->size)
        return nt_fail(error, NT_CORRUPT, offset,
                       "strings end at %" PRIu64 ", behind the %" PRIu64 " bytes of the file", end,
                       lance->size);
    *begin_ret = begin;
    *bytes_ret = end - begin;
    return NT_OK;
}
