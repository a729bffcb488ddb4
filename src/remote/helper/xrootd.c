/* SPDX-License-Identifier: MIT
 *
 * In: jobs for files on XRootD's servers. Out: what they ask XRootD's client for, which a module brings.
 */
#include "remote/helper/xrootd.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "remote/helper/credential_files.h"
#include "remote/helper/xrootd_list.h"
#include "remote/helper/xrootd_open.h"
#include "remote/helper/xrootd_read.h"

#include "core/base/clock.h"

enum { AT_ONCE = 128 };
#define MOST_BYTES (UINT64_C(16) << 20) /* of tries at once: all of it is in memory before any is taken */

static bool takes(const char *address)
{
    static const char *const schemes[] = {"root://", "roots://", "xroot://", "xroots://"};
    for (size_t i = 0; i < sizeof(schemes) / sizeof(*schemes); i++)
        if (strncasecmp(address, schemes[i], strlen(schemes[i])) == 0)
            return true;
    return false;
}

void nt_xrootd_find_module(char path[NT_MODULE_PATH_BYTES])
{
    char program[NT_MODULE_PATH_BYTES - 32];
    ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    program[length > 0 ? length : 0] = '\0';
    snprintf(path, NT_MODULE_PATH_BYTES, "%s-xrootd.so", program);
}

/* Not with the program: its libraries take longer to be loaded than all others. */
static const struct nt_xrd_client *load(const char *path)
{
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return module ? dlsym(module, NT_XRD_CLIENT_SYMBOL) : NULL;
}

/* With its client. What is no address the client knows: so no function here has a problem with one. */
static struct nt_xrootd_wanting *wanting_of(struct nt_engine *engine)
{
    struct nt_xrootd *xrootd = (struct nt_xrootd *)engine;
    if (!xrootd->queue.client)
        xrootd->queue.client = load(xrootd->module);
    return &xrootd->wanting;
}

static bool open_file(struct nt_engine *engine, struct nt_fetched *fetched, const char *address,
                      const char **problem_ret)
{
    (void)problem_ret;
    return nt_xrootd_open(engine, wanting_of(engine), fetched, address);
}

static bool open_listed(struct nt_engine *engine, struct nt_fetched *fetched, const char *address,
                        const char *stamp, const char **problem_ret)
{
    (void)problem_ret;
    return nt_xrootd_open_listed(engine, wanting_of(engine), fetched, address, stamp);
}

static bool list(struct nt_listing *listing, const char *address, const char **problem_ret)
{
    (void)problem_ret;
    return nt_xrootd_list(listing, wanting_of(listing->engine), address);
}

static bool start(struct nt_transfer *job, uint64_t milliseconds)
{
    struct nt_xrd_attempt *attempt = job->attempt ? job->attempt : malloc(sizeof(*attempt));
    job->attempt = attempt;
    if (!attempt)
        return false;
    *attempt = (struct nt_xrd_attempt){
        .job = job, .deadline = nt_milliseconds() + milliseconds, .is_opening = nt_xrootd_is_opening(job)};
    nt_xrootd_file_await((struct nt_xrootd_file *)job->remote, attempt);
    return true;
}

static void stop(struct nt_transfer *job)
{
    if (!job->attempt)
        return;
    struct nt_xrootd_file *file = (struct nt_xrootd_file *)job->remote;
    nt_xrd_attempt_leave(job->attempt);
    nt_xrootd_read_leave(job->attempt);
    if (file->walk)
        nt_xrootd_list_leave(file);
}

static void resume(struct nt_transfer *job)
{
    nt_xrootd_read_deliver(job->attempt);
}

/* ---- all of them ---- */

static void serve(struct nt_xrootd *xrootd, struct nt_xrootd_file *file)
{
    static const struct nt_result no_client = {
        NT_OUTCOME_BAD, NT_FETCH_UNSUPPORTED,
        .message = "root:// needs XRootD's client: ntuplefs was built without it (-Dxrootd=enabled), or its "
                   "module is not installed"};
    if (!file->waiting)
        return;
    if (file->walk || (!file->is_open && !file->session))
        nt_credentials_refresh(); /* the client tells servers who asks when it goes to them */
    if (!xrootd->queue.client)
        nt_xrootd_file_fail(file, &no_client);
    else if (file->walk)
        nt_xrootd_list_ask(file, &xrootd->queue);
    else if (file->is_open)
        nt_xrootd_read_all(file);
    else if (!file->session && !nt_xrootd_file_open(file, &xrootd->queue))
        nt_xrootd_file_fail(file, &nt_result_no_memory);
}

static void work(struct nt_engine *engine)
{
    struct nt_xrootd *xrootd = (struct nt_xrootd *)engine;
    struct nt_xrootd_file *file;
    nt_xrd_queue_work(&xrootd->queue);
    while ((file = xrootd->wanting.first)) {
        nt_xrootd_file_rest(file);
        serve(xrootd, file);
    }
}

static const struct nt_engine_ops ops = {.at_once = AT_ONCE,
                                         .most_bytes = MOST_BYTES,
                                         .takes = takes,
                                         .open = open_file,
                                         .open_listed = open_listed,
                                         .list = list,
                                         .end_list = nt_xrootd_end_list,
                                         .close = nt_xrootd_close,
                                         .start = start,
                                         .stop = stop,
                                         .resume = resume,
                                         .work = work};

bool nt_xrootd_init(struct nt_xrootd *xrootd, struct nt_transfers *jobs, const char *module)
{
    *xrootd = (struct nt_xrootd){.module = module};
    if (!nt_xrd_queue_init(&xrootd->queue))
        return false;
    nt_transfers_add_engine(jobs, &xrootd->engine, &ops);
    return true;
}
