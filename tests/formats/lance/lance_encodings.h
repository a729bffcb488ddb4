/* SPDX-License-Identifier: MIT
 *
 * Messages that describe the encoding of pages, after Lance's protos, and the trees that are built from
 * them.
 */
#pragma once

#include <string.h>

#include "formats/lance/file/file.h"
#include "core/model/model.h"
#include "proto_writer.h"
#include "support.h"
#include "core/base/memory.h"
#include "core/io/source.h"
#include "formats/lance/decode/decode.h"
#include <ntuple/source.h>

enum { MAX_BUFFERS = 20 };

static struct nt_error error;
static struct nt_file *file;
static struct nt_lance_layout layout;
static struct nt_buffer message;
static struct nt_lance_buffer buffers[MAX_BUFFERS];

static inline void set_up(void)
{
    struct nt_source *source;
    ck_assert(nt_source_open_memory("", 0, "trees", &source, NULL) == NT_OK);
    ck_assert(nt_file_new("trees", source, &(struct nt_limits){0}, &file, NULL) == NT_OK);
    for (unsigned i = 0; i < MAX_BUFFERS; i++)
        buffers[i] = (struct nt_lance_buffer){1000 + 100 * i, 50 + i};
}

static inline void tear_down(void)
{
    nt_file_close(file);
    nt_buffer_deinit(&message);
    message = (struct nt_buffer){0};
}

/* ---- messages ---- */

static inline struct nt_buffer around(uint32_t number, struct nt_buffer inner)
{
    struct nt_buffer outer = {0};
    put_message(&outer, number, &inner);
    return outer;
}

static inline struct nt_buffer number_in(uint32_t number, uint64_t value)
{
    struct nt_buffer outer = {0};
    put_number(&outer, number, value);
    return outer;
}

static inline struct nt_buffer joined(struct nt_buffer first, struct nt_buffer second)
{
    nt_buffer_append(&first, nt_buffer_string(&second), second.length);
    nt_buffer_deinit_part(&second, &first);
    return first;
}

static inline struct nt_buffer flat(uint64_t bits)
{
    return around(1, number_in(1, bits));
}

static inline struct nt_buffer inline_bits(uint64_t bits)
{
    return around(5, number_in(1, bits));
}

static inline struct nt_buffer variable(void)
{
    return around(2, around(1, flat(32)));
}

static inline struct nt_buffer layers(uint32_t number, uint64_t inner, uint64_t outer)
{
    struct nt_buffer list = {0};
    put_packed(&list, number, (const uint64_t[]){inner, outer}, outer ? 2 : 1);
    return list;
}

static inline struct nt_buffer mini_block(struct nt_buffer values, uint64_t buffer_count)
{
    return joined(joined(around(3, values), layers(6, NT_LAYER_ITEM, 0)),
                  joined(number_in(7, buffer_count), number_in(9, 100)));
}

static inline struct nt_buffer blobs_in(struct nt_buffer layout_of_places)
{
    return around(4, joined(around(1, layout_of_places), layers(2, NT_LAYER_NULLABLE_ITEM, NT_LAYER_ITEM)));
}

/* The column of the next pages. */
static struct nt_lance_value stored = {.bits = 32};
static struct nt_lance_column of_column = {.page_count = 1};

static inline enum nt_status make_of_kind(struct nt_buffer encoding, enum nt_lance_encoding_kind kind,
                                          unsigned count, const struct nt_encoding_tree *known)
{
    nt_buffer_deinit(&message);
    message = encoding;
    const struct nt_lance_page page = {.buffers = buffers,
                                       .buffer_count = count,
                                       .encoding_kind = kind,
                                       .length = 100,
                                       .encoding = {(const uint8_t *)message.bytes, message.length}};
    error = (struct nt_error){0};
    return nt_lance_make_layout(file, &of_column, &page, &stored, true, known, &layout, &error);
}

static inline enum nt_status make(struct nt_buffer encoding, unsigned count)
{
    return make_of_kind(encoding, NT_LANCE_ENCODING_IS_LAYOUT, count, NULL);
}
