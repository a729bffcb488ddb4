/* SPDX-License-Identifier: MIT
 *
 * In: the names in _versions/, of the data set or of a branch. Out: versions. A manifest is called N.manifest, or, as newer writers have it, by
 * 2^64 - 1 - N in 20 digits, so that a list in the order of names begins with the latest. Names that are neither are
 * those of manifests apart from the history, dN.manifest, which are found by their numbers alone, or of what a writer left behind.
 */
#include "formats/lance/dataset/versions.h"

#include <inttypes.h>
#include <string.h>

#include "formats/lance/dataset/now.h"

enum { INVERTED_DIGITS = 20 };
static const uint64_t detached = UINT64_C(1) << 63; /* of the numbers of versions apart from the history */

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

bool nt_lance_parse_version(const char *text, uint64_t *number_ret)
{
    return take_number(text, strlen(text), false, number_ret);
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

void nt_lance_append_manifest_name(struct nt_buffer *out, const struct nt_lance_version *version)
{
    nt_buffer_format(out, "%s" NT_LANCE_VERSIONS "/%s%0*" PRIu64 ".manifest", version->root,
                     version->is_detached ? "d" : "", version->is_inverted ? INVERTED_DIGITS : 1,
                     version->is_inverted ? UINT64_MAX - version->number : version->number);
}

/* ---- all of them ---- */

struct walk {
    const char *root;
    nt_lance_visit_version *visit;
    void *context;
};

static enum nt_status visit_name(void *context, const struct nt_folder_entry *entry, struct nt_error *error)
{
    const struct walk *walk = context;
    struct nt_lance_version version = {.root = walk->root};
    return read_name(entry->name, &version) ? walk->visit(walk->context, &version, error) : NT_OK;
}

enum nt_status nt_lance_each_version(struct nt_folder *folder, const char *root,
                                     nt_lance_visit_version *visit, void *context, struct nt_error *error)
{
    struct walk walk = {root, visit, context};
    struct nt_buffer name = {0};
    nt_buffer_format(&name, "%s" NT_LANCE_VERSIONS, root);
    enum nt_status status = nt_lance_refresh(folder, &name, error);
    if (status == NT_OK)
        status = nt_folder_list(folder, name.bytes, visit_name, &walk, error);
    nt_buffer_deinit(&name);
    return status;
}

/* ---- the first and the last ---- */

struct search {
    struct nt_lance_version first, latest;
    uint64_t count;
};

static enum nt_status note_version(void *context, const struct nt_lance_version *version,
                                   struct nt_error *error)
{
    struct search *search = context;
    (void)error;
    bool is_later = !search->count || version->number > search->latest.number ||
                    (version->number == search->latest.number && version->is_inverted);
    if (is_later)
        search->latest = *version;
    if (!search->count || version->number < search->first.number)
        search->first = *version;
    search->count++;
    return NT_OK;
}

static enum nt_status search_all(struct nt_folder *folder, const char *root, struct search *search,
                                 struct nt_error *error)
{
    *search = (struct search){.count = 0};
    enum nt_status status = nt_lance_each_version(folder, root, note_version, search, error);
    if (status == NT_OK && !search->count)
        status = nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "%s/%s" NT_LANCE_VERSIONS ": no manifest in it",
                         folder->path, root);
    return status;
}

enum nt_status nt_lance_find_latest(struct nt_folder *folder, const char *root,
                                    struct nt_lance_version *version_ret, struct nt_error *error)
{
    struct search search;
    enum nt_status status = search_all(folder, root, &search, error);
    *version_ret = search.latest;
    return status;
}

static enum nt_status has_manifest(struct nt_folder *folder, const struct nt_lance_version *version,
                                   bool *has_ret, struct nt_error *error)
{
    struct nt_buffer name = {0};
    nt_lance_append_manifest_name(&name, version);
    enum nt_status status = nt_lance_has_now(folder, &name, has_ret, error);
    nt_buffer_deinit(&name);
    return status;
}

/* Without a walk where it is there: histories are long. */
static enum nt_status find_name(struct nt_folder *folder, struct nt_lance_version *version,
                                bool *is_found_ret, struct nt_error *error)
{
    version->is_detached = (version->number & detached) != 0;
    version->is_inverted = !version->is_detached;
    enum nt_status status = has_manifest(folder, version, is_found_ret, error);
    if (status != NT_OK || *is_found_ret || version->is_detached)
        return status;
    version->is_inverted = false;
    return has_manifest(folder, version, is_found_ret, error);
}

enum nt_status nt_lance_find_number(struct nt_folder *folder, const char *root, uint64_t number,
                                    struct nt_lance_version *version_ret, struct nt_error *error)
{
    struct search search;
    bool is_found = false;
    *version_ret = (struct nt_lance_version){.root = root, .number = number};
    enum nt_status status = find_name(folder, version_ret, &is_found, error);
    if (status != NT_OK || is_found)
        return status;
    status = search_all(folder, root, &search, error);
    if (status == NT_OK)
        status =
            nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET,
                    "there is no version %" PRIu64 "; there are %" PRIu64 " from %" PRIu64 " to %" PRIu64,
                    number, search.count, search.first.number, search.latest.number);
    return status;
}
