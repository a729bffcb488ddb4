/* SPDX-License-Identifier: MIT
 *
 * What lies beneath a data set's folder now, where its server was asked before.
 */
#ifndef NT_FORMAT_LANCE_DATASET_NOW_H
#define NT_FORMAT_LANCE_DATASET_NOW_H

#include "core/base/buffer.h"
#include "core/io/folder.h"

/* nt_folder_refresh of a name that was put together. */
static inline enum nt_status nt_lance_refresh(struct nt_folder *folder, const struct nt_buffer *name,
                                              struct nt_error *error)
{
    return name->failed ? nt_fail_memory(error) : nt_folder_refresh(folder, name->bytes, NULL, error);
}

static inline enum nt_status nt_lance_has_now(struct nt_folder *folder, const struct nt_buffer *name,
                                              bool *has_ret, struct nt_error *error)
{
    enum nt_status status = nt_lance_refresh(folder, name, error);
    return status == NT_OK ? nt_folder_has(folder, name->bytes, has_ret, error) : status;
}

#endif
