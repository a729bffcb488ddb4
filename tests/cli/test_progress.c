/* SPDX-License-Identifier: MIT
 *
 * The progress line, on a pseudo-terminal.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/base/thread.h"
#include "cli/cli.h"

#include "support.h"

static int terminal, saved;

static void set_up(void)
{
    const struct winsize size = {.ws_row = 24, .ws_col = 80};
    terminal = posix_openpt(O_RDWR | O_NOCTTY);
    ck_assert(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    int standard_error = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    ck_assert(standard_error >= 0 && ioctl(terminal, TIOCSWINSZ, &size) == 0);
    saved = dup(STDERR_FILENO);
    ck_assert(dup2(standard_error, STDERR_FILENO) >= 0 && fcntl(terminal, F_SETFL, O_NONBLOCK) == 0);
    close(standard_error);
}

static void tear_down(void)
{
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(terminal);
}

/* A root directory made for a build may have no devpts. */
static bool has_terminals(void)
{
    int opened = posix_openpt(O_RDWR | O_NOCTTY);
    if (opened >= 0)
        close(opened);
    return opened >= 0;
}

/* The output since the last call. */
static const char *drawn(void)
{
    static char text[1024];
    ssize_t count = read(terminal, text, sizeof(text) - 1);
    text[count > 0 ? count : 0] = '\0';
    return text;
}

/* A command that has run for so many seconds. */
static struct nt_progress at_work(bool is_requested, uint64_t total, unsigned seconds)
{
    struct nt_progress progress;
    nt_progress_start(&progress, is_requested);
    nt_progress_begin(&progress, total);
    progress.started -= seconds * NT_SECOND;
    progress.began -= seconds * NT_SECOND;
    return progress;
}

TEST(a_known_size_gets_a_bar_and_the_time_that_is_left, .setup = set_up, .teardown = tear_down,
     .is_skipped = !has_terminals())
{
    struct nt_progress progress = at_work(true, 400 << 20, 100);
    nt_progress_reach(&progress, 100 << 20);
    const char *line = drawn();
    const char *const parts[] = {
        "\r[", "==", " 25 %, ", "100 MiB of 400 MiB, ", "1.0 MiB/s, ", "5:00 left\033[K"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        ck_assert_msg(strstr(line, parts[i]), "%s is not in %s", parts[i], line);
    size_t width = strcspn(line + 2, "]");
    ck_assert_uint_eq(strspn(line + 2, "="), width / 4);
}

TEST(an_unknown_size_gets_bytes_and_rate_only, .setup = set_up, .teardown = tear_down,
     .is_skipped = !has_terminals())
{
    struct nt_progress progress = at_work(true, 0, 2);
    nt_progress_reach(&progress, 3000 << 10);
    ck_assert_str_eq(drawn(), "\r2.9 MiB, 1.5 MiB/s\033[K");
}

TEST(texts_count_in_addition_to_known_bytes, .setup = set_up, .teardown = tear_down,
     .is_skipped = !has_terminals())
{
    struct nt_progress progress = at_work(true, 300 << 20, 100);
    progress.texts = 3;
    nt_progress_advance(&progress, 100 << 20, 0);
    ck_assert_str_eq(drawn(), "\r100 MiB of 300 MiB, 1.0 MiB/s, 3:20 and 3 texts left\033[K");
    nt_progress_end_file(&progress);
    progress.is_text = true;
    for (int i = 0; i < 2; i++) {
        nt_progress_advance(&progress, 100 << 20, 0);
        nt_progress_end_file(&progress);
    }
    progress.drawn -= 1 * NT_SECOND;
    nt_progress_reach(&progress, progress.bytes);
    ck_assert_str_eq(drawn(), "\r300 MiB of 500 MiB, 3.0 MiB/s, 1:07 and 1 text left\033[K");
}

TEST(the_rest_of_a_text_is_guessed, .setup = set_up, .teardown = tear_down, .is_skipped = !has_terminals())
{
    struct nt_progress progress = at_work(true, 0, 100);
    progress.is_text = true;
    nt_progress_advance(&progress, 100 << 20, 300 << 20);
    ck_assert_ptr_nonnull(strstr(drawn(), " 25 %, 100 MiB of about 400 MiB, 1.0 MiB/s, 5:00 left\033[K"));
    nt_progress_end_file(&progress);
    progress.drawn -= 1 * NT_SECOND;
    nt_progress_reach(&progress, progress.bytes);
    ck_assert_str_eq(drawn(), "\r100 MiB, 1.0 MiB/s\033[K");
}

static unsigned counts;

static void count(void *work)
{
    struct nt_progress *progress = work;
    progress->total += 400 << 20;
    counts++;
}

TEST(how_much_there_is_is_counted_once_and_for_a_line_that_is_drawn, .setup = set_up, .teardown = tear_down,
     .is_skipped = !has_terminals())
{
    const struct {
        bool is_requested;
        time_t seconds;
    } without[] = {{true, 0}, {false, 100}};
    struct nt_progress progress;
    counts = 0;
    for (size_t i = 0; i < sizeof(without) / sizeof(*without); i++) {
        progress = at_work(without[i].is_requested, 0, without[i].seconds);
        progress.count = count;
        progress.work = &progress;
        nt_progress_reach(&progress, 100 << 20);
        ck_assert_uint_eq(counts, 0);
    }
    progress = at_work(true, 0, 100);
    progress.count = count;
    progress.work = &progress;
    nt_progress_reach(&progress, 100 << 20);
    ck_assert_ptr_nonnull(strstr(drawn(), " 25 %, 100 MiB of 400 MiB, 1.0 MiB/s, 5:00 left\033[K"));
    progress.drawn -= 1 * NT_SECOND;
    nt_progress_reach(&progress, 200 << 20);
    ck_assert_uint_eq(counts, 1);
}

TEST(the_first_second_shows_nothing, .setup = set_up, .teardown = tear_down, .is_skipped = !has_terminals())
{
    struct nt_progress progress = at_work(true, 100, 0);
    nt_progress_reach(&progress, 50);
    nt_progress_clear(&progress);
    ck_assert_str_eq(drawn(), "");
}

TEST(it_is_not_drawn_again_at_once, .setup = set_up, .teardown = tear_down, .is_skipped = !has_terminals())
{
    struct nt_progress progress = at_work(true, 100, 2);
    nt_progress_reach(&progress, 50);
    ck_assert_str_ne(drawn(), "");
    progress.drawn += 1000 * NT_SECOND; /* however slow the test is */
    nt_progress_reach(&progress, 51);
    ck_assert_str_eq(drawn(), "");
}

/* The duration of each piece, as with a server. */
static size_t piece_after(struct nt_progress *progress, uint64_t milliseconds)
{
    progress->piece_start -= milliseconds * NT_MILLISECOND;
    return nt_progress_piece(progress);
}

TEST(pieces_are_large_where_they_come_soon_and_small_where_they_come_late, .setup = set_up,
     .teardown = tear_down, .is_skipped = !has_terminals())
{
    struct nt_progress progress = at_work(true, 0, 0);
    const size_t first = nt_progress_piece(&progress);
    ck_assert_uint_lt(first, 1 << 20);
    progress.piece_start += 1000 * NT_SECOND; /* however slow the test is */
    for (size_t piece = first; piece < NT_PROGRESS_PIECE; progress.piece_start += 1000 * NT_SECOND) {
        piece *= 2;
        ck_assert_uint_eq(nt_progress_piece(&progress), piece);
    }
    ck_assert_uint_eq(nt_progress_piece(&progress), NT_PROGRESS_PIECE);
    ck_assert_uint_eq(piece_after(&progress, 100),
                      NT_PROGRESS_PIECE); /* ten updates per second are the maximum */
    for (size_t piece = NT_PROGRESS_PIECE / 2; piece >= first; piece /= 2)
        ck_assert_uint_eq(piece_after(&progress, 4000), piece);
    ck_assert_uint_eq(piece_after(&progress, 4000), first);
}

TEST(pieces_are_large_where_nothing_is_shown, .setup = set_up, .teardown = tear_down,
     .is_skipped = !has_terminals())
{
    struct nt_progress progress = at_work(false, 0, 0);
    for (int i = 0; i < 3; i++)
        ck_assert_uint_eq(piece_after(&progress, 4000), NT_PROGRESS_PIECE);
}

TEST(clearing_erases_the_line_once, .setup = set_up, .teardown = tear_down, .is_skipped = !has_terminals())
{
    struct nt_progress progress = at_work(true, 100, 2);
    nt_progress_reach(&progress, 50);
    drawn();
    nt_progress_clear(&progress);
    nt_progress_clear(&progress);
    ck_assert_str_eq(drawn(), "\r\033[K");
}

TEST(a_narrow_terminal_is_not_left, .setup = set_up, .teardown = tear_down, .is_skipped = !has_terminals())
{
    for (unsigned short columns = 1; columns <= 100; columns++) {
        const struct winsize size = {.ws_row = 24, .ws_col = columns};
        ck_assert_int_eq(ioctl(terminal, TIOCSWINSZ, &size), 0);
        struct nt_progress progress = at_work(true, UINT64_MAX, 1000);
        nt_progress_reach(&progress, UINT64_C(1) << 60);
        const char *line = drawn();
        ck_assert_uint_lt(strlen(line) - strlen("\r\033[K"), columns);
    }
}

TEST(nothing_is_drawn_where_it_is_not_requested, .setup = set_up, .teardown = tear_down,
     .is_skipped = !has_terminals())
{
    struct nt_progress progress = at_work(false, 100, 2);
    nt_progress_reach(&progress, 50);
    nt_progress_clear(&progress);
    ck_assert_str_eq(drawn(), "");
}

TEST(nothing_is_drawn_without_a_terminal, .setup = set_up, .teardown = tear_down,
     .is_skipped = !has_terminals())
{
    int ends[2], standard_error = dup(STDERR_FILENO);
    ck_assert(pipe(ends) == 0 && dup2(ends[1], STDERR_FILENO) >= 0);
    struct nt_progress progress = at_work(true, 100, 2);
    ck_assert(dup2(standard_error, STDERR_FILENO) >= 0);
    nt_progress_reach(&progress, 50);
    ck_assert_str_eq(drawn(), "");
    close(ends[0]);
    close(ends[1]);
    close(standard_error);
}
