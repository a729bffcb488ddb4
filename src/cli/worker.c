/* SPDX-License-Identifier: MIT
 *
 * The worker process of ntuplefs: opens the sources, enters the sandbox, asks the supervisor for the
 * mount, and answers the kernel's requests.
 */

#include "cli/ntuplefs.h"

/* For a mount: longer than quick requests take, too short to notice. */
#define NT_LEADER_PATIENCE (2 * NT_MILLISECOND)
/* For a mount: longer than the pause between two small sequential reads. */
#define NT_LEADER_SOON (NT_MILLISECOND / 10)

struct mount_worker {
    struct nt_mount_program *program;
    bool is_background;
    int null; /* /dev/null, or -1 */
    struct nt_sandbox sandbox;
    struct nt_leader leaders; /* the threads that receive requests */
    struct nt_selections selections;
    struct nt_vfs *vfs;
};

static void report(void *context, const char *line)
{
    struct mount_worker *worker = context;
    nt_log_line(&worker->program->log, line);
}

static void before_blocking(void *context)
{
    struct mount_worker *worker = context;
    nt_leader_release_followers(&worker->leaders);
}

static void save_index(void *context, const struct nt_buffer *text)
{
    struct mount_worker *worker = context;
    struct nt_mount_program *program = worker->program;
    if (nt_index_file_write(&program->index, text, &program->log))
        nt_channel_send(program->supervisor.channel, NT_MESSAGE_KEPT);
}

static void report_skipped(void *context, const struct nt_error *why)
{
    struct mount_worker *worker = context;
    nt_log_line(&worker->program->log, why->message);
}

/* ---- Tree ---- */

/* If the tree opens with broken=show, the message suggests this option. */
static void suggest_broken(const struct nt_mount_program *program, struct nt_vfs_options options,
                           struct nt_error *error)
{
    struct nt_vfs *vfs;
    size_t length = strlen(error->message);
    if (nt_is_environmental(error->status)) /* the option would not help */
        return;
    options.open.open_broken = true;
    options.threads = 0;
    if (nt_vfs_new(program->sources, program->source_count, &options, &vfs, NULL) != NT_OK)
        return;
    snprintf(error->message + length, sizeof(error->message) - length,
             "; -o broken=show shows what is stored");
    nt_vfs_free(vfs);
}

static struct nt_vfs_options tree_options(struct mount_worker *worker)
{
    const struct nt_settings *settings = &worker->program->settings;
    struct nt_vfs_options options = nt_settings_tree(settings);
    options.cache_bytes = nt_memory_limits_of(settings).cache_bytes;
    options.chain = worker->program->chain;
    options.chain_options.is_lazy = true;
    options.chain_options.index = worker->program->index.index;
    options.chain_options.save_index = settings->index ? save_index : NULL;
    options.chain_options.on_skipped = report_skipped;
    options.chain_options.context = worker;
    options.counts_lookups = true;
    options.sandbox = worker->sandbox.parts;
    options.selections = worker->selections.items;
    options.selection_count = worker->selections.count;
    options.report = report;
    options.before_blocking = before_blocking;
    options.context = worker;
    options.open.for_other_users = settings->mount.allow_other;
    options.owner = settings->uid.is_given ? &settings->uid.number : NULL;
    options.group = settings->gid.is_given ? &settings->gid.number : NULL;
    if (settings->mount.is_single_threaded)
        options.threads = 0;
    options.always_readahead = settings->mount.direct_io == NT_DIRECT_IO_ON; /* no kernel readahead */
    return options;
}

static void note_missing(struct nt_mount_program *program, const char *sandbox, const char *missing)
{
    if (missing[0])
        nt_mount_program_note(program, "this system lacks a part of %s: %s", sandbox, missing);
}

static void note_unversioned(struct nt_mount_program *program)
{
    char server[NT_FETCH_SERVER_BYTES];
    nt_fetcher_unversioned(program->settings.tree.open.fetcher, server);
    if (server[0])
        nt_mount_program_note(
            program,
            "%s reports no versions of files (ETag, Last-Modified): changes of files cannot be detected",
            server);
}

static enum nt_exit_status open_tree(struct mount_worker *worker)
{
    struct nt_error error = {0};
    struct nt_helper_sandbox sandbox;
    struct nt_mount_program *program = worker->program;
    enum nt_status status = nt_index_file_read(&program->index, &error);
    if (status == NT_OK && program->chain)
        status = nt_chain_list_expand_remote(program->chain, program->settings.tree.open.fetcher, &error);
    if (status == NT_OK)
        status = nt_selections_open(&program->settings, &worker->selections, &error);
    if (status != NT_OK)
        return nt_mount_program_fail(program, nt_exit_status(status), &error);
    const struct nt_vfs_options options = tree_options(worker);
    status = nt_vfs_new(program->sources, program->source_count, &options, &worker->vfs, &error);
    if (status != NT_OK) {
        suggest_broken(program, options, &error);
        return nt_mount_program_fail(program, nt_exit_status(status), &error);
    }
    nt_vfs_check_sources(worker->vfs);
    if (program->settings.tree.open.fetcher) {
        nt_helper_sandbox(program->settings.tree.open.fetcher, &sandbox);
        note_missing(program, "the sandbox of the network helper", sandbox.missing);
        note_unversioned(program);
    }
    return NT_EXIT_OK;
}

/* ---- Mount ---- */

/* Drops the uses of startup, and that of opening files if all sources are open. */
static void narrow(struct mount_worker *worker)
{
    const struct nt_settings *settings = &worker->program->settings;
    bool writes = settings->tree.text_sized || (settings->tree.open.fetcher && settings->remote.disk_cache);
    bool opens = writes || !nt_vfs_keeps_sources_open(worker->vfs);
    unsigned uses = (opens ? NT_SANDBOX_OPENS : 0) | (writes ? NT_SANDBOX_WRITES : 0) |
                    (settings->tree.open.fetcher ? NT_SANDBOX_FETCHES : 0);
    if (settings->sandbox != NT_SANDBOX_MODE_OFF && !nt_sandbox_narrow(&worker->sandbox, uses))
        nt_log_note(&worker->program->log, "cannot narrow the sandbox; the rights needed to start remain");
}

/* Logs the mount only once requests are answered. */
static void on_ready(void *context)
{
    struct mount_worker *worker = context;
    struct nt_message answer;
    int channel = worker->program->supervisor.channel;
    narrow(worker);
    if (nt_channel_send(channel, NT_MESSAGE_READY))
        nt_channel_receive(channel, &answer);
}

/* Threads that wait for a server would delay the end of the process. */
static void on_unmounted(void *context)
{
    const struct mount_worker *worker = context;
    if (worker->program->settings.tree.open.fetcher)
        nt_fetcher_stop(worker->program->settings.tree.open.fetcher);
}

static bool ask_to_unmount(void *context)
{
    struct mount_worker *worker = context;
    struct nt_message answer;
    int channel = worker->program->supervisor.channel;
    if (!nt_channel_send(channel, NT_MESSAGE_IDLE))
        return false;
    nt_channel_receive(channel, &answer);
    return answer.kind == NT_MESSAGE_UNMOUNTED;
}

/* Without a device, the supervisor has already reported the reason. */
static enum nt_exit_status answer_requests(struct mount_worker *worker)
{
    struct nt_error error = {0};
    struct nt_mount_program *program = worker->program;
    struct nt_mount *mount = NULL;
    bool is_left = false;
    struct nt_mount_settings settings = program->mount_settings;
    int descriptors[NT_MESSAGE_DESCRIPTORS], count, channel = program->supervisor.channel;
    settings.leaders = &worker->leaders;
    settings.on_ready = on_ready;
    settings.on_unmounted = on_unmounted;
    settings.unmount = ask_to_unmount;
    settings.context = worker;
    nt_channel_send(channel, NT_MESSAGE_OPENED);
    if (nt_channel_receive_descriptors(channel, descriptors, &count) != NT_MESSAGE_MOUNTED || count == 0)
        return NT_EXIT_MOUNT;
    if (worker->is_background)
        nt_background_leave(worker->null);
    enum nt_status status = nt_mount_new(worker->vfs, &settings, descriptors[count - 1], &mount, &error);
    if (status == NT_OK)
        status = nt_mount_serve(mount, &is_left, &error);
    if (is_left)
        nt_channel_send(channel, NT_MESSAGE_LEFT);
    nt_mount_free(mount);
    return status == NT_OK ? NT_EXIT_OK : nt_mount_program_fail(program, NT_EXIT_MOUNT, &error);
}

/* Prepares what is not possible in the sandbox. */
static enum nt_status prepare(struct mount_worker *worker, struct nt_error *error)
{
    struct nt_mount_program *program = worker->program;
    worker->is_background = program->background.ready_pipe >= 0;
    worker->null = worker->is_background ? nt_background_null() : -1;
    nt_background_forget(&program->background);
    if (worker->is_background)
        nt_log_to_channel(&program->log, program->supervisor.channel);
    NT_TRY(nt_unwinder_load(error));
    nt_index_file_prepare(&program->index, &program->log);
    int problem = nt_leader_init(&worker->leaders, NT_LEADER_PATIENCE, NT_LEADER_SOON);
    return problem ? nt_fail_system(error, problem, "cannot prepare to serve requests") : NT_OK;
}

static enum nt_status enter_sandbox(struct mount_worker *worker, struct nt_error *error)
{
    struct nt_mount_program *program = worker->program;
    struct nt_sandbox *sandbox = &worker->sandbox;
    const struct nt_settings *settings = &program->settings;
    const char *const *paths = program->sources;
    size_t count = program->source_count;
    if (program->chain) {
        paths = program->chain->folders;
        count = program->chain->folder_count;
    }
    NT_TRY(nt_enter_sandbox(settings, paths, count, NULL, 0, NT_SANDBOX_STARTS | NT_SANDBOX_OPENS, sandbox,
                            error));
    note_missing(program, "the sandbox", sandbox->missing);
    return NT_OK;
}

enum nt_exit_status nt_mount_program_run_worker(struct nt_mount_program *program)
{
    struct nt_error error = {0};
    struct mount_worker worker = {.program = program};
    if (prepare(&worker, &error) != NT_OK)
        return nt_mount_program_fail(program, NT_EXIT_INTERNAL, &error);
    if (enter_sandbox(&worker, &error) != NT_OK)
        return nt_mount_program_fail(program, NT_EXIT_MOUNT, &error);
    enum nt_exit_status status = open_tree(&worker);
    if (status == NT_EXIT_OK && !program->settings.is_dry_run)
        status = answer_requests(&worker);
    nt_vfs_free(worker.vfs);
    nt_selections_deinit(&worker.selections);
    nt_fetcher_free(program->settings.tree.open.fetcher);
    nt_index_file_deinit(&program->index, false);
    nt_leader_deinit(&worker.leaders);
    return status;
}
