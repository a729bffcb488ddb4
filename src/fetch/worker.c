/* SPDX-License-Identifier: MIT
 *
 * In: a socket. Out: answers on it. One thread, which waits for the socket and for servers alike, and for neither alone.
 *
 * What servers send is read by libcurl and its libraries: they may read what credentials and certificates need, and write nothing.
 */
#include "fetch/worker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fetch/credentials.h"
#include "fetch/environment.h"
#include "fetch/files.h"
#include "fetch/web.h"
#include "sandbox/sandbox.h"

enum { PACKETS_AT_ONCE = 64 };

/* Names are resolved and authorities are found by files of the system. */
static const char *const system_places[] = {
    "/etc",         "/usr",      "/lib", "/lib64", "/run/systemd/resolve", "/var/lib/ca-certificates",
    "/dev/urandom", "/dev/null", "/tmp"};

static void confine(void)
{
    enum { SYSTEM_PLACES = sizeof(system_places) / sizeof(*system_places) };
    char *credentials[NT_CREDENTIAL_PLACES];
    static const char *const below_home[] = {"/.netrc", "/.aws"};
    enum { BELOW_HOME = sizeof(below_home) / sizeof(*below_home) };
    struct nt_sandbox_place places[SYSTEM_PLACES + NT_CREDENTIAL_PLACES + BELOW_HOME] = {0};
    struct nt_sandbox sandbox;
    char paths[BELOW_HOME][4096];
    const char *home = nt_environment("HOME");
    size_t count = 0, found = nt_credentials_places(credentials);
    for (size_t i = 0; i < SYSTEM_PLACES; i++)
        places[count++].path = system_places[i];
    for (size_t i = 0; i < found; i++)
        places[count++].path = credentials[i];
    for (size_t i = 0; home && i < BELOW_HOME; i++) {
        snprintf(paths[i], sizeof(paths[i]), "%s%s", home, below_home[i]);
        places[count++].path = paths[i];
    }
    nt_sandbox_enter(&sandbox, &(struct nt_sandbox_rules){places, count, NT_SANDBOX_CONNECTS});
    while (found > 0)
        free(credentials[--found]);
}

/* False where there is no other now. Who asks no more has no use for this process. */
static bool take_packet(struct nt_files *files)
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
        nt_files_take(files, &request, packet + sizeof(request), (size_t)count - sizeof(request));
    return true;
}

static void flush(struct nt_files *files)
{
    nt_output_flush(&files->output);
    if (!nt_output_is_full(&files->output))
        nt_jobs_continue(&files->jobs);
}

void nt_fetch_work(int channel, uint32_t epoch)
{
    struct nt_files files = {.count = 0};
    struct nt_web web;
    confine();
    nt_jobs_init(&files.jobs);
    if (!nt_web_init(&web, &files.jobs))
        _exit(1);
    nt_output_init(&files.output, channel, epoch, &files.jobs.totals);
    nt_output_put(&files.output, (struct nt_fetch_answer){.kind = NT_FETCH_HELLO}, NULL, 0);
    for (;;) {
        uint64_t wait = nt_jobs_work(&files.jobs);
        struct curl_waitfd event = {
            .fd = channel, .events = CURL_WAIT_POLLIN | (files.output.first ? CURL_WAIT_POLLOUT : 0)};
        nt_web_wait(&web, &event, 1, wait);
        for (int i = 0; i < PACKETS_AT_ONCE && take_packet(&files); i++)
            ;
        flush(&files);
    }
}
