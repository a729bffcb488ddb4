/* SPDX-License-Identifier: MIT
 *
 * Tables of roles, streams and field kinds, and how fields hang together.
 */
#include <string.h>

#include <ntuple/model.h>

const char *nt_role_name(enum nt_role role)
{
    static const char *const names[NT_ROLE_COUNT] = {
        [NT_ROLE_PLAIN] = "plain",     [NT_ROLE_COLLECTION] = "collection", [NT_ROLE_RECORD] = "record",
        [NT_ROLE_VARIANT] = "variant", [NT_ROLE_STREAMED] = "streamed",
    };
    return names[role];
}

const char *nt_stream_name(enum nt_stream_kind kind)
{
    static const char *const names[NT_STREAM_COUNT] = {
        [NT_STREAM_DATA] = "data",   [NT_STREAM_OFFSETS] = "offsets", [NT_STREAM_TAGS] = "tags",
        [NT_STREAM_INDEX] = "index", [NT_STREAM_VALID] = "valid",
    };
    return names[kind];
}

#define HAS(kind) (1u << NT_STREAM_##kind)

static const struct nt_field_kind_info kinds[NT_FIELD_KIND_COUNT] = {
    [NT_FIELD_CONTAINER] = {"container", 0},
    [NT_FIELD_VALUE] = {"value", HAS(DATA)},
    [NT_FIELD_BYTES] = {"bytes", HAS(OFFSETS) | HAS(DATA)},
    [NT_FIELD_COLLECTION] = {"collection", HAS(OFFSETS)},
    [NT_FIELD_DENSE_OPTIONAL] = {"dense optional", HAS(VALID)},
    [NT_FIELD_VARIANT] = {"variant", HAS(TAGS) | HAS(INDEX)},
    [NT_FIELD_CARDINALITY] = {"cardinality", HAS(DATA)},
    [NT_FIELD_PAGE_BYTES] = {"page bytes", HAS(OFFSETS) | HAS(DATA)},
    [NT_FIELD_MEMBER] = {"member", HAS(DATA)},
    [NT_FIELD_UNREADABLE] = {"unreadable", 0},
};

const struct nt_field_kind_info *nt_field_kind_info(enum nt_field_kind kind)
{
    return &kinds[kind];
}

bool nt_is_optional(const struct nt_field *field)
{
    static const char *const prefixes[] = {"std::optional<", "std::unique_ptr<"};
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
        if (field->kind == NT_FIELD_COLLECTION && field->type.length > strlen(prefixes[i]) &&
            !memcmp(field->type.bytes, prefixes[i], strlen(prefixes[i])))
            return true;
    return false;
}

const uint32_t *nt_dataset_children(const struct nt_dataset *dataset, uint32_t field, uint32_t *count_ret)
{
    if (field == NT_NONE) {
        *count_ret = dataset->top_count;
        return dataset->children;
    }
    *count_ret = dataset->fields[field].child_count;
    return dataset->children + dataset->fields[field].first_child;
}

uint32_t nt_field_representations(const struct nt_dataset *dataset, uint32_t field)
{
    const struct nt_field *f = &dataset->fields[field];
    return f->columns_per_representation ? f->column_count / f->columns_per_representation : 0;
}

uint32_t nt_field_column(const struct nt_dataset *dataset, uint32_t field, uint32_t representation,
                         uint32_t position)
{
    const struct nt_field *f = &dataset->fields[field];
    if (position >= f->columns_per_representation ||
        representation >= nt_field_representations(dataset, field))
        return NT_NONE;
    return dataset
        ->field_columns[f->first_column + representation * f->columns_per_representation + position];
}

/* A collection's and a variant's children have rows of their own; all others keep step with their parent. */
static bool has_own_rows_below(const struct nt_field *field)
{
    return field->kind != NT_FIELD_DENSE_OPTIONAL &&
           (field->role == NT_ROLE_COLLECTION || field->role == NT_ROLE_VARIANT);
}

uint32_t nt_field_row_parent(const struct nt_dataset *dataset, uint32_t field)
{
    uint32_t at = dataset->fields[field].parent;
    while (at != NT_NONE && !has_own_rows_below(&dataset->fields[at]))
        at = dataset->fields[at].parent;
    return at;
}

uint32_t nt_field_dimensions(const struct nt_dataset *dataset, uint32_t field, uint64_t *dimensions,
                             uint32_t capacity)
{
    uint64_t found[NT_MAX_DEPTH + 1];
    uint32_t count = 0;
    const struct nt_field *f = &dataset->fields[field];
    if (f->kind == NT_FIELD_VALUE && f->repetition)
        found[count++] = f->repetition; /* std::bitset */
    for (uint32_t at = f->parent; at != NT_NONE && !has_own_rows_below(&dataset->fields[at]);
         at = dataset->fields[at].parent)
        if (dataset->fields[at].repetition && count <= NT_MAX_DEPTH)
            found[count++] = dataset->fields[at].repetition;
    for (uint32_t i = 0; i < count && i < capacity; i++)
        dimensions[i] = found[count - 1 - i];
    return count;
}
