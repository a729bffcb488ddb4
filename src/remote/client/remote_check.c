/* SPDX-License-Identifier: MIT
 *
 * In: a file that stands for objects, while they are read. Out: whether the file at their address is the one that was opened. Objects tell no
 * version: who writes a data set anew to the same address writes other objects of the same numbers, and that file last.
 */
#include "core/base/clock.h"
#include "remote/client/remote_file.h"

void nt_remote_check_later(struct nt_remote_file *objects)
{
    objects->check_due = nt_milliseconds() + NT_FRESH_MILLISECONDS;
}

static bool take_byte(struct nt_fetch *fetch, const struct nt_fetch_answer *answer, const uint8_t *bytes,
                      size_t count)
{
    (void)fetch, (void)bytes;
    return answer->kind == NT_FETCH_DATA && count <= 1;
}

static void end_check(struct nt_fetch *fetch)
{
    ((struct nt_remote_check *)fetch)->anchor->underway--;
}

/* For a byte of it: the server sends none of another version. */
static void ask(struct nt_remote_file *objects, struct nt_remote_check *check, uint64_t deadline)
{
    struct nt_remote_file *anchor = objects->anchor;
    *check = (struct nt_remote_check){{.state = NT_FETCH_GOOD, .take = take_byte, .end = end_check}, anchor};
    if (nt_remote_be_open(anchor, deadline, NULL) != NT_OK)
        return;
    nt_remote_check_later(objects);
    anchor->underway++;
    nt_fetcher_ask(anchor->fetcher, &check->fetch,
                   (struct nt_fetch_request){.kind = NT_FETCH_READ, .file = anchor->file, .bytes = 1}, "", 0);
}

/* That nothing could be learned is no failure: the next read asks again. */
static enum nt_status wait_for(struct nt_remote_file *objects, struct nt_remote_check *check,
                               uint64_t deadline, enum nt_status status, struct nt_error *error)
{
    struct nt_remote_file *anchor = objects->anchor;
    const struct nt_fetch *fetch = &check->fetch;
    while (fetch->link && nt_fetcher_wait(objects->fetcher, deadline))
        ;
    if (fetch->link)
        nt_fetcher_drop(objects->fetcher, &check->fetch);
    if (fetch->state != NT_FETCH_GOOD)
        objects->check_due = 0;
    if (fetch->state == NT_FETCH_BAD)
        nt_remote_fail(anchor, fetch, 0, NULL);
    objects->has_changed |= anchor->has_changed;
    return objects->has_changed ? nt_remote_fail_changed(objects, error) : status;
}

void nt_remote_check_begin(struct nt_remote_file *objects, struct nt_remote_check *check, uint64_t deadline)
{
    *check = (struct nt_remote_check){{.state = NT_FETCH_GOOD}, objects->anchor};
    if (objects->anchor && nt_milliseconds() >= objects->check_due)
        ask(objects, check, deadline);
}

/* One that is not there may be that of a data set that is not there any more. */
enum nt_status nt_remote_check_end(struct nt_remote_file *objects, struct nt_remote_check *check,
                                   uint64_t deadline, enum nt_status status, struct nt_error *error)
{
    if (!objects->anchor)
        return status;
    status = wait_for(objects, check, deadline, status, error);
    if (status != NT_TRUNCATED)
        return status;
    ask(objects, check, deadline);
    return wait_for(objects, check, deadline, status, error);
}
