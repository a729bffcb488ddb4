/* SPDX-License-Identifier: MIT
 *
 * A request loop with its own threads for libfuse older than 3.13, which has no custom I/O: replies
 * cannot be changed, so some features are missing. Built instead of custom_io.c.
 */
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "fuse/operations.h"

struct loop;

struct request_worker {
    struct loop *loop;
    pthread_t thread;
    struct fuse_buf request; /* libfuse allocates its memory on first use */
};

struct loop {
    struct nt_mount *mount;
    int has_ended;    /* an eventfd; a thread that finds the end of the session writes to it */
    atomic_int error; /* 0 or a negative errno value */
    unsigned count;   /* of running workers */
    struct request_worker *workers;
};

/* Returns the result of fuse_session_receive_buf. Allows cancellation only here, like libfuse. */
static int receive(struct request_worker *worker)
{
    struct nt_mount *mount = worker->loop->mount;
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    bool was_there = nt_before_receive(mount);
    int count = fuse_session_receive_buf(mount->session, &worker->request);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    if (nt_is_unmounted(-count))
        count = 0;
    if (count == 0)
        nt_end_receive(mount);
    nt_after_receive(mount, worker->request.mem, count, was_there);
    return count;
}

static void *work(void *context)
{
    struct request_worker *worker = context;
    struct loop *loop = worker->loop;
    struct fuse_session *session = loop->mount->session;
    int count = 0;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    while (!fuse_session_exited(session)) {
        count = receive(worker);
        if (count > 0)
            fuse_session_process_buf(session, &worker->request);
        else if (count != -EINTR)
            break;
    }
    if (count < 0 && count != -EINTR)
        atomic_store(&loop->error, count);
    fuse_session_exit(session);
    eventfd_write(loop->has_ended, 1);
    return NULL;
}

/* Starts as many workers as possible. */
static void start(struct loop *loop, unsigned requested)
{
    for (; loop->count < requested; loop->count++) {
        struct request_worker *worker = &loop->workers[loop->count];
        worker->loop = loop;
        if (nt_thread_start(&worker->thread, work, worker) != 0)
            return;
    }
}

/* Unblocks signals only while it waits, so that none is missed. */
static void wait_for_end(const struct loop *loop, const sigset_t *let_in)
{
    struct pollfd ended = {.fd = loop->has_ended, .events = POLLIN};
    while (!fuse_session_exited(loop->mount->session))
        ppoll(&ended, 1, NULL, let_in);
}

static void end_workers(struct loop *loop)
{
    for (unsigned i = 0; i < loop->count; i++)
        pthread_cancel(loop->workers[i].thread);
    for (unsigned i = 0; i < loop->count; i++) {
        pthread_join(loop->workers[i].thread, NULL);
        free(loop->workers[i].request.mem);
    }
}

int nt_device_loop_threads(struct nt_mount *mount)
{
    sigset_t ending, before;
    struct loop loop = {.mount = mount,
                        .has_ended = eventfd(0, EFD_CLOEXEC),
                        .workers = calloc(mount->settings.threads, sizeof(*loop.workers))};
    if (!loop.workers || loop.has_ended < 0)
        goto out;
    sigemptyset(&ending);
    sigaddset(&ending, SIGHUP);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGQUIT);
    sigaddset(&ending, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ending, &before);
    start(&loop, mount->settings.threads);
    if (loop.count > 0)
        wait_for_end(&loop, &before);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    end_workers(&loop);
out:
    if (loop.has_ended >= 0)
        close(loop.has_ended);
    free(loop.workers);
    /* Without workers this thread serves; otherwise this returns the signal that ended the session. */
    int result = fuse_session_loop(mount->session);
    return loop.error ? loop.error : result;
}

int nt_device_use(struct nt_mount *mount, int device)
{
    char name[32];
    snprintf(name, sizeof(name), "/dev/fd/%d", device); /* libfuse's syntax for a mounted device */
    return fuse_session_mount(mount->session, name);
}

const char *nt_mount_missing_features(void)
{
    return "needs 3.13 for mapping files with direct_io, for auto_unmount without dead mounts, for retried "
           "replies, and for dropping an interrupted lookup while others run";
}
