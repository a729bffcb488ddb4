/* SPDX-License-Identifier: MIT
 *
 * Prints tables for people: columns that fit the terminal, with titles in bold. Only texts are cut.
 */
#include "cli/cli.h"

#include <sys/ioctl.h>
#include <unistd.h>

enum { GAP = 2, MIN_CAP = 4, MIN_TEXT = 14 };

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

static bool is_number(const struct nt_grid *grid, size_t column)
{
    return grid->is_right && grid->is_right[column];
}

static unsigned rank_of(const struct nt_grid *grid, size_t column)
{
    return grid->ranks ? grid->ranks[column] : 0;
}

static bool is_cut(const struct nt_grid *grid, const int *widths, size_t column, int cap)
{
    bool is_kept = grid->keeps_first && column == 0;
    return widths[column] > cap && !is_number(grid, column) && !rank_of(grid, column) && !is_kept;
}

/* Columns of width 0 are omitted. */
static unsigned total_width(const struct nt_grid *grid, const int *widths, int cap)
{
    unsigned total = 0;
    for (size_t c = 0; c < grid->columns; c++)
        if (widths[c])
            total += (unsigned)(is_cut(grid, widths, c, cap) ? cap : widths[c]) + (total ? GAP : 0);
    return total;
}

/* Returns the column to omit next: the last one of the highest rank. NT_NONE: none. */
static size_t find_dispensable(const struct nt_grid *grid, const int *widths)
{
    size_t found = NT_NONE;
    for (size_t c = 0; c < grid->columns; c++)
        if (widths[c] && rank_of(grid, c) && (found == NT_NONE || rank_of(grid, c) >= rank_of(grid, found)))
            found = c;
    return found;
}

/* Omits columns until texts need not be cut too much, then cuts the widest texts. */
static void fit(const struct nt_grid *grid, int *widths)
{
    size_t dispensable;
    int cap = MIN_CAP;
    while (grid->width && total_width(grid, widths, MIN_TEXT) > grid->width &&
           (dispensable = find_dispensable(grid, widths)) != NT_NONE)
        widths[dispensable] = 0;
    for (size_t c = 0; c < grid->columns; c++)
        cap = widths[c] > cap ? widths[c] : cap;
    while (grid->width && cap > MIN_CAP && total_width(grid, widths, cap) > grid->width)
        cap--;
    for (size_t c = 0; c < grid->columns; c++)
        widths[c] = is_cut(grid, widths, c, cap) ? cap : widths[c];
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
    int gap = 0; /* before the next column: its blanks are not printed at the end of a row */
    fputs(is_bold ? "\x1b[1m" : "", stdout);
    for (size_t c = 0; c < grid->columns; c++) {
        const char *cell = cell_of(grid, row, c);
        int left = widths[c] - width_of(cell);
        if (!widths[c])
            continue;
        printf("%*s", gap + (is_number(grid, c) && left > 0 ? left : 0), "");
        int printed = print_text(cell, widths[c]);
        gap = GAP + (is_number(grid, c) ? 0 : widths[c] - printed);
    }
    fputs(is_bold ? "\x1b[0m\n" : "\n", stdout);
}

bool nt_grid_fits(const struct nt_grid *grid)
{
    NT_AUTO_FREE int *widths = measure(grid);
    return widths && (!grid->width || total_width(grid, widths, INT32_MAX) <= grid->width);
}

void nt_grid_print(const struct nt_grid *grid)
{
    NT_AUTO_FREE int *widths = measure(grid);
    if (!widths)
        return;
    fit(grid, widths);
    for (size_t r = 0; r < grid->rows; r++)
        print_row(grid, widths, r);
}
