/* SPDX-License-Identifier: MIT
 *
 * RNTuple files of every generation: words, frames and envelopes first, then header, footer and page lists.
 * Specifications of 2022 (CRC32), 2023 (XXH3) and version 1.0.0.1; the predraft after the files of its time.
 */
#include "rntuple_writer.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "demand.h"
#include "tfile_writer.h"

static bool has_crc32(enum rntuple_generation generation)
{
    return generation <= RNTUPLE_CRC32_EXTENSION;
}

static bool is_final(enum rntuple_generation generation)
{
    return generation >= RNTUPLE_RC3;
}

/* ---- words ---- */

static void append_little(struct nt_buffer *out, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        nt_buffer_byte(out, (char)(value >> 8 * i));
}

static void append_big(struct nt_buffer *out, uint64_t value, unsigned bytes)
{
    for (unsigned i = bytes; i-- > 0;)
        nt_buffer_byte(out, (char)(value >> 8 * i));
}

static void put_little(struct nt_buffer *out, size_t at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        out->bytes[at + i] = (char)(value >> 8 * i);
}

void rntuple_u16(struct rntuple_writer *writer, uint16_t value)
{
    append_little(&writer->bytes, value, 2);
}

void rntuple_u32(struct rntuple_writer *writer, uint32_t value)
{
    append_little(&writer->bytes, value, 4);
}

void rntuple_u64(struct rntuple_writer *writer, uint64_t value)
{
    append_little(&writer->bytes, value, 8);
}

void rntuple_real(struct rntuple_writer *writer, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    rntuple_u64(writer, bits);
}

void rntuple_text(struct rntuple_writer *writer, const char *text)
{
    rntuple_u32(writer, text ? (uint32_t)strlen(text) : 0);
    if (text)
        nt_buffer_append(&writer->bytes, text, strlen(text));
}

static void unknown(struct rntuple_writer *writer)
{
    for (uint32_t i = 0; i < writer->unknown_bytes; i++)
        nt_buffer_byte(&writer->bytes, '?');
}

/* ---- frames ---- */

static unsigned frame_size_bytes(const struct rntuple_writer *writer)
{
    return has_crc32(writer->generation) ? 4 : 8;
}

/* The sign tells a list; the size is filled in at the end. */
static void begin_frame(struct rntuple_writer *writer, int64_t marker)
{
    demand(writer->depth < sizeof(writer->frames) / sizeof(*writer->frames));
    writer->frames[writer->depth++] = writer->bytes.length;
    append_little(&writer->bytes, (uint64_t)marker, frame_size_bytes(writer));
}

void rntuple_record(struct rntuple_writer *writer)
{
    begin_frame(writer, 1);
}

void rntuple_list(struct rntuple_writer *writer, uint32_t items)
{
    begin_frame(writer, -1);
    rntuple_u32(writer, items);
}

void rntuple_end_frame(struct rntuple_writer *writer)
{
    size_t start = writer->frames[--writer->depth];
    bool is_list = writer->bytes.bytes[start] == (char)0xff;
    if (!is_list)
        unknown(writer);
    int64_t size = (int64_t)(writer->bytes.length - start);
    put_little(&writer->bytes, start, (uint64_t)(is_list ? -size : size), frame_size_bytes(writer));
}

/* ---- envelopes ---- */

void rntuple_begin(struct rntuple_writer *writer, enum rntuple_generation generation,
                   enum rntuple_envelope kind)
{
    *writer = (struct rntuple_writer){.generation = generation, .kind = kind};
    if (generation == RNTUPLE_PREDRAFT) { /* u16 version, u16 minimum, u32 size, u64 reserved */
        rntuple_u64(writer, 0);
        rntuple_u64(writer, 0);
    } else if (has_crc32(generation)) { /* envelope version, minimum version */
        rntuple_u16(writer, 1);
        rntuple_u16(writer, 1);
    } else { /* type id, length */
        rntuple_u64(writer, (uint64_t)kind);
    }
}

uint64_t rntuple_end(struct rntuple_writer *writer)
{
    struct nt_buffer *bytes = &writer->bytes;
    uint64_t checksum;
    if (has_crc32(writer->generation)) {
        if (writer->generation == RNTUPLE_PREDRAFT && writer->kind == RNTUPLE_HEADER)
            put_little(bytes, 4, bytes->length, 4); /* the frame does not count the checksum */
        checksum = crc32(0, (const Bytef *)bytes->bytes, (uInt)bytes->length);
        append_little(bytes, checksum, 4);
    } else {
        put_little(bytes, 2, bytes->length + 8, 6);
        checksum = XXH3_64bits(bytes->bytes, bytes->length);
        append_little(bytes, checksum, 8);
    }
    return checksum;
}

/* ---- locators ---- */

/* A non-standard locator's first word is negated as a whole: size, a reserved byte, type. */
static void locator_head(struct rntuple_writer *writer, uint32_t type, uint32_t payload_bytes)
{
    rntuple_u32(writer, 0 - (type << 24 | 0x5au << 16 | (payload_bytes + 4)));
}

void rntuple_locator(struct rntuple_writer *writer, enum rntuple_place place, uint64_t offset, uint64_t bytes,
                     const char *uri)
{
    switch (place) {
    case RNTUPLE_IN_FILE:
        rntuple_u32(writer, (uint32_t)bytes);
        rntuple_u64(writer, offset);
        break;
    case RNTUPLE_LARGE:
        locator_head(writer, 1, 16);
        rntuple_u64(writer, bytes);
        rntuple_u64(writer, offset);
        break;
    case RNTUPLE_OBJECT64:
        locator_head(writer, 2, 12);
        rntuple_u32(writer, (uint32_t)bytes);
        rntuple_u64(writer, offset);
        break;
    case RNTUPLE_URI:
    case RNTUPLE_UNKNOWN_PLACE:
        locator_head(writer, place == RNTUPLE_URI ? 1 : 0x6f, (uint32_t)strlen(uri));
        nt_buffer_append(&writer->bytes, uri, strlen(uri));
        break;
    }
}

/* ---- schema ---- */

static void field_values(struct rntuple_writer *writer, const struct rntuple_field *field)
{
    if (field->flags & 1)
        rntuple_u64(writer, field->array_size);
    if (field->flags & 2)
        rntuple_u32(writer, field->source);
    if (field->flags & 4)
        rntuple_u32(writer, field->type_checksum);
}

static void write_field(struct rntuple_writer *writer, const struct rntuple_field *field, uint32_t id)
{
    rntuple_record(writer);
    rntuple_u32(writer, 0); /* field version */
    rntuple_u32(writer, 0); /* type version */
    rntuple_u32(writer, field->parent == RNTUPLE_TOP ? id : field->parent);
    rntuple_u16(writer, field->role);
    rntuple_u16(writer, field->flags);
    if (!is_final(writer->generation))
        field_values(writer, field);
    rntuple_text(writer, field->name);
    rntuple_text(writer, field->type);
    rntuple_text(writer, field->alias);
    rntuple_text(writer, field->description);
    if (is_final(writer->generation))
        field_values(writer, field);
    rntuple_end_frame(writer);
}

static void write_column(struct rntuple_writer *writer, const struct rntuple_column *column)
{
    bool is_late = is_final(writer->generation);
    uint32_t flags =
        column->flags | (column->has_first_element ? (is_late ? 1 : 8) : 0) | (column->has_range ? 2 : 0);
    rntuple_record(writer);
    rntuple_u16(writer, column->type);
    rntuple_u16(writer, column->bits);
    rntuple_u32(writer, column->field);
    if (is_late) {
        rntuple_u16(writer, (uint16_t)flags);
        rntuple_u16(writer, column->representation);
    } else {
        rntuple_u32(writer, flags);
    }
    if (column->has_first_element)
        rntuple_u64(writer, (uint64_t)column->first_element);
    if (column->has_range) {
        rntuple_real(writer, column->minimum);
        rntuple_real(writer, column->maximum);
    }
    rntuple_end_frame(writer);
}

static void write_extra_type(struct rntuple_writer *writer, const char *type)
{
    rntuple_record(writer);
    if (is_final(writer->generation)) {
        rntuple_u32(writer, 0); /* content identifier */
        rntuple_u32(writer, 7); /* type version */
        rntuple_text(writer, type);
        rntuple_text(writer, "content");
    } else {
        rntuple_u32(writer, 3); /* type version from, to */
        rntuple_u32(writer, 4);
        rntuple_u32(writer, 1);
        rntuple_text(writer, type);
    }
    rntuple_end_frame(writer);
}

/* The four lists, of the fields [first, end) and so on. */
struct schema_part {
    uint32_t fields[2], columns[2], aliases[2];
    const char *extra_type;
};

static void write_schema(struct rntuple_writer *writer, const struct rntuple_description *description,
                         const struct schema_part *part)
{
    rntuple_list(writer, part->fields[1] - part->fields[0]);
    for (uint32_t i = part->fields[0]; i < part->fields[1]; i++)
        write_field(writer, &description->fields[i], i);
    rntuple_end_frame(writer);
    rntuple_list(writer, part->columns[1] - part->columns[0]);
    for (uint32_t i = part->columns[0]; i < part->columns[1]; i++)
        write_column(writer, &description->columns[i]);
    rntuple_end_frame(writer);
    rntuple_list(writer, part->aliases[1] - part->aliases[0]);
    for (uint32_t i = part->aliases[0]; i < part->aliases[1]; i++) {
        rntuple_record(writer);
        rntuple_u32(writer, description->aliases[i].column);
        rntuple_u32(writer, description->aliases[i].field);
        rntuple_end_frame(writer);
    }
    rntuple_end_frame(writer);
    rntuple_list(writer, part->extra_type ? 1 : 0);
    if (part->extra_type)
        write_extra_type(writer, part->extra_type);
    rntuple_end_frame(writer);
}

static struct schema_part header_part(const struct rntuple_description *d)
{
    return (struct schema_part){
        .fields = {0, d->field_count - d->extension_fields},
        .columns = {0, d->column_count - d->extension_columns},
        .aliases = {0, d->alias_count - d->extension_aliases},
    };
}

static struct schema_part extension_part(const struct rntuple_description *d)
{
    struct schema_part header = header_part(d);
    return (struct schema_part){
        .fields = {header.fields[1], d->field_count},
        .columns = {header.columns[1], d->column_count},
        .aliases = {header.aliases[1], d->alias_count},
        .extra_type = d->extra_type,
    };
}

/* ---- putting bytes into the file ---- */

struct place {
    uint64_t offset, stored_bytes, length;
};

/* A page that others may be merged with. */
struct written_page {
    const struct rntuple_page *page;
    struct place place;
};

struct state {
    enum rntuple_generation generation;
    const struct rntuple_description *description;
    struct tfile_writer file;
    struct place header, footer;
    struct place page_lists[64];
    struct place metadata;
    uint64_t header_checksum;
    struct written_page *pages;
    size_t page_count;
};

/* One ROOT compression block: algorithm and method, compressed and uncompressed size in three bytes each. */
static void compress_block(const void *bytes, size_t count, struct nt_buffer *out)
{
    uLongf size = compressBound(count);
    nt_buffer_append(out, "ZL\x08", 3);
    nt_buffer_append(out, "\0\0\0\0\0\0", 6);
    uint8_t *room = nt_buffer_extend(out, size);
    demand(count < 1 << 24);
    demand(compress2(room, &size, bytes, count, 6) == Z_OK);
    put_little(out, 3, size, 3);
    put_little(out, 6, count, 3);
    out->length = 9 + size;
}

/* Where a blob's bytes begin: behind its key. */
static uint64_t put_blob(struct state *state, const struct nt_buffer *bytes)
{
    uint64_t record = tfile_writer_blob(&state->file, bytes->bytes, bytes->length);
    const uint8_t *key = (const uint8_t *)state->file.out.bytes + record;
    return record + (uint64_t)(key[TFILE_KEY_LENGTH] << 8 | key[TFILE_KEY_LENGTH + 1]);
}

/* Compress where that is asked for and makes it smaller: equal sizes would mean that it is stored. */
static void store(struct state *state, const void *bytes, size_t count, struct nt_buffer *stored)
{
    if (state->description->is_compressed)
        compress_block(bytes, count, stored);
    if (stored->length >= count || !state->description->is_compressed) {
        nt_buffer_clear(stored);
        nt_buffer_append(stored, bytes, count);
    }
}

static struct place put_envelope(struct state *state, struct rntuple_writer *writer)
{
    unknown(writer);
    if (state->description->spoil)
        state->description->spoil(writer->kind, &writer->bytes);
    uint64_t checksum = rntuple_end(writer);
    if (writer->kind == RNTUPLE_HEADER)
        state->header_checksum = checksum;
    struct nt_buffer stored = {0};
    store(state, writer->bytes.bytes, writer->bytes.length, &stored);
    struct place place = {put_blob(state, &stored), stored.length, writer->bytes.length};
    nt_buffer_deinit(&stored);
    nt_buffer_deinit(&writer->bytes);
    return place;
}

static void begin(struct state *state, struct rntuple_writer *writer, enum rntuple_envelope kind)
{
    rntuple_begin(writer, state->generation, kind);
    writer->unknown_bytes = state->description->unknown_bytes;
}

static void page_checksum(const struct state *state, const void *bytes, size_t count,
                          struct nt_buffer *stored)
{
    if (has_crc32(state->generation))
        append_little(stored, crc32(0, bytes, (uInt)count), 4);
    else
        append_little(stored, XXH3_64bits(bytes, count), 8);
}

static void store_page(struct state *state, const struct rntuple_page *page, struct nt_buffer *stored)
{
    if (page->stored)
        nt_buffer_append(stored, page->stored, page->stored_bytes);
    else
        store(state, page->packed, page->packed_bytes, stored);
}

static struct place find_merged(const struct state *state, const struct rntuple_page *page)
{
    size_t i = 0;
    while (i < state->page_count && state->pages[i].page != page->merged)
        i++;
    demand(i < state->page_count); /* it must have been written before */
    return state->pages[i].place;
}

static void remember_page(struct state *state, const struct rntuple_page *page, struct place place)
{
    state->pages = reallocarray(state->pages, state->page_count + 1, sizeof(*state->pages));
    demand(state->pages);
    state->pages[state->page_count++] = (struct written_page){page, place};
}

static struct place put_page(struct state *state, const struct rntuple_page *page)
{
    struct nt_buffer stored = {0};
    if (page->place == RNTUPLE_URI || page->place == RNTUPLE_UNKNOWN_PLACE)
        return (struct place){0};
    if (page->merged)
        return find_merged(state, page);
    store_page(state, page, &stored);
    uint64_t bytes = stored.length;
    if (page->checksum == RNTUPLE_CHECKSUM_OF_STORED)
        page_checksum(state, stored.bytes, stored.length, &stored);
    else if (page->checksum == RNTUPLE_CHECKSUM_OF_PACKED)
        page_checksum(state, page->packed, page->packed_bytes, &stored);
    struct place place = {put_blob(state, &stored), bytes, page->packed_bytes};
    nt_buffer_deinit(&stored);
    remember_page(state, page, place);
    return place;
}

/* ---- header ---- */

static void feature_flags(struct rntuple_writer *writer, const struct rntuple_description *description)
{
    if (!description->feature_flags)
        rntuple_u64(writer, 0);
    for (uint32_t i = 0; description->feature_flags && i < description->feature_flag_count; i++)
        rntuple_u64(writer, description->feature_flags[i]);
}

static void write_header(struct state *state)
{
    const struct rntuple_description *description = state->description;
    struct rntuple_writer writer;
    struct schema_part part = header_part(description);
    begin(state, &writer, RNTUPLE_HEADER);
    feature_flags(&writer, description);
    if (has_crc32(state->generation))
        rntuple_u32(&writer, 1); /* release candidate tag */
    rntuple_text(&writer, description->name);
    rntuple_text(&writer, description->description);
    rntuple_text(&writer, description->writer);
    write_schema(&writer, description, &part);
    state->header = put_envelope(state, &writer);
}

/* ---- page lists ---- */

static void write_summary(struct rntuple_writer *writer, const struct rntuple_cluster *cluster)
{
    unsigned flag_bits = is_final(writer->generation) ? 8 : 4;
    rntuple_record(writer);
    rntuple_u64(writer, cluster->first_entry);
    rntuple_u64(writer, cluster->entries | (uint64_t)cluster->flags << (64 - flag_bits));
    if (cluster->flags & 1)
        rntuple_u32(writer, cluster->column_group);
    rntuple_end_frame(writer);
}

/* The sign of the count tells of a checksum, in the CRC32 drafts bit 30. */
static void write_page(struct state *state, struct rntuple_writer *writer, const struct rntuple_page *page)
{
    struct place place = put_page(state, page);
    bool has_checksum = page->checksum != RNTUPLE_NO_CHECKSUM;
    if (has_crc32(state->generation))
        rntuple_u32(writer, page->elements | (has_checksum ? 1u << 30 : 0));
    else
        rntuple_u32(writer, has_checksum ? 0 - page->elements : page->elements);
    rntuple_locator(writer, page->place, place.offset, place.stored_bytes, page->uri);
}

static void write_range(struct state *state, struct rntuple_writer *writer, const struct rntuple_range *range)
{
    rntuple_list(writer, range->page_count);
    for (uint32_t i = 0; i < range->page_count; i++)
        write_page(state, writer, &range->pages[i]);
    rntuple_u64(writer, range->is_suppressed ? 0 - range->first_element : range->first_element);
    if (!range->is_suppressed)
        rntuple_u32(writer, 101);
    rntuple_end_frame(writer);
}

static void write_clusters(struct state *state, struct rntuple_writer *writer, uint32_t first, uint32_t end)
{
    rntuple_list(writer, end - first);
    for (uint32_t i = first; i < end; i++) {
        const struct rntuple_cluster *cluster = &state->description->clusters[i];
        rntuple_list(writer, cluster->range_count);
        for (uint32_t k = 0; k < cluster->range_count; k++)
            write_range(state, writer, &cluster->ranges[k]);
        rntuple_end_frame(writer);
    }
    rntuple_end_frame(writer);
}

static void write_summaries(struct rntuple_writer *writer, const struct rntuple_description *description,
                            uint32_t first, uint32_t end)
{
    rntuple_list(writer, end - first);
    for (uint32_t i = first; i < end; i++)
        write_summary(writer, &description->clusters[i]);
    rntuple_end_frame(writer);
}

/* The clusters [*first, *end) of a group; false behind the last. */
static bool group_clusters(const struct rntuple_description *description, uint32_t group, uint32_t *first,
                           uint32_t *end)
{
    uint32_t each =
        description->clusters_per_group ? description->clusters_per_group : description->cluster_count;
    *first = group * each;
    *end = *first + each < description->cluster_count ? *first + each : description->cluster_count;
    return *first < description->cluster_count;
}

static uint32_t write_page_lists(struct state *state)
{
    uint32_t group = 0, first, end;
    for (; group_clusters(state->description, group, &first, &end); group++) {
        struct rntuple_writer writer;
        begin(state, &writer, RNTUPLE_PAGE_LIST);
        if (!has_crc32(state->generation)) {
            rntuple_u64(&writer, state->header_checksum);
            write_summaries(&writer, state->description, first, end);
        }
        write_clusters(state, &writer, first, end);
        demand(group < sizeof(state->page_lists) / sizeof(*state->page_lists));
        state->page_lists[group] = put_envelope(state, &writer);
    }
    return group;
}

/* ---- user meta-data ---- */

static void write_value(struct rntuple_writer *writer, const struct rntuple_pair *pair, uint32_t i)
{
    switch (pair->type < 0 ? -pair->type : pair->type) {
    case 2:
        nt_buffer_byte(&writer->bytes, (char)pair->integers[i]);
        break;
    case 3:
        rntuple_real(writer, pair->reals[i]);
        break;
    case 4:
        rntuple_text(writer, pair->strings[i]);
        break;
    default:
        rntuple_u64(writer, (uint64_t)pair->integers[i]);
    }
}

static void write_metadata(struct state *state)
{
    struct rntuple_writer writer;
    begin(state, &writer, RNTUPLE_USER_METADATA);
    rntuple_list(&writer, state->description->pair_count);
    for (uint32_t i = 0; i < state->description->pair_count; i++) {
        const struct rntuple_pair *pair = &state->description->pairs[i];
        rntuple_record(&writer);
        rntuple_u32(&writer, (uint32_t)pair->type);
        rntuple_text(&writer, pair->key);
        if (pair->type < 0)
            rntuple_list(&writer, pair->count);
        for (uint32_t k = 0; k < (pair->type < 0 ? pair->count : 1); k++)
            write_value(&writer, pair, k);
        if (pair->type < 0)
            rntuple_end_frame(&writer);
        rntuple_end_frame(&writer);
    }
    rntuple_end_frame(&writer);
    state->metadata = put_envelope(state, &writer);
}

/* ---- footer ---- */

static void write_link(struct rntuple_writer *writer, const struct place *place)
{
    if (has_crc32(writer->generation))
        rntuple_u32(writer, (uint32_t)place->length);
    else
        rntuple_u64(writer, place->length);
    rntuple_locator(writer, RNTUPLE_IN_FILE, place->offset, place->stored_bytes, NULL);
}

static void write_column_groups(struct rntuple_writer *writer, const struct rntuple_description *description)
{
    rntuple_list(writer, description->column_group_count);
    for (uint32_t i = 0; i < description->column_group_count; i++) {
        rntuple_record(writer);
        rntuple_list(writer, description->column_groups[i].count);
        for (uint32_t k = 0; k < description->column_groups[i].count; k++)
            rntuple_u32(writer, description->column_groups[i].columns[k]);
        rntuple_end_frame(writer);
        rntuple_end_frame(writer);
    }
    rntuple_end_frame(writer);
}

/* The least entry of a group's clusters and the entries up to the last; they may be in any order. */
static void write_entry_range(struct rntuple_writer *writer, const struct rntuple_cluster *clusters,
                              uint32_t count)
{
    uint64_t least = UINT64_MAX, end = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t cluster_end = clusters[i].first_entry + clusters[i].entries;
        least = clusters[i].first_entry < least ? clusters[i].first_entry : least;
        end = cluster_end > end ? cluster_end : end;
    }
    rntuple_u64(writer, least);
    rntuple_u64(writer, end - least);
}

static void write_cluster_group(struct state *state, struct rntuple_writer *writer, uint32_t group)
{
    uint32_t first, end;
    group_clusters(state->description, group, &first, &end);
    rntuple_record(writer);
    if (!has_crc32(state->generation))
        write_entry_range(writer, state->description->clusters + first, end - first);
    rntuple_u32(writer, end - first);
    write_link(writer, &state->page_lists[group]);
    rntuple_end_frame(writer);
}

static void write_cluster_groups(struct state *state, struct rntuple_writer *writer, uint32_t count)
{
    rntuple_list(writer, count);
    for (uint32_t i = 0; i < count; i++)
        write_cluster_group(state, writer, i);
    rntuple_end_frame(writer);
}

static void write_metadata_links(struct state *state, struct rntuple_writer *writer)
{
    rntuple_list(writer, state->description->pair_count ? 1 : 0);
    if (state->description->pair_count)
        write_link(writer, &state->metadata);
    rntuple_end_frame(writer);
}

/* An anchor of its own, in no list of keys, whose header and footer are `places`. */
static void write_attribute_sets(struct state *state, struct rntuple_writer *writer, const uint64_t places[6])
{
    rntuple_list(writer, state->description->attribute_set ? 1 : 0);
    if (state->description->attribute_set) {
        struct nt_buffer anchor = {0};
        rntuple_write_anchor(state->generation, places, &anchor);
        uint64_t offset = put_blob(state, &anchor);
        rntuple_record(writer);
        rntuple_u16(writer, 1); /* schema version major, minor */
        rntuple_u16(writer, 0);
        rntuple_u32(writer, (uint32_t)anchor.length);
        rntuple_locator(writer, RNTUPLE_IN_FILE, offset, anchor.length, NULL);
        rntuple_text(writer, state->description->attribute_set);
        rntuple_end_frame(writer);
        nt_buffer_deinit(&anchor);
    }
    rntuple_end_frame(writer);
}

static void footer_start(struct state *state, struct rntuple_writer *writer)
{
    begin(state, writer, RNTUPLE_FOOTER);
    rntuple_u64(writer, 0); /* feature flags */
    if (has_crc32(state->generation))
        rntuple_u32(writer, (uint32_t)state->header_checksum);
    else
        rntuple_u64(writer, state->header_checksum);
    if (state->generation == RNTUPLE_CRC32_LINKS) {
        rntuple_list(writer, 0); /* extension header links */
        rntuple_end_frame(writer);
        return;
    }
    const struct rntuple_description *d = state->description;
    struct schema_part part = extension_part(d);
    rntuple_record(writer);
    if (d->extension_fields || d->extension_columns || d->extension_aliases || d->extra_type)
        write_schema(writer, d, &part);
    writer->unknown_bytes = 0; /* an empty extension has nothing at all */
    rntuple_end_frame(writer);
    writer->unknown_bytes = d->unknown_bytes;
}

/* A footer without clusters: for the attribute set, which cannot link the footer that names it. */
static struct place write_empty_footer(struct state *state)
{
    struct rntuple_writer writer;
    footer_start(state, &writer);
    write_cluster_groups(state, &writer, 0);
    return put_envelope(state, &writer);
}

static void write_footer(struct state *state, uint32_t groups)
{
    const struct rntuple_description *description = state->description;
    struct rntuple_writer writer;
    struct place other = description->attribute_set ? write_empty_footer(state) : (struct place){0};
    const uint64_t places[6] = {state->header.offset, state->header.stored_bytes, state->header.length,
                                other.offset,         other.stored_bytes,         other.length};
    footer_start(state, &writer);
    if (!is_final(state->generation))
        write_column_groups(&writer, description);
    if (has_crc32(state->generation))
        write_summaries(&writer, description, 0, description->cluster_count);
    write_cluster_groups(state, &writer, groups);
    bool has_metadata_links = state->generation <= RNTUPLE_RC2_EARLY || description->pair_count;
    if (!is_final(state->generation) && has_metadata_links)
        write_metadata_links(state, &writer);
    if (state->generation == RNTUPLE_V1_1)
        write_attribute_sets(state, &writer, places);
    state->footer = put_envelope(state, &writer);
}

/* ---- predraft ---- */

static size_t predraft_frame(struct rntuple_writer *writer)
{
    size_t start = writer->bytes.length;
    rntuple_u64(writer, 0); /* u16 version, u16 minimum, u32 size */
    return start;
}

static void predraft_end_frame(struct rntuple_writer *writer, size_t start)
{
    put_little(&writer->bytes, start + 4, writer->bytes.length - start, 4);
}

static void predraft_version(struct rntuple_writer *writer)
{
    size_t start = predraft_frame(writer);
    rntuple_u64(writer, 0); /* version, minimum */
    rntuple_u64(writer, 0); /* flags */
    predraft_end_frame(writer, start);
}

static void predraft_uuid(struct rntuple_writer *writer)
{
    size_t start = predraft_frame(writer);
    rntuple_text(writer, "");
    predraft_end_frame(writer, start);
}

/* Id 0 is the root field; the description's fields follow from 1 on. */
static void predraft_field(struct rntuple_writer *writer, const struct rntuple_field *field, uint32_t id)
{
    size_t start = predraft_frame(writer);
    rntuple_u64(writer, id);
    predraft_version(writer);
    predraft_version(writer);
    rntuple_text(writer, field ? field->name : "");
    rntuple_text(writer, field ? field->description : "");
    rntuple_text(writer, field ? field->type : "");
    rntuple_u64(writer, field ? field->array_size : 0);
    rntuple_u32(writer, field ? field->role : 2);
    rntuple_u64(writer, !field ? UINT64_MAX : field->parent == RNTUPLE_TOP ? 0 : field->parent + 1);
    rntuple_u32(writer, 0); /* ids of children */
    predraft_end_frame(writer, start);
}

static void predraft_column(struct rntuple_writer *writer, const struct rntuple_column *column, uint32_t id)
{
    size_t start = predraft_frame(writer);
    rntuple_u64(writer, id);
    predraft_version(writer);
    size_t model = predraft_frame(writer);
    rntuple_u32(writer, column->type);
    rntuple_u32(writer, 0); /* is sorted */
    predraft_end_frame(writer, model);
    rntuple_u64(writer, column->field + 1);
    rntuple_u32(writer, 0); /* index within the field */
    predraft_end_frame(writer, start);
}

static void predraft_header(struct state *state)
{
    const struct rntuple_description *description = state->description;
    struct rntuple_writer writer;
    begin(state, &writer, RNTUPLE_HEADER);
    rntuple_text(&writer, description->name);
    rntuple_text(&writer, description->description);
    rntuple_text(&writer, description->writer); /* author */
    rntuple_text(&writer, "");                  /* custodian */
    rntuple_u64(&writer, 0);                    /* times of data and of writing */
    rntuple_u64(&writer, 0);
    predraft_version(&writer);
    predraft_uuid(&writer);
    predraft_uuid(&writer);
    rntuple_u32(&writer, description->field_count + 1);
    for (uint32_t i = description->field_count; i-- > 0;) /* in any order */
        predraft_field(&writer, &description->fields[i], i + 1);
    predraft_field(&writer, NULL, 0);
    rntuple_u32(&writer, description->column_count);
    for (uint32_t i = description->column_count; i-- > 0;)
        predraft_column(&writer, &description->columns[i], i);
    state->header = put_envelope(state, &writer);
}

static void predraft_locator(struct rntuple_writer *writer, const struct place *place, const char *url)
{
    rntuple_u64(writer, place->offset);
    rntuple_u32(writer, (uint32_t)place->stored_bytes);
    rntuple_text(writer, url);
}

static void predraft_range(struct state *state, struct rntuple_writer *writer,
                           const struct rntuple_range *range, uint32_t column)
{
    uint32_t elements = 0;
    for (uint32_t i = 0; i < range->page_count; i++)
        elements += range->pages[i].elements;
    rntuple_u64(writer, column);
    rntuple_u64(writer, range->first_element);
    rntuple_u32(writer, elements);
    rntuple_u64(writer, 101); /* compression */
    rntuple_u32(writer, range->page_count);
    for (uint32_t i = 0; i < range->page_count; i++) {
        struct place place = put_page(state, &range->pages[i]);
        rntuple_u32(writer, range->pages[i].elements);
        predraft_locator(writer, &place, range->pages[i].uri);
    }
}

static void predraft_footer(struct state *state)
{
    const struct rntuple_description *description = state->description;
    struct rntuple_writer writer;
    begin(state, &writer, RNTUPLE_FOOTER);
    rntuple_u64(&writer, description->cluster_count);
    for (uint32_t i = 0; i < description->cluster_count; i++) {
        const struct rntuple_cluster *cluster = &description->clusters[i];
        predraft_uuid(&writer);
        size_t summary = predraft_frame(&writer);
        rntuple_u64(&writer, i);
        predraft_version(&writer);
        rntuple_u64(&writer, cluster->first_entry);
        rntuple_u64(&writer, cluster->entries);
        predraft_locator(&writer, &(struct place){0}, "");
        predraft_end_frame(&writer, summary);
        rntuple_u32(&writer, cluster->range_count);
        for (uint32_t k = cluster->range_count; k-- > 0;)
            predraft_range(state, &writer, &cluster->ranges[k], k);
    }
    rntuple_u32(&writer, 0); /* postscript: versions, sizes of header and footer */
    rntuple_u32(&writer, (uint32_t)state->header.length);
    rntuple_u32(&writer, (uint32_t)writer.bytes.length + 8);
    state->footer = put_envelope(state, &writer);
}

/* ---- anchor ---- */

const char *rntuple_anchor_class(enum rntuple_generation generation)
{
    return is_final(generation) ? "ROOT::RNTuple" : "ROOT::Experimental::RNTuple";
}

static void anchor_version(enum rntuple_generation generation, struct nt_buffer *out)
{
    static const uint16_t versions[RNTUPLE_GENERATIONS][4] = {
        [RNTUPLE_RC1] = {0, 1, 0, 0}, [RNTUPLE_RC2_EARLY] = {0, 2, 0, 0}, [RNTUPLE_RC2_LATE] = {0, 2, 0, 0},
        [RNTUPLE_RC3] = {0, 3, 0, 0}, [RNTUPLE_V1] = {1, 0, 0, 0},        [RNTUPLE_V1_1] = {1, 0, 1, 0},
    };
    for (unsigned i = 0; i < 4; i++)
        append_big(out, versions[generation][i], 2);
}

/* Byte count with its mark, class version 0, class checksum, version and size of the anchor; 32-bit sizes. */
static void write_small_anchor(enum rntuple_generation generation, const uint64_t places[6],
                               struct nt_buffer *out)
{
    append_big(out, 0x40000000 | 54, 4);
    append_big(out, generation == RNTUPLE_CRC32_EXTENSION ? 3 : 0, 2);
    append_big(out, 0x655b8f56, 4);
    append_big(out, 0, 4);
    append_big(out, 48, 4);
    for (unsigned i = 0; i < 6; i++)
        append_big(out, places[i], i % 3 == 0 ? 8 : 4);
    append_big(out, 0, 8); /* reserved */
}

void rntuple_write_anchor(enum rntuple_generation generation, const uint64_t places[6], struct nt_buffer *out)
{
    if (has_crc32(generation)) {
        write_small_anchor(generation, places, out);
        return;
    }
    bool has_maximum_key_size = generation >= RNTUPLE_RC2_LATE;
    append_big(out, 0x40000000 | 66, 4);
    append_big(out, has_maximum_key_size ? 2 : 4, 2);
    size_t start = out->length;
    anchor_version(generation, out);
    for (unsigned i = 0; i < 6; i++)
        append_big(out, places[i], 8);
    if (has_maximum_key_size)
        append_big(out, 1 << 30, 8);
    append_big(out, XXH3_64bits(out->bytes + start, out->length - start), 8);
}

/* ---- all ---- */

void rntuple_write(enum rntuple_generation generation, const struct rntuple_description *description,
                   struct nt_buffer *file)
{
    struct state *state = calloc(1, sizeof(*state));
    state->generation = generation;
    state->description = description;
    tfile_writer_init(&state->file, TFILE_SMALL);
    if (generation == RNTUPLE_PREDRAFT) {
        predraft_header(state);
        predraft_footer(state);
    } else {
        write_header(state);
        uint32_t groups = write_page_lists(state);
        if (description->pair_count)
            write_metadata(state);
        write_footer(state, groups);
    }
    struct nt_buffer anchor = {0};
    const uint64_t places[6] = {state->header.offset, state->header.stored_bytes, state->header.length,
                                state->footer.offset, state->footer.stored_bytes, state->footer.length};
    rntuple_write_anchor(generation, places, &anchor);
    tfile_writer_object(&state->file, 0, rntuple_anchor_class(generation), description->name, 1, anchor.bytes,
                        anchor.length);
    tfile_writer_finish(&state->file);
    nt_buffer_append(file, state->file.out.bytes, state->file.out.length);
    nt_buffer_deinit(&anchor);
    tfile_writer_deinit(&state->file);
    free(state->pages);
    free(state);
}
