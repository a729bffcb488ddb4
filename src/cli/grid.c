/* SPDX-License-Identifier: MIT
 *
 * Prints tables for people: columns that fit the terminal, with titles in bold.
 */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/base/text.h"

enum { GAP = 2, MIN_CAP = 4 };

unsigned nt_terminal_width(void)
{
    const char *text = getenv("COLUMNS");
    char *end;
    long columns = text ? strtol(text, &end, 10) : 0;
    struct winsize size;
    if (columns > 0 && columns < 10000 && *end == '\0')
        return (unsigned)columns;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool nt_terminal_has_colour(void)
{
    const char *refused = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(refused && *refused) && !(terminal && strcmp(terminal, "dumb") == 0);
}

static int width_of(const char *cell)
{
    return cell ? nt_text_width(nt_text_of(cell)) : 0;
}

static const char *cell_of(const struct nt_grid *grid, size_t row, size_t column)
{
    return grid->is_transposed ? grid->cells[column * grid->rows + row]
                               : grid->cells[row * grid->columns + column];
}

static int *measure(const struct nt_grid *grid)
{
    int *widths = calloc(grid->columns + 1, sizeof(*widths));
    for (size_t c = 0; widths && c < grid->columns; c++)
        for (size_t r = 0; r < grid->rows; r++)
            if (width_of(cell_of(grid, r, c)) > widths[c])
                widths[c] = width_of(cell_of(grid, r, c));
    return widths;
}

static unsigned total_width(const int *widths, size_t columns, int cap)
{
    unsigned total = 0;
    for (size_t c = 0; c < columns; c++)
        total += (unsigned)(widths[c] < cap ? widths[c] : cap) + (c ? GAP : 0);
    return total;
}

/* Cuts the widest columns as far as needed. */
static void fit(int *widths, size_t columns, unsigned width)
{
    int cap = MIN_CAP;
    for (size_t c = 0; c < columns; c++)
        cap = widths[c] > cap ? widths[c] : cap;
    while (width && cap > MIN_CAP && total_width(widths, columns, cap) > width)
        cap--;
    for (size_t c = 0; c < columns; c++)
        widths[c] = widths[c] < cap ? widths[c] : cap;
}

/* Returns the printed width: an ellipsis replaces what is too much. */
static int print_text(const char *cell, int width)
{
    bool is_cut = width_of(cell) > width;
    int printed = 0;
    for (const char *at = cell ? cell : ""; *at; at++) {
        bool is_start = ((unsigned char)*at & 0xC0) != 0x80;
        if (is_cut && is_start && printed == width - 1)
            break;
        printed += is_start;
        putchar(*at);
    }
    if (is_cut)
        fputs("…", stdout);
    return printed + is_cut;
}

static void print_row(const struct nt_grid *grid, const int *widths, size_t row)
{
    bool is_bold = grid->has_colour && row == 0;
    fputs(is_bold ? "\x1b[1m" : "", stdout);
    for (size_t c = 0; c < grid->columns; c++) {
        const char *cell = cell_of(grid, row, c);
        int left = widths[c] - width_of(cell);
        bool is_right = grid->is_right && grid->is_right[c], is_last = c + 1 == grid->columns;
        if (is_right && left > 0)
            printf("%*s", left, "");
        int printed = print_text(cell, widths[c]);
        if (!is_last)
            printf("%*s", (is_right ? 0 : widths[c] - printed) + GAP, "");
    }
    fputs(is_bold ? "\x1b[0m\n" : "\n", stdout);
}

bool nt_grid_fits(const struct nt_grid *grid)
{
    int *widths = measure(grid);
    bool fits = widths && (!grid->width || total_width(widths, grid->columns, INT32_MAX) <= grid->width);
    free(widths);
    return fits;
}

void nt_grid_print(const struct nt_grid *grid)
{
    int *widths = measure(grid);
    if (!widths)
        return;
    fit(widths, grid->columns, grid->width);
    for (size_t r = 0; r < grid->rows; r++)
        print_row(grid, widths, r);
    free(widths);
}
