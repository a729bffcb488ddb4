/* SPDX-License-Identifier: MIT
 *
 * Locates the bytes of blobs (version 2): the file that stores them and the range in it.
 */
#include "formats/lance/dataset/dataset.h"

struct finding {
    const struct nt_lance_dataset *lance;
    const struct nt_lance_data_file *data_file; /* contains the row */
    const struct nt_blob_description *description;
    struct nt_error *error;
    struct nt_folder *folder; /* contains the file */
    struct nt_buffer name;    /* of the file in the folder */
    uint64_t offset;          /* of the blob in the file */
    bool is_whole;            /* the blob is the whole file */
};

/* ---- Beside the data file ---- */

static struct nt_text path_of(const struct nt_lance_data_file *data_file)
{
    return nt_proto_text(data_file->message, NT_LANCE_DATA_FILE_PATH);
}

static enum nt_status find_inline(struct finding *finding)
{
    finding->folder = finding->data_file->folder;
    nt_buffer_append_string(&finding->name, finding->data_file->name);
    finding->offset = finding->description->position;
    return NT_OK;
}

/* Composes the name of a file in a folder beside the data file and with its name. The name has the
 * blob's number, lowest bit first. */
static void put_adjacent_name(struct finding *finding)
{
    enum { ID_BITS = 32 };
    const struct nt_lance_data_file *data_file = finding->data_file;
    struct nt_text path = path_of(data_file), ending = nt_text_of(".lance"), last = path;
    const char *slash = memrchr(path.bytes, '/', path.length);
    if (slash)
        last = (struct nt_text){slash + 1, path.length - (size_t)(slash + 1 - path.bytes)};
    if (last.length > ending.length &&
        memcmp(last.bytes + last.length - ending.length, ending.bytes, ending.length) == 0)
        last.length -= ending.length;
    finding->folder = data_file->folder;
    nt_buffer_append(&finding->name, data_file->name, strlen(data_file->name) - path.length);
    nt_buffer_append(&finding->name, last.bytes, last.length);
    nt_buffer_append_byte(&finding->name, '/');
    for (unsigned bit = 0; bit < ID_BITS; bit++)
        nt_buffer_append_byte(&finding->name, finding->description->id >> bit & 1 ? '1' : '0');
    nt_buffer_append_string(&finding->name, ".blob");
}

static enum nt_status find_packed(struct finding *finding)
{
    put_adjacent_name(finding);
    finding->offset = finding->description->position;
    return NT_OK;
}

static enum nt_status find_dedicated(struct finding *finding)
{
    put_adjacent_name(finding);
    return NT_OK;
}

/* ---- At a URI ---- */

/* A name relative to a base path, used literally. */
static enum nt_status find_in_base(struct finding *finding, const struct nt_lance_base *base)
{
    struct nt_text uri = finding->description->uri;
    if (!nt_folder_is_name_below(uri))
        return nt_fail(finding->error, NT_CORRUPT, NT_NO_OFFSET, "it is not a name inside a base path");
    finding->folder = base ? base->folder : finding->lance->folder;
    nt_buffer_append_string(&finding->name, base ? base->below : finding->lance->manifest.version.root);
    nt_buffer_append(&finding->name, uri.bytes, uri.length);
    return NT_OK;
}

static enum nt_status find_in_base_of(struct finding *finding)
{
    const struct nt_lance_base *base;
    NT_TRY(
        nt_lance_find_base_of(finding->lance, finding->description->id, NT_NO_OFFSET, &base, finding->error));
    return find_in_base(finding, base);
}

/* If the id is 0, the base path is the data file's; without that, it is the dataset. */
static enum nt_status find_managed(struct finding *finding)
{
    const struct nt_lance_base *base;
    finding->offset = finding->description->position;
    if (finding->description->id)
        return find_in_base_of(finding);
    NT_TRY(nt_lance_find_base(finding->lance, finding->data_file->message, NT_LANCE_DATA_FILE_BASE_ID, &base,
                              finding->error));
    return find_in_base(finding, base);
}

/* Puts the path of a URI of a local file; empty if it is something else. */
static void put_path(struct nt_text uri, struct nt_buffer *path)
{
    bool is_encoded = nt_text_skip(&uri, "file://");
    if (is_encoded)
        nt_text_skip(&uri, "localhost");
    if (!uri.length || uri.bytes[0] != '/')
        return;
    for (size_t i = 0; i < uri.length;) {
        uint8_t byte = (uint8_t)uri.bytes[i];
        i += is_encoded ? nt_percent_decode(uri.bytes + i, uri.length - i, &byte) : 1;
        nt_buffer_append_byte(path, (char)byte);
    }
}

static enum nt_status find_by_path(struct finding *finding)
{
    struct nt_buffer path = {0};
    struct nt_text name;
    enum nt_status status = NT_OK;
    put_path(finding->description->uri, &path);
    if (path.failed)
        status = nt_fail_memory(finding->error);
    else if (nt_lance_find_beneath(finding->lance, (struct nt_text){path.bytes, path.length},
                                   &finding->folder, &name))
        nt_buffer_append(&finding->name, name.bytes, name.length);
    else
        status =
            nt_fail(finding->error, NT_UNSUPPORTED, NT_NO_OFFSET,
                    "it is neither inside the dataset nor inside a directory that the option bases allows");
    nt_buffer_deinit(&path);
    return status;
}

static enum nt_status find_external(struct finding *finding)
{
    finding->offset = finding->description->position;
    finding->is_whole = !finding->description->size;
    return finding->description->id ? find_in_base_of(finding) : find_by_path(finding);
}

typedef enum nt_status find_file(struct finding *finding);

static find_file *const kinds[NT_BLOB_KINDS] = {
    [NT_BLOB_INLINE] = find_inline,       [NT_BLOB_PACKED] = find_packed,
    [NT_BLOB_DEDICATED] = find_dedicated, [NT_BLOB_EXTERNAL] = find_external,
    [NT_BLOB_MANAGED] = find_managed,
};

static enum nt_status find(struct finding *finding)
{
    const struct nt_blob_description *description = finding->description;
    enum nt_status status = kinds[description->kind](finding);
    nt_buffer_append_string(&finding->name, "");
    if (status == NT_OK && finding->name.failed)
        status = nt_fail_memory(finding->error);
    if (status != NT_OK && nt_blob_has_uri(description->kind))
        nt_error_context(finding->error, "'%.*s'", (int)description->uri.length, description->uri.bytes);
    return status;
}

/* ---- The file of a blob ---- */

static enum nt_status name_file(const struct finding *finding, enum nt_status status)
{
    if (status == NT_NOT_FOUND)
        status = nt_lance_fail_missing(finding->lance, finding->folder, nt_buffer_string(&finding->name),
                                       "file of the blob", finding->error);
    if (status != NT_OK && !nt_is_transient(status)) {
        const char *name = nt_buffer_string(&finding->name);
        if (finding->error && !strstr(finding->error->message, name))
            nt_error_context(finding->error, "%s", name);
        if (finding->folder != finding->lance->folder)
            nt_error_context(finding->error, "%s", finding->folder->path);
    }
    return status;
}

static enum nt_status open_file(const struct finding *finding, struct nt_blob *blob)
{
    const char *name = nt_buffer_string(&finding->name);
    if (blob->source && blob->folder == finding->folder && strcmp(blob->name, name) == 0)
        return NT_OK;
    nt_blob_deinit(blob);
    blob->folder = finding->folder;
    blob->name = strdup(name);
    return blob->name ? nt_folder_open_file(finding->folder, name, &blob->source, finding->error)
                      : nt_fail_memory(finding->error);
}

static enum nt_status open_blob(const struct finding *finding, uint64_t bytes, struct nt_blob *blob)
{
    uint64_t size, end;
    NT_TRY(open_file(finding, blob));
    NT_TRY(nt_source_size(blob->source, &size, finding->error));
    blob->offset = finding->offset;
    blob->bytes = finding->is_whole ? size : bytes;
    if (!nt_checked_add(blob->offset, blob->bytes, &end))
        end = UINT64_MAX;
    return end <= size ? NT_OK
                       : nt_fail_below(finding->error, NT_TRUNCATED, size, "bytes of the file of the blob",
                                       end, size);
}

/* Sets the size of a blob that is a whole file. */
static enum nt_status name_bytes(const struct finding *finding, struct nt_blob *blob)
{
    struct stat attributes;
    NT_TRY(nt_folder_stat(finding->folder, nt_buffer_string(&finding->name), &attributes, finding->error));
    blob->bytes = (uint64_t)attributes.st_size;
    return NT_OK;
}

enum nt_status nt_lance_find_blob(struct nt_dataset *dataset, uint32_t field, uint32_t part,
                                  const struct nt_blob_description *description, bool opens_file,
                                  struct nt_blob *blob, struct nt_error *error)
{
    const struct nt_lance_dataset *lance = nt_lance_dataset_of(dataset);
    const struct nt_lance_column_location *location =
        &lance->fragments[part].column_locations[lance->schema.parts[field].field];
    struct finding finding = {.lance = lance, .description = description, .error = error};
    if (description->kind >= NT_BLOB_KINDS)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "unknown kind of blob: %u", description->kind);
    blob->bytes = description->size;
    bool needs_file = description->size || description->kind == NT_BLOB_EXTERNAL;
    if (!needs_file || (!opens_file && description->size))
        return NT_OK;
    finding.data_file = &lance->files[lance->fragments[part].first_file + location->file];
    enum nt_status status = find(&finding);
    if (status == NT_OK) {
        status = opens_file ? open_blob(&finding, description->size, blob) : name_bytes(&finding, blob);
        status = name_file(&finding, status);
    }
    nt_buffer_deinit(&finding.name);
    return status;
}
