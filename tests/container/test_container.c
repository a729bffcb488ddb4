/* SPDX-License-Identifier: MIT
 *
 * Containers of files by other writers, compared with what another reader found in them.
 */
#include "opened.h"

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <unistd.h>

static struct opened opened;
static struct nt_error error;

/* Finds the anchor for expected values by its position, which is unique. */
static const struct nt_anchor_object *find_at(uint64_t record)
{
    const struct nt_anchor_object *nearest = NULL;
    for (uint32_t i = 0; i < opened.container.anchor_count; i++) {
        const struct nt_anchor_object *anchor = &opened.container.anchors[i];
        if (anchor->offset >= record && (!nearest || anchor->offset < nearest->offset))
            nearest = anchor;
    }
    return nearest;
}

static void append_path(struct nt_buffer *path, uint32_t directory)
{
    uint32_t above[64], depth = 0;
    for (uint32_t at = directory; at && depth < 64; at = opened.file->directories[at].parent)
        above[depth++] = at;
    while (depth--) {
        struct nt_text name = opened.file->directories[above[depth]].name;
        nt_buffer_append(path, name.bytes, name.length);
        nt_buffer_append_byte(path, '/');
    }
}

static void compare_anchor(const char *file, const json_t *expected)
{
    const json_t *key = json_object_get(expected, "key"), *object = json_object_get(expected, "anchor");
    const char *class_name = json_string_value(json_object_get(object, "cls"));
    const struct nt_anchor_object *anchor =
        find_at((uint64_t)json_number_value(json_object_get(key, "seekkey")));
    ck_assert_msg(anchor && !anchor->failure, "%s: no anchor where one is", file);
    struct nt_buffer path = {0};
    append_path(&path, anchor->directory);
    nt_buffer_append(&path, anchor->name.bytes, anchor->name.length);
    const char *expected_path = json_string_value(json_object_get(expected, "path"));
    ck_assert_msg(expected_path && !strcmp(path.bytes ? path.bytes : "", expected_path), "%s: %s is not %s",
                  file, path.bytes, expected_path);
    nt_buffer_deinit(&path);
    ck_assert_uint_eq(anchor->cycle, (uint64_t)json_number_value(json_object_get(key, "cycle")));
    ck_assert_uint_eq(anchor->length, (uint64_t)json_number_value(json_object_get(object, "objlen")));
    if (class_name)
        ck_assert_str_eq(anchor->class_name, class_name);
}

/* Linked attribute sets have anchors that no directory lists. They do not belong to the container. */
static bool is_listed(const json_t *expected)
{
    const char *class_name = json_string_value(json_object_get(json_object_get(expected, "key"), "cls"));
    return class_name && strcmp(class_name, "(linked attribute set)");
}

static void compare_file(const char *path, const json_t *expected)
{
    struct nt_source *source;
    assert_ok(nt_source_open_file(path, &source, &error));
    assert_ok(open_source(&opened, source, &error));
    size_t i, count = 0;
    json_t *ntuple;
    json_array_foreach(json_object_get(expected, "ntuples"), i, ntuple)
    {
        if (!is_listed(ntuple))
            continue;
        compare_anchor(path, ntuple);
        count++;
    }
    ck_assert_msg(opened.container.anchor_count == count, "%s: %u anchors instead of %zu", path,
                  opened.container.anchor_count, count);
    opened_close(&opened);
}

/* Expects a failure, or a container whose content fails. */
static void open_bad_file(const char *path)
{
    struct nt_source *source;
    assert_ok(nt_source_open_file(path, &source, &error));
    enum nt_status status = open_source(&opened, source, &error);
    if (status)
        ck_assert_msg(error.message[0], "%s: refused without a message", path);
    opened_close(&opened);
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && !strcmp(text + length - end_length, end);
}

/* The file with expected values next to X.root (X.json) or X.rntuple (X.rntuple.json); NULL if there is
 * none. */
static json_t *expected_of(const char *path)
{
    char name[1024];
    bool is_bare = ends_with(path, ".rntuple");
    if (!is_bare && !ends_with(path, ".root"))
        return NULL;
    int stem = (int)(strlen(path) - (is_bare ? 0 : strlen(".root")));
    snprintf(name, sizeof(name), "%.*s.json", stem, path);
    /* Checksums of 64 bits exceed jansson's integers. */
    return json_load_file(name, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, NULL);
}

static size_t compare_folder(const char *shared, const char *folder)
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/data/rntuple/%s", shared, folder);
    DIR *directory = opendir(path);
    size_t files = 0;
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        snprintf(path, sizeof(path), "%s/data/rntuple/%s/%s", shared, folder, entry->d_name);
        json_t *expected = expected_of(path);
        if (!expected)
            continue;
        if (strcmp(folder, "bad"))
            compare_file(path, expected);
        else
            open_bad_file(path);
        json_decref(expected);
        files++;
    }
    if (directory)
        closedir(directory);
    return files;
}

static const struct {
    const char *name;
    size_t files; /* at least */
} folders[] = {{"real", 130}, {"gen", 20}, {"validation", 20}, {"bad", 20}};

TEST(anchors_are_where_another_reader_found_them, .end = 4)
{
    const char *shared = getenv("NTUPLE_SHARED");
    if (!shared || access(shared, R_OK)) {
        printf("skipped: no shared data\n");
        return;
    }
    ck_assert_uint_ge(compare_folder(shared, folders[_i].name), folders[_i].files);
}
