/* SPDX-License-Identifier: MIT
 *
 * The object store as a container: the file is the anchor of the one RNTuple, and each envelope and page is an object beneath its address.
 */
#include "container/container.h"

#include <string.h>

#include "core/base/arena.h"
#include "core/base/text.h"
#include "formats/rntuple/store_anchor.h"

/* An anchor has some hundred bytes; ROOT reads no longer one. */
enum { MOST_ANCHOR_BYTES = 1 << 20 };

static enum nt_status read_text(const struct nt_file *file, struct nt_text *text, struct nt_error *error)
{
    struct nt_source *source = file->source;
    if (source->size > MOST_ANCHOR_BYTES)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "%s: an anchor of an object store has at most %d bytes",
                       file->path, MOST_ANCHOR_BYTES);
    char *bytes = nt_arena_alloc(file->arena, 1, (size_t)source->size + 1);
    if (!bytes)
        return nt_fail_memory(error);
    *text = (struct nt_text){bytes, (size_t)source->size};
    return nt_source_read(source, 0, bytes, text->length, error);
}

static enum nt_status store_open(struct nt_file *file, struct nt_container *container, struct nt_error *error)
{
    struct nt_store_anchor *anchor = nt_arena_alloc(file->arena, 1, sizeof(*anchor));
    struct nt_anchor_object *object = nt_arena_alloc(file->arena, 1, sizeof(*object));
    struct nt_error failure = {0};
    struct nt_text text;
    if (!anchor || !object)
        return nt_fail_memory(error);
    enum nt_status status = read_text(file, &text, error);
    if (status != NT_OK)
        return status;
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
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "anchor: does not tell where its objects are");
    return nt_source_open_objects(file->source, anchor->name, objects_ret, error);
}

static enum nt_status store_describe(const struct nt_file *file, struct nt_json *json, struct nt_error *error)
{
    (void)error;
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
