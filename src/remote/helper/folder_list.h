/* SPDX-License-Identifier: MIT
 *
 * What is in a folder, as servers tell it in XML: WebDAV's answers to PROPFIND (RFC 4918, sections 9.1 and 14), and S3's to
 * ListObjectsV2. The text is read as it comes, and never kept.
 */
#ifndef NT_FETCH_FOLDER_LIST_H
#define NT_FETCH_FOLDER_LIST_H

#include "remote/helper/address.h"
#include "remote/helper/reply.h"

enum { NT_FOLDER_LIST_TOKEN_BYTES = 4096 };

struct nt_list_entry {
    const char *name; /* one part of a path */
    bool is_folder;
    uint64_t size;
    int64_t modified;                /* NT_FETCH_NO_TIME */
    struct nt_validators validators; /* by which this version can be asked for; without a weak tag */
};

typedef void nt_folder_take(void *context, const struct nt_list_entry *entry);

struct nt_list_parser;

/* For one answer. `folder` is the path that was asked for, not percent-encoded: of S3 what keys begin with, "" or with a slash at its end; else
 * that of the URL. What lies elsewhere is not told of. NULL without memory. */
struct nt_list_parser *nt_list_parser_new(enum nt_service service, const char *folder, nt_folder_take *take,
                                          void *context);
void nt_list_parser_free(struct nt_list_parser *list); /* accepts NULL */

/* A piece of it; `is_last` with or without bytes. False where it is no such list: see below. */
bool nt_list_parser_feed(struct nt_list_parser *list, const char *bytes, size_t count, bool is_last);
const char *nt_list_parser_problem(const struct nt_list_parser *list);

/* Of an answer that was taken whole: whether it tells that there is such a folder. */
bool nt_list_parser_is_there(const struct nt_list_parser *list);
/* What the rest is asked for with; NULL: that was all. "": the server did not say. */
const char *nt_list_parser_token(const struct nt_list_parser *list);

#endif
