/* SPDX-License-Identifier: MIT
 *
 * Computes sizes and offsets of the buffers of a record batch from page lists, without decoding. Counts
 * nulls of dense optionals immediately, and those of nullable fields when the metadata is read.
 */
#include "render/arrow/arrow.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/model/model.h"
#include "read/read.h"

/* ---- Rows per cluster ---- */

/* For generated strings, converts borders of rows to borders of bytes. */
static enum nt_status load_borders(struct nt_arrow *arrow, uint32_t field, bool are_bytes,
                                   uint64_t **borders_ret, struct nt_error *error)
{
    uint32_t count = 0;
    const struct nt_arrow_texts *texts = are_bytes ? nt_arrow_texts_of(arrow, field) : NULL;
    enum nt_status status =
        are_bytes && !texts
            ? nt_field_byte_borders(arrow->reader, arrow->dataset, field, borders_ret, &count, error)
            : nt_field_row_borders(arrow->reader, arrow->dataset, field, borders_ret, &count, error);
    if (status == NT_OK && !nt_dataset_shares_borders(arrow->dataset)) {
        (*borders_ret)[1] = (*borders_ret)[count];
        count = arrow->stored_clusters;
    }
    if (status == NT_OK && count != arrow->stored_clusters)
        status = nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "clusters that hold a field",
                                arrow->stored_clusters, count);
    if (status == NT_OK && texts)
        nt_arrow_texts_borders(texts, *borders_ret, count + 1);
    if (status == NT_OK)
        status = nt_arrow_cut_borders(arrow, field, are_bytes, borders_ret, error);
    return status;
}

static enum nt_status set_borders(struct nt_arrow *arrow, struct nt_arrow_node *node, struct nt_error *error)
{
    enum nt_status status = NT_OK;
    if (node->field == NT_NONE)
        return NT_OK;
    if (node->starts_row_space) {
        uint32_t field = node->step_count ? nt_arrow_steps(arrow, node)->field : node->field;
        status = load_borders(arrow, field, false, &node->space_borders, error);
    }
    if (status == NT_OK && node->own_steps)
        status = load_borders(arrow, node->field, false, &node->borders, error);
    if (status == NT_OK && node->kind == NT_ARROW_BYTES)
        status = load_borders(arrow, node->field, true, &node->byte_borders, error);
    return status;
}

static enum nt_status set_variant_borders(struct nt_arrow *arrow, struct nt_arrow_variant *variant,
                                          struct nt_error *error)
{
    variant->borders = calloc((size_t)variant->alternative_count + 1, sizeof(*variant->borders));
    variant->tag_counts = calloc((size_t)arrow->cluster_count + 1, sizeof(*variant->tag_counts));
    if (!variant->borders || !variant->tag_counts)
        return nt_fail_memory(error);
    return load_borders(arrow, variant->field, false, &variant->borders[0], error);
}

/* Loads the borders of an alternative of a step. The struct omits alternatives without a step. */
static enum nt_status set_alternative_borders(struct nt_arrow *arrow, const struct nt_arrow_step *step,
                                              struct nt_error *error)
{
    uint32_t count;
    if (step->kind != NT_ARROW_STEP_ALTERNATIVE || arrow->variants[step->variant].borders[step->tag])
        return NT_OK;
    const uint32_t *alternatives = nt_dataset_children(arrow->dataset, step->field, &count);
    return load_borders(arrow, alternatives[step->tag - 1], false,
                        &arrow->variants[step->variant].borders[step->tag], error);
}

static enum nt_status load_all_borders(struct nt_arrow *arrow, struct nt_error *error)
{
    enum nt_status status = NT_OK;
    for (uint32_t i = 1; i < arrow->node_count && status == NT_OK; i++)
        status = set_borders(arrow, &arrow->nodes[i], error);
    for (uint32_t i = 0; i < arrow->variant_count && status == NT_OK; i++)
        status = set_variant_borders(arrow, &arrow->variants[i], error);
    for (uint32_t i = 0; i < arrow->step_count && status == NT_OK; i++)
        status = set_alternative_borders(arrow, &arrow->steps[i], error);
    return status;
}

static uint64_t rows_between(const uint64_t *borders, uint32_t cluster)
{
    return borders[cluster + 1] - borders[cluster];
}

/* ---- One batch ---- */

static enum nt_status count_nulls(const struct nt_arrow *arrow, uint32_t number, struct nt_arrow_body *body,
                                  struct nt_error *error)
{
    const struct nt_arrow_node *node = &arrow->nodes[number];
    uint64_t slots = body->slots[number], valid = rows_between(node->borders, body->cluster);
    bool is_dense = false, is_alternative = false;
    for (uint32_t i = 0; i < node->step_count; i++) {
        is_dense |= nt_arrow_steps(arrow, node)[i].kind == NT_ARROW_STEP_DENSE_OPTIONAL;
        is_alternative |= nt_arrow_steps(arrow, node)[i].kind == NT_ARROW_STEP_ALTERNATIVE;
    }
    if (is_dense) {
        enum nt_status status = nt_arrow_count_valid(arrow, number, body->cluster, slots, &valid, error);
        if (status != NT_OK)
            return status;
    }
    if (valid > slots && is_alternative)
        valid = slots; /* no tag refers to the other rows; reading them fails */
    if (valid > slots)
        return nt_fail_above(error, NT_CORRUPT, NT_NO_OFFSET, "values of an optional or variant", slots,
                             valid);
    body->null_counts[number] = slots - valid;
    return NT_OK;
}

/* Computes the slots of a node. The null child of a union is as long as the union, at no cost. */
static bool count_slots(const struct nt_arrow *arrow, uint32_t number, struct nt_arrow_body *body)
{
    const struct nt_arrow_node *node = &arrow->nodes[number], *parent = &arrow->nodes[node->parent];
    uint64_t *slots = &body->slots[number];
    uint64_t per_slot = parent->kind == NT_ARROW_FIXED_LIST ? parent->list_size : 1;
    if (node->starts_row_space)
        *slots = rows_between(node->space_borders, body->cluster);
    else if (!nt_multiply(body->slots[node->parent], per_slot, slots))
        return false;
    if (node->kind == NT_ARROW_NULL)
        body->null_counts[number] = *slots;
    return *slots <= (parent->kind == NT_ARROW_UNION ? INT32_MAX : INT64_MAX);
}

static enum nt_status too_large(const struct nt_arrow *arrow, uint32_t cluster, struct nt_error *error)
{
    return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the cluster of entry %llu is larger than Arrow allows",
                   (unsigned long long)arrow->entries[cluster]);
}

static enum nt_status count_node(const struct nt_arrow *arrow, uint32_t number, struct nt_arrow_body *body,
                                 struct nt_error *error)
{
    if (!count_slots(arrow, number, body))
        return too_large(arrow, body->cluster, error);
    const struct nt_arrow_node *node = &arrow->nodes[number];
    if (node->has_short_offsets &&
        rows_between(nt_arrow_item_borders(node), body->cluster) > arrow->limits.max_items)
        return too_large(arrow, body->cluster, error);
    if (node->valid != NT_NONE)
        body->null_counts[number] = NT_ARROW_UNCOUNTED;
    else if (node->own_steps)
        return count_nulls(arrow, number, body, error);
    return NT_OK;
}

enum nt_status nt_arrow_count_nulls(const struct nt_arrow *arrow, struct nt_arrow_body *body,
                                    struct nt_error *error)
{
    for (uint32_t i = 1; i < arrow->node_count; i++) {
        uint64_t valid = 0;
        if (body->null_counts[i] != NT_ARROW_UNCOUNTED)
            continue;
        enum nt_status status = nt_arrow_count_valid(arrow, i, body->cluster, body->slots[i], &valid, error);
        if (status != NT_OK)
            return status;
        body->null_counts[i] = body->slots[i] - valid;
    }
    return NT_OK;
}

static bool buffer_bytes(const struct nt_arrow *arrow, const struct nt_arrow_body *body, uint32_t number,
                         uint64_t *bytes_ret)
{
    const struct nt_arrow_buffer *buffer = &arrow->buffers[number];
    const struct nt_arrow_node *node = &arrow->nodes[buffer->node];
    uint64_t slots = body->slots[buffer->node];
    switch (buffer->kind) {
    case NT_ARROW_VALIDITY:
        *bytes_ret = body->null_counts[buffer->node] ? slots / 8 + (slots % 8 != 0) : 0;
        return true;
    case NT_ARROW_OFFSETS:
        return nt_add(slots, 1, &slots) && nt_multiply(slots, nt_arrow_offset_bytes(node), bytes_ret);
    case NT_ARROW_TYPES:
        *bytes_ret = slots;
        return true;
    case NT_ARROW_UNION_OFFSETS:
        return nt_multiply(slots, 4, bytes_ret);
    case NT_ARROW_DATA:
        break;
    }
    if (node->kind == NT_ARROW_BYTES) {
        *bytes_ret = rows_between(node->byte_borders, body->cluster);
        return true;
    }
    if (node->kind == NT_ARROW_BOOL) {
        *bytes_ret = slots / 8 + (slots % 8 != 0);
        return true;
    }
    *bytes_ret = 0;
    return node->kind == NT_ARROW_EMPTY || nt_multiply(slots, node->dtype->bytes, bytes_ret);
}

/* Places the buffers one behind another. `is_large` before a buffer: the last one with bytes is large. A body
 * with a large buffer has whole memory pages. */
static bool place_buffers(const struct nt_arrow *arrow, struct nt_arrow_body *body)
{
    uint64_t at = 0;
    bool is_large = false;
    for (uint32_t i = 0; i < arrow->buffer_count; i++) {
        uint64_t *bytes = &body->buffer_bytes[i];
        if (!buffer_bytes(arrow, body, i, bytes) || *bytes > INT64_MAX)
            return false;
        bool follows_large = is_large;
        if (*bytes)
            is_large = *bytes >= NT_ARROW_LARGE_BUFFER;
        body->has_large |= is_large;
        at = nt_arrow_align(at, is_large || follows_large);
        body->buffer_start[i] = at;
        if (!nt_add(at, *bytes, &at) || at > INT64_MAX / 2)
            return false;
    }
    if (at >= NT_ARROW_LARGE_BATCH) {
        for (uint32_t i = 0; i < arrow->buffer_count; i++)
            body->buffer_start[i] += NT_ARROW_GAP;
        at += 2 * NT_ARROW_GAP;
    }
    body->buffer_start[arrow->buffer_count] = nt_arrow_align(at, body->has_large);
    return true;
}

void nt_arrow_body_free(struct nt_arrow_body *body)
{
    if (!body)
        return;
    free(body->slots);
    free(body->null_counts);
    free(body->buffer_start);
    free(body->buffer_bytes);
    free(body);
}

enum nt_status nt_arrow_body_new(const struct nt_arrow *arrow, uint32_t cluster,
                                 struct nt_arrow_body **body_ret, struct nt_error *error)
{
    enum nt_status status = NT_OK;
    struct nt_arrow_body *body = calloc(1, sizeof(*body));
    if (!body)
        return nt_fail_memory(error);
    body->cluster = cluster;
    body->slots = calloc(arrow->node_count, sizeof(uint64_t));
    body->null_counts = calloc(arrow->node_count, sizeof(uint64_t));
    body->buffer_start = calloc((size_t)arrow->buffer_count + 1, sizeof(uint64_t));
    body->buffer_bytes = calloc((size_t)arrow->buffer_count + 1, sizeof(uint64_t));
    if (!body->slots || !body->null_counts || !body->buffer_start || !body->buffer_bytes) {
        status = nt_fail_memory(error);
        goto out;
    }
    body->slots[0] = rows_between(arrow->entries, cluster);
    for (uint32_t i = 1; i < arrow->node_count && status == NT_OK; i++)
        status = count_node(arrow, i, body, error);
    if (status == NT_OK && !place_buffers(arrow, body))
        status = too_large(arrow, cluster, error);
out:
    if (status != NT_OK) {
        nt_arrow_body_free(body);
        return status;
    }
    *body_ret = body;
    return NT_OK;
}

/* ---- All batches ---- */

/* Sets the clusters in entry order. Every top-level field has them, with one row per entry. A dataset
 * without fields is one batch. */
static enum nt_status set_clusters(struct nt_arrow *arrow, struct nt_error *error)
{
    struct nt_dataset *dataset = arrow->dataset;
    if (dataset->top_count && !dataset->field_groups)
        return nt_field_row_borders(arrow->reader, dataset, dataset->children[0], &arrow->entries,
                                    &arrow->cluster_count, error);
    uint32_t parts = dataset->field_groups ? dataset->part_count : 1;
    arrow->entries = calloc((size_t)parts + 1, sizeof(uint64_t));
    if (!arrow->entries)
        return nt_fail_memory(error);
    if (dataset->field_groups) {
        for (uint32_t i = 0; i <= parts; i++)
            arrow->entries[i] = nt_dataset_selected_before(dataset, dataset->part_borders[i]);
        arrow->cluster_count = parts;
        return NT_OK;
    }
    arrow->entries[1] = nt_dataset_entries(dataset);
    arrow->cluster_count = arrow->entries[1] > 0;
    return NT_OK;
}

/* Adds the batch of a cluster, or omits a cluster that Arrow cannot hold. */
static enum nt_status add_batch(struct nt_arrow *arrow, uint32_t cluster, struct nt_error *error)
{
    struct nt_arrow_body *body;
    enum nt_status status = nt_arrow_body_new(arrow, cluster, &body, error);
    if (status == NT_LIMIT) {
        arrow->omitted_clusters[arrow->omitted_cluster_count++] = cluster;
        return NT_OK;
    }
    if (status != NT_OK)
        return status;
    arrow->batches[arrow->batch_count++] = (struct nt_arrow_batch){
        .cluster = cluster,
        .has_large = body->has_large,
        .body_bytes = body->buffer_start[arrow->buffer_count],
    };
    if (arrow->batch_count == 1)
        arrow->recent[0] = body;
    else
        nt_arrow_body_free(body);
    return NT_OK;
}

enum nt_status nt_arrow_build_batches(struct nt_arrow *arrow, struct nt_error *error)
{
    enum nt_status status = set_clusters(arrow, error);
    bool is_split = false;
    if (status == NT_OK)
        status = nt_arrow_cut_entries(arrow, error);
    if (status == NT_OK)
        status = load_all_borders(arrow, error);
    if (status == NT_OK && arrow->limits.batch_bytes)
        status = nt_arrow_regroup(arrow, arrow->limits.batch_bytes, error);
    if (status == NT_OK && arrow->limits.batch_bytes)
        status = load_all_borders(arrow, error);
    if (status == NT_OK)
        status = nt_arrow_split(arrow, &is_split, error);
    if (status == NT_OK && is_split)
        status = load_all_borders(arrow, error);
    nt_arrow_free_cuts(arrow);
    if (status != NT_OK)
        return status;
    arrow->batches = calloc((size_t)arrow->cluster_count + 1, sizeof(*arrow->batches));
    arrow->omitted_clusters = calloc((size_t)arrow->cluster_count + 1, sizeof(uint32_t));
    if (status == NT_OK && (!arrow->batches || !arrow->omitted_clusters))
        status = nt_fail_memory(error);
    for (uint32_t cluster = 0; cluster < arrow->cluster_count && status == NT_OK; cluster++)
        status = add_batch(arrow, cluster, error);
    return status;
}

uint32_t nt_arrow_omitted_clusters(const struct nt_arrow *arrow)
{
    return arrow->omitted_cluster_count;
}

uint64_t nt_arrow_omitted_cluster(const struct nt_arrow *arrow, uint32_t number, uint64_t *first_entry_ret)
{
    const uint64_t *entries = arrow->entries + arrow->omitted_clusters[number];
    *first_entry_ret = entries[0];
    return entries[1] - entries[0];
}
