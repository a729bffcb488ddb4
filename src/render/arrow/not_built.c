/* SPDX-License-Identifier: MIT
 *
 * Stubs for builds without Arrow: programs that use libntuple still run; calls fail with the reason.
 */
#include "render/arrow/arrow.h"

static enum nt_status refuse(struct nt_error *error)
{
    return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "Arrow is not built in (-Darrow=enabled)");
}

enum nt_status nt_arrow_new(struct nt_reader *reader, struct nt_dataset *dataset,
                            const struct nt_arrow_options *options, struct nt_arrow **arrow_ret,
                            struct nt_error *error)
{
    return refuse(error);
}

enum nt_status nt_arrow_new_within(struct nt_reader *reader, struct nt_dataset *dataset,
                                   const struct nt_arrow_options *options,
                                   const struct nt_arrow_limits *limits, struct nt_arrow **arrow_ret,
                                   struct nt_error *error)
{
    return nt_arrow_new(reader, dataset, options, arrow_ret, error);
}

enum nt_status nt_arrow_ipc_pieces(struct nt_arrow *arrow, enum nt_arrow_compression compression,
                                   struct nt_text_generator **pieces_ret, struct nt_error *error)
{
    return refuse(error);
}

bool nt_arrow_ipc_has_invalid_utf8(const struct nt_text_generator *pieces, uint32_t node)
{
    return false;
}

void nt_arrow_free(struct nt_arrow *arrow)
{
}

uint32_t nt_arrow_omitted_fields(const struct nt_arrow *arrow)
{
    return 0;
}

uint32_t nt_arrow_omitted_field(const struct nt_arrow *arrow, uint32_t number, const char **reason_ret)
{
    return 0;
}

enum nt_status nt_arrow_check(const struct nt_arrow *arrow, struct nt_error *error)
{
    return refuse(error);
}

uint32_t nt_arrow_omitted_clusters(const struct nt_arrow *arrow)
{
    return 0;
}

uint64_t nt_arrow_omitted_cluster(const struct nt_arrow *arrow, uint32_t number, uint64_t *first_entry_ret)
{
    return 0;
}

uint64_t nt_arrow_file_bytes(const struct nt_arrow *arrow)
{
    return 0;
}

enum nt_status nt_arrow_file_read(struct nt_arrow *arrow, uint64_t offset, void *output, size_t bytes,
                                  struct nt_error *error)
{
    return refuse(error);
}

uint32_t nt_arrow_batches(const struct nt_arrow *arrow)
{
    return 0;
}

enum nt_status nt_arrow_export_schema(const struct nt_arrow *arrow, struct ArrowSchema *schema_ret,
                                      struct nt_error *error)
{
    return refuse(error);
}

enum nt_status nt_arrow_export_batch(const struct nt_arrow *arrow, uint32_t batch,
                                     struct ArrowArray *array_ret, struct nt_error *error)
{
    return refuse(error);
}

enum nt_status nt_arrow_export_stream(const struct nt_arrow *arrow, void (*on_release)(void *context),
                                      void *context, struct ArrowArrayStream *stream_ret,
                                      struct nt_error *error)
{
    return refuse(error);
}
