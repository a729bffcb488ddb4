/* SPDX-License-Identifier: MIT
 *
 * In: a page list envelope. Out: pagelist.<n>.json as a long text, every item as it is stored. A page list may
 * have millions of pages: the document is written in pieces, by steps of a page, a column or a cluster.
 */
#include <stdlib.h>

#include "formats/rntuple/shown.h"
#include "formats/rntuple/page_list.h"

enum { PIECE_BYTES = 64 * 1024 };

struct page_list_text {
    struct nt_long_text base;
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

static enum nt_status write_start(struct page_list_text *text, struct nt_error *error)
{
    struct nt_json *json = &text->json;
    nt_json_document(json, json->out, "pagelist");
    nt_json_member_unsigned(json, "decoded_bytes", text->envelope.length);
    nt_json_member_hex64(json, "checksum", text->envelope.checksum);
    if (text->envelope.generation->has_summaries_in_page_list) {
        nt_json_member_hex64(json, "header_checksum", text->list.header_checksum);
        nt_json_key(json, "cluster_summaries");
        nt_json_array(json);
        for (uint32_t i = 0; i < text->list.summaries.items; i++) {
            struct nt_cluster_summary summary;
            enum nt_status status =
                nt_cluster_summary_read(&text->envelope, &text->list.summaries.payload, &summary, error);
            if (status != NT_OK)
                return status;
            nt_cluster_summary_json(json, &summary);
        }
        nt_json_end_array(json);
    }
    nt_json_key(json, "clusters");
    nt_json_array(json);
    text->clusters_left = text->list.clusters.items;
    text->is_started = true;
    return NT_OK;
}

static enum nt_status start_cluster(struct page_list_text *text, struct nt_error *error)
{
    enum nt_status status =
        nt_cluster_columns_read(&text->envelope, &text->list.clusters.payload, &text->columns, error);
    if (status != NT_OK)
        return status;
    nt_json_object(&text->json);
    nt_json_member_unsigned(&text->json, "cluster", text->cluster++);
    nt_json_key(&text->json, "columns");
    nt_json_array(&text->json);
    text->columns_left = text->columns.items;
    text->clusters_left--;
    text->is_in_cluster = true;
    return NT_OK;
}

static void finish_cluster(struct page_list_text *text)
{
    nt_json_end_array(&text->json);
    nt_unknown_bytes_json(&text->json, nt_cursor_left(&text->columns.payload));
    nt_json_end_object(&text->json);
    text->is_in_cluster = false;
}

static enum nt_status start_column(struct page_list_text *text, struct nt_error *error)
{
    enum nt_status status =
        nt_column_pages_read(&text->envelope, &text->columns.payload, &text->pages, error);
    if (status != NT_OK)
        return status;
    nt_json_object(&text->json);
    nt_json_key(&text->json, "pages");
    nt_json_array(&text->json);
    text->pages_left = text->pages.pages.items;
    text->columns_left--;
    text->is_in_column = true;
    return NT_OK;
}

static enum nt_status write_page(struct page_list_text *text, struct nt_error *error)
{
    struct nt_page_record page = nt_page_record_read(&text->envelope, &text->pages.pages.payload);
    enum nt_status status = nt_envelope_check(&text->envelope, &text->pages.pages.payload, "page", error);
    if (status != NT_OK)
        return status;
    nt_json_object(&text->json);
    nt_json_member_unsigned(&text->json, "elements", page.elements);
    nt_json_member_bool(&text->json, "has_checksum", page.has_checksum);
    nt_locator_describe(&text->json, &page.locator);
    nt_json_end_object(&text->json);
    text->pages_left--;
    return NT_OK;
}

static enum nt_status finish_column(struct page_list_text *text, struct nt_error *error)
{
    enum nt_status status = nt_column_pages_finish(&text->envelope, &text->pages, error);
    if (status != NT_OK)
        return status;
    nt_json_end_array(&text->json);
    nt_json_member_bool(&text->json, "is_suppressed", text->pages.is_suppressed);
    nt_json_member_unsigned(&text->json, "first_element", text->pages.first_element);
    if (!text->pages.is_suppressed)
        nt_json_member_unsigned(&text->json, "compression_settings", text->pages.compression_settings);
    nt_unknown_bytes_json(&text->json, text->pages.unknown_bytes);
    nt_json_end_object(&text->json);
    text->is_in_column = false;
    return NT_OK;
}

/* One item; *more_ret false once the document is complete. */
static enum nt_status step(struct page_list_text *text, bool *more_ret, struct nt_error *error)
{
    if (!text->is_started)
        return write_start(text, error);
    if (text->is_in_column)
        return text->pages_left ? write_page(text, error) : finish_column(text, error);
    if (text->is_in_cluster && text->columns_left)
        return start_column(text, error);
    if (text->is_in_cluster) {
        finish_cluster(text);
        return NT_OK;
    }
    if (text->clusters_left)
        return start_cluster(text, error);
    nt_json_end_array(&text->json);
    nt_unknown_bytes_json(&text->json, text->list.unknown_bytes);
    nt_json_finish(&text->json);
    *more_ret = false;
    return NT_OK;
}

static enum nt_status next(struct nt_long_text *base, struct nt_buffer *out, bool *more_ret,
                           struct nt_error *error)
{
    struct page_list_text *text = (struct page_list_text *)base;
    size_t end = out->length + PIECE_BYTES;
    text->json.out = out;
    *more_ret = true;
    while (*more_ret && out->length < end) {
        enum nt_status status = step(text, more_ret, error);
        if (status != NT_OK)
            return status;
        if (out->failed)
            return nt_fail_memory(error);
    }
    return NT_OK;
}

static void free_text(struct nt_long_text *base)
{
    struct page_list_text *text = (struct page_list_text *)base;
    nt_envelope_deinit(&text->envelope);
    free(text);
}

enum nt_status nt_page_list_json_open(const struct nt_dataset *dataset, uint32_t group,
                                      struct nt_long_text **text_ret, struct nt_error *error)
{
    struct page_list_text *text = calloc(1, sizeof(*text));
    if (!text)
        return nt_fail_memory(error);
    text->base = (struct nt_long_text){.next = next, .free = free_text};
    text->cluster = dataset->groups[group].first_cluster;
    enum nt_status status =
        nt_rntuple_load_envelope(dataset, NT_ENVELOPE_PAGE_LIST, group, &text->envelope, error);
    if (status == NT_OK)
        status = nt_page_list_read(&text->envelope, &text->list, error);
    if (status != NT_OK) {
        free_text(&text->base);
        return status;
    }
    *text_ret = &text->base;
    return NT_OK;
}
