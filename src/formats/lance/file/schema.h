/* SPDX-License-Identifier: MIT
 *
 * The schema of a Lance file, and of a data set of them.
 */
#ifndef NT_FORMAT_LANCE_SCHEMA_H
#define NT_FORMAT_LANCE_SCHEMA_H

#include "formats/lance/file/opened.h"

/* A message, and where it lies in its file. */
struct nt_lance_message {
    struct nt_proto message;
    uint64_t offset;
};

/* Check lance->descriptor, which lies in the first of lance->globals, and fill rows; */
enum nt_status nt_lance_read_descriptor(struct nt_lance *lance, struct nt_error *error);
/* then fill the fields. */
enum nt_status nt_lance_read_schema(struct nt_file *file, struct nt_lance *lance, struct nt_error *error);

/* Whether a field's metadata have "true" under a key. */
bool nt_lance_is_marked(const struct nt_lance_field *field, const char *key);

/* The fields that `list`, a checked message within `message`, has as its members of the number NT_LANCE_SCHEMA_FIELDS.
 * Memory is the file's arena's, counted in its budget. */
enum nt_status nt_lance_read_fields(struct nt_file *file, const struct nt_lance_message *message,
                                    struct nt_proto list, struct nt_lance_schema *schema,
                                    struct nt_error *error);

#endif
