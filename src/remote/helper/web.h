/* SPDX-License-Identifier: MIT
 *
 * The engine for what is read by http and https: web servers, WebDAV, buckets.
 */
#ifndef NT_FETCH_WEB_H
#define NT_FETCH_WEB_H

#include <curl/curl.h>

#include "remote/helper/jobs.h"

struct nt_web {
    struct nt_engine engine;
    CURLM *multi;
};

/* False where libcurl cannot be used. */
bool nt_web_init(struct nt_web *web, struct nt_transfers *jobs);
/* Until servers or `others` have something to say, or the time is over. */
void nt_web_wait(struct nt_web *web, struct curl_waitfd *others, unsigned count, uint64_t milliseconds);

#endif
