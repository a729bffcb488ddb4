/* SPDX-License-Identifier: MIT
 *
 * The table of file formats and the functions that open a file or directory with it. Formats with a magic
 * number are tried first, the one without any last.
 */
#include "formats/formats.h"

#include <errno.h>

#include "core/base/abi.h"
#include "core/base/built_in.h"
#include "core/io/address.h"
#include "remote/client/client.h"

const struct nt_format *const nt_formats[] = {NT_FORMATS};

/* Is it the name of a format that this build omits? */
static bool is_omitted(const char *name)
{
    static const char *const names[] = {NT_FORMATS_OMITTED};
    for (size_t i = 0; names[i]; i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

static const struct nt_format *format_at(uint32_t index)
{
    return index < sizeof(nt_formats) / sizeof(*nt_formats) ? nt_formats[index] : NULL;
}

const char *nt_format_name(uint32_t index)
{
    return format_at(index) ? format_at(index)->name : NULL;
}

const char *nt_format_description(uint32_t index)
{
    return format_at(index) ? format_at(index)->description : NULL;
}

/* A file is worth serving if any dataset opened; otherwise the first failure becomes the file's. */
static enum nt_status find_failure(struct nt_file *file, struct nt_error *error)
{
    struct nt_error none = {0};
    for (uint32_t i = 0; i < file->dataset_count && !file->failure; i++)
        if (!file->datasets[i]->failure)
            return NT_OK;
    if (!file->failure && file->dataset_count)
        file->failure = file->datasets[0]->failure;
    if (file->failure)
        return NT_OK;
    nt_fail(&none, NT_NOT_THIS_FORMAT, NT_NO_OFFSET, "contains no dataset");
    return nt_failure_keep(&none, file->arena, &file->failure, error);
}

static enum nt_status check_datasets(struct nt_file *file, const struct nt_open_options *options,
                                     struct nt_error *error)
{
    NT_TRY(find_failure(file, error));
    if (!file->failure || options->open_broken)
        return NT_OK;
    return nt_fail_copy(error, file->failure);
}

/* A caller that requests a version gets that one or an error. */
static enum nt_status check_version(const struct nt_format *format, const struct nt_source *source,
                                    const struct nt_open_options *options, struct nt_error *error)
{
    if (!options->version || (source->folder && format->find_version))
        return NT_OK;
    return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "%s: has no versions, but version '%s' is requested",
                   source->path, options->version);
}

static enum nt_status open_with(const struct nt_format *format, struct nt_source *source,
                                const struct nt_open_options *options, struct nt_file **file_ret,
                                struct nt_error *error)
{
    struct nt_file *file = NULL;
    NT_TRY(format->open(source, options, &file, error));
    if (!file->format)
        file->format = format;
    enum nt_status status = check_version(format, source, options, error);
    if (status == NT_OK)
        status = check_datasets(file, options, error);
    if (status == NT_OK)
        *file_ret = file;
    else
        nt_file_discard(file);
    return status;
}

/* ---- Trying one after the other ---- */

/* The formats that rejected the file, and why. */
struct refusal {
    const struct nt_format *format;
    struct nt_error reason;
};
struct refusals {
    unsigned count;
    struct refusal items[sizeof(nt_formats) / sizeof(*nt_formats)];
};

/* The reason of the format whose kind of file it is; NULL: none. */
static const struct nt_error *find_reason(const struct refusals *refusals, const char *format)
{
    for (unsigned i = 0; format && i < refusals->count; i++)
        if (!strcmp(refusals->items[i].format->name, format))
            return &refusals->items[i].reason;
    return NULL;
}

static enum nt_status fail_unsupported(const struct nt_source *source, const struct refusals *refusals,
                                       const char *kind, struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer names = {0};
    for (unsigned i = 0; i < refusals->count; i++)
        nt_buffer_append_format(&names, "%s%s", i ? ", " : "", refusals->items[i].format->name);
    return names.failed ? nt_fail_memory(error)
                        : nt_fail(error, NT_NOT_THIS_FORMAT, NT_NO_OFFSET,
                                  "%s: %s, which is not a supported format (formats: %s)", source->path, kind,
                                  names.bytes);
}

/* Fails with the reason of the format that the file has, or of the only one that was tried, else with the
 * identified kind of the file. */
static enum nt_status refuse(struct nt_source *source, const struct refusals *refusals,
                             struct nt_error *error)
{
    struct nt_file_kind kind;
    if (source->folder)
        NT_TRY(nt_identify_folder(source->folder, &kind, error));
    else
        kind = nt_identify(source);
    if (kind.format && is_omitted(kind.format))
        return nt_fail(error, NT_NOT_THIS_FORMAT, NT_NO_OFFSET,
                       "%s: %s: format %s is not built in (-D%s=enabled)", source->path, kind.text,
                       kind.format, kind.format);
    if (!refusals->count)
        return nt_fail(error, NT_NOT_THIS_FORMAT, NT_NO_OFFSET, "%s is a directory", source->path);
    bool is_foreign = kind.text && !kind.format;
    const struct nt_error *reason = find_reason(refusals, kind.format);
    if (!reason && !is_foreign && refusals->count == 1)
        reason = &refusals->items[0].reason;
    if (reason)
        return nt_fail(error, NT_NOT_THIS_FORMAT, NT_NO_OFFSET, "%s: %s", source->path, reason->message);
    if (!is_foreign)
        kind.text = source->folder ? "a directory of an unknown kind" : "a file of an unknown kind";
    return fail_unsupported(source, refusals, kind.text, error);
}

/* Returns NT_OK, the error of the format that recognises the file, or NT_NOT_THIS_FORMAT. */
static enum nt_status try_formats(struct nt_source *source, const struct nt_open_options *options,
                                  struct refusals *refusals, struct nt_file **file_ret,
                                  struct nt_error *error)
{
    bool is_known = false;
    for (size_t i = 0; nt_formats[i]; i++) {
        if (options->format && strcmp(options->format, nt_formats[i]->name))
            continue;
        is_known = true;
        if (source->folder && !nt_formats[i]->accepts_folder)
            continue;
        struct refusal *refusal = &refusals->items[refusals->count];
        *refusal = (struct refusal){.format = nt_formats[i]};
        enum nt_status status = open_with(nt_formats[i], source, options, file_ret, &refusal->reason);
        if (status != NT_NOT_THIS_FORMAT)
            return status == NT_OK ? NT_OK : nt_fail_copy(error, &refusal->reason);
        refusals->count++;
    }
    if (!is_known && is_omitted(options->format))
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "format %s is not built in (-D%s=enabled)",
                       options->format, options->format);
    if (!is_known)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "there is no format '%s'", options->format);
    return refuse(source, refusals, error);
}

bool nt_may_be_data_file(struct nt_source *source, const char *format)
{
    bool may_be = false;
    for (size_t i = 0; !may_be && nt_formats[i]; i++)
        may_be = (!format || !strcmp(format, nt_formats[i]->name)) &&
                 nt_formats[i]->recognize(source, NULL) != NT_NOT_THIS_FORMAT;
    return may_be;
}

enum nt_status nt_file_open_source(struct nt_source *source, const struct nt_open_options *options,
                                   struct nt_file **file_ret, struct nt_error *error)
{
    struct refusals refusals = {.count = 0};
    struct nt_open_options known;
    NT_TRY(nt_copy_struct(options, &known, sizeof(known), "nt_open_options", error));
    return try_formats(source, &known, &refusals, file_ret, error);
}

enum nt_status nt_open_source(const char *path, const struct nt_open_options *options,
                              struct nt_source **source_ret, struct nt_error *error)
{
    struct stat attributes;
    if (nt_is_address(path))
        return nt_source_open_remote(path, options->fetcher, source_ret, error);
    bool is_there = stat(path, &attributes) == 0;
    if (!is_there && errno != ENOENT && errno != ENOTDIR)
        return nt_fail_system(error, errno, "%s", path);
    if (!is_there || !S_ISDIR(attributes.st_mode))
        return nt_source_open_local(path, source_ret, error);
    enum nt_folder_use use = options->for_other_users ? NT_FOLDER_DATASET_FOR_OTHERS : NT_FOLDER_DATASET;
    return nt_source_open_folder(path, use, source_ret, error);
}

enum nt_status nt_file_open(const char *path, const struct nt_open_options *options,
                            struct nt_file **file_ret, struct nt_error *error)
{
    struct nt_source *source;
    struct nt_open_options known;
    NT_TRY(nt_copy_struct(options, &known, sizeof(known), "nt_open_options", error));
    NT_TRY(nt_open_source(path, &known, &source, error));
    return nt_file_take_source(source, &known, file_ret, error);
}

/* ---- Directories ---- */

void nt_version_deinit(struct nt_dataset_version *version)
{
    free(version->series);
    free(version->file);
    for (size_t i = 0; i < NT_VERSION_WATCHED; i++)
        free(version->watched[i]);
    *version = (struct nt_dataset_version){.number = 0};
}

enum nt_status nt_find_version_in(struct nt_folder *folder, const struct nt_open_options *options,
                                  struct nt_dataset_version *version_ret, struct nt_error *error)
{
    *version_ret = (struct nt_dataset_version){.number = 0};
    for (size_t i = 0; nt_formats[i]; i++) {
        bool is_taken = false, is_tried = !options->format || !strcmp(options->format, nt_formats[i]->name);
        if (!is_tried || !nt_formats[i]->accepts_folder)
            continue;
        NT_TRY(nt_formats[i]->accepts_folder(folder, &is_taken, error));
        if (is_taken && nt_formats[i]->find_version)
            return nt_formats[i]->find_version(folder, options->version, version_ret, error);
        if (is_taken && nt_formats[i]->find_state)
            return nt_formats[i]->find_state(folder, version_ret, error);
        if (is_taken)
            return NT_OK;
    }
    return NT_OK;
}

enum nt_status nt_find_version(const char *path, const struct nt_open_options *options,
                               struct nt_dataset_version *version_ret, struct nt_error *error)
{
    NT_CLEANUP(nt_folder_close_at) struct nt_folder *folder = NULL;
    *version_ret = (struct nt_dataset_version){.number = 0};
    NT_TRY(nt_folder_open(path, NT_FOLDER_DATASET, &folder, error));
    return nt_find_version_in(folder, options, version_ret, error);
}

enum nt_status nt_is_dataset_folder(struct nt_folder *folder, bool *is_dataset_ret, struct nt_error *error)
{
    enum nt_status status = NT_OK;
    *is_dataset_ret = false;
    for (size_t i = 0; nt_formats[i] && status == NT_OK && !*is_dataset_ret; i++)
        if (nt_formats[i]->accepts_folder)
            status = nt_formats[i]->accepts_folder(folder, is_dataset_ret, error);
    if (status != NT_OK || *is_dataset_ret)
        return status;
    struct nt_file_kind kind;
    status = nt_identify_folder(folder, &kind, error);
    *is_dataset_ret = status == NT_OK && kind.text;
    return status;
}

enum nt_status nt_is_dataset_path(const char *path, bool *is_dataset_ret, struct nt_error *error)
{
    NT_CLEANUP(nt_folder_close_at) struct nt_folder *folder = NULL;
    NT_TRY(nt_folder_open(path, NT_FOLDER_DATASET, &folder, error));
    return nt_is_dataset_folder(folder, is_dataset_ret, error);
}
