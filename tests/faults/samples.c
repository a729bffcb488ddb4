/* SPDX-License-Identifier: MIT
 *
 * The samples: files that are given, and those that the tests' writers and c-blosc make.
 */
#define _XOPEN_SOURCE 700
#include "samples.h"

#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bloscpack_writer.h"
#include "sample.h"

/* One of each structure that a reader treats in its own way. */
static const char *const given[] = {
    "types.root",         "attributes.root", "late_fields.root",       "projected.root",
    "names.root",         "empty.root",      "dirs_and_cycles.root",   "multi_representation.root",
    "damaged_page.root",  "structures.blp",  "without_checksums.root", "compression_lzma.root",
    "rows_of_nothing.blp"};

enum { GIVEN = sizeof(given) / sizeof(*given) };

static char root[] = "/tmp/ntuplefs-samples-XXXXXX";
static char *paths[SAMPLES + 1];
static size_t count;

static __attribute__((format(printf, 1, 2))) char *text(const char *format, ...)
{
    char *result = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&result, format, arguments) < 0)
        abort();
    va_end(arguments);
    return result;
}

/* A file below the root, with the directories on its way. */
static void put_file(const char *name, const void *bytes, size_t length)
{
    char *path = text("%s/%s", root, name);
    for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        mkdir(path, 0755);
    }
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, length, file) != length || fclose(file))
        abort();
    free(path);
}

static void add(const char *name)
{
    paths[count++] = text("%s/%s", root, name);
}

static void add_rntuple(const char *name, enum rntuple_generation generation, bool is_compressed)
{
    struct nt_buffer bytes = {0};
    sample_file(generation, is_compressed, NULL, &bytes);
    put_file(name, bytes.bytes, bytes.length);
    nt_buffer_deinit(&bytes);
    add(name);
}

static void add_roaring(const char *name)
{
    /* Two array containers, of the keys 0 and 2: {1, 5} and {131072}. */
    static const unsigned char bytes[] = {0x3a, 0x30, 0, 0, 2, 0,  0, 0, 0, 0, 1, 0, 2, 0, 0,
                                          0,    24,   0, 0, 0, 28, 0, 0, 0, 1, 0, 5, 0, 0, 0};
    put_file(name, bytes, sizeof(bytes));
    add(name);
}

static void put_array(const char *name, const int *values, size_t rows, size_t chunk_rows)
{
    char *storage = text("%s/meta/storage", name), *sizes = text("%s/meta/sizes", name);
    char *content =
        text("{\"dtype\": \"int32\", \"bparams\": {}, \"chunklen\": %zu, \"dflt\": 0}", chunk_rows);
    put_file(storage, content, strlen(content));
    free(content);
    content = text("{\"shape\": [%zu], \"nbytes\": 0, \"cbytes\": 0}", rows);
    put_file(sizes, content, strlen(content));
    for (size_t first = 0; first < rows; first += chunk_rows) {
        size_t part = rows - first < chunk_rows ? rows - first : chunk_rows;
        struct nt_buffer bytes = {0};
        const struct bloscpack_options options = {
            .version = 1, .type_bytes = sizeof(*values), .chunk_bytes = part * sizeof(*values)};
        bloscpack_write(&bytes, &options, values + first, part * sizeof(*values), NULL);
        char *chunk = text("%s/data/__%zu.blp", name, first / chunk_rows);
        put_file(chunk, bytes.bytes, bytes.length);
        free(chunk);
        nt_buffer_deinit(&bytes);
    }
    free(content);
    free(sizes);
    free(storage);
}

static void add_blz(const char *name)
{
    static const char columns[] = "{\"names\": [\"x\", \"y\"]}", user[] = "{\"origin\": \"here\"}";
    int values[250];
    for (int i = 0; i < 250; i++)
        values[i] = 3 * i;
    char *part = text("%s/__rootdirs__", name);
    put_file(part, columns, strlen(columns));
    free(part);
    part = text("%s/__attrs__", name);
    put_file(part, user, strlen(user));
    free(part);
    part = text("%s/x", name);
    put_array(part, values, 250, 100);
    free(part);
    part = text("%s/y", name);
    put_array(part, values, 250, 100);
    free(part);
    add(name);
}

static void add_bloscpack(const char *name)
{
    int values[120];
    for (int i = 0; i < 120; i++)
        values[i] = i % 7;
    struct nt_buffer bytes = {0};
    const struct bloscpack_options options = {.version = 3,
                                              .checksum = 6,
                                              .has_offsets = true,
                                              .metadata = "{\"dtype\": \"'<i4'\", \"shape\": [120]}",
                                              .type_bytes = sizeof(*values),
                                              .chunk_bytes = 240};
    bloscpack_write(&bytes, &options, values, sizeof(values), NULL);
    put_file(name, bytes.bytes, bytes.length);
    nt_buffer_deinit(&bytes);
    add(name);
}

const char *const *samples_make(const char *test_data)
{
    if (!mkdtemp(root))
        abort();
    for (size_t i = 0; i < GIVEN; i++)
        paths[count++] = text("%s/%s", test_data, given[i]);
    add_rntuple("folder/predraft.root", RNTUPLE_PREDRAFT, false);
    add_rntuple("folder/draft.root", RNTUPLE_CRC32_EXTENSION, true);
    add_rntuple("candidate.root", RNTUPLE_RC3, true);
    add_roaring("folder/bitmap.roaring");
    add_blz("folder/table");
    add_bloscpack("array.blp");
    if (count != SAMPLES)
        abort();
    return (const char *const *)paths;
}

static int remove_one(const char *path, const struct stat *attributes, int kind, struct FTW *walk)
{
    (void)attributes, (void)kind, (void)walk;
    return remove(path);
}

void samples_remove(void)
{
    nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    while (count)
        free(paths[--count]);
}
