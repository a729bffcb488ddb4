/* SPDX-License-Identifier: MIT
 *
 * Chains of small RNTuple files: saves the files, and checks streams of the first dataset.
 */
#pragma once

#include <ntuple/dataset.h>
#include <ntuple/read.h>

#include <string.h>

#include "core/base/memory.h"
#include "core/model/model.h"
#include "rntuple_writer.h"
#include "support.h"
#include "temporary.h"

/* Returns the path. */
static inline const char *save(const struct rntuple_description *description, const char *name)
{
    struct nt_buffer bytes = {0};
    rntuple_write(RNTUPLE_RC2_LATE, description, &bytes);
    const char *path = temporary_file(name, bytes.bytes, bytes.length);
    nt_buffer_deinit(&bytes);
    return path;
}

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
