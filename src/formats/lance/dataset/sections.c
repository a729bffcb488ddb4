/* SPDX-License-Identifier: MIT
 *
 * In: what a manifest tells of its transaction and its indices. Out: their messages (lance's protos/transaction.proto,
 * table.proto), which lie in the manifest's file, behind their length, or are a file of their own.
 */
#include "formats/lance/dataset/sections.h"

#include "core/base/arena.h"
#include "formats/lance/file/details.h"
#include "formats/lance/dataset/manifest.h"
#include "formats/lance/dataset/missing.h"

/* Fields of the manifest. */
static const struct {
    const char *words;
    const struct nt_proto_table *table;
    uint32_t positions[2]; /* where it lies in the file: the first that is there; 0: no more */
    uint32_t file;         /* else what a file is called, 0: there is none */
    const char *folder;    /* that has it */
} sections[] = {
    [NT_LANCE_SECTION_TRANSACTION] = {"transaction",
                                      &nt_lance_transaction,
                                      {NT_LANCE_MANIFEST_TRANSACTION_SECTION,
                                       NT_LANCE_MANIFEST_TRANSACTION_SECTION_DEPRECATED},
                                      NT_LANCE_MANIFEST_TRANSACTION_FILE,
                                      "_transactions"},
    [NT_LANCE_SECTION_INDICES] =
        {"index section", &nt_lance_index_section, {NT_LANCE_MANIFEST_INDEX_SECTION}, 0, NULL},
};

struct section {
    const struct nt_lance_dataset *lance;
    enum nt_lance_section_kind kind;
    struct nt_buffer name;        /* of the file, beneath the data set; empty: there is none */
    struct nt_lance_buffer range; /* of the message in it */
    struct nt_buffer bytes;       /* it */
};

/* ---- where it is ---- */

static bool find_position(const struct section *section, uint64_t *position_ret)
{
    struct nt_proto manifest = section->lance->manifest.message;
    for (unsigned i = 0; i < 2; i++) {
        uint32_t field = sections[section->kind].positions[i];
        if (!field || !nt_proto_has(manifest, field))
            continue;
        *position_ret = nt_proto_number(manifest, field);
        return true;
    }
    return false;
}

static enum nt_status find_in_file(struct section *section, struct nt_source *source, bool has_position,
                                   uint64_t position, struct nt_error *error)
{
    if (has_position)
        return nt_lance_find_section(source, source->size, position, sections[section->kind].words,
                                     section->lance->manifest.offset, &section->range, error);
    section->range = (struct nt_lance_buffer){0, source->size};
    return NT_OK;
}

static enum nt_status name_file(struct section *section, bool has_position, struct nt_error *error)
{
    const struct nt_lance_manifest_file *manifest = &section->lance->manifest;
    uint32_t field = sections[section->kind].file;
    struct nt_text name = nt_proto_text(manifest->message, field);
    if (has_position)
        nt_buffer_text(&section->name, manifest->name);
    else if (field && name.length && !nt_folder_is_name_below(name))
        return nt_fail(error, NT_CORRUPT, manifest->offset, "%s: the %s's file is called '%.*s'",
                       manifest->name, sections[section->kind].words, (int)name.length, name.bytes);
    else if (field && name.length)
        nt_buffer_format(&section->name, "%s%s/%.*s", manifest->version.root, sections[section->kind].folder,
                         (int)name.length, name.bytes);
    return section->name.failed ? nt_fail_memory(error) : NT_OK;
}

/* ---- its bytes ---- */

static struct nt_proto message_of(const struct section *section)
{
    return (struct nt_proto){(const uint8_t *)section->bytes.bytes, section->bytes.length};
}

static enum nt_status read_bytes(struct section *section, const struct nt_dataset *dataset,
                                 struct nt_source *source, struct nt_error *error)
{
    const struct nt_lance_buffer *range = &section->range;
    enum nt_status status =
        nt_file_append_range(dataset->file, source, range->offset, range->bytes, &section->bytes, error);
    return status == NT_OK
               ? nt_proto_check(message_of(section), sections[section->kind].table, range->offset, error)
               : status;
}

static enum nt_status read_section(struct section *section, const struct nt_dataset *dataset,
                                   struct nt_error *error)
{
    const struct nt_lance_dataset *lance = section->lance;
    struct nt_source *source;
    uint64_t position = 0;
    bool has_position = find_position(section, &position);
    enum nt_status status = name_file(section, has_position, error);
    if (status != NT_OK || !section->name.length)
        return status;
    status = nt_folder_open_file(lance->folder, section->name.bytes, &source, error);
    if (status == NT_NOT_FOUND)
        status = nt_lance_fail_missing(lance, lance->folder, section->name.bytes,
                                       sections[section->kind].words, error);
    if (status == NT_OK) {
        status = find_in_file(section, source, has_position, position, error);
        if (status == NT_OK)
            status = read_bytes(section, dataset, source, error);
        nt_source_close(source);
    }
    if (status != NT_OK)
        nt_error_context(error, "%s", section->name.bytes);
    return status;
}

/* ---- documents ---- */

static void put_section(const struct section *section, struct nt_buffer *out)
{
    struct nt_json json;
    bool is_indices = section->kind == NT_LANCE_SECTION_INDICES;
    nt_json_document(&json, out, is_indices ? "lance_indices" : "lance_transaction");
    if (section->name.length) {
        nt_json_member_format(&json, "file", "%s/%s", section->lance->folder->path, section->name.bytes);
        nt_lance_put_message(&json, message_of(section), sections[section->kind].table, &section->range);
    } else {
        nt_json_member_null(&json, "message");
    }
    nt_json_finish(&json);
}

static enum nt_status write_section(const struct nt_dataset *dataset, enum nt_lance_section_kind kind,
                                    bool is_json, struct nt_buffer *out, struct nt_error *error)
{
    struct section section = {.lance = nt_lance_dataset_of(dataset), .kind = kind};
    enum nt_status status = read_section(&section, dataset, error);
    if (status == NT_OK && is_json)
        put_section(&section, out);
    else if (status == NT_OK)
        nt_buffer_append(out, section.bytes.bytes, section.bytes.length);
    nt_buffer_deinit(&section.name);
    nt_buffer_deinit(&section.bytes);
    return status;
}

enum nt_status nt_lance_write_section(const struct nt_dataset *dataset, enum nt_lance_section_kind kind,
                                      struct nt_buffer *out, struct nt_error *error)
{
    return write_section(dataset, kind, true, out, error);
}

enum nt_status nt_lance_write_section_bytes(const struct nt_dataset *dataset, enum nt_lance_section_kind kind,
                                            struct nt_buffer *out, struct nt_error *error)
{
    return write_section(dataset, kind, false, out, error);
}
