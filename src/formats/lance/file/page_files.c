/* SPDX-License-Identifier: MIT
 *
 * The extra files of a physical page: its buffers, its dictionary, and the list of its mini-block
 * chunks as JSON lines.
 */
#include "formats/lance/file/file.h"

#include <ntuple/source.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/thread.h"
#include "core/json/json.h"
#include "core/model/model.h"
#include "formats/lance/decode/decode.h"
#include "formats/lance/file/messages.h"

/* ---- Chunk list of a page ---- */

enum { NT_MINI_BLOCK_SIZES_BYTES = 6 + 4 * NT_TREE_BUFFERS }; /* an upper bound */

struct chunks {
    struct nt_text_generator text;
    const struct nt_lance *lance;
    const struct nt_lance_page *page;
    const struct nt_tree *tree;
    uint8_t *words; /* from malloc */
    uint64_t count, next, values;
    struct nt_tree_chunk chunk; /* the previous one */
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
    nt_json_member_array(&json, "buffers");
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

static enum nt_status next(struct nt_text_generator *text, struct nt_buffer *out, bool *more_ret,
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

static void free_chunks(struct nt_text_generator *text)
{
    struct chunks *chunks = (struct chunks *)text;
    free(chunks->words);
    free(chunks);
}

/* nt_page_file.open for a column of the physical dataset. */
static enum nt_status nt_lance_chunks_open(struct nt_dataset *physical, uint32_t column,
                                           const struct nt_page *page, struct nt_text_generator **text_ret,
                                           struct nt_error *error)
{
    struct nt_lance_physical_column physical_column;
    const struct nt_lance_page *of = nt_lance_file_page(physical, column, page, &physical_column);
    const struct nt_tree_state *state = nt_tree_state_of(nt_decoders_get(&physical->decoders, page->decoder));
    struct nt_proto member;
    if (!of || !state || nt_lance_page_layout_kind(of, &member) != NT_LANCE_LAYOUT_MINI_BLOCK)
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "the page has no chunks");
    const struct nt_tree *tree = state->tree;
    const struct nt_lance_buffer *words = &of->buffers[0];
    struct chunks *chunks = calloc(1, sizeof(*chunks));
    if (!chunks)
        return nt_fail_memory(error);
    *chunks = (struct chunks){.text = {.next = next, .free = free_chunks},
                              .lance = physical_column.lance,
                              .page = of,
                              .tree = tree,
                              .words = malloc(words->bytes ? words->bytes : 1),
                              .count = words->bytes / (tree->has_large_chunk ? 4 : 2),
                              .values = nt_proto_number(member, NT_LANCE_MINI_BLOCK_NUM_ITEMS)};
    enum nt_status status = chunks->words ? NT_OK : nt_fail_memory(error);
    if (status == NT_OK && words->bytes)
        status =
            nt_source_read(physical_column.lance->source, words->offset, chunks->words, words->bytes, error);
    if (status == NT_OK)
        *text_ret = &chunks->text;
    else
        free_chunks(&chunks->text);
    return status;
}

/* ---- Files of a page ---- */

/* Names the contents of a page's buffer as in layout.jsonl. */
static const char *owner_of(const struct nt_lance_column *column, const struct nt_lance_page *page,
                            uint32_t buffer)
{
    enum { SIZES, CHUNKS };
    struct nt_proto member;
    uint32_t kind = nt_lance_page_layout_kind(page, &member);
    const char *values = column->is_blob || nt_lance_has_descriptors(page) ? "places of blobs" : "page";
    if (page->encoding_kind == NT_LANCE_ENCODING_IS_UNKNOWN)
        return "page buffer";
    if (kind == NT_LANCE_LAYOUT_FULL_ZIP)
        return buffer ? "repetition index" : values;
    if (kind != NT_LANCE_LAYOUT_MINI_BLOCK || buffer == CHUNKS)
        return values;
    if (buffer == SIZES)
        return "sizes of chunks";
    bool is_dictionary = buffer == CHUNKS + 1 && nt_proto_has(member, NT_LANCE_MINI_BLOCK_DICTIONARY);
    return is_dictionary ? "dictionary" : "repetition index";
}

static void put(struct nt_page_file *file, const char *suffix, enum nt_page_file_kind kind,
                uint32_t dependency)
{
    *file = (struct nt_page_file){.kind = kind, .dependency = dependency, .open = nt_lance_chunks_open};
    snprintf(file->suffix, sizeof(file->suffix), "%s", suffix);
}

/* For strings, the first dependency is the ends of the dictionary's items. */
static uint32_t put_dictionary(const struct nt_column *column, struct nt_page_file *files)
{
    bool is_strings = nt_lance_content_of(column) == NT_LANCE_HAS_BYTES;
    put(&files[0], ".dictionary.bin", NT_PAGE_FILE_DEPENDENCY, is_strings);
    if (is_strings)
        put(&files[1], ".dictionary.ends.bin", NT_PAGE_FILE_DEPENDENCY, 0);
    return 1 + is_strings;
}

static uint32_t put_files(const struct nt_dataset *physical, uint32_t column, const struct nt_page *page,
                          struct nt_page_file files[NT_PAGE_FILES])
{
    enum { MAX_RANGES = 16 };
    const struct nt_column *info = &physical->columns[column];
    struct nt_lance_physical_column physical_column;
    const struct nt_lance_page *of = nt_lance_file_page(physical, column, page, &physical_column);
    struct nt_proto member;
    uint32_t count = 0;
    if (!of)
        return 0;
    for (; count < of->buffer_count && count < MAX_RANGES; count++) {
        files[count] = (struct nt_page_file){
            .kind = NT_PAGE_FILE_RANGE,
            .owner = owner_of(&physical_column.lance->columns[physical_column.column_map.column], of, count),
            .offset = of->buffers[count].offset,
            .bytes = of->buffers[count].bytes,
        };
        snprintf(files[count].suffix, sizeof(files[count].suffix), ".%u.raw", count);
    }
    if (nt_lance_page_layout_kind(of, &member) != NT_LANCE_LAYOUT_MINI_BLOCK ||
        nt_lance_content_of(info) == NT_LANCE_HAS_NOTHING)
        return count;
    put(&files[count++], ".chunks.jsonl", NT_PAGE_FILE_TEXT, 0);
    if (nt_proto_has(member, NT_LANCE_MINI_BLOCK_DICTIONARY))
        count += put_dictionary(info, &files[count]);
    return count;
}

uint32_t nt_lance_page_files(const struct nt_dataset *physical, uint32_t column, const struct nt_page *page,
                             struct nt_page_file files[NT_PAGE_FILES])
{
    nt_lock_acquire(&physical->logical->lock);
    uint32_t count = put_files(physical, column, page, files);
    nt_lock_release(&physical->logical->lock);
    return count;
}
