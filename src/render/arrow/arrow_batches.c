/* SPDX-License-Identifier: MIT
 *
 * The Arrow C stream interface: the batches of a table, one after the other.
 */
#include <errno.h>
#include <stdlib.h>

#include "render/arrow/arrow_internal.h"

struct batches {
    const struct nt_arrow *arrow;
    uint32_t next;
    void (*on_release)(void *context);
    void *context;
    struct nt_error error;
};

static int errno_of(const struct nt_error *error)
{
    switch (error->status) {
    case NT_NO_MEMORY:
        return ENOMEM;
    case NT_UNSUPPORTED:
        return ENOTSUP;
    case NT_IO:
        return error->system_error ? error->system_error : EIO;
    default:
        return EIO;
    }
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *schema_ret)
{
    struct batches *batches = stream->private_data;
    batches->error = (struct nt_error){0};
    if (nt_arrow_export_schema(batches->arrow, schema_ret, &batches->error) == NT_OK)
        return 0;
    return errno_of(&batches->error);
}

/* A structure that has been released tells the end. */
static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *array_ret)
{
    struct batches *batches = stream->private_data;
    batches->error = (struct nt_error){0};
    *array_ret = (struct ArrowArray){0};
    if (batches->next == nt_arrow_batches(batches->arrow))
        return 0;
    if (nt_arrow_export_batch(batches->arrow, batches->next, array_ret, &batches->error) != NT_OK)
        return errno_of(&batches->error);
    batches->next++;
    return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
    struct batches *batches = stream->private_data;
    return batches->error.status == NT_OK ? NULL : batches->error.message;
}

static void release(struct ArrowArrayStream *stream)
{
    struct batches *batches = stream->private_data;
    if (batches->on_release)
        batches->on_release(batches->context);
    free(batches);
    *stream = (struct ArrowArrayStream){0};
}

enum nt_status nt_arrow_export_stream(const struct nt_arrow *arrow, void (*on_release)(void *context),
                                      void *context, struct ArrowArrayStream *stream_ret,
                                      struct nt_error *error)
{
    struct batches *batches = calloc(1, sizeof(*batches));
    if (!batches)
        return nt_fail_memory(error);
    batches->arrow = arrow;
    batches->on_release = on_release;
    batches->context = context;
    *stream_ret = (struct ArrowArrayStream){
        .get_schema = get_schema,
        .get_next = get_next,
        .get_last_error = get_last_error,
        .release = release,
        .private_data = batches,
    };
    return NT_OK;
}
