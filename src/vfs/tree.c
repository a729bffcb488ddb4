/* SPDX-License-Identifier: MIT
 *
 * The operations of the virtual tree: creation, attributes, lookup, lookup counts, directory listing,
 * and open files with their reads. All operations exist once and work on the tables of pseudo-files.
 */
#include "vfs/vfs.h"

#include <unistd.h>

/* ---- Attributes, lookup and listing ---- */

enum {
    DATA_BLOCK = 1 << 20, /* st_blksize of data files: a good read size */
    TEXT_BLOCK = 4096,
    DIR_SOURCE_SHIFT = 56, /* cursor = (number of the source << 56 | index within it) + 1 */
};

#define TEXT_DISK_BYTES (UINT64_C(16) << 30)

/* ---- Creation and destruction ---- */

static enum nt_status open_reader(struct nt_vfs *vfs, struct nt_error *error)
{
    const struct nt_reader_options options = {
        .struct_bytes = sizeof(options),
        .cache_bytes = vfs->options.cache_bytes,
        .always_readahead = vfs->options.always_readahead,
        .threads = vfs->options.threads,
        .on_failure = nt_report_page,
        .before_blocking = nt_vfs_before_blocking,
        .context = vfs,
        .caches_siblings = true,
    };
    return nt_reader_new(&options, &vfs->reader, error);
}

/* The caches of generated and streamed files, within the reader's memory limit. */
static enum nt_status new_stores(struct nt_vfs *vfs, struct nt_error *error)
{
    const struct nt_vfs_options *options = &vfs->options;
    vfs->text_pool = nt_text_pool_new(vfs->reader);
    const struct nt_generated_options generated = {
        .reader = vfs->reader,
        .text_pool = vfs->text_pool,
        .disk_bytes = options->text_bytes ? options->text_bytes : TEXT_DISK_BYTES,
        .directory = options->text_directory ? options->text_directory : NT_VFS_TEXT_DIRECTORY,
        .generate_all = options->text_sized,
        .keeps_last = options->measures_once && !options->text_sized && !options->list_sized,
    };
    vfs->generated = nt_generated_new(&generated);
    return vfs->generated && vfs->text_pool ? NT_OK : nt_fail_memory(error);
}

/* Checks that a selection names an existing dataset. Otherwise a user would read all entries and take
 * them for the selected ones. */
static enum nt_status check_choice(struct nt_vfs *vfs, const char *dataset, struct nt_error *error)
{
    struct nt_resolved_node resolved;
    uint64_t node;
    enum nt_status status = nt_vfs_resolve(vfs, dataset, &node, error);
    if (status == NT_NOT_FOUND)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET,
                       "cannot select entries of the dataset %s: no such dataset", dataset);
    NT_TRY(status);
    NT_TRY(nt_node_resolve(vfs, node, &resolved, error));
    const struct nt_dataset *found = resolved.dataset;
    if (!*dataset && resolved.file)
        found = nt_file_only(resolved.file, NULL);
    if (!found || !nt_dataset_has_selection(found) || resolved.field != NT_NONE || resolved.pseudo)
        status =
            nt_fail(error, NT_INVALID, NT_NO_OFFSET,
                    *dataset ? "cannot select entries of %s: not a dataset"
                             : "%scannot select entries: name the dataset, because there is not exactly one",
                    dataset);
    nt_node_release(&resolved);
    return status;
}

enum nt_status nt_vfs_new(const char *const *paths, size_t path_count, const struct nt_vfs_options *options,
                          struct nt_vfs **vfs_ret, struct nt_error *error)
{
    NT_CLEANUP(nt_vfs_free_at) struct nt_vfs *vfs = calloc(1, sizeof(*vfs));
    NT_TRY(nt_check_memory(vfs, error));
    vfs->options = *options;
    vfs->error_log = nt_error_log_new();
    NT_TRY(nt_check_memory(vfs->error_log, error));
    vfs->daemon = (struct stat){.st_mode = 0444, .st_uid = geteuid(), .st_gid = getegid()};
    clock_gettime(CLOCK_REALTIME, &vfs->daemon.st_mtim);
    vfs->daemon.st_atim = vfs->daemon.st_ctim = vfs->daemon.st_mtim;
    NT_TRY(open_reader(vfs, error));
    NT_TRY(new_stores(vfs, error));
    NT_TRY(nt_inodes_new(vfs, paths, path_count, error));
    for (size_t i = 0; i < options->selection_count; i++)
        NT_TRY(check_choice(vfs, options->selections[i].dataset, error));
    *vfs_ret = vfs;
    vfs = NULL; /* the caller's now */
    return NT_OK;
}

void nt_vfs_free(struct nt_vfs *vfs)
{
    if (!vfs)
        return;
    nt_generated_free(vfs->generated);
    nt_inodes_free(vfs->inodes);
    nt_text_pool_free(vfs->text_pool);
    nt_reader_free(vfs->reader);
    nt_error_log_free(vfs->error_log);
    free(vfs);
}

enum nt_status nt_vfs_broken(struct nt_vfs *vfs, struct nt_error *error)
{
    struct nt_open_file *opened;
    uint32_t shown;
    nt_inodes_acquire(vfs->inodes, 0, &shown, &opened);
    enum nt_status status =
        opened && opened->file->failure ? nt_fail_copy(error, opened->file->failure) : NT_OK;
    if (status != NT_OK)
        nt_error_strip(error, opened->file->path);
    nt_inodes_release(vfs->inodes, opened);
    return status;
}

void nt_vfs_visit_notes(struct nt_vfs *vfs, nt_vfs_note *visit, void *context)
{
    struct nt_open_file *opened;
    uint32_t shown;
    nt_inodes_acquire(vfs->inodes, 0, &shown, &opened);
    for (uint32_t i = 0; opened && i < opened->file->dataset_count; i++) {
        const struct nt_dataset *dataset = opened->file->datasets[i];
        for (uint32_t k = 0; k < dataset->note_count; k++) {
            struct nt_error note = dataset->notes[k];
            struct nt_buffer path = {0};
            nt_append_dataset_path(&path, dataset);
            nt_error_context(&note, "%.*s", (int)path.length, path.bytes);
            nt_buffer_deinit(&path);
            visit(context, &note);
        }
    }
    nt_inodes_release(vfs->inodes, opened);
}

/* ---- Attributes ---- */

/* Owner, times and permissions of the node's source. A failed inode has the time of its failure as mtime:
 * kernels cache directory listings while the mtime stays, and the inode may open later although its file is
 * unchanged. */
static enum nt_status origin(const struct nt_resolved_node *resolved, struct stat *attributes,
                             struct nt_error *error)
{
    struct nt_inode_table *inodes = resolved->vfs->inodes;
    if (resolved->opened)
        *attributes = resolved->opened->stat;
    else if (resolved->node.type == NT_NODE_MOUNT)
        *attributes = resolved->vfs->daemon;
    else
        NT_TRY(nt_inodes_stat(inodes, resolved->inode, attributes, error));
    if (!resolved->opened && resolved->inode_kind == NT_INODE_FAILED)
        attributes->st_mtim = nt_inodes_failed_at(inodes, resolved->inode);
    return NT_OK;
}

/* The size of a generated file, or the fact that it is unknown. */
static enum nt_status text_size(const struct nt_resolved_node *resolved, bool may_block,
                                enum nt_vfs_class *class_ret, uint64_t *size_ret, struct nt_error *error)
{
    struct nt_content *content;
    bool is_long;
    if (!nt_generated_has_size(resolved->vfs->generated, resolved, may_block, &is_long, size_ret)) {
        if (!may_block)
            return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "the document was not generated yet");
        NT_TRY(nt_generated_open(resolved->vfs->generated, resolved, &content, error));
        is_long = !content;
        *size_ret = content ? content->size : 0;
        nt_content_close(content);
    }
    *class_ret = is_long ? NT_VFS_STREAMED : NT_VFS_GENERATED;
    return NT_OK;
}

static enum nt_status content_size(struct nt_resolved_node *resolved, bool may_block,
                                   enum nt_vfs_class *class_ret, uint64_t *size_ret, struct nt_error *error)
{
    *size_ret = 0;
    *class_ret = resolved->pseudo ? resolved->pseudo->class : NT_VFS_DIRECTORY;
    bool stub_has_size = *class_ret == NT_VFS_DIRECTORY || *class_ret == NT_VFS_LINK ||
                         (resolved->pseudo->stub_has_size && resolved->pseudo->stub_has_size(resolved));
    if (!stub_has_size)
        NT_TRY(nt_node_resolve_stub(resolved, may_block, error));
    switch (*class_ret) {
    case NT_VFS_SIZED:
        if (nt_size_is_far(resolved, resolved->pseudo)) {
            *class_ret = NT_VFS_STREAMED;
            return NT_OK;
        }
        return resolved->pseudo->content(resolved, may_block, size_ret, NULL, error);
    case NT_VFS_GENERATED:
    case NT_VFS_STREAMED:
        return text_size(resolved, may_block, class_ret, size_ret, error);
    case NT_VFS_LINK: {
        char target[NT_VFS_TARGET];
        NT_TRY(nt_vfs_read_link(resolved->number, target, error));
        *size_ret = strlen(target);
        return NT_OK;
    }
    default:
        return NT_OK;
    }
}

/* Only inodes in passthrough directories and of datasets with versions change, and volatile nodes. */
static bool is_immutable(const struct nt_resolved_node *resolved)
{
    if (nt_node_is_volatile(resolved))
        return false;
    bool is_inode = resolved->node.type == NT_NODE_INODE && resolved->node.item == 0 && !resolved->pseudo;
    return !is_inode || !nt_inodes_is_passthrough(resolved->vfs->inodes, resolved->inode);
}

/* The names of a version, in the dataset's directory and in versions.d, may refer to another one
 * later. */
static bool is_name_lasting(const struct nt_resolved_node *resolved)
{
    bool is_of_version = resolved->node.type == NT_NODE_INODE ||
                         (resolved->node.type == NT_NODE_DATASET && resolved->node.file == NT_NODE_SELF);
    return !is_of_version || !nt_inode_is_version(nt_inodes_get(resolved->vfs->inodes, resolved->inode));
}

static uint32_t generation(const struct nt_resolved_node *resolved)
{
    bool is_of_mount = resolved->node.type == NT_NODE_MOUNT;
    return is_of_mount ? 1 : nt_inodes_get(resolved->vfs->inodes, resolved->inode)->generation;
}

static void fill_stat(const struct nt_resolved_node *resolved, uint64_t size, struct stat *stat)
{
    const struct nt_vfs_options *options = &resolved->vfs->options;
    mode_t readable = stat->st_mode & (resolved->pseudo && resolved->pseudo->is_private ? 0400 : 0444);
    bool is_directory = nt_node_is_directory(resolved);
    mode_t mode = is_directory ? S_IFDIR | readable | readable >> 2 : S_IFREG | readable;
    if (!is_directory && resolved->pseudo->class == NT_VFS_LINK)
        mode = S_IFLNK | 0777; /* as on all systems: the target decides */
    *stat = (struct stat){
        .st_ino = resolved->number,
        .st_mode = mode,
        .st_nlink = 1, /* the number of subdirectories is not computed */
        .st_uid = options->owner ? *options->owner : stat->st_uid,
        .st_gid = options->group ? *options->group : stat->st_gid,
        .st_size = (off_t)size,
        .st_blocks = (blkcnt_t)(size / 512 + (size % 512 != 0)),
        .st_blksize = !is_directory && resolved->pseudo->class == NT_VFS_SIZED ? DATA_BLOCK : TEXT_BLOCK,
        .st_atim = stat->st_atim,
        .st_mtim = stat->st_mtim,
        .st_ctim = stat->st_ctim,
    };
}

static enum nt_status fill_attributes(struct nt_resolved_node *resolved, bool may_block,
                                      struct nt_vfs_attributes *attributes, struct nt_error *error)
{
    uint64_t size = 0;
    NT_TRY(origin(resolved, &attributes->stat, error));
    NT_TRY(content_size(resolved, may_block, &attributes->class, &size, error));
    if (size > INT64_MAX)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "its contents are larger than a file can be");
    attributes->node = resolved->number;
    attributes->generation = generation(resolved);
    attributes->is_immutable = is_immutable(resolved);
    attributes->is_name_lasting = attributes->is_immutable && is_name_lasting(resolved);
    fill_stat(resolved, size, &attributes->stat);
    return NT_OK;
}

static enum nt_status stat_node(struct nt_vfs *vfs, uint64_t node, bool may_block,
                                const struct nt_vfs_caller *caller, struct nt_vfs_attributes *attributes,
                                struct nt_error *error)
{
    struct nt_resolved_node resolved;
    struct nt_error failure;
    enum nt_status status;
    nt_error_clear(&failure);
    unsigned epoch_token = nt_epoch_enter(&vfs->inodes->epoch);
    if (!nt_node_resolve_unprobed(vfs, node, may_block, &resolved, &status, error))
        status = nt_report_open(vfs, node, &resolved, error);
    if (status == NT_OK) {
        resolved.caller = caller;
        status = fill_attributes(&resolved, may_block, attributes, &failure);
        nt_node_release(&resolved);
        status = nt_report_failure(vfs, node, status, &failure, error);
    }
    nt_inodes_exit(vfs->inodes, epoch_token);
    return status;
}

enum nt_status nt_vfs_stat(struct nt_vfs *vfs, uint64_t node, bool may_block,
                           struct nt_vfs_attributes *attributes, struct nt_error *error)
{
    return stat_node(vfs, node, may_block, NULL, attributes, error);
}

enum nt_status nt_vfs_stat_for(struct nt_vfs *vfs, uint64_t node, const struct nt_vfs_caller *caller,
                               struct nt_vfs_attributes *attributes, struct nt_error *error)
{
    return stat_node(vfs, node, true, caller, attributes, error);
}

/* ---- Requests ---- */

enum nt_status nt_request_begin(struct nt_request *request, struct nt_vfs *vfs, uint64_t node,
                                struct nt_error *error)
{
    nt_error_clear(&request->failure);
    request->epoch_token = nt_epoch_enter(&vfs->inodes->epoch);
    enum nt_status status = nt_report_open(vfs, node, &request->resolved, error);
    if (status != NT_OK)
        nt_inodes_exit(vfs->inodes, request->epoch_token);
    return status;
}

enum nt_status nt_request_end(struct nt_request *request, enum nt_status status, struct nt_error *error)
{
    struct nt_vfs *vfs = request->resolved.vfs;
    nt_node_release(&request->resolved);
    nt_report_failure(vfs, request->resolved.number, status, &request->failure, error);
    nt_inodes_exit(vfs->inodes, request->epoch_token);
    return status;
}

/* ---- Names ---- */

static enum nt_status find_in(const struct nt_resolved_node *directory, const char *name, uint64_t *node_ret,
                              struct nt_error *error)
{
    if (!nt_node_is_directory(directory))
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "not a directory");
    for (const struct nt_dir_source *const *dir_source = nt_node_dir_sources(directory); *dir_source;
         dir_source++) {
        enum nt_status status = (*dir_source)->find(directory, name, node_ret, error);
        if (status != NT_NOT_FOUND)
            return status;
    }
    return nt_fail_no_such_file(error);
}

enum nt_status nt_vfs_lookup(struct nt_vfs *vfs, uint64_t directory, const char *name, uint64_t *node_ret,
                             struct nt_error *error)
{
    struct nt_request request;
    NT_TRY(nt_request_begin(&request, vfs, directory, error));
    return nt_request_end(&request, find_in(&request.resolved, name, node_ret, &request.failure), error);
}

enum nt_status nt_vfs_lookup_ref(struct nt_vfs *vfs, uint64_t directory, const char *name,
                                 const struct nt_vfs_caller *caller, struct nt_vfs_attributes *attributes,
                                 struct nt_error *error)
{
    uint64_t node;
    unsigned epoch_token = nt_epoch_enter(&vfs->inodes->epoch); /* keeps the inode alive */
    enum nt_status status = nt_vfs_lookup(vfs, directory, name, &node, error);
    if (status == NT_OK)
        status = stat_node(vfs, node, true, caller, attributes, error);
    if (status == NT_OK)
        nt_vfs_ref(vfs, node);
    nt_inodes_exit(vfs->inodes, epoch_token);
    return status;
}

void nt_vfs_ref(struct nt_vfs *vfs, uint64_t node)
{
    uint32_t inode;
    if (nt_inodes_of_node(vfs->inodes, node, &inode))
        nt_inodes_ref(vfs->inodes, inode);
}

void nt_vfs_forget(struct nt_vfs *vfs, uint64_t node, uint64_t times)
{
    uint32_t inode;
    unsigned epoch_token = nt_epoch_enter(&vfs->inodes->epoch);
    if (nt_inodes_of_node(vfs->inodes, node, &inode))
        nt_inodes_forget(vfs->inodes, inode, times);
    nt_inodes_exit(vfs->inodes, epoch_token);
}

static enum nt_status step(struct nt_vfs *vfs, const char *name, uint64_t *node, struct nt_error *error)
{
    if (strcmp(name, ".") == 0)
        return NT_OK;
    if (strcmp(name, "..") == 0) {
        *node = nt_vfs_parent(vfs, *node);
        return NT_OK;
    }
    char target[NT_VFS_TARGET];
    uint64_t found;
    NT_TRY(nt_vfs_lookup(vfs, *node, name, &found, error));
    if (nt_vfs_read_link(found, target, NULL) == NT_OK)
        return nt_vfs_lookup(vfs, *node, target, node, error);
    *node = found;
    return NT_OK;
}

enum nt_status nt_vfs_resolve(struct nt_vfs *vfs, const char *path, uint64_t *node_ret,
                              struct nt_error *error)
{
    uint64_t node = NT_VFS_ROOT;
    while (*path) {
        char name[NT_NAME_BYTES + 1];
        size_t length = strcspn(path, "/");
        if (length > NT_NAME_BYTES)
            return nt_fail_no_such_file(error);
        memcpy(name, path, length);
        name[length] = '\0';
        path += length + (path[length] == '/');
        if (length)
            NT_TRY(step(vfs, name, &node, error));
    }
    *node_ret = node;
    return NT_OK;
}

enum nt_status nt_vfs_read_link(uint64_t node, char target[NT_VFS_TARGET], struct nt_error *error)
{
    struct nt_node unpacked;
    if (!nt_node_unpack(node, &unpacked) || unpacked.type != NT_NODE_VERSION)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "not a link");
    snprintf(target, NT_VFS_TARGET, "%llu", (unsigned long long)unpacked.number);
    return NT_OK;
}

uint64_t nt_vfs_parent(struct nt_vfs *vfs, uint64_t node)
{
    struct nt_resolved_node resolved;
    uint64_t parent = NT_VFS_ROOT;
    unsigned epoch_token = nt_epoch_enter(&vfs->inodes->epoch);
    if (nt_node_resolve(vfs, node, &resolved, NULL) == NT_OK) {
        parent = nt_node_parent(&resolved);
        nt_node_release(&resolved);
    }
    nt_inodes_exit(vfs->inodes, epoch_token);
    return parent;
}

/* ---- Listing ---- */

/* Lists one source of entries from `index` on. *go_on_ret is false if the receiver has enough. */
static enum nt_status list_dir_source(const struct nt_resolved_node *directory,
                                      const struct nt_dir_source *dir_source, uint64_t base, uint64_t index,
                                      nt_vfs_emit *emit, void *context, bool *go_on_ret,
                                      struct nt_error *error)
{
    struct nt_dir_entry listed;
    struct nt_vfs_attributes attributes;
    enum nt_status status = NT_OK;
    while (dir_source->next && *go_on_ret &&
           (status = dir_source->next(directory, &index, &listed, error)) == NT_OK) {
        index++;
        /* A short text is generated to know its size. A failing one also counts as sized. */
        if (listed.class == NT_VFS_STREAMED && directory->vfs->options.list_sized &&
            nt_vfs_stat(directory->vfs, listed.node, true, &attributes, NULL) == NT_OK &&
            attributes.class == NT_VFS_STREAMED)
            continue;
        *go_on_ret = emit(context, listed.name, listed.node, listed.class, base + index + 1);
    }
    return status == NT_NOT_FOUND ? NT_OK : status;
}

uint64_t nt_vfs_cursor_index(uint64_t cursor)
{
    return cursor ? (cursor - 1) & ((UINT64_C(1) << DIR_SOURCE_SHIFT) - 1) : 0;
}

static enum nt_status list(const struct nt_resolved_node *directory, uint64_t cursor, nt_vfs_emit *emit,
                           void *context, struct nt_error *error)
{
    const struct nt_dir_source *const *dir_sources = nt_node_dir_sources(directory);
    uint64_t first = cursor ? (cursor - 1) >> DIR_SOURCE_SHIFT : 0, index = nt_vfs_cursor_index(cursor);
    bool resume_at = true;
    for (uint64_t i = 0; dir_sources[i] && resume_at; i++) {
        if (cursor == 0 && dir_sources[i]->begin)
            NT_TRY(dir_sources[i]->begin(directory, error));
        if (i >= first)
            NT_TRY(list_dir_source(directory, dir_sources[i], i << DIR_SOURCE_SHIFT, i == first ? index : 0,
                                   emit, context, &resume_at, error));
    }
    return NT_OK;
}

enum nt_status nt_vfs_readdir(struct nt_vfs *vfs, uint64_t directory, uint64_t cursor, nt_vfs_emit *emit,
                              void *context, struct nt_error *error)
{
    struct nt_request request;
    NT_TRY(nt_request_begin(&request, vfs, directory, error));
    enum nt_status status = nt_node_is_directory(&request.resolved)
                                ? list(&request.resolved, cursor, emit, context, &request.failure)
                                : nt_fail(&request.failure, NT_INVALID, NT_NO_OFFSET, "not a directory");
    return nt_request_end(&request, status, error);
}

/* ---- Open and read files ---- */

enum { PIECE = 1 << 20 }; /* verified at once */

struct nt_vfs_handle {
    struct nt_resolved_node resolved; /* keeps the source open */
    struct nt_content *content;
    unsigned revivals;           /* of the source, when it was opened */
    _Atomic uint64_t read_bytes; /* by all reads */
};

static enum nt_status open_content(struct nt_resolved_node *resolved, struct nt_content **content_ret,
                                   struct nt_error *error)
{
    NT_TRY(nt_node_resolve_stub(resolved, true, error));
    switch (resolved->pseudo ? resolved->pseudo->class : NT_VFS_DIRECTORY) {
    case NT_VFS_SIZED:
        NT_TRY(resolved->pseudo->content(resolved, true, NULL, content_ret, error));
        (*content_ret)->is_streamed = nt_size_is_far(resolved, resolved->pseudo);
        return NT_OK;
    case NT_VFS_GENERATED:
    case NT_VFS_STREAMED:
        NT_TRY(nt_generated_open(resolved->vfs->generated, resolved, content_ret, error));
        return *content_ret ? NT_OK : nt_content_new_streamed(resolved, content_ret, error);
    case NT_VFS_LINK:
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "is a link");
    default:
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "is a directory");
    }
}

/* Reads the whole content once to detect damage now. */
static enum nt_status verify(struct nt_content *content, struct nt_error *error)
{
    size_t piece = PIECE;
    NT_AUTO_FREE void *buffer = malloc(piece);
    NT_TRY(nt_check_memory(buffer, error));
    uint64_t size = content->size - content->header_bytes;
    for (uint64_t offset = 0; offset < size; offset += piece) {
        size_t bytes = size - offset < piece ? (size_t)(size - offset) : piece, got = bytes;
        NT_TRY(content->stream ? nt_stream_read(content->stream, offset, buffer, bytes, error)
                               : content->ops->read(content, offset, buffer, bytes, &got, error));
    }
    return NT_OK;
}

/* How often the source was revived, perhaps now. */
static unsigned revive(struct nt_vfs *vfs, struct nt_source *source)
{
    if (source->ops->revive && nt_source_check(source, NULL) == NT_CHANGED) {
        nt_vfs_before_blocking(vfs);
        nt_source_revive(source);
    }
    return nt_source_revivals(source);
}

/* The handle's node must be resolved. Stored bytes are served even if they are damaged. */
static enum nt_status open_content_of(struct nt_vfs_handle *handle, struct nt_error *error)
{
    struct nt_resolved_node *resolved = &handle->resolved;
    if (resolved->file)
        handle->revivals = revive(resolved->vfs, resolved->file->source);
    nt_vfs_ref(resolved->vfs, resolved->number); /* until the handle closes */
    enum nt_status status = open_content(resolved, &handle->content, error);
    bool is_verified = resolved->vfs->options.verify_on_open && resolved->pseudo &&
                       resolved->pseudo->class == NT_VFS_SIZED && resolved->node.type != NT_NODE_PAGE_RAW;
    return status == NT_OK && is_verified ? verify(handle->content, error) : status;
}

enum nt_status nt_vfs_open(struct nt_vfs *vfs, uint64_t node, struct nt_vfs_handle **handle_ret,
                           struct nt_error *error)
{
    struct nt_vfs_handle *handle = calloc(1, sizeof(*handle));
    struct nt_error failure;
    NT_TRY(nt_check_memory(handle, error));
    nt_error_clear(&failure);
    unsigned epoch_token = nt_epoch_enter(&vfs->inodes->epoch);
    enum nt_status status = nt_report_open(vfs, node, &handle->resolved, error);
    if (status != NT_OK) {
        free(handle);
    } else if ((status = open_content_of(handle, &failure)) != NT_OK) {
        nt_vfs_close(handle);
        nt_report_failure(vfs, node, status, &failure, error);
    } else {
        *handle_ret = handle;
    }
    nt_inodes_exit(vfs->inodes, epoch_token);
    return status;
}

static uint64_t checked_reads(const struct nt_vfs_handle *handle)
{
    const struct nt_file *file = handle->resolved.file;
    return file ? nt_source_checked_reads(file->source) : 0;
}

/* Serves the bytes only if the file is still the same, even if all came from memory; an error in a
 * replaced file is NT_CHANGED, not damage. No check is needed if the source was read since the count
 * `before`, because each read checks. */
static enum nt_status check_source(const struct nt_vfs_handle *handle, uint64_t before, enum nt_status status,
                                   struct nt_error *failure)
{
    const struct nt_file *file = handle->resolved.file;
    struct nt_error change;
    if (file && handle->revivals != nt_source_revivals(file->source))
        return nt_fail(failure, NT_CHANGED, NT_NO_OFFSET,
                       "%s: seemed replaced or modified while it was open; open it again", file->path);
    if (!file || (status == NT_OK && checked_reads(handle) != before))
        return status;
    nt_error_clear(&change);
    enum nt_status found = nt_source_check(file->source, &change);
    return found == NT_OK || (status != NT_OK && found != NT_CHANGED) ? status
                                                                      : nt_fail_copy(failure, &change);
}

/* A stream of a field was read to its end once all of its bytes were: the kernel can send the last read
 * before others. */
static void note_read(struct nt_vfs_handle *handle, size_t bytes)
{
    const struct nt_content *content = handle->content;
    if (!content->stream)
        return;
    uint64_t before = atomic_fetch_add_explicit(&handle->read_bytes, bytes, memory_order_relaxed);
    if (before < content->size && before + bytes >= content->size)
        nt_field_was_read(handle->resolved.vfs->reader, handle->resolved.dataset, handle->resolved.field,
                          content->size);
}

enum nt_status nt_vfs_read(struct nt_vfs_handle *handle, uint64_t offset, void *buffer, size_t bytes,
                           size_t *bytes_ret, struct nt_error *error)
{
    struct nt_vfs *vfs = handle->resolved.vfs;
    struct nt_content *content = handle->content;
    struct nt_error failure;
    size_t head = 0;
    nt_error_clear(&failure);
    *bytes_ret = 0;
    if (offset >= content->size || bytes == 0)
        return NT_OK;
    if (bytes > content->size - offset)
        bytes = (size_t)(content->size - offset);
    if (offset < content->header_bytes) {
        head = content->header_bytes - (size_t)offset;
        head = head < bytes ? head : bytes;
        memcpy(buffer, content->header + offset, head);
    }
    const uint64_t before = checked_reads(handle), start = offset + head - content->header_bytes;
    enum nt_status status = NT_OK;
    buffer = (uint8_t *)buffer + head;
    *bytes_ret = bytes - head;
    if (head < bytes)
        status = content->stream
                     ? nt_stream_read(content->stream, start, buffer, bytes - head, &failure)
                     : content->ops->read(content, start, buffer, bytes - head, bytes_ret, &failure);
    *bytes_ret += head;
    status = check_source(handle, before, status, &failure);
    if (status != NT_OK) { /* only a report uses inodes; a successful read does not */
        unsigned epoch_token = nt_epoch_enter(&vfs->inodes->epoch);
        nt_report_failure(vfs, handle->resolved.number, status, &failure, error);
        nt_inodes_exit(vfs->inodes, epoch_token);
    } else {
        note_read(handle, *bytes_ret);
    }
    return status;
}

bool nt_vfs_pin(struct nt_vfs_handle *handle, uint64_t offset, size_t bytes, struct nt_pins *pins)
{
    const struct nt_content *content = handle->content;
    struct nt_error unused;
    size_t head = 0;
    pins->reader = NULL;
    pins->count = 0;
    if (!content->stream || offset >= content->size)
        return false;
    if (bytes > content->size - offset)
        bytes = (size_t)(content->size - offset);
    if (offset < content->header_bytes) {
        head = content->header_bytes - (size_t)offset;
        pins->items[pins->count++] = (struct nt_pin){.bytes = content->header + offset, .count = head};
    }
    uint64_t before = checked_reads(handle);
    if (bytes <= head ||
        !nt_stream_pin(content->stream, offset + head - content->header_bytes, bytes - head, pins))
        return false;
    if (check_source(handle, before, NT_OK, &unused) == NT_OK) {
        note_read(handle, bytes);
        return true;
    }
    nt_pins_release(pins);
    return false;
}

bool nt_vfs_is_streamed(const struct nt_vfs_handle *handle)
{
    return handle->content->size == UINT64_MAX || handle->content->is_streamed;
}

uint64_t nt_vfs_probable_bytes(const struct nt_vfs_handle *handle)
{
    const struct nt_content_ops *ops = handle->content->ops;
    return ops->probable_bytes ? ops->probable_bytes(handle->content) : 0;
}

void nt_vfs_close(struct nt_vfs_handle *handle)
{
    if (!handle)
        return;
    nt_content_close(handle->content);
    nt_node_release(&handle->resolved);
    nt_vfs_forget(handle->resolved.vfs, handle->resolved.number, 1);
    free(handle);
}
