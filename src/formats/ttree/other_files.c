/* SPDX-License-Identifier: MIT
 *
 * Baskets of a branch may be in another file (TBranch::SetFile): opens it, if it is below a directory
 * that the option bases names.
 */
#include "formats/ttree/ttree.h"

#include <errno.h>

#include "core/io/address.h"
#include "core/io/folder.h"

/* The most files that the branches of a file can name: each keeps a descriptor. */
enum { MAX_FILES = 64 };

struct other_file_opener {
    struct nt_file *file;
    const struct nt_open_options *options;
    struct nt_ttree_other_file *other;
    struct nt_error *error;
};

/* ---- Paths ---- */

/* As in ROOT, a relative name is relative to the directory of the file. */
static enum nt_status put_path(const struct other_file_opener *opener, struct nt_buffer *path)
{
    struct nt_text name = opener->other->name;
    const char *file = opener->file->path, *end = strrchr(file, '/');
    if (name.bytes[0] != '/' && end)
        nt_buffer_append(path, file, (size_t)(end - file + 1));
    nt_buffer_append(path, name.bytes, name.length);
    nt_buffer_append_string(path, "");
    return nt_check_memory(!path->failed, opener->error);
}

/* Nothing is relative to a file in memory, which has no attributes. */
static bool is_path(const struct other_file_opener *opener)
{
    struct nt_text name = opener->other->name;
    bool is_local = opener->file->source->ops->stat && !nt_is_address(opener->file->path);
    return is_local && !memchr(name.bytes, '\0', name.length) && !memmem(name.bytes, name.length, ":/", 2);
}

static enum nt_status resolve(const char *path, char **resolved_ret, struct nt_error *error)
{
    *resolved_ret = realpath(path, NULL);
    return *resolved_ret ? NT_OK : nt_fail_system(error, errno, "%s", path);
}

/* ---- Open a file ---- */

static enum nt_status refuse(const struct other_file_opener *opener, const char *why, const char *detail)
{
    struct nt_buffer text = {0};
    nt_buffer_append_string(&text, "its data are in another file, ");
    nt_append_printable(&text, opener->other->name.bytes, opener->other->name.length);
    nt_buffer_append_format(&text, ", %s%s", why, detail);
    opener->other->refusal = nt_buffer_to_arena(&text, opener->file->arena);
    return nt_check_memory(opener->other->refusal, opener->error);
}

/* A refusal stays, so a failure that may pass is none. */
static enum nt_status refuse_failure(const struct other_file_opener *opener, enum nt_status status,
                                     const struct nt_error *failure, const char *detail)
{
    if (nt_is_retryable(status, failure))
        return nt_fail_copy(opener->error, failure);
    return refuse(opener, "which cannot be opened: ", detail);
}

/* Opens a file beneath a base. `name` is resolved: a link cannot have led out of the base. */
static enum nt_status open_beneath(const struct other_file_opener *opener, const char *base, const char *name)
{
    NT_CLEANUP(nt_folder_close_at) struct nt_folder *folder = NULL;
    struct nt_error failure = {0};
    enum nt_folder_use use =
        opener->options->for_other_users ? NT_FOLDER_DATASET_FOR_OTHERS : NT_FOLDER_DATASET;
    enum nt_status status = nt_folder_open_for(opener->file->source, base, use, &folder, &failure);
    if (status == NT_OK)
        status = nt_folder_open_file(folder, name, &opener->other->source, &failure);
    return status == NT_OK ? status : refuse_failure(opener, status, &failure, failure.message);
}

/* Opens a resolved path, if it is beneath the base. */
static enum nt_status try_base(const struct other_file_opener *opener, const char *given, const char *path,
                               bool *is_beneath_ret)
{
    NT_AUTO_FREE char *base = NULL;
    struct nt_text name;
    struct nt_error failure = {0};
    *is_beneath_ret = false;
    enum nt_status status = resolve(given, &base, &failure);
    if (status != NT_OK)
        return nt_is_retryable(status, &failure) ? nt_fail_copy(opener->error, &failure) : NT_OK;
    *is_beneath_ret = nt_folder_name_below(nt_text_of(path), base, &name) && name.length;
    return *is_beneath_ret ? open_beneath(opener, base, name.bytes) : NT_OK;
}

static enum nt_status open_resolved(const struct other_file_opener *opener, const char *path)
{
    const char *const *bases = opener->options->bases;
    bool is_beneath = false;
    for (size_t i = 0; bases[i] && !is_beneath; i++)
        NT_TRY(try_base(opener, bases[i], path, &is_beneath));
    return is_beneath ? NT_OK : refuse(opener, "which is not below any directory of the option bases", "");
}

static enum nt_status open_path(const struct other_file_opener *opener, const char *path)
{
    NT_AUTO_FREE char *resolved = NULL;
    struct nt_error failure = {0};
    enum nt_status status = resolve(path, &resolved, &failure);
    if (status != NT_OK)
        return refuse_failure(opener, status, &failure, strerror(failure.system_error));
    return open_resolved(opener, resolved);
}

static enum nt_status open_file(const struct other_file_opener *opener)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer path = {0};
    if (!opener->options->bases || !opener->options->bases[0])
        return refuse(opener, "which needs the option bases: a directory that contains the file", "");
    if (!is_path(opener))
        return refuse(opener, "which cannot be read unless both files are local", "");
    NT_TRY(put_path(opener, &path));
    return open_path(opener, path.bytes);
}

/* ---- The other files of a file ---- */

/* Finds the other file of a name, or adds it. NULL: there are too many. */
static struct nt_ttree_other_file *find_or_add(struct nt_ttree_other_files *others, struct nt_text name,
                                               bool *is_new_ret)
{
    *is_new_ret = false;
    for (uint32_t i = 0; i < others->count; i++)
        if (nt_texts_are_equal(others->items[i].name, name))
            return &others->items[i];
    if (others->count == MAX_FILES)
        return NULL;
    *is_new_ret = true;
    others->items[others->count] = (struct nt_ttree_other_file){.name = name};
    return &others->items[others->count++];
}

/* Sets the source of a branch's baskets, or the reason why they cannot be read. */
static enum nt_status open_for(struct nt_dataset *dataset, struct nt_ttree_branch *branch,
                               const struct nt_open_options *options, struct nt_error *error)
{
    struct nt_ttree_other_files *others = nt_ttree_other_files_of(dataset->file);
    bool is_new;
    struct nt_ttree_other_file *other = find_or_add(others, branch->file_name, &is_new);
    const struct other_file_opener opener = {dataset->file, options, other, error};
    enum nt_status status = is_new ? open_file(&opener) : NT_OK;
    if (status != NT_OK) {
        others->count--;
        return status;
    }
    if (!other)
        branch->refusal =
            "its data are in another file, and the branches name more than the limit of 64 files";
    else if (other->refusal)
        branch->refusal = other->refusal;
    else
        branch->file_source = dataset->source_count + (uint32_t)(other - others->items);
    return NT_OK;
}

enum nt_status nt_ttree_open_other_files(struct nt_dataset *dataset, struct nt_ttree *tree,
                                         const struct nt_open_options *options, struct nt_error *error)
{
    struct nt_ttree_other_files *others = nt_ttree_other_files_of(dataset->file);
    for (uint32_t i = 0; i < tree->branch_count; i++)
        if (nt_ttree_is_elsewhere(&tree->branches[i]))
            NT_TRY(open_for(dataset, &tree->branches[i], options, error));
    if (!others->count)
        return NT_OK;
    struct nt_source **sources =
        nt_arena_alloc(dataset->arena, dataset->source_count + others->count, sizeof(struct nt_source *));
    NT_TRY(nt_check_memory(sources, error));
    memcpy(sources, dataset->sources, dataset->source_count * sizeof(struct nt_source *));
    for (uint32_t i = 0; i < others->count; i++)
        sources[dataset->source_count + i] =
            others->items[i].source ? others->items[i].source : dataset->file->source;
    dataset->sources = sources;
    dataset->source_count += others->count;
    return NT_OK;
}

enum nt_status nt_ttree_other_files_init(struct nt_ttree_other_files *others, struct nt_file *file,
                                         struct nt_error *error)
{
    others->items = nt_arena_alloc(file->arena, MAX_FILES, sizeof(*others->items));
    return nt_check_memory(others->items, error);
}

void nt_ttree_other_files_close(struct nt_ttree_other_files *others)
{
    for (uint32_t i = 0; i < others->count; i++)
        if (others->items[i].source)
            nt_source_close(others->items[i].source);
}
