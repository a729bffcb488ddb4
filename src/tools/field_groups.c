/* SPDX-License-Identifier: MIT
 *
 * Groups top-level fields by a common prefix of their names (Jet_pt, Jet_eta) or by ranges of the
 * numbers at their ends (x10, x11).
 */
#include "tools/tools.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/model/model.h"

enum { MANY_FIELDS = 24, MAX_LETTERS = 3, MAX_DIGITS = 18 };

/* How to split names into a grouping prefix and the rest. */
struct cut {
    const struct nt_dataset *dataset;
    size_t common;  /* length of the prefix of all names */
    size_t letters; /* letters after it; 0: up to a mark */
    uint64_t range; /* if not 0: how many consecutive numbers form a group */
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

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* The length of a name's grouping prefix; all of the name without a mark. */
static size_t prefix_bytes(const struct cut *cut, const struct nt_text *name)
{
    size_t at = cut->common;
    if (cut->letters)
        return name->length < at + cut->letters ? name->length : at + cut->letters;
    while (at < name->length && (at == 0 || !is_mark(name->bytes[at])))
        at++;
    return at < name->length ? at + 1 : name->length;
}

/* Requires that only digits follow the common prefix, and not too many. */
static uint64_t number_of(const struct cut *cut, uint32_t field)
{
    const struct nt_text *name = &cut->dataset->fields[field].name;
    uint64_t number = 0;
    for (size_t i = cut->common; i < name->length; i++)
        number = 10 * number + (uint64_t)(name->bytes[i] - '0');
    return number;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_prefixes(const struct cut *cut, uint32_t left, uint32_t right)
{
    if (cut->range)
        return compare_numbers(number_of(cut, left) / cut->range, number_of(cut, right) / cut->range);
    const struct nt_text *a = &cut->dataset->fields[left].name, *b = &cut->dataset->fields[right].name;
    size_t a_bytes = prefix_bytes(cut, a), b_bytes = prefix_bytes(cut, b);
    int order = memcmp(a->bytes, b->bytes, a_bytes < b_bytes ? a_bytes : b_bytes);
    return order ? order : (a_bytes > b_bytes) - (a_bytes < b_bytes);
}

static int compare_members(const void *left, const void *right, void *context)
{
    const struct cut *cut = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    int order = compare_prefixes(cut, a, b);
    if (order == 0 && cut->range)
        order = compare_numbers(number_of(cut, a), number_of(cut, b));
    return order ? order : (a > b) - (a < b);
}

static int compare_groups(const void *left, const void *right, void *members)
{
    const uint32_t *fields = members;
    uint32_t a = fields[((const struct nt_field_group *)left)->first];
    uint32_t b = fields[((const struct nt_field_group *)right)->first];
    return (a > b) - (a < b);
}

/* Makes the groups for one way to split; without one, each field is a group. */
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
            group->name.length = cut->range ? cut->common : prefix_bytes(cut, name);
            group->to = cut->range ? *name : group->to;
        } else {
            groups->items[groups->count++] =
                (struct nt_field_group){.name = *name, .from = *name, .first = i, .count = 1};
        }
    }
    qsort_r(groups->items, groups->count, sizeof(*groups->items), compare_groups, groups->members);
}

/* Matches "x1" to "x2000": only a number follows the common prefix. */
static bool is_numbered(struct cut *cut, uint64_t *min_ret, uint64_t *max_ret)
{
    const struct nt_dataset *dataset = cut->dataset;
    const char *first = dataset->fields[dataset->children[0]].name.bytes;
    size_t common = cut->common;
    while (common > 0 && is_digit(first[common - 1]))
        common--;
    *min_ret = UINT64_MAX;
    *max_ret = 0;
    for (uint32_t i = 0; i < dataset->top_count; i++) {
        const struct nt_text *name = &dataset->fields[dataset->children[i]].name;
        if (name->length == common || name->length - common > MAX_DIGITS)
            return false;
        for (size_t k = common; k < name->length; k++)
            if (!is_digit(name->bytes[k]))
                return false;
        struct cut numbers = {.dataset = dataset, .common = common};
        uint64_t number = number_of(&numbers, dataset->children[i]);
        *min_ret = number < *min_ret ? number : *min_ret;
        *max_ret = number > *max_ret ? number : *max_ret;
    }
    cut->common = common;
    return true;
}

static void group_by_numbers(struct nt_field_groups *groups, const struct nt_dataset *dataset,
                             struct cut *cut, uint64_t least, uint64_t most)
{
    for (cut->range = 10; most / cut->range - least / cut->range >= MANY_FIELDS;)
        cut->range *= 10;
    make_groups(groups, dataset, cut);
}

/* Names without marks, "abc" to "xyz": the more letters the better, as long as there are few groups. */
static void group_by_letters(struct nt_field_groups *groups, const struct nt_dataset *dataset,
                             struct cut *cut)
{
    for (cut->letters = MAX_LETTERS; cut->letters > 0; cut->letters--) {
        make_groups(groups, dataset, cut);
        if (groups->count <= MANY_FIELDS)
            return;
    }
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
    if (groups->count < dataset->top_count)
        return;
    uint64_t least, most;
    if (is_numbered(&cut, &least, &most))
        group_by_numbers(groups, dataset, &cut, least, most);
    else
        group_by_letters(groups, dataset, &cut);
}

static uint32_t top_field(const struct nt_dataset *dataset, uint32_t field)
{
    while (dataset->fields[field].parent != NT_NONE)
        field = dataset->fields[field].parent;
    return field;
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
    enum nt_status status = nt_shown_fields(dataset, &groups->shown, error);
    for (uint32_t i = 0; status == NT_OK && i < dataset->field_count; i++)
        if (dataset->fields[i].parent != NT_NONE)
            groups->of_field[i] = groups->of_field[top_field(dataset, i)];
    for (uint32_t i = 0; status == NT_OK && i < dataset->field_count; i++)
        if (groups->shown[i] != i)
            groups->of_field[i] = groups->of_field[groups->shown[i]];
    return status;
}

void nt_field_groups_deinit(struct nt_field_groups *groups)
{
    free(groups->items);
    free(groups->members);
    free(groups->of_field);
    free(groups->shown);
}

void nt_append_field_group(struct nt_buffer *out, const struct nt_field_group *group)
{
    bool is_range = group->to.length > 0;
    const struct nt_text *name = is_range ? &group->from : &group->name;
    nt_svg_append_name(out, name->bytes, name->length);
    if (is_range) {
        nt_buffer_text(out, " \u2026 ");
        nt_svg_append_name(out, group->to.bytes + group->name.length, group->to.length - group->name.length);
    }
    if (group->count > 1)
        nt_buffer_format(out, "%s (%" PRIu32 " fields)", is_range ? "" : "*", group->count);
}
