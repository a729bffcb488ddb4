/* SPDX-License-Identifier: MIT
 *
 * Paths and names: percent-encoded paths of datasets and fields, lookup by path, and a sorted index of
 * field names.
 */
#include "core/model/model.h"

#include "core/base/text.h"

/* ---- Encoding ---- */

static void put_percent(struct nt_buffer *out, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        nt_buffer_append_format(out, "%%%02X", (uint8_t)bytes[i]);
}

static bool dot_is_encoded(enum nt_name_rule rule, bool is_first_byte, bool is_first_dot)
{
    return rule == NT_NAME_FIELD || (rule != NT_NAME_TYPED && is_first_byte) ||
           (rule == NT_NAME_RESERVED && is_first_dot);
}

void nt_name_encode(struct nt_text text, enum nt_name_rule rule, struct nt_buffer *out)
{
    bool is_first_dot = true;
    for (size_t i = 0, step; i < text.length; i += step) {
        const char *at = text.bytes + i;
        uint32_t code_point = 0;
        bool is_encoded;
        step = nt_utf8_decode((const uint8_t *)at, text.length - i, &code_point);
        if (step == 0) {
            is_encoded = true;
            step = 1;
        } else if (code_point == '.') {
            is_encoded = dot_is_encoded(rule, i == 0, is_first_dot);
            is_first_dot = false;
        } else if (code_point == '%') {
            is_encoded = nt_is_percent_encoded(at, text.length - i);
        } else {
            is_encoded = code_point < 0x20 || code_point == '/' || (code_point >= 0x7F && code_point < 0xA0);
        }
        if (is_encoded)
            put_percent(out, at, step);
        else
            nt_buffer_append(out, at, step);
    }
}

/* ---- Fields ---- */

static uint32_t ancestors_of(const struct nt_dataset *dataset, uint32_t field,
                             uint32_t ancestors[NT_MAX_DEPTH + 1])
{
    uint32_t depth = 0;
    for (uint32_t at = field; at != NT_NONE && depth <= NT_MAX_DEPTH; at = dataset->fields[at].parent)
        ancestors[depth++] = at;
    return depth;
}

void nt_append_field_path(struct nt_buffer *out, const struct nt_dataset *dataset, uint32_t field)
{
    uint32_t path[NT_MAX_DEPTH + 1];
    for (uint32_t i = ancestors_of(dataset, field, path); i-- > 0;) {
        nt_buffer_append(out, dataset->fields[path[i]].name.bytes, dataset->fields[path[i]].name.length);
        if (i)
            nt_buffer_append_byte(out, '/');
    }
}

void nt_append_printable_path(struct nt_buffer *out, const struct nt_dataset *dataset, uint32_t field)
{
    struct nt_buffer path = {0};
    nt_append_field_path(&path, dataset, field);
    nt_append_printable(out, path.bytes, path.length);
    nt_buffer_deinit_part(&path, out);
}

enum nt_status nt_name_field(const struct nt_dataset *dataset, uint32_t field, const char *part,
                             enum nt_status status, struct nt_error *error)
{
    enum { MAX_BYTES = 86 };
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer path = {0};
    if (status == NT_OK || !error)
        return status;
    nt_buffer_append_string(&path, "field ");
    nt_append_printable_path(&path, dataset, field);
    if (path.length > MAX_BYTES)
        path.bytes[MAX_BYTES] = '\0';
    const char *name = path.failed ? "field ?" : nt_buffer_string(&path);
    const char *named = strstr(error->message, name);
    if (!named || named[strlen(name)] != ':')
        nt_error_context(error, "%s%s%s", part ? part : "", part ? " of " : "", name);
    return status;
}

void nt_name_group(const struct nt_dataset *dataset, uint32_t group, struct nt_error *error)
{
    if (dataset->field_groups)
        nt_name_field(dataset, nt_group_field(dataset, group, NULL), "page list", error->status, error);
    else
        nt_error_context(error, "page list of cluster group %" PRIu32, group);
}

static void put_name(struct nt_buffer *out, struct nt_text name, enum nt_name_rule rule)
{
    if (name.length)
        nt_name_encode(name, rule, out);
    else
        nt_buffer_append_byte(out, '%');
}

/* As snprintf: truncates, terminates, and returns the full length. */
static size_t hand_out(struct nt_buffer *path, char *text, size_t capacity)
{
    size_t length = path->failed ? 0 : path->length, copied = length < capacity ? length : capacity - 1;
    if (capacity) {
        memcpy(text, path->bytes ? path->bytes : "", copied);
        text[copied] = '\0';
    }
    nt_buffer_deinit(path);
    return length;
}

size_t nt_field_path(const struct nt_dataset *dataset, uint32_t field, char *text, size_t capacity)
{
    struct nt_buffer out = {0};
    uint32_t path[NT_MAX_DEPTH + 1];
    if (field < nt_dataset_field_count(dataset))
        for (uint32_t i = ancestors_of(dataset, field, path); i-- > 0;) {
            put_name(&out, dataset->fields[path[i]].name, NT_NAME_FIELD);
            if (i)
                nt_buffer_append_byte(&out, '/');
        }
    return hand_out(&out, text, capacity);
}

/* ---- Names that several items of a directory have: "name", "name~2", ... ---- */

/* Removes "~N" from the end of a name and returns N, which is at least 2; else 0. */
static uint32_t take_number(struct nt_text *name)
{
    enum { MAX_DIGITS = 9 };
    uint32_t first = name->length, number = 0;
    while (first && name->bytes[first - 1] >= '0' && name->bytes[first - 1] <= '9')
        first--;
    if (first < 2 || name->bytes[first - 1] != '~' || first == name->length || name->bytes[first] == '0' ||
        name->length - first > MAX_DIGITS)
        return 0;
    for (uint32_t i = first; i < name->length; i++)
        number = 10 * number + (uint32_t)(name->bytes[i] - '0');
    if (number < 2)
        return 0;
    name->length = first - 1;
    return number;
}

/* What the names beside a dataset leave for its own. */
struct name_use {
    struct nt_text name;
    uint32_t earlier; /* directories and earlier datasets of this name */
    uint64_t numbers; /* bit N: one is called "name~N" in the file; larger numbers do not matter */
};

static void note_sibling(struct name_use *use, struct nt_text sibling, bool is_earlier)
{
    use->earlier += is_earlier && nt_texts_are_equal(sibling, use->name);
    uint32_t number = take_number(&sibling);
    if (number && number < 64 && nt_texts_are_equal(sibling, use->name))
        use->numbers |= UINT64_C(1) << number;
}

static bool has_plain_name(const struct nt_dataset *dataset)
{
    return dataset->attribute_of == NT_NONE && dataset->is_newest_cycle;
}

/* The number behind the name, as the mounted tree has it; 0: none. */
static uint32_t number_of(const struct nt_dataset *dataset)
{
    const struct nt_file *file = dataset->file;
    struct name_use use = {.name = dataset->name};
    if (!has_plain_name(dataset))
        return 0;
    for (uint32_t i = 1; i < file->directory_count; i++)
        if (file->directories[i].parent == dataset->directory)
            note_sibling(&use, file->directories[i].name, true);
    for (uint32_t i = 0; i < file->dataset_count; i++)
        if (file->datasets[i]->directory == dataset->directory && has_plain_name(file->datasets[i]))
            note_sibling(&use, file->datasets[i]->name, i < dataset->index);
    uint32_t number = use.earlier ? 1 : 0;
    for (uint32_t i = 0; i < use.earlier; i++)
        do
            number++;
        while (number < 64 && use.numbers >> number & 1u);
    return number;
}

static void put_dataset(struct nt_buffer *out, const struct nt_dataset *dataset)
{
    const struct nt_directory *directories = dataset->file->directories;
    uint32_t path[NT_MAX_DEPTH + 1], depth = 0;
    for (uint32_t at = dataset->directory; at && depth <= NT_MAX_DEPTH; at = directories[at].parent)
        path[depth++] = at;
    while (depth-- > 0) {
        put_name(out, directories[path[depth]].name, NT_NAME_DATASET);
        nt_buffer_append_byte(out, '/');
    }
    put_name(out, dataset->name, NT_NAME_DATASET);
    uint32_t number = number_of(dataset);
    if (number)
        nt_buffer_append_format(out, "~%" PRIu32, number);
    if (!dataset->is_newest_cycle)
        nt_buffer_append_format(out, ";%" PRIu32, dataset->cycle);
}

void nt_append_dataset_path(struct nt_buffer *out, const struct nt_dataset *dataset)
{
    if (dataset->attribute_of == NT_NONE) {
        put_dataset(out, dataset);
    } else {
        put_dataset(out, dataset->file->datasets[dataset->attribute_of]);
        nt_buffer_append_string(out, "/" NT_ATTRIBUTE_PREFIX);
        nt_name_encode(dataset->name, NT_NAME_DATASET, out);
    }
}

size_t nt_dataset_path(const struct nt_dataset *dataset, char *text, size_t capacity)
{
    struct nt_buffer out = {0};
    nt_append_dataset_path(&out, dataset);
    return hand_out(&out, text, capacity);
}

/* ---- Parts of paths ---- */

/* Splits at the last separator: returns the part after it and leaves the rest in `path`; `bytes` is
 * NULL if nothing is left. */
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

/* Splits at the first separator: returns the part before it and leaves the rest in `path`. */
static struct nt_text take_first(struct nt_text *path, char separator)
{
    const char *at = memchr(path->bytes, separator, path->length);
    struct nt_text first = {path->bytes, at ? (size_t)(at - path->bytes) : path->length};
    *path = at ? (struct nt_text){at + 1, path->length - first.length - 1} : (struct nt_text){NULL, 0};
    return first;
}

bool nt_name_is(struct nt_text part, struct nt_text name)
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

/* ---- Datasets ---- */

/* Does a path lead to the name in the directory? */
static bool leads_to(const struct nt_file *file, struct nt_text path, struct nt_text name, uint32_t directory)
{
    if (!nt_name_is(take_last(&path, '/'), name))
        return false;
    for (; path.bytes && directory; directory = file->directories[directory].parent)
        if (!nt_name_is(take_last(&path, '/'), file->directories[directory].name))
            return false;
    return !path.bytes && !directory;
}

/* Is it the dataset's path, without a cycle? `stem` is the path without a number behind it. */
static bool is_path_of(const struct nt_dataset *dataset, struct nt_text path, struct nt_text stem,
                       uint32_t number)
{
    const struct nt_file *file = dataset->file;
    if (leads_to(file, path, dataset->name, dataset->directory))
        return !number_of(dataset);
    return number && leads_to(file, stem, dataset->name, dataset->directory) && number_of(dataset) == number;
}

/* `cycle` 0: the newest. A dataset whose path has the cycle comes before the newest. */
static struct nt_dataset *find_cycle(const struct nt_file *file, struct nt_text path, uint64_t cycle)
{
    struct nt_dataset *newest = NULL;
    struct nt_text stem = path;
    uint32_t number = take_number(&stem);
    for (uint32_t i = 0; i < file->dataset_count; i++) {
        struct nt_dataset *dataset = file->datasets[i];
        bool is_requested = cycle ? dataset->cycle == cycle : dataset->is_newest_cycle;
        if (dataset->attribute_of != NT_NONE || !is_requested || (newest && dataset->is_newest_cycle) ||
            !is_path_of(dataset, path, stem, number))
            continue;
        if (!dataset->is_newest_cycle || !cycle)
            return dataset;
        newest = dataset;
    }
    return newest;
}

/* Removes a cycle after the path's last ';' and returns it; else 0. */
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

/* "Events/attribute.NAME": the attribute set that a dataset links. */
static struct nt_dataset *find_attribute_set(const struct nt_file *file, struct nt_text path)
{
    struct nt_text name = take_last(&path, '/');
    if (!path.bytes || !nt_text_skip(&name, NT_ATTRIBUTE_PREFIX))
        return NULL;
    const struct nt_dataset *of = find_dataset(file, path);
    for (uint32_t i = 0; of && i < file->dataset_count; i++)
        if (file->datasets[i]->attribute_of == of->index && nt_name_is(name, file->datasets[i]->name))
            return file->datasets[i];
    return NULL;
}

bool nt_dataset_is_main(const struct nt_dataset *dataset)
{
    return dataset->attribute_of == NT_NONE && dataset->is_newest_cycle && !dataset->is_secondary;
}

struct nt_dataset *nt_file_only(const struct nt_file *file, uint32_t *count_ret)
{
    struct nt_dataset *found = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < file->dataset_count; i++) {
        if (!nt_dataset_is_main(file->datasets[i]))
            continue;
        found = file->datasets[i];
        count++;
    }
    if (count_ret)
        *count_ret = count;
    return count == 1 ? found : NULL;
}

static enum nt_status refuse_dataset(const struct nt_file *file, const char *path, struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer similar = {0};
    nt_dataset_suggest(file, path, &similar);
    return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "%s: has no dataset '%s'%s", file->path, path,
                   nt_buffer_string(&similar));
}

enum nt_status nt_file_find(const struct nt_file *file, const char *path, struct nt_dataset **dataset_ret,
                            struct nt_error *error)
{
    uint32_t count;
    struct nt_dataset *found = path ? find_dataset(file, nt_text_of(path)) : nt_file_only(file, &count);
    if (!path && !found)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "%s has %" PRIu32 " datasets: name one of them",
                       file->path, count);
    if (!found)
        found = find_attribute_set(file, nt_text_of(path));
    if (!found)
        return refuse_dataset(file, path, error);
    if (found->failure)
        return nt_fail_copy(error, found->failure);
    *dataset_ret = found;
    return NT_OK;
}

/* ---- Fields ---- */

static uint32_t find_child(const struct nt_dataset *dataset, uint32_t parent, struct nt_text part)
{
    uint32_t count;
    const uint32_t *children = nt_dataset_children(dataset, parent, &count);
    for (uint32_t i = 0; i < count; i++)
        if (nt_name_is(part, dataset->fields[children[i]].name))
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
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer similar = {0};
    nt_dataset_path(dataset, name, sizeof(name));
    nt_name_suggest(&(struct nt_name_scope){dataset->file, 0, dataset, NT_NONE}, "", path, &similar);
    return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "%s: the dataset '%s' has no field %s'%s'%s",
                   dataset->file->path, name, nt_has_wildcard(path) ? "that matches " : "", path,
                   nt_buffer_string(&similar));
}

enum nt_status nt_dataset_find(const struct nt_dataset *dataset, const char *path, uint32_t *field_ret,
                               struct nt_error *error)
{
    if (dataset->failure)
        return nt_fail_copy(error, dataset->failure);
    struct nt_text text = nt_text_of(path);
    uint32_t by_slashes = find_below(dataset, text, '/');
    uint32_t by_dots = strchr(path, '/') ? NT_NONE : find_below(dataset, text, '.');
    if (by_slashes == NT_NONE && by_dots == NT_NONE)
        return refuse_field(dataset, path, error);
    if (by_slashes != NT_NONE && by_dots != NT_NONE && by_slashes != by_dots)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET,
                       "'%s' is ambiguous: write %%2E for a dot in a name, or / between names", path);
    *field_ret = by_slashes != NT_NONE ? by_slashes : by_dots;
    return NT_OK;
}

/* ---- Fields by name ---- */

static int compare(const void *left, const void *right)
{
    const struct nt_field_name *a = left, *b = right;
    int order = nt_texts_compare(a->text, b->text);
    return order ? order : (a->position > b->position) - (a->position < b->position);
}

/* Counts equal names, which are adjacent, in the first of them. */
static void count_alike(struct nt_field_names *names)
{
    for (uint32_t i = 0, first = 0; i < names->count; i++) {
        if (nt_texts_compare(names->sorted[first].text, names->sorted[i].text))
            first = i;
        names->sorted[first].alike++;
    }
}

enum nt_status nt_field_names_init(struct nt_field_names *names, const struct nt_field *all,
                                   const uint32_t *fields, uint32_t count, struct nt_error *error)
{
    *names = (struct nt_field_names){.sorted = calloc((size_t)count + 1, sizeof(*names->sorted)), count};
    NT_TRY(nt_check_memory(names->sorted, error));
    for (uint32_t i = 0; i < count; i++)
        names->sorted[i] =
            (struct nt_field_name){.text = all[fields[i]].name, .field = fields[i], .position = i};
    qsort(names->sorted, count, sizeof(*names->sorted), compare);
    count_alike(names);
    return NT_OK;
}

void nt_field_names_deinit(struct nt_field_names *names)
{
    free(names->sorted);
    *names = (struct nt_field_names){NULL, 0};
}

struct nt_field_name *nt_field_names_find(const struct nt_field_names *names, struct nt_text text)
{
    uint32_t from = 0, to = names->count;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (nt_texts_compare(names->sorted[middle].text, text) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from < names->count && nt_texts_are_equal(names->sorted[from].text, text) ? &names->sorted[from]
                                                                                     : NULL;
}
