/* SPDX-License-Identifier: MIT
 *
 * The memory of clusters that a file only claims to have.
 */
#include <sys/resource.h>

#include "core/base/sanitizer.h"
#include "dataset_builder.h"
#include "support.h"
#include "core/codec/codec.h"
#include "read/read.h"

enum { CLAIMED = 60 * 1000 * 1000 };

/* Two groups of one cluster each, of an integer. The page list of the second cannot be read; a footer
 * claims the maximum number of clusters for it. */
static struct builder *one_bad_group(void)
{
    struct builder *builder = builder_new();
    uint32_t field = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    uint32_t column = add_column(builder, field, NT_ENCODING_INT32, 0);
    for (uint64_t i = 0; i < 2; i++) {
        add_elements(builder, add_cluster(builder, i, 1), column, (uint64_t[]){7 + i}, 1, 1);
        end_group(builder);
    }
    builder->bad_group[1] = true;
    builder->hide_clusters = true;
    finish(builder, NULL);
    builder->dataset->groups.records[1].clusters = CLAIMED;
    builder->dataset->cluster_count = 1 + CLAIMED;
    return builder;
}

/* A sanitizer has memory of its own, which the limit would include. */
static void limit_memory(void)
{
    const struct rlimit memory = {UINT64_C(512) << 20, UINT64_C(512) << 20};
    if (!NT_IS_SANITIZED)
        setrlimit(RLIMIT_DATA, &memory);
}

TEST(clusters_that_are_only_claimed_take_no_memory)
{
    struct nt_error error;
    struct nt_stream *stream;
    int32_t value;
    struct builder *builder = one_bad_group();
    limit_memory();
    assert_ok(nt_stream_open(builder->reader, builder->dataset, 0, NT_STREAM_DATA, &stream, &error));
    assert_ok(nt_stream_read(stream, 0, &value, sizeof(value), &error));
    ck_assert_int_eq(value, 7);
    assert_status(NT_CORRUPT, nt_stream_read(stream, sizeof(value), &value, sizeof(value), &error));
    nt_stream_close(stream);
    builder_free(builder);
}
