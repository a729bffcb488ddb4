/* SPDX-License-Identifier: MIT
 *
 * The Arrow C stream interface: batches in order, failures with their errno, an end.
 */
#include <errno.h>
#include <string.h>

#include "arrow_consumer.h"
#include "random_dataset.h"
#include "support.h"

static void count_release(void *context)
{
    ++*(unsigned *)context;
}

TEST(a_stream_gives_each_batch_and_then_none)
{
    struct nt_error error;
    struct ArrowSchema schema;
    struct ArrowArray array;
    struct ArrowArrayStream stream;
    unsigned released = 0;
    int64_t entries = 0;
    struct builder *builder = random_dataset(7200, 6);
    finish(builder, NULL);
    struct nt_arrow *arrow = open_arrow(builder);
    assert_ok(nt_arrow_export_stream(arrow, count_release, &released, &stream, &error));
    ck_assert_int_eq(stream.get_schema(&stream, &schema), 0);
    ck_assert_str_eq(schema.format, "+s");
    for (uint32_t batch = 0; batch < nt_arrow_batches(arrow); batch++) {
        ck_assert_int_eq(stream.get_next(&stream, &array), 0);
        ck_assert(array.release);
        ck_assert_int_eq(array.n_children, schema.n_children);
        entries += array.length;
        array.release(&array);
    }
    ck_assert_uint_eq((uint64_t)entries, nt_dataset_entries(builder->dataset));
    for (unsigned again = 0; again < 2; again++) {
        ck_assert_int_eq(stream.get_next(&stream, &array), 0);
        ck_assert(!array.release);
        ck_assert_ptr_null(stream.get_last_error(&stream));
    }
    ck_assert_uint_eq(released, 0);
    stream.release(&stream);
    ck_assert_uint_eq(released, 1);
    ck_assert(!stream.release);
    schema.release(&schema);
    nt_arrow_free(arrow);
    builder_free(builder);
}

/* A byte of the only page changes: its checksum shows that. */
TEST(a_batch_that_cannot_be_read_says_why)
{
    struct nt_error error;
    struct ArrowArray array;
    struct ArrowArrayStream stream;
    struct builder *builder = one_page(NT_CHECKSUM_XXH3_64, NT_COVERS_STORED, false);
    builder->bytes.bytes[first_page(builder)->offset] ^= 1;
    struct nt_arrow *arrow = open_arrow(builder);
    assert_ok(nt_arrow_export_stream(arrow, NULL, NULL, &stream, &error));
    ck_assert_int_eq(stream.get_next(&stream, &array), EIO);
    ck_assert_ptr_nonnull(strstr(stream.get_last_error(&stream), "page 0 of cluster 0: xxh3-64: expected"));
    stream.release(&stream);
    nt_arrow_free(arrow);
    builder_free(builder);
}
