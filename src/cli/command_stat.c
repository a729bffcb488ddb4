/* SPDX-License-Identifier: MIT
 *
 * The command stat: prints the attributes and extended attributes of a file or directory of the tree,
 * as text or JSON.
 */
#include "cli/cli.h"

/* The destination of attributes: `json`, or standard output if NULL. */
struct stat_printer {
    struct nt_json *json;
    enum nt_exit_status status;
};

static void print_text(const char *key, const char *value)
{
    printf("%s: ", key);
    nt_print_name(value);
    putchar('\n');
}

static void print_attributes(const char *path, const struct nt_vfs_attributes *attributes)
{
    const struct stat *stat = &attributes->stat;
    char mode[NT_MODE_TEXT], time[NT_TIME_TEXT];
    print_text("path", path);
    print_text("class", nt_class_name(attributes->class));
    if (attributes->class != NT_VFS_STREAMED)
        printf("size: %jd\n", (intmax_t)stat->st_size);
    nt_format_mode(stat->st_mode, mode);
    printf("inode: %ju\nmode: %s\nuid: %ju\ngid: %ju\n", (uintmax_t)stat->st_ino, mode,
           (uintmax_t)stat->st_uid, (uintmax_t)stat->st_gid);
    nt_format_time(stat->st_mtime, time);
    if (time[0])
        print_text("modified", time);
}

static void put_integers(struct nt_json *json, const char *text)
{
    nt_json_array(json);
    while (*text) {
        char *end;
        nt_json_unsigned(json, strtoull(text, &end, 10));
        text = *end == ',' ? end + 1 : "";
    }
    nt_json_end_array(json);
}

/* An extended attribute is text; its member has the same type as in the other documents. */
static void put_member(struct nt_json *json, const char *key, enum nt_vfs_value kind,
                       const struct nt_buffer *value)
{
    const struct nt_text text = {value->length ? value->bytes : "", value->length};
    switch (kind) {
    case NT_VFS_VALUE_TEXT:
        nt_json_member_text(json, key, text);
        break;
    case NT_VFS_VALUE_INTEGER:
        nt_json_member_unsigned(json, key, strtoull(text.bytes, NULL, 10));
        break;
    case NT_VFS_VALUE_REAL:
        nt_json_member_double(json, key, strtod(text.bytes, NULL));
        break;
    case NT_VFS_VALUE_INTEGERS:
        nt_json_key(json, key);
        put_integers(json, text.bytes);
        break;
    }
}

/* The cost of opening a remote file: before the first path is printed, no other requests happen. */
static const struct {
    const char *counter, *name;
} costs[] = {
    {"remote_requests", "open_requests"},
    {"remote_waits", "open_round_trips"},
    {"remote_bytes", "open_bytes"},
    {"remote_wait_milliseconds", "open_milliseconds"},
};

static uint64_t counted(struct nt_fetcher *fetcher, const char *name)
{
    const char *counter;
    uint64_t value = 0;
    for (uint32_t i = 0; nt_fetch_counter(fetcher, i, &counter, &value); i++)
        if (strcmp(counter, name) == 0)
            break;
    return value;
}

static void print_costs(const struct stat_printer *stat_printer, struct nt_fetcher *fetcher)
{
    for (size_t i = 0; i < sizeof(costs) / sizeof(*costs); i++) {
        uint64_t value = counted(fetcher, costs[i].counter);
        if (stat_printer->json)
            nt_json_member_unsigned(stat_printer->json, costs[i].name, value);
        else
            printf("%s: %ju\n", costs[i].name, (uintmax_t)value);
    }
}

/* A listed name may turn out to have no value: null in a document. So is an unreadable value, whose
 * error is reported once. */
static void print_xattr(struct stat_printer *stat_printer, struct nt_vfs *vfs, uint64_t node,
                        const char *path, const char *name)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer value = {0};
    struct nt_error error = {0};
    bool is_ours = strncmp(name, NT_VFS_XATTR_PREFIX, strlen(NT_VFS_XATTR_PREFIX)) == 0;
    const char *key = is_ours ? name + strlen(NT_VFS_XATTR_PREFIX) : name;
    enum nt_status status = nt_vfs_getxattr(vfs, node, name, &value, &error);
    if (status == NT_OK && stat_printer->json)
        put_member(stat_printer->json, key, nt_vfs_xattr_value(name), &value);
    else if (status == NT_OK)
        print_text(key, value.length ? value.bytes : "");
    else if (stat_printer->json)
        nt_json_member_null(stat_printer->json, key);
    if (status != NT_OK && status != NT_NOT_FOUND && stat_printer->status == NT_EXIT_OK)
        stat_printer->status = nt_print_error(path, &error);
}

static void print_stat(struct stat_printer *stat_printer, struct nt_vfs *vfs, uint64_t node, const char *path)
{
    struct nt_error error = {0};
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer names = {0};
    struct nt_vfs_attributes attributes;
    enum nt_status status = nt_vfs_stat(vfs, node, true, &attributes, &error);
    if (status == NT_OK)
        status = nt_vfs_listxattr(vfs, node, &names, &error);
    if (status == NT_OK && stat_printer->json)
        nt_json_attribute_members(stat_printer->json, &attributes);
    else if (status == NT_OK)
        print_attributes(path, &attributes);
    for (size_t at = 0; status == NT_OK && at < names.length; at += strlen(names.bytes + at) + 1)
        print_xattr(stat_printer, vfs, node, path, names.bytes + at);
    if (status != NT_OK && stat_printer->json)
        nt_json_failure_members(stat_printer->json, &error);
    if (status != NT_OK)
        nt_note_failure(&stat_printer->status, nt_print_error(path, &error));
}

static enum nt_exit_status stat_path(void *context, struct nt_vfs *vfs, const struct nt_target *target)
{
    const struct nt_invocation *invocation = context;
    struct nt_fetcher *fetcher = invocation->settings->tree.open.fetcher;
    const char *path = *target->path ? target->path : "/";
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer document = {0};
    struct nt_json json;
    struct stat_printer stat_printer = {.json = invocation->settings->json ? &json : NULL};
    if (stat_printer.json) {
        nt_json_document(&json, &document, "stat");
        nt_json_member_text(&json, "path", nt_text_of(path));
    }
    print_stat(&stat_printer, vfs, target->node, path);
    if (fetcher && !*target->path)
        print_costs(&stat_printer, fetcher);
    if (stat_printer.json) {
        nt_json_finish(&json);
        nt_note_failure(&stat_printer.status, nt_print_buffer(&document, target->path));
    }
    return stat_printer.status;
}

static enum nt_exit_status run(const struct nt_invocation *invocation)
{
    return nt_for_each_target(invocation, false, stat_path, (void *)invocation);
}

static const struct nt_option options[] = {
    NT_OPTION(0, "json", FLAG, json,
              .help = "print a JSON document for each path, with the attributes as members"),
    {0},
};

const struct nt_command nt_command_stat = {
    .name = "stat",
    .operands = "FILE [PATH...]",
    .help = "print attributes and extended attributes",
    .fewest = 1,
    .options = options,
    .shows_broken = true,
    .run = run,
};
