/* SPDX-License-Identifier: MIT
 *
 * Answers on their way to who asked, who may be slow to take them.
 */
#ifndef NT_FETCH_OUTPUT_H
#define NT_FETCH_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "io/fetch.h"

struct nt_output {
    int channel;
    uint32_t epoch;
    struct nt_output_packet *first, **end;
    size_t bytes; /* that wait */
};

void nt_output_init(struct nt_output *output, int channel, uint32_t epoch);
/* Whether so much waits that no more should be taken from servers. */
bool nt_output_is_full(const struct nt_output *output);
/* The epoch is filled in. What is longer than a message is cut into several of DATA. */
void nt_output_put(struct nt_output *output, struct nt_fetch_answer answer, const void *bytes, size_t count);
/* Send what the socket takes. */
void nt_output_flush(struct nt_output *output);

#endif
