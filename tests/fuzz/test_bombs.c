/* SPDX-License-Identifier: MIT
 *
 * Small files that ask for much: each is opened and read within two seconds and 256 MiB, or refused.
 */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "everything.h"
#include "rntuple_writer.h"
#include "support.h"

enum {
    MEMORY_BYTES = 256 << 20,
    SECONDS = 2,
    MANY_FIELDS = 250000,
    TOO_MANY_FIELDS = 1000000,
    DEEP_FIELDS = 100000,
    MANY_PAGES = 100000
};

/* ---- trying ---- */

struct outcome {
    unsigned read, failed;
};

static void count(void *context, uint32_t dataset, uint32_t field, enum nt_stream_kind kind,
                  enum nt_status status, const uint8_t *bytes, uint64_t length)
{
    struct outcome *outcome = context;
    (void)dataset, (void)field, (void)kind, (void)bytes, (void)length;
    outcome->read += status == NT_OK;
    outcome->failed += status != NT_OK;
}

/* Sanitizers have memory of their own: only the time is limited then. */
static void limit(void)
{
#if !defined(__SANITIZE_ADDRESS__)
    const struct rlimit memory = {MEMORY_BYTES, MEMORY_BYTES};
    setrlimit(RLIMIT_DATA, &memory);
    const struct rlimit seconds = {SECONDS, SECONDS};
    setrlimit(RLIMIT_CPU, &seconds);
#endif
}

enum { READ = 1, FAILED = 2, REFUSED = 4, WITHOUT_STREAMS = 0, NOT_TRIED = 8 };

/* In a process of its own that has only the path of the file. The exit status tells what became of it. */
static int read_in_child(const char *path)
{
    struct outcome outcome = {0};
    struct nt_source *source;
    limit();
    if (nt_source_open_file(path, &source, NULL) != NT_OK)
        return NOT_TRIED;
    if (open_and_read(source, count, &outcome) != NT_OK)
        return REFUSED;
    return (outcome.read > 0 ? READ : 0) | (outcome.failed > 0 ? FAILED : 0);
}

/* The files are made in the parent, whose memory the child would inherit: it is this program again. */
static void expect(const char *name, struct nt_buffer *file, int expected)
{
    char path[] = "/tmp/ntuple-bomb-XXXXXX";
    int descriptor = mkstemp(path), result;
    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq(write(descriptor, file->bytes, file->length), (ssize_t)file->length);
    close(descriptor);
    nt_buffer_deinit(file);
    pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "test_bombs", path, NULL);
        _exit(NOT_TRIED);
    }
    struct rusage usage;
    ck_assert_int_eq(wait4(child, &result, 0, &usage), child);
    unlink(path);
    printf("%s: %ld ms, %ld MiB\n", name,
           usage.ru_utime.tv_sec * 1000 + usage.ru_utime.tv_usec / 1000 + usage.ru_stime.tv_sec * 1000 +
               usage.ru_stime.tv_usec / 1000,
           usage.ru_maxrss / 1024);
    ck_assert_msg(WIFEXITED(result) && WEXITSTATUS(result) == expected, "%s: %s %d", name,
                  WIFEXITED(result) ? "exit status" : "signal",
                  WIFEXITED(result) ? WEXITSTATUS(result) : WTERMSIG(result));
#if !defined(__SANITIZE_ADDRESS__)
    ck_assert_int_lt(usage.ru_maxrss, MEMORY_BYTES / 1024);
#endif
}

/* ---- making ---- */

static struct nt_buffer file;

static const struct rntuple_field integer = {.name = "a", .type = "std::int32_t", .parent = RNTUPLE_TOP};
static const struct rntuple_column int32_column = {.type = 0x07, .bits = 32};

/* One integer field whose only column has these pages. */
static void write_pages(const struct rntuple_page *pages, uint32_t page_count, uint64_t entries)
{
    const struct rntuple_range range = {.pages = pages, .page_count = page_count};
    const struct rntuple_cluster cluster = {.entries = entries, .ranges = &range, .range_count = 1};
    const struct rntuple_description description = {
        .name = "bomb",
        .writer = "a test",
        .fields = &integer,
        .field_count = 1,
        .columns = &int32_column,
        .column_count = 1,
        .clusters = &cluster,
        .cluster_count = 1,
    };
    rntuple_write(RNTUPLE_V1, &description, &file);
}

START_TEST(a_page_of_2_to_31_elements_in_few_bytes)
{
    const struct rntuple_page page = {.elements = INT32_MAX, .packed = "few", .packed_bytes = 3};
    write_pages(&page, 1, INT32_MAX);
    expect("a page of 2^31 elements", &file, FAILED);
}
END_TEST

/* All pages are the same bytes; together they are 400 GB. */
START_TEST(pages_that_overlap)
{
    enum { ELEMENTS = 1 << 20 };
    static const char zeros[4 * ELEMENTS];
    struct rntuple_page *pages = calloc(MANY_PAGES, sizeof(*pages));
    char *stored = calloc(1, 8192);
    /* zstd: magic, window of 4 MiB, blocks of 128 KiB that repeat one byte */
    size_t length = 9;
    memcpy(stored + length, "\x28\xb5\x2f\xfd\x00\x60", 6);
    length += 6;
    for (unsigned i = 0; i < 32; i++, length += 4)
        memcpy(stored + length, i == 31 ? "\x03\x00\x10\x00" : "\x02\x00\x10\x00", 4);
    memcpy(stored, "ZS\x01", 3);
    for (unsigned i = 0; i < 3; i++) {
        stored[3 + i] = (char)((length - 9) >> 8 * i);
        stored[6 + i] = (char)((4u * ELEMENTS) >> 8 * i);
    }
    for (uint32_t i = 0; i < MANY_PAGES; i++)
        pages[i] = (struct rntuple_page){.elements = ELEMENTS,
                                         .packed = zeros,
                                         .packed_bytes = sizeof(zeros),
                                         .stored = stored,
                                         .stored_bytes = (uint32_t)length,
                                         .merged = i ? &pages[0] : NULL};
    write_pages(pages, MANY_PAGES, (uint64_t)MANY_PAGES * ELEMENTS);
    free(pages);
    free(stored);
    expect("pages that overlap", &file, READ);
}
END_TEST

START_TEST(a_zstd_window_of_2_gigabytes)
{
    /* Window descriptor 0xa8: 2^31 bytes; one block that repeats a byte 4000 times. */
    static const char stored[] = "ZS\x01\x0a\x00\x00\xa0\x0f\x00"
                                 "\x28\xb5\x2f\xfd\x00\xa8\x03\x7d\x00\x00";
    static const char zeros[4000];
    const struct rntuple_page page = {.elements = 1000,
                                      .packed = zeros,
                                      .packed_bytes = sizeof(zeros),
                                      .stored = stored,
                                      .stored_bytes = sizeof(stored) - 1};
    write_pages(&page, 1, 1000);
    expect("a zstd window of 2 GiB", &file, READ);
}
END_TEST

static void write_fields(const struct rntuple_field *fields, uint32_t count,
                         void (*spoil)(enum rntuple_envelope, struct nt_buffer *))
{
    const struct rntuple_description description = {
        .name = "bomb",
        .writer = "a test",
        .fields = fields,
        .field_count = count,
        .spoil = spoil,
    };
    rntuple_write(RNTUPLE_V1, &description, &file);
}

/* Each field below the one before it, or all at the top. */
static void write_many(uint32_t field_count, bool is_deep)
{
    struct rntuple_field *fields = calloc(field_count, sizeof(*fields));
    for (uint32_t i = 0; i < field_count; i++)
        fields[i] = (struct rntuple_field){
            .name = "a", .type = "", .role = 2, .parent = is_deep && i ? i - 1 : RNTUPLE_TOP};
    write_fields(fields, field_count, NULL);
    free(fields);
}

START_TEST(a_million_fields)
{
    write_many(TOO_MANY_FIELDS, false);
    expect("a million fields", &file, REFUSED);
}
END_TEST

START_TEST(a_quarter_of_a_million_fields)
{
    write_many(MANY_FIELDS, false);
    expect("a quarter of a million fields", &file, WITHOUT_STREAMS); /* they are records */
}
END_TEST

START_TEST(fields_nested_deep)
{
    write_many(DEEP_FIELDS, true);
    expect("fields nested deep", &file, REFUSED);
}
END_TEST

/* From itself; in a ring, which is harmless: alias columns, not these links, tell what is read. */
START_TEST(fields_projected_from_each_other)
{
    const struct rntuple_field fields[] = {
        {.name = "a", .type = "float", .parent = RNTUPLE_TOP, .flags = 2, .source = _i ? 1 : 0},
        {.name = "b", .type = "float", .parent = RNTUPLE_TOP, .flags = 2, .source = 0},
    };
    write_fields(fields, 2, NULL);
    expect("fields projected from each other", &file, _i ? WITHOUT_STREAMS : REFUSED);
}
END_TEST

static void long_text(enum rntuple_envelope kind, struct nt_buffer *bytes)
{
    if (kind == RNTUPLE_HEADER)
        memset(bytes->bytes + 16, 0xff, 4); /* the name's length */
}

START_TEST(a_text_of_4_gigabytes)
{
    write_fields(&integer, 1, long_text);
    expect("a text of 4 GiB", &file, REFUSED);
}
END_TEST

int main(int argc, char **argv)
{
    if (argc > 1)
        return read_in_child(argv[1]);
    Suite *suite = suite_create("fuzz: bombs");
    TCase *tests = tcase_create("bombs");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, a_page_of_2_to_31_elements_in_few_bytes);
    tcase_add_test(tests, pages_that_overlap);
    tcase_add_test(tests, a_zstd_window_of_2_gigabytes);
    tcase_add_test(tests, a_million_fields);
    tcase_add_test(tests, a_quarter_of_a_million_fields);
    tcase_add_test(tests, fields_nested_deep);
    tcase_add_loop_test(tests, fields_projected_from_each_other, 0, 2);
    tcase_add_test(tests, a_text_of_4_gigabytes);
    suite_add_tcase(suite, tests);
    return nt_test_main(suite);
}
