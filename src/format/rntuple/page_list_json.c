/* SPDX-License-Identifier: MIT
 *
 * In: a page list envelope. Out: pagelist.<n>.json as a stream, every item as it is stored. A page list may
 * have millions of pages: the document is written in pieces, by steps of a page, a column or a cluster.
 */
#include <stdlib.h>

#include "format/rntuple/shown.h"
#include "format/rntuple/page_list.h"

enum { PIECE_BYTES = 64 * 1024 };

struct page_list_stream {
    struct nt_text_stream stream;
    struct nt_envelope envelope;
    struct nt_page_list list;
    struct nt_json json;
    bool is_started, is_in_cluster, is_in_column;
    uint32_t clusters_left, columns_left, pages_left;
    struct nt_frame columns;      /* of the cluster that is being written */
    struct nt_column_pages pages; /* of the column that is being written */
    uint32_t cluster;
};

void nt_cluster_summary_json(struct nt_json *json, const struct nt_cluster_summary *summary)
{
    nt_json_object(json);
    nt_json_member_unsigned(json, "first_entry", summary->first_entry);
    nt_json_member_unsigned(json, "entries", summary->entries);
    nt_json_member_unsigned(json, "flags", summary->flags);
    if (summary->column_group != NT_NONE)
        nt_json_member_unsigned(json, "column_group_id", summary->column_group);
    nt_unknown_bytes_json(json, summary->unknown_bytes);
    nt_json_end_object(json);
}

static enum nt_status write_start(struct page_list_stream *stream, struct nt_error *error)
{
    struct nt_json *json = &stream->json;
    nt_json_document(json, json->out, "pagelist");
    nt_json_member_unsigned(json, "decoded_bytes", stream->envelope.length);
    nt_json_member_hex64(json, "checksum", stream->envelope.checksum);
    if (stream->envelope.generation->has_summaries_in_page_list) {
        nt_json_member_hex64(json, "header_checksum", stream->list.header_checksum);
        nt_json_key(json, "cluster_summaries");
        nt_json_array(json);
        for (uint32_t i = 0; i < stream->list.summaries.items; i++) {
            struct nt_cluster_summary summary;
            enum nt_status status =
                nt_cluster_summary_read(&stream->envelope, &stream->list.summaries.payload, &summary, error);
            if (status != NT_OK)
                return status;
            nt_cluster_summary_json(json, &summary);
        }
        nt_json_end_array(json);
    }
    nt_json_key(json, "clusters");
    nt_json_array(json);
    stream->clusters_left = stream->list.clusters.items;
    stream->is_started = true;
    return NT_OK;
}

static enum nt_status start_cluster(struct page_list_stream *stream, struct nt_error *error)
{
    enum nt_status status =
        nt_cluster_columns_read(&stream->envelope, &stream->list.clusters.payload, &stream->columns, error);
    if (status != NT_OK)
        return status;
    nt_json_object(&stream->json);
    nt_json_member_unsigned(&stream->json, "cluster", stream->cluster++);
    nt_json_key(&stream->json, "columns");
    nt_json_array(&stream->json);
    stream->columns_left = stream->columns.items;
    stream->clusters_left--;
    stream->is_in_cluster = true;
    return NT_OK;
}

static void finish_cluster(struct page_list_stream *stream)
{
    nt_json_end_array(&stream->json);
    nt_unknown_bytes_json(&stream->json, nt_cursor_left(&stream->columns.payload));
    nt_json_end_object(&stream->json);
    stream->is_in_cluster = false;
}

static enum nt_status start_column(struct page_list_stream *stream, struct nt_error *error)
{
    enum nt_status status =
        nt_column_pages_read(&stream->envelope, &stream->columns.payload, &stream->pages, error);
    if (status != NT_OK)
        return status;
    nt_json_object(&stream->json);
    nt_json_key(&stream->json, "pages");
    nt_json_array(&stream->json);
    stream->pages_left = stream->pages.pages.items;
    stream->columns_left--;
    stream->is_in_column = true;
    return NT_OK;
}

static enum nt_status write_page(struct page_list_stream *stream, struct nt_error *error)
{
    struct nt_page_record page = nt_page_record_read(&stream->envelope, &stream->pages.pages.payload);
    enum nt_status status = nt_envelope_check(&stream->envelope, &stream->pages.pages.payload, "page", error);
    if (status != NT_OK)
        return status;
    nt_json_object(&stream->json);
    nt_json_member_unsigned(&stream->json, "elements", page.elements);
    nt_json_member_bool(&stream->json, "has_checksum", page.has_checksum);
    nt_locator_describe(&stream->json, &page.locator);
    nt_json_end_object(&stream->json);
    stream->pages_left--;
    return NT_OK;
}

static enum nt_status finish_column(struct page_list_stream *stream, struct nt_error *error)
{
    enum nt_status status = nt_column_pages_finish(&stream->envelope, &stream->pages, error);
    if (status != NT_OK)
        return status;
    nt_json_end_array(&stream->json);
    nt_json_member_bool(&stream->json, "is_suppressed", stream->pages.is_suppressed);
    nt_json_member_unsigned(&stream->json, "first_element", stream->pages.first_element);
    if (!stream->pages.is_suppressed)
        nt_json_member_unsigned(&stream->json, "compression_settings", stream->pages.compression_settings);
    nt_unknown_bytes_json(&stream->json, stream->pages.unknown_bytes);
    nt_json_end_object(&stream->json);
    stream->is_in_column = false;
    return NT_OK;
}

/* One item; *more_ret false once the document is complete. */
static enum nt_status step(struct page_list_stream *stream, bool *more_ret, struct nt_error *error)
{
    if (!stream->is_started)
        return write_start(stream, error);
    if (stream->is_in_column)
        return stream->pages_left ? write_page(stream, error) : finish_column(stream, error);
    if (stream->is_in_cluster && stream->columns_left)
        return start_column(stream, error);
    if (stream->is_in_cluster) {
        finish_cluster(stream);
        return NT_OK;
    }
    if (stream->clusters_left)
        return start_cluster(stream, error);
    nt_json_end_array(&stream->json);
    nt_unknown_bytes_json(&stream->json, stream->list.unknown_bytes);
    nt_json_finish(&stream->json);
    *more_ret = false;
    return NT_OK;
}

static enum nt_status next(struct nt_text_stream *base, struct nt_buffer *out, bool *more_ret,
                           struct nt_error *error)
{
    struct page_list_stream *stream = (struct page_list_stream *)base;
    size_t end = out->length + PIECE_BYTES;
    stream->json.out = out;
    *more_ret = true;
    while (*more_ret && out->length < end) {
        enum nt_status status = step(stream, more_ret, error);
        if (status != NT_OK)
            return status;
        if (out->failed)
            return nt_fail_memory(error);
    }
    return NT_OK;
}

static void free_stream(struct nt_text_stream *base)
{
    struct page_list_stream *stream = (struct page_list_stream *)base;
    nt_envelope_deinit(&stream->envelope);
    free(stream);
}

enum nt_status nt_page_list_json_open(const struct nt_dataset *dataset, uint32_t group,
                                      struct nt_text_stream **stream_ret, struct nt_error *error)
{
    struct page_list_stream *stream = calloc(1, sizeof(*stream));
    if (!stream)
        return nt_fail_memory(error);
    stream->stream = (struct nt_text_stream){next, free_stream};
    stream->cluster = dataset->groups[group].first_cluster;
    enum nt_status status = nt_rntuple_load_page_list(dataset, group, &stream->envelope, error);
    if (status == NT_OK)
        status = nt_page_list_read(&stream->envelope, &stream->list, error);
    if (status != NT_OK) {
        free_stream(&stream->stream);
        return status;
    }
    *stream_ret = &stream->stream;
    return NT_OK;
}
