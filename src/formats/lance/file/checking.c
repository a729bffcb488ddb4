/* SPDX-License-Identifier: MIT
 *
 * In: an open file. Out: the repetition indexes that contradict the levels of their chunks: other readers find rows by
 * them. Here few are needed for decoding, which notices no more of them than it needs.
 */
#include "formats/lance/file/checking.h"

#include <inttypes.h>
#include <stdlib.h>

#include "formats/lance/file/reading.h"

/* One column of the file, as a field uses it. */
struct checking {
    struct nt_filling filling;
    nt_failure_emit *emit;
    void *context;
};

/* Chunk after chunk, up to the first that cannot be decoded, of which who decodes it tells. */
static enum nt_status check_chunks(struct nt_filling *filling, struct nt_lance_opened *opened, bool *is_wrong)
{
    const struct nt_tree *tree = opened->layout.tree;
    enum nt_status status = NT_OK;
    while (status == NT_OK && opened->next_unit < opened->unit_count) {
        uint64_t chunk = opened->next_unit;
        struct nt_lance_unit unit;
        struct nt_tree_counts counts;
        status = nt_lance_next_unit(opened, &unit, filling->error);
        if (status == NT_OK)
            status = nt_lance_count_unit(filling, opened, &unit, false, &counts);
        if (status != NT_OK || counts.slots[0] != unit.values)
            return status;
        status = nt_lance_row_index_check(&opened->index, tree, chunk, &counts, filling->error);
        *is_wrong = status != NT_OK;
    }
    return status;
}

static enum nt_status check_page(struct checking *checking, uint32_t number)
{
    struct nt_filling *filling = &checking->filling;
    uint32_t column = filling->use->column;
    struct nt_lance_opened opened;
    bool is_wrong = false;
    enum nt_status status =
        nt_lance_open_page(filling->dataset, filling->lance, &filling->lance->columns[column].pages[number],
                           filling->use, NULL, &opened, filling->error);
    if (status == NT_OK)
        status = nt_lance_row_index_open(filling->lance->source, opened.page, &opened.layout,
                                         opened.unit_count, &opened.index, filling->error);
    is_wrong = status == NT_CORRUPT;
    if (status == NT_OK && opened.index.entries)
        status = check_chunks(filling, &opened, &is_wrong);
    nt_lance_close_page(&opened);
    if (is_wrong) {
        nt_error_context(filling->error, "column %" PRIu32 " of the file: page %" PRIu32, column, number);
        checking->emit(checking->context, filling->error);
    }
    return nt_is_machine_failure(status) ? status : NT_OK;
}

static enum nt_status check_column(struct checking *checking)
{
    struct nt_filling *filling = &checking->filling;
    uint32_t pages = filling->lance->columns[filling->use->column].page_count;
    enum nt_status status = NT_OK;
    filling->context = nt_codec_context_new();
    if (!filling->context)
        status = nt_fail_memory(filling->error);
    for (uint32_t i = 0; status == NT_OK && i < pages; i++)
        status = check_page(checking, i);
    nt_filling_deinit(filling);
    return status;
}

static bool has_page_list(struct nt_dataset *dataset, uint32_t field)
{
    uint32_t group = dataset->field_groups[field];
    return group == NT_NONE || nt_dataset_load_group(dataset, group, NULL) == NT_OK;
}

/* Of the fields that use a column, one: NT_NONE where the page list of one of them has failed, of which was told. */
static enum nt_status find_users(struct nt_dataset *dataset, uint32_t **users_ret, struct nt_error *error)
{
    const struct nt_lance *lance = nt_lance_of(dataset);
    uint32_t *users = malloc(((size_t)lance->tail.columns + 1) * sizeof(*users));
    bool *has_failed = calloc((size_t)lance->tail.columns + 1, sizeof(*has_failed));
    *users_ret = users;
    for (uint32_t i = 0; users && i < lance->tail.columns; i++)
        users[i] = NT_NONE;
    for (uint32_t i = 0; users && has_failed && i < dataset->field_count; i++) {
        uint32_t column = nt_lance_use_in(lance, i).column;
        if (column == NT_NONE || dataset->fields[i].unreadable)
            continue;
        has_failed[column] = has_failed[column] || !has_page_list(dataset, i);
        users[column] = has_failed[column] ? NT_NONE : i;
    }
    enum nt_status status = users && has_failed ? NT_OK : nt_fail_memory(error);
    free(has_failed);
    return status;
}

enum nt_status nt_lance_check(const struct nt_file *file, nt_failure_emit *emit, void *context,
                              struct nt_error *error)
{
    struct nt_dataset *dataset = file->datasets[0];
    const struct nt_lance *lance = nt_lance_of(dataset);
    struct nt_error failure = {0};
    uint32_t *users;
    if (!dataset->field_groups) /* without rows */
        return NT_OK;
    enum nt_status status = find_users(dataset, &users, &failure);
    for (uint32_t i = 0; status == NT_OK && i < lance->tail.columns; i++) {
        if (users[i] == NT_NONE)
            continue;
        const struct nt_lance_use use = nt_lance_use_in(lance, users[i]);
        struct checking checking = {.emit = emit, .context = context};
        checking.filling = (struct nt_filling){.dataset = dataset,
                                               .number = users[i],
                                               .field = &dataset->fields[users[i]],
                                               .lance = lance,
                                               .use = &use,
                                               .error = &failure};
        status = check_column(&checking);
    }
    free(users);
    return status == NT_OK ? NT_OK : nt_fail_with(error, &failure);
}
