/* SPDX-License-Identifier: MIT
 *
 * In: answers. Out: packets on a socket that is never waited for: what it does not take now is kept in order.
 */
#include "remote/helper/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

struct nt_output_packet {
    struct nt_output_packet *next;
    size_t bytes;
    char content[];
};

enum { FULL_BYTES = 4 << 20 };

void nt_output_init(struct nt_output *output, int channel, uint64_t epoch,
                    const struct nt_fetch_totals *totals)
{
    *output = (struct nt_output){.channel = channel, .epoch = epoch, .totals = totals};
    output->end = &output->first;
}

bool nt_output_is_full(const struct nt_output *output)
{
    return output->bytes >= FULL_BYTES;
}

/* Who cannot be told anything any more is gone. */
static bool send_now(int channel, struct iovec *parts, size_t count)
{
    const struct msghdr message = {.msg_iov = parts, .msg_iovlen = count};
    ssize_t sent;
    do
        sent = sendmsg(channel, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    if (sent < 0 && errno != EAGAIN && errno != ENOBUFS)
        _exit(0);
    return sent >= 0;
}

static void keep(struct nt_output *output, const struct nt_fetch_answer *answer, const void *bytes,
                 size_t count)
{
    struct nt_output_packet *packet = malloc(sizeof(*packet) + sizeof(*answer) + count);
    if (!packet)
        _exit(1); /* another process follows, and who asked is told */
    packet->next = NULL;
    packet->bytes = sizeof(*answer) + count;
    memcpy(packet->content, answer, sizeof(*answer));
    if (count)
        memcpy(packet->content + sizeof(*answer), bytes, count);
    *output->end = packet;
    output->end = &packet->next;
    output->bytes += packet->bytes;
}

static void put(struct nt_output *output, struct nt_fetch_answer *answer, const void *bytes, size_t count)
{
    struct iovec parts[] = {{answer, sizeof(*answer)}, {(void *)bytes, count}};
    if (output->first || !send_now(output->channel, parts, count ? 2 : 1))
        keep(output, answer, bytes, count);
}

void nt_output_put(struct nt_output *output, struct nt_fetch_answer answer, const void *bytes, size_t count)
{
    const char *rest = bytes;
    answer.epoch = output->epoch;
    answer.totals = *output->totals;
    for (; count > NT_FETCH_DATA_BYTES; count -= NT_FETCH_DATA_BYTES) {
        put(output, &answer, rest, NT_FETCH_DATA_BYTES);
        rest += NT_FETCH_DATA_BYTES;
        answer.offset += NT_FETCH_DATA_BYTES;
    }
    put(output, &answer, rest, count);
}

void nt_output_done(struct nt_output *output, uint32_t file, uint64_t id)
{
    nt_output_put(output, (struct nt_fetch_answer){.kind = NT_FETCH_DONE, .file = file, .id = id}, NULL, 0);
}

void nt_output_fail(struct nt_output *output, uint32_t file, uint64_t id, enum nt_fetch_failure failure,
                    const char *message)
{
    nt_output_put(
        output, (struct nt_fetch_answer){.kind = NT_FETCH_FAILED, .file = file, .id = id, .failure = failure},
        message, strlen(message));
}

void nt_output_flush(struct nt_output *output)
{
    struct nt_output_packet *packet;
    while ((packet = output->first)) {
        if (!send_now(output->channel, &(struct iovec){packet->content, packet->bytes}, 1))
            return;
        output->first = packet->next;
        if (!output->first)
            output->end = &output->first;
        output->bytes -= packet->bytes;
        free(packet);
    }
}
