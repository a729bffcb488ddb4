/* SPDX-License-Identifier: MIT
 *
 * What the model holds as members of JSON: paths of data sets and fields, and failures.
 */
#ifndef NT_VIEW_JSON_VALUES_H
#define NT_VIEW_JSON_VALUES_H

#include "core/json/json.h"
#include "core/model/model.h"

/* The member "dataset": its path within its file. */
void nt_json_member_dataset(struct nt_json *json, const struct nt_dataset *dataset);

/* A member that is the path of a field within its data set, the names joined by '/'. */
void nt_json_member_field_path(struct nt_json *json, const char *key, const struct nt_dataset *dataset,
                               uint32_t field);

/* The members that tell where bytes of a source are: "file", which is an object where it is made of them, and "file_offset". */
void nt_json_member_place(struct nt_json *json, const struct nt_source *source, uint64_t offset);

/* The members that tell a failure: "file_offset", "status", "what", "expected", "found"; null is what is not
 * told. */
void nt_json_failure_members(struct nt_json *json, const struct nt_error *failure);

#endif
