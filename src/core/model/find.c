/* SPDX-License-Identifier: MIT
 *
 * In: a path as a program or a person writes it. Out: the data set or the field that it means. Names in a
 * path are those of the mounted tree (docs/tree.md, "Names"): each part is percent-decoded while it is
 * compared.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/text.h"
#include "core/model/path.h"

/* ---- parts of paths ---- */

/* The part behind the last separator, and in `path` what stands before that; `bytes` is NULL where nothing is
 * left. */
static struct nt_text take_last(struct nt_text *path, char separator)
{
    const char *at = memrchr(path->bytes, separator, path->length);
    if (!at) {
        struct nt_text all = *path;
        *path = (struct nt_text){NULL, 0};
        return all;
    }
    size_t before = (size_t)(at - path->bytes);
    struct nt_text last = {at + 1, path->length - before - 1};
    path->length = before;
    return last;
}

/* The part before the first separator, and in `path` what stands behind that. */
static struct nt_text take_first(struct nt_text *path, char separator)
{
    const char *at = memchr(path->bytes, separator, path->length);
    struct nt_text first = {path->bytes, at ? (size_t)(at - path->bytes) : path->length};
    *path = at ? (struct nt_text){at + 1, path->length - first.length - 1} : (struct nt_text){NULL, 0};
    return first;
}

static bool is_name(struct nt_text part, struct nt_text name)
{
    size_t compared = 0, step;
    if (name.length == 0)
        return part.length == 1 && part.bytes[0] == '%';
    for (size_t i = 0; i < part.length; i += step, compared++) {
        uint8_t byte;
        step = nt_percent_decode(part.bytes + i, part.length - i, &byte);
        if (compared == name.length || (uint8_t)name.bytes[compared] != byte)
            return false;
    }
    return compared == name.length;
}

/* ---- data sets ---- */

/* Whether a path leads to the name in the directory. */
static bool leads_to(const struct nt_file *file, struct nt_text path, struct nt_text name, uint32_t directory)
{
    if (!is_name(take_last(&path, '/'), name))
        return false;
    for (; path.bytes && directory; directory = file->directories[directory].parent)
        if (!is_name(take_last(&path, '/'), file->directories[directory].name))
            return false;
    return !path.bytes && !directory;
}

/* `cycle` 0: the newest. */
static struct nt_dataset *find_cycle(const struct nt_file *file, struct nt_text path, uint64_t cycle)
{
    for (uint32_t i = 0; i < file->dataset_count; i++) {
        struct nt_dataset *dataset = file->datasets[i];
        if (dataset->attribute_of == NT_NONE &&
            (cycle ? dataset->cycle == cycle : dataset->is_newest_cycle) &&
            leads_to(file, path, dataset->name, dataset->directory))
            return dataset;
    }
    return NULL;
}

/* A cycle that stands behind the path's last ';', which is then taken from the path; else 0. */
static uint64_t take_cycle(struct nt_text *path)
{
    struct nt_text name = *path;
    struct nt_text digits = take_last(&name, ';');
    uint64_t cycle = 0;
    if (!name.bytes || digits.length == 0 || digits.length > 10)
        return 0;
    for (size_t i = 0; i < digits.length; i++) {
        if (digits.bytes[i] < '0' || digits.bytes[i] > '9')
            return 0;
        cycle = 10 * cycle + (uint64_t)(digits.bytes[i] - '0');
    }
    *path = name;
    return cycle;
}

static struct nt_dataset *find_dataset(const struct nt_file *file, struct nt_text path)
{
    struct nt_dataset *dataset = find_cycle(file, path, 0);
    uint64_t cycle = dataset ? 0 : take_cycle(&path);
    return cycle ? find_cycle(file, path, cycle) : dataset;
}

/* "Events/attribute.NAME": an attribute set that is linked to a data set. */
static struct nt_dataset *find_attribute_set(const struct nt_file *file, struct nt_text path)
{
    struct nt_text name = take_last(&path, '/');
    if (!path.bytes || !nt_text_skip(&name, NT_ATTRIBUTE_PREFIX))
        return NULL;
    const struct nt_dataset *of = find_dataset(file, path);
    for (uint32_t i = 0; of && i < file->dataset_count; i++)
        if (file->datasets[i]->attribute_of == of->index && is_name(name, file->datasets[i]->name))
            return file->datasets[i];
    return NULL;
}

/* The newest cycle of the only name. */
static enum nt_status find_only(const struct nt_file *file, struct nt_dataset **dataset_ret,
                                struct nt_error *error)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < file->dataset_count; i++) {
        if (file->datasets[i]->attribute_of != NT_NONE || !file->datasets[i]->is_newest_cycle)
            continue;
        *dataset_ret = file->datasets[i];
        count++;
    }
    if (count != 1)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "%s has %" PRIu32 " data sets: one has to be named",
                       file->path, count);
    return NT_OK;
}

enum nt_status nt_file_find(const struct nt_file *file, const char *path, struct nt_dataset **dataset_ret,
                            struct nt_error *error)
{
    struct nt_dataset *found = NULL;
    if (!path) {
        enum nt_status status = find_only(file, &found, error);
        if (status != NT_OK)
            return status;
    } else {
        struct nt_text text = nt_text_of(path);
        found = find_dataset(file, text);
        if (!found)
            found = find_attribute_set(file, text);
    }
    if (!found)
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "%s: there is no data set '%s'", file->path, path);
    if (found->failure)
        return nt_fail_with(error, found->failure);
    *dataset_ret = found;
    return NT_OK;
}

/* ---- fields ---- */

static uint32_t find_child(const struct nt_dataset *dataset, uint32_t parent, struct nt_text part)
{
    uint32_t count;
    const uint32_t *children = nt_dataset_children(dataset, parent, &count);
    for (uint32_t i = 0; i < count; i++)
        if (is_name(part, dataset->fields[children[i]].name))
            return children[i];
    return NT_NONE;
}

static uint32_t find_below(const struct nt_dataset *dataset, struct nt_text path, char separator)
{
    uint32_t field = NT_NONE;
    do
        field = find_child(dataset, field, take_first(&path, separator));
    while (path.bytes && field != NT_NONE);
    return field;
}

static enum nt_status refuse_field(const struct nt_dataset *dataset, const char *path, struct nt_error *error)
{
    enum { SHOWN_BYTES = 100 };
    char name[SHOWN_BYTES];
    nt_dataset_path(dataset, name, sizeof(name));
    return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "%s: the data set '%s' has no field '%s'",
                   dataset->file->path, name, path);
}

enum nt_status nt_dataset_find(const struct nt_dataset *dataset, const char *path, uint32_t *field_ret,
                               struct nt_error *error)
{
    if (dataset->failure)
        return nt_fail_with(error, dataset->failure);
    struct nt_text text = nt_text_of(path);
    uint32_t by_slashes = find_below(dataset, text, '/');
    uint32_t by_dots = strchr(path, '/') ? NT_NONE : find_below(dataset, text, '.');
    if (by_slashes == NT_NONE && by_dots == NT_NONE)
        return refuse_field(dataset, path, error);
    if (by_slashes != NT_NONE && by_dots != NT_NONE && by_slashes != by_dots)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET,
                       "'%s' may mean two fields: write %%2E for a dot in a name, or / between names", path);
    *field_ret = by_slashes != NT_NONE ? by_slashes : by_dots;
    return NT_OK;
}
