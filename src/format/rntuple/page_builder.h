/* SPDX-License-Identifier: MIT
 *
 * Ranges and pages of a cluster group while they are collected, from a page list or from a predraft footer.
 */
#ifndef NT_FORMAT_RNTUPLE_PAGE_BUILDER_H
#define NT_FORMAT_RNTUPLE_PAGE_BUILDER_H

#include "base/buffer.h"
#include "format/rntuple/page_list.h"

struct nt_page_builder {
    struct nt_dataset *dataset;
    struct nt_group *group;
    const struct nt_envelope *envelope;
    struct nt_range *range; /* the one that is being filled */
    uint64_t first_element; /* of its next page */
    uint64_t page_capacity;
    struct nt_buffer locators; /* texts of those that are elsewhere, NUL-terminated */
};

/* Make the group's ranges: all absent. NT_LIMIT where they would take far more memory than the envelope has
 * bytes. */
enum nt_status nt_page_builder_init(struct nt_page_builder *builder, struct nt_dataset *dataset,
                                    struct nt_group *group, const struct nt_envelope *envelope,
                                    struct nt_error *error);
/* Begin a range; its pages follow. */
enum nt_status nt_page_builder_start(struct nt_page_builder *builder, struct nt_range *range,
                                     struct nt_error *error);
enum nt_status nt_page_builder_add(struct nt_page_builder *builder, uint32_t column,
                                   const struct nt_page_record *record, struct nt_error *error);
/* Hand the pages over where `status` is NT_OK, else free everything; returns the final status. Texts of
 * locators of pages that are not in the file become group->format_data (from malloc), each at the offset
 * nt_page.parameter. */
enum nt_status nt_page_builder_finish(struct nt_page_builder *builder, enum nt_status status,
                                      struct nt_error *error);

#endif
