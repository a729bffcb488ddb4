/* SPDX-License-Identifier: MIT
 *
 * In: what libraries that talk to servers need of the system. Out: a process that can do nothing else. What servers send is read by
 * them: they may read what names and certificates of others need, and write nothing.
 */
#include "remote/helper/confine.h"

#include <stdio.h>
#include <string.h>

#include "remote/helper/environment.h"
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
                                            "/dev/null"};
/* Certificates of others, and how libraries are set up. What is the user's own comes as a copy (credential_files.h). */
static const char *const below_home[] = {"/.globus/certificates", "/.xrootd"};
static const char *const named[] = {"X509_CERT_DIR", "X509_VOMS_DIR", "SSL_CERT_DIR", "KRB5_CONFIG",
                                    "XRD_PLUGINCONFDIR"};

enum {
    SYSTEM_PLACES = sizeof(system_places) / sizeof(*system_places),
    BELOW_HOME = sizeof(below_home) / sizeof(*below_home),
    NAMED = sizeof(named) / sizeof(*named),
    MOST_PLACES = 1 + SYSTEM_PLACES + NAMED + BELOW_HOME
};

static void enter(struct nt_sandbox *sandbox, const char *module)
{
    char paths[BELOW_HOME][4096];
    struct nt_sandbox_place places[MOST_PLACES] = {{.path = module}};
    const char *home = nt_environment("HOME");
    size_t count = 1;
    for (size_t i = 0; i < SYSTEM_PLACES; i++)
        places[count++].path = system_places[i];
    for (size_t i = 0; i < NAMED; i++)
        if (nt_environment(named[i]))
            places[count++].path = nt_environment(named[i]);
    for (size_t i = 0; home && i < BELOW_HOME; i++) {
        snprintf(paths[i], sizeof(paths[i]), "%s%s", home, below_home[i]);
        places[count++].path = paths[i];
    }
    nt_sandbox_enter(sandbox, &(struct nt_sandbox_rules){.places = places,
                                                         .place_count = count,
                                                         .uses = NT_SANDBOX_OPENS | NT_SANDBOX_CONNECTS |
                                                                 NT_SANDBOX_LOADS});
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
