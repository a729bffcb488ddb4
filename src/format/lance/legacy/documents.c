/* SPDX-License-Identifier: MIT
 *
 * In: the metadata of an open legacy file. Out: its documents: tail, schema, batches and page table as JSON, and the bytes
 * of its messages.
 */
#include "format/lance/legacy/documents.h"

#include "format/lance/documents.h"
#include "format/lance/legacy/metadata_json.h"
#include "format/lance/legacy/statistics.h"

#define WRITE(function)                                                                                      \
    static enum nt_status function(const struct nt_file *file, const struct nt_dataset *dataset,             \
                                   uint64_t number, struct nt_buffer *out, struct nt_error *error)

WRITE(write_footer)
{
    (void)file, (void)number, (void)error;
    const struct nt_lance_tail *tail = &nt_lance_of(dataset)->tail;
    struct nt_json json;
    nt_json_document(&json, out, "lance_footer");
    nt_json_member_unsigned(&json, "file_offset", tail->offset);
    nt_json_member_unsigned(&json, "stored_bytes", NT_LANCE_LEGACY_TAIL_BYTES);
    nt_json_member_string(&json, "version", tail->version);
    nt_json_member_unsigned(&json, "major_version", tail->major);
    nt_json_member_unsigned(&json, "minor_version", tail->minor);
    nt_json_member_unsigned(&json, "metadata_offset", tail->metadata);
    nt_json_finish(&json);
    return NT_OK;
}

WRITE(write_metadata_bytes)
{
    (void)file, (void)number, (void)error;
    const struct nt_proto message = nt_lance_of(dataset)->legacy->metadata;
    nt_buffer_append(out, message.bytes, message.size);
    return NT_OK;
}

static uint64_t metadata_bytes(const struct nt_dataset *dataset, uint64_t number)
{
    (void)number;
    return nt_lance_of(dataset)->legacy->metadata.size;
}

const struct nt_document nt_lance_legacy_documents[] = {
    {.prefix = "footer.json", .write = write_footer},
    {.prefix = "schema.json", .write = nt_lance_write_schema},
    {.prefix = "metadata.json",
     .open = nt_lance_legacy_metadata_open,
     .is_short = nt_lance_legacy_metadata_is_short},
    {.prefix = "statistics.jsonl",
     .open = nt_lance_statistics_open,
     .is_short = nt_lance_statistics_is_short},
    {.prefix = "schema.bin", .write = nt_lance_write_schema_bytes, .bytes = nt_lance_schema_bytes},
    {.prefix = "metadata.bin", .write = write_metadata_bytes, .bytes = metadata_bytes},
};
const uint32_t nt_lance_legacy_document_count =
    sizeof(nt_lance_legacy_documents) / sizeof(*nt_lance_legacy_documents);
