/* SPDX-License-Identifier: MIT
 *
 * Worker process of the helper: enters its sandbox, then runs a single-threaded event loop over the
 * client socket and all server connections.
 */
#include "remote/helper/helper.h"

#include <unistd.h>

#include "sandbox/sandbox.h"

/* ---- Sandbox ---- */

/* The system's files, and some of its libraries, resolve names and find certificate authorities. */
static const char *const system_paths[] = {"/etc",
                                           "/usr",
                                           "/lib",
                                           "/lib64",
                                           "/run/systemd/resolve",
                                           "/var/lib/ca-certificates",
                                           "/var/lib/sss/pubconf",
                                           "/dev/urandom",
                                           "/dev/null"};
/* Other certificates, and library settings. The user's own credentials are copies (credentials.c). */
static const char *const below_home[] = {"/.globus/certificates", "/.xrootd"};
static const char *const named[] = {"X509_CERT_DIR", "X509_VOMS_DIR", "SSL_CERT_DIR", "KRB5_CONFIG",
                                    "XRD_PLUGINCONFDIR"};

enum {
    SYSTEM_PATHS = sizeof(system_paths) / sizeof(*system_paths),
    BELOW_HOME = sizeof(below_home) / sizeof(*below_home),
    NAMED = sizeof(named) / sizeof(*named),
    MAX_PATHS = 1 + SYSTEM_PATHS + NAMED + BELOW_HOME
};

static void enter(struct nt_sandbox *sandbox, const char *module)
{
    char paths[BELOW_HOME][4096];
    struct nt_sandbox_path rules[MAX_PATHS] = {{.path = module}};
    const char *home = nt_environment("HOME");
    size_t count = 1;
    for (size_t i = 0; i < SYSTEM_PATHS; i++)
        rules[count++].path = system_paths[i];
    for (size_t i = 0; i < NAMED; i++)
        if (nt_environment(named[i]))
            rules[count++].path = nt_environment(named[i]);
    for (size_t i = 0; home && i < BELOW_HOME; i++) {
        snprintf(paths[i], sizeof(paths[i]), "%s%s", home, below_home[i]);
        rules[count++].path = paths[i];
    }
    nt_sandbox_enter(sandbox, &(struct nt_sandbox_rules){.paths = rules,
                                                         .path_count = count,
                                                         .uses = NT_SANDBOX_OPENS | NT_SANDBOX_CONNECTS |
                                                                 NT_SANDBOX_LOADS});
}

/* Call before requests to servers, and before threads. `module`: a file that may be loaded later. */
static void fetch_confine(struct nt_helper_sandbox *reported_ret, const char *module)
{
    struct nt_sandbox sandbox;
    size_t length = 0;
    *reported_ret = (struct nt_helper_sandbox){0};
    enter(&sandbox, module);
    for (size_t i = 0; sandbox.parts[i]; i++)
        length += (size_t)snprintf(reported_ret->parts + length, sizeof(reported_ret->parts) - length, "%s%s",
                                   length ? " " : "", sandbox.parts[i]);
    snprintf(reported_ret->missing, sizeof(reported_ret->missing), "%s", sandbox.missing);
}

/* ---- Event loop ---- */

enum { PACKETS_AT_ONCE = 64 };

/* False if there is no more packet now. Exits if the client is gone. */
static bool take_packet(struct nt_helper_session *files)
{
    struct nt_fetch_request request;
    char packet[sizeof(request) + NT_FETCH_TEXT_BYTES];
    ssize_t count = recv(files->output.channel, packet, sizeof(packet), MSG_DONTWAIT);
    if (count < 0)
        return errno == EINTR;
    if (count == 0)
        _exit(0);
    if (count < (ssize_t)sizeof(request))
        return true;
    memcpy(&request, packet, sizeof(request));
    if (request.epoch == files->output.epoch)
        nt_helper_session_handle(files, &request, packet + sizeof(request), (size_t)count - sizeof(request));
    return true;
}

static void flush(struct nt_helper_session *files)
{
    nt_reply_queue_flush(&files->output);
    if (!nt_reply_queue_is_full(&files->output))
        nt_transfers_continue(&files->jobs);
}

void nt_helper_run(int channel, uint64_t epoch, int credentials, const struct nt_allow_list *rules)
{
    struct nt_helper_session files = {.rules = *rules};
    struct nt_xrootd xrootd;
    struct nt_http_backend web;
    struct nt_helper_sandbox sandbox;
    char module[NT_MODULE_PATH_BYTES];
    nt_xrootd_find_module(module);
    nt_credentials_begin(credentials);
    nt_credentials_keep_certificate(rules->keeps_certificate);
    fetch_confine(&sandbox, module);
    nt_transfers_init(&files.jobs);
    if (!nt_xrootd_init(&xrootd, &files.jobs, module) || !nt_http_backend_init(&web, &files.jobs))
        _exit(0); /* another worker could not begin, either */
    nt_reply_queue_init(&files.output, channel, epoch, &files.jobs.totals);
    nt_reply_queue_add(&files.output, (struct nt_fetch_answer){.kind = NT_FETCH_HELLO}, &sandbox,
                       sizeof(sandbox));
    for (;;) {
        uint64_t wait = nt_transfers_work(&files.jobs);
        short output = STAILQ_EMPTY(&files.output.waiting) ? 0 : CURL_WAIT_POLLOUT;
        struct curl_waitfd events[] = {
            {.fd = channel, .events = CURL_WAIT_POLLIN | output},
            {.fd = xrootd.queue.event, .events = CURL_WAIT_POLLIN},
        };
        curl_multi_poll(web.multi, events, 2, (int)wait, NULL);
        for (int i = 0; i < PACKETS_AT_ONCE && take_packet(&files); i++)
            ;
        flush(&files);
    }
}
