/* SPDX-License-Identifier: MIT
 *
 * In: a file that is being opened. Out: connections to its server, opened meanwhile: else the first reads would wait a round trip for
 * them. Each asks for the beginning of the file, as opening does, and nobody looks at the answers: what passes over a new connection lets
 * its window grow (RFC 5681, 3.1), so that what is read by it later takes fewer round trips. More than fits into the first window would
 * come too late. Whatever goes wrong is found out by those who read.
 */
#include "remote/helper/web_warm.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "remote/helper/web_open.h"

enum { MOST_MILLISECONDS = 10000 };

struct nt_warmer {
    struct nt_transfer job;
    struct nt_warmer *next, **link;
};

/* Text alone, as every other file is looked at. */
static bool has_same_server(const char *one, const char *other)
{
    const char *host = strstr(one, "://");
    size_t length = host ? (size_t)(host - one) + 3 + strcspn(host + 3, "/?#") : strlen(one);
    return strncasecmp(one, other, length) == 0 && strchr("/?#", other[length]);
}

static bool is_first_of_server(const struct nt_fetched *file)
{
    const struct nt_fetched *other = file->files->first;
    while (other && (other == file || other->remote->engine != file->remote->engine ||
                     !has_same_server(nt_origin_of(file)->address, nt_origin_of(other)->address)))
        other = other->next;
    return !other;
}

static bool take_nothing(struct nt_transfer *job, uint64_t offset, const char *bytes, size_t count)
{
    (void)job;
    (void)offset;
    (void)bytes;
    (void)count;
    return true;
}

static void end_warmer(struct nt_transfer *job)
{
    struct nt_warmer *warmer = (struct nt_warmer *)job;
    *warmer->link = warmer->next;
    if (warmer->next)
        warmer->next->link = warmer->link;
    free(warmer);
}

static void add_warmer(struct nt_fetched *file)
{
    struct nt_origin *origin = nt_origin_of(file);
    struct nt_warmer *warmer = calloc(1, sizeof(*warmer));
    if (!warmer)
        return;
    warmer->job = (struct nt_transfer){
        .remote = file->remote,
        .bytes = NT_FETCH_EDGE_BYTES,
        .milliseconds = file->milliseconds < MOST_MILLISECONDS ? file->milliseconds : MOST_MILLISECONDS,
        .most_tries = NT_TRIES_ONCE,
        .is_beside = true,
        .take = take_nothing,
        .end = end_warmer};
    warmer->next = origin->warmers;
    warmer->link = &origin->warmers;
    if (warmer->next)
        warmer->next->link = &warmer->next;
    origin->warmers = warmer;
    nt_transfers_add(&file->files->jobs, &warmer->job);
}

void nt_web_warm(struct nt_fetched *file, unsigned connections)
{
    if (!is_first_of_server(file))
        return;
    for (unsigned i = 0; i < connections; i++)
        add_warmer(file);
}

void nt_web_cool(struct nt_fetched *file)
{
    struct nt_warmer *warmer;
    while ((warmer = nt_origin_of(file)->warmers)) {
        nt_transfers_remove(&file->files->jobs, &warmer->job);
        end_warmer(&warmer->job);
    }
}
