/* SPDX-License-Identifier: MIT
 *
 * Locates the bytes of blobs (version 2): the file that stores them and the range in it.
 */
#include "formats/lance/dataset/dataset.h"

struct blob_search {
    const struct nt_lance_dataset *lance;
    const struct nt_lance_data_file *data_file; /* contains the row */
    const struct nt_blob_description *description;
    struct nt_error *error;
    struct nt_folder *folder; /* contains the file */
    struct nt_buffer name;    /* of the file in the directory */
    uint64_t offset;          /* of the blob in the file */
    bool is_whole;            /* the blob is the whole file */
};

/* ---- Beside the data file ---- */

/* Composes the name of a file in a directory beside the data file and with its name. The name has the
 * blob's number, lowest bit first. */
static void put_adjacent_name(struct blob_search *search)
{
    enum { ID_BITS = 32 };
    const struct nt_lance_data_file *data_file = search->data_file;
    struct nt_text path = nt_proto_text(data_file->message, NT_LANCE_DATA_FILE_PATH), last = path;
    const char *slash = memrchr(path.bytes, '/', path.length);
    if (slash)
        last = (struct nt_text){slash + 1, path.length - (size_t)(slash + 1 - path.bytes)};
    last = nt_lance_stem(last);
    search->folder = data_file->folder;
    nt_buffer_append(&search->name, data_file->name, strlen(data_file->name) - path.length);
    nt_buffer_append(&search->name, last.bytes, last.length);
    nt_buffer_append_byte(&search->name, '/');
    for (unsigned bit = 0; bit < ID_BITS; bit++)
        nt_buffer_append_byte(&search->name, search->description->id >> bit & 1 ? '1' : '0');
    nt_buffer_append_string(&search->name, ".blob");
}

/* ---- At a URI ---- */

/* A name relative to a base path, used literally. */
static enum nt_status find_in_base(struct blob_search *search, const struct nt_lance_base *base)
{
    struct nt_text uri = search->description->uri;
    if (!nt_folder_is_name_below(uri))
        return nt_fail(search->error, NT_CORRUPT, NT_NO_OFFSET, "it is not a name inside a base path");
    search->folder = base ? base->folder : search->lance->folder;
    nt_buffer_append_string(&search->name, base ? base->below : search->lance->manifest.version.root);
    nt_buffer_append(&search->name, uri.bytes, uri.length);
    return NT_OK;
}

static enum nt_status find_in_base_of(struct blob_search *search)
{
    const struct nt_lance_base *base;
    NT_TRY(nt_lance_find_base_of(search->lance, search->description->id, NT_NO_OFFSET, &base, search->error));
    return find_in_base(search, base);
}

/* If the id is 0, the base path is the data file's; without that, it is the dataset. */
static enum nt_status find_managed(struct blob_search *search)
{
    const struct nt_lance_base *base;
    if (search->description->id)
        return find_in_base_of(search);
    NT_TRY(nt_lance_find_base(search->lance, search->data_file->message, NT_LANCE_DATA_FILE_BASE_ID, &base,
                              search->error));
    return find_in_base(search, base);
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

static enum nt_status find_by_path(struct blob_search *search)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer path = {0};
    struct nt_text name;
    put_path(search->description->uri, &path);
    NT_TRY(nt_check_memory(!path.failed, search->error));
    if (!nt_lance_find_beneath(search->lance, (struct nt_text){path.bytes, path.length}, &search->folder,
                               &name))
        return nt_fail(
            search->error, NT_UNSUPPORTED, NT_NO_OFFSET,
            "it is neither inside the dataset nor inside a directory that the option bases allows");
    nt_buffer_append(&search->name, name.bytes, name.length);
    return NT_OK;
}

static enum nt_status find_file(struct blob_search *search)
{
    const struct nt_blob_description *description = search->description;
    search->offset = description->position;
    switch (description->kind) {
    case NT_BLOB_INLINE:
        search->folder = search->data_file->folder;
        nt_buffer_append_string(&search->name, search->data_file->name);
        return NT_OK;
    case NT_BLOB_DEDICATED:
        search->offset = 0;
        put_adjacent_name(search);
        return NT_OK;
    case NT_BLOB_PACKED:
        put_adjacent_name(search);
        return NT_OK;
    case NT_BLOB_EXTERNAL:
        search->is_whole = !description->size;
        return description->id ? find_in_base_of(search) : find_by_path(search);
    default:
        return find_managed(search);
    }
}

static enum nt_status find(struct blob_search *search)
{
    const struct nt_blob_description *description = search->description;
    enum nt_status status = find_file(search);
    nt_buffer_append_string(&search->name, "");
    if (status == NT_OK && search->name.failed)
        status = nt_fail_memory(search->error);
    if (status != NT_OK && nt_blob_has_uri(description->kind))
        nt_error_context(search->error, "'%.*s'", (int)description->uri.length, description->uri.bytes);
    return status;
}

/* ---- The file of a blob ---- */

static enum nt_status name_file(const struct blob_search *search, enum nt_status status)
{
    if (status == NT_NOT_FOUND)
        status = nt_lance_fail_missing(search->lance, search->folder, nt_buffer_string(&search->name),
                                       "file of the blob", search->error);
    if (status != NT_OK && !nt_is_transient(status)) {
        const char *name = nt_buffer_string(&search->name);
        if (search->error && !strstr(search->error->message, name))
            nt_error_context(search->error, "%s", name);
        if (search->folder != search->lance->folder)
            nt_error_context(search->error, "%s", search->folder->path);
    }
    return status;
}

static enum nt_status open_file(const struct blob_search *search, struct nt_blob *blob)
{
    const char *name = nt_buffer_string(&search->name);
    if (blob->source && blob->folder == search->folder && strcmp(blob->name, name) == 0)
        return NT_OK;
    nt_blob_deinit(blob);
    nt_folder_ref(search->folder);
    blob->folder = search->folder;
    blob->name = strdup(name);
    return blob->name ? nt_folder_open_file(search->folder, name, &blob->source, search->error)
                      : nt_fail_memory(search->error);
}

static enum nt_status open_blob(const struct blob_search *search, uint64_t bytes, struct nt_blob *blob)
{
    uint64_t size, end;
    NT_TRY(open_file(search, blob));
    NT_TRY(nt_source_size(blob->source, &size, search->error));
    blob->offset = search->offset;
    blob->bytes = search->is_whole ? size : bytes;
    if (!nt_checked_add(blob->offset, blob->bytes, &end))
        end = UINT64_MAX;
    return end <= size
               ? NT_OK
               : nt_fail_below(search->error, NT_TRUNCATED, size, "bytes of the file of the blob", end, size);
}

/* Sets the size of a blob that is a whole file. */
static enum nt_status name_bytes(const struct blob_search *search, struct nt_blob *blob)
{
    struct stat attributes;
    NT_TRY(nt_folder_stat(search->folder, nt_buffer_string(&search->name), &attributes, search->error));
    blob->bytes = (uint64_t)attributes.st_size;
    return NT_OK;
}

enum nt_status nt_lance_find_blob(struct nt_dataset *dataset, uint32_t field, uint32_t part,
                                  const struct nt_blob_description *description, bool opens_file,
                                  struct nt_blob *blob, struct nt_error *error)
{
    const struct nt_lance_dataset *lance = nt_lance_dataset_of(dataset);
    const struct nt_lance_leaf *leaf = &lance->fragments[part].leaves[lance->schema.parts[field].field];
    struct blob_search search = {.lance = lance, .description = description, .error = error};
    if (description->kind >= NT_BLOB_KINDS)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "unknown kind of blob: %u", description->kind);
    blob->bytes = description->size;
    bool needs_file = description->size || description->kind == NT_BLOB_EXTERNAL;
    if (!needs_file || (!opens_file && description->size))
        return NT_OK;
    search.data_file = &lance->files[lance->fragments[part].first_file + leaf->file];
    enum nt_status status = find(&search);
    if (status == NT_OK) {
        status = opens_file ? open_blob(&search, description->size, blob) : name_bytes(&search, blob);
        status = name_file(&search, status);
    }
    nt_buffer_deinit(&search.name);
    return status;
}
