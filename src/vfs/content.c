/* SPDX-License-Identifier: MIT
 *
 * Comes in: an offset and a length. Goes out: the bytes of a header, of the body behind it, or of both.
 */
#include "vfs/content.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/overflow.h"

struct sized {
    struct nt_content content;
    uint8_t *header;
    size_t header_bytes;
    struct nt_content_body body;
};

static enum nt_status read_sized(struct nt_content *content, uint64_t offset, void *buffer, size_t bytes,
                                 size_t *bytes_ret, struct nt_error *error)
{
    const struct sized *sized = (const struct sized *)content;
    size_t from_header = 0;
    if (offset < sized->header_bytes) {
        from_header = sized->header_bytes - (size_t)offset;
        if (from_header > bytes)
            from_header = bytes;
        memcpy(buffer, sized->header + offset, from_header);
    }
    *bytes_ret = bytes;
    if (from_header == bytes)
        return NT_OK;
    return sized->body.read(sized->body.body, offset + from_header - sized->header_bytes,
                            (uint8_t *)buffer + from_header, bytes - from_header, error);
}

static bool pin_sized(const struct nt_content *content, uint64_t offset, size_t bytes, struct nt_pins *pins)
{
    const struct sized *sized = (const struct sized *)content;
    size_t from_header = 0;
    if (!sized->body.pin)
        return false;
    if (offset < sized->header_bytes) {
        from_header = sized->header_bytes - (size_t)offset;
        pins->items[pins->count++] = (struct nt_pin){.bytes = sized->header + offset, .count = from_header};
    }
    return bytes > from_header &&
           sized->body.pin(sized->body.body, offset + from_header - sized->header_bytes, bytes - from_header,
                           pins);
}

static void close_sized(struct nt_content *content)
{
    struct sized *sized = (struct sized *)content;
    sized->body.close(sized->body.body);
    free(sized->header);
    free(sized);
}

static const struct nt_content_ops sized_ops = {.read = read_sized, .close = close_sized, .pin = pin_sized};

enum nt_status nt_content_new(void *header, size_t header_bytes, const struct nt_content_body *body,
                              struct nt_content **content_ret, struct nt_error *error)
{
    uint64_t size;
    struct sized *sized = calloc(1, sizeof(*sized));
    if (!sized || !nt_add(body->size, header_bytes, &size)) {
        free(sized);
        free(header);
        body->close(body->body);
        return nt_fail_memory(error);
    }
    *sized = (struct sized){{&sized_ops, size, false}, header, header_bytes, *body};
    *content_ret = &sized->content;
    return NT_OK;
}
