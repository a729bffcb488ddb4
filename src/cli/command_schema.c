/* SPDX-License-Identifier: MIT
 *
 * The command schema: prints the fields of datasets with types and descriptions, as text or JSON.
 */
#include "cli/cli.h"

#include <limits.h>

#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/json/json.h"
#include "core/model/model.h"
#include "read/read.h"
#include "render/render.h"
#include "vfs/vfs.h"

struct shower {
    const struct nt_settings *settings;
    const struct nt_target *target; /* its fields alone, if it has any */
    struct nt_json *json;           /* NULL: text */
    bool has_printed;
};

static enum nt_exit_status show_lines(struct shower *shower, struct nt_reader *reader,
                                      struct nt_dataset *dataset, const uint32_t *fields)
{
    struct nt_error error = {0};
    struct nt_text_generator *lines = NULL;
    if (dataset->failure)
        return nt_print_error(dataset->name.bytes, dataset->failure);
    if (nt_schema_lines(reader, dataset, fields, shower->target->count, &lines, &error) != NT_OK)
        return nt_print_error(dataset->name.bytes, &error);
    if (shower->has_printed)
        putchar('\n');
    shower->has_printed = true;
    return nt_print_long_text(lines, dataset->name.bytes);
}

static enum nt_exit_status show_members(struct shower *shower, struct nt_reader *reader,
                                        struct nt_dataset *dataset, const uint32_t *fields)
{
    struct nt_json *json = shower->json;
    struct nt_error error = {0};
    if (dataset->failure) {
        error = *dataset->failure;
    } else {
        nt_json_member_text(json, "description", dataset->description);
        nt_json_member_unsigned(json, "entries", nt_dataset_entries(dataset));
        if (nt_json_member_fields(reader, dataset, fields, shower->target->count, json, &error) == NT_OK)
            return NT_EXIT_OK;
    }
    nt_json_member_text(json, "error", nt_text_of(error.message));
    return nt_print_error(dataset->name.bytes, &error);
}

static enum nt_exit_status show_dataset(void *context, const struct nt_resolved_node *resolved,
                                        uint32_t index, uint32_t field)
{
    struct shower *shower = context;
    struct nt_dataset *dataset = resolved->file->datasets[index];
    const uint32_t *fields = shower->target->count ? shower->target->fields : NULL;
    struct nt_json *json = shower->json;
    if (!json)
        return show_lines(shower, resolved->vfs->reader, dataset, fields);
    nt_json_object(json);
    nt_json_member_text(json, "name", dataset->name);
    nt_json_member_dataset_path(json, resolved->opened, index);
    enum nt_exit_status result = show_members(shower, resolved->vfs->reader, dataset, fields);
    nt_json_end_object(json);
    return result;
}

static enum nt_exit_status show_as_json(struct shower *shower, const struct nt_resolved_node *resolved)
{
    struct nt_buffer out = {0};
    struct nt_json json;
    nt_json_document(&json, &out, "schema");
    nt_json_member_text(&json, "file", nt_text_of(resolved->file->path));
    shower->json = &json;
    enum nt_exit_status result = nt_print_datasets_json(resolved, &json, show_dataset, shower);
    nt_buffer_deinit(&out);
    return result;
}

static enum nt_exit_status show_file(void *context, const struct nt_resolved_node *resolved, bool is_of_many)
{
    struct shower *shower = context;
    if (shower->settings->json)
        return show_as_json(shower, resolved);
    if (is_of_many) {
        if (shower->has_printed)
            putchar('\n');
        nt_print_name(resolved->file->path);
        putchar('\n');
        shower->has_printed = false;
    }
    enum nt_exit_status result = nt_for_each_dataset(resolved, show_dataset, shower);
    shower->has_printed = true;
    return result;
}

static enum nt_exit_status show(void *context, struct nt_vfs *vfs, const struct nt_target *target)
{
    struct shower *shower = context;
    shower->target = target;
    return nt_for_each_file(vfs, target->path, target->node, show_file, context);
}

static enum nt_exit_status run(const struct nt_invocation *invocation)
{
    struct shower shower = {.settings = invocation->settings};
    return nt_for_each_target(invocation, show, &shower);
}

static const struct nt_option options[] = {
    NT_OPTION(0, "json", FLAG, json, .help = "print a JSON document for each file, with every field"),
    {0},
};

const struct nt_command nt_command_schema = {
    .name = "schema",
    .operands = "FILE [PATH...]",
    .help = "print the fields with their types, items and descriptions",
    .fewest = 1,
    .most = INT_MAX,
    .options = options,
    .run = run,
};
