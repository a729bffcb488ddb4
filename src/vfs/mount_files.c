/* SPDX-License-Identifier: MIT
 *
 * .ntuplefs: the daemon itself. Its files change while it runs, so they are streamed: made whole when reading
 * starts.
 */
#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>

#include <ntuple/version.h>

#include "vfs/documents.h"
#include "vfs/failures.h"

/* A text that is made in one piece. */
struct whole {
    struct nt_text_stream stream;
    struct nt_vfs *vfs;
    void (*write)(struct nt_vfs *vfs, struct nt_buffer *out);
};

static enum nt_status next(struct nt_text_stream *stream, struct nt_buffer *out, bool *more_ret,
                           struct nt_error *error)
{
    struct whole *whole = (struct whole *)stream;
    (void)error;
    whole->write(whole->vfs, out);
    *more_ret = false;
    return NT_OK;
}

static void free_whole(struct nt_text_stream *stream)
{
    free(stream);
}

static enum nt_status open_whole(struct nt_vfs *vfs, void (*write)(struct nt_vfs *, struct nt_buffer *),
                                 struct nt_text_stream **stream_ret, struct nt_error *error)
{
    struct whole *whole = calloc(1, sizeof(*whole));
    if (!whole)
        return nt_fail_memory(error);
    *whole = (struct whole){{next, free_whole}, vfs, write};
    *stream_ret = &whole->stream;
    return NT_OK;
}

/* ---- version.json ---- */

static void write_version(struct nt_vfs *vfs, struct nt_buffer *out)
{
    struct nt_json json;
    (void)vfs;
    nt_json_document(&json, out, "version");
    nt_json_member_string(&json, "ntuplefs", NTUPLE_VERSION);
    nt_json_member_string(&json, "compiler", __VERSION__);
    nt_json_member_string(&json, "libc", gnu_get_libc_version());
    nt_json_key(&json, "formats");
    nt_json_array(&json);
    for (size_t i = 0; nt_formats[i] && nt_formats[i]->name; i++)
        nt_json_string(&json, nt_formats[i]->name);
    nt_json_end_array(&json);
    nt_json_finish(&json);
}

static enum nt_status version(const struct nt_scope *scope, struct nt_text_stream **stream_ret,
                              struct nt_error *error)
{
    return open_whole(scope->vfs, write_version, stream_ret, error);
}

/* ---- stats.json ---- */

struct counter {
    const char *name;
    size_t offset; /* of a uint64_t in struct nt_reader_counters */
};

#define COUNTER(name)                                                                                        \
    {                                                                                                        \
#name, offsetof(struct nt_reader_counters, name)                                                     \
    }

static const struct counter counters[] = {
    COUNTER(reads),
    COUNTER(bytes),
    COUNTER(cache_hits),
    COUNTER(cache_misses),
    COUNTER(cache_waits),
    COUNTER(cache_bytes),
    COUNTER(cache_pages),
    COUNTER(cache_evictions),
    COUNTER(pages_decoded),
    COUNTER(decoded_bytes),
    COUNTER(stored_bytes),
    COUNTER(read_nanoseconds),
    COUNTER(checksum_nanoseconds),
    COUNTER(decompress_nanoseconds),
    COUNTER(decode_nanoseconds),
    COUNTER(pages_direct),
    COUNTER(pages_ahead),
    COUNTER(parts_decoded),
    COUNTER(failures),
    COUNTER(failures_remembered),
};

/* "codec_old_zlib_pages" and so on: algorithms' names have hyphens, keys do not. */
static void put_algorithm(struct nt_json *json, const char *name, const char *what, uint64_t value)
{
    char key[64];
    snprintf(key, sizeof(key), "codec_%s_%s", name, what);
    for (char *at = key; *at; at++)
        *at = *at == '-' ? '_' : *at;
    nt_json_member_unsigned(json, key, value);
}

static void put_algorithms(struct nt_json *json, const struct nt_reader_counters *values)
{
    for (unsigned i = 0; i < NT_READER_ALGORITHMS; i++) {
        const char *name = nt_reader_algorithm_name(i);
        put_algorithm(json, name, "pages", values->algorithms[i].pages);
        put_algorithm(json, name, "stored_bytes", values->algorithms[i].stored_bytes);
        put_algorithm(json, name, "packed_bytes", values->algorithms[i].packed_bytes);
        put_algorithm(json, name, "nanoseconds", values->algorithms[i].nanoseconds);
    }
}

static void write_stats(struct nt_vfs *vfs, struct nt_buffer *out)
{
    struct nt_reader_counters values = {0};
    struct nt_json json;
    nt_reader_counters(vfs->reader, &values);
    nt_json_document(&json, out, "stats");
    for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
        nt_json_member_unsigned(&json, counters[i].name,
                                *(const uint64_t *)((const char *)&values + counters[i].offset));
    put_algorithms(&json, &values);
    nt_json_finish(&json);
}

static enum nt_status stats(const struct nt_scope *scope, struct nt_text_stream **stream_ret,
                            struct nt_error *error)
{
    return open_whole(scope->vfs, write_stats, stream_ret, error);
}

/* ---- errors.jsonl ---- */

static void write_errors(struct nt_vfs *vfs, struct nt_buffer *out)
{
    nt_failures_write(vfs->failures, out);
}

static enum nt_status errors(const struct nt_scope *scope, struct nt_text_stream **stream_ret,
                             struct nt_error *error)
{
    return open_whole(scope->vfs, write_errors, stream_ret, error);
}

/* ---- the table ---- */

static const struct nt_pseudo rows[] = {
    {"version.json", NT_VFS_STREAMED, .stream = version},
    {"stats.json", NT_VFS_STREAMED, .stream = stats},
    {"errors.jsonl", NT_VFS_STREAMED, .stream = errors},
};

const struct nt_pseudo_table nt_mount_files = {rows, sizeof(rows) / sizeof(rows[0])};

static const struct nt_section *const sections[] = {&nt_section_files, NULL};

const struct nt_pseudo nt_mount_directory = {".ntuplefs", NT_VFS_DIRECTORY, .sections = sections};
