/* SPDX-License-Identifier: MIT
 *
 * The documents of a dataset: manifest, schema, fragments, tags and branches, and the transaction and
 * index messages stored beside the manifest.
 */
#include "formats/lance/dataset/dataset.h"

/* ---- Transactions and indices ---- */

/* A message beside the manifest. The numbers are those of fields of the manifest. */
struct section_kind {
    const char *words;
    const struct nt_proto_table *table;
    uint32_t positions[2]; /* of the message's offset: the first present one counts; 0: no more */
    uint32_t file;         /* otherwise: of a file's name; 0: none */
    const char *folder;    /* contains that file */
};

enum { TRANSACTION, INDICES };
static const struct section_kind section_kinds[] = {
    [TRANSACTION] = {"transaction",
                     &nt_lance_transaction,
                     {NT_LANCE_MANIFEST_TRANSACTION_SECTION,
                      NT_LANCE_MANIFEST_TRANSACTION_SECTION_DEPRECATED},
                     NT_LANCE_MANIFEST_TRANSACTION_FILE,
                     "_transactions"},
    [INDICES] = {"index section", &nt_lance_index_section, {NT_LANCE_MANIFEST_INDEX_SECTION}, 0, NULL},
};

struct section {
    const struct nt_dataset *dataset;
    const struct nt_lance_dataset *lance;
    const struct section_kind *kind;
    struct nt_buffer name;        /* of the file, relative to the dataset; empty: none */
    struct nt_lance_buffer range; /* of the message in it */
    struct nt_buffer bytes;       /* the message */
};

/* Returns the field with the position of the message; 0: it has a file of its own, or there is none. */
static uint32_t find_position(const struct section *section)
{
    for (unsigned i = 0; i < 2; i++) {
        uint32_t field = section->kind->positions[i];
        if (field && nt_proto_has(section->lance->manifest.message, field))
            return field;
    }
    return 0;
}

static enum nt_status name_file(struct section *section, struct nt_error *error)
{
    const struct nt_lance_manifest_file *manifest = &section->lance->manifest;
    uint32_t field = section->kind->file;
    struct nt_text name = nt_proto_text(manifest->message, field);
    if (find_position(section))
        nt_buffer_append_string(&section->name, manifest->name);
    else if (field && name.length && !nt_folder_is_name_below(name))
        return nt_fail(error, NT_CORRUPT, manifest->offset, "%s: the %s has an invalid file name, '%.*s'",
                       manifest->name, section->kind->words, (int)name.length, name.bytes);
    else if (field && name.length)
        nt_buffer_append_format(&section->name, "%s%s/%.*s", manifest->version.root, section->kind->folder,
                                (int)name.length, name.bytes);
    return nt_check_memory(!section->name.failed, error);
}

static struct nt_proto message_of(const struct section *section)
{
    return (struct nt_proto){(const uint8_t *)section->bytes.bytes, section->bytes.length};
}

static enum nt_status read_message(struct section *section, struct nt_source *source, struct nt_error *error)
{
    const struct nt_lance_manifest_file *manifest = &section->lance->manifest;
    struct nt_lance_buffer *range = &section->range;
    uint32_t position = find_position(section);
    *range = (struct nt_lance_buffer){0, source->size};
    if (position)
        NT_TRY(nt_lance_find_section(source, source->size, nt_proto_number(manifest->message, position),
                                     section->kind->words, manifest->offset, range, error));
    NT_TRY(nt_file_append_range(section->dataset->file, source, range->offset, range->bytes, &section->bytes,
                                error));
    return nt_proto_check(message_of(section), section->kind->table, range->offset, error);
}

static enum nt_status read_section(struct section *section, struct nt_error *error)
{
    const struct nt_lance_dataset *lance = section->lance;
    NT_CLEANUP(nt_source_close_at) struct nt_source *source = NULL;
    NT_TRY(name_file(section, error));
    if (!section->name.length)
        return NT_OK;
    enum nt_status status = nt_folder_open_file(lance->folder, section->name.bytes, &source, error);
    if (status == NT_NOT_FOUND)
        status =
            nt_lance_fail_missing(lance, lance->folder, section->name.bytes, section->kind->words, error);
    if (status == NT_OK)
        status = read_message(section, source, error);
    return nt_with_context(status, error, "%s", section->name.bytes);
}

static void put_section(const struct section *section, struct nt_buffer *out)
{
    bool are_indices = section->kind == &section_kinds[INDICES];
    struct nt_json json;
    nt_json_document(&json, out, are_indices ? "lance_indices" : "lance_transaction");
    if (section->name.length) {
        nt_json_member_format(&json, "file", "%s/%s", section->lance->folder->path, section->name.bytes);
        nt_lance_put_message(&json, message_of(section), section->kind->table, &section->range);
    } else {
        nt_json_member_null(&json, "message");
    }
    nt_json_finish(&json);
}

/* Reads a message again and appends it: as a JSON document, with a null `message` if the version has
 * none, or as bytes. Returns NT_CORRUPT, NT_LIMIT or NT_CHANGED. */
static enum nt_status write_section(const struct nt_document_request *request, bool is_json,
                                    struct nt_buffer *out, struct nt_error *error)
{
    struct section section = {.dataset = request->dataset,
                              .lance = nt_lance_dataset_of(request->dataset),
                              .kind = &section_kinds[request->document->part]};
    enum nt_status status = read_section(&section, error);
    if (status == NT_OK && is_json)
        put_section(&section, out);
    else if (status == NT_OK)
        nt_buffer_append(out, section.bytes.bytes, section.bytes.length);
    nt_buffer_deinit(&section.name);
    nt_buffer_deinit(&section.bytes);
    return status;
}

/* ---- Table of documents ---- */

static void put_manifest(struct nt_json *json, const struct nt_lance_dataset *lance,
                         const struct nt_proto_table *table)
{
    const struct nt_lance_buffer range = {lance->manifest.offset, lance->manifest.message.size};
    nt_json_member_format(json, "file", "%s/%s", lance->folder->path, lance->manifest.name);
    nt_lance_put_message(json, lance->manifest.message, table, &range);
}

static enum nt_status write_manifest(const struct nt_document_request *request, struct nt_buffer *out,
                                     struct nt_error *error)
{
    const struct nt_lance_dataset *lance = nt_lance_dataset_of(request->dataset);
    struct nt_json json;
    nt_json_document(&json, out, "lance_manifest");
    nt_json_member_unsigned(&json, "fragments", lance->fragment_count);
    put_manifest(&json, lance, &nt_lance_manifest);
    nt_json_finish(&json);
    return NT_OK;
}

static enum nt_status write_schema(const struct nt_document_request *request, struct nt_buffer *out,
                                   struct nt_error *error)
{
    struct nt_json json;
    nt_json_document(&json, out, "lance_schema");
    put_manifest(&json, nt_lance_dataset_of(request->dataset), &nt_lance_dataset_schema);
    nt_json_finish(&json);
    return NT_OK;
}

static enum nt_status write_manifest_bytes(const struct nt_document_request *request, struct nt_buffer *out,
                                           struct nt_error *error)
{
    const struct nt_proto message = nt_lance_dataset_of(request->dataset)->manifest.message;
    nt_buffer_append(out, message.bytes, message.size);
    return NT_OK;
}

static uint64_t manifest_bytes(const struct nt_document_request *request)
{
    return nt_lance_dataset_of(request->dataset)->manifest.message.size;
}

/* ---- Beside the manifest ---- */

static enum nt_status write_section_json(const struct nt_document_request *request, struct nt_buffer *out,
                                         struct nt_error *error)
{
    return write_section(request, true, out, error);
}

static enum nt_status write_section_bytes(const struct nt_document_request *request, struct nt_buffer *out,
                                          struct nt_error *error)
{
    return write_section(request, false, out, error);
}

/* Writes the current state, which all versions share. */
static enum nt_status write_refs(const struct nt_document_request *request, struct nt_buffer *out,
                                 struct nt_error *error)
{
    struct nt_folder *folder = nt_lance_dataset_of(request->dataset)->folder;
    struct nt_json json;
    nt_json_document(&json, out, "lance_refs");
    enum nt_status status = nt_lance_put_refs(folder, NT_LANCE_TAGS, "tags", &json, error);
    if (status == NT_OK)
        status = nt_lance_put_refs(folder, NT_LANCE_BRANCHES, "branches", &json, error);
    nt_json_finish(&json);
    return status;
}

/* ---- fragments.jsonl ---- */

static enum nt_status write_fragment(struct nt_lance_text *text, struct nt_buffer *out,
                                     struct nt_error *error)
{
    const struct nt_dataset *dataset = text->dataset;
    uint64_t number = text->next++;
    const struct nt_lance_fragment_part *fragment = &nt_lance_dataset_of(dataset)->fragments[number];
    struct nt_json json;
    nt_json_line(&json, out);
    nt_json_member_unsigned(&json, "fragment", fragment->id);
    nt_json_member_unsigned(&json, "first_entry", dataset->part_boundaries[number]);
    nt_json_member_unsigned(&json, "entries",
                            dataset->part_boundaries[number + 1] - dataset->part_boundaries[number]);
    nt_json_member_unsigned(&json, "deleted_rows", fragment->deleted_rows);
    nt_lance_put_message(&json, fragment->message, &nt_lance_fragment, NULL);
    nt_json_finish(&json);
    return NT_OK;
}

static double share_of_fragments(const struct nt_text_generator *base)
{
    const struct nt_lance_text *text = (const struct nt_lance_text *)base;
    return text->count ? (double)text->next / (double)text->count : 1;
}

static enum nt_status open_fragments(const struct nt_document_request *request,
                                     struct nt_text_generator **text_ret, struct nt_error *error)
{
    return nt_lance_open_text(request->dataset, nt_lance_dataset_of(request->dataset)->fragment_count,
                              write_fragment, share_of_fragments, text_ret, error);
}

/* The text is a few times as long as the messages. */
static enum nt_status are_fragments_short(const struct nt_document_request *request, bool *is_short_ret,
                                          struct nt_error *error)
{
    enum { MAX_BYTES = 256 << 10 };
    *is_short_ret = nt_lance_dataset_of(request->dataset)->manifest.message.size <= MAX_BYTES;
    return NT_OK;
}

/* ---- deletions.jsonl ---- */

/* Loading any field of a fragment finds its deleted rows. Without fields there are no rows. */
static enum nt_status load_any(struct nt_dataset *dataset, uint32_t part, struct nt_error *error)
{
    for (uint32_t i = 0; dataset->field_groups && i < dataset->field_count; i++)
        if (dataset->field_groups[i] != NT_NONE)
            return nt_dataset_load_group(dataset, dataset->field_groups[i] + part, error);
    return NT_OK;
}

/* Writes a line for a run of rows. */
static void write_run(const struct nt_lance_fragment_part *fragment, const struct nt_deletion_run *run,
                      struct nt_buffer *out)
{
    uint64_t end = run[1].first - (run[1].kept - run[0].kept);
    struct nt_json json;
    nt_json_line(&json, out);
    nt_json_member_unsigned(&json, "fragment", fragment->id);
    nt_json_member_unsigned(&json, "first_row", run->first);
    nt_json_member_unsigned(&json, "rows", end - run->first);
    nt_json_finish(&json);
}

/* Writes lines of the current fragment, and advances to the next after the last line. */
static enum nt_status write_deletions(struct nt_lance_text *text, struct nt_buffer *out,
                                      struct nt_error *error)
{
    struct nt_dataset *dataset = text->dataset->file->datasets[text->dataset->index];
    const struct nt_lance_fragment_part *fragment = &nt_lance_dataset_of(dataset)->fragments[text->next];
    const struct nt_deletion_vector *deletions = NULL;
    if (fragment->deleted_rows) {
        NT_TRY(load_any(dataset, (uint32_t)text->next, error));
        deletions = dataset->part_deletions[text->next];
    }
    while (deletions && text->part < deletions->count && out->length < text->end)
        write_run(fragment, &deletions->items[text->part++], out);
    if (!deletions || text->part == deletions->count) {
        text->next++;
        text->part = 0;
    }
    return NT_OK;
}

static enum nt_status open_deletions(const struct nt_document_request *request,
                                     struct nt_text_generator **text_ret, struct nt_error *error)
{
    return nt_lance_open_text(request->dataset, nt_lance_dataset_of(request->dataset)->fragment_count,
                              write_deletions, NULL, text_ret, error);
}

/* There are few deleted rows, in few fragments. */
static enum nt_status are_deletions_short(const struct nt_document_request *request, bool *is_short_ret,
                                          struct nt_error *error)
{
    enum { MAX_FRAGMENTS = 256, MAX_ROWS = 16384 };
    const struct nt_lance_dataset *lance = nt_lance_dataset_of(request->dataset);
    uint64_t fragments = 0, rows = 0;
    for (uint32_t i = 0; i < lance->fragment_count; i++) {
        uint64_t deleted = lance->fragments[i].deleted_rows;
        fragments += deleted > 0;
        rows += deleted;
    }
    *is_short_ret = fragments <= MAX_FRAGMENTS && rows <= MAX_ROWS;
    return NT_OK;
}

const struct nt_document nt_lance_dataset_documents[] = {
    {.prefix = "manifest.json", .write = write_manifest},
    {.prefix = "manifest.bin", .write = write_manifest_bytes, .bytes = manifest_bytes},
    {.prefix = "schema.json", .write = write_schema},
    {.prefix = "transaction.json", .part = TRANSACTION, .write = write_section_json},
    {.prefix = "transaction.bin", .part = TRANSACTION, .write = write_section_bytes},
    {.prefix = "indices.json", .part = INDICES, .write = write_section_json},
    {.prefix = "indices.bin", .part = INDICES, .write = write_section_bytes},
    {.prefix = "refs.json", .write = write_refs},
    {.prefix = "fragments.jsonl", .open = open_fragments, .is_short = are_fragments_short},
    {.prefix = "deletions.jsonl",
     .open = open_deletions,
     .is_short = are_deletions_short,
     .reads_source = true},
    {.prefix = "versions.jsonl",
     .open = nt_lance_open_versions,
     .is_short = nt_lance_versions_are_short,
     .changes = true},
};
const uint32_t nt_lance_dataset_document_count =
    sizeof(nt_lance_dataset_documents) / sizeof(*nt_lance_dataset_documents);

/* ---- ntuple.json, file.json ---- */

static uint64_t count_deleted(const struct nt_lance_dataset *lance)
{
    uint64_t rows = 0;
    for (uint32_t i = 0; i < lance->fragment_count; i++)
        rows += lance->fragments[i].deleted_rows;
    return rows;
}

enum nt_status nt_lance_describe_dataset(const struct nt_dataset *dataset, struct nt_json *json)
{
    const struct nt_lance_dataset *lance = nt_lance_dataset_of(dataset);
    struct nt_proto manifest = lance->manifest.message;
    nt_json_member_unsigned(json, "dataset_version", lance->manifest.version.number);
    nt_json_member_string(json, "branch", *lance->branch ? lance->branch : NULL);
    nt_lance_put_timestamp(json, nt_proto_message(manifest, NT_LANCE_MANIFEST_TIMESTAMP));
    nt_json_member_unsigned(json, "fragments", lance->fragment_count);
    nt_json_member_unsigned(json, "data_files", lance->file_count);
    nt_json_member_unsigned(json, "deleted_rows", count_deleted(lance));
    return NT_OK;
}

enum nt_status nt_lance_describe_dataset_file(const struct nt_file *file, struct nt_json *json,
                                              struct nt_error *error)
{
    nt_json_member_string(json, "kind", "Lance dataset");
    return nt_lance_describe_dataset(file->datasets[0], json);
}
