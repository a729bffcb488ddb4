/* SPDX-License-Identifier: MIT
 *
 * Verifying a file: every checksum, every page decoded, and whether what the parts say of each other agrees:
 * element counts, offsets, switches, borders of clusters. Works on the model: for every format.
 */
#ifndef NT_VIEW_VERIFY_H
#define NT_VIEW_VERIFY_H

#include <ntuple/read.h>

#include "core/model/model.h"
#include "tools/findings.h"

struct nt_verify_summary {
    uint64_t columns, pages;
    uint64_t unchecked;    /* pages without a checksum: what is wrong in their values shows only by chance */
    uint64_t stored_bytes; /* of the pages */
    uint64_t findings[NT_FINDING_KINDS];
};

struct nt_verify_options {
    /* Called for each finding, in the same order whatever the number of threads; never two at once. */
    void (*on_finding)(void *context, const struct nt_finding *finding);
    /* Called now and then with stored bytes of pages; never two at once. May be NULL. */
    void (*on_progress)(void *context, uint64_t bytes, uint64_t total);
    void *context;
};

/* Verify all data sets of an open file, whose headers and footers were verified by opening it. Works on all
 * threads of the reader and on the caller's; the reader's cache is hardly used. Fails only where the
 * verification itself cannot go on (NT_NO_MEMORY). */
enum nt_status nt_verify(struct nt_reader *reader, const struct nt_file *file,
                         const struct nt_verify_options *options, struct nt_verify_summary *summary,
                         struct nt_error *error);

#endif
