/* SPDX-License-Identifier: MIT
 *
 * Walks the tree over a source, breadth first. A broken promise of the tree aborts the program.
 * The input alone determines which nodes are read, and where reads are split.
 */
#include "walk.h"

#include <stdlib.h>
#include <string.h>

#include "core/codec/codec.h"
#include "tools/tools.h"
#include "core/base/memory.h"
#include "core/model/model.h"
#include "read/read.h"
#include "vfs/tree.h"
#include "vfs/vfs.h"

enum {
    METADATA_BYTES = 4 << 20,
    PAGE_BYTES = 1 << 20,
    CACHE_BYTES = 1 << 20,
    MAX_NODES = 1024,  /* that are found */
    MAX_LOOKS = 12,    /* nodes to check */
    MAX_BYTES = 16384, /* bytes to read of a file */
};

struct node {
    uint64_t number, parent;
    enum nt_vfs_class class;
};

struct walk {
    struct nt_vfs *vfs;
    uint64_t parent, choice;
    size_t count;
    struct node nodes[MAX_NODES];
};

/* What a read of a file from its start gave. */
struct taken {
    size_t count;
    enum nt_status status;
    uint8_t bytes[MAX_BYTES];
};

static void demand(bool is_so)
{
    if (!is_so)
        abort();
}

/* Each failure has a message. */
static enum nt_status reported(enum nt_status status, const struct nt_error *error)
{
    demand(status == NT_OK || error->message[0]);
    return status;
}

/* ---- finding ---- */

static bool find(void *context, const char *name, uint64_t number, enum nt_vfs_class class,
                 uint64_t next_cursor)
{
    struct walk *walk = context;
    uint64_t found = 0;
    size_t length = strlen(name);
    demand(length > 0 && length <= 255 && !strchr(name, '/'));
    /* A few of each directory: lookups work alike for all of one source. */
    if (walk->count % 16 == walk->choice % 16)
        demand(nt_vfs_lookup(walk->vfs, walk->parent, name, &found, NULL) != NT_OK || found == number);
    if (walk->count == MAX_NODES)
        return false;
    walk->nodes[walk->count++] = (struct node){number, walk->parent, class};
    return true;
}

static void find_all(struct walk *walk)
{
    struct nt_error error = {0};
    walk->nodes[0] = (struct node){NT_VFS_ROOT, NT_VFS_ROOT, NT_VFS_DIRECTORY};
    walk->count = 1;
    for (size_t i = 0; i < walk->count && walk->count < MAX_NODES; i++) {
        if (walk->nodes[i].class != NT_VFS_DIRECTORY)
            continue;
        walk->parent = walk->nodes[i].number;
        reported(nt_vfs_readdir(walk->vfs, walk->parent, 0, find, walk, &error), &error);
    }
}

/* ---- looking ---- */

static void look_at_attributes(struct walk *walk, uint64_t node)
{
    struct nt_buffer names = {0}, value = {0};
    struct nt_vfs_attributes attributes;
    struct nt_error error = {0};
    if (reported(nt_vfs_stat(walk->vfs, node, true, &attributes, &error), &error) == NT_OK)
        demand(attributes.node == node && attributes.stat.st_size >= 0);
    if (reported(nt_vfs_listxattr(walk->vfs, node, &names, &error), &error) == NT_OK)
        for (const char *name = names.bytes; name && name < names.bytes + names.length;
             name += strlen(name) + 1) {
            nt_buffer_clear(&value);
            reported(nt_vfs_getxattr(walk->vfs, node, name, &value, &error), &error);
        }
    nt_buffer_deinit(&names);
    nt_buffer_deinit(&value);
}

static void take(struct nt_vfs_handle *handle, size_t piece, struct taken *taken)
{
    struct nt_error error = {0};
    size_t got = 1;
    taken->count = 0;
    taken->status = NT_OK;
    while (taken->status == NT_OK && got && taken->count < MAX_BYTES) {
        size_t left = MAX_BYTES - taken->count, requested = piece < left ? piece : left;
        taken->status = reported(
            nt_vfs_read(handle, taken->count, taken->bytes + taken->count, requested, &got, &error), &error);
        demand(got <= requested);
        taken->count += taken->status == NT_OK ? got : 0;
    }
}

static enum nt_status take_anew(struct walk *walk, uint64_t node, size_t piece, struct taken *taken)
{
    struct nt_vfs_handle *handle;
    struct nt_error error = {0};
    enum nt_status status = reported(nt_vfs_open(walk->vfs, node, &handle, &error), &error);
    if (status != NT_OK)
        return status;
    take(handle, piece, taken);
    nt_vfs_close(handle);
    return status;
}

/* Any split gives the same bytes; a longer read may meet damage earlier. */
static void look_at_content(struct walk *walk, uint64_t node)
{
    static struct taken whole, split;
    size_t piece = MAX_BYTES / 64 + walk->choice % (MAX_BYTES / 4);
    if (take_anew(walk, node, MAX_BYTES, &whole) != NT_OK || take_anew(walk, node, piece, &split) != NT_OK)
        return;
    size_t both = whole.count < split.count ? whole.count : split.count;
    demand(memcmp(whole.bytes, split.bytes, both) == 0);
    if (whole.status == NT_OK)
        demand(split.status == NT_OK && split.count == whole.count);
}

/* Files about the mount itself change between reads. */
static bool is_of_the_mount(const struct walk *walk, const struct node *node)
{
    uint64_t own;
    return nt_vfs_lookup(walk->vfs, NT_VFS_ROOT, ".ntuplefs", &own, NULL) == NT_OK && node->parent == own;
}

static void look(struct walk *walk)
{
    size_t step = walk->count / MAX_LOOKS + 1;
    for (size_t i = walk->choice % step; i < walk->count; i += step) {
        const struct node *node = &walk->nodes[i];
        look_at_attributes(walk, node->number);
        if (node->class != NT_VFS_DIRECTORY && node->class != NT_VFS_LINK && !is_of_the_mount(walk, node))
            look_at_content(walk, node->number);
    }
}

/* ---- all ---- */

static void take_finding(void *context, const struct nt_finding *finding)
{
    reported(NT_CORRUPT, &finding->error);
}

static void verify(const char *path, const struct nt_open_options *open)
{
    const struct nt_reader_options options = {.struct_bytes = sizeof(options), .cache_bytes = CACHE_BYTES};
    const struct nt_verify_options verify = {.on_finding = take_finding};
    struct nt_verify_summary summary;
    struct nt_error error = {0};
    struct nt_reader *reader;
    struct nt_file *file;
    if (reported(nt_file_open(path, open, &file, &error), &error) != NT_OK)
        return;
    if (nt_reader_new(&options, &reader, &error) == NT_OK) {
        reported(nt_verify(reader, file, &verify, &summary, &error), &error);
        nt_reader_free(reader);
    }
    nt_file_close(file);
}

void walk_tree(const struct fuzz_input *input)
{
    const char *path = temporary_input(input);
    static struct walk walk;
    struct nt_vfs_options options = {.open = NT_OPEN_OPTIONS_INIT, .cache_bytes = CACHE_BYTES};
    struct nt_error error = {0};
    walk.choice = nt_xxh3(input->bytes, input->count);
    options.open.metadata_bytes = METADATA_BYTES;
    options.open.page_bytes = PAGE_BYTES;
    options.open.open_broken = walk.choice >> 63;
    if (reported(nt_vfs_new(&path, 1, &options, &walk.vfs, &error), &error) != NT_OK)
        return;
    find_all(&walk);
    look(&walk);
    nt_vfs_free(walk.vfs);
    if (walk.choice >> 61 & 1)
        verify(path, &options.open);
}
