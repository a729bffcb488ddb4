/* SPDX-License-Identifier: MIT
 *
 * How servers answer: how long the first bytes take, and how many come in a time. It tells what a request costs beside its
 * bytes, which is what ranges are joined by. All of it is under the lock of who asks; times are nanoseconds of one clock.
 */
#ifndef NT_IO_PACE_H
#define NT_IO_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Requests that are under way together; more of them wait for one another. */
enum { NT_PACE_AT_ONCE = 16 };

enum { NT_PACE_MOST_GAP = 1024 * 1024 };

struct nt_pace {
    uint64_t latency; /* until the first bytes come, where nothing queues; 0: not known */
    uint64_t rate;    /* bytes of a millisecond, by all requests together; 0: not known */
    unsigned underway;
    /* What has come since a moment from which on something was under way; at first only the first one was. */
    uint64_t since, bytes;
    bool is_first;
};

/* Of each server one; all zero at first. */
struct nt_paces {
    struct nt_server_pace *first;
    size_t count;
    struct nt_pace others; /* of servers that are too many, or without memory */
};

struct nt_pace *nt_paces_of(struct nt_paces *paces, const char *server);
void nt_paces_deinit(struct nt_paces *paces);
/* What is under way is nobody's. What was found about servers stays. */
void nt_paces_begin_anew(struct nt_paces *paces);

/* One of its requests, embedded in it. */
struct nt_pace_request {
    struct nt_pace *pace;
    uint64_t asked;
    bool is_alone; /* it did not queue */
};

void nt_pace_ask(struct nt_pace *pace, struct nt_pace_request *request, uint64_t now);
/* Its first bytes. */
void nt_pace_answer(struct nt_pace_request *request, uint64_t now);
/* With so many bytes. */
void nt_pace_end(struct nt_pace_request *request, uint64_t bytes, uint64_t now);

/* What comes in the time that one more request takes, where the others go on: the gap that is as well read as left out. */
uint64_t nt_pace_gap(const struct nt_pace *pace);

#endif
