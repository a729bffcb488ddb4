/* SPDX-License-Identifier: MIT
 *
 * The rows of ntuple inspect, and what each of them tells.
 */
#ifndef NT_CLI_INSPECT_ROWS_H
#define NT_CLI_INSPECT_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/model/model.h"
#include "tools/inspect.h"

/* A column, or all of them together. Texts are the arena's or the data set's. */
struct nt_inspect_row {
    uint64_t column, bits, elements, pages, stored_bytes, packed_bytes, decoded_bytes;
    double ratio, share;
    const char *field, *type, *encoding, *compression;
};

enum nt_inspect_kind {
    NT_INSPECT_TEXT,
    NT_INSPECT_NUMBER,
    NT_INSPECT_BYTES,
    NT_INSPECT_RATIO,
    NT_INSPECT_SHARE,
};

struct nt_inspect_property {
    const char *key, *title; /* in JSON and to sort by; in the table */
    enum nt_inspect_kind kind;
    size_t member; /* of a row */
    bool is_in_table, is_in_total;
};

enum { NT_INSPECT_PROPERTIES = 13 };
extern const struct nt_inspect_property nt_inspect_properties[NT_INSPECT_PROPERTIES];

/* The value of a property: of a number or bytes, of a ratio or share, of a text. */
uint64_t nt_inspect_number(const struct nt_inspect_row *row, const struct nt_inspect_property *property);
double nt_inspect_real(const struct nt_inspect_row *row, const struct nt_inspect_property *property);
const char *nt_inspect_text(const struct nt_inspect_row *row, const struct nt_inspect_property *property);

/* Shares are of `file_bytes`. False without memory. */
bool nt_inspect_row_fill(struct nt_arena *arena, uint64_t file_bytes, const struct nt_dataset *dataset,
                         const struct nt_inspected *inspected, struct nt_inspect_row *row);

/* Texts from A to Z, numbers from the largest; equal ones, and columns, in the order of the file. */
void nt_inspect_rows_sort(struct nt_inspect_row *rows, size_t count, const struct nt_inspect_property *by);

#endif
