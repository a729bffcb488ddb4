/* SPDX-License-Identifier: MIT
 *
 * Ranges and pages of a cluster group while they are collected, from a page list or from a predraft footer.
 */
#ifndef NT_FORMAT_RNTUPLE_PAGE_BUILDER_H
#define NT_FORMAT_RNTUPLE_PAGE_BUILDER_H

#include "formats/rntuple/page_list.h"
#include "core/model/builder.h"

/* Pages of a group that are not in the file, with the text of their locator: nt_group.format_data. */
struct nt_elsewhere {
    uint32_t page; /* index in the group's pages, ascending */
    const char *locator;
};

struct nt_elsewhere_list {
    struct nt_elsewhere *items;
    uint32_t count;
};

struct nt_page_builder {
    struct nt_group_builder group; /* its ranges are begun there */
    const struct nt_envelope *envelope;
    struct nt_elsewhere_list elsewhere;
    size_t elsewhere_capacity;
};

/* Make the group's ranges: all absent. NT_LIMIT where the file may not ask for so many. */
enum nt_status nt_page_builder_init(struct nt_page_builder *builder, struct nt_dataset *dataset,
                                    uint32_t group, const struct nt_envelope *envelope,
                                    struct nt_error *error);
/* Append a page of the column to the range that was begun last. */
enum nt_status nt_page_builder_add(struct nt_page_builder *builder, uint32_t column,
                                   const struct nt_page_record *record, struct nt_error *error);
/* Hand ranges and pages over where `status` is NT_OK, else free everything; returns the final status. */
enum nt_status nt_page_builder_finish(struct nt_page_builder *builder, enum nt_status status,
                                      struct nt_error *error);

#endif
