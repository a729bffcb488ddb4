/* SPDX-License-Identifier: MIT
 *
 * Public functions that write the schema and the layout as text, piece by piece, to a callback.
 */
#include "tools/tools.h"

enum nt_status nt_take_all(struct nt_buffer *piece, nt_take_text *take, void *context, struct nt_error *error)
{
    enum nt_status status = NT_OK;
    if (piece->failed)
        status = nt_fail_memory(error);
    else if (piece->length && !take(context, piece->bytes, piece->length))
        status = nt_fail(error, NT_CANCELED, NT_NO_OFFSET, "the caller stopped writing the document");
    nt_buffer_clear(piece);
    return status;
}

/* Frees the generator. */
static enum nt_status write_text(struct nt_text_generator *text, nt_take_text *take, void *context,
                                 struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer piece = {0};
    enum nt_status status = NT_OK;
    for (bool more = true; more && status == NT_OK;) {
        status = text->next(text, &piece, &more, error);
        if (status == NT_OK)
            status = nt_take_all(&piece, take, context, error);
    }
    text->free(text);
    return status;
}

enum nt_status nt_write_schema_lines(struct nt_reader *reader, struct nt_dataset *dataset, nt_take_text *take,
                                     void *context, struct nt_error *error)
{
    struct nt_text_generator *text;
    if (dataset->failure)
        return nt_fail_copy(error, dataset->failure);
    NT_TRY(nt_schema_lines(reader, dataset, NULL, 0, &text, error));
    return write_text(text, take, context, error);
}

enum nt_status nt_write_schema_json(struct nt_reader *reader, struct nt_dataset *dataset, nt_take_text *take,
                                    void *context, struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer out = {0};
    struct nt_json json;
    if (dataset->failure)
        return nt_fail_copy(error, dataset->failure);
    nt_json_init(&json, &out, true);
    nt_json_object(&json);
    nt_json_member_text(&json, "name", dataset->name);
    nt_json_member_text(&json, "description", dataset->description);
    nt_json_member_unsigned(&json, "entries", nt_dataset_entries(dataset));
    NT_TRY(nt_json_member_fields(reader, dataset, NULL, 0, &json, error));
    nt_json_end_object(&json);
    return nt_take_all(&out, take, context, error);
}

enum nt_status nt_write_layout(const struct nt_file *file, nt_take_text *take, void *context,
                               struct nt_error *error)
{
    struct nt_text_generator *text;
    NT_TRY(nt_layout_lines(file, &text, error));
    return write_text(text, take, context, error);
}
