/* SPDX-License-Identifier: MIT
 *
 * The files of a chain, each with a name and, from the first look at it on, a place of its own, so that it can be seen as it is beside
 * the chain. It is opened apart from the chain's own use of it.
 */
#ifndef NT_VFS_CHAIN_PLACES_H
#define NT_VFS_CHAIN_PLACES_H

#include "vfs/places.h"

#define NT_CHAIN_FILES "files.d" /* the directory that they are found in */

/* The list must outlive them. */
enum nt_status nt_chain_places_new(const struct nt_chain_list *list, struct nt_chain_places **chain_ret,
                                   struct nt_error *error);
void nt_chain_places_free(struct nt_chain_places *chain); /* accepts NULL */

/* What a file of the list is called in files.d. */
const char *nt_chain_places_name(const struct nt_chain_places *chain, uint32_t file);
/* The file of a name, of the chain that a place is. NT_NOT_FOUND. Not under the lock. */
enum nt_status nt_chain_places_find(struct nt_places *places, uint32_t number, const char *name,
                                    uint32_t *place_ret, struct nt_error *error);

#endif
