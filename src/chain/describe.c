/* SPDX-License-Identifier: MIT
 *
 * The format operations of a chain: metadata as JSON, layout, checks and pages, each delegated to the
 * format of the member that owns the data; and the description of each member for files.jsonl.
 */
#include "chain/chain.h"

/* ---- Datasets ---- */

static enum nt_status page_extents(const struct nt_dataset *dataset, const struct nt_page *page,
                                   struct nt_extent **extents_ret, size_t *count_ret, struct nt_error *error)
{
    const struct nt_chain_slice *slice = nt_chain_source_slice(dataset, page->source);
    struct nt_page own = *page;
    own.source -= slice->member->first_source;
    if (slice->failure || !nt_chain_schema_of(slice)->ops->page_extents || !slice->dataset)
        return NT_OK;
    return slice->dataset->ops->page_extents(slice->dataset, &own, extents_ret, count_ret, error);
}

static enum nt_status describe_dataset(const struct nt_dataset *dataset, struct nt_json *json)
{
    nt_json_member_unsigned(json, "files", nt_chain_dataset_of(dataset)->slice_count);
    return NT_OK;
}

static void describe_field(const struct nt_dataset *dataset, uint32_t field, struct nt_json *json)
{
    const struct nt_chain_dataset *chain = nt_chain_dataset_of(dataset);
    for (uint32_t i = 0; i < chain->slice_count; i++) {
        const struct nt_chain_slice *slice = &chain->slices[i];
        if (slice->failure || slice->lazy || slice->fields[field] == NT_NONE)
            continue;
        if (slice->dataset->ops->describe_field)
            slice->dataset->ops->describe_field(slice->dataset, slice->fields[field], json);
        return;
    }
}

static void describe_column(const struct nt_dataset *dataset, uint32_t column, struct nt_json *json)
{
    uint32_t own;
    const struct nt_chain_slice *slice = nt_chain_column_slice(dataset, column, &own);
    if (slice && slice->dataset->ops->describe_column)
        slice->dataset->ops->describe_column(slice->dataset, own, json);
}

static enum nt_status describe_page(const struct nt_dataset *dataset, uint32_t column,
                                    const struct nt_page *page, struct nt_json *json)
{
    const struct nt_page *own;
    struct nt_group *group;
    const struct nt_chain_slice *slice = nt_chain_source_slice(dataset, page->source);
    enum nt_status status = NT_OK;
    if (slice->failure || !nt_chain_schema_of(slice)->ops->describe_page)
        return NT_OK;
    NT_TRY(nt_chain_pin_member(dataset, slice, NULL));
    own = nt_chain_member_page(dataset, slice, column, page, &group);
    for (uint32_t i = 0; own && i < slice->dataset->column_count; i++)
        if (slice->columns[i] == column) {
            status = slice->dataset->ops->describe_page(slice->dataset, i, own, json);
            break;
        }
    if (own)
        nt_group_unpin(group);
    nt_chain_unpin_member(dataset, slice);
    return status;
}

/* Those of a member that has the column. */
static uint32_t sibling_columns(const struct nt_dataset *dataset, uint32_t column,
                                uint32_t columns[NT_MAX_SHARED_OUTPUTS - 1])
{
    uint32_t own, count = 0, shown = 0;
    const struct nt_chain_slice *slice = nt_chain_column_slice(dataset, column, &own);
    if (slice && slice->dataset->ops->sibling_columns)
        count = slice->dataset->ops->sibling_columns(slice->dataset, own, columns);
    for (uint32_t i = 0; i < count; i++)
        if (slice->columns[columns[i]] != NT_NONE) /* else the chain does not show the column's field */
            columns[shown++] = slice->columns[columns[i]];
    return shown;
}

static enum nt_status fail_elsewhere(const struct nt_dataset *dataset, const struct nt_page *page,
                                     struct nt_error *error)
{
    const struct nt_chain_slice *slice = nt_chain_source_slice(dataset, page->source);
    const char *format = slice->failure ? NULL : nt_chain_schema_of(slice)->format;
    if (!format || strcmp(format, "ttree") != 0 || nt_chain_pin_member(dataset, slice, NULL) != NT_OK)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "the page is not stored in its file: its locator is in pages.jsonl");
    enum nt_status status = slice->dataset->ops->fail_elsewhere(slice->dataset, page, error);
    nt_chain_unpin_member(dataset, slice);
    return status;
}

/* A slice with the row has the field. */
static enum nt_status find_blob(struct nt_dataset *dataset, uint32_t field, uint32_t member,
                                const struct nt_blob_description *description, bool opens_file,
                                struct nt_blob *blob, struct nt_error *error)
{
    const struct nt_chain_slice *slice = nt_chain_member_slice(dataset, field, member);
    uint32_t own = slice->failure ? NT_NONE : slice->fields[field];
    if (own == NT_NONE)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "the file does not have the field");
    NT_TRY(nt_chain_pin_member(dataset, slice, error));
    enum nt_status status = slice->dataset->ops->find_blob(slice->dataset, own, member - slice->first_part,
                                                           description, opens_file, blob, error);
    nt_chain_unpin_member(dataset, slice);
    if (status != NT_OK && !nt_is_transient(status))
        nt_error_context(error, "%s", slice->member->path);
    return status;
}

/* What was learned is saved before the first dataset closes. */
static void close_dataset(struct nt_dataset *dataset)
{
    const struct nt_chain_dataset *chain = nt_chain_dataset_of(dataset);
    if (dataset->index == 0)
        nt_chain_save_learned(dataset->file);
    for (uint32_t i = 0; chain && i < chain->slice_count; i++)
        free(chain->slices[i].learned);
}

const struct nt_dataset_ops nt_chain_dataset_ops = {
    .load_group = nt_chain_load_group,
    .complete_record = nt_chain_complete_record,
    .unverified_elements = nt_chain_unverified_elements,
    .reloads_groups = true,
    .find_blob = find_blob,
    .page_extents = page_extents,
    .describe_dataset = describe_dataset,
    .describe_field = describe_field,
    .describe_column = describe_column,
    .describe_page = describe_page,
    .groups_of_parts = nt_chain_groups_of_members,
    .sibling_columns = sibling_columns,
    .fail_elsewhere = fail_elsewhere,
    .close = close_dataset,
};

/* ---- The file ---- */

enum nt_status nt_chain_describe_file(const struct nt_file *file, struct nt_json *json,
                                      struct nt_error *error)
{
    nt_json_member_unsigned(json, "files", nt_chain_of(file)->member_count);
    nt_json_member_unsigned(json, "skipped_files", nt_chain_of(file)->skipped);
    return NT_OK;
}

/* Layout ranges of one file. */
struct laying_out {
    const struct nt_file *file;
    const struct nt_chain_member *member;
    nt_layout_emit *emit;
    void *context;
};

/* Is this the member's dataset with that number? */
static bool is_own(const struct nt_chain_slice *slice, uint32_t number)
{
    struct nt_dataset *own = slice->dataset;
    if (!own && (!slice->lazy ||
                 nt_chain_match_dataset(nt_chain_first_dataset(slice), slice->member, &own, NULL) != NT_OK))
        return false;
    return own->index == number;
}

/* Replaces a file's dataset and column numbers by those of the chain. */
static void find_dataset(const struct laying_out *laying_out, struct nt_layout_range *range)
{
    const struct nt_file *file = laying_out->file;
    uint32_t own = range->dataset, column = range->column;
    range->dataset = range->column = NT_NONE;
    for (uint32_t i = 0; own != NT_NONE && i < file->dataset_count; i++) {
        const struct nt_chain_dataset *chain = nt_chain_dataset_of(file->datasets[i]);
        const struct nt_chain_slice *slice = &chain->slices[laying_out->member - nt_chain_of(file)->members];
        if (file->datasets[i]->failure || !is_own(slice, own))
            continue;
        range->dataset = i;
        range->column = column == NT_NONE || slice->failure ? NT_NONE : slice->columns[column];
    }
}

static enum nt_status emit_moved(void *context, const struct nt_layout_range *range)
{
    const struct laying_out *laying_out = context;
    struct nt_layout_range moved = *range;
    moved.source += laying_out->member->first_source;
    find_dataset(laying_out, &moved);
    return laying_out->emit(laying_out->context, &moved);
}

typedef enum nt_status visit_member(const struct nt_chain_member *member, void *context,
                                    struct nt_error *error);

/* A member that opens. A lazy one is open during the call. */
static enum nt_status visit_open(const struct nt_file *file, uint32_t number, visit_member *visit,
                                 void *context, struct nt_error *error)
{
    struct nt_chain *chain = file->format_data;
    struct nt_chain_member *member = &chain->members[number];
    enum nt_status status = NT_OK;
    NT_LOCK_GUARD(&((struct nt_file *)(uintptr_t)file)->lock);
    bool was_open = member->file;
    if (!was_open && member->is_lazy)
        nt_chain_try_member(member, chain);
    if (member->file)
        status = visit(member, context, error);
    if (!was_open && member->file)
        nt_chain_close_member(member);
    return status;
}

/* Are the page lists of a lazily opened member's dataset only in the file? Those of trees are read one by one
 * while it is open. */
static bool has_lists_in_file(const struct nt_dataset *dataset, const struct nt_chain_slice *slice)
{
    return slice->lazy && (dataset->field_groups || slice->member->known->files ||
                           !nt_group_is_loaded(dataset, slice->first_group));
}

/* Visits a member, which opens once for its page lists and for this. */
static enum nt_status visit_once(const struct nt_file *file, uint32_t number, visit_member *visit,
                                 void *context, struct nt_error *error)
{
    const struct nt_chain_slice *held = NULL;
    const struct nt_dataset *holder = NULL;
    enum nt_status status = NT_OK;
    for (uint32_t i = 0; status == NT_OK && i < file->dataset_count; i++) {
        struct nt_dataset *dataset = file->datasets[i];
        const struct nt_chain_slice *slice = dataset->failure ? NULL : nt_chain_slice(dataset, number);
        if (!slice || !has_lists_in_file(dataset, slice))
            continue;
        if (!held && (status = nt_chain_pin_member(dataset, slice, error)) == NT_OK) {
            held = slice;
            holder = dataset;
        }
        status = nt_is_environmental(status) ? status : NT_OK; /* the page lists report others */
        if (status == NT_OK && !dataset->field_groups)
            status = nt_groups_load_readable(
                dataset, (struct nt_groups){slice->first_group, slice->first_group + 1}, error);
    }
    if (status == NT_OK)
        status = visit_open(file, number, visit, context, error);
    if (held)
        nt_chain_unpin_member(holder, held);
    return status;
}

static enum nt_status visit_members(const struct nt_file *file, visit_member *visit, void *context,
                                    struct nt_error *error)
{
    for (uint32_t i = 0; i < nt_chain_of(file)->member_count; i++)
        NT_TRY(visit_once(file, i, visit, context, error));
    return NT_OK;
}

static enum nt_status lay_out_member(const struct nt_chain_member *member, void *context,
                                     struct nt_error *error)
{
    struct laying_out *laying_out = context;
    laying_out->member = member;
    return member->file->layout ? member->file->layout(member->file, emit_moved, laying_out, error) : NT_OK;
}

enum nt_status nt_chain_lay_out(const struct nt_file *file, nt_layout_emit *emit, void *context,
                                struct nt_error *error)
{
    struct laying_out laying_out = {.file = file, .emit = emit, .context = context};
    return visit_members(file, lay_out_member, &laying_out, error);
}

NT_DEFINE_LAST_AT_MOST(last_with_source, struct nt_chain_member, .first_source)

uint32_t nt_chain_layout_part(const struct nt_file *file, uint32_t source)
{
    const struct nt_chain *chain = nt_chain_of(file);
    return last_with_source(chain->members, chain->member_count, source);
}

/* All files of the members that have them. */
enum nt_status nt_chain_lay_out_files(const struct nt_file *file, struct nt_layout_sources sources,
                                      nt_layout_emit *emit, void *context, struct nt_error *error)
{
    struct laying_out laying_out = {.file = file, .emit = emit, .context = context};
    uint32_t end = sources.end > sources.first ? nt_chain_layout_part(file, sources.end - 1) + 1 : 0;
    for (uint32_t i = nt_chain_layout_part(file, sources.first); i < end; i++)
        NT_TRY(visit_once(file, i, lay_out_member, &laying_out, error));
    return NT_OK;
}

struct member_check {
    nt_failure_emit *emit;
    void *context;
};

static enum nt_status check_member(const struct nt_chain_member *member, void *context,
                                   struct nt_error *error)
{
    const struct member_check *check = context;
    return member->file->check ? member->file->check(member->file, check->emit, check->context, error)
                               : NT_OK;
}

enum nt_status nt_chain_check(const struct nt_file *file, nt_failure_emit *emit, void *context,
                              struct nt_error *error)
{
    struct member_check check = {emit, context};
    return visit_members(file, check_member, &check, error);
}

/* ---- Describe a member ---- */

bool nt_is_chain(const struct nt_file *file)
{
    return file->describe == nt_chain_describe_file;
}

const struct nt_chain_slice *nt_chain_slice(const struct nt_dataset *dataset, uint32_t number)
{
    const struct nt_chain_dataset *chain = nt_chain_dataset_of(dataset);
    return number < chain->slice_count ? &chain->slices[number] : NULL;
}

NT_DEFINE_LAST_AT_MOST(last_member, struct nt_chain_member, .number)

uint32_t nt_chain_file_count(const struct nt_file *chain)
{
    return nt_chain_of(chain)->member_count + nt_chain_of(chain)->skipped;
}

/* Searches the omitted members linearly: they are few. */
static const struct nt_chain_member *find_member(const struct nt_chain *chain, uint32_t number)
{
    const struct nt_chain_member *member =
        &chain->members[last_member(chain->members, chain->member_count, number)];
    const struct nt_chain_member *omitted = &chain->members[chain->member_count];
    if (member->number == number)
        return member;
    while (omitted->number != number)
        omitted++;
    return omitted;
}

/* Uses what opening found for an address without a listing. */
static struct stat identity_of(const struct nt_chain_member *member)
{
    struct stat found;
    bool is_asked = member->listed->address && !member->listed->identity.st_mode && member->file;
    return is_asked && nt_source_stat(member->file->source, &found, NULL) == NT_OK ? found
                                                                                   : member->listed->identity;
}

static void write_identity(struct nt_json *json, const struct nt_chain_member *member)
{
    const struct nt_chain_file *listed = member->listed;
    const struct stat identity = identity_of(member);
    nt_json_member_text(json, "file", nt_text_of(listed->path));
    if (S_ISREG(identity.st_mode))
        nt_json_member_unsigned(json, "file_bytes", (uint64_t)identity.st_size);
    else
        nt_json_member_null(json, "file_bytes");
    if (identity.st_mode)
        nt_json_member_time(json, "modified", identity.st_mtime);
    else
        nt_json_member_null(json, "modified");
    if (!listed->sample)
        return;
    nt_json_member_text(json, listed->sample->is_friend ? "friend" : "sample",
                        nt_text_of(listed->sample->name));
    if (listed->sample->is_friend)
        return;
    nt_json_key(json, "metadata");
    nt_json_raw(json, listed->sample->metadata ? listed->sample->metadata : "null");
}

void nt_chain_put_slice_dataset(struct nt_json *json, const struct nt_chain_slice *slice)
{
    struct nt_buffer path = {0};
    const struct nt_dataset *named = slice->lazy ? nt_chain_first_dataset(slice) : slice->dataset;
    const char *meant =
        slice->lazy && slice->member->listed->sample ? slice->member->listed->sample->dataset : "";
    if (*meant) {
        nt_json_member_string(json, "dataset", meant);
    } else if (slice->lazy && slice->lazy->path_in_file) {
        nt_json_member_string(json, "dataset", slice->lazy->path_in_file);
    } else if (named) {
        nt_append_dataset_path(&path, named);
        nt_json_member_buffer(json, "dataset", &path);
    } else {
        nt_json_member_null(json, "dataset");
    }
}

static void write_share(struct nt_json *json, const struct nt_dataset *dataset,
                        const struct nt_chain_slice *slice)
{
    nt_chain_put_slice_dataset(json, slice);
    nt_json_member_unsigned(json, "first_entry", slice->first_entry);
    nt_json_member_unsigned(json, "entries", slice->entries);
    if (dataset->field_groups) { /* each field has clusters of its own */
        nt_json_member_null(json, "first_cluster");
        nt_json_member_null(json, "clusters");
    } else {
        nt_json_member_unsigned(json, "first_cluster", slice->first_cluster);
        nt_json_member_unsigned(json, "clusters", nt_chain_slice_clusters(slice));
    }
    if (slice->failure)
        nt_json_member_text(json, "error", nt_text_of(slice->failure->message));
}

void nt_chain_write_file(const struct nt_dataset *dataset, uint32_t number, struct nt_json *json)
{
    const struct nt_chain *chain = nt_chain_of(dataset->file);
    const struct nt_chain_member *member = find_member(chain, number);
    bool is_omitted = member - chain->members >= chain->member_count;
    nt_lock_acquire(&dataset->file->lock); /* a lazy member may close */
    write_identity(json, member);
    nt_lock_release(&dataset->file->lock);
    nt_json_member_bool(json, "is_left_out", is_omitted);
    if (is_omitted)
        nt_json_member_text(json, "error", nt_text_of(member->failure.message));
    else
        write_share(json, dataset, &nt_chain_dataset_of(dataset)->slices[member - chain->members]);
}
