/* SPDX-License-Identifier: MIT
 *
 * In: the bytes of one container. Out: whether they keep the rules of the Roaring format ("Array containers",
 * "Bitset containers", "Run containers"), and the smallest and largest value.
 */
#include "formats/roaring_container.h"

#include <inttypes.h>

#include "core/base/bytes.h"

static enum nt_status check_array(const uint8_t *bytes, size_t count, uint32_t cardinality, uint64_t offset,
                                  uint16_t *first_ret, uint16_t *last_ret, struct nt_error *error)
{
    (void)cardinality; /* which the length of an array follows from */
    size_t values = count / 2, disorders = 0;
    for (size_t i = 1; i < values; i++)
        disorders += nt_load_le16(bytes + 2 * i) <= nt_load_le16(bytes + 2 * (i - 1));
    if (disorders)
        return nt_fail(error, NT_CORRUPT, offset,
                       "array container: values are not in ascending order, in %zu places", disorders);
    *first_ret = nt_load_le16(bytes);
    *last_ret = nt_load_le16(bytes + 2 * (values - 1));
    return NT_OK;
}

static enum nt_status check_bitset(const uint8_t *bytes, size_t count, uint32_t cardinality, uint64_t offset,
                                   uint16_t *first_ret, uint16_t *last_ret, struct nt_error *error)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < count; i += 8)
        bits += (uint32_t)__builtin_popcountll(nt_load_le64(bytes + i));
    if (bits != cardinality)
        return nt_fail_number(error, NT_CORRUPT, offset, "bitset container: bits that are set", cardinality,
                              bits);
    size_t first = 0, last = count - 1;
    while (!bytes[first])
        first++;
    while (!bytes[last])
        last--;
    *first_ret = (uint16_t)(8 * first + (unsigned)__builtin_ctz(bytes[first]));
    *last_ret = (uint16_t)(8 * last + 31 - (unsigned)__builtin_clz(bytes[last]));
    return NT_OK;
}

static enum nt_status check_run(const uint8_t *bytes, size_t count, uint32_t cardinality, uint64_t offset,
                                uint16_t *first_ret, uint16_t *last_ret, struct nt_error *error)
{
    if (count == NT_ROARING_RUN_COUNT_BYTES)
        return nt_fail(error, NT_CORRUPT, offset, "run container without a run");
    uint32_t next = 0, values = 0;
    for (size_t at = NT_ROARING_RUN_COUNT_BYTES; at < count; at += NT_ROARING_RUN_BYTES) {
        uint32_t start = nt_load_le16(bytes + at), length = nt_load_le16(bytes + at + 2) + UINT32_C(1);
        if (start < next || start + length > UINT32_C(65536))
            return nt_fail(error, NT_CORRUPT, offset + at,
                           start < next ? "run container: the run from %" PRIu32 " of %" PRIu32
                                          " values starts before the one in front of it ends"
                                        : "run container: the run from %" PRIu32 " of %" PRIu32
                                          " values ends above 65,535",
                           start, length);
        next = start + length;
        values += length;
    }
    if (values != cardinality)
        return nt_fail_number(error, NT_CORRUPT, offset, "run container: values in its runs", cardinality,
                              values);
    *first_ret = nt_load_le16(bytes + NT_ROARING_RUN_COUNT_BYTES);
    *last_ret = (uint16_t)(next - 1);
    return NT_OK;
}

static const struct nt_roaring_kind_info kinds[NT_ROARING_KIND_COUNT] = {
    [NT_ROARING_ARRAY] = {"array", NT_ENCODING_ROARING_ARRAY, check_array},
    [NT_ROARING_BITSET] = {"bitset", NT_ENCODING_ROARING_BITSET, check_bitset},
    [NT_ROARING_RUN] = {"run", NT_ENCODING_ROARING_RUN, check_run},
};

const struct nt_roaring_kind_info *nt_roaring_kind_info(enum nt_roaring_kind kind)
{
    return &kinds[kind];
}
