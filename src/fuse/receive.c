/* SPDX-License-Identifier: MIT
 *
 * In: a thread that is about to read a request, and the request that it has read. Out: one thread waits while
 * requests are quick, and the time of the last use is known.
 */
#include <linux/fuse.h>
#include <poll.h>

#include "fuse/operations.h"
#include "fuse/slice.h"

/* As far as the request tells. What else is slow lets the others go when it begins. */
static bool is_quick(const struct fuse_in_header *header)
{
    enum { QUICK_BYTES = 64 * 1024 };
    const struct fuse_read_in *read = (const void *)(header + 1);
    return header->opcode != FUSE_READ || read->size <= QUICK_BYTES;
}

/* A request that need not be waited for. */
static bool is_there(int device)
{
    return poll(&(struct pollfd){.fd = device, .events = POLLIN}, 1, 0) > 0;
}

/* Where many read at once, a call that a user waits for would stand behind readers and behind threads that decode for them,
 * a millisecond each: who waits for requests comes before readers then, and who decodes behind them. One reader alone, and
 * small requests that are answered by who leads, are faster with the usual slices. */
static void note_large(struct nt_mount *mount, uint32_t reader)
{
    nt_crowd_note(&mount->crowd, reader, mount->settings.reads_ahead);
    nt_slice_set(nt_crowd_is(&mount->crowd) ? NT_SLICE_LONG : NT_SLICE_USUAL);
}

bool nt_turn_to_receive(struct nt_mount *mount, int device)
{
    struct nt_lead *lead = mount->settings.lead;
    bool leads = nt_lead_wait(lead);
    nt_slice_set(!leads && nt_crowd_is(&mount->crowd) ? NT_SLICE_SHORT : NT_SLICE_USUAL);
    if (!leads)
        return false;
    unsigned looks = 1;
    for (; !is_there(device); looks++)
        if (!nt_lead_looks_out(lead))
            return false;
    return looks <= 2;
}

void nt_note_received(struct nt_mount *mount, int device, const void *bytes, ssize_t count, bool was_there)
{
    const struct fuse_in_header *header = bytes;
    if (count < (ssize_t)sizeof(*header))
        return;
    bool is_large = !is_quick(header);
    enum nt_arrival arrival = !was_there ? NT_AWAITED : is_there(device) ? NT_QUEUED : NT_THERE;
    nt_lead_received(mount->settings.lead, !is_large, arrival);
    if (is_large)
        note_large(mount, header->pid);
    nt_idle_note(&mount->idle, header->opcode);
    const struct fuse_interrupt_in *interrupt = (const void *)(header + 1);
    if (header->opcode == FUSE_INTERRUPT && count >= (ssize_t)(sizeof(*header) + sizeof(*interrupt)))
        nt_interrupts_note(&mount->interrupts, interrupt->unique);
}

void nt_note_gone(struct nt_mount *mount)
{
    if (mount->settings.on_gone)
        mount->settings.on_gone(mount->settings.context);
}
