/* SPDX-License-Identifier: MIT
 *
 * Runs the program of a branch over the entries of a basket: counts elements and decodes them.
 */
#include "formats/ttree/program.h"

#include "container/container.h"

/* Each byte is taken once, or a few times by references to objects, and takes few operations. */
enum { WORK_FACTOR = 9, MIN_WORK = 1 << 10 };

static size_t left(const struct nt_program_run *run)
{
    return run->end - run->at;
}

static enum nt_status fail_end(const struct nt_program_run *run, uint64_t needed, const char *what,
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

static enum nt_status fail_count(const struct nt_program_run *run, uint64_t count, struct nt_error *error)
{
    return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                   "byte %zu of the values: a number of items: expected 0 or more, found %" PRId64, run->at,
                   (int64_t)count);
}

static void put_end(struct nt_program_run *run, uint32_t output, uint64_t items)
{
    if (output == NT_NONE)
        return;
    struct nt_output_count *done = &run->done[output];
    uint64_t number = done->elements++;
    done->items = items < UINT64_MAX - done->items ? done->items + items : UINT64_MAX;
    if (run->output && number < run->capacity)
        memcpy(run->output + sizeof(done->items) * number, &done->items, sizeof(done->items));
}

/* The numbers of `rows` rows are elements, as far as the output has room. All bytes are there. */
static enum nt_status put_rows(struct nt_program_run *run, const struct nt_operation *operation, size_t at,
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
    return nt_decode_rows(operation, run->bytes + at, stride, (size_t)count,
                          run->output + before * operation->element_bytes, error);
}

static enum nt_status use_work(struct nt_program_run *run, uint64_t work, struct nt_error *error)
{
    if (work > run->work_left)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "byte %zu of the values: more items than the bytes can hold", run->at);
    run->work_left -= work;
    return NT_OK;
}

/* Takes `bytes` for each of `count` items. */
static enum nt_status take(struct nt_program_run *run, uint64_t count, uint64_t bytes, const char *what,
                           struct nt_error *error)
{
    uint64_t all = UINT64_MAX;
    if (!nt_checked_multiply(count, bytes, &all) || all > left(run))
        return fail_end(run, all, what, error);
    run->at += (size_t)all;
    return use_work(run, all, error);
}

static enum nt_status run_values(struct nt_program_run *run, const struct nt_operation *operation,
                                 uint64_t items, struct nt_error *error)
{
    size_t at = run->at, stride = (size_t)operation->count * operation->width;
    NT_TRY(take(run, items, stride, "numbers", error));
    if (operation->counter)
        run->counters[operation->counter] = (struct nt_counter_place){
            at, operation->width, operation->is_signed, items && operation->count, items > 1};
    return put_rows(run, operation, at, stride, items, error);
}

/* ---- Items ---- */

static enum nt_status run_body(struct nt_program_run *run, uint32_t first, uint32_t end,
                               struct nt_error *error);

static enum nt_status run_items(struct nt_program_run *run, uint32_t parent, uint64_t count,
                                struct nt_error *error)
{
    const struct nt_operation *operation = &run->operations[parent];
    const struct nt_operation *only = &run->operations[operation->only];
    uint32_t first = parent + 1, end = operation->end;
    size_t at = run->at;
    if (first == end)
        return NT_OK;
    if (operation->only || (first + 1 == end && run->operations[first].kind == NT_STEP_SKIP)) {
        NT_TRY(take(run, count, operation->body_bytes, "items of a list", error));
        return operation->only
                   ? put_rows(run, only, at + operation->lead, operation->body_bytes, count, error)
                   : NT_OK;
    }
    for (uint64_t i = 0; i < count; i++)
        NT_TRY(run_body(run, first, end, error));
    return NT_OK;
}

static enum nt_status run_list(struct nt_program_run *run, uint32_t i, uint64_t items, struct nt_error *error)
{
    put_end(run, run->operations[i].ends, items);
    return run_items(run, i, items, error);
}

/* A number of items is an Int_t, and never negative. */
static enum nt_status get_count(struct nt_program_run *run, uint64_t *count_ret, struct nt_error *error)
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

static enum nt_status run_step(struct nt_program_run *run, uint32_t i, uint64_t items,
                               struct nt_error *error);

static enum nt_status fail_undescribed(const struct nt_program_run *run, struct nt_error *error)
{
    return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                   "byte %zu of the values: an object of a class that the file does not describe", run->at);
}

/* Each step for all items, then the next one. */
static enum nt_status run_by_members(struct nt_program_run *run, uint32_t first, uint32_t end, uint64_t items,
                                     struct nt_error *error)
{
    uint64_t outer = run->item;
    enum nt_status status = NT_OK;
    for (uint32_t i = first; status == NT_OK && items && i < end; i = run->operations[i].end)
        status = run_step(run, i, items, error);
    run->item = outer;
    return status;
}

static enum nt_status run_members(struct nt_program_run *run, uint32_t parent, struct nt_error *error)
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

/* Runs items that have only some of their headers. */
static enum nt_status run_bare(struct nt_program_run *run, uint32_t i, uint64_t items, uint64_t headers,
                               struct nt_error *error)
{
    bool is_bare = run->is_bare;
    uint32_t outer_list = run->bare_list;
    uint64_t outer_headers = run->headers;
    run->is_bare = true;
    run->bare_list = i;
    run->headers = headers;
    enum nt_status status = run_list(run, i, items, error);
    run->is_bare = is_bare;
    run->bare_list = outer_list;
    run->headers = outer_headers;
    return status;
}

/* Items up to the end; without an item's size, each must take bytes. */
static enum nt_status run_rest(struct nt_program_run *run, uint32_t i, struct nt_error *error)
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
    uint64_t headers;
    if (nt_find_bare_objects(run, i, UINT64_MAX, &items, &headers))
        return run_bare(run, i, items, headers, error);
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
static enum nt_status get_counter(const struct nt_program_run *run, uint8_t number, uint64_t *value_ret,
                                  struct nt_error *error)
{
    const struct nt_counter_place *counter = &run->counters[number];
    if (!counter->is_known)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "byte %zu of the values: the number of items is not stored", run->at);
    size_t at = counter->at + (counter->is_of_items ? (size_t)run->item * counter->width : 0);
    *value_ret = load(run->bytes + at, counter->width, counter->is_signed);
    return NT_OK;
}

/* The next number of the branch that has the lengths of arrays: an Int_t or UInt_t. */
static enum nt_status get_length_elsewhere(struct nt_program_run *run, uint64_t *length_ret,
                                           struct nt_error *error)
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
static enum nt_status get_flag(struct nt_program_run *run, bool *is_null_ret, struct nt_error *error)
{
    if (left(run) < 1)
        return fail_end(run, 1, "the flag of an array", error);
    *is_null_ret = !run->bytes[run->at++];
    return NT_OK;
}

static enum nt_status run_counted(struct nt_program_run *run, uint32_t i, struct nt_error *error)
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

static enum nt_status run_when(struct nt_program_run *run, uint32_t i, struct nt_error *error)
{
    const struct nt_operation *operation = &run->operations[i];
    uint32_t middle = operation->other ? operation->other : operation->end;
    uint64_t value = 0;
    NT_TRY(get_counter(run, operation->counter, &value, error));
    return value & operation->count ? run_body(run, i + 1, middle, error)
                                    : run_body(run, middle, operation->end, error);
}

/* The length of a string: a byte, or 255 and an Int_t. */
static enum nt_status get_length(struct nt_program_run *run, uint64_t *length_ret, struct nt_error *error)
{
    if (!left(run))
        return fail_end(run, 1, "the length of a string", error);
    *length_ret = run->bytes[run->at++];
    return *length_ret == UINT8_MAX ? get_count(run, length_ret, error) : NT_OK;
}

static void put_text(struct nt_program_run *run, const struct nt_operation *operation, const uint8_t *bytes,
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

static enum nt_status run_string(struct nt_program_run *run, const struct nt_operation *operation,
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

static enum nt_status run_counter(struct nt_program_run *run, const struct nt_operation *operation,
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
    POINTER_BYTES = 4,
    CHECKSUM_BYTES = 4, /* of the class, after a version of 0 */
};

/* The version of a class, and the checksum after a version of 0, which classes without a version have. */
static enum nt_status get_version(struct nt_program_run *run, const struct nt_operation *operation,
                                  uint16_t *version_ret, uint32_t *checksum_ret, struct nt_error *error)
{
    size_t at = run->at;
    enum nt_status status = take(run, 1, NT_VERSION_BYTES, "a version", error);
    uint16_t version = status == NT_OK ? nt_load_be16(run->bytes + at) : 0;
    *version_ret = version;
    *checksum_ret = 0;
    if (status == NT_OK && (int16_t)version <= 0 && operation->version != NT_STREAMER_VERSION_0) {
        status = take(run, 1, CHECKSUM_BYTES, "the checksum of a class", error);
        *checksum_ret = status == NT_OK ? nt_load_be32(run->bytes + at + NT_VERSION_BYTES) : 0;
    }
    return status;
}

/* Is the class of the bytes the one that the body reads? */
static enum nt_status check_version(const struct nt_program_run *run, const struct nt_operation *operation,
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
static enum nt_status get_end(struct nt_program_run *run, bool *has_end_ret, size_t *end_ret,
                              struct nt_error *error)
{
    uint32_t count = left(run) < sizeof(count) ? 0 : nt_load_be32(run->bytes + run->at);
    *has_end_ret = count & NT_BYTE_COUNT_FLAG;
    *end_ret = run->end;
    if (!*has_end_ret)
        return NT_OK;
    run->at += sizeof(count);
    count &= ~(uint32_t)NT_BYTE_COUNT_FLAG;
    if (count > left(run))
        return fail_end(run, count, "an object", error);
    *end_ret = run->at + count;
    return NT_OK;
}

/* Runs the body of a header, once or (a header of MEMBERS) each step for all items. */
static enum nt_status run_header_body(struct nt_program_run *run, uint32_t first, uint32_t end,
                                      bool is_shared, uint64_t items, struct nt_error *error)
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
static enum nt_status fail_without_count(const struct nt_program_run *run, struct nt_error *error)
{
    if (left(run) < NT_BYTE_COUNT_BYTES)
        return fail_end(run, NT_BYTE_COUNT_BYTES, "the byte count of an object", error);
    return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                   "byte %zu of the values: the file does not describe an item, and the item has no byte "
                   "count to skip it",
                   run->at);
}

/* Runs the body that the version selects; skips it if nothing in it is needed. */
static enum nt_status run_versioned(struct nt_program_run *run, uint32_t i, bool has_end, uint64_t items,
                                    struct nt_error *error)
{
    const struct nt_operation *operation = &run->operations[i];
    uint32_t first = i + 1, end = operation->other ? operation->other : operation->end, checksum;
    uint16_t version;
    if (operation->bits & NT_HEADER_SIZED)
        return has_end ? NT_OK : fail_without_count(run, error);
    enum nt_status status = get_version(run, operation, &version, &checksum, error);
    bool is_memberwise = version & NT_MEMBERWISE;
    if (status != NT_OK || (has_end && !operation->is_needed && !run->is_bare))
        return status;
    run->version = version & (uint16_t)~NT_MEMBERWISE;
    NT_TRY(check_version(run, operation, run->version, checksum, error));
    if (is_memberwise && !operation->other)
        return nt_fail(
            error, NT_UNSUPPORTED, NT_NO_OFFSET,
            "byte %zu of the values: cannot read this collection, which is stored member by member", run->at);
    if (is_memberwise) {
        first = operation->other;
        end = operation->end;
    }
    return run_header_body(run, first, end, operation->bits & NT_HEADER_SHARED, items, error);
}

static bool has_header(const struct nt_program_run *run, uint32_t i)
{
    uint32_t bit = i - run->bare_list;
    return !run->is_bare || run->operations[i].bits & NT_HEADER_TOBJECT ||
           (bit < NT_HEADER_BITS && run->headers >> bit & 1);
}

static enum nt_status fail_size(const struct nt_program_run *run, size_t end, struct nt_error *error)
{
    return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                   "byte %zu of the values: the members of an object: expected to end at byte %zu", run->at,
                   end);
}

/* Must the body end where the object ends? A body that is not needed was skipped. */
static bool is_whole(const struct nt_program_run *run, const struct nt_operation *operation, bool has_end)
{
    return (run->is_bare && !(operation->bits & NT_HEADER_TOBJECT)) ||
           (has_end && operation->is_needed && operation->bits & NT_HEADER_WHOLE);
}

static enum nt_status run_header(struct nt_program_run *run, uint32_t i, uint64_t items,
                                 struct nt_error *error)
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
    if (status == NT_OK && is_whole(run, operation, has_end) && run->at != object_end)
        status = fail_size(run, object_end, error);
    if (has_end)
        run->at = object_end;
    run->end = outer_end;
    run->is_end_known = is_outer_end_known;
    run->version = outer_version;
    return status;
}

/* Classes whose streamers are written by hand may omit the headers of items, or some of them. */
static enum nt_status run_items_with_headers(struct nt_program_run *run, uint32_t i, uint64_t items,
                                             struct nt_error *error)
{
    uint64_t headers;
    return nt_find_headers(run, i, items, &headers) ? run_bare(run, i, items, headers, error)
                                                    : run_list(run, i, items, error);
}

static enum nt_status run_class(struct nt_program_run *run, const struct nt_operation *operation,
                                struct nt_error *error)
{
    enum { FIRST_WITH_CLASS = 8 }; /* version of the header of a collection */
    uint16_t version;
    uint32_t checksum;
    if (run->version < FIRST_WITH_CLASS)
        return NT_OK;
    NT_TRY(get_version(run, operation, &version, &checksum, error));
    return check_version(run, operation, version, checksum, error);
}

/* ---- Pointers ---- */

/* What a tag refers to; SIZE_MAX: it is not in the values. */
static size_t position_of(const struct nt_program_run *run, uint32_t tag)
{
    uint64_t offset = tag & ~NT_TFILE_CLASS_MASK, first = run->base + NT_TFILE_MAP_OFFSET;
    return offset < first ? SIZE_MAX : (size_t)(offset - first);
}

/* The name that a class tag is followed by, or refers to; then it was used before. Empty if there is none. */
static struct nt_text get_class_name(struct nt_program_run *run, uint32_t tag)
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
static enum nt_status run_cases(struct nt_program_run *run, uint32_t parent, bool is_object,
                                struct nt_text found, bool *is_found_ret, struct nt_error *error)
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

static enum nt_status fail_pointer(const struct nt_program_run *run, size_t at, uint32_t parent,
                                   struct nt_text found, bool is_class, struct nt_error *error)
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
static enum nt_status run_object(struct nt_program_run *run, uint32_t i, uint32_t tag, struct nt_error *error)
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
static enum nt_status run_stored_object(struct nt_program_run *run, uint32_t i, struct nt_error *error)
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
static bool find_referenced(const struct nt_program_run *run, size_t *at_ret)
{
    uint32_t tag = left(run) < POINTER_BYTES ? 0 : nt_load_be32(run->bytes + run->at);
    size_t at = position_of(run, tag);
    if (tag & NT_TFILE_CLASS_MASK || at >= run->at || run->at - at < NT_BYTE_COUNT_BYTES + POINTER_BYTES)
        return false;
    *at_ret = at;
    return nt_load_be32(run->bytes + at) - NT_BYTE_COUNT_FLAG <= run->entry_end - at - NT_BYTE_COUNT_BYTES &&
           nt_load_be32(run->bytes + at + NT_BYTE_COUNT_BYTES) & NT_TFILE_CLASS_MASK;
}

/* Objects are stored where the first pointer to them is; later ones have that place. */
static enum nt_status run_pointer(struct nt_program_run *run, uint32_t i, struct nt_error *error)
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
static enum nt_status run_objects(struct nt_program_run *run, uint32_t i, struct nt_error *error)
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

static enum nt_status fail_clones(const struct nt_program_run *run, const char *expected,
                                  struct nt_text found, struct nt_error *error)
{
    return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                   "byte %zu of the values: a TClonesArray: expected objects of class %s, found %.*s",
                   run->at, expected, (int)found.length, found.bytes);
}

/* One after the other, each after a byte that is 0 if there is none. */
static enum nt_status run_by_objects(struct nt_program_run *run, uint32_t parent, uint32_t end,
                                     uint64_t items, const char *class_name, struct nt_error *error)
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
static enum nt_status run_clones_of(struct nt_program_run *run, uint32_t i, struct nt_text found,
                                    uint64_t items, bool is_memberwise, struct nt_error *error)
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

static enum nt_status run_clones(struct nt_program_run *run, uint32_t i, struct nt_error *error)
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

static enum nt_status run_name(struct nt_program_run *run, const struct nt_operation *operation,
                               struct nt_error *error)
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

static enum nt_status run_one(struct nt_program_run *run, uint32_t i, struct nt_error *error)
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
static enum nt_status run_step(struct nt_program_run *run, uint32_t i, uint64_t items, struct nt_error *error)
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

static enum nt_status run_body(struct nt_program_run *run, uint32_t first, uint32_t end,
                               struct nt_error *error)
{
    for (uint32_t i = first; i < end; i = run->operations[i].end) {
        NT_TRY(use_work(run, 1, error));
        NT_TRY(run_one(run, i, error));
    }
    return NT_OK;
}

/* ---- One entry ---- */

/* ROOT stores nothing for an empty string that is a leaf of its own. */
static bool is_only_string(const struct nt_operation *operations)
{
    return operations[0].end > 1 && operations[1].kind == NT_STEP_STRING &&
           operations[1].end == operations[0].end;
}

static enum nt_status run_entry(struct nt_program_run *run, const struct nt_basket_content *content,
                                uint32_t entry, struct nt_error *error)
{
    const struct nt_basket *basket = &content->basket;
    bool is_end_known = content->is_cut || entry + 1 == basket->entries;
    if (content->is_cut) {
        run->at = nt_basket_entry_start(content, entry);
        run->end = nt_basket_entry_start(content, entry + 1);
    }
    run->entry_end = run->end;
    run->is_end_known = content->is_cut;
    if (content->is_cut && !left(run) && is_only_string(run->operations)) {
        put_end(run, run->operations[1].ends, 0);
        return NT_OK;
    }
    uint64_t items, headers;
    enum nt_status status = nt_find_bare_objects(run, 0, 1, &items, &headers)
                                ? run_bare(run, 0, items, headers, error)
                                : run_body(run, 1, run->operations[0].end, error);
    if (status == NT_OK && is_end_known && left(run))
        status =
            nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                    "%zu bytes follow the content, which ends at byte %zu of the values", left(run), run->at);
    if (status != NT_OK)
        nt_error_context(error, "entry %" PRIu32 " of a basket", entry);
    return status;
}

/* ---- Classes with streamers of their own ---- */

static bool has_class(const struct nt_program_run *run)
{
    for (uint32_t i = 1; i < run->operations[0].end; i++)
        if (run->operations[i].kind == NT_STEP_HEADER && run->operations[i].bits & NT_HEADER_WHOLE)
            return true;
    return false;
}

/* The file does not say that a class has such a streamer. But then no entry is as described, and damage
 * rarely reaches all entries. */
static bool has_own_streamer(const struct nt_program_run *from, const struct nt_basket_content *content)
{
    enum { ENOUGH = 16 };
    struct nt_program_run run = *from;
    uint32_t entries = content->basket.entries < ENOUGH ? content->basket.entries : ENOUGH, i = 0;
    if (!content->is_cut || entries < 2 || !has_class(from))
        return false;
    run.output = NULL;
    while (i < entries && run_entry(&run, content, i, NULL) == NT_CORRUPT)
        i++;
    return i == entries;
}

static enum nt_status fail_own_streamer(struct nt_error *error)
{
    const struct nt_error cause = error ? *error : (struct nt_error){0};
    return nt_fail(
        error, NT_UNSUPPORTED, NT_NO_OFFSET,
        "objects do not have the described members; their class, or that of a member, has a streamer "
        "of its own: %s",
        cause.message);
}

/* ---- Entries side by side ---- */

/* Rows, or lists without anything between them: all in one run. */
static bool is_one_run(const struct nt_operation *operations, const struct nt_basket_content *content)
{
    const struct nt_operation *rest = &operations[1];
    bool is_rest = operations[0].end > 1 && rest->kind == NT_STEP_REST && rest->end == operations[0].end;
    return operations[0].only || (is_rest && rest->only && rest->ends == NT_NONE && content->basket.entries);
}

static enum nt_status run_at_once(struct nt_program_run *run, const struct nt_basket_content *content,
                                  struct nt_error *error)
{
    const struct nt_basket *basket = &content->basket;
    uint32_t parent = run->operations[0].only ? 0 : 1, item_bytes = run->operations[parent].body_bytes;
    uint32_t items = parent == 0 ? basket->entries : item_bytes ? basket->value_bytes / item_bytes : 0;
    if ((uint64_t)item_bytes * items != basket->value_bytes)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of the values of a basket",
                              (uint64_t)item_bytes * items, basket->value_bytes);
    return run_items(run, parent, items, error);
}

/* ---- Entries ---- */

static bool is_full(const struct nt_program_run *run)
{
    return run->output && run->done->elements >= run->capacity;
}

static void start_values(struct nt_program_run *run, const struct nt_basket_content *content)
{
    const struct nt_basket *basket = &content->basket;
    run->bytes = content->values;
    run->base = basket->key_bytes;
    run->end = basket->value_bytes;
    run->work_left = WORK_FACTOR * ((uint64_t)basket->value_bytes + basket->entries) + MIN_WORK;
}

enum nt_status nt_run_entries(struct nt_program_run *run, const struct nt_basket_content *content,
                              uint32_t first, uint32_t end, struct nt_error *error)
{
    enum { TOGETHER = 256 }; /* by steps, before the next entries may be regular lists again */
    enum nt_status status = NT_OK;
    start_values(run, content);
    if (run->output && is_one_run(run->operations, content))
        return run_at_once(run, content, error);
    for (uint32_t i = first, stop; status == NT_OK && i < end && !is_full(run);) {
        if (run->output)
            i = nt_put_regular_lists(run, NULL, content, i);
        stop = end - i < TOGETHER ? end : i + TOGETHER;
        for (; status == NT_OK && i < stop && !is_full(run); i++)
            status = run_entry(run, content, i, error);
    }
    return status == NT_CORRUPT && has_own_streamer(run, content) ? fail_own_streamer(error) : status;
}
