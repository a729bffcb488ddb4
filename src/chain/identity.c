/* SPDX-License-Identifier: MIT
 *
 * Identities of members, which show whether a member changed after the index was made: the attributes of its
 * file, or, for a dataset in a directory, of the file that has its version. The directory itself does not
 * change with its dataset.
 */
#include "chain/chain.h"

#include <stdio.h>

#include "formats/formats.h"

struct nt_chain_identity nt_chain_identity_of(const struct stat *found)
{
    struct nt_chain_identity identity = {.bytes = (uint64_t)found->st_size, .inode = found->st_ino};
    nt_format_exact_time(&found->st_mtim, identity.modified);
    return identity;
}

static enum nt_status identify_source(struct nt_source *source, struct nt_chain_identity *identity_ret,
                                      struct nt_error *error)
{
    struct stat found;
    struct nt_remote_names names;
    NT_TRY(nt_source_stat(source, &found, error));
    *identity_ret = nt_chain_identity_of(&found);
    identity_ret->has_validator = nt_source_remote(source, &names);
    if (identity_ret->has_validator)
        memcpy(identity_ret->validator, names.validator, sizeof(names.validator));
    return NT_OK;
}

static bool identify_version(struct nt_folder *folder, const struct nt_dataset_version *version,
                             struct nt_chain_identity *identity_ret)
{
    NT_CLEANUP(nt_source_close_at) struct nt_source *source = NULL;
    uint64_t size; /* is found when the file is opened */
    return version->file && nt_folder_open_file_lazily(folder, version->file, &source, NULL) == NT_OK &&
           nt_source_size(source, &size, NULL) == NT_OK &&
           identify_source(source, identity_ret, NULL) == NT_OK &&
           snprintf(identity_ret->state, NT_STATE_TEXT, "%s%" PRIu64, version->series, version->number) <
               NT_STATE_TEXT;
}

bool nt_chain_identify_dataset(struct nt_folder *folder, const char *requested,
                               struct nt_open_options *options, struct nt_chain_identity *identity_ret)
{
    struct nt_dataset_version version;
    struct nt_open_options of_version = *options;
    of_version.version = requested;
    if (nt_find_version_in(folder, &of_version, &version, NULL) != NT_OK)
        return false;
    bool is_known = identify_version(folder, &version, identity_ret);
    if (is_known && !version.is_state)
        options->version = identity_ret->state;
    nt_version_deinit(&version);
    return is_known;
}

enum nt_status nt_chain_identify_member(const struct nt_chain_member *member,
                                        struct nt_chain_identity *identity_ret, struct nt_error *error)
{
    if (!member->file->source->folder)
        return identify_source(member->file->source, identity_ret, error);
    *identity_ret = member->identity ? *member->identity : (struct nt_chain_identity){.has_validator = true};
    return NT_OK;
}

static void append_identity(struct nt_buffer *text, const struct nt_indexed_file *file)
{
    if (file->state)
        nt_buffer_append_format(text, "state %s, ", file->state);
    nt_buffer_append_format(text, "%" PRIu64 " bytes of %s, ", file->bytes, file->modified);
    if (file->validator)
        nt_buffer_append_format(text, "version %s", file->validator);
    else
        nt_buffer_append_format(text, "inode %" PRIu64, file->inode);
}

/* The bytes of the ETag in a validator, which has an ETag, a time, or both; see nt_validators_write(). */
static size_t tag_bytes(const char *validator)
{
    const char *end = *validator == '"' ? strchr(validator + 1, '"') : NULL;
    return end ? (size_t)(end - validator) + 1 : 0;
}

static const char *time_of(const char *validator)
{
    const char *time = validator + tag_bytes(validator);
    return time + strspn(time, " ");
}

/* Servers omit the ETag from listings for a moment after a file was written. So an ETag, or a time, that only
 * one of the two has is not compared. One of them must be in both. */
static bool is_same_version(const char *one, const char *other)
{
    size_t tag = tag_bytes(one), other_tag = tag_bytes(other);
    const char *time = time_of(one), *other_time = time_of(other);
    bool has_tags = tag && other_tag, has_times = *time && *other_time;
    if (has_tags && (tag != other_tag || memcmp(one, other, tag) != 0))
        return false;
    return has_times ? strcmp(time, other_time) == 0 : has_tags || strcmp(one, other) == 0;
}

enum nt_status nt_indexed_file_check(const struct nt_indexed_file *file,
                                     const struct nt_chain_identity *found, struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer expected_text = {0}, found_text = {0};
    const struct nt_indexed_file now = {.state = *found->state ? found->state : NULL,
                                        .bytes = found->bytes,
                                        .inode = found->inode,
                                        .modified = found->modified,
                                        .validator = found->has_validator ? found->validator : NULL};
    bool is_same = file->bytes == now.bytes && strcmp(file->state ? file->state : "", found->state) == 0;
    if (now.validator)
        is_same &= file->validator && is_same_version(file->validator, now.validator);
    else
        is_same &= strcmp(file->modified, now.modified) == 0 && (file->validator || file->inode == now.inode);
    if (is_same)
        return NT_OK;
    append_identity(&expected_text, file);
    append_identity(&found_text, &now);
    nt_fail_mismatch(error, NT_CHANGED, NT_NO_OFFSET, "it was replaced or modified since the index was made",
                     nt_buffer_string(&expected_text), nt_buffer_string(&found_text));
    nt_error_context(error, "%s", file->path);
    return NT_CHANGED;
}
