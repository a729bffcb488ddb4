/* SPDX-License-Identifier: MIT
 *
 * Comes in: a row of the tables. Goes out: its text, with the place where damage ends it.
 */
#include "vfs/whole.h"

#include <stdlib.h>

static enum nt_status append(struct nt_whole *whole, const struct nt_buffer *piece,
                             const struct nt_whole_limits *limits, struct nt_error *error)
{
    whole->is_long = piece->length > limits->bytes - whole->spool.bytes;
    if (whole->is_long && !limits->may_be_long)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET,
                       "a text of more than %llu bytes, for which there is no room: -o textsize=SIZE makes "
                       "some, -o text=short needs none",
                       (unsigned long long)limits->bytes);
    if (whole->is_long)
        return NT_OK;
    return nt_spool_append(&whole->spool, piece->bytes, piece->length, limits->memory_bytes,
                           limits->directory, error);
}

/* `made_ret`: whether the failure, if it is one, is of the text and not of what becomes of it. */
static enum nt_status make_pieces(const struct nt_scope *scope, struct nt_long_text *text,
                                  const struct nt_whole_limits *limits, struct nt_whole *whole,
                                  bool *is_made_ret, struct nt_error *error)
{
    struct nt_buffer piece = {0};
    enum nt_status status = NT_OK;
    bool more = true;
    while (more && status == NT_OK && !whole->is_long) {
        nt_buffer_clear(&piece);
        *is_made_ret = false;
        status = text->next(text, &piece, &more, error);
        if (status == NT_OK && piece.failed)
            status = nt_fail_memory(error);
        *is_made_ret = status == NT_OK;
        if (status == NT_OK)
            status = append(whole, &piece, limits, error);
        if (status == NT_OK && more)
            status = nt_scope_check_caller(scope, error);
    }
    nt_buffer_deinit(&piece);
    return status;
}

/* What is damaged ends the text; the rest of it stands. */
static enum nt_status end_early(struct nt_whole *whole, const struct nt_error *failure,
                                struct nt_error *error)
{
    whole->failure = malloc(sizeof(*whole->failure));
    if (!whole->failure)
        return nt_fail_memory(error);
    *whole->failure = *failure;
    return NT_OK;
}

static enum nt_status make_long(const struct nt_scope *scope, const struct nt_whole_limits *limits,
                                struct nt_whole *whole, struct nt_error *error)
{
    struct nt_long_text *text = NULL;
    struct nt_error failure = {0};
    bool is_made = false;
    enum nt_status status = scope->pseudo->open_text(scope, &text, &failure);
    if (status == NT_OK)
        status = make_pieces(scope, text, limits, whole, &is_made, &failure);
    if (text)
        text->free(text);
    if (status == NT_OK)
        return NT_OK;
    failure.status = status;
    return is_made || nt_is_machine_failure(status) ? nt_fail_with(error, &failure)
                                                    : end_early(whole, &failure, error);
}

static enum nt_status make_produced(const struct nt_scope *scope, struct nt_whole *whole,
                                    struct nt_error *error)
{
    struct nt_buffer *text = &whole->spool.memory;
    enum nt_status status = scope->pseudo->produce(scope, text, error);
    if (status == NT_OK && text->failed)
        status = nt_fail_memory(error);
    whole->spool.bytes = text->length;
    return status;
}

enum nt_status nt_whole_make(const struct nt_scope *scope, const struct nt_whole_limits *limits,
                             struct nt_whole *whole, struct nt_error *error)
{
    *whole = (struct nt_whole){.spool = NT_SPOOL_EMPTY};
    enum nt_status status =
        scope->pseudo->produce ? make_produced(scope, whole, error) : make_long(scope, limits, whole, error);
    if (status != NT_OK || whole->is_long)
        nt_spool_deinit(&whole->spool);
    else
        nt_buffer_fit(&whole->spool.memory);
    return status;
}

void nt_whole_deinit(struct nt_whole *whole)
{
    nt_spool_deinit(&whole->spool);
    free(whole->failure);
}

uint64_t nt_whole_size(const struct nt_whole *whole)
{
    return whole->spool.bytes + (whole->failure != NULL);
}

enum nt_status nt_whole_read(const struct nt_whole *whole, uint64_t offset, void *buffer, size_t bytes,
                             size_t *bytes_ret, struct nt_error *error)
{
    uint64_t left = whole->spool.bytes - offset; /* within nt_whole_size: at least 0 */
    if (bytes > left)
        bytes = (size_t)left;
    if (bytes == 0 && whole->failure)
        return nt_fail_with(error, whole->failure);
    *bytes_ret = bytes;
    return nt_spool_read(&whole->spool, offset, buffer, bytes, error);
}
