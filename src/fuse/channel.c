/* SPDX-License-Identifier: MIT
 *
 * In: messages. Out: packets: a byte for the kind, one for the level of a line, and the text. What needs no
 * descriptors is read and written as a file is, so that a sandbox needs no calls for sockets.
 */
#include "fuse/channel.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HEADER_BYTES = 2 };

bool nt_channel_new(int ends_ret[2])
{
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends_ret) == 0;
}

static bool send_packet(int channel, enum nt_message_kind kind, int level, const char *text)
{
    unsigned char packet[HEADER_BYTES + NT_MESSAGE_BYTES];
    size_t length = strnlen(text, NT_MESSAGE_BYTES);
    packet[0] = (unsigned char)kind;
    packet[1] = (unsigned char)level;
    memcpy(packet + HEADER_BYTES, text, length);
    ssize_t written;
    do
        written = write(channel, packet, HEADER_BYTES + length);
    while (written < 0 && errno == EINTR);
    return written >= 0;
}

bool nt_channel_send(int channel, enum nt_message_kind kind)
{
    return send_packet(channel, kind, 0, "");
}

bool nt_channel_answer(int channel, enum nt_message_kind kind)
{
    const unsigned char packet[HEADER_BYTES] = {(unsigned char)kind, 0};
    return send(channel, packet, sizeof(packet), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

bool nt_channel_send_line(int channel, int level, const char *line)
{
    return send_packet(channel, NT_MESSAGE_LINE, level, line);
}

void nt_channel_receive(int channel, struct nt_message *message)
{
    unsigned char packet[HEADER_BYTES + NT_MESSAGE_BYTES];
    ssize_t count;
    do
        count = read(channel, packet, sizeof(packet));
    while (count < 0 && errno == EINTR);
    bool is_whole = count >= HEADER_BYTES && packet[0] < NT_MESSAGE_COUNT;
    size_t length = is_whole ? (size_t)count - HEADER_BYTES : 0;
    message->kind = is_whole ? (enum nt_message_kind)packet[0] : NT_MESSAGE_END;
    message->level = is_whole ? packet[1] : 0;
    memcpy(message->text, packet + HEADER_BYTES, length);
    message->text[length] = '\0';
}

/* ---- descriptors ---- */

union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(NT_MESSAGE_DESCRIPTORS * sizeof(int))];
};

bool nt_channel_answer_descriptors(int channel, enum nt_message_kind kind, const int *descriptors, int count)
{
    union control control = {0};
    unsigned char header[HEADER_BYTES] = {(unsigned char)kind, 0};
    size_t bytes = (size_t)count * sizeof(int);
    struct msghdr packet = {.msg_iov = &(struct iovec){header, sizeof(header)},
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            .msg_controllen = CMSG_SPACE(bytes)};
    control.header =
        (struct cmsghdr){.cmsg_len = CMSG_LEN(bytes), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.header), descriptors, bytes);
    return sendmsg(channel, &packet, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

enum nt_message_kind nt_channel_receive_descriptors(int channel, int *descriptors_ret, int *count_ret)
{
    union control control = {0};
    unsigned char header[HEADER_BYTES];
    struct msghdr packet = {.msg_iov = &(struct iovec){header, sizeof(header)},
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            .msg_controllen = sizeof(control)};
    ssize_t count;
    *count_ret = 0;
    do
        count = recvmsg(channel, &packet, MSG_CMSG_CLOEXEC);
    while (count < 0 && errno == EINTR);
    if (count < HEADER_BYTES || header[0] >= NT_MESSAGE_COUNT)
        return NT_MESSAGE_END;
    const struct cmsghdr *first = CMSG_FIRSTHDR(&packet);
    if (first && first->cmsg_level == SOL_SOCKET && first->cmsg_type == SCM_RIGHTS) {
        *count_ret = (int)((first->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(descriptors_ret, CMSG_DATA(first), (size_t)*count_ret * sizeof(int));
    }
    return (enum nt_message_kind)header[0];
}
