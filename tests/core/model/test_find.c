/* SPDX-License-Identifier: MIT
 *
 * Finding datasets and fields by the paths of docs/tree.md.
 */
#include <string.h>

#include "builder.h"

#define NAME(text)                                                                                           \
    {                                                                                                        \
        text, sizeof(text) - 1                                                                               \
    }

static struct nt_error error;

/* ---- datasets ---- */

static const struct directory {
    uint32_t parent;
    struct nt_text name;
} directories[] = {{0, NAME("dir")}, {1, NAME("sub")}, {0, NAME("a/b")}}; /* numbers 1, 2, 3 */

enum { ROOT, DIR, SUB, SLASH };

static const struct dataset {
    struct nt_text name;
    uint32_t directory, cycle;
    bool is_older;
    uint32_t attribute_of; /* number + 1 */
    const char *path;
} datasets[] = {
    {NAME("Events"), ROOT, 1, true, 0, "Events;1"},
    {NAME("Events"), ROOT, 2, false, 0, "Events"},
    {NAME("Events"), DIR, 1, false, 0, "dir/Events"},
    {NAME("Events"), SUB, 1, false, 0, "dir/sub/Events"},
    {NAME("Events"), SLASH, 1, false, 0, "a%2Fb/Events"},
    {NAME("x/y"), ROOT, 1, false, 0, "x%2Fy"},
    {NAME("50%41"), ROOT, 1, false, 0, "50%2541"},
    {NAME("100%"), ROOT, 1, false, 0, "100%"},
    {NAME(""), ROOT, 1, false, 0, "%"},
    {NAME("\xff\n"), ROOT, 1, false, 0, "%FF%0A"},
    {NAME("nul\0nul"), ROOT, 1, false, 0, "nul%00nul"},
    {NAME("Events;7"), ROOT, 1, false, 0, "Events;7"},
    {NAME("μ.ünïcode"), ROOT, 1, false, 0, "μ.ünïcode"},
    {NAME("quality"), ROOT, 0, false, 2, "Events/attribute.quality"},
    {NAME("quality"), ROOT, 0, false, 1, "Events;1/attribute.quality"},
    {NAME("quality"), ROOT, 0, false, 4, "dir/sub/Events/attribute.quality"},
};

static struct nt_file *build_datasets(void)
{
    struct nt_source *source;
    struct nt_file *file;
    assert_ok(nt_source_open_memory("", 0, "memory", &source, &error));
    assert_ok(nt_file_new("/memory", source, &(struct nt_limits){0}, &file, &error));
    for (size_t i = 0; i < LENGTH(directories); i++)
        ck_assert_uint_eq(nt_file_add_directory(file, directories[i].parent, directories[i].name), i + 1);
    for (size_t i = 0; i < LENGTH(datasets); i++) {
        struct nt_dataset *dataset;
        assert_ok(nt_file_add_dataset(file, &dataset, &error));
        dataset->name = datasets[i].name;
        dataset->directory = datasets[i].directory;
        dataset->cycle = datasets[i].cycle;
        dataset->is_newest_cycle = !datasets[i].is_older;
        dataset->attribute_of = datasets[i].attribute_of ? datasets[i].attribute_of - 1 : NT_NONE;
    }
    return file;
}

static uint32_t find_dataset(const struct nt_file *file, const char *path)
{
    struct nt_dataset *found = NULL;
    memset(&error, 0, sizeof(error));
    enum nt_status status = nt_file_find(file, path, &found, &error);
    ck_assert((status == NT_OK) == (found != NULL));
    ck_assert(status == NT_OK || error.message[0]);
    return found ? found->index : NT_NONE;
}

TEST(each_dataset_is_found_by_its_path, .end = LENGTH(datasets))
{
    struct nt_file *file = build_datasets();
    char path[64];
    ck_assert_uint_eq(find_dataset(file, datasets[_i].path), _i);
    ck_assert_uint_eq(nt_dataset_path(nt_file_dataset(file, (uint32_t)_i), path, sizeof(path)),
                      strlen(datasets[_i].path));
    ck_assert_str_eq(path, datasets[_i].path);
    nt_file_close(file);
}

/* Other ways to write the same. */
static const struct spelling {
    const char *path;
    uint32_t index; /* NT_NONE: not found */
} spellings[] = {
    {"Events;2", 1},
    {"%45vents", 1},
    {"Event%73;2", 1},
    {"Events;02", 1},
    {"dir/Events;1", 2},
    {"%64ir/%73ub/Events", 3},
    {"Events;7", 11},
    {"x%2fy", 5},
    {"%FF\n", 9},
    {"\xff%0a", 9},
    {"100%25", 7},
    {"Events;3", NT_NONE},
    {"Events;", NT_NONE},
    {"Events;0", NT_NONE},
    {"Events;18446744073709551617", NT_NONE},
    {"Events;1x", NT_NONE},
    {"dir/Events;2", NT_NONE},
    {"x/y", NT_NONE},
    {"a/b/Events", NT_NONE},
    {"50A", NT_NONE},
    {"50%41", NT_NONE},
    {"nul", NT_NONE},
    {"", NT_NONE},
    {"/Events", NT_NONE},
    {"Events/", NT_NONE},
    {"dir", NT_NONE},
    {"sub/Events", NT_NONE},
    {"dir//Events", NT_NONE},
    {"events", NT_NONE},
    {"Event", NT_NONE},
    {"Eventss", NT_NONE},
    {"quality", NT_NONE},
    {"attribute.quality", NT_NONE},
    {"dir/Events/attribute.quality", NT_NONE},
    {"Events/attribute.", NT_NONE},
};

TEST(a_path_means_what_its_decoded_names_say, .end = LENGTH(spellings))
{
    struct nt_file *file = build_datasets();
    ck_assert_uint_eq(find_dataset(file, spellings[_i].path), spellings[_i].index);
    ck_assert_int_eq(error.status, spellings[_i].index == NT_NONE ? NT_NOT_FOUND : NT_OK);
    nt_file_close(file);
}

TEST(no_path_is_the_only_dataset)
{
    struct nt_file *file = build_datasets();
    ck_assert_uint_eq(find_dataset(file, NULL), NT_NONE);
    ck_assert_int_eq(error.status, NT_INVALID);
    file->dataset_count = 2; /* one, and its older cycle */
    ck_assert_uint_eq(find_dataset(file, NULL), 1);
    file->dataset_count = LENGTH(datasets);
    nt_file_close(file);
}

TEST(a_dataset_marked_as_beside_others_does_not_count)
{
    struct nt_file *file = build_datasets();
    file->dataset_count = 4;
    file->datasets[2]->is_secondary = file->datasets[3]->is_secondary = true;
    ck_assert_uint_eq(find_dataset(file, NULL), 1);
    file->datasets[1]->is_secondary = true;
    ck_assert_uint_eq(find_dataset(file, NULL), NT_NONE);
    ck_assert_int_eq(error.status, NT_INVALID);
    file->dataset_count = LENGTH(datasets);
    nt_file_close(file);
}

/* Two datasets with the same path and cycle: the first has the path, and the second is found by path
 * and cycle. */
TEST(a_cycle_in_a_path_comes_before_the_newest_of_that_cycle, .end = 2)
{
    struct nt_file *file = build_datasets();
    file->datasets[0]->cycle = file->datasets[1]->cycle = 5;
    file->datasets[0]->is_newest_cycle = _i == 0;
    file->datasets[1]->is_newest_cycle = _i == 1;
    ck_assert_uint_eq(find_dataset(file, "Events"), _i == 0 ? 0 : 1);
    ck_assert_uint_eq(find_dataset(file, "Events;5"), _i == 0 ? 1 : 0);
    nt_file_close(file);
}

/* A dataset beside a directory of its name, and datasets of one name: docs/tree.md, "Names". */
static const struct shared_name {
    struct nt_text name;
    const char *path;
} shared_names[] = {
    {NAME("dir"), "dir~2"},     /* beside a directory */
    {NAME("dir"), "dir~4"},     /* and beside that dataset */
    {NAME("dir~3"), "dir~3"},   /* comes before generated names */
    {NAME("dir~02"), "dir~02"}, /* nothing generated is like this */
    {NAME("x~2"), "x~2"},       {NAME("a/b"), "a%2Fb~2"},
};

TEST(datasets_that_share_a_name_are_found_by_what_the_tree_calls_them)
{
    struct nt_file *file = build_datasets();
    for (size_t i = 0; i < LENGTH(shared_names); i++) {
        struct nt_dataset *dataset;
        assert_ok(nt_file_add_dataset(file, &dataset, &error));
        dataset->name = shared_names[i].name;
        dataset->cycle = 1;
    }
    for (uint32_t i = 0; i < LENGTH(shared_names); i++) {
        char path[64];
        nt_dataset_path(file->datasets[LENGTH(datasets) + i], path, sizeof(path));
        ck_assert_str_eq(path, shared_names[i].path);
        ck_assert_uint_eq(find_dataset(file, path), LENGTH(datasets) + i);
    }
    ck_assert_uint_eq(find_dataset(file, "dir~2;1"), LENGTH(datasets));
    static const char *const wrong[] = {"dir", "dir;1", "dir~5", "dir~1", "x", "Events~2", "~2", "a%2Fb"};
    for (size_t i = 0; i < LENGTH(wrong); i++)
        ck_assert_msg(find_dataset(file, wrong[i]) == NT_NONE, "%s was found", wrong[i]);
    ck_assert_uint_eq(find_dataset(file, "dir/Events"), 2);
    ck_assert_uint_eq(find_dataset(file, "dir"), NT_NONE);
    ck_assert_ptr_nonnull(strstr(error.message, "did you mean dir~2?"));
    nt_file_close(file);
}

TEST(a_dataset_that_did_not_open_is_found_as_its_failure)
{
    struct nt_file *file = build_datasets();
    struct nt_error failure;
    nt_fail(&failure, NT_UNSUPPORTED, 7, "a feature");
    assert_ok(nt_dataset_set_failure(file->datasets[2], &failure, &error));
    ck_assert_uint_eq(find_dataset(file, "dir/Events"), NT_NONE);
    ck_assert_int_eq(error.status, NT_UNSUPPORTED);
    ck_assert_str_eq(error.message, "a feature (at byte 7)");
    uint32_t field;
    ck_assert_int_eq(nt_dataset_find(file->datasets[2], "x", &field, NULL), NT_UNSUPPORTED);
    nt_file_close(file);
}

TEST(a_path_is_cut_where_there_is_no_room_for_it)
{
    struct nt_file *file = build_datasets();
    char path[8] = "+++++++";
    ck_assert_uint_eq(nt_dataset_path(file->datasets[3], path, 7), strlen("dir/sub/Events"));
    ck_assert_mem_eq(path, "dir/su\0", 8);
    ck_assert_uint_eq(nt_dataset_path(file->datasets[3], NULL, 0), strlen("dir/sub/Events"));
    nt_file_close(file);
}

/* ---- fields ---- */

static const struct nt_field fields[] = {
    {.id = 0, .parent = NT_NONE, .name = NAME("muons")},
    {.id = 1, .parent = 0, .name = NAME("_0")},
    {.id = 2, .parent = 1, .name = NAME("pt")},
    {.id = 3, .parent = NT_NONE, .name = NAME("a.b")},
    {.id = 4, .parent = NT_NONE, .name = NAME("a")},
    {.id = 5, .parent = 4, .name = NAME("b")},
    {.id = 6, .parent = 4, .name = NAME("c")},
    {.id = 7, .parent = 4, .name = NAME("d/e")},
    {.id = 8, .parent = 3, .name = NAME("")},
    {.id = 9, .parent = NT_NONE, .name = NAME("twice")},
    {.id = 10, .parent = NT_NONE, .name = NAME("twice")},
};

static const struct found {
    const char *path;
    uint32_t field; /* NT_NONE: `status` */
    enum nt_status status;
} found[] = {
    {"muons", 0, NT_OK},
    {"muons/_0", 1, NT_OK},
    {"muons/_0/pt", 2, NT_OK},
    {"muons._0.pt", 2, NT_OK},
    {"muon%73/%5F0/pt", 2, NT_OK},
    {"a%2Eb", 3, NT_OK},
    {"a.b", NT_NONE, NT_INVALID}, /* the name, or the field below `a` */
    {"a/b", 5, NT_OK},
    {"a.c", 6, NT_OK},
    {"a/d%2Fe", 7, NT_OK},
    {"a.d%2fe", 7, NT_OK},
    {"a.b/%", 8, NT_OK}, /* if there are slashes, a dot is part of a name */
    {"a%2Eb/%", 8, NT_OK},
    {"twice", 9, NT_OK},
    {"a/d/e", NT_NONE, NT_NOT_FOUND},
    {"a/b/%", NT_NONE, NT_NOT_FOUND},
    {"muons/_0.pt", NT_NONE, NT_NOT_FOUND},
    {"muons/pt", NT_NONE, NT_NOT_FOUND},
    {"muons/", NT_NONE, NT_NOT_FOUND},
    {"muons/_0/pt/x", NT_NONE, NT_NOT_FOUND},
    {"", NT_NONE, NT_NOT_FOUND},
    {"/muons", NT_NONE, NT_NOT_FOUND},
    {"%", NT_NONE, NT_NOT_FOUND},
};

TEST(a_field_is_found_by_the_names_on_the_way_to_it, .end = LENGTH(found))
{
    struct nt_file *file = BUILD_FIELDS(fields);
    uint32_t field = NT_NONE;
    assert_ok(nt_dataset_link(file->datasets[0], &error));
    ck_assert_int_eq(nt_dataset_find(file->datasets[0], found[_i].path, &field, &error), found[_i].status);
    ck_assert_uint_eq(field, found[_i].field);
    nt_file_close(file);
}

static const char *const field_paths[] = {
    "muons", "muons/_0", "muons/_0/pt", "a%2Eb", "a", "a/b", "a/c", "a/d%2Fe", "a%2Eb/%", "twice",
};

TEST(a_field_s_path_finds_it, .end = LENGTH(field_paths))
{
    struct nt_file *file = BUILD_FIELDS(fields);
    char path[32];
    uint32_t field;
    assert_ok(nt_dataset_link(file->datasets[0], &error));
    nt_field_path(file->datasets[0], (uint32_t)_i, path, sizeof(path));
    ck_assert_str_eq(path, field_paths[_i]);
    assert_ok(nt_dataset_find(file->datasets[0], path, &field, &error));
    ck_assert_int_eq((int)field, _i);
    ck_assert_uint_eq(nt_field_path(file->datasets[0], LENGTH(fields), path, sizeof(path)), 0);
    nt_file_close(file);
}
