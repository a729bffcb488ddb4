/* SPDX-License-Identifier: MIT
 *
 * In: "7", a tag, a branch, "branch:7", or nothing. Out: the version that is meant.
 */
#include "formats/lance/dataset/choice.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/text.h"
#include "formats/lance/dataset/refs.h"
#include "formats/lance/dataset/versions.h"

struct choosing {
    struct nt_folder *folder;
    struct nt_arena *arena;
    struct nt_lance_choice *choice;
    struct nt_error *error;
};

static enum nt_status set_watched(const struct choosing *c, const char *watched)
{
    c->choice->watched = watched;
    return watched ? NT_OK : nt_fail_memory(c->error);
}

/* ---- a number, the latest ---- */

static enum nt_status set_branch(const struct choosing *c, const char *branch, const char **root_ret)
{
    c->choice->branch = branch;
    *root_ret = nt_lance_root_of(c->arena, branch);
    return *root_ret ? NT_OK : nt_fail_memory(c->error);
}

static enum nt_status take_latest(const struct choosing *c, const char *branch)
{
    const char *root;
    enum nt_status status = set_branch(c, branch, &root);
    if (status == NT_OK)
        status = nt_lance_find_latest(c->folder, root, &c->choice->version, c->error);
    return status == NT_OK ? set_watched(c, nt_arena_format(c->arena, "%s" NT_LANCE_VERSIONS, root)) : status;
}

static enum nt_status take_number(const struct choosing *c, const char *branch, uint64_t number)
{
    const char *root;
    struct nt_buffer name = {0};
    enum nt_status status = set_branch(c, branch, &root);
    if (status == NT_OK)
        status = nt_lance_find_number(c->folder, root, number, &c->choice->version, c->error);
    if (status != NT_OK)
        return status;
    nt_lance_append_manifest_name(&name, &c->choice->version);
    return set_watched(c, nt_buffer_settle(&name, c->arena));
}

/* ---- names ---- */

/* What there is, for who asked for what is not. */
struct names {
    struct nt_buffer text;
    unsigned count;
};

static enum nt_status tell_name(void *context, const char *name, struct nt_error *error)
{
    enum { MOST_TOLD = 16 };
    struct names *names = context;
    (void)error;
    if (names->count < MOST_TOLD)
        nt_buffer_format(&names->text, "%s%s", names->count ? ", " : "", name);
    else if (names->count == MOST_TOLD)
        nt_buffer_text(&names->text, ", …");
    names->count++;
    return NT_OK;
}

static enum nt_status refuse_name(const struct choosing *c, const char *wanted)
{
    struct names tags = {.count = 0}, branches = {.count = 0};
    enum nt_status status = nt_lance_each_ref(c->folder, NT_LANCE_TAGS, tell_name, &tags, c->error);
    if (status == NT_OK)
        status = nt_lance_each_ref(c->folder, NT_LANCE_BRANCHES, tell_name, &branches, c->error);
    if (status == NT_OK)
        status = nt_fail(c->error, NT_NOT_FOUND, NT_NO_OFFSET,
                         "there is no version, tag or branch '%s'; tags: %s; branches: %s", wanted,
                         tags.count ? nt_buffer_string(&tags.text) : "none",
                         branches.count ? nt_buffer_string(&branches.text) : "none");
    nt_buffer_deinit(&tags.text);
    nt_buffer_deinit(&branches.text);
    return status;
}

static enum nt_status check_name(const struct choosing *c, const char *name)
{
    return nt_folder_is_name_below(nt_text_of(name))
               ? NT_OK
               : nt_fail(c->error, NT_INVALID, NT_NO_OFFSET,
                         "'%s' is a path and no name of a version, tag or branch", name);
}

static enum nt_status take_tag(const struct choosing *c, const char *name)
{
    struct nt_lance_tag tag;
    enum nt_status status = nt_lance_read_tag(c->folder, name, c->arena, &tag, c->error);
    if (status != NT_OK)
        return status;
    status = take_number(c, tag.branch, tag.version);
    if (status == NT_NOT_FOUND) /* the tag is there all the same */
        status = nt_fail(c->error, NT_CORRUPT, NT_NO_OFFSET,
                         "tag '%s' names version %" PRIu64 ", which is not there", name, tag.version);
    return status == NT_OK ? set_watched(c, nt_arena_format(c->arena, NT_LANCE_TAGS "/%s.json", name))
                           : status;
}

static enum nt_status take_branch(const struct choosing *c, const char *name)
{
    bool is_there;
    const char *branch = nt_arena_copy(c->arena, name, strlen(name));
    enum nt_status status =
        branch ? nt_lance_has_branch(c->folder, name, &is_there, c->error) : nt_fail_memory(c->error);
    if (status == NT_OK && !is_there)
        return refuse_name(c, name);
    return status == NT_OK ? take_latest(c, branch) : status;
}

static enum nt_status take_name(const struct choosing *c, const char *name)
{
    enum nt_status status = check_name(c, name);
    if (status == NT_OK)
        status = strchr(name, '/') ? NT_NOT_FOUND : take_tag(c, name); /* a branch's may have them */
    return status == NT_NOT_FOUND ? take_branch(c, name) : status;
}

/* "BRANCH:NUMBER" */
static enum nt_status take_of_branch(const struct choosing *c, const char *wanted, const char *colon,
                                     uint64_t number)
{
    const char *branch = nt_arena_copy(c->arena, wanted, (size_t)(colon - wanted));
    enum nt_status status = branch ? check_name(c, branch) : nt_fail_memory(c->error);
    return status == NT_OK ? take_number(c, branch, number) : status;
}

enum nt_status nt_lance_choose_version(struct nt_folder *folder, const char *wanted, struct nt_arena *arena,
                                       struct nt_lance_choice *choice_ret, struct nt_error *error)
{
    const struct choosing c = {folder, arena, choice_ret, error};
    uint64_t number;
    if (!wanted)
        return take_latest(&c, "");
    const char *colon = strrchr(wanted, ':');
    if (colon && nt_lance_parse_version(colon + 1, &number))
        return take_of_branch(&c, wanted, colon, number);
    bool is_number = nt_lance_parse_version(wanted, &number);
    enum nt_status status = is_number ? take_number(&c, "", number) : take_name(&c, wanted);
    if (!is_number || status != NT_NOT_FOUND)
        return status;
    struct nt_error failure = {0}; /* a tag may be called by a number, too */
    enum nt_status of_tag = take_tag(&(struct choosing){folder, arena, choice_ret, &failure}, wanted);
    if (of_tag == NT_NOT_FOUND)
        return status;
    return of_tag == NT_OK ? NT_OK : nt_fail_with(error, &failure);
}

/* ---- for who shows versions ---- */

enum nt_status nt_lance_find_version(struct nt_folder *folder, const char *wanted,
                                     struct nt_dataset_version *version_ret, struct nt_error *error)
{
    struct nt_lance_choice choice;
    struct nt_buffer series = {0}, file = {0};
    struct nt_arena *arena = nt_arena_new();
    enum nt_status status =
        arena ? nt_lance_choose_version(folder, wanted, arena, &choice, error) : nt_fail_memory(error);
    *version_ret = (struct nt_dataset_version){.number = 0};
    if (status == NT_OK) {
        nt_buffer_format(&series, "%s%s", choice.branch, *choice.branch ? ":" : "");
        nt_lance_append_manifest_name(&file, &choice.version);
        *version_ret = (struct nt_dataset_version){.series = series.bytes,
                                                   .number = choice.version.number,
                                                   .file = file.bytes,
                                                   .watched = {strdup(choice.watched)}};
        if (series.failed || file.failed || !version_ret->watched[0]) {
            nt_version_deinit(version_ret);
            status = nt_fail_memory(error);
        }
    }
    nt_arena_free(arena);
    return status;
}
