/* SPDX-License-Identifier: MIT
 *
 * The same data in each generation of RNTuple, and by different writers, has the same values.
 */
#include "diffed.h"
#include "sample.h"

#include <ntuple/format.h>

static void open_sample(enum rntuple_generation generation, bool is_compressed, struct nt_buffer *bytes,
                        struct nt_file **file_ret)
{
    struct nt_error error;
    struct nt_source *source;
    sample_file(generation, is_compressed, NULL, bytes);
    assert_ok(nt_source_open_memory(bytes->bytes, bytes->length, "sample", &source, &error));
    assert_ok(nt_file_open_source(source, NULL, file_ret, &error));
}

TEST(generations_differ_in_nothing_but_the_layout, .end = RNTUPLE_GENERATIONS * RNTUPLE_GENERATIONS)
{
    struct nt_error error;
    struct nt_file *files[NT_DIFF_SIDES];
    struct nt_buffer bytes[NT_DIFF_SIDES] = {{0}};
    struct nt_reader *reader;
    struct builder builders[NT_DIFF_SIDES] = {{0}};
    struct reported reported;
    unsigned generations[] = {(unsigned)_i % RNTUPLE_GENERATIONS, (unsigned)_i / RNTUPLE_GENERATIONS};
    assert_ok(nt_reader_new(NULL, &reader, &error));
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        open_sample((enum rntuple_generation)generations[side], side, &bytes[side], &files[side]);
        builders[side].reader = reader;
        builders[side].dataset = nt_file_dataset(files[side], 0);
    }
    diff(&reported, &builders[0], &builders[1]);
    check_reported(&reported, "", "", "");
    ck_assert_int_eq(reported.summary.differences[NT_DIFF_LAYOUT] != 0,
                     _i != 0); /* the oldest generation never compresses it */
    forget(&reported);
    nt_reader_free(reader);
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        nt_file_close(files[side]);
        nt_buffer_deinit(&bytes[side]);
    }
}
