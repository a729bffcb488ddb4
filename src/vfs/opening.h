/* SPDX-License-Identifier: MIT
 *
 * What lies at a place. Its file is opened when it is looked at and closed again when many are open and
 * nothing uses it. All functions may be called from several threads.
 */
#ifndef NT_VFS_OPENING_H
#define NT_VFS_OPENING_H

#include "vfs/places.h"

/* What a place is. Opens a file that has not been looked at; of what lies in a folder on a server it is NT_PLACE_FILE until it is entered. */
enum nt_place_kind nt_places_kind(struct nt_places *places, uint32_t number);
/* Why the place failed; returns the failure's status. */
enum nt_status nt_places_failure(struct nt_places *places, uint32_t number, struct nt_error *error);
struct timespec nt_places_failed_at(struct nt_places *places, uint32_t number);

/* What a place is, with its file where it is one: opened if it is not, released by the caller. NULL for all
 * else. *shown_ret is the place whose file it is: of a data set with a history that of its present version. */
enum nt_place_kind nt_places_hold(struct nt_places *places, uint32_t number, uint32_t *shown_ret,
                                  struct nt_open_file **opened_ret);
/* The same for the place of a data set, which is told; NT_PLACE_NONE for a slot that was not given. */
enum nt_place_kind nt_places_hold_slot(struct nt_places *places, uint32_t slot, struct nt_slot *slot_ret,
                                       struct nt_open_file **opened_ret);
void nt_places_release(struct nt_places *places, struct nt_open_file *opened); /* accepts NULL */

/* The place that a node is in; false for those of .ntuplefs, and for numbers that were not given. */
bool nt_places_of_node(struct nt_places *places, uint64_t number, uint32_t *place_ret);
/* The slot of a data set whose file is open. */
bool nt_places_slot_of(struct nt_places *places, const struct nt_dataset *dataset, uint32_t *slot_ret);

/* A slot of the version that is shown of a version's data set; false where it has none. */
bool nt_places_shown_slot(struct nt_places *places, uint32_t version, uint32_t *slot_ret);

/* Of the files that are known. */
uint64_t nt_places_bytes(struct nt_places *places);

#endif
