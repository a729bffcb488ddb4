/* SPDX-License-Identifier: MIT
 *
 * Fields of two files by their paths; of items and alternatives places are compared, not names.
 */
#ifndef NT_CHAIN_FIELDS_H
#define NT_CHAIN_FIELDS_H

#include "core/base/buffer.h"
#include "chain/opened.h"

/* Find each field of a data set in another one: `fields_ret[field]` is its number there, NT_NONE of what lies below what
 * differs. NT_CORRUPT with the field, what it is here and there, where one is missing, is another one, or the other data
 * set has one that this one has not. */
enum nt_status nt_chain_match_fields(const struct nt_dataset *dataset, const struct nt_dataset *other,
                                     uint32_t *fields_ret, struct nt_error *error);

/* The fields of a file as those of a chain. */
enum nt_status nt_chain_take_fields(struct nt_dataset *dataset, struct nt_arena *arena,
                                    struct nt_chain_fields *fields_ret, struct nt_error *error);

/* Whether sub-fields of a field are known by their names, as members are; items and alternatives are by their places. */
bool nt_chain_are_named(const struct nt_dataset *dataset, uint32_t parent);

/* Columns of a representation but for the one that tells which rows are null. */
static inline uint32_t nt_chain_columns_of_kind(const struct nt_field *field)
{
    return field->columns_per_representation - field->is_nullable;
}

/* Whether rows of two fields are made alike, of whatever elements, whether they may be null or not. */
bool nt_chain_are_alike(const struct nt_field *a, const struct nt_field *b);
bool nt_chain_have_equal_elements(const struct nt_field *a, const struct nt_field *b);

/* The field whose columns a field shows; NT_NONE: it has its own, or none. */
uint32_t nt_chain_columns_owner(const struct nt_dataset *dataset, uint32_t field);

/* Append what a field is to people: its type as the file calls it, or what its kind and elements are. */
void nt_chain_append_type(struct nt_buffer *out, const struct nt_field *field);

#endif
