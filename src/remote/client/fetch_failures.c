/* SPDX-License-Identifier: MIT
 *
 * In: why the process that fetches did not. Out: a status and a message.
 */
#include <errno.h>

#include "remote/client/fetcher.h"

static const struct {
    enum nt_status status;
    int system_error;
} failures[NT_FETCH_FAILURES] = {
    [NT_FETCH_UNREACHABLE] = {NT_UNREACHABLE, 0}, [NT_FETCH_NOT_FOUND] = {NT_NOT_FOUND, 0},
    [NT_FETCH_FORBIDDEN] = {NT_IO, EACCES},       [NT_FETCH_CHANGED] = {NT_CHANGED, 0},
    [NT_FETCH_UNSUPPORTED] = {NT_UNSUPPORTED, 0}, [NT_FETCH_INVALID] = {NT_INVALID, 0},
};

enum nt_status nt_fetch_fail(const struct nt_fetch *fetch, const char *shown, struct nt_error *error)
{
    enum nt_status status = failures[fetch->failure].status;
    nt_fail(error, status, NT_NO_OFFSET, "%s: %s", shown, fetch->message);
    if (error)
        error->system_error = failures[fetch->failure].system_error;
    return status;
}

enum nt_status nt_fetcher_fail_silent(const struct nt_fetcher *fetcher, const char *shown,
                                      struct nt_error *error)
{
    return nt_fail(error, NT_UNREACHABLE, NT_NO_OFFSET,
                   "%s: timed out after %.3g s: the process that fetches does not answer", shown,
                   (double)fetcher->milliseconds / 1000);
}
