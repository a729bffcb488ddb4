/* SPDX-License-Identifier: MIT
 *
 * Contents of binary files: decoded and stored bytes of a column or page, and the NumPy header, dtype
 * and shape of the elements.
 */
#include "vfs/vfs.h"

/* ---- Contents ---- */

void *nt_content_new(size_t bytes, const struct nt_content_ops *ops, struct nt_buffer *header, uint64_t size,
                     struct nt_error *error)
{
    struct nt_content *content = calloc(1, bytes);
    size_t header_bytes = header ? header->length : 0;
    if (!content || !nt_checked_add(size, header_bytes, &size)) {
        free(content);
        nt_fail_memory(error);
        return NULL;
    }
    *content = (struct nt_content){.ops = ops,
                                   .size = size,
                                   .header = header ? (uint8_t *)header->bytes : NULL,
                                   .header_bytes = header_bytes};
    if (header)
        *header = (struct nt_buffer){0};
    return content;
}

/* ---- Byte ranges of columns and pages ---- */

struct range_content {
    struct nt_content content;
    struct nt_range_file range_file;
};

#define RANGE_FILE_OF(content) (&((const struct range_content *)(content))->range_file)

static enum nt_status read_decoded(struct nt_content *content, uint64_t offset, void *buffer, size_t bytes,
                                   size_t *bytes_ret, struct nt_error *error)
{
    const struct nt_range_file *range_file = RANGE_FILE_OF(content);
    return nt_column_read(range_file->reader, range_file->dataset, range_file->column,
                          range_file->first_byte + offset, buffer, bytes, error);
}

static enum nt_status read_stored(struct nt_content *content, uint64_t offset, void *buffer, size_t bytes,
                                  size_t *bytes_ret, struct nt_error *error)
{
    const struct nt_range_file *range_file = RANGE_FILE_OF(content);
    enum nt_status status =
        nt_page_load_stored(range_file->dataset, range_file->page, offset, buffer, bytes, error);
    return status == NT_OK
               ? NT_OK
               : nt_page_error(range_file->dataset, range_file->column, range_file->page, status, error);
}

static enum nt_status read_page(struct nt_content *content, uint64_t offset, void *buffer, size_t bytes,
                                size_t *bytes_ret, struct nt_error *error)
{
    const struct nt_range_file *range_file = RANGE_FILE_OF(content);
    return nt_page_read(range_file->reader, range_file->dataset, range_file->column, range_file->page, offset,
                        buffer, bytes, error);
}

static enum nt_status read_source(struct nt_content *content, uint64_t offset, void *buffer, size_t bytes,
                                  size_t *bytes_ret, struct nt_error *error)
{
    const struct nt_range_file *range_file = RANGE_FILE_OF(content);
    return nt_source_read(range_file->dataset->sources[range_file->page->source],
                          range_file->first_byte + offset, buffer, bytes, error);
}

static void close_pinned(struct nt_content *content)
{
    nt_group_unpin(RANGE_FILE_OF(content)->group);
    free(content);
}

const struct nt_content_ops nt_range_file_decoded = {.read = read_decoded, .close = close_pinned};
const struct nt_content_ops nt_range_file_stored = {.read = read_stored, .close = close_pinned};
const struct nt_content_ops nt_range_file_page = {.read = read_page, .close = close_pinned};
const struct nt_content_ops nt_range_file_source = {.read = read_source, .close = close_pinned};

enum nt_status nt_range_file_content(struct nt_range_file *range_file, struct nt_buffer *header,
                                     uint64_t size, const struct nt_content_ops *ops,
                                     struct nt_content **content_ret, struct nt_error *error)
{
    struct range_content *content = nt_content_new(sizeof(*content), ops, header, size, error);
    if (!content)
        return NT_NO_MEMORY;
    content->range_file = *range_file;
    range_file->group = NULL;
    *content_ret = &content->content;
    return NT_OK;
}

/* ---- NumPy headers ---- */

enum { ALIGNMENT = 64, PREFIX_1 = 10, PREFIX_2 = 12 };

/* The descr of a structure is a list, that of a plain type a quoted name. */
static void put_dictionary(struct nt_buffer *out, const struct nt_dtype *dtype, bool is_fortran_order,
                           const uint64_t *shape, size_t dimensions)
{
    const char *quote = dtype->member_count ? "" : "'";
    nt_buffer_append_format(out, "{'descr': %s%s%s, 'fortran_order': %s, 'shape': (", quote, dtype->numpy,
                            quote, is_fortran_order ? "True" : "False");
    for (size_t i = 0; i < dimensions; i++)
        nt_buffer_append_format(out, i ? ", %llu" : "%llu", (unsigned long long)shape[i]);
    nt_buffer_append_string(out, dimensions == 1 ? ",), }" : "), }");
}

void nt_npy_header(struct nt_buffer *out, const struct nt_dtype *dtype, bool is_fortran_order,
                   const uint64_t *shape, size_t dimensions)
{
    struct nt_buffer dictionary = {0};
    put_dictionary(&dictionary, dtype, is_fortran_order, shape, dimensions);
    size_t prefix = dictionary.length + PREFIX_1 + ALIGNMENT > UINT16_MAX ? PREFIX_2 : PREFIX_1;
    while (!dictionary.failed && (prefix + dictionary.length + 1) % ALIGNMENT)
        nt_buffer_append_byte(&dictionary, ' ');
    nt_buffer_append_byte(&dictionary, '\n');
    nt_buffer_append(out, "\x93NUMPY", 6);
    nt_buffer_append_byte(out, prefix == PREFIX_1 ? 1 : 2);
    nt_buffer_append_byte(out, 0);
    for (size_t i = 0; i < prefix - 8; i++)
        nt_buffer_append_byte(out, (char)(dictionary.length >> (8 * i)));
    nt_buffer_append(out, dictionary.bytes, dictionary.length);
    nt_buffer_deinit_part(&dictionary, out);
}

/* ---- Shapes and dtypes ---- */

enum { NT_NUMPY_DIMENSIONS = 32 };

/* Are the elements those of rows, not bytes with their own count? */
static bool has_elements_of_rows(const struct nt_dataset *dataset, uint32_t field, enum nt_stream_kind kind)
{
    const struct nt_stream_row *row = nt_field_stream(&dataset->fields[field], kind);
    return row && row->of == NT_COUNTED_ROWS;
}

bool nt_stream_is_known(const struct nt_dataset *dataset, uint32_t field, enum nt_stream_kind kind)
{
    return nt_field_row_parent(dataset, field) == NT_NONE && has_elements_of_rows(dataset, field, kind);
}

/* The dimensions of a row of the field's data. None if NumPy does not support that many. */
static uint32_t row_dimensions(const struct nt_dataset *dataset, uint32_t field, uint64_t *dimensions)
{
    if (!has_elements_of_rows(dataset, field, NT_STREAM_DATA))
        return 0;
    uint32_t count = nt_field_dimensions(dataset, field, dimensions, NT_MAX_DEPTH + 1);
    return count < NT_NUMPY_DIMENSIONS ? count : 0;
}

/* Restores the file's array without dimensions, if it is the only row that is shown. */
static void drop_rows(const struct nt_field *field, struct nt_shape *shape)
{
    if (!nt_field_is_scalar(field) || shape->dimensions[0] != 1)
        return;
    shape->count--;
    for (uint32_t i = 0; i < shape->count; i++)
        shape->dimensions[i] = shape->dimensions[i + 1];
}

/* The field whose rows are the first dimension: the outermost enclosing array, or the field itself. */
static uint32_t outermost_array(const struct nt_dataset *dataset, uint32_t field)
{
    uint32_t end = nt_field_row_parent(dataset, field), found = field;
    for (uint32_t at = dataset->fields[field].parent; at != end; at = dataset->fields[at].parent)
        if (nt_field_kind_info(dataset->fields[at].kind)->below == NT_BELOW_SEVERAL)
            found = at;
    return found;
}

enum nt_status nt_stream_shape(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                               enum nt_stream_kind kind, struct nt_shape *shape, struct nt_error *error)
{
    struct nt_dtype dtype;
    uint64_t elements, product = 1;
    NT_TRY(nt_field_stream_elements(reader, dataset, field, kind, &elements, error));
    nt_field_stream_dtype(dataset, field, kind, &dtype);
    if (!nt_checked_multiply(elements, dtype.bytes, &shape->bytes))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the size of the stream overflows");
    shape->count = 1;
    shape->dimensions[0] = elements;
    if (kind != NT_STREAM_DATA)
        return NT_OK;
    uint32_t inner = row_dimensions(dataset, field, shape->dimensions + 1);
    for (uint32_t i = 1; i <= inner; i++)
        if (!nt_checked_multiply(product, shape->dimensions[i], &product))
            return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the size of a row overflows");
    shape->count = 1 + inner;
    if (product)
        shape->dimensions[0] = elements / product;
    else
        NT_TRY(nt_field_rows(reader, dataset, outermost_array(dataset, field), &shape->dimensions[0], error));
    drop_rows(&dataset->fields[field], shape);
    return NT_OK;
}

/* ---- Dtypes ---- */

static void put_member(struct nt_json *json, const struct nt_dtype_member *member)
{
    nt_json_array(json);
    nt_json_bytes(json, member->name.bytes, member->name.length);
    nt_json_dtype(json, member->dtype);
    if (member->dimension_count) {
        nt_json_array(json);
        for (uint32_t i = 0; i < member->dimension_count; i++)
            nt_json_unsigned(json, member->dimensions[i]);
        nt_json_end_array(json);
    }
    nt_json_end_array(json);
}

/* Recurses as deep as nested structures, which the formats limit. */
void nt_json_dtype(struct nt_json *json, const struct nt_dtype *dtype)
{
    if (!dtype->member_count) {
        nt_json_string(json, dtype->numpy);
        return;
    }
    nt_json_array(json);
    for (uint32_t i = 0; i < dtype->member_count; i++)
        put_member(json, &dtype->members[i]);
    nt_json_end_array(json);
}
