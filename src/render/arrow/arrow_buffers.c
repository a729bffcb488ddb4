/* SPDX-License-Identifier: MIT
 *
 * Which buffers the arrays of each kind have, in the order of Arrow's columnar format ("Buffer Listing for Each Layout"):
 * nodes come in, the buffers of all of them, one behind the other, go out.
 */
#include <stdlib.h>

#include "render/arrow/arrow_internal.h"

static const enum nt_arrow_buffer_kind buffers_of[NT_ARROW_KIND_COUNT][3] = {
    [NT_ARROW_PRIMITIVE] = {NT_ARROW_VALIDITY, NT_ARROW_DATA},
    [NT_ARROW_EMPTY] = {NT_ARROW_VALIDITY, NT_ARROW_DATA},
    [NT_ARROW_BOOL] = {NT_ARROW_VALIDITY, NT_ARROW_DATA},
    [NT_ARROW_BYTES] = {NT_ARROW_VALIDITY, NT_ARROW_OFFSETS, NT_ARROW_DATA},
    [NT_ARROW_LIST] = {NT_ARROW_VALIDITY, NT_ARROW_OFFSETS},
    [NT_ARROW_MAP] = {NT_ARROW_VALIDITY, NT_ARROW_OFFSETS},
    [NT_ARROW_STRUCT] = {NT_ARROW_VALIDITY},
    [NT_ARROW_FIXED_LIST] = {NT_ARROW_VALIDITY},
    [NT_ARROW_UNION] = {NT_ARROW_TYPES, NT_ARROW_UNION_OFFSETS},
};
static const uint32_t buffer_counts[NT_ARROW_KIND_COUNT] = {
    [NT_ARROW_NULL] = 0,       [NT_ARROW_PRIMITIVE] = 2, [NT_ARROW_BOOL] = 2, [NT_ARROW_EMPTY] = 2,
    [NT_ARROW_BYTES] = 3,      [NT_ARROW_LIST] = 2,      [NT_ARROW_MAP] = 2,  [NT_ARROW_STRUCT] = 1,
    [NT_ARROW_FIXED_LIST] = 1, [NT_ARROW_UNION] = 2,
};

/* The table itself is no array of the file: its buffers are left away. */
enum nt_status nt_arrow_number_buffers(struct nt_arrow *arrow, struct nt_error *error)
{
    uint32_t count = 0;
    for (uint32_t i = 1; i < arrow->node_count; i++)
        count += buffer_counts[arrow->nodes[i].kind];
    arrow->buffers = calloc(count ? count : 1, sizeof(*arrow->buffers));
    if (!arrow->buffers)
        return nt_fail_memory(error);
    for (uint32_t i = 1; i < arrow->node_count; i++) {
        struct nt_arrow_node *node = &arrow->nodes[i];
        node->first_buffer = arrow->buffer_count;
        node->buffer_count = buffer_counts[node->kind];
        for (uint32_t b = 0; b < node->buffer_count; b++)
            arrow->buffers[arrow->buffer_count++] = (struct nt_arrow_buffer){i, buffers_of[node->kind][b]};
    }
    return NT_OK;
}
