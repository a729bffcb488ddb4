/* SPDX-License-Identifier: MIT
 *
 * Replaces the chain in builds without it: calls fail with a hint how to enable it. Functions that
 * take a list are never called, because no list exists.
 */
#include "chain/chain.h"

static enum nt_status refuse(struct nt_error *error)
{
    return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "chains are not built in (-Dchain=enabled)");
}

enum nt_status nt_chain_list_new(const char *const *operands, size_t count, bool allow_missing,
                                 struct nt_chain_list **list_ret, struct nt_error *error)
{
    return refuse(error);
}

enum nt_status nt_chain_list_expand_remote(struct nt_chain_list *list, struct nt_fetcher *fetcher,
                                           struct nt_error *error)
{
    return refuse(error);
}

void nt_chain_list_free(struct nt_chain_list *list)
{
}

enum nt_status nt_chain_index_read(const char *path, struct nt_chain_index **index_ret,
                                   struct nt_error *error)
{
    return refuse(error);
}

void nt_chain_index_free(struct nt_chain_index *index)
{
}

enum nt_status nt_chain_open(const struct nt_chain_list *list, const struct nt_chain_options *chain_options,
                             const struct nt_open_options *options, struct nt_file **file_ret,
                             struct nt_error *error)
{
    return refuse(error);
}

enum nt_status nt_file_open_chain(const char *const *names, size_t count,
                                  const struct nt_open_options *options, unsigned flags,
                                  struct nt_file **file_ret, struct nt_error *error)
{
    return refuse(error);
}

enum nt_status nt_chain_check_members(const struct nt_file *file, struct nt_error *error)
{
    return NT_OK;
}

enum nt_status nt_file_check_skipped(const struct nt_file *file, struct nt_error *error)
{
    return NT_OK;
}

bool nt_is_chain(const struct nt_file *file)
{
    return false;
}

const struct nt_chain_slice *nt_chain_slice(const struct nt_dataset *dataset, uint32_t number)
{
    return NULL;
}

void nt_chain_put_slice_dataset(struct nt_json *json, const struct nt_chain_slice *slice)
{
}

uint32_t nt_chain_file_count(const struct nt_file *chain)
{
    return 0;
}

void nt_chain_write_file(const struct nt_dataset *dataset, uint32_t number, struct nt_json *json)
{
}
