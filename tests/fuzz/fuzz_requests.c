/* SPDX-License-Identifier: MIT
 *
 * Sequences of kernel requests to a mount of a small file. The input is a list of requests, eight bytes
 * each: the kind, the node or open file, and two numbers. The test replaces libfuse's reply functions
 * (tests/fuzz/meson.build): each request has one reply, which is not larger than requested, and read bytes
 * equal those of the tree.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/bytes.h"
#include "fuse/operations.h"
#include "temporary_input.h"
#include "sample.h"
#include "core/base/memory.h"
#include "vfs/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

enum { REQUEST_BYTES = 8, MAX_REQUESTS = 64, MAX_NODES = 512, MAX_OPEN = 8, MAX_READ = 8192 };

struct opened {
    uint64_t node;
    struct fuse_file_info info;
};

static struct {
    struct nt_mount mount;
    uint64_t nodes[MAX_NODES];
    size_t node_count;
    struct opened opened[MAX_OPEN];
    unsigned open_count;
    /* The current request. */
    unsigned replies;
    size_t room;
    bool is_refused;
    uint8_t read[MAX_READ];
    size_t read_count;
} kernel;

static void demand(bool is_so)
{
    if (!is_so)
        abort();
}

/* ---- libfuse's side ---- */

void *__wrap_fuse_req_userdata(fuse_req_t request);
int __wrap_fuse_req_interrupted(fuse_req_t request);
int __wrap_fuse_reply_err(fuse_req_t request, int number);
void __wrap_fuse_reply_none(fuse_req_t request);
int __wrap_fuse_reply_entry(fuse_req_t request, const struct fuse_entry_param *entry);
int __wrap_fuse_reply_attr(fuse_req_t request, const struct stat *attributes, double timeout);
int __wrap_fuse_reply_open(fuse_req_t request, const struct fuse_file_info *info);
int __wrap_fuse_reply_buf(fuse_req_t request, const char *bytes, size_t count);
int __wrap_fuse_reply_iov(fuse_req_t request, const struct iovec *parts, int count);
int __wrap_fuse_reply_statfs(fuse_req_t request, const struct statvfs *statistics);
int __wrap_fuse_reply_xattr(fuse_req_t request, size_t count);
int __wrap_fuse_lowlevel_notify_store(struct fuse_session *session, fuse_ino_t node, off_t offset,
                                      struct fuse_bufvec *bytes, enum fuse_buf_copy_flags flags);

static int take_reply(void)
{
    demand(++kernel.replies == 1);
    return 0;
}

void *__wrap_fuse_req_userdata(fuse_req_t request)
{
    return &kernel.mount;
}

int __wrap_fuse_req_interrupted(fuse_req_t request)
{
    return 0;
}

int __wrap_fuse_reply_err(fuse_req_t request, int number)
{
    demand(number >= 0 && number < 4096);
    kernel.is_refused = true;
    return take_reply();
}

void __wrap_fuse_reply_none(fuse_req_t request)
{
    take_reply();
}

static void remember(uint64_t node)
{
    if (kernel.node_count < MAX_NODES)
        kernel.nodes[kernel.node_count++] = node;
}

int __wrap_fuse_reply_entry(fuse_req_t request, const struct fuse_entry_param *entry)
{
    demand(entry->ino != 0 && entry->attr.st_ino == entry->ino);
    remember(entry->ino);
    return take_reply();
}

int __wrap_fuse_reply_attr(fuse_req_t request, const struct stat *attributes, double timeout)
{
    demand(attributes->st_size >= 0 && timeout >= 0);
    return take_reply();
}

int __wrap_fuse_reply_open(fuse_req_t request, const struct fuse_file_info *info)
{
    return take_reply();
}

static void take_bytes(const void *bytes, size_t count)
{
    demand(count <= kernel.room - kernel.read_count);
    if (count && kernel.read_count + count <= MAX_READ)
        memcpy(kernel.read + kernel.read_count, bytes, count);
    kernel.read_count += count;
}

int __wrap_fuse_reply_buf(fuse_req_t request, const char *bytes, size_t count)
{
    take_bytes(bytes, count);
    return take_reply();
}

int __wrap_fuse_reply_iov(fuse_req_t request, const struct iovec *parts, int count)
{
    for (int i = 0; i < count; i++)
        take_bytes(parts[i].iov_base, parts[i].iov_len);
    return take_reply();
}

int __wrap_fuse_reply_statfs(fuse_req_t request, const struct statvfs *statistics)
{
    return take_reply();
}

int __wrap_fuse_reply_xattr(fuse_req_t request, size_t count)
{
    return take_reply();
}

int __wrap_fuse_lowlevel_notify_store(struct fuse_session *session, fuse_ino_t node, off_t offset,
                                      struct fuse_bufvec *bytes, enum fuse_buf_copy_flags flags)
{
    return 0;
}

/* ---- requests ---- */

struct request {
    uint64_t node;
    struct opened *opened; /* NULL: there is none */
    uint64_t offset;
    size_t size;
    uint8_t choice;
};

static const struct fuse_lowlevel_ops *operations;

static void look_up(const struct request *request)
{
    static const char *const names[] = {"data.bin",   "column.0",   "pages", "0",
                                        "field.json", "rows.jsonl", ".."};
    char name[8] = {(char)request->offset, (char)request->size, (char)request->choice};
    size_t known = sizeof(names) / sizeof(*names);
    operations->lookup(NULL, request->node, request->choice % 8 < known ? names[request->choice % 8] : name);
}

static void ask_attributes(const struct request *request)
{
    operations->getattr(NULL, request->node, NULL);
}

static void list(const struct request *request)
{
    (request->choice & 1 ? operations->readdirplus : operations->readdir)(NULL, request->node, request->size,
                                                                          (off_t)request->offset, NULL);
}

static void open_node(const struct request *request)
{
    struct opened *opened = &kernel.opened[kernel.open_count];
    if (kernel.open_count == MAX_OPEN) {
        take_reply();
        return;
    }
    *opened = (struct opened){.node = request->node, .info = {.flags = request->choice == 255 ? 1 : 0}};
    operations->open(NULL, request->node, &opened->info);
    kernel.open_count += !kernel.is_refused;
}

/* Compares with a separate read of the tree; files about the mount change. */
static void compare(const struct request *request)
{
    static uint8_t bytes[MAX_READ];
    struct nt_vfs_attributes attributes;
    struct nt_vfs_handle *handle;
    size_t count;
    demand(nt_vfs_stat(kernel.mount.vfs, request->opened->node, true, &attributes, NULL) == NT_OK);
    if (!attributes.is_immutable)
        return;
    demand(nt_vfs_open(kernel.mount.vfs, request->opened->node, &handle, NULL) == NT_OK);
    if (!nt_vfs_is_streamed(handle)) {
        demand(nt_vfs_read(handle, request->offset, bytes, request->size, &count, NULL) == NT_OK);
        demand(count == kernel.read_count && memcmp(bytes, kernel.read, count) == 0);
    }
    nt_vfs_close(handle);
}

static void read_opened(const struct request *request)
{
    if (!request->opened) {
        take_reply();
        return;
    }
    operations->read(NULL, request->opened->node, request->size, (off_t)request->offset,
                     &request->opened->info);
    if (!kernel.is_refused)
        compare(request);
}

static void release(const struct request *request)
{
    if (!request->opened) {
        take_reply();
        return;
    }
    operations->release(NULL, request->opened->node, &request->opened->info);
    *request->opened = kernel.opened[--kernel.open_count];
}

static void ask_xattr(const struct request *request)
{
    static const char *const names[] = {"user.ntuplefs.type", "user.ntuplefs.elements", "user.ntuplefs.",
                                        "security.selinux"};
    if (request->choice & 1)
        operations->listxattr(NULL, request->node, request->size);
    else
        operations->getxattr(NULL, request->node, names[request->choice / 2 % 4], request->size);
}

static void ask_statistics(const struct request *request)
{
    operations->statfs(NULL, request->node);
}

static void forget(const struct request *request)
{
    operations->forget(NULL, request->node, request->size);
}

/* An offset from two bytes: small ones, and those at boundaries. */
static uint64_t offset_of(uint16_t number)
{
    return number < 0xff00 ? number : (uint64_t)INT64_MAX >> (number & 63);
}

static void ask(const uint8_t *bytes)
{
    static void (*const kinds[])(const struct request *request) = {
        look_up, ask_attributes, list, open_node, read_opened, release, ask_xattr, ask_statistics, forget};
    uint16_t node = nt_load_le16(bytes + 1);
    struct request request = {.offset = offset_of(nt_load_le16(bytes + 3)),
                              .size = nt_load_le16(bytes + 5) % (MAX_READ + 1),
                              .choice = bytes[7]};
    /* Known nodes, and numbers of no request. */
    request.node =
        node < 0xf000 ? kernel.nodes[node % kernel.node_count] : kernel.nodes[0] ^ UINT64_C(1) << (node & 63);
    if (kernel.open_count)
        request.opened = &kernel.opened[bytes[7] % kernel.open_count];
    kernel.replies = 0;
    kernel.read_count = 0;
    kernel.is_refused = false;
    kernel.room = request.size;
    kinds[bytes[0] % (sizeof(kinds) / sizeof(*kinds))](&request);
    demand(kernel.replies == 1);
}

/* ---- all ---- */

static bool note_entry(void *context, const char *name, uint64_t node, enum nt_vfs_class class,
                       uint64_t next_cursor)
{
    remember(node);
    return true;
}

static const char *write_sample(void)
{
    static struct nt_buffer file;
    if (!file.length)
        sample_file(RNTUPLE_V1, true, NULL, &file);
    return temporary_input(&(struct fuzz_input){(const uint8_t *)file.bytes, file.length, false});
}

/* This thread leads, so that it serves each read at once. */
static struct nt_leader *lead(void)
{
    static struct nt_leader leaders;
    if (!leaders.patience)
        demand(nt_leader_init(&leaders, NT_SECOND, 0) == 0);
    demand(nt_leader_wait(&leaders));
    return &leaders;
}

static void begin(void)
{
    static struct fuse_lowlevel_ops known;
    const struct nt_vfs_options options = {.open = NT_OPEN_OPTIONS_INIT, .cache_bytes = 1 << 20};
    nt_add_node_operations(&known);
    nt_add_file_operations(&known);
    nt_add_directory_operations(&known);
    operations = &known;
    const char *path = write_sample();
    memset(&kernel, 0, sizeof(kernel));
    kernel.mount.settings.reply_bytes = 1 << 20;
    kernel.mount.settings.reads = 1;
    kernel.mount.settings.leaders = lead();
    demand(nt_vfs_new(&path, 1, &options, &kernel.mount.vfs, NULL) == NT_OK);
    demand(nt_file_operations_init(&kernel.mount) == 0);
    remember(NT_VFS_ROOT);
    for (size_t i = 0; i < kernel.node_count && i < 8; i++)
        (void)nt_vfs_readdir(kernel.mount.vfs, kernel.nodes[i], 0, note_entry, NULL, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    begin();
    for (size_t i = 0; i < MAX_REQUESTS && (i + 1) * REQUEST_BYTES <= count; i++)
        ask(bytes + i * REQUEST_BYTES);
    nt_file_operations_deinit(&kernel.mount);
    nt_vfs_free(kernel.mount.vfs);
    return 0;
}
