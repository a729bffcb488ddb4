/* SPDX-License-Identifier: MIT
 *
 * A window on a stream: the elements around the place that was asked for last. It is small at first, so that
 * one row costs little, and grows as it is moved forward, so that many rows cost few reads.
 */
#ifndef NT_VIEW_WINDOW_H
#define NT_VIEW_WINDOW_H

#include <ntuple/read.h>

#include "core/model/model.h"

struct nt_window {
    struct nt_stream *stream;
    uint32_t element_bytes;
    uint64_t first, count; /* elements that are there */
    uint64_t wanted;       /* how many to read next time */
    size_t capacity;       /* bytes */
    size_t most_bytes;     /* that are read ahead of what was asked for */
    uint8_t *bytes;
};

enum nt_status nt_window_open(struct nt_window *window, struct nt_reader *reader, struct nt_dataset *dataset,
                              uint32_t field, enum nt_stream_kind kind, struct nt_error *error);
void nt_window_close(struct nt_window *window); /* also of a zeroed one */

/* Memory that it takes; 0: it is closed. */
size_t nt_window_memory(const struct nt_window *window);

/* Elements [first, first + count), valid until the next call. NT_CORRUPT past the stream's end; NT_LIMIT for
 * more than 1 GiB. */
enum nt_status nt_window_get(struct nt_window *window, uint64_t first, uint64_t count,
                             const uint8_t **bytes_ret, struct nt_error *error);

/* Element `at` of a window of u64, or u32 for tags. */
enum nt_status nt_window_get_u64(struct nt_window *window, uint64_t at, uint64_t *value_ret,
                                 struct nt_error *error);
enum nt_status nt_window_get_u32(struct nt_window *window, uint64_t at, uint32_t *value_ret,
                                 struct nt_error *error);

#endif
