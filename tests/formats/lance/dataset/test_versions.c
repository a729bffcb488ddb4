/* SPDX-License-Identifier: MIT
 *
 * Resolving a version of a dataset from file names alone: manifests with both naming schemes, tags,
 * branches.
 */
#include "formats/lance/dataset/dataset.h"

#include <string.h>

#include "support.h"
#include "temporary.h"
#include "core/io/folder.h"
#include "formats/formats.h"

static struct nt_error error;
static struct nt_folder *folder;

static void put(const char *name, const char *content)
{
    temporary_file(name, content, strlen(content));
}

static void put_tag(const char *name, const char *content)
{
    char path[64];
    snprintf(path, sizeof(path), "_refs/tags/%s.json", name);
    put(path, content);
}

/* Versions 1 to 3 of the dataset, the second under its older name; 3 and 4 of a branch. */
static void set_up(void)
{
    static const char *const folders[] = {"_versions", "_refs",    "_refs/tags",   "_refs/branches",
                                          "tree",      "tree/exp", "tree/exp/one", "tree/exp/one/_versions"};
    temporary_setup();
    for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
        ck_assert_int_eq(mkdir(temporary_path(folders[i]), 0700), 0);
    put("_versions/18446744073709551614.manifest", "");
    put("_versions/2.manifest", "");
    put("_versions/18446744073709551612.manifest", "");
    put("_versions/latest_version_hint.json", "{\"version\":77}");
    put("_versions/18446744073709551600.manifest-half", "");
    put("_versions/d18446744073709551600.manifest", "");
    put("_versions/9.manifest.tmp", "");
    put("_versions/.manifest", "");
    put("_versions/12x.manifest", "");
    put("_versions/99999999999999999999.manifest", "");
    put("tree/exp/one/_versions/18446744073709551612.manifest", "");
    put("tree/exp/one/_versions/18446744073709551611.manifest", "");
    put("_refs/branches/exp%2Fone.json", "{}");
    put_tag("first", "{\"branch\": null, \"version\": 1}");
    put_tag("there", "{\"branch\": \"exp/one\", \"version\": 3}");
    put_tag("2024", "{\"version\": 2}");
    put_tag("lost", "{\"version\": 12}");
    put_tag("bad", "{\"version\": \"1\"}");
    put_tag("cut", "{\"version\": 1");
    put_tag("out", "{\"branch\": \"../../elsewhere\", \"version\": 1}");
    put_tag("minus", "{\"version\": -1}");
    put_tag("8", "{\"version\": -1}");
    put_tag("text", "\"first\"");
    put_tag("odd", "{\"branch\": 5, \"version\": 1}");
    put_tag("nowhere", "{\"branch\": \"\", \"version\": 1}");
    put("_refs/tags/first.txt", "{\"version\": 2}");
    put("_refs/tags/.json", "{\"version\": 2}");
    put("_refs/tags/json", "{\"version\": 2}");
    assert_ok(nt_folder_open(temporary_directory, NT_FOLDER_DATASET, &folder, &error));
}

static void tear_down(void)
{
    nt_folder_close(folder);
    temporary_teardown();
}

static const struct {
    const char *requested, *series;
    uint64_t number;
    const char *file, *watched;
} choices[] = {
    {NULL, "", 3, "_versions/18446744073709551612.manifest", "_versions"},
    {"1", "", 1, "_versions/18446744073709551614.manifest", "_versions/18446744073709551614.manifest"},
    {"2", "", 2, "_versions/2.manifest", "_versions/2.manifest"},
    {"first", "", 1, "_versions/18446744073709551614.manifest", "_refs/tags/first.json"},
    {"2024", "", 2, "_versions/2.manifest", "_refs/tags/2024.json"},
    {"there", "exp/one:", 3, "tree/exp/one/_versions/18446744073709551612.manifest", "_refs/tags/there.json"},
    {"exp/one", "exp/one:", 4, "tree/exp/one/_versions/18446744073709551611.manifest",
     "tree/exp/one/_versions"},
    {"exp/one:3", "exp/one:", 3, "tree/exp/one/_versions/18446744073709551612.manifest",
     "tree/exp/one/_versions/18446744073709551612.manifest"},
};

TEST(a_version_is_found_by_number_tag_and_branch, .setup = set_up, .teardown = tear_down,
     .end = sizeof(choices) / sizeof(*choices))
{
    struct nt_dataset_version version;
    assert_ok(nt_lance_find_version(folder, choices[_i].requested, &version, &error));
    ck_assert_str_eq(version.series, choices[_i].series);
    ck_assert_uint_eq(version.number, choices[_i].number);
    ck_assert_str_eq(version.file, choices[_i].file);
    ck_assert_str_eq(version.watched[0], choices[_i].watched);
    nt_version_deinit(&version);
}

static const struct {
    const char *requested;
    enum nt_status status;
    const char *message;
} refusals[] = {
    {"4", NT_NOT_FOUND, "there are 3 versions, from 1 to 3"},
    {"77", NT_NOT_FOUND, "version 77 does not exist"},
    {"exp/one:1", NT_NOT_FOUND, "there are 2 versions, from 3 to 4"},
    {"none", NT_NOT_FOUND, "there"},
    {"none", NT_NOT_FOUND, "branches: exp/one"},
    {"exp/two", NT_NOT_FOUND, "no version, tag or branch has the name 'exp/two'"},
    {"exp", NT_NOT_FOUND, "'exp'"},
    {"exp/two:1", NT_NOT_FOUND, "tree/exp/two/_versions"},
    {"../first", NT_INVALID, "is a path"},
    {"/first", NT_INVALID, "is a path"},
    {"exp/../exp/one", NT_INVALID, "is a path"},
    {"..:1", NT_INVALID, "is a path"},
    {":1", NT_INVALID, "is a path"},
    {"", NT_INVALID, "is a path"},
    {"lost", NT_CORRUPT, "version 12, which does not exist"},
    {"bad", NT_CORRUPT, "_refs/tags/bad.json: the tag has no version number"},
    {"cut", NT_CORRUPT, "_refs/tags/cut.json: JSON, line 1"},
    {"out", NT_CORRUPT, "'../../elsewhere'"},
    {"minus", NT_CORRUPT, "_refs/tags/minus.json: the tag has no version number"},
    {"8", NT_CORRUPT, "_refs/tags/8.json: the tag has no version number"},
    {"text", NT_CORRUPT, "_refs/tags/text.json: JSON, line 1"},
    {"odd", NT_CORRUPT, "the tag has an invalid branch name: ''"},
    {"nowhere", NT_CORRUPT, "the tag has an invalid branch name: ''"},
    {"first.txt", NT_NOT_FOUND, "no version, tag or branch has the name 'first.txt'"},
    {"exp/one:x", NT_NOT_FOUND, "no version, tag or branch has the name 'exp/one:x'"},
    {"exp/one:", NT_NOT_FOUND, "no version, tag or branch has the name 'exp/one:'"},
    {"12x", NT_NOT_FOUND, "no version, tag or branch has the name '12x'"},
    {"99999999999999999999", NT_NOT_FOUND, "no version, tag or branch has the name '99999999999999999999'"},
};

TEST(what_is_no_version_is_refused_by_name, .setup = set_up, .teardown = tear_down,
     .end = sizeof(refusals) / sizeof(*refusals))
{
    struct nt_dataset_version version;
    assert_status(refusals[_i].status,
                  nt_lance_find_version(folder, refusals[_i].requested, &version, &error));
    ck_assert_msg(strstr(error.message, refusals[_i].message) != NULL, "%s", error.message);
}

TEST(of_two_names_of_a_version_the_newer_one_is_read, .setup = set_up, .teardown = tear_down)
{
    struct nt_dataset_version version;
    put("_versions/3.manifest", "");
    put("_versions/18446744073709551613.manifest", ""); /* 2 */
    for (unsigned i = 0; i < 2; i++) {
        assert_ok(nt_lance_find_version(folder, i ? "2" : NULL, &version, &error));
        ck_assert_str_eq(version.file, i ? "_versions/18446744073709551613.manifest"
                                         : "_versions/18446744073709551612.manifest");
        nt_version_deinit(&version);
    }
}

TEST(a_tag_of_more_than_a_mebibyte_is_not_read, .setup = set_up, .teardown = tear_down)
{
    enum { BYTES = (1 << 20) + 1 };
    static char text[BYTES + 1];
    struct nt_dataset_version version;
    memset(text, ' ', BYTES);
    memcpy(text, "{\"version\": 1}", strlen("{\"version\": 1}"));
    put_tag("long", text);
    assert_status(NT_LIMIT, nt_lance_find_version(folder, "long", &version, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "the tag or branch has more than 1 MiB"));
    text[BYTES - 1] = '\0';
    put_tag("long", text);
    assert_ok(nt_lance_find_version(folder, "long", &version, &error));
    ck_assert_uint_eq(version.number, 1);
    nt_version_deinit(&version);
}

TEST(of_many_tags_some_are_reported, .setup = set_up, .teardown = tear_down)
{
    struct nt_dataset_version version;
    char name[16];
    for (unsigned i = 0; i < 30; i++) {
        snprintf(name, sizeof(name), "many%u", i);
        put_tag(name, "{\"version\": 1}");
    }
    assert_status(NT_NOT_FOUND, nt_lance_find_version(folder, "none", &version, &error));
    ck_assert_ptr_nonnull(strstr(error.message, ", …; branches: exp/one"));
}
