/* SPDX-License-Identifier: MIT
 *
 * The schema description: fields, columns, alias columns and extra type information, from the header and from
 * the footer's schema extension. Records are read once, here; the model and the JSON documents are made from
 * them. Specification, "Header Envelope".
 */
#ifndef NT_FORMAT_RNTUPLE_SCHEMA_H
#define NT_FORMAT_RNTUPLE_SCHEMA_H

#include "formats/rntuple/frame.h"

enum nt_field_flags {
    NT_FIELD_REPETITIVE = 1,
    NT_FIELD_PROJECTED = 2,
    NT_FIELD_HAS_TYPE_CHECKSUM = 4,
    NT_FIELD_IS_STRUCTURE_OF_ARRAYS = 8, /* a collection whose class has an array for each member */
};

/* Texts are the envelope's. `unknown_bytes`: what the frame has behind all that is known. */
struct nt_field_record {
    uint64_t id;        /* explicit in the predraft, else the position */
    uint64_t parent_id; /* its own id: top level */
    uint32_t field_version, type_version;
    uint16_t role, flags;
    uint64_t repetition;    /* where flag 1 is set */
    uint64_t source_id;     /* where flag 2 is set */
    uint32_t type_checksum; /* where flag 4 is set */
    struct nt_text name, type, alias, description;
    size_t unknown_bytes;
};

struct nt_column_record {
    uint64_t id;
    uint64_t field_id;
    uint16_t type_number, bits;
    uint32_t flags;
    uint16_t representation;
    bool is_deferred, has_range;
    int64_t first_element;
    double minimum, maximum;
    size_t unknown_bytes;
};

struct nt_alias_record {
    uint32_t physical_column, field;
    size_t unknown_bytes;
};

struct nt_extra_type_record {
    uint32_t content_id;
    uint32_t version_from, version_to; /* one number in the final form */
    struct nt_text type_name, content; /* drafts have no content */
    size_t unknown_bytes;
};

/* Grows with each schema description that is read into it. */
struct nt_schema {
    struct nt_budget *budget; /* that fields and columns are taken from; NULL: there are none */
    const char *unreadable;   /* why no field has data; NULL: fields may have some */
    uint32_t fields_taken, columns_taken;
    struct nt_field_record *fields;
    struct nt_column_record *columns;
    struct nt_alias_record *aliases;
    struct nt_extra_type_record *extra_types;
    uint32_t field_count, column_count, alias_count, extra_type_count;
};

void nt_schema_deinit(struct nt_schema *schema);
/* Give back to the budget what the records took, as who makes a data set of them counts that again. */
void nt_schema_give_back(struct nt_schema *schema);

/* Room for `count` more at the end, zeroed. NT_LIMIT where the budget does not have them. */
enum nt_status nt_schema_add_fields(struct nt_schema *schema, struct nt_budget *budget, uint32_t count,
                                    struct nt_error *error);
enum nt_status nt_schema_add_columns(struct nt_schema *schema, struct nt_budget *budget, uint32_t count,
                                     struct nt_error *error);

/* Append the four lists at the cursor. */
enum nt_status nt_schema_read(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                              struct nt_schema *schema, struct nt_error *error);

/* The footer's schema extension: a record with the four lists, which may be empty. */
enum nt_status nt_schema_read_extension(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                        struct nt_schema *schema, struct nt_error *error);

/* Turn a complete schema into the data set's fields, columns and decoders (its arena); columns stand by id.
 * The generation and the data set's writer decide about column types. */
enum nt_status nt_schema_build(struct nt_dataset *dataset, const struct nt_generation *generation,
                               struct nt_schema *schema, struct nt_error *error);

/* ---- what a field's rows are made of ---- */

/* Decided by its structural role, its columns and its type name. Specification, "Mapping of C++ Types to
 * Fields and Columns". */
/* The element that a C++ type name stands for ("std::int32_t", "Double32_t"); false for all other types. */
bool nt_type_element(struct nt_text type, enum nt_element *element_ret);

/* Set kind, dtype and, where the data cannot be served, the reason of all fields of a linked data set.
 * `records` are the fields' own, as stored. */
enum nt_status nt_field_kinds_decide(struct nt_dataset *dataset, const struct nt_generation *generation,
                                     const struct nt_field_record *records, struct nt_error *error);

#endif
