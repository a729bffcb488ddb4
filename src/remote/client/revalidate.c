/* SPDX-License-Identifier: MIT
 *
 * Objects of a store are in the version of the file at its address: checks this file while they are read.
 */
#include "remote/client/client.h"

void nt_revalidate_later(struct nt_remote_file *objects)
{
    objects->check_due = nt_milliseconds() + NT_FRESH_MILLISECONDS;
}

static bool take_byte(struct nt_helper_request *fetch, const struct nt_fetch_answer *answer,
                      const uint8_t *bytes, size_t count)
{
    return answer->kind == NT_FETCH_DATA && count <= 1;
}

static void end_check(struct nt_helper_request *fetch)
{
    ((struct nt_revalidation *)fetch)->anchor->underway--;
}

/* Requests one byte: the server sends none of another version. */
static void probe_anchor(struct nt_remote_file *objects, struct nt_revalidation *check, uint64_t deadline)
{
    struct nt_remote_file *anchor = objects->anchor;
    *check = (struct nt_revalidation){{.take = take_byte, .end = end_check}, anchor};
    if (nt_remote_reopen(anchor, deadline, NULL) != NT_OK)
        return;
    nt_revalidate_later(objects);
    anchor->underway++;
    nt_fetcher_send(anchor->fetcher, &check->fetch,
                    (struct nt_fetch_request){.kind = NT_FETCH_READ, .file = anchor->file, .bytes = 1}, "",
                    0);
}

/* An inconclusive check is no failure: the next read checks again. */
static enum nt_status wait_for(struct nt_remote_file *objects, struct nt_revalidation *check,
                               uint64_t deadline, enum nt_status status, struct nt_error *error)
{
    struct nt_remote_file *anchor = objects->anchor;
    const struct nt_helper_request *fetch = &check->fetch;
    if (!nt_helper_request_wait(objects->fetcher, &check->fetch, deadline) ||
        fetch->state == NT_HELPER_REQUEST_FAILED) {
        objects->check_due = 0;
        nt_remote_fail(anchor, fetch, 0, NULL);
    }
    objects->has_changed |= anchor->has_changed;
    return objects->has_changed ? nt_remote_fail_changed(objects, error) : status;
}

void nt_revalidate_begin(struct nt_remote_file *objects, struct nt_revalidation *check, uint64_t deadline)
{
    *check = (struct nt_revalidation){.anchor = objects->anchor};
    if (objects->anchor && nt_milliseconds() >= objects->check_due)
        probe_anchor(objects, check, deadline);
}

/* A missing object may be part of a dataset that was removed. */
enum nt_status nt_revalidate_end(struct nt_remote_file *objects, struct nt_revalidation *check,
                                 uint64_t deadline, enum nt_status status, struct nt_error *error)
{
    if (!objects->anchor)
        return status;
    status = wait_for(objects, check, deadline, status, error);
    if (status != NT_TRUNCATED)
        return status;
    probe_anchor(objects, check, deadline);
    return wait_for(objects, check, deadline, status, error);
}
