/* SPDX-License-Identifier: MIT
 *
 * What is shown of a Roaring file beside the model: rows of the model's tables.
 */
#ifndef NT_FORMAT_ROARING_DESCRIBE_H
#define NT_FORMAT_ROARING_DESCRIBE_H

#include "model/model.h"

/* The document metadata.json, the members of the JSON of a file and of a page, and the file's layout. */
enum nt_status nt_roaring_write_metadata(const struct nt_file *file, const struct nt_dataset *dataset,
                                         uint64_t number, struct nt_buffer *out, struct nt_error *error);
enum nt_status nt_roaring_describe_file(const struct nt_file *file, struct nt_json *json,
                                        struct nt_error *error);
enum nt_status nt_roaring_describe_page(const struct nt_dataset *dataset, uint32_t column,
                                        const struct nt_page *page, struct nt_json *json);
enum nt_status nt_roaring_layout(const struct nt_file *file, nt_layout_emit *emit, void *context,
                                 struct nt_error *error);

#endif
