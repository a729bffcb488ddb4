/* SPDX-License-Identifier: MIT
 *
 * Finds which headers the items of a list lack: those of classes whose streamers are written by hand.
 */
#include "formats/ttree/program.h"

/* An item of a list, some of whose headers may be absent. */
struct bare_item {
    const struct nt_program_run *run;
    uint32_t list;
    size_t end;
    uint64_t headers; /* that it has, as in `run` */
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

/* The bytes of a header and its members; UINT64_MAX: it counts others. */
static uint64_t measure_header(struct bare_item *item, uint32_t i, size_t at)
{
    uint32_t count = byte_count_at(item, at), end = item->run->operations[i].end;
    if (!count)
        return measure_body(item, i + 1, end, at);
    item->headers |= (uint64_t)1 << (i - item->list);
    return measure_body(item, i + 1, end, at + NT_BYTE_COUNT_BYTES + NT_VERSION_BYTES) ==
                   count - NT_VERSION_BYTES
               ? NT_BYTE_COUNT_BYTES + (uint64_t)count
               : UINT64_MAX;
}

static uint64_t measure(struct bare_item *item, uint32_t i, size_t at)
{
    const struct nt_operation *operation = &item->run->operations[i];
    uint64_t bytes = operation->width;
    switch ((enum nt_step_kind)operation->kind) {
    case NT_STEP_HEADER:
        return measure_header(item, i, at);
    case NT_STEP_REPEAT:
        bytes = measure_body(item, i + 1, operation->end, at);
        return bytes == UINT64_MAX ? bytes : bytes * operation->count;
    case NT_STEP_SKIP:
        return operation->count;
    case NT_STEP_VALUES:
        return bytes * operation->count;
    default: /* COUNTER: other kinds have no fixed size */
        return bytes;
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
