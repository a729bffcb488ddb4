/* SPDX-License-Identifier: MIT
 *
 * Comes in: failures, many times the same. Goes out: each once, with a count. A ring of fixed size: the
 * oldest give way, so that a thoroughly damaged file does not fill the memory.
 */
#include "vfs/failures.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/json/json.h"
#include "render/json_values.h"

enum { CAPACITY = 1024 };

struct failure {
    struct nt_failure_site site; /* its path is of malloc; NULL: no failure here */
    struct nt_error error;
    time_t time; /* of the first */
    uint64_t count;
};

struct nt_failures {
    pthread_mutex_t lock;
    struct failure ring[CAPACITY];
    uint64_t noted; /* in all; the next goes to noted % CAPACITY */
};

struct nt_failures *nt_failures_new(void)
{
    struct nt_failures *failures = calloc(1, sizeof(*failures));
    if (failures)
        pthread_mutex_init(&failures->lock, NULL);
    return failures;
}

void nt_failures_free(struct nt_failures *failures)
{
    if (!failures)
        return;
    for (size_t i = 0; i < CAPACITY; i++)
        free((char *)failures->ring[i].site.path);
    pthread_mutex_destroy(&failures->lock);
    free(failures);
}

bool nt_is_failure(enum nt_status status)
{
    return status != NT_OK && status != NT_NOT_FOUND && status != NT_INVALID && status != NT_CANCELED &&
           status != NT_NO_MEMORY;
}

/* Contexts are put in front of a message: what was there first is its end. */
static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return end_length <= length && strcmp(text + length - end_length, end) == 0;
}

static bool is_same_message(const struct nt_error *a, const struct nt_error *b)
{
    return ends_with(a->message, b->message) || ends_with(b->message, a->message);
}

static bool may_be_same(const struct failure *failure, const struct nt_failure_site *site,
                        const struct nt_error *error)
{
    const struct nt_failure_site *a = &failure->site;
    const struct nt_error *b = &failure->error;
    bool is_same_page =
        !a->is_page || !site->is_page || (a->source == site->source && a->parameter == site->parameter);
    return a->path && a->place == site->place && a->generation == site->generation && is_same_page &&
           b->status == error->status && b->offset == error->offset &&
           strcmp(b->expected, error->expected) == 0 && strcmp(b->found, error->found) == 0;
}

/* The message tells which; where none does, the place in the file. */
static struct failure *find(struct nt_failures *failures, const struct nt_failure_site *site,
                            const struct nt_error *error)
{
    uint64_t kept = failures->noted < CAPACITY ? failures->noted : CAPACITY;
    struct failure *found = NULL;
    for (uint64_t i = 0; i < kept; i++) {
        struct failure *failure = &failures->ring[i];
        if (!may_be_same(failure, site, error))
            continue;
        if (is_same_message(&failure->error, error))
            return failure;
        if (!found && error->offset != NT_NO_OFFSET)
            found = failure;
    }
    return found;
}

static struct failure *add(struct nt_failures *failures, const struct nt_failure_site *site,
                           const struct nt_error *error)
{
    struct failure *failure = &failures->ring[failures->noted++ % CAPACITY];
    char *path = malloc(site->length + 1);
    free((char *)failure->site.path);
    *failure = (struct failure){.site = *site, .error = *error, .time = time(NULL)};
    failure->site.path = path;
    if (path)
        memcpy(path, site->path, site->length);
    return failure;
}

bool nt_failures_note(struct nt_failures *failures, const struct nt_failure_site *site, unsigned requests,
                      const struct nt_error *error)
{
    pthread_mutex_lock(&failures->lock);
    struct failure *failure = find(failures, site, error);
    bool is_new = !failure;
    if (is_new)
        failure = add(failures, site, error);
    failure->count += requests;
    pthread_mutex_unlock(&failures->lock);
    return is_new;
}

static void write_failure(const struct failure *failure, struct nt_buffer *out)
{
    struct nt_json json;
    nt_json_line(&json, out);
    nt_json_member_text(&json, "path", (struct nt_text){failure->site.path, failure->site.length});
    nt_json_failure_members(&json, &failure->error);
    nt_json_member_time(&json, "time", failure->time);
    nt_json_member_unsigned(&json, "count", failure->count);
    nt_json_finish(&json);
}

void nt_failures_write(struct nt_failures *failures, struct nt_buffer *out)
{
    pthread_mutex_lock(&failures->lock);
    uint64_t first = failures->noted > CAPACITY ? failures->noted - CAPACITY : 0;
    for (uint64_t i = first; i < failures->noted; i++)
        if (failures->ring[i % CAPACITY].site.path)
            write_failure(&failures->ring[i % CAPACITY], out);
    pthread_mutex_unlock(&failures->lock);
}
