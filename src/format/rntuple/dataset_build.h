/* SPDX-License-Identifier: MIT
 *
 * From anchors to data sets.
 */
#ifndef NT_FORMAT_RNTUPLE_DATASET_BUILD_H
#define NT_FORMAT_RNTUPLE_DATASET_BUILD_H

#include "format/rntuple/container.h"

/* Open the data set of an anchor object: reads anchor, header and footer. Attribute sets that its footer
 * links are added to the file, opened or with their failure, unless it is one itself. */
enum nt_status nt_rntuple_build(struct nt_dataset *dataset, const struct nt_anchor_object *object,
                                struct nt_error *error);

#endif
