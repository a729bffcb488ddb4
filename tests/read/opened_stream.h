/* SPDX-License-Identifier: MIT
 *
 * Helpers for tests of streams.
 */
#pragma once

#include "dataset_builder.h"
#include "support.h"

static inline struct nt_stream *open_stream(struct builder *builder, uint32_t field, enum nt_stream_kind kind)
{
    struct nt_error error;
    struct nt_stream *stream;
    assert_ok(nt_stream_open(builder->reader, builder->dataset, field, kind, &stream, &error));
    return stream;
}

/* A vector of integers: cluster 0 holds entries 2 and 3, cluster 1 entries 0 and 1. */
static inline struct builder *vector_out_of_order(uint64_t last_index)
{
    struct builder *builder = builder_new();
    struct vector vector = add_vector(builder, NT_ENCODING_SPLIT_INDEX64, NT_ENCODING_INT32);
    add_cluster(builder, 2, 2);
    add_elements(builder, 0, vector.index, (uint64_t[]){1, 3}, 2, 1);
    add_elements(builder, 0, vector.values, (uint64_t[]){30, 40, 41}, 3, 2);
    add_cluster(builder, 0, 2);
    add_elements(builder, 1, vector.index, (uint64_t[]){2, last_index}, 2, 1);
    add_elements(builder, 1, vector.values, (uint64_t[]){10, 11}, 2, 2);
    return builder;
}
