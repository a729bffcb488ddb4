/* SPDX-License-Identifier: MIT
 *
 * Flips a bit of each byte of a small file of a TTree, one at a time, and truncates the file at every byte.
 * Each time it reads the whole file. A TTree has no checksums, so values may be wrong. A crash, an endless
 * read, and memory beyond the limit are failures.
 *
 * usage: test_tree_damage [-a]        -a: all eight bits of each byte, and every cut
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "core/base/sanitizer.h"
#include "core/base/memory.h"
#include "core/io/source.h"
#include "everything.h"
#include "formats/formats.h"
#include "support.h"
#include "tools/tools.h"
#include <ntuple/source.h>

NEEDS_PROCESSES("a damaged file may stop the program");

enum { MEMORY_BYTES = 256 << 20, SECONDS = 2, STEP = 11 };

static size_t step = STEP, bits = 1;

struct figures {
    unsigned tried, refused, errors, read;
    double longest; /* seconds of the processor */
};

struct outcome {
    unsigned read, failed;
};

static void note(void *context, uint32_t dataset, uint32_t field, enum nt_stream_kind kind,
                 enum nt_status status, const uint8_t *bytes, uint64_t count)
{
    struct outcome *outcome = context;
    outcome->read += status == NT_OK;
    outcome->failed += status != NT_OK;
}

static double processor_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static struct outcome try_bytes(const uint8_t *bytes, size_t count, struct figures *figures)
{
    struct outcome outcome = {0};
    struct nt_source *source;
    double start = processor_seconds();
    figures->tried++;
    ck_assert(nt_source_open_memory(bytes, count, "damaged", &source, NULL) == NT_OK);
    if (open_and_read(&nt_format_rntuple, source, note, &outcome) != NT_OK)
        figures->refused++;
    else if (outcome.failed)
        figures->errors++;
    else
        figures->read++;
    double took = processor_seconds() - start;
    figures->longest = took > figures->longest ? took : figures->longest;
    return outcome;
}

static void read_file(const char *name, struct nt_buffer *file)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", getenv("NTUPLE_TEST_DATA"), name);
    FILE *stream = fopen(path, "rb");
    ck_assert_msg(stream != NULL, "%s", path);
    for (int byte; (byte = fgetc(stream)) != EOF;)
        nt_buffer_append_byte(file, (char)byte);
    fclose(stream);
}

static void report(const char *what, const struct figures *figures)
{
    printf("%s: %u tried, %u refused, %u errors, %u read, %.3f s at most\n", what, figures->tried,
           figures->refused, figures->errors, figures->read, figures->longest);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    if (NT_IS_SANITIZED)
        return;
    ck_assert_msg(figures->longest < SECONDS, "%s: %f s", what, figures->longest);
    ck_assert_int_lt(usage.ru_maxrss, MEMORY_BYTES / 1024);
}

/* One with baskets of every sort, and one whose objects are stored member by member. */
static const char *const names[] = {"trees/trees_embedded.root", "trees/trees_baskets.root"};

TEST(a_flipped_bit_of_a_tree_ends_in_values_or_an_error, .end = 2)
{
    struct nt_buffer file = {0};
    struct figures figures = {0};
    read_file(names[_i], &file);
    for (size_t i = 0; i < file.length; i += step)
        for (size_t bit = 0; bit < bits; bit++) {
            char mask = (char)(1 << (i / step + bit) % 8);
            file.bytes[i] ^= mask;
            try_bytes((uint8_t *)file.bytes, file.length, &figures);
            file.bytes[i] ^= mask;
        }
    report(names[_i], &figures);
    ck_assert_uint_gt(figures.refused, 0);
    ck_assert_uint_gt(figures.errors + figures.read, 0);
    nt_buffer_deinit(&file);
}

TEST(a_tree_that_is_cut_off_ends_in_values_or_an_error, .end = 2)
{
    struct nt_buffer file = {0};
    struct figures figures = {0};
    read_file(names[_i], &file);
    for (size_t length = 0; length < file.length; length += step)
        try_bytes((uint8_t *)file.bytes, length, &figures);
    report(names[_i], &figures);
    ck_assert_uint_gt(figures.refused, 0);
    nt_buffer_deinit(&file);
}

/* What verification finds in a page or in the list of baskets names the branch, the basket, and the byte. The
 * page of a column is a basket of its branch. */
static void check_names(void *context, const struct nt_finding *finding)
{
    const char *message = finding->error.message;
    bool is_page = finding->page != UINT64_MAX, is_list = strstr(message, "branch ") != NULL;
    unsigned *found = context;
    if (finding->kind != NT_FINDING_DAMAGED || (!is_page && !is_list))
        return;
    *found += 1;
    if (is_page)
        ck_assert_msg(strstr(message, "of field ") && strstr(message, "page ") && strstr(message, "at byte "),
                      "%s", message);
    else
        ck_assert_msg(strstr(message, "basket ") && finding->error.offset != NT_NO_OFFSET, "%s", message);
}

static void verify_damaged(struct nt_reader *reader, const uint8_t *bytes, size_t count, unsigned *found)
{
    const struct nt_verify_options verify = {.on_finding = check_names, .context = found};
    const struct nt_open_options options = NT_OPEN_OPTIONS_INIT;
    struct nt_verify_summary summary;
    struct nt_source *source;
    struct nt_error error;
    struct nt_file *file;
    ck_assert(nt_source_open_memory(bytes, count, "damaged", &source, NULL) == NT_OK);
    if (nt_format_rntuple.open(source, &options, &file, &error) != NT_OK) {
        nt_source_close(source);
        return;
    }
    ck_assert(nt_verify(reader, file, &verify, &summary, &error) == NT_OK);
    nt_file_close(file);
}

TEST(what_is_found_names_branch_basket_and_byte, .end = 2)
{
    const struct nt_reader_options options = {.struct_bytes = sizeof(options), .cache_bytes = 1 << 20};
    struct nt_buffer file = {0};
    struct nt_reader *reader;
    unsigned found = 0;
    ck_assert(nt_reader_new(&options, &reader, NULL) == NT_OK);
    read_file(names[_i], &file);
    for (size_t i = 0; i < file.length; i += 4 * step) {
        file.bytes[i] ^= 0x20;
        verify_damaged(reader, (uint8_t *)file.bytes, file.length, &found);
        file.bytes[i] ^= 0x20;
    }
    printf("%s: %u findings\n", names[_i], found);
    ck_assert_uint_gt(found, 10);
    nt_buffer_deinit(&file);
    nt_reader_free(reader);
}

TEST(the_file_itself_is_read, .end = 2)
{
    struct nt_buffer file = {0};
    struct figures figures = {0};
    read_file(names[_i], &file);
    struct outcome outcome = try_bytes((uint8_t *)file.bytes, file.length, &figures);
    ck_assert_uint_gt(outcome.read, 0);
    ck_assert_uint_eq(figures.refused + outcome.failed, 0);
    nt_buffer_deinit(&file);
}

int main(int argc, char **argv)
{
    const struct rlimit memory = {MEMORY_BYTES, MEMORY_BYTES};
    if (argc == 2 && strcmp(argv[1], "-a") == 0) {
        step = 1, bits = 8;
        setenv("CK_DEFAULT_TIMEOUT", "7200", 1);
    }
    if (!NT_IS_SANITIZED)
        setrlimit(RLIMIT_DATA, &memory);
    return nt_test_run("test_tree_damage", 0, NULL);
}
