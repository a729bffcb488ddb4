/* SPDX-License-Identifier: MIT
 *
 * Stats files and lists directories of the local file system, compares identities (inode, size, time
 * stamps), and checks that a path stays beneath its directory.
 */
#include <errno.h>

#include "vfs/inode.h"

enum nt_status nt_local_stat(const char *path, struct stat *attributes, struct nt_error *error)
{
    return stat(path, attributes) == 0 ? NT_OK : nt_fail_system(error, errno, "%s", path);
}

static bool is_same_inode(const struct stat *left, const struct stat *right)
{
    return left->st_dev == right->st_dev && left->st_ino == right->st_ino &&
           (left->st_mode & S_IFMT) == (right->st_mode & S_IFMT);
}

bool nt_local_is_unchanged(const struct stat *left, const struct stat *right)
{
    return is_same_inode(left, right) && left->st_size == right->st_size &&
           left->st_mtim.tv_sec == right->st_mtim.tv_sec && left->st_mtim.tv_nsec == right->st_mtim.tv_nsec;
}

bool nt_local_is_same(const struct stat *left, const struct stat *right)
{
    return S_ISDIR(left->st_mode) ? is_same_inode(left, right) : nt_local_is_unchanged(left, right);
}

bool nt_local_mtime_is_reliable(const struct stat *attributes)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec > attributes->st_mtim.tv_sec + 1;
}

enum nt_status nt_local_check_beneath(const char *path, const char *below, struct nt_error *error)
{
    NT_CLEANUP(nt_folder_close_at) struct nt_folder *folder = NULL;
    struct stat attributes;
    const char *name = below + strlen(path);
    NT_TRY(nt_folder_open(path, NT_FOLDER_DATASET, &folder, error));
    return nt_folder_stat(folder, name + strspn(name, "/"), &attributes, error);
}

struct local_listing {
    struct nt_folder *folder;
    bool shows_datasets;  /* tests directories for datasets */
    bool only_data_files; /* of `format`; NULL: of any */
    const char *format;
    struct nt_local_entry *entries;
    size_t count, capacity;
};

/* Looks at a few bytes of a file. False if it cannot be opened, or is no file. */
static bool look_for_data(const struct local_listing *listing, const char *name, struct stat *attributes,
                          bool *is_data_file_ret)
{
    struct nt_file_probe probe;
    if (nt_folder_probe(listing->folder, name, &probe, NULL) != NT_OK)
        return false;
    *is_data_file_ret = nt_may_be_data_file(&probe.source, listing->format);
    *attributes = probe.attributes;
    nt_file_probe_close(&probe);
    return true;
}

/* NT_NOT_FOUND if the entry is not shown, or no longer exists. */
static enum nt_status probe_file(const struct local_listing *listing, const struct nt_folder_entry *found,
                                 struct nt_local_entry *entry, struct nt_error *error)
{
    bool is_dataset, is_data_file;
    struct nt_error failure = {0};
    if (found->name[0] == '.')
        return NT_NOT_FOUND;
    bool may_be_file = found->kind == NT_ENTRY_FILE || found->kind == NT_ENTRY_LINK;
    if (listing->only_data_files && may_be_file &&
        look_for_data(listing, found->name, &entry->stat, &is_data_file))
        return is_data_file ? NT_OK : NT_NOT_FOUND;
    enum nt_status status = nt_folder_stat(listing->folder, found->name, &entry->stat, &failure);
    if (status != NT_OK && found->kind == NT_ENTRY_LINK && !nt_is_retryable(status, &failure))
        return NT_NOT_FOUND; /* a dangling link */
    if (status != NT_OK)
        return nt_fail_copy(error, &failure);
    if (S_ISREG(entry->stat.st_mode))
        return NT_OK;
    if (!S_ISDIR(entry->stat.st_mode) || found->kind == NT_ENTRY_LINK) /* it may form a loop */
        return NT_NOT_FOUND;
    if (!listing->shows_datasets)
        return NT_OK;
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer path = {0};
    nt_buffer_append_format(&path, "%s/%s", listing->folder->path, found->name);
    NT_TRY(nt_check_memory(!path.failed, error));
    NT_TRY(nt_is_dataset_path(path.bytes, &is_dataset, error));
    entry->is_folder = !is_dataset;
    return NT_OK;
}

static enum nt_status take_entry(void *context, const struct nt_folder_entry *found, struct nt_error *error)
{
    struct local_listing *listing = context;
    struct nt_local_entry entry = {0};
    enum nt_status status = probe_file(listing, found, &entry, error);
    if (status != NT_OK)
        return status == NT_NOT_FOUND ? NT_OK : status;
    NT_TRY(nt_check_memory(NT_GROW(listing->entries, listing->count, listing->capacity), error));
    entry.name = strdup(found->name);
    NT_TRY(nt_check_memory(entry.name, error));
    listing->entries[listing->count++] = entry;
    return NT_OK;
}

static enum nt_status take_entries(struct local_listing *listing, struct nt_local_entry **entries_ret,
                                   size_t *count_ret, struct nt_error *error)
{
    enum nt_status status = nt_folder_list(listing->folder, "", take_entry, listing, error);
    if (status != NT_OK) {
        nt_local_entries_free(listing->entries, listing->count);
        return status;
    }
    if (listing->count)
        qsort(listing->entries, listing->count, sizeof(*listing->entries), nt_compare_strings);
    *entries_ret = listing->entries;
    *count_ret = listing->count;
    return NT_OK;
}

enum nt_status nt_local_list(const char *path, const struct nt_open_options *data_files,
                             struct nt_local_entry **entries_ret, size_t *count_ret, struct nt_error *error)
{
    struct local_listing listing = {.shows_datasets = true,
                                    .only_data_files = data_files,
                                    .format = data_files ? data_files->format : NULL};
    NT_CLEANUP(nt_folder_close_at) struct nt_folder *folder = NULL;
    NT_TRY(nt_folder_open(path, NT_FOLDER_PASSTHROUGH, &folder, error));
    listing.folder = folder;
    return take_entries(&listing, entries_ret, count_ret, error);
}

bool nt_local_has_data_file(const char *path, const char *name, const struct nt_open_options *options)
{
    NT_CLEANUP(nt_folder_close_at) struct nt_folder *folder = NULL;
    struct stat attributes;
    bool is_data_file;
    if (nt_folder_open(path, NT_FOLDER_PASSTHROUGH, &folder, NULL) != NT_OK)
        return false;
    const struct local_listing listing = {.folder = folder, .format = options->format};
    return look_for_data(&listing, name, &attributes, &is_data_file) && is_data_file;
}

static enum nt_status count_entry(void *count, const struct nt_folder_entry *found, struct nt_error *error)
{
    unsigned *left = count;
    return (*left)-- ? NT_OK : nt_fail(error, NT_CANCELED, NT_NO_OFFSET, "there are more");
}

bool nt_local_has_more(const char *path, unsigned count)
{
    NT_CLEANUP(nt_folder_close_at) struct nt_folder *folder = NULL;
    return nt_folder_open(path, NT_FOLDER_PASSTHROUGH, &folder, NULL) == NT_OK &&
           nt_folder_list(folder, "", count_entry, &count, NULL) == NT_CANCELED;
}

enum nt_status nt_local_list_folder(struct nt_folder *folder, struct nt_local_entry **entries_ret,
                                    size_t *count_ret, struct nt_error *error)
{
    struct local_listing listing = {.folder = folder};
    return take_entries(&listing, entries_ret, count_ret, error);
}

void nt_local_entries_free(struct nt_local_entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(entries[i].name);
    free(entries);
}
