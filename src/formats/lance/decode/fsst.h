/* SPDX-License-Identifier: MIT
 *
 * FSST: strings as codes of one byte, each of which stands for a symbol of 1 to 8 bytes. Nothing needs
 * alignment, and codes and output never overlap.
 */
#ifndef NT_CODEC_TREE_FSST_H
#define NT_CODEC_TREE_FSST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

/* A table of symbols, which needs no cleanup. */
struct nt_fsst {
    uint64_t symbols[256]; /* the first byte lowest; what is behind its end is of no interest */
    uint8_t lengths[256];  /* 1 to 8; 0 where a code stands for nothing */
    uint32_t count;        /* of symbols, whose codes are the numbers below it */
    bool is_plain;         /* no codes: bytes are what they are */
};

/* A table as Lance stores it: a header, the symbols, their lengths. It may be followed by other bytes. */
enum nt_status nt_fsst_init(struct nt_fsst *fsst, const uint8_t *table, size_t table_bytes,
                            struct nt_error *error);

/* Exactly `output_bytes` bytes, else NT_CORRUPT. The codes of strings that lie one behind the other can be
 * decoded at once, where nt_fsst_ends has seen that none ends within an escape. */
enum nt_status nt_fsst_decode(const struct nt_fsst *fsst, const uint8_t *codes, size_t bytes, uint8_t *output,
                              size_t output_bytes, struct nt_error *error);

/* Where each string ends once it is decoded, counted from the first one's beginning. `code_ends` tells it of
 * the codes, counted from `codes`: it ascends, and ends within them, which the caller has checked. */
enum nt_status nt_fsst_ends(const struct nt_fsst *fsst, const uint8_t *codes, const uint64_t *code_ends,
                            uint64_t strings, uint64_t *ends, struct nt_error *error);

/* Both at once. Exactly `output_bytes` bytes, else NT_CORRUPT. */
enum nt_status nt_fsst_expand(const struct nt_fsst *fsst, const uint8_t *codes, const uint64_t *code_ends,
                              uint64_t strings, uint8_t *output, size_t output_bytes, uint64_t *ends,
                              struct nt_error *error);

#endif
