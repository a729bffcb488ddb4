/* SPDX-License-Identifier: MIT
 *
 * Codec contexts to borrow: there are as many as threads decode at the same time, whichever threads these
 * are, but no more than their memory is bounded to: who would take more waits.
 */
#ifndef NT_PAGE_CONTEXTS_H
#define NT_PAGE_CONTEXTS_H

#include "core/codec/codec.h"

struct nt_contexts;

/* `limit` bounds the bytes of all contexts, but for one that needs more alone. NULL without memory. */
struct nt_contexts *nt_contexts_new(uint64_t limit);
void nt_contexts_free(struct nt_contexts *contexts); /* accepts NULL; all have been returned */

struct nt_loan {
    struct nt_codec_context *context;
    uint64_t bytes;
};

/* A context that is asked for so much scratch memory. Until it is returned the borrower waits for nothing:
 * neither for an entry of the cache nor for another context. NT_NO_MEMORY. */
enum nt_status nt_contexts_borrow(struct nt_contexts *contexts, uint64_t bytes, struct nt_loan *loan_ret,
                                  struct nt_error *error);
void nt_contexts_return(struct nt_contexts *contexts, const struct nt_loan *loan);

#endif
