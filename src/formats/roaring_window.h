/* SPDX-License-Identifier: MIT
 *
 * Walking once over a source of any size with bounded memory: bytes are read ahead into one buffer.
 */
#ifndef NT_FORMAT_ROARING_WINDOW_H
#define NT_FORMAT_ROARING_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "core/io/source.h"

/* The most that one call of nt_roaring_window_bytes gives: more than the largest container, a run container
 * of 65,535 runs (2 + 4 * 65,535 bytes). */
enum { NT_ROARING_WINDOW_BYTES = 512 * 1024 };

struct nt_roaring_window {
    struct nt_source *source;
    uint64_t position; /* of the next byte that is given */
    size_t read_ahead; /* bytes that a read of the source asks for, where so many are left */
    uint8_t *buffer;
    uint64_t buffer_offset;
    size_t buffered;
};

/* A window at the start of a source, which stays the caller's. */
enum nt_status nt_roaring_window_init(struct nt_roaring_window *window, struct nt_source *source,
                                      size_t read_ahead, struct nt_error *error);
void nt_roaring_window_deinit(struct nt_roaring_window *window); /* accepts a zeroed window */

/* The next `count` bytes, valid until the next call, which starts behind them. NT_TRUNCATED where the source
 * has fewer, NT_LIMIT above NT_ROARING_WINDOW_BYTES. */
enum nt_status nt_roaring_window_bytes(struct nt_roaring_window *window, size_t count,
                                       const uint8_t **bytes_ret, struct nt_error *error);
/* Step over bytes without reading them. NT_TRUNCATED where the source has fewer. */
enum nt_status nt_roaring_window_skip(struct nt_roaring_window *window, uint64_t count,
                                      struct nt_error *error);

#endif
