/* SPDX-License-Identifier: MIT
 *
 * Runs the program of a branch over the entries of a basket: counts elements and decodes them.
 */
#include "formats/ttree/program.h"

#include "container/container.h"

/* ---- Running ---- */

enum { COUNTERS = UINT8_MAX + 1 };
/* Each byte is taken once, or a few times by references to objects, and takes few operations. */
enum { WORK_FACTOR = 9, MIN_WORK = 1 << 10 };

/* Where a number that counts is: one, or one for each item of the innermost MEMBERS. */
struct counter {
    size_t at;
    uint8_t width;
    bool is_signed, is_known, is_of_items;
};

struct run {
    const struct nt_operation *operations;
    const char *class_names;
    const uint8_t *bytes;
    size_t base;    /* of the first byte, for references to classes */
    size_t at, end; /* place; end of the entry or of the nearest header */
    size_t entry_end;
    bool is_end_known;                /* else `end` is that of all values */
    uint32_t bare_list;               /* the list whose items lack headers; 0: none */
    uint64_t headers;                 /* that they have nevertheless: bits, by operation from the list on */
    uint64_t work_left;               /* bytes and operations: bounds what empty items and references cost */
    uint64_t item;                    /* of the innermost MEMBERS */
    uint16_t version;                 /* of the nearest header */
    struct nt_output_count *done;     /* of each output so far; `items` starts with those before the basket */
    uint8_t *output;                  /* NULL: only counts */
    uint64_t capacity;                /* its elements */
    struct nt_basket_lengths lengths; /* from the next one on */
    struct counter counters[COUNTERS];
};

static size_t left(const struct run *run)
{
    return run->end - run->at;
}

static enum nt_status fail_end(const struct run *run, uint64_t needed, const char *what,
                               struct nt_error *error)
{
    return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                   "byte %zu of the values: %s: expected %" PRIu64 " bytes, found %zu", run->at, what, needed,
                   left(run));
}

static uint64_t load(const uint8_t *from, unsigned width, bool is_signed)
{
    uint64_t value = nt_load_integer(from, width, true);
    return is_signed ? (uint64_t)nt_extend_sign(value, width) : value;
}

static enum nt_status fail_count(const struct run *run, uint64_t count, struct nt_error *error)
{
    return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                   "byte %zu of the values: a number of items: expected 0 or more, found %" PRId64, run->at,
                   (int64_t)count);
}

static void put_end(struct run *run, uint32_t output, uint64_t items)
{
    if (output == NT_NONE)
        return;
    struct nt_output_count *done = &run->done[output];
    uint64_t number = done->elements++;
    done->items += items;
    if (run->output && number < run->capacity)
        memcpy(run->output + sizeof(done->items) * number, &done->items, sizeof(done->items));
}

/* ---- Numbers ---- */

static enum nt_status decode_numbers(const struct nt_operation *operation, const uint8_t *from, size_t count,
                                     uint8_t *to, struct nt_error *error)
{
    const struct nt_encoding *encoding = nt_encoding_info(operation->encoding);
    const struct nt_decoder decoder = {.encoding = operation->encoding,
                                       .element = encoding->element,
                                       .bits = 8u * operation->width,
                                       .element_bytes = operation->element_bytes,
                                       .minimum = operation->minimum,
                                       .maximum = operation->maximum};
    const struct nt_packed packed = {
        .decoder = &decoder, .data = from, .bytes = count * operation->width, .elements = count};
    return encoding->decode(&packed, to, error);
}

static enum nt_status move(const struct nt_operation *operation, const uint8_t *from, size_t count,
                           uint8_t *to, struct nt_error *error)
{
    switch ((enum nt_number_copy)operation->number_copy) {
    case NT_NUMBER_COPY_PLAIN:
        memcpy(to, from, count * operation->width);
        return NT_OK;
    case NT_NUMBER_COPY_SWAP16:
        nt_swap16(from, count, to);
        return NT_OK;
    case NT_NUMBER_COPY_SWAP32:
        nt_swap32(from, count, to);
        return NT_OK;
    case NT_NUMBER_COPY_SWAP64:
        nt_swap64(from, count, to);
        return NT_OK;
    case NT_NUMBER_COPY_DECODE:
        break;
    }
    return decode_numbers(operation, from, count, to, error);
}

#define DEFINE_GATHER(bits)                                                                                  \
    static void gather##bits(const uint8_t *from, size_t stride, size_t rows, uint8_t *to)                   \
    {                                                                                                        \
        for (size_t i = 0; i < rows; i++) {                                                                  \
            uint##bits##_t value = nt_load_be##bits(from + i * stride);                                      \
            memcpy(to + i * sizeof(value), &value, sizeof(value));                                           \
        }                                                                                                    \
    }

DEFINE_GATHER(16)
DEFINE_GATHER(32)
DEFINE_GATHER(64)

/* Decodes `count` numbers, those of an operation in rows that are `stride` bytes apart. */
static enum nt_status move_rows(const struct nt_operation *operation, const uint8_t *from, size_t stride,
                                size_t count, uint8_t *to, struct nt_error *error)
{
    size_t row_bytes = (size_t)operation->count * operation->element_bytes;
    enum nt_status status = NT_OK;
    if (stride == (size_t)operation->count * operation->width)
        return move(operation, from, count, to, error);
    if (operation->count == 1 && operation->number_copy == NT_NUMBER_COPY_SWAP16) {
        gather16(from, stride, count, to);
    } else if (operation->count == 1 && operation->number_copy == NT_NUMBER_COPY_SWAP32) {
        gather32(from, stride, count, to);
    } else if (operation->count == 1 && operation->number_copy == NT_NUMBER_COPY_SWAP64) {
        gather64(from, stride, count, to);
    } else {
        for (; status == NT_OK && count; from += stride, to += row_bytes) {
            size_t some = count < operation->count ? count : operation->count;
            status = move(operation, from, some, to, error);
            count -= some;
        }
    }
    return status;
}

/* The numbers of `rows` rows are elements, as far as the output has room. All bytes are there. */
static enum nt_status put_rows(struct run *run, const struct nt_operation *operation, size_t at,
                               size_t stride, uint64_t rows, struct nt_error *error)
{
    if (operation->values == NT_NONE)
        return NT_OK;
    uint64_t before = run->done[operation->values].elements, count = rows * operation->count;
    run->done[operation->values].elements += count;
    if (!run->output || before >= run->capacity)
        return NT_OK;
    if (count > run->capacity - before)
        count = run->capacity - before;
    return move_rows(operation, run->bytes + at, stride, (size_t)count,
                     run->output + before * operation->element_bytes, error);
}

static enum nt_status use_work(struct run *run, uint64_t work, struct nt_error *error)
{
    if (work > run->work_left)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "byte %zu of the values: more items than the bytes can hold", run->at);
    run->work_left -= work;
    return NT_OK;
}

/* Takes `bytes` for each of `count` items. */
static enum nt_status take(struct run *run, uint64_t count, uint64_t bytes, const char *what,
                           struct nt_error *error)
{
    uint64_t all = UINT64_MAX;
    if (!nt_checked_multiply(count, bytes, &all) || all > left(run))
        return fail_end(run, all, what, error);
    run->at += (size_t)all;
    return use_work(run, all, error);
}

static enum nt_status run_values(struct run *run, const struct nt_operation *operation, uint64_t items,
                                 struct nt_error *error)
{
    size_t at = run->at, stride = (size_t)operation->count * operation->width;
    NT_TRY(take(run, items, stride, "numbers", error));
    if (operation->counter)
        run->counters[operation->counter] = (struct counter){at, operation->width, operation->is_signed,
                                                             items && operation->count, items > 1};
    return put_rows(run, operation, at, stride, items, error);
}

/* ---- Items ---- */

static enum nt_status run_body(struct run *run, uint32_t first, uint32_t end, struct nt_error *error);

static enum nt_status run_items(struct run *run, uint32_t parent, uint64_t count, struct nt_error *error)
{
    const struct nt_operation *operation = &run->operations[parent];
    const struct nt_operation *only = &run->operations[operation->only];
    uint32_t first = parent + 1, end = operation->end;
    size_t at = run->at;
    enum nt_status status = NT_OK;
    if (first == end)
        return NT_OK;
    if (operation->only || (first + 1 == end && run->operations[first].kind == NT_STEP_SKIP)) {
        status = take(run, count, operation->body_bytes, "items of a list", error);
        return status == NT_OK && operation->only
                   ? put_rows(run, only, at + operation->lead, operation->body_bytes, count, error)
                   : status;
    }
    for (uint64_t i = 0; status == NT_OK && i < count; i++)
        status = run_body(run, first, end, error);
    return status;
}

static enum nt_status run_list(struct run *run, uint32_t i, uint64_t items, struct nt_error *error)
{
    put_end(run, run->operations[i].ends, items);
    return run_items(run, i, items, error);
}

/* A number of items is an Int_t, and never negative. */
static enum nt_status get_count(struct run *run, uint64_t *count_ret, struct nt_error *error)
{
    if (left(run) < sizeof(uint32_t))
        return fail_end(run, sizeof(uint32_t), "a number of items", error);
    uint32_t count = nt_load_be32(run->bytes + run->at);
    if (count > INT32_MAX)
        return fail_count(run, (uint64_t)(int32_t)count, error);
    run->at += sizeof(count);
    *count_ret = count;
    return NT_OK;
}

static enum nt_status run_step(struct run *run, uint32_t i, uint64_t items, struct nt_error *error);

static enum nt_status fail_undescribed(const struct run *run, struct nt_error *error)
{
    return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                   "byte %zu of the values: an object of a class that the file does not describe", run->at);
}

/* Each step for all items, then the next one. */
static enum nt_status run_by_members(struct run *run, uint32_t first, uint32_t end, uint64_t items,
                                     struct nt_error *error)
{
    uint64_t outer = run->item;
    enum nt_status status = NT_OK;
    for (uint32_t i = first; status == NT_OK && items && i < end; i = run->operations[i].end)
        status = run_step(run, i, items, error);
    run->item = outer;
    return status;
}

static enum nt_status run_members(struct run *run, uint32_t parent, struct nt_error *error)
{
    uint64_t items = 0;
    enum nt_status status = get_count(run, &items, error);
    if (status == NT_OK && items && run->operations[parent].version == NT_STREAMER_NO_OBJECTS)
        return fail_undescribed(run, error);
    if (status == NT_OK)
        put_end(run, run->operations[parent].ends, items);
    return status == NT_OK ? run_by_members(run, parent + 1, run->operations[parent].end, items, error)
                           : status;
}

/* Items up to the end; without an item's size, each must take bytes. */
static enum nt_status run_rest(struct run *run, uint32_t i, struct nt_error *error)
{
    const struct nt_operation *operation = &run->operations[i];
    uint64_t items = 0;
    if (!run->is_end_known)
        return nt_fail(
            error, NT_CORRUPT, NT_NO_OFFSET,
            "byte %zu of the values: items extend to the end of their entry, but the basket does not "
            "say where entries begin",
            run->at);
    if (operation->body_bytes != NT_VARIABLE) {
        if (operation->body_bytes ? left(run) % operation->body_bytes : left(run))
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                           "byte %zu of the values: %zu bytes are left, which is not a multiple of the item "
                           "size, %" PRIu32,
                           run->at, left(run), operation->body_bytes);
        items = operation->body_bytes ? left(run) / operation->body_bytes : 0;
        if (!(operation->bits & NT_REST_MEMBERS))
            return run_list(run, i, items, error);
        put_end(run, operation->ends, items);
        return run_by_members(run, i + 1, operation->end, items, error);
    }
    for (; left(run); items++) {
        size_t before = run->at;
        NT_TRY(run_body(run, i + 1, operation->end, error));
        if (run->at == before)
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                           "byte %zu of the values: %zu bytes follow items without bytes", run->at,
                           left(run));
    }
    put_end(run, operation->ends, items);
    return NT_OK;
}

/* The value of the number that a step depends on. */
static enum nt_status get_counter(const struct run *run, uint8_t number, uint64_t *value_ret,
                                  struct nt_error *error)
{
    const struct counter *counter = &run->counters[number];
    if (!counter->is_known)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "byte %zu of the values: the number of items is not stored", run->at);
    size_t at = counter->at + (counter->is_of_items ? (size_t)run->item * counter->width : 0);
    *value_ret = load(run->bytes + at, counter->width, counter->is_signed);
    return NT_OK;
}

/* The next number of the branch that has the lengths of arrays: an Int_t or UInt_t. */
static enum nt_status get_length_elsewhere(struct run *run, uint64_t *length_ret, struct nt_error *error)
{
    struct nt_basket_lengths *lengths = &run->lengths;
    for (; lengths->count && lengths->first >= lengths->values->elements; lengths->count--)
        lengths->first -= lengths->values++->elements;
    if (!lengths->count)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "byte %zu of the values: another branch has no more lengths of arrays", run->at);
    uint32_t length = nt_load_le32(lengths->values->data + sizeof(length) * lengths->first++);
    *length_ret = lengths->values->element == NT_ELEMENT_INT32 ? (uint64_t)(int32_t)length : length;
    return NT_OK;
}

/* The byte in front of an array: 0 for a null pointer, whatever its length is. */
static enum nt_status get_flag(struct run *run, bool *is_null_ret, struct nt_error *error)
{
    if (left(run) < 1)
        return fail_end(run, 1, "the flag of an array", error);
    *is_null_ret = !run->bytes[run->at++];
    return NT_OK;
}

static enum nt_status run_counted(struct run *run, uint32_t i, struct nt_error *error)
{
    enum { EMPTY_LISTS = 4 }; /* that cost as much as a step */
    const struct nt_operation *operation = &run->operations[i];
    uint64_t items = 0;
    bool is_null = false;
    if (operation->bits & NT_COUNTED_FLAG)
        NT_TRY(get_flag(run, &is_null, error));
    if (!operation->counter)
        NT_TRY(get_length_elsewhere(run, &items, error));
    else if (!is_null)
        NT_TRY(get_counter(run, operation->counter, &items, error));
    if (is_null)
        items = 0;
    bool is_triangle = operation->bits & NT_COUNTED_TRIANGLE;
    if (items > (is_triangle ? (uint64_t)UINT32_MAX : (uint64_t)INT64_MAX))
        return fail_count(run, items, error);
    NT_TRY(use_work(run, operation->count / EMPTY_LISTS, error));
    for (uint32_t list = 0; list < (operation->count ? operation->count : 1); list++)
        NT_TRY(run_list(run, i, is_triangle ? items * (items + 1) / 2 : items, error));
    return NT_OK;
}

static enum nt_status run_when(struct run *run, uint32_t i, struct nt_error *error)
{
    const struct nt_operation *operation = &run->operations[i];
    uint32_t middle = operation->other ? operation->other : operation->end;
    uint64_t value = 0;
    NT_TRY(get_counter(run, operation->counter, &value, error));
    return value & operation->count ? run_body(run, i + 1, middle, error)
                                    : run_body(run, middle, operation->end, error);
}

/* The length of a string: a byte, or 255 and an Int_t. */
static enum nt_status get_length(struct run *run, uint64_t *length_ret, struct nt_error *error)
{
    if (!left(run))
        return fail_end(run, 1, "the length of a string", error);
    *length_ret = run->bytes[run->at++];
    return *length_ret == UINT8_MAX ? get_count(run, length_ret, error) : NT_OK;
}

static void put_text(struct run *run, const struct nt_operation *operation, const uint8_t *bytes,
                     uint64_t length)
{
    put_end(run, operation->ends, length);
    if (operation->values == NT_NONE)
        return;
    uint64_t before = run->done[operation->values].elements;
    run->done[operation->values].elements += length;
    if (run->output && length && before < run->capacity)
        memcpy(run->output + before, bytes,
               (size_t)(length < run->capacity - before ? length : run->capacity - before));
}

static enum nt_status run_string(struct run *run, const struct nt_operation *operation,
                                 struct nt_error *error)
{
    uint64_t length = 0;
    NT_TRY(operation->count == sizeof(uint32_t) ? get_count(run, &length, error)
                                                : get_length(run, &length, error));
    size_t at = run->at;
    NT_TRY(take(run, length, 1, "a string", error));
    put_text(run, operation, run->bytes + at, length);
    return NT_OK;
}

static enum nt_status run_counter(struct run *run, const struct nt_operation *operation,
                                  struct nt_error *error)
{
    size_t at = run->at;
    enum nt_status status = take(run, 1, operation->width, "a number of items", error);
    uint64_t items = status == NT_OK ? load(run->bytes + at, operation->width, operation->is_signed) : 0;
    if (status == NT_OK && items > INT64_MAX)
        status = fail_count(run, items, error);
    if (status == NT_OK)
        put_end(run, operation->ends, items);
    return status;
}

/* ---- Headers ---- */

enum {
    BYTE_COUNT_FLAG = 1 << 30,
    BYTE_COUNT_BYTES = 4,
    POINTER_BYTES = 4,
    VERSION_BYTES = 2,
    CHECKSUM_BYTES = 4, /* of the class, after a version of 0 */
    COUNT_BYTES = 4,    /* of items */
    HEADER_BITS = 64,
    MEMBERWISE = 1 << 14,
};

/* The version of a class, and the checksum after a version of 0. */
static enum nt_status get_version(struct run *run, uint16_t *version_ret, uint32_t *checksum_ret,
                                  struct nt_error *error)
{
    size_t at = run->at;
    enum nt_status status = take(run, 1, VERSION_BYTES, "a version", error);
    uint16_t version = status == NT_OK ? nt_load_be16(run->bytes + at) : 0;
    *version_ret = version;
    *checksum_ret = 0;
    if (status == NT_OK && (int16_t)version <= 0) {
        status = take(run, 1, CHECKSUM_BYTES, "the checksum of a class", error);
        *checksum_ret = status == NT_OK ? nt_load_be32(run->bytes + at + VERSION_BYTES) : 0;
    }
    return status;
}

/* Is the class of the bytes the one that the body reads? */
static enum nt_status check_version(const struct run *run, const struct nt_operation *operation,
                                    uint16_t version, uint32_t checksum, struct nt_error *error)
{
    if (operation->version == NT_STREAMER_NO_OBJECTS)
        return fail_undescribed(run, error);
    if ((int16_t)version > 0 && operation->version >= 0 && version != operation->version)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "byte %zu of the values: class version: expected %" PRId32 ", found %u", run->at,
                       operation->version, version);
    if (checksum && operation->count && checksum != operation->count)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "byte %zu of the values: class checksum: expected %08" PRIx32 ", found %08" PRIx32,
                       run->at, operation->count, checksum);
    return NT_OK;
}

/* Without the flag of a byte count, there is only a version. */
static enum nt_status get_end(struct run *run, bool *has_end_ret, size_t *end_ret, struct nt_error *error)
{
    uint32_t count = left(run) < sizeof(count) ? 0 : nt_load_be32(run->bytes + run->at);
    *has_end_ret = count & BYTE_COUNT_FLAG;
    *end_ret = run->end;
    if (!*has_end_ret)
        return NT_OK;
    run->at += sizeof(count);
    count &= ~(uint32_t)BYTE_COUNT_FLAG;
    if (count > left(run))
        return fail_end(run, count, "an object", error);
    *end_ret = run->at + count;
    return NT_OK;
}

/* Runs the body of a header, once or (a header of MEMBERS) each step for all items. */
static enum nt_status run_header_body(struct run *run, uint32_t first, uint32_t end, bool is_shared,
                                      uint64_t items, struct nt_error *error)
{
    if (!is_shared)
        return run_body(run, first, end, error);
    for (uint32_t i = first; i < end; i = run->operations[i].end) {
        bool is_class = run->operations[i].kind == NT_STEP_CLASS;
        NT_TRY(is_class ? run_body(run, i, i + 1, error) : run_step(run, i, items, error));
    }
    return NT_OK;
}

/* Items of a type that is not described may also be enumerations, which have no header. */
static enum nt_status fail_without_count(const struct run *run, struct nt_error *error)
{
    if (left(run) < BYTE_COUNT_BYTES)
        return fail_end(run, BYTE_COUNT_BYTES, "the byte count of an object", error);
    return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                   "byte %zu of the values: the file does not describe an item, and the item has no byte "
                   "count to skip it",
                   run->at);
}

/* Runs the body that the version selects; skips it if nothing in it is needed. */
static enum nt_status run_versioned(struct run *run, uint32_t i, bool has_end, uint64_t items,
                                    struct nt_error *error)
{
    const struct nt_operation *operation = &run->operations[i];
    uint32_t first = i + 1, end = operation->other ? operation->other : operation->end, checksum;
    uint16_t version;
    if (operation->bits & NT_HEADER_SIZED)
        return has_end ? NT_OK : fail_without_count(run, error);
    enum nt_status status = get_version(run, &version, &checksum, error);
    bool is_memberwise = version & MEMBERWISE;
    if (status != NT_OK || (has_end && !operation->is_needed && !run->bare_list))
        return status;
    run->version = version & (uint16_t)~MEMBERWISE;
    status = check_version(run, operation, run->version, checksum, error);
    if (status == NT_OK && is_memberwise && !operation->other)
        return nt_fail(
            error, NT_UNSUPPORTED, NT_NO_OFFSET,
            "byte %zu of the values: cannot read this collection, which is stored member by member", run->at);
    if (is_memberwise) {
        first = operation->other;
        end = operation->end;
    }
    if (status != NT_OK)
        return status;
    return run_header_body(run, first, end, operation->bits & NT_HEADER_SHARED, items, error);
}

static bool has_header(const struct run *run, uint32_t i)
{
    uint32_t bit = i - run->bare_list;
    return !run->bare_list || (bit < HEADER_BITS && run->headers >> bit & 1);
}

static enum nt_status fail_size(const struct run *run, size_t end, struct nt_error *error)
{
    return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                   "byte %zu of the values: the members of an object: expected to end at byte %zu", run->at,
                   end);
}

static enum nt_status run_header(struct run *run, uint32_t i, uint64_t items, struct nt_error *error)
{
    const struct nt_operation *operation = &run->operations[i];
    size_t outer_end = run->end, object_end;
    bool has_end, is_outer_end_known = run->is_end_known;
    uint16_t outer_version = run->version;
    if (!has_header(run, i) || ((operation->bits & NT_HEADER_OPTIONAL) && !left(run)))
        return run_header_body(run, i + 1, operation->other ? operation->other : operation->end,
                               operation->bits & NT_HEADER_SHARED, items, error);
    enum nt_status status = get_end(run, &has_end, &object_end, error);
    run->end = object_end;
    run->is_end_known |= has_end;
    if (status == NT_OK)
        status = run_versioned(run, i, has_end, items, error);
    if (status == NT_OK && run->bare_list && run->at != object_end)
        status = fail_size(run, object_end, error);
    if (has_end)
        run->at = object_end;
    run->end = outer_end;
    run->is_end_known = is_outer_end_known;
    run->version = outer_version;
    return status;
}

/* An item of a list, some of whose headers may be absent. */
struct bare_item {
    const struct run *run;
    uint32_t list;
    size_t end;
    uint64_t headers; /* that it has, as in `run` */
};

/* The number of bytes that a header at this place counts; 0: there is none. */
static uint32_t byte_count_at(const struct bare_item *item, size_t at)
{
    size_t room = item->end - at;
    if (room < BYTE_COUNT_BYTES + VERSION_BYTES)
        return 0;
    uint32_t count = nt_load_be32(item->run->bytes + at) ^ BYTE_COUNT_FLAG;
    return count >= VERSION_BYTES && count <= room - BYTE_COUNT_BYTES ? count : 0;
}

static uint64_t measure_body(struct bare_item *item, uint32_t first, uint32_t end, size_t at);

/* The bytes of a header and its members; UINT64_MAX: it counts others. */
static uint64_t measure_header(struct bare_item *item, uint32_t i, size_t at)
{
    uint32_t count = byte_count_at(item, at), end = item->run->operations[i].end;
    if (!count)
        return measure_body(item, i + 1, end, at);
    item->headers |= (uint64_t)1 << (i - item->list);
    return measure_body(item, i + 1, end, at + BYTE_COUNT_BYTES + VERSION_BYTES) == count - VERSION_BYTES
               ? BYTE_COUNT_BYTES + (uint64_t)count
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
static bool find_headers(const struct run *run, uint32_t i, uint64_t items, uint64_t *headers_ret)
{
    const struct nt_operation *operation = &run->operations[i];
    if (operation->bare_bytes == NT_VARIABLE || !run->is_end_known || !items || left(run) % items)
        return false;
    uint64_t bytes = left(run) / items;
    struct bare_item item = {.run = run, .list = i, .end = run->at + (size_t)bytes};
    if (bytes >= BYTE_COUNT_BYTES &&
        nt_load_be32(run->bytes + run->at) == BYTE_COUNT_FLAG + bytes - BYTE_COUNT_BYTES)
        return false;
    if (bytes != operation->bare_bytes &&
        (operation->end - i > HEADER_BITS || measure_body(&item, i + 1, operation->end, run->at) != bytes))
        return false;
    *headers_ret = item.headers;
    return true;
}

/* Classes whose streamers are written by hand may omit the headers of items, or some of them. */
static enum nt_status run_items_with_headers(struct run *run, uint32_t i, uint64_t items,
                                             struct nt_error *error)
{
    uint32_t outer_list = run->bare_list;
    uint64_t outer_headers = run->headers;
    if (find_headers(run, i, items, &run->headers))
        run->bare_list = i;
    enum nt_status status = run_list(run, i, items, error);
    run->bare_list = outer_list;
    run->headers = outer_headers;
    return status;
}

static enum nt_status run_class(struct run *run, const struct nt_operation *operation, struct nt_error *error)
{
    enum { FIRST_WITH_CLASS = 8 }; /* version of the header of a collection */
    uint16_t version;
    uint32_t checksum;
    if (run->version < FIRST_WITH_CLASS)
        return NT_OK;
    NT_TRY(get_version(run, &version, &checksum, error));
    return check_version(run, operation, version, checksum, error);
}

/* ---- Pointers ---- */

/* What a tag refers to; SIZE_MAX: it is not in the values. */
static size_t position_of(const struct run *run, uint32_t tag)
{
    uint64_t offset = tag & ~NT_TFILE_CLASS_MASK, first = run->base + NT_TFILE_MAP_OFFSET;
    return offset < first ? SIZE_MAX : (size_t)(offset - first);
}

/* The name that a class tag is followed by, or refers to; then it was used before. Empty if there is none. */
static struct nt_text get_class_name(struct run *run, uint32_t tag)
{
    struct nt_text name = {0};
    size_t at = run->at, end = run->end;
    if (tag != NT_TFILE_NEW_CLASS_TAG) {
        at = position_of(run, tag);
        end = run->at;
        if (at >= end || end - at < POINTER_BYTES || nt_load_be32(run->bytes + at) != NT_TFILE_NEW_CLASS_TAG)
            return name;
        at += POINTER_BYTES;
    }
    size_t most = end - at < NT_TFILE_MAX_CLASS_NAME ? end - at : NT_TFILE_MAX_CLASS_NAME;
    const char *bytes = (const char *)run->bytes + at, *last = most ? memchr(bytes, 0, most) : NULL;
    if (last)
        name = (struct nt_text){bytes, (size_t)(last - bytes)};
    if (last && tag == NT_TFILE_NEW_CLASS_TAG)
        run->at += name.length + 1;
    return name;
}

/* Runs the case of the object's class. While elements are only counted, an object of another class counts as
 * none, so that the other outputs of the entry can be read. */
static enum nt_status run_cases(struct run *run, uint32_t parent, bool is_object, struct nt_text found,
                                bool *is_found_ret, struct nt_error *error)
{
    const struct nt_operation *operations = run->operations;
    *is_found_ret = false;
    for (uint32_t i = parent + 1; i < operations[parent].end; i = operations[i].end) {
        bool is_case = !*is_found_ret && (operations[i].count == NT_NONE
                                              ? is_object
                                              : nt_text_is(found, run->class_names + operations[i].count));
        put_end(run, operations[i].ends, is_case);
        *is_found_ret |= is_case;
        if (is_case && operations[i].is_needed)
            NT_TRY(run_body(run, i + 1, operations[i].end, error));
    }
    return NT_OK;
}

static enum nt_status fail_pointer(const struct run *run, size_t at, uint32_t parent, struct nt_text found,
                                   bool is_class, struct nt_error *error)
{
    const struct nt_operation *first = &run->operations[parent + 1];
    bool has_several = first->end < run->operations[parent].end;
    return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                   "byte %zu of the values: a pointer: expected an object of class %s%s, found %s%.*s", at,
                   run->class_names + first->count, has_several ? " or of other known classes" : "",
                   found.length ? "class "
                   : is_class   ? "a tag that leads to no class"
                                : "a reference to no object before it",
                   (int)found.length, found.length ? found.bytes : "");
}

/* The object after its tag, if it is needed. */
static enum nt_status run_object(struct run *run, uint32_t i, uint32_t tag, struct nt_error *error)
{
    const struct nt_operation *operation = &run->operations[i];
    size_t at = run->at - POINTER_BYTES;
    bool is_class = tag & NT_TFILE_CLASS_MASK, is_found;
    struct nt_text found = is_class ? get_class_name(run, tag) : (struct nt_text){0};
    if (operation->end == i + 1) {
        put_text(run, operation, (const uint8_t *)found.bytes, found.length);
        return NT_OK;
    }
    NT_TRY(run_cases(run, i, tag != 0, found, &is_found, error));
    return is_found || !tag || !run->output ? NT_OK : fail_pointer(run, at, i, found, is_class, error);
}

/* The object that is stored here, if it is needed; else skips it by its byte count. */
static enum nt_status run_stored_object(struct run *run, uint32_t i, struct nt_error *error)
{
    size_t outer_end = run->end, object_end, at;
    bool has_end, is_outer_end_known = run->is_end_known;
    NT_TRY(get_end(run, &has_end, &object_end, error));
    at = run->at;
    run->end = object_end;
    run->is_end_known |= has_end;
    enum nt_status status = take(run, 1, POINTER_BYTES, "a pointer", error);
    uint32_t tag = status == NT_OK ? nt_load_be32(run->bytes + at) : 0;
    if (!has_end && tag & NT_TFILE_CLASS_MASK)
        status = nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                         "byte %zu of the values: the object of a pointer has no byte count", at);
    if (status == NT_OK && run->operations[i].is_needed)
        status = run_object(run, i, tag, error);
    if (has_end)
        run->at = object_end;
    run->end = outer_end;
    run->is_end_known = is_outer_end_known;
    return status;
}

/* Is there a reference to an object before it? */
static bool find_referenced(const struct run *run, size_t *at_ret)
{
    uint32_t tag = left(run) < POINTER_BYTES ? 0 : nt_load_be32(run->bytes + run->at);
    size_t at = position_of(run, tag);
    if (tag & NT_TFILE_CLASS_MASK || at >= run->at || run->at - at < BYTE_COUNT_BYTES + POINTER_BYTES)
        return false;
    *at_ret = at;
    return nt_load_be32(run->bytes + at) - BYTE_COUNT_FLAG <= run->entry_end - at - BYTE_COUNT_BYTES &&
           nt_load_be32(run->bytes + at + BYTE_COUNT_BYTES) & NT_TFILE_CLASS_MASK;
}

/* Objects are stored where the first pointer to them is; later ones have that place. */
static enum nt_status run_pointer(struct run *run, uint32_t i, struct nt_error *error)
{
    size_t at, next = run->at + POINTER_BYTES, outer_end = run->end;
    if (!run->operations[i].is_needed || !find_referenced(run, &at))
        return run_stored_object(run, i, error);
    run->at = at;
    run->end = run->entry_end;
    enum nt_status status = run_stored_object(run, i, error);
    run->at = next;
    run->end = outer_end;
    return status;
}

/* The pointers of a list. As for pointers, another version counts as nothing. */
static enum nt_status run_objects(struct run *run, uint32_t i, struct nt_error *error)
{
    enum { LOWER_BOUND_BYTES = 4 };
    static const struct {
        const char *name;
        uint16_t version, other_version;
    } forms[] = {[NT_LIST_OF_PLACES] = {"TObjArray", 3, 3},
                 [NT_LIST_OF_OPTIONS] = {"TList", 4, 5},
                 [NT_LIST_OF_PAIRS] = {"TMap", 3, 3}};
    const struct nt_operation *operation = &run->operations[i];
    bool is_list = operation->count == NT_LIST_OF_OPTIONS,
         is_known = run->version == forms[operation->count].version ||
                    run->version == forms[operation->count].other_version;
    uint64_t items = 0, length = 0;
    if (operation->is_needed && !is_known && run->output)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "byte %zu of the values: cannot read version %u of a %s", run->at, run->version,
                       forms[operation->count].name);
    if (operation->is_needed && !is_known)
        put_end(run, operation->ends, 0);
    if (!operation->is_needed || !is_known) { /* the header of the list skips it */
        run->at = run->end;
        return NT_OK;
    }
    NT_TRY(get_count(run, &items, error));
    if (operation->count == NT_LIST_OF_PLACES)
        NT_TRY(take(run, 1, LOWER_BOUND_BYTES, "a lower bound", error));
    put_end(run, operation->ends, items);
    for (uint64_t item = 0; item < items; item++) {
        NT_TRY(run_body(run, i + 1, operation->end, error));
        if (is_list) {
            NT_TRY(get_length(run, &length, error));
            NT_TRY(take(run, length, 1, "an option", error));
        }
    }
    return NT_OK;
}

/* ---- TClonesArrays ---- */

static enum nt_status fail_clones(const struct run *run, const char *expected, struct nt_text found,
                                  struct nt_error *error)
{
    return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                   "byte %zu of the values: a TClonesArray: expected objects of class %s, found %.*s",
                   run->at, expected, (int)found.length, found.bytes);
}

/* One after the other, each after a byte that is 0 if there is none. */
static enum nt_status run_by_objects(struct run *run, uint32_t parent, uint32_t end, uint64_t items,
                                     const char *class_name, struct nt_error *error)
{
    for (uint64_t i = 0; i < items; i++) {
        size_t at = run->at;
        NT_TRY(take(run, 1, 1, "the flag of an object", error));
        if (run->bytes[at])
            NT_TRY(run_body(run, parent + 1, end, error));
        else if (run->output)
            return fail_clones(run, class_name, NT_TEXT("an empty slot"), error);
    }
    return NT_OK;
}

/* As for pointers, what cannot be read is an error of the outputs that are made here, and counts as nothing.
 */
static enum nt_status run_clones_of(struct run *run, uint32_t i, struct nt_text found, uint64_t items,
                                    bool is_memberwise, struct nt_error *error)
{
    const struct nt_operation *operation = &run->operations[i];
    if (operation->count == NT_NONE) {
        put_end(run, operation->ends, items);
        run->at = run->end;
        return NT_OK;
    }
    const char *expected = run->class_names + operation->count;
    uint32_t middle = operation->other ? operation->other : operation->end;
    bool is_readable = nt_text_is(found, expected) && (!is_memberwise || operation->other);
    if (!is_readable && run->output)
        return fail_clones(run, expected, found, error);
    put_end(run, operation->ends, is_readable ? items : 0);
    if (!is_readable) {
        run->at = run->end;
        return NT_OK;
    }
    return is_memberwise ? run_by_members(run, operation->other, operation->end, items, error)
                         : run_by_objects(run, i, middle, items, expected, error);
}

static enum nt_status run_clones(struct run *run, uint32_t i, struct nt_error *error)
{
    enum { OLD_VERSION = 3, OLD_BIT = 1 << 14, BIT = 1 << 12, LOWER_BOUND_BYTES = 4 };
    uint64_t bits = 0, length = 0, items = 0;
    if (!run->operations[i].is_needed) { /* the header of the array skips it */
        run->at = run->end;
        return NT_OK;
    }
    NT_TRY(get_counter(run, run->operations[i].counter, &bits, error));
    NT_TRY(get_length(run, &length, error));
    const char *name = (const char *)run->bytes + run->at;
    NT_TRY(take(run, length, 1, "the class of a TClonesArray", error));
    NT_TRY(get_count(run, &items, error));
    NT_TRY(take(run, 1, LOWER_BOUND_BYTES, "a lower bound", error));
    return run_clones_of(run, i, (struct nt_text){name, (size_t)length}, items,
                         bits & (run->version == OLD_VERSION ? OLD_BIT : BIT), error);
}

/* ---- Steps ---- */

static enum nt_status run_name(struct run *run, const struct nt_operation *operation, struct nt_error *error)
{
    uint64_t length;
    size_t at = run->at;
    NT_TRY(get_length(run, &length, error));
    struct nt_text found = {(const char *)run->bytes + run->at, (size_t)length};
    NT_TRY(take(run, length + 1, 1, "the name of a class", error));
    if (nt_text_is(found, run->class_names + operation->count) && !found.bytes[length])
        return NT_OK;
    return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                   "byte %zu of the values: expected an object of class %s, found class %.*s", at,
                   run->class_names + operation->count, (int)(length < UINT8_MAX ? length : UINT8_MAX),
                   found.bytes);
}

static enum nt_status run_one(struct run *run, uint32_t i, struct nt_error *error)
{
    const struct nt_operation *operation = &run->operations[i];
    uint64_t items = 0;
    enum nt_status status = NT_OK;
    switch ((enum nt_step_kind)operation->kind) {
    case NT_STEP_VALUES:
        return run_values(run, operation, 1, error);
    case NT_STEP_SKIP:
        return take(run, 1, operation->count, "bytes to skip", error);
    case NT_STEP_NAME:
        return run_name(run, operation, error);
    case NT_STEP_HEADER:
        return run_header(run, i, 1, error);
    case NT_STEP_CLASS:
        return run_class(run, operation, error);
    case NT_STEP_LIST:
        status = get_count(run, &items, error);
        return status == NT_OK ? run_items_with_headers(run, i, items, error) : status;
    case NT_STEP_MEMBERS:
        return run_members(run, i, error);
    case NT_STEP_REST:
        return run_rest(run, i, error);
    case NT_STEP_COUNTED:
        return run_counted(run, i, error);
    case NT_STEP_REPEAT:
        return run_items(run, i, operation->count, error);
    case NT_STEP_STRING:
        return run_string(run, operation, error);
    case NT_STEP_COUNTER:
        return run_counter(run, operation, error);
    case NT_STEP_WHEN:
        return run_when(run, i, error);
    case NT_STEP_POINTER:
        return run_pointer(run, i, error);
    case NT_STEP_CLONES:
        return run_clones(run, i, error);
    case NT_STEP_OBJECTS:
        return run_objects(run, i, error);
    case NT_STEP_CASE: /* in run_cases */
        break;
    }
    return status;
}

/* Runs a step for each of several items: all at once if they have a fixed size. */
static enum nt_status run_step(struct run *run, uint32_t i, uint64_t items, struct nt_error *error)
{
    const struct nt_operation *operation = &run->operations[i];
    if (operation->kind == NT_STEP_VALUES)
        return run_values(run, operation, items, error);
    if (operation->kind == NT_STEP_SKIP)
        return take(run, items, operation->count, "bytes to skip", error);
    if (operation->kind == NT_STEP_HEADER && (operation->bits & NT_HEADER_SHARED))
        return run_header(run, i, items, error);
    for (uint64_t item = 0; item < items; item++) {
        run->item = item;
        NT_TRY(run_body(run, i, operation->end, error));
    }
    return NT_OK;
}

static enum nt_status run_body(struct run *run, uint32_t first, uint32_t end, struct nt_error *error)
{
    for (uint32_t i = first; i < end; i = run->operations[i].end) {
        NT_TRY(use_work(run, 1, error));
        NT_TRY(run_one(run, i, error));
    }
    return NT_OK;
}

/* ---- Where entries are ---- */

/* Where the entries of a basket are. */
struct basket_entries {
    const struct nt_basket_content *content;
    const uint8_t *offsets; /* as in `content` */
    uint32_t key_bytes;
    uint32_t fixed_bytes; /* of each entry, if they are cut so; else 0 */
    bool are_cut;         /* by offsets, or by their size; else only one after the other */
};

static struct basket_entries entries_of(const struct nt_basket_content *content)
{
    const struct nt_basket *basket = &content->basket;
    struct basket_entries entries = {.content = content,
                                     .offsets = content->offsets,
                                     .key_bytes = basket->key_bytes,
                                     .are_cut = content->offsets || basket->entries == 1};
    if (entries.are_cut || basket->is_without_offsets ||
        (uint64_t)basket->entries * basket->entry_bytes != basket->value_bytes)
        return entries;
    entries.fixed_bytes = basket->entry_bytes;
    entries.are_cut = true;
    return entries;
}

static size_t start_of(const struct basket_entries *entries, uint32_t entry)
{
    const struct nt_basket *basket = &entries->content->basket;
    if (entry == basket->entries)
        return basket->value_bytes;
    return entries->content->offsets
               ? nt_load_be32(entries->content->offsets + sizeof(uint32_t) * entry) - basket->key_bytes
               : (size_t)entry * entries->fixed_bytes;
}

/* ---- Entries of one list ---- */

/* Most branches of variable size store one list per entry: loops for regular entries, without steps. What
 * they do not take (the end of the basket, damage, large lists, rare forms) is left to the steps. */
enum form {
    FORM_STEPS,  /* none of these */
    FORM_REST,   /* items up to the end */
    FORM_LIST,   /* byte count, version, number of items, items */
    FORM_STRING, /* a length of one byte, characters */
};

struct list_form {
    enum form form;
    uint32_t lead;       /* bytes before it */
    uint32_t item_bytes; /* > 0 */
    uint32_t number;     /* of the operation that has the items */
    bool has_ends;       /* they are the output; else items are, side by side */
    struct nt_operation values;
};

static bool find_form(const struct nt_operation *operations, struct list_form *list)
{
    uint32_t i = 1, end = operations[0].end;
    if (i < end && operations[i].kind == NT_STEP_SKIP)
        list->lead = operations[i++].count;
    if (i == end || operations[i].end != end)
        return false;
    const struct nt_operation *operation = &operations[i];
    uint32_t list_end = operation->other ? operation->other : end; /* else members are side by side */
    bool has_long_length = operation->count == sizeof(uint32_t);
    bool is_any_header =
        operation->kind == NT_STEP_HEADER && !operation->bits && operation->version < 0 && !operation->count;
    list->form = operation->kind == NT_STEP_REST                         ? FORM_REST
                 : operation->kind == NT_STEP_STRING && !has_long_length ? FORM_STRING
                                                                         : FORM_STEPS;
    if (is_any_header && i + 1 < list_end && operations[i + 1].kind == NT_STEP_LIST &&
        operations[i + 1].end == list_end) {
        list->form = FORM_LIST;
        i++;
    }
    list->number = i;
    return list->form != FORM_STEPS;
}

static struct list_form list_of(const struct nt_operation *operations)
{
    struct list_form list = {0};
    const struct list_form none = {0};
    if (!find_form(operations, &list))
        return none;
    const struct nt_operation *operation = &operations[list.number];
    const struct nt_operation *only = &operations[operation->only];
    list.has_ends = operation->ends != NT_NONE;
    list.values = *only;
    list.item_bytes = operation->body_bytes;
    if (list.form == FORM_STRING) {
        list.item_bytes = 1;
        list.values = (struct nt_operation){
            .number_copy = NT_NUMBER_COPY_PLAIN, .width = 1, .element_bytes = 1, .count = 1};
    } else if (!list.item_bytes || list.item_bytes == NT_VARIABLE ||
               (!list.has_ends && (!operation->only || only->values == NT_NONE ||
                                   list.item_bytes != only->count * only->width))) {
        return none;
    }
    return list;
}

/* Where lists end, for items side by side whose size is a power of two. The bytes of each list are items if
 * those of each list and all before it are. */
static uint32_t put_ends_of_rest(struct run *run, const struct basket_entries *entries,
                                 const struct list_form *list, uint32_t first)
{
    uint32_t start = (uint32_t)start_of(entries, first) + entries->key_bytes, mask = list->item_bytes - 1;
    uint32_t shift = (uint32_t)__builtin_ctz(list->item_bytes), count = entries->content->basket.entries - 1;
    uint64_t room = run->capacity - run->done->elements, before = run->done->items;
    uint8_t *to = run->output + sizeof(before) * run->done->elements;
    const uint8_t *next = entries->offsets + sizeof(uint32_t) * (first + 1);
    uint32_t rest = 0, bytes = 0;
    count = count - first < room ? count - first : (uint32_t)room;
    for (uint32_t i = 0; i < count; i++) {
        bytes = nt_load_be32(next + sizeof(bytes) * i) - start;
        rest |= bytes & mask;
        uint64_t end = before + (bytes >> shift);
        memcpy(to + sizeof(end) * i, &end, sizeof(end));
        nt_prefetch_for_write(to + sizeof(end) * i);
    }
    for (uint32_t i = 0; rest && i < count; i++) { /* up to the first that is not regular */
        uint32_t regular = bytes;
        bytes = nt_load_be32(next + sizeof(bytes) * i) - start;
        if (bytes & mask) {
            count = i;
            bytes = i ? regular : 0;
        }
    }
    run->done->elements += count;
    run->done->items = before + (bytes >> shift);
    return first + count;
}

/* Lists are copied one after the other into a little memory, which the processor has at hand; then all their
 * numbers are decoded. Whether all entries are regular is known only after that: nothing waits for it. */
enum { CHUNK = 32, LISTS = 256, LISTS_BYTES = 8 * 1024 };

/* What is in front of the items of a list. */
struct front {
    size_t bytes; /* of an entry before its items */
    uint32_t item_bytes;
    uint32_t byte_count; /* of a FORM_LIST without items */
    uint16_t version;    /* of all FORM_LISTs */
};

/* Up to LISTS entries, but not the last one of the basket, whose end is not in the offsets. */
struct list_batch {
    const struct basket_entries *entries;
    const struct list_form *list;
    struct run *items, *ends; /* what is made: both, or one (NULL) */
    uint32_t first, end;
    struct front front;
    size_t room;    /* for copies of items */
    size_t bytes;   /* of the copies */
    uint64_t sum;   /* of the items of all lists so far */
    uint64_t wrong; /* 0: all that were copied are regular */
    uint8_t copies[LISTS_BYTES + CHUNK];
};

/* Copies chunks up to `bytes` bytes or a little more, and at least one: the processor does not guess whether
 * a list is empty. */
static inline void copy_chunks(const uint8_t *from, size_t bytes, uint8_t *to)
{
    memcpy(to, from, CHUNK);
    for (size_t i = CHUNK; i < bytes; i += CHUNK)
        memcpy(to + i, from + i, CHUNK);
}

/* The number of items of a list, which are `bytes` bytes. Sets `wrong` if the list is not regular. */
static inline uint64_t count_items(struct front front, enum form form, const uint8_t *items, size_t bytes,
                                   uint64_t *wrong)
{
    uint64_t count;
    if (form == FORM_LIST) {
        const uint8_t *version = items - COUNT_BYTES - VERSION_BYTES;
        count = nt_load_be32(items - COUNT_BYTES);
        *wrong |= nt_load_be32(version - BYTE_COUNT_BYTES) ^ (front.byte_count + bytes);
        *wrong |= nt_load_be16(version) ^ front.version;
    } else if (form == FORM_STRING) {
        count = items[-1];
        *wrong |= count == UINT8_MAX;
    } else {
        count = (uint32_t)bytes / front.item_bytes;
    }
    *wrong |= count * front.item_bytes ^ bytes;
    return count;
}

/* Copies items, puts ends, or both. Returns the first entry that is not done: it needs more room, or is close
 * to the end of the values. What changes is in local variables: the compiler cannot know that the output does
 * not hold the objects of pointers. */
__attribute__((always_inline)) static inline uint32_t copy_lists(struct list_batch *lists, enum form form,
                                                                 bool has_items, bool has_ends)
{
    const struct nt_basket *basket = &lists->entries->content->basket;
    const uint8_t *values = lists->entries->content->values;
    const uint8_t *offsets = lists->entries->offsets + sizeof(uint32_t);
    uint32_t entry = lists->first, last = lists->end, key_bytes = basket->key_bytes;
    const struct front front = lists->front;
    size_t start = start_of(lists->entries, entry) + front.bytes;
    size_t values_end = basket->value_bytes, room = lists->room, done = 0;
    uint64_t wrong = 0, sum = lists->sum;
    uint8_t *to = has_ends ? lists->ends->output + sizeof(sum) * lists->ends->done->elements : NULL;
    for (; entry < last; entry++) {
        size_t end = nt_load_be32(offsets + sizeof(uint32_t) * entry) - key_bytes, bytes = end - start;
        if (end + CHUNK > values_end || bytes > room - done)
            break;
        uint64_t count = count_items(front, form, values + start, bytes, &wrong);
        if (has_items) {
            copy_chunks(values + start, bytes, lists->copies + done);
            done += bytes;
        }
        if (has_ends) {
            sum += count;
            memcpy(to, &sum, sizeof(sum));
            nt_prefetch_for_write(to);
            to += sizeof(sum);
        }
        start = end + front.bytes;
    }
    lists->bytes = done;
    lists->sum = sum;
    lists->wrong = wrong;
    return entry;
}

__attribute__((always_inline)) static inline uint32_t copy_form(struct list_batch *lists, enum form form)
{
    return lists->items && lists->ends ? copy_lists(lists, form, true, true)
           : lists->items              ? copy_lists(lists, form, true, false)
                                       : copy_lists(lists, form, false, true);
}

__attribute__((noinline)) static uint32_t copy(struct list_batch *lists)
{
    return lists->list->form == FORM_REST   ? copy_form(lists, FORM_REST)
           : lists->list->form == FORM_LIST ? copy_form(lists, FORM_LIST)
                                            : copy_form(lists, FORM_STRING);
}

/* All lists have the version of the first. False if that is not regular. */
static bool find_front(struct list_batch *lists)
{
    const struct list_form *list = lists->list;
    const struct nt_basket_content *content = lists->entries->content;
    size_t start = start_of(lists->entries, lists->first) + list->lead;
    if (start + CHUNK > content->basket.value_bytes)
        return false;
    lists->front = (struct front){list->lead + (list->form == FORM_STRING), list->item_bytes, 0, 0};
    if (list->form != FORM_LIST)
        return true;
    lists->front.bytes += BYTE_COUNT_BYTES + VERSION_BYTES + COUNT_BYTES;
    lists->front.byte_count = BYTE_COUNT_FLAG + VERSION_BYTES + COUNT_BYTES;
    lists->front.version = nt_load_be16(content->values + start + BYTE_COUNT_BYTES);
    return lists->front.version > 0 && lists->front.version < MEMBERWISE;
}

static void find_room(struct list_batch *lists, uint32_t entry)
{
    const struct run *items = lists->items, *ends = lists->ends;
    uint32_t width = lists->list->values.width, left = lists->entries->content->basket.entries - 1 - entry;
    uint64_t most =
        ends && ends->capacity - ends->done->elements < LISTS ? ends->capacity - ends->done->elements : LISTS;
    lists->first = entry;
    lists->end = entry + (left < most ? left : (uint32_t)most);
    lists->sum = ends ? ends->done->items : 0;
    lists->room = LISTS_BYTES;
    if (items && items->capacity - items->done->elements < LISTS_BYTES / width)
        lists->room = (size_t)(items->capacity - items->done->elements) * width;
}

/* Returns the first entry that is not done: `entry` if one of the next is not regular, or has no room. */
static uint32_t put_lists(struct list_batch *lists, uint32_t entry)
{
    const struct nt_operation *values = &lists->list->values;
    struct run *items = lists->items, *ends = lists->ends;
    find_room(lists, entry);
    uint32_t end = find_front(lists) ? copy(lists) : entry;
    if (end == entry || lists->wrong)
        return entry;
    if (items) {
        size_t count = lists->bytes / values->width;
        if (move(values, lists->copies, count, items->output + items->done->elements * values->element_bytes,
                 NULL) != NT_OK)
            return entry;
        items->done->elements += count;
    }
    if (ends) {
        ends->done->elements += end - entry;
        ends->done->items = lists->sum;
    }
    return end;
}

/* Puts items, ends of the same lists, or both (else NULL), of which none is full. Returns an entry: those
 * before it are done. */
static uint32_t put_regular(struct run *items, struct run *ends, const struct basket_entries *entries,
                            const struct list_form *list, uint32_t entry)
{
    struct list_batch lists;
    uint32_t before;
    bool is_power = !(list->item_bytes & (list->item_bytes - 1));
    if (!entries->content->offsets || list->form == FORM_STEPS)
        return entry;
    if (list->form == FORM_REST && !items && list->lead == 0 && is_power)
        return put_ends_of_rest(ends, entries, list, entry);
    lists.entries = entries;
    lists.list = list;
    lists.items = items;
    lists.ends = ends;
    do {
        before = entry;
        entry = put_lists(&lists, entry);
    } while (entry > before);
    return entry;
}

/* ---- Entries ---- */

/* ROOT stores nothing for an empty string that is a leaf of its own. */
static bool is_only_string(const struct nt_operation *operations)
{
    return operations[0].end > 1 && operations[1].kind == NT_STEP_STRING &&
           operations[1].end == operations[0].end;
}

static enum nt_status run_entry(struct run *run, const struct basket_entries *entries, uint32_t entry,
                                struct nt_error *error)
{
    const struct nt_basket *basket = &entries->content->basket;
    bool is_end_known = entries->are_cut || entry + 1 == basket->entries;
    if (entries->are_cut) {
        run->at = start_of(entries, entry);
        run->end = start_of(entries, entry + 1);
    }
    run->entry_end = run->end;
    run->is_end_known = entries->are_cut;
    if (entries->are_cut && !left(run) && is_only_string(run->operations)) {
        put_end(run, run->operations[1].ends, 0);
        return NT_OK;
    }
    enum nt_status status = run_body(run, 1, run->operations[0].end, error);
    if (status == NT_OK && is_end_known && left(run))
        status =
            nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                    "%zu bytes follow the content, which ends at byte %zu of the values", left(run), run->at);
    if (status != NT_OK)
        nt_error_context(error, "entry %" PRIu32 " of a basket", entry);
    return status;
}

static bool is_full(const struct run *run)
{
    return run->output && run->done->elements >= run->capacity;
}

static void start_values(struct run *run, const struct nt_basket_content *content)
{
    const struct nt_basket *basket = &content->basket;
    run->bytes = content->values;
    run->base = basket->key_bytes;
    run->end = basket->value_bytes;
    run->work_left = WORK_FACTOR * ((uint64_t)basket->value_bytes + basket->entries) + MIN_WORK;
}

/* Runs the program over the entries from `first` to `end`, or until the output is full. */
static enum nt_status run_entries(struct run *run, const struct basket_entries *entries, uint32_t first,
                                  uint32_t end, struct nt_error *error)
{
    const struct list_form list = run->output ? list_of(run->operations) : (struct list_form){0};
    start_values(run, entries->content);
    for (uint32_t i = first, stop; i < end && !is_full(run);) {
        if (run->output)
            i = put_regular(list.has_ends ? NULL : run, list.has_ends ? run : NULL, entries, &list, i);
        stop = end - i < LISTS ? end : i + LISTS;
        for (; i < stop && !is_full(run); i++)
            NT_TRY(run_entry(run, entries, i, error));
    }
    return NT_OK;
}

/* ---- Entries side by side ---- */

/* Rows, or lists without anything between them: all in one run. */
static bool is_one_run(const struct nt_operation *operations, const struct nt_basket_content *content)
{
    const struct nt_operation *rest = &operations[1];
    bool is_rest = operations[0].end > 1 && rest->kind == NT_STEP_REST && rest->end == operations[0].end;
    return operations[0].only || (is_rest && rest->only && rest->ends == NT_NONE && content->basket.entries);
}

static enum nt_status run_at_once(struct run *run, const struct nt_basket_content *content,
                                  struct nt_error *error)
{
    const struct nt_basket *basket = &content->basket;
    uint32_t parent = run->operations[0].only ? 0 : 1, item_bytes = run->operations[parent].body_bytes;
    uint32_t items = parent == 0 ? basket->entries : item_bytes ? basket->value_bytes / item_bytes : 0;
    start_values(run, content);
    if ((uint64_t)item_bytes * items != basket->value_bytes)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of the values of a basket",
                              (uint64_t)item_bytes * items, basket->value_bytes);
    return run_items(run, parent, items, error);
}

/* ---- Outputs ---- */

static enum nt_status copy_raw(const struct nt_packed *packed, const struct nt_basket_content *content,
                               uint8_t *output, struct nt_error *error)
{
    const struct nt_basket *basket = &content->basket;
    const uint8_t *offsets =
        basket->is_embedded ? packed->data + basket->header_end : content->values + basket->value_bytes;
    size_t values = packed->elements < basket->value_bytes ? packed->elements : basket->value_bytes;
    if (packed->elements > basket->object_bytes)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "uncompressed bytes of a basket",
                              packed->elements, basket->object_bytes);
    if (packed->elements == 0)
        return NT_OK;
    memcpy(output, content->values, values);
    memcpy(output + values, offsets, packed->elements - values);
    return NT_OK;
}

/* One output of a basket. */
struct basket_output {
    const struct nt_packed *packed;
    const struct nt_operation *operations;
    struct nt_output_count done;
    struct run run;
    uint32_t first; /* entries before it are done */
};

static void begin(struct basket_output *result, const struct nt_packed *packed, uint8_t *output)
{
    const struct nt_program *program = packed->decoder->state;
    result->packed = packed;
    result->operations = program->operations;
    result->done = (struct nt_output_count){.items = packed->parameter};
    result->run = (struct run){.operations = program->operations,
                               .class_names = nt_program_names(program),
                               .done = &result->done,
                               .output = output,
                               .capacity = packed->elements,
                               .lengths = {.values = packed->dependencies,
                                           .count = packed->decoder->dependency_count,
                                           .first = program->first_length}};
    result->first = 0;
}

static enum nt_status finish(struct basket_output *result, const struct nt_basket_content *content,
                             struct nt_error *error)
{
    const struct basket_entries entries = entries_of(content);
    NT_TRY(is_one_run(result->operations, content)
               ? run_at_once(&result->run, content, error)
               : run_entries(&result->run, &entries, result->first, content->basket.entries, error));
    if (result->done.elements < result->packed->elements)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "elements of a basket",
                              result->packed->elements, result->done.elements);
    return NT_OK;
}

static enum nt_status make(const struct nt_packed *packed, const struct nt_basket_content *content,
                           uint8_t *output, struct nt_error *error)
{
    const struct nt_program *program = packed->decoder->state;
    struct basket_output result;
    if (program->output == NT_OUTPUT_RAW)
        return copy_raw(packed, content, output, error);
    begin(&result, packed, output);
    return finish(&result, content, error);
}

/* Where the lists of a branch end, and their items. */
static bool are_of_one_list(const struct nt_packed *ends, const struct nt_packed *items)
{
    const struct nt_program *one = ends->decoder->state, *other = items->decoder->state;
    if (one->output == NT_OUTPUT_RAW || other->output == NT_OUTPUT_RAW)
        return false;
    const struct list_form a = list_of(one->operations), b = list_of(other->operations);
    return (a.form == FORM_LIST || a.form == FORM_STRING) && a.form == b.form && a.lead == b.lead &&
           a.item_bytes == b.item_bytes && a.number == b.number && a.has_ends && !b.has_ends;
}

/* Makes both in one loop, as far as entries are regular. */
static enum nt_status make_list(const struct nt_packed *ends, const struct nt_packed *items,
                                const struct nt_basket_content *content, uint8_t *end_output,
                                uint8_t *item_output, struct nt_error *error)
{
    struct basket_output of_ends, of_items;
    begin(&of_ends, ends, end_output);
    begin(&of_items, items, item_output);
    const struct list_form list = list_of(of_items.operations);
    const struct basket_entries entries = entries_of(content);
    if (content->basket.entries)
        of_ends.first = of_items.first = put_regular(&of_items.run, &of_ends.run, &entries, &list, 0);
    NT_TRY(finish(&of_ends, content, error));
    return finish(&of_items, content, error);
}

static enum nt_status decode_shared(const struct nt_packed *packed, uint8_t *const *outputs, uint32_t count,
                                    struct nt_error *error)
{
    struct nt_basket_content content;
    enum nt_status status =
        nt_basket_open(packed->data, packed->bytes, packed->limit, packed->context, &content, error);
    for (uint32_t i = 0; status == NT_OK && i < count; i++) {
        const struct nt_packed *next = &packed[i + 1];
        bool has_next = i + 1 < count;
        if (has_next && are_of_one_list(&packed[i], next))
            status = make_list(&packed[i], next, &content, outputs[i], outputs[i + 1], error), i++;
        else if (has_next && are_of_one_list(next, &packed[i]))
            status = make_list(next, &packed[i], &content, outputs[i + 1], outputs[i], error), i++;
        else
            status = make(&packed[i], &content, outputs[i], error);
    }
    return status;
}

static enum nt_status decode(const struct nt_packed *packed, uint8_t *output, struct nt_error *error)
{
    return decode_shared(packed, &output, 1, error);
}

/* ---- Decoders ---- */

/* All outputs share the decompression. */
static bool are_shared(const struct nt_decoder *a, const struct nt_decoder *b)
{
    const struct nt_program *one = a->state, *other = b->state;
    return one->output != other->output;
}

/* Of numbers those that they take; of the basket itself, all that is after its key. */
static uint64_t packed_bytes(const struct nt_decoder *decoder, uint64_t elements)
{
    const struct nt_program *program = decoder->state;
    for (uint32_t i = 0; program->output != NT_OUTPUT_RAW && i < program->count; i++)
        if (program->operations[i].kind == NT_STEP_VALUES && program->operations[i].values != NT_NONE)
            return elements * program->operations[i].width;
    return elements * decoder->element_bytes;
}

static bool is_length(enum nt_element element)
{
    return element == NT_ELEMENT_INT32 || element == NT_ELEMENT_UINT32;
}

static enum nt_status check(const struct nt_decoder *decoder, const struct nt_decoder *const *dependencies,
                            struct nt_error *error)
{
    for (uint32_t i = 0; i < decoder->dependency_count; i++)
        if (!is_length(dependencies[i]->element))
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "lengths of arrays are not integers of 32 bits");
    return NT_OK;
}

static const struct nt_decoder_ops basket_ops = {.decode = decode,
                                                 .check = check,
                                                 .are_shared = are_shared,
                                                 .decode_shared = decode_shared,
                                                 .packed_bytes = packed_bytes,
                                                 .allocates_memory = true};

enum nt_status nt_basket_decoder(const struct nt_interpretation *interpretation, uint32_t output,
                                 struct nt_decoder *decoder_ret, void **state_ret, struct nt_error *error)
{
    static const struct nt_interpretation raw = {0};
    struct nt_program *program = NULL;
    size_t bytes = 0;
    enum nt_element element = NT_ELEMENT_BYTE;
    if (output != NT_OUTPUT_RAW && output >= interpretation->output_count)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "a branch has no output %" PRIu32, output);
    if (output != NT_OUTPUT_RAW)
        element = interpretation->outputs[output].is_offsets ? NT_ELEMENT_UINT64
                                                             : interpretation->outputs[output].element;
    NT_TRY(
        nt_program_compile(output == NT_OUTPUT_RAW ? &raw : interpretation, output, &program, &bytes, error));
    *state_ret = program;
    *decoder_ret = (struct nt_decoder){.ops = &basket_ops,
                                       .state = program,
                                       .state_bytes = (uint32_t)bytes,
                                       .encoding = NT_ENCODING_OTHER,
                                       .element = element,
                                       .element_bytes = nt_element_info(element)->bytes};
    return NT_OK;
}

void nt_basket_set_lengths(void *state, uint64_t first)
{
    struct nt_program *program = state;
    program->first_length = first;
}

uint32_t nt_basket_lengths_output(const struct nt_interpretation *interpretation)
{
    const struct nt_step *step = interpretation->steps;
    uint32_t count = interpretation->step_count;
    bool is_list = count == 2 && step->kind == NT_STEP_REST;
    if ((count != 1 && !is_list) || interpretation->lengths)
        return NT_NONE;
    step += is_list;
    return step->kind == NT_STEP_VALUES && step->count == 1 && step->output != NT_NONE &&
                   is_length(interpretation->outputs[step->output].element)
               ? step->output
               : NT_NONE;
}

enum nt_status nt_basket_decode(const struct nt_interpretation *interpretation, uint32_t output,
                                const uint8_t *record, size_t count, uint64_t elements, uint64_t limit,
                                struct nt_codec_context *context, void **elements_ret, struct nt_error *error)
{
    struct nt_decoder decoder;
    void *state = NULL;
    NT_TRY(nt_basket_decoder(interpretation, output, &decoder, &state, error));
    const struct nt_packed packed = {.decoder = &decoder,
                                     .data = record,
                                     .bytes = count,
                                     .elements = elements,
                                     .context = context,
                                     .limit = limit};
    *elements_ret = calloc((size_t)elements + 1, decoder.element_bytes);
    enum nt_status status =
        *elements_ret ? decoder.ops->decode(&packed, *elements_ret, error) : nt_fail_memory(error);
    free(state);
    return status;
}

/* ---- Counting ---- */

static enum nt_status count_by_bytes(const struct nt_interpretation *from, const struct nt_basket *basket,
                                     struct nt_output_count *counts, struct nt_error *error)
{
    uint64_t headers = (uint64_t)basket->entries * from->header_bytes;
    uint64_t bytes = basket->value_bytes - headers;
    if (headers > basket->value_bytes)
        return nt_fail_below(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of the values of a basket", headers,
                             basket->value_bytes);
    if (!from->item_bytes || bytes % from->item_bytes)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "a basket has %" PRIu64
                       " bytes of items, which is not a multiple of the item size, %" PRIu32,
                       bytes, from->item_bytes);
    for (uint32_t i = 0; i < from->output_count; i++) {
        counts[i] = (struct nt_output_count){.elements = basket->entries, .items = bytes / from->item_bytes};
        if (!from->outputs[i].is_offsets &&
            !nt_checked_multiply(bytes / from->item_bytes,
                                 nt_steps_count(from->steps, 0, from->step_count, i), &counts[i].elements))
            return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the number of elements of a basket overflows");
    }
    return NT_OK;
}

static enum nt_status count_by_content(const struct nt_interpretation *from, const uint8_t *record,
                                       size_t count, uint32_t entry_count,
                                       const struct nt_basket_lengths *lengths, uint64_t limit,
                                       struct nt_codec_context *context, struct nt_output_count *counts,
                                       struct nt_error *error)
{
    struct nt_basket_content content;
    struct nt_program *program = NULL;
    size_t bytes = 0;
    memset(counts, 0, from->output_count * sizeof(*counts));
    enum nt_status status = nt_program_compile(from, NT_NONE, &program, &bytes, error);
    if (status == NT_OK)
        status = nt_basket_open(record, count, limit, context, &content, error);
    if (status == NT_OK) {
        const struct basket_entries entries = entries_of(&content);
        struct run run = {
            .operations = program->operations, .class_names = nt_program_names(program), .done = counts};
        if (lengths)
            run.lengths = *lengths;
        status = run_entries(&run, &entries, 0, entry_count, error);
    }
    free(program);
    return status;
}

enum nt_status nt_basket_count(const struct nt_interpretation *interpretation, const uint8_t *record,
                               size_t count, uint32_t entries, const struct nt_basket_lengths *lengths,
                               uint64_t limit, struct nt_codec_context *context,
                               struct nt_output_count *counts, struct nt_error *error)
{
    struct nt_basket basket;
    NT_TRY(nt_basket_parse(record, count, &basket, error));
    if (entries > basket.entries)
        return nt_fail_below(error, NT_CORRUPT, NT_NO_OFFSET, "entries of a basket", entries, basket.entries);
    if (interpretation->count_by == NT_COUNT_BY_ENTRIES) {
        for (uint32_t i = 0; i < interpretation->output_count; i++)
            counts[i] = (struct nt_output_count){.elements = (uint64_t)entries *
                                                             interpretation->outputs[i].fixed_items};
        return NT_OK;
    }
    if (interpretation->count_by == NT_COUNT_BY_BYTES && entries == basket.entries)
        return count_by_bytes(interpretation, &basket, counts, error);
    return count_by_content(interpretation, record, count, entries, lengths, limit, context, counts, error);
}
