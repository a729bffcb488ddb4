/* SPDX-License-Identifier: MIT
 *
 * Names of files from names of fields, data sets and directories, which may be any bytes: rule 1 of
 * docs/tree.md.
 */
#ifndef NT_VFS_NAMES_H
#define NT_VFS_NAMES_H

#include <stdint.h>

#include "core/base/buffer.h"
#include "core/base/error.h"
#include "core/model/path.h"

enum { NT_NAME_BYTES = 255 }; /* longest name that Linux takes */

/* What an item would like to be called. */
struct nt_name_wish {
    uint32_t parent; /* the directory that it lies in: names are unique within one */
    struct nt_text text;
    enum nt_name_rule rule;
    const char *prefix; /* "attribute." or "" */
    uint32_t cycle;     /* not 0: an older cycle, ";<cycle>" is put behind the name */
};
typedef void nt_name_ask(const void *context, uint32_t item, struct nt_name_wish *wish);

/* The names of items 0 ... count - 1, found in constant time. Immutable once built. */
struct nt_names;

/* Natural names come first; then those that are generated (cut, older cycles, duplicates) take the first free
 * one. The texts must outlive the names. */
enum nt_status nt_names_build(uint32_t count, nt_name_ask *ask, const void *context,
                              struct nt_names **names_ret, struct nt_error *error);
void nt_names_free(struct nt_names *names); /* accepts NULL */
const char *nt_names_get(const struct nt_names *names, uint32_t item);
uint32_t nt_names_parent(const struct nt_names *names, uint32_t item);
/* The item of a name in a directory, NT_NONE where there is none. */
uint32_t nt_names_find(const struct nt_names *names, uint32_t parent, const char *name);

/* The decimal number (without leading zeros) between a prefix and a suffix. */
bool nt_parse_between(const char *name, const char *prefix, const char *suffix, uint64_t *number_ret);

#endif
