/* SPDX-License-Identifier: MIT
 *
 * Directories of this machine, as struct nt_folder. Files of a shared dataset must be readable by all users
 * who can read the dataset.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/base/thread.h"
#include "core/io/folder.h"
#include "core/io/source.h"

/* ---- Permission intersection ---- */

mode_t nt_common_read_bits(const struct stat *shown, mode_t mode, const struct stat *part)
{
    mode_t bits = S_ISDIR(part->st_mode) ? (part->st_mode & 0111) << 2 : part->st_mode & 0444;
    bool is_owner = part->st_uid == shown->st_uid, is_group = part->st_gid == shown->st_gid;
    bool for_owner = bits & S_IRUSR, for_group = bits & S_IRGRP, for_others = bits & S_IROTH;
    bool may_owner = is_owner ? for_owner : for_group && for_others;
    bool may_group = (is_owner || for_owner) && for_group && (is_group || for_others);
    bool may_others = (is_owner || for_owner) && (is_group || for_group) && for_others;
    mode_t may = (may_owner ? S_IRUSR : 0) | (may_group ? S_IRGRP : 0) | (may_others ? S_IROTH : 0);
    return mode & may;
}

/* ---- Local directory ---- */

struct local_folder {
    struct nt_folder folder;
    enum nt_folder_use use;
    int descriptor;
    char *path;
    struct nt_source_pool *pool; /* of lazily opened files */
    struct stat attributes;      /* of the directory when it was opened */
    struct stat users;           /* attributes of what is shown: of the directory, or of a file elsewhere */
    struct local_folder *shown;  /* the dataset's directory: this one, or the one beside */
    struct nt_lock lock;         /* of all below, and of the same members of directories beside it */
    mode_t readers;              /* read bits */
    bool is_shown;
    char *way; /* the last directory that was checked; NULL: none */
};

static struct local_folder *local(struct nt_folder *folder)
{
    return (struct local_folder *)folder;
}

static enum nt_status open_name(const struct local_folder *folder, const char *name, int flags,
                                int *descriptor_ret, struct nt_error *error)
{
    if (folder->use != NT_FOLDER_PASSTHROUGH)
        return nt_beneath_open(folder->descriptor, folder->path, name, flags, descriptor_ret, error);
    *descriptor_ret = openat(folder->descriptor, *name ? name : ".", flags | O_CLOEXEC);
    return *descriptor_ret >= 0 ? NT_OK : nt_fail_system(error, errno, "%s/%s", folder->path, name);
}

static enum nt_status stat_name(const struct local_folder *folder, const char *name, struct stat *attributes,
                                struct nt_error *error)
{
    int descriptor;
    NT_TRY(open_name(folder, name, O_PATH, &descriptor, error));
    enum nt_status status = fstat(descriptor, attributes) == 0
                                ? NT_OK
                                : nt_fail_system(error, errno, "%s/%s", folder->path, name);
    close(descriptor);
    return status;
}

/* ---- Read permissions ---- */

/* Checks, and records, the permissions of an opened file or directory. Under the lock. */
static enum nt_status allow(struct local_folder *folder, const struct stat *part, const char *name,
                            size_t length, struct nt_error *error)
{
    struct local_folder *shown = folder->shown;
    mode_t readers = nt_common_read_bits(&shown->users, shown->readers, part);
    if (!shown->is_shown)
        shown->readers = readers;
    if (readers == shown->readers || shown->use != NT_FOLDER_DATASET_FOR_OTHERS)
        return NT_OK;
    return nt_fail_system(error, EACCES, "%s/%.*s: mode %04o allows fewer users than the mode of the dataset",
                          folder->path, (int)length, name, (unsigned)part->st_mode & 07777);
}

/* Checks the directories on the path to a file, except the last checked one. Under the lock. */
static enum nt_status allow_way(struct local_folder *folder, const char *name, struct nt_error *error)
{
    const char *end = strrchr(name, '/');
    NT_AUTO_FREE char *way = strndup(name, end ? (size_t)(end - name) : 0);
    NT_TRY(nt_check_memory(way, error));
    if (folder->way && strcmp(folder->way, way) == 0)
        return NT_OK;
    free(folder->way);
    folder->way = NULL;
    for (size_t at = 1; *way && at <= (size_t)(end - name); at++) {
        if (name[at] != '/')
            continue;
        struct stat attributes;
        way[at] = '\0';
        NT_TRY(stat_name(folder, way, &attributes, error));
        NT_TRY(allow(folder, &attributes, way, at, error));
        way[at] = name[at];
    }
    way[end ? end - name : 0] = '\0';
    folder->way = way;
    way = NULL;
    return NT_OK;
}

static enum nt_status allow_file(struct local_folder *folder, int descriptor, const char *name,
                                 struct nt_error *error)
{
    struct stat attributes;
    if (folder->use == NT_FOLDER_PASSTHROUGH)
        return NT_OK;
    NT_TRY(nt_descriptor_stat(descriptor, name, &attributes, error));
    NT_LOCK_GUARD(&folder->shown->lock);
    NT_TRY(allow_way(folder, name, error));
    return allow(folder, &attributes, name, strlen(name), error);
}

/* ---- Files ---- */

static enum nt_status check_path(struct nt_folder *folder, struct nt_error *error)
{
    const struct stat *opened = &local(folder)->attributes;
    struct stat attributes;
    if (stat(folder->path, &attributes))
        return errno == ENOENT || errno == ENOTDIR
                   ? nt_fail(error, NT_CHANGED, NT_NO_OFFSET, "%s: no longer exists", folder->path)
                   : nt_fail_system(error, errno, "%s", folder->path);
    if (attributes.st_dev != opened->st_dev || attributes.st_ino != opened->st_ino)
        return nt_fail(error, NT_CHANGED, NT_NO_OFFSET, "%s: was replaced", folder->path);
    return NT_OK;
}

/* If the directory was removed, or moved to where this process has no permission, report that instead of
 * the file's failure. */
static enum nt_status failed_in(struct local_folder *folder, enum nt_status status, struct nt_error *error)
{
    struct nt_error change = {0};
    bool is_changed = check_path(&folder->folder, &change) == NT_CHANGED;
    return is_changed ? nt_fail_copy(error, &change) : status;
}

static enum nt_status open_file(void *context, const char *name, int *descriptor_ret,
                                struct nt_identity *identity_ret, struct nt_error *error)
{
    struct local_folder *folder = context;
    int descriptor;
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer path = {0};
    nt_buffer_append_format(&path, "%s/%s", folder->path, name);
    NT_TRY(nt_check_memory(!path.failed, error));
    enum nt_status status = open_name(folder, name, NT_DESCRIPTOR_FLAGS, &descriptor, error);
    if (status != NT_OK)
        return folder->use == NT_FOLDER_PASSTHROUGH ? status : failed_in(folder, status, error);
    status = nt_descriptor_identify(descriptor, path.bytes, identity_ret, error);
    if (status == NT_OK)
        status = allow_file(folder, descriptor, name, error);
    if (status == NT_OK)
        *descriptor_ret = descriptor;
    else
        close(descriptor);
    return status;
}

/* ---- Probe a file ---- */

static enum nt_status read_probed(struct nt_source *source, uint64_t offset, void *buffer, size_t bytes,
                                  struct nt_error *error)
{
    struct nt_file_probe *probe = (struct nt_file_probe *)source;
    uint64_t end = source->size - nt_min(source->size, sizeof(probe->end));
    if (bytes <= probe->known && offset <= probe->known - bytes) {
        memcpy(buffer, probe->start + offset, bytes);
        return NT_OK;
    }
    if (offset >= end && !probe->has_end)
        probe->has_end = pread(probe->descriptor, probe->end, sizeof(probe->end), (off_t)end) ==
                         (ssize_t)(source->size - end);
    if (offset >= end && probe->has_end) {
        memcpy(buffer, probe->end + (offset - end), bytes);
        return NT_OK;
    }
    ssize_t count = pread(probe->descriptor, buffer, bytes, (off_t)offset);
    if (count < 0)
        return nt_fail_system(error, errno, "%s", source->path);
    return (size_t)count == bytes ? NT_OK
                                  : nt_fail(error, NT_TRUNCATED, offset, "%s: became shorter", source->path);
}

static enum nt_status probe_file(struct nt_folder *folder, const char *name, struct nt_file_probe *probe,
                                 struct nt_error *error)
{
    static const struct nt_source_ops ops = {.read_at = read_probed};
    enum nt_status status = NT_OK;
    ssize_t count = 0;
    NT_TRY(open_name(local(folder), name, NT_DESCRIPTOR_FLAGS, &probe->descriptor, error));
    if (fstat(probe->descriptor, &probe->attributes) ||
        (S_ISREG(probe->attributes.st_mode) &&
         (count = pread(probe->descriptor, probe->start, sizeof(probe->start), 0)) < 0))
        status = nt_fail_system(error, errno, "%s/%s", folder->path, name);
    else if (!S_ISREG(probe->attributes.st_mode))
        status = nt_fail(error, NT_INVALID, NT_NO_OFFSET, "%s/%s: is not a regular file", folder->path, name);
    if (status != NT_OK) {
        close(probe->descriptor);
        return status;
    }
    probe->known = (size_t)count;
    probe->has_end = false;
    probe->source =
        (struct nt_source){.ops = &ops, .size = (uint64_t)probe->attributes.st_size, .path = name};
    return NT_OK;
}

void nt_file_probe_close(struct nt_file_probe *probe)
{
    close(probe->descriptor);
}

static enum nt_status open_source(struct nt_folder *folder, const char *name, struct nt_source **source_ret,
                                  struct nt_error *error)
{
    int descriptor;
    struct nt_identity identity;
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer path = {0};
    nt_buffer_append_format(&path, "%s/%s", folder->path, name);
    NT_TRY(nt_check_memory(!path.failed, error));
    NT_TRY(open_file(folder, name, &descriptor, &identity, error));
    return nt_source_of_descriptor(descriptor, path.bytes, &identity, source_ret, error);
}

static enum nt_status open_source_lazily(struct nt_folder *folder, const char *name,
                                         struct nt_source **source_ret, struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer path = {0};
    size_t above = strlen(folder->path);
    nt_buffer_append(&path, folder->path, above); /* avoids printf, as there may be many */
    nt_buffer_append_byte(&path, '/');
    nt_buffer_append_string(&path, name);
    return path.failed ? nt_fail_memory(error)
                       : nt_source_pool_add(local(folder)->pool, path.bytes, above + 1, source_ret, error);
}

/* ---- Entries ---- */

static enum nt_status stat_entry(struct nt_folder *folder, const char *name, struct stat *attributes,
                                 struct nt_error *error)
{
    return stat_name(local(folder), name, attributes, error);
}

static enum nt_entry_kind kind_of(DIR *directory, const struct dirent *entry)
{
    struct stat attributes;
    unsigned char type = entry->d_type;
    if (type == DT_UNKNOWN && fstatat(dirfd(directory), entry->d_name, &attributes, AT_SYMLINK_NOFOLLOW) == 0)
        type = IFTODT(attributes.st_mode);
    return type == DT_REG   ? NT_ENTRY_FILE
           : type == DT_DIR ? NT_ENTRY_FOLDER
           : type == DT_LNK ? NT_ENTRY_LINK
                            : NT_ENTRY_OTHER;
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static enum nt_status visit_entries(const struct nt_folder *folder, DIR *directory, const char *name,
                                    nt_folder_visit *visit, void *context, struct nt_error *error)
{
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(directory);
        if (!entry)
            return errno ? nt_fail_system(error, errno, "%s/%s", folder->path, name) : NT_OK;
        if (!is_dots(entry->d_name))
            NT_TRY(
                visit(context, &(struct nt_folder_entry){entry->d_name, kind_of(directory, entry)}, error));
    }
}

static enum nt_status list_entries(struct nt_folder *folder, const char *name, nt_folder_visit *visit,
                                   void *context, struct nt_error *error)
{
    int descriptor;
    NT_TRY(open_name(local(folder), name, O_RDONLY | O_DIRECTORY, &descriptor, error));
    DIR *directory = fdopendir(descriptor);
    if (!directory) {
        enum nt_status status = nt_fail_system(error, errno, "%s/%s", folder->path, name);
        close(descriptor);
        return status;
    }
    enum nt_status status = visit_entries(folder, directory, name, visit, context, error);
    closedir(directory);
    return status;
}

/* ---- The directory itself ---- */

static enum nt_status show(struct nt_folder *folder, struct stat *attributes, struct nt_error *error)
{
    struct local_folder *here = local(folder);
    NT_LOCK_GUARD(&here->lock);
    here->is_shown = true;
    *attributes = here->attributes;
    attributes->st_mode = (here->attributes.st_mode & ~(mode_t)0444) | here->readers;
    return NT_OK;
}

static size_t count_descriptors(struct nt_folder *folder)
{
    return 1 + nt_source_pool_open(local(folder)->pool);
}

/* Called when its last source is closed. */
static void release(void *context)
{
    struct local_folder *folder = context;
    if (folder->descriptor >= 0)
        close(folder->descriptor);
    nt_lock_deinit(&folder->lock);
    free(folder->way);
    free(folder->path);
    free(folder);
}

static void close_local(struct nt_folder *folder)
{
    nt_source_pool_free(local(folder)->pool);
}

static enum nt_status open_sibling(struct nt_folder *folder, const char *path, struct nt_folder **sibling_ret,
                                   struct nt_error *error);

static enum nt_status open_below(struct nt_folder *folder, const char *name, struct nt_folder **below_ret,
                                 struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer path = {0};
    nt_buffer_append_format(&path, "%s/%s", folder->path, name);
    return path.failed ? nt_fail_memory(error)
                       : nt_folder_open(path.bytes, local(folder)->use, below_ret, error);
}

static const struct nt_folder_ops local_ops = {
    .list = list_entries,
    .stat = stat_entry,
    .open = open_source,
    .probe = probe_file,
    .open_lazily = open_source_lazily,
    .lazy_bytes = NT_POOLED_SOURCE_BYTES,
    .open_sibling = open_sibling,
    .open_below = open_below,
    .check = check_path,
    .show = show,
    .descriptors = count_descriptors,
    .close = close_local,
};

/* Fails here if names in it may not be looked up, because the caller did not name the first of them. */
static enum nt_status check_search(const struct local_folder *folder, struct nt_error *error)
{
    struct stat attributes;
    return fstatat(folder->descriptor, "./.", &attributes, 0) == 0
               ? NT_OK
               : nt_fail_system(error, errno, "%s", folder->path);
}

static enum nt_status open_directory(struct local_folder *folder, struct nt_error *error)
{
    folder->descriptor = open(folder->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder->descriptor < 0)
        return errno == ENOTDIR
                   ? nt_fail(error, NT_INVALID, NT_NO_OFFSET, "%s: is not a directory", folder->path)
                   : nt_fail_system(error, errno, "%s", folder->path);
    if (fstat(folder->descriptor, &folder->attributes))
        return nt_fail_system(error, errno, "%s", folder->path);
    folder->users = folder->attributes;
    folder->readers = folder->users.st_mode & 0444;
    return check_search(folder, error);
}

/* `shown`: NULL for the directory itself. */
static enum nt_status open_local(const char *path, enum nt_folder_use use, struct local_folder *shown,
                                 struct nt_folder **folder_ret, struct nt_error *error)
{
    struct local_folder *folder = calloc(1, sizeof(*folder));
    if (!folder || nt_lock_init(&folder->lock, NULL)) {
        free(folder);
        return nt_fail_memory(error);
    }
    folder->descriptor = -1;
    folder->use = use;
    folder->shown = shown ? shown : folder;
    folder->path = strdup(path);
    folder->folder = (struct nt_folder){.ops = &local_ops, .path = folder->path};
    enum nt_status status = folder->path ? open_directory(folder, error) : nt_fail_memory(error);
    if (status == NT_OK) {
        folder->pool = nt_source_pool_new(&(struct nt_pool_opener){open_file, release, folder});
        status = folder->pool ? NT_OK : nt_fail_memory(error);
    }
    if (status != NT_OK) {
        release(folder);
        return status;
    }
    *folder_ret = &folder->folder;
    return NT_OK;
}

enum nt_status nt_folder_open(const char *path, enum nt_folder_use use, struct nt_folder **folder_ret,
                              struct nt_error *error)
{
    return open_local(path, use, NULL, folder_ret, error);
}

/* Closes a directory that fewer users can read than what is shown. */
static enum nt_status allow_folder(struct nt_folder *folder, struct nt_error *error)
{
    struct local_folder *shown = local(folder)->shown;
    nt_lock_acquire(&shown->lock);
    enum nt_status status = allow(local(folder), &local(folder)->attributes, "", 0, error);
    nt_lock_release(&shown->lock);
    if (status != NT_OK)
        nt_folder_close(folder);
    return status;
}

static enum nt_status open_sibling(struct nt_folder *folder, const char *path, struct nt_folder **sibling_ret,
                                   struct nt_error *error)
{
    struct local_folder *shown = local(folder)->shown;
    NT_TRY(open_local(path, shown->use, shown, sibling_ret, error));
    return allow_folder(*sibling_ret, error);
}

enum nt_status nt_folder_open_for(struct nt_source *file, const char *path, enum nt_folder_use use,
                                  struct nt_folder **folder_ret, struct nt_error *error)
{
    struct stat users;
    NT_TRY(nt_source_stat(file, &users, error));
    NT_TRY(open_local(path, use, NULL, folder_ret, error));
    struct local_folder *folder = local(*folder_ret);
    folder->users = users;
    folder->readers = users.st_mode & 0444;
    folder->is_shown = true;
    return allow_folder(*folder_ret, error);
}
