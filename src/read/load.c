/* SPDX-License-Identifier: MIT
 *
 * Loads a page: reads the stored bytes, verifies the checksum, decompresses and decodes. Includes the
 * pages that a decoder depends on (dictionaries) and the pool of codec contexts with their scratch
 * memory.
 */
#include "read/read.h"

#include "read/page.h"

/* ---- Pool of codec contexts ---- */

enum { KEPT = 16 };

struct nt_scratch_pool {
    pthread_mutex_t lock;
    struct nt_fifo fifo;
    uint64_t limit;
    uint64_t lent, kept;                     /* bytes of borrowed and of idle contexts */
    struct nt_codec_context *idle[KEPT + 1]; /* has one extra slot for use under the lock */
    unsigned count;
};

struct nt_scratch_pool *nt_scratch_pool_new(uint64_t limit)
{
    struct nt_scratch_pool *scratch_pool = calloc(1, sizeof(*scratch_pool));
    if (!scratch_pool)
        return NULL;
    scratch_pool->limit = limit;
    scratch_pool->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    if (!nt_fifo_init(&scratch_pool->fifo))
        return scratch_pool;
    free(scratch_pool);
    return NULL;
}

void nt_scratch_pool_free(struct nt_scratch_pool *scratch_pool)
{
    if (!scratch_pool)
        return;
    for (unsigned i = 0; i < scratch_pool->count; i++)
        nt_codec_context_free(scratch_pool->idle[i]);
    nt_fifo_deinit(&scratch_pool->fifo);
    pthread_mutex_destroy(&scratch_pool->lock);
    free(scratch_pool);
}

static bool has_room(const void *context, uint64_t bytes)
{
    const struct nt_scratch_pool *scratch_pool = context;
    return scratch_pool->lent == 0 || scratch_pool->lent + bytes <= scratch_pool->limit;
}

static struct nt_codec_context *take_idle(struct nt_scratch_pool *scratch_pool, unsigned number)
{
    struct nt_codec_context *context = scratch_pool->idle[number];
    for (scratch_pool->count--; number < scratch_pool->count; number++)
        scratch_pool->idle[number] = scratch_pool->idle[number + 1];
    scratch_pool->kept -= nt_codec_context_bytes(context);
    return context;
}

/* Unlocks, then frees the contexts that do not fit, least recently used first. */
static void unlock(struct nt_scratch_pool *scratch_pool)
{
    struct nt_codec_context *surplus[KEPT + 1];
    unsigned count = 0;
    while (scratch_pool->count > KEPT ||
           (scratch_pool->count && scratch_pool->lent + scratch_pool->kept > scratch_pool->limit))
        surplus[count++] = take_idle(scratch_pool, 0);
    pthread_mutex_unlock(&scratch_pool->lock);
    while (count)
        nt_codec_context_free(surplus[--count]);
}

enum nt_status nt_scratch_pool_borrow(struct nt_scratch_pool *scratch_pool, uint64_t bytes,
                                      struct nt_borrowed_context *borrowed_ret, struct nt_error *error)
{
    struct nt_codec_context *context = NULL;
    pthread_mutex_lock(&scratch_pool->lock);
    nt_fifo_wait(&scratch_pool->fifo, &scratch_pool->lock, has_room, scratch_pool, bytes);
    if (scratch_pool->count)
        context = take_idle(scratch_pool, scratch_pool->count - 1);
    if (context && nt_codec_context_bytes(context) > bytes)
        bytes = nt_codec_context_bytes(context);
    scratch_pool->lent += bytes;
    unlock(scratch_pool);
    if (!context)
        context = nt_codec_context_new();
    *borrowed_ret = (struct nt_borrowed_context){context, bytes};
    if (context)
        return NT_OK;
    nt_scratch_pool_return(scratch_pool, borrowed_ret);
    return nt_fail_memory(error);
}

void nt_scratch_pool_return(struct nt_scratch_pool *scratch_pool, const struct nt_borrowed_context *borrowed)
{
    pthread_mutex_lock(&scratch_pool->lock);
    scratch_pool->lent -= borrowed->bytes;
    if (borrowed->context) {
        scratch_pool->idle[scratch_pool->count++] = borrowed->context;
        scratch_pool->kept += nt_codec_context_bytes(borrowed->context);
    }
    nt_fifo_wake(&scratch_pool->fifo);
    unlock(scratch_pool);
}

/* ---- Read, verify, decompress, decode ---- */

/* From a page's location and description in the page list to its decoded elements: read, verify,
 * decompress, decode (RNTuple binary format, "Page Locations" and "Column Description"; the other
 * formats map onto the same steps). Every size is checked against a limit before use. Bytes are copied
 * as rarely as possible: bytes stored in decoded form are read straight into the output. */

const struct nt_decoder *nt_page_decoder(const struct nt_dataset *dataset, const struct nt_page *page)
{
    return nt_decoders_get(&dataset->decoders, page->decoder);
}

static enum nt_status sizes_of(const struct nt_dataset *dataset, const struct nt_page *page,
                               uint32_t elements, uint64_t *packed_ret, uint64_t *decoded_ret,
                               struct nt_error *error)
{
    const struct nt_decoder *decoder = nt_page_decoder(dataset, page);
    if (!nt_packed_bytes(decoder, elements, packed_ret) ||
        !nt_checked_multiply(elements, decoder->element_bytes, decoded_ret))
        return nt_fail(error, NT_LIMIT, page->offset, "the sizes of a page of %u elements overflow",
                       elements);
    /* Without a fixed width (Roaring containers, nested encodings), the stored size decides. */
    if (decoder->bits == 0 && decoder->ops)
        *packed_ret = page->stored_bytes;
    return NT_OK;
}

enum nt_status nt_page_sizes(const struct nt_dataset *dataset, const struct nt_page *page,
                             uint64_t *packed_ret, uint64_t *decoded_ret, struct nt_error *error)
{
    const struct nt_decoder *decoder = nt_page_decoder(dataset, page);
    NT_TRY(sizes_of(dataset, page, page->elements, packed_ret, decoded_ret, error));
    if (!page->is_missing && decoder->ops && decoder->ops->packed_bytes)
        *packed_ret = decoder->ops->packed_bytes(decoder, page->elements);
    return NT_OK;
}

struct nt_cache_key nt_page_key(const struct nt_dataset *dataset, const struct nt_page *page)
{
    return (struct nt_cache_key){
        .source = dataset->sources[page->source],
        .decoder = nt_page_decoder(dataset, page),
        .offset = page->is_missing ? (uintptr_t)page : page->offset,
        .stored_bytes = page->stored_bytes,
        .parameter = page->parameter,
        .elements = nt_page_decoded_elements(page),
        .compression = page->compression,
        .checksum = page->checksum,
        .checksum_covers = page->checksum_covers,
    };
}

struct page_load {
    const struct nt_page_request *request;
    const struct nt_page *page; /* of the request */
    const struct nt_decoder *decoder;
    const struct nt_compression *compression;
    size_t packed_bytes, decoded_bytes;
    bool is_plain;   /* the stored bytes are the packed ones */
    bool is_decoded; /* the packed bytes are the decoded ones */
    const uint8_t *stored, *digest;
    uint8_t *packed;    /* destination of decompression */
    bool verify_packed; /* the digest is not that of the stored bytes: it must match the packed ones */
    uint8_t digest_bytes[64];
    uint8_t *output;
};

static enum nt_status check_readable(const struct page_load *load, struct nt_error *error)
{
    const struct nt_page *page = load->page;
    if (page->compression == NT_COMPRESSION_ELSEWHERE)
        return nt_page_fail_elsewhere(load->request->dataset, page, error);
    if (!load->decoder->ops)
        return nt_fail(error, NT_UNSUPPORTED, page->offset, "this version does not know the column's type");
    return NT_OK;
}

static enum nt_status check_sizes(const struct nt_dataset *dataset, const struct nt_page *page,
                                  size_t *packed_ret, size_t *decoded_ret, struct nt_error *error)
{
    uint64_t packed = 0, decoded = 0, limit = nt_file_page_limit(dataset->file, page->stored_bytes);
    NT_TRY(sizes_of(dataset, page, nt_page_decoded_elements(page), &packed, &decoded, error));
    uint64_t largest = packed > decoded ? packed : decoded;
    if (page->stored_bytes > largest)
        largest = page->stored_bytes;
    if (largest > limit && page->compression == NT_COMPRESSION_ELSEWHERE)
        return nt_page_fail_elsewhere(dataset, page, error);
    if (largest > limit)
        return nt_fail(error, NT_LIMIT, page->offset,
                       "a page of %" PRIu32 " elements takes %" PRIu64
                       " bytes, more than the limit pagesize of %" PRIu64,
                       page->elements, largest, limit);
    *packed_ret = (size_t)packed;
    *decoded_ret = (size_t)decoded;
    return NT_OK;
}

/* Gets scratch memory for what does not go straight into the output: stored and packed bytes. */
static enum nt_status prepare_memory(struct page_load *load, size_t stored_bytes, uint8_t **stored_ret,
                                     struct nt_error *error)
{
    enum { ALIGNMENT = 64 };
    size_t packed_bytes = load->is_decoded || load->is_plain ? 0 : load->packed_bytes;
    if (stored_bytes > SIZE_MAX - ALIGNMENT || packed_bytes > SIZE_MAX - ALIGNMENT - stored_bytes)
        return nt_fail(error, NT_LIMIT, load->page->offset, "the sizes of a page overflow");
    stored_bytes = (stored_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    size_t bytes = stored_bytes + packed_bytes;
    uint8_t *scratch = nt_codec_scratch(load->request->context, NT_SCRATCH_PAGE, bytes ? bytes : 1);
    NT_TRY(nt_check_memory(scratch, error));
    *stored_ret = scratch;
    load->packed = load->is_decoded ? load->output : scratch + stored_bytes;
    return NT_OK;
}

/* Reads the stored bytes and the digest after them, unless they are in memory. A large page that is
 * stored in decoded form goes straight into the output; its digest is read separately. */
static enum nt_status read_stored(struct page_load *load, struct nt_error *error)
{
    enum { LARGE = 32 * 1024 }; /* above it, a second read is cheaper than a copy */
    const struct nt_page *page = load->page;
    struct nt_source *source = load->request->dataset->sources[page->source];
    size_t bytes = (size_t)page->stored_bytes, digest_bytes = nt_checksum_info(page->checksum)->bytes;
    uint8_t *stored = load->output, *digest = load->digest_bytes;
    if (load->stored)
        return prepare_memory(load, 0, &stored, error);
    bool is_direct = load->is_plain && load->is_decoded && bytes >= LARGE &&
                     nt_source_is_range(source, bytes + digest_bytes);
    enum nt_status status = is_direct ? NT_OK : prepare_memory(load, bytes + digest_bytes, &stored, error);
    if (!is_direct && status == NT_OK) {
        digest = stored + bytes;
        bytes += digest_bytes;
    }
    if (status == NT_OK && bytes)
        status = nt_source_read(source, page->offset, stored, bytes, error);
    if (status == NT_OK && is_direct && digest_bytes)
        status = nt_source_read(source, page->offset + bytes, digest, digest_bytes, error);
    load->stored = stored;
    load->digest = digest;
    nt_stats_lap(load->request->stats, &load->request->stats->counters.read_nanoseconds);
    return status;
}

static enum nt_status verify(struct page_load *load, const uint8_t *bytes, size_t count,
                             struct nt_error *error)
{
    const struct nt_page *page = load->page;
    if (page->checksum == NT_CHECKSUM_NONE)
        return NT_OK;
    enum nt_status status =
        nt_checksum_verify(page->checksum, bytes, count, load->digest, page->offset, error);
    nt_stats_lap(load->request->stats, &load->request->stats->counters.checksum_nanoseconds);
    return status;
}

/* A digest that may cover stored or packed bytes is compared with the stored bytes first. */
static enum nt_status verify_stored(struct page_load *load, struct nt_error *error)
{
    bool covers_either = load->page->checksum_covers == NT_COVERS_STORED_OR_PACKED;
    enum nt_status status =
        verify(load, load->stored, (size_t)load->page->stored_bytes, covers_either ? NULL : error);
    load->verify_packed = covers_either && status == NT_CHECKSUM;
    return load->verify_packed ? NT_OK : status;
}

static void count_algorithm(struct page_load *load, uint64_t nanoseconds)
{
    enum nt_algorithm algorithm = nt_compression_algorithm(
        load->page->compression, load->stored, (size_t)load->page->stored_bytes, load->packed_bytes);
    struct nt_algorithm_counters *counters = &load->request->stats->algorithms[algorithm];
    counters->pages++;
    counters->stored_bytes += load->page->stored_bytes;
    counters->packed_bytes += load->packed_bytes;
    counters->nanoseconds += nanoseconds;
}

static enum nt_status decompress(struct page_load *load, const uint8_t **packed_ret, struct nt_error *error)
{
    uint64_t nanoseconds = 0;
    enum nt_status status = NT_OK;
    *packed_ret = load->is_plain ? load->stored : load->packed;
    if (!load->is_plain) {
        status = load->compression->decompress(load->stored, (size_t)load->page->stored_bytes, load->packed,
                                               load->packed_bytes, load->request->context, error);
        nanoseconds =
            nt_stats_lap(load->request->stats, &load->request->stats->counters.decompress_nanoseconds);
    }
    count_algorithm(load, nanoseconds);
    return status;
}

static struct nt_packed packed_of(const struct page_load *load, const struct nt_page *page,
                                  const struct nt_value *dependencies, uint64_t base, const uint8_t *packed)
{
    const struct nt_decoder *decoder = nt_page_decoder(load->request->dataset, page);
    return (struct nt_packed){
        .decoder = decoder,
        .parameter = page->parameter + (decoder->ops->sums_items ? base : 0),
        .data = packed,
        .bytes = load->packed_bytes,
        .elements = nt_page_decoded_elements(page),
        .dependencies = dependencies,
        .context = load->request->context,
        .limit = nt_file_page_limit(load->request->dataset->file, page->stored_bytes),
    };
}

static enum nt_status decode_shared(struct page_load *load, const uint8_t *packed, struct nt_error *error)
{
    const struct nt_page_request *request = load->request;
    struct nt_packed what[NT_MAX_SHARED_OUTPUTS] = {
        packed_of(load, load->page, request->dependencies, request->base, packed)};
    uint8_t *outputs[NT_MAX_SHARED_OUTPUTS] = {load->output};
    size_t unused, bytes;
    for (uint32_t i = 0; i < request->shared_page_count; i++) {
        const struct nt_shared_page *shared = &request->shared_pages[i];
        NT_TRY(check_sizes(load->request->dataset, shared->page, &unused, &bytes, error));
        what[i + 1] = packed_of(load, shared->page, shared->dependencies, shared->base, packed);
        outputs[i + 1] = shared->output;
        load->decoded_bytes += bytes;
    }
    return load->decoder->ops->decode_shared(what, outputs, request->shared_page_count + 1, error);
}

static enum nt_status decode(struct page_load *load, const uint8_t *packed, struct nt_error *error)
{
    if (packed == load->output)
        return NT_OK;
    const struct nt_packed what =
        packed_of(load, load->page, load->request->dependencies, load->request->base, packed);
    enum nt_status status = load->request->shared_page_count
                                ? decode_shared(load, packed, error)
                                : load->decoder->ops->decode(&what, load->output, error);
    nt_stats_lap(load->request->stats, &load->request->stats->counters.decode_nanoseconds);
    return status;
}

/* If bytes neither match their digest nor decompress, reports the checksum error: it is the cause. */
static enum nt_status unpack(struct page_load *load, const uint8_t **packed_ret, struct nt_error *error)
{
    enum nt_status status = decompress(load, packed_ret, error);
    if (!load->verify_packed || status == NT_NO_MEMORY)
        return status;
    if (status != NT_OK)
        return verify(load, load->stored, (size_t)load->page->stored_bytes, error);
    return verify(load, *packed_ret, load->packed_bytes, error);
}

enum nt_status nt_page_load_once(const struct nt_page_request *request, void *output, struct nt_error *error)
{
    const struct nt_page *page = request->page;
    const uint8_t *packed = NULL;
    struct page_load load = {.request = request,
                             .page = page,
                             .decoder = nt_page_decoder(request->dataset, page),
                             .compression = nt_compression_info(page->compression),
                             .stored = request->stored,
                             .digest = request->stored ? request->stored + page->stored_bytes : NULL,
                             .output = output};
    NT_TRY(check_readable(&load, error));
    NT_TRY(check_sizes(request->dataset, page, &load.packed_bytes, &load.decoded_bytes, error));
    load.is_plain = load.compression->stores_plain && page->stored_bytes == load.packed_bytes;
    load.is_decoded =
        nt_encoding_is_identity(load.decoder->encoding) && load.packed_bytes == load.decoded_bytes;
    NT_TRY(read_stored(&load, error));
    NT_TRY(verify_stored(&load, error));
    NT_TRY(unpack(&load, &packed, error));
    NT_TRY(decode(&load, packed, error));
    request->stats->counters.stored_bytes += page->stored_bytes;
    request->stats->counters.pages_decoded += 1 + request->shared_page_count;
    request->stats->counters.decoded_bytes += load.decoded_bytes;
    return NT_OK;
}

enum nt_status nt_page_decoded_bytes(const struct nt_dataset *dataset, const struct nt_page *page,
                                     size_t *bytes_ret, struct nt_error *error)
{
    size_t packed;
    return check_sizes(dataset, page, &packed, bytes_ret, error);
}

uint64_t nt_page_scratch_bytes(const struct nt_dataset *dataset, const struct nt_page *page)
{
    size_t packed = 0, decoded = 0;
    if (check_sizes(dataset, page, &packed, &decoded, NULL) != NT_OK)
        return 0;
    bool is_plain = nt_compression_info(page->compression)->stores_plain && page->stored_bytes == packed;
    size_t scratch =
        (size_t)page->stored_bytes + nt_checksum_info(page->checksum)->bytes + (is_plain ? 0 : packed);
    const struct nt_decoder_ops *ops = nt_page_decoder(dataset, page)->ops;
    return nt_hugepage_capacity(scratch) + (ops && ops->allocates_memory ? decoded : 0);
}

/* ---- Dependencies of a page ---- */

/* A loader for the cache. The error names the dependency by its offset: it belongs to no single column. */
static enum nt_status load_dependency(void *context, uint8_t *output, struct nt_error *error)
{
    const struct nt_page_request *request = context;
    enum nt_status status = nt_page_load_with_dependencies(request, output, error);
    if (status != NT_OK && error) {
        if (error->offset == NT_NO_OFFSET)
            error->offset = request->page->offset;
        nt_error_context(error, "a page that it depends on, at byte %" PRIu64, request->page->offset);
    }
    return status;
}

static enum nt_status pin_dependency(const struct nt_page_request *request, const struct nt_page *page,
                                     struct nt_page_dependencies *dependencies, struct nt_error *error)
{
    struct nt_page_request dependency = {
        .reader = request->reader, .dataset = request->dataset, .column = request->column, .page = page};
    struct nt_cache_key key = nt_page_key(request->dataset, page);
    struct nt_cache_entry **pinned = &dependencies->pinned[dependencies->count];
    size_t bytes;
    NT_TRY(nt_page_decoded_bytes(request->dataset, page, &bytes, error));
    NT_TRY(nt_cache_get(request->reader->cache, &key, bytes, NT_CACHE_LOADER, load_dependency, &dependency,
                        pinned, error));
    dependencies->values[dependencies->count++] =
        nt_decoded_value(nt_page_decoder(request->dataset, page), nt_cache_entry_bytes(*pinned),
                         nt_page_decoded_elements(page));
    return NT_OK;
}

/* Does loading the page take longer than waking another thread? */
static bool is_slow(const struct nt_page_request *request)
{
    enum { SLOW_BYTES = 32 * 1024 };
    size_t bytes;
    return request->page->stored_bytes >= SLOW_BYTES ||
           nt_page_decoded_bytes(request->dataset, request->page, &bytes, NULL) != NT_OK ||
           bytes >= SLOW_BYTES;
}

enum nt_status nt_page_pin_dependencies(const struct nt_page_request *request,
                                        struct nt_page_dependencies *dependencies, struct nt_error *error)
{
    const struct nt_decoder *decoder = nt_page_decoder(request->dataset, request->page);
    dependencies->count = 0;
    if (is_slow(request))
        nt_reader_before_blocking(request->reader);
    for (uint32_t i = 0; i < decoder->dependency_count; i++)
        NT_TRY(pin_dependency(request, &decoder->dependencies[i], dependencies, error));
    return NT_OK;
}

void nt_page_unpin_dependencies(struct nt_reader *reader, const struct nt_page_dependencies *dependencies)
{
    for (uint32_t i = 0; i < dependencies->count; i++)
        nt_cache_release(reader->cache, dependencies->pinned[i], NT_CACHE_KEEP);
}

/* Waits only before it loads: for dependencies, then for a context, which counts as memory. */
static enum nt_status prepare(struct nt_page_request *request, struct nt_page_dependencies *dependencies,
                              struct nt_borrowed_context *borrowed, struct nt_error *error)
{
    NT_TRY(nt_page_pin_dependencies(request, dependencies, error));
    NT_TRY(nt_scratch_pool_borrow(request->reader->scratch_pool,
                                  nt_page_scratch_bytes(request->dataset, request->page), borrowed, error));
    request->dependencies = dependencies->values;
    request->context = borrowed->context;
    nt_stats_begin(request->stats);
    return NT_OK;
}

bool nt_page_prepare_retry(const struct nt_page_request *request, enum nt_status status)
{
    const struct nt_page *page = request->page;
    return (status == NT_CHECKSUM || status == NT_CORRUPT) &&
           nt_source_invalidate(request->dataset->sources[page->source], page->offset,
                                page->stored_bytes + nt_checksum_info(page->checksum)->bytes);
}

enum nt_status nt_page_load_with_dependencies(const struct nt_page_request *request, void *output,
                                              struct nt_error *error)
{
    struct nt_page_request whole = *request;
    struct nt_page_dependencies dependencies;
    struct nt_stats_delta stats = {0};
    struct nt_borrowed_context borrowed;
    enum nt_status status = NT_OK;
    dependencies.count = 0;
    if (!request->context) {
        whole.stats = &stats;
        status = prepare(&whole, &dependencies, &borrowed, error);
    }
    if (status == NT_OK) {
        status = nt_page_load_once(&whole, output, error);
        if (!request->failure && nt_page_prepare_retry(&whole, status)) {
            whole.stored = NULL;
            status = nt_page_load_once(&whole, output, error);
        }
    }
    if (!request->context && whole.context) {
        nt_scratch_pool_return(request->reader->scratch_pool, &borrowed);
        nt_reader_add_stats(request->reader, &stats);
    }
    nt_page_unpin_dependencies(request->reader, &dependencies);
    return status;
}

/* Fills a page of equal elements by copying the decoded ones. */
static void repeat_elements(const struct nt_dataset *dataset, const struct nt_page *page, uint8_t *output)
{
    uint64_t width = nt_page_decoder(dataset, page)->element_bytes, total = page->elements * width;
    for (uint64_t decoded = nt_page_decoded_elements(page) * width, count; decoded < total;
         decoded += count) {
        count = nt_min(decoded, total - decoded);
        memcpy(output + decoded, output, count);
    }
}

enum nt_status nt_page_load(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                            const struct nt_page *page, void *output, struct nt_error *error)
{
    struct nt_page_request request = {.reader = reader, .dataset = dataset, .column = column, .page = page};
    NT_TRY(nt_reader_after_fork(reader, error));
    enum nt_status status = nt_page_load_with_dependencies(&request, output, error);
    if (status != NT_OK)
        return nt_page_error(dataset, column, page, status, error);
    repeat_elements(dataset, page, output);
    return NT_OK;
}
