/* SPDX-License-Identifier: MIT
 *
 * The option tables of the tree and of ntuplefs, the settings they fill, and the defaults.
 */
#include "cli/cli.h"

#include <sched.h>

#include "core/base/built_in.h"

/* ---- Tree options ---- */

#define CHOICES(...)                                                                                         \
    (const char *const[])                                                                                    \
    {                                                                                                        \
        __VA_ARGS__, NULL                                                                                    \
    }

/* An option with two words, of which the first is the default. */
#define EITHER(option_name, settings_member, usual, other, help_text)                                        \
    NT_OPTION(0, option_name, EITHER, settings_member, .argument = usual "|" other,                          \
              .choices = CHOICES(usual, other), .help = help_text)

static void each_format(nt_option_value *take, void *context)
{
    for (const struct nt_format *const *format = nt_formats; *format; format++)
        take(context, (*format)->name, (*format)->description);
}

static bool is_format(const char *name)
{
    for (const struct nt_format *const *format = nt_formats; *format; format++)
        if (strcmp((*format)->name, name) == 0)
            return true;
    return false;
}

static const char *const sandbox_choices[] = {
    [NT_SANDBOX_MODE_ON] = "on", [NT_SANDBOX_MODE_OFF] = "off", [NT_SANDBOX_MODE_STRICT] = "strict", NULL};

static const char *const chain_rules[] = {
    [NT_CHAIN_FAIL] = "", [NT_CHAIN_CHECK] = "check", [NT_CHAIN_UNION] = "union", NULL};

const struct nt_option nt_tree_options[] = {
    NT_OPTION(0, "format", TEXT, tree.open.format, .argument = "NAME", .each_value = each_format,
              .is_value = is_format, .help = "read the sources only as this format (default: detect it)"),
    NT_OPTION(0, "chain", FLAG, is_chain,
              .help = "show all sources (files, patterns, lists of files) as one dataset"),
    NT_OPTION(
        0, "chain", CHOICE, tree.chain_options.rule, .argument = "check|union", .choices = chain_rules,
        .help =
            "check: open all files at the start and refuse files whose fields differ; union: show the fields "
            "of all files"),
    EITHER("missing", tree.chain_options.skip_failed, "refuse", "skip",
           "skip: skip files of a chain that cannot be opened or do not have its dataset"),
    NT_OPTION(0, "version", TEXT, tree.open.version, .argument = "N|TAG|BRANCH",
              .help = "show this version of a dataset with a history (Lance), not the latest"),
    NT_OPTION(
        0, "cachesize", SIZE, tree.cache_bytes, .argument = "SIZE",
        .help =
            "cache at most SIZE bytes of decoded pages, documents and texts (suffixes K, M, G, T; default: "
            "256M, at most an eighth of the memory)"),
    NT_OPTION(
        0, "metadatasize", SIZE, tree.open.metadata_bytes, .argument = "SIZE",
        .help = "use at most SIZE bytes of memory for the metadata of one file (default: 8M, more for large "
                "metadata)"),
    NT_OPTION(
        0, "pagesize", SIZE, tree.open.page_bytes, .argument = "SIZE",
        .help =
            "refuse pages that decode to more than SIZE bytes (default: 64M plus 16 times the file size, at "
            "most 256M)"),
    NT_OPTION(0, "threads", NUMBER, tree.threads, .argument = "N", .most = 1024,
              .help = "decode on N threads (default: the number of processors)"),
    EITHER("list", tree.list_sized, "all", "sized", "sized: omit files of unknown size from listings"),
    EITHER("text", tree.text_sized, "short", "sized",
           "sized: generate long texts in advance, so that every text has a size"),
    NT_OPTION(0, "textsize", SIZE, tree.text_bytes, .argument = "SIZE",
              .help =
                  "with text=sized: store at most SIZE bytes of texts in $TMPDIR or /var/tmp (default: 16G)"),
    EITHER("verify", tree.verify_on_open, "read", "open",
           "open: check all pages of a file when a program opens it"),
#if NT_HAS_ARROW
    EITHER("arrow_strings", tree.arrow_strings_binary, "text", "binary",
           "binary: table.arrow stores strings as binary, which need not be UTF-8"),
    NT_OPTION(0, "arrow_unions", CHOICE, tree.arrow_unions, .argument = "struct|union|omit",
              .choices = CHOICES("struct", "union", "omit"),
              .help = "how table.arrow stores variants (default: struct)"),
#endif
    EITHER("trailing", tree.open.refuse_trailing_bytes, "accept", "refuse",
           "refuse: bytes after the end of a Roaring bitmap are an error"),
    NT_OPTION(0, "sandbox", CHOICE, sandbox, .argument = "on|off|strict", .choices = sandbox_choices,
              .help = "strict: refuse to run if the kernel lacks a part of the sandbox; off: no sandbox"),
    EITHER("links", tree.follow_links, "refuse", "follow",
           "follow: follow links out of a mounted directory, which may then show any file of the user"),
    NT_OPTION(0, "bases", FOLDERS, tree.open.bases, .argument = "DIRECTORY",
              .help =
                  "read other files that Lance datasets and branches of TTrees refer to, if they are below "
                  "DIRECTORY; may be repeated"),
    NT_OPTION(0, "friends", FLAG, tree.open.friends,
              .help =
                  "show the branches of a TTree's friends, if they are in the same file, as fields below the "
                  "friend's name"),
    NT_OPTION(0, "select", NAMED_FILES, select, .argument = "[DATASET:]FILE",
              .help = "show only the entries listed in FILE (.npy, Roaring bitmap or text); may be repeated"),
    NT_OPTION(0, "entries", TEXTS, entries, .argument = "[DATASET:]FIRST:END",
              .is_value = nt_is_named_row_range,
              .expected = "[DATASET:]FIRST:END, counted from 0, with END at least FIRST",
              .help = "show only the entries FIRST to END-1; may be repeated"),
    NT_OPTION(0, "timeout", NUMBER, remote.timeout_seconds, .argument = "SECONDS",
              .most = NT_MAX_TIMEOUT_SECONDS,
              .help = "remote files: let a read fail after SECONDS (default: 60)"),
    EITHER("certificate", remote.certificate_to_origin, "any", "origin",
           "origin: show the user's certificate (X509_USER_PROXY) only to the server of the address"),
    NT_OPTION(0, "remotecache", SIZE, remote.cache_bytes, .argument = "SIZE",
              .help = "remote files: cache at most SIZE bytes of undecoded data in memory (default: 128M)"),
    NT_OPTION(0, "diskcache", FILE, remote.disk_cache, .argument = "DIRECTORY",
              .help = "remote files: cache data in DIRECTORY for later mounts and commands"),
    NT_OPTION(0, "diskcachesize", SIZE, remote.disk_cache_bytes, .argument = "SIZE",
              .help = "with diskcache: store at most SIZE bytes there (default: 1G)"),
    {0},
};

void nt_formats_help(FILE *stream)
{
    fputs("\nFormats:\n", stream);
    for (const struct nt_format *const *format = nt_formats; *format; format++)
        nt_help_row(stream, (*format)->name, 11, (*format)->description);
}

/* Options for chains have no effect on other sources: that is probably a mistake. */
enum nt_status nt_settings_chain(const struct nt_settings *settings, const char *const *sources,
                                 size_t source_count, struct nt_chain_list **list_ret, struct nt_error *error)
{
    const struct nt_chain_options *chain = &settings->tree.chain_options;
    const char *name = chain->skip_failed ? "missing" : settings->index ? "index" : NULL;
    *list_ret = NULL;
    if (settings->is_chain || chain->rule)
        return nt_chain_list_new(sources, source_count, chain->skip_failed, list_ret, error);
    return name ? nt_fail(error, NT_INVALID, NT_NO_OFFSET, "option \"%s\" needs option \"chain\"", name)
                : NT_OK;
}

unsigned nt_settings_threads(const struct nt_settings *settings)
{
    cpu_set_t processors;
    if (settings->tree.threads)
        return settings->tree.threads;
    int count = sched_getaffinity(0, sizeof(processors), &processors) == 0 ? CPU_COUNT(&processors) : 0;
    return count > 0 ? (unsigned)count : 1;
}

/* For text generators. The program changes its directory, so a relative path is not valid. */
static const char *text_directory(void)
{
    const char *path = secure_getenv("TMPDIR");
    return path && path[0] == '/' ? path : NULL;
}

struct nt_vfs_options nt_settings_tree(const struct nt_settings *settings)
{
    struct nt_vfs_options options = settings->tree;
    nt_memory_available(); /* caches the value before the sandbox */
    options.open.struct_bytes = sizeof(options.open);
    options.threads = nt_settings_threads(settings);
    options.text_directory = text_directory();
    return options;
}

/* ---- Mount options ---- */

const char nt_mount_operands[] = "SOURCE... [MOUNTPOINT]";

static const char *const direct_io_choices[] = {
    [NT_DIRECT_IO_AUTO] = "auto", [NT_DIRECT_IO_ON] = "on", [NT_DIRECT_IO_OFF] = "off", NULL};

const struct nt_option nt_mount_switches[] = {
    NT_OPTION('f', "foreground", FLAG, foreground,
              .help = "stay in the foreground and print messages on standard error"),
    NT_OPTION('d', "debug", FLAG, mount.is_debugging,
              .help = "like --foreground, and print every request of the kernel"),
    NT_OPTION('s', "single", FLAG, mount.is_single_threaded, .help = "serve one request at a time"),
    {.letter = 'o',
     .name = "options",
     .kind = NT_OPTION_LIST,
     .argument = "NAME[=VALUE],...",
     .help = "a list of options, as mount(8) passes it"},
    NT_OPTION('h', "help", FLAG, help, .help = "print this text"),
    NT_OPTION('V', "version", FLAG, version,
              .help = "print the versions of ntuplefs, libfuse and the deflate and lzma libraries"),
    {0},
};

const struct nt_option nt_helper_switches[] = {
    NT_OPTION('f', "fake", FLAG, is_dry_run, .help = "open the sources, but do not mount"),
    NT_OPTION('s', "sloppy", PASS, passed,
              .help = "accepted without effect: unknown options are still refused"),
    NT_OPTION('n', "no-mtab", PASS, passed, .help = "accepted without effect: there is no such file"),
    NT_OPTION('v', "verbose", PASS, passed, .help = "accepted without effect: there is no further output"),
    NT_OPTION('t', "type", TEXT, type, .argument = "TYPE", .help = "accepted without effect"),
    {.letter = 'o',
     .name = "options",
     .kind = NT_OPTION_LIST,
     .argument = "NAME[=VALUE],...",
     .help = "a list of options, as in fstab(5)"},
    {0},
};

/* For other kinds of file systems, for mount(8) itself, or contrary to the fixed properties of the
 * mount: read-only, nosuid, nodev. */
static const char *const accepted[] = {
    "rw",          "dev",           "suid",     "exec",       "sync",        "async",      "dirsync",
    "mand",        "nomand",        "atime",    "diratime",   "nodiratime",  "relatime",   "norelatime",
    "strictatime", "nostrictatime", "lazytime", "nolazytime", "iversion",    "noiversion", "silent",
    "loud",        "sub",           "nosub",    "symfollow",  "nosymfollow", "defaults",   "auto",
    "noauto",      "user",          "nouser",   "users",      "nousers",     "owner",      "noowner",
    "group",       "nogroup",       "nofail",   "_netdev",    "comment",     "helper",     "uhelper",
    "x-*",         "X-*",           NULL};

const struct nt_option nt_mount_options[] = {
    NT_OPTION(0, "allow_other", FLAG, mount.allow_other,
              .help = "let other users use the mount if the modes of the sources permit it"),
    NT_OPTION(0, "uid", ID, uid, .argument = "NUMBER",
              .help = "show this user as the owner of all files (default: the owner of the source)"),
    NT_OPTION(0, "gid", ID, gid, .argument = "NUMBER",
              .help = "show this group as the group of all files (default: the group of the source)"),
    NT_OPTION(0, "idle", NUMBER, mount.idle_seconds, .argument = "SECONDS",
              .help = "unmount after SECONDS without use"),
    EITHER("broken", tree.open.open_broken, "refuse", "show",
           "show: describe files without a readable dataset, and ROOT files without one"),
    NT_OPTION(0, "index", FILE, index, .argument = "FILE",
              .help = "chain: cache the entry counts of the files in FILE, so that sizes are known without "
                      "opening files"),
    NT_OPTION(0, "auto_unmount", FLAG, mount.auto_unmount, .help = "also unmount when the program is killed"),
    NT_OPTION(0, "force", FLAG, force, .help = "first unmount a dead mount of ntuplefs"),
    NT_OPTION(0, "direct_io", CHOICE, mount.direct_io, .argument = "auto|on|off",
              .choices = direct_io_choices, .help = "on: let reads bypass the page cache of the kernel"),
    NT_OPTION(0, "fsname", TEXT, mount.source, .argument = "NAME",
              .help = "the source that mount(8) shows (default: the absolute path of the first source)"),
    NT_OPTION(0, "subtype", TEXT, mount.subtype, .argument = "NAME",
              .help = "show the type fuse.NAME in mount(8) (default: ntuplefs)"),
    NT_OPTION(0, "ro", PASS, passed, .help = "accepted: the mount is always read-only"),
    NT_OPTION(0, "nosuid", PASS, passed, .passed = "nosuid", .help = "accepted: the mount is always nosuid"),
    NT_OPTION(0, "nodev", PASS, passed, .passed = "nodev", .help = "accepted: the mount is always nodev"),
    NT_OPTION(0, "noexec", PASS, passed, .passed = "noexec", .help = "as for mount(8)"),
    NT_OPTION(0, "noatime", PASS, passed, .passed = "noatime", .help = "as for mount(8)"),
    NT_OPTION(0, "context", PASS, passed, .argument = "LABEL",
              .passed = "context=", .help = "the SELinux label of all files, as for mount(8)"),
    NT_OPTION(0, "fscontext", PASS, passed, .argument = "LABEL",
              .passed = "fscontext=", .help = "the SELinux label of the mount, as for mount(8)"),
    NT_OPTION(0, "rootcontext", PASS, passed, .argument = "LABEL",
              .passed = "rootcontext=", .help = "the SELinux label of the mountpoint, as for mount(8)"),
    NT_OPTION(0, "defcontext", PASS, passed, .argument = "LABEL",
              .passed = "defcontext=", .help = "the SELinux label of files without one, as for mount(8)"),
    NT_OPTION(0, "default_permissions", PASS, passed, .help = "accepted: allow_other implies it"),
    {.name = "remount", .kind = NT_OPTION_REFUSED, .help = "refused: unmount and mount again"},
    {.name = "allow_root", .kind = NT_OPTION_REFUSED, .help = "refused: use allow_other"},
    {.name = "umask",
     .kind = NT_OPTION_REFUSED,
     .argument = "MASK",
     .help = "refused: files have the modes of their source"},
    {.name = "max_read",
     .kind = NT_OPTION_REFUSED,
     .argument = "BYTES",
     .help = "refused: the kernel and ntuplefs agree on the largest read"},
    {0},
};

const struct nt_option nt_accepted_options[] = {
    {.name = "",
     .kind = NT_OPTION_IGNORED,
     .choices = accepted,
     .help = "\nAccepted after -o without effect, because mount(8) passes them:"},
    {0},
};
