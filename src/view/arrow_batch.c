/* SPDX-License-Identifier: MIT
 *
 * How large a record batch is and where its buffers lie: from the rows of each field in each cluster, which
 * page lists tell, so that nothing is decoded. One exception: a dense optional's nulls have to be counted.
 */
#include <stdlib.h>
#include <string.h>

#include "base/overflow.h"
#include "view/arrow_internal.h"

/* ---- rows per cluster ---- */

static enum nt_status load_borders(struct nt_arrow *arrow, uint32_t field, uint64_t **borders_ret,
                                   struct nt_error *error)
{
    uint32_t count = 0;
    enum nt_status status =
        nt_field_row_borders(arrow->reader, arrow->dataset, field, borders_ret, &count, error);
    if (status == NT_OK && count != arrow->batch_count)
        status = nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "clusters that hold a field",
                                arrow->batch_count, count);
    return status;
}

static enum nt_status set_borders(struct nt_arrow *arrow, struct nt_arrow_node *node, struct nt_error *error)
{
    enum nt_status status = NT_OK;
    if (node->field == NT_NONE)
        return NT_OK;
    if (node->begins_row_space) {
        uint32_t field = node->step_count ? arrow->steps[node->first_step].field : node->field;
        status = load_borders(arrow, field, &node->space_borders, error);
    }
    if (status == NT_OK && node->own_steps)
        status = load_borders(arrow, node->field, &node->borders, error);
    return status;
}

static uint64_t rows_between(const uint64_t *borders, uint32_t batch)
{
    return borders[batch + 1] - borders[batch];
}

/* ---- one batch ---- */

/* The null child of a union has what its alternatives leave of the union's slots. */
static enum nt_status slots_of_null_child(const struct nt_arrow *arrow, uint32_t number,
                                          struct nt_arrow_layout *layout, struct nt_error *error)
{
    uint32_t parent = arrow->nodes[number].parent;
    uint64_t left = layout->slots[parent];
    for (uint32_t child = number + 1; child < arrow->nodes[parent].end; child = arrow->nodes[child].end) {
        uint64_t rows = rows_between(arrow->nodes[child].space_borders, layout->batch);
        if (rows > left)
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                           "variant: its alternatives have more rows than the variant");
        left -= rows;
    }
    layout->slots[number] = layout->null_counts[number] = left;
    return NT_OK;
}

static enum nt_status count_nulls(const struct nt_arrow *arrow, uint32_t number,
                                  struct nt_arrow_layout *layout, struct nt_error *error)
{
    const struct nt_arrow_node *node = &arrow->nodes[number];
    uint64_t slots = layout->slots[number], valid = rows_between(node->borders, layout->batch);
    bool is_dense = false;
    for (uint32_t i = 0; i < node->step_count; i++)
        is_dense |= arrow->steps[node->first_step + i].is_dense;
    if (is_dense) {
        enum nt_status status = nt_arrow_count_valid(arrow, number, layout->batch, slots, &valid, error);
        if (status != NT_OK)
            return status;
    }
    if (valid > slots)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "values of an optional", slots, valid);
    layout->null_counts[number] = slots - valid;
    return NT_OK;
}

static enum nt_status count_slots(const struct nt_arrow *arrow, uint32_t number,
                                  struct nt_arrow_layout *layout, struct nt_error *error)
{
    const struct nt_arrow_node *node = &arrow->nodes[number], *parent = &arrow->nodes[node->parent];
    if (node->kind == NT_ARROW_NULL)
        return slots_of_null_child(arrow, number, layout, error);
    uint64_t slots;
    if (node->begins_row_space)
        slots = rows_between(node->space_borders, layout->batch);
    else if (!nt_multiply(layout->slots[node->parent],
                          parent->kind == NT_ARROW_FIXED_LIST ? parent->list_size : 1, &slots))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "a batch of more slots than can be counted");
    layout->slots[number] = slots;
    return node->own_steps ? count_nulls(arrow, number, layout, error) : NT_OK;
}

static bool buffer_bytes(const struct nt_arrow *arrow, const struct nt_arrow_layout *layout, uint32_t number,
                         uint64_t *bytes_ret)
{
    const struct nt_arrow_buffer *buffer = &arrow->buffers[number];
    const struct nt_arrow_node *node = &arrow->nodes[buffer->node];
    uint64_t slots = layout->slots[buffer->node];
    switch (buffer->kind) {
    case NT_ARROW_VALIDITY:
        *bytes_ret = layout->null_counts[buffer->node] ? slots / 8 + (slots % 8 != 0) : 0;
        return true;
    case NT_ARROW_OFFSETS:
        return nt_add(slots, 1, &slots) && nt_multiply(slots, 8, bytes_ret);
    case NT_ARROW_TYPES:
        *bytes_ret = slots;
        return true;
    case NT_ARROW_UNION_OFFSETS:
        return nt_multiply(slots, 4, bytes_ret);
    case NT_ARROW_DATA:
        break;
    }
    if (node->kind == NT_ARROW_BYTES) {
        *bytes_ret = nt_stream_segment_first(node->data, layout->batch + 1) -
                     nt_stream_segment_first(node->data, layout->batch);
        return true;
    }
    if (node->kind == NT_ARROW_BOOL) {
        *bytes_ret = slots / 8 + (slots % 8 != 0);
        return true;
    }
    return nt_multiply(slots, nt_element_info(node->element)->bytes, bytes_ret);
}

static bool place_buffers(const struct nt_arrow *arrow, struct nt_arrow_layout *layout)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < arrow->buffer_count; i++) {
        layout->buffer_start[i] = at;
        if (!buffer_bytes(arrow, layout, i, &layout->buffer_bytes[i]) ||
            layout->buffer_bytes[i] > INT64_MAX || !nt_add(at, layout->buffer_bytes[i], &at) ||
            at > INT64_MAX - NT_ARROW_ALIGNMENT)
            return false;
        at = (at + NT_ARROW_ALIGNMENT - 1) / NT_ARROW_ALIGNMENT * NT_ARROW_ALIGNMENT;
    }
    layout->buffer_start[arrow->buffer_count] = at;
    return true;
}

void nt_arrow_layout_free(struct nt_arrow_layout *layout)
{
    if (!layout)
        return;
    free(layout->slots);
    free(layout->null_counts);
    free(layout->buffer_start);
    free(layout->buffer_bytes);
    free(layout);
}

enum nt_status nt_arrow_layout(const struct nt_arrow *arrow, uint32_t batch,
                               struct nt_arrow_layout **layout_ret, struct nt_error *error)
{
    enum nt_status status = NT_OK;
    struct nt_arrow_layout *layout = calloc(1, sizeof(*layout));
    if (!layout)
        return nt_fail_memory(error);
    layout->batch = batch;
    layout->slots = calloc(arrow->node_count, sizeof(uint64_t));
    layout->null_counts = calloc(arrow->node_count, sizeof(uint64_t));
    layout->buffer_start = calloc((size_t)arrow->buffer_count + 1, sizeof(uint64_t));
    layout->buffer_bytes = calloc((size_t)arrow->buffer_count + 1, sizeof(uint64_t));
    if (!layout->slots || !layout->null_counts || !layout->buffer_start || !layout->buffer_bytes) {
        status = nt_fail_memory(error);
        goto out;
    }
    layout->slots[0] = arrow->entries[batch + 1] - arrow->entries[batch];
    for (uint32_t i = 1; i < arrow->node_count && status == NT_OK; i++)
        status = count_slots(arrow, i, layout, error);
    if (status == NT_OK && !place_buffers(arrow, layout))
        status = nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "record batch %u is larger than Arrow allows", batch);
out:
    if (status != NT_OK) {
        nt_arrow_layout_free(layout);
        return status;
    }
    *layout_ret = layout;
    return NT_OK;
}

/* ---- all batches ---- */

static int compare_clusters(const void *left, const void *right)
{
    const struct nt_cluster *a = *(const struct nt_cluster *const *)left;
    const struct nt_cluster *b = *(const struct nt_cluster *const *)right;
    if (a->first_entry != b->first_entry)
        return a->first_entry < b->first_entry ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* Entries before each batch: the clusters in entry order. */
static enum nt_status set_entries(struct nt_arrow *arrow, struct nt_error *error)
{
    const struct nt_dataset *dataset = arrow->dataset;
    uint32_t count = dataset->cluster_count;
    const struct nt_cluster **order = calloc(count ? count : 1, sizeof(struct nt_cluster *));
    arrow->entries = calloc((size_t)count + 1, sizeof(uint64_t));
    arrow->batches = calloc((size_t)count + 1, sizeof(*arrow->batches));
    enum nt_status status = NT_OK;
    if (!order || !arrow->entries || !arrow->batches) {
        status = nt_fail_memory(error);
        goto out;
    }
    for (uint32_t i = 0; i < count; i++)
        order[i] = &dataset->clusters[i];
    qsort(order, count, sizeof(struct nt_cluster *), compare_clusters);
    for (uint32_t i = 0; i < count && status == NT_OK; i++)
        if (!nt_add(arrow->entries[i], order[i]->entries, &arrow->entries[i + 1]))
            status = nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "more entries than can be counted");
    arrow->batch_count = count;
out:
    free(order);
    return status;
}

enum nt_status nt_arrow_build_batches(struct nt_arrow *arrow, struct nt_error *error)
{
    enum nt_status status = set_entries(arrow, error);
    for (uint32_t i = 1; i < arrow->node_count && status == NT_OK; i++)
        status = set_borders(arrow, &arrow->nodes[i], error);
    for (uint32_t batch = 0; batch < arrow->batch_count && status == NT_OK; batch++) {
        struct nt_arrow_layout *layout;
        status = nt_arrow_layout(arrow, batch, &layout, error);
        if (status != NT_OK)
            break;
        arrow->batches[batch].body_bytes = layout->buffer_start[arrow->buffer_count];
        nt_arrow_layout_free(layout);
    }
    return status;
}
