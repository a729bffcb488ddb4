/* SPDX-License-Identifier: MIT
 *
 * In: pages that lie one behind the other. Out: how many of them are loaded together, and their stored bytes.
 */
#include "read/joined.h"

#include "core/base/large.h"
#include "read/counters.h"
#include "read/neighbours.h"

uint32_t nt_joined_count(const struct nt_page_request *request, uint32_t count, size_t *bytes_ret)
{
    enum { TOGETHER = 32 };
    struct nt_cache_key keys[TOGETHER];
    uint32_t most = nt_neighbours_count(request->dataset, request->page, count), found = 0, asked, absent;
    do {
        asked = most - found < TOGETHER ? most - found : TOGETHER;
        for (uint32_t i = 0; i < asked; i++)
            keys[i] = nt_page_key(request->dataset, &request->page[found + i]);
        absent = (uint32_t)nt_cache_count_absent(request->reader->cache, keys, asked);
        found += absent;
    } while (absent == TOGETHER);
    *bytes_ret = found ? nt_neighbours_bytes(request->page, found) : 0;
    return found;
}

const uint8_t *nt_joined_read(const struct nt_page_request *request, size_t bytes)
{
    struct nt_source *source = request->dataset->sources[request->page->source];
    uint8_t *stored = nt_codec_scratch(request->context, NT_SCRATCH_NEIGHBOURS, bytes);
    if (!stored || nt_source_read(source, request->page->offset, stored, bytes, NULL) != NT_OK)
        return NULL;
    nt_tally_lap(request->tally, &request->tally->counters.read_nanoseconds);
    return stored;
}

uint64_t nt_joined_scratch_bytes(const struct nt_page_request *request, uint32_t count, size_t bytes)
{
    uint64_t largest = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t scratch = nt_page_scratch_bytes(request->dataset, &request->page[i]);
        largest = scratch > largest ? scratch : largest;
    }
    return largest + nt_large_capacity(bytes);
}
