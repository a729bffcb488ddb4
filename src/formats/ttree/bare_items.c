/* SPDX-License-Identifier: MIT
 *
 * Finds which headers objects lack: those of classes whose streamers are written by hand.
 */
#include "formats/ttree/program.h"

/* An item of a list, some of whose headers may be absent. */
struct bare_item {
    const struct nt_program_run *run;
    uint32_t list;
    size_t end;
    uint64_t headers;  /* that it has, as in `run` */
    bool has_versions; /* in place of headers that it lacks */
    uint8_t counter;   /* the last number that counts, and its value */
    uint32_t value;
};

/* The number of bytes that a header at this place counts; 0: there is none. */
static uint32_t byte_count_at(const struct bare_item *item, size_t at)
{
    size_t room = item->end - at;
    if (room < NT_BYTE_COUNT_BYTES + NT_VERSION_BYTES)
        return 0;
    uint32_t count = nt_load_be32(item->run->bytes + at) ^ NT_BYTE_COUNT_FLAG;
    return count >= NT_VERSION_BYTES && count <= room - NT_BYTE_COUNT_BYTES ? count : 0;
}

static uint64_t measure_body(struct bare_item *item, uint32_t first, uint32_t end, size_t at);

/* A TObject has a version, which is 1. */
static uint64_t measure_without_count(struct bare_item *item, uint32_t i, size_t at)
{
    const struct nt_operation *operation = &item->run->operations[i];
    bool is_tobject = operation->bits & NT_HEADER_TOBJECT;
    uint32_t version_bytes = is_tobject || item->has_versions ? NT_VERSION_BYTES : 0;
    if (item->end - at < version_bytes || (is_tobject && nt_load_be16(item->run->bytes + at) != 1))
        return UINT64_MAX;
    uint64_t bytes = measure_body(item, i + 1, operation->end, at + version_bytes);
    return bytes == UINT64_MAX ? bytes : version_bytes + bytes;
}

/* The bytes of a header and its members; UINT64_MAX: it counts others. */
static uint64_t measure_header(struct bare_item *item, uint32_t i, size_t at)
{
    uint32_t count = byte_count_at(item, at), end = item->run->operations[i].end;
    if (!count)
        return measure_without_count(item, i, at);
    item->headers |= (uint64_t)1 << (i - item->list);
    return measure_body(item, i + 1, end, at + NT_BYTE_COUNT_BYTES + NT_VERSION_BYTES) ==
                   count - NT_VERSION_BYTES
               ? NT_BYTE_COUNT_BYTES + (uint64_t)count
               : UINT64_MAX;
}

static void take_counter(struct bare_item *item, const struct nt_operation *operation, size_t at)
{
    item->counter =
        operation->width == sizeof(uint32_t) && item->end - at >= sizeof(uint32_t) ? operation->counter : 0;
    item->value = item->counter ? nt_load_be32(item->run->bytes + at) : 0;
}

/* What depends on the bits of a TObject, which come before it. */
static uint64_t measure_when(struct bare_item *item, uint32_t i, size_t at)
{
    const struct nt_operation *operation = &item->run->operations[i];
    uint32_t middle = operation->other ? operation->other : operation->end;
    if (!operation->counter || operation->counter != item->counter)
        return UINT64_MAX;
    return item->value & operation->count ? measure_body(item, i + 1, middle, at)
                                          : measure_body(item, middle, operation->end, at);
}

static uint64_t measure(struct bare_item *item, uint32_t i, size_t at)
{
    const struct nt_operation *operation = &item->run->operations[i];
    uint64_t bytes = operation->width;
    if (operation->counter && operation->kind != NT_STEP_WHEN)
        take_counter(item, operation, at);
    switch ((enum nt_step_kind)operation->kind) {
    case NT_STEP_WHEN:
        return measure_when(item, i, at);
    case NT_STEP_HEADER:
        return measure_header(item, i, at);
    case NT_STEP_REPEAT:
        bytes = measure_body(item, i + 1, operation->end, at);
        return bytes == UINT64_MAX ? bytes : bytes * operation->count;
    case NT_STEP_SKIP:
        return operation->count;
    case NT_STEP_VALUES:
        return bytes * operation->count;
    case NT_STEP_COUNTER:
        return bytes;
    default: /* no fixed size */
        return UINT64_MAX;
    }
}

static uint64_t measure_body(struct bare_item *item, uint32_t first, uint32_t end, size_t at)
{
    size_t start = at;
    for (uint32_t i = first; i < end; i = item->run->operations[i].end) {
        uint64_t bytes = measure(item, i, at);
        if (bytes > item->end - at)
            return UINT64_MAX;
        at += (size_t)bytes;
    }
    return at - start;
}

/* Do the items lack headers? Then they have exactly the bytes of their members, or all of them have the
 * headers that the first one has, which count exactly the bytes of theirs. And they do not begin with the
 * byte count that an item of another version of the class would have. */
bool nt_find_headers(const struct nt_program_run *run, uint32_t i, uint64_t items, uint64_t *headers_ret)
{
    const struct nt_operation *operation = &run->operations[i];
    size_t left = run->end - run->at;
    if (operation->bare_bytes == NT_VARIABLE || !run->is_end_known || !items || left % items)
        return false;
    uint64_t bytes = left / items;
    struct bare_item item = {.run = run, .list = i, .end = run->at + (size_t)bytes};
    if (bytes >= NT_BYTE_COUNT_BYTES &&
        nt_load_be32(run->bytes + run->at) == NT_BYTE_COUNT_FLAG + bytes - NT_BYTE_COUNT_BYTES)
        return false;
    if (bytes != operation->bare_bytes &&
        (operation->end - i > NT_HEADER_BITS || measure_body(&item, i + 1, operation->end, run->at) != bytes))
        return false;
    *headers_ret = item.headers;
    return true;
}

/* Are there at most `most` items up to the end, all with the headers of the first one? */
static bool measure_items(struct bare_item *item, size_t at, uint64_t most, uint64_t *items_ret,
                          uint64_t *headers_ret)
{
    uint64_t items = 0;
    for (; at < item->end; items++) {
        item->headers = 0;
        uint64_t bytes = items < most
                             ? measure_body(item, item->list + 1, item->run->operations[item->list].end, at)
                             : UINT64_MAX;
        if (bytes == UINT64_MAX || bytes == 0 || (items && item->headers != *headers_ret))
            return false;
        *headers_ret = item->headers;
        at += (size_t)bytes;
    }
    *items_ret = items;
    return true;
}

/* Is the first step an object of a class that may have a streamer of its own? */
static bool begins_with_object(const struct nt_program_run *run, uint32_t i)
{
    uint32_t first = i + 1, end = run->operations[i].end;
    while (first < end && run->operations[first].kind == NT_STEP_REPEAT)
        first++;
    return first < end && end - i <= NT_HEADER_BITS && run->operations[first].kind == NT_STEP_HEADER &&
           (run->operations[first].bits & (NT_HEADER_WHOLE | NT_HEADER_TOBJECT)) == NT_HEADER_WHOLE;
}

/* Only a version can also be in place of a header: if that fits, too, it is so. */
bool nt_find_bare_objects(const struct nt_program_run *run, uint32_t i, uint64_t most, uint64_t *items_ret,
                          uint64_t *headers_ret)
{
    struct bare_item item = {.run = run, .list = i, .end = run->end};
    uint64_t unused_items, unused_headers;
    if (!begins_with_object(run, i) || !run->is_end_known || run->at == run->end ||
        byte_count_at(&item, run->at) || !measure_items(&item, run->at, most, items_ret, headers_ret))
        return false;
    item.has_versions = true;
    return !measure_items(&item, run->at, most, &unused_items, &unused_headers);
}
