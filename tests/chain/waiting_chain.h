/* SPDX-License-Identifier: MIT
 *
 * A chain with an index: its members wait until their rows are read.
 */
#pragma once

#include <ntuple/read.h>

#include "support.h"
#include "temporary.h"
#include "chain/chain.h"
#include "core/model/model.h"

static struct nt_error error;
static struct nt_reader *reader;
static struct nt_chain_list *list;
static struct nt_chain_index *known;
static struct nt_file *file;

/* nt_chain_options.save_index: reads what the program would write. */
static void save_index(void *context, const struct nt_buffer *text)
{
    assert_ok(nt_chain_index_read(temporary_file("index", text->bytes, text->length), &known, &error));
}

static void open_indexed(const struct nt_chain_options *options, const struct nt_open_options *open)
{
    assert_ok(nt_chain_open(list, options, open, &file, &error));
    ck_assert_ptr_null(file->datasets[0]->failure);
}

/* Makes the index of a chain by opening it once. */
static void index_members(const char *const *paths, unsigned count, void (*open_chain)(void))
{
    assert_ok(nt_chain_list_new(paths, count, false, &list, &error));
    open_chain();
    nt_file_close(file);
    file = NULL;
    ck_assert_ptr_nonnull(known);
    assert_ok(nt_reader_new(NULL, &reader, &error));
}

static void teardown(void)
{
    nt_reader_free(reader);
    nt_file_close(file);
    nt_chain_list_free(list);
    nt_chain_index_free(known);
    known = NULL;
    temporary_teardown();
}
