/* SPDX-License-Identifier: MIT
 *
 * The upper limit of reading a TTree: decompresses the baskets of branches that are in memory already, and
 * does nothing else.
 *
 *   decompress_baskets FILE BRANCH,...|* THREADS ROUNDS
 *
 * Prints the decompressed bytes, then the seconds of each round. Baskets that several columns share, such as
 * those of a counter, are decompressed once.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "columns.h"
#include "core/codec/codec.h"
#include "formats/ttree/ttree.h"
#include "read/read.h"

struct basket {
    uint64_t offset;
    uint32_t source;
    struct nt_basket parsed;
    uint8_t *record, *output;
};

enum { MAX_BASKETS = 1 << 20, MAX_THREADS = 64 };
static struct basket baskets[MAX_BASKETS];
static size_t basket_count;
static atomic_size_t next_basket;

static void decompress(const struct basket *basket, struct nt_codec_context *context)
{
    struct nt_error error;
    const struct nt_basket *parsed = &basket->parsed;
    if (parsed->is_embedded)
        return;
    check(nt_compression_info(NT_COMPRESSION_ROOT_BLOCKS)
              ->decompress(basket->record + parsed->key_bytes, parsed->bytes - parsed->key_bytes,
                           basket->output, parsed->object_bytes, context, &error),
          &error);
}

static void *decompress_baskets(void *unused)
{
    struct nt_codec_context *context = unused;
    size_t i;
    while ((i = atomic_fetch_add(&next_basket, 1)) < basket_count)
        decompress(&baskets[i], context);
    return NULL;
}

static void add_pages(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column)
{
    struct nt_error error;
    uint32_t cluster;
    uint64_t elements, count, first;
    const struct nt_page *page;
    check(nt_column_size(reader, dataset, column, &elements, &count, &error), &error);
    for (uint64_t i = 0; i < count && basket_count < MAX_BASKETS; i++) {
        check(nt_column_page(reader, dataset, column, i, &page, &cluster, &first, &error), &error);
        baskets[basket_count++] = (struct basket){.offset = page->offset, .source = page->source};
    }
}

static int by_position(const void *a, const void *b)
{
    const struct basket *one = a, *other = b;
    if (one->source != other->source)
        return one->source < other->source ? -1 : 1;
    return one->offset < other->offset ? -1 : one->offset > other->offset;
}

static void keep_each_once(void)
{
    size_t kept = 0;
    qsort(baskets, basket_count, sizeof(*baskets), by_position);
    for (size_t i = 0; i < basket_count; i++)
        if (kept == 0 || by_position(&baskets[kept - 1], &baskets[i]))
            baskets[kept++] = baskets[i];
    basket_count = kept;
}

static void load(const struct nt_dataset *dataset, struct basket *basket)
{
    struct nt_error error;
    uint8_t start[NT_BASKET_HEADER_BYTES];
    struct nt_source *source = dataset->sources[basket->source];
    size_t bytes = sizeof(start);
    if (bytes > source->size - basket->offset)
        bytes = (size_t)(source->size - basket->offset);
    check(nt_source_read(source, basket->offset, start, bytes, &error), &error);
    check(nt_basket_parse(start, bytes, &basket->parsed, &error), &error);
    basket->record = touched_memory(basket->parsed.bytes);
    check(nt_source_read(source, basket->offset, basket->record, basket->parsed.bytes, &error), &error);
    basket->output = touched_memory(basket->parsed.object_bytes);
}

static void run(struct nt_codec_context **contexts, unsigned threads)
{
    pthread_t others[MAX_THREADS];
    atomic_store(&next_basket, 0);
    for (unsigned i = 1; i < threads; i++)
        if (pthread_create(&others[i], NULL, decompress_baskets, contexts[i]))
            exit(EXIT_FAILURE);
    decompress_baskets(contexts[0]);
    for (unsigned i = 1; i < threads; i++)
        pthread_join(others[i], NULL);
}

static uint64_t load_baskets(const char *path, const char *requested)
{
    struct nt_error error;
    struct nt_file *file;
    struct nt_reader *reader;
    uint64_t bytes = 0;
    check(nt_file_open(path, NULL, &file, &error), &error);
    check(nt_reader_new(NULL, &reader, &error), &error);
    struct nt_dataset *dataset = file->datasets[0];
    for (uint32_t column = 0; column < dataset->column_count; column++)
        if (is_requested(dataset, dataset->columns[column].field, requested))
            add_pages(reader, dataset, column);
    keep_each_once();
    for (size_t i = 0; i < basket_count; bytes += baskets[i++].parsed.object_bytes)
        load(dataset, &baskets[i]);
    nt_reader_free(reader);
    nt_file_close(file);
    return bytes;
}

int main(int argument_count, char **arguments)
{
    struct nt_codec_context *contexts[MAX_THREADS];
    unsigned threads = argument_count == 5 ? (unsigned)atoi(arguments[3]) : 0;
    if (threads < 1 || threads > MAX_THREADS) {
        fprintf(stderr, "usage: decompress_baskets FILE BRANCH,...|* THREADS ROUNDS\n");
        return EXIT_FAILURE;
    }
    for (unsigned i = 0; i < threads; i++)
        if (!(contexts[i] = nt_codec_context_new()))
            return EXIT_FAILURE;
    printf("%llu", (unsigned long long)load_baskets(arguments[1], arguments[2]));
    for (int round = atoi(arguments[4]); round > 0; round--) {
        double start = seconds_now();
        run(contexts, threads);
        printf(" %.6f", seconds_now() - start);
    }
    putchar('\n');
}
