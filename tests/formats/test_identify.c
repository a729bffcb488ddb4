/* SPDX-License-Identifier: MIT
 *
 * Identifying files of other formats by their first bytes.
 */
#include "formats/formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support.h"
#include "core/io/folder.h"
#include "core/io/source.h"

static struct nt_error error;

static const char *identify(const void *bytes, size_t size)
{
    struct nt_source *source;
    assert_ok(nt_source_open_memory(bytes, size, "test", &source, &error));
    const char *kind = nt_identify(source).text;
    nt_source_close(source);
    return kind;
}

/* The header of a zip archive's first file. */
#define ARCHIVE(length, name)                                                                                \
    "PK\3\4\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0" length "\0\0" name, 30 + sizeof(name) - 1

TEST(foreign_files_are_named, .end = 17)
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
        {"root\xff\xf1\xaf\x28\0\0\0d", 12, "a ROOT file"},
        {"\x89HDF\r\n\x1a\n\0", 9, "an HDF5 file"},
        {"PK\3\4\0", 5, "a zip archive"},
        {"\x1f\x8b\x08", 3, "a gzip file"},
        {"plain text\n", 11, "a text file"},
        {"\x9e\xa8"
         "b2frame\0\xd2",
         11, "a Blosc2 frame (.b2nd, .b2frame)"},
        {"\5\1\x85\4\4\0\0\0\4\0\0\0\x14\0\0\0\7\0\0\0", 20, "a chunk of Blosc2"},
        {"\2\1\2\4\4\0\0\0\4\0\0\0\x14\0\0\0\7\0\0\0", 20, "a chunk of Blosc"},
        {ARCHIVE("\6\0", "x.b2nd"), "a Blosc2 store in a zip archive"},
        {ARCHIVE("\x9\0", "zarr.json"), "a Zarr store in a zip archive"},
        {ARCHIVE("\x9\0", "data.json"), "a zip archive"},
        {ARCHIVE("\xff\xff", "zarr.json"), "a zip archive"},
        {"\xe6\x97\xa5\xe6\x9c\xac\n", 7, "a text file"},
    };
    ck_assert_str_eq(identify(files[_i].bytes, files[_i].size), files[_i].kind);
}

TEST(foreign_folders_are_named, .end = 6)
{
    static const struct {
        const char *file, *kind;
    } folders[] = {
        {"zarr.json", "a Zarr store"},
        {".zarray", "a Zarr array"},
        {".zgroup", "a Zarr group"},
        {"chunks.b2frame", "a Blosc2 frame in a directory"},
        {"embed.b2e", "a Blosc2 store (.b2d)"},
        {"example.root", NULL},
    };
    char folder[] = "/tmp/ntuple-identify-XXXXXX", path[64];
    struct nt_folder *opened;
    struct nt_file_kind kind;
    bool is_dataset;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/%s", folder, folders[_i].file);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fclose(file);
    assert_ok(nt_folder_open(folder, NT_FOLDER_DATASET, &opened, &error));
    assert_ok(nt_identify_folder(opened, &kind, &error));
    assert_ok(nt_is_dataset_folder(opened, &is_dataset, &error));
    nt_folder_close(opened);
    unlink(path);
    rmdir(folder);
    ck_assert_int_eq(is_dataset, folders[_i].kind != NULL);
    ck_assert(folders[_i].kind ? kind.text && !strcmp(kind.text, folders[_i].kind) : !kind.text);
}

TEST(unknown_bytes_are_not_guessed)
{
    static const char zeros[600];
    ck_assert_ptr_null(identify(zeros, sizeof(zeros)));
    ck_assert_ptr_null(identify("\5\1\x85\4\4\0\0\0\4\0\0\0\x15\0\0\0\xff\0\0\0",
                                20)); /* another number of bytes than it says */
    ck_assert_ptr_null(identify("\x01\x02\xff", 3));
    ck_assert_ptr_null(identify("text\xff", 5));
}

TEST(a_long_text_may_be_cut_within_a_character)
{
    char text[1000];
    memset(text, 'x', sizeof(text));
    for (size_t at = 505; at < 515; at++) {
        memcpy(text + at, "\xf0\x9f\x98\x80", 4);
        ck_assert_str_eq(identify(text, sizeof(text)), "a text file");
        memset(text + at, 'x', 4);
    }
}
