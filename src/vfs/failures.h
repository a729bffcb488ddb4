/* SPDX-License-Identifier: MIT
 *
 * The distinct failures of a mount, the latest ones, for .ntuplefs/errors.jsonl. Thread-safe.
 */
#ifndef NT_VFS_FAILURES_H
#define NT_VFS_FAILURES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/buffer.h"
#include "core/base/error.h"

struct nt_failures;

struct nt_failures *nt_failures_new(void);           /* NULL without memory */
void nt_failures_free(struct nt_failures *failures); /* accepts NULL */

/* Where a failure was met. */
struct nt_failure_site {
    const char *path; /* in the tree */
    size_t length;
    uint32_t place, generation; /* of places.h: equal failures of different files are different ones */
    bool is_page;               /* the next two tell which page; else any may be the cause */
    uint32_t source;            /* of the data set's sources */
    uint64_t parameter;         /* the page's */
};

/* Note a failure, or find it among those that were noted, at whatever path: one page is read through several
 * files, and a message has what every caller on its way put in front. Adds `requests` to its count: those
 * that it made fail. True where it is a new one. */
bool nt_failures_note(struct nt_failures *failures, const struct nt_failure_site *site, unsigned requests,
                      const struct nt_error *error);
/* Append a JSON line for each, the oldest first. */
void nt_failures_write(struct nt_failures *failures, struct nt_buffer *out);

/* Whether a status says that a source is bad, rather than that a request was. */
bool nt_is_failure(enum nt_status status);

#endif
