/* SPDX-License-Identifier: MIT
 *
 * The table of nullable_dataset.c as an Arrow file, at the path that is the argument: for test_nulls.py.
 */
#include <stdio.h>
#include <stdlib.h>

#include "arrow_consumer.h"
#include "nullable_dataset.h"
#include "support.h"

static const char *path;

START_TEST(the_table_is_written)
{
    struct builder *builder = nullable_dataset();
    finish(builder, NULL);
    struct nt_arrow *arrow = open_arrow(builder);
    size_t size = (size_t)nt_arrow_file_bytes(arrow);
    uint8_t *bytes = malloc(size);
    FILE *file = fopen(path, "wb");
    read_file(arrow, 0, size, bytes);
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
    free(bytes);
    nt_arrow_free(arrow);
    builder_free(builder);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("view: a table of nulls");
    TCase *tcase = tcase_create("all");
    path = argc == 2 ? argv[1] : "/dev/null";
    tcase_add_test(tcase, the_table_is_written);
    suite_add_tcase(suite, tcase);
    return nt_test_main(suite);
}
