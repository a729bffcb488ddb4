/* SPDX-License-Identifier: MIT
 *
 * The user's configuration: empty, until a test changes it.
 */
#pragma once

#include <stdlib.h>

static inline void forget(void)
{
    static const char *const variables[] = {"AWS_ACCESS_KEY_ID",   "AWS_SECRET_ACCESS_KEY",
                                            "AWS_SESSION_TOKEN",   "AWS_REGION",
                                            "AWS_DEFAULT_REGION",  "AWS_ENDPOINT_URL",
                                            "AWS_ENDPOINT_URL_S3", "AWS_PROFILE",
                                            "AWS_CONFIG_FILE",     "AWS_SHARED_CREDENTIALS_FILE",
                                            "S3_ACCESS_KEY",       "S3_SECRET_KEY",
                                            "S3_REGION",           "NETRC",
                                            "AWS_ROLE_ARN",        "AWS_EC2_METADATA_SERVICE_ENDPOINT"};
    for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
        unsetenv(variables[i]);
    setenv("HOME", "/nonexistent", 1);
    setenv("no_proxy", "*", 1);
}
