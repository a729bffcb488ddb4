/* SPDX-License-Identifier: MIT
 *
 * Fills nt_error structures: plain messages, expected/found mismatches, errno values. Classifies
 * failures as environmental, transient or retryable.
 */
#include "core/base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const status_names[] = {
    [NT_OK] = "ok",
    [NT_NOT_FOUND] = "not found",
    [NT_NOT_THIS_FORMAT] = "not this format",
    [NT_UNSUPPORTED] = "unsupported",
    [NT_CORRUPT] = "corrupt",
    [NT_CHECKSUM] = "checksum mismatch",
    [NT_TRUNCATED] = "truncated",
    [NT_CHANGED] = "source changed",
    [NT_IO] = "input/output error",
    [NT_NO_MEMORY] = "out of memory",
    [NT_LIMIT] = "over a limit",
    [NT_INVALID] = "invalid argument",
    [NT_CANCELED] = "canceled",
    [NT_UNREACHABLE] = "unreachable",
    [NT_INCOMPATIBLE] = "incompatible",
};

const char *nt_status_name(enum nt_status status)
{
    return (size_t)status < sizeof(status_names) / sizeof(*status_names) ? status_names[status] : "unknown";
}

static void append_offset(struct nt_error *error)
{
    size_t used = strlen(error->message);
    if (error->offset != NT_NO_OFFSET)
        snprintf(error->message + used, sizeof(error->message) - used, " (at byte %" PRIu64 ")",
                 error->offset);
}

enum nt_status nt_with_offset(enum nt_status status, struct nt_error *error, uint64_t offset)
{
    if (error && status != NT_OK && error->offset == NT_NO_OFFSET && !nt_is_environmental(status)) {
        error->offset = offset;
        append_offset(error);
    }
    return status;
}

__attribute__((format(printf, 4, 0))) static void error_set(struct nt_error *error, enum nt_status status,
                                                            uint64_t offset, const char *format,
                                                            va_list arguments)
{
    *error = (struct nt_error){.status = status, .offset = offset};
    vsnprintf(error->message, sizeof(error->message), format, arguments);
}

enum nt_status nt_fail(struct nt_error *error, enum nt_status status, uint64_t offset, const char *format,
                       ...)
{
    if (!error)
        return status;
    va_list arguments;
    va_start(arguments, format);
    error_set(error, status, offset, format, arguments);
    va_end(arguments);
    append_offset(error);
    return status;
}

enum nt_status nt_fail_mismatch(struct nt_error *error, enum nt_status status, uint64_t offset,
                                const char *what, const char *expected, const char *found)
{
    if (!error)
        return status;
    *error = (struct nt_error){.status = status, .offset = offset};
    snprintf(error->message, sizeof(error->message), "%s: expected %s, found %s", what, expected, found);
    snprintf(error->expected, sizeof(error->expected), "%s", expected);
    snprintf(error->found, sizeof(error->found), "%s", found);
    append_offset(error);
    return status;
}

static enum nt_status fail_numbers(struct nt_error *error, enum nt_status status, uint64_t offset,
                                   const char *what, const char *bound, uint64_t expected, uint64_t found)
{
    char expected_text[40], found_text[24];
    snprintf(expected_text, sizeof(expected_text), "%s%" PRIu64, bound, expected);
    snprintf(found_text, sizeof(found_text), "%" PRIu64, found);
    return nt_fail_mismatch(error, status, offset, what, expected_text, found_text);
}

enum nt_status nt_fail_number(struct nt_error *error, enum nt_status status, uint64_t offset,
                              const char *what, uint64_t expected, uint64_t found)
{
    return fail_numbers(error, status, offset, what, "", expected, found);
}

enum nt_status nt_fail_below(struct nt_error *error, enum nt_status status, uint64_t offset, const char *what,
                             uint64_t minimum, uint64_t found)
{
    return fail_numbers(error, status, offset, what, "at least ", minimum, found);
}

enum nt_status nt_fail_above(struct nt_error *error, enum nt_status status, uint64_t offset, const char *what,
                             uint64_t maximum, uint64_t found)
{
    return fail_numbers(error, status, offset, what, "at most ", maximum, found);
}

enum nt_status nt_fail_system(struct nt_error *error, int system_error, const char *format, ...)
{
    enum nt_status status = system_error == ENOMEM                              ? NT_NO_MEMORY
                            : system_error == ENOENT || system_error == ENOTDIR ? NT_NOT_FOUND
                                                                                : NT_IO;
    if (!error)
        return status;
    va_list arguments;
    va_start(arguments, format);
    error_set(error, status, NT_NO_OFFSET, format, arguments);
    va_end(arguments);
    error->system_error = system_error;
    char text[128];
    size_t used = strlen(error->message);
    snprintf(error->message + used, sizeof(error->message) - used, ": %s",
             strerror_r(system_error, text, sizeof(text)));
    return status;
}

enum nt_status nt_fail_memory(struct nt_error *error)
{
    return nt_fail(error, NT_NO_MEMORY, NT_NO_OFFSET, "out of memory");
}

enum nt_status nt_fail_copy(struct nt_error *error, const struct nt_error *failure)
{
    if (error)
        *error = *failure;
    return failure->status;
}

bool nt_is_environmental(enum nt_status status)
{
    return status == NT_IO || status == NT_CHANGED || status == NT_UNREACHABLE || nt_is_transient(status);
}

enum nt_status nt_omit_bad(enum nt_status status)
{
    return nt_is_environmental(status) || status == NT_LIMIT ? status : NT_OK;
}

bool nt_is_transient(enum nt_status status)
{
    return status == NT_NO_MEMORY || status == NT_CANCELED;
}

const char *nt_message_about(const char *message, const char *subject)
{
    size_t length = strlen(subject);
    return length && strncmp(message, subject, length) == 0 && strncmp(message + length, ": ", 2) == 0
               ? message + length + 2
               : NULL;
}

void nt_error_strip(struct nt_error *error, const char *subject)
{
    const char *rest = error ? nt_message_about(error->message, subject) : NULL;
    if (rest)
        memmove(error->message, rest, strlen(rest) + 1);
}

bool nt_is_retryable(enum nt_status status, const struct nt_error *failure)
{
    bool is_of_the_moment = failure->system_error == EIO || failure->system_error == EINTR ||
                            failure->system_error == EMFILE || failure->system_error == ENFILE;
    return nt_is_transient(status) || status == NT_UNREACHABLE || (status == NT_IO && is_of_the_moment);
}

__attribute__((format(printf, 2, 0))) static void add_context(struct nt_error *error, const char *format,
                                                              va_list arguments)
{
    if (!error)
        return;
    char context[sizeof(error->message)];
    vsnprintf(context, sizeof(context), format, arguments);
    char message[sizeof(error->message)];
    memcpy(message, error->message, sizeof(message));
    size_t used = strlen(context);
    if (used > sizeof(error->message) / 2)
        used = sizeof(error->message) / 2;
    snprintf(error->message, sizeof(error->message), "%.*s: %.*s", (int)used, context,
             (int)(sizeof(error->message) - used - 3), message);
}

void nt_error_context(struct nt_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_context(error, format, arguments);
    va_end(arguments);
}

enum nt_status nt_with_context(enum nt_status status, struct nt_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (status != NT_OK)
        add_context(error, format, arguments);
    va_end(arguments);
    return status;
}
