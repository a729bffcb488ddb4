/* SPDX-License-Identifier: MIT
 *
 * Records each distinct failure once, with a count and its path in the tree, for .ntuplefs/errors.jsonl
 * and the log. A ring buffer of fixed size drops the oldest failures.
 */
#include "vfs/vfs.h"

/* ---- The ring of failures ---- */

/* The location of a failure. */
struct nt_failure_site {
    const char *path;           /* in the tree */
    uint32_t inode, generation; /* equal failures of different inodes are distinct */
    bool is_page;               /* the next two identify the page; else it may be any */
    uint32_t source;            /* index of a source of the dataset */
    uint64_t parameter;         /* of the page */
};

enum { CAPACITY = 1024 };

struct failure {
    struct nt_failure_site site; /* `path` is from malloc; NULL: slot is empty */
    struct nt_error error;
    time_t time; /* of the first occurrence */
    uint64_t count;
};

struct nt_error_log {
    pthread_mutex_t lock;
    struct failure ring[CAPACITY];
    uint64_t keys[CAPACITY]; /* of the ring, compared first: a damaged file has thousands of failures */
    uint64_t noted;          /* total; the next goes to noted % CAPACITY */
};

struct nt_error_log *nt_error_log_new(void)
{
    struct nt_error_log *error_log = calloc(1, sizeof(*error_log));
    if (error_log)
        pthread_mutex_init(&error_log->lock, NULL);
    return error_log;
}

void nt_error_log_free(struct nt_error_log *error_log)
{
    if (!error_log)
        return;
    for (size_t i = 0; i < CAPACITY; i++)
        free((char *)error_log->ring[i].site.path);
    pthread_mutex_destroy(&error_log->lock);
    free(error_log);
}

/* Does the status mean a bad source, rather than a bad request? */
static bool is_failure(enum nt_status status)
{
    return status != NT_OK && status != NT_NOT_FOUND && status != NT_INVALID && status != NT_CANCELED &&
           status != NT_NO_MEMORY;
}

/* Callers prepend contexts to a message, so the original message is its end. */
static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return end_length <= length && strcmp(text + length - end_length, end) == 0;
}

/* Equal for failures that may be the same. */
static uint64_t key_of(const struct nt_failure_site *site, const struct nt_error *error)
{
    uint64_t file = (uint64_t)site->generation << 32 | site->inode;
    return (file * UINT64_C(0x9E3779B97F4A7C15) ^ error->offset) * 31 + (uint64_t)error->status;
}

static bool may_be_same(const struct failure *failure, const struct nt_failure_site *site,
                        const struct nt_error *error)
{
    const struct nt_failure_site *a = &failure->site;
    const struct nt_error *b = &failure->error;
    bool is_same_page =
        !a->is_page || !site->is_page || (a->source == site->source && a->parameter == site->parameter);
    return a->path && a->inode == site->inode && a->generation == site->generation && is_same_page &&
           b->status == error->status && b->offset == error->offset &&
           strcmp(b->expected, error->expected) == 0 && strcmp(b->found, error->found) == 0;
}

/* Compares by message, else by offset in the file. */
static struct failure *find(struct nt_error_log *error_log, const struct nt_failure_site *site,
                            const struct nt_error *error)
{
    uint64_t kept = error_log->noted < CAPACITY ? error_log->noted : CAPACITY;
    uint64_t key = key_of(site, error);
    struct failure *found = NULL;
    for (uint64_t i = 0; i < kept; i++) {
        struct failure *failure = &error_log->ring[i];
        if (error_log->keys[i] != key || !may_be_same(failure, site, error))
            continue;
        if (ends_with(failure->error.message, error->message) ||
            ends_with(error->message, failure->error.message))
            return failure;
        if (!found && error->offset != NT_NO_OFFSET)
            found = failure;
    }
    return found;
}

static struct failure *add(struct nt_error_log *error_log, const struct nt_failure_site *site,
                           const struct nt_error *error)
{
    uint64_t slot = error_log->noted++ % CAPACITY;
    struct failure *failure = &error_log->ring[slot];
    free((char *)failure->site.path);
    *failure = (struct failure){.site = *site, .error = *error, .time = time(NULL)};
    failure->site.path = strdup(site->path);
    error_log->keys[slot] = key_of(site, error);
    return failure;
}

/* Records a failure, or finds an earlier equal one, at any path: several files read the same page, and
 * each caller on the way prepends to the message. Adds `requests`, the number of failed requests, to
 * its count. Returns true if it is new. */
static bool note_failure(struct nt_error_log *error_log, const struct nt_failure_site *site,
                         unsigned requests, const struct nt_error *error)
{
    NT_MUTEX_GUARD(&error_log->lock);
    struct failure *failure = find(error_log, site, error);
    bool is_new = !failure;
    if (is_new)
        failure = add(error_log, site, error);
    failure->count += requests;
    return is_new;
}

static void write_failure(const struct failure *failure, struct nt_buffer *out)
{
    struct nt_json json;
    nt_json_line(&json, out);
    nt_json_member_text(&json, "path", nt_text_of(failure->site.path));
    nt_json_failure_members(&json, &failure->error);
    nt_json_member_time(&json, "time", failure->time);
    nt_json_member_unsigned(&json, "count", failure->count);
    nt_json_finish(&json);
}

void nt_error_log_write(struct nt_error_log *error_log, struct nt_buffer *out)
{
    NT_MUTEX_GUARD(&error_log->lock);
    uint64_t first = error_log->noted > CAPACITY ? error_log->noted - CAPACITY : 0;
    for (uint64_t i = first; i < error_log->noted; i++)
        if (error_log->ring[i % CAPACITY].site.path)
            write_failure(&error_log->ring[i % CAPACITY], out);
}

/* ---- Report a failure ---- */

/* The directory of the file that a node belongs to, and its inode. */
static bool file_of_node(struct nt_vfs *vfs, uint64_t number, uint64_t *directory_ret, uint32_t *inode_ret)
{
    if (!nt_inodes_of_node(vfs->inodes, number, inode_ret))
        return false;
    *directory_ret =
        nt_node_number(NT_NODE_INODE, nt_inodes_dataset_inode(vfs->inodes, *inode_ret), 0, NT_NODE_SELF);
    return *directory_ret != 0;
}

/* "<source>: <path in the tree>: <what, where, expected, found>". Omits the path for a whole source. */
static void log_failure(struct nt_vfs *vfs, const struct nt_failure_site *site, const char *source,
                        bool is_whole_source, const struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer line = {0};
    if (!vfs->options.report)
        return;
    const char *what = source ? nt_message_about(error->message, source) : NULL;
    what = what ? what : error->message;
    if (source) {
        nt_append_printable(&line, source, strlen(source));
        nt_buffer_append_string(&line, ": ");
    }
    if (!is_whole_source) {
        nt_append_printable(&line, site->path, strlen(site->path));
        nt_buffer_append_string(&line, ": ");
    }
    nt_append_printable(&line, what, strlen(what));
    if (!line.failed)
        vfs->options.report(vfs->options.context, line.bytes);
}

static const struct nt_failure_site no_page = {.inode = NT_NONE};

/* Records a failure under the path of a node, and logs it if new. If the node's file no longer opens,
 * uses the path of the file. */
static void note(struct nt_vfs *vfs, uint64_t node, struct nt_failure_site site, unsigned requests,
                 const struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer path = {0};
    uint64_t directory;
    bool is_of_file = file_of_node(vfs, node, &directory, &site.inode);
    if (is_of_file)
        site.generation = nt_inodes_get(vfs->inodes, site.inode)->generation;
    if (nt_node_path(vfs, node, &path, NULL) != NT_OK && is_of_file)
        nt_node_path(vfs, directory, &path, NULL);
    nt_buffer_append_string(&path, "");
    site.path = path.bytes;
    if (!path.failed && note_failure(vfs->error_log, &site, requests, error))
        log_failure(vfs, &site, is_of_file ? nt_inodes_get(vfs->inodes, site.inode)->path : NULL,
                    is_of_file && node == directory, error);
}

enum nt_status nt_report_failure(struct nt_vfs *vfs, uint64_t node, enum nt_status status,
                                 const struct nt_error *failure, struct nt_error *error)
{
    uint64_t directory = node;
    uint32_t inode;
    if (status == NT_CHANGED && file_of_node(vfs, node, &directory, &inode))
        node = directory; /* reported once, for the file */
    if (is_failure(status))
        note(vfs, node, no_page, 1, failure);
    if (status != NT_OK && error)
        *error = *failure;
    return status;
}

static void note_under(const struct nt_resolved_node *resolved, const struct nt_error *failure)
{
    if (is_failure(failure->status))
        note(resolved->vfs, nt_node_directory(resolved), no_page, 0, failure);
}

/* Records that a file or dataset fails to open, or that a dataset has notes. The current request is not
 * counted as failed. */
static void note_unopened(const struct nt_resolved_node *resolved)
{
    struct nt_error failure;
    if (resolved->dataset && resolved->dataset->failure) {
        note_under(resolved, resolved->dataset->failure);
    } else if (resolved->inode_kind == NT_INODE_FAILED) {
        nt_error_clear(&failure);
        nt_inodes_failure(resolved->vfs->inodes, resolved->inode, &failure);
        note_under(resolved, &failure);
    } else if (resolved->file && resolved->file->failure && resolved->file->dataset_count == 0) {
        note_under(resolved, resolved->file->failure);
    }
    for (uint32_t i = 0; resolved->dataset && i < resolved->dataset->note_count; i++)
        note_under(resolved, &resolved->dataset->notes[i]);
}

/* A replaced file in a passthrough directory is no failure: its nodes are stale. */
enum nt_status nt_report_open(struct nt_vfs *vfs, uint64_t node, struct nt_resolved_node *resolved,
                              struct nt_error *error)
{
    struct nt_error failure;
    uint64_t directory;
    uint32_t inode;
    nt_error_clear(&failure);
    enum nt_status status = nt_node_resolve(vfs, node, resolved, &failure);
    if (status == NT_OK) {
        note_unopened(resolved);
        return NT_OK;
    }
    if (status != NT_CHANGED || !file_of_node(vfs, node, &directory, &inode) ||
        !nt_inodes_is_passthrough(vfs->inodes, inode))
        return nt_report_failure(vfs, node, status, &failure, error);
    if (error)
        *error = failure;
    return status;
}

/* Records a failure under the path of a dataset's directory, or of one in it. Does nothing if the
 * dataset's file is not open or the node cannot be shown. Threads without a request call it, too. */
static void note_in(struct nt_vfs *vfs, const struct nt_dataset *dataset, enum nt_node_type level,
                    uint32_t item, struct nt_failure_site site, const struct nt_error *error)
{
    uint32_t slot;
    unsigned epoch_token = nt_epoch_enter(&vfs->inodes->epoch);
    uint64_t number = nt_inodes_dataset_id(vfs->inodes, dataset, &slot)
                          ? nt_node_number(level, slot, item, NT_NODE_SELF)
                          : 0;
    if (number)
        note(vfs, number, site, 0, error);
    nt_inodes_exit(vfs->inodes, epoch_token);
}

void nt_report_page(void *vfs, const struct nt_dataset *dataset, uint32_t column, const struct nt_page *page,
                    const struct nt_error *error)
{
    const struct nt_failure_site site = {
        .inode = NT_NONE, .is_page = true, .source = page->source, .parameter = page->parameter};
    struct nt_error at_page = *error;
    if (at_page.offset == NT_NO_OFFSET && !page->is_missing)
        at_page.offset = page->source < dataset->source_count
                             ? nt_source_file_offset(dataset->sources[page->source], page->offset)
                             : page->offset;
    note_in(vfs, dataset, NT_NODE_COLUMN, nt_physical_column(dataset, column), site, &at_page);
}

void nt_report_group(void *vfs, const struct nt_dataset *dataset, uint32_t group,
                     const struct nt_error *error)
{
    note_in(vfs, dataset, NT_NODE_DATASET, 0, no_page, error);
}

/* Records the failures of a broken file that is shown: those of its datasets, or its own. Failures of
 * members of a chain are only logged here: each is recorded when the member is used. */
static void note_broken(struct nt_vfs *vfs, uint32_t inode)
{
    struct nt_open_file *opened;
    struct nt_error failure = {0};
    nt_inodes_acquire(vfs->inodes, inode, &inode, &opened);
    const struct nt_file *file = opened ? opened->file : NULL;
    if (file && nt_chain_check_members(file, &failure) != NT_OK)
        log_failure(vfs, &no_page, file->path, true, &failure);
    if (file && file->failure && file->dataset_count == 0)
        note(vfs, nt_node_number(NT_NODE_INODE, nt_inodes_dataset_inode(vfs->inodes, inode), 0, NT_NODE_SELF),
             no_page, 0, file->failure);
    for (uint32_t i = 0; file && file->failure && i < file->dataset_count; i++)
        note(vfs, nt_node_number(NT_NODE_DATASET, opened->first_dataset_id + i, 0, NT_NODE_SELF), no_page, 0,
             file->datasets[i]->failure);
    nt_inodes_release(vfs->inodes, opened);
}

void nt_vfs_check_sources(struct nt_vfs *vfs)
{
    uint32_t count = vfs->inodes->source_count;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t number = nt_node_number(NT_NODE_INODE, i, 0, NT_NODE_SELF);
        struct nt_error failure = {0};
        if (is_failure(nt_inodes_check_source(vfs->inodes, i, &failure)) && number)
            note(vfs, number, no_page, 0, &failure);
        note_broken(vfs, i);
    }
}
