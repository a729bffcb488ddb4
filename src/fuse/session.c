/* SPDX-License-Identifier: MIT
 *
 * In: the settings of a mount. Out: a session of libfuse that knows them, and no device yet.
 */
#include "core/base/buffer.h"
#include "fuse/operations.h"

/* A value within libfuse's list of options: commas and backslashes are not ends. */
static void append_escaped(struct nt_buffer *options, const char *value)
{
    for (; *value; value++) {
        if (*value == ',' || *value == '\\')
            nt_buffer_byte(options, '\\');
        nt_buffer_byte(options, *value);
    }
}

static void append_options(struct nt_buffer *options, const struct nt_mount_settings *settings)
{
    nt_buffer_text(options, "ro,fsname=");
    append_escaped(options, settings->source);
    nt_buffer_text(options, ",subtype=");
    append_escaped(options, settings->subtype);
    if (settings->allow_other)
        nt_buffer_text(options, ",allow_other,default_permissions");
    if (settings->auto_unmount)
        nt_buffer_text(options, ",auto_unmount");
    if (settings->options && *settings->options)
        nt_buffer_format(options, ",%s", settings->options);
}

enum nt_status nt_session_new(const struct nt_mount_settings *settings,
                              const struct fuse_lowlevel_ops *operations, void *userdata,
                              struct fuse_session **session_ret, struct nt_error *error)
{
    struct nt_buffer options = {0};
    append_options(&options, settings);
    if (options.failed)
        return nt_fail_memory(error);
    const char *values[] = {settings->program, "-o", options.bytes, "-d"};
    struct fuse_args arguments = FUSE_ARGS_INIT(settings->is_debugging ? 4 : 3, (char **)values);
    *session_ret = fuse_session_new(&arguments, operations, sizeof(*operations), userdata);
    fuse_opt_free_args(&arguments);
    nt_buffer_deinit(&options);
    return *session_ret ? NT_OK
                        : nt_fail(error, NT_INVALID, NT_NO_OFFSET, "libfuse refused the mount options");
}
