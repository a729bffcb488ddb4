/* SPDX-License-Identifier: MIT
 *
 * Writes the directory of a test, and reads it through the whole pipeline.
 */
#include "formats/formats.h"
#include "open_path.h"

#include "blz_files.h"
#include "core/json/json.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/memory.h"
#include "core/model/model.h"

struct nt_error error;
struct nt_reader *reader;

void set_up(void)
{
    strcpy(root, "/tmp/ntuplefs-blz-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
    assert_ok(nt_reader_new(
        &(struct nt_reader_options){.struct_bytes = sizeof(struct nt_reader_options), .cache_bytes = 1 << 20},
        &reader, &error));
}

static void remove_tree(const char *path)
{
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        char child[4096];
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        snprintf(child, sizeof(child), "%s/%s", path, entry->d_name);
        if (unlink(child) != 0)
            remove_tree(child);
    }
    if (directory)
        closedir(directory);
    rmdir(path);
}

void tear_down(void)
{
    nt_reader_free(reader);
    remove_tree(root);
}

/* ---- writing ---- */

void put_integers(const char *array)
{
    int32_t values[ROWS];
    for (int i = 0; i < ROWS; i++)
        values[i] = 3 * i;
    put_metadata(array, "int32", "[350]", CHUNK_ROWS);
    for (unsigned i = 0; i < 4; i++)
        put_chunk(array, i, values + i * CHUNK_ROWS, i < 3 ? 400 : 200, 4);
}

/* ---- reading ---- */

struct nt_file *open_path(const char *name)
{
    char path[4096];
    struct nt_file *file;
    snprintf(path, sizeof(path), "%s/%s", root, name);
    assert_ok(open_with(&nt_format_blz, path, &(struct nt_open_options){0}, &file, &error));
    return file;
}

enum nt_status open_status(const char *name)
{
    char path[4096];
    struct nt_file *file;
    snprintf(path, sizeof(path), "%s/%s", root, name);
    error = (struct nt_error){0};
    enum nt_status status = open_with(&nt_format_blz, path, &(struct nt_open_options){0}, &file, &error);
    if (status == NT_OK)
        nt_file_close(file);
    return status;
}

void close_file(struct nt_file *file)
{
    nt_reader_forget(reader, file->datasets[0]);
    nt_file_close(file);
}

uint32_t find_field(const struct nt_dataset *dataset, const char *path)
{
    uint32_t field = NT_NONE;
    while (*path) {
        uint32_t count, found = NT_NONE;
        const uint32_t *children = nt_dataset_children(dataset, field, &count);
        size_t length = strcspn(path, "/");
        for (uint32_t i = 0; i < count; i++)
            if (dataset->fields[children[i]].name.length == length &&
                !memcmp(dataset->fields[children[i]].name.bytes, path, length))
                found = children[i];
        ck_assert_msg(found != NT_NONE, "no field %s", path);
        field = found;
        path += length + (path[length] == '/');
    }
    return field;
}

uint8_t *read_data(struct nt_dataset *dataset, const char *path, size_t *bytes_ret)
{
    struct nt_stream *stream;
    assert_ok(nt_stream_open(reader, dataset, find_field(dataset, path), NT_STREAM_DATA, &stream, &error));
    *bytes_ret = nt_stream_elements(stream) * nt_stream_element_bytes(stream);
    uint8_t *data = malloc(*bytes_ret + 1);
    assert_ok(nt_stream_read(stream, 0, data, *bytes_ret, &error));
    nt_stream_close(stream);
    return data;
}

void check_rows(struct nt_dataset *dataset, const char *path, unsigned bad_first, unsigned bad_end)
{
    struct nt_stream *stream;
    assert_ok(nt_stream_open(reader, dataset, find_field(dataset, path), NT_STREAM_DATA, &stream, &error));
    ck_assert_uint_eq(nt_stream_elements(stream), ROWS);
    for (unsigned i = 0; i < ROWS; i += 10) {
        int32_t value = -1;
        enum nt_status status = nt_stream_read(stream, i * 4, &value, 4, &error);
        if (i >= bad_first && i < bad_end)
            ck_assert_msg(status != NT_OK, "row %u was read", i);
        else
            ck_assert_msg(status == NT_OK && value == (int32_t)(3 * i), "row %u: %s", i, error.message);
    }
    nt_stream_close(stream);
}

json_t *describe_field(const struct nt_dataset *dataset, uint32_t field)
{
    struct nt_buffer text = {0};
    struct nt_json json;
    nt_json_line(&json, &text);
    dataset->ops->describe_field(dataset, field, &json);
    nt_json_finish(&json);
    json_t *object = json_loadb(text.bytes, text.length, 0, NULL);
    ck_assert_ptr_nonnull(object);
    nt_buffer_deinit(&text);
    return object;
}
