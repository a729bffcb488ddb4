/* SPDX-License-Identifier: MIT
 *
 * In: the words of a page's chunks, and what each chunk begins with. Out: a line for each of them.
 */
#include "formats/lance/file/chunks_jsonl.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/codec/plan.h"
#include "formats/lance/decode/mini_block.h"
#include "formats/lance/decode/whole.h"
#include "formats/lance/file/columns.h"
#include "formats/lance/file/homes.h"
#include "core/json/json.h"

struct chunks {
    struct nt_long_text text;
    const struct nt_lance *lance;
    const struct nt_lance_page *page;
    const struct nt_tree *tree;
    uint8_t *words; /* from malloc */
    uint64_t count, next, values;
    struct nt_tree_chunk chunk; /* the one before */
};

static void put_line(const struct chunks *chunks, const struct nt_mini_block_sizes *sizes,
                     struct nt_buffer *out)
{
    const struct nt_tree *tree = chunks->tree;
    struct nt_json json;
    nt_json_line(&json, out);
    nt_json_member_unsigned(&json, "chunk", chunks->next);
    nt_json_member_unsigned(&json, "file_offset", chunks->page->buffers[1].offset + chunks->chunk.offset);
    nt_json_member_unsigned(&json, "stored_bytes", chunks->chunk.bytes);
    nt_json_member_unsigned(&json, "first_value", chunks->chunk.first_value);
    nt_json_member_unsigned(&json, "values", chunks->chunk.values);
    nt_json_member_unsigned(&json, "levels", sizes->levels);
    if (tree->repetition != NT_NO_NODE)
        nt_json_member_unsigned(&json, "repetition_bytes", sizes->repetition_bytes);
    if (tree->definition != NT_NO_NODE)
        nt_json_member_unsigned(&json, "definition_bytes", sizes->definition_bytes);
    nt_json_key(&json, "buffers");
    nt_json_array(&json);
    for (uint32_t i = 0; i < tree->buffers; i++) {
        nt_json_object(&json);
        nt_json_member_unsigned(&json, "stored_bytes", sizes->buffer_bytes[i]);
        nt_json_end_object(&json);
    }
    nt_json_end_array(&json);
    nt_json_finish(&json);
}

static enum nt_status next_chunk(struct chunks *chunks, struct nt_buffer *out, struct nt_error *error)
{
    uint8_t start[NT_MINI_BLOCK_SIZES_BYTES];
    struct nt_mini_block_sizes sizes;
    const struct nt_lance_buffer *buffer = &chunks->page->buffers[1];
    enum nt_status status = nt_tree_next_chunk(chunks->tree, chunks->words, chunks->count, chunks->next,
                                               chunks->values, buffer->bytes, &chunks->chunk, error);
    size_t bytes = chunks->chunk.bytes < sizeof(start) ? (size_t)chunks->chunk.bytes : sizeof(start);
    if (status == NT_OK)
        status =
            nt_source_read(chunks->lance->source, buffer->offset + chunks->chunk.offset, start, bytes, error);
    if (status != NT_OK)
        return status;
    struct nt_cursor cursor = nt_cursor(start, bytes);
    nt_mini_block_get_sizes(chunks->tree, &cursor, &sizes);
    if (cursor.failed)
        return nt_fail(error, NT_CORRUPT, buffer->offset + chunks->chunk.offset,
                       "chunk %" PRIu64 " of %" PRIu64 " bytes is too short for its sizes", chunks->next,
                       chunks->chunk.bytes);
    put_line(chunks, &sizes, out);
    chunks->next++;
    return NT_OK;
}

static enum nt_status next(struct nt_long_text *text, struct nt_buffer *out, bool *more_ret,
                           struct nt_error *error)
{
    enum { PIECE = 32768 };
    struct chunks *chunks = (struct chunks *)text;
    size_t start = out->length;
    enum nt_status status = NT_OK;
    while (status == NT_OK && chunks->next < chunks->count && out->length - start < PIECE && !out->failed)
        status = next_chunk(chunks, out, error);
    *more_ret = chunks->next < chunks->count;
    return status != NT_OK && out->length > start ? NT_OK : status; /* the next call fails at once */
}

static void free_chunks(struct nt_long_text *text)
{
    struct chunks *chunks = (struct chunks *)text;
    free(chunks->words);
    free(chunks);
}

enum nt_status nt_lance_chunks_open(struct nt_dataset *stored, uint32_t column, const struct nt_page *page,
                                    struct nt_long_text **text_ret, struct nt_error *error)
{
    struct nt_lance_home home;
    const struct nt_lance_page *of = nt_lance_file_page(stored, column, page, &home);
    const struct nt_plan *plan = nt_decoders_get(&stored->decoders, page->decoder)->plan;
    struct nt_proto member;
    if (!of || !plan || nt_lance_page_choice(of, &member) != NT_LANCE_LAYOUT_MINI_BLOCK)
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "the page has no chunks");
    const struct nt_tree *tree = plan->steps[plan->step_count - 1].tree;
    const struct nt_lance_buffer *words = &of->buffers[0];
    struct chunks *chunks = calloc(1, sizeof(*chunks));
    if (!chunks)
        return nt_fail_memory(error);
    *chunks = (struct chunks){.text = {.next = next, .free = free_chunks},
                              .lance = home.lance,
                              .page = of,
                              .tree = tree,
                              .words = malloc(words->bytes ? words->bytes : 1),
                              .count = words->bytes / (tree->has_large_chunk ? 4 : 2),
                              .values = nt_proto_number(member, NT_LANCE_MINI_BLOCK_NUM_ITEMS)};
    enum nt_status status = chunks->words ? NT_OK : nt_fail_memory(error);
    if (status == NT_OK && words->bytes)
        status = nt_source_read(home.lance->source, words->offset, chunks->words, words->bytes, error);
    if (status == NT_OK)
        *text_ret = &chunks->text;
    else
        free_chunks(&chunks->text);
    return status;
}
