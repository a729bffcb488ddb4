/* SPDX-License-Identifier: MIT
 *
 * In: lines that may hold names from files, so any bytes. Out: one printable line each on stderr or in
 * syslog.
 */
#include "fuse/background.h"

#include <fuse_log.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>

#include "core/base/text.h"

void nt_log_put(struct nt_log *log, int level, const char *line)
{
    if (log->channel != NT_NO_CHANNEL) {
        nt_channel_send_line(log->channel, level, line);
        return;
    }
    struct nt_buffer text = {0};
    nt_append_printable(&text, line, strlen(line));
    if (text.failed || !text.bytes)
        goto out;
    if (log->to_syslog)
        syslog(level, "%s", text.bytes);
    else
        fprintf(stderr, "%s: %s\n", log->program, text.bytes);
out:
    nt_buffer_deinit(&text);
}

void nt_log_line(struct nt_log *log, const char *line)
{
    nt_log_put(log, LOG_ERR, line);
}

void nt_log_note(struct nt_log *log, const char *line)
{
    nt_log_put(log, LOG_INFO, line);
}

void nt_log_to_syslog(struct nt_log *log)
{
    openlog(log->program, LOG_PID, LOG_DAEMON);
    log->to_syslog = true;
}

/* libfuse calls its function without anything of the caller's. */
static int libfuse_channel = NT_NO_CHANNEL;

__attribute__((format(printf, 2, 0))) static void libfuse_to_channel(enum fuse_log_level level,
                                                                     const char *format, va_list arguments)
{
    char line[1024];
    vsnprintf(line, sizeof(line), format, arguments);
    line[strcspn(line, "\n")] = '\0';
    nt_channel_send_line(libfuse_channel, (int)level, line); /* the levels are syslog's */
}

void nt_log_to_channel(struct nt_log *log, int channel)
{
    log->channel = libfuse_channel = channel;
    fuse_set_log_func(libfuse_to_channel);
}
