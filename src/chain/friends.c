/* SPDX-License-Identifier: MIT
 *
 * Friends of a specification: divides the members of a chain into series, those of the samples and those of
 * each friend, and shows the fields of a friend below a record. Series have as many entries, but may have
 * other clusters.
 */
#include "chain/chain.h"

/* ---- Series ---- */

static bool are_of_one_series(const struct nt_chain_member *a, const struct nt_chain_member *b)
{
    return nt_chain_friend_of(a->listed->sample) == nt_chain_friend_of(b->listed->sample);
}

bool nt_chain_begins_series(const struct nt_chain *chain, uint32_t member)
{
    return member == 0 || !are_of_one_series(&chain->members[member - 1], &chain->members[member]);
}

uint32_t nt_chain_series_end(const struct nt_chain *chain, uint32_t first)
{
    uint32_t end = first + 1;
    while (end < chain->member_count && !nt_chain_begins_series(chain, end))
        end++;
    return end;
}

uint32_t nt_chain_next_member(const struct nt_chain *chain, uint32_t member, bool is_stub)
{
    return is_stub ? nt_chain_series_end(chain, member) : member + 1;
}

struct nt_chain_slice *nt_chain_slice_of(const struct nt_dataset *dataset,
                                         const struct nt_chain_member *member)
{
    const struct nt_chain_dataset *chain = nt_chain_dataset_of(dataset);
    const char *friend = nt_chain_friend_of(member->listed->sample);
    size_t number = (size_t)(member - nt_chain_of(dataset->file)->members);
    uint32_t series = 0;
    if (number < chain->slice_count && chain->slices[number].member == member)
        return &chain->slices[number];
    while (chain->series[series].friend != friend)
        series++;
    return chain->series[series].slices;
}

enum nt_status nt_chain_check_friend(const char *friend, uint64_t expected, uint64_t found,
                                     struct nt_error *error)
{
    if (expected == found)
        return NT_OK;
    return nt_with_context(nt_fail_number(error, NT_INCOMPATIBLE, NT_NO_OFFSET,
                                          "number of entries (as many as the samples have)", expected, found),
                           error, "friend \"%s\"", friend);
}

enum nt_status nt_chain_divide(struct nt_dataset *dataset, struct nt_error *error)
{
    struct nt_chain_dataset *chain = nt_chain_dataset_of(dataset);
    uint32_t count = 1;
    for (uint32_t i = 1; i < chain->slice_count; i++)
        count += !are_of_one_series(chain->slices[i - 1].member, chain->slices[i].member);
    chain->series = nt_arena_alloc(dataset->arena, count, sizeof(*chain->series));
    NT_TRY(nt_check_memory(chain->series, error));
    for (uint32_t i = 0; i < chain->slice_count; i++) {
        struct nt_chain_slice *slice = &chain->slices[i];
        if (!i || !are_of_one_series(slice[-1].member, slice->member))
            chain->series[chain->series_count++] = (struct nt_chain_series){
                .friend = nt_chain_friend_of(slice->member->listed->sample), .slices = slice};
        slice->series = &chain->series[chain->series_count - 1];
        chain->series[chain->series_count - 1].slice_count++;
    }
    return NT_OK;
}

/* ---- Fields ---- */

/* Appends a record for the friend. */
static void add_record(struct nt_chain_fields *fields, const char *friend, uint32_t *next_id)
{
    fields->owners[fields->count] = NT_NONE;
    fields->items[fields->count++] = (struct nt_field){.id = (*next_id)++,
                                                       .parent = NT_NONE,
                                                       .role = NT_ROLE_RECORD,
                                                       .kind = NT_FIELD_RECORD,
                                                       .dtype = nt_element_dtype(NT_ELEMENT_OPAQUE),
                                                       .name = nt_text_of(friend),
                                                       .type = {"", 0},
                                                       .description = {"", 0}};
}

/* Appends the fields of a series. Only those of the samples keep their ids. */
static bool add_fields(struct nt_arena *arena, struct nt_chain_fields *fields,
                       const struct nt_chain_series *series, uint32_t parent, uint32_t *next_id)
{
    uint32_t base = fields->count;
    for (uint32_t i = 0; i < series->fields.count; i++) {
        struct nt_field *field = &fields->items[base + i];
        uint32_t owner = series->fields.owners[i];
        *field = series->fields.items[i];
        uint32_t source = nt_field_source(field);
        field->parent = field->parent == NT_NONE ? parent : base + field->parent;
        if (series->friend)
            field->id = *next_id;
        if (field->id >= *next_id)
            *next_id = field->id + 1;
        if (source != NT_NONE && !nt_field_set_source(arena, field, base + source))
            return false;
        fields->owners[base + i] = owner == NT_NONE ? NT_NONE : base + owner;
    }
    fields->count += series->fields.count;
    return true;
}

/* The fields of other series are missing in the members. */
static bool renumber_slices(struct nt_arena *arena, const struct nt_chain_series *series, uint32_t base,
                            uint32_t count)
{
    for (uint32_t i = 0; i < series->slice_count; i++) {
        struct nt_chain_slice *slice = &series->slices[i];
        uint32_t *fields = slice->fields ? nt_arena_alloc(arena, (size_t)count + 1, sizeof(*fields)) : NULL;
        if (slice->fields && !fields)
            return false;
        for (uint32_t k = 0; fields && k < count; k++)
            fields[k] = k < base || k - base >= series->fields.count ? NT_NONE : slice->fields[k - base];
        slice->fields = fields;
    }
    return true;
}

enum nt_status nt_chain_join_fields(struct nt_dataset *dataset, struct nt_error *error)
{
    struct nt_chain_dataset *chain = nt_chain_dataset_of(dataset);
    struct nt_arena *arena = dataset->arena;
    uint64_t count = chain->series_count - 1;
    uint32_t next_id = 0;
    for (uint32_t i = 0; i < chain->series_count; i++)
        count += chain->series[i].fields.count;
    chain->fields = chain->series[0].fields;
    if (chain->series_count == 1)
        return NT_OK;
    if (count >= NT_NONE)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the chain has more than 2^32 fields");
    chain->fields = (struct nt_chain_fields){.items = nt_arena_alloc(arena, count, sizeof(struct nt_field)),
                                             .owners = nt_arena_alloc(arena, count, sizeof(uint32_t))};
    bool has_memory = chain->fields.items && chain->fields.owners;
    for (uint32_t i = 0; has_memory && i < chain->series_count; i++) {
        struct nt_chain_series *series = &chain->series[i];
        series->first_field = chain->fields.count;
        if (series->friend)
            add_record(&chain->fields, series->friend, &next_id);
        has_memory = renumber_slices(arena, series, chain->fields.count, (uint32_t)count) &&
                     add_fields(arena, &chain->fields, series, series->friend ? series->first_field : NT_NONE,
                                &next_id);
    }
    return has_memory ? NT_OK : nt_fail_memory(error);
}

/* ---- Clusters ---- */

/* Each cluster is a part: they must follow one another, and hold all fields. */
static enum nt_status check_clusters(struct nt_dataset *own, struct nt_error *error)
{
    uint64_t next = 0;
    if (own->has_sharded_clusters)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "sharded clusters cannot be in a chain that has friends or trees");
    if (!own->clusters_known)
        NT_TRY(nt_dataset_load_all(own, error));
    for (uint32_t i = 0; i < own->cluster_count; i++) {
        const struct nt_cluster cluster = nt_dataset_cluster(own, i);
        if (cluster.first_entry != next)
            return nt_fail_number(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                                  "first entry of a cluster in a chain that has friends or trees", next,
                                  cluster.first_entry);
        next += cluster.entries;
    }
    if (next != own->entries)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "entries of all clusters", own->entries, next);
    return NT_OK;
}

enum nt_status nt_chain_find_clusters(struct nt_dataset *dataset, struct nt_error *error)
{
    const struct nt_chain_dataset *chain = nt_chain_dataset_of(dataset);
    for (uint32_t i = 0; i < chain->slice_count; i++) {
        struct nt_chain_slice *slice = &chain->slices[i];
        struct nt_error failure = {0};
        if (slice->failure || slice->lazy || slice->dataset->field_groups)
            continue;
        if (check_clusters(slice->dataset, &failure) == NT_OK)
            continue;
        nt_error_context(&failure, "%s", slice->member->path);
        NT_TRY(nt_failure_keep(&failure, dataset->arena, &slice->failure, error));
    }
    return NT_OK;
}
