/* SPDX-License-Identifier: MIT
 *
 * Names that users type: what a path or pattern matches, and which name is suggested if nothing matches.
 */
#include <stdio.h>
#include <string.h>

#include "builder.h"
#include "core/base/text.h"

#define NAME(text)                                                                                           \
    {                                                                                                        \
        text, sizeof(text) - 1                                                                               \
    }

static struct nt_error error;

enum { MUONS, ITEM, PT, PHI, MET, TRACK = 10 };

static const struct nt_field fields[] = {
    {.id = 0, .parent = NT_NONE, .name = NAME("muons"), .kind = NT_FIELD_COLLECTION},
    {.id = 1, .parent = MUONS, .name = NAME("_0"), .kind = NT_FIELD_RECORD},
    {.id = 2, .parent = ITEM, .name = NAME("pt"), .kind = NT_FIELD_VALUE},
    {.id = 3, .parent = ITEM, .name = NAME("phi"), .kind = NT_FIELD_VALUE},
    {.id = 4, .parent = NT_NONE, .name = NAME("MET_pt"), .kind = NT_FIELD_VALUE},
    {.id = 5, .parent = NT_NONE, .name = NAME("MET_phi"), .kind = NT_FIELD_VALUE},
    {.id = 6, .parent = NT_NONE, .name = NAME("M*"), .kind = NT_FIELD_VALUE},
    {.id = 7, .parent = NT_NONE, .name = NAME("x[n]"), .kind = NT_FIELD_VALUE},
    {.id = 8, .parent = NT_NONE, .name = NAME("y.z"), .kind = NT_FIELD_VALUE},
    {.id = 9, .parent = NT_NONE, .name = NAME("a/b"), .kind = NT_FIELD_VALUE},
    {.id = 10, .parent = NT_NONE, .name = NAME("track."), .kind = NT_FIELD_RECORD},
    {.id = 11, .parent = TRACK, .name = NAME("track.phi"), .kind = NT_FIELD_VALUE},
    {.id = 12, .parent = TRACK, .name = NAME("phi"), .kind = NT_FIELD_VALUE},
};

/* A file with one dataset, "Events". */
static struct nt_file *build(void)
{
    struct nt_file *file = BUILD_FIELDS(fields);
    file->datasets[0]->name = nt_text_of("Events");
    file->datasets[0]->is_newest_cycle = true;
    file->datasets[0]->attribute_of = NT_NONE;
    assert_ok(nt_dataset_link(file->datasets[0], &error));
    return file;
}

/* "2 3|rest"; "-" is the dataset. */
static void describe(const struct nt_matches *matches, char *text, size_t bytes)
{
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < matches->count; i++) {
        uint32_t field = matches->items[i].field;
        length += (size_t)(field == NT_NONE ? snprintf(text + length, bytes - length, "- ")
                                            : snprintf(text + length, bytes - length, "%u ", field));
    }
    snprintf(text + length, bytes - length, "|%s", matches->count ? matches->rest : "");
}

static const struct meaning {
    const char *name, *meaning;
} meanings[] = {
    {"MET_pt", "4 |"},
    {"Events/MET_pt", "4 |"},
    {"Events", "- |"},
    {"E*s", "- |"},
    {"E*s/MET_p?", "4 |"},
    {"MET_p*", "4 5 |"},
    {"MET_p[th]*", "4 5 |"},
    {"M*", "6 |"}, /* a name comes before a pattern */
    {"MET*", "4 5 |"},
    {"x[n]", "7 |"},
    {"?[n]", "|"},
    {"muons/_0/pt", "2 |"},
    {"muons/pt", "2 |"},
    {"muons._0.pt", "2 |"},
    {"muons.pt", "2 |"},
    {"muons/*", "1 |"}, /* the item comes before its members */
    {"muons/p*", "2 3 |"},
    {"muons/_0/p*", "2 3 |"},
    {"**/pt", "2 |"},
    {"**/p*", "2 3 12 |"},
    {"muons/**", "0 1 2 3 |"},
    {"muons/**/phi", "3 |"},
    {"y%2Ez", "8 |"},
    {"y.z", "8 |"},
    {"y.*", "8 |"},
    {"a%2Fb", "9 |"},
    {"a%2F?", "9 |"},
    {"MET%2A", "|"}, /* an encoded star is no pattern */
    {"MET_pt/data.bin", "4 |data.bin"},
    {"MET_*/column.0/column.json", "4 5 |column.0/column.json"},
    {"muons/p*/data.bin", "2 3 |data.bin"},
    {"schema.txt", "- |schema.txt"},
    {"pt", "2 |"}, /* at any depth */
    {"_0/pt", "2 |"},
    {"pt/data.bin", "2 |data.bin"},
    {"p?", "2 |"},
    {"ph*", "3 12 |"},
    {"phi", "|"}, /* two fields */
    {"track.phi", "11 |"},
    {"track./phi", "12 |"},
};

TEST(a_name_means_what_comes_first, .end = LENGTH(meanings))
{
    struct nt_file *file = build();
    struct nt_matches matches;
    char text[128];
    const struct nt_name_scope scope = {file, 0, NULL, NT_NONE};
    bool has_files = strchr(meanings[_i].meaning, '.') != NULL;
    assert_ok(nt_name_match(&scope, meanings[_i].name, has_files, &matches, &error));
    describe(&matches, text, sizeof(text));
    ck_assert_str_eq(text, meanings[_i].meaning);
    nt_matches_deinit(&matches);
    nt_file_close(file);
}

TEST(a_pattern_counts_all_fields_and_stores_some)
{
    struct nt_file *file = build();
    uint32_t found[2] = {99, 99}, count = 0;
    assert_ok(nt_dataset_match(file->datasets[0], "MET_*", found, 1, &count, &error));
    ck_assert_uint_eq(count, 2);
    ck_assert_uint_eq(found[0], MET);
    ck_assert_uint_eq(found[1], 99);
    assert_ok(nt_dataset_match(file->datasets[0], "muons/_0/pt", found, 2, &count, &error));
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(found[0], PT);
    ck_assert_int_eq(nt_dataset_match(file->datasets[0], "none*", found, 2, &count, &error), NT_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(error.message, "no field that matches 'none*'"));
    nt_file_close(file);
}

static const struct similar {
    const char *name, *suggestion;
} similars[] = {
    {"MET_ptt", ": did you mean MET_pt?"},
    {"met_PT", ": did you mean MET_pt?"},
    {"events/MET_pt", ": did you mean Events/MET_pt?"},
    {"event", ": did you mean Events?"},
    {"muons/_0/ptt", ": did you mean muons/_0/pt?"},
    {"phi", ": did you mean muons/_0/phi, or '**/phi' (2 fields)?"},
    {"track.ph", ": did you mean track./track.phi?"},
    {"muon", ": did you mean muons?"},
    {"ET_", ": did you mean '*ET_*' (2 fields)?"},
    {"met_*", ": did you mean MET_pt?"},
    {"EVENTS/muon*", ": did you mean Events/muons?"},
    {"MET_?", "; the dataset is Events"},
    {"electrons", "; the dataset is Events"},
};

TEST(a_similar_name_is_suggested, .end = LENGTH(similars))
{
    struct nt_file *file = build();
    struct nt_buffer text = {0};
    nt_name_suggest(&(struct nt_name_scope){file, 0, NULL, NT_NONE}, "", similars[_i].name, &text);
    ck_assert_str_eq(nt_buffer_string(&text), similars[_i].suggestion);
    nt_buffer_deinit(&text);
    nt_file_close(file);
}

/* What a name means if only a dataset can be meant. */
static const struct similar similar_datasets[] = {
    {"event", ": did you mean Events?"},
    {"MET_pt", ": find the dataset Events, then its field MET_pt"},
    {"Events/MET_pt", ": find the dataset Events, then its field MET_pt"},
    {"muons/pt", ": find the dataset Events, then its field muons/_0/pt"},
    {"pt", ": find the dataset Events, then its field muons/_0/pt"},
    {"MET_ptt", "; the dataset is Events"},
    {"phi", "; the dataset is Events"}, /* two fields */
    {"ev*", ": did you mean Events?"},
    {"electrons", "; the dataset is Events"},
};

TEST(a_similar_dataset_is_suggested_and_never_the_name_itself, .end = LENGTH(similar_datasets))
{
    struct nt_file *file = build();
    struct nt_dataset *dataset;
    char message[256];
    snprintf(message, sizeof(message), "%s: has no dataset '%s'%s", nt_file_path(file),
             similar_datasets[_i].name, similar_datasets[_i].suggestion);
    ck_assert_int_eq(nt_file_find(file, similar_datasets[_i].name, &dataset, &error), NT_NOT_FOUND);
    ck_assert_str_eq(error.message, message);
    nt_file_close(file);
}

TEST(a_name_in_several_datasets_needs_one_of_them)
{
    struct nt_file *file = build();
    struct nt_dataset *other;
    struct nt_matches matches;
    assert_ok(nt_file_add_dataset(file, &other, &error));
    other->fields = nt_arena_alloc(other->arena, 1, sizeof(*fields));
    other->fields[0] = fields[MET];
    other->field_count = 1;
    other->name = nt_text_of("Runs");
    other->is_newest_cycle = true;
    other->attribute_of = NT_NONE;
    other->fields[0].id = 0;
    assert_ok(nt_dataset_link(other, &error));
    const struct nt_name_scope scope = {file, 0, NULL, NT_NONE};
    ck_assert_int_eq(nt_name_match(&scope, "MET_pt", true, &matches, &error), NT_INVALID);
    ck_assert_ptr_nonnull(strstr(error.message, "Events, Runs"));
    struct nt_buffer text = {0};
    nt_name_suggest(&scope, "", "electrons", &text);
    ck_assert_str_eq(nt_buffer_string(&text), "; the datasets are Events, Runs");
    nt_buffer_deinit(&text);
    ck_assert_int_eq(nt_file_find(file, "MET_pt", &other, &error), NT_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(error.message, "has no dataset 'MET_pt'; the datasets are Events, Runs"));
    assert_ok(nt_name_match(&scope, "MET_phi", true, &matches, &error));
    ck_assert_uint_eq(matches.count, 1);
    nt_matches_deinit(&matches);
    assert_ok(nt_name_match(&scope, "Runs/MET_pt", true, &matches, &error));
    ck_assert_uint_eq(matches.count, 1);
    ck_assert_uint_eq(matches.items[0].dataset, 1);
    nt_matches_deinit(&matches);
    nt_file_close(file);
}
