/* SPDX-License-Identifier: MIT
 *
 * Helpers that fill the caller's nt_error, classify failures and add context to messages.
 */
#ifndef NT_CORE_BASE_ERROR_H
#define NT_CORE_BASE_ERROR_H

#include <ntuple/error.h>

/* The same as `{0}` to all who read an error, without writing all of its 800 bytes: where calls mostly succeed. */
static inline void nt_error_clear(struct nt_error *error)
{
    error->status = NT_OK;
    error->system_error = 0;
    error->offset = 0;
    error->message[0] = error->expected[0] = error->found[0] = '\0';
}

/* Fill `error` (may be NULL) and return `status`. `offset` is a byte position in the source
 * or NT_NO_OFFSET. */
enum nt_status nt_fail(struct nt_error *error, enum nt_status status, uint64_t offset, const char *format,
                       ...) __attribute__((format(printf, 4, 5)));

/* The same for "`what`: expected X, found Y". */
enum nt_status nt_fail_mismatch(struct nt_error *error, enum nt_status status, uint64_t offset,
                                const char *what, const char *expected, const char *found);

/* The same for two integers. */
enum nt_status nt_fail_number(struct nt_error *error, enum nt_status status, uint64_t offset,
                              const char *what, uint64_t expected, uint64_t found);

/* With an errno value, whose text is appended to the message: NT_NO_MEMORY for ENOMEM, NT_NOT_FOUND for what is
 * not there (ENOENT, ENOTDIR), else NT_IO. */
enum nt_status nt_fail_system(struct nt_error *error, int system_error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

enum nt_status nt_fail_memory(struct nt_error *error);

/* A failure that is there already, and its status. */
enum nt_status nt_fail_with(struct nt_error *error, const struct nt_error *failure);

/* Whether a failure is the machine's (memory, input and output, a server, a source that changed, a caller that gave up)
 * and not the file's. It says nothing about the file, and may be gone the next time: who could go on without
 * what failed, or keeps what came of it, passes such a failure on instead. */
bool nt_is_environmental(enum nt_status status);
/* Of these, the ones that say nothing about a disk either: memory, and a caller that gave up. Nobody is told
 * of them but the caller, and nobody remembers them. */
bool nt_is_transient(enum nt_status status);
/* Of an attempt to look at one file of several: whether the machine refused for the moment (memory, descriptors,
 * the disk, a server), so that nothing is known of it and the whole has to wait. Of one that this process may not read,
 * or that lies elsewhere, it is known that it is unreadable: the others are shown. */
bool nt_is_retryable(enum nt_status status, const struct nt_error *failure);

/* Whether a message begins with "subject: "; its rest, else NULL. */
const char *nt_message_about(const char *message, const char *subject);
/* Take "subject: " away from the front of a message (of `error`, which may be NULL). */
void nt_error_strip(struct nt_error *error, const char *subject);
/* Put "context: " in front of the message of an error that is being passed on. */
void nt_error_context(struct nt_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
