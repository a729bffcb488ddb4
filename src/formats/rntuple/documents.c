/* SPDX-License-Identifier: MIT
 *
 * The documents of an RNTuple: each envelope decoded as JSON, as an annotated hex dump, as its
 * uncompressed bytes and as its stored bytes.
 */
#include "formats/rntuple/rntuple.h"

/* ---- Annotated hex dumps ---- */

/* header.txt, footer.txt and pagelist.<n>.txt show the bytes, sixteen a line, with the item that each
 * belongs to. The functions that build the model parse the envelope again: once for each window of its
 * bytes, so that only the items of one window are in memory. */
enum { LINE_BYTES = 16, PIECE_BYTES = 64 * 1024 };

/* Bytes of an envelope whose items are in memory. */
enum { MIN_WINDOW_BYTES = 256 * 1024, MAX_WINDOWS = 64 };

typedef enum nt_status read_envelope(const struct nt_envelope *envelope, struct nt_error *error);

struct envelope_item {
    uint64_t position, bytes;
    const char *whole, *what; /* NULL: bytes that were not parsed */
};

struct annotated {
    struct nt_text_generator text;
    struct nt_cursor_observer observer;
    struct nt_envelope envelope;
    read_envelope *read;
    size_t window, end; /* of the current window */
    size_t window_bytes;
    struct envelope_item *items; /* that begin in the window */
    size_t count, capacity;
    uint64_t taken; /* from the envelope's budget, for the items */
    bool has_failed;
    size_t position;              /* of the next byte to write */
    size_t next;                  /* index in the items */
    struct envelope_item current; /* contains `position` */
};

/* ---- Reading ---- */

static void remember(struct nt_cursor_observer *observer, size_t position, size_t count, const char *whole,
                     const char *what)
{
    struct annotated *annotated =
        (struct annotated *)((char *)observer - offsetof(struct annotated, observer));
    if (position < annotated->window || position >= annotated->end)
        return;
    if (NT_GROW(annotated->items, annotated->count, annotated->capacity))
        annotated->items[annotated->count++] = (struct envelope_item){position, count, whole, what};
    else
        annotated->has_failed = true;
}

static enum nt_status read_header(const struct nt_envelope *envelope, struct nt_error *error)
{
    NT_CLEANUP(nt_schema_deinit) struct nt_schema schema = {0};
    struct nt_predraft_header predraft;
    struct nt_header header;
    return envelope->generation->is_predraft ? nt_predraft_header_read(envelope, &predraft, &schema, error)
                                             : nt_header_read(envelope, &header, &schema, error);
}

static enum nt_status read_footer(const struct nt_envelope *envelope, struct nt_error *error)
{
    if (envelope->generation->is_predraft)
        return nt_predraft_footer_read(envelope, error);
    NT_CLEANUP(nt_schema_deinit) struct nt_schema extension = {0};
    NT_CLEANUP(nt_footer_deinit) struct nt_footer footer = {0};
    return nt_footer_read(envelope, &footer, &extension, error);
}

static enum nt_status read_column(const struct nt_envelope *envelope, struct nt_cursor *columns,
                                  struct nt_error *error)
{
    struct nt_column_pages pages;
    NT_TRY(nt_column_pages_read(envelope, columns, &pages, error));
    for (uint32_t i = 0; i < pages.pages.items; i++) {
        nt_page_record_read(envelope, &pages.pages.payload);
        NT_TRY(nt_envelope_check(envelope, &pages.pages.payload, "page", error));
    }
    return nt_column_pages_finish(envelope, &pages, error);
}

static enum nt_status read_page_list(const struct nt_envelope *envelope, struct nt_error *error)
{
    struct nt_page_list list;
    NT_TRY(nt_page_list_read(envelope, &list, error));
    for (uint32_t i = 0; i < list.summaries.items; i++) {
        struct nt_cluster_summary summary;
        NT_TRY(nt_cluster_summary_read(envelope, &list.summaries.payload, &summary, error));
    }
    for (uint32_t i = 0; i < list.clusters.items; i++) {
        struct nt_frame columns = {0};
        NT_TRY(nt_cluster_columns_read(envelope, &list.clusters.payload, &columns, error));
        for (uint32_t c = 0; c < columns.items; c++)
            NT_TRY(read_column(envelope, &columns.payload, error));
    }
    return NT_OK;
}

/* Preamble and checksum are already verified; the readers report all other items. */
static enum nt_status read_window(struct annotated *annotated, struct nt_error *error)
{
    const struct nt_envelope *envelope = &annotated->envelope;
    const struct nt_framing *framing = envelope->generation->framing;
    uint32_t checksum_bytes = nt_checksum_info(framing->checksum)->bytes;
    annotated->window = annotated->end;
    annotated->end += nt_min(envelope->length - annotated->end, annotated->window_bytes);
    annotated->count = annotated->next = 0;
    remember(&annotated->observer, 0, framing->preamble_bytes, "envelope",
             framing->has_type_and_length ? "type and length" : "versions");
    remember(&annotated->observer, envelope->length - checksum_bytes, checksum_bytes, "envelope", "checksum");
    enum nt_status status = annotated->read(envelope, error);
    if (status == NT_OK && annotated->has_failed)
        return nt_fail_memory(error);
    if (annotated->count)
        qsort(annotated->items, annotated->count, sizeof(*annotated->items), nt_compare_u64);
    return status;
}

static enum nt_status read_first(struct annotated *annotated, struct nt_error *error)
{
    enum {
        ITEM_BYTES_PER_BYTE = sizeof(struct envelope_item) / 4
    }; /* items shorter than four bytes are rare */
    struct nt_envelope *envelope = &annotated->envelope;
    size_t part = envelope->length / MAX_WINDOWS + 1;
    annotated->window_bytes = part > MIN_WINDOW_BYTES ? part : MIN_WINDOW_BYTES;
    size_t bytes = nt_min(envelope->length, annotated->window_bytes);
    NT_TRY(nt_budget_take(envelope->budget, NT_COST_ENVELOPE_BYTE, bytes * ITEM_BYTES_PER_BYTE,
                          envelope->offset, error));
    annotated->taken = bytes * ITEM_BYTES_PER_BYTE;
    annotated->observer.label = remember;
    envelope->payload.observer = &annotated->observer;
    envelope->payload.labelled = envelope->payload.position;
    return read_window(annotated, error);
}

/* ---- Writing ---- */

/* Skips the items before a position, which overlap others. Is there another one in the window? */
static bool skip_to(struct annotated *annotated, size_t position)
{
    while (annotated->next < annotated->count && annotated->items[annotated->next].position < position)
        annotated->next++;
    return annotated->next < annotated->count;
}

/* Finds the item that starts at the position, or the gap up to the next item. */
static enum nt_status find_current(struct annotated *annotated, struct nt_error *error)
{
    size_t at = annotated->position;
    while (!skip_to(annotated, at) && annotated->end < annotated->envelope.length) {
        NT_TRY(read_window(annotated, error));
    }
    const struct envelope_item *next = &annotated->items[annotated->next];
    bool is_last = annotated->next == annotated->count;
    if (!is_last && next->position == at)
        annotated->current = *next;
    else
        annotated->current = (struct envelope_item){
            .position = at, .bytes = (is_last ? annotated->envelope.length : next->position) - at};
    return NT_OK;
}

static void append_bytes(struct nt_buffer *out, const uint8_t *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    char line[5 * LINE_BYTES];
    memset(line, ' ', sizeof(line));
    for (size_t i = 0; i < count; i++) {
        line[3 * i + 1] = digits[bytes[i] >> 4];
        line[3 * i + 2] = digits[bytes[i] & 15];
        line[3 * LINE_BYTES + 2 + i] = nt_ascii_or_dot(bytes[i]);
    }
    nt_buffer_append(out, line, 4 * LINE_BYTES + 2);
}

/* The first line of an item contains its description. */
static enum nt_status append_line(struct annotated *annotated, struct nt_buffer *out, struct nt_error *error)
{
    if (annotated->position == annotated->current.position + annotated->current.bytes) {
        NT_TRY(find_current(annotated, error));
    }
    const struct envelope_item *current = &annotated->current;
    size_t count = nt_min(current->position + current->bytes - annotated->position, LINE_BYTES);
    nt_buffer_append_format(out, "%08zx ", annotated->position);
    append_bytes(out, annotated->envelope.bytes + annotated->position, count);
    if (annotated->position == current->position && current->what)
        nt_buffer_append_format(out, "  %s: %s", current->whole, current->what);
    else if (annotated->position == current->position)
        nt_buffer_append_string(out, "  not read");
    nt_buffer_append_byte(out, '\n');
    annotated->position += count;
    return out->failed ? nt_fail_memory(error) : NT_OK;
}

static enum nt_status next(struct nt_text_generator *text, struct nt_buffer *out, bool *more_ret,
                           struct nt_error *error)
{
    struct annotated *annotated = (struct annotated *)text;
    size_t full = out->length + PIECE_BYTES;
    while (annotated->position < annotated->envelope.length && out->length < full) {
        NT_TRY(append_line(annotated, out, error));
    }
    *more_ret = annotated->position < annotated->envelope.length;
    return NT_OK;
}

static void free_annotated(struct nt_text_generator *text)
{
    struct annotated *annotated = (struct annotated *)text;
    if (annotated->taken)
        nt_budget_release(annotated->envelope.budget, NT_COST_ENVELOPE_BYTE, annotated->taken);
    nt_envelope_deinit(&annotated->envelope);
    free(annotated->items);
    free(annotated);
}

static enum nt_status load_envelope(const struct nt_document_request *request,
                                    struct nt_envelope *envelope_ret, struct nt_error *error)
{
    return nt_rntuple_load_envelope(request->dataset, request->document->part, (uint32_t)request->number,
                                    envelope_ret, error);
}

static enum nt_status open_text(const struct nt_document_request *request,
                                struct nt_text_generator **text_ret, struct nt_error *error)
{
    struct annotated *annotated = calloc(1, sizeof(*annotated));
    NT_TRY(nt_check_memory(annotated, error));
    enum nt_envelope_kind kind = request->document->part;
    annotated->text = (struct nt_text_generator){.next = next, .free = free_annotated, .takes_budget = true};
    annotated->read = kind == NT_ENVELOPE_HEADER   ? read_header
                      : kind == NT_ENVELOPE_FOOTER ? read_footer
                                                   : read_page_list;
    enum nt_status status = load_envelope(request, &annotated->envelope, error);
    if (status == NT_OK)
        status = read_first(annotated, error);
    if (status != NT_OK) {
        free_annotated(&annotated->text);
        return status;
    }
    *text_ret = &annotated->text;
    return NT_OK;
}

/* ---- Other texts ---- */

static enum nt_status write_json(const struct nt_document_request *request, struct nt_buffer *out,
                                 struct nt_error *error)
{
    const struct nt_dataset *dataset = request->dataset;
    bool is_predraft = nt_rntuple_of(dataset)->generation->is_predraft;
    NT_CLEANUP(nt_envelope_deinit) struct nt_envelope envelope = {0};
    NT_TRY(load_envelope(request, &envelope, error));
    if (request->document->part == NT_ENVELOPE_HEADER)
        return (is_predraft ? nt_predraft_header_json : nt_header_json)(dataset, &envelope, out, error);
    return (is_predraft ? nt_predraft_footer_json : nt_footer_json)(dataset, &envelope, out, error);
}

static uint64_t count_page_lists(const struct nt_file *file, const struct nt_dataset *dataset)
{
    return nt_rntuple_of(dataset)->page_list_count;
}

/* ---- Bytes ---- */

/* Including preamble and checksum. */
static enum nt_status write_bytes(const struct nt_document_request *request, struct nt_buffer *out,
                                  struct nt_error *error)
{
    NT_CLEANUP(nt_envelope_deinit) struct nt_envelope envelope = {0};
    NT_TRY(load_envelope(request, &envelope, error));
    nt_buffer_append(out, envelope.bytes, envelope.length);
    return NT_OK;
}

static struct nt_anchor_link link_of(const struct nt_document_request *request)
{
    const struct nt_rntuple *rntuple = nt_rntuple_of(request->dataset);
    const struct nt_anchor *anchor = &rntuple->anchor;
    enum nt_envelope_kind kind = request->document->part;
    if (kind == NT_ENVELOPE_ANCHOR)
        return (struct nt_anchor_link){anchor->offset, anchor->stored_bytes, anchor->length};
    if (kind != NT_ENVELOPE_PAGE_LIST)
        return kind == NT_ENVELOPE_HEADER ? anchor->header : anchor->footer;
    const struct nt_envelope_link *link = &rntuple->page_lists[request->number];
    bool is_external = !nt_locator_is_local(&link->locator); /* has no bytes here */
    return (struct nt_anchor_link){is_external ? 0 : link->locator.offset,
                                   is_external ? 0 : link->locator.bytes, link->length};
}

static uint64_t envelope_bytes(const struct nt_document_request *request)
{
    return link_of(request).length;
}

/* Bytes as stored are never verified, and as many as are in the file. A payload that is split into several
 * keys can only be read as a whole. */
static uint64_t raw_bytes(const struct nt_document_request *request)
{
    const struct nt_rntuple *rntuple = nt_rntuple_of(request->dataset);
    const struct nt_anchor_link link = link_of(request);
    uint64_t maximum = rntuple->anchor.maximum_key_bytes;
    uint64_t there = rntuple->objects ? rntuple->objects->size : request->file->source->size;
    if (!maximum || link.stored_bytes <= maximum)
        there = link.offset < there ? there - link.offset : 0;
    return nt_min(link.stored_bytes, there);
}

static enum nt_status write_raw(const struct nt_document_request *request, struct nt_buffer *out,
                                struct nt_error *error)
{
    struct nt_file *file = request->dataset->file;
    bool is_anchor = request->document->part == NT_ENVELOPE_ANCHOR;
    struct nt_source *source = is_anchor ? file->source : nt_rntuple_of(request->dataset)->payload;
    uint64_t bytes = raw_bytes(request);
    return bytes == 0 && !is_anchor
               ? NT_OK
               : nt_file_append_range(file, source, link_of(request).offset, bytes, out, error);
}

/* ---- Is a text short? ---- */

/* Annotated bytes are about twenty times as long as the envelope. */
static enum nt_status is_text_short(const struct nt_document_request *request, bool *is_short_ret,
                                    struct nt_error *error)
{
    *is_short_ret = envelope_bytes(request) <= 128 << 10;
    return NT_OK;
}

/* The text is about nine times as long as the envelope. */
static enum nt_status is_json_short(const struct nt_document_request *request, bool *is_short_ret,
                                    struct nt_error *error)
{
    *is_short_ret = envelope_bytes(request) <= 512 << 10;
    return NT_OK;
}

/* ---- The table ---- */

#define PAGE_LIST .part = NT_ENVELOPE_PAGE_LIST, .prefix = "pagelist.", .count = count_page_lists

const struct nt_document nt_rntuple_documents[] = {
    {.prefix = "anchor.raw", .part = NT_ENVELOPE_ANCHOR, .write = write_raw, .bytes = raw_bytes},
    {.prefix = "header.raw", .part = NT_ENVELOPE_HEADER, .write = write_raw, .bytes = raw_bytes},
    {.prefix = "footer.raw", .part = NT_ENVELOPE_FOOTER, .write = write_raw, .bytes = raw_bytes},
    {.prefix = "header.json", .part = NT_ENVELOPE_HEADER, .write = write_json},
    {.prefix = "footer.json", .part = NT_ENVELOPE_FOOTER, .write = write_json},
    {.prefix = "metadata.json", .write = nt_metadata_json},
    {.prefix = "header.bin", .part = NT_ENVELOPE_HEADER, .write = write_bytes, .bytes = envelope_bytes},
    {.prefix = "footer.bin", .part = NT_ENVELOPE_FOOTER, .write = write_bytes, .bytes = envelope_bytes},
    {PAGE_LIST, .suffix = ".bin", .write = write_bytes, .bytes = envelope_bytes},
    {PAGE_LIST, .suffix = ".json", .open = nt_page_list_json_open, .is_short = is_json_short},
    {.prefix = "header.txt", .part = NT_ENVELOPE_HEADER, .open = open_text, .is_short = is_text_short},
    {.prefix = "footer.txt", .part = NT_ENVELOPE_FOOTER, .open = open_text, .is_short = is_text_short},
    {PAGE_LIST, .suffix = ".txt", .open = open_text, .is_short = is_text_short},
    {PAGE_LIST, .suffix = ".raw", .write = write_raw, .bytes = raw_bytes},
};
const uint32_t nt_rntuple_document_count = sizeof(nt_rntuple_documents) / sizeof(nt_rntuple_documents[0]);
