/* SPDX-License-Identifier: MIT
 *
 * The Arrow C data interface and C stream interface: exports the schema and the batches of a table to
 * memory that the consumer releases.
 */
#include "render/arrow/arrow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "read/read.h"

/* ---- C data interface ---- */

/* ---- Schema ---- */

static void release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (schema->children[i] && schema->children[i]->release)
            schema->children[i]->release(schema->children[i]);
        free(schema->children[i]);
    }
    free(schema->children);
    free((char *)schema->format);
    free((char *)schema->name);
    free((char *)schema->metadata);
    *schema = (struct ArrowSchema){0};
}

/* Returns the text of a buffer, which the caller frees; NULL: out of memory. */
static char *take_text(struct nt_buffer *text)
{
    nt_buffer_byte(text, '\0');
    if (text->failed)
        nt_buffer_deinit(text);
    return text->bytes;
}

static char *format_of(const struct nt_arrow_node *node)
{
    struct nt_buffer format = {0};
    nt_buffer_text(&format, nt_arrow_format(node));
    if (node->kind == NT_ARROW_FIXED_LIST)
        nt_buffer_format(&format, "%llu", (unsigned long long)node->list_size);
    for (uint32_t i = 0; i < node->child_count && node->kind == NT_ARROW_UNION; i++)
        nt_buffer_format(&format, i ? ",%u" : "%u", i);
    return take_text(&format);
}

static char *name_of(const struct nt_arrow_node *node)
{
    struct nt_buffer name = {0};
    nt_arrow_append_text(&name, node->name);
    return take_text(&name);
}

/* Appends the length and the bytes of a text, and deinits it. */
static void append_sized(struct nt_buffer *out, struct nt_buffer *text)
{
    int32_t count = (int32_t)text->length;
    nt_buffer_append(out, &count, sizeof(count));
    nt_buffer_append(out, nt_buffer_string(text), text->length);
    out->failed |= text->length > INT32_MAX;
    nt_buffer_deinit_part(text, out);
}

/* Format: the number of pairs, then length and bytes of each key and value, in native byte order. */
static bool set_metadata(const struct nt_arrow *arrow, uint32_t number, struct ArrowSchema *schema)
{
    struct nt_buffer out = {0};
    uint32_t count = nt_arrow_pair_count(arrow, number);
    nt_buffer_append(&out, &(int32_t){(int32_t)count}, sizeof(int32_t));
    for (uint32_t i = 0; i < count; i++) {
        struct nt_arrow_pair pair = nt_arrow_pair(arrow, number, i);
        append_sized(&out, &pair.key);
        append_sized(&out, &pair.value);
    }
    if (out.failed)
        nt_buffer_deinit(&out);
    schema->metadata = out.bytes;
    return out.bytes != NULL;
}

static bool export_schema_node(const struct nt_arrow *arrow, uint32_t number, struct ArrowSchema *schema)
{
    const struct nt_arrow_node *node = &arrow->nodes[number];
    *schema = (struct ArrowSchema){.release = release_schema};
    schema->format = format_of(node);
    schema->name = name_of(node);
    schema->flags = node->is_nullable ? ARROW_FLAG_NULLABLE : 0;
    schema->children = calloc((size_t)node->child_count + 1, sizeof(struct ArrowSchema *));
    if (!schema->format || !schema->name || !schema->children || !set_metadata(arrow, number, schema))
        return false;
    schema->n_children = node->child_count;
    for (uint32_t child = number + 1, i = 0; child < node->end; child = arrow->nodes[child].end, i++) {
        schema->children[i] = calloc(1, sizeof(struct ArrowSchema));
        if (!schema->children[i] || !export_schema_node(arrow, child, schema->children[i]))
            return false;
    }
    return true;
}

enum nt_status nt_arrow_export_schema(const struct nt_arrow *arrow, struct ArrowSchema *schema_ret,
                                      struct nt_error *error)
{
    if (export_schema_node(arrow, 0, schema_ret))
        return NT_OK;
    release_schema(schema_ret);
    return nt_fail_memory(error);
}

/* ---- Arrays ---- */

static void release_array(struct ArrowArray *array)
{
    for (int64_t i = 0; i < array->n_children; i++) {
        if (array->children[i] && array->children[i]->release)
            array->children[i]->release(array->children[i]);
        free(array->children[i]);
    }
    free(array->children);
    for (int64_t i = 0; i < array->n_buffers; i++)
        free((void *)array->buffers[i]);
    free(array->buffers);
    *array = (struct ArrowArray){0};
}

/* A batch on its way into arrays. */
struct export
{
    const struct nt_arrow *arrow;
    const struct nt_arrow_body *body;
    void **memory; /* [buffer]; NULL: none, or moved into an array */
    struct nt_error *error;
};

static enum nt_status export_array_node(struct export *export, uint32_t number, struct ArrowArray *array)
{
    const struct nt_arrow_node *node = &export->arrow->nodes[number];
    *array = (struct ArrowArray){.release = release_array};
    array->length = (int64_t) export->body->slots[number];
    array->null_count = (int64_t) export->body->null_counts[number];
    uint32_t buffers = number == 0 ? 1 : node->buffer_count; /* the table is a struct without nulls */
    array->buffers = calloc(buffers + 1, sizeof(void *));
    array->children = calloc(node->child_count + 1, sizeof(struct ArrowArray *));
    if (!array->buffers || !array->children)
        return nt_fail_memory(export->error);
    array->n_buffers = buffers;
    array->n_children = node->child_count;
    for (uint32_t i = 0; i < node->buffer_count; i++) {
        array->buffers[i] = export->memory[node->first_buffer + i];
        export->memory[node->first_buffer + i] = NULL;
    }
    enum nt_status status = NT_OK;
    for (uint32_t child = number + 1, i = 0; child < node->end && status == NT_OK;
         child = export->arrow->nodes[child].end, i++) {
        array->children[i] = calloc(1, sizeof(struct ArrowArray));
        status = array->children[i] ? export_array_node(export, child, array->children[i])
                                    : nt_fail_memory(export->error);
    }
    return status;
}

static enum nt_status export_body(const struct nt_arrow *arrow, struct nt_arrow_body *body,
                                  struct ArrowArray *array, struct nt_error *error)
{
    struct export export = {.arrow = arrow, .body = body, .error = error};
    export.memory = calloc((size_t)arrow->buffer_count + 1, sizeof(*export.memory));
    enum nt_status status =
        export.memory ? nt_arrow_decode_body(arrow, body, export.memory, error) : nt_fail_memory(error);
    if (status == NT_OK)
        status = export_array_node(&export, 0, array);
    for (uint32_t i = 0; export.memory && i < arrow->buffer_count; i++)
        free(export.memory[i]);
    free(export.memory);
    return status;
}

enum nt_status nt_arrow_export_batch(const struct nt_arrow *arrow, uint32_t batch,
                                     struct ArrowArray *array_ret, struct nt_error *error)
{
    struct nt_arrow_body *body;
    if (batch >= arrow->batch_count)
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "batch %u does not exist: there are %u batches",
                       batch, arrow->batch_count);
    enum nt_status status = nt_reader_after_fork(arrow->reader, error);
    if (status == NT_OK)
        status = nt_arrow_body_new(arrow, arrow->batches[batch].cluster, &body, error);
    if (status != NT_OK)
        return status;
    *array_ret = (struct ArrowArray){.release = release_array};
    status = export_body(arrow, body, array_ret, error);
    nt_arrow_body_free(body);
    if (status != NT_OK)
        release_array(array_ret);
    return status;
}

/* ---- C stream interface ---- */

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

/* Returns a released array at the end of the stream. */
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
