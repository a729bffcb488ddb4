/* SPDX-License-Identifier: MIT
 *
 * Packs node numbers and resolves them to the open file, dataset, field, column or page that they
 * encode, with checks against stale numbers; and maps nodes back to names and paths.
 */
#include "vfs/vfs.h"

/* ---- Pack and unpack numbers ---- */

enum { LEVEL_SHIFT = 60, PARTS = 4 };

/* Bits of owner, item, number and file; together at most 60. */
static const uint8_t widths[NT_NODE_TYPES][PARTS] = {
    [NT_NODE_INODE] = {20, 16, 12, 12},   [NT_NODE_MOUNT] = {0, 0, 0, 12},
    [NT_NODE_DATASET] = {16, 0, 32, 12},  [NT_NODE_FIELD] = {16, 24, 0, 12},
    [NT_NODE_COLUMN] = {16, 24, 0, 12},   [NT_NODE_PAGE_RAW] = {16, 20, 24, 0},
    [NT_NODE_PAGE_BIN] = {16, 20, 24, 0}, [NT_NODE_PAGE_FILE] = {16, 19, 20, 5},
    [NT_NODE_ENTRY] = {16, 0, 44, 0},     [NT_NODE_BLOB] = {16, 14, 30, 0},
    [NT_NODE_VERSION] = {16, 0, 44, 0},
};

bool nt_node_pack(const struct nt_node *node, uint64_t *number_ret)
{
    const uint64_t parts[PARTS] = {node->owner, node->item, node->number, node->file};
    uint64_t number = 0;
    for (int i = 0; i < PARTS; i++) {
        unsigned width = widths[node->type][i];
        if (parts[i] >> width)
            return false;
        number = number << width | parts[i];
    }
    *number_ret = (uint64_t)node->type << LEVEL_SHIFT | number;
    return true;
}

bool nt_node_unpack(uint64_t number, struct nt_node *node)
{
    uint64_t level = number >> LEVEL_SHIFT, parts[PARTS];
    if (level >= NT_NODE_TYPES)
        return false;
    number &= (UINT64_C(1) << LEVEL_SHIFT) - 1;
    for (int i = PARTS - 1; i >= 0; i--) {
        unsigned width = widths[level][i];
        parts[i] = number & ((UINT64_C(1) << width) - 1);
        number >>= width;
    }
    *node = (struct nt_node){(enum nt_node_type)level, (uint32_t)parts[0], (uint32_t)parts[1],
                             (uint32_t)parts[3], parts[2]};
    return number == 0 && (widths[level][PARTS - 1] == 0 || node->file >= NT_NODE_SELF);
}

uint64_t nt_node_number(enum nt_node_type level, uint32_t dataset_id, uint32_t item, uint32_t file)
{
    struct nt_node node = {.type = level, .owner = dataset_id, .item = item, .file = file};
    uint64_t number = 0;
    return nt_node_pack(&node, &number) ? number : 0;
}

/* ---- Resolved nodes ---- */

void nt_node_release(struct nt_resolved_node *resolved)
{
    nt_inodes_release(resolved->vfs->inodes, resolved->opened);
    resolved->opened = NULL;
}

enum nt_status nt_node_resolve_stub(struct nt_resolved_node *resolved, bool may_block, struct nt_error *error)
{
    struct nt_file *file = resolved->file;
    if (!file || !file->resolve || (resolved->dataset && resolved->dataset->failure))
        return NT_OK;
    if (!may_block && !nt_file_is_resolved(file))
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "not all files of the chain are open");
    NT_TRY(nt_file_resolve(file, &file, error));
    struct nt_dataset *dataset = resolved->dataset;
    if (dataset)
        dataset = file->datasets[dataset->index];
    if (dataset && dataset->failure)
        return nt_fail_copy(error, dataset->failure);
    resolved->file = file;
    resolved->dataset = dataset;
    return NT_OK;
}

bool nt_node_is_volatile(const struct nt_resolved_node *resolved)
{
    return resolved->node.type == NT_NODE_MOUNT || resolved->inode_kind == NT_INODE_FAILED ||
           (resolved->document && resolved->document->changes);
}

enum nt_status nt_node_check_caller(const struct nt_resolved_node *resolved, struct nt_error *error)
{
    const struct nt_vfs_caller *caller = resolved->caller;
    if (caller && caller->is_gone(caller->context))
        return nt_fail(error, NT_CANCELED, NT_NO_OFFSET, "the caller interrupted the request");
    return NT_OK;
}

enum nt_status nt_node_wait(const struct nt_resolved_node *resolved, pthread_cond_t *condition,
                            pthread_mutex_t *lock, struct nt_error *error)
{
    const struct timespec until = nt_timespec(nt_nanoseconds() + 100 * NT_MILLISECOND);
    pthread_cond_timedwait(condition, lock, &until);
    return nt_node_check_caller(resolved, error);
}

uint64_t nt_node_of_field(const struct nt_resolved_node *resolved, uint32_t field)
{
    return nt_node_number(NT_NODE_FIELD, resolved->opened->first_dataset_id + resolved->dataset->index, field,
                          NT_NODE_SELF);
}

uint64_t nt_node_of_column(const struct nt_resolved_node *resolved, uint32_t column)
{
    return nt_node_number(NT_NODE_COLUMN, resolved->opened->first_dataset_id + resolved->dataset->index,
                          column, NT_NODE_SELF);
}

enum nt_status nt_node_need_lists(const struct nt_resolved_node *resolved, struct nt_dataset *dataset,
                                  uint32_t column, bool may_block, struct nt_error *error)
{
    uint32_t field = resolved->field;
    const struct nt_groups groups =
        column != NT_NONE ? nt_groups_of_column(dataset, column) : nt_groups_of_field(dataset, field);
    if (nt_groups_are_loaded(dataset, groups))
        return NT_OK;
    if (!may_block)
        return nt_fail_unknown_size(error);
    nt_field_is_sized(resolved->vfs->reader, dataset, field);
    return NT_OK;
}

void nt_vfs_before_blocking(void *context)
{
    const struct nt_vfs *vfs = context;
    if (vfs->options.before_blocking)
        vfs->options.before_blocking(vfs->options.context);
}

/* ---- Resolve numbers and paths ---- */

/* Nodes of a file that no longer opens fail like the file. */
static enum nt_status failed_inode(const struct nt_resolved_node *resolved, struct nt_error *error)
{
    bool is_failed = resolved->inode_kind == NT_INODE_FAILED || resolved->inode_kind == NT_INODE_STALE;
    return is_failed ? nt_inodes_failure(resolved->vfs->inodes, resolved->inode, error)
                     : nt_fail_no_such_file(error);
}

static enum nt_status open_document(struct nt_resolved_node *resolved, struct nt_error *error)
{
    uint32_t count, index = resolved->node.file - NT_NODE_FIRST_DOCUMENT;
    const struct nt_document *documents = nt_node_documents(resolved, &count);
    if (index >= count || resolved->node.number >= nt_document_count(resolved, &documents[index]))
        return nt_fail_no_such_file(error);
    resolved->document = &documents[index];
    resolved->pseudo = resolved->document->write ? &nt_generated_document : &nt_streamed_document;
    return NT_OK;
}

/* Resolves the file that the node names in the level's directory, if it is not that directory. */
static enum nt_status open_row(struct nt_resolved_node *resolved, struct nt_error *error)
{
    if (resolved->node.file >= NT_NODE_FIRST_DOCUMENT)
        return open_document(resolved, error);
    if (resolved->node.number)
        return nt_fail_no_such_file(error);
    if (resolved->node.file == NT_NODE_SELF)
        return NT_OK;
    const struct nt_pseudo_table *table = nt_node_files(resolved);
    unsigned row = resolved->node.file - NT_NODE_FIRST_FILE;
    if (row >= table->count)
        return nt_fail_no_such_file(error);
    resolved->pseudo = &table->rows[row];
    if (resolved->pseudo->exists && !resolved->pseudo->exists(resolved, resolved->pseudo->parameter))
        return nt_fail_no_such_file(error);
    return NT_OK;
}

static enum nt_status resolve_inode(struct nt_resolved_node *resolved, struct nt_error *error)
{
    resolved->inode_kind =
        nt_inodes_acquire(resolved->vfs->inodes, resolved->node.owner, &resolved->inode, &resolved->opened);
    resolved->file = resolved->opened ? resolved->opened->file : NULL;
    if (resolved->inode_kind == NT_INODE_NONE)
        return nt_fail_no_such_file(error);
    /* Gone inodes and temporary failures (no memory) show nothing. Others show their error. */
    if (resolved->inode_kind == NT_INODE_STALE ||
        (resolved->inode_kind == NT_INODE_FAILED &&
         nt_is_transient(nt_inodes_failure(resolved->vfs->inodes, resolved->inode, NULL))))
        return failed_inode(resolved, error);
    if (resolved->node.item && !resolved->file)
        return failed_inode(resolved, error);
    if (resolved->node.item && resolved->node.item >= resolved->file->directory_count)
        return nt_fail_no_such_file(error);
    return open_row(resolved, error);
}

static enum nt_status open_dataset(struct nt_resolved_node *resolved, struct nt_error *error)
{
    struct nt_dataset_ref found = {0};
    resolved->inode_kind =
        nt_inodes_acquire_dataset(resolved->vfs->inodes, resolved->node.owner, &found, &resolved->opened);
    resolved->inode = found.inode;
    if (!resolved->opened)
        return failed_inode(resolved, error);
    resolved->file = resolved->opened->file;
    if (found.dataset >= resolved->file->dataset_count ||
        resolved->opened->first_dataset_id + found.dataset != resolved->node.owner)
        return nt_fail_no_such_file(error);
    resolved->dataset = resolved->file->datasets[found.dataset];
    return NT_OK;
}

/* For levels below datasets: checks that the dataset is valid and the field index is in range. */
static enum nt_status open_below_dataset(struct nt_resolved_node *resolved, uint32_t field,
                                         struct nt_error *error)
{
    if (resolved->dataset->failure || field >= resolved->dataset->field_count)
        return nt_fail_no_such_file(error);
    resolved->field = field;
    return nt_open_file_field_names(resolved->opened, resolved->dataset->index, &resolved->field_names,
                                    error);
}

/* Column numbers are those of the complete file. */
static enum nt_status open_column(struct nt_resolved_node *resolved, struct nt_error *error)
{
    NT_TRY(nt_node_resolve_stub(resolved, true, error));
    NT_TRY(nt_dataset_physical(resolved->dataset, &resolved->dataset, error));
    if (resolved->dataset->failure || resolved->node.item >= resolved->dataset->column_count)
        return nt_fail_no_such_file(error);
    resolved->column = resolved->node.item;
    return open_below_dataset(resolved, resolved->dataset->columns[resolved->column].field, error);
}

static enum nt_status open_page_file(struct nt_resolved_node *resolved, struct nt_error *error)
{
    struct nt_page_file files[NT_PAGE_FILES];
    uint32_t number = resolved->node.file - NT_NODE_SELF, count;
    NT_TRY(open_column(resolved, error));
    NT_TRY(nt_page_files(resolved, resolved->node.number, files, &count, error));
    if (number >= count)
        return nt_fail_no_such_file(error);
    resolved->page_file = files[number];
    resolved->pseudo =
        resolved->page_file.kind == NT_PAGE_FILE_TEXT ? &nt_page_text_file : &nt_page_part_file;
    return NT_OK;
}

static enum nt_status open_entry(struct nt_resolved_node *resolved, struct nt_error *error)
{
    NT_TRY(nt_node_resolve_stub(resolved, true, error));
    if (resolved->dataset->failure || resolved->node.number >= nt_dataset_entries(resolved->dataset))
        return nt_fail_no_such_file(error);
    resolved->pseudo = &nt_entry_file;
    return NT_OK;
}

static enum nt_status open_blob(struct nt_resolved_node *resolved, struct nt_error *error)
{
    NT_TRY(nt_node_resolve_stub(resolved, true, error));
    NT_TRY(open_below_dataset(resolved, resolved->node.item, error));
    if (!nt_field_has_blobs(resolved->dataset, resolved->field))
        return nt_fail_no_such_file(error);
    resolved->pseudo = &nt_blob_file;
    return NT_OK;
}

static enum nt_status open_level(struct nt_resolved_node *resolved, struct nt_error *error)
{
    NT_TRY(open_dataset(resolved, error));
    switch (resolved->node.type) {
    case NT_NODE_DATASET:
        return open_row(resolved, error);
    case NT_NODE_FIELD:
        NT_TRY(open_below_dataset(resolved, resolved->node.item, error));
        return open_row(resolved, error);
    case NT_NODE_COLUMN:
        NT_TRY(open_column(resolved, error));
        return open_row(resolved, error);
    case NT_NODE_PAGE_RAW:
        resolved->pseudo = &nt_page_raw_file;
        return open_column(resolved, error);
    case NT_NODE_PAGE_BIN:
        resolved->pseudo = &nt_page_bin_file;
        return open_column(resolved, error);
    case NT_NODE_PAGE_FILE:
        return open_page_file(resolved, error);
    case NT_NODE_ENTRY:
        return open_entry(resolved, error);
    case NT_NODE_BLOB:
        return open_blob(resolved, error);
    case NT_NODE_VERSION:
        resolved->pseudo = &nt_version_link;
        return NT_OK;
    default:
        return nt_fail_no_such_file(error);
    }
}

enum nt_status nt_node_resolve(struct nt_vfs *vfs, uint64_t number, struct nt_resolved_node *resolved,
                               struct nt_error *error)
{
    *resolved = (struct nt_resolved_node){.vfs = vfs, .number = number, .field = NT_NONE, .column = NT_NONE};
    enum nt_status status;
    if (!nt_node_unpack(number, &resolved->node))
        return nt_fail_no_such_file(error);
    if (resolved->node.type == NT_NODE_MOUNT)
        resolved->pseudo = &nt_mount_directory; /* unless the node is one of its files */
    if (resolved->node.type == NT_NODE_INODE)
        status = resolve_inode(resolved, error);
    else if (resolved->node.type == NT_NODE_MOUNT)
        status = open_row(resolved, error);
    else
        status = open_level(resolved, error);
    if (status != NT_OK)
        nt_node_release(resolved);
    return status;
}

bool nt_node_resolve_unprobed(struct nt_vfs *vfs, uint64_t number, bool may_block,
                              struct nt_resolved_node *resolved, enum nt_status *status_ret,
                              struct nt_error *error)
{
    *resolved = (struct nt_resolved_node){.vfs = vfs, .number = number, .field = NT_NONE, .column = NT_NONE};
    if (!nt_node_unpack(number, &resolved->node) || resolved->node.type != NT_NODE_INODE ||
        resolved->node.item || resolved->node.file != NT_NODE_SELF)
        return false;
    bool is_probed;
    if (!nt_inodes_is_listed(vfs->inodes, resolved->node.owner, &is_probed) || (is_probed && may_block))
        return false;
    resolved->inode = resolved->node.owner;
    resolved->inode_kind = NT_INODE_FILE;
    *status_ret = is_probed
                      ? nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "opening it needs a request to its server")
                      : NT_OK;
    return true;
}

/* ---- Nodes to numbers, names and paths ---- */

static uint64_t dataset_node(const struct nt_resolved_node *resolved, uint32_t index)
{
    return nt_node_number(NT_NODE_DATASET, resolved->opened->first_dataset_id + index, 0, NT_NODE_SELF);
}

/* Levels whose nodes are found by number, in a directory of the table one level up. */
static bool is_numbered(const struct nt_resolved_node *resolved)
{
    return resolved->node.type == NT_NODE_PAGE_RAW || resolved->node.type == NT_NODE_PAGE_BIN ||
           resolved->node.type == NT_NODE_PAGE_FILE || resolved->node.type == NT_NODE_ENTRY ||
           resolved->node.type == NT_NODE_BLOB || resolved->node.type == NT_NODE_VERSION;
}

/* The row of a table with this source of entries. */
static uint32_t file_with(const struct nt_pseudo_table *table, const struct nt_dir_source *dir_source)
{
    unsigned row = 0;
    while (table->rows[row].dir_sources[0] != dir_source)
        row++;
    return NT_NODE_FIRST_FILE + row;
}

static uint64_t directory_of_numbered(const struct nt_resolved_node *resolved)
{
    if (resolved->node.type == NT_NODE_ENTRY)
        return nt_node_number(NT_NODE_DATASET, resolved->node.owner, 0,
                              file_with(&nt_dataset_files, &nt_dir_source_entries));
    if (resolved->node.type == NT_NODE_VERSION)
        return nt_node_number(NT_NODE_DATASET, resolved->node.owner, 0,
                              file_with(&nt_dataset_files, &nt_dir_source_versions));
    if (resolved->node.type == NT_NODE_BLOB)
        return nt_node_number(NT_NODE_FIELD, resolved->node.owner, resolved->field,
                              file_with(&nt_field_files, &nt_dir_source_blobs));
    return nt_node_number(NT_NODE_COLUMN, resolved->node.owner, resolved->column,
                          file_with(&nt_column_files, &nt_dir_source_pages));
}

/* versions.d of the dataset's current version. */
static uint64_t directory_of_versions(const struct nt_resolved_node *resolved)
{
    struct nt_inode_table *inodes = resolved->vfs->inodes;
    uint32_t dataset_id;
    if (nt_inodes_current_dataset_id(inodes, resolved->inode, &dataset_id))
        return nt_node_number(NT_NODE_DATASET, dataset_id, 0,
                              file_with(&nt_dataset_files, &nt_dir_source_versions));
    return nt_node_number(NT_NODE_INODE, nt_inodes_get(inodes, resolved->inode)->parent, 0, NT_NODE_SELF);
}

/* The hidden child that the node's directory is (not one that contains it): the dataset of a version,
 * or the root directory of a chain's file. NULL: none. */
static const struct nt_inode *hidden_child(const struct nt_resolved_node *resolved)
{
    bool is_inode = resolved->node.type == NT_NODE_INODE;
    const struct nt_inode *inode =
        nt_inodes_get(resolved->vfs->inodes, is_inode ? resolved->node.owner : resolved->inode);
    bool is_itself = is_inode || (inode->route == NT_ROUTE_VERSION && resolved->dataset->index == 0);
    return nt_inode_is_hidden(inode) && is_itself ? inode : NULL;
}

/* The parent directory of a hidden child. */
static uint64_t directory_of_hidden(const struct nt_resolved_node *resolved, const struct nt_inode *inode)
{
    return inode->route == NT_ROUTE_VERSION
               ? directory_of_versions(resolved)
               : nt_node_number(NT_NODE_INODE, inode->parent, 0,
                                file_with(&nt_container_files, &nt_dir_source_chain_files));
}

/* A directory of the node's file. */
static uint64_t directory_in_file(const struct nt_resolved_node *resolved, uint32_t item)
{
    uint32_t inode = item ? resolved->inode : nt_inodes_dataset_inode(resolved->vfs->inodes, resolved->inode);
    return nt_node_number(NT_NODE_INODE, inode, item, NT_NODE_SELF);
}

/* The parent of the level's own directory. */
static uint64_t parent_of_directory(const struct nt_resolved_node *resolved)
{
    const struct nt_inode *inner;
    switch (resolved->node.type) {
    case NT_NODE_INODE:
        if (resolved->node.item)
            return directory_in_file(resolved, resolved->file->directories[resolved->node.item].parent);
        if ((inner = hidden_child(resolved)))
            return directory_of_hidden(resolved, inner);
        return nt_node_number(NT_NODE_INODE,
                              nt_inodes_get(resolved->vfs->inodes, resolved->node.owner)->parent, 0,
                              NT_NODE_SELF);
    case NT_NODE_DATASET:
        if (resolved->dataset->attribute_of != NT_NONE)
            return dataset_node(resolved, resolved->dataset->attribute_of);
        inner = hidden_child(resolved);
        return inner ? directory_of_hidden(resolved, inner)
                     : directory_in_file(resolved, resolved->dataset->directory);
    case NT_NODE_FIELD:
        if (resolved->dataset->fields[resolved->field].parent != NT_NONE)
            return nt_node_of_field(resolved, resolved->dataset->fields[resolved->field].parent);
        return dataset_node(resolved, resolved->dataset->index);
    case NT_NODE_COLUMN:
        return nt_node_of_field(resolved, resolved->field);
    default:
        return NT_VFS_ROOT;
    }
}

uint64_t nt_node_directory(const struct nt_resolved_node *resolved)
{
    if (resolved->node.type == NT_NODE_INODE && resolved->node.item == 0)
        return directory_in_file(resolved, 0);
    return nt_node_number(resolved->node.type, resolved->node.owner, resolved->node.item, NT_NODE_SELF);
}

uint64_t nt_node_parent(const struct nt_resolved_node *resolved)
{
    if (is_numbered(resolved))
        return directory_of_numbered(resolved);
    if (resolved->node.file == NT_NODE_SELF)
        return parent_of_directory(resolved);
    return nt_node_directory(resolved);
}

static void inode_name(const struct nt_resolved_node *resolved, uint32_t inode, struct nt_buffer *name)
{
    char text[NT_NAME_BYTES + 1];
    nt_inodes_name(resolved->vfs->inodes, inode, text);
    nt_buffer_append_string(name, text);
}

static void directory_name(const struct nt_resolved_node *resolved, struct nt_buffer *name)
{
    const struct nt_column *column;
    switch (resolved->node.type) {
    case NT_NODE_INODE:
        if (resolved->node.item)
            nt_buffer_append_string(name, nt_names_get(resolved->opened->names, resolved->node.item));
        else
            inode_name(resolved, resolved->node.owner, name);
        break;
    case NT_NODE_DATASET:
        if (hidden_child(resolved))
            inode_name(resolved, resolved->inode, name);
        else
            nt_buffer_append_string(name,
                                    nt_names_get(resolved->opened->names,
                                                 resolved->file->directory_count + resolved->dataset->index));
        break;
    case NT_NODE_FIELD:
        nt_buffer_append_string(name, nt_names_get(resolved->field_names, resolved->field));
        break;
    case NT_NODE_COLUMN:
        column = &resolved->dataset->columns[resolved->column]; /* numbered across the representations */
        nt_buffer_append_format(
            name, "column.%u",
            column->representation * resolved->dataset->fields[resolved->field].columns_per_representation +
                column->position);
        break;
    default:
        break;
    }
}

/* Appends the node's name in its parent directory (none for the root). */
static void node_name(const struct nt_resolved_node *resolved, struct nt_buffer *name)
{
    if (resolved->document)
        nt_document_name(resolved->document, resolved->node.number, name);
    else if (is_numbered(resolved))
        nt_buffer_append_format(name, "%s%llu%s", resolved->node.type == NT_NODE_VERSION ? "v" : "",
                                (unsigned long long)resolved->node.number,
                                resolved->node.type == NT_NODE_PAGE_FILE ? resolved->page_file.suffix
                                                                         : resolved->pseudo->name);
    else if (resolved->pseudo)
        nt_buffer_append_string(name, resolved->pseudo->name);
    else
        directory_name(resolved, name);
}

/* Prepends the names on the way up. */
enum nt_status nt_node_path(struct nt_vfs *vfs, uint64_t number, struct nt_buffer *path,
                            struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer so_far = {0}, name = {0};
    while (number != NT_VFS_ROOT) {
        struct nt_resolved_node resolved;
        NT_TRY(nt_node_resolve(vfs, number, &resolved, error));
        nt_buffer_clear(&name);
        node_name(&resolved, &name);
        name.failed |= so_far.failed;
        if (so_far.length) {
            nt_buffer_append_byte(&name, '/');
            nt_buffer_append(&name, so_far.bytes, so_far.length);
        }
        struct nt_buffer swap = so_far;
        so_far = name;
        name = swap;
        number = nt_node_parent(&resolved);
        nt_node_release(&resolved);
    }
    nt_buffer_append_string(path, nt_buffer_string(&so_far));
    return nt_check_memory(!so_far.failed && !path->failed, error);
}
