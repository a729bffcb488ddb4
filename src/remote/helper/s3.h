/* SPDX-License-Identifier: MIT
 *
 * Objects in buckets: what their users have configured, where an object is, and requests that are signed.
 */
#ifndef NT_FETCH_S3_H
#define NT_FETCH_S3_H

#include <curl/curl.h>
#include <stdbool.h>

/* What is configured; "": nothing. */
struct nt_s3 {
    char endpoint[1024], region[64], key[256], secret[256], token[8192];
};

/* As the environment has it, else the files of AWS's tools. NULL, or what is wrong with it. */
const char *nt_s3_find(struct nt_s3 *s3);

/* Where BUCKET/KEY is, from malloc; else NULL, and what is wrong. A key is as it is called, not percent-encoded. */
char *nt_s3_url(const char *name, const char **problem_ret);

/* What is asked for the keys in BUCKET or BUCKET/FOLDER that follow a token ("": for the first ones), up to the next slash (ListObjectsV2); what they
 * all begin with, "" or with a slash at its end. From malloc; NULL likewise, of the second without memory. */
char *nt_s3_list_url(const char *name, const char *token, const char **problem_ret);
char *nt_s3_prefix(const char *name);

/* Sign a request, with Signature Version 4, where there is a key: it is found anew each time. False without memory. */
bool nt_s3_sign(CURL *easy, struct curl_slist **headers);

#endif
