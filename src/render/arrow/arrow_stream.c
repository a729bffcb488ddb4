/* SPDX-License-Identifier: MIT
 *
 * The logical streams that an Arrow table is made of, each opened when its first byte is wanted.
 */
#include <stdatomic.h>

#include "read/stream.h"
#include "render/arrow/arrow_internal.h"

enum nt_status nt_arrow_find_stream(const struct nt_arrow *arrow, uint32_t number,
                                    struct nt_stream **stream_ret, struct nt_error *error)
{
    struct nt_arrow_stream *lazy = &arrow->streams[number];
    struct nt_stream *stream = atomic_load_explicit(&lazy->opened, memory_order_acquire), *other = NULL;
    if (!stream) {
        enum nt_status status =
            nt_stream_open(arrow->reader, arrow->dataset, lazy->field, lazy->kind, &stream, error);
        if (status != NT_OK)
            return status;
        if (!atomic_compare_exchange_strong(&lazy->opened, &other, stream)) {
            nt_stream_close(stream); /* another thread came first */
            stream = other;
        }
    }
    *stream_ret = stream;
    return NT_OK;
}

enum nt_status nt_arrow_read_stream(const struct nt_arrow *arrow, uint32_t number, uint64_t offset,
                                    void *output, size_t bytes, struct nt_error *error)
{
    struct nt_stream *stream;
    enum nt_status status = nt_arrow_find_stream(arrow, number, &stream, error);
    return status == NT_OK ? nt_stream_read(stream, offset, output, bytes, error) : status;
}

enum nt_status nt_arrow_equal_elements(const struct nt_arrow *arrow, uint32_t number, uint64_t element,
                                       uint64_t *count_ret, struct nt_error *error)
{
    struct nt_stream *stream;
    enum nt_status status = nt_arrow_find_stream(arrow, number, &stream, error);
    if (status == NT_OK)
        *count_ret = nt_stream_equal_elements(stream, element);
    return status;
}
