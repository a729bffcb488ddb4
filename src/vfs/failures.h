/* SPDX-License-Identifier: MIT
 *
 * The distinct failures of a mount, the latest ones, for .ntuplefs/errors.jsonl. Thread-safe.
 */
#ifndef NT_VFS_FAILURES_H
#define NT_VFS_FAILURES_H

#include <ntuple/error.h>

#include "base/buffer.h"

struct nt_failures;

struct nt_failures *nt_failures_new(void);           /* NULL without memory */
void nt_failures_free(struct nt_failures *failures); /* accepts NULL */

/* Note a failure at a path of the tree. True where it is a new one. */
bool nt_failures_note(struct nt_failures *failures, const char *path, size_t length,
                      const struct nt_error *error);
/* Whether the same failure was noted at any path: one page may be read through several files. */
bool nt_failures_knows(struct nt_failures *failures, const struct nt_error *error);
/* Append a JSON line for each, the oldest first. */
void nt_failures_write(struct nt_failures *failures, struct nt_buffer *out);

/* Whether a status says that a source is bad, rather than that a request was. */
bool nt_is_failure(enum nt_status status);

#endif
