/* SPDX-License-Identifier: MIT
 *
 * Merges the schemas of all members into one, in which each path occurs once. Numeric types are
 * promoted as NumPy does, but only without loss; fields whose types conflict become unreadable.
 */
#include "chain/chain.h"

/* ---- Promote numeric types ---- */

enum { WIDEST = 8 };

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static bool are_equal(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Elements with a meaning beyond the number have other type names. */
static bool is_plain(const struct nt_dtype *dtype)
{
    const struct nt_dtype plain = nt_element_dtype(dtype->element);
    return !dtype->is_big_endian && dtype->number == dtype->element && dtype->bytes == plain.bytes &&
           are_equal(dtype->numpy, plain.numpy) && are_equal(dtype->arrow, plain.arrow);
}

bool nt_promotion_add(struct nt_promotion *numbers, const struct nt_dtype *dtype)
{
    uint32_t *bytes;
    switch (dtype->element) {
    case NT_ELEMENT_UINT8:
    case NT_ELEMENT_UINT16:
    case NT_ELEMENT_UINT32:
    case NT_ELEMENT_UINT64:
        bytes = &numbers->unsigned_bytes;
        break;
    case NT_ELEMENT_INT8:
    case NT_ELEMENT_INT16:
    case NT_ELEMENT_INT32:
    case NT_ELEMENT_INT64:
        bytes = &numbers->signed_bytes;
        break;
    case NT_ELEMENT_REAL16:
    case NT_ELEMENT_REAL32:
    case NT_ELEMENT_REAL64:
        bytes = &numbers->real_bytes;
        break;
    default:
        return false;
    }
    if (!is_plain(dtype))
        return false;
    *bytes = larger(*bytes, dtype->bytes);
    return true;
}

/* A real holds integers of half its size exactly: 11, 24 and 53 bits in 16, 32 and 64. */
static uint32_t needed_bytes(const struct nt_promotion *numbers)
{
    uint32_t integers = larger(numbers->signed_bytes, numbers->unsigned_bytes);
    if (numbers->real_bytes)
        return larger(numbers->real_bytes, integers * 2);
    if (numbers->signed_bytes)
        return larger(numbers->signed_bytes, numbers->unsigned_bytes * 2);
    return numbers->unsigned_bytes;
}

enum nt_element nt_promotion_element(const struct nt_promotion *numbers)
{
    static const enum nt_element signed_elements[WIDEST + 1] = {
        [1] = NT_ELEMENT_INT8, [2] = NT_ELEMENT_INT16, [4] = NT_ELEMENT_INT32, [8] = NT_ELEMENT_INT64};
    static const enum nt_element unsigned_elements[WIDEST + 1] = {
        [1] = NT_ELEMENT_UINT8, [2] = NT_ELEMENT_UINT16, [4] = NT_ELEMENT_UINT32, [8] = NT_ELEMENT_UINT64};
    static const enum nt_element reals[WIDEST + 1] = {
        [2] = NT_ELEMENT_REAL16, [4] = NT_ELEMENT_REAL32, [8] = NT_ELEMENT_REAL64};
    uint32_t bytes = needed_bytes(numbers);
    if (!bytes || bytes > WIDEST)
        return NT_ELEMENT_OPAQUE;
    if (numbers->real_bytes)
        return reals[bytes];
    return numbers->signed_bytes ? signed_elements[bytes] : unsigned_elements[bytes];
}

/* ---- Merge the schemas ---- */

/* The merge state of a field of the chain. */
struct merged {
    uint32_t first_child, last_child, next; /* NT_NONE: none */
    uint32_t last_slice;                    /* the last merged slice that has it */
    uint32_t slice, own;                    /* the slice that defines its type, and its field there */
    uint32_t owner;                         /* the field whose columns it projects; NT_NONE: none */
    struct nt_promotion numbers;
    /* If a file stores the integers with the other sign: their type there, which cannot be widened;
     * else NT_ELEMENT_OPAQUE. */
    enum nt_element reinterpreted;
    const char *refusal; /* why it cannot be merged; NULL: it can */
};

struct schema_merger {
    struct nt_dataset *dataset;
    struct nt_chain_series *series;
    struct nt_field *fields;
    struct merged *merged;
    uint32_t count;
    size_t field_capacity, merged_capacity;
    struct merged top; /* the parent of root fields */
    uint32_t next_id;
    uint32_t **numbers;               /* [slice][field of the member]: of the chain */
    uint32_t slice;                   /* that is being merged */
    uint32_t *waiting, waiting_count; /* its fields whose children are not merged yet */
    struct nt_error *error;
};

static const struct merged nothing_yet = {.first_child = NT_NONE,
                                          .last_child = NT_NONE,
                                          .next = NT_NONE,
                                          .owner = NT_NONE,
                                          .reinterpreted = NT_ELEMENT_OPAQUE};

static const struct nt_chain_slice *slice_of(const struct schema_merger *merger)
{
    return &merger->series->slices[merger->slice];
}

/* ---- Conflicts ---- */

static void append_file_and_type(struct nt_buffer *out, const struct nt_chain_slice *slice, uint32_t own)
{
    const struct nt_field *field = &slice->dataset->fields[own];
    nt_buffer_append_format(out, "%s: ", slice->member->path);
    if (field->unreadable)
        nt_buffer_append_string(out, field->unreadable);
    else
        nt_chain_append_type(out, field);
}

/* `rule`: why the types conflict. `own`: the field in the current slice. */
static enum nt_status refuse(struct schema_merger *merger, uint32_t number, uint32_t own, const char *rule)
{
    struct merged *merged = &merger->merged[number];
    struct nt_buffer text = {0};
    nt_buffer_append_format(&text, "%s: ", rule);
    append_file_and_type(&text, &merger->series->slices[merged->slice], merged->own);
    nt_buffer_append_string(&text, "; ");
    append_file_and_type(&text, slice_of(merger), own);
    merged->refusal = nt_buffer_to_arena(&text, merger->dataset->arena);
    return merged->refusal ? NT_OK : nt_fail_memory(merger->error);
}

/* ---- Elements ---- */

/* Returns the field's type if its file stores it with the other sign; else NT_ELEMENT_OPAQUE. */
static enum nt_element find_reinterpreted(const struct nt_dataset *dataset, uint32_t field)
{
    const struct nt_dtype *dtype = &dataset->fields[field].dtype;
    uint32_t representations = nt_field_representations(dataset, field);
    for (uint32_t i = 0; i < representations; i++) {
        uint32_t column = nt_field_column(dataset, field, i, 0);
        const struct nt_decoder *decoder = nt_column_decoder(dataset, column);
        if (decoder->element != dtype->element && decoder->element_bytes == dtype->bytes)
            return dtype->element;
    }
    return NT_ELEMENT_OPAQUE;
}

static bool is_widened_wrongly(enum nt_element reinterpreted, enum nt_element wide)
{
    return reinterpreted != NT_ELEMENT_OPAQUE && reinterpreted != wide;
}

/* The promoted type has the type name of the file that declares it, or its own name if none does. */
static void widen(struct schema_merger *merger, uint32_t number, uint32_t own_number, enum nt_element wide)
{
    struct nt_field *field = &merger->fields[number];
    const struct nt_field *own = &slice_of(merger)->dataset->fields[own_number];
    if (field->dtype.element == wide)
        return;
    field->dtype = nt_element_dtype(wide);
    field->type = own->dtype.element == wide ? own->type : nt_text_of(nt_element_info(wide)->name);
    merger->merged[number].slice = merger->slice;
    merger->merged[number].own = own_number;
}

static enum nt_status merge_numbers(struct schema_merger *merger, uint32_t number, uint32_t own)
{
    struct merged *merged = &merger->merged[number];
    const struct nt_dataset *dataset = slice_of(merger)->dataset;
    enum nt_element reinterpreted = find_reinterpreted(dataset, own);
    nt_promotion_add(&merged->numbers, &dataset->fields[own].dtype);
    enum nt_element wide = nt_promotion_element(&merged->numbers);
    if (wide == NT_ELEMENT_OPAQUE)
        return refuse(merger, number, own, "no type holds the numbers of all files exactly");
    if (is_widened_wrongly(merged->reinterpreted, wide) || is_widened_wrongly(reinterpreted, wide))
        return refuse(merger, number, own, "cannot widen integers stored with a different signedness");
    if (merged->reinterpreted == NT_ELEMENT_OPAQUE)
        merged->reinterpreted = reinterpreted;
    widen(merger, number, own, wide);
    return NT_OK;
}

static bool are_numbers(const struct nt_field *a, const struct nt_field *b)
{
    struct nt_promotion numbers = {0};
    return nt_promotion_add(&numbers, &a->dtype) && nt_promotion_add(&numbers, &b->dtype);
}

/* ---- Fields of one path ---- */

static bool merge_extra(const struct schema_merger *merger, struct nt_field *field,
                        const struct nt_field *own)
{
    struct nt_field_extra extra = *nt_field_extra(field);
    extra.is_declared_nullable |= nt_field_is_declared_nullable(own);
    extra.has_short_offsets &= nt_field_has_short_offsets(own);
    extra.is_description &= nt_field_is_description(own);
    const struct nt_field_extra *old = nt_field_extra(field);
    bool is_changed = extra.is_declared_nullable != old->is_declared_nullable ||
                      extra.has_short_offsets != old->has_short_offsets ||
                      extra.is_description != old->is_description;
    return !is_changed || nt_field_set_extra(merger->dataset->arena, field, &extra);
}

static enum nt_status merge_field(struct schema_merger *merger, uint32_t number, uint32_t own_number)
{
    struct nt_field *field = &merger->fields[number];
    const struct nt_field *own = &slice_of(merger)->dataset->fields[own_number];
    bool have_numbers = are_numbers(field, own);
    merger->merged[number].last_slice = merger->slice;
    if (merger->merged[number].refusal)
        return NT_OK;
    if (!field->unreadable != !own->unreadable)
        return refuse(merger, number, own_number, "not readable in all files");
    if (!nt_chain_are_alike(field, own) || (!have_numbers && !nt_chain_have_equal_elements(field, own)))
        return refuse(merger, number, own_number, "not the same in all files");
    field->columns_per_representation += !field->is_nullable && own->is_nullable;
    field->is_nullable |= own->is_nullable;
    field->is_map &= own->is_map;
    NT_TRY(nt_check_memory(merge_extra(merger, field, own), merger->error));
    return have_numbers ? merge_numbers(merger, number, own_number) : NT_OK;
}

static bool reserve(struct schema_merger *merger)
{
    return NT_GROW(merger->fields, merger->count, merger->field_capacity) &&
           NT_GROW(merger->merged, merger->count, merger->merged_capacity);
}

/* Returns the state of a field, or of the parent of root fields. */
static struct merged *above(struct schema_merger *merger, uint32_t parent)
{
    return parent == NT_NONE ? &merger->top : &merger->merged[parent];
}

static void append_child(struct schema_merger *merger, uint32_t parent, uint32_t number)
{
    struct merged *of = above(merger, parent);
    if (of->last_child == NT_NONE)
        of->first_child = number;
    else
        merger->merged[of->last_child].next = number;
    of->last_child = number;
}

/* Fields of the first file keep their ids; those of other files could collide and get new ones. */
static enum nt_status add_field(struct schema_merger *merger, uint32_t parent, uint32_t own,
                                uint32_t *number_ret)
{
    const struct nt_dataset *dataset = slice_of(merger)->dataset;
    uint32_t number = merger->count;
    if (number == NT_NONE)
        return nt_fail(merger->error, NT_LIMIT, NT_NO_OFFSET, "the chain has more than 2^32 fields");
    NT_TRY(nt_check_memory(reserve(merger), merger->error));
    struct nt_field *field = &merger->fields[number];
    struct merged *merged = &merger->merged[number];
    *field = dataset->fields[own];
    field->parent = parent;
    if (merger->slice)
        field->id = merger->next_id;
    if (field->id >= merger->next_id)
        merger->next_id = field->id + 1;
    *merged = nothing_yet;
    merged->last_slice = merged->slice = merger->slice;
    merged->own = own;
    if (nt_promotion_add(&merged->numbers, &field->dtype))
        merged->reinterpreted = find_reinterpreted(dataset, own);
    append_child(merger, parent, number);
    merger->count++;
    *number_ret = number;
    return NT_OK;
}

/* ---- The fields of a file ---- */

/* The children of one field, before a file is merged. */
struct union_siblings {
    uint32_t first, expected;    /* the next in order: most files have the same order */
    struct nt_field_names names; /* built only when the order differs */
};

static enum nt_status sort_siblings(const struct schema_merger *merger, struct union_siblings *siblings)
{
    uint32_t count = 0;
    for (uint32_t at = siblings->first; at != NT_NONE; at = merger->merged[at].next)
        count++;
    NT_AUTO_FREE uint32_t *fields = malloc(((size_t)count + 1) * sizeof(*fields));
    NT_TRY(nt_check_memory(fields, merger->error));
    count = 0;
    for (uint32_t at = siblings->first; at != NT_NONE; at = merger->merged[at].next)
        fields[count++] = at;
    return nt_field_names_init(&siblings->names, merger->fields, fields, count, merger->error);
}

/* Among fields with the same name, each is matched once. */
static bool is_free(const struct schema_merger *merger, uint32_t number)
{
    return merger->merged[number].last_slice != merger->slice;
}

static uint32_t find_near(const struct schema_merger *merger, uint32_t expected, struct nt_text name)
{
    enum { NEAR = 16 };
    for (unsigned i = 0; i < NEAR && expected != NT_NONE; i++) {
        if (is_free(merger, expected) && nt_texts_are_equal(merger->fields[expected].name, name))
            return expected;
        expected = merger->merged[expected].next;
    }
    return NT_NONE;
}

/* Returns the sibling of this name, or NT_NONE. */
static enum nt_status find_sibling(const struct schema_merger *merger, struct union_siblings *siblings,
                                   struct nt_text name, uint32_t *found_ret)
{
    *found_ret = find_near(merger, siblings->expected, name);
    if (*found_ret != NT_NONE || siblings->first == NT_NONE)
        return NT_OK;
    enum nt_status status = siblings->names.sorted ? NT_OK : sort_siblings(merger, siblings);
    struct nt_field_name *first = status == NT_OK ? nt_field_names_find(&siblings->names, name) : NULL;
    for (; first && first->taken < first->alike && *found_ret == NT_NONE; first->taken++)
        if (is_free(merger, first[first->taken].field))
            *found_ret = first[first->taken].field;
    return status;
}

/* Queues the fields that have children. */
static enum nt_status merge_siblings(struct schema_merger *merger, uint32_t own_parent, uint32_t parent,
                                     struct union_siblings *siblings, bool are_named)
{
    const struct nt_dataset *dataset = slice_of(merger)->dataset;
    uint32_t *numbers = merger->numbers[merger->slice], count;
    const uint32_t *children = nt_dataset_children(dataset, own_parent, &count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t own = children[i], number = siblings->expected;
        if (are_named)
            NT_TRY(find_sibling(merger, siblings, dataset->fields[own].name, &number));
        if (number == NT_NONE) {
            NT_TRY(add_field(merger, parent, own, &number));
        } else {
            NT_TRY(merge_field(merger, number, own));
            siblings->expected = merger->merged[number].next;
        }
        numbers[own] = number;
        if (dataset->fields[own].child_count)
            merger->waiting[merger->waiting_count++] = own;
    }
    return NT_OK;
}

static enum nt_status merge_children(struct schema_merger *merger, uint32_t own_parent)
{
    const struct nt_dataset *dataset = slice_of(merger)->dataset;
    uint32_t parent = own_parent == NT_NONE ? NT_NONE : merger->numbers[merger->slice][own_parent];
    const struct merged *of = above(merger, parent);
    struct union_siblings siblings = {.first = of->first_child, .expected = of->first_child};
    bool are_named = of->refusal || nt_chain_are_named(dataset, own_parent);
    enum nt_status status = merge_siblings(merger, own_parent, parent, &siblings, are_named);
    nt_field_names_deinit(&siblings.names);
    return status;
}

/* A projection must show the same field in all files. */
static enum nt_status merge_owners(struct schema_merger *merger)
{
    const struct nt_dataset *dataset = slice_of(merger)->dataset;
    const uint32_t *numbers = merger->numbers[merger->slice];
    for (uint32_t i = 0; i < dataset->field_count; i++) {
        uint32_t owner = nt_chain_columns_owner(dataset, i), source = nt_field_source(&dataset->fields[i]);
        if (owner == NT_NONE)
            continue;
        struct merged *merged = &merger->merged[numbers[i]];
        if (merged->owner == NT_NONE) {
            merged->owner = numbers[owner];
            if (!nt_field_set_source(merger->dataset->arena, &merger->fields[numbers[i]],
                                     source == NT_NONE ? NT_NONE : numbers[source]))
                return nt_fail_memory(merger->error);
        } else if (merged->owner != numbers[owner] && !merged->refusal) {
            NT_TRY(refuse(merger, numbers[i], i, "shows another field in another file"));
        }
    }
    return NT_OK;
}

/* Merges parents before their children, whatever their numbers. */
static enum nt_status merge_slice(struct schema_merger *merger)
{
    size_t count = slice_of(merger)->dataset->field_count;
    uint32_t *numbers = merger->numbers[merger->slice] = malloc((count + 1) * sizeof(*numbers));
    NT_AUTO_FREE uint32_t *waiting = malloc((count + 1) * sizeof(*waiting));
    merger->waiting = waiting;
    merger->waiting_count = 0;
    NT_TRY(nt_check_memory(numbers && waiting, merger->error));
    for (size_t i = 0; i < count; i++)
        numbers[i] = NT_NONE;
    NT_TRY(merge_children(merger, NT_NONE));
    for (uint32_t i = 0; i < merger->waiting_count; i++)
        NT_TRY(merge_children(merger, waiting[i]));
    return merge_owners(merger);
}

/* ---- The result ---- */

/* Widens a projection whose field is wider elsewhere: files without it store only that field. */
static void widen_shown(const struct schema_merger *merger, uint32_t number)
{
    const struct merged *merged = &merger->merged[number];
    const struct nt_dataset *dataset = merger->series->slices[merged->slice].dataset;
    const struct nt_field *owner = &merger->fields[merged->owner];
    const struct nt_field *own_owner = &dataset->fields[nt_chain_columns_owner(dataset, merged->own)];
    struct nt_field *field = &merger->fields[number];
    struct nt_promotion numbers = merged->numbers;
    if (own_owner->dtype.element == owner->dtype.element || !are_numbers(field, owner))
        return;
    nt_promotion_add(&numbers, &owner->dtype);
    enum nt_element wide = nt_promotion_element(&numbers);
    if (wide == NT_ELEMENT_OPAQUE || wide == field->dtype.element)
        return;
    field->dtype = nt_element_dtype(wide);
    field->type = wide == owner->dtype.element ? owner->type : nt_text_of(nt_element_info(wide)->name);
}

/* Returns why a field, its parent or its projected field is unreadable; NULL: readable. */
static const char *find_refusal(const struct schema_merger *merger, uint32_t number)
{
    const struct merged *merged = &merger->merged[number];
    uint32_t parent = merger->fields[number].parent;
    if (!merged->refusal && parent != NT_NONE && merger->merged[parent].refusal)
        return merger->merged[parent].refusal;
    return merged->refusal || merged->owner == NT_NONE ? merged->refusal
                                                       : merger->merged[merged->owner].refusal;
}

/* Parents precede children, but a projected field may follow its projection: repeats until stable. */
static void spread_refusals(const struct schema_merger *merger)
{
    for (bool is_new = true; is_new;) {
        is_new = false;
        for (uint32_t i = 0; i < merger->count; i++) {
            struct merged *merged = &merger->merged[i];
            if (!merged->refusal && (merged->refusal = find_refusal(merger, i)))
                is_new = true;
        }
    }
}

/* Its columns differ in type, so each is a representation of its own. */
static bool set_unreadable(struct nt_arena *arena, struct nt_field *field, const char *reason)
{
    field->kind = NT_FIELD_UNREADABLE;
    field->unreadable = reason;
    field->is_nullable = false;
    field->repetition = field->dimension_count = 0;
    field->dtype = nt_element_dtype(NT_ELEMENT_OPAQUE);
    field->columns_per_representation = 1;
    return nt_field_set_source(arena, field, NT_NONE);
}

static enum nt_status set_fields_of_slice(const struct schema_merger *merger, uint32_t slice)
{
    struct nt_chain_slice *of = &merger->series->slices[slice];
    of->fields = nt_arena_alloc(merger->dataset->arena, (size_t)merger->count + 1, sizeof(*of->fields));
    NT_TRY(nt_check_memory(of->fields, merger->error));
    for (uint32_t i = 0; i < merger->count; i++)
        of->fields[i] = NT_NONE;
    for (uint32_t i = 0; i < of->dataset->field_count; i++)
        of->fields[merger->numbers[slice][i]] = i;
    return NT_OK;
}

static enum nt_status store_fields(struct schema_merger *merger)
{
    struct nt_chain_fields *fields = &merger->series->fields;
    struct nt_arena *arena = merger->dataset->arena;
    uint32_t *owners = nt_arena_alloc(arena, (size_t)merger->count + 1, sizeof(*owners));
    if (!owners || (merger->fields && !nt_arena_adopt(arena, merger->fields)))
        return nt_fail_memory(merger->error);
    *fields = (struct nt_chain_fields){merger->fields, owners, merger->count};
    merger->fields = NULL;
    for (uint32_t i = 0; i < merger->count; i++) {
        const struct merged *merged = &merger->merged[i];
        owners[i] = merged->refusal ? NT_NONE : merged->owner;
        if (merged->refusal && !set_unreadable(arena, &fields->items[i], merged->refusal))
            return nt_fail_memory(merger->error);
    }
    for (uint32_t i = 0; i < merger->series->slice_count; i++)
        NT_TRY(set_fields_of_slice(merger, i));
    return NT_OK;
}

enum nt_status nt_chain_union_fields(struct nt_dataset *dataset, struct nt_chain_series *series,
                                     struct nt_error *error)
{
    struct schema_merger merger = {.dataset = dataset,
                                   .series = series,
                                   .top = nothing_yet,
                                   .numbers = calloc((size_t)series->slice_count + 1, sizeof(uint32_t *)),
                                   .error = error};
    enum nt_status status = merger.numbers ? NT_OK : nt_fail_memory(error);
    for (; status == NT_OK && merger.slice < series->slice_count; merger.slice++)
        status = merge_slice(&merger);
    if (status == NT_OK) {
        for (uint32_t i = 0; i < merger.count; i++)
            if (merger.merged[i].owner != NT_NONE)
                widen_shown(&merger, i);
        spread_refusals(&merger);
        status = store_fields(&merger);
    }
    for (uint32_t i = 0; merger.numbers && i < series->slice_count; i++)
        free(merger.numbers[i]);
    free(merger.numbers);
    free(merger.fields);
    free(merger.merged);
    return status;
}
