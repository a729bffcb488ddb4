/* SPDX-License-Identifier: MIT
 *
 * Schedules the threads that receive requests. While requests are fast, one leader answers them and
 * the followers wait; during slow work all threads receive. Oversubscribed readers get other time
 * slices.
 */
#include <linux/fuse.h>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fuse/operations.h"

/* ---- Migrate to another CPU ---- */

void nt_cpu_migrate(void)
{
    cpu_set_t allowed, only;
    int current = sched_getcpu();
    if (current < 0 || current >= CPU_SETSIZE || sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
        return;
    int next = current;
    do
        next = (next + 1) % CPU_SETSIZE;
    while (next != current && !CPU_ISSET(next, &allowed));
    CPU_ZERO(&only);
    CPU_SET(next, &only);
    if (sched_setaffinity(0, sizeof(only), &only) == 0)
        (void)sched_setaffinity(0, sizeof(allowed), &allowed);
}

/* ---- Set the time slice ---- */

enum { KEEP_POLICY = 8 }; /* SCHED_FLAG_KEEP_POLICY */

/* In nanoseconds. 0.1 ms is the minimum; the default is 0.7 to 2.8 ms, by number of processors. */
static const uint64_t slices[] = {
    [NT_TIME_SLICE_DEFAULT] = 0,
    [NT_TIME_SLICE_SHORT] = 100 * 1000,
    [NT_TIME_SLICE_LONG] = 3 * 1000 * 1000,
};

/* The last slice set for this thread, to skip redundant system calls. It starts as unknown, because a
 * thread inherits the slice of its creator. */
enum { NOTHING_REPORTED = -1 };
static _Thread_local int reported = NOTHING_REPORTED;

void nt_time_slice_set(enum nt_time_slice slice)
{
    struct nt_sched_attributes attributes = {
        .size = sizeof(attributes), .flags = KEEP_POLICY, .runtime = slices[slice]};
    if ((int)slice == reported)
        return;
    attributes.nice = getpriority(PRIO_PROCESS, 0);
    (void)syscall(SYS_sched_setattr, 0, &attributes, 0);
    reported = (int)slice;
}

/* ---- Detect oversubscription ---- */

/* The number of reads since this reader's last one (1: the previous read); 0: not in the ring. */
static unsigned distance_of(const struct nt_oversubscription *oversubscription, unsigned next,
                            uint32_t reader)
{
    for (unsigned distance = 1; distance <= NT_OVERSUBSCRIPTION_READS; distance++)
        if (atomic_load_explicit(&oversubscription->readers[(next - distance) % NT_OVERSUBSCRIPTION_READS],
                                 memory_order_relaxed) == reader)
            return distance;
    return 0;
}

bool nt_is_oversubscribed(const struct nt_oversubscription *oversubscription)
{
    return atomic_load_explicit(&oversubscription->evidence, memory_order_relaxed) >=
           NT_OVERSUBSCRIPTION_SURE;
}

void nt_oversubscription_note(struct nt_oversubscription *oversubscription, uint32_t reader,
                              unsigned processors)
{
    if (!reader)
        return;
    unsigned next = atomic_fetch_add_explicit(&oversubscription->next, 1, memory_order_relaxed);
    unsigned distance = distance_of(oversubscription, next, reader);
    int evidence = atomic_load_explicit(&oversubscription->evidence, memory_order_relaxed);
    atomic_store_explicit(&oversubscription->readers[next % NT_OVERSUBSCRIPTION_READS], reader,
                          memory_order_relaxed);
    if (distance > processors && evidence < NT_OVERSUBSCRIPTION_MAX)
        atomic_store_explicit(&oversubscription->evidence, evidence + 1, memory_order_relaxed);
    else if (distance && distance <= processors && evidence > 0)
        atomic_store_explicit(&oversubscription->evidence, evidence - 1, memory_order_relaxed);
}

/* ---- Leader and followers ---- */

/* Invariant: while `until_quiet` is not positive and a thread leads, the others wait and one watches.
 * `leader` alone identifies the leader, so a leader that ends costs at most the watcher's patience. */

int nt_leader_init(struct nt_leader *leaders, uint64_t patience, uint64_t soon)
{
    *leaders = (struct nt_leader){.patience = patience, .soon = soon};
    pthread_mutex_init(&leaders->lock, NULL);
    pthread_cond_init(&leaders->freed, NULL);
    return nt_condition_init(&leaders->has_begun);
}

void nt_leader_deinit(struct nt_leader *leaders)
{
    pthread_cond_destroy(&leaders->freed);
    pthread_cond_destroy(&leaders->has_begun);
    pthread_mutex_destroy(&leaders->lock);
}

static bool leads(struct nt_leader *leaders)
{
    return atomic_load_explicit(&leaders->leader, memory_order_relaxed) == (uintptr_t)pthread_self();
}

static bool is_quiet(struct nt_leader *leaders)
{
    return atomic_load_explicit(&leaders->until_quiet, memory_order_relaxed) <= 0;
}

/* Call it under the lock. */
static void free_all(struct nt_leader *leaders, int until_quiet)
{
    atomic_store(&leaders->until_quiet, until_quiet);
    atomic_store(&leaders->leader, 0);
    pthread_cond_broadcast(&leaders->freed);
    pthread_cond_signal(&leaders->has_begun);
}

/* ---- Followers, under the lock ---- */

/* The watcher is canceled: another follower takes over. */
static void hand_on_watch(void *context)
{
    struct nt_leader *leaders = context;
    leaders->is_watched = false;
    atomic_store(&leaders->watcher_sleeps, false);
    pthread_cond_signal(&leaders->freed);
}

static void wait_for_its_end(struct nt_leader *leaders, uint64_t seen)
{
    const struct timespec until = nt_timespec(nt_nanoseconds() + leaders->patience);
    while (pthread_cond_timedwait(&leaders->has_begun, &leaders->lock, &until) == 0 && is_quiet(leaders))
        ;
    if (is_quiet(leaders) && atomic_load(&leaders->progress) == seen)
        free_all(leaders, NT_LEADER_QUIET);
}

static void watch(struct nt_leader *leaders)
{
    leaders->is_watched = true;
    pthread_cleanup_push(hand_on_watch, leaders);
    uint64_t seen = atomic_load(&leaders->progress);
    if (seen % 2) {
        wait_for_its_end(leaders, seen);
    } else { /* the leader has just started to wait, and signals when it receives a request */
        atomic_store(&leaders->watcher_sleeps, true);
        if (atomic_load(&leaders->progress) == seen)
            pthread_cond_wait(&leaders->has_begun, &leaders->lock);
        atomic_store(&leaders->watcher_sleeps, false);
    }
    pthread_cleanup_pop(0);
    leaders->is_watched = false;
}

static void unlock(void *lock)
{
    pthread_mutex_unlock(lock);
}

static void wait_as_follower_or_lead(struct nt_leader *leaders)
{
    pthread_mutex_lock(&leaders->lock);
    pthread_cleanup_push(unlock, &leaders->lock);
    while (is_quiet(leaders) && atomic_load(&leaders->leader) != 0) {
        if (leaders->is_watched)
            pthread_cond_wait(&leaders->freed, &leaders->lock);
        else
            watch(leaders);
    }
    if (is_quiet(leaders)) {
        atomic_store(&leaders->leader, (uintptr_t)pthread_self());
        leaders->queued = 0;
    }
    pthread_cleanup_pop(1);
}

/* ---- Requests ---- */

bool nt_leader_wait(struct nt_leader *leaders)
{
    if (!leads(leaders) && is_quiet(leaders))
        wait_as_follower_or_lead(leaders);
    if (!leads(leaders))
        return false;
    uint64_t progress = atomic_load_explicit(&leaders->progress, memory_order_relaxed);
    atomic_store(&leaders->progress, progress + progress % 2); /* no request is in service */
    atomic_store_explicit(&leaders->waits_since, nt_nanoseconds(), memory_order_relaxed);
    return true;
}

/* Has the leader waited only briefly? */
static bool is_soon(const struct nt_leader *leaders)
{
    return nt_nanoseconds() - atomic_load_explicit(&leaders->waits_since, memory_order_relaxed) <
           leaders->soon;
}

bool nt_leader_spins(const struct nt_leader *leaders)
{
    if (!atomic_load_explicit(&leaders->is_busy, memory_order_relaxed) || !is_soon(leaders))
        return false;
    sched_yield();
    return true;
}

/* Signals to the watcher that a request has started. */
static void begin(struct nt_leader *leaders)
{
    uint64_t progress = atomic_load_explicit(&leaders->progress, memory_order_relaxed);
    atomic_store(&leaders->progress, (progress + 1) | 1);
    if (!atomic_load(&leaders->watcher_sleeps))
        return;
    NT_MUTEX_GUARD(&leaders->lock);
    pthread_cond_signal(&leaders->has_begun);
}

/* Migrates towards the caller's processor if the leader has to poll again and again. */
static void come_closer(struct nt_leader *leaders, enum nt_request_arrival arrival)
{
    if (arrival != NT_ARRIVAL_AWAITED) {
        leaders->apart -= leaders->apart > 0;
        leaders->moves = leaders->apart ? leaders->moves : 0;
        return;
    }
    leaders->apart++;
    if (leaders->apart < (unsigned)NT_LEADER_SPINS << leaders->moves)
        return;
    leaders->apart = 0;
    leaders->moves += leaders->moves < NT_LEADER_MOVES;
    nt_cpu_migrate();
}

void nt_leader_received(struct nt_leader *leaders, bool is_quick, enum nt_request_arrival arrival)
{
    if (!is_quick) {
        nt_leader_release_followers(leaders);
        return;
    }
    if (!is_quiet(leaders))
        atomic_fetch_sub_explicit(&leaders->until_quiet, 1, memory_order_relaxed);
    if (!leads(leaders))
        return;
    bool is_busy = is_soon(leaders);
    leaders->queued = arrival == NT_ARRIVAL_QUEUED ? leaders->queued + 1 : 0;
    atomic_store_explicit(&leaders->is_busy, is_busy, memory_order_relaxed);
    if (is_busy)
        come_closer(leaders, arrival);
    if (leaders->queued < NT_LEADER_QUEUED) {
        begin(leaders);
        return;
    }
    NT_MUTEX_GUARD(&leaders->lock);
    free_all(leaders, NT_LEADER_CROWDED);
}

void nt_leader_release_followers(struct nt_leader *leaders)
{
    if (leads(leaders)) {
        NT_MUTEX_GUARD(&leaders->lock);
        free_all(leaders, NT_LEADER_QUIET);
    } else if (!is_quiet(leaders) && atomic_load(&leaders->until_quiet) < NT_LEADER_QUIET) {
        atomic_store(&leaders->until_quiet, NT_LEADER_QUIET);
    }
}

/* ---- Around receiving a request ---- */

/* Judged by the request alone. Other slow work releases the followers when it starts. */
static bool is_quick(const struct fuse_in_header *header)
{
    enum { QUICK_BYTES = 64 * 1024 };
    const struct fuse_read_in *read = (const void *)(header + 1);
    return header->opcode != FUSE_READ || read->size <= QUICK_BYTES;
}

/* Is a request pending? */
static bool is_there(const struct nt_mount *mount)
{
    return poll(&(struct pollfd){.fd = fuse_session_fd(mount->session), .events = POLLIN}, 1, 0) > 0;
}

/* With many readers, a user's call would wait for readers and for decoding threads, a millisecond each.
 * So receiving threads get short slices and decoding ones get long slices. A single reader, and small
 * requests that the leader answers, are faster with the default slices. */
static void note_large(struct nt_mount *mount, uint32_t reader)
{
    nt_oversubscription_note(&mount->oversubscription, reader, mount->settings.reads_ahead);
    nt_time_slice_set(nt_is_oversubscribed(&mount->oversubscription) ? NT_TIME_SLICE_LONG
                                                                     : NT_TIME_SLICE_DEFAULT);
}

bool nt_others_are_pending(struct nt_mount *mount)
{
    return !leads(mount->settings.leaders) && is_there(mount);
}

bool nt_before_receive(struct nt_mount *mount)
{
    struct nt_leader *leaders = mount->settings.leaders;
    bool leads = nt_leader_wait(leaders);
    nt_time_slice_set(!leads && nt_is_oversubscribed(&mount->oversubscription) ? NT_TIME_SLICE_SHORT
                                                                               : NT_TIME_SLICE_DEFAULT);
    if (!leads)
        return false;
    unsigned looks = 1;
    for (; !is_there(mount); looks++)
        if (!nt_leader_spins(leaders))
            return false;
    return looks <= 2;
}

void nt_after_receive(struct nt_mount *mount, const void *bytes, ssize_t count, bool was_there)
{
    const struct fuse_in_header *header = bytes;
    if (count < (ssize_t)sizeof(*header))
        return;
    bool is_large = !is_quick(header);
    enum nt_request_arrival arrival = !was_there        ? NT_ARRIVAL_AWAITED
                                      : is_there(mount) ? NT_ARRIVAL_QUEUED
                                                        : NT_ARRIVAL_PENDING;
    nt_leader_received(mount->settings.leaders, !is_large, arrival);
    if (is_large)
        note_large(mount, header->pid);
    nt_idle_note(mount, header->opcode);
    const struct fuse_interrupt_in *interrupt = (const void *)(header + 1);
    if (header->opcode == FUSE_INTERRUPT && count >= (ssize_t)(sizeof(*header) + sizeof(*interrupt)))
        nt_interrupts_note(&mount->interrupts, interrupt->unique);
}

void nt_end_receive(struct nt_mount *mount)
{
    if (mount->settings.on_unmounted)
        mount->settings.on_unmounted(mount->settings.context);
}
