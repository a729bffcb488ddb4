/* SPDX-License-Identifier: MIT
 *
 * Interrupted requests get an answer. A socket stands for the device, and its other end for the kernel.
 */
#include "fuse/operations.h"

#include <errno.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "support.h"

static struct nt_interrupts interrupts;
static int ends[2];

static void begin(int64_t patience)
{
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    ck_assert_int_eq(nt_interrupts_init(&interrupts, ends[0], patience), 0);
}

static void end(void)
{
    nt_interrupts_deinit(&interrupts);
    close(ends[0]);
    close(ends[1]);
}

static struct fuse_out_header received(void)
{
    struct fuse_out_header header = {.len = 0};
    struct pollfd event = {.fd = ends[1], .events = POLLIN};
    ck_assert_int_eq(poll(&event, 1, 10000), 1);
    ck_assert_int_eq(read(ends[1], &header, sizeof(header)), sizeof(header));
    ck_assert_uint_eq(header.len, sizeof(header));
    return header;
}

TEST(each_request_is_answered_once_in_their_order)
{
    begin(1000000);
    for (uint64_t request = 2; request < 2 * NT_MAX_INTERRUPTS; request += 2)
        nt_interrupts_note(&interrupts, request);
    for (uint64_t request = 2; request < 2 * NT_MAX_INTERRUPTS; request += 2) {
        const struct fuse_out_header header = received();
        ck_assert_uint_eq(header.unique, request);
        ck_assert_int_eq(header.error, -EINTR);
    }
    ck_assert_int_eq(poll(&(struct pollfd){.fd = ends[1], .events = POLLIN}, 1, 5), 0);
    end();
}

TEST(answers_come_when_patience_is_over)
{
    struct timespec before, after;
    begin(50000000);
    clock_gettime(CLOCK_MONOTONIC, &before);
    nt_interrupts_note(&interrupts, 7);
    ck_assert_uint_eq(received().unique, 7);
    clock_gettime(CLOCK_MONOTONIC, &after);
    ck_assert_int_ge((after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec, 50000000);
    end();
}

TEST(more_than_there_is_room_for_are_left_to_wait)
{
    begin(INT64_C(3600) * 1000000000);
    for (uint64_t request = 0; request < NT_MAX_INTERRUPTS + 10; request++)
        nt_interrupts_note(&interrupts, request);
    ck_assert_uint_eq(interrupts.count, NT_MAX_INTERRUPTS);
    end(); /* at once, and without a reply */
}
