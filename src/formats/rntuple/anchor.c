/* SPDX-License-Identifier: MIT
 *
 * Reads the anchor of an RNTuple (specification, "Anchor Schema"); its size identifies older layouts.
 * Also finds anchors in the file that no directory and no footer refers to.
 */
#include "formats/rntuple/rntuple.h"

#include <stdio.h>

/* ---- Read an anchor ---- */

/* ROOT's streamer: u32 byte count of all that follows, with bit 30 set; u16 class version. */
#define BYTE_COUNT_MARK UINT32_C(0x40000000)
enum { STREAMER_BYTES = 6, COUNT_BYTES = 4, CHECKSUM_BYTES = 8 };

static void read_58_bytes(struct nt_cursor *cursor, struct nt_anchor *anchor)
{
    nt_cursor_skip(cursor, 12); /* class checksum, version and size of the anchor; not needed */
    anchor->header.offset = nt_get_be64(cursor);
    anchor->header.stored_bytes = nt_get_be32(cursor);
    anchor->header.length = nt_get_be32(cursor);
    anchor->footer.offset = nt_get_be64(cursor);
    anchor->footer.stored_bytes = nt_get_be32(cursor);
    anchor->footer.length = nt_get_be32(cursor);
}

static void read_70_bytes(struct nt_cursor *cursor, struct nt_anchor *anchor)
{
    anchor->epoch = nt_get_be16(cursor);
    anchor->major = nt_get_be16(cursor);
    anchor->minor = nt_get_be16(cursor);
    anchor->patch = nt_get_be16(cursor);
    struct nt_anchor_link *links[] = {&anchor->header, &anchor->footer};
    for (unsigned i = 0; i < 2; i++) {
        links[i]->offset = nt_get_be64(cursor);
        links[i]->stored_bytes = nt_get_be64(cursor);
        links[i]->length = nt_get_be64(cursor);
    }
}

static void read_78_bytes(struct nt_cursor *cursor, struct nt_anchor *anchor)
{
    read_70_bytes(cursor, anchor);
    anchor->maximum_key_bytes = nt_get_be64(cursor);
}

struct anchor_layout {
    uint32_t length; /* of the object; newer objects may have more fields */
    bool may_be_longer;
    uint32_t trailing_bytes; /* after the bytes that the byte count covers */
    bool has_checksum;
    void (*read)(struct nt_cursor *cursor, struct nt_anchor *anchor);
};

static const struct anchor_layout layouts[NT_ANCHOR_LAYOUT_COUNT] = {
    [NT_ANCHOR_58_BYTES] = {58, false, 0, false, read_58_bytes},
    [NT_ANCHOR_70_BYTES] = {70, false, 0, true, read_70_bytes},
    [NT_ANCHOR_78_BYTES] = {78, true, CHECKSUM_BYTES, true, read_78_bytes},
};

static enum nt_status find_layout(const struct nt_anchor_object *object, enum nt_anchor_layout *layout_ret,
                                  struct nt_error *error)
{
    for (unsigned i = 0; i < NT_ANCHOR_LAYOUT_COUNT; i++) {
        if (object->length == layouts[i].length ||
            (layouts[i].may_be_longer && object->length > layouts[i].length)) {
            *layout_ret = (enum nt_anchor_layout)i;
            return NT_OK;
        }
    }
    return nt_fail(error, NT_CORRUPT, object->offset,
                   "anchor: expected 58, 70 or at least 78 bytes, found %zu", object->length);
}

static enum nt_status check_byte_count(const struct nt_anchor_object *object,
                                       const struct anchor_layout *layout, uint32_t byte_count,
                                       struct nt_error *error)
{
    if (!(byte_count & BYTE_COUNT_MARK))
        return nt_fail(error, NT_CORRUPT, object->offset,
                       "anchor: no byte count at its start (0x%08" PRIx32 ")", byte_count);
    uint64_t expected = object->length - COUNT_BYTES - layout->trailing_bytes;
    if ((byte_count & ~BYTE_COUNT_MARK) != expected)
        return nt_fail_number(error, NT_CORRUPT, object->offset, "anchor: byte count", expected,
                              byte_count & ~BYTE_COUNT_MARK);
    return NT_OK;
}

/* The checksum is the last 8 bytes and covers the fields between the class version and itself. It is
 * big-endian in a key and little-endian in a bare file. */
static enum nt_status check_checksum(const struct nt_anchor_object *object, struct nt_anchor *anchor,
                                     struct nt_error *error)
{
    size_t end = object->length - CHECKSUM_BYTES;
    uint64_t stored = nt_load_be64(object->bytes + end);
    anchor->checksum = nt_xxh3(object->bytes + STREAMER_BYTES, end - STREAMER_BYTES);
    if (!NT_COMPARES_CHECKSUMS || anchor->checksum == stored ||
        anchor->checksum == nt_load_le64(object->bytes + end))
        return NT_OK;
    char expected[24], found[24];
    snprintf(expected, sizeof(expected), "%016" PRIx64, stored);
    snprintf(found, sizeof(found), "%016" PRIx64, anchor->checksum);
    return nt_fail_mismatch(error, NT_CHECKSUM, object->offset, "anchor: xxh3-64", expected, found);
}

enum nt_status nt_anchor_read(const struct nt_anchor_object *object, struct nt_anchor *anchor_ret,
                              struct nt_error *error)
{
    struct nt_anchor anchor = {
        .offset = object->offset,
        .stored_bytes = object->stored_bytes,
        .length = (uint32_t)object->length,
        .class_name = object->class_name,
    };
    NT_TRY(find_layout(object, &anchor.layout, error));
    const struct anchor_layout *layout = &layouts[anchor.layout];
    struct nt_cursor cursor = nt_cursor(object->bytes, object->length);
    uint32_t byte_count = nt_get_be32(&cursor);
    anchor.class_version = nt_get_be16(&cursor);
    NT_TRY(check_byte_count(object, layout, byte_count, error));
    layout->read(&cursor, &anchor);
    *anchor_ret = anchor;
    return layout->has_checksum ? check_checksum(object, anchor_ret, error) : NT_OK;
}

/* ---- Unreferenced anchors ---- */

struct anchor_search {
    const struct nt_file *file;
    const uint64_t *offsets; /* of the anchors of its datasets, ascending */
    size_t count;
    nt_anchor_visit *visit; /* of those without a dataset */
    void *context;
};

static bool is_called(const struct nt_dataset *dataset, const struct nt_anchor_record *record)
{
    return dataset->directory == record->directory && nt_texts_are_equal(dataset->name, record->name);
}

/* Does a dataset that failed before its anchor was read represent this record? It has the record's name
 * and cycle, or a failure at the record's offset. */
static bool has_failed(const struct nt_file *file, const struct nt_anchor_record *record)
{
    for (uint32_t i = 0; i < nt_rntuple_count(file); i++) {
        const struct nt_dataset *dataset = file->datasets[i];
        if (!dataset->failure || nt_rntuple_of(dataset))
            continue;
        bool is_cycle = dataset->cycle == record->cycle || dataset->attribute_of != NT_NONE;
        if (dataset->failure->offset == record->offset || (is_cycle && is_called(dataset, record)))
            return true;
    }
    return false;
}

static enum nt_status visit_record(void *context, const struct nt_anchor_record *record,
                                   struct nt_error *error)
{
    const struct anchor_search *search = context;
    if (bsearch(&record->object_offset, search->offsets, search->count, sizeof(uint64_t), nt_compare_u64) ||
        has_failed(search->file, record))
        return NT_OK;
    return search->visit(search->context, record, error);
}

static enum nt_status find_orphans(const struct nt_file *file, nt_anchor_visit *visit, void *context,
                                   struct nt_error *error)
{
    const struct nt_container_kind *kind = nt_container_of(file)->kind;
    if (!kind->visit_anchors)
        return NT_OK;
    NT_AUTO_FREE uint64_t *offsets = calloc(file->dataset_count + 1u, sizeof(*offsets));
    NT_TRY(nt_check_memory(offsets, error));
    struct anchor_search search = {.file = file, .offsets = offsets, .visit = visit, .context = context};
    for (uint32_t i = 0; i < nt_rntuple_count(file); i++)
        if (nt_rntuple_of(file->datasets[i]))
            offsets[search.count++] = nt_rntuple_of(file->datasets[i])->anchor.offset;
    qsort(offsets, search.count, sizeof(*offsets), nt_compare_u64);
    return kind->visit_anchors(file, visit_record, &search, error);
}

/* Sets the failure of a lost dataset: NT_CORRUPT, or NT_NO_MEMORY if the message needs too much. */
static enum nt_status set_failure(const struct nt_file *file, const struct nt_anchor_record *record,
                                  struct nt_error *failure)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer name = {0};
    nt_append_printable(&name, record->name.bytes, record->name.length);
    return name.failed ? nt_fail_memory(failure)
                       : nt_fail(failure, NT_CORRUPT, record->offset,
                                 "%s: the record of the dataset %s;%" PRIu32
                                 " exists, but no key list and no footer names it",
                                 file->path, nt_buffer_string(&name), record->cycle);
}

/* ---- When a file is opened ---- */

/* Compares the cycles of datasets of one name; all but the highest become older cycles. */
static void order_cycles(const struct nt_file *file, struct nt_dataset *added,
                         const struct nt_anchor_record *record)
{
    for (uint32_t i = 0; i < added->index; i++) {
        struct nt_dataset *other = file->datasets[i];
        if (other->attribute_of != NT_NONE || !is_called(other, record))
            continue;
        if (other->cycle > added->cycle)
            added->is_newest_cycle = false;
        else
            other->is_newest_cycle = false;
    }
}

static enum nt_status add_orphans(void *context, const struct nt_anchor_record *record,
                                  struct nt_error *error)
{
    struct nt_file *file = context;
    struct nt_dataset *dataset;
    struct nt_error failure;
    NT_TRY(nt_file_add_dataset(file, &dataset, error));
    NT_TRY(nt_check_memory(nt_text_copy(dataset->arena, record->name, &dataset->name), error));
    dataset->directory = record->directory == NT_NONE ? 0 : record->directory;
    dataset->cycle = record->cycle;
    order_cycles(file, dataset, record);
    set_failure(file, record, &failure);
    return nt_dataset_set_failure(dataset, &failure, error);
}

enum nt_status nt_rntuple_add_orphans(struct nt_file *file, struct nt_error *error)
{
    return nt_container_of(file)->may_have_orphans ? find_orphans(file, add_orphans, file, error) : NT_OK;
}

/* ---- When a file is verified ---- */

struct anchor_check {
    const struct nt_file *file;
    nt_failure_emit *emit;
    void *context;
};

static enum nt_status report_orphans(void *context, const struct nt_anchor_record *record,
                                     struct nt_error *error)
{
    const struct anchor_check *check = context;
    struct nt_error failure;
    if (nt_is_environmental(set_failure(check->file, record, &failure)))
        return nt_fail_copy(error, &failure);
    check->emit(check->context, &failure);
    return NT_OK;
}

enum nt_status nt_rntuple_check(const struct nt_file *file, nt_failure_emit *emit, void *context,
                                struct nt_error *error)
{
    struct anchor_check check = {file, emit, context};
    return find_orphans(file, report_orphans, &check, error);
}
