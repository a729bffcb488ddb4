/* SPDX-License-Identifier: MIT
 *
 * Documents that are made when they are looked up, and kept within a bound, so that their size is known and
 * that reading one does not make it again. Thread-safe.
 */
#ifndef NT_VFS_PRODUCED_H
#define NT_VFS_PRODUCED_H

#include "vfs/pseudo.h"

struct nt_produced;

struct nt_produced *nt_produced_new(size_t maximum_bytes); /* NULL without memory */
void nt_produced_free(struct nt_produced *produced);       /* accepts NULL; no content may be open */

/* The scope's document, made where it is not kept; closed by the caller. */
enum nt_status nt_produced_open(struct nt_produced *produced, const struct nt_scope *scope,
                                struct nt_content **content_ret, struct nt_error *error);
/* The size of a document that is kept, or whose row tells it before; false otherwise. */
bool nt_produced_size(struct nt_produced *produced, const struct nt_scope *scope, uint64_t *size_ret);

#endif
