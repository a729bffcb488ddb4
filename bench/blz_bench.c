/* SPDX-License-Identifier: MIT
 *
 * Reads a whole BLZ array or Bloscpack file with libntuple, in turns with c-blosc's decompression of the same
 * chunks:
 *
 *   blz_bench FILE THREADS ROUNDS
 *
 * THREADS includes the calling one. c-blosc's chunks are in memory already. libntuple reads its chunks from
 * the file and verifies their digests. Prints the decoded bytes, then the seconds of each round for each way:
 *
 *   library   nt_stream_read_elements
 *   blosc     blosc_decompress_ctx; each thread takes the next chunk
 *   internal  blosc_decompress, one chunk after another, by c-blosc's own threads
 *   verified  as blosc, but verifies the digest of each chunk first
 */
#include <pthread.h>
#include <stdatomic.h>

#include <blosc.h>

#include "columns.h"
#include "read/page.h"
#include "core/codec/codec.h"
#include "core/model/model.h"
#include "read/read.h"
#include <ntuple/format.h>

struct chunk {
    const struct nt_page *page;
    uint8_t *stored; /* the digest follows */
    size_t offset, bytes;
};

static struct chunk *chunks;
static size_t chunk_count, array_bytes;
static unsigned threads;
static atomic_size_t next_chunk;
static uint8_t *output;
static bool verifies;

static struct nt_stream *stream;

static void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(EXIT_FAILURE);
}

static void add_chunk(struct nt_dataset *dataset, const struct nt_page *page, struct chunk *chunk)
{
    struct nt_error error;
    uint64_t packed, decoded;
    size_t digest = nt_checksum_info(page->checksum)->bytes, stored = (size_t)page->stored_bytes;
    check(nt_page_sizes(dataset, page, &packed, &decoded, &error), &error);
    *chunk = (struct chunk){page, touched_memory(stored + digest), array_bytes, (size_t)decoded};
    check(
        nt_source_read(dataset->sources[page->source], page->offset, chunk->stored, stored + digest, &error),
        &error);
    array_bytes += chunk->bytes;
}

static void load_chunks(struct nt_reader *reader, struct nt_dataset *dataset)
{
    struct nt_error error;
    uint64_t elements, count, first;
    uint32_t cluster;
    check(nt_column_size(reader, dataset, 0, &elements, &count, &error), &error);
    chunks = calloc(count, sizeof(*chunks));
    for (chunk_count = 0; chunk_count < count; chunk_count++) {
        const struct nt_page *page;
        check(nt_column_page(reader, dataset, 0, chunk_count, &page, &cluster, &first, &error), &error);
        add_chunk(dataset, page, &chunks[chunk_count]);
    }
}

/* ---- the ways ---- */

static void read_by_library(void)
{
    struct nt_error error;
    check(nt_stream_read_elements(stream, 0, nt_stream_elements(stream), output, &error), &error);
}

static void *decompress_chunks(void *unused)
{
    size_t i;
    while ((i = atomic_fetch_add(&next_chunk, 1)) < chunk_count) {
        const struct chunk *chunk = &chunks[i];
        const struct nt_page *page = chunk->page;
        if (verifies && nt_checksum_verify(page->checksum, chunk->stored, (size_t)page->stored_bytes,
                                           chunk->stored + page->stored_bytes, 0, NULL) != NT_OK)
            fail("a digest differs");
        if (blosc_decompress_ctx(chunk->stored, output + chunk->offset, chunk->bytes, 1) != (int)chunk->bytes)
            fail("a chunk cannot be decompressed");
    }
    return unused;
}

static void share_chunks(void)
{
    pthread_t others[64];
    atomic_store(&next_chunk, 0);
    for (unsigned i = 1; i < threads; i++)
        if (pthread_create(&others[i], NULL, decompress_chunks, NULL))
            fail("no thread");
    decompress_chunks(NULL);
    for (unsigned i = 1; i < threads; i++)
        pthread_join(others[i], NULL);
}

static void read_by_blosc(void)
{
    verifies = false;
    share_chunks();
}

static void read_verified(void)
{
    verifies = true;
    share_chunks();
}

static void read_by_blosc_threads(void)
{
    for (size_t i = 0; i < chunk_count; i++)
        if (blosc_decompress(chunks[i].stored, output + chunks[i].offset, chunks[i].bytes) !=
            (int)chunks[i].bytes)
            fail("a chunk cannot be decompressed");
}

static const struct {
    const char *name;
    void (*read)(void);
} ways[] = {
    {"library", read_by_library},
    {"blosc", read_by_blosc},
    {"internal", read_by_blosc_threads},
    {"verified", read_verified},
};
enum { WAYS = sizeof(ways) / sizeof(*ways), MAX_ROUNDS = 1000 };

/* All readers must have produced the same bytes. */
static void measure(unsigned rounds, double seconds[WAYS][MAX_ROUNDS])
{
    uint64_t sums[WAYS];
    for (unsigned round = 0; round < rounds; round++)
        for (size_t way = 0; way < WAYS; way++) {
            double start = seconds_now();
            ways[way].read();
            seconds[way][round] = seconds_now() - start;
            if (round == 0)
                sums[way] = nt_xxh3(output, array_bytes);
        }
    for (size_t way = 1; way < WAYS; way++)
        if (sums[way] != sums[0])
            fail("the values differ");
}

int main(int count, char **arguments)
{
    static double seconds[WAYS][MAX_ROUNDS];
    struct nt_error error;
    struct nt_file *file;
    struct nt_reader *reader;
    unsigned rounds = count == 4 ? (unsigned)atoi(arguments[3]) : 0;
    threads = count == 4 ? (unsigned)atoi(arguments[2]) : 0;
    if (threads < 1 || threads > 64 || rounds < 1 || rounds > MAX_ROUNDS)
        fail("usage: blz_bench FILE THREADS ROUNDS");
    check(nt_file_open(arguments[1], NULL, &file, &error), &error);
    check(nt_reader_new(&(struct nt_reader_options){.struct_bytes = sizeof(struct nt_reader_options),
                                                    .threads = threads - 1},
                        &reader, &error),
          &error);
    check(nt_stream_open(reader, file->datasets[0], 0, NT_STREAM_DATA, &stream, &error), &error);
    load_chunks(reader, file->datasets[0]);
    output = touched_memory(array_bytes);
    blosc_init();
    blosc_set_nthreads((int)threads);
    measure(rounds, seconds);
    printf("bytes %zu\n", array_bytes);
    for (size_t way = 0; way < WAYS; way++) {
        printf("%s", ways[way].name);
        for (unsigned round = 0; round < rounds; round++)
            printf(" %.6f", seconds[way][round]);
        putchar('\n');
    }
    blosc_destroy();
    nt_stream_close(stream);
    nt_reader_free(reader);
    nt_file_close(file);
    for (size_t i = 0; i < chunk_count; i++)
        free(chunks[i].stored);
    free(chunks);
    free(output);
    return EXIT_SUCCESS;
}
