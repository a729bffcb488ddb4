/* SPDX-License-Identifier: MIT
 *
 * Messages between worker and supervisor, and the end of the other process.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuse/mount.h"
#include "support.h"

static int ends[2];
static struct nt_message message;

static void setup(void)
{
    signal(SIGPIPE, SIG_IGN);
    ck_assert(nt_channel_new(ends));
}

static void teardown(void)
{
    close(ends[0]);
    close(ends[1]);
}

static enum nt_message_kind receive(void)
{
    nt_channel_receive(ends[1], &message);
    return message.kind;
}

TEST(messages_arrive_one_by_one, .setup = setup, .teardown = teardown)
{
    ck_assert(nt_channel_send(ends[0], NT_MESSAGE_OPENED));
    ck_assert(nt_channel_send_line(ends[0], 6, "a line"));
    ck_assert(nt_channel_send_line(ends[0], 3, ""));
    ck_assert_int_eq(receive(), NT_MESSAGE_OPENED);
    ck_assert_str_eq(message.text, "");
    ck_assert_int_eq(receive(), NT_MESSAGE_LINE);
    ck_assert_int_eq(message.level, 6);
    ck_assert_str_eq(message.text, "a line");
    ck_assert_int_eq(receive(), NT_MESSAGE_LINE);
    ck_assert_str_eq(message.text, "");
}

TEST(a_text_that_is_too_long_is_cut_off, .setup = setup, .teardown = teardown)
{
    char *text = malloc(3 * NT_MESSAGE_BYTES);
    memset(text, 'x', 3 * NT_MESSAGE_BYTES - 1);
    text[3 * NT_MESSAGE_BYTES - 1] = '\0';
    ck_assert(nt_channel_send_line(ends[0], 3, text));
    ck_assert_int_eq(receive(), NT_MESSAGE_LINE);
    ck_assert_uint_eq(strlen(message.text), NT_MESSAGE_BYTES);
    free(text);
}

TEST(what_is_no_message_is_the_end, .setup = setup, .teardown = teardown)
{
    static const char *const packets[] = {"\x01", "\xff\x01 text", "\x00\x00"};
    for (size_t i = 0; i < sizeof(packets) / sizeof(*packets); i++) {
        ck_assert_int_gt(write(ends[0], packets[i], i == 0 ? 1 : 2), 0);
        ck_assert_int_eq(receive(), NT_MESSAGE_END);
        int received[NT_MESSAGE_DESCRIPTORS], count = 1;
        ck_assert_int_gt(write(ends[0], packets[i], i == 0 ? 1 : 2), 0);
        ck_assert_int_eq(nt_channel_receive_descriptors(ends[1], received, &count), NT_MESSAGE_END);
        ck_assert_int_eq(count, 0);
    }
}

/* The kernel adds the sender's credentials, before descriptors. */
TEST(ancillary_data_without_descriptors_is_ignored, .setup = setup, .teardown = teardown)
{
    int received[NT_MESSAGE_DESCRIPTORS], count = 1;
    ck_assert_int_eq(setsockopt(ends[1], SOL_SOCKET, SO_PASSCRED, &(int){1}, sizeof(int)), 0);
    ck_assert(nt_channel_send(ends[0], NT_MESSAGE_BUSY));
    ck_assert_int_eq(nt_channel_receive_descriptors(ends[1], received, &count), NT_MESSAGE_BUSY);
    ck_assert_int_eq(count, 0);
}

TEST(a_closed_peer_is_noticed, .setup = setup, .teardown = teardown)
{
    close(ends[0]);
    ck_assert_int_eq(receive(), NT_MESSAGE_END);
    ck_assert(!nt_channel_send(ends[1], NT_MESSAGE_READY));
    ends[0] = -1;
}

TEST(descriptors_are_the_same_files_in_the_same_order, .setup = setup, .teardown = teardown)
{
    int sent[2], received[NT_MESSAGE_DESCRIPTORS], count;
    char byte;
    ck_assert_int_eq(pipe(sent), 0);
    ck_assert(nt_channel_answer_mounted(ends[0], sent, 2));
    ck_assert_int_eq(nt_channel_receive_descriptors(ends[1], received, &count), NT_MESSAGE_MOUNTED);
    ck_assert_int_eq(count, 2);
    ck_assert_int_lt(received[0], received[1]);
    ck_assert_int_eq(write(received[1], "b", 1), 1);
    ck_assert_int_eq(read(sent[0], &byte, 1), 1);
    ck_assert_int_eq(fcntl(received[0], F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    ck_assert(nt_channel_send(ends[0], NT_MESSAGE_BUSY));
    ck_assert_int_eq(nt_channel_receive_descriptors(ends[1], received, &count), NT_MESSAGE_BUSY);
    ck_assert_int_eq(count, 0);
}

/* Each answer alone, followed by descriptors. */
TEST(the_helper_does_not_wait_for_a_client_that_does_not_read, .setup = setup, .teardown = teardown)
{
    enum { MANY = 100000 };
    int count = 0;
    while (count < MANY && nt_channel_answer(ends[0], NT_MESSAGE_NOTED))
        count++;
    ck_assert_int_lt(count, MANY);
    ck_assert(!nt_channel_answer_mounted(ends[0], ends, 2));
    for (int i = 0; i < count; i++)
        ck_assert_int_eq(receive(), NT_MESSAGE_NOTED);
    ck_assert(nt_channel_answer(ends[0], NT_MESSAGE_BUSY));
    ck_assert_int_eq(receive(), NT_MESSAGE_BUSY);
}
