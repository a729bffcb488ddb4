/* SPDX-License-Identifier: MIT
 *
 * Lists and searches directories. Each type of directory is a sequence of sources of entries:
 * pseudo-files of a table, documents of the format, children, fields, columns, pages, and hidden
 * entries that are found only by name.
 */
#include "vfs/vfs.h"

/* ---- Files that the format provides ---- */

const struct nt_document *nt_node_documents(const struct nt_resolved_node *resolved, uint32_t *count_ret)
{
    *count_ret = 0;
    if (resolved->node.type == NT_NODE_DATASET) {
        *count_ret = resolved->dataset->document_count;
        return resolved->dataset->documents;
    }
    if (resolved->node.type == NT_NODE_INODE && resolved->file && resolved->node.item == 0) {
        *count_ret = resolved->file->document_count;
        return resolved->file->documents;
    }
    return NULL;
}

struct nt_document_request nt_document_request(const struct nt_resolved_node *resolved)
{
    return (struct nt_document_request){resolved->document, resolved->file, resolved->dataset,
                                        resolved->node.number};
}

uint64_t nt_document_count(const struct nt_resolved_node *resolved, const struct nt_document *document)
{
    return document->count ? document->count(resolved->file, resolved->dataset) : 1;
}

void nt_document_name(const struct nt_document *document, uint64_t number, struct nt_buffer *name)
{
    nt_buffer_append_string(name, document->prefix);
    if (document->count)
        nt_buffer_append_format(name, "%llu%s", (unsigned long long)number, document->suffix);
}

/* Is the name one of the document's, with any number? */
static bool is_document(const struct nt_document *document, struct nt_text name, uint64_t *number_ret)
{
    *number_ret = 0;
    if (!document->count)
        return nt_text_is(name, document->prefix);
    return strlen(name.bytes) == name.length &&
           nt_parse_between(name.bytes, document->prefix, document->suffix, number_ret);
}

/* ---- Tables of each node type ---- */

static const struct nt_pseudo_table no_files = {NULL, 0};

const struct nt_pseudo_table *nt_node_files(const struct nt_resolved_node *resolved)
{
    switch (resolved->node.type) {
    case NT_NODE_INODE:
        if (resolved->inode_kind == NT_INODE_FAILED)
            return &nt_failed_files;
        return resolved->file && resolved->node.item == 0 ? &nt_container_files : &no_files;
    case NT_NODE_MOUNT:
        return &nt_mount_files;
    case NT_NODE_DATASET:
        return resolved->dataset->failure ? &nt_failed_files : &nt_dataset_files;
    case NT_NODE_FIELD:
        return &nt_field_files;
    case NT_NODE_COLUMN:
        return &nt_column_files;
    default:
        return &no_files;
    }
}

bool nt_is_container_file(const struct nt_file *file, struct nt_text name)
{
    uint64_t number;
    for (unsigned row = 0; row < nt_container_files.count; row++)
        if (nt_text_is(name, nt_container_files.rows[row].name))
            return true;
    for (uint32_t i = 0; i < file->document_count; i++)
        if (is_document(&file->documents[i], name, &number))
            return true;
    return false;
}

/* ---- Sources of entries ---- */

static enum nt_status list(struct nt_dir_entry *listed, enum nt_vfs_class class, const char *name)
{
    listed->class = class;
    nt_string_copy(listed->name, sizeof(listed->name), name);
    return NT_OK;
}

/* A node of the directory's own level. */
static bool pack_file(const struct nt_resolved_node *directory, uint32_t file, uint64_t number,
                      uint64_t *node_ret)
{
    struct nt_node node = directory->node;
    if (node.type == NT_NODE_INODE)
        node.owner = directory->inode; /* with versions: inode of the current one */
    node.file = file;
    node.number = number;
    return nt_node_pack(&node, node_ret);
}

static enum nt_status pack(enum nt_node_type level, uint32_t dataset_id, uint64_t *node_ret,
                           struct nt_error *error)
{
    *node_ret = nt_node_number(level, dataset_id, 0, NT_NODE_SELF);
    return *node_ret ? NT_OK : nt_fail_no_such_file(error);
}

/* ---- Files of the level's table ---- */

static bool has_row(const struct nt_resolved_node *directory, const struct nt_pseudo_file *row)
{
    return !row->exists || row->exists(directory, row->parameter);
}

static enum nt_status files_next(const struct nt_resolved_node *directory, uint64_t *index,
                                 struct nt_dir_entry *listed, struct nt_error *error)
{
    const struct nt_pseudo_table *table = nt_node_files(directory);
    for (; *index < table->count; ++*index) {
        const struct nt_pseudo_file *row = &table->rows[*index];
        if (!has_row(directory, row) ||
            !pack_file(directory, NT_NODE_FIRST_FILE + (uint32_t)*index, 0, &listed->node))
            continue;
        return list(listed, nt_size_is_far(directory, row) ? NT_VFS_STREAMED : row->class, row->name);
    }
    return nt_fail_no_such_file(error);
}

static enum nt_status files_find(const struct nt_resolved_node *directory, const char *name,
                                 uint64_t *node_ret, struct nt_error *error)
{
    const struct nt_pseudo_table *table = nt_node_files(directory);
    for (unsigned row = 0; row < table->count; row++)
        if (strcmp(table->rows[row].name, name) == 0 && has_row(directory, &table->rows[row]) &&
            pack_file(directory, NT_NODE_FIRST_FILE + row, 0, node_ret))
            return NT_OK;
    return nt_fail_no_such_file(error);
}

static const struct nt_dir_source dir_source_files = {.next = files_next, .find = files_find};

/* ---- Documents of the format: index = document << 32 | number ---- */

/* A small file can request longer listings, which are useless. Omitted entries still open by name. */
enum { MAX_DOCUMENTS_LISTED = 10000, MAX_COLUMNS_LISTED = 1000 };

static enum nt_status documents_next(const struct nt_resolved_node *directory, uint64_t *index,
                                     struct nt_dir_entry *listed, struct nt_error *error)
{
    uint32_t count;
    const struct nt_document *documents = nt_node_documents(directory, &count);
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer name = {0};
    for (; *index >> 32 < count; *index = ((*index >> 32) + 1) << 32) {
        uint32_t document = (uint32_t)(*index >> 32);
        uint64_t number = *index & UINT32_MAX;
        if (number >= MAX_DOCUMENTS_LISTED || number >= nt_document_count(directory, &documents[document]) ||
            !pack_file(directory, NT_NODE_FIRST_DOCUMENT + document, number, &listed->node))
            continue;
        nt_document_name(&documents[document], number, &name);
        list(listed, documents[document].write ? NT_VFS_GENERATED : NT_VFS_STREAMED, nt_buffer_string(&name));
        return nt_check_memory(!name.failed, error);
    }
    return nt_fail_no_such_file(error);
}

static enum nt_status documents_find(const struct nt_resolved_node *directory, const char *name,
                                     uint64_t *node_ret, struct nt_error *error)
{
    uint32_t count;
    const struct nt_document *documents = nt_node_documents(directory, &count);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t number;
        if (is_document(&documents[i], nt_text_of(name), &number) &&
            number < nt_document_count(directory, &documents[i]) &&
            pack_file(directory, NT_NODE_FIRST_DOCUMENT + i, number, node_ret))
            return NT_OK;
    }
    return nt_fail_no_such_file(error);
}

static const struct nt_dir_source dir_source_documents = {.next = documents_next, .find = documents_find};

/* ---- Children of groups and directories: index = order ---- */

static enum nt_status inodes_begin(const struct nt_resolved_node *directory, struct nt_error *error)
{
    return nt_inodes_scan(directory->vfs->inodes, directory->inode, error);
}

static enum nt_status inodes_next(const struct nt_resolved_node *directory, uint64_t *index,
                                  struct nt_dir_entry *listed, struct nt_error *error)
{
    struct nt_inode_table *inodes = directory->vfs->inodes;
    for (uint32_t order = (uint32_t)*index; order < NT_NONE; order++) {
        uint32_t inode = nt_inodes_next(inodes, directory->inode, &order);
        if (inode == NT_NONE)
            break;
        listed->node = nt_node_number(NT_NODE_INODE, inode, 0, NT_NODE_SELF);
        if (nt_inodes_kind(inodes, inode) == NT_INODE_NONE || !listed->node)
            continue;
        *index = order;
        listed->class = NT_VFS_DIRECTORY;
        nt_inodes_name(inodes, inode, listed->name);
        return NT_OK;
    }
    return nt_fail_no_such_file(error);
}

static enum nt_status inodes_find(const struct nt_resolved_node *directory, const char *name,
                                  uint64_t *node_ret, struct nt_error *error)
{
    struct nt_inode_table *inodes = directory->vfs->inodes;
    uint32_t inode;
    NT_TRY(nt_inodes_find(inodes, directory->inode, name, &inode, error));
    if (nt_inodes_kind(inodes, inode) == NT_INODE_NONE)
        return nt_fail_no_such_file(error);
    return pack(NT_NODE_INODE, inode, node_ret, error);
}

static const struct nt_dir_source dir_source_inodes = {
    .next = inodes_next, .find = inodes_find, .begin = inodes_begin};

/* ---- Directories and datasets in a directory of the file; attribute sets in a dataset ---- */

static uint32_t items_parent(const struct nt_resolved_node *directory)
{
    return directory->dataset ? directory->file->directory_count + directory->dataset->index
                              : directory->node.item;
}

static bool pack_item(const struct nt_resolved_node *directory, uint32_t item, uint64_t *node_ret)
{
    struct nt_node node = {
        .type = NT_NODE_INODE, .owner = directory->inode, .item = item, .file = NT_NODE_SELF};
    if (item >= directory->file->directory_count) {
        node.type = NT_NODE_DATASET;
        node.owner = directory->opened->first_dataset_id + item - directory->file->directory_count;
        node.item = 0;
    }
    return nt_node_pack(&node, node_ret);
}

static enum nt_status items_next(const struct nt_resolved_node *directory, uint64_t *index,
                                 struct nt_dir_entry *listed, struct nt_error *error)
{
    uint32_t count;
    const uint32_t *items = nt_open_file_children(directory->opened, items_parent(directory), &count);
    for (; *index < count; ++*index) {
        if (!pack_item(directory, items[*index], &listed->node))
            continue;
        return list(listed, NT_VFS_DIRECTORY, nt_names_get(directory->opened->names, items[*index]));
    }
    return nt_fail_no_such_file(error);
}

static enum nt_status items_find(const struct nt_resolved_node *directory, const char *name,
                                 uint64_t *node_ret, struct nt_error *error)
{
    uint32_t item = nt_names_find(directory->opened->names, items_parent(directory), name);
    return item != NT_NONE && pack_item(directory, item, node_ret) ? NT_OK : nt_fail_no_such_file(error);
}

static const struct nt_dir_source dir_source_items = {.next = items_next, .find = items_find};

/* ---- Fields: index = number of the child ---- */

static enum nt_status fields_next(const struct nt_resolved_node *directory, uint64_t *index,
                                  struct nt_dir_entry *listed, struct nt_error *error)
{
    uint32_t count;
    const uint32_t *children = nt_dataset_children(directory->dataset, directory->field, &count);
    const struct nt_names *names;
    NT_TRY(nt_open_file_field_names(directory->opened, directory->dataset->index, &names, error));
    for (; *index < count; ++*index) {
        listed->node = nt_node_of_field(directory, children[*index]);
        if (!listed->node)
            continue;
        return list(listed, NT_VFS_DIRECTORY, nt_names_get(names, children[*index]));
    }
    return nt_fail_no_such_file(error);
}

static enum nt_status fields_find(const struct nt_resolved_node *directory, const char *name,
                                  uint64_t *node_ret, struct nt_error *error)
{
    const struct nt_names *names;
    NT_TRY(nt_open_file_field_names(directory->opened, directory->dataset->index, &names, error));
    uint32_t field = nt_names_find(names, directory->field, name);
    *node_ret = field == NT_NONE ? 0 : nt_node_of_field(directory, field);
    return *node_ret ? NT_OK : nt_fail_no_such_file(error);
}

static const struct nt_dir_source dir_source_fields = {.next = fields_next, .find = fields_find};

/* ---- Columns of a field: index = number within the field ---- */

static enum nt_status find_column(const struct nt_resolved_node *directory, uint64_t number,
                                  uint64_t *node_ret, struct nt_error *error)
{
    uint32_t count;
    struct nt_dataset *physical;
    NT_TRY(nt_dataset_physical(directory->dataset, &physical, error));
    const uint32_t *columns = nt_field_columns(physical, directory->field, &count);
    bool has_it = physical->fields[directory->field].owns_columns && number < count;
    *node_ret = has_it ? nt_node_of_column(directory, columns[number]) : 0;
    return *node_ret ? NT_OK : nt_fail_no_such_file(error);
}

/* Lists all columns. If the files other than the stub fail to open, lists the stub's columns. */
static enum nt_status columns_next(const struct nt_resolved_node *directory, uint64_t *index,
                                   struct nt_dir_entry *listed, struct nt_error *error)
{
    struct nt_resolved_node complete = *directory;
    if (*index >= MAX_COLUMNS_LISTED)
        return nt_fail_no_such_file(error);
    enum nt_status status = nt_node_resolve_stub(&complete, true, error);
    if (nt_is_transient(status))
        return status;
    listed->class = NT_VFS_DIRECTORY;
    snprintf(listed->name, sizeof(listed->name), "column.%u", (unsigned)*index);
    return find_column(&complete, *index, &listed->node, error);
}

static enum nt_status columns_find(const struct nt_resolved_node *directory, const char *name,
                                   uint64_t *node_ret, struct nt_error *error)
{
    uint64_t number;
    struct nt_resolved_node complete = *directory;
    if (!nt_parse_between(name, "column.", "", &number))
        return nt_fail_no_such_file(error);
    NT_TRY(nt_node_resolve_stub(&complete, true, error));
    return find_column(&complete, number, node_ret, error);
}

static const struct nt_dir_source dir_source_columns = {.next = columns_next, .find = columns_find};

/* ---- Versions and chain members ---- */

bool nt_has_versions(const struct nt_resolved_node *resolved, unsigned unused)
{
    const struct nt_inode *inode = nt_inodes_get(resolved->vfs->inodes, resolved->inode);
    return inode && inode->route == NT_ROUTE_CURRENT && inode->version;
}

bool nt_is_in_chain(const struct nt_resolved_node *resolved, unsigned unused)
{
    const struct nt_inode *inode = nt_inodes_get(resolved->vfs->inodes, resolved->inode);
    return inode && inode->chain;
}

/* A directory of versions does not list the versions themselves: programs that walk through trees would
 * read all of them. It lists links, which such programs do not follow. */

const struct nt_pseudo_file nt_version_link = {.name = "", .class = NT_VFS_LINK};

static bool pack_link(const struct nt_resolved_node *directory, uint64_t number, uint64_t *node_ret)
{
    struct nt_node node = {.type = NT_NODE_VERSION, .owner = directory->node.owner, .number = number};
    return nt_node_pack(&node, node_ret);
}

/* A dataset that does not open cannot tell. */
static bool has_history(const struct nt_resolved_node *directory)
{
    return directory->dataset && !directory->dataset->failure;
}

static enum nt_status versions_begin(const struct nt_resolved_node *directory, struct nt_error *error)
{
    return has_history(directory)
               ? nt_history_list(directory->vfs->inodes, directory->inode, directory->dataset, error)
               : NT_OK;
}

static enum nt_status versions_next(const struct nt_resolved_node *directory, uint64_t *index,
                                    struct nt_dir_entry *listed, struct nt_error *error)
{
    for (; has_history(directory) && nt_history_next(directory->vfs->inodes, directory->inode, index);
         ++*index) {
        if (!pack_link(directory, *index, &listed->node))
            continue;
        listed->class = NT_VFS_LINK;
        snprintf(listed->name, sizeof(listed->name), "v%llu", (unsigned long long)*index);
        return NT_OK;
    }
    return nt_fail_no_such_file(error);
}

static enum nt_status find_link(const struct nt_resolved_node *directory, uint64_t number, uint64_t *node_ret,
                                struct nt_error *error)
{
    uint64_t found = number;
    NT_TRY(versions_begin(directory, error));
    bool is_listed = has_history(directory) &&
                     nt_history_next(directory->vfs->inodes, directory->inode, &found) && found == number;
    return is_listed && pack_link(directory, number, node_ret) ? NT_OK : nt_fail_no_such_file(error);
}

/* Finds the dataset of a version; if the version fails to open, a directory with the error. */
static enum nt_status versions_find(const struct nt_resolved_node *directory, const char *name,
                                    uint64_t *node_ret, struct nt_error *error)
{
    struct nt_inode_table *inodes = directory->vfs->inodes;
    struct nt_open_file *opened;
    uint64_t number;
    uint32_t inode;
    if (nt_parse_between(name, "v", "", &number))
        return find_link(directory, number, node_ret, error);
    if (!nt_parse_between(name, "", "", &number))
        return nt_fail_no_such_file(error);
    NT_TRY(nt_history_find(inodes, directory->inode, number, &inode, error));
    nt_inodes_acquire(inodes, inode, &inode, &opened);
    bool has_dataset = opened && opened->file->dataset_count > 0;
    enum nt_status status = pack(has_dataset ? NT_NODE_DATASET : NT_NODE_INODE,
                                 has_dataset ? opened->first_dataset_id : inode, node_ret, error);
    nt_inodes_release(inodes, opened);
    return status;
}

const struct nt_dir_source nt_dir_source_versions = {
    .next = versions_next, .find = versions_find, .begin = versions_begin};

static enum nt_status chain_files_find(const struct nt_resolved_node *directory, const char *name,
                                       uint64_t *node_ret, struct nt_error *error)
{
    uint32_t inode;
    NT_TRY(nt_member_inodes_find(directory->vfs->inodes, directory->inode, name, &inode, error));
    return pack(NT_NODE_INODE, inode, node_ret, error);
}

const struct nt_dir_source nt_dir_source_chain_files = {.find = chain_files_find};

/* ---- .ntuplefs ---- */

const struct nt_pseudo_file nt_mount_directory = {".ntuplefs", NT_VFS_DIRECTORY,
                                                  .dir_sources = {&dir_source_files}};

static enum nt_status mount_next(const struct nt_resolved_node *directory, uint64_t *index,
                                 struct nt_dir_entry *listed, struct nt_error *error)
{
    if (*index > 0 || directory->number != NT_VFS_ROOT)
        return nt_fail_no_such_file(error);
    list(listed, NT_VFS_DIRECTORY, nt_mount_directory.name);
    return pack(NT_NODE_MOUNT, 0, &listed->node, error);
}

static enum nt_status mount_find(const struct nt_resolved_node *directory, const char *name,
                                 uint64_t *node_ret, struct nt_error *error)
{
    if (directory->number != NT_VFS_ROOT || strcmp(name, nt_mount_directory.name) != 0)
        return nt_fail_no_such_file(error);
    return pack(NT_NODE_MOUNT, 0, node_ret, error);
}

static const struct nt_dir_source dir_source_mount = {.next = mount_next, .find = mount_find};

#define DIR_SOURCES (const struct nt_dir_source *const[])

static const struct nt_dir_source *const *const dir_sources_of_type[NT_NODE_TYPES] = {
    [NT_NODE_DATASET] =
        DIR_SOURCES{&dir_source_files, &dir_source_documents, &dir_source_items, &dir_source_fields, NULL},
    [NT_NODE_FIELD] = DIR_SOURCES{&dir_source_files, &dir_source_columns, &dir_source_fields, NULL},
    [NT_NODE_COLUMN] = DIR_SOURCES{&dir_source_files, NULL},
};

static const struct nt_dir_source *const *const dir_sources_of_inode[] = {
    [NT_INODE_GROUP] = DIR_SOURCES{&dir_source_mount, &dir_source_inodes, NULL},
    [NT_INODE_PASSTHROUGH] = DIR_SOURCES{&dir_source_mount, &dir_source_inodes, NULL},
    [NT_INODE_FILE] =
        DIR_SOURCES{&dir_source_mount, &dir_source_files, &dir_source_documents, &dir_source_items, NULL},
    [NT_INODE_FAILED] = DIR_SOURCES{&dir_source_mount, &dir_source_files, NULL},
};

static const struct nt_dir_source *const *const dir_sources_of_failed =
    DIR_SOURCES{&dir_source_files, &dir_source_documents, NULL};

const struct nt_dir_source *const *nt_node_dir_sources(const struct nt_resolved_node *resolved)
{
    if (resolved->pseudo && resolved->pseudo->dir_sources[0])
        return resolved->pseudo->dir_sources;
    if (resolved->node.type == NT_NODE_INODE)
        return dir_sources_of_inode[resolved->inode_kind];
    if (resolved->node.type == NT_NODE_DATASET && resolved->dataset->failure)
        return dir_sources_of_failed;
    return dir_sources_of_type[resolved->node.type];
}
