/* SPDX-License-Identifier: MIT
 *
 * One page, loaded from where it lies.
 */
#ifndef NT_PAGE_LOAD_H
#define NT_PAGE_LOAD_H

#include "core/codec/plan.h"
#include "read/cache.h"
#include "read/cache_key.h"
#include "read/page.h"
#include "read/reader.h"

/* Bytes of a page's decoded elements; NT_LIMIT where they overflow or are more than the file may ask for. */
enum nt_status nt_page_decoded_bytes(const struct nt_dataset *dataset, const struct nt_page *page,
                                     size_t *bytes_ret, struct nt_error *error);

/* Bytes of memory that loading the page takes beside its output, roughly; 0 where it will be refused. */
uint64_t nt_page_scratch_bytes(const struct nt_dataset *dataset, const struct nt_page *page);

/* All that decides about a page's decoded elements. */
struct nt_cache_key nt_page_key(const struct nt_dataset *dataset, const struct nt_page *page);

struct nt_page_request {
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    uint32_t column; /* that it is loaded for */
    const struct nt_page *page;
    struct nt_codec_context *context; /* borrowed */
    struct nt_tally *tally;           /* begun; with the context */
    /* The page's stored bytes, the digest behind them, where they are in memory already; NULL: they are read.
     * They may be in the context's scratch memory, but for NT_SCRATCH_PAGE. */
    const uint8_t *stored;
    const struct nt_value *inputs; /* of its decoder's plan, decoded */
    /* Pages of other columns that are the same stored bytes, and are made with it: the decoders of all are shared
     * (nt_plans_are_shared). */
    const struct nt_page_beside {
        const struct nt_page *page;
        const struct nt_value *inputs;
        uint8_t *output;
    } * beside;
    uint32_t beside_count; /* less than NT_PLAN_TOGETHER */
};

/* Read, verify, decompress, decode into `output`. The error does not tell where the page stands. */
enum nt_status nt_page_load_with(const struct nt_page_request *request, void *output, struct nt_error *error);

/* The algorithm that the stored bytes name. */
enum nt_status nt_page_find_algorithm(struct nt_dataset *dataset, const struct nt_page *page,
                                      enum nt_algorithm *algorithm_ret, struct nt_error *error);

/* The other pages that the plan of a page's decoder needs (a dictionary), pinned in the cache. */
struct nt_page_inputs {
    struct nt_value values[NT_PLAN_INPUTS];
    struct nt_cached *pinned[NT_PLAN_INPUTS];
    uint32_t count;
};
/* They are waited for: by whoever has not borrowed a context yet. To be unpinned where that fails, too. */
enum nt_status nt_page_pin_inputs(const struct nt_page_request *request, struct nt_page_inputs *inputs,
                                  struct nt_error *error);
void nt_page_unpin_inputs(struct nt_reader *reader, const struct nt_page_inputs *inputs);

/* nt_page_load_with for a page of any decoder. `context` NULL: its inputs are pinned, and one is borrowed, and
 * what is counted is given to the reader; else `inputs` are those of its plan. */
enum nt_status nt_page_load_all(const struct nt_page_request *request, void *output, struct nt_error *error);

#endif
