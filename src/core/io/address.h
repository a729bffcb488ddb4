/* SPDX-License-Identifier: MIT
 *
 * Addresses of remote files (URLs): recognises, redacts, joins and splits them.
 */
#pragma once

#include <ntuple/error.h>

/* Why a path cannot be opened: an errno, or advice for an address (NT_UNSUPPORTED). */
enum nt_status nt_fail_path(struct nt_error *error, int system_error, const char *path);

/* Is it an address that can be read remotely? */
bool nt_is_address(const char *path);
/* The printable form of an address: without possible secrets (user and password, query, fragment).
 * Other paths are unchanged. From malloc; NULL without memory. */
char *nt_address_redact(const char *path);
/* Is an address a directory's (trailing slash)? The directory's address without it. An address below a
 * directory, from names separated by slashes, percent-encoded if addresses are. From malloc; NULL without
 * memory. */
bool nt_address_is_folder(const char *address);
char *nt_address_folder_of(const char *address);
char *nt_address_below(const char *folder, const char *name, bool is_folder);
/* Does it address a dataset with objects (nt_source_open_objects)? Ignores trailing slashes. */
bool nt_address_is_store(const char *address);
/* Does it name the server? */
bool nt_address_has_host(const char *address);
/* Does the path of an address contain * ? or [] as wildcards? ('?' that begins a query and the brackets
 * of a host are none.) Splits it into the directory before the first wildcard and the pattern below it,
 * with decoded names and \ before literal characters. Both from malloc; false without memory. */
bool nt_address_is_pattern(const char *address);
/* Does its query begin with '/', so that the '?' was probably meant as a wildcard? */
bool nt_address_misuses_wildcard(const char *address);
bool nt_address_split_pattern(const char *address, char **folder_ret, char **pattern_ret);
/* The entry of NT_FETCH_ALLOW for a source at this address: its file or directory, of a pattern the directory
 * before the first wildcard; without query and fragment. From malloc; NULL without memory. */
char *nt_address_allowed(const char *address);
/* NT_INVALID for an address with a user or a password, which process lists would reveal. */
enum nt_status nt_address_check(const char *address, struct nt_error *error);
