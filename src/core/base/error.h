/* SPDX-License-Identifier: MIT
 *
 * Helpers that fill the caller's nt_error, classify failures and add context to messages.
 */
#pragma once

#include <ntuple/error.h>

#include <inttypes.h>

/* Returns from the function with the status of the expression unless that is NT_OK. Declare with NT_CLEANUP
 * what the function must release then. */
#define NT_TRY(expression)                                                                                   \
    do {                                                                                                     \
        enum nt_status tried = (expression);                                                                 \
        if (tried != NT_OK)                                                                                  \
            return tried;                                                                                    \
    } while (0)

/* Equals `{0}` for readers, but writes less than all 800 bytes: for calls that mostly succeed. */
static inline void nt_error_clear(struct nt_error *error)
{
    error->status = NT_OK;
    error->system_error = 0;
    error->offset = 0;
    error->message[0] = error->expected[0] = error->found[0] = '\0';
}

/* Fills `error` (may be NULL) and returns `status`. `offset` is a position in the source or
 * NT_NO_OFFSET. */
enum nt_status nt_fail(struct nt_error *error, enum nt_status status, uint64_t offset, const char *format,
                       ...) __attribute__((format(printf, 4, 5)));

/* The same for "`what`: expected X, found Y". */
enum nt_status nt_fail_mismatch(struct nt_error *error, enum nt_status status, uint64_t offset,
                                const char *what, const char *expected, const char *found);

/* The same for two integers. */
enum nt_status nt_fail_number(struct nt_error *error, enum nt_status status, uint64_t offset,
                              const char *what, uint64_t expected, uint64_t found);
/* The same for a number that is too small ("expected at least X") or too large ("expected at most X"). */
enum nt_status nt_fail_below(struct nt_error *error, enum nt_status status, uint64_t offset, const char *what,
                             uint64_t minimum, uint64_t found);
enum nt_status nt_fail_above(struct nt_error *error, enum nt_status status, uint64_t offset, const char *what,
                             uint64_t maximum, uint64_t found);

/* With the text of an errno value after the message: NT_NO_MEMORY for ENOMEM, NT_NOT_FOUND for ENOENT
 * and ENOTDIR, else NT_IO. */
enum nt_status nt_fail_system(struct nt_error *error, int system_error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

enum nt_status nt_fail_memory(struct nt_error *error);
/* nt_fail_memory, unless an allocation succeeded. */
static inline enum nt_status nt_check_memory(bool is_allocated, struct nt_error *error)
{
    return is_allocated ? NT_OK : nt_fail_memory(error);
}

/* Copies a failure and returns its status. */
enum nt_status nt_fail_copy(struct nt_error *error, const struct nt_error *failure);

/* Is a failure environmental (memory, I/O, a server, a changed source, a cancelled request) rather than
 * the file's? Such a failure may disappear: a caller that could continue without the failed part, or
 * that caches results, must return it instead. */
bool nt_is_environmental(enum nt_status status);
/* For a view that omits the bad parts of a file: NT_OK if the part is bad. If it could not be read for
 * another reason, which is environmental or NT_LIMIT, the status: without the part, the view would look
 * complete. */
enum nt_status nt_omit_bad(enum nt_status status);
/* The environmental failures that are not about a disk either: memory and cancelled requests. Only the
 * caller sees them; never log or remember them. */
bool nt_is_transient(enum nt_status status);
/* For one of several files that could not be examined: is the cause temporary (memory, descriptors, disk,
 * server), so that the caller must fail as a whole and retry? A file without read permission or outside the
 * directory stays unreadable; the others are shown. */
bool nt_is_retryable(enum nt_status status, const struct nt_error *failure);

/* If a message begins with "subject: ", returns its rest, else NULL. */
const char *nt_message_about(const char *message, const char *subject);
/* Removes "subject: " from the start of a message (of `error`, which may be NULL). */
void nt_error_strip(struct nt_error *error, const char *subject);
/* Prepends "context: " to the message of an error. */
void nt_error_context(struct nt_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Does this only if `status` is a failure. Returns `status`. */
enum nt_status nt_with_context(enum nt_status status, struct nt_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Adds the offset to a failure of the file that has none. Returns `status`. */
enum nt_status nt_with_offset(enum nt_status status, struct nt_error *error, uint64_t offset);
