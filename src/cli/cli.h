/* SPDX-License-Identifier: MIT
 *
 * Private declarations of the programs ntuplefs and ntuple: options, settings, startup, and what the
 * commands of ntuple share.
 */
#ifndef NT_CLI_CLI_H
#define NT_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#include "chain/chain.h"
#include "core/base/memory.h"
#include "core/json/json.h"
#include "read/read.h"
#include "remote/client/client.h"
#include "sandbox/sandbox.h"
#include "vfs/tree.h"
#include "vfs/vfs.h"

struct nt_arena;
struct nt_selections;
struct nt_command;
struct nt_text_generator;
struct nt_progress;
struct nt_sandbox;

/* ---- Exit status ---- */

/* A command that compares ends as diff(1) and cmp(1) do: 0 the same, DIFFERENT, or TROUBLE whatever it was. */
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

/* The exit status for a failure of a source or of the tree made from it. */
enum nt_exit_status nt_exit_status(enum nt_status status);

void nt_exit_status_help(FILE *stream);

/* ---- Standard streams ---- */

/* A caller may have closed them. What the program opens would get their numbers then: be read for what the caller says, be
 * written messages into, or be closed in their place. So /dev/null takes these, the other way round: who uses one gets an
 * error as if it were closed. First of all in a program; false where it cannot be done. */
bool nt_standard_streams_open(void);

/* A write that failed with an errno value; NT_OK where the reader of a pipe has had enough, which is no failure. */
enum nt_status nt_fail_write(struct nt_error *error, int system_error);

/* The same of what stdio could not write to standard output, which the message names. At the end of a program. */
enum nt_status nt_standard_output_finish(struct nt_error *error);

/* ---- Version output ---- */

/* The commit that the program was built from: "12345678", or "12345678-dirty" where files of it were changed; ""
 * where the sources were not in git. */
extern const char nt_commit[];

/* A line each on standard output: the program, the commit, libfuse where its version is given (else NULL), and the
 * libraries of which another one may be faster. */
void nt_print_versions(const char *program, const char *libfuse);

/* Whether they may be printed: --version=N chooses a version of a dataset, so that "--version N" would print these to whoever
 * waits for that. Refused where there are operands. */
enum nt_status nt_check_versions(int operand_count, struct nt_error *error);

/* ---- Secrets in arguments ---- */

/* A copy of the arguments, in the arena. In the command line itself addresses then stand without user, password, query and
 * fragment. NULL without memory. */
char **nt_arguments_hide(int count, char **arguments, struct nt_arena *arena);

/* ---- Rows of option tables ---- */

enum nt_option_kind {
    NT_OPTION_FLAG,  /* bool: set to true */
    NT_OPTION_TEXT,  /* const char *, not empty */
    NT_OPTION_TEXTS, /* const char *const *, ended by NULL; one more each time */
    NT_OPTION_FOLDERS, /* const char *const *: paths of directories, absolute, ended by NULL; one more each time */
    NT_OPTION_NAMED_FILES, /* the same of files, with "NAME:" in front, which may be omitted from the option */
    NT_OPTION_FILE,        /* const char *: path of a file that may not be there yet, absolute */
    NT_OPTION_SIZE,        /* uint64_t: bytes, with K, M, G or T */
    NT_OPTION_NUMBER,      /* unsigned, from 1 to `most` */
    NT_OPTION_ID,          /* struct nt_id */
    NT_OPTION_CHOICE,      /* unsigned: index of the word in `choices`; "" is one that cannot be written */
    NT_OPTION_PASS,        /* struct nt_buffer: `passed` is added to a list with commas; NULL adds nothing */
    NT_OPTION_LIST,        /* no member: a list of options by their names */
    NT_OPTION_REFUSED, /* no member; not told to anybody but who gives it: `help` says what to do instead */
    NT_OPTION_IGNORED, /* no member: within a list, any of the names in `choices`, with a value or without;
                        * "x-*" stands for all that begin so */
};

/* Called for each value that there is, with what it means. */
typedef void nt_option_value(void *context, const char *value, const char *help);

/* The number of a user or group. */
struct nt_id {
    bool is_given;
    unsigned number;
};

struct nt_option {
    char letter;      /* '\0': none */
    const char *name; /* without dashes; NULL ends a table */
    enum nt_option_kind kind;
    size_t member;              /* offset of the value in the settings */
    const char *argument;       /* for --help: "SIZE"; NULL where it takes none */
    const char *const *choices; /* ended by NULL */
    const char *passed;
    unsigned most; /* 0: INT_MAX */
    void (*each_value)(nt_option_value *take,
                       void *context);   /* of a text whose values are known; for completion and messages */
    bool (*is_value)(const char *value); /* of a text; NULL: every one is */
    const char *expected;                /* what a value is, where `argument` does not tell it all */
    const char *help;
};

/* ---- Option parsing ---- */

/* Parse the arguments by one or several tables. `settings` is what the members are offsets of; values live in
 * the arena or in `arguments`, whose other words are moved to the end: *first_operand_ret is the first of
 * them. Sees options behind operands too, unless `in_front_only`. NT_INVALID names what is wrong. */
enum nt_status nt_options_parse(const struct nt_option *const *tables, size_t table_count, bool in_front_only,
                                int argument_count, char **arguments, void *settings, struct nt_arena *arena,
                                int *first_operand_ret, struct nt_error *error);

/* The row with a name of so many bytes. Two rows may have one: the one that takes a value is meant where there is one. */
const struct nt_option *nt_option_named(const struct nt_option *const *tables, size_t table_count,
                                        const char *name, size_t length, bool has_value);

/* Append what was given, "name=value, name": what is not 0 in the settings. */
void nt_options_append_given(struct nt_buffer *text, const struct nt_option *table, const void *settings);

/* A line for each row, but for those that are refused. */
void nt_options_help(FILE *stream, const struct nt_option *table);
/* The same where the letters of another table come first. */
void nt_options_help_behind(FILE *stream, const struct nt_option *table, const struct nt_option *before);

/* ---- Row ranges ---- */

/* Rows [first, end), cut to those that there are, but for a row that is meant alone: it has to be there. */
struct nt_row_range {
    uint64_t first, end;
    bool is_row;
};

/* "10:20", "10:", ":20" or "10", which is one row. False where a text is none of these, or ends before it begins. */
bool nt_row_range_parse(const char *text, struct nt_row_range *range_ret);
/* "NAME:10:20", or the range alone, which is never one row: how long the name is. */
bool nt_named_row_range_parse(const char *text, size_t *name_length_ret, struct nt_row_range *range_ret);

/* Whether a text is one of these: for options. */
bool nt_is_row_range(const char *text);
bool nt_is_named_row_range(const char *text);

/* ---- Settings ---- */

enum nt_confinement { NT_CONFINEMENT_ON, NT_CONFINEMENT_OFF, NT_CONFINEMENT_STRICT };

struct nt_settings {
    bool help, version;

    /* The tree: nt_tree_options. */
    const char *format, *dataset_version;
    uint64_t cache_bytes;
    uint64_t metadata_bytes, page_bytes; /* 0: what follows from what was read of it */
    unsigned threads;                    /* 0: one for each processor */
    unsigned list;                       /* "all", "sized" */
    unsigned text;                       /* "short", "sized" */
    uint64_t text_bytes;
    unsigned verify;         /* "read", "open" */
    unsigned arrow_strings;  /* "text", "binary" */
    unsigned arrow_unions;   /* enum nt_arrow_unions */
    unsigned trailing_bytes; /* "accept", "refuse" */
    unsigned links;          /* "refuse", "follow" */
    unsigned sandbox;        /* enum nt_confinement */
    unsigned broken;         /* "refuse", "show" */
    bool is_chain;
    unsigned chain_rule;        /* enum nt_chain_rule */
    unsigned missing;           /* "refuse", "skip" */
    const char *const *bases;   /* directories; NULL: none */
    const char *const *select;  /* "DATASET:FILE", the name may be nothing; NULL: none */
    const char *const *entries; /* "DATASET:FIRST:END", the name and its colon may be missing; NULL: none */
    unsigned timeout_seconds;
    unsigned certificate; /* "any", "origin" */
    uint64_t remote_cache_bytes;
    const char *disk_cache; /* a folder; NULL: none */
    uint64_t disk_cache_bytes;
    struct nt_fetcher *fetcher; /* NULL: no source is remote */

    /* ntuplefs */
    bool foreground, debug, single_threaded, force, allow_other, auto_unmount;
    bool is_dry_run;  /* all but mounting */
    const char *type; /* as mount(8) tells it */
    const char *fsname, *subtype;
    struct nt_id uid, gid;
    unsigned idle_seconds;   /* 0: never */
    unsigned direct_io;      /* enum nt_direct_io */
    const char *index;       /* a file; NULL: none */
    struct nt_buffer passed; /* mount options for libfuse and the kernel */

    /* ntuple's commands */
    bool human, single_column, by_size, by_time;
    bool all, details, recursive, overwrite, json, quiet;
    unsigned depth, rows;
    const char *sort, *row_range;
    bool schema, values, layout; /* parts of a comparison */
};

extern const struct nt_option nt_tree_options[];

/* Those of ntuplefs: in front of operands (-f); the same where mount(8) has called the program as its helper,
 * `mount.ntuplefs SOURCE MOUNTPOINT [-sfnv] [-t TYPE] [-o LIST]`, whose letters mean other things; after -o; and
 * there what mount(8) hands over and what changes nothing here. */
extern const struct nt_option nt_mount_switches[], nt_helper_switches[], nt_mount_options[],
    nt_accepted_options[];

/* What ntuplefs takes behind its options, as commands tell it of theirs. */
extern const char nt_mount_operands[];

/* The formats that there are, for --help. */
void nt_formats_help(FILE *stream);

/* The options of a tree, with defaults filled in. */
struct nt_vfs_options nt_settings_tree(const struct nt_settings *settings);
/* The files that sources stand for where they are a chain; NULL: they are none. To be freed. */
enum nt_status nt_settings_chain(const struct nt_settings *settings, const char *const *sources,
                                 size_t source_count, struct nt_chain_list **list_ret,
                                 struct nt_error *error);

/* The processors that this program may use. */
unsigned nt_processors(void);

/* ---- memory of the mount program ---- */

struct nt_memory {
    uint64_t cache_bytes; /* for the reader: decoded pages, and what is being decoded beyond a little */
    uint64_t reply_bytes; /* for answers to the kernel */
};

/* ---- Entry selections ---- */

/* Zeros: none, not opened. */
struct nt_selections {
    struct nt_vfs_selection *items;
    struct nt_selection **owned; /* of each of them */
    size_t count;
};

/* Read what the options name, into zeros. The files are untrusted: to be called in the sandbox. */
enum nt_status nt_selections_open(const struct nt_settings *settings, struct nt_selections *selections,
                                  struct nt_error *error);
void nt_selections_deinit(struct nt_selections *selections);

/* The file that a value of select= names, behind the colon. */
const char *nt_select_path(const char *value);

/* ---- Sources and the network helper ---- */

/* Of sources on other machines, as they were given; zeros: none. They stay where they are. */
struct nt_addresses {
    const char **items; /* ends with NULL where there are any */
    size_t count, capacity;
};
void nt_addresses_deinit(struct nt_addresses *addresses);

/* What sources stand for: the files of a chain, to be freed (NULL: they are none), and the addresses among them, behind those that are there already.
 * NT_INVALID where one may not be asked for; as nt_chain_list_new. */
enum nt_status nt_expand_sources(const struct nt_settings *settings, const char *const *sources, size_t count,
                                 struct nt_chain_list **chain_ret, struct nt_addresses *addresses,
                                 struct nt_error *error);

/* Where there are addresses, start the network helper them, and nothing else: settings->fetcher, which is freed by the caller. */
enum nt_status nt_start_helper(struct nt_settings *settings, const struct nt_addresses *addresses,
                               struct nt_error *error);

/* ---- The sandbox ---- */

/* From here on the program can do nothing but read the sources, keep texts where the settings say so, and read or write in other
 * places. Before any thread has been started. Fails where a part is missing that the settings insist on. */
enum nt_status nt_confine(const struct nt_settings *settings, const char *const *sources, size_t source_count,
                          const struct nt_sandbox_path *others, size_t other_count, unsigned uses,
                          struct nt_sandbox *sandbox_ret, struct nt_error *error);

/* ---- Progress line ---- */

struct nt_progress {
    bool is_wanted, is_drawn;
    uint64_t bytes, total;      /* done; of the work, as far as it is known */
    bool is_text;               /* the present file is no part of the total, but as far as it is done */
    uint64_t guess;             /* what it probably has besides */
    uint64_t texts, texts_done; /* such files; those of the work, 0: not known */
    void (*count)(
        void *work); /* works out total and texts before the line is drawn for the first time; or NULL */
    void *work;
    size_t piece;                   /* that is being done, of NT_PROGRESS_PIECE at most; 0: it is the first */
    uint64_t asked;                 /* when it was asked for, by nt_nanoseconds as all times are */
    uint64_t started, began, drawn; /* the command, the present work; when the line was */
};

/* The option of a command that shows a progress, a row of its table. */
#define NT_PROGRESS_QUIET_OPTION                                                                             \
    {                                                                                                        \
        .letter = 'q', .name = "quiet", .kind = NT_OPTION_FLAG,                                              \
        .member = offsetof(struct nt_settings, quiet), .help = "do not show progress on the terminal",       \
    }

/* At the start of a command. Nothing is ever drawn where it is not wanted, or standard error is no terminal. */
void nt_progress_start(struct nt_progress *progress, bool is_wanted);

/* Work of so many bytes begins, 0: nobody knows how many. */
void nt_progress_begin(struct nt_progress *progress, uint64_t total);
/* So many bytes of the work are done. */
void nt_progress_reach(struct nt_progress *progress, uint64_t bytes);
/* So many bytes more of the present file are done; where it is a text, about `guess` are left, 0: nobody knows. */
void nt_progress_advance(struct nt_progress *progress, uint64_t bytes, uint64_t guess);
/* How much to do before the next advance: more where that comes soon, so that it takes few of them, less where it comes late (a server is
 * slow), so that the line moves. */
enum { NT_PROGRESS_PIECE = 4 << 20 };
size_t nt_progress_piece(struct nt_progress *progress);
/* The present file is done. */
void nt_progress_end_file(struct nt_progress *progress);
/* Erase the line: before anything else is printed, and at the end. */
void nt_progress_clear(struct nt_progress *progress);

/* ---- Directory listing ---- */

enum { NT_LISTING_BATCH = 128 };

/* Deeper trees are refused: a guard for the stack, far above what files and directories have. */
enum { NT_DEEPEST_DIRECTORY = 1024 };

struct nt_tree_entry {
    char name[256];
    uint64_t node;
    enum nt_vfs_class class;
};

struct nt_dir_listing {
    struct nt_vfs *vfs;
    uint64_t directory;
    uint64_t cursor; /* where the next batch starts */
    bool is_at_end;
    size_t count;
    struct nt_tree_entry entries[NT_LISTING_BATCH];
};

/* NULL without memory, or below NT_DEEPEST_DIRECTORY (`error` says so). Free with free(). */
struct nt_dir_listing *nt_dir_listing_new(struct nt_vfs *vfs, uint64_t directory, unsigned depth,
                                          struct nt_error *error);

/* Read the next batch: `count` is 0 at the end. */
enum nt_status nt_dir_listing_next(struct nt_dir_listing *listing, struct nt_error *error);

/* ---- Commands ---- */

struct nt_invocation {
    const struct nt_command *command;
    const struct nt_settings *settings;
    char **operands;
    int operand_count;
    struct nt_sandbox *sandbox;       /* what of it holds, once the command is confined */
    struct nt_selections *selections; /* what the options choose, once a tree was opened */
    struct nt_chain_list *
        *chains; /* [operand], likewise: the files that a source stands for; NULL: it is no chain */
};

struct nt_command {
    const char *name;
    const char *operands; /* for --help: "FILE [PATH...]" */
    const char *help;
    int fewest, most;                /* operands */
    const struct nt_option *options; /* its own ones beside those of all commands */
    int sources;                     /* of the operands: so many, or all of fewer. 0: the first */
    bool writes;                     /* to the last operand, and below */
    bool names_owners;               /* with `details` */
    bool shows_broken;               /* also files of which no dataset opens */
    bool compares;                   /* ends as exit_status.h says of such commands */
    enum nt_exit_status (*run)(const struct nt_invocation *invocation);
};

extern const struct nt_command nt_command_ls, nt_command_tree, nt_command_cat, nt_command_stat, nt_command_cp,
    nt_command_verify, nt_command_inspect, nt_command_schema, nt_command_head, nt_command_diff;

/* ---- what commands share: common.c ---- */

/* "ntuple: <subject>: <message>" on stderr, without a subject where that is NULL; returns the exit status. */
enum nt_exit_status nt_print_error(const char *subject, const struct nt_error *error);

/* Also where links lead to one. */
bool nt_is_directory(const char *path);

/* The first failure decides how a command that goes on ends. */
static inline void nt_note_failure(enum nt_exit_status *first, enum nt_exit_status status)
{
    if (*first == NT_EXIT_OK)
        *first = status;
}

/* How many operands, from the first on, name sources. */
int nt_source_count(const struct nt_invocation *invocation);

/* Give up all but what the command needs, before it looks at a source and starts a thread; complains where that cannot be. */
enum nt_exit_status nt_confine_command(const struct nt_invocation *invocation);

/* The tree of a source; complains where it cannot be opened, and tells what is broken where that is shown. */
enum nt_exit_status nt_open_tree(const struct nt_invocation *invocation, const char *source,
                                 struct nt_vfs **vfs_ret);

/* Call `visit` for each PATH operand behind FILE (the root where there is none). Goes on after failures and
 * returns the first. `visit` complains itself. */
typedef enum nt_exit_status nt_visit(void *context, struct nt_vfs *vfs, const char *path, uint64_t node);
enum nt_exit_status nt_for_each_path(const struct nt_invocation *invocation, nt_visit *visit, void *context);

/* Print a name: as it is into files and pipes, escaped on a terminal. */
void nt_print_name(const char *name);

/* The status for what stdio could not write; quiet where the reader has gone. Call at the end of
 * a command. */
enum nt_exit_status nt_finish_output(void);

/* A document, or all of a text, which it frees, to standard output; complains about what cannot be made. */
enum nt_exit_status nt_print_buffer(const struct nt_buffer *document, const char *subject);
enum nt_exit_status nt_print_long_text(struct nt_text_generator *text, const char *subject);

/* All bytes of a file of the tree to a descriptor; they are added to what `progress` has reached. Complains.
 * NT_EXIT_OK also where the reader of a pipe has had enough. */
enum nt_exit_status nt_copy_content(struct nt_vfs *vfs, uint64_t node, const char *path, int descriptor,
                                    const char *destination, struct nt_progress *progress);

enum { NT_MODE_TEXT = 11 };
/* "-r--r--r--", as ls(1) shows it. */
void nt_format_mode(mode_t mode, char text[NT_MODE_TEXT]);

/* Paths that grow and shrink as directories are entered and left. */
size_t nt_path_enter(struct nt_buffer *path, const char *name); /* returns what to give nt_path_leave */
void nt_path_leave(struct nt_buffer *path, size_t length);

/* ---- File attributes ---- */

/* "directory", "sized", "produced", "unsized". */
const char *nt_class_name(enum nt_vfs_class class);

/* The members "class", "size_bytes" (null where it is not known before reading), "inode", "mode", "uid", "gid"
 * and "modified". */
void nt_json_attribute_members(struct nt_json *json, const struct nt_vfs_attributes *attributes);

/* ---- Iterating over datasets ---- */

/* Called for a file that holds datasets; `resolved` is what of it is meant. `is_of_many`: the path is a folder
 * that is mirrored. Complains itself. */
typedef enum nt_exit_status nt_visit_file(void *context, const struct nt_resolved_node *resolved,
                                          bool is_of_many);

/* The file that a node is or lies in; of a passthrough directory all files below it. Goes on after failures, which
 * it complains about, and returns the first. */
enum nt_exit_status nt_for_each_file(struct nt_vfs *vfs, const char *path, uint64_t node,
                                     nt_visit_file *visit, void *context);

/* Called for a dataset by its index in the scope's file; `field` is the field that the scope is, else
 * NT_NONE. The dataset may have failed. Complains itself. */
typedef enum nt_exit_status nt_visit_dataset(void *context, const struct nt_resolved_node *resolved,
                                             uint32_t index, uint32_t field);

/* The dataset that a scope is or lies in; of a file or directory all that are below it. */
enum nt_exit_status nt_for_each_dataset(const struct nt_resolved_node *resolved, nt_visit_dataset *visit,
                                        void *context);

/* The end of a document of a file, and all of it to standard output: the member `datasets`, of which `visit` adds the items. */
enum nt_exit_status nt_print_datasets_json(const struct nt_resolved_node *resolved, struct nt_json *json,
                                           nt_visit_dataset *visit, void *context);

/* ---- Printing rows ---- */

/* A line for each row of what the node is: a dataset, a field, or a file with one dataset. Complains. */
enum nt_exit_status nt_print_rows(struct nt_vfs *vfs, const char *path, uint64_t node,
                                  const struct nt_row_range *range);

/* ---- Completion ---- */

/* What ntuple itself knows. */
struct nt_complete_tables {
    const struct nt_command *const *commands;
    size_t command_count;
    const struct nt_option *common_options;
};

/* Print a line for each word, "<word>\t<what it is>", which begins with the last of `words`; their first one is the
 * program. One that ends with "/" or "=" can go on. Lines without a word say what else there is: "\tfiles", names of
 * the system's files could stand there, too; "\tpaths", the words behind are paths. Prints nothing where the line is
 * wrong or its source does not open. */
void nt_complete(FILE *out, const struct nt_complete_tables *tables, char **words, int word_count,
                 struct nt_arena *arena);

#endif
