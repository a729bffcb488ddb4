/* SPDX-License-Identifier: MIT
 *
 * The sample, by the writer of the format matrix.
 */
#include "sample.h"

#include "matrix_file.h"

static void fill_cluster(struct matrix_file *file, uint32_t cluster, uint64_t shift)
{
    matrix_cluster(file, 3 * shift, 3);
    MATRIX_PAGE(file, cluster, 0, 0x3f800000 + shift, 0x40000000);
    MATRIX_PAGE(file, cluster, 0, 0x41200000);
    MATRIX_PAGE(file, cluster, 1, 2, 2, 5);
    MATRIX_PAGE(file, cluster, 2, 0x3f000000, 0x3f000001, 0x3f000002, 0x3f000003, 0x3f000004 + shift);
    MATRIX_PAGE(file, cluster, 3, 0, 4, 6);
    MATRIX_PAGE(file, cluster, 4, 'n', 'o', 'n', 'e', 'o', 'f');
    file->ranges[cluster][2].first_element = 5 * shift;
    file->ranges[cluster][4].first_element = 6 * shift;
}

static void describe(enum rntuple_generation generation, struct matrix_file *file)
{
    matrix_init(file, generation);
    file->style.checksum = generation == RNTUPLE_PREDRAFT ? RNTUPLE_NO_CHECKSUM : RNTUPLE_CHECKSUM_OF_STORED;
    uint32_t real = matrix_field(file, RNTUPLE_TOP, 0, "float");
    uint32_t vector = matrix_field(file, RNTUPLE_TOP, 1, "std::vector<float>");
    uint32_t item = matrix_field(file, vector, 0, "float");
    uint32_t string = matrix_field(file, RNTUPLE_TOP, 0, "std::string");
    matrix_column(file, real, "Real32");
    matrix_column(file, vector, generation == RNTUPLE_PREDRAFT ? "Index32" : "SplitIndex64");
    matrix_column(file, item, generation == RNTUPLE_PREDRAFT ? "Real32" : "SplitReal32");
    matrix_column(file, string, "Index32");
    matrix_column(file, string, generation == RNTUPLE_PREDRAFT ? "Byte" : "Char");
    fill_cluster(file, 0, 0);
    fill_cluster(file, 1, 1);
}

/* The description never changes, although fuzzers write it thousands of times a second. */
void sample_file(enum rntuple_generation generation, bool is_compressed,
                 void (*spoil)(enum rntuple_envelope kind, struct nt_buffer *bytes), struct nt_buffer *out)
{
    static struct matrix_file files[RNTUPLE_GENERATIONS];
    struct matrix_file *file = &files[generation];
    if (!file->description.field_count)
        describe(generation, file);
    file->description.is_compressed = is_compressed;
    file->description.spoil = spoil;
    rntuple_write(generation, &file->description, out);
}
