/* SPDX-License-Identifier: MIT
 *
 * The mode that a dataset of several files shows, over bits of modes, owners and groups.
 */
#include "core/io/folder.h"
#include "support.h"

static struct stat file(mode_t mode, uid_t owner, gid_t group)
{
    return (struct stat){.st_mode = S_IFREG | mode, .st_uid = owner, .st_gid = group};
}

/* May this user read the file, by the kernel's rules? */
static bool may_read(const struct stat *file, uid_t user, unsigned groups)
{
    if (user == file->st_uid)
        return file->st_mode & S_IRUSR;
    if (groups >> file->st_gid & 1)
        return file->st_mode & S_IRGRP;
    return file->st_mode & S_IROTH;
}

/* All modes of two files, for all users in all sets of three groups. */
TEST(a_user_sees_only_readable_files)
{
    for (mode_t modes = 0; modes < 64; modes++)
        for (unsigned owners = 0; owners < 16; owners++) {
            struct stat shown =
                file((modes & 1) << 2 | (modes & 2) << 4 | (modes & 4) << 6, owners & 1, owners >> 1 & 1);
            struct stat part = file((modes & 8) >> 1 | (modes & 16) << 1 | (modes & 32) << 3, owners >> 2 & 1,
                                    owners >> 3 & 1);
            struct stat narrowed = shown;
            narrowed.st_mode = nt_common_read_bits(&shown, shown.st_mode & 0444, &part);
            for (uid_t user = 0; user < 3; user++)
                for (unsigned groups = 0; groups < 8; groups++)
                    ck_assert(!may_read(&narrowed, user, groups) || may_read(&part, user, groups));
        }
}

TEST(files_of_one_owner_and_group_have_their_bits_in_common)
{
    for (mode_t modes = 0; modes < 64; modes++) {
        mode_t left = (modes & 1) << 2 | (modes & 2) << 4 | (modes & 4) << 6;
        mode_t right = (modes & 8) >> 1 | (modes & 16) << 1 | (modes & 32) << 3;
        struct stat shown = file(left, 1, 2), part = file(right | 0333, 1, 2);
        ck_assert_uint_eq(nt_common_read_bits(&shown, left, &part), left & right);
    }
}

TEST(what_everybody_may_read_takes_nothing_away)
{
    struct stat shown = file(0755, 1, 2), part = file(0644, 3, 4);
    ck_assert_uint_eq(nt_common_read_bits(&shown, 0444, &part), 0444);
}

TEST(of_a_directory_the_right_to_enter_counts)
{
    struct stat shown = file(0755, 1, 2), part = {.st_mode = S_IFDIR | 0711, .st_uid = 1, .st_gid = 2};
    ck_assert_uint_eq(nt_common_read_bits(&shown, 0444, &part), 0444);
    part.st_mode = S_IFDIR | 0745;
    ck_assert_uint_eq(nt_common_read_bits(&shown, 0444, &part), 0404);
}
