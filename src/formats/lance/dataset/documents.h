/* SPDX-License-Identifier: MIT
 *
 * The documents of a data set of Lance files, and what is told of it beside the model.
 */
#ifndef NT_FORMAT_LANCE_DATASET_DOCUMENTS_H
#define NT_FORMAT_LANCE_DATASET_DOCUMENTS_H

#include "formats/lance/dataset/opened.h"

extern const struct nt_document nt_lance_dataset_documents[];
extern const uint32_t nt_lance_dataset_document_count;

/* As members of nt_dataset_ops and nt_file. */
enum nt_status nt_lance_describe_dataset(const struct nt_dataset *dataset, struct nt_json *json);
enum nt_status nt_lance_describe_dataset_file(const struct nt_file *file, struct nt_json *json,
                                              struct nt_error *error);

#endif
