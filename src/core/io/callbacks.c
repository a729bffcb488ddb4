/* SPDX-License-Identifier: MIT
 *
 * In: functions of a program that read its bytes. Out: a source like all others, whose failures have a status
 * that belongs to reading, and a message.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/sized.h"
#include "core/io/source.h"

struct callback_source {
    struct nt_source source;
    struct nt_source_callbacks callbacks;
    void *context;
    char *name;
};

/* What else the program may say has a meaning of its own here, such as that another format is to be tried. */
static bool is_of_reading(enum nt_status status)
{
    return status == NT_CHANGED || status == NT_TRUNCATED || status == NT_NO_MEMORY || status == NT_CANCELED;
}

static enum nt_status callback_read_at(struct nt_source *source, uint64_t offset, void *buffer, size_t bytes,
                                       struct nt_error *error)
{
    const struct callback_source *called = (struct callback_source *)source;
    struct nt_error said = {0};
    enum nt_status status = called->callbacks.read_at(called->context, offset, buffer, bytes, &said);
    if (status == NT_OK)
        return NT_OK;
    if (!is_of_reading(status))
        status = NT_IO;
    said.message[sizeof(said.message) - 1] = '\0';
    nt_fail(error, status, offset, "%s: %s", source->path, said.message[0] ? said.message : "cannot be read");
    if (error && status == NT_IO)
        error->system_error = said.system_error;
    return status;
}

static void callback_close(struct nt_source *source)
{
    struct callback_source *called = (struct callback_source *)source;
    if (called->callbacks.close)
        called->callbacks.close(called->context);
    free(called->name);
    free(called);
}

static const struct nt_source_ops callback_ops = {
    .read_at = callback_read_at,
    .close = callback_close,
};

enum nt_status nt_source_new(const struct nt_source_callbacks *callbacks, void *context, uint64_t size,
                             const char *name, struct nt_source **source_ret, struct nt_error *error)
{
    struct nt_source_callbacks known;
    enum nt_status status = nt_sized_copy(callbacks, &known, sizeof(known), "nt_source_callbacks", error);
    if (status != NT_OK)
        return status;
    if (!known.read_at || size == NT_UNKNOWN_SIZE)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "%s: a source has to have a size and to be read",
                       name);
    struct callback_source *called = calloc(1, sizeof(*called));
    char *copy = strdup(name);
    if (!called || !copy) {
        free(called);
        free(copy);
        return nt_fail_memory(error);
    }
    *called = (struct callback_source){.source = {.ops = &callback_ops, .size = size, .path = copy},
                                       .callbacks = known,
                                       .context = context,
                                       .name = copy};
    *source_ret = &called->source;
    return NT_OK;
}
