/* SPDX-License-Identifier: MIT
 *
 * In: the fields of a legacy file. Out: how the pages of each are made. Lance's own reader asks the type, not the encoding
 * that a field names: it is followed, but for run lengths, a number without an encoding behind it: nothing ever wrote them.
 */
#include "formats/lance/legacy/pagings.h"

#include <inttypes.h>

#include "core/base/arena.h"
#include "core/base/overflow.h"

enum { OFFSET_BITS = 64, SHORT_OFFSET_BITS = 32 };

static enum nt_status refuse(const char *reason, struct nt_error *failure)
{
    return nt_fail(failure, NT_UNSUPPORTED, NT_NO_OFFSET, "%s", reason);
}

static enum nt_status find_dictionary(const struct nt_lance_field *field, const struct nt_lance_type *type,
                                      struct nt_lance_paging *paging, struct nt_error *failure)
{
    struct nt_proto message = nt_proto_message(field->message, NT_LANCE_FIELD_DICTIONARY);
    if (!message.bytes)
        return refuse("a dictionary that lies nowhere", failure);
    if (!type->index_bits || type->value.list_count || type->value.bits % 8 || type->value.is_empty)
        return refuse("a dictionary of such items or numbers is not read", failure);
    *paging = (struct nt_lance_paging){.kind = NT_LANCE_PAGE_DICTIONARY, .bits = type->index_bits};
    paging->dictionary.offset = nt_proto_number(message, NT_LANCE_FIELD_DICTIONARY_OFFSET);
    paging->dictionary.length = nt_proto_number(message, NT_LANCE_FIELD_DICTIONARY_LENGTH);
    return NT_OK;
}

static enum nt_status find_lists(const struct nt_lance_field *field, struct nt_lance_paging *paging,
                                 struct nt_error *failure)
{
    struct nt_text type = field->logical_type;
    if (nt_text_is(type, "map"))
        return refuse("maps in legacy files are not read", failure);
    bool is_large = nt_text_skip(&type, "large_");
    *paging = (struct nt_lance_paging){.kind = NT_LANCE_PAGE_LISTS,
                                       .bits = is_large ? OFFSET_BITS : SHORT_OFFSET_BITS};
    return NT_OK;
}

/* NT_UNSUPPORTED, with `failure`, where the field cannot be read. */
static enum nt_status find_paging(const struct nt_lance_field *field, const struct nt_lance_type *type,
                                  struct nt_lance_paging *paging, struct nt_error *failure)
{
    *paging = (struct nt_lance_paging){.kind = NT_LANCE_PAGE_NONE};
    if (nt_proto_number(field->message, NT_LANCE_FIELD_ENCODING) == NT_LANCE_LEGACY_ENCODING_RLE)
        return refuse("the encoding RLE, which no version of Lance has defined", failure);
    if (type->is_dictionary && type->shape != NT_LANCE_IS_UNKNOWN)
        return find_dictionary(field, type, paging, failure);
    switch (type->shape) {
    case NT_LANCE_IS_VALUE:
        *paging = (struct nt_lance_paging){.kind = NT_LANCE_PAGE_PLAIN, .bits = type->value.bits};
        return NT_OK;
    case NT_LANCE_IS_TEXT:
    case NT_LANCE_IS_BYTES:
        *paging = (struct nt_lance_paging){.kind = NT_LANCE_PAGE_STRINGS, .bits = OFFSET_BITS};
        return NT_OK;
    case NT_LANCE_IS_LIST:
        return find_lists(field, paging, failure);
    case NT_LANCE_IS_BLOB:
        return refuse("blobs in legacy files are not read", failure);
    case NT_LANCE_IS_STRUCT:
    case NT_LANCE_IS_NULL:
    case NT_LANCE_IS_EMPTY:
    case NT_LANCE_IS_STRUCT_LIST:
    case NT_LANCE_IS_UNKNOWN:
        break;
    }
    return NT_OK;
}

enum nt_status nt_lance_find_pagings(struct nt_file *file, const struct nt_lance_schema *schema,
                                     const struct nt_lance_paging **pagings_ret, struct nt_error *error)
{
    uint32_t count = schema->field_count;
    enum nt_status status = NT_OK;
    struct nt_lance_paging *pagings = nt_arena_alloc(file->arena, (size_t)count + 1, sizeof(*pagings));
    if (!pagings)
        return nt_fail_memory(error);
    for (uint32_t i = 0; status == NT_OK && i < count; i++) {
        struct nt_error failure;
        if (find_paging(&schema->fields[i], &schema->places[i].type, &pagings[i], &failure) != NT_OK)
            status = nt_failure_keep(&failure, file->arena, &pagings[i].failure, error);
    }
    *pagings_ret = pagings;
    return status;
}

bool nt_lance_page_bytes(const struct nt_lance_paging *paging, const struct nt_lance_value *value,
                         uint64_t elements, uint64_t *bytes_ret)
{
    uint64_t bits;
    if (paging->kind == NT_LANCE_PAGE_STRINGS && !nt_add(elements, 1, &elements))
        return false;
    for (uint32_t i = 0; paging->kind == NT_LANCE_PAGE_PLAIN && i < value->list_count; i++)
        if (!nt_multiply(elements, value->lists[i], &elements))
            return false;
    if (!nt_multiply(elements, paging->bits, &bits))
        return false;
    *bytes_ret = bits / 8 + (bits % 8 != 0);
    return true;
}
