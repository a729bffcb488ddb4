/* SPDX-License-Identifier: MIT
 *
 * Creates the libfuse session of a mounted device, registers all request handlers, and runs the loop
 * until the unmount or a signal.
 */

#include "fuse/operations.h"

/* Appends a value to libfuse's option list. Escapes commas and backslashes, which are separators. */
static void append_escaped(struct nt_buffer *options, const char *value)
{
    for (; *value; value++) {
        if (*value == ',' || *value == '\\')
            nt_buffer_append_byte(options, '\\');
        nt_buffer_append_byte(options, *value);
    }
}

static void append_options(struct nt_buffer *options, const struct nt_mount_settings *settings)
{
    nt_buffer_append_string(options, "ro,fsname=");
    append_escaped(options, settings->source);
    nt_buffer_append_string(options, ",subtype=");
    append_escaped(options, settings->subtype);
    if (settings->allow_other)
        nt_buffer_append_string(options, ",allow_other,default_permissions");
    if (settings->auto_unmount)
        nt_buffer_append_string(options, ",auto_unmount");
    if (settings->options && *settings->options)
        nt_buffer_append_format(options, ",%s", settings->options);
}

enum nt_status nt_session_new(const struct nt_mount_settings *settings,
                              const struct fuse_lowlevel_ops *operations, void *userdata,
                              struct fuse_session **session_ret, struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer options = {0};
    append_options(&options, settings);
    NT_TRY(nt_check_memory(!options.failed, error));
    const char *values[] = {settings->program, "-o", options.bytes, "-d"};
    struct fuse_args arguments = FUSE_ARGS_INIT(settings->is_debugging ? 4 : 3, (char **)values);
    *session_ret = fuse_session_new(&arguments, operations, sizeof(*operations), userdata);
    fuse_opt_free_args(&arguments);
    return *session_ret ? NT_OK
                        : nt_fail(error, NT_INVALID, NT_NO_OFFSET, "libfuse refused the mount options");
}

/* Users accept this delay after a key press; requests that do not wait for others finish in it. */
#define NT_INTERRUPTS_PATIENCE INT64_C(250000000)

/* Releases of closed files are background requests, too. With a lower limit, programs that open and close
 * files faster than their releases arrive would leave any number of files open here. */
enum { MOST_IN_BACKGROUND = 1024 };

/* Negotiates with the kernel after it has accepted the mount. */
static void on_init(void *userdata, struct fuse_conn_info *connection)
{
    struct nt_mount *mount = userdata;
    const unsigned unwanted =
        FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE | FUSE_CAP_EXPORT_SUPPORT |
        FUSE_CAP_READDIRPLUS_AUTO; /* else READDIRPLUS comes only if a program also looks at entries */
    const unsigned requested =
        FUSE_CAP_ASYNC_READ | FUSE_CAP_PARALLEL_DIROPS | FUSE_CAP_READDIRPLUS | FUSE_CAP_AUTO_INVAL_DATA;
    connection->want = (connection->want & ~unwanted) | (requested & connection->capable);
    connection->max_readahead = 16u << 20; /* the mount's own limit applies, see mount.c */
    connection->max_background = MOST_IN_BACKGROUND;
    connection->congestion_threshold = mount->settings.reads_ahead; /* fewer would waste threads */
    mount->is_ready = true;
    if (mount->settings.on_ready)
        mount->settings.on_ready(mount->settings.context);
}

static enum nt_status begin_session(struct nt_mount *mount, int device, struct nt_error *error)
{
    struct fuse_lowlevel_ops operations = {.init = on_init};
    nt_add_node_operations(&operations);
    nt_add_file_operations(&operations);
    nt_add_directory_operations(&operations);
    nt_add_readonly_operations(&operations);
    NT_TRY(nt_session_new(&mount->settings, &operations, mount, &mount->session, error));
    if (fuse_set_signal_handlers(mount->session) != 0)
        return nt_fail(error, NT_IO, NT_NO_OFFSET, "cannot set signal handlers");
    mount->has_signal_handlers = true;
    if (nt_device_use(mount, device) != 0)
        return nt_fail(error, NT_IO, NT_NO_OFFSET, "libfuse does not accept the device of %s",
                       mount->settings.mountpoint);
    int problem = nt_interrupts_init(&mount->interrupts, device, NT_INTERRUPTS_PATIENCE);
    mount->has_interrupts = problem == 0;
    return problem ? nt_fail_system(error, problem, "cannot set up interrupts") : NT_OK;
}

enum nt_status nt_mount_new(struct nt_vfs *vfs, const struct nt_mount_settings *settings, int device,
                            struct nt_mount **mount_ret, struct nt_error *error)
{
    NT_CLEANUP(nt_mount_free_at) struct nt_mount *mount = calloc(1, sizeof(*mount));
    NT_TRY(nt_check_memory(mount, error));
    mount->vfs = vfs;
    mount->settings = *settings;
    int problem = nt_file_operations_init(mount);
    if (problem)
        return nt_fail_system(error, problem, "cannot set up reading");
    NT_TRY(begin_session(mount, device, error));
    *mount_ret = mount;
    mount = NULL; /* the caller's now */
    return NT_OK;
}

enum nt_status nt_mount_serve(struct nt_mount *mount, bool *is_left_ret, struct nt_error *error)
{
    int problem = nt_idle_start(mount);
    if (problem)
        return nt_fail_system(error, problem, "cannot start the idle timer");
    int result = mount->settings.is_single_threaded ? fuse_session_loop(mount->session)
                                                    : nt_device_loop_threads(mount);
    nt_idle_stop(mount);
    *is_left_ret = result > 0; /* positive: a signal ended the loop */
    if (result < 0)
        return nt_fail_system(error, -result, "%s: the mount has ended", mount->settings.mountpoint);
    if (!mount->is_ready)
        return nt_fail(error, NT_IO, NT_NO_OFFSET, "%s: the mount ended before it was ready",
                       mount->settings.mountpoint);
    return NT_OK;
}

void nt_mount_free(struct nt_mount *mount)
{
    if (!mount)
        return;
    if (mount->has_signal_handlers)
        fuse_remove_signal_handlers(mount->session);
    if (mount->has_interrupts)
        nt_interrupts_deinit(&mount->interrupts);
    if (mount->session)
        fuse_session_destroy(mount->session);
    nt_file_operations_deinit(mount);
    free(mount);
}

const char *nt_mount_libfuse_version(void)
{
    return fuse_pkgversion();
}
