/* SPDX-License-Identifier: MIT
 *
 * Looking up fields by name, one after another.
 */
#include "core/model/model.h"

#include <string.h>

#include "core/base/text.h"
#include "support.h"

/* "b" twice, and names that are prefixes of others; one is empty, and one has a NUL. */
static const struct nt_text texts[] = {{"b", 1}, {"a", 1},   {"ab", 2}, {"b", 1},
                                       {"", 0},  {"a\0", 2}, {"ba", 2}};
enum { NAMES = sizeof(texts) / sizeof(*texts) };

static struct nt_error error;
static struct nt_field fields[2 * NAMES];
static struct nt_field_names names;

/* Every second field of some. */
static void setup(void)
{
    uint32_t numbers[NAMES];
    for (uint32_t i = 0; i < NAMES; i++) {
        numbers[i] = 2 * i + 1;
        fields[2 * i + 1].name = texts[i];
        fields[2 * i].name = nt_text_of("other");
    }
    assert_ok(nt_field_names_init(&names, fields, numbers, NAMES, &error));
}

static void teardown(void)
{
    nt_field_names_deinit(&names);
}

TEST(each_is_found_and_of_equal_ones_the_first, .setup = setup, .teardown = teardown)
{
    for (uint32_t i = 0; i < NAMES; i++) {
        bool is_twice = nt_text_is(texts[i], "b");
        const struct nt_field_name *found = nt_field_names_find(&names, texts[i]);
        ck_assert_ptr_nonnull(found);
        ck_assert_uint_eq(found->field, is_twice ? 1 : 2 * i + 1);
        ck_assert_uint_eq(found->alike, is_twice ? 2 : 1);
        ck_assert_uint_eq(found->taken, 0);
        if (is_twice)
            ck_assert_uint_eq(found[1].field, 7);
    }
}

TEST(what_is_not_there_is_not_found, .setup = setup, .teardown = teardown)
{
    static const char *const absent[] = {"other", "aa", "abc", "c", " "};
    for (size_t i = 0; i < sizeof(absent) / sizeof(*absent); i++)
        ck_assert_ptr_null(nt_field_names_find(&names, nt_text_of(absent[i])));
}

TEST(among_none_nothing_is_found, .setup = setup, .teardown = teardown)
{
    struct nt_field_names none;
    assert_ok(nt_field_names_init(&none, fields, NULL, 0, &error));
    ck_assert_ptr_null(nt_field_names_find(&none, nt_text_of("a")));
    ck_assert_ptr_null(nt_field_names_find(&none, nt_text_of("")));
    nt_field_names_deinit(&none);
}
