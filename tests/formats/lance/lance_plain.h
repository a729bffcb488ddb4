/* SPDX-License-Identifier: MIT
 *
 * A plain Lance file of 2.1, for tests that read or change it: two columns of 5 rows in two pages each,
 * the second within a struct.
 */
#pragma once

#include <string.h>

#include "lance_opened.h"

static struct nt_error error;
static struct lance_writer writer;
static struct lance_opened opened;

static void tear_down(void)
{
    lance_close(&opened);
    lance_deinit(&writer);
}

static enum nt_status read_again(void)
{
    lance_close(&opened);
    error = (struct nt_error){0};
    return lance_open_bytes(&opened, writer.out.bytes, writer.out.length, &error);
}

enum { ROWS = 5 };
static struct lance_range ranges[3];

static void put_pages(unsigned bits, uint64_t first_rows, const struct lance_range *buffers)
{
    struct nt_buffer encoding = lance_flat_layout(bits, first_rows);
    lance_column(&writer);
    lance_page(&writer, buffers, 2, first_rows, 0, LANCE_LAYOUT, &encoding);
    encoding = lance_flat_layout(bits, ROWS - first_rows);
    lance_page(&writer, buffers, 1, ROWS - first_rows, first_rows, LANCE_LAYOUT, &encoding);
}

static void put_plain(void)
{
    lance_begin(&writer, 2, 1, ROWS);
    ranges[0] = lance_buffer(&writer, "abcd", 4);
    ranges[1] = lance_buffer(&writer, "", 0);
    ranges[2] = lance_buffer(&writer, "0123456789", 10);
    lance_field(&writer, 7, -1, "x", "int64", false);
    lance_field(&writer, 3, -1, "s", "struct", true);
    lance_field(&writer, 4, 3, "y", "float", true);
    put_pages(64, 3, ranges);
    put_pages(32, 2, ranges + 1);
}
