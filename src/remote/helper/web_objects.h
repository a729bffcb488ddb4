/* SPDX-License-Identifier: MIT
 *
 * Parts of objects, where a file stands for all objects of a store.
 */
#ifndef NT_FETCH_WEB_OBJECTS_H
#define NT_FETCH_WEB_OBJECTS_H

#include "remote/helper/web_open.h"

/* As nt_engine_ops has them. The attempt of such a job begins with a struct nt_request. */
bool nt_web_start_object(struct nt_transfer *job, uint64_t milliseconds, CURLM *multi);
/* The request of a try has ended: set what came of it. */
void nt_web_end_object(struct nt_transfer *job, CURLcode code);

#endif
