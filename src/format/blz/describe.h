/* SPDX-License-Identifier: MIT
 *
 * For the model's tables: what only this format knows of a file, a field and a page.
 */
#ifndef NT_FORMAT_BLZ_DESCRIBE_H
#define NT_FORMAT_BLZ_DESCRIBE_H

#include "model/model.h"

enum nt_status nt_blz_write_metadata(const struct nt_file *file, const struct nt_dataset *dataset,
                                     uint64_t number, struct nt_buffer *out, struct nt_error *error);
void nt_blz_describe_field(const struct nt_dataset *dataset, uint32_t field, struct nt_json *json);
enum nt_status nt_blz_describe_page(const struct nt_dataset *dataset, uint32_t column,
                                    const struct nt_page *page, struct nt_json *json);
enum nt_status nt_blz_describe_file(const struct nt_file *file, struct nt_json *json, struct nt_error *error);
enum nt_status nt_blz_layout(const struct nt_file *file, nt_layout_emit *emit, void *context,
                             struct nt_error *error);

#endif
