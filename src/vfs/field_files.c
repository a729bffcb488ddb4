/* SPDX-License-Identifier: MIT
 *
 * The files of a field directory: its logical streams as .bin and .npy, field.json, and the blobs that
 * a field describes, also one file per row in blob.d.
 */
#include "vfs/vfs.h"

/* ---- Blobs ---- */

/* An open content: the data or offsets of all rows, or one row. */
struct blobs_content {
    struct nt_content content;
    struct nt_blobs *blobs; /* of the open file */
    uint64_t row;
    struct nt_blob blob; /* location of the row's bytes */
    struct nt_blobs_cursor cursor;
    pthread_mutex_t lock; /* for the cursor */
};

static enum nt_status read_data(struct nt_content *content, uint64_t offset, void *buffer, size_t bytes,
                                size_t *bytes_ret, struct nt_error *error)
{
    struct blobs_content *of = (struct blobs_content *)content;
    NT_MUTEX_GUARD(&of->lock);
    return nt_blobs_read(of->blobs, &of->cursor, offset, buffer, bytes, error);
}

static enum nt_status read_offsets(struct nt_content *content, uint64_t offset, void *buffer, size_t bytes,
                                   size_t *bytes_ret, struct nt_error *error)
{
    return nt_blobs_read_offsets(((struct blobs_content *)content)->blobs, offset, buffer, bytes, error);
}

static enum nt_status read_row(struct nt_content *content, uint64_t offset, void *buffer, size_t bytes,
                               size_t *bytes_ret, struct nt_error *error)
{
    const struct blobs_content *of = (const struct blobs_content *)content;
    return nt_blobs_read_row(of->blobs, of->row, &of->blob, offset, buffer, bytes, error);
}

static void close_blobs(struct nt_content *content)
{
    struct blobs_content *of = (struct blobs_content *)content;
    nt_blob_deinit(&of->blob);
    nt_blobs_cursor_deinit(&of->cursor);
    pthread_mutex_destroy(&of->lock);
    free(of);
}

static const struct nt_content_ops data_ops = {.read = read_data, .close = close_blobs};
static const struct nt_content_ops offsets_ops = {.read = read_offsets, .close = close_blobs};
static const struct nt_content_ops row_ops = {.read = read_row, .close = close_blobs};

static enum nt_status new_blobs_content(struct nt_blobs *blobs, const struct nt_content_ops *ops,
                                        struct nt_buffer *header, uint64_t size,
                                        struct blobs_content **content_ret, struct nt_error *error)
{
    struct blobs_content *content = nt_content_new(sizeof(*content), ops, header, size, error);
    if (!content)
        return NT_NO_MEMORY;
    content->blobs = blobs;
    pthread_mutex_init(&content->lock, NULL);
    *content_ret = content;
    return NT_OK;
}

/* ---- Blobs of all rows ---- */

/* The parameter of these rows is NT_STREAM_DATA or NT_STREAM_OFFSETS. */
static bool has_blobs(const struct nt_resolved_node *resolved, unsigned unused)
{
    return nt_field_has_blobs(resolved->dataset, resolved->field);
}

bool nt_field_shows(const struct nt_dataset *dataset, uint32_t field, enum nt_stream_kind kind)
{
    bool is_of_blobs = kind == NT_STREAM_DATA || kind == NT_STREAM_OFFSETS;
    return nt_field_has_stream(&dataset->fields[field], kind) ||
           (is_of_blobs && nt_field_has_blobs(dataset, field));
}

/* Outside lists, the number of rows follows from the number of entries. */
static enum nt_status count_offsets(const struct nt_resolved_node *resolved, bool may_block,
                                    uint64_t *count_ret, struct nt_error *error)
{
    uint64_t rows;
    if (nt_field_row_parent(resolved->dataset, resolved->field) != NT_NONE)
        NT_TRY(nt_node_need_lists(resolved, resolved->dataset, NT_NONE, may_block, error));
    NT_TRY(nt_field_rows(resolved->vfs->reader, resolved->dataset, resolved->field, &rows, error));
    if (!nt_checked_add(rows, 1, count_ret))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the number of rows overflows");
    return NT_OK;
}

static enum nt_status count_bytes(const struct nt_resolved_node *resolved, bool may_block,
                                  uint64_t *bytes_ret, struct nt_error *error)
{
    struct nt_blobs *blobs;
    NT_TRY(nt_node_blobs(resolved, may_block, &blobs, error));
    return nt_blobs_bytes(blobs, may_block, bytes_ret, error);
}

/* The shape of the bytes of all blobs, or of their end offsets. */
static enum nt_status blobs_shape(const struct nt_resolved_node *resolved, bool may_block,
                                  struct nt_shape *shape, struct nt_error *error)
{
    enum nt_stream_kind kind = resolved->pseudo->parameter;
    struct nt_dtype dtype;
    nt_field_stream_dtype(resolved->dataset, resolved->field, kind, &dtype);
    shape->count = 1;
    NT_TRY(kind == NT_STREAM_DATA ? count_bytes(resolved, may_block, &shape->dimensions[0], error)
                                  : count_offsets(resolved, may_block, &shape->dimensions[0], error));
    if (!nt_checked_multiply(shape->dimensions[0], dtype.bytes, &shape->bytes))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the size of the stream overflows");
    return NT_OK;
}

static enum nt_status open_all_blobs(const struct nt_resolved_node *resolved, struct nt_buffer *header,
                                     uint64_t size, struct nt_content **content_ret, struct nt_error *error)
{
    bool is_data = resolved->pseudo->parameter == NT_STREAM_DATA;
    struct nt_blobs *blobs;
    struct blobs_content *content;
    NT_TRY(nt_node_blobs(resolved, true, &blobs, error));
    NT_TRY(new_blobs_content(blobs, is_data ? &data_ops : &offsets_ops, header, size, &content, error));
    *content_ret = &content->content;
    return NT_OK;
}

/* ---- The blob of one row ---- */

/* Finds the blob of a row. `blob`, all zeros before, may own an open file, even on failure. */
static enum nt_status find_row(const struct nt_resolved_node *resolved, uint64_t row, bool opens_file,
                               struct nt_blobs **blobs_ret, struct nt_blob *blob, struct nt_error *error)
{
    NT_TRY(nt_node_blobs(resolved, true, blobs_ret, error));
    return nt_blobs_find(*blobs_ret, row, opens_file, blob, error);
}

static enum nt_status row_content(const struct nt_resolved_node *resolved, bool may_block, uint64_t *size_ret,
                                  struct nt_content **content_ret, struct nt_error *error)
{
    struct nt_blobs *blobs;
    NT_CLEANUP(nt_blob_deinit) struct nt_blob blob = {0};
    struct blobs_content *content;
    if (!may_block)
        return nt_fail_unknown_size(error);
    NT_TRY(find_row(resolved, resolved->node.number, content_ret, &blobs, &blob, error));
    if (!content_ret) {
        *size_ret = blob.bytes;
        return NT_OK;
    }
    NT_TRY(new_blobs_content(blobs, &row_ops, NULL, blob.bytes, &content, error));
    content->row = resolved->node.number;
    content->blob = blob;
    blob = (struct nt_blob){0}; /* the content closes its file */
    *content_ret = &content->content;
    return NT_OK;
}

const struct nt_pseudo_file nt_blob_file = {"", NT_VFS_SIZED, .content = row_content};

static enum nt_status blobs_find(const struct nt_resolved_node *directory, const char *name,
                                 uint64_t *node_ret, struct nt_error *error)
{
    struct nt_node node = {.type = NT_NODE_BLOB, .owner = directory->node.owner, .item = directory->field};
    struct nt_resolved_node complete = *directory;
    struct nt_blobs *blobs;
    NT_CLEANUP(nt_blob_deinit) struct nt_blob blob = {0};
    if (!nt_parse_between(name, "", "", &node.number))
        return nt_fail_no_such_file(error);
    NT_TRY(nt_node_resolve_stub(&complete, true, error));
    NT_TRY(find_row(&complete, node.number, false, &blobs, &blob, error));
    return nt_node_pack(&node, node_ret) ? NT_OK : nt_fail_no_such_file(error);
}

const struct nt_dir_source nt_dir_source_blobs = {.find = blobs_find};

/* ---- field.json ---- */

static void put_identity(struct nt_json *json, const struct nt_dataset *dataset, const struct nt_field *field)
{
    nt_json_member_unsigned(json, "id", field->id);
    nt_json_member_text(json, "name", field->name);
    nt_json_member_field_path(json, "field", dataset, (uint32_t)(field - dataset->fields));
    nt_json_member_text(json, "type", field->type);
    nt_json_member_text(json, "description", field->description);
    nt_json_member_string(json, "role", nt_role_name(field->role));
    nt_json_member_string(json, "kind", nt_field_kind_name(field->kind));
    nt_json_key(json, "parent_field_id");
    if (field->parent == NT_NONE)
        nt_json_null(json);
    else
        nt_json_unsigned(json, dataset->fields[field->parent].id);
    if (dataset->ops && dataset->ops->describe_field)
        dataset->ops->describe_field(dataset, (uint32_t)(field - dataset->fields), json);
    if (field->is_nullable)
        nt_json_member_bool(json, "is_nullable", true);
    if (field->repetition)
        nt_json_member_unsigned(json, "repetition", field->repetition);
}

static enum nt_status put_columns(struct nt_json *json, const struct nt_resolved_node *resolved,
                                  struct nt_error *error)
{
    uint32_t count;
    struct nt_dataset *physical;
    NT_TRY(nt_dataset_physical(resolved->dataset, &physical, error));
    const uint32_t *columns = nt_field_columns(physical, resolved->field, &count);
    bool are_own = physical->fields[resolved->field].owns_columns;
    nt_json_member_array(json, "columns");
    for (uint32_t i = 0; i < count; i++) {
        const struct nt_column *column = &physical->columns[columns[i]];
        nt_json_object(json);
        nt_json_member_unsigned(json, "id", column->id);
        nt_json_member_string(json, "type", column->type_name);
        nt_json_member_unsigned(json, "bits",
                                nt_decoder_stored_bits(nt_column_decoder(physical, columns[i])));
        nt_json_member_unsigned(json, "representation_index", column->representation);
        nt_json_member_unsigned(json, "index_in_representation", column->position);
        if (are_own)
            nt_json_member_format(json, "directory", "column.%u", i);
        nt_json_end_object(json);
    }
    nt_json_end_array(json);
    return NT_OK;
}

/* "dtype" and "shape" of a stream: [dimensions], or null if page lists would be read. */
static enum nt_status put_type(struct nt_json *json, const struct nt_resolved_node *resolved,
                               enum nt_stream_kind kind, struct nt_error *error)
{
    struct nt_dtype dtype;
    struct nt_shape shape;
    nt_field_stream_dtype(resolved->dataset, resolved->field, kind, &dtype);
    nt_json_key(json, "dtype");
    nt_json_dtype(json, &dtype);
    nt_json_key(json, "shape");
    if (!nt_stream_is_known(resolved->dataset, resolved->field, kind)) {
        nt_json_null(json);
        return NT_OK;
    }
    NT_TRY(nt_stream_shape(resolved->vfs->reader, resolved->dataset, resolved->field, kind, &shape, error));
    nt_json_array(json);
    for (uint32_t i = 0; i < shape.count; i++)
        nt_json_unsigned(json, shape.dimensions[i]);
    nt_json_end_array(json);
    return NT_OK;
}

/* "dtype" and "shape" of the data stream, then all streams. */
static enum nt_status put_streams(struct nt_json *json, const struct nt_resolved_node *resolved,
                                  struct nt_error *error)
{
    if (nt_field_shows(resolved->dataset, resolved->field, NT_STREAM_DATA)) {
        NT_TRY(put_type(json, resolved, NT_STREAM_DATA, error));
    } else {
        nt_json_member_null(json, "dtype");
        nt_json_member_null(json, "shape");
    }
    nt_json_member_object(json, "streams");
    for (unsigned kind = 0; kind < NT_STREAM_COUNT; kind++) {
        if (!nt_field_shows(resolved->dataset, resolved->field, (enum nt_stream_kind)kind))
            continue;
        nt_json_member_object(json, nt_stream_name(kind));
        NT_TRY(put_type(json, resolved, kind, error));
        nt_json_end_object(json);
    }
    nt_json_end_object(json);
    return NT_OK;
}

static enum nt_status field_json(const struct nt_resolved_node *resolved, struct nt_buffer *out,
                                 struct nt_error *error)
{
    const struct nt_field *field = &resolved->dataset->fields[resolved->field];
    struct nt_json json;
    nt_json_document(&json, out, "field");
    put_identity(&json, resolved->dataset, field);
    NT_TRY(put_streams(&json, resolved, error));
    const struct nt_error *reason = nt_unsupported_known(resolved->dataset, resolved->field);
    if (field->unreadable || reason)
        nt_json_member_string(&json, "unreadable", field->unreadable ? field->unreadable : reason->message);
    if (nt_field_source(field) != NT_NONE) {
        nt_json_key(&json, "source_field_id");
        nt_json_unsigned(&json, resolved->dataset->fields[nt_field_source(field)].id);
        nt_json_member_field_path(&json, "source", resolved->dataset, nt_field_source(field));
    }
    NT_TRY(put_columns(&json, resolved, error));
    nt_json_finish(&json);
    return NT_OK;
}

/* ---- branch.json ---- */

static bool is_branch(const struct nt_resolved_node *resolved, unsigned unused)
{
    const struct nt_dataset_ops *ops = resolved->dataset->ops;
    return ops && ops->is_branch && ops->is_branch(resolved->dataset, resolved->field);
}

static enum nt_status write_branch(const struct nt_resolved_node *resolved, struct nt_buffer *out,
                                   struct nt_error *error)
{
    return resolved->dataset->ops->write_branch(resolved->dataset, resolved->field, out, error);
}

/* ---- The table of field files ---- */

static bool has_stream(const struct nt_resolved_node *resolved, unsigned kind)
{
    return nt_field_has_stream(&resolved->dataset->fields[resolved->field], (enum nt_stream_kind)kind);
}

/* ---- .bin and .npy of streams and of blobs ---- */

static void close_stream(struct nt_content *content)
{
    nt_stream_close(content->stream);
    free(content);
}

static const struct nt_content_ops stream_ops = {.close = close_stream};

static enum nt_status open_stream(const struct nt_resolved_node *resolved, struct nt_buffer *header,
                                  struct nt_content **content_ret, struct nt_error *error)
{
    NT_CLEANUP(nt_stream_close_at) struct nt_stream *stream = NULL;
    NT_TRY(nt_stream_open(resolved->vfs->reader, resolved->dataset, resolved->field,
                          resolved->pseudo->parameter, &stream, error));
    uint64_t size = nt_stream_elements(stream) * nt_stream_element_bytes(stream);
    struct nt_content *content = nt_content_new(sizeof(*content), &stream_ops, header, size, error);
    if (!content)
        return NT_NO_MEMORY;
    content->stream = stream;
    stream = NULL; /* the content closes it */
    *content_ret = content;
    return NT_OK;
}

/* Does the file contain the field's own stream, not that of the blobs that it describes? */
static bool is_own(const struct nt_resolved_node *resolved)
{
    return has_stream(resolved, resolved->pseudo->parameter);
}

static enum nt_status array_shape(const struct nt_resolved_node *resolved, bool may_block,
                                  struct nt_shape *shape, struct nt_error *error)
{
    enum nt_stream_kind kind = resolved->pseudo->parameter;
    if (!is_own(resolved))
        return blobs_shape(resolved, may_block, shape, error);
    if (!nt_stream_is_known(resolved->dataset, resolved->field, kind))
        NT_TRY(nt_node_need_lists(resolved, resolved->dataset, NT_NONE, may_block, error));
    return nt_stream_shape(resolved->vfs->reader, resolved->dataset, resolved->field, kind, shape, error);
}

static enum nt_status put_header(const struct nt_resolved_node *resolved, const struct nt_shape *shape,
                                 struct nt_buffer *header, struct nt_error *error)
{
    enum nt_stream_kind kind = resolved->pseudo->parameter;
    struct nt_dtype dtype;
    nt_field_stream_dtype(resolved->dataset, resolved->field, kind, &dtype);
    bool is_fortran_order =
        kind == NT_STREAM_DATA && nt_field_is_fortran_order(&resolved->dataset->fields[resolved->field]);
    nt_npy_header(header, &dtype, is_fortran_order, shape->dimensions, shape->count);
    return header->failed ? nt_fail_memory(error) : NT_OK;
}

static enum nt_status array_content(const struct nt_resolved_node *resolved, bool may_block,
                                    uint64_t *size_ret, struct nt_content **content_ret,
                                    struct nt_error *error)
{
    struct nt_shape shape = {.count = 0};
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer header = {0};
    if (!content_ret || resolved->pseudo->is_npy || !is_own(resolved)) /* else the stream knows its size */
        NT_TRY(array_shape(resolved, may_block, &shape, error));
    if (resolved->pseudo->is_npy)
        NT_TRY(put_header(resolved, &shape, &header, error));
    if (content_ret)
        return is_own(resolved) ? open_stream(resolved, &header, content_ret, error)
                                : open_all_blobs(resolved, &header, shape.bytes, content_ret, error);
    *size_ret = shape.bytes + header.length;
    return NT_OK;
}

/* ---- The numbers of a fixed-size list ---- */

/* The innermost item of arrays; NT_NONE: the field is no array. */
static uint32_t innermost_item(const struct nt_dataset *dataset, uint32_t field)
{
    uint32_t at = field, count;
    while (at != NT_NONE && dataset->fields[at].kind == NT_FIELD_ARRAY) {
        const uint32_t *items = nt_dataset_children(dataset, at, &count);
        at = count == 1 ? items[0] : NT_NONE;
    }
    return at == field ? NT_NONE : at;
}

/* Is the field an array of numbers? Its data.npy is that of the numbers, whose shape begins with rows. */
static bool has_numbers(const struct nt_resolved_node *resolved, unsigned unused)
{
    uint32_t item = innermost_item(resolved->dataset, resolved->field);
    return item != NT_NONE && resolved->dataset->fields[item].kind == NT_FIELD_VALUE;
}

static struct nt_resolved_node numbers_of(const struct nt_resolved_node *resolved)
{
    struct nt_resolved_node numbers = *resolved;
    numbers.field = innermost_item(resolved->dataset, resolved->field);
    return numbers;
}

static enum nt_status numbers_content(const struct nt_resolved_node *resolved, bool may_block,
                                      uint64_t *size_ret, struct nt_content **content_ret,
                                      struct nt_error *error)
{
    struct nt_resolved_node numbers = numbers_of(resolved);
    return array_content(&numbers, may_block, size_ret, content_ret, error);
}

/* ---- The table ---- */

static bool is_readable(const struct nt_resolved_node *resolved, unsigned parameter)
{
    return resolved->dataset->fields[resolved->field].kind != NT_FIELD_UNREADABLE;
}

static bool follows_from_entries(const struct nt_resolved_node *resolved)
{
    return resolved->dataset->knows_all_entries &&
           nt_stream_is_known(resolved->dataset, resolved->field, resolved->pseudo->parameter);
}

static bool numbers_follow_from_entries(const struct nt_resolved_node *resolved)
{
    struct nt_resolved_node numbers = numbers_of(resolved);
    return follows_from_entries(&numbers);
}

/* clang-format off */
#define ARRAY(name, kind, ...) \
    {name ".bin", NT_VFS_SIZED, kind, .content = array_content, __VA_ARGS__}, \
    {name ".npy", NT_VFS_SIZED, kind, .is_npy = true, .content = array_content, __VA_ARGS__}
#define STREAM(name, kind) ARRAY(name, kind, .exists = has_stream, .stub_has_size = follows_from_entries)
#define BLOBS(name, kind) ARRAY(name, kind, .exists = has_blobs)
/* clang-format on */

static const struct nt_pseudo_file rows[] = {
    {"field.json", NT_VFS_GENERATED, .generate = field_json},
    {"branch.json", NT_VFS_GENERATED, .exists = is_branch, .generate = write_branch},
    STREAM("data", NT_STREAM_DATA),
    {"data.npy", NT_VFS_SIZED, NT_STREAM_DATA, .is_npy = true, .exists = has_numbers,
     .content = numbers_content, .stub_has_size = numbers_follow_from_entries},
    STREAM("offsets", NT_STREAM_OFFSETS),
    STREAM("tags", NT_STREAM_TAGS),
    STREAM("index", NT_STREAM_INDEX),
    STREAM("valid", NT_STREAM_VALID),
    BLOBS("data", NT_STREAM_DATA),
    BLOBS("offsets", NT_STREAM_OFFSETS),
    {"blob.d", NT_VFS_DIRECTORY, .exists = has_blobs, .dir_sources = {&nt_dir_source_blobs}},
    {"rows.jsonl", NT_VFS_STREAMED, .exists = is_readable, .open_text = nt_rows_jsonl,
     .is_short = nt_rows_are_short},
    {"head.jsonl", NT_VFS_STREAMED, .parameter = NT_HEAD_ROWS, .exists = is_readable,
     .open_text = nt_rows_jsonl, .is_short = nt_rows_are_short, .equals_previous = nt_head_has_all_rows},
};

const struct nt_pseudo_table nt_field_files = {rows, sizeof(rows) / sizeof(rows[0])};
