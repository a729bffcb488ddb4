/* SPDX-License-Identifier: MIT
 *
 * Resolves the base paths of a manifest, which place files of a dataset outside its directory, and
 * enforces which directories may be read.
 */
#include "formats/lance/dataset/dataset.h"

/* ---- Find the directory of a path ---- */

/* The manifest does not say what a relative path is relative to. It may be a path within the directory,
 * or equal to the directory's last components, as in a branch that was created from the dataset. */
static enum nt_status take_relative(const struct nt_lance_base_root *root, struct nt_arena *arena,
                                    struct nt_text path, bool *is_below_ret, struct nt_text *rest_ret,
                                    struct nt_error *error)
{
    size_t length = strlen(root->real);
    *is_below_ret = false;
    if (!nt_folder_is_name_below(path))
        return NT_OK;
    const char *name = nt_arena_copy(arena, path.bytes, path.length);
    NT_TRY(nt_check_memory(name, error));
    NT_TRY(nt_folder_has_folder(root->folder, name, is_below_ret, error));
    *rest_ret = path;
    if (*is_below_ret)
        return NT_OK;
    *is_below_ret = length > path.length && root->real[length - path.length - 1] == '/' &&
                    memcmp(root->real + length - path.length, path.bytes, path.length) == 0;
    rest_ret->length = 0;
    return NT_OK;
}

static enum nt_status look_beneath(const struct nt_lance_base_root *root, struct nt_arena *arena,
                                   struct nt_lance_base *base, struct nt_text path, struct nt_error *error)
{
    struct nt_text rest;
    bool is_below;
    if (path.length && path.bytes[0] == '/')
        is_below = nt_folder_name_below(path, root->real, &rest) ||
                   nt_folder_name_below(path, root->folder->path, &rest);
    else
        NT_TRY(take_relative(root, arena, path, &is_below, &rest, error));
    if (!is_below)
        return NT_OK;
    base->folder = root->folder;
    base->below = nt_arena_format(arena, "%.*s%s", (int)rest.length, rest.bytes, rest.length ? "/" : "");
    return nt_check_memory(base->below, error);
}

static enum nt_status find_folder(struct nt_file *file, const struct nt_lance_dataset *lance,
                                  struct nt_lance_base *base, struct nt_error *error)
{
    struct nt_text path = base->path;
    nt_text_skip(&path, "file://");
    while (path.length > 1 && path.bytes[path.length - 1] == '/')
        path.length--;
    for (uint32_t i = 0; !base->folder && i < lance->base_root_count; i++)
        NT_TRY(look_beneath(&lance->base_roots[i], file->arena, base, path, error));
    return NT_OK;
}

/* ---- The directories ---- */

static enum nt_status add_base_root(struct nt_file *file, struct nt_lance_dataset *lance,
                                    struct nt_folder *folder, struct nt_error *error)
{
    struct nt_lance_base_root *root = &lance->base_roots[lance->base_root_count++];
    root->folder = folder;
    NT_AUTO_FREE char *real = realpath(folder->path, NULL);
    root->real = nt_arena_copy(file->arena, real ? real : folder->path, strlen(real ? real : folder->path));
    return nt_check_memory(root->real, error);
}

enum nt_status nt_lance_open_base_roots(struct nt_file *file, struct nt_lance_dataset *lance,
                                        const char *const *allowed, struct nt_error *error)
{
    uint32_t count = 0;
    if (lance->base_roots)
        return NT_OK;
    while (allowed && allowed[count])
        count++;
    lance->base_roots = nt_arena_alloc(file->arena, (size_t)count + 1, sizeof(*lance->base_roots));
    NT_TRY(nt_check_memory(lance->base_roots, error));
    NT_TRY(add_base_root(file, lance, lance->folder, error));
    for (uint32_t i = 0; i < count; i++) {
        struct nt_folder *folder;
        NT_TRY(nt_folder_open_sibling(lance->folder, allowed[i], &folder, error));
        NT_TRY(add_base_root(file, lance, folder, error));
    }
    return NT_OK;
}

void nt_lance_close_bases(struct nt_lance_dataset *lance)
{
    for (uint32_t i = 1; i < lance->base_root_count; i++)
        nt_folder_close(lance->base_roots[i].folder);
    lance->base_root_count = 0;
}

/* ---- Base paths of the manifest ---- */

static enum nt_status read_bases(struct nt_file *file, struct nt_lance_dataset *lance, struct nt_error *error)
{
    struct nt_proto rest = lance->manifest.message, message;
    while (nt_proto_next_message(&rest, NT_LANCE_MANIFEST_BASE_PATHS, &message)) {
        struct nt_lance_base *base = &lance->bases[lance->base_count++];
        *base = (struct nt_lance_base){
            .id = nt_proto_number(message, NT_LANCE_BASE_PATH_ID),
            .is_root = nt_proto_number(message, NT_LANCE_BASE_PATH_IS_DATASET_ROOT),
            .path = nt_proto_text(message, NT_LANCE_BASE_PATH_PATH),
        };
        NT_TRY(find_folder(file, lance, base, error));
    }
    if (lance->base_count)
        qsort(lance->bases, lance->base_count, sizeof(*lance->bases), nt_compare_u64);
    for (uint32_t i = 1; i < lance->base_count; i++)
        if (lance->bases[i].id == lance->bases[i - 1].id)
            return nt_fail(error, NT_CORRUPT, lance->manifest.offset, "two base paths have the id %" PRIu64,
                           lance->bases[i].id);
    return NT_OK;
}

enum nt_status nt_lance_read_bases(struct nt_file *file, struct nt_lance_dataset *lance,
                                   const char *const *allowed, struct nt_error *error)
{
    uint64_t count = nt_proto_count(lance->manifest.message, NT_LANCE_MANIFEST_BASE_PATHS);
    if (!count)
        return NT_OK;
    NT_TRY(nt_budget_take(&file->budget, NT_COST_ENVELOPE_BYTE, count * sizeof(*lance->bases),
                          lance->manifest.offset, error));
    lance->bases = nt_arena_alloc(file->arena, count, sizeof(*lance->bases));
    enum nt_status status =
        lance->bases ? nt_lance_open_base_roots(file, lance, allowed, error) : nt_fail_memory(error);
    if (status == NT_OK)
        status = read_bases(file, lance, error);
    return nt_with_context(status, error, "%s: base paths", lance->manifest.name);
}

enum nt_status nt_lance_find_base_of(const struct nt_lance_dataset *lance, uint64_t id,
                                     uint64_t position_offset, const struct nt_lance_base **base_ret,
                                     struct nt_error *error)
{
    const struct nt_lance_base *base = NULL;
    if (lance->base_count)
        base = bsearch(&id, lance->bases, lance->base_count, sizeof(*base), nt_compare_u64);
    *base_ret = base;
    if (!base)
        return nt_fail(error, NT_CORRUPT, position_offset, "the manifest has no base path %" PRIu64, id);
    if (!base->folder)
        return nt_fail(
            error, NT_UNSUPPORTED, NT_NO_OFFSET,
            "base path %" PRIu64
            ", '%.*s', is neither inside the dataset nor inside a directory that the option bases allows",
            base->id, (int)base->path.length, base->path.bytes);
    return NT_OK;
}

enum nt_status nt_lance_find_base(const struct nt_lance_dataset *lance, struct nt_proto message,
                                  uint32_t id_field, const struct nt_lance_base **base_ret,
                                  struct nt_error *error)
{
    *base_ret = NULL;
    if (!nt_proto_has(message, id_field))
        return NT_OK;
    return nt_lance_find_base_of(lance, nt_proto_number(message, id_field),
                                 nt_lance_manifest_offset(&lance->manifest, message), base_ret, error);
}

bool nt_lance_find_beneath(const struct nt_lance_dataset *lance, struct nt_text path,
                           struct nt_folder **folder_ret, struct nt_text *name_ret)
{
    for (uint32_t i = 0; i < lance->base_root_count; i++) {
        const struct nt_lance_base_root *root = &lance->base_roots[i];
        *folder_ret = root->folder;
        if ((nt_folder_name_below(path, root->real, name_ret) ||
             nt_folder_name_below(path, root->folder->path, name_ret)) &&
            name_ret->length)
            return true;
    }
    return false;
}
