/* SPDX-License-Identifier: MIT
 *
 * Sources whose bytes come from callbacks of the program.
 */
#include <string.h>

#include "core/io/source.h"
#include "support.h"
#include <ntuple/source.h>

static struct nt_error error;
static struct nt_source *source;

/* The next results of the program's source, and its calls. */
struct answer {
    enum nt_status status;
    int system_error;
    const char *message;
    unsigned reads, closes;
    uint64_t offset;
    size_t bytes;
};

static enum nt_status read_at(void *context, uint64_t offset, void *buffer, size_t bytes,
                              struct nt_error *returned)
{
    struct answer *answer = context;
    answer->reads++;
    answer->offset = offset;
    answer->bytes = bytes;
    memset(buffer, 'x', bytes);
    returned->system_error = answer->system_error;
    if (answer->message)
        strcpy(returned->message, answer->message);
    return answer->status;
}

static void count_close(void *context)
{
    ((struct answer *)context)->closes++;
}

static const struct nt_source_callbacks callbacks = {
    .struct_bytes = sizeof(callbacks), .read_at = read_at, .close = count_close};

TEST(reads_within_the_size_are_passed_on)
{
    struct answer answer = {0};
    char name[] = "http://host/a.root", buffer[5] = "";
    uint64_t size;
    assert_ok(nt_source_new(&callbacks, &answer, 1000, name, &source, &error));
    name[0] = '+';
    ck_assert_str_eq(source->path, "http://host/a.root"); /* a copy */
    assert_ok(nt_source_size(source, &size, &error));
    ck_assert_uint_eq(size, 1000);
    assert_ok(nt_source_read(source, 996, buffer, 4, &error));
    ck_assert_str_eq(buffer, "xxxx");
    ck_assert_uint_eq(answer.offset, 996);
    ck_assert_uint_eq(answer.bytes, 4);
    assert_status(NT_TRUNCATED, nt_source_read(source, 997, buffer, 4, &error));
    assert_ok(nt_source_read(source, 1000, buffer, 0, &error));
    ck_assert_uint_eq(answer.reads, 1);
    nt_source_close(source);
    ck_assert_uint_eq(answer.closes, 1);
}

static const struct {
    enum nt_status returned, expected;
    int system_error;
    const char *message, *shown;
} failures[] = {
    {NT_IO, NT_IO, 5, "503 from host", "name: 503 from host (at byte 7)"},
    {NT_IO, NT_IO, 0, NULL, "name: cannot be read (at byte 7)"},
    {NT_CHANGED, NT_CHANGED, 0, "has a new ETag", "name: has a new ETag (at byte 7)"},
    {NT_TRUNCATED, NT_TRUNCATED, 0, "ended", "name: ended (at byte 7)"},
    {NT_NO_MEMORY, NT_NO_MEMORY, 0, NULL, "name: cannot be read (at byte 7)"},
    {NT_CANCELED, NT_CANCELED, 0, NULL, "name: cannot be read (at byte 7)"},
    /* Statuses that would let formats try on, or blame the file. */
    {NT_NOT_THIS_FORMAT, NT_IO, 0, "x", "name: x (at byte 7)"},
    {NT_CORRUPT, NT_IO, 0, "x", "name: x (at byte 7)"},
    {(enum nt_status)1234, NT_IO, 0, "x", "name: x (at byte 7)"},
};

TEST(a_failure_has_a_status_of_reading_and_says_where, .end = sizeof(failures) / sizeof(*failures))
{
    struct answer answer = {.status = failures[_i].returned,
                            .system_error = failures[_i].system_error,
                            .message = failures[_i].message};
    char buffer[4];
    assert_ok(nt_source_new(&callbacks, &answer, 1000, "name", &source, &error));
    assert_status(failures[_i].expected, nt_source_read(source, 7, buffer, 4, &error));
    ck_assert_str_eq(error.message, failures[_i].shown);
    ck_assert_uint_eq(error.offset, 7);
    ck_assert_int_eq(error.system_error, failures[_i].system_error);
    ck_assert_int_eq(nt_source_read(source, 7, buffer, 4, NULL), failures[_i].expected);
    nt_source_close(source);
}

TEST(what_cannot_be_a_source_is_refused_and_not_called)
{
    struct answer answer = {0};
    struct nt_source_callbacks incomplete = NT_SOURCE_CALLBACKS_INIT;
    source = NULL;
    assert_status(NT_INVALID, nt_source_new(&incomplete, &answer, 1, "name", &source, &error));
    assert_status(NT_INVALID, nt_source_new(NULL, &answer, 1, "name", &source, &error));
    assert_status(NT_INVALID, nt_source_new(&callbacks, &answer, NT_UNKNOWN_SIZE, "name", &source, &error));
    ck_assert_ptr_null(source);
    incomplete.read_at = read_at;
    assert_ok(nt_source_new(&incomplete, &answer, 1, "name", &source, &error));
    nt_source_close(source); /* without `close` */
    ck_assert_uint_eq(answer.reads + answer.closes, 0);
}
