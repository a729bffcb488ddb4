/* SPDX-License-Identifier: MIT
 *
 * Packs node numbers and resolves them to the open file, dataset, field, column or page they stand for,
 * with checks against stale numbers; and maps nodes back to names and paths.
 */
#include "vfs/vfs.h"

#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/model/model.h"
#include "read/page.h"
#include "vfs/inode.h"
#include "vfs/tree.h"

/* ---- Pack and unpack numbers ---- */

enum { LEVEL_SHIFT = 60, PARTS = 4 };

/* Bits of slot, item, number and file; together at most 60. */
static const uint8_t widths[NT_LEVEL_COUNT][PARTS] = {
    [NT_LEVEL_PLACE] = {20, 16, 12, 12},   [NT_LEVEL_MOUNT] = {0, 0, 0, 12},
    [NT_LEVEL_DATASET] = {16, 0, 32, 12},  [NT_LEVEL_FIELD] = {16, 24, 0, 12},
    [NT_LEVEL_COLUMN] = {16, 24, 0, 12},   [NT_LEVEL_PAGE_RAW] = {16, 20, 24, 0},
    [NT_LEVEL_PAGE_BIN] = {16, 20, 24, 0}, [NT_LEVEL_PAGE_FILE] = {16, 19, 20, 5},
    [NT_LEVEL_ENTRY] = {16, 0, 44, 0},     [NT_LEVEL_BLOB] = {16, 14, 30, 0},
};

bool nt_node_pack(const struct nt_node *node, uint64_t *number_ret)
{
    const uint64_t parts[PARTS] = {node->slot, node->item, node->number, node->file};
    uint64_t number = 0;
    for (int i = 0; i < PARTS; i++) {
        unsigned width = widths[node->level][i];
        if (parts[i] >> width)
            return false;
        number = number << width | parts[i];
    }
    *number_ret = (uint64_t)node->level << LEVEL_SHIFT | number;
    return true;
}

bool nt_node_unpack(uint64_t number, struct nt_node *node)
{
    uint64_t level = number >> LEVEL_SHIFT, parts[PARTS];
    if (level >= NT_LEVEL_COUNT)
        return false;
    number &= (UINT64_C(1) << LEVEL_SHIFT) - 1;
    for (int i = PARTS - 1; i >= 0; i--) {
        unsigned width = widths[level][i];
        parts[i] = number & ((UINT64_C(1) << width) - 1);
        number >>= width;
    }
    *node = (struct nt_node){(enum nt_level)level, (uint32_t)parts[0], (uint32_t)parts[1], (uint32_t)parts[3],
                             parts[2]};
    return number == 0 && (widths[level][PARTS - 1] == 0 || node->file >= NT_NODE_SELF);
}

uint64_t nt_node_number(enum nt_level level, uint32_t slot, uint32_t item, uint32_t file)
{
    struct nt_node node = {.level = level, .slot = slot, .item = item, .file = file};
    uint64_t number = 0;
    return nt_node_pack(&node, &number) ? number : 0;
}

/* ---- Resolved nodes ---- */

void nt_scope_close(struct nt_scope *scope)
{
    nt_places_release(scope->vfs->places, scope->opened);
    scope->opened = NULL;
}

enum nt_status nt_scope_complete(struct nt_scope *scope, bool may_work, struct nt_error *error)
{
    struct nt_file *file = scope->file;
    if (!file || !file->complete || (scope->dataset && scope->dataset->failure))
        return NT_OK;
    if (!may_work && !nt_file_is_complete(file))
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "not all files are open");
    enum nt_status status = nt_file_complete(file, &file, error);
    struct nt_dataset *dataset = scope->dataset;
    if (status == NT_OK && dataset)
        dataset = file->datasets[dataset->index];
    if (status == NT_OK && dataset && dataset->failure)
        status = nt_fail_with(error, dataset->failure);
    if (status != NT_OK)
        return status;
    scope->file = file;
    scope->dataset = dataset;
    return NT_OK;
}

bool nt_scope_is_changing(const struct nt_scope *scope)
{
    return scope->node.level == NT_LEVEL_MOUNT || scope->place_kind == NT_PLACE_FAILED ||
           (scope->document && scope->document->changes);
}

enum nt_status nt_scope_check_caller(const struct nt_scope *scope, struct nt_error *error)
{
    const struct nt_vfs_caller *caller = scope->caller;
    if (caller && caller->is_gone(caller->context))
        return nt_fail(error, NT_CANCELED, NT_NO_OFFSET, "the caller gave up");
    return NT_OK;
}

uint64_t nt_scope_field_node(const struct nt_scope *scope, uint32_t field)
{
    return nt_node_number(NT_LEVEL_FIELD, scope->opened->first_slot + scope->dataset->index, field,
                          NT_NODE_SELF);
}

uint64_t nt_scope_column_node(const struct nt_scope *scope, uint32_t column)
{
    return nt_node_number(NT_LEVEL_COLUMN, scope->opened->first_slot + scope->dataset->index, column,
                          NT_NODE_SELF);
}

void nt_vfs_before_slow_work(void *context)
{
    const struct nt_vfs *vfs = context;
    if (vfs->options.before_slow_work)
        vfs->options.before_slow_work(vfs->options.context);
}

/* ---- Resolve numbers and paths ---- */

/* ---- opening ---- */

/* What is below a file that opened once and does not any more fails as it did. */
static enum nt_status failed_place(const struct nt_scope *scope, struct nt_error *error)
{
    bool is_told = scope->place_kind == NT_PLACE_FAILED || scope->place_kind == NT_PLACE_GONE;
    return is_told ? nt_places_failure(scope->vfs->places, scope->place, error) : nt_no_such_file(error);
}

static enum nt_status open_document(struct nt_scope *scope, struct nt_error *error)
{
    uint32_t count, index = scope->node.file - NT_NODE_FIRST_DOCUMENT;
    const struct nt_document *documents = nt_scope_documents(scope, &count);
    if (index >= count || scope->node.number >= nt_document_count(scope, &documents[index]))
        return nt_no_such_file(error);
    scope->document = &documents[index];
    scope->pseudo = scope->document->write ? &nt_produced_document : &nt_unsized_document;
    return NT_OK;
}

/* The file of the level's directory that the node names, if it is not the directory itself. */
static enum nt_status open_row(struct nt_scope *scope, struct nt_error *error)
{
    if (scope->node.file >= NT_NODE_FIRST_DOCUMENT)
        return open_document(scope, error);
    if (scope->node.number)
        return nt_no_such_file(error);
    if (scope->node.file == NT_NODE_SELF)
        return NT_OK;
    const struct nt_pseudo_table *table = nt_scope_files(scope);
    unsigned row = scope->node.file - NT_NODE_FIRST_FILE;
    if (row >= table->count)
        return nt_no_such_file(error);
    scope->pseudo = &table->rows[row];
    if (scope->pseudo->exists && !scope->pseudo->exists(scope, scope->pseudo->parameter))
        return nt_no_such_file(error);
    return NT_OK;
}

static enum nt_status open_place_level(struct nt_scope *scope, struct nt_error *error)
{
    scope->place_kind = nt_places_hold(scope->vfs->places, scope->node.slot, &scope->place, &scope->opened);
    scope->file = scope->opened ? scope->opened->file : NULL;
    if (scope->place_kind == NT_PLACE_NONE)
        return nt_no_such_file(error);
    /* Nothing is shown of what is gone, and of a moment without memory: else that the file has failed, and why. */
    if (scope->place_kind == NT_PLACE_GONE ||
        (scope->place_kind == NT_PLACE_FAILED &&
         nt_is_passing_failure(nt_places_failure(scope->vfs->places, scope->place, NULL))))
        return failed_place(scope, error);
    if (scope->node.item && !scope->file)
        return failed_place(scope, error);
    if (scope->node.item && scope->node.item >= scope->file->directory_count)
        return nt_no_such_file(error);
    return open_row(scope, error);
}

static enum nt_status open_dataset(struct nt_scope *scope, struct nt_error *error)
{
    struct nt_slot slot = {0};
    scope->place_kind = nt_places_hold_slot(scope->vfs->places, scope->node.slot, &slot, &scope->opened);
    scope->place = slot.place;
    if (!scope->opened)
        return failed_place(scope, error);
    scope->file = scope->opened->file;
    if (slot.dataset >= scope->file->dataset_count ||
        scope->opened->first_slot + slot.dataset != scope->node.slot)
        return nt_no_such_file(error);
    scope->dataset = scope->file->datasets[slot.dataset];
    return NT_OK;
}

/* Levels below data sets: the data set is good, and a field index is within it. */
static enum nt_status open_below_dataset(struct nt_scope *scope, uint32_t field, struct nt_error *error)
{
    if (scope->dataset->failure || field >= scope->dataset->field_count)
        return nt_no_such_file(error);
    scope->field = field;
    return nt_open_file_field_names(scope->opened, scope->dataset->index, &scope->field_names, error);
}

/* Columns are those of the file. */
static enum nt_status open_column(struct nt_scope *scope, struct nt_error *error)
{
    enum nt_status status = nt_scope_complete(scope, true, error);
    if (status == NT_OK)
        status = nt_dataset_stored(scope->dataset, &scope->dataset, error);
    if (status != NT_OK)
        return status;
    if (scope->dataset->failure || scope->node.item >= scope->dataset->column_count)
        return nt_no_such_file(error);
    scope->column = scope->node.item;
    return open_below_dataset(scope, scope->dataset->columns[scope->column].field, error);
}

static enum nt_status open_page_file(struct nt_scope *scope, struct nt_error *error)
{
    struct nt_page_file files[NT_PAGE_FILES];
    uint32_t number = scope->node.file - NT_NODE_SELF, count;
    enum nt_status status = open_column(scope, error);
    if (status == NT_OK)
        status = nt_page_files(scope, scope->node.number, files, &count, error);
    if (status != NT_OK)
        return status;
    if (number >= count)
        return nt_no_such_file(error);
    scope->page_file = files[number];
    scope->pseudo = scope->page_file.kind == NT_PAGE_FILE_TEXT ? &nt_page_text_file : &nt_page_part_file;
    return NT_OK;
}

static enum nt_status open_entry(struct nt_scope *scope, struct nt_error *error)
{
    enum nt_status status = nt_scope_complete(scope, true, error);
    scope->pseudo = &nt_entry_file;
    if (status == NT_OK &&
        (scope->dataset->failure || scope->node.number >= nt_dataset_entries(scope->dataset)))
        return nt_no_such_file(error);
    return status;
}

static enum nt_status open_blob(struct nt_scope *scope, struct nt_error *error)
{
    enum nt_status status = nt_scope_complete(scope, true, error);
    scope->pseudo = &nt_blob_file;
    if (status == NT_OK)
        status = open_below_dataset(scope, scope->node.item, error);
    if (status == NT_OK && !nt_field_has_blobs(scope->dataset, scope->field))
        return nt_no_such_file(error);
    return status;
}

static enum nt_status open_level(struct nt_scope *scope, struct nt_error *error)
{
    enum nt_status status = open_dataset(scope, error);
    if (status != NT_OK)
        return status;
    switch (scope->node.level) {
    case NT_LEVEL_DATASET:
        return open_row(scope, error);
    case NT_LEVEL_FIELD:
        status = open_below_dataset(scope, scope->node.item, error);
        return status == NT_OK ? open_row(scope, error) : status;
    case NT_LEVEL_COLUMN:
        status = open_column(scope, error);
        return status == NT_OK ? open_row(scope, error) : status;
    case NT_LEVEL_PAGE_RAW:
        scope->pseudo = &nt_page_raw_file;
        return open_column(scope, error);
    case NT_LEVEL_PAGE_BIN:
        scope->pseudo = &nt_page_bin_file;
        return open_column(scope, error);
    case NT_LEVEL_PAGE_FILE:
        return open_page_file(scope, error);
    case NT_LEVEL_ENTRY:
        return open_entry(scope, error);
    case NT_LEVEL_BLOB:
        return open_blob(scope, error);
    default:
        return nt_no_such_file(error);
    }
}

enum nt_status nt_scope_open(struct nt_vfs *vfs, uint64_t number, struct nt_scope *scope,
                             struct nt_error *error)
{
    *scope = (struct nt_scope){.vfs = vfs, .number = number, .field = NT_NONE, .column = NT_NONE};
    enum nt_status status;
    if (!nt_node_unpack(number, &scope->node))
        return nt_no_such_file(error);
    if (scope->node.level == NT_LEVEL_MOUNT)
        scope->pseudo = &nt_mount_directory; /* unless the node is one of its files */
    if (scope->node.level == NT_LEVEL_PLACE)
        status = open_place_level(scope, error);
    else if (scope->node.level == NT_LEVEL_MOUNT)
        status = open_row(scope, error);
    else
        status = open_level(scope, error);
    if (status != NT_OK)
        nt_scope_close(scope);
    return status;
}

bool nt_scope_open_outside(struct nt_vfs *vfs, uint64_t number, bool may_work, struct nt_scope *scope,
                           enum nt_status *status_ret, struct nt_error *error)
{
    *scope = (struct nt_scope){.vfs = vfs, .number = number, .field = NT_NONE, .column = NT_NONE};
    if (!nt_node_unpack(number, &scope->node) || scope->node.level != NT_LEVEL_PLACE || scope->node.item ||
        scope->node.file != NT_NODE_SELF)
        return false;
    bool is_probed;
    if (!nt_places_is_listed(vfs->places, scope->node.slot, &is_probed) || (is_probed && may_work))
        return false;
    scope->place = scope->node.slot;
    scope->place_kind = NT_PLACE_FILE;
    *status_ret =
        is_probed ? nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "its server would have to be asked") : NT_OK;
    return true;
}

/* ---- back to numbers, names and paths ---- */

static uint64_t dataset_node(const struct nt_scope *scope, uint32_t index)
{
    return nt_node_number(NT_LEVEL_DATASET, scope->opened->first_slot + index, 0, NT_NODE_SELF);
}

/* The levels whose nodes are found by their number, in a directory of the level's table above. */
static bool is_numbered(const struct nt_scope *scope)
{
    return scope->node.level == NT_LEVEL_PAGE_RAW || scope->node.level == NT_LEVEL_PAGE_BIN ||
           scope->node.level == NT_LEVEL_PAGE_FILE || scope->node.level == NT_LEVEL_ENTRY ||
           scope->node.level == NT_LEVEL_BLOB;
}

/* The row of a table's directory that has a section. */
static uint32_t file_with(const struct nt_pseudo_table *table, const struct nt_section *section)
{
    unsigned row = 0;
    while (table->rows[row].sections[0] != section)
        row++;
    return NT_NODE_FIRST_FILE + row;
}

static uint64_t directory_of_numbered(const struct nt_scope *scope)
{
    if (scope->node.level == NT_LEVEL_ENTRY)
        return nt_node_number(NT_LEVEL_DATASET, scope->node.slot, 0,
                              file_with(&nt_dataset_files, &nt_section_entries));
    if (scope->node.level == NT_LEVEL_BLOB)
        return nt_node_number(NT_LEVEL_FIELD, scope->node.slot, scope->field,
                              file_with(&nt_field_files, &nt_section_blobs));
    return nt_node_number(NT_LEVEL_COLUMN, scope->node.slot, scope->column,
                          file_with(&nt_column_files, &nt_section_pages));
}

/* versions.d of the data set, as it is now. */
static uint64_t directory_of_versions(const struct nt_scope *scope)
{
    struct nt_places *places = scope->vfs->places;
    uint32_t slot;
    if (nt_places_shown_slot(places, scope->place, &slot))
        return nt_node_number(NT_LEVEL_DATASET, slot, 0, file_with(&nt_dataset_files, &nt_section_versions));
    return nt_node_number(NT_LEVEL_PLACE, nt_places_get(places, scope->place)->parent, 0, NT_NODE_SELF);
}

/* The inner place that the scope's directory is, not what lies in it: of a version the data set, of a chain's file its topmost
 * directory. NULL: none. */
static const struct nt_place *inner_place(const struct nt_scope *scope)
{
    bool is_place = scope->node.level == NT_LEVEL_PLACE;
    const struct nt_place *place =
        nt_places_get(scope->vfs->places, is_place ? scope->node.slot : scope->place);
    bool is_itself = is_place || (place->way == NT_ROUTE_VERSION && scope->dataset->index == 0);
    return nt_place_is_inner(place) && is_itself ? place : NULL;
}

/* The directory that an inner place is found in. */
static uint64_t directory_of_inner(const struct nt_scope *scope, const struct nt_place *place)
{
    return place->way == NT_ROUTE_VERSION
               ? directory_of_versions(scope)
               : nt_node_number(NT_LEVEL_PLACE, place->parent, 0,
                                file_with(&nt_container_files, &nt_section_chain_files));
}

/* A directory of the scope's file. */
static uint64_t directory_in_file(const struct nt_scope *scope, uint32_t item)
{
    uint32_t place = item ? scope->place : nt_places_outer(scope->vfs->places, scope->place);
    return nt_node_number(NT_LEVEL_PLACE, place, item, NT_NODE_SELF);
}

/* The directory that the level's own directory lies in. */
static uint64_t parent_of_directory(const struct nt_scope *scope)
{
    const struct nt_place *inner;
    switch (scope->node.level) {
    case NT_LEVEL_PLACE:
        if (scope->node.item)
            return directory_in_file(scope, scope->file->directories[scope->node.item].parent);
        if ((inner = inner_place(scope)))
            return directory_of_inner(scope, inner);
        return nt_node_number(NT_LEVEL_PLACE, nt_places_get(scope->vfs->places, scope->node.slot)->parent, 0,
                              NT_NODE_SELF);
    case NT_LEVEL_DATASET:
        if (scope->dataset->attribute_of != NT_NONE)
            return dataset_node(scope, scope->dataset->attribute_of);
        inner = inner_place(scope);
        return inner ? directory_of_inner(scope, inner) : directory_in_file(scope, scope->dataset->directory);
    case NT_LEVEL_FIELD:
        if (scope->dataset->fields[scope->field].parent != NT_NONE)
            return nt_scope_field_node(scope, scope->dataset->fields[scope->field].parent);
        return dataset_node(scope, scope->dataset->index);
    case NT_LEVEL_COLUMN:
        return nt_scope_field_node(scope, scope->field);
    default:
        return NT_VFS_ROOT;
    }
}

uint64_t nt_scope_directory(const struct nt_scope *scope)
{
    if (scope->node.level == NT_LEVEL_PLACE && scope->node.item == 0)
        return directory_in_file(scope, 0);
    return nt_node_number(scope->node.level, scope->node.slot, scope->node.item, NT_NODE_SELF);
}

uint64_t nt_scope_parent(const struct nt_scope *scope)
{
    if (is_numbered(scope))
        return directory_of_numbered(scope);
    if (scope->node.file == NT_NODE_SELF)
        return parent_of_directory(scope);
    return nt_scope_directory(scope);
}

/* columns of a field are numbered through its representations */
static uint32_t column_position(const struct nt_dataset *dataset, uint32_t column)
{
    const struct nt_column *c = &dataset->columns[column];
    return c->representation * dataset->fields[c->field].columns_per_representation + c->position;
}

static void place_name(const struct nt_scope *scope, uint32_t place, struct nt_buffer *name)
{
    char text[NT_NAME_BYTES + 1];
    nt_places_name(scope->vfs->places, place, text);
    nt_buffer_text(name, text);
}

static void directory_name(const struct nt_scope *scope, struct nt_buffer *name)
{
    switch (scope->node.level) {
    case NT_LEVEL_PLACE:
        if (scope->node.item)
            nt_buffer_text(name, nt_names_get(scope->opened->names, scope->node.item));
        else
            place_name(scope, scope->node.slot, name);
        break;
    case NT_LEVEL_DATASET:
        if (inner_place(scope))
            place_name(scope, scope->place, name);
        else
            nt_buffer_text(name, nt_names_get(scope->opened->names,
                                              scope->file->directory_count + scope->dataset->index));
        break;
    case NT_LEVEL_FIELD:
        nt_buffer_text(name, nt_names_get(scope->field_names, scope->field));
        break;
    case NT_LEVEL_COLUMN:
        nt_buffer_format(name, "column.%u", column_position(scope->dataset, scope->column));
        break;
    default:
        break;
    }
}

/* Append the name that a node has in its parent directory (none for the root). */
static void nt_scope_name(const struct nt_scope *scope, struct nt_buffer *name)
{
    if (scope->document)
        nt_document_name(scope->document, scope->node.number, name);
    else if (is_numbered(scope))
        nt_buffer_format(name, "%llu%s", (unsigned long long)scope->node.number,
                         scope->node.level == NT_LEVEL_PAGE_FILE ? scope->page_file.suffix
                                                                 : scope->pseudo->name);
    else if (scope->pseudo)
        nt_buffer_text(name, scope->pseudo->name);
    else
        directory_name(scope, name);
}

/* Names are put in front of one another on the way up. */
enum nt_status nt_scope_path(struct nt_vfs *vfs, uint64_t number, struct nt_buffer *path,
                             struct nt_error *error)
{
    struct nt_buffer so_far = {0}, name = {0};
    enum nt_status status = NT_OK;
    while (number != NT_VFS_ROOT && status == NT_OK) {
        struct nt_scope scope;
        status = nt_scope_open(vfs, number, &scope, error);
        if (status != NT_OK)
            break;
        nt_buffer_clear(&name);
        nt_scope_name(&scope, &name);
        name.failed |= so_far.failed;
        if (so_far.length) {
            nt_buffer_byte(&name, '/');
            nt_buffer_append(&name, so_far.bytes, so_far.length);
        }
        struct nt_buffer swap = so_far;
        so_far = name;
        name = swap;
        number = nt_scope_parent(&scope);
        nt_scope_close(&scope);
    }
    if (status == NT_OK && so_far.length)
        nt_buffer_append(path, so_far.bytes, so_far.length);
    if (status == NT_OK && (so_far.failed || path->failed))
        status = nt_fail_memory(error);
    nt_buffer_deinit(&so_far);
    nt_buffer_deinit(&name);
    return status;
}
