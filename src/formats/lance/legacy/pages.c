/* SPDX-License-Identifier: MIT
 *
 * Builds the page list of a field of a legacy file, one page per batch. The dictionaries, which all
 * batches share, become pages that other pages are decoded with.
 */
#include "formats/lance/legacy/legacy.h"

#include "formats/lance/file/page_list.h"

/* The contents of a batch's page. */
struct nt_lance_batch {
    uint64_t offset, stored_bytes; /* of the page */
    uint64_t rows;                 /* of the field */
    /* Strings: range in the file; dictionaries: 0 and decoded size; lists: 0 and items. */
    uint64_t begin, bytes;
};

struct nt_lance_items {
    struct nt_lance_dependencies dependencies;
    struct nt_page valid; /* strings: item validity */
    uint64_t *ends;       /* strings; from malloc */
};

struct nt_lance_legacy_pages {
    struct nt_dataset *dataset;
    const struct nt_field *field; /* in the model */
    uint32_t number;              /* of `field` */
    const struct nt_lance *lance;
    const struct nt_lance_column_map *column_map;
    const struct nt_lance_page_format *paging;
    uint32_t counted;                     /* the field of the file whose pages give the row counts */
    const struct nt_lance_cell *cells;    /* of `counted` */
    struct nt_lance_batch *batches;       /* from malloc, one for each batch of the file */
    struct nt_lance_items items;          /* dictionaries */
    const struct nt_encoding_tree *known; /* the last tree that was built */
    struct nt_error *error;
};

enum { OFFSET_BITS = 64 };

static bool is_strings(const struct nt_lance_legacy_pages *listing)
{
    return listing->field->kind != NT_FIELD_VALUE;
}

/* Builds a flat tree of `bits`-wide values over a page of `bytes`: dictionary indices or offsets. */
static enum nt_status lance_flat_tree(struct nt_lance_legacy_pages *listing, bool are_offsets, uint32_t bits,
                                      uint64_t bytes, const struct nt_encoding_tree **tree_ret)
{
    const struct nt_encoding_tree_node nodes[] = {
        {.kind = NT_LANCE_ABSOLUTE_OFFSETS, .children = {1, NT_NO_NODE}},
        {.kind = NT_LANCE_FLAT, .bits = bits}};
    const struct nt_lance_buffer part = {0, bytes};
    const struct nt_encoding_tree tree = {.layout = NT_LANCE_ARRAY,
                                          .nodes = are_offsets ? &nodes[0] : &nodes[1],
                                          .node_count = are_offsets ? 2 : 1,
                                          .repetition = NT_NO_NODE,
                                          .definition = NT_NO_NODE,
                                          .has_dictionary = !are_offsets,
                                          .parts = &part,
                                          .part_count = 1};
    NT_TRY(nt_lance_keep_tree(listing->dataset->file, listing->known, &tree, tree_ret, listing->error));
    listing->known = *tree_ret;
    return NT_OK;
}

/* ---- Items of dictionaries ---- */

/* `stored_ret`: bytes of the offsets or values. */
static enum nt_status check_items(const struct nt_lance_legacy_pages *listing, uint64_t *stored_ret)
{
    uint64_t offset = listing->paging->dictionary.offset, count = listing->paging->dictionary.length;
    uint64_t elements = count, width = is_strings(listing) ? OFFSET_BITS / 8 : listing->field->dtype.bytes;
    bool is_counted = !is_strings(listing) || nt_checked_add(count, 1, &elements);
    if (!is_counted || count > UINT32_MAX || !nt_checked_multiply(elements, width, stored_ret) ||
        !nt_range_fits(offset, *stored_ret, listing->lance->size))
        return nt_fail(listing->error, NT_CORRUPT, offset,
                       "a dictionary of %" PRIu64 " items is outside the file of %" PRIu64 " bytes", count,
                       listing->lance->size);
    return NT_OK;
}

static struct nt_page item_page(const struct nt_lance_legacy_pages *listing, uint64_t offset, uint64_t stored,
                                uint64_t elements)
{
    return (struct nt_page){.offset = offset,
                            .stored_bytes = stored,
                            .elements = (uint32_t)elements,
                            .source = listing->lance->number};
}

/* Reads where the items end into memory, to compute the string sizes of batches. */
static enum nt_status read_ends(struct nt_lance_legacy_pages *listing, uint64_t stored)
{
    uint64_t offset = listing->paging->dictionary.offset, count = listing->paging->dictionary.length;
    if (stored > listing->dataset->file->page_bytes)
        return nt_fail(listing->error, NT_LIMIT, offset,
                       "the offsets of a dictionary have %" PRIu64
                       " bytes, more than the limit pagesize of %" PRIu64,
                       stored, listing->dataset->file->page_bytes);
    uint8_t *bytes = malloc(stored);
    NT_TRY(nt_check_memory(bytes, listing->error));
    listing->items.ends = (uint64_t *)(void *)bytes;
    NT_TRY(nt_source_read(listing->lance->source, offset, bytes, stored, listing->error));
    uint64_t first = nt_load_le64(bytes), last = first;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t next = nt_load_le64(bytes + (i + 1) * sizeof(next));
        if (next < last)
            return nt_fail(listing->error, NT_CORRUPT, offset,
                           "item %" PRIu64 " of a dictionary ends before it begins", i);
        listing->items.ends[i] = next - first;
        last = next;
    }
    return NT_OK;
}

static enum nt_status open_strings(struct nt_lance_legacy_pages *listing, uint64_t stored)
{
    const struct nt_dtype index = nt_element_dtype(NT_ELEMENT_UINT64),
                          valid = nt_element_dtype(NT_ELEMENT_BOOL);
    struct nt_lance_decoder_state ends = {.spec = {.output = NT_LANCE_ENDS}},
                                  are_valid = {.spec = {.output = NT_LANCE_VALID}};
    struct nt_lance_items *items = &listing->items;
    uint64_t offset = listing->paging->dictionary.offset, count = listing->paging->dictionary.length, begin,
             bytes;
    struct nt_decoder byte;
    NT_TRY(nt_lance_read_strings(listing->lance, offset, count, &begin, &bytes, listing->error));
    if (bytes > UINT32_MAX)
        return nt_fail(listing->error, NT_LIMIT, offset,
                       "a dictionary has %" PRIu64 " bytes, more than the limit of 2^32", bytes);
    NT_TRY(read_ends(listing, stored));
    NT_TRY(lance_flat_tree(listing, true, OFFSET_BITS, stored, &ends.tree));
    NT_TRY(nt_decoder_init(&byte, NT_ENCODING_BYTE, 0, 0, 0, listing->error));
    struct nt_dataset *dataset = listing->dataset;
    items->dependencies.count = 2;
    items->dependencies.pages[0] = items->valid = item_page(listing, offset, stored, count);
    items->dependencies.pages[1] = item_page(listing, begin, bytes, bytes);
    are_valid.tree = ends.tree;
    NT_TRY(nt_lance_add_decoder(dataset, &ends, &index, NULL, &items->dependencies.pages[0].decoder,
                                listing->error));
    NT_TRY(nt_decoders_add(&dataset->decoders, dataset->arena, &dataset->file->budget, &byte,
                           &items->dependencies.pages[1].decoder, listing->error));
    return nt_lance_add_decoder(dataset, &are_valid, &valid, NULL, &items->valid.decoder, listing->error);
}

/* Reads the items of the field's dictionary into listing->items. */
static enum nt_status lance_open_items(struct nt_lance_legacy_pages *listing)
{
    uint64_t stored = 0;
    NT_TRY(check_items(listing, &stored));
    if (is_strings(listing))
        return open_strings(listing, stored);
    struct nt_lance_items *items = &listing->items;
    uint32_t column = nt_field_column(listing->dataset, listing->number, 0, 0);
    items->dependencies.count = 1;
    items->dependencies.pages[0] =
        item_page(listing, listing->paging->dictionary.offset, stored, listing->paging->dictionary.length);
    items->dependencies.pages[0].decoder = listing->dataset->columns[column].decoder;
    return NT_OK;
}

/* ---- Indices ---- */

/* Decodes the batch's indices to compute the size of all its strings. */
static enum nt_status lance_count_items(struct nt_lance_legacy_pages *listing, struct nt_lance_batch *batch)
{
    const struct nt_encoding_tree *tree;
    struct nt_lance_counts counts = {0};
    uint64_t limit = listing->dataset->file->page_bytes;
    if (batch->stored_bytes > limit)
        return nt_fail(listing->error, NT_LIMIT, batch->offset,
                       "a page has %" PRIu64 " bytes, more than the limit pagesize of %" PRIu64,
                       batch->stored_bytes, limit);
    NT_AUTO_FREE uint8_t *bytes = malloc(batch->stored_bytes + 1);
    NT_TRY(nt_check_memory(bytes, listing->error));
    const struct nt_value dependencies[2] = {
        {(const uint8_t *)listing->items.ends, listing->paging->dictionary.length, NT_ELEMENT_UINT64,
         sizeof(uint64_t)},
        {NULL, listing->items.dependencies.pages[1].elements, NT_ELEMENT_BYTE, 1}};
    const struct nt_packed packed = {
        .data = bytes, .bytes = (size_t)batch->stored_bytes, .dependencies = dependencies, .limit = limit};
    NT_TRY(nt_source_read(listing->lance->source, batch->offset, bytes, batch->stored_bytes, listing->error));
    NT_TRY(lance_flat_tree(listing, false, listing->paging->bits, batch->stored_bytes, &tree));
    NT_TRY(nt_lance_count(tree, &packed, batch->rows, true, 0, &counts, listing->error));
    batch->bytes = counts.bytes;
    return NT_OK;
}

/* Indices select from the validity of the dictionary's items. The state is the index size in bytes. */
static enum nt_status choose_validity(const struct nt_packed *packed, uint8_t *output, struct nt_error *error)
{
    const uint32_t *number_bytes = packed->decoder->state;
    const struct nt_value numbers = {packed->data, packed->elements, NT_ELEMENT_OPAQUE, *number_bytes};
    if (packed->bytes / *number_bytes != packed->elements || packed->bytes % *number_bytes)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "%zu bytes do not hold the expected %zu dictionary indices", packed->bytes,
                       packed->elements);
    return nt_dictionary_gather(&numbers, &packed->dependencies[0], output, error);
}

static const struct nt_decoder_ops validity_ops = {.decode = choose_validity, .allocates_memory = true};

static enum nt_status add_validity(struct nt_lance_legacy_pages *listing, uint32_t *number_ret)
{
    struct nt_dataset *dataset = listing->dataset;
    const uint32_t number_bytes = listing->paging->bits / 8;
    const struct nt_decoder decoder = {.ops = &validity_ops,
                                       .state = &number_bytes,
                                       .dependencies = &listing->items.valid,
                                       .state_bytes = sizeof(number_bytes),
                                       .dependency_count = 1,
                                       .encoding = NT_ENCODING_OTHER,
                                       .number_encoding = NT_ENCODING_OTHER,
                                       .element = NT_ELEMENT_BOOL,
                                       .element_bytes = 1};
    return nt_decoders_add(&dataset->decoders, dataset->arena, &dataset->file->budget, &decoder, number_ret,
                           listing->error);
}

/* ---- Ranges of offsets ---- */

static enum nt_status read_offset(const struct nt_lance *lance, uint64_t offset, uint32_t bits,
                                  uint64_t *value_ret, struct nt_error *error)
{
    uint8_t bytes[sizeof(uint64_t)] = {0};
    NT_TRY(nt_source_read(lance->source, offset, bytes, bits / 8, error));
    *value_ret = nt_load_le64(bytes);
    return NT_OK;
}

/* Reads the first and last of `count` + 1 offsets of 32 or 64 bits in the file; last >= first. */
static enum nt_status lance_read_bounds(const struct nt_lance *lance, uint64_t offset, uint64_t count,
                                        uint32_t bits, uint64_t *first_ret, uint64_t *last_ret,
                                        struct nt_error *error)
{
    NT_TRY(read_offset(lance, offset, bits, first_ret, error));
    NT_TRY(read_offset(lance, offset + count * (bits / 8), bits, last_ret, error));
    if (*last_ret < *first_ret)
        return nt_fail(error, NT_CORRUPT, offset,
                       "offsets of %" PRIu64 " rows extend from %" PRIu64 " to %" PRIu64, count, *first_ret,
                       *last_ret);
    return NT_OK;
}

enum nt_status nt_lance_read_strings(const struct nt_lance *lance, uint64_t offset, uint64_t count,
                                     uint64_t *begin_ret, uint64_t *bytes_ret, struct nt_error *error)
{
    uint64_t begin, end;
    NT_TRY(lance_read_bounds(lance, offset, count, OFFSET_BITS, &begin, &end, error));
    if (end > lance->size)
        return nt_fail(error, NT_CORRUPT, offset,
                       "strings end at %" PRIu64 ", past the %" PRIu64 " bytes of the file", end,
                       lance->size);
    *begin_ret = begin;
    *bytes_ret = end - begin;
    return NT_OK;
}

/* ---- Batches ---- */

static bool is_in_list(const struct nt_lance_schema *schema, uint32_t field)
{
    for (uint32_t at = schema->fields[field].parent; at != NT_NONE; at = schema->fields[at].parent)
        if (schema->layouts[at].type.shape == NT_LANCE_IS_LIST)
            return true;
    return false;
}

/* Structures have no pages: their row count is that of their first descendant that has pages. */
static uint32_t counted_field(const struct nt_lance_schema *schema, uint32_t field)
{
    while (schema->layouts[field].type.shape == NT_LANCE_IS_STRUCT && schema->layouts[field].children)
        field++;
    return field;
}

/* The row count of a field outside lists must equal that of the batch. */
static enum nt_status open_batch(const struct nt_lance_legacy_pages *listing, uint32_t number,
                                 struct nt_lance_batch *batch)
{
    const struct nt_lance *lance = listing->lance;
    const struct nt_lance_cell *cell = &listing->cells[number];
    const uint64_t *rows = &lance->legacy->batches[number];
    bool is_lists = lance->legacy->pagings[listing->counted].kind == NT_LANCE_PAGE_LISTS;
    *batch =
        (struct nt_lance_batch){.offset = cell->offset, .rows = cell->length - (is_lists && cell->length)};
    if (!is_in_list(&lance->schema, listing->column_map->column) && batch->rows != rows[1] - rows[0])
        return nt_fail_number(listing->error, NT_CORRUPT, cell->offset, "rows of the page", rows[1] - rows[0],
                              batch->rows);
    const struct nt_lance_value *value = &lance->schema.layouts[listing->column_map->column].type.value;
    if (!nt_lance_page_bytes(listing->paging, value, cell->length, &batch->stored_bytes) ||
        !nt_range_fits(cell->offset, batch->stored_bytes, lance->size))
        return nt_fail(listing->error, NT_CORRUPT, cell->offset,
                       "a page of %" PRIu64 " elements is outside the file of %" PRIu64 " bytes",
                       cell->length, lance->size);
    return NT_OK;
}

static enum nt_status measure_batch(struct nt_lance_legacy_pages *listing, struct nt_lance_batch *batch)
{
    if (!batch->rows)
        return NT_OK;
    switch (listing->paging->kind) {
    case NT_LANCE_PAGE_STRINGS:
        return nt_lance_read_strings(listing->lance, batch->offset, batch->rows, &batch->begin, &batch->bytes,
                                     listing->error);
    case NT_LANCE_PAGE_LISTS:
        NT_TRY(lance_read_bounds(listing->lance, batch->offset, batch->rows, listing->paging->bits,
                                 &batch->begin, &batch->bytes, listing->error));
        if (batch->begin)
            return nt_fail(listing->error, NT_UNSUPPORTED, batch->offset,
                           "cannot read lists that begin with item %" PRIu64 " of their batch", batch->begin);
        return NT_OK;
    case NT_LANCE_PAGE_DICTIONARY:
        return is_strings(listing) ? lance_count_items(listing, batch) : NT_OK;
    case NT_LANCE_PAGE_NONE:
    case NT_LANCE_PAGE_PLAIN:
        break;
    }
    return NT_OK;
}

/* Writers store no data twice, so the pages together fit the file size, which bounds the work. */
static enum nt_status open_batches(struct nt_lance_legacy_pages *listing)
{
    uint32_t count = listing->lance->legacy->table.batches;
    uint64_t stored = 0;
    for (uint32_t i = 0; i < count; i++) {
        enum nt_status status = open_batch(listing, i, &listing->batches[i]);
        if (status == NT_OK && (!nt_checked_add(stored, listing->batches[i].stored_bytes, &stored) ||
                                stored > listing->lance->size))
            status = nt_fail(listing->error, NT_CORRUPT, listing->cells[i].offset,
                             "pages of a field have more bytes than the file");
        if (status == NT_OK)
            status = measure_batch(listing, &listing->batches[i]);
        NT_TRY(nt_with_context(status, listing->error, "batch %" PRIu32, i));
    }
    return NT_OK;
}

/* Checks that the fields inside a list have as many rows per batch as the list has items. A mismatch
 * would shift the items of later batches. */
static enum nt_status check_items_of(const struct nt_lance_legacy_pages *listing, uint32_t field)
{
    const struct nt_lance_legacy *legacy = listing->lance->legacy;
    const struct nt_lance_cell *cells =
        nt_lance_cells(&legacy->table, listing->lance->schema.fields[field].id);
    bool is_lists = legacy->pagings[field].kind == NT_LANCE_PAGE_LISTS;
    for (uint32_t i = 0; i < legacy->table.batches; i++) {
        uint64_t rows = cells[i].length - (is_lists && cells[i].length);
        if (rows != listing->batches[i].bytes)
            return nt_fail(listing->error, NT_CORRUPT, cells[i].offset,
                           "batch %" PRIu32 ": lists have %" PRIu64 " items, but field %" PRId32
                           " has %" PRIu64,
                           i, listing->batches[i].bytes, listing->lance->schema.fields[field].id, rows);
    }
    return NT_OK;
}

static enum nt_status check_list_items(const struct nt_lance_legacy_pages *listing)
{
    const struct nt_lance_schema *schema = &listing->lance->schema;
    for (uint32_t i = listing->column_map->column + 1; i < schema->field_count; i++) {
        uint32_t parent = schema->fields[i].parent;
        enum nt_lance_shape shape = schema->layouts[i].type.shape;
        while (parent != NT_NONE && schema->layouts[parent].type.shape == NT_LANCE_IS_STRUCT)
            parent = schema->fields[parent].parent;
        if (parent == listing->column_map->column && shape != NT_LANCE_IS_STRUCT &&
            shape != NT_LANCE_IS_UNKNOWN)
            NT_TRY(check_items_of(listing, i));
    }
    return NT_OK;
}

/* ---- Pages of the model ---- */

static enum nt_status add_page(const struct nt_lance_legacy_pages *listing, struct nt_group_builder *builder,
                               struct nt_page page, uint64_t elements)
{
    page.source = listing->lance->number;
    page.elements = (uint32_t)elements;
    if (elements > UINT32_MAX)
        return nt_fail(listing->error, NT_LIMIT, page.offset,
                       "a page has %" PRIu64 " elements, more than the limit of 2^32", elements);
    return elements ? nt_group_builder_add(builder, &page, listing->error) : NT_OK;
}

/* Returns the decoder for an output of a page of offsets or dictionary indices. */
static enum nt_status add_decoder(struct nt_lance_legacy_pages *listing, const struct nt_lance_batch *batch,
                                  uint32_t column, enum nt_lance_decoder_output output, uint32_t *number_ret)
{
    struct nt_lance_decoder_state state = {.spec = {.output = output}};
    bool is_dictionary = listing->paging->kind == NT_LANCE_PAGE_DICTIONARY;
    if (is_dictionary && output == NT_LANCE_VALID)
        return add_validity(listing, number_ret);
    if (listing->paging->kind == NT_LANCE_PAGE_PLAIN) {
        *number_ret = listing->dataset->columns[column].decoder;
        return NT_OK;
    }
    NT_TRY(lance_flat_tree(listing, !is_dictionary, listing->paging->bits, batch->stored_bytes, &state.tree));
    return nt_lance_add_decoder(listing->dataset, &state, &listing->dataset->columns[column].dtype,
                                is_dictionary ? &listing->items.dependencies : NULL, number_ret,
                                listing->error);
}

static enum nt_status put_bytes(struct nt_lance_legacy_pages *listing, struct nt_group_builder *builder,
                                uint32_t column, const struct nt_lance_batch *batch)
{
    struct nt_page page = {.offset = batch->begin,
                           .stored_bytes = batch->bytes,
                           .decoder = listing->dataset->columns[column].decoder};
    if (listing->paging->kind == NT_LANCE_PAGE_DICTIONARY) {
        page = (struct nt_page){
            .offset = batch->offset, .stored_bytes = batch->stored_bytes, .parameter = batch->rows};
        NT_TRY(add_decoder(listing, batch, column, NT_LANCE_BYTES, &page.decoder));
    }
    return add_page(listing, builder, page, batch->bytes);
}

/* Adds a page of rows, or of their fixed-size list items. `base`: bytes or items of earlier batches. */
static enum nt_status put_rows(struct nt_lance_legacy_pages *listing, struct nt_group_builder *builder,
                               uint32_t column, const struct nt_lance_batch *batch,
                               enum nt_lance_decoder_output output, uint64_t base)
{
    bool is_ends = output == NT_LANCE_ENDS || output == NT_LANCE_OFFSETS;
    /* Legacy files store nulls only of strings. Next to newer files, other kinds need validity, too. */
    bool is_all_valid = output == NT_LANCE_VALID && nt_lance_output(listing->field->kind, 0) != NT_LANCE_ENDS;
    struct nt_page page = {
        .offset = batch->offset, .stored_bytes = batch->stored_bytes, .parameter = is_ends ? base : 0};
    uint64_t elements;
    if (!nt_checked_multiply(batch->rows, listing->column_map->items, &elements))
        return nt_fail(listing->error, NT_LIMIT, batch->offset,
                       "the number of items of fixed-size lists overflows");
    if (is_all_valid) {
        page = (struct nt_page){.is_uniform = true};
        NT_TRY(nt_lance_add_all_valid(listing->dataset, &page.decoder, listing->error));
    } else
        NT_TRY(add_decoder(listing, batch, column, output, &page.decoder));
    return add_page(listing, builder, page, elements);
}

static enum nt_status put_column(struct nt_lance_legacy_pages *listing, struct nt_group_builder *builder,
                                 uint32_t position)
{
    uint32_t column = nt_field_column(listing->dataset, listing->number, 0, position);
    enum nt_lance_decoder_output output = nt_lance_output(listing->field->kind, position);
    uint64_t base = 0;
    NT_TRY(nt_group_builder_start(builder, builder->group->first_cluster, column, listing->error));
    for (uint32_t i = 0; i < listing->lance->legacy->table.batches; i++) {
        const struct nt_lance_batch *batch = &listing->batches[i];
        if (!batch->rows)
            continue;
        NT_TRY(output == NT_LANCE_BYTES ? put_bytes(listing, builder, column, batch)
                                        : put_rows(listing, builder, column, batch, output, base));
        if (!nt_checked_add(base, batch->bytes, &base))
            return nt_fail(listing->error, NT_CORRUPT, batch->offset,
                           "the column has more than 2^64 bytes or items");
    }
    return NT_OK;
}

/* ---- All pages of a field ---- */

static enum nt_status open_listing(struct nt_lance_legacy_pages *listing)
{
    const struct nt_lance *lance = listing->lance;
    const struct nt_lance_legacy *legacy = lance->legacy;
    const struct nt_lance_field *field = &lance->schema.fields[listing->column_map->column];
    listing->paging = &legacy->pagings[listing->column_map->column];
    listing->counted = counted_field(&lance->schema, listing->column_map->column);
    listing->cells = nt_lance_cells(&legacy->table, lance->schema.fields[listing->counted].id);
    if (!nt_texts_are_equal(field->logical_type, listing->field->type))
        return nt_fail(listing->error, NT_UNSUPPORTED, lance->globals[0].offset,
                       "field %" PRId32 " has another type in the file: %s", field->id,
                       field->logical_type.bytes);
    if (listing->field->kind == NT_FIELD_PAGE_BYTES)
        return nt_fail(listing->error, NT_UNSUPPORTED, lance->globals[0].offset,
                       "cannot read blobs in legacy files");
    if (lance->columns[listing->column_map->column].failure)
        return nt_fail_copy(listing->error, lance->columns[listing->column_map->column].failure);
    listing->batches = calloc((size_t)legacy->table.batches + 1, sizeof(*listing->batches));
    NT_TRY(nt_check_memory(listing->batches, listing->error));
    if (listing->paging->kind == NT_LANCE_PAGE_DICTIONARY)
        NT_TRY(lance_open_items(listing));
    NT_TRY(open_batches(listing));
    return listing->paging->kind == NT_LANCE_PAGE_LISTS ? check_list_items(listing) : NT_OK;
}

enum nt_status nt_lance_legacy_fill_group(struct nt_dataset *dataset, uint32_t group,
                                          const struct nt_lance *lance,
                                          const struct nt_lance_column_map *column_map,
                                          struct nt_error *error)
{
    struct nt_group_builder builder;
    uint32_t number = nt_group_field(dataset, group, NULL);
    struct nt_lance_legacy_pages listing = {.dataset = dataset,
                                            .field = &dataset->fields[number],
                                            .number = number,
                                            .lance = lance,
                                            .column_map = column_map,
                                            .error = error};
    enum nt_status status =
        nt_group_builder_init(&builder, dataset, group, "list of pages", NT_NO_OFFSET, error);
    if (status == NT_OK)
        status = open_listing(&listing);
    for (uint32_t position = 0; status == NT_OK && position < listing.field->column_count; position++)
        status = put_column(&listing, &builder, position);
    nt_with_context(status, error, "field %" PRId32 " of the file",
                    lance->schema.fields[column_map->column].id);
    free(listing.batches);
    free(listing.items.ends);
    return nt_group_builder_finish(&builder, status);
}
