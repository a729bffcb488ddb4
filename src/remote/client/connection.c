/* SPDX-License-Identifier: MIT
 *
 * Connection to the network helper, a detached process with one end of a socket pair, to which the access
 * rules are sent first: many concurrent requests over one socket, a receiver thread that dispatches
 * replies, and a new helper process after fork().
 */
#include "remote/client/client.h"

#include <ntuple/source.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/abi.h"
#include "core/base/error.h"
#include "core/io/address.h"

extern char **environ;

/* Archives, wheels and build directories have the helper beside the programs. "": none. */
static const char *installed_path(char beside[PATH_MAX])
{
    static const char name[] = "ntuplefs-fetch";
    ssize_t length = readlink("/proc/self/exe", beside, PATH_MAX - sizeof(name));
    beside[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(beside, '/');
    if (!slash)
        return NT_FETCH_PROGRAM;
    memcpy(slash + 1, name, sizeof(name));
    return access(beside, X_OK) == 0 ? beside : NT_FETCH_PROGRAM;
}

static const char *path_of(const char *program, char beside[PATH_MAX])
{
    if (program)
        return program;
    program = secure_getenv("NTUPLE_FETCH");
    return program && *program ? program : installed_path(beside);
}

/* Detaches from the terminal's signals; resets ignored and blocked signals of the parent. */
static int spawn(const char *program, int channel, pid_t *child_ret)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    char *arguments[] = {(char *)program, NULL};
    sigemptyset(&none);
    sigfillset(&all);
    int problem = posix_spawn_file_actions_init(&actions);
    if (problem)
        return problem;
    problem = posix_spawnattr_init(&attributes);
    if (problem) {
        posix_spawn_file_actions_destroy(&actions);
        return problem;
    }
    problem = posix_spawn_file_actions_adddup2(&actions, channel, STDIN_FILENO);
    for (int output = STDOUT_FILENO; output <= STDERR_FILENO && !problem; output++)
        problem = posix_spawn_file_actions_addopen(&actions, output, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
    if (!problem)
        problem = posix_spawn(child_ret, program, &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return problem;
}

static enum nt_status fail_start(int problem, const char *program, struct nt_error *error)
{
    if (problem == ENOENT || problem == ENOTDIR)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "remote files need %s, which is not installed",
                       program);
    return nt_fail_system(error, problem, "cannot start %s", program);
}

/* Sends one message; the helper reads it at once. A later request notices a helper that has ended. */
static bool send_rule(int channel, struct nt_fetch_request request, const char *text)
{
    char packet[sizeof(request) + NT_FETCH_TEXT_BYTES];
    size_t length = strlen(text);
    ssize_t sent;
    memcpy(packet, &request, sizeof(request));
    memcpy(packet + sizeof(request), text, length);
    do
        sent = send(channel, packet, sizeof(request) + length, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent >= 0 || errno == EPIPE || errno == ECONNRESET;
}

static bool send_rules(int channel, const struct nt_helper_rules *rules)
{
    uint64_t flags = (rules->addresses ? NT_FETCH_ALLOWED_ALONE : 0) |
                     (rules->certificate_to_origin ? NT_FETCH_CERTIFICATE_TO_ORIGIN : 0);
    for (size_t i = 0; rules->addresses && rules->addresses[i]; i++) {
        char *address = nt_address_allowed(rules->addresses[i]);
        bool is_sent =
            address && (strlen(address) > NT_FETCH_TEXT_BYTES || /* no request is so long */
                        send_rule(channel, (struct nt_fetch_request){.kind = NT_FETCH_ALLOW}, address));
        free(address);
        if (!is_sent)
            return false;
    }
    return send_rule(channel, (struct nt_fetch_request){.kind = NT_FETCH_BEGIN, .bytes = flags}, "");
}

enum nt_status nt_helper_start(const char *program, const struct nt_helper_rules *rules, int *channel_ret,
                               struct nt_error *error)
{
    int ends[2];
    pid_t child;
    char beside[PATH_MAX];
    program = path_of(program, beside);
    if (!*program)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "remote files need ntuplefs-fetch, which is neither next to this program nor in this "
                       "build (-Dhttp=enabled, libcurl, expat)");
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return nt_fail_system(error, errno, "cannot start %s", program);
    int problem = spawn(program, ends[1], &child);
    close(ends[1]);
    if (problem) {
        close(ends[0]);
        return fail_start(problem, program, error);
    }
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    if (!send_rules(ends[0], rules)) {
        close(ends[0]);
        return nt_fail_system(error, errno, "cannot send %s the addresses that it may fetch", program);
    }
    *channel_ret = ends[0];
    return NT_OK;
}

/* ---- Error messages ---- */

static const struct {
    enum nt_status status;
    int system_error;
} failures[NT_FETCH_FAILURES] = {
    [NT_FETCH_UNREACHABLE] = {NT_UNREACHABLE, 0}, [NT_FETCH_NOT_FOUND] = {NT_NOT_FOUND, 0},
    [NT_FETCH_FORBIDDEN] = {NT_IO, EACCES},       [NT_FETCH_CHANGED] = {NT_CHANGED, 0},
    [NT_FETCH_UNSUPPORTED] = {NT_UNSUPPORTED, 0}, [NT_FETCH_INVALID] = {NT_INVALID, 0},
};

enum nt_status nt_helper_request_fail(const struct nt_helper_request *fetch, const char *shown,
                                      struct nt_error *error)
{
    enum nt_status status = failures[fetch->failure].status;
    nt_fail(error, status, NT_NO_OFFSET, "%s: %s", shown, fetch->message);
    if (error)
        error->system_error = failures[fetch->failure].system_error;
    return status;
}

enum nt_status nt_fetcher_fail_timeout(const struct nt_fetcher *fetcher, const char *shown,
                                       struct nt_error *error)
{
    return nt_fail(error, NT_UNREACHABLE, NT_NO_OFFSET,
                   "%s: timed out after %.3g s: the network helper does not answer", shown,
                   (double)fetcher->milliseconds / 1000);
}

/* ---- Requests and replies ---- */

enum { NT_FETCH_PACKET_BYTES = sizeof(struct nt_fetch_answer) + NT_FETCH_DATA_BYTES };

/* ---- Lock and fork ---- */

/* After fork: active requests and their waiting threads belong to the parent, and some live on stacks
 * that no longer exist. */
static void on_restart(struct nt_fetcher *fetcher)
{
    fetcher->is_forked = fetcher->is_over = false;
    fetcher->epoch = 0;
    LIST_INIT(&fetcher->underway);
    fetcher->ahead_bytes = 0;
    fetcher->ahead_count = 0;
    fetcher->totals = (struct nt_fetch_totals){0};
    nt_link_estimates_restart(&fetcher->link_estimates);
    nt_range_cache_release(&fetcher->range_space);
    struct nt_remote_file *file;
    LIST_FOREACH(file, &fetcher->files, all)
    nt_remote_on_restart(file);
}

void nt_fetcher_lock(struct nt_fetcher *fetcher)
{
    nt_lock_acquire(&fetcher->lock);
    if (fetcher->is_forked)
        on_restart(fetcher);
}

void nt_fetcher_unlock(struct nt_fetcher *fetcher)
{
    nt_lock_release(&fetcher->lock);
}

/* ---- Requests ---- */

static void finish(struct nt_helper_request *fetch, enum nt_helper_request_state state)
{
    LIST_REMOVE(fetch, all);
    fetch->state = state;
    if (fetch->end)
        fetch->end(fetch);
}

void nt_helper_request_fail_short(struct nt_helper_request *fetch)
{
    fetch->state = NT_FETCH_BAD;
    fetch->failure = NT_FETCH_UNREACHABLE;
    snprintf(fetch->message, sizeof(fetch->message),
             "the network helper returned fewer bytes than requested");
}

static void fail(struct nt_helper_request *fetch, enum nt_fetch_failure failure, const char *message)
{
    fetch->failure = failure;
    snprintf(fetch->message, sizeof(fetch->message), "%s", message);
    finish(fetch, NT_FETCH_BAD);
}

static void fail_all(struct nt_fetcher *fetcher, const char *message)
{
    while (!LIST_EMPTY(&fetcher->underway))
        fail(LIST_FIRST(&fetcher->underway), NT_FETCH_UNREACHABLE, message);
}

static bool send_request(struct nt_fetcher *fetcher, const struct nt_fetch_request *request, const char *text,
                         size_t length)
{
    char packet[sizeof(*request) + NT_FETCH_TEXT_BYTES];
    if (length > NT_FETCH_TEXT_BYTES || fetcher->is_over)
        return false;
    memcpy(packet, request, sizeof(*request));
    memcpy(packet + sizeof(*request), text, length);
    ssize_t sent;
    do
        sent = send(fetcher->channel, packet, sizeof(*request) + length, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    return sent >= 0;
}

void nt_fetcher_send(struct nt_fetcher *fetcher, struct nt_helper_request *fetch,
                     struct nt_fetch_request request, const char *text, size_t text_bytes)
{
    request.epoch = fetcher->epoch;
    request.id = fetch->id = ++fetcher->last_id;
    fetch->file = request.file;
    fetcher->counters.reads += request.kind == NT_FETCH_READ;
    fetcher->counters.ahead += request.kind == NT_FETCH_READ && request.is_prefetch;
    request.milliseconds = (uint32_t)fetcher->milliseconds;
    fetch->state = NT_FETCH_UNDERWAY;
    LIST_INSERT_HEAD(&fetcher->underway, fetch, all);
    if (!send_request(fetcher, &request, text, text_bytes))
        fail(fetch, NT_FETCH_UNREACHABLE, "the network helper does not accept requests");
}

void nt_fetcher_notify(struct nt_fetcher *fetcher, enum nt_helper_message kind, uint64_t id, uint32_t file)
{
    const struct nt_fetch_request request = {.kind = kind, .epoch = fetcher->epoch, .id = id, .file = file};
    (void)send_request(fetcher, &request, "", 0);
}

void nt_fetcher_cancel(struct nt_fetcher *fetcher, struct nt_helper_request *fetch)
{
    nt_fetcher_notify(fetcher, NT_FETCH_CANCEL, fetch->id, fetch->file);
    fail(fetch, NT_FETCH_UNREACHABLE, "no caller waited for the answer");
}

bool nt_fetcher_wait(struct nt_fetcher *fetcher, uint64_t deadline)
{
    const struct timespec until = nt_timespec(deadline * NT_MILLISECOND);
    return nt_lock_wait(&fetcher->lock, &fetcher->changed, &until);
}

bool nt_helper_request_wait(struct nt_fetcher *fetcher, struct nt_helper_request *fetch, uint64_t deadline)
{
    while (fetch->state == NT_FETCH_UNDERWAY)
        if (!nt_fetcher_wait(fetcher, deadline) && fetch->state == NT_FETCH_UNDERWAY) {
            nt_fetcher_cancel(fetcher, fetch);
            return false;
        }
    return true;
}

/* ---- Answers ---- */

static struct nt_helper_request *underway(struct nt_fetcher *fetcher, uint64_t id)
{
    struct nt_helper_request *fetch;
    LIST_FOREACH(fetch, &fetcher->underway, all)
    if (fetch->id == id)
        break;
    return fetch;
}

static void take_failure(struct nt_helper_request *fetch, const struct nt_fetch_answer *answer,
                         const uint8_t *text, size_t bytes)
{
    char message[sizeof(fetch->message)];
    size_t length = bytes < sizeof(message) ? bytes : sizeof(message) - 1;
    memcpy(message, text, length);
    message[length] = '\0';
    fail(fetch,
         answer->failure < NT_FETCH_FAILURES ? (enum nt_fetch_failure)answer->failure : NT_FETCH_UNREACHABLE,
         message);
}

/* Adds the totals of a helper that is gone. */
static void count_process(struct nt_fetcher *fetcher)
{
    fetcher->counters.requests += fetcher->totals.requests;
    fetcher->counters.retries += fetcher->totals.retries;
    fetcher->totals = (struct nt_fetch_totals){0};
}

bool nt_fetch_counter(struct nt_fetcher *fetcher, uint32_t index, const char **name_ret, uint64_t *value_ret)
{
    nt_fetcher_lock(fetcher);
    const struct nt_fetch_counters *counters = &fetcher->counters;
    const struct {
        const char *name;
        uint64_t value;
    } all[] = {
        {"remote_requests", counters->requests + fetcher->totals.requests},
        {"remote_retries", counters->retries + fetcher->totals.retries},
        {"remote_failures", counters->failures},
        {"remote_reads", counters->reads},
        {"remote_reads_ahead", counters->ahead},
        {"remote_bytes", counters->bytes},
        {"remote_kept_bytes", fetcher->range_space.bytes},
        {"remote_disk_read_bytes", fetcher->disk.read_bytes},
        {"remote_disk_written_bytes", fetcher->disk.written_bytes},
        {"remote_disk_bad_pieces", fetcher->disk.bad_pieces},
        {"remote_open_files", fetcher->open_count},
        {"remote_waits", counters->waits},
        {"remote_wait_milliseconds", counters->wait_milliseconds},
    };
    nt_fetcher_unlock(fetcher);
    if (index >= sizeof(all) / sizeof(*all))
        return false;
    *name_ret = all[index].name;
    *value_ret = all[index].value;
    return true;
}

static void take_sandbox(struct nt_helper_sandbox *sandbox, const uint8_t *bytes, size_t count)
{
    *sandbox = (struct nt_helper_sandbox){0};
    if (count == sizeof(*sandbox))
        memcpy(sandbox, bytes, count);
    sandbox->parts[sizeof(sandbox->parts) - 1] = '\0';
    sandbox->missing[sizeof(sandbox->missing) - 1] = '\0';
}

/* A new helper replaces one that is gone. */
static void take_hello(struct nt_fetcher *fetcher, const struct nt_fetch_answer *answer, const uint8_t *bytes,
                       size_t count)
{
    fetcher->epoch = answer->epoch ? answer->epoch : 1;
    take_sandbox(&fetcher->sandbox, bytes, count);
    count_process(fetcher);
    fail_all(fetcher, "the network helper was stopped");
}

void nt_fetcher_unversioned(struct nt_fetcher *fetcher, char server_ret[NT_FETCH_SERVER_BYTES])
{
    nt_fetcher_lock(fetcher);
    memcpy(server_ret, fetcher->unversioned, sizeof(fetcher->unversioned));
    nt_fetcher_unlock(fetcher);
}

void nt_helper_sandbox(struct nt_fetcher *fetcher, struct nt_helper_sandbox *sandbox_ret)
{
    nt_fetcher_lock(fetcher);
    *sandbox_ret = fetcher->sandbox;
    nt_fetcher_unlock(fetcher);
}

/* Only peeks at the first packet; the receiver thread consumes it. */
enum nt_status nt_helper_await_sandbox(struct nt_fetcher *fetcher, struct nt_helper_sandbox *sandbox_ret,
                                       struct nt_error *error)
{
    struct pollfd event = {.fd = fetcher->channel, .events = POLLIN};
    uint64_t now = nt_milliseconds(), deadline = now + fetcher->milliseconds;
    for (; now < deadline && poll(&event, 1, (int)(deadline - now)) < 0; now = nt_milliseconds())
        ;
    ssize_t count = recv(fetcher->channel, fetcher->packet, NT_FETCH_PACKET_BYTES, MSG_PEEK | MSG_DONTWAIT);
    if (count < (ssize_t)sizeof(struct nt_fetch_answer))
        return nt_fail(error, NT_UNREACHABLE, NT_NO_OFFSET, "the network helper does not answer");
    count -= (ssize_t)sizeof(struct nt_fetch_answer);
    take_sandbox(sandbox_ret, fetcher->packet + sizeof(struct nt_fetch_answer), (size_t)count);
    return NT_OK;
}

/* True if the answer ends a request or starts a helper, so that waiting threads must wake up. */
static bool take(struct nt_fetcher *fetcher, const struct nt_fetch_answer *answer, const uint8_t *bytes,
                 size_t count)
{
    if (answer->kind == NT_FETCH_HELLO) {
        take_hello(fetcher, answer, bytes, count);
        return true;
    }
    struct nt_helper_request *fetch = underway(fetcher, answer->id);
    if (answer->epoch == fetcher->epoch)
        fetcher->totals = answer->totals;
    if (!fetch || answer->epoch != fetcher->epoch || answer->file != fetch->file)
        return false;
    fetcher->counters.bytes += answer->kind == NT_FETCH_DATA ? count : 0;
    fetcher->counters.failures += answer->kind == NT_FETCH_FAILED;
    if (answer->kind == NT_FETCH_FAILED)
        take_failure(fetch, answer, bytes, count);
    else if (answer->kind == NT_FETCH_DONE)
        finish(fetch, NT_FETCH_GOOD);
    else if (!fetch->take(fetch, answer, bytes, count))
        fail(fetch, NT_FETCH_UNREACHABLE, "the network helper sent an unexpected answer");
    else
        return false;
    return true;
}

/* Receives one packet; false if no more will come. */
static bool receive(struct nt_fetcher *fetcher)
{
    struct nt_fetch_answer answer;
    bool has_changed = true;
    ssize_t count;
    do
        count = read(fetcher->channel, fetcher->packet, NT_FETCH_PACKET_BYTES);
    while (count < 0 && errno == EINTR);
    nt_fetcher_lock(fetcher);
    if (count >= (ssize_t)sizeof(answer)) {
        memcpy(&answer, fetcher->packet, sizeof(answer));
        has_changed =
            take(fetcher, &answer, fetcher->packet + sizeof(answer), (size_t)count - sizeof(answer));
    } else {
        fetcher->is_over = true;
        fail_all(fetcher, "the network helper exited");
    }
    bool is_over = fetcher->is_over;
    if (has_changed)
        pthread_cond_broadcast(&fetcher->changed);
    nt_fetcher_unlock(fetcher);
    return !is_over;
}

/* Main function of the receiver thread. */
static void *fetcher_receive(void *argument)
{
    struct nt_fetcher *fetcher = argument;
    struct pollfd events[] = {{.fd = fetcher->channel, .events = POLLIN},
                              {.fd = fetcher->wake[0], .events = POLLIN}};
    for (;;) {
        if (poll(events, 2, -1) < 0)
            continue;
        if (events[1].revents || !receive(fetcher))
            return NULL;
    }
}

/* ---- Lifetime ---- */

enum { DEFAULT_SECONDS = 60 };
#define DEFAULT_CACHE_BYTES (UINT64_C(128) << 20)
#define DEFAULT_DISK_BYTES (UINT64_C(1) << 30)

/* ---- Construction ---- */

static void close_all(struct nt_fetcher *fetcher)
{
    int *const descriptors[] = {&fetcher->channel, &fetcher->wake[0], &fetcher->wake[1]};
    for (size_t i = 0; i < sizeof(descriptors) / sizeof(*descriptors); i++) {
        if (*descriptors[i] >= 0)
            close(*descriptors[i]);
        *descriptors[i] = -1;
    }
}

static void free_addresses(char **addresses)
{
    for (char **address = addresses; address && *address; address++)
        free(*address);
    free(addresses);
}

/* A forked process needs the addresses after the caller has freed its own. NULL if out of memory. */
static char **copy_addresses(const char *const *addresses)
{
    size_t count = 0;
    while (addresses[count])
        count++;
    char **copies = calloc(count + 1, sizeof(*copies));
    for (size_t i = 0; copies && i < count; i++)
        if (!(copies[i] = strdup(addresses[i]))) {
            free_addresses(copies);
            return NULL;
        }
    return copies;
}

/* ---- Forked processes ---- */

/* The receiver thread does not exist here, and the channel is the parent's: closes it, since an extra
 * copy would keep the network helper alive. */
static void be_forked(struct nt_lock *lock)
{
    struct nt_fetcher *fetcher = (struct nt_fetcher *)((char *)lock - offsetof(struct nt_fetcher, lock));
    nt_condition_init(&fetcher->changed);
    if (fetcher->is_handed_over)
        return;
    close_all(fetcher);
    fetcher->has_receiver = false;
    fetcher->is_forked = true;
}

/* ---- References ---- */

void nt_fetcher_hand_over(struct nt_fetcher *fetcher)
{
    fetcher->is_handed_over = true;
}

void nt_fetcher_read_later(struct nt_fetcher *fetcher)
{
    fetcher->reads_later = true;
}

/* Under the lock, so that no fork happens while there are unregistered descriptors. */
static enum nt_status start(struct nt_fetcher *fetcher, struct nt_error *error)
{
    if (pipe2(fetcher->wake, O_CLOEXEC) != 0)
        return nt_fail_system(error, errno, "cannot read remote files");
    enum nt_status status =
        fetcher->start_process(fetcher->program, &fetcher->rules, &fetcher->channel, error);
    if (status != NT_OK)
        close_all(fetcher);
    return status;
}

static enum nt_status start_receiver(struct nt_fetcher *fetcher, struct nt_error *error)
{
    int problem = fetcher->has_receiver ? 0 : nt_thread_start(&fetcher->receiver, fetcher_receive, fetcher);
    fetcher->has_receiver |= !problem;
    return problem ? nt_fail_system(error, problem, "cannot start a thread") : NT_OK;
}

enum nt_status nt_fetcher_connect(struct nt_fetcher *fetcher, const char *shown, uint64_t deadline,
                                  struct nt_error *error)
{
    enum nt_status status = fetcher->channel < 0 ? start(fetcher, error) : NT_OK;
    if (status == NT_OK)
        status = start_receiver(fetcher, error);
    while (status == NT_OK && !fetcher->epoch && !fetcher->is_over)
        if (!nt_fetcher_wait(fetcher, deadline))
            return nt_fetcher_fail_timeout(fetcher, shown, error);
    return status == NT_OK && fetcher->is_over
               ? nt_fail(error, NT_UNREACHABLE, NT_NO_OFFSET, "%s: the network helper exited", shown)
               : status;
}

enum nt_status nt_fetcher_ref(struct nt_fetcher *fetcher, struct nt_error *error)
{
    nt_fetcher_lock(fetcher);
    enum nt_status status = fetcher->channel < 0 ? NT_OK : start_receiver(fetcher, error);
    fetcher->holders += status == NT_OK;
    nt_fetcher_unlock(fetcher);
    return status;
}

void nt_fetcher_free(struct nt_fetcher *fetcher)
{
    if (!fetcher)
        return;
    nt_fetcher_lock(fetcher);
    bool is_last = --fetcher->holders == 0;
    nt_fetcher_unlock(fetcher);
    if (!is_last)
        return;
    if (fetcher->has_receiver) { /* a byte, not end of file: another process may hold the pipe open */
        ssize_t written = write(fetcher->wake[1], "", 1);
        (void)written; /* cannot fail: the pipe is empty */
        pthread_join(fetcher->receiver, NULL);
    }
    nt_fetcher_lock(fetcher);
    close_all(fetcher);
    nt_fetcher_unlock(fetcher);
    nt_disk_cache_close(&fetcher->disk);
    nt_link_estimates_deinit(&fetcher->link_estimates);
    pthread_cond_destroy(&fetcher->changed);
    nt_lock_deinit(&fetcher->lock);
    free_addresses((char **)fetcher->rules.addresses);
    free(fetcher->program);
    free(fetcher->packet);
    free(fetcher);
}

void nt_fetcher_stop(struct nt_fetcher *fetcher)
{
    shutdown(fetcher->channel, SHUT_RDWR);
}

static enum nt_status fill(struct nt_fetcher *fetcher, const struct nt_fetcher_options *options,
                           struct nt_error *error)
{
    enum nt_status status = NT_OK;
    fetcher->milliseconds =
        UINT64_C(1000) * (options->timeout_seconds ? options->timeout_seconds : DEFAULT_SECONDS);
    fetcher->range_space.max_bytes = options->cache_bytes ? options->cache_bytes : DEFAULT_CACHE_BYTES;
    fetcher->packet = malloc(NT_FETCH_PACKET_BYTES);
    fetcher->program = options->program ? strdup(options->program) : NULL;
    fetcher->rules.certificate_to_origin = options->certificate_to_origin;
    if (options->addresses)
        fetcher->rules.addresses = (const char *const *)copy_addresses(options->addresses);
    if (!fetcher->packet || (options->program && !fetcher->program) ||
        (options->addresses && !fetcher->rules.addresses))
        return nt_fail_memory(error);
    if (options->disk_cache)
        status = nt_disk_cache_open(
            &fetcher->disk, options->disk_cache,
            options->disk_cache_bytes ? options->disk_cache_bytes : DEFAULT_DISK_BYTES, error);
    if (status != NT_OK)
        return status;
    nt_fetcher_lock(fetcher);
    status = start(fetcher, error);
    nt_fetcher_unlock(fetcher);
    return status;
}

static struct nt_fetcher *new_fetcher(struct nt_error *error)
{
    struct nt_fetcher *fetcher = calloc(1, sizeof(*fetcher));
    int problem = fetcher ? nt_condition_init(&fetcher->changed) : ENOMEM;
    if (!problem && (problem = nt_lock_init(&fetcher->lock, be_forked)))
        pthread_cond_destroy(&fetcher->changed);
    if (problem) {
        free(fetcher);
        nt_fail_system(error, problem, "cannot read remote files");
        return NULL;
    }
    fetcher->holders = 1;
    TAILQ_INIT(&fetcher->range_space.used);
    TAILQ_INIT(&fetcher->used);
    fetcher->channel = fetcher->wake[0] = fetcher->wake[1] = fetcher->disk.folder = -1;
    return fetcher;
}

enum nt_status nt_fetcher_new_by(nt_fetch_starter *start_process, const struct nt_fetcher_options *options,
                                 struct nt_fetcher **fetcher_ret, struct nt_error *error)
{
    struct nt_fetcher_options known;
    enum nt_status status = nt_copy_struct(options, &known, sizeof(known), "nt_fetcher_options", error);
    if (status != NT_OK)
        return status;
    if (known.timeout_seconds > NT_MAX_TIMEOUT_SECONDS)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "timeout_seconds: expected at most %d, found %u",
                       NT_MAX_TIMEOUT_SECONDS, known.timeout_seconds);
    struct nt_fetcher *fetcher = new_fetcher(error);
    if (!fetcher)
        return NT_NO_MEMORY;
    fetcher->start_process = start_process;
    status = fill(fetcher, &known, error);
    if (status != NT_OK) {
        nt_fetcher_free(fetcher);
        return status;
    }
    *fetcher_ret = fetcher;
    return NT_OK;
}

enum nt_status nt_fetcher_new(const struct nt_fetcher_options *options, struct nt_fetcher **fetcher_ret,
                              struct nt_error *error)
{
    return nt_fetcher_new_by(nt_helper_start, options, fetcher_ret, error);
}

enum nt_status nt_fetcher_or_own(struct nt_fetcher **fetcher, struct nt_fetcher **own_ret,
                                 struct nt_error *error)
{
    *own_ret = NULL;
    if (*fetcher)
        return NT_OK;
    enum nt_status status = nt_fetcher_new(NULL, own_ret, error);
    *fetcher = *own_ret;
    return status;
}
