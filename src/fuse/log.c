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

#include "base/text.h"

static void put_line(struct nt_log *log, int level, const char *line)
{
    struct nt_buffer text = {0};
    nt_append_printable(&text, line, strlen(line));
    if (text.failed || !text.bytes)
        goto out;
    if (atomic_load(&log->to_syslog))
        syslog(level, "%s", text.bytes);
    else
        fprintf(stderr, "%s: %s\n", log->program, text.bytes);
out:
    nt_buffer_deinit(&text);
}

void nt_log_line(struct nt_log *log, const char *line)
{
    put_line(log, LOG_ERR, line);
}

void nt_log_note(struct nt_log *log, const char *line)
{
    put_line(log, LOG_INFO, line);
}

__attribute__((format(printf, 2, 0))) static void libfuse_to_syslog(enum fuse_log_level level,
                                                                    const char *format, va_list arguments)
{
    vsyslog((int)level, format, arguments); /* the levels are syslog's */
}

void nt_log_to_syslog(struct nt_log *log)
{
    openlog(log->program, LOG_PID, LOG_DAEMON);
    fuse_set_log_func(libfuse_to_syslog);
    atomic_store(&log->to_syslog, true);
}
