/* SPDX-License-Identifier: MIT
 *
 * Sorts items that may be too many for memory: window by window, each with a pass over all items. The
 * boundaries of the windows come from a random sample of the items, so no order of the items makes a
 * window larger than others.
 */
#include "tools/tools.h"

enum { MAX_WINDOWS = 64, SAMPLES = 64 * MAX_WINDOWS };

static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static uint8_t *at(const struct nt_window_items *items, size_t bytes, uint64_t number)
{
    return items->bytes + (size_t)number * bytes;
}

static uint64_t items_of_window(const struct nt_windows *windows)
{
    return NT_WINDOW_BYTES / windows->item_bytes;
}

static enum nt_status append(struct nt_window_items *items, const void *item, size_t bytes)
{
    if (items->count >= items->capacity && !nt_array_enlarge(&items->bytes, &items->capacity, bytes))
        return NT_NO_MEMORY;
    memcpy(at(items, bytes, items->count++), item, bytes);
    return NT_OK;
}

static void sort(struct nt_window_items *items, const struct nt_windows *windows)
{
    if (items->count)
        qsort(items->bytes, items->count, windows->item_bytes, windows->compare);
}

/* Keeps all items while they fit in one window, and a uniform sample of all (reservoir sampling). */
static enum nt_status take_sample(struct nt_windows *windows, const void *item)
{
    uint64_t seen = windows->seen++;
    if (seen < items_of_window(windows))
        NT_TRY(append(&windows->items, item, windows->item_bytes));
    if (seen < SAMPLES)
        return append(&windows->samples, item, windows->item_bytes);
    uint64_t position = draw(&windows->random) % (seen + 1);
    if (position < SAMPLES)
        memcpy(at(&windows->samples, windows->item_bytes, position), item, windows->item_bytes);
    return NT_OK;
}

enum nt_status nt_windows_take(struct nt_windows *windows, const void *item)
{
    if (windows->is_sampling)
        return take_sample(windows, item);
    bool is_inside = (!windows->first || windows->compare(item, windows->first) >= 0) &&
                     (!windows->end || windows->compare(item, windows->end) < 0);
    return is_inside ? append(&windows->items, item, windows->item_bytes) : NT_OK;
}

static enum nt_status pass(struct nt_windows *windows, struct nt_error *error)
{
    windows->items.count = 0;
    enum nt_status status = windows->pass(windows->context, windows, error);
    sort(&windows->items, windows);
    return status == NT_NO_MEMORY ? nt_fail_memory(error) : status;
}

/* Keeps the first sample of each window. */
static void choose_boundaries(struct nt_windows *windows)
{
    struct nt_window_items *samples = &windows->samples;
    size_t bytes = windows->item_bytes;
    sort(samples, windows);
    for (uint32_t i = 1; i < windows->count; i++)
        memmove(at(samples, bytes, i), at(samples, bytes, (uint64_t)samples->count * i / windows->count),
                bytes);
    uint8_t *kept = realloc(samples->bytes, windows->count * bytes);
    if (!kept)
        return;
    samples->bytes = kept;
    samples->capacity = windows->count;
}

enum nt_status nt_windows_begin(struct nt_windows *windows, struct nt_error *error)
{
    windows->first = windows->end = NULL;
    windows->seen = 0;
    windows->random = nt_hash_seed() | 1;
    windows->is_sampling = true;
    windows->is_dropped = false;
    windows->samples.count = 0;
    NT_TRY(pass(windows, error));
    windows->is_sampling = false;
    uint64_t full = windows->seen ? (windows->seen - 1) / items_of_window(windows) : 0;
    windows->count = full < MAX_WINDOWS ? (uint32_t)full + 1 : MAX_WINDOWS;
    choose_boundaries(windows);
    windows->next = 1;
    nt_windows_rewind(windows);
    return NT_OK;
}

void nt_windows_rewind(struct nt_windows *windows)
{
    if (windows->count == 1)
        return;
    windows->next = 0;
    windows->items.count = 0;
    windows->is_dropped = false;
}

enum nt_status nt_windows_read(struct nt_windows *windows, struct nt_error *error)
{
    uint32_t number = windows->next++;
    size_t bytes = windows->item_bytes;
    windows->first = number ? at(&windows->samples, bytes, number) : NULL;
    windows->end = number + 1 < windows->count ? at(&windows->samples, bytes, number + 1) : NULL;
    return pass(windows, error);
}

void nt_windows_drop(struct nt_windows *windows)
{
    windows->is_dropped |= windows->items.count > 0;
    free(windows->items.bytes);
    windows->items = (struct nt_window_items){0};
}

enum nt_status nt_windows_restore(struct nt_windows *windows, struct nt_error *error)
{
    if (!windows->is_dropped)
        return NT_OK;
    windows->next--;
    enum nt_status status = nt_windows_read(windows, error);
    windows->is_dropped = status != NT_OK;
    return status;
}

void nt_windows_deinit(struct nt_windows *windows)
{
    free(windows->items.bytes);
    free(windows->samples.bytes);
}
