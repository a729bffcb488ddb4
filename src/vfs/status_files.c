/* SPDX-License-Identifier: MIT
 *
 * The files of .ntuplefs, the status directory of a mount: version, statistics and errors. They change
 * while the mount runs, so each open generates them again.
 */
#include "vfs/vfs.h"

#include <ntuple/version.h>

#include <gnu/libc-version.h>

static void add_fetch_sandbox(struct nt_json *json, struct nt_fetcher *fetcher)
{
    struct nt_helper_sandbox sandbox;
    char *rest = sandbox.parts, *name;
    nt_helper_sandbox(fetcher, &sandbox);
    nt_json_member_array(json, "fetch_sandbox");
    while ((name = strsep(&rest, " ")))
        if (*name)
            nt_json_string(json, name);
    nt_json_end_array(json);
}

static enum nt_status version(const struct nt_resolved_node *resolved, struct nt_buffer *out,
                              struct nt_error *error)
{
    struct nt_json json;
    nt_json_document(&json, out, "version");
    nt_json_member_string(&json, "ntuplefs", nt_version());
    nt_json_member_string(&json, "compiler", __VERSION__);
    nt_json_member_string(&json, "libc", gnu_get_libc_version());
    nt_json_member_string(&json, "deflate", nt_deflate_library());
    nt_json_member_array(&json, "formats");
    for (size_t i = 0; nt_formats[i] && nt_formats[i]->name; i++)
        nt_json_string(&json, nt_formats[i]->name);
    nt_json_end_array(&json);
    nt_json_member_array(&json, "sandbox");
    for (size_t i = 0; resolved->vfs->options.sandbox && resolved->vfs->options.sandbox[i]; i++)
        nt_json_string(&json, resolved->vfs->options.sandbox[i]);
    nt_json_end_array(&json);
    if (resolved->vfs->options.open.fetcher)
        add_fetch_sandbox(&json, resolved->vfs->options.open.fetcher);
    nt_json_finish(&json);
    return NT_OK;
}

enum { STATS_BYTES = 8192 }; /* exceeds all counters with 20 digits each */

/* Counters grow between stat() and read. Padding with spaces keeps the size constant. */
static void fill_up(struct nt_buffer *out)
{
    if (out->failed)
        return;
    out->length--; /* the newline */
    while (out->length < STATS_BYTES - 1 && !out->failed)
        nt_buffer_append_byte(out, ' ');
    nt_buffer_append_byte(out, '\n');
}

static enum nt_status stats(const struct nt_resolved_node *resolved, struct nt_buffer *out,
                            struct nt_error *error)
{
    struct nt_vfs *vfs = resolved->vfs;
    struct nt_fetcher *fetcher = vfs->options.open.fetcher;
    struct nt_json json;
    const char *name;
    uint64_t value;
    nt_json_document(&json, out, "stats");
    for (uint32_t i = 0; nt_reader_counter(vfs->reader, i, &name, &value); i++)
        nt_json_member_unsigned(&json, name, value);
    for (uint32_t i = 0; nt_generated_counter(vfs->generated, i, &name, &value); i++)
        nt_json_member_unsigned(&json, name, value);
    for (uint32_t i = 0; fetcher && nt_fetch_counter(fetcher, i, &name, &value); i++)
        nt_json_member_unsigned(&json, name, value);
    nt_json_finish(&json);
    fill_up(out);
    return NT_OK;
}

static enum nt_status errors(const struct nt_resolved_node *resolved, struct nt_buffer *out,
                             struct nt_error *error)
{
    nt_error_log_write(resolved->vfs->error_log, out);
    return NT_OK;
}

static const struct nt_pseudo_file rows[] = {
    {"version.json", NT_VFS_GENERATED, .generate = version},
    {"stats.json", NT_VFS_GENERATED, .generate = stats},
    {"errors.jsonl", NT_VFS_GENERATED, .is_private = true, .generate = errors},
};

const struct nt_pseudo_table nt_mount_files = {rows, sizeof(rows) / sizeof(rows[0])};
