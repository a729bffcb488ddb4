/* SPDX-License-Identifier: MIT
 *
 * Errors are values: a function returns an nt_status and, on failure, writes a message for people into
 * the caller's nt_error: what it expected, what it found, and where.
 *
 * An nt_error belongs to the caller and needs no cleanup; `struct nt_error error = {0};` is a valid
 * start. Every function accepts NULL instead of an error. Functions write an error only when they
 * return it, so the first failure wins. Threads must not share an error.
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
    NT_NOT_THIS_FORMAT, /* the bytes are not in the format that was tried */
    NT_UNSUPPORTED,     /* well-formed, but not supported by this build */
    NT_CORRUPT,         /* the bytes contradict the specification or themselves */
    NT_CHECKSUM,        /* a checksum does not match */
    NT_TRUNCATED,       /* the source ends before the bytes do */
    NT_CHANGED,         /* the source was replaced or modified while it was open */
    NT_IO,              /* the operating system refused; system_error has its errno */
    NT_NO_MEMORY,
    NT_LIMIT,        /* exceeds a limit that protects the reader */
    NT_INVALID,      /* the caller passed a wrong argument */
    NT_CANCELED,     /* the caller requested the stop */
    NT_UNREACHABLE,  /* a server does not answer, or not properly: says nothing about the file */
    NT_INCOMPATIBLE, /* a file of a chain is whole, but its schema differs from the first file's */
};

#define NT_NO_OFFSET UINT64_MAX

/* Its size is part of the interface and does not change. New statuses may be added. */
struct nt_error {
    enum nt_status status;
    int system_error;   /* errno for NT_IO, else 0 */
    uint64_t offset;    /* where in the source, or NT_NO_OFFSET */
    char message[512];  /* one line, no newline; with place, expected and found if known */
    char expected[136]; /* set by nt_fail_mismatch, else empty; fits a SHA-512 in hexadecimal */
    char found[136];
};

/* A short name of a status, e.g. "corrupt". Never NULL; static. */
const char *nt_status_name(enum nt_status status);

NT_API_END

#endif
