/* SPDX-License-Identifier: MIT
 *
 * The engine for what is read by XRootD's protocols.
 */
#ifndef NT_FETCH_XROOTD_H
#define NT_FETCH_XROOTD_H

#include "remote/helper/jobs.h"
#include "remote/helper/xrootd_file.h"

struct nt_xrootd {
    struct nt_engine engine;
    struct nt_xrd_queue queue;
    struct nt_xrootd_wanting wanting;
    const char
        *module; /* the path of one that has the client, which is loaded when the first file is opened */
};

/* Where the module is that has it: beside this program. */
enum { NT_MODULE_PATH_BYTES = 4096 };
void nt_xrootd_find_module(char path[NT_MODULE_PATH_BYTES]);

/* False without memory. `xrootd->queue.client` may be set instead of a module. */
bool nt_xrootd_init(struct nt_xrootd *xrootd, struct nt_transfers *jobs, const char *module);
/* Readable where it has work to do. */
static inline int nt_xrootd_event(const struct nt_xrootd *xrootd)
{
    return xrootd->queue.event;
}

#endif
