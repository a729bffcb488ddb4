/* SPDX-License-Identifier: MIT
 *
 * Places on servers. What an address leads to, a file or a folder, and of folders whether they are data sets or are mirrored, is asked for when
 * somebody enters the place, and not when it is listed; files are opened as the list that told of them has them.
 */
#ifndef NT_VFS_ENTERING_H
#define NT_VFS_ENTERING_H

#include "vfs/places.h"

/* Whether it is in a mirrored folder on a server, whose list tells that it is there. Under the lock. */
bool nt_place_is_listed(const struct nt_places *places, const struct nt_place *place);

/* What a look at a place's directory sees. */
enum nt_sight {
    NT_SIGHT_WHOLE,
    NT_SIGHT_LISTED, /* nobody has entered it: what a list told. Then it is shown as a directory, whatever it is */
    NT_SIGHT_COSTLY, /* what it is now; which may take asking the server */
};
enum nt_sight nt_places_sight(struct nt_places *places, uint32_t number);

/* Find out what lies at a place that is on a server. False where that failed, as the place tells. Under the lock, which is given up
 * meanwhile. */
bool nt_place_enter(struct nt_places *places, struct nt_place *place);

/* Not under the lock: the source of a file, or of a folder that is a data set; what it is now, for comparison with the place's identity. */
enum nt_status nt_place_open_source(struct nt_places *places, struct nt_place *place,
                                    struct nt_source **source_ret, struct nt_error *error);
enum nt_status nt_place_stat_on_server(struct nt_places *places, const struct nt_place *place,
                                       struct stat *attributes, struct nt_error *error);

#endif
