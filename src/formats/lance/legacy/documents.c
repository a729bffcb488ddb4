/* SPDX-License-Identifier: MIT
 *
 * In: the metadata of an open legacy file. Out: its documents: tail, schema, batches and page table as JSON, and the bytes
 * of its messages.
 */
#include "formats/lance/legacy/documents.h"

#include "formats/lance/file/documents.h"
#include "formats/lance/legacy/metadata_json.h"
#include "formats/lance/legacy/statistics.h"

static enum nt_status write_metadata_bytes(const struct nt_file *file, const struct nt_dataset *dataset,
                                           uint64_t number, struct nt_buffer *out, struct nt_error *error)
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
    {.prefix = "footer.json", .write = nt_lance_write_footer},
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
