/* SPDX-License-Identifier: MIT
 *
 * In: a Bloscpack file. Out: one field "values": an array where NumPy's container metadata tells which, else
 * bytes.
 */
#include "formats/blz/build.h"

#include <string.h>

#include "core/base/arena.h"
#include "core/base/overflow.h"
#include "core/codec/worth.h"
#include "formats/blz/array.h"
#include "formats/blz/failure.h"
#include "formats/blz/metadata.h"

/* What the bytes are. */
struct content {
    struct nt_text type;
    struct nt_blz_dtype dtype;
    uint64_t rows;
    uint64_t *dimensions;
    uint32_t dimension_count;
    bool is_scalar; /* an array without dimensions */
    bool is_fortran_order;
};

/* ---- sizes ---- */

struct totals {
    uint64_t bytes;
    uint64_t item_bytes;
    bool is_crossed; /* an item lies in two chunks */
};

static enum nt_status add_chunk(void *context, const struct nt_bloscpack_chunk *chunk, struct nt_error *error)
{
    struct totals *totals = context;
    totals->is_crossed |= totals->bytes % totals->item_bytes != 0;
    if (!nt_add(totals->bytes, chunk->plain_bytes, &totals->bytes))
        return nt_fail(error, NT_LIMIT, chunk->offset, "more than 2^64 bytes");
    return NT_OK;
}

/* From the header alone where it tells, else from all chunks. */
static enum nt_status sum_up(struct nt_source *source, const struct nt_bloscpack *bloscpack,
                             struct totals *totals, struct nt_error *error)
{
    const struct nt_bloscpack_header *header = &bloscpack->header;
    if (!nt_bloscpack_plain_bytes(header, &totals->bytes)) {
        totals->bytes = 0;
        return nt_bloscpack_walk(source, bloscpack, add_chunk, totals, error);
    }
    totals->is_crossed = header->chunks > 1 && (uint64_t)header->chunk_bytes % totals->item_bytes != 0;
    return NT_OK;
}

/* ---- metadata ---- */

static enum nt_status read_numpy(struct nt_blz_build *build, const json_t *metadata, struct content *content,
                                 struct nt_error *error)
{
    struct nt_arena *arena = build->dataset->arena;
    const json_t *dtype = json_object_get(metadata, "dtype"), *order = json_object_get(metadata, "order");
    if (!json_is_string(dtype))
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "NumPy's metadata has no dtype");
    content->type = (struct nt_text){json_string_value(dtype), json_string_length(dtype)};
    enum nt_status status =
        nt_blz_dtype_parse(arena, content->type.bytes, content->type.length, &content->dtype, error);
    if (status == NT_OK && content->dtype.is_object)
        status = nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "Python objects in a Bloscpack file");
    if (status == NT_OK)
        status = nt_blz_shape_read(arena, json_object_get(metadata, "shape"), &content->rows,
                                   &content->dimensions, &content->dimension_count, error);
    content->is_scalar = json_array_size(json_object_get(metadata, "shape")) == 0;
    content->is_fortran_order = json_is_string(order) && !strcmp(json_string_value(order), "F");
    return status;
}

static bool is_numpy(const json_t *metadata)
{
    const json_t *container = json_object_get(metadata, "container");
    return json_is_string(container) && !strcmp(json_string_value(container), "numpy");
}

/* Metadata may be anything. Where it tells no array, the file is bytes, and metadata.json says why. */
static enum nt_status read_metadata(struct nt_blz_build *build, const struct nt_buffer *text,
                                    struct content *content, bool *is_array_ret, struct nt_error *error)
{
    struct nt_error failure = {0};
    enum nt_status status = nt_blz_json_parse(text->bytes, text->length, &build->dataset->file->budget,
                                              &build->blz->metadata, &failure);
    *is_array_ret = status == NT_OK && is_numpy(build->blz->metadata);
    if (*is_array_ret)
        status = read_numpy(build, build->blz->metadata, content, &failure);
    if (status == NT_LIMIT || nt_is_refused_for_now(status, &failure))
        return nt_fail_with(error, &failure);
    if (status == NT_OK)
        return NT_OK;
    *is_array_ret = false;
    build->blz->metadata_problem = nt_arena_format(build->dataset->arena, "%s", failure.message);
    return build->blz->metadata_problem ? NT_OK : nt_fail_memory(error);
}

/* ---- content ---- */

static struct nt_blz_dtype byte_dtype(void)
{
    return (struct nt_blz_dtype){.dtype = nt_element_dtype(NT_ELEMENT_BYTE), .items = 1};
}

/* Items that begin in one chunk and end in the next are served as bytes, with one more dimension. */
static enum nt_status split_items(struct nt_blz_build *build, struct content *content, struct nt_error *error)
{
    uint32_t count = content->dimension_count + content->dtype.dimension_count;
    uint64_t *dimensions = nt_arena_alloc(build->dataset->arena, count + 1, sizeof(*dimensions));
    if (!dimensions)
        return nt_fail_memory(error);
    for (uint32_t i = 0; i < count; i++)
        dimensions[i] = i < content->dimension_count
                            ? content->dimensions[i]
                            : content->dtype.dimensions[i - content->dimension_count];
    dimensions[count] = content->dtype.dtype.bytes;
    content->dimensions = dimensions;
    content->dimension_count = count + 1;
    content->is_scalar = false;
    content->dtype = byte_dtype();
    return NT_OK;
}

static enum nt_status find_content(struct nt_blz_build *build, struct nt_source *source,
                                   const struct nt_buffer *text, struct content *content,
                                   struct nt_error *error)
{
    bool is_array = false;
    enum nt_status status = NT_OK;
    if (build->blz->bloscpack.header.has_metadata)
        status = read_metadata(build, text, content, &is_array, error);
    struct totals totals = {.item_bytes = is_array ? content->dtype.dtype.bytes : 1};
    if (status == NT_OK)
        status = sum_up(source, &build->blz->bloscpack, &totals, error);
    if (status != NT_OK)
        return status;
    if (is_array && totals.is_crossed && content->is_fortran_order)
        build->blz->metadata_problem = "items in Fortran order lie across the borders of chunks";
    if (!is_array || build->blz->metadata_problem)
        *content = (struct content){.type = {"bytes", 5}, .dtype = byte_dtype(), .rows = totals.bytes};
    else if (totals.is_crossed)
        return split_items(build, content, error);
    return NT_OK;
}

/* What was read of it, unless it repeats itself. */
static void count_metadata(struct nt_blz_build *build, const struct nt_buffer *text)
{
    uint64_t stored = build->blz->bloscpack.metadata.stored_bytes;
    uint64_t worth = nt_worth((const uint8_t *)text->bytes, text->length, false);
    nt_budget_add_metadata(&build->dataset->file->budget, stored < worth ? stored : worth);
}

enum nt_status nt_blz_read_bloscpack(struct nt_blz_build *build, struct nt_source *source,
                                     struct nt_error *error)
{
    struct nt_buffer text = {0};
    struct content content = {0};
    enum nt_status status = nt_bloscpack_open(source, &build->blz->bloscpack, &text, error);
    if (status == NT_OK) {
        count_metadata(build, &text);
        status = find_content(build, source, &text, &content, error);
    }
    nt_buffer_deinit(&text);
    if (status != NT_OK)
        return status;
    struct nt_blz_column column = {.chunking = NT_BLZ_SUPERCHUNKS, .rows = content.rows, .file_count = 1};
    uint32_t field;
    status = nt_blz_add_field(build, NT_NONE, (struct nt_text){"values", 6}, content.type, NT_FIELD_VALUE,
                              &field, error);
    if (status == NT_OK)
        status = nt_blz_add_source(&build->chunks, source, error);
    if (status != NT_OK)
        return status;
    build->model.fields[field].is_scalar = content.is_scalar;
    build->model.fields[field].is_fortran_order = content.is_fortran_order && content.dimension_count > 0;
    return nt_blz_add_column(build, field, &content.dtype, content.dimensions, content.dimension_count,
                             &column, error);
}
