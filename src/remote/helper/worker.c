/* SPDX-License-Identifier: MIT
 *
 * In: a socket. Out: answers on it. One thread, which waits for the socket and for servers alike, and for neither alone.
 */
#include "remote/helper/worker.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "remote/helper/confine.h"
#include "remote/helper/credential_files.h"
#include "remote/helper/credentials.h"
#include "remote/helper/files.h"
#include "remote/helper/web.h"
#include "remote/helper/xrootd.h"

enum { PACKETS_AT_ONCE = 64 };

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
        nt_transfers_continue(&files->jobs);
}

void nt_fetch_work(int channel, uint64_t epoch, int credentials, const struct nt_rules *rules)
{
    struct nt_files files = {.rules = *rules};
    struct nt_xrootd xrootd;
    struct nt_web web;
    struct nt_fetch_sandbox sandbox;
    char module[NT_MODULE_PATH_BYTES];
    nt_xrootd_find_module(module);
    nt_credentials_begin(credentials);
    nt_credentials_keep_certificate(rules->keeps_certificate);
    nt_fetch_confine(&sandbox, module);
    nt_transfers_init(&files.jobs);
    if (!nt_xrootd_init(&xrootd, &files.jobs, module) || !nt_web_init(&web, &files.jobs))
        _exit(1);
    nt_output_init(&files.output, channel, epoch, &files.jobs.totals);
    files.listings = (struct nt_listings){.jobs = &files.jobs, .output = &files.output};
    nt_output_put(&files.output, (struct nt_fetch_answer){.kind = NT_FETCH_HELLO}, &sandbox, sizeof(sandbox));
    for (;;) {
        uint64_t wait = nt_transfers_work(&files.jobs);
        short output = files.output.first ? CURL_WAIT_POLLOUT : 0;
        struct curl_waitfd events[] = {
            {.fd = channel, .events = CURL_WAIT_POLLIN | output},
            {.fd = nt_xrootd_event(&xrootd), .events = CURL_WAIT_POLLIN},
        };
        nt_web_wait(&web, events, 2, wait);
        for (int i = 0; i < PACKETS_AT_ONCE && take_packet(&files); i++)
            ;
        flush(&files);
    }
}
