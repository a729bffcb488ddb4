/* SPDX-License-Identifier: MIT
 *
 * Reads the objects of keys, and names the classes of keys of a file that has nothing to read.
 */
#include "container/container.h"

#include <ntuple/source.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/built_in.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/codec/codec.h"
#include "core/io/source.h"
#include "core/model/builder.h"
#include "core/model/model.h"

/* ---- Objects ---- */

/* Replaces stored bytes by decompressed ones. The stored bytes may have raised the budget's limit. */
static enum nt_status inflate(struct nt_budget *budget, uint8_t **bytes, size_t stored_bytes, size_t length,
                              uint64_t offset, struct nt_error *error)
{
    enum nt_status status = nt_budget_take(budget, NT_COST_ENVELOPE_BYTE, length, offset, error);
    if (status)
        return status;
    uint8_t *object = malloc(length + 1);
    status =
        object ? nt_decompress_object(NT_COMPRESSION_ROOT_BLOCKS, *bytes, stored_bytes, object, length, error)
               : nt_fail_memory(error);
    if (status) {
        if (object && error)
            error->offset = offset;
        free(object);
        nt_budget_release(budget, NT_COST_ENVELOPE_BYTE, length);
        return status;
    }
    nt_budget_release(budget, NT_COST_ENVELOPE_BYTE, stored_bytes);
    free(*bytes);
    *bytes = object;
    return NT_OK;
}

enum nt_status nt_tfile_read_object(struct nt_file *file, const struct nt_tfile_object *object,
                                    const uint8_t **bytes_ret, size_t *length_ret, struct nt_error *error)
{
    uint32_t stored_bytes = object->bytes - object->key_bytes;
    uint64_t offset = object->offset + object->key_bytes, counted, held = stored_bytes;
    bool is_compressed = stored_bytes < object->object_bytes;
    const struct nt_metadata_range range = {offset, stored_bytes, offset, is_compressed};
    uint8_t *bytes;
    if (object->failure)
        return nt_fail_with(error, object->failure);
    if (!nt_fits(offset, stored_bytes, file->source->size))
        return nt_fail(error, NT_TRUNCATED, offset,
                       "%s: the object's %" PRIu32 " bytes go beyond the end of the file (%" PRIu64 " bytes)",
                       file->path, stored_bytes, file->source->size);
    enum nt_status status = nt_metadata_read(&file->budget, file->source, &range, &bytes, &counted, error);
    if (status)
        return status;
    if (is_compressed)
        status = inflate(&file->budget, &bytes, stored_bytes, object->object_bytes, offset, error);
    if (!status && is_compressed)
        held = object->object_bytes;
    if (!status && !nt_arena_adopt(file->arena, bytes))
        status = nt_fail_memory(error);
    if (status) {
        free(bytes);
        nt_budget_release(&file->budget, NT_COST_ENVELOPE_BYTE, held);
        nt_budget_withdraw(&file->budget, counted);
        return status;
    }
    *bytes_ret = bytes;
    *length_ret = object->object_bytes;
    return NT_OK;
}

/* ---- Files with nothing to read ---- */

static void append_classes(struct nt_buffer *text, const struct nt_tfile *tfile)
{
    enum { MAX_CLASSES_SHOWN = 8 };
    uint64_t others = tfile->other_keys;
    for (uint32_t i = 0; i < tfile->class_count; i++) {
        const struct nt_tfile_class *class = &tfile->classes[i];
        if (i >= MAX_CLASSES_SHOWN) {
            others += class->keys;
            continue;
        }
        nt_buffer_format(text, "%s%" PRIu64 " ", i ? ", " : "it holds ", class->keys);
        nt_append_printable(text, class->name.bytes, class->name.length);
    }
    if (others)
        nt_buffer_format(text, ", %" PRIu64 " others", others);
}

enum nt_status nt_tfile_refuse(const struct nt_tfile *tfile, const char *requested, struct nt_error *error)
{
    struct nt_buffer text = {0};
    append_classes(&text, tfile);
    enum nt_status status =
        text.failed ? nt_fail_memory(error)
                    : nt_fail(error, NT_NOT_THIS_FORMAT, NT_NO_OFFSET, "a ROOT file without %s: %s",
                              requested, text.length ? text.bytes : "its directories are empty");
    nt_buffer_deinit(&text);
    return status;
}
