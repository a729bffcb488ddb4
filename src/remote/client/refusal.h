/* SPDX-License-Identifier: MIT
 *
 * The last failure to reach a server, which stands for a moment: each who asks would take its time to find that out. Times are those of nt_milliseconds.
 */
#ifndef NT_IO_REFUSAL_H
#define NT_IO_REFUSAL_H

#include <stdint.h>

#include "core/base/error.h"

enum { NT_REFUSAL_MILLISECONDS = 1000 };

/* Zeroed: there was none. */
struct nt_refusal {
    struct nt_error *failure; /* for all until: */
    uint64_t until;
};

/* In place of one before. Of one that is its caller's own (nt_is_passing_failure), and without memory, who asks next finds out itself. */
void nt_refusal_note(struct nt_refusal *refusal, const struct nt_error *failure, uint64_t now);
/* The failure that stands (`error` may be NULL), else NT_OK. */
enum nt_status nt_refusal_check(const struct nt_refusal *refusal, uint64_t now, struct nt_error *error);
void nt_refusal_deinit(struct nt_refusal *refusal);

#endif
