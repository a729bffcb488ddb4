/* SPDX-License-Identifier: MIT
 *
 * Verification of real files: those of ROOT and other writers are clean and have as many pages as other
 * readers count. Copies with a changed page and its checksum are not clean.
 */
#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support.h"
#include "tools/tools.h"
#include "core/codec/codec.h"
#include "core/model/model.h"
#include "read/read.h"
#include <ntuple/format.h>

struct found {
    size_t count;
    struct nt_finding first;
    struct nt_verify_summary summary;
    uint64_t loads; /* pages that were read and decompressed */
};

static void keep(void *context, const struct nt_finding *finding)
{
    struct found *found = context;
    if (found->count++ == 0)
        found->first = *finding;
}

static uint64_t count_loads(const struct nt_reader *reader)
{
    uint64_t loads = 0;
    for (unsigned i = 0; i < NT_ALGORITHM_COUNT; i++)
        loads += reader->algorithms[i].pages;
    return loads;
}

/* The result of opening; NT_OK: verified. `format`: NULL: any. */
static enum nt_status verify_with(const char *path, const char *format, bool caches_siblings,
                                  struct found *found)
{
    const struct nt_open_options open_options = {.struct_bytes = sizeof(open_options), .format = format};
    struct nt_error error = {0};
    struct nt_file *file;
    struct nt_reader *reader;
    *found = (struct found){0};
    enum nt_status status = nt_file_open(path, &open_options, &file, &error);
    if (status != NT_OK)
        return status;
    /* One thread alone loads no page that another one is loading. */
    const struct nt_reader_options reader_options = {.struct_bytes = sizeof(reader_options),
                                                     .threads = caches_siblings ? 0 : 1,
                                                     .caches_siblings = caches_siblings};
    assert_ok(nt_reader_new(&reader_options, &reader, &error));
    struct nt_verify_options options = {.on_finding = keep, .context = found};
    assert_ok(nt_verify(reader, file, &options, &found->summary, &error));
    found->loads = count_loads(reader);
    nt_reader_free(reader);
    nt_file_close(file);
    return NT_OK;
}

static enum nt_status verify_as(const char *path, const char *format, struct found *found)
{
    return verify_with(path, format, false, found);
}

static enum nt_status verify_path(const char *path, struct found *found)
{
    return verify_as(path, NULL, found);
}

static void assert_clean(const char *path, const struct found *found)
{
    ck_assert_msg(found->count == 0, "%s: %s", path, found->first.error.message);
}

static bool ends_with(const char *text, const char *end)
{
    return strlen(text) > strlen(end) && !strcmp(text + strlen(text) - strlen(end), end);
}

/* ---- our own files ---- */

static const char *data_path(const char *name)
{
    static char path[4096];
    const char *directory = getenv("NTUPLE_TEST_DATA");
    snprintf(path, sizeof(path), "%s/%s", directory ? directory : "tests/data", name);
    return path;
}

TEST(files_of_the_reference_writers_are_clean)
{
    struct found found;
    unsigned files = 0;
    DIR *directory = opendir(data_path("."));
    ck_assert_ptr_nonnull(directory);
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (!ends_with(entry->d_name, ".root") || !strcmp(entry->d_name, "damaged_page.root"))
            continue;
        ck_assert_int_eq(verify_path(data_path(entry->d_name), &found), NT_OK);
        assert_clean(entry->d_name, &found);
        files++;
    }
    closedir(directory);
    ck_assert_uint_gt(files, 10);
}

/* A basket has where lists end, their items, and all members of an object. The first member of each of five
 * branches is decoded alone. Twenty-three lists are compared with the lengths that another branch has. */
TEST(a_basket_is_decompressed_once_for_its_columns)
{
    enum { BASKETS = 86, ALONE = 5, COMPARED = 23 };
    const char *path = data_path("trees/trees_classes.root");
    struct found alone, together;
    struct nt_error error;
    assert_ok(verify_with(path, NULL, false, &alone));
    ck_assert_uint_gt(alone.loads, BASKETS + ALONE + COMPARED);
    assert_ok(verify_with(path, NULL, true, &together));
    assert_clean(path, &together);
    ck_assert_uint_eq(together.summary.pages, alone.summary.pages);
    ck_assert_uint_ge(together.loads, BASKETS);
    ck_assert_uint_le(together.loads, BASKETS + ALONE + COMPARED);
}

/* Some trees have branches that are not read, or that are in other files. */
TEST(trees_of_the_reference_writers_are_not_damaged)
{
    struct found found;
    unsigned files = 0;
    DIR *directory = opendir(data_path("trees"));
    ck_assert_ptr_nonnull(directory);
    for (struct dirent *entry; (entry = readdir(directory));) {
        char name[512];
        if (!ends_with(entry->d_name, ".root"))
            continue;
        snprintf(name, sizeof(name), "trees/%s", entry->d_name);
        ck_assert_int_eq(verify_path(data_path(name), &found), NT_OK);
        ck_assert_msg(!found.summary.findings[NT_FINDING_DAMAGED], "%s: %s", name, found.first.error.message);
        files++;
    }
    closedir(directory);
    ck_assert_uint_gt(files, 20);
}

TEST(the_damaged_page_is_found)
{
    struct found found;
    ck_assert_int_eq(verify_path(data_path("damaged_page.root"), &found), NT_OK);
    ck_assert_uint_eq(found.count, 1);
    ck_assert_int_eq(found.first.error.status, NT_CHECKSUM);
}

/* ---- changed pages ---- */

/* The first page of the first column that has this type, or is of a field of this name, in an uncompressed
 * file. */
static struct nt_page first_page(const char *path, const char *type, const char *field)
{
    struct nt_error error;
    struct nt_file *file;
    struct nt_reader *reader;
    struct nt_page page = {0};
    assert_ok(nt_file_open(path, NULL, &file, &error));
    assert_ok(nt_reader_new(NULL, &reader, &error));
    struct nt_dataset *dataset = file->datasets[0];
    for (uint32_t i = dataset->column_count; i-- > 0;) {
        const struct nt_column *column = &dataset->columns[i];
        const struct nt_page *first;
        uint32_t cluster;
        uint64_t element;
        if (type ? strcmp(column->type_name, type) == 0
                 : nt_text_is(dataset->fields[column->field].name, field)) {
            assert_ok(nt_column_page(reader, dataset, i, 0, &first, &cluster, &element, &error));
            page = *first;
        }
    }
    nt_reader_free(reader);
    nt_file_close(file);
    ck_assert_uint_gt(page.elements, 0);
    return page;
}

struct copy {
    uint8_t bytes[1 << 20];
    size_t size;
};

static void read_copy(const char *path, struct copy *copy)
{
    FILE *input = fopen(path, "rb");
    ck_assert_ptr_nonnull(input);
    copy->size = fread(copy->bytes, 1, sizeof(copy->bytes), input);
    fclose(input);
    ck_assert_uint_lt(copy->size, sizeof(copy->bytes));
}

static void verify_copy(const struct copy *copy, struct found *found)
{
    char path[] = "/tmp/ntuplefs-test-XXXXXX";
    int descriptor = mkstemp(path);
    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq(write(descriptor, copy->bytes, copy->size), (ssize_t)copy->size);
    close(descriptor);
    enum nt_status status = verify_path(path, found);
    unlink(path);
    ck_assert_int_eq(status, NT_OK);
}

/* A copy with a valid checksum, in which the lowest byte of the page's last element of `element_bytes`
 * is `value`. */
static void verify_changed(const char *type, uint32_t element_bytes, uint8_t value, struct found *found)
{
    static struct copy copy;
    const char *path = data_path("compression_none.root");
    const struct nt_page page = first_page(path, type, NULL);
    ck_assert_uint_eq(page.checksum, NT_CHECKSUM_XXH3_64);
    read_copy(path, &copy);
    copy.bytes[page.offset + (page.elements - 1) * element_bytes] = value;
    uint64_t checksum = nt_xxh3(copy.bytes + page.offset, page.stored_bytes);
    memcpy(copy.bytes + page.offset + page.stored_bytes, &checksum, sizeof(checksum));
    verify_copy(&copy, found);
    ck_assert_uint_eq(found->count, 1);
}

TEST(an_index_that_leads_elsewhere_is_found_though_its_checksum_is_right)
{
    struct found found;
    verify_changed("Index64", 8, 77, &found);
    ck_assert_int_eq(found.first.kind, NT_FINDING_DAMAGED);
    ck_assert_int_eq(found.first.error.status, NT_CORRUPT);
    ck_assert_ptr_nonnull(strstr(found.first.error.message, "items of the cluster"));
    ck_assert_str_ne(found.first.error.expected, found.first.error.found);
}

TEST(text_that_is_not_utf8_is_a_warning)
{
    struct found found;
    verify_changed("Char", 1, 0xff, &found);
    ck_assert_int_eq(found.first.kind, NT_FINDING_WARNING);
    ck_assert_ptr_nonnull(strstr(found.first.error.message, "UTF-8"));
}

/* Lists have the bounds of their entries, so that they can be read without their counter: x[n] of a branch,
 * and members of a split collection. */
TEST(a_list_whose_length_is_another_one_in_its_counter_is_found, .end = 2)
{
    enum { KEY_BYTES = 14 };
    static const struct {
        const char *file, *counter;
        uint32_t entry, length;
        size_t lists;
        const char *message;
    } rows[] = {
        {"trees/trees_baskets.root", "n", 2, 2, 1, "entry 2 has a list of length 2, but field n says 3"},
        {"trees/trees_classes.root", "hits", 1, 1, 3,
         "entry 1 has a list of length 1, but field event/hits says 2"},
    };
    static struct copy copy;
    struct found found;
    const char *path = data_path(rows[_i].file);
    const struct nt_page page = first_page(path, NULL, rows[_i].counter);
    read_copy(path, &copy);
    uint8_t *key = copy.bytes + page.offset;
    uint8_t *number = key + nt_load_be16(key + KEY_BYTES) + rows[_i].entry * sizeof(uint32_t);
    ck_assert_uint_eq(nt_load_be32(number), rows[_i].length);
    number[3]++;
    verify_copy(&copy, &found);
    ck_assert_uint_eq(found.count, rows[_i].lists);
    ck_assert_int_eq(found.first.kind, NT_FINDING_DAMAGED);
    ck_assert_ptr_nonnull(strstr(found.first.error.message, rows[_i].message));
}

/* ---- files of others ---- */

/* Pages of all columns, as counted by another reader. */
static uint64_t expected_pages(const json_t *datasets)
{
    uint64_t pages = 0;
    size_t i, k;
    const json_t *dataset, *column;
    json_array_foreach(datasets, i, dataset)
    {
        json_array_foreach(json_object_get(dataset, "columns"), k, column) pages +=
            (uint64_t)json_number_value(json_object_get(column, "pages"));
        pages += expected_pages(json_object_get(dataset, "attribute_sets"));
    }
    return pages;
}

static bool verify_expected(const char *directory, const char *name)
{
    char path[8192];
    struct found found;
    json_error_t problem;
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    json_t *expected = json_load_file(path, JSON_DECODE_INT_AS_REAL, &problem);
    uint64_t pages = expected_pages(json_object_get(expected, "ntuples"));
    json_decref(expected);
    path[strlen(path) - strlen(".json")] = '\0';
    if (access(path, R_OK))
        strcat(path, ".root");
    if (!pages || access(path, R_OK))
        return false;
    ck_assert_msg(verify_as(path, "rntuple", &found) == NT_OK, "%s does not open", path);
    assert_clean(path, &found);
    ck_assert_msg(found.summary.pages == pages, "%s: %ju pages instead of %ju", path,
                  (uintmax_t)found.summary.pages, (uintmax_t)pages);
    return true;
}

TEST(files_of_others_are_clean_and_have_all_their_pages, .end = 3)
{
    static const char *const folders[] = {"real", "gen", "validation"};
    const char *shared = getenv("NTUPLE_SHARED");
    char folder[4096];
    unsigned files = 0;
    snprintf(folder, sizeof(folder), "%s/data/rntuple/%s", shared ? shared : "../shared", folders[_i]);
    DIR *directory = opendir(folder);
    if (!directory) {
        printf("skipped: %s is not there\n", folder);
        return;
    }
    for (struct dirent *entry; (entry = readdir(directory));)
        files += ends_with(entry->d_name, ".json") && !ends_with(entry->d_name, ".values.json") &&
                 verify_expected(folder, entry->d_name);
    closedir(directory);
    ck_assert_uint_gt(files, 10);
}
