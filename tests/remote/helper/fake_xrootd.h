/* SPDX-License-Identifier: MIT
 *
 * A fake of XRootD's client, which the test controls, and code that requests files and directories from the
 * backend.
 */
#pragma once

#include <stdlib.h>

#include "asking.h"
#include "remote/helper/helper.h"
#include "remote/helper/result.h"
#include "remote/helper/xrd_client.h"
#include "remote/protocol.h"

enum { MAX_CALLS = 32 };

/* ---- a client ---- */

struct nt_xrd_file {
    unsigned number; /* a freed file may be where the next one is */
};

struct call {
    unsigned file_number;
    nt_xrd_done *done;
    void *context;
    unsigned count; /* of ranges; 0: an opening */
    struct nt_xrd_range ranges[NT_XRD_MAX_RANGES];
    bool has_attributes;
};

static struct {
    struct nt_xrd_attributes attributes; /* of the current file */
    unsigned files, lists, made_files;
    const struct nt_xrd_entry *entries; /* of the directory */
    unsigned entry_count;
    struct call calls[MAX_CALLS];
    unsigned count, answered;
    bool is_held; /* tests answer */
    bool is_without_memory;
} client;

static inline void answer_call(struct call *call, const struct nt_xrd_answer *answer)
{
    for (unsigned i = 0; i < call->count && answer->result.outcome == NT_OUTCOME_OK; i++)
        for (uint32_t k = 0; k < call->ranges[i].bytes; k++)
            call->ranges[i].buffer[k] = byte_at(call->ranges[i].offset + k);
    call->done(call->context, answer);
}

static inline void answer_well(struct call *call)
{
    answer_call(call, &(struct nt_xrd_answer){.has_attributes = !call->count || call->has_attributes,
                                              .attributes = client.attributes});
}

/* The next unanswered one. */
static inline struct call *next_call(void)
{
    ck_assert_uint_lt(client.answered, client.count);
    return &client.calls[client.answered++];
}

static inline void answer_badly(enum nt_request_outcome outcome, bool is_lost)
{
    answer_call(next_call(),
                &(struct nt_xrd_answer){.result = {outcome, NT_FETCH_UNREACHABLE, .message = "broken"},
                                        .is_lost = is_lost});
}

static inline struct nt_xrd_file *make_file(void)
{
    struct nt_xrd_file *file = client.is_without_memory ? NULL : calloc(1, sizeof(*file));
    if (!file)
        return NULL;
    client.files++;
    file->number = ++client.made_files;
    return file;
}

static inline void take_call(const struct call *call)
{
    ck_assert_uint_lt(client.count, MAX_CALLS);
    client.calls[client.count] = *call;
    client.count++;
    if (!client.is_held)
        answer_well(next_call());
}

static inline void open_file(struct nt_xrd_file *file, const char *url, uint16_t seconds, nt_xrd_done *done,
                             void *context)
{
    ck_assert_str_eq(url, "root://server//file?key");
    ck_assert_uint_ge(seconds, 1);
    take_call(&(struct call){.file_number = file->number, .done = done, .context = context});
}

static inline void read_file(struct nt_xrd_file *file, const struct nt_xrd_range *ranges, unsigned count,
                             bool has_attributes, uint16_t seconds, nt_xrd_done *done, void *context)
{
    struct call call = {.file_number = file->number,
                        .done = done,
                        .context = context,
                        .count = count,
                        .has_attributes = has_attributes};
    ck_assert_uint_ge(seconds, 1);
    ck_assert_uint_ge(count, 1);
    ck_assert_uint_le(count, NT_XRD_MAX_RANGES);
    memcpy(call.ranges, ranges, count * sizeof(*ranges));
    take_call(&call);
}

static inline void close_file(struct nt_xrd_file *file, uint16_t seconds, nt_xrd_done *done, void *context)
{
    ck_assert_uint_ge(seconds, 1);
    done(context, &(struct nt_xrd_answer){.has_attributes = false});
}

static inline void free_file(struct nt_xrd_file *file)
{
    client.files--;
    free(file);
}

struct nt_xrd_list {
    int unused;
};

static inline struct nt_xrd_list *list_folder(const char *url, uint16_t seconds, nt_xrd_done *done,
                                              void *context)
{
    ck_assert_str_eq(url, "root://server//folder/");
    ck_assert_uint_ge(seconds, 1);
    if (client.is_without_memory)
        return NULL;
    client.lists++;
    take_call(&(struct call){.done = done, .context = context});
    return calloc(1, sizeof(struct nt_xrd_list));
}

static inline bool entry_of(const struct nt_xrd_list *list, unsigned number, struct nt_xrd_entry *entry_ret)
{
    ck_assert_ptr_nonnull(list);
    if (number >= client.entry_count)
        return false;
    *entry_ret = client.entries[number];
    return true;
}

static inline void free_list(struct nt_xrd_list *list)
{
    client.lists--;
    free(list);
}

static const struct nt_xrd_client table = {make_file, open_file,   read_file, close_file,
                                           free_file, list_folder, entry_of,  free_list};

/* ---- Requests ---- */

static struct nt_xrootd xrootd;

static inline void set_up(void)
{
    memset(&client, 0, sizeof(client));
    client.attributes = (struct nt_xrd_attributes){SIZE, 1000, "id", "server"};
    begin_asking();
    ck_assert(nt_xrootd_init(&xrootd, &files.jobs, "/nonexistent"));
    xrootd.queue.client = &table;
}

static inline void open_well(void)
{
    bool was_held = client.is_held;
    client.is_held = false;
    uint64_t id = ask((struct nt_fetch_request){.kind = NT_FETCH_OPEN}, "root://server//file?key");
    work_until(id, NT_FETCH_DONE);
    ck_assert_uint_eq(answers[id].size, client.attributes.size);
    client.is_held = was_held;
}

/* The last time when the file was found unchanged. */
static inline void set_checked(uint64_t when)
{
    ((struct nt_xrootd_file *)LIST_FIRST(&files.all))->checked = when;
}

/* Everything was released. */
static inline void tear_down(void)
{
    ask((struct nt_fetch_request){.kind = NT_FETCH_CLOSE}, "");
    while (client.answered < client.count)
        answer_well(next_call());
    work();
    ck_assert_uint_eq(client.files, 0);
    ck_assert_uint_eq(client.lists, 0);
    close(xrootd.queue.event);
    end_asking();
}

/* Ten bytes have arrived, or the file has changed. */
static inline void check_outcome(uint64_t id, bool is_same)
{
    work_until(id, is_same ? NT_FETCH_DONE : NT_FETCH_FAILED);
    ck_assert_uint_eq(answers[id].bytes, is_same ? 10 : 0);
    if (!is_same)
        ck_assert_uint_eq(answers[id].failure, NT_FETCH_CHANGED);
}
