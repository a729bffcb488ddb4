/* SPDX-License-Identifier: MIT
 *
 * The pages of a field in a fragment.
 */
#ifndef NT_FORMAT_LANCE_DATASET_LOAD_H
#define NT_FORMAT_LANCE_DATASET_LOAD_H

#include "formats/lance/dataset/opened.h"

/* Find the rows of a fragment and how many of them are deleted, where a data file and the deletion file have to tell;
 * nothing where they are known. NT_CORRUPT where there are fewer than are deleted. */
enum nt_status nt_lance_count_rows(struct nt_dataset *dataset, uint32_t part, struct nt_error *error);

/* What the metadata of a data file say, until the next one is opened. Under the data set's lock. */
enum nt_status nt_lance_open_data_file(struct nt_dataset *dataset, uint32_t number,
                                       const struct nt_lance **opened_ret, struct nt_error *error);
/* Whether a file has a column, and, where its values are wanted, can be decoded. */
enum nt_status nt_lance_check_column(const struct nt_lance_schema *schema, const struct nt_lance *opened,
                                     const struct nt_lance_leaf *leaf, bool wants_values,
                                     struct nt_error *error);

/* As members of nt_dataset_ops. A data file is opened when something of it is wanted for the first time. */
enum nt_status nt_lance_load_part(struct nt_dataset *dataset, uint32_t group, struct nt_error *error);
enum nt_status nt_lance_describe_part_page(const struct nt_dataset *dataset, uint32_t column,
                                           const struct nt_page *page, struct nt_json *json);

#endif
