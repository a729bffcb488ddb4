/* SPDX-License-Identifier: MIT
 *
 * In: the options of ntuplefs. Out: what both of its processes are told.
 */
#include "cli/program.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/io/remote.h"

enum nt_exit_status nt_program_fail(struct nt_program *program, enum nt_exit_status status,
                                    const struct nt_error *error)
{
    nt_log_line(&program->log, error->message);
    return status;
}

/* A path as it is seen from everywhere; a pattern leads to no file. */
static void append_absolute(struct nt_buffer *text, const char *source)
{
    bool is_path = !nt_is_address(source);
    char *path = is_path ? realpath(source, NULL) : NULL,
         *folder = is_path && !path && source[0] != '/' ? getcwd(NULL, 0) : NULL;
    if (!path)
        path = nt_address_shown(source);
    if (folder)
        nt_buffer_format(text, "%s%s", folder, strcmp(folder, "/") ? "/" : "");
    nt_buffer_text(text, path ? path : "");
    free(folder);
    free(path);
}

/* What mount(8) shows: the first source, and how many more there are. */
static void set_source_text(struct nt_program *program)
{
    struct nt_buffer *text = &program->source_text;
    append_absolute(text, program->sources[0]);
    if (program->source_count > 1)
        nt_buffer_format(text, " and %zu more", program->source_count - 1);
}

/* Requests that are served at once. Slow decoding must not keep metadata waiting, and neither must a slow server. */
static unsigned request_threads(const struct nt_settings *settings)
{
    enum { FEWEST = 4, FEWEST_REMOTE = 16 };
    unsigned fewest = settings->fetcher ? FEWEST_REMOTE : FEWEST;
    unsigned threads = settings->threads ? settings->threads : nt_processors();
    return threads > fewest ? threads : fewest;
}

struct nt_memory nt_memory_of(const struct nt_settings *settings)
{
    return nt_memory_share(settings->cache_bytes, request_threads(settings));
}

/* As both processes tell libfuse. */
static struct nt_mount_settings mount_settings(const struct nt_program *program)
{
    enum { FEWEST_READS_AHEAD = 2 }; /* slow decoding must not keep a reader's own next read waiting */
    const struct nt_settings *settings = &program->settings;
    unsigned threads = settings->threads ? settings->threads : nt_processors();
    return (struct nt_mount_settings){
        .program = NT_PROGRAM,
        .mountpoint = program->mountpoint_argument,
        .source = settings->fsname ? settings->fsname : program->source_text.bytes,
        .subtype = settings->subtype ? settings->subtype : NT_PROGRAM,
        .options = settings->passed.bytes,
        .allow_other = settings->allow_other,
        .auto_unmount = settings->auto_unmount,
        .is_debugging = settings->debug,
        .is_single_threaded = settings->single_threaded,
        .threads = request_threads(settings),
        .reply_bytes = nt_memory_of(settings).reply_bytes,
        .reads_ahead = threads > FEWEST_READS_AHEAD ? threads : FEWEST_READS_AHEAD,
        .direct_io = settings->direct_io,
        .idle_seconds = settings->idle_seconds,
    };
}

enum nt_status nt_program_prepare(struct nt_program *program, struct nt_error *error)
{
    set_source_text(program);
    if (program->source_text.failed || program->settings.passed.failed)
        return nt_fail_memory(error);
    program->mount_settings = mount_settings(program);
    return nt_index_file_init(&program->index, program->settings.index, error);
}
