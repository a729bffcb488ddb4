/* SPDX-License-Identifier: MIT
 *
 * In: the pages of a column in a cluster. Out: which of them can be read together, and those decoded, one
 * after the other.
 */
#include "read/neighbours.h"

#include <stdlib.h>

#include "core/base/overflow.h"
#include "read/load.h"

enum { MOST_BYTES = 128 * 1024 };

static uint64_t bytes_of(const struct nt_page *page)
{
    return page->stored_bytes + nt_checksum_info(page->checksum)->bytes;
}

static bool are_decoded_alike(const struct nt_dataset *dataset, const struct nt_page *a,
                              const struct nt_page *b)
{
    return a->decoder == b->decoder ||
           (!nt_page_decoder(dataset, a)->plan && !nt_page_decoder(dataset, b)->plan);
}

uint32_t nt_neighbours_count(const struct nt_dataset *dataset, const struct nt_page *pages, uint32_t count)
{
    const struct nt_source *source = dataset->sources[pages->source];
    uint64_t bytes = 0, offset;
    uint32_t found = 0;
    for (; found < count; found++) {
        const struct nt_page *page = &pages[found];
        if (page->source != pages->source || page->compression == NT_COMPRESSION_ELSEWHERE ||
            page->stored_bytes > MOST_BYTES || bytes + bytes_of(page) > MOST_BYTES ||
            !nt_source_is_range(source, bytes + bytes_of(page)) || !nt_add(pages->offset, bytes, &offset) ||
            page->offset != offset || !are_decoded_alike(dataset, pages, page))
            break;
        bytes += bytes_of(page);
    }
    return found;
}

size_t nt_neighbours_bytes(const struct nt_page *pages, uint32_t count)
{
    const struct nt_page *last = &pages[count - 1];
    return (size_t)(last->offset - pages->offset + bytes_of(last));
}

/* Where that fails, pages are read one by one, and the one that cannot be read is found. */
static void read_some(struct nt_neighbours *neighbours, const struct nt_dataset *dataset,
                      const struct nt_page *pages, uint32_t count)
{
    uint32_t found = nt_neighbours_count(dataset, pages, count);
    neighbours->count = 0;
    if (found < 2)
        return;
    if (!neighbours->bytes)
        neighbours->bytes = malloc(MOST_BYTES);
    if (!neighbours->bytes ||
        nt_source_read(dataset->sources[pages->source], pages->offset, neighbours->bytes,
                       nt_neighbours_bytes(pages, found), NULL) != NT_OK)
        return;
    neighbours->first = pages;
    neighbours->count = found;
}

static bool is_read(const struct nt_neighbours *neighbours, const struct nt_page *page)
{
    uintptr_t distance = (uintptr_t)page - (uintptr_t)neighbours->first;
    return distance < neighbours->count * sizeof(*page);
}

enum nt_status nt_neighbours_load(struct nt_neighbours *neighbours, struct nt_reader *reader,
                                  struct nt_dataset *dataset, uint32_t column, const struct nt_page *pages,
                                  uint32_t count, void *output, struct nt_error *error)
{
    struct nt_page_request request = {.reader = reader, .dataset = dataset, .column = column, .page = pages};
    if (!is_read(neighbours, pages))
        read_some(neighbours, dataset, pages, count);
    if (is_read(neighbours, pages))
        request.stored = neighbours->bytes + (pages->offset - neighbours->first->offset);
    enum nt_status status = nt_page_load_all(&request, output, error);
    return status == NT_OK ? NT_OK : nt_page_error(dataset, column, pages, status, error);
}

void nt_neighbours_deinit(struct nt_neighbours *neighbours)
{
    free(neighbours->bytes);
}
