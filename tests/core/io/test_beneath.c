/* SPDX-License-Identifier: MIT
 *
 * Opening a name beneath a directory: with openat2, and component by component without it.
 */
#include "core/io/folder.h"
#include "temporary.h"

#include <errno.h>
#include <string.h>

static struct nt_error error;
static int directory = -1;

typedef enum nt_status open_beneath(int directory, const char *path, const char *name, int flags,
                                    int *descriptor_ret, struct nt_error *error);
static open_beneath *const ways[] = {nt_beneath_open, nt_beneath_open_by_parts};

static void set_up(void)
{
    temporary_setup();
    ck_assert_int_eq(mkdir(temporary_path("set"), 0755), 0);
    ck_assert_int_eq(mkdir(temporary_path("set/inner"), 0755), 0);
    temporary_file("set/inner/file", "inner", 5);
    temporary_file("file", "outer", 5);
    ck_assert_int_eq(symlink("../file", temporary_path("set/out")), 0);
    ck_assert_int_eq(symlink("..", temporary_path("set/up")), 0);
    ck_assert_int_eq(symlink("inner", temporary_path("set/in")), 0);
    directory = open(temporary_path("set"), O_PATH | O_DIRECTORY);
    ck_assert_int_ge(directory, 0);
}

static void tear_down(void)
{
    close(directory);
    temporary_teardown();
}

static enum nt_status open_name(open_beneath *way, const char *name)
{
    int descriptor;
    char text[6] = "";
    size_t before = count_descriptors();
    enum nt_status status = way(directory, "set", name, O_RDONLY, &descriptor, &error);
    if (status == NT_OK) {
        ssize_t count = read(descriptor, text, 5); /* it fails for a directory */
        ck_assert(count < 0 || strcmp(text, "inner") == 0);
        close(descriptor);
    }
    ck_assert_uint_eq(count_descriptors(), before);
    return status;
}

TEST(names_beneath_are_opened, .setup = set_up, .teardown = tear_down, .end = 2)
{
    static const char *const names[] = {"", "inner", "inner/file"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        assert_ok(open_name(ways[_i], names[i]));
    assert_status(NT_NOT_FOUND, open_name(ways[_i], "inner/nothing"));
    assert_status(NT_NOT_FOUND, open_name(ways[_i], "nothing/file"));
    assert_status(NT_NOT_FOUND, open_name(ways[_i], "inner/file/file"));
}

TEST(names_and_links_that_lead_out_are_refused, .setup = set_up, .teardown = tear_down, .end = 2)
{
    static const char *const names[] = {"out", "up/file", "../file", "inner/../../file", "/etc/passwd"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        assert_status(NT_IO, open_name(ways[_i], names[i]));
        ck_assert_int_eq(error.system_error, EACCES);
        ck_assert_ptr_nonnull(strstr(error.message, "set/"));
    }
}

TEST(the_kernel_follows_links_that_stay_beneath_and_without_it_none_is_followed, .setup = set_up,
     .teardown = tear_down)
{
    assert_ok(open_name(nt_beneath_open, "in/file"));
    assert_status(NT_IO, open_name(nt_beneath_open_by_parts, "in/file"));
    ck_assert_ptr_nonnull(strstr(error.message, "in is a link"));
}
