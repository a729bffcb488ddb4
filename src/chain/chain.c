/* SPDX-License-Identifier: MIT
 *
 * Opens a list of files as a chain. A lazy chain opens only the first member, whose schema answers
 * listings, and opens the others on first use of their data. Members are opened in parallel.
 */
#include "chain/chain.h"

#include "core/base/abi.h"
#include "formats/formats.h"

/* ---- Open the chain ---- */

struct chain_builder {
    struct nt_file *file;
    struct nt_chain *chain;
    bool is_stub; /* of the first member of each series */
    struct nt_error *error;
};

/* ---- Slices ---- */

/* Keeps the error of a slice in place of its entries. Without entries it has no place, and the whole
 * dataset fails: otherwise an index could hide rows. */
static enum nt_status keep_failure(const struct nt_error *failure, struct nt_arena *arena,
                                   struct nt_chain_slice *slice, struct nt_error *error)
{
    return slice->entries ? nt_failure_keep(failure, arena, &slice->failure, error)
                          : nt_fail_copy(error, failure);
}

/* Fills the slice of a member that fails to open, if the index has its entries. The failure becomes
 * permanent, whatever its cause: readers continue without these entries. */
static enum nt_status fill_unopened(const struct nt_dataset *first, struct nt_arena *arena,
                                    struct nt_chain_slice *slice, struct nt_error *error)
{
    const struct nt_indexed_dataset *known = nt_chain_indexed_dataset(slice->member, first);
    struct nt_error failure = slice->member->failure;
    if (!known)
        return nt_fail_copy(error, &failure);
    slice->entries = known->entries;
    if (slice->entries && nt_is_environmental(failure.status))
        failure.status = NT_CORRUPT;
    return keep_failure(&failure, arena, slice, error);
}

/* Readers may know the entries from the index already, so the member must have exactly as many. */
static enum nt_status count_share(const struct nt_dataset *first, struct nt_chain_slice *slice,
                                  struct nt_error *failure)
{
    const struct nt_indexed_dataset *known = nt_chain_indexed_dataset(slice->member, first);
    slice->entries = known ? known->entries : slice->dataset->entries;
    if (slice->entries == slice->dataset->entries)
        return NT_OK;
    return nt_with_context(nt_fail_number(failure, NT_CORRUPT, NT_NO_OFFSET, "entries according to the index",
                                          slice->entries, slice->dataset->entries),
                           failure, "%s", slice->member->path);
}

/* Attribute sets describe the entries of one file, and older cycles differ between files. */
static bool is_chained(const struct nt_dataset *dataset)
{
    return dataset->attribute_of == NT_NONE && dataset->is_newest_cycle && !dataset->failure;
}

/* Has the member one of the datasets that the first member has? */
static bool has_dataset(const struct nt_file *first, const struct nt_chain_member *member)
{
    enum nt_status status = NT_OK;
    for (uint32_t i = 0; i < first->dataset_count; i++) {
        struct nt_error failure = {0};
        struct nt_dataset *found;
        if (!is_chained(first->datasets[i]))
            continue;
        status = nt_chain_match_dataset(first->datasets[i], member, &found, &failure);
        if (status != NT_INCOMPATIBLE)
            return true;
    }
    return status == NT_OK;
}

static bool is_of_friend(const struct nt_chain_member *member)
{
    return nt_chain_friend_of(member->listed->sample) != NULL;
}

/* Like nt_chain_match_dataset. The message says whether an option accepts a file without the dataset. */
static enum nt_status match_dataset(const struct chain_builder *builder, const struct nt_dataset *first,
                                    const struct nt_chain_member *member, struct nt_dataset **dataset_ret)
{
    struct nt_error failure = {0};
    if (nt_chain_match_dataset(first, member, dataset_ret, &failure) == NT_OK)
        return NT_OK;
    bool can_skip = failure.status == NT_INCOMPATIBLE && !builder->chain->options.skip_failed &&
                    !is_of_friend(member) && !has_dataset(first->file, member);
    return can_skip ? nt_fail(builder->error, failure.status, failure.offset,
                              "%s; the option missing=skip accepts more files", failure.message)
                    : nt_fail_copy(builder->error, &failure);
}

static enum nt_status fill_share(const struct chain_builder *builder, const struct nt_dataset *first,
                                 struct nt_arena *arena, struct nt_chain_slice *slice)
{
    const struct nt_chain_member *member = slice->member;
    struct nt_error failure = {0};
    if (member->is_lazy && (slice->lazy = nt_chain_indexed_dataset(member, first))) {
        slice->entries = slice->lazy->entries;
        return NT_OK;
    }
    if (!member->file)
        return fill_unopened(first, arena, slice, builder->error);
    enum nt_status status = match_dataset(builder, first, member, &slice->dataset);
    if (status == NT_OK)
        status = count_share(first, slice, &failure);
    if (status == NT_OK && builder->chain->options.rule != NT_CHAIN_UNION) {
        slice->fields = nt_arena_alloc(arena, (size_t)first->field_count + 1, sizeof(*slice->fields));
        NT_TRY(nt_check_memory(slice->fields, builder->error));
        status = nt_chain_match_fields(first, slice->dataset, slice->fields, &failure);
    }
    if (failure.status && builder->chain->options.rule == NT_CHAIN_FAIL)
        return keep_failure(&failure, arena, slice, builder->error);
    if (failure.status)
        return nt_fail_copy(builder->error, &failure);
    if (status != NT_OK && !nt_message_about(builder->error->message, member->path))
        nt_error_context(builder->error, "%s", member->path);
    return status;
}

/* ---- Datasets ---- */

static void copy_texts(struct nt_dataset *dataset, const struct nt_dataset *first)
{
    dataset->name = first->name;
    dataset->title = first->title;
    dataset->description = first->description;
    dataset->writer = first->writer;
    dataset->format = first->format;
    dataset->version = first->version;
    dataset->generation = first->generation;
    dataset->generation_reason = first->generation_reason;
    dataset->parts_are_clusters = first->parts_are_clusters;
    dataset->notes = first->notes;
    dataset->note_count = first->note_count;
    dataset->is_ordered = first->is_ordered;
}

static enum nt_status count_entries(struct nt_chain_series *series, uint64_t *entries_ret,
                                    struct nt_error *error)
{
    *entries_ret = 0;
    for (uint32_t i = 0; i < series->slice_count; i++) {
        series->slices[i].first_entry = *entries_ret;
        if (!nt_checked_add(*entries_ret, series->slices[i].entries, entries_ret) || *entries_ret > INT64_MAX)
            return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the chain has more than 2^63 - 1 entries");
    }
    return NT_OK;
}

/* `first`: the dataset of the first member. */
static enum nt_status fill_series(const struct chain_builder *builder, struct nt_dataset *dataset,
                                  struct nt_dataset *first, struct nt_chain_series *series,
                                  uint64_t *entries_ret)
{
    struct nt_error *error = builder->error;
    for (uint32_t i = 0; i < series->slice_count; i++)
        NT_TRY(fill_share(builder, first, dataset->arena, &series->slices[i]));
    NT_TRY(builder->chain->options.rule == NT_CHAIN_UNION
               ? nt_chain_union_fields(dataset, series, error)
               : nt_chain_copy_fields(series->slices[0].dataset, dataset->arena, &series->fields, error));
    return count_entries(series, entries_ret, error);
}

/* The entries of a friend belong to those of the samples, one to one. */
static enum nt_status fill_friend(const struct chain_builder *builder, struct nt_dataset *dataset,
                                  struct nt_chain_series *series)
{
    const struct nt_chain_member *member = series->slices[0].member;
    struct nt_dataset *first;
    uint64_t entries;
    enum nt_status status =
        nt_file_find(member->file, member->listed->sample->dataset, &first, builder->error);
    nt_with_context(status, builder->error, "%s", member->path);
    if (status == NT_OK)
        status = fill_series(builder, dataset, first, series, &entries);
    nt_with_context(status, builder->error, "friend \"%s\"", series->friend);
    return status == NT_OK && !builder->is_stub
               ? nt_chain_check_friend(series->friend, dataset->entries, entries, builder->error)
               : status;
}

static enum nt_status fill_dataset(const struct chain_builder *builder, struct nt_dataset *dataset,
                                   struct nt_dataset *first)
{
    struct nt_error *error = builder->error;
    struct nt_chain_member *members = builder->chain->members;
    uint32_t count = builder->chain->member_count;
    struct nt_chain_dataset *chain = nt_arena_alloc(dataset->arena, 1, sizeof(*chain));
    dataset->format_data = chain;
    if (!chain || !(chain->slices = nt_arena_alloc(dataset->arena, count, sizeof(*chain->slices))))
        return nt_fail_memory(error);
    dataset->is_concatenated = true;
    dataset->ops = &nt_chain_dataset_ops;
    copy_texts(dataset, first);
    for (uint32_t i = 0; i < count; i = nt_chain_next_member(builder->chain, i, builder->is_stub))
        chain->slices[chain->slice_count++].member = &members[i];
    NT_TRY(nt_chain_divide(dataset, error));
    NT_TRY(fill_series(builder, dataset, first, &chain->series[0], &dataset->entries));
    for (uint32_t i = 1; i < chain->series_count; i++)
        NT_TRY(fill_friend(builder, dataset, &chain->series[i]));
    NT_TRY(nt_chain_join_fields(dataset, error));
    NT_TRY(nt_chain_add_sources(dataset, error));
    NT_TRY(nt_chain_build_columns(dataset, error));
    return nt_chain_build_groups(dataset, error);
}

static enum nt_status add_dataset(const struct chain_builder *builder, struct nt_dataset *first)
{
    struct nt_dataset *dataset;
    struct nt_error failure = {0};
    NT_TRY(nt_file_add_dataset(builder->file, &dataset, builder->error));
    dataset->directory = first->directory;
    dataset->is_secondary = first->is_secondary;
    struct chain_builder inner = *builder;
    inner.error = &failure;
    enum nt_status status = fill_dataset(&inner, dataset, first);
    return status == NT_OK ? NT_OK : nt_dataset_set_failure(dataset, &failure, builder->error);
}

/* ---- The file ---- */

static enum nt_status add_directories(const struct chain_builder *builder, const struct nt_file *first)
{
    for (uint32_t i = 1; i < first->directory_count; i++)
        if (nt_file_add_directory(builder->file, first->directories[i].parent, first->directories[i].name) ==
            NT_NONE)
            return nt_fail_memory(builder->error);
    return NT_OK;
}

/* The chain allows pages as large as its members do. */
static void widen(const struct chain_builder *builder)
{
    struct nt_file *file = builder->file;
    for (uint32_t i = 0; i < builder->chain->member_count; i++) {
        const struct nt_file *own = builder->chain->members[i].file;
        if (!own)
            continue;
        file->is_size_unverified |= own->is_size_unverified;
        if (own->page_bytes > file->page_bytes)
            file->page_bytes = own->page_bytes;
    }
}

/* Adds all datasets that can be chained, or only the one that a specification selects. */
static enum nt_status add_datasets(const struct chain_builder *builder, const struct nt_chain_member *first)
{
    if (first->listed->sample) {
        struct nt_dataset *meant;
        NT_TRY(nt_file_find(first->file, first->listed->sample->dataset, &meant, builder->error));
        return add_dataset(builder, meant);
    }
    for (uint32_t i = 0; i < first->file->dataset_count; i++)
        if (is_chained(first->file->datasets[i]))
            NT_TRY(add_dataset(builder, first->file->datasets[i]));
    return NT_OK;
}

static enum nt_status fill_file(const struct chain_builder *builder)
{
    struct nt_file *file = builder->file;
    const struct nt_chain_member *member = &builder->chain->members[0];
    const struct nt_file *first = member->file;
    file->format = first->format;
    file->describe = nt_chain_describe_file;
    file->layout = nt_chain_lay_out;
    file->layout_of = nt_chain_lay_out_files;
    file->layout_part = nt_chain_layout_part;
    file->check = nt_chain_check;
    widen(builder);
    NT_TRY(nt_chain_number_sources(file, builder->is_stub, builder->error));
    NT_TRY(add_directories(builder, first));
    return add_datasets(builder, member);
}

static void free_owned(struct nt_chain_owned *owned)
{
    nt_chain_list_free(owned->list);
    nt_fetcher_free(owned->fetcher);
    nt_chain_index_free(owned->index);
    free(owned->index_path);
}

static void chain_unref(struct nt_chain *chain)
{
    if (chain->holders && --chain->holders)
        return;
    for (uint32_t i = 0; i < chain->member_count + chain->skipped; i++) {
        nt_chain_close_member(&chain->members[i]);
        nt_source_close(chain->members[i].source);
    }
    nt_source_pool_free(chain->pool);
    free_owned(&chain->owned);
    nt_arena_free(chain->notes);
    nt_lock_deinit(&chain->notes_lock);
    if (chain->total)
        nt_budget_deinit(chain->total);
    free(chain->total);
    free(chain->members);
    free(chain);
}

static void close_chain(struct nt_file *file)
{
    chain_unref(file->format_data);
}

static enum nt_status new_file(struct nt_chain *chain, const char *name, struct nt_file **file_ret,
                               struct nt_error *error)
{
    struct nt_limits limits = nt_open_limits(&chain->open);
    struct nt_source *source;
    if (chain->total) /* the total limits it, and its members have limits of their own */
        limits.metadata_bytes = UINT64_MAX;
    NT_TRY(nt_chain_source_new(name, chain->members[0].file->source, &source, error));
    enum nt_status status = nt_file_new(name, source, &limits, file_ret, error);
    if (status != NT_OK) {
        nt_source_close(source);
        return status;
    }
    (*file_ret)->budget.total = chain->total;
    chain->holders++;
    (*file_ret)->format_data = chain;
    (*file_ret)->close = close_chain;
    return NT_OK;
}

/* Builds a file from all members of a chain, or its stub. */
static enum nt_status make_file(struct nt_chain *chain, bool is_stub, const char *name,
                                struct nt_file **file_ret, struct nt_error *error)
{
    struct nt_file *file;
    NT_TRY(new_file(chain, name, &file, error));
    const struct chain_builder builder = {file, chain, is_stub, error};
    enum nt_status status = fill_file(&builder);
    if (status == NT_OK)
        *file_ret = file;
    else
        nt_file_close(file);
    return status;
}

/* ---- Members ---- */

/* Files without a dataset of the chain are like files that are missing. */
static void close_members_without_dataset(const struct nt_chain *chain)
{
    const struct nt_file *first = NULL;
    for (uint32_t i = 0; i < chain->member_count; i++) {
        struct nt_chain_member *member = &chain->members[i];
        if (nt_chain_begins_series(chain, i))
            first = NULL;
        if (first && member->file && !member->known && !has_dataset(first, member)) {
            nt_fail(&member->failure, NT_INCOMPATIBLE, NT_NO_OFFSET, "%s: has no dataset of the chain",
                    member->path);
            nt_chain_close_member(member);
        }
        first = first ? first : member->file;
    }
}

/* Says how many of the files that were tried cannot be used, and why the first cannot. */
static enum nt_status refuse_files(const struct nt_chain *chain, uint32_t failed, uint32_t tried,
                                   const struct nt_error *first, const char *advice, struct nt_error *error)
{
    if (chain->member_count + chain->skipped == 1)
        return nt_fail_copy(error, first);
    nt_fail(error, first->status, NT_NO_OFFSET, "%" PRIu32 " of %s%" PRIu32 " files cannot be used%s: %s%s",
            failed, tried < chain->member_count + chain->skipped ? "the first " : "", tried,
            failed > 1 ? "; the first" : "", first->message, advice);
    if (error)
        error->system_error = first->system_error;
    return first->status;
}

/* Does missing=skip accept the member's failure? If a server refuses access (401, 403), the file may be
 * there: the chain must not omit it. */
static bool is_skippable(const struct nt_chain_member *member)
{
    return !is_of_friend(member) && !(member->listed->address && member->failure.status == NT_IO);
}

/* Is the member's failure one that its series cannot do without? Members after the first of a series with
 * known entries can fail: only reads of their rows do. */
static bool has_failed(const struct nt_chain *chain, uint32_t number)
{
    const struct nt_chain_member *member = &chain->members[number];
    return !member->file && member->failure.status != NT_OK &&
           (!member->known || nt_chain_begins_series(chain, number));
}

static enum nt_status refuse_failed(const struct nt_chain *chain, struct nt_error *error)
{
    const struct nt_chain_member *first = NULL;
    uint32_t failed = 0, tried = 0;
    bool can_skip = false;
    for (uint32_t i = 0; i < chain->member_count; i++) {
        const struct nt_chain_member *member = &chain->members[i];
        tried += member->file || member->is_lazy || member->failure.status != NT_OK;
        if (!has_failed(chain, i) || (chain->options.skip_failed && is_skippable(member)))
            continue;
        first = failed++ ? first : member;
        can_skip |= is_skippable(member);
    }
    return first ? refuse_files(chain, failed, tried, &first->failure,
                                can_skip ? "; the option missing=skip accepts more files" : "", error)
                 : NT_OK;
}

/* Says how many members are omitted, and why the first is. */
static enum nt_status fail_skipped(const struct nt_chain *chain, struct nt_error *error)
{
    const struct nt_error *first = &chain->members[chain->member_count].failure;
    return nt_with_context(nt_fail_copy(error, first), error, "%" PRIu32 " of %" PRIu32 " files %s skipped%s",
                           chain->skipped, chain->member_count + chain->skipped,
                           chain->skipped > 1 ? "are" : "is", chain->skipped > 1 ? "; the first" : "");
}

static void report_skipped(const struct nt_chain *chain)
{
    struct nt_error why;
    if (!chain->options.on_skipped)
        return;
    fail_skipped(chain, &why);
    chain->options.on_skipped(chain->options.context, &why);
}

enum nt_status nt_file_check_skipped(const struct nt_file *file, struct nt_error *error)
{
    return nt_is_chain(file) && nt_chain_of(file)->skipped ? fail_skipped(nt_chain_of(file), error) : NT_OK;
}

/* Omits or refuses members that fail to open. The order of the others does not change. A friend cannot omit
 * any. */
static enum nt_status omit_failed_members(struct nt_chain *chain, struct nt_error *error)
{
    uint32_t kept = 0, failed_count = 0;
    struct nt_chain_member *members = chain->members;
    if (chain->options.skip_failed)
        close_members_without_dataset(chain);
    NT_TRY(refuse_failed(chain, error));
    NT_AUTO_FREE struct nt_chain_member *failed = calloc(chain->member_count, sizeof(*failed));
    NT_TRY(nt_check_memory(failed, error));
    for (uint32_t i = 0; i < chain->member_count; i++)
        *(has_failed(chain, i) ? &failed[failed_count++] : &members[kept++]) = members[i];
    memcpy(members + kept, failed, failed_count * sizeof(*failed));
    chain->member_count = kept;
    chain->skipped += failed_count;
    if (!kept || is_of_friend(&members[0]))
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET,
                       "none of its %" PRIu32 " files can be opened; the first: %s", failed_count,
                       members[kept].failure.message);
    if (failed_count)
        report_skipped(chain);
    return NT_OK;
}

/* Opens members [first, end); if the last of them is omitted, also its successors until one opens. */
static enum nt_status open_required(struct nt_chain *chain, uint32_t first, uint32_t end,
                                    const struct nt_file *stub, struct nt_error *error)
{
    NT_TRY(nt_chain_members_open(chain, first, end, stub, error));
    for (; chain->options.skip_failed && !chain->members[end - 1].file && !chain->members[end - 1].is_lazy &&
           end < nt_chain_series_end(chain, first);
         end++)
        NT_TRY(nt_chain_members_open(chain, end, end + 1, stub, error));
    return omit_failed_members(chain, error);
}

/* Opens all members but those that can wait, and makes the whole file of a stub. */
static enum nt_status open_others(const struct nt_file *stub, struct nt_file **file_ret,
                                  struct nt_error *error)
{
    struct nt_chain *chain = stub->format_data;
    nt_chain_find_lazy(stub);
    NT_TRY(open_required(chain, 0, chain->member_count, stub, error));
    return make_file(chain, false, stub->path, file_ret, error);
}

/* ---- Try the members ---- */

struct trial {
    const struct nt_chain *chain;
    const struct nt_file *stub;
    uint64_t deadline;     /* in nt_nanoseconds() */
    uint64_t *entries;     /* [member]: of its last dataset; with friends there is only one */
    pthread_mutex_t mutex; /* for what follows */
    uint32_t tried, failed;
    bool can_skip, can_unite; /* which options accept a file that failed */
    uint32_t number;          /* in the list, of the member with this failure */
    struct nt_error failure;
};

/* Compares the datasets of an open member (a copy, with its number in the chain) with those of the first
 * member of its series. */
static enum nt_status compare_datasets(const struct trial *trial, uint32_t number,
                                       const struct nt_chain_member *member, bool *can_unite_ret,
                                       struct nt_error *error)
{
    const struct nt_file *stub = trial->stub;
    for (uint32_t i = 0; i < stub->dataset_count; i++) {
        if (stub->datasets[i]->failure)
            continue;
        struct nt_dataset *first =
                              nt_chain_slice_of(stub->datasets[i], &trial->chain->members[number])->dataset,
                          *other;
        NT_AUTO_FREE uint32_t *fields = calloc((size_t)first->field_count + 1, sizeof(*fields));
        NT_TRY(nt_check_memory(fields, error));
        NT_TRY(nt_chain_match_dataset(first, member, &other, error));
        trial->entries[number] = other->entries;
        enum nt_status status = nt_chain_match_fields(first, other, fields, error);
        *can_unite_ret = status != NT_OK;
        NT_TRY(status);
    }
    return NT_OK;
}

static void add_result(struct trial *trial, const struct nt_chain_member *member, bool can_unite)
{
    NT_MUTEX_GUARD(&trial->mutex);
    bool has_failed = member->failure.status != NT_OK;
    if (has_failed && (trial->failed == 0 || member->number < trial->number)) {
        trial->number = member->number;
        trial->failure = member->failure;
    }
    trial->tried++;
    trial->failed += has_failed;
    trial->can_unite |= can_unite;
    trial->can_skip |= has_failed && !can_unite && !trial->chain->options.skip_failed && is_skippable(member);
}

/* Keeps nothing open, so that a later use finds the members as they are then. */
static void try_one(void *context, uint32_t number)
{
    struct trial *trial = context;
    if (nt_nanoseconds() > trial->deadline)
        return;
    struct nt_chain_member member = trial->chain->members[number];
    bool can_unite = false, is_open = nt_chain_begins_series(trial->chain, number);
    if (!is_open)
        nt_chain_try_member(&member, trial->chain);
    if (member.file && compare_datasets(trial, number, &member, &can_unite, &member.failure) != NT_OK &&
        !nt_message_about(member.failure.message, member.path))
        nt_error_context(&member.failure, "%s", member.path);
    if (!is_open)
        nt_file_close(member.file);
    add_result(trial, &member, can_unite);
}

/* Trying would cost a request for each remote file, and an index exists to avoid opening files. */
static bool can_be_tried(const struct nt_file *file)
{
    const struct nt_chain *chain = file->format_data;
    if (!file->resolve || chain->options.index)
        return false;
    for (uint32_t i = 0; i < chain->member_count; i++)
        if (chain->members[i].listed->address)
            return false;
    return true;
}

/* Have friends as many entries as the samples? */
static enum nt_status check_friends(const struct trial *trial, struct nt_error *error)
{
    const struct nt_chain *chain = trial->chain;
    uint64_t expected = 0;
    for (uint32_t i = 0, end; i < chain->member_count; i = end) {
        uint64_t found = 0;
        end = nt_chain_series_end(chain, i);
        for (uint32_t k = i; k < end; k++)
            if (!nt_checked_add(found, trial->entries[k], &found))
                return NT_OK; /* the whole chain reports it */
        expected = i ? expected : found;
        if (i)
            NT_TRY(nt_chain_check_friend(chain->members[i].listed->sample->name, expected, found, error));
    }
    return NT_OK;
}

enum nt_status nt_chain_check_members(const struct nt_file *file, struct nt_error *error)
{
    if (!can_be_tried(file))
        return NT_OK;
    const struct nt_chain *chain = file->format_data;
    NT_AUTO_FREE uint64_t *entries = calloc(chain->member_count, sizeof(*entries));
    struct trial trial = {.chain = chain,
                          .stub = file,
                          .deadline = nt_nanoseconds() + NT_SECOND,
                          .entries = entries,
                          .mutex = PTHREAD_MUTEX_INITIALIZER};
    NT_TRY(nt_check_memory(entries, error));
    for (uint32_t i = 0; i < chain->skipped; i++) /* when the first was opened */
        add_result(&trial, &chain->members[chain->member_count + i], false);
    nt_chain_work_together(chain, 0, chain->member_count, try_one, &trial);
    pthread_mutex_destroy(&trial.mutex);
    if (trial.failed == 0)
        return trial.tried == chain->member_count ? check_friends(&trial, error) : NT_OK;
    const char *advice = trial.can_skip ? "; -o missing=skip accepts more files" : "";
    if (trial.can_unite)
        advice = trial.can_skip ? "; -o missing=skip and -o chain=union accept more files"
                                : "; -o chain=union accepts more files";
    return refuse_files(chain, trial.failed, trial.tried, &trial.failure, advice, error);
}

/* ---- Complete a stub ---- */

/* Reports schema drift now, not when a read reaches the rows. */
static void report_failures(const struct nt_file *file)
{
    for (uint32_t i = 0; i < file->dataset_count; i++) {
        struct nt_dataset *dataset = file->datasets[i];
        const struct nt_chain_dataset *chain = nt_chain_dataset_of(dataset);
        for (uint32_t k = 0; !dataset->failure && k < chain->slice_count; k++)
            nt_chain_report_failure(dataset, &chain->slices[k]);
    }
}

static enum nt_status complete(struct nt_file *stub, struct nt_file **file_ret, struct nt_error *error)
{
    NT_TRY(open_others(stub, file_ret, error));
    nt_file_set_stub(*file_ret, stub);
    report_failures(*file_ret);
    nt_chain_save_index(*file_ret);
    return NT_OK;
}

/* Each member has its own limit, and a chain may have any number of members. */
static bool add_total(struct nt_chain *chain)
{
    if (chain->open.metadata_bytes)
        return true;
    chain->total = calloc(1, sizeof(*chain->total));
    if (chain->total)
        nt_budget_init(chain->total, nt_metadata_ceiling(), 0);
    return chain->total;
}

static enum nt_status new_chain(const struct nt_chain_list *list,
                                const struct nt_chain_options *chain_options,
                                const struct nt_open_options *options, struct nt_chain **chain_ret,
                                struct nt_error *error)
{
    struct nt_chain *chain = calloc(1, sizeof(*chain));
    if (!chain || nt_lock_init(&chain->notes_lock, NULL)) {
        free(chain);
        return nt_fail_memory(error);
    }
    chain->members = calloc(list->count, sizeof(*chain->members));
    chain->pool = nt_chain_pool_new();
    chain->open = *options;
    chain->options = *chain_options;
    if (!chain->members || !chain->pool || !add_total(chain)) {
        chain_unref(chain);
        return nt_fail_memory(error);
    }
    chain->member_count = list->count;
    for (uint32_t i = 0; i < list->count; i++)
        chain->members[i] =
            (struct nt_chain_member){.path = list->files[i].path, .listed = &list->files[i], .number = i};
    *chain_ret = chain;
    return NT_OK;
}

/* As in any file, one dataset that opens is enough. Datasets of a completed stub report failures. */
static enum nt_status find_failure(const struct nt_file *file, struct nt_error *error)
{
    for (uint32_t i = 0; i < file->dataset_count; i++)
        if (!file->datasets[i]->failure)
            return NT_OK;
    if (file->dataset_count)
        return nt_fail_copy(error, file->datasets[0]->failure);
    return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "%s: has no dataset that can be opened", file->path);
}

/* Opens what a stub needs: the first member of each series, which has all fields. */
static enum nt_status open_first(struct nt_chain *chain, struct nt_error *error)
{
    for (uint32_t i = 0; i < chain->member_count; i = nt_chain_series_end(chain, i))
        NT_TRY(open_required(chain, i, i + 1, NULL, error));
    return NT_OK;
}

static bool has_others(const struct nt_chain *chain)
{
    uint32_t next = 0;
    while (next < chain->member_count && nt_chain_begins_series(chain, next))
        next++;
    return next < chain->member_count;
}

/* Makes the file of a chain, or a stub of it, if it has more files than the first of each series. */
static enum nt_status open_stub(struct nt_chain *chain, const char *name, bool *is_stub_ret,
                                struct nt_file **file_ret, struct nt_error *error)
{
    bool is_union = chain->options.rule == NT_CHAIN_UNION; /* it compares all schemas */
    enum nt_status status =
        is_union ? open_required(chain, 0, chain->member_count, NULL, error) : open_first(chain, error);
    *is_stub_ret = !is_union && has_others(chain);
    return status == NT_OK ? make_file(chain, *is_stub_ret, name, file_ret, error) : status;
}

/* Replaces a stub by its whole file. */
static enum nt_status complete_now(struct nt_file **file, struct nt_error *error)
{
    NT_CLEANUP(nt_file_close_at) struct nt_file *stub = *file;
    return open_others(stub, file, error);
}

/* Learns what is not known of a few files. */
static enum nt_status let_resolve(struct nt_file *stub, struct nt_error *error)
{
    stub->resolve = complete;
    bool is_known_now = nt_chain_members_open_unknown(stub);
    NT_TRY(nt_chain_set_stub_entries(stub, error));
    if (is_known_now)
        nt_chain_save_index(stub);
    return NT_OK;
}

enum nt_status nt_chain_open(const struct nt_chain_list *list, const struct nt_chain_options *chain_options,
                             const struct nt_open_options *options, struct nt_file **file_ret,
                             struct nt_error *error)
{
    struct nt_chain *chain = NULL;
    NT_TRY(new_chain(list, chain_options, options, &chain, error));
    bool is_lazy = chain_options->is_lazy && chain_options->rule == NT_CHAIN_FAIL, is_stub;
    chain->holders++; /* until the file holds it */
    if (chain_options->rule == NT_CHAIN_FAIL)
        nt_chain_match_index(chain);
    enum nt_status status = open_stub(chain, list->name, &is_stub, file_ret, error);
    chain_unref(chain);
    if (status == NT_OK && is_stub && !is_lazy)
        status = complete_now(file_ret, error);
    NT_TRY(status);
    status = find_failure(*file_ret, error);
    if (status == NT_OK && is_stub && is_lazy)
        status = let_resolve(*file_ret, error);
    else if (status == NT_OK)
        nt_chain_save_index(*file_ret);
    if (status != NT_OK)
        nt_file_close(*file_ret);
    return status;
}

/* ---- Open a chain for the library ---- */

static void save_index(void *path, const struct nt_buffer *text)
{
    nt_chain_index_write(path, text);
}

static enum nt_status take_index(const char *path, struct nt_chain_owned *owned,
                                 struct nt_chain_options *chain, struct nt_error *error)
{
    owned->index_path = strdup(path);
    NT_TRY(nt_check_memory(owned->index_path, error));
    NT_TRY(nt_chain_index_read(path, &owned->index, error));
    chain->is_lazy = chain->rule == NT_CHAIN_FAIL;
    chain->index = owned->index;
    chain->save_index = save_index;
    chain->context = owned->index_path;
    return NT_OK;
}

/* Callers see the entries of a stub, so all must be known. */
static enum nt_status count_stub_entries(struct nt_file *stub, struct nt_error *error)
{
    struct nt_file *resolved;
    for (uint32_t i = 0; i < stub->dataset_count; i++) {
        struct nt_dataset *dataset = stub->datasets[i];
        if (dataset->failure || dataset->knows_all_entries)
            continue;
        NT_TRY(nt_file_resolve(stub, &resolved, error));
        dataset->entries = resolved->datasets[i]->entries;
        dataset->failure = resolved->datasets[i]->failure;
    }
    return NT_OK;
}

static enum nt_status open_list(const char *const *names, size_t count, struct nt_open_options *options,
                                const struct nt_chain_options *chain, struct nt_chain_owned *owned,
                                struct nt_file **file_ret, struct nt_error *error)
{
    NT_TRY(nt_chain_list_new(names, count, chain->skip_failed, &owned->list, error));
    if (owned->list->address && !options->fetcher) {
        NT_TRY(nt_fetcher_new(NULL, &owned->fetcher, error));
        options->fetcher = owned->fetcher;
    }
    NT_TRY(nt_chain_list_expand_remote(owned->list, options->fetcher, error));
    return nt_chain_open(owned->list, chain, options, file_ret, error);
}

enum nt_status nt_file_open_chain(const char *const *names, size_t count,
                                  const struct nt_open_options *options, unsigned flags,
                                  struct nt_file **file_ret, struct nt_error *error)
{
    struct nt_open_options known;
    /* Moves to the chain, which does not exist until the file is open. */
    NT_CLEANUP(free_owned) struct nt_chain_owned owned = {0};
    struct nt_file *file;
    struct nt_chain_options chain = {.rule = flags & NT_CHAIN_UNION_FIELDS ? NT_CHAIN_UNION : NT_CHAIN_CHECK,
                                     .skip_failed = flags & NT_CHAIN_SKIP_FAILED};
    NT_TRY(nt_copy_struct(options, &known, sizeof(known), "nt_open_options", error));
    if (flags & ~(unsigned)(NT_CHAIN_UNION_FIELDS | NT_CHAIN_SKIP_FAILED))
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "unknown flags of a chain: 0x%x", flags);
    if (count == 0)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "a chain needs at least one file");
    if (known.index) {
        chain.rule = chain.rule == NT_CHAIN_CHECK ? NT_CHAIN_FAIL : chain.rule;
        NT_TRY(take_index(known.index, &owned, &chain, error));
    }
    NT_TRY(open_list(names, count, &known, &chain, &owned, &file, error));
    struct nt_chain *opened = file->format_data;
    opened->owned = owned;
    owned = (struct nt_chain_owned){0};
    enum nt_status status = count_stub_entries(file, error);
    if (status == NT_OK)
        *file_ret = file;
    else
        nt_file_close(file);
    return status;
}
