/* SPDX-License-Identifier: MIT
 *
 * tree.json, branch.json and streamer_info.json.
 */
#include "formats/ttree/ttree.h"

#include "core/json/json.h"

/* ---- Objects, with the names that ROOT has for their members ---- */

struct writer {
    struct nt_json json;
    const char *const *skipped; /* members of the outermost object, up to NULL */
};

/* Names of the streamer information are repeated for each object: they may take much more space here. */
static enum nt_status check_length(const struct writer *writer, struct nt_error *error)
{
    enum { MAX_BYTES = 1 << 28 };
    if (writer->json.out->length <= MAX_BYTES)
        return NT_OK;
    return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "an object takes more than %d bytes as JSON", MAX_BYTES);
}

static void put_key(struct nt_json *json, const struct nt_object_member *member)
{
    if (member->name.length)
        nt_json_key_bytes(json, member->name.bytes, member->name.length);
}

/* The names of what is not a member are those of TBufferJSON. */
static void put_root_key(struct nt_json *json, const char *key)
{
    nt_json_key_bytes(json, key, strlen(key));
}

static void put_class_name(struct nt_json *json, struct nt_text class_name)
{
    put_root_key(json, "_typename");
    nt_json_bytes(json, class_name.bytes, class_name.length);
}

static bool is_skipped(const struct writer *writer, const struct nt_object_member *member)
{
    for (const char *const *name = writer->skipped; member->depth == 1 && *name; name++)
        if (nt_text_is(member->name, *name))
            return true;
    return false;
}

static enum nt_status put_begin(void *context, const struct nt_object_member *member, bool *skip_ret,
                                struct nt_error *error)
{
    struct writer *writer = context;
    struct nt_json *json = &writer->json;
    *skip_ret = is_skipped(writer, member);
    if (*skip_ret)
        return NT_OK;
    put_key(json, member);
    if (member->is_list) {
        nt_json_array(json);
    } else {
        nt_json_object(json);
        put_class_name(json, member->class_name);
    }
    return check_length(writer, error);
}

static enum nt_status put_end(void *context, const struct nt_object_member *member, struct nt_error *error)
{
    struct writer *writer = context;
    if (member->is_list)
        nt_json_end_array(&writer->json);
    else
        nt_json_end_object(&writer->json);
    return NT_OK;
}

/* An exponent and a mantissa of 12 bits after its sign: what Float16_t is without a range. */
static float float16(const uint8_t *bytes)
{
    enum { MANTISSA_BITS = 12, EXPONENT_PLACE = 23 };
    uint32_t word = nt_load_be16(bytes + 1);
    uint32_t bits = (uint32_t)bytes[0] << EXPONENT_PLACE;
    float value;
    bits |= (word & ((1u << MANTISSA_BITS) - 1)) << (EXPONENT_PLACE - MANTISSA_BITS);
    if (word & 1u << (MANTISSA_BITS + 1))
        bits |= UINT32_C(1) << 31;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static void put_number(struct nt_json *json, int32_t type, const uint8_t *bytes)
{
    static const uint8_t elements[] = {
        [NT_STREAMER_BOOL] = NT_ELEMENT_BOOL,     [NT_STREAMER_CHAR] = NT_ELEMENT_INT8,
        [NT_STREAMER_UCHAR] = NT_ELEMENT_UINT8,   [NT_STREAMER_LEGACY_CHAR] = NT_ELEMENT_INT8,
        [NT_STREAMER_SHORT] = NT_ELEMENT_INT16,   [NT_STREAMER_USHORT] = NT_ELEMENT_UINT16,
        [NT_STREAMER_INT] = NT_ELEMENT_INT32,     [NT_STREAMER_COUNTER] = NT_ELEMENT_INT32,
        [NT_STREAMER_UINT] = NT_ELEMENT_UINT32,   [NT_STREAMER_BITS] = NT_ELEMENT_UINT32,
        [NT_STREAMER_LONG] = NT_ELEMENT_INT64,    [NT_STREAMER_LONG64] = NT_ELEMENT_INT64,
        [NT_STREAMER_ULONG] = NT_ELEMENT_UINT64,  [NT_STREAMER_ULONG64] = NT_ELEMENT_UINT64,
        [NT_STREAMER_FLOAT] = NT_ELEMENT_REAL32,  [NT_STREAMER_DOUBLE32] = NT_ELEMENT_REAL32,
        [NT_STREAMER_DOUBLE] = NT_ELEMENT_REAL64,
    };
    if (type == NT_STREAMER_FLOAT16) {
        nt_json_float(json, float16(bytes));
        return;
    }
    const struct nt_dtype dtype = {.number = elements[type], .is_big_endian = true};
    nt_json_element(json, &dtype, bytes);
}

static enum nt_status put_numbers(void *context, const struct nt_object_member *member,
                                  struct nt_error *error)
{
    struct writer *writer = context;
    struct nt_json *json = &writer->json;
    size_t width = member->count ? member->byte_count / member->count : 0;
    put_key(json, member);
    if (!member->is_list) {
        put_number(json, member->type, member->bytes);
        return check_length(writer, error);
    }
    nt_json_array(json);
    json->is_compact = true; /* one line */
    for (uint64_t i = 0; i < member->count; i++)
        put_number(json, member->type, member->bytes + i * width);
    nt_json_end_array(json);
    json->is_compact = false;
    return check_length(writer, error);
}

static enum nt_status put_string(void *context, const struct nt_object_member *member, struct nt_error *error)
{
    struct writer *writer = context;
    put_key(&writer->json, member);
    nt_json_bytes(&writer->json, member->bytes, member->byte_count);
    return NT_OK;
}

/* Where the object begins that is meant. */
static enum nt_status put_reference(void *context, const struct nt_object_member *member, size_t offset,
                                    struct nt_error *error)
{
    struct writer *writer = context;
    struct nt_json *json = &writer->json;
    put_key(json, member);
    if (offset == SIZE_MAX) {
        nt_json_null(json);
    } else {
        nt_json_object(json);
        put_root_key(json, "$ref");
        nt_json_unsigned(json, offset);
        nt_json_end_object(json);
    }
    return NT_OK;
}

static enum nt_status put_unknown(void *context, const struct nt_object_member *member,
                                  struct nt_error *error)
{
    struct writer *writer = context;
    struct nt_json *json = &writer->json;
    if (is_skipped(writer, member))
        return NT_OK;
    put_key(json, member);
    nt_json_object(json);
    put_class_name(json, member->class_name);
    nt_json_member_unsigned(json, "unread_bytes", member->byte_count);
    nt_json_end_object(json);
    return NT_OK;
}

static struct nt_object_visitor visitor_of(struct writer *writer, uint64_t record_offset)
{
    return (struct nt_object_visitor){writer,     put_begin,     put_end,     put_numbers,
                                      put_string, put_reference, put_unknown, .record_offset = record_offset};
}

static enum nt_status finish(struct writer *writer, enum nt_status status, struct nt_error *error)
{
    nt_json_finish(&writer->json);
    return status == NT_OK && writer->json.out->failed ? nt_fail_memory(error) : status;
}

/* ---- tree.json ---- */

enum nt_status nt_ttree_describe_tree(const struct nt_ttree *tree, struct nt_buffer *out,
                                      struct nt_error *error)
{
    static const char *const skipped[] = {"fBranches", "fLeaves", "fBranchRef", NULL};
    struct writer writer = {.skipped = skipped};
    const struct nt_object_visitor visitor = visitor_of(&writer, tree->record_offset);
    nt_json_document(&writer.json, out, "tree");
    nt_json_member_text(&writer.json, "class", tree->class_name);
    nt_json_member_unsigned(&writer.json, "tree_version", tree->version);
    nt_json_member_unsigned(&writer.json, "record_offset", tree->record_offset);
    nt_json_member_unsigned(&writer.json, "record_bytes", tree->record_bytes);
    nt_json_member_unsigned(&writer.json, "key_bytes", tree->key_bytes);
    nt_json_member_unsigned(&writer.json, "object_bytes", tree->object_bytes);
    nt_json_member_unsigned(&writer.json, "branches", tree->own->branch_count);
    nt_json_member_unsigned(&writer.json, "leaves", tree->own->leaf_count);
    nt_json_member_bool(&writer.json, "is_recovered", tree->is_recovered);
    nt_ttree_describe_friends(tree, &writer.json);
    nt_json_key(&writer.json, "object");
    enum nt_status status = nt_object_walk(tree->info, tree->class_name, tree->object, tree->object_bytes,
                                           tree->key_bytes, &visitor, error);
    return finish(&writer, status, error);
}

/* ---- branch.json ---- */

static void put_embedded(struct nt_json *json, const struct nt_ttree_branch *branch)
{
    nt_json_member_array(json, "embedded_baskets");
    for (uint32_t i = 0; i < branch->embedded_count; i++) {
        const struct nt_ttree_embedded *embedded = &branch->record->embedded[branch->first_embedded + i];
        nt_json_object(json);
        nt_json_member_unsigned(json, "basket", embedded->slot);
        nt_json_member_unsigned(json, "object_offset", embedded->offset);
        nt_json_member_unsigned(json, "record_bytes", embedded->bytes);
        nt_json_end_object(json);
    }
    nt_json_end_array(json);
}

static void put_counter(struct nt_json *json, const char *key, const struct nt_ttree *tree, uint32_t counter)
{
    if (counter != NT_NONE)
        nt_json_member_text(json, key, tree->branches[counter].name);
}

enum nt_status nt_ttree_describe_branch(const struct nt_ttree *tree, const struct nt_ttree_branch *branch,
                                        struct nt_buffer *out, struct nt_error *error)
{
    static const char *const skipped[] = {"fBranches", "fBaskets", "fBranchCount", "fBranchCount2", NULL};
    struct writer writer = {.skipped = skipped};
    const struct nt_ttree *record = branch->record;
    const struct nt_object_visitor visitor = visitor_of(&writer, record->record_offset);
    nt_json_document(&writer.json, out, "branch");
    nt_json_member_text(&writer.json, "class", branch->class_name);
    nt_json_member_unsigned(&writer.json, "object_offset", branch->offset);
    nt_json_member_unsigned(&writer.json, "object_bytes", branch->byte_count);
    put_counter(&writer.json, "counter", tree, branch->counter);
    put_counter(&writer.json, "second_counter", tree, branch->second_counter);
    put_embedded(&writer.json, branch);
    nt_json_key(&writer.json, "object");
    enum nt_status status = nt_object_walk_item(record->info, record->object, record->object_bytes,
                                                record->key_bytes, branch->offset, &visitor, error);
    return finish(&writer, status, error);
}

/* ---- streamer_info.json ---- */

static void put_element(struct nt_json *json, const struct nt_streamer_element *element)
{
    nt_json_object(json);
    nt_json_member_text(json, "name", element->name);
    nt_json_member_text(json, "type_name", element->type_name);
    nt_json_member_signed(json, "type", element->type);
    if (element->title.length)
        nt_json_member_text(json, "title", element->title);
    if (element->dimension_count) {
        nt_json_member_array(json, "dimensions");
        for (uint32_t i = 0; i < element->dimension_count; i++)
            nt_json_unsigned(json, element->dimensions[i]);
        nt_json_end_array(json);
    }
    if (element->counter.length)
        nt_json_member_text(json, "counter", element->counter);
    if (element->stl_type) {
        nt_json_member_signed(json, "stl_type", element->stl_type);
        nt_json_member_signed(json, "content_type", element->content_type);
    }
    if (element->base_version)
        nt_json_member_signed(json, "base_version", element->base_version);
    nt_json_end_object(json);
}

static void put_class(struct nt_json *json, const struct nt_streamer_class *described)
{
    nt_json_object(json);
    nt_json_member_text(json, "class", described->name);
    nt_json_member_signed(json, "version", described->version);
    nt_json_member_hex32(json, "checksum", described->checksum);
    nt_json_member_array(json, "elements");
    for (uint32_t i = 0; i < described->element_count; i++)
        put_element(json, &described->elements[i]);
    nt_json_end_array(json);
    nt_json_end_object(json);
}

enum nt_status nt_streamer_info_describe(const struct nt_streamer_info *info, struct nt_buffer *out,
                                         struct nt_error *error)
{
    struct nt_json json;
    nt_json_document(&json, out, "streamer_info");
    nt_json_member_array(&json, "classes");
    for (uint32_t i = 0; i < info->class_count; i++)
        if (!info->classes[i].is_built_in)
            put_class(&json, &info->classes[i]);
    nt_json_end_array(&json);
    nt_json_finish(&json);
    return out->failed ? nt_fail_memory(error) : NT_OK;
}
