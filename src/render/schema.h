/* SPDX-License-Identifier: MIT
 *
 * The schema in one look: the fields of a data set with their types, how many items their collections hold,
 * and what the writer said of them.
 */
#ifndef NT_VIEW_SCHEMA_H
#define NT_VIEW_SCHEMA_H

#include <ntuple/read.h>

#include "core/json/json.h"
#include "core/model/model.h"

/* A line for each field under a line for the data set, sub-fields indented. The item field of a collection,
 * an optional or an array, which has no name of its own, is left out, and what is in it stands in its place.
 * NT_NONE: all fields; else one field and what is below it. Counting items reads page lists; where one is
 * damaged, their number is '?'. */
enum nt_status nt_schema_lines(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                               struct nt_long_text **text_ret, struct nt_error *error);

/* The same as members of an object, "fields", with every field: `json` is inside the object. */
enum nt_status nt_json_member_fields(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                     struct nt_json *json, struct nt_error *error);

#endif
