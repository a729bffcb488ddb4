/* SPDX-License-Identifier: MIT
 *
 * In: the names of top-level fields. Out: groups by what stands before the first mark behind what is common to
 * all of them; where there is no such mark, by as many letters as give a number of groups that can be shown.
 */
#include "view/field_groups.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "view/svg.h"

enum { MANY_FIELDS = 24, MOST_LETTERS = 3 };

/* How names are cut into what groups them and the rest. */
struct cut {
    const struct nt_dataset *dataset;
    size_t common;  /* bytes that all names begin with */
    size_t letters; /* behind them; 0: up to a mark */
};

static size_t common_bytes(const struct nt_dataset *dataset)
{
    const struct nt_text *first = &dataset->fields[dataset->children[0]].name;
    size_t common = first->length;
    for (uint32_t i = 1; i < dataset->top_count; i++) {
        const struct nt_text *name = &dataset->fields[dataset->children[i]].name;
        size_t same = 0;
        while (same < common && same < name->length && name->bytes[same] == first->bytes[same])
            same++;
        common = same;
    }
    return common;
}

static bool is_mark(char byte)
{
    return memchr("_.:/-", byte, 5) != NULL;
}

/* The bytes that group a name; all of it where there is no mark. */
static size_t prefix_bytes(const struct cut *cut, const struct nt_text *name)
{
    size_t at = cut->common;
    if (cut->letters)
        return name->length < at + cut->letters ? name->length : at + cut->letters;
    while (at < name->length && (at == 0 || !is_mark(name->bytes[at])))
        at++;
    return at < name->length ? at + 1 : name->length;
}

static int compare_prefixes(const struct cut *cut, uint32_t left, uint32_t right)
{
    const struct nt_text *a = &cut->dataset->fields[left].name, *b = &cut->dataset->fields[right].name;
    size_t a_bytes = prefix_bytes(cut, a), b_bytes = prefix_bytes(cut, b);
    int order = memcmp(a->bytes, b->bytes, a_bytes < b_bytes ? a_bytes : b_bytes);
    return order ? order : (a_bytes > b_bytes) - (a_bytes < b_bytes);
}

static int compare_members(const void *left, const void *right, void *cut)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    int order = compare_prefixes(cut, a, b);
    return order ? order : (a > b) - (a < b);
}

static int compare_groups(const void *left, const void *right, void *members)
{
    const uint32_t *fields = members;
    uint32_t a = fields[((const struct nt_field_group *)left)->first];
    uint32_t b = fields[((const struct nt_field_group *)right)->first];
    return (a > b) - (a < b);
}

/* The groups of one way to cut; without a cut each field is one. */
static void make_groups(struct nt_field_groups *groups, const struct nt_dataset *dataset, struct cut *cut)
{
    groups->count = 0;
    for (uint32_t i = 0; i < dataset->top_count; i++)
        groups->members[i] = dataset->children[i];
    if (cut)
        qsort_r(groups->members, dataset->top_count, sizeof(uint32_t), compare_members, cut);
    for (uint32_t i = 0; i < dataset->top_count; i++) {
        const struct nt_text *name = &dataset->fields[groups->members[i]].name;
        if (cut && i && compare_prefixes(cut, groups->members[i - 1], groups->members[i]) == 0) {
            struct nt_field_group *group = &groups->items[groups->count - 1];
            group->count++;
            group->name.length = prefix_bytes(cut, name);
        } else {
            groups->items[groups->count++] = (struct nt_field_group){*name, i, 1};
        }
    }
    qsort_r(groups->items, groups->count, sizeof(*groups->items), compare_groups, groups->members);
}

/* Names without marks, "field_1" to "field_2000": the more letters the better, as long as the groups are few. */
static void group_by_letters(struct nt_field_groups *groups, const struct nt_dataset *dataset,
                             struct cut *cut)
{
    for (cut->letters = MOST_LETTERS; cut->letters > 0; cut->letters--) {
        make_groups(groups, dataset, cut);
        if (groups->count <= MANY_FIELDS)
            return;
    }
    cut->letters = 1;
}

static void find_groups(struct nt_field_groups *groups, const struct nt_dataset *dataset)
{
    struct cut cut = {.dataset = dataset};
    if (dataset->top_count <= MANY_FIELDS) {
        make_groups(groups, dataset, NULL);
        return;
    }
    cut.common = common_bytes(dataset);
    make_groups(groups, dataset, &cut);
    if (groups->count == dataset->top_count)
        group_by_letters(groups, dataset, &cut);
}

enum nt_status nt_field_groups_init(struct nt_field_groups *groups, const struct nt_dataset *dataset,
                                    struct nt_error *error)
{
    uint32_t top_count = dataset->failure ? 0 : dataset->top_count;
    *groups = (struct nt_field_groups){
        .items = calloc((size_t)top_count + 1, sizeof(*groups->items)),
        .members = calloc((size_t)top_count + 1, sizeof(uint32_t)),
        .of_field = calloc((size_t)dataset->field_count + 1, sizeof(uint32_t)),
    };
    if (!groups->items || !groups->members || !groups->of_field)
        return nt_fail_memory(error);
    if (top_count == 0)
        return NT_OK;
    find_groups(groups, dataset);
    for (uint32_t i = 0; i < groups->count; i++)
        for (uint32_t k = 0; k < groups->items[i].count; k++)
            groups->of_field[groups->members[groups->items[i].first + k]] = i;
    for (uint32_t i = 0; i < dataset->field_count; i++)
        groups->of_field[i] = groups->of_field[nt_top_field(dataset, i)];
    return NT_OK;
}

void nt_field_groups_deinit(struct nt_field_groups *groups)
{
    free(groups->items);
    free(groups->members);
    free(groups->of_field);
}

void nt_append_field_group(struct nt_buffer *out, const struct nt_field_group *group)
{
    nt_svg_append_name(out, group->name.bytes, group->name.length);
    if (group->count > 1)
        nt_buffer_format(out, "* (%" PRIu32 " fields)", group->count);
}
