/* SPDX-License-Identifier: MIT
 *
 * The mount table, as proc_pid_mountinfo(5) describes it: examples, and that of this system.
 */
#include "fuse/mount.h"

#include <string.h>

#include "support.h"

/* Lines in the format of proc_pid_mountinfo(5), with and without optional fields. */
static const char table[] =
    "22 1 0:21 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
    "36 22 98:0 /mnt1 /mnt2 rw,noatime master:1 shared:7 - ext3 /dev/root rw,errors=continue\n"
    "40 22 0:35 / /mnt/a ro,nosuid - fuse.ntuplefs /data/x.root ro,user_id=0\n"
    "41 22 0:36 / /mnt/with\\040space\\011tab\\134 ro - fuse.ntuplefs x ro\n"
    "42 40 0:37 / /mnt/a rw - tmpfs none rw\n"
    "43 22 0:38 / /mnt/- ro - fuse.ntuplefs - ro\n"
    "46 22 0:40 / /mnt/\\9\\08\\018\\ ro - fuse.ntuplefs x ro\n"
    "broken line\n"
    "44 22 nonsense / /mnt/b ro - fuse.ntuplefs x ro\n"
    "45 22 0:39 / /mnt/c ro\n";

static const struct {
    const char *mountpoint;
    bool is_found;
    struct nt_mountinfo info;
} places[] = {
    {"/mnt2", true, {98, 0, "ext3"}},
    {"/mnt/a", true, {0, 37, "tmpfs"}}, /* the later mount is on top */
    {"/mnt/with space\ttab\\", true, {0, 36, "fuse.ntuplefs"}},
    {"/mnt/-", true, {0, 38, "fuse.ntuplefs"}},
    {"/mnt/\\9\\08\\018\\", true, {0, 40, "fuse.ntuplefs"}}, /* not three octal digits */
    {"/mnt1", false, {0}},
    {"/mnt", false, {0}},
    {"/mnt/b", false, {0}},
    {"/mnt/c", false, {0}},
};

TEST(finds_the_topmost_mount_of_a_place, .end = sizeof(places) / sizeof(*places))
{
    FILE *stream = fmemopen((void *)table, strlen(table), "r");
    struct nt_mountinfo info = {0};
    ck_assert_int_eq(nt_mountinfo_find(stream, places[_i].mountpoint, &info), places[_i].is_found);
    fclose(stream);
    if (places[_i].is_found) {
        ck_assert_uint_eq(info.major, places[_i].info.major);
        ck_assert_uint_eq(info.minor, places[_i].info.minor);
        ck_assert_str_eq(info.type, places[_i].info.type);
    }
}

TEST(finds_the_root_of_this_system)
{
    struct nt_mountinfo info;
    ck_assert(nt_mountinfo_get("/", &info));
    ck_assert(strlen(info.type) > 0);
    ck_assert(!nt_mountinfo_get("/no/such/place", &info));
}
