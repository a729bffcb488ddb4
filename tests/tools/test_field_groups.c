/* SPDX-License-Identifier: MIT
 *
 * Groups of fields by the prefixes of their names.
 */
#include <stdio.h>
#include <string.h>

#include "dataset_builder.h"
#include "support.h"
#include "tools/tools.h"
#include "core/base/memory.h"

/* A dataset of top-level fields, the first of which has a sub-field. */
static struct builder *named_fields(const char *const *names, unsigned count)
{
    struct builder *builder = builder_new();
    for (unsigned i = 0; i < count; i++)
        add_field(builder, NT_NONE, i ? NT_FIELD_VALUE : NT_FIELD_RECORD, NT_ELEMENT_INT32);
    add_field(builder, 0, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    finish(builder, NULL);
    for (unsigned i = 0; i < count; i++)
        builder->dataset->fields[i].name = (struct nt_text){names[i], strlen(names[i])};
    return builder;
}

/* The names of the groups, each followed by a space. */
static void assert_groups(const char *const *names, unsigned count, const char *expected)
{
    struct builder *builder = named_fields(names, count);
    struct nt_field_groups groups;
    struct nt_buffer text = {0};
    struct nt_error error;
    uint32_t members = 0;
    assert_ok(nt_field_groups_init(&groups, builder->dataset, &error));
    for (uint32_t i = 0; i < groups.count; i++) {
        const struct nt_field_group *group = &groups.items[i];
        nt_append_field_group(&text, group);
        nt_buffer_append_byte(&text, ' ');
        for (uint32_t k = 0; k < group->count; k++, members++) {
            uint32_t field = groups.members[group->first + k];
            ck_assert_uint_eq(groups.of_field[field], i);
            ck_assert_int_eq(strncmp(names[field], group->name.bytes, group->name.length), 0);
        }
    }
    ck_assert_uint_eq(members, count);
    ck_assert_uint_eq(groups.of_field[count], groups.of_field[0]);
    ck_assert_str_eq(nt_buffer_string(&text), expected);
    nt_buffer_deinit(&text);
    nt_field_groups_deinit(&groups);
    builder_free(builder);
}

TEST(few_fields_stand_alone)
{
    static const char *const names[] = {"Jet_pt", "Jet_eta", "run"};
    assert_groups(names, 3, "Jet_pt Jet_eta run ");
}

TEST(many_are_taken_together_up_to_the_first_mark)
{
    static char texts[32][16];
    const char *names[32] = {"run", "_x", "Jet_pt", "Jet", "a.b"};
    for (unsigned i = 5; i < 32; i++) {
        snprintf(texts[i], sizeof(texts[i]), "%s_%u", i % 2 ? "Jet" : "HLT", i);
        names[i] = texts[i];
    }
    assert_groups(names, 32, "run _x Jet_* (15 fields) Jet a.b HLT_* (13 fields) ");
}

TEST(numbered_names_are_taken_together_in_ranges)
{
    static char texts[30][16];
    const char *names[30];
    for (unsigned i = 0; i < 30; i++) {
        snprintf(texts[i], sizeof(texts[i]), "field_%u", i);
        names[i] = texts[i];
    }
    assert_groups(
        names, 30,
        "field_0 \u2026 9 (10 fields) field_10 \u2026 19 (10 fields) field_20 \u2026 29 (10 fields) ");
}

/* In descending order, with leading zeros and gaps; all begin with the same digit. */
TEST(ranges_are_of_numbers_and_few)
{
    static char texts[26][16];
    const char *names[26];
    for (unsigned i = 0; i < 25; i++) {
        snprintf(texts[i], sizeof(texts[i]), "x%05u", 124 - i);
        names[i] = texts[i];
    }
    names[25] = "x01999";
    assert_groups(names, 26, "x00100 \u2026 00124 (25 fields) x01999 ");
}

TEST(names_without_marks_are_taken_together_by_their_letters)
{
    static char texts[30][4];
    const char *names[30];
    for (unsigned i = 0; i < 30; i++) {
        snprintf(texts[i], sizeof(texts[i]), "%c%c", 'a' + (int)i / 10, 'a' + (int)i % 10);
        names[i] = texts[i];
    }
    assert_groups(names, 30, "a* (10 fields) b* (10 fields) c* (10 fields) ");
}

TEST(names_that_are_all_the_same_are_one_group)
{
    const char *names[40];
    for (unsigned i = 0; i < 40; i++)
        names[i] = "";
    assert_groups(names, 40, "* (40 fields) ");
}
