/* SPDX-License-Identifier: MIT
 *
 * Local directories: listing, opening, and who may read them.
 */
#include "core/io/folder.h"
#include "temporary.h"

#include <errno.h>
#include <string.h>

#include "core/io/source.h"
#include <ntuple/source.h>

static struct nt_error error;
static struct nt_folder *folder;
static struct nt_source *source;

static void make_directory(const char *name)
{
    ck_assert_int_eq(mkdir(temporary_path(name), 0755), 0);
}

static void make_link(const char *target, const char *name)
{
    ck_assert_int_eq(symlink(target, temporary_path(name)), 0);
}

static void open_folder(enum nt_folder_use use)
{
    assert_ok(nt_folder_open(temporary_directory, use, &folder, &error));
}

static enum nt_status read_file(const char *name)
{
    char byte;
    enum nt_status status = nt_folder_open_file(folder, name, &source, &error);
    if (status != NT_OK)
        return status;
    status = nt_source_read(source, 0, &byte, 1, &error);
    nt_source_close(source);
    return status;
}

/* ---- entries ---- */

static enum nt_status note_entry(void *context, const struct nt_folder_entry *entry, struct nt_error *unused)
{
    char *kinds = context;
    ck_assert_uint_eq(strlen(entry->name), 1);
    kinds[entry->name[0] - 'a'] = "FDLO"[entry->kind];
    return NT_OK;
}

TEST(entries_are_listed_with_their_own_kinds, .setup = temporary_setup, .teardown = temporary_teardown)
{
    char kinds[6] = "-----";
    make_directory("d");
    make_directory("d/b");
    temporary_file("d/a", "", 0);
    make_link("a", "d/c");
    make_link("b", "d/d");
    ck_assert_int_eq(mkfifo(temporary_path("d/e"), 0600), 0);
    open_folder(NT_FOLDER_DATASET);
    assert_ok(nt_folder_list(folder, "d", note_entry, kinds, &error));
    ck_assert_str_eq(kinds, "FDLLO");
    assert_status(NT_NOT_FOUND, nt_folder_list(folder, "missing", note_entry, kinds, &error));
    assert_status(NT_NOT_FOUND, nt_folder_list(folder, "d/a", note_entry, kinds, &error));
    nt_folder_close(folder);
}

static enum nt_status stop(void *context, const struct nt_folder_entry *entry, struct nt_error *unused)
{
    ++*(unsigned *)context;
    return NT_CANCELED;
}

TEST(a_listing_ends_when_its_visitor_returns_false, .setup = temporary_setup, .teardown = temporary_teardown)
{
    unsigned visits = 0;
    temporary_file("a", "", 0);
    temporary_file("b", "", 0);
    open_folder(NT_FOLDER_PASSTHROUGH);
    ck_assert_int_eq(nt_folder_list(folder, "", stop, &visits, &error), NT_CANCELED);
    ck_assert_uint_eq(visits, 1);
    nt_folder_close(folder);
}

/* ---- links ---- */

/* In a dataset "set": links that stay in it and links that leave it. */
static void make_links(void)
{
    make_directory("set");
    make_directory("set/inner");
    temporary_file("set/inner/file", "x", 1);
    temporary_file("outside", "x", 1);
    make_link("inner/file", "set/beneath");
    make_link("../beneath", "set/inner/up");
    make_link("../outside", "set/relative");
    make_link(temporary_path("outside"), "set/absolute");
    make_link("/proc/self/environ", "set/process");
    make_link("..", "set/parent");
    make_link("endless", "set/endless");
}

TEST(links_are_followed_where_they_stay_in_the_dataset, .setup = temporary_setup,
     .teardown = temporary_teardown, .end = 3)
{
    static const char *const names[] = {"inner/file", "beneath", "inner/up"};
    make_links();
    assert_ok(nt_folder_open(temporary_path("set"), NT_FOLDER_DATASET, &folder, &error));
    assert_ok(read_file(names[_i]));
    nt_folder_close(folder);
}

TEST(a_link_out_of_the_dataset_is_refused_and_named, .setup = temporary_setup, .teardown = temporary_teardown,
     .end = 6)
{
    static const struct {
        const char *name, *message;
    } links[] = {{"relative", "set/relative: is a link out of the directory, to ../outside"},
                 {"absolute", "set/absolute: is a link out of the directory"},
                 {"process", "set/process: is a link out of the directory, to /proc/self/environ"},
                 {"parent/outside", "set/parent: is a link out of the directory, to .."},
                 {"endless", "set/endless"},
                 {"../outside", "leads out of the directory"}};
    struct stat attributes;
    make_links();
    assert_ok(nt_folder_open(temporary_path("set"), NT_FOLDER_DATASET, &folder, &error));
    assert_status(NT_IO, read_file(links[_i].name));
    ck_assert_msg(strstr(error.message, links[_i].message) != NULL, "%s", error.message);
    assert_status(NT_IO, nt_folder_stat(folder, links[_i].name, &attributes, &error));
    bool is_there;
    assert_ok(nt_folder_has(folder, links[_i].name, &is_there, &error));
    ck_assert(is_there);
    assert_ok(nt_folder_open_file_lazily(folder, links[_i].name, &source, &error));
    assert_status(NT_IO, nt_source_check(source, &error));
    nt_source_close(source);
    nt_folder_close(folder);
}

TEST(a_mirror_follows_links_wherever_they_lead, .setup = temporary_setup, .teardown = temporary_teardown)
{
    struct stat attributes;
    make_links();
    assert_ok(nt_folder_open(temporary_path("set"), NT_FOLDER_PASSTHROUGH, &folder, &error));
    assert_ok(nt_folder_stat(folder, "relative", &attributes, &error));
    ck_assert(S_ISREG(attributes.st_mode));
    assert_ok(read_file("absolute"));
    nt_folder_close(folder);
}

TEST(what_is_no_regular_file_is_not_opened, .setup = temporary_setup, .teardown = temporary_teardown)
{
    make_directory("d");
    ck_assert_int_eq(mkfifo(temporary_path("fifo"), 0600), 0);
    open_folder(NT_FOLDER_DATASET);
    assert_status(NT_INVALID, read_file("d"));
    assert_status(NT_INVALID, read_file("fifo"));
    assert_status(NT_NOT_FOUND, read_file("missing"));
    nt_folder_close(folder);
}

/* ---- modes ---- */

static mode_t shown_mode(void)
{
    struct stat attributes;
    assert_ok(folder->ops->show(folder, &attributes, &error));
    return attributes.st_mode & 0777;
}

static void make_modes(mode_t set, mode_t inner, mode_t file)
{
    make_directory("set");
    make_directory("set/inner");
    temporary_file("set/public", "x", 1);
    temporary_file("set/inner/file", "x", 1);
    ck_assert_int_eq(chmod(temporary_path("set/public"), 0644), 0);
    ck_assert_int_eq(chmod(temporary_path("set/inner/file"), file), 0);
    ck_assert_int_eq(chmod(temporary_path("set/inner"), inner), 0);
    ck_assert_int_eq(chmod(temporary_path("set"), set), 0);
}

TEST(the_mode_that_is_shown_is_what_all_that_was_opened_have_in_common, .setup = temporary_setup,
     .teardown = temporary_teardown, .end = 5)
{
    static const struct {
        mode_t set, inner, file, shown;
    } modes[] = {{0755, 0755, 0644, 0755},
                 {0755, 0755, 0640, 0751},
                 {0755, 0700, 0644, 0711},
                 {0750, 0755, 0604, 0710},
                 {0700, 0755, 0644, 0700}};
    make_modes(modes[_i].set, modes[_i].inner, modes[_i].file);
    assert_ok(nt_folder_open(temporary_path("set"), NT_FOLDER_DATASET_FOR_OTHERS, &folder, &error));
    assert_ok(read_file("public"));
    assert_ok(read_file("inner/file"));
    ck_assert_uint_eq(shown_mode(), modes[_i].shown);
    assert_ok(read_file("inner/file"));
    nt_folder_close(folder);
}

TEST(what_fewer_may_read_than_was_shown_is_refused_where_others_look_on, .setup = temporary_setup,
     .teardown = temporary_teardown, .end = 4)
{
    bool is_private = _i & 1, is_for_others = _i & 2;
    make_modes(0755, is_private ? 0700 : 0755, is_private ? 0644 : 0600);
    assert_ok(nt_folder_open(temporary_path("set"),
                             is_for_others ? NT_FOLDER_DATASET_FOR_OTHERS : NT_FOLDER_DATASET, &folder,
                             &error));
    assert_ok(read_file("public"));
    ck_assert_uint_eq(shown_mode(), 0755);
    assert_status(is_for_others ? NT_IO : NT_OK, read_file("inner/file"));
    if (is_for_others) {
        ck_assert_int_eq(error.system_error, EACCES);
        ck_assert_ptr_nonnull(
            strstr(error.message, is_private ? "set/inner: mode 0700" : "set/inner/file: mode 0600"));
    }
    assert_ok(read_file("public"));
    nt_folder_close(folder);
}

TEST(a_folder_next_to_a_dataset_does_not_extend_permissions, .setup = temporary_setup,
     .teardown = temporary_teardown, .end = 4)
{
    bool is_private = _i & 1, is_folder = _i & 2;
    make_modes(0755, 0755, 0644);
    make_directory("beside");
    temporary_file("beside/file", "x", 1);
    struct nt_folder *set;
    assert_ok(nt_folder_open(temporary_path("set"), NT_FOLDER_DATASET_FOR_OTHERS, &set, &error));
    folder = set;
    assert_ok(read_file("public"));
    ck_assert_uint_eq(shown_mode(), 0755);
    ck_assert_int_eq(chmod(temporary_path("beside/file"), is_private && !is_folder ? 0600 : 0644), 0);
    ck_assert_int_eq(chmod(temporary_path("beside"), is_private && is_folder ? 0700 : 0755), 0);
    enum nt_status status = nt_folder_open_sibling(set, temporary_path("beside"), &folder, &error);
    if (status == NT_OK) {
        status = read_file("file");
        assert_status(NT_IO, read_file("../set/public"));
        nt_folder_close(folder);
    }
    assert_status(is_private ? NT_IO : NT_OK, status);
    nt_folder_close(set);
}

TEST(a_folder_below_is_a_folder_of_its_own, .setup = temporary_setup, .teardown = temporary_teardown)
{
    struct nt_folder *outer;
    make_directory("set");
    temporary_file("set/file", "x", 1);
    open_folder(NT_FOLDER_PASSTHROUGH);
    outer = folder;
    assert_status(NT_NOT_FOUND, nt_folder_open_below(outer, "none", &folder, &error));
    assert_ok(nt_folder_open_below(outer, "set", &folder, &error));
    nt_folder_close(outer);
    assert_ok(read_file("file"));
    nt_folder_close(folder);
}

TEST(a_folder_is_there_until_its_last_holder_closes_it, .setup = temporary_setup,
     .teardown = temporary_teardown)
{
    uint64_t list = 1;
    temporary_file("file", "x", 1);
    open_folder(NT_FOLDER_DATASET);
    nt_folder_ref(folder);
    nt_folder_close(folder);
    assert_ok(nt_folder_refresh(folder, "", &list, &error));
    ck_assert_uint_eq(list, 0);
    assert_ok(read_file("file"));
    nt_folder_close(folder);
}
