/* SPDX-License-Identifier: MIT
 *
 * In: a page's place and description from the page list. Out: its decoded elements: read, verified,
 * decompressed, decoded (RNTuple binary format, "Page Locations" and "Column Description"; the other formats
 * map onto the same).
 *
 * The stored bytes and the digest behind them are read in one call, because a source that joins split
 * payloads knows them by their full size. No size is believed before it is compared with a limit.
 */
#include "page/load.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/overflow.h"
#include "page/contexts.h"
#include "page/place.h"

enum { SLOT_STORED = 0, SLOT_PACKED = 1 }; /* of the codec context's scratch memory */

const struct nt_decoder *nt_page_decoder(const struct nt_dataset *dataset, const struct nt_page *page)
{
    return &dataset->decoders[page->decoder];
}

enum nt_status nt_page_sizes(const struct nt_dataset *dataset, const struct nt_page *page,
                             uint64_t *packed_ret, uint64_t *decoded_ret, struct nt_error *error)
{
    const struct nt_decoder *decoder = nt_page_decoder(dataset, page);
    if (!nt_packed_bytes(decoder, page->elements, packed_ret) ||
        !nt_multiply(page->elements, decoder->element_bytes, decoded_ret))
        return nt_fail(error, NT_LIMIT, page->offset, "the sizes of a page of %u elements overflow",
                       page->elements);
    /* Elements of no fixed width (Roaring's containers): they are never compressed, so the stored size tells.
     */
    if (decoder->bits == 0 && nt_encoding(decoder->encoding)->decode)
        *packed_ret = page->stored_bytes;
    return NT_OK;
}

/* ---- one page's way ---- */

struct loading {
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    const struct nt_page *page;
    const struct nt_decoder *decoder;
    const struct nt_encoding *encoding;
    const struct nt_compression *compression;
    struct nt_codec_context *context;
    size_t packed_bytes, decoded_bytes;
    const uint8_t *stored; /* the digest follows */
    bool verify_packed; /* the digest is not that of the stored bytes: it must be that of the packed ones */
    uint8_t *output;
};

static enum nt_status check_readable(const struct loading *load, struct nt_error *error)
{
    const struct nt_page *page = load->page;
    if (page->compression == NT_COMPRESSION_ELSEWHERE)
        return nt_fail(error, NT_UNSUPPORTED, page->offset, "the page is not stored in this file");
    if (load->decoder->encoding == NT_ENCODING_UNKNOWN || !load->encoding->decode)
        return nt_fail(error, NT_UNSUPPORTED, page->offset, "the column's type is not known to this version");
    return NT_OK;
}

static enum nt_status check_sizes(const struct nt_reader *reader, const struct nt_dataset *dataset,
                                  const struct nt_page *page, size_t *packed_ret, size_t *decoded_ret,
                                  struct nt_error *error)
{
    uint64_t packed = 0, decoded = 0, limit = reader->options.maximum_page_bytes;
    enum nt_status status = nt_page_sizes(dataset, page, &packed, &decoded, error);
    if (status != NT_OK)
        return status;
    uint64_t largest = packed > decoded ? packed : decoded;
    if (page->stored_bytes > largest)
        largest = page->stored_bytes;
    if (largest > limit)
        return nt_fail(error, NT_LIMIT, page->offset,
                       "a page of %" PRIu32 " elements takes %" PRIu64
                       " bytes, more than the limit of %" PRIu64,
                       page->elements, largest, limit);
    *packed_ret = (size_t)packed;
    *decoded_ret = (size_t)decoded;
    return NT_OK;
}

static enum nt_status read_stored(struct loading *load, struct nt_error *error)
{
    const struct nt_page *page = load->page;
    size_t bytes = (size_t)page->stored_bytes + nt_checksum(page->checksum)->bytes;
    uint8_t *stored = nt_codec_scratch(load->context, SLOT_STORED, bytes ? bytes : 1);
    if (!stored)
        return nt_fail_memory(error);
    uint64_t start = nt_nanoseconds();
    enum nt_status status =
        bytes ? nt_source_read(load->dataset->sources[page->source], page->offset, stored, bytes, error)
              : NT_OK;
    nt_count(&load->reader->counters.read_nanoseconds, nt_nanoseconds() - start);
    nt_count(&load->reader->counters.stored_bytes, page->stored_bytes);
    load->stored = stored;
    return status;
}

static enum nt_status verify(struct loading *load, const uint8_t *bytes, size_t count, struct nt_error *error)
{
    const struct nt_page *page = load->page;
    if (page->checksum == NT_CHECKSUM_NONE)
        return NT_OK;
    uint64_t start = nt_nanoseconds();
    enum nt_status status = nt_checksum_verify(page->checksum, bytes, count,
                                               load->stored + page->stored_bytes, page->offset, error);
    nt_count(&load->reader->counters.checksum_nanoseconds, nt_nanoseconds() - start);
    return status;
}

/* A digest that may cover either form is tried on the stored bytes first. */
static enum nt_status verify_stored(struct loading *load, struct nt_error *error)
{
    bool covers_either = load->page->checksum_covers == NT_COVERS_STORED_OR_PACKED;
    enum nt_status status =
        verify(load, load->stored, (size_t)load->page->stored_bytes, covers_either ? NULL : error);
    load->verify_packed = covers_either && status == NT_CHECKSUM;
    return load->verify_packed ? NT_OK : status;
}

static const char *const algorithm_names[NT_READER_ALGORITHMS] = {
    "none", "zstd", "lz4", "zlib", "old-zlib", "lzma", "blosclz", "lz4hc", "snappy", "other",
};

const char *nt_reader_algorithm_name(unsigned algorithm)
{
    return algorithm < NT_READER_ALGORITHMS ? algorithm_names[algorithm] : NULL;
}

/* Compressions look at the first 16 bytes at most. */
static const char *stored_algorithm(const struct nt_compression *compression, const struct nt_page *page,
                                    const uint8_t *start, size_t packed_bytes)
{
    return compression->algorithm ? compression->algorithm(start, (size_t)page->stored_bytes, packed_bytes)
                                  : compression->name;
}

static void count_algorithm(struct loading *load, uint64_t nanoseconds)
{
    const char *name = stored_algorithm(load->compression, load->page, load->stored, load->packed_bytes);
    unsigned i = 0;
    while (i < NT_READER_ALGORITHMS - 1 && strcmp(name, algorithm_names[i]))
        i++;
    struct nt_algorithm_counters *counters = &load->reader->counters.algorithms[i];
    nt_count(&counters->pages, 1);
    nt_count(&counters->stored_bytes, load->page->stored_bytes);
    nt_count(&counters->packed_bytes, load->packed_bytes);
    nt_count(&counters->nanoseconds, nanoseconds);
    nt_count(&load->reader->counters.decompress_nanoseconds, nanoseconds);
}

/* Straight into the output where decoding has nothing left to do. */
static enum nt_status decompress(struct loading *load, const uint8_t **packed_ret, struct nt_error *error)
{
    bool in_place = load->encoding->is_identity && load->packed_bytes == load->decoded_bytes;
    uint8_t *packed =
        in_place ? load->output
                 : nt_codec_scratch(load->context, SLOT_PACKED, load->packed_bytes ? load->packed_bytes : 1);
    if (!packed)
        return nt_fail_memory(error);
    uint64_t start = nt_nanoseconds();
    enum nt_status status = load->compression->decompress(load->stored, (size_t)load->page->stored_bytes,
                                                          packed, load->packed_bytes, load->context, error);
    count_algorithm(load, nt_nanoseconds() - start);
    *packed_ret = packed;
    return status;
}

static enum nt_status decode(struct loading *load, const uint8_t *packed, struct nt_error *error)
{
    if (packed == load->output)
        return NT_OK;
    uint64_t start = nt_nanoseconds();
    enum nt_status status = nt_decode(load->decoder, load->page->parameter, packed, load->packed_bytes,
                                      load->output, load->page->elements, error);
    nt_count(&load->reader->counters.decode_nanoseconds, nt_nanoseconds() - start);
    return status;
}

/* Bytes that neither match their digest nor can be decompressed are reported as the former: it is the cause.
 */
static enum nt_status unpack(struct loading *load, const uint8_t **packed_ret, struct nt_error *error)
{
    enum nt_status status = decompress(load, packed_ret, error);
    if (!load->verify_packed || status == NT_NO_MEMORY)
        return status;
    if (status != NT_OK)
        return verify(load, load->stored, (size_t)load->page->stored_bytes, error);
    return verify(load, *packed_ret, load->packed_bytes, error);
}

static enum nt_status load_stages(struct loading *load, struct nt_error *error)
{
    const uint8_t *packed = NULL;
    enum nt_status status = check_readable(load, error);
    if (status == NT_OK)
        status = check_sizes(load->reader, load->dataset, load->page, &load->packed_bytes,
                             &load->decoded_bytes, error);
    if (status == NT_OK)
        status = read_stored(load, error);
    if (status == NT_OK)
        status = verify_stored(load, error);
    if (status == NT_OK)
        status = unpack(load, &packed, error);
    if (status == NT_OK)
        status = decode(load, packed, error);
    return status;
}

enum nt_status nt_page_load(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                            const struct nt_page *page, void *output, struct nt_error *error)
{
    struct loading load = {.reader = reader, .dataset = dataset, .page = page, .output = output};
    load.decoder = nt_page_decoder(dataset, page);
    load.encoding = nt_encoding(load.decoder->encoding);
    load.compression = nt_compression(page->compression);
    load.context = nt_contexts_borrow(reader->contexts);
    if (!load.context)
        return nt_fail_memory(error);
    enum nt_status status = load_stages(&load, error);
    nt_contexts_return(reader->contexts, load.context);
    if (status != NT_OK)
        return nt_page_error(dataset, column, page, status, error);
    nt_count(&reader->counters.pages_decoded, 1);
    nt_count(&reader->counters.decoded_bytes, load.decoded_bytes);
    return NT_OK;
}

enum nt_status nt_page_decoded_bytes(const struct nt_reader *reader, const struct nt_dataset *dataset,
                                     const struct nt_page *page, size_t *bytes_ret, struct nt_error *error)
{
    size_t packed;
    return check_sizes(reader, dataset, page, &packed, bytes_ret, error);
}

/* ---- as stored ---- */

/* Bytes [offset, offset + bytes) of the page's stored bytes with the digest behind them, from where they lie.
 */
static enum nt_status read_raw(struct nt_dataset *dataset, const struct nt_page *page, uint64_t offset,
                               uint8_t *output, size_t bytes, struct nt_error *error)
{
    struct nt_source *source = dataset->sources[page->source];
    if (page->compression == NT_COMPRESSION_ELSEWHERE)
        return nt_fail(error, NT_UNSUPPORTED, page->offset, "the page is not stored in this file");
    if (!dataset->ops || !dataset->ops->page_extents)
        return nt_source_read(source, page->offset + offset, output, bytes, error);
    struct nt_extent *extents = NULL;
    size_t count = 0;
    enum nt_status status = dataset->ops->page_extents(dataset, page, &extents, &count, error);
    for (size_t i = 0; status == NT_OK && bytes && i < count; i++) {
        if (offset >= extents[i].bytes) {
            offset -= extents[i].bytes;
            continue;
        }
        uint64_t left = extents[i].bytes - offset;
        size_t part = left < bytes ? (size_t)left : bytes;
        status = nt_source_read(source, extents[i].offset + offset, output, part, error);
        output += part;
        bytes -= part;
        offset = 0;
    }
    free(extents);
    if (status == NT_OK && bytes)
        status = nt_fail(error, NT_TRUNCATED, page->offset, "the parts of the page are %zu bytes too short",
                         bytes);
    return status;
}

enum nt_status nt_page_load_stored(struct nt_dataset *dataset, const struct nt_page *page, uint64_t offset,
                                   void *output, size_t bytes, struct nt_error *error)
{
    if (!nt_fits(offset, bytes, page->stored_bytes))
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "past the end of the page's stored bytes");
    return bytes ? read_raw(dataset, page, offset, output, bytes, error) : NT_OK;
}

enum nt_status nt_page_load_digest(struct nt_dataset *dataset, const struct nt_page *page, char *hex,
                                   struct nt_error *error)
{
    uint8_t digest[64];
    uint32_t bytes = nt_checksum(page->checksum)->bytes;
    enum nt_status status = NT_OK;
    *hex = '\0';
    if (bytes)
        status = read_raw(dataset, page, page->stored_bytes, digest, bytes, error);
    if (status == NT_OK)
        nt_checksum_text(page->checksum, digest, hex);
    return status;
}

enum nt_status nt_page_algorithm(struct nt_dataset *dataset, const struct nt_page *page,
                                 const char **name_ret, struct nt_error *error)
{
    const struct nt_compression *compression = nt_compression(page->compression);
    uint8_t start[16];
    size_t bytes = page->stored_bytes < sizeof(start) ? (size_t)page->stored_bytes : sizeof(start);
    uint64_t packed = 0, decoded = 0;
    *name_ret = compression->name;
    if (!compression->algorithm)
        return NT_OK;
    enum nt_status status = nt_page_sizes(dataset, page, &packed, &decoded, error);
    if (status == NT_OK)
        status = nt_page_load_stored(dataset, page, 0, start, bytes, error);
    if (status == NT_OK)
        *name_ret = stored_algorithm(compression, page, start, (size_t)packed);
    return status;
}
