/* SPDX-License-Identifier: MIT
 *
 * A stored field is named after the projected field that shows it, if no other part of it is used.
 */
#include "builder.h"

#define NAME(text)                                                                                           \
    {                                                                                                        \
        text, sizeof(text) - 1                                                                               \
    }

static struct nt_error error;

enum { COLLECTION, ITEM, PT, ETA, JET_PT, JET_PT_ITEM, JET_ETA, JET_ETA_ITEM, JETS, HITS };

/* As RNTupleImporter writes Jet_pt[nJet] and Jet_eta[nJet]. */
static const struct nt_field fields[] = {
    {.id = 0, .parent = NT_NONE, .name = NAME("_collection0"), .kind = NT_FIELD_COLLECTION},
    {.id = 1, .parent = COLLECTION, .name = NAME("_0"), .kind = NT_FIELD_RECORD},
    {.id = 2, .parent = ITEM, .name = NAME("Jet_pt"), .kind = NT_FIELD_VALUE},
    {.id = 3, .parent = ITEM, .name = NAME("Jet_eta"), .kind = NT_FIELD_VALUE},
    {.id = 4, .parent = NT_NONE, .name = NAME("Jet_pt"), .kind = NT_FIELD_COLLECTION},
    {.id = 5, .parent = JET_PT, .name = NAME("_0"), .kind = NT_FIELD_VALUE},
    {.id = 6, .parent = NT_NONE, .name = NAME("Jet_eta"), .kind = NT_FIELD_COLLECTION},
    {.id = 7, .parent = JET_ETA, .name = NAME("_0"), .kind = NT_FIELD_VALUE},
    {.id = 8, .parent = NT_NONE, .name = NAME("nJet"), .kind = NT_FIELD_CARDINALITY},
    {.id = 9, .parent = NT_NONE, .name = NAME("hits"), .kind = NT_FIELD_COLLECTION},
};
static const uint32_t sources[] = {NT_NONE, NT_NONE,    NT_NONE, NT_NONE,    COLLECTION,
                                   PT,      COLLECTION, ETA,     COLLECTION, NT_NONE};
static const struct nt_column columns[] = {{.id = 0, .field = COLLECTION},
                                           {.id = 1, .field = PT},
                                           {.id = 2, .field = ETA},
                                           {.id = 3, .field = HITS}};

static struct nt_file *build(void)
{
    struct nt_file *file = BUILD(fields, columns);
    for (uint32_t i = 0; i < LENGTH(fields); i++)
        ck_assert(nt_field_set_source(file->arena, &file->datasets[0]->fields[i], sources[i]));
    return file;
}

static void check(struct nt_file *file, const uint32_t expected[LENGTH(fields)])
{
    uint32_t *shown = NULL;
    assert_ok(nt_dataset_link(file->datasets[0], &error));
    assert_ok(nt_shown_fields(file->datasets[0], &shown, &error));
    for (uint32_t i = 0; i < LENGTH(fields); i++)
        ck_assert_uint_eq(shown[i], expected[i]);
    uint32_t *tops = NULL, count, seen = 0;
    assert_ok(nt_shown_top_fields(file->datasets[0], &tops, &count, &error));
    for (uint32_t i = 0; i < LENGTH(fields); i++)
        if (fields[i].parent == NT_NONE && expected[i] == i)
            ck_assert_uint_eq(tops[seen++], i);
    ck_assert_uint_eq(count, seen);
    free(tops);
    free(shown);
    nt_file_close(file);
}

TEST(an_imported_collection_has_the_names_of_its_branches)
{
    check(build(), (const uint32_t[]){JETS, JETS, JET_PT, JET_ETA, JET_PT, JET_PT_ITEM, JET_ETA, JET_ETA_ITEM,
                                      JETS, HITS});
}

static const uint32_t unchanged[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

TEST(a_collection_with_a_type_keeps_its_name)
{
    struct nt_file *file = build();
    file->datasets[0]->fields[COLLECTION].type = (struct nt_text)NAME("std::vector<Jet>");
    check(file, unchanged);
}

TEST(a_collection_with_a_field_that_is_not_shown_keeps_its_name)
{
    struct nt_file *file = build();
    ck_assert(nt_field_set_source(file->arena, &file->datasets[0]->fields[JET_ETA_ITEM], NT_NONE));
    check(file, unchanged);
}
