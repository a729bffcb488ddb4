/* SPDX-License-Identifier: MIT
 *
 * What ls and stat tell of a file or directory of the tree, in the words that both of them use.
 */
#ifndef NT_CLI_ATTRIBUTES_H
#define NT_CLI_ATTRIBUTES_H

#include "core/json/json.h"
#include "vfs/vfs.h"

/* "directory", "sized", "produced", "unsized". */
const char *nt_class_name(enum nt_vfs_class class);

/* The members "class", "size_bytes" (null where it is not known before reading), "inode", "mode", "uid", "gid"
 * and "modified". */
void nt_json_attribute_members(struct nt_json *json, const struct nt_vfs_attributes *attributes);

#endif
