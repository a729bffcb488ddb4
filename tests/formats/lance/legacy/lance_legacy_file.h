/* SPDX-License-Identifier: MIT
 *
 * A small legacy file with all kinds of pages, for tests that read or change it, and its model.
 */
#pragma once

#include "formats/formats.h"
#include "lance_legacy_writer.h"
#include "support.h"
#include "core/io/source.h"
#include "core/model/model.h"

static struct nt_error error;
static struct legacy_writer writer;
static struct nt_file *file;

static void legacy_close(void)
{
    if (file)
        nt_file_close(file);
    file = NULL;
}

static void tear_down(void)
{
    legacy_close();
    legacy_deinit(&writer);
}

/* `page_bytes`: limit of each page; 0: the default. */
static enum nt_status legacy_open_within(uint64_t page_bytes)
{
    struct nt_open_options options = NT_OPEN_OPTIONS_INIT;
    options.page_bytes = page_bytes;
    struct nt_source *source;
    legacy_close();
    error = (struct nt_error){0};
    ck_assert(nt_source_open_memory(writer.out.bytes, writer.out.length, "test.lance", &source, &error) ==
              NT_OK);
    enum nt_status status = nt_format_lance.open(source, &options, &file, &error);
    if (status != NT_OK)
        nt_source_close(source);
    return status;
}

static enum nt_status legacy_open(void)
{
    return legacy_open_within(0);
}

enum { NUMBER, TEXT, LIST, ITEM, STRUCTURE, WORD, ROWS_0 = 2, ROWS_1 = 1 };

/* The offsets of the parts of the first batch and the second one. */
static uint64_t numbers_at[2], texts_at[2], offsets_at[2], lists_at[2], items_at[2], words_at[2],
    dictionary_at;

/* Two batches, of 2 rows and 1: number (int32) 1 2, 3; text "ab" null, "c"; list of bool [1 0 1] [], [1]; in
 * a structure, word, items 1 0, 1 of a dictionary of "x" and "yz". */
static void put_all(void)
{
    static const uint64_t batches[] = {0, ROWS_0, ROWS_0 + ROWS_1};
    legacy_begin(&writer, batches, 2);
    numbers_at[0] = legacy_numbers(&writer, 4, (uint64_t[]){1, 2}, 2);
    texts_at[0] = legacy_bytes(&writer, "ab", 2);
    offsets_at[0] =
        legacy_numbers(&writer, 8, (uint64_t[]){texts_at[0], texts_at[0] + 2, texts_at[0] + 2}, 3);
    lists_at[0] = legacy_numbers(&writer, 4, (uint64_t[]){0, 3, 3}, 3);
    items_at[0] = legacy_bytes(&writer, "\5", 1);
    words_at[0] = legacy_bytes(&writer, "\1\0\0\0", 4);
    numbers_at[1] = legacy_numbers(&writer, 4, (uint64_t[]){3}, 1);
    texts_at[1] = legacy_bytes(&writer, "c", 1);
    offsets_at[1] = legacy_numbers(&writer, 8, (uint64_t[]){texts_at[1], texts_at[1] + 1}, 2);
    lists_at[1] = legacy_numbers(&writer, 4, (uint64_t[]){0, 1}, 2);
    items_at[1] = legacy_bytes(&writer, "\1", 1);
    words_at[1] = legacy_bytes(&writer, "\1\0", 2);
    uint64_t at = legacy_bytes(&writer, "xyz", 3);
    dictionary_at = legacy_numbers(&writer, 8, (uint64_t[]){at, at + 1, at + 3}, 3);
    for (unsigned batch = 0; batch < 2; batch++) {
        uint64_t rows = batches[batch + 1] - batches[batch];
        legacy_page(&writer, NUMBER, batch, numbers_at[batch], rows);
        legacy_page(&writer, TEXT, batch, offsets_at[batch], rows);
        legacy_page(&writer, LIST, batch, lists_at[batch], rows + 1);
        legacy_page(&writer, ITEM, batch, items_at[batch], batch ? 1 : 3);
        legacy_page(&writer, WORD, batch, words_at[batch], rows);
    }
    legacy_field(&writer, NUMBER, -1, "number", "int32");
    legacy_field(&writer, TEXT, -1, "text", "string");
    legacy_field(&writer, LIST, -1, "list", "list");
    legacy_field(&writer, ITEM, LIST, "item", "bool");
    legacy_field(&writer, STRUCTURE, -1, "structure", "struct");
    writer.last = WORD;
    legacy_put_field(&writer.manifest, WORD, STRUCTURE, "word", "dict:string:int16:false", 3, dictionary_at,
                     2);
}

/* Loads the page list of a field, by its id. */
static enum nt_status load_field(int32_t id)
{
    struct nt_dataset *dataset = file->datasets[0];
    for (uint32_t i = 0; i < dataset->field_count; i++)
        if (dataset->fields[i].id == (uint32_t)id)
            return nt_dataset_load_group(dataset, dataset->field_groups[i], &error);
    ck_abort_msg("no field %d", id);
    return NT_INVALID;
}
