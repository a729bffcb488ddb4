/* SPDX-License-Identifier: MIT
 *
 * .ntuplefs: the daemon itself. Its files change while it runs, so they are unsized: made whole when reading
 * starts.
 */
#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>

#include <ntuple/version.h>

#include "format/format.h"
#include "vfs/documents.h"
#include "vfs/failures.h"

/* A text that is made in one piece. */
struct whole {
    struct nt_long_text text;
    struct nt_vfs *vfs;
    void (*write)(struct nt_vfs *vfs, struct nt_buffer *out);
};

static enum nt_status next(struct nt_long_text *text, struct nt_buffer *out, bool *more_ret,
                           struct nt_error *error)
{
    struct whole *whole = (struct whole *)text;
    (void)error;
    whole->write(whole->vfs, out);
    *more_ret = false;
    return NT_OK;
}

static void free_whole(struct nt_long_text *text)
{
    free(text);
}

static enum nt_status open_whole(struct nt_vfs *vfs, void (*write)(struct nt_vfs *, struct nt_buffer *),
                                 struct nt_long_text **text_ret, struct nt_error *error)
{
    struct whole *whole = calloc(1, sizeof(*whole));
    if (!whole)
        return nt_fail_memory(error);
    *whole = (struct whole){{.next = next, .free = free_whole}, vfs, write};
    *text_ret = &whole->text;
    return NT_OK;
}

/* ---- version.json ---- */

static void write_version(struct nt_vfs *vfs, struct nt_buffer *out)
{
    struct nt_json json;
    (void)vfs;
    nt_json_document(&json, out, "version");
    nt_json_member_string(&json, "ntuplefs", nt_version());
    nt_json_member_string(&json, "compiler", __VERSION__);
    nt_json_member_string(&json, "libc", gnu_get_libc_version());
    nt_json_member_string(&json, "deflate", nt_deflate_library());
    nt_json_key(&json, "formats");
    nt_json_array(&json);
    for (size_t i = 0; nt_formats[i] && nt_formats[i]->name; i++)
        nt_json_string(&json, nt_formats[i]->name);
    nt_json_end_array(&json);
    nt_json_finish(&json);
}

static enum nt_status version(const struct nt_scope *scope, struct nt_long_text **text_ret,
                              struct nt_error *error)
{
    return open_whole(scope->vfs, write_version, text_ret, error);
}

/* ---- stats.json ---- */

static void write_stats(struct nt_vfs *vfs, struct nt_buffer *out)
{
    struct nt_json json;
    const char *name;
    uint64_t value;
    nt_json_document(&json, out, "stats");
    for (uint32_t i = 0; nt_reader_counter(vfs->reader, i, &name, &value); i++)
        nt_json_member_unsigned(&json, name, value);
    nt_json_finish(&json);
}

static enum nt_status stats(const struct nt_scope *scope, struct nt_long_text **text_ret,
                            struct nt_error *error)
{
    return open_whole(scope->vfs, write_stats, text_ret, error);
}

/* ---- errors.jsonl ---- */

static void write_errors(struct nt_vfs *vfs, struct nt_buffer *out)
{
    nt_failures_write(vfs->failures, out);
}

static enum nt_status errors(const struct nt_scope *scope, struct nt_long_text **text_ret,
                             struct nt_error *error)
{
    return open_whole(scope->vfs, write_errors, text_ret, error);
}

/* ---- the table ---- */

static const struct nt_pseudo rows[] = {
    {"version.json", NT_VFS_UNSIZED, .open_text = version},
    {"stats.json", NT_VFS_UNSIZED, .open_text = stats},
    {"errors.jsonl", NT_VFS_UNSIZED, .is_private = true, .open_text = errors},
};

const struct nt_pseudo_table nt_mount_files = {rows, sizeof(rows) / sizeof(rows[0])};
