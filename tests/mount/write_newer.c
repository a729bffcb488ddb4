/* SPDX-License-Identifier: MIT
 *
 * Writes RNTuples of version 1 with features of the newest specification, and with values that it reserves.
 * usage: write_newer DIRECTORY. Each has a dataset "T" of two entries. test_newer.py has the expected
 * results.
 */
#include <stdio.h>

#include "demand.h"
#include "rntuple_writer.h"
#include "save_bytes.h"

enum { REAL16 = 0x0B, REAL32 = 0x0C, INDEX32 = 0x0E }; /* column types of version 1 */
enum { COLLECTION = 1, RECORD = 2, UNKNOWN_ROLE = 9 };
enum { STRUCTURE_OF_ARRAYS = 8 };
enum { COLUMNS = 3 };

/* z: 1.5 and 2.5; the vector has the items 3 and 4, then none. */
static const struct rntuple_page reals = {.elements = 2,
                                          .packed = "\0\0\xc0\x3f\0\0\x20\x40",
                                          .packed_bytes = 8},
                                 ends = {.elements = 2, .packed = "\2\0\0\0\2\0\0\0", .packed_bytes = 8},
                                 items = {
                                     .elements = 2, .packed = "\0\0\x40\x40\0\0\x80\x40", .packed_bytes = 8};
static const struct rntuple_range usual_ranges[COLUMNS] = {{.pages = &reals, .page_count = 1},
                                                           {.pages = &ends, .page_count = 1},
                                                           {.pages = &items, .page_count = 1}};
static const struct rntuple_cluster usual_cluster = {
    .entries = 2, .ranges = usual_ranges, .range_count = COLUMNS};

/* z, and a vector of records of one member. */
static const struct rntuple_field usual_fields[] = {
    {.name = "z", .type = "float", .parent = RNTUPLE_TOP},
    {.name = "v", .type = "std::vector<R>", .parent = RNTUPLE_TOP, .role = COLLECTION},
    {.name = "_0", .type = "R", .parent = 1, .role = RECORD},
    {.name = "x", .type = "float", .parent = 2},
};
static const struct rntuple_column usual_columns[COLUMNS] = {{.type = REAL32, .bits = 32, .field = 0},
                                                             {.type = INDEX32, .bits = 32, .field = 1},
                                                             {.type = REAL32, .bits = 32, .field = 3}};
static const struct rntuple_description usual = {.name = "T",
                                                 .description = "",
                                                 .writer = "a test",
                                                 .fields = usual_fields,
                                                 .field_count = 4,
                                                 .columns = usual_columns,
                                                 .column_count = COLUMNS,
                                                 .clusters = &usual_cluster,
                                                 .cluster_count = 1};

static void save(const char *directory, const char *name, const struct rntuple_description *description)
{
    struct nt_buffer bytes = {0};
    char path[4096];
    rntuple_write(RNTUPLE_V1_1, description, &bytes);
    snprintf(path, sizeof(path), "%s/%s.root", directory, name);
    save_bytes(&bytes, path);
    nt_buffer_deinit(&bytes);
}

static void save_with_fields(const char *directory, const char *name, const struct rntuple_field *fields)
{
    struct rntuple_description description = usual;
    description.fields = fields;
    save(directory, name, &description);
}

static void field_version(const char *directory)
{
    struct rntuple_field fields[] = {usual_fields[0], usual_fields[1], usual_fields[2], usual_fields[3]};
    fields[3].field_version = 7;
    save_with_fields(directory, "field_version", fields);
}

/* One more member. */
static void role(const char *directory)
{
    const struct rntuple_field fields[] = {usual_fields[0],
                                           usual_fields[1],
                                           usual_fields[2],
                                           usual_fields[3],
                                           {.name = "y", .type = "Y", .parent = 2, .role = UNKNOWN_ROLE}};
    struct rntuple_description description = usual;
    description.fields = fields;
    description.field_count = 5;
    save(directory, "role", &description);
}

static void structure_of_arrays(const char *directory)
{
    struct rntuple_field fields[] = {usual_fields[0], usual_fields[1], usual_fields[2], usual_fields[3]};
    fields[1].flags = STRUCTURE_OF_ARRAYS;
    save_with_fields(directory, "structure_of_arrays", fields);
}

static void attribute_set(const char *directory, const char *name, uint16_t major, uint16_t minor)
{
    struct rntuple_description description = usual;
    description.attribute_set = "notes";
    description.attribute_major = major;
    description.attribute_minor = minor;
    save(directory, name, &description);
}

/* The first value of z is a part of an object. */
static void part_of_object(const char *directory)
{
    const struct rntuple_page pages[] = {
        {.elements = 1, .packed = "\0\0\xc0\x3f", .packed_bytes = 4, .place = RNTUPLE_MULTI},
        {.elements = 1, .packed = "\0\0\x20\x40", .packed_bytes = 4}};
    const struct rntuple_range ranges[COLUMNS] = {
        {.pages = pages, .page_count = 2}, usual_ranges[1], usual_ranges[2]};
    const struct rntuple_cluster cluster = {.entries = 2, .ranges = ranges, .range_count = COLUMNS};
    struct rntuple_description description = usual;
    description.clusters = &cluster;
    save(directory, "part_of_object", &description);
}

static void flag_in_footer(enum rntuple_envelope kind, struct nt_buffer *bytes)
{
    if (kind == RNTUPLE_FOOTER)
        bytes->bytes[8] |= 1;
}

/* The second cluster, [5, 6] and [], stores the items with another encoding. */
static void nested_deferred(const char *directory)
{
    const struct rntuple_page halves = {.elements = 2, .packed = "\x00\x45\x00\x46", .packed_bytes = 4};
    const struct rntuple_column columns[] = {usual_columns[0],
                                             usual_columns[1],
                                             usual_columns[2],
                                             {.type = REAL16,
                                              .bits = 16,
                                              .field = 3,
                                              .representation = 1,
                                              .first_element = -2,
                                              .has_first_element = true}};
    const struct rntuple_range ranges[] = {{.pages = &reals, .page_count = 1, .first_element = 2},
                                           {.pages = &ends, .page_count = 1, .first_element = 2},
                                           {.first_element = UINT64_C(1) << 63, .is_suppressed = true},
                                           {.pages = &halves, .page_count = 1, .first_element = 2}};
    const struct rntuple_cluster clusters[] = {
        usual_cluster, {.first_entry = 2, .entries = 2, .ranges = ranges, .range_count = COLUMNS + 1}};
    struct rntuple_description description = usual;
    description.columns = columns;
    description.column_count = COLUMNS + 1;
    description.extension_columns = 1;
    description.clusters = clusters;
    description.cluster_count = 2;
    description.spoil = flag_in_footer;
    save(directory, "nested_deferred", &description);
}

int main(int count, char **arguments)
{
    demand(count == 2);
    const char *directory = arguments[1];
    field_version(directory);
    role(directory);
    structure_of_arrays(directory);
    attribute_set(directory, "attributes_2.0", 2, 0);
    attribute_set(directory, "attributes_1.5", 1, 5);
    part_of_object(directory);
    nested_deferred(directory);
}
