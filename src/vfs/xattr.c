/* SPDX-License-Identifier: MIT
 *
 * Extended attributes: what is asked most about a field, a column, a page or a data set, as short texts. A
 * table of names; a row's function appends its value, or says NT_NOT_FOUND where the node has no such thing.
 */
#include <stdlib.h>
#include <string.h>

#include "json/number.h"
#include "vfs/documents.h"
#include "vfs/shape.h"

static const char prefix[] = "user.ntuplefs.";

struct attribute {
    const char *name;
    enum nt_status (*get)(const struct nt_scope *scope, struct nt_buffer *value);
    /* Whether the node has it, as far as can be told without work. */
    bool (*has)(const struct nt_scope *scope);
};

/* ---- which nodes have what ---- */

static bool is_page(const struct nt_scope *scope)
{
    return scope->node.level == NT_LEVEL_PAGE_RAW || scope->node.level == NT_LEVEL_PAGE_BIN;
}

static bool in_good_dataset(const struct nt_scope *scope)
{
    return scope->dataset && !scope->dataset->failure;
}

static bool in_field(const struct nt_scope *scope)
{
    return scope->field != NT_NONE;
}

static bool in_column(const struct nt_scope *scope)
{
    return scope->column != NT_NONE;
}

static bool in_file(const struct nt_scope *scope)
{
    return scope->file != NULL;
}

/* The column that describes the node: its own, else the principal one of the field. */
static uint32_t column_of(const struct nt_scope *scope)
{
    if (in_column(scope) || !in_field(scope))
        return scope->column;
    return nt_field_column(scope->dataset, scope->field, 0, 0);
}

static bool has_column(const struct nt_scope *scope)
{
    return in_good_dataset(scope) && column_of(scope) != NT_NONE;
}

/* The node's page, or the first of its column. */
static enum nt_status find_page(const struct nt_scope *scope, const struct nt_page **page_ret)
{
    uint32_t cluster;
    uint64_t first_element;
    return nt_column_page(scope->vfs->reader, scope->dataset, column_of(scope),
                          is_page(scope) ? scope->node.number : 0, page_ret, &cluster, &first_element, NULL);
}

/* Whether a first page can tell; a page list that is bad is told when the value is asked for. */
static bool has_page(const struct nt_scope *scope)
{
    const struct nt_page *page;
    return has_column(scope) && find_page(scope, &page) != NT_NOT_FOUND;
}

static bool has_sums(const struct nt_scope *scope)
{
    return in_column(scope) || (in_field(scope) && scope->dataset->fields[scope->field].owns_columns);
}

static bool has_ratio(const struct nt_scope *scope)
{
    return has_sums(scope) && has_page(scope);
}

static bool is_named(const struct nt_scope *scope)
{
    return scope->dataset != NULL;
}

static const struct nt_field *field_of(const struct nt_scope *scope)
{
    return &scope->dataset->fields[scope->field];
}

/* The stream of a .bin or .npy of the field; data for all else. */
static enum nt_stream_kind stream_of(const struct nt_scope *scope)
{
    bool is_stream =
        scope->node.level == NT_LEVEL_FIELD && scope->pseudo && scope->pseudo->class == NT_VFS_SIZED;
    return is_stream ? scope->pseudo->parameter : NT_STREAM_DATA;
}

static bool has_stream(const struct nt_scope *scope)
{
    return in_field(scope) && !in_column(scope) &&
           nt_field_kind_info(field_of(scope)->kind)->streams >> stream_of(scope) & 1;
}

static bool has_dtype(const struct nt_scope *scope)
{
    return in_column(scope) || has_stream(scope);
}

static bool has_description(const struct nt_scope *scope)
{
    return in_field(scope)          ? field_of(scope)->description.length > 0
           : in_good_dataset(scope) ? scope->dataset->description.length > 0
                                    : false;
}

/* ---- values ---- */

static enum nt_status put_text(struct nt_buffer *value, struct nt_text text)
{
    nt_buffer_append(value, text.bytes, text.length);
    return NT_OK;
}

static enum nt_status put_string(struct nt_buffer *value, const char *text)
{
    nt_buffer_text(value, text ? text : "");
    return NT_OK;
}

static enum nt_status put_number(struct nt_buffer *value, uint64_t number)
{
    nt_buffer_format(value, "%llu", (unsigned long long)number);
    return NT_OK;
}

static enum nt_status get_name(const struct nt_scope *scope, struct nt_buffer *value)
{
    return put_text(value, in_field(scope) ? field_of(scope)->name : scope->dataset->name);
}

static enum nt_status get_type(const struct nt_scope *scope, struct nt_buffer *value)
{
    return put_text(value, field_of(scope)->type);
}

static enum nt_status get_role(const struct nt_scope *scope, struct nt_buffer *value)
{
    return put_string(value, nt_role_name(field_of(scope)->role));
}

static enum nt_status get_dtype(const struct nt_scope *scope, struct nt_buffer *value)
{
    struct nt_dtype dtype;
    if (in_column(scope)) {
        nt_append_column_dtype(value, scope->dataset, scope->column);
        return NT_OK;
    }
    nt_field_stream_dtype(scope->dataset, scope->field, stream_of(scope), &dtype);
    size_t length = strlen(dtype.text), quotes = dtype.text[0] == '\'';
    nt_buffer_append(value, dtype.text + quotes, length - 2 * quotes);
    return NT_OK;
}

static enum nt_status get_shape(const struct nt_scope *scope, struct nt_buffer *value)
{
    struct nt_shape shape;
    enum nt_status status =
        nt_stream_shape(scope->vfs->reader, scope->dataset, scope->field, stream_of(scope), &shape, NULL);
    for (uint32_t i = 0; status == NT_OK && i < shape.count; i++)
        nt_buffer_format(value, i ? ",%llu" : "%llu", (unsigned long long)shape.dimensions[i]);
    return status;
}

static const struct nt_column *column(const struct nt_scope *scope)
{
    return &scope->dataset->columns[column_of(scope)];
}

static enum nt_status get_column_type(const struct nt_scope *scope, struct nt_buffer *value)
{
    return put_string(value, column(scope)->type_name);
}

static enum nt_status get_bits(const struct nt_scope *scope, struct nt_buffer *value)
{
    return put_number(value, scope->dataset->decoders[column(scope)->decoder].bits);
}

static enum nt_status get_encoding(const struct nt_scope *scope, struct nt_buffer *value)
{
    return put_string(value, nt_encoding(scope->dataset->decoders[column(scope)->decoder].encoding)->steps);
}

static enum nt_status get_entries(const struct nt_scope *scope, struct nt_buffer *value)
{
    return put_number(value, scope->dataset->entries);
}

static enum nt_status get_format(const struct nt_scope *scope, struct nt_buffer *value)
{
    return put_string(value, scope->file->format ? scope->file->format->name : NULL);
}

static enum nt_status get_source(const struct nt_scope *scope, struct nt_buffer *value)
{
    return put_string(value, scope->file->path);
}

static enum nt_status get_description(const struct nt_scope *scope, struct nt_buffer *value)
{
    return put_text(value, in_field(scope) ? field_of(scope)->description : scope->dataset->description);
}

static enum nt_status get_writer(const struct nt_scope *scope, struct nt_buffer *value)
{
    return put_text(value, scope->dataset->writer);
}

/* ---- values from page lists ---- */

static enum nt_status get_codec(const struct nt_scope *scope, struct nt_buffer *value)
{
    const struct nt_page *page;
    const char *name;
    enum nt_status status = find_page(scope, &page);
    if (status == NT_OK)
        status = nt_page_algorithm(scope->dataset, page, &name, NULL);
    return status == NT_OK ? put_string(value, name) : status;
}

static enum nt_status get_checksum(const struct nt_scope *scope, struct nt_buffer *value)
{
    const struct nt_page *page;
    enum nt_status status = find_page(scope, &page);
    return status == NT_OK ? put_string(value, nt_checksum(page->checksum)->name) : status;
}

static void add_sums(struct nt_column_sums *sums, const struct nt_column_sums *more)
{
    sums->elements += more->elements;
    sums->pages += more->pages;
    sums->stored_bytes += more->stored_bytes;
    sums->packed_bytes += more->packed_bytes;
    sums->decoded_bytes += more->decoded_bytes;
    sums->is_complete = sums->is_complete && more->is_complete;
}

/* Of the node's page, its column, or all columns of its field. */
static enum nt_status find_sums(const struct nt_scope *scope, struct nt_column_sums *sums)
{
    const struct nt_page *page;
    *sums = (struct nt_column_sums){.is_complete = true};
    if (is_page(scope)) {
        enum nt_status status = find_page(scope, &page);
        if (status != NT_OK)
            return status;
        sums->pages = 1;
        sums->elements = page->elements;
        sums->stored_bytes = page->stored_bytes;
        return nt_page_sizes(scope->dataset, page, &sums->packed_bytes, &sums->decoded_bytes, NULL);
    }
    if (in_column(scope)) {
        nt_column_sums(scope->dataset, scope->column, sums);
    } else {
        const struct nt_field *field = field_of(scope);
        for (uint32_t i = 0; i < field->column_count; i++) {
            struct nt_column_sums more;
            nt_column_sums(scope->dataset, scope->dataset->field_columns[field->first_column + i], &more);
            add_sums(sums, &more);
        }
    }
    return sums->is_complete ? NT_OK : NT_CORRUPT;
}

#define DEFINE_SUM(member)                                                                                   \
    static enum nt_status get_##member(const struct nt_scope *scope, struct nt_buffer *value)                \
    {                                                                                                        \
        struct nt_column_sums sums;                                                                          \
        enum nt_status status = find_sums(scope, &sums);                                                     \
        return status == NT_OK ? put_number(value, sums.member) : status;                                    \
    }

DEFINE_SUM(elements)
DEFINE_SUM(pages)
DEFINE_SUM(stored_bytes)
DEFINE_SUM(decoded_bytes)

static enum nt_status get_ratio(const struct nt_scope *scope, struct nt_buffer *value)
{
    char text[NT_NUMBER_TEXT];
    struct nt_column_sums sums;
    enum nt_status status = find_sums(scope, &sums);
    if (status != NT_OK || sums.stored_bytes == 0)
        return status == NT_OK ? NT_NOT_FOUND : status;
    nt_buffer_append(value, text,
                     nt_format_double((double)sums.packed_bytes / (double)sums.stored_bytes, text));
    return NT_OK;
}

/* ---- the table ---- */

static const struct attribute attributes[] = {
    {"name", get_name, is_named},
    {"type", get_type, in_field},
    {"role", get_role, in_field},
    {"dtype", get_dtype, has_dtype},
    {"shape", get_shape, has_stream},
    {"column_type", get_column_type, has_column},
    {"bits", get_bits, has_column},
    {"encoding", get_encoding, has_column},
    {"codec", get_codec, has_page},
    {"entries", get_entries, in_good_dataset},
    {"elements", get_elements, has_sums},
    {"pages", get_pages, has_sums},
    {"stored_bytes", get_stored_bytes, has_sums},
    {"decoded_bytes", get_decoded_bytes, has_sums},
    {"ratio", get_ratio, has_ratio},
    {"checksum", get_checksum, has_page},
    {"description", get_description, has_description},
    {"format", get_format, in_file},
    {"writer", get_writer, in_good_dataset},
    {"source", get_source, in_file},
};

enum { ATTRIBUTES = sizeof(attributes) / sizeof(attributes[0]) };

static enum nt_status get(const struct nt_scope *scope, const char *name, struct nt_buffer *value,
                          struct nt_error *error)
{
    for (size_t i = 0; i < ATTRIBUTES; i++) {
        if (strcmp(attributes[i].name, name) != 0 || !attributes[i].has(scope))
            continue;
        enum nt_status status = attributes[i].get(scope, value);
        if (status == NT_OK && value->failed)
            status = NT_NO_MEMORY;
        return status == NT_OK ? NT_OK
                               : nt_fail(error, status, NT_NO_OFFSET, "%s%s cannot be told", prefix, name);
    }
    return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "no such attribute");
}

enum nt_status nt_vfs_getxattr(struct nt_vfs *vfs, uint64_t node, const char *name, struct nt_buffer *value,
                               struct nt_error *error)
{
    struct nt_scope scope;
    if (strncmp(name, prefix, sizeof(prefix) - 1) != 0)
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "no such attribute");
    enum nt_status status = nt_scope_open(vfs, node, &scope, error);
    if (status != NT_OK)
        return status;
    status = get(&scope, name + sizeof(prefix) - 1, value, error);
    nt_scope_close(&scope);
    return status;
}

enum nt_status nt_vfs_listxattr(struct nt_vfs *vfs, uint64_t node, struct nt_buffer *names,
                                struct nt_error *error)
{
    struct nt_scope scope;
    enum nt_status status = nt_scope_open(vfs, node, &scope, error);
    if (status != NT_OK)
        return status;
    for (size_t i = 0; i < ATTRIBUTES; i++) {
        if (!attributes[i].has(&scope))
            continue;
        nt_buffer_text(names, prefix);
        nt_buffer_append(names, attributes[i].name, strlen(attributes[i].name) + 1);
    }
    nt_scope_close(&scope);
    return names->failed ? nt_fail_memory(error) : NT_OK;
}
