/* SPDX-License-Identifier: MIT
 *
 * Who claims which bytes of a file, for its layout.
 */
#ifndef NT_VIEW_LAYOUT_CLAIMS_H
#define NT_VIEW_LAYOUT_CLAIMS_H

#include "core/model/model.h"
#include "tools/layout_item.h"

struct nt_layout_own;
struct nt_layout_label;

struct nt_layout_claims {
    const struct nt_file *file;
    struct nt_budget *budget;  /* that what is kept is taken from */
    uint64_t taken;            /* bytes of it */
    struct nt_layout_own *own; /* ranges of the format */
    struct nt_layout_label *labels;
    size_t own_count, own_capacity, label_count, label_capacity;
};

/* Ask the format for its ranges. NT_LIMIT where the file may not ask for so many. To be ended, also after a failure. */
enum nt_status nt_layout_claims_init(struct nt_layout_claims *claims, const struct nt_file *file,
                                     struct nt_error *error);
void nt_layout_claims_deinit(struct nt_layout_claims *claims);

/* Claims that begin here are wanted, both ends included. */
struct nt_layout_window {
    uint32_t first_source, last_source;
    uint64_t first_offset, last_offset;
};

typedef enum nt_status nt_layout_visit(void *context, const struct nt_layout_item *claim);

/* All claims in a window, in no order. Loads all page lists; those that are bad are left out. */
enum nt_status nt_layout_claims_visit(const struct nt_layout_claims *claims,
                                      const struct nt_layout_window *window, nt_layout_visit *visit,
                                      void *context, struct nt_error *error);

#endif
