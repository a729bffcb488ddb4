/* SPDX-License-Identifier: MIT
 *
 * Answers on their way to who asked, who may be slow to take them.
 */
#ifndef NT_FETCH_OUTPUT_H
#define NT_FETCH_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "remote/fetch.h"

struct nt_output {
    int channel;
    uint64_t epoch;
    const struct nt_fetch_totals *totals;
    struct nt_output_packet *first, **end;
    size_t bytes; /* that wait */
};

/* Epoch and totals go with each answer. */
void nt_output_init(struct nt_output *output, int channel, uint64_t epoch,
                    const struct nt_fetch_totals *totals);
/* Whether so much waits that no more should be taken from servers. */
bool nt_output_is_full(const struct nt_output *output);
/* What is longer than a message is cut into several of DATA. */
void nt_output_put(struct nt_output *output, struct nt_fetch_answer answer, const void *bytes, size_t count);
/* The ends of answers. */
void nt_output_done(struct nt_output *output, uint32_t file, uint64_t id);
void nt_output_fail(struct nt_output *output, uint32_t file, uint64_t id, enum nt_fetch_failure failure,
                    const char *message);
/* Send what the socket takes. */
void nt_output_flush(struct nt_output *output);

#endif
