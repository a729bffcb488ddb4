/* SPDX-License-Identifier: MIT
 *
 * The samples: given files, and files by the tests' writers and c-blosc.
 */
#define _XOPEN_SOURCE 700
#include "samples.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bloscpack_writer.h"
#include "blz_writer.h"
#include "sample.h"

/* One of each structure that readers treat differently. */
static const char *const given[] = {"types.root",
                                    "attributes.root",
                                    "late_fields.root",
                                    "projected.root",
                                    "names.root",
                                    "empty.root",
                                    "dirs_and_cycles.root",
                                    "multi_representation.root",
                                    "damaged_page.root",
                                    "structures.blp",
                                    "without_checksums.root",
                                    "compression_lzma.root",
                                    "rows_of_nothing.blp",
                                    "lance_nested_2.1.lance",
                                    "lance_constants_2.2.lance",
                                    "lance_arrays_2.0.lance",
                                    "lance_blobs_2.1.lance"};

enum { GIVEN = sizeof(given) / sizeof(*given) };

static char *paths[SAMPLES + 1];
static size_t count;

static void add_of(const char *directory, const char *name)
{
    if (asprintf(&paths[count++], "%s/%s", directory, name) < 0)
        abort();
}

/* What was put below the root. */
static void add(const char *name)
{
    add_of(root, name);
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

enum { ROWS = 700, CHUNK_ROWS = 300, WIDTH = 100 };

static void put_column(const char *name, const char *dtype, const void *values, size_t width)
{
    put_metadata(name, dtype, "[700]", CHUNK_ROWS);
    for (unsigned first = 0; first < ROWS; first += CHUNK_ROWS) {
        unsigned rows = ROWS - first < CHUNK_ROWS ? ROWS - first : CHUNK_ROWS;
        put_chunk(name, first / CHUNK_ROWS, (const char *)values + first * width, rows * width,
                  (unsigned)width);
    }
}

/* More strings than one read takes, so that it ends within one of them. */
static void add_blz(void)
{
    static int numbers[ROWS];
    static char strings[ROWS][WIDTH];
    for (int i = 0; i < ROWS; i++) {
        numbers[i] = 3 * i;
        memset(strings[i], 'a' + i % 26, 1 + (size_t)i % WIDTH);
    }
    put_text("folder/table/__rootdirs__", "{\"names\": [\"x\", \"y\"]}");
    put_text("folder/table/__attrs__", "{\"origin\": \"here\"}");
    put_column("folder/table/x", "int32", numbers, sizeof(*numbers));
    put_column("folder/table/y", "|S100", strings, WIDTH);
    add("folder/table");
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
    strcpy(root, "/tmp/ntuplefs-samples-XXXXXX");
    if (!mkdtemp(root))
        abort();
    for (size_t i = 0; i < GIVEN; i++)
        add_of(test_data, given[i]);
    add_rntuple("folder/predraft.root", RNTUPLE_PREDRAFT, false);
    add_rntuple("folder/draft.root", RNTUPLE_CRC32_EXTENSION, true);
    add_rntuple("candidate.root", RNTUPLE_RC3, true);
    add_roaring("folder/bitmap.roaring");
    add_blz();
    add_bloscpack("array.blp");
    add("folder");
    if (count != SAMPLES)
        abort();
    return (const char *const *)paths;
}

static int remove_one(const char *path, const struct stat *attributes, int kind, struct FTW *walk)
{
    return remove(path);
}

void samples_remove(void)
{
    nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    while (count)
        free(paths[--count]);
}
