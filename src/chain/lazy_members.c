/* SPDX-License-Identifier: MIT
 *
 * Members of a chain that have the schema of the first one, and whose clusters are known: from the index, or
 * because they were open before. Each opens when its rows are read.
 */
#include "chain/chain.h"

#include <stdio.h>

/* ---- Digest of a schema ---- */

static void put_number(struct nt_buffer *out, uint64_t number)
{
    nt_buffer_append(out, &number, sizeof(number));
}

static void put_text(struct nt_buffer *out, const char *bytes, size_t length)
{
    put_number(out, length);
    nt_buffer_append(out, bytes, length);
}

static void put_field(struct nt_buffer *out, const struct nt_field *field)
{
    const uint64_t numbers[] = {
        field->parent,     field->kind,          field->role,        field->columns_per_representation,
        field->repetition, field->owns_columns,  field->is_nullable, field->dimension_count,
        field->is_map,     field->dtype.element, field->dtype.bytes, nt_field_source(field)};
    put_text(out, field->name.bytes, field->name.length);
    put_text(out, field->type.bytes, field->type.length);
    nt_buffer_append(out, numbers, sizeof(numbers));
    for (uint32_t i = 0; i < field->dimension_count; i++)
        put_number(out, field->dimensions[i]);
}

static void put_column(struct nt_buffer *out, const struct nt_column *column)
{
    const uint64_t numbers[] = {column->field, column->representation, column->position,
                                column->dtype.element, column->dtype.bytes};
    const char *type = column->type_name ? column->type_name : "";
    put_text(out, type, strlen(type));
    nt_buffer_append(out, numbers, sizeof(numbers));
}

/* Are its fields, its columns, the entries of its clusters and the number of its files all that a chain needs
 * before it opens? */
static bool is_plain(const struct nt_dataset *dataset)
{
    bool is_plain =
        !dataset->failure && !dataset->column_group_count && !dataset->sources[0]->is_object_store;
    if (!dataset->field_groups)
        is_plain &= !dataset->has_sharded_clusters && !nt_dataset_has_physical(dataset);
    for (uint32_t i = 0; is_plain && i < dataset->column_count; i++)
        is_plain = !nt_column_is_deferred(&dataset->columns[i]);
    return is_plain;
}

bool nt_chain_schema_digest(const struct nt_dataset *dataset, char hex[NT_SCHEMA_DIGEST + 1])
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer text = {0};
    if (!is_plain(dataset))
        return false;
    put_text(&text, dataset->format, strlen(dataset->format));
    for (uint32_t i = 0; i < dataset->field_count; i++)
        put_field(&text, &dataset->fields[i]);
    for (uint32_t i = 0; i < dataset->column_count; i++)
        put_column(&text, &dataset->columns[i]);
    if (dataset->source_count > 1 && !dataset->file->layout_sources)
        put_number(&text, dataset->source_count);
    bool is_whole = !text.failed;
    if (is_whole)
        snprintf(hex, NT_SCHEMA_DIGEST + 1, "%016" PRIx64, nt_xxh3(text.bytes, text.length));
    return is_whole;
}

/* ---- Which members are lazy ---- */

/* One without entries has no rows whose reads would check what the index says. */
static bool can_be_lazy(const struct nt_chain_member *member, const struct nt_file *stub)
{
    bool can_be_lazy = member->known;
    for (uint32_t i = 0; can_be_lazy && i < stub->dataset_count; i++) {
        if (stub->datasets[i]->failure)
            continue;
        const struct nt_chain_slice *first = nt_chain_slice_of(stub->datasets[i], member);
        const struct nt_indexed_dataset *known = nt_chain_indexed_dataset(member, first->dataset);
        can_be_lazy = known && known->schema && known->cluster_entries && known->entries &&
                      first->series->schema[0] && strcmp(known->schema, first->series->schema) == 0 &&
                      !first->series->slices[0].member->file->layout_sources == !member->known->files;
    }
    return can_be_lazy;
}

void nt_chain_find_lazy(const struct nt_file *stub)
{
    struct nt_chain *chain = stub->format_data;
    for (uint32_t i = 0; i < chain->member_count; i++)
        chain->members[i].is_lazy = !chain->members[i].file && can_be_lazy(&chain->members[i], stub);
}

void nt_chain_load_lists(const struct nt_chain_member *member)
{
    char schema[NT_SCHEMA_DIGEST + 1];
    for (uint32_t k = 0; member->file && k < member->file->dataset_count; k++)
        if (!member->file->datasets[k]->field_groups &&
            nt_chain_schema_digest(member->file->datasets[k], schema))
            (void)!nt_dataset_load_readable(member->file->datasets[k], NULL);
}

void nt_chain_try_evict(const struct nt_file *stub, struct nt_chain_member *member)
{
    enum { KEPT_BYTES = 64 << 20 };
    struct nt_chain *chain = stub->format_data;
    const struct nt_indexed_file *known = member->known;
    uint64_t bytes = atomic_load_explicit(&member->file->budget.used, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&chain->kept_bytes, bytes, memory_order_relaxed) + bytes <= KEPT_BYTES)
        return;
    nt_chain_load_lists(member);
    nt_lock_acquire(&chain->notes_lock);
    if (chain->notes || (chain->notes = nt_arena_new()))
        member->known = nt_chain_note_member(stub, member, chain->notes);
    nt_lock_release(&chain->notes_lock);
    if (!can_be_lazy(member, stub)) {
        member->known = known;
        return;
    }
    member->is_noted = !known;
    member->is_lazy = true;
    nt_chain_close_member(member);
    atomic_fetch_sub_explicit(&chain->kept_bytes, bytes, memory_order_relaxed);
}

/* ---- Closing members that nobody uses ---- */

/* Pages that were copied need only the file, which stays open. Those of a directory open it again. */
static bool can_close(const struct nt_file *file, const struct nt_chain_member *member)
{
    bool can_close = member->is_lazy && member->file && member->users == 0;
    for (uint32_t i = 0; can_close && i < file->dataset_count; i++) {
        const struct nt_chain_slice *slice =
            file->datasets[i]->failure ? NULL : nt_chain_slice_of(file->datasets[i], member);
        if (slice && slice->dataset)
            can_close = member->known->files ||
                        (!slice->stays_open && slice->dataset->sources[0] == member->file->source);
    }
    return can_close;
}

/* Unless one of its pages is being read. */
static void close_idle(const struct nt_file *file, struct nt_chain_member *member)
{
    unsigned readers = NT_CHAIN_READABLE;
    if (!atomic_compare_exchange_strong_explicit(&member->readers, &readers, 0, memory_order_acq_rel,
                                                 memory_order_relaxed) &&
        readers)
        return;
    for (uint32_t i = 0; i < file->dataset_count; i++) {
        struct nt_chain_slice *slice =
            file->datasets[i]->failure ? NULL : nt_chain_slice_of(file->datasets[i], member);
        if (!slice || !slice->dataset)
            continue;
        nt_chain_disconnect_sources(file->datasets[i], slice);
        slice->dataset = NULL;
        for (uint32_t k = 0; k < slice->decoder_count; k++)
            slice->decoders[k] = NT_NONE; /* it may number them otherwise when it opens again */
    }
    nt_chain_close_lazy(file->format_data, member);
}

/* Closes members in the order of the list until the others fit. */
static void make_room(const struct nt_file *file)
{
    struct nt_chain *chain = file->format_data;
    for (uint32_t i = 0; i < chain->member_count && !nt_chain_has_room(file, 0, 0); i++)
        if (can_close(file, &chain->members[i]))
            close_idle(file, &chain->members[i]);
}

/* ---- Opening a slice ---- */

static bool is_same_column(const struct nt_column *a, const struct nt_column *b)
{
    return a->field == b->field && a->representation == b->representation && a->position == b->position &&
           nt_chain_columns_agree(a, b);
}

/* The index is not trusted: it may be of other files. */
static enum nt_status check_schema(const struct nt_dataset *first, const struct nt_dataset *own,
                                   bool has_deletions, struct nt_error *error)
{
    NT_AUTO_FREE uint32_t *fields = calloc((size_t)first->field_count + 1, sizeof(*fields));
    NT_TRY(nt_check_memory(fields, error));
    NT_TRY(nt_chain_match_fields(first, own, fields, error));
    bool is_equal = is_plain(own) && !own->part_deletions == !has_deletions &&
                    first->column_count == own->column_count &&
                    (own->file->layout_sources || first->source_count == own->source_count);
    for (uint32_t i = 0; is_equal && i < first->field_count; i++)
        is_equal = fields[i] == i;
    for (uint32_t i = 0; is_equal && i < first->column_count; i++)
        is_equal = is_same_column(&first->columns[i], &own->columns[i]);
    return is_equal ? NT_OK
                    : nt_fail(error, NT_INCOMPATIBLE, NT_NO_OFFSET,
                              "its columns differ from those in the index: remove the index, and it is "
                              "written again");
}

static enum nt_status check_count(const char *what, uint64_t expected, uint64_t found, struct nt_error *error)
{
    return expected == found ? NT_OK : nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, what, expected, found);
}

static enum nt_status check_clusters(const struct nt_dataset *dataset, struct nt_chain_slice *slice,
                                     struct nt_error *error)
{
    const struct nt_indexed_dataset *known = slice->lazy;
    const struct nt_dataset *own = slice->dataset;
    NT_TRY(
        check_count("clusters according to the index", known->clusters, nt_chain_own_clusters(own), error));
    for (uint32_t i = 0; i < nt_chain_own_clusters(own); i++)
        NT_TRY(check_count("entries of a cluster according to the index", known->cluster_entries[i],
                           nt_chain_own_entries(own, i), error));
    for (uint32_t i = 0; !own->field_groups && i < own->cluster_count; i++)
        NT_TRY(nt_chain_check_counts(dataset, slice, i, i, error));
    return NT_OK;
}

static void unpin_groups(struct nt_dataset *own, uint32_t count)
{
    while (count > 0)
        nt_group_unpin(nt_group_slot(own, --count));
}

/* Those of single fields are read one by one. */
static uint32_t whole_groups(const struct nt_dataset *own)
{
    return own->field_groups ? 0 : own->group_count;
}

static enum nt_status pin_groups(struct nt_dataset *own, struct nt_error *error)
{
    for (uint32_t i = 0; i < whole_groups(own); i++) {
        struct nt_group *group;
        enum nt_status status = nt_group_pin(own, i, &group, error);
        if (status == NT_OK)
            continue;
        unpin_groups(own, i);
        return status;
    }
    return NT_OK;
}

enum nt_status nt_chain_open_slice(struct nt_dataset *dataset, struct nt_chain_slice *slice,
                                   struct nt_error *error)
{
    const struct nt_dataset *first = nt_chain_first_dataset(slice);
    struct nt_dataset *own;
    make_room(dataset->file);
    NT_TRY(nt_chain_open_lazy(dataset->file, slice, error));
    NT_TRY(nt_chain_match_dataset(first, slice->member, &own, error));
    NT_TRY(check_count("entries according to the index", slice->entries, own->entries, error));
    if (own->file->layout_sources || slice->member->known->files)
        NT_TRY(check_count("files according to the index", slice->member->known->files,
                           nt_chain_count_sources(own->file), error));
    NT_TRY(check_schema(first, own, slice->lazy->has_deletions, error));
    NT_TRY(pin_groups(own, error));
    slice->dataset = own;
    enum nt_status status = check_clusters(dataset, slice, error);
    if (status == NT_OK)
        return NT_OK;
    slice->dataset = NULL;
    unpin_groups(own, whole_groups(own));
    return status;
}

/* Can the pages be read from the file itself? */
static bool stand_alone(const struct nt_dataset *own)
{
    const struct nt_source *source = own->sources[0];
    bool stand_alone = own->ops->pages_stand_alone && source->beneath == own->file->source;
    for (uint32_t i = 0; stand_alone && i < own->decoders.count; i++)
        stand_alone = !nt_decoders_get(&own->decoders, i)->dependency_count;
    for (uint32_t g = 0; g < own->group_count; g++) {
        const struct nt_group *group = nt_group_slot(own, g);
        for (uint64_t i = 0; stand_alone && i < group->page_count; i++) {
            const struct nt_page *page = &group->pages[i];
            stand_alone =
                page->compression != NT_COMPRESSION_ELSEWHERE &&
                nt_source_is_range(source, page->stored_bytes + nt_checksum_info(page->checksum)->bytes);
        }
    }
    return stand_alone;
}

bool nt_chain_is_in_use(const struct nt_file *file, const struct nt_chain_member *member)
{
    bool is_in_use = false;
    for (uint32_t i = 0; i < file->dataset_count; i++)
        if (!file->datasets[i]->failure)
            is_in_use |= nt_chain_slice_of(file->datasets[i], member)->dataset != NULL;
    return is_in_use;
}

/* Closes a member that nobody uses, if its pages do without it. */
static void end_use(const struct nt_file *file, struct nt_chain_slice *slice, struct nt_chain_member *member)
{
    if (!slice->stands_alone || member->users)
        return;
    slice->dataset = NULL;
    if (!nt_chain_is_in_use(file, member))
        nt_chain_close_lazy(file->format_data, member);
}

void nt_chain_close_slice(struct nt_dataset *dataset, struct nt_chain_slice *slice)
{
    struct nt_chain_member *member = nt_chain_member_of(dataset->file, slice);
    struct nt_source *file = member->file->source;
    slice->stands_alone = !dataset->field_groups && stand_alone(slice->dataset);
    unpin_groups(slice->dataset, whole_groups(slice->dataset));
    nt_chain_connect_sources(dataset, slice, slice->stands_alone);
    if (!file->folder || !nt_folder_is_local(file->folder))
        member->source = file;
    end_use(dataset->file, slice, member);
}

/* ---- Members that stay open while they are used ---- */

enum nt_status nt_chain_pin_member(const struct nt_dataset *dataset, const struct nt_chain_slice *slice,
                                   struct nt_error *error)
{
    struct nt_chain_member *member = nt_chain_member_of(dataset->file, slice);
    enum nt_status status = NT_OK;
    if (!slice->lazy)
        return NT_OK;
    NT_LOCK_GUARD(&dataset->file->lock);
    if (!slice->dataset) {
        struct nt_dataset *changed = (struct nt_dataset *)(uintptr_t)dataset; /* its slices and sources */
        struct nt_chain_slice *opened_slice = nt_chain_slice_of(dataset, member);
        status = nt_chain_open_slice(changed, opened_slice, error);
        member->users++; /* it stays open */
        if (status == NT_OK)
            nt_chain_close_slice(changed, opened_slice);
        member->users--;
    }
    member->users += status == NT_OK;
    return status;
}

void nt_chain_unpin_member(const struct nt_dataset *dataset, const struct nt_chain_slice *slice)
{
    struct nt_chain_member *member = nt_chain_member_of(dataset->file, slice);
    if (!slice->lazy)
        return;
    NT_LOCK_GUARD(&dataset->file->lock);
    member->users--;
    end_use(dataset->file, nt_chain_slice_of(dataset, member), member);
}
