/* SPDX-License-Identifier: MIT
 *
 * Random fields, from the outermost in; then elements that fit them, cluster by cluster.
 */
#include "random_dataset.h"

#include <string.h>

#include "support.h"

struct making {
    struct builder *builder;
    uint64_t state;
    uint64_t late[MAX_FIELDS]; /* the first entry that has a top-level field */
    uint32_t position;         /* of the current cluster, in entry order */
    uint32_t positions[MAX_CLUSTERS];
    uint64_t ends[MAX_CLUSTERS]; /* for the entries of each position */
    /* For a field below a collection or variant, the position of the first cluster that has it, and the
     * rows before it there. */
    uint32_t late_below[MAX_FIELDS];
    uint64_t skipped[MAX_FIELDS];
    /* The position of the first cluster that may have another representation than the first one; 0: all
     * may. */
    uint32_t late_representation[MAX_FIELDS];
};

static uint32_t chance(struct making *making, uint32_t below)
{
    making->state = making->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(making->state >> 33) % below;
}

/* ---- schema ---- */

/* A field's own type and the encodings that may store it. */
static const struct {
    enum nt_element element;
    enum nt_encoding_kind encodings[3];
} value_types[] = {
    {NT_ELEMENT_INT32, {NT_ENCODING_INT32, NT_ENCODING_SPLIT_INT32, NT_ENCODING_UINT32}},
    {NT_ELEMENT_INT64, {NT_ENCODING_INT64, NT_ENCODING_SPLIT_INT64, NT_ENCODING_INT32}},
    {NT_ELEMENT_REAL64, {NT_ENCODING_REAL64, NT_ENCODING_SPLIT_REAL32, NT_ENCODING_REAL32}},
    {NT_ELEMENT_BOOL, {NT_ENCODING_BIT, NT_ENCODING_BIT, NT_ENCODING_BIT}},
    {NT_ELEMENT_UINT16, {NT_ENCODING_UINT16, NT_ENCODING_SPLIT_UINT16, NT_ENCODING_INT16}},
};

static const enum nt_encoding_kind index_encodings[] = {NT_ENCODING_INDEX32, NT_ENCODING_INDEX64,
                                                        NT_ENCODING_SPLIT_INDEX32, NT_ENCODING_SPLIT_INDEX64};

static void add_index_columns(struct making *making, uint32_t field, bool has_bytes)
{
    uint32_t representations = 1 + chance(making, 2);
    for (uint32_t i = 0; i < representations; i++) {
        add_column(making->builder, field, index_encodings[chance(making, 4)], i);
        if (has_bytes)
            add_column(making->builder, field, NT_ENCODING_CHAR, i);
    }
}

static void add_value(struct making *making, uint32_t parent, bool is_bitset)
{
    uint32_t type = is_bitset ? 3 : chance(making, 5), representations = 1 + chance(making, 2);
    uint32_t field = add_array(making->builder, parent, NT_FIELD_VALUE, value_types[type].element,
                               is_bitset ? 1 + chance(making, 11) : 0);
    for (uint32_t i = 0; i < representations; i++)
        add_column(making->builder, field, value_types[type].encodings[chance(making, 3)], i);
}

static void add_anything(struct making *making, uint32_t parent, unsigned depth);

static void add_children(struct making *making, uint32_t parent, uint32_t count, unsigned depth)
{
    for (uint32_t i = 0; i < count; i++)
        add_anything(making, parent, depth + 1);
}

static bool is_full(const struct making *making)
{
    return making->builder->field_count > MAX_FIELDS - 24 || making->builder->column_count > MAX_COLUMNS - 40;
}

static void add_collection(struct making *making, uint32_t parent, unsigned depth)
{
    struct builder *builder = making->builder;
    uint32_t field = add_field(builder, parent, NT_FIELD_COLLECTION, NT_ELEMENT_UINT64);
    add_index_columns(making, field, false);
    add_children(making, field, 1, depth);
    if (parent == NT_NONE && chance(making, 2)) {
        bool is_narrow = chance(making, 2);
        uint32_t sizes = add_field(builder, NT_NONE, NT_FIELD_CARDINALITY,
                                   is_narrow ? NT_ELEMENT_UINT32 : NT_ELEMENT_UINT64);
        project(builder, sizes, field);
    }
}

static void add_container(struct making *making, uint32_t parent, unsigned depth)
{
    uint32_t repetition = chance(making, 2) ? 1 + chance(making, 3) : 0, children = chance(making, 3);
    enum nt_field_kind kind = children == 1 ? NT_FIELD_WRAPPER : NT_FIELD_RECORD;
    uint32_t field =
        add_array(making->builder, parent, repetition ? NT_FIELD_ARRAY : kind, NT_ELEMENT_BYTE, repetition);
    add_children(making, field, children, depth);
}

static void add_anything(struct making *making, uint32_t parent, unsigned depth)
{
    struct builder *builder = making->builder;
    unsigned kind = depth > 4 || is_full(making) ? chance(making, 3) : chance(making, 9);
    uint32_t field;
    switch (kind) {
    case 0:
        add_index_columns(making, add_field(builder, parent, NT_FIELD_STRING, NT_ELEMENT_BYTE), true);
        break;
    case 1:
        add_value(making, parent, true);
        break;
    case 2:
    case 3:
        add_value(making, parent, false);
        break;
    case 4:
        field = add_field(builder, parent, NT_FIELD_VARIANT, NT_ELEMENT_SWITCH);
        add_column(builder, field, NT_ENCODING_SWITCH, 0);
        add_children(making, field, 1 + chance(making, 3), depth);
        break;
    case 5:
        field = add_field(builder, parent, NT_FIELD_DENSE_OPTIONAL, NT_ELEMENT_BOOL);
        add_column(builder, field, NT_ENCODING_BIT, 0);
        add_children(making, field, 1, depth);
        break;
    case 6:
        add_container(making, parent, depth);
        break;
    default:
        add_collection(making, parent, depth);
    }
}

/* ---- elements ---- */

static uint64_t some_value(struct making *making, enum nt_element element)
{
    float real = (float)chance(making, 1000) / 4 - 100;
    double wide = real;
    uint64_t value = 0;
    switch (element) {
    case NT_ELEMENT_BOOL:
        return chance(making, 2);
    case NT_ELEMENT_REAL32:
        memcpy(&value, &real, sizeof(real));
        return value;
    case NT_ELEMENT_REAL64:
        memcpy(&value, &wide, sizeof(wide));
        return value;
    case NT_ELEMENT_INT64:
        return making->state;
    default:
        return (making->state >> 32) & (((uint64_t)1 << nt_element_info(element)->bytes * 8) - 1);
    }
}

/* The active representation is random for each field and cluster. */
static uint32_t draw_representation(struct making *making, uint32_t field, uint32_t cluster,
                                    uint32_t *columns)
{
    struct builder *builder = making->builder;
    uint32_t count = 0, last = 0;
    for (uint32_t i = 0; i < builder->column_count; i++)
        if (builder->columns[i].field == field && builder->columns[i].representation > last)
            last = builder->columns[i].representation;
    bool is_first_alone = making->position < making->late_representation[field];
    uint32_t chosen = is_first_alone ? 0 : chance(making, last + 1);
    bool is_listed = !is_first_alone || chance(making, 2);
    for (uint32_t i = 0; i < builder->column_count; i++) {
        if (builder->columns[i].field != field)
            continue;
        if (builder->columns[i].representation == chosen)
            columns[count++] = i;
        else if (is_listed)
            suppress(builder, cluster, i);
    }
    return count;
}

static void write_elements(struct making *making, uint32_t cluster, uint32_t column, const uint64_t *values,
                           uint64_t count)
{
    add_elements(making->builder, cluster, column, values, (uint32_t)count, 1 + chance(making, 7));
}

static void fill(struct making *making, uint32_t cluster, uint32_t field, uint64_t rows);

static void fill_children(struct making *making, uint32_t cluster, uint32_t field, const uint64_t *rows)
{
    struct builder *builder = making->builder;
    for (uint32_t i = 0, number = 0; i < builder->field_count; i++)
        if (builder->fields[i].parent == field)
            fill(making, cluster, i, rows[number++]);
}

static void fill_index(struct making *making, uint32_t cluster, uint32_t field, uint64_t rows,
                       const uint32_t *columns)
{
    uint64_t *ends = calloc(rows + 1, sizeof(*ends)), end = 0;
    for (uint64_t i = 0; i < rows; i++)
        ends[i] = end += chance(making, 4);
    write_elements(making, cluster, columns[0], ends, rows);
    free(ends);
    if (making->builder->fields[field].kind != NT_FIELD_STRING) {
        fill_children(making, cluster, field, &end);
        return;
    }
    uint64_t *letters = calloc(end + 1, sizeof(*letters));
    for (uint64_t i = 0; i < end; i++)
        letters[i] = 'a' + chance(making, 26);
    write_elements(making, cluster, columns[1], letters, end);
    free(letters);
}

static void fill_variant(struct making *making, uint32_t cluster, uint32_t field, uint64_t rows,
                         uint32_t column)
{
    uint32_t alternatives = 0;
    for (uint32_t i = 0; i < making->builder->field_count; i++)
        alternatives += making->builder->fields[i].parent == field;
    uint64_t used[MAX_FIELDS] = {0}, *values = calloc(rows + 1, sizeof(*values));
    for (uint64_t i = 0; i < rows; i++) {
        uint32_t tag = chance(making, alternatives + 1);
        values[i] = tag ? SWITCH(tag, used[tag - 1]) : 0;
        if (tag)
            used[tag - 1]++;
    }
    write_elements(making, cluster, column, values, rows);
    free(values);
    fill_children(making, cluster, field, used);
}

static void fill_values(struct making *making, uint32_t cluster, uint64_t count, uint32_t column)
{
    uint64_t *values = calloc(count + 1, sizeof(*values));
    for (uint64_t i = 0; i < count; i++)
        values[i] = some_value(making, making->builder->decoders[column].element);
    write_elements(making, cluster, column, values, count);
    free(values);
}

/* False if the field does not exist yet and the cluster has nothing of it; else `rows` are the rows
 * that it has. */
static bool has_begun(struct making *making, uint32_t field, uint64_t *rows)
{
    uint64_t missing = 0;
    if (making->position < making->late_below[field])
        missing = *rows;
    else if (making->late_below[field] && making->position == making->late_below[field])
        missing = chance(making, (uint32_t)*rows + 1);
    making->skipped[field] += missing;
    *rows -= missing;
    return making->position >= making->late_below[field] || chance(making, 2);
}

static void fill(struct making *making, uint32_t cluster, uint32_t field, uint64_t rows)
{
    if (!has_begun(making, field, &rows))
        return;
    const struct nt_field *f = &making->builder->fields[field];
    uint32_t columns[8];
    uint64_t below[MAX_FIELDS], repetition = f->repetition ? f->repetition : 1;
    uint32_t count = draw_representation(making, field, cluster, columns);
    for (uint32_t i = 0; i < MAX_FIELDS; i++)
        below[i] = f->kind == NT_FIELD_ARRAY ? rows * repetition : rows;
    switch (f->kind) {
    case NT_FIELD_VALUE:
        fill_values(making, cluster, rows * repetition, columns[0]);
        break;
    case NT_FIELD_DENSE_OPTIONAL:
        fill_values(making, cluster, rows, columns[0]);
        fill_children(making, cluster, field, below);
        break;
    case NT_FIELD_STRING:
    case NT_FIELD_COLLECTION:
        ck_assert_uint_gt(count, 0);
        fill_index(making, cluster, field, rows, columns);
        break;
    case NT_FIELD_VARIANT:
        fill_variant(making, cluster, field, rows, columns[0]);
        break;
    case NT_FIELD_RECORD:
    case NT_FIELD_ARRAY:
    case NT_FIELD_WRAPPER:
        fill_children(making, cluster, field, below);
        break;
    default: /* projected: has no elements of its own */
        break;
    }
}

/* ---- clusters ---- */

static bool keeps_step(const struct nt_field *field)
{
    return field->kind == NT_FIELD_RECORD || field->kind == NT_FIELD_ARRAY ||
           field->kind == NT_FIELD_WRAPPER || field->kind == NT_FIELD_DENSE_OPTIONAL;
}

/* All principal columns of a top-level field with one row per entry store nothing before `entry`. */
static void defer_subtree(struct making *making, uint32_t field, uint64_t entry, uint64_t per_entry)
{
    struct builder *builder = making->builder;
    const struct nt_field *f = &builder->fields[field];
    uint64_t below = per_entry * (f->repetition ? f->repetition : 1);
    for (uint32_t i = 0, representation = NT_NONE; i < builder->column_count; i++)
        if (builder->columns[i].field == field && builder->columns[i].representation != representation) {
            representation = builder->columns[i].representation;
            defer_column(builder, i, entry * (f->kind == NT_FIELD_VALUE ? below : per_entry));
        }
    if (!keeps_step(f))
        return;
    for (uint32_t i = 0; i < builder->field_count; i++)
        if (builder->fields[i].parent == field)
            defer_subtree(making, i, entry, below);
}

/* A field below a collection or variant, if no field with the same rows is late itself. */
static bool may_be_late_below(const struct making *making, uint32_t field)
{
    const struct nt_field *fields = making->builder->fields;
    uint32_t at = fields[field].parent;
    while (at != NT_NONE && keeps_step(&fields[at]) && !making->late_below[at])
        at = fields[at].parent;
    return at != NT_NONE && !keeps_step(&fields[at]);
}

/* The position of the cluster where a field begins: its own, or that of the field with the same rows. */
static uint32_t begin_of(const struct making *making, uint32_t field)
{
    const struct nt_field *fields = making->builder->fields;
    uint32_t at = field, position = 0;
    while (fields[at].parent != NT_NONE && keeps_step(&fields[fields[at].parent]) && !making->late_below[at])
        at = fields[at].parent;
    if (making->late_below[at] || fields[at].parent != NT_NONE)
        return making->late_below[at];
    while (making->late[at] > making->ends[position])
        position++;
    return position;
}

/* What begins late below collections and variants: fields, and representations of fields anywhere,
 * after the cluster where the field begins. */
static void choose_late(struct making *making, uint32_t clusters)
{
    for (uint32_t i = 0; i < making->builder->field_count; i++) {
        if (may_be_late_below(making, i) && chance(making, 4) == 0)
            making->late_below[i] = chance(making, clusters + 1);
        if (chance(making, 3) == 0)
            making->late_representation[i] = begin_of(making, i) + 1 + chance(making, clusters);
    }
}

/* The position of the column in its representation. */
static uint32_t position_of(const struct builder *builder, uint32_t column)
{
    const struct nt_column *c = &builder->columns[column];
    uint32_t position = 0;
    for (uint32_t i = 0; i < column; i++)
        position +=
            builder->columns[i].field == c->field && builder->columns[i].representation == c->representation;
    return position;
}

/* Elements of all representations before that cluster, zeros included. */
static uint64_t elements_before(const struct making *making, uint32_t column, uint32_t cluster_position)
{
    const struct builder *builder = making->builder;
    uint64_t elements = 0;
    for (uint32_t i = 0; i < builder->column_count; i++) {
        if (builder->columns[i].field != builder->columns[column].field ||
            position_of(builder, i) != position_of(builder, column))
            continue;
        if (builder->columns[i].representation == 0)
            elements += nt_column_first_element(&builder->columns[i]);
        for (uint32_t c = 0; c < builder->cluster_count; c++)
            elements += making->positions[c] < cluster_position ? builder->shares[c][i].count : 0;
    }
    return elements;
}

/* The first elements of late columns follow from what precedes them. */
static void defer_late(struct making *making)
{
    struct builder *builder = making->builder;
    for (uint32_t i = 0; i < builder->field_count; i++)
        if (making->late_below[i])
            defer_subtree(making, i, making->skipped[i], 1);
    for (uint32_t i = 0; i < builder->column_count; i++) {
        const struct nt_column *column = &builder->columns[i];
        uint32_t position = making->late_representation[column->field];
        if (!position || column->representation == 0)
            continue;
        defer_column(builder, i, elements_before(making, i, position));
        builder->column_extra[i].begins_suppressed = true;
    }
}

static void fill_cluster(struct making *making, uint32_t cluster)
{
    struct builder *builder = making->builder;
    const struct nt_cluster *c = &builder->clusters[cluster];
    for (uint32_t i = 0; i < builder->field_count; i++) {
        if (builder->fields[i].parent != NT_NONE)
            continue;
        uint64_t late = making->late[i];
        if (late >= c->first_entry + c->entries && late && chance(making, 2))
            continue; /* the column did not exist yet */
        uint64_t missing = late > c->first_entry ? late - c->first_entry : 0;
        fill(making, cluster, i, missing < c->entries ? c->entries - missing : 0);
    }
}

struct builder *random_dataset(unsigned seed, uint32_t clusters)
{
    struct making making = {.builder = builder_new(), .state = seed * 2654435761u + 1};
    struct builder *builder = making.builder;
    uint64_t first[MAX_CLUSTERS], entries[MAX_CLUSTERS], total = 0;
    uint32_t order[MAX_CLUSTERS];
    while (!is_full(&making) && builder->field_count < 12)
        add_anything(&making, NT_NONE, 0);
    for (uint32_t i = 0; i < clusters; i++) {
        uint32_t k = chance(&making, i + 1);
        order[i] = order[k];
        order[k] = i;
        first[i] = total;
        making.ends[i] = total += entries[i] = chance(&making, 10);
    }
    for (uint32_t i = 0; i < builder->field_count; i++)
        if (builder->fields[i].parent == NT_NONE && chance(&making, 3) == 0) {
            making.late[i] = chance(&making, (uint32_t)total + 1);
            defer_subtree(&making, i, making.late[i], 1);
        }
    choose_late(&making, clusters);
    builder->compress = chance(&making, 2);
    builder->hide_clusters = chance(&making, 2);
    for (uint32_t i = 0; i < clusters; i++) {
        making.position = making.positions[i] = order[i];
        fill_cluster(&making, add_cluster(builder, first[order[i]], entries[order[i]]));
        if (chance(&making, 3) == 0 && builder->group_count < MAX_GROUPS - 2)
            end_group(builder);
    }
    defer_late(&making);
    return builder;
}

struct builder *plain_dataset(uint64_t entries, uint32_t page_elements)
{
    struct builder *builder = builder_new();
    uint32_t field = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    uint32_t column = add_column(builder, field, NT_ENCODING_SPLIT_INT32, 0);
    uint64_t *values = calloc(entries + 1, sizeof(*values));
    for (uint64_t i = 0; i < entries; i++)
        values[i] = i * 2654435761u & UINT32_MAX;
    uint32_t cluster = add_cluster(builder, 0, entries);
    add_elements(builder, cluster, column, values, (uint32_t)entries, page_elements);
    free(values);
    return builder;
}

struct builder *one_page(enum nt_checksum_kind checksum, enum nt_checksum_covers covers, bool compress)
{
    struct builder *builder = builder_new();
    uint32_t field = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    uint32_t column = add_column(builder, field, NT_ENCODING_SPLIT_INT32, 0);
    uint64_t values[100];
    for (uint64_t i = 0; i < 100; i++)
        values[i] = i;
    builder->checksum = checksum;
    builder->covers = covers;
    builder->compress = compress;
    add_cluster(builder, 0, 100);
    add_elements(builder, 0, column, values, 100, 100);
    finish(builder, NULL);
    return builder;
}

const struct nt_page *first_page(struct builder *builder)
{
    struct nt_error error;
    const struct nt_page *page;
    uint32_t cluster;
    uint64_t first;
    assert_ok(nt_column_page(builder->reader, builder->dataset, 0, 0, &page, &cluster, &first, &error));
    return page;
}
