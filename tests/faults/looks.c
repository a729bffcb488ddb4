/* SPDX-License-Identifier: MIT
 *
 * Reads attributes, listings, contents and findings. The digest includes each result and failure.
 */
#include "looks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntuple/arrow.h>

#include "core/model/model.h"
#include "vfs/vfs.h"
#include "tools/tools.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "render/arrow/arrow.h"
#include "vfs/tree.h"

const char *const look_names[LOOKS] = {
    [LOOK_ATTRIBUTES] = "attributes",
    [LOOK_LISTING] = "listing",
    [LOOK_XATTRS] = "extended attributes",
    [LOOK_CONTENT] = "content",
    [LOOK_TREE] = "tree",
    [LOOK_VERIFY] = "verify",
    [LOOK_DIFF] = "diff",
    [LOOK_ARROW] = "arrow",
};

/* FNV-1a. */
static void digest(struct sight *sight, const void *bytes, size_t count)
{
    const uint8_t *at = bytes;
    for (size_t i = 0; i < count; i++)
        sight->digest = (sight->digest ^ at[i]) * UINT64_C(0x100000001b3);
}

/* Continues? Records a failure. */
static bool goes_on(struct sight *sight, enum nt_status status)
{
    if (sight->status == NT_OK)
        sight->status = status;
    if (sight->refusal == NT_OK && nt_is_environmental(status))
        sight->refusal = status;
    sight->is_whole &= status == NT_OK;
    return status == NT_OK;
}

/* Must a call be repeated? */
static bool is_tried_again(struct sight *sight, enum nt_status status)
{
    bool is_whole = sight->is_whole;
    sight->last = status;
    if (!nt_is_environmental(status))
        return false;
    goes_on(sight, status);
    sight->is_whole = is_whole;
    return true;
}
#define TWICE(sight, call) goes_on(sight, is_tried_again(sight, call) ? (call) : (sight)->last)

/* ---- one path ---- */

static void look_at_attributes(struct nt_vfs *vfs, uint64_t node, struct sight *sight)
{
    struct nt_vfs_attributes attributes;
    if (!TWICE(sight, nt_vfs_stat(vfs, node, true, &attributes, NULL)))
        return;
    digest(sight, &attributes.class, sizeof(attributes.class));
    digest(sight, &attributes.stat.st_mode, sizeof(attributes.stat.st_mode));
    digest(sight, &attributes.stat.st_size, sizeof(attributes.stat.st_size));
}

static bool see_entry(void *context, const char *name, uint64_t node, enum nt_vfs_class class,
                      uint64_t next_cursor)
{
    struct sight *sight = context;
    digest(sight, name, strlen(name) + 1);
    digest(sight, &class, sizeof(class));
    return true;
}

static void look_at_listing(struct nt_vfs *vfs, uint64_t node, struct sight *sight)
{
    uint64_t start = sight->digest; /* a listing starts again */
    TWICE(sight, (sight->digest = start, nt_vfs_readdir(vfs, node, 0, see_entry, sight, NULL)));
}

static void look_at_xattrs(struct nt_vfs *vfs, uint64_t node, struct sight *sight)
{
    struct nt_buffer names = {0}, value = {0};
    if (TWICE(sight, (nt_buffer_clear(&names), nt_vfs_listxattr(vfs, node, &names, NULL)))) {
        digest(sight, names.bytes, names.length);
        for (const char *name = names.bytes; name && name < names.bytes + names.length;
             name += strlen(name) + 1)
            if (TWICE(sight, (nt_buffer_clear(&value), nt_vfs_getxattr(vfs, node, name, &value, NULL))))
                digest(sight, value.bytes, value.length);
    }
    nt_buffer_deinit(&names);
    nt_buffer_deinit(&value);
}

static void read_to_the_end(struct nt_vfs_handle *handle, struct sight *sight)
{
    static _Thread_local uint8_t bytes[64 * 1024];
    size_t count = 1;
    for (uint64_t offset = 0; count; offset += count) {
        if (!TWICE(sight, nt_vfs_read(handle, offset, bytes, sizeof(bytes), &count, NULL)))
            return;
        digest(sight, bytes, count);
    }
}

static void look_at_content(struct nt_vfs *vfs, uint64_t node, struct sight *sight)
{
    struct nt_vfs_handle *handle;
    if (!TWICE(sight, nt_vfs_open(vfs, node, &handle, NULL)))
        return;
    read_to_the_end(handle, sight);
    nt_vfs_close(handle);
}

/* ---- all paths ---- */

static bool is_counter(const char *path)
{
    return strncmp(path, ".ntuplefs/", strlen(".ntuplefs/")) == 0;
}

struct entry {
    struct entry *next;
    bool is_directory;
    char path[];
};

struct listing {
    struct entry **end;
    const char *directory;
};

static bool add_entry(void *context, const char *name, uint64_t node, enum nt_vfs_class class,
                      uint64_t next_cursor)
{
    struct listing *listing = context;
    if (class == NT_VFS_LINK) /* to a version that is not looked at */
        return true;
    size_t length = strlen(listing->directory) + strlen(name) + 2;
    struct entry *entry = malloc(sizeof(*entry) + length);
    entry->next = NULL;
    entry->is_directory = class == NT_VFS_DIRECTORY;
    snprintf(entry->path, length, "%s%s%s", listing->directory, *listing->directory ? "/" : "", name);
    *listing->end = entry;
    listing->end = &entry->next;
    return true;
}

/* Breadth first: the list is the queue. */
struct tree_path *list_paths(struct nt_vfs *vfs)
{
    struct entry *first = NULL;
    struct listing listing = {&first, ""};
    uint64_t node;
    size_t count = 0;
    nt_vfs_readdir(vfs, NT_VFS_ROOT, 0, add_entry, &listing, NULL);
    for (struct entry *entry = first; entry; entry = entry->next) {
        count += !is_counter(entry->path);
        listing.directory = entry->path;
        if (entry->is_directory && nt_vfs_resolve(vfs, entry->path, &node, NULL) == NT_OK)
            nt_vfs_readdir(vfs, node, 0, add_entry, &listing, NULL);
    }
    struct tree_path *paths = calloc(count + 1, sizeof(*paths));
    count = 0;
    for (struct entry *entry = first, *next; entry; entry = next) {
        next = entry->next;
        if (!is_counter(entry->path))
            paths[count++] = (struct tree_path){strdup(entry->path), entry->is_directory};
        free(entry);
    }
    return paths;
}

void free_paths(struct tree_path *paths)
{
    for (size_t i = 0; paths[i].path; i++)
        free(paths[i].path);
    free(paths);
}

static void look_at_tree(struct nt_vfs *vfs, struct sight *sight)
{
    struct tree_path *paths = list_paths(vfs);
    for (struct tree_path *at = paths; at->path; at++)
        for (enum look look = 0; look < LOOK_TREE; look++) {
            struct sight part;
            if (!look_applies(look, at))
                continue;
            look_at(vfs, at->path, look, &part);
            goes_on(sight, part.status);
            goes_on(sight, part.refusal);
            digest(sight, at->path, strlen(at->path));
            digest(sight, &part.status, sizeof(part.status));
            digest(sight, &part.digest, sizeof(part.digest));
        }
    free_paths(paths);
}

/* ---- the file ---- */

/* A refusal of the machine is a failure of this look, too. */
static void see_finding(void *context, const struct nt_finding *finding)
{
    struct sight *sight = context;
    if (finding->kind == NT_FINDING_UNREADABLE) {
        goes_on(sight, finding->error.status);
        return;
    }
    digest(sight, &finding->kind, sizeof(finding->kind));
    digest(sight, &finding->error.status, sizeof(finding->error.status));
    digest(sight, finding->error.message, strlen(finding->error.message));
}

static void verify(struct nt_vfs *vfs, struct nt_file *file, struct sight *sight)
{
    const struct nt_verify_options options = {.on_finding = see_finding, .context = sight};
    struct nt_verify_summary summary;
    if (goes_on(sight, nt_verify(vfs->reader, file, &options, &summary, NULL)))
        digest(sight, &summary, sizeof(summary));
}

/* A dataset has no difference to itself. */
static void see_difference(void *context, const struct nt_difference *difference)
{
    digest(context, difference->property, strlen(difference->property));
}

static void see_diff_failure(void *context, unsigned side, uint32_t field, const struct nt_error *error)
{
    struct sight *sight = context;
    if (nt_is_environmental(error->status)) {
        goes_on(sight, error->status);
        return;
    }
    digest(sight, &side, sizeof(side));
    digest(sight, &field, sizeof(field));
    digest(sight, error->message, strlen(error->message));
}

static void compare(struct nt_vfs *vfs, struct nt_file *file, struct sight *sight)
{
    const struct nt_diff_options options = {.parts = {true, true, true},
                                            .on_difference = see_difference,
                                            .on_failure = see_diff_failure,
                                            .context = sight};
    struct nt_diff_summary summary;
    for (uint32_t i = 0; i < file->dataset_count; i++) {
        const struct nt_diff_side side = {vfs->reader, file->datasets[i], NT_NONE};
        if (!file->datasets[i]->failure)
            goes_on(sight, nt_diff((const struct nt_diff_side[]){side, side}, &options, &summary, NULL));
    }
}

static void export(struct nt_vfs *vfs, struct nt_file *file, struct sight *sight)
{
    for (uint32_t i = 0; i < file->dataset_count; i++) {
        struct nt_arrow *arrow;
        struct ArrowSchema schema;
        struct ArrowArray array;
        if (file->datasets[i]->failure ||
            !TWICE(sight, nt_arrow_new(vfs->reader, file->datasets[i], NULL, &arrow, NULL)))
            continue;
        if (TWICE(sight, nt_arrow_export_schema(arrow, &schema, NULL))) {
            digest(sight, schema.format, strlen(schema.format));
            digest(sight, &schema.n_children, sizeof(schema.n_children));
            schema.release(&schema);
        }
        for (uint32_t batch = 0; batch < nt_arrow_batches(arrow); batch++)
            if (TWICE(sight, nt_arrow_export_batch(arrow, batch, &array, NULL))) {
                digest(sight, &array.length, sizeof(array.length));
                array.release(&array);
            }
        nt_arrow_free(arrow);
    }
}

void look_at(struct nt_vfs *vfs, const char *path, enum look look, struct sight *sight)
{
    static void (*const looks[])(struct nt_vfs *, uint64_t, struct sight *) = {
        [LOOK_ATTRIBUTES] = look_at_attributes,
        [LOOK_LISTING] = look_at_listing,
        [LOOK_XATTRS] = look_at_xattrs,
        [LOOK_CONTENT] = look_at_content,
    };
    static void (*const of_files[])(struct nt_vfs *, struct nt_file *, struct sight *) = {
        [LOOK_VERIFY - LOOK_VERIFY] = verify,
        [LOOK_DIFF - LOOK_VERIFY] = compare,
        [LOOK_ARROW - LOOK_VERIFY] = export,
    };
    uint64_t node = NT_VFS_ROOT;
    *sight = (struct sight){.digest = UINT64_C(0xcbf29ce484222325), .is_whole = true};
    if (look == LOOK_TREE) {
        look_at_tree(vfs, sight);
        return;
    }
    if (!TWICE(sight, nt_vfs_resolve(vfs, path, &node, NULL)))
        return;
    if (look < LOOK_TREE) {
        looks[look](vfs, node, sight);
        return;
    }
    struct nt_resolved_node resolved;
    if (nt_node_resolve(vfs, node, &resolved, NULL) != NT_OK)
        return;
    if (TWICE(sight, nt_node_resolve_stub(&resolved, true, NULL)) && resolved.file)
        of_files[look - LOOK_VERIFY](vfs, resolved.file, sight);
    nt_node_release(&resolved);
}

unsigned count_failures(struct nt_vfs *vfs)
{
    char text[4096];
    uint64_t node;
    size_t count = 0;
    unsigned lines = 0;
    struct nt_vfs_handle *handle;
    if (nt_vfs_resolve(vfs, ".ntuplefs/errors.jsonl", &node, NULL) != NT_OK ||
        nt_vfs_open(vfs, node, &handle, NULL) != NT_OK)
        return UINT32_MAX;
    for (uint64_t offset = 0; nt_vfs_read(handle, offset, text, sizeof(text), &count, NULL) == NT_OK && count;
         offset += count)
        for (size_t i = 0; i < count; i++)
            lines += text[i] == '\n';
    nt_vfs_close(handle);
    return lines;
}
