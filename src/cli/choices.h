/* SPDX-License-Identifier: MIT
 *
 * The entries that the options select= and entries= choose.
 */
#ifndef NT_CLI_CHOICES_H
#define NT_CLI_CHOICES_H

#include "cli/settings.h"

/* Zeros: none, not opened. */
struct nt_choices {
    struct nt_vfs_choice *items;
    struct nt_choice **owned; /* of each of them */
    size_t count;
};

/* Read what the options name, into zeros. The files are strangers': to be called in the sandbox. */
enum nt_status nt_choices_open(const struct nt_settings *settings, struct nt_choices *choices,
                               struct nt_error *error);
void nt_choices_deinit(struct nt_choices *choices);

/* The file that a value of select= names, behind the colon. */
const char *nt_select_path(const char *value);

#endif
