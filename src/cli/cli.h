/* SPDX-License-Identifier: MIT
 *
 * Private declarations of the programs ntuplefs and ntuple: options, settings, startup, and what the
 * commands of ntuple share.
 */
#pragma once

#include "chain/chain.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/json/json.h"
#include "fuse/mount.h"
#include "read/read.h"
#include "remote/client/client.h"
#include "sandbox/sandbox.h"
#include "vfs/tree.h"
#include "vfs/vfs.h"

struct nt_selections;
struct nt_command;
struct nt_progress;

/* ---- Exit status ---- */

/* A command that compares ends as diff(1) does: 0 if equal, DIFFERENT, or TROUBLE for any failure. */
enum nt_exit_status {
    NT_EXIT_OK = 0,
    NT_EXIT_DIFFERENT = 1,
    NT_EXIT_TROUBLE = 2,
    NT_EXIT_USAGE = 1,
    NT_EXIT_NOT_FOUND = 2,
    NT_EXIT_UNKNOWN_FORMAT = 3,
    NT_EXIT_UNSUPPORTED = 4,
    NT_EXIT_DAMAGED = 5,
    NT_EXIT_MOUNT = 6,
    NT_EXIT_OUTPUT = 7,
    NT_EXIT_INTERNAL = 8,
    NT_EXIT_UNREACHABLE = 9,
    NT_EXIT_UNREAD = 10,
    NT_EXIT_COUNT
};

/* The exit status for a failed source, or a failed tree of it. */
enum nt_exit_status nt_exit_status(enum nt_status status);

void nt_exit_status_help(FILE *stream);

/* ---- Standard streams ---- */

/* A caller may have closed the standard streams. The next files that the program opens would get their
 * descriptors, and then be read as input, receive messages, or be closed by mistake. So /dev/null takes
 * the free descriptors with the opposite access mode: using them fails as if they were closed. Call
 * first in a program; false on failure. */
bool nt_standard_streams_open(void);

/* What a command that has option -f failed to do, if it cannot create a file for this errno value. */
const char *nt_cannot_create(int system_error);

/* Reports a write that failed with an errno value. NT_OK if the reader of a pipe has closed it. */
enum nt_status nt_fail_write(struct nt_error *error, int system_error);

/* The same for standard output through stdio, which the message names. Call at the end of a program. */
enum nt_status nt_standard_output_finish(struct nt_error *error);

/* ---- Version output ---- */

/* The commit of the sources: "12345678", "12345678-dirty" with local changes, "" outside of git. */
extern const char nt_commit[];

/* Prints one line each: the program, the commit, libfuse if its version is given (else NULL), and the
 * libraries whose choice affects speed. */
void nt_print_versions(const char *program, const char *libfuse);

/* Fails if --version has operands: --version=N chooses a version of a dataset, so "--version N" is
 * probably a mistake. */
enum nt_status nt_check_versions(int operand_count, struct nt_error *error);

/* ---- Secrets in arguments ---- */

/* Returns a copy of the arguments, in the arena, and removes user, password, query and fragment of
 * addresses from the command line itself. NULL if out of memory. */
char **nt_arguments_hide(int count, char **arguments, struct nt_arena *arena);

/* ---- Rows of option tables ---- */

enum nt_option_kind {
    NT_OPTION_FLAG,        /* bool: set to true */
    NT_OPTION_TEXT,        /* const char *, not empty */
    NT_OPTION_TEXTS,       /* const char *const *, ends with NULL; each use appends */
    NT_OPTION_FOLDERS,     /* const char *const *: absolute paths, ends with NULL; each use appends */
    NT_OPTION_NAMED_FILES, /* the same for files, each with a "NAME:" prefix, which users may omit */
    NT_OPTION_FILE,        /* const char *: absolute path of a file that may not exist yet */
    NT_OPTION_SIZE,        /* uint64_t: bytes, with K, M, G or T */
    NT_OPTION_NUMBER,      /* unsigned, from 1 to `most` */
    NT_OPTION_ID,          /* struct nt_id */
    NT_OPTION_CHOICE,      /* unsigned: index of the word in `choices`; "" cannot be written */
    NT_OPTION_EITHER,      /* bool: is it the second of two words in `choices`? */
    NT_OPTION_PASS,        /* struct nt_buffer: appends a comma, `passed` and the value; NULL: nothing */
    NT_OPTION_LIST,        /* no member: a list of options by their names */
    NT_OPTION_REFUSED,     /* no member, not shown in --help: `help` says what to use instead */
    NT_OPTION_IGNORED,     /* no member: names in `choices`, any value; "x-*" is a prefix */
};

/* Called for each known value, with its description. */
typedef void nt_option_value(void *context, const char *value, const char *help);

/* The id of a user or group. */
struct nt_id {
    bool is_given;
    unsigned number;
};

struct nt_option {
    char letter;      /* '\0': none */
    const char *name; /* without dashes; NULL ends a table */
    enum nt_option_kind kind;
    size_t member;              /* offset of the value in the settings */
    const char *argument;       /* for --help: "SIZE"; NULL: no value */
    const char *const *choices; /* ends with NULL */
    const char *passed;
    unsigned most; /* 0: INT_MAX */
    void (*each_value)(nt_option_value *take,
                       void *context);   /* texts: known values, for completion and messages */
    bool (*is_value)(const char *value); /* for texts; NULL: every value is valid */
    const char *expected;                /* describes a value if `argument` is not enough */
    const char *help;
};

/* A row for a member of the settings: its letter or 0, then the kind and further members by name. */
#define NT_OPTION(option_letter, option_name, option_kind, settings_member, ...)                             \
    {                                                                                                        \
        .letter = (option_letter), .name = (option_name), .kind = NT_OPTION_##option_kind,                   \
        .member = offsetof(struct nt_settings, settings_member), __VA_ARGS__                                 \
    }

/* ---- Option parsing ---- */

/* Parses the arguments by tables, which end with NULL. Members are offsets into `settings`; values point
 * into the arena or `arguments`. Moves operands to the end: *first_operand_ret is the first. Also accepts
 * options after operands, unless `in_front_only`. NT_INVALID names the problem. */
enum nt_status nt_options_parse(const struct nt_option *const *tables, bool in_front_only, int argument_count,
                                char **arguments, void *settings, struct nt_arena *arena,
                                int *first_operand_ret, struct nt_error *error);

/* The row with a name of this length. Prefers a row that takes a value if two rows share the name. */
const struct nt_option *nt_option_named(const struct nt_option *const *tables, const char *name,
                                        size_t length, bool has_value);
/* The first row with a letter; NULL: none. */
const struct nt_option *nt_option_lettered(const struct nt_option *const *tables, char letter);

/* Appends the options in use, "name=value, name": those whose settings are not 0. */
void nt_options_append_given(struct nt_buffer *text, const struct nt_option *table, const void *settings);

/* A row of a help text: `left`, then `help` from column `indent` on, wrapped at 100 columns. */
void nt_help_row(FILE *stream, const char *left, size_t indent, const char *help);
/* Prints the help of each row, except of refused options. Letters of the table `before` (NULL: none) have
 * another meaning and are left out. */
void nt_options_help(FILE *stream, const struct nt_option *table, const struct nt_option *before);

/* ---- Row ranges ---- */

/* Rows [first, end), clamped to existing rows. A single row (is_row) must exist. */
struct nt_row_range {
    uint64_t first, end;
    bool is_row;
};

/* "10:20", "10:", ":20" or "10" (one row). False for other texts, or if the end is before the start. */
bool nt_row_range_parse(const char *text, struct nt_row_range *range_ret);
/* "NAME:10:20", or a range without a name, never a single row. Returns the length of the name. */
bool nt_named_row_range_parse(const char *text, size_t *name_length_ret, struct nt_row_range *range_ret);

/* Validate the text of an option. */
bool nt_is_row_range(const char *text);
bool nt_is_named_row_range(const char *text);

/* ---- Settings ---- */

enum nt_sandbox_mode { NT_SANDBOX_MODE_ON, NT_SANDBOX_MODE_OFF, NT_SANDBOX_MODE_STRICT };

struct nt_settings {
    bool help, version;

    /* Options of the tree, of remote files and of the mount, without defaults. */
    struct nt_vfs_options tree;
    struct nt_fetcher_options remote;
    struct nt_mount_settings mount;
    unsigned sandbox; /* enum nt_sandbox_mode */
    bool is_chain;
    const char *const *select;  /* "DATASET:FILE", the name may be empty; NULL: none */
    const char *const *entries; /* "DATASET:FIRST:END", "DATASET:" is optional; NULL: none */

    /* Options of ntuplefs */
    bool foreground, force;
    bool is_dry_run;  /* everything except mounting */
    const char *type; /* as mount(8) passes it */
    struct nt_id uid, gid;
    const char *index;       /* a file; NULL: none */
    struct nt_buffer passed; /* mount options for libfuse and the kernel */

    /* Options of ntuple's commands */
    bool human, single_column, by_size, by_time;
    bool all, details, recursive, overwrite, json, quiet, fields, table, data;
    unsigned depth, rows;
    const char *sort, *row_range, *columns;
    unsigned compression;        /* of export: enum nt_arrow_compression */
    unsigned group;              /* of inspect: 0, or the number of a key */
    bool schema, values, layout; /* parts to compare */
};

extern const struct nt_option nt_tree_options[];

/* Options of ntuplefs: before operands (-f); the same for the mount(8) helper, `mount.ntuplefs SOURCE
 * MOUNTPOINT [-sfnv] [-t TYPE] [-o LIST]`, whose letters differ; after -o; and after -o those from
 * mount(8) that have no effect. */
extern const struct nt_option nt_mount_switches[], nt_helper_switches[], nt_mount_options[],
    nt_accepted_options[];

/* The operands of ntuplefs, for --help. */
extern const char nt_mount_operands[];

/* Prints the supported formats for --help. */
void nt_formats_help(FILE *stream);

/* The number of threads for decoding: option threads, else the processors that this program may use. */
unsigned nt_settings_threads(const struct nt_settings *settings);
/* The options of a tree, with defaults filled in. */
struct nt_vfs_options nt_settings_tree(const struct nt_settings *settings);
/* The files of a chain; NULL: the sources are not a chain. The caller frees the list. */
enum nt_status nt_settings_chain(const struct nt_settings *settings, const char *const *sources,
                                 size_t source_count, struct nt_chain_list **list_ret,
                                 struct nt_error *error);

/* ---- Entry selections ---- */

/* Zero-initialised: none, not opened. */
struct nt_selections {
    struct nt_vfs_selection *items; /* with all that they refer to */
    size_t count;
};

/* Reads the selections of the options; `selections` must be zero-initialised. The files are untrusted:
 * call this in the sandbox. */
enum nt_status nt_selections_open(const struct nt_settings *settings, struct nt_selections *selections,
                                  struct nt_error *error);
void nt_selections_deinit(struct nt_selections *selections);

/* The file of a select= value: the text after the colon. */
const char *nt_select_path(const char *value);

/* ---- Sources and the network helper ---- */

/* Addresses of remote sources, as given; zero-initialised: none. Does not own the texts. */
struct nt_addresses {
    const char **items; /* ends with NULL if there are any */
    size_t count, capacity;
};
void nt_addresses_deinit(struct nt_addresses *addresses);

/* Expands sources to the files of a chain, which the caller frees (NULL: not a chain), and appends
 * their addresses. NT_INVALID if an address is not allowed; as nt_chain_list_new. */
enum nt_status nt_expand_sources(const struct nt_settings *settings, const char *const *sources, size_t count,
                                 struct nt_chain_list **chain_ret, struct nt_addresses *addresses,
                                 struct nt_error *error);

/* Starts a network helper for the addresses, if any: settings->tree.open.fetcher, which the caller frees. Are
 * columns read right after the sources are open? See nt_fetcher_read_later. */
enum nt_status nt_start_helper(struct nt_settings *settings, const struct nt_addresses *addresses,
                               bool reads_at_once, struct nt_error *error);

/* ---- The sandbox ---- */

/* Enters the sandbox: the program can only read the sources, store generated texts where the settings
 * say, and read or write in other places. Call before threads start. Fails if a part is missing that
 * the settings require. */
enum nt_status nt_enter_sandbox(const struct nt_settings *settings, const char *const *sources,
                                size_t source_count, const struct nt_sandbox_path *others, size_t other_count,
                                unsigned uses, struct nt_sandbox *sandbox_ret, struct nt_error *error);

/* ---- Progress line ---- */

struct nt_progress {
    bool is_requested, is_drawn;
    uint64_t bytes, total;      /* bytes done, and the total as far as known */
    bool is_text;               /* a generated text: only its finished part counts in `total` */
    uint64_t guess;             /* probable rest of the current text */
    uint64_t texts, texts_done; /* generated texts: total (0: unknown), and done */
    void (*count)(void *work);  /* computes total and texts before the line first appears; or NULL */
    void *work;
    size_t piece;                   /* at most NT_PROGRESS_PIECE; 0: none yet */
    uint64_t piece_start;           /* start of the piece; all times are nt_nanoseconds */
    uint64_t started, began, drawn; /* start of the command, start of this work, last time drawn */
};

/* The -q row of the option table of a command that shows progress. */
#define NT_PROGRESS_QUIET_OPTION                                                                             \
    {                                                                                                        \
        .letter = 'q', .name = "quiet", .kind = NT_OPTION_FLAG,                                              \
        .member = offsetof(struct nt_settings, quiet), .help = "do not show progress on the terminal",       \
    }

/* Call at the start of a command. Draws only if `is_requested` and standard error is a terminal. */
void nt_progress_start(struct nt_progress *progress, bool is_requested);

/* Starts work of `total` bytes; 0: unknown. */
void nt_progress_begin(struct nt_progress *progress, uint64_t total);
/* Sets the number of bytes done. */
void nt_progress_reach(struct nt_progress *progress, uint64_t bytes);
/* Adds bytes of the current file. For generated text, `guess` is the estimated rest; 0: unknown. */
void nt_progress_advance(struct nt_progress *progress, uint64_t bytes, uint64_t guess);
/* The size of the next piece. Fast sources get larger pieces, so that few are needed; slow ones (a
 * server) get smaller ones, so that the line moves. */
enum { NT_PROGRESS_PIECE = 4 << 20 };
size_t nt_progress_piece(struct nt_progress *progress);
/* Finishes the current file. */
void nt_progress_end_file(struct nt_progress *progress);
/* Erases the line: call before other output and at the end. */
void nt_progress_clear(struct nt_progress *progress);

/* ---- Directory listing ---- */

enum { NT_LISTING_BATCH = 128 };

/* Limit of directory depth. It guards the stack and is far above what files and directories have. */
enum { NT_DEEPEST_DIRECTORY = 1024 };

struct nt_tree_entry {
    char name[256];
    uint64_t node;
    enum nt_vfs_class class;
};

struct nt_dir_listing {
    struct nt_vfs *vfs;
    uint64_t directory;
    uint64_t cursor; /* start of the next batch */
    bool is_at_end;
    bool has_first; /* the entries are those of the first batch */
    size_t count;
    struct nt_tree_entry entries[NT_LISTING_BATCH];
};

/* NULL if out of memory, or below NT_DEEPEST_DIRECTORY (`error` says which). Release with free(). */
struct nt_dir_listing *nt_dir_listing_new(struct nt_vfs *vfs, uint64_t directory, unsigned depth,
                                          struct nt_error *error);

/* Reads the next batch: `count` is 0 at the end. */
enum nt_status nt_dir_listing_next(struct nt_dir_listing *listing, struct nt_error *error);
/* Goes back to the first batch, and reads it unless the listing still has it. */
enum nt_status nt_dir_listing_rewind(struct nt_dir_listing *listing, struct nt_error *error);

/* ---- Commands ---- */

struct nt_invocation {
    const struct nt_command *command;
    const struct nt_settings *settings;
    char **operands;
    int operand_count;
    struct nt_sandbox *sandbox;       /* its parts in effect, once the command is confined */
    struct nt_selections *selections; /* selections of the options, once a tree is open */
    struct nt_chain_list **chains;    /* [operand], likewise: files; NULL: not a chain */
};

struct nt_command {
    const char *name;
    const char *operands; /* for --help: "FILE [PATH...]" */
    const char *help;
    int fewest, most;                /* operands; `most` is 0 for any number */
    const struct nt_option *options; /* specific to the command */
    int sources;                     /* leading operands that are sources, at most; 0: one */
    bool writes;                     /* writes to the last operand, and below */
    bool renames;                    /* renames files there */
    bool names_owners;               /* shows owner names with `details` */
    bool shows_broken;               /* also shows files whose datasets all fail to open */
    bool measures_once;              /* see nt_vfs_options; unless it sorts */
    bool reads_columns;              /* right after opening the source */
    bool compares;                   /* its exit status follows the rule for comparisons */
    enum nt_exit_status (*run)(const struct nt_invocation *invocation);
};

extern const struct nt_command nt_command_ls, nt_command_tree, nt_command_cat, nt_command_stat, nt_command_cp,
    nt_command_verify, nt_command_inspect, nt_command_schema, nt_command_head, nt_command_diff,
    nt_command_describe, nt_command_export;

/* ---- Shared by commands: command.c ---- */

/* Prints "ntuple: <subject>: <message>" to stderr; NULL omits the subject. Returns the exit status. */
enum nt_exit_status nt_print_error(const char *subject, const struct nt_error *error);
/* The same for what is no failure. A callback: `subject` is the text. */
void nt_print_note(void *subject, const struct nt_error *note);
/* The same for a failure of the command itself. */
enum nt_exit_status nt_print_failure(const char *subject, enum nt_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
enum nt_exit_status nt_print_no_memory(const char *subject);
/* Prints the path of a field that rows omit, and the reason, to stderr. The context is the dataset. */
nt_omitted_field nt_print_omitted;

/* Follows links. */
bool nt_is_directory(const char *path);
/* Does a longer name end so? */
bool nt_has_suffix(const char *name, const char *suffix);

/* The first failure decides the exit status of a command that continues. */
static inline void nt_note_failure(enum nt_exit_status *first, enum nt_exit_status status)
{
    if (*first == NT_EXIT_OK)
        *first = status;
}

/* The number of operands, from the first on, that are sources. */
int nt_source_count(const struct nt_invocation *invocation);

/* Drops all privileges that the command does not need. Call before it reads a source or starts a
 * thread; reports failures. */
enum nt_exit_status nt_command_enter_sandbox(const struct nt_invocation *invocation);

/* Opens the tree of a source; reports failures, and broken files if the command shows them. */
enum nt_exit_status nt_open_tree(const struct nt_invocation *invocation, const char *source,
                                 struct nt_vfs **vfs_ret);

/* A node that a PATH means, or fields of one dataset. */
struct nt_target {
    const char *path; /* of the node, or of the first field */
    uint64_t node;
    const uint32_t *fields;
    uint32_t count; /* 0: the node is no field, or fields are visited one by one */
};

/* Calls `visit` for each node that the PATH operands after FILE mean (default: the root), or with
 * `joins_fields` once for all fields of a dataset. Continues after failures and returns the first. `visit`
 * reports its own failures. */
typedef enum nt_exit_status nt_visit(void *context, struct nt_vfs *vfs, const struct nt_target *target);
enum nt_exit_status nt_for_each_target(const struct nt_invocation *invocation, bool joins_fields,
                                       nt_visit *visit, void *context);

/* Prints a name: raw into files and pipes, escaped on a terminal. */
void nt_print_name(const char *name);
/* A directory's name is bold on a terminal with colours. */
void nt_print_entry_name(const struct nt_tree_entry *entry, bool has_colour);

/* The status of standard output; silent if its reader has closed it. Call at the end of a command. */
enum nt_exit_status nt_finish_output(void);

/* Print a document, or a whole generated text, which the call frees, to stdout; report failures. */
enum nt_exit_status nt_print_buffer(const struct nt_buffer *document, const char *subject);
enum nt_exit_status nt_print_long_text(struct nt_text_generator *text, const char *subject);

/* Copies a file of the tree to a descriptor and adds its bytes to `progress`. Reports failures.
 * NT_EXIT_OK also if the reader of a pipe has closed it. `buffer` is NULL before the first call; further
 * calls use it again, and the caller frees it. */
enum nt_exit_status nt_copy_content(struct nt_vfs *vfs, uint64_t node, const char *path, int descriptor,
                                    const char *destination, char **buffer, struct nt_progress *progress);

enum { NT_MODE_TEXT = 11 };
/* "-r--r--r--", as in ls(1). */
void nt_format_mode(mode_t mode, char text[NT_MODE_TEXT]);

/* Extend and shorten a path as a walk enters and leaves directories. */
size_t nt_path_enter(struct nt_buffer *path, const char *name); /* returns the `length` to leave */
void nt_path_leave(struct nt_buffer *path, size_t length);

/* ---- Guard of the source ---- */

struct nt_overwrite_guard {
    const struct nt_settings *settings;
    struct nt_vfs *vfs;
    const char *source;                /* as the user named it */
    char *resolved_source;             /* from realpath(3); NULL: a chain, or not local */
    const struct nt_chain_list *chain; /* the chain of the source; NULL: none */
    char **folders;                    /* forbidden destinations, from realpath(3) */
    size_t folder_count;
};

/* Guards a copy from a node of a source's tree. Forbids to write into copied directories, and into datasets
 * with copied parts. Needs a deinit, also after a failure. */
enum nt_status nt_overwrite_guard_init(struct nt_overwrite_guard *guard,
                                       const struct nt_invocation *invocation, struct nt_vfs *vfs,
                                       uint64_t node, struct nt_error *error);
void nt_overwrite_guard_deinit(struct nt_overwrite_guard *guard);

/* Call before writing to or into a path. NT_INVALID if it is, or is within, a forbidden directory, or if
 * it is a file that the copy reads, under any name. Covers the files directly in a passthrough directory, and
 * the files in a dataset's directory. */
enum nt_status nt_overwrite_guard_check(const struct nt_overwrite_guard *guard, const char *path,
                                        struct nt_error *error);

/* ---- Names of the command line ---- */

struct nt_node_list_item {
    uint64_t node;
    char *path; /* in the tree */
};

struct nt_node_list {
    struct nt_node_list_item *items;
    size_t count, capacity;
};

/* Appends what a PATH means: the node of this path; else what nt_name_match finds in the file or dataset
 * that the path begins with. NT_NOT_FOUND if that is nothing; the error then has a similar name, or says
 * what the field at the start of the path contains. */
enum nt_status nt_node_list_find(struct nt_vfs *vfs, const char *path, struct nt_node_list *named,
                                 struct nt_error *error);
void nt_node_list_deinit(struct nt_node_list *named);
/* The fields of one dataset at the start of the nodes, at most `count`; 0: the first node is no field. */
uint32_t nt_node_list_fields(const struct nt_node_list_item *nodes, size_t count, uint32_t *fields);

/* Appends the nodes that the names of --columns mean below a path. NT_INVALID: there is no name. */
enum nt_status nt_node_list_columns(struct nt_vfs *vfs, const char *path, const char *columns,
                                    struct nt_node_list *all, struct nt_error *error);

/* Finds the node that a command that takes one path means. NT_INVALID for a pattern of several. */
enum nt_status nt_find_one_node(struct nt_vfs *vfs, const char *path, uint64_t *node_ret,
                                struct nt_error *error);

/* The only dataset of a file, if the node is the file's; else the node. */
uint64_t nt_node_only_dataset(struct nt_vfs *vfs, uint64_t node);
/* Is it a field, a dataset, or a directory above them? */
bool nt_entry_is_field(const struct nt_tree_entry *entry);
/* Do the options --fields and --all show it? */
bool nt_entry_is_shown(const struct nt_tree_entry *entry, const struct nt_settings *settings);

/* If the node is the directory of a field, fails with what it contains. */
bool nt_fail_field_contents(struct nt_vfs *vfs, uint64_t node, struct nt_error *error);

/* ---- File attributes ---- */

/* "directory", "link", "sized", "generated", "streamed". */
const char *nt_class_name(enum nt_vfs_class class);

/* Adds "class", "size_bytes" (null if unknown before reading), "inode", "mode", "uid", "gid" and
 * "modified". */
void nt_json_attribute_members(struct nt_json *json, const struct nt_vfs_attributes *attributes);

/* ---- Iterating over datasets ---- */

/* Called for a file with datasets; `resolved` is the selected part of it. `is_in_directory_of_files`: the
 * path is a passthrough directory. Reports its own failures. */
typedef enum nt_exit_status nt_visit_file(void *context, const struct nt_resolved_node *resolved,
                                          bool is_in_directory_of_files);

/* Visits the file of a node; for a passthrough directory, all files below it. Reports failures,
 * continues, and returns the first. */
enum nt_exit_status nt_for_each_file(struct nt_vfs *vfs, const char *path, uint64_t node,
                                     nt_visit_file *visit, void *context);

/* Called for a dataset by its index in the file; `field` is the field that `resolved` names, else NT_NONE.
 * The dataset may have failed to open. Reports its own failures. */
typedef enum nt_exit_status nt_visit_dataset(void *context, const struct nt_resolved_node *resolved,
                                             uint32_t index, uint32_t field);

/* Visits the dataset of a node; for a file or directory, all datasets below it. */
enum nt_exit_status nt_for_each_dataset(const struct nt_resolved_node *resolved, nt_visit_dataset *visit,
                                        void *context);

/* The dataset of a node, or the only one below it, and the field. Reports failures. */
enum nt_exit_status nt_find_only_dataset(const struct nt_resolved_node *resolved, uint32_t *index_ret,
                                         uint32_t *field_ret);

/* ---- Report on datasets ---- */

/* A command that describes each dataset: as text, or with --json in one document for each file. */
struct nt_report {
    /* Set by the command: */
    const char *document; /* kind of the JSON document */
    /* Begins a file. May be NULL. */
    void (*begin)(struct nt_report *report, const struct nt_file *file, bool is_in_directory_of_files);
    /* Prints a dataset, or adds members to its object. Sets `failure` for what it reports itself. */
    enum nt_status (*show)(struct nt_report *report, struct nt_reader *reader, struct nt_dataset *dataset,
                           struct nt_error *error);
    bool separates_files; /* has_printed is true after each file, even if no dataset of it was shown */
    /* Set by nt_report_run: */
    const struct nt_settings *settings;
    const struct nt_target *target; /* the dataset's fields to describe; without fields: all */
    struct nt_json *json;           /* NULL: text */
    enum nt_exit_status failure;    /* of the current dataset */
    bool has_printed;               /* text: an empty line must precede the next dataset or file */
};
enum nt_exit_status nt_report_run(struct nt_report *report, const struct nt_invocation *invocation);

/* ---- Tables for people ---- */

struct nt_grid {
    const char **cells; /* [row][column] of printable texts; NULL: empty. The first row has the titles. */
    size_t rows, columns;
    bool is_transposed;   /* `cells` are [column][row] */
    bool keeps_first;     /* never cuts the first column */
    const bool *is_right; /* [column]: numbers, aligned to the right, never cut; NULL: none is */
    /* [column]: if the terminal is narrow, columns of the highest rank are omitted first; 0: never
     * omitted, but texts are cut. NULL: 0 for all */
    const unsigned char *ranks;
    unsigned width; /* cuts the widest texts to fit; 0: no limit */
    bool has_colour;
};

/* Does the table fit its width without a cut? */
bool nt_grid_fits(const struct nt_grid *grid);
void nt_grid_print(const struct nt_grid *grid);

/* $COLUMNS, or the width of the terminal; 0: standard output is none. */
unsigned nt_terminal_width(void);
/* Is standard output a terminal with colours? Not if $NO_COLOR is set. */
bool nt_terminal_has_colour(void);

/* ---- Printing rows ---- */

/* Prints a line for each row of a dataset, a field, or a file with one dataset. The context is a struct
 * nt_row_range. Reports failures. */
nt_visit nt_print_rows;

/* ---- Completion ---- */

/* The tables of ntuple. */
struct nt_complete_tables {
    const struct nt_command *const *commands;
    size_t command_count;
    const struct nt_option *common_options;
};

/* Prints a line "<word>\t<description>" for each word that completes the last of `words`; the first one
 * is the program. Words that end with "/" or "=" can continue. Lines without a word describe other
 * candidates: "\tfiles", file names are possible, too; "\tpaths", the words that follow are paths.
 * Prints nothing if the command line is invalid or its source does not open. */
void nt_complete(FILE *out, const struct nt_complete_tables *tables, char **words, int word_count,
                 struct nt_arena *arena);
