/* SPDX-License-Identifier: MIT
 *
 * Where anchors and envelopes of the data sets lie, for the layout of the file.
 */
#include "formats/rntuple/shown.h"

#include <stdlib.h>

#include "formats/rntuple/payload.h"

struct emitter {
    const struct nt_dataset *dataset;
    struct nt_error *error;
    struct nt_layout_output output;
};

/* An envelope in all the keys that it lies in. One whose parts cannot be found is left out: the layout is
 * shown for damaged files, too. */
static enum nt_status emit_envelope(const struct emitter *emitter, enum nt_envelope_kind kind,
                                    uint64_t offset, uint64_t bytes)
{
    struct nt_extent *extents;
    size_t count;
    enum nt_status status = nt_payload_extents(nt_rntuple_of(emitter->dataset)->payload, offset, bytes,
                                               &extents, &count, emitter->error);
    if (status != NT_OK)
        return nt_is_machine_failure(status) ? status : NT_OK;
    for (size_t i = 0; i < count && status == NT_OK; i++)
        status = nt_layout_put(&emitter->output, extents[i].offset, extents[i].bytes, nt_envelope_name(kind));
    free(extents);
    return status;
}

static enum nt_status emit_links(const struct emitter *emitter, enum nt_envelope_kind kind,
                                 const struct nt_envelope_link *links, uint32_t count)
{
    enum nt_status status = NT_OK;
    for (uint32_t i = 0; i < count && status == NT_OK; i++)
        if (nt_locator_is_local(&links[i].locator))
            status = emit_envelope(emitter, kind, links[i].locator.offset, links[i].locator.bytes);
    return status;
}

static enum nt_status emit_dataset(const struct emitter *emitter)
{
    const struct nt_rntuple *rntuple = nt_rntuple_of(emitter->dataset);
    const struct nt_anchor *anchor = &rntuple->anchor;
    struct nt_layout_output of_file = emitter->output;
    of_file.source = rntuple->objects ? emitter->dataset->file->layout_source_count - 1 : 0;
    enum nt_status status = nt_layout_put(&of_file, anchor->offset, anchor->stored_bytes, "anchor");
    if (status == NT_OK)
        status =
            emit_envelope(emitter, NT_ENVELOPE_HEADER, anchor->header.offset, anchor->header.stored_bytes);
    if (status == NT_OK)
        status =
            emit_envelope(emitter, NT_ENVELOPE_FOOTER, anchor->footer.offset, anchor->footer.stored_bytes);
    if (status == NT_OK)
        status = emit_links(emitter, NT_ENVELOPE_PAGE_LIST, rntuple->page_lists, rntuple->page_list_count);
    if (status == NT_OK)
        status = emit_links(emitter, NT_ENVELOPE_USER_METADATA, rntuple->user_metadata,
                            rntuple->user_metadata_count);
    return status;
}

enum nt_status nt_rntuple_layout(const struct nt_file *file, nt_layout_emit *emit, void *context,
                                 struct nt_error *error)
{
    const struct nt_container *container = file->format_data;
    enum nt_status status =
        container->kind->layout ? container->kind->layout(file, emit, context, error) : NT_OK;
    for (uint32_t i = 0; i < file->dataset_count && status == NT_OK; i++) {
        struct emitter emitter = {.dataset = file->datasets[i],
                                  .error = error,
                                  .output = {emit, context, file->datasets[i]->index, 0}};
        if (nt_rntuple_of(file->datasets[i]))
            status = emit_dataset(&emitter);
    }
    return status;
}
