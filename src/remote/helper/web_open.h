/* SPDX-License-Identifier: MIT
 *
 * Files at URLs, and opening them.
 */
#ifndef NT_FETCH_WEB_OPEN_H
#define NT_FETCH_WEB_OPEN_H

#include "remote/helper/files.h"
#include "remote/helper/request.h"

/* What requests to one address share. The attempt of its jobs is a struct nt_request. */
struct nt_origin {
    struct nt_remote remote;
    char *address; /* a URL */
    enum nt_service service;
    enum nt_asked asked;
    char *elsewhere; /* where the server sent the last request to; NULL: nowhere else */
    struct nt_file_version version;
    bool is_known;               /* the version is */
    bool is_of_objects;          /* each has a version of its own (web_objects.h) */
    struct nt_edge *head, *tail; /* while it is opened */
    struct nt_warmer *warmers;
};

static inline struct nt_origin *nt_origin_of(const struct nt_fetched *file)
{
    return (struct nt_origin *)file->remote;
}

/* As nt_engine_ops has them; warmers are another's (web_warm.h). */
bool nt_web_open(struct nt_engine *engine, struct nt_fetched *file, const char *address,
                 const char **problem_ret);
bool nt_web_open_listed(struct nt_engine *engine, struct nt_fetched *file, const char *address,
                        const char *stamp, const char **problem_ret);
void nt_web_close(struct nt_fetched *file);

#endif
