/* SPDX-License-Identifier: MIT
 *
 * Replaces S3 in a build without it: refuses addresses of objects.
 */
#include "remote/helper/helper.h"

static const char reason[] = "S3 is not built in (-Ds3=enabled)";

const char *nt_s3_find(struct nt_s3 *s3)
{
    *s3 = (struct nt_s3){.key = ""};
    return reason;
}

char *nt_s3_url(const char *name, const char **problem_ret)
{
    *problem_ret = reason;
    return NULL;
}

char *nt_s3_list_url(const char *name, const char *prefix, const char *token, const char **problem_ret)
{
    return nt_s3_url(name, problem_ret);
}

const char *nt_s3_hint(void)
{
    return "";
}

/* Signs nothing: an object store (ntpl+s3+https://) is read anonymously. */
const char *nt_s3_sign(CURL *easy, struct curl_slist **headers)
{
    return NULL;
}
