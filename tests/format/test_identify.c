/* SPDX-License-Identifier: MIT
 *
 * What foreign files are called by their first bytes.
 */
#include "format/format.h"

#include <string.h>

#include "support.h"

static struct nt_error error;

static const char *identify(const void *bytes, size_t size)
{
    struct nt_source *source;
    assert_ok(nt_source_open_memory(bytes, size, "test", &source, &error));
    const char *kind = nt_identify(source);
    nt_source_close(source);
    return kind;
}

START_TEST(foreign_files_are_named)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *kind;
    } files[] = {
        {"", 0, "an empty file"},
        {"PAR1....PAR1", 12, "a Parquet file"},
        {"ARROW1\0\0\xff\xff\xff\xff", 12, "an Arrow IPC (Feather) file"},
        {"\0\0\0\0\2\0\0\0LANC", 12, "a Lance file"},
        {"\x89HDF\r\n\x1a\n\0", 9, "an HDF5 file"},
        {"PK\3\4\0", 5, "a zip archive"},
        {"\x1f\x8b\x08", 3, "a gzip file"},
        {"plain text\n", 11, "a text file"},
        {"\xe6\x97\xa5\xe6\x9c\xac\n", 7, "a text file"},
    };
    ck_assert_str_eq(identify(files[_i].bytes, files[_i].size), files[_i].kind);
}
END_TEST

START_TEST(unknown_bytes_are_not_guessed)
{
    static const char zeros[600];
    ck_assert_ptr_null(identify(zeros, sizeof(zeros)));
    ck_assert_ptr_null(identify("\x01\x02\xff", 3));
    ck_assert_ptr_null(identify("text\xff", 5));
}
END_TEST

START_TEST(a_long_text_may_be_cut_within_a_character)
{
    char text[1000];
    memset(text, 'x', sizeof(text));
    for (size_t at = 505; at < 515; at++) {
        memcpy(text + at, "\xf0\x9f\x98\x80", 4);
        ck_assert_str_eq(identify(text, sizeof(text)), "a text file");
        memset(text + at, 'x', 4);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("identify");
    TCase *cases = tcase_create("foreign files");
    tcase_add_loop_test(cases, foreign_files_are_named, 0, 9);
    tcase_add_test(cases, unknown_bytes_are_not_guessed);
    tcase_add_test(cases, a_long_text_may_be_cut_within_a_character);
    suite_add_tcase(suite, cases);
    return nt_test_main(suite);
}
