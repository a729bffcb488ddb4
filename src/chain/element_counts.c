/* SPDX-License-Identifier: MIT
 *
 * The elements of columns below lists, as an index has them: found in page lists, written as text, given to
 * readers before a member opens, and compared with its page lists after that.
 */
#include "chain/chain.h"

#include <errno.h>

#include "core/model/field.h"

/* ---- Places of columns ---- */

/* Columns of strings and objects: end offsets, then bytes. */
static bool is_of_bytes(const struct nt_dataset *dataset, const struct nt_column *column)
{
    const struct nt_stream_row *data =
        nt_field_kind_info(dataset->fields[column->field].kind)->streams[NT_STREAM_DATA];
    return data && data->of == NT_COUNTED_SECOND_COLUMN && data->position == column->position;
}

uint32_t nt_chain_find_places(const struct nt_dataset *dataset, uint32_t *places)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < dataset->column_count; i++) {
        const struct nt_column *column = &dataset->columns[i];
        bool is_unverified =
            nt_field_row_parent(dataset, column->field) != NT_NONE || is_of_bytes(dataset, column);
        places[i] = is_unverified ? count++ : NT_NONE;
    }
    return count;
}

/* ---- Runs ---- */

struct count_runs {
    struct nt_count_run *items;
    size_t count, capacity;
};

static void free_runs(struct count_runs *runs)
{
    free(runs->items);
}

/* `times` more places have so many elements. False without memory, or with too many places. */
static bool add_run(struct count_runs *runs, uint32_t elements, uint32_t times)
{
    uint32_t first = runs->count ? runs->items[runs->count - 1].end : 0;
    if (times > NT_NONE - first)
        return false;
    if (runs->count && runs->items[runs->count - 1].elements == elements) {
        runs->items[runs->count - 1].end += times;
        return true;
    }
    if (!NT_GROW(runs->items, runs->count, runs->capacity))
        return false;
    runs->items[runs->count++] = (struct nt_count_run){first + times, elements};
    return true;
}

static bool copy_runs(const struct count_runs *runs, struct nt_arena *arena,
                      struct nt_cluster_counts *cluster)
{
    cluster->run_count = (uint32_t)runs->count;
    cluster->runs = nt_arena_alloc(arena, runs->count + 1, sizeof(*cluster->runs));
    if (cluster->runs && runs->count)
        memcpy(cluster->runs, runs->items, runs->count * sizeof(*cluster->runs));
    return cluster->runs;
}

NT_DEFINE_COUNT_UP_TO(runs_before, struct nt_count_run, .end)

static uint32_t elements_at(const struct nt_cluster_counts *cluster, uint32_t place)
{
    size_t run = runs_before(cluster->runs, cluster->run_count, place);
    return run < cluster->run_count ? cluster->runs[run].elements : NT_COUNT_UNKNOWN;
}

/* ---- Text ---- */

void nt_cluster_counts_append(struct nt_buffer *out, const struct nt_cluster_counts *cluster)
{
    uint32_t first = 0;
    for (uint32_t i = 0; i < cluster->run_count; first = cluster->runs[i++].end) {
        const struct nt_count_run *run = &cluster->runs[i];
        nt_buffer_append_string(out, i ? " " : "");
        if (run->elements == NT_COUNT_UNKNOWN)
            nt_buffer_append_string(out, "-");
        else
            nt_buffer_append_format(out, "%" PRIu32, run->elements);
        if (run->end - first > 1)
            nt_buffer_append_format(out, "*%" PRIu32, run->end - first);
    }
}

/* A number below 2^32 - 1. */
static bool take_number(const char **text, uint32_t *number_ret)
{
    char *end;
    errno = 0;
    if (**text < '0' || **text > '9')
        return false;
    unsigned long long number = strtoull(*text, &end, 10);
    *text = end;
    *number_ret = (uint32_t)number;
    return !errno && number < UINT32_MAX;
}

/* One run and the space after it. */
static bool take_run(const char **text, struct count_runs *runs)
{
    uint32_t elements = NT_COUNT_UNKNOWN, times = 1;
    if (**text == '-')
        (*text)++;
    else if (!take_number(text, &elements))
        return false;
    if (**text == '*' && ((*text)++, !take_number(text, &times)))
        return false;
    if (**text == ' ' && (*text)[1])
        (*text)++;
    else if (**text)
        return false;
    return times && add_run(runs, elements, times);
}

enum nt_status nt_cluster_counts_read(const char *text, struct nt_arena *arena,
                                      struct nt_cluster_counts *cluster, struct nt_error *error)
{
    NT_CLEANUP(free_runs) struct count_runs runs = {0};
    while (*text)
        if (!take_run(&text, &runs))
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                           "\"cluster_elements\" is not a list of texts as \"1200*50 33 -\"");
    return nt_check_memory(copy_runs(&runs, arena, cluster), error);
}

/* ---- Page lists ---- */

/* What a list says of a column, whose group is pinned. Unknown if it is not stored, as another
 * representation of its field may be. */
static uint32_t elements_in(const struct nt_dataset *own, uint32_t cluster, uint32_t column)
{
    const struct nt_group *group = nt_group_slot(own, nt_cluster_group(own, cluster));
    const struct nt_range *range = nt_group_range(own, group, cluster, column);
    uint64_t elements = nt_range_elements(group, range);
    return range->state == NT_RANGE_PRESENT && elements < NT_COUNT_UNKNOWN ? (uint32_t)elements
                                                                           : NT_COUNT_UNKNOWN;
}

static enum nt_status find_cluster(struct nt_dataset *own, uint32_t cluster, const uint32_t *places,
                                   struct nt_arena *arena, struct nt_cluster_counts *found)
{
    NT_CLEANUP(free_runs) struct count_runs runs = {0};
    NT_CLEANUP(nt_group_unpin_at) struct nt_group *group = NULL;
    NT_TRY(nt_group_pin(own, nt_cluster_group(own, cluster), &group, NULL));
    for (uint32_t i = 0; i < own->column_count; i++)
        if (places[i] != NT_NONE && !add_run(&runs, elements_in(own, cluster, i), 1))
            return NT_NO_MEMORY;
    return copy_runs(&runs, arena, found) ? NT_OK : NT_NO_MEMORY;
}

bool nt_chain_find_counts(struct nt_indexed_dataset *known, struct nt_dataset *own, size_t max_bytes,
                          struct nt_arena *arena)
{
    size_t bytes = 0;
    NT_AUTO_FREE uint32_t *places = calloc((size_t)own->column_count + 1, sizeof(*places));
    struct nt_cluster_counts *counts = nt_arena_alloc(arena, known->clusters + 1, sizeof(*counts));
    enum nt_status status = NT_OK;
    if (!places || !counts)
        return false;
    nt_chain_find_places(own, places);
    for (uint32_t i = 0; status == NT_OK && bytes <= max_bytes && i < known->clusters; i++) {
        status = find_cluster(own, i, places, arena, &counts[i]);
        bytes += counts[i].run_count * sizeof(*counts[i].runs);
    }
    known->counts = status == NT_OK && bytes <= max_bytes ? counts : NULL;
    return status != NT_NO_MEMORY;
}

/* ---- Compare and add ---- */

/* The first member is open, and may be known all the same. */
static const struct nt_cluster_counts *indexed_counts(const struct nt_chain_slice *slice)
{
    if (slice->lazy)
        return slice->lazy->counts;
    return slice == slice->series->slices ? slice->series->first_counts : NULL;
}

static void learn(const struct nt_chain *chain, struct nt_chain_slice *slice, uint32_t cluster,
                  uint32_t place, uint32_t elements)
{
    size_t places = slice->series->place_count;
    size_t bytes = nt_chain_slice_clusters(slice) * places * sizeof(*slice->learned);
    if (!slice->learned && bytes <= nt_chain_line_bytes(chain) && (slice->learned = malloc(bytes)))
        memset(slice->learned, 0xff, bytes); /* NT_COUNT_UNKNOWN */
    if (slice->learned)
        slice->learned[cluster * places + place] = elements;
}

static enum nt_status check_column(const struct nt_dataset *dataset, struct nt_chain_slice *slice,
                                   uint32_t cluster, uint32_t place, uint32_t found, struct nt_error *error)
{
    const struct nt_cluster_counts *counts = indexed_counts(slice);
    uint32_t indexed = counts ? elements_at(&counts[cluster], place) : NT_COUNT_UNKNOWN;
    const struct nt_chain *chain = nt_chain_of(dataset->file);
    if (indexed == NT_COUNT_UNKNOWN && found != NT_COUNT_UNKNOWN && chain->options.save_index)
        learn(chain, slice, cluster, place, found);
    if (indexed == NT_COUNT_UNKNOWN || indexed == found)
        return NT_OK;
    return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET,
                          "elements of a column in a cluster according to the index", indexed, found);
}

enum nt_status nt_chain_check_counts(const struct nt_dataset *dataset, struct nt_chain_slice *slice,
                                     uint32_t cluster, uint32_t own_cluster, struct nt_error *error)
{
    const struct nt_dataset *own = slice->dataset;
    const struct nt_group *group = nt_group_slot(own, nt_cluster_group(own, own_cluster));
    const uint32_t *places = slice->series->counted_places;
    uint32_t count = own->column_count;
    const uint32_t *columns = own->field_groups ? nt_field_columns(own, group->field, &count) : NULL;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t column = columns ? columns[i] : i;
        if (places[column] != NT_NONE)
            NT_TRY(check_column(dataset, slice, cluster, places[column],
                                elements_in(own, own_cluster, column), error));
    }
    return NT_OK;
}

static bool merge_cluster(const struct nt_chain_slice *slice, uint32_t cluster, struct nt_arena *arena,
                          struct nt_cluster_counts *merged)
{
    NT_CLEANUP(free_runs) struct count_runs runs = {0};
    uint32_t places = slice->series->place_count;
    const struct nt_cluster_counts *counts = indexed_counts(slice);
    for (uint32_t i = 0; i < places; i++) {
        uint32_t elements = slice->learned ? slice->learned[(size_t)cluster * places + i] : NT_COUNT_UNKNOWN;
        if (elements == NT_COUNT_UNKNOWN && counts)
            elements = elements_at(&counts[cluster], i);
        if (!add_run(&runs, elements, 1))
            return false;
    }
    return copy_runs(&runs, arena, merged);
}

bool nt_chain_merge_counts(const struct nt_chain_slice *slice, struct nt_indexed_dataset *known,
                           struct nt_arena *arena)
{
    if ((!slice->learned && !indexed_counts(slice)) || !known->cluster_entries ||
        known->clusters != nt_chain_slice_clusters(slice))
        return true;
    known->counts = nt_arena_alloc(arena, known->clusters + 1, sizeof(*known->counts));
    for (uint32_t i = 0; known->counts && i < known->clusters; i++)
        if (!merge_cluster(slice, i, arena, &known->counts[i]))
            return false;
    return known->counts;
}

/* ---- Counts of lazily opened members ---- */

/* The indexed cluster that a cluster of the chain shows. */
static uint32_t known_cluster(const struct nt_dataset *dataset, const struct nt_chain_slice *slice,
                              uint32_t cluster)
{
    uint32_t member;
    if (!dataset->field_groups)
        return cluster - slice->first_cluster;
    nt_group_field(dataset, cluster, &member);
    return member - slice->first_part;
}

bool nt_chain_unverified_elements(struct nt_dataset *dataset, uint32_t cluster, uint32_t field,
                                  uint32_t position, uint64_t *elements_ret)
{
    const struct nt_chain_slice *slice = nt_chain_group_slice(dataset, nt_cluster_group(dataset, cluster));
    uint32_t own = slice->lazy && slice->lazy->counts ? slice->fields[field] : NT_NONE;
    const struct nt_dataset *first = nt_chain_first_dataset(slice);
    if (own == NT_NONE || nt_field_representations(first, own) != 1)
        return false;
    uint32_t column = nt_field_column(first, own, 0, position);
    uint32_t place = column == NT_NONE ? NT_NONE : slice->series->counted_places[column];
    if (place == NT_NONE)
        return false;
    uint32_t elements = elements_at(&slice->lazy->counts[known_cluster(dataset, slice, cluster)], place);
    *elements_ret = elements;
    return elements != NT_COUNT_UNKNOWN;
}
