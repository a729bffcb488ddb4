/* SPDX-License-Identifier: MIT
 *
 * In: bytes that are done and the clock. Out: one line on standard error, which replaces itself and is never
 * wider than the terminal.
 */
#include "cli/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDEST_BAR = 40, USUAL_COLUMNS = 80, WIDEST_TEXT = 128, SIZE_TEXT = 24, TIME_TEXT = 32 };

static double seconds_between(const struct timespec *from, const struct timespec *to)
{
    return (double)(to->tv_sec - from->tv_sec) + 1e-9 * (double)(to->tv_nsec - from->tv_nsec);
}

void nt_progress_start(struct nt_progress *progress, bool is_wanted)
{
    *progress = (struct nt_progress){.is_wanted = is_wanted && isatty(STDERR_FILENO)};
    clock_gettime(CLOCK_MONOTONIC, &progress->started);
    progress->began = progress->started;
}

void nt_progress_begin(struct nt_progress *progress, uint64_t total)
{
    progress->bytes = 0;
    progress->total = total;
    clock_gettime(CLOCK_MONOTONIC, &progress->began);
}

static void format_size(double bytes, char text[SIZE_TEXT])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    unsigned unit = 0;
    while (bytes >= 1000 && unit + 1 < sizeof(units) / sizeof(*units)) {
        bytes /= 1024;
        unit++;
    }
    snprintf(text, SIZE_TEXT, unit && bytes < 100 ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
}

/* "1:05:09", "4:07"; nobody waits for what takes longer than can be counted. */
static void format_seconds(double seconds, char text[TIME_TEXT])
{
    const double most = 1e9;
    uint64_t count = (uint64_t)(seconds < most ? seconds + 0.5 : most);
    if (count >= 3600)
        snprintf(text, TIME_TEXT, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, count / 3600, count / 60 % 60,
                 count % 60);
    else
        snprintf(text, TIME_TEXT, "%" PRIu64 ":%02" PRIu64, count / 60, count % 60);
}

/* What stands beside the bar. */
static void format_numbers(const struct nt_progress *progress, double seconds, char text[WIDEST_TEXT])
{
    char done[SIZE_TEXT], total[SIZE_TEXT], rate[SIZE_TEXT], left[TIME_TEXT];
    double bytes_per_second = seconds > 0 ? (double)progress->bytes / seconds : 0;
    format_size((double)progress->bytes, done);
    format_size((double)progress->total, total);
    format_size(bytes_per_second, rate);
    if (progress->total <= progress->bytes || bytes_per_second <= 0) {
        snprintf(text, WIDEST_TEXT, "%s, %s/s", done, rate);
        return;
    }
    format_seconds((double)(progress->total - progress->bytes) / bytes_per_second, left);
    snprintf(text, WIDEST_TEXT, "%3.0f %%, %s of %s, %s/s, %s left",
             100 * (double)progress->bytes / (double)progress->total, done, total, rate, left);
}

/* One column less than the terminal has: writing into the last one may move to the next line. */
static int columns_of_terminal(void)
{
    struct winsize size;
    bool is_known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return (is_known ? size.ws_col : USUAL_COLUMNS) - 1;
}

static void draw(struct nt_progress *progress, const struct timespec *now)
{
    enum { BRACKETS = 3, NARROWEST_BAR = 8 };
    static const char full[WIDEST_BAR + 1] = "========================================";
    char numbers[WIDEST_TEXT];
    format_numbers(progress, seconds_between(&progress->began, now), numbers);
    int columns = columns_of_terminal(), width = columns - BRACKETS - (int)strlen(numbers);
    width = width < WIDEST_BAR ? width : WIDEST_BAR;
    if (progress->total > progress->bytes && width >= NARROWEST_BAR) {
        int filled = (int)((double)progress->bytes / (double)progress->total * width);
        fprintf(stderr, "\r[%-*.*s] %s\033[K", width, filled, full, numbers);
    } else {
        fprintf(stderr, "\r%.*s\033[K", columns, numbers);
    }
    progress->is_drawn = true;
    progress->drawn = *now;
}

void nt_progress_reach(struct nt_progress *progress, uint64_t bytes)
{
    struct timespec now;
    progress->bytes = bytes;
    if (!progress->is_wanted)
        return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (seconds_between(&progress->started, &now) >= 1 && seconds_between(&progress->drawn, &now) >= 0.1)
        draw(progress, &now);
}

void nt_progress_clear(struct nt_progress *progress)
{
    if (progress->is_drawn)
        fputs("\r\033[K", stderr);
    progress->is_drawn = false;
}
