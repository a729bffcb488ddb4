/* SPDX-License-Identifier: MIT
 *
 * In: what the columns of a data set sum up to. Out: rows of a table of them, sorted as is wanted. One table tells
 * what there is of a column: its headings, the keys in JSON and the keys to sort by.
 */
#include "cli/inspect_rows.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "core/model/path.h"

#define MEMBER(name) offsetof(struct nt_inspect_row, name)

const struct nt_inspect_property nt_inspect_properties[NT_INSPECT_PROPERTIES] = {
    {.key = "column",
     .title = "COLUMN",
     .kind = NT_INSPECT_NUMBER,
     .member = MEMBER(column),
     .is_in_table = true},
    {.key = "field",
     .title = "FIELD",
     .kind = NT_INSPECT_TEXT,
     .member = MEMBER(field),
     .is_in_table = true,
     .is_in_total = true},
    {.key = "type", .title = "TYPE", .kind = NT_INSPECT_TEXT, .member = MEMBER(type), .is_in_table = true},
    {.key = "encoding",
     .title = "ENCODING",
     .kind = NT_INSPECT_TEXT,
     .member = MEMBER(encoding),
     .is_in_table = true},
    {.key = "bits", .title = "BITS", .kind = NT_INSPECT_NUMBER, .member = MEMBER(bits), .is_in_table = true},
    {.key = "elements",
     .title = "ELEMENTS",
     .kind = NT_INSPECT_NUMBER,
     .member = MEMBER(elements),
     .is_in_table = true,
     .is_in_total = true},
    {.key = "pages",
     .title = "PAGES",
     .kind = NT_INSPECT_NUMBER,
     .member = MEMBER(pages),
     .is_in_table = true,
     .is_in_total = true},
    {.key = "stored_bytes",
     .title = "STORED",
     .kind = NT_INSPECT_BYTES,
     .member = MEMBER(stored_bytes),
     .is_in_table = true,
     .is_in_total = true},
    {.key = "packed_bytes",
     .title = "PACKED",
     .kind = NT_INSPECT_BYTES,
     .member = MEMBER(packed_bytes),
     .is_in_table = true,
     .is_in_total = true},
    {.key = "decoded_bytes",
     .title = "DECODED",
     .kind = NT_INSPECT_BYTES,
     .member = MEMBER(decoded_bytes),
     .is_in_total = true},
    {.key = "ratio",
     .title = "RATIO",
     .kind = NT_INSPECT_RATIO,
     .member = MEMBER(ratio),
     .is_in_table = true,
     .is_in_total = true},
    {.key = "share",
     .title = "SHARE",
     .kind = NT_INSPECT_SHARE,
     .member = MEMBER(share),
     .is_in_table = true,
     .is_in_total = true},
    {.key = "compression",
     .title = "COMPRESSION",
     .kind = NT_INSPECT_TEXT,
     .member = MEMBER(compression),
     .is_in_table = true,
     .is_in_total = true},
};

uint64_t nt_inspect_number(const struct nt_inspect_row *row, const struct nt_inspect_property *property)
{
    return *(const uint64_t *)((const char *)row + property->member);
}

double nt_inspect_real(const struct nt_inspect_row *row, const struct nt_inspect_property *property)
{
    return *(const double *)((const char *)row + property->member);
}

const char *nt_inspect_text(const struct nt_inspect_row *row, const struct nt_inspect_property *property)
{
    return *(const char *const *)((const char *)row + property->member);
}

static const char *names_of_algorithms(struct nt_arena *arena, unsigned algorithms)
{
    struct nt_buffer names = {0};
    nt_append_algorithms(&names, algorithms);
    return nt_buffer_settle(&names, arena);
}

static const char *path_of(struct nt_arena *arena, const struct nt_dataset *dataset, uint32_t field)
{
    struct nt_buffer path = {0};
    nt_append_field_path(&path, dataset, field, '/');
    return nt_buffer_settle(&path, arena);
}

static double quotient(uint64_t a, uint64_t b)
{
    return b ? (double)a / (double)b : 0;
}

bool nt_inspect_row_fill(struct nt_arena *arena, uint64_t file_bytes, const struct nt_dataset *dataset,
                         const struct nt_inspected *inspected, struct nt_inspect_row *row)
{
    const struct nt_column_sums *sums = &inspected->sums;
    *row = (struct nt_inspect_row){
        .elements = sums->elements,
        .pages = sums->pages,
        .stored_bytes = sums->stored_bytes,
        .packed_bytes = sums->packed_bytes,
        .decoded_bytes = sums->decoded_bytes,
        .ratio = quotient(sums->packed_bytes, sums->stored_bytes),
        .share = quotient(sums->stored_bytes, file_bytes),
        .field = "total",
        .type = "",
        .encoding = "",
        .compression = names_of_algorithms(arena, inspected->algorithms),
    };
    if (inspected->column != NT_NONE) {
        const struct nt_column *column = &dataset->columns[inspected->column];
        const struct nt_decoder *decoder = nt_decoders_get(&dataset->decoders, column->decoder);
        row->column = column->id;
        row->bits = decoder->bits;
        row->field = path_of(arena, dataset, column->field);
        row->type = column->type_name;
        row->encoding = nt_encoding_steps(decoder->encoding);
    }
    return row->field && row->compression;
}

static int compare_rows(const void *left, const void *right, void *context)
{
    const struct nt_inspect_row *a = left, *b = right;
    const struct nt_inspect_property *by = context;
    int order = 0;
    if (by->kind == NT_INSPECT_TEXT)
        order = strcmp(nt_inspect_text(a, by), nt_inspect_text(b, by));
    else if (by->kind == NT_INSPECT_RATIO || by->kind == NT_INSPECT_SHARE)
        order = (nt_inspect_real(a, by) < nt_inspect_real(b, by)) -
                (nt_inspect_real(a, by) > nt_inspect_real(b, by));
    else if (by->member != offsetof(struct nt_inspect_row, column))
        order = (nt_inspect_number(a, by) < nt_inspect_number(b, by)) -
                (nt_inspect_number(a, by) > nt_inspect_number(b, by));
    return order ? order : (a->column > b->column) - (a->column < b->column);
}

void nt_inspect_rows_sort(struct nt_inspect_row *rows, size_t count, const struct nt_inspect_property *by)
{
    qsort_r(rows, count, sizeof(*rows), compare_rows, (void *)by);
}
