/* SPDX-License-Identifier: MIT
 *
 * Reports the owner of every byte range in the files of a dataset that is not a page of one of its
 * fields.
 */
#include "formats/lance/dataset/dataset.h"

/* ---- Data files ---- */

/* Puts the columns that store no field of this version. */
static enum nt_status put_deleted(const struct nt_lance_dataset *lance, uint32_t number,
                                  const struct nt_lance *opened, const struct nt_layout_output *output,
                                  struct nt_error *error)
{
    const struct nt_lance_fragment_part *fragment = &lance->fragments[lance->files[number].fragment];
    const struct nt_lance_leaf *leaves = fragment->leaves;
    NT_AUTO_FREE bool *has_field = calloc((size_t)opened->tail.columns + 1, sizeof(*has_field));
    NT_TRY(nt_check_memory(has_field, error));
    for (uint32_t i = 0; i < lance->schema.field_count; i++) {
        uint32_t column = leaves[i].column;
        if (fragment->first_file + leaves[i].file != number || column >= opened->tail.columns)
            continue;
        has_field[column] = true;
        uint32_t bytes = nt_lance_byte_column(opened, &lance->schema, &leaves[i]);
        if (bytes != NT_NONE && !has_field[bytes]) {
            has_field[bytes] = true;
            NT_TRY(nt_lance_layout_put_column(&opened->columns[bytes], output, "bytes of strings"));
        }
    }
    for (uint32_t i = 0; i < opened->tail.columns; i++)
        if (!has_field[i])
            NT_TRY(nt_lance_layout_put_column(&opened->columns[i], output, "dropped column"));
    return NT_OK;
}

static enum nt_status put_data_file(struct nt_dataset *dataset, uint32_t number,
                                    const struct nt_layout_output *output, struct nt_error *error)
{
    NT_LOCK_GUARD(&dataset->lock);
    struct nt_lance_dataset *lance = nt_lance_dataset_of(dataset);
    struct nt_lance_fragment_part *fragment = &lance->fragments[lance->files[number].fragment];
    const struct nt_lance *opened = NULL;
    enum nt_status status = nt_lance_find_columns(dataset->file, lance, fragment, error);
    if (status == NT_OK)
        status = nt_lance_require_data_file(dataset, number, &opened, error);
    if (status != NT_OK)
        return nt_omit_bad(status);
    NT_TRY(nt_lance_lay_out_file(opened, output, error));
    return opened->legacy ? NT_OK : put_deleted(lance, number, opened, output, error);
}

/* ---- The manifest ---- */

/* Puts the messages before the manifest's, each after its length. One is the transaction, whose
 * position is in different members in different versions of Lance; another may be the index section,
 * whose position is in the manifest. */
static enum nt_status put_sections(const struct nt_lance_manifest_file *manifest, struct nt_source *source,
                                   const struct nt_layout_output *output, struct nt_error *error)
{
    enum { MAX_SECTIONS = 16 };
    uint64_t end = manifest->offset - NT_LANCE_LENGTH_BYTES, position = 0,
             indices = nt_proto_has(manifest->message, NT_LANCE_MANIFEST_INDEX_SECTION)
                           ? nt_proto_number(manifest->message, NT_LANCE_MANIFEST_INDEX_SECTION)
                           : UINT64_MAX;
    for (unsigned i = 0; i < MAX_SECTIONS && end - position >= NT_LANCE_LENGTH_BYTES; i++) {
        uint8_t length[NT_LANCE_LENGTH_BYTES] = {0};
        enum nt_status status = nt_source_read(source, position, length, NT_LANCE_LENGTH_BYTES, error);
        uint64_t bytes = NT_LANCE_LENGTH_BYTES + (uint64_t)nt_load_le32(length);
        if (status != NT_OK || bytes > end - position)
            return nt_is_environmental(status) ? status : NT_OK;
        NT_TRY(
            nt_layout_emit_range(output, position, bytes, position == indices ? "indices" : "transaction"));
        position += bytes;
    }
    return NT_OK;
}

static enum nt_status put_manifest(const struct nt_lance_manifest_file *manifest, struct nt_source *source,
                                   const struct nt_layout_output *output, struct nt_error *error)
{
    NT_TRY(put_sections(manifest, source, output, error));
    NT_TRY(nt_layout_emit_range(output, manifest->offset - NT_LANCE_LENGTH_BYTES,
                                NT_LANCE_LENGTH_BYTES + (uint64_t)manifest->message.size, "manifest"));
    return nt_layout_emit_range(output, manifest->size - NT_LANCE_MANIFEST_TAIL_BYTES,
                                NT_LANCE_MANIFEST_TAIL_BYTES, "footer");
}

/* ---- Layout of a dataset ---- */

/* The files of a layout are the data files, the manifest, and the deletion files. */
static enum nt_status put_file(const struct nt_file *file, const struct nt_layout_output *output,
                               struct nt_error *error)
{
    struct nt_dataset *dataset = file->datasets[0];
    const struct nt_lance_dataset *lance = nt_lance_dataset_of(dataset);
    struct nt_source *source = file->layout_sources[output->source];
    uint64_t bytes;
    if (output->source < lance->file_count)
        return put_data_file(dataset, output->source, output, error);
    if (output->source == lance->file_count)
        return put_manifest(&lance->manifest, source, output, error);
    return nt_source_size(source, &bytes, NULL) == NT_OK
               ? nt_layout_emit_range(output, 0, bytes, "deletion file")
               : NT_OK;
}

enum nt_status nt_lance_lay_out_files(const struct nt_file *file, struct nt_layout_sources sources,
                                      nt_layout_emit *emit, void *context, struct nt_error *error)
{
    struct nt_layout_output output = {.emit = emit, .context = context, .source = sources.first};
    for (; output.source < sources.end; output.source++)
        NT_TRY(put_file(file, &output, error));
    return NT_OK;
}

enum nt_status nt_lance_lay_out_dataset(const struct nt_file *file, nt_layout_emit *emit, void *context,
                                        struct nt_error *error)
{
    const struct nt_layout_sources all = {0, file->layout_source_count};
    return nt_lance_lay_out_files(file, all, emit, context, error);
}

uint32_t nt_lance_layout_part(const struct nt_file *file, uint32_t source)
{
    const struct nt_lance_dataset *lance = nt_lance_dataset_of(file->datasets[0]);
    return source < lance->file_count ? lance->files[source].fragment : NT_NONE;
}
