/* SPDX-License-Identifier: MIT
 *
 * Errors travel as values: a function returns an nt_status and, where something went wrong, leaves a message
 * for people in the caller's nt_error: what was expected, what was found, and where.
 *
 * An nt_error belongs to the caller and needs no cleanup; `struct nt_error error = {0};` is a valid start.
 * Every function accepts NULL where an error is not of interest. The first failure wins: functions write an
 * error only when they return it. None of this is shared between threads.
 */
#ifndef NTUPLE_ERROR_H
#define NTUPLE_ERROR_H

#include <stdbool.h>
#include <stdint.h>

#include <ntuple/api.h>

NT_API_BEGIN

enum nt_status {
    NT_OK = 0,
    NT_NOT_FOUND,       /* no such file, name or number */
    NT_NOT_THIS_FORMAT, /* the bytes are not of the format that was tried */
    NT_UNSUPPORTED,     /* well-formed, but something that this build does not read */
    NT_CORRUPT,         /* the bytes contradict the specification or themselves */
    NT_CHECKSUM,        /* a checksum does not match */
    NT_TRUNCATED,       /* the source ends before the bytes do */
    NT_CHANGED,         /* the source was replaced or modified while it was open */
    NT_IO,              /* the operating system refused; system_error has its errno */
    NT_NO_MEMORY,
    NT_LIMIT,       /* larger than a limit that protects the reader */
    NT_INVALID,     /* an argument of the caller is wrong */
    NT_CANCELED,    /* the caller asked to stop */
    NT_UNREACHABLE, /* a server does not answer, or not as it should: says nothing about the file */
};

#define NT_NO_OFFSET UINT64_MAX

/* Its size is part of the interface and does not change; statuses may be added. */
struct nt_error {
    enum nt_status status;
    int system_error;   /* errno for NT_IO, else 0 */
    uint64_t offset;    /* where in the source, or NT_NO_OFFSET */
    char message[512];  /* one line, no newline; contains place, expected and found where they are known */
    char expected[136]; /* set by nt_fail_mismatch, else empty; has room for a SHA-512 in hexadecimal */
    char found[136];
};

/* A short name of a status, e.g. "corrupt". Never NULL, lives for ever. */
const char *nt_status_name(enum nt_status status);

NT_API_END

#endif
