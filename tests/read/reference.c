/* SPDX-License-Identifier: MIT
 *
 * Computes rows and streams from the elements of a built dataset, each directly from the data above.
 */
#include "reference.h"

#include <string.h>

#include "support.h"

void reference_order(const struct builder *builder, uint32_t *order)
{
    for (uint32_t i = 0; i < builder->cluster_count; i++) {
        uint32_t k = i;
        for (; k && builder->clusters[order[k - 1]].first_entry > builder->clusters[i].first_entry; k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
}

static uint64_t rows_in(const struct builder *builder, uint32_t field, uint32_t cluster);

static uint64_t per_row(const struct nt_field *field)
{
    return field->kind == NT_FIELD_VALUE && field->repetition ? field->repetition : 1;
}

/* The number of elements of a field's column at `position` in a cluster, zeros included. */
static uint64_t elements_in(const struct builder *builder, uint32_t field, uint32_t position,
                            uint32_t cluster);

static const struct share *active_share(const struct builder *builder, uint32_t field, uint32_t position,
                                        uint32_t cluster)
{
    for (uint32_t i = 0; i < nt_field_representations(builder->dataset, field); i++) {
        uint32_t column = nt_field_column(builder->dataset, field, i, position);
        if (builder->shares[cluster][column].state == NT_RANGE_PRESENT)
            return &builder->shares[cluster][column];
    }
    return NULL;
}

/* Element `i` of a column in a cluster; zeros where it is deferred. */
static uint64_t element_at(const struct builder *builder, uint32_t field, uint32_t position, uint32_t cluster,
                           uint64_t i)
{
    const struct share *share = active_share(builder, field, position, cluster);
    uint64_t missing = elements_in(builder, field, position, cluster) - (share ? share->count : 0);
    return i < missing ? 0 : share->values[i - missing];
}

static uint64_t elements_in(const struct builder *builder, uint32_t field, uint32_t position,
                            uint32_t cluster)
{
    uint64_t rows = rows_in(builder, field, cluster);
    if (position == 0)
        return rows * per_row(&builder->fields[field]);
    return rows ? element_at(builder, field, 0, cluster, rows - 1) : 0;
}

static uint32_t tag_in(const struct builder *builder, uint32_t variant, uint32_t cluster, uint64_t row)
{
    return (uint32_t)(element_at(builder, variant, 0, cluster, row) >> 48);
}

static uint64_t rows_in(const struct builder *builder, uint32_t field, uint32_t cluster)
{
    uint32_t parent = builder->fields[field].parent;
    if (parent == NT_NONE)
        return builder->clusters[cluster].entries;
    const struct nt_field *above = &builder->fields[parent];
    uint64_t rows = rows_in(builder, parent, cluster), chosen = 0;
    if (above->kind == NT_FIELD_COLLECTION)
        return rows ? element_at(builder, parent, 0, cluster, rows - 1) : 0;
    if (above->kind == NT_FIELD_VARIANT) {
        uint32_t tag = 1, count;
        const uint32_t *children = nt_dataset_children(builder->dataset, parent, &count);
        while (children[tag - 1] != field)
            tag++;
        for (uint64_t i = 0; i < rows; i++)
            chosen += tag_in(builder, parent, cluster, i) == tag;
        return chosen;
    }
    return above->repetition ? rows * above->repetition : rows;
}

uint64_t reference_rows(const struct builder *builder, uint32_t field)
{
    uint64_t rows = 0;
    for (uint32_t i = 0; i < builder->cluster_count; i++)
        rows += rows_in(builder, field, i);
    return rows;
}

static void put(struct nt_buffer *out, uint64_t value, size_t bytes)
{
    nt_buffer_append(out, &value, bytes);
}

/* A stored value in the field's type. */
static void put_value(const struct builder *builder, uint32_t field, uint32_t cluster, uint32_t position,
                      uint64_t value, struct nt_buffer *out)
{
    const struct nt_field *f = &builder->fields[field];
    enum nt_element to = f->kind == NT_FIELD_STRING ? NT_ELEMENT_BYTE : f->dtype.element;
    const struct share *share = active_share(builder, field, position, cluster);
    uint32_t column = share ? (uint32_t)(share - builder->shares[cluster]) : NT_NONE;
    enum nt_element from = column == NT_NONE ? to : builder->decoders[column].element;
    if (from == NT_ELEMENT_REAL32 && to == NT_ELEMENT_REAL64) {
        float narrow;
        memcpy(&narrow, &value, sizeof(narrow));
        double wide = narrow;
        memcpy(&value, &wide, sizeof(wide));
    } else if (from == NT_ELEMENT_INT32 && to == NT_ELEMENT_INT64) {
        value = (uint64_t)(int64_t)(int32_t)value;
    }
    put(out, value, nt_element_info(to)->bytes);
}

static void put_variant(const struct builder *builder, uint32_t field, bool is_index, struct nt_buffer *out)
{
    uint64_t base[16] = {0};
    uint32_t order[MAX_CLUSTERS], count;
    const uint32_t *children = nt_dataset_children(builder->dataset, field, &count);
    reference_order(builder, order);
    for (uint32_t c = 0; c < builder->cluster_count; c++) {
        for (uint64_t i = 0; i < rows_in(builder, field, order[c]); i++) {
            uint64_t value = element_at(builder, field, 0, order[c], i);
            uint32_t tag = (uint32_t)(value >> 48);
            if (is_index)
                put(out, tag ? base[tag] + (value & 0xFFFFFFFFFFFF) : 0, 8);
            else
                put(out, tag, 4);
        }
        for (uint32_t k = 0; k < count; k++)
            base[k + 1] += rows_in(builder, children[k], order[c]);
    }
}

static void put_indices(const struct builder *builder, uint32_t field, bool are_sizes, struct nt_buffer *out)
{
    uint32_t order[MAX_CLUSTERS];
    uint64_t base = 0;
    reference_order(builder, order);
    if (!are_sizes)
        put(out, 0, 8);
    for (uint32_t c = 0; c < builder->cluster_count; c++) {
        uint64_t last = 0, rows = rows_in(builder, field, order[c]);
        for (uint64_t i = 0; i < rows; i++) {
            uint64_t value = element_at(builder, field, 0, order[c], i);
            put(out, are_sizes ? value - last : base + value,
                are_sizes ? builder->fields[field].dtype.bytes : 8);
            last = value;
        }
        base += last;
    }
}

void reference_stream(const struct builder *builder, uint32_t field, enum nt_stream_kind kind,
                      struct nt_buffer *out)
{
    uint32_t order[MAX_CLUSTERS];
    uint32_t position = builder->fields[field].kind == NT_FIELD_STRING;
    if (kind == NT_STREAM_OFFSETS || builder->fields[field].kind == NT_FIELD_CARDINALITY) {
        put_indices(builder, field, kind != NT_STREAM_OFFSETS, out);
    } else if (kind == NT_STREAM_TAGS || kind == NT_STREAM_INDEX) {
        put_variant(builder, field, kind == NT_STREAM_INDEX, out);
    } else {
        reference_order(builder, order);
        for (uint32_t c = 0; c < builder->cluster_count; c++)
            for (uint64_t i = 0; i < elements_in(builder, field, position, order[c]); i++)
                put_value(builder, field, order[c], position,
                          element_at(builder, field, position, order[c], i), out);
    }
}
