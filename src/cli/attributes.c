/* SPDX-License-Identifier: MIT
 *
 * In: the attributes of a node. Out: the words that ls and stat have for them, and members of a JSON object.
 */
#include "cli/attributes.h"

#include "cli/command.h"

const char *nt_class_name(enum nt_vfs_class class)
{
    static const char *const names[] = {
        [NT_VFS_DIRECTORY] = "directory",
        [NT_VFS_SIZED] = "sized",
        [NT_VFS_PRODUCED] = "produced",
        [NT_VFS_UNSIZED] = "unsized",
    };
    return names[class];
}

void nt_json_attribute_members(struct nt_json *json, const struct nt_vfs_attributes *attributes)
{
    const struct stat *stat = &attributes->stat;
    char mode[NT_MODE_TEXT];
    nt_format_mode(stat->st_mode, mode);
    nt_json_member_string(json, "class", nt_class_name(attributes->class));
    if (attributes->class == NT_VFS_UNSIZED)
        nt_json_member_null(json, "size_bytes");
    else
        nt_json_member_unsigned(json, "size_bytes", (uint64_t)stat->st_size);
    nt_json_member_unsigned(json, "inode", stat->st_ino);
    nt_json_member_string(json, "mode", mode);
    nt_json_member_unsigned(json, "uid", stat->st_uid);
    nt_json_member_unsigned(json, "gid", stat->st_gid);
    nt_json_member_time(json, "modified", stat->st_mtime);
}
