/* SPDX-License-Identifier: MIT
 *
 * RNTuples in an object store (S3). The file is a JSON document with the anchor (RNTupleAnchorS3 in
 * ROOT); each envelope and page is in an object below the file's address.
 */
#include "formats/rntuple/rntuple.h"

#include "core/io/folder.h"
#include "core/json/parse.h"

/* ---- Read the JSON anchor ---- */

/* The numbers in the document. */
struct numbers {
    uint64_t version, epoch, major, minor, patch;
    struct range {
        uint64_t object, offset, stored_bytes, length;
    } header, footer;
    uint64_t checksum;
};

#define NUMBER(key, member, most)                                                                            \
    {                                                                                                        \
        key, offsetof(struct numbers, member), most                                                          \
    }

static const struct {
    const char *key;
    size_t offset;
    uint64_t most;
} numbers[] = {
    NUMBER("anchorVersion", version, UINT32_MAX),
    NUMBER("formatVersionEpoch", epoch, UINT16_MAX),
    NUMBER("formatVersionMajor", major, UINT16_MAX),
    NUMBER("formatVersionMinor", minor, UINT16_MAX),
    NUMBER("formatVersionPatch", patch, UINT16_MAX),
    NUMBER("headerObjId", header.object, UINT64_MAX),
    NUMBER("headerOffset", header.offset, UINT64_MAX),
    NUMBER("nBytesHeader", header.stored_bytes, UINT64_MAX),
    NUMBER("lenHeader", header.length, UINT64_MAX),
    NUMBER("footerObjId", footer.object, UINT64_MAX),
    NUMBER("footerOffset", footer.offset, UINT64_MAX),
    NUMBER("nBytesFooter", footer.stored_bytes, UINT64_MAX),
    NUMBER("lenFooter", footer.length, UINT64_MAX),
    NUMBER("checksum", checksum, UINT64_MAX),
};

struct object_document {
    struct nt_json_member *members;
    size_t count;
};

static const struct nt_json_member *find(const struct object_document *document, const char *key)
{
    for (size_t i = 0; i < document->count; i++)
        if (nt_text_is(document->members[i].key, key))
            return &document->members[i];
    return NULL;
}

static enum nt_status fail_member(const char *key, const struct nt_json_member *member, const char *expected,
                                  struct nt_error *error)
{
    if (!member)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "anchor: it has no \"%s\"", key);
    return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "anchor: its \"%s\" is not %s", key, expected);
}

/* ---- Members ---- */

/* The first number is the version, which decides whether the others are known. */
static enum nt_status read_numbers(const struct object_document *document, struct numbers *found,
                                   struct nt_error *error)
{
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        const struct nt_json_member *member = find(document, numbers[i].key);
        uint64_t *number = (uint64_t *)((char *)found + numbers[i].offset);
        if (!member || !nt_json_value_unsigned(member->value, number) || *number > numbers[i].most)
            return fail_member(numbers[i].key, member, "a number in the range of its type", error);
        if (i == 0 && *number != 0)
            return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                           "anchor: version in an object store: expected 0, found %" PRIu64, *number);
    }
    return NT_OK;
}

static bool is_plain(struct nt_text text)
{
    for (size_t i = 0; i < text.length; i++)
        if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/", text.bytes[i]) ||
            !text.bytes[i])
            return false;
    return true;
}

/* "${baseurl}/NAME": rejects other places, which may belong to a party that the user does not trust. */
static bool is_beneath(struct nt_text *name)
{
    if (!nt_text_skip(name, "${baseurl}/") || !nt_folder_is_name_below(*name))
        return false;
    const char *number = memmem(name->bytes, name->length, NT_OBJECT_NUMBER, strlen(NT_OBJECT_NUMBER));
    if (!number)
        return false;
    const char *after = number + strlen(NT_OBJECT_NUMBER);
    return is_plain((struct nt_text){name->bytes, (size_t)(number - name->bytes)}) &&
           is_plain((struct nt_text){after, (size_t)(name->bytes + name->length - after)});
}

static enum nt_status read_template(const struct object_document *document, struct nt_arena *arena,
                                    struct nt_store_anchor *anchor, struct nt_error *error)
{
    static const char key[] = "urlTemplate";
    const struct nt_json_member *member = find(document, key);
    struct nt_text name;
    if (!member || !nt_json_value_string(member->value, &name))
        return fail_member(key, member, "a string without escapes", error);
    NT_TRY(nt_check_memory(nt_text_copy(arena, name, &anchor->url_template), error));
    name = anchor->url_template;
    if (!is_beneath(&name))
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "anchor: its objects are at %.200s, but only objects below its address can be read, "
                       "${baseurl}/NAME with one " NT_OBJECT_NUMBER " in the name",
                       anchor->url_template.bytes);
    anchor->name = name.bytes;
    return NT_OK;
}

static enum nt_status set_range(const struct range *range, const char *what, struct nt_anchor_link *link,
                                struct nt_error *error)
{
    *link = (struct nt_anchor_link){.stored_bytes = range->stored_bytes, .length = range->length};
    return nt_object_address(what, range->object, range->offset, range->stored_bytes, &link->offset, error);
}

/* ---- Checksum ---- */

static enum nt_status check_checksum(const struct object_document *document, uint64_t stored,
                                     uint64_t *found_ret, struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer text = {0};
    nt_buffer_append_byte(&text, '{');
    for (size_t i = 0; i < document->count; i++) {
        const struct nt_json_member *member = &document->members[i];
        if (nt_text_is(member->key, "checksum"))
            continue;
        nt_buffer_append_format(&text, "%s\"", text.length > 1 ? "," : "");
        nt_buffer_append(&text, member->key.bytes, member->key.length);
        nt_buffer_append_string(&text, "\":");
        nt_json_append_compact(member->value, &text);
    }
    nt_buffer_append_byte(&text, '}');
    NT_TRY(nt_check_memory(!text.failed, error));
    *found_ret = nt_xxh3(text.bytes, text.length);
    return NT_COMPARES_CHECKSUMS && *found_ret != stored
               ? nt_fail_number(error, NT_CHECKSUM, NT_NO_OFFSET, "anchor: xxh3-64", stored, *found_ret)
               : NT_OK;
}

/* ---- Read the anchor ---- */

static enum nt_status read_document(const struct object_document *document, struct nt_arena *arena,
                                    struct nt_store_anchor *anchor, struct nt_error *error)
{
    struct numbers found;
    NT_TRY(read_numbers(document, &found, error));
    NT_TRY(set_range(&found.header, "header", &anchor->anchor.header, error));
    NT_TRY(set_range(&found.footer, "footer", &anchor->anchor.footer, error));
    NT_TRY(read_template(document, arena, anchor, error));
    anchor->version = found.version;
    anchor->anchor.epoch = (uint16_t)found.epoch;
    anchor->anchor.major = (uint16_t)found.major;
    anchor->anchor.minor = (uint16_t)found.minor;
    anchor->anchor.patch = (uint16_t)found.patch;
    return check_checksum(document, found.checksum, &anchor->anchor.checksum, error);
}

enum nt_status nt_store_anchor_read(struct nt_text text, struct nt_arena *arena,
                                    struct nt_store_anchor *anchor_ret, struct nt_error *error)
{
    struct object_document document = {0};
    /* It has all values of the newest layout in files. */
    *anchor_ret = (struct nt_store_anchor){.anchor = {.layout = NT_ANCHOR_78_BYTES,
                                                      .stored_bytes = text.length,
                                                      .length = (uint32_t)text.length}};
    enum nt_status status = nt_json_members_read(text, &document.members, &document.count, error);
    if (status == NT_OK)
        status = read_document(&document, arena, anchor_ret, error);
    else
        nt_error_context(error, "anchor");
    if (status != NT_OK && status != NT_CHECKSUM) {
        anchor_ret->anchor.length = 0;
        anchor_ret->name = NULL;
    }
    free(document.members);
    return status;
}

/* ---- Object store as a container ---- */

/* An anchor has some hundred bytes; ROOT rejects longer ones. */
enum { MAX_ANCHOR_BYTES = 1 << 20 };

static enum nt_status read_text(const struct nt_file *file, struct nt_text *text, struct nt_error *error)
{
    struct nt_source *source = file->source;
    if (source->size > MAX_ANCHOR_BYTES)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "%s: an anchor of an object store has at most %d bytes",
                       file->path, MAX_ANCHOR_BYTES);
    char *bytes = nt_arena_alloc(file->arena, 1, (size_t)source->size + 1);
    NT_TRY(nt_check_memory(bytes, error));
    *text = (struct nt_text){bytes, (size_t)source->size};
    return nt_source_read(source, 0, bytes, text->length, error);
}

static enum nt_status store_open(struct nt_file *file, struct nt_container *container, struct nt_error *error)
{
    struct nt_store_anchor *anchor = nt_arena_alloc(file->arena, 1, sizeof(*anchor));
    struct nt_anchor_object *object = nt_arena_alloc(file->arena, 1, sizeof(*object));
    struct nt_error failure = {0};
    struct nt_text text;
    NT_TRY(nt_check_memory(anchor && object, error));
    NT_TRY(read_text(file, &text, error));
    *object = (struct nt_anchor_object){.name = nt_path_name(file->path),
                                        .is_newest_cycle = true,
                                        .bytes = (const uint8_t *)text.bytes,
                                        .length = text.length,
                                        .stored_bytes = text.length,
                                        .anchor = &anchor->anchor};
    container->anchors = object;
    container->anchor_count = 1;
    container->details = anchor;
    if (nt_store_anchor_read(text, file->arena, anchor, &failure) == NT_OK)
        return NT_OK;
    return nt_failure_keep(&failure, file->arena, &object->failure, error);
}

static const struct nt_store_anchor *anchor_of(const struct nt_file *file)
{
    return nt_container_of(file)->details;
}

static enum nt_status store_open_objects(const struct nt_file *file, struct nt_source **objects_ret,
                                         struct nt_error *error)
{
    const struct nt_store_anchor *anchor = anchor_of(file);
    if (!anchor->name)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "anchor: it does not say where its objects are");
    return nt_source_open_objects(file->source, anchor->name, objects_ret, error);
}

static enum nt_status store_describe(const struct nt_file *file, struct nt_json *json, struct nt_error *error)
{
    const struct nt_store_anchor *anchor = anchor_of(file);
    nt_json_member_string(json, "kind", nt_container_store.name);
    nt_json_member_unsigned(json, "anchor_version", anchor->version);
    nt_json_member_text(json, "url_template", anchor->url_template);
    return NT_OK;
}

const struct nt_container_kind nt_container_store = {.name = "object store",
                                                     .magic = "{",
                                                     .text_mark = "\"anchorVersion\"",
                                                     .open = store_open,
                                                     .open_objects = store_open_objects,
                                                     .describe = store_describe};
