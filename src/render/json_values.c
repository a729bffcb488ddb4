/* SPDX-License-Identifier: MIT
 *
 * In: a data set, a field, or a failure. Out: JSON.
 */
#include "render/json_values.h"

#include "core/base/text.h"
#include "core/model/path.h"

void nt_json_member_dataset(struct nt_json *json, const struct nt_dataset *dataset)
{
    struct nt_buffer path = {0};
    nt_append_dataset_path(&path, dataset);
    nt_json_member_buffer(json, "dataset", &path);
}

void nt_json_member_field_path(struct nt_json *json, const char *key, const struct nt_dataset *dataset,
                               uint32_t field)
{
    struct nt_buffer path = {0};
    nt_append_field_path(&path, dataset, field, '/');
    nt_json_member_buffer(json, key, &path);
}

static void put_text_or_null(struct nt_json *json, const char *key, const char *text)
{
    if (text[0])
        nt_json_member_text(json, key, nt_text_of(text));
    else
        nt_json_member_null(json, key);
}

void nt_json_member_place(struct nt_json *json, const struct nt_source *source, uint64_t offset)
{
    struct nt_buffer name = {0};
    nt_source_append_name(source, offset, &name);
    nt_json_key(json, "file");
    nt_json_buffer(json, &name);
    nt_json_member_unsigned(json, "file_offset", nt_source_place(source, offset));
}

void nt_json_failure_members(struct nt_json *json, const struct nt_error *failure)
{
    if (failure->offset == NT_NO_OFFSET)
        nt_json_member_null(json, "file_offset");
    else
        nt_json_member_unsigned(json, "file_offset", failure->offset);
    nt_json_member_string(json, "status", failure->status == NT_OK ? NULL : nt_status_name(failure->status));
    nt_json_member_text(json, "what", nt_text_of(failure->message));
    put_text_or_null(json, "expected", failure->expected);
    put_text_or_null(json, "found", failure->found);
}
