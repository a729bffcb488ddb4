/* SPDX-License-Identifier: MIT
 *
 * Envelopes built by hand, loaded with the reader's row of their generation.
 */
#pragma once

#include <string.h>

#include "formats/rntuple/rntuple.h"
#include "rntuple_writer.h"
#include "support.h"
#include "core/io/source.h"
#include "core/model/budget.h"
#include <ntuple/source.h>

/* The reader's row for a writer's generation, by its name. */
static inline const struct nt_generation *row_of(enum rntuple_generation generation)
{
    static const char *const names[RNTUPLE_GENERATIONS] = {
        "pre-draft",
        "draft, CRC32, extension header links",
        "draft, CRC32, schema extension",
        "release candidate 1",
        "release candidate 2, early",
        "release candidate 2, late",
        "release candidate 3",
        "version 1",
        "version 1",
    };
    for (uint32_t i = 0; i < nt_generation_count; i++)
        if (strcmp(nt_generations[i].name, names[generation]) == 0)
            return &nt_generations[i];
    ck_abort_msg("no row %s", names[generation]);
    return NULL;
}

/* Charged for the envelopes of a test; the limit is never reached. */
static struct nt_budget test_budget = {.is_fixed = true, .limit = UINT64_C(1) << 40};

/* Loads the envelope of `writer`, stored uncompressed at offset 0 of a source. */
static inline enum nt_status load(struct rntuple_writer *writer, enum nt_envelope_kind kind,
                                  struct nt_envelope *envelope, struct nt_error *error)
{
    struct nt_source *source;
    struct nt_envelope_link link = {.length = writer->bytes.length};
    link.locator.bytes = writer->bytes.length;
    ck_assert(nt_source_open_memory(writer->bytes.bytes, writer->bytes.length, "test", &source, error) ==
              NT_OK);
    enum nt_status status =
        nt_envelope_load(source, &test_budget, row_of(writer->generation), kind, &link, envelope, error);
    nt_source_close(source);
    return status;
}
