/* SPDX-License-Identifier: MIT
 *
 * The index of a chain: parsing, refused lines, and that the written text parses to the same.
 */
#include "chain/chain.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support.h"
#include "temporary.h"
#include "core/base/memory.h"

#define LINE(path, rest)                                                                                     \
    "{\"file\":\"" path "\",\"file_bytes\":11,\"modified\":\"1970-01-01T00:00:01.000000002Z\",\"inode\":3,"  \
    "\"datasets\":[" rest "]}\n"
#define DATASET "{\"path\":\"Events\",\"entries\":5,\"clusters\":2}"
#define ELEMENTS(list)                                                                                       \
    "{\"path\":\"Events\",\"entries\":5,\"clusters\":2,\"schema\":\"0\",\"cluster_entries\":[2,3],"          \
    "\"cluster_elements\":" list "}"

static struct nt_error error;
static char path[128];

static void setup(void)
{
    temporary_setup();
    strcpy(path, temporary_file("index", "", 0));
}

static enum nt_status read_index(const char *text, struct nt_chain_index **index_ret)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
    return nt_chain_index_read(path, index_ret, &error);
}

TEST(files_are_found_by_their_paths, .setup = setup, .teardown = temporary_teardown)
{
    struct nt_chain_index *index;
    assert_ok(read_index(LINE("/b", DATASET) LINE("/c", "") LINE("/a", DATASET), &index));
    ck_assert_uint_eq(index->count, 3);
    const struct nt_indexed_file *file = nt_chain_index_find(index, "/b", "");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(file->bytes, 11);
    ck_assert_uint_eq(file->inode, 3);
    const struct nt_indexed_dataset *dataset = nt_indexed_dataset_find(file, "Events");
    ck_assert_ptr_nonnull(dataset);
    ck_assert_uint_eq(dataset->entries, 5);
    ck_assert_uint_eq(dataset->clusters, 2);
    ck_assert_ptr_null(nt_indexed_dataset_find(file, "events"));
    ck_assert_uint_eq(nt_chain_index_find(index, "/c", "")->dataset_count, 0);
    ck_assert_ptr_null(nt_chain_index_find(index, "/d", ""));
    ck_assert_ptr_null(nt_chain_index_find(index, "/b", "Events"));
    nt_chain_index_free(index);
}

TEST(a_missing_or_empty_index_has_no_entries, .setup = setup, .teardown = temporary_teardown)
{
    struct nt_chain_index *index;
    assert_ok(read_index("", &index));
    ck_assert_ptr_null(nt_chain_index_find(index, "/b", ""));
    nt_chain_index_free(index);
    assert_ok(nt_chain_index_read("/nowhere/index", &index, &error));
    ck_assert_uint_eq(index->count, 0);
    nt_chain_index_free(index);
}

static const char *const bad_lines[] = {
    "text\n",
    "[]\n",
    "{}\n",
    "\n",
    "{\"file\":\"/a\"\n",
    "{\"file\":1,\"file_bytes\":1,\"modified\":\"\",\"inode\":1,\"datasets\":[]}\n",
    "{\"file\":\"/a\",\"file_bytes\":-1,\"modified\":\"\",\"inode\":1,\"datasets\":[]}\n",
    "{\"file\":\"/a\",\"file_bytes\":1e3,\"modified\":\"\",\"inode\":1,\"datasets\":[]}\n",
    "{\"file\":\"/a\",\"file_bytes\":1,\"modified\":1,\"inode\":1,\"datasets\":[]}\n",
    "{\"file\":\"/a\",\"file_bytes\":1,\"modified\":\"\",\"inode\":18446744073709551616,\"datasets\":[]}\n",
    "{\"file\":\"/a\",\"file_bytes\":1,\"modified\":\"\",\"inode\":1,\"datasets\":{}}\n",
    "{\"file\":\"/a\",\"file_bytes\":1,\"modified\":\"\",\"inode\":1,\"dataset\":2,\"datasets\":[]}\n",
    "{\"file\":\"/a\\u0000\",\"file_bytes\":1,\"modified\":\"\",\"inode\":1,\"datasets\":[]}\n",
    "{\"file\":\"/a\",\"file\":\"/b\",\"file_bytes\":1,\"modified\":\"\",\"inode\":1,\"datasets\":[]}\n",
    "{\"file\":\"/a\",\"file_bytes\":1,\"modified\":\"\",\"validator\":5,\"datasets\":[]}\n",
    "{\"file\":\"/a\",\"file_bytes\":1,\"validator\":\"5\",\"datasets\":[]}\n",
    "{\"file\":\"/a\",\"state\":3,\"file_bytes\":1,\"modified\":\"\",\"inode\":1,\"datasets\":[]}\n",
    "{\"file\":\"/a\",\"file_bytes\":1,\"modified\":\"\",\"inode\":1,\"files\":-1,\"datasets\":[]}\n",
    "{\"file\":\"/a\",\"file_bytes\":1,\"modified\":\"\",\"inode\":1,\"files\":4294967295,\"datasets\":[]}\n",
    LINE("/a", "{\"path\":\"a\",\"entries\":0,\"clusters\":0,\"path_in_file\":5,\"schema\":\"0\","
               "\"cluster_entries\":[]}"),
    LINE("/a", "5"),
    LINE("/a", "{\"path\":\"Events\",\"entries\":5}"),
    LINE("/a", "{\"path\":\"Events\",\"entries\":\"5\",\"clusters\":2}"),
    LINE("/a", "{\"entries\":5,\"clusters\":2}"),
    LINE("/a", ELEMENTS("5")),
    LINE("/a", ELEMENTS("[\"1\"]")),
    LINE("/a", ELEMENTS("[\"1\",2]")),
    LINE("/a", ELEMENTS("[\"1\",\"1 \"]")),
    LINE("/a", ELEMENTS("[\"1\",\" 1\"]")),
    LINE("/a", ELEMENTS("[\"1\",\"+1\"]")),
    LINE("/a", ELEMENTS("[\"1\",\"1*\"]")),
    LINE("/a", ELEMENTS("[\"1\",\"1*0\"]")),
    LINE("/a", ELEMENTS("[\"1\",\"1*-\"]")),
    LINE("/a", ELEMENTS("[\"1\",\"-1\"]")),
    LINE("/a", ELEMENTS("[\"1\",\"4294967295\"]")),
    LINE("/a", ELEMENTS("[\"1\",\"1*4294967294 2*2\"]")),
};

TEST(a_line_that_is_none_is_refused_by_its_number, .setup = setup, .teardown = temporary_teardown,
     .end = sizeof(bad_lines) / sizeof(*bad_lines))
{
    struct nt_chain_index *index;
    char text[1024], expected[256];
    snprintf(text, sizeof(text), "%s%s", LINE("/z", DATASET), bad_lines[_i]);
    snprintf(expected, sizeof(expected), "%s: is not an index of files: line 2: ", path);
    assert_status(NT_INVALID, read_index(text, &index));
    ck_assert_msg(strncmp(error.message, expected, strlen(expected)) == 0, "%s", error.message);
}

TEST(what_others_may_write_is_refused, .setup = setup, .teardown = temporary_teardown)
{
    struct nt_chain_index *index;
    static const mode_t modes[] = {0660, 0606, 0622};
    for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
        ck_assert_int_eq(chmod(path, modes[i]), 0);
        assert_status(NT_INVALID, read_index(LINE("/a", DATASET), &index));
        ck_assert_msg(strncmp(error.message, path, strlen(path)) == 0, "%s", error.message);
    }
    ck_assert_int_eq(chmod(path, 0644), 0);
    assert_ok(read_index(LINE("/a", DATASET), &index));
    nt_chain_index_free(index);
    ck_assert_int_eq(chmod(temporary_directory, 01777), 0);
    assert_status(NT_INVALID, read_index(LINE("/a", DATASET), &index));
    ck_assert_int_eq(unlink(path), 0); /* such a directory is not safe for writing either */
    assert_status(NT_INVALID, nt_chain_index_read(path, &index, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "mode 1777"));
}

TEST(what_another_user_owns_is_refused, .setup = setup, .teardown = temporary_teardown)
{
    struct nt_chain_index *index;
    if (geteuid() != 0 || chown(path, 12345, (gid_t)-1) != 0)
        return;
    assert_status(NT_INVALID, nt_chain_index_read(path, &index, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "found owner 12345"));
}

TEST(a_line_is_of_a_megabyte_at_most, .setup = setup, .teardown = temporary_teardown)
{
    enum { BYTES = (1 << 20) + 1 };
    struct nt_chain_index *index;
    char *text = malloc(BYTES + 1);
    ck_assert_ptr_nonnull(text);
    memset(text, ' ', BYTES);
    text[BYTES] = '\0';
    assert_status(NT_INVALID, read_index(text, &index));
    ck_assert_ptr_nonnull(strstr(error.message, "line 1: expected at most 1048576 bytes, found 1048577"));
    struct nt_indexed_file file = {.path = text, .meant = "", .modified = ""};
    struct nt_buffer out = {0};
    nt_indexed_file_append(&out, &file, 1 << 20);
    ck_assert_uint_eq(out.length, 0);
    nt_buffer_deinit(&out);
    free(text);
}

TEST(lines_are_written_as_they_are_read, .setup = setup, .teardown = temporary_teardown)
{
    struct nt_indexed_dataset datasets[] = {{.path = "Events", .entries = 5, .clusters = 2}};
    struct nt_indexed_file file = {.path = "/b",
                                   .meant = "",
                                   .bytes = 11,
                                   .inode = 3,
                                   .modified = "1970-01-01T00:00:01.000000002Z",
                                   .datasets = datasets,
                                   .dataset_count = 1};
    struct nt_buffer out = {0};
    struct nt_chain_index *index;
    nt_indexed_file_append(&out, &file, 1 << 20);
    ck_assert_str_eq(nt_buffer_string(&out), LINE("/b", DATASET));
    file.meant = "inner/Events";
    nt_indexed_file_append(&out, &file, 1 << 20);
    assert_ok(read_index(nt_buffer_string(&out), &index));
    ck_assert_uint_eq(index->count, 2);
    ck_assert_ptr_nonnull(nt_chain_index_find(index, "/b", ""));
    ck_assert_ptr_nonnull(nt_chain_index_find(index, "/b", "inner/Events"));
    nt_chain_index_free(index);
    nt_buffer_deinit(&out);
}

TEST(elements_are_written_as_they_are_read, .setup = setup, .teardown = temporary_teardown)
{
    static const char line[] = LINE("/b", ELEMENTS("[\"4294967294 0*3 - 0\",\"\"]"));
    struct nt_buffer out = {0};
    struct nt_chain_index *index;
    assert_ok(read_index(line, &index));
    nt_indexed_file_append(&out, &index->files[0], strlen(line));
    ck_assert_str_eq(nt_buffer_string(&out), line);
    out.length = 0;
    nt_indexed_file_append(&out, &index->files[0], strlen(line) - 1); /* no room for them */
    ck_assert_ptr_null(strstr(nt_buffer_string(&out), "cluster_elements"));
    ck_assert_ptr_nonnull(strstr(nt_buffer_string(&out), "\"cluster_entries\":[2,3]"));
    nt_chain_index_free(index);
    nt_buffer_deinit(&out);
}

/* The file of a line, which is written as it was read. */
static const struct nt_indexed_file *read_line(const char *line, const char *name,
                                               struct nt_chain_index **index_ret)
{
    struct nt_buffer out = {0};
    assert_ok(read_index(line, index_ret));
    const struct nt_indexed_file *file = nt_chain_index_find(*index_ret, name, "");
    ck_assert_ptr_nonnull(file);
    nt_indexed_file_append(&out, file, 1 << 20);
    ck_assert_str_eq(nt_buffer_string(&out), line);
    nt_buffer_deinit(&out);
    return file;
}

#define FOLDER                                                                                               \
    "{\"file\":\"/"                                                                                          \
    "a\",\"state\":\"dev:3\",\"file_bytes\":11,\"modified\":\"1970-01-01T00:00:01.000000002Z\","             \
    "\"inode\":3,\"files\":4,\"datasets\":[{\"path\":\"Events\",\"entries\":5,\"clusters\":2,"               \
    "\"path_in_file\":\"a\",\"schema\":\"0\",\"cluster_entries\":[2,3]}]}\n"

TEST(of_a_folder_the_version_of_its_dataset_is_kept, .setup = setup, .teardown = temporary_teardown)
{
    struct nt_chain_index *index;
    const struct nt_indexed_file *file = read_line(FOLDER, "/a", &index);
    ck_assert_uint_eq(file->files, 4);
    ck_assert_str_eq(file->datasets[0].path_in_file, "a");
    struct nt_chain_identity found =
        nt_chain_identity_of(&(struct stat){.st_size = 11, .st_ino = 3, .st_mtim = {1, 2}});
    strcpy(found.state, "dev:3");
    assert_ok(nt_indexed_file_check(file, &found, &error));
    strcpy(found.state, "dev:4");
    assert_status(NT_CHANGED, nt_indexed_file_check(file, &found, &error));
    ck_assert_str_eq(error.expected, "state dev:3, 11 bytes of 1970-01-01T00:00:01.000000002Z, inode 3");
    ck_assert_str_eq(error.found, "state dev:4, 11 bytes of 1970-01-01T00:00:01.000000002Z, inode 3");
    *found.state = '\0'; /* a file has the name of the directory */
    assert_status(NT_CHANGED, nt_indexed_file_check(file, &found, &error));
    nt_chain_index_free(index);
}

#define SERVED                                                                                               \
    "{\"file\":\"s3://b/a\",\"file_bytes\":11,\"modified\":\"1970-01-01T00:00:01.000000002Z\","              \
    "\"validator\":\"\\\"x\\\"\",\"datasets\":[" DATASET "]}\n"

TEST(of_an_address_the_version_is_kept, .setup = setup, .teardown = temporary_teardown)
{
    struct nt_chain_index *index;
    const struct nt_indexed_file *file = read_line(SERVED, "s3://b/a", &index);
    ck_assert_str_eq(file->validator, "\"x\"");
    nt_chain_index_free(index);
}

static enum nt_status check(const struct nt_indexed_file *file, const struct stat *found,
                            const char *validator)
{
    struct nt_chain_identity identity = nt_chain_identity_of(found);
    identity.has_validator = validator;
    strcpy(identity.validator, validator ? validator : "");
    return nt_indexed_file_check(file, &identity, &error);
}

/* A listing gives size and time; the file gives its version. */
TEST(a_version_is_distinguished_from_another_one, .setup = setup, .teardown = temporary_teardown)
{
    const struct nt_indexed_file file = {
        .path = "s3://b/a", .bytes = 11, .modified = "1970-01-01T00:00:01.000000002Z", .validator = "\"x\""};
    const struct stat same = {.st_size = 11, .st_ino = 3, .st_mtim = {1, 2}};
    const struct stat later = {.st_size = 11, .st_mtim = {2, 2}}, longer = {.st_size = 12, .st_mtim = {1, 2}};
    assert_ok(check(&file, &same, NULL));
    assert_status(NT_CHANGED, check(&file, &later, NULL));
    assert_status(NT_CHANGED, check(&file, &longer, NULL));
    assert_ok(check(&file, &later, "\"x\""));
    assert_status(NT_CHANGED, check(&file, &longer, "\"x\""));
    assert_status(NT_CHANGED, check(&file, &same, "\"y\""));
    ck_assert_str_eq(error.expected, "11 bytes of 1970-01-01T00:00:01.000000002Z, version \"x\"");
    ck_assert_str_eq(error.found, "11 bytes of 1970-01-01T00:00:01.000000002Z, version \"y\"");
}

#define SECOND "Mon, 30 Nov 2026 15:10:21 GMT"
#define LATER "Mon, 30 Nov 2026 15:10:22 GMT"

static const struct {
    const char *indexed, *found;
    bool is_same;
} validators[] = {
    {"", "", true},
    {"", "\"x\"", false},
    {"\"x\"", "\"x\"", true},
    {"\"x\"", "\"xy\"", false},
    {"\"x\"", "\"y\"", false},
    {SECOND, SECOND, true},
    {SECOND, LATER, false},
    {SECOND, "", false},
    {"\"x\" " SECOND, "\"x\" " SECOND, true},
    {"\"x\" " SECOND, "\"x\" " LATER, false},
    {"\"x\" " SECOND, "\"y\" " SECOND, false},
    {SECOND, "\"x\" " SECOND, true}, /* listed within a second after it was written, and later */
    {"\"x\" " SECOND, SECOND, true},
    {SECOND, "\"x\" " LATER, false},
    {"\"x\"", "\"x\" " SECOND, true},
    {"\"x\"", SECOND, false},
    {"\"x", "\"x", true},
    {"\"x", "\"y", false},
};

TEST(what_two_validators_have_in_common_is_compared, .end = sizeof(validators) / sizeof(*validators))
{
    const struct nt_indexed_file file = {.path = "s3://b/a",
                                         .bytes = 11,
                                         .modified = "1970-01-01T00:00:01.000000002Z",
                                         .validator = validators[_i].indexed};
    const struct stat found = {.st_size = 11, .st_mtim = {1, 2}};
    ck_assert_int_eq(check(&file, &found, validators[_i].found), validators[_i].is_same ? NT_OK : NT_CHANGED);
}

TEST(names_that_are_no_text_are_not_written, .setup = setup, .teardown = temporary_teardown)
{
    const struct nt_indexed_file files[] = {{.path = "/\xff", .meant = "", .modified = ""},
                                            {.path = "/a", .meant = "\xff", .modified = ""},
                                            {.path = "/a", .meant = "", .modified = "", .inode = UINT64_MAX},
                                            {.path = "/a", .meant = "", .modified = "", .validator = "\xff"},
                                            {.path = "/a", .meant = "", .modified = "", .state = "\xff:1"}};
    struct nt_buffer out = {0};
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
        nt_indexed_file_append(&out, &files[i], 1 << 20);
    ck_assert_uint_eq(out.length, 0);
    nt_buffer_deinit(&out);
}

TEST(a_file_that_is_another_one_is_reported_with_what_was_expected, .setup = setup,
     .teardown = temporary_teardown)
{
    const struct nt_indexed_file file = {
        .path = "/b", .bytes = 11, .inode = 3, .modified = "1970-01-01T00:00:01.000000002Z"};
    const struct stat same = {.st_size = 11, .st_ino = 3, .st_mtim = {1, 2}};
    struct stat others[] = {same, same, same, same};
    others[0].st_size++;
    others[1].st_ino++;
    others[2].st_mtim.tv_sec++;
    others[3].st_mtim.tv_nsec++;
    assert_ok(check(&file, &same, NULL));
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        assert_status(NT_CHANGED, check(&file, &others[i], NULL));
        ck_assert_str_eq(error.expected, "11 bytes of 1970-01-01T00:00:01.000000002Z, inode 3");
        ck_assert_str_ne(error.found, error.expected);
        ck_assert_ptr_nonnull(strstr(error.message, "/b: "));
    }
}
