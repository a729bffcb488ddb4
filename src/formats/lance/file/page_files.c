/* SPDX-License-Identifier: MIT
 *
 * In: a page's message. Out: the files that it has in the tree beside its bytes.
 */
#include "formats/lance/file/page_files.h"

#include <stdio.h>

#include "formats/lance/file/chunks_jsonl.h"
#include "formats/lance/file/columns.h"
#include "formats/lance/file/content.h"
#include "formats/lance/file/homes.h"

/* What a buffer of a page holds, as layout.jsonl calls it. */
static const char *owner_of(const struct nt_lance_column *column, const struct nt_lance_page *page,
                            uint32_t buffer)
{
    enum { SIZES, CHUNKS };
    struct nt_proto member;
    uint32_t choice = nt_lance_page_choice(page, &member);
    const char *values = column->is_blob || nt_lance_has_places(page) ? "places of blobs" : "page";
    if (page->encoding_kind == NT_LANCE_ENCODING_IS_UNKNOWN)
        return "page buffer";
    if (choice == NT_LANCE_LAYOUT_FULL_ZIP)
        return buffer ? "repetition index" : values;
    if (choice != NT_LANCE_LAYOUT_MINI_BLOCK || buffer == CHUNKS)
        return values;
    if (buffer == SIZES)
        return "sizes of chunks";
    bool is_dictionary = buffer == CHUNKS + 1 && nt_proto_has(member, NT_LANCE_MINI_BLOCK_DICTIONARY);
    return is_dictionary ? "dictionary" : "repetition index";
}

static void put(struct nt_page_file *file, const char *suffix, enum nt_page_file_kind kind, uint32_t input)
{
    *file = (struct nt_page_file){.kind = kind, .input = input, .open = nt_lance_chunks_open};
    snprintf(file->suffix, sizeof(file->suffix), "%s", suffix);
}

/* Strings have where its items end as their first input. */
static uint32_t put_dictionary(const struct nt_column *column, struct nt_page_file *files)
{
    bool is_strings = nt_lance_content_of(column) == NT_LANCE_HAS_BYTES;
    put(&files[0], ".dictionary.bin", NT_PAGE_FILE_INPUT, is_strings);
    if (is_strings)
        put(&files[1], ".dictionary.ends.bin", NT_PAGE_FILE_INPUT, 0);
    return 1 + is_strings;
}

static uint32_t put_files(const struct nt_dataset *stored, uint32_t column, const struct nt_page *page,
                          struct nt_page_file files[NT_PAGE_FILES])
{
    enum { MOST_RANGES = 16 };
    const struct nt_column *info = &stored->columns[column];
    struct nt_lance_home home;
    const struct nt_lance_page *of = nt_lance_file_page(stored, column, page, &home);
    struct nt_proto member;
    uint32_t count = 0;
    if (!of)
        return 0;
    for (; count < of->buffer_count && count < MOST_RANGES; count++) {
        files[count] = (struct nt_page_file){
            .kind = NT_PAGE_FILE_RANGE,
            .owner = owner_of(&home.lance->columns[home.use.column], of, count),
            .offset = of->buffers[count].offset,
            .bytes = of->buffers[count].bytes,
        };
        snprintf(files[count].suffix, sizeof(files[count].suffix), ".%u.raw", count);
    }
    if (nt_lance_page_choice(of, &member) != NT_LANCE_LAYOUT_MINI_BLOCK ||
        nt_lance_content_of(info) == NT_LANCE_HAS_NOTHING)
        return count;
    put(&files[count++], ".chunks.jsonl", NT_PAGE_FILE_TEXT, 0);
    if (nt_proto_has(member, NT_LANCE_MINI_BLOCK_DICTIONARY))
        count += put_dictionary(info, &files[count]);
    return count;
}

uint32_t nt_lance_page_files(const struct nt_dataset *stored, uint32_t column, const struct nt_page *page,
                             struct nt_page_file files[NT_PAGE_FILES])
{
    nt_lock_take(&stored->whole->lock);
    uint32_t count = put_files(stored, column, page, files);
    nt_lock_give(&stored->whole->lock);
    return count;
}
