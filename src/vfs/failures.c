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

#include "json/json.h"

enum { CAPACITY = 1024 };

struct failure {
    char *path;
    size_t length;
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
        free(failures->ring[i].path);
    pthread_mutex_destroy(&failures->lock);
    free(failures);
}

bool nt_is_failure(enum nt_status status)
{
    return status != NT_OK && status != NT_NOT_FOUND && status != NT_INVALID && status != NT_CANCELED &&
           status != NT_NO_MEMORY;
}

static bool is_same(const struct failure *failure, const char *path, size_t length,
                    const struct nt_error *error)
{
    return failure->length == length && failure->error.offset == error->offset &&
           failure->error.status == error->status && memcmp(failure->path, path, length) == 0 &&
           strcmp(failure->error.message, error->message) == 0;
}

/* Messages differ by who passed them on; where there is a place, that tells. */
static bool is_same_cause(const struct nt_error *a, const struct nt_error *b)
{
    return a->status == b->status && a->offset == b->offset && strcmp(a->expected, b->expected) == 0 &&
           strcmp(a->found, b->found) == 0 &&
           (a->offset != NT_NO_OFFSET || strcmp(a->message, b->message) == 0);
}

bool nt_failures_knows(struct nt_failures *failures, const struct nt_error *error)
{
    bool is_known = false;
    pthread_mutex_lock(&failures->lock);
    uint64_t kept = failures->noted < CAPACITY ? failures->noted : CAPACITY;
    for (uint64_t i = 0; i < kept && !is_known; i++)
        is_known = failures->ring[i].path && is_same_cause(&failures->ring[i].error, error);
    pthread_mutex_unlock(&failures->lock);
    return is_known;
}

static struct failure *find(struct nt_failures *failures, const char *path, size_t length,
                            const struct nt_error *error)
{
    uint64_t kept = failures->noted < CAPACITY ? failures->noted : CAPACITY;
    for (uint64_t i = 0; i < kept; i++)
        if (failures->ring[i].path && is_same(&failures->ring[i], path, length, error))
            return &failures->ring[i];
    return NULL;
}

bool nt_failures_note(struct nt_failures *failures, const char *path, size_t length,
                      const struct nt_error *error)
{
    pthread_mutex_lock(&failures->lock);
    struct failure *failure = find(failures, path, length, error);
    bool is_new = !failure;
    if (is_new) {
        failure = &failures->ring[failures->noted++ % CAPACITY];
        free(failure->path);
        *failure = (struct failure){.path = malloc(length + 1), .length = length, .error = *error};
        failure->time = time(NULL);
        if (failure->path)
            memcpy(failure->path, path, length);
    }
    failure->count++;
    pthread_mutex_unlock(&failures->lock);
    return is_new;
}

static void member_or_null(struct nt_json *json, const char *key, const char *text)
{
    nt_json_member_string(json, key, text[0] ? text : NULL);
}

static void write_failure(const struct failure *failure, struct nt_buffer *out)
{
    struct nt_json json;
    char when[32];
    struct tm utc;
    gmtime_r(&failure->time, &utc);
    strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &utc);
    nt_json_line(&json, out);
    nt_json_member_text(&json, "path", failure->path, failure->length);
    if (failure->error.offset == NT_NO_OFFSET)
        nt_json_member_null(&json, "file_offset");
    else
        nt_json_member_unsigned(&json, "file_offset", failure->error.offset);
    nt_json_member_string(&json, "status", nt_status_name(failure->error.status));
    nt_json_member_text(&json, "what", failure->error.message, strlen(failure->error.message));
    member_or_null(&json, "expected", failure->error.expected);
    member_or_null(&json, "found", failure->error.found);
    nt_json_member_string(&json, "time", when);
    nt_json_member_unsigned(&json, "count", failure->count);
    nt_json_finish(&json);
}

void nt_failures_write(struct nt_failures *failures, struct nt_buffer *out)
{
    pthread_mutex_lock(&failures->lock);
    uint64_t first = failures->noted > CAPACITY ? failures->noted - CAPACITY : 0;
    for (uint64_t i = first; i < failures->noted; i++)
        if (failures->ring[i % CAPACITY].path)
            write_failure(&failures->ring[i % CAPACITY], out);
    pthread_mutex_unlock(&failures->lock);
}
