/* SPDX-License-Identifier: MIT
 *
 * Header and footer of the pre-draft, as in files of that time.
 */
#include "rntuple_parts.h"

/* ---- predraft ---- */

static size_t predraft_frame(struct rntuple_writer *writer)
{
    size_t start = writer->bytes.length;
    rntuple_u64(writer, 0); /* u16 version, u16 minimum, u32 size */
    return start;
}

static void predraft_end_frame(struct rntuple_writer *writer, size_t start)
{
    rntuple_put_little(&writer->bytes, start + 4, writer->bytes.length - start, 4);
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

void rntuple_predraft_header(struct rntuple_state *state)
{
    const struct rntuple_description *description = state->description;
    struct rntuple_writer writer;
    rntuple_begin_envelope(state, &writer, RNTUPLE_HEADER);
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
    state->header = rntuple_put_envelope(state, &writer);
}

static void predraft_locator(struct rntuple_writer *writer, const struct rntuple_stored_range *range,
                             const char *url)
{
    rntuple_u64(writer, range->offset);
    rntuple_u32(writer, (uint32_t)range->stored_bytes);
    rntuple_text(writer, url);
}

static void predraft_range(struct rntuple_state *state, struct rntuple_writer *writer,
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
        struct rntuple_stored_range written = rntuple_put_page(state, &range->pages[i]);
        rntuple_u32(writer, range->pages[i].elements);
        predraft_locator(writer, &written, range->pages[i].uri);
    }
}

void rntuple_predraft_footer(struct rntuple_state *state)
{
    const struct rntuple_description *description = state->description;
    struct rntuple_writer writer;
    rntuple_begin_envelope(state, &writer, RNTUPLE_FOOTER);
    rntuple_u64(&writer, description->cluster_count);
    for (uint32_t i = 0; i < description->cluster_count; i++) {
        const struct rntuple_cluster *cluster = &description->clusters[i];
        predraft_uuid(&writer);
        size_t summary = predraft_frame(&writer);
        rntuple_u64(&writer, i);
        predraft_version(&writer);
        rntuple_u64(&writer, cluster->first_entry);
        rntuple_u64(&writer, cluster->entries);
        predraft_locator(&writer, &(struct rntuple_stored_range){0}, "");
        predraft_end_frame(&writer, summary);
        rntuple_u32(&writer, cluster->range_count);
        for (uint32_t k = cluster->range_count; k-- > 0;)
            predraft_range(state, &writer, &cluster->ranges[k], k);
    }
    rntuple_u32(&writer, 0); /* postscript: versions, sizes of header and footer */
    rntuple_u32(&writer, (uint32_t)state->header.length);
    rntuple_u32(&writer, (uint32_t)writer.bytes.length + 8);
    state->footer = rntuple_put_envelope(state, &writer);
}
