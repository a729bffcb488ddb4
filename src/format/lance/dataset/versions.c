/* SPDX-License-Identifier: MIT
 *
 * In: the names in _versions/. Out: versions. A manifest is called N.manifest, or, as newer writers have it, by
 * 2^64 - 1 - N in 20 digits, so that a list in the order of names begins with the latest. Names that are neither are
 * those of manifests apart from the history ("d...") or of what a writer left behind.
 */
#include "format/lance/dataset/versions.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { INVERTED_DIGITS = 20 };

/* Digits alone, as they are written: no zeros in front. */
static bool take_number(const char *digits, size_t count, bool is_padded, uint64_t *number_ret)
{
    uint64_t number = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t digit = (uint64_t)(digits[i] - '0');
        if (digits[i] < '0' || digits[i] > '9' || number > (UINT64_MAX - digit) / 10)
            return false;
        number = number * 10 + digit;
    }
    *number_ret = number;
    return count && (is_padded || digits[0] != '0' || count == 1);
}

static bool read_name(const char *name, struct nt_lance_version *version)
{
    const char *end = strstr(name, ".manifest");
    size_t digits = end ? (size_t)(end - name) : 0;
    if (!end || strcmp(end, ".manifest"))
        return false;
    version->is_inverted = digits == INVERTED_DIGITS;
    if (!take_number(name, digits, version->is_inverted, &version->number))
        return false;
    if (version->is_inverted)
        version->number = UINT64_MAX - version->number;
    return true;
}

struct search {
    struct nt_lance_version latest;
    bool is_found;
};

static enum nt_status visit(void *context, const struct nt_folder_entry *entry, struct nt_error *error)
{
    struct search *search = context;
    struct nt_lance_version version;
    (void)error;
    if (!read_name(entry->name, &version))
        return NT_OK;
    bool is_later = !search->is_found || version.number > search->latest.number ||
                    (version.number == search->latest.number && version.is_inverted);
    if (is_later)
        search->latest = version;
    search->is_found = true;
    return NT_OK;
}

enum nt_status nt_lance_find_latest(struct nt_folder *folder, struct nt_lance_version *version_ret,
                                    struct nt_error *error)
{
    struct search search = {.is_found = false};
    enum nt_status status = nt_folder_list(folder, NT_LANCE_VERSIONS, visit, &search, error);
    if (status == NT_OK && !search.is_found)
        status = nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "%s/" NT_LANCE_VERSIONS ": no manifest in it",
                         folder->path);
    *version_ret = search.latest;
    return status;
}

const char *nt_lance_manifest_name(struct nt_arena *arena, const struct nt_lance_version *version)
{
    if (version->is_inverted)
        return nt_arena_format(arena, NT_LANCE_VERSIONS "/%0*" PRIu64 ".manifest", INVERTED_DIGITS,
                               UINT64_MAX - version->number);
    return nt_arena_format(arena, NT_LANCE_VERSIONS "/%" PRIu64 ".manifest", version->number);
}
