/* SPDX-License-Identifier: MIT
 *
 * Bitmaps byte by byte, after the specification; random bitmaps that CRoaring writes; and files of other
 * formats.
 */
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>
#include <roaring/roaring.h>

#include "formats/formats.h"
#include "formats/roaring/roaring.h"
#include "open_path.h"
#include "support.h"
#include "core/codec/codec.h"
#include "core/io/source.h"
#include "core/model/model.h"
#include "formats/roaring_reader.h"

static struct nt_error error;

/* ---- byte by byte ---- */

#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

/* A bitmap without runs: cookie 12346, the number of containers. */
#define COOKIE(n) 0x3a, 0x30, 0, 0, n, 0, 0, 0
/* With runs: cookie 12347, containers - 1 in the high half, flags. */
#define RUN_COOKIE(n, flags) 0x3b, 0x30, (n)-1, 0, flags
#define BUCKETS(n) n, 0, 0, 0, 0, 0, 0, 0
#define U16(x) (x) & 0xFF, (x) >> 8
#define U32(x) (x) & 0xFF, (x) >> 8 & 0xFF, (x) >> 16 & 0xFF, (x) >> 24 & 0xFF
/* One container with the given key and number of values, after cookie, descriptor and offset. */
#define ONE_CONTAINER(key, values) COOKIE(1), U16(key), U16((values)-1), U32(16)

static const struct {
    const char *what;
    const uint8_t *bytes;
    size_t size;
    enum nt_status status;
    uint64_t cardinality, minimum, maximum;
} cases[] = {
    {"an empty bitmap", BYTES(COOKIE(0)), NT_OK, 0, 0, 0},
    {"an empty 64-bit bitmap", BYTES(BUCKETS(0)), NT_OK, 0, 0, 0},
    {"an array of three", BYTES(ONE_CONTAINER(2, 3), U16(5), U16(6), U16(65535)), NT_OK, 3, 131077, 196607},
    {"a run cookie without a run flag and without offsets", BYTES(RUN_COOKIE(1, 0), U16(0), U16(0), U16(9)),
     NT_OK, 1, 9, 9},
    {"two runs that touch", BYTES(RUN_COOKIE(1, 1), U16(0), U16(3), U16(2), U16(4), U16(1), U16(6), U16(1)),
     NT_OK, 4, 4, 7},
    {"a run over all 65,536 values", BYTES(RUN_COOKIE(1, 1), U16(7), U16(65535), U16(1), U16(0), U16(65535)),
     NT_OK, 65536, 458752, 524287},
    {"two buckets",
     BYTES(BUCKETS(2), U32(0), ONE_CONTAINER(0, 1), U16(1), U32(9), ONE_CONTAINER(1, 1), U16(2)), NT_OK, 2, 1,
     (UINT64_C(9) << 32) + 65538},
    {"a bucket with an empty bitmap", BYTES(BUCKETS(1), U32(3), COOKIE(0)), NT_OK, 0, 0, 0},
    {"nothing", BYTES(0), NT_NOT_THIS_FORMAT, 0, 0, 0},
    {"text", BYTES('h', 'e', 'l', 'l', 'o', ' ', 'w', 'o', 'r', 'l', 'd', '\n'), NT_NOT_THIS_FORMAT, 0, 0, 0},
    {"zeros", BYTES(BUCKETS(0), BUCKETS(0)), NT_NOT_THIS_FORMAT, 0, 0, 0},
    {"more buckets than bytes", BYTES(BUCKETS(9), U32(0), COOKIE(0)), NT_NOT_THIS_FORMAT, 0, 0, 0},
    {"more containers than keys", BYTES(0x3a, 0x30, 0, 0, 1, 0, 1, 0), NT_CORRUPT, 0, 0, 0},
    {"descriptors cut off", BYTES(COOKIE(3), U16(0), U16(0)), NT_TRUNCATED, 0, 0, 0},
    {"offsets cut off", BYTES(COOKIE(1), U16(0), U16(0), 16, 0), NT_TRUNCATED, 0, 0, 0},
    {"a container cut off", BYTES(ONE_CONTAINER(0, 2), U16(1)), NT_TRUNCATED, 0, 0, 0},
    {"an offset that differs", BYTES(COOKIE(1), U16(0), U16(0), U32(17), U16(1)), NT_CORRUPT, 0, 0, 0},
    {"an array out of order", BYTES(ONE_CONTAINER(0, 2), U16(2), U16(1)), NT_CORRUPT, 0, 0, 0},
    {"a value twice", BYTES(ONE_CONTAINER(0, 2), U16(2), U16(2)), NT_CORRUPT, 0, 0, 0},
    {"keys out of order", BYTES(RUN_COOKIE(2, 0), U16(4), U16(0), U16(3), U16(0), U16(1), U16(1)), NT_CORRUPT,
     0, 0, 0},
    {"a key twice", BYTES(RUN_COOKIE(2, 0), U16(4), U16(0), U16(4), U16(0), U16(1), U16(1)), NT_CORRUPT, 0, 0,
     0},
    {"no run", BYTES(RUN_COOKIE(1, 1), U16(0), U16(0), U16(0)), NT_CORRUPT, 0, 0, 0},
    {"runs that overlap", BYTES(RUN_COOKIE(1, 1), U16(0), U16(3), U16(2), U16(4), U16(1), U16(5), U16(1)),
     NT_CORRUPT, 0, 0, 0},
    {"a run past the end", BYTES(RUN_COOKIE(1, 1), U16(0), U16(1), U16(1), U16(65535), U16(1)), NT_CORRUPT, 0,
     0, 0},
    {"runs with other cardinality", BYTES(RUN_COOKIE(1, 1), U16(0), U16(4), U16(1), U16(4), U16(1)),
     NT_CORRUPT, 0, 0, 0},
    {"bytes behind the end", BYTES(ONE_CONTAINER(0, 1), U16(1), 0), NT_CORRUPT, 0, 0, 0},
    {"buckets out of order", BYTES(BUCKETS(2), U32(5), COOKIE(0), U32(4), COOKIE(0)), NT_CORRUPT, 0, 0, 0},
    {"a second bucket without a cookie", BYTES(BUCKETS(2), U32(5), COOKIE(0), U32(6), U32(0), U32(0)),
     NT_CORRUPT, 0, 0, 0},
    {"a last bucket cut off", BYTES(BUCKETS(2), U32(5), COOKIE(0), U32(6), 0x3a, 0x30, 0, 0, 0, 0, 0),
     NT_NOT_THIS_FORMAT, 0, 0, 0},
};

TEST(what_the_specification_says_decides, .end = sizeof(cases) / sizeof(*cases))
{
    struct nt_source *source;
    struct nt_roaring roaring;
    assert_ok(nt_source_open_memory(cases[_i].bytes, cases[_i].size, cases[_i].what, &source, &error));
    error = (struct nt_error){0};
    enum nt_status status = nt_roaring_validate(source, false, &roaring, &error);
    ck_assert_msg(status == cases[_i].status, "%s: %s: %s", cases[_i].what, nt_status_name(status),
                  error.message);
    if (status == NT_OK) {
        ck_assert_uint_eq(roaring.cardinality, cases[_i].cardinality);
        ck_assert_uint_eq(roaring.minimum, cases[_i].minimum);
        ck_assert_uint_eq(roaring.maximum, cases[_i].maximum);
    } else {
        ck_assert_str_ne(error.message, "");
    }
    nt_source_close(source);
}

TEST(bytes_after_the_end_are_accepted_where_the_option_says_so)
{
    static const uint8_t bytes[] = {ONE_CONTAINER(0, 1), U16(1), 7, 7, 7};
    struct nt_source *source;
    struct nt_roaring roaring;
    assert_ok(nt_source_open_memory(bytes, sizeof(bytes), "trailing", &source, &error));
    assert_ok(nt_roaring_validate(source, true, &roaring, &error));
    ck_assert_uint_eq(roaring.end, sizeof(bytes) - 3);
    nt_source_close(source);
}

/* One array of so many bytes: flags, containers, its elements minus one, bytes of bitsets, runs and
 * arrays; the tree is zeros. */
#define FROZEN_64(bytes)                                                                                     \
    BYTES(0, BUCKETS(1), U16(9), BUCKETS(0), BUCKETS(0), BUCKETS(bytes), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
          0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)

static const struct {
    const char *name; /* a part of the message */
    const uint8_t *bytes;
    size_t size;
} relatives[] = {
    {"Roaring64NavigableMap", BYTES(0, 0, 0, 0, 1, 0, 0, 0, 5, COOKIE(0))},
    {"Roaring64Bitmap", BYTES(1, BUCKETS(1), 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)},
    {"CRoaring's own serialization of a bitmap", BYTES(2, ONE_CONTAINER(0, 1), U16(1))},
    {"CRoaring's own serialization of an array", BYTES(1, U32(3), U32(1), U32(2), U32(3))},
    {"frozen", BYTES(U32(9), U32(9), U32(9), U32(13766 | 1 << 15))},
    {"frozen format of 64 bits", FROZEN_64(20)},
};

TEST(related_formats_are_named_when_refused, .end = sizeof(relatives) / sizeof(*relatives))
{
    struct nt_source *source;
    struct nt_roaring roaring;
    assert_ok(nt_source_open_memory(relatives[_i].bytes, relatives[_i].size, "relative", &source, &error));
    assert_status(NT_UNSUPPORTED, nt_roaring_validate(source, false, &roaring, &error));
    ck_assert_msg(strstr(error.message, relatives[_i].name) != NULL, "%s", error.message);
    nt_source_close(source);
}

/* Nearly a bitmap: the message does not claim what is uncertain. */
static const struct {
    const char *what;
    const uint8_t *bytes;
    size_t size;
} strangers[] = {
    {"a map of no bitmaps", BYTES(0, 0, 0, 0, 0, 0, 0, 0, 5, COOKIE(0))},
    {"a map of more bitmaps than bytes", BYTES(0, 0, 0, 0, 9, 0, 0, 0, 5, COOKIE(0))},
    {"a map of something else", BYTES(0, 0, 0, 0, 1, 0, 0, 0, 5, 7, 7, 7, 7, 7, 7, 7, 7)},
    {"a tree of no keys", BYTES(1, BUCKETS(0), 4, 0, 0, 0, 0, 0, 0, 0)},
    {"a tree of more keys than bytes", BYTES(1, BUCKETS(200), 4, 0, 0, 0, 0, 0, 0, 0)},
    {"a tree of an unknown kind of nodes", BYTES(1, BUCKETS(1), 5, 0, 0, 0, 0, 0, 0, 0)},
    {"a tree whose prefix is longer than a key", BYTES(1, BUCKETS(1), 4, 0, 0, 7, 0, 0, 0, 0)},
    {"an array cut off", BYTES(1, U32(4), U32(1), U32(2), U32(3))},
    {"another kind of bitmap", BYTES(3, ONE_CONTAINER(0, 1), U16(1))},
    {"a frozen array of more bytes than there are", FROZEN_64(64)},
    {"a frozen array of half an element", FROZEN_64(21)},
    {"a bitmap without a cookie", BYTES(2, U32(0), U32(0), U32(0), U32(0))},
};

TEST(what_only_resembles_a_related_format_is_not_called_one, .end = sizeof(strangers) / sizeof(*strangers))
{
    struct nt_source *source;
    struct nt_roaring roaring;
    assert_ok(nt_source_open_memory(strangers[_i].bytes, strangers[_i].size, "stranger", &source, &error));
    enum nt_status status = nt_roaring_validate(source, false, &roaring, &error);
    ck_assert_msg(status == NT_NOT_THIS_FORMAT, "%s: %s", strangers[_i].what, error.message);
    nt_source_close(source);
}

/* The number of buckets equals the cookie of an empty bitmap of 32 bits. */
TEST(as_many_buckets_as_the_cookie_says_are_distinguished_from_a_cookie)
{
    enum { COUNT = 0x303A, BUCKET_BYTES = 12 };
    static const uint8_t empty[] = {COOKIE(0)};
    static uint8_t bytes[8 + COUNT * BUCKET_BYTES] = {COUNT & 0xFF, COUNT >> 8};
    struct nt_source *source;
    struct nt_roaring roaring;
    for (unsigned i = 0; i < COUNT; i++) {
        const uint8_t key[] = {U32(i)};
        memcpy(bytes + 8 + i * BUCKET_BYTES, key, sizeof(key));
        memcpy(bytes + 8 + i * BUCKET_BYTES + sizeof(key), empty, sizeof(empty));
    }
    assert_ok(nt_source_open_memory(bytes, sizeof(bytes), "buckets", &source, &error));
    assert_ok(nt_roaring_validate(source, false, &roaring, &error));
    ck_assert_int_eq(roaring.width, NT_ROARING_64);
    ck_assert_uint_eq(roaring.buckets, COUNT);
    nt_source_close(source);
    /* If the file is neither, the cookie decides. */
    bytes[sizeof(bytes) - 1] = 1;
    assert_ok(nt_source_open_memory(bytes, sizeof(bytes), "damaged", &source, &error));
    assert_status(NT_CORRUPT, nt_roaring_validate(source, false, &roaring, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "bytes after the end"));
    nt_source_close(source);
}

TEST(other_containers_than_when_it_was_opened_are_a_change)
{
    uint8_t bytes[] = {ONE_CONTAINER(0, 3), U16(1), U16(2), U16(3)};
    struct nt_source *source;
    struct nt_file *file;
    assert_ok(nt_source_open_memory(bytes, sizeof(bytes), "changing", &source, &error));
    assert_ok(nt_format_roaring.open(source, &(struct nt_open_options){0}, &file, &error));
    bytes[10] = 1; /* two values */
    assert_status(NT_CHANGED, nt_dataset_load_all(file->datasets[0], &error));
    ck_assert_ptr_nonnull(strstr(error.message, "the containers differ from those when the file was opened"));
    nt_file_close(file);
}

/* ---- the model against CRoaring ---- */

/* All values of an open file, decoded container by container; the caller frees them. */
static uint64_t *all_values(struct nt_file *file)
{
    struct nt_dataset *dataset = file->datasets[0];
    const struct nt_field *field = &dataset->fields[0];
    uint64_t *values = calloc(dataset->entries + 1, sizeof(*values));
    uint8_t *stored = malloc(NT_ROARING_WINDOW_BYTES), *decoded = malloc(65536 * sizeof(uint64_t));
    assert_ok(nt_dataset_load_all(dataset, &error));
    const struct nt_group *group = dataset->group_count ? nt_group_slot(dataset, 0) : NULL;
    for (uint64_t i = 0; group && i < group->page_count; i++) {
        const struct nt_page *page = &group->pages[i];
        assert_ok(
            nt_source_read(dataset->sources[page->source], page->offset, stored, page->stored_bytes, &error));
        struct nt_packed packed = {.decoder = nt_decoders_get(&dataset->decoders, page->decoder),
                                   .parameter = page->parameter,
                                   .data = stored,
                                   .bytes = page->stored_bytes,
                                   .elements = page->elements};
        assert_ok(nt_decode(&packed, decoded, &error));
        for (uint32_t k = 0; k < page->elements; k++)
            memcpy(&values[page->first_element + k], decoded + (size_t)k * field->dtype.bytes,
                   field->dtype.bytes);
    }
    free(stored);
    free(decoded);
    return values;
}

/* One assertion for all values, because there are millions. */
static void check_values(const uint64_t *values, uint64_t high, const uint32_t *expected, uint64_t count)
{
    uint64_t i = 0;
    while (i < count && values[i] == (high | expected[i]))
        i++;
    ck_assert_msg(i == count, "value %llu differs", (unsigned long long)i);
}

static struct nt_file *open_bytes(const void *bytes, size_t size)
{
    char path[] = "/tmp/ntuplefs-roaring-XXXXXX";
    int descriptor = mkstemp(path);
    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq(write(descriptor, bytes, size), (ssize_t)size);
    close(descriptor);
    struct nt_file *file;
    assert_ok(open_with(&nt_format_roaring, path, &(struct nt_open_options){0}, &file, &error));
    return file;
}

static void close_and_unlink(struct nt_file *file)
{
    unlink(file->path);
    nt_file_close(file);
}

static uint64_t next_random(uint64_t *state)
{
    *state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t z = (*state ^ *state >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* Bitmaps that mix sparse values, dense stretches and runs over a few keys. */
static roaring_bitmap_t *random_bitmap(uint64_t *state)
{
    roaring_bitmap_t *bitmap = roaring_bitmap_create();
    unsigned parts = (unsigned)(next_random(state) % 12);
    for (unsigned i = 0; i < parts; i++) {
        uint32_t key = (uint32_t)(next_random(state) % 40) << 16;
        uint32_t low = (uint32_t)(next_random(state) % 65536), count = (uint32_t)(next_random(state) % 20000);
        if (next_random(state) % 2)
            roaring_bitmap_add_range(bitmap, key | low, (uint64_t)(key | low) + count);
        else
            for (uint32_t k = 0; k < count; k++)
                roaring_bitmap_add(bitmap, key | (uint32_t)(next_random(state) % 65536));
    }
    if (next_random(state) % 2)
        roaring_bitmap_run_optimize(bitmap);
    return bitmap;
}

TEST(random_bitmaps_read_as_CRoaring_wrote_them, .end = 60)
{
    uint64_t state = (uint64_t)_i;
    roaring_bitmap_t *bitmap = random_bitmap(&state);
    uint64_t cardinality = roaring_bitmap_get_cardinality(bitmap);
    uint32_t *expected = calloc(cardinality + 1, sizeof(*expected));
    roaring_bitmap_to_uint32_array(bitmap, expected);
    size_t size = roaring_bitmap_portable_size_in_bytes(bitmap);
    char *bytes = malloc(size);
    roaring_bitmap_portable_serialize(bitmap, bytes);

    struct nt_file *file = open_bytes(bytes, size);
    ck_assert_uint_eq(file->datasets[0]->entries, cardinality);
    uint64_t *values = all_values(file);
    check_values(values, 0, expected, cardinality);
    free(values);
    free(bytes);
    free(expected);
    close_and_unlink(file);
    roaring_bitmap_free(bitmap);
}

TEST(buckets_of_CRoaring_bitmaps_give_their_values_with_the_high_half, .end = 10)
{
    uint64_t state = 77 + (uint64_t)_i;
    static const uint32_t highs[] = {0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
    enum { BUCKET_COUNT = sizeof(highs) / sizeof(*highs) };
    roaring_bitmap_t *bitmaps[BUCKET_COUNT];
    size_t size = 8;
    for (unsigned i = 0; i < BUCKET_COUNT; i++) {
        bitmaps[i] = random_bitmap(&state);
        size += 4 + roaring_bitmap_portable_size_in_bytes(bitmaps[i]);
    }
    char *bytes = calloc(size, 1), *at = bytes + 8;
    bytes[0] = BUCKET_COUNT;
    for (unsigned i = 0; i < BUCKET_COUNT; i++) {
        memcpy(at, &highs[i], 4);
        at += 4 + roaring_bitmap_portable_serialize(bitmaps[i], at + 4);
    }

    struct nt_file *file = open_bytes(bytes, size);
    uint64_t *values = all_values(file), place = 0;
    for (unsigned i = 0; i < BUCKET_COUNT; i++) {
        uint64_t cardinality = roaring_bitmap_get_cardinality(bitmaps[i]);
        uint32_t *expected = calloc(cardinality + 1, sizeof(*expected));
        roaring_bitmap_to_uint32_array(bitmaps[i], expected);
        check_values(values + place, (uint64_t)highs[i] << 32, expected, cardinality);
        place += cardinality;
        free(expected);
        roaring_bitmap_free(bitmaps[i]);
    }
    ck_assert_uint_eq(file->datasets[0]->entries, place);
    free(values);
    free(bytes);
    close_and_unlink(file);
}

/* ---- files of other writers ---- */

static void check_containers(const json_t *expected, const struct nt_dataset *dataset, uint64_t *page_number)
{
    const json_t *container;
    size_t i;
    json_array_foreach(expected, i, container)
    {
        const struct nt_page *page = &nt_group_slot(dataset, 0)->pages[(*page_number)++];
        ck_assert_uint_eq(page->elements,
                          (uint64_t)json_number_value(json_object_get(container, "cardinality")));
        ck_assert_uint_eq(page->stored_bytes,
                          (uint64_t)json_number_value(json_object_get(container, "bytes")));
        ck_assert_uint_eq(page->parameter >> 16 & 0xFFFF,
                          (uint64_t)json_number_value(json_object_get(container, "key")));
        ck_assert_str_eq(nt_roaring_kind_info((enum nt_roaring_kind)page->decoder)->name,
                         json_string_value(json_object_get(container, "type")));
    }
}

static void check_file(const char *path, const json_t *expected)
{
    bool valid = json_is_true(json_object_get(expected, "valid"));
    bool has_trailing_bytes = json_number_value(json_object_get(expected, "trailing_bytes")) > 0;
    const struct nt_open_options strict = {.refuse_trailing_bytes = true};
    struct nt_file *file = NULL;
    error = (struct nt_error){0};
    if (has_trailing_bytes)
        ck_assert_int_ne(open_with(&nt_format_roaring, path, &strict, &file, &error), NT_OK);
    enum nt_status status = open_with(&nt_format_roaring, path, &(struct nt_open_options){0}, &file, &error);
    ck_assert_msg((status == NT_OK) == valid, "%s: %s", path, error.message);
    if (!valid)
        return;
    struct nt_dataset *dataset = file->datasets[0];
    ck_assert_uint_eq(dataset->entries,
                      (uint64_t)json_number_value(json_object_get(expected, "cardinality")));
    assert_ok(nt_dataset_load_all(dataset, &error));
    uint64_t page_number = 0;
    if (dataset->group_count)
        check_containers(json_object_get(expected, "containers"), dataset, &page_number);
    const json_t *bucket;
    size_t i;
    json_array_foreach(json_object_get(expected, "buckets"), i, bucket)
    {
        check_containers(json_object_get(bucket, "containers"), dataset, &page_number);
    }
    nt_file_close(file);
}

/* Every X.json in the directory that has its X; returns their number. */
static unsigned check_folder(const char *folder)
{
    unsigned checked = 0;
    DIR *directory = opendir(folder);
    ck_assert_ptr_nonnull(directory);
    for (struct dirent *entry; (entry = readdir(directory));) {
        char path[4096];
        size_t length = (size_t)snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        if (length < 5 || strcmp(path + length - 5, ".json") != 0)
            continue;
        json_t *expected = json_load_file(path, JSON_DECODE_INT_AS_REAL, NULL);
        path[length - 5] = '\0';
        ck_assert_ptr_nonnull(expected);
        check_file(path, expected);
        json_decref(expected);
        checked++;
    }
    closedir(directory);
    return checked;
}

TEST(foreign_files_open_or_are_refused_as_their_readers_say)
{
    static const char *const folders[] = {"spec", "spec64", "croaring", "go", "gen32", "gen64", "bad"};
    const char *shared = getenv("NTUPLE_SHARED");
    char folder[4096];
    snprintf(folder, sizeof(folder), "%s/data/roaring", shared ? shared : "");
    struct stat attributes;
    if (stat(folder, &attributes) != 0) {
        puts("skipped: no foreign Roaring files here");
        return;
    }
    unsigned checked = 0;
    for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
        snprintf(folder, sizeof(folder), "%s/data/roaring/%s", shared, folders[i]);
        checked += check_folder(folder);
    }
    ck_assert_uint_gt(checked, 50);
}
