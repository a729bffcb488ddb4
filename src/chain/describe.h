/* SPDX-License-Identifier: MIT
 *
 * What the format of a chain's files knows of them.
 */
#ifndef NT_CHAIN_DESCRIBE_H
#define NT_CHAIN_DESCRIBE_H

#include "chain/opened.h"

/* The operations of a chain's data set. */
extern const struct nt_dataset_ops nt_chain_dataset_ops;

/* Those of the file. */
enum nt_status nt_chain_describe_file(const struct nt_file *file, struct nt_json *json,
                                      struct nt_error *error);
enum nt_status nt_chain_lay_out(const struct nt_file *file, nt_layout_emit *emit, void *context,
                                struct nt_error *error);
enum nt_status nt_chain_check(const struct nt_file *file, nt_failure_emit *emit, void *context,
                              struct nt_error *error);

#endif
