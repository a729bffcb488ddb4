/* SPDX-License-Identifier: MIT
 *
 * The limit of all metadata, which follows from the memory of the machine.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/model/budget.h"
#include "support.h"

#define MEBIBYTE (UINT64_C(1) << 20)

TEST(the_ceiling_is_an_eighth_within_bounds)
{
    static const struct {
        uint64_t memory, ceiling;
    } cases[] = {{24576, 1024}, {8192, 1024}, {4096, 512}, {1280, 160},
                 {1024, 160},   {256, 160},   {128, 80},   {0, 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        ck_assert_uint_eq(nt_metadata_ceiling_of(cases[i].memory * MEBIBYTE), cases[i].ceiling * MEBIBYTE);
    ck_assert_uint_eq(nt_metadata_ceiling_of(UINT64_MAX), 1024 * MEBIBYTE);
    ck_assert_uint_le(nt_metadata_ceiling(), 1024 * MEBIBYTE);
    ck_assert_uint_gt(nt_metadata_ceiling(), 0);
}

static char root[] = "/tmp/ntuple-groups-XXXXXX";

static void put(const char *path, const char *text)
{
    char whole[256];
    snprintf(whole, sizeof(whole), "%s/%s", root, path);
    for (char *slash = whole + sizeof(root); (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(whole, 0700);
        *slash = '/';
    }
    FILE *file = fopen(whole, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static uint64_t memory_of(const char *groups)
{
    char path[256];
    put("groups", groups);
    snprintf(path, sizeof(path), "%s/groups", root);
    return nt_cgroup_memory(path, root);
}

/* cgroups(7): both versions, and groups above count. */
TEST(the_least_limit_of_a_group_and_those_above_it_counts)
{
    char command[300];
    ck_assert_ptr_nonnull(mkdtemp(root));
    put("a/memory.max", "1000\n");
    put("a/b/memory.max", "max\n");
    put("a/b/c/memory.max", "5000\n");
    put("memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("memory/x/memory.limit_in_bytes", "300\n");
    ck_assert_uint_eq(memory_of("0::/a/b/c\n"), 1000);
    ck_assert_uint_eq(memory_of("0::/\n"), UINT64_MAX);
    ck_assert_uint_eq(memory_of("0::/elsewhere\n"), UINT64_MAX);
    ck_assert_uint_eq(memory_of("5:cpu:/x\n4:memory:/x\n0::/\n"), 300);
    ck_assert_uint_eq(memory_of("4:memory:/\n0::/a\n"), 1000);
    ck_assert_uint_eq(memory_of("nonsense\n\n"), UINT64_MAX);
    ck_assert_uint_eq(nt_cgroup_memory("/nowhere", root), UINT64_MAX);
    snprintf(command, sizeof(command), "rm -r %s", root);
    ck_assert_int_eq(system(command), 0);
}
