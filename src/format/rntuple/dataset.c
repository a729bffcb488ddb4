/* SPDX-License-Identifier: MIT
 *
 * In: an open data set. Out: its envelopes, kept from its opening or read and verified anew.
 */
#include "format/rntuple/dataset.h"

static enum nt_status load(const struct nt_dataset *dataset, const struct nt_envelope *kept,
                           enum nt_envelope_kind kind, const struct nt_anchor_link *place,
                           struct nt_envelope *envelope_ret, struct nt_error *error)
{
    const struct nt_rntuple *rntuple = nt_rntuple_of(dataset);
    if (kept->bytes) {
        *envelope_ret = nt_envelope_borrow(kept);
        return NT_OK;
    }
    struct nt_envelope_link link = {
        .length = place->length,
        .locator = {.kind = NT_LOCATOR_FILE, .offset = place->offset, .bytes = place->stored_bytes},
    };
    return nt_envelope_load(rntuple->payload, &dataset->file->budget, rntuple->generation, kind, &link,
                            envelope_ret, error);
}

enum nt_status nt_rntuple_load_header(const struct nt_dataset *dataset, struct nt_envelope *envelope_ret,
                                      struct nt_error *error)
{
    const struct nt_rntuple *rntuple = nt_rntuple_of(dataset);
    return load(dataset, &rntuple->header, NT_ENVELOPE_HEADER, &rntuple->anchor.header, envelope_ret, error);
}

enum nt_status nt_rntuple_load_footer(const struct nt_dataset *dataset, struct nt_envelope *envelope_ret,
                                      struct nt_error *error)
{
    const struct nt_rntuple *rntuple = nt_rntuple_of(dataset);
    return load(dataset, &rntuple->footer, NT_ENVELOPE_FOOTER, &rntuple->anchor.footer, envelope_ret, error);
}

enum nt_status nt_rntuple_load_page_list(const struct nt_dataset *dataset, uint32_t group,
                                         struct nt_envelope *envelope_ret, struct nt_error *error)
{
    const struct nt_rntuple *rntuple = nt_rntuple_of(dataset);
    return nt_envelope_load(rntuple->payload, &dataset->file->budget, rntuple->generation,
                            NT_ENVELOPE_PAGE_LIST, &rntuple->page_lists[group], envelope_ret, error);
}
