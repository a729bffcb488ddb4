/* SPDX-License-Identifier: MIT
 *
 * A text in memory, and one that moves to an unnamed file: the same bytes at any offset, and nothing left
 * in the directory.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "support.h"
#include "vfs/vfs.h"

enum { LENGTH = 100000, PIECE = 777 };

static char directory[] = "/tmp/ntuple-spool-XXXXXX";
static char text[LENGTH];
static struct nt_error error;

static void setup(void)
{
    ck_assert_ptr_nonnull(mkdtemp(directory));
    for (unsigned i = 0; i < LENGTH; i++)
        text[i] = (char)('a' + i * 7 % 26 + i / 1000 % 3);
}

static void teardown(void)
{
    ck_assert_int_eq(rmdir(directory), 0); /* which is empty */
    strcpy(directory + strlen(directory) - 6, "XXXXXX");
}

static void fill(struct nt_spool *spool, uint64_t memory_bytes)
{
    for (size_t at = 0; at < LENGTH; at += PIECE) {
        size_t count = LENGTH - at < PIECE ? LENGTH - at : PIECE;
        assert_ok(nt_spool_append(spool, text + at, count, memory_bytes, directory, &error));
    }
    ck_assert_uint_eq(spool->bytes, LENGTH);
}

static const struct {
    uint64_t memory_bytes;
    bool is_file;
} bounds[] = {{LENGTH, false}, {LENGTH - 1, true}, {PIECE, true}, {PIECE - 1, true}, {0, true}};

TEST(a_text_is_the_same_on_either_side_of_the_bound, .setup = setup, .teardown = teardown,
     .end = sizeof(bounds) / sizeof(bounds[0]))
{
    struct nt_spool spool = NT_SPOOL_EMPTY;
    char back[3 * PIECE];
    fill(&spool, bounds[_i].memory_bytes);
    ck_assert_int_eq(spool.descriptor >= 0, bounds[_i].is_file);
    for (size_t at = 0; at < LENGTH; at += 501) {
        size_t count = LENGTH - at < sizeof(back) ? LENGTH - at : sizeof(back);
        assert_ok(nt_spool_read(&spool, at, back, count, &error));
        ck_assert_int_eq(memcmp(back, text + at, count), 0);
    }
    nt_spool_deinit(&spool);
    ck_assert_int_lt(spool.descriptor, 0);
}

TEST(a_text_of_nothing_can_be_read, .setup = setup, .teardown = teardown)
{
    struct nt_spool spool = NT_SPOOL_EMPTY;
    char byte = 'x';
    assert_ok(nt_spool_read(&spool, 0, &byte, 0, &error));
    ck_assert_int_eq(byte, 'x');
    nt_spool_deinit(&spool);
}

TEST(a_directory_that_cannot_be_written_is_named, .setup = setup, .teardown = teardown)
{
    struct nt_spool spool = NT_SPOOL_EMPTY;
    assert_status(NT_IO, nt_spool_append(&spool, text, 10, 5, "/nonexistent/for texts", &error));
    ck_assert_ptr_nonnull(strstr(error.message, "/nonexistent/for texts"));
    nt_spool_deinit(&spool);
}

TEST(a_disk_that_is_full_fails_the_text, .setup = setup, .teardown = teardown)
{
    struct nt_spool spool = NT_SPOOL_EMPTY;
    assert_ok(nt_spool_append(&spool, text, 10, 5, directory, &error));
    close(spool.descriptor);
    spool.descriptor = open("/dev/full", O_RDWR);
    ck_assert_int_ge(spool.descriptor, 0);
    assert_status(NT_IO, nt_spool_append(&spool, text, 10, 5, directory, &error));
    ck_assert_ptr_nonnull(strstr(error.message, directory));
    nt_spool_deinit(&spool);
}
