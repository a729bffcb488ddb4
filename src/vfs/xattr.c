/* SPDX-License-Identifier: MIT
 *
 * Extended attributes user.ntuplefs.*: a table of names, each with a function that formats its value
 * for a file, dataset, field, column or page, or reports that the node has none.
 */
#include "vfs/vfs.h"

static const char prefix[] = NT_VFS_XATTR_PREFIX;

/* Receives a value, or the reason why there is none. */
struct answer {
    struct nt_buffer *value;
    struct nt_error *error;
};

/* What must be loaded before `has`: names and fields; also the number of entries, rows, or columns. */
enum need { NAMES, ENTRIES, ROWS, COLUMNS };

struct attribute {
    const char *name;
    enum nt_vfs_value kind;
    enum nt_status (*get)(const struct nt_resolved_node *resolved, const struct answer *answer);
    /* Does the node have the attribute, as far as is known without work? */
    bool (*has)(const struct nt_resolved_node *resolved);
    enum need needs;
};

/* ---- Which nodes have what ---- */

static bool is_page(const struct nt_resolved_node *resolved)
{
    return resolved->node.type == NT_NODE_PAGE_RAW || resolved->node.type == NT_NODE_PAGE_BIN ||
           resolved->node.type == NT_NODE_PAGE_FILE;
}

static bool in_good_dataset(const struct nt_resolved_node *resolved)
{
    return resolved->dataset && !resolved->dataset->failure;
}

static bool in_field(const struct nt_resolved_node *resolved)
{
    return resolved->field != NT_NONE;
}

static bool in_column(const struct nt_resolved_node *resolved)
{
    return resolved->column != NT_NONE;
}

static bool in_file(const struct nt_resolved_node *resolved)
{
    return resolved->file != NULL;
}

/* Attributes of the whole file appear on nodes outside datasets. */
static bool is_remote(const struct nt_resolved_node *resolved)
{
    struct nt_remote_names names;
    return in_file(resolved) && !resolved->dataset && nt_source_remote(resolved->file->source, &names);
}

/* Loads the columns. Without success they count as unknown; only system errors fail the call. */
static enum nt_status load_columns(const struct nt_resolved_node *resolved, struct nt_error *error)
{
    struct nt_dataset *physical;
    if (!in_good_dataset(resolved) || !in_field(resolved))
        return NT_OK;
    enum nt_status status = nt_dataset_physical(resolved->dataset, &physical, error);
    return nt_is_environmental(status) ? status : NT_OK;
}

/* Are the columns known? Call it before any access to columns. */
static bool has_physical(const struct nt_resolved_node *resolved)
{
    struct nt_dataset *physical;
    return nt_dataset_physical(resolved->dataset, &physical, NULL) == NT_OK;
}

/* The column that describes the node: its own, else the main column of the field. */
static uint32_t column_of(const struct nt_resolved_node *resolved)
{
    if (in_column(resolved) || !in_field(resolved))
        return resolved->column;
    return nt_field_column(resolved->dataset->physical, resolved->field, 0, 0);
}

static bool has_column(const struct nt_resolved_node *resolved)
{
    return in_good_dataset(resolved) && in_field(resolved) && has_physical(resolved) &&
           column_of(resolved) != NT_NONE;
}

/* Pins the node's page, or the first page of its column. */
static enum nt_status find_page(const struct nt_resolved_node *resolved, struct nt_page_position *place,
                                struct nt_error *error)
{
    return nt_column_page_pin(resolved->vfs->reader, resolved->dataset->physical, column_of(resolved),
                              is_page(resolved) ? resolved->node.number : 0, place, error);
}

/* May there be a first page? Reads no page list: a column without pages in a dataset with entries lists
 * the names, but has no values. */
static bool has_page(const struct nt_resolved_node *resolved)
{
    return is_page(resolved) ||
           (has_column(resolved) && (resolved->dataset->entries > 0 || resolved->file->resolve));
}

static bool has_sums(const struct nt_resolved_node *resolved)
{
    return in_column(resolved) || (in_field(resolved) && has_physical(resolved) &&
                                   resolved->dataset->physical->fields[resolved->field].owns_columns);
}

static bool has_ratio(const struct nt_resolved_node *resolved)
{
    return has_sums(resolved) && has_page(resolved);
}

static bool is_named(const struct nt_resolved_node *resolved)
{
    return resolved->dataset != NULL;
}

static const struct nt_field *field_of(const struct nt_resolved_node *resolved)
{
    return &resolved->dataset->fields[resolved->field];
}

/* The stream of a field's .bin or .npy; data for all other nodes. */
static enum nt_stream_kind stream_of(const struct nt_resolved_node *resolved)
{
    bool is_stream =
        resolved->node.type == NT_NODE_FIELD && resolved->pseudo && resolved->pseudo->class == NT_VFS_SIZED;
    return is_stream ? resolved->pseudo->parameter : NT_STREAM_DATA;
}

static bool has_stream(const struct nt_resolved_node *resolved)
{
    return in_field(resolved) && !in_column(resolved) &&
           nt_field_has_stream(field_of(resolved), stream_of(resolved));
}

static bool has_dtype(const struct nt_resolved_node *resolved)
{
    return in_column(resolved) ||
           (in_field(resolved) && nt_field_shows(resolved->dataset, resolved->field, stream_of(resolved)));
}

static bool has_description(const struct nt_resolved_node *resolved)
{
    return in_field(resolved)          ? field_of(resolved)->description.length > 0
           : in_good_dataset(resolved) ? resolved->dataset->description.length > 0
                                       : false;
}

/* ---- Values ---- */

static enum nt_status put_text(const struct answer *answer, struct nt_text text)
{
    nt_buffer_append(answer->value, text.bytes, text.length);
    return NT_OK;
}

static enum nt_status put_string(const struct answer *answer, const char *text)
{
    nt_buffer_append_string(answer->value, text ? text : "");
    return NT_OK;
}

static enum nt_status put_number(const struct answer *answer, uint64_t number)
{
    nt_buffer_append_format(answer->value, "%llu", (unsigned long long)number);
    return NT_OK;
}

/* Values that need no work. */
#define DEFINE_VALUE(name, put, value)                                                                       \
    static enum nt_status get_##name(const struct nt_resolved_node *resolved, const struct answer *answer)   \
    {                                                                                                        \
        return put(answer, value);                                                                           \
    }

static const struct nt_column *column(const struct nt_resolved_node *resolved)
{
    return &resolved->dataset->physical->columns[column_of(resolved)];
}

static const struct nt_decoder *decoder(const struct nt_resolved_node *resolved)
{
    return nt_column_decoder(resolved->dataset->physical, column_of(resolved));
}

DEFINE_VALUE(name, put_text, in_field(resolved) ? field_of(resolved)->name : resolved->dataset->name)
DEFINE_VALUE(type, put_text, field_of(resolved)->type)
DEFINE_VALUE(role, put_string, nt_role_name(field_of(resolved)->role))
DEFINE_VALUE(column_type, put_string, column(resolved)->type_name)
DEFINE_VALUE(bits, put_number, nt_decoder_stored_bits(decoder(resolved)))
DEFINE_VALUE(encoding, put_string, nt_decoder_steps(decoder(resolved)))
DEFINE_VALUE(entries, put_number, nt_dataset_entries(resolved->dataset))
DEFINE_VALUE(format, put_string, resolved->file->format ? resolved->file->format->name : NULL)
DEFINE_VALUE(file, put_string, resolved->file->path)
DEFINE_VALUE(description, put_text,
             in_field(resolved) ? field_of(resolved)->description : resolved->dataset->description)
DEFINE_VALUE(writer, put_text, resolved->dataset->writer)

static enum nt_status get_dtype(const struct nt_resolved_node *resolved, const struct answer *answer)
{
    if (in_column(resolved))
        return put_string(answer, resolved->dataset->columns[resolved->column].dtype.numpy);
    struct nt_dtype dtype;
    nt_field_stream_dtype(resolved->dataset, resolved->field, stream_of(resolved), &dtype);
    return put_string(answer, dtype.numpy);
}

static enum nt_status get_shape(const struct nt_resolved_node *resolved, const struct answer *answer)
{
    struct nt_shape shape;
    NT_TRY(nt_stream_shape(resolved->vfs->reader, resolved->dataset, resolved->field, stream_of(resolved),
                           &shape, answer->error));
    for (uint32_t i = 0; i < shape.count; i++)
        nt_buffer_append_format(answer->value, i ? ",%llu" : "%llu", (unsigned long long)shape.dimensions[i]);
    return NT_OK;
}

static enum nt_status get_server(const struct nt_resolved_node *resolved, const struct answer *answer)
{
    struct nt_remote_names names;
    nt_source_remote(resolved->file->source, &names);
    return put_string(answer, names.server);
}

static enum nt_status get_validator(const struct nt_resolved_node *resolved, const struct answer *answer)
{
    struct nt_remote_names names;
    nt_source_remote(resolved->file->source, &names);
    if (!names.validator[0])
        return nt_fail(answer->error, NT_NOT_FOUND, NT_NO_OFFSET,
                       "the server does not distinguish versions of the file");
    return put_string(answer, names.validator);
}

/* ---- Values from page lists ---- */

/* Puts the text, unless the status is a failure, for which the page is blamed. */
static enum nt_status put_of_page(const struct nt_resolved_node *resolved, const struct answer *answer,
                                  const struct nt_page *page, enum nt_status status, const char *text)
{
    return status == NT_OK
               ? put_string(answer, text)
               : nt_page_error(resolved->dataset->physical, column_of(resolved), page, status, answer->error);
}

static enum nt_status get_compression(const struct nt_resolved_node *resolved, const struct answer *answer)
{
    NT_CLEANUP(nt_page_unpin_at) struct nt_page_position place = {0};
    const char *name = NULL;
    NT_TRY(find_page(resolved, &place, answer->error));
    enum nt_status status = nt_page_algorithm(resolved->dataset->physical, place.page, &name, answer->error);
    return put_of_page(resolved, answer, place.page, status, name);
}

static enum nt_status get_checksum_kind(const struct nt_resolved_node *resolved, const struct answer *answer)
{
    NT_CLEANUP(nt_page_unpin_at) struct nt_page_position place = {0};
    NT_TRY(find_page(resolved, &place, answer->error));
    return put_string(answer, nt_checksum_info(place.page->checksum)->name);
}

/* The digest that is stored for a page. */
static enum nt_status get_checksum(const struct nt_resolved_node *resolved, const struct answer *answer)
{
    NT_CLEANUP(nt_page_unpin_at) struct nt_page_position place = {0};
    char digest[NT_CHECKSUM_TEXT];
    NT_TRY(find_page(resolved, &place, answer->error));
    if (!nt_checksum_info(place.page->checksum)->bytes)
        return nt_fail(answer->error, NT_NOT_FOUND, NT_NO_OFFSET, "the page has no digest");
    enum nt_status status =
        nt_page_load_digest(resolved->dataset->physical, place.page, digest, answer->error);
    return put_of_page(resolved, answer, place.page, status, digest);
}

static void add_sums(struct nt_column_sums *sums, const struct nt_column_sums *more)
{
    sums->elements += more->elements;
    sums->pages += more->pages;
    sums->stored_bytes += more->stored_bytes;
    sums->packed_bytes += more->packed_bytes;
    sums->decoded_bytes += more->decoded_bytes;
}

/* The sums of the node's page, its column, or all columns of its field. */
static enum nt_status find_sums(const struct nt_resolved_node *resolved, struct nt_column_sums *sums,
                                struct nt_error *error)
{
    struct nt_dataset *physical = resolved->dataset->physical;
    *sums = (struct nt_column_sums){.is_complete = true};
    if (is_page(resolved)) {
        NT_CLEANUP(nt_page_unpin_at) struct nt_page_position place = {0};
        NT_TRY(find_page(resolved, &place, error));
        sums->pages = 1;
        sums->elements = place.page->elements;
        sums->stored_bytes = place.page->stored_bytes;
        return nt_page_sizes(physical, place.page, &sums->packed_bytes, &sums->decoded_bytes, error);
    }
    NT_TRY(nt_groups_load(physical, nt_groups_of_field(physical, resolved->field), error));
    if (in_column(resolved))
        return nt_column_sums(physical, resolved->column, sums, error);
    uint32_t count;
    const uint32_t *columns = nt_field_columns(physical, resolved->field, &count);
    for (uint32_t i = 0; i < count; i++) {
        struct nt_column_sums more;
        NT_TRY(nt_column_sums(physical, columns[i], &more, error));
        add_sums(sums, &more);
    }
    return NT_OK;
}

#define DEFINE_SUM(member)                                                                                   \
    static enum nt_status get_##member(const struct nt_resolved_node *resolved, const struct answer *answer) \
    {                                                                                                        \
        struct nt_column_sums sums;                                                                          \
        NT_TRY(find_sums(resolved, &sums, answer->error));                                                   \
        return put_number(answer, sums.member);                                                              \
    }

DEFINE_SUM(elements)
DEFINE_SUM(pages)
DEFINE_SUM(stored_bytes)
DEFINE_SUM(packed_bytes)
DEFINE_SUM(decoded_bytes)

static enum nt_status get_ratio(const struct nt_resolved_node *resolved, const struct answer *answer)
{
    char text[NT_NUMBER_TEXT];
    struct nt_column_sums sums;
    NT_TRY(find_sums(resolved, &sums, answer->error));
    if (sums.stored_bytes == 0)
        return nt_fail(answer->error, NT_NOT_FOUND, NT_NO_OFFSET, "nothing is stored");
    nt_buffer_append(answer->value, text,
                     nt_format_double((double)sums.packed_bytes / (double)sums.stored_bytes, text));
    return NT_OK;
}

/* ---- The table ---- */

static const struct attribute attributes[] = {
    {"name", NT_VFS_VALUE_TEXT, get_name, is_named, NAMES},
    {"type", NT_VFS_VALUE_TEXT, get_type, in_field, NAMES},
    {"role", NT_VFS_VALUE_TEXT, get_role, in_field, NAMES},
    {"dtype", NT_VFS_VALUE_TEXT, get_dtype, has_dtype, NAMES},
    {"shape", NT_VFS_VALUE_INTEGERS, get_shape, has_stream, ROWS},
    {"column_type", NT_VFS_VALUE_TEXT, get_column_type, has_column, COLUMNS},
    {"bits", NT_VFS_VALUE_INTEGER, get_bits, has_column, COLUMNS},
    {"encoding", NT_VFS_VALUE_TEXT, get_encoding, has_column, COLUMNS},
    {"compression", NT_VFS_VALUE_TEXT, get_compression, has_page, COLUMNS},
    {"entries", NT_VFS_VALUE_INTEGER, get_entries, in_good_dataset, ENTRIES},
    {"elements", NT_VFS_VALUE_INTEGER, get_elements, has_sums, COLUMNS},
    {"pages", NT_VFS_VALUE_INTEGER, get_pages, has_sums, COLUMNS},
    {"stored_bytes", NT_VFS_VALUE_INTEGER, get_stored_bytes, has_sums, COLUMNS},
    {"packed_bytes", NT_VFS_VALUE_INTEGER, get_packed_bytes, has_sums, COLUMNS},
    {"decoded_bytes", NT_VFS_VALUE_INTEGER, get_decoded_bytes, has_sums, COLUMNS},
    {"ratio", NT_VFS_VALUE_REAL, get_ratio, has_ratio, COLUMNS},
    {"checksum_kind", NT_VFS_VALUE_TEXT, get_checksum_kind, has_page, COLUMNS},
    {"checksum", NT_VFS_VALUE_TEXT, get_checksum, is_page, COLUMNS},
    {"description", NT_VFS_VALUE_TEXT, get_description, has_description, NAMES},
    {"format", NT_VFS_VALUE_TEXT, get_format, in_file, NAMES},
    {"writer", NT_VFS_VALUE_TEXT, get_writer, in_good_dataset, NAMES},
    {"file", NT_VFS_VALUE_TEXT, get_file, in_file, NAMES},
    {"server", NT_VFS_VALUE_TEXT, get_server, is_remote, NAMES},
    {"validator", NT_VFS_VALUE_TEXT, get_validator, is_remote, NAMES},
};

enum { ATTRIBUTES = sizeof(attributes) / sizeof(attributes[0]) };

/* NULL: there is no attribute of this name. */
static const struct attribute *find(const char *name)
{
    size_t skip = sizeof(prefix) - 1;
    for (size_t i = 0; i < ATTRIBUTES && strncmp(name, prefix, skip) == 0; i++)
        if (strcmp(attributes[i].name, name + skip) == 0)
            return &attributes[i];
    return NULL;
}

static enum nt_status get(struct nt_resolved_node *resolved, const char *name, struct nt_buffer *value,
                          struct nt_error *error)
{
    const struct answer answer = {value, error};
    const struct attribute *attribute = find(name);
    if (!attribute)
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "no such attribute");
    enum need need = attribute->needs;
    if (need != NAMES && !(need == ENTRIES && resolved->dataset && resolved->dataset->knows_all_entries))
        NT_TRY(nt_node_resolve_stub(resolved, true, error));
    enum nt_status status = need == COLUMNS ? load_columns(resolved, error) : NT_OK;
    if (status == NT_OK && !attribute->has(resolved))
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "no such attribute");
    if (status == NT_OK)
        status = attribute->get(resolved, &answer);
    if (status == NT_OK && value->failed)
        return nt_fail_memory(error);
    return nt_with_context(status, error, "%s", name);
}

enum nt_status nt_vfs_getxattr(struct nt_vfs *vfs, uint64_t node, const char *name, struct nt_buffer *value,
                               struct nt_error *error)
{
    struct nt_request request;
    if (strncmp(name, prefix, sizeof(prefix) - 1) != 0)
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "no such attribute");
    NT_TRY(nt_request_begin(&request, vfs, node, error));
    return nt_request_end(&request, get(&request.resolved, name, value, &request.failure), error);
}

enum nt_vfs_value nt_vfs_xattr_value(const char *name)
{
    const struct attribute *attribute = find(name);
    return attribute ? attribute->kind : NT_VFS_VALUE_TEXT;
}

static enum nt_status list(struct nt_resolved_node *resolved, struct nt_buffer *names, struct nt_error *error)
{
    nt_node_resolve_stub(resolved, false, NULL); /* on failure the names are those of a stub */
    NT_TRY(load_columns(resolved, error));
    for (size_t i = 0; i < ATTRIBUTES; i++) {
        if (!attributes[i].has(resolved))
            continue;
        nt_buffer_append_string(names, prefix);
        nt_buffer_append(names, attributes[i].name, strlen(attributes[i].name) + 1);
    }
    return nt_check_memory(!names->failed, error);
}

enum nt_status nt_vfs_listxattr(struct nt_vfs *vfs, uint64_t node, struct nt_buffer *names,
                                struct nt_error *error)
{
    struct nt_request request;
    NT_TRY(nt_request_begin(&request, vfs, node, error));
    return nt_request_end(&request, list(&request.resolved, names, &request.failure), error);
}
