/* SPDX-License-Identifier: MIT
 *
 * Verifies a dataset of a test, and keeps the findings.
 */
#pragma once

#include <string.h>

#include "dataset_builder.h"
#include "support.h"
#include "tools/tools.h"

enum { MAX_FINDINGS = 512 };

struct found {
    struct nt_finding findings[MAX_FINDINGS];
    size_t count;
    struct nt_verify_summary summary;
    uint64_t progress, total;
};

static inline void keep_finding(void *context, const struct nt_finding *finding)
{
    struct found *found = context;
    ck_assert_uint_lt(found->count, MAX_FINDINGS);
    found->findings[found->count++] = *finding;
}

static inline void keep_progress(void *context, uint64_t bytes, uint64_t total)
{
    struct found *found = context;
    ck_assert_uint_ge(bytes, found->progress);
    found->progress = bytes;
    found->total = total;
}

static inline void verify(struct builder *builder, struct found *found)
{
    struct nt_error error;
    memset(found, 0, sizeof(*found));
    struct nt_verify_options options = {keep_finding, keep_progress, found};
    assert_ok(nt_verify(builder->reader, builder->file, &options, &found->summary, &error));
    uint64_t sum = 0, pages = 0;
    for (int kind = 0; kind < NT_FINDING_KINDS; kind++)
        sum += found->summary.findings[kind];
    for (size_t i = 0; i < found->count; i++)
        pages += found->findings[i].count;
    ck_assert_uint_eq(sum, pages);
}

/* The only finding. */
static inline const struct nt_finding *only(const struct found *found, enum nt_finding_kind kind,
                                            const char *what)
{
    ck_assert_msg(found->count == 1, "%zu findings; the first: %s", found->count,
                  found->count ? found->findings[0].error.message : "none");
    const struct nt_finding *finding = &found->findings[0];
    ck_assert_str_eq(nt_finding_name(finding->kind), nt_finding_name(kind));
    ck_assert_msg(strstr(finding->error.message, what), "no '%s' in: %s", what, finding->error.message);
    return finding;
}
