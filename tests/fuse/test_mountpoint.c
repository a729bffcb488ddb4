/* SPDX-License-Identifier: MIT
 *
 * Preparing a mountpoint: an existing or a new directory, by its absolute name, and never another one.
 */
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuse/mount.h"
#include "temporary.h"

static struct nt_error error;
static struct nt_mountpoint mountpoint;

/* The working directory, with a directory, a file and a link in it. */
static void setup(void)
{
    temporary_setup();
    ck_assert_int_eq(chdir(temporary_directory), 0);
    ck_assert_int_eq(mkdir("there", 0700), 0);
    ck_assert_int_eq(symlink("there", "link"), 0);
    temporary_file("file", "", 0);
}

static void teardown(void)
{
    ck_assert_int_eq(chdir("/"), 0);
    temporary_teardown();
}

static bool is_directory(const char *path)
{
    struct stat attributes;
    return stat(path, &attributes) == 0 && S_ISDIR(attributes.st_mode);
}

static const struct {
    const char *given, *path; /* the path in the working directory */
    bool is_ours;
} places[] = {
    {"there", "there", false},
    {"there///", "there", false},
    {"./there/../there", "there", false},
    {"link", "there", false},
    {"new", "new", true},
    {"new///", "new", true},
    {"there/new", "there/new", true},
    {"link/new/", "there/new", true},
};

TEST(a_directory_is_found_or_made_and_what_was_made_is_removed, .setup = setup, .teardown = teardown,
     .end = sizeof(places) / sizeof(*places))
{
    const char *expected = temporary_path(places[_i].path);
    assert_ok(nt_mountpoint_prepare(&mountpoint, places[_i].given, 0, &error));
    ck_assert_str_eq(mountpoint.path, expected);
    ck_assert_int_eq(mountpoint.is_ours, places[_i].is_ours);
    ck_assert(is_directory(expected));
    nt_mountpoint_release(&mountpoint);
    ck_assert_int_eq(is_directory(expected), !places[_i].is_ours);
}

static const struct {
    const char *given;
    enum nt_status status;
    const char *message;
} refused[] = {
    {"", NT_INVALID, "the mountpoint has an empty name"},
    {"missing/new", NT_NOT_FOUND, "missing/new"},
    {"file", NT_INVALID, "not a directory; the last argument is the mountpoint"},
    {"file/new", NT_INVALID, "file/new: not a directory"},
};

TEST(what_cannot_be_mounted_on_is_refused_and_left_as_it_is, .setup = setup, .teardown = teardown,
     .end = sizeof(refused) / sizeof(*refused))
{
    enum nt_status status =
        nt_mountpoint_prepare(&mountpoint, refused[_i].given, NT_MOUNTPOINT_FORCE, &error);
    ck_assert_msg(status == refused[_i].status, "%s: %s", nt_status_name(status), error.message);
    ck_assert_msg(strstr(error.message, refused[_i].message) != NULL, "%s", error.message);
    ck_assert_ptr_null(mountpoint.path);
    ck_assert(is_directory("there") && !is_directory("file") && !is_directory("missing"));
}

TEST(a_directory_with_something_in_it_stays, .setup = setup, .teardown = teardown)
{
    assert_ok(nt_mountpoint_prepare(&mountpoint, "new", 0, &error));
    temporary_file("new/file", "", 0);
    nt_mountpoint_release(&mountpoint);
    ck_assert(is_directory("new"));
}

TEST(a_directory_with_files_is_refused_if_it_has_to_be_empty, .setup = setup, .teardown = teardown)
{
    assert_ok(nt_mountpoint_prepare(&mountpoint, "there", NT_MOUNTPOINT_EMPTY, &error));
    nt_mountpoint_release(&mountpoint);
    temporary_file("there/file", "", 0);
    assert_ok(nt_mountpoint_prepare(&mountpoint, "there", 0, &error));
    nt_mountpoint_release(&mountpoint);
    assert_status(NT_INVALID, nt_mountpoint_prepare(&mountpoint, "there", NT_MOUNTPOINT_EMPTY, &error));
    ck_assert_msg(strstr(error.message, "exists and is not empty") != NULL, "%s", error.message);
}

/* A mount that starts while an earlier one ends, at the same path. */
TEST(a_directory_that_another_mount_needs_stays, .setup = setup, .teardown = teardown)
{
    struct nt_mountpoint later;
    assert_ok(nt_mountpoint_prepare(&mountpoint, "new", 0, &error));
    assert_ok(nt_mountpoint_prepare(&later, "new", 0, &error));
    ck_assert(mountpoint.is_ours && !later.is_ours);
    nt_mountpoint_release(&mountpoint);
    ck_assert(is_directory("new"));
    nt_mountpoint_release(&later);
    ck_assert(is_directory("new"));
}

static int lock(const char *path)
{
    int directory = open(path, O_RDONLY | O_DIRECTORY);
    ck_assert_int_ge(directory, 0);
    ck_assert_int_eq(flock(directory, LOCK_EX), 0);
    return directory;
}

static void *remove_locked(void *directory)
{
    usleep(20000);
    ck_assert_int_eq(rmdir("there"), 0);
    close(*(int *)directory);
    return NULL;
}

TEST(a_directory_that_is_being_removed_is_made_again, .setup = setup, .teardown = teardown)
{
    pthread_t thread;
    int directory = lock("there");
    ck_assert_int_eq(pthread_create(&thread, NULL, remove_locked, &directory), 0);
    assert_ok(nt_mountpoint_prepare(&mountpoint, "there", 0, &error));
    pthread_join(thread, NULL);
    ck_assert(mountpoint.is_ours && is_directory("there"));
    nt_mountpoint_release(&mountpoint);
    ck_assert(!is_directory("there"));
}

TEST(a_directory_that_another_program_has_locked_is_used, .setup = setup, .teardown = teardown)
{
    int directory = lock("there");
    assert_ok(nt_mountpoint_prepare(&mountpoint, "there", 0, &error));
    nt_mountpoint_release(&mountpoint);
    ck_assert(is_directory("there"));
    close(directory);
}

TEST(what_is_not_mounted_cannot_be_unmounted, .setup = setup, .teardown = teardown)
{
    ck_assert(!nt_unmount(temporary_path("there"), false));
    ck_assert(!nt_unmount(temporary_path("missing"), true));
}
