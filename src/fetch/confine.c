/* SPDX-License-Identifier: MIT
 *
 * In: what libraries that talk to servers need of the system. Out: a process that can do nothing else. What servers send is read by
 * them: they may read what names, credentials and certificates need, and write nothing.
 */
#include "fetch/confine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fetch/credentials.h"
#include "fetch/environment.h"
#include "sandbox/sandbox.h"

/* Names are resolved and authorities are found by files of the system, some of them by libraries there. */
static const char *const system_places[] = {"/etc",
                                            "/usr",
                                            "/lib",
                                            "/lib64",
                                            "/run/systemd/resolve",
                                            "/var/lib/ca-certificates",
                                            "/var/lib/sss/pubconf",
                                            "/dev/urandom",
                                            "/dev/null",
                                            "/tmp"};
static const char *const below_home[] = {"/.netrc", "/.aws", "/.globus", "/.xrootd", "/.xrd"};

enum {
    SYSTEM_PLACES = sizeof(system_places) / sizeof(*system_places),
    BELOW_HOME = sizeof(below_home) / sizeof(*below_home),
    MOST_PLACES = 1 + SYSTEM_PLACES + NT_CREDENTIAL_PLACES + BELOW_HOME
};

static void enter(struct nt_sandbox *sandbox, const char *module)
{
    char *credentials[NT_CREDENTIAL_PLACES], paths[BELOW_HOME][4096];
    struct nt_sandbox_place places[MOST_PLACES] = {{.path = module}};
    const char *home = nt_environment("HOME");
    size_t count = 1, found = nt_credentials_places(credentials);
    for (size_t i = 0; i < SYSTEM_PLACES; i++)
        places[count++].path = system_places[i];
    for (size_t i = 0; i < found; i++)
        places[count++].path = credentials[i];
    for (size_t i = 0; home && i < BELOW_HOME; i++) {
        snprintf(paths[i], sizeof(paths[i]), "%s%s", home, below_home[i]);
        places[count++].path = paths[i];
    }
    nt_sandbox_enter(sandbox, &(struct nt_sandbox_rules){.places = places,
                                                         .place_count = count,
                                                         .uses = NT_SANDBOX_OPENS | NT_SANDBOX_CONNECTS |
                                                                 NT_SANDBOX_LOADS});
    while (found > 0)
        free(credentials[--found]);
}

void nt_fetch_confine(struct nt_fetch_sandbox *told_ret, const char *module)
{
    struct nt_sandbox sandbox;
    size_t length = 0;
    *told_ret = (struct nt_fetch_sandbox){0};
    enter(&sandbox, module);
    for (size_t i = 0; sandbox.parts[i]; i++)
        length += (size_t)snprintf(told_ret->parts + length, sizeof(told_ret->parts) - length, "%s%s",
                                   length ? " " : "", sandbox.parts[i]);
    snprintf(told_ret->missing, sizeof(told_ret->missing), "%s", sandbox.missing);
}
