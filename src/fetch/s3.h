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

/* Sign a request, with Signature Version 4, where there is a key: it is found anew each time. False without memory. */
bool nt_s3_sign(CURL *easy, struct curl_slist **headers);

#endif
