/* SPDX-License-Identifier: MIT
 *
 * A reader's life: its parts, its defaults, its counters.
 */
#include "page/reader.h"

#include <stdlib.h>

#include "page/cache.h"
#include "page/contexts.h"
#include "page/views.h"
#include "page/workers.h"

static void set_defaults(struct nt_reader_options *options)
{
    if (!options->cache_bytes)
        options->cache_bytes = UINT64_C(256) << 20;
    if (!options->failure_seconds)
        options->failure_seconds = 10;
    if (!options->maximum_page_bytes)
        options->maximum_page_bytes = UINT64_C(256) << 20;
}

enum nt_status nt_reader_new(const struct nt_reader_options *options, struct nt_reader **reader_ret,
                             struct nt_error *error)
{
    struct nt_reader *reader = calloc(1, sizeof(*reader));
    if (!reader)
        return nt_fail_memory(error);
    if (options)
        reader->options = *options;
    set_defaults(&reader->options);
    reader->contexts = nt_contexts_new();
    reader->views = nt_views_new();
    reader->cache =
        nt_cache_new(reader->options.cache_bytes, reader->options.failure_seconds, &reader->counters);
    if (reader->contexts && reader->views && reader->cache)
        reader->workers = nt_workers_new(reader, reader->options.threads);
    if (!reader->workers) {
        nt_reader_free(reader);
        return nt_fail_memory(error);
    }
    *reader_ret = reader;
    return NT_OK;
}

void nt_reader_free(struct nt_reader *reader)
{
    if (!reader)
        return;
    nt_workers_free(reader->workers);
    nt_cache_free(reader->cache);
    nt_views_free(reader->views);
    nt_contexts_free(reader->contexts);
    free(reader);
}

/* All members are integers of one size: read one by one, as other threads add to them. */
void nt_reader_counters(const struct nt_reader *reader, struct nt_reader_counters *counters)
{
    const uint64_t *from = (const uint64_t *)&reader->counters;
    uint64_t *to = (uint64_t *)counters;
    _Static_assert(sizeof(*counters) % sizeof(*to) == 0, "counters are 64-bit integers");
    for (size_t i = 0; i < sizeof(*counters) / sizeof(*to); i++)
        to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}

void nt_reader_forget(struct nt_reader *reader, const struct nt_dataset *dataset)
{
    nt_workers_forget(reader->workers, dataset);
    for (uint32_t i = 0; i < dataset->source_count; i++)
        nt_cache_forget(reader->cache, dataset->sources[i]);
    nt_views_forget(reader->views, dataset);
}
