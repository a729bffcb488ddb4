/* SPDX-License-Identifier: MIT
 *
 * The cost of requests: reads of the source are counted by range, while a tree of a file with several
 * cluster groups is listed, and attributes and extended attributes are requested. The linker replaces the
 * system's function with the counting one (see meson.build).
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "rntuple_writer.h"
#include "support.h"
#include "vfs/tree.h"
#include "core/base/memory.h"
#include "vfs/vfs.h"

enum { GROUPS = 5, ENTRIES = 3, ITEMS = 2, ARRAY = 40, MAX_READS = 1000 };
enum { MANY = 300000 };       /* elements of a page that decodes to more than stat() may cost */
enum { FREE_LIST_READS = 2 }; /* the record of free segments, which file.json shows: its key, its content */
enum { INDEX64 = 0x0F, INT32 = 0x07 }; /* column types of version 1 */

static struct {
    off_t offsets[MAX_READS];
    unsigned count;
} reads;
static struct nt_vfs *vfs;
static struct nt_error error;
static char path[] = "/tmp/ntuple-cost-XXXXXX";

ssize_t __real_pread64(int descriptor, void *buffer, size_t bytes, off_t offset);
ssize_t __wrap_pread64(int descriptor, void *buffer, size_t bytes, off_t offset);

ssize_t __wrap_pread64(int descriptor, void *buffer, size_t bytes, off_t offset)
{
    ck_assert_uint_lt(reads.count, MAX_READS);
    reads.offsets[reads.count++] = offset;
    return __real_pread64(descriptor, buffer, bytes, offset);
}

static bool is_read_twice(void)
{
    for (unsigned i = 0; i < reads.count; i++)
        for (unsigned k = 0; k < i; k++)
            if (reads.offsets[i] == reads.offsets[k])
                return true;
    return false;
}

/* ---- the file: "run", and "jets" of two items an entry; a cluster and a cluster group of three entries each
 * ---- */

static void write_groups(struct rntuple_description description, const struct rntuple_cluster *clusters)
{
    struct nt_buffer bytes = {0};
    description.name = "Events";
    description.is_compressed = true;
    description.clusters = clusters;
    description.cluster_count = GROUPS;
    description.clusters_per_group = 1;
    rntuple_write(RNTUPLE_V1, &description, &bytes);
    int descriptor = mkstemp(path);
    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq(write(descriptor, bytes.bytes, bytes.length), (ssize_t)bytes.length);
    close(descriptor);
    nt_buffer_deinit(&bytes);
}

static void write_file(void)
{
    static const uint64_t ends[ENTRIES] = {ITEMS, 2 * ITEMS, 3 * ITEMS};
    static const int32_t ids[ENTRIES * ITEMS] = {3, 1, 4, 1, 5, 9};
    const struct rntuple_field fields[] = {
        {.name = "run", .type = "std::int32_t", .parent = RNTUPLE_TOP},
        {.name = "jets", .type = "std::vector<std::int32_t>", .parent = RNTUPLE_TOP, .role = 1},
        {.name = "_0", .type = "std::int32_t", .parent = 1},
    };
    const struct rntuple_column columns[] = {
        {.type = INT32, .bits = 32, .field = 0},
        {.type = INDEX64, .bits = 64, .field = 1},
        {.type = INT32, .bits = 32, .field = 2},
    };
    const struct rntuple_page pages[] = {
        {.elements = ENTRIES, .packed = ids, .packed_bytes = 4 * ENTRIES},
        {.elements = ENTRIES, .packed = ends, .packed_bytes = sizeof(ends)},
        {.elements = ENTRIES * ITEMS, .packed = ids, .packed_bytes = sizeof(ids)},
    };
    struct rntuple_range ranges[GROUPS][3];
    struct rntuple_cluster clusters[GROUPS];
    for (unsigned i = 0; i < GROUPS; i++) {
        for (unsigned k = 0; k < 3; k++)
            ranges[i][k] = (struct rntuple_range){
                .pages = &pages[k], .page_count = 1, .first_element = i * pages[k].elements};
        clusters[i] = (struct rntuple_cluster){
            .first_entry = i * ENTRIES, .entries = ENTRIES, .ranges = ranges[i], .range_count = 3};
    }
    write_groups((struct rntuple_description){.description = "counted",
                                              .writer = "a test",
                                              .fields = fields,
                                              .field_count = 3,
                                              .columns = columns,
                                              .column_count = 3},
                 clusters);
}

/* One column with one page per cluster. */
static void write_long_file(void)
{
    static int32_t ids[MANY];
    const struct rntuple_field field = {.name = "run", .type = "std::int32_t", .parent = RNTUPLE_TOP};
    const struct rntuple_column column = {.type = INT32, .bits = 32, .field = 0};
    const struct rntuple_page page = {.elements = MANY, .packed = ids, .packed_bytes = sizeof(ids)};
    struct rntuple_range ranges[GROUPS];
    struct rntuple_cluster clusters[GROUPS];
    for (unsigned i = 0; i < GROUPS; i++) {
        ranges[i] =
            (struct rntuple_range){.pages = &page, .page_count = 1, .first_element = (uint64_t)i * MANY};
        clusters[i] = (struct rntuple_cluster){
            .first_entry = (uint64_t)i * MANY, .entries = MANY, .ranges = &ranges[i], .range_count = 1};
    }
    write_groups(
        (struct rntuple_description){
            .fields = &field, .field_count = 1, .columns = &column, .column_count = 1},
        clusters);
}

/* Fixed arrays: few entries, but more items than head.jsonl shows. */
static void write_arrays(void)
{
    static int32_t ids[ENTRIES * ARRAY];
    for (unsigned i = 0; i < ENTRIES * ARRAY; i++)
        ids[i] = (int32_t)i;
    const struct rntuple_field fields[] = {
        {.name = "values",
         .type = "std::array<std::int32_t,40>",
         .parent = RNTUPLE_TOP,
         .flags = 1,
         .array_size = ARRAY},
        {.name = "_0", .type = "std::int32_t", .parent = 0},
    };
    const struct rntuple_column column = {.type = INT32, .bits = 32, .field = 1};
    const struct rntuple_page page = {
        .elements = ENTRIES * ARRAY, .packed = ids, .packed_bytes = sizeof(ids)};
    struct rntuple_range ranges[GROUPS];
    struct rntuple_cluster clusters[GROUPS];
    for (unsigned i = 0; i < GROUPS; i++) {
        ranges[i] = (struct rntuple_range){
            .pages = &page, .page_count = 1, .first_element = (uint64_t)i * ENTRIES * ARRAY};
        clusters[i] = (struct rntuple_cluster){
            .first_entry = (uint64_t)i * ENTRIES, .entries = ENTRIES, .ranges = &ranges[i], .range_count = 1};
    }
    write_groups(
        (struct rntuple_description){
            .fields = fields, .field_count = 2, .columns = &column, .column_count = 1},
        clusters);
}

static void open_file(void)
{
    const char *const paths[] = {path};
    assert_ok(nt_vfs_new(paths, 1,
                         &(struct nt_vfs_options){.open = {.struct_bytes = sizeof(struct nt_open_options)}},
                         &vfs, &error));
    reads.count = 0;
}

static void setup(void)
{
    write_file();
    open_file();
}

static void setup_long(void)
{
    write_long_file();
    open_file();
}

static void setup_arrays(void)
{
    write_arrays();
    open_file();
}

static void teardown(void)
{
    nt_vfs_free(vfs);
    unlink(path);
    strcpy(path + strlen(path) - 6, "XXXXXX");
}

/* ---- helpers ---- */

static uint64_t resolve(const char *name)
{
    uint64_t node = 0;
    assert_ok(nt_vfs_resolve(vfs, name, &node, &error));
    return node;
}

static uint64_t size_of(const char *name)
{
    struct nt_vfs_attributes attributes;
    assert_ok(nt_vfs_stat(vfs, resolve(name), true, &attributes, &error));
    return (uint64_t)attributes.stat.st_size;
}

struct visit {
    void (*look)(uint64_t node, const char *name);
    bool is_deep;
    unsigned count;
};

static bool visit(void *context, const char *name, uint64_t node, enum nt_vfs_class class, uint64_t cursor)
{
    struct visit *walk = context;
    walk->look(node, name);
    walk->count++;
    if (walk->is_deep && class == NT_VFS_DIRECTORY && strcmp(name, "pages") != 0)
        assert_ok(nt_vfs_readdir(vfs, node, 0, visit, walk, &error));
    return true;
}

static unsigned walk(const char *directory, bool is_deep, void (*look)(uint64_t node, const char *name))
{
    struct visit walk = {look, is_deep, 0};
    assert_ok(nt_vfs_readdir(vfs, resolve(directory), 0, visit, &walk, &error));
    return walk.count;
}

/* The requests of a listing with attributes (READDIRPLUS). */
static void stat_without_work(uint64_t node, const char *name)
{
    struct nt_vfs_attributes attributes;
    enum nt_status status = nt_vfs_stat(vfs, node, false, &attributes, &error);
    ck_assert_msg(status == NT_OK || status == NT_NOT_FOUND, "%s: %s", name, error.message);
}

static void stat_with_work(uint64_t node, const char *name)
{
    struct nt_vfs_attributes attributes;
    ck_assert_msg(nt_vfs_stat(vfs, node, true, &attributes, &error) == NT_OK, "%s: %s", name, error.message);
}

static void list_xattrs(uint64_t node, const char *name)
{
    struct nt_buffer names = {0};
    ck_assert_msg(nt_vfs_listxattr(vfs, node, &names, &error) == NT_OK, "%s: %s", name, error.message);
    nt_buffer_deinit(&names);
}

/* ---- what reads nothing ---- */

TEST(listing_the_whole_tree_reads_nothing, .setup = setup, .teardown = teardown)
{
    ck_assert_uint_gt(walk("", true, stat_without_work), 60);
    ck_assert_uint_eq(reads.count, 0);
}

TEST(listing_extended_attributes_reads_nothing, .setup = setup, .teardown = teardown)
{
    ck_assert_uint_gt(walk("", true, list_xattrs), 60);
    ck_assert_uint_eq(reads.count, 0);
}

static const struct {
    const char *name;
    unsigned reads;
} sizes[] = {
    {"layout.svg", 0},
    {"file.json", FREE_LIST_READS},
    {"Events/sizes.svg", 0},
    {"Events/header.json", 0},
    {"Events/footer.json", 0},
    {"Events/metadata.json", 0},
    {"Events/header.bin", 0},
    {"Events/footer.bin", 0},
    {"Events/pagelist.3.bin", 0},
    {"Events/pagelist.3.json", 1},
    {"Events/run/data.npy", 0},
    {"Events/run/field.json", 0},
    {"Events/jets/offsets.bin", 0},
    {"Events/jets/_0/field.json", 0},
    {"Events/jets/_0/data.bin", 1}, /* the last one defines where the rows end */
    {"Events/jets/_0/data.npy", 1},
    {"Events/run/column.0/data.bin", GROUPS},
    {"Events/table.arrow", GROUPS},
    {"Events/ntuple.json", GROUPS},
};

TEST(a_size_costs_the_records_that_it_follows_from_once, .setup = setup, .teardown = teardown,
     .end = sizeof(sizes) / sizeof(sizes[0]))
{
    size_of(sizes[_i].name);
    ck_assert_msg(reads.count == sizes[_i].reads, "%s: %u reads", sizes[_i].name, reads.count);
    size_of(sizes[_i].name);
    ck_assert_uint_eq(reads.count, sizes[_i].reads);
}

/* ---- what reads the page lists ---- */

static bool is_text(const char *name)
{
    return strstr(name, ".jsonl") || strcmp(name, "schema.txt") == 0 || strcmp(name, "table.csv") == 0 ||
           (strncmp(name, "pagelist.", 9) == 0 && (strstr(name, ".json") || strstr(name, ".txt")));
}

static void stat_what_is_no_text(uint64_t node, const char *name)
{
    if (!is_text(name))
        stat_with_work(node, name);
}

static void stat_a_text(uint64_t node, const char *name)
{
    if (is_text(name))
        stat_with_work(node, name);
}

TEST(the_attributes_of_all_in_a_directory_read_each_page_list_once, .setup = setup, .teardown = teardown)
{
    ck_assert_uint_gt(walk("Events", false, stat_what_is_no_text), 20);
    walk("", false, stat_what_is_no_text);
    ck_assert_uint_eq(reads.count, GROUPS + FREE_LIST_READS);
    ck_assert(!is_read_twice());
}

/* ---- texts ---- */

enum { COLUMNS = 3 };

TEST(rows_read_each_page_list_and_page_once, .setup = setup, .teardown = teardown)
{
    ck_assert_uint_gt(size_of("Events/rows.jsonl"), 0);
    ck_assert_uint_gt(size_of("Events/clusters.jsonl"), 0);
    ck_assert_uint_eq(reads.count, GROUPS + GROUPS * COLUMNS);
    ck_assert(!is_read_twice());
}

TEST(a_text_is_made_once, .setup = setup, .teardown = teardown)
{
    walk("", true, stat_a_text);
    unsigned before = reads.count;
    walk("", true, stat_a_text);
    ck_assert_uint_eq(reads.count, before);
}

TEST(the_head_of_few_rows_is_not_made_again, .setup = setup, .teardown = teardown)
{
    const char *const directories[] = {"Events", "Events/run"};
    for (unsigned i = 0; i < 2; i++) {
        char name[30];
        snprintf(name, sizeof(name), "%s/rows.jsonl", directories[i]);
        uint64_t size = size_of(name);
        unsigned before = reads.count;
        snprintf(name, sizeof(name), "%s/head.jsonl", directories[i]);
        ck_assert_uint_eq(size_of(name), size);
        ck_assert_uint_eq(reads.count, before);
    }
}

/* 600 numbers of up to three digits, each with a line break; the first 100 are below 100. */
TEST(the_head_of_many_rows_ends_early, .setup = setup_arrays, .teardown = teardown)
{
    ck_assert_uint_eq(size_of("Events/values/rows.jsonl"), size_of("Events/values/head.jsonl"));
    ck_assert_uint_eq(size_of("Events/values/_0/rows.jsonl"), GROUPS * (10 * 2 + 90 * 3 + 20 * 4));
    ck_assert_uint_eq(size_of("Events/values/_0/head.jsonl"), 10 * 2 + 90 * 3);
}

static void expect_streamed(const char *name)
{
    struct nt_vfs_attributes attributes;
    assert_ok(nt_vfs_stat(vfs, resolve(name), true, &attributes, &error));
    ck_assert_int_eq(attributes.class, NT_VFS_STREAMED);
    ck_assert_int_eq(attributes.stat.st_size, 0);
}

TEST(rows_that_cost_more_than_a_look_may_read_no_page, .setup = setup_long, .teardown = teardown)
{
    expect_streamed("Events/rows.jsonl");
    expect_streamed("Events/head.jsonl"); /* also for a larger page */
    expect_streamed("Events/run/rows.jsonl");
    ck_assert_uint_le(reads.count, GROUPS);
    ck_assert_uint_gt(size_of("Events/clusters.jsonl"), 0);
    ck_assert_uint_le(reads.count, GROUPS);
}

TEST(opening_the_arrow_table_reads_nothing_that_its_size_has_read, .setup = setup, .teardown = teardown)
{
    struct nt_vfs_handle *handle;
    char head[6];
    size_t got;
    ck_assert_uint_gt(size_of("Events/table.arrow"), 0);
    assert_ok(nt_vfs_open(vfs, resolve("Events/table.arrow"), &handle, &error));
    assert_ok(nt_vfs_read(handle, 0, head, sizeof(head), &got, &error));
    ck_assert_int_eq(memcmp(head, "ARROW1", 6), 0);
    nt_vfs_close(handle);
    ck_assert_uint_eq(reads.count, GROUPS);
    ck_assert(!is_read_twice());
}

/* ---- Reported sizes ---- */

static void read_all(uint64_t node, const char *name)
{
    struct nt_vfs_attributes attributes;
    struct nt_vfs_handle *handle;
    static char bytes[1 << 16];
    uint64_t length = 0;
    size_t got;
    assert_ok(nt_vfs_stat(vfs, node, true, &attributes, &error));
    if (attributes.class == NT_VFS_DIRECTORY || attributes.class == NT_VFS_STREAMED)
        return;
    ck_assert_msg(nt_vfs_open(vfs, node, &handle, &error) == NT_OK, "%s: %s", name, error.message);
    do {
        assert_ok(nt_vfs_read(handle, length, bytes, sizeof(bytes), &got, &error));
        length += got;
    } while (got);
    nt_vfs_close(handle);
    ck_assert_msg(length == (uint64_t)attributes.stat.st_size, "%s", name);
}

TEST(every_file_has_as_many_bytes_as_its_size_says, .setup = setup, .teardown = teardown)
{
    ck_assert_uint_gt(walk("", true, read_all), 60);
}
