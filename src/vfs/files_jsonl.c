/* SPDX-License-Identifier: MIT
 *
 * files.jsonl: a line for each file of a chain.
 */
#include <stdlib.h>

#include "chain/files.h"
#include "vfs/chain_places.h"
#include "vfs/documents.h"

struct files {
    struct nt_long_text text;
    const struct nt_dataset *dataset;
    const struct nt_chain_places *places;
    uint32_t next;
};

static void write_line(const struct files *files, struct nt_buffer *out)
{
    struct nt_json json;
    nt_json_line(&json, out);
    nt_json_member_unsigned(&json, "number", files->next);
    nt_json_member_format(&json, "path", NT_CHAIN_FILES "/%s",
                          nt_chain_places_name(files->places, files->next));
    nt_chain_write_file(files->dataset, files->next, &json);
    nt_json_finish(&json);
}

static enum nt_status next_files(struct nt_long_text *text, struct nt_buffer *out, bool *more_ret,
                                 struct nt_error *error)
{
    enum { PIECE = 32768 };
    struct files *files = (struct files *)text;
    uint32_t count = nt_chain_file_count(files->dataset->file);
    for (size_t end = out->length + PIECE; files->next < count && out->length < end && !out->failed;
         files->next++)
        write_line(files, out);
    *more_ret = files->next < count;
    return out->failed ? nt_fail_memory(error) : NT_OK;
}

static void free_files(struct nt_long_text *text)
{
    free(text);
}

enum nt_status nt_files_jsonl(const struct nt_scope *scope, struct nt_long_text **text_ret,
                              struct nt_error *error)
{
    struct files *files = calloc(1, sizeof(*files));
    if (!files)
        return nt_fail_memory(error);
    *files = (struct files){.text = {.next = next_files, .free = free_files},
                            .dataset = scope->dataset,
                            .places = nt_places_get(scope->vfs->places, scope->place)->chain};
    *text_ret = &files->text;
    return NT_OK;
}
