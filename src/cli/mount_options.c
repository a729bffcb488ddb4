/* SPDX-License-Identifier: MIT
 *
 * In: the members of the settings. Out: the options that set them for a mount, a row each. What mount(8) hands
 * over stands in mount(8), "FILESYSTEM-INDEPENDENT MOUNT OPTIONS" and "EXTERNAL HELPERS", and in fstab(5);
 * mount.fuse3(8) adds dev and suid where root mounts.
 */
#include "cli/settings.h"

#include "fuse/settings.h"

#define MEMBER(name) offsetof(struct nt_settings, name)

const char nt_mount_operands[] = "SOURCE... MOUNTPOINT";

static const char *const direct_io_choices[] = {
    [NT_DIRECT_IO_AUTO] = "auto", [NT_DIRECT_IO_ON] = "on", [NT_DIRECT_IO_OFF] = "off", NULL};

static const char *const broken_choices[] = {"refuse", "show", NULL};

static const char *const sandbox_choices[] = {
    [NT_CONFINEMENT_ON] = "on", [NT_CONFINEMENT_OFF] = "off", [NT_CONFINEMENT_STRICT] = "strict", NULL};

const struct nt_option nt_mount_switches[] = {
    {.letter = 'f',
     .name = "foreground",
     .kind = NT_OPTION_FLAG,
     .member = MEMBER(foreground),
     .help = "stay in the foreground; messages to stderr"},
    {.letter = 'd',
     .name = "debug",
     .kind = NT_OPTION_FLAG,
     .member = MEMBER(debug),
     .help = "the same, and print every request"},
    {.letter = 's',
     .name = "single",
     .kind = NT_OPTION_FLAG,
     .member = MEMBER(single_threaded),
     .help = "serve one request at a time"},
    {.letter = 'o',
     .name = "options",
     .kind = NT_OPTION_LIST,
     .argument = "NAME[=VALUE],...",
     .help = "options as mount(8) passes them"},
    {.letter = 'h',
     .name = "help",
     .kind = NT_OPTION_FLAG,
     .member = MEMBER(help),
     .help = "print this text"},
    {.letter = 'V',
     .name = "version",
     .kind = NT_OPTION_FLAG,
     .member = MEMBER(version),
     .help = "print the versions of ntuplefs, libfuse and the libraries for deflate and lzma"},
    {0},
};

const struct nt_option nt_helper_switches[] = {
    {.letter = 'f',
     .name = "fake",
     .kind = NT_OPTION_FLAG,
     .member = MEMBER(is_fake),
     .help = "open the sources, but do not mount"},
    {.letter = 's',
     .name = "sloppy",
     .kind = NT_OPTION_PASS,
     .member = MEMBER(passed),
     .help = "accepted; unknown options are refused all the same"},
    {.letter = 'n',
     .name = "no-mtab",
     .kind = NT_OPTION_PASS,
     .member = MEMBER(passed),
     .help = "accepted; there is no such file"},
    {.letter = 'v',
     .name = "verbose",
     .kind = NT_OPTION_PASS,
     .member = MEMBER(passed),
     .help = "accepted; there is nothing more to say"},
    {.letter = 't',
     .name = "type",
     .kind = NT_OPTION_TEXT,
     .member = MEMBER(type),
     .argument = "TYPE",
     .help = "accepted; it is known"},
    {.letter = 'o',
     .name = "options",
     .kind = NT_OPTION_LIST,
     .argument = "NAME[=VALUE],...",
     .help = "options as in fstab(5)"},
    {0},
};

/* For other kinds of file systems, of interest to mount(8) alone, or against what is always so here: the mount
 * is read-only, nosuid and nodev. */
static const char *const accepted[] = {
    "rw",          "dev",           "suid",     "exec",       "sync",        "async",      "dirsync",
    "mand",        "nomand",        "atime",    "diratime",   "nodiratime",  "relatime",   "norelatime",
    "strictatime", "nostrictatime", "lazytime", "nolazytime", "iversion",    "noiversion", "silent",
    "loud",        "sub",           "nosub",    "symfollow",  "nosymfollow", "defaults",   "auto",
    "noauto",      "user",          "nouser",   "users",      "nousers",     "owner",      "noowner",
    "group",       "nogroup",       "nofail",   "_netdev",    "comment",     "helper",     "uhelper",
    "x-*",         "X-*",           NULL};

const struct nt_option nt_mount_options[] = {
    {.name = "allow_other",
     .kind = NT_OPTION_FLAG,
     .member = MEMBER(allow_other),
     .help = "other users may use the mount, as far as the sources' modes let them"},
    {.name = "uid",
     .kind = NT_OPTION_ID,
     .member = MEMBER(uid),
     .argument = "NUMBER",
     .help = "show all files as this user's (default: the source's owner)"},
    {.name = "gid",
     .kind = NT_OPTION_ID,
     .member = MEMBER(gid),
     .argument = "NUMBER",
     .help = "show all files as this group's (default: the source's group)"},
    {.name = "idle",
     .kind = NT_OPTION_NUMBER,
     .member = MEMBER(idle_seconds),
     .argument = "SECONDS",
     .help = "unmount when nobody has used the mount for so long"},
    {.name = "broken",
     .kind = NT_OPTION_CHOICE,
     .member = MEMBER(broken),
     .argument = "refuse|show",
     .choices = broken_choices,
     .help = "show: of files of which no data set opens, what is stored; and of ROOT files without any"},
    {.name = "sandbox",
     .kind = NT_OPTION_CHOICE,
     .member = MEMBER(sandbox),
     .argument = "on|off|strict",
     .choices = sandbox_choices,
     .help = "strict: refuse where the kernel lacks a part of what confines the program to its sources"},
    {.name = "auto_unmount",
     .kind = NT_OPTION_FLAG,
     .member = MEMBER(auto_unmount),
     .help = "unmount also when the program is killed"},
    {.name = "force",
     .kind = NT_OPTION_FLAG,
     .member = MEMBER(force),
     .help = "first unmount a mount of ntuplefs whose program has died"},
    {.name = "direct_io",
     .kind = NT_OPTION_CHOICE,
     .member = MEMBER(direct_io),
     .argument = "auto|on|off",
     .choices = direct_io_choices,
     .help = "on: past the kernel's page cache"},
    {.name = "fsname",
     .kind = NT_OPTION_TEXT,
     .member = MEMBER(fsname),
     .argument = "NAME",
     .help = "the source that mount(8) shows (default: its absolute path)"},
    {.name = "subtype",
     .kind = NT_OPTION_TEXT,
     .member = MEMBER(subtype),
     .argument = "NAME",
     .help = "the type that mount(8) shows is fuse.NAME (default: ntuplefs)"},
    {.name = "ro", .kind = NT_OPTION_PASS, .member = MEMBER(passed), .help = "read-only, as it always is"},
    {.name = "nosuid",
     .kind = NT_OPTION_PASS,
     .member = MEMBER(passed),
     .passed = "nosuid",
     .help = "as it always is"},
    {.name = "nodev",
     .kind = NT_OPTION_PASS,
     .member = MEMBER(passed),
     .passed = "nodev",
     .help = "as it always is"},
    {.name = "noexec",
     .kind = NT_OPTION_PASS,
     .member = MEMBER(passed),
     .passed = "noexec",
     .help = "as for mount(8)"},
    {.name = "noatime",
     .kind = NT_OPTION_PASS,
     .member = MEMBER(passed),
     .passed = "noatime",
     .help = "as for mount(8)"},
    {0},
};

const struct nt_option nt_accepted_options[] = {
    {.name = "",
     .kind = NT_OPTION_IGNORED,
     .choices = accepted,
     .help = "\nAccepted after -o, because mount(8) passes them, and without effect:"},
    {0},
};
