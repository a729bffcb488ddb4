/* SPDX-License-Identifier: MIT
 *
 * Arrays, tables and files of other writers, compared with the values of their own readers.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "formats/formats.h"
#include "open_path.h"

#include "blz_files.h"
#include "core/model/model.h"

static void check_digest(const json_t *expected, struct nt_dataset *dataset, const char *path,
                         const char *where)
{
    const json_t *digest = json_object_get(expected, "sha256");
    if (!digest)
        digest = json_object_get(expected, "all_pickles_sha256");
    if (!digest)
        return;
    uint8_t found[32];
    char text[NT_CHECKSUM_TEXT];
    size_t bytes;
    uint8_t *data = read_data(dataset, path, &bytes);
    nt_checksum_info(NT_CHECKSUM_SHA256)->compute(data, bytes, found);
    nt_checksum_text(NT_CHECKSUM_SHA256, found, text);
    ck_assert_msg(!strcmp(text, json_string_value(digest)), "%s: %s", where, path);
    free(data);
}

/* Reads all bytes of a damaged file; true if that fails. */
static bool fails_to_read(struct nt_dataset *dataset)
{
    struct nt_stream *stream;
    if (nt_stream_open(reader, dataset, 0, NT_STREAM_DATA, &stream, &error) != NT_OK)
        return true;
    size_t bytes = nt_stream_elements(stream) * nt_stream_element_bytes(stream);
    uint8_t *data = malloc(bytes + 1);
    enum nt_status status = nt_stream_read(stream, 0, data, bytes, &error);
    nt_stream_close(stream);
    free(data);
    return status != NT_OK;
}

static void check_foreign(const char *path, const json_t *expected)
{
    const json_t *expect = json_object_get(expected, "expect"),
                 *columns = json_object_get(expected, "columns");
    bool must_fail = json_is_string(expect) && !strcmp(json_string_value(expect), "reject");
    struct nt_file *file;
    error = (struct nt_error){0};
    enum nt_status status = open_with(&nt_format_blz, path, &(struct nt_open_options){0}, &file, &error);
    if (must_fail) {
        ck_assert_msg(status != NT_OK || fails_to_read(file->datasets[0]), "%s was read", path);
    } else {
        ck_assert_msg(status == NT_OK, "%s: %s", path, error.message);
        const char *name;
        json_t *column;
        json_object_foreach((json_t *)columns, name, column)
        {
            check_digest(column, file->datasets[0], name, path);
        }
        if (!columns)
            check_digest(expected, file->datasets[0], "values", path);
    }
    if (status == NT_OK)
        close_file(file);
}

TEST(foreign_data_reads_as_its_own_readers_say, .setup = set_up, .teardown = tear_down, .end = 4)
{
    static const char *const folders[] = {"blz", "bcolz", "seedshape", "blp"};
    static const char suffix[] = ".expect.json";
    const char *shared = getenv("NTUPLE_SHARED");
    char path[4096];
    snprintf(path, sizeof(path), "%s/data/blz/%s", shared ? shared : "", folders[_i]);
    size_t folder_length = strlen(path);
    DIR *directory = opendir(path);
    if (!directory) {
        printf("skipped: no foreign data in %s\n", folders[_i]);
        return;
    }
    unsigned checked = 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        size_t length = strlen(entry->d_name);
        if (length < sizeof(suffix) || strcmp(entry->d_name + length - sizeof(suffix) + 1, suffix) != 0)
            continue;
        snprintf(path + folder_length, sizeof(path) - folder_length, "/%s", entry->d_name);
        json_t *expected = json_load_file(path, JSON_DECODE_INT_AS_REAL, NULL);
        ck_assert_ptr_nonnull(expected);
        path[strlen(path) - sizeof(suffix) + 1] = '\0';
        check_foreign(path, expected);
        json_decref(expected);
        checked++;
    }
    closedir(directory);
    ck_assert_uint_gt(checked, 0);
}
