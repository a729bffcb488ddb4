/* SPDX-License-Identifier: MIT
 *
 * Verifying a file: every checksum, every page decoded, and whether what the parts say of each other agrees:
 * element counts, offsets, switches, borders of clusters. Works on the model: for every format.
 */
#ifndef NT_VIEW_VERIFY_H
#define NT_VIEW_VERIFY_H

#include <ntuple/read.h>

enum nt_finding_kind {
    NT_FINDING_DAMAGED,     /* the bytes contradict their checksum, the specification or each other */
    NT_FINDING_UNREADABLE,  /* the operating system refused, or the file was changed meanwhile */
    NT_FINDING_UNSUPPORTED, /* unknown column types, pages that lie elsewhere, limits: nothing is known */
    NT_FINDING_WARNING,     /* allowed, but a surprise to readers: text that is not UTF-8 */
    NT_FINDING_KINDS
};
const char *nt_finding_name(enum nt_finding_kind kind); /* "damaged", ... */

/* Where something was found and what. Members that do not apply are NT_NONE; `page` UINT64_MAX. */
struct nt_finding {
    enum nt_finding_kind kind;
    uint32_t dataset, cluster_group, cluster, field, column; /* indices in the model */
    uint64_t page;                                           /* number within the column, as in pages.jsonl */
    uint64_t count;        /* pages that the finding stands for, where the same is true of several; else 1 */
    struct nt_error error; /* the message tells the place, too */
};

struct nt_verify_summary {
    uint64_t columns, pages;
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
