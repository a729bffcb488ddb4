/* SPDX-License-Identifier: MIT
 *
 * The inverse of each encoding, and the arrays of the model, which the test fills directly.
 */
#include "dataset_builder.h"

#include <string.h>
#include <zlib.h>

#include "core/model/builder.h"
#include "support.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/codec/codec.h"
#include "core/model/model.h"
#include <ntuple/read.h>
#include <ntuple/source.h>

struct builder *builder_new(void)
{
    struct builder *builder = calloc(1, sizeof(*builder));
    ck_assert_ptr_nonnull(builder);
    builder->checksum = NT_CHECKSUM_XXH3_64;
    builder->covers = NT_COVERS_STORED;
    return builder;
}

void builder_free(struct builder *builder)
{
    nt_reader_free(builder->reader);
    nt_file_close(builder->file);
    for (uint32_t i = 0; i < builder->cluster_count; i++)
        for (uint32_t k = 0; k < builder->column_count; k++)
            free(builder->shares[i][k].values);
    for (uint32_t i = 0; i < MAX_GROUPS; i++)
        free(builder->pages[i]);
    nt_buffer_deinit(&builder->bytes);
    free(builder);
}

/* ---- schema ---- */

uint32_t add_array(struct builder *builder, uint32_t parent, enum nt_field_kind kind, enum nt_element element,
                   uint64_t repetition)
{
    uint32_t index = builder->field_count++;
    ck_assert_uint_lt(index, MAX_FIELDS);
    builder->fields[index] = (struct nt_field){
        .id = index,
        .parent = parent,
        .kind = kind,
        .repetition = repetition,
        .dimensions = &builder->fields[index].repetition,
        .dimension_count = kind == NT_FIELD_VALUE && repetition,
        .dtype = nt_element_dtype(element),
        .name = {"f", 1},
    };
    return index;
}

uint32_t add_field(struct builder *builder, uint32_t parent, enum nt_field_kind kind, enum nt_element element)
{
    return add_array(builder, parent, kind, element, 0);
}

struct nt_field_extra *edit_extra(struct builder *builder, uint32_t field)
{
    builder->fields[field].extra = &builder->extra[field];
    return &builder->extra[field];
}

uint32_t add_column(struct builder *builder, uint32_t field, enum nt_encoding_kind encoding,
                    uint32_t representation)
{
    struct nt_error error;
    uint32_t index = builder->column_count++;
    ck_assert_uint_lt(index, MAX_COLUMNS);
    builder->columns[index] = (struct nt_column){
        .id = index,
        .field = field,
        .representation = representation,
        .type_name = nt_encoding_info(encoding)->name,
        .decoder = index, /* to the end */
    };
    assert_ok(nt_decoder_init(&builder->decoders[index], encoding, 0, 0, 0, &error));
    builder->columns[index].dtype = nt_element_dtype(builder->decoders[index].element);
    for (uint32_t i = 0; i < MAX_CLUSTERS; i++)
        builder->shares[i][index].state = NT_RANGE_ABSENT;
    return index;
}

struct vector add_vector(struct builder *builder, enum nt_encoding_kind index_encoding,
                         enum nt_encoding_kind item_encoding)
{
    struct vector vector;
    vector.list = add_field(builder, NT_NONE, NT_FIELD_COLLECTION, NT_ELEMENT_UINT64);
    vector.item = add_field(builder, vector.list, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    vector.index = add_column(builder, vector.list, index_encoding, 0);
    vector.values = add_column(builder, vector.item, item_encoding, 0);
    return vector;
}

void defer_column(struct builder *builder, uint32_t column, uint64_t first_element)
{
    builder->columns[column].extra = &builder->column_extra[column];
    builder->column_extra[column].is_deferred = true;
    builder->column_extra[column].first_element = first_element;
}

uint32_t add_column_group(struct builder *builder, const uint32_t *columns, uint32_t count)
{
    uint32_t index = builder->column_group_count++;
    memcpy(builder->column_group_columns[index], columns, count * sizeof(*columns));
    builder->column_groups[index] = (struct nt_column_group){builder->column_group_columns[index], count};
    return index;
}

void project(struct builder *builder, uint32_t field, uint32_t source)
{
    edit_extra(builder, field)->is_projected = true;
    edit_extra(builder, field)->source = source;
}

/* ---- clusters and pages ---- */

uint32_t add_cluster(struct builder *builder, uint64_t first_entry, uint64_t entries)
{
    uint32_t index = builder->cluster_count++;
    ck_assert_uint_lt(index, MAX_CLUSTERS);
    struct nt_group_record *group = &builder->groups[builder->group_count];
    if (group->clusters++ == 0)
        group->first_cluster = index;
    builder->clusters[index] = (struct nt_cluster){.first_entry = first_entry,
                                                   .entries = entries,
                                                   .group = builder->group_count,
                                                   .column_group = NT_NONE};
    uint64_t group_end = group->first_entry + group->entries, end = first_entry + entries;
    if (group->clusters == 1 || first_entry < group->first_entry)
        group->first_entry = first_entry;
    group->entries = (end > group_end ? end : group_end) - group->first_entry;
    if (end > builder->entries)
        builder->entries = end;
    return index;
}

void end_group(struct builder *builder)
{
    builder->group_count++;
    ck_assert_uint_lt(builder->group_count, MAX_GROUPS);
}

void suppress(struct builder *builder, uint32_t cluster, uint32_t column)
{
    builder->shares[cluster][column].state = NT_RANGE_SUPPRESSED;
}

enum { ELEMENT_BYTES = 32 };

/* One value in `bytes` bytes, little-endian, sign-extended beyond 8; a Switch is its index, then its
 * tag. */
static void put_element(uint8_t *output, const struct nt_decoder *decoder, uint64_t value)
{
    if (decoder->encoding == NT_ENCODING_SWITCH) {
        uint64_t index = value & (((uint64_t)1 << 48) - 1);
        uint32_t tag = (uint32_t)(value >> 48);
        memcpy(output, &index, 8);
        memcpy(output + 8, &tag, 4);
    } else {
        memset(output, value >> 63 ? 0xFF : 0, ELEMENT_BYTES);
        memcpy(output, &value, decoder->bits < 64 ? decoder->bits / 8 : 8);
    }
}

static bool is_split(enum nt_encoding_kind encoding)
{
    return encoding >= NT_ENCODING_SPLIT_INT16 && encoding <= NT_ENCODING_SPLIT_INDEX64;
}

/* The specification's delta and zigzag, implemented again. */
static uint64_t prepared(const struct nt_decoder *decoder, const uint64_t *values, uint32_t i)
{
    uint64_t value = values[i];
    unsigned bits = decoder->bits;
    if (decoder->encoding == NT_ENCODING_SPLIT_INDEX32 || decoder->encoding == NT_ENCODING_SPLIT_INDEX64)
        return i ? value - values[i - 1] : value;
    if (decoder->encoding == NT_ENCODING_SPLIT_INT16 || decoder->encoding == NT_ENCODING_SPLIT_INT32 ||
        decoder->encoding == NT_ENCODING_SPLIT_INT64) {
        bool is_negative = value >> (bits - 1) & 1;
        return is_negative ? ~value << 1 | 1 : value << 1;
    }
    return value;
}

static void pack(const struct nt_decoder *decoder, const uint64_t *values, uint32_t count,
                 struct nt_buffer *out)
{
    uint64_t bytes;
    ck_assert(nt_packed_bytes(decoder, count, &bytes));
    uint8_t *packed = nt_buffer_extend(out, bytes);
    size_t size = decoder->bits / 8;
    memset(packed, 0, bytes);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t element[ELEMENT_BYTES];
        if (decoder->encoding == NT_ENCODING_BIT) {
            packed[i / 8] |= (uint8_t)((values[i] & 1) << i % 8);
            continue;
        }
        put_element(element, decoder, prepared(decoder, values, i));
        for (size_t k = 0; k < size; k++)
            packed[is_split(decoder->encoding) ? k * count + i : i * size + k] = element[k];
    }
}

/* A block in ROOT's format: "ZL", method, sizes of three bytes each, a zlib stream. */
static void deflate_block(const uint8_t *input, size_t bytes, struct nt_buffer *out)
{
    uLongf size = compressBound(bytes);
    uint8_t *block = malloc(9 + size);
    ck_assert_int_eq(compress2(block + 9, &size, input, bytes, 9), Z_OK);
    const uint8_t header[9] = {'Z',
                               'L',
                               8,
                               (uint8_t)size,
                               (uint8_t)(size >> 8),
                               (uint8_t)(size >> 16),
                               (uint8_t)bytes,
                               (uint8_t)(bytes >> 8),
                               (uint8_t)(bytes >> 16)};
    memcpy(block, header, sizeof(header));
    nt_buffer_append(out, block, 9 + size);
    free(block);
}

static void add_page(struct builder *builder, uint32_t group, uint32_t column, const uint64_t *values,
                     uint32_t first, uint32_t count)
{
    struct nt_buffer packed = {0}, stored = {0};
    uint8_t digest[64];
    pack(&builder->decoders[column], values + first, count, &packed);
    if (builder->compress && packed.length > 32)
        deflate_block((uint8_t *)packed.bytes, packed.length, &stored);
    bool is_smaller = stored.length && stored.length < packed.length;
    const struct nt_buffer *written = is_smaller ? &stored : &packed;
    ck_assert(NT_GROW(builder->pages[group], builder->page_count[group], builder->page_capacity[group]));
    builder->pages[group][builder->page_count[group]++] = (struct nt_page){
        .offset = builder->bytes.length,
        .stored_bytes = written->length,
        .first_element = first,
        .elements = count,
        .decoder = builder->columns[column].decoder,
        .checksum = (uint8_t)builder->checksum,
        .checksum_covers = (uint8_t)builder->covers,
        .compression = builder->compress ? NT_COMPRESSION_ROOT_BLOCKS : NT_COMPRESSION_NONE,
    };
    nt_buffer_append(&builder->bytes, written->bytes, written->length);
    if (builder->checksum != NT_CHECKSUM_NONE) {
        const struct nt_buffer *covered = builder->covers == NT_COVERS_STORED ? written : &packed;
        nt_checksum_info(builder->checksum)->compute(covered->bytes, covered->length, digest);
        nt_buffer_append(&builder->bytes, digest, nt_checksum_info(builder->checksum)->bytes);
    }
    nt_buffer_deinit(&packed);
    nt_buffer_deinit(&stored);
}

void add_elements(struct builder *builder, uint32_t cluster, uint32_t column, const uint64_t *values,
                  uint32_t count, uint32_t page_elements)
{
    struct share *share = &builder->shares[cluster][column];
    uint32_t group = builder->group_count;
    share->state = NT_RANGE_PRESENT;
    share->values = calloc(count ? count : 1, sizeof(*values));
    if (count)
        memcpy(share->values, values, count * sizeof(*values));
    share->count = count;
    share->first_page = builder->page_count[group];
    for (uint32_t first = 0; first < count; first += page_elements)
        add_page(builder, group, column, values, first,
                 count - first < page_elements ? count - first : page_elements);
    share->pages = builder->page_count[group] - share->first_page;
}

/* ---- the model ---- */

static enum nt_status load_field(struct nt_dataset *dataset, uint32_t number, struct nt_error *error)
{
    struct builder *builder = dataset->format_data;
    struct nt_group_builder group;
    uint32_t part, field = nt_group_field(dataset, number, &part);
    bool is_null = true;
    builder->field_loads[field]++;
    builder->part_loads[part]++;
    builder->part_visits += !builder->part_visits || part != builder->last_part;
    builder->last_part = part;
    if (builder->bad_field[field] || builder->bad_part[part])
        return nt_fail(error, NT_CORRUPT, 77, "this page list is bad");
    enum nt_status status = nt_group_builder_init(&group, dataset, number, "page list", NT_NO_OFFSET, error);
    for (uint32_t k = 0; k < builder->column_count && status == NT_OK; k++) {
        const struct share *share = &builder->shares[part][k];
        if (builder->columns[k].field != field || share->state != NT_RANGE_PRESENT)
            continue;
        is_null = false;
        status = nt_group_builder_start(&group, number, k, error);
        for (uint32_t i = 0; i < share->pages && status == NT_OK; i++)
            status = nt_group_builder_add(&group, &builder->pages[0][share->first_page + i], error);
    }
    if (status == NT_OK && is_null)
        nt_group_builder_set_null(&group);
    return nt_group_builder_finish(&group, status);
}

static enum nt_status load_group(struct nt_dataset *dataset, uint32_t number, struct nt_error *error)
{
    if (dataset->field_groups)
        return load_field(dataset, number, error);
    struct builder *builder = dataset->format_data;
    struct nt_group *group = nt_group_slot(dataset, number);
    builder->loads[number]++;
    if (builder->bad_group[number])
        return nt_fail(error, NT_CORRUPT, 77, "this page list is bad");
    group->page_count = builder->page_count[number];
    group->pages = malloc((group->page_count + 1) * sizeof(*group->pages));
    group->ranges = calloc((size_t)group->clusters * builder->column_count + 1, sizeof(*group->ranges));
    if (group->page_count)
        memcpy(group->pages, builder->pages[number], group->page_count * sizeof(*group->pages));
    for (uint32_t i = 0; i < group->clusters; i++) {
        uint32_t cluster = group->first_cluster + i;
        if (!nt_group_is_known(dataset, number))
            dataset->clusters[cluster] = builder->clusters[cluster];
        for (uint32_t k = 0; k < builder->column_count; k++) {
            const struct share *share = &builder->shares[cluster][k];
            group->ranges[(size_t)i * builder->column_count + k] =
                (struct nt_range){.first_element = share->listed_first,
                                  .first_page = share->first_page,
                                  .pages = share->pages,
                                  .state = share->state};
        }
    }
    if (builder->releases_lists) /* nothing refuses them, but releasing gives them back */
        atomic_fetch_add(&dataset->file->budget.used,
                         (uint64_t)group->clusters * builder->column_count *
                                 nt_cost_info(NT_COST_RANGE)->bytes +
                             group->page_count * nt_cost_info(NT_COST_PAGE)->bytes);
    return NT_OK;
}

static uint32_t next_in_entry_order(const struct builder *builder, const bool *done)
{
    uint32_t next = NT_NONE;
    for (uint32_t i = 0; i < builder->cluster_count; i++)
        if (!done[i] &&
            (next == NT_NONE || builder->clusters[i].first_entry < builder->clusters[next].first_entry))
            next = i;
    return next;
}

static bool are_twins(const struct nt_column *a, const struct nt_column *b)
{
    return a->field == b->field && a->position == b->position;
}

/* Zeros that are not stored, before the first element of a column or of another representation of it. */
static uint64_t elements_not_stored(const struct builder *builder, const struct nt_column *column)
{
    uint64_t elements = 0;
    for (uint32_t i = 0; i < builder->column_count; i++) {
        const struct nt_column *other = &builder->columns[i];
        if (are_twins(other, column) && !nt_column_begins_suppressed(other) &&
            nt_column_first_element(other) > elements)
            elements = nt_column_first_element(other);
    }
    return elements;
}

/* Element offsets as a writer lists them: they count over the whole dataset and all representations. */
static void list_first_elements(struct builder *builder)
{
    for (uint32_t k = 0; k < builder->column_count; k++) {
        bool done[MAX_CLUSTERS] = {false};
        uint64_t element = elements_not_stored(builder, &builder->columns[k]);
        uint32_t cluster;
        while ((cluster = next_in_entry_order(builder, done)) != NT_NONE) {
            done[cluster] = true;
            for (uint32_t m = 0; m < builder->column_count; m++) {
                const struct share *share = &builder->shares[cluster][m];
                if (are_twins(&builder->columns[m], &builder->columns[k]) &&
                    share->state == NT_RANGE_PRESENT) {
                    builder->shares[cluster][k].listed_first = element;
                    element += share->count;
                }
            }
        }
    }
}

static const struct nt_dataset_ops builder_ops = {.load_group = load_group};
static const struct nt_dataset_ops releasing_ops = {.load_group = load_group, .reloads_groups = true};

static void share_columns(struct nt_dataset *dataset)
{
    for (uint32_t i = 0; i < dataset->field_count; i++)
        if (nt_field_source(&dataset->fields[i]) != NT_NONE)
            nt_field_project_columns(dataset, i, nt_field_source(&dataset->fields[i]));
}

/* The numbers of columns and pages become the dataset's. */
static void number_decoders(struct builder *builder)
{
    struct nt_error error;
    struct nt_dataset *dataset = builder->dataset;
    uint32_t numbers[MAX_COLUMNS];
    for (uint32_t i = 0; i < builder->column_count; i++)
        assert_ok(nt_decoders_add(&dataset->decoders, dataset->arena, &dataset->file->budget,
                                  &builder->decoders[i], &numbers[i], &error));
    for (uint32_t i = 0; i < builder->column_count; i++)
        builder->columns[i].decoder = numbers[builder->columns[i].decoder];
    for (uint32_t i = 0; i < MAX_GROUPS; i++)
        for (uint32_t k = 0; k < builder->page_count[i]; k++)
            builder->pages[i][k].decoder = numbers[builder->pages[i][k].decoder];
}

static void add_groups(const struct builder *builder)
{
    struct nt_dataset *dataset = builder->dataset;
    struct nt_error error;
    if (builder->has_field_groups) {
        uint64_t entries[MAX_CLUSTERS];
        uint32_t parts = dataset->entries ? builder->cluster_count : 0;
        for (uint32_t i = 0; i < parts; i++)
            entries[i] = builder->clusters[i].entries;
        assert_ok(nt_dataset_add_field_groups(dataset, entries, parts, &error));
        return;
    }
    assert_ok(nt_dataset_add_groups(dataset, builder->group_count, builder->cluster_count, &error));
    memcpy(dataset->groups.records, builder->groups, builder->group_count * sizeof(*builder->groups));
    if (!builder->hide_clusters)
        memcpy(dataset->clusters, builder->clusters, builder->cluster_count * sizeof(*builder->clusters));
}

void finish(struct builder *builder, const struct nt_reader_options *options)
{
    struct nt_error error;
    if (builder->groups[builder->group_count].clusters)
        end_group(builder);
    assert_ok(nt_source_open_memory(builder->bytes.bytes ? builder->bytes.bytes : "", builder->bytes.length,
                                    "memory", &builder->source, &error));
    assert_ok(nt_file_new("memory", builder->source, &(struct nt_limits){0}, &builder->file, &error));
    assert_ok(nt_file_add_dataset(builder->file, &builder->dataset, &error));
    struct nt_dataset *dataset = builder->dataset;
    ck_assert_ptr_nonnull(dataset);
    dataset->entries = builder->entries;
    dataset->fields = builder->fields;
    dataset->field_count = builder->field_count;
    dataset->columns = builder->columns;
    dataset->column_count = builder->column_count;
    number_decoders(builder);
    dataset->sources = &builder->source;
    dataset->source_count = 1;
    dataset->clusters_known = !builder->hide_clusters;
    dataset->column_groups = builder->column_groups;
    dataset->column_group_count = builder->column_group_count;
    dataset->has_sharded_clusters = builder->column_group_count > 0;
    dataset->ops = builder->releases_lists ? &releasing_ops : &builder_ops;
    dataset->format_data = builder;
    assert_ok(nt_dataset_link(dataset, &error));
    share_columns(dataset);
    list_first_elements(builder);
    add_groups(builder);
    if (builder->releases_lists)
        dataset->groups.list_bytes = UINT64_MAX / 2; /* memory is always short */
    reopen(builder, options);
}

void reopen(struct builder *builder, const struct nt_reader_options *options)
{
    struct nt_error error;
    if (builder->reader)
        nt_reader_forget(builder->reader, builder->dataset);
    nt_reader_free(builder->reader);
    builder->reader = NULL;
    struct nt_reader_options sized = options ? *options : (struct nt_reader_options){0};
    sized.struct_bytes = sizeof(sized);
    assert_ok(nt_reader_new(&sized, &builder->reader, &error));
}
