/* SPDX-License-Identifier: MIT
 *
 * The content of an RNTuple's envelope: header, footer, page list. The first byte selects the generation,
 * the second the envelope.
 */
#include "formats/rntuple/rntuple.h"
#include "core/base/bytes.h"
#include "core/model/budget.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

enum { MAX_CLUSTERS = 64, MAX_COLUMNS = 256, MAX_PAGES = 4096 };

static void read_header(const struct nt_envelope *envelope)
{
    struct nt_schema schema = {.budget = envelope->budget};
    struct nt_header header;
    (void)nt_header_read(envelope, &header, &schema, NULL);
    nt_schema_deinit(&schema);
}

static void read_footer(const struct nt_envelope *envelope)
{
    struct nt_schema schema = {.budget = envelope->budget};
    struct nt_footer footer;
    if (nt_footer_read(envelope, &footer, &schema, NULL) == NT_OK)
        nt_footer_deinit(&footer);
    nt_schema_deinit(&schema);
}

static void read_columns(const struct nt_envelope *envelope, struct nt_frame *columns)
{
    struct nt_column_pages column;
    for (uint32_t i = 0; i < columns->items && i < MAX_COLUMNS; i++) {
        if (nt_column_pages_read(envelope, &columns->payload, &column, NULL) != NT_OK)
            return;
        for (uint32_t page = 0; page < column.pages.items && page < MAX_PAGES; page++)
            (void)nt_page_record_read(envelope, &column.pages.payload);
        (void)nt_column_pages_finish(envelope, &column, NULL);
    }
}

static void read_page_list(const struct nt_envelope *envelope)
{
    struct nt_page_list list;
    struct nt_frame columns;
    struct nt_cluster_summary summary;
    if (nt_page_list_read(envelope, &list, NULL) != NT_OK)
        return;
    for (uint32_t i = 0; i < list.summaries.items && i < MAX_CLUSTERS; i++)
        if (nt_cluster_summary_read(envelope, &list.summaries.payload, &summary, NULL) != NT_OK)
            break;
    for (uint32_t i = 0; i < list.clusters.items && i < MAX_CLUSTERS; i++) {
        if (nt_cluster_columns_read(envelope, &list.clusters.payload, &columns, NULL) != NT_OK)
            return;
        read_columns(envelope, &columns);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static void (*const kinds[])(const struct nt_envelope *envelope) = {read_header, read_footer,
                                                                        read_page_list};
    if (count < 2)
        return 0;
    struct nt_budget budget;
    nt_budget_init(&budget, 0, UINT64_MAX);
    const struct nt_envelope envelope = {.budget = &budget,
                                         .generation = &nt_generations[bytes[0] % nt_generation_count],
                                         .kind = (enum nt_envelope_kind)(NT_ENVELOPE_HEADER + bytes[1] % 3),
                                         .length = count - 2,
                                         .payload = nt_cursor(bytes + 2, count - 2)};
    kinds[bytes[1] % 3](&envelope);
    return 0;
}
