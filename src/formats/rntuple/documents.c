/* SPDX-License-Identifier: MIT
 *
 * The table of an RNTuple's documents: each envelope decoded as JSON, as an annotated hex dump, as its
 * uncompressed bytes and as its stored bytes.
 */
#include "formats/rntuple/rntuple.h"

#include "core/base/memory.h"
#include "core/model/model.h"

/* Writes the bytes of an envelope including preamble and checksum. */
static enum nt_status write_envelope(const struct nt_dataset *dataset, enum nt_envelope_kind kind,
                                     uint64_t number, struct nt_buffer *out, struct nt_error *error)
{
    struct nt_envelope envelope;
    enum nt_status status = nt_rntuple_load_envelope(dataset, kind, (uint32_t)number, &envelope, error);
    if (status != NT_OK)
        return status;
    nt_buffer_append(out, envelope.bytes, envelope.length);
    nt_envelope_deinit(&envelope);
    return NT_OK;
}

#define WRITE(function)                                                                                      \
    static enum nt_status function(const struct nt_file *file, const struct nt_dataset *dataset,             \
                                   uint64_t number, struct nt_buffer *out, struct nt_error *error)

WRITE(write_header_json)
{
    return nt_rntuple_of(dataset)->generation->is_predraft ? nt_predraft_header_json(dataset, out, error)
                                                           : nt_header_json(dataset, out, error);
}

WRITE(write_footer_json)
{
    return nt_rntuple_of(dataset)->generation->is_predraft ? nt_predraft_footer_json(dataset, out, error)
                                                           : nt_footer_json(dataset, out, error);
}

WRITE(write_metadata_json)
{
    return nt_metadata_json(dataset, out, error);
}

WRITE(write_header_bytes)
{
    return write_envelope(dataset, NT_ENVELOPE_HEADER, number, out, error);
}

WRITE(write_footer_bytes)
{
    return write_envelope(dataset, NT_ENVELOPE_FOOTER, number, out, error);
}

WRITE(write_page_list_bytes)
{
    return write_envelope(dataset, NT_ENVELOPE_PAGE_LIST, number, out, error);
}

/* The link to an envelope contains its length. */
static uint64_t header_bytes(const struct nt_dataset *dataset, uint64_t number)
{
    return nt_rntuple_of(dataset)->anchor.header.length;
}

static uint64_t footer_bytes(const struct nt_dataset *dataset, uint64_t number)
{
    return nt_rntuple_of(dataset)->anchor.footer.length;
}

static uint64_t page_list_bytes(const struct nt_dataset *dataset, uint64_t number)
{
    return nt_rntuple_of(dataset)->page_lists[number].length;
}

static uint64_t count_page_lists(const struct nt_file *file, const struct nt_dataset *dataset)
{
    return nt_rntuple_of(dataset)->page_list_count;
}

static enum nt_status open_page_list_json(const struct nt_file *file, const struct nt_dataset *dataset,
                                          uint64_t number, struct nt_text_generator **text_ret,
                                          struct nt_error *error)
{
    return nt_page_list_json_open(dataset, (uint32_t)number, text_ret, error);
}

/* The text is about nine times as long as the envelope. */
static enum nt_status is_page_list_short(const struct nt_file *file, const struct nt_dataset *dataset,
                                         uint64_t number, bool *is_short_ret, struct nt_error *error)
{
    enum { MAX_BYTES = 512 << 10 };
    *is_short_ret = page_list_bytes(dataset, number) <= MAX_BYTES;
    return NT_OK;
}

/* ---- Annotated bytes: about twenty times as long as the envelope ---- */

#define ANNOTATED(open_function, is_short_function, kind, bytes_function)                                    \
    static enum nt_status open_function(const struct nt_file *file, const struct nt_dataset *dataset,        \
                                        uint64_t number, struct nt_text_generator **text_ret,                \
                                        struct nt_error *error)                                              \
    {                                                                                                        \
        return nt_annotated_open(dataset, kind, (uint32_t)number, text_ret, error);                          \
    }                                                                                                        \
    static enum nt_status is_short_function(const struct nt_file *file, const struct nt_dataset *dataset,    \
                                            uint64_t number, bool *is_short_ret, struct nt_error *error)     \
    {                                                                                                        \
        *is_short_ret = bytes_function(dataset, number) <= 128 << 10;                                        \
        return NT_OK;                                                                                        \
    }

ANNOTATED(open_header_text, is_header_text_short, NT_ENVELOPE_HEADER, header_bytes)
ANNOTATED(open_footer_text, is_footer_text_short, NT_ENVELOPE_FOOTER, footer_bytes)
ANNOTATED(open_page_list_text, is_page_list_text_short, NT_ENVELOPE_PAGE_LIST, page_list_bytes)

/* ---- Bytes as stored: never verified, and as many as are in the file ---- */

/* A payload that is split into several keys can only be read as a whole. */
static uint64_t raw_bytes(const struct nt_dataset *dataset, const struct nt_anchor_link *range)
{
    const struct nt_rntuple *rntuple = nt_rntuple_of(dataset);
    uint64_t maximum = rntuple->anchor.maximum_key_bytes;
    uint64_t there = rntuple->objects ? rntuple->objects->size : dataset->file->source->size;
    if (!maximum || range->stored_bytes <= maximum)
        there = range->offset < there ? there - range->offset : 0;
    return range->stored_bytes < there ? range->stored_bytes : there;
}

static enum nt_status write_raw(const struct nt_dataset *dataset, const struct nt_anchor_link *range,
                                struct nt_buffer *out, struct nt_error *error)
{
    uint64_t bytes = raw_bytes(dataset, range);
    return bytes == 0 ? NT_OK
                      : nt_file_append_range(dataset->file, nt_rntuple_of(dataset)->payload, range->offset,
                                             bytes, out, error);
}

static struct nt_anchor_link anchor_range(const struct nt_dataset *dataset)
{
    const struct nt_anchor *anchor = &nt_rntuple_of(dataset)->anchor;
    return (struct nt_anchor_link){.offset = anchor->offset, .stored_bytes = anchor->stored_bytes};
}

/* Has no bytes if the page list is external. */
static struct nt_anchor_link page_list_range(const struct nt_dataset *dataset, uint64_t number)
{
    const struct nt_locator *locator = &nt_rntuple_of(dataset)->page_lists[number].locator;
    return nt_locator_is_local(locator)
               ? (struct nt_anchor_link){.offset = locator->offset, .stored_bytes = locator->bytes}
               : (struct nt_anchor_link){0};
}

WRITE(write_anchor_raw)
{
    const struct nt_anchor_link range = anchor_range(dataset);
    const uint64_t bytes = raw_bytes(dataset, &range);
    return nt_file_append_range(dataset->file, dataset->file->source, range.offset, bytes, out, error);
}

WRITE(write_header_raw)
{
    return write_raw(dataset, &nt_rntuple_of(dataset)->anchor.header, out, error);
}

WRITE(write_footer_raw)
{
    return write_raw(dataset, &nt_rntuple_of(dataset)->anchor.footer, out, error);
}

WRITE(write_page_list_raw)
{
    const struct nt_anchor_link range = page_list_range(dataset, number);
    return write_raw(dataset, &range, out, error);
}

static uint64_t anchor_raw_bytes(const struct nt_dataset *dataset, uint64_t number)
{
    const struct nt_anchor_link range = anchor_range(dataset);
    return raw_bytes(dataset, &range);
}

static uint64_t header_raw_bytes(const struct nt_dataset *dataset, uint64_t number)
{
    return raw_bytes(dataset, &nt_rntuple_of(dataset)->anchor.header);
}

static uint64_t footer_raw_bytes(const struct nt_dataset *dataset, uint64_t number)
{
    return raw_bytes(dataset, &nt_rntuple_of(dataset)->anchor.footer);
}

static uint64_t page_list_raw_bytes(const struct nt_dataset *dataset, uint64_t number)
{
    const struct nt_anchor_link range = page_list_range(dataset, number);
    return raw_bytes(dataset, &range);
}

/* ---- The table ---- */

const struct nt_document nt_rntuple_documents[] = {
    {.prefix = "anchor.raw", .suffix = "", .write = write_anchor_raw, .bytes = anchor_raw_bytes},
    {.prefix = "header.raw", .suffix = "", .write = write_header_raw, .bytes = header_raw_bytes},
    {.prefix = "footer.raw", .suffix = "", .write = write_footer_raw, .bytes = footer_raw_bytes},
    {.prefix = "header.json", .suffix = "", .write = write_header_json},
    {.prefix = "footer.json", .suffix = "", .write = write_footer_json},
    {.prefix = "metadata.json", .suffix = "", .write = write_metadata_json},
    {.prefix = "header.bin", .suffix = "", .write = write_header_bytes, .bytes = header_bytes},
    {.prefix = "footer.bin", .suffix = "", .write = write_footer_bytes, .bytes = footer_bytes},
    {.prefix = "pagelist.",
     .suffix = ".bin",
     .count = count_page_lists,
     .write = write_page_list_bytes,
     .bytes = page_list_bytes},
    {.prefix = "pagelist.",
     .suffix = ".json",
     .count = count_page_lists,
     .open = open_page_list_json,
     .is_short = is_page_list_short},
    {.prefix = "header.txt", .suffix = "", .open = open_header_text, .is_short = is_header_text_short},
    {.prefix = "footer.txt", .suffix = "", .open = open_footer_text, .is_short = is_footer_text_short},
    {.prefix = "pagelist.",
     .suffix = ".txt",
     .count = count_page_lists,
     .open = open_page_list_text,
     .is_short = is_page_list_text_short},
    {.prefix = "pagelist.",
     .suffix = ".raw",
     .count = count_page_lists,
     .write = write_page_list_raw,
     .bytes = page_list_raw_bytes},
};
const uint32_t nt_rntuple_document_count = sizeof(nt_rntuple_documents) / sizeof(nt_rntuple_documents[0]);
