/* SPDX-License-Identifier: MIT
 *
 * For test_made_tables.py: writes the tables of nullable_dataset.c and typed_dataset.c as Arrow files into
 * the directory that is the argument.
 */
#include <stdio.h>
#include <stdlib.h>

#include "arrow_consumer.h"
#include "nullable_dataset.h"
#include "support.h"
#include "typed_dataset.h"

static const char *folder;

static void write_table(struct builder *builder, const char *name)
{
    char path[4096];
    struct nt_arrow *arrow = open_arrow(builder);
    size_t size = (size_t)nt_arrow_file_bytes(arrow);
    uint8_t *bytes = malloc(size);
    snprintf(path, sizeof(path), "%s/%s.arrow", folder, name);
    FILE *file = fopen(path, "wb");
    read_file(arrow, 0, size, bytes);
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
    free(bytes);
    nt_arrow_free(arrow);
    builder_free(builder);
}

TEST(the_tables_are_written)
{
    struct builder *builder = nullable_dataset();
    finish(builder, NULL);
    write_table(builder, "nulls");
    write_table(typed_dataset(), "types");
}

int main(int argc, char **argv)
{
    folder = argc == 2 ? argv[1] : ".";
    return nt_test_run("write_tables", 0, NULL);
}
