/* SPDX-License-Identifier: MIT
 *
 * What a verification has found, and lists of it.
 */
#ifndef NT_VIEW_FINDINGS_H
#define NT_VIEW_FINDINGS_H

#include "core/model/model.h"

enum nt_finding_kind {
    NT_FINDING_DAMAGED,     /* the bytes contradict their checksum, the specification or each other */
    NT_FINDING_UNREADABLE,  /* the operating system refused, or the file was changed meanwhile */
    NT_FINDING_UNSUPPORTED, /* unknown column types, pages that lie elsewhere, limits: nothing is known */
    NT_FINDING_UNREAD,      /* fields that this version does not read, as they say: nothing else is wrong */
    NT_FINDING_WARNING,     /* allowed, but a surprise to readers: text that is not UTF-8 */
    NT_FINDING_KINDS
};
const char *nt_finding_name(enum nt_finding_kind kind); /* "damaged", ... */
enum nt_finding_kind nt_finding_kind(enum nt_status status);

/* Where something was found and what. Members that do not apply are NT_NONE; `page` UINT64_MAX. */
struct nt_finding {
    enum nt_finding_kind kind;
    uint32_t dataset, cluster_group, cluster, field, column; /* indices in the model */
    uint64_t page;                                           /* number within the column, as in pages.jsonl */
    uint64_t count;        /* pages that the finding stands for, where the same is true of several; else 1 */
    struct nt_error error; /* the message tells the place, too */
};

/* A finding with nothing but its error, whose status tells its kind. Without a data set it is of the file. */
struct nt_finding nt_finding(const struct nt_dataset *dataset, const struct nt_error *error);

/* Findings that are kept until it is their turn to be told. Zero at first. */
struct nt_findings {
    struct nt_finding *items;
    size_t count, capacity;
    bool has_failed; /* for want of memory */
};
void nt_findings_add(struct nt_findings *findings, const struct nt_finding *finding);
void nt_findings_deinit(struct nt_findings *findings);

#endif
