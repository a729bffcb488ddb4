/* SPDX-License-Identifier: MIT
 *
 * Datasets: linking of fields and columns, and what is made when it is first used.
 */
#include "core/model/model.h"

#include "core/base/text.h"
#include "core/io/folder.h"

/* ---- Lazy loading ---- */

void nt_lazy_set(atomic_uint *state, enum nt_lazy_state before, enum nt_lazy_state after)
{
    atomic_fetch_add_explicit(state, (unsigned)after - (unsigned)before, memory_order_release);
}

/* Under the lock. */
static enum nt_status make(const struct nt_lazy *lazy, enum nt_lazy_state before, bool *is_new_ret,
                           struct nt_error *error)
{
    struct nt_error failure = {0};
    enum nt_status status = lazy->make(lazy->owner, lazy->number, &failure);
    if (status != NT_OK && error)
        *error = failure;
    bool is_of_others = status == NT_LIMIT && lazy->budget && nt_budget_is_half_used(lazy->budget);
    if (nt_is_environmental(status) || is_of_others)
        return status;
    if (status != NT_OK) {
        *lazy->failure = malloc(sizeof(failure));
        NT_TRY(nt_check_memory(*lazy->failure, error));
        **lazy->failure = failure;
        *is_new_ret = true;
    }
    nt_lazy_set(lazy->state, before, status == NT_OK ? NT_LAZY_READY : NT_LAZY_FAILED);
    return status;
}

enum nt_status nt_lazy_get(const struct nt_lazy *lazy, bool *is_new_ret, struct nt_error *error)
{
    enum nt_lazy_state state = nt_lazy_state(lazy->state);
    *is_new_ret = false;
    if (state == NT_LAZY_READY)
        return NT_OK;
    if (state == NT_LAZY_FAILED)
        return nt_fail_copy(error, *lazy->failure);
    if (lazy->before)
        lazy->before(lazy->context);
    NT_LOCK_GUARD(lazy->lock);
    state = nt_lazy_state(lazy->state);
    if (state == NT_LAZY_FAILED)
        return nt_fail_copy(error, *lazy->failure);
    return state == NT_LAZY_READY ? NT_OK : make(lazy, state, is_new_ret, error);
}

/* ---- Linking ---- */

/* A cycle never reaches a top-level field: walk up at most NT_MAX_DEPTH steps. */
static enum nt_status check_ancestors(const struct nt_dataset *dataset, struct nt_error *error)
{
    for (uint32_t i = 0; i < dataset->field_count; i++) {
        uint32_t depth = 0;
        for (uint32_t at = dataset->fields[i].parent; at != NT_NONE; at = dataset->fields[at].parent) {
            if (at >= dataset->field_count)
                return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                               "field %" PRIu32 ": its parent is field %" PRIu32 ", but there are %" PRIu32
                               " fields",
                               dataset->fields[i].id, at, dataset->field_count);
            if (++depth > NT_MAX_DEPTH)
                return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                               "field %" PRIu32 ": nested deeper than %d, or its own ancestor",
                               dataset->fields[i].id, NT_MAX_DEPTH);
        }
    }
    return NT_OK;
}

/* Links children in display order: visits fields in reverse, and fills the slices of their parents from
 * the end. */
static enum nt_status link_children(struct nt_dataset *dataset, const uint32_t *order, struct nt_error *error)
{
    uint32_t count = dataset->field_count;
    dataset->children = nt_arena_alloc(dataset->arena, (size_t)count + 1, sizeof(uint32_t));
    dataset->first_children = nt_arena_alloc(dataset->arena, (size_t)count + 1, sizeof(uint32_t));
    NT_TRY(nt_check_memory(dataset->children && dataset->first_children, error));
    for (uint32_t i = 0; i < count; i++) {
        if (dataset->fields[i].parent == NT_NONE)
            dataset->top_count++;
        else
            dataset->fields[dataset->fields[i].parent].child_count++;
    }
    for (uint32_t i = 0, used = dataset->top_count; i < count; i++) {
        used += dataset->fields[i].child_count;
        dataset->first_children[i] = used; /* for now, the end of the slice */
    }
    for (uint32_t k = count, top = dataset->top_count; k-- > 0;) {
        uint32_t parent = dataset->fields[order[k]].parent;
        uint32_t *first = parent == NT_NONE ? &top : &dataset->first_children[parent];
        dataset->children[--*first] = order[k];
    }
    return NT_OK;
}

/* ---- Equal names: "name", "name~2", ... ---- */

struct sibling_name {
    struct nt_hash_link link;
    const struct nt_field *field;
    uint32_t number; /* the last one that a later field of this name got, or 1 */
};

struct name_table {
    struct nt_hash_table table;
    struct sibling_name *entries; /* [field] */
};

static uint64_t hash_of_name(const struct name_table *names, uint32_t parent, struct nt_text name)
{
    return nt_xxh3_seeded(name.bytes, name.length, names->table.seed + parent * UINT64_C(0x9E3779B97F4A7C15));
}

static struct sibling_name *find_name(const struct name_table *names, uint64_t hash, uint32_t parent,
                                      struct nt_text name)
{
    struct nt_hash_link *link = nt_hash_table_find(&names->table, hash);
    for (; link; link = nt_hash_table_next(link)) {
        struct sibling_name *entry = NT_CONTAINER_OF(link, struct sibling_name, link);
        if (entry->field->parent == parent && nt_texts_are_equal(entry->field->name, name))
            return entry;
    }
    return NULL;
}

static void add_name(struct name_table *names, const struct nt_dataset *dataset, uint32_t field,
                     uint64_t hash)
{
    names->entries[field] = (struct sibling_name){.field = &dataset->fields[field], .number = 1};
    nt_hash_table_insert(&names->table, &names->entries[field].link, hash);
}

/* Names in the file are older than numbers: a field that is called "x~2" keeps its name. */
static enum nt_status number_field(struct nt_dataset *dataset, struct name_table *names, uint32_t number,
                                   struct nt_buffer *text, struct nt_error *error)
{
    struct nt_field *field = &dataset->fields[number];
    uint64_t hash = hash_of_name(names, field->parent, field->name);
    struct sibling_name *first = find_name(names, hash, field->parent, field->name);
    struct nt_text unique;
    do {
        nt_buffer_clear(text);
        nt_buffer_append(text, field->name.bytes, field->name.length);
        nt_buffer_append_format(text, "~%" PRIu32, ++first->number);
        NT_TRY(nt_check_memory(!text->failed, error));
        unique = (struct nt_text){text->bytes, (uint32_t)text->length};
        hash = hash_of_name(names, field->parent, unique);
    } while (find_name(names, hash, field->parent, unique));
    NT_TRY(nt_check_memory(nt_text_copy(dataset->arena, unique, &field->name), error));
    add_name(names, dataset, number, hash);
    return NT_OK;
}

static enum nt_status number_equal_names(struct nt_dataset *dataset, struct name_table *names,
                                         struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer text = {0};
    NT_AUTO_FREE uint32_t *equal = NULL; /* fields whose name an earlier one has */
    size_t count = 0, capacity = 0;
    for (uint32_t i = 0; i < dataset->field_count; i++) {
        const struct nt_field *field = &dataset->fields[i];
        uint64_t hash = hash_of_name(names, field->parent, field->name);
        if (!find_name(names, hash, field->parent, field->name)) {
            add_name(names, dataset, i, hash);
            continue;
        }
        NT_TRY(nt_check_memory(NT_GROW(equal, count, capacity), error));
        equal[count++] = i;
    }
    for (size_t i = 0; i < count; i++)
        NT_TRY(number_field(dataset, names, equal[i], &text, error));
    return NT_OK;
}

static enum nt_status make_names_unique(struct nt_dataset *dataset, struct nt_error *error)
{
    NT_AUTO_FREE struct sibling_name *entries = calloc((size_t)dataset->field_count + 1, sizeof(*entries));
    struct name_table names = {.entries = entries};
    enum nt_status status = nt_check_memory(entries && nt_hash_table_init(&names.table), error);
    if (status == NT_OK)
        status = number_equal_names(dataset, &names, error);
    nt_hash_table_deinit(&names.table);
    return status;
}

/* ---- Columns ---- */

/* For qsort_r: by field, representation and id. */
static int compare_columns(const void *left, const void *right, void *columns)
{
    const struct nt_column *a = (const struct nt_column *)columns + *(const uint32_t *)left;
    const struct nt_column *b = (const struct nt_column *)columns + *(const uint32_t *)right;
    if (a->field != b->field)
        return a->field < b->field ? -1 : 1;
    if (a->representation != b->representation)
        return a->representation < b->representation ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* Links the sorted columns `first` to `end` of one field: representations 0, 1, ... with equal numbers of
 * columns. */
static enum nt_status link_columns_of_field(struct nt_dataset *dataset, uint32_t first, uint32_t end,
                                            struct nt_error *error)
{
    const uint32_t *sorted = dataset->field_columns + first;
    uint32_t number = dataset->columns[*sorted].field, count = end - first, width = 0;
    struct nt_field *field = &dataset->fields[number];
    while (width < count && dataset->columns[sorted[width]].representation == 0)
        width++;
    if (width == 0 || count % width)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "field %" PRIu32 ": %" PRIu32 " columns do not form representations of %" PRIu32
                       " columns each",
                       field->id, count, width);
    for (uint32_t i = 0; i < count; i++) {
        struct nt_column *column = &dataset->columns[sorted[i]];
        if (column->representation != i / width)
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                           "field %" PRIu32 ": column %" PRIu32 " belongs to representation %" PRIu32
                           ", expected %" PRIu32,
                           field->id, column->id, column->representation, i / width);
        column->position = i % width;
    }
    dataset->first_columns[number] = first;
    field->column_count = count;
    field->columns_per_representation = width;
    field->owns_columns = true;
    return NT_OK;
}

static enum nt_status link_columns(struct nt_dataset *dataset, struct nt_error *error)
{
    uint32_t count = dataset->column_count, *sorted;
    sorted = dataset->field_columns = nt_arena_alloc(dataset->arena, (size_t)count + 1, sizeof(uint32_t));
    dataset->first_columns =
        nt_arena_alloc(dataset->arena, (size_t)dataset->field_count + 1, sizeof(uint32_t));
    NT_TRY(nt_check_memory(sorted && dataset->first_columns, error));
    for (uint32_t i = 0; i < count; i++) {
        if (dataset->columns[i].field >= dataset->field_count)
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                           "column %" PRIu32 " belongs to a field that does not exist",
                           dataset->columns[i].id);
        sorted[i] = i;
    }
    qsort_r(sorted, count, sizeof(*sorted), compare_columns, dataset->columns);
    for (uint32_t first = 0, end; first < count; first = end) {
        for (end = first;
             end < count && dataset->columns[sorted[end]].field == dataset->columns[sorted[first]].field;)
            end++;
        NT_TRY(link_columns_of_field(dataset, first, end, error));
    }
    return NT_OK;
}

/* For qsort_r. */
static int compare_ids(const void *left, const void *right, void *fields)
{
    uint32_t a = ((const struct nt_field *)fields)[*(const uint32_t *)left].id;
    uint32_t b = ((const struct nt_field *)fields)[*(const uint32_t *)right].id;
    return a < b ? -1 : a > b;
}

enum nt_status nt_dataset_link(struct nt_dataset *dataset, struct nt_error *error)
{
    uint32_t count = dataset->field_count;
    NT_AUTO_FREE uint32_t *order = calloc((size_t)count + 1, sizeof(*order));
    NT_TRY(nt_check_memory(order, error));
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    if (!dataset->is_ordered)
        qsort_r(order, count, sizeof(*order), compare_ids, dataset->fields);
    NT_TRY(check_ancestors(dataset, error));
    NT_TRY(link_children(dataset, order, error));
    NT_TRY(make_names_unique(dataset, error));
    return link_columns(dataset, error);
}

void nt_field_project_columns(struct nt_dataset *dataset, uint32_t field, uint32_t owner)
{
    const struct nt_field *from = &dataset->fields[owner];
    struct nt_field *to = &dataset->fields[field];
    dataset->first_columns[field] = dataset->first_columns[owner];
    to->column_count = from->column_count;
    to->columns_per_representation = from->columns_per_representation;
    to->owns_columns = false;
}

/* ---- Physical datasets ---- */

static enum nt_status add_physical(void *dataset, uint32_t unused, struct nt_error *error)
{
    return ((struct nt_dataset *)dataset)->ops->add_physical(dataset, error);
}

enum nt_status nt_dataset_physical(struct nt_dataset *dataset, struct nt_dataset **physical_ret,
                                   struct nt_error *error)
{
    const struct nt_lazy lazy = {.state = &dataset->physical_state,
                                 .failure = &dataset->physical_failure,
                                 .make = add_physical,
                                 .owner = dataset,
                                 .lock = &dataset->logical->lock,
                                 .before = dataset->file->before_blocking,
                                 .context = dataset->file->context};
    bool is_new_failure;
    NT_TRY(nt_dataset_has_physical(dataset) ? nt_lazy_get(&lazy, &is_new_failure, error) : NT_OK);
    *physical_ret = dataset->physical;
    return NT_OK;
}

/* ---- Blobs ---- */

void nt_blob_deinit(struct nt_blob *blob)
{
    nt_source_close(blob->source);
    nt_folder_close(blob->folder);
    free(blob->name);
    *blob = (struct nt_blob){0};
}
