/* SPDX-License-Identifier: MIT
 *
 * The steps of a branch as one output needs them: the state of a decoder.
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
