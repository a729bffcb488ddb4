/* SPDX-License-Identifier: MIT
 *
 * Codec contexts to borrow: there are as many as threads decode at the same time, whichever threads these
 * are.
 */
#ifndef NT_PAGE_CONTEXTS_H
#define NT_PAGE_CONTEXTS_H

#include "codec/codec.h"

struct nt_contexts;

struct nt_contexts *nt_contexts_new(void);           /* NULL without memory */
void nt_contexts_free(struct nt_contexts *contexts); /* accepts NULL; all have been returned */

/* NULL without memory. */
struct nt_codec_context *nt_contexts_borrow(struct nt_contexts *contexts);
void nt_contexts_return(struct nt_contexts *contexts, struct nt_codec_context *context);

#endif
