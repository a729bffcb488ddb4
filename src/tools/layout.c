/* SPDX-License-Identifier: MIT
 *
 * The layout of a file: every byte range in order with its owners, without holes or overlaps. Collects
 * the ranges that the format reports (headers, keys, envelopes) and all pages with their checksums, and
 * sorts them window by window in bounded memory. A dataset of many files is read in batches of files, if
 * it is known whose pages they have. layout.jsonl has one line for each range.
 */
#include "tools/tools.h"

struct nt_layout_claims {
    const struct nt_file *file;
    struct nt_budget *budget;           /* pays for the memory below */
    uint64_t taken;                     /* bytes taken from the budget */
    struct nt_layout_format_range *own; /* ranges of the format */
    struct nt_layout_label *labels;
    size_t own_count, own_capacity, label_count, label_capacity;
    struct nt_arena *details; /* of all batches: items refer to them */
    /* The batch: its files and the parts of the entries whose pages they have. All, if it is `whole`. */
    bool is_whole;
    struct nt_layout_sources sources;
    uint32_t first_part, end_part;
    /* By column of all datasets: the number of the batch's first page, and of the first one after it;
     * NT_NONE after a bad page list. */
    uint32_t *first_pages, *next_pages;
    uint32_t column_count;
};

/* ---- Ranges of the format ---- */

/* The common part of many ranges. */
struct nt_layout_label {
    const char *owner;
    const char *detail; /* a copy: the file of a chain that it is from may be closed again; or NULL */
    uint32_t dataset, column, cluster, page;
};

/* Compact: a file may have millions. */
struct nt_layout_format_range {
    uint64_t offset, bytes;
    uint32_t source, label;
};

struct claim_collector {
    struct nt_layout_claims *claims;
    struct nt_error *error;
};

/* Finds the label among the last few, or adds it. */
static enum nt_status find_label(struct nt_layout_claims *claims, const struct nt_layout_label *label,
                                 const char *detail, uint32_t *number_ret)
{
    enum { LOOKED_AT = 16 };
    for (size_t i = 0; i < LOOKED_AT && i < claims->label_count; i++) {
        *number_ret = (uint32_t)(claims->label_count - 1 - i);
        const struct nt_layout_label *seen = &claims->labels[*number_ret];
        bool is_same_detail = seen->detail && detail ? !strcmp(seen->detail, detail) : seen->detail == detail;
        if (seen->owner == label->owner && is_same_detail && seen->dataset == label->dataset &&
            seen->column == label->column && seen->cluster == label->cluster && seen->page == label->page)
            return NT_OK;
    }
    if (!NT_GROW(claims->labels, claims->label_count, claims->label_capacity))
        return NT_NO_MEMORY;
    const char *copy = detail ? nt_arena_copy(claims->details, detail, strlen(detail)) : NULL;
    if (detail && !copy)
        return NT_NO_MEMORY;
    *number_ret = (uint32_t)claims->label_count;
    claims->labels[claims->label_count] = *label;
    claims->labels[claims->label_count++].detail = copy;
    return NT_OK;
}

/* Makes room for one more range. The file's budget pays for it as long as the layout exists. */
static enum nt_status grow(const struct claim_collector *collector)
{
    struct nt_layout_claims *claims = collector->claims;
    size_t capacity = claims->own_capacity;
    if (claims->own_count < capacity)
        return NT_OK;
    uint64_t more = (capacity ? capacity : 8) * sizeof(*claims->own);
    NT_TRY(nt_budget_take(claims->budget, NT_COST_ENVELOPE_BYTE, more, NT_NO_OFFSET, collector->error));
    claims->taken += more;
    if (!NT_GROW(claims->own, claims->own_count, claims->own_capacity))
        return NT_NO_MEMORY;
    return NT_OK;
}

static enum nt_status keep_range(void *context, const struct nt_layout_range *range)
{
    const struct claim_collector *collector = context;
    struct nt_layout_claims *claims = collector->claims;
    const struct nt_layout_label label = {
        .owner = range->owner,
        .dataset = range->dataset,
        .column = range->column,
        .cluster = range->cluster == UINT64_MAX ? NT_NONE : (uint32_t)range->cluster,
        .page = range->page == UINT64_MAX ? NT_NONE : (uint32_t)range->page,
    };
    uint32_t number;
    if (!range->bytes)
        return NT_OK;
    NT_TRY(grow(collector));
    NT_TRY(find_label(claims, &label, range->detail, &number));
    claims->own[claims->own_count++] =
        (struct nt_layout_format_range){range->offset, range->bytes, range->source, number};
    return NT_OK;
}

/* ---- Sink ---- */

/* Takes the claims that begin in a window, both ends included. */
struct sink {
    struct nt_windows *windows;
    uint32_t first_source, last_source;
    uint64_t first_offset, last_offset;
};

/* Is a byte range of a source outside of the window? */
static bool is_outside(const struct sink *sink, uint32_t source, uint64_t offset, uint64_t end)
{
    return source < sink->first_source || source > sink->last_source ||
           (source == sink->first_source && end < sink->first_offset) ||
           (source == sink->last_source && offset > sink->last_offset);
}

static bool is_extent_outside(const struct sink *sink, uint32_t source, const struct nt_extent *extent)
{
    uint64_t end;
    if (!nt_checked_add(extent->offset, extent->bytes, &end))
        end = UINT64_MAX;
    return is_outside(sink, source, extent->offset, end);
}

static enum nt_status put(const struct sink *sink, const struct nt_layout_item *item)
{
    if (is_outside(sink, item->source, item->offset, item->offset))
        return NT_OK;
    struct nt_layout_item claim = *item;
    claim.claimed_offset = item->offset;
    claim.claimed_bytes = item->bytes;
    return nt_windows_take(sink->windows, &claim);
}

static enum nt_status put_own(const struct sink *sink, const struct nt_layout_claims *claims)
{
    for (size_t i = 0; i < claims->own_count; i++) {
        const struct nt_layout_format_range *own = &claims->own[i];
        const struct nt_layout_label *label = &claims->labels[own->label];
        const struct nt_layout_item item = {.offset = own->offset,
                                            .bytes = own->bytes,
                                            .source = own->source,
                                            .dataset = label->dataset,
                                            .column = label->column,
                                            .cluster = label->cluster,
                                            .page = label->page,
                                            .owner = label->owner,
                                            .detail = label->detail};
        NT_TRY(put(sink, &item));
    }
    return NT_OK;
}

/* ---- Pages ---- */

/* Adds a page's stored bytes, then its checksum; both may span several extents. */
static enum nt_status add_page_extents(const struct sink *sink, struct nt_layout_item *item,
                                       const char *owner, const struct nt_extent *extents, size_t count,
                                       uint64_t stored_bytes)
{
    double ratio = item->ratio;
    for (size_t i = 0; i < count; i++) {
        uint64_t bytes = nt_min(extents[i].bytes, stored_bytes);
        item->owner = owner;
        item->ratio = ratio;
        item->offset = extents[i].offset;
        item->bytes = bytes;
        if (bytes)
            NT_TRY(put(sink, item));
        item->owner = "checksum";
        item->ratio = 0;
        item->offset += bytes;
        item->bytes = extents[i].bytes - bytes;
        if (item->bytes)
            NT_TRY(put(sink, item));
        stored_bytes -= bytes;
    }
    return NT_OK;
}

static double page_ratio(const struct nt_dataset *dataset, const struct nt_page *page)
{
    uint64_t packed, decoded;
    bool is_known = nt_page_sizes(dataset, page, &packed, &decoded, NULL) == NT_OK;
    return is_known && page->stored_bytes ? (double)packed / (double)page->stored_bytes : 0;
}

static enum nt_status add_page(const struct sink *sink, const struct nt_dataset *dataset,
                               const struct nt_page *page, struct nt_layout_item *item, const char *owner,
                               struct nt_error *error)
{
    struct nt_extent one = {page->offset, page->stored_bytes + nt_checksum_info(page->checksum)->bytes};
    NT_AUTO_FREE struct nt_extent *several = NULL;
    size_t count = 1;
    enum nt_status status = NT_OK;
    item->source = dataset->file->layout_sources ? page->source : 0;
    /* If the extents are unreadable (a damaged list of chunks), the page keeps its listed place. */
    if (dataset->ops->page_extents)
        status = dataset->ops->page_extents(dataset, page, &several, &count, error);
    if (nt_is_environmental(status))
        return status;
    if (!several && is_extent_outside(sink, item->source, &one))
        return NT_OK;
    item->ratio = page_ratio(dataset, page);
    return add_page_extents(sink, item, owner, several ? several : &one, several ? count : 1,
                            page->stored_bytes);
}

/* Adds the buffers of a page that is no single range, with their owners. */
static enum nt_status add_page_buffers(const struct sink *sink, const struct nt_dataset *dataset,
                                       const struct nt_page *page, const struct nt_layout_item *template)
{
    struct nt_page_file files[NT_PAGE_FILES];
    uint32_t count = dataset->ops->page_files(dataset, template->column, page, files);
    for (uint32_t i = 0; i < count && files[i].kind == NT_PAGE_FILE_RANGE; i++) {
        struct nt_layout_item item = *template;
        item.offset = files[i].offset;
        item.bytes = files[i].bytes;
        item.owner = files[i].owner;
        item.ratio = page_ratio(dataset, page);
        item.source = dataset->file->layout_sources ? page->source : 0;
        if (item.bytes)
            NT_TRY(put(sink, &item));
    }
    return NT_OK;
}

/* The source that has the same bytes at the same offsets. */
static const struct nt_source *bottom(const struct nt_source *source)
{
    while (source->beneath)
        source = source->beneath;
    return source;
}

/* Is the page in something else than the files of the layout: in a part of the metadata, as a basket
 * within the record of its tree is, or in a file that only the page is in? */
static bool is_page_elsewhere(const struct nt_dataset *dataset, const struct nt_page *page)
{
    const struct nt_source *shown = dataset->file->source;
    if (dataset->file->layout_sources && page->source < dataset->file->layout_source_count)
        shown = dataset->file->layout_sources[page->source];
    return bottom(dataset->sources[page->source]) != bottom(shown);
}

static enum nt_status add_group_pages(const struct sink *sink, const struct nt_dataset *dataset,
                                      const struct nt_group *group, uint32_t column, uint32_t *number,
                                      struct nt_error *error)
{
    for (uint32_t c = 0; c < group->clusters; c++) {
        uint32_t cluster = group->first_cluster + c;
        const struct nt_range *range = nt_group_range(dataset, group, cluster, column);
        for (uint32_t p = 0; p < range->pages; p++) {
            const struct nt_page *page = &group->pages[(size_t)range->first_page + p];
            struct nt_layout_item item = {
                .dataset = dataset->index, .column = column, .cluster = cluster, .page = (*number)++};
            if (is_page_elsewhere(dataset, page))
                continue;
            if (dataset->ops->page_files)
                NT_TRY(add_page_buffers(sink, dataset, page, &item));
            else if (page->compression != NT_COMPRESSION_ELSEWHERE)
                NT_TRY(add_page(sink, dataset, page, &item, "page", error));
        }
    }
    return NT_OK;
}

/* The groups of a column in the batch. */
static struct nt_groups groups_in_batch(const struct nt_layout_claims *claims,
                                        const struct nt_dataset *dataset, uint32_t column)
{
    const struct nt_groups groups = nt_groups_of_column(dataset, column);
    if (claims->is_whole)
        return groups;
    if (dataset->ops->groups_of_parts)
        return dataset->ops->groups_of_parts(dataset, column, claims->first_part, claims->end_part);
    uint32_t count = groups.end - groups.first, end = claims->end_part < count ? claims->end_part : count,
             first = claims->first_part < end ? claims->first_part : end;
    return (struct nt_groups){groups.first + first, groups.first + end};
}

/* Columns whose pages are in the same groups. */
struct column_run {
    uint32_t first, end;
    struct nt_groups groups;
};

static struct column_run next_run(const struct nt_layout_claims *claims, const struct nt_dataset *dataset,
                                  uint32_t first)
{
    struct column_run run = {first, first, groups_in_batch(claims, dataset, first)};
    struct nt_groups groups = run.groups;
    while (groups.first == run.groups.first && groups.end == run.groups.end &&
           ++run.end < dataset->column_count)
        groups = groups_in_batch(claims, dataset, run.end);
    return run;
}

/* Numbers pages through the columns' clusters in order of cluster id. Stops at a bad page list: the numbers
 * of the pages after it are unknown. `numbers`: by column of the dataset, NT_NONE after such a list. Reads
 * each list once: it may be released as soon as it is unpinned. */
static enum nt_status add_run_pages(const struct sink *sink, struct nt_dataset *dataset,
                                    const struct column_run *run, uint32_t *numbers, struct nt_error *error)
{
    bool is_bad = false;
    nt_groups_announce(dataset, run->groups);
    for (uint32_t g = run->groups.first; g < run->groups.end && !is_bad; g++) {
        NT_CLEANUP(nt_group_unpin_at) struct nt_group *group = NULL;
        NT_TRY(nt_omit_bad(nt_group_pin(dataset, g, &group, error)));
        is_bad = !group;
        for (uint32_t column = run->first; column < run->end; column++)
            if (is_bad)
                numbers[column] = NT_NONE;
            else if (numbers[column] != NT_NONE)
                NT_TRY(add_group_pages(sink, dataset, group, column, &numbers[column], error));
    }
    return NT_OK;
}

/* Dependencies of decoders belong to no single column. */
static enum nt_status add_dependencies(const struct sink *sink, const struct nt_dataset *dataset,
                                       struct nt_error *error)
{
    for (uint32_t number = 0; number < dataset->decoders.count; number++) {
        const struct nt_decoder *decoder = nt_decoders_get(&dataset->decoders, number);
        for (uint32_t i = 0; i < decoder->dependency_count; i++) {
            struct nt_layout_item item = {
                .dataset = dataset->index, .column = NT_NONE, .cluster = NT_NONE, .page = NT_NONE};
            if (decoder->dependencies[i].compression != NT_COMPRESSION_ELSEWHERE)
                NT_TRY(add_page(sink, dataset, &decoder->dependencies[i], &item, "input", error));
        }
    }
    return NT_OK;
}

/* Adds values that are stored outside of the file's columns, each as a page of the field. */
static enum nt_status add_values(const struct sink *sink, const struct nt_layout_claims *claims,
                                 struct nt_dataset *dataset, uint32_t column, struct nt_error *error)
{
    struct nt_groups groups = groups_in_batch(claims, dataset, column);
    nt_groups_announce(dataset, groups);
    for (uint32_t g = groups.first; g < groups.end; g++) {
        NT_CLEANUP(nt_group_unpin_at) struct nt_group *group = NULL;
        NT_TRY(nt_omit_bad(nt_group_pin(dataset, g, &group, error)));
        for (uint32_t c = 0; group && c < group->clusters; c++) {
            uint32_t cluster = group->first_cluster + c;
            const struct nt_range *range = nt_group_range(dataset, group, cluster, column);
            for (uint32_t p = 0; p < range->pages; p++) {
                struct nt_layout_item item = {.dataset = dataset->index,
                                              .column = nt_physical_column(dataset, column),
                                              .cluster = NT_NONE,
                                              .page = NT_NONE};
                NT_TRY(add_page(sink, dataset, &group->pages[(size_t)range->first_page + p], &item, "value",
                                error));
            }
        }
    }
    return NT_OK;
}

/* `numbers`: of the next page, by column. */
static enum nt_status add_pages(const struct sink *sink, const struct nt_layout_claims *claims,
                                struct nt_dataset *dataset, uint32_t *numbers, struct nt_error *error)
{
    struct nt_dataset *physical;
    NT_TRY(nt_dataset_physical(dataset, &physical, error));
    for (uint32_t column = 0; column < physical->column_count;) {
        const struct column_run run = next_run(claims, physical, column);
        NT_TRY(add_run_pages(sink, physical, &run, numbers, error));
        column = run.end;
    }
    for (uint32_t column = 0; nt_dataset_has_physical(dataset) && column < dataset->column_count; column++)
        if (dataset->columns[column].position == 0 &&
            dataset->fields[dataset->columns[column].field].kind == NT_FIELD_PAGE_BYTES)
            NT_TRY(add_values(sink, claims, dataset, column, error));
    return physical->ops->page_files ? NT_OK : add_dependencies(sink, physical, error);
}

/* ---- All claims ---- */

/* Page lists stay, and the ranges of the format go with the layout: loaded in this order, lists need no
 * more memory than without a layout. Counts the columns of all datasets that are not bad. */
static enum nt_status load_page_lists(struct nt_layout_claims *claims, struct nt_error *error)
{
    enum nt_status status = NT_OK;
    for (uint32_t i = 0; i < claims->file->dataset_count && nt_omit_bad(status) == NT_OK; i++) {
        struct nt_dataset *physical;
        if (claims->file->datasets[i]->failure)
            continue;
        status = nt_dataset_physical(claims->file->datasets[i], &physical, error);
        if (status != NT_OK)
            continue;
        claims->column_count += physical->column_count;
        if (claims->is_whole)
            status = nt_dataset_load_readable(physical, error);
    }
    return nt_omit_bad(status);
}

/* Before the first batch. nt_layout_free frees the claims, even on failure. */
static enum nt_status layout_claims_init(struct nt_layout_claims *claims, const struct nt_file *file,
                                         struct nt_error *error)
{
    /* The claims are not part of the file, but its budget pays for them. */
    struct nt_budget *budget = (struct nt_budget *)(uintptr_t)&file->budget;
    *claims = (struct nt_layout_claims){.file = file, .budget = budget, .is_whole = !file->layout_of};
    NT_TRY(load_page_lists(claims, error));
    claims->first_pages = calloc((size_t)claims->column_count + 1, sizeof(*claims->first_pages));
    claims->next_pages = calloc((size_t)claims->column_count + 1, sizeof(*claims->next_pages));
    claims->details = nt_arena_new();
    bool has_all = claims->first_pages && claims->next_pages && claims->details;
    return has_all ? NT_OK : nt_fail_memory(error);
}

static void forget_ranges(struct nt_layout_claims *claims)
{
    if (claims->budget)
        nt_budget_release(claims->budget, NT_COST_ENVELOPE_BYTE, claims->taken);
    free(claims->own);
    free(claims->labels);
    claims->own = NULL;
    claims->labels = NULL;
    claims->taken = 0;
    claims->own_count = claims->own_capacity = claims->label_count = claims->label_capacity = 0;
}

/* The parts of the batch's files, and those without files before them, after those of the last batch. */
static void find_parts(struct nt_layout_claims *claims)
{
    claims->first_part = claims->sources.first ? claims->end_part : 0;
    claims->end_part = claims->first_part;
    for (uint32_t i = claims->sources.first; i < claims->sources.end; i++) {
        uint32_t part = claims->file->layout_part(claims->file, i);
        if (part != NT_NONE)
            claims->end_part = part + 1;
    }
}

/* Requests the format's ranges in a batch of files. NT_LIMIT if there are too many. */
static enum nt_status layout_claims_begin(struct nt_layout_claims *claims, struct nt_layout_sources sources,
                                          struct nt_error *error)
{
    const struct nt_file *file = claims->file;
    struct claim_collector collector = {claims, error};
    forget_ranges(claims);
    claims->sources = sources;
    for (uint32_t i = 0; i < claims->column_count; i++)
        claims->first_pages[i] = sources.first ? claims->next_pages[i] : 0;
    enum nt_status status = NT_OK;
    if (!claims->is_whole) {
        find_parts(claims);
        status = file->layout_of(file, sources, keep_range, &collector, error);
    } else if (file->layout) {
        status = file->layout(file, keep_range, &collector, error);
    }
    return status == NT_NO_MEMORY ? nt_fail_memory(error) : status;
}

/* Visits all claims of the batch in a window, unordered. Loads all page lists and omits bad ones. */
static enum nt_status layout_claims_visit(struct nt_layout_claims *claims, const struct sink *sink,
                                          struct nt_error *error)
{
    uint32_t *numbers = claims->next_pages;
    NT_TRY(put_own(sink, claims));
    for (uint32_t i = 0; i < claims->column_count; i++)
        numbers[i] = claims->first_pages[i];
    for (uint32_t i = 0; i < claims->file->dataset_count; i++) {
        struct nt_dataset *dataset = claims->file->datasets[i];
        if (dataset->failure)
            continue;
        NT_TRY(add_pages(sink, claims, dataset, numbers, error));
        numbers += dataset->physical->column_count;
    }
    return NT_OK;
}

/* ---- Sort ranges into items ---- */

enum { PENDING = 2 };

struct nt_layout {
    const struct nt_file *file;
    struct nt_layout_claims all;
    uint64_t *source_bytes;
    uint32_t source_count;
    struct nt_windows windows; /* of the batch's claims */
    /* Position: */
    size_t next; /* of the window's claims */
    uint32_t source;
    uint64_t at;      /* the first byte of the source not yet covered by an item */
    uint64_t covered; /* bytes of the source's items */
    struct nt_layout_item pending[PENDING], last;
    unsigned pending_count;
    bool has_last;
};

/* ---- Order of claims ---- */

static int compare_claims(const void *left, const void *right)
{
    const struct nt_layout_item *a = left, *b = right;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1; /* larger first: claims inside it are shared */
    if (a->dataset != b->dataset)
        return a->dataset < b->dataset ? -1 : 1;
    if (a->column != b->column)
        return a->column < b->column ? -1 : 1;
    return a->page < b->page ? -1 : a->page > b->page;
}

/* ---- Windows ---- */

/* The claims of the batch that may be in a window. */
static enum nt_status visit_claims(void *context, struct nt_windows *windows, struct nt_error *error)
{
    struct nt_layout *layout = context;
    const struct nt_layout_sources sources = layout->all.sources;
    const struct nt_layout_item *first = windows->first, *end = windows->end;
    const struct sink sink = {.windows = windows,
                              .first_source = first ? first->source : sources.first,
                              .first_offset = first ? first->offset : 0,
                              .last_source = end ? end->source : sources.end - 1,
                              .last_offset = end ? end->offset : UINT64_MAX};
    return layout_claims_visit(&layout->all, &sink, error);
}

static enum nt_status read_window(struct nt_layout *layout, struct nt_error *error)
{
    layout->next = 0;
    return nt_windows_read(&layout->windows, error);
}

/* ---- Batches ---- */

/* Files from one on: so many that their claims are likely to fit in one window, and all files of each part:
 * pages are numbered part by part. */
static struct nt_layout_sources files_of_batch(const struct nt_layout *layout, uint32_t first)
{
    enum { FIRST_FILES = 16, WANTED = NT_WINDOW_BYTES / sizeof(struct nt_layout_item) / 2 };
    const struct nt_layout_sources before = layout->all.sources, rest = {first, layout->source_count};
    if (layout->all.is_whole)
        return rest;
    uint64_t each = first ? layout->windows.seen / (before.end - before.first) : 0;
    uint64_t files = first ? WANTED / (each + 1) + 1 : FIRST_FILES;
    if (files >= rest.end - first)
        return rest;
    const struct nt_file *file = layout->file;
    uint32_t end = first + (uint32_t)files, part = file->layout_part(file, end - 1);
    while (end < layout->source_count && part != NT_NONE && file->layout_part(file, end) == part)
        end++;
    return (struct nt_layout_sources){first, end};
}

static enum nt_status begin_batch(struct nt_layout *layout, uint32_t first, struct nt_error *error)
{
    const struct nt_layout_sources sources = files_of_batch(layout, first);
    layout->next = 0;
    NT_TRY(layout_claims_begin(&layout->all, sources, error));
    return nt_windows_begin(&layout->windows, error);
}

/* ---- From claims to items ---- */

static void add_item(struct nt_layout *layout, const struct nt_layout_item *item)
{
    layout->pending[layout->pending_count++] = *item;
}

static void add_gap(struct nt_layout *layout, uint64_t to)
{
    const struct nt_layout_item gap = {.offset = layout->at,
                                       .bytes = to - layout->at,
                                       .claimed_offset = layout->at,
                                       .claimed_bytes = to - layout->at,
                                       .source = layout->source,
                                       .dataset = NT_NONE,
                                       .column = NT_NONE,
                                       .cluster = NT_NONE,
                                       .page = NT_NONE,
                                       .owner = "gap"};
    if (layout->at < to)
        add_item(layout, &gap);
}

static bool is_object_store(const struct nt_layout *layout)
{
    return nt_layout_source(layout->file, layout->source)->is_object_store;
}

/* Only claims of objects are known: no gaps, and the size of an object is that of its claims. */
static void insert_claim(struct nt_layout *layout, const struct nt_layout_item *claim)
{
    struct nt_layout_item item = *claim;
    bool has_gaps = !is_object_store(layout);
    uint64_t size = has_gaps ? layout->source_bytes[layout->source] : UINT64_MAX;
    if (!has_gaps && claim->offset > layout->at)
        layout->at = claim->offset;
    if (item.offset >= size)
        return; /* past the end: reading reports it */
    if (item.bytes > size - item.offset)
        item.bytes = size - item.offset;
    uint64_t end = item.offset + item.bytes;
    if (item.offset >= layout->at) {
        add_gap(layout, item.offset);
    } else if (end <= layout->at) {
        item.is_shared = true;
    } else {
        item.offset = layout->at;
        item.bytes = end - layout->at;
    }
    add_item(layout, &item);
    if (item.is_shared)
        return;
    layout->at = end;
    layout->covered += item.bytes;
}

/* Many pages share a dependency: it is one claim. */
static bool is_reported(const struct nt_layout *layout, const struct nt_layout_item *claim)
{
    const struct nt_layout_item *last = layout->has_last ? &layout->last : NULL;
    return last && claim->column == NT_NONE && last->column == NT_NONE && claim->dataset == last->dataset &&
           claim->dataset != NT_NONE && claim->source == last->source && claim->owner == last->owner &&
           claim->offset == last->claimed_offset && claim->bytes == last->claimed_bytes;
}

static void end_source(struct nt_layout *layout)
{
    if (is_object_store(layout))
        layout->source_bytes[layout->source] = layout->covered;
    else
        add_gap(layout, layout->source_bytes[layout->source]);
    layout->source++;
    layout->at = layout->covered = 0;
}

/* Continues with the next claim, or with the rest of the source after the last one. */
static void resume_at(struct nt_layout *layout)
{
    const struct nt_layout_item *claims = (const void *)layout->windows.items.bytes;
    const struct nt_layout_item *claim =
        layout->next < layout->windows.items.count ? &claims[layout->next] : NULL;
    if (!claim || claim->source != layout->source) {
        end_source(layout);
        return;
    }
    layout->next++;
    if (!is_reported(layout, claim))
        insert_claim(layout, claim);
}

enum nt_status nt_layout_next(struct nt_layout *layout, struct nt_layout_item *item_ret, bool *has_ret,
                              struct nt_error *error)
{
    NT_TRY(nt_windows_restore(&layout->windows, error));
    while (!layout->pending_count && layout->source < layout->source_count) {
        if (layout->next == layout->windows.items.count && layout->windows.next < layout->windows.count)
            NT_TRY(read_window(layout, error));
        else if (layout->source == layout->all.sources.end)
            NT_TRY(begin_batch(layout, layout->source, error));
        else
            resume_at(layout);
    }
    *has_ret = layout->pending_count;
    if (!*has_ret)
        return NT_OK;
    *item_ret = layout->last = layout->pending[0];
    layout->has_last = true;
    layout->pending[0] = layout->pending[1];
    layout->pending_count--;
    return NT_OK;
}

static bool has_batches(const struct nt_layout *layout)
{
    return layout->all.sources.end < layout->source_count || layout->all.sources.first;
}

bool nt_layout_is_in_memory(const struct nt_layout *layout)
{
    return layout->windows.count == 1 && !has_batches(layout);
}

enum nt_status nt_layout_rewind(struct nt_layout *layout, struct nt_error *error)
{
    if (!has_batches(layout))
        nt_windows_rewind(&layout->windows);
    layout->next = layout->pending_count = layout->source = 0;
    layout->at = layout->covered = 0;
    layout->has_last = false;
    return has_batches(layout) ? begin_batch(layout, 0, error) : NT_OK;
}

/* ---- Sources ---- */

struct nt_source *nt_layout_source(const struct nt_file *file, uint32_t source)
{
    return file->layout_sources ? file->layout_sources[source] : file->source;
}

const uint64_t *nt_layout_source_bytes(const struct nt_layout *layout, uint32_t *count_ret)
{
    *count_ret = layout->source_count;
    return layout->source_bytes;
}

/* Size 0 for a file that is missing or cannot be a source. */
static enum nt_status measure_sources(struct nt_layout *layout, struct nt_error *error)
{
    const struct nt_file *file = layout->file;
    layout->source_count = file->layout_sources ? file->layout_source_count : 1;
    layout->source_bytes = calloc((size_t)layout->source_count + 1, sizeof(*layout->source_bytes));
    NT_TRY(nt_check_memory(layout->source_bytes, error));
    for (uint32_t i = 0; i < layout->source_count; i++) {
        enum nt_status status = nt_file_layout_size(file, i, &layout->source_bytes[i], error);
        if (nt_is_environmental(status))
            return status;
        if (status != NT_OK)
            layout->source_bytes[i] = 0;
    }
    return NT_OK;
}

/* ---- Create and free ---- */

enum nt_status nt_layout_new(const struct nt_file *file, struct nt_layout **layout_ret,
                             struct nt_error *error)
{
    NT_CLEANUP(nt_layout_free_at) struct nt_layout *layout = calloc(1, sizeof(*layout));
    NT_TRY(nt_check_memory(layout, error));
    layout->file = file;
    layout->windows = (struct nt_windows){.item_bytes = sizeof(struct nt_layout_item),
                                          .compare = compare_claims,
                                          .pass = visit_claims,
                                          .context = layout};
    NT_TRY(measure_sources(layout, error));
    NT_TRY(layout_claims_init(&layout->all, file, error));
    NT_TRY(begin_batch(layout, 0, error));
    *layout_ret = layout;
    layout = NULL;
    return NT_OK;
}

void nt_layout_free(struct nt_layout *layout)
{
    if (!layout)
        return;
    forget_ranges(&layout->all);
    free(layout->all.first_pages);
    free(layout->all.next_pages);
    nt_arena_free(layout->all.details);
    nt_windows_deinit(&layout->windows);
    free(layout->source_bytes);
    free(layout);
}

/* ---- layout.jsonl ---- */

enum { LINES_PER_PIECE = 256, OWNERS_NAMED = 16 };

struct layout_lines {
    struct nt_text_generator text;
    const struct nt_file *file;
    struct nt_layout *layout;
    struct nt_layout_item first; /* of the next line */
    bool has_first;
};

/* The items of a line: owners of the same bytes. */
struct layout_line {
    struct nt_layout_item first, others[OWNERS_NAMED];
    uint64_t count; /* of the others */
};

static void write_owner(struct nt_json *json, const struct nt_file *file, const struct nt_layout_item *item)
{
    if (item->dataset == NT_NONE)
        return;
    const struct nt_dataset *dataset = file->datasets[item->dataset];
    nt_json_member_dataset(json, dataset);
    if (item->column == NT_NONE)
        return;
    nt_json_member_field_path(json, "field", dataset, dataset->physical->columns[item->column].field);
    nt_json_member_unsigned(json, "column", dataset->physical->columns[item->column].id);
    if (item->cluster != NT_NONE)
        nt_json_member_unsigned(json, "cluster", item->cluster);
    if (item->page != NT_NONE)
        nt_json_member_unsigned(json, "page", item->page);
}

/* The claim of an item, unless it is this range. */
static void write_claim(struct nt_json *json, const struct nt_file *file, const struct nt_layout_item *item,
                        uint64_t offset, uint64_t bytes)
{
    if (item->claimed_offset == offset && item->claimed_bytes == bytes)
        return;
    const struct nt_source *source = nt_layout_source(file, item->source);
    nt_json_member_unsigned(json, "claimed_offset", nt_source_local_offset(source, item->claimed_offset));
    nt_json_member_unsigned(json, "claimed_bytes", item->claimed_bytes);
}

static void write_others(struct nt_json *json, const struct nt_file *file, const struct layout_line *line)
{
    if (!line->count)
        return;
    nt_json_member_unsigned(json, "owners", line->count + 1);
    nt_json_member_array(json, "shared_with");
    for (uint64_t i = 0; i < line->count && i < OWNERS_NAMED; i++) {
        const struct nt_layout_item *item = &line->others[i];
        nt_json_object(json);
        nt_json_member_string(json, "owner", item->owner);
        write_owner(json, file, item);
        write_claim(json, file, item, line->first.offset, line->first.bytes);
        nt_json_end_object(json);
    }
    nt_json_end_array(json);
}

static void write_line(const struct nt_file *file, const struct layout_line *line, struct nt_buffer *out)
{
    const struct nt_layout_item *item = &line->first;
    struct nt_json json;
    nt_json_line(&json, out);
    if (file->layout_sources)
        nt_json_member_location(&json, file->layout_sources[item->source], item->offset);
    else
        nt_json_member_unsigned(&json, "file_offset", item->offset);
    nt_json_member_unsigned(&json, "stored_bytes", item->bytes);
    nt_json_member_string(&json, "owner", item->owner);
    if (item->detail)
        nt_json_member_text(&json, "detail", nt_text_of(item->detail));
    write_owner(&json, file, item);
    write_claim(&json, file, item, item->offset, item->bytes);
    write_others(&json, file, line);
    nt_json_finish(&json);
}

/* Reads up to the first item of the next line. */
static enum nt_status read_line(struct layout_lines *lines, struct layout_line *line, struct nt_error *error)
{
    line->first = lines->first;
    line->count = 0;
    for (;;) {
        enum nt_status status = nt_layout_next(lines->layout, &lines->first, &lines->has_first, error);
        if (status != NT_OK || !lines->has_first || !lines->first.is_shared)
            return status;
        if (line->count < OWNERS_NAMED)
            line->others[line->count] = lines->first;
        line->count++;
    }
}

static enum nt_status next_lines(struct nt_text_generator *text, struct nt_buffer *out, bool *more_ret,
                                 struct nt_error *error)
{
    struct layout_lines *lines = (struct layout_lines *)text;
    struct layout_line line;
    for (unsigned i = 0; i < LINES_PER_PIECE && lines->has_first; i++) {
        NT_TRY(read_line(lines, &line, error));
        write_line(lines->file, &line, out);
    }
    *more_ret = lines->has_first;
    return out->failed ? nt_fail_memory(error) : NT_OK;
}

static size_t lines_memory(const struct nt_text_generator *text)
{
    const struct nt_windows *windows = &((const struct layout_lines *)text)->layout->windows;
    return windows->items.capacity * windows->item_bytes;
}

static void shrink_lines(struct nt_text_generator *text)
{
    nt_windows_drop(&((struct layout_lines *)text)->layout->windows);
}

static void free_lines(struct nt_text_generator *text)
{
    struct layout_lines *lines = (struct layout_lines *)text;
    nt_layout_free(lines->layout);
    free(lines);
}

enum nt_status nt_layout_lines(const struct nt_file *file, struct nt_text_generator **text_ret,
                               struct nt_error *error)
{
    struct layout_lines *lines = calloc(1, sizeof(*lines));
    NT_TRY(nt_check_memory(lines, error));
    lines->text = (struct nt_text_generator){.next = next_lines,
                                             .free = free_lines,
                                             .memory = lines_memory,
                                             .shrink = shrink_lines,
                                             .takes_budget = true};
    lines->file = file;
    enum nt_status status = nt_layout_new(file, &lines->layout, error);
    if (status == NT_OK)
        status = nt_layout_next(lines->layout, &lines->first, &lines->has_first, error);
    if (status != NT_OK) {
        free_lines(&lines->text);
        return status;
    }
    *text_ret = &lines->text;
    return NT_OK;
}
