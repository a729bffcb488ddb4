/* SPDX-License-Identifier: MIT
 *
 * What a data set and a field are called in documents, in messages and in paths. Names may be any bytes; in
 * paths they are written after the rule of docs/tree.md, "Names".
 */
#ifndef NT_MODEL_PATH_H
#define NT_MODEL_PATH_H

#include "core/base/buffer.h"
#include "core/model/model.h"

/* ---- encoded, as in the mounted tree ---- */

/* A linked attribute set lies in its data set under a name with this in front. */
#define NT_ATTRIBUTE_PREFIX "attribute."

enum nt_name_rule {
    NT_NAME_FIELD,   /* every dot is encoded: names with a dot are ours */
    NT_NAME_DATASET, /* dots stay, but for one at the beginning */
    NT_NAME_OURS,    /* a data set's name that equals one of ours: its first dot is encoded */
};

/* Append the encoded name; of any length, empty where the text is empty. */
void nt_name_encode(struct nt_text text, enum nt_name_rule rule, struct nt_buffer *out);

/* The path of a data set within its file, as nt_dataset_path (<ntuple/dataset.h>) has it. */
void nt_append_dataset_path(struct nt_buffer *out, const struct nt_dataset *dataset);

/* ---- as they are ---- */

/* The names of a field and its ancestors, outermost first, with `separator` between, byte for byte. */
void nt_append_field_path(struct nt_buffer *out, const struct nt_dataset *dataset, uint32_t field,
                          char separator);

#endif
