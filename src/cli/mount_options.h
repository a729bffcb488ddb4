/* SPDX-License-Identifier: MIT
 *
 * The options of ntuplefs beside those of a tree, a table for each way in which they are written.
 */
#ifndef NT_CLI_MOUNT_OPTIONS_H
#define NT_CLI_MOUNT_OPTIONS_H

#include "cli/settings.h"

/* In front of operands: -f, --foreground. */
extern const struct nt_option nt_mount_switches[];

/* The same where mount(8) has called the program as its helper: `mount.ntuplefs SOURCE MOUNTPOINT [-sfnv]
 * [-t TYPE] [-o LIST]`, whose letters mean other things. */
extern const struct nt_option nt_helper_switches[];

/* After -o; and there what mount(8) hands over and what changes nothing here. */
extern const struct nt_option nt_mount_options[], nt_accepted_options[];

#endif
