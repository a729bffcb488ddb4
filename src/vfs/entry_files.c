/* SPDX-License-Identifier: MIT
 *
 * rows.d/<n>.json of a data set: one entry by its number.
 */
#include "vfs/pseudo.h"
#include "vfs/short_texts.h"
#include "render/row_lines.h"

/* One line, made at once. */
static enum nt_status entry_text(const struct nt_scope *scope, struct nt_long_text **text_ret,
                                 struct nt_error *error)
{
    return nt_rows_lines(scope->vfs->reader, scope->dataset, NT_NONE, scope->node.number,
                         scope->node.number + 1, text_ret, error);
}

const struct nt_pseudo nt_entry_file = {".json", NT_VFS_UNSIZED, .open_text = entry_text,
                                        .is_short = nt_entry_is_short};

/* ---- entries of a data set, by number: too many to be listed ---- */

static enum nt_status entries_next(const struct nt_scope *directory, uint64_t *index,
                                   struct nt_dir_entry *listed, struct nt_error *error)
{
    (void)directory, (void)index, (void)listed;
    return nt_no_such_file(error);
}

static enum nt_status entries_find(const struct nt_scope *directory, const char *name, uint64_t *node_ret,
                                   struct nt_error *error)
{
    struct nt_node node = {.level = NT_LEVEL_ENTRY, .slot = directory->node.slot};
    struct nt_scope complete = *directory;
    if (!nt_parse_between(name, "", nt_entry_file.name, &node.number))
        return nt_no_such_file(error);
    enum nt_status status = nt_scope_complete(&complete, true, error);
    if (status == NT_OK &&
        (node.number >= nt_dataset_entries(complete.dataset) || !nt_node_pack(&node, node_ret)))
        return nt_no_such_file(error);
    return status;
}

const struct nt_section nt_section_entries = {.next = entries_next, .find = entries_find};
