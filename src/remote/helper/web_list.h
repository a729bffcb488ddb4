/* SPDX-License-Identifier: MIT
 *
 * Folders at URLs: those of WebDAV, and what keys of S3 begin with.
 */
#ifndef NT_FETCH_WEB_LIST_H
#define NT_FETCH_WEB_LIST_H

#include "remote/helper/listings.h"

/* As nt_engine_ops has them. */
bool nt_web_list(struct nt_listing *listing, const char *address, const char **problem_ret);
void nt_web_end_list(struct nt_listing *listing);

#endif
