/* SPDX-License-Identifier: MIT
 *
 * The upper limit of reading: verifies, decompresses and decodes pages whose stored bytes are in memory
 * already, and does nothing else.
 *
 *   decode_pages FILE FIELD|* THREADS ROUNDS
 *
 * Prints the decoded bytes, then the seconds of each round. Each thread has its own codec context and takes
 * the next page. The elements of the pages follow one another in memory, as for a reader.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "columns.h"
#include "read/page.h"
#include "core/codec/codec.h"
#include "core/model/model.h"
#include "read/read.h"
#include <ntuple/format.h>

struct page {
    const struct nt_page *page;
    const struct nt_decoder *decoder;
    uint8_t *stored, *output;
    uint64_t packed_bytes, decoded_bytes;
};

static struct page *pages;
static size_t page_count, page_capacity;
static atomic_size_t next_page;

static void decode_page(const struct page *page, struct nt_codec_context *context)
{
    struct nt_error error;
    bool in_place =
        nt_encoding_is_identity(page->decoder->encoding) && page->packed_bytes == page->decoded_bytes;
    uint8_t *packed = in_place ? page->output : nt_codec_scratch(context, 1, (size_t)page->packed_bytes);
    const struct nt_page *listed = page->page;
    check(nt_checksum_verify(listed->checksum, page->stored, (size_t)listed->stored_bytes,
                             page->stored + listed->stored_bytes, listed->offset, &error),
          &error);
    check(nt_compression_info(listed->compression)
              ->decompress(page->stored, (size_t)listed->stored_bytes, packed, (size_t)page->packed_bytes,
                           context, &error),
          &error);
    if (!in_place)
        check(nt_decode(&(struct nt_packed){.decoder = page->decoder,
                                            .parameter = listed->parameter,
                                            .data = packed,
                                            .bytes = (size_t)page->packed_bytes,
                                            .elements = listed->elements},
                        page->output, &error),
              &error);
}

static void *decode_pages(void *unused)
{
    struct nt_codec_context *context = unused;
    size_t i;
    while ((i = atomic_fetch_add(&next_page, 1)) < page_count)
        decode_page(&pages[i], context);
    return NULL;
}

static void add_page(struct nt_dataset *dataset, const struct nt_page *listed)
{
    struct nt_error error;
    if (page_count == page_capacity) {
        page_capacity = page_capacity ? 2 * page_capacity : 1024;
        pages = realloc(pages, page_capacity * sizeof(*pages));
        if (!pages)
            exit(EXIT_FAILURE);
    }
    struct page *page = &pages[page_count++];
    uint32_t digest = nt_checksum_info(listed->checksum)->bytes;
    *page = (struct page){.page = listed, .decoder = nt_page_decoder(dataset, listed)};
    check(nt_page_sizes(dataset, listed, &page->packed_bytes, &page->decoded_bytes, &error), &error);
    page->stored = touched_memory((size_t)listed->stored_bytes + digest);
    check(nt_source_read(dataset->sources[listed->source], listed->offset, page->stored,
                         (size_t)listed->stored_bytes + digest, &error),
          &error);
}

static void add_columns(struct nt_reader *reader, struct nt_dataset *dataset, const char *requested)
{
    struct nt_error error;
    uint32_t cluster;
    uint64_t elements, count, first;
    for (uint32_t column = 0; column < dataset->column_count; column++) {
        const struct nt_page *page;
        if (!is_requested(dataset, dataset->columns[column].field, requested))
            continue;
        check(nt_column_size(reader, dataset, column, &elements, &count, &error), &error);
        for (uint64_t i = 0; i < count; i++) {
            check(nt_column_page(reader, dataset, column, i, &page, &cluster, &first, &error), &error);
            add_page(dataset, page);
        }
    }
}

/* Each element has its own place in memory. */
static uint64_t assign_outputs(void)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < page_count; i++)
        bytes += pages[i].decoded_bytes;
    uint8_t *output = touched_memory((size_t)bytes);
    for (size_t i = 0; i < page_count; i++) {
        pages[i].output = output;
        output += pages[i].decoded_bytes;
    }
    return bytes;
}

static void run(struct nt_codec_context **scratch_pool, unsigned threads)
{
    pthread_t others[64];
    atomic_store(&next_page, 0);
    for (unsigned i = 1; i < threads; i++)
        if (pthread_create(&others[i], NULL, decode_pages, scratch_pool[i]))
            exit(EXIT_FAILURE);
    decode_pages(scratch_pool[0]);
    for (unsigned i = 1; i < threads; i++)
        pthread_join(others[i], NULL);
}

int main(int argument_count, char **arguments)
{
    struct nt_error error;
    struct nt_file *file;
    struct nt_reader *reader;
    struct nt_codec_context *scratch_pool[64];
    unsigned threads = argument_count == 5 ? (unsigned)atoi(arguments[3]) : 0;
    if (threads < 1 || threads > 64) {
        fprintf(stderr, "usage: decode_pages FILE FIELD|* THREADS ROUNDS\n");
        return EXIT_FAILURE;
    }
    check(nt_file_open(arguments[1], NULL, &file, &error), &error);
    check(nt_reader_new(NULL, &reader, &error), &error);
    for (unsigned i = 0; i < threads; i++)
        if (!(scratch_pool[i] = nt_codec_context_new()))
            return EXIT_FAILURE;
    add_columns(reader, file->datasets[0], arguments[2]);
    printf("%llu", (unsigned long long)assign_outputs());
    for (int round = atoi(arguments[4]); round > 0; round--) {
        double start = seconds_now();
        run(scratch_pool, threads);
        printf(" %.6f", seconds_now() - start);
    }
    putchar('\n');
}
