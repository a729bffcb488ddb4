/* SPDX-License-Identifier: MIT
 *
 * What the format keeps of an open data set beside the model.
 */
#ifndef NT_FORMAT_RNTUPLE_RNTUPLE_H
#define NT_FORMAT_RNTUPLE_RNTUPLE_H

#include "format/rntuple/envelope.h"

/* nt_dataset.format_data. Immutable after opening. */
struct nt_rntuple {
    struct nt_anchor anchor;
    const struct nt_generation *generation;
    struct nt_source
        *payload; /* reads pages and envelopes, joined where they are split; nt_dataset.sources[0] */
    uint64_t header_checksum;
    const struct nt_envelope_link *page_lists; /* of each cluster group; none in the predraft */
    uint32_t page_list_count;
    const struct nt_envelope_link *user_metadata;
    uint32_t user_metadata_count;
};

static inline const struct nt_rntuple *nt_rntuple_of(const struct nt_dataset *dataset)
{
    return dataset->format_data;
}

/* Open a file from its source, which becomes the file's, also on failure. A data set for each anchor; those
 * that could not be opened have their failure. */
enum nt_status nt_rntuple_file_open(const char *path, struct nt_source *source, struct nt_file **file_ret,
                                    struct nt_error *error);

/* Open the data set of an anchor object: reads anchor, header and footer. Attribute sets that its footer
 * links are added to the file, opened or with their failure, unless it is one itself. */
enum nt_status nt_rntuple_open(struct nt_dataset *dataset, const struct nt_anchor_object *object,
                               struct nt_error *error);

/* The envelopes again, for documents. */
enum nt_status nt_rntuple_load_header(const struct nt_dataset *dataset, struct nt_envelope *envelope_ret,
                                      struct nt_error *error);
enum nt_status nt_rntuple_load_footer(const struct nt_dataset *dataset, struct nt_envelope *envelope_ret,
                                      struct nt_error *error);
enum nt_status nt_rntuple_load_page_list(const struct nt_dataset *dataset, uint32_t group,
                                         struct nt_envelope *envelope_ret, struct nt_error *error);

/* documents.c: header.json, footer.bin, ... */
extern const struct nt_document nt_rntuple_documents[];
extern const uint32_t nt_rntuple_document_count;

/* describe.c: members of ntuple.json, and of pages that lie elsewhere. */
enum nt_status nt_rntuple_describe(const struct nt_dataset *dataset, void *json);
enum nt_status nt_rntuple_describe_page(const struct nt_dataset *dataset, uint32_t column,
                                        const struct nt_page *page, void *json);

/* layout.c: anchors and envelopes of all data sets, behind the container's own ranges. */
enum nt_status nt_rntuple_layout(const struct nt_file *file, nt_layout_emit *emit, void *context,
                                 struct nt_error *error);

#endif
