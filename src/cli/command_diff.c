/* SPDX-License-Identifier: MIT
 *
 * ntuple diff: what differs between two files, or parts of them: schema, values, layout. Lines, or a JSON document;
 * what cannot be read stands on standard error, too.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/diff_output.h"
#include "cli/progress.h"
#include "core/json/json.h"
#include "tools/diff.h"

/* A file that is compared, and what of it. */
struct source {
    const char *path;
    struct nt_vfs *vfs;
    struct nt_scope scope;
    bool is_open;
};

struct differ {
    const struct nt_settings *settings;
    struct source sources[NT_DIFF_SIDES];
    struct nt_diff_options options;
    struct nt_progress progress;
    struct nt_buffer out; /* the document, or a line */
    struct nt_json *json; /* NULL: lines */
    const struct nt_dataset_pair *pair;
    struct nt_diff_summary total;
    size_t compared; /* pairs of data sets */
    bool has_failed; /* not all was printed */
};

/* ---- what is told ---- */

/* What is in the buffer. */
static void print_out(struct differ *differ)
{
    nt_progress_clear(&differ->progress);
    differ->has_failed |= nt_print_buffer(&differ->out, "diff") != NT_EXIT_OK;
    nt_buffer_clear(&differ->out);
}

static void on_difference(void *context, const struct nt_difference *difference)
{
    struct differ *differ = context;
    bool is_shown = !differ->settings->quiet && (!difference->is_detail || differ->settings->layout);
    if (differ->json) {
        nt_json_difference(differ->json, differ->pair, difference);
    } else if (is_shown) {
        nt_append_difference(&differ->out, differ->pair, difference);
        print_out(differ);
    }
}

static void on_failure(void *context, unsigned side, uint32_t field, const struct nt_error *error)
{
    struct differ *differ = context;
    struct nt_error told = *error;
    nt_error_context(&told, "%s", differ->pair->paths[side]);
    nt_progress_clear(&differ->progress);
    nt_complain(differ->sources[side].path, &told);
    if (differ->json)
        nt_json_diff_failure(differ->json, differ->pair, side, field, error);
}

static void on_progress(void *context, uint64_t bytes, uint64_t total)
{
    struct differ *differ = context;
    differ->progress.total = total;
    nt_progress_reach(&differ->progress, bytes);
}

/* ---- data sets ---- */

static void tell_alone(struct differ *differ)
{
    const uint32_t of_no_field[NT_DIFF_SIDES] = {NT_NONE, NT_NONE};
    unsigned side = !differ->pair->datasets[0];
    struct nt_difference difference = nt_difference(NT_DIFF_SCHEMA, "dataset", of_no_field);
    difference.values[side] = (struct nt_diff_value){
        .kind = NT_DIFF_WORDS, .text = nt_text_of(differ->pair->datasets[side]->format)};
    differ->total.differences[NT_DIFF_SCHEMA]++;
    on_difference(differ, &difference);
}

/* Whether both were opened; else their failures are told. */
static bool check_opened(struct differ *differ)
{
    bool are_open = true;
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        const struct nt_error *failure = differ->pair->datasets[side]->failure;
        if (!failure)
            continue;
        differ->total.failures++;
        on_failure(differ, side, NT_NONE, failure);
        are_open = false;
    }
    return are_open;
}

static enum nt_status diff_pair(struct differ *differ, struct nt_error *error)
{
    struct nt_diff_side sides[NT_DIFF_SIDES];
    struct nt_diff_summary summary;
    if (!differ->pair->datasets[0] || !differ->pair->datasets[1]) {
        tell_alone(differ);
        return NT_OK;
    }
    if (!check_opened(differ))
        return NT_OK;
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        const struct source *source = &differ->sources[side];
        sides[side] = (struct nt_diff_side){.reader = source->vfs->reader,
                                            .dataset = differ->pair->datasets[side],
                                            .field = source->scope.field};
    }
    differ->compared++;
    nt_progress_begin(&differ->progress, 0);
    enum nt_status status = nt_diff(sides, &differ->options, &summary, error);
    nt_progress_clear(&differ->progress);
    for (int part = 0; part < NT_DIFF_PARTS; part++)
        differ->total.differences[part] += summary.differences[part];
    differ->total.failures += summary.failures;
    return status;
}

static enum nt_status diff_all(struct differ *differ, const struct nt_dataset_pair *pairs, size_t count,
                               struct nt_error *error)
{
    enum nt_status status = NT_OK;
    for (size_t i = 0; i < count && status == NT_OK; i++) {
        differ->pair = &pairs[i];
        if (differ->json) {
            nt_json_object(differ->json);
            nt_json_member_string(differ->json, "a", pairs[i].paths[0]);
            nt_json_member_string(differ->json, "b", pairs[i].paths[1]);
            nt_json_key(differ->json, "findings");
            nt_json_array(differ->json);
        }
        status = diff_pair(differ, error);
        if (differ->json) {
            nt_json_end_array(differ->json);
            nt_json_end_object(differ->json);
        }
    }
    return status;
}

/* ---- the end ---- */

/* Another layout counts where it was asked for. */
static bool is_same(const struct differ *differ)
{
    const uint64_t *differences = differ->total.differences;
    return !differ->total.failures && !differences[NT_DIFF_SCHEMA] && !differences[NT_DIFF_VALUES] &&
           !(differences[NT_DIFF_LAYOUT] && differ->settings->layout);
}

/* Whether there is something to be said: where no data set has a partner, only that. */
static bool was_compared(const struct differ *differ, int part)
{
    return differ->total.differences[part] || (differ->options.parts[part] && differ->compared);
}

/* "a.root and b.root: schema same, values differ, layout differs". */
static void print_conclusion(struct differ *differ)
{
    static const char *const verbs[NT_DIFF_PARTS] = {"differs", "differ", "differs"};
    const char *separator = ": ";
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        nt_buffer_text(&differ->out, side ? " and " : "");
        nt_append_printable(&differ->out, differ->sources[side].path, strlen(differ->sources[side].path));
    }
    for (int part = 0; part < NT_DIFF_PARTS; part++) {
        if (!was_compared(differ, part))
            continue;
        nt_buffer_format(&differ->out, "%s%s %s", separator, nt_diff_part_name((enum nt_diff_part)part),
                         differ->total.differences[part] ? verbs[part] : "same");
        separator = ", ";
    }
    if (differ->total.failures)
        nt_buffer_text(&differ->out, ", not all can be read");
    nt_buffer_byte(&differ->out, '\n');
    print_out(differ);
}

static enum nt_status diff_as_json(struct differ *differ, const struct nt_dataset_pair *pairs, size_t count,
                                   struct nt_error *error)
{
    static const char *const keys[NT_DIFF_SIDES] = {"a", "b"};
    struct nt_json json;
    differ->json = &json;
    nt_json_document(&json, &differ->out, "diff");
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        nt_json_key(&json, keys[side]);
        nt_json_object(&json);
        nt_json_member_text(&json, "file", nt_text_of(differ->sources[side].scope.file->path));
        nt_json_end_object(&json);
    }
    nt_json_key(&json, "datasets");
    nt_json_array(&json);
    enum nt_status status = diff_all(differ, pairs, count, error);
    nt_json_end_array(&json);
    nt_json_key(&json, "differences");
    nt_json_object(&json);
    for (int part = 0; part < NT_DIFF_PARTS; part++)
        if (differ->options.parts[part])
            nt_json_member_unsigned(&json, nt_diff_part_name((enum nt_diff_part)part),
                                    differ->total.differences[part]);
    nt_json_end_object(&json);
    nt_json_member_unsigned(&json, "failures", differ->total.failures);
    nt_json_member_bool(&json, "is_same", is_same(differ));
    nt_json_finish(&json);
    return status;
}

/* Quiet, a document is left out. */
static enum nt_exit_status conclude(struct differ *differ, enum nt_status status,
                                    const struct nt_error *error)
{
    if (status != NT_OK)
        nt_complain("diff", error);
    else if (!differ->json)
        print_conclusion(differ);
    else if (!differ->settings->quiet)
        print_out(differ);
    if (nt_finish_output() != NT_EXIT_OK || status != NT_OK || differ->has_failed || differ->total.failures)
        return NT_EXIT_TROUBLE;
    return is_same(differ) ? NT_EXIT_OK : NT_EXIT_DIFFERENT;
}

static enum nt_exit_status diff_scopes(struct differ *differ)
{
    const struct nt_scope scopes[NT_DIFF_SIDES] = {differ->sources[0].scope, differ->sources[1].scope};
    struct nt_arena *arena = nt_arena_new();
    struct nt_dataset_pair *pairs;
    struct nt_error error = {0};
    enum nt_status status = NT_OK;
    size_t count = 0;
    if (!arena || !nt_dataset_pairs(scopes, arena, &pairs, &count))
        status = nt_fail_memory(&error);
    if (status == NT_OK)
        status = (differ->settings->json ? diff_as_json : diff_all)(differ, pairs, count, &error);
    enum nt_exit_status result = conclude(differ, status, &error);
    nt_arena_free(arena);
    return result;
}

/* ---- sources ---- */

/* What a path of a file is: part of a file with data sets. Complains. */
static bool open_scope(struct source *source, const char *path)
{
    struct nt_error error = {0};
    uint64_t node = NT_VFS_ROOT;
    if (nt_vfs_resolve(source->vfs, path, &node, &error) != NT_OK ||
        nt_scope_open(source->vfs, node, &source->scope, &error) != NT_OK) {
        nt_complain(*path ? path : source->path, &error);
        return false;
    }
    source->is_open = true;
    if (source->scope.file)
        return true;
    nt_fail(&error, NT_INVALID, NT_NO_OFFSET, "no file with data; name a file or what is in it");
    nt_complain(*path ? path : source->path, &error);
    return false;
}

/* A field is compared with a field. */
static bool check_scopes(const struct differ *differ)
{
    struct nt_error error = {0};
    if ((differ->sources[0].scope.field == NT_NONE) == (differ->sources[1].scope.field == NT_NONE))
        return true;
    nt_fail(&error, NT_INVALID, NT_NO_OFFSET, "a field cannot be compared with a whole data set");
    nt_complain("diff", &error);
    return false;
}

static bool open_sources(struct differ *differ, const struct nt_invocation *invocation)
{
    const char *path = "";
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        struct source *source = &differ->sources[side];
        int of_path = NT_DIFF_SIDES + (int)side;
        source->path = invocation->operands[side];
        path = of_path < invocation->operand_count ? invocation->operands[of_path] : path;
        if (nt_open_tree(invocation, source->path, &source->vfs) != NT_EXIT_OK || !open_scope(source, path))
            return false;
    }
    return check_scopes(differ);
}

static void close_sources(struct differ *differ)
{
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        struct source *source = &differ->sources[side];
        if (source->is_open)
            nt_scope_close(&source->scope);
        if (source->vfs)
            nt_vfs_free(source->vfs);
    }
}

static enum nt_exit_status run(const struct nt_invocation *invocation)
{
    const struct nt_settings *settings = invocation->settings;
    bool are_all = !settings->schema && !settings->values && !settings->layout;
    struct differ differ = {.settings = settings};
    if (nt_confine_command(invocation) != NT_EXIT_OK)
        return NT_EXIT_TROUBLE;
    nt_progress_start(&differ.progress, !settings->quiet);
    differ.options = (struct nt_diff_options){
        .parts = {settings->schema || are_all, settings->values || are_all, settings->layout || are_all},
        .on_difference = on_difference,
        .on_failure = on_failure,
        .on_progress = differ.progress.is_wanted ? on_progress : NULL,
        .context = &differ};
    enum nt_exit_status result = open_sources(&differ, invocation) ? diff_scopes(&differ) : NT_EXIT_TROUBLE;
    close_sources(&differ);
    nt_buffer_deinit(&differ.out);
    return result;
}

static const struct nt_option options[] = {
    {.name = "schema",
     .kind = NT_OPTION_FLAG,
     .member = offsetof(struct nt_settings, schema),
     .help = "compare the fields with their types and descriptions; with no such option, all three"},
    {.name = "values",
     .kind = NT_OPTION_FLAG,
     .member = offsetof(struct nt_settings, values),
     .help = "compare the numbers of rows and all elements"},
    {.name = "layout",
     .kind = NT_OPTION_FLAG,
     .member = offsetof(struct nt_settings, layout),
     .help = "compare how it is stored, each column; a difference counts"},
    {.name = "json",
     .kind = NT_OPTION_FLAG,
     .member = offsetof(struct nt_settings, json),
     .help = "a JSON document"},
    {.letter = 'q',
     .name = "quiet",
     .kind = NT_OPTION_FLAG,
     .member = offsetof(struct nt_settings, quiet),
     .help = "only one line, and the exit status"},
    {0},
};

const struct nt_command nt_command_diff = {
    .name = "diff",
    .operands = "A B [PATH [PATH_IN_B]]",
    .help = "what differs between two files: schema, values, layout",
    .fewest = 2,
    .most = 4,
    .sources = 2,
    .options = options,
    .compares = true,
    .run = run,
};
