/* SPDX-License-Identifier: MIT
 *
 * Two timer threads: one unmounts when no request came for a while, the other answers interrupted
 * requests with EINTR after a short delay.
 */
#include <linux/fuse.h>
#include <sys/uio.h>

#include "fuse/operations.h"

/* ---- Unmount when idle ---- */

/* The kernel's own requests do not count as use, nor does statfs, which monitors send to every
 * mount. */
void nt_idle_note(struct nt_mount *mount, uint32_t opcode)
{
    if (mount->settings.idle_seconds && opcode != FUSE_FORGET && opcode != FUSE_BATCH_FORGET &&
        opcode != FUSE_INTERRUPT && opcode != FUSE_STATFS)
        atomic_store_explicit(&mount->idle.last_use, nt_nanoseconds(), memory_order_relaxed);
}

static void *watch(void *context)
{
    struct nt_mount *mount = context;
    struct nt_idle *idle = &mount->idle;
    const uint64_t limit = mount->settings.idle_seconds * NT_SECOND;
    NT_MUTEX_GUARD(&idle->lock);
    while (!idle->must_end) {
        uint64_t end = atomic_load_explicit(&idle->last_use, memory_order_relaxed) + limit;
        if (end > nt_nanoseconds()) {
            struct timespec time = nt_timespec(end);
            pthread_cond_timedwait(&idle->requested, &idle->lock, &time);
            continue;
        }
        pthread_mutex_unlock(&idle->lock);
        bool is_done = !nt_has_open_files(mount) && mount->settings.unmount(mount->settings.context);
        pthread_mutex_lock(&idle->lock);
        if (is_done)
            break;
        atomic_store(&idle->last_use, nt_nanoseconds());
    }
    return NULL;
}

int nt_idle_start(struct nt_mount *mount)
{
    struct nt_idle *idle = &mount->idle;
    if (!mount->settings.idle_seconds)
        return 0;
    atomic_store(&idle->last_use, nt_nanoseconds());
    pthread_mutex_init(&idle->lock, NULL);
    int problem = nt_condition_init(&idle->requested);
    /* The thread blocks signals, because they must interrupt the thread of the request loop. */
    if (!problem && (problem = nt_thread_start(&idle->thread, watch, mount)))
        pthread_cond_destroy(&idle->requested);
    if (problem)
        pthread_mutex_destroy(&idle->lock);
    idle->is_started = problem == 0;
    return problem;
}

void nt_idle_stop(struct nt_mount *mount)
{
    struct nt_idle *idle = &mount->idle;
    if (!idle->is_started)
        return;
    pthread_mutex_lock(&idle->lock);
    idle->must_end = true;
    pthread_cond_signal(&idle->requested);
    pthread_mutex_unlock(&idle->lock);
    pthread_join(idle->thread, NULL);
    pthread_cond_destroy(&idle->requested);
    pthread_mutex_destroy(&idle->lock);
    idle->is_started = false;
}

/* ---- Answer interrupted requests ---- */

/* Usually fails with ENOENT, because the request has its answer already. */
static void answer(int device, uint64_t request)
{
    struct fuse_out_header header = {.len = sizeof(header), .error = -EINTR, .unique = request};
    (void)!writev(device, &(struct iovec){&header, sizeof(header)}, 1);
}

static void *answer_all(void *context)
{
    struct nt_interrupts *interrupts = context;
    NT_MUTEX_GUARD(&interrupts->lock);
    while (!interrupts->must_end) {
        const struct nt_interrupt *first = &interrupts->list[interrupts->first];
        if (interrupts->count == 0) {
            pthread_cond_wait(&interrupts->changed, &interrupts->lock);
        } else if (first->due > nt_nanoseconds()) {
            const struct timespec until = nt_timespec(first->due);
            pthread_cond_timedwait(&interrupts->changed, &interrupts->lock, &until);
        } else {
            answer(interrupts->device, first->request);
            interrupts->first = (interrupts->first + 1) % NT_MAX_INTERRUPTS;
            interrupts->count--;
        }
    }
    return NULL;
}

void nt_interrupts_note(struct nt_interrupts *interrupts, uint64_t request)
{
    NT_MUTEX_GUARD(&interrupts->lock);
    if (!interrupts->is_started)
        interrupts->is_started = nt_thread_start(&interrupts->thread, answer_all, interrupts) == 0;
    if (interrupts->is_started && interrupts->count < NT_MAX_INTERRUPTS) {
        unsigned slot = (interrupts->first + interrupts->count) % NT_MAX_INTERRUPTS;
        interrupts->list[slot] = (struct nt_interrupt){request, nt_nanoseconds() + interrupts->patience};
        interrupts->count++;
        pthread_cond_signal(&interrupts->changed);
    }
}

int nt_interrupts_init(struct nt_interrupts *interrupts, int device, uint64_t patience)
{
    *interrupts = (struct nt_interrupts){.device = device, .patience = patience};
    pthread_mutex_init(&interrupts->lock, NULL);
    return nt_condition_init(&interrupts->changed);
}

void nt_interrupts_deinit(struct nt_interrupts *interrupts)
{
    pthread_mutex_lock(&interrupts->lock);
    interrupts->must_end = true;
    pthread_cond_signal(&interrupts->changed);
    pthread_mutex_unlock(&interrupts->lock);
    if (interrupts->is_started)
        pthread_join(interrupts->thread, NULL);
    pthread_cond_destroy(&interrupts->changed);
    pthread_mutex_destroy(&interrupts->lock);
}
