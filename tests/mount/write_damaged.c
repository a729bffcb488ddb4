/* SPDX-License-Identifier: MIT
 *
 * Writes RNTuples with valid checksums and contradictory content. usage: write_damaged DIRECTORY. Each has a
 * dataset "Events" of three entries. test_failures.py has the expected results.
 */
#include <stdio.h>

#include "demand.h"
#include "rntuple_writer.h"
#include "save_bytes.h"

enum { INDEX64 = 0x0F, SWITCH = 0x10, INT32 = 0x07 }; /* column types of version 1 */
enum { PLAIN = 0, COLLECTION = 1, VARIANT = 3 };
enum { ENTRIES = 3, ITEMS = 4 };

#define LITTLE64(value) (uint8_t)(value), 0, 0, 0, 0, 0, 0, 0
#define LITTLE32(value) (uint8_t)(value), 0, 0, 0

static const uint8_t numbers[] = {LITTLE32(7), LITTLE32(8), LITTLE32(9), LITTLE32(10)};

/* The damage of a file, all in the first column's only page. */
static const struct damaged {
    const char *name, *type;
    uint16_t role, column, bits;
    uint8_t first[36];
    uint32_t first_bytes;
} files[] = {
    {"decreasing",
     "std::vector<std::int32_t>",
     COLLECTION,
     INDEX64,
     64,
     {LITTLE64(2), LITTLE64(1), LITTLE64(4)},
     24},
    {"beyond",
     "std::vector<std::int32_t>",
     COLLECTION,
     INDEX64,
     64,
     {LITTLE64(2), LITTLE64(3), LITTLE64(200)},
     24},
    {"tag",
     "std::variant<std::int32_t>",
     VARIANT,
     SWITCH,
     96,
     {LITTLE64(0), LITTLE32(1), LITTLE64(0), LITTLE32(2), LITTLE64(1), LITTLE32(1)},
     36},
    {"index",
     "std::variant<std::int32_t>",
     VARIANT,
     SWITCH,
     96,
     {LITTLE64(0), LITTLE32(1), LITTLE64(77), LITTLE32(1), LITTLE64(1), LITTLE32(1)},
     36},
    {"several",
     "std::optional<std::int32_t>",
     COLLECTION,
     INDEX64,
     64,
     {LITTLE64(1), LITTLE64(3), LITTLE64(4)},
     24},
};

static void write_file(const char *directory, const struct damaged *damaged)
{
    const struct rntuple_field fields[] = {
        {.name = "bad", .type = damaged->type, .parent = RNTUPLE_TOP, .role = damaged->role},
        {.name = "_0", .type = "std::int32_t", .parent = 0},
        {.name = "good", .type = "std::int32_t", .parent = RNTUPLE_TOP},
    };
    const struct rntuple_column columns[] = {
        {.type = damaged->column, .bits = damaged->bits, .field = 0},
        {.type = INT32, .bits = 32, .field = 1},
        {.type = INT32, .bits = 32, .field = 2},
    };
    const struct rntuple_page pages[] = {
        {.elements = ENTRIES,
         .packed = damaged->first,
         .packed_bytes = damaged->first_bytes,
         .checksum = RNTUPLE_CHECKSUM_OF_STORED},
        {.elements = ITEMS,
         .packed = numbers,
         .packed_bytes = 4 * ITEMS,
         .checksum = RNTUPLE_CHECKSUM_OF_STORED},
        {.elements = ENTRIES,
         .packed = numbers,
         .packed_bytes = 4 * ENTRIES,
         .checksum = RNTUPLE_CHECKSUM_OF_STORED},
    };
    const struct rntuple_range ranges[] = {
        {&pages[0], 1, 0, false}, {&pages[1], 1, 0, false}, {&pages[2], 1, 0, false}};
    const struct rntuple_cluster cluster = {.entries = ENTRIES, .ranges = ranges, .range_count = 3};
    const struct rntuple_description description = {.name = "Events",
                                                    .description = "",
                                                    .writer = "a test",
                                                    .fields = fields,
                                                    .field_count = 3,
                                                    .columns = columns,
                                                    .column_count = 3,
                                                    .clusters = &cluster,
                                                    .cluster_count = 1};
    struct nt_buffer bytes = {0};
    char path[4096];
    rntuple_write(RNTUPLE_V1, &description, &bytes);
    snprintf(path, sizeof(path), "%s/%s.root", directory, damaged->name);
    save_bytes(&bytes, path);
    nt_buffer_deinit(&bytes);
}

int main(int count, char **arguments)
{
    demand(count == 2);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        write_file(arguments[1], &files[i]);
}
