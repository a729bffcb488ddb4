/* SPDX-License-Identifier: MIT
 *
 * Extended attributes of nodes of a model in memory. model.c has the content of the model.
 */
#include <stdio.h>
#include <string.h>

#include "model.h"
#include "open_tree.h"
#include "support.h"

static struct nt_error error;

TEST(every_extended_attribute_that_is_listed_has_a_value, .setup = tree_setup_single,
     .teardown = tree_teardown)
{
    static const char *const paths[] = {"Events",
                                        "Events/run",
                                        "Events/name/offsets.npy",
                                        "Events/array/_0/data.bin",
                                        "Events/run/column.0",
                                        "Events/run/column.0/pages/1.raw",
                                        "evil/%FF"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        struct nt_buffer names = {0}, value = {0};
        unsigned count = 0;
        assert_ok(nt_vfs_listxattr(vfs, resolve(paths[i]), &names, &error));
        for (size_t at = 0; at < names.length; at += strlen(names.bytes + at) + 1, count++)
            assert_ok(nt_vfs_getxattr(vfs, resolve(paths[i]), names.bytes + at, &value, &error));
        ck_assert_uint_ge(count, 4);
        assert_status(NT_NOT_FOUND,
                      nt_vfs_getxattr(vfs, resolve(paths[i]), "user.ntuplefs.no", &value, &error));
        assert_status(NT_NOT_FOUND,
                      nt_vfs_getxattr(vfs, resolve(paths[i]), "security.selinux", &value, &error));
        nt_buffer_deinit(&names);
        nt_buffer_deinit(&value);
    }
}

static const struct {
    const char *path, *name, *value;
} xattrs[] = {
    {"Events/run", "name", "run"},
    {"Events/run", "dtype", "<i4"},
    {"Events/run/data.npy", "shape", "9"},
    {"Events/array/_0", "shape", "9,3"},
    {"Events/name/offsets.bin", "dtype", "<i8"},
    {"Events/run/column.0", "column_type", "Int32"},
    {"Events/run/column.0", "pages", "5"},
    {"Events/run/column.0/pages/0.bin", "elements", "2"},
    {"Events/run", "stored_bytes", "36"},
    {"Events/run", "checksum_kind", "xxh3-64"},
    {"Events", "entries", "9"},
    {"Events", "description", "made by hand"},
    {"Events/jets", "role", "collection"},
};

TEST(extended_attributes_say_what_the_model_says, .setup = tree_setup_single, .teardown = tree_teardown,
     .end = sizeof(xattrs) / sizeof(xattrs[0]))
{
    struct nt_buffer value = {0};
    char name[64];
    snprintf(name, sizeof(name), "user.ntuplefs.%s", xattrs[_i].name);
    assert_ok(nt_vfs_getxattr(vfs, resolve(xattrs[_i].path), name, &value, &error));
    ck_assert_str_eq(value.bytes, xattrs[_i].value);
    nt_buffer_deinit(&value);
}

/* The form of the text for its kind. */
static bool is_of_kind(const char *text, enum nt_vfs_value kind)
{
    static const char *const characters[] = {[NT_VFS_VALUE_INTEGER] = "0123456789",
                                             [NT_VFS_VALUE_REAL] = "0123456789.e+-",
                                             [NT_VFS_VALUE_INTEGERS] = "0123456789,"};
    return kind == NT_VFS_VALUE_TEXT || (*text && text[strspn(text, characters[kind])] == '\0');
}

TEST(values_are_of_the_kind_that_is_reported, .setup = tree_setup_single, .teardown = tree_teardown,
     .end = sizeof(xattrs) / sizeof(xattrs[0]))
{
    char name[64];
    snprintf(name, sizeof(name), "user.ntuplefs.%s", xattrs[_i].name);
    ck_assert_msg(is_of_kind(xattrs[_i].value, nt_vfs_xattr_value(name)), "%s", name);
    ck_assert_int_eq(nt_vfs_xattr_value("user.ntuplefs.shape"), NT_VFS_VALUE_INTEGERS);
    ck_assert_int_eq(nt_vfs_xattr_value("user.ntuplefs.ratio"), NT_VFS_VALUE_REAL);
    ck_assert_int_eq(nt_vfs_xattr_value("user.ntuplefs.stored_bytes"), NT_VFS_VALUE_INTEGER);
    ck_assert_int_eq(nt_vfs_xattr_value("user.ntuplefs.no"), NT_VFS_VALUE_TEXT);
    ck_assert_int_eq(nt_vfs_xattr_value("pages"), NT_VFS_VALUE_TEXT);
}

TEST(an_extended_attribute_that_a_bad_page_list_hides_is_a_failure, .setup = tree_setup_single,
     .teardown = tree_teardown)
{
    struct nt_buffer value = {0};
    model_has_bad_group = true;
    assert_status(NT_CHECKSUM,
                  nt_vfs_getxattr(vfs, resolve("Events/run"), "user.ntuplefs.pages", &value, NULL));
    json_t *json = read_json(".ntuplefs/errors.jsonl");
    ck_assert_int_eq(get_number(json, "count"), 1);
    json_decref(json);
    nt_buffer_deinit(&value);
}
