/* SPDX-License-Identifier: MIT
 *
 * A progress line on the terminal with bytes, rate and remaining time, drawn at most ten times a
 * second.
 */
#include "cli/cli.h"

#include <sys/ioctl.h>
#include <unistd.h>

enum {
    WIDEST_BAR = 40,
    USUAL_COLUMNS = 80,
    WIDEST_TEXT = 192,
    SIZE_TEXT = 24,
    TIME_TEXT = 32,
    LEFT_TEXT = 64
};

static double seconds_between(uint64_t from, uint64_t to)
{
    return (double)(int64_t)(to - from) / (double)NT_SECOND;
}

void nt_progress_start(struct nt_progress *progress, bool is_requested)
{
    *progress = (struct nt_progress){.is_requested = is_requested && isatty(STDERR_FILENO)};
    progress->began = progress->started = nt_nanoseconds();
}

void nt_progress_begin(struct nt_progress *progress, uint64_t total)
{
    progress->bytes = progress->guess = progress->texts = progress->texts_done = 0;
    progress->total = total;
    progress->is_text = false;
    progress->began = nt_nanoseconds();
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

/* "1:05:09", "4:07"; clamped to a large maximum. */
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

/* "4:07", "4:07 and 3 texts", or "3 texts" if only texts remain. */
static void format_left(double seconds, uint64_t texts, char text[LEFT_TEXT])
{
    char time[TIME_TEXT];
    format_seconds(seconds, time);
    const char *s = texts == 1 ? "" : "s";
    if (texts && seconds < 0.5)
        snprintf(text, LEFT_TEXT, "%" PRIu64 " text%s", texts, s);
    else if (texts)
        snprintf(text, LEFT_TEXT, "%s and %" PRIu64 " text%s", time, texts, s);
    else
        snprintf(text, LEFT_TEXT, "%s", time);
}

/* The text next to the bar. Returns the finished share of the work; 0: unknown. */
static double format_numbers(const struct nt_progress *progress, double seconds, char text[WIDEST_TEXT])
{
    char done[SIZE_TEXT], total[SIZE_TEXT], rate[SIZE_TEXT], left[LEFT_TEXT], percent[SIZE_TEXT] = "";
    double bytes = (double)progress->bytes;
    double expected = (double)progress->total + (double)progress->guess;
    double bytes_per_second = seconds > 0 ? bytes / seconds : 0;
    double bytes_left = expected > bytes ? expected - bytes : 0;
    /* The size of the current text is known if its rest can be guessed. */
    uint64_t known = progress->texts_done + (progress->guess > 0);
    uint64_t texts = progress->texts > known ? progress->texts - known : 0; /* of unknown size */
    format_size(bytes, done);
    format_size(expected, total);
    format_size(bytes_per_second, rate);
    if ((bytes_left <= 0 && !texts) || bytes_per_second <= 0) {
        snprintf(text, WIDEST_TEXT, "%s, %s/s", done, rate);
        return 0;
    }
    format_left(bytes_left / bytes_per_second, texts, left);
    if (!texts)
        snprintf(percent, SIZE_TEXT, "%3.0f %%, ", 100 * bytes / expected);
    snprintf(text, WIDEST_TEXT, "%s%s of %s%s, %s/s, %s left", percent, done, progress->guess ? "about " : "",
             total, rate, left);
    return texts ? 0 : bytes / expected;
}

/* One column less than the terminal: writing the last column may wrap the line. */
static int columns_of_terminal(void)
{
    struct winsize size;
    bool is_known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return (is_known ? size.ws_col : USUAL_COLUMNS) - 1;
}

static void draw(struct nt_progress *progress, uint64_t now)
{
    enum { BRACKETS = 3, NARROWEST_BAR = 8 };
    static const char full[WIDEST_BAR + 1] = "========================================";
    char numbers[WIDEST_TEXT];
    double share = format_numbers(progress, seconds_between(progress->began, now), numbers);
    int columns = columns_of_terminal(), width = columns - BRACKETS - (int)strlen(numbers);
    width = width < WIDEST_BAR ? width : WIDEST_BAR;
    if (share > 0 && width >= NARROWEST_BAR) {
        int filled = (int)(share * width);
        fprintf(stderr, "\r[%-*.*s] %s\033[K", width, filled, full, numbers);
    } else {
        fprintf(stderr, "\r%.*s\033[K", columns, numbers);
    }
    progress->is_drawn = true;
    progress->drawn = now;
}

void nt_progress_reach(struct nt_progress *progress, uint64_t bytes)
{
    progress->bytes = bytes;
    if (!progress->is_requested)
        return;
    uint64_t now = nt_nanoseconds();
    if (seconds_between(progress->started, now) < 1 || seconds_between(progress->drawn, now) < 0.1)
        return;
    if (progress->count) {
        progress->count(progress->work);
        progress->count = NULL;
        now = nt_nanoseconds();
    }
    draw(progress, now);
}

void nt_progress_advance(struct nt_progress *progress, uint64_t bytes, uint64_t guess)
{
    if (progress->is_text) {
        progress->total += bytes;
        progress->guess = guess;
    }
    nt_progress_reach(progress, progress->bytes + bytes);
}

size_t nt_progress_piece(struct nt_progress *progress)
{
    enum { FIRST = 64 * 1024 };
    const double soon = 0.05, late = 0.2;
    if (!progress->is_requested)
        return NT_PROGRESS_PIECE;
    uint64_t now = nt_nanoseconds();
    double seconds = seconds_between(progress->piece_start, now);
    if (!progress->piece)
        progress->piece = FIRST;
    else if (seconds < soon && progress->piece < NT_PROGRESS_PIECE)
        progress->piece *= 2;
    else if (seconds > late && progress->piece > FIRST)
        progress->piece /= 2;
    progress->piece_start = now;
    return progress->piece;
}

void nt_progress_end_file(struct nt_progress *progress)
{
    progress->texts_done += progress->is_text;
    progress->guess = 0;
}

void nt_progress_clear(struct nt_progress *progress)
{
    if (progress->is_drawn)
        fputs("\r\033[K", stderr);
    progress->is_drawn = false;
}
