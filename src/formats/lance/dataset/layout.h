/* SPDX-License-Identifier: MIT
 *
 * Who owns the bytes of the files of a data set that are no pages of its fields.
 */
#ifndef NT_FORMAT_LANCE_DATASET_LAYOUT_H
#define NT_FORMAT_LANCE_DATASET_LAYOUT_H

#include "formats/lance/dataset/opened.h"

/* nt_file.layout: of the data files, the manifest and the deletion files, in the order of file->layout_sources. */
enum nt_status nt_lance_lay_out_dataset(const struct nt_file *file, nt_layout_emit *emit, void *context,
                                        struct nt_error *error);

#endif
