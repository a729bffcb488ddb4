/* SPDX-License-Identifier: MIT
 *
 * What a stream of the first dataset of a chain has.
 */
#ifndef NT_TESTS_CHAIN_STREAMS_H
#define NT_TESTS_CHAIN_STREAMS_H

#include <ntuple/dataset.h>
#include <ntuple/read.h>

#include <string.h>

#include "core/model/model.h"
#include "support.h"

/* A stream has these numbers of `bytes` bytes all together. */
static inline void assert_stream(struct nt_reader *reader, const struct nt_file *file, const char *path,
                                 enum nt_stream_kind kind, const void *expected, size_t bytes)
{
    struct nt_error error;
    struct nt_stream *stream;
    uint32_t field;
    uint8_t found[64];
    assert_ok(nt_dataset_find(file->datasets[0], path, &field, &error));
    assert_ok(nt_stream_open(reader, file->datasets[0], field, kind, &stream, &error));
    ck_assert_uint_eq(nt_stream_elements(stream) * nt_stream_dtype(stream)->bytes, bytes);
    ck_assert_uint_le(bytes, sizeof(found));
    assert_ok(nt_stream_read(stream, 0, found, bytes, &error));
    ck_assert_msg(memcmp(found, expected, bytes) == 0, "%s", path);
    nt_stream_close(stream);
}

/* For tests with a `reader` and a `file`. */
#define CHECK(path, kind, type, ...)                                                                         \
    assert_stream(reader, file, path, kind, (const type[]){__VA_ARGS__}, sizeof((const type[]){__VA_ARGS__}))

#endif
