/* SPDX-License-Identifier: MIT
 *
 * Reads whole Roaring bitmaps with libntuple, in turns with CRoaring's to_uint32_array:
 *
 *   roaring_bench [ROUNDS]
 *
 * CRoaring's bitmap is in memory already, deserialized. libntuple reads the file, and validates and decodes
 * it page by page without the cache. Prints medians in millions of values a second.
 */
#include <roaring/roaring.h>
#include <unistd.h>

#include "columns.h"

static const struct {
    const char *name;
    uint32_t values, range;
    bool has_runs;
} bitmaps[] = {
    {"arrays: sparse values", 2000000, UINT32_C(1) << 31, false},
    {"bitsets: every other value", 8000000, 16000000, false},
    {"runs: stretches of 100", 8000000, 16000000, true},
};

/* The same numbers in every run (xorshift). */
static uint32_t next_number(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)(*state >> 16);
}

static roaring_bitmap_t *make_bitmap(uint32_t values, uint32_t range, bool has_runs)
{
    uint64_t state = 88172645463325252;
    roaring_bitmap_t *bitmap = roaring_bitmap_create();
    for (uint32_t i = 0; i < values; i += has_runs ? 100 : 1) {
        uint32_t start = next_number(&state) % range;
        if (has_runs)
            roaring_bitmap_add_range(bitmap, start, (uint64_t)start + 100);
        else
            roaring_bitmap_add(bitmap, start);
    }
    roaring_bitmap_run_optimize(bitmap);
    return bitmap;
}

static void write_bitmap(const roaring_bitmap_t *bitmap, const char *path)
{
    size_t bytes = roaring_bitmap_portable_size_in_bytes(bitmap);
    char *memory = touched_memory(bytes);
    roaring_bitmap_portable_serialize(bitmap, memory);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(memory, 1, bytes, file) != bytes || fclose(file)) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    free(memory);
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

static void measure(size_t number, const char *path, unsigned rounds)
{
    struct nt_error error;
    struct nt_file *file;
    struct nt_reader *reader;
    const struct nt_reader_options options = {.struct_bytes = sizeof(options), .cache_bytes = 1};
    roaring_bitmap_t *bitmap =
        make_bitmap(bitmaps[number].values, bitmaps[number].range, bitmaps[number].has_runs);
    uint64_t values = roaring_bitmap_get_cardinality(bitmap);
    uint32_t *ours = touched_memory(values * sizeof(*ours)),
             *theirs = touched_memory(values * sizeof(*theirs));
    double *our_times = calloc(rounds, sizeof(double)), *their_times = calloc(rounds, sizeof(double));
    write_bitmap(bitmap, path);
    check(nt_file_open(path, NULL, &file, &error), &error);
    check(nt_reader_new(&options, &reader, &error), &error);
    for (unsigned round = 0; round < rounds; round++) {
        double start = seconds_now();
        check(nt_column_read(reader, file->datasets[0], 0, 0, ours, values * sizeof(*ours), &error), &error);
        double middle = seconds_now();
        roaring_bitmap_to_uint32_array(bitmap, theirs);
        our_times[round] = middle - start;
        their_times[round] = seconds_now() - middle;
    }
    if (memcmp(ours, theirs, values * sizeof(*ours))) {
        fprintf(stderr, "%s: the values differ\n", bitmaps[number].name);
        exit(EXIT_FAILURE);
    }
    qsort(our_times, rounds, sizeof(double), compare);
    qsort(their_times, rounds, sizeof(double), compare);
    double our_median = our_times[rounds / 2], their_median = their_times[rounds / 2];
    printf("%-28s %9llu values  ntuple %7.0f  CRoaring %7.0f  ratio %.2f\n", bitmaps[number].name,
           (unsigned long long)values, 1e-6 * (double)values / our_median,
           1e-6 * (double)values / their_median, their_median / our_median);
    nt_reader_free(reader);
    nt_file_close(file);
    roaring_bitmap_free(bitmap);
    free(ours);
    free(theirs);
    free(our_times);
    free(their_times);
}

int main(int count, char **arguments)
{
    char path[] = "/tmp/roaring_bench_XXXXXX";
    unsigned rounds = count > 1 ? (unsigned)strtoul(arguments[1], NULL, 10) : 21;
    int descriptor = mkstemp(path);
    if (descriptor < 0 || rounds == 0)
        return EXIT_FAILURE;
    close(descriptor);
    for (size_t i = 0; i < sizeof(bitmaps) / sizeof(*bitmaps); i++)
        measure(i, path, rounds);
    unlink(path);
    return EXIT_SUCCESS;
}
