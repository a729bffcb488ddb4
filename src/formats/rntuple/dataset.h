/* SPDX-License-Identifier: MIT
 *
 * What the format keeps of an open data set beside the model, and its envelopes.
 */
#ifndef NT_FORMAT_RNTUPLE_DATASET_H
#define NT_FORMAT_RNTUPLE_DATASET_H

#include "formats/rntuple/envelope.h"
#include "core/model/model.h"

/* nt_dataset.format_data. Immutable after opening. */
struct nt_rntuple {
    struct nt_anchor anchor; /* of one that cannot be read, its place */
    const struct nt_generation *generation;
    struct nt_source *objects; /* that pages and envelopes are; NULL: they lie in the file */
    /* Reads pages and envelopes, joined where they are split; nt_dataset.sources[0]. */
    struct nt_source *payload;
    uint64_t header_checksum;
    uint16_t schema_major, schema_minor; /* of an attribute set: the version of its schema */
    /* As they were verified at opening, where they are not large; without bytes else. */
    struct nt_envelope header, footer;
    const struct nt_envelope_link *page_lists; /* of each cluster group; none in the predraft */
    uint32_t page_list_count;
    const struct nt_envelope_link *user_metadata;
    uint32_t user_metadata_count;
    /* By the index in the data set; see details.c. */
    const struct nt_field_details *fields;
    const struct nt_column_details *columns;
};

static inline const struct nt_rntuple *nt_rntuple_of(const struct nt_dataset *dataset)
{
    return dataset->format_data;
}

/* Where a locator's bytes lie in `payload`: of a data set of objects it becomes one of that source. See nt_locator_find_object. */
enum nt_status nt_rntuple_find(const struct nt_dataset *dataset, struct nt_locator *locator, const char *what,
                               struct nt_error *error);

/* One of the envelopes, by its number where there are several (page lists). Header and footer are read again only
 * where they are not kept. */
enum nt_status nt_rntuple_load_envelope(const struct nt_dataset *dataset, enum nt_envelope_kind kind,
                                        uint32_t number, struct nt_envelope *envelope_ret,
                                        struct nt_error *error);

/* ---- from anchors to data sets ---- */

/* Open the data set of an anchor object: reads anchor, header and footer. Attribute sets that its footer
 * links are added to the file, opened or with their failure, unless it is one itself. Where it fails, the data
 * set has the documents that show bytes as stored, of what was found until then. */
enum nt_status nt_rntuple_build(struct nt_dataset *dataset, const struct nt_anchor_object *object,
                                struct nt_error *error);

/* ---- data sets whose records are there but that nothing leads to: no list of keys and no footer ---- */

/* Add the lost data sets of an opened file to it, each with its failure, where something tells that there may
 * be some. */
enum nt_status nt_rntuple_add_lost(struct nt_file *file, struct nt_error *error);

/* All of them that the file does not have, by a walk over its records: see nt_file. */
enum nt_status nt_rntuple_check(const struct nt_file *file, nt_failure_emit *emit, void *context,
                                struct nt_error *error);

#endif
