/* SPDX-License-Identifier: MIT
 *
 * RNTuple files of every generation: header, page lists, footer, anchor. Specifications of 2022 (CRC32),
 * 2023 (XXH3) and version 1.0.0.1.
 */
#include "rntuple_parts.h"

#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "demand.h"

/* ---- header ---- */

static void feature_flags(struct rntuple_writer *writer, const struct rntuple_description *description)
{
    if (!description->feature_flags)
        rntuple_u64(writer, 0);
    for (uint32_t i = 0; description->feature_flags && i < description->feature_flag_count; i++)
        rntuple_u64(writer, description->feature_flags[i]);
}

static void write_header(struct rntuple_state *state)
{
    const struct rntuple_description *description = state->description;
    struct rntuple_writer writer;
    struct rntuple_schema_part part = rntuple_header_part(description);
    rntuple_begin_envelope(state, &writer, RNTUPLE_HEADER);
    feature_flags(&writer, description);
    if (rntuple_has_crc32(state->generation))
        rntuple_u32(&writer, 1); /* release candidate tag */
    rntuple_text(&writer, description->name);
    rntuple_text(&writer, description->description);
    rntuple_text(&writer, description->writer);
    rntuple_write_schema(&writer, description, &part);
    state->header = rntuple_put_envelope(state, &writer);
}

/* ---- page lists ---- */

static void write_summary(struct rntuple_writer *writer, const struct rntuple_cluster *cluster)
{
    unsigned flag_bits = rntuple_is_final(writer->generation) ? 8 : 4;
    rntuple_record(writer);
    rntuple_u64(writer, cluster->first_entry);
    rntuple_u64(writer, cluster->entries | (uint64_t)cluster->flags << (64 - flag_bits));
    if (cluster->flags & 1)
        rntuple_u32(writer, cluster->column_group);
    rntuple_end_frame(writer);
}

/* The sign of the count, or in the CRC32 drafts bit 30, marks a checksum. */
static void write_page(struct rntuple_state *state, struct rntuple_writer *writer,
                       const struct rntuple_page *page)
{
    struct rntuple_stored_range range = rntuple_put_page(state, page);
    bool has_checksum = page->checksum != RNTUPLE_NO_CHECKSUM;
    if (rntuple_has_crc32(state->generation))
        rntuple_u32(writer, page->elements | (has_checksum ? 1u << 30 : 0));
    else
        rntuple_u32(writer, has_checksum ? 0 - page->elements : page->elements);
    rntuple_locator(writer, page->place, range.offset, range.stored_bytes, page->uri);
}

static void write_range(struct rntuple_state *state, struct rntuple_writer *writer,
                        const struct rntuple_range *range)
{
    rntuple_list(writer, range->page_count);
    for (uint32_t i = 0; i < range->page_count; i++)
        write_page(state, writer, &range->pages[i]);
    rntuple_u64(writer, range->is_suppressed ? 0 - range->first_element : range->first_element);
    if (!range->is_suppressed)
        rntuple_u32(writer, 101);
    rntuple_end_frame(writer);
}

static void write_clusters(struct rntuple_state *state, struct rntuple_writer *writer, uint32_t first,
                           uint32_t end)
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

/* The clusters [*first, *end) of a group; false after the last. */
static bool group_clusters(const struct rntuple_description *description, uint32_t group, uint32_t *first,
                           uint32_t *end)
{
    uint32_t each =
        description->clusters_per_group ? description->clusters_per_group : description->cluster_count;
    *first = group * each;
    *end = *first + each < description->cluster_count ? *first + each : description->cluster_count;
    return *first < description->cluster_count;
}

static uint32_t write_page_lists(struct rntuple_state *state)
{
    uint32_t group = 0, first, end;
    for (; group_clusters(state->description, group, &first, &end); group++) {
        struct rntuple_writer writer;
        rntuple_begin_envelope(state, &writer, RNTUPLE_PAGE_LIST);
        if (!rntuple_has_crc32(state->generation)) {
            rntuple_u64(&writer, state->header_checksum);
            write_summaries(&writer, state->description, first, end);
        }
        write_clusters(state, &writer, first, end);
        demand(group < sizeof(state->page_lists) / sizeof(*state->page_lists));
        state->page_lists[group] = rntuple_put_envelope(state, &writer);
    }
    return group;
}

/* ---- user meta-data ---- */

static void write_value(struct rntuple_writer *writer, const struct rntuple_pair *pair, uint32_t i)
{
    switch (pair->type < 0 ? -pair->type : pair->type) {
    case 2:
        nt_buffer_append_byte(&writer->bytes, (char)pair->integers[i]);
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

static void write_metadata(struct rntuple_state *state)
{
    struct rntuple_writer writer;
    rntuple_begin_envelope(state, &writer, RNTUPLE_USER_METADATA);
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
    state->metadata = rntuple_put_envelope(state, &writer);
}

/* ---- footer ---- */

static void write_link(struct rntuple_writer *writer, const struct rntuple_stored_range *range)
{
    if (rntuple_has_crc32(writer->generation))
        rntuple_u32(writer, (uint32_t)range->length);
    else
        rntuple_u64(writer, range->length);
    rntuple_locator(writer, RNTUPLE_IN_FILE, range->offset, range->stored_bytes, NULL);
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

/* The first entry of a group's clusters and the number of entries to the last; they may be in any
 * order. */
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

static void write_cluster_group(struct rntuple_state *state, struct rntuple_writer *writer, uint32_t group)
{
    uint32_t first, end;
    group_clusters(state->description, group, &first, &end);
    rntuple_record(writer);
    if (!rntuple_has_crc32(state->generation))
        write_entry_range(writer, state->description->clusters + first, end - first);
    rntuple_u32(writer, end - first);
    write_link(writer, &state->page_lists[group]);
    rntuple_end_frame(writer);
}

static void write_cluster_groups(struct rntuple_state *state, struct rntuple_writer *writer, uint32_t count)
{
    uint32_t again = state->description->repeated_groups;
    rntuple_list(writer, count + again);
    for (uint32_t i = 0; i < count + again; i++)
        write_cluster_group(state, writer, i < count ? i : count - 1);
    rntuple_end_frame(writer);
}

static void write_metadata_links(struct rntuple_state *state, struct rntuple_writer *writer)
{
    rntuple_list(writer, state->description->pair_count ? 1 : 0);
    if (state->description->pair_count)
        write_link(writer, &state->metadata);
    rntuple_end_frame(writer);
}

/* An anchor of its own, in no list of keys, whose header and footer are `places`. */
static void write_attribute_sets(struct rntuple_state *state, struct rntuple_writer *writer,
                                 const uint64_t places[6])
{
    const uint32_t count =
        state->description->attribute_set ? 1 + state->description->repeated_attribute_sets : 0;
    struct nt_buffer anchor = {0};
    uint64_t offset = 0;
    rntuple_list(writer, count);
    if (count) {
        rntuple_write_anchor(state->generation, places, &anchor);
        offset = rntuple_put_blob(state, &anchor);
    }
    for (uint32_t i = 0; i < count; i++) {
        rntuple_record(writer);
        rntuple_u16(writer, state->description->attribute_major ? state->description->attribute_major : 1);
        rntuple_u16(writer, state->description->attribute_minor);
        rntuple_u32(writer, (uint32_t)anchor.length);
        rntuple_locator(writer, RNTUPLE_IN_FILE, offset, anchor.length, NULL);
        rntuple_text(writer, state->description->attribute_set);
        rntuple_end_frame(writer);
    }
    nt_buffer_deinit(&anchor);
    rntuple_end_frame(writer);
}

static void footer_start(struct rntuple_state *state, struct rntuple_writer *writer)
{
    rntuple_begin_envelope(state, writer, RNTUPLE_FOOTER);
    rntuple_u64(writer, 0); /* feature flags */
    if (rntuple_has_crc32(state->generation))
        rntuple_u32(writer, (uint32_t)state->header_checksum);
    else
        rntuple_u64(writer, state->header_checksum);
    if (state->generation == RNTUPLE_CRC32_LINKS) {
        rntuple_list(writer, 0); /* extension header links */
        rntuple_end_frame(writer);
        return;
    }
    const struct rntuple_description *d = state->description;
    struct rntuple_schema_part part = rntuple_extension_part(d);
    rntuple_record(writer);
    if (d->extension_fields || d->extension_columns || d->extension_aliases || d->extra_type)
        rntuple_write_schema(writer, d, &part);
    writer->unknown_bytes = 0; /* an empty extension has nothing at all */
    rntuple_end_frame(writer);
    writer->unknown_bytes = d->unknown_bytes;
}

/* A footer without clusters: for the attribute set, which cannot link the footer that names it. */
static struct rntuple_stored_range write_empty_footer(struct rntuple_state *state)
{
    struct rntuple_writer writer;
    footer_start(state, &writer);
    write_cluster_groups(state, &writer, 0);
    return rntuple_put_envelope(state, &writer);
}

static void write_footer(struct rntuple_state *state, uint32_t groups)
{
    const struct rntuple_description *description = state->description;
    struct rntuple_writer writer;
    struct rntuple_stored_range other =
        description->attribute_set ? write_empty_footer(state) : (struct rntuple_stored_range){0};
    const uint64_t places[6] = {state->header.offset, state->header.stored_bytes, state->header.length,
                                other.offset,         other.stored_bytes,         other.length};
    footer_start(state, &writer);
    if (!rntuple_is_final(state->generation))
        write_column_groups(&writer, description);
    if (rntuple_has_crc32(state->generation))
        write_summaries(&writer, description, 0, description->cluster_count);
    write_cluster_groups(state, &writer, groups);
    bool has_metadata_links = state->generation <= RNTUPLE_RC2_EARLY || description->pair_count;
    if (!rntuple_is_final(state->generation) && has_metadata_links)
        write_metadata_links(state, &writer);
    if (state->generation == RNTUPLE_V1_1)
        write_attribute_sets(state, &writer, places);
    state->footer = rntuple_put_envelope(state, &writer);
}

/* ---- anchor ---- */

const char *rntuple_anchor_class(enum rntuple_generation generation)
{
    return rntuple_is_final(generation) ? "ROOT::RNTuple" : "ROOT::Experimental::RNTuple";
}

static void anchor_version(enum rntuple_generation generation, struct nt_buffer *out)
{
    static const uint16_t versions[RNTUPLE_GENERATIONS][4] = {
        [RNTUPLE_RC1] = {0, 1, 0, 0}, [RNTUPLE_RC2_EARLY] = {0, 2, 0, 0}, [RNTUPLE_RC2_LATE] = {0, 2, 0, 0},
        [RNTUPLE_RC3] = {0, 3, 0, 0}, [RNTUPLE_V1] = {1, 0, 0, 0},        [RNTUPLE_V1_1] = {1, 0, 1, 0},
    };
    for (unsigned i = 0; i < 4; i++)
        rntuple_append_big(out, versions[generation][i], 2);
}

/* Byte count with its mark, class version 0, class checksum, version and size of the anchor; 32-bit sizes. */
static void write_small_anchor(enum rntuple_generation generation, const uint64_t places[6],
                               struct nt_buffer *out)
{
    rntuple_append_big(out, 0x40000000 | 54, 4);
    rntuple_append_big(out, generation == RNTUPLE_CRC32_EXTENSION ? 3 : 0, 2);
    rntuple_append_big(out, 0x655b8f56, 4);
    rntuple_append_big(out, 0, 4);
    rntuple_append_big(out, 48, 4);
    for (unsigned i = 0; i < 6; i++)
        rntuple_append_big(out, places[i], i % 3 == 0 ? 8 : 4);
    rntuple_append_big(out, 0, 8); /* reserved */
}

void rntuple_write_anchor(enum rntuple_generation generation, const uint64_t places[6], struct nt_buffer *out)
{
    if (rntuple_has_crc32(generation)) {
        write_small_anchor(generation, places, out);
        return;
    }
    bool has_maximum_key_size = generation >= RNTUPLE_RC2_LATE;
    rntuple_append_big(out, 0x40000000 | 66, 4);
    rntuple_append_big(out, has_maximum_key_size ? 2 : 4, 2);
    size_t start = out->length;
    anchor_version(generation, out);
    for (unsigned i = 0; i < 6; i++)
        rntuple_append_big(out, places[i], 8);
    if (has_maximum_key_size)
        rntuple_append_big(out, 1 << 30, 8);
    rntuple_append_big(out, XXH3_64bits(out->bytes + start, out->length - start), 8);
}

/* ---- all ---- */

void rntuple_write(enum rntuple_generation generation, const struct rntuple_description *description,
                   struct nt_buffer *file)
{
    struct rntuple_state *state = calloc(1, sizeof(*state));
    state->generation = generation;
    state->description = description;
    tfile_writer_init(&state->file, TFILE_SMALL);
    if (generation == RNTUPLE_PREDRAFT) {
        rntuple_predraft_header(state);
        rntuple_predraft_footer(state);
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
