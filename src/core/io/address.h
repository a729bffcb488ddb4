/* SPDX-License-Identifier: MIT
 *
 * Addresses of remote files (URLs): recognizing, redacting, joining and splitting them.
 */
#ifndef NT_CORE_IO_ADDRESS_H
#define NT_CORE_IO_ADDRESS_H

#include <ntuple/error.h>

#include <stdbool.h>

/* Why a path could not be opened: the system's error; of an address that is not read, what to do instead (NT_UNSUPPORTED). */
enum nt_status nt_fail_path(struct nt_error *error, int system_error, const char *path);

/* Whether it is the address of a file that is read from where it is. */
bool nt_is_address(const char *path);
/* How an address is called wherever it is seen: without what may be secret in it (user and password, query, fragment).
 * Any other path as it is. From malloc; NULL without memory. */
char *nt_address_redact(const char *path);
/* Whether an address ends with a slash; the address of the same folder without it; of something beneath, by its name or names with slashes
 * between, with a slash behind a folder's: percent-encoded where addresses are. From malloc; NULL without memory. */
bool nt_address_is_folder(const char *address);
char *nt_address_folder_of(const char *address);
char *nt_address_below(const char *folder, const char *name, bool is_folder);
/* Whether it is that of a dataset whose parts are objects beneath it (nt_source_open_objects). Slashes at its end mean nothing. */
bool nt_address_is_store(const char *address);
/* Whether it names the server itself. */
bool nt_address_has_host(const char *address);
/* Whether names with * ? or [] stand in the path of an address, as far as these may stand for themselves there ('?' begins a query, and the
 * brackets of a host are none). Of such an address the folder in front of the first one, and the pattern of what lies below: of names as
 * they are called, \ before what is meant as it is. Both from malloc; false without memory. */
bool nt_address_is_pattern(const char *address);
bool nt_address_split_pattern(const char *address, char **folder_ret, char **pattern_ret);
/* What may be asked for of a source with this address (NT_FETCH_ALLOW): the file or folder that it names, of a pattern the folder in front
 * of the first wildcard; what is behind the path is not in it. From malloc; NULL without memory. */
char *nt_address_allowed(const char *address);
/* NT_INVALID where it has a user or a password: who lists processes would see them. */
enum nt_status nt_address_check(const char *address, struct nt_error *error);

#endif
