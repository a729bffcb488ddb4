/* SPDX-License-Identifier: MIT
 *
 * In: an open data set. Out: its envelopes, kept from its opening or read and verified anew.
 */
#include "formats/rntuple/dataset.h"

enum nt_status nt_rntuple_find(const struct nt_dataset *dataset, struct nt_locator *locator, const char *what,
                               struct nt_error *error)
{
    return nt_rntuple_of(dataset)->objects ? nt_locator_find_object(locator, what, error) : NT_OK;
}

enum nt_status nt_rntuple_load_envelope(const struct nt_dataset *dataset, enum nt_envelope_kind kind,
                                        uint32_t number, struct nt_envelope *envelope_ret,
                                        struct nt_error *error)
{
    const struct nt_rntuple *rntuple = nt_rntuple_of(dataset);
    struct nt_budget *budget = &dataset->file->budget;
    if (kind == NT_ENVELOPE_PAGE_LIST)
        return nt_envelope_load(rntuple->payload, budget, rntuple->generation, kind,
                                &rntuple->page_lists[number], envelope_ret, error);
    bool is_header = kind == NT_ENVELOPE_HEADER;
    const struct nt_envelope *kept = is_header ? &rntuple->header : &rntuple->footer;
    if (kept->bytes) {
        *envelope_ret = nt_envelope_borrow(kept);
        return NT_OK;
    }
    const struct nt_anchor_link *place = is_header ? &rntuple->anchor.header : &rntuple->anchor.footer;
    struct nt_envelope_link link = {
        .length = place->length,
        .locator = {.kind = NT_LOCATOR_FILE, .offset = place->offset, .bytes = place->stored_bytes},
    };
    return nt_envelope_load(rntuple->payload, budget, rntuple->generation, kind, &link, envelope_ret, error);
}
