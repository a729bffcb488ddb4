/* SPDX-License-Identifier: MIT
 *
 * The steps of a branch as one output needs them, the state of a decoder; and running them.
 */
#pragma once

#include "formats/ttree/ttree.h"

#define NT_VARIABLE UINT32_MAX /* bytes: not the same for all */

/* How numbers become elements. */
enum nt_number_copy {
    NT_NUMBER_COPY_PLAIN,
    NT_NUMBER_COPY_SWAP16,
    NT_NUMBER_COPY_SWAP32,
    NT_NUMBER_COPY_SWAP64,
    NT_NUMBER_COPY_DECODE
};

/* A step as one output needs it. */
struct nt_operation {
    uint8_t kind, encoding, counter, bits;
    uint8_t width, element_bytes; /* of a number: as stored, and decoded */
    uint8_t number_copy;
    bool is_signed;
    bool is_needed;        /* its body makes elements, or numbers that count */
    uint32_t ends, values; /* outputs of end offsets, and of numbers or characters; NT_NONE */
    uint32_t count, end, other;
    int32_t version;
    uint32_t body_bytes; /* that one execution of the body takes, or NT_VARIABLE */
    uint32_t only;       /* the body's only step that is not SKIP: VALUES; 0: there is none */
    uint32_t lead;       /* bytes of the body before it */
    uint32_t bare_bytes; /* of a list's items with headers: an item's bytes without them, or NT_VARIABLE */
    double minimum, maximum;
};

/* What a decoder runs: operations[0] repeats the body of an entry. A program of one output numbers it 0;
 * one of all outputs keeps their numbers. Names of classes, each with a NUL, follow the operations; `count`
 * of a CASE or CLONES is the place of its name, or NT_NONE. */
struct nt_program {
    uint32_t output; /* the branch's number, or NT_OUTPUT_RAW */
    uint32_t count;
    uint64_t first_length; /* of the decoder's dependencies, as nt_basket_set_lengths says */
    struct nt_operation operations[];
};

static inline const char *nt_program_names(const struct nt_program *program)
{
    return (const char *)(program->operations + program->count);
}

/* Compiles the steps for an output, or for all outputs (NT_NONE). From malloc; equal programs are equal
 * bytes. NT_INVALID for contradictory steps, NT_LIMIT for deep ones. */
enum nt_status nt_program_compile(const struct nt_interpretation *from, uint32_t output,
                                  struct nt_program **program_ret, size_t *bytes_ret, struct nt_error *error);

/* The numbers that each item of the steps has for an output. */
uint64_t nt_steps_count(const struct nt_step *steps, uint32_t first, uint32_t end, uint32_t output);

/* ---- run.c: runs a program over the entries of a basket ---- */

/* The bytes in front of an object or of a list. */
enum {
    NT_BYTE_COUNT_FLAG = 1 << 30,
    NT_BYTE_COUNT_BYTES = 4,
    NT_VERSION_BYTES = 2,
    NT_COUNT_BYTES = 4,      /* of items */
    NT_MEMBERWISE = 1 << 14, /* of the version */
};

/* Where a number that counts is: one, or one for each item of the innermost MEMBERS. */
struct nt_counter_place {
    size_t at;
    uint8_t width;
    bool is_signed, is_known, is_of_items;
};

struct nt_program_run {
    const struct nt_operation *operations;
    const char *class_names;
    const uint8_t *bytes;
    size_t base;    /* of the first byte, for references to classes */
    size_t at, end; /* place; end of the entry or of the nearest header */
    size_t entry_end;
    bool is_end_known;                /* else `end` is that of all values */
    bool is_bare;                     /* objects lack headers: see nt_find_headers */
    uint32_t bare_list;               /* the list whose items do, or the entry (0) */
    uint64_t headers;                 /* that they have nevertheless: bits, by operation from the list on */
    uint64_t work_left;               /* bytes and operations: bounds what empty items and references cost */
    uint64_t item;                    /* of the innermost MEMBERS */
    uint16_t version;                 /* of the nearest header */
    struct nt_output_count *done;     /* of each output so far; `items` starts with those before the basket */
    uint8_t *output;                  /* NULL: only counts */
    uint64_t capacity;                /* its elements */
    struct nt_basket_lengths lengths; /* from the next one on */
    struct nt_counter_place counters[UINT8_MAX + 1];
};

/* Runs the program over the entries from `first` to `end`, or until the output is full. */
enum nt_status nt_run_entries(struct nt_program_run *run, const struct nt_basket_content *content,
                              uint32_t first, uint32_t end, struct nt_error *error);

/* ---- bare_items.c ---- */

enum { NT_HEADER_BITS = 64 }; /* of nt_program_run.headers */

/* Do the items of a list at this place lack headers, all or some of them? */
bool nt_find_headers(const struct nt_program_run *run, uint32_t i, uint64_t items, uint64_t *headers_ret);
/* Do objects up to the end of the entry lack headers? There are at most `most`. */
bool nt_find_bare_objects(const struct nt_program_run *run, uint32_t i, uint64_t most, uint64_t *items_ret,
                          uint64_t *headers_ret);

/* ---- regular_lists.c ---- */

/* Makes elements of regular entries, from `entry` on; with `items`, also the items of the lists whose ends
 * `run` makes. Neither is full. Returns an entry: those before it are done. */
uint32_t nt_put_regular_lists(struct nt_program_run *run, struct nt_program_run *items,
                              const struct nt_basket_content *content, uint32_t entry);
/* Do two programs make where the lists of a branch end, and their items? */
bool nt_are_of_one_list(const struct nt_operation *ends, const struct nt_operation *items);

/* ---- numbers.c ---- */

/* Decodes `count` numbers, those of an operation in rows that are `stride` bytes apart. */
enum nt_status nt_decode_rows(const struct nt_operation *operation, const uint8_t *from, size_t stride,
                              size_t count, uint8_t *to, struct nt_error *error);
