/* SPDX-License-Identifier: MIT
 *
 * A range of entries: the clusters that it lies in, and of the first and the last one only a part.
 */
#include <stdlib.h>

#include "core/base/overflow.h"
#include "render/arrow/arrow_internal.h"

enum nt_status nt_arrow_check_range(const struct nt_arrow *arrow, struct nt_error *error)
{
    const struct nt_arrow_options *options = &arrow->options;
    if (!options->has_range ||
        nt_fits(options->first_entry, options->entries, nt_dataset_entries(arrow->dataset)))
        return NT_OK;
    return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "%llu entries from %llu on: there are %llu",
                   (unsigned long long)options->entries, (unsigned long long)options->first_entry,
                   (unsigned long long)nt_dataset_entries(arrow->dataset));
}

/* The data set's own clusters [*begin_ret, *end_ret). Those without entries may stand anywhere; none of them is left at the
 * ends. */
static void find_clusters(const struct nt_arrow *arrow, uint32_t *begin_ret, uint32_t *end_ret)
{
    uint64_t first = arrow->options.first_entry, end = first + arrow->options.entries;
    uint32_t begin = 0, stop = arrow->cluster_count;
    while (begin < stop && arrow->entries[begin + 1] <= first)
        begin++;
    while (stop > begin && arrow->entries[stop - 1] >= end)
        stop--;
    *begin_ret = begin;
    *end_ret = first < end ? stop : begin;
}

/* Ends of a range that are borders of clusters are no cuts within one. */
static enum nt_status set_cut(struct nt_arrow *arrow, uint32_t number, uint64_t entry, uint32_t stored,
                              struct nt_error *error)
{
    struct nt_arrow_cut *cut = &arrow->cuts[number];
    if (entry != arrow->entries[stored])
        return nt_arrow_cut_init(arrow, entry, stored, cut, error);
    *cut = (struct nt_arrow_cut){.entry = entry, .stored = stored};
    return NT_OK;
}

enum nt_status nt_arrow_cut_entries(struct nt_arrow *arrow, struct nt_error *error)
{
    const struct nt_arrow_options *options = &arrow->options;
    uint64_t end = options->first_entry + options->entries;
    uint32_t begin, stop;
    arrow->stored_clusters = arrow->cluster_count;
    if (!options->has_range)
        return NT_OK;
    find_clusters(arrow, &begin, &stop);
    arrow->cluster_count = stop - begin;
    arrow->cuts = calloc(arrow->cluster_count + (size_t)1, sizeof(*arrow->cuts));
    if (!arrow->cuts)
        return nt_fail_memory(error);
    enum nt_status status = NT_OK;
    for (uint32_t i = 0; i <= arrow->cluster_count && status == NT_OK; i++) {
        uint64_t entry = arrow->entries[begin + i];
        bool is_last = i > 0 && i == arrow->cluster_count && entry > end;
        if (i == 0 && arrow->cluster_count && entry < options->first_entry)
            entry = options->first_entry;
        status = set_cut(arrow, i, is_last ? end : entry, begin + i - is_last, error);
    }
    for (uint32_t i = 0; i <= arrow->cluster_count; i++)
        arrow->entries[i] = arrow->cuts[i].entry;
    return status;
}
