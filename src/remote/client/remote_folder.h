/* SPDX-License-Identifier: MIT
 *
 * Addresses that lead to folders.
 */
#ifndef NT_IO_REMOTE_FOLDER_H
#define NT_IO_REMOTE_FOLDER_H

#include "core/io/folder.h"

struct nt_fetcher;

/* The folder at an address, as it is now: what is in it is asked for once, when it is first looked at, and what is in its folders likewise. NT_NOT_FOUND,
 * NT_UNSUPPORTED where its server tells of no folders; else as nt_source_open_address. `fetcher` NULL: one of its own. */
enum nt_status nt_folder_open_address(const char *address, struct nt_fetcher *fetcher,
                                      struct nt_folder **folder_ret, struct nt_error *error);

/* What an address leads to: a file, or a folder, as a source. That it is a folder a slash at its end says; else what is no file is tried as one. */
enum nt_status nt_source_open_remote(const char *address, struct nt_fetcher *fetcher,
                                     struct nt_source **source_ret, struct nt_error *error);

#endif
