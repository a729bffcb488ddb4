/* SPDX-License-Identifier: MIT
 *
 * In: errors. Out: findings: what sort of a fault each is, by its status, and lists that grow.
 */
#include "tools/findings.h"

#include <stdlib.h>

#include "core/base/grow.h"

const char *nt_finding_name(enum nt_finding_kind kind)
{
    static const char *const names[NT_FINDING_KINDS] = {
        [NT_FINDING_DAMAGED] = "damaged",         [NT_FINDING_UNREADABLE] = "unreadable",
        [NT_FINDING_UNSUPPORTED] = "unsupported", [NT_FINDING_UNREAD] = "unread",
        [NT_FINDING_WARNING] = "warning",
    };
    return names[kind];
}

enum nt_finding_kind nt_finding_kind(enum nt_status status)
{
    switch (status) {
    case NT_OK:
        return NT_FINDING_WARNING;
    case NT_UNSUPPORTED:
    case NT_LIMIT:
        return NT_FINDING_UNSUPPORTED;
    case NT_IO:
    case NT_CHANGED:
    case NT_UNREACHABLE:
        return NT_FINDING_UNREADABLE;
    default:
        return NT_FINDING_DAMAGED;
    }
}

struct nt_finding nt_finding(const struct nt_dataset *dataset, const struct nt_error *error)
{
    return (struct nt_finding){
        .kind = nt_finding_kind(error->status),
        .dataset = dataset ? dataset->index : NT_NONE,
        .cluster_group = NT_NONE,
        .cluster = NT_NONE,
        .field = NT_NONE,
        .column = NT_NONE,
        .page = UINT64_MAX,
        .count = 1,
        .error = *error,
    };
}

void nt_findings_add(struct nt_findings *findings, const struct nt_finding *finding)
{
    struct nt_finding *items = nt_grow(findings->items, findings->count, &findings->capacity, sizeof(*items));
    if (!items) {
        findings->has_failed = true;
        return;
    }
    findings->items = items;
    items[findings->count++] = *finding;
}

void nt_findings_deinit(struct nt_findings *findings)
{
    free(findings->items);
    *findings = (struct nt_findings){0};
}
