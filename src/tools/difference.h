/* SPDX-License-Identifier: MIT
 *
 * What a comparison of two data sets tells: differences of three sorts, and what could not be read. The sides are
 * numbered: 0 is A, 1 is B.
 */
#ifndef NT_VIEW_DIFFERENCE_H
#define NT_VIEW_DIFFERENCE_H

#include <ntuple/read.h>

#include "core/json/json.h"
#include "core/model/model.h"

enum { NT_DIFF_SIDES = 2 };

enum nt_diff_part {
    NT_DIFF_SCHEMA, /* what there is: data sets, fields, types, descriptions */
    NT_DIFF_VALUES, /* how many, and which */
    NT_DIFF_LAYOUT, /* how the same is stored */
    NT_DIFF_PARTS
};
const char *nt_diff_part_name(enum nt_diff_part part); /* "schema", ... */

enum nt_diff_value_kind {
    NT_DIFF_NOTHING, /* the side does not have it */
    NT_DIFF_NUMBER,
    NT_DIFF_WORDS,   /* a text of the schema or layout */
    NT_DIFF_TEXT,    /* a string of the data, any bytes; maybe a part of it */
    NT_DIFF_BYTES,   /* the same of an object */
    NT_DIFF_ELEMENT, /* dtype->bytes bytes */
};

struct nt_diff_value {
    enum nt_diff_value_kind kind;
    uint64_t number;
    struct nt_text text; /* of words, text, bytes */
    const struct nt_dtype *dtype;
    const uint8_t *element;
};

#define NT_DIFF_NOWHERE UINT64_MAX

struct nt_difference {
    enum nt_diff_part part;
    const char *property; /* what differs, as a JSON name: "type", "stored_bytes", "value" */
    bool is_detail;       /* one of many of a layout */
    uint32_t
        fields[NT_DIFF_SIDES]; /* NT_NONE: the data sets; of one of them alone: the other has no such field */
    uint32_t column;           /* of the field, as in column.<k>; NT_NONE: none */
    uint64_t row;              /* the first row of the fields whose values differ; NT_DIFF_NOWHERE: none */
    uint64_t entry;            /* of A, that the row belongs to; NT_DIFF_NOWHERE: nobody knows */
    uint64_t element;          /* of a row with several: which; else NT_DIFF_NOWHERE */
    uint64_t byte;             /* of a text or bytes: the first that differs; else NT_DIFF_NOWHERE */
    uint64_t first_byte;       /* where the values begin, if they are parts; else NT_DIFF_NOWHERE */
    struct nt_diff_value values[NT_DIFF_SIDES];
};

/* A data set, or a field of it with all below. */
struct nt_diff_side {
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    uint32_t field; /* NT_NONE: all */
};

struct nt_diff_options {
    bool parts[NT_DIFF_PARTS]; /* those that are compared */
    /* Called for each difference, in an order that does not depend on threads. What it holds lives until the call
     * returns. */
    void (*on_difference)(void *context, const struct nt_difference *difference);
    /* Called where a side cannot be read: what needs it is not compared. `field` may be NT_NONE. */
    void (*on_failure)(void *context, unsigned side, uint32_t field, const struct nt_error *error);
    /* Called now and then with decoded bytes of a side; never two calls at once, but by any thread. May be NULL. */
    void (*on_progress)(void *context, uint64_t bytes, uint64_t total);
    void *context;
};

struct nt_diff_summary {
    uint64_t differences[NT_DIFF_PARTS];
    uint64_t failures;
};

/* A comparison on its way. */
struct nt_diffing {
    const struct nt_diff_side *sides;
    const struct nt_diff_options *options;
    struct nt_diff_summary *summary;
};

/* ---- telling ---- */

/* A difference of two fields (NT_NONE, NT_NONE: of the data sets) that has no place and no values yet. */
struct nt_difference nt_difference(enum nt_diff_part part, const char *property,
                                   const uint32_t fields[NT_DIFF_SIDES]);
void nt_diff_tell(struct nt_diffing *diffing, const struct nt_difference *difference);
/* With the values filled in, if these differ; returns whether they do. */
bool nt_diff_tell_words(struct nt_diffing *diffing, struct nt_difference difference, struct nt_text a,
                        struct nt_text b);
bool nt_diff_tell_numbers(struct nt_diffing *diffing, struct nt_difference difference, uint64_t a,
                          uint64_t b);
void nt_diff_tell_failure(struct nt_diffing *diffing, unsigned side, uint32_t field,
                          const struct nt_error *error);

/* ---- showing ---- */

void nt_json_diff_value(struct nt_json *json, const struct nt_diff_value *value);
/* Whether two elements look the same as JSON though their bits differ: NaNs. */
bool nt_diff_values_look_alike(const struct nt_difference *difference);
/* Append the bits of an element in hexadecimal, the most significant first. */
void nt_append_diff_bits(struct nt_buffer *out, const struct nt_diff_value *value);

#endif
