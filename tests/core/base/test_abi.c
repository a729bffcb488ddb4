/* SPDX-License-Identifier: MIT
 *
 * Callers compiled for an older or a newer version of a structure than the library's.
 */
#include "core/base/abi.h"

#include <stdint.h>
#include <string.h>

#include "support.h"

static struct nt_error error;

struct today {
    size_t struct_bytes;
    uint64_t first;
    uint32_t second;
    uint32_t third;
};

struct tomorrow {
    struct today today;
    uint64_t fourth;
};

static const struct tomorrow full = {{sizeof(struct today), 1, 2, 3}, 0};

static enum nt_status copy(const void *from, struct today *to)
{
    memset(to, 0xAA, sizeof(*to));
    return nt_copy_struct(from, to, sizeof(*to), "today", &error);
}

TEST(known_members_are_copied_and_the_rest_is_zero, .end = 5)
{
    /* Around the ends of members, where compilers put sizes. */
    static const size_t sizes[] = {8, 16, 20, 24, 32};
    struct tomorrow from = full;
    struct today to;
    size_t known = from.today.struct_bytes = sizes[_i];
    assert_ok(copy(&from, &to));
    ck_assert_uint_eq(to.struct_bytes, sizeof(to));
    ck_assert_uint_eq(to.first, known >= offsetof(struct today, second) ? 1 : 0);
    ck_assert_uint_eq(to.second, known >= offsetof(struct today, third) ? 2 : 0);
    ck_assert_uint_eq(to.third, known >= sizeof(struct today) ? 3 : 0);
}

TEST(nothing_is_all_zero)
{
    struct today to;
    assert_ok(copy(NULL, &to));
    ck_assert_uint_eq(to.struct_bytes, sizeof(to));
    ck_assert(!to.first && !to.second && !to.third);
}

TEST(what_is_not_known_here_may_not_be_requested)
{
    struct tomorrow from = full;
    struct today to;
    from.today.struct_bytes = sizeof(from);
    assert_ok(copy(&from, &to));
    ck_assert_uint_eq(to.third, 3);
    for (size_t i = 0; i < sizeof(from.fourth); i++) {
        from.fourth = UINT64_C(1) << (8 * i);
        assert_status(NT_INVALID, copy(&from, &to));
    }
    ck_assert_ptr_nonnull(
        strstr(error.message, "struct today: byte 31 is set, but this version knows only 24 bytes"));
}

TEST(a_size_that_was_forgotten_is_noticed)
{
    struct tomorrow from = full;
    struct today to;
    for (from.today.struct_bytes = 0; from.today.struct_bytes < sizeof(size_t); from.today.struct_bytes++)
        assert_status(NT_INVALID, copy(&from, &to));
}
