/* SPDX-License-Identifier: MIT
 *
 * What a reader is made of.
 */
#ifndef NT_PAGE_READER_H
#define NT_PAGE_READER_H

#include <ntuple/read.h>

#include "core/base/lock.h"
#include "core/model/model.h"
#include "read/counters.h"

struct nt_contexts;
struct nt_cache;
struct nt_workers;
struct nt_dataset_indexes;

struct nt_reader {
    struct nt_reader_options options; /* with the defaults filled in */
    struct nt_counters counters;      /* only touched through nt_count and the two below */
    struct nt_algorithm_counters algorithms[NT_ALGORITHM_COUNT]; /* likewise */
    struct nt_lock lock;                                         /* of what follows, while it is made anew */
    atomic_bool is_forked;                                       /* it is the parent's still */
    struct nt_contexts *contexts;
    struct nt_cache *cache;
    struct nt_workers *workers;
    struct nt_dataset_indexes *indexes;
};

/* Before anything of it is used: in a forked process its workers are not there, and other threads of the parent may have had its locks, pages that
 * they loaded and memory. So there it gets others, with the first call; those of the parent are left alone. */
enum nt_status nt_reader_be_here(struct nt_reader *reader, struct nt_error *error);
/* All counters but those of algorithms: nt_reader_counter gives these, too. */
void nt_counters_read(const struct nt_reader *reader, struct nt_counters *counters);
/* Add what was counted. */
void nt_reader_add(struct nt_reader *reader, const struct nt_tally *tally);
/* Count a failure of a page and tell the options' function of it, unless it says nothing about the page. */
void nt_reader_tell(struct nt_reader *reader, const struct nt_dataset *dataset, uint32_t column,
                    const struct nt_page *page, const struct nt_error *failure);

#endif
