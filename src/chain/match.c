/* SPDX-License-Identifier: MIT
 *
 * Finds the dataset and the fields of a member that correspond to those of the chain. Fields match by
 * path and physical type, because type names differ between file versions.
 */
#include "chain/chain.h"

#include "core/model/field.h"
#include "formats/formats.h"

/* ---- Match datasets ---- */

/* A dataset without a name of its own has the name of its file. */
static bool is_named_after_file(const struct nt_dataset *dataset)
{
    const char *path = dataset->file->path;
    return nt_texts_are_equal(dataset->name, nt_path_stem(path)) ||
           nt_texts_are_equal(dataset->name, nt_path_name(path));
}

/* Files of ROOT can have RNTuples, trees or both. */
static bool is_of_root(const struct nt_file *file)
{
    return strcmp(file->format->name, "rntuple") == 0 || strcmp(file->format->name, "ttree") == 0;
}

enum nt_status nt_chain_match_dataset(const struct nt_dataset *first, const struct nt_chain_member *member,
                                      struct nt_dataset **dataset_ret, struct nt_error *error)
{
    enum { MAX_PATH = 4096 };
    char path[MAX_PATH];
    const struct nt_file *file = member->file;
    bool has_one = first->file->dataset_count == 1 && file->dataset_count == 1;
    if (file->format != first->file->format && !(is_of_root(file) && is_of_root(first->file)))
        return nt_fail(error, NT_INCOMPATIBLE, NT_NO_OFFSET, "the format is %s, but %s has the format %s",
                       file->format->name, first->file->path, first->file->format->name);
    if (!member->listed->sample && has_one && is_named_after_file(first) &&
        is_named_after_file(file->datasets[0])) {
        *dataset_ret = file->datasets[0];
        return file->datasets[0]->failure ? nt_fail_copy(error, file->datasets[0]->failure) : NT_OK;
    }
    size_t length = nt_dataset_path(first, path, sizeof(path));
    NT_TRY(nt_check_memory(length, error));
    if (length >= sizeof(path))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the dataset's path is longer than %d bytes", MAX_PATH);
    struct nt_error failure = {0};
    enum nt_status status = nt_file_find(
        file, member->listed->sample ? member->listed->sample->dataset : path, dataset_ret, &failure);
    if (status == NT_NOT_FOUND)
        failure.status = NT_INCOMPATIBLE; /* for a dataset of the chain, which exists in the first file */
    return status == NT_OK ? NT_OK : nt_fail_copy(error, &failure);
}

/* ---- Match fields ---- */

struct field_matcher {
    const struct nt_dataset *dataset, *other;
    uint32_t *fields;
    struct nt_error *error;
};

/* Example: "<f4 [3, 4], or null". */
static void append_elements(struct nt_buffer *out, const struct nt_field *field)
{
    bool has_values = nt_field_kind_info(field->kind)->form == NT_FORM_VALUE && field->dtype.numpy;
    if (has_values)
        nt_buffer_append_string(out, field->dtype.numpy);
    for (uint32_t i = 0; has_values && i < field->dimension_count; i++)
        nt_buffer_append_format(out, "%s%" PRIu64 "%s", i ? ", " : " [", field->dimensions[i],
                                i + 1 == field->dimension_count ? "]" : "");
    if (nt_field_is_fortran_order(field))
        nt_buffer_append_string(out, " in Fortran order");
    if (field->is_nullable)
        nt_buffer_append_format(out, "%sor null", out->length ? ", " : "");
}

void nt_chain_append_type(struct nt_buffer *out, const struct nt_field *field)
{
    if (field->type.length)
        nt_append_printable(out, field->type.bytes, field->type.length);
    else
        nt_buffer_append_string(out, nt_field_kind_name(field->kind));
    struct nt_buffer elements = {0};
    append_elements(&elements, field);
    if (elements.length)
        nt_buffer_append_format(out, " (%s)", elements.bytes);
    nt_buffer_deinit_part(&elements, out);
}

/* `here` or `there` is NULL if the field is missing on that side. */
static enum nt_status differ(const struct field_matcher *matcher, const struct nt_dataset *named,
                             uint32_t field, const struct nt_field *here, const struct nt_field *there)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer path = {0}, left = {0}, right = {0};
    nt_append_printable_path(&path, named, field);
    nt_buffer_append_string(&left, here ? "" : "no such field");
    nt_buffer_append_string(&right, there ? "" : "no such field");
    if (here)
        nt_chain_append_type(&left, here);
    if (there)
        nt_chain_append_type(&right, there);
    bool has_memory = !path.failed && !left.failed && !right.failed;
    return has_memory ? nt_fail(matcher->error, NT_INCOMPATIBLE, NT_NO_OFFSET,
                                "field %s differs between files: %s: %s; %s: %s", nt_buffer_string(&path),
                                matcher->dataset->file->path, nt_buffer_string(&left),
                                matcher->other->file->path, nt_buffer_string(&right))
                      : nt_fail_memory(matcher->error);
}

/* ---- Two fields ---- */

bool nt_chain_have_equal_elements(const struct nt_field *left, const struct nt_field *right)
{
    const struct nt_dtype *a = &left->dtype, *b = &right->dtype;
    if (a->element != b->element || a->bytes != b->bytes || a->number != b->number ||
        a->is_big_endian != b->is_big_endian || a->character_bytes != b->character_bytes ||
        !a->numpy != !b->numpy)
        return false;
    return !a->numpy || strcmp(a->numpy, b->numpy) == 0;
}

/* A record that is never null has no columns of its own, but is no projection. */
static bool shows_another(const struct nt_field *field)
{
    return field->column_count && !field->owns_columns;
}

bool nt_chain_are_alike(const struct nt_field *a, const struct nt_field *b)
{
    if (a->kind != b->kind || a->repetition != b->repetition ||
        nt_field_member_offset(a) != nt_field_member_offset(b) ||
        nt_field_is_fortran_order(a) != nt_field_is_fortran_order(b) ||
        a->dimension_count != b->dimension_count || shows_another(a) != shows_another(b) ||
        nt_chain_columns_of_kind(a) != nt_chain_columns_of_kind(b) || !a->unreadable != !b->unreadable)
        return false;
    for (uint32_t i = 0; i < a->dimension_count; i++)
        if (a->dimensions[i] != b->dimensions[i])
            return false;
    return true;
}

static bool are_equal(const struct nt_field *a, const struct nt_field *b)
{
    return nt_chain_are_alike(a, b) && a->is_nullable == b->is_nullable && nt_chain_have_equal_elements(a, b);
}

/* ---- All fields, level by level ---- */

/* Older writers name an item after its type. */
bool nt_chain_are_named(const struct nt_dataset *dataset, uint32_t parent)
{
    if (parent == NT_NONE)
        return true;
    enum nt_form form = nt_field_kind_info(dataset->fields[parent].kind)->form;
    return form == NT_FORM_RECORD || form == NT_FORM_VALUE;
}

/* The children of one field. */
struct match_siblings {
    const struct nt_dataset *dataset;
    const uint32_t *fields;
    uint32_t count;
    bool have_names;
    struct nt_field_names names; /* built only when a field is not at its expected position */
};

static struct match_siblings siblings_in(const struct nt_dataset *dataset, uint32_t parent)
{
    struct match_siblings siblings = {.dataset = dataset, .have_names = nt_chain_are_named(dataset, parent)};
    siblings.fields = nt_dataset_children(dataset, parent, &siblings.count);
    return siblings;
}

/* Returns the sibling of this name, mostly at this position; NT_NONE. Equal names match by position only. */
static enum nt_status find_sibling(struct match_siblings *siblings, uint32_t position, struct nt_text name,
                                   uint32_t *found_ret, struct nt_error *error)
{
    const struct nt_field *all = siblings->dataset->fields;
    *found_ret = NT_NONE;
    if (position < siblings->count &&
        (!siblings->have_names || nt_texts_are_equal(all[siblings->fields[position]].name, name))) {
        *found_ret = siblings->fields[position];
        return NT_OK;
    }
    if (!siblings->have_names)
        return NT_OK;
    enum nt_status status =
        siblings->names.sorted
            ? NT_OK
            : nt_field_names_init(&siblings->names, all, siblings->fields, siblings->count, error);
    const struct nt_field_name *found = status == NT_OK ? nt_field_names_find(&siblings->names, name) : NULL;
    if (found)
        *found_ret = found->field;
    return status;
}

static enum nt_status match_siblings(const struct field_matcher *matcher, struct match_siblings *here,
                                     struct match_siblings *there)
{
    uint32_t found;
    for (uint32_t i = 0; i < here->count; i++) {
        const struct nt_field *field = &matcher->dataset->fields[here->fields[i]];
        NT_TRY(find_sibling(there, i, field->name, &found, matcher->error));
        const struct nt_field *other = found == NT_NONE ? NULL : &matcher->other->fields[found];
        if (!other || !are_equal(field, other))
            return differ(matcher, matcher->dataset, here->fields[i], field, other);
        matcher->fields[here->fields[i]] = found;
    }
    for (uint32_t i = 0; i < there->count && there->count != here->count; i++) {
        const struct nt_field *other = &matcher->other->fields[there->fields[i]];
        NT_TRY(find_sibling(here, i, other->name, &found, matcher->error));
        if (found == NT_NONE)
            return differ(matcher, matcher->other, there->fields[i], NULL, other);
    }
    return NT_OK;
}

static enum nt_status match_children(const struct field_matcher *matcher, uint32_t parent,
                                     uint32_t other_parent)
{
    struct match_siblings here = siblings_in(matcher->dataset, parent),
                          there = siblings_in(matcher->other, other_parent);
    enum nt_status status = match_siblings(matcher, &here, &there);
    nt_field_names_deinit(&here.names);
    nt_field_names_deinit(&there.names);
    return status;
}

/* Matches parents before children, whatever their numbers: level by level, because these are few. */
enum nt_status nt_chain_match_fields(const struct nt_dataset *dataset, const struct nt_dataset *other,
                                     uint32_t *fields_ret, struct nt_error *error)
{
    const struct field_matcher matcher = {dataset, other, fields_ret, error};
    for (uint32_t i = 0; i < dataset->field_count; i++)
        fields_ret[i] = NT_NONE;
    NT_TRY(match_children(&matcher, NT_NONE, NT_NONE));
    for (bool is_new = true; is_new;) {
        is_new = false;
        for (uint32_t i = 0; i < dataset->field_count; i++) {
            const uint32_t *children = nt_dataset_children(dataset, i, &(uint32_t){0});
            uint32_t other_children;
            if (fields_ret[i] == NT_NONE)
                continue;
            nt_dataset_children(other, fields_ret[i], &other_children);
            bool is_done = dataset->fields[i].child_count == 0 ? other_children == 0
                                                               : fields_ret[children[0]] != NT_NONE;
            if (is_done)
                continue;
            NT_TRY(match_children(&matcher, i, fields_ret[i]));
            is_new = true;
        }
    }
    return NT_OK;
}

/* ---- Fields of a single file ---- */

uint32_t nt_chain_columns_owner(const struct nt_dataset *dataset, uint32_t field)
{
    uint32_t count;
    const uint32_t *columns = nt_field_columns(dataset, field, &count);
    return count && !dataset->fields[field].owns_columns ? dataset->columns[columns[0]].field : NT_NONE;
}

enum nt_status nt_chain_copy_fields(struct nt_dataset *dataset, struct nt_arena *arena,
                                    struct nt_chain_fields *fields_ret, struct nt_error *error)
{
    uint32_t *owners = nt_arena_alloc(arena, (size_t)dataset->field_count + 1, sizeof(*owners));
    NT_TRY(nt_check_memory(owners, error));
    for (uint32_t i = 0; i < dataset->field_count; i++)
        owners[i] = nt_chain_columns_owner(dataset, i);
    *fields_ret = (struct nt_chain_fields){dataset->fields, owners, dataset->field_count};
    return NT_OK;
}
